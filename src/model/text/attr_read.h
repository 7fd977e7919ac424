/* SPDX-License-Identifier: MIT
 *
 * The value of an attribute, from a word that a user typed: "1", "1,1" or "[1, 1]", "1e-05",
 * "SAME_UPPER". What odb_attr_text() writes is read back.
 */
#ifndef ODB_MODEL_TEXT_ATTR_READ_H
#define ODB_MODEL_TEXT_ATTR_READ_H

#include "base/error.h"
#include "tensor/attr.h"

/* An attribute with all that it points to. */
struct odb_attr_value {
    struct odb_attr attr;    /* borrowed: what follows */
    char *name;              /* owned */
    char *text;              /* owned; strings stand in it, each with a NUL behind it */
    int64_t *ints;           /* owned */
    odb_f32 *floats;         /* owned */
    struct odb_str *strings; /* owned */
};

/* One of this name and type. ODB_E_USAGE: the text is none, or the type is one of tensors, graphs
 * or types. *out is the caller's to dispose of always. */
enum odb_status odb_attr_value_read(struct odb_attr_value *out, const char *name,
                                    enum odb_attr_type type, const char *text,
                                    struct odb_error *err) ODB_MUST_USE;
void odb_attr_value_dispose(struct odb_attr_value *value);

#endif
