/* SPDX-License-Identifier: MIT
 *
 * What a compiler made of a model: which nodes became which kernel, and how it holds values. It
 * comes as the JSON that onnxdbg-targets(7) describes under groups.json.
 */
#ifndef ODB_EXECUTOR_GROUPS_H
#define ODB_EXECUTOR_GROUPS_H

#include <jansson.h>

#include "executor/executor.h"
#include "model/model.h"

/* Nodes that run as one. */
struct odb_kernel {
    char *name;    /* owned: the compiler's own */
    char *made_by; /* owned: the pass that made it; NULL: not said */
    int *nodes;    /* owned: [n], ascending, each once */
    size_t n;
};

/* A value that is not held as the model has it. */
struct odb_kept_value {
    int value; /* index in the graph */
    char *how; /* owned: "channels in blocks of 16" */
};

struct odb_groups {
    ODB_VEC(struct odb_kernel) kernels;
    ODB_VEC(struct odb_kept_value) values;
    ODB_VEC(char *) warnings; /* owned lines: what is named there and is not in the model */
    int *kernel_of;           /* owned: [n_nodes] index of the first kernel with that node; -1 */
    size_t n_nodes;
};

/* Reads the text, of the whole graph. ODB_E_FORMAT: it is not of that form; out is the caller's to
 * dispose of, on failure too. An empty text is no kernels. */
enum odb_status odb_groups_read(struct odb_groups *out, const char *text,
                                const struct odb_graph *graph, struct odb_error *err) ODB_MUST_USE;
void odb_groups_dispose(struct odb_groups *groups);
/* The kernel that a node is in, NULL where none is known. Borrowed. */
const struct odb_kernel *odb_groups_kernel(const struct odb_groups *groups, int node);

struct odb_kernel *odb_kernel_copy(const struct odb_kernel *kernel); /* NULL stays NULL */
void odb_kernel_free(struct odb_kernel *kernel);                     /* NULL is fine */
/* "conv_bn_1: #3 Conv, #4 BatchNormalization", shown safely; many nodes are counted. */
void odb_kernel_put(const struct odb_kernel *kernel, const struct odb_graph *graph,
                    struct odb_buf *out);

#define ODB_GROUPS_FILE "groups.json"

/* The file as an object of that form, owned by the caller; NULL where there is no such file.
 * ODB_E_FORMAT: it is not of that form, ODB_E_IO: it cannot be read. */
enum odb_status odb_groups_load(json_t **out, const char *path, struct odb_error *err) ODB_MUST_USE;
/* The text as an object of that form, owned by the caller. */
enum odb_status odb_groups_parse(json_t **out, const char *text, size_t size,
                                 struct odb_error *err) ODB_MUST_USE;
/* "#K", the K-th node of the file that was loaded, becomes the node's index in the debugged model;
 * indices are node_index, [n]. */
void odb_groups_number(json_t *json, const int *node_index, size_t n);
/* Adds a text to what an account says already. */
void odb_account_groups(struct odb_account *account, const char *text, size_t size);

#endif
