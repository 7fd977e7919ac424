/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/session_state.h"

#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/reference_from.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "system/blocks.h"
#include "encodings/encodings.h"
#include "explain/own/own_rows.h"
#include "session/identity.h"
#include "model/read/load.h"
#include "report/step_rows.h"

/* --- opening and closing ---------------------------------------------------------------------- */

/* Thousands of nodes may be culprits, and a screen asks for each of them in every frame. */
void odb_session__index_culprits(struct odb_session *session)
{
    const struct odb_report *report = session->report;
    memset(session->culprits, 0, session->model->graph->n_nodes * sizeof *session->culprits);
    for (size_t i = report ? report->culprits.n : 0; i > 0; i--)
        session->culprits[report->culprits.items[i - 1].node] = (int)i;
}

static void session_read_steps(struct odb_session *session)
{
    struct odb_step_rows *steps = session->report ? odb_step_rows_read(session->report) : NULL;
    if (!steps)
        return;
    odb_step_rows_free(session->steps);
    session->steps = steps;
}

static enum odb_status session_restore(struct odb_session *session, const char *path,
                                       struct odb_error *err)
{
    size_t n = session->model->graph->n_values;
    ODB_TRY(odb_store_open(&session->store, path, session->model, err));
    ODB_TRY(odb_store_read(session->store, 0, &session->report, err));
    if (session->report && n)
        memcpy(session->values, session->report->values, n * sizeof *session->values);
    session->stored = session->report != NULL;
    session->generation += session->stored;
    session_read_steps(session);
    odb_session__index_culprits(session);
    ODB_TRY(odb_session__read_shelf(session, err));
    ODB_TRY(odb_session__read_bookmarks(session, err));
    ODB_TRY(odb_session_annotations_restore(session, err));
    ODB_TRY(odb_store_kernels(session->store, &session->missing_kernels, err));
    if (session->missing_kernels && session->report)
        odb_report_warn(session->report, ODB_SESSION_KERNELS, session->missing_kernels);
    return ODB_OK;
}

enum odb_status odb_session_open_take(struct odb_session **out, struct odb_model *model,
                                      const char *path, struct odb_error *err)
{
    struct odb_session *session = odb_new(struct odb_session);
    session->model = model;
    session->values = odb_room_n(struct odb_value_report, model->graph->n_values + 1);
    session->given = odb_new_n(struct odb_tensor *, model->graph->n_values + 1);
    session->took = odb_new_n(double, model->graph->n_nodes + 1);
    session->breaks = odb_new_n(bool, model->graph->n_nodes + 1);
    session->tags = odb_new_n(unsigned char, model->graph->n_nodes + 1);
    session->culprits = odb_new_n(int, model->graph->n_nodes + 1);
    session->at = session->resume = ODB_NO_NODE;
    session->claim = -1;
    session->generation = 1;
    session->account = (struct odb_account)ODB_ACCOUNT_INIT;
    pthread_mutex_init(&session->lock, NULL);
    enum odb_status status = odb_cpu_new(&session->cpu, model, err);
    if (status == ODB_OK && path)
        status = session_restore(session, path, err);
    if (status == ODB_OK)
        *out = session;
    else
        odb_session_close(session);
    return status;
}

static void session_drop_log(struct odb_session *session)
{
    for (size_t i = 0; i < session->log.n; i++)
        odb_probe_log_dispose(&session->log.items[i]);
    session->log.n = 0;
}

/* What the target has said. */
static void session_drop_values(struct odb_session *session)
{
    size_t n = session->model->graph->n_values;
    for (size_t v = 0; v < n; v++)
        odb_tensor_unref(session->given[v]);
    memset(session->given, 0, n * sizeof *session->given);
    if (session->generation > 1) {
        odb_room_free(session->values);
        session->values = odb_room_n(struct odb_value_report, n + 1);
        session->generation++;
    }
    memset(session->took, 0, session->model->graph->n_nodes * sizeof *session->took);
    session_drop_log(session);
    session->at = ODB_NO_NODE;
}

/* And what was made of it. */
void odb_session__drop_verdicts(struct odb_session *session)
{
    session_drop_values(session);
    odb_report_free(session->report);
    session->report = NULL;
    session->stored = false;
    odb_session__describe(session, 0);
    odb_session__is_of(session, NULL);
    odb_groups_dispose(&session->groups);
    odb_account_dispose(&session->account);
    odb_session__index_culprits(session);
}

void odb_session_leave(struct odb_session *session)
{
    while (session->inside)
        session->inside = odb_inside_leave(session->inside);
}

void odb_session__close_walk(struct odb_session *session)
{
    odb_session_leave(session);
    odb_walk_close(session->walk);
    free(session->walk_target);
    session->walk = NULL;
    session->walk_target = NULL;
}

static void session_drop_trace(struct odb_session *session)
{
    odb_trace_free(session->trace);
    free(session->trace_key);
    session->trace = NULL;
    session->trace_key = NULL;
}

static void session_drop_memory(struct odb_session *session)
{
    odb_memory_free(session->memory);
    free(session->memory_settings);
    session->memory = NULL;
    session->memory_settings = NULL;
    session->answers = (struct odb_answers){0};
}

void odb_session_close(struct odb_session *session)
{
    if (!session)
        return;
    odb_session__close_walk(session);
    odb_session__drop_verdicts(session);
    session_drop_trace(session);
    session_drop_memory(session);
    for (size_t i = 0; i < session->encodings.n; i++)
        odb_encodings_free(session->encodings.items[i]);
    free(session->encodings.items);
    for (size_t i = 0; i < session->own_rows.n; i++)
        odb_own_rows_free(session->own_rows.items[i]);
    free(session->own_rows.items);
    odb_session__forget_learnt(session);
    odb_feeds_free(session->feeds);
    odb_resumed_dispose(&session->resumed);
    odb_store_close(session->store);
    if (session->claim >= 0)
        close(session->claim);
    odb_step_rows_free(session->steps);
    free(session->unsaved);
    free(session->of);
    odb_cpu_free(session->cpu);
    pthread_mutex_destroy(&session->lock);
    odb_session__unshelve(session, NULL);
    free(session->missing_kernels);
    free(session->log.items);
    free(session->culprits);
    free(session->breaks);
    free(session->bookmarks.items);
    free(session->tags);
    odb_annotation_list_dispose(&session->annotations);
    free(session->given);
    free(session->took);
    odb_room_free(session->values);
    odb_model_free((struct odb_model *)session->model);
    free(session);
}

void odb_session_lock(const struct odb_session *session)
{
    pthread_mutex_lock((pthread_mutex_t *)&session->lock);
}

void odb_session_unlock(const struct odb_session *session)
{
    pthread_mutex_unlock((pthread_mutex_t *)&session->lock);
}

void odb_session_wake(struct odb_session *session)
{
    if (session->wake)
        session->wake(session->wake_payload);
}

/* --- a file that was not asked for ------------------------------------------------------------ */

void odb_session__tell_unsaved(struct odb_session *session, const struct odb_error *why)
{
    char text[600];
    odb_session_lock(session);
    if (!session->told)
        session->unsaved = odb_xasprintf("the session is not saved by itself: %s",
                                         odb_error_text(why, text, sizeof text));
    session->told = true;
    odb_session_unlock(session);
    odb_session_wake(session);
}

enum odb_status odb_session__wrote(struct odb_session *session, enum odb_status status,
                                   struct odb_error *err)
{
    if (status == ODB_OK || !session->by_itself)
        return status;
    struct odb_error none = ODB_ERROR_INIT;
    odb_session__tell_unsaved(session, err);
    *err = none;
    return ODB_OK;
}

char *odb_session_take_unsaved(const struct odb_session *session)
{
    struct odb_session *s = (struct odb_session *)session;
    odb_session_lock(s);
    char *text = s->unsaved;
    s->unsaved = NULL;
    odb_session_unlock(s);
    return text;
}

const char *odb_session_path(const struct odb_session *session)
{
    return session->store ? odb_store_path(session->store) : NULL;
}

/* --- events ----------------------------------------------------------------------------------- */

static void session_probe_begin(struct odb_session *session, const struct odb_search_event *event)
{
    struct odb_probe_log entry;
    if (!session->log.n)
        session->log_began = session->progress.began;
    odb_probe_log_begin(&entry, session->model->graph, event, odb_clock() - session->log_began);
    odb_push(&session->log, entry);
}

static void session_probe_end(struct odb_session *session, const struct odb_search_event *event)
{
    if (session->log.n)
        odb_probe_log_end(&session->log.items[session->log.n - 1], session->model->graph, event);
    for (size_t i = 0; event->times && i < event->times->list.n; i++) {
        const struct odb_took *one = &event->times->list.items[i];
        if (one->node < 0 || (size_t)one->node >= session->model->graph->n_nodes ||
            !(one->seconds > 0 && isfinite(one->seconds)))
            continue;
        double *took = &session->took[one->node];
        *took = *took > 0 ? fmin(*took, one->seconds) : one->seconds;
    }
}

static void session_advance(struct odb_session *session, const struct odb_search_event *event)
{
    struct odb_search_progress *progress = &session->progress;
    if (event->what == ODB_EVENT_PHASE) {
        odb_text_fit(progress->phase, sizeof progress->phase, "%s", event->text ? event->text : "");
        progress->phase_began = odb_clock();
    }
    progress->done = event->done;
    progress->total = event->total;
}

void odb_session_start(struct odb_session *session)
{
    odb_session_lock(session);
    session->progress = (struct odb_search_progress){.began = odb_clock()};
    odb_session_unlock(session);
}

void odb_session_event(struct odb_session *session, const struct odb_search_event *event)
{
    if (session->store)
        odb_store_event(session->store, event);
    odb_session_lock(session);
    switch (event->what) {
    case ODB_EVENT_PROBE_BEGIN:
        session_probe_begin(session, event);
        break;
    case ODB_EVENT_PROBE_END:
        session->progress.loaded += event->loads;
        session_probe_end(session, event);
        break;
    case ODB_EVENT_PHASE:
    case ODB_EVENT_PROGRESS:
        session_advance(session, event);
        break;
    case ODB_EVENT_VALUE:
        session->values[event->value] = *event->report;
        session->generation++;
        break;
    case ODB_EVENT_FORECAST:
        session->progress.expected = event->seconds;
        session->progress.loads = event->loads;
        break;
    case ODB_EVENT_SUSPECTS:
        session->progress.left = event->remaining;
        session->progress.first_left = event->node;
        session->progress.last_left = event->last;
        break;
    }
    odb_session_unlock(session);
    odb_session_wake(session);
}

/* --- what is computed once -------------------------------------------------------------------- */

void odb_session_forget(struct odb_session *session)
{
    odb_session__close_walk(session);
    odb_session_lock(session);
    odb_session__drop_verdicts(session);
    odb_session__unshelve(session, NULL);
    odb_session_unlock(session);
    odb_session_wake(session);
}

/* Caller holds the lock. */
static void session_refeed(struct odb_session *session, struct odb_feeds *feeds)
{
    session_drop_trace(session);
    odb_feeds_free(session->feeds);
    session->feeds = feeds;
}

void odb_session__unfeed(struct odb_session *session)
{
    session_drop_memory(session);
    session_refeed(session, NULL);
}

void odb_session_feed_take(struct odb_session *session, struct odb_feeds *feeds)
{
    odb_session__close_walk(session);
    session_drop_memory(session);
    odb_session_lock(session);
    if (session->feeds || !feeds) { /* what a file remembers was found with the first ones */
        odb_session__drop_verdicts(session);
        odb_session__unshelve(session, NULL);
    }
    session_refeed(session, feeds);
    odb_session_unlock(session);
    odb_session_wake(session);
}

void odb_session_refeed_take(struct odb_session *session, struct odb_feeds *feeds)
{
    odb_session__close_walk(session);
    odb_session_lock(session);
    if (session->feeds) /* what was put aside was found with these */
        odb_session__unshelve(session, NULL);
    session_refeed(session, feeds);
    odb_session_unlock(session);
    odb_session_wake(session);
}

/* The walk goes on with another trace from where values are pinned otherwise, else it ends. */
static void session_move_walk(struct odb_session *session, struct odb_trace *trace)
{
    if (session->walk && session->resume != ODB_NO_NODE)
        odb_walk_retrace(session->walk, trace, session->resume);
    else
        odb_session__close_walk(session);
}

enum odb_status odb_session_encodings(struct odb_session *session, const char *path,
                                      const struct odb_encodings **out, struct odb_error *err)
{
    struct odb_encodings *made;
    ODB_TRY(odb_encodings_read(&made, path, err));
    for (size_t i = 0; i < session->encodings.n; i++) {
        struct odb_encodings *had = session->encodings.items[i];
        if (strcmp(had->sha256, made->sha256) != 0 || strcmp(had->path, made->path) != 0)
            continue;
        odb_encodings_free(made);
        *out = had;
        return ODB_OK;
    }
    odb_push(&session->encodings, made);
    *out = made;
    return ODB_OK;
}

enum odb_status odb_session_own_rows(struct odb_session *session, const char *path,
                                     const struct odb_own_rows **out, struct odb_error *err)
{
    struct odb_own_rows *made;
    ODB_TRY(odb_own_rows_read(&made, path, err));
    odb_push(&session->own_rows, made);
    *out = made;
    return ODB_OK;
}

/* What the reference's values depend on, but for the inputs. Owned by the caller. */
static char *session_key(const struct odb_session *session,
                         const struct odb_bisect_options *options)
{
    struct odb_buf key = ODB_BUF_INIT, pins = ODB_BUF_INIT;
    odb_session_lock(session);
    odb_session_put_pins(session, &pins);
    odb_session_unlock(session);
    odb_buf_puts(&key, odb_buf_text(&pins));
    odb_buf_dispose(&pins);
    odb_session__identify_pins(session, &key);
    odb_buf_printf(&key, "%s|%s|%s%s|%llu\n", options->reference,
                   options->golden ? options->golden : "", options->expect ? options->expect : "",
                   options->encodings ? options->encodings->sha256 : "",
                   (unsigned long long)options->seed);
    odb_identity_put_spec(options->reference, &key);
    odb_identity_put_spec(options->golden, &key);
    return odb_buf_take(&key);
}

enum odb_status odb_session_trace(struct odb_session *session, struct odb_trace **out,
                                  const struct odb_bisect_options *options, struct odb_error *err)
{
    struct odb_trace_options how;
    struct odb_trace *trace;
    struct odb_session_pins pins = {0};
    char *key = session_key(session, options);
    enum odb_status status = ODB_OK;
    if (session->trace && !strcmp(session->trace_key, key)) {
        *out = session->trace;
        goto out;
    }
    ODB_TRY_OUT(odb_bisect_trace_options(options, &how, err));
    ODB_TRY_OUT(odb_session__pins(session, options->reference, &pins, err));
    how.pins = pins.list.items;
    how.n_pins = pins.list.n;
    how.cpu = session->cpu;
    ODB_TRY_OUT(odb_reference_make(&trace, session->model, session->feeds, &how, err));
    session_move_walk(session, trace);
    odb_session_lock(session);
    session_drop_trace(session);
    *out = session->trace = trace;
    session->trace_key = key;
    session->resume = ODB_NO_NODE;
    key = NULL;
    session->generation++;
    odb_session_unlock(session);
    odb_session_wake(session);
out:
    odb_session__pins_dispose(&pins);
    free(key);
    return status;
}

/* --- a search --------------------------------------------------------------------------------- */

static void session_identify_feeds(const struct odb_session *session, struct odb_buf *out)
{
    for (size_t i = 0; session->feeds && i < session->feeds->n; i++) {
        odb_buf_printf(out, "%d ", session->feeds->items[i].value);
        odb_answers_put_tensor(out, session->feeds->items[i].tensor);
    }
}

/* What two searches must have in common for the answers to the one to be of use to the other. Owned
 * by the caller. */
static char *session_settings(const struct odb_session *session,
                              const struct odb_bisect_options *options, const char *inputs)
{
    struct odb_buf out = ODB_BUF_INIT, feeds = ODB_BUF_INIT;
    char text[160], hex[65];
    const char *kernels = odb_cpu_kernels();
    if (inputs)
        odb_buf_puts(&feeds, inputs);
    else
        session_identify_feeds(session, &feeds);
    odb_answers_digest(&feeds, hex);
    odb_buf_printf(&out, "target %s\nreference %s\ngolden %s\nexpect %s\ntolerance %s\n",
                   options->target, options->reference, options->golden ? options->golden : "",
                   options->expect ? options->expect : "",
                   odb_criterion_text(&options->tolerance, text, sizeof text));
    if (options->encodings)
        odb_buf_printf(&out, "encodings %s\n", options->encodings->sha256);
    odb_buf_printf(&out, "seed %llu\nkernels %s\ninputs %s\n", (unsigned long long)options->seed,
                   kernels ? kernels : "", hex);
    odb_buf_dispose(&feeds);
    struct odb_buf pins = ODB_BUF_INIT;
    odb_session_lock(session);
    odb_session_put_pins(session, &pins);
    odb_session_unlock(session);
    if (pins.len)
        odb_buf_printf(&out, "pins %s\n", odb_buf_text(&pins));
    odb_buf_dispose(&pins);
    odb_session__identify_pins(session, &out);
    odb_identity_put_common(&out);
    odb_identity_put_spec(options->target, &out);
    odb_identity_put_spec(options->reference, &out);
    odb_identity_put_spec(options->golden, &out);
    return odb_buf_take(&out);
}

/* What an equal search learnt before it was stopped, else an empty memory. */
static void session_recall(struct odb_session *session, const char *settings)
{
    if (session->memory && strcmp(session->memory_settings, settings))
        session_drop_memory(session);
    if (!session->memory) {
        session->memory = odb_memory_new();
        session->memory_settings = odb_xstrdup(settings);
    }
    odb_memory_answers(session->memory, &session->answers);
}

static enum odb_status session_begin_stored(struct odb_session *session, const char *command,
                                            const struct odb_bisect_options *options,
                                            const char *settings, bool retry, struct odb_error *err)
{
    ODB_TRY(
        odb_store_start(session->store, command, options, settings, retry, &session->resumed, err));
    odb_store_answers(session->store, &session->answers, session->resumed.n);
    return ODB_OK;
}

enum odb_status odb_session_begin(struct odb_session *session, const char *command,
                                  struct odb_bisect_options *options, const char *inputs,
                                  bool retry, struct odb_error *err)
{
    char *settings = session_settings(session, options, inputs);
    enum odb_status status = ODB_OK;
    struct odb_error why = ODB_ERROR_INIT;
    odb_session__close_walk(session);
    odb_session_lock(session);
    odb_session__shelve(session);
    odb_session__drop_verdicts(session);
    odb_session__is_of(session, options->target);
    odb_session_unlock(session);
    odb_session_wake(session);
    odb_resumed_dispose(&session->resumed);
    session->begun = session->store != NULL;
    if (session->begun) {
        status = session_begin_stored(session, command, options, settings, retry, &why);
        session->begun = status == ODB_OK;
        status = odb_session__wrote(session, status, &why);
    }
    if (!session->begun)
        session_recall(session, settings);
    if (status == ODB_OK)
        status = odb_session__wrote(
            session, odb_session__recall_learnt(session, options, retry, &why), &why);
    if (status != ODB_OK && err)
        *err = why;
    options->answers = &session->answers;
    free(settings);
    return status;
}

static void session_keep_account(struct odb_session *session, struct odb_account *account)
{
    odb_account_dispose(&session->account);
    odb_groups_dispose(&session->groups);
    session->account = *account;
    *account = (struct odb_account)ODB_ACCOUNT_INIT;
    if (odb_groups_read(&session->groups, odb_buf_text(&session->account.groups),
                        session->model->graph, NULL) != ODB_OK)
        odb_groups_dispose(&session->groups); /* a search has told of it */
}

void odb_session_account_take(struct odb_session *session, struct odb_account *account)
{
    odb_session_lock(session);
    session_keep_account(session, account);
    session->generation++;
    odb_session_unlock(session);
    odb_session_wake(session);
}

static enum odb_status session_store_end(struct odb_session *session,
                                         const struct odb_report *report, bool stopped,
                                         struct odb_error *err)
{
    ODB_TRY(odb_session__learn(session, report, err));
    if (!session->begun)
        return ODB_OK;
    ODB_TRY(odb_store_put(session->store, report, err));
    return stopped ? odb_store_pause(session->store, err) : odb_store_finish(session->store, err);
}

enum odb_status odb_session_end_take(struct odb_session *session, struct odb_report *report,
                                     bool stopped, struct odb_error *err)
{
    size_t n = session->model->graph->n_values;
    odb_session_lock(session);
    odb_report_free(session->report);
    session->report = report;
    session_read_steps(session);
    session->stored = false;
    odb_session__describe(session, (int64_t)time(NULL));
    odb_session__unshelve(session, &session->shown); /* an earlier search of the same */
    odb_session__index_culprits(session);
    for (size_t v = 0; v < n; v++) {
        if (report->values[v].verdict != ODB_VERDICT_UNTESTED)
            session->values[v] = report->values[v];
        odb_tensor_unref(session->given[v]);
        session->given[v] = odb_tensor_ref(report->given[v]);
    }
    session->generation++;
    odb_session_unlock(session);
    odb_session_wake(session);
    if (!stopped) /* a target that failed may be another one when it is asked again */
        session_drop_memory(session);
    if (session->trace)
        odb_spill_drop(session->trace->aside);
    odb_blocks_give_back(); /* for the report's text, which may be larger than all values */
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = session_store_end(session, report, stopped, &why);
    odb_session_account_take(session, &report->account); /* which the file has by now */
    status = odb_session__wrote(session, status, &why);
    if (status != ODB_OK && err)
        *err = why;
    return status;
}

/* --- a walk ----------------------------------------------------------------------------------- */

/* Whether the walk is one for these options. */
static bool session_walks(const struct odb_session *session,
                          const struct odb_bisect_options *options)
{
    char now[160], wanted[160];
    return session->walk && !strcmp(session->walk_target, options->target) &&
           !strcmp(odb_criterion_text(&session->walk->tolerance, now, sizeof now),
                   odb_criterion_text(&options->tolerance, wanted, sizeof wanted));
}

enum odb_status odb_session_walk(struct odb_session *session, struct odb_walk **out,
                                 const struct odb_bisect_options *options, bool restart,
                                 struct odb_error *err)
{
    struct odb_trace *trace;
    enum odb_status status = ODB_OK;
    ODB_TRY(odb_session_trace(session, &trace, options, err));
    bool same = session_walks(session, options);
    if (!same || restart) { /* the diagnosis of a search stays where it is of the same target */
        odb_session_lock(session);
        if (session->of && strcmp(session->of, options->target)) {
            odb_session__shelve(session);
            odb_session__drop_verdicts(session);
        }
        session_drop_values(session);
        odb_session__is_of(session, options->target);
        odb_session_unlock(session);
    }
    if (restart)
        odb_session_leave(session);
    if (same && restart)
        odb_walk_restart(session->walk);
    if (!same) {
        odb_session__close_walk(session);
        session->walk_target = odb_xstrdup(options->target);
        status = odb_walk_open(&session->walk, session->model, session->feeds, trace, options, err);
    }
    *out = session->walk;
    return status;
}

void odb_session_walked(struct odb_session *session)
{
    const struct odb_walk *walk = session->walk;
    odb_session_lock(session);
    for (size_t v = 0; v < session->model->graph->n_values; v++) {
        session->values[v] = walk->values[v];
        odb_tensor_unref(session->given[v]);
        session->given[v] = odb_tensor_ref(walk->given[v]);
    }
    session->at = walk->at;
    session->generation++;
    odb_session_unlock(session);
    odb_session_wake(session);
}

/* A node accused of an error that the tolerance allows now is no culprit any more. */
static void session_acquit(struct odb_session *session)
{
    const struct odb_report *report = session->report;
    memset(session->culprits, 0, session->model->graph->n_nodes * sizeof *session->culprits);
    for (size_t i = report ? report->culprits.n : 0; i > 0; i--) {
        const struct odb_culprit *culprit = &report->culprits.items[i - 1];
        bool by_value = culprit->value >= 0 && odb_diagnosis_accuses(culprit->kind);
        if (!by_value || session->values[culprit->value].culprit)
            session->culprits[culprit->node] = (int)i;
    }
}

enum odb_status odb_session_rejudge(struct odb_session *session,
                                    const struct odb_criterion *tolerance,
                                    const struct odb_search_hooks *hooks, struct odb_error *err)
{
    struct odb_judge judge = {session->trace, tolerance};
    char text[160];
    size_t size = session->model->graph->n_values * sizeof *session->values;
    if (!session->trace || !size)
        return ODB_OK;
    /* Judged apart: the screen sees each verdict as an event. */
    struct odb_value_report *values = odb_xmemdup(session->values, size);
    session->trace->hooks = *hooks;
    enum odb_status status = odb_rejudge(&judge, session->given, values, hooks, err);
    session->trace->hooks = (struct odb_search_hooks){0};
    free(values);
    odb_session_lock(session);
    if (status == ODB_OK) {
        session_acquit(session);
        free(session->shown.tolerance);
        session->shown.tolerance = odb_xstrdup(odb_criterion_text(tolerance, text, sizeof text));
    }
    session->generation++;
    odb_session_unlock(session);
    for (struct odb_inside *in = session->inside; in && status == ODB_OK; in = in->outer)
        status = odb_inside_rejudge(in, tolerance, hooks, err);
    if (status == ODB_OK && session->walk) { /* which goes on with it */
        memcpy(session->walk->values, session->values, size);
        session->walk->tolerance = *tolerance;
    }
    return status;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Which of a node's verdicts stands for it: the worse the higher. */
static int session_weight(const struct odb_value_report *report)
{
    if (report->culprit)
        return 4;
    if (odb_verdict_is_bad(report->verdict))
        return 3;
    return report->verdict == ODB_VERDICT_UNTESTED ? 0
           : report->verdict == ODB_VERDICT_PASS   ? 1
                                                   : 2;
}

size_t odb_session_judged(const struct odb_session *session)
{
    size_t judged = 0;
    for (size_t v = 0; v < session->model->graph->n_values; v++)
        judged += session->model->graph->values[v].producer != ODB_NO_NODE &&
                  session->values[v].verdict != ODB_VERDICT_UNTESTED;
    return judged;
}

const struct odb_value_report *odb_session_node(const struct odb_session *session, int node,
                                                int *value)
{
    static const struct odb_value_report nothing;
    const struct odb_node *n = &session->model->graph->nodes[node];
    const struct odb_value_report *worst = &nothing;
    bool blank = session->generation == 1; /* memory that was never written to is not looked at */
    int found = ODB_NO_VALUE;
    for (int o = 0; o < n->n_out; o++) {
        if (n->out[o] == ODB_NO_VALUE)
            continue;
        const struct odb_value_report *report = blank ? &nothing : &session->values[n->out[o]];
        if (found == ODB_NO_VALUE || session_weight(report) > session_weight(worst)) {
            worst = report;
            found = n->out[o];
        }
    }
    if (value)
        *value = found;
    return worst;
}

void odb_session_put_type(const struct odb_session *session, int value, struct odb_buf *out)
{
    const struct odb_value *v = &session->model->graph->values[value];
    const struct odb_tensor *t = v->init          ? v->init
                                 : session->trace ? session->trace->ref[value]
                                                  : NULL;
    if (t && t->kind == ODB_TENSOR) {
        odb_buf_printf(out, "%s[", odb_dtype_info(t->dtype)->name);
        for (int i = 0; i < t->rank; i++)
            odb_buf_printf(out, "%s%lld", i ? "," : "", (long long)t->dims[i]);
        odb_buf_putc(out, ']');
    } else if (v->type.known) {
        for (const char *p = v->type.shown; *p; p++) /* "float[1, N]", without its blanks */
            if (*p != ' ' || p == v->type.shown || p[-1] != ',')
                odb_buf_putc(out, *p);
    }
}

double odb_report_error(const struct odb_value_report *report)
{
    bool graded = report->verdict == ODB_VERDICT_FAIL || !odb_verdict_is_bad(report->verdict);
    if (!graded || (report->error.known && isnan(report->error.v)))
        return INFINITY;
    return report->error.known                   ? report->error.v
           : report->verdict == ODB_VERDICT_FAIL ? INFINITY
                                                 : 0;
}

const char *odb_session_place(const struct odb_session *session, int node)
{
    const char *name = session->model->graph->nodes[node].name;
    for (size_t i = 0; name[0] && i < session->account.places.n; i++)
        if (!strcmp(session->account.places.items[i].node, name))
            return session->account.places.items[i].where;
    return NULL;
}

double odb_session_reference_took(const struct odb_session *session, int node)
{
    return session->trace ? session->trace->took[node] : 0;
}

double odb_session_target_took(const struct odb_session *session, int node)
{
    return session->took[node];
}

const struct odb_kernel *odb_session_kernel(const struct odb_session *session, int node)
{
    return odb_groups_kernel(&session->groups, node);
}

const struct odb_culprit *odb_session_culprit(const struct odb_session *session, int node)
{
    int which = session->culprits[node];
    return which ? &session->report->culprits.items[which - 1] : NULL;
}

struct odb_tensor *odb_session_reference(const struct odb_session *session, int value)
{
    const struct odb_value *v = &session->model->graph->values[value];
    const struct odb_tensor *t = v->init;
    odb_session_lock(session);
    for (size_t i = 0; !t && session->feeds && i < session->feeds->n; i++)
        if (session->feeds->items[i].value == value)
            t = session->feeds->items[i].tensor;
    bool stale = session->resume != ODB_NO_NODE && v->producer >= session->resume;
    if (!t && session->trace && !stale)
        t = session->trace->ref[value];
    struct odb_tensor *ref = t ? odb_tensor_ref(t) : NULL;
    odb_session_unlock(session);
    return ref;
}

struct odb_tensor *odb_session_target(const struct odb_session *session, int value)
{
    odb_session_lock(session);
    struct odb_tensor *t = session->given[value];
    struct odb_tensor *ref = t ? odb_tensor_ref(t) : NULL;
    odb_session_unlock(session);
    return ref;
}

bool odb_session_gave(const struct odb_session *session)
{
    bool any = false;
    for (size_t v = 0; v < session->model->graph->n_values && !any; v++)
        any = session->given[v] != NULL;
    return any;
}

/* --- looking ---------------------------------------------------------------------------------- */

const struct odb_model *odb_session_model(const struct odb_session *session)
{
    return session->model;
}

const struct odb_cpu *odb_session_cpu(const struct odb_session *session)
{
    return session->cpu;
}

const struct odb_feeds *odb_session_feeds(const struct odb_session *session)
{
    return session->feeds;
}

const struct odb_trace *odb_session_held_trace(const struct odb_session *session)
{
    return session->trace;
}

const struct odb_report *odb_session_report(const struct odb_session *session)
{
    return session->report;
}

const struct odb_step_rows *odb_session_steps(const struct odb_session *session)
{
    return session->steps;
}

const struct odb_value_report *odb_session_values(const struct odb_session *session)
{
    return session->values;
}

const struct odb_account *odb_session_account(const struct odb_session *session)
{
    return &session->account;
}

const struct odb_search_progress *odb_session_progress(const struct odb_session *session)
{
    return &session->progress;
}

const struct odb_annotation_list *odb_session_annotations(const struct odb_session *session)
{
    return &session->annotations;
}

const bool *odb_session_breaks(const struct odb_session *session)
{
    return session->breaks;
}

const unsigned char *odb_session_tags(const struct odb_session *session)
{
    return session->tags;
}

const struct odb_inside *odb_session_inside(const struct odb_session *session)
{
    return session->inside;
}

int odb_session_at(const struct odb_session *session)
{
    return session->at;
}

unsigned long odb_session_generation(const struct odb_session *session)
{
    return session->generation;
}

double odb_session_waits(const struct odb_session *session)
{
    const struct odb_probe_log *last =
        session->log.n ? &session->log.items[session->log.n - 1] : NULL;
    return last && !last->ended ? odb_clock() - session->log_began - last->began : 0;
}

size_t odb_session_n_log(const struct odb_session *session)
{
    return session->log.n;
}

const struct odb_probe_log *odb_session_log(const struct odb_session *session, size_t i)
{
    return &session->log.items[i];
}

size_t odb_session_n_bookmarks(const struct odb_session *session)
{
    return session->bookmarks.n;
}

const struct odb_bookmark *odb_session_bookmark_at(const struct odb_session *session, size_t i)
{
    return &session->bookmarks.items[i];
}

void odb_session_set_wake(struct odb_session *session, void (*wake)(void *payload), void *payload)
{
    session->wake = wake;
    session->wake_payload = payload;
}
