/* SPDX-License-Identifier: MIT
 *
 * A folder that one process at a time may write into.
 */
#ifndef ODB_SYSTEM_LOCK_H
#define ODB_SYSTEM_LOCK_H

#include "base/error.h"

/* Holds the folder, which is there, until *lock is closed or the process ends, in whatever way.
 * ODB_E_IO: another process holds it, and which. *lock is -1 after a failure, and where the file
 * system knows no locks, which is none. */
enum odb_status odb_lock_folder(int *lock, const char *folder, struct odb_error *err) ODB_MUST_USE;

/* The process that holds the folder; 0: none does that can be seen from here. Takes nothing. */
int odb_lock_holder(const char *folder);

#endif
