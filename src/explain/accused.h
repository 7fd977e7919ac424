/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The call that is to be explained: what a target fed a node and what it made of that, beside what
 * the reference operator makes of the same inputs. Or a group of nodes: what it was fed, and what
 * came out of its last node; then rows of the catalogue see each node of it as such a call, in
 * which all but the last output is the reference's.
 */
#ifndef ODB_EXPLAIN_ACCUSED_H
#define ODB_EXPLAIN_ACCUSED_H

#include "explain/explanations.h"
#include "explain/measure/residual.h"

struct accused {
    const struct odb_explain_question *q; /* borrowed */
    const struct odb_graph *graph;        /* borrowed */
    const struct odb_node *node;          /* borrowed */
    const struct odb_op *op;              /* borrowed; never NULL */
    struct odb_tensor *const *in;         /* borrowed; [n_in]; of a group, the last node's */
    struct odb_tensor *const *y;          /* borrowed; [n_out] the target's */
    struct odb_tensor **r;                /* owned refs; [n_out] the reference's, in y's types */
    struct odb_tensor **native;           /* owned refs; the same in the model's own types */
    struct measured target;
    struct residual base; /* of the target from the reference */
    double floor;         /* of noise, over rms: the least there is in any output's type */
    int shown;            /* the output that shows the error most, of those that are tensors of
                             numbers; -1: there is none */
    size_t n_wrong;       /* elements of it that are off by more than the floor of noise */
    struct accused_group *group; /* borrowed; NULL: a node alone */
    size_t place;                /* of the node in it */
};

/* ODB_UNSUPPORTED: no kernel replays the node on these inputs. */
enum odb_status accused_make(struct accused *s, const struct odb_explain_question *q,
                             struct odb_tensor *const *in, struct odb_tensor *const *out,
                             struct odb_error *err) ODB_MUST_USE;
void accused_dispose(struct accused *s);

/* Its parts: what was asked; what the reference makes of that, r and native, to be dropped always;
 * and how far the target's outputs are from these. */
void accused_init(struct accused *s, const struct odb_explain_question *q,
                  struct odb_tensor *const *in, struct odb_tensor *const *out);
enum odb_status accused_replay(struct accused *s, struct odb_error *err) ODB_MUST_USE;
enum odb_status accused_measure(struct accused *s, struct odb_error *err) ODB_MUST_USE;

/* Whether an element of output o is off by more than the floor of noise: y where the reference has
 * r. */
bool accused_wrong(const struct accused *s, int o, double y, double r);

/* One run of the node, changed or as it is (change NULL); out: [n_out], the caller's. In double
 * mode results are brought to the types of the target's outputs. */
enum odb_status accused_run(const struct accused *s, enum odb_precision precision, uint64_t seed,
                            odb_cpu_change_fn *change, void *payload, struct odb_tensor **out,
                            struct odb_error *err) ODB_MUST_USE;
/* Unrefs what a run gave, and forgets it. */
void accused_drop(const struct accused *s, struct odb_tensor **out);
/* [n_out], all NULL. The caller's. */
struct odb_tensor **accused_outputs(const struct accused *s);

#endif
