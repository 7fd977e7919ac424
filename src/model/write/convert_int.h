/* SPDX-License-Identifier: MIT
 *
 * What convert.c (float16, bfloat16) and quantize_model.c (int8) share.
 */
#ifndef ODB_MODEL_WRITE_CONVERT_INT_H
#define ODB_MODEL_WRITE_CONVERT_INT_H

#include "model/write/rewrite.h"

struct odb_halves;

struct odb_convert {
    const struct odb_model *model; /* borrowed */
    const struct odb_graph *graph; /* borrowed: model */
    enum odb_dtype to;
    bool *is_f32;                    /* owned; [n_values] tensors of float32 */
    bool *unknown;                   /* owned; [n_values] the type is unknown, or it is no tensor */
    const struct odb_tensor **data;  /* owned array, borrowed: model; [n_values] initializers and
                                        what  a Constant gives: float32 tensors */
    enum odb_convert_class *classes; /* owned; [n_nodes] */
    char **why;                      /* owned; [n_nodes] */
    bool *beyond;                    /* owned; [n_nodes] stays for a weight */
    const struct odb_halves **rows;  /* owned array; [n_nodes] NULL: none is known */
    struct odb_tensor **narrow;      /* owned refs; [n_values] data in the type */
    /* int8 */
    struct odb_tensor **scale; /* owned refs; [n_values] of narrow; of what is computed */
    struct odb_tensor **zero;  /* owned refs; [n_values] of what is computed */
    int *axis;                 /* owned; [n_values] of scale; -1: one for all */
};

/* Whether an operator takes the type at an opset: at all inputs and outputs that may be float32 but
 * those in these bits, which keep their type. */
bool convert_takes(const char *domain, const char *name, int opset, enum odb_dtype to,
                   uint32_t *fixed_in, uint32_t *fixed_out);

void convert_stay(struct odb_convert *c, int node, const char *fmt, ...) ODB_PRINTF(3, 4);

enum odb_status convert_quantize_plan(struct odb_convert *c,
                                      const struct odb_convert_options *options,
                                      struct odb_error *err) ODB_MUST_USE;
enum odb_status convert_quantize_write(const struct odb_convert *c, struct rewrite *r,
                                       const struct odb_convert_form *form, struct odb_buf *out,
                                       struct odb_error *err) ODB_MUST_USE;

#endif
