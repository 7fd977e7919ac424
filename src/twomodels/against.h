/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One network in two models: the original, which the reference runs, and another that was made of
 * it, which runs on the target. Values that are the same in both are what a recording of the
 * original would be, and are searched as one: of the stretch between two pairs that is at fault,
 * the reference tells, for it runs the original's part on the other model's values. Then the other
 * model's part runs on the original's.
 */
#ifndef ODB_TWOMODELS_AGAINST_H
#define ODB_TWOMODELS_AGAINST_H

#include "bisect/bisect_options.h"
#include "run/feeds.h"
#include "report/report.h"
#include "twomodels/weights.h"

struct odb_renames;

/* What the other model was made into, as far as its graph tells. */
struct odb_against_made {
    const char
        *expect;    /* "f16", "bf16": most of its weights are, and the original's are not; NULL */
    bool quantised; /* it has quantised operators that the original has not */
};
struct odb_against_made odb_against_made(const struct odb_graph *original,
                                         const struct odb_graph *other);
/* Whether the CPU reference has kernels for all of it. */
bool odb_against_runs(const struct odb_model *model);

struct odb_against {
    const struct odb_model *other;     /* borrowed */
    const char *spec;                  /* what runs it; borrowed */
    const struct odb_renames *renames; /* borrowed; NULL: none */
};

/* odb_bisect() for the two of them; options->trace must be there, and options->target is what the
 * other model is called in texts. The report is of the original; what is known of the other is in
 * its summary and its JSON: "against". */
enum odb_status odb_against_bisect(struct odb_report **out, const struct odb_against *against,
                                   const struct odb_model *model, const struct odb_feeds *feeds,
                                   const struct odb_bisect_options *options,
                                   struct odb_error *err) ODB_MUST_USE;

#endif
