/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which parts of a model a target takes, where it does not say so (cut=). What it refuses is looked
 * at: two refusals in the same words of parts that have nothing else in common speak for all parts
 * of the kind, as long as it took all of the model and none of that kind.
 */
#ifndef ODB_JUDGE_PARTS_TAKEN_H
#define ODB_JUDGE_PARTS_TAKEN_H

#include "executor/capabilities.h"
#include "judge/signature.h"
#include "model/model.h"

/* What was asked of the target: nodes of the graph, and whether they are a part. */
struct odb_probe_part {
    const struct odb_graph *graph;
    const bool *nodes;   /* [graph->n_nodes] */
    int end;             /* the node that makes what is read first */
    enum odb_cuts takes; /* NONE: it is all of the model; PREFIX: what leads to some value; ANY: it
                            begins within the model */
    bool plain;          /* what is read is of types that the model's outputs have: no other can be
                            what is refused */
};

/* The first that was refused. Zero: none was. */
struct odb_refused_part {
    bool *nodes; /* owned */
    int end;
    struct odb_signature words;
};

/* Zero is a target of which nothing is known. */
struct odb_parts {
    enum odb_cuts found; /* what it takes */
    bool taken[3];       /* by odb_part.takes */
    struct odb_refused_part refused[3];
};

void odb_parts_taken(struct odb_parts *parts, const struct odb_probe_part *part);
/* err: the target's words. */
void odb_parts_refused(struct odb_parts *parts, const struct odb_probe_part *part,
                       const struct odb_error *err);
void odb_parts_dispose(struct odb_parts *parts);

#endif
