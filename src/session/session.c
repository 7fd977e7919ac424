/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The session file. A row of the journal is committed, and on the disk, before its probe begins;
 * what is missing from its end tells, after a crash of anything, what was being tried.
 */
#include "session/session.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SESSION_SCHEMA 1

struct odb_session {
    sqlite3 *db;                   /* owned */
    const struct odb_model *model; /* borrowed */
    char sha256[65];
    char *path;             /* owned */
    sqlite3_int64 search;   /* row of the search begun last; 0: none */
    sqlite3_int64 probe;    /* row of the journal whose probe runs; 0: none */
    enum odb_status failed; /* first failure of odb_session_event() */
    struct odb_error failure;
};

static const char session_schema[] =
    "CREATE TABLE model (sha256 TEXT NOT NULL, path TEXT NOT NULL, nodes INTEGER NOT NULL);"
    "CREATE TABLE search (id INTEGER PRIMARY KEY, command TEXT NOT NULL, version TEXT NOT NULL,"
    " reference TEXT, target TEXT, tolerance TEXT, expect TEXT, strategy TEXT, seed INTEGER,"
    " began TEXT NOT NULL DEFAULT (datetime('now')), ended TEXT, diverges INTEGER, report TEXT);"
    "CREATE TABLE journal (id INTEGER PRIMARY KEY, search INTEGER NOT NULL REFERENCES search,"
    " text TEXT NOT NULL, node INTEGER, began TEXT NOT NULL DEFAULT (datetime('now')),"
    " verdict TEXT, seconds REAL);"
    "CREATE TABLE value (search INTEGER NOT NULL REFERENCES search, value INTEGER NOT NULL,"
    " name TEXT, verdict TEXT NOT NULL, error REAL, error_mean REAL, noise REAL, local_error REAL,"
    " inherited_error REAL, gain REAL, local_noise REAL, boundary INTEGER NOT NULL,"
    " culprit INTEGER NOT NULL, reason TEXT, PRIMARY KEY (search, value)) WITHOUT ROWID;"
    "CREATE TABLE culprit (search INTEGER NOT NULL REFERENCES search, rank INTEGER NOT NULL,"
    " node INTEGER NOT NULL, value INTEGER, kind TEXT NOT NULL, verified INTEGER NOT NULL,"
    " reaches_output INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, text TEXT,"
    " PRIMARY KEY (search, rank)) WITHOUT ROWID;";

/* --- SQLite ---------------------------------------------------------------------------------- */

static enum odb_status session_fail(const struct odb_session *session, struct odb_error *err)
{
    int code = sqlite3_errcode(session->db);
    enum odb_status status =
        code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? ODB_E_FORMAT : ODB_E_IO;
    odb_fail(err, status, "%s", sqlite3_errmsg(session->db));
    odb_error_at(err, "session %s", session->path);
    return status;
}

static enum odb_status session_exec(struct odb_session *session, const char *sql,
                                    struct odb_error *err)
{
    if (sqlite3_exec(session->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return session_fail(session, err);
    return ODB_OK;
}

static enum odb_status session_prepare(struct odb_session *session, sqlite3_stmt **out,
                                       const char *sql, struct odb_error *err)
{
    if (sqlite3_prepare_v2(session->db, sql, -1, out, NULL) != SQLITE_OK)
        return session_fail(session, err);
    return ODB_OK;
}

/* Runs a statement that returns no rows, and resets it. */
static enum odb_status session_step(struct odb_session *session, sqlite3_stmt *stmt,
                                    struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    if (sqlite3_step(stmt) != SQLITE_DONE)
        status = session_fail(session, err);
    sqlite3_reset(stmt);
    return status;
}

static void session_bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(stmt, at, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(stmt, at);
}

/* SQLite stores NaN as NULL, so it goes as text. */
static void session_bind_number(sqlite3_stmt *stmt, int at, struct odb_number number)
{
    if (!number.known)
        sqlite3_bind_null(stmt, at);
    else if (number.v != number.v)
        sqlite3_bind_text(stmt, at, "nan", -1, SQLITE_STATIC);
    else
        sqlite3_bind_double(stmt, at, number.v);
}

static struct odb_number session_number(sqlite3_stmt *stmt, int at)
{
    int type = sqlite3_column_type(stmt, at);
    if (type == SQLITE_NULL)
        return (struct odb_number){false, 0};
    if (type == SQLITE_TEXT)
        return ODB_NUMBER(__builtin_nan(""));
    return ODB_NUMBER(sqlite3_column_double(stmt, at));
}

/* One text in the first column of the first row; NULL: no row, or NULL there. */
static char *session_text(struct odb_session *session, const char *sql)
{
    sqlite3_stmt *stmt;
    char *text = NULL;
    if (session_prepare(session, &stmt, sql, NULL) != ODB_OK)
        return NULL;
    if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0))
        text = odb_xstrdup((const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    return text;
}

/* --- opening --------------------------------------------------------------------------------- */

static enum odb_status session_create(struct odb_session *session, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    char version[64];
    ODB_TRY(session_exec(session, "BEGIN IMMEDIATE", err));
    ODB_TRY(session_exec(session, session_schema, err));
    ODB_TRY(session_prepare(session, &stmt, "INSERT INTO model VALUES (?, ?, ?)", err));
    session_bind_text(stmt, 1, session->sha256);
    session_bind_text(stmt, 2, session->model->path);
    sqlite3_bind_int64(stmt, 3, (sqlite3_int64)session->model->graph->n_nodes);
    enum odb_status status = session_step(session, stmt, err);
    sqlite3_finalize(stmt);
    if (status != ODB_OK)
        return status;
    snprintf(version, sizeof version, "PRAGMA user_version = %d", SESSION_SCHEMA);
    ODB_TRY(session_exec(session, version, err));
    return session_exec(session, "COMMIT", err);
}

static enum odb_status session_check(struct odb_session *session, int schema, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    if (schema != SESSION_SCHEMA) {
        odb_fail(err, ODB_E_INPUT, "the file has schema %d, this program knows %d", schema,
                 SESSION_SCHEMA);
        odb_error_remedy(err, "begin a new session with another file name");
        odb_error_at(err, "session %s", session->path);
        return ODB_E_INPUT;
    }
    char *sha256 = session_text(session, "SELECT sha256 FROM model");
    char *path = session_text(session, "SELECT path FROM model");
    if (!sha256 || strcmp(sha256, session->sha256)) {
        status = odb_fail(err, ODB_E_INPUT, "the session is of another model: %s, SHA-256 %.16s…",
                          path ? path : "?", sha256 ? sha256 : "?");
        odb_error_remedy(err, "the model has changed, or is another one; begin a new session with "
                              "another file name");
        odb_error_at(err, "session %s", session->path);
    }
    free(sha256);
    free(path);
    return status;
}

static enum odb_status session_begin_use(struct odb_session *session, struct odb_error *err)
{
    sqlite3_busy_timeout(session->db, 5000);
    ODB_TRY(session_exec(session, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", err));
    char *tables = session_text(session, "SELECT count(*) FROM sqlite_master");
    char *schema = session_text(session, "PRAGMA user_version");
    bool fresh = tables && !strcmp(tables, "0");
    int version = schema ? (int)strtol(schema, NULL, 10) : 0;
    free(tables);
    free(schema);
    return fresh ? session_create(session, err) : session_check(session, version, err);
}

enum odb_status odb_session_open(struct odb_session **out, const char *path,
                                 const struct odb_model *model, struct odb_error *err)
{
    struct odb_session *session = odb_new(struct odb_session);
    session->model = model;
    session->path = odb_xstrdup(path);
    enum odb_status status = odb_model_sha256(model, session->sha256, err);
    if (status == ODB_OK && sqlite3_open(path, &session->db) != SQLITE_OK)
        status = session_fail(session, err);
    if (status == ODB_OK)
        status = session_begin_use(session, err);
    if (status == ODB_OK)
        *out = session;
    else
        odb_session_close(session);
    return status;
}

void odb_session_close(struct odb_session *session)
{
    if (!session)
        return;
    sqlite3_close(session->db);
    free(session->path);
    free(session);
}

/* --- writing --------------------------------------------------------------------------------- */

enum odb_status odb_session_begin(struct odb_session *session, const char *command,
                                  const struct odb_bisect_options *options, struct odb_error *err)
{
    static const char *const strategies[] = {
#define SESSION_STRATEGY(name, text, help) [ODB_STRATEGY_##name] = text,
        ODB_STRATEGY_LIST(SESSION_STRATEGY)
#undef SESSION_STRATEGY
    };
    sqlite3_stmt *stmt;
    char tolerance[128];
    ODB_TRY(session_prepare(session, &stmt,
                            "INSERT INTO search (command, version, reference, target, tolerance,"
                            " expect, strategy, seed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                            err));
    session_bind_text(stmt, 1, command);
    session_bind_text(stmt, 2, ODB_VERSION);
    session_bind_text(stmt, 3, options->reference);
    session_bind_text(stmt, 4, options->target);
    session_bind_text(stmt, 5,
                      odb_criterion_text(&options->tolerance, tolerance, sizeof tolerance));
    session_bind_text(stmt, 6, options->expect);
    session_bind_text(stmt, 7, strategies[options->strategy]);
    sqlite3_bind_int64(stmt, 8, (sqlite3_int64)options->seed);
    enum odb_status status = session_step(session, stmt, err);
    sqlite3_finalize(stmt);
    session->search = sqlite3_last_insert_rowid(session->db);
    session->probe = 0;
    session->failed = ODB_OK;
    return status;
}

static enum odb_status session_probe_begin(struct odb_session *session,
                                           const struct odb_search_event *event,
                                           struct odb_error *err)
{
    sqlite3_stmt *stmt;
    ODB_TRY(session_prepare(session, &stmt,
                            "INSERT INTO journal (search, text, node) VALUES (?, ?, ?)", err));
    sqlite3_bind_int64(stmt, 1, session->search);
    session_bind_text(stmt, 2, event->text ? event->text : "");
    if (event->node != ODB_NO_NODE)
        sqlite3_bind_int(stmt, 3, event->node);
    enum odb_status status = session_step(session, stmt, err);
    sqlite3_finalize(stmt);
    session->probe = sqlite3_last_insert_rowid(session->db);
    return status;
}

static enum odb_status session_probe_end(struct odb_session *session,
                                         const struct odb_search_event *event,
                                         struct odb_error *err)
{
    sqlite3_stmt *stmt;
    ODB_TRY(session_prepare(session, &stmt,
                            "UPDATE journal SET verdict = ?, seconds = ? WHERE id = ?", err));
    session_bind_text(stmt, 1, odb_verdict_name(event->verdict));
    sqlite3_bind_double(stmt, 2, event->seconds);
    sqlite3_bind_int64(stmt, 3, session->probe);
    enum odb_status status = session_step(session, stmt, err);
    sqlite3_finalize(stmt);
    session->probe = 0;
    return status;
}

void odb_session_event(struct odb_session *session, const struct odb_search_event *event)
{
    enum odb_status status = ODB_OK;
    if (session->failed != ODB_OK || !session->search)
        return;
    if (event->what == ODB_EVENT_PROBE_BEGIN)
        status = session_probe_begin(session, event, &session->failure);
    else if (event->what == ODB_EVENT_PROBE_END && session->probe)
        status = session_probe_end(session, event, &session->failure);
    session->failed = status;
}

static enum odb_status session_store_values(struct odb_session *session,
                                            const struct odb_report *report, struct odb_error *err)
{
    const struct odb_graph *graph = session->model->graph;
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    ODB_TRY(session_prepare(session, &stmt,
                            "INSERT INTO value VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", err));
    for (size_t i = 0; i < graph->n_values && status == ODB_OK; i++) {
        const struct odb_value_report *r = &report->values[i];
        if (r->verdict == ODB_VERDICT_UNTESTED)
            continue;
        const struct odb_number numbers[] = {r->error,       r->error_mean,      r->noise,
                                             r->local_error, r->inherited_error, r->gain,
                                             r->local_noise};
        sqlite3_bind_int64(stmt, 1, session->search);
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64)i);
        session_bind_text(stmt, 3, graph->values[i].name);
        session_bind_text(stmt, 4, odb_verdict_name(r->verdict));
        for (int k = 0; k < (int)ODB_COUNT(numbers); k++)
            session_bind_number(stmt, 5 + k, numbers[k]);
        sqlite3_bind_int(stmt, 12, r->boundary);
        sqlite3_bind_int(stmt, 13, r->culprit);
        session_bind_text(stmt, 14, r->reason);
        status = session_step(session, stmt, err);
    }
    sqlite3_finalize(stmt);
    return status;
}

static enum odb_status session_store_culprits(struct odb_session *session,
                                              const struct odb_report *report,
                                              struct odb_error *err)
{
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    ODB_TRY(
        session_prepare(session, &stmt, "INSERT INTO culprit VALUES (?,?,?,?,?,?,?,?,?,?)", err));
    for (size_t i = 0; i < report->culprits.n && status == ODB_OK; i++) {
        const struct odb_culprit *c = &report->culprits.items[i];
        sqlite3_bind_int64(stmt, 1, session->search);
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64)i);
        sqlite3_bind_int(stmt, 3, c->node);
        if (c->value == ODB_NO_VALUE)
            sqlite3_bind_null(stmt, 4);
        else
            sqlite3_bind_int(stmt, 4, c->value);
        session_bind_text(stmt, 5, odb_diagnosis_name(c->kind));
        sqlite3_bind_int(stmt, 6, c->verified);
        sqlite3_bind_int(stmt, 7, c->reaches_output);
        sqlite3_bind_int(stmt, 8, c->segment[0]);
        sqlite3_bind_int(stmt, 9, c->segment[1]);
        session_bind_text(stmt, 10, c->text);
        status = session_step(session, stmt, err);
    }
    sqlite3_finalize(stmt);
    return status;
}

static enum odb_status session_store_report(struct odb_session *session,
                                            const struct odb_report *report, struct odb_error *err)
{
    struct odb_buf json = ODB_BUF_INIT;
    sqlite3_stmt *stmt;
    ODB_TRY(session_prepare(session, &stmt,
                            "UPDATE search SET ended = datetime('now'), diverges = ?, report = ?"
                            " WHERE id = ?",
                            err));
    odb_report_json(report, &json);
    sqlite3_bind_int(stmt, 1, report->outputs_diverge || report->culprits.n);
    session_bind_text(stmt, 2, odb_buf_text(&json));
    sqlite3_bind_int64(stmt, 3, session->search);
    enum odb_status status = session_step(session, stmt, err);
    sqlite3_finalize(stmt);
    odb_buf_dispose(&json);
    return status;
}

enum odb_status odb_session_store(struct odb_session *session, const struct odb_report *report,
                                  struct odb_error *err)
{
    if (session->failed != ODB_OK) {
        *err = session->failure;
        return session->failed;
    }
    ODB_TRY(session_exec(session, "BEGIN IMMEDIATE", err));
    enum odb_status status = session_store_values(session, report, err);
    if (status == ODB_OK)
        status = session_store_culprits(session, report, err);
    if (status == ODB_OK)
        status = session_store_report(session, report, err);
    if (status == ODB_OK)
        return session_exec(session, "COMMIT", err);
    sqlite3_exec(session->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* --- reading --------------------------------------------------------------------------------- */

char *odb_session_last_report(struct odb_session *session)
{
    return session_text(session, "SELECT report FROM search WHERE report IS NOT NULL"
                                 " ORDER BY id DESC LIMIT 1");
}

bool odb_session_value(struct odb_session *session, int value, struct odb_value_report *out)
{
    sqlite3_stmt *stmt;
    if (session_prepare(session, &stmt,
                        "SELECT verdict, error, error_mean, noise, local_error, inherited_error,"
                        " gain, local_noise, boundary, culprit, reason FROM value"
                        " WHERE value = ? AND search ="
                        " (SELECT max(id) FROM search WHERE report IS NOT NULL)",
                        NULL) != ODB_OK)
        return false;
    sqlite3_bind_int(stmt, 1, value);
    bool found = sqlite3_step(stmt) == SQLITE_ROW;
    *out = (struct odb_value_report){0};
    if (found) {
        found = odb_verdict_parse(&out->verdict, (const char *)sqlite3_column_text(stmt, 0));
        out->error = session_number(stmt, 1);
        out->error_mean = session_number(stmt, 2);
        out->noise = session_number(stmt, 3);
        out->local_error = session_number(stmt, 4);
        out->inherited_error = session_number(stmt, 5);
        out->gain = session_number(stmt, 6);
        out->local_noise = session_number(stmt, 7);
        out->boundary = sqlite3_column_int(stmt, 8);
        out->culprit = sqlite3_column_int(stmt, 9);
        const char *reason = (const char *)sqlite3_column_text(stmt, 10);
        snprintf(out->reason, sizeof out->reason, "%s", reason ? reason : "");
    }
    sqlite3_finalize(stmt);
    return found;
}

char *odb_session_unfinished(struct odb_session *session)
{
    struct odb_buf out = ODB_BUF_INIT;
    sqlite3_stmt *stmt;
    if (session_prepare(session, &stmt,
                        "SELECT began, text FROM journal WHERE verdict IS NULL ORDER BY id",
                        NULL) != ODB_OK)
        return odb_xstrdup("");
    while (sqlite3_step(stmt) == SQLITE_ROW)
        odb_buf_printf(&out, "%s %s\n", sqlite3_column_text(stmt, 0), sqlite3_column_text(stmt, 1));
    sqlite3_finalize(stmt);
    return odb_buf_take(&out);
}
