/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether it is the user's own file that the target runs.
 */
#ifndef ODB_BISECT_PLAN_OWN_FILE_H
#define ODB_BISECT_PLAN_OWN_FILE_H

#include "bisect/findings.h"

/* Says in the report whether it is the user's own file that the target is given for this probe of
 * the whole model, the first time. */
enum odb_status own_file_instead(const struct search_case *c, struct findings *f,
                                 const struct odb_probe *probe, struct odb_error *err) ODB_MUST_USE;
/* Before the plain run of a target that has fixed dimensions by its option: runs the file as well,
 * and has that judged from here on where it comes out differently. What fails is reported. */
enum odb_status own_file_look(const struct search_case *c, struct findings *f,
                              struct odb_error *err) ODB_MUST_USE;

#endif
