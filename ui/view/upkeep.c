/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/upkeep.h"

#include "base/clock.h"
#include "session/session.h"
#include "ui/view/app.h"

#define UPKEEP_PATIENCE 10 /* at most this part of the time */
#define UPKEEP_APART 0.008 /* seconds between one thing and another: a key comes between */

bool ui_upkeep_is_due(const struct ui_upkeep *upkeep, const struct ui_app *app)
{
    if (!upkeep->made)
        return true;
    double now = odb_clock();
    bool early = now - upkeep->made < UPKEEP_PATIENCE * upkeep->cost || now < app->upkept;
    return upkeep->generation != odb_session_generation(app->session) &&
           !(early && ui_app_busy(app));
}

void ui_upkeep_begin(struct ui_upkeep *upkeep, const struct ui_app *app)
{
    upkeep->generation = odb_session_generation(app->session);
    upkeep->made = odb_clock();
}

void ui_upkeep_end(struct ui_upkeep *upkeep, struct ui_app *app)
{
    double now = odb_clock();
    upkeep->cost = now - upkeep->made;
    app->upkept = now + UPKEEP_APART;
}
