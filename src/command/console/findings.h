/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is known of each target, in words, for code that shows it in another way.
 */
#ifndef ODB_COMMAND_CONSOLE_FINDINGS_H
#define ODB_COMMAND_CONSOLE_FINDINGS_H

#include <stdint.h>

struct odb_buf;
struct odb_store_search;

/* "diverges, #7 introduced, 3 min ago". */
void odb_findings_put(const struct odb_store_search *found, struct odb_buf *out);
/* "just now", "3 min ago", "yesterday", "5 days ago" of a time since 1970. */
void odb_findings_put_age(int64_t when, struct odb_buf *out);

#endif
