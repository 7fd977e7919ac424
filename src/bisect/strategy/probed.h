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
/* What one run that reads some values came to. */
struct probed_read {
    enum odb_status had; /* of odb_probe_run() */
    bool reproduces; /* shows what the plain run shows; what was read is judged then, and kept */
    struct odb_error why;
};
/* Runs the whole model with the marked values [n_values] read, outputs among them. The status is of
 * the judging, and ODB_CANCELLED. */
enum odb_status probed_read(const struct search_case *c, struct findings *f, const bool *marks,
                            struct probed_read *out, struct odb_error *err) ODB_MUST_USE;
/* Takes down that reading all values, or some, changes whether outputs are wrong; causes: they are
 * only wrong then. */
void probed_observed(struct findings *f, bool all, bool causes);
/* Has another worker read every value in one run, which probed_values() waits for; or no worker
 * does. */
void probed_begin(const struct search_case *c, struct findings *f);
void probed_forget(const struct search_case *c,
                   struct findings *f); /* where none was begun: nothing */

#endif
