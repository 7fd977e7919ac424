/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "walk/inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "bisect/bisect_options.h"
#include "run/hooks.h"
#include "reference/trace.h"

static void inside_event(void *payload, const struct odb_search_event *event)
{
    const struct odb_inside *in = payload, *outermost = in;
    struct odb_search_event told = *event;
    if (event->what == ODB_EVENT_VALUE)
        return;
    while (outermost->outer)
        outermost = outermost->outer;
    if (told.node != ODB_NO_NODE)
        told.node = outermost->node;
    told.times = NULL; /* of another graph */
    odb_hooks_tell(&in->hooks, told);
}

static bool inside_cancelled(void *payload)
{
    const struct odb_inside *in = payload;
    return in->hooks.cancelled && in->hooks.cancelled(in->hooks.payload);
}

static struct odb_search_hooks inside_listen(struct odb_inside *in,
                                             const struct odb_search_hooks *hooks)
{
    in->hooks = hooks ? *hooks : (struct odb_search_hooks){0};
    return (struct odb_search_hooks){inside_event, inside_cancelled, in};
}

/* Which body of the node runs: of an If the one whose branch the reference takes. */
static enum odb_status inside_open_body(struct odb_inside *in, int64_t turn, struct odb_body *body,
                                        struct odb_error *err)
{
    static const char *const attrs[] = {"body", "then_branch", "else_branch", NULL};
    struct odb_walk *around = in->around;
    const struct odb_node *node = &around->model->graph->nodes[in->node];
    enum odb_status status = ODB_OK;
    bool any = false;
    for (size_t i = 0; i < ODB_COUNT(attrs); i++) {
        struct odb_error why = ODB_ERROR_INIT;
        if (!odb_body_find(node, attrs[i], body))
            continue;
        any = true;
        status =
            odb_body_case_open(&in->body, around->trace, around->given, in->node, body, turn, &why);
        if (status == ODB_OK)
            return ODB_OK;
        odb_body_case_dispose(&in->body);
        *err = why;
        if (status != ODB_E_USAGE)
            return status;
    }
    return any ? status : odb_fail(err, ODB_E_USAGE, "the node has no body");
}

static enum odb_status inside_trace(struct odb_inside *in, const struct odb_bisect_options *options,
                                    struct odb_error *err)
{
    struct odb_trace_options how;
    ODB_TRY(odb_bisect_trace_options(options, &how, err));
    how.reference_from = how.golden_from = NULL; /* they do not show what is in bodies */
    how.encodings = NULL;
    how.hooks = inside_listen(in, &options->hooks);
    return odb_trace_make(&in->trace, in->body.model, in->body.feeds, &how, err);
}

static void inside_free(struct odb_inside *in)
{
    odb_walk_close(in->walk);
    odb_trace_free(in->trace);
    odb_body_case_dispose(&in->body);
    free(in->path);
    free(in);
}

static enum odb_status inside_open(struct odb_inside **out, struct odb_inside *outer,
                                   struct odb_walk *around, int node, int64_t turn,
                                   const struct odb_bisect_options *options, struct odb_error *err)
{
    struct odb_inside *in = odb_new(struct odb_inside);
    struct odb_buf path = ODB_BUF_INIT;
    struct odb_body body;
    char label[200];
    *in = (struct odb_inside){.outer = outer, .around = around, .node = node, .turn = ODB_ANY_TURN};
    around->trace->hooks = inside_listen(in, &options->hooks);
    enum odb_status status = inside_open_body(in, turn, &body, err);
    around->trace->hooks = (struct odb_search_hooks){0};
    if (status == ODB_OK)
        status = inside_trace(in, options, err);
    if (status == ODB_OK)
        status = odb_walk_open(&in->walk, in->body.model, in->body.feeds, in->trace, options, err);
    if (status != ODB_OK) {
        inside_free(in);
        return status;
    }
    in->which = body;
    if (body.attr && !strcmp(body.attr, "body"))
        in->turn = turn == ODB_ANY_TURN ? 0 : turn;
    odb_buf_puts(&path, outer ? outer->path : "");
    odb_body_put_step(odb_node_label(&around->model->graph->nodes[node], label, sizeof label),
                      &body, in->turn, &path);
    odb_buf_putc(&path, '/');
    in->path = odb_buf_take(&path);
    *out = in;
    return ODB_OK;
}

enum odb_status odb_inside_enter(struct odb_inside **out, struct odb_inside *outer,
                                 struct odb_walk *around, int64_t turn,
                                 const struct odb_bisect_options *options, struct odb_error *err)
{
    return inside_open(out, outer, around, around->at, turn, options, err);
}

enum odb_status odb_inside_turn(struct odb_inside **inside, int64_t turn,
                                const struct odb_bisect_options *options, struct odb_error *err)
{
    struct odb_inside *now = *inside, *next;
    if (now->turn == ODB_ANY_TURN)
        return odb_fail(err, ODB_E_USAGE, "it has no turns");
    ODB_TRY(inside_open(&next, now->outer, now->around, now->node, turn, options, err));
    inside_free(now);
    *inside = next;
    return ODB_OK;
}

enum odb_status odb_inside_walk_to(struct odb_inside *inside, int stop,
                                   const struct odb_search_hooks *hooks, struct odb_error *err)
{
    struct odb_search_hooks quiet = inside_listen(inside, hooks);
    return odb_walk_to(inside->walk, stop, &quiet, err);
}

enum odb_status odb_inside_rejudge(struct odb_inside *inside, const struct odb_criterion *tolerance,
                                   const struct odb_search_hooks *hooks, struct odb_error *err)
{
    struct odb_search_hooks quiet = inside_listen(inside, hooks);
    const struct odb_judge judge = {inside->trace, tolerance};
    inside->trace->hooks = quiet;
    enum odb_status status =
        odb_rejudge(&judge, inside->walk->given, inside->walk->values, &quiet, err);
    inside->trace->hooks = (struct odb_search_hooks){0};
    if (status == ODB_OK)
        inside->walk->tolerance = *tolerance;
    return status;
}

bool odb_inside_is(const struct odb_inside *inside, const struct odb_body_step *steps, size_t n)
{
    for (; inside && n; inside = inside->outer, n--) {
        const struct odb_body_step *step = &steps[n - 1];
        const char *a = inside->which.attr, *b = step->body.attr;
        bool same = a && b ? !strcmp(a, b) : !a && !b;
        if (!same || inside->node != step->node ||
            (step->turn != ODB_ANY_TURN && inside->turn != step->turn))
            return false;
    }
    return !inside && !n;
}

/* The body is a model of its own in the walk, whose nodes are those of the graph, in their order.
 */
void odb_inside_reports(const struct odb_inside *inside, size_t n_nodes,
                        struct odb_value_report *reports)
{
    const struct odb_graph *own = inside->walk->model->graph;
    int *origin = odb_new_n(int, own->n_nodes + 1);
    odb_model_origin(inside->walk->model, origin);
    for (size_t n = 0; n < own->n_nodes; n++) {
        const struct odb_node *node = &own->nodes[n];
        for (int o = node->n_out - 1; o >= 0; o--)
            if (node->out[o] != ODB_NO_VALUE && origin[n] >= 0 && (size_t)origin[n] < n_nodes)
                reports[origin[n]] = inside->walk->values[node->out[o]];
    }
    free(origin);
}

struct odb_inside *odb_inside_leave(struct odb_inside *inside)
{
    if (!inside)
        return NULL;
    struct odb_inside *outer = inside->outer;
    inside_free(inside);
    return outer;
}
