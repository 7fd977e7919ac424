/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The third opinion.
 */
#ifndef ODB_BISECT_ALONE_THIRD_H
#define ODB_BISECT_ALONE_THIRD_H

#include "bisect/findings.h"

/* A node alone on another executor, fed with what the target fed its own: which side the value it
 * gives supports. by: its name and version, the caller's; NULL: not wanted. */
enum odb_opinion third_opinion_of(const struct search_case *c, struct findings *f, int node,
                                  int value, const char *spec, char **by);
/* Has the most independent of them started: it is going to be asked, and some take long. */
void third_begin(const struct search_case *c, struct findings *f);
/* Puts the question of this culprit, which is the first so far, to the most independent of them,
 * where that has started: third_opinion() finds the answer when the same is asked. */
void third_look_ahead(const struct search_case *c, struct findings *f,
                      const struct odb_culprit *culprit);
/* It is not wanted any more. */
void third_forget(struct findings *f);
/* Runs the culprit alone on a third executor of other code, where one is there that covers it, and
 * on the target's own library without optimisations, and notes whom they support. told: the
 * executor that gave the reference, held against the CPU's operator there; NULL: it was not.
 * ODB_CANCELLED: the user or the budget ended it, which is the only error. */
enum odb_status third_opinion(const struct search_case *c, struct findings *f,
                              struct odb_culprit *culprit, const struct odb_value_report *told,
                              struct odb_error *err) ODB_MUST_USE;
/* What they say: sentences, each with a space behind it. */
void third_put(const struct odb_culprit *culprit, struct odb_buf *out);

#endif
