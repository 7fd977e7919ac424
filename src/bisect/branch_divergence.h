/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a wrong condition or trip count leads to.
 */
#ifndef ODB_BISECT_BRANCH_DIVERGENCE_H
#define ODB_BISECT_BRANCH_DIVERGENCE_H

#include "bisect/findings.h"

/* Which If and Loop behind a culprit go by other values on the target than on the reference. */
void branch_divergence_put_all(const struct search_case *c, const struct findings *f,
                               const struct odb_culprit *culprit, struct odb_buf *out);

#endif
