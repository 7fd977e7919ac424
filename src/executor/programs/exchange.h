/* SPDX-License-Identifier: MIT
 *
 * A model and its tensors as files in one directory, which is how programs of any language are
 * given work: model.onnx, in_N.npy and out_N.npy (.pb for what .npy cannot hold), and a list of
 * them as JSON.
 */
#ifndef ODB_EXECUTOR_PROGRAMS_EXCHANGE_H
#define ODB_EXECUTOR_PROGRAMS_EXCHANGE_H

#include <jansson.h>

#include "executor/executor.h"
#include "executor/place.h"

struct odb_exchange_output {
    char *name; /* owned */
    bool known; /* the two below */
    enum odb_kind kind;
    enum odb_dtype dtype;
};

struct odb_exchange {
    struct odb_place *place;             /* owned */
    bool keep;                           /* its files stay */
    const char *list;                    /* borrowed: what tells the program its files */
    struct odb_exchange_output *outputs; /* owned: of the model loaded */
    size_t n_outputs;
};

/* keep: as in odb_place_new(). list: "io.json", for messages. */
void odb_exchange_init(struct odb_exchange *exchange, const char *keep, const char *list);
void odb_exchange_dispose(struct odb_exchange *exchange);

/* Puts the model into a directory of its own: odb_place_dir(). */
enum odb_status odb_exchange_load(struct odb_exchange *exchange, const struct odb_load *load,
                                  struct odb_error *err) ODB_MUST_USE;
/* Writes the inputs of a run and takes away what is left of its outputs. *in and *out list the
 * files, owned by the caller: {"name","file","dtype","shape"} of each input, {"name","file",
 * "dtype"} of each output; dtype is ONNX's spelling, "float", "seq(tensor(float))", null where it
 * is not known. On failure they are NULL. */
enum odb_status odb_exchange_write(const struct odb_exchange *exchange,
                                   const struct odb_named *inputs, size_t n_inputs,
                                   const char *const *names, size_t n_outputs, json_t **in,
                                   json_t **out, struct odb_error *err) ODB_MUST_USE;
/* Reads what the program has written for the i-th of the outputs that were asked for; *out is owned
 * by the caller. */
enum odb_status odb_exchange_read(const struct odb_exchange *exchange, const char *name, size_t i,
                                  struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;
/* The same from a file that the program has named: one in the model's directory, with
 * or without the path of that. The file goes, unless all are kept. */
enum odb_status odb_exchange_read_named(const struct odb_exchange *exchange, const char *name,
                                        const char *file, struct odb_tensor **out,
                                        struct odb_error *err) ODB_MUST_USE;
/* Takes the files of a run away, unless they are kept. */
void odb_exchange_clear(const struct odb_exchange *exchange, size_t n_inputs, size_t n_outputs);

#endif
