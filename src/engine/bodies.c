/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search goes on inside a node with bodies that is to blame. Targets do not show what goes on
 * there, so a body is cut out, and the reference, which runs through the node, says what it is fed
 * in turn k:
 *
 *   1. the node alone once more: what it gives tells which branch was taken, how many turns, and in
 *      stacked outputs the first turn that is off;
 *   2. a Loop that is told to stop after k turns gives the state after them, a Scan as well that is
 *      given k slices: a prefix that nothing observes, so bisection finds the first bad turn;
 *   3. the body of that turn runs alone on the reference's state. If it is right, the others are
 *      tried in order. If all are, it is the node itself that counts or hands on wrongly;
 *   4. the body that is wrong is searched as any model is, bodies in it included.
 */
#include "engine/bodies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/bisect_int.h"
#include "engine/hooks.h"
#include "tensor/print.h"

#define BODIES_MOST 4    /* culprits that are entered */
#define BODIES_TOLD 20   /* culprits whose consequences for If and Loop are looked for */
#define BODIES_LINEAR 64 /* turns that are tried one by one */
#define BODIES_NOISE 10  /* times the noise is still the same value */
#define BODIES_FEW 4     /* turns that are tried one by one at once */
#define BODIES_TRIPS "onnxdbg_trips"

/* --- the reference inside a node -------------------------------------------------------------- */

/* What the reference is asked about a node's turns. */
struct bodies_record {
    int64_t wanted; /* keep what this turn is fed, and stop; ODB_ANY_TURN: run to the end */
    size_t turns;   /* begun */
    const struct odb_search_hooks *hooks; /* who may cancel it; NULL: nobody */
    const char *attr;                     /* of the body that ran last; borrowed: the model */
    bool got;
    struct odb_tensor **feeds; /* owned refs; of the turn that was wanted */
    size_t n_feeds;
    /* Which turn's states these are. */
    struct odb_tensor *const *states; /* borrowed; NULL: nobody asks */
    size_t n_states, skip;            /* skip: outputs of the body before its states */
    double noise;                     /* of them */
    size_t like, n_like;              /* turns taken by then; how many turns are so */
};

static void bodies_record_dispose(struct bodies_record *r)
{
    for (size_t i = 0; i < r->n_feeds; i++)
        odb_tensor_unref(r->feeds[i]);
    free(r->feeds);
}

static enum odb_status bodies_begin(void *payload, const struct odb_cpu_place *place,
                                    struct odb_tensor *const *feeds, size_t n,
                                    struct odb_error *err)
{
    struct bodies_record *r = payload;
    if (r->hooks)
        ODB_TRY(odb_hooks_cancelled(r->hooks, err));
    if (place->around)
        return ODB_OK;
    r->turns++;
    r->attr = place->attr;
    if (r->wanted == ODB_ANY_TURN || place->turn != (uint64_t)r->wanted)
        return ODB_OK;
    r->got = true;
    r->n_feeds = n;
    r->feeds = odb_new_n(struct odb_tensor *, n + 1);
    for (size_t i = 0; i < n; i++)
        r->feeds[i] = feeds[i] ? odb_tensor_ref(feeds[i]) : NULL;
    return odb_fail(err, ODB_SKIPPED, "the turn that was asked for has come");
}

/* Whether two values are the same but for rounding. */
static bool bodies_alike(const struct odb_tensor *a, const struct odb_tensor *b, double noise)
{
    struct odb_gap gap;
    if (!a || !b)
        return a == b;
    odb_gap_measure(&gap, a, b);
    return gap.same ||
           (gap.comparable && gap.pattern && odb_dtype_is_float(b->dtype) &&
            gap.error <= BODIES_NOISE * fmax(noise, odb_noise_floor(gap.rms, b->dtype)));
}

static enum odb_status bodies_end(void *payload, const struct odb_cpu_place *place,
                                  struct odb_tensor *const *outs, size_t n, struct odb_error *err)
{
    struct bodies_record *r = payload;
    (void)err;
    if (place->around || !r->states || r->skip + r->n_states > n)
        return ODB_OK;
    bool alike = r->n_states > 0;
    for (size_t i = 0; i < r->n_states; i++)
        alike = alike && (!r->states[i] || bodies_alike(r->states[i], outs[r->skip + i], r->noise));
    if (alike) {
        r->like = r->turns;
        r->n_like++;
    }
    return ODB_OK;
}

static const struct odb_tensor *bodies_value(const struct odb_trace *trace,
                                             struct odb_tensor *const *given, int value)
{
    return given && given[value] ? given[value] : odb_trace_value(trace, value);
}

/* Runs a node of the reference. first: stands in for its input 0; NULL: nothing does. */
static enum odb_status bodies_run(const struct odb_trace *trace, struct odb_tensor *const *given,
                                  int node, const struct odb_tensor *first,
                                  struct bodies_record *record, struct odb_tensor **outs,
                                  struct odb_error *err)
{
    const struct odb_graph *graph = trace->model->graph;
    const struct odb_node *n = &graph->nodes[node];
    const struct odb_cpu_watch watch = {
        .payload = record, .begin = bodies_begin, .end = bodies_end};
    const struct odb_tensor **in = odb_new_n(const struct odb_tensor *, n->n_in + 1);
    const struct odb_tensor **around = odb_new_n(const struct odb_tensor *, graph->n_values);
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i] < 0 ? NULL : bodies_value(trace, given, n->in[i]);
    if (first && n->n_in)
        in[0] = first;
    for (size_t c = 0; c < n->n_captured; c++)
        around[n->captured[c]] = bodies_value(trace, given, n->captured[c]);
    enum odb_status status = odb_cpu_node_watched(
        trace->cpu, node, trace->precision, trace->seed, (struct odb_tensor *const *)in,
        (struct odb_tensor *const *)around, &watch, outs, err);
    free(in);
    free(around);
    return status;
}

static void bodies_drop(struct odb_tensor **values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(values[i]);
    free(values);
}

/* --- a turn as a model ------------------------------------------------------------------------ */

void odb_body_case_dispose(struct odb_body_case *c)
{
    odb_feeds_free(c->feeds);
    odb_model_free(c->model);
    *c = (struct odb_body_case){0};
}

/* What a body's own input has: of a turn that was recorded, or of a function's call. */
static const struct odb_tensor *bodies_own(const struct odb_trace *trace,
                                           struct odb_tensor *const *given,
                                           const struct odb_node *node, const struct odb_body *body,
                                           const struct bodies_record *r, const char *name,
                                           bool *own)
{
    const struct odb_graph *graph = body->graph;
    for (size_t i = 0, k = 0; i < graph->n_inputs; i++) {
        const struct odb_value *v = &graph->values[graph->inputs[i]];
        *own = !strcmp(v->name, name);
        if (*own && !body->attr)
            return i < (size_t)node->n_in && node->in[i] >= 0
                       ? bodies_value(trace, given, node->in[i])
                       : NULL;
        if (*own)
            return !v->init && k < r->n_feeds ? r->feeds[k] : NULL;
        k += !v->init;
    }
    return NULL;
}

static void bodies_fill(struct odb_body_case *c, const struct odb_trace *trace,
                        struct odb_tensor *const *given, const struct odb_node *node,
                        const struct odb_body *body, const struct bodies_record *r)
{
    const struct odb_graph *graph = c->model->graph;
    int *list = odb_new_n(int, graph->n_inputs + 1);
    size_t n = odb_graph_feeds(graph, list);
    c->feeds = odb_feeds_new(c->model);
    for (size_t i = 0; i < n; i++) {
        bool own = false;
        const char *name = graph->values[list[i]].name;
        const struct odb_tensor *t = bodies_own(trace, given, node, body, r, name, &own);
        const struct odb_value *outer = own ? NULL : odb_graph_value(trace->model->graph, name);
        if (outer)
            t = bodies_value(trace, given, outer->index);
        if (t)
            odb_feeds_add(c->feeds, list[i], t, own ? "the reference at this turn" : "captured");
    }
    free(list);
}

static bool bodies_has_turns(const struct odb_body *body)
{
    return body->attr && !strcmp(body->attr, "body");
}

/* The step into a body. Owned by the caller. */
static char *bodies_step(const struct odb_node *node, const struct odb_body *body, int64_t turn)
{
    char label[200];
    struct odb_buf text = ODB_BUF_INIT;
    odb_body_put_step(odb_node_label(node, label, sizeof label), body,
                      bodies_has_turns(body) ? turn : ODB_ANY_TURN, &text);
    return odb_buf_take(&text);
}

enum odb_status odb_body_case_open(struct odb_body_case *out, const struct odb_trace *trace,
                                   struct odb_tensor *const *given, int node,
                                   const struct odb_body *body, int64_t turn, struct odb_error *err)
{
    const struct odb_node *n = &trace->model->graph->nodes[node];
    struct bodies_record r = {.wanted = turn == ODB_ANY_TURN ? 0 : turn, .hooks = &trace->hooks};
    struct odb_tensor **outs = odb_new_n(struct odb_tensor *, n->n_out + 1);
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    char *step = bodies_step(n, body, r.wanted);
    enum odb_status status = ODB_OK;
    *out = (struct odb_body_case){0};
    if (body->attr) {
        status = bodies_run(trace, given, node, NULL, &r, outs, &why);
        if (!r.got && status == ODB_OK)
            status = odb_fail(&why, ODB_E_USAGE, "the reference does not come to %s", step);
        if (!r.got) {
            *err = why;
            goto out;
        }
        if (strcmp(r.attr, body->attr) != 0) {
            status = odb_fail(err, ODB_E_USAGE, "the reference takes the other branch of %s", step);
            goto out;
        }
    }
    turn = bodies_has_turns(body) ? r.wanted : ODB_ANY_TURN;
    ODB_TRY_OUT(odb_body_extract(trace->model, node, body, turn, &bytes, err));
    ODB_TRY_OUT(odb_model_open_bytes(&out->model, bytes.data, bytes.len, NULL, trace->model->dir,
                                     step, err));
    bodies_fill(out, trace, given, n, body, &r);
out:
    bodies_drop(outs, (size_t)n->n_out);
    bodies_record_dispose(&r);
    odb_buf_dispose(&bytes);
    free(step);
    return status;
}

enum odb_status odb_body_case_follow(struct odb_body_case *out, int *node,
                                     const struct odb_model *model, const struct odb_feeds *feeds,
                                     const struct odb_trace_options *how, const char *text,
                                     struct odb_error *err)
{
    struct odb_body_path path;
    *out = (struct odb_body_case){0};
    if (odb_graph_find_node(model->graph, text, node, NULL) == ODB_OK)
        return ODB_OK;
    if (!odb_body_path_parse(model->graph, NULL, text, &path) || !path.n)
        return odb_graph_find_node(model->graph, text, node, err);
    for (size_t i = 0; i < path.n; i++) {
        const struct odb_body_step *step = &path.steps[i];
        struct odb_body_case outer = *out;
        struct odb_trace *trace;
        ODB_TRY(odb_trace_make(&trace, i ? outer.model : model, i ? outer.feeds : feeds, how, err));
        enum odb_status status =
            odb_body_case_open(out, trace, NULL, step->node, &step->body, step->turn, err);
        odb_trace_free(trace);
        odb_body_case_dispose(&outer);
        ODB_TRY(status);
    }
    enum odb_status status = odb_graph_find_node(out->model->graph, path.last, node, err);
    if (status != ODB_OK)
        odb_body_case_dispose(out);
    return status;
}

/* --- asking the target ------------------------------------------------------------------------ */

/* One culprit with bodies. */
struct bodies {
    struct bisection *b;
    struct odb_culprit *culprit; /* borrowed: the report */
    const struct odb_node *node;
    struct odb_tensor *const *given; /* borrowed: what the node is fed */
    struct odb_search_hooks hooks;   /* of what goes on inside */
    char *where;                     /* owned: what the hooks say it is about */
    struct odb_model *owner;         /* owned: the node alone */
    struct odb_feeds *feeds;         /* owned: of it */
    struct odb_tensor **ref;         /* owned refs; [n_out] what the reference makes of it */
    struct odb_tensor **had;         /* owned refs; [n_out] what the target does */
    size_t n_out, turns, n_state;    /* turns: that the reference takes */
    bool *tried;                     /* owned; [turns] the body of this turn alone is right */
    size_t n_tried, n_right;
    bool *right;          /* owned; [turns] tried, and nothing is wrong */
    struct odb_body body; /* that the reference runs */
    double noise;         /* of what the node gives, as far as it is known */
    bool done;            /* a body was found to be wrong */
    struct odb_buf words;
};

static void bodies_event(void *payload, const struct odb_search_event *event)
{
    const struct bodies *s = payload;
    struct odb_search_event outer = *event;
    char line[400];
    bool probe = event->what == ODB_EVENT_PROBE_BEGIN || event->what == ODB_EVENT_PROBE_END;
    if (event->what == ODB_EVENT_VALUE) /* of another graph */
        return;
    if (probe) {
        snprintf(line, sizeof line, "%s: %s", s->where, event->text);
        outer.text = line;
    }
    if (outer.node != ODB_NO_NODE || probe)
        outer.node = s->node->index;
    odb_hooks_tell(&s->b->options->hooks, outer);
}

static bool bodies_cancelled(void *payload)
{
    const struct bodies *s = payload;
    const struct odb_search_hooks *hooks = &s->b->options->hooks;
    return hooks->cancelled && hooks->cancelled(hooks->payload);
}

/* Whether this is how the culprit is wrong. */
static bool bodies_bad(const struct bodies *s, enum odb_verdict verdict)
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
    ODB_TRY(odb_bisect_trace_options(s->b->options, &how, err));
    how.reference_from = how.golden_from = NULL; /* an executor was not asked about bodies */
    how.golden_is_reference = false;
    how.hooks = s->hooks;
    return odb_trace_make(trace, model, feeds, &how, err);
}

/* What the target makes of a model, judged as a plain run is, and nothing more. outputs: what it
 * gives for values, or NULL. What cannot be asked is untestable. */
static enum odb_status bodies_ask(struct bodies *s, const struct odb_model *model,
                                  const struct odb_feeds *feeds, const int *values, size_t n,
                                  const char *what, struct odb_tensor **outputs,
                                  enum odb_verdict *verdict, struct odb_error *err)
{
    struct odb_trace *trace = NULL;
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, n + 1);
    struct odb_probe probe = {.what = what,
                              .judged = true,
                              .node = ODB_NO_NODE,
                              .values = values,
                              .n_values = n,
                              .outputs = had};
    struct odb_prober prober;
    struct odb_probed probed = {.verdict = ODB_VERDICT_UNTESTABLE};
    enum odb_status status = bodies_trace(s, model, feeds, &trace, &why);
    if (status == ODB_OK) {
        struct odb_judge judge = {trace, &s->b->options->tolerance};
        odb_prober_init(&prober, model, feeds, trace, s->b->pool, s->hooks);
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

/* Outputs that a node of the main graph makes. */
static size_t bodies_made(const struct odb_graph *graph, int *list)
{
    size_t n = 0;
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (graph->values[graph->outputs[o]].producer != ODB_NO_NODE)
            list[n++] = graph->outputs[o];
    return n;
}

/* --- the node alone --------------------------------------------------------------------------- */

static enum odb_status bodies_owner(struct bodies *s, struct odb_error *err)
{
    const struct odb_trace *trace = s->b->trace;
    struct odb_buf bytes = ODB_BUF_INIT;
    ODB_TRY(odb_body_owner(trace->model, s->node->index, BODIES_TRIPS, &bytes, err));
    enum odb_status status = odb_model_open_bytes(&s->owner, bytes.data, bytes.len, NULL,
                                                  trace->model->dir, s->where, err);
    odb_buf_dispose(&bytes);
    return status;
}

static bool bodies_is(const struct bodies *s, const char *op_type)
{
    return !strcmp(s->node->op_type, op_type) && !s->node->domain[0];
}

/* An input of the node that is read in this one place. */
static bool bodies_reads_once(const struct bodies *s, int input)
{
    int value = s->node->in[input], n = 0;
    for (int i = 0; i < s->node->n_in; i++)
        n += s->node->in[i] == value;
    for (size_t c = 0; c < s->node->n_captured; c++)
        n += s->node->captured[c] == value;
    return n == 1;
}

/* The len elements of an axis that begin at at; len 0: the one there, without the axis. */
static enum odb_status bodies_take(struct odb_tensor **out, const struct odb_tensor *t,
                                   int64_t axis, int64_t at, int64_t len, struct odb_error *err)
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

/* What the owner is fed for k turns; ODB_ANY_TURN: for all. */
static enum odb_status bodies_owner_feeds(const struct bodies *s, int64_t k, struct odb_feeds **out,
                                          struct odb_error *err)
{
    const struct odb_graph *graph = s->owner->graph;
    int *list = odb_new_n(int, graph->n_inputs + 1);
    size_t n = odb_graph_feeds(graph, list);
    enum odb_status status = ODB_OK;
    struct odb_feeds *feeds = *out = odb_feeds_new(s->owner);
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        const char *name = graph->values[list[i]].name;
        const struct odb_value *outer = odb_graph_value(s->b->graph, name);
        const struct odb_tensor *t =
            outer ? bodies_value(s->b->trace, s->given, outer->index) : NULL;
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

/* The node alone on the target, once; had[] by its outputs. */
static enum odb_status bodies_alone(struct bodies *s, enum odb_verdict *verdict,
                                    struct odb_error *err)
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

/* --- which turn ------------------------------------------------------------------------------- */

/* The state after k turns on the target. False: it cannot be had. */
static enum odb_status bodies_prefix(struct bodies *s, int64_t k, enum odb_verdict *verdict,
                                     struct odb_error *err)
{
    const struct odb_graph *graph = s->owner->graph;
    int *values = odb_new_n(int, s->n_state + 1);
    size_t n = 0;
    char what[64];
    struct odb_feeds *feeds;
    for (size_t o = 0; o < graph->n_outputs; o++)
        if ((size_t)graph->values[graph->outputs[o]].slot < s->n_state)
            values[n++] = graph->outputs[o];
    snprintf(what, sizeof what, "%lld turns of %zu", (long long)k, s->turns);
    *verdict = ODB_VERDICT_UNTESTABLE;
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = bodies_owner_feeds(s, k, &feeds, &why);
    if (status == ODB_OK && n)
        status = bodies_ask(s, s->owner, feeds, values, n, what, NULL, verdict, err);
    else
        status = ODB_OK;
    odb_feeds_free(feeds);
    free(values);
    return status;
}

/* Bisects over the number of turns for the first that spoils the state, which shows after so many
 * at most; *turn is left alone where the state does not tell. */
static enum odb_status bodies_bisect(struct bodies *s, int64_t most, int64_t *turn,
                                     struct odb_error *err)
{
    int64_t good = 0, bad = most;
    enum odb_verdict verdict;
    bool loop = bodies_is(s, "Loop"), scan = bodies_is(s, "Scan") && s->node->opset >= 9;
    bool apart = loop || scan;
    for (int i = 0; i < s->node->n_in && apart; i++)
        if (loop ? i == 0 && s->node->in[0] >= 0 : (size_t)i >= s->n_state)
            apart = bodies_reads_once(s, i);
    if (!apart || !s->n_state)
        return ODB_OK;
    ODB_TRY(bodies_prefix(s, bad, &verdict, err));
    if (!bodies_bad(s, verdict))
        return ODB_OK;
    while (bad - good > 1) {
        int64_t k = good + (bad - good) / 2;
        ODB_TRY(bodies_prefix(s, k, &verdict, err));
        if (bodies_bad(s, verdict))
            bad = k;
        else if (verdict == ODB_VERDICT_PASS)
            good = k;
        else
            return ODB_OK;
    }
    *turn = good;
    return ODB_OK;
}

/* One of several tensors that are stacked in an output; NULL: it cannot be had. Owned. */
static struct odb_tensor *bodies_layer(const struct bodies *s, size_t output,
                                       const struct odb_tensor *t, size_t turn)
{
    struct odb_tensor *layer = NULL;
    struct odb_error ignored = ODB_ERROR_INIT;
    if (!t || t->kind == ODB_SEQUENCE)
        return t && turn < t->n_items ? odb_tensor_ref(t->items[turn]) : NULL;
    const struct odb_attr *axes = odb_attrs_find(&s->node->attrs, "scan_output_axes");
    const struct odb_attr *backs = odb_attrs_find(&s->node->attrs, "scan_output_directions");
    size_t k = output - s->n_state;
    int64_t axis = axes && k < axes->n ? axes->ints[k] : 0;
    axis += axis < 0 ? t->rank : 0;
    if (t->kind != ODB_TENSOR || axis < 0 || axis >= t->rank || (size_t)t->dims[axis] <= turn)
        return NULL;
    if (backs && k < backs->n && backs->ints[k])
        turn = (size_t)t->dims[axis] - 1 - turn;
    if (bodies_take(&layer, t, axis, (int64_t)turn, 0, &ignored) != ODB_OK)
        return NULL;
    return layer;
}

/* How many turns' values are stacked in an output. */
static size_t bodies_layers(const struct bodies *s, size_t output, const struct odb_tensor *t)
{
    size_t n = 0;
    const struct odb_attr *axes = odb_attrs_find(&s->node->attrs, "scan_output_axes");
    if (!t || t->kind == ODB_SEQUENCE)
        return t ? t->n_items : 0;
    size_t k = output - s->n_state;
    int64_t axis = axes && k < axes->n ? axes->ints[k] : 0;
    axis += axis < 0 ? t->rank : 0;
    if (t->kind == ODB_TENSOR && axis >= 0 && axis < t->rank)
        n = (size_t)t->dims[axis];
    return n;
}

/* The first turn whose stacked values are off by more than rounding in the reference's own. */
static int64_t bodies_first_layer(const struct bodies *s)
{
    bool batch = bodies_is(s, "Scan") && s->node->opset < 9; /* stacks of another form */
    for (size_t turn = 0; turn < s->turns && !batch; turn++)
        for (size_t o = s->n_state; o < s->n_out; o++) {
            if (!s->had[o] || !s->ref[o])
                continue;
            struct odb_tensor *had = bodies_layer(s, o, s->had[o], turn);
            struct odb_tensor *ref = bodies_layer(s, o, s->ref[o], turn);
            bool alike = bodies_alike(had, ref, s->noise);
            odb_tensor_unref(had);
            odb_tensor_unref(ref);
            if (!alike)
                return (int64_t)turn;
        }
    return ODB_ANY_TURN;
}

/* How many turns the target took, as far as what it gave tells. */
static enum odb_status bodies_trips(struct bodies *s, size_t *trips, struct odb_error *err)
{
    struct odb_tensor *more;
    struct odb_tensor **outs = odb_new_n(struct odb_tensor *, s->n_out + 1);
    struct bodies_record r = {.wanted = ODB_ANY_TURN,
                              .states = s->had,
                              .n_states = s->n_state,
                              .skip = 1,
                              .noise = s->noise};
    struct odb_error ignored = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK;
    *trips = s->turns;
    for (size_t o = s->n_state; o < s->n_out; o++)
        if (s->had[o] && s->ref[o]) {
            *trips = bodies_layers(s, o, s->had[o]);
            goto out;
        }
    for (size_t o = 0; o < s->n_state; o++)
        if (!s->had[o])
            goto out;
    /* Nothing is stacked: whose state is it? One turn more than there should be is looked at too.
     */
    const struct odb_tensor *m =
        s->node->in[0] < 0 ? NULL : bodies_value(s->b->trace, s->given, s->node->in[0]);
    ODB_TRY_OUT(odb_tensor_new(&more, ODB_I64, m ? m->rank : 0, (const int64_t[]){1}, err));
    odb_store_i64(ODB_I64, more->data, 0, (int64_t)s->turns + 1);
    if (bodies_run(s->b->trace, s->given, s->node->index, more, &r, outs, &ignored) == ODB_OK &&
        r.n_like == 1)
        *trips = r.like;
    odb_tensor_unref(more);
out:
    bodies_drop(outs, s->n_out);
    return status;
}

/* --- inside ----------------------------------------------------------------------------------- */

/* Which of the culprits in a body is to blame for what the node shows: the first that fails in the
 * node's way and reaches what the body gives. */
static const struct odb_culprit *bodies_choose(const struct bodies *s,
                                               const struct odb_report *report)
{
    const struct odb_culprit *best = NULL;
    int most = 0;
    for (size_t i = 0; i < report->culprits.n; i++) {
        const struct odb_culprit *c = &report->culprits.items[i];
        int fits = c->kind == ODB_KIND_NONDETERMINISTIC
                       ? 0
                       : 1 + c->reaches_output + 2 * (c->kind == s->culprit->kind);
        if (fits <= most)
            continue;
        most = fits;
        best = c;
    }
    return best;
}

/* The outer culprit gets what the search inside a body found. */
static void bodies_adopt(struct bodies *s, const char *step, const struct odb_report *report)
{
    const struct odb_graph *graph = report->model->graph;
    const struct odb_culprit *first = bodies_choose(s, report);
    char label[200];
    if (!first && !report->outputs_diverge && !s->body.attr) {
        odb_buf_puts(&s->words, "Nothing in it is wrong, so it is the call: how inputs and "
                                "attributes come in and outputs go out, or how the target treats "
                                "the function as one. ");
        return;
    }
    if (!first) {
        s->culprit->path = odb_xstrdup(step);
        odb_buf_puts(&s->words, "No single node of that body could be named. ");
        return;
    }
    const struct odb_node *node = &graph->nodes[first->node];
    odb_node_label(node, label, sizeof label);
    s->culprit->path = odb_xasprintf("%s/%s", step, first->path ? first->path : label);
    struct odb_culprit_inside *inside = s->culprit->inside = odb_new(struct odb_culprit_inside);
    if (first->inside) {
        *inside = *first->inside;
        inside->name = odb_xstrdup(first->inside->name);
        inside->op_type = odb_xstrdup(first->inside->op_type);
        inside->domain = odb_xstrdup(first->inside->domain);
        inside->value = first->inside->value ? odb_xstrdup(first->inside->value) : NULL;
    } else {
        *inside = (struct odb_culprit_inside){
            .index = first->node,
            .name = odb_xstrdup(node->name),
            .op_type = odb_xstrdup(node->op_type),
            .domain = odb_xstrdup(node->domain),
            .value = first->value < 0 ? NULL : odb_xstrdup(graph->values[first->value].name),
            .kind = first->kind,
            .verified = first->verified,
            .numbers = first->numbers};
    }
    odb_buf_puts(&s->words, "There it is ");
    odb_buf_put_shown(&s->words, first->within ? label : s->culprit->path);
    if (report->culprits.n > 1)
        odb_buf_printf(&s->words, ", one of %zu", report->culprits.n);
    odb_buf_puts(&s->words, ": ");
    odb_buf_puts(&s->words, first->within ? first->within : first->text ? first->text : "");
    if (!first->within)
        odb_buf_putc(&s->words, ' ');
}

/* Searches the body. */
static enum odb_status bodies_dive(struct bodies *s, const struct odb_body_case *c, int64_t turn,
                                   struct odb_error *err)
{
    struct bisection *b = s->b;
    struct odb_bisect_options inner = *b->options;
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_report *report = NULL;
    enum odb_precision precision;
    char *step = bodies_step(s->node, &s->body, turn);
    if (odb_precision_parse(&precision, inner.reference, NULL) != ODB_OK)
        inner.reference = "cpu";
    if (inner.golden && odb_precision_parse(&precision, inner.golden, NULL) != ODB_OK)
        inner.golden = NULL;
    inner.strategy = ODB_STRATEGY_AUTO;
    inner.prove = false;
    inner.trace = NULL;
    char *scope = odb_xasprintf("%s%s/", inner.scope ? inner.scope : "", step);
    inner.scope = scope;
    inner.hooks = s->hooks;
    enum odb_status status = odb_bisect(&report, c->model, c->feeds, &inner, &why);
    if (report) {
        b->inside.loads += report->target_loads;
        b->inside.runs += report->target_runs;
        b->inside_seconds += report->target_seconds;
        if (report->culprits.n || status == ODB_OK)
            bodies_adopt(s, step, report);
    }
    if (status == ODB_CANCELLED)
        *err = why;
    else if (status != ODB_OK)
        odb_report_warn(b->report, "the search inside %s did not end: %.300s", step, why.what);
    odb_report_free(report);
    free(scope);
    free(step);
    s->done = true;
    return status == ODB_CANCELLED ? status : ODB_OK;
}

/* A warning, unless it was cancelled. */
static enum odb_status bodies_give_up(struct bodies *s, enum odb_status status,
                                      const struct odb_error *why, struct odb_error *err)
{
    if (status == ODB_CANCELLED) {
        *err = *why;
        return status;
    }
    odb_report_warn(s->b->report, "%s cannot be run by itself: %.300s", s->where, why->what);
    return ODB_OK;
}

/* The body of one turn alone; searched where it is wrong. */
static enum odb_status bodies_try(struct bodies *s, int64_t turn, const char *say,
                                  struct odb_error *err)
{
    struct odb_body_case c;
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_verdict verdict = ODB_VERDICT_UNTESTABLE;
    if (s->done || turn < 0 || (size_t)turn >= s->turns || s->tried[turn])
        return ODB_OK;
    s->tried[turn] = true;
    s->n_tried++;
    enum odb_status status =
        odb_body_case_open(&c, s->b->trace, s->given, s->node->index, &s->body, turn, &why);
    if (status != ODB_OK) {
        odb_body_case_dispose(&c);
        return bodies_give_up(s, status, &why, err);
    }
    free(s->where);
    s->where = bodies_step(s->node, &s->body, turn);
    int *values = odb_new_n(int, c.model->graph->n_outputs + 1);
    size_t n = bodies_made(c.model->graph, values);
    if (n)
        status = bodies_ask(s, c.model, c.feeds, values, n, "the body alone", NULL, &verdict, err);
    else
        verdict = ODB_VERDICT_PASS; /* it hands on what it is given */
    free(values);
    s->right[turn] = status == ODB_OK && verdict == ODB_VERDICT_PASS;
    s->n_right += s->right[turn];
    if (status == ODB_OK && bodies_bad(s, verdict)) {
        odb_buf_puts(&s->words, say);
        status = bodies_dive(s, &c, turn, err);
    }
    odb_body_case_dispose(&c);
    return status;
}

/* No body is wrong: that it is the node itself is said where enough of them are known to be right.
 * parted: the target took another number of turns, the last of both being part. */
static void bodies_acquit(struct bodies *s, size_t trips, int64_t part, int64_t by_state)
{
    const bool parted = trips != s->turns;
    const int64_t turn = parted ? part : by_state;
    const bool all = turn >= 0 ? s->right[turn] : parted || s->n_right == s->turns;
    if (parted)
        odb_buf_printf(&s->words, "The target takes %zu turns where the reference takes %zu; ",
                       trips, s->turns);
    if (parted && turn >= 0 && all)
        odb_buf_printf(&s->words,
                       "the body of turn %lld, where they part, is right alone on the reference's "
                       "state, its condition included, so ",
                       (long long)turn);
    else if (parted && turn >= 0)
        odb_buf_printf(&s->words,
                       "whether the body of turn %lld, where they part, is right alone is not "
                       "known. ",
                       (long long)turn);
    else if (turn >= 0)
        odb_buf_printf(&s->words,
                       "The state that it carries is wrong after turn %lld for the first time, and "
                       "%s",
                       (long long)turn,
                       all ? "the body of that turn is right alone on the reference's state, so "
                           : "whether the body of that turn is right alone is not known. ");
    else if (!parted && all)
        odb_buf_printf(&s->words,
                       "All of its %zu turns' bodies are right alone on the reference's state, so ",
                       s->turns);
    else if (!parted)
        odb_buf_printf(&s->words,
                       "Of its %zu turns' bodies %zu were run alone on the reference's state and "
                       "are right; of the others nothing is known. ",
                       s->turns, s->n_right);
    if (parted && all)
        odb_buf_printf(&s->words, "it is how the %s counts or stops. ", s->node->op_type);
    else if (all)
        odb_buf_printf(&s->words,
                       "it is %s itself: how it counts, stops, hands on its state, puts together "
                       "what its turns give, or how the target treats a body that stands in it. ",
                       s->node->op_type);
}

/* Which turn's body it is, or that it is none of them. */
static enum odb_status bodies_turns(struct bodies *s, struct odb_error *err)
{
    char say[200];
    size_t trips = s->turns;
    int64_t by_state = ODB_ANY_TURN, by_layer = bodies_first_layer(s);
    if (bodies_is(s, "Loop"))
        ODB_TRY(bodies_trips(s, &trips, err));
    const bool parted = trips != s->turns, few = s->turns < BODIES_FEW;
    const int64_t common = (int64_t)ODB_MIN(trips, s->turns), part = common - 1;
    if (parted && (by_layer < 0 || by_layer > part))
        by_layer = part; /* the turn that ended otherwise */
    if (few)
        by_layer = ODB_ANY_TURN;
    else
        ODB_TRY(bodies_bisect(s, by_layer >= 0 ? by_layer + 1 : (int64_t)s->turns, &by_state, err));
    const int64_t order[] = {by_state, by_layer};
    for (size_t i = 0; i < ODB_COUNT(order); i++) {
        snprintf(say, sizeof say,
                 "Turn %lld of %zu is the first that goes wrong, and its body alone, on the "
                 "reference's state, does as well. ",
                 (long long)order[i], s->turns);
        ODB_TRY(bodies_try(s, order[i], say, err));
    }
    const bool known = by_state >= 0 || (parted && !few); /* which turn it is */
    const size_t last = parted ? (size_t)common : s->turns;
    for (size_t k = 0; k < last && s->n_tried < BODIES_LINEAR && !s->done && !known; k++) {
        snprintf(say, sizeof say,
                 "Turn %zu of %zu is the first whose body alone, on the reference's state, goes "
                 "wrong. ",
                 k, s->turns);
        ODB_TRY(bodies_try(s, (int64_t)k, say, err));
    }
    if (!s->done)
        bodies_acquit(s, trips, part, by_state);
    return ODB_OK;
}

/* If: did the target take the other branch? */
static enum odb_status bodies_branch(struct bodies *s, struct odb_error *err)
{
    const struct odb_tensor *cond = bodies_value(s->b->trace, s->given, s->node->in[0]);
    struct odb_tensor **outs = odb_new_n(struct odb_tensor *, s->n_out + 1), *other = NULL;
    struct bodies_record r = {.wanted = ODB_ANY_TURN};
    struct odb_error ignored = ODB_ERROR_INIT;
    bool truth = cond && odb_tensor_i64(cond, 0), same = false, differs = false;
    if (cond && odb_tensor_clone(&other, cond, &ignored) == ODB_OK) {
        odb_store_i64(ODB_BOOL, other->data, 0, !truth);
        same =
            bodies_run(s->b->trace, s->given, s->node->index, other, &r, outs, &ignored) == ODB_OK;
    }
    for (size_t o = 0; o < s->n_out && same; o++) {
        same = s->node->out[o] < 0 || bodies_alike(s->had[o], outs[o], s->noise);
        differs = differs || (s->node->out[o] >= 0 && !bodies_alike(s->ref[o], outs[o], s->noise));
    }
    bodies_drop(outs, s->n_out);
    odb_tensor_unref(other);
    if (same && differs) {
        odb_buf_printf(&s->words, "The target takes the other branch: the condition, ");
        odb_buf_put_shown(&s->words, s->b->graph->values[s->node->in[0]].name);
        odb_buf_printf(&s->words,
                       ", is %s in both, and what the target gives is what the %s branch gives. ",
                       truth ? "true" : "false", truth ? "else" : "then");
        return ODB_OK;
    }
    ODB_TRY(bodies_try(s, 0, "The branch that is taken is wrong by itself. ", err));
    if (!s->done)
        odb_buf_puts(&s->words, s->right[0] ? "The branch that is taken is right by itself, so it "
                                              "is the If: how it chooses, or hands on what the "
                                              "branch gives. "
                                            : "Whether the branch that is taken is right by itself "
                                              "is not known. ");
    return ODB_OK;
}

/* --- from a culprit inwards ------------------------------------------------------------------- */

static enum odb_status bodies_function(struct bodies *s, struct odb_error *err)
{
    struct odb_body_case c;
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status =
        odb_body_case_open(&c, s->b->trace, s->given, s->node->index, &s->body, ODB_ANY_TURN, &why);
    if (status != ODB_OK) {
        odb_body_case_dispose(&c);
        return bodies_give_up(s, status, &why, err);
    }
    odb_buf_puts(&s->words, "It calls a function of the model, whose body was searched. ");
    status = bodies_dive(s, &c, ODB_ANY_TURN, err);
    odb_body_case_dispose(&c);
    return status;
}

static enum odb_status bodies_control(struct bodies *s, struct odb_error *err)
{
    struct bodies_record r = {.wanted = ODB_ANY_TURN, .hooks = &s->hooks};
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_verdict verdict;
    enum odb_status status =
        bodies_run(s->b->trace, s->given, s->node->index, NULL, &r, s->ref, &why);
    if (status == ODB_CANCELLED)
        return bodies_give_up(s, status, &why, err);
    if (status != ODB_OK || !r.turns || !odb_body_find(s->node, r.attr, &s->body))
        return ODB_OK; /* the reference runs no body here */
    s->turns = r.turns;
    s->tried = odb_new_n(bool, s->turns);
    s->right = odb_new_n(bool, s->turns);
    status = bodies_owner(s, &why);
    if (status != ODB_OK)
        return bodies_give_up(s, status, &why, err);
    ODB_TRY(bodies_alone(s, &verdict, err));
    if (!bodies_bad(s, verdict))
        return ODB_OK; /* wrong only where it stands */
    return bodies_is(s, "If") ? bodies_branch(s, err) : bodies_turns(s, err);
}

static size_t bodies_states(const struct odb_node *node)
{
    const struct odb_attr *scanned = odb_attrs_find(&node->attrs, "num_scan_inputs");
    int64_t n = !strcmp(node->op_type, "Loop") ? node->n_in - 2
                : !strcmp(node->op_type, "Scan") && scanned
                    ? node->n_in - (node->opset < 9) - scanned->i
                    : 0;
    return (size_t)ODB_MAX(ODB_MIN(n, node->n_out), 0);
}

static enum odb_status bodies_enter(struct bisection *b, struct odb_culprit *culprit,
                                    struct odb_error *err)
{
    const struct odb_node *node = &b->graph->nodes[culprit->node];
    struct bodies s = {
        .b = b, .culprit = culprit, .node = node, .given = b->given, .words = ODB_BUF_INIT};
    char label[200];
    s.hooks = odb_hooks_within(&b->options->hooks, bodies_event, bodies_cancelled, &s);
    s.where = odb_xstrdup(odb_node_label(node, label, sizeof label));
    s.n_out = (size_t)node->n_out;
    s.n_state = bodies_states(node);
    s.noise = culprit->numbers.local_noise.known ? culprit->numbers.local_noise.v : 0;
    s.ref = odb_new_n(struct odb_tensor *, s.n_out + 1);
    s.had = odb_new_n(struct odb_tensor *, s.n_out + 1);
    enum odb_status status =
        odb_body_find(node, NULL, &s.body) ? bodies_function(&s, err) : bodies_control(&s, err);
    if (s.words.len)
        culprit->within = odb_buf_take(&s.words);
    odb_buf_dispose(&s.words);
    bodies_drop(s.ref, s.n_out);
    bodies_drop(s.had, s.n_out);
    odb_feeds_free(s.feeds);
    odb_model_free(s.owner);
    free(s.tried);
    free(s.right);
    free(s.where);
    odb_pool_set_cancel(b->pool, b->options->hooks.cancelled, b->options->hooks.payload);
    return status;
}

/* --- what goes another way -------------------------------------------------------------------- */

/* Of one element each, and not the same. */
static bool bodies_disagree(const struct odb_tensor *a, const struct odb_tensor *b)
{
    bool single = a && b && a->kind == ODB_TENSOR && b->kind == ODB_TENSOR && a->count == 1 &&
                  b->count == 1 && a->dtype == b->dtype && a->data && b->data &&
                  (a->dtype == ODB_BOOL || a->dtype == ODB_I64);
    return single && odb_tensor_i64(a, 0) != odb_tensor_i64(b, 0);
}

static void bodies_put_value(const struct odb_tensor *t, struct odb_buf *out)
{
    if (t->dtype == ODB_BOOL)
        odb_buf_puts(out, odb_tensor_i64(t, 0) ? "true" : "false");
    else
        odb_buf_printf(out, "%lld", (long long)odb_tensor_i64(t, 0));
}

void bisection_put_steered(const struct bisection *b, const struct odb_culprit *culprit,
                           struct odb_buf *out)
{
    size_t said = 0;
    if (culprit - b->report->culprits.items >= BODIES_TOLD)
        return;
    bool *up = odb_new_n(bool, b->graph->n_nodes + 1);
    for (size_t n = (size_t)culprit->node + 1; n < b->graph->n_nodes && said < BODIES_MOST; n++) {
        const struct odb_node *node = &b->graph->nodes[n];
        bool loop = !strcmp(node->op_type, "Loop");
        for (int i = 0; !*node->domain && i < 1 + loop && i < node->n_in; i++) {
            int v = node->in[i];
            char label[200];
            if ((!loop && strcmp(node->op_type, "If") != 0) || v < 0 || !b->given ||
                !bodies_disagree(b->trace->ref[v], b->given[v]))
                continue;
            memset(up, 0, b->graph->n_nodes * sizeof *up);
            odb_graph_ancestors(b->graph, &v, 1, NULL, up);
            if (!up[culprit->node])
                continue;
            odb_buf_puts(out, "So ");
            odb_buf_put_shown(out, odb_node_label(node, label, sizeof label));
            odb_buf_printf(out, " goes another way: its %s, ",
                           loop && i == 0 ? "trip count" : "condition");
            odb_buf_put_shown(out, b->graph->values[v].name);
            odb_buf_puts(out, ", is ");
            bodies_put_value(b->given[v], out);
            odb_buf_puts(out, " on the target and ");
            bodies_put_value(b->trace->ref[v], out);
            odb_buf_puts(out, " on the reference. ");
            said++;
        }
    }
    free(up);
}

/* --- all culprits ----------------------------------------------------------------------------- */

enum odb_status bisection_enter(struct bisection *b, struct odb_error *err)
{
    size_t entered = 0;
    enum odb_status status = ODB_OK;
    if (b->options->no_enter || b->options->recorded || b->prober.recorded || !b->pool)
        return ODB_OK;
    for (size_t c = 0; c < b->report->culprits.n && entered < BODIES_MOST; c++) {
        struct odb_culprit *culprit = &b->report->culprits.items[c];
        bool death = culprit->kind == ODB_KIND_CRASH || culprit->kind == ODB_KIND_HANG;
        if (!culprit->verified || culprit->of_reference ||
            culprit->segment[0] != culprit->segment[1] ||
            !(death || odb_diagnosis_accuses(culprit->kind)) ||
            !odb_node_has_body(&b->graph->nodes[culprit->node]))
            continue;
        entered++;
        bisection_step_begin(b, "inside");
        status = bodies_enter(b, culprit, err);
        bisection_step_end(b, "inside", "the bodies of node %d", culprit->node);
        if (status != ODB_OK)
            break;
    }
    return status;
}
