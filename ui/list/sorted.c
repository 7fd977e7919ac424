/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/list/sorted.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/view.h"

/* A number at the beginning of a text; false: there is none. */
static bool sorted_number(const char *text, double *value)
{
    char *end;
    if (!isdigit((unsigned char)text[strspn(text, "+-.")]))
        return false;
    *value = strtod(text, &end);
    return end > text && (!*end || isspace((unsigned char)*end));
}

/* Digits in a row are one number. */
static int sorted_words(const char *a, const char *b)
{
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            unsigned long long x = strtoull(a, (char **)&a, 10), y = strtoull(b, (char **)&b, 10);
            if (x != y)
                return x < y ? -1 : 1;
            continue;
        }
        int x = tolower((unsigned char)*a++), y = tolower((unsigned char)*b++);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return (*a != 0) - (*b != 0);
}

int ui_sorted_compare(const char *a, const char *b, bool descending)
{
    double x, y;
    bool no_a = !a || !*a, no_b = !b || !*b;
    if (no_a || no_b)
        return no_a - no_b;
    int order =
        sorted_number(a, &x) && sorted_number(b, &y) ? (x > y) - (x < y) : sorted_words(a, b);
    return descending ? -order : order;
}

/* --- the command ------------------------------------------------------------------------------ */

/* The column whose title begins so, from 1; 0: none, or more than one. */
static int sorted_find(const char *const *titles, int n, const char *name)
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        if (strncasecmp(titles[i], name, strlen(name)) != 0)
            continue;
        if (!titles[i][strlen(name)] || !found)
            found = i + 1;
        if (!titles[i][strlen(name)])
            break;
    }
    return found;
}

static enum ui_answer sorted_unknown(const char *const *titles, int n, const char *name,
                                     struct odb_error *err)
{
    struct odb_buf list = ODB_BUF_INIT;
    for (int i = 0; i < n; i++)
        odb_buf_printf(&list, "%s%s", i ? ", " : "", titles[i]);
    odb_fail(err, ODB_E_USAGE, "this table has no column '%.40s'", name);
    odb_error_remedy(err, "choose one of %s", odb_buf_text(&list));
    odb_buf_dispose(&list);
    return UI_FAILED;
}

enum ui_answer ui_sorted_act(struct ui_view *view, struct ui_sorted *order,
                             const char *const *titles, int n, const struct odb_command_call *call,
                             struct odb_error *err)
{
    const char *name = odb_call_arg(call, 0), *way = odb_call_arg(call, 1);
    struct ui_sorted to = *order;
    if (call->command->screen != ODB_SCREEN_SORT)
        return UI_NOT_MINE;
    if (!name) {
        to = (struct ui_sorted){order->column == n ? 0 : order->column + 1, false};
    } else if (!strcmp(name, "reverse")) {
        to = (struct ui_sorted){order->column ? order->column : 1, !order->descending};
    } else {
        to.column = sorted_find(titles, n, name);
        if (!to.column)
            return sorted_unknown(titles, n, name, err);
        to.descending =
            way ? !strcmp(way, "desc") : to.column == order->column && !order->descending;
    }
    *order = to;
    if (to.column)
        ui_app_say(view->app, UI_STYLE_MESSAGE, "sorted by %s%s", titles[to.column - 1],
                   to.descending ? ", descending" : "");
    else
        ui_app_say(view->app, UI_STYLE_MESSAGE, "in the order of the table again");
    return UI_DONE;
}

/* --- what is seen ----------------------------------------------------------------------------- */

int ui_sorted_title(const struct ui_sorted *order, int column, const char *title,
                    const struct ui_area *area, int col, int width, bool right)
{
    bool sorted = order->column == column + 1;
    enum ui_glyph arrow = order->descending ? UI_GLYPH_ARROW_DOWN : UI_GLYPH_ARROW_UP;
    char *text =
        odb_xasprintf("%s%s", sorted ? ui_glyph_text(arrow, area->terminal->unicode) : "", title);
    width = width ? width : ui_text_width(area->terminal, text);
    int over = right && ui_text_width(area->terminal, text) > width; /* the blank before it */
    if (right)
        col = ui_draw_right(area, 0, col - over, width + over, UI_STYLE_HEAD, text);
    else
        col = ui_draw_field(area, 0, col, width, UI_CUT_END, UI_STYLE_HEAD, text);
    free(text);
    return col;
}

void ui_sorted_put(const struct ui_sorted *order, const char *const *titles, struct odb_buf *out)
{
    if (order->column)
        odb_buf_printf(out, "  by %s%s", titles[order->column - 1],
                       order->descending ? ", descending" : "");
}
