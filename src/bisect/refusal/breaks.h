/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether a refusal is a failure: the model is valid, for the reference runs it and lint finds no
 * error, and the target runs it as well, at its plainest. All commands that ask a target have the
 * answer from here.
 */
#ifndef ODB_BISECT_REFUSAL_BREAKS_H
#define ODB_BISECT_REFUSAL_BREAKS_H

#include "probe/plainest.h"

/* Of a probe of a model that the reference has run: why says how it was refused. */
enum odb_status odb_refusal_breaks(bool *breaks, struct odb_plainest *plainest,
                                   const struct odb_prober *prober, const struct odb_probe *refused,
                                   const struct odb_error *why, struct odb_error *err) ODB_MUST_USE;

/* The same of a run of the whole model for these values, as odb_run_values() makes it; the
 * reference is run as well. Where it is one, *plain is the spec that runs it, which the caller
 * frees; else NULL, as where the spec has no plainer options. */
enum odb_status odb_refusal_breaks_run(char **plain, const struct odb_model *model,
                                       const struct odb_feeds *feeds, const char *spec,
                                       const int *values, size_t n, const struct odb_error *why,
                                       const struct odb_search_hooks *hooks,
                                       struct odb_error *err) ODB_MUST_USE;

#endif
