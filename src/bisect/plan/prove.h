/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every cut before the culprits.
 */
#ifndef ODB_BISECT_PLAN_PROVE_H
#define ODB_BISECT_PLAN_PROVE_H

#include "bisect/findings.h"

/* Tests every cut before the culprits, if there are any. signature: as in
 * hunt_ask_prefixes(). */
enum odb_status prove_cuts(const struct search_case *c, struct findings *f,
                           enum odb_status signature, struct odb_error *err) ODB_MUST_USE;

#endif
