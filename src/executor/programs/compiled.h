/* SPDX-License-Identifier: MIT
 *
 * What a compiler has made of models, kept: a model that comes again is not compiled again. An
 * entry holds the files that the compiler wrote into the model's directory, and is named by a key
 * over the model, its weights and the compiler. Programs work on copies.
 */
#ifndef ODB_EXECUTOR_PROGRAMS_COMPILED_H
#define ODB_EXECUTOR_PROGRAMS_COMPILED_H

#include <stdbool.h>

#include "base/error.h"
#include "base/mem.h"
#include "executor/transport/program.h"

#define ODB_COMPILED_OWN 64     /* entries that one process keeps for itself */
#define ODB_COMPILED_SHARED 256 /* entries of a directory that several share */
#define ODB_COMPILED_KEY 64     /* hex digits */

struct odb_compiled_file;

struct odb_compiled {
    char *dir;                      /* owned: where the entries are; NULL: there is none yet */
    bool shared;                    /* dir is the user's, and stays */
    char key[ODB_COMPILED_KEY + 1]; /* of the model begun last */
    ODB_VEC(struct odb_compiled_file) files; /* owned: that model, before it was compiled */
};

/* cache: a directory for entries that stay, from anywhere; NULL: they go with the process. */
enum odb_status odb_compiled_init(struct odb_compiled *compiled, const char *cache,
                                  struct odb_error *err) ODB_MUST_USE;
void odb_compiled_dispose(struct odb_compiled *compiled);

/* A model lies in dir, not yet compiled. words: the compiler's command line; says: what else tells
 * one compiler from another. */
enum odb_status odb_compiled_begin(struct odb_compiled *compiled, const char *dir,
                                   const struct odb_argv *words, const char *says,
                                   struct odb_error *err) ODB_MUST_USE;
/* Copies what was compiled of it before into dir, if there is an entry. After an error dir holds
 * half of it. */
enum odb_status odb_compiled_find(struct odb_compiled *compiled, const char *dir, bool *found,
                                  struct odb_error *err) ODB_MUST_USE;
/* Makes an entry of what is in dir now and was not before. */
enum odb_status odb_compiled_keep(struct odb_compiled *compiled, const char *dir,
                                  struct odb_error *err) ODB_MUST_USE;

#endif
