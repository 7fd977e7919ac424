/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the encodings of a search cost, in its report.
 */
#ifndef ODB_COMMAND_VERBS_SEARCH_CALIBRATION_H
#define ODB_COMMAND_VERBS_SEARCH_CALIBRATION_H

#include "bisect/bisect_options.h"
#include "report/report.h"

/* Runs the model in float; without encodings, or without a trace, nothing happens. */
enum odb_status odb_call__calibration(struct odb_report *report,
                                      const struct odb_bisect_options *options,
                                      struct odb_error *err) ODB_MUST_USE;

#endif
