/* SPDX-License-Identifier: MIT
 *
 * Tensors for eyes: printed as NumPy prints them, and cut with its slices.
 */
#ifndef ODB_TENSOR_TENSOR_PRINT_H
#define ODB_TENSOR_TENSOR_PRINT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "tensor/tensor.h"

struct odb_print_opts {
    size_t threshold;  /* more elements than this are summarised */
    size_t edge_items; /* shown at both ends of a summarised dimension */
    int precision;     /* digits behind the point at most */
    int width;         /* of a line */
    char notation;     /* 'f' positional, 'e' scientific, 'x' the bits in hexadecimal (not of
                          strings and complex numbers); 0: as NumPy chooses */
};

#define ODB_PRINT_OPTS ((struct odb_print_opts){1000, 3, 8, 75, 0})

/* The values, without a newline at the end; opts NULL: ODB_PRINT_OPTS. Strings are quoted and
 * escaped. Containers show their items one below the other. */
void odb_print_tensor(struct odb_buf *buf, const struct odb_tensor *t,
                      const struct odb_print_opts *opts);

/* One element: the shortest digits that give the same number in its type. */
void odb_print_element(struct odb_buf *buf, const struct odb_tensor *t, size_t i);
/* The same for a number of some float type (double: any). */
void odb_print_number(struct odb_buf *buf, enum odb_dtype dtype, double v);

/* NumPy's basic slices, "[0, :, 2:4, ::-1, ..., -1]"; the brackets may be left out. A copy, or a
 * ref of t itself when the text asks for all of it. ODB_E_USAGE names the character. */
enum odb_status odb_slice(struct odb_tensor **out, const struct odb_tensor *t, const char *text,
                          struct odb_error *err) ODB_MUST_USE;

#endif
