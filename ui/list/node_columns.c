/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/list/node_columns.h"

#define COLUMNS_OUTPUT 130 /* columns from which on the output has one of its own */
#define COLUMNS_LITTLE 6   /* columns that an operator keeps */

const struct ui_node_column ui_node_column_kinds[UI_COLUMN_COUNT] = {
    [UI_COLUMN_OP] = {"operator", UI_SORT_OP, 18, 0, 1, false},
    [UI_COLUMN_NAME] = {"name", UI_SORT_NAME, 0, 0, 1, false},
    [UI_COLUMN_OUT] = {"output", UI_SORT_OUTPUT, 0, 0, 0, false},
    [UI_COLUMN_TYPE] = {"type", UI_SORT_TYPE, 22, 0, 0, false},
    [UI_COLUMN_KERNEL] = {"kernel", UI_SORT_KERNEL, 22, 0, 0, false},
    [UI_COLUMN_BAR] = {"error 1e-8 to 1", UI_SORT_ERROR, 16, 1, 0, false},
    [UI_COLUMN_ERROR] = {"error", UI_SORT_ERROR, 8, 0, 0, true},
    [UI_COLUMN_LOCAL] = {"local", UI_SORT_LOCAL, 8, 0, 0, true},
    [UI_COLUMN_NOISE] = {"noise", UI_SORT_NOISE, 8, 0, 0, true},
    [UI_COLUMN_GAIN] = {"gain", UI_SORT_GAIN, 8, 0, 0, true},
    [UI_COLUMN_SECONDS] = {"seconds", UI_SORT_SECONDS, 9, 0, 0, true},
    [UI_COLUMN_TARGET_SECONDS] = {"on target", UI_SORT_TARGET_SECONDS, 10, 0, 0, true},
};

/* Blanks before a column: a text needs one behind numbers, which end where their column does. */
static int columns_gap(const enum ui_column *order, int i)
{
    bool numbers = i && ui_node_column_kinds[order[i - 1]].right;
    const struct ui_node_column *kind = &ui_node_column_kinds[order[i]];
    return ODB_MAX(kind->before, numbers && !kind->right);
}

/* Side by side, in this order. Folded nodes have the room of their names and of the texts right
 * behind those. */
static void columns_place(struct ui_node_columns *c, const enum ui_column *order, int n)
{
    int col = c->index + 4;
    bool texts = false;
    c->folded = 0;
    for (int i = 0; i < n; i++) {
        enum ui_column k = order[i];
        const struct ui_node_column *kind = &ui_node_column_kinds[k];
        c->at[k] = col + columns_gap(order, i);
        if (c->width[k] > 0 || kind->behind)
            col = c->at[k] + c->width[k] + kind->behind;
        if (c->width[k] > 0)
            c->shown.list[c->shown.n++] = k;
        texts = k == UI_COLUMN_NAME || (texts && k <= UI_COLUMN_KERNEL);
        if (texts)
            c->folded = col - c->at[UI_COLUMN_NAME];
    }
}

/* What is left of the width is the names'. */
static void columns_chosen(struct ui_node_columns *c, const struct ui_columns *wanted, int cols)
{
    const struct ui_node_columns usual = *c;
    int rest = cols - c->index - 4;
    bool name = false, out = false;
    *c = (struct ui_node_columns){.index = usual.index};
    for (int i = 0; i < wanted->n; i++) {
        enum ui_column k = wanted->list[i];
        const struct ui_node_column *kind = &ui_node_column_kinds[k];
        c->width[k] = usual.width[k] ? usual.width[k] : kind->width;
        rest -= columns_gap(wanted->list, i) + c->width[k] + kind->behind;
        name |= k == UI_COLUMN_NAME;
        out |= k == UI_COLUMN_OUT;
    }
    if (out)
        c->width[UI_COLUMN_OUT] = ODB_MAX(name ? rest / 2 : rest, 0);
    if (name)
        c->width[UI_COLUMN_NAME] = ODB_MAX(rest - c->width[UI_COLUMN_OUT], 0);
    columns_place(c, wanted->list, wanted->n);
}

/* What fits. Returns what is left for names and outputs. */
static int columns_fit(struct ui_node_columns *c, const struct ui_node_widths *w)
{
    int *width = c->width, whole = w->names->whole;
    width[UI_COLUMN_OP] = ODB_MIN(width[UI_COLUMN_OP], ODB_MAX(w->names->op, UI_NODE_LEAST_OP));
    width[UI_COLUMN_TYPE] = ODB_MIN(width[UI_COLUMN_TYPE], w->type + (w->type > 0));
    int rest = w->cols - (c->index + width[UI_COLUMN_OP] + width[UI_COLUMN_TYPE] +
                          width[UI_COLUMN_BAR] + width[UI_COLUMN_ERROR] + 7);
    if (rest < w->enough) { /* the error and the name matter most */
        rest += width[UI_COLUMN_TYPE];
        width[UI_COLUMN_TYPE] = 0;
    }
    int spare = ODB_MIN(rest - whole, w->names->op - width[UI_COLUMN_OP]);
    if (spare > 0) { /* what names do not need makes operators whole */
        width[UI_COLUMN_OP] += spare;
        rest -= spare;
    }
    int local = ui_node_column_kinds[UI_COLUMN_LOCAL].width;
    if (rest - whole >= local) { /* and tells whose error it is */
        width[UI_COLUMN_LOCAL] = local;
        rest -= local;
    }
    return rest;
}

struct ui_node_columns ui_node_columns(const struct ui_node_widths *widths,
                                       const struct ui_columns *wanted)
{
    enum ui_column order[UI_COLUMN_COUNT];
    bool wide = widths->cols >= 100;
    struct ui_node_columns c = {.index = 3,
                                .width = {[UI_COLUMN_OP] = wide ? 18 : 13,
                                          [UI_COLUMN_TYPE] = wide ? 22 : 18,
                                          [UI_COLUMN_BAR] = wide ? 16 : 10,
                                          [UI_COLUMN_ERROR] = 8}};
    for (int n = widths->index; n >= 1000; n /= 10)
        c.index++;
    if (wanted->n) {
        columns_chosen(&c, wanted, widths->cols);
        return c;
    }
    int rest = columns_fit(&c, widths);
    /* On a narrow screen a name is what rows are told apart by. */
    const struct columns_gives {
        int *width, least;
    } gives[] = {{&c.width[UI_COLUMN_BAR], 0}, {&c.width[UI_COLUMN_OP], COLUMNS_LITTLE}};
    int needed = ODB_MIN(ODB_MIN(widths->enough, UI_NODE_LEAST_NAME), widths->names->whole);
    for (size_t i = 0; i < ODB_COUNT(gives) && rest < needed; i++) {
        int part = ODB_MIN(needed - rest, ODB_MAX(*gives[i].width - gives[i].least, 0));
        *gives[i].width -= part;
        rest += part;
    }
    if (widths->cols >= COLUMNS_OUTPUT)
        c.width[UI_COLUMN_OUT] = ODB_MIN(rest / 3, 40);
    c.width[UI_COLUMN_NAME] = ODB_MAX(rest - c.width[UI_COLUMN_OUT], 0);
    for (int k = 0; k < UI_COLUMN_COUNT; k++)
        order[k] = (enum ui_column)k;
    columns_place(&c, order, UI_COLUMN_COUNT);
    return c;
}
