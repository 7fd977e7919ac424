/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/list/text_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "model/model.h"
#include "ui/list/list.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/view.h"

void ui_text_clear(struct ui_text_view *view)
{
    for (size_t i = 0; i < view->lines.n; i++)
        free(view->lines.items[i].text);
    view->lines.n = view->kept.n = 0;
}

/* A line was added at the end. */
static void text_keep(struct ui_text_view *view, size_t line)
{
    if (view->filter && odb_text_matches(view->lines.items[line].text, view->filter))
        odb_push(&view->kept, line);
}

void ui_text_filter(struct ui_view *view, const char *text)
{
    struct ui_text_view *v = (struct ui_text_view *)view;
    char *filter = text && *text ? odb_xstrdup(text) : NULL;
    free(v->filter);
    v->filter = filter;
    v->kept.n = 0;
    for (size_t i = 0; i < v->lines.n; i++)
        text_keep(v, i);
    ui_list_select(view, view->selected);
}

const char *ui_text_filtered(const struct ui_view *view)
{
    return ((const struct ui_text_view *)view)->filter;
}

/* The line that a row shows; NULL: there is none. */
static const struct ui_text_line *text_line(const struct ui_view *view, size_t row)
{
    const struct ui_text_view *v = (const struct ui_text_view *)view;
    if (row >= ui_text_rows(view))
        return NULL;
    return &v->lines.items[v->filter ? v->kept.items[row] : row];
}

static const char *text_add_one(struct ui_text_view *view, int cols, struct ui_text_line line,
                                const char *text)
{
    size_t gap = 0, n = strlen(text);
    if (cols)
        n = ui_text_line(view->view.app->terminal, text, ODB_MAX(cols - line.indent, 1), &gap);
    line.text = odb_xstrndup(text, n);
    odb_push(&view->lines, line);
    text_keep(view, view->lines.n - 1);
    return text + n + gap;
}

void ui_text_add(struct ui_text_view *view, int cols, enum ui_style style, int indent, int node,
                 int value, const char *text)
{
    struct ui_text_line line = {NULL, style, indent, node, value};
    do {
        text = text_add_one(view, cols, line, text);
    } while (*text);
}

void ui_text_addv(struct ui_text_view *view, int cols, enum ui_style style, int indent, int node,
                  int value, const char *fmt, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, fmt, args) < 0)
        text = odb_xstrdup("");
    ui_text_add(view, cols, style, indent, node, value, text);
    free(text);
}

void ui_text_add_hanging(struct ui_text_view *view, int cols, enum ui_style style, int indent,
                         int hang, int node, const char *text)
{
    struct ui_text_line line = {NULL, style, indent, node, ODB_NO_VALUE};
    text = text_add_one(view, cols, line, text);
    line.indent += hang < (cols - indent) * 2 / 3 ? hang : 2; /* unless little room would be left */
    while (*text)
        text = text_add_one(view, cols, line, text);
}

size_t ui_text_rows(const struct ui_view *view)
{
    const struct ui_text_view *v = (const struct ui_text_view *)view;
    return v->filter ? v->kept.n : v->lines.n;
}

size_t ui_text_selected(const struct ui_view *view)
{
    const struct ui_text_view *v = (const struct ui_text_view *)view;
    if (view->selected >= ui_text_rows(view))
        return SIZE_MAX;
    return v->filter ? v->kept.items[view->selected] : view->selected;
}

void ui_text_draw_row(const struct ui_view *view, size_t row, const struct ui_area *area)
{
    const struct ui_text_line *line = text_line(view, row);
    int col = line->indent - view->left;
    if (col < 0) /* scrolled */
        ui_draw_text(area, 0, col, line->style, line->text);
    else
        ui_draw_field(area, 0, col, ODB_MAX(area->cols - col, 0), UI_CUT_END, line->style,
                      line->text);
}

bool ui_text_row_matches(const struct ui_view *view, size_t row, const char *text)
{
    return odb_text_matches(text_line(view, row)->text, text);
}

void ui_text_subject(const struct ui_view *view, struct ui_subject *out)
{
    const struct ui_text_line *line = text_line(view, view->selected);
    *out = (struct ui_subject){ODB_NO_NODE, ODB_NO_VALUE};
    if (line)
        *out = (struct ui_subject){line->node, line->value};
}

void ui_text_close(struct ui_view *view)
{
    struct ui_text_view *v = (struct ui_text_view *)view;
    ui_text_clear(v);
    free(v->lines.items);
    free(v->kept.items);
    free(v->filter);
}

/* --- what a command printed ------------------------------------------------------------------- */

struct output_view {
    struct ui_text_view text;
    char *label;            /* owned; NULL: nothing was printed yet */
    char *printed;          /* owned; NULL: the same */
    int cols;               /* that lines are wrapped at; 0: none is */
    ODB_VEC(size_t) firsts; /* rows that lines begin in */
};

/* What does not fit goes on below, two columns behind where its line begins. */
static void output_make(struct output_view *v, int cols)
{
    ui_text_clear(&v->text);
    v->cols = cols;
    v->firsts.n = 0;
    for (const char *text = v->printed; text && *text;) {
        size_t n = strcspn(text, "\n");
        char *line = odb_xstrndup(text, n);
        int indent = (int)ODB_MIN(strspn(line, " "), (size_t)cols / 3);
        odb_push(&v->firsts, v->text.lines.n);
        ui_text_add_hanging(&v->text, cols, UI_STYLE_NORMAL, indent, 2, ODB_NO_NODE, line + indent);
        free(line);
        text += n + (text[n] == '\n');
    }
}

void ui_output_show(struct ui_view *view, const char *label, const char *text)
{
    struct output_view *v = (struct output_view *)view;
    free(v->label);
    free(v->printed);
    v->label = odb_xstrdup(label);
    v->printed = odb_xstrdup(text);
    view->selected = view->top = 0;
    view->left = 0;
    output_make(v, 0);
}

/* Another width: the same line stays selected. */
static void output_prepare(struct ui_view *view, int cols)
{
    struct output_view *v = (struct output_view *)view;
    int room = ODB_MAX(cols - 2, 1);
    size_t selected = ui_text_selected(view), line = 0;
    if (v->cols == room)
        return;
    while (line + 1 < v->firsts.n && v->firsts.items[line + 1] <= selected)
        line++;
    output_make(v, room);
    if (v->firsts.n && !v->text.filter)
        ui_list_select(view, v->firsts.items[line]);
}

static void output_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct output_view *v = (const struct output_view *)view;
    odb_buf_printf(out, "output of %s", v->label ? v->label : "commands: none yet");
    if (v->text.filter)
        odb_buf_printf(out, "  filter: %s", v->text.filter);
}

static void output_close(struct ui_view *view)
{
    struct output_view *v = (struct output_view *)view;
    free(v->label);
    free(v->printed);
    free(v->firsts.items);
    ui_text_close(view);
}

const struct ui_view_ops ui_output_view = {
    .help = "what the last command printed",
    .size = sizeof(struct output_view),
    .wraps = true,
    .prepare = output_prepare,
    .close = output_close,
    .title = output_title,
    UI_TEXT_LINES,
    UI_TEXT_FILTERED,
};
