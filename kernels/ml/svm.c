/* SPDX-License-Identifier: MIT
 *
 * SVMRegressor and SVMClassifier. Everything is computed in double and rounded once; noisy runs
 * sum in float.
 *
 * A classifier with support vectors decides between every pair of classes; its scores are these
 * decisions, or with prob_a and prob_b the classes' probabilities, coupled as Wu, Lin and Weng do
 * (Probability estimates for multi-class classification by pairwise coupling, 2004). Without
 * support vectors there is one linear function per class. Labels and scores follow ONNX's
 * reference implementation. (ONNX Runtime differs for two classes without probabilities: it does
 * not transform the score there, except with NONE where both agree.)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/ml/ml.h"
#include "kernels/core/row.h"

#define SVM_GRAIN ((size_t)1 << 14) /* multiplications worth a thread */

enum svm_kernel { SVM_LINEAR, SVM_POLY, SVM_RBF, SVM_SIGMOID };

struct svm {
    enum svm_kernel kernel;
    double gamma, coef0, degree;
    enum odb_ml_post post;
    size_t rows, width, n_vectors;
    size_t n_coefficients, n_rho;
    const odb_f32 *vectors, *coefficients, *rho; /* borrowed */
    const odb_f64 *x;                            /* borrowed: [rows][width] */
    double *near;                                /* borrowed: [rows][n_vectors], by the kernel */
    bool in_float;
};

/* --- attributes ------------------------------------------------------------------------------- */

static enum odb_status svm_read_kernel(struct odb_kern *k, struct svm *s)
{
    static const char *const names[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
    const char *name = odb_kern_string(k, "kernel_type", "LINEAR");
    size_t n, i = 0;
    const odb_f32 *params = odb_kern_floats(k, "kernel_params", &n);
    while (i < ODB_COUNT(names) && strcmp(name, names[i]) != 0)
        i++;
    if (i == ODB_COUNT(names))
        return ODB_KERN_FAIL(k, "there is no kernel_type '%s'", name);
    if (n != 0 && n != 3)
        return ODB_KERN_FAIL(k, "kernel_params has %zu elements, not gamma, coef0 and degree", n);
    s->kernel = (enum svm_kernel)i;
    s->gamma = n ? params[0] : 0;
    s->coef0 = n ? params[1] : 0;
    s->degree = n ? params[2] : 0;
    return ODB_OK;
}

/* What both operators have; n_vectors = 0: a linear function, whatever the kernel says. */
static enum odb_status svm_read(struct odb_kern *k, size_t n_vectors, struct svm *s)
{
    size_t n, needed;
    ODB_TRY(svm_read_kernel(k, s));
    ODB_TRY(odb_ml_post(k, &s->post));
    ODB_TRY(odb_ml_shape(k, &s->rows, &s->width));
    s->n_vectors = n_vectors;
    s->vectors = odb_kern_floats(k, "support_vectors", &n);
    s->coefficients = odb_kern_floats(k, "coefficients", &s->n_coefficients);
    s->rho = odb_kern_floats(k, "rho", &s->n_rho);
    s->in_float = k->sequential && k->in[0]->dtype != ODB_F64;
    if (n_vectors > 0 && (!odb_size_mul(n_vectors, s->width, &needed) || needed != n))
        return ODB_KERN_FAIL(k,
                             "support_vectors has %zu numbers; %zu vectors of %zu features "
                             "need another number",
                             n, n_vectors, s->width);
    if (s->n_rho == 0)
        return ODB_KERN_FAIL(k, "rho is missing");
    return ODB_OK;
}

/* --- distances -------------------------------------------------------------------------------- */

static double svm_add(const struct svm *s, double sum, double v)
{
    return s->in_float ? (float)(sum + (float)v) : sum + v;
}

static double svm_near(const struct svm *s, const odb_f64 *x, const odb_f32 *v)
{
    double sum = 0;
    for (size_t i = 0; i < s->width; i++) {
        double d = x[i] - v[i];
        sum = svm_add(s, sum, s->kernel == SVM_RBF ? d * d : x[i] * v[i]);
    }
    switch (s->kernel) {
    case SVM_POLY:
        return pow(s->gamma * sum + s->coef0, s->degree);
    case SVM_RBF:
        return exp(-s->gamma * sum);
    case SVM_SIGMOID:
        return tanh(s->gamma * sum + s->coef0);
    default:
        return sum;
    }
}

static void svm_rows(void *arg, size_t begin, size_t end)
{
    const struct svm *s = arg;
    for (size_t i = begin; i < end; i++)
        s->near[i] = svm_near(s, s->x + i / s->n_vectors * s->width,
                              s->vectors + i % s->n_vectors * s->width);
}

/* The kernel of every row with every vector, into fresh memory. */
static enum odb_status svm_measure(struct odb_kern *k, struct svm *s)
{
    struct odb_tensor *x = NULL;
    enum odb_status status;
    ODB_TRY_OUT(odb_tensor_cast(&x, k->in[0], ODB_F64, k->err));
    ODB_TRY_OUT(odb_ml_doubles(k, &s->near, s->rows, s->n_vectors));
    s->x = x->data;
    odb_parallel_for(s->rows * s->n_vectors, SVM_GRAIN / (s->width + 1) + 1, svm_rows, s);
out:
    odb_tensor_unref(x);
    return status;
}

/* sum += w . near, n numbers each */
static double svm_weigh(const struct svm *s, double sum, const odb_f32 *w, const double *near,
                        size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = svm_add(s, sum, w[i] * near[i]);
    return sum;
}

/* --- SVMRegressor ----------------------------------------------------------------------------- */

static enum odb_status svm_read_regress(struct odb_kern *k, struct svm *s)
{
    int64_t n = odb_kern_int(k, "n_supports", 0);
    if (n < 0)
        return ODB_KERN_FAIL(k, "n_supports is %lld", (long long)n);
    ODB_TRY(svm_read(k, (size_t)n, s));
    size_t needed = n ? (size_t)n : s->width;
    if (s->n_coefficients != needed)
        return ODB_KERN_FAIL(k, "%zu coefficients, not %zu", s->n_coefficients, needed);
    if (odb_kern_int(k, "one_class", 0) != 0 && s->post != ODB_ML_NONE)
        return ODB_KERN_UNSUPPORTED(k, "a post_transform of what one_class gives");
    return ODB_OK;
}

static enum odb_status svm_infer_regress(struct odb_kern *k)
{
    struct svm s = {.near = NULL};
    ODB_TRY(svm_read_regress(k, &s));
    return odb_kern_outline(k, 0, odb_ml_float(k), 2, (int64_t[]){(int64_t)s.rows, 1});
}

static enum odb_status svm_run_regress(struct odb_kern *k)
{
    struct svm s = {.near = NULL};
    bool one_class = odb_kern_int(k, "one_class", 0) != 0;
    double *scores = NULL;
    enum odb_status status;
    ODB_TRY(svm_read_regress(k, &s));
    ODB_TRY_OUT(odb_ml_doubles(k, &scores, s.rows, 1));
    if (s.n_vectors == 0)
        ODB_TRY_OUT(odb_ml_affine(k, s.rows, s.width, 1, s.coefficients, s.rho, scores));
    else
        ODB_TRY_OUT(svm_measure(k, &s));
    for (size_t r = 0; r < s.rows; r++) {
        if (s.n_vectors)
            scores[r] =
                s.rho[0] + svm_weigh(&s, 0, s.coefficients, s.near + r * s.n_vectors, s.n_vectors);
        odb_ml_post_apply(s.post, &scores[r], 1);
        if (one_class)
            scores[r] = scores[r] > 0 ? 1 : -1;
    }
    odb_ml_write(k, 0, scores);
out:
    free(s.near);
    free(scores);
    return status;
}

/* --- SVMClassifier ---------------------------------------------------------------------------- */

struct svm_classes {
    struct svm svm;
    struct odb_ml_labels labels;
    size_t n, pairs;                /* classes */
    const int64_t *per_class;       /* borrowed: support vectors of each; NULL: linear */
    const odb_f32 *prob_a, *prob_b; /* borrowed; NULL: no probabilities */
    bool positive;                  /* no coefficient is negative */
    size_t n_scores;                /* per row of the output */
};

static enum odb_status svm_check_pairs(struct odb_kern *k, struct svm_classes *c, size_t n_probs,
                                       size_t n_per_class)
{
    size_t needed;
    if (n_per_class != c->n)
        return ODB_KERN_FAIL(k, "vectors_per_class has %zu elements for %zu classes", n_per_class,
                             c->n);
    if (!odb_size_mul(c->n - 1, c->svm.n_vectors, &needed) || c->svm.n_coefficients != needed)
        return ODB_KERN_FAIL(k, "%zu coefficients; %zu classes and %zu support vectors need %zu",
                             c->svm.n_coefficients, c->n, c->svm.n_vectors, needed);
    if (c->svm.n_rho < c->pairs || (n_probs && n_probs < c->pairs))
        return ODB_KERN_FAIL(k, "rho, prob_a and prob_b need %zu elements each", c->pairs);
    if (!n_probs && c->pairs == 1 && c->svm.post == ODB_ML_PROBIT)
        return ODB_KERN_UNSUPPORTED(k, "PROBIT of one decision between two classes");
    return ODB_OK;
}

static enum odb_status svm_read_classes(struct odb_kern *k, struct svm_classes *c)
{
    size_t n_per_class, n_a, n_b, n_vectors = 0;
    *c = (struct svm_classes){.positive = true};
    ODB_TRY(odb_ml_labels(k, "classlabels_ints", "classlabels_strings", &c->labels));
    c->n = c->labels.n;
    if (c->n < 2 || c->n > 65535)
        return ODB_KERN_UNSUPPORTED(k, "a classifier of %zu classes", c->n);
    c->pairs = c->n * (c->n - 1) / 2;
    c->per_class = odb_kern_ints(k, "vectors_per_class", &n_per_class);
    for (size_t i = 0; i < n_per_class; i++) {
        if (c->per_class[i] < 0 || !odb_size_add(n_vectors, (uint64_t)c->per_class[i], &n_vectors))
            return ODB_KERN_FAIL(k, "vectors_per_class[%zu] is %lld", i,
                                 (long long)c->per_class[i]);
    }
    ODB_TRY(svm_read(k, n_vectors, &c->svm));
    c->prob_a = odb_kern_floats(k, "prob_a", &n_a);
    c->prob_b = odb_kern_floats(k, "prob_b", &n_b);
    if (n_a != n_b)
        return ODB_KERN_FAIL(k, "prob_a has %zu elements, prob_b %zu", n_a, n_b);
    for (size_t i = 0; i < c->svm.n_coefficients; i++)
        c->positive &= c->svm.coefficients[i] >= 0;
    c->n_scores = c->n;
    if (n_vectors > 0) {
        c->prob_a = n_a ? c->prob_a : NULL;
        c->n_scores = n_a || c->n == 2 ? c->n : c->pairs;
        return svm_check_pairs(k, c, n_a, n_per_class);
    }
    if (c->svm.n_coefficients != c->n * c->svm.width)
        return ODB_KERN_FAIL(k, "%zu coefficients for %zu classes and %zu features",
                             c->svm.n_coefficients, c->n, c->svm.width);
    return ODB_OK;
}

static enum odb_status svm_infer_classify(struct odb_kern *k)
{
    struct svm_classes c;
    ODB_TRY(svm_read_classes(k, &c));
    int64_t dims[2] = {(int64_t)c.svm.rows, (int64_t)c.n_scores};
    ODB_TRY(odb_kern_outline(k, 0, odb_ml_labels_dtype(&c.labels), 1, dims));
    return odb_kern_outline(k, 1, odb_ml_float(k), 2, dims);
}

/* The decisions of one row, one per pair of classes, and how often each class won. */
static void svm_decide(const struct svm_classes *c, const double *near, double *decisions,
                       size_t *votes)
{
    const struct svm *s = &c->svm;
    size_t pair = 0, at_i = 0;
    memset(votes, 0, c->n * sizeof *votes);
    for (size_t i = 0; i < c->n; i++) {
        size_t n_i = (size_t)c->per_class[i], at_j = at_i + n_i;
        for (size_t j = i + 1; j < c->n; j++, pair++) {
            size_t n_j = (size_t)c->per_class[j];
            const odb_f32 *for_i = s->coefficients + (j - 1) * s->n_vectors + at_i;
            const odb_f32 *for_j = s->coefficients + i * s->n_vectors + at_j;
            double sum = svm_weigh(s, 0, for_i, near + at_i, n_i);
            decisions[pair] = s->rho[pair] + svm_weigh(s, sum, for_j, near + at_j, n_j);
            votes[decisions[pair] > 0 ? i : j]++;
            at_j += n_j;
        }
        at_i += n_i;
    }
}

/* One round over all classes; qp is Q p, and p keeps its sum of 1. */
static void svm_couple_round(size_t n, const double *q, double *qp, double *p, double pqp)
{
    for (size_t t = 0; t < n; t++) {
        double own = q[t * n + t], step = (pqp - qp[t]) / own;
        p[t] += step;
        pqp = (pqp + step * (step * own + 2 * qp[t])) / ((1 + step) * (1 + step));
        for (size_t j = 0; j < n; j++) {
            qp[j] = (qp[j] + step * q[t * n + j]) / (1 + step);
            p[j] /= 1 + step;
        }
    }
}

/* p[n] from r[n][n], the probabilities of winning against each other. room: n * (n + 1) doubles. */
static void svm_couple(size_t n, const double *r, double *p, double *room)
{
    double *q = room, *qp = room + n * n;
    for (size_t i = 0; i < n; i++) {
        p[i] = 1.0 / (double)n;
        q[i * n + i] = 0;
        for (size_t j = 0; j < n; j++) {
            if (j == i)
                continue;
            q[i * n + i] += r[j * n + i] * r[j * n + i];
            q[i * n + j] = -r[j * n + i] * r[i * n + j];
        }
    }
    for (size_t round = 0; round < ODB_MAX(n, (size_t)100); round++) {
        double pqp = 0, error = 0;
        for (size_t i = 0; i < n; i++) {
            qp[i] = 0;
            for (size_t j = 0; j < n; j++)
                qp[i] += q[i * n + j] * p[j];
            pqp += p[i] * qp[i];
        }
        for (size_t i = 0; i < n; i++)
            error = fmax(error, fabs(qp[i] - pqp));
        if (error < 0.005 / (double)n)
            return;
        svm_couple_round(n, q, qp, p, pqp);
    }
}

#define SVM_LEAST 1e-7 /* no pair is more certain than this */

static void svm_probabilities(const struct svm_classes *c, const double *decisions, double *p,
                              double *room)
{
    double *r = room;
    size_t n = c->n, pair = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++, pair++) {
            double v = odb_ml_logistic(-(decisions[pair] * c->prob_a[pair] + c->prob_b[pair]));
            v = fmin(fmax(v, SVM_LEAST), 1 - SVM_LEAST);
            r[i * n + j] = v;
            r[j * n + i] = 1 - v;
        }
    }
    svm_couple(n, r, p, room + n * n);
}

/* The label of a row, and its scores. */
static size_t svm_finish_pairs(const struct svm_classes *c, const double *near, double *scores,
                               double *room, size_t *votes)
{
    size_t best = 0;
    svm_decide(c, near, room, votes);
    for (size_t i = 1; i < c->n; i++)
        if (votes[i] > votes[best])
            best = i;
    if (c->prob_a) {
        svm_probabilities(c, room, scores, room + c->pairs);
    } else if (c->pairs == 1) {
        scores[0] = -room[0];
        scores[1] = room[0];
    } else {
        memcpy(scores, room, c->pairs * sizeof *scores);
    }
    return best;
}

static size_t svm_finish_linear(const struct odb_kern *k, const struct svm_classes *c,
                                const double *scores)
{
    size_t best = odb_ml_argmax(k, scores, c->n);
    return c->n == 2 && c->positive && scores[best] >= 0.5 ? 1 : best;
}

static enum odb_status svm_run_classify(struct odb_kern *k)
{
    struct svm_classes c;
    double *scores = NULL, *room = NULL;
    size_t *best = NULL, *votes = NULL;
    enum odb_status status;
    ODB_TRY(svm_read_classes(k, &c));
    struct svm *s = &c.svm;
    ODB_TRY_OUT(odb_ml_doubles(k, &scores, s->rows, c.n_scores));
    ODB_TRY_OUT(odb_ml_doubles(k, &room, c.n, 3 * c.n + 1));
    best = odb_work_take(s->rows + 1, sizeof *best);
    if (!best)
        ODB_TRY_OUT(odb_kern_no_memory(k));
    votes = odb_new_n(size_t, c.n);
    if (s->n_vectors == 0) {
        odb_f32 *rho = odb_new_n(odb_f32, c.n); /* the first one serves all classes */
        for (size_t i = 0; i < c.n; i++)
            rho[i] = s->rho[0];
        status = odb_ml_affine(k, s->rows, s->width, c.n, s->coefficients, rho, scores);
        free(rho);
        ODB_TRY_OUT(status);
    } else {
        ODB_TRY_OUT(svm_measure(k, s));
    }
    for (size_t r = 0; r < s->rows; r++) {
        double *row = scores + r * c.n_scores;
        best[r] = s->n_vectors ? svm_finish_pairs(&c, s->near + r * s->n_vectors, row, room, votes)
                               : svm_finish_linear(k, &c, row);
        odb_ml_post_apply(s->post, row, c.n_scores);
    }
    odb_ml_write(k, 1, scores);
    status = odb_ml_labels_write(k, 0, &c.labels, best);
out:
    free(s->near);
    free(scores);
    free(room);
    odb_work_give(best);
    free(votes);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

#define SVM_ATTRS                                                                                  \
    {.name = "coefficients", .type = ODB_ATTR_FLOATS},                                             \
        {.name = "kernel_params", .type = ODB_ATTR_FLOATS},                                        \
        {.name = "kernel_type", .type = ODB_ATTR_STRING, .def = "LINEAR"},                         \
        {.name = "post_transform", .type = ODB_ATTR_STRING, .def = "NONE"},                        \
        {.name = "rho", .type = ODB_ATTR_FLOATS},                                                  \
    {                                                                                              \
        .name = "support_vectors", .type = ODB_ATTR_FLOATS                                         \
    }

static const struct odb_attr_spec svm_attrs_classify[] = {
    SVM_ATTRS,
    {.name = "classlabels_ints", .type = ODB_ATTR_INTS},
    {.name = "classlabels_strings", .type = ODB_ATTR_STRINGS},
    {.name = "prob_a", .type = ODB_ATTR_FLOATS},
    {.name = "prob_b", .type = ODB_ATTR_FLOATS},
    {.name = "vectors_per_class", .type = ODB_ATTR_INTS},
    {.name = NULL}};
static const struct odb_attr_spec svm_attrs_regress[] = {
    SVM_ATTRS,
    {.name = "n_supports", .type = ODB_ATTR_INT, .def = "0"},
    {.name = "one_class", .type = ODB_ATTR_INT, .def = "0"},
    {.name = NULL}};

const struct odb_op odb_ops_svm[] = {
    ODB_ONNX_ML("SVMClassifier", 1, ODB_ARITY(1, 1), ODB_ARITY(2, 2), ODB_OP_REAL | ODB_OP_BOUNDARY,
                svm_attrs_classify, svm_infer_classify, svm_run_classify, ODB_ML_NUMBERS,
                ODB_NAMES("X", "Y,Z")),
    ODB_ONNX_ML("SVMRegressor", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL | ODB_OP_BOUNDARY,
                svm_attrs_regress, svm_infer_regress, svm_run_regress, ODB_ML_NUMBERS,
                ODB_NAMES("X", "Y")),
    {.name = NULL},
};
