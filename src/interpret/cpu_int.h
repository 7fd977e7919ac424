/* SPDX-License-Identifier: MIT
 *
 * Shared by cpu.c (plans, operators, functions), cpu_typed.c (types of operands), simulate.c (few
 * bits), cpu_control.c (the table of what is no kernel), control.c (If, Loop), scan.c (Scan,
 * SequenceMap), flex.c (FlexAttention), generate.c (GreedySearch, BeamSearch) and gradient.c.
 */
#ifndef ODB_INTERPRET_CPU_INT_H
#define ODB_INTERPRET_CPU_INT_H

#include <stdatomic.h>

#include "interpret/cpu.h"
#include "kernels/shape/parts.h"

#define CPU_MAX_DEPTH 64 /* of functions that call functions */

struct cpu_scope;
struct cpu_control_row;

/* Runs a node that has bodies. in[] and out[] as for cpu_node_run(). */
typedef enum odb_status (*cpu_control_fn)(const struct cpu_scope *scope, int node,
                                          const struct odb_tensor *const *in,
                                          struct odb_tensor **out, struct odb_error *err);

struct cpu_node {
    const struct odb_op *op;               /* NULL: control flow, function, or no kernel */
    const struct cpu_control_row *control; /* NULL: none of those */
    const struct odb_facts *facts;         /* of the operator's name; empty: it is not known */
    char *why;                             /* owned: it cannot be run; NULL: it can */
    struct cpu_plan *body;                 /* owned; of a local function */
    struct cpu_plan **bodies; /* owned; of control flow, in the order of the attributes */
    size_t n_bodies;
    struct odb_attrs attrs;              /* with references resolved */
    struct odb_attr *own_attrs;          /* owned; NULL where nothing had to be resolved */
    struct odb_memo memo;                /* owned: what op keeps between its runs */
    const struct odb_tensor *constant;   /* borrowed: attrs; what a Constant gives; else NULL */
    bool folds;                          /* all inputs are constants of the model, or fold */
    _Atomic(struct odb_tensor *) folded; /* owned; its output then, once it was made */
    uint32_t keep_in, keep_out;          /* bit i: input (output) i is never rounded */
    uint64_t salt;          /* of its seeds, by name: a part is as noisy as the whole */
    enum odb_status status; /* what a run of it ends with where there is a why */
};

struct cpu_plan {
    const struct odb_graph *graph;
    struct odb_cpu *cpu;        /* borrowed: it is this one's */
    struct cpu_node *nodes;     /* owned; [n_nodes] */
    bool *kept;                 /* owned; [n_values] never rounded */
    int *last_use;              /* owned; [n_values] node index of the last reader */
    struct odb_tensor **absent; /* owned refs; [n_values] of the main graph: an empty optional where
                                   an input that is one need not be fed; NULL: no such inputs */
    const char *why; /* borrowed: of the first node in it that cannot be run; NULL: all can */
};

struct odb_cpu {
    atomic_int refs;
    const struct odb_model *model;   /* borrowed: the caller's */
    struct cpu_plan *plan;           /* owned */
    atomic_size_t room;              /* bytes that folded outputs of all plans may yet take */
    size_t left;                     /* nodes that plans may yet have, with their values */
    bool over;                       /* they would have more */
    struct odb_encoding **encodings; /* owned, but for their scales; [n_values] of the main graph;
                                        NULL: nothing is simulated */
    struct odb_tensor **rounded;     /* owned refs; [n_values] weights by their encodings */
};

struct cpu_scope {
    const struct cpu_plan *plan;
    struct odb_tensor **values;     /* [n_values] */
    const struct cpu_scope *parent; /* NULL: the main graph, a function */
    enum odb_precision precision;
    uint64_t seed;
    bool replay; /* what goes in is a target's, and may have types of its own */
    enum odb_simulated simulated;
    bool (*cancelled)(void *payload);
    void *payload;
    const struct odb_cpu_watch *watch; /* NULL: none */
    const struct odb_cpu_place *place; /* NULL: the main graph */
    odb_cpu_change_fn *change;         /* of the one call of a kernel; NULL: as it is */
    void *change_payload;
};

/* An operator that is run here and not by a kernel, as it needs the graph. */
struct cpu_control_row {
    const char *domain, *op_type;
    cpu_control_fn run;
};

/* NULL: the operator is not among them. */
const struct cpu_control_row *cpu_control_find(const char *domain, const char *op_type);
/* What calls of one that is among them are held against: the newest row of the kernels' table that
 * is not newer than the node's opset, else the oldest. */
const struct odb_op *cpu_control_op(const struct odb_node *node);
#define CONTROL(domain, name, run)                                                                 \
    enum odb_status run(const struct cpu_scope *scope, int index,                                  \
                        const struct odb_tensor *const *in, struct odb_tensor **out,               \
                        struct odb_error *err) ODB_MUST_USE;
#include "interpret/control.def"
#undef CONTROL

/* What the operands of a call are, where tensors do not say it. */
struct cpu_typed {
    enum odb_dtype *types;    /* owned, [n_in]; NULL: those of the tensors */
    struct odb_tensor **made; /* owned refs, [n_in]; NULL: all are as they were */
};
/* Fills call->types, where the run carries floats as double; call->in, where they are a target's:
 * what shares a type in the model is brought to one type. */
enum odb_status cpu_typed_begin(struct cpu_typed *typed, const struct cpu_scope *scope, int index,
                                struct odb_call *call, struct odb_error *err) ODB_MUST_USE;
void cpu_typed_end(struct cpu_typed *typed, const struct odb_call *call);

/* The plan of the body in attribute name; NULL: there is none. */
const struct cpu_plan *cpu_body_find(const struct cpu_scope *scope, int index, const char *name);
/* Runs a body of node index once. feeds: its inputs that are no initializers, borrowed. outs: room
 * for all its outputs, which are the caller's on success, all there. turn: which of its runs this
 * is, for random operators. */
enum odb_status cpu_body_run(const struct cpu_scope *scope, int index, const struct cpu_plan *body,
                             uint64_t turn, struct odb_tensor *const *feeds,
                             struct odb_tensor **outs, struct odb_error *err) ODB_MUST_USE;
/* Element type of a body's output as it is declared, and as this run carries it. */
enum odb_dtype cpu_declared_dtype(const struct cpu_scope *scope, const struct cpu_plan *body,
                                  size_t output);

/* What the turns of a body give for one of its outputs. */
struct cpu_stack {
    struct odb_tensor **items; /* owned refs */
    size_t n, cap;
};

/* Takes t over, also when it fails: it must be a tensor. A model says how many turns there are, so
 * that memory for them may be more than there is. */
enum odb_status cpu_stack_push(const struct cpu_scope *scope, struct cpu_stack *stack,
                               struct odb_tensor *t, struct odb_error *err) ODB_MUST_USE;
/* All of it as one tensor with a new axis; backward: the last turn comes first, in the stack too.
 * Where no turn was taken, what the body declares says of which type and shape nothing is. */
enum odb_status cpu_stack_join(const struct cpu_scope *scope, const struct cpu_plan *body,
                               size_t output, struct cpu_stack *stack, int64_t axis, bool backward,
                               struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;
void cpu_stack_dispose(struct cpu_stack *stack);

/* What an If or Loop goes by, as the watch would have it. */
void cpu_scope_steer(const struct cpu_scope *scope, int index, int64_t *v);

/* A seed of its own for each turn of each node. */
uint64_t cpu_scope_seed(const struct cpu_scope *scope, int index, uint64_t turn);

/* Fresh values for a body; precision, seed and cancel are those of like. */
void cpu_scope_init(struct cpu_scope *scope, const struct cpu_plan *plan,
                    const struct cpu_scope *like, const struct cpu_scope *parent);
void cpu_scope_dispose(struct cpu_scope *scope);
/* The same value in the scope around that has it as its own; *scope becomes that one. */
const struct odb_value *cpu_scope_owner(const struct cpu_scope **scope, int value);
/* Borrowed; looks into initializers and the scopes around; NULL: not computed. */
const struct odb_tensor *cpu_scope_read(const struct cpu_scope *scope, int value);
/* All nodes of a body; the first that fails ends it. */
enum odb_status cpu_scope_run(struct cpu_scope *scope, struct odb_error *err) ODB_MUST_USE;
/* One node; out[] owned by the caller. dying: bit i: input i is not needed after it. */
enum odb_status cpu_node_run(const struct cpu_scope *scope, int index,
                             const struct odb_tensor *const *in, uint32_t dying,
                             struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;
/* The same, whatever is simulated. */
enum odb_status cpu_node_compute(const struct cpu_scope *scope, int index,
                                 const struct odb_tensor *const *in, uint32_t dying,
                                 struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;

/* Whether values of the scope may have encodings. */
bool cpu_simulates(const struct cpu_scope *scope);
/* cpu_node_run() then. */
enum odb_status cpu_simulate_node(const struct cpu_scope *scope, int index,
                                  const struct odb_tensor *const *in, struct odb_tensor **out,
                                  struct odb_error *err) ODB_MUST_USE;
void cpu_simulate_free(struct odb_cpu *cpu);

#endif
