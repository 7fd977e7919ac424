/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values that the target never gave.
 */
#ifndef ODB_BISECT_EVIDENCE_UNREAD_H
#define ODB_BISECT_EVIDENCE_UNREAD_H

#include "bisect/findings.h"

/* How many values could be compared, and were neither had nor judged. */
size_t unread_count(const struct search_case *c, const struct findings *f);
/* Where the target stores integers, no node is accused, and values were not read: that there is no
 * verdict, whatever the outputs are. True then. reads: the strategy reads values in runs of the
 * whole model; else none counts as read. */
bool unread_rounded(const struct search_case *c, struct findings *f, bool reads);
/* Where all that was read agrees: takes the pass back if some value that was not read may be wrong
 * without a value that was read showing it. Errors of the judge, and ODB_CANCELLED. */
enum odb_status unread_check(const struct search_case *c, struct findings *f,
                             struct odb_error *err) ODB_MUST_USE;

#endif
