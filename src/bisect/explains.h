/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the accused computed instead. It changes no verdict and no confidence.
 */
#ifndef ODB_BISECT_EXPLAINS_H
#define ODB_BISECT_EXPLAINS_H

#include "bisect/findings.h"

/* Culprits, those from first on, that a variant which is known (the options') explains within noise
 * are known from then on. Every value was read, and is given; the target is not asked. Only that it
 * was cancelled is an error. */
enum odb_status explains_known(const struct search_case *c, struct findings *f, size_t first,
                               struct odb_error *err) ODB_MUST_USE;
/* Whether every culprit is known, and no NaN may hide what else is wrong. */
bool explains_all(const struct search_case *c, const struct findings *f);
/* Explains the first culprits that are single nodes. Only that it was cancelled is an error. */
enum odb_status explains_culprits(const struct search_case *c, struct findings *f,
                                  struct odb_error *err) ODB_MUST_USE;

#endif
