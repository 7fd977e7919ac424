/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bisect/refusal/breaks.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/tensor_file.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/value/names.h"
#include "command/verbs/walk/verb_step.h"
#include "probe/run_values.h"
#include "report/json.h"
#include "system/file.h"
#include "tensor/stats.h"

static void run_line(const char *name, const struct odb_tensor *t, struct odb_buf *out)
{
    char type[320];
    struct odb_stats s;
    odb_buf_put_shown(out, name);
    odb_buf_printf(out, "  %s", odb_call__type_text(t, type, sizeof type));
    if (t->kind == ODB_TENSOR && t->count && odb_stats(&s, t, NULL, NULL) == ODB_OK) {
        if (odb_stats_finite(&s))
            odb_buf_printf(out, "  min %.6g  max %.6g  mean %.6g", s.min, s.max, s.mean);
        else
            odb_buf_puts(out, "  no finite number");
        if (s.nan)
            odb_buf_printf(out, "  nan %zu", s.nan);
        if (s.pos_inf + s.neg_inf)
            odb_buf_printf(out, "  inf %zu", s.pos_inf + s.neg_inf);
    }
    odb_buf_putc(out, '\n');
}

/* What is printed: text, or an object. */
struct run_said {
    struct odb_buf text;
    json_t *json; /* owned; NULL: text is printed */
};

static void run_put_json(const char *name, const struct odb_tensor *t, json_t *json)
{
    json_array_append_new(json_object_get(json, "outputs"), odb_json_tensor(name, t, NULL));
}

/* DIR/NAME.npy, or .pb for what NumPy cannot hold. */
static enum odb_status run_save(struct odb_command_call *call, const char *dir, const char *name,
                                const struct odb_tensor *t, struct run_said *said,
                                struct odb_error *err)
{
    const json_t *outputs = json_object_get(said->json, "outputs");
    size_t n = json_array_size(outputs);
    bool numpy =
        t->kind == ODB_TENSOR && (t->dtype == ODB_STRING || odb_dtype_info(t->dtype)->descr);
    char *file = odb_file_name(name);
    char *path = odb_xasprintf("%s/%s%s", dir, file, numpy ? ".npy" : ".pb");
    enum odb_status status = odb_call__save(call, t, name, path, err);
    if (n) {
        json_object_set_new(json_array_get(outputs, n - 1), "file", odb_json_text(path));
    } else {
        odb_buf_puts(&said->text, "  ");
        odb_buf_put_shown(&said->text, path);
        odb_buf_putc(&said->text, '\n');
    }
    free(path);
    free(file);
    return status;
}

/* What is shown: the outputs, and with --checkpoints those, under the names that they go by. */
struct run_what {
    int *values;  /* owned */
    char **names; /* owned, each */
    size_t n;
};

static void run_choose(const struct odb_command_call *call, struct run_what *what)
{
    const struct odb_graph *graph = call->model->graph;
    *what = (struct run_what){odb_new_n(int, graph->n_outputs + graph->n_nodes + 1),
                              odb_new_n(char *, graph->n_outputs + graph->n_nodes + 1), 0};
    for (size_t i = 0; i < graph->n_outputs; i++) {
        what->values[what->n] = graph->outputs[i];
        what->names[what->n++] = odb_xstrdup(graph->values[graph->outputs[i]].name);
    }
    for (size_t n = 0; odb_call_has(call, ODB_OPTION_CHECKPOINTS) && n < graph->n_nodes; n++) {
        char *name = odb_node_checkpoint(&graph->nodes[n]);
        int value = name ? graph->nodes[n].out[0] : ODB_NO_VALUE;
        if (value < 0 || !graph->values[value].name[0]) {
            free(name);
            continue;
        }
        what->values[what->n] = value;
        what->names[what->n++] = name;
    }
}

static void run_what_dispose(struct run_what *what)
{
    for (size_t i = 0; i < what->n; i++)
        free(what->names[i]);
    free(what->names);
    free(what->values);
}

static void run_put_refused(const char *spec, const char *why, const char *plain,
                            struct run_said *said)
{
    struct odb_buf *out = &said->text;
    if (said->json) {
        json_object_set_new(
            said->json, "refused",
            json_pack("{s:o,s:o}", "why", odb_json_text(why), "runs_on", odb_json_text(plain)));
        return;
    }
    odb_buf_put_shown(out, spec);
    odb_buf_puts(out, " refuses it: ");
    odb_buf_put_shown(out, why);
    odb_buf_putc(out, '\n');
    odb_buf_put_shown(out, plain);
    odb_buf_puts(out, " runs it, and so does the reference: the model is valid, for all that lint "
                      "finds\n");
}

/* Where the target breaks what it refuses, that is told as what was found. */
static enum odb_status run_refused(struct odb_command_call *call, const struct odb_feeds *feeds,
                                   const struct run_what *what,
                                   const struct odb_search_hooks *hooks, enum odb_status had,
                                   struct run_said *said, struct odb_error *err)
{
    const char *spec = odb_call__runner(call);
    struct odb_error why = *err;
    char *plain;
    ODB_TRY(odb_refusal_breaks_run(&plain, call->model, feeds, spec, what->values, what->n, &why,
                                   hooks, err));
    if (!plain)
        return had;
    run_put_refused(spec, why.what, plain, said);
    free(plain);
    call->found = true;
    return ODB_OK;
}

static void run_put_about(const char *about, struct run_said *said)
{
    if (said->json)
        json_object_set_new(said->json, "description", odb_json_text(about));
    if (!about[0] || said->json)
        return;
    odb_buf_puts(&said->text, "run by ");
    odb_buf_put_shown(&said->text, about);
    odb_buf_putc(&said->text, '\n');
}

static enum odb_status run_once(struct odb_command_call *call, const struct odb_feeds *feeds,
                                const struct run_what *what, struct odb_tensor **outputs,
                                struct run_said *said, struct odb_error *err)
{
    const char *dir = odb_call_option(call, ODB_OPTION_SAVE_DIR);
    char about[300] = "";
    struct odb_watch watch;
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    enum odb_status status =
        odb_run_values(call->model, feeds, odb_call__runner(call), what->values, what->n, outputs,
                       about, sizeof about, &hooks, err);
    bool ran = status == ODB_OK;
    if (!ran && status != ODB_CANCELLED)
        status = run_refused(call, feeds, what, &hooks, status, said, err);
    odb_watch_end(&watch);
    for (size_t i = 0; i < what->n && ran && status == ODB_OK; i++) {
        if (said->json)
            run_put_json(what->names[i], outputs[i], said->json);
        else
            run_line(what->names[i], outputs[i], &said->text);
        if (dir)
            status = run_save(call, dir, what->names[i], outputs[i], said, err);
    }
    if (ran && status == ODB_OK)
        run_put_about(about, said);
    return status;
}

static json_t *run_json(struct odb_command_call *call)
{
    return json_pack("{s:o,s:o,s:n,s:n,s:[]}", "target", odb_json_text(odb_call__runner(call)),
                     "chosen", odb_json_text(odb_call__chosen(call)), "description", "refused",
                     "outputs");
}

enum odb_status odb_command__run(struct odb_command_call *call, struct odb_error *err)
{
    const char *dir = odb_call_option(call, ODB_OPTION_SAVE_DIR);
    const struct odb_feeds *feeds;
    struct run_said said = {.text = ODB_BUF_INIT};
    if (call->console)
        return odb_call__walk(call, ODB_GO_RUN, NULL, err);
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    if (dir && mkdir(dir, 0777) != 0 && errno != EEXIST) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        return odb_error_at(err, "%s", dir);
    }
    struct run_what what;
    run_choose(call, &what);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, what.n + 1);
    if (odb_call_has(call, ODB_OPTION_JSON))
        said.json = run_json(call);
    enum odb_status status = run_once(call, feeds, &what, outputs, &said, err);
    if (said.json && status == ODB_OK)
        odb_json_put(said.json, &said.text);
    else
        json_decref(said.json);
    odb_call__print(call, &said.text);
    for (size_t i = 0; i < what.n; i++)
        odb_tensor_unref(outputs[i]);
    free(outputs);
    run_what_dispose(&what);
    return status;
}
