/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The target where none is named.
 */
#ifndef ODB_COMMAND_TABLE_DEFAULT_TARGET_H
#define ODB_COMMAND_TABLE_DEFAULT_TARGET_H

const char *odb_default_target(void);

#endif
