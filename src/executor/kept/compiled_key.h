/* SPDX-License-Identifier: MIT
 *
 * What tells one compiled model from another: a SHA-256 over the compiler and the model.
 *
 * Of a model all counts but what says nothing of what it computes: documentation, who made it, its
 * own version and namespace, the name of the graph, and notes of ours. Names of nodes and metadata
 * count, for there are compilers that go by them. Of weights in files the place counts, since what
 * was compiled may refer to it, and the bytes that the model uses; the rest of such a file does
 * not.
 */
#ifndef ODB_EXECUTOR_KEPT_COMPILED_KEY_H
#define ODB_EXECUTOR_KEPT_COMPILED_KEY_H

#include <jansson.h>

#include "base/sha256.h"
#include "executor/kept/cache.h"
#include "executor/executor.h"

/* Remembers the digests of weights, which are gigabytes and the same from model to model. */
struct odb_compiled_keys;

struct odb_compiled_keys *odb_compiled_keys_new(void);
void odb_compiled_keys_free(struct odb_compiled_keys *keys); /* NULL is fine */

/* Begins one; what is added until its end counts. */
void odb_compiled_key_begin(struct odb_compiled_keys *keys);
void odb_compiled_key_add(struct odb_compiled_keys *keys, const void *data, size_t size);
void odb_compiled_key_text(struct odb_compiled_keys *keys, const char *text); /* NULL is "" */
/* A word of a command line, which may be a file, whole or behind a '=': with its size and time.
 * program: it is looked for in PATH. */
void odb_compiled_key_word(struct odb_compiled_keys *keys, const char *word, bool program);
enum odb_status odb_compiled_key_model(struct odb_compiled_keys *keys, const struct odb_load *load,
                                       struct odb_error *err) ODB_MUST_USE;
void odb_compiled_key_end(struct odb_compiled_keys *keys, char key[ODB_CACHE_KEY + 1]);

/* What a list of compiled models says of the last one: {"schema": 1, "by": TEXT, "model": TEXT,
 * "nodes": N}; the caller's, who may add to it. by: who compiles it, shown safely. */
json_t *odb_compiled_key_about(const struct odb_compiled_keys *keys, const struct odb_load *load,
                               const char *by);

#endif
