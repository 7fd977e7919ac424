/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The repro directory: a small model that shows the fault, what goes in, what should come out and
 * what does, for a reader that has never seen the whole. It is re-run from where it was written
 * before the repro claims that it reproduces.
 */
#ifndef ODB_SHRINK_REPRO_H
#define ODB_SHRINK_REPRO_H

#include "compare/criterion.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "report/report.h"
#include "judge/signature.h"
#include "model/write/write.h"

struct odb_repro_options {
    int first, last;   /* nodes of the segment (equal: one node) */
    bool whole;        /* all nodes and outputs instead: the model is what is left of
                          another, and is run again from a copy of its files */
    bool known;        /* whole: it is known to fail, so nothing is run, by the reference neither;
                          then there are no outputs, no report and no good model */
    const char *story; /* whole: where it comes from, in Markdown */
    const struct odb_signature *sought; /* what the second run must show; NULL: any divergence */
    const struct odb_model *good;       /* a larger model that passes, and what it is fed, for the
                                           folder "good"; NULL: none */
    const struct odb_feeds *good_feeds;
    bool with_target;                        /* files that the target's spec names are copied */
    const char *dir;                         /* created; must not exist or be empty */
    const char *reference, *golden, *target; /* specs; golden may be NULL */
    uint64_t seed;                           /* of noisy runs, as the search had it */
    struct odb_criterion tolerance;
    const char *expect;
    const struct odb_encodings *encodings; /* borrowed: a copy goes with it; NULL: none */
    int64_t ir_version;                    /* 0: the model's */
    const struct odb_report *report; /* may be NULL: then only what the export measures is in it */
    struct odb_search_hooks hooks;
};

struct odb_repro_result {
    bool known; /* not run again, so what follows is unknown but for the summary */
    bool reproduces;
    enum odb_verdict verdict;
    double error, noise; /* of the worst output, relative to rms; see trace.h */
    char misfit[160];    /* "shape [1] where the reference has [2]", of an output that has another
                            shape or type, and so no error; else "" */
    char summary[400];   /* one line: what was written and what the re-run showed */
};

/* ODB_E_USAGE unless a repro could be written there: it does not exist, or is an empty directory.
 */
enum odb_status odb_repro_ready(const char *dir, struct odb_error *err) ODB_MUST_USE;

/* Writes a part of a model as DIR/model.onnx, with large weights beside it. what: how weights are
 * written, and what is told of nodes, is chosen here. */
enum odb_status odb_repro_put_model(const char *dir, const struct odb_model *model,
                                    struct odb_extract what, struct odb_error *err) ODB_MUST_USE;

enum odb_status odb_repro_write(struct odb_repro_result *out, const struct odb_model *model,
                                const struct odb_feeds *feeds,
                                const struct odb_repro_options *options,
                                struct odb_error *err) ODB_MUST_USE;

#endif
