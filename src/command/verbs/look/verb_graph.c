/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_shapes.h"
#include "command/value/node_range.h"
#include "drawing/drawing.h"
#include "model/read/load.h"
#include "model/write/body_model.h"
#include "report/json.h"
#include "session/session.h"
#include "system/file.h"

#define GRAPH_DEPTH 3 /* around a node, where no depth is given */

struct graph_call {
    struct odb_command_call *call; /* borrowed */
    struct odb_model *body;        /* owned: that the words lead into; NULL: the main graph */
    struct odb_body_path path;     /* to that; borrows the words */
    const struct odb_graph *graph; /* borrowed: what is drawn; NULL: no word has said it yet */
    bool *nodes;                   /* owned; [n_nodes] */
};

/* --- which nodes ------------------------------------------------------------------------------ */

static enum odb_status graph_other_body(const char *text, struct odb_error *err)
{
    odb_fail(err, ODB_E_USAGE, "'%s' is in another graph than the words before", text);
    return odb_error_remedy(err, "name nodes of one graph: a picture is of one");
}

/* The nodes that a word names, and the graph they are in. */
static enum odb_status graph_find(struct graph_call *g, const char *text, int *first, int *last,
                                  struct odb_error *err)
{
    const struct odb_graph *main = g->call->model->graph;
    struct odb_body_path path = {.n = 0};
    struct odb_model *body = NULL;
    bool inside = odb_call__segment(main, text, first, last, NULL) != ODB_OK &&
                  odb_body_path_parse(main, NULL, text, &path) && path.n;
    if (inside)
        ODB_TRY(odb_body_follow(&body, first, g->call->model, text, err));
    else
        ODB_TRY(odb_call__segment(main, text, first, last, err));
    if (body)
        *last = *first;
    if (!g->graph) {
        g->body = body;
        g->path = path;
        g->graph = body ? body->graph : main;
        g->nodes = odb_new_n(bool, g->graph->n_nodes + 1);
        return ODB_OK;
    }
    bool same = body && g->body ? !strcmp(odb_model_body_way(body), odb_model_body_way(g->body))
                                : !body && !g->body;
    odb_model_free(body);
    return same ? ODB_OK : graph_other_body(text, err);
}

static enum odb_status graph_choose(struct graph_call *g, struct odb_error *err)
{
    int depth = (int)odb_call_int(g->call, ODB_OPTION_DEPTH, GRAPH_DEPTH), first, last;
    size_t n_around;
    const char **around = odb_call_list(g->call, ODB_OPTION_AROUND, &n_around);
    enum odb_status status = ODB_OK;
    for (size_t i = 1; i < g->call->n_args; i++) {
        ODB_TRY_OUT(graph_find(g, odb_call_arg(g->call, i), &first, &last, err));
        memset(g->nodes + first, true, (size_t)(last - first + 1) * sizeof *g->nodes);
    }
    for (size_t i = 0; i < n_around; i++) {
        ODB_TRY_OUT(graph_find(g, around[i], &first, &last, err));
        for (int n = first; n <= last; n++)
            odb_drawing_around(g->graph, n, depth, g->nodes);
    }
    if (!g->graph) {
        g->graph = g->call->model->graph;
        g->nodes = odb_new_n(bool, g->graph->n_nodes + 1);
        memset(g->nodes, true, g->graph->n_nodes * sizeof *g->nodes);
    }
out:
    free(around);
    return status;
}

/* --- what was found --------------------------------------------------------------------------- */

static struct odb_drawing_mark graph_mark(const struct odb_value_report *report, const char *kind)
{
    return (struct odb_drawing_mark){report->verdict, odb_report_error(report), kind};
}

static void graph_marks_main(const struct graph_call *g, struct odb_drawing_mark *marks)
{
    const struct odb_session *session = g->call->session;
    for (int n = 0; n < (int)g->graph->n_nodes; n++) {
        const struct odb_culprit *culprit = odb_session_culprit(session, n);
        marks[n] = graph_mark(odb_session_node(session, n, NULL),
                              culprit ? odb_diagnosis_name(culprit->kind) : NULL);
    }
}

/* Nodes that searches in the body have accused, and what a walk in it has come past; by their index
 * in the body. Returns whether there are any. */
static bool graph_marks_inside(const struct graph_call *g, struct odb_drawing_mark *marks)
{
    const struct odb_report *report = odb_session_report(g->call->session);
    const struct odb_body_step *drawn = &g->path.steps[g->path.n - 1];
    const struct odb_graph *body = drawn->body.graph;
    struct odb_value_report *walked = odb_new_n(struct odb_value_report, body->n_nodes + 1);
    const struct odb_inside *at = odb_session_inside(g->call->session);
    struct odb_body_step step;
    bool any = false;
    while (at && !odb_inside_is(at, g->path.steps, g->path.n))
        at = at->outer;
    if (at)
        odb_inside_reports(at, body->n_nodes, walked);
    for (size_t n = 0; n < body->n_nodes; n++) {
        marks[n] = graph_mark(&walked[n], NULL);
        any |= marks[n].verdict != ODB_VERDICT_UNTESTED;
    }
    for (size_t c = 0; report && c < report->culprits.n; c++) {
        const struct odb_culprit *culprit = &report->culprits.items[c];
        if (!odb_culprit_body(culprit, g->call->model->graph, &step) || step.body.graph != body ||
            (drawn->turn != ODB_ANY_TURN && drawn->turn != step.turn))
            continue;
        marks[culprit->inside->index] =
            graph_mark(&culprit->inside->numbers, odb_diagnosis_name(culprit->inside->kind));
        any = true;
    }
    free(walked);
    return any;
}

/* The same for nodes of the body as a model of its own. */
static bool graph_marks_body(const struct graph_call *g, struct odb_drawing_mark *marks)
{
    size_t n_body = g->path.steps[g->path.n - 1].body.graph->n_nodes;
    struct odb_drawing_mark *inside = odb_new_n(struct odb_drawing_mark, n_body + 1);
    int *origin = odb_new_n(int, g->graph->n_nodes + 1);
    bool any = graph_marks_inside(g, inside);
    odb_model_origin(g->body, origin);
    for (size_t n = 0; n < g->graph->n_nodes; n++)
        marks[n] = origin[n] >= 0 && (size_t)origin[n] < n_body
                       ? inside[origin[n]]
                       : (struct odb_drawing_mark){ODB_VERDICT_UNTESTED, 0, NULL};
    free(origin);
    free(inside);
    return any;
}

/* NULL: nothing is known of this graph. Owned by the caller. */
static struct odb_drawing_mark *graph_marks(const struct graph_call *g)
{
    const struct odb_session *session = g->call->session;
    struct odb_drawing_mark *marks = odb_new_n(struct odb_drawing_mark, g->graph->n_nodes + 1);
    bool any = true;
    odb_session_lock(session);
    if (g->body)
        any = graph_marks_body(g, marks);
    else if (odb_session_report(session) || odb_session_judged(session))
        graph_marks_main(g, marks);
    else
        any = false;
    odb_session_unlock(session);
    if (any)
        return marks;
    free(marks);
    return NULL;
}

/* The file, the way to the body, the target, and how many of how many nodes. */
static char *graph_title(const struct graph_call *g, size_t drawn, bool judged)
{
    struct odb_buf title = ODB_BUF_INIT;
    odb_buf_put_shown(&title, g->call->model->path);
    if (g->body) {
        odb_buf_puts(&title, ", ");
        odb_body_put_way(odb_model_body_way(g->body), &title);
    }
    odb_buf_printf(&title, ": %zu of %zu node%s", drawn, g->graph->n_nodes,
                   odb_plural(g->graph->n_nodes));
    odb_session_lock(g->call->session);
    if (judged && odb_session_of(g->call->session)) {
        odb_buf_puts(&title, ", on ");
        odb_buf_put_shown(&title, odb_session_of(g->call->session));
    }
    odb_session_unlock(g->call->session);
    return odb_buf_take(&title);
}

/* --- out -------------------------------------------------------------------------------------- */

static json_t *graph_json_node(const struct odb_drawing *drawing, const struct odb_node *node)
{
    const struct odb_drawing_mark *mark = drawing->marks ? &drawing->marks[node->index] : NULL;
    json_t *json = odb_json_node(node->index, node->name, node->op_type, node->domain);
    char *id = odb_xasprintf("node-%d", node->index);
    json_object_set_new(json, "id", odb_json_text(id));
    json_object_set_new(json, "verdict",
                        odb_json_text(mark ? odb_verdict_name(mark->verdict) : NULL));
    json_object_set_new(json, "error", mark ? odb_json_real(mark->error) : json_null());
    json_object_set_new(json, "culprit", odb_json_text(mark ? mark->kind : NULL));
    free(id);
    return json;
}

static void graph_json_edges(const struct odb_drawing *drawing, const struct odb_value *value,
                             json_t *edges)
{
    char key[512], type[400];
    int from = value->producer;
    if (value->init || (from != ODB_NO_NODE && !drawing->nodes[from]))
        return;
    for (size_t i = 0; i < value->n_consumers; i++) {
        const char *text = odb_drawing_type(drawing, value->index, type, sizeof type);
        if (!drawing->nodes[value->consumers[i]])
            continue;
        json_array_append_new(
            edges, json_pack("{s:o,s:i,s:o,s:o}", "from",
                             from == ODB_NO_NODE ? json_null() : json_integer(from), "to",
                             value->consumers[i], "value",
                             odb_json_text(odb_value_key(drawing->graph, value, key, sizeof key)),
                             "type", odb_json_text(*text ? text : NULL)));
    }
}

static void graph_json(const struct odb_drawing *drawing, struct odb_buf *out)
{
    json_t *nodes = json_array(), *edges = json_array();
    for (size_t n = 0; n < drawing->graph->n_nodes; n++)
        if (drawing->nodes[n])
            json_array_append_new(nodes, graph_json_node(drawing, &drawing->graph->nodes[n]));
    for (size_t v = 0; v < drawing->graph->n_values; v++)
        graph_json_edges(drawing, &drawing->graph->values[v], edges);
    odb_json_put(json_pack("{s:o,s:o,s:o}", "title", odb_json_text(drawing->title), "nodes", nodes,
                           "edges", edges),
                 out);
}

/* The form that a file's ending names. */
static enum odb_status graph_form(const char *path, bool *svg, struct odb_error *err)
{
    const char *dot = path ? strrchr(path, '.') : ".dot";
    *svg = dot && !strcasecmp(dot, ".svg");
    if (*svg || (dot && (!strcasecmp(dot, ".dot") || !strcasecmp(dot, ".gv"))))
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "-o %s: no form of a picture has that ending", path);
    return odb_error_remedy(err, "let the name end in .svg or .dot");
}

static enum odb_status graph_write(struct odb_command_call *call, const struct odb_drawing *drawing,
                                   struct odb_error *err)
{
    const char *path = odb_call_option(call, ODB_OPTION_GRAPH_FILE);
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    bool svg;
    ODB_TRY(graph_form(path, &svg, err));
    if (svg)
        status = odb_drawing_svg(drawing, &out, err);
    else
        odb_drawing_dot(drawing, &out);
    if (status == ODB_OK && path)
        status = odb_file_write(path, odb_buf_text(&out), out.len, err);
    if (path)
        odb_buf_clear(&out);
    if (odb_call_has(call, ODB_OPTION_JSON) && status == ODB_OK) {
        odb_buf_clear(&out);
        graph_json(drawing, &out);
    }
    if (status == ODB_OK)
        odb_call__print(call, &out);
    odb_buf_dispose(&out);
    return status;
}

enum odb_status odb_command__graph(struct odb_command_call *call, struct odb_error *err)
{
    struct graph_call g = {.call = call};
    struct odb_shapes shapes = {0};
    struct odb_drawing_mark *marks = NULL;
    char *title = NULL;
    enum odb_status status = graph_choose(&g, err);
    if (status == ODB_OK && g.body)
        odb_shapes_declared(&shapes, g.body);
    else if (status == ODB_OK)
        status = odb_call__shapes(call, NULL, NULL, &shapes, err);
    if (status == ODB_OK) {
        marks = graph_marks(&g);
        struct odb_drawing drawing = {
            .graph = g.graph, .shapes = &shapes, .nodes = g.nodes, .marks = marks};
        drawing.title = title = graph_title(&g, odb_drawing_count(&drawing), marks != NULL);
        status = graph_write(call, &drawing, err);
    }
    free(title);
    free(marks);
    odb_shapes_dispose(&shapes);
    free(g.nodes);
    odb_model_free(g.body);
    return status;
}
