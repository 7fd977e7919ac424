/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two parties, where the reference is an executor that was asked: target and reference part at a
 * node, and either may be the one that is off. Both are held against the CPU's operators, each on
 * its own inputs:
 *
 *     target off, reference not    the target's fault
 *     reference off, target not    the reference's, where the values differ
 *     both off, values agree       none's: the CPU's operator stands alone, and the reference is
 *                                  believed
 *     both off, values differ      asked of the reference, alone on the target's inputs, where it
 *                                  can run; of a recording, unknown unless the inputs agree
 */
#include "bisect/evidence/reference_off.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/findings.h"
#include "run/hooks.h"
#include "report/report.h"
#include "judge/made_up.h"
#include "judge/segment.h"
#include "bisect/alone/third.h"
#include "reference/trace.h"
#include "run/value_report.h"

/* What was heard of the executor that gave the reference. */
struct reference_told {
    struct odb_value_report *values; /* owned; [n] its local errors */
    struct odb_tensor **given;       /* owned refs; [n] what it had */
    size_t n;
};

const struct odb_value_report *reference_told(const struct findings *f, int value)
{
    return f->kept->told ? &f->kept->told->values[value] : NULL;
}

/* What the executor had: what it gave, the feeds, draws, and what weights alone make. */
static void reference_given(const struct search_case *c, struct findings *f)
{
    size_t n = c->graph->n_values;
    bool *derived = odb_new_n(bool, n);
    struct reference_told *told = f->kept->told = odb_new(struct reference_told);
    told->n = n;
    told->values = odb_new_n(struct odb_value_report, n);
    told->given = odb_new_n(struct odb_tensor *, n);
    for (size_t v = 0; v < n; v++) {
        struct odb_tensor *t = c->drawn[v] ? c->trace->ref[v] : c->trace->told[v];
        told->given[v] = t ? odb_tensor_ref(t) : NULL;
    }
    for (size_t i = 0; i < c->feeds->n; i++)
        told->given[c->feeds->items[i].value] = odb_tensor_ref(c->feeds->items[i].tensor);
    odb_segment_derive(c->trace, told->given, derived);
    free(derived);
}

enum odb_status reference_hear(const struct search_case *c, struct findings *f,
                               struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    if (!c->trace->told || f->kept->told)
        return ODB_OK;
    findings_step_begin(f, "replay of the reference");
    reference_given(c, f);
    for (size_t n = 0; n < c->graph->n_nodes && status == ODB_OK; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        bool gave = false;
        for (int o = 0; o < node->n_out; o++)
            gave |= node->out[o] >= 0 && c->trace->told[node->out[o]];
        status = odb_hooks_cancelled(&c->options->hooks, err);
        if (gave && status == ODB_OK)
            status = odb_judge_segments(&c->judge, (int)n, f->kept->told->given,
                                        f->kept->told->values, err);
        odb_hooks_progress(&c->options->hooks, "replay of the reference", (int)n, n + 1,
                           c->graph->n_nodes);
    }
    findings_step_end(f, "reference", "each operator replayed on the %s's own inputs",
                      c->trace->teller);
    return status;
}

static bool reference_generated(const struct odb_feeds *feeds)
{
    bool any = false;
    for (size_t i = 0; i < feeds->n; i++)
        any |= feeds->items[i].generated;
    return any;
}

enum odb_status reference_doubt(const struct search_case *c, struct findings *f, bool *doubted,
                                struct odb_error *err)
{
    struct odb_made_up made_up;
    struct odb_error why = ODB_ERROR_INIT;
    const char *spec = c->trace->reference_spec;
    *doubted = false;
    if (!c->trace->told || !spec || !odb_executor_recorded(spec) || !reference_generated(c->feeds))
        return ODB_OK;
    ODB_TRY(reference_hear(c, f, err));
    odb_made_up_init(&made_up, c->graph, c->feeds, f->kept->told->given);
    for (size_t v = 0; v < c->graph->n_values; v++)
        *doubted |= made_up.direct[v] != ODB_NO_VALUE && f->kept->told->values[v].culprit;
    if (*doubted) {
        (void)odb_made_up_fail(&made_up, spec, &why);
        findings_undecide(f, ODB_UNDECIDED_INPUTS, &why);
    }
    odb_made_up_dispose(&made_up);
    return ODB_OK;
}

void reference_dispose(struct findings *f)
{
    struct reference_told *told = f->kept->told;
    for (size_t v = 0; told && v < told->n; v++)
        odb_tensor_unref(told->given[v]);
    if (told) {
        free(told->given);
        free(told->values);
    }
    free(told);
    f->kept->told = NULL;
}

/* Whether some input of the node is off, so that its output may be. */
static bool reference_inherits(const struct search_case *c, const struct findings *f, int node)
{
    const struct odb_node *n = &c->graph->nodes[node];
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && odb_verdict_is_bad(f->values[n->in[i]].verdict))
            return true;
    return false;
}

/* Both are off from the CPU's operator: is the target off from the reference as well? */
static bool reference_stands(const struct search_case *c, struct findings *f, int node, int value)
{
    if (!odb_verdict_is_bad(f->values[value].verdict))
        return false;
    if (!odb_executor_recorded(c->trace->reference_spec))
        return third_opinion_of(c, f, node, value, c->trace->reference_spec, NULL) !=
               ODB_OPINION_TARGET;
    return !reference_inherits(c, f, node);
}

enum odb_status reference_weigh(const struct search_case *c, struct findings *f,
                                struct odb_error *err)
{
    size_t acquitted = 0;
    int first = ODB_NO_NODE;
    if (!c->trace->told)
        return ODB_OK;
    ODB_TRY(reference_hear(c, f, err));
    for (size_t n = 0; n < c->graph->n_nodes; n++)
        for (int o = 0; o < c->graph->nodes[n].n_out; o++) {
            int v = c->graph->nodes[n].out[o];
            if (v < 0 || !f->values[v].culprit || !f->kept->told->values[v].culprit ||
                reference_stands(c, f, (int)n, v))
                continue;
            findings_judge(f)[v].culprit = f->kept->told->values[v].culprit = false;
            first = acquitted++ ? first : (int)n;
        }
    if (acquitted) {
        char label[200];
        findings_note(f,
                      "at %zu values, #%d %s (%s) the first, the CPU's operator gives something "
                      "else than target and %s, which agree: no node is accused there",
                      acquitted, first,
                      odb_node_label(&c->graph->nodes[first], label, sizeof label),
                      c->graph->nodes[first].op_type, c->trace->teller);
    }
    return ODB_OK;
}

bool reference_off(const struct findings *f, int value)
{
    return f->kept->told && f->kept->told->values[value].culprit && !f->values[value].culprit &&
           odb_verdict_is_bad(f->values[value].verdict);
}

/* Whether the target is right about all nodes of the segment that ends in the value. */
static bool reference_target_right(const struct search_case *c, const struct findings *f,
                                   const struct odb_segment *s)
{
    for (size_t n = 0; n < c->graph->n_nodes; n++)
        for (int o = 0; s->nodes[n] && o < c->graph->nodes[n].n_out; o++)
            if (c->graph->nodes[n].out[o] >= 0 && f->values[c->graph->nodes[n].out[o]].culprit)
                return false;
    return true;
}

/* The model's weight that is not the recorded one, at the first node of the segment that reads such
 * a one; NULL: none does. */
static const struct odb_recalled *reference_weight(const struct search_case *c,
                                                   const struct odb_segment *s, int *node)
{
    for (*node = s->first; *node <= s->last && *node >= 0; ++*node)
        for (size_t i = 0; s->nodes[*node] && i < c->trace->recalled.n; i++)
            for (int k = 0; k < c->graph->nodes[*node].n_in; k++)
                if (c->graph->nodes[*node].in[k] == c->trace->recalled.items[i].value)
                    return &c->trace->recalled.items[i];
    return NULL;
}

/* Whether the operators make what was recorded once they have the weights that were. */
static bool reference_weights_explain(const struct search_case *c, struct findings *f, int value)
{
    struct odb_value_report with = {0};
    struct odb_error ignored;
    for (size_t i = 0; i < c->trace->recalled.n; i++)
        f->kept->told->given[c->trace->recalled.items[i].value] = c->trace->recalled.items[i].t;
    struct odb_tensor *told = f->kept->told->given[value];
    struct odb_tensor *t = odb_segment_replay(c->trace, value, f->kept->told->given);
    for (size_t i = 0; i < c->trace->recalled.n; i++)
        f->kept->told->given[c->trace->recalled.items[i].value] = NULL;
    bool explain = t && told && odb_judge_value(&c->judge, value, t, &with, &ignored) == ODB_OK &&
                   with.verdict == ODB_VERDICT_PASS;
    odb_tensor_unref(t);
    return explain;
}

/* A recording that is believed: the model is what differs, and a weight may be why. */
static void reference_blame_weight(const struct search_case *c, struct findings *f,
                                   struct odb_culprit *culprit, const struct odb_segment *s)
{
    int node;
    const struct odb_recalled *weight = reference_weight(c, s, &node);
    culprit->of_recording =
        !strcmp(c->trace->teller, "reference") && odb_executor_recorded(c->trace->reference_spec);
    if (!culprit->of_recording || !weight)
        return;
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_put_shown(&text, c->graph->values[weight->value].name);
    memcpy(culprit->recorded_off, weight->text, sizeof culprit->recorded_off);
    culprit->recorded_weight = odb_buf_take(&text);
    culprit->weight_explains = reference_weights_explain(c, f, culprit->value);
    if (culprit->weight_explains) /* the others of the region are as they should be */
        culprit->node = culprit->segment[0] = culprit->segment[1] = node;
}

void reference_blame(const struct search_case *c, struct findings *f, struct odb_culprit *culprit)
{
    struct odb_segment s;
    const struct odb_value_report *own = &f->values[culprit->value];
    odb_segment_init(&s, c->trace, culprit->value, f->kept->told->given);
    bool known = own->local_error.known || own->local_noise.known || s.n_nodes > 1;
    culprit->of_reference = true;
    culprit->verified = false;
    culprit->kind = findings_kind(f, culprit->value);
    culprit->segment[0] = s.first;
    culprit->segment[1] = s.last;
    if (known && reference_target_right(c, f, &s))
        culprit->third_opinion = ODB_OPINION_TARGET; /* of the CPU */
    reference_blame_weight(c, f, culprit, &s);
    odb_segment_dispose(&s);
}
