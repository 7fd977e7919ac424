/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/plan/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/evidence/confidence.h"
#include "bisect/alone/held.h"
#include "bisect/evidence/neighbour.h"
#include "bisect/plan/pinned.h"
#include "bisect/evidence/rank.h"
#include "report/report.h"
#include "bisect/evidence/sensitivity.h"
#include "bisect/evidence/shares.h"
#include "bisect/evidence/third.h"
#include "bisect/evidence/verify.h"

#define EVIDENCE_NEIGHBOURS 4 /* culprits that are run in a second cut */
#define EVIDENCE_GROWTH 16    /* culprits whose sensitivity is measured */
#define EVIDENCE_ALIKE 10     /* growths within this factor are alike */

static bool evidence_spreads(const struct odb_culprit *c)
{
    return c->kind == ODB_KIND_AMPLIFIED || c->kind == ODB_KIND_ACCUMULATED;
}

/* The answers that the search has given already. */
static void evidence_found(const struct bisection *b, struct odb_culprit *c)
{
    if (c->verified)
        c->checks[c->segment[0] == c->segment[1] ? ODB_CHECK_ALONE : ODB_CHECK_REGION] =
            ODB_CONFIRMS;
    if (c->value >= 0 && b->report->given[c->value])
        odb_specials_count(&c->specials, b->report->given[c->value], b->trace->ref[c->value]);
}

static void evidence_measure(const struct bisection *b, struct odb_culprit *c)
{
    struct odb_sensitivity *s = &c->sensitivity;
    if (c->value < 0 || c->of_reference || c->segment[0] != c->segment[1] ||
        c->kind == ODB_KIND_NONDETERMINISTIC || c->kind == ODB_KIND_EXCHANGED ||
        c->kind == ODB_KIND_OVERWRITTEN)
        return;
    *s = sensitivity_of(b, c->value, b->given);
    bool alike = s->growth.known && s->growth_of_random.known &&
                 s->growth.v <= EVIDENCE_ALIKE * s->growth_of_random.v;
    if (evidence_spreads(c) && alike)
        c->checks[ODB_CHECK_REFERENCE] = ODB_CONFIRMS;
}

static enum odb_status evidence_second_cuts(struct bisection *b, struct odb_error *err)
{
    size_t asked = 0;
    bool begun = false;
    for (size_t c = 0; c < b->report->culprits.n && asked < EVIDENCE_NEIGHBOURS; c++) {
        struct odb_culprit *culprit = &b->report->culprits.items[c];
        if (!odb_diagnosis_accuses(culprit->kind) || culprit->of_reference || culprit->value < 0 ||
            culprit->segment[0] != culprit->segment[1] ||
            culprit->checks[ODB_CHECK_PREFIX] == ODB_CONFIRMS)
            continue;
        if (!begun)
            findings_step_begin(b, "second cut");
        begun = true;
        ODB_TRY(neighbour_ask(b, culprit, err));
        asked += culprit->checks[ODB_CHECK_NEIGHBOUR] != ODB_NOT_ASKED;
    }
    if (begun)
        findings_step_end(b, "second", "the accused together with a neighbour");
    return ODB_OK;
}

/* Who flips, and was wrong in the run that was judged, is one culprit. It takes over what is known
 * of the other, which goes. */
static void evidence_join(struct odb_culprit *racer, struct odb_culprit *fault)
{
    fault->flips_and = true;
    fault->also = fault->kind;
    fault->kind = ODB_KIND_NONDETERMINISTIC;
    fault->reaches_output |= racer->reaches_output;
    *racer = *fault;
}

/* One node; or the racer's place is not known but for the output that shows it, and the fault,
 * which fails alone, stands before that. */
static bool evidence_same_place(const struct bisection *b, const struct odb_culprit *racer,
                                const struct odb_culprit *fault)
{
    if (fault->node == racer->node)
        return true;
    if (b->report->repeats.first_node != ODB_NO_NODE || !fault->verified || racer->value < 0)
        return false;
    bool *up = odb_new_n(bool, b->graph->n_nodes);
    odb_graph_ancestors(b->graph, &racer->value, 1, NULL, up);
    bool before = up[fault->node];
    free(up);
    return before;
}

static void evidence_join_all(const struct bisection *b)
{
    struct odb_report *report = b->report;
    for (size_t i = 0; i < report->culprits.n; i++)
        for (size_t k = report->culprits.n; k-- > i + 1;) {
            struct odb_culprit *racer = &report->culprits.items[i];
            struct odb_culprit *fault = &report->culprits.items[k];
            if (racer->kind != ODB_KIND_NONDETERMINISTIC || racer->flips_and ||
                !evidence_same_place(b, racer, fault) || fault->segment[0] != fault->segment[1] ||
                fault->of_reference || !odb_diagnosis_accuses(fault->kind))
                continue;
            evidence_join(racer, fault);
            memmove(fault, fault + 1, (--report->culprits.n - k) * sizeof *fault);
        }
}

enum odb_status evidence_gather(struct bisection *b, struct odb_error *err)
{
    bool asks = !b->prober.recorded;
    evidence_join_all(b);
    held_look(b);
    if (asks)
        ODB_TRY(evidence_second_cuts(b, err));
    if (asks && b->report->outputs_diverge)
        ODB_TRY(pinned_search(b, err));
    bool several = b->report->culprits.n > 1, spreads = false;
    for (size_t c = 0; c < b->report->culprits.n; c++)
        spreads |= evidence_spreads(&b->report->culprits.items[c]);
    if ((several || spreads) && (b->probed || !asks))
        ODB_TRY(shares_fill(b, err));
    for (size_t c = 0; c < b->report->culprits.n; c++) {
        struct odb_culprit *culprit = &b->report->culprits.items[c];
        evidence_found(b, culprit);
        if (c < EVIDENCE_GROWTH)
            evidence_measure(b, culprit);
    }
    rank_culprits(b);
    confidence_all(b);
    return ODB_OK;
}

enum odb_status evidence_confirm(struct bisection *b, struct odb_error *err)
{
    if (b->report->culprits.n == 0)
        return ODB_OK;
    if (!b->prober.recorded)
        ODB_TRY(verify_all(b, err));
    rank_culprits(b);
    struct odb_culprit *first = b->report->culprits.items;
    if (first->value >= 0 && odb_diagnosis_accuses(first->kind) && !b->options->no_opinion) {
        findings_step_begin(b, "third opinion");
        third_opinion(b, first);
        findings_step_end(b, "third", "the first culprit alone on another executor");
    }
    return evidence_gather(b, err);
}
