/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Traces whose reference or golden an executor may give.
 */
#ifndef ODB_PROBE_REFERENCE_FROM_H
#define ODB_PROBE_REFERENCE_FROM_H

#include "reference/trace.h"

/* Runs the reference and golden. A failing operator is no error: its outputs stay NULL. Values that
 * an executor lacks are computed by the CPU from what is there; nodes that the CPU cannot run have
 * the executor's values. Fails as odb_probe_run() where the executor does. */
enum odb_status odb_reference_make(struct odb_trace **out, const struct odb_model *model,
                                   const struct odb_feeds *feeds,
                                   const struct odb_trace_options *options,
                                   struct odb_error *err) ODB_MUST_USE;

/* The same up to these values, for a caller that wants them and what leads to them, and judges
 * nothing: no other node runs, and there is neither golden nor noise. */
enum odb_status odb_reference_up_to(struct odb_trace **out, const struct odb_model *model,
                                    const struct odb_feeds *feeds, const int *values, size_t n,
                                    const struct odb_trace_options *options,
                                    struct odb_error *err) ODB_MUST_USE;

#endif
