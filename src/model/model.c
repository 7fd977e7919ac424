/* SPDX-License-Identifier: MIT */
#include "model/model.h"

#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { CANDIDATES_MAX = 5 };

const struct odb_value *odb_graph_value(const struct odb_graph *graph, const char *name)
{
    size_t index;
    return odb_map_get(graph->by_name, name, &index) ? &graph->values[index] : NULL;
}

const char *odb_node_label(const struct odb_node *node, char *buf, size_t size)
{
    if (node->name_is_unique)
        odb_text_fit(buf, size, "%s", node->name);
    else
        snprintf(buf, size, "#%d", node->index);
    return buf;
}

const char *odb_value_key(const struct odb_graph *graph, const struct odb_value *value, char *buf,
                          size_t size)
{
    (void)graph;
    if (*value->name)
        odb_text_fit(buf, size, "%s", value->name);
    else
        snprintf(buf, size, "#%d:%d", value->producer, value->slot);
    return buf;
}

/* --- finding a node --------------------------------------------------------------------------- */

/* Several nodes bear the name. */
static enum odb_status find_ambiguous(const struct odb_graph *graph, const char *text,
                                      struct odb_error *err)
{
    struct odb_buf list = ODB_BUF_INIT;
    size_t found = 0;
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (!strcmp(graph->nodes[n].name, text) && found++ < CANDIDATES_MAX)
            odb_buf_printf(&list, "%s#%zu (%s)", found > 1 ? ", " : "", n, graph->nodes[n].op_type);
    odb_fail(err, ODB_E_USAGE, "%zu nodes are called '%s'", found, text);
    odb_error_remedy(err, "name one by its index: %s%s", odb_buf_text(&list),
                     found > CANDIDATES_MAX ? ", …" : "");
    odb_buf_dispose(&list);
    return ODB_E_USAGE;
}

/* Edits that turn a into b, or limit + 1 where it is more; rows of the usual table. */
static size_t find_distance(const char *a, const char *b, size_t limit)
{
    enum { NAME_MAX_LENGTH = 128 };
    size_t n = strlen(a), m = strlen(b), row[NAME_MAX_LENGTH + 1];
    if (m > NAME_MAX_LENGTH || (n > m ? n - m : m - n) > limit)
        return limit + 1;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0], best = row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j], change = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = ODB_MIN(change, ODB_MIN(above, row[j - 1]) + 1);
            diagonal = above;
            best = ODB_MIN(best, row[j]);
        }
        if (best > limit)
            return limit + 1;
    }
    return row[m];
}

/* Adds the name where it is like text: contains it, or differs by little. */
static void find_candidate(struct odb_buf *list, size_t *found, const char *name, const char *text)
{
    size_t limit = strlen(text) / 4 + 1;
    if (*name && *found < CANDIDATES_MAX &&
        ((*text && strcasestr(name, text)) || find_distance(text, name, limit) <= limit))
        odb_buf_printf(list, "%s'%s'", (*found)++ ? ", " : "", name);
}

static enum odb_status find_nothing(const struct odb_graph *graph, const char *text,
                                    struct odb_error *err)
{
    struct odb_buf list = ODB_BUF_INIT;
    size_t found = 0;
    if (!err)
        return ODB_E_USAGE;
    for (size_t n = 0; n < graph->n_nodes; n++)
        find_candidate(&list, &found, graph->nodes[n].name, text);
    for (size_t v = 0; v < graph->n_values; v++)
        if (graph->values[v].producer != ODB_NO_NODE)
            find_candidate(&list, &found, graph->values[v].name, text);
    odb_fail(err, ODB_E_USAGE, "no node and no value that a node makes is called '%s'", text);
    if (found)
        odb_error_remedy(err, "similar: %s", odb_buf_text(&list));
    odb_buf_dispose(&list);
    return ODB_E_USAGE;
}

/* "#12": sets index and returns true; false: text is no such thing. */
static bool find_by_index(const char *text, size_t *index)
{
    char *end;
    if (*text != '#' || text[1] < '0' || text[1] > '9')
        return false;
    unsigned long long number = strtoull(text + 1, &end, 10);
    *index = number < SIZE_MAX ? (size_t)number : SIZE_MAX;
    return !*end;
}

enum odb_status odb_graph_find_node(const struct odb_graph *graph, const char *text, int *index,
                                    struct odb_error *err)
{
    size_t at;
    if (odb_map_get(graph->nodes_by_name, text, &at)) {
        if (!graph->nodes[at].name_is_unique)
            return find_ambiguous(graph, text, err);
        *index = (int)at;
        return ODB_OK;
    }
    if (find_by_index(text, &at)) {
        if (at >= graph->n_nodes) {
            if (!graph->n_nodes)
                return odb_fail(err, ODB_E_USAGE, "there is no node %s: the graph has none", text);
            return odb_fail(err, ODB_E_USAGE, "there is no node %s: the last is #%zu", text,
                            graph->n_nodes - 1);
        }
        *index = (int)at;
        return ODB_OK;
    }
    const struct odb_value *value = odb_graph_value(graph, text);
    if (!value)
        return find_nothing(graph, text, err);
    if (value->producer == ODB_NO_NODE)
        return odb_fail(err, ODB_E_USAGE, "'%s' is %s: no node makes it", text,
                        value->is_outer ? "a value of the graph around this one"
                        : value->init   ? "an initializer"
                                        : "a graph input");
    *index = value->producer;
    return ODB_OK;
}

bool odb_node_is_constant(const struct odb_node *node)
{
    return !node->domain[0] && strcmp(node->op_type, "Constant") == 0;
}

/* --- checkpoints ------------------------------------------------------------------------------ */

bool odb_node_is_debug(const struct odb_node *node)
{
    const struct odb_function *f = node->function; /* which an exporter may have made of it */
    return strcmp(node->op_type, "Debug") == 0 && node->n_in == 1 && node->n_out == 1 &&
           (!f || (f->graph->n_nodes == 1 && strcmp(f->graph->nodes[0].op_type, "Identity") == 0));
}

char *odb_node_checkpoint(const struct odb_node *node)
{
    const struct odb_attr *name =
        odb_node_is_debug(node) ? odb_attrs_find(&node->attrs, "name") : NULL;
    if (!name || name->type != ODB_ATTR_STRING || !name->s.len)
        return NULL;
    return odb_xstrndup(name->s.data, name->s.len);
}

/* --- walking ---------------------------------------------------------------------------------- */

size_t odb_graph_feeds(const struct odb_graph *graph, int *list)
{
    size_t n = 0;
    for (size_t i = 0; i < graph->n_inputs; i++)
        if (!graph->values[graph->inputs[i]].init) {
            if (list)
                list[n] = graph->inputs[i];
            n++;
        }
    return n;
}

/* Marks the producers of values and puts those not yet marked on the stack; returns its depth. */
static size_t walk_up(const struct odb_graph *graph, const int *values, size_t n, const bool *stop,
                      bool *node_marks, int *stack, size_t depth)
{
    for (size_t i = 0; i < n; i++) {
        int v = values[i];
        if (v == ODB_NO_VALUE || (stop && stop[v]))
            continue;
        int producer = graph->values[v].producer;
        if (producer == ODB_NO_NODE || node_marks[producer])
            continue;
        node_marks[producer] = true;
        stack[depth++] = producer;
    }
    return depth;
}

void odb_graph_ancestors(const struct odb_graph *graph, const int *values, size_t n,
                         const bool *stop, bool *node_marks)
{
    int *stack = odb_new_n(int, graph->n_nodes); /* nodes whose inputs are still to be followed */
    memset(node_marks, 0, graph->n_nodes * sizeof *node_marks);
    size_t depth = walk_up(graph, values, n, stop, node_marks, stack, 0);
    while (depth) {
        const struct odb_node *node = &graph->nodes[stack[--depth]];
        depth = walk_up(graph, node->in, (size_t)node->n_in, stop, node_marks, stack, depth);
        depth = walk_up(graph, node->captured, node->n_captured, stop, node_marks, stack, depth);
    }
    free(stack);
}

size_t odb_graph_segment_inputs(const struct odb_graph *graph, const bool *nodes, int *list)
{
    size_t n = 0;
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        if (value->init || (value->producer != ODB_NO_NODE && nodes[value->producer]))
            continue;
        for (size_t i = 0; i < value->n_consumers; i++)
            if (nodes[value->consumers[i]]) {
                list[n++] = (int)v;
                break;
            }
    }
    return n;
}

void odb_model_origin(const struct odb_model *model, int *index)
{
    const char *at = NULL;
    for (size_t m = 0; m < model->metadata.n; m++)
        if (strcmp(model->metadata.items[m][0], ODB_META_NODES) == 0)
            at = model->metadata.items[m][1];
    for (size_t n = 0; n < model->graph->n_nodes; n++) {
        char *end = NULL;
        long origin = at ? strtol(at, &end, 10) : -1;
        bool told = end && end != at && origin >= 0 && origin <= INT_MAX;
        index[n] = told ? (int)origin : (int)n;
        at = told ? end : NULL;
    }
}

void odb_node_put(const struct odb_graph *graph, int index, struct odb_buf *out)
{
    const struct odb_node *node = &graph->nodes[index];
    odb_buf_printf(out, "#%d ", index);
    if (*node->name) {
        odb_buf_put_shown(out, node->name);
        odb_buf_putc(out, ' ');
    }
    odb_buf_putc(out, '(');
    if (*node->domain) {
        odb_buf_put_shown(out, node->domain);
        odb_buf_puts(out, "::");
    }
    odb_buf_put_shown(out, node->op_type);
    odb_buf_putc(out, ')');
}
