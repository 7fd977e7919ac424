/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One search for what must stay in float32, as precision.c (the plan), precision_ask.c (the
 * targets), precision_rank.c (what the type costs each node, and what is said of it) and
 * precision_write.c (the file and its proof) share it.
 */
#ifndef ODB_PRECISION_PRECISION_INT_H
#define ODB_PRECISION_PRECISION_INT_H

#include "precision/precision.h"
#include "executor/transport/target.h"
#include "model/write/convert.h"

#define PRECISION_FEW 8        /* nodes that are kept without another look for fewer */
#define PRECISION_STRETCHES 32 /* of the model, whose cost is measured at the outputs */

struct asked {  /* a set of kept nodes and what the target said */
    bool *keep; /* owned; [n_nodes] */
    bool passes;
};

struct precision {
    const struct odb_model *model;
    const struct odb_graph *graph;
    const struct odb_precision_case *cases;
    size_t n_cases;
    const struct odb_precision_options *options;
    struct odb_precision_result *result;
    struct odb_convert *convert; /* owned */
    struct odb_target **targets; /* owned; [n_targets] */
    const char **outputs;        /* owned array: names of the model's outputs */
    struct odb_named *feeds;     /* owned; room for those of any case */
    int *order;                  /* owned; [n_free] nodes, worst first */
    size_t n_free;
    bool *keep; /* owned; [n_nodes] smallest set known to pass */
    ODB_VEC(struct asked) asked;
    char *place; /* owned: the folder that holds the file until it is proved; NULL: none */
    double start;
};

/* Takes the text over. */
void precision_note(struct precision *p, char *text);

/* --- precision_ask.c -------------------------------------------------------------------------- */

bool precision_is_refusal(enum odb_status status);
/* Children for all targets; *out is to be closed on failure too. */
enum odb_status precision_open(struct precision *p, struct odb_target ***out,
                               struct odb_error *err) ODB_MUST_USE;
void precision_close(const struct precision *p, struct odb_target **targets);
struct odb_load precision_load(const struct precision *p, const struct odb_buf *bytes,
                               const char *dir);
/* A model on all targets, up to the first on which it fails: a target that fails is an answer. */
enum odb_status precision_try(struct precision *p, struct odb_target *const *targets,
                              const struct odb_load *load, struct odb_precision_probe *probe,
                              struct odb_error *err) ODB_MUST_USE;
/* Announces a probe (probe NULL), or, when there is an answer, what it was. */
void precision_tell(const struct precision *p, const char *text,
                    const struct odb_precision_probe *probe);
/* The whole model with these nodes kept. */
enum odb_status precision_probe(struct precision *p, const bool *keep,
                                struct odb_precision_probe *probe,
                                struct odb_error *err) ODB_MUST_USE;

/* --- precision_rank.c ------------------------------------------------------------------------- */

/* Measures every node and sorts p->order, the worst first. */
enum odb_status precision_rank(struct precision *p, struct odb_error *err) ODB_MUST_USE;
/* Fills the result's nodes in, and what stays for which reason. */
void precision_conclude(struct precision *p);
/* Notes on what was found: values that only pass because the target does not round, and kept nodes
 * of which none stands out. */
void precision_remark(struct precision *p);

/* --- precision_write.c ------------------------------------------------------------------------ */

/* Bytes of all weights, or of those in other files. */
size_t precision_weights(const struct odb_model *model, bool external);
enum odb_status precision_write(struct precision *p, struct odb_error *err) ODB_MUST_USE;
/* What stands in the file, read again, on fresh children. A file that fails is removed. */
enum odb_status precision_prove(struct precision *p, struct odb_error *err) ODB_MUST_USE;

#endif
