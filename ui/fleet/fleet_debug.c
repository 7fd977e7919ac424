/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/fleet/fleet_debug.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "command/call/console.h"
#include "command/call/trust_store.h"
#include "command/table/command.h"
#include "command/table/quoting.h"
#include "command/table/table.h"
#include "fleet/fleet_file.h"
#include "fleet/fleet_run.h"
#include "session/files/stored.h"
#include "system/file.h"
#include "system/scratch.h"
#include "ui/terminal/lent.h"
#include "ui/view/app.h"

/* --- the command line ------------------------------------------------------------------------- */

/* Of the options of a file, those that are a session's to say as well. */
static bool debug_follows(const char *word)
{
    const char *is = strchr(word, '=');
    size_t n = is ? (size_t)(is - word) : strlen(word);
    for (int id = 0; id < ODB_OPTION_COUNT; id++) {
        const struct odb_option *row = odb_option_row((enum odb_option_id)id);
        if (row->setting == ODB_SETTING_NONE || strlen(row->name) + 2 != n ||
            strncmp(word, "--", 2) != 0 || strncmp(word + 2, row->name, n - 2) != 0)
            continue;
        bool loads = id == ODB_OPTION_KERNELS || id == ODB_OPTION_FOLLOW_LINKS;
        return is && !loads && odb_trust_follows((enum odb_option_id)id, is + 1);
    }
    return false;
}

/* The options of all searches. What is not followed is left out; *target: that is one of those. */
static void debug_put_options(const struct ui_app *app, const struct odb_fleet *fleet, bool *target,
                              struct odb_buf *line)
{
    char **words;
    int n;
    *target = false;
    if (odb_words_split(&words, &n, fleet->options, NULL) != ODB_OK)
        return;
    for (int i = 0; i < n; i++) {
        if (!app->console->fleet->given && !debug_follows(words[i])) {
            *target |= !strncmp(words[i], "--target=", 9);
            continue;
        }
        odb_buf_putc(line, ' ');
        ui_lent_quote(line, words[i]);
    }
    free(words);
}

static enum odb_status debug_refuse(const struct odb_fleet *fleet, struct odb_error *err)
{
    odb_fail(err, ODB_E_USAGE, "%s is not followed only because the file says so", fleet->target);
    return odb_error_remedy(err, "give it yourself: onnxdbg fleet MODELS --target SPEC --screen");
}

/* Paths are as the run was given them: from here, or from where the folder of the models is. One
 * that begins as an option does is none. The caller's. */
static char *debug_path(const struct odb_fleet *fleet, const char *path)
{
    const char *slash = strrchr(fleet->root, '/');
    char *here = odb_xasprintf("%s%s", *path == '-' ? "./" : "", path);
    if (access(here, F_OK) == 0 || *path == '/' || !slash)
        return here;
    char *other = odb_xasprintf("%s%.*s/%s", fleet->root[0] == '-' ? "./" : "",
                                (int)(slash - fleet->root), fleet->root, path);
    bool there = access(other, F_OK) == 0;
    free(there ? here : other);
    return there ? other : here;
}

/* --- the debugger ----------------------------------------------------------------------------- */

/* Its last words are an error where it did not come to open anything. */
static enum odb_status debug_run(struct ui_app *app, struct odb_buf *words, struct odb_error *err)
{
    char *folder = NULL, *said, *self = odb_file_self(), *last;
    struct odb_buf line = ODB_BUF_INIT;
    int ended = 0;
    enum odb_status status = odb_scratch_new(&folder, err);
    if (status == ODB_OK) {
        said = odb_xasprintf("%s/said", folder);
        odb_buf_puts(&line, "exec ");
        ui_lent_quote(&line, self);
        odb_buf_puts(&line, odb_buf_text(words));
        odb_buf_puts(&line, " 2>");
        ui_lent_quote(&line, said);
        status = ui_lent_run(app->terminal, odb_buf_text(&line), -1, &ended, err);
        last = odb_fleet_last_line(said);
        if (status == ODB_OK && ended > 1 && ended != 130)
            status =
                odb_fail(err, ODB_E_IO, "%s", last ? last : "the debugger ended, and said no why");
        free(last);
        free(said);
        odb_scratch_remove(folder);
    }
    odb_buf_dispose(&line);
    free(self);
    free(folder);
    return status;
}

/* --- what was found --------------------------------------------------------------------------- */

/* Whether a search was made as those of the fleet were. */
static bool debug_same(const json_t *report, const struct odb_fleet *fleet,
                       const struct odb_fleet_model *model)
{
    static const char *const keys[] = {"target", "reference", "tolerance"};
    const char *target = json_string_value(json_object_get(report, "target"));
    if (!model->report)
        return target && !strcmp(target, fleet->target);
    for (size_t i = 0; i < ODB_COUNT(keys); i++)
        if (!json_equal(json_object_get(report, keys[i]), json_object_get(model->report, keys[i])))
            return false;
    return true;
}

/* A row of the file as it is now: a run may have written meanwhile. */
static enum odb_status debug_put(const char *path, const struct odb_fleet_model *old,
                                 json_t *report, struct odb_error *err)
{
    struct odb_fleet fleet = {0};
    struct odb_fleet_file *file = NULL;
    enum odb_status status = odb_fleet_file_open(&file, path, false, &fleet, err);
    struct odb_fleet_model *model = status == ODB_OK ? odb_fleet_find(&fleet, old->name) : NULL;
    if (model && model->bytes == old->bytes && model->changed == old->changed) {
        const char *failure = json_string_value(json_object_get(report, "failure"));
        const char *verdict = json_string_value(json_object_get(report, "verdict"));
        bool none = verdict && !strcmp(verdict, "none");
        odb_fleet_trim(report);
        model->verdict = odb_fleet_judge(report, none ? 4 : 0);
        model->stage = json_is_true(json_object_get(report, "complete")) ? ODB_FLEET_SEARCHED
                                                                         : ODB_FLEET_ASKED;
        json_decref(model->report);
        model->report = json_incref(report);
        free(model->said);
        model->said = failure ? odb_xstrdup(failure) : NULL;
        status = odb_fleet_file_put_model(file, model, err);
    }
    odb_fleet_file_close(file);
    odb_fleet_dispose(&fleet);
    return status;
}

/* text: the newest report of the session, before: what it was; either may be NULL. */
static enum odb_status debug_take(struct ui_app *app, const struct odb_fleet *fleet,
                                  const struct odb_fleet_model *model, const char *before,
                                  const char *text, struct odb_error *err)
{
    json_t *report = text && (!before || strcmp(before, text)) ? json_loads(text, 0, NULL) : NULL;
    enum odb_status status = ODB_OK;
    if (!report)
        return ODB_OK;
    if (!debug_same(report, fleet, model)) {
        ui_app_say(app, UI_STYLE_MESSAGE, "%s was searched otherwise than the fleet; its row stays",
                   odb_fleet_brief(fleet, model->name));
    } else {
        status = debug_put(app->console->fleet->path, model, report, err);
        if (status == ODB_OK)
            ui_app_say(app, UI_STYLE_MESSAGE, "%s: %s", odb_fleet_brief(fleet, model->name),
                       odb_fleet_word(odb_fleet_judge(report, 0)));
    }
    json_decref(report);
    return status;
}

/* NULL: there is none. The caller's. */
static char *debug_report(const char *session)
{
    char *text = NULL;
    return odb_stored_report(&text, session, NULL) == ODB_OK ? text : NULL;
}

enum odb_status ui_fleet_debug(struct ui_app *app, const struct odb_fleet *fleet,
                               const struct odb_fleet_model *model, bool searches,
                               struct odb_error *err)
{
    char *folder = odb_fleet_folder(app->console->fleet->path);
    char *session = odb_fleet_session(folder, fleet, model);
    char *path = debug_path(fleet, model->path), *before = debug_report(session);
    struct odb_buf line = ODB_BUF_INIT;
    bool untrusted = false;
    enum odb_status status = ODB_OK;
    odb_buf_putc(&line, ' ');
    ui_lent_quote(&line, path);
    odb_buf_puts(&line, " --session ");
    ui_lent_quote(&line, session);
    debug_put_options(app, fleet, &untrusted, &line);
    if (searches)
        odb_buf_puts(&line, " -x bisect");
    if (access(folder, W_OK) != 0 && !before) { /* nothing can be kept beside the file */
        odb_buf_clear(&line);
        odb_buf_putc(&line, ' ');
        ui_lent_quote(&line, path);
        debug_put_options(app, fleet, &untrusted, &line);
        odb_buf_puts(&line, searches ? " -x bisect" : "");
    }
    if (untrusted && searches)
        status = debug_refuse(fleet, err);
    if (status == ODB_OK)
        status = debug_run(app, &line, err);
    char *text = debug_report(session);
    if (status == ODB_OK)
        status = debug_take(app, fleet, model, before, text, err);
    odb_buf_dispose(&line);
    free(text);
    free(before);
    free(path);
    free(session);
    free(folder);
    return status;
}

enum odb_status ui_fleet_debug_repro(struct ui_app *app, const struct odb_fleet *fleet,
                                     const char *folder, struct odb_error *err)
{
    struct odb_buf line = ODB_BUF_INIT;
    char *model = odb_xasprintf("%s/model.onnx", folder), *path = debug_path(fleet, model);
    bool untrusted;
    odb_buf_putc(&line, ' ');
    ui_lent_quote(&line, path);
    debug_put_options(app, fleet, &untrusted, &line);
    enum odb_status status = debug_run(app, &line, err);
    odb_buf_dispose(&line);
    free(path);
    free(model);
    return status;
}
