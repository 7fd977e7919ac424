/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writing what an executor computes, output by output of every node, as dump_tools does: the same
 * folders, files and lines. There a model was cut and run for each output; here one run gives as
 * many as it can. A dump that was stopped or killed goes on where it was.
 */
#ifndef ODB_DUMP_DUMP_H
#define ODB_DUMP_DUMP_H

#include "dump/dump_info.h"
#include "run/feeds.h"
#include "run/hooks.h"

#define ODB_DUMP_STRATEGIES "auto|all|each"

enum odb_dump_strategy {
    ODB_DUMP_AUTO, /* all at once, in as few pieces as memory allows and the executor takes */
    ODB_DUMP_ALL,  /* one run */
    ODB_DUMP_EACH  /* a submodel with one output for every output */
};

struct odb_dump_options {
    const char *spec;                    /* of the executor */
    const char *executor;                /* what its user calls it */
    const char *cut_from;                /* file that the model is a part of; NULL: it is whole */
    const char *model_dtype;             /* "fp16"; only written down */
    const char *root, *inputs, *outputs; /* folders; the manifest is in root */
    const char *identity; /* what else the executor is made of, so that a dump that was stopped is
                             not gone on with by another */
    bool indexed;         /* files and lines bear the topological index */
    bool account;         /* the executor is asked what it made of the model */
    enum odb_dump_strategy strategy;
    uint64_t seed; /* of generated inputs */
    struct odb_search_hooks hooks;
    /* A line for people, with its newline: an output that is there, or why it is not. */
    void (*say)(void *payload, const char *line, bool failed);
    void *payload;
};

/* One output. */
struct odb_dump_row {
    int value;    /* of the graph */
    size_t index; /* topological */
    bool done;    /* it is written, or error is set */
    bool kept;    /* by a dump that was stopped */
    char *error;  /* owned: why it could not be had; NULL: it was */
    struct odb_tensor_info info;
    double *steps; /* owned; [n_steps] of its tensor, with the axis */
    size_t n_steps;
    int steps_axis;
};

struct odb_dump {
    const struct odb_model *model; /* borrowed, as all of options */
    const struct odb_feeds *feeds; /* borrowed */
    struct odb_dump_options options;
    struct odb_dump_row *rows; /* owned */
    size_t n;
    struct odb_tensor_info *fed; /* owned; [feeds->n] */
    char *own;                   /* owned: the model in the executor's words; NULL: it has none */
    size_t failed, kept;         /* rows with an error; taken over from a dump that was stopped */
    size_t loads;                /* of models */
    struct odb_error why;        /* of the first row that failed */
};

/* The outputs that topological indices count: all named outputs of nodes, in topological order, but
 * for those of Constant nodes. [*n] values; the caller frees. */
int *odb_dump_outputs(const struct odb_graph *graph, size_t *n);

/* Dumps the outputs with these indices (ascending). ODB_CANCELLED: what is written stays, and the
 * next dump of the same model, inputs and executor goes on with it. An output that cannot be had
 * is no error, only a row's. *out is to be disposed of also after failure. */
enum odb_status odb_dump_run(struct odb_dump *out, const struct odb_model *model,
                             const struct odb_feeds *feeds, const size_t *indices, size_t n,
                             const struct odb_dump_options *options,
                             struct odb_error *err) ODB_MUST_USE;
void odb_dump_dispose(struct odb_dump *dump);

/* A whole line of the journal of a dump that was stopped: an output by its topological index, which
 * is written where error (the caller's) is NULL. False: it is none. */
bool odb_dump_note_read(const char *line, size_t *index, char **error);

/* The submodel that ends in the rows' values, as ONNX text. */
enum odb_status odb_dump_text(const struct odb_dump *dump, struct odb_buf *out,
                              struct odb_error *err) ODB_MUST_USE;

#endif
