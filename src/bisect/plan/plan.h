/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which way to search.
 */
#ifndef ODB_BISECT_PLAN_PLAN_H
#define ODB_BISECT_PLAN_PLAN_H

#include "bisect/findings.h"

/* Searches as the options say, or as evidence advises, after a plain run that succeeded. */
enum odb_status plan_search(const struct search_case *c, struct findings *f,
                            struct odb_error *err) ODB_MUST_USE;
/* Before the plain run: begins what will be asked in any case, where there are workers for it. */
void plan_ahead(const struct search_case *c, struct findings *f);

#endif
