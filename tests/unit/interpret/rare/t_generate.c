/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GreedySearch and BeamSearch on the CPU reference, over a decoder that is a table: its logits for
 * the next word depend on the last word alone.
 */
#include <math.h>

#include "interpret/cpu.h"

#include "tests/help/models.h"
#include "model/read/load.h"

enum { WORDS = 5, EOS = 4 };

static const float generate_table[WORDS][WORDS] = {
    {0, 5, 1, 0, 0}, {0, 0, 5, 4, 0}, {0, 0, 0, 5, 1}, {1, 0, 0, 2, 5}, {1, 2, 0, 0, 3}};

struct generate_case {
    const char *op;
    const char *inputs; /* of the node */
    const char *outputs;
    int32_t ids[4], n_ids, batch;
    int32_t max, min, beams, returned, ngram;
    float penalty, repetition;
    int32_t mask[WORDS]; /* of words; used where inputs name it */
    bool no_size;        /* the decoder does not declare how large its past is */
};

struct generate {
    struct odb_model *model;
    struct odb_cpu *cpu;
    struct odb_tensor **values;
    enum odb_status last;
};

static void generate_weight(struct odb_builder *b, const char *name, enum odb_dtype dtype, int rank,
                            const int64_t *dims, const void *data)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_copy_of(&t, dtype, rank, dims, data, &why));
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* The state of a word is the word, as key and as value. */
static struct odb_builder *generate_decoder(bool no_size)
{
    struct odb_builder *b = odb_build_new("decoder", 17);
    odb_build_input(b, "input_ids", ODB_I32, 2, (int64_t[]){-1, -1});
    odb_build_input(b, "position_ids", ODB_I32, 2, (int64_t[]){-1, -1});
    odb_build_input(b, "attention_mask", ODB_I32, 2, (int64_t[]){-1, -1});
    odb_build_input(b, "past_0", ODB_F32, 5, (int64_t[]){2, -1, no_size ? -1 : 1, -1, 1});
    generate_weight(b, "table", ODB_F32, 2, (int64_t[]){WORDS, WORDS}, generate_table);
    generate_weight(b, "axes", ODB_I64, 1, (int64_t[]){3}, (int64_t[]){0, 2, 4});
    odb_build_node(b, "Gather", "look", "table input_ids", "logits");
    odb_build_node(b, "Cast", "float", "input_ids", "as_float");
    odb_build_attr_int(b, "to", 1);
    odb_build_node(b, "Unsqueeze", "place", "as_float axes", "key");
    odb_build_node(b, "Concat", "both", "key key", "now");
    odb_build_attr_int(b, "axis", 0);
    odb_build_node(b, "Concat", "append", "past_0 now", "present_0");
    odb_build_attr_int(b, "axis", 3);
    odb_build_output(b, "logits");
    odb_build_output(b, "present_0");
    return b;
}

static struct odb_builder *generate_build(const struct generate_case *c)
{
    struct odb_builder *b = odb_build_new("g", 17);
    int64_t one = 1, words = WORDS;
    int batch = c->batch ? c->batch : 1;
    odb_build_opset(b, "com.microsoft", 1);
    generate_weight(b, "ids", ODB_I32, 2, (int64_t[]){batch, c->n_ids / batch}, c->ids);
    generate_weight(b, "max", ODB_I32, 1, &one, &c->max);
    generate_weight(b, "min", ODB_I32, 1, &one, &c->min);
    generate_weight(b, "beams", ODB_I32, 1, &one, &c->beams);
    generate_weight(b, "returned", ODB_I32, 1, &one, &c->returned);
    generate_weight(b, "penalty", ODB_F32, 1, &one, &c->penalty);
    generate_weight(b, "repetition", ODB_F32, 1, &one, &c->repetition);
    generate_weight(b, "mask", ODB_I32, 1, &words, c->mask);
    odb_build_node(b, c->op, "search", c->inputs, c->outputs);
    odb_build_attr_int(b, "eos_token_id", EOS);
    odb_build_attr_int(b, "pad_token_id", EOS);
    odb_build_attr_int(b, "no_repeat_ngram_size", c->ngram);
    odb_build_attr_graph(b, "decoder", generate_decoder(c->no_size));
    odb_build_output(b, "y");
    return b;
}

static enum odb_status generate_note(void *payload, int node, enum odb_status status,
                                     struct odb_error *err)
{
    struct generate *g = payload;
    g->last = status;
    return ODB_OK;
}

static enum odb_status generate_run(struct generate *g, const struct generate_case *c)
{
    struct odb_error err = ODB_ERROR_INIT;
    g->model = models_take(generate_build(c));
    g->values = odb_new_n(struct odb_tensor *, g->model->graph->n_values);
    MODELS_OK(odb_cpu_new(&g->cpu, g->model, &why));
    struct odb_cpu_run run = {.values = g->values, .after = generate_note, .payload = g};
    enum odb_status status = odb_cpu_execute(g->cpu, &run, &err);
    return status == ODB_OK ? g->last : status;
}

static void generate_close(struct generate *g)
{
    for (size_t v = 0; v < g->model->graph->n_values; v++)
        odb_tensor_unref(g->values[v]);
    free(g->values);
    odb_cpu_free(g->cpu);
    odb_model_free(g->model);
}

static const struct odb_tensor *generate_value(const struct generate *g, const char *name)
{
    const struct odb_tensor *t = g->values[models_value(g->model, name)];
    assert_non_null(t);
    return t;
}

/* The sequences that come out, [n]. */
static void generate_expect(const struct generate_case *c, size_t n, const int32_t *want)
{
    struct generate g;
    assert_int_equal(generate_run(&g, c), ODB_OK);
    const struct odb_tensor *y = generate_value(&g, "y");
    assert_int_equal(y->dtype, ODB_I32);
    assert_int_equal(y->count, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(odb_tensor_i64(y, i), want[i]);
    generate_close(&g);
}

#define GREEDY                                                                                     \
    .op = "com.microsoft::GreedySearch", .inputs = "ids max min repetition", .outputs = "y",       \
    .repetition = 1
#define BEAM                                                                                       \
    .op = "com.microsoft::BeamSearch", .inputs = "ids max min beams returned penalty repetition",  \
    .outputs = "y s t", .repetition = 1, .penalty = 1

static void test_generate__greedy_follows_the_best(void **state)
{
    /* Ends with the end of sentence; what follows is padding. */
    generate_expect(&(struct generate_case){GREEDY, .ids = {0}, .n_ids = 1, .max = 7}, 7,
                    (int32_t[]){0, 1, 2, 3, EOS, EOS, EOS});
    generate_expect(&(struct generate_case){GREEDY, .ids = {0}, .n_ids = 1, .max = 3}, 3,
                    (int32_t[]){0, 1, 2});
    /* Two sequences, of which one ends first. */
    generate_expect(
        &(struct generate_case){GREEDY, .ids = {0, 1, 1, 2}, .n_ids = 4, .batch = 2, .max = 6}, 12,
        (int32_t[]){0, 1, 2, 3, EOS, EOS, 1, 2, 3, EOS, EOS, EOS});
}

static void test_generate__words_can_be_made_unlikely(void **state)
{
    /* No end before length 5; then it is the best again. */
    generate_expect(&(struct generate_case){GREEDY, .ids = {0}, .n_ids = 1, .max = 6, .min = 5}, 6,
                    (int32_t[]){0, 1, 2, 3, 3, EOS});
    /* No word twice: after 3 comes 0, and in the end only the end is left. */
    generate_expect(
        &(struct generate_case){GREEDY, .ids = {2}, .n_ids = 1, .max = 5, .min = 4, .ngram = 1}, 5,
        (int32_t[]){2, 3, 0, 1, EOS});
    /* Pairs may not repeat: 3 3 happens once. */
    generate_expect(
        &(struct generate_case){GREEDY, .ids = {3}, .n_ids = 1, .max = 4, .min = 3, .ngram = 2}, 4,
        (int32_t[]){3, 3, 0, 1});
    /* 3 after 3 counts a tenth: 0 is better. */
    struct generate_case c = {GREEDY, .ids = {3}, .n_ids = 1, .max = 3, .min = 2};
    c.repetition = 10;
    generate_expect(&c, 3, (int32_t[]){3, 0, 1});
    struct generate_case masked = {GREEDY, .ids = {0}, .n_ids = 1, .max = 3,
                                   .mask = {1, 0, 1, 1, 1}};
    masked.inputs = "ids max min repetition mask";
    generate_expect(&masked, 3, (int32_t[]){0, 2, 3});
}

static double generate_log_probability(int from, int to, bool no_eos)
{
    double sum = 0;
    for (int w = 0; w < WORDS; w++)
        sum += exp((double)generate_table[from][w]);
    return no_eos && to == EOS ? -1e30 : (double)generate_table[from][to] - log(sum);
}

/* With as many beams as words nothing is overlooked in two steps, nor in a third that is best. */
static void test_generate__beams_find_the_best(void **state)
{
    for (int start = 0; start < WORDS - 1; start++) {
        struct generate g;
        struct generate_case c = {BEAM, .ids = {start}, .n_ids = 1, .max = 4, .min = 3};
        c.beams = WORDS;
        c.returned = 2;
        int best[3] = {0};
        double top = -INFINITY;
        for (int i = 0; i < WORDS * WORDS * WORDS; i++) {
            int a = i / WORDS / WORDS, b = i / WORDS % WORDS, d = i % WORDS;
            double sum = generate_log_probability(start, a, true) +
                         generate_log_probability(a, b, true) +
                         generate_log_probability(b, d, true);
            if (sum > top) {
                top = sum;
                best[0] = a, best[1] = b, best[2] = d;
            }
        }
        assert_int_equal(generate_run(&g, &c), ODB_OK);
        const struct odb_tensor *y = generate_value(&g, "y"), *s = generate_value(&g, "s");
        assert_int_equal(y->rank, 3);
        assert_int_equal(y->dims[1], 2);
        assert_int_equal(y->dims[2], 4);
        assert_true(odb_tensor_f64(s, 0) >= odb_tensor_f64(s, 1));
        if (odb_tensor_i64(y, 3) != EOS) { /* else it ended early, with a better mean */
            for (size_t i = 0; i < 3; i++)
                assert_int_equal(odb_tensor_i64(y, i + 1), best[i]);
            assert_float_equal(odb_tensor_f64(s, 0), top / 4, 1e-5);
        }
        const struct odb_tensor *t = generate_value(&g, "t");
        assert_int_equal(t->dims[0], 3);
        assert_int_equal(t->dims[2], WORDS);
        assert_int_equal(t->dims[3], WORDS);
        assert_float_equal(odb_tensor_f64(t, 1), generate_log_probability(start, 1, false), 1e-5);
        generate_close(&g);
    }
}

/* One beam is greedy, but for the word that ends it. */
static void test_generate__one_beam(void **state)
{
    struct generate_case c = {BEAM, .ids = {0, 1}, .n_ids = 2, .batch = 2, .max = 3};
    c.beams = c.returned = 1;
    generate_expect(&c, 6, (int32_t[]){0, 1, 2, 1, 2, 3});
}

static void test_generate__refuses(void **state)
{
    const struct {
        enum odb_status status;
        struct generate_case c;
    } rows[] = {
        {ODB_E_OPERATOR, {GREEDY, .ids = {0, 1, 2}, .n_ids = 3, .max = 3}},
        {ODB_E_OPERATOR, {GREEDY, .ids = {0}, .n_ids = 1, .max = 3, .min = 3}},
        {ODB_E_OPERATOR, {BEAM, .ids = {0}, .n_ids = 1, .max = 3, .beams = 1, .returned = 2}},
        {ODB_E_OPERATOR, {BEAM, .ids = {0}, .n_ids = 1, .max = 3, .beams = 0, .returned = 1}},
        {ODB_E_OPERATOR, {GREEDY, .ids = {7}, .n_ids = 1, .max = 3}},
        {ODB_UNSUPPORTED, {GREEDY, .ids = {0}, .n_ids = 1, .max = 3, .no_size = true}},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct generate g;
        assert_int_equal(generate_run(&g, &rows[i].c), rows[i].status);
        generate_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generate__greedy_follows_the_best),
        cmocka_unit_test(test_generate__words_can_be_made_unlikely),
        cmocka_unit_test(test_generate__beams_find_the_best),
        cmocka_unit_test(test_generate__one_beam),
        cmocka_unit_test(test_generate__refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
