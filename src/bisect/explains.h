/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the accused computed instead. It changes no verdict and no confidence.
 */
#ifndef ODB_BISECT_EXPLAINS_H
#define ODB_BISECT_EXPLAINS_H

#include "bisect/findings.h"

/* Explains the first culprits that are single nodes. Only that it was cancelled is an error. */
enum odb_status explains_culprits(const struct search_case *c, struct findings *f,
                                  struct odb_error *err) ODB_MUST_USE;

#endif
