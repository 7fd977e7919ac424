/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The diagnosis in plain words.
 */
#ifndef ODB_BISECT_PLAN_WORDS_H
#define ODB_BISECT_PLAN_WORDS_H

#include "bisect/findings.h"

/* Whose values one holds, and in which elements. */
void words_put_held(const struct search_case *c, const struct odb_held *held, struct odb_buf *out);
/* The paragraph of a culprit. Owned by the caller. */
char *words_culprit(const struct search_case *c, const struct findings *f,
                    const struct odb_culprit *culprit);

#endif
