/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which name the user may have meant.
 */
#ifndef ODB_COMMAND_TABLE_NEAREST_H
#define ODB_COMMAND_TABLE_NEAREST_H

#include <stddef.h>

/* The name in names[] closest to text, NULL when none is close. */
const char *odb_nearest(const char *text, const char *const *names, size_t n);

#endif
