/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two parties, where the reference is an executor that was asked: target and reference part at a
 * node, and either may be the one that is off. Both are held against the CPU's operators, each on
 * its own inputs:
 *
 *     target off, reference not    the target's fault
 *     reference off, target not    the reference's, where the values differ
 *     both off, values agree       nobody's: the CPU's operator stands alone, and the reference is
 *                                  believed
 *     both off, values differ      asked of the reference, alone on the target's inputs, where it
 *                                  can run; of a recording, nobody knows unless the inputs agree
 */
#include "bisect/evidence/reference_off.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/findings.h"
#include "run/hooks.h"
#include "report/report.h"
#include "judge/segment.h"
#include "bisect/evidence/third.h"
#include "reference/trace.h"
#include "run/value_report.h"

/* What the executor had: what it gave, the feeds, draws, and what weights alone make. */
static void reference_given(struct bisection *b)
{
    size_t n = b->graph->n_values;
    bool *derived = odb_new_n(bool, n);
    b->told_given = odb_new_n(struct odb_tensor *, n);
    for (size_t v = 0; v < n; v++) {
        struct odb_tensor *t = b->drawn[v] ? b->trace->ref[v] : b->trace->told[v];
        b->told_given[v] = t ? odb_tensor_ref(t) : NULL;
    }
    for (size_t f = 0; f < b->feeds->n; f++)
        b->told_given[b->feeds->items[f].value] = odb_tensor_ref(b->feeds->items[f].tensor);
    odb_segment_derive(b->trace, b->told_given, derived);
    free(derived);
}

enum odb_status reference_hear(struct bisection *b, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    if (!b->trace->told || b->told)
        return ODB_OK;
    findings_step_begin(b, "replay of the reference");
    reference_given(b);
    b->told = odb_new_n(struct odb_value_report, b->graph->n_values);
    for (size_t n = 0; n < b->graph->n_nodes && status == ODB_OK; n++) {
        const struct odb_node *node = &b->graph->nodes[n];
        bool gave = false;
        for (int o = 0; o < node->n_out; o++)
            gave |= node->out[o] >= 0 && b->trace->told[node->out[o]];
        status = odb_hooks_cancelled(&b->options->hooks, err);
        if (gave && status == ODB_OK)
            status = odb_judge_segments(&b->judge, (int)n, b->told_given, b->told, err);
        odb_hooks_progress(&b->options->hooks, "replay of the reference", (int)n, n + 1,
                           b->graph->n_nodes);
    }
    findings_step_end(b, "reference", "each operator replayed on the %s's own inputs",
                      b->trace->teller);
    return status;
}

void reference_hear_dispose(struct bisection *b)
{
    for (size_t v = 0; b->told_given && v < b->graph->n_values; v++)
        odb_tensor_unref(b->told_given[v]);
    free(b->told_given);
    free(b->told);
}

/* Whether some input of the node is off, so that its output may be. */
static bool reference_inherits(const struct bisection *b, int node)
{
    const struct odb_node *n = &b->graph->nodes[node];
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && odb_verdict_is_bad(b->report->values[n->in[i]].verdict))
            return true;
    return false;
}

/* Both are off from the CPU's operator: is the target off from the reference as well? */
static bool reference_stands(struct bisection *b, int node, int value)
{
    if (!odb_verdict_is_bad(b->report->values[value].verdict))
        return false;
    if (!odb_executor_recorded(b->trace->told_by))
        return third_opinion_of(b, node, value, b->trace->told_by, NULL) != ODB_OPINION_TARGET;
    return !reference_inherits(b, node);
}

enum odb_status reference_weigh(struct bisection *b, struct odb_error *err)
{
    size_t acquitted = 0;
    int first = ODB_NO_NODE;
    if (!b->trace->told)
        return ODB_OK;
    ODB_TRY(reference_hear(b, err));
    for (size_t n = 0; n < b->graph->n_nodes; n++)
        for (int o = 0; o < b->graph->nodes[n].n_out; o++) {
            int v = b->graph->nodes[n].out[o];
            if (v < 0 || !b->report->values[v].culprit || !b->told[v].culprit ||
                reference_stands(b, (int)n, v))
                continue;
            b->report->values[v].culprit = b->told[v].culprit = false;
            first = acquitted++ ? first : (int)n;
        }
    if (acquitted) {
        char label[200];
        odb_report_note(b->report,
                        "at %zu values, #%d %s (%s) the first, the CPU's operator gives something "
                        "else than target and %s, who agree: nobody is accused there",
                        acquitted, first,
                        odb_node_label(&b->graph->nodes[first], label, sizeof label),
                        b->graph->nodes[first].op_type, b->trace->teller);
    }
    return ODB_OK;
}

bool reference_off(const struct bisection *b, int value)
{
    return b->told && b->told[value].culprit && !b->report->values[value].culprit &&
           odb_verdict_is_bad(b->report->values[value].verdict);
}

/* Whether the target is right about all nodes of the segment that ends in the value. */
static bool reference_target_right(const struct bisection *b, const struct odb_segment *s)
{
    for (size_t n = 0; n < b->graph->n_nodes; n++)
        for (int o = 0; s->nodes[n] && o < b->graph->nodes[n].n_out; o++)
            if (b->graph->nodes[n].out[o] >= 0 &&
                b->report->values[b->graph->nodes[n].out[o]].culprit)
                return false;
    return true;
}

/* The model's weight that is not the recorded one, at the first node of the segment that reads such
 * a one; NULL: none does. */
static const struct odb_recalled *reference_weight(const struct bisection *b,
                                                   const struct odb_segment *s, int *node)
{
    for (*node = s->first; *node <= s->last && *node >= 0; ++*node)
        for (size_t i = 0; s->nodes[*node] && i < b->trace->recalled.n; i++)
            for (int k = 0; k < b->graph->nodes[*node].n_in; k++)
                if (b->graph->nodes[*node].in[k] == b->trace->recalled.items[i].value)
                    return &b->trace->recalled.items[i];
    return NULL;
}

/* Whether the operators make what was recorded once they have the weights that were. */
static bool reference_weights_explain(struct bisection *b, int value)
{
    struct odb_value_report with = {0};
    struct odb_error ignored;
    for (size_t i = 0; i < b->trace->recalled.n; i++)
        b->told_given[b->trace->recalled.items[i].value] = b->trace->recalled.items[i].t;
    struct odb_tensor *told = b->told_given[value];
    struct odb_tensor *t = odb_segment_replay(b->trace, value, b->told_given);
    for (size_t i = 0; i < b->trace->recalled.n; i++)
        b->told_given[b->trace->recalled.items[i].value] = NULL;
    bool explain = t && told && odb_judge_value(&b->judge, value, t, &with, &ignored) == ODB_OK &&
                   with.verdict == ODB_VERDICT_PASS;
    odb_tensor_unref(t);
    return explain;
}

/* A recording that is believed: the model is what differs, and a weight may be why. */
static void reference_blame_weight(struct bisection *b, struct odb_culprit *culprit,
                                   const struct odb_segment *s)
{
    int node;
    const struct odb_recalled *weight = reference_weight(b, s, &node);
    culprit->of_recording =
        !strcmp(b->trace->teller, "reference") && odb_executor_recorded(b->trace->told_by);
    if (!culprit->of_recording || !weight)
        return;
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_put_shown(&text, b->graph->values[weight->value].name);
    memcpy(culprit->recorded_off, weight->text, sizeof culprit->recorded_off);
    culprit->recorded_weight = odb_buf_take(&text);
    culprit->weight_explains = reference_weights_explain(b, culprit->value);
    if (culprit->weight_explains) /* the others of the region are as they should be */
        culprit->node = culprit->segment[0] = culprit->segment[1] = node;
}

void reference_blame(struct bisection *b, struct odb_culprit *culprit)
{
    struct odb_segment s;
    const struct odb_value_report *own = &b->report->values[culprit->value];
    odb_segment_init(&s, b->trace, culprit->value, b->told_given);
    bool known = own->local_error.known || own->local_noise.known || s.n_nodes > 1;
    culprit->of_reference = true;
    culprit->verified = false;
    culprit->kind = findings_kind(b, culprit->value);
    culprit->segment[0] = s.first;
    culprit->segment[1] = s.last;
    if (known && reference_target_right(b, &s))
        culprit->third_opinion = ODB_OPINION_TARGET; /* of the CPU */
    reference_blame_weight(b, culprit, &s);
    odb_segment_dispose(&s);
}
