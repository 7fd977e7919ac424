/* SPDX-License-Identifier: MIT
 *
 * Operators that are other operators in a row.
 */
#ifndef ODB_KERNELS_COMPOSE_H
#define ODB_KERNELS_COMPOSE_H

#include "kernels/kern.h"

/* One operator of the default domain, computed as the call k is (in double, one by one). */
struct odb_part {
    const char *op;
    int opset;
    struct odb_attrs attrs;
    int n_in;
    const struct odb_tensor *const *in; /* [n_in], borrowed; NULL where omitted */
    int n_out;
};

/* out[i] where NULL becomes a new tensor of the caller's; where not, the result is written there:
 * it must have the type and shape of the result and share its bytes with nobody. On failure out is
 * as it was. */
enum odb_status odb_part_run(struct odb_kern *k, const struct odb_part *part,
                             struct odb_tensor **out) ODB_MUST_USE;

/* The commonest: n inputs, one output. */
#define ODB_PART(k, name, version, attributes, out, ...)                                           \
    odb_part_run(k,                                                                                \
                 &(const struct odb_part){                                                         \
                     .op = name,                                                                   \
                     .opset = version,                                                             \
                     .attrs = attributes,                                                          \
                     .n_out = 1,                                                                   \
                     .n_in = sizeof((const struct odb_tensor *[]){__VA_ARGS__}) / sizeof(void *),  \
                     .in = (const struct odb_tensor *[]){__VA_ARGS__}},                            \
                 out)

/* Attributes written in place: ODB_PART_ATTRS({.name = "axis", .type = ODB_ATTR_INT, .i = 1}) */
#define ODB_PART_ATTRS(...)                                                                        \
    ((struct odb_attrs){(struct odb_attr[]){__VA_ARGS__},                                          \
                        sizeof((struct odb_attr[]){__VA_ARGS__}) / sizeof(struct odb_attr)})
#define ODB_PART_PLAIN ((struct odb_attrs){NULL, 0})

#endif
