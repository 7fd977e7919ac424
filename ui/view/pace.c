/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/pace.h"

#include "base/buf.h"
#include "base/clock.h"
#include "ui/view/app.h"

#define PACE_TELL 0.1     /* seconds between two words on how far it is */
#define PACE_PATIENCE 1.0 /* and before a long job is reported */

void ui_pace_begin(struct ui_pace *pace, struct ui_app *app)
{
    pace->app = app;
    pace->began = pace->told = odb_clock();
    atomic_store(&pace->stop, false);
    atomic_store(&pace->done, 0);
    atomic_store(&pace->total, 0);
}

bool ui_pace_stop(void *payload, size_t done, size_t total)
{
    struct ui_pace *pace = payload;
    double now = odb_clock();
    atomic_store(&pace->done, done);
    atomic_store(&pace->total, total);
    if (now - pace->told >= PACE_TELL) {
        pace->told = now;
        ui_app_wake(pace->app);
    }
    return atomic_load(&pace->stop);
}

void ui_pace_cancel(struct ui_pace *pace)
{
    atomic_store(&pace->stop, true);
}

bool ui_pace_is_long(const struct ui_pace *pace)
{
    return odb_clock() - pace->began >= PACE_PATIENCE;
}

void ui_pace_put(const struct ui_pace *pace, struct odb_buf *out)
{
    size_t done = atomic_load(&pace->done), total = atomic_load(&pace->total);
    double spent = ui_app_seconds(pace->app, odb_clock() - pace->began);
    if (!total)
        return;
    odb_buf_printf(out, " %.0f %%", 100.0 * (double)done / (double)total);
    if (done)
        odb_buf_printf(out, ", %.0f s left", spent / (double)done * (double)(total - done));
}
