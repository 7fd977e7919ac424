/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A drawing as boxes and lines with their texts and colours: all that those need who lay it out
 * (layers.c) and who write it (dot.c), and no model. picture.c makes it. Lengths are points, 72 to
 * an inch; y grows upwards.
 */
#ifndef ODB_DRAWING_PICTURE_H
#define ODB_DRAWING_PICTURE_H

#include "base/buf.h"
#include "base/mem.h"
#include "drawing/drawing.h"

enum { ODB_PICTURE_NAME = 32 };

struct odb_picture_point {
    double x, y;
};

/* Colours of a box, in HTML's form, and Graphviz's words for its outline; NULL: as all others. */
struct odb_picture_look {
    const char *fill, *line, *text, *style; /* static */
};

/* Texts are shown safely: no control character but '\n' is in them. */
struct odb_picture_box {
    char name[ODB_PICTURE_NAME]; /* among boxes: "n12", "input0", "n12_above" */
    char id[ODB_PICTURE_NAME];   /* of the graph's: "node-12", "input-0"; "": of none */
    bool link;                   /* it leads to its own id */
    bool accused;                /* a thick double outline */
    const char *shape;           /* static, Graphviz's; NULL: a rectangle */
    struct odb_picture_look look;
    char *label;                   /* owned: its lines */
    char *tooltip;                 /* owned: its lines */
    struct odb_picture_point at;   /* its middle, and */
    struct odb_picture_point size; /* its width and height: of a picture that is placed */
};

struct odb_picture_line {
    int from, to;  /* boxes */
    bool dotted;   /* to what is not drawn */
    char *label;   /* owned; NULL: none */
    char *tooltip; /* owned; NULL: none */
    /* Of a picture that is placed: where it begins, then three points of a Bézier curve each; the
     * arrow's point is behind the last. */
    ODB_VEC(struct odb_picture_point) curve;
    struct odb_picture_point tip;
};

/* What a colour of this picture means. */
struct odb_picture_legend {
    struct odb_picture_look look;
    bool accused;
    const char *means; /* static */
};

struct odb_picture {
    char *title; /* owned */
    ODB_VEC(struct odb_picture_legend) legend;
    ODB_VEC(struct odb_picture_box) boxes;
    ODB_VEC(struct odb_picture_line) lines;
    bool placed; /* boxes and lines know where they stand; else Graphviz lays out */
};

void odb_picture__make(struct odb_picture *picture, const struct odb_drawing *drawing);
void odb_picture__dispose(struct odb_picture *picture);
/* Gives every box and line a place. */
void odb_picture__place(struct odb_picture *picture);
/* Appends it in Graphviz's language; of a picture that is placed, as neato -n2 keeps to. */
void odb_picture__dot(const struct odb_picture *picture, struct odb_buf *out);

#endif
