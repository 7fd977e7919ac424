/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading every value, and whom that accuses.
 */
#ifndef ODB_BISECT_STRATEGY_LOOK_H
#define ODB_BISECT_STRATEGY_LOOK_H

#include "bisect/findings.h"

/* Reads everything as far as that goes, and names whom the evidence accuses. */
enum odb_status look_at_all(const struct search_case *c, struct findings *f,
                            struct odb_error *err) ODB_MUST_USE;

#endif
