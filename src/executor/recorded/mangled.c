/* SPDX-License-Identifier: MIT
 *
 * Gathers what is open, has it matched by names and declared shapes, and where these do not tell
 * all, once more beside what the reference makes of the recorded inputs.
 */
#include "executor/recorded/mangled.h"

#include <stdlib.h>
#include <string.h>

#include "executor/recorded/mangled_int.h"

/* --- what is open ----------------------------------------------------------------------------- */

/* Every match, and what was left, is forgotten. */
static void mangled_forget(struct odb_mangled *m)
{
    for (size_t i = 0; i < m->files.n; i++) {
        struct mangled_file *file = &m->files.items[i];
        file->value = file->likely = -1;
        file->left = false;
        free(file->choices.items);
        memset(&file->choices, 0, sizeof file->choices);
    }
    for (size_t i = 0; i < m->values.n; i++)
        m->values.items[i].file = -1;
    for (size_t i = 0; i < m->used.n; i++)
        mangled__rule_dispose(&m->used.items[i]);
    m->used.n = 0;
    m->has_numbers = m->has_likely = m->by_folding = false;
}

static bool mangled_is_constant(const struct odb_node *node)
{
    return !strcmp(node->op_type, "Constant");
}

/* In the order in which the file has the nodes; inputs first. */
static int mangled_by_node(const void *a, const void *b)
{
    const struct mangled_value *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* Nodes, what they make, and that without constants, are counted in one order. */
static void mangled_count_in(struct odb_mangled *m, const struct odb_node *const *order, size_t n,
                             enum mangled_count first)
{
    long *before = odb_new_n(long, n + 1), *varying = odb_new_n(long, n + 1),
         *place = odb_new_n(long, n + 1);
    for (size_t i = 0; i < n; i++) {
        long made = order[i] ? order[i]->n_out : 0;
        bool constant = order[i] && mangled_is_constant(order[i]);
        before[i + 1] = before[i] + made;
        varying[i + 1] = varying[i] + (constant ? 0 : made);
        if (order[i])
            place[order[i]->file_index] = (long)i;
    }
    for (size_t v = 0; v < m->values.n; v++) {
        struct mangled_value *value = &m->values.items[v];
        if (value->node < 0)
            continue;
        long at = place[value->node];
        value->number[first + MANGLED_NODES] = at;
        value->number[first + MANGLED_OUTPUTS] = before[at] + value->slot;
        value->number[first + MANGLED_NO_CONSTANTS] = varying[at] + value->slot;
    }
    free(before);
    free(varying);
    free(place);
}

/* In the order of the file, and in the topological one. */
static void mangled_count(struct odb_mangled *m, const struct odb_graph *graph)
{
    size_t n = graph->n_nodes;
    const struct odb_node **order = odb_new_n(const struct odb_node *, n + 1);
    for (size_t i = 0; i < n; i++)
        if ((size_t)graph->nodes[i].file_index < n)
            order[graph->nodes[i].file_index] = &graph->nodes[i];
    mangled_count_in(m, order, n, MANGLED_NODES);
    for (size_t i = 0; i < n; i++)
        order[i] = (size_t)graph->nodes[i].file_index < n ? &graph->nodes[i] : NULL;
    mangled_count_in(m, order, n, MANGLED_SORTED_NODES);
    free(order);
}

static void mangled_gather(struct odb_mangled *m, const struct odb_mangled_open *open)
{
    const struct odb_graph *graph = open->graph;
    size_t n = odb_recording_count(open->recording);
    m->names = odb_new_n(char *, n + 1);
    m->called = odb_new_n(char *, graph->n_values + 1);
    m->item_of = odb_new_n(size_t, graph->n_values + 1);
    m->n_values = graph->n_values;
    for (size_t i = 0; i < n; i++) {
        const char *name = odb_recording_name(open->recording, i);
        struct mangled_file file = {.item = i, .value = -1, .likely = -1};
        struct odb_error ignored;
        if (!open->items[i] || odb_recording_is_numbered(open->recording, i) ||
            !strncmp(name, ODB_RECORDING_PARAMETERS, strlen(ODB_RECORDING_PARAMETERS)))
            continue;
        if (odb_recording_read(&file.tensor, open->recording, i, NULL, &ignored) != ODB_OK)
            file.tensor = NULL;
        file.loose = mangled__loose(name);
        file.n_indices = mangled__indices(file.loose, file.indices);
        odb_push(&m->files, file);
        m->names[m->files.n - 1] = odb_xstrdup(name);
    }
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        m->called[v] = odb_xstrdup(value->name);
        m->item_of[v] = ODB_RECORDING_NONE;
        if (!value->name[0] || value->init || !open->values[v])
            continue;
        bool made = value->producer != ODB_NO_NODE;
        odb_push(&m->values, (struct mangled_value){
                                 .index = (int)v,
                                 .node = made ? graph->nodes[value->producer].file_index : -1,
                                 .slot = value->slot,
                                 .loose = mangled__loose(value->name),
                                 .type = &value->type,
                                 .file = -1});
    }
    for (size_t v = 0; v < m->values.n && open->counts; v++)
        if (mangled__is_number(m->values.items[v].loose))
            m->values.items[v].loose[0] = '\0';
    if (m->values.n)
        qsort(m->values.items, m->values.n, sizeof *m->values.items, mangled_by_node);
    mangled_count(m, graph);
}

/* The names as they were before capitals were small letters. */
static void mangled_unfold(struct odb_mangled *m)
{
    for (size_t i = 0; i < m->files.n && m->folded; i++) {
        struct mangled_file *file = &m->files.items[i];
        free(file->loose);
        file->loose = mangled__loose(m->names[i]);
        file->n_indices = mangled__indices(file->loose, file->indices);
    }
    for (size_t i = 0; i < m->values.n && m->folded; i++) {
        char *loose = m->values.items[i].loose;
        if (*loose) {
            free(loose);
            m->values.items[i].loose = mangled__loose(m->called[m->values.items[i].index]);
        }
    }
    m->folded = false;
}

static void mangled_match(struct odb_mangled *m)
{
    mangled_forget(m);
    mangled_unfold(m);
    mangled__by_rules(m);
    mangled__by_numbers(m);
}

static void mangled_settle(struct odb_mangled *m)
{
    for (size_t v = 0; v < m->values.n; v++) {
        int file = m->values.items[v].file;
        m->item_of[m->values.items[v].index] =
            file < 0 ? ODB_RECORDING_NONE : m->files.items[file].item;
    }
}

/* What the reference makes of the inputs that were recorded. */
static void mangled_witness(struct odb_mangled *m, const struct odb_mangled_open *open)
{
    const struct odb_graph *graph = open->graph;
    struct odb_tensor **inputs = odb_new_n(struct odb_tensor *, graph->n_inputs + 1);
    struct odb_tensor **all = odb_new_n(struct odb_tensor *, graph->n_values + 1);
    bool known = true;
    for (size_t i = 0; i < graph->n_inputs && known; i++) {
        int v = graph->inputs[i];
        struct odb_error ignored;
        size_t item =
            open->found[v] == ODB_RECORDING_NONE ? odb_mangled_find(m, v) : open->found[v];
        if (graph->values[v].init)
            continue;
        known = item != ODB_RECORDING_NONE &&
                odb_recording_read(&inputs[i], open->recording, item, &graph->values[v].type,
                                   &ignored) == ODB_OK;
    }
    if (known && open->witness(open->payload, inputs, all))
        for (size_t i = 0; i < m->values.n; i++)
            m->values.items[i].witness = odb_tensor_ref(all[m->values.items[i].index]);
    for (size_t i = 0; i < graph->n_inputs; i++)
        odb_tensor_unref(inputs[i]);
    for (size_t v = 0; v < graph->n_values; v++)
        odb_tensor_unref(all[v]);
    free(inputs);
    free(all);
}

/* Whether shapes that are declared do not tell all, or a number is taken for a name. */
static bool mangled_is_unsure(const struct mangled_value *value)
{
    const struct odb_type *type = value->type;
    bool unsure = !type->known || (type->kind == ODB_TENSOR && type->rank < 0) ||
                  mangled__is_number(value->loose);
    for (int d = 0; !unsure && type->kind == ODB_TENSOR && d < type->rank; d++)
        unsure = type->dims[d].value < 0;
    return unsure;
}

/* Whether the reference's values may say more than names and declared shapes do. */
static bool mangled_needs_witness(const struct odb_mangled *m)
{
    size_t numbered = 0;
    unsigned long ignored;
    for (size_t i = 0; i < m->files.n; i++) {
        const struct mangled_file *file = &m->files.items[i];
        if (file->value >= 0 ? mangled_is_unsure(&m->values.items[file->value]) : file->left)
            return true;
        numbered += file->value < 0 && mangled__number(file->loose, false, &ignored);
    }
    return numbered >= 2 && 4 * numbered >= m->files.n;
}

struct odb_mangled *odb_mangled_new(const struct odb_mangled_open *open)
{
    struct odb_mangled *m = odb_new(struct odb_mangled);
    mangled_gather(m, open);
    mangled_match(m);
    if (mangled_needs_witness(m)) {
        mangled_settle(m);
        mangled_witness(m, open);
        mangled_match(m);
    }
    mangled_settle(m);
    for (size_t i = 0; i < m->files.n; i++) {
        odb_tensor_unref(m->files.items[i].tensor);
        m->files.items[i].tensor = NULL;
    }
    for (size_t i = 0; i < m->values.n; i++) {
        odb_tensor_unref(m->values.items[i].witness);
        m->values.items[i].witness = NULL;
        m->values.items[i].type = NULL;
    }
    return m;
}

void odb_mangled_free(struct odb_mangled *m)
{
    if (!m)
        return;
    mangled_forget(m);
    for (size_t i = 0; i < m->files.n; i++) {
        free(m->files.items[i].loose);
        free(m->files.items[i].key);
        free(m->names[i]);
    }
    for (size_t i = 0; i < m->values.n; i++) {
        free(m->values.items[i].loose);
        free(m->values.items[i].key);
    }
    for (size_t v = 0; v < m->n_values; v++)
        free(m->called[v]);
    free(m->item_of);
    free(m->used.items);
    free(m->files.items);
    free(m->values.items);
    free(m->names);
    free(m->called);
    free(m);
}

bool odb_mangled_counts(const struct odb_mangled *m)
{
    size_t matched = 0, n = 0;
    for (size_t i = 0; m && i < m->files.n; i++)
        if (mangled__is_number(m->files.items[i].loose)) {
            n++;
            matched += m->files.items[i].value >= 0;
        }
    return m && m->has_numbers && 2 * matched >= n;
}

size_t odb_mangled_find(const struct odb_mangled *m, int value)
{
    return m ? m->item_of[value] : ODB_RECORDING_NONE;
}
