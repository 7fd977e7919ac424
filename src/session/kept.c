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

/* A node by name or "#INDEX", else a value by name, else an operator that the model has. */
static enum odb_status kept_resolve(struct odb_kept *kept, const struct odb_graph *graph,
                                    struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    const struct odb_value *value = odb_graph_value(graph, kept->place);
    kept->node = ODB_NO_NODE;
    kept->value = ODB_NO_VALUE;
    if (!kept->place[0])
        return ODB_OK;
    enum odb_status status = odb_graph_find_node(graph, kept->place, &kept->node, &why);
    bool by_node = status == ODB_OK && !strcmp(graph->nodes[kept->node].name, kept->place);
    if (value && (!by_node || kept->kind == ODB_KEPT_PIN)) {
        kept->value = value->index;
        kept->node = value->producer;
        return ODB_OK;
    }
    if (status == ODB_OK)
        return ODB_OK;
    kept->node = ODB_NO_NODE;
    for (size_t i = 0; kept->kind == ODB_KEPT_BREAK && i < graph->n_nodes; i++)
        if (!strcasecmp(graph->nodes[i].op_type, kept->place))
            return ODB_OK;
    if (err)
        *err = why;
    return status;
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

bool odb_kept_is_at(const struct odb_kept *kept, const struct odb_graph *graph, int node, bool main)
{
    if (!kept->place[0])
        return true;
    if (kept->node != ODB_NO_NODE)
        return main && kept->node == node;
    return !strcasecmp(graph->nodes[node].op_type, kept->place);
}
