/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One turn of a body as a model of its own.
 */
#include "probe/body_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reference/bodies_record.h"
#include "run/feeds.h"
#include "probe/reference_from.h"
#include "reference/trace.h"
#include "model/read/load.h"

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
    ODB_TRY_OUT(odb_model_open_bytes(&out->model, bytes.data, bytes.len, NULL, trace->model->base,
                                     step, err));
    bodies_fill(out, trace, given, n, body, &r);
out:
    bodies_drop(outs, (size_t)n->n_out);
    bodies_record_dispose(&r);
    odb_buf_dispose(&bytes);
    free(step);
    return status;
}

enum odb_status odb_body_case_reach(struct odb_trace **out, const struct odb_model *model,
                                    const struct odb_feeds *feeds, int node,
                                    const struct odb_trace_options *how, struct odb_error *err)
{
    const struct odb_node *n = &model->graph->nodes[node];
    int *reads = odb_new_n(int, odb_node_n_reads(n) + 1);
    for (size_t i = 0; i < odb_node_n_reads(n); i++)
        reads[i] = odb_node_reads(n, i);
    enum odb_status status =
        odb_reference_up_to(out, model, feeds, reads, odb_node_n_reads(n), how, err);
    free(reads);
    return status;
}

enum odb_status odb_body_case_enter(struct odb_body_case *out, const struct odb_trace *trace,
                                    const struct odb_body_path *path,
                                    const struct odb_trace_options *how, struct odb_error *err)
{
    *out = (struct odb_body_case){0};
    for (size_t i = 0; i < path->n; i++) {
        const struct odb_body_step *step = &path->steps[i];
        struct odb_body_case outer = *out;
        struct odb_trace *own = NULL;
        enum odb_status status =
            i ? odb_body_case_reach(&own, outer.model, outer.feeds, step->node, how, err) : ODB_OK;
        *out = (struct odb_body_case){0};
        if (status == ODB_OK)
            status = odb_body_case_open(out, i ? own : trace, NULL, step->node, &step->body,
                                        step->turn, err);
        odb_trace_free(own);
        odb_body_case_dispose(&outer);
        if (status != ODB_OK) {
            odb_body_case_dispose(out);
            return status;
        }
    }
    return ODB_OK;
}

enum odb_status odb_body_case_follow(struct odb_body_case *out, int *node,
                                     const struct odb_model *model, const struct odb_feeds *feeds,
                                     const struct odb_trace_options *how, const char *text,
                                     struct odb_error *err)
{
    struct odb_body_path path;
    struct odb_trace *trace;
    *out = (struct odb_body_case){0};
    if (odb_graph_find_node(model->graph, text, node, NULL) == ODB_OK)
        return ODB_OK;
    if (!odb_body_path_parse(model->graph, NULL, text, &path) || !path.n)
        return odb_graph_find_node(model->graph, text, node, err);
    ODB_TRY(odb_body_case_reach(&trace, model, feeds, path.steps[0].node, how, err));
    enum odb_status status = odb_body_case_enter(out, trace, &path, how, err);
    odb_trace_free(trace);
    if (status == ODB_OK)
        status = odb_graph_find_node(out->model->graph, path.last, node, err);
    if (status != ODB_OK)
        odb_body_case_dispose(out);
    return status;
}
