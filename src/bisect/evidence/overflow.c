/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where values leave the range of the type that is expected. Computing in it is no fault of any
 * node, and much of what leaves its range does no harm: a mask's -3.4e38 that becomes -Inf is what
 * was meant. So no node is accused until an output of the model is NaN or infinite where the
 * reference's is finite. Then it is asked where that comes from: the values that are not finite,
 * though what they are made of is, are put into the reference's run, one by one, and the node whose
 * value spoils the output there is named.
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
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    struct odb_tensor **given;   /* borrowed tensors; [n_values] the target's where it was had, else
                                    what computing in the expected type gives; NULL: neither */
    bool *beyond;                /* owned; [n_values] not finite where the reference is */
    ODB_VEC(int) origins;        /* values that begin it, in order */
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
    const struct search_case *c = x->c;
    const struct findings *f = x->f;
    struct odb_segment s;
    odb_segment_init(&s, c->trace, value, f->given);
    for (size_t v = 0; v < c->graph->n_values; v++) {
        int producer = c->graph->values[v].producer;
        if (producer != ODB_NO_NODE && s.nodes[producer] && !x->given[v])
            x->given[v] = c->trace->expected[v];
    }
    odb_segment_dispose(&s);
}

/* The target's values; what it was not asked for is what the expected type makes of it. */
static void overflow_gather(struct overflow *x)
{
    const struct search_case *c = x->c;
    const struct findings *f = x->f;
    size_t n = c->graph->n_values;
    for (size_t v = 0; v < n; v++)
        x->given[v] = f->given[v] || c->prober->recorded ? f->given[v] : c->trace->expected[v];
    for (size_t v = 0; v < n && c->prober->recorded; v++)
        if (f->given[v] && overflow_count(f->given[v], c->trace->ref[v]))
            overflow_fill(x, (int)v);
    for (size_t v = 0; v < n; v++)
        x->beyond[v] = c->graph->values[v].producer != ODB_NO_NODE && !c->drawn[v] &&
                       overflow_count(x->given[v], c->trace->ref[v]) > 0;
}

/* A node is wrong, or stands behind one that is: what leaves the range there may follow from that,
 * unless the expected type does it as well. */
static bool overflow_follows(const struct search_case *c, const struct findings *f, int value)
{
    return f->values[value].culprit || (findings_explain(f, value) && !c->trace->expected[value]);
}

/* The values that begin it: what such a value is made of is finite as far as it was had. What was
 * not had hands on what it is made of. */
static void overflow_find(struct overflow *x)
{
    const struct search_case *c = x->c;
    const struct findings *f = x->f;
    bool *reached = odb_new_n(bool, c->graph->n_values);
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
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
        if (first >= 0 && !inherits && !overflow_follows(c, f, first))
            odb_push(&x->origins, first);
    }
    free(reached);
}

/* Whether these values, put into the reference's run, spoil the output. */
static enum odb_status overflow_ask(const struct overflow *x, size_t output, const int *values,
                                    size_t n, bool *spoils, struct odb_error *err)
{
    const struct search_case *c = x->c;
    struct findings *f = x->f;
    int v = c->outputs[output];
    struct failure fail = failure_at(c, f, v, &f->verdicts[output], f->plain[output]);
    struct odb_value_report report;
    for (size_t i = 0; i < n; i++)
        if (values[i] == v) {
            *spoils = true;
            return ODB_OK;
        }
    ODB_TRY(failure_carried(&fail, values, n, x->given, &report, err));
    *spoils = report.verdict == ODB_VERDICT_NAN;
    return ODB_OK;
}

static void overflow_accuse(struct overflow *x, int value, bool verified)
{
    const struct search_case *c = x->c;
    struct findings *f = x->f;
    struct odb_value_report report = f->values[value];
    int node = c->graph->values[value].producer;
    for (size_t i = 0; i < f->report->culprits.n; i++)
        if (f->report->culprits.items[i].kind == ODB_KIND_OVERFLOW &&
            f->report->culprits.items[i].value == value)
            return;
    if (f->given[value]) {
        report.verdict = ODB_VERDICT_NAN;
        snprintf(report.reason, sizeof report.reason, "leaves the range of %s",
                 odb_dtype_info(overflow_type(c->trace))->name);
        findings_value(f, value, &report);
    }
    struct odb_culprit *culprit = findings_accuse(f, node, value, ODB_KIND_OVERFLOW);
    odb_specials_count(&culprit->specials, x->given[value], c->trace->ref[value]);
    culprit->reaches_output = true;
    culprit->verified = verified;
    culprit->checks[ODB_CHECK_PINNED] = verified ? ODB_CONFIRMS : ODB_NOT_ASKED;
    if (f->given[value] && c->prober->recorded) {
        struct odb_segment s;
        odb_segment_init(&s, c->trace, value, f->given);
        culprit->segment[0] = s.first;
        culprit->segment[1] = s.last;
        odb_segment_dispose(&s);
    }
}

/* One by one; where none of them spoils the output by itself, all together. */
static enum odb_status overflow_explain(struct overflow *x, size_t output, struct odb_error *err)
{
    const struct search_case *c = x->c;
    bool *up = odb_new_n(bool, c->graph->n_nodes), spoils = false, any = false;
    int *before = odb_new_n(int, x->origins.n + 1);
    size_t n = 0;
    enum odb_status status = ODB_OK;
    odb_graph_ancestors(c->graph, &c->outputs[output], 1, c->drawn, up);
    for (size_t i = 0; i < x->origins.n; i++)
        if (up[c->graph->values[x->origins.items[i]].producer])
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

enum odb_status overflow_look(const struct search_case *c, struct findings *f,
                              struct odb_error *err)
{
    struct overflow x = {.c = c, .f = f};
    enum odb_status status = ODB_OK;
    if (c->trace->expect == ODB_PREC_NATIVE || c->pinned)
        return ODB_OK;
    for (size_t o = 0; o < c->n_outputs && status == ODB_OK; o++) {
        if (f->verdicts[o].verdict != ODB_VERDICT_NAN)
            continue;
        if (!x.given) {
            x.given = odb_new_n(struct odb_tensor *, c->graph->n_values);
            x.beyond = odb_new_n(bool, c->graph->n_values);
            overflow_gather(&x);
            overflow_find(&x);
        }
        status = overflow_explain(&x, o, err);
    }
    if (c->prober->recorded) /* of which no more is asked */
        confidence_all(c, f);
    free(x.given);
    free(x.beyond);
    free(x.origins.items);
    return status;
}

/* --- in words --------------------------------------------------------------------------------- */

/* How many elements the reference alone has beyond its type's range: float64 has them in it. */
static size_t overflow_of_reference(const struct odb_trace *trace, int value)
{
    struct odb_specials specials;
    const struct odb_tensor *ref = value < 0 ? NULL : trace->ref[value];
    const struct odb_tensor *golden = value < 0 ? NULL : trace->golden[value];
    bool half = ref && (ref->dtype == ODB_F16 || ref->dtype == ODB_BF16);
    return half && golden && trace->split[value] && odb_specials_count(&specials, golden, ref)
               ? specials.nan_reference + specials.inf_reference
               : 0;
}

void overflow_put_reference(const struct search_case *c, const struct odb_culprit *who,
                            struct odb_buf *out)
{
    for (int n = ODB_MAX(who->segment[0], 0); n <= who->segment[1]; n++)
        for (int o = 0; o < c->graph->nodes[n].n_out; o++) {
            int v = c->graph->nodes[n].out[o];
            size_t beyond = overflow_of_reference(c->trace, v);
            if (!beyond)
                continue;
            odb_buf_printf(out, "The reference keeps to %s, and leaves its range there: ",
                           odb_dtype_info(c->trace->ref[v]->dtype)->name);
            odb_buf_put_shown(out, c->graph->values[v].name);
            odb_buf_printf(out,
                           " is not finite at %zu of %zu places, and is in float64. A target that "
                           "keeps a wider type between these nodes differs so. ",
                           beyond, c->trace->ref[v]->count);
            return;
        }
}

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
static double overflow_reach(const struct search_case *c, const struct odb_culprit *who, bool reads)
{
    const struct odb_node *node = &c->graph->nodes[who->node];
    double most = reads ? 0 : overflow_largest(c->trace->ref[who->value]);
    for (int i = 0; i < node->n_in && reads; i++) {
        int v = node->in[i];
        const struct odb_tensor *t = v < 0 ? NULL : odb_trace_value(c->trace, v);
        if (t && odb_tensor_real(t) != ODB_UNDEFINED)
            most = fmax(most, overflow_largest(t));
    }
    return most;
}

void overflow_put(const struct search_case *c, const struct findings *f,
                  const struct odb_culprit *who, struct odb_buf *out)
{
    const struct odb_dtype_info *type = odb_dtype_info(overflow_type(c->trace));
    const struct odb_tensor *ref = c->trace->ref[who->value];
    double made = overflow_reach(c, who, false), read = overflow_reach(c, who, true);
    double far = made > type->max ? made : read;
    const char *how = f->given[who->value] ? "" : ", computed in that type,";
    if (who->segment[0] == who->segment[1]) {
        odb_node_put(c->graph, who->node, out);
    } else {
        odb_buf_puts(out, "The region from ");
        odb_node_put(c->graph, who->segment[0], out);
        odb_buf_puts(out, " to ");
        odb_node_put(c->graph, who->segment[1], out);
    }
    odb_buf_printf(out, " leaves the range of %s: ", type->name);
    odb_buf_put_shown(out, c->graph->values[who->value].name);
    odb_buf_printf(out, "%s is not finite at %zu of %zu places where the reference is, ", how,
                   who->specials.nan_target + who->specials.inf_target, ref->count);
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
    odb_buf_puts(out, who->verified
                          ? "Put into the reference's run, what stands there makes an output NaN "
                            "or infinite, so that is enough. "
                          : "Put into the reference's run, such values spoil an output together, "
                            "and none of them alone. ");
    if (overflow_type(c->trace) != ODB_F32)
        odb_buf_printf(out,
                       "`onnxdbg precision MODEL --to %s` finds the nodes that have to stay in "
                       "float32. ",
                       c->options->expect);
}
