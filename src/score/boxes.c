/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "score/boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOXES_RECALLS 101

void odb_boxes_free(struct odb_boxes *boxes)
{
    if (!boxes)
        return;
    free(boxes->found.items);
    free(boxes->right.items);
    free(boxes);
}

bool odb_boxes_same(const struct odb_boxes *a, const struct odb_boxes *b)
{
    if (a->found.n != b->found.n)
        return false;
    for (size_t i = 0; i < a->found.n; i++) {
        const struct odb_box *x = &a->found.items[i], *y = &b->found.items[i];
        if (x->class != y->class || x->score != y->score ||
            memcmp(x->hit, y->hit, sizeof x->hit) != 0)
            return false;
    }
    return true;
}

/* Less than 0: it is no box. */
static double boxes_area(const struct odb_box *box)
{
    return box->at[2] * box->at[3];
}

/* What two boxes share along an axis. */
static double boxes_common(const struct odb_box *a, const struct odb_box *b, int axis)
{
    return fmin(a->at[axis + 2] + a->at[axis], b->at[axis + 2] + b->at[axis]) -
           fmax(a->at[axis], b->at[axis]);
}

double odb_boxes_overlap(const struct odb_box *found, const struct odb_box *right)
{
    double width = boxes_common(found, right, 0), height = boxes_common(found, right, 1);
    double common = width * height, area = boxes_area(found);
    if (!(width > 0 && height > 0))
        return 0;
    return common / (right->crowd ? area : area + boxes_area(right) - common);
}

static int boxes_by_score(const void *a, const void *b)
{
    const struct odb_box *x = a, *y = b;
    if (x->score != y->score)
        return (x->score < y->score) - (x->score > y->score);
    if (x->picture != y->picture)
        return (x->picture > y->picture) - (x->picture < y->picture);
    return (x->order > y->order) - (x->order < y->order);
}

static bool boxes_has_place(const struct odb_box *box)
{
    return isfinite(box->at[0]) && isfinite(box->at[1]) && isfinite(box->at[2]) &&
           isfinite(box->at[3]);
}

void odb_boxes_sort(struct odb_boxes *boxes)
{
    size_t kept = 0;
    for (size_t i = 0; i < boxes->found.n; i++)
        if (boxes_has_place(&boxes->found.items[i])) {
            boxes->found.items[kept] = boxes->found.items[i];
            boxes->found.items[kept].order = kept;
            boxes->found.items[kept].picture = boxes->picture;
            kept++;
        }
    boxes->found.n = kept;
    if (kept)
        qsort(boxes->found.items, kept, sizeof *boxes->found.items, boxes_by_score);
}

void odb_boxes_cap(struct odb_boxes *boxes)
{
    size_t kept = 0;
    for (size_t i = 0; i < boxes->found.n; i++) {
        size_t before = 0;
        for (size_t k = 0; k < kept && before < ODB_BOXES_MOST; k++)
            before += boxes->found.items[k].class == boxes->found.items[i].class;
        if (before < ODB_BOXES_MOST)
            boxes->found.items[kept++] = boxes->found.items[i];
    }
    boxes->found.n = kept;
}

/* 0.5, 0.55 … 0.95 as numpy.linspace() rounds them. */
static double boxes_threshold(size_t t)
{
    double step = (0.95 - 0.5) / (ODB_BOXES_IOUS - 1);
    return t + 1 == ODB_BOXES_IOUS ? 0.95 : step * (double)t + 0.5;
}

/* At one threshold: each detection takes the box that it overlaps most of those that are left. */
static void boxes_match_at(struct odb_boxes *boxes, size_t t, bool *taken)
{
    double threshold = boxes_threshold(t);
    memset(taken, 0, boxes->right.n * sizeof *taken);
    for (size_t i = 0; i < boxes->found.n; i++) {
        struct odb_box *found = &boxes->found.items[i];
        size_t best = SIZE_MAX;
        double most = threshold;
        for (size_t k = 0; k < boxes->right.n; k++) {
            const struct odb_box *right = &boxes->right.items[k];
            if (right->class != found->class || (taken[k] && !right->crowd))
                continue;
            if (best != SIZE_MAX && !boxes->right.items[best].crowd && right->crowd)
                continue;
            double overlap = odb_boxes_overlap(found, right);
            bool instead = best != SIZE_MAX && boxes->right.items[best].crowd && !right->crowd;
            if (overlap < (instead ? threshold : most))
                continue;
            most = overlap;
            best = k;
        }
        found->hit[t] = best != SIZE_MAX && !boxes->right.items[best].crowd;
        found->aside[t] = best != SIZE_MAX ? boxes->right.items[best].crowd : boxes_area(found) < 0;
        if (best != SIZE_MAX)
            taken[best] = true;
    }
}

void odb_boxes_match(struct odb_boxes *boxes)
{
    bool *taken = odb_new_n(bool, boxes->right.n + 1);
    odb_boxes_sort(boxes);
    odb_boxes_cap(boxes);
    for (size_t t = 0; t < ODB_BOXES_IOUS; t++)
        boxes_match_at(boxes, t, taken);
    free(taken);
}

/* Of detections by score: the mean of the highest precision at or beyond each recall. */
static double boxes_average(const struct odb_box *const *found, size_t n, size_t t, size_t right)
{
    double *precision = odb_new_n(double, n + 1), *recall = odb_new_n(double, n + 1), sum = 0;
    size_t hits = 0, seen = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        if (found[i]->aside[t])
            continue;
        hits += found[i]->hit[t];
        recall[seen] = (double)hits / (double)right;
        precision[seen] = (double)hits / (double)(seen + 1);
        seen++;
    }
    for (size_t i = seen; i-- > 1;)
        precision[i - 1] = fmax(precision[i - 1], precision[i]);
    for (size_t r = 0; r < BOXES_RECALLS; r++) {
        while (at < seen && recall[at] < (double)r * (1.0 / (BOXES_RECALLS - 1)))
            at++;
        sum += at < seen ? precision[at] : 0;
    }
    free(precision);
    free(recall);
    return sum / BOXES_RECALLS;
}

static int boxes_pointed(const void *a, const void *b)
{
    const struct odb_box *const *x = a, *const *y = b;
    return (*x)->class != (*y)->class ? ((*x)->class > (*y)->class) - ((*x)->class < (*y)->class)
                                      : boxes_by_score(*x, *y);
}

static int boxes_longs(const void *a, const void *b)
{
    const long *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double odb_boxes_precision(const struct odb_boxes *const *boxes, size_t n)
{
    ODB_VEC(const struct odb_box *) found = {0};
    ODB_VEC(long) right = {0};
    double sum = 0;
    size_t classes = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < boxes[i]->found.n; k++)
            odb_push(&found, &boxes[i]->found.items[k]);
        for (size_t k = 0; k < boxes[i]->right.n; k++)
            if (!boxes[i]->right.items[k].crowd)
                odb_push(&right, boxes[i]->right.items[k].class);
    }
    if (found.n)
        qsort(found.items, found.n, sizeof *found.items, boxes_pointed);
    if (right.n)
        qsort(right.items, right.n, sizeof *right.items, boxes_longs);
    for (size_t k = 0, end; k < right.n; k = end, classes++) {
        for (end = k; end < right.n && right.items[end] == right.items[k];)
            end++;
        while (at < found.n && found.items[at]->class < right.items[k])
            at++;
        size_t stop = at;
        while (stop < found.n && found.items[stop]->class == right.items[k])
            stop++;
        for (size_t t = 0; t < ODB_BOXES_IOUS; t++)
            sum += boxes_average(found.items + at, stop - at, t, end - k) / ODB_BOXES_IOUS;
    }
    free(found.items);
    free(right.items);
    return classes ? sum / (double)classes : NAN;
}
