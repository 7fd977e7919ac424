/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/upkeep.h"

#include "base/clock.h"
#include "session/session.h"

#define UPKEEP_PATIENCE 10 /* at most this part of the time */
#define UPKEEP_APART 0.008 /* seconds between one thing and another: a key comes between */
#define UPKEEP_DEAR 0.001  /* seconds of one that another waits for */

bool ui_upkeep_is_due(const struct ui_upkeep *upkeep, const struct odb_session *session,
                      const struct ui_turn *turn)
{
    double now = odb_clock();
    bool early = turn && (now < turn->until || now - upkeep->made < UPKEEP_PATIENCE * upkeep->cost);
    return !upkeep->made || (upkeep->generation != odb_session_generation(session) && !early);
}

void ui_upkeep_begin(struct ui_upkeep *upkeep, const struct odb_session *session)
{
    upkeep->generation = odb_session_generation(session);
    upkeep->made = odb_clock();
}

void ui_upkeep_end(struct ui_upkeep *upkeep, struct ui_turn *turn)
{
    double now = odb_clock();
    upkeep->cost = now - upkeep->made;
    if (upkeep->cost > UPKEEP_DEAR)
        turn->until = now + UPKEEP_APART;
}
