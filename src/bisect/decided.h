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
/* Takes note of the steps that a value of the target has, where it stores that as integers: values
 * that are not read may be stored as coarsely. */
void decided_see(struct findings *f, const struct odb_tensor *had);
/* Whether some value had steps that are coarser than floats: an error that rounding to such carries
 * tells nothing of a node. */
bool decided_stores(const struct findings *f);
/* The coarsest of such steps, of its value's largest number; 0: there are none. */
double decided_coarsest(const struct findings *f);
/* More was read: the runs round what is stored to the steps that are known now. */
void decided_refresh(const struct search_case *c, struct findings *f);
/* Outputs of which that is true, and which no culprit explains, pass; where one is found that does,
 * they fail again. */
void decided_excuse_outputs(const struct search_case *c, struct findings *f);
/* Notes on those that are excused in the end. */
void decided_tell(const struct search_case *c, struct findings *f);
void decided_dispose(struct findings *f);

#endif
