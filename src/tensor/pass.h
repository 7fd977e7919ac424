/* SPDX-License-Identifier: MIT
 *
 * One way through all numbers of a tensor, or of two side by side, for whatever counts, sums or
 * looks for something: in chunks of doubles, on all processors, asking now and then whether to go
 * on.
 *
 * Places are cut into blocks whose borders depend on the pass alone. A block adds to a share, which
 * no other block does at the same time, and shares are joined in their order: so what comes out
 * does not depend on the number of threads, to the last bit.
 */
#ifndef ODB_TENSOR_PASS_H
#define ODB_TENSOR_PASS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/progress.h"
#include "tensor/tensor.h"

#define ODB_PASS_CHUNK ((size_t)1024)

/* The numbers of a tensor. */
struct odb_numbers {
    const void *data;    /* borrowed: the tensor's; NULL: there are no numbers */
    enum odb_dtype type; /* of one; ODB_STRING: each is NaN */
    bool magnitudes;     /* each is the magnitude of two of the type */
    size_t n;
    size_t per_element;                /* numbers */
    const struct odb_storage *storage; /* borrowed: the tensor's; NULL: not known */
};

/* A complex element has two, its parts. None of a container, and of a tensor without values; t may
 * be NULL. */
struct odb_numbers odb_numbers_of(const struct odb_tensor *t);
/* A complex element has one, its magnitude. */
struct odb_numbers odb_numbers_of_elements(const struct odb_tensor *t);
/* n of them from first on. */
void odb_numbers_load(const struct odb_numbers *numbers, size_t first, size_t n, double *out);
/* Whether n of them from first on, a multiple of 8, are stored alike, bit for bit; strings never.
 */
bool odb_numbers_same(const struct odb_numbers *a, const struct odb_numbers *b, size_t first,
                      size_t n);

/* Numbers at the same places of two sides; the reader may write into them. */
struct odb_chunk {
    size_t first, n; /* places */
    size_t has[2];   /* how many of the n a side has */
    double v[2][ODB_PASS_CHUNK] __attribute__((aligned(32)));
};

/* Whether n numbers are all finite. */
bool odb_all_finite(const double *v, size_t n);

typedef void (*odb_chunk_fn)(const void *job, void *share, struct odb_chunk *chunk);

struct odb_pass {
    size_t begin, end; /* places, which are those of numbers where there is a chunk() */
    size_t block;   /* places of a block: a multiple of ODB_PASS_CHUNK where there is a chunk() */
    size_t shares;  /* block b adds to share b % shares; 0: each has its own */
    size_t at_once; /* blocks between two questions whether to go on, as many at most as there
                       are shares to add to; 0: that many, or all */
    size_t item, items; /* of a share: bytes of one, and how many there are; items 0: one; item 0:
                           there are no shares */
    const void *none;   /* borrowed: an item that nothing was added to; NULL: all zero */
    const void *job;    /* borrowed; as the functions get it */
    const struct odb_numbers *sides[2]; /* borrowed; what is read; NULL: none */

    /* One of the two: a block a chunk at a time, or as a whole. */
    odb_chunk_fn chunk;
    void (*whole)(const void *job, void *share, size_t begin, size_t end);
    void (*join)(void *total, const void *item);

    /* NULL: shares are made for each run, and joined at its end. Else odb_pass_shares() of them,
     * borrowed, which stay as they are between runs and are the caller's to join. */
    void *kept;
    const struct odb_progress *progress; /* borrowed; NULL: not asked */
    size_t done, total; /* for the question: a run adds its places to done; total 0: those
                           of a run */
};

/* How many shares a run has. */
size_t odb_pass_shares(const struct odb_pass *pass);
/* From begin to end. total: items to which those of all shares are joined; NULL with shares that
 * are kept, or with none. ODB_CANCELLED, and total as it was. */
enum odb_status odb_pass_run(struct odb_pass *pass, void *total,
                             struct odb_error *err) ODB_MUST_USE;
/* The same without the question. */
void odb_pass_all(struct odb_pass *pass, void *total);

#endif
