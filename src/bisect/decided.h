/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Decisions that fall otherwise.
 */
#ifndef ODB_BISECT_DECIDED_H
#define ODB_BISECT_DECIDED_H

#include "bisect/findings.h"

/* Whether a value that is wrong is no farther off than noisy runs of the reference which decide for
 * themselves; false for models without decisions. The first call makes those runs. */
bool decided_allows(const struct search_case *c, struct findings *f, int value,
                    const struct odb_value_report *report);
/* Outputs of which that is true, and which no culprit explains, pass; notes say so. */
void decided_excuse_outputs(const struct search_case *c, struct findings *f);
void decided_dispose(struct findings *f);

#endif
