/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/ahead.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/probe_int.h"
#include "system/thread.h"

#define AHEAD_RUNS 5    /* the first included */
#define AHEAD_CHEAP 0.1 /* seconds of a run: of longer ones the first repetition is all */

/* A question; the thread of the pool has it until its task was waited for or forgotten. */
struct ahead_answer {
    struct odb_ahead *ahead;
    struct odb_probe_cut *cut;  /* owned; NULL: there is none */
    struct odb_pool_task *task; /* NULL: neither waited for nor to be forgotten */
    bool asked, ran;
};

struct odb_ahead {
    pthread_t thread;
    char *spec;                   /* owned */
    struct odb_ahead_whole whole; /* model NULL: nothing is run */
    struct odb_feeds *feeds;      /* owned: the threads' own view of what is fed */
    struct odb_search_hooks hooks;
    atomic_bool stopping; /* the owner does not wait for the pool any more */
    pthread_mutex_t lock; /* guards opened */
    pthread_cond_t turn;
    bool opened; /* or it could not be */
    /* The thread's until opened, and then the owner's. */
    struct odb_pool *pool; /* borrowed once it was handed over; NULL: not opened */
    bool handed;
    enum odb_status status;
    struct odb_error err;
    struct odb_prober prober; /* of the questions */
    struct ahead_answer answers[AHEAD_RUNS];
    size_t n, claimed;
};

static bool ahead_cancelled(void *payload)
{
    const struct odb_ahead *ahead = payload;
    return atomic_load(&ahead->stopping) ||
           odb_hooks_cancelled(&ahead->hooks, NULL) == ODB_CANCELLED;
}

/* --- by threads ------------------------------------------------------------------------------- */

/* Of several one after the other, in the thread of the pool. */
static void ahead_work(void *arg, struct odb_target *target)
{
    struct ahead_answer *answer = arg;
    const struct ahead_answer *all = answer->ahead->answers;
    size_t i = (size_t)(answer - all);
    if (i > 0 && !all[i - 1].ran)
        return;
    if (i > 1 && odb_probe__seconds(all[i - 1].cut) > AHEAD_CHEAP)
        return;
    answer->ran = odb_probe__ask(answer->cut, target) == ODB_OK;
    answer->asked = true;
}

static void ahead_run(struct odb_ahead *ahead)
{
    const struct odb_search_hooks silent = {.cancelled = ahead_cancelled, .payload = ahead};
    odb_prober_init(&ahead->prober, ahead->whole.model, ahead->feeds, NULL, ahead->pool, silent);
    for (size_t i = 0; i <= ODB_MIN(ahead->whole.again, (size_t)AHEAD_RUNS - 1); i++) {
        struct ahead_answer *answer = &ahead->answers[i];
        *answer =
            (struct ahead_answer){.ahead = ahead, .cut = odb_probe__whole(&ahead->prober, i == 0)};
        answer->task = answer->cut ? odb_pool_begin(ahead->pool, ahead_work, answer) : NULL;
        if (!answer->task)
            break;
        ahead->n++;
    }
}

static void *ahead_thread(void *arg)
{
    struct odb_ahead *ahead = arg;
    ahead->status = odb_pool_open(&ahead->pool, ahead->spec, ahead_cancelled, ahead, &ahead->err);
    if (ahead->status == ODB_OK && ahead->whole.model && odb_pool_workers(ahead->pool) == 1)
        ahead_run(ahead);
    pthread_mutex_lock(&ahead->lock);
    ahead->opened = true;
    pthread_cond_signal(&ahead->turn);
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

/* --- its owner -------------------------------------------------------------------------------- */

/* The same numbers under heads of their own: those of the caller are his thread's, which copies
 * them whole. False: something that is fed is no tensor. */
static bool ahead_feeds(struct odb_ahead *ahead, const struct odb_ahead_whole *whole)
{
    bool all = true;
    ahead->feeds = odb_feeds_new(whole->model);
    for (size_t i = 0; i < whole->feeds->n && all; i++) {
        const struct odb_feed *feed = &whole->feeds->items[i];
        const struct odb_tensor *t = feed->tensor;
        struct odb_tensor *own = NULL;
        all =
            t->kind == ODB_TENSOR && odb_tensor_reshape(&own, t, t->rank, t->dims, NULL) == ODB_OK;
        if (all)
            odb_feeds_add(ahead->feeds, feed->value, own, "");
        odb_tensor_unref(own);
    }
    return all;
}

struct odb_ahead *odb_ahead_begin(const char *spec, const struct odb_ahead_whole *whole,
                                  const struct odb_search_hooks *hooks)
{
    struct odb_ahead *ahead = odb_new(struct odb_ahead);
    bool limited = hooks->budget && hooks->budget->memory;
    *ahead = (struct odb_ahead){.spec = odb_xstrdup(spec), .hooks = *hooks, .err = ODB_ERROR_INIT};
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->turn, NULL);
    if (whole && !limited && ahead_feeds(ahead, whole))
        ahead->whole = *whole;
    if (odb_thread_start(&ahead->thread, ahead_thread, ahead))
        return ahead;
    ahead->opened = ahead->handed = true;
    odb_ahead_free(ahead);
    return NULL;
}

bool odb_ahead_is(const struct odb_ahead *ahead, const char *spec)
{
    return ahead && !ahead->handed && !strcmp(ahead->spec, spec);
}

/* The hooks are asked all the while: the one who watches is told that time goes on. */
static void ahead_wait(struct odb_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->opened) {
        (void)odb_thread_await(&ahead->turn, &ahead->lock);
        pthread_mutex_unlock(&ahead->lock);
        (void)ahead_cancelled(ahead);
        pthread_mutex_lock(&ahead->lock);
    }
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
}

enum odb_status odb_ahead_pool(struct odb_ahead *ahead, struct odb_pool **out,
                               struct odb_error *err)
{
    ahead_wait(ahead);
    ahead->handed = true;
    *out = ahead->pool;
    if (ahead->status != ODB_OK && err)
        *err = ahead->err;
    return ahead->status;
}

struct odb_probe_cut *odb_ahead_claim(struct odb_ahead *ahead, const struct odb_probe_cut *asked)
{
    struct ahead_answer *answer = &ahead->answers[ahead->claimed];
    if (ahead->claimed < ahead->n && odb_probe__same(answer->cut, asked)) {
        odb_pool_wait(ahead->pool, answer->task);
        answer->task = NULL;
        ahead->claimed++;
        if (answer->asked)
            return answer->cut;
    }
    odb_ahead_end(ahead);
    return NULL;
}

static void ahead_forgotten(void *arg)
{
    struct ahead_answer *answer = arg;
    odb_probe__cut_free(answer->cut);
    answer->cut = NULL;
}

void odb_ahead_end(struct odb_ahead *ahead)
{
    for (size_t i = ahead ? ahead->claimed : 0; ahead && i < ahead->n; i++)
        odb_pool_forget(ahead->pool, ahead->answers[i].task, ahead_forgotten);
    if (ahead)
        ahead->claimed = ahead->n;
}

void odb_ahead_free(struct odb_ahead *ahead)
{
    if (!ahead)
        return;
    atomic_store(&ahead->stopping, true);
    if (!ahead->handed) {
        ahead_wait(ahead);
        odb_ahead_end(ahead);
        odb_pool_close(ahead->pool);
    }
    for (size_t i = 0; i < AHEAD_RUNS; i++)
        if (ahead->answers[i].cut)
            odb_probe__cut_free(ahead->answers[i].cut);
    odb_prober_dispose(&ahead->prober);
    odb_feeds_free(ahead->feeds);
    pthread_mutex_destroy(&ahead->lock);
    pthread_cond_destroy(&ahead->turn);
    free(ahead->spec);
    free(ahead);
}
