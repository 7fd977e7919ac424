/* SPDX-License-Identifier: MIT
 *
 * A tensor is immutable once shared: dense, row-major, reference-counted. Its bytes belong to a
 * storage (heap, a mapped file, a target's buffer), so a reshape or a weight in a mapped model
 * costs no copy. Sequences, optionals and sparse tensors are the same struct with children, so
 * that everything that carries values carries them all.
 */
#ifndef ODB_TENSOR_TENSOR_H
#define ODB_TENSOR_TENSOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "tensor/dtype.h"

#define ODB_MAX_RANK 16

enum odb_kind {
    ODB_TENSOR,
    ODB_SEQUENCE, /* items: the elements */
    ODB_OPTIONAL, /* items: none or one */
    ODB_SPARSE,   /* items: values [nnz], indices [nnz] or [nnz, rank]; dims: the dense shape */
    ODB_MAP       /* items: keys [n], values [n] */
};

/* Element of a string tensor. The bytes belong to the storage and may hold anything. */
struct odb_str {
    const char *data;
    size_t len;
};

struct odb_storage {
    atomic_int refs;
    void (*release)(struct odb_storage *storage); /* frees what it holds and itself */
    void *owner;                                  /* owned: release knows how */
};

struct odb_tensor {
    atomic_int refs;
    enum odb_kind kind;
    enum odb_dtype dtype;    /* sequences, optionals: of the elements, or ODB_UNDEFINED */
    enum odb_dtype declared; /* of a float64: the type that the model gives these floats, where they
                                are carried in a wider one; ODB_UNDEFINED: not known */
    enum odb_dtype held;     /* of a target's value that was made the type that the model gives it:
                                the type that the target has; ODB_UNDEFINED: that one */
    int rank;
    int64_t dims[ODB_MAX_RANK];
    size_t count;                /* product of dims */
    size_t bytes;                /* that data points to */
    void *data;                  /* borrowed: storage; NULL: shape known, values not */
    struct odb_storage *storage; /* ref; NULL with data NULL */
    struct odb_tensor **items;   /* owned array of refs */
    size_t n_items;
    char *read_as;  /* owned: how the target that it is of held it, where that was undone; NULL: as
                       it is */
    double *steps;  /* owned; [n_steps] of a target's value that it stores as integers: what one of
                       them is worth; NULL: it does not */
    size_t n_steps; /* 1: for all elements; else one for each place on steps_axis */
    int steps_axis;
};

struct odb_storage *odb_storage_ref(struct odb_storage *storage);
void odb_storage_unref(struct odb_storage *storage); /* NULL is fine */

/* Fresh zeroed memory (strings: empty). Huge or overflowing shapes: ODB_E_NOMEM; a rank over
 * ODB_MAX_RANK or a negative dimension: ODB_E_INPUT. */
enum odb_status odb_tensor_new(struct odb_tensor **out, enum odb_dtype dtype, int rank,
                               const int64_t *dims, struct odb_error *err) ODB_MUST_USE;
/* As above, uninitialised memory unless strings. */
enum odb_status odb_tensor_new_raw(struct odb_tensor **out, enum odb_dtype dtype, int rank,
                                   const int64_t *dims, struct odb_error *err) ODB_MUST_USE;
/* Shape without values (data NULL). */
enum odb_status odb_tensor_new_shape(struct odb_tensor **out, enum odb_dtype dtype, int rank,
                                     const int64_t *dims, struct odb_error *err) ODB_MUST_USE;
/* A view on bytes inside storage (a ref is taken). ODB_E_INPUT unless size is exactly what the
 * shape needs. */
enum odb_status odb_tensor_view(struct odb_tensor **out, enum odb_dtype dtype, int rank,
                                const int64_t *dims, const void *data, size_t size,
                                struct odb_storage *storage, struct odb_error *err) ODB_MUST_USE;
/* Copies count elements of data (strings: struct odb_str). */
enum odb_status odb_tensor_copy_of(struct odb_tensor **out, enum odb_dtype dtype, int rank,
                                   const int64_t *dims, const void *data,
                                   struct odb_error *err) ODB_MUST_USE;
/* The same storage in another shape of equal count (rank and dims given); dtype kept. */
enum odb_status odb_tensor_reshape(struct odb_tensor **out, const struct odb_tensor *t, int rank,
                                   const int64_t *dims, struct odb_error *err) ODB_MUST_USE;
/* Values in another element type (odb_convert); a ref of t itself where the type is the same. */
enum odb_status odb_tensor_cast(struct odb_tensor **out, const struct odb_tensor *t,
                                enum odb_dtype dtype, struct odb_error *err) ODB_MUST_USE;
/* The same for whatever floats there are in t, which may be a container; the rest stays. They are
 * carried and not cast: an infinity stays one in every type that has it. */
enum odb_status odb_tensor_cast_floats(struct odb_tensor **out, const struct odb_tensor *t,
                                       enum odb_dtype dtype, struct odb_error *err) ODB_MUST_USE;
/* The same in the place of *t, a reference of the caller's: a large tensor without other owners is
 * written over, and the rest of its memory freed. */
enum odb_status odb_tensor_narrow(struct odb_tensor **t, enum odb_dtype dtype,
                                  struct odb_error *err) ODB_MUST_USE;
/* Own storage, so that it can be written to. */
enum odb_status odb_tensor_clone(struct odb_tensor **out, const struct odb_tensor *t,
                                 struct odb_error *err) ODB_MUST_USE;
/* A sequence, optional, sparse or map; takes a ref on each item. */
enum odb_status odb_tensor_new_container(struct odb_tensor **out, enum odb_kind kind,
                                         struct odb_tensor *const *items, size_t n,
                                         struct odb_error *err) ODB_MUST_USE;
/* The sparse tensor with all its elements; those not stored are 0, or empty strings. ODB_E_INPUT
 * where an index lies outside. */
enum odb_status odb_tensor_densify(struct odb_tensor **out, const struct odb_tensor *sparse,
                                   struct odb_error *err) ODB_MUST_USE;
/* Copies bytes into element i of a string tensor that is not shared yet. */
enum odb_status odb_tensor_set_string(struct odb_tensor *t, size_t i, const char *data, size_t len,
                                      struct odb_error *err) ODB_MUST_USE;

/* Copies a text into read_as of a tensor that is not shared yet; NULL or "": there is none. */
void odb_tensor_set_read_as(struct odb_tensor *t, const char *text);
/* Copies steps into a tensor that is not shared yet; n is 1, or the size of the axis; 0: none. */
void odb_tensor_set_steps(struct odb_tensor *t, int axis, const double *steps, size_t n);
/* The same of steps that were read from somewhere: false, and none, unless they fit t, and each is
 * above 0 and finite. */
bool odb_tensor_take_steps(struct odb_tensor *t, int64_t axis, const double *steps, size_t n);
/* How far apart the numbers are that element i could be stored as; 0: it is not stored so. */
double odb_tensor_step(const struct odb_tensor *t, size_t i);

struct odb_tensor *odb_tensor_ref(const struct odb_tensor *t); /* NULL stays NULL */
void odb_tensor_unref(struct odb_tensor *t);                   /* NULL is fine */

bool odb_tensor_same_shape(const struct odb_tensor *a, const struct odb_tensor *b);
/* Bit for bit, NaN payloads included; strings by bytes; containers by items. */
bool odb_tensor_identical(const struct odb_tensor *a, const struct odb_tensor *b);
/* The float type of a tensor of floats, or of a container whose values are nothing else (keys of
 * maps and indices of sparse tensors aside); ODB_UNDEFINED for all others, empty containers too. */
enum odb_dtype odb_tensor_real(const struct odb_tensor *t);
/* What its elements take, and those of its items; NULL: nothing. */
size_t odb_tensor_size(const struct odb_tensor *t);
/* Element i as a number (tensors only). */
double odb_tensor_f64(const struct odb_tensor *t, size_t i);
int64_t odb_tensor_i64(const struct odb_tensor *t, size_t i);

/* "(1, 8, 12, 96)", "(3,)", "()" as NumPy prints shapes. Returns buf. */
const char *odb_shape_text(const struct odb_tensor *t, char *buf, size_t size);

#endif
