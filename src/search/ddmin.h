/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Delta debugging: of the things that a failure needs, leave out as many as can go. It knows
 * nothing of models, so that it can be tested on made-up failures.
 */
#ifndef ODB_SEARCH_DDMIN_H
#define ODB_SEARCH_DDMIN_H

#include <stdbool.h>
#include <stddef.h>

#include "search/search.h"

struct odb_ddmin {
    /* Whether the failure is there with these items alone: bad. keep is a trial, and may be thinned
     * out by what comes to nothing without the items that are gone. */
    enum odb_status (*ask)(void *payload, bool *keep, enum odb_answer *answer,
                           struct odb_error *err);
    void *payload;
    size_t largest; /* piece that is tried to go at once; 0: all together */
};

/* keep[n]: items that fail together, known to be bad; on return those that are left, of which none
 * can go alone: without it the answer is good or untestable. Neighbours go together where they can.
 * A status other than ODB_OK from the question ends it and is returned; keep is then the smallest
 * set that was bad. */
enum odb_status odb_ddmin(bool *keep, size_t n, const struct odb_ddmin *question,
                          struct odb_error *err) ODB_MUST_USE;

#endif
