/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is drawn, and what it says. Names are any bytes: every text is shown safely from here on.
 */
#include "drawing/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "meaning/meaning.h"
#include "model/formal.h"
#include "model/text/model_text.h"
#include "model/write/body_model.h"

/* Where a text stands, and how many bytes of it: the tooltip has what a line in a box leaves out.
 */
enum picture_place { PICTURE_LINE = 44, PICTURE_TOOLTIP = 1000 };

#define PICTURE_ATTRS 4    /* attributes in a box, and */
#define PICTURE_WEIGHTS 3  /* weights; */
#define PICTURE_MEANINGS 5 /* inputs in a tooltip; with more nodes than */
#define PICTURE_MEANT 2000 /* it has none: to look up their words takes longest */
/* Labels of lines make Graphviz ten times as slow: with so many nodes only tooltips name values, */
#define PICTURE_NAMED 60
#define PICTURE_TYPED 250 /* and with so many they alone have their types */

/* How a node looks. Colours run from blue over yellow and orange to brown, which eyes keep apart
 * that see no red or no green. */
enum picture_looks {
    PICTURE_UNKNOWN,
    PICTURE_PASS,
    PICTURE_SMALL,
    PICTURE_MIDDLE,
    PICTURE_LARGE,
    PICTURE_BROKEN,
    PICTURE_UNTESTABLE,
    PICTURE_CULPRIT,
    PICTURE_LOOKS
};
static const struct {
    struct odb_picture_look look;
    const char *means;
} picture_looks[PICTURE_LOOKS] = {
    [PICTURE_UNKNOWN] = {{"#ffffff", "#767676", "#000000", "filled,rounded"}, "not judged"},
    [PICTURE_PASS] = {{"#dbe9f6", "#2f6db5", "#000000", "filled,rounded"}, "pass: round corners"},
    [PICTURE_SMALL] = {{"#fee9a8", "#8a5a00", "#000000", "filled"}, "off, error below 0.001"},
    [PICTURE_MIDDLE] = {{"#fdb863", "#8a4500", "#000000", "filled"}, "off, error below 0.1"},
    [PICTURE_LARGE] = {{"#d9731a", "#5c2a00", "#000000", "filled"}, "off, error from 0.1 on"},
    [PICTURE_BROKEN] = {{"#7f3b08", "#000000", "#ffffff", "filled"},
                        "no number: NaN, crash, other type"},
    [PICTURE_UNTESTABLE] = {{"#eeeeee", "#767676", "#000000", "filled,dashed"},
                            "could not be tested"},
    [PICTURE_CULPRIT] = {{"#ffffff", "#b3261e", "#000000", "filled"},
                         "culprit: a thick double line"},
};
static const struct odb_picture_look picture_faint = {.text = "#767676"};

struct picture_maker {
    const struct odb_drawing *drawing; /* borrowed */
    struct odb_picture *picture;       /* borrowed */
    size_t drawn;                      /* nodes */
    int *boxes;                        /* owned; [n_nodes] of the nodes that are drawn */
};

static enum picture_looks picture_look(const struct odb_drawing *drawing, int node)
{
    const struct odb_drawing_mark *mark = drawing->marks ? &drawing->marks[node] : NULL;
    if (!mark || mark->verdict == ODB_VERDICT_UNTESTED)
        return PICTURE_UNKNOWN;
    if (mark->verdict == ODB_VERDICT_PASS)
        return PICTURE_PASS;
    if (!odb_verdict_is_bad(mark->verdict))
        return PICTURE_UNTESTABLE;
    return isinf(mark->error)   ? PICTURE_BROKEN
           : mark->error < 1e-3 ? PICTURE_SMALL
           : mark->error < 1e-1 ? PICTURE_MIDDLE
                                : PICTURE_LARGE;
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Any text; of one that is too long for its place, beginning and end. */
static void picture_shown(struct odb_buf *out, const char *text, enum picture_place place)
{
    struct odb_buf shown = ODB_BUF_INIT;
    size_t most = place;
    odb_buf_put_shown(&shown, text);
    if (shown.len > most) {
        size_t end = odb_utf8_back(shown.data, most / 2);
        size_t from = odb_utf8_back(shown.data, shown.len - most / 2);
        odb_buf_printf(out, "%.*s…%s", (int)end, shown.data, shown.data + from);
    } else {
        odb_buf_puts(out, odb_buf_text(&shown));
    }
    odb_buf_dispose(&shown);
}

const char *odb_drawing_type(const struct odb_drawing *drawing, int value, char *buf, size_t size)
{
    const struct odb_type *type = &drawing->graph->values[value].type;
    odb_shape_put(&drawing->shapes->values[value], true, buf, size);
    return !*buf && type->known ? type->shown : buf;
}

static void picture_op(struct odb_buf *out, const struct odb_node *node, enum picture_place place)
{
    char *op = odb_xasprintf("%s%s%s", node->domain, *node->domain ? "::" : "", node->op_type);
    picture_shown(out, op, place);
    free(op);
}

/* "pads = [1, 1, 1, 1]"; of a body, how large it is. */
static void picture_attr(struct odb_buf *out, const struct odb_attr *attr, enum picture_place place)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_printf(&text, "%s = ", attr->name);
    if (attr->type == ODB_ATTR_GRAPH && attr->n)
        odb_buf_printf(&text, "a body of %zu node%s", attr->graphs[0]->n_nodes,
                       odb_plural(attr->graphs[0]->n_nodes));
    else
        odb_attr_text(attr, &text);
    picture_shown(out, odb_buf_text(&text), place);
    odb_buf_dispose(&text);
}

static void picture_weights(const struct odb_drawing *drawing, const struct odb_node *node,
                            struct odb_buf *out)
{
    char formal[ODB_FORMAL_NAME], type[400];
    int n = 0;
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == ODB_NO_VALUE || !drawing->graph->values[node->in[i]].init)
            continue;
        if (n++ < PICTURE_WEIGHTS) {
            odb_buf_putc(out, '\n');
            odb_formal_name(node, true, i, formal);
            char *line = odb_xasprintf("%s: %s", *formal ? formal : "weight",
                                       odb_drawing_type(drawing, node->in[i], type, sizeof type));
            picture_shown(out, line, PICTURE_LINE);
            free(line);
        }
    }
    if (n > PICTURE_WEIGHTS)
        odb_buf_printf(out, "\nand %d more weight%s", n - PICTURE_WEIGHTS,
                       odb_plural((size_t)(n - PICTURE_WEIGHTS)));
}

static void picture_verdict(const struct odb_drawing *drawing, int node, const char *between,
                            struct odb_buf *out)
{
    if (picture_look(drawing, node) == PICTURE_UNKNOWN)
        return;
    const struct odb_drawing_mark *mark = &drawing->marks[node];
    if (mark->kind)
        odb_buf_printf(out, "%sculprit: %s", between, mark->kind);
    odb_buf_printf(out, "%s%s", between, odb_verdict_name(mark->verdict));
    if (odb_verdict_is_bad(mark->verdict) && isfinite(mark->error))
        odb_buf_printf(out, ", error %.3g", mark->error);
}

static char *picture_node_label(const struct odb_drawing *drawing, const struct odb_node *node)
{
    struct odb_buf out = ODB_BUF_INIT;
    char *name = odb_xasprintf("#%d%s%s", node->index, *node->name ? " " : "", node->name);
    picture_op(&out, node, PICTURE_LINE);
    odb_buf_putc(&out, '\n');
    picture_shown(&out, name, PICTURE_LINE);
    free(name);
    for (size_t i = 0; i < node->attrs.n && i < PICTURE_ATTRS; i++) {
        odb_buf_putc(&out, '\n');
        picture_attr(&out, &node->attrs.items[i], PICTURE_LINE);
    }
    if (node->attrs.n > PICTURE_ATTRS)
        odb_buf_printf(&out, "\nand %zu more attribute%s", node->attrs.n - PICTURE_ATTRS,
                       odb_plural(node->attrs.n - PICTURE_ATTRS));
    picture_weights(drawing, node, &out);
    picture_verdict(drawing, node->index, "\n", &out);
    return odb_buf_take(&out);
}

/* A line for each of its first inputs: what the operator makes of it. */
static void picture_meanings(const struct odb_node *node, struct odb_buf *out)
{
    char name[ODB_FORMAL_NAME], words[ODB_MEANING];
    for (int i = 0; i < ODB_MIN(node->n_in, PICTURE_MEANINGS); i++)
        if (node->in[i] != ODB_NO_VALUE && *odb_meaning_of_port(node, true, i, words))
            odb_buf_printf(out, "\n%s: %s", odb_formal_name(node, true, i, name), words);
}

static char *picture_node_tooltip(const struct picture_maker *m, const struct odb_node *node)
{
    struct odb_buf out = ODB_BUF_INIT;
    odb_buf_printf(&out, "#%d%s", node->index, *node->name ? " " : "");
    picture_shown(&out, node->name, PICTURE_TOOLTIP);
    odb_buf_puts(&out, " (");
    picture_op(&out, node, PICTURE_TOOLTIP);
    odb_buf_putc(&out, ')');
    for (size_t i = 0; i < node->attrs.n; i++) {
        odb_buf_puts(&out, "; ");
        picture_attr(&out, &node->attrs.items[i], PICTURE_TOOLTIP);
    }
    picture_verdict(m->drawing, node->index, "; ", &out);
    if (odb_node_has_body(node))
        odb_buf_puts(&out, "; its body is a picture of its own: name a node in it by its path");
    if (m->drawn <= PICTURE_MEANT)
        picture_meanings(node, &out);
    return odb_buf_take(&out);
}

/* What comes before it, its name where that is wanted, and its type as far as that is known. */
static char *picture_value_text(const struct odb_drawing *drawing, const struct odb_value *value,
                                const char *before, bool named, const char *between,
                                enum picture_place place)
{
    struct odb_buf out = ODB_BUF_INIT;
    char key[512], type[400];
    const char *text = odb_drawing_type(drawing, value->index, type, sizeof type);
    odb_buf_puts(&out, before);
    if (named)
        picture_shown(&out, odb_value_key(drawing->graph, value, key, sizeof key), place);
    odb_buf_puts(&out, named && *text ? between : "");
    picture_shown(&out, text, place);
    return odb_buf_take(&out);
}

/* --- boxes and lines -------------------------------------------------------------------------- */

static int picture_add_box(struct picture_maker *m, struct odb_picture_box box)
{
    odb_push(&m->picture->boxes, box);
    return (int)m->picture->boxes.n - 1;
}

static void picture_node(struct picture_maker *m, const struct odb_node *node)
{
    const struct odb_drawing *drawing = m->drawing;
    struct odb_picture_box box = {
        .link = true,
        .accused = drawing->marks && drawing->marks[node->index].kind,
        .look = picture_looks[picture_look(drawing, node->index)].look,
        .label = picture_node_label(drawing, node),
        .tooltip = picture_node_tooltip(m, node),
    };
    snprintf(box.name, sizeof box.name, "n%d", node->index);
    snprintf(box.id, sizeof box.id, "node-%d", node->index);
    if (box.accused) {
        box.look.line = picture_looks[PICTURE_CULPRIT].look.line;
        box.look.style = picture_looks[PICTURE_CULPRIT].look.style;
    } else if (odb_node_has_body(node)) {
        box.shape = "folder";
    }
    m->boxes[node->index] = picture_add_box(m, box);
}

/* What the graph is given, or gives: an ellipse. */
static int picture_port(struct picture_maker *m, const struct odb_value *value, const char *what)
{
    char *before = odb_xasprintf("%s ", what);
    struct odb_picture_box box = {
        .shape = "ellipse",
        .label = picture_value_text(m->drawing, value, "", true, "\n", PICTURE_LINE),
        .tooltip = picture_value_text(m->drawing, value, before, true, " ", PICTURE_TOOLTIP),
    };
    snprintf(box.name, sizeof box.name, "%s%d", what, value->index);
    snprintf(box.id, sizeof box.id, "%s-%d", what, value->index);
    free(before);
    return picture_add_box(m, box);
}

static void picture_line(struct picture_maker *m, const struct odb_value *value, int from, int to)
{
    struct odb_picture_line line = {
        .from = from,
        .to = to,
        .tooltip = picture_value_text(m->drawing, value, "", true, " ", PICTURE_TOOLTIP),
    };
    if (m->drawn <= PICTURE_TYPED)
        line.label = picture_value_text(m->drawing, value, "", m->drawn <= PICTURE_NAMED, "\n",
                                        PICTURE_LINE);
    odb_push(&m->picture->lines, line);
}

/* A value with all drawn nodes that read it. */
static void picture_value(struct picture_maker *m, const struct odb_value *value)
{
    const bool *nodes = m->drawing->nodes;
    bool made = value->producer != ODB_NO_NODE, read = false;
    if (value->init || (made && !nodes[value->producer]))
        return;
    for (size_t i = 0; i < value->n_consumers; i++)
        read |= nodes[value->consumers[i]];
    int from = made ? m->boxes[value->producer] : read ? picture_port(m, value, "input") : -1;
    for (size_t i = 0; i < value->n_consumers; i++)
        if (nodes[value->consumers[i]])
            picture_line(m, value, from, m->boxes[value->consumers[i]]);
    if (value->is_output && made)
        picture_line(m, value, from, picture_port(m, value, "output"));
}

/* What leads to nodes that are not drawn: a dotted line to how many there are. */
static void picture_rest(struct picture_maker *m, int node, bool above, size_t n)
{
    struct odb_picture_box box = {.shape = "plaintext", .look = picture_faint};
    int end = m->boxes[node];
    if (!n)
        return;
    snprintf(box.name, sizeof box.name, "n%d_%s", node, above ? "above" : "below");
    box.label = odb_xasprintf("%zu not drawn", n);
    box.tooltip =
        odb_xasprintf("%zu node%s that %s not drawn", n, odb_plural(n), n == 1 ? "is" : "are");
    int rest = picture_add_box(m, box);
    odb_push(&m->picture->lines, (struct odb_picture_line){.from = above ? rest : end,
                                                           .to = above ? end : rest,
                                                           .dotted = true});
}

/* The nodes around this one that are not drawn. */
static void picture_cut(struct picture_maker *m, const struct odb_node *node)
{
    const struct odb_drawing *drawing = m->drawing;
    const struct odb_value *values = drawing->graph->values;
    bool *seen = odb_new_n(bool, drawing->graph->n_nodes + 1);
    size_t above = 0, below = 0;
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
    picture_rest(m, node->index, true, above);
    picture_rest(m, node->index, false, below);
    free(seen);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void picture_legend(struct odb_picture *picture, const struct odb_drawing *drawing)
{
    bool has[PICTURE_LOOKS] = {0};
    for (size_t n = 0; n < drawing->graph->n_nodes && drawing->marks; n++)
        if (drawing->nodes[n]) {
            has[picture_look(drawing, (int)n)] = true;
            has[PICTURE_CULPRIT] |= drawing->marks[n].kind != NULL;
        }
    for (int i = 0; i < PICTURE_LOOKS; i++)
        if (has[i])
            odb_push(&picture->legend,
                     (struct odb_picture_legend){picture_looks[i].look, i == PICTURE_CULPRIT,
                                                 picture_looks[i].means});
}

size_t odb_drawing_count(const struct odb_drawing *drawing)
{
    size_t n = 0;
    for (size_t i = 0; i < drawing->graph->n_nodes; i++)
        n += drawing->nodes[i];
    return n;
}

void odb_picture__make(struct odb_picture *picture, const struct odb_drawing *drawing)
{
    const struct odb_graph *graph = drawing->graph;
    struct odb_buf title = ODB_BUF_INIT;
    struct picture_maker m = {.drawing = drawing,
                              .picture = picture,
                              .drawn = odb_drawing_count(drawing),
                              .boxes = odb_new_n(int, graph->n_nodes + 1)};
    *picture = (struct odb_picture){.placed = false};
    odb_buf_put_shown(&title, drawing->title);
    picture->title = odb_buf_take(&title);
    picture_legend(picture, drawing);
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (drawing->nodes[n])
            picture_node(&m, &graph->nodes[n]);
    for (size_t v = 0; v < graph->n_values; v++)
        picture_value(&m, &graph->values[v]);
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (drawing->nodes[n])
            picture_cut(&m, &graph->nodes[n]);
    free(m.boxes);
}

void odb_picture__dispose(struct odb_picture *picture)
{
    for (size_t i = 0; i < picture->boxes.n; i++) {
        free(picture->boxes.items[i].label);
        free(picture->boxes.items[i].tooltip);
    }
    for (size_t i = 0; i < picture->lines.n; i++) {
        free(picture->lines.items[i].label);
        free(picture->lines.items[i].tooltip);
        free(picture->lines.items[i].curve.items);
    }
    free(picture->boxes.items);
    free(picture->lines.items);
    free(picture->legend.items);
    free(picture->title);
}
