/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * DOT has strings between quotes in which a backslash has a meaning twice, to its reader and in a
 * label, and & begins an entity as in HTML. So every text of a picture goes through dot_text(), the
 * only place that knows DOT's rules.
 */
#include <stdlib.h>
#include <string.h>

#include "drawing/picture.h"
#include "report/marked_up.h"

#define DOT_INCH 72.0 /* sizes are in inches, places in points */

static void dot_name(struct odb_buf *out, const char *name)
{
    odb_buf_printf(out, "%s%s=", out->data[out->len - 1] == '[' ? "" : " ", name);
}

/* An attribute that is a text of the picture; NULL: it has none. A label takes two backslashes for
 * one; a tooltip four, for Graphviz reads it twice. */
static void dot_text(struct odb_buf *out, const char *name, const char *text, const char *backslash)
{
    if (!text)
        return;
    dot_name(out, name);
    odb_buf_putc(out, '"');
    for (const char *p = text; *p; p++)
        if (*p == '\\')
            odb_buf_puts(out, backslash);
        else if (*p == '\n')
            odb_buf_puts(out, "\\n");
        else if (*p == '"')
            odb_buf_puts(out, "\\\"");
        else if (*p == '&')
            odb_buf_puts(out, "&amp;");
        else
            odb_buf_putc(out, *p);
    odb_buf_putc(out, '"');
}

static void dot_label(struct odb_buf *out, const char *text)
{
    dot_text(out, "label", text, "\\\\");
}

static void dot_tooltip(struct odb_buf *out, const char *name, const char *text)
{
    dot_text(out, name, text, "\\\\\\\\");
}

/* An attribute that is a word of ours; NULL or "": it has none. */
static void dot_word(struct odb_buf *out, const char *name, const char *word)
{
    if (!word || !*word)
        return;
    dot_name(out, name);
    odb_buf_printf(out, "\"%s\"", word);
}

/* In HTML's syntax, which alone has tables; in it as well two backslashes stand for one. */
static void dot_title(const char *title, struct odb_buf *out)
{
    struct odb_buf text = ODB_BUF_INIT;
    for (const char *p = title; *p; p++) {
        odb_buf_puts(&text, *p == '\\' ? "\\" : "");
        odb_buf_putc(&text, *p);
    }
    odb_put_xml(out, odb_buf_text(&text));
    odb_buf_dispose(&text);
}

/* The title, and what the colours of this picture mean. */
static void dot_legend(const struct odb_picture *picture, struct odb_buf *out)
{
    odb_buf_puts(out, "  label=<<table border=\"0\"><tr><td align=\"left\">");
    dot_title(picture->title, out);
    odb_buf_puts(out, "</td></tr>");
    if (picture->legend.n)
        odb_buf_puts(out, "<tr><td><table border=\"0\">");
    for (size_t i = 0; i < picture->legend.n; i++) {
        const struct odb_picture_legend *row = &picture->legend.items[i];
        odb_buf_printf(out,
                       "<tr><td border=\"%d\" color=\"%s\" bgcolor=\"%s\"></td>"
                       "<td align=\"left\">%s</td></tr>",
                       row->accused ? 3 : 1, row->look.line, row->look.fill, row->means);
    }
    odb_buf_puts(out, picture->legend.n ? "</table></td></tr></table>>\n" : "</table>>\n");
}

static void dot_box(const struct odb_picture_box *box, bool placed, struct odb_buf *out)
{
    odb_buf_printf(out, "  %s [", box->name);
    dot_word(out, "id", box->id);
    if (box->link)
        odb_buf_printf(out, " URL=\"#%s\"", box->id);
    dot_label(out, box->label);
    dot_tooltip(out, "tooltip", box->tooltip);
    dot_word(out, "shape", box->shape);
    dot_word(out, "fillcolor", box->look.fill);
    dot_word(out, "color", box->look.line);
    dot_word(out, "fontcolor", box->look.text);
    dot_word(out, "style", box->look.style);
    if (box->accused)
        odb_buf_puts(out, " peripheries=2 penwidth=3");
    if (placed)
        odb_buf_printf(out, " pos=\"%.1f,%.1f\" width=%.3f height=%.3f", box->at.x, box->at.y,
                       box->size.x / DOT_INCH, box->size.y / DOT_INCH);
    odb_buf_puts(out, "]\n");
}

static void dot_line(const struct odb_picture *picture, const struct odb_picture_line *line,
                     struct odb_buf *out)
{
    odb_buf_printf(out, "  %s -> %s [", picture->boxes.items[line->from].name,
                   picture->boxes.items[line->to].name);
    dot_word(out, "style", line->dotted ? "dotted" : NULL);
    dot_label(out, line->label);
    dot_tooltip(out, "tooltip", line->tooltip);
    dot_tooltip(out, "labeltooltip", line->tooltip);
    if (picture->placed) {
        odb_buf_printf(out, " pos=\"e,%.1f,%.1f", line->tip.x, line->tip.y);
        for (size_t i = 0; i < line->curve.n; i++)
            odb_buf_printf(out, " %.1f,%.1f", line->curve.items[i].x, line->curve.items[i].y);
        odb_buf_putc(out, '"');
    }
    odb_buf_puts(out, "]\n");
}

void odb_picture__dot(const struct odb_picture *picture, struct odb_buf *out)
{
    odb_buf_puts(out, "digraph model {\n"
                      "  graph [charset=\"UTF-8\" bgcolor=\"white\" fontname=\"Helvetica\" "
                      "labelloc=b labeljust=l]\n"
                      "  node [shape=box fontname=\"Helvetica\" fontsize=12]\n"
                      "  edge [fontname=\"Helvetica\" fontsize=10 color=\"#5b6875\"]\n");
    dot_legend(picture, out);
    for (size_t i = 0; i < picture->boxes.n; i++)
        dot_box(&picture->boxes.items[i], picture->placed, out);
    for (size_t i = 0; i < picture->lines.n; i++)
        dot_line(picture, &picture->lines.items[i], out);
    odb_buf_puts(out, "}\n");
}

void odb_drawing_dot(const struct odb_drawing *drawing, struct odb_buf *out)
{
    struct odb_picture picture;
    odb_picture__make(&picture, drawing);
    odb_picture__dot(&picture, out);
    odb_picture__dispose(&picture);
}
