/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One graph as aligning reads it: which nodes only carry a value on, what operator a node comes to,
 * which nodes read a value, and which make it.
 */
#include "twomodels/align_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "twomodels/blocked.h"

#define ALIGN_SUM 3 /* input of a fused Conv that is added to what it makes */

static bool align_is(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(word, list[i]))
            return true;
    return false;
}

bool align_holds(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p += n)
        if (p > words && p[-1] == ' ' && p[n] == ' ')
            return true;
    return false;
}

bool align_carries(const struct odb_node *node)
{
    /* what runtimes put in, and what stands for Identity here */
    static const char *const words[] = {"MemcpyToHost", "MemcpyFromHost", "Debug"};
    if (node->n_in < 1 || node->n_out < 1 || node->in[0] < 0)
        return false;
    if (odb_blocked_node(node) && !strncmp(node->op_type, "Reorder", 7))
        return true;
    if (!strcmp(node->op_type, "Cast")) {
        const struct odb_attr *to = odb_attrs_find(&node->attrs, "to");
        return to && to->type == ODB_ATTR_INT && odb_dtype_is_float((enum odb_dtype)to->i);
    }
    return (odb_facts_of(NULL, node->op_type)->traits & ODB_IS_CARRIER) ||
           align_is(node->op_type, words, ODB_COUNT(words));
}

const struct odb_node *align_carrier(const struct odb_graph *g, int v)
{
    int producer = g->values[v].producer;
    if (producer == ODB_NO_NODE || g->values[v].init || g->values[v].slot ||
        !align_carries(&g->nodes[producer]))
        return NULL;
    return &g->nodes[producer];
}

int align_root(const struct odb_graph *g, int v)
{
    const struct odb_node *carrier;
    while ((carrier = align_carrier(g, v)))
        v = carrier->in[0];
    return v;
}

/* NULL: it is none. */
static const struct odb_tensor *align_constant(const struct odb_graph *graph,
                                               const struct odb_value *value)
{
    if (value->producer == ODB_NO_NODE)
        return value->is_outer ? NULL : value->init;
    const struct odb_node *node = &graph->nodes[value->producer];
    const struct odb_attr *attr =
        odb_node_is_constant(node) ? odb_attrs_find(&node->attrs, "value") : NULL;
    return attr && attr->type == ODB_ATTR_TENSOR && attr->n == 1 ? attr->tensors[0] : NULL;
}

const struct odb_value *odb_constant_behind(const struct odb_graph *graph, int value)
{
    const struct odb_value *root = &graph->values[align_root(graph, value)];
    return align_constant(graph, root) ? root : NULL;
}

const struct odb_tensor *odb_constant_tensor(const struct odb_graph *graph,
                                             const struct odb_value *behind)
{
    return align_constant(graph, behind);
}

const char *align_head(const char *op)
{
    const char *head = odb_facts_of(NULL, op)->fusion.head;
    return head ? head : op;
}

struct align_call align_call(const struct odb_node *node)
{
    const struct odb_quantised *row = &odb_facts_of(NULL, node->op_type)->quantised;
    struct align_call call = {.op = node->op_type, .domain = node->domain};
    if (odb_blocked_node(node)) {
        bool fused = !strcmp(node->op_type, "Conv") &&
                     (node->n_in > ALIGN_SUM || odb_attrs_find(&node->attrs, "activation"));
        call.op = fused ? "FusedConv" : node->op_type;
        call.domain = fused ? "com.microsoft" : "";
    }
    if (row->of) {
        call.op = row->of;
        call.domain = "";
        for (int i = 0; i < row->n_in; i++)
            call.in[call.n_in++] = row->in[i] < node->n_in ? node->in[row->in[i]] : ODB_NO_VALUE;
    } else {
        for (int i = 0; i < node->n_in && i < ALIGN_INPUTS; i++)
            call.in[call.n_in++] = node->in[i];
    }
    return call;
}

bool odb_quantised_by(const struct odb_graph *graph, int value, int *scale, int *zero)
{
    for (int depth = 0; depth < ALIGN_CHAIN && graph->values[value].producer >= 0; depth++) {
        const struct odb_node *node = &graph->nodes[graph->values[value].producer];
        const struct odb_facts *facts = odb_facts_of(NULL, node->op_type);
        int at = facts->quantised.scale;
        if (at > 0 && at < node->n_in && node->in[at] >= 0) {
            *scale = node->in[at];
            *zero = at + 1 < node->n_in ? node->in[at + 1] : ODB_NO_VALUE;
            return true;
        }
        if (!(facts->traits & ODB_IS_MOVE) || node->n_in < 1 || node->in[0] < 0)
            break;
        value = node->in[0];
    }
    return false;
}

size_t odb_region(const struct odb_graph *graph, int value, const bool *stop, bool *marks,
                  int *border)
{
    bool *met = odb_new_n(bool, graph->n_values + 1);
    int *stack = odb_new_n(int, graph->n_values + 1);
    size_t depth = 0, n = 0;
    memset(marks, 0, graph->n_nodes * sizeof *marks);
    stack[depth++] = value;
    met[value] = true;
    while (depth) {
        int v = stack[--depth], producer = graph->values[v].producer;
        if (v != value && stop[v] && !graph->values[v].init &&
            !align_constant(graph, &graph->values[v])) {
            border[n++] = v;
            continue;
        }
        if (producer == ODB_NO_NODE || marks[producer])
            continue;
        const struct odb_node *node = &graph->nodes[producer];
        marks[producer] = true;
        for (size_t i = 0; i < odb_node_n_reads(node); i++) {
            int in = odb_node_reads(node, i);
            if (in >= 0 && !met[in]) {
                met[in] = true;
                stack[depth++] = in;
            }
        }
    }
    free(stack);
    free(met);
    return n;
}

bool align_commutes(const char *op)
{
    return odb_facts_of(NULL, op)->traits & ODB_IS_COMMUTATIVE;
}

/* The operators that read a value, through what carries it on, sorted, each between blanks. */
static void align_readers(const struct odb_graph *g, int v, struct odb_buf *out, int depth)
{
    const struct odb_value *value = &g->values[v];
    if (value->is_output)
        odb_buf_puts(out, "output ");
    for (size_t c = 0; c < value->n_consumers && depth; c++) {
        const struct odb_node *node = &g->nodes[value->consumers[c]];
        const char *op = align_call(node).op;
        bool sum = !strcmp(op, "FusedConv") && node->n_in > ALIGN_SUM && node->in[ALIGN_SUM] == v;
        if (align_carries(node) && node->out[0] >= 0)
            align_readers(g, node->out[0], out, depth - 1);
        else
            odb_buf_printf(out, "%s ", sum ? "Add" : align_head(op));
    }
}

static int align_by_word(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *align_signature(const struct odb_graph *g, int v)
{
    struct odb_buf words = ODB_BUF_INIT, out = ODB_BUF_INIT;
    ODB_VEC(char *) list = {0};
    char *save = NULL;
    align_readers(g, v, &words, ALIGN_CHAIN);
    for (char *p = words.data ? strtok_r(words.data, " ", &save) : NULL; p;
         p = strtok_r(NULL, " ", &save))
        odb_push(&list, p);
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, align_by_word);
    for (size_t i = 0; i < list.n; i++)
        odb_buf_printf(&out, " %s ", list.items[i]);
    free(list.items);
    odb_buf_dispose(&words);
    return out.data ? odb_buf_take(&out) : odb_xstrdup("");
}

int align_next(const struct odb_graph *g, int v)
{
    const struct odb_value *value = &g->values[v];
    if (value->n_consumers != 1 || value->is_output)
        return ODB_NO_VALUE;
    const struct odb_node *node = &g->nodes[value->consumers[0]];
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] >= 0 && node->in[i] != v && !odb_constant_behind(g, node->in[i]))
            return ODB_NO_VALUE;
    return node->n_out ? node->out[0] : ODB_NO_VALUE;
}

int align_consumers(const struct odb_graph *g, int v, int *list, int n)
{
    for (size_t c = 0; c < g->values[v].n_consumers && n < ALIGN_CANDIDATES; c++) {
        int reader = g->values[v].consumers[c];
        const struct odb_node *node = &g->nodes[reader];
        if (align_carries(node) && node->in[0] == v && node->out[0] >= 0)
            n = align_consumers(g, node->out[0], list, n);
        else
            list[n++] = reader;
    }
    return n;
}
