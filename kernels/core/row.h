/* SPDX-License-Identifier: MIT
 *
 * Rows of the operator table, for families whose rows have little in common:
 *
 *     ODB_ONNX("Softmax", 13, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL, softmax_attrs,
 *              softmax_infer, softmax_run, ODB_T_FLOAT)
 *
 * ins and outs: ODB_ARITY(least, most). What follows run are the types of the inputs: a set stands
 * for one type in all inputs that it is said of (ODB_AS() and ODB_EACH in kern.h). Behind them
 * stand the facts (facts.h), in any order.
 */
#ifndef ODB_KERNELS_CORE_ROW_H
#define ODB_KERNELS_CORE_ROW_H

#include "kernels/core/kern.h"

#define ODB_ARITY(least, most) least, most
#define ODB_ROW(...) ODB_ROW_(__VA_ARGS__)
#define ODB_ROW_(of, op_name, first, least_in, most_in, least_out, most_out, op_flags, list,       \
                 op_infer, op_run, ...)                                                            \
    {                                                                                              \
        .domain = of, .name = op_name, .since = first, .min_in = least_in, .max_in = most_in,      \
        .min_out = least_out, .max_out = most_out, .flags = op_flags, .attrs = list,               \
        .infer = op_infer, .run = op_run, .types[0] = __VA_ARGS__                                  \
    }

/* Operators of ai.onnx and of ai.onnx.ml: name, since, ins, outs, flags, attributes, infer, run,
 * types, facts. */
#define ODB_ONNX(...) ODB_ROW("", __VA_ARGS__)
#define ODB_ONNX_ML(...) ODB_ROW("ai.onnx.ml", __VA_ARGS__)

/* Attributes in macros of rows' own: one that may be left out, one that may not. kind: INT, FLOATS,
 * STRING, … */
#define ODB_OPTIONAL_ATTR(name, kind, def)                                                         \
    {                                                                                              \
        name, ODB_ATTR_##kind, def, false                                                          \
    }
#define ODB_REQUIRED_ATTR(name, kind)                                                              \
    {                                                                                              \
        name, ODB_ATTR_##kind, NULL, true                                                          \
    }

#endif
