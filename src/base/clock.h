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

#endif
