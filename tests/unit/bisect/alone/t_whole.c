/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Targets that are right wherever a part of the model is asked: outputs that changed places, memory
 * that is used again too early, what takes the whole model, races, and state that is kept. What
 * each of them is called, and that nobody else is.
 */
#include "bisect/plan/bisect.h"
#include "bisect/plan/evidence.h"
#include "bisect/evidence/rank.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "tests/help/survives.h"
#include "model/read/load.h"

#define LAST 35 /* the node that makes the last output */

struct scene {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_report *report;
};

/* x -> two branches of 16 nodes, node by node beside each other (even ones and odd ones), an output
 * at the end of each, and both together in a third. z0 and z1 are all zero, k is a copy. */
static struct odb_builder *scene_branches(void)
{
    static const char *const ops[] = {"Tanh", "Sin", "Exp", "Neg"};
    static const float zeros[16];
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *zero = models_f32(1, (int64_t[]){16}, zeros);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){16});
    odb_build_weight(b, "w", zero);
    for (int i = 0; i < 32; i++) {
        char name[16], in[16], out[16];
        snprintf(name, sizeof name, "n%d", i);
        snprintf(in, sizeof in, i < 2 ? "x" : "v%d", i - 2);
        snprintf(out, sizeof out, i == 30 ? "a" : i == 31 ? "c" : "v%d", i);
        odb_build_node(b, ops[(i / 2 + (i & 1)) % 4], name, in, out);
    }
    odb_build_node(b, "Mul", "n32", "a w", "z0");
    odb_build_node(b, "Mul", "n33", "c w", "z1");
    odb_build_node(b, "Identity", "n34", "v9", "k");
    odb_build_node(b, "Sum", "n35", "a c z0 z1 k", "y");
    odb_build_output(b, "a");
    odb_build_output(b, "c");
    odb_build_output(b, "y");
    odb_tensor_unref(zero);
    return b;
}

static void scene_search_in(struct scene *s, struct odb_builder *b, const char *target,
                            struct odb_bisect_options options)
{
    float ramp[16];
    for (int i = 0; i < 16; i++)
        ramp[i] = -2.0f + 0.27f * (float)i;
    *s = (struct scene){.model = models_take(b)};
    s->feed = (struct odb_feed){.value = models_value(s->model, "x"),
                                .tensor = models_f32(1, (int64_t[]){16}, ramp)};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    options.reference = "cpu";
    options.target = target;
    options.tolerance = ODB_CRITERION_DEFAULT;
    help_find_serve();
    MODELS_OK(odb_bisect(&s->report, s->model, &s->feeds, &options, &why));
}

static void scene_search(struct scene *s, const char *target, struct odb_bisect_options options)
{
    scene_search_in(s, scene_branches(), target, options);
}

static void scene_close(struct scene *s)
{
    survives(s->report);
    odb_report_free(s->report);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
}

/* There is one culprit, of this kind. */
static const struct odb_culprit *scene_only(const struct scene *s, enum odb_diagnosis kind)
{
    const struct odb_culprit *culprit = s->report->culprits.items;
    if (s->report->culprits.n != 1 || culprit->kind != kind)
        fail_msg("%zu culprits, the first %s: %s", s->report->culprits.n,
                 s->report->culprits.n ? odb_diagnosis_name(culprit->kind) : "none",
                 s->report->culprits.n ? culprit->text : "");
    return culprit;
}

static void scene_says(const struct odb_culprit *culprit, const char *words)
{
    if (!strstr(culprit->text, words))
        fail_msg("no '%s' in: %s", words, culprit->text);
}

/* --- only the whole --------------------------------------------------------------------------- */

static void test_whole__what_takes_the_whole_model_is_called_so(void **state)
{
    for (int node = 0; node < 32; node += 5) {
        struct scene s;
        char target[80];
        snprintf(target, sizeof target, "fault:scale,node=n%d,amount=0.05,whole@cpu", node);
        scene_search(&s, target, (struct odb_bisect_options){0});
        const struct odb_culprit *culprit = scene_only(&s, ODB_KIND_WHOLE);
        assert_int_equal(culprit->node, node);
        assert_int_equal(culprit->segment[0], 0);
        assert_int_equal(culprit->segment[1], LAST);
        assert_int_equal(culprit->checks[ODB_CHECK_ALONE], ODB_CONTRADICTS);
        assert_true(culprit->passes.n >= LAST - 1);
        assert_true(s.report->repeats.runs >= 10); /* five at first, and five when in doubt */
        scene_says(culprit, "wrong in the whole model and right alone");
        scene_says(culprit, "The largest known to pass");
        assert_null(strstr(culprit->text, "Unobserved"));
        scene_close(&s);
    }
}

/* Nor is anything "changed by probing" that does not depend on it, however it is searched. */
static void test_whole__probing_is_blamed_only_where_it_decides(void **state)
{
    struct scene s;
    scene_search(&s, "fault:scale,node=n10,whole@cpu", (struct odb_bisect_options){0});
    assert_false(s.report->observer.decides);
    scene_only(&s, ODB_KIND_WHOLE);
    scene_close(&s);
    scene_search(&s, "fault:scale,node=n10,whole,hidden@cpu", (struct odb_bisect_options){0});
    assert_true(s.report->observer.decides);
    scene_only(&s, ODB_KIND_PROBE_EFFECT);
    scene_close(&s);
    scene_search(&s, "fault:scale,node=n10,seen@cpu", (struct odb_bisect_options){.strict = true});
    assert_true(s.report->observer.decides && !s.report->outputs_diverge);
    assert_int_equal(scene_only(&s, ODB_KIND_PROBE_EFFECT)->node, 10);
    scene_close(&s);
}

/* --- whose values they are -------------------------------------------------------------------- */

static void test_whole__outputs_that_changed_places(void **state)
{
    static const char *const pairs[][2] = {{"a", "c"}, {"c", "y"}, {"y", "a"}};
    for (size_t i = 0; i < ODB_COUNT(pairs); i++) {
        struct scene s;
        char target[80], words[80];
        snprintf(target, sizeof target, "fault:exchange,node=%s,from=%s@cpu", pairs[i][0],
                 pairs[i][1]);
        scene_search(&s, target, (struct odb_bisect_options){0});
        const struct odb_culprit *culprit = scene_only(&s, ODB_KIND_EXCHANGED);
        const char *one = s.model->graph->values[culprit->value].name;
        const char *other = s.model->graph->values[culprit->held.of].name;
        assert_true(!strcmp(one, pairs[i][0]) ? !strcmp(other, pairs[i][1])
                                              : !strcmp(other, pairs[i][0]));
        snprintf(words, sizeof words, "utput %s holds the values of output %s, and %s those of %s",
                 one, other, other, one);
        scene_says(culprit, words);
        assert_int_equal(culprit->confidence, ODB_CONFIDENCE_HIGH);
        assert_true(s.report->target_loads <= 4);
        scene_close(&s);
    }
}

/* Behind outputs that changed places, a fault is found as without. */
static void test_whole__an_exchange_hides_no_fault(void **state)
{
    struct scene s;
    scene_search(&s, "fault:exchange,node=a,from=c@fault:scale,node=n34,amount=0.05@cpu",
                 (struct odb_bisect_options){0});
    assert_int_equal(s.report->culprits.n, 2);
    for (size_t c = 0; c < 2; c++) {
        const struct odb_culprit *culprit = &s.report->culprits.items[c];
        assert_true(culprit->kind == ODB_KIND_EXCHANGED ||
                    (culprit->node == 34 && culprit->kind == ODB_KIND_INTRODUCED));
    }
    scene_close(&s);
}

/* What was recorded cannot be asked again, and whose values it holds is seen all the same; one of
 * two may have been written twice, too. What reads them is innocent. */
static void test_whole__recorded_outputs_that_changed_places(void **state)
{
    static const struct {
        const char *value, *from;
        bool both;
    } cases[] = {{"a", "c", true}, {"c", "y", true}, {"a", "c", false}, {"c", "y", false}};
    struct scene s;
    scene_search(&s, "cpu", (struct odb_bisect_options){0});
    size_t n = s.model->graph->n_values;
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        int value = models_value(s.model, cases[i].value);
        int from = models_value(s.model, cases[i].from);
        struct odb_tensor **recorded = odb_xmemdup(s.report->given, n * sizeof *recorded);
        struct scene again = s;
        char words[80];
        recorded[value] = s.report->given[from];
        if (cases[i].both)
            recorded[from] = s.report->given[value];
        MODELS_OK(odb_bisect(&again.report, s.model, &s.feeds,
                             &(struct odb_bisect_options){.reference = "cpu",
                                                          .target = "dump:x.npz",
                                                          .tolerance = ODB_CRITERION_DEFAULT,
                                                          .recorded = recorded},
                             &why));
        const struct odb_culprit *culprit = scene_only(&again, ODB_KIND_EXCHANGED);
        assert_true(culprit->value == value || (cases[i].both && culprit->value == from));
        assert_true(culprit->held.of == from || (cases[i].both && culprit->held.of == value));
        snprintf(words, sizeof words, "utput %s holds the values of output %s",
                 s.model->graph->values[culprit->value].name,
                 s.model->graph->values[culprit->held.of].name);
        scene_says(culprit, words);
        survives(again.report);
        odb_report_free(again.report);
        free(recorded);
    }
    scene_close(&s);
}

/* Inner values as well: who makes wrong ones has them from somewhere. */
static void test_whole__an_accused_value_says_whose_it_is(void **state)
{
    struct scene s, again;
    scene_search(&s, "cpu", (struct odb_bisect_options){0});
    struct odb_tensor **recorded =
        odb_xmemdup(s.report->given, s.model->graph->n_values * sizeof *recorded);
    recorded[models_value(s.model, "v12")] = s.report->given[models_value(s.model, "v7")];
    again = s;
    MODELS_OK(odb_bisect(&again.report, s.model, &s.feeds,
                         &(struct odb_bisect_options){.reference = "cpu",
                                                      .target = "dump:x.npz",
                                                      .tolerance = ODB_CRITERION_DEFAULT,
                                                      .recorded = recorded},
                         &why));
    const struct odb_culprit *culprit = scene_only(&again, ODB_KIND_INTRODUCED);
    assert_int_equal(culprit->node, 12);
    assert_true(culprit->held.known);
    scene_says(culprit, "It holds the values of #7 n7 (");
    survives(again.report);
    odb_report_free(again.report);
    free(recorded);
    scene_close(&s);
}

/* Texts have places to change as numbers have. */
static void test_whole__strings_that_changed_places(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){16});
    odb_build_node(b, "Sin", "n0", "x", "p");
    odb_build_node(b, "Tanh", "n1", "x", "q");
    odb_build_node(b, "Cast", "n2", "p", "s");
    odb_build_attr_int(b, "to", ODB_STRING);
    odb_build_node(b, "Cast", "n3", "q", "t");
    odb_build_attr_int(b, "to", ODB_STRING);
    odb_build_output(b, "s");
    odb_build_output(b, "t");
    struct scene s;
    scene_search_in(&s, b, "fault:exchange,node=s,from=t@cpu", (struct odb_bisect_options){0});
    scene_says(scene_only(&s, ODB_KIND_EXCHANGED),
               "utput s holds the values of output t, and t those of s");
    scene_close(&s);
}

/* Memory of a node in the other branch, which leads to nothing that this one makes. */
static void test_whole__memory_used_again_is_named(void **state)
{
    static const struct {
        int node, from, count;
    } cases[] = {{12, 7, 16}, {7, 12, 16}, {12, 13, 16}, {20, 5, 5}, {5, 20, 6}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct scene s;
        char target[80];
        int low = ODB_MIN(cases[i].node, cases[i].from);
        int high = ODB_MAX(cases[i].node, cases[i].from);
        snprintf(target, sizeof target, "fault:overwrite,node=n%d,from=v%d,count=%d@cpu",
                 cases[i].node, cases[i].from, cases[i].count);
        scene_search(&s, target, (struct odb_bisect_options){0});
        const struct odb_culprit *culprit = scene_only(&s, ODB_KIND_OVERWRITTEN);
        assert_int_equal(culprit->node, cases[i].node);
        assert_int_equal(s.model->graph->values[culprit->held.of].producer, cases[i].from);
        assert_int_equal(culprit->held.n, cases[i].count);
        assert_int_equal(culprit->segment[0], low);
        assert_int_equal(culprit->segment[1], high);
        assert_true(culprit->verified);
        assert_int_equal(culprit->checks[ODB_CHECK_PINNED], ODB_CONFIRMS);
        scene_close(&s);
    }
}

/* Constants, zeros, and what the node itself has read are alike without anybody's fault, and so are
 * two or three numbers. */
static void test_whole__luck_is_not_taken_for_it(void **state)
{
    static const char *const targets[] = {
        "fault:overwrite,node=n12,from=z1@cpu",         /* all zero */
        "fault:overwrite,node=n12,from=v10@cpu",        /* what it reads */
        "fault:overwrite,node=n12,from=v7,count=3@cpu", /* too little to tell */
    };
    for (size_t i = 0; i < ODB_COUNT(targets); i++) {
        struct scene s;
        scene_search(&s, targets[i], (struct odb_bisect_options){0});
        const struct odb_culprit *culprit = s.report->culprits.items;
        assert_int_equal(s.report->culprits.n, 1);
        assert_int_equal(culprit->kind, i == 1 ? ODB_KIND_FUSION : ODB_KIND_WHOLE);
        assert_int_equal(culprit->segment[1], i == 0 ? 33 : 12);
        assert_false(culprit->held.known);
        scene_close(&s);
    }
}

/* Nobody may look between the two: then the region has both, though neither leads to the other, and
 * nobody else is accused. */
static void test_whole__a_branch_beside_it_is_found_unobserved(void **state)
{
    static const enum odb_strategy ways[] = {ODB_STRATEGY_AUTO, ODB_STRATEGY_PREFIX};
    for (size_t i = 0; i < ODB_COUNT(ways); i++) {
        struct scene s;
        scene_search(&s, "fault:overwrite,node=n12,from=v7,hidden@cpu",
                     (struct odb_bisect_options){.strategy = ways[i]});
        assert_int_equal(s.report->culprits.n, 1);
        const struct odb_culprit *culprit = s.report->culprits.items;
        assert_int_equal(culprit->kind, i == 0 ? ODB_KIND_PROBE_EFFECT : ODB_KIND_WHOLE);
        assert_true(culprit->verified);
        assert_int_equal(culprit->segment[0], 7); /* read, n12 is right: so it ends behind that */
        assert_true(culprit->segment[1] > 12 && culprit->segment[1] <= 30);
        assert_true(s.report->target_loads <= 40);
        scene_close(&s);
    }
}

/* --- not repeatable --------------------------------------------------------------------------- */

/* One run of three is wrong: whatever the first shows, and the one with every value read. */
static void test_whole__a_race_is_no_effect_of_looking(void **state)
{
    size_t found = 0;
    for (int seed = 1; seed <= 30; seed++) {
        struct scene s;
        char target[80];
        snprintf(target, sizeof target, "fault:scale,node=n12,amount=0.05,rate=0.34,seed=%d@cpu",
                 seed);
        scene_search(&s, target, (struct odb_bisect_options){0});
        found += s.report->culprits.n > 0;
        for (size_t c = 0; c < s.report->culprits.n; c++) {
            const struct odb_culprit *culprit = &s.report->culprits.items[c];
            if (culprit->kind != ODB_KIND_NONDETERMINISTIC)
                fail_msg("seed %d: %s: %s", seed, odb_diagnosis_name(culprit->kind), culprit->text);
            assert_int_equal(culprit->node, 12);
        }
        scene_close(&s);
    }
    assert_true(found >= 27);
}

/* Behind a fault that hides it, no plain run shows that a node races; a question that has two
 * answers does. Then who races is looked for, and no coin is tossed over what stands before it. */
static void test_whole__a_race_that_a_search_meets_is_looked_for(void **state)
{
    static const struct {
        const char *behind;
        int node, seed; /* with which the search does have two answers */
    } cases[] = {{"nan,node=n28", 28, 4}, {"nan,node=n28", 28, 5}, {"nan,node=n28", 28, 6},
                 {"nan,node=n28", 28, 7}, {"inf,node=n26", 26, 4}, {"inf,node=n26", 26, 7}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct scene s;
        char target[120];
        snprintf(target, sizeof target,
                 "fault:%s@fault:scale,node=n10,amount=0.05,rate=0.5,seed=%d@cpu", cases[i].behind,
                 cases[i].seed);
        scene_search(&s, target,
                     (struct odb_bisect_options){
                         .strategy = ODB_STRATEGY_PREFIX, .repeat = 2, .no_explain = true});
        size_t behind = 0, racers = 0;
        for (size_t c = 0; c < s.report->culprits.n; c++) {
            const struct odb_culprit *culprit = &s.report->culprits.items[c];
            behind += culprit->node == cases[i].node && culprit->verified;
            racers += culprit->node == 10 && culprit->kind == ODB_KIND_NONDETERMINISTIC;
        }
        if (behind != 1 || racers != 1 || s.report->culprits.n != 2 || s.report->target_loads > 100)
            fail_msg("%s: %zu culprits, %zu loads", target, s.report->culprits.n,
                     s.report->target_loads);
        scene_close(&s);
    }
}

/* What is wrong behind a node that races is wrong without it as well, and is told. */
static void test_whole__a_race_hides_nobody_behind_it(void **state)
{
    size_t found = 0;
    for (int seed = 1; seed <= 6; seed++) {
        struct scene s;
        char target[120];
        snprintf(target, sizeof target,
                 "fault:scale,node=n20,amount=0.5,fused=2@fault:scale,node=n10,amount=0.05,"
                 "rate=0.5,seed=%d@cpu",
                 seed);
        scene_search(&s, target, (struct odb_bisect_options){0});
        for (size_t c = 0; c < s.report->culprits.n; c++)
            found += s.report->culprits.items[c].segment[0] == 20;
        scene_close(&s);
    }
    assert_int_equal(found, 6);
}

static void test_whole__state_that_is_kept_is_told(void **state)
{
    static const struct {
        const char *target, *words;
    } cases[] = {
        {"fault:scale,node=n12,amount=0.05,after=1@cpu", "is right and all later ones are wrong"},
        {"fault:scale,node=n12,amount=0.05,until=1@cpu", "is wrong and all later ones are right"}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct scene s;
        scene_search(&s, cases[i].target, (struct odb_bisect_options){0});
        const struct odb_culprit *culprit = scene_only(&s, ODB_KIND_NONDETERMINISTIC);
        assert_int_equal(culprit->node, 12);
        assert_true(s.report->repeats.later_alike && s.report->repeats.begins_anew);
        scene_says(culprit, cases[i].words);
        scene_says(culprit, "state is kept between runs");
        scene_close(&s);
    }
    struct scene s;
    scene_search(&s, "fault:scale,node=n12,amount=0.05,every=2@cpu",
                 (struct odb_bisect_options){0});
    assert_true(s.report->repeats.differ && !s.report->repeats.later_alike);
    scene_close(&s);
}

/* That some runs came to their end is no pass. */
static void test_whole__a_target_that_dies_in_some_runs_does_not_pass(void **state)
{
    static const char *const targets[] = {"fault:crash,node=n12,after=1@cpu",
                                          "fault:crash,node=n12,after=3@cpu"};
    for (size_t i = 0; i < ODB_COUNT(targets); i++) {
        struct scene s;
        struct odb_buf line = ODB_BUF_INIT;
        scene_search(&s, targets[i], (struct odb_bisect_options){0});
        odb_report_headline(s.report, &line);
        assert_int_equal(s.report->repeats.died, ODB_VERDICT_CRASH);
        assert_int_equal(odb_report_outcome(s.report), ODB_OUTCOME_DIVERGES);
        assert_non_null(strstr(odb_buf_text(&line), "crashes in some runs of the model"));
        odb_buf_dispose(&line);
        scene_close(&s);
    }
}

/* --- who comes first -------------------------------------------------------------------------- */

static void test_whole__evidence_decides_who_comes_first(void **state)
{
    struct odb_model *model = models_take(scene_branches());
    struct odb_report *report = odb_report_new(model);
    struct odb_prober prober = {0};
    struct search_case c = {.model = model, .graph = model->graph, .prober = &prober};
    struct findings f;
    findings_begin(&f, &c, report);
    const struct odb_culprit found[] = {
        {.node = 2, .kind = ODB_KIND_FUSION, .segment = {2, 30}}, /* wide, and only found */
        {.node = 4, .kind = ODB_KIND_FUSION, .segment = {4, 5}},  /* cleared by who is in it */
        {.node = 6, .kind = ODB_KIND_INTRODUCED, .segment = {6, 6}},
        {.node = 5, .kind = ODB_KIND_INTRODUCED, .segment = {5, 5}, .verified = true},
        {.node = 31, .kind = ODB_KIND_FUSION, .segment = {31, 33}}, /* only found */
        {.node = 27, .kind = ODB_KIND_FUSION, .segment = {27, 28}}, /* before that one */
        {.node = 9, .kind = ODB_KIND_INTRODUCED, .segment = {9, 9}, .verified = true},
        {.node = 9, .kind = ODB_KIND_INTRODUCED, .segment = {9, 9}, .verified = true},
    };
    static const int order[] = {5, 9, 6, 27, 31};
    for (size_t i = 0; i < ODB_COUNT(found); i++)
        odb_push(&report->culprits, found[i]);
    rank_culprits(&f);
    assert_int_equal(report->culprits.n, ODB_COUNT(order));
    for (size_t i = 0; i < ODB_COUNT(order); i++)
        assert_int_equal(report->culprits.items[i].node, order[i]);
    assert_int_equal(report->notes.n, 2); /* that two regions are none */
    findings_dispose(&f);
    odb_report_free(report);
    odb_model_free(model);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole__what_takes_the_whole_model_is_called_so),
        cmocka_unit_test(test_whole__probing_is_blamed_only_where_it_decides),
        cmocka_unit_test(test_whole__outputs_that_changed_places),
        cmocka_unit_test(test_whole__an_exchange_hides_no_fault),
        cmocka_unit_test(test_whole__recorded_outputs_that_changed_places),
        cmocka_unit_test(test_whole__an_accused_value_says_whose_it_is),
        cmocka_unit_test(test_whole__strings_that_changed_places),
        cmocka_unit_test(test_whole__memory_used_again_is_named),
        cmocka_unit_test(test_whole__luck_is_not_taken_for_it),
        cmocka_unit_test(test_whole__a_branch_beside_it_is_found_unobserved),
        cmocka_unit_test(test_whole__a_race_is_no_effect_of_looking),
        cmocka_unit_test(test_whole__a_race_that_a_search_meets_is_looked_for),
        cmocka_unit_test(test_whole__a_race_hides_nobody_behind_it),
        cmocka_unit_test(test_whole__state_that_is_kept_is_told),
        cmocka_unit_test(test_whole__a_target_that_dies_in_some_runs_does_not_pass),
        cmocka_unit_test(test_whole__evidence_decides_who_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
