/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A graph as a picture that Graphviz lays out. picture.c makes boxes and lines of it; dot.c writes
 * those in its language, DOT; svg.c has its program `dot` make SVG of that; layers.c lays out what
 * is too large for that; around.c says what stands near a node.
 *
 * A node's colour is how far its worst output is off, and its outline and its last line say the
 * same: no eye has to tell two colours apart. Ids are those of the graph, node-12, so that
 * FILE.svg#node-12 leads to a node. Weights are lines of the nodes that read them.
 */
#ifndef ODB_DRAWING_DRAWING_H
#define ODB_DRAWING_DRAWING_H

#include "compare/verdict.h"
#include "model/model.h"
#include "reference/shapes.h"

/* What a search says of a node. */
struct odb_drawing_mark {
    enum odb_verdict verdict; /* of its worst output */
    double error;             /* of that, relative; infinite where no number says it */
    const char *kind;         /* static: as what it is accused, "introduced"; NULL: it is not */
};

struct odb_drawing {
    const struct odb_graph *graph;        /* borrowed */
    const struct odb_shapes *shapes;      /* borrowed: of its values */
    const char *title;                    /* borrowed: of the picture, in any bytes */
    const bool *nodes;                    /* borrowed; [n_nodes] those that are drawn */
    const struct odb_drawing_mark *marks; /* borrowed; [n_nodes]; NULL: nothing was searched */
};

/* Graphviz gets so long for its own layout, and no longer: 4,000 nodes may take it hours. */
#define ODB_DRAWING_SVG_SECONDS 60
/* Of more nodes it is not asked for one: boxes stand where layers.c puts them. */
#define ODB_DRAWING_SVG_NODES 2000

/* Marks the nodes within so many values of a node, itself included; weights lead nowhere. */
void odb_drawing_around(const struct odb_graph *graph, int node, int depth, bool *nodes);
size_t odb_drawing_count(const struct odb_drawing *drawing);
/* "float[1, 64]" of a value: its shape, else what the model declares; "" where neither is known.
 * buf is used where needed. */
const char *odb_drawing_type(const struct odb_drawing *drawing, int value, char *buf, size_t size);

/* Appends the picture as DOT, in UTF-8. */
void odb_drawing_dot(const struct odb_drawing *drawing, struct odb_buf *out);
/* Appends the same as SVG, for dark and light pages. ODB_E_IO: there is no Graphviz, it
 * failed, or it took too long. */
enum odb_status odb_drawing_svg(const struct odb_drawing *drawing, struct odb_buf *out,
                                struct odb_error *err) ODB_MUST_USE;

#endif
