/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Questions to the target: the prefix that ends in the outputs of some nodes, or one node alone.
 * Where there are several workers, questions are begun before they are put.
 *
 * Cut before a node: all its inputs; cut after: all its outputs, bad if any is.
 */
#ifndef ODB_BISECT_QUESTION_H
#define ODB_BISECT_QUESTION_H

#include "bisect/findings.h"
#include "search/search.h"

struct question {
    struct odb_probe probe;
    int *cut; /* owned: the nodes that it is about; probe.node is the last of them */
    size_t n_cut;
    struct odb_prober *prober;   /* borrowed */
    bool *nodes;                 /* owned; NULL: a prefix */
    int *list;                   /* owned */
    struct odb_tensor **outputs; /* owned refs */
    char what[240];
};

/* The prefix up to the nodes of a cut; judged: only values that the reference has are read. */
struct question *question_prefix(const struct search_case *c, const struct odb_cut *cut,
                                 bool judged);
bool question_is(const struct question *q, const struct odb_cut *cut);
/* The node alone, fed with given ([n_values], borrowed). */
struct question *question_alone(const struct search_case *c, struct odb_prober *prober, int node,
                                struct odb_tensor *const *given);
void question_free(struct question *q); /* NULL is fine */

/* Judges what a probe of a node's outputs gave, and keeps it as the target's values; shown: the
 * first wrong one's verdict. */
enum odb_status question_judge(const struct search_case *c, struct findings *f,
                               const struct odb_probe *probe, enum odb_verdict *shown,
                               struct odb_error *err) ODB_MUST_USE;
/* What a verdict says of wrong values: one that the target died of is no evidence of them. */
enum odb_answer question_answer(enum odb_verdict verdict);
/* A probe gave no values: notes that for each of them, unless more is known already. */
void question_note_failure(const struct search_case *c, struct findings *f, const int *values,
                           size_t n, enum odb_status had);

/* Questions that are being answered before they are put. */
struct ahead {
    struct question **of; /* owned; [n_nodes]; NULL: one worker, and nothing is begun */
    size_t next;          /* where all nodes are asked in order: the first not begun */
};

struct ahead ahead_new(const struct search_case *c);
void ahead_dispose(const struct search_case *c, struct ahead *ahead);
/* The question that was begun, which is the caller's now; else NULL. */
struct question *ahead_take(struct ahead *ahead, int node);
/* Takes q over and begins with it, unless another stands at its node. */
void ahead_put(struct ahead *ahead, struct question *q);
/* Whether node is among the next to begin with where all are asked in order, and now at `at`:
 * enough to keep every worker busy while one answer is judged. */
bool ahead_reaches(const struct search_case *c, const struct ahead *ahead, size_t at);

/* odb_probe_ask() of a part of the model, whose values are judged as the report's are, and dropped.
 * verdict: as there. */
enum odb_status question_ask(const struct search_case *c, struct findings *f,
                             struct odb_probe *probe, enum odb_verdict *verdict,
                             struct odb_error *err) ODB_MUST_USE;

#endif
