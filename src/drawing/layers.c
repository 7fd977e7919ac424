/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where boxes and lines of a large graph stand. Graphviz's own layout takes minutes to hours there,
 * so it is told all places and only draws: layers by the longest way from above, points where a
 * line passes a layer, the order of a layer by the mean of what is above it and below it in turns,
 * and then places as near to that as there is room.
 */
#include <stdlib.h>

#include "drawing/picture.h"

enum {
    LAYERS_ORDER = 8,       /* sweeps that order, */
    LAYERS_MOVE = 12,       /* and that move */
    LAYERS_POINTS = 1000000 /* at most: a line over so many layers that there could be more goes
                               straight */
};
#define LAYERS_GAP 24.0   /* points between two boxes, */
#define LAYERS_BELOW 48.0 /* and between two layers */
#define LAYERS_THIN 12.0  /* what a line takes that passes a layer */
#define LAYERS_CHAR 6.9   /* width of a letter, and */
#define LAYERS_LINE 14.4  /* height of a line of text */
#define LAYERS_ARROW 8.0  /* and the length of an arrow */

/* A box of the picture, of the same index, or behind those a point where a line passes. */
struct layers_item {
    double width, height, x, y, place, wish;
    int layer;
    ODB_VEC(int) up, down; /* items in the next layers */
    ODB_VEC(int) chain;    /* points of the lines that begin here, one per layer */
};

struct layers {
    const struct odb_picture *picture; /* borrowed */
    ODB_VEC(struct layers_item) items;
    ODB_VEC(int) * rows; /* owned; [n_rows] items from left to right */
    int n_rows;
    int longest; /* layers that a line may have points in */
    double bottom;
};

/* As large as its longest line and their number ask for. */
static void layers_measure(struct layers_item *item, const char *label)
{
    size_t columns = 0, most = 0, lines = 1;
    for (const char *p = label; *p; p++) {
        bool ends = *p == '\n';
        lines += ends;
        columns = ends ? 0 : columns + ((*p & 0xc0) != 0x80); /* bytes that begin a letter */
        most = ODB_MAX(most, columns);
    }
    item->width = LAYERS_CHAR * (double)most + 22;
    item->height = LAYERS_LINE * (double)lines + 12;
}

/* --- layers ----------------------------------------------------------------------------------- */

/* By the longest way from above; what nothing leads to stands just above what it leads to. */
static void layers_assign(struct layers *l)
{
    int *waits = odb_new_n(int, l->items.n + 1), *ready = odb_new_n(int, l->items.n + 1);
    size_t n_ready = 0;
    for (size_t i = 0; i < l->picture->lines.n; i++) {
        const struct odb_picture_line *line = &l->picture->lines.items[i];
        odb_push(&l->items.items[line->from].down, line->to);
        waits[line->to]++;
    }
    for (size_t i = 0; i < l->items.n; i++)
        if (!waits[i])
            ready[n_ready++] = (int)i;
    size_t n_sources = n_ready;
    for (size_t at = 0; at < n_ready; at++) {
        const struct layers_item *item = &l->items.items[ready[at]];
        for (size_t d = 0; d < item->down.n; d++) {
            struct layers_item *other = &l->items.items[item->down.items[d]];
            other->layer = ODB_MAX(other->layer, item->layer + 1);
            if (!--waits[item->down.items[d]])
                ready[n_ready++] = item->down.items[d];
        }
    }
    for (size_t s = 0; s < n_sources; s++) {
        struct layers_item *item = &l->items.items[ready[s]];
        int least = 0;
        for (size_t d = 0; d < item->down.n; d++) {
            int layer = l->items.items[item->down.items[d]].layer;
            least = d ? ODB_MIN(least, layer) : layer;
        }
        item->layer = ODB_MAX(least - 1, 0);
    }
    for (size_t i = 0; i < l->items.n; i++) {
        l->n_rows = ODB_MAX(l->n_rows, l->items.items[i].layer + 1);
        l->items.items[i].down.n = 0;
    }
    free(ready);
    free(waits);
}

static void layers_join(struct layers *l, int above, int below)
{
    odb_push(&l->items.items[above].down, below);
    odb_push(&l->items.items[below].up, above);
}

/* A line over several layers goes by points, which all lines that begin at the same box share. */
static void layers_points(struct layers *l)
{
    for (size_t e = 0; e < l->picture->lines.n; e++) {
        int from = l->picture->lines.items[e].from, to = l->picture->lines.items[e].to, last = from;
        int layer = l->items.items[from].layer, over = l->items.items[to].layer - layer;
        for (int i = 1; i < over && over <= l->longest; i++) {
            if (l->items.items[from].chain.n < (size_t)i) {
                struct layers_item point = {.width = LAYERS_THIN, .layer = layer + i};
                odb_push(&l->items, point);
                odb_push(&l->items.items[from].chain, (int)l->items.n - 1);
                layers_join(l, last, (int)l->items.n - 1);
            }
            last = l->items.items[from].chain.items[i - 1];
        }
        if (over <= l->longest)
            layers_join(l, last, to);
    }
    l->rows = odb_xcalloc((size_t)l->n_rows + 1, sizeof *l->rows);
    for (size_t i = 0; i < l->items.n; i++)
        odb_push(&l->rows[l->items.items[i].layer], (int)i);
}

/* --- from left to right ----------------------------------------------------------------------- */

static int layers_compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Mean of a member of an item's neighbours on one side; its own where it has none. */
static double layers_mean(const struct layers *l, const struct layers_item *item, bool below,
                          bool of_x)
{
    const int *others = below ? item->down.items : item->up.items;
    size_t n = below ? item->down.n : item->up.n;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += of_x ? l->items.items[others[i]].x : l->items.items[others[i]].place;
    return n ? sum / (double)n : of_x ? item->x : item->place;
}

static void layers_order_row(struct layers *l, int row, bool below)
{
    size_t n = l->rows[row].n;
    int *items = l->rows[row].items;
    double *keys = odb_new_n(double, 3 * n + 1); /* wish, place before, item */
    for (size_t i = 0; i < n; i++) {
        keys[3 * i] = layers_mean(l, &l->items.items[items[i]], below, false);
        keys[3 * i + 1] = (double)i;
        keys[3 * i + 2] = items[i];
    }
    qsort(keys, n, 3 * sizeof *keys, layers_compare);
    for (size_t i = 0; i < n; i++) {
        items[i] = (int)keys[3 * i + 2];
        l->items.items[items[i]].place = (double)i;
    }
    free(keys);
}

/* Items that have been pushed together, and where the first of them would have its left end. */
struct layers_group {
    double sum, room;
    size_t first, n;
};

/* As near to where they want to be as they can, in their order, without overlap: what is pushed
 * together moves as one from then on. */
static void layers_spread(struct layers *l, int row)
{
    const int *items = l->rows[row].items;
    ODB_VEC(struct layers_group) groups = {0};
    for (size_t i = 0; i < l->rows[row].n; i++) {
        const struct layers_item *item = &l->items.items[items[i]];
        double room = item->width + LAYERS_GAP;
        odb_push(&groups, (struct layers_group){item->wish - room / 2, room, i, 1});
        while (groups.n > 1) {
            struct layers_group *a = &groups.items[groups.n - 2], b = groups.items[groups.n - 1];
            if (a->sum / (double)a->n + a->room <= b.sum / (double)b.n)
                break;
            a->sum += b.sum - (double)b.n * a->room;
            a->n += b.n;
            a->room += b.room;
            groups.n--;
        }
    }
    for (size_t g = 0; g < groups.n; g++) {
        double x = groups.items[g].sum / (double)groups.items[g].n;
        for (size_t i = 0; i < groups.items[g].n; i++) {
            struct layers_item *item = &l->items.items[items[groups.items[g].first + i]];
            item->x = x + (item->width + LAYERS_GAP) / 2;
            x += item->width + LAYERS_GAP;
        }
    }
    free(groups.items);
}

static void layers_move_row(struct layers *l, int row, bool below)
{
    for (size_t i = 0; i < l->rows[row].n; i++) {
        struct layers_item *item = &l->items.items[l->rows[row].items[i]];
        item->wish = layers_mean(l, item, below, true);
    }
    layers_spread(l, row);
}

typedef void (*layers_row_fn)(struct layers *l, int row, bool below);

/* Downwards by what is above, then upwards by what is below, and so on. */
static void layers_sweep(struct layers *l, int sweeps, layers_row_fn fn)
{
    for (int s = 0; s < sweeps; s++)
        for (int i = 0; i < l->n_rows; i++)
            fn(l, s % 2 ? l->n_rows - 1 - i : i, s % 2);
}

static void layers_place(struct layers *l)
{
    for (int r = 0; r < l->n_rows; r++)
        for (size_t i = 0; i < l->rows[r].n; i++)
            l->items.items[l->rows[r].items[i]].place = (double)i;
    layers_sweep(l, LAYERS_ORDER, layers_order_row);
    for (int r = 0; r < l->n_rows; r++)
        layers_spread(l, r);
    layers_sweep(l, LAYERS_MOVE, layers_move_row);
    for (int r = 0; r < l->n_rows; r++) {
        double high = 0;
        for (size_t i = 0; i < l->rows[r].n; i++)
            high = ODB_MAX(high, l->items.items[l->rows[r].items[i]].height);
        for (size_t i = 0; i < l->rows[r].n; i++)
            l->items.items[l->rows[r].items[i]].y = l->bottom - high / 2;
        l->bottom -= high + LAYERS_BELOW;
    }
}

/* --- out -------------------------------------------------------------------------------------- */

/* A bow to the next place, upright at both ends. */
static void layers_bow(struct odb_picture_line *line, double x, double y)
{
    struct odb_picture_point from = line->curve.items[line->curve.n - 1];
    double middle = (from.y + y) / 2;
    odb_push(&line->curve, (struct odb_picture_point){from.x, middle});
    odb_push(&line->curve, (struct odb_picture_point){x, middle});
    odb_push(&line->curve, (struct odb_picture_point){x, y});
}

static void layers_put_line(const struct layers *l, struct odb_picture_line *line)
{
    const struct layers_item *from = &l->items.items[line->from], *to = &l->items.items[line->to];
    int over = to->layer - from->layer;
    line->tip = (struct odb_picture_point){to->x, to->y + to->height / 2};
    odb_push(&line->curve, (struct odb_picture_point){from->x, from->y - from->height / 2});
    for (int i = 1; i < over && over <= l->longest; i++) {
        const struct layers_item *point = &l->items.items[from->chain.items[i - 1]];
        layers_bow(line, point->x, point->y);
    }
    layers_bow(line, line->tip.x, line->tip.y + LAYERS_ARROW);
}

static void layers_put(const struct layers *l, struct odb_picture *picture)
{
    for (size_t i = 0; i < picture->boxes.n; i++) {
        const struct layers_item *item = &l->items.items[i];
        picture->boxes.items[i].at = (struct odb_picture_point){item->x, item->y};
        picture->boxes.items[i].size = (struct odb_picture_point){item->width, item->height};
    }
    for (size_t i = 0; i < picture->lines.n; i++)
        layers_put_line(l, &picture->lines.items[i]);
    picture->placed = true;
}

void odb_picture__place(struct odb_picture *picture)
{
    struct layers l = {.picture = picture, .longest = LAYERS_POINTS / (int)(picture->boxes.n + 1)};
    for (size_t i = 0; i < picture->boxes.n; i++) {
        struct layers_item item = {.layer = 0};
        layers_measure(&item, picture->boxes.items[i].label);
        odb_push(&l.items, item);
    }
    layers_assign(&l);
    layers_points(&l);
    layers_place(&l);
    layers_put(&l, picture);
    for (size_t i = 0; i < l.items.n; i++) {
        free(l.items.items[i].up.items);
        free(l.items.items[i].down.items);
        free(l.items.items[i].chain.items);
    }
    for (int r = 0; r < l.n_rows; r++)
        free(l.rows[r].items);
    free(l.rows);
    free(l.items.items);
}
