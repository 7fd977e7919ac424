/* SPDX-License-Identifier: MIT */
#include "executor/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "executor/value_layout.h"
#include "system/file.h"

#define GROUPS_MOST ((size_t)64 << 20) /* bytes of a file */
#define GROUPS_PIECE ((size_t)64 << 10)
#define GROUPS_SCHEMA 1
#define GROUPS_UNKNOWN 10 /* names that are told one by one */
#define GROUPS_SHOWN 12   /* nodes of a kernel in a line */

/* --- the text --------------------------------------------------------------------------------- */

static enum odb_status groups_check_kernel(const json_t *kernel, size_t i, struct odb_error *err)
{
    const json_t *nodes = json_object_get(kernel, "nodes"), *name, *made_by;
    size_t k;
    json_t *node;
    name = json_object_get(kernel, "kernel");
    made_by = json_object_get(kernel, "pass");
    if (!json_is_string(name))
        return odb_fail(err, ODB_E_FORMAT, "groups[%zu] has no text \"kernel\"", i);
    if (!json_is_array(nodes))
        return odb_fail(err, ODB_E_FORMAT, "groups[%zu] has no list \"nodes\"", i);
    if (made_by && !json_is_null(made_by) && !json_is_string(made_by))
        return odb_fail(err, ODB_E_FORMAT, "groups[%zu]: \"pass\" is no text", i);
    json_array_foreach(nodes, k, node)
        if (!json_is_string(node))
            return odb_fail(err, ODB_E_FORMAT, "groups[%zu]: nodes[%zu] is no text", i, k);
    return ODB_OK;
}

static enum odb_status groups_check(json_t *json, struct odb_error *err)
{
    json_t *groups = json_object_get(json, "groups"), *values = json_object_get(json, "values"),
           *item;
    const char *name;
    size_t i;
    if (json_integer_value(json_object_get(json, "schema")) != GROUPS_SCHEMA)
        return odb_fail(err, ODB_E_FORMAT, "its \"schema\" is not %d", GROUPS_SCHEMA);
    if (groups && !json_is_array(groups))
        return odb_fail(err, ODB_E_FORMAT, "\"groups\" is no list");
    if (values && !json_is_object(values))
        return odb_fail(err, ODB_E_FORMAT, "\"values\" is no object");
    json_array_foreach(groups, i, item)
        ODB_TRY(groups_check_kernel(item, i, err));
    json_object_foreach(values, name, item) {
        struct odb_layout layout;
        enum odb_status status = odb_layout_read(&layout, item, err);
        odb_layout_dispose(&layout);
        if (status != ODB_OK && err)
            odb_error_at(err, "value '%.200s'", name);
        ODB_TRY(status);
    }
    return ODB_OK;
}

enum odb_status odb_groups_parse(json_t **out, const char *text, size_t size, struct odb_error *err)
{
    json_error_t where;
    enum odb_status status = ODB_OK;
    *out = json_loadb(text, size, 0, &where);
    if (!*out)
        status = odb_fail(err, ODB_E_FORMAT, "line %d: %s", where.line, where.text);
    else
        status = groups_check(*out, err);
    if (status != ODB_OK) {
        json_decref(*out);
        *out = NULL;
        if (err)
            odb_error_at(err, ODB_GROUPS_FILE);
    }
    return status;
}

/* The bytes of a file that a program has written, and may be anything. */
static enum odb_status groups_read_bytes(struct odb_buf *out, const char *path,
                                         struct odb_error *err)
{
    FILE *file;
    size_t got = 1;
    if (!odb_file_is_regular(path))
        return odb_fail(err, ODB_E_IO, "it is no regular file");
    ODB_TRY(odb_file_open(&file, path, err));
    while (got && out->len <= GROUPS_MOST) {
        got = fread(odb_buf_reserve(out, GROUPS_PIECE), 1, GROUPS_PIECE, file);
        out->len += got;
    }
    bool failed = ferror(file);
    fclose(file);
    if (failed || out->len > GROUPS_MOST)
        return odb_fail(err, ODB_E_IO, failed ? "it cannot be read" : "it is longer than 64 MiB");
    return ODB_OK;
}

enum odb_status odb_groups_load(json_t **out, const char *path, struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    *out = NULL;
    if (access(path, F_OK) < 0)
        return ODB_OK;
    enum odb_status status = groups_read_bytes(&bytes, path, err);
    if (status == ODB_OK)
        status = odb_groups_parse(out, odb_buf_text(&bytes), bytes.len, err);
    else
        odb_error_at(err, ODB_GROUPS_FILE);
    odb_buf_dispose(&bytes);
    return status;
}

void odb_groups_number(json_t *json, const int *node_index, size_t n)
{
    size_t i, k;
    json_t *kernel, *node;
    json_array_foreach(json_object_get(json, "groups"), i, kernel) {
        json_t *nodes = json_object_get(kernel, "nodes");
        json_array_foreach(nodes, k, node) {
            const char *text = json_string_value(node);
            char *end;
            if (text[0] != '#')
                continue;
            unsigned long at = strtoul(text + 1, &end, 10);
            if (end > text + 1 && !*end && at < n)
                json_array_set_new(nodes, k, json_sprintf("#%d", node_index[at]));
            else
                json_array_set_new(nodes, k, json_sprintf("%s of the file", text));
        }
    }
}

void odb_account_groups(struct odb_account *account, const char *text, size_t size)
{
    json_t *had = NULL, *more = NULL;
    if (account->groups.len &&
        odb_groups_parse(&had, account->groups.data, account->groups.len, NULL) == ODB_OK &&
        odb_groups_parse(&more, text, size, NULL) == ODB_OK) {
        if (!json_object_get(had, "groups"))
            json_object_set_new(had, "groups", json_array());
        if (!json_object_get(had, "values"))
            json_object_set_new(had, "values", json_object());
        json_array_extend(json_object_get(had, "groups"), json_object_get(more, "groups"));
        json_object_update(json_object_get(had, "values"), json_object_get(more, "values"));
        char *both = json_dumps(had, JSON_COMPACT);
        odb_buf_clear(&account->groups);
        odb_buf_puts(&account->groups, both);
        free(both);
    } else if (!account->groups.len) {
        odb_buf_add(&account->groups, text, size);
    }
    json_decref(had);
    json_decref(more);
}

/* --- against a graph -------------------------------------------------------------------------- */

static int groups_ascending(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* A name that is not in the graph; the first of them are told, the others counted. */
static void groups_unknown(struct odb_groups *out, size_t *unknown, const char *whose,
                           const char *name, const char *what)
{
    if ((*unknown)++ >= GROUPS_UNKNOWN)
        return;
    struct odb_buf line = ODB_BUF_INIT;
    odb_buf_puts(&line, "groups.json: ");
    odb_buf_put_shown(&line, whose);
    odb_buf_puts(&line, " names '");
    odb_buf_put_shown(&line, name);
    odb_buf_printf(&line, "', which is no %s of the model", what);
    odb_push(&out->warnings, odb_xstrdup(odb_buf_text(&line)));
    odb_buf_dispose(&line);
}

static void groups_read_kernel(struct odb_groups *out, const json_t *json,
                               const struct odb_graph *graph, size_t *unknown)
{
    const json_t *nodes = json_object_get(json, "nodes");
    const char *name = json_string_value(json_object_get(json, "kernel"));
    const char *made_by = json_string_value(json_object_get(json, "pass"));
    struct odb_kernel kernel = {.name = odb_xstrdup(name),
                                .made_by = made_by ? odb_xstrdup(made_by) : NULL,
                                .nodes = odb_new_n(int, json_array_size(nodes) + 1)};
    char *whose = odb_xasprintf("kernel %s", name);
    size_t i, kept = 0;
    json_t *node;
    json_array_foreach(nodes, i, node) {
        int index;
        const char *text = json_string_value(node);
        if (odb_graph_find_node(graph, text, &index, NULL) == ODB_OK)
            kernel.nodes[kernel.n++] = index;
        else
            groups_unknown(out, unknown, whose, text, "node and no result of one");
    }
    free(whose);
    if (kernel.n)
        qsort(kernel.nodes, kernel.n, sizeof *kernel.nodes, groups_ascending);
    for (i = 0; i < kernel.n; i++) /* names and outputs may say the same node twice */
        if (!kept || kernel.nodes[kept - 1] != kernel.nodes[i])
            kernel.nodes[kept++] = kernel.nodes[i];
    kernel.n = kept;
    for (i = 0; i < kernel.n; i++)
        if (out->kernel_of[kernel.nodes[i]] < 0)
            out->kernel_of[kernel.nodes[i]] = (int)out->kernels.n;
    odb_push(&out->kernels, kernel);
}

static enum odb_status groups_read_value(struct odb_groups *out, const char *name,
                                         const json_t *json, const struct odb_graph *graph,
                                         size_t *unknown, struct odb_error *err)
{
    const struct odb_value *value = odb_graph_value(graph, name);
    struct odb_layout layout;
    struct odb_buf how = ODB_BUF_INIT;
    if (!value) {
        groups_unknown(out, unknown, "values", name, "value");
        return ODB_OK;
    }
    enum odb_status status = odb_layout_read(&layout, json, err);
    if (status == ODB_OK)
        odb_layout_put(&layout, &how);
    if (how.len)
        odb_push(&out->values,
                 (struct odb_kept_value){value->index, odb_xstrdup(odb_buf_text(&how))});
    odb_buf_dispose(&how);
    odb_layout_dispose(&layout);
    return status;
}

enum odb_status odb_groups_read(struct odb_groups *out, const char *text,
                                const struct odb_graph *graph, struct odb_error *err)
{
    json_t *json = NULL, *item;
    const char *name;
    size_t i, unknown = 0;
    *out = (struct odb_groups){.n_nodes = graph->n_nodes,
                               .kernel_of = odb_new_n(int, graph->n_nodes + 1)};
    for (i = 0; i < graph->n_nodes; i++)
        out->kernel_of[i] = -1;
    if (!*text)
        return ODB_OK;
    enum odb_status status = odb_groups_parse(&json, text, strlen(text), err);
    ODB_TRY(status);
    json_array_foreach(json_object_get(json, "groups"), i, item)
        groups_read_kernel(out, item, graph, &unknown);
    json_object_foreach(json_object_get(json, "values"), name, item) {
        status = groups_read_value(out, name, item, graph, &unknown, err);
        if (status != ODB_OK)
            break;
    }
    if (unknown > GROUPS_UNKNOWN)
        odb_push(&out->warnings,
                 odb_xasprintf("groups.json: %zu more names that are not of the model",
                               unknown - GROUPS_UNKNOWN));
    json_decref(json);
    return status;
}

static void groups_dispose_kernel(struct odb_kernel *kernel)
{
    free(kernel->name);
    free(kernel->made_by);
    free(kernel->nodes);
}

void odb_groups_dispose(struct odb_groups *groups)
{
    for (size_t i = 0; i < groups->kernels.n; i++)
        groups_dispose_kernel(&groups->kernels.items[i]);
    for (size_t i = 0; i < groups->values.n; i++)
        free(groups->values.items[i].how);
    for (size_t i = 0; i < groups->warnings.n; i++)
        free(groups->warnings.items[i]);
    free(groups->kernels.items);
    free(groups->values.items);
    free(groups->warnings.items);
    free(groups->kernel_of);
    *groups = (struct odb_groups){0};
}

const struct odb_kernel *odb_groups_kernel(const struct odb_groups *groups, int node)
{
    bool known = node >= 0 && (size_t)node < groups->n_nodes && groups->kernel_of[node] >= 0;
    return known ? &groups->kernels.items[groups->kernel_of[node]] : NULL;
}

/* --- one kernel ------------------------------------------------------------------------------- */

struct odb_kernel *odb_kernel_copy(const struct odb_kernel *kernel)
{
    if (!kernel)
        return NULL;
    struct odb_kernel *copy = odb_new(struct odb_kernel);
    copy->name = odb_xstrdup(kernel->name);
    copy->made_by = kernel->made_by ? odb_xstrdup(kernel->made_by) : NULL;
    copy->nodes = odb_new_n(int, kernel->n + 1);
    copy->n = kernel->n;
    for (size_t i = 0; i < kernel->n; i++)
        copy->nodes[i] = kernel->nodes[i];
    return copy;
}

void odb_kernel_free(struct odb_kernel *kernel)
{
    if (kernel)
        groups_dispose_kernel(kernel);
    free(kernel);
}

void odb_kernel_put(const struct odb_kernel *kernel, const struct odb_graph *graph,
                    struct odb_buf *out)
{
    odb_buf_put_shown(out, kernel->name);
    for (size_t i = 0; i < kernel->n && i < GROUPS_SHOWN; i++) {
        odb_buf_printf(out, "%s#%d ", i ? ", " : ": ", kernel->nodes[i]);
        odb_buf_put_shown(out, graph->nodes[kernel->nodes[i]].op_type);
    }
    if (kernel->n > GROUPS_SHOWN)
        odb_buf_printf(out, " and %zu more", kernel->n - GROUPS_SHOWN);
}
