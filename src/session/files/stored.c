/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session that no process has open has no log of SQLite's beside it, and is read as a file that
 * does not change: so nothing is made beside it, not even for a moment. Where there is a log, a
 * process works in the session, or was killed there, and SQLite finds out what counts. That the
 * file did not change on the way is looked at behind it.
 */
#include "session/files/stored.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "system/file.h"
#include "base/mem.h"
#include "session/store_int.h"

#define STORED_MAGIC "SQLite format 3"
#define STORED_TRIES 3 /* readings of a file that changes meanwhile */

/* Whether the file is SQLite's: nothing else is opened as a database. */
static bool stored_is_database(const char *path)
{
    char head[sizeof STORED_MAGIC] = "";
    FILE *file = odb_file_is_regular(path) ? fopen(path, "rbe") : NULL;
    bool is =
        file && fread(head, sizeof head, 1, file) == 1 && !memcmp(head, STORED_MAGIC, sizeof head);
    if (file)
        fclose(file);
    return is;
}

/* One reading of a file. */
struct stored_file {
    const char *path; /* borrowed */
    sqlite3 *db;      /* NULL: not open */
    struct stat was;
    bool still; /* it was read as one that does not change */
};

static bool stored_has_log(const char *path)
{
    char *log = odb_xasprintf("%s-wal", path);
    bool has = access(log, F_OK) == 0;
    free(log);
    return has;
}

static enum odb_status stored_open(struct stored_file *file, const char *path,
                                   struct odb_error *err)
{
    *file = (struct stored_file){.path = path};
    if (stat(path, &file->was))
        return odb_fail(err, ODB_E_IO, "%s: %s", path, strerror(errno));
    file->still = !stored_has_log(path);
    char *uri = file->still ? odb_file_uri(path, "immutable=1") : NULL;
    int code = sqlite3_open_v2(uri ? uri : path, &file->db,
                               SQLITE_OPEN_READONLY | (uri ? SQLITE_OPEN_URI : 0), NULL);
    free(uri);
    if (code == SQLITE_OK)
        return odb_store__guard(file->db, path, err);
    return odb_fail(err, ODB_E_IO, "%s: %s", path, sqlite3_errmsg(file->db));
}

/* False: it was changed while it was read, which may have given anything. */
static bool stored_close(struct stored_file *file)
{
    struct stat now;
    sqlite3_close(file->db);
    file->db = NULL;
    return !file->still || (!stored_has_log(file->path) && stat(file->path, &now) == 0 &&
                            now.st_size == file->was.st_size && now.st_ino == file->was.st_ino &&
                            now.st_mtim.tv_sec == file->was.st_mtim.tv_sec &&
                            now.st_mtim.tv_nsec == file->was.st_mtim.tv_nsec);
}

static char *stored_column(sqlite3_stmt *row, int at)
{
    const char *text = (const char *)sqlite3_column_text(row, at);
    return text ? odb_xstrdup(text) : NULL;
}

/* The first row of a query; NULL: there is none, or it cannot be asked. To be finalised. */
static sqlite3_stmt *stored_row(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
        return row;
    sqlite3_finalize(row);
    return NULL;
}

static void stored_read_search(struct odb_stored *out, sqlite3 *db)
{
    sqlite3_stmt *row =
        stored_row(db, "SELECT command, target, reference, tolerance, began, ended,"
                       " (SELECT count(*) FROM search),"
                       " (SELECT count(*) FROM culprit WHERE culprit.search = search.id),"
                       " (SELECT node FROM culprit WHERE culprit.search = search.id ORDER BY rank),"
                       " (SELECT kind FROM culprit WHERE culprit.search = search.id ORDER BY rank),"
                       " " ODB_STORE_TOLD ", report IS NOT NULL,"
                       " CAST(strftime('%s', coalesce(ended, began)) AS INTEGER) FROM search ORDER "
                       "BY id DESC LIMIT 1");
    out->first = -1;
    if (!row)
        return;
    out->command = stored_column(row, 0);
    out->target = stored_column(row, 1);
    out->reference = stored_column(row, 2);
    out->tolerance = stored_column(row, 3);
    out->began = stored_column(row, 4);
    out->ended = stored_column(row, 5);
    out->searches = (size_t)sqlite3_column_int64(row, 6);
    out->culprits = (size_t)sqlite3_column_int64(row, 7);
    if (out->culprits)
        out->first = sqlite3_column_int(row, 8);
    out->kind = stored_column(row, 9);
    out->when = sqlite3_column_int64(row, 13);
    if (sqlite3_column_int(row, 12)) /* else not known yet */
        out->outcome = odb_store__told(row, 10).outcome;
    sqlite3_finalize(row);
}

static enum odb_status stored_require(const char *path, struct odb_error *err)
{
    if (stored_is_database(path))
        return ODB_OK;
    if (access(path, R_OK) != 0)
        return odb_fail(err, ODB_E_IO, "%s: %s", path, strerror(errno));
    return odb_fail(err, ODB_E_FORMAT, "%s is no session", path);
}

static enum odb_status stored_read_all(struct odb_stored *out, sqlite3 *db, struct odb_error *err)
{
    sqlite3_stmt *row = stored_row(db, "PRAGMA user_version");
    out->schema = row ? sqlite3_column_int(row, 0) : 0;
    sqlite3_finalize(row);
    row = stored_row(db, "SELECT path, sha256, nodes FROM model");
    if (!row)
        return odb_fail(err, ODB_E_FORMAT, "%s is no session, or is damaged: it names no model",
                        out->path);
    out->model = stored_column(row, 0);
    out->sha256 = stored_column(row, 1);
    out->nodes = (size_t)sqlite3_column_int64(row, 2);
    if (out->schema <= ODB_STORE_SCHEMA)
        stored_read_search(out, db);
    sqlite3_finalize(row);
    return ODB_OK;
}

enum odb_status odb_stored_read(struct odb_stored *out, const char *path, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    struct odb_error why = ODB_ERROR_INIT;
    bool settled = false;
    *out = (struct odb_stored){.path = odb_xstrdup(path), .first = -1};
    ODB_TRY(stored_require(path, err));
    for (int i = 0; i < STORED_TRIES && !settled; i++) {
        struct stored_file file;
        odb_stored_dispose(out);
        out->path = odb_xstrdup(path);
        why = (struct odb_error)ODB_ERROR_INIT;
        status = stored_open(&file, path, &why);
        if (status == ODB_OK)
            status = stored_read_all(out, file.db, &why);
        settled = stored_close(&file);
    }
    if (status != ODB_OK && err)
        *err = why;
    return status;
}

enum odb_status odb_stored_report(char **out, const char *path, struct odb_error *err)
{
    bool settled = false;
    enum odb_status status = ODB_OK;
    *out = NULL;
    ODB_TRY(stored_require(path, err));
    for (int i = 0; i < STORED_TRIES && !settled; i++) {
        struct stored_file file;
        free(*out);
        *out = NULL;
        status = stored_open(&file, path, err);
        if (status == ODB_OK) {
            sqlite3_stmt *row =
                stored_row(file.db, "SELECT report FROM search WHERE report IS NOT NULL"
                                    " ORDER BY id DESC LIMIT 1");
            *out = row ? stored_column(row, 0) : NULL;
            sqlite3_finalize(row);
        }
        settled = stored_close(&file);
    }
    if (*out || status != ODB_OK)
        return status;
    odb_fail(err, ODB_E_FORMAT, "no search in %s has ended", path);
    return odb_error_remedy(err, "onnxdbg bisect MODEL --session FILE searches");
}

void odb_stored_dispose(struct odb_stored *stored)
{
    char *const owned[] = {stored->path,   stored->model,     stored->sha256,    stored->command,
                           stored->target, stored->reference, stored->tolerance, stored->began,
                           stored->ended,  stored->kind};
    for (size_t i = 0; i < ODB_COUNT(owned); i++)
        free(owned[i]);
    *stored = (struct odb_stored){.first = -1};
}

bool odb_stored_is(const char *path)
{
    struct odb_stored stored;
    bool is = stored_is_database(path) && odb_stored_read(&stored, path, NULL) == ODB_OK;
    if (stored_is_database(path))
        odb_stored_dispose(&stored);
    return is;
}

enum odb_status odb_stored_list(char ***out, size_t *n, const char *folder, struct odb_error *err)
{
    ODB_VEC(char *) found = {0};
    struct dirent **names = NULL;
    struct stat st;
    *out = NULL;
    *n = 0;
    if (stat(folder, &st))
        return odb_fail(err, ODB_E_INPUT, "%s: %s", folder, strerror(errno));
    int count = S_ISDIR(st.st_mode) ? scandir(folder, &names, NULL, alphasort) : 0;
    if (count < 0)
        return odb_fail(err, ODB_E_IO, "%s: %s", folder, strerror(errno));
    if (!S_ISDIR(st.st_mode)) { /* it was named, so that it has to be said why it is none */
        struct odb_stored stored;
        enum odb_status status = odb_stored_read(&stored, folder, err);
        odb_stored_dispose(&stored);
        ODB_TRY(status);
        odb_push(&found, odb_xstrdup(folder));
    }
    for (int i = 0; i < count; i++) {
        bool here = !strcmp(folder, ".");
        char *path =
            here ? odb_xstrdup(names[i]->d_name) : odb_xasprintf("%s/%s", folder, names[i]->d_name);
        if (odb_stored_is(path))
            odb_push(&found, odb_xstrdup(path));
        free(path);
        free(names[i]);
    }
    free(names);
    *out = found.items;
    *n = found.n;
    return ODB_OK;
}

void odb_stored_list_free(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

enum odb_status odb_stored_delete(const char *path, struct odb_error *err)
{
    static const char *const beside[] = {"-wal", "-shm", "-journal"};
    if (!odb_stored_is(path)) {
        odb_fail(err, ODB_E_INPUT, "%s is no session", path);
        return odb_error_remedy(err, "nothing else is deleted here");
    }
    if (unlink(path))
        return odb_fail(err, ODB_E_IO, "%s: %s", path, strerror(errno));
    for (size_t i = 0; i < ODB_COUNT(beside); i++) {
        char *other = odb_xasprintf("%s%s", path, beside[i]);
        unlink(other); /* mostly it is not there */
        free(other);
    }
    return ODB_OK;
}
