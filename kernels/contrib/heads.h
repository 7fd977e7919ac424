/* SPDX-License-Identifier: MIT
 *
 * What ONNX Runtime's attention operators share: where heads lie, caches, additive biases.
 */
#ifndef ODB_KERNELS_CONTRIB_HEADS_H
#define ODB_KERNELS_CONTRIB_HEADS_H

#include "kernels/attention/attention.h"
#include "kernels/core/chain.h"

/* Vectors of [batch][head][row], wherever they lie. */
struct odb_heads {
    const void *data; /* borrowed; of the call's float type */
    struct odb_attention_steps steps;
};

/* rows vectors of `heads` heads in a tensor [batch][rows][width], the first at column `at`. */
struct odb_heads odb_heads_flat(const struct odb_tensor *t, size_t at, size_t rows, size_t width,
                                size_t size);
/* The same of a tensor [batch][heads][rows][size]. */
struct odb_heads odb_heads_split(const void *data, size_t heads, size_t rows, size_t size);

/* A cache [batch][heads][rows][size], made from an older one and what is added to it. */
struct odb_cache {
    enum odb_dtype dtype;
    enum odb_dtype type; /* that of the model's cache: what is added is rounded to it before
                            anything reads it, so that a prompt reads what the steps after it do;
                            ODB_UNDEFINED: dtype */
    size_t batch, heads, rows, size;
    const void *past; /* borrowed: [batch][heads][past_rows][size]; NULL: none */
    size_t past_rows;
    const int64_t *kept; /* [batch]: rows that are taken over; NULL: all */
    const int64_t *at;   /* [batch]: where the added rows go; NULL: behind the past_rows */
    struct odb_heads added;
    size_t added_rows;
};

/* Fills data; what is neither kept nor added is zero. Kept and added rows must fit. */
void odb_cache_fill(const struct odb_cache *c, void *data);

/* Input i, [1 or batch, 1 or heads, queries, keys], as a bias of the scores; nothing where the
 * input is omitted. */
enum odb_status odb_heads_bias(struct odb_kern *k, int i, const struct odb_attention *a,
                               size_t keys, struct odb_attention_plane *plane) ODB_MUST_USE;

/* t plus the elements from `at` on of a vector, as many as t's last dimension has; t itself where
 * there is no vector. */
const struct odb_tensor *odb_heads_add_vector(struct odb_chain *c, const struct odb_tensor *t,
                                              const struct odb_tensor *vector, size_t at);

/* The attribute scale; absent or 0: 1 / sqrt(size). */
double odb_heads_scale(const struct odb_kern *k, size_t size);

/* How many tokens before its own one attends to, at most: local_window_size counts that one too, as
 * in ONNX Runtime from 1.24 on (before, one more was attended to: microsoft/onnxruntime#25927). -1:
 * all. ODB_UNSUPPORTED: 0, which leaves none. */
enum odb_status odb_heads_left(struct odb_kern *k, int64_t *left) ODB_MUST_USE;

/* The one number of input i, *v untouched when it is omitted. */
enum odb_status odb_heads_number(struct odb_kern *k, int i, int64_t *v) ODB_MUST_USE;

#endif
