/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a dump says in JSON: its files, and what comparing them gave.
 */
#ifndef ODB_COMMAND_VERBS_FILE_DUMP_JSON_H
#define ODB_COMMAND_VERBS_FILE_DUMP_JSON_H

#include <jansson.h>

struct odb_dump;
struct odb_oldstyle;

/* New references. */
json_t *odb_dump_json(const struct odb_dump *dump);
json_t *odb_oldstyle_json(const struct odb_oldstyle *what);

#endif
