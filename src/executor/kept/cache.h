/* SPDX-License-Identifier: MIT
 *
 * Files that came from the debugger's machine, named by the SHA-256 of what is in them, so that
 * each is sent once. They lie in $ONNXDBG_CACHE, else onnxdbg/files below $XDG_CACHE_HOME or
 * ~/.cache; where no such place can be written to, they last as long as the connection. At most
 * $ONNXDBG_CACHE_SIZE bytes of them (20G) are kept, those used last; several processes may share
 * the directory.
 */
#ifndef ODB_EXECUTOR_KEPT_CACHE_H
#define ODB_EXECUTOR_KEPT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ODB_CACHE_KEY 64 /* hex digits */

struct odb_cache;

enum odb_status odb_cache_open(struct odb_cache **out, struct odb_error *err) ODB_MUST_USE;
void odb_cache_close(struct odb_cache *cache); /* NULL is fine */
/* What is of this process alone, and not to outlive it. */
const char *odb_cache_scratch(const struct odb_cache *cache);
/* Where odb_cache_place() puts files. */
const char *odb_cache_dir(const struct odb_cache *cache);

/* Whether a file with these contents is here; if so, it stays until the cache is closed. */
bool odb_cache_has(struct odb_cache *cache, const char *key);
/* The bytes from offset on of a file of so many; pieces come in order, and the last one makes the
 * file, if it is what key says: else ODB_E_IO. */
enum odb_status odb_cache_put(struct odb_cache *cache, const char *key, uint64_t offset,
                              uint64_t whole, const void *data, size_t size,
                              struct odb_error *err) ODB_MUST_USE;
/* Makes the file appear as path below odb_cache_dir(), whatever was there before. */
enum odb_status odb_cache_place(struct odb_cache *cache, const char *key, const char *path,
                                struct odb_error *err) ODB_MUST_USE;

/* Whether a name has the form of a key. */
bool odb_cache_is_key(const char *name);

/* --- what all that lasts has in common ----------------------------------------------------------
 */

/* $ONNXDBG_CACHE with below behind it, else the user's onnxdbg/NAME. Owned by the caller; NULL: he
 * has no home. */
char *odb_cache_home(const char *below, const char *name);
/* How many bytes may be kept: $ONNXDBG_CACHE_SIZE, else 20G. ODB_E_USAGE. */
enum odb_status odb_cache_limit(size_t *limit, struct odb_error *err) ODB_MUST_USE;
/* How many files a directory has of those that are sent, and their bytes. */
size_t odb_cache_count(const char *folder, uint64_t *bytes);

#endif
