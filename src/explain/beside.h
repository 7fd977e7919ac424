/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An output of what is explained beside what the reference makes, and what a variant makes.
 */
#ifndef ODB_EXPLAIN_BESIDE_H
#define ODB_EXPLAIN_BESIDE_H

#include "explain/explanations.h"

struct odb_beside {
    int output;                                      /* of the node: the one that is off most */
    struct odb_tensor *target, *reference, *variant; /* owned refs, of one shape */
    double floor; /* differences up to this are no more than rounding of the type */
    char *text;   /* owned: "as if dilations were [1, 1]" */
};

/* Replays one variant of what is asked, by its name. ODB_E_USAGE: there is none of that name;
 * ODB_UNSUPPORTED: nothing can be replayed, or the variant gives nothing of that shape. */
enum odb_status odb_explain_beside(struct odb_beside *out, const struct odb_explain_question *q,
                                   const char *variant, struct odb_error *err) ODB_MUST_USE;
void odb_beside_dispose(struct odb_beside *beside);

/* Whether an element of the target is another than the reference's, or than the variant's. */
bool odb_beside_shows(const struct odb_beside *beside, size_t i);

#endif
