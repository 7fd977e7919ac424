/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What did the target compute instead? An accused node is replayed on the target's own inputs under
 * the rows of a catalogue of variants (variant.h), by the reference's own kernels, until one gives
 * what the target gave. A variant is judged by noise, as every value is, and then put to the test
 * on other inputs. Explanations never change a verdict.
 */
#ifndef ODB_EXPLAIN_EXPLAIN_H
#define ODB_EXPLAIN_EXPLAIN_H

#include "explain/explanations.h"

/* ODB_CANCELLED leaves what was found by then in *out, which is the caller's to dispose of. */
enum odb_status odb_explain(struct odb_explanations *out, const struct odb_explain_question *q,
                            struct odb_error *err) ODB_MUST_USE;

#endif
