/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One turn of a body as a model of its own, with what the reference feeds it there.
 */
#ifndef ODB_PROBE_BODY_CASE_H
#define ODB_PROBE_BODY_CASE_H

#include "run/feeds.h"
#include "reference/trace.h"
#include "model/write/body_model.h"

struct odb_body_case {
    struct odb_model *model; /* owned */
    struct odb_feeds *feeds; /* owned */
};

void odb_body_case_dispose(struct odb_body_case *c); /* all zero is fine */

/* Runs the reference through a node of the trace's model up to a turn (ODB_ANY_TURN: the first) of
 * this body, and keeps what the body is fed there. given: [n_values] what the node is fed; NULL
 * entries and NULL: the trace's values. ODB_E_USAGE: the node does not come to that turn. */
enum odb_status odb_body_case_open(struct odb_body_case *out, const struct odb_trace *trace,
                                   struct odb_tensor *const *given, int node,
                                   const struct odb_body *body, int64_t turn,
                                   struct odb_error *err) ODB_MUST_USE;

/* The reference as far as what a node reads, also in its bodies, and no further. *out is the
 * caller's to free. */
enum odb_status odb_body_case_reach(struct odb_trace **out, const struct odb_model *model,
                                    const struct odb_feeds *feeds, int node,
                                    const struct odb_trace_options *how,
                                    struct odb_error *err) ODB_MUST_USE;

/* Goes a path into bodies, from the trace of the graph in which it begins: the innermost body. how:
 * the references that run in between. ODB_E_USAGE: a node does not come to the turn. */
enum odb_status odb_body_case_enter(struct odb_body_case *out, const struct odb_trace *trace,
                                    const struct odb_body_path *path,
                                    const struct odb_trace_options *how,
                                    struct odb_error *err) ODB_MUST_USE;

/* Follows a path into bodies, and finds the node that it names. Turns that it leaves open are the
 * first. ODB_E_USAGE: text leads nowhere; out->model is NULL where it names a node of the main
 * graph. */
enum odb_status odb_body_case_follow(struct odb_body_case *out, int *node,
                                     const struct odb_model *model, const struct odb_feeds *feeds,
                                     const struct odb_trace_options *how, const char *text,
                                     struct odb_error *err) ODB_MUST_USE;

#endif
