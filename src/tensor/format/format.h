/* SPDX-License-Identifier: MIT
 *
 * How single elements are written: in few digits, in all that count, in C's notations, or as the
 * bits that they are.
 */
#ifndef ODB_TENSOR_FORMAT_FORMAT_H
#define ODB_TENSOR_FORMAT_FORMAT_H

#include <stddef.h>

#include "base/error.h"
#include "tensor/tensor.h"

enum odb_format_kind {
    ODB_FORMAT_SHORT,      /* five digits; of types of 16 bits, those that it takes */
    ODB_FORMAT_EXACT,      /* the fewest digits that give the same number in its type */
    ODB_FORMAT_GENERAL,    /* %g */
    ODB_FORMAT_SCIENTIFIC, /* %e */
    ODB_FORMAT_FIXED,      /* %f */
    ODB_FORMAT_HEX,        /* %a; integers in base 16 */
    ODB_FORMAT_BITS,       /* 0x and the element's own bits */
    ODB_FORMAT_INTEGER,    /* those bits as a signed integer */
    ODB_FORMATS
};

struct odb_format {
    enum odb_format_kind kind;
    int digits; /* of general, scientific and fixed */
};

/* Their names, "short|exact|…", as odb_format_parse() takes them; so it does "%.3e", "%.9g", "%f",
 * "%a". */
#define ODB_FORMAT_NAMES "short|exact|general|scientific|fixed|hex|bits|integer"
#define ODB_FORMAT_DIGITS 17 /* at most */

/* ODB_E_USAGE. */
enum odb_status odb_format_parse(struct odb_format *out, const char *text,
                                 struct odb_error *err) ODB_MUST_USE;
/* Static. */
const char *odb_format_kind_name(enum odb_format_kind kind);
/* "short", "%.6g", …: parses to the same. Returns buf; 16 bytes do. */
const char *odb_format_name(const struct odb_format *format, char *buf, size_t size);

/* A number that is no element, as a difference. Returns buf; ODB_FORMAT_TEXT bytes do. What needs
 * an element's type is short. */
const char *odb_format_real(const struct odb_format *format, double v, char *buf, size_t size);
/* Element i of a tensor with values, strings quoted and as far as they fit. Returns buf. */
const char *odb_format_element(const struct odb_format *format, const struct odb_tensor *t,
                               size_t i, char *buf, size_t size);
/* Columns that no element of the type needs more of; 0: that depends on the elements. */
int odb_format_width(const struct odb_format *format, enum odb_dtype dtype);

#define ODB_FORMAT_TEXT 400

#endif
