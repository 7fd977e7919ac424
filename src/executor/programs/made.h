/* SPDX-License-Identifier: MIT
 *
 * What a program has made of a model in the model's directory: kept as a compiled model
 * (compiled.h), and put there again when the model comes again. Programs work on copies.
 */
#ifndef ODB_EXECUTOR_PROGRAMS_MADE_H
#define ODB_EXECUTOR_PROGRAMS_MADE_H

#include <stdbool.h>

#include "executor/kept/compiled.h"
#include "executor/kept/compiled_key.h"
#include "executor/programs/exchange.h"
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

/* Puts a model into a directory of its own, odb_exchange_load(), and with it what was made of it
 * before, if that is kept. words: the compiler's command line; says: what else tells one compiler
 * from another. */
enum odb_status odb_made_place(struct odb_made *made, struct odb_exchange *files,
                               const struct odb_load *load, const struct odb_argv *words,
                               const char *says, bool *found, struct odb_error *err) ODB_MUST_USE;
/* Keeps what is there now and was not before. What cannot be kept is made again, which is told on
 * standard error. */
void odb_made_keep(struct odb_made *made, const struct odb_exchange *files);

#endif
