/* SPDX-License-Identifier: MIT
 *
 * The optimizers of ai.onnx.preview.training: one step of each, element by element. A node updates
 * n tensors at once: its inputs are R, T, n tensors X, n gradients G, then n of each state that the
 * method keeps; its outputs n new X and n new states. All arithmetic is done in double and rounded
 * once, when a result is stored.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/kern.h"
#include "kernels/core/row.h"

enum { TRAINING_PARTS = 4 }; /* X, G and two states at most */

/* Constants of a call. */
struct training_step {
    double r, alpha, beta, epsilon, norm, norm_post;
    bool first;    /* T is 0 */
    bool nesterov; /* Momentum */
};

/* v: X, G and the states; new values replace X and the states. */
typedef void (*training_fn)(const struct training_step *s, double *v);

struct training_job {
    const struct training_step *step;
    training_fn fn;
    int n_parts;
    const struct odb_tensor *in[TRAINING_PARTS];
    struct odb_tensor *out[TRAINING_PARTS]; /* that of G unused; NULL: not wanted */
};

static void training_block(void *arg, size_t begin, size_t end)
{
    const struct training_job *job = arg;
    double v[TRAINING_PARTS];
    for (size_t i = begin; i < end; i++) {
        for (int p = 0; p < job->n_parts; p++)
            v[p] = odb_tensor_f64(job->in[p], i);
        job->fn(job->step, v);
        for (int p = 0; p < job->n_parts; p++)
            if (p != 1 && job->out[p])
                odb_store_f64(job->out[p]->dtype, job->out[p]->data, i, v[p]);
    }
}

/* How many tensors are updated; parts: of each, with X and G. */
static enum odb_status training_count(struct odb_kern *k, int parts, int *n)
{
    *n = (k->n_in - 2) / parts;
    if ((k->n_in - 2) % parts || *n < 1)
        return ODB_KERN_FAIL(k, "%d inputs behind R and T, where each tensor needs %d", k->n_in - 2,
                             parts);
    if (k->n_out > *n * (parts - 1))
        return ODB_KERN_FAIL(k, "%d outputs, where %d tensors give %d", k->n_out, *n,
                             *n * (parts - 1));
    for (int i = 0; i < k->n_in; i++) {
        const struct odb_tensor *t = k->in[i], *x = i < 2 ? NULL : k->in[2 + (i - 2) % *n];
        char a[200], b[200];
        if (!t)
            return ODB_KERN_FAIL(k, "input %d is missing", i);
        if (!x && t->count != 1)
            return ODB_KERN_FAIL(k, "%s must be one number", i ? "T" : "R");
        if (x && (t->dtype != x->dtype || !odb_tensor_same_shape(t, x)))
            return ODB_KERN_FAIL(k, "input %d, %s %s, does not fit its tensor, %s %s", i,
                                 odb_dtype_info(t->dtype)->name, odb_shape_text(t, a, sizeof a),
                                 odb_dtype_info(x->dtype)->name, odb_shape_text(x, b, sizeof b));
    }
    return ODB_OK;
}

static enum odb_status training_infer(struct odb_kern *k, int parts)
{
    int n = 0;
    ODB_TRY(training_count(k, parts, &n));
    for (int o = 0; o < k->n_out; o++)
        ODB_TRY(odb_kern_outline_like(k, o, 2 + o % n));
    return ODB_OK;
}

static enum odb_status training_run(struct odb_kern *k, int parts, const struct training_step *step,
                                    training_fn fn)
{
    int n = 0;
    ODB_TRY(training_count(k, parts, &n));
    for (int t = 0; t < n; t++) {
        struct training_job job = {.step = step, .fn = fn, .n_parts = parts};
        for (int p = 0; p < parts; p++) {
            int o = t + n * (p < 2 ? 0 : p - 1);
            job.in[p] = k->in[2 + p * n + t];
            job.out[p] = o < k->n_out ? k->out[o] : NULL;
        }
        odb_parallel_for(job.in[0]->count, 1 << 12, training_block, &job);
    }
    return ODB_OK;
}

/* --- the methods ------------------------------------------------------------------------------ */

static void training_adagrad(const struct training_step *s, double *v)
{
    double g = s->norm * v[0] + v[1];
    v[2] += g * g;
    v[0] -= s->r * g / (sqrt(v[2]) + s->epsilon);
}

static enum odb_status training_infer_adagrad(struct odb_kern *k)
{
    return training_infer(k, 3);
}

static enum odb_status training_run_adagrad(struct odb_kern *k)
{
    double t = odb_tensor_f64(k->in[1], 0);
    struct training_step step = {.norm = odb_kern_float(k, "norm_coefficient", 0),
                                 .epsilon = odb_kern_float(k, "epsilon", 0)};
    step.r = odb_tensor_f64(k->in[0], 0) / (1 + t * odb_kern_float(k, "decay_factor", 0));
    return training_run(k, 3, &step, training_adagrad);
}

static void training_adam(const struct training_step *s, double *v)
{
    double g = s->norm * v[0] + v[1];
    v[2] = s->alpha * v[2] + (1 - s->alpha) * g;
    v[3] = s->beta * v[3] + (1 - s->beta) * g * g;
    v[0] = (1 - s->norm_post) * (v[0] - s->r * v[2] / (sqrt(v[3]) + s->epsilon));
}

static enum odb_status training_infer_adam(struct odb_kern *k)
{
    return training_infer(k, 4);
}

static enum odb_status training_run_adam(struct odb_kern *k)
{
    double t = odb_tensor_f64(k->in[1], 0);
    struct training_step step = {.r = odb_tensor_f64(k->in[0], 0),
                                 .alpha = odb_kern_float(k, "alpha", 0),
                                 .beta = odb_kern_float(k, "beta", 0),
                                 .epsilon = odb_kern_float(k, "epsilon", 0),
                                 .norm = odb_kern_float(k, "norm_coefficient", 0),
                                 .norm_post = odb_kern_float(k, "norm_coefficient_post", 0)};
    if (t > 0)
        step.r *= sqrt(1 - pow(step.beta, t)) / (1 - pow(step.alpha, t));
    return training_run(k, 4, &step, training_adam);
}

static void training_momentum(const struct training_step *s, double *v)
{
    double g = s->norm * v[0] + v[1];
    v[2] = s->alpha * v[2] + (s->first ? 1 : s->beta) * g;
    v[0] -= s->r * (s->nesterov ? g + s->alpha * v[2] : v[2]);
}

static enum odb_status training_infer_momentum(struct odb_kern *k)
{
    return training_infer(k, 3);
}

static enum odb_status training_run_momentum(struct odb_kern *k)
{
    const char *mode = odb_kern_string(k, "mode", "");
    struct training_step step = {.r = odb_tensor_f64(k->in[0], 0),
                                 .alpha = odb_kern_float(k, "alpha", 0),
                                 .beta = odb_kern_float(k, "beta", 0),
                                 .norm = odb_kern_float(k, "norm_coefficient", 0),
                                 .first = odb_tensor_i64(k->in[1], 0) <= 0,
                                 .nesterov = strcmp(mode, "nesterov") == 0};
    for (const struct odb_attr_spec *a = k->op->attrs; a->name; a++)
        if (!odb_kern_has(k, a->name))
            return ODB_KERN_FAIL(k, "the attribute %s is missing", a->name);
    if (!step.nesterov && strcmp(mode, "standard") != 0)
        return ODB_KERN_FAIL(k, "mode is \"%s\"; it must be standard or nesterov", mode);
    return training_run(k, 3, &step, training_momentum);
}

/* --- the table -------------------------------------------------------------------------------- */

#define TRAINING_FLOAT (ODB_BIT(ODB_F32) | ODB_BIT(ODB_F64))
#define TRAINING_ROW(op, method, method_attrs, ...)                                                \
    ODB_ROW("ai.onnx.preview.training", op, 1, ODB_ARITY(3, ODB_MANY), ODB_ARITY(1, ODB_MANY),     \
            ODB_OP_REAL, method_attrs, training_infer_##method, training_run_##method,             \
            TRAINING_FLOAT, ODB_BIT(ODB_I64), TRAINING_FLOAT, ODB_EACH, __VA_ARGS__)

static const struct odb_attr_spec training_adagrad_attrs[] = {
    {"decay_factor", ODB_ATTR_FLOAT, "0.0", false},
    {"epsilon", ODB_ATTR_FLOAT, "0.0", false},
    {"norm_coefficient", ODB_ATTR_FLOAT, "0.0", false},
    {.name = NULL}};
static const struct odb_attr_spec training_adam_attrs[] = {
    {"alpha", ODB_ATTR_FLOAT, "0.9", false},
    {"beta", ODB_ATTR_FLOAT, "0.999", false},
    {"epsilon", ODB_ATTR_FLOAT, "0.0", false},
    {"norm_coefficient", ODB_ATTR_FLOAT, "0.0", false},
    {"norm_coefficient_post", ODB_ATTR_FLOAT, "0.0", false},
    {.name = NULL}};
static const struct odb_attr_spec training_momentum_attrs[] = {
    {"alpha", ODB_ATTR_FLOAT, NULL, true},
    {"beta", ODB_ATTR_FLOAT, NULL, true},
    {"mode", ODB_ATTR_STRING, NULL, true},
    {"norm_coefficient", ODB_ATTR_FLOAT, NULL, true},
    {.name = NULL}};

const struct odb_op odb_ops_training[] = {
    TRAINING_ROW("Adagrad", adagrad, training_adagrad_attrs,
                 ODB_NAMES("R,T,inputs...", "outputs...")),
    TRAINING_ROW("Adam", adam, training_adam_attrs, ODB_NAMES("R,T,inputs...", "outputs...")),
    TRAINING_ROW("Momentum", momentum, training_momentum_attrs,
                 ODB_NAMES("R,T,inputs...", "outputs...")),
    {.name = NULL},
};
