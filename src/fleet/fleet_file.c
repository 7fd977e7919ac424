/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tables are compared with the very words that made them when a file is opened, so that nothing
 * in it runs that is not ours.
 */
#include "fleet/fleet_file.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "system/file.h"

#define FLEET_WAIT 5000 /* milliseconds for another process that writes */

struct odb_fleet_file {
    sqlite3 *db; /* owned */
    char *path;  /* owned */
};

static const char *const fleet_tables[][2] = {
    {"fleet",
     "CREATE TABLE fleet (target TEXT NOT NULL, options TEXT NOT NULL, root TEXT NOT NULL)"},
    {"member", "CREATE TABLE member (name TEXT PRIMARY KEY, path TEXT NOT NULL, bytes INTEGER, "
               "changed INTEGER,"
               " stage INTEGER NOT NULL, verdict TEXT NOT NULL, seconds REAL, compiles INTEGER,"
               " said TEXT, report TEXT) WITHOUT ROWID"},
    {"repro", "CREATE TABLE repro (cause TEXT PRIMARY KEY, folder TEXT, said TEXT) WITHOUT ROWID"},
};

static enum odb_status file_fail(const struct odb_fleet_file *file, struct odb_error *err)
{
    odb_fail(err, ODB_E_IO, "%s", sqlite3_errmsg(file->db));
    return odb_error_at(err, "%s", file->path);
}

static enum odb_status file_not_one(const struct odb_fleet_file *file, struct odb_error *err)
{
    odb_fail(err, ODB_E_FORMAT, "it is no file of a fleet");
    return odb_error_at(err, "%s", file->path);
}

static enum odb_status file_exec(const struct odb_fleet_file *file, const char *sql,
                                 struct odb_error *err)
{
    return sqlite3_exec(file->db, sql, NULL, NULL, NULL) == SQLITE_OK ? ODB_OK
                                                                      : file_fail(file, err);
}

#define FLEET_UNREAD (-2)

/* How many of our tables there are; -1: there is something else as well; FLEET_UNREAD: another
 * process has it, or it cannot be read. */
static int file_tables(sqlite3 *db)
{
    sqlite3_stmt *stmt;
    int found = 0, step;
    if (sqlite3_prepare_v2(db, "SELECT name, sql FROM sqlite_master", -1, &stmt, NULL) != SQLITE_OK)
        return FLEET_UNREAD;
    while ((step = sqlite3_step(stmt)) == SQLITE_ROW && found >= 0) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        const char *sql = (const char *)sqlite3_column_text(stmt, 1);
        bool ours = false;
        for (size_t i = 0; i < ODB_COUNT(fleet_tables); i++)
            ours |= name && sql && !strcmp(name, fleet_tables[i][0]) &&
                    !strcmp(sql, fleet_tables[i][1]);
        found = ours ? found + 1 : -1;
    }
    sqlite3_finalize(stmt);
    return found >= 0 && step != SQLITE_DONE ? FLEET_UNREAD : found;
}

static bool file_connect(sqlite3 **db, const char *path, int flags)
{
    if (sqlite3_open_v2(path, db, flags | SQLITE_OPEN_NOFOLLOW, NULL) != SQLITE_OK)
        return false;
    sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_busy_timeout(*db, FLEET_WAIT);
    return true;
}

/* A file without a log is read as one that does not change, so that SQLite leaves nothing beside a
 * stranger's. */
bool odb_fleet_file_is(const char *path)
{
    sqlite3 *db = NULL;
    char *whole = realpath(path, NULL);
    char *log = whole ? odb_xasprintf("%s-wal", whole) : NULL;
    char *uri = whole && access(log, F_OK) ? odb_file_uri(whole, "immutable=1") : NULL;
    bool is =
        whole &&
        file_connect(&db, uri ? uri : whole, SQLITE_OPEN_READONLY | (uri ? SQLITE_OPEN_URI : 0)) &&
        file_tables(db) == (int)ODB_COUNT(fleet_tables);
    sqlite3_close(db);
    free(uri);
    free(log);
    free(whole);
    return is;
}

/* --- reading ---------------------------------------------------------------------------------- */

static char *file_text(sqlite3_stmt *stmt, int column)
{
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    return text ? odb_xstrdup(text) : NULL;
}

static void file_read_model(struct odb_fleet *fleet, sqlite3_stmt *stmt)
{
    const char *report = (const char *)sqlite3_column_text(stmt, 9);
    const char *word = (const char *)sqlite3_column_text(stmt, 5);
    int stage = sqlite3_column_int(stmt, 4);
    struct odb_fleet_model model = {.name = file_text(stmt, 0),
                                    .path = file_text(stmt, 1),
                                    .bytes = sqlite3_column_int64(stmt, 2),
                                    .changed = sqlite3_column_int64(stmt, 3),
                                    .stage = stage < 0 || stage > ODB_FLEET_SEARCHED
                                                 ? ODB_FLEET_NEW
                                                 : (enum odb_fleet_stage)stage,
                                    .verdict = ODB_FLEET_QUEUED,
                                    .seconds = sqlite3_column_double(stmt, 6),
                                    .compiles = sqlite3_column_int64(stmt, 7),
                                    .said = file_text(stmt, 8),
                                    .report = report ? json_loads(report, 0, NULL) : NULL};
    for (int v = 0; v < ODB_FLEET_COUNT; v++)
        if (word && !strcmp(word, odb_fleet_word((enum odb_fleet_verdict)v)))
            model.verdict = (enum odb_fleet_verdict)v;
    if (report && !model.report) { /* it is asked again */
        model.stage = ODB_FLEET_NEW;
        model.verdict = ODB_FLEET_QUEUED;
    }
    odb_push(&fleet->models, model);
}

static void file_read_repro(struct odb_fleet *fleet, sqlite3_stmt *stmt)
{
    struct odb_fleet_repro repro = {file_text(stmt, 0), file_text(stmt, 1), file_text(stmt, 2)};
    odb_push(&fleet->repros, repro);
}

static void file_read_fleet(struct odb_fleet *fleet, sqlite3_stmt *stmt)
{
    free(fleet->target);
    free(fleet->options);
    free(fleet->root);
    fleet->target = file_text(stmt, 0);
    fleet->options = file_text(stmt, 1);
    fleet->root = file_text(stmt, 2);
}

static enum odb_status file_read(const struct odb_fleet_file *file, struct odb_fleet *fleet,
                                 struct odb_error *err)
{
    static const struct {
        const char *sql;
        void (*read)(struct odb_fleet *fleet, sqlite3_stmt *stmt);
    } parts[] = {
        {"SELECT target, options, root FROM fleet", file_read_fleet},
        {"SELECT name, path, bytes, changed, stage, verdict, seconds, compiles, said, report FROM"
         " member ORDER BY name",
         file_read_model},
        {"SELECT cause, folder, said FROM repro ORDER BY cause", file_read_repro}};
    for (size_t i = 0; i < ODB_COUNT(parts); i++) {
        sqlite3_stmt *stmt;
        int step;
        if (sqlite3_prepare_v2(file->db, parts[i].sql, -1, &stmt, NULL) != SQLITE_OK)
            return file_fail(file, err);
        while ((step = sqlite3_step(stmt)) == SQLITE_ROW)
            parts[i].read(fleet, stmt);
        sqlite3_finalize(stmt);
        if (step != SQLITE_DONE)
            return file_fail(file, err);
    }
    odb_fleet_see(fleet);
    return ODB_OK;
}

/* Ends what was begun: all of it, or nothing. */
static enum odb_status file_end(const struct odb_fleet_file *file, enum odb_status status,
                                struct odb_error *err)
{
    struct odb_error ignored = ODB_ERROR_INIT;
    bool all = status == ODB_OK;
    enum odb_status ended = file_exec(file, all ? "COMMIT" : "ROLLBACK", all ? err : &ignored);
    return all ? ended : status;
}

static enum odb_status file_make(const struct odb_fleet_file *file, struct odb_error *err)
{
    ODB_TRY(file_exec(file, "BEGIN IMMEDIATE", err));
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < ODB_COUNT(fleet_tables) && status == ODB_OK; i++)
        status = file_exec(file, fleet_tables[i][1], err);
    return file_end(file, status, err);
}

enum odb_status odb_fleet_file_open(struct odb_fleet_file **out, const char *path, bool create,
                                    struct odb_fleet *fleet, struct odb_error *err)
{
    struct odb_fleet_file *file = odb_new(struct odb_fleet_file);
    int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    char *whole = realpath(path, NULL);
    file->path = odb_xstrdup(path);
    enum odb_status status =
        file_connect(&file->db, whole ? whole : path, flags) ? ODB_OK : file_fail(file, err);
    int tables = status == ODB_OK ? file_tables(file->db) : 0;
    if (status == ODB_OK && tables == FLEET_UNREAD && sqlite3_errcode(file->db) != SQLITE_NOTADB)
        status = file_fail(file, err);
    else if (status == ODB_OK && tables == 0 && create)
        status = file_make(file, err);
    else if (status == ODB_OK && tables != (int)ODB_COUNT(fleet_tables))
        status = file_not_one(file, err);
    if (status == ODB_OK)
        status = file_read(file, fleet, err);
    free(whole);
    if (status != ODB_OK) {
        odb_fleet_file_close(file);
        return status;
    }
    *out = file;
    return ODB_OK;
}

void odb_fleet_file_close(struct odb_fleet_file *file)
{
    if (!file)
        return;
    sqlite3_close(file->db);
    free(file->path);
    free(file);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void file_bind(sqlite3_stmt *stmt, int at, const char *text)
{
    sqlite3_bind_text(stmt, at, text, -1, SQLITE_TRANSIENT); /* NULL: null */
}

static enum odb_status file_step(const struct odb_fleet_file *file, sqlite3_stmt *stmt,
                                 struct odb_error *err)
{
    bool done = sqlite3_step(stmt) == SQLITE_DONE;
    enum odb_status status = done ? ODB_OK : file_fail(file, err);
    sqlite3_finalize(stmt);
    return status;
}

enum odb_status odb_fleet_file_put_model(struct odb_fleet_file *file,
                                         const struct odb_fleet_model *model, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    char *report = model->report ? json_dumps(model->report, JSON_COMPACT) : NULL;
    if (sqlite3_prepare_v2(
            file->db,
            "INSERT OR REPLACE INTO member (name, path, bytes, changed, stage, verdict,"
            " seconds, compiles, said, report) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            -1, &stmt, NULL) != SQLITE_OK) {
        free(report);
        return file_fail(file, err);
    }
    file_bind(stmt, 1, model->name);
    file_bind(stmt, 2, model->path);
    sqlite3_bind_int64(stmt, 3, model->bytes);
    sqlite3_bind_int64(stmt, 4, model->changed);
    sqlite3_bind_int(stmt, 5, (int)model->stage);
    file_bind(stmt, 6, odb_fleet_word(model->verdict));
    sqlite3_bind_double(stmt, 7, model->seconds);
    sqlite3_bind_int64(stmt, 8, model->compiles);
    file_bind(stmt, 9, model->said);
    file_bind(stmt, 10, report);
    free(report);
    return file_step(file, stmt, err);
}

enum odb_status odb_fleet_file_put_repro(struct odb_fleet_file *file,
                                         const struct odb_fleet_repro *repro, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(file->db,
                           "INSERT OR REPLACE INTO repro (cause, folder, said) VALUES (?, ?, ?)",
                           -1, &stmt, NULL) != SQLITE_OK)
        return file_fail(file, err);
    file_bind(stmt, 1, repro->cause);
    file_bind(stmt, 2, repro->folder);
    file_bind(stmt, 3, repro->said);
    return file_step(file, stmt, err);
}

static enum odb_status file_put_all(struct odb_fleet_file *file, const struct odb_fleet *fleet,
                                    struct odb_error *err)
{
    sqlite3_stmt *stmt;
    ODB_TRY(file_exec(file, "DELETE FROM fleet", err));
    ODB_TRY(file_exec(file, "DELETE FROM member", err));
    if (sqlite3_prepare_v2(file->db, "INSERT INTO fleet (target, options, root) VALUES (?, ?, ?)",
                           -1, &stmt, NULL) != SQLITE_OK)
        return file_fail(file, err);
    file_bind(stmt, 1, fleet->target);
    file_bind(stmt, 2, fleet->options);
    file_bind(stmt, 3, fleet->root);
    ODB_TRY(file_step(file, stmt, err));
    for (size_t i = 0; i < fleet->models.n; i++)
        ODB_TRY(odb_fleet_file_put_model(file, &fleet->models.items[i], err));
    return ODB_OK;
}

enum odb_status odb_fleet_file_put(struct odb_fleet_file *file, const struct odb_fleet *fleet,
                                   struct odb_error *err)
{
    ODB_TRY(file_exec(file, "BEGIN IMMEDIATE", err));
    return file_end(file, file_put_all(file, fleet, err), err);
}
