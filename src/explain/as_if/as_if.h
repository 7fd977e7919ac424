/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An explanation as a model that computes what the target computed: something to send to the makers
 * of the target.
 */
#ifndef ODB_EXPLAIN_AS_IF_H
#define ODB_EXPLAIN_AS_IF_H

#include "base/buf.h"
#include "explain/explanations.h"

/* Appends the bytes of a model with the inputs and outputs of q's, which has one node, where the
 * node is what the variant of this name makes of it. The model has been run on q's inputs, and gave
 * what the variant gives. ODB_SKIPPED: operators of ONNX do not say it, or there is no such
 * variant. */
enum odb_status odb_explain_as_if(const struct odb_explain_question *q, const char *variant,
                                  struct odb_buf *bytes, struct odb_error *err) ODB_MUST_USE;

#endif
