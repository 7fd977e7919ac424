/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that is loaded once and runs one step after the other.
 */
#ifndef ODB_SEQUENCE_STEPPER_H
#define ODB_SEQUENCE_STEPPER_H

#include "bisect/bisect_options.h"
#include "run/feeds.h"
#include "sweep/samples.h"

struct odb_stepper;

/* pass: what tells this run over the steps from all others. Where an earlier search had its end, it
 * answers; a part of a run does not, for what a target keeps between runs would be gone. options
 * and pass are borrowed: until it is closed. */
enum odb_status odb_stepper_open(struct odb_stepper **out, const struct odb_model *model,
                                 const struct odb_bisect_options *options, const char *pass,
                                 struct odb_error *err) ODB_MUST_USE;
/* ended: all steps were run. Adds to *spent what target and reference did. NULL is fine. */
void odb_stepper_close(struct odb_stepper *stepper, bool ended, struct odb_samples_cost *spent);
/* One run of the whole model; outputs: [n_outputs] of the graph, refs of the caller's, NULL for one
 * that no node makes, and all on failure. what: for the journal. */
enum odb_status odb_stepper_run(struct odb_stepper *stepper, const struct odb_feeds *feeds,
                                const char *what, struct odb_tensor **outputs,
                                struct odb_error *err) ODB_MUST_USE;

#endif
