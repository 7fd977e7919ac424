/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The target is a recording: one look, and nothing to ask again. So nothing is said of whether it
 * repeats itself, no node runs alone, and there are no prefixes. Blame needs none of that: what was
 * recorded before a node goes into the reference's operator, and what comes out is held against
 * what was recorded behind it. Where values are missing in between, it is the segment between
 * recorded ones that is judged, and accused.
 */
#include "bisect/strategy/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/decided.h"
#include "bisect/findings.h"
#include "bisect/alone/held.h"
#include "run/hooks.h"
#include "bisect/evidence/overflow.h"
#include "probe/recall.h"
#include "bisect/evidence/reference_off.h"
#include "report/report.h"
#include "judge/made_up.h"
#include "judge/segment.h"
#include "bisect/evidence/tolerated.h"
#include "bisect/strategy/strategies.h"
#include "run/value_report.h"

struct recorded {
    const struct search_case *c;     /* borrowed */
    struct findings *f;              /* borrowed */
    struct search_case_made *judged; /* borrowed: c */
    bool *derived; /* owned; [n_values] not recorded, and made of weights and constants alone: the
                      reference's stands for it */
    bool *drawn;   /* owned; [n_values] random draws, and what depends on them: the recording drew
                      for itself, so that the reference has other values there */
    struct odb_made_up made_up; /* owned */
    bool doubted;               /* the recording does not fit an input that was made up */
    size_t n_had, n_made;       /* values of nodes */
};

/* --- what there is ---------------------------------------------------------------------------- */

static enum odb_status recorded_check_strategy(const struct search_case *c, struct odb_error *err)
{
    if (strategy_row(c->options->strategy)->reads != STRATEGY_READS_NONE)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "%s is a recording, which cannot be run in pieces",
             c->options->target);
    return odb_error_remedy(err, "use --strategy blame, or auto");
}

static void recorded_mark_drawn(struct recorded *r)
{
    const struct odb_graph *graph = r->c->graph;
    r->drawn = odb_new_n(bool, graph->n_values);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        bool drawn = odb_cpu_random(r->c->trace->cpu, (int)n);
        for (size_t i = 0; i < odb_node_n_reads(node); i++)
            drawn |= odb_node_reads(node, i) >= 0 && r->drawn[odb_node_reads(node, i)];
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                r->drawn[node->out[o]] = drawn;
    }
}

static void recorded_layout(struct recorded *r, const struct odb_probe *probe)
{
    char *line = odb_recall_layout(r->c->prober, probe->values, probe->outputs, probe->n_values);
    if (line)
        findings_warn(r->f, "%s", line);
    free(line);
}

/* What the recording holds becomes the target's values. The reference's draws were put there for
 * targets that are fed them; feeds stay where the recording has none. */
static enum odb_status recorded_recall(struct recorded *r, struct odb_error *err)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    const struct odb_graph *graph = c->graph;
    int *list = odb_new_n(int, graph->n_values);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, graph->n_values);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_RECORDED,
                              .what = "what was recorded",
                              .node = ODB_NO_NODE,
                              .values = list,
                              .outputs = outputs};
    for (size_t v = 0; v < graph->n_values; v++)
        if (graph->values[v].name[0] && !graph->values[v].init)
            list[probe.n_values++] = (int)v;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < probe.n_values && c->options->recorded; i++)
        outputs[i] = odb_tensor_ref(c->options->recorded[list[i]]);
    if (!c->options->recorded)
        status = odb_probe_run(c->prober, &probe, err);
    if (!c->options->recorded && status == ODB_OK)
        recorded_layout(r, &probe);
    for (size_t i = 0; i < probe.n_values && status == ODB_OK; i++) {
        int v = list[i];
        bool made = graph->values[v].producer != ODB_NO_NODE;
        r->n_made += made;
        r->n_had += made && outputs[i];
        if (!made && !outputs[i])
            continue;
        findings_give(f, v, outputs[i]);
        findings_keep(f, v, outputs[i]);
    }
    odb_probe_drop(c->prober, &probe);
    free(outputs);
    free(list);
    ODB_TRY(status);
    /* Whatever weights alone make, and the recording lacks, is taken as it is. */
    r->derived = odb_new_n(bool, graph->n_values);
    odb_segment_derive(c->trace, f->given, r->derived);
    /* What was brought has been made with these very inputs. */
    const struct odb_feeds none = {0};
    odb_made_up_init(&r->made_up, graph, c->options->recorded ? &none : c->feeds, f->given);
    for (size_t v = 0; v < graph->n_values; v++)
        r->n_made -= r->derived[v] && graph->values[v].name[0] && !graph->values[v].init;
    return ODB_OK;
}

/* Where the recording holds no output of the model, the last values that it holds are judged
 * instead. */
static void recorded_outputs(struct recorded *r)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    size_t had = 0;
    for (size_t o = 0; o < c->n_outputs; o++)
        had += f->given[c->outputs[o]] && !r->derived[c->outputs[o]];
    if (had)
        return;
    int *list = odb_new_n(int, c->graph->n_values), *all = odb_new_n(int, c->graph->n_values);
    bool *before = odb_new_n(bool, c->graph->n_nodes);
    size_t n = 0;
    for (size_t v = c->graph->n_values; v-- > 0;) {
        const struct odb_value *value = &c->graph->values[v];
        if (value->producer == ODB_NO_NODE || !f->given[v] || r->derived[v] ||
            before[value->producer])
            continue;
        list[n++] = (int)v;
        odb_graph_ancestors(c->graph, list, n, NULL, before);
    }
    memcpy(all, list, n * sizeof *all);
    free(list);
    free(before);
    search_case_set_outputs(r->judged, all, n);
    findings_turn_to(f, c);
}

/* --- judging ---------------------------------------------------------------------------------- */

static enum odb_status recorded_judge_value(struct recorded *r, int v, struct odb_error *err)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    struct odb_value_report report = f->values[v];
    if (!f->given[v] || r->derived[v])
        return ODB_OK;
    if (r->drawn[v])
        snprintf(report.reason, sizeof report.reason,
                 "hangs on a random draw, which the recording made for itself");
    else
        ODB_TRY(odb_judge_value(&c->judge, v, f->given[v], &report, err));
    findings_value(f, v, &report);
    return ODB_OK;
}

/* The recording was made with other inputs than the reference was given: whatever follows differs,
 * and no node is to blame. */
static enum odb_status recorded_judge_feeds(struct recorded *r, struct odb_error *err)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    for (size_t i = 0; i < c->feeds->n; i++) {
        int v = c->feeds->items[i].value;
        ODB_TRY(recorded_judge_value(r, v, err));
        if (odb_verdict_is_bad(f->values[v].verdict))
            findings_warn(f,
                          "input %s is another one in the recording (%s), so values differ that "
                          "no node is to blame for; leave it to the recording",
                          c->graph->values[v].name, f->values[v].reason);
    }
    return ODB_OK;
}

static bool recorded_guilty(const struct findings *f, const struct odb_node *node)
{
    bool guilty = false;
    for (int o = 0; o < node->n_out; o++)
        guilty |= node->out[o] >= 0 && f->values[node->out[o]].culprit;
    return guilty;
}

/* Puts what the reference makes of the values before them in the place of values at the border of
 * a segment that are wrong. False: there is none. */
static bool recorded_mend(struct recorded *r, const struct odb_segment *s,
                          struct odb_tensor **given)
{
    bool mended = false;
    for (size_t i = 0; i < s->n_border; i++) {
        int v = s->border[i];
        struct odb_tensor *right = NULL;
        if (r->f->values[v].culprit)
            right = odb_segment_replay(r->c->trace, v, r->f->given);
        if (right) {
            given[v] = right;
            mended = true;
        }
    }
    return mended;
}

/* A node is off on what was recorded before it, of which a value is wrong itself. Does its output
 * follow from the right value? Then that is what it read, and the wrong one is in the recording
 * alone. */
static enum odb_status recorded_look_twice(struct recorded *r, int index, struct odb_error *err)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    const struct odb_node *node = &c->graph->nodes[index];
    size_t n_values = c->graph->n_values;
    enum odb_status status = ODB_OK;
    for (int o = 0; o < node->n_out && status == ODB_OK; o++) {
        int v = node->out[o];
        if (v < 0 || !f->values[v].culprit)
            continue;
        struct odb_tensor **given = odb_xmemdup(f->given, n_values * sizeof *given);
        struct odb_value_report *values = odb_xmemdup(f->values, n_values * sizeof *values);
        struct odb_segment s;
        odb_segment_init(&s, c->trace, v, f->given);
        values[v].culprit = false;
        values[v].reason[0] = '\0';
        if (recorded_mend(r, &s, given)) {
            status = odb_judge_segments(&c->judge, index, given, values, err);
            if (status == ODB_OK && !values[v].culprit) {
                findings_judge(f)[v] = values[v];
                findings_warn(f,
                              "what reads the recorded %s fits the value that it should have: "
                              "the recording may be spoilt there, rather than the target wrong",
                              c->graph->values[s.border[0]].name);
            }
        }
        for (size_t i = 0; i < s.n_border; i++)
            if (given[s.border[i]] != f->given[s.border[i]])
                odb_tensor_unref(given[s.border[i]]);
        odb_segment_dispose(&s);
        free(values);
        free(given);
    }
    return status;
}

static enum odb_status recorded_judge_made(struct recorded *r, int index, struct odb_error *err)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    const struct odb_node *node = &c->graph->nodes[index];
    bool any = false;
    for (int o = 0; o < node->n_out; o++) {
        int v = node->out[o];
        if (v < 0)
            continue;
        any |= f->given[v] && !r->derived[v];
        ODB_TRY(recorded_judge_value(r, v, err));
    }
    if (!any)
        return ODB_OK;
    ODB_TRY(odb_judge_segments(&c->judge, index, f->given, findings_judge(f), err));
    if (recorded_guilty(f, node))
        ODB_TRY(recorded_look_twice(r, index, err));
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0 && f->given[node->out[o]])
            findings_tell(f, node->out[o]);
    return ODB_OK;
}

/* Off, and by more than honest runs that decide otherwise. */
static bool recorded_is_off(const struct search_case *c, struct findings *f, int value,
                            const struct odb_value_report *report)
{
    return odb_verdict_is_bad(report->verdict) && !decided_allows(c, f, value, report);
}

/* What an output is where nothing else is read counts, and what was read with all the rest does
 * not, where the two differ. */
static enum odb_status recorded_unobserved(const struct search_case *c, struct findings *f,
                                           size_t o, struct odb_error *err)
{
    int v = c->outputs[o];
    struct odb_value_report told = {0}, *read = &findings_judge(f)[v];
    bool judged = odb_verdict_is_bad(read->verdict) || read->verdict == ODB_VERDICT_PASS;
    if (!c->options->unobserved || !c->options->unobserved[v] || !judged)
        return ODB_OK;
    ODB_TRY(odb_judge_value(&c->judge, v, c->options->unobserved[v], &told, err));
    bool bad = recorded_is_off(c, f, v, &told);
    if (bad == recorded_is_off(c, f, v, read))
        return ODB_OK;
    findings_warn(f,
                  "output %s %s as it is, and %s while all values are read: the runtime computes "
                  "otherwise then, and what was read may not be what is",
                  c->graph->values[v].name, bad ? "is off" : "passes", bad ? "passes" : "is off");
    f->verdicts[o] = told;
    if (bad) /* no node is accused of what was not read */
        return ODB_OK;
    read->verdict = told.verdict;
    read->error = told.error;
    read->error_mean = told.error_mean;
    return ODB_OK;
}

/* What a value is that was recorded under the name of another one, or was not. The caller's. */
static struct odb_tensor *recorded_right(const struct search_case *c, const struct findings *f,
                                         int value)
{
    for (size_t o = 0; o < c->n_outputs; o++)
        if (f->exchanged[c->outputs[o]] == value)
            return odb_tensor_ref(f->plain[o]);
    return odb_tensor_ref(c->trace->ref[value]);
}

/* Outputs that hold each other's values: a node that read one has read what it should hold, so that
 * is put in its place, and no other node is accused. */
static enum odb_status recorded_exchanged(struct recorded *r, struct odb_error *err)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    for (size_t o = 0; o < c->n_outputs && c->n_outputs > 1; o++) {
        int v = c->outputs[o];
        if (!f->given[v] || r->derived[v] || r->drawn[v])
            continue;
        odb_tensor_unref(f->plain[o]);
        f->plain[o] = odb_tensor_ref(f->given[v]);
        ODB_TRY(odb_judge_value(&c->judge, v, f->plain[o], &f->verdicts[o], err));
    }
    ODB_TRY(held_exchanged(c, f, err));
    for (size_t o = 0; o < c->n_outputs; o++) {
        int v = c->outputs[o];
        if (f->exchanged[v] == ODB_NO_VALUE)
            continue;
        odb_tensor_unref(f->given[v]);
        f->given[v] = recorded_right(c, f, v);
    }
    return ODB_OK;
}

static enum odb_status recorded_judge(struct recorded *r, struct odb_error *err)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    ODB_TRY(recorded_judge_feeds(r, err));
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        ODB_TRY(odb_hooks_cancelled(&c->options->hooks, err));
        ODB_TRY(recorded_judge_made(r, (int)n, err));
        odb_hooks_progress(&c->options->hooks, "replay", (int)n, n + 1, c->graph->n_nodes);
    }
    for (size_t o = 0; o < c->n_outputs; o++) {
        if (f->exchanged[c->outputs[o]] != ODB_NO_VALUE) {
            findings_judge(f)[c->outputs[o]] = f->verdicts[o];
            findings_diverge(f, true);
            continue;
        }
        f->verdicts[o] = f->values[c->outputs[o]];
        ODB_TRY(recorded_unobserved(c, f, o, err));
        findings_diverge(f, f->diverge || odb_verdict_is_bad(f->verdicts[o].verdict));
    }
    return ODB_OK;
}

/* --- accusing --------------------------------------------------------------------------------- */

/* No node is at fault for an input that the target may never have had. Without a culprit by what
 * was recorded there is no verdict. */
static void recorded_doubt(struct recorded *r)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    struct odb_error why = ODB_ERROR_INIT;
    bool diverge = false;
    if (r->doubted)
        return;
    r->doubted = true;
    for (size_t v = 0; v < c->graph->n_values; v++) {
        struct odb_value_report report = f->values[v];
        if (f->exchanged[v] == ODB_NO_VALUE && odb_made_up_doubt(&r->made_up, (int)v, &report))
            findings_value(f, (int)v, &report);
    }
    for (size_t o = 0; o < c->n_outputs; o++) {
        int v = c->outputs[o];
        if (f->exchanged[v] == ODB_NO_VALUE && r->made_up.behind[v] != ODB_NO_VALUE)
            f->verdicts[o] = f->values[v];
        diverge |= odb_verdict_is_bad(f->verdicts[o].verdict);
    }
    findings_diverge(f, diverge);
    (void)odb_made_up_fail(&r->made_up, c->options->target, &why);
    findings_undecide(f, ODB_UNDECIDED_INPUTS, &why);
}

/* Doubts the inputs that were made up if a value is off that is made of one, the target's or the
 * reference's. */
static void recorded_doubt_inputs(struct recorded *r)
{
    const struct findings *f = r->f;
    for (size_t v = 0; v < r->c->graph->n_values; v++)
        if (r->made_up.direct[v] != ODB_NO_VALUE && f->exchanged[v] == ODB_NO_VALUE &&
            (f->values[v].culprit || reference_off(f, (int)v)))
            recorded_doubt(r);
}

static void recorded_accuse(struct recorded *r, int value, enum odb_diagnosis kind)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    int node = c->graph->values[value].producer;
    struct odb_segment s;
    odb_segment_init(&s, c->trace, value, f->given);
    struct odb_culprit *culprit = findings_accuse(f, node, value, kind);
    culprit->segment[0] = s.first;
    culprit->segment[1] = s.last;
    odb_segment_dispose(&s);
    if (reference_off(f, value))
        reference_blame(c, f, culprit);
}

/* A bad value, all before it good, and no node accused: small errors that add up, a gain, or, where
 * the reference cannot run what lies between, something there. */
static bool recorded_accuse_first(struct recorded *r, int value)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    const struct odb_value_report *report = &f->values[value];
    struct odb_segment s;
    bool clean = true, boundary = report->boundary;
    odb_segment_init(&s, c->trace, value, f->given);
    for (size_t i = 0; i < s.n_border; i++) {
        clean &= !odb_verdict_is_bad(f->values[s.border[i]].verdict);
        boundary |= f->values[s.border[i]].boundary;
    }
    odb_segment_dispose(&s);
    if (!clean)
        return false;
    if (r->made_up.direct[value] != ODB_NO_VALUE) {
        recorded_doubt(r);
        return true;
    }
    bool replayed = report->local_error.known || report->local_noise.known;
    bool amplified = boundary || (report->gain.known && report->gain.v > 10);
    recorded_accuse(r, value,
                    !replayed   ? findings_kind(f, value)
                    : amplified ? ODB_KIND_AMPLIFIED
                                : ODB_KIND_ACCUMULATED);
    return true;
}

static enum odb_status recorded_accuse_all(struct recorded *r, struct odb_error *err)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    recorded_doubt_inputs(r);
    for (size_t n = 0; n < c->graph->n_nodes; n++)
        for (int o = 0; o < c->graph->nodes[n].n_out; o++) {
            int v = c->graph->nodes[n].out[o];
            if (v >= 0 && f->exchanged[v] == ODB_NO_VALUE &&
                (f->values[v].culprit || reference_off(f, v)))
                recorded_accuse(r, v, findings_kind(f, v));
        }
    decided_excuse_outputs(c, f);
    ODB_TRY(overflow_look(c, f, err));
    bool *up = odb_new_n(bool, c->graph->n_nodes);
    for (size_t o = 0; o < c->n_outputs; o++) {
        if (!odb_verdict_is_bad(f->verdicts[o].verdict) || findings_explain(f, c->outputs[o]))
            continue;
        bool found = false;
        odb_graph_ancestors(c->graph, &c->outputs[o], 1, NULL, up);
        for (size_t n = 0; n < c->graph->n_nodes && !found; n++)
            for (int k = 0; up[n] && k < c->graph->nodes[n].n_out && !found; k++) {
                int v = c->graph->nodes[n].out[k];
                found = v >= 0 && odb_verdict_is_bad(f->values[v].verdict) &&
                        recorded_accuse_first(r, v);
            }
    }
    free(up);
    return ODB_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void recorded_note(void *payload, const char *line)
{
    findings_warn(payload, "%s", line);
}

static enum odb_status recorded_search(struct recorded *r, struct odb_error *err)
{
    const struct search_case *c = r->c;
    struct findings *f = r->f;
    findings_step_begin(f, "recorded values");
    ODB_TRY(recorded_recall(r, err));
    if (!c->options->recorded)
        ODB_TRY(odb_recall_notes(c->prober, recorded_note, NULL, f, err));
    if (!r->n_had) {
        odb_fail(err, ODB_E_INPUT, "%s holds no value of this model under its name",
                 c->options->target);
        return odb_error_remedy(err, "say which is which with --map FILE; see onnxdbg-dump(7)");
    }
    if (r->n_had < r->n_made && !c->options->recorded)
        findings_note(f, "%zu of %zu values were recorded; the others are untested", r->n_had,
                      r->n_made);
    recorded_outputs(r);
    findings_step_end(f, "recorded",
                      "%zu of %zu values; a recording is not run again, so "
                      "nothing is said of whether the target repeats itself",
                      r->n_had, r->n_made);
    findings_step_begin(f, "replay");
    recorded_mark_drawn(r);
    ODB_TRY(recorded_exchanged(r, err));
    ODB_TRY(recorded_judge(r, err));
    ODB_TRY(reference_weigh(c, f, err));
    ODB_TRY(tolerated_values(c, f, err));
    ODB_TRY(recorded_accuse_all(r, err));
    held_look(c, f);
    findings_step_end(f, "blame", "the reference replayed on what was recorded");
    return ODB_OK;
}

enum odb_status recorded_plan(struct search_case_made *judged, const struct search_case *whole,
                              struct findings *f, struct odb_error *err)
{
    struct recorded r = {.c = &judged->is, .f = f, .judged = judged};
    search_case_part(judged, whole);
    findings_turn_to(f, r.c);
    ODB_TRY(recorded_check_strategy(r.c, err));
    enum odb_status status = recorded_search(&r, err);
    free(r.derived);
    free(r.drawn);
    odb_made_up_dispose(&r.made_up);
    return status;
}
