/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session may come from a stranger, and a database is a program as well: a view under the name of
 * a table runs when it is read, a trigger when something is written, and neither need ever end. We
 * make tables and indices alone, so a file with anything else in it is not ours. Nor is one whose
 * pages are each part of several others: seven of them can hold more rows than anybody can count.
 */
#include "session/store_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { GUARD_BYTES = 256 << 20, GUARD_SQL = 1 << 20 }; /* of one text; of one statement */

/* Reads all pages once. */
static enum odb_status guard_pages(sqlite3 *db, const char *path, struct odb_error *err)
{
    sqlite3_stmt *stmt = NULL;
    enum odb_status status = ODB_OK;
    if (sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW) {
        const char *found = (const char *)sqlite3_column_text(stmt, 0);
        const char *line = found ? strrchr(found, '\n') : NULL; /* behind that of the database */
        if (found && strcmp(found, "ok") != 0)
            status = odb_fail(err, ODB_E_FORMAT, "%s is no session, or is damaged: %s", path,
                              line ? line + 1 : found);
    }
    sqlite3_finalize(stmt);
    return status;
}

enum odb_status odb_store__guard(sqlite3 *db, const char *path, struct odb_error *err)
{
    sqlite3_stmt *stmt = NULL;
    enum odb_status status = ODB_OK;
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
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
