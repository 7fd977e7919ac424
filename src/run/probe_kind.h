/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a probe asked, and what was seen: for the code that shows it to the user.
 */
#ifndef ODB_RUN_PROBE_KIND_H
#define ODB_RUN_PROBE_KIND_H

#include <stddef.h>

#include "run/value_report.h"

struct odb_graph;

enum odb_probe_kind {
    ODB_PROBE_KIND_PLAIN, /* nothing is to be said */
#define ODB_PROBE(id, why, passes, fails) ODB_PROBE_KIND_##id,
#include "run/probe_kind.def"
#undef ODB_PROBE
    ODB_PROBE_KIND_COUNT
};

/* Why it was put, without a full stop; "" where nothing is to be said. */
const char *odb_probe_kind_why(enum odb_probe_kind asked);
/* What its verdict means for the search; "" where nothing is to be said. */
const char *odb_probe_kind_means(enum odb_probe_kind asked, enum odb_verdict verdict);

#define ODB_COMPARED_MOST 32 /* values that are listed one by one */

/* A value that was compared. */
struct odb_seen {
    int value;
    enum odb_verdict verdict;
    struct odb_number error, noise;
    bool local; /* the node's own error and noise, given what it was fed */
};

/* All that were compared for one probe: how many, and the worst of them. */
struct odb_all_seen {
    size_t n, bad, told;
    struct odb_seen list[ODB_COMPARED_MOST]; /* [told], as they came */
};

/* seen NULL: not wanted. */
void odb_seen_note(struct odb_all_seen *seen, const struct odb_seen *compared);

/* What was cut out, fed and read; pointers are borrowed for the call that tells it. */
struct odb_probe_kind_facts {
    const struct odb_graph *graph;
    enum odb_probe_kind asked;
    const bool *nodes;   /* [n_nodes] of the cut; NULL: nothing is run */
    const int *in, *out; /* values: fed, read */
    size_t n_in, n_out;
};

#endif
