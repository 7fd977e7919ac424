/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session may come from a stranger, and a database is a program as well: a view under the name of
 * a table runs when it is read, a trigger when something is written, and neither need ever end. So
 * every row of the schema has to be one that we make ourselves (store_schema.c), to the letter: a
 * program that can write the file can write anything into these rows, and what some version of
 * SQLite understands of it is unknown. Nor is a file ours whose pages are each part of several
 * others: seven of them can hold more rows than can be counted.
 *
 * And what lies beside the file is part of it: a journal that was left behind is played back by the
 * program that opens the file first, and may name another file, of a commit over several databases,
 * which SQLite deletes when that is done. We never write to several at once, so none of ours does.
 *
 * Whatever cannot be read to its end is refused as well: an error is no clean row.
 */
#include "session/store_int.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { GUARD_BYTES = 256 << 20, GUARD_SQL = 1 << 20 }; /* of one text; of one statement */
enum { GUARD_LINES = 100 };                            /* of what is damaged */

#define GUARD_WHO "do not open it, unless you know who made it"

/* Of what can be switched off, all that we have no use for. */
static void guard_settle(sqlite3 *db)
{
    static const struct {
        int what, on;
    } switches[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
    };
    for (size_t i = 0; i < ODB_COUNT(switches); i++)
        sqlite3_db_config(db, switches[i].what, switches[i].on, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, GUARD_BYTES);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, GUARD_SQL);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
}

/* Goes through the rows of a query until look() fails, or there is an error. */
static enum odb_status guard_each(sqlite3 *db, const char *path, const char *sql,
                                  enum odb_status (*look)(sqlite3_stmt *row, void *payload,
                                                          struct odb_error *err),
                                  void *payload, struct odb_error *err)
{
    sqlite3_stmt *stmt = NULL;
    enum odb_status status = ODB_OK;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return odb_store__fail_at(db, path, err);
    int step;
    while ((step = sqlite3_step(stmt)) == SQLITE_ROW && status == ODB_OK)
        status = look(stmt, payload, err);
    if (status == ODB_OK && step != SQLITE_DONE)
        status = odb_store__fail_at(db, path, err);
    sqlite3_finalize(stmt);
    return status;
}

/* --- files beside it -------------------------------------------------------------------------- */

/* Whether a journal ends as one that names another file does; SQLite looks there as well. */
static bool guard_names_another(const char *path)
{
    static const unsigned char ends[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char bytes[sizeof ends];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    bool names = size >= (off_t)sizeof bytes &&
                 pread(fd, bytes, sizeof bytes, size - (off_t)sizeof bytes) == sizeof bytes &&
                 !memcmp(bytes, ends, sizeof ends);
    if (fd >= 0)
        close(fd);
    return names;
}

/* Before anything is read, for the first read plays a journal back. SQLite opens a FIFO as it does
 * any file, and waits for ever. */
static enum odb_status guard_beside(sqlite3 *db, const char *path, struct odb_error *err)
{
    static const char *const endings[] = {"-journal", "-wal", "-shm"};
    const char *file = sqlite3_db_filename(db, "main"); /* where a link leads to */
    for (size_t i = 0; file && i < ODB_COUNT(endings); i++) {
        struct stat st;
        char *beside = odb_xasprintf("%s%s", file, endings[i]);
        const char *why = lstat(beside, &st) != 0 ? NULL
                          : !S_ISREG(st.st_mode)  ? "is no regular file"
                          : !i && guard_names_another(beside)
                              ? "names another file, which SQLite would delete"
                              : NULL;
        free(beside);
        if (!why)
            continue;
        odb_fail(err, ODB_E_FORMAT, "%s is no session of onnxdbg's: %s%s beside it %s", path, path,
                 endings[i], why);
        return odb_error_remedy(err, GUARD_WHO);
    }
    return ODB_OK;
}

/* --- pages ------------------------------------------------------------------------------------ */

struct guard_pages {
    size_t lines;
    bool shared;
};

static enum odb_status guard_page(sqlite3_stmt *row, void *payload, struct odb_error *err)
{
    struct guard_pages *pages = payload;
    const char *found = (const char *)sqlite3_column_text(row, 0);
    (void)err;
    if (found && (strstr(found, "2nd reference") || strstr(found, "out of order")))
        pages->shared = true;
    for (pages->lines++; found && *found; found++)
        pages->lines += *found == '\n';
    return ODB_OK;
}

/* Reads all pages once, and looks for one that stands in two places: in SQLite's words, for there
 * is no other way to ask. Whatever else is damaged may have left most of it readable. */
static enum odb_status guard_all_pages(sqlite3 *db, const char *path, struct odb_error *err)
{
    struct guard_pages pages = {0};
    char sql[40];
    snprintf(sql, sizeof sql, "PRAGMA quick_check(%d)", GUARD_LINES);
    ODB_TRY(guard_each(db, path, sql, guard_page, &pages, err));
    if (!pages.shared && pages.lines < GUARD_LINES)
        return ODB_OK;
    return odb_fail(err, ODB_E_FORMAT, "%s is no session, or is damaged: %s", path,
                    pages.shared ? "a page of it is part of two" : "hardly a page of it is whole");
}

/* --- the schema ------------------------------------------------------------------------------- */

struct guard_schema {
    const char *path; /* borrowed */
    int version;
};

static enum odb_status guard_version(sqlite3_stmt *row, void *payload, struct odb_error *err)
{
    (void)err;
    ((struct guard_schema *)payload)->version = sqlite3_column_int(row, 0);
    return ODB_OK;
}

static const char *guard_text(sqlite3_stmt *row, int at)
{
    /* a text with a NUL in it goes on behind what we see of it */
    const char *text = (const char *)sqlite3_column_text(row, at);
    return text && strlen(text) == (size_t)sqlite3_column_bytes(row, at) ? text : NULL;
}

/* Of a newer program's file the model is read, and nothing else. */
static enum odb_status guard_row(sqlite3_stmt *row, void *payload, struct odb_error *err)
{
    const struct guard_schema *schema = payload;
    const char *type = guard_text(row, 0), *name = guard_text(row, 1);
    const char *sql = guard_text(row, 3);
    bool torn = !sql && sqlite3_column_type(row, 3) != SQLITE_NULL;
    if (schema->version > ODB_STORE_SCHEMA && name && sqlite3_stricmp(name, "model"))
        return ODB_OK;
    if (!torn && odb_store__made_here(type, name, guard_text(row, 2), sql))
        return ODB_OK;
    if (schema->version < 1) {
        odb_fail(err, ODB_E_INPUT, "%s is no session, but another program's database",
                 schema->path);
        return odb_error_remedy(err, ODB_STORE_ANEW);
    }
    odb_fail(err, ODB_E_FORMAT, "%s is no session: there is a %s in it that onnxdbg does not make",
             schema->path, type ? type : "row");
    return odb_error_remedy(err, GUARD_WHO);
}

enum odb_status odb_store__guard(sqlite3 *db, const char *path, struct odb_error *err)
{
    struct guard_schema schema = {.path = path};
    guard_settle(db);
    ODB_TRY(guard_beside(db, path, err));
    ODB_TRY(guard_each(db, path, "PRAGMA user_version", guard_version, &schema, err));
    ODB_TRY(guard_each(db, path, "SELECT type, name, tbl_name, sql FROM main.sqlite_master",
                       guard_row, &schema, err));
    return schema.version > ODB_STORE_SCHEMA ? ODB_OK : guard_all_pages(db, path, err);
}
