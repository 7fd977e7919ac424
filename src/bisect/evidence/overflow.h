/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where values leave the range of the type that is expected.
 */
#ifndef ODB_BISECT_EVIDENCE_OVERFLOW_H
#define ODB_BISECT_EVIDENCE_OVERFLOW_H

#include "bisect/findings.h"

/* Outputs that are NaN or infinite where the reference is finite, as they are where everything is
 * computed in the type that is expected: accuses the values that leave its range, of which that
 * comes. Outputs that nothing on the way explains so are left as they are. */
enum odb_status overflow_look(const struct search_case *c, struct findings *f,
                              struct odb_error *err) ODB_MUST_USE;
/* Words on such a culprit. */
void overflow_put(const struct search_case *c, const struct findings *f,
                  const struct odb_culprit *culprit, struct odb_buf *out);

/* Where a culprit's own values leave the range of a half type in the reference, and do not in
 * float64. */
void overflow_put_reference(const struct search_case *c, const struct odb_culprit *who,
                            struct odb_buf *out);

#endif
