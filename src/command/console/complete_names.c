/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names that words could become: of nodes, values and operators, in the graph and in its bodies,
 * and the numbers and letters of what was put down.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "command/call/console.h"
#include "command/console/complete_int.h"
#include "command/value/expression.h"
#include "dump/dump.h"
#include "model/write/body_model.h"
#include "session/annotations.h"
#include "session/session_state.h"

/* --- nodes ------------------------------------------------------------------------------------ */

/* Not every name can be typed where it would be taken for an option. */
static bool complete_typable(const char *name)
{
    return *name && *name != '-';
}

static void complete_name(struct complete *c, const char *name)
{
    if (!c->escaped || !strpbrk(name, ",=@\\")) {
        complete_offer(c, name, false);
        return;
    }
    struct odb_buf out = ODB_BUF_INIT;
    odb_spec_put_word(&out, name);
    complete_offer_take(c, odb_buf_take(&out), false);
}

/* "#12" for every index whose digits begin with those typed: 12, 120 to 129, 1200 to 1299, … */
static void complete_indices(struct complete *c, const struct odb_graph *graph)
{
    const char *digits = c->text + 1;
    size_t n = graph->n_nodes, len = strlen(digits);
    if (strspn(digits, "0123456789") != len || len > 9)
        return;
    size_t low = len ? strtoul(digits, NULL, 10) : 0, high = len ? low + 1 : n;
    for (; low < n && c->found.n <= COMPLETE_MOST; low *= 10, high *= 10) {
        for (size_t i = low; i < ODB_MIN(high, n) && c->found.n <= COMPLETE_MOST; i++)
            complete_offer_take(c, odb_xasprintf("#%zu", i), false);
        if (!low)
            break;
    }
}

/* The beginnings of paths into the bodies of a node. */
static void complete_bodies(struct complete *c, const struct odb_node *node)
{
    struct odb_body body;
    char label[300];
    for (size_t i = 0; odb_body_at(node, i, &body); i++) {
        struct odb_buf path = ODB_BUF_INIT;
        odb_body_put_step(odb_node_label(node, label, sizeof label), &body, ODB_ANY_TURN, &path);
        odb_buf_putc(&path, '/');
        complete_offer_take(c, odb_buf_take(&path), true);
    }
}

/* The body that what was typed leads into, where a path will do; its way is settled then. */
static const struct odb_graph *complete_enter(struct complete *c)
{
    struct odb_body_path path;
    if (!c->graph || !c->arg || !c->arg->bodies ||
        !odb_body_path_parse(c->graph, NULL, c->text, &path) || !path.n)
        return c->graph;
    complete_settle(c, (size_t)(path.last - c->text));
    return path.steps[path.n - 1].body.graph;
}

/* A node is offered by what a person would call it: its name, else that of what it makes. */
static void complete_node_of(struct complete *c, const struct odb_graph *graph)
{
    if (c->text[0] == '#')
        complete_indices(c, graph);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        const char *made =
            node->n_out && node->out[0] != ODB_NO_VALUE ? graph->values[node->out[0]].name : "";
        if (node->name_is_unique && complete_typable(node->name))
            complete_name(c, node->name);
        else if (complete_typable(made))
            complete_name(c, made);
        else if (!c->text[0])
            complete_offer_take(c, odb_xasprintf("#%zu", i), false);
        if (c->arg && c->arg->bodies)
            complete_bodies(c, node);
    }
}

void complete_node(struct complete *c)
{
    const struct odb_graph *graph = complete_enter(c);
    if (graph)
        complete_node_of(c, graph);
}

static void complete_operators(struct complete *c, const struct odb_graph *graph,
                               struct odb_map *seen)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        struct odb_body body;
        if (odb_map_add(seen, graph->nodes[i].op_type, i))
            complete_offer(c, graph->nodes[i].op_type, false);
        for (size_t b = 0; odb_body_at(&graph->nodes[i], b, &body); b++)
            complete_operators(c, body.graph, seen);
    }
}

void complete_place(struct complete *c)
{
    const struct odb_graph *graph = complete_enter(c);
    struct odb_map *seen = odb_map_new();
    if (graph && c->arg && strstr(c->arg->name, "OPERATOR"))
        complete_operators(c, graph, seen);
    if (graph)
        complete_node_of(c, graph);
    odb_map_free(seen);
}

/* NODE or NODE:NODE. Names may hold colons, so the whole comes first, then every split. */
void complete_nodes(struct complete *c)
{
    int index;
    complete_node(c);
    for (const char *colon = strchr(c->text, ':'); colon && c->graph && !c->found.n;
         colon = strchr(colon + 1, ':')) {
        char *left = odb_xstrndup(c->text, (size_t)(colon - c->text));
        if (odb_graph_find_node(c->graph, left, &index, NULL) == ODB_OK) {
            complete_settle(c, (size_t)(colon + 1 - c->text));
            complete_node(c);
            colon = c->text - 1;
        }
        free(left);
    }
}

/* --- values ----------------------------------------------------------------------------------- */

static void complete_value_of(struct complete *c, const struct odb_graph *graph)
{
    for (size_t i = 0; i < graph->n_values; i++) {
        const struct odb_value *value = &graph->values[i];
        if (complete_typable(value->name))
            complete_name(c, value->name);
        else if (value->producer != ODB_NO_NODE && (!c->text[0] || c->text[0] == '#'))
            complete_offer_take(c, odb_xasprintf("#%d:%d", value->producer, value->slot), false);
    }
    for (size_t i = 0; c->arg && c->arg->bodies && i < graph->n_nodes; i++)
        complete_bodies(c, &graph->nodes[i]);
}

void complete_value(struct complete *c)
{
    const struct odb_graph *graph = complete_enter(c);
    if (graph)
        complete_value_of(c, graph);
}

/* Those that can be dumped. */
void complete_output(struct complete *c)
{
    size_t n = 0;
    int *outputs = c->graph ? odb_dump_outputs(c->graph, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (complete_typable(c->graph->values[outputs[i]].name))
            complete_name(c, c->graph->values[outputs[i]].name);
    free(outputs);
}

/* max(diff( is settled. */
static void complete_open(struct complete *c)
{
    const char *name;
    for (size_t i = 0; (name = odb_expression_function(i)); i++) {
        size_t n = strlen(name);
        if (strncmp(c->text, name, n) == 0 && c->text[n] == '(') {
            complete_settle(c, n + 1);
            i = (size_t)-1; /* from the first again */
        }
    }
}

static void complete_functions(struct complete *c)
{
    const char *name;
    for (size_t i = 0; !c->inside && (name = odb_expression_function(i)); i++)
        complete_offer_take(c, odb_xasprintf("%s(", name), true);
}

/* A slice may follow at once. */
void complete_slice(struct complete *c)
{
    bool expression = c->arg && !strcmp(c->arg->name, "EXPRESSION");
    if (expression)
        complete_open(c);
    const struct odb_graph *graph = complete_enter(c);
    if (graph)
        complete_value_of(c, graph);
    if (graph && graph == c->graph && c->arg && strstr(c->arg->name, "NODE"))
        complete_node_of(c, graph);
    if (expression && graph == c->graph)
        complete_functions(c);
    for (size_t i = 0; i < c->found.n; i++)
        c->found.items[i].partial = true;
}

/* --- conditions, and what was put down -------------------------------------------------------- */

/* Names that a condition may hold, `if` before them; behind an == what they can be. */
void complete_condition(struct complete *c)
{
    const char *name, *help;
    bool equals = c->before && (!strcmp(c->before, "==") || !strcmp(c->before, "!="));
    for (int v = 0; equals && v < ODB_VERDICT_COUNT; v++)
        complete_offer(c, odb_verdict_name((enum odb_verdict)v), false);
    for (int t = 1; equals && t < ODB_DTYPE_COUNT; t++)
        complete_offer(c, odb_dtype_info((enum odb_dtype)t)->name, false);
    if (equals)
        return;
    complete_offer(c, "if", false);
    bool reference = !strncmp(c->text, "ref.", 4);
    complete_settle(c, reference ? 4 : 0);
    for (size_t i = 0; (name = odb_condition_name(i, &help)); i++)
        if (!reference || odb_condition_of_reference(i))
            complete_offer(c, name, false);
    if (!reference)
        complete_offer(c, "ref.", true);
}

static void complete_numbers(struct complete *c, unsigned kinds)
{
    if (!c->console)
        return;
    const struct odb_session *session = c->console->session;
    odb_session_lock(session);
    for (size_t i = 0; i < session->annotations.items.n; i++)
        if (kinds >> session->annotations.items.items[i].kind & 1)
            complete_offer_take(c, odb_xasprintf("%d", session->annotations.items.items[i].number),
                                false);
    odb_session_unlock(session);
}

/* The number of a breakpoint, or of a display where the command is about these; and a place, where
 * the command takes one. */
void complete_stop(struct complete *c)
{
    bool display =
        strstr(c->command->name, "display") || (c->before && !strcmp(c->before, "display"));
    complete_numbers(c, display ? 1u << ODB_ANNOTATION_DISPLAY
                                : 1u << ODB_ANNOTATION_BREAK | 1u << ODB_ANNOTATION_WATCH);
    if (strstr(c->command->name, "able") && !c->before)
        complete_offer(c, "display", false);
    if (strstr(c->arg->name, "NODE"))
        complete_place(c);
}

/* Places of a kind that was put down. */
static void complete_annotation(struct complete *c, enum odb_annotation_kind kind)
{
    if (!c->console)
        return;
    const struct odb_session *session = c->console->session;
    odb_session_lock(session);
    for (size_t i = 0; i < session->annotations.items.n; i++) {
        const struct odb_annotation *annotation = &session->annotations.items.items[i];
        const struct odb_node *node =
            annotation->kind == kind && kind == ODB_ANNOTATION_MARK && !annotation->n_way
                ? &c->graph->nodes[annotation->node]
                : NULL;
        if (node && node->name_is_unique && complete_typable(node->name))
            complete_name(c, node->name);
        else if (annotation->kind == kind)
            complete_offer_take(c, odb_xstrdup(annotation->place), false);
    }
    odb_session_unlock(session);
}

void complete_pinned(struct complete *c)
{
    complete_annotation(c, ODB_ANNOTATION_PIN);
}

void complete_marked(struct complete *c)
{
    complete_annotation(c, ODB_ANNOTATION_MARK);
}

void complete_letter(struct complete *c)
{
    if (!c->console)
        return;
    const struct odb_session *session = c->console->session;
    odb_session_lock(session);
    for (size_t i = 0; i < session->bookmarks.n; i++)
        complete_offer_take(c, odb_xasprintf("%c", session->bookmarks.items[i].letter), false);
    odb_session_unlock(session);
}
