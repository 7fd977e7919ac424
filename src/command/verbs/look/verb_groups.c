/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/help.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "executor/groups.h"
#include "probe/run_values.h"
#include "report/json.h"
#include "session/session.h"

/* What a target said, read against the model. */
struct groups_told {
    struct odb_groups groups;
    const struct odb_graph *graph; /* borrowed */
    const char *spec, *about;      /* borrowed */
};

static const char *groups_value_name(const struct groups_told *told, size_t i, char key[512])
{
    const struct odb_value *value = &told->graph->values[told->groups.values.items[i].value];
    return odb_value_key(told->graph, value, key, 512);
}

static void groups_put_nodes(const struct odb_graph *graph, const int *nodes, size_t n,
                             struct odb_buf *out)
{
    struct odb_buf line = ODB_BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        odb_buf_puts(&line, i ? ", " : "");
        odb_node_put(graph, nodes[i], &line);
    }
    odb_buf_puts(out, "      ");
    odb_help_wrap(out, odb_buf_text(&line), 6, 6);
    odb_buf_dispose(&line);
}

/* Nodes that are in no kernel: as [*n], the caller's. */
static int *groups_none(const struct groups_told *told, size_t *n)
{
    int *none = odb_new_n(int, told->graph->n_nodes + 1);
    *n = 0;
    for (size_t i = 0; i < told->graph->n_nodes; i++)
        if (!odb_groups_kernel(&told->groups, (int)i))
            none[(*n)++] = (int)i;
    return none;
}

static void groups_put_kernels(const struct groups_told *told, struct odb_buf *out)
{
    for (size_t i = 0; i < told->groups.kernels.n; i++) {
        const struct odb_kernel *kernel = &told->groups.kernels.items[i];
        odb_buf_puts(out, "  ");
        odb_buf_put_shown(out, kernel->name);
        if (kernel->made_by) {
            odb_buf_puts(out, ", by ");
            odb_buf_put_shown(out, kernel->made_by);
        }
        odb_buf_puts(out, ": ");
        if (kernel->n == 1)
            odb_node_put(told->graph, kernel->nodes[0], out);
        else
            odb_buf_printf(out, "%zu nodes", kernel->n);
        odb_buf_putc(out, '\n');
        if (kernel->n > 1)
            groups_put_nodes(told->graph, kernel->nodes, kernel->n, out);
    }
}

static void groups_text(const struct groups_told *told, struct odb_buf *out)
{
    const struct odb_groups *groups = &told->groups;
    size_t n_none;
    int *none = groups_none(told, &n_none);
    char key[512];
    odb_buf_put_shown(out, told->about);
    odb_buf_printf(out, ": %zu node%s in %zu kernel%s\n", told->graph->n_nodes - n_none,
                   told->graph->n_nodes - n_none == 1 ? "" : "s", groups->kernels.n,
                   groups->kernels.n == 1 ? "" : "s");
    groups_put_kernels(told, out);
    if (n_none) {
        odb_buf_printf(out, "  in none that is named: %zu node%s\n", n_none,
                       n_none == 1 ? "" : "s");
        groups_put_nodes(told->graph, none, n_none, out);
    }
    for (size_t i = 0; i < groups->values.n; i++) {
        odb_buf_puts(out, "  held otherwise: ");
        odb_buf_put_shown(out, groups_value_name(told, i, key));
        odb_buf_printf(out, ", %s\n", groups->values.items[i].how);
    }
    for (size_t i = 0; i < groups->warnings.n; i++)
        odb_buf_printf(out, "warning: %s\n", groups->warnings.items[i]);
    free(none);
}

static json_t *groups_json_nodes(const struct odb_graph *graph, const int *nodes, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct odb_node *node = &graph->nodes[nodes[i]];
        json_array_append_new(list,
                              odb_json_node(nodes[i], node->name, node->op_type, node->domain));
    }
    return list;
}

static void groups_json(const struct odb_command_call *call, const struct groups_told *told,
                        struct odb_buf *out)
{
    const struct odb_groups *groups = &told->groups;
    json_t *kernels = json_array(), *values = json_array();
    size_t n_none;
    int *none = groups_none(told, &n_none);
    char key[512];
    for (size_t i = 0; i < groups->kernels.n; i++) {
        const struct odb_kernel *kernel = &groups->kernels.items[i];
        json_array_append_new(kernels,
                              json_pack("{s:o,s:o,s:o}", "kernel", odb_json_text(kernel->name),
                                        "pass", odb_json_text(kernel->made_by), "nodes",
                                        groups_json_nodes(told->graph, kernel->nodes, kernel->n)));
    }
    for (size_t i = 0; i < groups->values.n; i++)
        json_array_append_new(
            values, json_pack("{s:o,s:o}", "name", odb_json_text(groups_value_name(told, i, key)),
                              "held", odb_json_text(groups->values.items[i].how)));
    json_t *json =
        json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "target", odb_json_text(told->spec), "description",
                  odb_json_text(told->about), "groups", kernels, "ungrouped",
                  groups_json_nodes(told->graph, none, n_none), "values", values, "warnings",
                  odb_json_texts(groups->warnings.items, groups->warnings.n));
    odb_call__json_chosen(call, json);
    odb_json_put(json, out);
    free(none);
}

static enum odb_status groups_print(struct odb_command_call *call,
                                    const struct odb_account *account, const char *about,
                                    struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    struct groups_told told = {
        .graph = call->model->graph, .spec = odb_call__target(call), .about = about};
    if (!account->groups.len) {
        odb_fail(err, ODB_UNSUPPORTED, "'%s' does not say what it made of the model", told.spec);
        return odb_error_remedy(err, "a program says it in groups.json: onnxdbg-targets(7)");
    }
    enum odb_status status =
        odb_groups_read(&told.groups, odb_buf_text(&account->groups), told.graph, err);
    if (status == ODB_OK && odb_call_has(call, ODB_OPTION_JSON))
        groups_json(call, &told, &out);
    else if (status == ODB_OK)
        groups_text(&told, &out);
    odb_groups_dispose(&told.groups);
    odb_call__print(call, &out);
    return status;
}

enum odb_status odb_command__groups(struct odb_command_call *call, struct odb_error *err)
{
    const struct odb_feeds *feeds;
    struct odb_account account = ODB_ACCOUNT_INIT;
    struct odb_watch watch;
    char about[300] = "";
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_run_account(call->model, feeds, odb_call__target(call), &account,
                                             about, sizeof about, &hooks, err);
    odb_watch_end(&watch);
    if (status == ODB_OK)
        status = groups_print(call, &account, about, err);
    if (status == ODB_OK)
        odb_session_account_take(call->session, &account);
    odb_account_dispose(&account);
    return status;
}
