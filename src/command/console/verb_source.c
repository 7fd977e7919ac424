/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What was set and put down, as the commands that do it again: the other end of `source`.
 */
#include <string.h>
#include <unistd.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/console/annotating.h"
#include "command/table/command.h"
#include "command/table/quoting.h"
#include "command/table/table.h"
#include "command/table/verbs.h"
#include "command/value/spare_model.h"
#include "session/session_state.h"
#include "system/file.h"

/* A line ends a command, so that what holds an end of line has to stay out of it. */
static void save_put_line(const char *text, struct odb_buf *out)
{
    for (; *text; text++)
        odb_buf_putc(out, *text == '\n' || *text == '\r' ? ' ' : *text);
}

/* A word that is a place also where it looks like something else. */
static void save_put_place(const char *place, struct odb_buf *out)
{
    char style = odb_words__style(place);
    odb_buf_putc(out, ' ');
    odb_words__put(out, place, style || strcmp(place, "if") ? style : '\'', false);
}

/* A value by its name, or by its node where that cannot be typed. */
static void save_put_value(const struct odb_graph *graph, int index, struct odb_buf *out)
{
    const struct odb_value *value = &graph->values[index];
    if (value->name[0] && value->name[0] != '-' && !strpbrk(value->name, "\n\r"))
        save_put_place(value->name, out);
    else
        odb_buf_printf(out, " #%d:%d", value->producer, value->slot);
}

static size_t save_settings(const struct odb_console *console, struct odb_buf *out)
{
    size_t n = 0;
    for (int id = 0; id < ODB_OPTION_COUNT; id++)
        for (size_t i = 0; i < console->settings.n; i++) {
            const struct odb_setting *setting = &console->settings.items[i];
            if ((int)setting->id != id)
                continue;
            if (id == ODB_OPTION_TOL) /* verdicts follow it, where there are some */
                odb_buf_puts(out, "tol ");
            else
                odb_buf_printf(out, "set %s ", odb_option_row(setting->id)->name);
            odb_words_quote(out, setting->value);
            odb_buf_putc(out, '\n');
            n++;
        }
    return n;
}

/* A command that puts it down, and those that make it what it is now; returns how many. */
static size_t save_annotation(const struct odb_graph *graph,
                              const struct odb_annotation *annotation, struct odb_buf *out)
{
    static const char *const verbs[ODB_ANNOTATION_COUNT] = {
        [ODB_ANNOTATION_BREAK] = "break",     [ODB_ANNOTATION_WATCH] = "watch",
        [ODB_ANNOTATION_DISPLAY] = "display", [ODB_ANNOTATION_PIN] = "pin",
        [ODB_ANNOTATION_MARK] = "mark",       [ODB_ANNOTATION_NOTE] = "note"};
    size_t n = 1;
    odb_buf_puts(out, annotation->once ? "tbreak" : verbs[annotation->kind]);
    if (annotation->kind == ODB_ANNOTATION_PIN)
        save_put_value(graph, annotation->value, out);
    else if (annotation->place[0])
        save_put_place(annotation->place, out);
    if (annotation->text[0])
        odb_buf_puts(out, annotation->kind == ODB_ANNOTATION_BREAK ? " if " : " ");
    if (annotation->kind == ODB_ANNOTATION_PIN)
        odb_words_quote(out, annotation->text);
    else
        save_put_line(annotation->text, out);
    odb_buf_putc(out, '\n');
    if (annotation->disabled) {
        odb_buf_printf(out, "disable %s$\n",
                       annotation->kind == ODB_ANNOTATION_DISPLAY ? "display " : "");
        n++;
    }
    if (annotation->ignore > 0) {
        odb_buf_printf(out, "ignore $ %lld\n", (long long)annotation->ignore);
        n++;
    }
    return n;
}

/* Not by its name, which may be another node's as well. */
static size_t save_bookmarks(const struct odb_session *session, struct odb_buf *out)
{
    odb_session_lock(session);
    size_t n = session->bookmarks.n;
    for (size_t i = 0; i < n; i++) {
        const char letter[] = {session->bookmarks.items[i].letter, '\0'};
        odb_buf_puts(out, "bookmark ");
        odb_words_quote(out, letter);
        odb_buf_printf(out, " #%d\n", session->bookmarks.items[i].node);
    }
    odb_session_unlock(session);
    return n;
}

static size_t save_all(const struct odb_command_call *call, struct odb_buf *out)
{
    const struct odb_console *console = call->console;
    struct odb_annotation_list list;
    odb_buf_puts(out, "# onnxdbg: what was set and put down for ");
    odb_buf_put_shown(out, call->model->path ? call->model->path : "a model");
    odb_buf_putc(out, '\n');
    size_t n = save_settings(console, out);
    for (size_t i = 0; i < console->aliases.n; i++, n++)
        odb_buf_printf(out, "alias %s = %s\n", console->aliases.items[i].name,
                       console->aliases.items[i].line);
    odb_annotating_copy(call->session, &list);
    for (size_t i = 0; i < list.items.n; i++)
        n += save_annotation(call->model->graph, &list.items.items[i], out);
    odb_annotation_list_dispose(&list);
    return n + save_bookmarks(call->session, out);
}

enum odb_status odb_command__save(struct odb_command_call *call, struct odb_error *err)
{
    const char *path = call->args[0];
    struct odb_buf text = ODB_BUF_INIT, out = ODB_BUF_INIT;
    if (!odb_call_arg(call, 1) && access(path, F_OK) == 0) {
        odb_fail(err, ODB_E_USAGE, "%s is there already", path);
        return odb_error_remedy(err, "`save FILE over` writes it anew");
    }
    ODB_TRY(odb_call__spare_model(call, path, err));
    size_t n = save_all(call, &text);
    enum odb_status status = odb_file_write(path, text.data, text.len, err);
    odb_buf_dispose(&text);
    ODB_TRY(status);
    odb_buf_printf(&out, "%zu command%s ", n, n == 1 ? " is" : "s are");
    odb_buf_puts(&out, "in ");
    odb_buf_put_shown(&out, path);
    odb_buf_puts(&out, "; `source ");
    odb_buf_put_shown(&out, path);
    odb_buf_puts(&out, "` gives them\n");
    odb_call__print(call, &out);
    return ODB_OK;
}
