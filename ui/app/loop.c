/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Frames and events: keys, the mouse, signals, and what other threads have to say.
 */
#include "ui/app/loop.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "command/table/quoting.h"
#include "model/model.h"
#include "session/session.h"
#include "ui/app/arrange.h"
#include "ui/app/layout.h"
#include "ui/app/narrow.h"
#include "ui/app/running.h"
#include "ui/list/jump.h"
#include "ui/list/list.h"
#include "ui/list/view_nodes.h"
#include "ui/terminal/key.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/keymap.h"
#include "ui/view/prompt.h"
#include "ui/views/view_sessions.h"

static void loop_search_live(struct ui_app *app)
{
    struct ui_view *view = ui_app_view(app);
    const char *text = ui_prompt_text(app->prompt);
    if (app->asking == UI_ASK_FILTER) {
        ui_arrange_live(app);
    } else if (app->asking == UI_ASK_NARROW) {
        ui_narrow_live(app);
    } else if (app->asking == UI_ASK_SEARCH) {
        ui_list_select(view, app->search_origin);
        if (*text && !ui_list_find(view, text, 1, true))
            ui_app_say(app, UI_STYLE_WARN, "nothing holds '%s'", text);
        else
            ui_app_say(app, UI_STYLE_MESSAGE, "%s", "");
    }
}

static void loop_asked(struct ui_app *app, bool given)
{
    char *text = odb_xstrdup(ui_prompt_text(app->prompt));
    switch (app->asking) {
    case UI_ASK_COMMAND:
        if (given)
            ui_app_command(app, text);
        break;
    case UI_ASK_SEARCH:
        if (given && *text) {
            free(app->search);
            app->search = odb_xstrdup(text);
        } else if (!given) {
            ui_list_select(ui_app_view(app), app->search_origin);
            ui_app_say(app, UI_STYLE_MESSAGE, "%s", "");
        }
        break;
    case UI_ASK_FILTER:
        ui_arrange_typed(app, given);
        break;
    case UI_ASK_NARROW:
        ui_narrow_typed(app, given);
        break;
    }
    free(text);
}

/* A message stands until the next key or click, that of a command on its way until it is done. */
static void loop_unsay(struct ui_app *app)
{
    if (app->message && !ui_app_busy(app))
        ui_app_say(app, UI_STYLE_MESSAGE, "%s", "");
}

/* What a command with {key} in it becomes when the key is there. */
static void loop_wanted(struct ui_app *app, int key)
{
    char name[16], *line = app->wanting, *at = strstr(line, "{key}");
    struct odb_buf text = ODB_BUF_INIT;
    app->wanting = NULL;
    if (key != UI_KEY_ESC) {
        odb_buf_add(&text, line, (size_t)(at - line));
        odb_words_quote(&text, ui_key_name(key, name, sizeof name));
        odb_buf_puts(&text, at + strlen("{key}"));
        ui_app_command(app, odb_buf_text(&text));
    }
    odb_buf_dispose(&text);
    free(line);
}

/* Whether a key's command opens the view that it is pressed in. */
static bool loop_closes(const struct ui_app *app, const char *command)
{
    const char *view = ui_app_view(app)->name;
    if (!strcmp(command, "view"))
        return app->focus == UI_VIEW_CHOOSE;
    return app->focus != app->root && !strncmp(command, "view ", 5) && !strcmp(command + 5, view);
}

/* Whether a key's command would write a folder that shows nothing: nothing is known of the node.
 * Who types it means it. */
static bool loop_exports_nothing(const struct ui_app *app, const char *command)
{
    if (ui_app_busy(app) || strncmp(command, "export", 6) || (command[6] && command[6] != ' '))
        return false;
    int node = ui_app_subject(app).node;
    odb_session_lock(app->session);
    bool unknown = !odb_session_report(app->session) &&
                   (node == ODB_NO_NODE ||
                    odb_session_node(app->session, node, NULL)->verdict == ODB_VERDICT_UNTESTED);
    odb_session_unlock(app->session);
    return unknown;
}

/* --- counts ----------------------------------------------------------------------------------- */

#define LOOP_COUNT 99999 /* at most */
#define LOOP_AGAIN 200   /* times that a command is given again, at most */

/* What a count before a key does with its command. */
static const struct loop_counted {
    const char *command;
    enum { LOOP_ARGUMENT, LOOP_REPEAT, LOOP_NUMBER } how;
} loop_counted[] = {
    {"up", LOOP_ARGUMENT},         {"down", LOOP_ARGUMENT},
    {"left", LOOP_ARGUMENT},       {"right", LOOP_ARGUMENT},
    {"step", LOOP_ARGUMENT},       {"next", LOOP_ARGUMENT},
    {"producer", LOOP_ARGUMENT},   {"consumer", LOOP_ARGUMENT},
    {"page-up", LOOP_REPEAT},      {"page-down", LOOP_REPEAT},
    {"half-page-up", LOOP_REPEAT}, {"half-page-down", LOOP_REPEAT},
    {"next-culprit", LOOP_REPEAT}, {"previous-culprit", LOOP_REPEAT},
    {"next-match", LOOP_REPEAT},   {"previous-match", LOOP_REPEAT},
    {"plane", LOOP_REPEAT},        {"next-divergence", LOOP_REPEAT},
    {"section", LOOP_REPEAT},      {"previous-divergence", LOOP_REPEAT},
    {"top", LOOP_NUMBER},          {"bottom", LOOP_NUMBER},
};

/* The command of a key, with the count that was typed before it: `5j`, `3n`, and `42G` as `:42`.
 * Others have no use for one. */
static void loop_give(struct ui_app *app, const char *command)
{
    size_t i = 0, n = (size_t)app->count;
    app->count = 0;
    while (i < ODB_COUNT(loop_counted) && strcmp(loop_counted[i].command, command) != 0)
        i++;
    if (!n || i == ODB_COUNT(loop_counted)) {
        ui_app_command(app, command);
        return;
    }
    if (loop_counted[i].how == LOOP_REPEAT) {
        for (size_t k = 0; k < ODB_MIN(n, (size_t)LOOP_AGAIN); k++)
            ui_app_command(app, command);
        return;
    }
    bool number = loop_counted[i].how == LOOP_NUMBER;
    char *line = odb_xasprintf("%s %zu", number ? "" : command, n);
    ui_app_command(app, line);
    free(line);
}

/* A digit that is no key of its own is part of a count; it is shown. False: it is none. */
static bool loop_counts(struct ui_app *app, const char *view, int key)
{
    bool digit = key >= '0' + !app->count && key <= '9';
    if (app->prefix || !digit || ui_keymap_find(app->keymap, view, key) ||
        ui_keymap_begins(app->keymap, view, key))
        return false;
    app->count = ODB_MIN(app->count * 10 + key - '0', LOOP_COUNT);
    ui_app_say(app, UI_STYLE_LABEL, "%d", app->count);
    return true;
}

static void loop_key(struct ui_app *app, int key)
{
    const char *view = ui_app_view(app)->name;
    char name[16];
    bool offered = ui_offer_stands(app);
    loop_unsay(app);
    ui_offer_withdraw(app);
    if (offered && key == UI_KEY_ENTER) {
        ui_app_command(app, "session");
        return;
    }
    if (app->wanting) {
        loop_wanted(app, key);
        return;
    }
    if ((app->prefix || app->count) && key == UI_KEY_ESC) {
        app->prefix = app->count = 0;
        return;
    }
    if (loop_counts(app, view, key))
        return;
    if (!app->prefix && ui_keymap_begins(app->keymap, view, key)) {
        app->prefix = key;
        return;
    }
    key = app->prefix ? ui_key_pair(app->prefix, key) : key;
    app->prefix = 0;
    const struct ui_binding *binding = ui_keymap_find(app->keymap, view, key);
    if (binding && loop_closes(app, binding->command))
        ui_app_back(app);
    else if (binding && loop_exports_nothing(app, binding->command))
        ui_app_say(app, UI_STYLE_WARN,
                   "nothing to export: no search has found a fault yet; F "
                   "searches");
    else if (binding && strstr(binding->command, "{key}"))
        app->wanting = odb_xstrdup(binding->command);
    else if (binding)
        loop_give(app, binding->command);
    else
        ui_app_say(app, UI_STYLE_WARN, "the key %s does nothing here; ? lists the keys",
                   ui_key_name(key, name, sizeof name));
    app->count = 0;
}

/* A click on the title of a column sorts by it, and once more the other way round. False: there is
 * none. */
static bool loop_click_title(struct ui_app *app, const struct ui_view *view, int row, int col)
{
    odb_session_lock(app->session);
    const char *column = view->ops->column ? view->ops->column(view, row, col) : NULL;
    odb_session_unlock(app->session);
    struct odb_buf line = ODB_BUF_INIT;
    odb_buf_puts(&line, "sort ");
    odb_words_quote(&line, column ? column : "");
    if (column)
        ui_app_command(app, odb_buf_text(&line));
    odb_buf_dispose(&line);
    return column != NULL;
}

static void loop_click(struct ui_app *app, const struct ui_event *event)
{
    int row, col, node = ui_layout_strip_at(app, event->row, event->col);
    struct ui_view *view = ui_layout_at(app, event->row, event->col, &row, &col);
    loop_unsay(app);
    ui_offer_withdraw(app);
    app->prefix = 0;
    app->dragging = ui_layout_divider_at(app, event->row, event->col) ? UI_DRAG_DIVIDER
                    : ui_layout_strip_end_at(app, event->row)         ? UI_DRAG_STRIP
                    : node != ODB_NO_NODE                             ? UI_DRAG_ALONG
                                                                      : UI_DRAG_NOTHING;
    if (node != ODB_NO_NODE)
        ui_app_jump(app, node);
    if (!view)
        return;
    bool focused = app->views[app->focus] == view; /* if not, rows may stand elsewhere now */
    for (int id = 0; id < UI_VIEW_COUNT; id++)
        if (app->views[id] == view)
            app->focus = (enum ui_view_id)id;
    if (row < 0 || loop_click_title(app, view, row, col))
        return;
    size_t at = view->ops->at         ? view->ops->at(view, row, col)
                : row >= view->header ? view->top + (size_t)(row - view->header)
                                      : SIZE_MAX;
    if (at == SIZE_MAX)
        return;
    focused &= view->selected == at;
    ui_list_select(view, at);
    if (event->twice && focused)
        ui_app_command(app, "open");
}

/* The mouse moved with its button down. */
static void loop_drag(struct ui_app *app, const struct ui_event *event)
{
    int node;
    switch (app->dragging) {
    case UI_DRAG_DIVIDER:
        app->divide = ODB_MAX(event->col, 1);
        break;
    case UI_DRAG_STRIP:
        app->strip_rows = ODB_MAX(app->terminal->rows - 2 - event->row, 2);
        break;
    case UI_DRAG_ALONG:
        node = ui_layout_strip_at(app, app->terminal->rows - 3, event->col);
        if (node != ODB_NO_NODE)
            ui_nodes_goto(app->views[UI_VIEW_NODES], node);
        break;
    case UI_DRAG_NOTHING:
        break;
    }
}

/* A theme that was asked for counts more than what the terminal says. */
static void loop_background(struct ui_app *app, int light)
{
    if (!app->theme_is_set)
        app->terminal->background = light < 128 ? UI_BACKGROUND_DARK : UI_BACKGROUND_LIGHT;
}

static void loop_wheel(struct ui_app *app, const struct ui_event *event)
{
    int row, col;
    struct ui_view *view = ui_layout_at(app, event->row, event->col, &row, &col);
    size_t by = view && view->ops->draw ? 1 : 3;
    if (!view)
        return;
    if (event->delta < 0)
        ui_list_select(view, view->selected > by ? view->selected - by : 0);
    else
        ui_list_select(view, view->selected + by);
}

static void loop_event(struct ui_app *app, const struct ui_event *event)
{
    enum ui_prompt_answer answer;
    app->dirty = true;
    switch (event->what) {
    case UI_EVENT_KEY:
        loop_key(app, event->key);
        break;
    case UI_EVENT_BYTE:
        answer = ui_prompt_byte(app->prompt, event->key);
        if (answer == UI_PROMPT_MORE)
            loop_search_live(app);
        else
            loop_asked(app, answer == UI_PROMPT_DONE);
        break;
    case UI_EVENT_CLICK:
        loop_click(app, event);
        break;
    case UI_EVENT_WHEEL:
        loop_wheel(app, event);
        break;
    case UI_EVENT_DRAG:
        loop_drag(app, event);
        break;
    case UI_EVENT_RELEASE:
        app->dragging = UI_DRAG_NOTHING;
        break;
    case UI_EVENT_BACKGROUND:
        loop_background(app, event->delta);
        break;
    case UI_EVENT_SUSPEND:
        ui_terminal_suspend(app->terminal);
        break;
    case UI_EVENT_QUIT:
        app->quit = app->interrupted = true;
        break;
    case UI_EVENT_RESIZE:
    case UI_EVENT_RESUMED:
    case UI_EVENT_NONE:
        break;
    }
}

#define LOOP_FRAME 0.04 /* seconds between frames that no key asked for */
#define LOOP_TICK 250   /* milliseconds between frames while something runs */
#define LOOP_WATCH 500  /* between two looks at a file that others write */

/* Waits for keys, signals and other threads. True when a key or a signal came. */
static bool loop_wait(struct ui_app *app)
{
    int fds[2];
    ui_terminal_fds(app->terminal, fds);
    struct pollfd polled[] = {{.fd = fds[0], .events = POLLIN},
                              {.fd = fds[1], .events = POLLIN},
                              {.fd = app->wake[0], .events = POLLIN}};
    double due = app->last_frame + LOOP_FRAME - odb_clock();
    int tick = ui_app_busy(app) ? LOOP_TICK : app->root == UI_VIEW_FLEET ? LOOP_WATCH : -1;
    int n = poll(polled, ODB_COUNT(polled), app->dirty ? (int)ODB_MAX(due * 1000, 0) + 1 : tick);
    if (n == 0 && tick > 0)
        app->dirty = true;
    if (n > 0 && polled[2].revents) {
        char drain[64];
        while (read(app->wake[0], drain, sizeof drain) == (ssize_t)sizeof drain)
            ;
        atomic_store(&app->woken, false); /* last: a byte that is drained leaves no mark behind */
        app->dirty = true;
    }
    return n > 0 && (polled[0].revents || polled[1].revents);
}

/* A pane that there is no room for any more gives the keys back. */
static void loop_keep_focus(struct ui_app *app)
{
    enum ui_view_id seen[UI_VIEW_COUNT];
    int n = ui_layout_visible(app, seen), i = 0;
    while (i < n && seen[i] != app->focus)
        i++;
    if (i == n)
        app->focus = app->stack[app->depth - 1];
}

void ui_loop_run(struct ui_app *app)
{
    struct ui_event event;
    app->dirty = true;
    while (!app->quit) {
        ui_running_collect(app);
        if (app->dirty && odb_clock() - app->last_frame >= LOOP_FRAME) {
            loop_keep_focus(app);
            ui_layout_draw(app);
            app->dirty = false;
            app->last_frame = odb_clock();
        }
        bool input = loop_wait(app);
        while (!app->quit && ui_terminal_read(app->terminal, &event))
            loop_event(app, &event);
        if (input) /* what a key does is seen at once */
            app->last_frame = 0;
    }
}
