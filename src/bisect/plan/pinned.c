/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One fault may hide another: what stands behind a NaN, a crash, or a prefix search's first find
 * has not been seen. So the culprits' values are made the reference's, the rest runs on the target,
 * and whoever is found then is pinned as well, until the outputs pass or nobody new is found.
 *
 * What is searched with values pinned is another model: its values and answers are kept apart from
 * the report's, and only the culprits cross over.
 */
#include "bisect/plan/pinned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/decided.h"
#include "run/hooks.h"
#include "bisect/strategy/hunt.h"
#include "bisect/alone/only_observed.h"
#include "bisect/reading.h"
#include "report/report.h"
#include "run/value_report.h"
#include "bisect/evidence/verify.h"

#define PIN_ROUNDS 4
/* Culprits of several that are left out once: a load each, one besides, and two more for whoever
 * spoils nothing. */
#define PIN_SINGLES 8

/* What a search with pinned values must not touch. */
struct pin {
    struct bisection *b;
    bool *values;           /* owned; [n_values] pinned */
    bool *nodes;            /* owned; [n_nodes] whose values are */
    size_t n;               /* of nodes */
    bool *drawn, *reaching; /* the search's, while another is in their place; and these: */
    struct odb_value_report *report_values;
    struct odb_tensor **report_given, **given;
    struct odb_value_report *verdicts;
    struct odb_signature sought;
    bool diverge;
};

/* --- who is pinned ---------------------------------------------------------------------------- */

/* One that the reference has no values of cannot be pinned. */
static bool pin_possible(const struct bisection *b, const struct odb_node *node)
{
    bool possible = node->n_out > 0;
    for (int o = 0; o < node->n_out; o++)
        possible = possible && (node->out[o] < 0 || b->trace->ref[node->out[o]] ||
                                !odb_probe_wants(b->graph, b->trace, node->out[o]));
    return possible;
}

static void pin_node(struct pin *p, int index)
{
    const struct odb_node *node = &p->b->graph->nodes[index];
    if (p->nodes[index] || !pin_possible(p->b, node))
        return;
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0 && p->b->trace->ref[node->out[o]])
            p->values[node->out[o]] = true;
    p->nodes[index] = true;
    p->n++;
    odb_push(&p->b->report->pinned, index);
}

static bool pin_is_fault(const struct odb_culprit *c)
{
    return !c->of_reference && c->kind != ODB_KIND_EXCHANGED && c->kind != ODB_KIND_AMPLIFIED &&
           c->kind != ODB_KIND_ACCUMULATED &&
           c->kind != ODB_KIND_OVERFLOW; /* pinned, its value would leave the range again */
}

/* The end of what is at fault: of a node that takes the whole model for it, itself. */
static int pin_last(const struct odb_culprit *c)
{
    return odb_culprit_is_region(c) ? c->segment[1] : c->node;
}

/* The nodes, and of regions the ends: what lies between is read by these alone, mostly. True:
 * somebody new. */
static bool pin_culprits(struct pin *p)
{
    struct bisection *b = p->b;
    size_t before = p->n;
    for (size_t v = 0; v < b->graph->n_values; v++) /* is what it is, and is not read */
        p->values[v] |= b->exchanged[v] != ODB_NO_VALUE;
    for (size_t c = 0; c < b->report->culprits.n; c++) {
        const struct odb_culprit *culprit = &b->report->culprits.items[c];
        if (!pin_is_fault(culprit) || !culprit->reaches_output)
            continue;
        pin_node(p, culprit->node);
        pin_node(p, pin_last(culprit));
    }
    return p->n > before;
}

/* --- a search of its own ---------------------------------------------------------------------- */

/* Values of the target that hold whatever is pinned: feeds, draws, and what is pinned. */
static void pin_enter(struct pin *p)
{
    struct bisection *b = p->b;
    size_t n = b->graph->n_values;
    p->report_values = b->report->values;
    p->report_given = b->report->given;
    p->given = b->given;
    p->drawn = b->drawn;
    p->verdicts = b->verdicts;
    p->sought = b->sought;
    p->reaching = b->reaching;
    b->reaching = NULL;
    p->diverge = b->report->outputs_diverge;
    b->report->values = odb_new_n(struct odb_value_report, n + 1);
    b->report->given = odb_new_n(struct odb_tensor *, n);
    b->given = odb_new_n(struct odb_tensor *, n);
    b->drawn = odb_xmemdup(p->drawn, n * sizeof *b->drawn);
    b->verdicts = odb_new_n(struct odb_value_report, b->n_outputs);
    for (size_t v = 0; v < n; v++) {
        b->drawn[v] |= p->values[v];
        b->given[v] = b->drawn[v] ? odb_tensor_ref(b->trace->ref[v]) : NULL;
    }
    for (size_t f = 0; f < b->feeds->n; f++)
        b->given[b->feeds->items[f].value] = odb_tensor_ref(b->feeds->items[f].tensor);
    b->prober.pinned = p->values;
}

static void pin_leave(struct pin *p)
{
    struct bisection *b = p->b;
    for (size_t v = 0; v < b->graph->n_values; v++) {
        odb_tensor_unref(b->given[v]);
        odb_tensor_unref(b->report->given[v]);
    }
    free(b->given);
    free(b->report->given);
    free(b->report->values);
    free(b->drawn);
    free(b->verdicts);
    free(b->reaching);
    b->reaching = p->reaching;
    b->report->values = p->report_values;
    b->report->given = p->report_given;
    b->given = p->given;
    b->drawn = p->drawn;
    b->verdicts = p->verdicts;
    b->sought = p->sought;
    b->report->outputs_diverge = p->diverge;
    b->prober.pinned = NULL;
}

/* --- running it ------------------------------------------------------------------------------- */

static enum odb_status pin_judge(struct pin *p, const struct odb_probe *probe, size_t *bad,
                                 enum odb_verdict *shown, struct odb_error *err)
{
    struct bisection *b = p->b;
    for (size_t i = 0; i < probe->n_values; i++) {
        struct odb_value_report *report = &b->report->values[probe->values[i]];
        ODB_TRY(odb_judge_value(&b->judge, probe->values[i], probe->outputs[i], report, err));
        if (decided_allows(b, probe->values[i], report))
            report->verdict = ODB_VERDICT_PASS;
        *bad += odb_verdict_is_bad(report->verdict);
        odb_probe_shows(shown, report->verdict);
        for (size_t o = 0; o < b->n_outputs; o++)
            if (b->outputs[o] == probe->values[i])
                b->verdicts[o] = *report;
    }
    return ODB_OK;
}

/* Runs the pinned model and judges its outputs; all: every value is read and every node judged.
 * *had, *why: what the run came to. */
static enum odb_status pin_run(struct pin *p, bool all, size_t *bad, enum odb_status *had,
                               struct odb_error *why, struct odb_error *err)
{
    struct bisection *b = p->b;
    int *list = odb_new_n(int, b->graph->n_values);
    size_t n = 0, made = all ? reading_list(b, list) : b->n_outputs;
    if (!all)
        memcpy(list, b->outputs, b->n_outputs * sizeof *list);
    for (size_t i = 0; i < made; i++)
        if (!p->values[list[i]])
            list[n++] = list[i];
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, n);
    struct odb_probe probe = {.asked = ODB_ASKED_PINNED,
                              .what = all ? "all values probed, culprits pinned"
                                          : "the whole model, culprits pinned",
                              .node = ODB_NO_NODE,
                              .values = list,
                              .n_values = n,
                              .outputs = outputs,
                              .judged = true};
    *bad = 0;
    *had = odb_probe_run(&b->prober, &probe, why);
    enum odb_verdict shown = odb_probe_verdict(*had);
    enum odb_status status = *had == ODB_CANCELLED ? *had : ODB_OK;
    if (status != ODB_OK && err)
        *err = *why;
    else if (*had == ODB_OK && !all)
        status = pin_judge(p, &probe, bad, &shown, err);
    for (size_t i = 0; i < n && *had == ODB_OK && all; i++) {
        odb_tensor_unref(b->given[list[i]]);
        b->given[list[i]] = outputs[i];
        outputs[i] = NULL;
    }
    odb_probe_tell(&b->prober, &probe, shown, 0);
    odb_probe_drop(&b->prober, &probe);
    free(outputs);
    free(list);
    return status;
}

/* --- whoever else it is ----------------------------------------------------------------------- */

/* Every node judged on what the target made with the culprits pinned. */
static enum odb_status pin_blame(struct pin *p, struct odb_error *err)
{
    struct bisection *b = p->b;
    struct odb_search_hooks quiet = b->options->hooks;
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status had;
    size_t ignored;
    ODB_TRY(pin_run(p, true, &ignored, &had, &why, err));
    if (had != ODB_OK)
        return ODB_OK;
    quiet.event = NULL;
    ODB_TRY(
        odb_blame(&b->judge, 0, (int)b->graph->n_nodes, b->given, b->report->values, &quiet, err));
    for (size_t n = 0; n < b->graph->n_nodes; n++) {
        const struct odb_node *node = &b->graph->nodes[n];
        for (int o = 0; o < node->n_out && !p->nodes[n]; o++) {
            int v = node->out[o];
            if (v < 0 || !b->report->values[v].culprit)
                continue;
            struct odb_culprit *culprit = findings_accuse(b, (int)n, v, findings_kind(b, v));
            ODB_TRY(verify_culprit(b, culprit, err));
            break;
        }
    }
    return ODB_OK;
}

/* The outputs are wrong still, or the target died (again, or of what a wrong value hid before):
 * that failure is sought now. */
static enum odb_status pin_search(struct pin *p, enum odb_status had, struct odb_error *why,
                                  struct odb_error *err)
{
    struct bisection *b = p->b;
    if (had == ODB_E_CRASH || had == ODB_E_TIMEOUT) {
        odb_signature_status(&b->sought, had, why);
        return hunt_crash(b, had, why);
    }
    if (had != ODB_OK)
        return ODB_OK;
    bool searched = b->options->strategy == ODB_STRATEGY_PREFIX || b->hidden;
    if (!searched)
        return pin_blame(p, err);
    for (size_t o = 0; o < b->n_outputs; o++)
        if (odb_verdict_is_bad(b->verdicts[o].verdict) && !p->values[b->outputs[o]])
            return hunt_value(b, b->outputs[o], err);
    return ODB_OK;
}

static double pin_worst(const struct bisection *b, const struct odb_value_report *verdicts)
{
    double worst = 0;
    for (size_t o = 0; o < b->n_outputs; o++)
        if (odb_verdict_is_bad(verdicts[o].verdict))
            worst = fmax(worst, verdicts[o].error.known ? verdicts[o].error.v : INFINITY);
    return worst;
}

static bool pin_died(const struct bisection *b)
{
    return b->sought.verdict == ODB_VERDICT_CRASH || b->sought.verdict == ODB_VERDICT_TIMEOUT;
}

/* An output that was wrong, or was never had because the target died, can be read: that one passes
 * now says something. */
static bool pin_tells(const struct pin *p)
{
    const struct bisection *b = p->b;
    bool died = pin_died(b);
    for (size_t o = 0; o < b->n_outputs; o++)
        if (!p->values[b->outputs[o]] && (died || odb_verdict_is_bad(b->verdicts[o].verdict)))
            return true;
    return false;
}

/* One round: *again where somebody new was found. */
static enum odb_status pin_round(struct pin *p, bool *again, struct odb_error *err)
{
    struct bisection *b = p->b;
    struct odb_error why = ODB_ERROR_INIT;
    size_t culprits = b->report->culprits.n, bad = 0;
    enum odb_status had, status;
    pin_enter(p);
    status = pin_run(p, false, &bad, &had, &why, err);
    double worst = pin_worst(b, b->verdicts);
    b->report->pinned_pass = had != ODB_OK ? ODB_NOT_TESTABLE
                             : bad         ? ODB_CONTRADICTS
                                           : ODB_CONFIRMS;
    if (status == ODB_OK && (had != ODB_OK || bad))
        status = pin_search(p, had, &why, err);
    if (status != ODB_OK && why.what[0] && err)
        *err = why;
    pin_leave(p);
    *again = b->report->culprits.n > culprits;
    bool in_vain = had == ODB_OK && bad && !*again && worst > 0.9 * pin_worst(b, b->verdicts);
    for (size_t c = 0; c < culprits; c++)
        if (p->nodes[b->report->culprits.items[c].node] && culprits == 1 && in_vain)
            b->report->culprits.items[c].checks[ODB_CHECK_PINNED] = ODB_CONTRADICTS;
    return status;
}

/* --- one by one ------------------------------------------------------------------------------- */

/* A culprit's own values pinned or not; false: another one shares them. */
static bool pin_set(struct pin *p, const struct odb_culprit *culprit, bool pinned)
{
    const struct bisection *b = p->b;
    int own[] = {culprit->node, pin_last(culprit)};
    for (size_t c = 0; c < b->report->culprits.n; c++) {
        const struct odb_culprit *other = &b->report->culprits.items[c];
        for (size_t i = 0; i < ODB_COUNT(own) && other != culprit; i++)
            if (p->nodes[own[i]] && (own[i] == other->node || own[i] == pin_last(other)))
                return false;
    }
    for (size_t i = 0; i < ODB_COUNT(own); i++) {
        const struct odb_node *node = &b->graph->nodes[own[i]];
        for (int o = 0; o < node->n_out && p->nodes[own[i]]; o++)
            if (node->out[o] >= 0 && b->trace->ref[node->out[o]])
                p->values[node->out[o]] = pinned;
    }
    return true;
}

/* Where something that the culprit makes wrong can be seen with the others pinned: marks
 * [n_values], the caller's. Nodes stand in topological order, so one pass is enough. */
static bool *pin_shows(const struct pin *p, const struct odb_culprit *culprit)
{
    const struct bisection *b = p->b;
    bool *shows = odb_new_n(bool, b->graph->n_values);
    for (size_t n = (size_t)pin_last(culprit); n < b->graph->n_nodes; n++) {
        const struct odb_node *node = &b->graph->nodes[n];
        bool wrong = n == (size_t)pin_last(culprit);
        for (size_t i = 0; !wrong && i < odb_node_n_reads(node); i++)
            wrong = odb_node_reads(node, i) >= 0 && shows[odb_node_reads(node, i)];
        for (int o = 0; wrong && o < node->n_out; o++)
            if (node->out[o] >= 0)
                shows[node->out[o]] = !p->values[node->out[o]] && !b->drawn[node->out[o]];
    }
    return shows;
}

/* What pinned nodes read, and so would be wrong behind a culprit that they hide, of what shows it
 * (pin_shows()). marks [n_values]; a value of its own that nobody but them reads says no more than
 * running it alone. */
static void pin_witnesses(const struct pin *p, const struct odb_culprit *culprit, const bool *shows,
                          bool *marks)
{
    const struct bisection *b = p->b;
    for (size_t n = 0; n < b->graph->n_nodes; n++) {
        const struct odb_node *node = &b->graph->nodes[n];
        for (size_t i = 0; p->nodes[n] && i < odb_node_n_reads(node); i++) {
            int v = odb_node_reads(node, i);
            if (v < 0 || !shows[v] || marks[v] || !b->trace->ref[v] ||
                !odb_probe_reads(b->graph, b->trace, v))
                continue;
            int maker = b->graph->values[v].producer;
            marks[v] = maker != culprit->node && maker != pin_last(culprit);
        }
    }
}

/* Reads values of the pinned model; bad [n] and *n_bad of them are wrong. *had: what the run came
 * to. */
static enum odb_status pin_read(struct pin *p, int about, const int *values, size_t n, bool *bad,
                                size_t *n_bad, enum odb_status *had, struct odb_error *err)
{
    struct bisection *b = p->b;
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, n);
    struct odb_probe probe = {.asked = ODB_ASKED_PINNED,
                              .what = about == ODB_NO_NODE ? "culprits pinned, what they read"
                                                           : "culprits pinned, and this one not",
                              .node = about,
                              .values = values,
                              .n_values = n,
                              .outputs = outputs,
                              .judged = true};
    enum odb_status status = ODB_OK;
    b->prober.pinned = p->values;
    *had = odb_probe_run(&b->prober, &probe, &why);
    enum odb_verdict shown = odb_probe_verdict(*had);
    *n_bad = 0;
    if (*had == ODB_CANCELLED) {
        status = *had;
        *err = why;
    }
    for (size_t i = 0; i < n && status == ODB_OK && *had == ODB_OK; i++) {
        struct odb_value_report report = {0};
        status = odb_judge_value(&b->judge, values[i], outputs[i], &report, err);
        if (decided_allows(b, values[i], &report))
            report.verdict = ODB_VERDICT_PASS;
        bad[i] = report.verdict != ODB_VERDICT_PASS;
        *n_bad += odb_verdict_is_bad(report.verdict);
        odb_probe_shows(&shown, report.verdict);
    }
    odb_probe_tell(&b->prober, &probe, shown, 0);
    odb_probe_drop(&b->prober, &probe);
    b->prober.pinned = NULL;
    free(outputs);
    return status;
}

/* Those of the witnesses stay that are right while all culprits are pinned. */
static enum odb_status pin_keep_right(struct pin *p, bool *marks, struct odb_error *err)
{
    size_t n_values = p->b->graph->n_values, n = 0, ignored;
    int *list = odb_new_n(int, n_values);
    bool *bad = odb_new_n(bool, n_values);
    enum odb_status had = ODB_OK, status = ODB_OK;
    for (size_t v = 0; v < n_values; v++)
        if (marks[v])
            list[n++] = (int)v;
    if (n)
        status = pin_read(p, ODB_NO_NODE, list, n, bad, &ignored, &had, err);
    for (size_t i = 0; i < n; i++)
        marks[list[i]] = had == ODB_OK && !bad[i];
    free(bad);
    free(list);
    return status;
}

/* All pinned but this one: does what follows it fail again? right [n_values]: witnesses that pass
 * with all pinned. */
static enum odb_status pin_single(struct pin *p, struct odb_culprit *culprit, const bool *right,
                                  struct odb_error *err)
{
    struct bisection *b = p->b;
    bool *marks = odb_new_n(bool, b->graph->n_values);
    bool *bad = odb_new_n(bool, b->graph->n_values);
    int *list = odb_new_n(int, b->graph->n_values);
    size_t n = 0, n_bad = 0;
    enum odb_status had = ODB_OK, status = ODB_OK;
    culprit->spoils = ODB_NOT_TESTABLE;
    if (!pin_set(p, culprit, false))
        goto out;
    bool *shows = pin_shows(p, culprit);
    pin_witnesses(p, culprit, shows, marks);
    for (size_t o = 0; o < b->n_outputs; o++) /* a right one would be that whatever happens */
        if (!p->values[b->outputs[o]] &&
            (pin_died(b) || odb_verdict_is_bad(b->verdicts[o].verdict)))
            marks[b->outputs[o]] = shows[b->outputs[o]];
    free(shows);
    for (size_t v = 0; v < b->graph->n_values; v++)
        if (marks[v] && (right[v] || b->graph->values[v].is_output))
            list[n++] = (int)v;
    if (n)
        status = pin_read(p, culprit->node, list, n, bad, &n_bad, &had, err);
    bool died = had == ODB_E_CRASH || had == ODB_E_TIMEOUT;
    if (n && status == ODB_OK && (had == ODB_OK || died))
        culprit->spoils = died || n_bad ? ODB_CONFIRMS : ODB_CONTRADICTS;
    pin_set(p, culprit, true);
out:
    free(list);
    free(bad);
    free(marks);
    return status;
}

/* With all of several culprits pinned the outputs pass, which one innocent among them would not
 * change. So each is left out once, as long as there are PIN_SINGLES at most; where nothing that
 * follows it is wrong then, looking at it may have been all that was. */
static enum odb_status pin_one_by_one(struct pin *p, struct odb_error *err)
{
    struct bisection *b = p->b;
    bool *right = odb_new_n(bool, b->graph->n_values);
    enum odb_status status = ODB_OK;
    size_t asked = 0;
    for (size_t c = 0; c < b->report->culprits.n && asked < PIN_SINGLES; c++) {
        const struct odb_culprit *culprit = &b->report->culprits.items[c];
        if (!p->nodes[culprit->node])
            continue;
        asked++;
        if (!pin_set(p, culprit, false))
            continue;
        bool *shows = pin_shows(p, culprit);
        pin_witnesses(p, culprit, shows, right);
        free(shows);
        pin_set(p, culprit, true);
    }
    status = pin_keep_right(p, right, err);
    asked = 0;
    for (size_t c = 0; c < b->report->culprits.n && asked < PIN_SINGLES && status == ODB_OK; c++) {
        struct odb_culprit *culprit = &b->report->culprits.items[c];
        bool only = false;
        if (!p->nodes[culprit->node])
            continue;
        status = pin_single(p, culprit, right, err);
        asked++;
        if (culprit->spoils == ODB_CONFIRMS)
            culprit->checks[ODB_CHECK_PINNED] = ODB_CONFIRMS;
        if (status == ODB_OK && culprit->spoils == ODB_CONTRADICTS && culprit->verified &&
            culprit->segment[0] == culprit->segment[1] && odb_diagnosis_accuses(culprit->kind))
            status = observed_only(b, culprit->node, &only, err);
        if (only) {
            culprit->kind = ODB_KIND_PROBE_EFFECT;
            culprit->verified = culprit->reaches_output = false;
        }
    }
    free(right);
    return status;
}

/* That all of them explain the outputs says of one that it does where it is the only one. */
static enum odb_status pin_conclude(struct pin *p, struct odb_error *err)
{
    struct odb_culprit *only = NULL;
    size_t n = 0;
    for (size_t c = 0; c < p->b->report->culprits.n; c++) {
        struct odb_culprit *culprit = &p->b->report->culprits.items[c];
        if (!p->nodes[culprit->node])
            continue;
        only = culprit;
        n++;
    }
    if (p->b->report->pinned_pass != ODB_CONFIRMS)
        return ODB_OK;
    if (n > 1)
        return pin_one_by_one(p, err);
    if (n == 1)
        only->checks[ODB_CHECK_PINNED] = ODB_CONFIRMS;
    return ODB_OK;
}

enum odb_status pinned_search(struct bisection *b, struct odb_error *err)
{
    struct pin p = {.b = b,
                    .values = odb_new_n(bool, b->graph->n_values),
                    .nodes = odb_new_n(bool, b->graph->n_nodes)};
    enum odb_status status = ODB_OK;
    bool again = true, begun = false;
    for (int round = 0; round < PIN_ROUNDS && again && status == ODB_OK; round++) {
        if (!pin_culprits(&p))
            break;
        b->report->pinned_pass = ODB_NOT_ASKED;
        if (!pin_tells(&p))
            break;
        if (!begun)
            findings_step_begin(b, "pinned");
        begun = true;
        status = pin_round(&p, &again, err);
    }
    if (status == ODB_OK)
        status = pin_conclude(&p, err);
    if (begun && status == ODB_OK)
        findings_step_end(b, "pinned", "the culprits' values made the reference's: %s",
                          b->report->pinned_pass == ODB_CONFIRMS      ? "the outputs pass"
                          : b->report->pinned_pass == ODB_CONTRADICTS ? "outputs are wrong still"
                          : b->report->pinned_pass == ODB_NOT_ASKED
                              ? "no output that was wrong is left to read"
                              : "it does not run");
    free(p.values);
    free(p.nodes);
    return status;
}
