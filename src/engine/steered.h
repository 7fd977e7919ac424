/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a wrong condition or trip count leads to.
 */
#ifndef ODB_ENGINE_STEERED_H
#define ODB_ENGINE_STEERED_H

#include "engine/findings.h"

/* Which If and Loop behind a culprit go by other values on the target than on the reference. */
void steered_put_all(const struct bisection *b, const struct odb_culprit *culprit,
                     struct odb_buf *out);

#endif
