/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What was asked about a culprit besides, in words.
 */
#include "bisect/evidence/words_evidence.h"

#include <math.h>

#include "report/report.h"

#define EVIDENCE_EXPLAINED 0.01 /* the least part of a culprit's error that is worth a sentence */
#define EVIDENCE_LISTED 8       /* nodes that a sentence names */

static void evidence_put_node(const struct search_case *c, int node, struct odb_buf *out)
{
    odb_node_put(c->graph, node, out);
}

static void evidence_put_neighbour(const struct search_case *c, const struct odb_culprit *who,
                                   struct odb_buf *out)
{
    enum odb_checked answer = who->checks[ODB_CHECK_NEIGHBOUR];
    if (answer == ODB_NOT_ASKED)
        return;
    odb_buf_puts(out, "Run together with ");
    evidence_put_node(c, who->neighbour, out);
    odb_buf_puts(
        out, answer == ODB_CONFIRMS ? ", with nothing read between the two, it is off as well. "
             : answer == ODB_CONTRADICTS
                 ? ", with nothing read between the two, the result is right: the target "
                   "computes the two in another way than one by one. "
                 : ", it says nothing: the target refuses that, the reference cannot follow, or "
                   "the other hides it. ");
}

/* "#7", "#7 and #31", "#7, #31, #40 and 90 more". */
static void evidence_put_nodes(const int *nodes, size_t n, struct odb_buf *out)
{
    size_t listed = n <= EVIDENCE_LISTED ? n : EVIDENCE_LISTED - 1;
    for (size_t i = 0; i < listed; i++)
        odb_buf_printf(out, "%s#%d", i == 0 ? "" : i + 1 == n ? " and " : ", ", nodes[i]);
    if (n > listed)
        odb_buf_printf(out, " and %zu more", n - listed);
}

/* "With #7 and #31 pinned to the reference the outputs pass". */
static void evidence_put_pinned(const struct search_case *c, const struct findings *f,
                                const struct odb_culprit *who, struct odb_buf *out)
{
    const struct odb_report *report = f->report;
    bool among = false;
    int pin = case_pin_of(c, who);
    for (size_t i = 0; i < report->pinned.n && !among; i++)
        among = report->pinned.items[i] == pin;
    if (!among || report->pinned_pass == ODB_NOT_ASKED)
        return;
    odb_buf_puts(out, "With ");
    evidence_put_nodes(report->pinned.items, report->pinned.n, out);
    odb_buf_puts(out, " pinned to the reference");
    bool suffixes = f->hidden || c->options->strategy == ODB_STRATEGY_SUFFIX;
    odb_buf_puts(out, report->pinned_pass == ODB_CONFIRMS && suffixes
                          ? " the outputs pass, so that is all that is wrong with them, but for "
                            "what may hide right before it. "
                      : report->pinned_pass == ODB_CONFIRMS
                          ? " the outputs pass, so that is all that is wrong with them. "
                      : report->pinned_pass == ODB_CONTRADICTS
                          ? " outputs are wrong still: something else is wrong as well, or small "
                            "errors add up. "
                          : " the target does not run, so whether that is all is not known. ");
    if (who->spoils == ODB_CONFIRMS)
        odb_buf_puts(out, "With the others pinned and this one not, what follows it fails again: "
                          "it is wrong whatever the others do. ");
    else if (who->spoils == ODB_CONTRADICTS)
        odb_buf_puts(out, "With the others pinned and this one not, what follows it passes as "
                          "well: by itself it makes no output wrong. ");
    else if (who->spoils == ODB_NOT_TESTABLE)
        odb_buf_puts(out, "Whether that takes this one cannot be decided: nothing but the others "
                          "reads what it makes, or it cannot be run so. ");
}

static void evidence_put_growth(const struct odb_culprit *c, struct odb_buf *out)
{
    const struct odb_sensitivity *s = &c->sensitivity;
    bool accused = odb_diagnosis_accuses(c->kind);
    /* An error that has no size is explained by none. */
    bool of_size = c->kind != ODB_KIND_CRASH && c->kind != ODB_KIND_HANG &&
                   c->kind != ODB_KIND_REFUSED && c->kind != ODB_KIND_NAN &&
                   c->kind != ODB_KIND_INF && c->kind != ODB_KIND_OVERFLOW;
    if (!of_size || !s->input_error.known || !s->growth.known)
        return;
    if (accused && !(s->explained.known && s->explained.v >= EVIDENCE_EXPLAINED))
        return;
    odb_buf_printf(out, "Its inputs are off by %.3g; ", s->input_error.v);
    if (accused)
        odb_buf_printf(out,
                       "that explains %.0f %% of the error of its output: ", 100 * s->explained.v);
    odb_buf_printf(out, "the same perturbation through the reference grows %.3g times",
                   s->growth.v);
    if (s->growth_of_random.known)
        odb_buf_printf(out, ", a random one of its size %.3g times", s->growth_of_random.v);
    if (s->growth_in_type.known)
        odb_buf_printf(out, " (%.3g in the reference's own precision)", s->growth_in_type.v);
    odb_buf_puts(out, ". ");
}

static void evidence_put_shares(const struct search_case *c, const struct findings *f,
                                const struct odb_culprit *who, struct odb_buf *out)
{
    const struct odb_report *report = f->report;
    if (who->kind != ODB_KIND_ACCUMULATED && who->kind != ODB_KIND_AMPLIFIED)
        return;
    for (size_t i = 0; i < report->contributions.n && i < 3; i++) {
        odb_buf_puts(out, i ? ", " : "Most of the output's error comes from ");
        evidence_put_node(c, report->contributions.items[i].node, out);
        odb_buf_printf(out, " (%.0f %%)", 100 * report->contributions.items[i].share);
    }
    if (report->contributions.n)
        odb_buf_puts(out, ". ");
}

void words_evidence(const struct search_case *c, const struct findings *f,
                    const struct odb_culprit *who, struct odb_buf *out)
{
    evidence_put_growth(who, out);
    evidence_put_neighbour(c, who, out);
    evidence_put_pinned(c, f, who, out);
    evidence_put_shares(c, f, who, out);
}
