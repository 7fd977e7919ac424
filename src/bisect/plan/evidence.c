/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/plan/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/evidence/confidence.h"
#include "bisect/alone/held.h"
#include "bisect/apart/kernel_group.h"
#include "bisect/evidence/narrower.h"
#include "bisect/evidence/neighbour.h"
#include "bisect/plan/pinned.h"
#include "bisect/explains.h"
#include "bisect/evidence/rank.h"
#include "bisect/evidence/reference_off.h"
#include "report/report.h"
#include "bisect/evidence/sensitivity.h"
#include "bisect/evidence/shares.h"
#include "bisect/alone/third.h"
#include "bisect/evidence/verify.h"

#define EVIDENCE_NEIGHBOURS 4 /* culprits that are run in a second cut */
#define EVIDENCE_DEAR 10      /* seconds of checks that are announced */
#define EVIDENCE_GROWTH 16    /* culprits whose sensitivity is measured */
#define EVIDENCE_ALIKE 10     /* growths within this factor are alike */

static bool evidence_spreads(const struct odb_culprit *c)
{
    return c->kind == ODB_KIND_AMPLIFIED || c->kind == ODB_KIND_ACCUMULATED;
}

/* The answers that the search has given already. */
static void evidence_found(const struct search_case *c, const struct findings *f,
                           struct odb_culprit *who)
{
    if (who->verified)
        who->checks[who->segment[0] == who->segment[1] ? ODB_CHECK_ALONE : ODB_CHECK_REGION] =
            ODB_CONFIRMS;
    if (who->value >= 0 && f->shown[who->value])
        odb_specials_count(&who->specials, f->shown[who->value], c->trace->ref[who->value]);
}

static void evidence_measure(const struct search_case *c, const struct findings *f,
                             struct odb_culprit *who)
{
    struct odb_sensitivity *s = &who->sensitivity;
    if (who->value < 0 || who->of_reference || who->segment[0] != who->segment[1] ||
        who->kind == ODB_KIND_NONDETERMINISTIC || who->kind == ODB_KIND_EXCHANGED ||
        who->kind == ODB_KIND_OVERWRITTEN)
        return;
    *s = sensitivity_of(c, f, who->value, f->given);
    bool alike = s->growth.known && s->growth_of_random.known &&
                 s->growth.v <= EVIDENCE_ALIKE * s->growth_of_random.v;
    if (evidence_spreads(who) && alike)
        who->checks[ODB_CHECK_REFERENCE] = ODB_CONFIRMS;
}

static enum odb_status evidence_second_cuts(const struct search_case *c, struct findings *f,
                                            struct odb_error *err)
{
    size_t asked = 0;
    bool begun = false;
    for (size_t i = 0; i < f->report->culprits.n && asked < EVIDENCE_NEIGHBOURS; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        if (!odb_diagnosis_accuses(culprit->kind) || culprit->known || culprit->of_reference ||
            culprit->value < 0 || culprit->segment[0] != culprit->segment[1] ||
            culprit->checks[ODB_CHECK_PREFIX] == ODB_CONFIRMS)
            continue;
        if (!begun)
            findings_step_begin(f, "second cut");
        begun = true;
        ODB_TRY(neighbour_ask(c, f, culprit, err));
        asked += culprit->checks[ODB_CHECK_NEIGHBOUR] != ODB_NOT_ASKED;
    }
    if (begun)
        findings_step_end(f, "second", "the accused together with a neighbour");
    return ODB_OK;
}

/* A node that flips, and was wrong in the run that was judged, is one culprit. It takes over what
 * is known of the other, which goes. */
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
static bool evidence_same_place(const struct search_case *c, const struct findings *f,
                                const struct odb_culprit *racer, const struct odb_culprit *fault)
{
    if (fault->node == racer->node)
        return true;
    if (f->report->repeats.first_node != ODB_NO_NODE || !fault->verified || racer->value < 0)
        return false;
    bool *up = odb_new_n(bool, c->graph->n_nodes);
    odb_graph_ancestors(c->graph, &racer->value, 1, NULL, up);
    bool before = up[fault->node];
    free(up);
    return before;
}

static void evidence_join_all(const struct search_case *c, struct findings *f)
{
    for (size_t i = 0; i < f->report->culprits.n; i++)
        for (size_t k = f->report->culprits.n; k-- > i + 1;) {
            struct odb_culprit *racer = findings_culprit(f, i), *fault = findings_culprit(f, k);
            if (racer->kind != ODB_KIND_NONDETERMINISTIC || racer->flips_and)
                break; /* it is none, or is joined already */
            if (!evidence_same_place(c, f, racer, fault) ||
                fault->segment[0] != fault->segment[1] || fault->of_reference ||
                !odb_diagnosis_accuses(fault->kind))
                continue;
            evidence_join(racer, fault);
            findings_take(f, k); /* what it owns is the racer's now */
        }
}

/* --- the questions, in order -------------------------------------------------------------------
 */

static enum odb_status evidence_racers(const struct search_case *c, struct findings *f,
                                       struct odb_error *err)
{
    (void)err;
    rank_culprits(f);
    evidence_join_all(c, f);
    return ODB_OK;
}

static enum odb_status evidence_held(const struct search_case *c, struct findings *f,
                                     struct odb_error *err)
{
    (void)err;
    held_look(c, f);
    return ODB_OK;
}

static enum odb_status evidence_pinned(const struct search_case *c, struct findings *f,
                                       struct odb_error *err)
{
    return f->diverge && !explains_all(c, f) ? pinned_search(c, f, err) : ODB_OK;
}

/* Where there are several culprits, or no single node is to blame, and every value was read. */
static enum odb_status evidence_shares(const struct search_case *c, struct findings *f,
                                       struct odb_error *err)
{
    bool wanted = f->report->culprits.n > 1;
    for (size_t i = 0; i < f->report->culprits.n; i++)
        wanted |= evidence_spreads(&f->report->culprits.items[i]);
    return wanted && (f->probed || c->prober->recorded) ? shares_fill(c, f, err) : ODB_OK;
}

static enum odb_status evidence_growth(const struct search_case *c, struct findings *f,
                                       struct odb_error *err)
{
    (void)err;
    for (size_t i = 0; i < f->report->culprits.n; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        evidence_found(c, f, culprit);
        if (i < EVIDENCE_GROWTH)
            evidence_measure(c, f, culprit);
    }
    return ODB_OK;
}

static enum odb_status evidence_weigh(const struct search_case *c, struct findings *f,
                                      struct odb_error *err)
{
    (void)err;
    group_name_all(c, f);
    rank_culprits(f);
    confidence_all(c, f);
    return ODB_OK;
}

static const struct evidence {
    const char *name, *asks;
    enum odb_status (*ask)(const struct search_case *c, struct findings *f, struct odb_error *err);
    bool runs; /* the target, which a recording cannot */
    bool died; /* asked where the target died of the model, as well */
} evidence_rows[] = {
    {"narrower", "is it what computing in a narrower type must lose?", narrower_look, false, false},
    {"verify", "does it fail alone, and if not, what does?", verify_all, true, false},
    {"racers", "is it who flips that was wrong?", evidence_racers, false, true},
    {"held", "does a wrong value hold what belongs to another one?", evidence_held, false, true},
    {"neighbour", "does it fail in a second, different cut?", evidence_second_cuts, true, true},
    {"pinned", "do the outputs pass with the reference's values in its place?", evidence_pinned,
     true, true},
    {"narrower", "and who was accused in the meantime?", narrower_look, false, false},
    {"shares", "how much of an output's error does each node bring?", evidence_shares, false, true},
    {"sensitivity", "how much does the reference make of the same error?", evidence_growth, false,
     true},
    {"confidence", "who comes first, and how sure is all that?", evidence_weigh, false, true},
};

static enum odb_status evidence_ask(const struct search_case *c, struct findings *f, bool died,
                                    struct odb_error *err)
{
    for (size_t i = 0; i < ODB_COUNT(evidence_rows); i++) {
        const struct evidence *row = &evidence_rows[i];
        if ((died && !row->died) || (row->runs && (c->prober->recorded || c->options->no_checks)))
            continue;
        ODB_TRY(row->ask(c, f, err));
    }
    return ODB_OK;
}

enum odb_status evidence_of_death(const struct search_case *c, struct findings *f,
                                  struct odb_error *err)
{
    return evidence_ask(c, f, true, err);
}

/* Says what the checks are going to cost, or that there are none. */
static void evidence_price(const struct search_case *c, struct findings *f)
{
    size_t n = f->report->culprits.n, done = 0, known = 0;
    for (size_t i = 0; i < n; i++) {
        const struct odb_culprit *culprit = &f->report->culprits.items[i];
        done += culprit->verified || culprit->known;
        known += culprit->known;
    }
    if (known)
        findings_note(f,
                      "%zu of %zu accused node%s compute%s what is known (--known): the target "
                      "was asked about %s no further",
                      known, n, odb_plural(n), known == 1 ? "s" : "", known == 1 ? "it" : "them");
    if (c->options->no_checks) {
        findings_note(f, "the target was asked nothing more of the accused (--no-checks)");
        return;
    }
    size_t loads = n - done + ODB_MIN(n - known, (size_t)EVIDENCE_NEIGHBOURS) + 1;
    double seconds = (double)loads * (f->kept->load + f->kept->run);
    struct odb_buf time = ODB_BUF_INIT;
    odb_buf_put_duration(&time, seconds);
    if (odb_probe_cuts(c->prober) == ODB_CUTS_ANY && seconds >= EVIDENCE_DEAR)
        findings_step_turn(f, "price",
                           "about %zu load%s and %s for the checks of the accused: alone, with a "
                           "neighbour, pinned; --no-checks declines them",
                           loads, odb_plural(loads), odb_buf_text(&time));
    odb_buf_dispose(&time);
}

/* Whether the first of the accused is asked about elsewhere. */
static bool evidence_asks_third(const struct search_case *c, const struct odb_culprit *first)
{
    return first->value >= 0 && odb_diagnosis_accuses(first->kind) && !c->options->no_opinion &&
           !first->known;
}

enum odb_status evidence_confirm(const struct search_case *c, struct findings *f,
                                 struct odb_error *err)
{
    if (!f->report->culprits.n)
        return ODB_OK;
    if (!c->prober->recorded)
        evidence_price(c, f);
    ODB_TRY(evidence_ask(c, f, false, err));
    if (f->report->culprits.n && evidence_asks_third(c, findings_culprit(f, 0)))
        third_look_ahead(c, f, findings_culprit(f, 0));
    return ODB_OK;
}

/* The first of the accused alone. */
static enum odb_status evidence_third(const struct search_case *c, struct findings *f,
                                      struct odb_error *err)
{
    struct odb_culprit *first = findings_culprit(f, 0);
    if (!evidence_asks_third(c, first))
        return ODB_OK;
    findings_step_begin(f, "third opinion");
    enum odb_status status = third_opinion(c, f, first, reference_told(f, first->value), err);
    findings_step_end(f, "third", "the first culprit alone on another executor");
    return status;
}

enum odb_status evidence_conclude(const struct search_case *c, struct findings *f,
                                  struct odb_error *err)
{
    if (!f->report->culprits.n)
        return ODB_OK;
    ODB_TRY(evidence_third(c, f, err));
    confidence_all(c, f);
    return ODB_OK;
}
