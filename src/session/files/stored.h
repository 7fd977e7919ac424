/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a session file says of itself, without its model: for lists of sessions.
 */
#ifndef ODB_SESSION_STORED_H
#define ODB_SESSION_STORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "report/outcome.h"

struct odb_stored {
    char *path, *model, *sha256; /* owned; model: its whole path, in old
                                    files as it was given */
    size_t nodes, searches;      /* of the model; in the file */
    int schema; /* over ODB_STORE_SCHEMA: of a newer program, and nothing is said of searches */
    char *command, *target, *reference, *tolerance; /* owned; of the newest search, or NULL */
    char *began,
        *ended;   /* owned; UTC, "2026-01-31 12:00:00"; ended NULL: stopped, or it still runs */
    int64_t when; /* it ended, or began: seconds since 1970 */
    enum odb_outcome outcome; /* also of one that was stopped, as far as it is known */
    size_t culprits;
    int first;  /* node of the first culprit; -1: none */
    char *kind; /* owned: its diagnosis; NULL: none */
};

/* Whether the file is a session. */
bool odb_stored_is(const char *path);
/* Reads the file, changes nothing in it, and leaves nothing beside it. ODB_E_FORMAT: it is no
 * session; ODB_E_IO: it cannot be read. *out is to be disposed of also after failure. */
enum odb_status odb_stored_read(struct odb_stored *out, const char *path,
                                struct odb_error *err) ODB_MUST_USE;
void odb_stored_dispose(struct odb_stored *stored); /* idempotent */
/* The report of the newest search that has one, as JSON: owned by the caller. ODB_E_FORMAT: the
 * file is no session, or nothing was searched in it. */
enum odb_status odb_stored_report(char **out, const char *path, struct odb_error *err) ODB_MUST_USE;
/* The session files in a folder, by name: owned array of n owned paths, empty where there are none.
 * Or the one file; ODB_E_FORMAT where it is none. */
enum odb_status odb_stored_list(char ***out, size_t *n, const char *folder,
                                struct odb_error *err) ODB_MUST_USE;
void odb_stored_list_free(char **list, size_t n); /* NULL is fine */
/* Deletes a session file and what SQLite keeps beside it; nothing that is no session. */
enum odb_status odb_stored_delete(const char *path, struct odb_error *err) ODB_MUST_USE;

#endif
