/* SPDX-License-Identifier: MIT
 *
 * What the files of the onnx-mlir executor share.
 */
#ifndef ODB_EXECUTOR_ONNX_MLIR_ONNX_MLIR_INT_H
#define ODB_EXECUTOR_ONNX_MLIR_ONNX_MLIR_INT_H

#include "executor/executor.h"
#include "model/model.h"

#define ODB_MLIR_LIBRARY "model.so"
/* Where --store-constants-to-file, or a large model, puts them. */
#define ODB_MLIR_CONSTANTS "model.constants.bin"

/* --- a compiled model (onnx_mlir_library.c) --------------------------------------------------- */

struct odb_mlir_library;

/* An input or output of the library, in its order. */
struct mlir_port {
    char *name;                 /* owned: in the model */
    enum odb_dtype dtype;       /* ODB_UNDEFINED: not known */
    int rank;                   /* -1: not known */
    int64_t dims[ODB_MAX_RANK]; /* -1: not fixed */
};

struct mlir_ports {
    struct mlir_port *items; /* owned */
    size_t n;
};

/* Which of the library's ports ("inputs") has which of the model's names. text: their signature;
 * NULL: there is none. Where it does not name each once, they are in the model's order, and
 * *by_name becomes false. */
enum odb_status mlir_ports_read(struct mlir_ports *ports, bool *by_name, const char *text,
                                const char *what, const char *const *names, size_t n,
                                struct odb_error *err) ODB_MUST_USE;
void mlir_ports_dispose(struct mlir_ports *ports);

/* Loads dir's library, whose constants are beside it, and finds its entry point (entry: as asked
 * for; NULL: the usual one) and which input and output of the graph each of its own is. ODB_E_IO:
 * it cannot be loaded at all. */
enum odb_status odb_mlir_library_open(struct odb_mlir_library **out, const char *dir,
                                      const char *entry, const struct odb_graph *graph,
                                      struct odb_error *err) ODB_MUST_USE;
void odb_mlir_library_close(struct odb_mlir_library *library); /* NULL is fine */
/* As an executor's execute. */
enum odb_status odb_mlir_library_run(const struct odb_mlir_library *library,
                                     const struct odb_named *inputs, size_t n_inputs,
                                     const char *const *names, size_t n_outputs,
                                     struct odb_tensor **outputs,
                                     struct odb_error *err) ODB_MUST_USE;
/* "run_main_graph, inputs and outputs by name"; into buf; returns buf. */
const char *odb_mlir_library_text(const struct odb_mlir_library *library, char *buf, size_t size);

#endif
