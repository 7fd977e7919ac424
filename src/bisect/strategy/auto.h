/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The strategy that chooses among the others, and goes another way where one comes to its end.
 */
#ifndef ODB_BISECT_STRATEGY_AUTO_H
#define ODB_BISECT_STRATEGY_AUTO_H

#include "bisect/findings.h"

enum odb_status auto_search(const struct search_case *c, struct findings *f,
                            struct odb_error *err) ODB_MUST_USE;

#endif
