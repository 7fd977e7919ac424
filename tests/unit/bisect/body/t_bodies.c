/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searches that go on inside If, Loop, Scan, SequenceMap and functions, with faults planted there.
 */
#include "probe/body_case.h"

#include "bisect/plan/bisect.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "tests/help/survives.h"
#include "model/read/load.h"

#define N 8

struct search {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_report *report;
    bool no_enter, no_explain;
    enum odb_strategy strategy;
};

static struct odb_tensor *bodies_ramp(int64_t n)
{
    float ramp[64];
    for (int64_t i = 0; i < n; i++)
        ramp[i] = 0.37f * (float)(i % 7) - 0.9f + 0.011f * (float)i;
    return models_f32(1, &n, ramp);
}

static void search_run(struct search *s, struct odb_builder *b, const char *target)
{
    s->model = models_take(b);
    const struct odb_value *x = odb_graph_value(s->model->graph, "x");
    struct odb_tensor *ramp = bodies_ramp(x->type.rank == 2 ? 6 * N : N), *t = ramp;
    if (x->type.rank == 2) {
        MODELS_OK(odb_tensor_reshape(&t, ramp, 2, (int64_t[]){6, N}, &why));
        odb_tensor_unref(ramp);
    }
    s->feed = (struct odb_feed){.value = x->index, .tensor = t};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    s->report = NULL;
    struct odb_bisect_options options = {.reference = "cpu",
                                         .target = target,
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .strategy = s->strategy,
                                         .no_enter = s->no_enter,
                                         .no_explain = s->no_explain};
    help_find_serve();
    MODELS_OK(odb_bisect(&s->report, s->model, &s->feeds, &options, &why));
}

static void search_close(struct search *s)
{
    survives(s->report);
    odb_report_free(s->report);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
}

/* One culprit with this path; words (may be NULL) stand in its text. NULL path: it was not entered,
 * or nothing inside is to blame. */
static void search_expect(struct odb_builder *b, const char *target, const char *path,
                          const char *words)
{
    struct search s = {0};
    search_run(&s, b, target);
    if (s.report->culprits.n != 1)
        fail_msg("%s: %zu culprits", target, s.report->culprits.n);
    const struct odb_culprit *c = &s.report->culprits.items[0];
    if (!path != !c->path || (path && strcmp(path, c->path) != 0))
        fail_msg("%s: '%s' instead of '%s': %s", target, c->path ? c->path : "nothing",
                 path ? path : "nothing", c->text);
    if (words && !strstr(c->text, words))
        fail_msg("%s: no '%s' in: %s", target, words, c->text);
    assert_true(!path || !strchr(path, '/') || c->inside);
    search_close(&s);
}

static void search_expect_none(struct odb_builder *b, const char *target)
{
    struct search s = {0};
    search_run(&s, b, target);
    if (s.report->culprits.n)
        fail_msg("%s: %s", target, s.report->culprits.items[0].text);
    assert_false(s.report->outputs_diverge);
    search_close(&s);
}

/* --- graphs ----------------------------------------------------------------------------------- */

static struct odb_builder *bodies_graph(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    float ws[N];
    struct odb_tensor *w;
    for (int i = 0; i < N; i++)
        ws[i] = 0.6f + 0.05f * (float)i;
    w = models_f32(1, (int64_t[]){N}, ws);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){N});
    odb_build_weight(b, "w", w);
    odb_build_node(b, "Sin", "pre", "x", "k");
    odb_tensor_unref(w);
    return b;
}

static void bodies_scalar(struct odb_builder *b, const char *name, enum odb_dtype dtype, int64_t v)
{
    struct odb_tensor *t = NULL;
    const bool truth = v != 0;
    MODELS_OK(
        odb_tensor_copy_of(&t, dtype, 0, NULL, dtype == ODB_BOOL ? (void *)&truth : &v, &why));
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* s2 = tanh(s) * w + k: captures a weight and a computed value; stacked: what is put out of it. */
static struct odb_builder *bodies_loop_body(bool stacked)
{
    struct odb_builder *body = odb_build_new("body", 17);
    odb_build_input(body, "i", ODB_I64, 0, NULL);
    odb_build_input(body, "go", ODB_BOOL, 0, NULL);
    odb_build_input(body, "s", ODB_F32, 1, (int64_t[]){N});
    odb_build_node(body, "Identity", "l_go", "go", "go2");
    odb_build_node(body, "Tanh", "l_tanh", "s", "t");
    odb_build_node(body, "Mul", "l_mul", "t w", "m");
    odb_build_node(body, "Add", "l_add", "m k", "s2");
    odb_build_output_typed(body, "go2", ODB_BOOL, 0, NULL);
    odb_build_output_typed(body, "s2", ODB_F32, 1, (int64_t[]){N});
    if (stacked) {
        odb_build_node(body, "Exp", "l_exp", "t", "z0");
        odb_build_output_typed(body, "z0", ODB_F32, 1, (int64_t[]){N});
    }
    return body;
}

/* trips 0: none is given, and it ends by its condition after 5 turns. */
static struct odb_builder *bodies_loop(int64_t trips, bool stacked)
{
    struct odb_builder *b = bodies_graph(), *body = bodies_loop_body(stacked && trips);
    bodies_scalar(b, "c", ODB_BOOL, 1);
    if (trips)
        bodies_scalar(b, "n", ODB_I64, trips);
    odb_build_node(b, "Loop", "loop", trips ? "n c x" : "- c x", stacked && trips ? "s z" : "s");
    if (!trips) {
        odb_build_free(body);
        body = odb_build_new("body", 17);
        odb_build_input(body, "i", ODB_I64, 0, NULL);
        odb_build_input(body, "go", ODB_BOOL, 0, NULL);
        odb_build_input(body, "s", ODB_F32, 1, (int64_t[]){N});
        bodies_scalar(body, "most", ODB_I64, 4);
        odb_build_node(body, "Less", "l_less", "i most", "go2");
        odb_build_node(body, "Tanh", "l_tanh", "s", "t");
        odb_build_node(body, "Mul", "l_mul", "t w", "m");
        odb_build_node(body, "Add", "l_add", "m k", "s2");
        odb_build_output_typed(body, "go2", ODB_BOOL, 0, NULL);
        odb_build_output_typed(body, "s2", ODB_F32, 1, (int64_t[]){N});
    }
    odb_build_attr_graph(b, "body", body);
    odb_build_node(b, "Neg", "post", "s", "y");
    odb_build_output(b, "y");
    if (stacked && trips)
        odb_build_output(b, "z");
    return b;
}

static struct odb_builder *bodies_branch(const char *op, const char *name)
{
    struct odb_builder *body = odb_build_new(name, 17);
    char node[32];
    snprintf(node, sizeof node, "%s_op", name);
    odb_build_node(body, op, node, "k", "a");
    snprintf(node, sizeof node, "%s_mul", name);
    odb_build_node(body, "Mul", node, "a w", "r");
    odb_build_output_typed(body, "r", ODB_F32, 1, (int64_t[]){N});
    return body;
}

static struct odb_builder *bodies_if(bool truth)
{
    struct odb_builder *b = bodies_graph();
    bodies_scalar(b, "c", ODB_BOOL, truth);
    odb_build_node(b, "Not", "not", "c", "d");
    odb_build_node(b, "If", "if", "d", "q");
    odb_build_attr_graph(b, "then_branch", bodies_branch("Exp", "t"));
    odb_build_attr_graph(b, "else_branch", bodies_branch("Tanh", "e"));
    odb_build_node(b, "Neg", "post", "q", "y");
    odb_build_output(b, "y");
    return b;
}

/* If in a Loop in an If. */
static struct odb_builder *bodies_nested(void)
{
    struct odb_builder *b = bodies_graph(), *then = odb_build_new("then", 17);
    struct odb_builder *loop = odb_build_new("body", 17), *yes = odb_build_new("yes", 17);
    struct odb_builder *no = odb_build_new("no", 17);
    bodies_scalar(b, "c", ODB_BOOL, 1);
    bodies_scalar(b, "n", ODB_I64, 6);
    odb_build_input(loop, "i", ODB_I64, 0, NULL);
    odb_build_input(loop, "go", ODB_BOOL, 0, NULL);
    odb_build_input(loop, "s", ODB_F32, 1, (int64_t[]){N});
    bodies_scalar(loop, "three", ODB_I64, 3);
    odb_build_node(loop, "Less", "less", "i three", "low");
    odb_build_node(loop, "Identity", "go_on", "go", "go2");
    odb_build_node(yes, "Sin", "y_sin", "s", "p");
    odb_build_node(yes, "Add", "y_add", "p k", "r");
    odb_build_node(no, "Tanh", "n_tanh", "s", "p");
    odb_build_node(no, "Mul", "n_mul", "p w", "r");
    odb_build_output_typed(yes, "r", ODB_F32, 1, (int64_t[]){N});
    odb_build_output_typed(no, "r", ODB_F32, 1, (int64_t[]){N});
    odb_build_node(loop, "If", "half", "low", "s2");
    odb_build_attr_graph(loop, "then_branch", yes);
    odb_build_attr_graph(loop, "else_branch", no);
    odb_build_output_typed(loop, "go2", ODB_BOOL, 0, NULL);
    odb_build_output_typed(loop, "s2", ODB_F32, 1, (int64_t[]){N});
    odb_build_node(then, "Loop", "loop", "n c x", "s");
    odb_build_attr_graph(then, "body", loop);
    odb_build_node(then, "Mul", "scale", "s w", "q0");
    odb_build_output_typed(then, "q0", ODB_F32, 1, (int64_t[]){N});
    odb_build_node(b, "If", "if", "c", "q");
    odb_build_attr_graph(b, "then_branch", then);
    odb_build_attr_graph(b, "else_branch", bodies_branch("Tanh", "e"));
    odb_build_node(b, "Neg", "post", "q", "y");
    odb_build_output(b, "y");
    return b;
}

static struct odb_builder *bodies_scan(bool back, bool state)
{
    struct odb_builder *b = odb_build_new("g", 17), *body = odb_build_new("body", 17);
    struct odb_tensor *s0 = bodies_ramp(N);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){6, N});
    odb_build_weight(b, "s0", s0);
    odb_tensor_unref(s0);
    if (state)
        odb_build_input(body, "s", ODB_F32, 1, (int64_t[]){N});
    odb_build_input(body, "e", ODB_F32, 1, (int64_t[]){N});
    odb_build_node(body, "Tanh", "c_tanh", state ? "s" : "e", "t");
    odb_build_node(body, "Add", "c_add", "t e", "s2");
    odb_build_node(body, "Exp", "c_exp", "t", "z0");
    if (state)
        odb_build_output_typed(body, "s2", ODB_F32, 1, (int64_t[]){N});
    odb_build_output_typed(body, "z0", ODB_F32, 1, (int64_t[]){N});
    odb_build_node(b, "Sin", "pre", "x", "k");
    odb_build_node(b, "Scan", "scan", state ? "s0 k" : "k", state ? "s z" : "z");
    odb_build_attr_graph(b, "body", body);
    odb_build_attr_int(b, "num_scan_inputs", 1);
    odb_build_attr_ints(b, "scan_input_directions", 1, (int64_t[]){back});
    odb_build_attr_ints(b, "scan_output_directions", 1, (int64_t[]){back});
    odb_build_node(b, "Neg", "post", "z", "y");
    odb_build_output(b, "y");
    if (state)
        odb_build_output(b, "s");
    return b;
}

static struct odb_builder *bodies_map(void)
{
    struct odb_builder *b = bodies_graph(), *body = odb_build_new("body", 17);
    odb_build_input(body, "a", ODB_F32, 1, (int64_t[]){N});
    odb_build_input(body, "f", ODB_F32, 1, (int64_t[]){N});
    odb_build_node(body, "Mul", "m_mul", "a f", "p");
    odb_build_node(body, "Add", "m_add", "p k", "r");
    odb_build_output_typed(body, "r", ODB_F32, 1, (int64_t[]){N});
    odb_build_node(b, "SequenceConstruct", "make", "x k x k", "q");
    odb_build_node(b, "SequenceMap", "map", "q w", "rs");
    odb_build_attr_graph(b, "body", body);
    odb_build_node(b, "ConcatFromSequence", "cat", "rs", "y");
    odb_build_attr_int(b, "axis", 0);
    odb_build_output(b, "y");
    return b;
}

/* outer(x, w; alpha) = leaky(tanh(x), alpha) * w, whose leaky is a function itself. */
static struct odb_builder *bodies_functions(void)
{
    struct odb_builder *b = bodies_graph();
    struct odb_builder *leaky = odb_build_new("leaky", 17), *outer = odb_build_new("outer", 17);
    odb_build_opset(b, "mine", 1);
    odb_build_opset(outer, "mine", 1);
    odb_build_node(leaky, "LeakyRelu", "f_relu", "a", "b");
    odb_build_attr_ref(leaky, "alpha", ODB_ATTR_FLOAT, "slope");
    odb_build_node(leaky, "Exp", "f_exp", "b", "c");
    odb_build_node(outer, "Tanh", "o_tanh", "p", "q");
    odb_build_node(outer, "mine::Leaky", "o_leaky", "q", "r");
    odb_build_attr_ref(outer, "slope", ODB_ATTR_FLOAT, "alpha");
    odb_build_node(outer, "Mul", "o_mul", "r v", "u");
    odb_build_function(b, "mine", "Leaky", "a", "c", "slope", leaky);
    odb_build_function(b, "mine", "Outer", "p v unused", "u", "alpha", outer);
    odb_build_node(b, "mine::Outer", "call", "k w", "q");
    odb_build_attr_float(b, "alpha", 0.3f);
    odb_build_node(b, "Neg", "post", "q", "y");
    odb_build_output(b, "y");
    return b;
}

/* --- loops ------------------------------------------------------------------------------------ */

static void test_bodies__loop_fault_at_one_turn(void **state)
{
    search_expect(bodies_loop(8, false), "fault:scale,node=loop/l_mul,iteration=3@cpu",
                  "loop[3]/l_mul", "introduces the error");
    search_expect(bodies_loop(8, false), "fault:offset,node=loop[7]/l_add@cpu", "loop[7]/l_add",
                  NULL);
    search_expect(bodies_loop(3, true), "fault:scale,node=loop[1]/#1@cpu", "loop[1]/l_tanh", NULL);
}

/* What is stacked shows the state that a turn begins with, so the turn before made it wrong. */
static void test_bodies__loop_fault_that_shows_a_turn_later(void **state)
{
    search_expect(bodies_loop(8, true), "fault:scale,node=loop/l_mul@cpu", "loop[0]/l_mul", NULL);
    search_expect(bodies_loop(3, true), "fault:scale,node=loop/l_mul@cpu", "loop[0]/l_mul", NULL);
    search_expect(bodies_loop(8, true), "fault:scale,node=loop[3]/l_mul@cpu", "loop[3]/l_mul",
                  NULL);
}

/* The state does not show it, the stack does. */
static void test_bodies__loop_fault_in_what_is_stacked(void **state)
{
    search_expect(bodies_loop(8, true), "fault:scale,node=loop[5]/z0@cpu", "loop[5]/l_exp", NULL);
}

static void test_bodies__loop_fault_in_all_turns(void **state)
{
    search_expect(bodies_loop(8, true), "fault:scale,node=loop/l_add@cpu", "loop[0]/l_add", NULL);
    search_expect(bodies_loop(8, true), "fault:nan,node=loop/l_add@cpu", "loop[0]/l_add",
                  "makes NaN");
}

static void test_bodies__loop_ended_by_its_condition(void **state)
{
    search_expect(bodies_loop(0, false), "fault:scale,node=loop[2]/l_mul@cpu", "loop[2]/l_mul",
                  NULL);
}

/* s2 = s * 1.3, as long as their magnitudes sum up to less than 40. */
static struct odb_builder *bodies_growing(bool stacked)
{
    struct odb_builder *b = bodies_graph(), *body = odb_build_new("body", 17);
    const float grow = 1.3f, limit = 40;
    struct odb_tensor *g = models_f32(0, NULL, &grow), *most = models_f32(0, NULL, &limit);
    odb_build_weight(b, "grow", g);
    odb_build_weight(body, "most", most);
    odb_tensor_unref(g);
    odb_tensor_unref(most);
    bodies_scalar(b, "c", ODB_BOOL, 1);
    bodies_scalar(b, "n", ODB_I64, 1000);
    odb_build_input(body, "i", ODB_I64, 0, NULL);
    odb_build_input(body, "go", ODB_BOOL, 0, NULL);
    odb_build_input(body, "s", ODB_F32, 1, (int64_t[]){N});
    odb_build_node(body, "Mul", "l_mul", "s grow", "s2");
    odb_build_node(body, "Abs", "l_abs", "s2", "a");
    odb_build_node(body, "ReduceSum", "l_sum", "a", "sum");
    odb_build_attr_int(body, "keepdims", 0);
    odb_build_node(body, "Less", "l_less", "sum most", "go2");
    odb_build_node(body, "Exp", "l_exp", "sum", "z0");
    odb_build_output_typed(body, "go2", ODB_BOOL, 0, NULL);
    odb_build_output_typed(body, "s2", ODB_F32, 1, (int64_t[]){N});
    if (stacked)
        odb_build_output_typed(body, "a", ODB_F32, 1, (int64_t[]){N});
    odb_build_node(b, "Loop", "loop", "n c x", stacked ? "s z" : "s");
    odb_build_attr_graph(b, "body", body);
    odb_build_output(b, "s");
    if (stacked)
        odb_build_output(b, "z");
    return b;
}

/* A fault in the state, or in the condition, changes how many turns there are. */
static void test_bodies__loop_ended_by_its_data(void **state)
{
    for (int stacked = 0; stacked < 2; stacked++) {
        search_expect_none(bodies_growing(stacked), "cpu:noisy");
        search_expect(bodies_growing(stacked), "fault:scale,node=loop[2]/l_mul,amount=0.5@cpu",
                      "loop[2]/l_mul", NULL);
        search_expect(bodies_growing(stacked), "fault:scale,node=loop/l_mul,amount=0.2@cpu",
                      "loop[0]/l_mul", NULL);
        search_expect(bodies_growing(stacked), "fault:scale,node=loop[4]/l_sum,amount=9@cpu",
                      "loop[4]/l_sum", NULL);
        /* In turns before the reference's last nothing comes of it. */
        search_expect(bodies_growing(stacked), "fault:scale,node=loop/l_sum,amount=-0.9@cpu",
                      "loop[7]/l_sum", NULL);
    }
}

static void test_bodies__loop_with_a_turn_too_few_or_many(void **state)
{
    search_expect(bodies_loop(8, true), "fault:trips,node=loop@cpu", NULL,
                  "takes 7 turns where the reference takes 8");
    search_expect(bodies_loop(8, false), "fault:trips,node=loop@cpu", NULL,
                  "takes 7 turns where the reference takes 8");
    search_expect(bodies_loop(8, false), "fault:trips,node=loop,amount=1@cpu", NULL,
                  "takes 9 turns where the reference takes 8");
}

/* The body of no turn is wrong, and neither is how many there are. */
static void test_bodies__loop_that_spoils_what_it_hands_out(void **state)
{
    search_expect(bodies_loop(8, false), "fault:scale,node=loop@cpu", NULL, "it is Loop itself");
}

/* Bodies that the target cannot run are not right for that, so nobody is accused by them. */
static void test_bodies__bodies_that_cannot_be_run_clear_nobody(void **state)
{
    search_expect(bodies_loop(3, true),
                  "fault:scale,node=loop@fault:refuse,node=loop/l_mul,count=2@cpu", NULL,
                  "of the others nothing is known");
    search_expect(bodies_loop(8, true),
                  "fault:scale,node=loop@fault:refuse,node=loop/l_mul,count=2@cpu", NULL,
                  "whether the body of that turn is right alone is not known");
}

static void test_bodies__crash_inside(void **state)
{
    search_expect(bodies_loop(8, false), "fault:crash,node=loop[4]/l_mul@cpu", "loop[4]/l_mul",
                  "makes the target crash");
}

static void test_bodies__search_by_prefixes_enters_as_well(void **state)
{
    struct search s = {.strategy = ODB_STRATEGY_PREFIX};
    search_run(&s, bodies_loop(8, false), "fault:scale,node=loop[6]/l_mul@cpu");
    assert_int_equal(s.report->culprits.n, 1);
    assert_string_equal(s.report->culprits.items[0].path, "loop[6]/l_mul");
    search_close(&s);
}

/* Bisection over turns: no more than the node alone, log2, the body, and its own search. */
static void test_bodies__few_probes(void **state)
{
    struct search s = {.no_explain = true};
    search_run(&s, bodies_loop(60, false), "fault:scale,amount=0.5,node=loop[50]/l_mul@cpu");
    assert_string_equal(s.report->culprits.items[0].path, "loop[50]/l_mul");
    assert_in_range(s.report->target_loads, 1, 20);
    search_close(&s);
}

static void test_bodies__no_enter(void **state)
{
    struct search s = {.no_enter = true};
    search_run(&s, bodies_loop(8, false), "fault:scale,node=loop[3]/l_mul@cpu");
    assert_int_equal(s.report->culprits.n, 1);
    assert_null(s.report->culprits.items[0].path);
    search_close(&s);
}

/* --- the others ------------------------------------------------------------------------------- */

static void test_bodies__if(void **state)
{
    search_expect(bodies_if(false), "fault:scale,node=if.then/t_mul@cpu", "if.then/t_mul", NULL);
    search_expect(bodies_if(true), "fault:scale,node=if.else/e_op@cpu", "if.else/e_op", NULL);
    search_expect_none(bodies_if(true), "fault:scale,node=if.then/t_op@cpu"); /* not taken */
}

static void test_bodies__if_takes_the_wrong_branch(void **state)
{
    search_expect(bodies_if(true), "fault:branch,node=if@cpu", NULL,
                  "is false in both, and what the target gives is what the then branch gives");
}

/* What is wrong stands before the If, which then goes by another condition. */
static void test_bodies__if_goes_by_another_condition(void **state)
{
    struct odb_builder *b = bodies_graph();
    float limit = 1.0f;
    struct odb_tensor *most = models_f32(0, NULL, &limit);
    odb_build_weight(b, "most", most);
    odb_tensor_unref(most);
    odb_build_node(b, "ReduceMax", "max", "k", "top");
    odb_build_attr_int(b, "keepdims", 0);
    odb_build_node(b, "Less", "less", "top most", "d");
    odb_build_node(b, "If", "if", "d", "q");
    odb_build_attr_graph(b, "then_branch", bodies_branch("Exp", "t"));
    odb_build_attr_graph(b, "else_branch", bodies_branch("Tanh", "e"));
    odb_build_node(b, "Neg", "post", "q", "y");
    odb_build_output(b, "y");
    search_expect(b, "fault:scale,node=max,amount=0.5@cpu", NULL,
                  "So if goes another way: its condition, d, is false on the target and true on "
                  "the reference");
}

static void test_bodies__nested(void **state)
{
    search_expect(bodies_nested(), "fault:scale,node=if.then/loop[4]/half.else/n_mul@cpu",
                  "if.then/loop[4]/half.else/n_mul", NULL);
    search_expect(bodies_nested(), "fault:scale,node=if.then/loop/half.then/y_sin,iteration=2@cpu",
                  "if.then/loop[2]/half.then/y_sin", NULL);
    search_expect(bodies_nested(), "fault:scale,node=if.then/scale@cpu", "if.then/scale", NULL);
    search_expect(bodies_nested(), "fault:branch,node=if.then/loop[1]/half@cpu",
                  "if.then/loop[1]/half", "takes the other branch");
}

static void test_bodies__scan(void **state)
{
    for (int back = 0; back < 2; back++) {
        search_expect(bodies_scan(back, true), "fault:scale,node=scan[4]/c_add@cpu",
                      "scan[4]/c_add", NULL);
        search_expect(bodies_scan(back, true), "fault:scale,node=scan[2]/c_exp@cpu",
                      "scan[2]/c_exp", NULL);
        search_expect(bodies_scan(back, false), "fault:scale,node=scan[3]/c_tanh@cpu",
                      "scan[3]/c_tanh", NULL);
    }
}

static void test_bodies__sequence_map(void **state)
{
    search_expect(bodies_map(), "fault:scale,node=map[2]/m_add@cpu", "map[2]/m_add", NULL);
    search_expect(bodies_map(), "fault:scale,node=map/m_mul@cpu", "map[0]/m_mul", NULL);
}

static void test_bodies__functions(void **state)
{
    search_expect(bodies_functions(), "fault:scale,node=call/o_tanh@cpu", "call/o_tanh", NULL);
    search_expect(bodies_functions(), "fault:scale,node=call/o_leaky/f_exp@cpu",
                  "call/o_leaky/f_exp", NULL);
    search_expect(bodies_functions(), "fault:scale,node=call@cpu", NULL, "so it is the call");
}

static void test_bodies__honest_targets_have_none(void **state)
{
    static struct odb_builder *(*const plain[])(void) = {bodies_nested, bodies_map,
                                                         bodies_functions};
    static const char *const targets[] = {"cpu", "cpu:noisy"};
    for (size_t t = 0; t < ODB_COUNT(targets); t++) {
        for (size_t i = 0; i < ODB_COUNT(plain); i++)
            search_expect_none(plain[i](), targets[t]);
        search_expect_none(bodies_loop(8, true), targets[t]);
        search_expect_none(bodies_loop(0, false), targets[t]);
        search_expect_none(bodies_scan(true, true), targets[t]);
        search_expect_none(bodies_if(true), targets[t]);
    }
}

/* What a branch captures is read like any input: whoever inherits a fault that way did not begin
 * it. */
static void test_bodies__what_is_captured_is_inherited(void **state)
{
    struct search s = {.strategy = ODB_STRATEGY_EACH};
    search_run(&s, bodies_if(true), "fault:scale,node=pre,amount=0.05@cpu");
    assert_int_equal(s.report->culprits.n, 1);
    assert_string_equal(s.model->graph->nodes[s.report->culprits.items[0].node].name, "pre");
    search_close(&s);
    (void)state;
}

/* --- hooks ------------------------------------------------------------------------------------ */

struct onlooker {
    const struct odb_model *model;
    long patience; /* calls of cancelled() until it is */
    size_t inside; /* probes that were announced there */
    size_t probes; /* of all */
    struct odb_budget budget;
};

static void bodies_look(void *payload, const struct odb_search_event *event)
{
    struct onlooker *o = payload;
    const struct odb_graph *graph = o->model->graph;
    assert_true(event->node == ODB_NO_NODE || (size_t)event->node < graph->n_nodes);
    o->probes += event->what == ODB_EVENT_PROBE_BEGIN;
    if (event->what == ODB_EVENT_VALUE)
        assert_string_equal(event->text, graph->values[event->value].name);
    if (event->what == ODB_EVENT_PROBE_BEGIN && !strncmp(event->text, "if.then: loop", 13)) {
        assert_string_equal(graph->nodes[event->node].name, "if");
        o->inside++;
    }
}

static bool bodies_tired(void *payload)
{
    struct onlooker *o = payload;
    return --o->patience < 0;
}

static enum odb_status bodies_watched(struct onlooker *o)
{
    struct search s = {.model = models_take(bodies_nested())};
    struct odb_error err = ODB_ERROR_INIT;
    s.feed = (struct odb_feed){.value = models_value(s.model, "x"), .tensor = bodies_ramp(N)};
    s.feeds = (struct odb_feeds){&s.feed, 1, NULL};
    o->model = s.model;
    struct odb_bisect_options options = {.reference = "cpu",
                                         .target =
                                             "fault:scale,node=if.then/loop[4]/half.else/n_mul@cpu",
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .hooks = {bodies_look, bodies_tired, o, &o->budget}};
    help_find_serve();
    enum odb_status status = odb_bisect(&s.report, s.model, &s.feeds, &options, &err);
    search_close(&s);
    return status;
}

/* Whoever looks on hears of the main graph's nodes alone, and may stop it anywhere. */
static void test_bodies__hooks(void **state)
{
    struct onlooker o = {.patience = 1000000};
    assert_int_equal(bodies_watched(&o), ODB_OK);
    assert_in_range(o.inside, 5, 40);
    long all = 1000000 - o.patience;
    assert_in_range(all, 40, 100000);
    for (int i = 1; i <= 8; i++) {
        o = (struct onlooker){.patience = all * i / 9};
        assert_int_equal(bodies_watched(&o), ODB_CANCELLED);
    }
}

/* What is asked inside is counted with the rest, and ends where that does. */
static void test_bodies__a_budget_is_one_for_all(void **state)
{
    struct onlooker all = {.patience = 1000000};
    assert_int_equal(bodies_watched(&all), ODB_OK);
    assert_int_equal(all.budget.asked, all.probes);
    assert_true(all.inside >= 5);
    for (size_t n = 3; n < all.probes; n += 4) {
        struct onlooker o = {.patience = 1000000, .budget = {.probes = n}};
        assert_int_equal(bodies_watched(&o), ODB_CANCELLED);
        assert_int_equal(o.budget.asked, n);
    }
    struct onlooker late = {.patience = 1000000, .budget = {.deadline = 1e-9}};
    assert_int_equal(bodies_watched(&late), ODB_CANCELLED);
    assert_int_equal(late.budget.asked, 0);
    (void)state;
}

/* --- faults, paths ---------------------------------------------------------------------------- */

static void bodies_refused(const char *target, const char *words)
{
    struct search s = {0};
    struct odb_error err = ODB_ERROR_INIT;
    char text[1000];
    s.model = models_take(bodies_loop(4, false));
    struct odb_tensor *x = bodies_ramp(N);
    s.feed = (struct odb_feed){.value = models_value(s.model, "x"), .tensor = x};
    s.feeds = (struct odb_feeds){&s.feed, 1, NULL};
    struct odb_bisect_options options = {
        .reference = "cpu", .target = target, .tolerance = ODB_CRITERION_DEFAULT};
    help_find_serve();
    assert_int_not_equal(odb_bisect(&s.report, s.model, &s.feeds, &options, &err), ODB_OK);
    if (!strstr(odb_error_text(&err, text, sizeof text), words))
        fail_msg("no '%s' in: %s", words, text);
    search_close(&s);
}

static void test_bodies__faults_that_cannot_be_planted(void **state)
{
    bodies_refused("fault:scale,node=loop/none@cpu", "none");
    bodies_refused("fault:scale,node=pool/l_mul@cpu", "no node 'pool/l_mul'");
    bodies_refused("fault:scale,node=loop/l_mul@fault:scale,node=pre,amount=0@cpu",
                   "in the executor cpu alone");
    bodies_refused("fault:scale,node=loop/l_mul,hidden@cpu", "neither hidden nor fused");
}

static void test_bodies__paths(void **state)
{
    struct odb_model *model = models_take(bodies_nested());
    struct odb_body_path path;
    assert_true(odb_body_path_parse(model->graph, NULL, "if.then/loop[4]/half.else/n_mul", &path));
    assert_int_equal(path.n, 3);
    assert_int_equal(path.steps[1].turn, 4);
    assert_int_equal(path.steps[2].turn, ODB_ANY_TURN);
    assert_string_equal(path.steps[2].body.attr, "else_branch");
    assert_string_equal(path.last, "n_mul");
    assert_true(odb_body_path_parse(model->graph, NULL, "#1.then/#0/x", &path));
    assert_int_equal(path.n, 2);
    assert_true(odb_body_path_parse(model->graph, NULL, "if/loop/n_mul", &path));
    assert_int_equal(path.n, 0); /* of which branch? */
    assert_true(odb_body_path_parse(model->graph, NULL, "if.then/loop[x]/half", &path));
    assert_int_equal(path.n, 1);
    odb_model_free(model);
}

static void test_bodies__ways(void **state)
{
    static const char way[] = "a[3]\t#7[3]\nb.then\t#2.then";
    int64_t turn;
    bool same;
    assert_string_equal(odb_body_path_below("a[3]/b.then/c", way, &turn, &same), "c");
    assert_true(same);
    assert_int_equal(turn, 3);
    assert_string_equal(odb_body_path_below("#7/b.then/c[1]/d", way, &turn, &same), "c[1]/d");
    assert_true(same);
    assert_string_equal(odb_body_path_below("a[2]/#2.then/c", way, &turn, &same), "c");
    assert_false(same);
    assert_null(odb_body_path_below("a[3]/b.else/c", way, &turn, &same));
    assert_null(odb_body_path_below("a[3]/b.then", way, &turn, &same));
    assert_null(odb_body_path_below("ab/b.then/c", way, &turn, &same));
}

/* A turn's body as a model gives what the reference gives inside. */
static void test_bodies__follow(void **state)
{
    struct odb_model *model = models_take(bodies_loop(4, false));
    struct odb_tensor *x = bodies_ramp(N);
    struct odb_feed feed = {.value = models_value(model, "x"), .tensor = x};
    struct odb_feeds feeds = {&feed, 1, NULL};
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    struct odb_body_case c;
    struct odb_error err = ODB_ERROR_INIT;
    int node;
    MODELS_OK(odb_body_case_follow(&c, &node, model, &feeds, &how, "loop[2]/l_add", &why));
    assert_string_equal(c.model->graph->nodes[node].name, "l_add");
    assert_int_equal(c.feeds->n, 4); /* i, go, s and k; w is a weight */
    assert_int_equal(odb_tensor_i64(c.feeds->items[0].tensor, 0), 2);
    assert_non_null(odb_graph_value(c.model->graph, "w")->init);
    odb_body_case_dispose(&c);
    MODELS_OK(odb_body_case_follow(&c, &node, model, &feeds, &how, "post", &why));
    assert_null(c.model);
    assert_int_equal(odb_body_case_follow(&c, &node, model, &feeds, &how, "loop[4]/l_add", &err),
                     ODB_E_USAGE);
    assert_int_equal(odb_body_case_follow(&c, &node, model, &feeds, &how, "loop/none", &err),
                     ODB_E_USAGE);
    odb_tensor_unref(x);
    odb_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies__loop_fault_at_one_turn),
        cmocka_unit_test(test_bodies__loop_fault_that_shows_a_turn_later),
        cmocka_unit_test(test_bodies__loop_fault_in_what_is_stacked),
        cmocka_unit_test(test_bodies__loop_fault_in_all_turns),
        cmocka_unit_test(test_bodies__loop_ended_by_its_condition),
        cmocka_unit_test(test_bodies__loop_ended_by_its_data),
        cmocka_unit_test(test_bodies__loop_with_a_turn_too_few_or_many),
        cmocka_unit_test(test_bodies__loop_that_spoils_what_it_hands_out),
        cmocka_unit_test(test_bodies__bodies_that_cannot_be_run_clear_nobody),
        cmocka_unit_test(test_bodies__crash_inside),
        cmocka_unit_test(test_bodies__search_by_prefixes_enters_as_well),
        cmocka_unit_test(test_bodies__few_probes),
        cmocka_unit_test(test_bodies__no_enter),
        cmocka_unit_test(test_bodies__if),
        cmocka_unit_test(test_bodies__if_takes_the_wrong_branch),
        cmocka_unit_test(test_bodies__if_goes_by_another_condition),
        cmocka_unit_test(test_bodies__nested),
        cmocka_unit_test(test_bodies__scan),
        cmocka_unit_test(test_bodies__sequence_map),
        cmocka_unit_test(test_bodies__functions),
        cmocka_unit_test(test_bodies__honest_targets_have_none),
        cmocka_unit_test(test_bodies__what_is_captured_is_inherited),
        cmocka_unit_test(test_bodies__hooks),
        cmocka_unit_test(test_bodies__a_budget_is_one_for_all),
        cmocka_unit_test(test_bodies__faults_that_cannot_be_planted),
        cmocka_unit_test(test_bodies__paths),
        cmocka_unit_test(test_bodies__ways),
        cmocka_unit_test(test_bodies__follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
