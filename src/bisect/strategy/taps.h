/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searching on targets that give few outputs of one model.
 */
#ifndef ODB_BISECT_STRATEGY_TAPS_H
#define ODB_BISECT_STRATEGY_TAPS_H

#include "bisect/findings.h"

/* Narrows down what made this output wrong by runs of the whole model, each with as many values
 * read as the target gives, names the node or the smallest segment, and verifies it. Where a run
 * does not show what the plain run shows, f->hidden is set; where that is so, or no run with values
 * read can be had, no node is accused. */
enum odb_status taps_hunt(const struct search_case *c, struct findings *f, int value,
                          struct odb_error *err) ODB_MUST_USE;

#endif
