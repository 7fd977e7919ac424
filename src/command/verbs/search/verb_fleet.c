/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/trust_store.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/command_find.h"
#include "command/table/help.h"
#include "command/table/table.h"
#include "command/table/verbs.h"
#include "command/value/spare_model.h"
#include "command/verbs/search/fleet_screen.h"
#include "fleet/fleet_run.h"
#include "fleet/fleet_words.h"
#include "run/hooks.h"
#include "system/file.h"

/* A fleet, and where its run is. */
struct fleet {
    struct odb_command_call *call;
    struct odb_fleet fleet;
    struct odb_fleet_file *file; /* owned; NULL: it is only shown */
    char *path;                  /* owned: of the file */
    bool shown;                  /* the file was given, and nothing is run */
    const char *part;            /* static: of the run, that it is at; NULL: none yet */
    struct odb_search_hooks hooks;
};

/* --- what is asked ---------------------------------------------------------------------------- */

/* Options that are the fleet's own; all others are those of each search. */
static bool fleet_own(enum odb_option_id id)
{
    static const enum odb_option_id own[] = {
        ODB_OPTION_BUDGET, ODB_OPTION_COMPILES,  ODB_OPTION_JOBS,      ODB_OPTION_FLEET,
        ODB_OPTION_SINCE,  ODB_OPTION_GATE,      ODB_OPTION_NO_REPROS, ODB_OPTION_REPORT_FILE,
        ODB_OPTION_HELP,   ODB_OPTION_JSON_FILE, ODB_OPTION_SCREEN};
    for (size_t i = 0; i < ODB_COUNT(own); i++)
        if (own[i] == id)
            return true;
    return false;
}

/* Of these the ones that the command takes. */
static void fleet_words(const struct odb_command_call *call, const char *command,
                        struct odb_argv *words)
{
    const struct odb_command *taker = NULL;
    struct odb_error none = ODB_ERROR_INIT;
    if (odb_command_find(&taker, command, false, &none) != ODB_OK)
        return;
    for (size_t i = 0; i < call->options.n; i++) {
        const struct odb_call_option *option = &call->options.items[i];
        const struct odb_option *row = odb_option_row(option->id);
        if (fleet_own(option->id) || !odb_command_takes(taker, option->id))
            continue;
        char *word = row->type == ODB_ARG_FLAG ? odb_xasprintf("--%s", row->name)
                                               : odb_xasprintf("--%s=%s", row->name, option->value);
        odb_argv_add(words, word);
        free(word);
    }
}

/* DIR is DIR.fleet here; the caller's. */
static char *fleet_path(const struct odb_command_call *call)
{
    const char *given = odb_call_option(call, ODB_OPTION_FLEET);
    char *whole = given ? NULL : realpath(odb_call_arg(call, 0), NULL);
    const char *slash = whole ? strrchr(whole, '/') : NULL;
    char *path =
        given ? odb_xstrdup(given)
              : odb_xasprintf("%s" ODB_FLEET_ENDING, slash && slash[1] ? slash + 1 : "models");
    free(whole);
    return path;
}

/* Another target, or other options, are another fleet. */
static enum odb_status fleet_same(const struct fleet *f, const char *target, const char *options,
                                  const char *root, struct odb_error *err)
{
    const struct odb_fleet *fleet = &f->fleet;
    if (!fleet->target)
        return ODB_OK;
    if (strcmp(fleet->root, root) != 0) {
        odb_fail(err, ODB_E_USAGE, "it is of the models in %s", fleet->root);
        odb_error_at(err, "%s", f->path);
        return odb_error_remedy(err, "take another file: --fleet FILE");
    }
    if (!strcmp(fleet->target, target) && !strcmp(fleet->options, options))
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "it is of %s, with the options %s", fleet->target, fleet->options);
    odb_error_at(err, "%s", f->path);
    return odb_error_remedy(err, "take the same, or another file: --fleet FILE");
}

/* --- running ---------------------------------------------------------------------------------- */

static bool fleet_cancelled(void *payload)
{
    const struct fleet *f = payload;
    return odb_hooks_cancelled(&f->hooks, NULL) == ODB_CANCELLED;
}

static void fleet_progress(void *payload, const char *part, size_t done, size_t total,
                           const char *name)
{
    struct fleet *f = payload;
    if (f->part != part)
        odb_hooks_phase(&f->hooks, part, total);
    f->part = part;
    odb_hooks_progress(&f->hooks, name, -1, done, total);
}

static size_t fleet_workers(const struct odb_command_call *call)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return (size_t)odb_call_int(call, ODB_OPTION_JOBS, ODB_MAX(processors / 2, 1L));
}

/* What the run of --since has found, as `bisect --known` takes it. */
static enum odb_status fleet_known(const struct fleet *f, struct odb_buf *out,
                                   struct odb_error *err)
{
    const char *before = odb_call_option(f->call, ODB_OPTION_SINCE);
    struct odb_fleet was = {0};
    struct odb_fleet_file *file = NULL;
    struct odb_causes causes;
    if (!before)
        return ODB_OK;
    ODB_TRY(odb_fleet_file_open(&file, before, false, &was, err));
    odb_causes_find(&causes, &was);
    odb_causes_put_known(&causes, out);
    odb_causes_dispose(&causes);
    odb_fleet_dispose(&was);
    odb_fleet_file_close(file);
    return ODB_OK;
}

static enum odb_status fleet_go(struct fleet *f, const struct odb_argv *words,
                                struct odb_error *err)
{
    struct odb_watch watch;
    struct odb_buf known = ODB_BUF_INIT;
    struct odb_argv repro_words = {0};
    ODB_TRY(fleet_known(f, &known, err));
    fleet_words(f->call, "minimise", &repro_words);
    char *folder = odb_fleet_folder(f->path);
    f->hooks = odb_watch_begin(&watch, f->call);
    struct odb_fleet_run run = {.fleet = &f->fleet,
                                .file = f->file,
                                .folder = folder,
                                .words = words,
                                .repro_words = &repro_words,
                                .known = odb_buf_text(&known),
                                .workers = fleet_workers(f->call),
                                .repros = !odb_call_has(f->call, ODB_OPTION_NO_REPROS),
                                .budget = &f->call->budget,
                                .cancelled = fleet_cancelled,
                                .progress = fleet_progress,
                                .payload = f};
    enum odb_status status = odb_fleet_run(&run, err);
    odb_watch_end(&watch);
    odb_argv_dispose(&repro_words);
    odb_buf_dispose(&known);
    free(folder);
    return status;
}

/* Goes on with what the file has, and what is there now. The file is made when there are models. */
static enum odb_status fleet_continue(struct fleet *f, struct odb_error *err)
{
    const char *target = odb_call__target(f->call), *models = odb_call_arg(f->call, 0);
    struct odb_argv words = {0};
    struct odb_buf options = ODB_BUF_INIT;
    char *root = realpath(models, NULL);
    fleet_words(f->call, "bisect", &words);
    odb_argv_show(&words, &options);
    enum odb_status status = odb_fleet_add(&f->fleet, models, err);
    odb_fleet_dispose(&f->fleet);
    if (status == ODB_OK)
        status = odb_fleet_file_open(&f->file, f->path, true, &f->fleet, err);
    if (status == ODB_OK)
        status = fleet_same(f, target, odb_buf_text(&options), root, err);
    if (status == ODB_OK)
        status = odb_fleet_add(&f->fleet, models, err);
    if (status == ODB_OK && !f->fleet.target) {
        f->fleet.target = odb_xstrdup(target);
        f->fleet.options = odb_xstrdup(odb_buf_text(&options));
        f->fleet.root = odb_xstrdup(root);
    }
    if (status == ODB_OK)
        status = odb_fleet_file_put(f->file, &f->fleet, err);
    if (status == ODB_OK)
        odb_trust_keep_specs(f->call); /* the screen opens models with them */
    if (status == ODB_OK)
        status = fleet_go(f, &words, err);
    odb_buf_dispose(&options);
    odb_argv_dispose(&words);
    free(root);
    return status;
}

/* --- telling ---------------------------------------------------------------------------------- */

static const struct {
    const char *ending;
    void (*put)(const struct odb_fleet_told *told, struct odb_buf *out);
} fleet_forms[] = {{".md", odb_fleet_put_markdown},
                   {".html", odb_fleet_put_html},
                   {".json", odb_fleet_put_json},
                   {".xml", odb_fleet_put_junit},
                   {".txt", odb_fleet_put_text}};

/* Of the file that -o names; NULL: none has its ending. */
static void (*fleet_form(const char *path))(const struct odb_fleet_told *told, struct odb_buf *out)
{
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; i < ODB_COUNT(fleet_forms); i++)
        if (ending && !strcmp(ending, fleet_forms[i].ending))
            return fleet_forms[i].put;
    return NULL;
}

static enum odb_status fleet_write(const struct odb_fleet_told *told, const char *path,
                                   struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    fleet_form(path)(told, &out);
    enum odb_status status = odb_file_write(path, odb_buf_text(&out), out.len, err);
    odb_buf_dispose(&out);
    return status;
}

/* What is written is none of what is read. */
static enum odb_status fleet_spare(const struct fleet *f, const char *path, struct odb_error *err)
{
    const char *read[] = {f->path, odb_call_arg(f->call, 0),
                          odb_call_option(f->call, ODB_OPTION_SINCE)};
    for (size_t i = 0; i < ODB_COUNT(read); i++)
        if (path && read[i] && odb_call__same_file(read[i], path)) {
            odb_fail(err, ODB_E_USAGE, "%s is read here, and would be lost", path);
            return odb_error_remedy(err, "write to another file");
        }
    return ODB_OK;
}

/* What can be said of the options before a night is over. */
static enum odb_status fleet_check(const struct fleet *f, bool shown, struct odb_error *err)
{
    const struct odb_command_call *call = f->call;
    const char *before = odb_call_option(call, ODB_OPTION_SINCE);
    const char *path = odb_call_option(call, ODB_OPTION_REPORT_FILE);
    const char *json = odb_call_option(call, ODB_OPTION_JSON_FILE);
    if (odb_call_has(call, ODB_OPTION_GATE) && !before)
        return odb_fail(err, ODB_E_USAGE, "--gate needs --since FLEET, to know what is new");
    if (before && !odb_fleet_file_is(before)) {
        odb_fail(err, ODB_E_FORMAT, "it is no file of a fleet");
        return odb_error_at(err, "--since %s", before);
    }
    if (before && odb_call__same_file(before, f->path))
        return odb_fail(err, ODB_E_USAGE, "--since is this run itself: nothing can have changed");
    if (path && !fleet_form(path)) {
        odb_fail(err, ODB_E_USAGE, "-o %s: no form of a fleet has that ending", path);
        return odb_error_remedy(err, "let the name end in .md, .html, .json, .xml (JUnit) or .txt");
    }
    if (shown && odb_call_has(call, ODB_OPTION_TARGET))
        return odb_fail(err, ODB_E_USAGE,
                        "a file alone is shown, and nothing is run: --target is "
                        "for a folder or a list");
    ODB_TRY(fleet_spare(f, path, err));
    return json && strcmp(json, "-") ? fleet_spare(f, json, err) : ODB_OK;
}

/* What the command ends with: 1, or, where nothing fails and not all have a verdict, 4. */
static enum odb_status fleet_outcome(struct odb_command_call *call,
                                     const struct odb_fleet_told *told, struct odb_error *err)
{
    size_t fails = 0, gated = 0, open = 0;
    bool gate = odb_call_has(call, ODB_OPTION_GATE);
    for (int v = 0; v < ODB_FLEET_COUNT; v++) {
        enum odb_fleet_verdict verdict = (enum odb_fleet_verdict)v;
        size_t n = odb_fleet_count(told->fleet, verdict);
        fails += odb_fleet_fails(verdict) ? n : 0;
        open += verdict == ODB_FLEET_QUEUED || (!gate && verdict == ODB_FLEET_NONE) ? n : 0;
    }
    for (int k = 0; told->since && k < ODB_SINCE_COUNT; k++)
        if (odb_since_gates((enum odb_since_kind)k))
            gated += odb_since_count(told->since, (enum odb_since_kind)k);
    call->found = gate ? gated > 0 : fails > 0;
    if (call->found || !open)
        return ODB_OK;
    return odb_fail(err, ODB_E_EXECUTOR, "%zu of %zu models %s", open, told->fleet->models.n,
                    gate ? "were not run" : "have no verdict");
}

static enum odb_status fleet_tell(struct fleet *f, struct odb_error *err)
{
    const char *before = odb_call_option(f->call, ODB_OPTION_SINCE);
    const char *path = odb_call_option(f->call, ODB_OPTION_REPORT_FILE);
    struct odb_fleet was = {0};
    struct odb_fleet_file *file = NULL;
    struct odb_causes causes;
    struct odb_since since = {0};
    struct odb_buf out = ODB_BUF_INIT;
    bool instead;
    if (before)
        ODB_TRY(odb_fleet_file_open(&file, before, false, &was, err));
    odb_causes_find(&causes, &f->fleet);
    if (before)
        odb_since_find(&since, &was, &f->fleet, &causes);
    if (before && was.target && strcmp(was.target, f->fleet.target) != 0)
        odb_call__warn(f->call, "--since is a run on another target");
    char *folder = odb_fleet_folder(f->path);
    const struct odb_fleet_told told = {&f->fleet, &causes, before ? &since : NULL, folder, path};
    enum odb_status status = ODB_OK;
    bool json = odb_call__json(f->call, &instead);
    if (!(json && instead)) {
        struct odb_buf text = ODB_BUF_INIT;
        odb_fleet_put_text(&told, &text);
        if (!f->shown) {
            odb_buf_puts(&text, "\nit is kept in ");
            odb_buf_put_shown(&text, f->path);
            odb_buf_puts(&text, ", which `onnxdbg FILE` shows on a screen\n");
        }
        odb_help_wrap_lines(&out, odb_buf_text(&text));
        odb_call__print(f->call, &out);
        odb_buf_dispose(&text);
    }
    if (json) {
        odb_fleet_put_json(&told, &out);
        status = odb_call__publish(f->call, &out, err);
    }
    if (path && status == ODB_OK)
        status = fleet_write(&told, path, err);
    if (status == ODB_OK)
        status = fleet_outcome(f->call, &told, err);
    free(folder);
    odb_buf_dispose(&out);
    odb_since_dispose(&since);
    odb_causes_dispose(&causes);
    odb_fleet_dispose(&was);
    odb_fleet_file_close(file);
    return status;
}

/* Such a name is that of no list. */
static bool fleet_is_named_so(const char *path)
{
    struct stat info;
    size_t n = strlen(path), ending = strlen(ODB_FLEET_ENDING);
    return n > ending && !strcmp(path + n - ending, ODB_FLEET_ENDING) && stat(path, &info) == 0 &&
           S_ISREG(info.st_mode);
}

/* On a screen: what was run meanwhile is told behind it. */
static enum odb_status fleet_on_screen(struct fleet *f, bool shown, struct odb_error *err)
{
    bool tells = !shown || odb_call_has(f->call, ODB_OPTION_REPORT_FILE) ||
                 odb_call_has(f->call, ODB_OPTION_JSON_FILE);
    ODB_TRY(odb_fleet_screen(f->call, f->path, !shown, err));
    if (!tells)
        return ODB_OK;
    ODB_TRY(odb_fleet_file_open(&f->file, f->path, false, &f->fleet, err));
    return fleet_tell(f, err);
}

enum odb_status odb_command__fleet(struct odb_command_call *call, struct odb_error *err)
{
    struct fleet f = {.call = call};
    struct odb_error why = ODB_ERROR_INIT;
    const char *given = odb_call_arg(call, 0);
    bool shown = odb_fleet_file_is(given);
    enum odb_status told = ODB_OK;
    if (!shown && fleet_is_named_so(given)) {
        odb_fail(err, ODB_E_FORMAT, "it is no file of a fleet");
        return odb_error_at(err, "%s", given);
    }
    f.shown = shown;
    f.path = shown ? odb_xstrdup(given) : fleet_path(call);
    enum odb_status ran = fleet_check(&f, shown, &why);
    if (ran == ODB_OK && odb_call_has(call, ODB_OPTION_SCREEN)) {
        told = fleet_on_screen(&f, shown, err);
        odb_fleet_file_close(f.file);
        odb_fleet_dispose(&f.fleet);
        free(f.path);
        return told;
    }
    if (ran == ODB_OK)
        ran = shown ? odb_fleet_file_open(&f.file, given, false, &f.fleet, &why)
                    : fleet_continue(&f, &why);
    if (ran == ODB_OK && !f.fleet.target)
        ran = odb_fail(&why, ODB_E_FORMAT, "%s holds no run", given);
    if (ran == ODB_OK || ran == ODB_CANCELLED || ran == ODB_SKIPPED) /* what is done is told */
        told = fleet_tell(&f, err);
    bool ended = ran == ODB_OK || ran == ODB_SKIPPED; /* what was left out then is not run */
    if (!ended)
        *err = why;
    odb_fleet_file_close(f.file);
    odb_fleet_dispose(&f.fleet);
    free(f.path);
    return ended ? told : ran;
}
