/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Metrics on outputs whose score can be counted by hand.
 */
#include "score/metric.h"

#include <math.h>

#include "score/boxes.h"
#include "tests/help/models.h"

/* A model with one output y, or with boxes, scores and classes besides, that is never run. */
static struct odb_model *score_model(bool detector)
{
    struct odb_builder *b = odb_build_new("g", 17);
    const char *names[] = {"y", "scores", "classes"};
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    for (size_t i = 0; i < (detector ? 3u : 1u); i++) {
        odb_build_node(b, "Neg", names[i], "x", names[i]);
        odb_build_output_typed(b, names[i], ODB_F32, 1, (int64_t[]){4});
    }
    return models_take(b);
}

static char *score_file(const char *name, const char *text)
{
    char *folder = models_folder(), *path = odb_xasprintf("%s/%s", folder, name);
    MODELS_OK(odb_file_write(path, text, strlen(text), &why));
    free(folder);
    return path;
}

/* One metric, what is right, and the samples that were taken. */
struct scored {
    struct odb_model *model;
    struct odb_metric *metric;
    struct odb_share shares[8];
    size_t n;
    struct odb_feeds feeds;
};

static void scored_begin(struct scored *s, const char *metric, const char *labels)
{
    const struct odb_search_hooks none = {0};
    *s = (struct scored){.model = score_model(!strncmp(metric, "map", 3))};
    MODELS_OK(odb_metric_open(&s->metric, metric, labels, s->model->graph, &none, &why));
}

/* Takes outputs; refs are dropped. reference NULL: the same. */
static void scored_take(struct scored *s, struct odb_tensor *const *outputs,
                        struct odb_tensor *const *reference, size_t n)
{
    const struct odb_metric_sample sample = {.index = s->n,
                                             .source = "image(pictures/cat.jpg,mean=0.5)",
                                             .feeds = &s->feeds,
                                             .outputs = outputs,
                                             .reference = reference ? reference : outputs};
    MODELS_OK(odb_metric_take(s->metric, &sample, &s->shares[s->n], &why));
    s->n++;
    for (size_t i = 0; i < n; i++) {
        if (reference)
            odb_tensor_unref(reference[i]);
        odb_tensor_unref(outputs[i]);
    }
}

static double scored_all(struct scored *s)
{
    size_t picked[ODB_COUNT(s->shares)];
    double score = NAN;
    for (size_t i = 0; i < s->n; i++)
        picked[i] = i;
    MODELS_OK(odb_metric_score(s->metric, s->shares, picked, s->n, &score, &why));
    return score;
}

static void scored_end(struct scored *s, char *file)
{
    for (size_t i = 0; i < s->n; i++)
        odb_share_dispose(&s->shares[i]);
    odb_metric_close(s->metric);
    odb_model_free(s->model);
    if (file) {
        *strrchr(file, '/') = '\0';
        models_remove(file);
    }
}

static struct odb_tensor *ids(size_t n, const int64_t *values)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_copy_of(&t, ODB_I64, 1, (int64_t[]){(int64_t)n}, values, &why));
    return t;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

/* --- classes ---------------------------------------------------------------------------------- */

/* Labels 2, 0 and 1: the second is right alone; in the first two, NaN and equal scores are in the
 * way: of equals the lower class comes first, as in NumPy. */
static void test_metric__classes_by_label(void **state)
{
    struct scored s;
    char *file = score_file("labels.txt", "2\n0\n1\n\n");
    scored_begin(&s, "top1", file);
    scored_take(
        &s, (struct odb_tensor *[]){models_f32(2, (int64_t[]){1, 3}, (float[]){0.1f, 0.5f, 0.5f})},
        NULL, 1);
    scored_take(
        &s, (struct odb_tensor *[]){models_f32(2, (int64_t[]){1, 3}, (float[]){0.9f, NAN, 0.5f})},
        NULL, 1);
    scored_take(
        &s, (struct odb_tensor *[]){models_f32(2, (int64_t[]){1, 3}, (float[]){0.9f, NAN, 0.5f})},
        NULL, 1);
    assert_true(near(scored_all(&s), 1.0 / 3));
    scored_end(&s, file);
}

static void test_metric__the_second_best_counts_for_two(void **state)
{
    struct scored s;
    char *file = score_file("labels.txt", "dog.jpg\t0\ncat.jpg\t2\n");
    scored_begin(&s, "top2:y", file);
    scored_take(
        &s, (struct odb_tensor *[]){models_f32(2, (int64_t[]){1, 3}, (float[]){0.1f, 0.5f, 0.2f})},
        NULL, 1);
    assert_true(near(scored_all(&s), 1));
    scored_end(&s, file);
}

/* Two of the four places of a map of classes have another class than the reference's. */
static void test_metric__places_against_the_reference(void **state)
{
    struct scored s;
    const int64_t dims[] = {1, 2, 2, 2};
    scored_begin(&s, "top1", NULL);
    scored_take(&s, (struct odb_tensor *[]){models_f32(4, dims, (float[]){1, 0, 0, 0, 0, 1, 1, 1})},
                (struct odb_tensor *[]){models_f32(4, dims, (float[]){1, 1, 1, 0, 0, 0, 0, 1})}, 1);
    assert_true(near(scored_all(&s), 0.5));
    scored_end(&s, NULL);
}

static void test_metric__a_lack_of_labels_is_said(void **state)
{
    struct scored s;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_share share;
    char text[500], *file = score_file("labels.txt", "dog.jpg 0\n");
    scored_begin(&s, "top1", file);
    struct odb_tensor *y = models_f32(2, (int64_t[]){1, 2}, (float[]){0, 1});
    const struct odb_metric_sample sample = {
        .source = "image(a/cat.jpg)", .outputs = &y, .reference = &y, .feeds = &s.feeds};
    assert_int_equal(odb_metric_take(s.metric, &sample, &share, &err), ODB_E_INPUT);
    assert_non_null(strstr(odb_error_text(&err, text, sizeof text), "cat.jpg"));
    odb_tensor_unref(y);
    scored_end(&s, file);
}

static void test_metric__what_is_none_is_refused(void **state)
{
    const char *wrong[] = {
        "top",          "top0",        "topx",           "precision",
        "top1:nothing", "top1,axis=x", "map,boxes=none", "wer,vocab=/nonexistent"};
    struct odb_model *model = score_model(true);
    const struct odb_search_hooks none = {0};
    for (size_t i = 0; i < ODB_COUNT(wrong); i++) {
        struct odb_metric *metric;
        struct odb_error err = ODB_ERROR_INIT;
        enum odb_status status =
            odb_metric_open(&metric, wrong[i], NULL, model->graph, &none, &err);
        if (status == ODB_OK)
            fail_msg("%s was taken", wrong[i]);
        assert_null(metric);
    }
    odb_model_free(model);
}

/* --- words ------------------------------------------------------------------------------------ */

/* the cat sat -> the bat sat down: one replaced, one put in, of four. */
static void test_metric__edits_of_words(void **state)
{
    struct scored s;
    char *vocab = score_file("vocab.txt", "<blank>\n\xe2\x96\x81the\n\xe2\x96\x81\x63\nat\n"
                                          "\xe2\x96\x81sat\n");
    char *file = score_file("labels.txt", "the bat sat down\n");
    char *metric = odb_xasprintf("wer,blank=0,vocab=%s", vocab);
    scored_begin(&s, metric, file);
    scored_take(&s, (struct odb_tensor *[]){ids(8, (int64_t[]){0, 1, 1, 0, 2, 3, 4, 4})}, NULL, 1);
    assert_true(near(scored_all(&s), 0.5));
    scored_end(&s, file);
    *strrchr(vocab, '/') = '\0';
    models_remove(vocab);
    free(metric);
}

/* 5 6 7 7 for 5 7 7 8: 6 was put in and 8 left out. Without blank=, equal neighbours are two. */
static void test_metric__edits_of_ids(void **state)
{
    struct scored s;
    scored_begin(&s, "wer", NULL);
    scored_take(&s, (struct odb_tensor *[]){ids(4, (int64_t[]){5, 6, 7, 7})},
                (struct odb_tensor *[]){ids(4, (int64_t[]){5, 7, 7, 8})}, 1);
    assert_true(near(scored_all(&s), 0.5));
    assert_true(odb_metric_better(s.metric, 0.5, 0.25) == 25);
    scored_end(&s, NULL);
}

/* Over four equal logits any token has the probability 1/4; where one has e times the others', it
 * has e / (e + 3). The label -100 is none. */
static void test_metric__perplexity(void **state)
{
    struct scored s;
    char *file = score_file("labels.txt", "3 0 -100\n");
    scored_begin(&s, "perplexity", file);
    scored_take(&s,
                (struct odb_tensor *[]){models_f32(3, (int64_t[]){1, 3, 4},
                                                   (float[]){7, 7, 7, 7, 1, 0, 0, 0, 9, 9, 9, 9})},
                NULL, 1);
    double wanted = exp((log(4) - log(M_E / (M_E + 3))) / 2);
    assert_true(near(scored_all(&s), wanted));
    scored_end(&s, file);
}

/* What is fed at the next place is what a place predicts. */
static void test_metric__perplexity_of_what_is_fed(void **state)
{
    struct scored s;
    struct odb_feed fed = {.tensor = ids(2, (int64_t[]){0, 1})};
    scored_begin(&s, "perplexity", NULL);
    s.feeds = (struct odb_feeds){&fed, 1, NULL};
    scored_take(&s,
                (struct odb_tensor *[]){models_f32(3, (int64_t[]){1, 2, 2}, (float[]){0, 3, 5, 0})},
                NULL, 1);
    assert_true(near(scored_all(&s), 1 + exp(-3)));
    odb_tensor_unref(fed.tensor);
    scored_end(&s, NULL);
}

/* A tenth of the signal is off: 20 dB. */
static void test_metric__signal_over_noise(void **state)
{
    struct scored s;
    const int64_t dims[] = {2};
    scored_begin(&s, "snr", NULL);
    scored_take(&s, (struct odb_tensor *[]){models_f32(1, dims, (float[]){0.5f, 8})},
                (struct odb_tensor *[]){models_f32(1, dims, (float[]){1.25f, 8.25f})}, 1);
    double energy = 1.25 * 1.25 + 8.25 * 8.25, off = 0.75 * 0.75 + 0.25 * 0.25;
    assert_true(near(scored_all(&s), 10 * log10(energy / off)));
    assert_true(odb_metric_better(s.metric, INFINITY, INFINITY) == 0);
    scored_end(&s, NULL);
}

/* --- boxes ------------------------------------------------------------------------------------ */

/* Of two boxes of a class the best detection finds one, the second none, the third the other: the
 * precision is 1 up to half of them, and 2/3 beyond. A second class has none, and its detection no
 * say. A crowd has not to be found, and what lies in it is no error. */
static void test_metric__precision_of_boxes(void **state)
{
    struct scored s;
    char *file = score_file(
        "coco.json",
        "{\"images\": [{\"id\": 7, \"file_name\": \"cat.jpg\", \"width\": 100, \"height\": 50}],"
        " \"categories\": [{\"id\": 3}, {\"id\": 9}],"
        " \"annotations\": ["
        "{\"image_id\": 7, \"category_id\": 9, \"bbox\": [10, 10, 20, 20]},"
        "{\"image_id\": 7, \"category_id\": 9, \"bbox\": [60, 10, 10, 30]},"
        "{\"image_id\": 7, \"category_id\": 9, \"bbox\": [0, 40, 100, 10], \"iscrowd\": 1},"
        "{\"image_id\": 8, \"category_id\": 9, \"bbox\": [0, 0, 1, 1]}]}");
    scored_begin(&s, "map,boxes=y,scores=scores,classes=classes,unit", file);
    struct odb_tensor *outputs[] = {
        models_f32(3, (int64_t[]){1, 5, 4},
                   (float[]){0.1f, 0.2f, 0.3f, 0.6f, 0.4f, 0.2f, 0.5f, 0.6f, 0.6f, 0.2f,
                             0.7f, 0.8f, 0.1f, 0.2f, 0.3f, 0.6f, 0.2f, 0.8f, 0.4f, 1}),
        models_f32(2, (int64_t[]){1, 5}, (float[]){0.9f, 0.8f, 0.7f, 0.95f, 0.99f}),
        models_f32(2, (int64_t[]){1, 5}, (float[]){1, 1, 1, 0, 1})};
    scored_take(&s, outputs, NULL, 3);
    assert_true(near(scored_all(&s), (51 + 50 * 2.0 / 3) / 101));
    scored_end(&s, file);
}

/* A box that is moved by a tenth of its width overlaps by 9/11: right up to 0.80. */
static void test_metric__overlap_has_ten_thresholds(void **state)
{
    struct odb_boxes boxes = {0};
    odb_push(&boxes.right, (struct odb_box){.at = {0, 0, 10, 10}, .score = 1});
    odb_push(&boxes.found, (struct odb_box){.at = {1, 0, 10, 10}, .score = 0.5});
    odb_boxes_match(&boxes);
    const struct odb_boxes *one = &boxes;
    assert_true(near(odb_boxes_precision(&one, 1), 0.7));
    free(boxes.found.items);
    free(boxes.right.items);
}

/* A corner that is NaN is nowhere, and overlaps nothing; of each class 100 count. */
static void test_metric__what_has_no_place(void **state)
{
    struct odb_boxes boxes = {0};
    odb_push(&boxes.right, (struct odb_box){.at = {0, 0, 10, 10}, .score = 1});
    odb_push(&boxes.found, (struct odb_box){.at = {NAN, 0, 10, 10}, .score = 0.9});
    for (size_t i = 0; i < 150; i++)
        odb_push(&boxes.found, (struct odb_box){.at = {0, 0, 1, 1}, .score = 0.8, .class = 5});
    odb_push(&boxes.found, (struct odb_box){.at = {0, 0, 10, 10}, .score = 0.1});
    odb_boxes_match(&boxes);
    const struct odb_boxes *one = &boxes;
    assert_int_equal(boxes.found.n, 101);
    assert_true(near(odb_boxes_precision(&one, 1), 1));
    free(boxes.found.items);
    free(boxes.right.items);
}

/* The four ways to say one box, of the reference's own that are sure. */
static void test_metric__formats_of_boxes(void **state)
{
    const struct {
        const char *metric;
        float box[6];
    } rows[] = {{"map", {10, 20, 40, 60, 0.9f, 2}},
                {"map,format=xywh", {10, 20, 30, 40, 0.9f, 2}},
                {"map,format=cxcywh", {25, 40, 30, 40, 0.9f, 2}},
                {"map,format=yxyx", {20, 10, 60, 40, 0.9f, 2}}};
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct scored s;
        scored_begin(&s, rows[i].metric, NULL);
        struct odb_tensor *y = models_f32(2, (int64_t[]){1, 6}, rows[i].box);
        scored_take(&s, &y, NULL, 1);
        assert_true(near(s.shares[0].boxes->found.items[0].at[0], 10));
        assert_true(near(s.shares[0].boxes->found.items[0].at[3], 40));
        assert_true(near(scored_all(&s), 1));
        scored_end(&s, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metric__classes_by_label),
        cmocka_unit_test(test_metric__the_second_best_counts_for_two),
        cmocka_unit_test(test_metric__places_against_the_reference),
        cmocka_unit_test(test_metric__a_lack_of_labels_is_said),
        cmocka_unit_test(test_metric__what_is_none_is_refused),
        cmocka_unit_test(test_metric__edits_of_words),
        cmocka_unit_test(test_metric__edits_of_ids),
        cmocka_unit_test(test_metric__perplexity),
        cmocka_unit_test(test_metric__perplexity_of_what_is_fed),
        cmocka_unit_test(test_metric__signal_over_noise),
        cmocka_unit_test(test_metric__precision_of_boxes),
        cmocka_unit_test(test_metric__overlap_has_ten_thresholds),
        cmocka_unit_test(test_metric__what_has_no_place),
        cmocka_unit_test(test_metric__formats_of_boxes),
    };
    return cmocka_run_group_tests_name("metric", tests, NULL, NULL);
}
