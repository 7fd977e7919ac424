/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How the screen looks: colours, mouse, columns, and where views are parted. All of it are
 * commands, so the key file sets them as well.
 */
#include "ui/app/appearance.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "model/model.h"
#include "ui/app/arrange.h"
#include "ui/app/layout.h"
#include "ui/list/jump.h"
#include "ui/list/view_nodes.h"
#include "ui/terminal/style.h"
#include "ui/terminal/terminal.h"
#include "ui/view/action.h"
#include "ui/view/strip.h"

UI_ACTION(theme)
{
    static const struct {
        const char *name;
        enum ui_background background;
    } themes[] = {
        {"dark", UI_BACKGROUND_DARK},
        {"light", UI_BACKGROUND_LIGHT},
        {"auto", UI_BACKGROUND_UNKNOWN},
        {"mono", UI_BACKGROUND_UNKNOWN},
    };
    const char *name = odb_call_arg(call, 0);
    struct ui_terminal *terminal = app->terminal;
    if (!name) {
        const char *now = !terminal->colors                             ? "mono"
                          : terminal->background == UI_BACKGROUND_DARK  ? "dark"
                          : terminal->background == UI_BACKGROUND_LIGHT ? "light"
                                                                        : "auto";
        fprintf(call->out, "%s, of %d colours\n", now, terminal->depth);
        return ODB_OK;
    }
    for (size_t i = 0; i < ODB_COUNT(themes); i++)
        if (!strcmp(themes[i].name, name))
            terminal->background = themes[i].background;
    terminal->colors = strcmp(name, "mono") ? terminal->depth : 0;
    app->theme_is_set = strcmp(name, "auto") != 0;
    if (!app->theme_is_set)
        ui_terminal_ask_background(terminal);
    return ODB_OK;
}

UI_ACTION(mouse)
{
    const char *how = odb_call_arg(call, 0);
    bool on = how ? !strcmp(how, "on") : !app->mouse_off;
    if (!how) {
        fprintf(call->out, "the mouse is %s\n", on ? "on" : "off");
        return ODB_OK;
    }
    app->mouse_off = !on;
    ui_terminal_mouse(app->terminal, on);
    return ODB_OK;
}

/* The column of this name; UI_COLUMN_COUNT: there is none. */
static enum ui_column appearance_column(const char *name)
{
    const char *p = ODB_COLUMNS;
    for (int i = 0; *p; i++) {
        size_t n = strcspn(p, "|");
        if (strlen(name) == n && !strncmp(name, p, n))
            return (enum ui_column)i;
        p += n + (p[n] == '|');
    }
    return UI_COLUMN_COUNT;
}

UI_ACTION(columns)
{
    struct ui_columns columns = {.n = 0};
    for (size_t i = 0; i < call->n_args; i++) {
        enum ui_column column = appearance_column(call->args[i]);
        bool new = column < UI_COLUMN_COUNT;
        for (int k = 0; k < columns.n; k++)
            new = new &&columns.list[k] != column;
        if (new)
            columns.list[columns.n++] = column;
    }
    ui_arrange_note(app);
    ui_nodes_outline(app->views[UI_VIEW_NODES])->how.columns = columns;
    app->dirty = true;
    return ODB_OK;
}

UI_ACTION(divide)
{
    const char *n = odb_call_arg(call, 0);
    long by = n ? strtol(n, NULL, 10) : 0;
    int now = ui_layout_divider(app);
    if (!now)
        return odb_fail(err, ODB_E_USAGE, "there is no line between views at this width");
    app->divide = by ? ODB_MAX(now + (int)ODB_MAX(ODB_MIN(by, 1000), -1000), 1) : 0;
    app->dirty = true;
    return ODB_OK;
}

UI_ACTION(strip)
{
    const char *n = odb_call_arg(call, 0);
    long by = n ? strtol(n, NULL, 10) : 1;
    int from = ui_app_node(app), node = from;
    if (from == ODB_NO_NODE || !app->strip.n)
        return odb_fail(err, ODB_E_USAGE, "no strip is shown");
    int column = ui_strip_column(&app->strip, app->session, from), step = by < 0 ? -1 : 1;
    for (long i = 0; i < labs(by); i++) {
        int next = node;
        while (next == node && column + step >= 0 && column + step < app->strip.n)
            next = ui_strip_node(&app->strip, app->session, column += step);
        node = next;
    }
    ui_nodes_reveal(app->views[UI_VIEW_NODES], node);
    ui_nodes_goto(app->views[UI_VIEW_NODES], node);
    return ODB_OK;
}
