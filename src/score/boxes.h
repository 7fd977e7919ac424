/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * map, of detectors: the mean average precision as COCO defines it. Detections of a class are taken
 * by score; one is right where it overlaps (intersection over union) a box of that class that none
 * before has taken by at least a threshold. Precision is made to fall never with recall, and read
 * at 101 recalls; the mean is over the thresholds 0.50, 0.55 … 0.95 and over classes that have
 * boxes. Figures are those of COCO's own evaluation to the last digit (check-boxes), so thresholds
 * and recalls are numbers as that makes them, and an overlap of 7/10 may lie below 0.7.
 */
#ifndef ODB_SCORE_BOXES_H
#define ODB_SCORE_BOXES_H

#include "base/mem.h"

#define ODB_BOXES_IOUS 10
#define ODB_BOXES_MOST 100 /* detections of a class that count in a picture */

struct odb_box {
    double at[4]; /* left, top, width, height */
    double score; /* of what is right: 1 */
    long class;
    int64_t picture;            /* id: of equal scores those of the lowest go first, */
    size_t order;               /* and of one picture those that were given first */
    bool crowd;                 /* of what is right: many in one, which no detection has to find */
    bool hit[ODB_BOXES_IOUS];   /* of a detection: right at this threshold, */
    bool aside[ODB_BOXES_IOUS]; /* or it does not count: it lies in a crowd, or is no box and right
                                   nowhere */
};
/* Of one picture. */
struct odb_boxes {
    int64_t picture;
    ODB_VEC(struct odb_box) found; /* owned; by score, the highest first */
    ODB_VEC(struct odb_box) right; /* owned */
};

void odb_boxes_free(struct odb_boxes *boxes); /* NULL is fine */
bool odb_boxes_same(const struct odb_boxes *a, const struct odb_boxes *b);
/* The area that two boxes share over that of both together; over found's own where right is a
 * crowd. */
double odb_boxes_overlap(const struct odb_box *found, const struct odb_box *right);
/* Sorts what was found by score, the highest first; what has no place, an edge that is NaN or
 * infinite, goes. Each learns its picture. */
void odb_boxes_sort(struct odb_boxes *boxes);
/* Of what is sorted all but ODB_BOXES_MOST of each class go. */
void odb_boxes_cap(struct odb_boxes *boxes);
/* Both, and marks what is right of the rest. */
void odb_boxes_match(struct odb_boxes *boxes);
/* Of n pictures, matched; NAN: there is nothing to find. */
double odb_boxes_precision(const struct odb_boxes *const *boxes, size_t n);

#endif
