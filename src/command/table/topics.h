/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The pages of the manual that are about no command: what onnxdbg-NAME(7) is about.
 */
#ifndef ODB_COMMAND_TABLE_TOPICS_H
#define ODB_COMMAND_TABLE_TOPICS_H

#include <stddef.h>

/* What page NAME is about, in a line; static. NULL: there is no such page. */
const char *odb_topic_find(const char *name);
/* The i-th page and what it is about, both static; NULL after the last. */
const char *odb_topic(size_t i, const char **about);

#endif
