/* SPDX-License-Identifier: MIT
 *
 * How a target holds a value: with its channels in blocks or last, or as integers with a scale.
 * What was read is made the value that the model means before it is compared.
 */
#ifndef ODB_EXECUTOR_VALUE_LAYOUT_H
#define ODB_EXECUTOR_VALUE_LAYOUT_H

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "tensor/tensor.h"

enum odb_layout_order {
    ODB_LAYOUT_PLAIN,   /* as the model has it: N, C, ... */
    ODB_LAYOUT_BLOCKED, /* NCHWc: N, C / block, ..., block */
    ODB_LAYOUT_LAST     /* NHWC: N, ..., C */
};

struct odb_layout {
    enum odb_layout_order order;
    int64_t block;        /* channels of a block; blocked only */
    int64_t padding;      /* channels at the end that are none of the value's; -1: not said */
    enum odb_dtype dtype; /* of the elements that are stored; ODB_UNDEFINED: not said */
    int axis;             /* of the value, where there are several scales */
    double *scale, *zero; /* owned; [n_scale]; real = (stored - zero) * scale */
    size_t n_scale;       /* 0: no scale; 1: one for all; else one for each place on the axis */
};

/* What the model says of a value. */
struct odb_layout_want {
    enum odb_dtype dtype; /* ODB_UNDEFINED: nothing */
    int rank;             /* -1: nothing */
    const int64_t *dims;  /* [rank], borrowed; -1: not fixed */
};

/* A member of "values" in groups.json: {"layout", "block", "padding", "dtype", "scale",
 * "zero_point", "axis"}, each of them optional. out is the caller's to dispose of, on failure too.
 * ODB_E_FORMAT: one is not what it should be. */
enum odb_status odb_layout_read(struct odb_layout *out, const json_t *json,
                                struct odb_error *err) ODB_MUST_USE;
/* A layout in a word: "NCHW", "NHWC", "NCHW16c" with blocks of 16, which may be written NC16HW16 or
 * nChw16c. False: it is none. */
bool odb_layout_parse(struct odb_layout *out, const char *word, size_t n);
void odb_layout_dispose(struct odb_layout *layout);
/* "NCHWc in blocks of 16; int8 with scale 0.02 and zero point 3"; nothing where it says nothing. */
void odb_layout_put(const struct odb_layout *layout, struct odb_buf *out);

/* The value that t holds; *out is owned by the caller, and says what was undone in read_as. A ref
 * of t where there is nothing to undo: a model's own integers stay integers. ODB_E_FORMAT: t is not
 * what the layout says, or its value not what the model says. */
enum odb_status odb_layout_plain(struct odb_tensor **out, const struct odb_layout *layout,
                                 const struct odb_tensor *t, const struct odb_layout_want *want,
                                 struct odb_error *err) ODB_MUST_USE;

/* The same of a value that is held in one of these layouts, words with ';' between: the one with
 * which it has the shape that the model says; as it is where none is of its rank. False: none does,
 * or two do that are not one. */
bool odb_layout_plain_of(struct odb_tensor **out, const char *layouts, const struct odb_tensor *t,
                         const struct odb_layout_want *want);

#endif
