/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The folder of a repro: what is run for it, and what its files say of each other.
 */
#include "shrink/repro.h"

#include <jansson.h>

#include "probe/body_case.h"
#include "probe/reference_from.h"
#include "reference/trace.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "model/read/load.h"

#define NODES 9

struct scene {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    char *folder, *dir;
};

/* x -> Tanh -> v0 -> Tanh -> v1 … v8, and x -> Neg -> g, which an If reads. */
static void scene_open(struct scene *s)
{
    struct odb_builder *b = odb_build_new("chain", 17);
    const float x[8] = {0.1f, -0.2f, 0.3f, 0.7f, -1.1f, 0.9f, 2, -3};
    char in[16] = "x", out[16] = "";
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Neg", "", "x", "g");
    models_add_if(b, "if", "made");
    for (int i = 0; i < NODES; i++) {
        snprintf(out, sizeof out, "v%d", i);
        odb_build_node(b, "Tanh", out, in, out);
        strcpy(in, out);
    }
    odb_build_output_typed(b, out, ODB_F32, 1, (int64_t[]){8});
    odb_build_output_typed(b, "made", ODB_F32, 1, (int64_t[]){8});
    help_find_serve();
    *s = (struct scene){.model = models_take(b), .folder = models_folder()};
    s->dir = odb_xasprintf("%s/repro", s->folder);
    s->feed = (struct odb_feed){.value = models_value(s->model, "x"),
                                .tensor = models_f32(1, (int64_t[]){8}, x)};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
}

static void scene_close(struct scene *s)
{
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
    models_remove(s->folder);
    free(s->dir);
}

static int scene_node(const struct scene *s, const char *name)
{
    int node;
    MODELS_OK(odb_graph_find_node(s->model->graph, name, &node, &why));
    return node;
}

/* --- what is run ------------------------------------------------------------------------------ */

struct told {
    size_t reference, golden; /* nodes of the longest such run */
};

static void note_phase(void *payload, const struct odb_search_event *event)
{
    struct told *told = payload;
    size_t *most = !strcmp(event->text, "reference") ? &told->reference
                   : !strcmp(event->text, "golden")  ? &told->golden
                                                     : NULL;
    if (event->what == ODB_EVENT_PHASE && most && event->total > *most)
        *most = event->total;
}

static struct told scene_export(const struct scene *s, const char *reference)
{
    struct told told = {0};
    const int at = scene_node(s, "v3");
    const struct odb_repro_options how = {.first = at,
                                          .last = at,
                                          .dir = s->dir,
                                          .reference = reference,
                                          .target = "fault:scale,node=v3,amount=0.2@cpu",
                                          .tolerance = ODB_CRITERION_DEFAULT,
                                          .hooks = {.event = note_phase, .payload = &told}};
    struct odb_repro_result result;
    MODELS_OK(odb_repro_write(&result, s->model, &s->feeds, &how, &why));
    assert_true(result.reproduces);
    return told;
}

/* For a node only what leads to it is run, and golden of the node alone, when the repro is. */
static void test_repro__of_a_node_runs_what_leads_to_it(void **state)
{
    struct scene s;
    scene_open(&s);
    struct told told = scene_export(&s, "cpu");
    assert_int_equal(told.reference, scene_node(&s, "v3") + 1);
    assert_int_equal(told.golden, 1);
    scene_close(&s);
    (void)state;
}

/* Of a body, no further than to what it reads. */
static void test_repro__of_a_body_runs_what_leads_to_it(void **state)
{
    struct scene s;
    struct told told = {0};
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    struct odb_body_case body;
    int node;
    scene_open(&s);
    how.hooks = (struct odb_search_hooks){.event = note_phase, .payload = &told};
    MODELS_OK(odb_body_case_follow(&body, &node, s.model, &s.feeds, &how, "if.then/e", &why));
    assert_string_equal(body.model->graph->nodes[node].op_type, "Exp");
    assert_int_equal(told.reference, 1);
    assert_int_equal(told.golden, 0);
    odb_body_case_dispose(&body);
    scene_close(&s);
    (void)state;
}

/* Whoever gives the reference, a trace up to a value has there what a whole one has, bit for bit,
 * and nothing behind it. */
static void test_repro__a_trace_up_to_a_value_is_the_same(void **state)
{
    static const char *const specs[] = {NULL, "fault:scale,node=v1,amount=0.1@cpu"};
    struct scene s;
    scene_open(&s);
    const int at = models_value(s.model, "v3");
    for (size_t i = 0; i < ODB_COUNT(specs); i++) {
        struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
        struct odb_trace *whole, *part;
        how.reference_from = specs[i];
        how.golden_is_reference = specs[i] != NULL;
        MODELS_OK(odb_reference_make(&whole, s.model, &s.feeds, &how, &why));
        MODELS_OK(odb_reference_up_to(&part, s.model, &s.feeds, &at, 1, &how, &why));
        for (int v = 0; v < 5; v++) {
            char name[16];
            snprintf(name, sizeof name, "v%d", v);
            const int value = models_value(s.model, name);
            assert_true((part->ref[value] != NULL) == (v <= 3));
            if (v <= 3)
                assert_memory_equal(part->ref[value]->data, whole->ref[value]->data,
                                    8 * sizeof(float));
        }
        assert_null(part->ref[models_value(s.model, "g")]);
        odb_trace_free(whole);
        odb_trace_free(part);
    }
    scene_close(&s);
    (void)state;
}

/* --- what its files say ----------------------------------------------------------------------- */

/* The report that the second run made names files as they are in the folder, and not where that was
 * while it was written. */
static void test_repro__its_report_names_its_own_files(void **state)
{
    struct scene s;
    scene_open(&s);
    scene_export(&s, "cpu");
    char *path = odb_xasprintf("%s/report.json", s.dir);
    json_t *report = json_load_file(path, 0, NULL);
    assert_non_null(report);
    const json_t *feed = json_array_get(json_object_get(report, "inputs"), 0);
    const json_t *model = json_object_get(report, "model");
    assert_string_equal(json_string_value(json_object_get(model, "path")), "model.onnx");
    assert_string_equal(json_string_value(json_object_get(feed, "source")),
                        "file test_data_set_0/input_0.pb");
    json_decref(report);
    free(path);
    scene_close(&s);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repro__of_a_node_runs_what_leads_to_it),
        cmocka_unit_test(test_repro__of_a_body_runs_what_leads_to_it),
        cmocka_unit_test(test_repro__a_trace_up_to_a_value_is_the_same),
        cmocka_unit_test(test_repro__its_report_names_its_own_files),
    };
    return cmocka_run_group_tests_name("repro", tests, NULL, NULL);
}
