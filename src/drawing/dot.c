/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * DOT has strings between quotes in which a backslash has a meaning twice, to its reader and in a
 * label, and & begins an entity as in HTML. Names are any bytes. So every text is first shown
 * safely, which leaves no control character, and then goes through dot_text(), the only place that
 * knows DOT's rules.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "drawing/drawing.h"
#include "model/formal.h"
#include "model/text/model_text.h"
#include "model/write/body_model.h"
#include "report/marked_up.h"

/* Where a text stands, and how many bytes of it: the tooltip has what a line in a box leaves out.
 */
enum dot_place { DOT_LINE = 44, DOT_TOOLTIP = 1000 };

#define DOT_ATTRS 4   /* attributes in a box, and */
#define DOT_WEIGHTS 3 /* weights */
/* Labels of lines make Graphviz ten times as slow: with so many nodes only tooltips name values, */
#define DOT_NAMED 60
#define DOT_TYPED 250 /* and with so many they alone have their types */

/* How a node looks. Colours run from blue over yellow and orange to brown, which eyes keep apart
 * that see no red or no green. */
enum dot_look {
    DOT_UNKNOWN,
    DOT_PASS,
    DOT_SMALL,
    DOT_MIDDLE,
    DOT_LARGE,
    DOT_BROKEN,
    DOT_UNTESTABLE,
    DOT_CULPRIT,
    DOT_LOOKS
};
static const struct {
    const char *fill, *line, *text, *style, *means;
} dot_looks[DOT_LOOKS] = {
    [DOT_UNKNOWN] = {"#ffffff", "#767676", "#000000", "filled,rounded", "not judged"},
    [DOT_PASS] = {"#dbe9f6", "#2f6db5", "#000000", "filled,rounded", "pass: round corners"},
    [DOT_SMALL] = {"#fee9a8", "#8a5a00", "#000000", "filled", "off, error below 0.001"},
    [DOT_MIDDLE] = {"#fdb863", "#8a4500", "#000000", "filled", "off, error below 0.1"},
    [DOT_LARGE] = {"#d9731a", "#5c2a00", "#000000", "filled", "off, error from 0.1 on"},
    [DOT_BROKEN] = {"#7f3b08", "#000000", "#ffffff", "filled", "no number: NaN, crash, other type"},
    [DOT_UNTESTABLE] = {"#eeeeee", "#767676", "#000000", "filled,dashed", "could not be tested"},
    [DOT_CULPRIT] = {"#ffffff", "#b3261e", "#000000", "filled", "culprit: a thick double line"},
};

static enum dot_look dot_look(const struct odb_drawing *drawing, int node)
{
    const struct odb_drawing_mark *mark = drawing->marks ? &drawing->marks[node] : NULL;
    if (!mark || mark->verdict == ODB_VERDICT_UNTESTED)
        return DOT_UNKNOWN;
    if (mark->verdict == ODB_VERDICT_PASS)
        return DOT_PASS;
    if (!odb_verdict_is_bad(mark->verdict))
        return DOT_UNTESTABLE;
    return isinf(mark->error)   ? DOT_BROKEN
           : mark->error < 1e-3 ? DOT_SMALL
           : mark->error < 1e-1 ? DOT_MIDDLE
                                : DOT_LARGE;
}

/* --- texts ------------------------------------------------------------------------------------ */

/* A text that is shown safely already, inside quotes of DOT. A label takes two backslashes for one;
 * a tooltip four, for Graphviz reads it twice. */
static void dot_text(struct odb_buf *out, const char *text, enum dot_place place)
{
    for (const char *p = text; *p; p++)
        if (*p == '\\')
            odb_buf_puts(out, place == DOT_LINE ? "\\\\" : "\\\\\\\\");
        else if (*p == '"')
            odb_buf_puts(out, "\\\"");
        else if (*p == '&')
            odb_buf_puts(out, "&amp;");
        else
            odb_buf_putc(out, *p);
}

/* Any text; of one that is too long for its place, beginning and end. */
static void dot_shown(struct odb_buf *out, const char *text, enum dot_place place)
{
    struct odb_buf shown = ODB_BUF_INIT;
    size_t most = place;
    odb_buf_put_shown(&shown, text);
    if (shown.len > most) {
        size_t end = odb_utf8_back(shown.data, most / 2);
        size_t from = odb_utf8_back(shown.data, shown.len - most / 2);
        char *cut = odb_xasprintf("%.*s…%s", (int)end, shown.data, shown.data + from);
        dot_text(out, cut, place);
        free(cut);
    } else {
        dot_text(out, odb_buf_text(&shown), place);
    }
    odb_buf_dispose(&shown);
}

const char *odb_drawing_type(const struct odb_drawing *drawing, int value, char *buf, size_t size)
{
    const struct odb_type *type = &drawing->graph->values[value].type;
    odb_shape_put(&drawing->shapes->values[value], true, buf, size);
    return !*buf && type->known ? type->shown : buf;
}

static void dot_op(struct odb_buf *out, const struct odb_node *node, enum dot_place place)
{
    char *op = odb_xasprintf("%s%s%s", node->domain, *node->domain ? "::" : "", node->op_type);
    dot_shown(out, op, place);
    free(op);
}

/* "pads = [1, 1, 1, 1]"; of a body, how large it is. */
static void dot_attr(struct odb_buf *out, const struct odb_attr *attr, enum dot_place place)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_printf(&text, "%s = ", attr->name);
    if (attr->type == ODB_ATTR_GRAPH && attr->n)
        odb_buf_printf(&text, "a body of %zu node%s", attr->graphs[0]->n_nodes,
                       odb_plural(attr->graphs[0]->n_nodes));
    else
        odb_attr_text(attr, &text);
    dot_shown(out, odb_buf_text(&text), place);
    odb_buf_dispose(&text);
}

/* --- a node ----------------------------------------------------------------------------------- */

static void dot_weights(const struct odb_drawing *drawing, const struct odb_node *node,
                        struct odb_buf *out)
{
    char formal[ODB_FORMAL_NAME], type[400];
    int n = 0;
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == ODB_NO_VALUE || !drawing->graph->values[node->in[i]].init)
            continue;
        if (n++ < DOT_WEIGHTS) {
            odb_buf_puts(out, "\\n");
            odb_formal_name(node, true, i, formal);
            char *line = odb_xasprintf("%s: %s", *formal ? formal : "weight",
                                       odb_drawing_type(drawing, node->in[i], type, sizeof type));
            dot_shown(out, line, DOT_LINE);
            free(line);
        }
    }
    if (n > DOT_WEIGHTS)
        odb_buf_printf(out, "\\nand %d more weight%s", n - DOT_WEIGHTS,
                       odb_plural((size_t)(n - DOT_WEIGHTS)));
}

static void dot_verdict(const struct odb_drawing_mark *mark, const char *between,
                        struct odb_buf *out)
{
    if (mark->kind)
        odb_buf_printf(out, "%sculprit: %s", between, mark->kind);
    odb_buf_printf(out, "%s%s", between, odb_verdict_name(mark->verdict));
    if (odb_verdict_is_bad(mark->verdict) && isfinite(mark->error))
        odb_buf_printf(out, ", error %.3g", mark->error);
}

static void dot_label(const struct odb_drawing *drawing, const struct odb_node *node,
                      struct odb_buf *out)
{
    char *name = odb_xasprintf("#%d%s%s", node->index, *node->name ? " " : "", node->name);
    odb_buf_puts(out, "label=\"");
    dot_op(out, node, DOT_LINE);
    odb_buf_puts(out, "\\n");
    dot_shown(out, name, DOT_LINE);
    free(name);
    for (size_t i = 0; i < node->attrs.n && i < DOT_ATTRS; i++) {
        odb_buf_puts(out, "\\n");
        dot_attr(out, &node->attrs.items[i], DOT_LINE);
    }
    if (node->attrs.n > DOT_ATTRS)
        odb_buf_printf(out, "\\nand %zu more attribute%s", node->attrs.n - DOT_ATTRS,
                       odb_plural(node->attrs.n - DOT_ATTRS));
    dot_weights(drawing, node, out);
    if (dot_look(drawing, node->index) != DOT_UNKNOWN)
        dot_verdict(&drawing->marks[node->index], "\\n", out);
    odb_buf_putc(out, '"');
}

static void dot_tooltip(const struct odb_drawing *drawing, const struct odb_node *node,
                        struct odb_buf *out)
{
    odb_buf_printf(out, " tooltip=\"#%d", node->index);
    odb_buf_puts(out, *node->name ? " " : "");
    dot_shown(out, node->name, DOT_TOOLTIP);
    odb_buf_puts(out, " (");
    dot_op(out, node, DOT_TOOLTIP);
    odb_buf_putc(out, ')');
    for (size_t i = 0; i < node->attrs.n; i++) {
        odb_buf_puts(out, "; ");
        dot_attr(out, &node->attrs.items[i], DOT_TOOLTIP);
    }
    if (dot_look(drawing, node->index) != DOT_UNKNOWN)
        dot_verdict(&drawing->marks[node->index], "; ", out);
    if (odb_node_has_body(node))
        odb_buf_puts(out, "; its body is a picture of its own: name a node in it by its path");
    odb_buf_putc(out, '"');
}

static void dot_node(const struct odb_drawing *drawing, const struct odb_node *node,
                     struct odb_buf *out)
{
    enum dot_look look = dot_look(drawing, node->index);
    bool accused = drawing->marks && drawing->marks[node->index].kind;
    odb_buf_printf(out, "  n%d [id=\"node-%d\" URL=\"#node-%d\" ", node->index, node->index,
                   node->index);
    dot_label(drawing, node, out);
    dot_tooltip(drawing, node, out);
    odb_buf_printf(out, " fillcolor=\"%s\" color=\"%s\" fontcolor=\"%s\" style=\"%s\"",
                   dot_looks[look].fill, dot_looks[accused ? DOT_CULPRIT : look].line,
                   dot_looks[look].text, dot_looks[accused ? DOT_CULPRIT : look].style);
    if (accused)
        odb_buf_puts(out, " peripheries=2 penwidth=3");
    else if (odb_node_has_body(node))
        odb_buf_puts(out, " shape=folder");
    odb_buf_puts(out, "]\n");
}

/* --- values ----------------------------------------------------------------------------------- */

/* Its name, where that is wanted, and its type, as far as that is known. */
static void dot_value_text(const struct odb_drawing *drawing, const struct odb_value *value,
                           bool named, const char *between, enum dot_place place,
                           struct odb_buf *out)
{
    char key[512], type[400];
    const char *text = odb_drawing_type(drawing, value->index, type, sizeof type);
    if (named)
        dot_shown(out, odb_value_key(drawing->graph, value, key, sizeof key), place);
    odb_buf_puts(out, named && *text ? between : "");
    dot_shown(out, text, place);
}

/* What the graph is given, or gives: an ellipse. */
static void dot_port(const struct odb_drawing *drawing, const struct odb_value *value,
                     const char *what, struct odb_buf *out)
{
    odb_buf_printf(out, "  %s%d [shape=ellipse id=\"%s-%d\" label=\"", what, value->index, what,
                   value->index);
    dot_value_text(drawing, value, true, "\\n", DOT_LINE, out);
    odb_buf_printf(out, "\" tooltip=\"%s ", what);
    dot_value_text(drawing, value, true, " ", DOT_TOOLTIP, out);
    odb_buf_puts(out, "\"]\n");
}

static void dot_edge(const struct odb_drawing *drawing, const struct odb_value *value,
                     const char *from, const char *to, size_t drawn, struct odb_buf *out)
{
    odb_buf_printf(out, "  %s -> %s [label=\"", from, to);
    if (drawn <= DOT_TYPED)
        dot_value_text(drawing, value, drawn <= DOT_NAMED, "\\n", DOT_LINE, out);
    odb_buf_puts(out, "\" tooltip=\"");
    dot_value_text(drawing, value, true, " ", DOT_TOOLTIP, out);
    odb_buf_puts(out, "\" labeltooltip=\"");
    dot_value_text(drawing, value, true, " ", DOT_TOOLTIP, out);
    odb_buf_puts(out, "\"]\n");
}

/* What leads to nodes that are not drawn: a dotted line to how many there are. */
static void dot_rest(const char *end, bool above, size_t n, struct odb_buf *out)
{
    const char *way = above ? "above" : "below";
    if (!n)
        return;
    odb_buf_printf(out,
                   "  %s_%s [shape=plaintext fontcolor=\"#767676\" label=\"%zu not drawn\" "
                   "tooltip=\"%zu node%s that %s not drawn\"]\n",
                   end, way, n, n, odb_plural(n), n == 1 ? "is" : "are");
    if (above)
        odb_buf_printf(out, "  %s_%s -> %s [style=dotted]\n", end, way, end);
    else
        odb_buf_printf(out, "  %s -> %s_%s [style=dotted]\n", end, end, way);
}

/* A value with all drawn nodes that read it. */
static void dot_value(const struct odb_drawing *drawing, const struct odb_value *value,
                      size_t drawn, struct odb_buf *out)
{
    char from[32], to[32];
    bool made = value->producer != ODB_NO_NODE, read = false;
    if (value->init || (made && !drawing->nodes[value->producer]))
        return;
    for (size_t i = 0; i < value->n_consumers; i++)
        read |= drawing->nodes[value->consumers[i]];
    if (!made && read)
        dot_port(drawing, value, "input", out);
    snprintf(from, sizeof from, made ? "n%d" : "input%d", made ? value->producer : value->index);
    for (size_t i = 0; i < value->n_consumers; i++) {
        if (!drawing->nodes[value->consumers[i]])
            continue;
        snprintf(to, sizeof to, "n%d", value->consumers[i]);
        dot_edge(drawing, value, from, to, drawn, out);
    }
    if (value->is_output && made) {
        dot_port(drawing, value, "output", out);
        snprintf(to, sizeof to, "output%d", value->index);
        dot_edge(drawing, value, from, to, drawn, out);
    }
}

static void dot_cut(const struct odb_drawing *drawing, const struct odb_node *node,
                    struct odb_buf *out)
{
    const struct odb_value *values = drawing->graph->values;
    bool *seen = odb_new_n(bool, drawing->graph->n_nodes + 1);
    size_t above = 0, below = 0;
    char end[32];
    snprintf(end, sizeof end, "n%d", node->index);
    for (size_t i = 0; i < odb_node_n_reads(node); i++) {
        int value = odb_node_reads(node, i);
        int maker =
            value == ODB_NO_VALUE || values[value].init ? ODB_NO_NODE : values[value].producer;
        if (maker == ODB_NO_NODE || drawing->nodes[maker] || seen[maker])
            continue;
        seen[maker] = true;
        above++;
    }
    for (int i = 0; i < node->n_out; i++)
        for (size_t c = 0; node->out[i] != ODB_NO_VALUE && c < values[node->out[i]].n_consumers;
             c++) {
            int reader = values[node->out[i]].consumers[c];
            below += !drawing->nodes[reader] && !seen[reader];
            seen[reader] = true;
        }
    dot_rest(end, true, above, out);
    dot_rest(end, false, below, out);
    free(seen);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* In HTML's syntax, which alone has tables; in it as well two backslashes stand for one. */
static void dot_title(const char *title, struct odb_buf *out)
{
    struct odb_buf shown = ODB_BUF_INIT, text = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, title);
    for (const char *p = odb_buf_text(&shown); *p; p++) {
        odb_buf_puts(&text, *p == '\\' ? "\\" : "");
        odb_buf_putc(&text, *p);
    }
    odb_put_xml(out, odb_buf_text(&text));
    odb_buf_dispose(&shown);
    odb_buf_dispose(&text);
}

/* The title, and what the colours of this picture mean. */
static void dot_legend(const struct odb_drawing *drawing, struct odb_buf *out)
{
    bool has[DOT_LOOKS] = {0};
    for (size_t n = 0; n < drawing->graph->n_nodes && drawing->marks; n++)
        if (drawing->nodes[n]) {
            has[dot_look(drawing, (int)n)] = true;
            has[DOT_CULPRIT] |= drawing->marks[n].kind != NULL;
        }
    odb_buf_puts(out, "  label=<<table border=\"0\"><tr><td align=\"left\">");
    dot_title(drawing->title, out);
    odb_buf_puts(out, "</td></tr>");
    if (drawing->marks)
        odb_buf_puts(out, "<tr><td><table border=\"0\">");
    for (int i = 0; i < DOT_LOOKS; i++)
        if (has[i])
            odb_buf_printf(out,
                           "<tr><td border=\"%d\" color=\"%s\" bgcolor=\"%s\"></td>"
                           "<td align=\"left\">%s</td></tr>",
                           i == DOT_CULPRIT ? 3 : 1, dot_looks[i].line, dot_looks[i].fill,
                           dot_looks[i].means);
    odb_buf_puts(out, drawing->marks ? "</table></td></tr></table>>\n" : "</table>>\n");
}

size_t odb_drawing_count(const struct odb_drawing *drawing)
{
    size_t n = 0;
    for (size_t i = 0; i < drawing->graph->n_nodes; i++)
        n += drawing->nodes[i];
    return n;
}

void odb_drawing_dot(const struct odb_drawing *drawing, struct odb_buf *out)
{
    const struct odb_graph *graph = drawing->graph;
    size_t drawn = odb_drawing_count(drawing);
    odb_buf_puts(out, "digraph model {\n"
                      "  graph [charset=\"UTF-8\" bgcolor=\"white\" fontname=\"Helvetica\" "
                      "labelloc=b labeljust=l]\n"
                      "  node [shape=box fontname=\"Helvetica\" fontsize=12]\n"
                      "  edge [fontname=\"Helvetica\" fontsize=10 color=\"#5b6875\"]\n");
    dot_legend(drawing, out);
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (drawing->nodes[n])
            dot_node(drawing, &graph->nodes[n], out);
    for (size_t v = 0; v < graph->n_values; v++)
        dot_value(drawing, &graph->values[v], drawn, out);
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (drawing->nodes[n])
            dot_cut(drawing, &graph->nodes[n], out);
    odb_buf_puts(out, "}\n");
}
