/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whole searches of one made-up model against another that was made of it, with and without a
 * planted fault, in every form that the other may have.
 */
#include "twomodels/against.h"

#include <jansson.h>
#include <math.h>

#include "tests/help/against_help.h"

#define LAYERS 4
#define WIDTH 8

/* --- models ----------------------------------------------------------------------------------- */

enum form { PLAIN, RENAMED, HALF, QUANTISED, GEMM, GEMM_RENAMED, FORMS };
enum fault { NONE, WEIGHT, BIAS, ATTRIBUTE, OPERATOR, WIRE, NANS, FAULTS };

struct made {
    struct odb_builder *b;
    enum form form;
    enum fault fault; /* of layer bad; the node that has it is called "bad" */
    int bad;
    char names[64][16]; /* of values, in a ring */
    int n;
};

/* The name of a value of a layer in this form. */
static const char *name_of(struct made *m, const char *stem, int layer)
{
    bool renamed = m->form == RENAMED || m->form == GEMM_RENAMED;
    char *name = m->names[m->n++ % 64];
    snprintf(name, sizeof m->names[0], renamed ? "u%s%dk" : "%s%d", stem, layer);
    return name;
}

static const char *node_of(const struct made *m, int layer, bool bad)
{
    return bad && m->fault != NONE && layer == m->bad ? "bad" : "";
}

static void put_node(struct made *m, const char *op, bool bad, int layer, const char *in,
                     const char *in2, const char *in3, const char *out)
{
    char *words = odb_xasprintf("%s %s %s", in, in2, in3);
    odb_build_node(m->b, op, node_of(m, layer, bad), words, out);
    free(words);
}

static double weight_at(int layer, size_t i)
{
    return (double)((i * 7 + (size_t)layer * 5) % 23) / 23 - 0.45;
}

static void put_tensor(struct made *m, const char *name, enum odb_dtype dtype, int rank,
                       const int64_t *dims, int layer, double spoil, double step)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_new(&t, dtype, rank, dims, &why));
    for (size_t i = 0; i < t->count; i++) {
        double v = rank ? weight_at(layer, i) + (i == 5 ? spoil : 0) : spoil;
        odb_store_f64(dtype, t->data, i,
                      step > 0 ? (double)(int)(v / step + (v < 0 ? -0.5 : 0.5)) : v);
    }
    odb_build_weight(m->b, name, t);
    odb_tensor_unref(t);
}

/* A weight as its form has it; what to read. */
static const char *put_weight(struct made *m, const char *stem, int layer, int rank, double spoil)
{
    const int64_t dims[2] = {WIDTH, WIDTH};
    const char *name = name_of(m, stem, layer);
    if (m->form == QUANTISED && rank == 2) {
        const char *codes = name_of(m, "codes", layer), *out = name_of(m, "dq", layer);
        put_tensor(m, codes, ODB_I8, rank, dims, layer, spoil, 0.01);
        put_node(m, "DequantizeLinear", false, layer, codes, "wscale", "", out);
        return out;
    }
    put_tensor(m, name, m->form == HALF ? ODB_F16 : ODB_F32, rank, dims, layer, spoil, 0);
    return name;
}

/* Through what quantises a value and back. */
static const char *put_quantised(struct made *m, const char *in, int layer)
{
    const char *codes = name_of(m, "q", layer), *out = name_of(m, "p", layer);
    if (m->form != QUANTISED)
        return in;
    put_node(m, "QuantizeLinear", false, layer, in, "scale", "zero", codes);
    put_node(m, "DequantizeLinear", false, layer, codes, "scale", "zero", out);
    return out;
}

static const char *put_layer(struct made *m, int layer, const char *in, const char *before)
{
    bool here = layer == m->bad, gemm = m->form == GEMM || m->form == GEMM_RENAMED;
    const char *w = put_weight(m, "w", layer, 2, here && m->fault == WEIGHT ? 1.2 : 0);
    const char *c = put_weight(m, "c", layer, 1,
                               !here              ? 0
                               : m->fault == BIAS ? 1.5
                               : m->fault == NANS ? NAN
                                                  : 0);
    const char *read = here && m->fault == WIRE ? before : in;
    const char *h = name_of(m, "h", layer), *a = name_of(m, "a", layer),
               *r = name_of(m, "r", layer);
    bool first = m->fault == WEIGHT || m->fault == WIRE;
    bool bias = m->fault == BIAS || m->fault == NANS;
    if (gemm) {
        put_node(m, "Gemm", first || bias, layer, read, w, c, a);
    } else {
        put_node(m, "MatMul", first, layer, read, w, "", h);
        put_node(m, "Add", bias, layer, h, c, "", a);
    }
    bool other = here && m->fault == OPERATOR;
    put_node(m, other ? "Selu" : "LeakyRelu", m->fault == ATTRIBUTE || m->fault == OPERATOR, layer,
             a, "", "", r);
    if (!other)
        odb_build_attr_float(m->b, "alpha", here && m->fault == ATTRIBUTE ? 0.9f : 0.1f);
    return put_quantised(m, r, layer);
}

static struct odb_model *make_faulty(enum form form, const enum fault *faults)
{
    struct made m = {.b = odb_build_new("g", 17), .form = form};
    const char *in = "x", *before = "x";
    odb_build_input(m.b, "x", ODB_F32, 2, (int64_t[]){3, WIDTH});
    if (form == QUANTISED) {
        put_tensor(&m, "wscale", ODB_F32, 0, NULL, 0, 0.01, 0);
        put_tensor(&m, "scale", ODB_F32, 0, NULL, 0, 0.02, 0);
        put_tensor(&m, "zero", ODB_U8, 0, NULL, 0, 100, 0);
    }
    if (form == HALF) {
        odb_build_node(m.b, "Cast", "", "x", "xh");
        odb_build_attr_int(m.b, "to", ODB_F16);
        in = before = "xh";
    }
    for (int l = 0; l < LAYERS; l++) {
        m.fault = faults[l];
        m.bad = faults[l] == NONE ? -1 : l;
        const char *next = put_layer(&m, l, in, before);
        before = in;
        in = next;
    }
    odb_build_node(m.b, form == HALF ? "Cast" : "Identity", "", in, "y");
    if (form == HALF)
        odb_build_attr_int(m.b, "to", ODB_F32);
    odb_build_output(m.b, "y");
    return models_take(m.b);
}

static struct odb_model *make_model(enum form form, enum fault fault, int bad)
{
    enum fault faults[LAYERS] = {NONE};
    faults[bad] = fault;
    return make_faulty(form, faults);
}

static struct odb_model *make_two(enum fault first, int at, enum fault second, int then)
{
    enum fault faults[LAYERS] = {NONE};
    faults[at] = first;
    faults[then] = second;
    return make_faulty(PLAIN, faults);
}

/* --- searches --------------------------------------------------------------------------------- */

static void search_run(struct search *s, struct odb_model *original, struct odb_model *other)
{
    search_open(s, original, 2, (int64_t[]){3, WIDTH});
    MODELS_OK(search_try(s, other, "cpu", &why));
}

static json_t *search_against(const struct search *s)
{
    return json_object_get(s->report->more, "against");
}

/* The nodes of the other model that the first culprit's region has; *bad: the one with the fault is
 * among them. */
static size_t first_region(const struct search *s, bool *bad)
{
    json_t *region = json_array_get(json_object_get(search_against(s), "regions"), 0), *node;
    json_t *nodes = json_object_get(region, "other_nodes");
    size_t i;
    *bad = false;
    json_array_foreach(nodes, i, node) {
        *bad |= !strcmp(json_string_value(json_object_get(node, "name")), "bad");
    }
    return json_array_size(nodes);
}

static const char *fate_of(const struct search *s, const char *name)
{
    json_t *weights = json_object_get(search_against(s), "weights"), *weight;
    size_t i;
    json_array_foreach(weights, i, weight) {
        if (!strcmp(json_string_value(json_object_get(weight, "name")), name))
            return json_string_value(json_object_get(weight, "fate"));
    }
    return "";
}

/* --- what they find --------------------------------------------------------------------------- */

static void test_against__an_honest_model_in_every_form(void **state)
{
    (void)state;
    for (enum form form = PLAIN; form < FORMS; form++) {
        struct search s;
        search_run(&s, make_model(PLAIN, NONE, 0), make_model(form, NONE, 0));
        if (s.report->culprits.n || s.report->outputs_diverge)
            fail_msg("form %d is accused", (int)form);
        assert_int_equal(json_array_size(json_object_get(search_against(&s), "regions")), 0);
        assert_string_equal(fate_of(&s, "w1"), form == HALF        ? "re-typed"
                                               : form == QUANTISED ? "quantised"
                                                                   : "same");
        search_close(&s);
    }
}

static void test_against__a_fault_in_every_form_and_layer(void **state)
{
    (void)state;
    for (enum form form = PLAIN; form < FORMS; form++)
        for (enum fault fault = WEIGHT; fault < FAULTS; fault++)
            for (int layer = fault == WIRE ? 1 : 0; layer < LAYERS; layer++) {
                struct search s;
                bool bad;
                search_run(&s, make_model(PLAIN, NONE, 0), make_model(form, fault, layer));
                size_t n = first_region(&s, &bad);
                if (!s.report->culprits.n || !bad || n > (form == QUANTISED ? 5 : 3))
                    fail_msg("form %d, fault %d, layer %d: %zu culprits, %zu nodes, %d: %s",
                             (int)form, (int)fault, layer, s.report->culprits.n, n, bad,
                             s.report->summary);
                if (fault == WEIGHT && form != GEMM_RENAMED) { /* nothing tells which it was */
                    char name[8];
                    snprintf(name, sizeof name, "w%d", layer);
                    assert_string_equal(fate_of(&s, name), "different");
                    assert_non_null(strstr(s.report->summary, "first suspect: weight w"));
                    assert_non_null(strstr(s.report->culprits.items[0].text, "Weight w"));
                }
                for (size_t c = 0; c < s.report->culprits.n; c++) {
                    const struct odb_culprit *culprit = &s.report->culprits.items[c];
                    if (!culprit->confidence || !culprit->confidence_reason[0])
                        fail_msg("form %d, fault %d, layer %d: nobody says how sure that is",
                                 (int)form, (int)fault, layer);
                }
                if (fault == NANS && form == QUANTISED) /* which no codes explain */
                    assert_int_equal(s.report->culprits.items[0].kind, ODB_KIND_INTRODUCED);
                if (fault == ATTRIBUTE)
                    assert_non_null(strstr(s.report->culprits.items[0].text, "Attribute alpha"));
                if (!s.report->culprits.items[0].verified && form != QUANTISED)
                    fail_msg("form %d, fault %d, layer %d: %s", (int)form, (int)fault, layer,
                             s.report->culprits.items[0].text);
                search_close(&s);
            }
}

/* What is wrong on its own values alone is not said to be wrong on the original's. */
static void test_against__a_part_runs_on_the_originals_values(void **state)
{
    struct search s;
    bool bad;
    (void)state;
    search_run(&s, make_model(PLAIN, NONE, 0), make_model(RENAMED, WEIGHT, 2));
    assert_int_equal(first_region(&s, &bad), 1);
    assert_int_equal(s.report->culprits.n, 1);
    json_t *region = json_array_get(json_object_get(search_against(&s), "regions"), 0);
    assert_string_equal(json_string_value(json_object_get(region, "on_original_values")), "wrong");
    assert_string_equal(json_string_value(json_object_get(region, "value")), "h2");
    assert_string_equal(json_string_value(json_object_get(region, "other_value")), "uh2k");
    assert_string_equal(json_string_value(json_object_get(region, "outputs_without_it")), "right");
    assert_int_equal(s.report->target_runs, 3);
    const struct odb_culprit *culprit = &s.report->culprits.items[0];
    assert_int_equal(culprit->checks[ODB_CHECK_ALONE], ODB_CONFIRMS);
    assert_int_equal(culprit->checks[ODB_CHECK_PINNED], ODB_CONFIRMS);
    assert_int_equal(culprit->confidence, ODB_CONFIDENCE_HIGH);
    search_close(&s);
}

/* Without the error of one of several the outputs say nothing, so nobody asks. */
static void test_against__two_faults_are_not_acquitted_by_one_another(void **state)
{
    struct search s;
    (void)state;
    struct odb_model *other = make_two(WEIGHT, 0, ATTRIBUTE, 2);
    search_run(&s, make_model(PLAIN, NONE, 0), other);
    assert_int_equal(s.report->culprits.n, 2);
    for (size_t c = 0; c < 2; c++) {
        const struct odb_culprit *culprit = &s.report->culprits.items[c];
        assert_int_equal(culprit->checks[ODB_CHECK_ALONE], ODB_CONFIRMS);
        assert_int_equal(culprit->checks[ODB_CHECK_PINNED], ODB_NOT_ASKED);
        assert_int_equal(culprit->confidence, ODB_CONFIDENCE_MEDIUM);
    }
    search_close(&s);
}

static void test_against__an_input_that_nobody_knows(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_error err = ODB_ERROR_INIT;
    (void)state;
    odb_build_input(b, "p", ODB_F32, 1, (int64_t[]){2});
    odb_build_input(b, "q", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, "Add", "", "p q", "y");
    odb_build_output(b, "y");
    struct search s;
    search_open(&s, make_model(PLAIN, NONE, 0), 2, (int64_t[]){3, WIDTH});
    assert_int_equal(search_try(&s, models_take(b), "cpu", &err), ODB_E_USAGE);
    help_has_text(&err, "input p");
    search_close(&s);
}

/* Two branches, an output at the end of each; exchanged: under each other's names. */
static struct odb_model *make_branches(bool exchanged)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){16});
    odb_build_node(b, "Tanh", "n0", "x", "p");
    odb_build_node(b, "Sin", "n1", "x", "q");
    odb_build_node(b, "Exp", "n2", "p", exchanged ? "c" : "a");
    odb_build_node(b, "Neg", "n3", "q", exchanged ? "a" : "c");
    odb_build_node(b, "Add", "n4", "a c", "s");
    odb_build_node(b, "Cos", "n5", "s", "y");
    odb_build_output(b, "a");
    odb_build_output(b, "c");
    odb_build_output(b, "y");
    return models_take(b);
}

static void test_against__outputs_under_each_others_names(void **state)
{
    struct search s;
    search_open(&s, make_branches(false), 1, (int64_t[]){16});
    MODELS_OK(search_try(&s, make_branches(true), "cpu", &why));
    assert_int_equal(s.report->culprits.n, 1);
    const struct odb_culprit *culprit = &s.report->culprits.items[0];
    assert_int_equal(culprit->kind, ODB_KIND_EXCHANGED);
    assert_non_null(strstr(culprit->text, "utput a holds the values of output c, and c those of"));
    assert_true(s.report->outputs_diverge);
    search_close(&s);
}

static void put_integers(struct odb_builder *b, const char *name, int64_t first, int64_t second)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_copy_of(&t, ODB_I64, 1, (int64_t[]){2}, (int64_t[]){first, second}, &why));
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* x (4, 6) is taken for a shape, of which 0 and -1 hang on the shape that it had: (2, 12). merged:
 * without that, as when two Reshapes are made one. */
static struct odb_model *make_views(bool merged)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){4, 6});
    put_integers(b, "wide", 2, 12);
    put_integers(b, "same", 0, -1);
    put_integers(b, "back", 4, 6);
    if (!merged)
        odb_build_node(b, "Reshape", "first", "x wide", "p");
    odb_build_node(b, "Reshape", "second", merged ? "x same" : "p same", "q");
    odb_build_node(b, "Softmax", "", "q", "s");
    odb_build_node(b, "Reshape", "", "s back", "y");
    odb_build_output(b, "y");
    return models_take(b);
}

/* x in a shape that is computed: (2, 12), or what more makes of it. */
static struct odb_model *make_computed(int64_t more, int64_t less)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){4, 6});
    put_integers(b, "a", 2, 8);
    put_integers(b, "c", more, less);
    put_integers(b, "back", 4, 6);
    odb_build_node(b, "Add", "shape", "a c", "n");
    odb_build_node(b, "Reshape", "", "x n", "q");
    odb_build_node(b, "Softmax", "", "q", "s");
    odb_build_node(b, "Reshape", "", "s back", "y");
    odb_build_output(b, "y");
    return models_take(b);
}

static void test_against__another_shape_within_is_told(void **state)
{
    struct search s;
    (void)state;
    search_open(&s, make_views(false), 2, (int64_t[]){4, 6});
    MODELS_OK(search_try(&s, make_views(true), "cpu", &why));
    assert_int_equal(s.report->culprits.n, 1);
    assert_non_null(strstr(s.report->culprits.items[0].text,
                           "q has the shape (4, 6), and (2, 12) in the original."));
    search_close(&s);
}

static void test_against__integers_are_told(void **state)
{
    struct search s;
    (void)state;
    search_open(&s, make_computed(0, 4), 2, (int64_t[]){4, 6});
    MODELS_OK(search_try(&s, make_computed(1, 0), "cpu", &why));
    assert_true(s.report->culprits.n >= 1);
    assert_non_null(strstr(s.report->culprits.items[0].text,
                           "It holds [3, 8] where the original has [2, 12]."));
    search_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against__an_honest_model_in_every_form),
        cmocka_unit_test(test_against__a_fault_in_every_form_and_layer),
        cmocka_unit_test(test_against__a_part_runs_on_the_originals_values),
        cmocka_unit_test(test_against__two_faults_are_not_acquitted_by_one_another),
        cmocka_unit_test(test_against__an_input_that_nobody_knows),
        cmocka_unit_test(test_against__outputs_under_each_others_names),
        cmocka_unit_test(test_against__another_shape_within_is_told),
        cmocka_unit_test(test_against__integers_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
