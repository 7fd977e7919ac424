/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The model that goes with a repro where it is known what the target computed instead: it computes
 * that.
 */
#ifndef ODB_SHRINK_REPRO_AS_IF_H
#define ODB_SHRINK_REPRO_AS_IF_H

#include "report/report.h"
#include "run/feeds.h"

#define ODB_REPRO_AS_IF "as-if.onnx"

/* Appends its bytes. small: of one node, which was fed this and made outputs [n_outputs] on the
 * target; explained: of that node. ODB_SKIPPED: it is not known well enough, or ONNX has no
 * operators for it. */
enum odb_status odb_repro_as_if(const struct odb_model *small, const struct odb_feeds *feeds,
                                struct odb_tensor *const *outputs,
                                const struct odb_explanations *explained, struct odb_buf *bytes,
                                struct odb_error *err) ODB_MUST_USE;

#endif
