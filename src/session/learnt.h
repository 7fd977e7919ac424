/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a target was found to be able to do, whatever it was fed: a later search in the session does
 * not ask again for what was refused.
 */
#ifndef ODB_SESSION_LEARNT_H
#define ODB_SESSION_LEARNT_H

#include "bisect/bisect_options.h"
#include "session/session.h"

/* Of one target, as it is now: one that was built anew is another. */
struct odb_learnt {
    char *target;       /* owned: a digest of its spec and its files */
    size_t max_outputs; /* of one model; never 0 */
};

/* A search begins: what it may take as known is put into its options, unless it is to ask again. */
enum odb_status odb_session__recall_learnt(struct odb_session *session,
                                           struct odb_bisect_options *options, bool again,
                                           struct odb_error *err) ODB_MUST_USE;
/* It has ended, and came to this. */
enum odb_status odb_session__learn(struct odb_session *session, const struct odb_report *report,
                                   struct odb_error *err) ODB_MUST_USE;
void odb_session__forget_learnt(struct odb_session *session);

#endif
