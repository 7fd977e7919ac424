/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * map: outputs of a detector, and COCO's annotations, as boxes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "executor/spec.h"
#include "score/boxes.h"
#include "score/metric.h"

enum { BOXES, SCORES, CLASSES };

static const struct odb_executor_option detections_options[] = {
    {"boxes", "OUTPUT", NULL, "(..., N, 4), or (..., N, 6) with score and class; else the first",
     false},
    {"scores", "OUTPUT", NULL, "(..., N), or (..., N, classes)", false},
    {"classes", "OUTPUT", NULL, "(..., N)", false},
    {"format", "xyxy|xywh|cxcywh|yxyx", "xyxy", "what the four numbers are", false},
    {"unit", NULL, NULL, "they are shares of the picture's width and height", false},
    {"ids", NULL, NULL, "classes are COCO's ids, and not their order from 0 on", false},
    {"sure", "SCORE", "0.5", "without labels: the reference's own from here on are right", false},
    {"background", "N", NULL, "a class that is none", false},
    {"nms", "IOU", NULL, "of boxes that overlap more, those with lower scores are left out", false},
    {NULL, NULL, NULL, NULL, false},
};

/* The four numbers as a place; width and height are those of the picture, or 1. */
static void detections_place(const struct odb_metric *m, const double four[4], double width,
                             double height, double at[4])
{
    const char *format = odb_spec_option(m->spec, "format");
    double x = four[0], y = four[1], w = four[2], h = four[3];
    if (!format || !strcmp(format, "xyxy")) {
        w -= x, h -= y;
    } else if (!strcmp(format, "cxcywh")) {
        x -= w / 2, y -= h / 2;
    } else if (!strcmp(format, "yxyx")) {
        double top = x;
        x = y, y = top;
        double right = h, bottom = w;
        w = right - x, h = bottom - y;
    }
    at[0] = x * width;
    at[1] = y * height;
    at[2] = w * width;
    at[3] = h * height;
}

static void detections_suppress(const struct odb_metric *m, struct odb_boxes *boxes)
{
    double most = INFINITY;
    size_t kept = 0;
    if (odb_spec_number(m->spec, "nms", &most, NULL) != ODB_OK || isinf(most) || !boxes->found.n)
        return;
    odb_boxes_sort(boxes);
    for (size_t i = 0; i < boxes->found.n; i++) {
        bool keep = true;
        for (size_t k = 0; k < kept && keep; k++)
            keep = boxes->found.items[k].class != boxes->found.items[i].class ||
                   odb_boxes_overlap(&boxes->found.items[k], &boxes->found.items[i]) <= most;
        if (keep)
            boxes->found.items[kept++] = boxes->found.items[i];
    }
    boxes->found.n = kept;
}

/* Columns of an output: (..., N, columns), or (..., N). */
static const struct odb_tensor *detections_end(const struct odb_metric *m,
                                               struct odb_tensor *const *outputs, int end, size_t n,
                                               size_t *columns)
{
    const struct odb_tensor *t = m->ends[end] < 0 ? NULL : outputs[m->ends[end]];
    *columns = 0;
    if (!t || t->kind != ODB_TENSOR || t->dtype == ODB_STRING)
        return NULL;
    *columns = n ? t->count / n : 1;
    return n && t->count % n ? NULL : t;
}

/* The class with the highest score, where there is one for each; but for the background. */
static void detections_score(const struct odb_metric *m, const struct odb_tensor *scores,
                             size_t columns, size_t i, struct odb_box *box)
{
    size_t best = m->k == 0 && columns > 1;
    for (size_t c = best + 1; c < columns; c++)
        if ((long)c != m->k &&
            odb_tensor_f64(scores, i * columns + c) > odb_tensor_f64(scores, i * columns + best))
            best = c;
    box->score = odb_tensor_f64(scores, i * columns + best);
    box->class = (long)best;
}

static enum odb_status detections_read(const struct odb_metric *m,
                                       struct odb_tensor *const *outputs, double width,
                                       double height, struct odb_boxes *into, struct odb_error *err)
{
    const struct odb_tensor *boxes = outputs[m->ends[BOXES]];
    bool one = m->ends[SCORES] < 0;
    size_t columns, per, six = one ? 6 : 4;
    if (!boxes || boxes->kind != ODB_TENSOR || !boxes->rank ||
        boxes->dims[boxes->rank - 1] != (int64_t)six)
        return odb_fail(err, ODB_E_INPUT, "output %s is not (..., N, %zu): boxes%s",
                        m->graph->values[m->graph->outputs[m->ends[BOXES]]].name, six,
                        one ? ", score and class" : "");
    size_t n = boxes->count / six;
    const struct odb_tensor *scores = detections_end(m, outputs, SCORES, n, &columns),
                            *classes = detections_end(m, outputs, CLASSES, n, &per);
    if ((!one && !scores) || (m->ends[CLASSES] >= 0 && (!classes || (n && per != 1))))
        return odb_fail(err, ODB_E_INPUT, "scores or classes are not as many as the %zu boxes", n);
    for (size_t i = 0; i < n; i++) {
        struct odb_box box = {.score = 1};
        double four[4];
        for (size_t k = 0; k < 4; k++)
            four[k] = odb_tensor_f64(boxes, i * six + k);
        detections_place(m, four, width, height, box.at);
        if (one) {
            box.score = odb_tensor_f64(boxes, i * six + 4);
            box.class = lrint(odb_tensor_f64(boxes, i * six + 5));
        } else {
            detections_score(m, scores, columns, i, &box);
        }
        if (classes)
            box.class = (long)odb_tensor_i64(classes, i);
        if (!isnan(box.score) && box.class != m->k)
            odb_push(&into->found, box);
    }
    detections_suppress(m, into);
    return ODB_OK;
}

/* --- what is right ---------------------------------------------------------------------------- */

/* Where a category stands among all, by id. */
static long detections_class(const struct odb_metric *m, json_int_t id)
{
    const json_t *categories = json_object_get(m->labels->coco, "categories");
    long before = 0;
    if (odb_spec_option(m->spec, "ids") || !categories)
        return (long)id;
    for (size_t i = 0; i < json_array_size(categories); i++)
        before += json_integer_value(json_object_get(json_array_get(categories, i), "id")) < id;
    return before;
}

/* What is read of an object; false: it is of another kind there. */
static bool detections_has(const json_t *object, const char *key)
{
    return json_is_integer(json_object_get(object, key));
}

static bool detections_knows(const struct odb_metric *m, json_int_t category)
{
    const json_t *categories = json_object_get(m->labels->coco, "categories");
    for (size_t i = 0; i < json_array_size(categories); i++)
        if (json_integer_value(json_object_get(json_array_get(categories, i), "id")) == category)
            return true;
    return !categories;
}

static bool detections_annotates(const struct odb_metric *m, const json_t *one)
{
    const json_t *bbox = json_object_get(one, "bbox");
    bool numbers = json_array_size(bbox) == 4;
    for (size_t k = 0; k < 4 && numbers; k++)
        numbers = json_is_number(json_array_get(bbox, k));
    return numbers && detections_has(one, "image_id") && detections_has(one, "category_id") &&
           detections_knows(m, json_integer_value(json_object_get(one, "category_id")));
}

/* Ids are whole numbers, and every annotation has a box, an image and a category that is there. */
static enum odb_status detections_check(const struct odb_metric *m, struct odb_error *err)
{
    const char *lists[] = {"images", "categories"};
    const json_t *all = json_object_get(m->labels->coco, "annotations");
    for (size_t l = 0; l < ODB_COUNT(lists); l++) {
        const json_t *list = json_object_get(m->labels->coco, lists[l]);
        for (size_t i = 0; i < json_array_size(list); i++)
            if (!detections_has(json_array_get(list, i), "id")) {
                odb_fail(err, ODB_E_INPUT, "%s %zu has no id that is a whole number", lists[l], i);
                return odb_error_at(err, "%s", m->labels->path);
            }
    }
    for (size_t i = 0; i < json_array_size(all); i++)
        if (!detections_annotates(m, json_array_get(all, i))) {
            odb_fail(err, ODB_E_INPUT,
                     "annotation %zu lacks a bbox of 4 numbers, an image_id, or a category_id that "
                     "is among the categories",
                     i);
            return odb_error_at(err, "%s", m->labels->path);
        }
    return ODB_OK;
}

static void detections_right(const struct odb_metric *m, const json_t *picture,
                             struct odb_boxes *into)
{
    const json_t *all = json_object_get(m->labels->coco, "annotations");
    json_int_t id = json_integer_value(json_object_get(picture, "id"));
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *one = json_array_get(all, i), *bbox = json_object_get(one, "bbox");
        struct odb_box box = {.score = 1};
        if (json_integer_value(json_object_get(one, "image_id")) != id)
            continue;
        for (size_t k = 0; k < 4; k++)
            box.at[k] = json_number_value(json_array_get(bbox, k));
        box.class = detections_class(m, json_integer_value(json_object_get(one, "category_id")));
        const json_t *crowd = json_object_get(one, "iscrowd");
        box.crowd = json_is_true(crowd) || json_number_value(crowd) != 0;
        odb_push(&into->right, box);
    }
}

static enum odb_status detections_open(struct odb_metric *m, struct odb_error *err)
{
    const char *keys[] = {"boxes", "scores", "classes"};
    double nms = 0, sure = 0, background = -1;
    ODB_TRY(odb_spec_number(m->spec, "sure", &sure, err));
    ODB_TRY(odb_spec_number(m->spec, "nms", &nms, err));
    ODB_TRY(odb_spec_whole(m->spec, "background", 0, 1e9, &background, err));
    m->k = (long)background;
    m->ends[BOXES] = 0;
    for (size_t k = 0; k < ODB_COUNT(keys); k++) {
        const char *name = odb_spec_option(m->spec, keys[k]);
        bool found = !name;
        for (size_t o = 0; name && o < m->graph->n_outputs; o++)
            if (!strcmp(m->graph->values[m->graph->outputs[o]].name, name)) {
                m->ends[k] = (int)o;
                found = true;
            }
        if (!found) {
            odb_fail(err, ODB_E_USAGE, "the model has no output '%s'", name);
            return odb_error_remedy(err, "`onnxdbg info MODEL` lists them");
        }
    }
    return m->labels ? detections_check(m, err) : ODB_OK;
}

static enum odb_status detections_take(struct odb_metric *m, const struct odb_metric_sample *sample,
                                       struct odb_share *out, struct odb_error *err)
{
    struct odb_boxes *boxes = out->boxes = odb_new(struct odb_boxes);
    boxes->picture = (int64_t)sample->index;
    double width = 1, height = 1;
    if (m->labels) {
        const json_t *picture = odb_labels_picture(m->labels, sample->index, sample->source);
        if (!picture) {
            odb_fail(err, ODB_E_INPUT, "there is no image for sample %zu, %s", sample->index + 1,
                     sample->source);
            return odb_error_at(err, "%s", m->labels->path);
        }
        if (odb_spec_option(m->spec, "unit")) {
            width = json_number_value(json_object_get(picture, "width"));
            height = json_number_value(json_object_get(picture, "height"));
        }
        boxes->picture = json_integer_value(json_object_get(picture, "id"));
        detections_right(m, picture, boxes);
    } else {
        struct odb_boxes reference = {0};
        double sure = 0.5;
        ODB_TRY(odb_spec_number(m->spec, "sure", &sure, err));
        enum odb_status status = detections_read(m, sample->reference, 1, 1, &reference, err);
        odb_boxes_sort(&reference);
        odb_boxes_cap(&reference);
        for (size_t i = 0; i < reference.found.n && status == ODB_OK; i++)
            if (reference.found.items[i].score >= sure)
                odb_push(&boxes->right, reference.found.items[i]);
        free(reference.found.items);
        ODB_TRY(status);
    }
    ODB_TRY(detections_read(m, sample->outputs, width, height, boxes, err));
    odb_boxes_match(boxes);
    return ODB_OK;
}

static enum odb_status detections_precision(struct odb_metric *m, const struct odb_share *shares,
                                            const size_t *picked, size_t n, double *out,
                                            struct odb_error *err)
{
    const struct odb_boxes **all = odb_new_n(const struct odb_boxes *, n + 1);
    (void)m, (void)err;
    for (size_t i = 0; i < n; i++)
        all[i] = shares[picked[i]].boxes;
    *out = odb_boxes_precision(all, n);
    free(all);
    return ODB_OK;
}

const struct odb_metric_kind odb_metric_map = {
    .name = "map",
    .options = detections_options,
    .help = "mean average precision of boxes, over IoU 0.50 to 0.95, as COCO has it",
    .unit = " %",
    .diff = "points",
    .factor = 100,
    .dear = true,
    .open = detections_open,
    .take = detections_take,
    .score = detections_precision,
};
