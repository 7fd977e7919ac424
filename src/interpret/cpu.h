/* SPDX-License-Identifier: MIT
 *
 * The CPU reference, in-process: runs a graph node by node on the kernels, in one of their
 * precisions, and lets the caller watch and replace every value. The executor `cpu` is a thin
 * layer over this; the engine uses it directly.
 */
#ifndef ODB_INTERPRET_CPU_H
#define ODB_INTERPRET_CPU_H

#include "kernels/core/kern.h"
#include "model/model.h"
#include "tensor/encoding.h"

struct odb_cpu; /* what is known about a graph before running it: operators, lifetimes */

/* keeps a pointer to the model, which must outlive it. Nodes without a kernel are found here and
 * are no error. */
enum odb_status odb_cpu_new(struct odb_cpu **out, const struct odb_model *model,
                            struct odb_error *err) ODB_MUST_USE;
/* For another owner; nothing may be simulated from then on. */
struct odb_cpu *odb_cpu_ref(struct odb_cpu *cpu);
void odb_cpu_free(struct odb_cpu *cpu); /* gives up one */

/* Why node index cannot be run: "" when it can. Borrowed. */
const char *odb_cpu_unsupported(const struct odb_cpu *cpu, int node);
/* Row of the operator; NULL for local functions, control flow, and nodes without a kernel. */
const struct odb_op *odb_cpu_op(const struct odb_cpu *cpu, int node);
/* True where the value feeds only shapes, indices or casts to integer, so that it is never rounded
 * or jittered. */
bool odb_cpu_kept(const struct odb_cpu *cpu, int value);
/* True where the outputs are random draws. */
bool odb_cpu_random(const struct odb_cpu *cpu, int node);

/* Loads a library of kernels (include/onnxdbg/kernel.h) for all plans that are made from now on,
 * here and in children that are started from now on: they find it in the environment. Not while
 * other threads run. */
enum odb_status odb_cpu_add_kernels(const char *path, struct odb_error *err) ODB_MUST_USE;
/* Paths of the libraries that are used, between colons; NULL: none. Borrowed: the environment. */
const char *odb_cpu_kernels(void);

/* Something that the reference runs, from one version of its domain on. */
struct odb_cpu_operator {
    const char *domain, *name; /* borrowed: for as long as the process lives */
    int since;
    unsigned flags;      /* of its row (kern.h); 0: it has bodies */
    bool added;          /* by a library */
    const char *without; /* why no kernel runs it, a clause about a node of it; NULL: one does */
};
/* What calls of the node are held against; NULL: the reference does not know the operator. */
const struct odb_op *odb_cpu_row(const struct odb_node *node);
/* Sorted by domain, name and version; *n of them. Owned by the caller. */
struct odb_cpu_operator *odb_cpu_operators(size_t *n);

/* Where a graph runs: which node of the graph around it has it as a body. */
struct odb_cpu_place {
    const struct odb_cpu_place *around; /* NULL: the main graph */
    int node;                           /* in the graph around */
    const char *attr;                   /* that the body stands in; NULL: a local function's */
    uint64_t turn;                      /* which of the body's runs this is */
};

/* Watches what goes on inside nodes with bodies. Any function may be NULL; a status other than
 * ODB_OK ends the run, and is returned. place is NULL in the main graph. */
struct odb_cpu_watch {
    void *payload;
    /* A body is going to run on these; not called for local functions. */
    enum odb_status (*begin)(void *payload, const struct odb_cpu_place *place,
                             struct odb_tensor *const *feeds, size_t n, struct odb_error *err);
    /* It has given these. */
    enum odb_status (*end)(void *payload, const struct odb_cpu_place *place,
                           struct odb_tensor *const *outs, size_t n, struct odb_error *err);
    /* A node in a body has run: its outputs may be replaced. */
    enum odb_status (*made)(void *payload, const struct odb_cpu_place *place,
                            const struct odb_node *node, struct odb_tensor **out,
                            struct odb_error *err);
    /* An If has read its condition, a Loop its trip count: v may be changed. */
    void (*steer)(void *payload, const struct odb_cpu_place *place, int node, int64_t *v);
};

/* A run over the main graph. values[] is indexed by value and owned by the caller: what is there
 * before the run (feeds, captured or pinned values) is taken as it is, nodes whose wanted outputs
 * are all there are not run, and everything computed is left there. */
struct odb_cpu_run {
    enum odb_precision precision;
    uint64_t seed;
    struct odb_tensor **values; /* [n_values] */
    const bool *nodes;          /* [n_nodes] which to run; NULL: all */
    bool free_dead;             /* drop values after their last consumer, unless keep[value] */
    bool overwrite;             /* with free_dead: their last consumer may write over them, so
                                   that after() does not see them as they were */
    const bool *keep;           /* [n_values]; NULL with free_dead: keep graph outputs only */
    /* After each node, with its status; may replace values of the node's outputs; anything but
     * ODB_OK stops the run and is returned. NULL: a node that is unsupported or fails leaves its
     * outputs NULL, nodes that need them are skipped, and the run goes on. */
    enum odb_status (*after)(void *payload, int node, enum odb_status status,
                             struct odb_error *err);
    bool after_failures; /* after() is called only behind nodes that failed */
    void *payload;
    bool (*cancelled)(void *payload);
    const struct odb_cpu_watch *watch; /* borrowed; NULL: none */
    double *took; /* [n_nodes] seconds that a node took, with what was dropped behind the one
                     before, never 0, where it ran to its end; the others are left as they are.
                     NULL: none is timed */
};

/* Returns ODB_OK even when some nodes could not be run, unless after() says otherwise. */
enum odb_status odb_cpu_execute(const struct odb_cpu *cpu, struct odb_cpu_run *run,
                                struct odb_error *err) ODB_MUST_USE;

/* One node on given inputs (in[] like node->in, NULL where omitted); out[] owned by the caller.
 * captured: values for the node's bodies, indexed by value of the main graph; may be NULL. */
enum odb_status odb_cpu_node(const struct odb_cpu *cpu, int node, enum odb_precision precision,
                             uint64_t seed, struct odb_tensor *const *in,
                             struct odb_tensor *const *captured, struct odb_tensor **out,
                             struct odb_error *err) ODB_MUST_USE;
/* Changes a call that is about to run: its row, attributes, operands, precision. What is put in is
 * the caller's, and must live until the call has run. */
typedef enum odb_status odb_cpu_change_fn(void *payload, struct odb_call *call,
                                          struct odb_error *err);
/* One node that has a kernel, computed otherwise. ODB_UNSUPPORTED: it has none. */
enum odb_status odb_cpu_node_changed(const struct odb_cpu *cpu, int node,
                                     enum odb_precision precision, uint64_t seed,
                                     struct odb_tensor *const *in, odb_cpu_change_fn *change,
                                     void *payload, struct odb_tensor **out,
                                     struct odb_error *err) ODB_MUST_USE;
/* odb_cpu_node() with a watch. */
enum odb_status odb_cpu_node_watched(const struct odb_cpu *cpu, int node,
                                     enum odb_precision precision, uint64_t seed,
                                     struct odb_tensor *const *in,
                                     struct odb_tensor *const *captured,
                                     const struct odb_cpu_watch *watch, struct odb_tensor **out,
                                     struct odb_error *err) ODB_MUST_USE;

/* Few bits.
 *
 * Runs that keep to encodings, as a target that computes with few bits does ("fake quantisation"):
 * what has an encoding takes its numbers and no others. A weight or an input of the model is
 * rounded where it is read, any other value where it is made. Noisy runs round otherwise what lies
 * near the middle between two numbers. Values of bodies stay as they are. */

/* How far from the middle between two numbers, in steps, an honest implementation may yet round to
 * either: noisy runs do. */
#define ODB_ENCODING_TIE (1.0 / 32)

/* All runs from now on keep to the encodings, which must outlive cpu: once, before the first run.
 * ODB_E_INPUT where a weight has other channels than its encoding. */
enum odb_status odb_cpu_simulate(struct odb_cpu *cpu, const struct odb_encodings *encodings,
                                 struct odb_error *err) ODB_MUST_USE;

/* The encoding of a value of the main graph; NULL: it has none, or nothing is simulated. Borrowed.
 */
const struct odb_encoding *odb_cpu_encoding(const struct odb_cpu *cpu, int value);

/* What a replay rounds. */
enum odb_simulated { ODB_SIMULATE_ALL, ODB_SIMULATE_INPUTS, ODB_SIMULATE_NOTHING };

/* odb_cpu_node() that leaves what the node makes, or what it reads besides its weights, as it is.
 */
enum odb_status odb_cpu_node_simulated(const struct odb_cpu *cpu, int node,
                                       enum odb_precision precision, uint64_t seed,
                                       struct odb_tensor *const *in,
                                       struct odb_tensor *const *captured, enum odb_simulated what,
                                       struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;

#endif
