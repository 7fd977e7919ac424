/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The session file. A row of the journal is committed, and on the disk, before its probe begins;
 * what is missing from its end tells, after a crash of anything, what was being tried. (With
 * several workers it is what was waited for: the others may have been at the probes after it.)
 */
#include "session/store_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "system/file.h"
#include "base/mem.h"
#include "executor/cpu_executor.h"
#include "model/read/load.h"

#define STORE_READ_ONLY                                                                            \
    "it and its folder are written to: open a copy, or `onnxdbg report` what it holds"
#define STORE_LEAST 512           /* bytes: SQLite's smallest page */
#define STORE_PATIENCE_MS 5000    /* for other writers */
#define STORE_BOUND_PAGES "32768" /* of 4 KiB: of a file that was not asked for */
#define STORE_BOUND_ANSWERS ((size_t)64 << 20)

/* --- SQLite ---------------------------------------------------------------------------------- */

sqlite3_mutex *odb_store__hold(const struct odb_store *store)
{
    sqlite3_mutex *held = store ? sqlite3_db_mutex(store->db) : NULL;
    sqlite3_mutex_enter(held); /* NULL: does nothing */
    return held;
}

void odb_store__release(sqlite3_mutex **held)
{
    sqlite3_mutex_leave(*held);
}

enum odb_status odb_store__fail_at(sqlite3 *db, const char *path, struct odb_error *err)
{
    int code = sqlite3_errcode(db);
    enum odb_status status =
        code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? ODB_E_FORMAT : ODB_E_IO;
    int why = code == SQLITE_CANTOPEN || code == SQLITE_IOERR ? sqlite3_system_errno(db) : 0;
    odb_fail(err, status, "%s%s%s", sqlite3_errmsg(db), why ? ": " : "", why ? strerror(why) : "");
    odb_error_at(err, "session %s", path);
    if (code == SQLITE_READONLY)
        odb_error_remedy(err, STORE_READ_ONLY);
    else if (code == SQLITE_BUSY)
        odb_error_remedy(err, "another program has it; try again, or name another file");
    else if (status == ODB_E_FORMAT)
        odb_error_remedy(err, ODB_STORE_ANEW);
    return status;
}

enum odb_status odb_store__fail(const struct odb_store *store, struct odb_error *err)
{
    return odb_store__fail_at(store->db, store->path, err);
}

enum odb_status odb_store__exec(struct odb_store *store, const char *sql, struct odb_error *err)
{
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return odb_store__fail(store, err);
    return ODB_OK;
}

enum odb_status odb_store__prepare(struct odb_store *store, sqlite3_stmt **out, const char *sql,
                                   struct odb_error *err)
{
    if (sqlite3_prepare_v2(store->db, sql, -1, out, NULL) != SQLITE_OK)
        return odb_store__fail(store, err);
    return ODB_OK;
}

bool odb_store__row(struct odb_store *store, sqlite3_stmt *stmt, enum odb_status *status,
                    struct odb_error *err)
{
    if (*status != ODB_OK)
        return false;
    int step = sqlite3_step(stmt);
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        *status = odb_store__fail(store, err);
    return step == SQLITE_ROW;
}

enum odb_status odb_store__prepare_if_there(struct odb_store *store, sqlite3_stmt **out,
                                            const char *sql, struct odb_error *err)
{
    if (sqlite3_prepare_v2(store->db, sql, -1, out, NULL) == SQLITE_OK)
        return ODB_OK;
    *out = NULL;
    return sqlite3_errcode(store->db) == SQLITE_ERROR ? ODB_OK : odb_store__fail(store, err);
}

enum odb_status odb_store__end(struct odb_store *store, enum odb_status status,
                               struct odb_error *err)
{
    if (status == ODB_OK)
        status = odb_store__exec(store, "COMMIT", err);
    if (status != ODB_OK)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* Runs a statement that returns no rows, and resets it. */
enum odb_status odb_store__step(struct odb_store *store, sqlite3_stmt *stmt, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    if (sqlite3_step(stmt) != SQLITE_DONE)
        status = odb_store__fail(store, err);
    sqlite3_reset(stmt);
    return status;
}

void odb_store__bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(stmt, at, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(stmt, at);
}

/* SQLite stores NaN as NULL, so it goes as text. */
static void store_bind_number(sqlite3_stmt *stmt, int at, struct odb_number number)
{
    if (!number.known)
        sqlite3_bind_null(stmt, at);
    else if (number.v != number.v)
        sqlite3_bind_text(stmt, at, "nan", -1, SQLITE_STATIC);
    else
        sqlite3_bind_double(stmt, at, number.v);
}

static struct odb_number store_number(sqlite3_stmt *stmt, int at)
{
    int type = sqlite3_column_type(stmt, at);
    if (type == SQLITE_NULL)
        return (struct odb_number){false, 0};
    if (type == SQLITE_TEXT)
        return ODB_NUMBER(__builtin_nan(""));
    return ODB_NUMBER(sqlite3_column_double(stmt, at));
}

enum odb_status odb_store__text(struct odb_store *store, const char *sql, char **out,
                                struct odb_error *err)
{
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    *out = NULL;
    ODB_TRY(odb_store__prepare(store, &stmt, sql, err));
    if (odb_store__row(store, stmt, &status, err) && sqlite3_column_text(stmt, 0))
        *out = odb_xstrdup((const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    return status;
}

/* --- opening --------------------------------------------------------------------------------- */

static enum odb_status store_set_schema(struct odb_store *store, struct odb_error *err)
{
    char version[64];
    snprintf(version, sizeof version, "PRAGMA user_version = %d", ODB_STORE_SCHEMA);
    return odb_store__exec(store, version, err);
}

/* The number that a statement gives. */
static enum odb_status store_ask(struct odb_store *store, const char *sql, int64_t *out,
                                 struct odb_error *err)
{
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    ODB_TRY(odb_store__prepare(store, &stmt, sql, err));
    *out = odb_store__row(store, stmt, &status, err) ? sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_finalize(stmt);
    return status;
}

/* What a file is by now: another program may be at it. tables: 0 where it is empty. */
static enum odb_status store_look(struct odb_store *store, int64_t *tables, int64_t *schema,
                                  struct odb_error *err)
{
    ODB_TRY(store_ask(store, "SELECT count(*) FROM sqlite_master", tables, err));
    return store_ask(store, "PRAGMA user_version", schema, err);
}

static enum odb_status store_fill(struct odb_store *store, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    ODB_TRY(odb_store__make_tables(store, err));
    ODB_TRY(odb_store__prepare(store, &stmt, "INSERT INTO model VALUES (?, ?, ?)", err));
    char *whole = store->model->path ? realpath(store->model->path, NULL) : NULL;
    odb_store__bind_text(stmt, 1, store->sha256);
    odb_store__bind_text(stmt, 2, whole ? whole : store->model->path); /* from any folder */
    free(whole);
    sqlite3_bind_int64(stmt, 3, (sqlite3_int64)store->model->graph->n_nodes);
    enum odb_status status = odb_store__step(store, stmt, err);
    sqlite3_finalize(stmt);
    return status == ODB_OK ? store_set_schema(store, err) : status;
}

/* An empty file becomes a session, and one of schema 1 one of today's, unless another program has
 * seen to that meanwhile. */
static enum odb_status store_make(struct odb_store *store, struct odb_error *err)
{
    int64_t tables, schema;
    ODB_TRY(odb_store__exec(store, "BEGIN IMMEDIATE", err));
    enum odb_status status = store_look(store, &tables, &schema, err);
    if (status == ODB_OK && !tables)
        status = store_fill(store, err);
    else if (status == ODB_OK && schema == 1)
        status = odb_store__mend_tables(store, err);
    if (status == ODB_OK && tables && schema == 1)
        status = store_set_schema(store, err);
    return odb_store__end(store, status, err);
}

/* Reads, and changes nothing. */
static enum odb_status store_check(struct odb_store *store, int64_t schema, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    if (schema < 1) {
        odb_fail(err, ODB_E_INPUT, "%s is no session, but another program's database", store->path);
        return odb_error_remedy(err, ODB_STORE_ANEW);
    }
    if (schema > ODB_STORE_SCHEMA) {
        odb_fail(err, ODB_E_INPUT, "the file has schema %lld, this program knows %d",
                 (long long)schema, ODB_STORE_SCHEMA);
        odb_error_remedy(err, ODB_STORE_ANEW);
        odb_error_at(err, "session %s", store->path);
        return ODB_E_INPUT;
    }
    char *sha256, *path = NULL;
    ODB_TRY(odb_store__text(store, "SELECT sha256 FROM model", &sha256, err));
    status = odb_store__text(store, "SELECT path FROM model", &path, err);
    if (status == ODB_OK && (!sha256 || strcmp(sha256, store->sha256))) {
        status = odb_fail(err, ODB_E_INPUT, "the session is of another model: %s, SHA-256 %.16s…",
                          path ? path : "?", sha256 ? sha256 : "?");
        odb_error_remedy(err, "the model has changed, or is another one; begin a new session with "
                              "another file name");
        odb_error_at(err, "session %s", store->path);
    }
    free(sha256);
    free(path);
    return status;
}

/* Of several that turn a new file into WAL mode at once SQLite refuses some without waiting: its
 * timeout does not hold there. */
static enum odb_status store_use_wal(struct odb_store *store, struct odb_error *err)
{
    static const char sql[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL";
    double end = odb_clock() + STORE_PATIENCE_MS * 1e-3;
    while (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        if (sqlite3_errcode(store->db) != SQLITE_BUSY || odb_clock() > end)
            return odb_store__fail(store, err);
        sqlite3_sleep(10);
    }
    return ODB_OK;
}

static enum odb_status store_begin_use(struct odb_store *store, struct odb_error *err)
{
    int64_t tables, schema;
    struct stat st;
    sqlite3_busy_timeout(store->db, STORE_PATIENCE_MS);
    if (sqlite3_db_readonly(store->db, "main") == 1) {
        odb_fail(err, ODB_E_IO, "it cannot be written");
        odb_error_at(err, "session %s", store->path);
        return odb_error_remedy(err, STORE_READ_ONLY);
    }
    ODB_TRY(odb_store__guard(store->db, store->path, err));
    ODB_TRY(store_look(store, &tables, &schema, err));
    if (!tables && stat(store->path, &st) == 0 && st.st_size > 0 && st.st_size < STORE_LEAST) {
        odb_fail(err, ODB_E_FORMAT, "file is not a database"); /* to SQLite it is an empty one */
        odb_error_remedy(err, ODB_STORE_ANEW);
        return odb_error_at(err, "session %s", store->path);
    }
    if (tables) /* before anything is changed: it may be another program's */
        ODB_TRY(store_check(store, schema, err));
    ODB_TRY(store_use_wal(store, err));
    if (tables && schema == ODB_STORE_SCHEMA)
        return ODB_OK;
    ODB_TRY(store_make(store, err));
    ODB_TRY(store_look(store, &tables, &schema, err));
    return store_check(store, schema, err);
}

static enum odb_status store_check_file(const char *path, struct odb_error *err)
{
    if (access(path, F_OK) != 0 || odb_file_is_regular(path))
        return ODB_OK;
    odb_fail(err, ODB_E_IO, "not a regular file");
    odb_error_remedy(err, ODB_STORE_ANEW);
    return odb_error_at(err, "session %s", path);
}

enum odb_status odb_store_open(struct odb_store **out, const char *path,
                               const struct odb_model *model, struct odb_error *err)
{
    struct odb_store *store = odb_new(struct odb_store);
    store->model = model;
    store->path = odb_xstrdup(path);
    store->room = SIZE_MAX;
    enum odb_status status = store_check_file(path, err);
    if (status == ODB_OK)
        status = odb_model_sha256(model, store->sha256, err);
    if (status == ODB_OK && sqlite3_open(path, &store->db) != SQLITE_OK)
        status = odb_store__fail(store, err);
    if (status == ODB_OK)
        status = store_begin_use(store, err);
    if (status == ODB_OK)
        *out = store;
    else
        odb_store_close(store);
    return status;
}

enum odb_status odb_store_bound(struct odb_store *store, struct odb_error *err)
{
    store->room = STORE_BOUND_ANSWERS;
    return odb_store__exec(
        store, "PRAGMA synchronous = NORMAL; PRAGMA max_page_count = " STORE_BOUND_PAGES, err);
}

const char *odb_store_path(const struct odb_store *store)
{
    return store->path;
}

/* What answers took is given back; a file that cannot be made smaller stays as it is. */
static void store_shrink(struct odb_store *store)
{
    int64_t pages = 0, empty = 0;
    if (store_ask(store, "PRAGMA page_count", &pages, NULL) != ODB_OK ||
        store_ask(store, "PRAGMA freelist_count", &empty, NULL) != ODB_OK || empty < pages / 2)
        return;
    sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 1); /* which it is written into meanwhile */
    sqlite3_exec(store->db, "VACUUM", NULL, NULL, NULL);
}

void odb_store_close(struct odb_store *store)
{
    if (!store)
        return;
    if (store->room != SIZE_MAX)
        store_shrink(store);
    sqlite3_close(store->db);
    free(store->path);
    free(store);
}

/* --- kernels --------------------------------------------------------------------------------- */

/* Whether a list "a.so:b.so" holds a path. */
static bool store_lists(const char *list, const char *path)
{
    size_t n = strlen(path);
    for (const char *p = list; p && *p; p += strcspn(p, ":"), p += *p == ':')
        if (strcspn(p, ":") == n && !strncmp(p, path, n))
            return true;
    return false;
}

static enum odb_status store_put_kernels(struct odb_store *store, struct odb_error *err)
{
    const char *list = odb_cpu_kernels();
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    if (!list)
        return ODB_OK;
    ODB_TRY(odb_store__make_table(store, "kernels", err));
    ODB_TRY(odb_store__prepare(store, &stmt, "INSERT INTO kernels VALUES (?, ?)", err));
    for (const char *p = list; *p && status == ODB_OK;) {
        size_t n = strcspn(p, ":");
        sqlite3_bind_int64(stmt, 1, store->search);
        sqlite3_bind_text(stmt, 2, p, (int)n, SQLITE_TRANSIENT);
        status = n ? odb_store__step(store, stmt, err) : ODB_OK;
        p += n + (p[n] == ':');
    }
    sqlite3_finalize(stmt);
    return status;
}

enum odb_status odb_store_kernels(struct odb_store *store, char **out, struct odb_error *err)
{
    struct odb_buf missing = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    sqlite3_stmt *stmt;
    *out = NULL;
    ODB_TRY(odb_store__prepare_if_there(
        store, &stmt, "SELECT path FROM kernels WHERE search = (SELECT max(id) FROM search)", err));
    while (stmt && odb_store__row(store, stmt, &status, err)) {
        const char *path = (const char *)sqlite3_column_text(stmt, 0);
        if (path && !store_lists(odb_cpu_kernels(), path))
            odb_buf_printf(&missing, "%s--kernels %s", missing.len ? " " : "", path);
    }
    sqlite3_finalize(stmt);
    if (status == ODB_OK && missing.len)
        *out = odb_buf_take(&missing);
    odb_buf_dispose(&missing);
    return status;
}

/* --- writing --------------------------------------------------------------------------------- */

enum odb_status odb_store_begin(struct odb_store *store, const char *command,
                                const struct odb_bisect_options *options, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    char tolerance[128];
    ODB_STORE_HOLD(store);
    ODB_TRY(odb_store__prepare(store, &stmt,
                               "INSERT INTO search (command, version, reference, target, tolerance,"
                               " expect, strategy, seed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                               err));
    odb_store__bind_text(stmt, 1, command);
    odb_store__bind_text(stmt, 2, ODB_VERSION);
    odb_store__bind_text(stmt, 3, options->reference);
    odb_store__bind_text(stmt, 4, options->target);
    odb_store__bind_text(stmt, 5,
                         odb_criterion_text(&options->tolerance, tolerance, sizeof tolerance));
    odb_store__bind_text(stmt, 6, options->expect);
    odb_store__bind_text(stmt, 7, odb_strategy_name(options->strategy));
    sqlite3_bind_int64(stmt, 8, (sqlite3_int64)options->seed);
    enum odb_status status = odb_store__step(store, stmt, err);
    sqlite3_finalize(stmt);
    store->search = sqlite3_last_insert_rowid(store->db);
    store->probe = 0;
    store->failed = ODB_OK;
    return status == ODB_OK ? store_put_kernels(store, err) : status;
}

static enum odb_status store_probe_begin(struct odb_store *store,
                                         const struct odb_search_event *event,
                                         struct odb_error *err)
{
    sqlite3_stmt *stmt;
    ODB_TRY(odb_store__prepare(store, &stmt,
                               "INSERT INTO journal (search, text, node) VALUES (?, ?, ?)", err));
    sqlite3_bind_int64(stmt, 1, store->search);
    odb_store__bind_text(stmt, 2, event->text ? event->text : "");
    if (event->node != ODB_NO_NODE)
        sqlite3_bind_int(stmt, 3, event->node);
    enum odb_status status = odb_store__step(store, stmt, err);
    sqlite3_finalize(stmt);
    store->probe = sqlite3_last_insert_rowid(store->db);
    return status;
}

static enum odb_status store_probe_end(struct odb_store *store,
                                       const struct odb_search_event *event, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    ODB_TRY(odb_store__prepare(store, &stmt,
                               "UPDATE journal SET verdict = ?, seconds = ? WHERE id = ?", err));
    odb_store__bind_text(stmt, 1, odb_verdict_name(event->verdict));
    sqlite3_bind_double(stmt, 2, event->seconds);
    sqlite3_bind_int64(stmt, 3, store->probe);
    enum odb_status status = odb_store__step(store, stmt, err);
    sqlite3_finalize(stmt);
    store->probe = 0;
    return status;
}

void odb_store_event(struct odb_store *store, const struct odb_search_event *event)
{
    enum odb_status status = ODB_OK;
    if (store->failed != ODB_OK || !store->search)
        return;
    ODB_STORE_HOLD(store);
    if (event->what == ODB_EVENT_PROBE_BEGIN)
        status = store_probe_begin(store, event, &store->failure);
    else if (event->what == ODB_EVENT_PROBE_END && store->probe)
        status = store_probe_end(store, event, &store->failure);
    store->failed = status;
}

static enum odb_status store_store_values(struct odb_store *store, const struct odb_report *report,
                                          struct odb_error *err)
{
    const struct odb_graph *graph = store->model->graph;
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    ODB_TRY(odb_store__prepare(store, &stmt,
                               "INSERT INTO value VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", err));
    for (size_t i = 0; i < graph->n_values && status == ODB_OK; i++) {
        const struct odb_value_report *r = &report->values[i];
        if (r->verdict == ODB_VERDICT_UNTESTED)
            continue;
        const struct odb_number numbers[] = {r->error,       r->error_mean,      r->noise,
                                             r->local_error, r->inherited_error, r->gain,
                                             r->local_noise};
        sqlite3_bind_int64(stmt, 1, store->search);
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64)i);
        odb_store__bind_text(stmt, 3, graph->values[i].name);
        odb_store__bind_text(stmt, 4, odb_verdict_name(r->verdict));
        for (int k = 0; k < (int)ODB_COUNT(numbers); k++)
            store_bind_number(stmt, 5 + k, numbers[k]);
        sqlite3_bind_int(stmt, 12, r->boundary);
        sqlite3_bind_int(stmt, 13, r->culprit);
        odb_store__bind_text(stmt, 14, r->reason);
        status = odb_store__step(store, stmt, err);
    }
    sqlite3_finalize(stmt);
    return status;
}

static enum odb_status store_store_culprits(struct odb_store *store,
                                            const struct odb_report *report, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    ODB_TRY(
        odb_store__prepare(store, &stmt, "INSERT INTO culprit VALUES (?,?,?,?,?,?,?,?,?,?)", err));
    for (size_t i = 0; i < report->culprits.n && status == ODB_OK; i++) {
        const struct odb_culprit *c = &report->culprits.items[i];
        sqlite3_bind_int64(stmt, 1, store->search);
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64)i);
        sqlite3_bind_int(stmt, 3, c->node);
        if (c->value == ODB_NO_VALUE)
            sqlite3_bind_null(stmt, 4);
        else
            sqlite3_bind_int(stmt, 4, c->value);
        odb_store__bind_text(stmt, 5, odb_diagnosis_name(c->kind));
        sqlite3_bind_int(stmt, 6, c->verified);
        sqlite3_bind_int(stmt, 7, c->reaches_output);
        sqlite3_bind_int(stmt, 8, c->segment[0]);
        sqlite3_bind_int(stmt, 9, c->segment[1]);
        odb_store__bind_text(stmt, 10, c->text);
        status = odb_store__step(store, stmt, err);
    }
    sqlite3_finalize(stmt);
    return status;
}

static enum odb_status store_store_paths(struct odb_store *store, const struct odb_report *report,
                                         struct odb_error *err)
{
    sqlite3_stmt *stmt;
    char *again =
        odb_xasprintf("DELETE FROM culprit_path WHERE search = %lld", (long long)store->search);
    enum odb_status status = odb_store__make_table(store, "culprit_path", err);
    if (status == ODB_OK)
        status = odb_store__exec(store, again, err);
    free(again);
    ODB_TRY(status);
    ODB_TRY(odb_store__prepare(store, &stmt, "INSERT INTO culprit_path VALUES (?,?,?)", err));
    for (size_t i = 0; i < report->culprits.n && status == ODB_OK; i++) {
        if (!report->culprits.items[i].path)
            continue;
        sqlite3_bind_int64(stmt, 1, store->search);
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64)i);
        odb_store__bind_text(stmt, 3, report->culprits.items[i].path);
        status = odb_store__step(store, stmt, err);
    }
    sqlite3_finalize(stmt);
    return status;
}

static enum odb_status store_store_report(struct odb_store *store, const struct odb_report *report,
                                          const char *json, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    ODB_TRY(odb_store__prepare(store, &stmt,
                               "UPDATE search SET ended = datetime('now'), diverges = ?, report = ?"
                               " WHERE id = ?",
                               err));
    sqlite3_bind_int(stmt, 1, odb_report_outcome(report) == ODB_OUTCOME_DIVERGES);
    sqlite3_bind_text(stmt, 2, json, -1, SQLITE_STATIC); /* large: bound, not copied */
    sqlite3_bind_int64(stmt, 3, store->search);
    enum odb_status status = odb_store__step(store, stmt, err);
    sqlite3_finalize(stmt);
    return status;
}

static enum odb_status store_put_all(struct odb_store *store, const struct odb_report *report,
                                     const char *json, struct odb_error *err)
{
    ODB_STORE_HOLD(store);
    ODB_TRY(odb_store__exec(store, "BEGIN IMMEDIATE", err));
    char *again = odb_xasprintf("DELETE FROM value WHERE search = %lld;"
                                "DELETE FROM culprit WHERE search = %lld",
                                (long long)store->search, (long long)store->search);
    enum odb_status status = odb_store__exec(store, again, err); /* of when it was stopped */
    free(again);
    if (status == ODB_OK)
        status = store_store_values(store, report, err);
    if (status == ODB_OK)
        status = store_store_culprits(store, report, err);
    if (status == ODB_OK)
        status = store_store_paths(store, report, err);
    if (status == ODB_OK)
        status = store_store_report(store, report, json, err);
    return odb_store__end(store, status, err);
}

enum odb_status odb_store_put(struct odb_store *store, const struct odb_report *report,
                              struct odb_error *err)
{
    struct odb_buf json = ODB_BUF_INIT;
    odb_report_json(report, &json); /* which takes a while, so the store is not held */
    enum odb_status status = store_put_all(store, report, odb_buf_text(&json), err);
    odb_buf_dispose(&json);
    return status;
}

/* --- reading --------------------------------------------------------------------------------- */

enum odb_status odb_store_last_report(struct odb_store *store, char **out, struct odb_error *err)
{
    return odb_store__text(
        store, "SELECT report FROM search WHERE report IS NOT NULL ORDER BY id DESC LIMIT 1", out,
        err);
}

/* A statement about one search. */
static enum odb_status store_of(struct odb_store *store, int64_t search, sqlite3_stmt **out,
                                const char *columns, const char *table, const char *order,
                                struct odb_error *err)
{
    char *sql = odb_xasprintf("SELECT %s FROM %s WHERE %s = %lld ORDER BY %s", columns, table,
                              strcmp(table, "search") ? "search" : "id", (long long)search, order);
    enum odb_status status = odb_store__prepare(store, out, sql, err);
    free(sql);
    return status;
}

static char *store_column(sqlite3_stmt *stmt, int at)
{
    const char *text = (const char *)sqlite3_column_text(stmt, at);
    return text ? odb_xstrdup(text) : NULL;
}

static enum odb_status store_read_search(struct odb_store *store, int64_t search,
                                         struct odb_report **out, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    ODB_TRY(store_of(store, search, &stmt, "reference, target, tolerance, expect, " ODB_STORE_TOLD,
                     "search", "id", err));
    *out = NULL;
    if (odb_store__row(store, stmt, &status, err)) {
        struct odb_report *report = odb_report_new(store->model);
        const char *expect = (const char *)sqlite3_column_text(stmt, 3);
        char **const specs[] = {&report->reference, &report->target, &report->tolerance};
        for (int i = 0; i < (int)ODB_COUNT(specs); i++) {
            *specs[i] = store_column(stmt, i);
            if (!*specs[i])
                *specs[i] = odb_xstrdup("?");
        }
        report->expect = expect ? odb_precision_expected(expect) : NULL;
        report->told = true;
        struct odb_store_told told = odb_store__told(stmt, 4);
        report->stored = told.outcome;
        report->complete = told.complete;
        report->outputs_diverge = sqlite3_column_int(stmt, 5);
        *out = report;
    }
    sqlite3_finalize(stmt);
    return status;
}

static void store_read_value(sqlite3_stmt *stmt, struct odb_value_report *out)
{
    struct odb_number *const numbers[] = {&out->error,       &out->error_mean,      &out->noise,
                                          &out->local_error, &out->inherited_error, &out->gain,
                                          &out->local_noise};
    const char *verdict = (const char *)sqlite3_column_text(stmt, 1);
    const char *reason = (const char *)sqlite3_column_text(stmt, 11);
    if (!verdict || !odb_verdict_parse(&out->verdict, verdict))
        return;
    for (int k = 0; k < (int)ODB_COUNT(numbers); k++)
        *numbers[k] = store_number(stmt, 2 + k);
    out->boundary = sqlite3_column_int(stmt, 9);
    out->culprit = sqlite3_column_int(stmt, 10);
    snprintf(out->reason, sizeof out->reason, "%s", reason ? reason : "");
}

static enum odb_status store_read_values(struct odb_store *store, int64_t search,
                                         struct odb_report *report, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    ODB_TRY(store_of(store, search, &stmt,
                     "value, verdict, error, error_mean, noise, local_error, inherited_error,"
                     " gain, local_noise, boundary, culprit, reason",
                     "value", "value", err));
    while (odb_store__row(store, stmt, &status, err)) {
        sqlite3_int64 value = sqlite3_column_int64(stmt, 0);
        if (value >= 0 && (size_t)value < store->model->graph->n_values)
            store_read_value(stmt, &report->values[value]);
    }
    sqlite3_finalize(stmt);
    return status;
}

static bool store_read_culprit(sqlite3_stmt *stmt, const struct odb_report *report,
                               struct odb_culprit *out)
{
    const struct odb_graph *graph = report->model->graph;
    bool no_value = sqlite3_column_type(stmt, 1) == SQLITE_NULL;
    const char *kind = (const char *)sqlite3_column_text(stmt, 2);
    *out =
        (struct odb_culprit){.node = sqlite3_column_int(stmt, 0),
                             .value = no_value ? ODB_NO_VALUE : sqlite3_column_int(stmt, 1),
                             .verified = sqlite3_column_int(stmt, 3),
                             .reaches_output = sqlite3_column_int(stmt, 4),
                             .segment = {sqlite3_column_int(stmt, 5), sqlite3_column_int(stmt, 6)}};
    if (out->node < 0 || (size_t)out->node >= graph->n_nodes || out->value < ODB_NO_VALUE ||
        out->value >= (int)graph->n_values || !kind)
        return false;
    if (out->value != ODB_NO_VALUE)
        out->numbers = report->values[out->value];
    if (!odb_diagnosis_parse(&out->kind, kind))
        return false;
    out->text = store_column(stmt, 7);
    return true;
}

static enum odb_status store_read_culprits(struct odb_store *store, int64_t search,
                                           struct odb_report *report, struct odb_error *err)
{
    struct odb_culprit culprit;
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    ODB_TRY(store_of(store, search, &stmt,
                     "node, value, kind, verified, reaches_output, first, last, text", "culprit",
                     "rank", err));
    while (odb_store__row(store, stmt, &status, err))
        if (store_read_culprit(stmt, report, &culprit))
            odb_push(&report->culprits, culprit);
    sqlite3_finalize(stmt);
    return status;
}

/* Sessions of before lack the table. */
static enum odb_status store_read_paths(struct odb_store *store, int64_t search,
                                        struct odb_report *report, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    ODB_TRY(odb_store__prepare_if_there(
        store, &stmt, "SELECT rank, path FROM culprit_path WHERE search = ? ORDER BY rank", err));
    if (stmt)
        sqlite3_bind_int64(stmt, 1, search);
    while (stmt && odb_store__row(store, stmt, &status, err)) {
        sqlite3_int64 rank = sqlite3_column_int64(stmt, 0);
        if (rank >= 0 && (size_t)rank < report->culprits.n && !report->culprits.items[rank].path)
            report->culprits.items[rank].path = store_column(stmt, 1);
    }
    sqlite3_finalize(stmt);
    return status;
}

/* All that tables do not hold. */
static enum odb_status store_read_json(struct odb_store *store, int64_t search,
                                       struct odb_report *report, struct odb_error *err)
{
    char *text = NULL;
    char *sql = odb_xasprintf("SELECT report FROM search WHERE id = %lld", (long long)search);
    enum odb_status status = odb_store__text(store, sql, &text, err);
    free(sql);
    if (text)
        odb_report_read(report, text);
    free(text);
    return status;
}

enum odb_status odb_store_read(struct odb_store *store, int64_t search, struct odb_report **out,
                               struct odb_error *err)
{
    if (!search)
        ODB_TRY(
            store_ask(store, "SELECT max(id) FROM search WHERE report IS NOT NULL", &search, err));
    ODB_TRY(store_read_search(store, search, out, err));
    if (!*out)
        return ODB_OK;
    enum odb_status status = store_read_values(store, search, *out, err);
    if (status == ODB_OK)
        status = store_read_culprits(store, search, *out, err);
    if (status == ODB_OK)
        status = store_read_paths(store, search, *out, err);
    if (status == ODB_OK)
        status = store_read_json(store, search, *out, err);
    if (status != ODB_OK) {
        odb_report_free(*out);
        *out = NULL;
    }
    return status;
}
