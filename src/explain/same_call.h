/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Variants that say the same in other words: an attribute that is ignored, and one that has the
 * default's value.
 */
#ifndef ODB_EXPLAIN_SAME_CALL_H
#define ODB_EXPLAIN_SAME_CALL_H

#include "explain/variant.h"

/* What a variant makes of the call, as a text that another one has too where that is the same call:
 * operator, version, attributes with their defaults, which operands are there. The caller's; NULL:
 * it does not change attributes alone, or leave operands out. */
char *same_call(const struct accused *s, const struct variant *v);

#endif
