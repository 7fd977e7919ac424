/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the target's plain run is given in the place of the user's own file, in every case in which
 * it is not that; and that the report says so.
 */
#include "system/file.h"
#include "bisect/plan/bisect.h"
#include "report/json.h"
#include "reference/trace.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "tests/help/survives.h"
#include "model/read/load.h"

/* x -> first -> Mul by a weight -> y; the first node draws, is a checkpoint, or is neither. */
static struct odb_model *scene_model(const char *folder, const char *first)
{
    static const float numbers[16] = {0.5f, 0.25f};
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *w = models_f32(1, (int64_t[]){16}, numbers);
    struct odb_model *model = NULL;
    struct odb_buf bytes = ODB_BUF_INIT;
    char *path = odb_xasprintf("%s/model.onnx", folder);
    odb_build_opset(b, "my", 1);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){-1, 16});
    odb_build_weight(b, "w", w);
    odb_build_weight(b, "v", w);
    odb_build_node(b, first, "first", "x", "h");
    odb_build_node(b, "Mul", "second", "h w", "k");
    odb_build_node(b, "Mul", "third", "k v", "l");
    odb_build_node(b, "Add", "fourth", "l x", "y");
    odb_build_output(b, "y");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    odb_tensor_unref(w);
    MODELS_OK(odb_file_write(path, bytes.data, bytes.len, &why));
    MODELS_OK(odb_model_open(&model, path, &why));
    odb_buf_dispose(&bytes);
    free(path);
    return model;
}

struct scene {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_trace *trace; /* NULL: the search makes its own */
    struct odb_report *report;
};

static void scene_search(struct scene *s, const char *target, uint64_t memory, bool pinned)
{
    struct odb_budget budget = {.memory = memory};
    struct odb_bisect_options options = {
        .reference = "cpu", .target = target, .tolerance = ODB_CRITERION_DEFAULT};
    s->feed.value = models_value(s->model, "x");
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    MODELS_OK(odb_tensor_new(&s->feed.tensor, ODB_F32, 2, (int64_t[]){3, 16}, &why));
    for (size_t i = 0; i < s->feed.tensor->count; i++)
        ((odb_f32 *)s->feed.tensor->data)[i] = 0.3f + 0.17f * (float)(i % 11);
    options.hooks.budget = &budget;
    help_find_serve();
    if (pinned) {
        struct odb_trace_pin pin = {models_value(s->model, "h"), s->feed.tensor};
        struct odb_trace_options how;
        MODELS_OK(odb_bisect_trace_options(&options, &how, &why));
        how.pins = &pin;
        how.n_pins = 1;
        MODELS_OK(odb_trace_make(&s->trace, s->model, &s->feeds, &how, &why));
        options.trace = s->trace;
    }
    MODELS_OK(odb_bisect(&s->report, s->model, &s->feeds, &options, &why));
}

static void scene_close(struct scene *s)
{
    odb_report_free(s->report);
    odb_trace_free(s->trace);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
}

static void expect_json(const struct odb_report *report, const char *word, const char *text)
{
    struct odb_buf out = ODB_BUF_INIT;
    odb_report_json(report, &out);
    json_t *root = json_loads(odb_buf_text(&out), 0, NULL);
    const json_t *plain = json_object_get(root, "plain_model"), *why;
    assert_non_null(plain);
    why = json_object_get(plain, "why");
    assert_int_equal(json_is_true(json_object_get(plain, "as_is")), word == NULL);
    assert_int_equal(json_array_size(why), word != NULL);
    if (word) {
        assert_string_equal(json_string_value(json_array_get(why, 0)), word);
        assert_string_equal(json_string_value(json_object_get(plain, "text")), text);
    }
    json_decref(root);
    odb_buf_dispose(&out);
}

static void test_instead__every_exception_is_told(void **state)
{
    static const struct {
        const char *first, *target;
        uint64_t memory;
        const char *word, *text;
        bool pinned;
    } rows[] = {
        {"Neg", "cpu", 0, NULL, NULL},
        {"Neg", "cpu,static", 0, "static",
         "its dimensions are fixed, as the target asks for: those of this run's inputs; the file "
         "itself gives the same, bit for bit"},
        {"my::Debug", "cpu", 0, "checkpoints",
         "its checkpoints (Debug nodes), which no runtime knows, are Identity"},
        {"RandomUniformLike", "cpu", 0, "drawn",
         "what #0 first (RandomUniformLike) draws at random is an input, fed with what the "
         "reference drew"},
        {"Neg", "cpu", 0, "pinned", "what was pinned is an input", true},
        {"Neg", "cpu", 512, "pieces",
         "it runs in 3 pieces, for want of memory: what the target would fuse across their "
         "borders is not seen"},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        char *folder = models_folder();
        struct scene s = {.model = scene_model(folder, rows[i].first)};
        scene_search(&s, rows[i].target, rows[i].memory, rows[i].pinned);
        assert_true(s.report->plain_given);
        if (!rows[i].text)
            assert_null(s.report->instead_text);
        else
            assert_string_equal(s.report->instead_text ? s.report->instead_text : "the file",
                                rows[i].text);
        expect_json(s.report, rows[i].word, rows[i].text);
        survives(s.report);
        scene_close(&s);
        models_remove(folder);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instead__every_exception_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
