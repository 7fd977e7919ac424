/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/ahead.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "probe/probe_int.h"
#include "system/thread.h"

#define AHEAD_FREE 0.01    /* seconds of a run: of such there are */
#define AHEAD_RUNS_FREE 12 /* at least */
#define AHEAD_CHEAP 0.1    /* likewise */
#define AHEAD_RUNS_CHEAP 5
#define AHEAD_RUNS 2       /* of others */
#define AHEAD_RUNS_MOST 24 /* what is wrong in one of three is missed once in 16,000 times */
#define AHEAD_SEARCH 3     /* times the reference: the search as far as golden, as a rule */
#define AHEAD_MOST (2 * AHEAD_RUNS_MOST + 2)

/* A question; the thread of the pool has it until its task was waited for or forgotten. */
struct ahead_answer {
    enum ahead_question { AHEAD_PLAIN, AHEAD_AGAIN, AHEAD_ACCOUNT, AHEAD_ALL } question;
    struct odb_ahead *ahead;
    struct odb_probe_cut *cut;  /* owned; NULL: of the account, and if there is none */
    struct odb_pool_task *task; /* NULL: neither waited for nor to be forgotten */
    double search;              /* AGAIN: seconds of the search that are known; 0: none */
    bool asked;
    bool ended;                 /* with it: nothing behind it is asked */
    struct odb_account account; /* owned */
    enum odb_status status;     /* of the account */
    struct odb_error err;
};

struct odb_ahead {
    pthread_t thread;
    char *spec;                   /* owned */
    struct odb_ahead_whole whole; /* model NULL: nothing is run */
    double begun;                 /* odb_clock() */
    struct odb_feeds *feeds;      /* owned: the threads' own view of what is fed */
    struct odb_search_hooks hooks;
    atomic_bool stopping; /* the owner does not wait for the pool any more */
    atomic_bool moved;    /* another model than the plain one was loaded */
    pthread_mutex_t lock; /* guards opened */
    pthread_cond_t turn;
    bool opened; /* or it could not be */
    /* The thread's until opened, and then the owner's. */
    struct odb_pool *pool; /* borrowed once it was handed over; NULL: not opened */
    bool handed;
    enum odb_status status;
    struct odb_error err;
    bool later;               /* runs are repeated when every value was read */
    struct odb_prober prober; /* of the plain questions, */
    struct odb_prober reader; /* and of the one that reads all */
    struct ahead_answer answers[AHEAD_MOST];
    size_t n, claimed;
    /* The pool's thread's. */
    size_t runs;               /* of the plain model */
    double run;                /* seconds of the last of them */
    struct odb_tensor **plain; /* owned refs; [n_plain] what the first of them gave */
    size_t n_plain;
    bool failed; /* a question did, or runs differ: nothing more is asked */
    bool dear;   /* the account is: so is said with the first answer, and stays so */
};

size_t odb_ahead_fits(double run, double seconds)
{
    double once = fmax(run, 1e-4), fit = ODB_AHEAD_SHARE * fmax(seconds, 0) / once;
    size_t least = once <= AHEAD_FREE    ? AHEAD_RUNS_FREE
                   : once <= AHEAD_CHEAP ? AHEAD_RUNS_CHEAP
                                         : AHEAD_RUNS;
    return fit >= AHEAD_RUNS_MOST ? AHEAD_RUNS_MOST : ODB_MAX((size_t)fit, least);
}

static bool ahead_cancelled(void *payload)
{
    const struct odb_ahead *ahead = payload;
    return atomic_load(&ahead->stopping) ||
           odb_hooks_cancelled(&ahead->hooks, NULL) == ODB_CANCELLED;
}

/* --- by threads ------------------------------------------------------------------------------- */

/* Whether one more run of the plain model is wanted. */
static bool ahead_wants(const struct odb_ahead *ahead, const struct ahead_answer *answer)
{
    return ahead->runs < (ahead->whole.runs  ? ahead->whole.runs
                          : ahead->runs == 1 ? AHEAD_RUNS
                                             : odb_ahead_fits(ahead->run, answer->search));
}

/* Keeps what the first run gave, and holds each repetition against it. Of a target that gives other
 * bits what it runs, and how often, is the search's to say: nothing more is asked. */
static void ahead_compare(struct odb_ahead *ahead, const struct ahead_answer *answer)
{
    size_t n;
    struct odb_tensor *const *had = odb_probe__answer(answer->cut, &n);
    if (answer->question == AHEAD_PLAIN) {
        ahead->plain = odb_new_n(struct odb_tensor *, n + 1);
        for (; ahead->n_plain < n; ahead->n_plain++)
            ahead->plain[ahead->n_plain] = odb_tensor_ref(had[ahead->n_plain]);
    }
    for (size_t i = 0; answer->question == AHEAD_AGAIN && i < n; i++)
        if (!had[i] != !ahead->plain[i] ||
            (had[i] && !odb_tensor_identical(had[i], ahead->plain[i])))
            ahead->failed = true;
}

static void ahead_run(struct ahead_answer *answer, struct odb_target *target)
{
    struct odb_ahead *ahead = answer->ahead;
    if (answer->question == AHEAD_AGAIN && !ahead_wants(ahead, answer))
        return;
    if (answer->question == AHEAD_ALL)
        atomic_store(&ahead->moved, true);
    ahead->failed = odb_probe__ask(answer->cut, target) != ODB_OK;
    if (!ahead->failed)
        ahead_compare(ahead, answer);
    ahead->run = odb_probe__seconds(answer->cut);
    ahead->runs += answer->question != AHEAD_ALL;
    if (answer->question == AHEAD_PLAIN) /* which is loaded first */
        ahead->dear =
            odb_target_accounts(target) && odb_probe_account_is_dear(ahead->spec, ahead->run);
    answer->asked = true;
}

/* One that is dear is asked by the search, if at all. */
static void ahead_account(struct ahead_answer *answer, struct odb_target *target)
{
    struct odb_ahead *ahead = answer->ahead;
    ahead->failed = ahead->dear;
    if (ahead->dear || !odb_target_accounts(target))
        return;
    answer->status = odb_target_account(target, &answer->account, &answer->err);
    answer->asked = true;
}

/* Of several one after the other, in the thread of the pool. */
static void ahead_work(void *arg, struct odb_target *target)
{
    struct ahead_answer *answer = arg;
    if (!answer->ahead->failed && answer->question == AHEAD_ACCOUNT)
        ahead_account(answer, target);
    else if (!answer->ahead->failed)
        ahead_run(answer, target);
    answer->ended = answer->ahead->failed;
}

/* Queues it. cut: NULL: there is nothing to ask. False: nothing more can be. */
static bool ahead_ask(struct odb_ahead *ahead, enum ahead_question question,
                      struct odb_probe_cut *cut, double search)
{
    struct ahead_answer *answer = &ahead->answers[ahead->n];
    *answer = (struct ahead_answer){
        .question = question, .ahead = ahead, .cut = cut, .search = search, .err = ODB_ERROR_INIT};
    if (cut || question == AHEAD_ACCOUNT)
        answer->task = odb_pool_begin(ahead->pool, ahead_work, answer);
    ahead->n += answer->task != NULL;
    if (!answer->task && cut) {
        odb_probe__cut_free(cut);
        answer->cut = NULL;
    }
    return answer->task != NULL;
}

static void ahead_ask_again(struct odb_ahead *ahead, double search)
{
    size_t most = ahead->whole.runs ? ahead->whole.runs
                  : search > 0      ? AHEAD_RUNS_MOST
                                    : AHEAD_RUNS_FREE;
    for (size_t i = 1; i < ODB_MIN(most, (size_t)AHEAD_RUNS_MOST); i++)
        if (!ahead_ask(ahead, AHEAD_AGAIN, odb_probe__whole(&ahead->prober, false, ahead->later),
                       search))
            break;
}

static struct odb_search_hooks ahead_silent(struct odb_ahead *ahead)
{
    return (struct odb_search_hooks){.cancelled = ahead_cancelled, .payload = ahead};
}

static void *ahead_thread(void *arg)
{
    struct odb_ahead *ahead = arg;
    ahead->status = odb_pool_open(&ahead->pool, ahead->spec, ahead_cancelled, ahead, &ahead->err);
    if (ahead->status == ODB_OK && ahead->whole.model && odb_pool_workers(ahead->pool) == 1) {
        odb_prober_init(&ahead->prober, ahead->whole.model, ahead->feeds, NULL, ahead->pool,
                        ahead_silent(ahead));
        ahead->later = ahead->whole.reads && ahead->whole.runs <= AHEAD_RUNS_MOST &&
                       odb_probe_keeps_file(&ahead->prober);
        if (ahead_ask(ahead, AHEAD_PLAIN, odb_probe__whole(&ahead->prober, true, false), 0) &&
            !ahead->later)
            ahead_ask_again(ahead, 0);
    }
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
    *ahead = (struct odb_ahead){
        .spec = odb_xstrdup(spec), .hooks = *hooks, .begun = odb_clock(), .err = ODB_ERROR_INIT};
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

static bool ahead_opened(struct odb_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    bool opened = ahead->opened;
    pthread_mutex_unlock(&ahead->lock);
    return opened;
}

bool odb_ahead_opened(struct odb_ahead *ahead)
{
    return ahead && !ahead->handed && ahead_opened(ahead) && ahead->status == ODB_OK;
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

bool odb_ahead_read(struct odb_ahead *ahead, const struct odb_trace *trace)
{
    if (!ahead_opened(ahead))
        return false;
    if (ahead->handed || !ahead->n || !ahead->whole.reads || ahead->whole.runs > AHEAD_RUNS_MOST)
        return true;
    odb_prober_init(&ahead->reader, ahead->whole.model, ahead->feeds, trace, ahead->pool,
                    ahead_silent(ahead));
    struct odb_probe_cut *all = odb_probe__all(&ahead->reader, ahead->whole.memory, ahead->later);
    double search = AHEAD_SEARCH * (odb_clock() - ahead->begun);
    bool waited = ahead->later;
    ahead->later = waited && all; /* else for nothing */
    if (!ahead->later && (waited || (all && !ahead->whole.runs)))
        ahead_ask_again(ahead, search);
    if (!all)
        return true;
    (void)ahead_ask(ahead, AHEAD_ACCOUNT, NULL, 0);
    (void)ahead_ask(ahead, AHEAD_ALL, all, 0);
    if (ahead->later)
        ahead_ask_again(ahead, search);
    return true;
}

static void ahead_await(struct odb_ahead *ahead, struct ahead_answer *answer)
{
    if (answer->task)
        odb_pool_wait(ahead->pool, answer->task);
    answer->task = NULL;
}

/* The first that was not claimed and is one to the question; those without an answer are none.
 * NULL: no. asked: NULL: the account. */
static struct ahead_answer *ahead_find(struct odb_ahead *ahead, const struct odb_probe_cut *asked)
{
    for (size_t i = ahead->claimed; i < ahead->n; i++) {
        struct ahead_answer *answer = &ahead->answers[i];
        bool is = asked ? answer->cut && odb_probe__same(answer->cut, asked)
                        : answer->question == AHEAD_ACCOUNT;
        while (is && ahead->claimed <= i)
            ahead_await(ahead, &ahead->answers[ahead->claimed++]);
        if (is && answer->asked)
            return answer;
    }
    odb_ahead_end(ahead);
    return NULL;
}

struct odb_probe_cut *odb_ahead_claim(struct odb_ahead *ahead, const struct odb_probe_cut *asked)
{
    struct ahead_answer *answer = ahead_find(ahead, asked);
    if (answer && answer->question == AHEAD_ALL)
        atomic_store(&ahead->moved, false);
    return answer ? answer->cut : NULL;
}

size_t odb_ahead_again(struct odb_ahead *ahead)
{
    size_t n = 0;
    if (!ahead || ahead->claimed == ahead->n)
        return SIZE_MAX;
    if (!ahead->later && ahead->answers[ahead->n - 1].question != AHEAD_ALL)
        return SIZE_MAX;
    ahead_await(ahead, &ahead->answers[0]); /* who says whether the account is dear */
    bool ended = ahead->dear;
    for (size_t i = ahead->claimed; i < ahead->n && ahead->answers[i].question == AHEAD_AGAIN;
         i++) {
        ahead_await(ahead, &ahead->answers[i]); /* what follows may be under way */
        n += ahead->answers[i].asked;
        ended |= ahead->answers[i].ended;
    }
    return ended ? SIZE_MAX : n;
}

bool odb_ahead_account(struct odb_ahead *ahead, struct odb_account *account,
                       enum odb_status *status, struct odb_error *err)
{
    struct ahead_answer *answer = ahead ? ahead_find(ahead, NULL) : NULL;
    if (!answer)
        return false;
    odb_account_dispose(account);
    *account = answer->account;
    answer->account = (struct odb_account){0};
    *status = answer->status;
    if (answer->status != ODB_OK)
        *err = answer->err;
    return true;
}

bool odb_ahead_moved(struct odb_ahead *ahead)
{
    return ahead && atomic_exchange(&ahead->moved, false);
}

static void ahead_forgotten(void *arg)
{
    struct ahead_answer *answer = arg;
    if (answer->cut)
        odb_probe__cut_free(answer->cut);
    answer->cut = NULL;
}

void odb_ahead_end(struct odb_ahead *ahead)
{
    for (size_t i = ahead ? ahead->claimed : 0; ahead && i < ahead->n; i++)
        if (ahead->answers[i].task)
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
    for (size_t i = 0; i < AHEAD_MOST; i++) {
        odb_account_dispose(&ahead->answers[i].account);
        if (ahead->answers[i].cut)
            odb_probe__cut_free(ahead->answers[i].cut);
    }
    for (size_t i = 0; i < ahead->n_plain; i++)
        odb_tensor_unref(ahead->plain[i]);
    free(ahead->plain);
    odb_prober_dispose(&ahead->reader);
    odb_prober_dispose(&ahead->prober);
    odb_feeds_free(ahead->feeds);
    pthread_mutex_destroy(&ahead->lock);
    pthread_cond_destroy(&ahead->turn);
    free(ahead->spec);
    free(ahead);
}
