/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A search that did not end, and what the target had answered to it by then. A question has its row
 * before it is put, and the row gets its answer before the search uses it: a row without one is
 * what was running when the program, or the machine, went down.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "session/store_int.h"
#include "model/read/pb.h"
#include "model/write/pb_write.h"

/* --- the process of a search ------------------------------------------------------------------ */

static void answers_read_line(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "r");
    out[0] = '\0';
    if (f && fgets(out, (int)size, f))
        out[strcspn(out, "\n")] = '\0';
    if (f)
        fclose(f);
}

/* Tells this run of the machine from all others; "" where it does not say. */
static void answers_boot(char out[64])
{
    answers_read_line("/proc/sys/kernel/random/boot_id", out, 64);
}

/* Whether the debugger that has this search is still at it. One that was killed and that no process
 * has waited for is there, but has no command line any more. */
static bool answers_in_use(sqlite3_int64 pid, const char *boot)
{
    char now[64], mine[32], its[32], line[32], path[64];
    answers_boot(now);
    if (pid <= 0 || pid == getpid() || !boot || strcmp(boot, now) || kill((pid_t)pid, 0) < 0)
        return false;
    snprintf(path, sizeof path, "/proc/%lld/comm", (long long)pid);
    answers_read_line("/proc/self/comm", mine, sizeof mine);
    answers_read_line(path, its, sizeof its);
    snprintf(path, sizeof path, "/proc/%lld/cmdline", (long long)pid);
    answers_read_line(path, line, sizeof line);
    return line[0] && !strcmp(mine, its);
}

/* --- going on --------------------------------------------------------------------------------- */

void odb_resumed_dispose(struct odb_resumed *resumed)
{
    for (size_t i = 0; i < resumed->running.n; i++)
        free(resumed->running.items[i]);
    free(resumed->running.items);
    free(resumed->other);
    *resumed = (struct odb_resumed){0};
}

/* The value of a line "name value" of text; its length in *n. NULL: there is none. */
static const char *answers_setting(const char *text, const char *name, size_t n_name, size_t *n)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (length > n_name && !strncmp(line, name, n_name) && line[n_name] == ' ') {
            *n = length - n_name - 1;
            return line + n_name + 1;
        }
        line += length + (line[length] == '\n');
    }
    return NULL;
}

/* Files that an executor was made of are not settings. */
static void answers_put_changed(struct odb_buf *out, const char *line, int n_name, const char *old,
                                size_t n, const char *value, size_t n_value)
{
    bool file = !strncmp(line, "file:", 5), inputs = !strncmp(line, "inputs", 6);
    odb_buf_puts(out, out->len ? ", " : "");
    if (file)
        odb_buf_printf(out, "%.*s (%s)", n_name - 5, line + 5,
                       !old      ? "was not there"
                       : n_value ? "has changed"
                                 : "is gone");
    else
        odb_buf_printf(out, "%.*s", n_name, line);
    if (!file && !inputs) /* which are no more than a hash */
        odb_buf_printf(out, " (%.*s, now %.*s)", old ? (int)n : 4, old ? old : "none",
                       n_value ? (int)n_value : 4, n_value ? value : "none");
}

/* What of these settings is another in those. gone: only what those lack altogether. */
static void answers_put_different(const char *then, const char *now, bool gone, struct odb_buf *out)
{
    for (const char *line = gone ? then : now; *line;) {
        size_t length = strcspn(line, "\n"), name = strcspn(line, " \n"), n = 0;
        const char *other = answers_setting(gone ? now : then, line, name, &n);
        const char *value = line + name + 1;
        size_t n_value = length > name ? length - name - 1 : 0;
        bool same = other && (gone || (n == n_value && !strncmp(other, value, n)));
        if (!same && gone)
            answers_put_changed(out, line, (int)name, value, n_value, "", 0);
        else if (!same)
            answers_put_changed(out, line, (int)name, other, n, value, n_value);
        line += length + (line[length] == '\n');
    }
}

char *odb_settings_differ(const char *then, const char *now)
{
    struct odb_buf out = ODB_BUF_INIT;
    answers_put_different(then, now, false, &out);
    answers_put_different(then, now, true, &out);
    return out.len ? odb_buf_take(&out) : NULL;
}

static enum odb_status answers_exec(struct odb_store *store, const char *sql, struct odb_error *err)
{
    char *text = odb_xasprintf("%s %lld", sql, (long long)store->search);
    enum odb_status status = odb_store__exec(store, text, err);
    free(text);
    return status;
}

/* The search that store->search is: this program is at it now. */
static enum odb_status answers_take(struct odb_store *store, const char *settings,
                                    struct odb_error *err)
{
    sqlite3_stmt *stmt;
    char boot[64];
    answers_boot(boot);
    ODB_TRY(odb_store__prepare(
        store, &stmt,
        "UPDATE search SET settings = ?, pid = ?, boot = ?, ended = NULL WHERE id = ?", err));
    odb_store__bind_text(stmt, 1, settings);
    sqlite3_bind_int64(stmt, 2, getpid());
    odb_store__bind_text(stmt, 3, boot);
    sqlite3_bind_int64(stmt, 4, store->search);
    enum odb_status status = odb_store__step(store, stmt, err);
    sqlite3_finalize(stmt);
    return status;
}

/* What is asked again goes, unless the machine went down over it. */
static enum odb_status answers_retry(struct odb_store *store, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    char boot[64];
    answers_boot(boot);
    ODB_TRY(odb_store__prepare(store, &stmt,
                               "DELETE FROM answer WHERE status IS NULL AND boot = ?"
                               " AND key GLOB '" ODB_ANSWERS_RETRIED "*' AND search = ?",
                               err));
    odb_store__bind_text(stmt, 1, boot);
    sqlite3_bind_int64(stmt, 2, store->search);
    enum odb_status status = odb_store__step(store, stmt, err);
    sqlite3_finalize(stmt);
    return status;
}

/* What was running has no answer and never will: rows are marked, or taken away to be asked again.
 */
static enum odb_status answers_sort(struct odb_store *store, bool retry, struct odb_resumed *out,
                                    struct odb_error *err)
{
    sqlite3_stmt *stmt;
    enum odb_status status = ODB_OK;
    ODB_TRY(answers_retry(store, err));
    if (retry)
        ODB_TRY(answers_exec(store, "DELETE FROM answer WHERE status IS NULL AND search =", err));
    ODB_TRY(
        answers_exec(store, "UPDATE answer SET lost = 1 WHERE status IS NULL AND search =", err));
    ODB_TRY(answers_exec(
        store, "UPDATE journal SET verdict = 'untested' WHERE verdict IS NULL AND search =", err));
    ODB_TRY(odb_store__prepare(
        store, &stmt, "SELECT text, lost FROM answer WHERE search = ? ORDER BY rowid", err));
    sqlite3_bind_int64(stmt, 1, store->search);
    while (odb_store__row(store, stmt, &status, err)) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        if (sqlite3_column_int(stmt, 1))
            odb_push(&out->running, odb_xstrdup(text ? text : "?"));
        else
            out->n++;
    }
    sqlite3_finalize(stmt);
    return status;
}

/* The newest search, if it did not end, with its settings; *id is 0 where there is none. */
static enum odb_status answers_newest(struct odb_store *store, sqlite3_int64 *id, char **settings,
                                      struct odb_error *err)
{
    sqlite3_stmt *stmt;
    sqlite3_int64 pid = 0;
    enum odb_status status = ODB_OK;
    *id = 0;
    *settings = NULL;
    ODB_TRY(odb_store__prepare(store, &stmt,
                               "SELECT id, settings, pid, boot FROM search WHERE ended IS NULL AND"
                               " id = (SELECT max(id) FROM search WHERE settings IS NOT NULL)",
                               err));
    if (odb_store__row(store, stmt, &status, err)) {
        pid = sqlite3_column_int64(stmt, 2);
        if (answers_in_use(pid, (const char *)sqlite3_column_text(stmt, 3))) {
            odb_fail(err, ODB_E_INPUT, "process %lld is searching with this session now",
                     (long long)pid);
            odb_error_remedy(err, "wait for its end, or keep this search in another file");
            status = odb_error_at(err, "session %s", store->path);
        } else {
            *id = sqlite3_column_int64(stmt, 0);
            *settings = odb_xstrdup((const char *)sqlite3_column_text(stmt, 1));
        }
    }
    sqlite3_finalize(stmt);
    return status;
}

enum odb_status odb_store_resume(struct odb_store *store, const char *settings, bool retry,
                                 struct odb_resumed *out, struct odb_error *err)
{
    sqlite3_int64 id;
    char *then;
    enum odb_status status = answers_newest(store, &id, &then, err);
    if (status != ODB_OK || !id)
        return status;
    ODB_STORE_HOLD(store);
    store->search = id;
    store->probe = 0;
    store->failed = ODB_OK;
    out->other = odb_settings_differ(then, settings);
    free(then);
    if (out->other) /* no search will ask for these */
        return answers_exec(store, "DELETE FROM answer WHERE search =", err);
    out->resumed = true;
    ODB_TRY(answers_sort(store, retry, out, err));
    return answers_take(store, settings, err);
}

/* Waits until a process that was killed a moment ago has had the time to end; the store is not held
 * meanwhile. */
static void answers_await_free(struct odb_store *store)
{
    sqlite3_int64 id;
    char *settings;
    for (int i = 0; i < 20; i++) {
        struct odb_error why = ODB_ERROR_INIT;
        if (answers_newest(store, &id, &settings, &why) != ODB_E_INPUT) {
            free(settings);
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

enum odb_status odb_store_start(struct odb_store *store, const char *command,
                                const struct odb_bisect_options *options, const char *settings,
                                bool retry, struct odb_resumed *out, struct odb_error *err)
{
    answers_await_free(store);
    ODB_STORE_HOLD(store);
    store->search = 0; /* nothing is put under an older one's number */
    ODB_TRY(odb_store__exec(store, "BEGIN IMMEDIATE", err)); /* of two, one is first */
    enum odb_status status = odb_store_resume(store, settings, retry, out, err);
    if (status == ODB_OK && !out->resumed)
        status = odb_store_begin(store, command, options, err);
    if (status == ODB_OK && !out->resumed)
        status = odb_store_settle(store, settings, err);
    status = odb_store__end(store, status, err);
    if (status != ODB_OK)
        store->search = 0; /* the row is rolled back: nothing may be put under its number */
    return status;
}

enum odb_status odb_store_settle(struct odb_store *store, const char *settings,
                                 struct odb_error *err)
{
    ODB_STORE_HOLD(store);
    return answers_take(store, settings, err);
}

enum odb_status odb_store_pause(struct odb_store *store, struct odb_error *err)
{
    ODB_STORE_HOLD(store);
    if (store->failed != ODB_OK) { /* what it is going to be gone on with is not all there is */
        if (err)
            *err = store->failure;
        return store->failed;
    }
    return answers_exec(store, "UPDATE search SET pid = NULL, ended = NULL WHERE id =", err);
}

enum odb_status odb_store_finish(struct odb_store *store, struct odb_error *err)
{
    ODB_STORE_HOLD(store);
    return answers_exec(store, "DELETE FROM answer WHERE search =", err);
}

/* --- answers ---------------------------------------------------------------------------------- */

static enum odb_status answers_insert(struct odb_store *store, const char *key, const char *what,
                                      int node, struct odb_error *err)
{
    sqlite3_stmt *stmt;
    char boot[64];
    answers_boot(boot);
    ODB_TRY(odb_store__prepare(store, &stmt,
                               "INSERT OR REPLACE INTO answer (search, key, text, node, boot)"
                               " VALUES (?, ?, ?, ?, ?)",
                               err));
    sqlite3_bind_int64(stmt, 1, store->search);
    odb_store__bind_text(stmt, 2, key);
    odb_store__bind_text(stmt, 3, what ? what : "");
    if (node != ODB_NO_NODE)
        sqlite3_bind_int(stmt, 4, node);
    odb_store__bind_text(stmt, 5, boot);
    enum odb_status status = odb_store__step(store, stmt, err);
    sqlite3_finalize(stmt);
    return status;
}

static void answers_begin(void *payload, const char *key, const char *what, int node)
{
    struct odb_store *store = payload;
    ODB_STORE_HOLD(store);
    if (store->failed == ODB_OK && store->search)
        store->failed = answers_insert(store, key, what, node, &store->failure);
}

/* The steps of values that have them, behind all values: which value, its axis, how many. Programs
 * that know nothing of steps do not take such an answer, and ask again. */
static void answers_encode_steps(const struct odb_answered *known, struct odb_buf *out)
{
    for (size_t i = 0; i < known->n; i++) {
        const struct odb_tensor *t = known->outputs[i];
        if (!t || !t->n_steps)
            continue;
        int64_t head[] = {(int64_t)i, t->steps_axis, (int64_t)t->n_steps};
        odb_buf_add(out, head, sizeof head);
        odb_buf_add(out, t->steps, t->n_steps * sizeof *t->steps);
    }
}

/* The values in the format of ONNX: each with its kind and its length before it. An entry that the
 * target lacks has the kind -1. */
static bool answers_encode(const struct odb_answered *known, struct odb_buf *out)
{
    for (size_t i = 0; i < known->n; i++) {
        struct odb_buf one = ODB_BUF_INIT;
        const struct odb_tensor *t = known->outputs[i];
        bool done = !t || odb_pb_encode(t, "", &one, NULL) == ODB_OK;
        int64_t head[] = {t ? (int64_t)t->kind : -1, (int64_t)one.len};
        odb_buf_add(out, head, sizeof head);
        odb_buf_add(out, odb_buf_text(&one), one.len);
        odb_buf_dispose(&one);
        if (!done)
            return false;
    }
    answers_encode_steps(known, out);
    return true;
}

static bool answers_decode_steps(const char *bytes, size_t size, struct odb_answered *out)
{
    int64_t head[3];
    while (size > sizeof head) {
        memcpy(head, bytes, sizeof head);
        bytes += sizeof head;
        size -= sizeof head;
        struct odb_tensor *t =
            head[0] >= 0 && (uint64_t)head[0] < out->n ? out->outputs[head[0]] : NULL;
        if (!t || head[2] < 1 || (uint64_t)head[2] > size / sizeof *t->steps)
            return false;
        double *steps = odb_xmemdup(bytes, (size_t)head[2] * sizeof *steps); /* aligned */
        bool fit = odb_tensor_take_steps(t, head[1], steps, (size_t)head[2]);
        free(steps);
        if (!fit)
            return false;
        bytes += (size_t)head[2] * sizeof *steps;
        size -= (size_t)head[2] * sizeof *steps;
    }
    return size == 0;
}

static bool answers_decode(const char *bytes, size_t size, struct odb_answered *out)
{
    int64_t head[2];
    out->outputs = odb_new_n(struct odb_tensor *, out->n);
    for (size_t i = 0; i < out->n; i++) {
        if (size < sizeof head)
            return false;
        memcpy(head, bytes, sizeof head);
        bytes += sizeof head;
        size -= sizeof head;
        if (head[0] < -1 || head[0] > ODB_MAP || head[1] < 0 || (uint64_t)head[1] > size)
            return false;
        if (head[0] >= 0 && odb_pb_decode(&out->outputs[i], (enum odb_kind)head[0], bytes,
                                          (size_t)head[1], NULL) != ODB_OK)
            return false;
        bytes += head[1];
        size -= (size_t)head[1];
    }
    return answers_decode_steps(bytes, size, out);
}

/* *kept: with its values, where it has any. */
static enum odb_status answers_update(struct odb_store *store, const char *key,
                                      const struct odb_answered *known, bool *kept,
                                      struct odb_error *err)
{
    struct odb_buf values = ODB_BUF_INIT;
    sqlite3_stmt *stmt;
    size_t most = ODB_MIN(ODB_ANSWERS_BYTES, store->room);
    bool had = known->outputs && odb_answers_bytes(known->outputs, known->n) <= most &&
               answers_encode(known, &values);
    *kept = had || !known->outputs;
    if (store->room != SIZE_MAX) /* else there is no bound */
        store->room -= ODB_MIN(values.len, store->room);
    enum odb_status status =
        odb_store__prepare(store, &stmt,
                           "UPDATE answer SET status = ?, what = ?, remedy = ?, n = ?, outputs = ?"
                           " WHERE search = ? AND key = ?",
                           err);
    if (status == ODB_OK) {
        sqlite3_bind_int(stmt, 1, known->status);
        odb_store__bind_text(stmt, 2, known->err.what);
        odb_store__bind_text(stmt, 3, known->err.remedy);
        sqlite3_bind_int64(stmt, 4, (sqlite3_int64)known->n);
        if (had)
            sqlite3_bind_blob64(stmt, 5, odb_buf_text(&values), values.len, SQLITE_STATIC);
        else if (known->words) /* of a question that has no values */
            odb_store__bind_text(stmt, 5, known->words);
        sqlite3_bind_int64(stmt, 6, store->search);
        odb_store__bind_text(stmt, 7, key);
        status = odb_store__step(store, stmt, err);
        sqlite3_finalize(stmt);
    }
    odb_buf_dispose(&values);
    return status;
}

static bool answers_keep(void *payload, const char *key, const struct odb_answered *known)
{
    struct odb_store *store = payload;
    bool kept = false;
    ODB_STORE_HOLD(store);
    if (store->failed == ODB_OK && store->search)
        store->failed = answers_update(store, key, known, &kept, &store->failure);
    return kept && store->failed == ODB_OK;
}

static void answers_forget(void *payload, const char *key)
{
    struct odb_store *store = payload;
    sqlite3_stmt *stmt;
    ODB_STORE_HOLD(store);
    if (store->failed != ODB_OK || !store->search)
        return;
    store->failed = odb_store__prepare(
        store, &stmt, "DELETE FROM answer WHERE search = ? AND key = ?", &store->failure);
    if (store->failed != ODB_OK)
        return;
    sqlite3_bind_int64(stmt, 1, store->search);
    odb_store__bind_text(stmt, 2, key);
    store->failed = odb_store__step(store, stmt, &store->failure);
    sqlite3_finalize(stmt);
}

/* It was running when the program ended. With the machine, by the look of it, that is a crash. */
static void answers_lost(sqlite3_stmt *stmt, struct odb_answered *out)
{
    const char *boot = (const char *)sqlite3_column_text(stmt, 4);
    char now[64];
    answers_boot(now);
    bool machine = boot && boot[0] && now[0] && strcmp(boot, now) != 0;
    odb_fail(&out->err, machine ? ODB_E_CRASH : ODB_SKIPPED, "it %s: not repeated",
             machine ? ODB_ANSWERS_MACHINE : ODB_RESUMED_RUNNING);
    odb_error_remedy(&out->err, "--retry to try it again");
    out->status = out->err.code;
}

static bool answers_read(sqlite3_stmt *stmt, struct odb_answered *out)
{
    const char *what = (const char *)sqlite3_column_text(stmt, 1);
    const char *remedy = (const char *)sqlite3_column_text(stmt, 2);
    if (sqlite3_column_int(stmt, 3)) {
        answers_lost(stmt, out);
        return true;
    }
    if (sqlite3_column_type(stmt, 0) == SQLITE_NULL)
        return false;
    out->status = (enum odb_status)sqlite3_column_int(stmt, 0);
    out->n = (size_t)sqlite3_column_int64(stmt, 5);
    if (out->status != ODB_OK) {
        const char *words = (const char *)sqlite3_column_text(stmt, 6);
        out->words = words ? odb_xstrdup(words) : NULL;
        odb_fail(&out->err, out->status, "%s", what ? what : "?");
        if (remedy && *remedy)
            odb_error_remedy(&out->err, "%s", remedy);
        return true;
    }
    const char *bytes = sqlite3_column_blob(stmt, 6);
    size_t size = (size_t)sqlite3_column_bytes(stmt, 6);
    return bytes && answers_decode(bytes, size, out);
}

static bool answers_find(void *payload, const char *key, struct odb_answered *out)
{
    struct odb_store *store = payload;
    sqlite3_stmt *stmt;
    ODB_STORE_HOLD(store);
    if (!store->search ||
        odb_store__prepare(store, &stmt,
                           "SELECT status, what, remedy, lost, boot, n, outputs FROM answer"
                           " WHERE search = ? AND key = ?",
                           NULL) != ODB_OK)
        return false;
    sqlite3_bind_int64(stmt, 1, store->search);
    odb_store__bind_text(stmt, 2, key);
    bool found = sqlite3_step(stmt) == SQLITE_ROW && answers_read(stmt, out);
    sqlite3_finalize(stmt);
    if (!found)
        odb_answered_dispose(out);
    return found;
}

void odb_store_answers(struct odb_store *store, struct odb_answers *out, size_t n)
{
    *out =
        (struct odb_answers){answers_find, answers_begin, answers_keep, answers_forget, store, n};
}
