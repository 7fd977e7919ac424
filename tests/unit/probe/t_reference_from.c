/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A reference that is another executor's: who is believed, who is accused, and what is noise. The
 * spec "cpu,threads=1" is no precision of the reference, so it is asked as any executor is.
 */
#include <math.h>

#include "probe/run_values.h"
#include "inputs/inputs.h"
#include "bisect/plan/bisect.h"
#include "reference/trace.h"
#include "report/outcome.h"
#include "tensor/format/npz.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "tests/help/survives.h"
#include "model/read/load.h"

#define ASKED "cpu,threads=1"
#define FAULT(node) "fault:scale,node=" node ",amount=0.01@" ASKED
#define NODES 6

struct scene {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_report *report;
    char *dir;
};

/* x -> MatMul w -> v0 -> Tanh -> v1 -> MatMul w -> ... -> v5; custom: the node of v3 is one that
 * nobody knows. */
static void scene_open(struct scene *s, bool custom)
{
    struct odb_builder *b = odb_build_new("chain", 17);
    float w[16], x[8];
    char in[16], out[16] = "x";
    for (int i = 0; i < 16; i++)
        w[i] = (float)((i * 7 + 3) % 11) / 7 - 0.6f;
    for (int i = 0; i < 8; i++)
        x[i] = (float)(i - 3) / 3;
    struct odb_tensor *weight = models_f32(2, (int64_t[]){4, 4}, w);
    odb_build_opset(b, "custom", 1);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_weight(b, "w", weight);
    for (int i = 0; i < NODES; i++) {
        snprintf(in, sizeof in, i % 2 ? "%.8s" : "%.8s w", out);
        snprintf(out, sizeof out, "v%d", i);
        odb_build_node(b,
                       custom && i == 3 ? "custom::Thing"
                       : i % 2          ? "Tanh"
                                        : "MatMul",
                       "", in, out);
    }
    odb_build_output_typed(b, out, ODB_F32, 2, (int64_t[]){2, 4});
    odb_tensor_unref(weight);
    help_find_serve();
    *s = (struct scene){.model = models_take(b), .dir = models_folder()};
    s->feed = (struct odb_feed){.value = models_value(s->model, "x"),
                                .tensor = models_f32(2, (int64_t[]){2, 4}, x)};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
}

static void scene_close(struct scene *s)
{
    survives(s->report);
    odb_report_free(s->report);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
    models_remove(s->dir);
}

static enum odb_status scene_try(struct scene *s, const char *reference, const char *golden,
                                 const char *target, enum odb_strategy strategy,
                                 struct odb_error *err)
{
    struct odb_bisect_options options = {.reference = reference,
                                         .golden = golden,
                                         .target = target,
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .strategy = strategy,
                                         .seed = 42};
    odb_report_free(s->report);
    s->report = NULL;
    return odb_bisect(&s->report, s->model, &s->feeds, &options, err);
}

static void scene_search(struct scene *s, const char *reference, const char *target)
{
    MODELS_OK(scene_try(s, reference, NULL, target, ODB_STRATEGY_AUTO, &why));
}

static bool scene_warns(const struct scene *s, const char *words)
{
    for (size_t i = 0; i < s->report->warnings.n; i++)
        if (strstr(s->report->warnings.items[i], words))
            return true;
    return false;
}

static bool scene_notes(const struct scene *s, const char *words)
{
    for (size_t i = 0; i < s->report->notes.n; i++)
        if (strstr(s->report->notes.items[i], words))
            return true;
    return false;
}

/* One culprit, the region from first to last; whose it is. */
static void scene_blames(const struct scene *s, int first, int last, bool of_reference)
{
    assert_int_equal(s->report->culprits.n, 1);
    const struct odb_culprit *culprit = s->report->culprits.items;
    assert_int_equal(culprit->node, last);
    assert_int_equal(culprit->segment[0], first);
    assert_int_equal(culprit->segment[1], last);
    assert_int_equal(culprit->kind, ODB_KIND_INTRODUCED);
    assert_int_equal(culprit->of_reference, of_reference);
    if (of_reference)
        assert_int_equal(culprit->third_opinion, ODB_OPINION_TARGET);
}

/* What spec gives for every n-th value, as an archive; spoilt: one of them made larger. Owned. */
static char *scene_record(const struct scene *s, const char *spec, int every, int spoilt)
{
    int values[NODES];
    char labels[NODES][16];
    const char *names[NODES];
    struct odb_tensor *t[NODES] = {NULL};
    size_t n = 0;
    for (int i = every - 1; i < NODES; i += every) {
        snprintf(labels[n], sizeof labels[n], "v%d", i);
        names[n] = labels[n];
        values[n] = models_value(s->model, labels[n]);
        n++;
    }
    MODELS_OK(odb_run_values(s->model, &s->feeds, spec, values, n, t, NULL, 0, NULL, &why));
    for (size_t i = 0; i < n; i++) {
        struct odb_tensor *own = NULL;
        char name[8];
        snprintf(name, sizeof name, "v%d", spoilt);
        if (strcmp(names[i], name) != 0)
            continue;
        MODELS_OK(odb_tensor_copy_of(&own, t[i]->dtype, t[i]->rank, t[i]->dims, t[i]->data, &why));
        for (size_t k = 0; k < own->count; k++)
            ((float *)own->data)[k] *= 1.01f;
        odb_tensor_unref(t[i]);
        t[i] = own;
    }
    char *path = odb_xasprintf("%s/r.npz", s->dir);
    MODELS_OK(odb_npz_write(path, names, (const struct odb_tensor *const *)t, n, false, &why));
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(t[i]);
    char *dump = odb_xasprintf("dump:%s", path);
    free(path);
    return dump;
}

static void test_reference_from__agree(void **state)
{
    struct scene s;
    scene_open(&s, false);
    scene_search(&s, ASKED, "cpu:noisy");
    assert_int_equal(s.report->culprits.n, 0);
    assert_false(s.report->outputs_diverge);
    assert_string_equal(s.report->golden, ASKED);
    scene_close(&s);
}

static void test_reference_from__target_off(void **state)
{
    struct scene s;
    scene_open(&s, false);
    scene_search(&s, ASKED, FAULT("v2"));
    scene_blames(&s, 2, 2, false);
    assert_true(s.report->culprits.items[0].verified);
    scene_close(&s);
}

static void test_reference_from__reference_off(void **state)
{
    static const enum odb_strategy strategies[] = {ODB_STRATEGY_AUTO, ODB_STRATEGY_PREFIX,
                                                   ODB_STRATEGY_ISOLATED, ODB_STRATEGY_EACH};
    struct scene s;
    scene_open(&s, false);
    for (size_t i = 0; i < ODB_COUNT(strategies); i++) {
        MODELS_OK(scene_try(&s, FAULT("v2"), NULL, "cpu", strategies[i], &why));
        scene_blames(&s, 2, 2, true);
        assert_non_null(strstr(s.report->culprits.items[0].text, "it is the reference ("));
    }
    scene_close(&s);
}

/* They agree with each other, so the CPU's operator is nobody's judge. */
static void test_reference_from__both_off(void **state)
{
    struct scene s;
    scene_open(&s, false);
    scene_search(&s, FAULT("v2"), FAULT("v2"));
    assert_int_equal(s.report->culprits.n, 0);
    assert_true(scene_notes(&s, "the CPU's operator gives something else than target and "
                                "reference, which agree"));
    scene_search(&s, FAULT("v2"), "fault:scale,node=v0,amount=0.01@" FAULT("v2"));
    scene_blames(&s, 0, 0, false);
    char *dump = scene_record(&s, FAULT("v2"), 1, -1);
    scene_search(&s, dump, "fault:scale,node=v4,amount=0.01@" FAULT("v2"));
    scene_blames(&s, 4, 4, false);
    free(dump);
    scene_close(&s);
}

/* What the reference is off by is no noise: no target may be as far off. */
static void test_reference_from__no_excuse(void **state)
{
    struct scene s;
    scene_open(&s, false);
    scene_search(&s, "cpu:f16,threads=1", "cpu");
    assert_true(s.report->outputs_diverge);
    assert_true(s.report->culprits.n > 0);
    for (size_t i = 0; i < s.report->culprits.n; i++)
        assert_true(s.report->culprits.items[i].of_reference);
    scene_search(&s, "fault:scale,node=v2,amount=0.5@" ASKED, FAULT("v4"));
    assert_int_equal(s.report->culprits.n, 2);
    assert_true(s.report->culprits.items[0].node == 2 && s.report->culprits.items[0].of_reference);
    assert_true(s.report->culprits.items[1].node == 4 && !s.report->culprits.items[1].of_reference);
    scene_close(&s);
}

static void test_reference_from__recorded(void **state)
{
    struct scene s;
    scene_open(&s, false);
    char *dump = scene_record(&s, "cpu", 1, -1);
    scene_search(&s, dump, "cpu:noisy");
    assert_int_equal(s.report->culprits.n, 0);
    scene_search(&s, dump, FAULT("v3"));
    scene_blames(&s, 3, 3, false);
    free(dump);
    dump = scene_record(&s, "cpu", 1, 3);
    scene_search(&s, dump, "cpu");
    scene_blames(&s, 3, 3, true);
    assert_false(s.report->outputs_diverge);
    free(dump);
    scene_close(&s);
}

static void test_reference_from__recorded_in_part(void **state)
{
    struct scene s;
    scene_open(&s, false);
    char *dump = scene_record(&s, FAULT("v2"), 2, -1); /* v1, v3, v5 */
    scene_search(&s, dump, "cpu");
    scene_blames(&s, 2, 3, true);
    assert_non_null(strstr(s.report->culprits.items[0].text, "Model and framework mean"));
    scene_search(&s, dump, FAULT("v4"));
    assert_int_equal(s.report->culprits.n, 2); /* the recording's, and the target's own */
    assert_int_equal(s.report->culprits.items[1].node, 4);
    assert_false(s.report->culprits.items[1].of_reference);
    free(dump);
    scene_close(&s);
}

/* Both recorded: nothing is run at all. */
static void test_reference_from__two_recordings(void **state)
{
    struct scene s, other;
    scene_open(&s, false);
    scene_open(&other, false);
    char *reference = scene_record(&s, "cpu", 1, -1), *target = scene_record(&other, "cpu", 1, 2);
    scene_search(&s, reference, target);
    scene_blames(&s, 2, 2, false);
    scene_search(&s, target, reference);
    scene_blames(&s, 2, 2, true);
    free(reference);
    free(target);
    scene_close(&other);
    scene_close(&s);
}

static void test_reference_from__golden(void **state)
{
    struct scene s;
    scene_open(&s, false);
    char *dump = scene_record(&s, "cpu:f64", 2, -1);
    MODELS_OK(scene_try(&s, "cpu", dump, "cpu:noisy", ODB_STRATEGY_AUTO, &why));
    assert_int_equal(s.report->culprits.n, 0);
    assert_false(s.report->outputs_diverge);
    MODELS_OK(scene_try(&s, "cpu", dump, FAULT("v2"), ODB_STRATEGY_AUTO, &why));
    scene_blames(&s, 2, 2, false);
    free(dump);
    dump = scene_record(&s, FAULT("v2"), 2, -1);
    MODELS_OK(scene_try(&s, "cpu", dump, "cpu", ODB_STRATEGY_AUTO, &why));
    scene_blames(&s, 2, 3, true);
    assert_non_null(strstr(s.report->culprits.items[0].text, "target and golden part"));
    /* golden of the CPU's own, asked for by name, is what errors are measured from */
    MODELS_OK(scene_try(&s, dump, "cpu:f64", "cpu", ODB_STRATEGY_AUTO, &why));
    assert_false(s.report->outputs_diverge);
    free(dump);
    scene_close(&s);
}

/* Recorded values stand in where the CPU has no operator, and what follows is judged. */
static void test_reference_from__stand_in(void **state)
{
    struct scene s, plain;
    struct odb_error err = ODB_ERROR_INIT;
    scene_open(&s, true);
    scene_open(&plain, false);
    char *reference = scene_record(&plain, "cpu", 1, -1);
    assert_int_equal(scene_try(&s, "cpu", NULL, reference, ODB_STRATEGY_AUTO, &err),
                     ODB_UNSUPPORTED);
    scene_search(&s, reference, reference);
    assert_int_equal(s.report->culprits.n, 0);
    assert_int_equal(s.report->n_unsupported, 0);
    struct scene other;
    scene_open(&other, false);
    char *target = scene_record(&other, FAULT("v4"), 1, -1);
    scene_search(&s, reference, target);
    scene_blames(&s, 4, 4, false);
    assert_int_equal(s.report->values[models_value(s.model, "v3")].verdict, ODB_VERDICT_PASS);
    free(target);
    free(reference);
    scene_close(&other);
    scene_close(&plain);
    scene_close(&s);
}

static void test_reference_from__other_types(void **state)
{
    struct scene s;
    scene_open(&s, false);
    int value = models_value(s.model, "v5");
    struct odb_tensor *t = NULL, *wide = NULL;
    MODELS_OK(odb_run_values(s.model, &s.feeds, "cpu", &value, 1, &t, NULL, 0, NULL, &why));
    MODELS_OK(odb_tensor_cast_floats(&wide, t, ODB_F64, &why));
    char *path = odb_xasprintf("%s/wide.npz", s.dir), *dump = odb_xasprintf("dump:%s", path);
    const struct odb_tensor *const tensors[] = {wide, s.feed.tensor};
    MODELS_OK(odb_npz_write(path, (const char *const[]){"v5", "x"}, tensors, 2, false, &why));
    scene_search(&s, dump, "cpu:noisy");
    assert_false(s.report->outputs_diverge);
    assert_true(scene_warns(&s, "1 value of the reference was rounded to the model's type"));
    assert_false(scene_warns(&s, "input x is another one"));
    ((float *)s.feed.tensor->data)[0] += 1;
    scene_search(&s, dump, "cpu");
    assert_true(scene_warns(&s, "input x is another one in the reference's recording"));
    odb_tensor_unref(wide);
    odb_tensor_unref(t);
    free(path);
    free(dump);
    scene_close(&s);
}

static void test_reference_from__errors(void **state)
{
    struct scene s;
    struct odb_error err = ODB_ERROR_INIT;
    scene_open(&s, false);
    assert_int_equal(scene_try(&s, "quantum", NULL, "cpu", ODB_STRATEGY_AUTO, &err), ODB_E_USAGE);
    help_has_text(&err, "there is no executor 'quantum'");
    assert_int_equal(scene_try(&s, "fault:crash,node=v2@cpu", NULL, "cpu", ODB_STRATEGY_AUTO, &err),
                     ODB_E_CRASH);
    help_has_text(&err, "--reference fault:crash,node=v2@cpu: ");
    char *path = odb_xasprintf("%s/empty.npz", s.dir), *dump = odb_xasprintf("dump:%s", path);
    const struct odb_tensor *const tensors[] = {s.feed.tensor};
    MODELS_OK(odb_npz_write(path, (const char *const[]){"stranger"}, tensors, 1, false, &why));
    assert_int_equal(scene_try(&s, dump, NULL, "cpu", ODB_STRATEGY_AUTO, &err), ODB_E_INPUT);
    help_has_text(&err, "holds no value of this model under its name");
    free(path);
    free(dump);
    scene_close(&s);
}

/* What a framework ran, where that says so, and what was exported of it: there, one channel of
 * a weight is 1.2 times too large. */
static void scene_exported(struct scene *s, bool framework)
{
    struct odb_builder *b = odb_build_new("chain", 17);
    float w[3][16], x[8];
    for (int i = 0; i < 8; i++)
        x[i] = (float)(i - 3) / 3;
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
    for (int n = 0; n < 3; n++) {
        static const char *const names[] = {"a.weight", "b.weight", "c.weight"};
        for (int i = 0; i < 16; i++)
            w[n][i] = (float)((i * 7 + 3 + n) % 11) / 7 - 0.6f;
        for (int i = 0; n == 1 && !framework && i < 4; i++)
            w[n][3 * 4 + i] *= 1.2f;
        struct odb_tensor *weight = models_f32(2, (int64_t[]){4, 4}, w[n]);
        odb_build_weight(b, names[n], weight);
        odb_tensor_unref(weight);
    }
    odb_build_node(b, "Tanh", "n0", "x", "v0");
    odb_build_node(b, "Gemm", "n1", "v0 a.weight", "v1");
    odb_build_attr_int(b, "transB", 1);
    odb_build_node(b, "Tanh", "n2", "v1", "v2");
    odb_build_node(b, "Gemm", "n3", "v2 b.weight", "v3");
    odb_build_attr_int(b, "transB", 1);
    odb_build_node(b, "Tanh", "n4", "v3", "v4");
    odb_build_node(b, "Gemm", "n5", "v4 c.weight", "v5");
    odb_build_attr_int(b, "transB", 1);
    odb_build_output(b, "v5");
    help_find_serve();
    *s = (struct scene){.model = models_take(b), .dir = models_folder()};
    s->feed = (struct odb_feed){.value = models_value(s->model, "x"),
                                .tensor = models_f32(2, (int64_t[]){2, 4}, x)};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
}

/* The recording is believed: the node is named in the region between two checkpoints, and its
 * weight. spoilt: so is a recorded value behind it, which the weight does not explain. */
static void test_reference__a_weight_that_was_not_recorded_is_named(void **state)
{
    for (int spoilt = 0; spoilt < 2; spoilt++) {
        struct scene framework, s;
        struct odb_tensor *t[6] = {NULL};
        static const char *const names[] = {
            "v2", "v4", "v5", "parameters/a.weight", "parameters/b.weight", "parameters/c.weight"};
        scene_exported(&framework, true);
        scene_exported(&s, false);
        int values[3];
        for (int i = 0; i < 3; i++)
            values[i] = models_value(framework.model, names[i]);
        MODELS_OK(odb_run_values(framework.model, &framework.feeds, "cpu", values, 3, t, NULL, 0,
                                 NULL, &why));
        for (int i = 3; i < 6; i++)
            t[i] = odb_tensor_ref(odb_graph_value(framework.model->graph, names[i] + 11)->init);
        if (spoilt) /* one that the weight has no part in */
            for (size_t row = 0; row < 2; row++)
                ((float *)t[1]->data)[row * 4] *= 1.05f;
        char *path = odb_xasprintf("%s/torch.npz", s.dir), *spec = odb_xasprintf("dump:%s", path);
        MODELS_OK(odb_npz_write(path, names, (const struct odb_tensor *const *)t, 6, false, &why));
        scene_search(&s, spec, "cpu");
        assert_int_equal(odb_report_outcome(s.report), ODB_OUTCOME_DIVERGES);
        const struct odb_culprit *c = s.report->culprits.items;
        assert_true(s.report->culprits.n >= 1 && c->of_recording);
        assert_string_equal(c->recorded_weight, "b.weight");
        assert_string_equal(c->recorded_off, "channel 3, 1.2 times");
        assert_int_equal(c->weight_explains, !spoilt);
        assert_int_equal(c->segment[0], 3);
        assert_int_equal(c->segment[1], spoilt ? 4 : 3);
        assert_non_null(strstr(c->text, spoilt ? "there is more to it" : "the weight is all"));
        struct odb_buf line = ODB_BUF_INIT;
        odb_report_headline(s.report, &line);
        if (!spoilt)
            assert_string_equal(odb_buf_text(&line),
                                "the exported model differs from the recording at #3 n3 (Gemm); "
                                "its weight b.weight is not the recorded one (channel 3, 1.2 "
                                "times)");
        odb_buf_dispose(&line);
        for (int i = 0; i < 6; i++)
            odb_tensor_unref(t[i]);
        free(spec);
        free(path);
        scene_close(&s);
        scene_close(&framework);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference__a_weight_that_was_not_recorded_is_named),
        cmocka_unit_test(test_reference_from__agree),
        cmocka_unit_test(test_reference_from__target_off),
        cmocka_unit_test(test_reference_from__reference_off),
        cmocka_unit_test(test_reference_from__both_off),
        cmocka_unit_test(test_reference_from__no_excuse),
        cmocka_unit_test(test_reference_from__recorded),
        cmocka_unit_test(test_reference_from__recorded_in_part),
        cmocka_unit_test(test_reference_from__two_recordings),
        cmocka_unit_test(test_reference_from__golden),
        cmocka_unit_test(test_reference_from__stand_in),
        cmocka_unit_test(test_reference_from__other_types),
        cmocka_unit_test(test_reference_from__errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
