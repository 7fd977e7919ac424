/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that is judged by encodings and computes in float: its outputs are those of the model in
 * float, and not what the encodings make of them. It quantises nothing, so it is off from the
 * reference all over, which is no fault of any node.
 */
#ifndef ODB_JUDGE_IN_FLOAT_H
#define ODB_JUDGE_IN_FLOAT_H

#include "reference/trace.h"

/* So close to float, and so much closer than to the simulation, in dB, is what rounds nothing. */
#define ODB_IN_FLOAT_CLOSE 40
#define ODB_IN_FLOAT_CLOSER 10

/* Runs the model of the trace, which has encodings, in float. *is: all of the values ([n]) that are
 * floats are close to that. given: [n_values] what the target made, NULL where not had, which is
 * never close. */
enum odb_status odb_in_float(bool *is, const struct odb_trace *trace, const int *values, size_t n,
                             struct odb_tensor *const *given, const struct odb_search_hooks *hooks,
                             struct odb_error *err) ODB_MUST_USE;

#endif
