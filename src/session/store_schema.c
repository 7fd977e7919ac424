/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every table that a session file may have, in the very words that SQLite keeps of it: these are
 * compared when a file is opened, letter by letter, so that nothing in it was made by a statement
 * that is not ours. A table that is added here makes files that older programs refuse.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/store_int.h"

#define SCHEMA_CREATE "CREATE TABLE "
#define SCHEMA_SEARCH                                                                              \
    "(id INTEGER PRIMARY KEY, command TEXT NOT NULL, version TEXT NOT NULL, reference TEXT,"       \
    " target TEXT, tolerance TEXT, expect TEXT, strategy TEXT, seed INTEGER, began TEXT NOT NULL"  \
    " DEFAULT (datetime('now')), ended TEXT, diverges INTEGER, report TEXT"

/* Which files have a table. */
enum schema_when {
    SCHEMA_ALWAYS, /* from the beginning */
    SCHEMA_MENDED, /* what schema 2 has more than 1: searches that can be gone on with */
    SCHEMA_NEEDED, /* came later, and is made where a file lacks it */
    SCHEMA_BEFORE, /* as files of schema 1 have it */
};

static const struct {
    const char *name, *columns;
    enum schema_when when;
} schema_tables[] = {
    {"model", "(sha256 TEXT NOT NULL, path TEXT NOT NULL, nodes INTEGER NOT NULL)", SCHEMA_ALWAYS},
    {"search", SCHEMA_SEARCH ", settings TEXT, pid INTEGER, boot TEXT)", SCHEMA_ALWAYS},
    {"search", SCHEMA_SEARCH ")", SCHEMA_BEFORE},
    {"journal",
     "(id INTEGER PRIMARY KEY, search INTEGER NOT NULL REFERENCES search, text TEXT NOT NULL,"
     " node INTEGER, began TEXT NOT NULL DEFAULT (datetime('now')), verdict TEXT, seconds REAL)",
     SCHEMA_ALWAYS},
    {"value",
     "(search INTEGER NOT NULL REFERENCES search, value INTEGER NOT NULL, name TEXT,"
     " verdict TEXT NOT NULL, error REAL, error_mean REAL, noise REAL, local_error REAL,"
     " inherited_error REAL, gain REAL, local_noise REAL, boundary INTEGER NOT NULL,"
     " culprit INTEGER NOT NULL, reason TEXT, PRIMARY KEY (search, value)) WITHOUT ROWID",
     SCHEMA_ALWAYS},
    {"culprit",
     "(search INTEGER NOT NULL REFERENCES search, rank INTEGER NOT NULL, node INTEGER NOT NULL,"
     " value INTEGER, kind TEXT NOT NULL, verified INTEGER NOT NULL,"
     " reaches_output INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, text TEXT,"
     " PRIMARY KEY (search, rank)) WITHOUT ROWID",
     SCHEMA_ALWAYS},
    {"answer",
     "(search INTEGER NOT NULL REFERENCES search, key TEXT NOT NULL, text TEXT NOT NULL,"
     " node INTEGER, began TEXT NOT NULL DEFAULT (datetime('now')), boot TEXT,"
     " lost INTEGER NOT NULL DEFAULT 0, status INTEGER, what TEXT, remedy TEXT, n INTEGER,"
     " outputs BLOB, PRIMARY KEY (search, key))",
     SCHEMA_MENDED},
    /* libraries of kernels that a search was made with */
    {"kernels", "(search INTEGER NOT NULL REFERENCES search, path TEXT NOT NULL)", SCHEMA_NEEDED},
    /* where culprits lead into bodies */
    {"culprit_path",
     "(search INTEGER NOT NULL REFERENCES search, rank INTEGER NOT NULL, path TEXT NOT NULL,"
     " PRIMARY KEY (search, rank)) WITHOUT ROWID",
     SCHEMA_NEEDED},
    {"bookmark", "(letter TEXT PRIMARY KEY, node INTEGER NOT NULL)", SCHEMA_NEEDED},
    /* stamp: programs of before told new rows from old ones by it */
    {"kept",
     "(kind TEXT NOT NULL, number INTEGER NOT NULL, place TEXT NOT NULL, text TEXT NOT NULL,"
     " disabled INTEGER NOT NULL, once INTEGER NOT NULL, ignore INTEGER NOT NULL,"
     " hits INTEGER NOT NULL, position INTEGER NOT NULL, stamp INTEGER NOT NULL,"
     " PRIMARY KEY (kind, number)) WITHOUT ROWID",
     SCHEMA_NEEDED},
    {"setting",
     "(position INTEGER PRIMARY KEY, search INTEGER NOT NULL, name TEXT NOT NULL,"
     " value TEXT NOT NULL)",
     SCHEMA_NEEDED},
    /* what targets were found to be able to do */
    {"learnt", "(target TEXT PRIMARY KEY, max_outputs INTEGER NOT NULL)", SCHEMA_NEEDED},
    {"learnt_cut", "(target TEXT PRIMARY KEY, cut INTEGER NOT NULL)", SCHEMA_NEEDED},
};

static enum odb_status schema_make(struct odb_store *store, size_t i, struct odb_error *err)
{
    char *sql = odb_xasprintf(SCHEMA_CREATE "IF NOT EXISTS %s %s", schema_tables[i].name,
                              schema_tables[i].columns);
    enum odb_status status = odb_store__exec(store, sql, err);
    free(sql);
    return status;
}

enum odb_status odb_store__make_table(struct odb_store *store, const char *name,
                                      struct odb_error *err)
{
    for (size_t i = 0; i < ODB_COUNT(schema_tables); i++)
        if (schema_tables[i].when != SCHEMA_BEFORE && !strcmp(schema_tables[i].name, name))
            return schema_make(store, i, err);
    return odb_fail(err, ODB_E_INTERNAL, "no table of a session is called %s", name);
}

enum odb_status odb_store__make_tables(struct odb_store *store, struct odb_error *err)
{
    for (size_t i = 0; i < ODB_COUNT(schema_tables); i++)
        if (schema_tables[i].when <= SCHEMA_MENDED)
            ODB_TRY(schema_make(store, i, err));
    return ODB_OK;
}

enum odb_status odb_store__mend_tables(struct odb_store *store, struct odb_error *err)
{
    /* SQLite writes the new columns behind the old ones: so it becomes the text above. */
    ODB_TRY(odb_store__exec(store,
                            "ALTER TABLE search ADD COLUMN settings TEXT;"
                            "ALTER TABLE search ADD COLUMN pid INTEGER;"
                            "ALTER TABLE search ADD COLUMN boot TEXT",
                            err));
    for (size_t i = 0; i < ODB_COUNT(schema_tables); i++)
        if (schema_tables[i].when == SCHEMA_MENDED)
            ODB_TRY(schema_make(store, i, err));
    return ODB_OK;
}

/* Whether SQLite's text of a table is what we make it with. */
static bool schema_is_table(const char *name, const char *sql)
{
    size_t create = sizeof SCHEMA_CREATE - 1, n = strlen(name);
    if (strncmp(sql, SCHEMA_CREATE, create) || strncmp(sql + create, name, n) ||
        sql[create + n] != ' ')
        return false;
    for (size_t i = 0; i < ODB_COUNT(schema_tables); i++)
        if (!strcmp(schema_tables[i].name, name) &&
            !strcmp(schema_tables[i].columns, sql + create + n + 1))
            return true;
    return false;
}

bool odb_store__made_here(const char *type, const char *name, const char *table, const char *sql)
{
    if (!type || !name || !table)
        return false;
    if (sql)
        return !strcmp(type, "table") && !strcmp(name, table) && schema_is_table(name, sql);
    /* What SQLite makes of a primary key, of which a table has one. */
    char *own = odb_xasprintf("sqlite_autoindex_%s_1", table);
    bool made = !strcmp(type, "index") && !strcmp(name, own);
    free(own);
    return made;
}
