/* SPDX-License-Identifier: MIT */
#ifndef ODB_BASE_CLOCK_H
#define ODB_BASE_CLOCK_H

#include <time.h>

/* Seconds that the processors have worked for this process, in all its threads. */
static inline double odb_processor_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of the monotonic clock. */
static inline double odb_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Readings of both clocks, or what passed between two: seconds. */
struct odb_spent {
    double seconds, processor;
};

static inline struct odb_spent odb_spent_now(void)
{
    return (struct odb_spent){odb_clock(), odb_processor_clock()};
}

static inline struct odb_spent odb_spent_plus(struct odb_spent a, struct odb_spent b)
{
    return (struct odb_spent){a.seconds + b.seconds, a.processor + b.processor};
}

static inline struct odb_spent odb_spent_less(struct odb_spent a, struct odb_spent b)
{
    return (struct odb_spent){a.seconds - b.seconds, a.processor - b.processor};
}

/* Adds what has passed since then. */
static inline void odb_spent_since(struct odb_spent *sum, struct odb_spent then)
{
    *sum = odb_spent_plus(*sum, odb_spent_less(odb_spent_now(), then));
}

#endif
