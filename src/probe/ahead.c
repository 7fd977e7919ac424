/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/ahead.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/probe_int.h"
#include "system/thread.h"

#define AHEAD_CHEAP 0.1 /* seconds of a run: of longer ones the first repetition is all */

struct ahead_answer {
    struct odb_probe_cut *cut;     /* owned */
    struct odb_target_stats spent; /* for it */
};

struct odb_ahead {
    pthread_t thread;
    bool joined;
    char *spec; /* owned */
    const struct odb_model *model;
    const struct odb_feeds *feeds;
    struct odb_search_hooks hooks;
    size_t again;         /* repetitions at most */
    atomic_bool wanted;   /* somebody waits for the pool */
    atomic_bool stopping; /* and nobody will */
    /* Of the thread until it is joined. */
    struct odb_pool *pool; /* owned until it is handed over; NULL: not opened */
    enum odb_status status;
    struct odb_error err;
    ODB_VEC(struct ahead_answer) answers;
    size_t claimed;
};

static bool ahead_cancelled(void *payload)
{
    const struct odb_ahead *ahead = payload;
    return atomic_load(&ahead->stopping) ||
           odb_hooks_cancelled(&ahead->hooks, NULL) == ODB_CANCELLED;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Asks once more, and keeps what that came to. False: it failed, or took too long to go on. */
static bool ahead_ask(struct odb_ahead *ahead, struct odb_probe_cut *cut)
{
    struct odb_target *target = odb_pool_target(ahead->pool);
    struct odb_target_stats before = odb_target_stats(target);
    enum odb_status status = odb_probe__ask(cut, target);
    struct ahead_answer answer = {cut, odb_target_stats(target)};
    odb_target_stats_less(&answer.spent, &before);
    odb_push(&ahead->answers, answer);
    return status == ODB_OK && answer.spent.run_seconds <= AHEAD_CHEAP;
}

static void ahead_run(struct odb_ahead *ahead)
{
    struct odb_prober prober;
    const struct odb_search_hooks silent = {.cancelled = ahead_cancelled, .payload = ahead};
    odb_prober_init(&prober, ahead->model, ahead->feeds, NULL, ahead->pool, silent);
    struct odb_probe_cut *cut = odb_probe__whole(&prober, true);
    bool more = cut && ahead_ask(ahead, cut);
    for (size_t i = 0; i < ahead->again && more && !atomic_load(&ahead->wanted); i++)
        more = !ahead_cancelled(ahead) && ahead_ask(ahead, odb_probe__whole(&prober, false));
    odb_prober_dispose(&prober);
}

static void *ahead_thread(void *arg)
{
    struct odb_ahead *ahead = arg;
    ahead->status =
        odb_pool_open(&ahead->pool, ahead->spec, ahead_cancelled, ahead, &ahead->err);
    if (ahead->status == ODB_OK && ahead->model)
        ahead_run(ahead);
    return NULL;
}

/* --- its owner -------------------------------------------------------------------------------- */

struct odb_ahead *odb_ahead_begin(const char *spec, const struct odb_ahead_whole *whole,
                                  const struct odb_search_hooks *hooks)
{
    struct odb_ahead *ahead = odb_new(struct odb_ahead);
    bool limited = hooks->budget && hooks->budget->memory;
    *ahead = (struct odb_ahead){.spec = odb_xstrdup(spec), .hooks = *hooks, .err = ODB_ERROR_INIT};
    if (whole && !limited) {
        ahead->model = whole->model;
        ahead->feeds = whole->feeds;
        ahead->again = whole->again;
    }
    if (odb_thread_start(&ahead->thread, ahead_thread, ahead))
        return ahead;
    free(ahead->spec);
    free(ahead);
    return NULL;
}

static void ahead_join(struct odb_ahead *ahead)
{
    if (!ahead->joined)
        pthread_join(ahead->thread, NULL);
    ahead->joined = true;
}

bool odb_ahead_is(const struct odb_ahead *ahead, const char *spec)
{
    return ahead && !ahead->joined && !strcmp(ahead->spec, spec);
}

enum odb_status odb_ahead_pool(struct odb_ahead *ahead, struct odb_pool **out,
                               struct odb_error *err)
{
    atomic_store(&ahead->wanted, true);
    ahead_join(ahead);
    *out = ahead->pool;
    ahead->pool = NULL;
    if (ahead->status != ODB_OK && err)
        *err = ahead->err;
    return ahead->status;
}

struct odb_target_stats odb_ahead_unclaimed(const struct odb_ahead *ahead)
{
    struct odb_target_stats sum = {0};
    for (size_t i = ahead->claimed; i < ahead->answers.n; i++)
        odb_target_stats_add(&sum, &ahead->answers.items[i].spent);
    return sum;
}

struct odb_probe_cut *odb_ahead_claim(struct odb_ahead *ahead, const struct odb_probe_cut *asked)
{
    if (ahead->claimed < ahead->answers.n &&
        odb_probe__same(ahead->answers.items[ahead->claimed].cut, asked))
        return ahead->answers.items[ahead->claimed++].cut;
    ahead->claimed = ahead->answers.n; /* from now on the target runs something else */
    return NULL;
}

void odb_ahead_free(struct odb_ahead *ahead)
{
    if (!ahead)
        return;
    atomic_store(&ahead->stopping, true);
    ahead_join(ahead);
    odb_pool_close(ahead->pool);
    for (size_t i = 0; i < ahead->answers.n; i++)
        odb_probe__cut_free(ahead->answers.items[i].cut);
    free(ahead->answers.items);
    free(ahead->spec);
    free(ahead);
}
