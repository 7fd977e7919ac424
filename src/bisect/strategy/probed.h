/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Looking at every value.
 */
#ifndef ODB_BISECT_STRATEGY_PROBED_H
#define ODB_BISECT_STRATEGY_PROBED_H

#include "bisect/findings.h"

/* Makes them, and judges every node that they are evidence for. */
enum odb_status probed_values(const struct search_case *c, struct findings *f,
                              struct odb_error *err) ODB_MUST_USE;
/* Has another worker read every value in one run, which probed_values() waits for; or no worker
 * does. */
void probed_begin(const struct search_case *c, struct findings *f);
void probed_forget(const struct search_case *c,
                   struct findings *f); /* where none was begun: nothing */

#endif
