/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Explaining a node of a target that can be asked: what it was fed and made is read in place, in
 * the whole model, and so it is again on other inputs, where a node alone might get another kernel.
 */
#ifndef ODB_PROBE_EXPLAIN_NODE_H
#define ODB_PROBE_EXPLAIN_NODE_H

#include "explain/beside.h"
#include "explain/explanations.h"
#include "probe/probe.h"

struct odb_explain_asking {
    struct odb_prober *prober; /* borrowed, as all below: the target, and the model's inputs */
    const struct odb_cpu *cpu;
    int node;
    /* What is known of one run: [n_values], NULL where not had. NULL: it is asked for. */
    struct odb_tensor *const *given;
    /* Values to read, so that the compiled model is the one that failed; the node's own are added.
     * NULL: these alone, beside the model's outputs. */
    const int *read;
    size_t n_read;
    const struct odb_own_rows *own; /* the user's; NULL: none */
    const char *known;              /* as in struct odb_explain_question */
    bool trials;                    /* all that is tried is wanted */
    const char *variant;            /* that is wanted beside the others; NULL: none */
    bool once;                      /* nothing is asked on other inputs */
    bool alone;                     /* the node may be asked alone, to tell variants apart */
    double factor, seconds;         /* as in struct odb_explain_question */
    struct odb_beside *beside;      /* for variant; the caller's to dispose of */
};

/* Nothing is run for a node whose values are too large to be replayed (memory_budget.h): out says
 * so. ODB_CANCELLED, and what asking for the first run fails with; what asking again fails with
 * only leaves explanations unconfirmed. *out is the caller's to dispose of always. */
enum odb_status odb_explain_node(struct odb_explanations *out, const struct odb_explain_asking *a,
                                 struct odb_error *err) ODB_MUST_USE;

/* Whether there is memory for replays of so many bytes of operands and results; *why_not, the
 * caller's, else says how much there is. */
bool odb_explain_fits(const struct odb_prober *prober, uint64_t bytes, char **why_not);

#endif
