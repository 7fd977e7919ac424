/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The searches of a session file, as a list tells them.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "report/outcome.h"
#include "session/store_int.h"

#define SEARCHES_MOST "200"      /* of a file's searches the newest are looked at */
#define SEARCHES_HEAD (64 << 10) /* bytes of a report that mostly have what is told of it */

/* Settings that a list tells by themselves, and files of executors, which are built anew. */
static bool searches_tells(const char *line)
{
    static const char *const told[] = {"target ", "reference ", "tolerance ", "expect ", "file:"};
    for (size_t i = 0; i < ODB_COUNT(told); i++)
        if (!strncmp(line, told[i], strlen(told[i])))
            return true;
    return false;
}

/* The other lines of a search's settings. The caller's. */
static char *searches_others(const char *settings)
{
    struct odb_buf out = ODB_BUF_INIT;
    while (settings && *settings) {
        size_t n = strcspn(settings, "\n") + 1;
        n -= settings[n - 1] == '\0';
        if (!searches_tells(settings))
            odb_buf_add(&out, settings, n);
        settings += n;
    }
    return out.len ? odb_buf_take(&out) : odb_xstrdup("");
}

/* The object of a report as far as what is told of it: what else there is comes behind that. NULL:
 * it is not among these bytes. */
static json_t *searches_head(const char *text, size_t n, bool whole)
{
    static const char last[] = "\n \"complete\": ";
    const char *at = memmem(text, n, last, sizeof last - 1);
    const char *end = at ? memchr(at + 1, '\n', (size_t)(text + n - at - 1)) : NULL;
    if (!end)
        return whole ? json_loadb(text, n, 0, NULL) : NULL;
    struct odb_buf head = ODB_BUF_INIT;
    odb_buf_add(&head, text, (size_t)(end - text) - (end[-1] == ','));
    odb_buf_putc(&head, '}');
    json_t *json = json_loadb(head.data, head.len, 0, NULL);
    odb_buf_dispose(&head);
    return json;
}

/* The same of the report of a search; NULL: there is none that can be read. */
static json_t *searches_report(sqlite3 *db, sqlite3_int64 search)
{
    sqlite3_blob *blob = NULL;
    json_t *json = NULL;
    bool opened = sqlite3_blob_open(db, "main", "search", "report", search, 0, &blob) == SQLITE_OK;
    int bytes = opened ? sqlite3_blob_bytes(blob) : 0;
    for (int n = ODB_MIN(bytes, SEARCHES_HEAD); n > 0 && !json; n = bytes) {
        char *text = odb_new_n(char, n);
        bool read = sqlite3_blob_read(blob, text, n, 0) == SQLITE_OK;
        json = read ? searches_head(text, (size_t)n, n == bytes) : NULL;
        free(text);
        if (!read || n == bytes)
            break;
    }
    sqlite3_blob_close(blob);
    return json;
}

struct odb_store_told odb_store__told(sqlite3_stmt *row, int at)
{
    json_t *report = searches_report(sqlite3_db_handle(row), sqlite3_column_int64(row, at));
    bool complete = json_is_true(json_object_get(report, "complete"));
    const char *word = json_string_value(json_object_get(report, "verdict"));
    struct odb_store_told told = {odb_outcome_told(word, complete, sqlite3_column_int(row, at + 1)),
                                  complete};
    json_decref(report);
    return told;
}

static char *searches_text(sqlite3_stmt *row, int at)
{
    const char *text = (const char *)sqlite3_column_text(row, at);
    return text ? odb_xstrdup(text) : NULL;
}

static struct odb_store_search searches_read(sqlite3_stmt *row, size_t n_nodes)
{
    struct odb_store_search s = {.search = sqlite3_column_int64(row, 0),
                                 .target = searches_text(row, 1),
                                 .reference = searches_text(row, 2),
                                 .tolerance = searches_text(row, 3),
                                 .expect = searches_text(row, 4),
                                 .others =
                                     searches_others((const char *)sqlite3_column_text(row, 5)),
                                 .ended = sqlite3_column_int(row, 6),
                                 .when = sqlite3_column_int64(row, 7),
                                 .culprits = (size_t)sqlite3_column_int64(row, 8),
                                 .first = ODB_NO_NODE,
                                 .outcome = odb_store__told(row, 11).outcome};
    const char *kind = (const char *)sqlite3_column_text(row, 10);
    enum odb_diagnosis diagnosis;
    int first = sqlite3_column_int(row, 9);
    if (s.culprits && first >= 0 && (size_t)first < n_nodes) /* a file may name any */
        s.first = first;
    if (kind && odb_diagnosis_parse(&diagnosis, kind))
        s.kind = odb_diagnosis_name(diagnosis);
    return s;
}

enum odb_status odb_store_searches(struct odb_store *store, struct odb_store_searches *out,
                                   struct odb_error *err)
{
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    *out = (struct odb_store_searches){0};
    ODB_STORE_HOLD(store);
    ODB_TRY(odb_store__prepare(
        store, &stmt,
        "SELECT id, target, reference, tolerance, expect, settings, ended IS NOT NULL,"
        " CAST(strftime('%s', coalesce(ended, began)) AS INTEGER),"
        " (SELECT count(*) FROM culprit WHERE culprit.search = search.id),"
        " (SELECT node FROM culprit WHERE culprit.search = search.id ORDER BY rank),"
        " (SELECT kind FROM culprit WHERE culprit.search = search.id ORDER BY rank),"
        " " ODB_STORE_TOLD " FROM search WHERE report IS NOT NULL ORDER BY id DESC"
        " LIMIT " SEARCHES_MOST,
        err));
    while (odb_store__row(store, stmt, &status, err))
        odb_push(&out->list, searches_read(stmt, store->model->graph->n_nodes));
    sqlite3_finalize(stmt);
    return status;
}

void odb_store_searches_dispose(struct odb_store_searches *searches)
{
    for (size_t i = 0; i < searches->list.n; i++) {
        struct odb_store_search *s = &searches->list.items[i];
        char *const owned[] = {s->target, s->reference, s->tolerance, s->expect, s->others};
        for (size_t k = 0; k < ODB_COUNT(owned); k++)
            free(owned[k]);
    }
    free(searches->list.items);
    *searches = (struct odb_store_searches){0};
}
