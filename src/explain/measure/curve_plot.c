/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/measure/curve.h"

#define PLOT_MARGIN 12 /* columns of the numbers on the left */

struct plot {
    int cols, rows;
    double x[2], y[2]; /* least and largest */
    char *cells;       /* owned; [rows][cols] */
};

static void plot_widen(double range[2], double v)
{
    if (!isfinite(v))
        return;
    range[0] = fmin(range[0], v);
    range[1] = fmax(range[1], v);
}

/* Where v lies in a range of n cells. */
static int plot_at(const double range[2], double v, int n)
{
    double width = range[1] - range[0];
    return width > 0 ? (int)((v - range[0]) / width * (n - 1) + 0.5) : n / 2;
}

static void plot_mark(struct plot *p, double x, double y, char mark)
{
    if (isfinite(y))
        p->cells[(p->rows - 1 - plot_at(p->y, y, p->rows)) * p->cols + plot_at(p->x, x, p->cols)] =
            mark;
}

static void plot_put(const struct plot *p, struct odb_buf *out)
{
    for (int row = 0; row < p->rows; row++) {
        const char *line = p->cells + row * p->cols;
        int n = p->cols;
        while (n > 0 && line[n - 1] == ' ')
            n--;
        if (row == 0 || row == p->rows - 1)
            odb_buf_printf(out, "%*.4g |%.*s\n", PLOT_MARGIN, p->y[row == 0], n, line);
        else
            odb_buf_printf(out, "%*s |%.*s\n", PLOT_MARGIN, "", n, line);
    }
    char left[32], right[32];
    int n = snprintf(left, sizeof left, "%.4g", p->x[0]);
    snprintf(right, sizeof right, "%.4g", p->x[1]);
    odb_buf_printf(out, "%*s  %s%*s\n", PLOT_MARGIN, "", left, ODB_MAX(p->cols - n, 1), right);
}

void odb_curve_plot(const struct odb_curve *c, int cols, int rows, struct odb_buf *out)
{
    struct plot p = {.cols = ODB_MAX(cols - PLOT_MARGIN - 2, 8), .rows = ODB_MAX(rows - 1, 3)};
    if (!c->points.n)
        return;
    for (int k = 0; k < 2; k++)
        p.x[k] = p.y[k] = k ? -INFINITY : INFINITY;
    for (size_t i = 0; i < c->points.n; i++) {
        plot_widen(p.x, c->points.items[i].x);
        plot_widen(p.y, c->points.items[i].y);
        plot_widen(p.y, c->points.items[i].r);
    }
    if (!(p.y[0] <= p.y[1]) || !isfinite(p.y[1] - p.y[0]) || !isfinite(p.x[1] - p.x[0]))
        return;
    p.cells = odb_new_n(char, p.cols *p.rows);
    memset(p.cells, ' ', (size_t)p.cols * (size_t)p.rows);
    for (size_t i = 0; i < c->points.n; i++)
        plot_mark(&p, c->points.items[i].x, c->points.items[i].r, '.');
    for (size_t i = 0; i < c->points.n; i++)
        plot_mark(&p, c->points.items[i].x, c->points.items[i].y, '*');
    plot_put(&p, out);
    free(p.cells);
}
