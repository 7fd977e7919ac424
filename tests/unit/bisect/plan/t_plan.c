/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which way a search goes, and that every way names the planted culprit: batches, suffixes, cuts in
 * order, proofs, targets that refuse a node or too many outputs, faults that looking at hides or
 * causes.
 */
#include "bisect/plan/bisect.h"

#include <math.h>

#include "report/outcome.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "tests/help/survives.h"
#include "model/read/load.h"

struct plan {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_report *report;
    size_t forecasts; /* events */
    double seconds;   /* of the last */
    struct odb_budget budget;
};

static void plan_event(void *payload, const struct odb_search_event *event)
{
    struct plan *p = payload;
    if (event->what != ODB_EVENT_FORECAST)
        return;
    p->forecasts++;
    p->seconds = event->seconds;
    assert_true(event->seconds > 0 && event->loads > 0 && event->text[0]);
}

/* What differs from the defaults. */
struct plan_how {
    enum odb_strategy strategy;
    size_t step;
    uint64_t memory; /* twice that of the values that are read at once */
    size_t compiles; /* models that the target may be given; 0: any number */
    bool prove, strict;
};

static enum odb_status plan_search(struct plan *p, struct odb_builder *b, const char *target,
                                   struct plan_how how, struct odb_error *err)
{
    static const float ramp[8] = {-1.5f, -0.75f, 0.25f, 0.5f, 1.25f, 2.0f, 2.75f, 4.5f};
    *p = (struct plan){.model = models_take(b)};
    p->feed = (struct odb_feed){.value = models_value(p->model, "x"),
                                .tensor = models_f32(1, (int64_t[]){8}, ramp)};
    p->feeds = (struct odb_feeds){&p->feed, 1, NULL};
    struct odb_bisect_options options = {.reference = "cpu",
                                         .target = target,
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .strategy = how.strategy,
                                         .step = how.step,
                                         .prove = how.prove,
                                         .strict = how.strict,
                                         .hooks = {plan_event, NULL, p, &p->budget}};
    p->budget.memory = 4 * how.memory; /* memory_budget.c */
    p->budget.compiles = how.compiles;
    help_find_serve();
    return odb_bisect(&p->report, p->model, &p->feeds, &options, err);
}

static void plan_run(struct plan *p, struct odb_builder *b, const char *target, struct plan_how how)
{
    MODELS_OK(plan_search(p, b, target, how, &why));
}

static void plan_close(struct plan *p)
{
    survives(p->report);
    odb_report_free(p->report);
    odb_tensor_unref(p->feed.tensor);
    odb_model_free(p->model);
}

static const struct odb_culprit *plan_only(const struct plan *p, int node)
{
    assert_int_equal(p->report->culprits.n, 1);
    assert_int_equal(p->report->culprits.items[0].node, node);
    return &p->report->culprits.items[0];
}

/* Loads of all steps of this name; steps: how many there are. */
static size_t plan_loads(const struct plan *p, const char *step, size_t *steps)
{
    size_t loads = 0;
    *steps = 0;
    for (size_t i = 0; i < p->report->steps.n; i++)
        if (!strcmp(p->report->steps.items[i].step, step)) {
            loads += p->report->steps.items[i].loads;
            ++*steps;
        }
    return loads;
}

/* That a step of this name gives these words as its reason. */
static void plan_says(const struct plan *p, const char *step, const char *words)
{
    for (size_t i = 0; i < p->report->steps.n; i++)
        if (!strcmp(p->report->steps.items[i].step, step) &&
            strstr(p->report->steps.items[i].why, words))
            return;
    fail_msg("no step %s because of '%s'", step, words);
}

static void plan_warns(const struct plan *p, const char *words)
{
    for (size_t i = 0; i < p->report->warnings.n; i++)
        if (strstr(p->report->warnings.items[i], words))
            return;
    fail_msg("no warning of '%s'", words);
}

static struct odb_builder *plan_chain(int n)
{
    struct odb_builder *b = models_chain(n);
    odb_build_output(b, "y");
    return b;
}

static void test_plan__every_way_names_the_culprit(void **state)
{
    static const struct plan_how ways[] = {
        {.strategy = ODB_STRATEGY_AUTO},
        {.strategy = ODB_STRATEGY_BLAME},
        {.strategy = ODB_STRATEGY_PROBED, .memory = 300},
        {.strategy = ODB_STRATEGY_PREFIX},
        {.strategy = ODB_STRATEGY_SUFFIX},
        {.strategy = ODB_STRATEGY_LINEAR},
        {.strategy = ODB_STRATEGY_LINEAR, .step = 1},
        {.strategy = ODB_STRATEGY_LINEAR, .step = 1000},
        {.strategy = ODB_STRATEGY_ISOLATED},
        {.strategy = ODB_STRATEGY_EACH},
    };
    for (int node = 0; node < 24; node += 5)
        for (size_t i = 0; i < ODB_COUNT(ways); i++) {
            char target[64];
            struct plan p;
            snprintf(target, sizeof target, "fault:scale,node=n%d,amount=0.01@cpu", node);
            plan_run(&p, plan_chain(24), target, ways[i]);
            assert_true(plan_only(&p, node)->verified);
            assert_int_equal(plan_only(&p, node)->kind, ODB_KIND_INTRODUCED);
            assert_int_equal(plan_only(&p, node)->segment[1], node);
            assert_true(p.forecasts > 0);
            plan_close(&p);
        }
}

/* Loads that halving may take: one for the model, log2 of the nodes, one each for the accused, its
 * inputs, and the rounding. */
static void test_plan__halving_asks_logarithmically(void **state)
{
    static const enum odb_strategy ways[] = {ODB_STRATEGY_PREFIX, ODB_STRATEGY_SUFFIX};
    for (size_t i = 0; i < ODB_COUNT(ways); i++) {
        struct plan p;
        size_t steps;
        plan_run(&p, plan_chain(64), "fault:scale,node=n41,amount=0.01@cpu",
                 (struct plan_how){.strategy = ways[i]});
        plan_only(&p, 41);
        size_t loads = plan_loads(&p, i ? "suffix" : "prefix", &steps);
        assert_int_equal(steps, 1);
        assert_in_range(loads, 5, 9);
        assert_true(p.report->forecast.loads >= p.report->target_loads / 2);
        assert_true(p.report->forecast.loads <= p.report->target_loads * 2);
        plan_close(&p);
    }
}

/* Batches give what one run gives, and hold no more than the budget. */
static void test_plan__batches_keep_to_the_budget(void **state)
{
    for (uint64_t memory = 1; memory < 4000; memory = 4 * memory + 60) {
        struct plan whole, parts;
        size_t steps, held = 0;
        const char *target = "fault:offset,node=n7@fault:scale,node=n17@cpu";
        plan_run(&whole, plan_chain(30), target, (struct plan_how){.strategy = ODB_STRATEGY_BLAME});
        plan_run(&parts, plan_chain(30), target,
                 (struct plan_how){.strategy = ODB_STRATEGY_PROBED, .memory = memory});
        assert_int_equal(whole.report->culprits.n, 2);
        assert_int_equal(parts.report->culprits.n, 2);
        for (size_t c = 0; c < 2; c++) {
            assert_int_equal(parts.report->culprits.items[c].node,
                             whole.report->culprits.items[c].node);
            assert_true(parts.report->culprits.items[c].verified);
        }
        for (size_t v = 0; v < whole.report->n_values; v++) {
            const struct odb_value_report *a = &whole.report->values[v],
                                          *b = &parts.report->values[v];
            assert_int_equal(a->verdict, b->verdict);
            assert_true(a->local_error.known == b->local_error.known &&
                        a->local_error.v == b->local_error.v);
            held += parts.report->given[v] ? parts.report->given[v]->bytes : 0;
        }
        /* beside the budget: the output, and what the two at fault gave and got */
        assert_true(held <= memory + 32 * (1 + 2 + 2 + 1));
        size_t loads = plan_loads(&parts, "probed", &steps);
        assert_true(memory > 2 * 30 * 32 ? loads == 1 : loads > 1);
        plan_close(&parts);
        plan_close(&whole);
    }
}

/* A probed model that cannot be built: smaller batches, and then none. */
static void test_plan__too_many_outputs_are_read_in_parts(void **state)
{
    struct plan p;
    size_t steps;
    plan_run(&p, plan_chain(30), "fault:refuse,node=n0,count=9@fault:scale,node=n17@cpu",
             (struct plan_how){.strategy = ODB_STRATEGY_AUTO});
    assert_true(plan_only(&p, 17)->verified);
    plan_says(&p, "probed", "more than 9 outputs");
    assert_int_equal(plan_loads(&p, "probed", &steps), 1);
    assert_true(plan_loads(&p, "taps", &steps) <= 4); /* of 16 and of 4 values, which divide 30 */
    assert_int_equal(plan_loads(&p, "prefix", &steps), 0);
    plan_close(&p);
    plan_run(&p, plan_chain(30), "fault:refuse,node=n0,count=1@fault:scale,node=n17@cpu",
             (struct plan_how){.strategy = ODB_STRATEGY_AUTO});
    assert_true(plan_only(&p, 17)->verified);
    assert_true(plan_loads(&p, "prefix", &steps) >= 4);
    plan_says(&p, "choose", "values cannot be read");
    plan_warns(&p, "nor with fewer at a time");
    plan_close(&p);
    /* of an honest one the outputs agree, which is no verdict on what was not seen */
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(plan_search(&p, plan_chain(30), "fault:refuse,node=n0,count=1@cpu",
                                 (struct plan_how){.strategy = ODB_STRATEGY_AUTO}, &err),
                     ODB_UNSUPPORTED);
    assert_int_equal(p.report->culprits.n, 0);
    assert_false(p.report->outputs_diverge);
    assert_int_equal(odb_report_outcome(p.report), ODB_OUTCOME_NONE);
    assert_non_null(strstr(err.what, "would not be seen"));
    plan_close(&p);
}

/* Where reading everything takes many runs and an output is wrong, prefixes are the shorter way. */
static void test_plan__little_memory_turns_to_prefixes(void **state)
{
    struct plan p;
    size_t steps;
    plan_run(&p, plan_chain(60), "fault:scale,node=n57@cpu",
             (struct plan_how){.strategy = ODB_STRATEGY_AUTO, .memory = 100});
    assert_true(plan_only(&p, 57)->verified);
    plan_says(&p, "choose", "within");
    assert_int_equal(plan_loads(&p, "probed", &steps), 0);
    assert_int_equal(steps, 0);
    plan_close(&p);
}

static void test_plan__earlier_cuts_are_proved_good(void **state)
{
    static const enum odb_strategy ways[] = {ODB_STRATEGY_AUTO, ODB_STRATEGY_PREFIX,
                                             ODB_STRATEGY_SUFFIX};
    for (size_t i = 0; i < ODB_COUNT(ways); i++) {
        struct plan p;
        struct odb_buf said = ODB_BUF_INIT;
        plan_run(&p, plan_chain(30), "fault:scale,node=n17@cpu",
                 (struct plan_how){.strategy = ways[i], .prove = true});
        plan_only(&p, 17);
        assert_true(p.report->proof.tried);
        assert_int_equal(p.report->proof.cuts, 17);
        assert_int_equal(p.report->proof.good, 17);
        assert_int_equal(p.report->proof.counterexample, ODB_NO_NODE);
        assert_true(p.report->culprits.items[0].numbers.local_error.known);
        assert_true(p.report->values[models_value(p.model, "v17")].local_error.known);
        odb_report_proof(p.report, &said);
        assert_string_equal(said.data, "proved: 17 earlier cuts good\n");
        assert_true(p.forecasts >= 2);
        odb_buf_dispose(&said);
        plan_close(&p);
    }
}

/* Nothing was asked, nothing is said. */
static void test_plan__no_culprit_needs_no_proof(void **state)
{
    struct plan p;
    plan_run(&p, plan_chain(12), "cpu", (struct plan_how){.prove = true});
    assert_false(p.report->proof.tried);
    plan_close(&p);
}

/* Halving skips the first of two faults, because what lies between hides it; a proof does not. */
static struct odb_builder *plan_dip(void)
{
    static const char *const ops[] = {"Tanh", "Neg", "Sign", "Exp", "Tanh", "Exp", "Neg"};
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    for (int i = 0; i < (int)ODB_COUNT(ops); i++) {
        char name[16], in[16], out[16];
        snprintf(name, sizeof name, "n%d", i);
        snprintf(in, sizeof in, i ? "v%d" : "x", i - 1);
        snprintf(out, sizeof out, i == 6 ? "y" : "v%d", i);
        odb_build_node(b, ops[i], name, in, out);
    }
    odb_build_output(b, "y");
    return b;
}

static void test_plan__a_proof_finds_what_halving_skipped(void **state)
{
    struct plan p;
    struct odb_buf said = ODB_BUF_INIT;
    const char *target = "fault:scale,node=n1@fault:scale,node=n5@cpu";
    plan_run(&p, plan_dip(), target,
             (struct plan_how){.strategy = ODB_STRATEGY_PREFIX, .prove = true});
    plan_only(&p, 5);
    assert_int_equal(p.report->proof.counterexample, 1);
    assert_int_equal(plan_only(&p, 5)->confidence, ODB_CONFIDENCE_LOW);
    assert_non_null(strstr(plan_only(&p, 5)->text, "the cut behind #1, which stands before it"));
    plan_warns(&p, "the cut behind #1 is bad as well");
    odb_report_proof(p.report, &said);
    assert_non_null(strstr(said.data, "not proved: the cut behind #1 n1 (Neg) is bad as well"));
    odb_buf_dispose(&said);
    plan_close(&p);
    /* in order, the first comes first */
    plan_run(&p, plan_dip(), target,
             (struct plan_how){.strategy = ODB_STRATEGY_LINEAR, .step = 1, .prove = true});
    assert_int_equal(p.report->culprits.n, 2); /* the other shows once that one is pinned */
    assert_int_equal(p.report->culprits.items[0].node, 1);
    assert_int_equal(p.report->culprits.items[1].node, 5);
    assert_int_equal(p.report->proof.good, 1);
    plan_close(&p);
}

static void test_plan__a_crash_is_proved_too(void **state)
{
    struct plan p;
    plan_run(&p, plan_chain(12), "fault:crash,node=n7@cpu", (struct plan_how){.prove = true});
    assert_int_equal(plan_only(&p, 7)->kind, ODB_KIND_CRASH);
    assert_int_equal(p.report->proof.good, 7);
    plan_close(&p);
}

/* What stands before a node that the target lacks is judged, and what is behind it is, fed with the
 * reference's value. */
static void test_plan__all_but_a_refused_node_is_judged(void **state)
{
    static const enum odb_strategy ways[] = {ODB_STRATEGY_AUTO,   ODB_STRATEGY_PREFIX,
                                             ODB_STRATEGY_SUFFIX, ODB_STRATEGY_LINEAR,
                                             ODB_STRATEGY_EACH,   ODB_STRATEGY_ISOLATED};
    for (size_t i = 0; i < 2 * ODB_COUNT(ways); i++) {
        struct plan p;
        char target[100];
        int node = i % 2 ? 20 : 7;
        snprintf(target, sizeof target, "fault:refuse,node=n16@fault:scale,node=n%d@cpu", node);
        plan_run(&p, plan_chain(24), target, (struct plan_how){.strategy = ways[i / 2]});
        assert_true(plan_only(&p, node)->verified);
        const struct odb_value_report *values = p.report->values;
        assert_int_equal(values[models_value(p.model, "v16")].verdict, ODB_VERDICT_UNTESTABLE);
        assert_int_equal(odb_report_outcome(p.report), ODB_OUTCOME_DIVERGES);
        plan_warns(&p, "the target refuses Neg (#16)");
        plan_warns(&p, "in pieces");
        plan_close(&p);
    }
}

/* Without a culprit there is no verdict on the model, but no false one either. */
static void test_plan__a_refusal_without_a_culprit_is_no_verdict(void **state)
{
    struct plan p;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(plan_search(&p, plan_chain(24), "fault:refuse,node=n16@cpu",
                                 (struct plan_how){.strategy = ODB_STRATEGY_AUTO}, &err),
                     ODB_E_EXECUTOR);
    help_has_text(&err, "#16 n16 (Neg)");
    help_has_text(&err, "no kernel for Neg");
    help_has_text(&err, "in pieces: 23 of 24 nodes judged, 1 fed");
    assert_int_equal(p.report->culprits.n, 0);
    assert_int_equal(p.report->values[models_value(p.model, "v15")].verdict, ODB_VERDICT_PASS);
    assert_int_equal(p.report->values[models_value(p.model, "y")].verdict, ODB_VERDICT_PASS);
    assert_int_equal(odb_report_outcome(p.report), ODB_OUTCOME_NONE);
    plan_close(&p);
}

/* An operator is lacked altogether. All ways to search judge the same, and the one that is taken by
 * itself costs few loads: a search for the first of them, three that look alike, one run. */
static void test_plan__an_operator_may_be_lacked(void **state)
{
    static const enum odb_strategy ways[] = {ODB_STRATEGY_AUTO, ODB_STRATEGY_EACH,
                                             ODB_STRATEGY_ISOLATED};
    struct odb_buf target = ODB_BUF_INIT;
    for (int n = 1; n < 48; n += 3)
        odb_buf_printf(&target, "fault:refuse,node=n%d@", n);
    odb_buf_puts(&target, "cpu");
    for (size_t i = 0; i < ODB_COUNT(ways); i++) {
        struct plan p;
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(plan_search(&p, plan_chain(48), odb_buf_text(&target),
                                     (struct plan_how){.strategy = ways[i]}, &err),
                         ODB_E_EXECUTOR);
        assert_int_equal(odb_report_outcome(p.report), ODB_OUTCOME_NONE);
        assert_int_equal(p.report->pieces.judged, 32);
        assert_int_equal(p.report->pieces.fed, 16);
        assert_int_equal(p.report->pieces.left, 0);
        help_has_text(&err, "Neg (16 nodes, of which 4 were asked for: #1, #4, #7, #10, #13 and "
                            "11 more)");
        for (size_t v = 0; v < p.report->n_values; v++) {
            int producer = p.model->graph->values[v].producer;
            if (producer >= 0)
                assert_int_equal(p.report->values[v].verdict,
                                 producer % 3 == 1 ? ODB_VERDICT_UNTESTABLE : ODB_VERDICT_PASS);
        }
        assert_true(i > 0 || p.report->target_loads < 20);
        plan_close(&p);
    }
    odb_buf_dispose(&target);
}

/* Refused with what stands before it, and taken alone: it is judged so, and no operator is lacked.
 */
static void test_plan__what_is_refused_together_is_judged_alone(void **state)
{
    struct plan p;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(plan_search(&p, plan_chain(24), "fault:refuse,node=n9,fused=1@cpu",
                                 (struct plan_how){.strategy = ODB_STRATEGY_AUTO}, &err),
                     ODB_E_EXECUTOR);
    assert_int_equal(p.report->pieces.refused.n, 1);
    assert_int_equal(p.report->pieces.refused.items[0].node, 10);
    assert_int_equal(p.report->pieces.refused.items[0].how, ODB_REFUSED_TOGETHER);
    assert_int_equal(p.report->pieces.judged, 24);
    assert_int_equal(p.report->pieces.fed, 0);
    help_has_text(&err, "Neg (#10, which runs alone)");
    plan_close(&p);
}

/* Whatever refuses each part, nothing is left to judge: that is no verdict, and no pass. */
static void test_plan__every_node_may_be_refused(void **state)
{
    struct plan p;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(plan_search(&p, plan_chain(3),
                                 "fault:refuse,node=n0@fault:refuse,node=n1@"
                                 "fault:refuse,node=n2@cpu",
                                 (struct plan_how){.strategy = ODB_STRATEGY_AUTO}, &err),
                     ODB_E_EXECUTOR);
    assert_int_equal(odb_report_outcome(p.report), ODB_OUTCOME_NONE);
    plan_close(&p);
}

/* What follows a refused node kills the target: that is found there. */
static void test_plan__a_crash_behind_a_refused_node_is_found(void **state)
{
    struct plan p;
    plan_run(&p, plan_chain(24), "fault:refuse,node=n8@fault:crash,node=n17@cpu",
             (struct plan_how){.strategy = ODB_STRATEGY_AUTO});
    assert_int_equal(p.report->culprits.n, 1);
    assert_int_equal(p.report->culprits.items[0].node, 17);
    assert_int_equal(p.report->culprits.items[0].kind, ODB_KIND_CRASH);
    plan_warns(&p, "in pieces");
    plan_close(&p);
}

/* The whole is refused for one node, the smallest prefix for another before it: the words are those
 * of the node that is named. */
static void test_plan__a_refusal_has_its_own_words(void **state)
{
    struct plan p;
    struct odb_error err = ODB_ERROR_INIT;
    char text[1500];
    assert_int_equal(plan_search(&p, plan_chain(24),
                                 "fault:refuse,node=n20@fault:refuse,node=n16@cpu",
                                 (struct plan_how){.strategy = ODB_STRATEGY_AUTO}, &err),
                     ODB_E_EXECUTOR);
    help_has_text(&err, "#16 n16 (Neg)");
    odb_error_text(&err, text, sizeof text);
    assert_non_null(strstr(text, "no kernel for Neg"));
    assert_null(strstr(text, "no kernel for Exp"));
    assert_non_null(strstr(text, "refuses Neg (#16), Exp (#20)"));
    for (size_t i = 0; i < p.report->warnings.n; i++)
        assert_null(strstr(p.report->warnings.items[i], "smallest prefix"));
    plan_close(&p);
}

/* Two cuts before the refused node kill the target, which says nothing: a region is told as one. As
 * a border has to be read, and that kills the target, this is what it dies of. */
static void test_plan__a_refused_region_is_told(void **state)
{
    struct plan p;
    plan_run(&p, plan_chain(24),
             "fault:crash,node=n14,seen@fault:crash,node=n15,seen@fault:refuse,node=n16@cpu",
             (struct plan_how){.strategy = ODB_STRATEGY_AUTO});
    plan_warns(&p, "no testable cut tells 3 nodes from 14 to 16 apart");
    assert_int_equal(p.report->culprits.items[0].kind, ODB_KIND_CRASH);
    assert_in_range(p.report->culprits.items[0].node, 14, 15);
    plan_close(&p);
}

/* What is read while a proof is made does not take the place of what was judged: of unread nodes
 * that are fused, other bits come. */
static void test_plan__a_proof_changes_no_values(void **state)
{
    const char *target = "fault:scale,node=n1,fused=1,amount=3e-7@"
                         "fault:scale,node=n12,amount=0.05@cpu";
    struct plan without, with;
    size_t differ = 0;
    plan_run(&without, plan_chain(20), target, (struct plan_how){.strategy = ODB_STRATEGY_AUTO});
    plan_run(&with, plan_chain(20), target,
             (struct plan_how){.strategy = ODB_STRATEGY_AUTO, .prove = true});
    assert_true(without.report->observer.moved); /* there are other bits to be had */
    assert_true(with.report->proof.tried);
    for (size_t v = 0; v < with.report->n_values; v++) {
        const struct odb_tensor *a = without.report->given[v], *b = with.report->given[v];
        differ += a && !(b && odb_tensor_identical(a, b));
    }
    assert_int_equal(differ, 0);
    plan_close(&without);
    plan_close(&with);
}

/* Nor is it without one where what stands before is wrong, and nobody could be named. */
static void test_plan__wrong_before_a_refusal_is_a_verdict(void **state)
{
    struct plan p;
    plan_run(&p, plan_chain(24), "fault:refuse,node=n16@fault:scale,node=n7,hidden@cpu",
             (struct plan_how){.strategy = ODB_STRATEGY_BLAME});
    assert_int_equal(p.report->culprits.n, 0);
    assert_true(p.report->outputs_diverge);
    plan_close(&p);
}

/* Several, of which the second and third are of one operator, and none stands before another. */
static struct odb_builder *plan_branches(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Tanh", "n0", "x", "a");
    odb_build_node(b, "Sin", "n1", "a", "b");
    odb_build_node(b, "Exp", "n2", "a", "c");
    odb_build_node(b, "Exp", "n3", "b", "d");
    odb_build_node(b, "Neg", "n4", "b", "e");
    odb_build_node(b, "Add", "n5", "c d", "f");
    odb_build_node(b, "Add", "n6", "e f", "y");
    odb_build_output(b, "y");
    return b;
}

static void test_plan__several_nodes_may_be_refused(void **state)
{
    struct plan p;
    plan_run(&p, plan_branches(),
             "fault:refuse,node=n2@fault:refuse,node=n3@fault:scale,node=n4@cpu",
             (struct plan_how){.strategy = ODB_STRATEGY_AUTO});
    assert_true(plan_only(&p, 4)->verified);
    static const char *const refused[] = {"c", "d"};
    for (size_t i = 0; i < ODB_COUNT(refused); i++)
        assert_int_equal(p.report->values[models_value(p.model, refused[i])].verdict,
                         ODB_VERDICT_UNTESTABLE);
    plan_warns(&p, "Exp (2 nodes: #2, #3)");
    plan_warns(&p, "5 of 7 nodes judged, 2 fed");
    plan_close(&p);
}

static void plan_weight(struct odb_builder *b, const char *name, enum odb_dtype dtype, int64_t n,
                        const void *data)
{
    struct odb_tensor *t;
    MODELS_OK(odb_tensor_copy_of(&t, dtype, 1, &n, data, &why));
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* What is small is added to what is large in all places but the last two, which are cut out at the
 * end: sums are within tolerance, whatever is wrong with the small. */
static struct odb_builder *plan_swamped(void)
{
    static const float large[8] = {1e6f, 2e6f, 3e6f, 1e6f, 2e6f, 3e6f, 0, 0};
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    plan_weight(b, "w", ODB_F32, 8, large);
    plan_weight(b, "from", ODB_I64, 1, (int64_t[]){6});
    plan_weight(b, "to", ODB_I64, 1, (int64_t[]){8});
    odb_build_node(b, "Tanh", "n0", "x", "a");
    odb_build_node(b, "Exp", "n1", "a", "b");
    odb_build_node(b, "Mul", "n2", "x w", "c");
    odb_build_node(b, "Sigmoid", "n3", "b", "d");
    odb_build_node(b, "Add", "n4", "c d", "e");
    odb_build_node(b, "Neg", "n5", "a", "f");
    odb_build_node(b, "Add", "n6", "e f", "g");
    odb_build_node(b, "Sin", "n7", "f", "h");
    odb_build_node(b, "Add", "n8", "g h", "i");
    odb_build_node(b, "Slice", "n9", "i from to", "j");
    odb_build_node(b, "Tanh", "n10", "j", "y");
    odb_build_output(b, "y");
    return b;
}

/* Targets that give few values, and run no node alone. The first wrong value is that of the Slice.
 */
static void test_plan__a_carrier_is_not_accused(void **state)
{
    static const char *const targets[] = {"max_outputs=4,cut=no", "max_outputs=3,cut=prefix",
                                          "max_outputs=2,cut=no"};
    (void)state;
    for (size_t t = 0; t < ODB_COUNT(targets); t++)
        for (int node = 1; node <= 3; node += 2) {
            struct plan p;
            char *target =
                odb_xasprintf("fault:scale,node=n%d,amount=0.05,%s@cpu", node, targets[t]);
            plan_run(&p, plan_swamped(), target, (struct plan_how){.strategy = ODB_STRATEGY_AUTO});
            const struct odb_culprit *culprit = plan_only(&p, node);
            assert_int_equal(culprit->segment[0], node);
            assert_int_equal(culprit->segment[1], node);
            plan_close(&p);
            free(target);
        }
}

/* Where nothing but the ends of prefixes is read, it is a region that holds the node. */
static void test_plan__a_carrier_by_prefixes_is_a_region(void **state)
{
    struct plan p;
    (void)state;
    plan_run(&p, plan_swamped(), "fault:scale,node=n1,amount=0.05,taps=final,cut=prefix@cpu",
             (struct plan_how){.strategy = ODB_STRATEGY_AUTO});
    assert_int_equal(p.report->culprits.n, 1);
    const struct odb_culprit *culprit = &p.report->culprits.items[0];
    assert_true(culprit->segment[0] <= 1 && culprit->segment[1] >= 1);
    assert_true(culprit->segment[1] < 9);
    plan_close(&p);
}

/* The fault acts while nobody looks: the region is named that fails unobserved. */
static void test_plan__a_fault_that_hides_is_a_region(void **state)
{
    static const enum odb_strategy ways[] = {ODB_STRATEGY_AUTO, ODB_STRATEGY_PREFIX,
                                             ODB_STRATEGY_SUFFIX};
    static const char *const targets[] = {"fault:scale,node=n7,hidden@cpu",
                                          "fault:scale,node=n7,fused=2@cpu"};
    static const int last[] = {8, 9};
    for (size_t t = 0; t < ODB_COUNT(targets); t++)
        for (size_t i = 0; i < ODB_COUNT(ways); i++) {
            struct plan p;
            plan_run(&p, plan_chain(20), targets[t], (struct plan_how){.strategy = ways[i]});
            const struct odb_culprit *culprit = plan_only(&p, 7);
            assert_int_equal(culprit->segment[0], 7);
            assert_int_equal(culprit->segment[1], last[t]);
            assert_true(culprit->verified);
            assert_true(culprit->kind == ODB_KIND_PROBE_EFFECT || culprit->kind == ODB_KIND_FUSION);
            assert_int_equal(strstr(culprit->text, "but for what may hide") != NULL,
                             ways[i] != ODB_STRATEGY_PREFIX);
            if (i == 0) {
                assert_int_equal(culprit->kind, ODB_KIND_PROBE_EFFECT);
                assert_true(p.report->observer.decides && p.report->observer.moved);
                plan_says(&p, "choose", "reading values changes the answer");
            }
            plan_close(&p);
        }
}

/* Two hide, and the first shows at the output by way of the second alone, which is found first. */
static void test_plan__who_hides_behind_a_later_fault_is_found(void **state)
{
    static const enum odb_strategy ways[] = {ODB_STRATEGY_AUTO, ODB_STRATEGY_SUFFIX};
    for (size_t i = 0; i < ODB_COUNT(ways); i++) {
        struct plan p;
        plan_run(&p, plan_chain(24), "fault:scale,node=n7,hidden@fault:scale,node=n19,hidden@cpu",
                 (struct plan_how){.strategy = ways[i]});
        assert_int_equal(p.report->culprits.n, 2);
        bool found[24] = {false};
        for (size_t c = 0; c < 2; c++)
            found[p.report->culprits.items[c].segment[0]] = true;
        assert_true(found[7] && found[19]);
        assert_int_equal(p.report->pinned_pass, ODB_CONFIRMS);
        plan_close(&p);
    }
}

/* Looking causes it: the node is named, and never as one that is wrong by itself; and as no output
 * shows it, that is a note unless it is to count. */
static void test_plan__a_fault_that_looking_causes_is_called_so(void **state)
{
    struct plan p;
    plan_run(&p, plan_chain(20), "fault:scale,node=n7,seen@cpu",
             (struct plan_how){.strategy = ODB_STRATEGY_AUTO, .strict = true});
    assert_int_equal(plan_only(&p, 7)->kind, ODB_KIND_PROBE_EFFECT);
    assert_false(p.report->outputs_diverge);
    assert_true(p.report->observer.decides);
    assert_int_equal(odb_report_outcome(p.report), ODB_OUTCOME_DIVERGES);
    plan_close(&p);
    plan_run(&p, plan_chain(20), "fault:scale,node=n7,seen@cpu",
             (struct plan_how){.strategy = ODB_STRATEGY_AUTO});
    assert_int_equal(p.report->culprits.n, 0);
    assert_int_equal(odb_report_outcome(p.report), ODB_OUTCOME_PASS);
    assert_true(p.report->notes.n > 0);
    const char *note = p.report->notes.items[p.report->notes.n - 1];
    assert_non_null(strstr(note, "#7 n7 ("));
    assert_non_null(strstr(note, "): probe-effect, not verified: its output "));
    assert_non_null(strstr(note, "; --strict counts it"));
    plan_close(&p);
}

/* Who was not asked alone, as the budget was spent, is no more accused than who was and passed. */
static void test_plan__a_budget_that_ends_before_the_checks_accuses_nobody(void **state)
{
    for (size_t models = 2; models <= 4; models++) {
        struct odb_error why = ODB_ERROR_INIT;
        struct plan p;
        assert_int_equal(plan_search(&p, plan_chain(20), "fault:scale,node=n7,seen@cpu",
                                     (struct plan_how){.compiles = models}, &why),
                         ODB_CANCELLED);
        assert_int_equal(p.report->culprits.n, 0);
        assert_int_equal(odb_report_outcome(p.report), ODB_OUTCOME_NONE);
        assert_true(p.report->notes.n > 0);
        assert_non_null(strstr(p.report->notes.items[p.report->notes.n - 1], "#7 n7 ("));
        plan_close(&p);
    }
}

/* What is masked is no less real, whoever looks. */
static void test_plan__a_masked_fault_is_not_taken_for_one(void **state)
{
    struct plan p;
    plan_run(&p, plan_dip(), "fault:scale,node=n1@cpu",
             (struct plan_how){.strategy = ODB_STRATEGY_AUTO});
    assert_int_equal(plan_only(&p, 1)->kind, ODB_KIND_INTRODUCED);
    assert_true(plan_only(&p, 1)->verified);
    assert_false(plan_only(&p, 1)->reaches_output);
    assert_int_equal(odb_report_outcome(p.report), ODB_OUTCOME_DIVERGES);
    plan_close(&p);
}

/* The CPU reference computes the same bits, whoever looks: that is no observer effect. */
static void test_plan__bits_that_stay_are_not_marked(void **state)
{
    struct plan p;
    plan_run(&p, plan_chain(20), "fault:scale,node=n7@cpu",
             (struct plan_how){.strategy = ODB_STRATEGY_AUTO});
    plan_only(&p, 7);
    assert_true(p.report->observer.looked);
    assert_false(p.report->observer.moved);
    plan_close(&p);
}

/* Three values that cannot be read, one after another: the region begins with the culprit and ends
 * where something can be read, and nothing is said of how its nodes are alone. */
static void test_plan__values_that_cannot_be_read_leave_a_region(void **state)
{
    static const enum odb_strategy ways[] = {ODB_STRATEGY_AUTO, ODB_STRATEGY_PREFIX,
                                             ODB_STRATEGY_SUFFIX};
    for (int node = 6; node < 9; node++)
        for (size_t i = 0; i < ODB_COUNT(ways); i++) {
            char target[200];
            struct plan p;
            snprintf(target, sizeof target,
                     "fault:refuse,node=n6,seen@fault:refuse,node=n7,seen@"
                     "fault:refuse,node=n8,seen@fault:scale,node=n%d,amount=0.01@cpu",
                     node);
            plan_run(&p, plan_chain(20), target, (struct plan_how){.strategy = ways[i]});
            const struct odb_culprit *culprit = plan_only(&p, node);
            assert_int_equal(culprit->segment[0], node);
            assert_true(culprit->segment[1] <= 11); /* which reads v6 as well */
            assert_int_equal(culprit->kind, ODB_KIND_INTRODUCED);
            assert_null(strstr(culprit->text, "fine one by one"));
            plan_close(&p);
        }
}

/* How many elements there are is decided on the way; whatever is cut off behind that has a shape
 * that no declaration gives. */
static struct odb_builder *plan_dynamic(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Relu", "n0", "x", "a");
    odb_build_node(b, "NonZero", "n1", "a", "i");
    odb_build_node(b, "Cast", "n2", "i", "f");
    odb_build_attr_int(b, "to", 1);
    odb_build_node(b, "Sin", "n3", "f", "g");
    odb_build_node(b, "Exp", "n4", "g", "h");
    odb_build_node(b, "Tanh", "n5", "h", "y");
    odb_build_output(b, "y");
    return b;
}

/* Of several ends that were asked for at once, nobody knows which one makes the target crash. */
static void test_plan__neighbours_of_a_crash_are_not_off(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Abs", "trunk", "x", "v");
    for (int i = 0; i < 5; i++) { /* side by side, then all of them added */
        char name[16], out[16];
        snprintf(name, sizeof name, "n%d", i);
        snprintf(out, sizeof out, "v%d", i);
        odb_build_node(b, "Neg", name, "x", out);
    }
    odb_build_node(b, "Sum", "sum", "v v0 v1 v2 v3 v4", "y");
    odb_build_output(b, "y");
    struct plan p;
    plan_run(&p, b, "fault:crash,node=n2@cpu", (struct plan_how){.strategy = ODB_STRATEGY_AUTO});
    const struct odb_graph *graph = p.model->graph;
    assert_int_equal(p.report->culprits.n, 1);
    assert_string_equal(graph->nodes[p.report->culprits.items[0].node].name, "n2");
    for (size_t v = 0; v < graph->n_values; v++)
        assert_int_equal(p.report->values[v].verdict == ODB_VERDICT_CRASH,
                         !strcmp(graph->values[v].name, "v2"));
    plan_close(&p);
}

/* What a target likes to take away: copies, and what weights alone make. */
static struct odb_builder *plan_removable(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    const float half = 0.5f;
    struct odb_tensor *w = models_f32(0, NULL, &half);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_weight(b, "w", w);
    odb_build_node(b, "Identity", "n0", "x", "a");
    odb_build_node(b, "Neg", "n1", "w", "u");
    odb_build_node(b, "Exp", "n2", "u", "v");
    odb_build_node(b, "Tanh", "n3", "a", "c");
    odb_build_node(b, "Identity", "n4", "c", "d");
    odb_build_node(b, "Mul", "n5", "d v", "e");
    odb_build_node(b, "Identity", "n6", "e", "f");
    odb_build_node(b, "Exp", "n7", "f", "y");
    odb_build_output(b, "y");
    odb_tensor_unref(w);
    return b;
}

static void plan_all_ways(struct odb_builder *(*build)(void), const char *target, int node)
{
    static const enum odb_strategy ways[] = {
        ODB_STRATEGY_AUTO,   ODB_STRATEGY_PROBED,   ODB_STRATEGY_PREFIX, ODB_STRATEGY_SUFFIX,
        ODB_STRATEGY_LINEAR, ODB_STRATEGY_ISOLATED, ODB_STRATEGY_EACH};
    for (size_t i = 0; i < ODB_COUNT(ways); i++) {
        struct plan p;
        plan_run(&p, build(), target, (struct plan_how){.strategy = ways[i], .memory = 100});
        if (node == ODB_NO_NODE)
            assert_int_equal(p.report->culprits.n, 0);
        else
            assert_true(plan_only(&p, node)->verified);
        plan_close(&p);
    }
}

static void test_plan__shapes_that_data_decide_are_cut_as_well(void **state)
{
    static const int nodes[] = {3, 4, 5};
    plan_all_ways(plan_dynamic, "cpu", ODB_NO_NODE);
    for (size_t i = 0; i < ODB_COUNT(nodes); i++) {
        char target[64];
        snprintf(target, sizeof target, "fault:scale,node=n%d,amount=0.01@cpu", nodes[i]);
        plan_all_ways(plan_dynamic, target, nodes[i]);
    }
}

static void test_plan__copies_and_constants_may_be_taken_away(void **state)
{
    static const int nodes[] = {0, 2, 3, 4, 6};
    help_find_serve();
    if (!help_has_ort())
        skip();
    plan_all_ways(plan_removable, "ort", ODB_NO_NODE);
    for (size_t i = 0; i < ODB_COUNT(nodes); i++) {
        char target[64];
        snprintf(target, sizeof target, "fault:scale,node=n%d,amount=0.01@ort", nodes[i]);
        plan_all_ways(plan_removable, target, nodes[i]);
    }
}

/* That a target has the reference's bits says that it is the same code where there are many values,
 * and it took the model whole. */
static void test_plan__the_same_code_is_asked_after_for_whole_models(void **state)
{
    static const struct {
        int n;
        const char *target;
        bool asked;
    } cases[] = {{6, "fault:scale,node=n0,amount=0@cpu", false},
                 {60, "fault:scale,node=n0,amount=0@cpu", true},
                 {60, "fault:refuse,node=n50@cpu", false}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct plan p;
        struct odb_error err = ODB_ERROR_INIT;
        bool asked = false;
        const struct plan_how how = {.strategy = ODB_STRATEGY_AUTO};
        enum odb_status status =
            plan_search(&p, plan_chain(cases[i].n), cases[i].target, how, &err);
        assert_true(status == ODB_OK || status == ODB_E_EXECUTOR);
        for (size_t w = 0; w < p.report->warnings.n; w++)
            asked |= strstr(p.report->warnings.items[w], "is the target the same code?") != NULL;
        assert_int_equal(asked, cases[i].asked);
        plan_close(&p);
    }
}

static void test_plan__what_is_off_by_no_number_is_said_so(void **state)
{
    struct odb_buf off = ODB_BUF_INIT;
    odb_put_off(ODB_NUMBER(0), ODB_NUMBER(0), &off);
    odb_buf_puts(&off, "; ");
    odb_put_off(ODB_NUMBER(0.5), ODB_NUMBER(0.001), &off);
    assert_string_equal(odb_buf_text(&off), "no finite number, but NaN or infinities stand "
                                            "elsewhere; 0.5 where rounding explains 0.001");
    odb_buf_dispose(&off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan__the_same_code_is_asked_after_for_whole_models),
        cmocka_unit_test(test_plan__what_is_off_by_no_number_is_said_so),
        cmocka_unit_test(test_plan__every_way_names_the_culprit),
        cmocka_unit_test(test_plan__halving_asks_logarithmically),
        cmocka_unit_test(test_plan__batches_keep_to_the_budget),
        cmocka_unit_test(test_plan__too_many_outputs_are_read_in_parts),
        cmocka_unit_test(test_plan__little_memory_turns_to_prefixes),
        cmocka_unit_test(test_plan__earlier_cuts_are_proved_good),
        cmocka_unit_test(test_plan__no_culprit_needs_no_proof),
        cmocka_unit_test(test_plan__a_proof_finds_what_halving_skipped),
        cmocka_unit_test(test_plan__a_crash_is_proved_too),
        cmocka_unit_test(test_plan__all_but_a_refused_node_is_judged),
        cmocka_unit_test(test_plan__an_operator_may_be_lacked),
        cmocka_unit_test(test_plan__what_is_refused_together_is_judged_alone),
        cmocka_unit_test(test_plan__every_node_may_be_refused),
        cmocka_unit_test(test_plan__a_crash_behind_a_refused_node_is_found),
        cmocka_unit_test(test_plan__a_refusal_without_a_culprit_is_no_verdict),
        cmocka_unit_test(test_plan__a_refusal_has_its_own_words),
        cmocka_unit_test(test_plan__a_refused_region_is_told),
        cmocka_unit_test(test_plan__a_proof_changes_no_values),
        cmocka_unit_test(test_plan__wrong_before_a_refusal_is_a_verdict),
        cmocka_unit_test(test_plan__several_nodes_may_be_refused),
        cmocka_unit_test(test_plan__a_carrier_is_not_accused),
        cmocka_unit_test(test_plan__a_carrier_by_prefixes_is_a_region),
        cmocka_unit_test(test_plan__a_fault_that_hides_is_a_region),
        cmocka_unit_test(test_plan__who_hides_behind_a_later_fault_is_found),
        cmocka_unit_test(test_plan__a_fault_that_looking_causes_is_called_so),
        cmocka_unit_test(test_plan__a_budget_that_ends_before_the_checks_accuses_nobody),
        cmocka_unit_test(test_plan__a_masked_fault_is_not_taken_for_one),
        cmocka_unit_test(test_plan__neighbours_of_a_crash_are_not_off),
        cmocka_unit_test(test_plan__values_that_cannot_be_read_leave_a_region),
        cmocka_unit_test(test_plan__shapes_that_data_decide_are_cut_as_well),
        cmocka_unit_test(test_plan__copies_and_constants_may_be_taken_away),
        cmocka_unit_test(test_plan__bits_that_stay_are_not_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
