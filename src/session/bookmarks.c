/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes that have a letter, kept on disk where the session is.
 */
#include "session/session_state.h"
#include "session/store_int.h"

static enum odb_status bookmarks_store(struct odb_store *store, char letter, int node,
                                       struct odb_error *err)
{
    sqlite3_stmt *stmt;
    const char text[] = {letter, '\0'};
    ODB_STORE_HOLD(store);
    ODB_TRY(odb_store__make_table(store, "bookmark", err));
    ODB_TRY(odb_store__prepare(store, &stmt,
                               node == ODB_NO_NODE
                                   ? "DELETE FROM bookmark WHERE letter = ?"
                                   : "INSERT OR REPLACE INTO bookmark VALUES (?, ?)",
                               err));
    sqlite3_bind_text(stmt, 1, text, 1, SQLITE_TRANSIENT);
    if (node != ODB_NO_NODE)
        sqlite3_bind_int(stmt, 2, node);
    enum odb_status status = odb_store__step(store, stmt, err);
    sqlite3_finalize(stmt);
    return status;
}

int odb_session_bookmarked(const struct odb_session *session, char letter)
{
    for (size_t i = 0; i < session->bookmarks.n; i++)
        if (session->bookmarks.items[i].letter == letter)
            return session->bookmarks.items[i].node;
    return ODB_NO_NODE;
}

static void bookmarks_put(struct odb_session *session, char letter, int node)
{
    size_t kept = 0;
    odb_session_lock(session);
    for (size_t i = 0; i < session->bookmarks.n; i++)
        if (session->bookmarks.items[i].letter != letter)
            session->bookmarks.items[kept++] = session->bookmarks.items[i];
    session->bookmarks.n = kept;
    if (node != ODB_NO_NODE)
        odb_push(&session->bookmarks, (struct odb_bookmark){letter, node});
    odb_session_unlock(session);
}

enum odb_status odb_session_bookmark(struct odb_session *session, char letter, int node,
                                     struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status =
        session->store ? bookmarks_store(session->store, letter, node, &why) : ODB_OK;
    status = odb_session__wrote(session, status, &why);
    if (status != ODB_OK && err)
        *err = why;
    ODB_TRY(status);
    bookmarks_put(session, letter, node);
    return ODB_OK;
}

enum odb_status odb_session__read_bookmarks(struct odb_session *session, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    ODB_TRY(odb_store__prepare_if_there(session->store, &stmt, "SELECT letter, node FROM bookmark",
                                        err));
    while (stmt && odb_store__row(session->store, stmt, &status, err)) {
        const char *letter = (const char *)sqlite3_column_text(stmt, 0);
        int node = sqlite3_column_int(stmt, 1);
        if (letter && *letter && node >= 0 && (size_t)node < session->model->graph->n_nodes)
            bookmarks_put(session, *letter, node);
    }
    sqlite3_finalize(stmt);
    return status;
}

enum odb_status odb_session__store_all(struct odb_session *session, struct odb_error *err)
{
    ODB_TRY(odb_store_put_annotations(session->store, &session->annotations, err));
    for (size_t i = 0; i < session->bookmarks.n; i++)
        ODB_TRY(bookmarks_store(session->store, session->bookmarks.items[i].letter,
                                session->bookmarks.items[i].node, err));
    return ODB_OK;
}
