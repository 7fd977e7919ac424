/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/call/watch.h"
#include "command/console/script.h"
#include "command/table/command.h"
#include "command/table/quoting.h"
#include "command/table/verbs.h"
#include "command/value/expression.h"
#include "command/value/names.h"
#include "command/value/value_pair.h"
#include "compare/inspect/inspect.h"
#include "report/json.h"
#include "report/report.h"
#include "session/session_state.h"
#include "tensor/grid.h"
#include "tensor/tensor_print.h"

#define DIFF_WORST 5 /* elements shown */

/* What is said of values, one behind the other. */
struct diff_said {
    struct odb_buf text;
    json_t *values; /* owned */
};

static void diff_put_stats(const char *side, const struct odb_stats *s, struct odb_buf *out)
{
    odb_buf_printf(out, "    %-11s min %.6g  max %.6g  mean %.6g  std %.6g", side, s->min, s->max,
                   s->mean, s->std);
    if (s->nan)
        odb_buf_printf(out, "  nan %zu", s->nan);
    if (s->pos_inf + s->neg_inf)
        odb_buf_printf(out, "  inf %zu", s->pos_inf + s->neg_inf);
    odb_buf_putc(out, '\n');
}

static void diff_put_worst(const struct odb_inspection *look, const struct odb_tensor *t,
                           struct odb_buf *out)
{
    char index[256];
    for (size_t i = 0; i < look->n_worst && i < DIFF_WORST; i++) {
        const struct odb_worst *worst = &look->worst[i];
        odb_buf_printf(out, "    %-24s reference ",
                       odb_index_text(t, worst->at, index, sizeof index));
        odb_print_number(out, t->dtype, worst->ref);
        odb_buf_puts(out, ", target ");
        odb_print_number(out, t->dtype, worst->target);
        odb_buf_printf(out, ", %.3g\n", worst->diff);
    }
}

static json_t *diff_stats_json(const struct odb_stats *s)
{
    json_t *json = json_object();
    odb_json_set_stats(json, s);
    return json;
}

static json_t *diff_worst_json(const struct odb_inspection *look, const struct odb_tensor *t)
{
    json_t *list = json_array();
    for (size_t i = 0; i < look->n_worst && i < DIFF_WORST; i++) {
        const struct odb_worst *worst = &look->worst[i];
        char index[256];
        json_array_append_new(list, json_pack("{s:s,s:o,s:o,s:o}", "at",
                                              odb_index_text(t, worst->at, index, sizeof index),
                                              "reference", odb_json_real(worst->ref), "target",
                                              odb_json_real(worst->target), "difference",
                                              odb_json_real(worst->diff)));
    }
    return list;
}

static void diff_json(const struct odb_inspection *look, const struct odb_tensor *t, json_t *json)
{
    bool numbers = look->ref_numeric && look->target_numeric, both = numbers && look->comparable;
    const struct {
        const char *name;
        double v;
    } reals[] = {{"max_abs", look->max_abs},
                 {"mean_abs", look->mean_abs},
                 {"max_rel", look->max_rel},
                 {"cosine", look->metrics.cosine}};
    json_object_set_new(json, "comparable", json_boolean(look->comparable));
    json_object_set_new(json, "count", json_integer((json_int_t)look->count));
    json_object_set_new(json, "differing",
                        look->comparable ? json_integer((json_int_t)look->differing) : json_null());
    for (size_t i = 0; i < ODB_COUNT(reals); i++)
        json_object_set_new(json, reals[i].name, both ? odb_json_real(reals[i].v) : json_null());
    json_object_set_new(json, "reference", numbers ? diff_stats_json(&look->ref) : json_null());
    json_object_set_new(json, "target", numbers ? diff_stats_json(&look->target) : json_null());
    json_object_set_new(json, "worst",
                        both && t->kind == ODB_TENSOR ? diff_worst_json(look, t) : json_null());
}

/* How far two tensors are apart. json is what is said of the value. */
static enum odb_status diff_put(struct odb_command_call *call, const struct odb_tensor *reference,
                                const struct odb_tensor *target, struct odb_buf *out, json_t *json,
                                struct odb_error *err)
{
    struct odb_watch_progress watched;
    struct odb_inspection *look = odb_new(struct odb_inspection);
    char type[320];
    enum odb_status status =
        odb_inspect(look, reference, target, odb_watch_progress(&watched, call, "comparing"), err);
    odb_watch_end(&watched.watch);
    bool numbers = look->ref_numeric && look->target_numeric;
    if (status == ODB_OK && !look->comparable) {
        odb_buf_printf(out, "    reference   %s\n",
                       odb_call__type_text(reference, type, sizeof type));
        odb_buf_printf(out, "    target      %s: not comparable\n",
                       odb_call__type_text(target, type, sizeof type));
    } else if (status == ODB_OK) {
        odb_buf_printf(out, "    %zu of %zu differ", look->differing, look->count);
        if (look->differing && numbers)
            odb_buf_printf(out,
                           ", by %.3g at most and %.3g in the mean, %.3g of the value at most; "
                           "cosine %.9g",
                           look->max_abs, look->mean_abs, look->max_rel, look->metrics.cosine);
        odb_buf_putc(out, '\n');
    }
    if (status == ODB_OK && numbers) {
        diff_put_stats("reference", &look->ref, out);
        diff_put_stats("target", &look->target, out);
    }
    if (status == ODB_OK && numbers && look->comparable && reference->kind == ODB_TENSOR)
        diff_put_worst(look, reference, out);
    if (status == ODB_OK)
        diff_json(look, reference, json);
    free(look);
    return status;
}

/* What was said of a value of the main graph. */
static void diff_put_verdict(const struct odb_session *session, int value, struct odb_buf *out,
                             json_t *json)
{
    odb_session_lock(session);
    const struct odb_value_report *report = &session->values[value];
    json_object_set_new(json, "value", odb_report_value_json(session->model->graph, value, report));
    odb_buf_printf(out, "  %s", odb_verdict_name(report->verdict));
    if (report->error.known)
        odb_buf_printf(out, ", error %.3g", report->error.v);
    if (report->noise.known)
        odb_buf_printf(out, ", noise %.3g", report->noise.v);
    odb_session_unlock(session);
}

static enum odb_status diff_missing(const char *name, const struct odb_value_pair *pair,
                                    struct odb_error *err)
{
    odb_fail(err, ODB_E_USAGE, "what %s for %.200s is not known yet",
             pair->side[ODB_SIDE_TARGET] ? "the reference has" : "the target has", name);
    return odb_error_remedy(err, "`run` or `bisect` makes it known");
}

/* One value, or a slice of it (NULL: all). */
static enum odb_status diff_value(struct odb_command_call *call, const char *name,
                                  const char *slice, struct diff_said *said, struct odb_error *err)
{
    struct odb_buf *out = &said->text;
    json_t *json = json_pack("{s:o,s:o,s:n}", "name", odb_json_text(name), "slice",
                             odb_json_text(slice), "value");
    struct odb_value_pair pair;
    struct odb_tensor *part[2] = {NULL, NULL};
    enum odb_status status;
    int index;
    ODB_TRY_OUT(odb_value_pair_find(&pair, call, name, ODB_VALUE_PAIR_TARGET, err));
    const struct odb_tensor *reference = pair.side[ODB_SIDE_REFERENCE];
    const struct odb_tensor *target = pair.side[ODB_SIDE_TARGET];
    if (!reference || !target) {
        status = diff_missing(name, &pair, err);
        goto out;
    }
    odb_buf_put_shown(out, name);
    odb_buf_puts(out, slice ? slice : "");
    if (odb_call__find_value(call->model->graph, name, &index, NULL) == ODB_OK && !slice &&
        !call->session->inside)
        diff_put_verdict(call->session, index, out, json);
    odb_buf_putc(out, '\n');
    if (slice) {
        ODB_TRY_OUT(odb_slice(&part[0], reference, slice, err));
        ODB_TRY_OUT(odb_slice(&part[1], target, slice, err));
    }
    status = diff_put(call, slice ? part[0] : reference, slice ? part[1] : target, out, json, err);
    if (status == ODB_OK)
        json_array_append(said->values, json);
out:
    json_decref(json);
    odb_tensor_unref(part[0]);
    odb_tensor_unref(part[1]);
    odb_value_pair_dispose(&pair);
    return status;
}

/* All that a node makes; those that the target has not are passed over if it has one. */
static enum odb_status diff_node(struct odb_command_call *call, int index, struct diff_said *said,
                                 struct odb_error *err)
{
    const struct odb_graph *graph = call->model->graph;
    const struct odb_node *node = &graph->nodes[index];
    struct odb_error why = ODB_ERROR_INIT;
    char key[512];
    for (int o = 0; o < node->n_out; o++) {
        if (node->out[o] < 0)
            continue;
        odb_value_key(graph, &graph->values[node->out[o]], key, sizeof key);
        if (diff_value(call, key, NULL, said, &why) != ODB_OK && why.code != ODB_E_USAGE)
            break;
    }
    if (why.code == ODB_OK || (said->text.len && why.code == ODB_E_USAGE))
        return ODB_OK;
    *err = why;
    return why.code;
}

/* On a screen the value's own view shows it, with all that it has to say. */
static void diff_open(struct odb_console *console, const char *value, const char *slice)
{
    struct odb_buf line = ODB_BUF_INIT;
    odb_buf_puts(&line, "open ");
    odb_words_quote(&line, value);
    odb_console_push(console, odb_buf_text(&line));
    odb_console_push(console, "mode difference");
    odb_buf_clear(&line);
    odb_buf_printf(&line, "slice %s", slice ? slice : "");
    if (slice)
        odb_console_push(console, odb_buf_text(&line));
    odb_buf_dispose(&line);
}

enum odb_status odb_command__diff(struct odb_command_call *call, struct odb_error *err)
{
    const struct odb_graph *graph = call->model->graph;
    const char *text = call->args[0];
    struct odb_expression e;
    struct diff_said said = {.text = ODB_BUF_INIT, .values = json_array()};
    int node = ODB_NO_NODE, value = ODB_NO_VALUE;
    odb_expression_parse(&e, text, graph);
    bool plain = e.side == ODB_SIDE_BOTH && e.function < 0;
    bool by_value = plain && odb_call__find_value(graph, e.name, &value, NULL) == ODB_OK &&
                    (text[0] != '#' || strchr(text, ':'));
    bool screen = call->console->screen && !call->console->linear && !call->session->inside &&
                  !odb_call_has(call, ODB_OPTION_JSON);
    enum odb_status status = ODB_OK;
    if (!plain)
        status = odb_fail(err, ODB_E_USAGE, "diff takes a value, a slice of one, or a node");
    else if (!by_value && odb_graph_find_node(graph, text, &node, NULL) == ODB_OK && !screen)
        status = diff_node(call, node, &said, err);
    else if (screen && (by_value || node != ODB_NO_NODE))
        diff_open(call->console, e.name, e.slice);
    else
        status = diff_value(call, e.name, e.slice, &said, err);
    odb_expression_dispose(&e);
    if (status == ODB_OK)
        return odb_call__give(call, json_pack("{s:o}", "values", said.values), &said.text, err);
    odb_call__print(call, &said.text);
    json_decref(said.values);
    return status;
}
