/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The log of a search or walk: every probe with what it asked, what it was fed and what was seen.
 * Of long lists the beginning is kept, and how long they were.
 */
#ifndef ODB_SESSION_PROBE_LOG_H
#define ODB_SESSION_PROBE_LOG_H

#include "run/probe_kind.h"
#include "bisect/plan/bisect.h"

#define ODB_LOG_MOST 64 /* entries of a list */

struct odb_log_value {
    char *name; /* owned */
    int value;  /* of the session's graph; ODB_NO_VALUE: of another one, such as a body */
    struct odb_seen compared; /* in the list of what was compared */
};

struct odb_log_values {
    struct odb_log_value *items; /* owned */
    size_t n, cap;
    size_t all; /* how long the list was */
};

/* Nodes of a cut without a gap between them. */
struct odb_log_range {
    int first, last;
};

struct odb_probe_log {
    char *text; /* owned: "prefix up to #12 Conv conv1" */
    int node;   /* or ODB_NO_NODE */
    bool ended;
    enum odb_verdict verdict;
    double began, seconds;      /* since the log begins; of the probe */
    size_t suspects, remaining; /* before and after it; 0: not known */
    size_t loads, runs;         /* of the target */
    enum odb_probe_kind asked;
    char *failure;          /* owned: why there is no answer; NULL: there is one */
    bool within;            /* the cut is of another graph than the session's */
    size_t nodes, n_ranges; /* of the cut: how many, and in how many pieces */
    ODB_VEC(struct odb_log_range) cut;
    struct odb_log_values fed, read, compared; /* compared: the worst, worst first */
    size_t bad;                                /* of all that were compared */
};

/* Makes an entry of ODB_EVENT_PROBE_BEGIN. graph: the session's; now: since the log begins. */
void odb_probe_log_begin(struct odb_probe_log *entry, const struct odb_graph *graph,
                         const struct odb_search_event *event, double now);
/* Completes it by ODB_EVENT_PROBE_END. */
void odb_probe_log_end(struct odb_probe_log *entry, const struct odb_graph *graph,
                       const struct odb_search_event *event);
void odb_probe_log_dispose(struct odb_probe_log *entry);

#endif
