/* SPDX-License-Identifier: MIT
 *
 * RNN, GRU and LSTM. Per direction: one matrix product for the inputs of all steps, then per step
 * one for the states of the whole batch (two for a GRU that resets before the product) and the
 * cell's arithmetic per batch entry. Sigmoid and Tanh of floats are those of floatmath.h; other
 * activations are computed in double and rounded.
 *
 * Every batch entry runs its own sequence_lens steps: steps beyond them leave the state alone and
 * give zeros. In reverse an entry starts at its own last step.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/core/floatmath.h"
#include "kernels/core/kern.h"
#include "kernels/linear/matmul.h"

typedef double (*recurrent_fn)(double x, double alpha, double beta);

struct recurrent_act {
    recurrent_fn fn;
    double alpha, beta;
};

struct recurrent {
    size_t gates, hidden, input, batch, steps, dirs;
    bool by_batch;                      /* layout 1: batch is the first dimension */
    bool reverse;                       /* the direction now computed */
    bool linear, couple;                /* GRU: linear_before_reset; LSTM: input_forget */
    double clip;                        /* 0: none */
    struct recurrent_act acts[6], *act; /* act: of the direction now computed */
    enum odb_dtype dtype;
    size_t size; /* bytes per element */
};

/* --- activations ------------------------------------------------------------------------------ */

static double recurrent_sigmoid(double x, double alpha, double beta)
{
    return 1 / (1 + exp(-x));
}

static double recurrent_tanh(double x, double alpha, double beta)
{
    return tanh(x);
}

static double recurrent_relu(double x, double alpha, double beta)
{
    return x < 0 ? 0 : x;
}

static double recurrent_affine(double x, double alpha, double beta)
{
    return alpha * x + beta;
}

static double recurrent_leaky(double x, double alpha, double beta)
{
    return x < 0 ? alpha * x : x;
}

static double recurrent_thresholded(double x, double alpha, double beta)
{
    return x < alpha ? 0 : x;
}

static double recurrent_scaled_tanh(double x, double alpha, double beta)
{
    return alpha * tanh(beta * x);
}

static double recurrent_hard_sigmoid(double x, double alpha, double beta)
{
    x = alpha * x + beta;
    x = x < 0 ? 0 : x; /* keeps NaN */
    return x > 1 ? 1 : x;
}

static double recurrent_elu(double x, double alpha, double beta)
{
    return x < 0 ? alpha * expm1(x) : x;
}

static double recurrent_softsign(double x, double alpha, double beta)
{
    return x / (1 + fabs(x));
}

static double recurrent_softplus(double x, double alpha, double beta)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

/* Which take alpha and beta from the node's lists, and what they are otherwise. */
static const struct {
    const char *name;
    recurrent_fn fn;
    bool has_alpha, has_beta;
    double alpha, beta;
} recurrent_acts[] = {
    {"Sigmoid", recurrent_sigmoid, false, false, 0, 0},
    {"Tanh", recurrent_tanh, false, false, 0, 0},
    {"Relu", recurrent_relu, false, false, 0, 0},
    {"Affine", recurrent_affine, true, true, 1, 0},
    {"LeakyRelu", recurrent_leaky, true, false, 0.01f, 0},
    {"ThresholdedRelu", recurrent_thresholded, true, false, 1, 0},
    {"ScaledTanh", recurrent_scaled_tanh, true, true, 1, 1},
    {"HardSigmoid", recurrent_hard_sigmoid, true, true, 0.2f, 0.5},
    {"Elu", recurrent_elu, true, false, 1, 0},
    {"Softsign", recurrent_softsign, false, false, 0, 0},
    {"Softplus", recurrent_softplus, false, false, 0, 0},
};

static double recurrent_take(const struct odb_attr *list, size_t *at, double fallback)
{
    if (list == NULL || list->type != ODB_ATTR_FLOATS || *at >= list->n)
        return fallback;
    return (double)list->floats[(*at)++];
}

/* per: activations per direction; defaults has that many names. */
static enum odb_status recurrent_read_acts(struct odb_kern *k, struct recurrent *r, size_t per,
                                           const char *const *defaults)
{
    const struct odb_attr *names = odb_attrs_find(&k->attrs, "activations");
    const struct odb_attr *alphas = odb_attrs_find(&k->attrs, "activation_alpha");
    const struct odb_attr *betas = odb_attrs_find(&k->attrs, "activation_beta");
    size_t n = per * r->dirs, alpha = 0, beta = 0;

    if (names != NULL && (names->type != ODB_ATTR_STRINGS || names->n != n))
        return ODB_KERN_FAIL(k, "%zu activations where %zu are needed", names->n, n);
    for (size_t i = 0; i < n; i++) {
        struct odb_str name = {defaults[i % per], strlen(defaults[i % per])};
        size_t f = 0;
        name = names != NULL ? names->strings[i] : name;
        while (f < ODB_COUNT(recurrent_acts) &&
               (strlen(recurrent_acts[f].name) != name.len ||
                strncasecmp(recurrent_acts[f].name, name.data, name.len) != 0))
            f++;
        if (f == ODB_COUNT(recurrent_acts))
            return ODB_KERN_UNSUPPORTED(k, "activation %.*s", (int)ODB_MIN(name.len, (size_t)80),
                                        name.data);
        r->acts[i] = (struct recurrent_act){recurrent_acts[f].fn, recurrent_acts[f].alpha,
                                            recurrent_acts[f].beta};
        if (recurrent_acts[f].has_alpha)
            r->acts[i].alpha = recurrent_take(alphas, &alpha, r->acts[i].alpha);
        if (recurrent_acts[f].has_beta)
            r->acts[i].beta = recurrent_take(betas, &beta, r->acts[i].beta);
    }
    return ODB_OK;
}

/* --- the node --------------------------------------------------------------------------------- */

/* What differs between the three. */
struct recurrent_cell {
    size_t gates, acts;
    const char *defaults[3];
};

static const struct recurrent_cell *recurrent_cell(const struct odb_kern *k)
{
    static const struct recurrent_cell rnn = {1, 1, {"Tanh"}};
    static const struct recurrent_cell gru = {3, 2, {"Sigmoid", "Tanh"}};
    static const struct recurrent_cell lstm = {4, 3, {"Sigmoid", "Tanh", "Tanh"}};

    return k->op->name[0] == 'R' ? &rnn : k->op->name[0] == 'G' ? &gru : &lstm;
}

/* Refuses input i where it is there and has another shape. */
static enum odb_status recurrent_expect(struct odb_kern *k, int i, int rank, const size_t *dims)
{
    int64_t wanted[3];
    for (int d = 0; d < rank; d++)
        wanted[d] = (int64_t)dims[d];
    return odb_kern_expect(k, i, rank, wanted);
}

static enum odb_status recurrent_check(struct odb_kern *k, const struct recurrent *r)
{
    size_t rows = r->gates * r->hidden, first = r->by_batch ? r->batch : r->dirs;
    size_t second = r->by_batch ? r->dirs : r->batch;

    ODB_TRY(recurrent_expect(k, 1, 3, (size_t[]){r->dirs, rows, r->input}));
    ODB_TRY(recurrent_expect(k, 2, 3, (size_t[]){r->dirs, rows, r->hidden}));
    ODB_TRY(recurrent_expect(k, 3, 2, (size_t[]){r->dirs, 2 * rows}));
    ODB_TRY(recurrent_expect(k, 4, 1, (size_t[]){r->batch}));
    ODB_TRY(recurrent_expect(k, 5, 3, (size_t[]){first, second, r->hidden}));
    ODB_TRY(recurrent_expect(k, 6, 3, (size_t[]){first, second, r->hidden}));
    return recurrent_expect(k, 7, 2, (size_t[]){r->dirs, 3 * r->hidden});
}

static enum odb_status recurrent_read(struct odb_kern *k, struct recurrent *r)
{
    const struct recurrent_cell *cell = recurrent_cell(k);
    const struct odb_tensor *x = k->in[0], *rec = k->in[2];
    const char *direction = odb_kern_string(k, "direction", "forward");
    bool both = strcmp(direction, "bidirectional") == 0;

    if (x->rank != 3 || rec->rank != 3)
        return ODB_KERN_FAIL(k, "X and R must have rank 3, not %d and %d", x->rank, rec->rank);
    r->reverse = strcmp(direction, "reverse") == 0;
    if (!both && !r->reverse && strcmp(direction, "forward") != 0)
        return ODB_KERN_FAIL(k, "unknown direction \"%s\"", direction);
    r->by_batch = odb_kern_int(k, "layout", 0) != 0;
    r->gates = cell->gates;
    r->hidden = (size_t)rec->dims[2];
    r->steps = (size_t)x->dims[r->by_batch];
    r->batch = (size_t)x->dims[!r->by_batch];
    r->input = (size_t)x->dims[2];
    r->dirs = both ? 2 : 1;
    r->linear = odb_kern_int(k, "linear_before_reset", 0) != 0;
    r->couple = odb_kern_int(k, "input_forget", 0) != 0;
    r->clip = odb_kern_float(k, "clip", 0);
    r->dtype = x->dtype;
    r->size = odb_dtype_info(x->dtype)->bits / 8;
    if (odb_kern_int(k, "hidden_size", (int64_t)r->hidden) != (int64_t)r->hidden)
        return ODB_KERN_FAIL(k, "hidden_size is %lld, but R says %zu",
                             (long long)odb_kern_int(k, "hidden_size", 0), r->hidden);
    for (int i = 1; i < k->n_in; i++)
        if (i != 4 && k->in[i] != NULL && k->in[i]->dtype != x->dtype)
            return ODB_KERN_FAIL(k, "input %d is not of X's type", i);
    ODB_TRY(recurrent_check(k, r));
    return recurrent_read_acts(k, r, cell->acts, cell->defaults);
}

static enum odb_status recurrent_infer(struct odb_kern *k)
{
    struct recurrent r = {.clip = 0};

    ODB_TRY(recurrent_read(k, &r));
    int64_t s = (int64_t)r.steps, d = (int64_t)r.dirs, b = (int64_t)r.batch;
    int64_t h = (int64_t)r.hidden;
    int64_t all[2][4] = {{s, d, b, h}, {b, s, d, h}}, last[2][3] = {{d, b, h}, {b, d, h}};
    ODB_TRY(odb_kern_outline(k, 0, r.dtype, 4, all[r.by_batch]));
    for (int i = 1; i < k->n_out; i++)
        ODB_TRY(odb_kern_outline(k, i, r.dtype, 3, last[r.by_batch]));
    return ODB_OK;
}

/* --- computing -------------------------------------------------------------------------------- */

#define ODB_BODY "kernels/attention/recurrent.real.h"
#include "kernels/core/real.h"
#include "kernels/core/row.h"

typedef void (*recurrent_cell_fn)(const struct recurrent *r, const void *peep, void *x, void *rec,
                                  void *h, void *c);

/* Working memory of a direction, and the functions of its element type. */
struct recurrent_work {
    char *xw;                    /* [rows of X][gates * hidden] */
    char *x;                     /* [batch][gates * hidden]: of the step, with biases */
    char *rec;                   /* [batch][gates * hidden] */
    char *reset;                 /* [batch][hidden] */
    char *h, *c;                 /* [batch][hidden] */
    const char *r, *bias, *peep; /* weights of the direction; bias and peep may be NULL */
    const struct odb_tensor *lens;
    recurrent_cell_fn cell;
    void (*gates)(const struct recurrent *r, void *x, void *rec);
    void (*add_bias)(const struct recurrent *r, const void *bias, void *x, void *rec);
    void (*scale)(const struct recurrent *r, const void *x, const void *h, void *out);
};

static const char *recurrent_part(const struct recurrent *r, const struct odb_tensor *t, size_t dir)
{
    return t != NULL ? (const char *)t->data + t->bytes / r->dirs * dir : NULL;
}

/* Where (batch entry, direction) of an initial or last state lies, in elements. */
static size_t recurrent_state(const struct recurrent *r, size_t b, size_t dir)
{
    return (r->by_batch ? b * r->dirs + dir : dir * r->batch + b) * r->hidden;
}

/* c[rows, n] = a[rows, inner] * w[n, inner]^T */
static enum odb_status recurrent_product(struct odb_kern *k, const struct recurrent *r, size_t rows,
                                         size_t n, size_t inner, const void *a, const void *w,
                                         void *c, size_t ldc)
{
    struct odb_gemm g = {.dtype = r->dtype,
                         .trans_b = true,
                         .sequential = k->sequential,
                         .m = rows,
                         .n = n,
                         .k = inner,
                         .a = a,
                         .b = w,
                         .c = c,
                         .lda = inner,
                         .ldb = inner,
                         .ldc = ldc,
                         .alpha = 1};

    if (rows == 0 || n == 0 || inner == 0) /* c is zero already */
        return ODB_OK;
    return odb_gemm_run(&g) ? ODB_OK : odb_fail(k->err, ODB_E_NOMEM, "no memory for a product");
}

/* The time of batch entry b at its step-th step; false when its sequence is over. */
static bool recurrent_time(const struct recurrent *r, const struct recurrent_work *w, size_t b,
                           size_t step, size_t *time)
{
    size_t len = w->lens != NULL ? (size_t)odb_tensor_i64(w->lens, b) : r->steps;

    *time = r->reverse ? len - 1 - step : step;
    return step < len;
}

static enum odb_status recurrent_step(struct odb_kern *k, const struct recurrent *r,
                                      const struct recurrent_work *w, size_t dir, size_t step)
{
    size_t row = r->gates * r->hidden * r->size, line = r->hidden * r->size, t;
    size_t n = r->gates * r->hidden;
    bool resets = r->gates == 3 && !r->linear;

    ODB_TRY(recurrent_product(k, r, r->batch, resets ? n / 3 * 2 : n, r->hidden, w->h, w->r, w->rec,
                              n));
    for (size_t b = 0; b < r->batch; b++) {
        if (!recurrent_time(r, w, b, step, &t))
            continue;
        size_t from = r->by_batch ? b * r->steps + t : t * r->batch + b;
        memcpy(w->x + b * row, w->xw + from * row, row);
        if (w->bias != NULL)
            w->add_bias(r, w->bias, w->x + b * row, w->rec + b * row);
        if (r->gates == 3)
            w->gates(r, w->x + b * row, w->rec + b * row);
        if (resets)
            w->scale(r, w->x + b * row, w->h + b * line, w->reset + b * line);
    }
    if (resets)
        ODB_TRY(recurrent_product(k, r, r->batch, r->hidden, r->hidden, w->reset,
                                  w->r + 2 * r->hidden * line, w->rec + 2 * line, n));
    for (size_t b = 0; b < r->batch; b++) {
        if (!recurrent_time(r, w, b, step, &t))
            continue;
        w->cell(r, w->peep, w->x + b * row, w->rec + b * row, w->h + b * line, w->c + b * line);
        size_t to =
            r->by_batch ? (b * r->steps + t) * r->dirs + dir : (t * r->dirs + dir) * r->batch + b;
        if (k->n_out > 0 && k->out[0] != NULL)
            memcpy((char *)k->out[0]->data + to * line, w->h + b * line, line);
    }
    return ODB_OK;
}

static void recurrent_pick(struct odb_kern *k, const struct recurrent *r, struct recurrent_work *w)
{
    w->cell = r->gates == 1   ? ODB_REAL_FN(k, r->dtype, recurrent_rnn)
              : r->gates == 3 ? ODB_REAL_FN(k, r->dtype, recurrent_gru)
                              : ODB_REAL_FN(k, r->dtype, recurrent_lstm);
    w->gates = ODB_REAL_FN(k, r->dtype, recurrent_gru_gates);
    w->add_bias = ODB_REAL_FN(k, r->dtype, recurrent_bias);
    w->scale = ODB_REAL_FN(k, r->dtype, recurrent_reset);
}

static enum odb_status recurrent_direction(struct odb_kern *k, const struct recurrent *r,
                                           struct recurrent_work *w, size_t dir)
{
    size_t line = r->hidden * r->size;

    w->r = recurrent_part(r, k->in[2], dir);
    w->bias = recurrent_part(r, odb_kern_in(k, 3), dir);
    w->peep = recurrent_part(r, odb_kern_in(k, 7), dir);
    ODB_TRY(recurrent_product(k, r, r->steps * r->batch, r->gates * r->hidden, r->input,
                              k->in[0]->data, recurrent_part(r, k->in[1], dir), w->xw,
                              r->gates * r->hidden));
    for (int s = 0; s < 2; s++) { /* h, c */
        const struct odb_tensor *first = odb_kern_in(k, 5 + s);
        char *state = s == 0 ? w->h : w->c;
        for (size_t b = 0; b < r->batch; b++) {
            if (first != NULL)
                memcpy(state + b * line,
                       (const char *)first->data + recurrent_state(r, b, dir) * r->size, line);
            else
                memset(state + b * line, 0, line);
        }
    }
    for (size_t step = 0; step < r->steps; step++)
        ODB_TRY(recurrent_step(k, r, w, dir, step));
    for (int o = 1; o < k->n_out; o++)
        for (size_t b = 0; k->out[o] != NULL && b < r->batch; b++)
            memcpy((char *)k->out[o]->data + recurrent_state(r, b, dir) * r->size,
                   (o == 1 ? w->h : w->c) + b * line, line);
    return ODB_OK;
}

static enum odb_status recurrent_check_lens(struct odb_kern *k, const struct recurrent *r)
{
    const struct odb_tensor *lens = odb_kern_in(k, 4);

    for (size_t b = 0; lens != NULL && b < r->batch; b++) {
        int64_t len = odb_tensor_i64(lens, b);
        if (len < 0 || len > (int64_t)r->steps)
            return ODB_KERN_FAIL(k, "sequence_lens[%zu] is %lld, but there are %zu steps", b,
                                 (long long)len, r->steps);
    }
    return ODB_OK;
}

static enum odb_status recurrent_run(struct odb_kern *k)
{
    struct recurrent r = {.clip = 0};
    struct recurrent_work w = {.lens = odb_kern_in(k, 4)};
    enum odb_status status;

    ODB_TRY(recurrent_read(k, &r));
    ODB_TRY(recurrent_check_lens(k, &r));
    size_t line = r.hidden * r.size, row = r.gates * line;
    w.xw = odb_work_take(r.steps * r.batch + 1, row + 1);
    w.x = odb_work_take(r.batch + 1, row + 1);
    w.rec = odb_work_take(r.batch + 1, row + 1);
    w.reset = odb_work_take(r.batch + 1, line + 1);
    w.h = odb_work_take(r.batch + 1, line + 1);
    w.c = odb_work_take(r.batch + 1, line + 1);
    if (!w.xw || !w.x || !w.rec || !w.reset || !w.h || !w.c) {
        status = odb_fail(k->err, ODB_E_NOMEM, "no memory for %zu steps", r.steps);
        goto out;
    }
    recurrent_pick(k, &r, &w);
    if (k->n_out > 0 && k->out[0] != NULL && k->out[0]->bytes > 0)
        memset(k->out[0]->data, 0, k->out[0]->bytes);
    for (size_t dir = 0; dir < r.dirs; dir++) {
        r.act = r.acts + dir * recurrent_cell(k)->acts;
        r.reverse = r.reverse || dir == 1;
        ODB_TRY_OUT(recurrent_direction(k, &r, &w, dir));
    }
    status = ODB_OK;
out:
    odb_work_give(w.xw);
    odb_work_give(w.x);
    odb_work_give(w.rec);
    odb_work_give(w.reset);
    odb_work_give(w.h);
    odb_work_give(w.c);
    return status;
}

/* --- rows ------------------------------------------------------------------------------------- */

#define RECURRENT_ATTR(name_, type_, default_) ODB_OPTIONAL_ATTR(name_, type_, default_)
#define RECURRENT_COMMON                                                                           \
    RECURRENT_ATTR("activation_alpha", FLOATS, NULL),                                              \
        RECURRENT_ATTR("activation_beta", FLOATS, NULL), RECURRENT_ATTR("clip", FLOAT, NULL),      \
        RECURRENT_ATTR("direction", STRING, "forward"), RECURRENT_ATTR("hidden_size", INT, NULL)
#define RECURRENT_ACTS RECURRENT_ATTR("activations", STRINGS, NULL)
#define RECURRENT_ACTS_TANH RECURRENT_ATTR("activations", STRINGS, "[Tanh, Tanh]")
#define RECURRENT_LAYOUT RECURRENT_ATTR("layout", INT, "0")
#define RECURRENT_LINEAR RECURRENT_ATTR("linear_before_reset", INT, "0")
#define RECURRENT_COUPLE RECURRENT_ATTR("input_forget", INT, "0")
#define RECURRENT_SEQUENCE RECURRENT_ATTR("output_sequence", INT, "0") /* outputs say it too */
#define RECURRENT_ROW(name_, since_, max_in_, max_out_, ...)                                       \
    .domain = "", .name = (name_), .since = (since_), .min_in = 3, .max_in = (max_in_),            \
    .min_out = 0, .max_out = (max_out_), .flags = ODB_OP_REAL,                                     \
    .types = {ODB_T_FLOAT, ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_BIT(ODB_I32), ODB_AS(0)},          \
    .attrs = (const struct odb_attr_spec[]){__VA_ARGS__, {.name = NULL}},                          \
    .infer = recurrent_infer, .run = recurrent_run

const struct odb_op odb_ops_recurrent[] = {
    {RECURRENT_ROW("RNN", 1, 6, 2, RECURRENT_COMMON, RECURRENT_ACTS_TANH, RECURRENT_SEQUENCE),
     ODB_NAMES("X,W,R,B,sequence_lens,initial_h", "Y,Y_h"), ODB_HALVES(1, 22),
     ODB_WORK(recurrent, 0, 1, 3)},
    {RECURRENT_ROW("RNN", 7, 6, 2, RECURRENT_COMMON, RECURRENT_ACTS_TANH)},
    {RECURRENT_ROW("RNN", 14, 6, 2, RECURRENT_COMMON, RECURRENT_ACTS_TANH, RECURRENT_LAYOUT)},
    {RECURRENT_ROW("GRU", 1, 6, 2, RECURRENT_COMMON, RECURRENT_ACTS, RECURRENT_SEQUENCE),
     ODB_NAMES("X,W,R,B,sequence_lens,initial_h", "Y,Y_h"), ODB_HALVES(1, 22),
     ODB_WORK(recurrent, 0, 1, 3)},
    {RECURRENT_ROW("GRU", 3, 6, 2, RECURRENT_COMMON, RECURRENT_ACTS, RECURRENT_LINEAR,
                   RECURRENT_SEQUENCE)},
    {RECURRENT_ROW("GRU", 7, 6, 2, RECURRENT_COMMON, RECURRENT_ACTS, RECURRENT_LINEAR)},
    {RECURRENT_ROW("GRU", 14, 6, 2, RECURRENT_COMMON, RECURRENT_ACTS, RECURRENT_LINEAR,
                   RECURRENT_LAYOUT)},
    {RECURRENT_ROW("LSTM", 1, 8, 3, RECURRENT_COMMON, RECURRENT_ACTS, RECURRENT_COUPLE,
                   RECURRENT_SEQUENCE),
     ODB_NAMES("X,W,R,B,sequence_lens,initial_h,initial_c,P", "Y,Y_h,Y_c"), ODB_HALVES(1, 22),
     ODB_WORK(recurrent, 0, 1, 3)},
    {RECURRENT_ROW("LSTM", 7, 8, 3, RECURRENT_COMMON, RECURRENT_ACTS, RECURRENT_COUPLE)},
    {RECURRENT_ROW("LSTM", 14, 8, 3, RECURRENT_COMMON, RECURRENT_ACTS, RECURRENT_COUPLE,
                   RECURRENT_LAYOUT)},
    {.name = NULL},
};
