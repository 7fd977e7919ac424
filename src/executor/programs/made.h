/* SPDX-License-Identifier: MIT
 *
 * What a program has made of a model in the model's directory: kept as a compiled model
 * (compiled.h), and put there again when the model comes again. Programs work on copies.
 */
#ifndef ODB_EXECUTOR_PROGRAMS_MADE_H
#define ODB_EXECUTOR_PROGRAMS_MADE_H

#include <stdbool.h>

#include "executor/compiled.h"
#include "executor/compiled_key.h"
#include "executor/transport/program.h"

/* The row of an executor's options. */
#define ODB_MADE_OPTION                                                                            \
    {                                                                                              \
        "cache", "DIR|no", "~/.cache/onnxdbg/compiled", "where what the program compiled is kept", \
            false                                                                                  \
    }

struct odb_made_file;

struct odb_made {
    struct odb_compiled *compiled;       /* owned */
    struct odb_compiled_keys *keys;      /* owned */
    char key[ODB_CACHE_KEY + 1];         /* of the model begun last */
    json_t *about;                       /* owned: what is said of that */
    double since;                        /* when it was begun */
    ODB_VEC(struct odb_made_file) files; /* owned: of its directory, before it was compiled */
};

/* cache: as in odb_compiled_open(). Zero may be disposed of as well. */
enum odb_status odb_made_init(struct odb_made *made, const char *cache,
                              struct odb_error *err) ODB_MUST_USE;
void odb_made_dispose(struct odb_made *made);

/* A model lies in dir, not yet compiled. words: the compiler's command line; says: what else tells
 * one compiler from another. */
enum odb_status odb_made_begin(struct odb_made *made, const char *dir, const struct odb_load *load,
                               const struct odb_argv *words, const char *says,
                               struct odb_error *err) ODB_MUST_USE;
/* Copies what was made of it before into dir, if that is kept. After an error dir holds half of
 * it. */
enum odb_status odb_made_find(struct odb_made *made, const char *dir, bool *found,
                              struct odb_error *err) ODB_MUST_USE;
/* Keeps what is in dir now and was not before. What cannot be kept is made again, which is told on
 * standard error. */
void odb_made_keep(struct odb_made *made, const char *dir);

#endif
