/* SPDX-License-Identifier: MIT
 *
 * Compiled models that stay, for the next search and for other processes: a directory of entries,
 * each named by a key over the compiler and the model (compiled_key.h). What was not used for
 * longest goes when there is more than may be. What a process uses is not removed by another.
 */
#ifndef ODB_EXECUTOR_KEPT_COMPILED_H
#define ODB_EXECUTOR_KEPT_COMPILED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "executor/kept/cache.h"

struct odb_compiled;

/* where: a directory, from anywhere; NULL: the user's, or, if that cannot be had, one of this
 * process; "no": one of this process. limit: bytes; 0: as odb_cache_limit() says. */
enum odb_status odb_compiled_open(struct odb_compiled **out, const char *where, size_t limit,
                                  struct odb_error *err) ODB_MUST_USE;
void odb_compiled_close(struct odb_compiled *compiled); /* NULL is fine */

/* An entry in use. */
struct odb_compiled_use {
    char *files; /* owned: the directory of what was compiled */
    int lock;
};

/* False: there is none. */
bool odb_compiled_find(const struct odb_compiled *compiled, const char *key,
                       struct odb_compiled_use *use);
void odb_compiled_leave(struct odb_compiled_use *use); /* one that is zero is fine */
/* Takes an entry away that turned out to be of no use. */
void odb_compiled_drop(const struct odb_compiled *compiled, const char *key);

/* Puts what was compiled into the empty directory to. */
typedef enum odb_status (*odb_compiled_fill_fn)(void *from, const char *to, struct odb_error *err);
/* Makes an entry; another process may have been faster. take: what a list says of it,
 * odb_compiled_key_about() with "seconds", how long that took. */
enum odb_status odb_compiled_keep_take(struct odb_compiled *compiled, const char *key,
                                       odb_compiled_fill_fn fill, void *from, json_t *take,
                                       struct odb_error *err) ODB_MUST_USE;

/* --- what there is ------------------------------------------------------------------------------
 */

struct odb_compiled_entry {
    char key[ODB_CACHE_KEY + 1];
    struct timespec used;
    uint64_t bytes;
    json_t *about; /* owned; NULL: nothing is known */
};

struct odb_compiled_entries {
    ODB_VEC(struct odb_compiled_entry) list; /* owned: those used last come first */
    uint64_t bytes;                          /* of all */
};

/* The user's directory, whether it is there or not; owned by the caller, NULL: he has no home. */
char *odb_compiled_home(void);
/* None where there is no such directory. */
void odb_compiled_list(const char *dir, struct odb_compiled_entries *entries);
void odb_compiled_entries_dispose(struct odb_compiled_entries *entries);
/* Removes an entry; false: a process uses it, or it cannot be removed. */
bool odb_compiled_remove(const char *dir, const char *key);

#endif
