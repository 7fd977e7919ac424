/* SPDX-License-Identifier: MIT
 *
 * One loop split over threads. Work is cut into blocks whose borders depend on n and grain only,
 * never on the number of threads, so that a result that depends on the borders is the same on
 * every machine.
 */
#ifndef ODB_SYSTEM_PARALLEL_H
#define ODB_SYSTEM_PARALLEL_H

#include <stddef.h>

/* body(arg, begin, end) for disjoint [begin, end) that cover [0, n), each at most grain long
 * (grain 0 counts as 1). Blocks run in any order, possibly at once; returns when all are done.
 * A call from within body runs serially. */
void odb_parallel_for(size_t n, size_t grain, void (*body)(void *arg, size_t begin, size_t end),
                      void *arg);

/* Threads in use, the caller included; at most 257. Default: the processors available to the
 * process. */
int odb_parallel_threads(void);
void odb_parallel_set_threads(int threads);

#endif
