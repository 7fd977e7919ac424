/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/strip.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/model.h"
#include "session/session.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/constants.h"
#include "ui/view/mark.h"

#define STRIP_GUTTER 6 /* columns for the scale, where there is room */

void ui_strip_dispose(struct ui_strip *strip)
{
    free(strip->columns);
    *strip = (struct ui_strip){0};
}

/* Nodes that have a place of their own. */
static size_t strip_places(const struct ui_strip *strip, const struct odb_session *session)
{
    return odb_session_model(session)->graph->n_nodes - strip->constants->n;
}

/* First place of a column. With fewer places than columns, they are wider than one. */
static size_t strip_first(size_t places, int columns, int column)
{
    return (size_t)column * places / (size_t)columns;
}

/* The first column that a place is in. */
static int strip_column(size_t places, int columns, size_t place)
{
    int c = (int)(place * (size_t)columns / places);
    while (c > 0 && strip_first(places, columns, c - 1) >= place)
        c--;
    while (c + 1 < columns && strip_first(places, columns, c) != place &&
           strip_first(places, columns, c + 1) <= place)
        c++;
    return c;
}

static void strip_add(const struct odb_session *session, int node, double factor,
                      struct ui_strip_column *column)
{
    const struct odb_value_report *report = odb_session_node(session, node, NULL);
    bool bad = odb_verdict_is_bad(report->verdict);
    bool culprit = report->culprit || odb_session_culprit(session, node);
    if (report->verdict == ODB_VERDICT_UNTESTED && !culprit)
        return;
    double error = odb_report_error(report);
    if (report->noise.known)
        column->noise = fmax(column->noise, report->noise.v);
    if (factor > 0 && report->noise.known)
        column->tolerance = fmax(column->tolerance, factor * report->noise.v);
    column->error = fmax(column->error, error);
    column->culprit = column->culprit || culprit;
    if (culprit)
        column->style = UI_STYLE_CULPRIT;
    else if (bad && column->style != UI_STYLE_CULPRIT)
        column->style = UI_STYLE_BAD;
}

static void strip_build(struct ui_strip *strip, const struct odb_session *session, double factor,
                        int columns)
{
    size_t places = strip_places(strip, session), n = odb_session_model(session)->graph->n_nodes;
    strip->columns = odb_xrealloc(strip->columns, (size_t)columns + 1, sizeof *strip->columns);
    strip->n = columns;
    strip->factor = factor;
    for (int c = 0; c < columns; c++)
        strip->columns[c] = (struct ui_strip_column){
            .error = -1, .noise = -1, .tolerance = -1, .style = UI_STYLE_GOOD};
    for (size_t i = 0; i < n; i++) {
        size_t place = (size_t)ui_constants_place(strip->constants, (int)i);
        int c = strip_column(places, columns, place);
        do
            strip_add(session, (int)i, factor, &strip->columns[c]);
        while (++c < columns && strip_first(places, columns, c) == place);
    }
}

int ui_strip_column(const struct ui_strip *strip, const struct odb_session *session, int node)
{
    size_t places = strip_places(strip, session);
    if (!strip->n || !places || node < 0)
        return 0;
    return strip_column(places, strip->n, (size_t)ui_constants_place(strip->constants, node));
}

int ui_strip_node(const struct ui_strip *strip, const struct odb_session *session, int column)
{
    size_t places = strip_places(strip, session);
    if (!strip->n || !places || column < 0 || column >= strip->n)
        return ODB_NO_NODE;
    return ui_constants_apart(strip->constants, (int)strip_first(places, strip->n, column));
}

/* 1 at the top, 1e-8 at the foot. */
static void strip_draw_scale(const struct ui_area *area)
{
    ui_draw_right(area, 0, 0, STRIP_GUTTER - 1, UI_STYLE_DIM, "1");
    if (area->rows > 3)
        ui_draw_right(area, (area->rows - 1) / 2, 0, STRIP_GUTTER - 1, UI_STYLE_DIM, "1e-4");
    if (area->rows > 2)
        ui_draw_right(area, area->rows - 2, 0, STRIP_GUTTER - 1, UI_STYLE_DIM, "1e-8");
}

static void strip_draw_column(const struct ui_strip_column *column, int c,
                              const struct ui_area *bars)
{
    if (column->error >= 0) {
        enum ui_style style = column->style == UI_STYLE_CULPRIT ? UI_STYLE_BAD : column->style;
        ui_draw_column(bars, bars->rows - 1, c, bars->rows, ui_error_share(column->error), style);
    }
    int top = column->error >= 0 ? (int)(ui_error_share(column->error) * bars->rows) : -1;
    int noise = (int)(ui_error_share(column->noise) * bars->rows);
    if (column->noise > 0 && noise > top) /* where no bar is in the way */
        ui_draw_glyph(bars, ODB_MAX(bars->rows - 1 - noise, 0), c, UI_STYLE_NOISE, UI_GLYPH_DOT);
    if (column->tolerance >= 0) { /* on top: where the bar reaches above it, the value is off */
        int up = (int)(ui_error_share(column->tolerance) * bars->rows);
        bool over = column->error > column->tolerance;
        ui_draw_glyph(bars, ODB_MAX(bars->rows - 1 - up, 0), c,
                      over ? UI_STYLE_OVER : UI_STYLE_TOLERANCE, UI_GLYPH_HLINE);
    }
}

void ui_strip_draw(struct ui_app *app, double factor, int selected, const struct ui_area *area)
{
    struct ui_strip *strip = &app->strip;
    const struct odb_session *session = app->session;
    size_t places = strip_places(strip, session);
    int gutter = area->cols > 40 ? STRIP_GUTTER : 0, columns = area->cols - gutter;
    if (columns < 1 || area->rows < 2 || !places)
        return;
    if (strip->n != columns || strip->factor != factor ||
        ui_upkeep_is_due(&strip->upkeep, session, ui_app_turn(app))) {
        ui_upkeep_begin(&strip->upkeep, session);
        strip_build(strip, session, factor, columns);
        ui_upkeep_end(&strip->upkeep, &app->turn);
    }
    if (gutter)
        strip_draw_scale(area);
    struct ui_area bars = ui_area_part(area, 0, gutter, area->rows - 1, columns);
    struct ui_area axis = ui_area_part(area, area->rows - 1, gutter, 1, columns);
    ui_draw_hline(&axis, 0, 0, columns, UI_STYLE_BORDER);
    for (int c = 0; c < columns; c++) {
        bool first = !c || strip_first(places, columns, c) != strip_first(places, columns, c - 1);
        strip_draw_column(&strip->columns[c], c, &bars);
        if (strip->columns[c].culprit && first)
            ui_draw_glyph(&axis, 0, c, UI_STYLE_CULPRIT, UI_GLYPH_CULPRIT);
    }
    int at = ui_strip_column(strip, session, selected);
    if (selected >= 0)
        ui_draw_glyph(&axis, 0, at,
                      strip->columns[at].culprit ? UI_STYLE_CULPRIT : UI_STYLE_SELECTED,
                      UI_GLYPH_ARROW_UP);
}
