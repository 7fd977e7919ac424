/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Attention against its definition, one score at a time in double: random shapes, layouts, masks,
 * windows and caches. Then what the definition says of the odd cases, and what operators other than
 * ai.onnx's ask of the shared core.
 */
#include "kernels/attention/attention.h"

#include "tests/help/op_case.h"

enum { BATCHES = 3, ROUNDS = 300 };

/* One random call. */
struct trial {
    const char *type, *mask_type; /* mask_type NULL: no mask */
    int opset;
    bool flat, causal, cached, padded;
    int64_t batch, heads, kv_heads, queries, fresh, past, keys, size, v_size;
    int mask_rank;
    int64_t mask_dims[4];
    int64_t left, right, lengths[BATCHES];
    double cap, scale; /* scale 0: the default */
    int stage;
    uint64_t seed;
};

static struct odb_tensor *noise(const char *type, int rank, const int64_t *dims, uint64_t *seed)
{
    char text[200];
    int at = snprintf(text, sizeof text, "%s[", type);
    for (int d = 0; d < rank; d++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%lld", d ? "," : "",
                       (long long)dims[d]);
    snprintf(text + at, sizeof text - (size_t)at, "] random %lld",
             (long long)op_random(seed, 1000000));
    return op_tensor(text);
}

static struct odb_tensor *operand(const struct trial *t, int64_t heads, int64_t rows, int64_t size,
                                  uint64_t *seed)
{
    int64_t flat[3] = {t->batch, rows, heads * size};
    int64_t deep[4] = {t->batch, heads, rows, size};
    return noise(t->type, t->flat ? 3 : 4, t->flat ? flat : deep, seed);
}

/* Element (b, h, i, d) of an operand in either layout. */
static double at(const struct odb_tensor *t, int64_t heads, int64_t b, int64_t h, int64_t i,
                 int64_t d)
{
    int64_t rows = t->dims[t->rank - 2], size = t->dims[t->rank - 1];
    int64_t place = t->rank == 4 ? ((b * heads + h) * rows + i) * size + d
                                 : (b * rows + i) * size + h * (size / heads) + d;
    return odb_tensor_f64(t, (size_t)place);
}

/* What the mask adds to score (b, h, i, j). */
static double masked(const struct trial *t, const struct odb_tensor *mask, const int64_t *index)
{
    int64_t place = 0;
    if (!mask)
        return 0;
    for (int d = 0; d < mask->rank; d++) {
        int64_t v = index[d + 4 - mask->rank], n = mask->dims[d];
        bool last = d == mask->rank - 1;
        if (v >= n && (!last || t->opset >= 24) && !(n == 1 && !last))
            return -INFINITY;
        place = place * n + (n == 1 ? 0 : v);
    }
    if (mask->dtype == ODB_BOOL)
        return odb_tensor_i64(mask, (size_t)place) ? 0 : -INFINITY;
    return odb_tensor_f64(mask, (size_t)place);
}

static bool closed(const struct trial *t, const int64_t *index)
{
    int64_t offset = t->padded ? t->lengths[index[0]] - t->queries : t->past;
    int64_t p = index[2] + offset, j = index[3];
    return (t->causal && j > p) || (t->left >= 0 && j < p - t->left) ||
           (t->right >= 0 && j > p + t->right) || (t->padded && j >= t->lengths[index[0]]);
}

/* Row (b, h, i): weights of all keys, and what the stage shows of them. */
static void expect_row(const struct trial *t, const double *raw, const double *bias, double *weight,
                       double *shown)
{
    double top = -INFINITY, sum = 0;
    bool open = false;
    for (int64_t j = 0; j < t->keys; j++) {
        double capped = t->cap > 0 ? t->cap * tanh(raw[j] / t->cap) : raw[j];
        shown[j] = t->stage == 0 ? raw[j] : t->stage == 1 ? capped : capped + bias[j];
        weight[j] = capped + bias[j];
        top = fmax(top, weight[j]);
        open = open || bias[j] != -INFINITY;
    }
    for (int64_t j = 0; j < t->keys; j++)
        sum += exp(weight[j] - top);
    for (int64_t j = 0; j < t->keys; j++) {
        weight[j] = open ? exp(weight[j] - top) / sum : 0;
        if (t->stage == 3)
            shown[j] = weight[j];
    }
}

static double tolerance(const char *type)
{
    return strcmp(type, "double") == 0    ? 1e-12
           : strcmp(type, "float") == 0   ? 1e-5
           : strcmp(type, "float16") == 0 ? 2e-3
                                          : 2e-2;
}

static void near(double got, double want, double tol, uint64_t seed, const char *what)
{
    if (!(got == want || fabs(got - want) <= tol * fmax(1, fabs(want))))
        fail_msg("seed %llu: %s is %.17g, expected %.17g", (unsigned long long)seed, what, got,
                 want);
}

/* in: Q, K, V, mask, past key and value, lengths; out as Attention gives them. */
static void compare(const struct trial *t, struct odb_tensor *const *in,
                    struct odb_tensor *const *out)
{
    double *raw = odb_new_n(double, 4 * (size_t)t->keys), tol = tolerance(t->type);
    double *bias = raw + t->keys, *weight = bias + t->keys, *shown = weight + t->keys;
    double scale = t->scale != 0 ? (float)t->scale : 1 / sqrt((double)t->size);
    for (int64_t row = 0; row < t->batch * t->heads * t->queries; row++) {
        int64_t i = row % t->queries, h = row / t->queries % t->heads;
        int64_t b = row / t->queries / t->heads, kv = h / (t->heads / t->kv_heads);
        for (int64_t j = 0; j < t->keys; j++) {
            int64_t index[4] = {b, h, i, j};
            raw[j] = 0;
            for (int64_t d = 0; d < t->size; d++)
                raw[j] +=
                    at(in[0], t->heads, b, h, i, d) *
                    odb_tensor_f64(out[1],
                                   (size_t)(((b * t->kv_heads + kv) * t->keys + j) * t->size + d));
            raw[j] *= scale;
            bias[j] = masked(t, in[3], index) + (closed(t, index) ? -INFINITY : 0);
        }
        expect_row(t, raw, bias, weight, shown);
        for (int64_t j = 0; j < t->keys; j++)
            near(odb_tensor_f64(out[3], (size_t)(row * t->keys + j)), shown[j], tol, t->seed,
                 "a score");
        for (int64_t d = 0; d < t->v_size; d++) {
            double want = 0;
            for (int64_t j = 0; j < t->keys; j++)
                want +=
                    weight[j] *
                    odb_tensor_f64(
                        out[2], (size_t)(((b * t->kv_heads + kv) * t->keys + j) * t->v_size + d));
            near(at(out[0], t->heads, b, h, i, d), want, tol, t->seed, "an output");
        }
    }
    free(raw);
}

/* The present cache holds the past, then the fresh. */
static void compare_cache(const struct trial *t, const struct odb_tensor *past,
                          const struct odb_tensor *fresh, const struct odb_tensor *present)
{
    for (size_t n = 0; n < present->count; n++) {
        int64_t size = present->dims[3], d = (int64_t)n % size, j = (int64_t)n / size % t->keys;
        int64_t h = (int64_t)n / size / t->keys % t->kv_heads;
        int64_t b = (int64_t)n / size / t->keys / t->kv_heads;
        double want = j < t->past ? at(past, t->kv_heads, b, h, j, d)
                                  : at(fresh, t->kv_heads, b, h, j - t->past, d);
        assert_true(odb_tensor_f64(present, n) == want);
    }
}

static void choose_mask(struct trial *t, uint64_t *s)
{
    static const char *const kinds[] = {NULL, "bool", "same", "int8"};
    const char *kind = kinds[op_random(s, 4)];
    const int64_t full[4] = {t->batch, t->heads, t->queries, t->keys};
    t->mask_type = kind && strcmp(kind, "same") == 0 ? t->type : kind;
    t->mask_rank = 1 + (int)op_random(s, 4);
    for (int d = 0; d < t->mask_rank; d++) {
        int64_t n = full[d + 4 - t->mask_rank];
        t->mask_dims[d] = d < t->mask_rank - 1 && op_random(s, 2) ? 1 : n;
    }
    if (t->opset >= 24 && op_random(s, 3) == 0 && !t->padded)
        t->mask_dims[t->mask_rank - 1] = op_random(s, t->keys + 1);
}

static struct trial choose(uint64_t seed)
{
    static const char *const types[] = {"float", "double", "float16", "bfloat16"};
    uint64_t s = seed;
    struct trial t = {
        .type = types[op_random(&s, 4)], .opset = 23 + (int)op_random(&s, 3), .seed = seed};
    t.causal = op_random(&s, 2);
    t.cached = op_random(&s, 3) == 0;
    t.padded = !t.cached && t.opset >= 24 && op_random(&s, 2);
    t.flat = !t.padded && op_random(&s, 2);
    t.batch = 1 + op_random(&s, BATCHES);
    t.kv_heads = 1 + op_random(&s, 3);
    t.heads = t.kv_heads * (1 + op_random(&s, 3));
    t.queries = 1 + op_random(&s, 7);
    t.past = t.cached ? op_random(&s, 6) : 0;
    t.fresh = 1 + op_random(&s, 9);
    t.keys = t.past + t.fresh;
    t.size = 1 + op_random(&s, 9);
    t.v_size = 1 + op_random(&s, 9);
    t.left = t.opset >= 25 ? op_random(&s, 5) - 1 : -1;
    t.right = t.opset >= 25 ? op_random(&s, 5) - 1 : -1;
    t.cap = op_random(&s, 3) == 0 ? 0.75 : 0;
    t.scale = op_random(&s, 3) == 0 ? 0.625 : 0;
    t.stage = (int)op_random(&s, 4);
    for (int b = 0; b < BATCHES; b++)
        t.lengths[b] = op_random(&s, t.keys + 1);
    choose_mask(&t, &s);
    return t;
}

static void write_attrs(const struct trial *t, char *text, size_t size)
{
    int n = snprintf(text, size, "is_causal=%d qk_matmul_output_mode=%d softcap=%gf", t->causal,
                     t->stage, t->cap);
    if (t->flat)
        n += snprintf(text + n, size - (size_t)n, " q_num_heads=%lld kv_num_heads=%lld",
                      (long long)t->heads, (long long)t->kv_heads);
    if (t->scale != 0)
        n += snprintf(text + n, size - (size_t)n, " scale=%gf", t->scale);
    if (t->opset >= 25)
        snprintf(text + n, size - (size_t)n, " left_window_size=%lld right_window_size=%lld",
                 (long long)t->left, (long long)t->right);
}

static void fill(const struct trial *t, struct odb_tensor **in)
{
    uint64_t s = t->seed;
    struct trial deep = *t;
    deep.flat = false;
    in[0] = operand(t, t->heads, t->queries, t->size, &s);
    in[1] = operand(t, t->kv_heads, t->fresh, t->size, &s);
    in[2] = operand(t, t->kv_heads, t->fresh, t->v_size, &s);
    if (t->mask_type)
        in[3] = noise(t->mask_type, t->mask_rank, t->mask_dims, &s);
    for (size_t i = 0; in[3] && in[3]->dtype == ODB_BOOL && i < in[3]->count; i++)
        ((odb_u8 *)in[3]->data)[i] = op_random(&s, 4) != 0;
    for (size_t i = 0; in[3] && odb_dtype_is_float(in[3]->dtype) && i < in[3]->count; i++)
        if (op_random(&s, 4) == 0)
            odb_store_f64(in[3]->dtype, in[3]->data, i, -INFINITY);
    if (t->cached) {
        in[4] = operand(&deep, t->kv_heads, t->past, t->size, &s);
        in[5] = operand(&deep, t->kv_heads, t->past, t->v_size, &s);
    }
    if (t->padded)
        assert_int_equal(odb_tensor_copy_of(&in[6], ODB_I64, 1, &t->batch, t->lengths, NULL),
                         ODB_OK);
}

static void run_attention(int opset, const char *attrs, int n_in, struct odb_tensor *const *in,
                          const bool *wanted, struct odb_tensor **out, const char *what)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct op_attrs parsed;
    op_parse_attrs(attrs, &parsed);
    struct odb_call call = {.op = odb_op_find("", "Attention", opset),
                            .opset = opset,
                            .attrs = {parsed.items, parsed.n},
                            .n_in = n_in,
                            .n_out = 4,
                            .in = (const struct odb_tensor *const *)in,
                            .wanted = wanted};
    if (odb_op_run(&call, out, &err) != ODB_OK)
        fail_msg("%s: %s", what, err.what);
}

/* Lengths and a present cache exclude each other, so that K and V, not flat, stand for it then. */
static void try_out(const struct trial *t)
{
    struct odb_tensor *in[7] = {NULL}, *out[4] = {NULL};
    const bool wanted[4] = {true, !t->padded, !t->padded, true};
    char attrs[300], what[40];
    write_attrs(t, attrs, sizeof attrs);
    snprintf(what, sizeof what, "seed %llu", (unsigned long long)t->seed);
    fill(t, in);
    int n_in = t->padded ? 7 : t->cached ? 6 : in[3] ? 4 : 3;
    run_attention(t->opset, attrs, n_in, in, wanted, out, what);
    for (int i = 1; i <= 2; i++) {
        if (t->padded)
            out[i] = odb_tensor_ref(in[i]);
        compare_cache(t, in[3 + i], in[i], out[i]);
    }
    compare(t, in, out);
    for (int i = 0; i < 7; i++)
        odb_tensor_unref(in[i]);
    for (int o = 0; o < 4; o++)
        odb_tensor_unref(out[o]);
}

static void test_attention__definition(void **state)
{
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct trial t = choose(seed);
        try_out(&t);
    }
}

/* Several blocks of queries, of which some see few keys. */
static void test_attention__blocks(void **state)
{
    struct trial t = {.type = "float",
                      .opset = 25,
                      .batch = 1,
                      .heads = 2,
                      .kv_heads = 1,
                      .queries = 430,
                      .fresh = 300,
                      .past = 150,
                      .keys = 450,
                      .size = 8,
                      .v_size = 5,
                      .cached = true,
                      .causal = true,
                      .left = 40,
                      .right = -1,
                      .seed = 5};
    try_out(&t);
    t.left = -1;
    t.flat = true;
    t.stage = 3;
    try_out(&t);
}

/* The same with and without the scores: where nobody wants those, some are not computed. */
static void expect_skipping(const char *attrs, const char *mask, const char *lengths)
{
    const char *const text[7] = {"float[2,2,210,4] random 1",
                                 "float[2,1,260,4] random 2",
                                 "float[2,1,260,3] random 3",
                                 mask,
                                 "-",
                                 "-",
                                 lengths};
    const bool all[4] = {true, false, false, true}, one[4] = {true};
    struct odb_tensor *in[7] = {NULL}, *some[4] = {NULL}, *full[4] = {NULL};
    for (int i = 0; i < 7; i++)
        in[i] = op_tensor(text[i]);
    run_attention(25, attrs, 7, in, one, some, attrs);
    run_attention(25, attrs, 7, in, all, full, attrs);
    op_assert_close(some[0], full[0], 1e-6, attrs);
    for (int i = 0; i < 7; i++)
        odb_tensor_unref(in[i]);
    odb_tensor_unref(some[0]);
    odb_tensor_unref(full[0]);
    odb_tensor_unref(full[3]);
}

static void test_attention__skipped_keys(void **state)
{
    expect_skipping("is_causal=1", "-", "-");
    expect_skipping("left_window_size=3 right_window_size=9", "-", "-");
    expect_skipping("left_window_size=0 is_causal=1", "bool[210,260] random 9", "-");
    expect_skipping("is_causal=1", "float[2,1,1,260] random 9", "int64[2] 250 17");
    expect_skipping("left_window_size=20", "-", "int64[2] 0 260");
}

static void test_attention__modes(void **state)
{
    struct op_call c = OP("Attention", 25, "is_causal=1 softcap=2f",
                          {"float[2,4,30,16] random 1", "float[2,2,40,16] random 2",
                           "float[2,2,40,8] random 3", "float[30,40] random 4"});
    op_expect_modes(&c, 1e-6);
    op_expect_any_threads(&c);
}

/* With weights of 1 the output is the value. */
static void test_attention__types(void **state)
{
    OP_EXPECT(0,
              OP("Attention", 23, NULL,
                 {"float[1,1,1,1] 1", "float[1,1,1,1] 1", "double[1,1,1,2] 0.1 1e300"}),
              "float[1,1,1,2] 0.1 inf");
    OP_EXPECT(0,
              OP("Attention", 23, NULL,
                 {"double[1,1,1,1] 1", "double[1,1,1,1] 1", "float[1,1,1,2] 0.5 3"}),
              "double[1,1,1,2] 0.5 3");
    /* 0.1 and 0.7 as float16 and their softmax as float16 */
    OP_EXPECT(0,
              OP("Attention", 23, "softmax_precision=10 qk_matmul_output_mode=3",
                 {"float[1,1,1,1] 1", "float[1,1,2,1] 0.1 0.7", "float[1,1,2,1] 1 0"}),
              "float[1,1,1,1] 0.354248046875", "float[1,1,2,1] 0.1 0.7", "float[1,1,2,1] 1 0",
              "float[1,1,1,2] 0.354248046875 0.6455078125");
    struct op_call c = OP("Attention", 23, "softmax_precision=10",
                          {"float[1,1,1,1] 1", "float[1,1,2,1] 0.1 0.7", "float[1,1,2,1] 1 0"});
    struct odb_tensor *y = op_in_double(&c);
    assert_true(fabs(odb_tensor_f64(y, 0) - 1 / (1 + exp(0.7f - 0.1f))) < 1e-7);
    odb_tensor_unref(y);
}

#define QKV "float[1,1,2,1] 1 1", "float[1,1,2,1] 1 1", "float[1,1,2,1] 4 8"

static void test_attention__closed_rows(void **state)
{
    OP_EXPECT(0, OP("Attention", 23, NULL, {QKV, "bool[2,2] 0 0 1 0"}), "float[1,1,2,1] 0 4");
    OP_EXPECT(0, OP("Attention", 23, NULL, {QKV, "float[2,2] -inf -inf 0 0"}),
              "float[1,1,2,1] 0 6");
    OP_EXPECT(0, OP("Attention", 24, "is_causal=1", {QKV, "-", "-", "-", "int64[1] 1"}),
              "float[1,1,2,1] 0 4");
    OP_EXPECT(0, OP("Attention", 24, NULL, {QKV, "-", "-", "-", "int64[1] 0"}),
              "float[1,1,2,1] 0 0");
    OP_EXPECT(0, OP("Attention", 25, "left_window_size=0 right_window_size=0", {QKV}),
              "float[1,1,2,1] 4 8");
    OP_EXPECT(0, OP("Attention", 24, NULL, {QKV, "float[2,0]"}), "float[1,1,2,1] 0 0");
    OP_EXPECT(0, OP("Attention", 24, NULL, {QKV, "bool[1] 1"}), "float[1,1,2,1] 4 4");
    OP_EXPECT(0, OP("Attention", 23, NULL, {QKV, "bool[1] 1"}), "float[1,1,2,1] 6 6");
    /* a row that is closed is zero whatever stands in it */
    OP_EXPECT(0,
              OP("Attention", 23, "is_causal=1",
                 {"float[1,1,2,1] nan 1", "float[1,1,2,1] 1 1", "float[1,1,2,1] 4 8",
                  "bool[2,2] 0 1 1 1"}),
              "float[1,1,2,1] 0 6");
}

static void test_attention__not_numbers(void **state)
{
    /* a closed key still counts where it is no number: -inf + NaN, 0 * inf */
    OP_EXPECT(0,
              OP("Attention", 23, "is_causal=1",
                 {"float[1,1,2,1] 1 1", "float[1,1,2,1] 1 nan", "float[1,1,2,1] 4 8"}),
              "float[1,1,2,1] nan nan");
    OP_EXPECT(0,
              OP("Attention", 23, "is_causal=1",
                 {"float[1,1,2,1] 1 1", "float[1,1,2,1] 1 1", "float[1,1,2,1] 4 inf"}),
              "float[1,1,2,1] nan inf");
    OP_EXPECT(0, OP("Attention", 23, NULL, {QKV, "float[2,2] nan 0 0 0"}), "float[1,1,2,1] nan 6");
    OP_EXPECT(0, OP("Attention", 23, NULL, {QKV, "float[2,2] inf 0 0 -inf"}),
              "float[1,1,2,1] nan 4");
    OP_EXPECT(0, OP("Attention", 23, "is_causal=1", {QKV, "float[2,2] 0 inf 0 0"}),
              "float[1,1,2,1] nan 6");
    OP_EXPECT(0, OP("Attention", 23, NULL, {QKV, "float[2,2] -3e38 -3e38 -3e38 3e38"}),
              "float[1,1,2,1] 6 8");
}

static void test_attention__empty(void **state)
{
    OP_EXPECT(0, OP("Attention", 23, NULL, {"float[2,1,0,3]", "float[2,1,4,3]", "float[2,1,4,5]"}),
              "float[2,1,0,5]", "float[2,1,4,3]", "float[2,1,4,5]", "float[2,1,0,4]");
    OP_EXPECT(0, OP("Attention", 23, NULL, {"float[1,1,2,3]", "float[1,1,0,3]", "float[1,1,0,2]"}),
              "float[1,1,2,2] 0 0 0 0", "float[1,1,0,3]", "float[1,1,0,2]", "float[1,1,2,0]");
    OP_EXPECT(0,
              OP("Attention", 23, NULL, {"float[1,1,1,0]", "float[1,1,2,0]", "float[1,1,2,1] 1 3"}),
              "float[1,1,1,1] 2");
    OP_EXPECT(0, OP("Attention", 23, NULL, {"float[0,1,1,2]", "float[0,1,2,2]", "float[0,1,2,3]"}),
              "float[0,1,1,3]");
    OP_EXPECT(0,
              OP("Attention", 23, "q_num_heads=2 kv_num_heads=2",
                 {"float[1,1,2] 1 1", "float[1,0,2]", "float[1,0,4]", "-", "float[1,2,1,1] 1 1",
                  "float[1,2,1,2] 1 2 3 4"}),
              "float[1,1,4] 1 2 3 4", "float[1,2,1,1] 1 1", "float[1,2,1,2] 1 2 3 4");
}

static void test_attention__refuses(void **state)
{
    static const struct op_call calls[] = {
        OP("Attention", 23, NULL, {"float[1,2,4]", "float[1,2,4]", "float[1,2,4]"}),
        OP("Attention", 23, "q_num_heads=3 kv_num_heads=1",
           {"float[1,2,4]", "float[1,2,4]", "float[1,2,4]"}),
        OP("Attention", 23, "q_num_heads=-1 kv_num_heads=-1",
           {"float[1,2,4]", "float[1,2,4]", "float[1,2,4]"}),
        OP("Attention", 23, NULL, {"float[2,4]", "float[2,4]", "float[2,4]"}),
        OP("Attention", 23, NULL, {"float[1,3,2,4]", "float[1,2,2,4]", "float[1,2,2,4]"}),
        OP("Attention", 23, NULL, {"float[1,3,2,4]", "float[1,0,2,4]", "float[1,0,2,4]"}),
        OP("Attention", 23, NULL, {"float[1,2,2,4]", "float[1,2,2,5]", "float[1,2,2,4]"}),
        OP("Attention", 23, NULL, {"float[1,2,2,4]", "float[1,2,3,4]", "float[1,2,2,4]"}),
        OP("Attention", 23, NULL, {"float[1,2,2,4]", "double[1,2,2,4]", "float[1,2,2,4]"}),
        OP("Attention", 23, NULL, {QKV, "float[3,2]"}),
        OP("Attention", 23, NULL, {QKV, "float[1,1,1,2,2]"}),
        OP("Attention", 23, NULL, {QKV, "float[2,0]"}),
        OP("Attention", 24, NULL, {QKV, "float[2,3]"}),
        OP("Attention", 23, NULL, {QKV, "-", "float[1,1,3,1]"}),
        OP("Attention", 23, NULL, {QKV, "-", "float[1,1,3,1]", "float[1,1,2,1]"}),
        OP("Attention", 24, NULL, {QKV, "-", "-", "-", "int64[2] 1 1"}),
        OP("Attention", 24, NULL, {QKV, "-", "-", "-", "int64[1] 3"}),
        OP("Attention", 24, NULL, {QKV, "-", "-", "-", "int64[1] -1"}),
        OP("Attention", 24, NULL, {QKV, "-", "float[1,1,3,1]", "float[1,1,3,1]", "int64[1] 1"}),
        OP("Attention", 23, "softcap=-1f", {QKV}),
        OP("Attention", 23, "qk_matmul_output_mode=4", {QKV}),
        OP("Attention", 23, "softmax_precision=7", {QKV}),
        OP("Attention", 25, "left_window_size=-2", {QKV}),
        OP("Attention", 25, "q_num_heads=1 kv_num_heads=1", {QKV}),
        OP("Attention", 24, "q_num_heads=2 kv_num_heads=1", {QKV}),
    };
    op_expect_errors(calls, ODB_COUNT(calls));
}

/* --- the core --------------------------------------------------------------------------------- */

static const float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, values[4] = {1, 2, 4, 8};

/* Two queries, four keys, scores of 1. */
static struct odb_attention core(float *y)
{
    return (struct odb_attention){.dtype = ODB_F32,
                                  .batch = 1,
                                  .heads = 1,
                                  .kv_heads = 1,
                                  .queries = 2,
                                  .keys = 4,
                                  .size = 1,
                                  .v_size = 1,
                                  .q = ones,
                                  .k = ones,
                                  .v = values,
                                  .y = y,
                                  .q_steps = {2, 2, 1},
                                  .k_steps = {4, 4, 1},
                                  .v_steps = {4, 4, 1},
                                  .y_steps = {2, 2, 1},
                                  .scale = 1,
                                  .left = -1,
                                  .right = -1};
}

static void expect_core(const struct odb_attention *a, double first, double second)
{
    const float *y = a->y;
    assert_int_equal(odb_attention_run(a, NULL), ODB_OK);
    near(y[0], first, 1e-6, 0, "query 0");
    near(y[1], second, 1e-6, 0, "query 1");
}

static void test_attention__core(void **state)
{
    float y[2];
    const int64_t start[1] = {1}, length[1] = {3}, offset[1] = {-1};
    const double sink[1] = {1};
    const float far[4] = {0, 0, 0, (float)log(3)}, near_[4] = {0, 0, 0, -INFINITY};
    struct odb_attention a = core(y);
    expect_core(&a, 3.75, 3.75);
    a.start = start;
    expect_core(&a, 14.0 / 3, 14.0 / 3);
    a.length = length;
    expect_core(&a, 3, 3);
    a = core(y);
    a.right = 0;
    a.offset = offset;
    expect_core(&a, 0, 1);
    a.sink = sink;
    expect_core(&a, 0, 0.5);
    a = core(y);
    a.sink = sink;
    expect_core(&a, 3, 3);
    a = core(y);
    a.bias[0] = (struct odb_attention_plane){.data = far, .col = 1, .cols = 4};
    expect_core(&a, 31.0 / 6, 31.0 / 6);
    a.bias[1] = (struct odb_attention_plane){.data = near_, .col = 1, .cols = 4};
    expect_core(&a, 7.0 / 3, 7.0 / 3);
    a.bias[1].cols = 2;
    expect_core(&a, 1.5, 1.5);
    a.left = a.right = INT64_MAX;
    expect_core(&a, 1.5, 1.5);
}

static void test_attention__core_nan(void **state)
{
    float y[2];
    const odb_u8 mask[2] = {0, 1};
    struct odb_attention a = core(y);
    a.mask = (struct odb_attention_plane){.data = mask, .row = 1, .cols = 4};
    expect_core(&a, 0, 3.75);
    a.closed_is_nan = true;
    assert_int_equal(odb_attention_run(&a, NULL), ODB_OK);
    assert_true(isnan(y[0]) && y[1] == 3.75F);
}

/* Q, K and V in one array, as packed projections have them: (position, which, element). */
static void test_attention__core_packed(void **state)
{
    const float packed[12] = {1, 0, 0, 1, 3, 5, 0, 1, 1, 0, 7, 9};
    float apart[12], y[4], want[4];
    for (int i = 0; i < 12; i++)
        apart[i % 6 / 2 * 4 + i / 6 * 2 + i % 2] = packed[i];
    struct odb_attention a = core(y);
    a.keys = 2;
    a.size = a.v_size = 2;
    a.q = packed;
    a.k = packed + 2;
    a.v = packed + 4;
    a.q_steps = a.k_steps = a.v_steps = (struct odb_attention_steps){12, 12, 6};
    a.y_steps.row = 2;
    assert_int_equal(odb_attention_run(&a, NULL), ODB_OK);
    a.q = apart;
    a.k = apart + 4;
    a.v = apart + 8;
    a.q_steps = a.k_steps = a.v_steps = (struct odb_attention_steps){4, 4, 2};
    a.y = want;
    assert_int_equal(odb_attention_run(&a, NULL), ODB_OK);
    assert_memory_equal(y, want, sizeof y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attention__definition),
        cmocka_unit_test(test_attention__blocks),
        cmocka_unit_test(test_attention__skipped_keys),
        cmocka_unit_test(test_attention__modes),
        cmocka_unit_test(test_attention__types),
        cmocka_unit_test(test_attention__closed_rows),
        cmocka_unit_test(test_attention__not_numbers),
        cmocka_unit_test(test_attention__empty),
        cmocka_unit_test(test_attention__refuses),
        cmocka_unit_test(test_attention__core),
        cmocka_unit_test(test_attention__core_nan),
        cmocka_unit_test(test_attention__core_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
