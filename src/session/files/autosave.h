/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions that save themselves: where the user names no file, a screen keeps what it finds in one
 * of its own, below $XDG_STATE_HOME/onnxdbg/sessions (~/.local/state/onnxdbg/sessions).
 */
#ifndef ODB_SESSION_FILES_AUTOSAVE_H
#define ODB_SESSION_FILES_AUTOSAVE_H

#include <stdbool.h>
#include <stddef.h>

#include "session/files/stored.h"

struct odb_model;
struct odb_session;

#define ODB_AUTOSAVE_MOST 50                   /* sessions; the oldest go first */
#define ODB_AUTOSAVE_BYTES ((size_t)512 << 20) /* of all of them */

/* Whether they do: setting is "on" or "off", NULL: what $ONNXDBG_AUTOSAVE says, else otherwise. */
bool odb_autosave_is_on(const char *setting, bool otherwise);
/* Gives a session that has no file one, with what was put down so far; older ones make room. Where
 * that cannot be, odb_session_take_unsaved() tells why, and it is not tried again. */
void odb_autosave_begin(struct odb_session *session);
/* Where they are; NULL: the user has no home. The caller's. */
char *odb_autosave_folder(void);
/* Whether a file is one of them, by its path. */
bool odb_autosave_is(const char *path);
/* Of a session that was opened: if its file is one of them, no other program may open it, and what
 * it does not take is told once and stops nothing. ODB_E_IO: another program has it. */
enum odb_status odb_autosave_claim(struct odb_session *session, struct odb_error *err) ODB_MUST_USE;
/* Deletes a session file, with the folder that one of these has. ODB_E_IO: another program has it.
 */
enum odb_status odb_autosave_delete(const char *path, struct odb_error *err) ODB_MUST_USE;
/* The files, newest first: owned array of n owned paths; empty where there are none. */
void odb_autosave_list(char ***out, size_t *n);

/* The newest of a model that no program has open, and in which something was searched. */
struct odb_autosave_found {
    struct odb_stored stored; /* path NULL: there is none */
    bool changed;             /* it is of the same path, and the model was another then */
};
/* May take a while: the model is read. found is to be disposed of. */
void odb_autosave_find(struct odb_autosave_found *found, const struct odb_model *model);
void odb_autosave_found_dispose(struct odb_autosave_found *found); /* idempotent */

#endif
