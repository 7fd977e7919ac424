/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The target, asked about a node with bodies: the node as a model by itself, told to take so many
 * turns, and one of its bodies. Both are judged against a reference of their own.
 */
#include "bisect/body/bodies_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "bisect/bisect_options.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "report/report.h"
#include "reference/trace.h"
#include "tensor/tensor_print.h"
#include "model/read/load.h"

#define BODIES_TRIPS "onnxdbg_trips"

void bodies_event(void *payload, const struct odb_search_event *event)
{
    const struct bodies *s = payload;
    struct odb_search_event outer = *event;
    char line[400];
    bool probe = event->what == ODB_EVENT_PROBE_BEGIN || event->what == ODB_EVENT_PROBE_END;
    if (event->what == ODB_EVENT_VALUE) /* of another graph */
        return;
    if (probe) {
        odb_text_fit(line, sizeof line, "%s: %s", s->where, event->text);
        outer.text = line;
        outer.times = NULL; /* of another graph */
    }
    if (outer.node != ODB_NO_NODE || probe)
        outer.node = s->node->index;
    odb_hooks_tell(&s->c->options->hooks, outer);
}

bool bodies_cancelled(void *payload)
{
    const struct bodies *s = payload;
    const struct odb_search_hooks *hooks = &s->c->options->hooks;
    return hooks->cancelled && hooks->cancelled(hooks->payload);
}

bool bodies_bad(const struct bodies *s, enum odb_verdict verdict)
{
    enum odb_diagnosis kind = s->culprit->kind;
    return kind == ODB_KIND_CRASH  ? verdict == ODB_VERDICT_CRASH
           : kind == ODB_KIND_HANG ? verdict == ODB_VERDICT_TIMEOUT
                                   : odb_verdict_is_bad(verdict);
}

static enum odb_status bodies_trace(struct bodies *s, const struct odb_model *model,
                                    const struct odb_feeds *feeds, struct odb_trace **trace,
                                    struct odb_error *err)
{
    struct odb_trace_options how;
    ODB_TRY(odb_bisect_trace_options(s->c->options, &how, err));
    how.reference_from = how.golden_from = NULL; /* an executor was not asked about bodies */
    how.golden_is_reference = false;
    how.encodings = NULL;
    how.hooks = s->hooks;
    return odb_trace_make(trace, model, feeds, &how, err);
}

enum odb_status bodies_ask(struct bodies *s, const struct odb_model *model,
                           const struct odb_feeds *feeds, const int *values, size_t n,
                           const char *what, struct odb_tensor **outputs, enum odb_verdict *verdict,
                           struct odb_error *err)
{
    struct odb_trace *trace = NULL;
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, n + 1);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_BODY,
                              .what = what,
                              .judged = true,
                              .node = ODB_NO_NODE,
                              .values = values,
                              .n_values = n,
                              .outputs = had};
    struct odb_prober prober;
    struct odb_probed probed = {.verdict = ODB_VERDICT_UNTESTABLE};
    enum odb_status status = bodies_trace(s, model, feeds, &trace, &why);
    if (status == ODB_OK) {
        odb_prober_init(&prober, model, feeds, trace, s->c->pool, s->hooks);
        struct odb_judge judge = {trace, &s->c->options->tolerance, &prober.now->compared};
        status = odb_probe_ask(&prober, &probe, odb_probe_judge, &judge, &probed, &why);
        for (size_t i = 0; i < n && outputs; i++)
            outputs[i] = had[i] ? odb_tensor_ref(had[i]) : NULL;
        odb_probe_drop(&prober, &probe);
        odb_prober_dispose(&prober);
    }
    *verdict = probed.verdict;
    odb_trace_free(trace);
    free(had);
    if (status != ODB_CANCELLED)
        return ODB_OK;
    *err = why;
    return status;
}

size_t bodies_made(const struct odb_graph *graph, int *list)
{
    size_t n = 0;
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (graph->values[graph->outputs[o]].producer != ODB_NO_NODE)
            list[n++] = graph->outputs[o];
    return n;
}

/* --- the node alone --------------------------------------------------------------------------- */

enum odb_status bodies_owner(struct bodies *s, struct odb_error *err)
{
    const struct odb_trace *trace = s->c->trace;
    struct odb_buf bytes = ODB_BUF_INIT;
    ODB_TRY(odb_body_owner(trace->model, s->node->index, BODIES_TRIPS, &bytes, err));
    enum odb_status status = odb_model_open_bytes(&s->owner, bytes.data, bytes.len, NULL,
                                                  trace->model->base, s->where, err);
    odb_buf_dispose(&bytes);
    return status;
}

bool bodies_is(const struct bodies *s, const char *op_type)
{
    return !strcmp(s->node->op_type, op_type) && !s->node->domain[0];
}

bool bodies_reads_once(const struct bodies *s, int input)
{
    int value = s->node->in[input], n = 0;
    for (int i = 0; i < s->node->n_in; i++)
        n += s->node->in[i] == value;
    for (size_t c = 0; c < s->node->n_captured; c++)
        n += s->node->captured[c] == value;
    return n == 1;
}

enum odb_status bodies_take(struct odb_tensor **out, const struct odb_tensor *t, int64_t axis,
                            int64_t at, int64_t len, struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    for (int64_t d = 0; d < axis; d++)
        odb_buf_puts(&text, ":, ");
    odb_buf_printf(&text, "%lld", (long long)at);
    if (len)
        odb_buf_printf(&text, ":%lld", (long long)(at + len));
    enum odb_status status = odb_slice(out, t, odb_buf_text(&text), err);
    odb_buf_dispose(&text);
    return status;
}

/* The first k slices of what Scan scans, or the last where it goes backwards. */
static enum odb_status bodies_slice(const struct bodies *s, size_t input, int64_t k,
                                    const struct odb_tensor *t, struct odb_tensor **out,
                                    struct odb_error *err)
{
    const struct odb_attr *axes = odb_attrs_find(&s->node->attrs, "scan_input_axes");
    const struct odb_attr *backs = odb_attrs_find(&s->node->attrs, "scan_input_directions");
    int64_t axis = axes && input < axes->n ? axes->ints[input] : 0;
    bool back = backs && input < backs->n && backs->ints[input];
    axis += axis < 0 ? t->rank : 0;
    int64_t len = t->dims[axis];
    k = ODB_MIN(k, len);
    return bodies_take(out, t, axis, back ? len - k : 0, k, err);
}

enum odb_status bodies_owner_feeds(const struct bodies *s, int64_t k, struct odb_feeds **out,
                                   struct odb_error *err)
{
    const struct odb_graph *graph = s->owner->graph;
    int *list = odb_new_n(int, graph->n_inputs + 1);
    size_t n = odb_graph_feeds(graph, list);
    enum odb_status status = ODB_OK;
    struct odb_feeds *feeds = *out = odb_feeds_new(s->owner);
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        const char *name = graph->values[list[i]].name;
        const struct odb_value *outer = odb_graph_value(s->c->graph, name);
        const struct odb_tensor *t =
            outer ? bodies_value(s->c->trace, s->given, outer->index) : NULL;
        int input = 0;
        while (outer && input < s->node->n_in && s->node->in[input] != outer->index)
            input++;
        bool trips = bodies_is(s, "Loop") && input == 0;
        struct odb_tensor *made = NULL;
        if (trips && (k != ODB_ANY_TURN || !t)) {
            status = odb_tensor_new(&made, ODB_I64, t ? t->rank : 0, (const int64_t[]){1}, err);
            if (status == ODB_OK)
                odb_store_i64(ODB_I64, made->data, 0, k == ODB_ANY_TURN ? INT64_MAX : k);
        } else if (bodies_is(s, "Scan") && k != ODB_ANY_TURN && t && input < s->node->n_in &&
                   (size_t)input >= s->n_state) {
            status = bodies_slice(s, (size_t)input - s->n_state, k, t, &made, err);
        }
        if (status == ODB_OK && (made || t))
            odb_feeds_add(feeds, list[i], made ? made : t, "the node's own");
        odb_tensor_unref(made);
    }
    free(list);
    return status;
}

enum odb_status bodies_alone(struct bodies *s, enum odb_verdict *verdict, struct odb_error *err)
{
    const struct odb_graph *graph = s->owner->graph;
    int *values = odb_new_n(int, s->n_out + 1);
    size_t n = bodies_made(graph, values);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, s->n_out + 1);
    enum odb_status status = bodies_owner_feeds(s, ODB_ANY_TURN, &s->feeds, err);
    if (status == ODB_OK)
        status = bodies_ask(s, s->owner, s->feeds, values, n, "alone", outputs, verdict, err);
    for (size_t i = 0; i < n; i++)
        s->had[graph->values[values[i]].slot] = outputs[i];
    free(outputs);
    free(values);
    return status;
}
