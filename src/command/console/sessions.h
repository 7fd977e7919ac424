/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the list of sessions says, for code that shows it in another way.
 */
#ifndef ODB_COMMAND_CONSOLE_SESSIONS_H
#define ODB_COMMAND_CONSOLE_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/outcome.h"

struct odb_buf;
struct odb_console;
struct odb_stored;

/* What came of the newest search, in a few words: "diverges, #7 introduced", "pass",
 * "none, has not ended". */
void odb_sessions_put_result(const struct odb_stored *stored, struct odb_buf *out);
/* The same of a search; kind: of the first culprit, whose node first is; NULL: not known. */
void odb_sessions_put_outcome(bool ended, enum odb_outcome outcome, size_t culprits, int first,
                              const char *kind, struct odb_buf *out);

/* Whether a file, by whatever path, is the one that a console keeps its session in. */
bool odb_sessions_is_open(const struct odb_console *console, const char *path);

#endif
