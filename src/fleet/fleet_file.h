/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file of a fleet. Each result is written when it is there, in one transaction: what was
 * written outlives a kill, and a reader sees whole results.
 */
#ifndef ODB_FLEET_FLEET_FILE_H
#define ODB_FLEET_FLEET_FILE_H

#include "fleet/fleet.h"

struct odb_fleet_file;

/* Whether it is one, by its first bytes and its tables. */
bool odb_fleet_file_is(const char *path);
/* Opens the file, or makes it with create, and reads it into an empty fleet. ODB_E_FORMAT: it is
 * something else. */
enum odb_status odb_fleet_file_open(struct odb_fleet_file **out, const char *path, bool create,
                                    struct odb_fleet *fleet, struct odb_error *err) ODB_MUST_USE;
void odb_fleet_file_close(struct odb_fleet_file *file); /* NULL is fine */
/* Target and options, and every model as it stands. */
enum odb_status odb_fleet_file_put(struct odb_fleet_file *file, const struct odb_fleet *fleet,
                                   struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_fleet_file_put_model(struct odb_fleet_file *file,
                                         const struct odb_fleet_model *model,
                                         struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_fleet_file_put_repro(struct odb_fleet_file *file,
                                         const struct odb_fleet_repro *repro,
                                         struct odb_error *err) ODB_MUST_USE;

#endif
