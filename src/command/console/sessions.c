/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/console/sessions.h"

#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/spare_model.h"
#include "report/json.h"
#include "session/session_state.h"
#include "session/store.h"
#include "session/files/autosave.h"
#include "session/files/stored.h"

void odb_sessions_put_outcome(bool ended, enum odb_outcome outcome, size_t culprits, int first,
                              const char *kind, struct odb_buf *out)
{
    odb_buf_puts(out, odb_outcome_name(outcome));
    if (!ended)
        odb_buf_puts(out, ", has not ended");
    else if (outcome == ODB_OUTCOME_DIVERGES && culprits)
        odb_buf_printf(out, ", #%d %s%s", first, kind ? kind : "",
                       culprits > 1 ? ", and more" : "");
}

void odb_sessions_put_result(const struct odb_stored *stored, struct odb_buf *out)
{
    if (stored->schema > ODB_STORE_SCHEMA)
        odb_buf_puts(out, "of a newer onnxdbg, which alone can read it");
    else if (!stored->searches)
        odb_buf_puts(out, "nothing searched yet");
    else
        odb_sessions_put_outcome(stored->ended != NULL, stored->outcome, stored->culprits,
                                 stored->first, stored->kind, out);
}

bool odb_sessions_is_open(const struct odb_console *console, const char *path)
{
    const struct odb_store *store = console->session->store;
    return store && odb_call__same_file(odb_store_path(store), path);
}

static json_t *sessions_json(const struct odb_stored *s)
{
    struct odb_buf result = ODB_BUF_INIT;
    odb_sessions_put_result(s, &result);
    json_t *json = json_pack(
        "{s:o,s:o,s:o,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "path", odb_json_text(s->path),
        "model", odb_json_text(s->model), "sha256", odb_json_text(s->sha256), "nodes",
        (json_int_t)s->nodes, "searches", (json_int_t)s->searches, "command",
        odb_json_text(s->command), "target", odb_json_text(s->target), "reference",
        odb_json_text(s->reference), "tolerance", odb_json_text(s->tolerance), "began",
        odb_json_text(s->began), "ended", odb_json_text(s->ended), "diverges",
        s->outcome == ODB_OUTCOME_NONE ? json_null()
                                       : json_boolean(s->outcome == ODB_OUTCOME_DIVERGES),
        "verdict", s->searches ? json_string(odb_outcome_name(s->outcome)) : json_null(), "result",
        odb_json_text(odb_buf_text(&result)));
    odb_buf_dispose(&result);
    return json;
}

/* "demo.onnx" of a path: --json has the folders. */
static const char *sessions_base(const char *path)
{
    const char *base = path ? strrchr(path, '/') : NULL;
    return base ? base + 1 : path ? path : "";
}

static void sessions_put(struct odb_command_call *call, const struct odb_stored *s, int width,
                         struct odb_buf *out)
{
    struct odb_buf line = ODB_BUF_INIT, shown = ODB_BUF_INIT;
    odb_buf_printf(&line, "%-*s  ", width, s->path);
    odb_buf_printf(&line, "%-16.16s  ", s->began ? s->began : "");
    odb_buf_printf(&line, "%-20.60s  ", sessions_base(s->model));
    odb_sessions_put_result(s, &line);
    if (s->target && *s->target)
        odb_buf_printf(&line, "  %s", s->target);
    odb_buf_put_shown(&shown, odb_buf_text(&line));
    odb_call__put_line(out, odb_buf_text(&shown), call->width);
    odb_buf_dispose(&line);
    odb_buf_dispose(&shown);
}

static enum odb_status sessions_all(struct odb_command_call *call, char **paths, size_t n,
                                    json_t *json, struct odb_buf *out, struct odb_error *err)
{
    int width = 4;
    for (size_t i = 0; i < n; i++)
        width = ODB_MAX(width, (int)ODB_MIN(strlen(paths[i]), (size_t)40));
    for (size_t i = 0; i < n; i++) {
        struct odb_stored stored;
        enum odb_status status = odb_stored_read(&stored, paths[i], err);
        if (status == ODB_OK && json)
            json_array_append_new(json, sessions_json(&stored));
        else if (status == ODB_OK)
            sessions_put(call, &stored, width, out);
        odb_stored_dispose(&stored);
        ODB_TRY(status);
    }
    return ODB_OK;
}

/* Those that were saved by themselves, below the user's state folder; what cannot be read of them
 * is left out. Returns how many there are. */
static size_t sessions_own(struct odb_command_call *call, json_t *json, struct odb_buf *out)
{
    char **paths;
    size_t n, listed = 0;
    odb_autosave_list(&paths, &n);
    for (size_t i = 0; i < n; i++) {
        struct odb_stored stored;
        if (odb_stored_read(&stored, paths[i], NULL) == ODB_OK) {
            if (!listed++ && !json)
                odb_buf_puts(out, "saved by itself\n");
            if (json)
                json_array_append_new(json, sessions_json(&stored));
            else
                sessions_put(call, &stored, 0, out);
        }
        odb_stored_dispose(&stored);
    }
    odb_stored_list_free(paths, n);
    return listed;
}

static enum odb_status sessions_delete(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    const char *path = odb_call_option(call, ODB_OPTION_DELETE);
    if (call->console && odb_sessions_is_open(call->console, path)) {
        odb_fail(err, ODB_E_USAGE, "%s is the session that is open here", path);
        return odb_error_remedy(err, "open another one first, or delete it after leaving");
    }
    ODB_TRY(odb_autosave_delete(path, err));
    odb_buf_puts(&out, "deleted ");
    odb_buf_put_shown(&out, path);
    odb_buf_putc(&out, '\n');
    odb_call__print(call, &out);
    return ODB_OK;
}

enum odb_status odb_command__sessions(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    json_t *json = odb_call_has(call, ODB_OPTION_JSON) ? json_array() : NULL;
    const char *folder = odb_call_arg(call, 0);
    char **paths = NULL;
    size_t n = 0;
    if (odb_call_has(call, ODB_OPTION_DELETE)) {
        json_decref(json);
        return sessions_delete(call, err);
    }
    enum odb_status status = odb_stored_list(&paths, &n, folder ? folder : ".", err);
    size_t here = n;
    if (status == ODB_OK)
        status = sessions_all(call, paths, n, json, &out, err);
    if (status == ODB_OK && !folder)
        n += sessions_own(call, json, &out);
    if (status == ODB_OK && json)
        odb_json_put(json_pack("{sO}", "sessions", json), &out);
    else if (status == ODB_OK && !n)
        odb_buf_printf(&out, "there are no sessions in %s; --session FILE begins one\n",
                       folder ? folder : "this folder");
    if (status == ODB_OK)
        odb_call__print(call, &out);
    odb_buf_dispose(&out);
    json_decref(json);
    odb_stored_list_free(paths, here);
    return status;
}
