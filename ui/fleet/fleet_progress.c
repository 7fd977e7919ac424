/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/fleet/fleet_progress.h"

#include <math.h>

#include "base/clock.h"
#include "ui/view/app.h"

#define PROGRESS_BAR 24 /* columns, at most */

enum progress_part { PROGRESS_PLAIN, PROGRESS_SEARCH, PROGRESS_REPRO };
static const char *const progress_words[] = {"plain runs", "searches", "small models of causes"};

/* The first part that is not done yet. */
static enum progress_part progress_part(const struct ui_fleet_known *known, size_t *done,
                                        size_t *total)
{
    const struct odb_fleet *fleet = &known->fleet;
    size_t asked = 0, searched = 0, wanted = 0, shown = 0, causes = 0;
    for (size_t i = 0; i < fleet->models.n; i++) {
        const struct odb_fleet_model *model = &fleet->models.items[i];
        asked += model->stage != ODB_FLEET_NEW;
        searched += model->stage == ODB_FLEET_SEARCHED;
        wanted +=
            model->stage == ODB_FLEET_ASKED && model->report && odb_fleet_fails(model->verdict);
    }
    for (size_t i = 0; i < known->causes.list.n; i++) {
        const struct odb_cause *cause = &known->causes.list.items[i];
        bool node = cause->members.items[cause->smallest].culprit != NULL;
        causes += node;
        shown += node && odb_cause_repro(fleet, cause);
    }
    enum progress_part part = asked < fleet->models.n ? PROGRESS_PLAIN
                              : wanted                ? PROGRESS_SEARCH
                                                      : PROGRESS_REPRO;
    *done = (const size_t[]){asked, searched, shown}[part];
    *total = (const size_t[]){fleet->models.n, searched + wanted, causes}[part];
    return part;
}

void ui_fleet_progress_see(struct ui_fleet_progress *progress, const struct ui_fleet_known *known)
{
    size_t done, total;
    int part = progress_part(known, &done, &total);
    if (part != progress->part || !progress->since || done < progress->from)
        *progress = (struct ui_fleet_progress){.from = done, .since = odb_clock()};
    if (done != progress->done)
        progress->last = odb_clock();
    progress->part = part;
    progress->done = done;
    progress->total = total;
}

double ui_fleet_progress_left(const struct ui_fleet_progress *progress, double now)
{
    size_t since = progress->done - progress->from, left = progress->total - progress->done;
    if (!since || !left)
        return NAN;
    double each = (progress->last - progress->since) / (double)since;
    return ODB_MAX(each * (double)left - (now - progress->last), 1);
}

void ui_fleet_progress_draw(const struct ui_fleet_progress *progress, const struct ui_app *app,
                            const struct ui_area *row)
{
    double left = ui_fleet_progress_left(progress, odb_clock());
    struct odb_buf text = ODB_BUF_INIT;
    int bar = ODB_MIN(PROGRESS_BAR, row->cols / 4);
    odb_buf_printf(&text, "%s: %zu of %zu", progress_words[progress->part], progress->done,
                   progress->total);
    if (!isnan(left)) {
        odb_buf_puts(&text, ", ");
        odb_buf_put_duration(&text, ui_app_seconds(app, left));
        odb_buf_puts(&text, " left");
    }
    ui_draw_fill(row, UI_STYLE_NORMAL);
    ui_draw_bar(row, 0, 1, bar,
                progress->total ? (double)progress->done / (double)progress->total : 0,
                UI_STYLE_GOOD);
    ui_draw_field(row, 0, bar + 3, ODB_MAX(row->cols - bar - 3, 0), UI_CUT_END, UI_STYLE_LABEL,
                  odb_buf_text(&text));
    odb_buf_dispose(&text);
}
