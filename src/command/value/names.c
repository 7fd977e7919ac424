/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes and values by what the user calls them, and tensors and metadata by what they are called.
 */
#include "command/value/names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>

#include "base/buf.h"
#include "base/error.h"
#include "command/table/nearest.h"
#include "model/model.h"

static enum odb_status call_no_value(const struct odb_graph *graph, const char *text,
                                     struct odb_error *err)
{
    struct odb_buf shown = ODB_BUF_INIT, near_shown = ODB_BUF_INIT;
    const char **names = odb_new_n(const char *, graph->n_values + 1);
    for (size_t i = 0; i < graph->n_values; i++)
        names[i] = graph->values[i].name;
    const char *near = odb_nearest(text, names, graph->n_values);
    odb_buf_put_shown(&shown, text);
    odb_fail(err, ODB_E_USAGE, "the model has no value '%s'", odb_buf_text(&shown));
    if (near && *near) {
        odb_buf_put_shown(&near_shown, near);
        odb_error_remedy(err, "did you mean '%s'?", odb_buf_text(&near_shown));
    } else {
        odb_error_remedy(err, "`onnxdbg nodes` lists the values");
    }
    free(names);
    odb_buf_dispose(&shown);
    odb_buf_dispose(&near_shown);
    return ODB_E_USAGE;
}

enum odb_status odb_call__find_value(const struct odb_graph *graph, const char *text, int *index,
                                     struct odb_error *err)
{
    const struct odb_value *value = *text ? odb_graph_value(graph, text) : NULL;
    char *end = NULL;
    if (value) {
        *index = value->index;
        return ODB_OK;
    }
    if (text[0] == '#' && text[1] >= '0' && text[1] <= '9') {
        unsigned long node = strtoul(text + 1, &end, 10), slot = 0;
        if (end[0] == ':' && end[1] >= '0' && end[1] <= '9')
            slot = strtoul(end + 1, &end, 10);
        if (!*end && node < graph->n_nodes && slot < (unsigned long)graph->nodes[node].n_out &&
            graph->nodes[node].out[slot] != ODB_NO_VALUE) {
            *index = graph->nodes[node].out[slot];
            return ODB_OK;
        }
    }
    return call_no_value(graph, text, err);
}

static bool call_names_node(const struct odb_graph *graph, const char *text)
{
    bool named = false;
    for (size_t n = 0; n < graph->n_nodes && *text && !named; n++)
        named = !strcmp(graph->nodes[n].name, text);
    return named;
}

enum odb_status odb_call__find_output(const struct odb_graph *graph, const char *text, int *index,
                                      struct odb_error *err)
{
    int node;
    if (odb_graph_value(graph, text) || !call_names_node(graph, text))
        return odb_call__find_value(graph, text, index, err);
    ODB_TRY(odb_graph_find_node(graph, text, &node, err));
    for (int o = 0; o < graph->nodes[node].n_out; o++)
        if (graph->nodes[node].out[o] != ODB_NO_VALUE) {
            *index = graph->nodes[node].out[o];
            return ODB_OK;
        }
    return odb_fail(err, ODB_E_USAGE, "node '%s' makes no value", text);
}

enum odb_status odb_call__mark_nodes(const struct odb_graph *graph, const char *text, bool **marks,
                                     size_t *n, struct odb_error *err)
{
    int index;
    struct odb_error why = ODB_ERROR_INIT;
    bool *found = odb_new_n(bool, graph->n_nodes + 1);
    bool named = odb_graph_find_node(graph, text, &index, &why) == ODB_OK;
    *n = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        found[i] = named ? (int)i == index : !strcasecmp(graph->nodes[i].op_type, text);
        *n += found[i];
    }
    *marks = found;
    if (*n)
        return ODB_OK;
    free(found);
    *marks = NULL;
    if (err)
        *err = why;
    return why.code;
}

const char *odb_call__type_text(const struct odb_tensor *t, char *buf, size_t size)
{
    static const char *const kinds[] = {"tensor", "sequence", "optional", "sparse", "map"};
    char shape[256];
    if (t->kind == ODB_TENSOR)
        snprintf(buf, size, "%s %s", odb_dtype_info(t->dtype)->name,
                 odb_shape_text(t, shape, sizeof shape));
    else if (t->kind == ODB_SEQUENCE || t->kind == ODB_OPTIONAL)
        snprintf(buf, size, "%s of %zu", kinds[t->kind], t->n_items);
    else
        snprintf(buf, size, "%s", kinds[t->kind]);
    return buf;
}

void odb_call__put_metadata(const struct odb_metadata *metadata, struct odb_buf *out)
{
    for (size_t i = 0; i < metadata->n; i++) {
        char *value = odb_xstrdup(metadata->items[i][1]), *rest = value;
        odb_buf_puts(out, i ? "            " : "metadata    ");
        odb_buf_put_shown(out, metadata->items[i][0]);
        odb_buf_puts(out, " = ");
        odb_buf_put_shown(out, strsep(&rest, "\n"));
        while (rest) {
            odb_buf_puts(out, "\n              ");
            odb_buf_put_shown(out, strsep(&rest, "\n"));
        }
        odb_buf_putc(out, '\n');
        free(value);
    }
}
