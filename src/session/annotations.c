/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/annotations.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *odb_annotation_name(enum odb_annotation_kind kind)
{
    static const char *const names[] = {
#define KEPT_NAME(name, text) [ODB_ANNOTATION_##name] = text,
        ODB_ANNOTATION_LIST(KEPT_NAME)
#undef KEPT_NAME
    };
    return names[kind];
}

static void annotation_dispose(struct odb_annotation *annotation)
{
    free(annotation->place);
    free(annotation->text);
    free(annotation->way);
    odb_condition_free(annotation->condition);
}

void odb_annotation_list_dispose(struct odb_annotation_list *list)
{
    for (size_t i = 0; i < list->items.n; i++)
        annotation_dispose(&list->items.items[i]);
    free(list->items.items);
    *list = (struct odb_annotation_list){0};
}

void odb_annotation_list_copy(struct odb_annotation_list *out,
                              const struct odb_annotation_list *list, const struct odb_graph *graph)
{
    *out = (struct odb_annotation_list){0};
    for (size_t i = 0; i < list->items.n; i++) {
        enum odb_status status = odb_annotation_add(out, &list->items.items[i], graph, NULL, NULL);
        ODB_ASSERT(status == ODB_OK); /* it was understood before */
    }
    memcpy(out->last, list->last, sizeof out->last);
}

bool odb_annotation_list_same(const struct odb_annotation_list *a,
                              const struct odb_annotation_list *b)
{
    bool same = a->items.n == b->items.n;
    for (size_t i = 0; i < a->items.n && same; i++) {
        const struct odb_annotation *x = &a->items.items[i], *y = &b->items.items[i];
        same = x->kind == y->kind && x->number == y->number && !strcmp(x->place, y->place) &&
               !strcmp(x->text, y->text) && x->disabled == y->disabled && x->once == y->once &&
               x->ignore == y->ignore;
    }
    return same;
}

struct odb_annotation *odb_annotation_find(const struct odb_annotation_list *list,
                                           enum odb_annotation_kind kind, int number)
{
    for (size_t i = 0; i < list->items.n; i++)
        if (list->items.items[i].kind == kind && list->items.items[i].number == number)
            return &list->items.items[i];
    return NULL;
}

/* --- what it means ---------------------------------------------------------------------------- */

static bool annotation_has_operator(const struct odb_graph *graph, const char *op_type)
{
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (!strcasecmp(graph->nodes[i].op_type, op_type))
            return true;
    return false;
}

size_t odb_annotation_count_below(const struct odb_graph *graph, const char *op_type, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < graph->n_nodes && n < most; i++) {
        struct odb_body body;
        for (size_t b = 0; odb_body_at(&graph->nodes[i], b, &body) && n < most; b++) {
            for (size_t k = 0; k < body.graph->n_nodes && n < most; k++)
                n += !strcasecmp(body.graph->nodes[k].op_type, op_type);
            n += odb_annotation_count_below(body.graph, op_type, most - n);
        }
    }
    return n;
}

/* Appends the path to the first node of this name in the bodies; false: there is none. */
static bool annotation_find_below(const struct odb_graph *graph, const char *name,
                                  struct odb_buf *path)
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
            if (annotation_find_below(body.graph, name, path))
                return true;
            path->data[path->len = before] = '\0';
        }
    }
    return false;
}

/* A node by name or "#INDEX", else a value by name, else an operator that the graph has. */
static enum odb_status annotation_find(struct odb_annotation *annotation,
                                       const struct odb_graph *graph, struct odb_error *err)
{
    const struct odb_value *value = odb_graph_value(graph, annotation->last);
    enum odb_status status = odb_graph_find_node(graph, annotation->last, &annotation->node, err);
    bool by_node =
        status == ODB_OK && !strcmp(graph->nodes[annotation->node].name, annotation->last);
    bool whole = annotation->kind == ODB_ANNOTATION_BREAK && !annotation->n_way;
    if (value && (!by_node || annotation->kind == ODB_ANNOTATION_PIN)) {
        annotation->value = value->index;
        annotation->node = value->producer;
        return ODB_OK;
    }
    if (status == ODB_OK)
        return ODB_OK;
    annotation->node = ODB_NO_NODE;
    if (annotation->kind == ODB_ANNOTATION_BREAK &&
        annotation_has_operator(graph, annotation->last))
        return ODB_OK;
    return whole && odb_annotation_count_below(graph, annotation->last, 1) ? ODB_OK : status;
}

/* What may be in a body. */
static bool annotation_takes_path(const struct odb_annotation *annotation)
{
    return annotation->kind == ODB_ANNOTATION_BREAK || annotation->kind == ODB_ANNOTATION_MARK ||
           annotation->kind == ODB_ANNOTATION_NOTE;
}

static enum odb_status annotation_resolve(struct odb_annotation *annotation,
                                          const struct odb_graph *graph, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_body_path path;
    annotation->node = ODB_NO_NODE;
    annotation->value = ODB_NO_VALUE;
    annotation->way = NULL;
    annotation->n_way = 0;
    annotation->last = annotation->place;
    if (!annotation->place[0] || annotation_find(annotation, graph, &why) == ODB_OK)
        return ODB_OK;
    if (annotation_takes_path(annotation) &&
        odb_body_path_parse(graph, NULL, annotation->place, &path) && path.n) {
        annotation->way = odb_xmemdup(path.steps, path.n * sizeof *annotation->way);
        annotation->n_way = path.n;
        annotation->last = path.last;
        why = (struct odb_error)ODB_ERROR_INIT;
        if (annotation_find(annotation, path.steps[path.n - 1].body.graph, &why) == ODB_OK)
            return ODB_OK;
    }
    struct odb_buf near = ODB_BUF_INIT, shown = ODB_BUF_INIT;
    if (annotation_takes_path(annotation) && !annotation->n_way &&
        annotation_find_below(graph, annotation->place, &near)) {
        odb_buf_put_shown(&shown, odb_buf_text(&near));
        odb_error_remedy(&why, "in a body there is %.300s", odb_buf_text(&shown));
    }
    odb_buf_dispose(&near);
    odb_buf_dispose(&shown);
    if (err)
        *err = why;
    return why.code;
}

static enum odb_status annotation_parse(const struct odb_annotation *annotation, const char *text,
                                        struct odb_condition **out, struct odb_error *err)
{
    *out = NULL;
    if (annotation->kind == ODB_ANNOTATION_WATCH ||
        (annotation->kind == ODB_ANNOTATION_BREAK && text[0]))
        return odb_condition_parse(out, text, err);
    return ODB_OK;
}

enum odb_status odb_annotation_set_text(struct odb_annotation *annotation, const char *text,
                                        struct odb_error *err)
{
    struct odb_condition *condition;
    ODB_TRY(annotation_parse(annotation, text, &condition, err));
    char *copy = odb_xstrdup(text);
    odb_condition_free(annotation->condition);
    free(annotation->text);
    annotation->condition = condition;
    annotation->text = copy;
    return ODB_OK;
}

enum odb_status odb_annotation_add(struct odb_annotation_list *list,
                                   const struct odb_annotation *what, const struct odb_graph *graph,
                                   int *number, struct odb_error *err)
{
    struct odb_annotation annotation = *what;
    bool stop = what->kind == ODB_ANNOTATION_BREAK || what->kind == ODB_ANNOTATION_WATCH;
    int *last = &list->last[stop ? ODB_ANNOTATION_BREAK : what->kind];
    annotation.place = odb_xstrdup(what->place ? what->place : "");
    annotation.text = odb_xstrdup(what->text ? what->text : "");
    annotation.condition = NULL;
    enum odb_status status = annotation_resolve(&annotation, graph, err);
    if (status == ODB_OK)
        status = annotation_parse(&annotation, annotation.text, &annotation.condition, err);
    if (status != ODB_OK) {
        annotation_dispose(&annotation);
        return status;
    }
    if (!annotation.number)
        annotation.number = *last + 1;
    *last = ODB_MAX(*last, annotation.number);
    if (number)
        *number = annotation.number;
    odb_push(&list->items, annotation);
    return ODB_OK;
}

void odb_annotation_remove(struct odb_annotation_list *list, size_t index)
{
    struct odb_annotation *items = list->items.items;
    annotation_dispose(&items[index]);
    list->items.n--;
    memmove(&items[index], &items[index + 1], (list->items.n - index) * sizeof *items);
}

bool odb_annotation_same_place(const struct odb_annotation *a, const struct odb_annotation *b)
{
    bool same = a->kind == b->kind && a->node == b->node && a->n_way == b->n_way;
    for (size_t i = 0; i < a->n_way && same; i++)
        same = a->way[i].node == b->way[i].node && a->way[i].turn == b->way[i].turn &&
               a->way[i].body.graph == b->way[i].body.graph;
    return same;
}

void odb_annotation_list_count_on(struct odb_annotation_list *list,
                                  const struct odb_annotation_list *counted)
{
    for (size_t i = 0; i < counted->items.n; i++) {
        const struct odb_annotation *from = &counted->items.items[i];
        struct odb_annotation *to = odb_annotation_find(list, from->kind, from->number);
        if (to && !strcmp(to->place, from->place)) /* else a number given anew */
            to->hits = from->hits;
    }
}

bool odb_annotation_is_at(const struct odb_annotation *annotation, const struct odb_graph *graph,
                          int node, const struct odb_inside *inside)
{
    bool here = odb_inside_is(inside, annotation->way, annotation->n_way);
    if (!annotation->place[0])
        return true;
    if (annotation->node != ODB_NO_NODE)
        return here && annotation->node == node;
    return (here || !annotation->n_way) &&
           !strcasecmp(graph->nodes[node].op_type, annotation->last);
}

bool odb_annotation_is_of(const struct odb_annotation *annotation, const struct odb_node *node,
                          int slot)
{
    if (annotation->value < 0)
        return true;
    if (!annotation->n_way)
        return annotation->value == node->out[slot];
    /* the body as a model of its own has other values, with the same makers */
    return annotation->way[annotation->n_way - 1].body.graph->values[annotation->value].slot ==
           slot;
}

bool odb_annotation_is_below(const struct odb_annotation *annotation, const struct odb_graph *graph,
                             int node, const struct odb_inside *inside, int64_t *turn)
{
    size_t depth = 0;
    if (!annotation->place[0])
        return false;
    if (!annotation->n_way) { /* an operator */
        struct odb_body body;
        bool any = false;
        for (size_t b = 0; annotation->node == ODB_NO_NODE && !any; b++) {
            if (!odb_body_at(&graph->nodes[node], b, &body))
                break;
            any = annotation_has_operator(body.graph, annotation->last) ||
                  odb_annotation_count_below(body.graph, annotation->last, 1);
        }
        return any;
    }
    for (const struct odb_inside *in = inside; in; in = in->outer)
        depth++;
    if (depth >= annotation->n_way || !odb_inside_is(inside, annotation->way, depth) ||
        annotation->way[depth].node != node)
        return false;
    int64_t wanted = annotation->way[depth].turn;
    if (wanted != ODB_ANY_TURN && wanted < *turn)
        return false;
    *turn = ODB_MAX(*turn, wanted);
    return true;
}
