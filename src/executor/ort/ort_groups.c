/* SPDX-License-Identifier: MIT
 *
 * Which nodes of the model an optimised node was made of. Names of values survive optimisation, so
 * an optimised node computes what lies in the model between the values that it reads and those that
 * it makes. Four things are in the way of that:
 *
 *   values in blocks have names of their own; the node that makes them has the value's in its name,
 *   as it was before a sum and an activation were taken in as well;
 *   integers between quantised kernels have names of their own, and their kernel has the
 * operator's;
 *
 *   copies in another order or type stand for the value that they copy;
 *   a value between two optimised nodes may be none of the model's: then both are one kernel here.
 */
#include "executor/ort/ort_int.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "executor/groups.h"
#include "model/read/load.h"

#define GROUPS_BLOCKED "com.microsoft.nchwc"
#define GROUPS_SUFFIX "_nchwc"
#define GROUPS_TOKEN "_token_"
#define GROUPS_NAMED 3 /* nodes in the name of a kernel */

/* The model and what became of it. Values are those of the model, ODB_NO_VALUE for none. */
struct ort_groups {
    const struct odb_graph *model, *made; /* borrowed */
    int *origin;                          /* [made->n_values] the model's value that it is */
    bool *stands;                         /* [model->n_values] some value made is that one */
    bool *constant;                       /* [model->n_values] of weights alone */
    int *group;                           /* [made->n_nodes] the first node of the same kernel */
};

/* --- values ----------------------------------------------------------------------------------- */

static int groups_named(const struct ort_groups *g, const char *name)
{
    const struct odb_value *value = name[0] ? odb_graph_value(g->model, name) : NULL;
    return value ? value->index : ODB_NO_VALUE;
}

/* What the only reader of a value makes, if it is of that operator. */
static int groups_behind(const struct ort_groups *g, int value, const char *op_type)
{
    const struct odb_value *v = &g->model->values[value];
    const struct odb_node *reader = v->n_consumers == 1 ? &g->model->nodes[v->consumers[0]] : NULL;
    bool found = reader && !strcmp(reader->op_type, op_type) && reader->n_out == 1;
    return found && reader->out[0] >= 0 ? reader->out[0] : value;
}

/* The value of which a node in blocks has the name, or what follows it in the same node. */
static int groups_blocked(const struct ort_groups *g, const struct odb_node *node)
{
    const struct odb_attr *activation = odb_attrs_find(&node->attrs, "activation");
    const char *end = strstr(node->name, GROUPS_SUFFIX);
    if (strcmp(node->domain, GROUPS_BLOCKED) != 0 || !end)
        return ODB_NO_VALUE;
    char *name = odb_xstrndup(node->name, (size_t)(end - node->name));
    int value = groups_named(g, name);
    free(name);
    if (value == ODB_NO_VALUE)
        return value;
    if (node->n_in > 3 && node->in[3] != ODB_NO_VALUE)
        value = groups_behind(g, value, "Add");
    if (activation && activation->type == ODB_ATTR_STRING) {
        char *op = odb_xstrndup(activation->s.data, activation->s.len);
        int maker = g->model->values[value].producer;
        if (maker == ODB_NO_NODE || strcmp(g->model->nodes[maker].op_type, op) != 0)
            value = groups_behind(g, value, op);
        free(op);
    }
    return value;
}

/* What the quantiser behind an operator makes, of which a kernel on integers has the name:
 * "conv1_token_12". */
static int groups_quantised(const struct ort_groups *g, const struct odb_node *node)
{
    static const char *const between[] = {"Relu", "Clip", "QuantizeLinear"};
    int index, value;
    const char *end = strstr(node->name, GROUPS_TOKEN);
    if (strncmp(node->op_type, "QLinear", 7) != 0 && strcmp(node->op_type, "QGemm") != 0)
        return ODB_NO_VALUE;
    char *name =
        end ? odb_xstrndup(node->name, (size_t)(end - node->name)) : odb_xstrdup(node->name);
    bool found = name[0] && odb_graph_find_node(g->model, name, &index, NULL) == ODB_OK &&
                 !strcmp(g->model->nodes[index].name, name);
    free(name);
    if (!found || g->model->nodes[index].n_out < 1)
        return ODB_NO_VALUE;
    value = g->model->nodes[index].out[0];
    for (size_t i = 0; i < ODB_COUNT(between) && value >= 0; i++)
        value = groups_behind(g, value, between[i]);
    int maker = value < 0 ? ODB_NO_NODE : g->model->values[value].producer;
    return maker != ODB_NO_NODE && !strcmp(g->model->nodes[maker].op_type, "QuantizeLinear")
               ? value
               : ODB_NO_VALUE;
}

/* A node that puts the same value into another order or type. */
static bool groups_copies(const struct odb_node *node)
{
    return !strcmp(node->op_type, "ReorderInput") || !strcmp(node->op_type, "ReorderOutput") ||
           (!strcmp(node->op_type, "Cast") && !strncmp(node->name, "Inserted", 8));
}

/* Others, such as Concat, stay what they are when their values are put into blocks. */
static int groups_same_node(const struct ort_groups *g, const struct odb_node *node, int slot)
{
    int index;
    if (!node->name[0] || odb_graph_find_node(g->model, node->name, &index, NULL) != ODB_OK)
        return ODB_NO_VALUE;
    const struct odb_node *same = &g->model->nodes[index];
    return !strcmp(same->name, node->name) && !strcmp(same->op_type, node->op_type) &&
                   slot < same->n_out
               ? same->out[slot]
               : ODB_NO_VALUE;
}

/* A Transpose that the model does not have, for kernels that want channels last. */
static bool groups_is_new(const struct ort_groups *g, const struct odb_node *node)
{
    return !strcmp(node->op_type, "Transpose") && groups_same_node(g, node, 0) == ODB_NO_VALUE;
}

static int groups_origin(const struct ort_groups *g, const struct odb_node *node, int slot)
{
    if (groups_copies(node) || groups_is_new(g, node))
        return slot == 0 && node->n_in && node->in[0] >= 0 ? g->origin[node->in[0]] : ODB_NO_VALUE;
    int value = slot == 0 ? groups_blocked(g, node) : ODB_NO_VALUE;
    if (value < 0 && slot == 0)
        value = groups_quantised(g, node);
    return value >= 0 ? value : groups_same_node(g, node, slot);
}

/* In topological order, so that what is copied is known before its copy. */
static void groups_origins(struct ort_groups *g)
{
    for (size_t v = 0; v < g->made->n_values; v++)
        g->origin[v] = groups_named(g, g->made->values[v].name);
    for (size_t n = 0; n < g->made->n_nodes; n++) {
        const struct odb_node *node = &g->made->nodes[n];
        for (int i = 0; i < node->n_out; i++)
            if (node->out[i] >= 0 && g->origin[node->out[i]] < 0)
                g->origin[node->out[i]] = groups_origin(g, node, i);
    }
    for (size_t v = 0; v < g->made->n_values; v++)
        if (g->origin[v] >= 0)
            g->stands[g->origin[v]] = true;
}

static void groups_constants(struct ort_groups *g)
{
    for (size_t v = 0; v < g->model->n_values; v++)
        g->constant[v] = g->model->values[v].init != NULL;
    for (size_t n = 0; n < g->model->n_nodes; n++) {
        const struct odb_node *node = &g->model->nodes[n];
        bool constant = true;
        for (size_t i = 0; i < odb_node_n_reads(node); i++) {
            int value = odb_node_reads(node, i);
            constant &= value < 0 || g->constant[value];
        }
        for (int i = 0; i < node->n_out && constant; i++)
            if (node->out[i] >= 0)
                g->constant[node->out[i]] = true;
    }
}

/* --- kernels ---------------------------------------------------------------------------------- */

static int groups_root(const struct ort_groups *g, int node)
{
    while (g->group[node] != node)
        node = g->group[node];
    return node;
}

/* Nodes with a value between them that is none of the model's are one kernel. */
static void groups_join(struct ort_groups *g)
{
    for (size_t n = 0; n < g->made->n_nodes; n++)
        g->group[n] = (int)n;
    for (size_t v = 0; v < g->made->n_values; v++) {
        const struct odb_value *value = &g->made->values[v];
        if (g->origin[v] >= 0 || value->producer == ODB_NO_NODE)
            continue;
        for (size_t i = 0; i < value->n_consumers; i++) {
            int a = groups_root(g, value->producer), b = groups_root(g, value->consumers[i]);
            g->group[ODB_MAX(a, b)] = ODB_MIN(a, b);
        }
    }
}

/* A walk from what a kernel makes to what it reads. */
struct groups_walk {
    bool *marks;      /* owned: [model->n_nodes] met */
    int *stack;       /* owned: values to go on from */
    const bool *ends; /* [model->n_values] */
};

/* Marks the nodes from a value back to where the walk ends. False: it came to an input of the
 * model, so that what it met cannot all be the kernel's. */
static bool groups_walk(const struct ort_groups *g, struct groups_walk *walk, int value)
{
    size_t n = 0;
    bool inside = true;
    walk->stack[n++] = value;
    while (n) {
        int at = walk->stack[--n], maker = g->model->values[at].producer;
        if (g->constant[at] && at != value)
            continue;
        if (maker == ODB_NO_NODE) {
            inside = false;
            continue;
        }
        if (walk->marks[maker])
            continue;
        const struct odb_node *node = &g->model->nodes[maker];
        walk->marks[maker] = true;
        for (size_t i = 0; i < odb_node_n_reads(node); i++) {
            int read = odb_node_reads(node, i);
            if (read >= 0 && !walk->ends[read])
                walk->stack[n++] = read;
        }
    }
    return inside;
}

/* Whether a node only moves what is there, as others do for it. */
static bool groups_moves(const struct odb_node *node)
{
    static const char *const ops[] = {"Reshape", "Transpose", "Squeeze", "Unsqueeze"};
    bool moves = groups_copies(node);
    for (size_t i = 0; i < ODB_COUNT(ops); i++)
        moves |= !strcmp(node->op_type, ops[i]);
    return moves;
}

static void groups_put_name(const struct odb_node *node, struct odb_buf *out)
{
    odb_buf_printf(out, "%s%s (%s%s%s)", out->len ? " + " : "", node->name, node->domain,
                   *node->domain ? "." : "", node->op_type);
}

/* Of the nodes that compute, where there are any. */
static json_t *groups_name(const struct ort_groups *g, size_t root)
{
    struct odb_buf name = ODB_BUF_INIT;
    size_t computing = 0, shown = 0;
    for (size_t n = root; n < g->made->n_nodes; n++)
        computing += groups_root(g, (int)n) == (int)root && !groups_moves(&g->made->nodes[n]);
    for (size_t n = root; n < g->made->n_nodes && shown < GROUPS_NAMED; n++)
        if (groups_root(g, (int)n) == (int)root &&
            (!computing || !groups_moves(&g->made->nodes[n]))) {
            groups_put_name(&g->made->nodes[n], &name);
            shown++;
        }
    if (computing > shown)
        odb_buf_printf(&name, " + %zu more", computing - shown);
    json_t *text = json_string(odb_buf_text(&name));
    odb_buf_dispose(&name);
    return text ? text : json_string("?"); /* a name that is no UTF-8 */
}

/* A node by what it makes: numbers are another thing in every cut. */
static void groups_put_node(const struct odb_graph *graph, const struct odb_node *node,
                            json_t *nodes)
{
    for (int i = 0; i < node->n_out; i++) {
        json_t *name = node->out[i] < 0 ? NULL : json_string(graph->values[node->out[i]].name);
        if (name) {
            json_array_append_new(nodes, name);
            return;
        }
    }
}

/* Marks the values that a kernel reads, in reads, or takes the marks away. */
static void groups_mark_reads(const struct ort_groups *g, size_t root, bool *reads, bool mark)
{
    for (size_t n = root; n < g->made->n_nodes; n++) {
        const struct odb_node *node = &g->made->nodes[n];
        for (size_t i = 0; groups_root(g, (int)n) == (int)root && i < odb_node_n_reads(node); i++) {
            int read = odb_node_reads(node, i);
            if (read >= 0 && g->origin[read] >= 0)
                reads[g->origin[read]] = mark;
        }
    }
}

/* Marks the nodes behind all that a kernel makes; none for what only copies. */
static bool groups_mark(const struct ort_groups *g, size_t root, struct groups_walk *walk)
{
    bool inside = true;
    memset(walk->marks, 0, g->model->n_nodes * sizeof *walk->marks);
    for (size_t n = root; n < g->made->n_nodes; n++) {
        const struct odb_node *node = &g->made->nodes[n];
        if (groups_root(g, (int)n) != (int)root || groups_copies(node) || groups_is_new(g, node))
            continue;
        for (int i = 0; i < node->n_out; i++)
            if (node->out[i] >= 0 && g->origin[node->out[i]] >= 0)
                inside &= groups_walk(g, walk, g->origin[node->out[i]]);
    }
    return inside;
}

/* A kernel computes what lies between what it reads and what it makes. Where nodes that compute the
 * same have been made one, there is more before it: then it begins behind what other kernels make.
 */
static json_t *groups_nodes(const struct ort_groups *g, size_t root, bool *reads,
                            struct groups_walk *walk)
{
    json_t *nodes = json_array();
    groups_mark_reads(g, root, reads, true);
    walk->ends = reads;
    if (!groups_mark(g, root, walk)) {
        walk->ends = g->stands;
        groups_mark(g, root, walk);
    }
    groups_mark_reads(g, root, reads, false);
    for (size_t i = 0; i < g->model->n_nodes; i++)
        if (walk->marks[i])
            groups_put_node(g->model, &g->model->nodes[i], nodes);
    return nodes;
}

static void groups_tell(const struct ort_groups *g, struct odb_account *account)
{
    json_t *kernels = json_array();
    bool *reads = odb_new_n(bool, g->model->n_values + 1);
    size_t most = 1; /* values on the stack: a node's are put there once */
    for (size_t n = 0; n < g->model->n_nodes; n++)
        most += odb_node_n_reads(&g->model->nodes[n]);
    struct groups_walk walk = {odb_new_n(bool, g->model->n_nodes + 1), odb_new_n(int, most), NULL};
    for (size_t n = 0; n < g->made->n_nodes; n++) {
        json_t *nodes = g->group[n] == (int)n ? groups_nodes(g, n, reads, &walk) : NULL;
        if (json_array_size(nodes))
            json_array_append_new(
                kernels, json_pack("{s:o,s:o}", "kernel", groups_name(g, n), "nodes", nodes));
        else
            json_decref(nodes);
    }
    free(walk.marks);
    free(walk.stack);
    free(reads);
    json_t *all = json_pack("{s:i,s:o}", "schema", 1, "groups", kernels);
    char *text = json_dumps(all, JSON_COMPACT);
    odb_account_groups(account, text, strlen(text));
    free(text);
    json_decref(all);
}

void ort_groups(struct ort *ort, const struct odb_model *optimized, struct odb_account *account)
{
    struct odb_model *model = NULL;
    struct odb_error why = ODB_ERROR_INIT;
    if (odb_model_open_bytes(&model, ort->bytes, ort->size, ort->keep, ".", "model", &why) !=
        ODB_OK) {
        odb_account_note(account, "its kernels cannot be told: %s", why.what);
        return;
    }
    struct ort_groups g = {.model = model->graph, .made = optimized->graph};
    g.origin = odb_new_n(int, g.made->n_values + 1);
    g.stands = odb_new_n(bool, g.model->n_values + 1);
    g.constant = odb_new_n(bool, g.model->n_values + 1);
    g.group = odb_new_n(int, g.made->n_nodes + 1);
    groups_origins(&g);
    groups_constants(&g);
    groups_join(&g);
    groups_tell(&g, account);
    free(g.origin);
    free(g.stands);
    free(g.constant);
    free(g.group);
    odb_model_free(model);
}
