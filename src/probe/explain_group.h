/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Explaining nodes that are wrong together: they are run apart from the rest of the model, as they
 * were when they were accused, and so they are on other inputs.
 */
#ifndef ODB_PROBE_EXPLAIN_GROUP_H
#define ODB_PROBE_EXPLAIN_GROUP_H

#include "explain/explanations.h"
#include "probe/probe.h"

struct odb_explain_group {
    struct odb_prober *prober; /* borrowed, as all below; it has a trace, and is fed with that */
    const struct odb_cpu *cpu;
    int node, value;        /* the one that computes; what comes out */
    const bool *nodes;      /* [n_nodes of the graph] that run together */
    bool once;              /* nothing is asked on other inputs */
    double factor, seconds; /* as in struct odb_explain_question */
};

/* As odb_explain_node(). */
enum odb_status odb_explain_group(struct odb_explanations *out, const struct odb_explain_group *a,
                                  struct odb_error *err) ODB_MUST_USE;

#endif
