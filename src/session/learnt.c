/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A later search in the session does not ask again for what was refused.
 */
#include "session/session_state.h"

#include <stdlib.h>
#include <string.h>

#include "session/identity.h"
#include "session/store_int.h"

static void learnt_name(const struct odb_bisect_options *options, char name[65])
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_printf(&text, "%s\n", options->target);
    odb_identity_put_common(&text);
    odb_identity_put_spec(options->target, &text);
    odb_answers_digest(&text, name);
    odb_buf_dispose(&text);
}

static struct odb_learnt *learnt_of(struct odb_session *session, const char *target)
{
    for (size_t i = 0; i < session->learnt.n; i++)
        if (!strcmp(session->learnt.items[i].target, target))
            return &session->learnt.items[i];
    odb_push(&session->learnt, (struct odb_learnt){.target = odb_xstrdup(target)});
    return &session->learnt.items[session->learnt.n - 1];
}

/* The number that a table of the file has of the target; *out stays where it has none. */
static enum odb_status learnt_read(struct odb_store *store, const char *select, const char *target,
                                   size_t *out, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    sqlite3_stmt *stmt;
    ODB_TRY(odb_store__prepare_if_there(store, &stmt, select, err));
    if (!stmt)
        return ODB_OK;
    odb_store__bind_text(stmt, 1, target);
    if (odb_store__row(store, stmt, &status, err) && sqlite3_column_int64(stmt, 0) > 0)
        *out = (size_t)sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return status;
}

static enum odb_status learnt_write(struct odb_store *store, const char *table, const char *insert,
                                    const char *target, size_t number, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    ODB_STORE_HOLD(store);
    ODB_TRY(odb_store__make_table(store, table, err));
    ODB_TRY(odb_store__prepare(store, &stmt, insert, err));
    odb_store__bind_text(stmt, 1, target);
    sqlite3_bind_int64(stmt, 2, (sqlite3_int64)number);
    enum odb_status status = odb_store__step(store, stmt, err);
    sqlite3_finalize(stmt);
    return status;
}

enum odb_status odb_session__recall_learnt(struct odb_session *session,
                                           struct odb_bisect_options *options, bool again,
                                           struct odb_error *err)
{
    size_t cuts = ODB_CUTS_ANY;
    learnt_name(options, session->learning);
    struct odb_learnt *learnt = learnt_of(session, session->learning);
    if (!learnt->max_outputs && session->store)
        ODB_TRY(learnt_read(session->store, "SELECT max_outputs FROM learnt WHERE target = ?",
                            session->learning, &learnt->max_outputs, err));
    if (learnt->cuts == ODB_CUTS_ANY && session->store)
        ODB_TRY(learnt_read(session->store, "SELECT cut FROM learnt_cut WHERE target = ?",
                            session->learning, &cuts, err));
    if (cuts <= ODB_CUTS_NONE && cuts != ODB_CUTS_ANY)
        learnt->cuts = (enum odb_cuts)cuts;
    options->max_outputs = again ? 0 : learnt->max_outputs;
    options->cuts = again ? ODB_CUTS_ANY : learnt->cuts;
    return ODB_OK;
}

enum odb_status odb_session__learn(struct odb_session *session, const struct odb_report *report,
                                   struct odb_error *err)
{
    if (!session->learning[0])
        return ODB_OK;
    struct odb_learnt *learnt = learnt_of(session, session->learning);
    const struct odb_capabilities found = {.cut = report->cut_found};
    enum odb_cuts cuts = odb_capabilities_cuts(&found);
    bool new_outputs = report->max_outputs && learnt->max_outputs != report->max_outputs;
    bool new_cuts = cuts != ODB_CUTS_ANY && learnt->cuts != cuts;
    if (new_outputs)
        learnt->max_outputs = report->max_outputs;
    if (new_cuts)
        learnt->cuts = cuts;
    if (new_outputs && session->store)
        ODB_TRY(learnt_write(session->store, "learnt",
                             "INSERT OR REPLACE INTO learnt VALUES (?, ?)", learnt->target,
                             learnt->max_outputs, err));
    return new_cuts && session->store
               ? learnt_write(session->store, "learnt_cut",
                              "INSERT OR REPLACE INTO learnt_cut VALUES (?, ?)", learnt->target,
                              learnt->cuts, err)
               : ODB_OK;
}

void odb_session__forget_learnt(struct odb_session *session)
{
    for (size_t i = 0; i < session->learnt.n; i++)
        free(session->learnt.items[i].target);
    free(session->learnt.items);
    session->learnt.items = NULL;
    session->learnt.n = 0;
}
