/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One fault may hide another: what stands behind a NaN, a crash, or a prefix search's first find
 * has not been seen. So the culprits' values are made the reference's, the rest runs on the target,
 * and each culprit that is found then is pinned as well, until the outputs pass or no new one is
 * found.
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
#include "bisect/explains.h"
#include "run/hooks.h"
#include "bisect/strategy/hunt.h"
#include "bisect/alone/only_observed.h"
#include "bisect/reading.h"
#include "report/report.h"
#include "run/value_report.h"
#include "bisect/evidence/verify.h"

#define PIN_ROUNDS 4
/* Culprits of several that are left out once: a load each, one besides, and two more for one that
 * spoils nothing. */
#define PIN_SINGLES 8

/* A search, and that of the model with values pinned. */
struct pin {
    const struct search_case *c;  /* borrowed: without pins */
    struct findings *f;           /* borrowed */
    bool *values;                 /* owned; [n_values] pinned */
    bool *nodes;                  /* owned; [n_nodes] whose values are */
    size_t n;                     /* of nodes */
    struct search_case_made made; /* in a round: the case with pins, */
    struct findings found;        /* and what is found of it */
};

/* --- which nodes are pinned ------------------------------------------------------------------- */

/* One that the reference has no values of cannot be pinned. */
static bool pin_possible(const struct search_case *c, const struct odb_node *node)
{
    bool possible = node->n_out > 0;
    for (int o = 0; o < node->n_out; o++)
        possible = possible && (node->out[o] < 0 || c->trace->ref[node->out[o]] ||
                                !odb_probe_wants(c->graph, c->trace, node->out[o]));
    return possible;
}

static void pin_node(struct pin *p, int index)
{
    const struct odb_node *node = &p->c->graph->nodes[index];
    if (p->nodes[index] || !pin_possible(p->c, node))
        return;
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0 && p->c->trace->ref[node->out[o]])
            p->values[node->out[o]] = true;
    p->nodes[index] = true;
    p->n++;
    findings_pin_node(p->f, index);
}

static bool pin_is_fault(const struct odb_culprit *c)
{
    return !c->of_reference && c->kind != ODB_KIND_EXCHANGED && c->kind != ODB_KIND_AMPLIFIED &&
           c->kind != ODB_KIND_ACCUMULATED &&
           c->kind != ODB_KIND_OVERFLOW; /* pinned, its value would leave the range again */
}

/* The end of what is at fault: of a node that takes the whole model for it, itself. */
static int pin_last(const struct search_case *c, const struct odb_culprit *who)
{
    return !who->group.n && odb_culprit_is_region(who) ? who->segment[1] : case_pin_of(c, who);
}

/* The nodes, and of regions the ends: what lies between is read by these alone, mostly. True: one
 * of them is new. */
static bool pin_culprits(struct pin *p)
{
    const struct search_case *c = p->c;
    struct findings *f = p->f;
    size_t before = p->n;
    for (size_t v = 0; v < c->graph->n_values; v++) /* is what it is, and is not read */
        p->values[v] |= f->exchanged[v] != ODB_NO_VALUE;
    for (size_t i = 0; i < f->report->culprits.n; i++) {
        const struct odb_culprit *culprit = &f->report->culprits.items[i];
        if (!pin_is_fault(culprit) || !culprit->reaches_output)
            continue;
        pin_node(p, case_pin_of(c, culprit));
        pin_node(p, pin_last(c, culprit));
    }
    return p->n > before;
}

/* --- running it ------------------------------------------------------------------------------- */

static enum odb_status pin_judge(struct pin *p, const struct odb_probe *probe, size_t *bad,
                                 enum odb_verdict *shown, struct odb_error *err)
{
    const struct search_case *c = &p->made.is;
    struct findings *f = &p->found;
    for (size_t i = 0; i < probe->n_values; i++) {
        struct odb_value_report *report = &findings_judge(f)[probe->values[i]];
        ODB_TRY(odb_judge_value(&c->judge, probe->values[i], probe->outputs[i], report, err));
        if (decided_allows(c, f, probe->values[i], report))
            report->verdict = ODB_VERDICT_PASS;
        *bad += odb_verdict_is_bad(report->verdict);
        odb_probe_shows(shown, report->verdict);
        for (size_t o = 0; o < c->n_outputs; o++)
            if (c->outputs[o] == probe->values[i])
                f->verdicts[o] = *report;
    }
    return ODB_OK;
}

/* Runs the pinned model and judges its outputs; all: every value is read and every node judged.
 * *had, *why: what the run came to. */
static enum odb_status pin_run(struct pin *p, bool all, size_t *bad, enum odb_status *had,
                               struct odb_error *why, struct odb_error *err)
{
    const struct search_case *c = &p->made.is;
    struct findings *f = &p->found;
    int *list = odb_new_n(int, c->graph->n_values);
    size_t n = 0, made = all ? reading_list(c, list) : c->n_outputs;
    if (!all)
        memcpy(list, c->outputs, c->n_outputs * sizeof *list);
    for (size_t i = 0; i < made; i++)
        if (!p->values[list[i]])
            list[n++] = list[i];
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, n);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_PINNED,
                              .what = all ? "all values probed, culprits pinned"
                                          : "the whole model, culprits pinned",
                              .node = ODB_NO_NODE,
                              .values = list,
                              .n_values = n,
                              .outputs = outputs,
                              .judged = true};
    *bad = 0;
    *had = odb_probe_run(c->prober, &probe, why);
    enum odb_verdict shown = odb_probe_verdict(*had);
    enum odb_status status = *had == ODB_CANCELLED ? *had : ODB_OK;
    if (status != ODB_OK && err)
        *err = *why;
    else if (*had == ODB_OK && !all)
        status = pin_judge(p, &probe, bad, &shown, err);
    for (size_t i = 0; i < n && *had == ODB_OK && all; i++) {
        odb_tensor_unref(f->given[list[i]]);
        f->given[list[i]] = outputs[i];
        outputs[i] = NULL;
    }
    odb_probe_tell(c->prober, &probe, shown, 0);
    odb_probe_drop(c->prober, &probe);
    free(outputs);
    free(list);
    return status;
}

/* --- other culprits --------------------------------------------------------------------------- */

/* Every node judged on what the target made with the culprits pinned. */
static enum odb_status pin_blame(struct pin *p, struct odb_error *err)
{
    const struct search_case *c = &p->made.is;
    struct findings *f = &p->found;
    struct odb_search_hooks quiet = c->options->hooks;
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status had;
    size_t ignored;
    ODB_TRY(pin_run(p, true, &ignored, &had, &why, err));
    if (had != ODB_OK)
        return ODB_OK;
    quiet.event = NULL;
    size_t first = f->report->culprits.n;
    ODB_TRY(
        odb_blame(&c->judge, 0, (int)c->graph->n_nodes, f->given, findings_judge(f), &quiet, err));
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        for (int o = 0; o < node->n_out && !p->nodes[n]; o++) {
            int v = node->out[o];
            if (v < 0 || !f->values[v].culprit)
                continue;
            findings_accuse(f, (int)n, v, findings_kind(f, v));
            break;
        }
    }
    ODB_TRY(explains_known(c, f, first, err));
    for (size_t i = first; i < f->report->culprits.n; i++)
        if (!findings_culprit(f, i)->known)
            ODB_TRY(verify_culprit(c, f, findings_culprit(f, i), err));
    return ODB_OK;
}

/* The outputs are wrong still, or the target died (again, or of what a wrong value hid before):
 * that failure is sought now. */
static enum odb_status pin_search(struct pin *p, enum odb_status had, struct odb_error *why,
                                  struct odb_error *err)
{
    const struct search_case *c = &p->made.is;
    struct findings *f = &p->found;
    if (had == ODB_E_CRASH || had == ODB_E_TIMEOUT) {
        struct odb_signature sought;
        odb_signature_status(&sought, had, why);
        findings_sign(f, &sought);
        return hunt_crash(c, f, had, why);
    }
    if (had != ODB_OK)
        return ODB_OK;
    bool searched = c->options->strategy == ODB_STRATEGY_PREFIX || f->hidden;
    if (!searched)
        return pin_blame(p, err);
    for (size_t o = 0; o < c->n_outputs; o++)
        if (odb_verdict_is_bad(f->verdicts[o].verdict) && !p->values[c->outputs[o]])
            return hunt_value(c, f, c->outputs[o], err);
    return ODB_OK;
}

static double pin_worst(const struct search_case *c, const struct odb_value_report *verdicts)
{
    double worst = 0;
    for (size_t o = 0; o < c->n_outputs; o++)
        if (odb_verdict_is_bad(verdicts[o].verdict))
            worst = fmax(worst, verdicts[o].error.known ? verdicts[o].error.v : INFINITY);
    return worst;
}

static bool pin_died(const struct findings *f)
{
    return f->sought.verdict == ODB_VERDICT_CRASH || f->sought.verdict == ODB_VERDICT_TIMEOUT;
}

/* An output that was wrong, or was never had because the target died, can be read: that one passes
 * now says something. */
static bool pin_tells(const struct pin *p)
{
    const struct search_case *c = p->c;
    const struct findings *f = p->f;
    bool died = pin_died(f);
    for (size_t o = 0; o < c->n_outputs; o++)
        if (!p->values[c->outputs[o]] && (died || odb_verdict_is_bad(f->verdicts[o].verdict)))
            return true;
    return false;
}

/* One round: *again where a new culprit was found. */
static enum odb_status pin_round(struct pin *p, bool *again, struct odb_error *err)
{
    struct findings *f = p->f;
    struct odb_error why = ODB_ERROR_INIT;
    size_t culprits = f->report->culprits.n, bad = 0;
    enum odb_status had, status;
    search_case_pin(&p->made, p->c, p->values);
    findings_pinned(&p->found, &p->made.is, f);
    status = pin_run(p, false, &bad, &had, &why, err);
    double worst = pin_worst(p->c, p->found.verdicts);
    findings_pinned_pass(f, had != ODB_OK ? ODB_NOT_TESTABLE
                            : bad         ? ODB_CONTRADICTS
                                          : ODB_CONFIRMS);
    if (status == ODB_OK && (had != ODB_OK || bad))
        status = pin_search(p, had, &why, err);
    if (status != ODB_OK && why.what[0] && err)
        *err = why;
    findings_dispose(&p->found);
    search_case_dispose(&p->made);
    *again = f->report->culprits.n > culprits;
    bool in_vain = had == ODB_OK && bad && !*again && worst > 0.9 * pin_worst(p->c, f->verdicts);
    for (size_t i = 0; i < culprits; i++)
        if (p->nodes[case_pin_of(p->c, &f->report->culprits.items[i])] && culprits == 1 && in_vain)
            findings_culprit(f, i)->checks[ODB_CHECK_PINNED] = ODB_CONTRADICTS;
    return status;
}

/* --- one by one ------------------------------------------------------------------------------- */

/* A culprit's own values pinned or not; false: another one shares them. */
static bool pin_set(struct pin *p, const struct odb_culprit *culprit, bool pinned)
{
    const struct search_case *c = p->c;
    const struct findings *f = p->f;
    int own[] = {case_pin_of(c, culprit), pin_last(c, culprit)};
    for (size_t k = 0; k < f->report->culprits.n; k++) {
        const struct odb_culprit *other = &f->report->culprits.items[k];
        for (size_t i = 0; i < ODB_COUNT(own) && other != culprit; i++)
            if (p->nodes[own[i]] &&
                (own[i] == case_pin_of(c, other) || own[i] == pin_last(c, other)))
                return false;
    }
    for (size_t i = 0; i < ODB_COUNT(own); i++) {
        const struct odb_node *node = &c->graph->nodes[own[i]];
        for (int o = 0; o < node->n_out && p->nodes[own[i]]; o++)
            if (node->out[o] >= 0 && c->trace->ref[node->out[o]])
                p->values[node->out[o]] = pinned;
    }
    return true;
}

/* Where something that the culprit makes wrong can be seen with the others pinned: marks
 * [n_values], the caller's. Nodes stand in topological order, so one pass is enough. */
static bool *pin_shows(const struct pin *p, const struct odb_culprit *culprit)
{
    const struct search_case *c = p->c;
    bool *shows = odb_new_n(bool, c->graph->n_values);
    for (size_t n = (size_t)pin_last(c, culprit); n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        bool wrong = n == (size_t)pin_last(c, culprit);
        for (size_t i = 0; !wrong && i < odb_node_n_reads(node); i++)
            wrong = odb_node_reads(node, i) >= 0 && shows[odb_node_reads(node, i)];
        for (int o = 0; wrong && o < node->n_out; o++)
            if (node->out[o] >= 0)
                shows[node->out[o]] = !p->values[node->out[o]] && !c->drawn[node->out[o]];
    }
    return shows;
}

/* What pinned nodes read, and so would be wrong behind a culprit that they hide, of what shows it
 * (pin_shows()). marks [n_values]; a value of its own that only they read says no more than running
 * it alone. */
static void pin_witnesses(const struct pin *p, const struct odb_culprit *culprit, const bool *shows,
                          bool *marks)
{
    const struct search_case *c = p->c;
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        for (size_t i = 0; p->nodes[n] && i < odb_node_n_reads(node); i++) {
            int v = odb_node_reads(node, i);
            if (v < 0 || !shows[v] || marks[v] || !c->trace->ref[v] ||
                !odb_probe_reads(c->graph, c->trace, v))
                continue;
            int maker = c->graph->values[v].producer;
            marks[v] = maker != case_pin_of(c, culprit) && maker != pin_last(c, culprit);
        }
    }
}

/* Reads values of the pinned model; bad [n] and *n_bad of them are wrong. *had: what the run came
 * to. */
static enum odb_status pin_read(struct pin *p, int about, const int *values, size_t n, bool *bad,
                                size_t *n_bad, enum odb_status *had, struct odb_error *err)
{
    const struct search_case *c = p->c;
    struct findings *f = p->f;
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, n);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_PINNED,
                              .what = about == ODB_NO_NODE ? "culprits pinned, what they read"
                                                           : "culprits pinned, and this one not",
                              .node = about,
                              .values = values,
                              .n_values = n,
                              .outputs = outputs,
                              .judged = true};
    struct odb_prober prober = odb_prober_pinned(c->prober, p->values);
    enum odb_status status = ODB_OK;
    *had = odb_probe_run(&prober, &probe, &why);
    enum odb_verdict shown = odb_probe_verdict(*had);
    *n_bad = 0;
    if (*had == ODB_CANCELLED) {
        status = *had;
        *err = why;
    }
    for (size_t i = 0; i < n && status == ODB_OK && *had == ODB_OK; i++) {
        struct odb_value_report report = {0};
        status = odb_judge_value(&c->judge, values[i], outputs[i], &report, err);
        if (decided_allows(c, f, values[i], &report))
            report.verdict = ODB_VERDICT_PASS;
        bad[i] = report.verdict != ODB_VERDICT_PASS;
        *n_bad += odb_verdict_is_bad(report.verdict);
        odb_probe_shows(&shown, report.verdict);
    }
    odb_probe_tell(&prober, &probe, shown, 0);
    odb_probe_drop(&prober, &probe);
    free(outputs);
    return status;
}

/* Those of the witnesses stay that are right while all culprits are pinned. */
static enum odb_status pin_keep_right(struct pin *p, bool *marks, struct odb_error *err)
{
    size_t n_values = p->c->graph->n_values, n = 0, ignored;
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
    const struct search_case *c = p->c;
    struct findings *f = p->f;
    bool *marks = odb_new_n(bool, c->graph->n_values);
    bool *bad = odb_new_n(bool, c->graph->n_values);
    int *list = odb_new_n(int, c->graph->n_values);
    size_t n = 0, n_bad = 0;
    enum odb_status had = ODB_OK, status = ODB_OK;
    culprit->spoils = ODB_NOT_TESTABLE;
    if (!pin_set(p, culprit, false))
        goto out;
    bool *shows = pin_shows(p, culprit);
    pin_witnesses(p, culprit, shows, marks);
    for (size_t o = 0; o < c->n_outputs; o++) /* a right one would be that whatever happens */
        if (!p->values[c->outputs[o]] &&
            (pin_died(f) || odb_verdict_is_bad(f->verdicts[o].verdict)))
            marks[c->outputs[o]] = shows[c->outputs[o]];
    free(shows);
    for (size_t v = 0; v < c->graph->n_values; v++)
        if (marks[v] && (right[v] || c->graph->values[v].is_output))
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

static bool pin_asks_of(const struct pin *p, const struct odb_culprit *culprit)
{
    return !culprit->known && p->nodes[case_pin_of(p->c, culprit)];
}

/* With all of several culprits pinned the outputs pass, which one innocent among them would not
 * change. So each is left out once, as long as there are PIN_SINGLES at most; where nothing that
 * follows it is wrong then, looking at it may have been all that was. */
static enum odb_status pin_one_by_one(struct pin *p, struct odb_error *err)
{
    const struct search_case *c = p->c;
    struct findings *f = p->f;
    bool *right = odb_new_n(bool, c->graph->n_values);
    enum odb_status status = ODB_OK;
    size_t asked = 0;
    for (size_t i = 0; i < f->report->culprits.n && asked < PIN_SINGLES; i++) {
        const struct odb_culprit *culprit = &f->report->culprits.items[i];
        if (!pin_asks_of(p, culprit))
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
    for (size_t i = 0; i < f->report->culprits.n && asked < PIN_SINGLES && status == ODB_OK; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        bool only = false;
        if (!pin_asks_of(p, culprit))
            continue;
        status = pin_single(p, culprit, right, err);
        asked++;
        if (culprit->spoils == ODB_CONFIRMS)
            culprit->checks[ODB_CHECK_PINNED] = ODB_CONFIRMS;
        if (status == ODB_OK && culprit->spoils == ODB_CONTRADICTS && culprit->verified &&
            culprit->segment[0] == culprit->segment[1] && odb_diagnosis_accuses(culprit->kind))
            status = observed_only(c, f, culprit->node, &only, err);
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
    for (size_t i = 0; i < p->f->report->culprits.n; i++) {
        struct odb_culprit *culprit = findings_culprit(p->f, i);
        if (!p->nodes[case_pin_of(p->c, culprit)])
            continue;
        only = culprit;
        n++;
    }
    if (p->f->report->pinned_pass != ODB_CONFIRMS)
        return ODB_OK;
    if (n > 1)
        return pin_one_by_one(p, err);
    if (n == 1)
        only->checks[ODB_CHECK_PINNED] = ODB_CONFIRMS;
    return ODB_OK;
}

enum odb_status pinned_search(const struct search_case *c, struct findings *f,
                              struct odb_error *err)
{
    struct pin p = {.c = c,
                    .f = f,
                    .values = odb_new_n(bool, c->graph->n_values),
                    .nodes = odb_new_n(bool, c->graph->n_nodes)};
    enum odb_status status = ODB_OK;
    bool again = true, begun = false;
    for (int round = 0; round < PIN_ROUNDS && again && status == ODB_OK; round++) {
        if (!pin_culprits(&p))
            break;
        findings_pinned_pass(f, ODB_NOT_ASKED);
        if (!pin_tells(&p))
            break;
        if (!begun)
            findings_step_begin(f, "pinned");
        begun = true;
        status = pin_round(&p, &again, err);
    }
    if (status == ODB_OK)
        status = pin_conclude(&p, err);
    if (begun && status == ODB_OK)
        findings_step_end(f, "pinned", "the culprits' values made the reference's: %s",
                          f->report->pinned_pass == ODB_CONFIRMS      ? "the outputs pass"
                          : f->report->pinned_pass == ODB_CONTRADICTS ? "outputs are wrong still"
                          : f->report->pinned_pass == ODB_NOT_ASKED
                              ? "no output that was wrong is left to read"
                              : "it does not run");
    free(p.values);
    free(p.nodes);
    return status;
}
