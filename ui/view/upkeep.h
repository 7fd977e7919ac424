/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When something that is made of a whole model's verdicts is made anew: as soon as they have
 * changed, but while a search changes them all the time, for a small part of the time only, and one
 * thing after the other. So a key is not kept waiting, however large the model is.
 */
#ifndef ODB_UI_VIEW_UPKEEP_H
#define ODB_UI_VIEW_UPKEEP_H

#include <stdbool.h>

struct odb_session;

/* Of all things that are kept up: while a search goes on the next waits until then. */
struct ui_turn {
    double until; /* of odb_clock() */
};

struct ui_upkeep {
    unsigned long generation; /* of the session when it was made */
    double made, cost;        /* when, of odb_clock(), 0: not yet; and how long it took */
};

/* Whether it is time. turn: of a session in which a command works; NULL: none does, so nothing
 * waits. Caller holds the session's lock, as for the next. */
bool ui_upkeep_is_due(const struct ui_upkeep *upkeep, const struct odb_session *session,
                      const struct ui_turn *turn);
/* Before and after it is made. */
void ui_upkeep_begin(struct ui_upkeep *upkeep, const struct odb_session *session);
void ui_upkeep_end(struct ui_upkeep *upkeep, struct ui_turn *turn);

#endif
