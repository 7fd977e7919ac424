/* SPDX-License-Identifier: MIT
 *
 * One lock guards the queue and what each worker is at. A target belongs to its worker's thread
 * while that is busy, and otherwise to the owner, which may claim it.
 *
 * A worker whose target cannot be opened is retired for good. One whose link was lost is away: it
 * takes nothing as long as there is any other, and tries again when there is none, so that the last
 * one says why nothing can be had any more.
 */
#include "executor/transport/target_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/temporary.h"
#include "base/mem.h"
#include "executor/transport/link.h"
#include "system/thread.h"

/* A child has a scratch folder, and one that is started in its place a second for a moment. */
_Static_assert(ODB_TEMPORARY_MOST >= 2 * ODB_POOL_MOST + 64, "scratch folders would be forgotten");

struct odb_pool_task {
    void (*work)(void *arg, struct odb_target *target);
    void *arg;
    void (*drop)(void *arg); /* set: forgotten */
    struct odb_target_stats spent;
    bool done;
    struct odb_pool_task *next; /* in the queue */
};

struct pool_worker {
    struct odb_pool *pool;         /* borrowed */
    char *spec;                    /* owned */
    struct odb_target *target;     /* owned; NULL: not opened yet */
    struct odb_target_stats stats; /* when its task began; for reading while it is busy */
    pthread_t thread;
    bool busy;
    bool retired; /* its target cannot be opened */
    bool away;    /* its link was lost for good, as far as is known */
};

struct odb_pool {
    struct pool_worker *workers; /* owned */
    size_t n_workers;
    size_t n_threads;       /* 0, or n_workers */
    char *description;      /* owned: of the first when it was opened, as it may be another later */
    pthread_mutex_t asking; /* guards the next two, also while they are called */
    bool (*cancelled)(void *payload);
    void *payload; /* borrowed: for cancelled */
    atomic_bool stopping;

    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct odb_pool_task *queue;   /* the first */
    struct pool_worker *claimed;   /* by the owner; takes no tasks */
    struct odb_target_stats apart; /* of tasks that are done and were not waited for */
    char trouble[600];             /* of the first that is out */
    char gone[600];                /* why none is left; "": one is */
};

static bool pool_cancelled(void *payload)
{
    struct odb_pool *pool = payload;
    pthread_mutex_lock(&pool->asking); /* the owner does not change them before the answer */
    bool cancelled = pool->cancelled && pool->cancelled(pool->payload);
    pthread_mutex_unlock(&pool->asking);
    return cancelled || atomic_load(&pool->stopping);
}

static enum odb_status pool_open_target(struct pool_worker *w, struct odb_error *err)
{
    struct odb_pool *pool = w->pool;
    struct odb_target *target;
    if (w->target)
        return ODB_OK;
    ODB_TRY(odb_target_open_until(&target, w->spec, pool_cancelled, pool, err));
    w->target = target;
    return ODB_OK;
}

/* --- who is out; the lock is held ------------------------------------------------------------- */

static bool pool_well(const struct pool_worker *w)
{
    return !w->retired && !w->away;
}

/* Whether any worker but this one (NULL: whether any) is well. */
static bool pool_others(const struct odb_pool *pool, const struct pool_worker *but)
{
    for (size_t i = 0; i < pool->n_workers; i++)
        if (&pool->workers[i] != but && pool_well(&pool->workers[i]))
            return true;
    return false;
}

static void pool_out(struct odb_pool *pool, const char *why)
{
    if (!pool->trouble[0])
        snprintf(pool->trouble, sizeof pool->trouble, "%s", why);
    pthread_cond_broadcast(&pool->work);
}

static void pool_retire(struct pool_worker *w, const struct odb_error *why)
{
    char text[sizeof w->pool->trouble] = "";
    w->retired = true;
    if (why->code != ODB_CANCELLED) /* else nothing more is asked */
        odb_error_text(why, text, sizeof text);
    pool_out(w->pool, text);
}

/* Whether its target's link was lost in the last call, and another worker can do that. */
static bool pool_lost(struct pool_worker *w)
{
    const char *why = odb_target_away(w->target);
    bool others = pool_others(w->pool, w);
    w->away = why != NULL;
    snprintf(w->pool->gone, sizeof w->pool->gone, "%s", why && !others ? why : "");
    if (!why || !others)
        return false;
    pool_out(w->pool, why);
    return true;
}

/* --- a worker's thread ------------------------------------------------------------------------ */

static bool pool_may_take(const struct pool_worker *w)
{
    const struct odb_pool *pool = w->pool;
    return pool->queue && pool->claimed != w && (!w->away || !pool_others(pool, NULL));
}

/* The next task, NULL when there will be none; the lock is held. */
static struct odb_pool_task *pool_take(struct pool_worker *w)
{
    struct odb_pool *pool = w->pool;
    while (!atomic_load(&pool->stopping) && !w->retired && !pool_may_take(w))
        pthread_cond_wait(&pool->work, &pool->lock);
    bool ends = atomic_load(&pool->stopping) || w->retired;
    struct odb_pool_task *task = ends ? NULL : pool->queue;
    if (task)
        pool->queue = task->next;
    w->busy = task != NULL;
    w->stats = w->target ? odb_target_stats(w->target) : (struct odb_target_stats){0};
    return task;
}

/* Leaves the task to another worker; the lock is held. */
static void pool_leave(struct odb_pool *pool, struct odb_pool_task *task)
{
    if (task->drop) {
        task->drop(task->arg);
        free(task);
    } else {
        task->next = pool->queue;
        pool->queue = task;
    }
    pthread_cond_broadcast(&pool->work);
}

/* The lock is held. */
static void pool_done(const struct pool_worker *w, struct odb_pool_task *task)
{
    task->done = true;
    task->spent = odb_target_stats(w->target);
    odb_target_stats_less(&task->spent, &w->stats);
    if (task->drop) {
        task->drop(task->arg);
        free(task);
    } else {
        odb_target_stats_add(&w->pool->apart, &task->spent);
    }
}

static void *pool_thread(void *arg)
{
    struct pool_worker *w = arg;
    struct odb_pool *pool = w->pool;
    struct odb_pool_task *task;
    pthread_mutex_lock(&pool->lock);
    while (!w->retired && (task = pool_take(w))) {
        struct odb_error err = ODB_ERROR_INIT;
        pthread_mutex_unlock(&pool->lock);
        enum odb_status opened = pool_open_target(w, &err);
        if (opened == ODB_OK)
            task->work(task->arg, w->target);
        pthread_mutex_lock(&pool->lock);
        w->busy = false;
        if (opened != ODB_OK)
            pool_retire(w, &err);
        if (opened != ODB_OK || pool_lost(w))
            pool_leave(pool, task);
        else
            pool_done(w, task);
        pthread_cond_broadcast(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Without a thread for the first of them there are none, and only the owner is at work. */
static void pool_start_threads(struct odb_pool *pool)
{
    for (size_t i = 0; i < pool->n_workers && pool->n_threads == i; i++)
        if (odb_thread_start(&pool->workers[i].thread, pool_thread, &pool->workers[i]))
            pool->n_threads++;
    size_t wanted = pool->n_workers;
    pool->n_workers = pool->n_threads ? pool->n_threads : 1;
    for (size_t i = pool->n_workers; i < wanted; i++)
        free(pool->workers[i].spec);
}

/* --- public ----------------------------------------------------------------------------------- */

struct pool_count {
    double n;
    enum odb_status status;
    struct odb_error *err;
};

static bool pool_count_visit(const struct odb_spec *spec, void *payload)
{
    struct pool_count *count = payload;
    count->status = odb_spec_whole(spec, "workers", 1, ODB_POOL_MOST, &count->n, count->err);
    return count->status == ODB_OK && !odb_spec_option(spec, "workers");
}

/* workers= may stand in the spec of a wrapper or in what it wraps; the outermost counts. *out keeps
 * its value where there is none. */
static enum odb_status pool_count(const char *spec, double *out, struct odb_error *err)
{
    struct pool_count count = {*out, ODB_OK, err};
    ODB_TRY(odb_spec_walk(spec, pool_count_visit, &count, err));
    *out = count.n;
    return count.status;
}

static struct odb_pool *pool_new(const struct odb_spec *spec, size_t n)
{
    struct odb_pool *pool = odb_new(struct odb_pool);
    pool->workers = odb_new_n(struct pool_worker, n);
    pool->n_workers = n;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_mutex_init(&pool->asking, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    for (size_t i = 0; i < n; i++) {
        pool->workers[i].pool = pool;
        pool->workers[i].spec = odb_link_spec(spec, i % odb_link_count(spec));
    }
    return pool;
}

/* Opens one target, and has its worker stand first. Of several places those that cannot be had are
 * passed over; when there is none, the first says why. */
static enum odb_status pool_open_first(struct odb_pool *pool, size_t places, struct odb_error *err)
{
    enum odb_status status = pool_open_target(&pool->workers[0], err);
    bool none = status == ODB_E_EXECUTOR || status == ODB_E_TIMEOUT ||
                status == ODB_E_IO; /* it is silent */
    for (size_t i = 0; none && status != ODB_OK && i + 1 < ODB_MIN(places, pool->n_workers); i++) {
        struct odb_error other = ODB_ERROR_INIT;
        for (size_t k = i; k < pool->n_workers; k += places)
            pool_retire(&pool->workers[k], i ? &other : err);
        if (pool_open_target(&pool->workers[i + 1], &other) != ODB_OK)
            continue;
        struct pool_worker first = pool->workers[i + 1];
        pool->workers[i + 1] = pool->workers[0];
        pool->workers[0] = first;
        status = ODB_OK;
    }
    return status;
}

enum odb_status odb_pool_open(struct odb_pool **out, const char *text, bool (*cancelled)(void *),
                              void *payload, struct odb_error *err)
{
    struct odb_spec *spec;
    struct odb_pool *pool = NULL;
    ODB_TRY(odb_spec_parse(&spec, text, err));
    size_t places = odb_link_count(spec);
    double n = (double)places;
    enum odb_status status = pool_count(text, &n, err);
    if (status == ODB_OK) {
        pool = pool_new(spec, (size_t)n);
        odb_pool_set_cancel(pool, cancelled, payload);
        status = pool_open_first(pool, places, err);
    }
    odb_spec_free(spec);
    if (status != ODB_OK) {
        odb_pool_close(pool);
        return status;
    }
    pool->description = odb_xstrdup(odb_target_description(pool->workers[0].target));
    if (n > 1)
        pool_start_threads(pool);
    *out = pool;
    return ODB_OK;
}

void odb_pool_stop(struct odb_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->stopping, true);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->n_threads; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pool->n_threads = 0;
}

void odb_pool_dismiss(struct odb_pool *pool)
{
    if (!pool)
        return;
    odb_pool_stop(pool);
    for (size_t i = 0; i < pool->n_workers; i++)
        if (pool->workers[i].target)
            odb_target_dismiss(pool->workers[i].target);
}

void odb_pool_close(struct odb_pool *pool)
{
    if (!pool)
        return;
    odb_pool_dismiss(pool); /* all at once */
    for (size_t i = 0; i < pool->n_workers; i++) {
        odb_target_close(pool->workers[i].target);
        free(pool->workers[i].spec);
    }
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->asking);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->done);
    free(pool->workers);
    free(pool->description);
    free(pool);
}

void odb_pool_set_cancel(struct odb_pool *pool, bool (*cancelled)(void *), void *payload)
{
    pthread_mutex_lock(&pool->asking);
    pool->cancelled = cancelled;
    pool->payload = payload;
    pthread_mutex_unlock(&pool->asking);
}

const char *odb_pool_spec(const struct odb_pool *pool)
{
    return pool->workers[0].spec;
}

const struct odb_capabilities *odb_pool_capabilities(const struct odb_pool *pool)
{
    return odb_target_capabilities(pool->workers[0].target);
}

const char *odb_pool_description(const struct odb_pool *pool)
{
    return pool->description;
}

bool odb_pool_beside(const struct odb_pool *pool)
{
    return pool->n_workers == 1 && odb_target_beside(pool->workers[0].target);
}

bool odb_pool_accounts(const struct odb_pool *pool)
{
    return odb_target_accounts(pool->workers[0].target);
}

bool odb_pool_recorded(const struct odb_pool *pool)
{
    return odb_target_recorded(pool->workers[0].target);
}

size_t odb_pool_workers(const struct odb_pool *pool)
{
    return pool->n_workers;
}

size_t odb_pool_idle(struct odb_pool *pool)
{
    size_t idle = 0;
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < pool->n_threads; i++)
        idle += !pool->workers[i].busy && pool_well(&pool->workers[i]);
    for (struct odb_pool_task *task = pool->queue; task && idle; task = task->next)
        idle--;
    pthread_mutex_unlock(&pool->lock);
    return idle;
}

/* One for the owner, who has none: one that is open, or else, where the others are out, one that
 * was not needed so far, or at last one that is away. NULL: they are busy. The lock is held. */
static struct pool_worker *pool_find(struct odb_pool *pool)
{
    struct pool_worker *unopened = NULL, *away = NULL;
    bool busy = false;
    for (size_t i = 0; i < pool->n_workers; i++) {
        struct pool_worker *w = &pool->workers[i];
        if (w->target && !w->busy && pool_well(w))
            return w;
        busy |= w->busy;
        if (!w->busy && !w->target && !w->retired)
            unopened = unopened ? unopened : w;
        if (!w->busy && w->target && w->away)
            away = w;
    }
    return busy ? NULL : unopened ? unopened : away;
}

/* Opens it for the owner, who has claimed it; the lock is held, and let go meanwhile. */
static void pool_open_claimed(struct odb_pool *pool)
{
    struct pool_worker *w = pool->claimed;
    struct odb_error err = ODB_ERROR_INIT;
    pthread_mutex_unlock(&pool->lock);
    enum odb_status status = pool_open_target(w, &err);
    pthread_mutex_lock(&pool->lock);
    if (status == ODB_OK)
        return;
    pool_retire(w, &err);
    pool->claimed = NULL;
}

struct odb_target *odb_pool_target(struct odb_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (!pool->claimed) {
        pool->claimed = pool_find(pool);
        if (!pool->claimed)
            pthread_cond_wait(&pool->done, &pool->lock);
        else
            pool_open_claimed(pool);
    }
    struct odb_target *target = pool->claimed->target;
    pthread_mutex_unlock(&pool->lock);
    return target;
}

bool odb_pool_elsewhere(struct odb_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool lost = pool->claimed && pool_lost(pool->claimed);
    if (lost)
        pool->claimed = NULL;
    pthread_mutex_unlock(&pool->lock);
    return lost;
}

/* everybody: the owner's own target too. */
static struct odb_pool_task *pool_queue(struct odb_pool *pool, bool everybody,
                                        void (*work)(void *arg, struct odb_target *target),
                                        void *arg)
{
    if (!pool->n_threads) /* it was the owner's alone */
        pool_start_threads(pool);
    if (!pool->n_threads)
        return NULL;
    struct odb_pool_task *task = odb_new(struct odb_pool_task);
    task->work = work;
    task->arg = arg;
    pthread_mutex_lock(&pool->lock);
    struct odb_pool_task **end = &pool->queue;
    while (*end)
        end = &(*end)->next;
    *end = task;
    if (everybody)
        pool->claimed = NULL;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    return task;
}

struct odb_pool_task *odb_pool_begin(struct odb_pool *pool,
                                     void (*work)(void *arg, struct odb_target *target), void *arg)
{
    return pool_queue(pool, true, work, arg);
}

struct odb_pool_task *odb_pool_begin_beside(struct odb_pool *pool,
                                            void (*work)(void *arg, struct odb_target *target),
                                            void *arg)
{
    (void)odb_pool_target(pool);
    return pool_queue(pool, false, work, arg);
}

bool odb_pool_done(struct odb_pool *pool, const struct odb_pool_task *task)
{
    pthread_mutex_lock(&pool->lock);
    bool done = task->done;
    pthread_mutex_unlock(&pool->lock);
    return done;
}

void odb_pool_wait(struct odb_pool *pool, struct odb_pool_task *task)
{
    pthread_mutex_lock(&pool->lock);
    pool->claimed = NULL;
    pthread_cond_broadcast(&pool->work);
    while (!task->done) {
        if (odb_thread_await(&pool->done, &pool->lock))
            continue;
        pthread_mutex_unlock(&pool->lock);
        (void)pool_cancelled(pool); /* the one who is asked may show that time goes on */
        pthread_mutex_lock(&pool->lock);
    }
    odb_target_stats_less(&pool->apart, &task->spent);
    pthread_mutex_unlock(&pool->lock);
    free(task);
}

void odb_pool_forget(struct odb_pool *pool, struct odb_pool_task *task, void (*drop)(void *arg))
{
    pthread_mutex_lock(&pool->lock);
    struct odb_pool_task **at = &pool->queue;
    while (*at && *at != task)
        at = &(*at)->next;
    bool running = !*at && !task->done;
    if (*at)
        *at = task->next;
    if (running)
        task->drop = drop;
    odb_target_stats_less(&pool->apart, &task->spent);
    pthread_mutex_unlock(&pool->lock);
    if (!running) {
        drop(task->arg);
        free(task);
    }
}

struct odb_target_stats odb_pool_stats(struct odb_pool *pool)
{
    struct odb_target_stats sum = {0};
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < pool->n_workers; i++) {
        const struct pool_worker *w = &pool->workers[i];
        if (!w->busy && !w->target)
            continue;
        struct odb_target_stats one = w->busy ? w->stats : odb_target_stats(w->target);
        odb_target_stats_add(&sum, &one);
    }
    odb_target_stats_less(&sum, &pool->apart);
    pthread_mutex_unlock(&pool->lock);
    return sum;
}

void odb_pool_price(struct odb_pool *pool, double *load, double *run)
{
    const struct odb_capabilities *can = odb_pool_capabilities(pool);
    struct odb_target_stats stats = odb_pool_stats(pool);
    *load = odb_capabilities_compile(can);
    *run = odb_capabilities_run(can);
    if (*load < 0)
        *load = stats.load_seconds / (double)ODB_MAX(stats.loads, (size_t)1);
    if (*run < 0)
        *run = stats.run_seconds / (double)ODB_MAX(stats.runs, (size_t)1);
}

const char *odb_pool_gone(struct odb_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    const char *gone = pool->gone[0] ? pool->gone : NULL;
    pthread_mutex_unlock(&pool->lock);
    return gone;
}

const char *odb_pool_trouble(struct odb_pool *pool)
{
    pthread_mutex_lock(&pool->lock); /* written once, before this can see it */
    const char *trouble = pool->trouble;
    pthread_mutex_unlock(&pool->lock);
    return trouble;
}
