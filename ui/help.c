/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The keys that are bound now, with what the table of commands says of what they do.
 */
#include <stdlib.h>
#include <string.h>

#include "ui/app.h"
#include "ui/text.h"

struct help_view {
    struct ui_text_view text;
    int cols;
    enum ui_view_id asked; /* view whose keys come first */
};

static void help_line(struct help_view *v, enum ui_style style, int indent, const char *text)
{
    ui_text_add(&v->text, v->cols, style, indent, ODB_NO_NODE, ODB_NO_VALUE, text);
}

static void help_columns(struct help_view *v, enum ui_style style, int hang, const char *text)
{
    ui_text_add_hanging(&v->text, v->cols, style, 2, hang, ODB_NO_NODE, text);
}

/* Keys of one view that give the same command stand in one line. */
static void help_binding(struct help_view *v, const struct ui_keymap *keymap, size_t at)
{
    const struct ui_binding *first = &keymap->bindings.items[at];
    struct odb_buf keys = ODB_BUF_INIT, line = ODB_BUF_INIT;
    const struct odb_command *command;
    char name[16];
    for (size_t i = 0; i < keymap->bindings.n; i++) {
        const struct ui_binding *binding = &keymap->bindings.items[i];
        if (strcmp(binding->view, first->view) || strcmp(binding->command, first->command))
            continue;
        if (i < at)
            goto out; /* told already */
        odb_buf_printf(&keys, "%s%s", keys.len ? " " : "",
                       ui_key_name(binding->key, name, sizeof name));
    }
    char *word = odb_xstrndup(first->command, strcspn(first->command, " "));
    bool known = odb_command_find(&command, word, true, NULL) == ODB_OK;
    free(word);
    odb_buf_printf(&line, "%-16s %-24s %s", odb_buf_text(&keys), first->command,
                   known ? command->help : "");
    help_columns(v, UI_STYLE_NORMAL, 16 + 1 + 24 + 1, odb_buf_text(&line));
out:
    odb_buf_dispose(&keys);
    odb_buf_dispose(&line);
}

static void help_keys(struct help_view *v, const char *view)
{
    const struct ui_keymap *keymap = v->text.view.app->keymap;
    bool any = false;
    for (size_t i = 0; i < keymap->bindings.n; i++) {
        if (strcmp(keymap->bindings.items[i].view, view))
            continue;
        if (!any) {
            char *head = strcmp(view, "all") ? odb_xasprintf("keys in the view %s", view)
                                             : odb_xstrdup("keys everywhere");
            help_line(v, UI_STYLE_LABEL, 0, head);
            free(head);
        }
        any = true;
        help_binding(v, keymap, i);
    }
    if (any)
        help_line(v, UI_STYLE_NORMAL, 0, "");
}

static void help_marks(struct help_view *v)
{
    const struct odb_value_report pass = {.verdict = ODB_VERDICT_PASS};
    const bool unicode = v->text.view.app->terminal->unicode;
    help_line(v, UI_STYLE_LABEL, 0, "marks in the list of nodes");
    for (int i = -1; i < ODB_VERDICT_COUNT; i++) {
        struct odb_value_report report = pass;
        if (i >= 0)
            report.verdict = (enum odb_verdict)i;
        enum ui_glyph glyph = ui_mark_glyph(&report, i < 0, false);
        char *line = odb_xasprintf("%-2s %-12s %s", ui_glyph_text(glyph, unicode),
                                   i < 0 ? "culprit" : odb_verdict_name(report.verdict),
                                   i < 0 ? "made an error of its own: the place to look at"
                                         : odb_verdict_help(report.verdict));
        help_columns(v, ui_mark_style(&report, i < 0), 2 + 1 + 12 + 1, line);
        free(line);
    }
    help_line(v, UI_STYLE_NORMAL, 2,
              "A bar is the error relative to the value's rms, from 1e-8 to 1 on a logarithmic "
              "scale; in it stand the noise of honest rounding and the tolerance.");
    help_line(v, UI_STYLE_NORMAL, 0, "");
}

static void help_commands(struct help_view *v)
{
    size_t n;
    const struct odb_command *rows = odb_command_table(&n);
    help_line(v, UI_STYLE_LABEL, 0, "commands at the prompt; `help COMMAND` explains one");
    for (size_t i = 0; i < n; i++) {
        if (!(rows[i].flags & ODB_COMMAND_PROMPT))
            continue;
        char *line = odb_xasprintf("%-20s %s", rows[i].name, rows[i].help);
        help_columns(v, UI_STYLE_NORMAL, 20 + 1, line);
        free(line);
    }
}

static void help_prepare(struct ui_view *view, int cols)
{
    struct help_view *v = (struct help_view *)view;
    const struct ui_app *app = view->app;
    enum ui_view_id asked = app->depth > 1 ? app->stack[app->depth - 2] : UI_VIEW_NODES;
    if (v->cols == cols - 2 && v->asked == asked)
        return;
    v->cols = cols - 2;
    v->asked = asked;
    ui_text_clear(&v->text);
    help_keys(v, app->views[asked]->ops->name); /* of where help was asked for, first */
    for (int id = 0; id < UI_VIEW_COUNT; id++)
        if (id != (int)asked)
            help_keys(v, app->views[id]->ops->name);
    help_keys(v, "all");
    help_marks(v);
    help_commands(v);
}

static void help_title(const struct ui_view *view, struct odb_buf *out)
{
    const char *filter = ui_text_filtered(view);
    if (filter)
        odb_buf_printf(out, "help  filter: %s", filter);
    else
        odb_buf_puts(out, "help: / finds a word, & lists lines that hold it, Esc goes back");
}

const struct ui_view_ops ui_help_view = {
    .name = "help",
    .help = "keys and commands",
    .size = sizeof(struct help_view),
    .wraps = true,
    .close = ui_text_close,
    .title = help_title,
    .prepare = help_prepare,
    .rows = ui_text_rows,
    .draw_row = ui_text_draw_row,
    .matches = ui_text_row_matches,
    .subject = ui_text_subject,
    .filter = ui_text_filter,
    .filtered = ui_text_filtered,
};
