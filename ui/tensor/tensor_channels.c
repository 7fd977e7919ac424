/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A value cut along one axis: a line for each channel, the worst first.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "compare/inspect/channels.h"
#include "ui/tensor/tensor_int.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/view.h"

#define CHANNELS_REAL 11
#define CHANNELS_LABEL 9
#define CHANNELS_BAR 8 /* the least */
#define CHANNELS_COUNT 8

/* What a table of channels can be sorted by; the name of a column is what `order` takes. */
static const struct channels_column {
    const char *name;
    int width;
    bool pairs, side; /* of two sides; of one alone */
    bool count;
} channels_columns[] = {
    {"channel", CHANNELS_LABEL, true, true, true}, {"max", CHANNELS_REAL, true, false, false},
    {"mean", CHANNELS_REAL, true, true, false},    {"rms", CHANNELS_REAL, true, false, false},
    {"cosine", CHANNELS_REAL, true, false, false}, {"differ", CHANNELS_COUNT, true, false, true},
    {"least", CHANNELS_REAL, false, true, false},  {"most", CHANNELS_REAL, false, true, false},
    {"nan", CHANNELS_COUNT, true, true, true},
};

/* What of a column is the larger the worse; of one side, what is the larger. */
static double channels_value(const struct ui_tensor *v, size_t channel, size_t column)
{
    const struct odb_channel *c = &v->channels->channel[channel];
    const char *name = channels_columns[column].name;
    int side = v->t[UI_REFERENCE] ? 0 : 1;
    if (!strcmp(name, "channel"))
        return (double)channel;
    if (!strcmp(name, "max"))
        return odb_channel_error(c);
    if (!strcmp(name, "mean"))
        return v->channels->both ? c->mean_abs : c->mean[side];
    if (!strcmp(name, "rms"))
        return c->rms;
    if (!strcmp(name, "cosine"))
        return c->cosine;
    if (!strcmp(name, "differ"))
        return (double)c->differing;
    if (!strcmp(name, "least"))
        return c->min[side];
    if (!strcmp(name, "most"))
        return c->max[side];
    return (double)(c->nan[0] + c->nan[1]);
}

static bool channels_shows(const struct ui_tensor *v, size_t column)
{
    return v->channels->both ? channels_columns[column].pairs : channels_columns[column].side;
}

/* --- order ------------------------------------------------------------------------------------ */

struct channels_key {
    double value;
    size_t channel;
};

static int channels_compare(const void *a, const void *b)
{
    const struct channels_key *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? 1 : -1;
    return (x->channel > y->channel) - (x->channel < y->channel);
}

/* What is to say of all channels. */
void ui_tensor__tell_channels(struct ui_tensor *v)
{
    struct odb_buf text = ODB_BUF_INIT;
    free(v->told);
    v->told = odb_channels_told(v->channels, &text) ? odb_xstrdup(odb_buf_text(&text)) : NULL;
    odb_buf_dispose(&text);
}

void ui_tensor__sort_channels(struct ui_tensor *v)
{
    size_t n = v->channels ? v->channels->n : 0, column = 0;
    const char *name = v->order_by                        ? v->order_by
                       : v->channels && v->channels->both ? "max"
                                                          : "channel";
    while (column + 1 < ODB_COUNT(channels_columns) && strcmp(name, channels_columns[column].name))
        column++;
    struct channels_key *keys = odb_new_n(struct channels_key, n + 1);
    /* By number, and by cosine, the least comes first. */
    bool upwards = !strcmp(name, "channel") || !strcmp(name, "cosine");
    for (size_t i = 0; i < n; i++) {
        double value = channels_value(v, i, column);
        if (upwards != v->order_turned)
            value = -value;
        keys[i] = (struct channels_key){isnan(value) ? -INFINITY : value, i}; /* not known: last */
    }
    qsort(keys, n, sizeof *keys, channels_compare);
    free(v->order);
    v->order = odb_new_n(size_t, n + 1);
    for (size_t i = 0; i < n; i++)
        v->order[i] = keys[i].channel;
    free(keys);
}

/* The column of that name that is shown; all there are: none is. */
static size_t channels_find(const struct ui_tensor *v, const char *name)
{
    size_t column = 0;
    while (column < ODB_COUNT(channels_columns) &&
           (!channels_shows(v, column) || strcmp(name, channels_columns[column].name)))
        column++;
    return column;
}

static enum ui_answer channels_order(struct ui_tensor *v, size_t column, bool turned)
{
    v->order_by = channels_columns[column].name;
    v->order_turned = turned;
    ui_tensor__sort_channels(v);
    ui_app_say(v->view.app, UI_STYLE_MESSAGE, "order %s%s", v->order_by,
               turned ? ", turned round" : "");
    return UI_DONE;
}

enum ui_answer ui_tensor__order(struct ui_tensor *v, const char *name, struct odb_error *err)
{
    size_t now = v->channels && v->channels->both, n = ODB_COUNT(channels_columns);
    if (!v->channels) {
        odb_fail(err, ODB_E_USAGE, "there are no channels to sort");
        return UI_FAILED;
    }
    if (v->order_by)
        now = channels_find(v, v->order_by);
    size_t found = name ? channels_find(v, name) : n;
    for (size_t i = 1; i <= n && !name && found == n; i++)
        if (channels_shows(v, (now + i) % n))
            found = (now + i) % n;
    if (found == n) {
        odb_fail(err, ODB_E_USAGE, "these channels have no column %s", name);
        return UI_FAILED;
    }
    return channels_order(v, found, false);
}

enum ui_answer ui_tensor__sort(struct ui_tensor *v, const char *name)
{
    if (!v->channels || !name || !ui_tensor__part(v, UI_PART_CHANNELS))
        return UI_NOT_MINE;
    size_t column = channels_find(v, name);
    if (column == ODB_COUNT(channels_columns))
        return UI_NOT_MINE;
    return channels_order(v, column,
                          v->order_by == channels_columns[column].name && !v->order_turned);
}

enum ui_answer ui_tensor__channels(struct ui_tensor *v, const char *axis, struct odb_error *err)
{
    const struct odb_tensor *t = v->t[0] ? v->t[0] : v->t[1];
    if (!t || t->kind != ODB_TENSOR || v->axis < 0) {
        odb_fail(err, ODB_E_USAGE, "there is no axis that could number channels");
        return UI_FAILED;
    }
    long to = axis ? strtol(axis, NULL, 10) : v->axis;
    if (!axis && v->page == UI_PAGE_CHANNELS) /* given again, the next axis */
        to = (v->axis + 1) % t->rank;
    to = to < 0 ? to + t->rank : to;
    if (to < 0 || to >= t->rank || (size_t)t->dims[to] > ODB_CHANNELS_MAX) {
        odb_fail(err, ODB_E_USAGE,
                 to < 0 || to >= t->rank ? "there is no axis %ld" : "axis %ld is too long", to);
        return UI_FAILED;
    }
    if (to != v->axis) {
        odb_channels_free(v->channels);
        v->channels = NULL;
        v->axis = (int)to;
        v->stopped &= ~(1u << UI_LOOK_CHANNELS);
    }
    if (v->page != UI_PAGE_CHANNELS)
        ui_tensor__turn(v, UI_PAGE_CHANNELS);
    ui_tensor__compute(v);
    return UI_DONE;
}

/* --- the part --------------------------------------------------------------------------------- */

/* In the overview the worst ones stand in for all. */
static size_t channels_shown(const struct ui_tensor *v)
{
    size_t most = v->tall ? 16 : 8;
    if (!v->channels)
        return 0;
    return v->page == UI_PAGE_CHANNELS ? v->channels->n : ODB_MIN(v->channels->n, most);
}

/* A line that says where the error is, and one for each channel. */
size_t ui_tensor__channels_lines(const struct ui_tensor *v, enum ui_part_id id)
{
    if (v->page == UI_PAGE_CHANNELS && !v->channels)
        return 1;
    if (!v->channels || (v->page == UI_PAGE_ALL && (!v->channels->both || v->channels->n < 2 ||
                                                    !v->seen || !v->seen->differing)))
        return 0;
    return channels_shown(v) + (v->told != NULL);
}

static int channels_columns_width(const struct ui_tensor *v)
{
    int width = 0;
    for (size_t i = 0; v->channels && i < ODB_COUNT(channels_columns); i++)
        width += channels_shows(v, i) ? channels_columns[i].width : 0;
    return width;
}

int ui_tensor__channels_width(const struct ui_tensor *v)
{
    return channels_columns_width(v) + CHANNELS_BAR;
}

void ui_tensor__channels_title(const struct ui_tensor *v, enum ui_part_id id,
                               const struct ui_area *area)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_printf(&text, "axis %d", v->axis);
    int end = ui_tensor__title(area, odb_buf_text(&text)), col = 0;
    odb_buf_dispose(&text);
    for (size_t i = 0; v->channels && i < ODB_COUNT(channels_columns); i++) {
        if (!channels_shows(v, i))
            continue;
        const char *name = channels_columns[i].name;
        int width = (int)strlen(name);
        bool sorted = i && v->order_by == name;
        col += channels_columns[i].width;
        if (!i || col > area->cols || col - width <= end + sorted)
            continue;
        ui_tensor__column(area, col - width - 1, width + 1, name);
        if (sorted)
            ui_draw_glyph(area, 0, col - width - 1, UI_STYLE_DIM,
                          v->order_turned != !strcmp(name, "cosine") ? UI_GLYPH_ARROW_UP
                                                                     : UI_GLYPH_ARROW_DOWN);
    }
}

const char *ui_tensor__channels_column(const struct ui_tensor *v, int col)
{
    int end = 0;
    for (size_t i = 0; v->channels && i < ODB_COUNT(channels_columns); i++) {
        end += channels_shows(v, i) ? channels_columns[i].width : 0;
        if (col >= 0 && col < end)
            return channels_columns[i].name;
    }
    return NULL;
}

/* What an error is that no number can tell. */
static const char *channels_odd(const struct ui_tensor *v)
{
    return v->t[v->t[UI_REFERENCE] ? 0 : 1]->dtype == ODB_STRING ? "differs" : "nan/inf";
}

static void channels_draw_cell(const struct ui_tensor *v, size_t channel, size_t column,
                               const struct ui_area *area, int col, enum ui_style style)
{
    const struct channels_column *k = &channels_columns[column];
    double value = channels_value(v, channel, column);
    char text[32];
    if (k->count)
        snprintf(text, sizeof text, "%.0f", value);
    else if (isinf(value))
        snprintf(text, sizeof text, "%s", channels_odd(v));
    else
        snprintf(text, sizeof text, !strcmp(k->name, "cosine") ? "%.7f" : "%.4g", value);
    bool odd = !strcmp(k->name, "nan") || !strcmp(k->name, "differ");
    style = strcmp(k->name, "max") ? UI_STYLE_NUMBER : style;
    if (odd)
        style = value == 0                ? UI_STYLE_DIM
                : !strcmp(k->name, "nan") ? UI_STYLE_WARN
                                          : UI_STYLE_NUMBER;
    ui_draw_right(area, 0, col, k->width - 1, column ? style : UI_STYLE_LABEL, text);
}

static void channels_draw_channel(const struct ui_tensor *v, size_t channel,
                                  const struct ui_area *area)
{
    const struct odb_channel *c = &v->channels->channel[channel];
    double error = odb_channel_error(c), limit = ui_tensor__limit(v, NAN);
    double most = v->seen ? v->seen->max_abs : 0;
    enum ui_style style = error == 0                                      ? UI_STYLE_DIM
                          : (limit >= 0 && error > limit) || isinf(error) ? UI_STYLE_BAD
                                                                          : UI_STYLE_NOISE;
    int col = 0;
    for (size_t i = 0; i < ODB_COUNT(channels_columns); i++)
        if (channels_shows(v, i)) {
            channels_draw_cell(v, channel, i, area, col, style);
            col += channels_columns[i].width;
        }
    if (!v->channels->both)
        return;
    if (style == UI_STYLE_BAD)
        ui_draw_text(area, 0, 2 * CHANNELS_REAL - 3, style, "*");
    double share = isinf(error) ? 1 : most > 0 ? error / most : 0;
    ui_draw_bar(area, 0, col + 1, area->cols - col - 2, share, style);
}

void ui_tensor__channels_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                              const struct ui_area *area)
{
    struct odb_buf text = ODB_BUF_INIT;
    if (!v->channels) {
        ui_tensor__progress(v, UI_LOOK_CHANNELS, &text);
        ui_draw_text(area, 0, 1, UI_STYLE_DIM, odb_buf_text(&text));
    } else if (v->told && line == 0) {
        ui_draw_text(area, 0, 1, UI_STYLE_BAD, v->told);
    } else if (line - (v->told != NULL) < channels_shown(v)) {
        channels_draw_channel(v, v->order[line - (v->told != NULL)], area);
    }
    odb_buf_dispose(&text);
}

bool ui_tensor__channel_at(const struct ui_tensor *v, size_t line, size_t *at)
{
    size_t words = v->told != NULL;
    if (!v->channels || line < words || line - words >= channels_shown(v))
        return false;
    *at = v->channels->channel[v->order[line - words]].worst;
    return v->channels->channel[v->order[line - words]].count > 0;
}
