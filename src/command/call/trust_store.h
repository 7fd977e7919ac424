/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a session file names and the user has given himself, so that one's own sessions open as they
 * were, and a stranger's start and read nothing.
 */
#ifndef ODB_COMMAND_CALL_TRUST_STORE_H
#define ODB_COMMAND_CALL_TRUST_STORE_H

#include "command/table/command.h"

struct odb_command_call;
struct odb_session;

/* Whether what a file gives for an option may be taken: it does no harm from any author, or the
 * user gave the same before. Of a spec: in this folder, and with the files that it names as they
 * were then. */
bool odb_trust_follows(enum odb_option_id id, const char *value);
/* The user gives it, and a session is going to hold it. Not where he has no home, or no room. */
void odb_trust_keep(enum odb_option_id id, const char *value);
/* Both specs of a search that has begun, as far as they were given. */
void odb_trust_keep_specs(const struct odb_command_call *call);
/* The same of a file that a value is pinned to, which is not "reference". */
void odb_trust_keep_pin(const char *file);
/* The file that holds it; NULL: he has no home. The caller's. */
char *odb_trust_path(void);
/* Disables pins to files that the session names and the user never gave, and says so. */
void odb_trust_drop_pins(struct odb_command_call *call, struct odb_session *session);
/* Why what a session holds is not followed, and what gives it: odb_trust_follows(). Owned by the
 * caller. */
char *odb_call__untrusted(enum odb_option_id id, const char *spec);
/* That as ODB_E_USAGE. */
enum odb_status odb_call__refuse_untrusted(enum odb_option_id id, const char *spec,
                                           struct odb_error *err) ODB_MUST_USE;

#endif
