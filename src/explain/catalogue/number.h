/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Types that numbers may go through, for rows of more than one family.
 */
#ifndef ODB_EXPLAIN_CATALOGUE_NUMBER_H
#define ODB_EXPLAIN_CATALOGUE_NUMBER_H

#include "explain/variant.h"

struct number_type;

/* By the name that it has in a variant's, with - for blanks: "bf16", "bf16-truncated". NULL: there
 * is none. */
const struct number_type *number_type_named(const char *name);
/* Whether the type can change a tensor at all. */
bool number_fits(const struct number_type *type, const struct odb_tensor *t);
/* t through the type and back into its own. */
enum odb_status number_through(const struct number_type *type, const struct odb_tensor *t,
                               struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;
/* Whether input i is a shape, axes, a scale or such, and no data. */
bool number_steers(const struct accused *s, int i);

#endif
