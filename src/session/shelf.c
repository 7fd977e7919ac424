/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What searches of other targets found, put aside: going back to one shows it again, and nothing is
 * asked. Beside the target, it belongs to the reference, the tolerance and the expected type it was
 * judged by; whatever else changes (inputs, pins, golden) makes all of it meaningless. A session
 * file has it as rows, which are read when they are asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "session/session_state.h"

#define SHELF_MOST 32                   /* searches; older ones go */
#define SHELF_BYTES ((size_t)256 << 20) /* of the targets' values, which go before that */

static char *shelf_copy(const char *text)
{
    return text ? odb_xstrdup(text) : NULL;
}

static void shelf_forget(struct odb_store_search *about)
{
    struct odb_store_searches one = {0};
    odb_push(&one.list, *about);
    odb_store_searches_dispose(&one);
    *about = (struct odb_store_search){.first = ODB_NO_NODE};
}

void odb_session__describe(struct odb_session *session, int64_t when)
{
    const struct odb_report *report = session->report;
    const struct odb_culprit *first =
        report && report->culprits.n ? &report->culprits.items[0] : NULL;
    shelf_forget(&session->shown);
    if (!report)
        return;
    session->shown =
        (struct odb_store_search){.target = shelf_copy(report->target),
                                  .reference = shelf_copy(report->reference),
                                  .tolerance = shelf_copy(report->tolerance),
                                  .expect = shelf_copy(report->expect),
                                  .outcome = odb_report_outcome(report),
                                  .ended = report->complete,
                                  .when = when,
                                  .culprits = report->culprits.n,
                                  .first = first ? first->node : ODB_NO_NODE,
                                  .kind = first ? odb_diagnosis_name(first->kind) : NULL};
    odb_session__is_of(session, report->target);
}

void odb_session__is_of(struct odb_session *session, const char *target)
{
    char *of = shelf_copy(target); /* which may be what was there */
    free(session->of);
    session->of = of;
}

const char *odb_session_of(const struct odb_session *session)
{
    return session->of;
}

/* --- what is of what -------------------------------------------------------------------------- */

static bool shelf_same_text(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

static bool shelf_same(const struct odb_store_search *a, const struct odb_store_search *b)
{
    return shelf_same_text(a->target, b->target) && shelf_same_text(a->reference, b->reference) &&
           shelf_same_text(a->tolerance, b->tolerance) && shelf_same_text(a->expect, b->expect);
}

/* Where it is; shelf.n: nowhere. */
static size_t shelf_find(const struct odb_session *session, const struct odb_store_search *of)
{
    size_t i = 0;
    while (i < session->shelf.n && !shelf_same(&session->shelf.items[i].about, of))
        i++;
    return i;
}

/* --- putting aside ---------------------------------------------------------------------------- */

static void shelf_drop_given(struct odb_tensor **given, size_t n)
{
    for (size_t i = 0; given && i < n; i++) {
        odb_tensor_unref(given[i]);
        given[i] = NULL;
    }
}

static void shelf_dispose(struct odb_shelved *s, size_t n_values)
{
    shelf_forget(&s->about);
    shelf_drop_given(s->given, n_values);
    odb_report_free(s->report);
    odb_groups_dispose(&s->groups);
    odb_account_dispose(&s->account);
    for (size_t i = 0; i < s->log.n; i++)
        odb_probe_log_dispose(&s->log.items[i]);
    free(s->log.items);
    free(s->given);
    free(s->took);
    odb_room_free(s->values);
    free(s->culprits);
}

static void shelf_remove(struct odb_session *session, size_t at)
{
    size_t after = --session->shelf.n - at;
    memmove(&session->shelf.items[at], &session->shelf.items[at + 1],
            after * sizeof *session->shelf.items);
}

void odb_session__unshelve(struct odb_session *session, const struct odb_store_search *of)
{
    size_t at = of ? shelf_find(session, of) : 0;
    while (at < session->shelf.n) {
        shelf_dispose(&session->shelf.items[at], session->model->graph->n_values);
        shelf_remove(session, at);
        at = of ? session->shelf.n : 0;
    }
    if (of)
        return;
    free(session->shelf.items);
    session->shelf.items = NULL;
    session->shelf.cap = 0;
}

/* The values of the oldest go first, and then what is told of them. */
static void shelf_bound(struct odb_session *session)
{
    size_t bytes = 0, n = session->model->graph->n_values;
    for (size_t i = session->shelf.n; i > 0; i--) {
        struct odb_shelved *s = &session->shelf.items[i - 1];
        for (size_t v = 0; s->given && v < n; v++)
            bytes += s->given[v] && s->given[v]->kind == ODB_TENSOR ? s->given[v]->bytes : 0;
        if (bytes <= SHELF_BYTES || !s->report)
            continue;
        shelf_drop_given(s->given, n);
        shelf_drop_given(s->report->given, n);
    }
    if (session->shelf.n > SHELF_MOST) {
        shelf_dispose(&session->shelf.items[0], n);
        shelf_remove(session, 0);
    }
}

void odb_session__shelve(struct odb_session *session)
{
    const struct odb_graph *graph = session->model->graph;
    if (!session->report)
        return;
    odb_session__unshelve(session, &session->shown);
    struct odb_shelved s = {.about = session->shown,
                            .report = session->report,
                            .stored = session->stored,
                            .values = session->values,
                            .given = session->given,
                            .took = session->took,
                            .culprits = session->culprits,
                            .groups = session->groups,
                            .account = session->account};
    s.log.items = session->log.items;
    s.log.n = session->log.n;
    s.log.cap = session->log.cap;
    odb_push(&session->shelf, s);
    session->shown = (struct odb_store_search){.first = ODB_NO_NODE};
    session->report = NULL;
    session->values = odb_room_n(struct odb_value_report, graph->n_values + 1);
    session->given = odb_new_n(struct odb_tensor *, graph->n_values + 1);
    session->took = odb_new_n(double, graph->n_nodes + 1);
    session->culprits = odb_new_n(int, graph->n_nodes + 1);
    session->groups = (struct odb_groups){0};
    session->account = (struct odb_account)ODB_ACCOUNT_INIT;
    session->log.items = NULL;
    session->log.n = session->log.cap = 0;
    shelf_bound(session);
}

/* --- showing it again ------------------------------------------------------------------------- */

/* What was found of a search in the file becomes what is shown. */
static void shelf_take_stored(struct odb_session *session, struct odb_report *report)
{
    size_t n = session->model->graph->n_values;
    session->report = report;
    session->stored = true;
    if (n)
        memcpy(session->values, report->values, n * sizeof *session->values);
    odb_session__index_culprits(session);
}

static void shelf_take_whole(struct odb_session *session, struct odb_shelved *s)
{
    odb_room_free(session->values);
    free(session->given);
    free(session->took);
    free(session->culprits);
    free(session->log.items);
    session->report = s->report;
    session->stored = s->stored;
    session->values = s->values;
    session->given = s->given;
    session->took = s->took;
    session->culprits = s->culprits;
    session->groups = s->groups;
    session->account = s->account;
    session->log.items = s->log.items;
    session->log.n = s->log.n;
    session->log.cap = s->log.cap;
}

static enum odb_status shelf_show(struct odb_session *session, size_t at, struct odb_error *err)
{
    struct odb_report *read = NULL;
    struct odb_shelved s = session->shelf.items[at];
    if (!s.report)
        ODB_TRY(odb_store_read(session->store, s.about.search, &read, err));
    if (!s.report && !read)
        return odb_fail(err, ODB_E_INPUT, "the session file has no such search any more");
    odb_session__close_walk(session);
    odb_session_lock(session);
    shelf_remove(session, at);
    odb_session__shelve(session);
    odb_session__drop_verdicts(session);
    if (read)
        shelf_take_stored(session, read);
    else
        shelf_take_whole(session, &s);
    session->shown = s.about;
    odb_session__is_of(session, s.about.target);
    session->generation++;
    odb_session_unlock(session);
    odb_session_wake(session);
    return ODB_OK;
}

size_t odb_session_n_known(const struct odb_session *session)
{
    return session->shelf.n + (session->report != NULL);
}

const struct odb_store_search *odb_session_known(const struct odb_session *session, size_t i)
{
    if (session->report && !i--)
        return &session->shown;
    return &session->shelf.items[session->shelf.n - 1 - i].about;
}

enum odb_status odb_session_show_known(struct odb_session *session, size_t i, struct odb_error *err)
{
    if (session->report && !i--)
        return ODB_OK;
    return shelf_show(session, session->shelf.n - 1 - i, err);
}

enum odb_status odb_session_turn(struct odb_session *session, const struct odb_store_search *to,
                                 bool feeds, struct odb_error *err)
{
    odb_session__close_walk(session);
    odb_session_lock(session);
    odb_session__shelve(session);
    odb_session__drop_verdicts(session);
    if (feeds)
        odb_session__unfeed(session);
    odb_session_unlock(session);
    size_t at = shelf_find(session, to);
    if (at < session->shelf.n)
        return shelf_show(session, at, err);
    odb_session_wake(session);
    return ODB_OK;
}

/* --- of a file -------------------------------------------------------------------------------- */

/* Searches with other inputs than the newest one's are of no use beside it. */
enum odb_status odb_session__read_shelf(struct odb_session *session, struct odb_error *err)
{
    struct odb_store_searches found;
    enum odb_status status = odb_store_searches(session->store, &found, err);
    for (size_t i = 0; i < found.list.n; i++) {
        struct odb_store_search *one = &found.list.items[i], *newest = &found.list.items[0];
        bool fits = one->target && one->reference && !strcmp(one->others, newest->others);
        if (i && fits && session->shelf.n < SHELF_MOST && !shelf_same(one, newest) &&
            shelf_find(session, one) == session->shelf.n) {
            odb_push(&session->shelf, (struct odb_shelved){.about = *one});
            *one = (struct odb_store_search){0};
        }
    }
    for (size_t i = 0, k = session->shelf.n; i + 1 < k--; i++) { /* the oldest first */
        struct odb_shelved first = session->shelf.items[i];
        session->shelf.items[i] = session->shelf.items[k];
        session->shelf.items[k] = first;
    }
    odb_session__describe(session, found.list.n ? found.list.items[0].when : 0);
    odb_store_searches_dispose(&found);
    return status;
}
