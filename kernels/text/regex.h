/* SPDX-License-Identifier: MIT
 *
 * Whether a whole text matches a pattern in RE2's syntax. PCRE2 does the matching; the pattern is
 * rewritten on the way to it, so that what both know means what RE2 means by it, and what only
 * PCRE2 knows (back references, look around, …) is refused as RE2 refuses it.
 */
#ifndef ODB_KERNELS_TEXT_REGEX_H
#define ODB_KERNELS_TEXT_REGEX_H

#include <stdbool.h>

#include "base/error.h"
#include "tensor/tensor.h"

struct odb_regex; /* opaque */

/* ODB_E_OPERATOR: no valid pattern; ODB_UNSUPPORTED: valid, but not for us. */
enum odb_status odb_regex_new(struct odb_regex **out, struct odb_str pattern,
                              struct odb_error *err) ODB_MUST_USE;
void odb_regex_free(struct odb_regex *regex); /* NULL is fine */

/* Text that is not UTF-8: ODB_E_OPERATOR. A match that takes too many steps: ODB_UNSUPPORTED. */
enum odb_status odb_regex_match(struct odb_regex *regex, struct odb_str text, bool *out,
                                struct odb_error *err) ODB_MUST_USE;

#endif
