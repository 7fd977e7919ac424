/* SPDX-License-Identifier: MIT
 *
 * Writing a model in narrower types: float16 or bfloat16 for the nodes that need not stay in
 * float32, or int8 around the products. What is known of the model is worked out once; each writing
 * then says which nodes stay.
 *
 * float16, bfloat16: a node that is converted reads and makes the type; where float32 begins or
 * ends stands a Cast, one per value and direction, shared by all readers. Weights are cast here, so
 * that no Cast of a weight is left to do. A weight with a finite number that the type cannot hold
 * keeps its readers in float32.
 *
 * int8: every input of a MatMul, Gemm or Conv that is not a bias goes through QuantizeLinear and
 * DequantizeLinear: uint8 with one scale for what is computed, int8 with a scale per output channel
 * for weights (one scale before opset 13). All other nodes are left alone.
 *
 * Inputs and outputs of the model keep their names and types, bodies and functions stay as they
 * are. Inputs that have an initializer are plain weights in what is written, as in
 * odb_model_extract().
 */
#ifndef ODB_MODEL_WRITE_CONVERT_H
#define ODB_MODEL_WRITE_CONVERT_H

#include "model/model.h"
#include "model/write/write.h"

struct odb_convert;

struct odb_convert_options {
    enum odb_dtype to; /* ODB_F16, ODB_BF16, ODB_I8 */
    /* [n_values] what the values look like in a run, which tells their types; borrowed for the
     * call. NULL entries: not computed; their makers and readers stay as they are, unless declared.
     */
    const struct odb_tensor *const *like;
    /* int8: [n_values] least and greatest number of each value in all runs, {0, 0} where unknown.
     */
    const double (*range)[2];
};

enum odb_convert_class {
    ODB_CONVERT_NOTHING, /* there is nothing in it to convert */
    ODB_CONVERT_STAYS,   /* it cannot be converted: odb_convert_why() */
    ODB_CONVERT_FREE     /* either way */
};

/* keeps a pointer to the model, which must outlive it. ODB_UNSUPPORTED: the model's opset has no
 * such type. */
enum odb_status odb_convert_new(struct odb_convert **out, const struct odb_model *model,
                                const struct odb_convert_options *options,
                                struct odb_error *err) ODB_MUST_USE;
void odb_convert_free(struct odb_convert *convert); /* NULL is fine */

enum odb_convert_class odb_convert_class(const struct odb_convert *convert, int node);
/* Why a node stays; NULL where it need not. Borrowed. */
const char *odb_convert_why(const struct odb_convert *convert, int node);
/* A weight of the node is beyond the type: that is why it stays. */
bool odb_convert_beyond(const struct odb_convert *convert, int node);
/* Makes a free node stay. */
void odb_convert_pin(struct odb_convert *convert, int node, const char *why);

/* int8: what becomes of input i of a free node on its way through int8, given that value (a weight
 * if NULL); a ref of it where that input is left alone. Owned by the caller. */
enum odb_status odb_convert_operand(const struct odb_convert *convert, int node, int i,
                                    const struct odb_tensor *given, struct odb_tensor **out,
                                    struct odb_error *err) ODB_MUST_USE;

/* How it is written. */
struct odb_convert_form {
    const bool *keep;         /* [n_nodes] free nodes that stay as they are */
    enum odb_weights weights; /* as in struct odb_extract, as are the next two */
    const char *weights_file;
    struct odb_file_parts *weights_out; /* its bytes are the model's and the convert's */
    int **origin; /* may be NULL; out: [*n_nodes] which node of the model each is,
                     in the order of the file; ODB_NO_NODE: none. Owned by the
                     caller */
    size_t *n_nodes;
};

/* Appends the bytes of the model to out. */
enum odb_status odb_convert_write(const struct odb_convert *convert,
                                  const struct odb_convert_form *form, struct odb_buf *out,
                                  struct odb_error *err) ODB_MUST_USE;

#endif
