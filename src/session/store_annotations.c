/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Breakpoints, marks and the like in the session file.
 */
#include "session/store_int.h"

#include <string.h>

static enum odb_status store_put_rows(struct odb_store *store,
                                      const struct odb_annotation_list *list, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    ODB_TRY(odb_store__prepare(store, &stmt,
                               "INSERT INTO kept VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)", err));
    for (size_t i = 0; i < list->items.n && status == ODB_OK; i++) {
        const struct odb_annotation *annotation = &list->items.items[i];
        odb_store__bind_text(stmt, 1, odb_annotation_name(annotation->kind));
        sqlite3_bind_int(stmt, 2, annotation->number);
        odb_store__bind_text(stmt, 3, annotation->place);
        odb_store__bind_text(stmt, 4, annotation->text);
        sqlite3_bind_int(stmt, 5, annotation->disabled);
        sqlite3_bind_int(stmt, 6, annotation->once);
        sqlite3_bind_int64(stmt, 7, annotation->ignore);
        sqlite3_bind_int64(stmt, 8, annotation->hits);
        sqlite3_bind_int64(stmt, 9, (sqlite3_int64)i);
        status = odb_store__step(store, stmt, err);
    }
    sqlite3_finalize(stmt);
    return status;
}

enum odb_status odb_store_put_annotations(struct odb_store *store,
                                          const struct odb_annotation_list *list,
                                          struct odb_error *err)
{
    ODB_STORE_HOLD(store);
    ODB_TRY(odb_store__exec(store, "BEGIN IMMEDIATE", err));
    enum odb_status status = odb_store__make_table(store, "kept", err);
    if (status == ODB_OK)
        status = odb_store__exec(store, "DELETE FROM kept", err);
    if (status == ODB_OK)
        status = store_put_rows(store, list, err);
    return odb_store__end(store, status, err);
}

static bool store_annotation_kind(const char *name, enum odb_annotation_kind *out)
{
    for (int k = 0; k < ODB_ANNOTATION_COUNT; k++)
        if (name && !strcmp(name, odb_annotation_name((enum odb_annotation_kind)k))) {
            *out = (enum odb_annotation_kind)k;
            return true;
        }
    return false;
}

enum odb_status odb_store_read_annotations(struct odb_store *store, struct odb_annotation_list *out,
                                           struct odb_error *err)
{
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    *out = (struct odb_annotation_list){0};
    ODB_TRY(odb_store__prepare_if_there(
        store, &stmt,
        "SELECT kind, number, place, text, disabled, once, ignore, hits FROM kept"
        " ORDER BY position",
        err));
    while (stmt && odb_store__row(store, stmt, &status, err)) {
        struct odb_annotation annotation = {.number = sqlite3_column_int(stmt, 1),
                                            .place = (char *)sqlite3_column_text(stmt, 2),
                                            .text = (char *)sqlite3_column_text(stmt, 3),
                                            .disabled = sqlite3_column_int(stmt, 4),
                                            .once = sqlite3_column_int(stmt, 5),
                                            .ignore = sqlite3_column_int64(stmt, 6),
                                            .hits = sqlite3_column_int64(stmt, 7)};
        if (!store_annotation_kind((const char *)sqlite3_column_text(stmt, 0), &annotation.kind))
            continue; /* of a newer program */
        status = odb_annotation_add(out, &annotation, store->model->graph, NULL, err);
        if (status != ODB_OK)
            odb_error_at(err, "session %s, %s %d", store->path,
                         odb_annotation_name(annotation.kind), annotation.number);
    }
    sqlite3_finalize(stmt);
    if (status != ODB_OK)
        odb_annotation_list_dispose(out);
    return status;
}
