/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What leaves the screen: a view's rows go into a file, a pager or an editor, names and commands
 * into the terminal's clipboard.
 */
#include "ui/app/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/call/tensor_file.h"
#include "command/table/command.h"
#include "command/table/table.h"
#include "model/model.h"
#include "session/session.h"
#include "system/file.h"
#include "system/scratch.h"
#include "ui/app/paper.h"
#include "ui/list/jump.h"
#include "ui/terminal/lent.h"
#include "ui/terminal/terminal.h"
#include "ui/view/action.h"
#include "ui/view/app.h"
#include "ui/view/view.h"

#define OUTSIDE_COLUMNS 160 /* of rows that are not made for the width of the screen */

enum odb_status ui_outside_write(const char *path, const char *text, size_t n, bool over,
                                 struct odb_error *err)
{
    if (!over && access(path, F_OK) == 0) {
        odb_fail(err, ODB_E_USAGE, "%s is there already", path);
        return odb_error_remedy(err, "`write %s over` or `>! %s` replaces it", path, path);
    }
    return odb_file_write(path, text, n, err);
}

/* All rows of the view with the keys. */
static enum odb_status outside_text(struct ui_app *app, struct odb_buf *out, struct odb_error *err)
{
    struct ui_view *view = ui_app_view(app);
    int cols =
        view->ops->wraps ? app->terminal->cols : ODB_MAX(app->terminal->cols, OUTSIDE_COLUMNS);
    if (view->ops->prepare)
        view->ops->prepare(view, cols);
    return ui_paper_print(view, cols, out, err);
}

enum odb_status ui_outside_text_file(const char *path, struct odb_error *err)
{
    if (!odb_call__is_tensor_file(path))
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "this is text, and %s would be a file of numbers", path);
    return odb_error_remedy(err, "open a value and `write` it from there, or name a .txt");
}

UI_ACTION(write)
{
    struct odb_buf text = ODB_BUF_INIT;
    const char *path = odb_call_arg(call, 0);
    if (!path) {
        odb_fail(err, ODB_E_USAGE, "write needs the name of a file");
        return odb_error_remedy(err, "type `:write `");
    }
    ODB_TRY(ui_outside_text_file(path, err));
    enum odb_status status = outside_text(app, &text, err);
    if (status == ODB_OK)
        status = ui_outside_write(path, odb_buf_text(&text), text.len,
                                  odb_call_arg(call, 1) != NULL, err);
    if (status == ODB_OK)
        ui_app_say(app, UI_STYLE_MESSAGE, "the view %s is in %s", ui_app_view(app)->name, path);
    odb_buf_dispose(&text);
    return status;
}

/* --- programs --------------------------------------------------------------------------------- */

static bool outside_put(int fd, const char *text, size_t size)
{
    for (ssize_t n; size > 0; text += n, size -= (size_t)n) {
        n = write(fd, text, size);
        if (n < 0 && errno == EINTR)
            n = 0;
        if (n < 0)
            return false;
    }
    return true;
}

/* A file of the view's text that has no name. */
static int outside_file(const struct odb_buf *text, struct odb_error *err)
{
    int fd = memfd_create("view", MFD_CLOEXEC);
    if (fd < 0 || !outside_put(fd, odb_buf_text(text), text->len)) {
        odb_fail(err, ODB_E_IO, "the view cannot be handed over: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

UI_ACTION(page)
{
    struct odb_buf text = ODB_BUF_INIT;
    const char *pager = getenv("PAGER");
    char *words = ui_action_words(call);
    int fd = -1;
    enum odb_status status = outside_text(app, &text, err);
    if (status == ODB_OK && (fd = outside_file(&text, err)) < 0)
        status = ODB_E_IO;
    if (status == ODB_OK)
        status = ui_lent_run(app->terminal,
                             *words            ? words
                             : pager && *pager ? pager
                                               : "less",
                             fd, NULL, err);
    if (fd >= 0)
        close(fd);
    odb_buf_dispose(&text);
    free(words);
    return status;
}

static const char *outside_editor(void)
{
    static const char *const variables[] = {"VISUAL", "EDITOR"};
    for (size_t i = 0; i < ODB_COUNT(variables); i++)
        if (getenv(variables[i]) && *getenv(variables[i]))
            return getenv(variables[i]);
    return "vi";
}

UI_ACTION(edit)
{
    struct odb_buf text = ODB_BUF_INIT, line = ODB_BUF_INIT;
    const char *path = odb_call_arg(call, 0);
    char *folder = NULL, *made = NULL;
    enum odb_status status = ODB_OK;
    if (!path && (status = odb_scratch_new(&folder, err)) == ODB_OK) {
        path = made = odb_xasprintf("%s/%s.txt", folder, ui_app_view(app)->name);
        status = outside_text(app, &text, err);
        if (status == ODB_OK)
            status = ui_outside_write(made, odb_buf_text(&text), text.len, true, err);
    }
    if (status == ODB_OK) {
        odb_buf_printf(&line, "%s ", outside_editor());
        ui_lent_quote(&line, path);
        status = ui_lent_run(app->terminal, odb_buf_text(&line), -1, NULL, err);
    }
    if (folder)
        odb_scratch_remove(folder);
    free(folder);
    free(made);
    odb_buf_dispose(&text);
    odb_buf_dispose(&line);
    return status;
}

/* --- clipboard -------------------------------------------------------------------------------- */

/* The command line that makes the same search. */
static void outside_command(const struct ui_app *app, struct odb_buf *out)
{
    odb_buf_puts(out, "onnxdbg bisect ");
    ui_lent_quote(out, odb_session_model(app->session)->path);
    odb_buf_puts(out, " --target ");
    ui_lent_quote(out, odb_console_target(app->console));
    for (size_t i = 0; i < app->console->settings.n; i++) {
        const struct odb_setting *setting = &app->console->settings.items[i];
        if (setting->id == ODB_OPTION_TARGET)
            continue;
        odb_buf_printf(out, " --%s ", odb_option_row(setting->id)->name);
        ui_lent_quote(out, setting->value);
    }
}

static void outside_copied(struct ui_app *app, const char *what, struct odb_buf *out)
{
    const struct odb_graph *graph = odb_session_model(app->session)->graph;
    struct ui_subject subject = ui_app_subject(app);
    int node = subject.node != ODB_NO_NODE ? subject.node : ui_app_node(app), value;
    if (!strcmp(what, "command")) {
        outside_command(app, out);
    } else if (!strcmp(what, "row")) {
        ui_paper_print_row(ui_app_view(app), ODB_MAX(app->terminal->cols, OUTSIDE_COLUMNS), out);
        while (out->len && strchr("\n", out->data[out->len - 1]))
            out->data[--out->len] = '\0';
    } else if (!strcmp(what, "value") && subject.value != ODB_NO_VALUE) {
        odb_buf_puts(out, graph->values[subject.value].name);
    } else if (!strcmp(what, "node") && node != ODB_NO_NODE) {
        if (*graph->nodes[node].name)
            odb_buf_puts(out, graph->nodes[node].name);
        else
            odb_buf_printf(out, "#%d", node);
    } else if (!strcmp(what, "error") && node != ODB_NO_NODE) {
        odb_session_lock(app->session);
        const struct odb_value_report *report = odb_session_node(app->session, node, &value);
        if (report->error.known)
            odb_buf_printf(out, "%.9g", report->error.v);
        odb_session_unlock(app->session);
    }
}

UI_ACTION(copy)
{
    const char *what = odb_call_arg(call, 0) ? odb_call_arg(call, 0) : "row";
    struct odb_buf text = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    if (!strcmp(what, "view"))
        status = outside_text(app, &text, err);
    else
        outside_copied(app, what, &text);
    if (status != ODB_OK) {
        odb_buf_dispose(&text);
        return status;
    }
    if (!text.len) {
        status = odb_fail(err, ODB_E_USAGE, "there is no %s here to be copied", what);
    } else if (!ui_terminal_copy(app->terminal, odb_buf_text(&text))) {
        status = odb_fail(err, ODB_E_USAGE, "this terminal has no clipboard for programs");
        odb_error_remedy(err, "it would be: %.200s", odb_buf_text(&text));
    } else if (!strcmp(what, "view")) {
        ui_app_say(app, UI_STYLE_MESSAGE, "all %zu bytes of the view %s are in the clipboard",
                   text.len, ui_app_view(app)->name);
    } else {
        ui_app_say(app, UI_STYLE_MESSAGE, "to the clipboard: %s", odb_buf_text(&text));
    }
    odb_buf_dispose(&text);
    return status;
}
