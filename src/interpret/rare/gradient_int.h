/* SPDX-License-Identifier: MIT
 *
 * Shared by gradient.c (tape, replay, walking back) and gradient_rules.c (derivatives).
 *
 * A tape is a list of operator calls on variables, each of which is computed when it is written
 * down. The derivative of a call is again calls, written on the same tape: so a Gradient of what a
 * Gradient gives needs nothing more.
 */
#ifndef ODB_INTERPRET_RARE_GRADIENT_INT_H
#define ODB_INTERPRET_RARE_GRADIENT_INT_H

#include "base/mem.h"
#include "interpret/cpu_int.h"

#define GRAD_NONE (-1) /* no variable: an omitted input, a gradient that is zero */
#define GRAD_OPSET 18  /* of the operators that derivatives are written in */
#define GRAD_MAX_IN 3  /* inputs that formulas tell apart */

struct grad_call {
    const struct odb_op *op;
    int opset;
    struct odb_attrs attrs; /* borrowed: the model; or owned: the tape */
    int n_in, n_out;
    int *in, *out; /* owned: the tape; variables */
};

struct grad_tape {
    const struct cpu_scope *scope;
    ODB_VEC(struct odb_tensor *) vars; /* owned refs */
    ODB_VEC(struct grad_call) calls;
    ODB_VEC(void *) owned;
    enum odb_status status; /* after the first failure nothing is computed any more */
    struct odb_error *err;
};

/* --- gradient.c: what rules are written with. Once the tape has failed all return GRAD_NONE. ---
 */

/* Zeroed, as long-lived as the tape. */
void *grad_alloc(struct grad_tape *t, size_t n, size_t size);
#define grad_new_n(t, type, n) ((type *)grad_alloc(t, (size_t)(n), sizeof(type)))
/* Fails the tape, which keeps the first failure. */
void grad_fail(struct grad_tape *t, enum odb_status status, const char *fmt, ...) ODB_PRINTF(3, 4);
const struct odb_tensor *grad_tensor(const struct grad_tape *t, int var);
/* A constant; takes the reference. */
int grad_constant(struct grad_tape *t, struct odb_tensor *tensor);
/* A scalar of the type of a variable. */
int grad_number(struct grad_tape *t, int like, double v);
int grad_ints(struct grad_tape *t, size_t n, const int64_t *v);
/* A call of an operator of ai.onnx with one output; attributes are copied. */
int grad_op(struct grad_tape *t, const char *name, int n_in, const int *in, size_t n_attrs,
            const struct odb_attr *attrs);
/* The same without attributes: GRAD_OP(t, "Mul", a, b). */
#define GRAD_OP(t, name, ...)                                                                      \
    grad_op(t, name, (int)ODB_COUNT(((int[]){__VA_ARGS__})), (int[]){__VA_ARGS__}, 0, NULL)
/* A call as it is; fills out, whose wanted entries are not GRAD_NONE. attrs are borrowed. */
void grad_record(struct grad_tape *t, const struct odb_op *op, int opset, struct odb_attrs attrs,
                 int n_in, const int *in, int n_out, const bool *wanted, int *out);

/* --- gradient_rules.c --------------------------------------------------------------------------
 */

/* Derivatives of a call: g are those of its outputs, gi receives those of the inputs wanted. False:
 * the operator has no rule. */
bool grad_differentiate(struct grad_tape *t, const struct grad_call *call, const int *g,
                        const bool *want, int *gi);
/* Writes an operator down as simpler ones, which have rules. False: it has no such form, or has
 * more outputs than the first. */
bool grad_expand(struct grad_tape *t, const struct grad_call *call);
/* Sums g over the dimensions along which like was broadcast. */
int grad_unbroadcast(struct grad_tape *t, int g, int like);

#endif
