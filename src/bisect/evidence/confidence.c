/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How sure a culprit is. The first rule that fits decides; a question that could not be put counts
 * neither way.
 *
 * Low: a second cut or the pinned run says otherwise; or equal runs of the target flip; or nothing
 * but the run that found it speaks against it, or the prefixes of one search.
 *
 * High: two different cuts say the same (alone, with a neighbour, by a search over prefixes, by
 * pinning); for growth, the reference shaken likewise; for runs that differ, the first node that
 * made other bits of equal ones; for a value out of range, that it spoils the reference's outputs;
 * for nodes that are wrong together, that they fail so apart from the rest and by pinning.
 *
 * Medium: one of them does; or it is a recording, which cannot be asked; or the third executor
 * sides with the target; or the reference is the one accused; or it is a region.
 */
#include "bisect/evidence/confidence.h"

#include <stdio.h>

#include "report/report.h"

static bool confidence_is(const struct odb_culprit *c, enum odb_check check)
{
    return c->checks[check] == ODB_CONFIRMS;
}

/* flips: equal runs of the target gave different verdicts. */
static const char *confidence_against(const struct odb_culprit *c, bool flips)
{
    if (flips && c->kind != ODB_KIND_NONDETERMINISTIC)
        return "equal runs of the target give different verdicts";
    if (c->checks[ODB_CHECK_NEIGHBOUR] == ODB_CONTRADICTS)
        return "together with a neighbour it is right";
    if (c->checks[ODB_CHECK_PINNED] == ODB_CONTRADICTS)
        return "with its value made the reference's the outputs are as wrong as before";
    bool needs_others = c->kind == ODB_KIND_WHOLE || c->kind == ODB_KIND_EXCHANGED ||
                        c->kind == ODB_KIND_OVERWRITTEN;
    if (c->checks[ODB_CHECK_ALONE] == ODB_CONTRADICTS && c->segment[0] == c->segment[1] &&
        !needs_others && !confidence_is(c, ODB_CHECK_PREFIX))
        return "alone it is right";
    return NULL;
}

/* Of a node that is said to be wrong itself. */
static enum odb_confidence confidence_of_fault(const struct odb_culprit *c, bool recorded,
                                               const char **why)
{
    bool alone = confidence_is(c, ODB_CHECK_ALONE), whole = confidence_is(c, ODB_CHECK_REGION);
    bool pinned = confidence_is(c, ODB_CHECK_PINNED);
    bool neighbour = confidence_is(c, ODB_CHECK_NEIGHBOUR);
    bool other = neighbour || confidence_is(c, ODB_CHECK_PREFIX);
    bool region = c->segment[0] != c->segment[1];
    if (recorded && c->numbers.local_error.known) {
        *why = "a recording cannot be asked again; the reference speaks against it on the very "
               "values recorded before it";
        return ODB_CONFIDENCE_MEDIUM;
    }
    if (c->kind == ODB_KIND_PROBE_EFFECT && !region) {
        *why = "what follows it is wrong with its output read, and right without";
        return ODB_CONFIDENCE_MEDIUM;
    }
    if (c->known) {
        *why = "a variant that is known explains all that it made, in the run that found it";
        return ODB_CONFIDENCE_MEDIUM;
    }
    if (!alone && !whole && !pinned && !neighbour) { /* a prefix is the run that found it */
        *why = "only the run that found it speaks against it";
        return ODB_CONFIDENCE_LOW;
    }
    if (c->group.n && whole && pinned && c->spoils != ODB_CONTRADICTS) {
        *why = "its nodes fail together, apart from the rest, and the outputs pass without that";
        return ODB_CONFIDENCE_HIGH;
    }
    if (region || c->kind == ODB_KIND_FUSION || c->kind == ODB_KIND_PROBE_EFFECT) {
        *why = !whole   ? "a region, which could not be run as a whole"
               : pinned ? "the region fails as a whole, and the outputs pass without it"
                        : "the region fails as a whole; which of its nodes it is, is not known";
        return ODB_CONFIDENCE_MEDIUM;
    }
    if (c->third_opinion == ODB_OPINION_TARGET) {
        *why = "two cuts may agree, but a third executor gives what the target gives";
        return ODB_CONFIDENCE_MEDIUM;
    }
    if (alone + pinned + other > 1) {
        *why = !alone ? "it fails in two different cuts"
               : other
                   ? pinned ? "it fails alone and in a second, different cut, and the outputs pass "
                              "without its error"
                            : "it fails alone and in a second, different cut"
                   : "it fails alone, and the outputs pass without its error";
        return ODB_CONFIDENCE_HIGH;
    }
    *why = alone    ? "it fails alone; no second cut could be had"
           : pinned ? "the outputs pass without its error; alone it could not be run"
                    : "it fails in one cut besides the run that found it";
    return ODB_CONFIDENCE_MEDIUM;
}

static enum odb_confidence confidence_of_spread(const struct findings *f,
                                                const struct odb_culprit *who, const char **why)
{
    double sum = 0;
    for (size_t i = 0; i < f->report->contributions.n; i++)
        sum += f->report->contributions.items[i].share;
    if (confidence_is(who, ODB_CHECK_REFERENCE)) {
        *why = "the reference makes as much of the same error";
        return ODB_CONFIDENCE_HIGH;
    }
    if (who->kind == ODB_KIND_ACCUMULATED && sum > 0.5) {
        *why =
            "the errors of the nodes before it, carried to the output, explain most of its error";
        return ODB_CONFIDENCE_MEDIUM;
    }
    *why = "the operator is right about its own inputs, and no more is known";
    return who->numbers.local_noise.known ? ODB_CONFIDENCE_MEDIUM : ODB_CONFIDENCE_LOW;
}

static void confidence_set(const struct search_case *c, const struct findings *f,
                           struct odb_culprit *who, bool flips)
{
    const char *why = confidence_against(who, flips);
    if (why) {
        who->confidence = ODB_CONFIDENCE_LOW;
    } else if (who->kind == ODB_KIND_AMPLIFIED || who->kind == ODB_KIND_ACCUMULATED) {
        who->confidence = confidence_of_spread(f, who, &why);
    } else if (who->kind == ODB_KIND_REFUSED) {
        who->confidence = who->verified ? ODB_CONFIDENCE_HIGH : ODB_CONFIDENCE_LOW;
        why = who->verified ? "two cuts are refused in the same words, and run with other options"
                            : "only the prefix that ends in it is refused";
    } else if (who->kind == ODB_KIND_OVERFLOW) {
        who->confidence = who->verified ? ODB_CONFIDENCE_HIGH : ODB_CONFIDENCE_MEDIUM;
        why = who->verified
                  ? "what it has there is enough to spoil an output of the reference's run"
                  : "it takes several such values to spoil an output";
    } else if (who->kind == ODB_KIND_EXCHANGED || who->kind == ODB_KIND_OVERWRITTEN) {
        who->confidence = ODB_CONFIDENCE_HIGH;
        why = "more numbers agree than luck brings about";
    } else if (who->kind == ODB_KIND_WHOLE) {
        bool all = who->segment[0] == 0 && who->segment[1] == (int)c->graph->n_nodes - 1;
        who->confidence = ODB_CONFIDENCE_MEDIUM;
        why = !all ? "a part of the model fails, and the node alone does not"
                   : "nothing but the whole model fails; equal runs of it do so alike";
    } else if (who->kind == ODB_KIND_NONDETERMINISTIC) {
        bool found = f->report->repeats.first_node == who->node;
        who->confidence = found ? ODB_CONFIDENCE_HIGH : ODB_CONFIDENCE_MEDIUM;
        why = found ? "equal inputs gave other bits there, and nowhere before"
                    : "verdicts of equal runs differ; where it begins could not be seen";
    } else if (who->of_reference) {
        bool known = who->third_opinion == ODB_OPINION_TARGET;
        who->confidence = known ? ODB_CONFIDENCE_MEDIUM : ODB_CONFIDENCE_LOW;
        why = known ? "the CPU's operator sides with the target"
                    : "the CPU's operator is against the reference, and no other agrees with it";
    } else {
        who->confidence = confidence_of_fault(who, c->prober->recorded, &why);
    }
    snprintf(who->confidence_reason, sizeof who->confidence_reason, "%s", why);
}

void confidence_all(const struct search_case *c, struct findings *f)
{
    bool flips = false;
    for (size_t i = 0; i < f->report->culprits.n; i++)
        flips |= f->report->culprits.items[i].kind == ODB_KIND_NONDETERMINISTIC;
    for (size_t i = 0; i < f->report->culprits.n; i++)
        confidence_set(c, f, findings_culprit(f, i), flips);
}
