/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the marks mean; then what one can do where help was asked for, by what one wants: keys with
 * the commands that they give there now, keys of other views, and at last the commands that no key
 * gives. Enter presses a key, or explains a command.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "command/table/command_find.h"
#include "command/table/help.h"
#include "command/table/table.h"
#include "model/model.h"
#include "ui/list/text_view.h"
#include "ui/terminal/key.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/keymap.h"
#include "ui/view/mark.h"
#include "ui/view/view.h"

/* What Enter does in lines of the view. */
struct help_entry {
    size_t line, n; /* lines from here on */
    char *run;      /* owned: the command of a key; NULL: explains */
    const struct odb_command *command;
};

struct help_view {
    struct ui_text_view text;
    ODB_VEC(struct help_entry) entries;
    const char *pending; /* borrowed: heading of the rows that are to come; NULL: it stands there */
    int cols;
    enum ui_view_id asked; /* view that help was asked from */
};

/* Commands of the screen by what they are for, as others are by the table. */
static const struct help_group {
    const char *title, *names;
} help_groups[] = {
    {"find the fault", " next-culprit previous-culprit next-divergence previous-divergence tour "},
    {"look", " open view back focus zoom depth slice mode plane section worst index format measure "
             "find part channels order "},
    {"go places",
     " up down centre page-up page-down half-page-up half-page-down row top bottom left right goto "
     "producer consumer jump-back jump-forward search next-match previous-match bookmark recall "
     "strip "},
    {"choose what is listed", " filter sort fold by undo-view redo-view columns "},
    {"run", " "},
    {"stop", " drop switch "},
    {"put down", " session "},
    {"take it with you", " write page edit copy "},
    {"lines", " prompt "},
    {"the screen", " theme mouse divide cancel redraw suspend close quit "},
};

static const char *help_group_of(const struct odb_command *command)
{
    char *name = odb_xasprintf(" %s ", command->name);
    const char *title = command->screen != ODB_SCREEN_NONE ? "the screen" : command->group;
    for (size_t i = 0; i < ODB_COUNT(help_groups); i++)
        if (strstr(help_groups[i].names, name))
            title = help_groups[i].title;
    free(name);
    return !strcmp(title, "write") ? "take it with you" : title;
}

static void help_line(struct help_view *v, enum ui_style style, int indent, const char *text)
{
    ui_text_add(&v->text, v->cols, style, indent, ODB_NO_NODE, ODB_NO_VALUE, text);
}

static void help_columns(struct help_view *v, enum ui_style style, int hang, const char *text)
{
    ui_text_add_hanging(&v->text, v->cols, style, 2, hang, ODB_NO_NODE, text);
}

static const struct odb_command *help_command(const char *line)
{
    const struct odb_command *command = NULL;
    char *word = odb_xstrndup(line, strcspn(line, " "));
    bool known = odb_command_find(&command, word, true, NULL) == ODB_OK;
    free(word);
    return known ? command : NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

#define HELP_KEYS 13
#define HELP_COMMAND 22

/* What a key does in its own words; else what its command does, of a view what it shows. */
static char *help_words(const struct help_view *v, const char *line, const char *own,
                        const struct odb_command *command)
{
    const struct ui_app *app = v->text.view.app;
    const char *arg = strchr(line, ' ');
    for (int id = 0; arg && !own && command->screen == ODB_SCREEN_SHOW && id < UI_VIEW_COUNT; id++)
        if (!strcmp(app->views[id]->name, arg + 1))
            return odb_xstrdup(app->views[id]->ops->help);
    return odb_xstrdup(own ? own : command->help);
}

static void help_row(struct help_view *v, const char *keys, const char *line, const char *own,
                     const struct odb_command *command, bool runs)
{
    if (v->pending)
        help_line(v, UI_STYLE_LABEL, 0, v->pending);
    v->pending = NULL;
    struct help_entry entry = {
        .line = v->text.lines.n, .run = runs ? odb_xstrdup(line) : NULL, .command = command};
    char *words = help_words(v, line, own, command);
    char *text = odb_xasprintf("%-*s %-*s %s", HELP_KEYS, keys, HELP_COMMAND, line, words);
    help_columns(v, *keys ? UI_STYLE_NORMAL : UI_STYLE_DIM, HELP_KEYS + HELP_COMMAND + 2, text);
    entry.n = v->text.lines.n - entry.line;
    odb_push(&v->entries, entry);
    free(text);
    free(words);
}

/* Whether the key gives that command in the view; where it is the view's own, in its own right. */
static bool help_works(const struct ui_keymap *keymap, const struct ui_binding *binding,
                       const char *view)
{
    return ui_keymap_find(keymap, view, binding->key) == binding;
}

/* The keys of a view for the same command stand in one row: the first of them brings it. own: only
 * those that the view has for itself. False: an earlier one has told of it. */
static bool help_keys(const struct ui_keymap *keymap, size_t at, const char *view, bool own,
                      struct odb_buf *keys)
{
    const struct ui_binding *first = &keymap->bindings.items[at];
    char name[16];
    for (size_t i = 0; i < keymap->bindings.n; i++) {
        const struct ui_binding *binding = &keymap->bindings.items[i];
        if (strcmp(binding->command, first->command) || (own && strcmp(binding->view, view)) ||
            !help_works(keymap, binding, view))
            continue;
        if (i < at)
            return false;
        odb_buf_printf(keys, "%s%s", keys->len ? " " : "",
                       ui_key_name(binding->key, name, sizeof name));
    }
    return keys->len > 0;
}

static void help_bound(struct help_view *v, size_t at, const char *view, bool own)
{
    const struct ui_keymap *keymap = v->text.view.app->keymap;
    const struct ui_binding *binding = &keymap->bindings.items[at];
    struct odb_buf keys = ODB_BUF_INIT;
    bool here = !own && !strstr(binding->command, "{key}");
    if (help_works(keymap, binding, view) && help_keys(keymap, at, view, own, &keys))
        help_row(v, odb_buf_text(&keys), binding->command, binding->words,
                 help_command(binding->command), here);
    odb_buf_dispose(&keys);
}

/* Keys for what is of this kind, in their order: first those that the view has for itself. */
static void help_kind_keys(struct help_view *v, const char *title, const char *view)
{
    const struct ui_keymap *keymap = v->text.view.app->keymap;
    for (int own = 1; own >= 0; own--)
        for (size_t i = 0; i < keymap->bindings.n; i++) {
            const struct ui_binding *binding = &keymap->bindings.items[i];
            const struct odb_command *command = help_command(binding->command);
            if (own == !strcmp(binding->view, view) && command &&
                !strcmp(help_group_of(command), title))
                help_bound(v, i, view, false);
        }
}

/* Commands of this kind that no key gives in the view. */
static void help_kind_commands(struct help_view *v, const char *title, const char *view)
{
    const struct ui_keymap *keymap = v->text.view.app->keymap;
    size_t n;
    const struct odb_command *rows = odb_command_table(&n);
    for (size_t i = 0; i < n; i++) {
        const struct ui_app *app = v->text.view.app;
        bool bound = (app->takes && !app->takes(&rows[i])) ||
                     !(rows[i].flags & ODB_COMMAND_PROMPT) ||
                     strcmp(help_group_of(&rows[i]), title);
        for (size_t k = 0; k < keymap->bindings.n && !bound; k++)
            bound = help_command(keymap->bindings.items[k].command) == &rows[i] &&
                    help_works(keymap, &keymap->bindings.items[k], view);
        if (bound)
            continue;
        help_row(v, "", rows[i].name, NULL, &rows[i], false);
    }
}

static void help_kind(struct help_view *v, const char *title, const char *view, bool keys)
{
    size_t lines = v->text.lines.n;
    char *head = odb_xasprintf("%s%s", title, keys ? "" : ": commands without a key");
    v->pending = head;
    if (keys)
        help_kind_keys(v, title, view);
    else
        help_kind_commands(v, title, view);
    v->pending = NULL;
    free(head);
    if (lines != v->text.lines.n)
        help_line(v, UI_STYLE_NORMAL, 0, "");
}

static void help_elsewhere(struct help_view *v, const char *view)
{
    const struct ui_keymap *keymap = v->text.view.app->keymap;
    char *head = odb_xasprintf("keys in the view %s", view);
    size_t lines = v->text.lines.n;
    v->pending = head;
    for (size_t i = 0; i < keymap->bindings.n; i++)
        if (!strcmp(keymap->bindings.items[i].view, view))
            help_bound(v, i, view, true);
    v->pending = NULL;
    if (lines != v->text.lines.n)
        help_line(v, UI_STYLE_NORMAL, 0, "");
    free(head);
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
    help_line(v, UI_STYLE_NORMAL, 2,
              "A number before a key: 5j goes down by five, 3) to the third culprit from here, 42G "
              "to #42, 10s runs ten nodes.");
    help_line(v, UI_STYLE_NORMAL, 0, "");
}

static void help_clear(struct help_view *v)
{
    for (size_t i = 0; i < v->entries.n; i++)
        free(v->entries.items[i].run);
    v->entries.n = 0;
    ui_text_clear(&v->text);
}

static void help_make(struct help_view *v)
{
    const struct ui_app *app = v->text.view.app;
    const char *here = app->views[v->asked]->name;
    size_t n;
    const struct odb_command *rows = odb_command_table(&n);
    help_clear(v);
    if (app->root == UI_VIEW_NODES)
        help_marks(v);
    for (size_t g = 0; g < ODB_COUNT(help_groups); g++)
        help_kind(v, help_groups[g].title, here, true);
    for (int id = 0; id < UI_VIEW_COUNT; id++)
        if (id != (int)v->asked && ui_app_has(app, (enum ui_view_id)id))
            help_elsewhere(v, app->views[id]->name);
    for (size_t g = 0; g < ODB_COUNT(help_groups); g++)
        help_kind(v, help_groups[g].title, here, false);
    for (size_t i = 0; i < n; i++) { /* groups that only the table has */
        const char *title = help_group_of(&rows[i]);
        bool told = false;
        for (size_t g = 0; g < ODB_COUNT(help_groups); g++)
            told |= !strcmp(help_groups[g].title, title);
        for (size_t k = 0; k < i; k++)
            told |= !strcmp(help_group_of(&rows[k]), title);
        if (!told)
            help_kind(v, title, here, false);
    }
}

/* --- the view --------------------------------------------------------------------------------- */

static void help_prepare(struct ui_view *view, int cols)
{
    struct help_view *v = (struct help_view *)view;
    const struct ui_app *app = view->app;
    enum ui_view_id asked = app->depth > 1 ? app->stack[app->depth - 2] : app->root;
    if (app->stack[app->depth - 1] != UI_VIEW_HELP && v->cols) /* something lies on top of it */
        asked = v->asked;
    if (v->cols == cols - 2 && v->asked == asked)
        return;
    if (v->asked != asked)
        view->selected = view->top = 0;
    v->cols = cols - 2;
    v->asked = asked;
    help_make(v);
}

static void help_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct help_view *v = (const struct help_view *)view;
    const char *filter = ui_text_filtered(view);
    odb_buf_printf(out, "help for the view %s", view->app->views[v->asked]->name);
    if (filter)
        odb_buf_printf(out, "  filter: %s", filter);
    else
        odb_buf_puts(out, ": Enter does or explains a row, & filters");
}

static const struct help_entry *help_at(const struct help_view *v)
{
    size_t line = ui_text_selected(&v->text.view);
    for (size_t i = 0; i < v->entries.n; i++)
        if (line - v->entries.items[i].line < v->entries.items[i].n)
            return &v->entries.items[i];
    return NULL;
}

static enum ui_answer help_act(struct ui_view *view, const struct odb_command_call *call,
                               struct odb_error *err)
{
    struct ui_app *app = view->app;
    const struct help_entry *entry = help_at((const struct help_view *)view);
    if (call->command->screen != ODB_SCREEN_OPEN || odb_call_arg(call, 0))
        return UI_NOT_MINE;
    if (!entry || (!entry->run && !entry->command)) {
        odb_fail(err, ODB_E_USAGE, "this row is no key and no command");
        return UI_FAILED;
    }
    if (entry->run) {
        char *line = odb_xstrdup(entry->run);
        ui_app_back(app); /* to where it was asked for */
        ui_app_command(app, line);
        free(line);
    } else {
        struct odb_buf text = ODB_BUF_INIT;
        odb_help_command(entry->command, &text);
        ui_output_show(app->views[UI_VIEW_OUTPUT], entry->command->name, odb_buf_text(&text));
        odb_buf_dispose(&text);
        ui_app_open(app, UI_VIEW_OUTPUT);
    }
    return UI_DONE;
}

static void help_close(struct ui_view *view)
{
    struct help_view *v = (struct help_view *)view;
    help_clear(v);
    free(v->entries.items);
    ui_text_close(view);
}

const struct ui_view_ops ui_help_view = {
    .help = "keys and commands",
    .size = sizeof(struct help_view),
    .wraps = true,
    .whole = true,
    .close = help_close,
    .title = help_title,
    .prepare = help_prepare,
    UI_TEXT_LINES,
    UI_TEXT_FILTERED,
    .act = help_act,
};
