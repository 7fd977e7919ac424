/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "interpret/cpu.h"
#include "report/json.h"

static const char *operators_kind(const struct odb_cpu_operator *op)
{
    return op->without                   ? "none"
           : op->flags & ODB_OP_RANDOM   ? "random"
           : op->flags & ODB_OP_EXACT    ? "exact"
           : op->flags & ODB_OP_BOUNDARY ? "boundary"
           : op->flags                   ? "real"
                                         : "bodies";
}

static bool operators_same(const struct odb_cpu_operator *a, const struct odb_cpu_operator *b)
{
    return !strcmp(a->domain, b->domain) && !strcmp(a->name, b->name);
}

/* Versions of the operator that ops begins with; returns how many rows they are. */
static size_t operators_text(const struct odb_cpu_operator *ops, size_t n, struct odb_buf *out)
{
    size_t i = 1;
    odb_buf_printf(out, "  %-34s %-8s %d", ops->name, operators_kind(ops), ops->since);
    for (; i < n && operators_same(ops, &ops[i]); i++)
        if (ops[i].since != ops[i - 1].since)
            odb_buf_printf(out, ", %d", ops[i].since);
    odb_buf_puts(out, ops->added ? "  (from a library)\n" : "\n");
    if (ops->without)
        odb_buf_printf(out, "    %s\n", ops->without);
    return i;
}

static json_t *operators_json(const struct odb_cpu_operator *op)
{
    json_t *row = json_object();
    json_object_set_new(row, "domain", odb_json_text(op->domain));
    json_object_set_new(row, "op_type", odb_json_text(op->name));
    json_object_set_new(row, "since", json_integer(op->since));
    json_object_set_new(row, "kind", odb_json_text(operators_kind(op)));
    json_object_set_new(row, "library", json_boolean(op->added));
    if (op->without)
        json_object_set_new(row, "without", odb_json_text(op->without));
    return row;
}

enum odb_status odb_command__operators(struct odb_command_call *call, struct odb_error *err)
{
    const char *text = odb_call_arg(call, 0), *domain = NULL;
    bool as_json = odb_call_has(call, ODB_OPTION_JSON);
    struct odb_buf out = ODB_BUF_INIT;
    json_t *list = json_array();
    size_t n, names = 0, without = 0;
    struct odb_cpu_operator *ops = odb_cpu_operators(&n);
    for (size_t i = 0, step; i < n; i += step) {
        step = 1;
        if (text && !strcasestr(ops[i].name, text) && !strcasestr(ops[i].domain, text))
            continue;
        if (as_json) {
            json_array_append_new(list, operators_json(&ops[i]));
            continue;
        }
        if (!domain || strcmp(domain, ops[i].domain))
            odb_buf_printf(&out, "%s%s\n", domain ? "\n" : "",
                           ops[i].domain[0] ? ops[i].domain : "ai.onnx");
        domain = ops[i].domain;
        step = operators_text(&ops[i], n - i, &out);
        names++;
        without += ops[i].without != NULL;
    }
    if (as_json)
        odb_json_put(json_pack("{sO}", "operators", list), &out);
    else
        odb_buf_printf(&out, "%s%zu operator%s", names ? "\n" : "", names, names == 1 ? "" : "s");
    if (!as_json && without)
        odb_buf_printf(&out, ", %zu of them without a kernel", without);
    if (!as_json)
        odb_buf_puts(&out, "\n");
    json_decref(list);
    free(ops);
    odb_call__print(call, &out);
    return ODB_OK;
}
