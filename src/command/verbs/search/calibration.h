/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the encodings of a search cost, in its report.
 */
#ifndef ODB_COMMAND_VERBS_SEARCH_CALIBRATION_H
#define ODB_COMMAND_VERBS_SEARCH_CALIBRATION_H

#include "bisect/bisect_options.h"
#include "report/report.h"

/* Runs the model in float, where the search came to its end, with a verdict or without; without
 * encodings, or without a trace, nothing happens. status: what the search came to. Returns that, or
 * what failed after it. */
enum odb_status odb_call__calibration(struct odb_report *report,
                                      const struct odb_bisect_options *options,
                                      enum odb_status status, struct odb_error *err) ODB_MUST_USE;

#endif
