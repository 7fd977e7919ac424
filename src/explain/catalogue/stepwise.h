/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operators of several steps, each of which is rounded to a narrow type: as a kernel of half types
 * computes them that keeps nothing wider between its steps.
 */
#ifndef ODB_EXPLAIN_CATALOGUE_STEPWISE_H
#define ODB_EXPLAIN_CATALOGUE_STEPWISE_H

#include "explain/variant.h"

#define STEPWISE_OPS "Softmax|LogSoftmax"

enum choice stepwise_choose(const struct accused *s, size_t k, struct variant *v);
enum odb_status stepwise_result(const struct variant *v, const struct accused *s,
                                struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;

#endif
