/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The page of a folder that shows a loss, and the folder as it is being made.
 */
#ifndef ODB_SCORE_LEAST_LEAST_PAGE_H
#define ODB_SCORE_LEAST_LEAST_PAGE_H

#include "score/least/least_int.h"
#include "shrink/repro_spec.h"

struct least_repro {
    struct leasting *l;
    struct odb_bisect_options search;  /* hooks: none once it was stopped */
    char *dir;                         /* owned: where it is being made */
    struct odb_port *inputs, *outputs; /* owned; like: refs */
    size_t n_inputs, n_outputs;
    struct odb_repro_spec target, reference;
    char *metric, *metric_used; /* owned: as it is named in the folder, and from here */
    const char *labels;         /* static: a file there; NULL: none */
    struct odb_model *small;    /* owned: as it was written */
};

/* Writes README.md, and score.json where it was scored again. */
enum odb_status least_page(struct least_repro *r, struct odb_error *err) ODB_MUST_USE;

#endif
