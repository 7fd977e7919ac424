/* SPDX-License-Identifier: MIT
 *
 * What runs a model. An executor lives in a child process (serve.c) and has four calls; any may
 * be NULL. The debugger's side of it is target.h.
 */
#ifndef ODB_EXECUTOR_EXECUTOR_H
#define ODB_EXECUTOR_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "executor/spec.h"
#include "tensor/tensor.h"

#define ODB_EXECUTOR_VERSION 1

/* A tensor with its name. */
struct odb_named {
    const char *name;                /* borrowed */
    const struct odb_tensor *tensor; /* borrowed */
};

/* A model to load. */
struct odb_load {
    const void *bytes; /* ONNX; borrowed for the call */
    size_t size;
    const char *dir;   /* relative external data is below it; the child's working directory */
    const int *node_index; /* [n_nodes] index in the debugged model of each node, in file order */
    size_t n_nodes;
    const char *const *original_outputs; /* of the debugged model: outputs that are no probes */
    size_t n_original_outputs;
};

struct odb_executor_ops {
    unsigned version; /* ODB_EXECUTOR_VERSION */
    size_t size;      /* sizeof(struct odb_executor_ops) */
    const char *kind; /* as in the spec: "ort" */
    const char *syntax; /* "ort[,opt=disabled|basic|extended|all][,threads=N]" */
    const char *help; /* one line */
    /* Empty string: usable here. Else why not. Optional. */
    void (*available)(char *why, size_t size);
    /* Checks the options. */
    enum odb_status (*init)(void **self, const struct odb_spec *spec, struct odb_error *err);
    enum odb_status (*load_model)(void *self, const struct odb_load *load, struct odb_error *err);
    /* outputs[i] is owned by the caller on success. */
    enum odb_status (*execute)(void *self, const struct odb_named *inputs, size_t n_inputs,
                               const char *const *names, size_t n_outputs,
                               struct odb_tensor **outputs, struct odb_error *err);
    void (*release)(void *self);
    /* Version and platform for reports, "ONNX Runtime 1.22.0, CPU"; optional. */
    void (*describe)(void *self, char *text, size_t size);
};

/* The row for a kind, NULL when unknown. */
const struct odb_executor_ops *odb_executor_find(const char *kind);
const struct odb_executor_ops *const *odb_executor_list(size_t *n);

/* An executor at work in this process: what the child runs, and what wrappers run inside. */
struct odb_executor {
    const struct odb_executor_ops *ops;
    void *self;
};

/* Looks the spec's kind up and lets it check its options. */
enum odb_status odb_executor_open(struct odb_executor **out, const char *spec,
                                  struct odb_error *err) ODB_MUST_USE;
void odb_executor_close(struct odb_executor *executor); /* NULL is fine */
enum odb_status odb_executor_load(struct odb_executor *executor, const struct odb_load *load,
                                  struct odb_error *err) ODB_MUST_USE;
/* As in the row; outputs are all set on success and all NULL otherwise. */
enum odb_status odb_executor_run(struct odb_executor *executor, const struct odb_named *inputs,
                                 size_t n_inputs, const char *const *names, size_t n_outputs,
                                 struct odb_tensor **outputs, struct odb_error *err) ODB_MUST_USE;
void odb_executor_describe(struct odb_executor *executor, char *text, size_t size);

#endif
