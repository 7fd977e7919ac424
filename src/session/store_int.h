/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of the store share.
 *
 * Two threads use one connection: the engine's writes the journal, the screen's sets bookmarks and
 * marks meanwhile. SQLite keeps single calls apart; what belongs together (a transaction, an insert
 * and the number of its row, a failure and its message) holds the connection for all of it.
 */
#ifndef ODB_SESSION_STORE_INT_H
#define ODB_SESSION_STORE_INT_H

#include <sqlite3.h>

#include "session/store.h"

struct odb_store {
    sqlite3 *db;                   /* owned */
    const struct odb_model *model; /* borrowed */
    char sha256[65];
    char *path;             /* owned */
    sqlite3_int64 search;   /* row of the search begun last; 0: none */
    sqlite3_int64 probe;    /* row of the journal whose probe runs; 0: none */
    size_t room;            /* bytes of answers that the search may still keep */
    enum odb_status failed; /* first failure of odb_store_event() in this search */
    struct odb_error failure;
};

#define ODB_STORE_ANEW "begin a new session with another file name"

/* What SQLite says of its last failure, of a store or of a file that is about to be one. */
enum odb_status odb_store__fail_at(sqlite3 *db, const char *path,
                                   struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_store__fail(const struct odb_store *store, struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_store__exec(struct odb_store *store, const char *sql,
                                struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_store__prepare(struct odb_store *store, sqlite3_stmt **out, const char *sql,
                                   struct odb_error *err) ODB_MUST_USE;
/* Of a file that was just opened: nothing in it runs, and nothing is in it but what we make, to the
 * letter; else ODB_E_FORMAT. Of a file of a newer schema that is said of the table model alone, and
 * nothing else of it may be read. */
enum odb_status odb_store__guard(sqlite3 *db, const char *path, struct odb_error *err) ODB_MUST_USE;
/* Runs a statement that returns no rows, and resets it. */
enum odb_status odb_store__step(struct odb_store *store, sqlite3_stmt *stmt,
                                struct odb_error *err) ODB_MUST_USE;
void odb_store__bind_text(sqlite3_stmt *stmt, int at, const char *text); /* NULL: null */
/* The same, of a table that files of before lack: ODB_OK with *out NULL where it is not there. */
enum odb_status odb_store__prepare_if_there(struct odb_store *store, sqlite3_stmt **out,
                                            const char *sql, struct odb_error *err) ODB_MUST_USE;
/* Whether there is another row, which is read then. A file that cannot be read sets *status, so
 * that no caller takes half of the rows for all of them. */
bool odb_store__row(struct odb_store *store, sqlite3_stmt *stmt, enum odb_status *status,
                    struct odb_error *err);
/* Ends the transaction that was begun: COMMIT where status is ODB_OK, else ROLLBACK. Returns what
 * went wrong first. */
enum odb_status odb_store__end(struct odb_store *store, enum odb_status status,
                               struct odb_error *err) ODB_MUST_USE;
/* One text in the first column of the first row; *out is NULL where there is no row, or NULL in it,
 * else the caller's. */
enum odb_status odb_store__text(struct odb_store *store, const char *sql, char **out,
                                struct odb_error *err) ODB_MUST_USE;

/* What the report of a search says of itself. */
struct odb_store_told {
    enum odb_outcome outcome;
    bool complete;
};
/* Of a row with these columns of search, from number at on. The beginning of the report is read
 * alone: the whole may have a hundred megabytes. */
#define ODB_STORE_TOLD "search.id, search.diverges"
struct odb_store_told odb_store__told(sqlite3_stmt *row, int at);

/* --- store_schema.c --------------------------------------------------------------------------- */

/* What every session has, in an empty file; in one of schema 1; and a table that came later, where
 * it is not there yet. */
enum odb_status odb_store__make_tables(struct odb_store *store, struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_store__mend_tables(struct odb_store *store, struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_store__make_table(struct odb_store *store, const char *name,
                                      struct odb_error *err) ODB_MUST_USE;
/* Whether a row of sqlite_master is one that these make. Any text may be NULL. */
bool odb_store__made_here(const char *type, const char *name, const char *table, const char *sql);

/* To the end of the block no other thread uses the connection. May be nested; NULL is fine. */
#define ODB_STORE_HOLD(store)                                                                      \
    sqlite3_mutex *odb_held __attribute__((cleanup(odb_store__release))) = odb_store__hold(store)
sqlite3_mutex *odb_store__hold(const struct odb_store *store);
void odb_store__release(sqlite3_mutex **held);

#endif
