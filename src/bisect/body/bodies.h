/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search goes on inside a node with bodies.
 */
#ifndef ODB_BISECT_BODY_BODIES_H
#define ODB_BISECT_BODY_BODIES_H

#include "bisect/findings.h"

/* What searches a model: odb_bisect(). It goes on inside bodies itself, so it is handed in. */
typedef enum odb_status bodies_search_fn(struct odb_report **out, const struct odb_model *model,
                                         const struct odb_feeds *feeds,
                                         const struct odb_bisect_options *options,
                                         struct odb_error *err);

/* Goes on inside culprits that have bodies. */
enum odb_status bodies_enter_all(const struct search_case *c, struct findings *f,
                                 bodies_search_fn *search, struct odb_error *err) ODB_MUST_USE;

#endif
