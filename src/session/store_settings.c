/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The options that say what a model is fed with, so that they need not be known to open the
 * session.
 */
#include <stdlib.h>

#include "session/store_int.h"

/* The search whose report is shown when the file is opened, else the one that is to be gone on
 * with, else none. */
#define SETTINGS_SEARCH                                                                            \
    "coalesce((SELECT max(id) FROM search WHERE report IS NOT NULL),"                              \
    " (SELECT max(id) FROM search), 0)"

static enum odb_status settings_put(struct odb_store *store, sqlite3_int64 search,
                                    const struct odb_store_settings *settings,
                                    struct odb_error *err)
{
    sqlite3_stmt *stmt;
    char *forget = odb_xasprintf("DELETE FROM setting WHERE search = %lld", (long long)search);
    enum odb_status status = ODB_OK;
    status = odb_store__make_table(store, "setting", err);
    if (status == ODB_OK)
        status = odb_store__exec(store, forget, err);
    free(forget);
    ODB_TRY(status);
    ODB_TRY(odb_store__prepare(store, &stmt,
                               "INSERT INTO setting (search, name, value) VALUES (?, ?, ?)", err));
    for (size_t i = 0; i < settings->list.n && status == ODB_OK; i++) {
        sqlite3_bind_int64(stmt, 1, search);
        odb_store__bind_text(stmt, 2, settings->list.items[i].name);
        odb_store__bind_text(stmt, 3, settings->list.items[i].value);
        status = odb_store__step(store, stmt, err);
    }
    sqlite3_finalize(stmt);
    return status;
}

enum odb_status odb_store_put_settings(struct odb_store *store, bool search,
                                       const struct odb_store_settings *settings,
                                       struct odb_error *err)
{
    ODB_STORE_HOLD(store);
    ODB_TRY(odb_store__exec(store, "BEGIN IMMEDIATE", err));
    return odb_store__end(store, settings_put(store, search ? store->search : 0, settings, err),
                          err);
}

enum odb_status odb_store_read_settings(struct odb_store *store, struct odb_store_settings *out,
                                        struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    sqlite3_stmt *stmt;
    *out = (struct odb_store_settings){0};
    ODB_TRY(odb_store__prepare_if_there(
        store, &stmt,
        "SELECT name, value FROM setting WHERE search = " SETTINGS_SEARCH " ORDER BY position",
        err));
    while (stmt && odb_store__row(store, stmt, &status, err)) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        const char *value = (const char *)sqlite3_column_text(stmt, 1);
        if (name && value)
            odb_push(&out->list, (struct odb_store_setting){odb_xstrdup(name), odb_xstrdup(value)});
    }
    sqlite3_finalize(stmt);
    if (status != ODB_OK)
        odb_store_settings_dispose(out);
    return status;
}

void odb_store_settings_dispose(struct odb_store_settings *settings)
{
    for (size_t i = 0; i < settings->list.n; i++) {
        free(settings->list.items[i].name);
        free(settings->list.items[i].value);
    }
    free(settings->list.items);
    *settings = (struct odb_store_settings){0};
}
