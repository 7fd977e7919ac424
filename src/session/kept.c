/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/kept.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *odb_kept_name(enum odb_kept_kind kind)
{
    static const char *const names[] = {
#define KEPT_NAME(name, text) [ODB_KEPT_##name] = text,
        ODB_KEPT_LIST(KEPT_NAME)
#undef KEPT_NAME
    };
    return names[kind];
}

static void kept_dispose(struct odb_kept *kept)
{
    free(kept->place);
    free(kept->text);
    free(kept->way);
    odb_condition_free(kept->condition);
}

void odb_kept_list_dispose(struct odb_kept_list *list)
{
    for (size_t i = 0; i < list->items.n; i++)
        kept_dispose(&list->items.items[i]);
    free(list->items.items);
    *list = (struct odb_kept_list){0};
}

void odb_kept_list_copy(struct odb_kept_list *out, const struct odb_kept_list *list,
                        const struct odb_graph *graph)
{
    *out = (struct odb_kept_list){0};
    for (size_t i = 0; i < list->items.n; i++) {
        enum odb_status status = odb_kept_add(out, &list->items.items[i], graph, NULL, NULL);
        ODB_ASSERT(status == ODB_OK); /* it was understood before */
    }
    memcpy(out->last, list->last, sizeof out->last);
}

bool odb_kept_list_same(const struct odb_kept_list *a, const struct odb_kept_list *b)
{
    bool same = a->items.n == b->items.n;
    for (size_t i = 0; i < a->items.n && same; i++) {
        const struct odb_kept *x = &a->items.items[i], *y = &b->items.items[i];
        same = x->kind == y->kind && x->number == y->number && !strcmp(x->place, y->place) &&
               !strcmp(x->text, y->text) && x->disabled == y->disabled && x->once == y->once &&
               x->ignore == y->ignore;
    }
    return same;
}

struct odb_kept *odb_kept_find(const struct odb_kept_list *list, enum odb_kept_kind kind,
                               int number)
{
    for (size_t i = 0; i < list->items.n; i++)
        if (list->items.items[i].kind == kind && list->items.items[i].number == number)
            return &list->items.items[i];
    return NULL;
}

/* --- what it means ---------------------------------------------------------------------------- */

static bool kept_has_operator(const struct odb_graph *graph, const char *op_type)
{
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (!strcasecmp(graph->nodes[i].op_type, op_type))
            return true;
    return false;
}

size_t odb_kept_count_below(const struct odb_graph *graph, const char *op_type, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < graph->n_nodes && n < most; i++) {
        struct odb_body body;
        for (size_t b = 0; odb_body_at(&graph->nodes[i], b, &body) && n < most; b++) {
            for (size_t k = 0; k < body.graph->n_nodes && n < most; k++)
                n += !strcasecmp(body.graph->nodes[k].op_type, op_type);
            n += odb_kept_count_below(body.graph, op_type, most - n);
        }
    }
    return n;
}

/* Appends the path to the first node of this name in the bodies; false: there is none. */
static bool kept_find_below(const struct odb_graph *graph, const char *name, struct odb_buf *path)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        struct odb_body body;
        size_t before = path->len;
        char label[300];
        int node;
        for (size_t b = 0; odb_body_at(&graph->nodes[i], b, &body); b++) {
            odb_body_put_step(odb_node_label(&graph->nodes[i], label, sizeof label), &body,
                              ODB_ANY_TURN, path);
            odb_buf_putc(path, '/');
            if (odb_graph_find_node(body.graph, name, &node, NULL) == ODB_OK) {
                odb_buf_puts(path, name);
                return true;
            }
            if (kept_find_below(body.graph, name, path))
                return true;
            path->data[path->len = before] = '\0';
        }
    }
    return false;
}

/* A node by name or "#INDEX", else a value by name, else an operator that the graph has. */
static enum odb_status kept_find(struct odb_kept *kept, const struct odb_graph *graph,
                                 struct odb_error *err)
{
    const struct odb_value *value = odb_graph_value(graph, kept->last);
    enum odb_status status = odb_graph_find_node(graph, kept->last, &kept->node, err);
    bool by_node = status == ODB_OK && !strcmp(graph->nodes[kept->node].name, kept->last);
    bool whole = kept->kind == ODB_KEPT_BREAK && !kept->n_way;
    if (value && (!by_node || kept->kind == ODB_KEPT_PIN)) {
        kept->value = value->index;
        kept->node = value->producer;
        return ODB_OK;
    }
    if (status == ODB_OK)
        return ODB_OK;
    kept->node = ODB_NO_NODE;
    if (kept->kind == ODB_KEPT_BREAK && kept_has_operator(graph, kept->last))
        return ODB_OK;
    return whole && odb_kept_count_below(graph, kept->last, 1) ? ODB_OK : status;
}

/* What may be in a body. */
static bool kept_takes_path(const struct odb_kept *kept)
{
    return kept->kind == ODB_KEPT_BREAK || kept->kind == ODB_KEPT_MARK ||
           kept->kind == ODB_KEPT_NOTE;
}

static enum odb_status kept_resolve(struct odb_kept *kept, const struct odb_graph *graph,
                                    struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_body_path path;
    kept->node = ODB_NO_NODE;
    kept->value = ODB_NO_VALUE;
    kept->way = NULL;
    kept->n_way = 0;
    kept->last = kept->place;
    if (!kept->place[0] || kept_find(kept, graph, &why) == ODB_OK)
        return ODB_OK;
    if (kept_takes_path(kept) && odb_body_path_parse(graph, NULL, kept->place, &path) && path.n) {
        kept->way = odb_xmemdup(path.steps, path.n * sizeof *kept->way);
        kept->n_way = path.n;
        kept->last = path.last;
        why = (struct odb_error)ODB_ERROR_INIT;
        if (kept_find(kept, path.steps[path.n - 1].body.graph, &why) == ODB_OK)
            return ODB_OK;
    }
    struct odb_buf near = ODB_BUF_INIT, shown = ODB_BUF_INIT;
    if (kept_takes_path(kept) && !kept->n_way && kept_find_below(graph, kept->place, &near)) {
        odb_buf_put_shown(&shown, odb_buf_text(&near));
        odb_error_remedy(&why, "in a body there is %.300s", odb_buf_text(&shown));
    }
    odb_buf_dispose(&near);
    odb_buf_dispose(&shown);
    if (err)
        *err = why;
    return why.code;
}

static enum odb_status kept_parse(const struct odb_kept *kept, const char *text,
                                  struct odb_condition **out, struct odb_error *err)
{
    *out = NULL;
    if (kept->kind == ODB_KEPT_WATCH || (kept->kind == ODB_KEPT_BREAK && text[0]))
        return odb_condition_parse(out, text, err);
    return ODB_OK;
}

enum odb_status odb_kept_set_text(struct odb_kept *kept, const char *text, struct odb_error *err)
{
    struct odb_condition *condition;
    ODB_TRY(kept_parse(kept, text, &condition, err));
    char *copy = odb_xstrdup(text);
    odb_condition_free(kept->condition);
    free(kept->text);
    kept->condition = condition;
    kept->text = copy;
    return ODB_OK;
}

enum odb_status odb_kept_add(struct odb_kept_list *list, const struct odb_kept *what,
                             const struct odb_graph *graph, int *number, struct odb_error *err)
{
    struct odb_kept kept = *what;
    bool stop = what->kind == ODB_KEPT_BREAK || what->kind == ODB_KEPT_WATCH;
    int *last = &list->last[stop ? ODB_KEPT_BREAK : what->kind];
    kept.place = odb_xstrdup(what->place ? what->place : "");
    kept.text = odb_xstrdup(what->text ? what->text : "");
    kept.condition = NULL;
    enum odb_status status = kept_resolve(&kept, graph, err);
    if (status == ODB_OK)
        status = kept_parse(&kept, kept.text, &kept.condition, err);
    if (status != ODB_OK) {
        kept_dispose(&kept);
        return status;
    }
    if (!kept.number)
        kept.number = *last + 1;
    *last = ODB_MAX(*last, kept.number);
    if (number)
        *number = kept.number;
    odb_push(&list->items, kept);
    return ODB_OK;
}

void odb_kept_remove(struct odb_kept_list *list, size_t index)
{
    struct odb_kept *items = list->items.items;
    kept_dispose(&items[index]);
    list->items.n--;
    memmove(&items[index], &items[index + 1], (list->items.n - index) * sizeof *items);
}

bool odb_kept_same_place(const struct odb_kept *a, const struct odb_kept *b)
{
    bool same = a->kind == b->kind && a->node == b->node && a->n_way == b->n_way;
    for (size_t i = 0; i < a->n_way && same; i++)
        same = a->way[i].node == b->way[i].node && a->way[i].turn == b->way[i].turn &&
               a->way[i].body.graph == b->way[i].body.graph;
    return same;
}

void odb_kept_list_count_on(struct odb_kept_list *list, const struct odb_kept_list *counted)
{
    for (size_t i = 0; i < counted->items.n; i++) {
        const struct odb_kept *from = &counted->items.items[i];
        struct odb_kept *to = odb_kept_find(list, from->kind, from->number);
        if (to && !strcmp(to->place, from->place)) /* else a number given anew */
            to->hits = from->hits;
    }
}

bool odb_kept_is_at(const struct odb_kept *kept, const struct odb_graph *graph, int node,
                    const struct odb_inside *inside)
{
    bool here = odb_inside_is(inside, kept->way, kept->n_way);
    if (!kept->place[0])
        return true;
    if (kept->node != ODB_NO_NODE)
        return here && kept->node == node;
    return (here || !kept->n_way) && !strcasecmp(graph->nodes[node].op_type, kept->last);
}

bool odb_kept_is_of(const struct odb_kept *kept, const struct odb_node *node, int slot)
{
    if (kept->value < 0)
        return true;
    if (!kept->n_way)
        return kept->value == node->out[slot];
    /* the body as a model of its own has other values, with the same makers */
    return kept->way[kept->n_way - 1].body.graph->values[kept->value].slot == slot;
}

bool odb_kept_is_below(const struct odb_kept *kept, const struct odb_graph *graph, int node,
                       const struct odb_inside *inside, int64_t *turn)
{
    size_t depth = 0;
    if (!kept->place[0])
        return false;
    if (!kept->n_way) { /* an operator */
        struct odb_body body;
        bool any = false;
        for (size_t b = 0; kept->node == ODB_NO_NODE && !any; b++) {
            if (!odb_body_at(&graph->nodes[node], b, &body))
                break;
            any = kept_has_operator(body.graph, kept->last) ||
                  odb_kept_count_below(body.graph, kept->last, 1);
        }
        return any;
    }
    for (const struct odb_inside *in = inside; in; in = in->outer)
        depth++;
    if (depth >= kept->n_way || !odb_inside_is(inside, kept->way, depth) ||
        kept->way[depth].node != node)
        return false;
    int64_t wanted = kept->way[depth].turn;
    if (wanted != ODB_ANY_TURN && wanted < *turn)
        return false;
    *turn = ODB_MAX(*turn, wanted);
    return true;
}
