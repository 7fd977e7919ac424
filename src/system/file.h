/* SPDX-License-Identifier: MIT
 *
 * Files written whole or not at all, files that are read, and where files are.
 */
#ifndef ODB_SYSTEM_FILE_H
#define ODB_SYSTEM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/progress.h"

/* Writes beside path and renames, so that no reader sees half of it, and a file that was there
 * stays until the new one is complete, and on the disk: a machine that goes down leaves one of the
 * two. A link stays a link. What is no regular file (a pipe) is written to directly, and so is the
 * file that standard output or error goes to (/dev/stdout): behind what stands there. ODB_E_IO
 * names the path. */
enum odb_status odb_file_write(const char *path, const void *data, size_t size,
                               struct odb_error *err) ODB_MUST_USE;
/* The same from n pieces, one behind the other. */
enum odb_status odb_file_write_parts(const char *path, const struct iovec *parts, size_t n,
                                     struct odb_error *err) ODB_MUST_USE;
/* The same without waiting for the disk: of scratch, and of many files in a folder, for all of
 * which odb_file_sync() waits at the end. */
enum odb_status odb_file_write_unsynced(const char *path, const struct iovec *parts, size_t n,
                                        struct odb_error *err) ODB_MUST_USE;
/* Waits for all that was written on the file system of a folder. */
enum odb_status odb_file_sync(const char *folder, struct odb_error *err) ODB_MUST_USE;
/* Waits for the names in the folder of a file, one of which was just given or changed. */
void odb_file_settle(const char *path);
/* For what a library, or a program, has written beside path: gives it that name as odb_file_write()
 * does. Where that fails both are what they were. */
enum odb_status odb_file_install(const char *beside, const char *path,
                                 struct odb_error *err) ODB_MUST_USE;

/* The same for what is made while it is written. */
struct odb_file_out;

/* total: bytes that are going to be put. progress may be NULL; it counts bytes, and must stay as it
 * is until the end. */
enum odb_status odb_file_begin(struct odb_file_out **out, const char *path, size_t total,
                               const struct odb_progress *progress,
                               struct odb_error *err) ODB_MUST_USE;
/* The end does not wait for the disk. */
void odb_file_unsynced(struct odb_file_out *out);
/* ODB_CANCELLED. After a failure there is only odb_file_end_take() to call. */
enum odb_status odb_file_put(struct odb_file_out *out, const void *data, size_t size,
                             struct odb_error *err) ODB_MUST_USE;
/* status: of what was put. Where that is ODB_OK the file is there now; else, or if that fails,
 * nothing is left. */
enum odb_status odb_file_end_take(struct odb_file_out *out, enum odb_status status,
                                  struct odb_error *err) ODB_MUST_USE;

/* What a file is going to hold, piece by piece. The bytes belong to others. */
struct odb_file_parts {
    ODB_VEC(struct iovec) pieces;
    size_t size; /* of all */
};

/* Appends zeros up to a multiple of align (64 at most) and the piece; returns where it begins. */
size_t odb_file_parts_add(struct odb_file_parts *parts, size_t align, const void *data,
                          size_t size);
void odb_file_parts_dispose(struct odb_file_parts *parts);

/* A tensor's name as a file may bear it: shown safely, without slashes, and not longer than
 * ODB_FILE_NAME bytes; a hash stands for what is cut off. Owned by the caller. */
#define ODB_FILE_NAME 200
char *odb_file_name(const char *name);

/* The size of a file as memory for it has one; ODB_E_NOMEM: it has more bytes than addresses of 32
 * bits reach. */
enum odb_status odb_file_size(size_t *out, const struct stat *st,
                              struct odb_error *err) ODB_MUST_USE;
/* Whether the path leads to a regular file. */
bool odb_file_is_regular(const char *path);
/* Opens what is read from its beginning to its end: a file, a terminal, a pipe. A FIFO that no
 * process writes into is not waited for, and no device is read that has no end. ODB_E_IO, without
 * the path. *out is the caller's to close. */
enum odb_status odb_file_open(FILE **out, const char *path, struct odb_error *err) ODB_MUST_USE;
/* Folders that are looked into for what is somewhere below one. Links multiply them: thirty folders
 * with two links each to the next are a thousand million. */
#define ODB_FOLDERS_MOST 100000

/* Makes a directory and those above it; one that is there is fine. */
enum odb_status odb_file_mkdir(const char *path, struct odb_error *err) ODB_MUST_USE;
/* The same, and the last of them must be new: in /tmp any user may have put something under a name
 * that can be foreseen. */
enum odb_status odb_file_mkdir_new(const char *path, struct odb_error *err) ODB_MUST_USE;

/* The same path from anywhere, whether it is there or not. Owned by the caller. */
char *odb_file_absolute(const char *path);
/* The user's onnxdbg/NAME below the directory that the variable names ("XDG_CACHE_HOME"), else
 * below the usual one in his home (".cache"). Owned by the caller; NULL: he has no home. */
char *odb_file_home(const char *variable, const char *usual, const char *name);
/* A file for reading and writing that has no name, and is gone with its last descriptor; -1: errno
 * says why. */
int odb_file_nameless(const char *folder);
/* Makes the folder of such a path, for the user alone: what is in it does not concern other users.
 * False: that cannot be. */
bool odb_file_make_home(const char *path);
/* A template for mkstemp() and its kin in $TMPDIR, else /tmp: onnxdbg-WHATXXXXXX. Owned by the
 * caller. */
char *odb_file_temporary(const char *what);
/* Opens what is closed of standard input, output and error, for reading from /dev/null: else the
 * next file that is opened would be one of them. What is written there fails as it did. */
void odb_file_fill_standard(void);
/* The program that this process runs, at the place it was started from, even if it is gone from
 * there or another release has taken its place. Owned by the caller; NULL: unknown. */
char *odb_file_self(void);
/* The executable file that PATH has under a name without a slash. Owned by the caller; NULL: there
 * is none. */
char *odb_file_in_path(const char *name);
/* "file:PATH?query", with what has a meaning in a URI escaped, as SQLite reads it; the caller's. */
char *odb_file_uri(const char *path, const char *query);

#endif
