/* SPDX-License-Identifier: MIT
 *
 * Shared by cpu.c (plans, operators, functions) and control.c (If, Loop).
 */
#ifndef ODB_EXECUTOR_CPU_INT_H
#define ODB_EXECUTOR_CPU_INT_H

#include "executor/cpu.h"

#define CPU_MAX_DEPTH 64 /* of functions that call functions */

struct cpu_scope;

/* Runs a node that has bodies. in[] and out[] as for cpu_node_run(). */
typedef enum odb_status (*cpu_control_fn)(const struct cpu_scope *scope, int node,
                                          const struct odb_tensor *const *in,
                                          struct odb_tensor **out, struct odb_error *err);

struct cpu_node {
    const struct odb_op *op; /* NULL: control flow, function, or no kernel */
    cpu_control_fn control;
    struct cpu_plan *body;    /* owned; of a local function */
    struct cpu_plan **bodies; /* owned; of control flow, in the order of the attributes */
    size_t n_bodies;
    struct odb_attrs attrs;     /* with references resolved */
    struct odb_attr *own_attrs; /* owned; NULL where nothing had to be resolved */
    char why[200];              /* it cannot be run: "" where it can */
};

struct cpu_plan {
    const struct odb_graph *graph;
    struct cpu_node *nodes; /* owned; [n_nodes] */
    bool *kept;             /* owned; [n_values] never rounded */
    int *last_use;          /* owned; [n_values] node index of the last reader */
    char why[200];          /* first node in it that cannot be run */
};

struct odb_cpu {
    const struct odb_model *model; /* borrowed: the caller's */
    struct cpu_plan *plan;         /* owned */
};

struct cpu_scope {
    const struct cpu_plan *plan;
    struct odb_tensor **values;     /* [n_values] */
    const struct cpu_scope *parent; /* NULL: the main graph, a function */
    enum odb_precision precision;
    uint64_t seed;
    bool (*cancelled)(void *payload);
    void *payload;
};

/* NULL when the operator is not control flow. */
cpu_control_fn cpu_control_find(const struct odb_node *node);

/* Fresh values for a body; precision, seed and cancel are those of like. */
void cpu_scope_init(struct cpu_scope *scope, const struct cpu_plan *plan,
                    const struct cpu_scope *like, const struct cpu_scope *parent);
void cpu_scope_dispose(struct cpu_scope *scope);
/* Borrowed; looks into initializers and the scopes around; NULL: not computed. */
const struct odb_tensor *cpu_scope_read(const struct cpu_scope *scope, int value);
/* All nodes of a body; the first that fails ends it. */
enum odb_status cpu_scope_run(struct cpu_scope *scope, struct odb_error *err) ODB_MUST_USE;
/* One node; out[] owned by the caller. */
enum odb_status cpu_node_run(const struct cpu_scope *scope, int index,
                             const struct odb_tensor *const *in, struct odb_tensor **out,
                             struct odb_error *err) ODB_MUST_USE;

#endif
