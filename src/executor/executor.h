/* SPDX-License-Identifier: MIT
 *
 * What runs a model. An executor lives in a child process (serve.c) and has four calls; any may
 * be NULL. The debugger's side of it is target.h.
 */
#ifndef ODB_EXECUTOR_EXECUTOR_H
#define ODB_EXECUTOR_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "executor/spec.h"
#include "tensor/tensor.h"

#define ODB_EXECUTOR_VERSION 2

/* A tensor with its name. */
struct odb_named {
    const char *name;                /* borrowed */
    const struct odb_tensor *tensor; /* borrowed */
};

/* A model to load. */
struct odb_load {
    const void *bytes; /* ONNX; borrowed for the call */
    size_t size;
    struct odb_storage *keep; /* owns bytes, for executors that keep them; borrowed; NULL: copy */
    const char *dir;       /* relative external data is below it; the child's working directory */
    const char *path;      /* absolute: the user's file, when it was read, held bytes; NULL: none */
    const int *node_index; /* [n_nodes] index in the debugged model of each node, in file order */
    size_t n_nodes;
    const char *const *original_outputs; /* of the debugged model: outputs that are no probes */
    size_t n_original_outputs;
    bool beside;  /* by target.h alone: the user's file that is loaded stays beside, if it may */
    bool account; /* odb_executor_account() is going to be called, and weights are few: what that
                     takes may be had at once */
};

/* Where a node of the loaded model was run. */
struct odb_placement {
    char *node;    /* owned: its name as the executor knows it, which may be one of its own */
    char *op_type; /* owned */
    char *where;   /* owned: "CPUExecutionProvider", "cuda:0" */
};

/* How long nodes took in a run. */
struct odb_took {
    int node;       /* index in the debugged model */
    double seconds; /* more than 0 */
};
struct odb_times {
    ODB_VEC(struct odb_took) list;
};

/* What an executor says of the model that it has loaded. */
struct odb_account {
    struct odb_buf text; /* the model in its own words: an optimised graph, an IR */
    ODB_VEC(struct odb_placement) places;
    ODB_VEC(char *) notes; /* owned: what its user should know, a line each */
    struct odb_buf groups; /* JSON: what nodes became (groups.h); empty: it does not say */
};

#define ODB_ACCOUNT_INIT                                                                           \
    {                                                                                              \
        .text = ODB_BUF_INIT, .groups = ODB_BUF_INIT                                               \
    }

/* What the argument of a spec is in a search for the files that it names. */
enum odb_argument {
    ODB_ARGUMENT_FILE,   /* FILE, FILE:CLASS, MODULE:CLASS, or no file at all */
    ODB_ARGUMENT_COMMAND /* a command line, of whose words some may be files */
};

/* What names an executor's library, for this spec or for all of them. */
struct odb_runtime {
    const char *path; /* borrowed; NULL: nothing does, and the usual places are searched */
    const char *by;   /* "runtime", "ONNXDBG_ORT" */
};

/* The option for it, which the executors have that load a library. */
#define ODB_RUNTIME_OPTION(help)                                                                   \
    {                                                                                              \
        "runtime", "PATH", NULL, help, false                                                       \
    }

/* One that is installed here. */
struct odb_library {
    char *path;    /* owned */
    char *version; /* owned; "": not known without loading it */
};
struct odb_libraries {
    ODB_VEC(struct odb_library) items;
};

/* The optimisations of a runtime that can be left out one by one. */
struct odb_executor_optimizers {
    const char *option;       /* its value lists those that are left out, with ';' between them */
    const char *const *names; /* ends with NULL */
};

/* A setting that is known to make a difference: where something is wrong, the model is run with it
 * once. Only what differs from the spec is tried. */
struct odb_executor_setting {
    const char *option; /* "arena=off"; NULL ends a table */
    const char *help;   /* what it does, after "with arena=off, " */
    const char *spec;   /* a word that the spec must have: "cuda"; NULL: none */
    const char *model;  /* parts of names of operators, parted by blanks, of which the model must
                           have  one: "Quantize Integer"; NULL: none */
};

struct odb_transport; /* executor/transport/link.h */

struct odb_executor_ops {
    unsigned version;                          /* ODB_EXECUTOR_VERSION */
    size_t size;                               /* sizeof(struct odb_executor_ops) */
    const char *kind;                          /* as in the spec: "ort" */
    const struct odb_executor_option *options; /* what its specs may hold, for odb_spec_check() */
    const char *help;                          /* one line */
    const char *page;                          /* of the manual: "onnxdbg-ort(7)" */
    const char *get; /* the command that gets what is missing: "apt install NAME"; NULL: none */

    bool fixed;     /* takes models with fixed dimensions only, or does badly with others */
    bool recorded;  /* gives what was recorded before, whatever is cut out of the model: outputs
                       that were not are NULL, and that is no failure */
    bool partial;   /* runs what it is given, but may have to say of an output that it cannot be
                       read there: it is NULL */
    bool reference; /* runs the code of the reference */
    bool usual;     /* is the target where none is named, if it can be had here */
    /* Takes another spec to where its argument says: ssh:HOST,SPEC. NULL: it runs models itself. */
    const struct odb_transport *transport;
    enum odb_argument argument;
    const char *trusted; /* options that a spec in a stranger's file may hold, parted by blanks, and
                            ":" for the argument; "*": all of them; NULL: none is followed */
    const char *library; /* as it begins its description: "NumPy"; NULL: not known beforehand */
    /* As a third opinion. */
    int independence;        /* how early it is asked: 1, 2, …, each once; 0: never */
    const char *opinion;     /* the spec that is asked: "ort,opt=disabled" */
    bool bodies;             /* it runs nodes that have bodies */
    const char *plain;       /* option and value that leave its own optimisations out: that is its
                                plainest, "opt=disabled"; NULL: it has none */
    const char *plain_words; /* what that leaves out: "optimisations" */
    const struct odb_executor_setting *settings; /* the most telling first; NULL: none is known */
    /* What it computes otherwise than a model says. */
    bool by_value;       /* it has not all of ONNX's element types, and its values are compared by
                            value where nothing else is said (types=) */
    uint32_t lacks;      /* ODB_BIT of the element types that it has next to no kernels for */
    const char *float16; /* a sentence on what it does to float16, with a blank at its end; NULL:
                            nothing */
    const struct odb_executor_optimizers *optimizers; /* NULL: they are not known by name */
    /* The library that it loads, which the option runtime of its specs names, else the environment
     * (odb_executor_runtime()). */
    const char *env;     /* the variable; NULL: it loads none, and takes no runtime */
    const char *renamed; /* another spelling of the option: "modules"; NULL: there is none */
    /* The file that it would load, as far as that is known without loading it; owned by the
     * caller, NULL: none, or the loader's to find. Optional. */
    char *(*file)(const struct odb_runtime *runtime);
    /* Those in the places where it looks, and beside this program; nothing is loaded. Optional. */
    void (*libraries)(struct odb_libraries *out);
    /* Empty string: usable here. Else why not. Optional. */
    void (*available)(const struct odb_runtime *runtime, char *why, size_t size);
    /* What is installed, and where; may take a moment. False: text says why it is of no use.
     * Optional. */
    bool (*found)(const struct odb_runtime *runtime, char *text, size_t size);
    /* Whether what the spec names is here, as far as a look at files tells; nothing is started or
     * loaded. Optional. */
    enum odb_status (*look)(const struct odb_spec *spec, struct odb_error *err);
    /* Checks the options. */
    enum odb_status (*init)(void **self, const struct odb_spec *spec, struct odb_error *err);
    enum odb_status (*load_model)(void *self, const struct odb_load *load, struct odb_error *err);
    /* outputs[i] is owned by the caller on success. */
    enum odb_status (*execute)(void *self, const struct odb_named *inputs, size_t n_inputs,
                               const char *const *names, size_t n_outputs,
                               struct odb_tensor **outputs, struct odb_error *err);
    void (*release)(void *self);
    /* Ends load_model or execute early, from another thread: there is nothing else to come but
     * release. False: that may take as long as ever. Optional. */
    bool (*cancel)(void *self);
    /* Version and platform for reports, "ONNX Runtime 1.22.0, CPU"; optional. */
    void (*describe)(void *self, char *text, size_t size);
    /* What it can do, before any model is loaded: appends options of a spec,
     * "max_outputs=16,cut=no" (capabilities.h). Optional. */
    void (*capabilities)(void *self, struct odb_buf *options);
    /* Adds to what is known of the loaded model, best after a run; optional. */
    enum odb_status (*account)(void *self, struct odb_account *account, struct odb_error *err);
    bool account_loads; /* which loads the model once more */
    /* Whether another of this spec may be opened in the process, with a model of its own beside the
     * one that is loaded. Optional: it may not. */
    bool (*beside)(void *self);
    /* Adds how long each node took in the last run, once each, where it can tell. Optional. */
    void (*times)(void *self, struct odb_times *times);
};

/* The row for a kind, NULL when unknown. */
const struct odb_executor_ops *odb_executor_find(const char *kind);
const struct odb_executor_ops *const *odb_executor_list(size_t *n);

/* What names the library of an executor; spec NULL: nothing but the environment can. Borrowed:
 * spec, environment. */
struct odb_runtime odb_executor_runtime(const struct odb_executor_ops *ops,
                                        const struct odb_spec *spec);
/* Whether it can be used here, with the library that is named; else why says why not. */
bool odb_executor_available(const struct odb_executor_ops *ops, const struct odb_spec *spec,
                            char *why, size_t size);
/* The same of a whole spec and of what it wraps, up to a transport: what is behind one is not here.
 * True as well where the spec is malformed, which odb_executor_open() tells. May take a moment. */
bool odb_executor_usable(const char *spec, char *why, size_t size);
/* One more, unless it is there; takes both over. */
void odb_libraries_add_take(struct odb_libraries *libraries, char *path, char *version);
void odb_libraries_dispose(struct odb_libraries *libraries);

/* The row for the target where none is named, and the same; NULL: it cannot be had here. */
const struct odb_executor_ops *odb_executor_usual_row(void);
const struct odb_executor_ops *odb_executor_usual(void);

/* The row that is asked for a third opinion before those of a higher rank, from 1 on; NULL: there
 * are no more. */
const struct odb_executor_ops *odb_executor_independent(int rank);

/* The row for the outermost executor of a spec; NULL for a malformed spec or an unknown kind. */
const struct odb_executor_ops *odb_executor_row(const char *spec);
/* The same, but behind a transport for that of the other machine. */
const struct odb_executor_ops *odb_executor_of(const char *spec);
/* Whether the outermost executor of a spec is the reference itself, in any precision. */
bool odb_executor_is_reference(const char *spec);
/* Whether its values are compared by value, as far as the spec and the rows tell: its program may
 * say so as well (capabilities.h). False for a malformed one. */
bool odb_executor_by_value(const char *spec);
/* Whether a spec names one that gives what was recorded before; false for a malformed one. */
bool odb_executor_recorded(const char *spec);
/* Whether a spec, or one that it wraps, is for models with fixed dimensions: its executor is, or it
 * says `static`. */
bool odb_executor_fixed(const char *spec);
/* Whether its executor is, whatever it says. */
bool odb_executor_needs_fixed(const char *spec);
/* Whether a spec that stands in a file may be followed without the user having given it: it starts,
 * loads, reaches, reads and writes nothing that it names. False for a malformed one. */
bool odb_executor_trusted(const char *spec);
/* The same target at its plainest: what the spec says with plain=SPEC, or with the option of its
 * executor's row, or of the one that it wraps. Owned by the caller; NULL: it is that already, or is
 * known to have none. */
char *odb_executor_plain(const char *spec);
/* Whether the spec's executor, and all that it wraps, has something to say of a loaded model. */
bool odb_executor_accounts(const char *spec);
/* Whether it loads the model again for that, as far as is known here. */
bool odb_executor_account_loads(const char *spec);

/* Whether a spec, and all that it wraps, is one that can be opened here, as far as that is known
 * before anything is started: what another machine has is not asked. ODB_E_USAGE if not. */
enum odb_status odb_executor_here(const char *spec, struct odb_error *err) ODB_MUST_USE;

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
/* As in the row; outputs are all set on success (those that a recording lacks, or that cannot be
 * read there, are NULL) and all NULL otherwise. */
enum odb_status odb_executor_run(struct odb_executor *executor, const struct odb_named *inputs,
                                 size_t n_inputs, const char *const *names, size_t n_outputs,
                                 struct odb_tensor **outputs, struct odb_error *err) ODB_MUST_USE;
/* As in the row; false where it has none. */
bool odb_executor_cancel(struct odb_executor *executor);
void odb_executor_describe(struct odb_executor *executor, char *text, size_t size);
/* As in the row; nothing where it has none. */
void odb_executor_capabilities(struct odb_executor *executor, struct odb_buf *options);
/* As in the row. */
bool odb_executor_beside(struct odb_executor *executor);
/* What it says of the loaded model; account is the caller's to dispose of, on failure too. */
enum odb_status odb_executor_account(struct odb_executor *executor, struct odb_account *account,
                                     struct odb_error *err) ODB_MUST_USE;
/* As in the row; nothing where it has none. */
void odb_executor_times(struct odb_executor *executor, struct odb_times *times);

void odb_account_dispose(struct odb_account *account);
/* All texts are copied. */
void odb_account_place(struct odb_account *account, const char *node, const char *op_type,
                       const char *where);
void odb_account_note(struct odb_account *account, const char *fmt, ...) ODB_PRINTF(2, 3);

/* How many nodes run at a place. */
struct odb_place_count {
    const char *where; /* borrowed from the account */
    size_t n;
};
/* One for each place, most nodes first; *out is the caller's to free(). */
size_t odb_account_count(const struct odb_account *account, struct odb_place_count **out);
/* "12 nodes on CUDA, 2 on CPU"; nothing where no places are known. */
void odb_account_put_places(const struct odb_account *account, struct odb_buf *out);

#endif
