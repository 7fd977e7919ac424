/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/upkeep.h"

#include "base/clock.h"
#include "session/session.h"

#define UPKEEP_PATIENCE 10 /* at most this part of the time */

bool ui_upkeep_is_due(const struct ui_upkeep *upkeep, const struct odb_session *session, bool busy)
{
    if (!upkeep->made)
        return true;
    bool early = busy && odb_clock() - upkeep->made < UPKEEP_PATIENCE * upkeep->cost;
    return upkeep->generation != odb_session_generation(session) && !early;
}

void ui_upkeep_begin(struct ui_upkeep *upkeep, const struct odb_session *session)
{
    upkeep->generation = odb_session_generation(session);
    upkeep->made = odb_clock();
}

void ui_upkeep_end(struct ui_upkeep *upkeep)
{
    upkeep->cost = odb_clock() - upkeep->made;
}
