/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session may come from a stranger, and a database is a program as well: a view under the name of
 * a table runs when it is read, a trigger when something is written, and neither need ever end. We
 * make tables and indices alone, so a file with anything else in it is not ours. Nor is one whose
 * pages are each part of several others: seven of them can hold more rows than anybody can count.
 */
#include "session/store_int.h"

#include <stdio.h>
#include <string.h>

enum { GUARD_BYTES = 256 << 20, GUARD_SQL = 1 << 20 }; /* of one text; of one statement */
enum { GUARD_LINES = 100 };                            /* of what is damaged */

/* Reads all pages once, and looks for one that stands in two places: in SQLite's words, for there
 * is no other way to ask. Whatever else is damaged may have left most of it readable. */
static enum odb_status guard_pages(sqlite3 *db, const char *path, struct odb_error *err)
{
    sqlite3_stmt *stmt = NULL;
    size_t lines = 0;
    bool shared = false;
    char sql[40];
    snprintf(sql, sizeof sql, "PRAGMA quick_check(%d)", GUARD_LINES);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return ODB_OK; /* what cannot be asked cannot be read either */
    while (!shared && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *found = (const char *)sqlite3_column_text(stmt, 0);
        shared = found && (strstr(found, "2nd reference") || strstr(found, "out of order"));
        for (lines++; found && *found; found++)
            lines += *found == '\n';
    }
    sqlite3_finalize(stmt);
    if (!shared && lines < GUARD_LINES)
        return ODB_OK;
    return odb_fail(err, ODB_E_FORMAT, "%s is no session, or is damaged: %s", path,
                    shared ? "a page of it is part of two" : "hardly a page of it is whole");
}

enum odb_status odb_store__guard(sqlite3 *db, const char *path, struct odb_error *err)
{
    sqlite3_stmt *stmt = NULL;
    enum odb_status status = ODB_OK;
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_exec(db, "PRAGMA ignore_check_constraints = 1", NULL, NULL, NULL); /* we make none */
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, GUARD_BYTES);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, GUARD_SQL);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    if (sqlite3_prepare_v2(db,
                           "SELECT type FROM sqlite_master WHERE type NOT IN ('table', 'index')"
                           " OR sql LIKE 'CREATE VIRTUAL%' OR (type = 'index' AND sql IS NOT NULL)"
                           " OR EXISTS (SELECT 1 FROM pragma_table_xinfo(sqlite_master.name)"
                           " WHERE hidden > 1) LIMIT 1", /* columns that are generated */
                           -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW) {
        status = odb_fail(err, ODB_E_FORMAT,
                          "%s is no session: there is a %s in it that onnxdbg "
                          "does not make",
                          path, (const char *)sqlite3_column_text(stmt, 0));
        odb_error_remedy(err, "do not open it, unless you know who made it");
    }
    sqlite3_finalize(stmt);
    return status != ODB_OK ? status : guard_pages(db, path, err);
}
