/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/call/call.h"
#include "command/call/call_open.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_value.h"
#include "command/value/names.h"
#include "report/json.h"
#include "run/hooks.h"
#include "tensor/stats.h"

#define TENSOR_BINS 16
#define TENSOR_BAR 40 /* columns of the fullest bin */

static void tensor_histogram(const struct odb_tensor *t, const struct odb_stats *s,
                             const struct odb_progress *progress, struct odb_buf *out)
{
    size_t bins[TENSOR_BINS], most = 1;
    if (s->nan + s->pos_inf + s->neg_inf == s->count ||
        odb_histogram(bins, TENSOR_BINS, s->min, s->max, t, progress, NULL) != ODB_OK)
        return;
    for (int i = 0; i < TENSOR_BINS; i++)
        most = ODB_MAX(most, bins[i]);
    odb_buf_puts(out, "\nhistogram\n");
    for (int i = 0; i < TENSOR_BINS; i++) {
        double lo = s->min + (s->max - s->min) * i / TENSOR_BINS;
        int bar = (int)((double)bins[i] / (double)most * TENSOR_BAR + 0.5);
        odb_buf_printf(out, "  %12.5g  %10zu  ", lo, bins[i]);
        for (int k = 0; k < bar; k++)
            odb_buf_putc(out, '#');
        if (!bar && bins[i])
            odb_buf_putc(out, '.');
        while (out->data[out->len - 1] == ' ')
            out->data[--out->len] = '\0';
        odb_buf_putc(out, '\n');
    }
    odb_buf_printf(out, "  %12.5g\n", s->max);
}

static void tensor_text(const char *name, const struct odb_tensor *t, int indent,
                        const struct odb_progress *progress, struct odb_buf *out)
{
    char type[320];
    struct odb_stats s;
    odb_buf_printf(out, "%*s", indent, "");
    odb_buf_put_shown(out, name);
    odb_buf_printf(out, "  %s\n", odb_call__type_text(t, type, sizeof type));
    for (size_t i = 0; i < t->n_items; i++) {
        snprintf(type, sizeof type, "[%zu]", i);
        tensor_text(type, t->items[i], indent + 2, progress, out);
    }
    if (t->kind != ODB_TENSOR)
        return;
    odb_buf_printf(out, "%*selements  %zu\n%*sbytes     %zu\n", indent, "", t->count, indent, "",
                   t->bytes);
    if (!t->count || odb_stats(&s, t, progress, NULL) != ODB_OK)
        return;
    const struct {
        const char *name;
        double v;
    } rows[] = {{"min", s.min},       {"max", s.max}, {"mean", s.mean},
                {"median", s.median}, {"std", s.std}, {"rms", s.rms}};
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        odb_buf_printf(out, "%*s%-9s %.9g\n", indent, "", rows[i].name, rows[i].v);
    odb_buf_printf(out, "%*szeros     %zu\n", indent, "", s.zeros);
    if (s.nan)
        odb_buf_printf(out, "%*snan       %zu\n", indent, "", s.nan);
    if (s.pos_inf + s.neg_inf)
        odb_buf_printf(out, "%*sinf       %zu, of them negative %zu\n", indent, "",
                       s.pos_inf + s.neg_inf, s.neg_inf);
    if (!indent)
        tensor_histogram(t, &s, progress, out);
}

enum odb_status odb_command__tensor(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_tensor *t;
    struct odb_buf out = ODB_BUF_INIT;
    const char *name = odb_call_arg(call, 1) ? odb_call_arg(call, 1) : call->args[0];
    int value;
    ODB_TRY(odb_call__open_source(call, err));
    ODB_TRY(odb_call__value(call, odb_call_arg(call, 1), &t, err));
    if (call->model && odb_call__find_output(call->model->graph, name, &value, NULL) == ODB_OK)
        name = call->model->graph->values[value].name; /* a node was named */
    struct odb_watch_progress watched;
    const struct odb_progress *progress = odb_watch_progress(&watched, call, "statistics");
    json_t *json = odb_call_has(call, ODB_OPTION_JSON) ? odb_json_tensor(name, t, progress) : NULL;
    if (!json)
        tensor_text(name, t, 0, progress, &out);
    enum odb_status status = odb_hooks_cancelled(&watched.hooks, err);
    odb_watch_end(&watched.watch);
    odb_tensor_unref(t);
    if (status == ODB_OK)
        return odb_call__give(call, json, &out, err);
    json_decref(json);
    odb_buf_dispose(&out);
    return status;
}
