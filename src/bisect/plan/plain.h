/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The model as it is, some times: does it run, does it repeat, is it wrong?
 */
#ifndef ODB_BISECT_PLAN_PLAIN_H
#define ODB_BISECT_PLAN_PLAIN_H

#include "bisect/findings.h"

/* The model as it is, some times. After refused_around() has put others there, the outputs are
 * those. */
enum odb_status plain_run(const struct search_case *c, struct findings *f,
                          struct odb_error *err) ODB_MUST_USE;
/* What the target says of the model as it is, which is loaded now: its notes are warnings, and that
 * it fails to say is one. */
enum odb_status plain_account(const struct search_case *c, struct findings *f,
                              struct odb_error *err) ODB_MUST_USE;

#endif
