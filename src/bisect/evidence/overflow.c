/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where values leave the range of the type that is expected. Computing in it is no fault of any
 * node, and much of what leaves its range does no harm: a mask's -3.4e38 that becomes -Inf is what
 * was meant. So nobody is accused until an output of the model is NaN or infinite where the
 * reference's is finite. Then it is asked where that comes from: the values that are not finite,
 * though what they are made of is, are put into the reference's run, one by one, and who spoils the
 * output there is named.
 */
#include "bisect/evidence/overflow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bisect/evidence/confidence.h"
#include "bisect/failure.h"
#include "report/report.h"
#include "judge/segment.h"
#include "reference/trace.h"
#include "run/value_report.h"

#define OVERFLOW_MOST 16 /* values that are put into the reference's run */

struct overflow {
    struct bisection *b;
    struct odb_tensor **given; /* borrowed tensors; [n_values] the target's where it was had, else
                                  what computing in the expected type gives; NULL: neither */
    bool *beyond;              /* owned; [n_values] not finite where the reference is */
    ODB_VEC(int) origins;      /* values that begin it, in order */
};

static enum odb_dtype overflow_type(const struct odb_trace *trace)
{
    return trace->expect == ODB_PREC_F16    ? ODB_F16
           : trace->expect == ODB_PREC_BF16 ? ODB_BF16
                                            : ODB_F32;
}

static size_t overflow_count(const struct odb_tensor *t, const struct odb_tensor *ref)
{
    struct odb_specials specials;
    return t && ref && odb_specials_count(&specials, t, ref)
               ? specials.nan_target + specials.inf_target
               : 0;
}

/* A recording's value that is not finite, and what lies before it was not recorded: within, it is
 * where the expected type leaves its range, too. */
static void overflow_fill(struct overflow *x, int value)
{
    const struct bisection *b = x->b;
    struct odb_segment s;
    odb_segment_init(&s, b->trace, value, b->given);
    for (size_t v = 0; v < b->graph->n_values; v++) {
        int producer = b->graph->values[v].producer;
        if (producer != ODB_NO_NODE && s.nodes[producer] && !x->given[v])
            x->given[v] = b->trace->expected[v];
    }
    odb_segment_dispose(&s);
}

/* The target's values; what it was not asked for is what the expected type makes of it. */
static void overflow_gather(struct overflow *x)
{
    const struct bisection *b = x->b;
    size_t n = b->graph->n_values;
    for (size_t v = 0; v < n; v++)
        x->given[v] = b->given[v] || b->prober.recorded ? b->given[v] : b->trace->expected[v];
    for (size_t v = 0; v < n && b->prober.recorded; v++)
        if (b->given[v] && overflow_count(b->given[v], b->trace->ref[v]))
            overflow_fill(x, (int)v);
    for (size_t v = 0; v < n; v++)
        x->beyond[v] = b->graph->values[v].producer != ODB_NO_NODE && !b->drawn[v] &&
                       overflow_count(x->given[v], b->trace->ref[v]) > 0;
}

/* A node is wrong, or stands behind one that is: what leaves the range there may follow from that,
 * unless the expected type does it as well. */
static bool overflow_follows(const struct bisection *b, int value)
{
    return b->report->values[value].culprit ||
           (findings_explain(b, value) && !b->trace->expected[value]);
}

/* Who begins it: what the value is made of is finite as far as it was had. What was not had hands
 * on what it is made of. */
static void overflow_find(struct overflow *x)
{
    const struct bisection *b = x->b;
    bool *reached = odb_new_n(bool, b->graph->n_values);
    for (size_t n = 0; n < b->graph->n_nodes; n++) {
        const struct odb_node *node = &b->graph->nodes[n];
        bool inherits = false;
        int first = ODB_NO_VALUE;
        for (size_t i = 0; i < odb_node_n_reads(node); i++)
            inherits |= odb_node_reads(node, i) >= 0 && reached[odb_node_reads(node, i)];
        for (int o = 0; o < node->n_out; o++) {
            int v = node->out[o];
            if (v < 0)
                continue;
            reached[v] = x->beyond[v] || (inherits && !x->given[v]);
            first = x->beyond[v] && first < 0 ? v : first;
        }
        if (first >= 0 && !inherits && !overflow_follows(b, first))
            odb_push(&x->origins, first);
    }
    free(reached);
}

/* Whether these values, put into the reference's run, spoil the output. */
static enum odb_status overflow_ask(const struct overflow *x, size_t output, const int *values,
                                    size_t n, bool *spoils, struct odb_error *err)
{
    struct bisection *b = x->b;
    int v = b->outputs[output];
    struct failure f = failure_at(b, v, &b->verdicts[output], b->plain[output]);
    struct odb_value_report report;
    for (size_t i = 0; i < n; i++)
        if (values[i] == v) {
            *spoils = true;
            return ODB_OK;
        }
    ODB_TRY(failure_carried(&f, values, n, x->given, &report, err));
    *spoils = report.verdict == ODB_VERDICT_NAN;
    return ODB_OK;
}

static void overflow_accuse(struct overflow *x, int value, bool verified)
{
    struct bisection *b = x->b;
    struct odb_value_report *report = &b->report->values[value];
    int node = b->graph->values[value].producer;
    for (size_t c = 0; c < b->report->culprits.n; c++)
        if (b->report->culprits.items[c].kind == ODB_KIND_OVERFLOW &&
            b->report->culprits.items[c].value == value)
            return;
    if (b->given[value]) {
        report->verdict = ODB_VERDICT_NAN;
        snprintf(report->reason, sizeof report->reason, "leaves the range of %s",
                 odb_dtype_info(overflow_type(b->trace))->name);
        findings_tell(b, value);
    }
    struct odb_culprit *culprit = findings_accuse(b, node, value, ODB_KIND_OVERFLOW);
    odb_specials_count(&culprit->specials, x->given[value], b->trace->ref[value]);
    culprit->reaches_output = true;
    culprit->verified = verified;
    culprit->checks[ODB_CHECK_PINNED] = verified ? ODB_CONFIRMS : ODB_NOT_ASKED;
    if (b->given[value] && b->prober.recorded) {
        struct odb_segment s;
        odb_segment_init(&s, b->trace, value, b->given);
        culprit->segment[0] = s.first;
        culprit->segment[1] = s.last;
        odb_segment_dispose(&s);
    }
}

/* One by one; where none of them spoils the output by itself, all together. */
static enum odb_status overflow_explain(struct overflow *x, size_t output, struct odb_error *err)
{
    struct bisection *b = x->b;
    bool *up = odb_new_n(bool, b->graph->n_nodes), spoils = false, any = false;
    int *before = odb_new_n(int, x->origins.n + 1);
    size_t n = 0;
    enum odb_status status = ODB_OK;
    odb_graph_ancestors(b->graph, &b->outputs[output], 1, b->drawn, up);
    for (size_t i = 0; i < x->origins.n; i++)
        if (up[b->graph->values[x->origins.items[i]].producer])
            before[n++] = x->origins.items[i];
    for (size_t i = 0; i < n && i < OVERFLOW_MOST && status == ODB_OK; i++) {
        status = overflow_ask(x, output, &before[i], 1, &spoils, err);
        if (status == ODB_OK && spoils)
            overflow_accuse(x, before[i], true);
        any |= spoils;
    }
    if (status == ODB_OK && n > 1 && !any)
        status = overflow_ask(x, output, before, n, &spoils, err);
    for (size_t i = 0; i < n && status == ODB_OK && spoils && !any; i++)
        overflow_accuse(x, before[i], false);
    free(before);
    free(up);
    return status;
}

enum odb_status overflow_look(struct bisection *b, struct odb_error *err)
{
    struct overflow x = {.b = b};
    enum odb_status status = ODB_OK;
    if (b->trace->expect == ODB_PREC_NATIVE || b->prober.pinned)
        return ODB_OK;
    for (size_t o = 0; o < b->n_outputs && status == ODB_OK; o++) {
        if (b->verdicts[o].verdict != ODB_VERDICT_NAN)
            continue;
        if (!x.given) {
            x.given = odb_new_n(struct odb_tensor *, b->graph->n_values);
            x.beyond = odb_new_n(bool, b->graph->n_values);
            overflow_gather(&x);
            overflow_find(&x);
        }
        status = overflow_explain(&x, o, err);
    }
    if (b->prober.recorded) /* of which no more is asked */
        confidence_all(b);
    free(x.given);
    free(x.beyond);
    free(x.origins.items);
    return status;
}

/* --- in words --------------------------------------------------------------------------------- */

static double overflow_largest(const struct odb_tensor *t)
{
    double most = 0;
    for (size_t i = 0; t && t->kind == ODB_TENSOR && i < t->count; i++) {
        double v = fabs(odb_tensor_f64(t, i));
        most = isfinite(v) && v > most ? v : most;
    }
    return most;
}

/* Of what the node makes, or reads, the reference's largest number. */
static double overflow_reach(const struct bisection *b, const struct odb_culprit *c, bool reads)
{
    const struct odb_node *node = &b->graph->nodes[c->node];
    double most = reads ? 0 : overflow_largest(b->trace->ref[c->value]);
    for (int i = 0; i < node->n_in && reads; i++) {
        int v = node->in[i];
        const struct odb_tensor *t = v < 0 ? NULL : odb_trace_value(b->trace, v);
        if (t && odb_tensor_real(t) != ODB_UNDEFINED)
            most = fmax(most, overflow_largest(t));
    }
    return most;
}

void overflow_put(const struct bisection *b, const struct odb_culprit *c, struct odb_buf *out)
{
    const struct odb_dtype_info *type = odb_dtype_info(overflow_type(b->trace));
    const struct odb_tensor *ref = b->trace->ref[c->value];
    double made = overflow_reach(b, c, false), read = overflow_reach(b, c, true);
    double far = made > type->max ? made : read;
    const char *how = b->given[c->value] ? "" : ", computed in that type,";
    if (c->segment[0] == c->segment[1]) {
        odb_node_put(b->graph, c->node, out);
    } else {
        odb_buf_puts(out, "The region from ");
        odb_node_put(b->graph, c->segment[0], out);
        odb_buf_puts(out, " to ");
        odb_node_put(b->graph, c->segment[1], out);
    }
    odb_buf_printf(out, " leaves the range of %s: ", type->name);
    odb_buf_put_shown(out, b->graph->values[c->value].name);
    odb_buf_printf(out, "%s is not finite at %zu of %zu places where the reference is, ", how,
                   c->specials.nan_target + c->specials.inf_target, ref->count);
    if (far > type->max)
        odb_buf_printf(out, "and %s reaches %.3g there, %.3g times the largest number of %s, %g. ",
                       made > type->max ? "it" : "what it is made of", far, far / type->max,
                       type->name, type->max);
    else
        odb_buf_printf(out,
                       "though it reaches no more than %.3g there and what it is made of no more "
                       "than %.3g: what is computed on the way leaves the range, or a divisor "
                       "becomes 0. ",
                       made, read);
    odb_buf_puts(out, c->verified
                          ? "Put into the reference's run, what stands there makes an output NaN "
                            "or infinite, so that is enough. "
                          : "Put into the reference's run, such values spoil an output together, "
                            "and none of them alone. ");
    if (b->trace->expect != ODB_PREC_TF32)
        odb_buf_printf(out,
                       "`onnxdbg precision MODEL --to %s` finds the nodes that have to stay in "
                       "float32. ",
                       b->options->expect);
}
