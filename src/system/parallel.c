/* SPDX-License-Identifier: MIT
 *
 * Workers live as long as the process. Between loops they look out for the next one, as it mostly
 * follows at once and waking up takes longer than many loops do: for some microseconds with the
 * processor to themselves, then giving way to other threads; then they sleep. A loop is one
 * struct on the caller's stack; a thread begins with the blocks of its own part, which are the same
 * ones whenever the loop is run again (a kernel's weights stay in the cache of one processor), and
 * then helps with the others' parts. Only one loop runs at a time: a second caller (another thread,
 * or a body that loops itself) does its blocks alone.
 *
 * A worker that sleeps is woken on another processor than the caller's: a kernel that packs
 * threads, to save power or by mistake, lets them share one for milliseconds.
 *
 * No lock is taken unless a thread sleeps. A worker that counts itself busy before it reads
 * pool.loop, and a caller that takes the loop away before it waits until none is busy, cannot miss
 * each other, and neither can a thread that counts itself asleep before it looks a last time,
 * under the lock, and one that asks for sleepers after it changed what they look at: all are
 * sequentially consistent.
 */
#include "system/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "base/mem.h"

#if defined(__x86_64__)
#define PARALLEL_PAUSE() __builtin_ia32_pause()
#else
#define PARALLEL_PAUSE() atomic_signal_fence(memory_order_seq_cst)
#endif
#define PARALLEL_PAUSES 64       /* between two looks at the clock */
#define PARALLEL_ALONE_NS 10000  /* a thread that waits gives way after as long, */
#define PARALLEL_AWAKE_NS 500000 /* and sleeps after as long */
#define PARALLEL_MOST 256        /* workers */
#define PARALLEL_PARTS 16        /* of a loop, at most */

struct parallel_part {
    _Alignas(64) atomic_size_t next;
    size_t end;
};

struct parallel_loop {
    size_t n, grain;
    void (*body)(void *, size_t, size_t);
    void *arg;
    size_t parts;
    struct parallel_part part[PARALLEL_PARTS];
};

struct parallel_worker {
    pthread_t thread;
    pthread_cond_t work;
    bool asleep; /* changed under the lock */
};

static struct {
    pthread_mutex_t lock; /* of those that sleep */
    pthread_cond_t done;
    _Atomic(struct parallel_loop *) loop; /* borrowed: the caller's stack; NULL: none to join */
    atomic_ulong generation;              /* of loops */
    atomic_int threads;                   /* asked for; 0: not yet known */
    atomic_int busy;                      /* workers at this loop, or that look whether they may */
    atomic_int helpers;                   /* how many may be */
    atomic_int asleep;
    atomic_bool waits; /* the caller sleeps until none is busy */
    atomic_bool in_use;
    /* What only who has the pool changes: */
    struct parallel_worker worker[PARALLEL_MOST];
    int workers;          /* that there are */
    cpu_set_t processors; /* that the process may use */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void parallel_run_part(struct parallel_loop *loop, struct parallel_part *part)
{
    for (;;) {
        size_t block = atomic_fetch_add_explicit(&part->next, 1, memory_order_relaxed);
        if (block >= part->end)
            return;
        size_t begin = block * loop->grain;
        size_t end = ODB_MIN(loop->n, begin + loop->grain);
        loop->body(loop->arg, begin, end);
    }
}

/* The `who`th thread's own part, then the others'. */
static void parallel_run_blocks(struct parallel_loop *loop, size_t who)
{
    for (size_t i = 0; i < loop->parts; i++)
        parallel_run_part(loop, &loop->part[(who + i) % loop->parts]);
}

static int parallel_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static long parallel_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static bool parallel_new_loop(unsigned long seen)
{
    return atomic_load(&pool.generation) != seen;
}

static bool parallel_none_busy(unsigned long unused)
{
    (void)unused;
    return atomic_load(&pool.busy) == 0;
}

/* Waits until it is so, for a while, without sleep. */
static void parallel_look(bool (*is_so)(unsigned long), unsigned long seen)
{
    long start = parallel_clock(), waited;
    do {
        for (int i = 0; i < PARALLEL_PAUSES; i++) {
            if (is_so(seen))
                return;
            PARALLEL_PAUSE();
        }
        waited = parallel_clock() - start;
        if (waited > PARALLEL_ALONE_NS)
            sched_yield();
    } while (waited < PARALLEL_AWAKE_NS);
}

static void parallel_sleep(struct parallel_worker *me, unsigned long seen)
{
    pthread_mutex_lock(&pool.lock);
    me->asleep = true;
    atomic_fetch_add(&pool.asleep, 1);
    while (!parallel_new_loop(seen))
        pthread_cond_wait(&me->work, &pool.lock);
    atomic_fetch_sub(&pool.asleep, 1);
    me->asleep = false;
    pthread_mutex_unlock(&pool.lock);
}

static void parallel_join(size_t who)
{
    if (atomic_fetch_add(&pool.busy, 1) < atomic_load(&pool.helpers)) {
        struct parallel_loop *loop = atomic_load(&pool.loop);
        if (loop)
            parallel_run_blocks(loop, who);
    }
    if (atomic_fetch_sub(&pool.busy, 1) == 1 && atomic_load(&pool.waits)) {
        pthread_mutex_lock(&pool.lock);
        pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.lock);
    }
}

static void *parallel_work(void *arg)
{
    struct parallel_worker *me = arg;
    size_t who = (size_t)(me - pool.worker) + 1;
    unsigned long seen = 0;
    int processors = CPU_COUNT(&pool.processors);
    bool moved = true; /* by the caller */
    for (;;) {
        if (pool.threads <= processors) /* else looking takes the time of who would work */
            parallel_look(parallel_new_loop, seen);
        if (!parallel_new_loop(seen)) {
            parallel_sleep(me, seen);
            moved = true;
        }
        seen = atomic_load(&pool.generation);
        parallel_join(who);
        if (!moved)
            continue;
        pthread_setaffinity_np(pthread_self(), sizeof pool.processors, &pool.processors);
        moved = false;
    }
    return NULL;
}

int odb_parallel_threads(void)
{
    if (pool.threads == 0)
        pool.threads = parallel_processors();
    return pool.threads;
}

void odb_parallel_set_threads(int threads)
{
    pool.threads = threads < 1 ? 1 : threads;
}

/* All processors but the caller's, where there are others. */
static cpu_set_t parallel_elsewhere(void)
{
    cpu_set_t others = pool.processors;
    int here = sched_getcpu();
    if (here >= 0 && CPU_COUNT(&others) > 1)
        CPU_CLR((size_t)here, &others);
    return others;
}

/* Starts missing workers. */
static void parallel_staff(int wanted)
{
    if (pool.workers == 0)
        sched_getaffinity(0, sizeof pool.processors, &pool.processors);
    if (pool.workers >= ODB_MIN(wanted, PARALLEL_MOST))
        return;
    cpu_set_t others = parallel_elsewhere();
    while (pool.workers < ODB_MIN(wanted, PARALLEL_MOST)) {
        struct parallel_worker *worker = &pool.worker[pool.workers];
        pthread_cond_init(&worker->work, NULL);
        if (pthread_create(&worker->thread, NULL, parallel_work, worker) != 0)
            return;
        pthread_setaffinity_np(worker->thread, sizeof others, &others);
        pthread_detach(worker->thread);
        pool.workers++;
    }
}

/* Wakes as many as there are blocks for, beside the caller's. */
static void parallel_wake(size_t blocks)
{
    if (atomic_load(&pool.asleep) == 0)
        return;
    cpu_set_t others = parallel_elsewhere();
    pthread_mutex_lock(&pool.lock);
    for (int i = 0; i < pool.workers && blocks > 1; i++) {
        struct parallel_worker *worker = &pool.worker[i];
        if (worker->asleep) {
            pthread_setaffinity_np(worker->thread, sizeof others, &others);
            pthread_cond_signal(&worker->work);
        }
        blocks--;
    }
    pthread_mutex_unlock(&pool.lock);
}

static void parallel_wait(void)
{
    parallel_look(parallel_none_busy, 0);
    if (parallel_none_busy(0))
        return;
    pthread_mutex_lock(&pool.lock);
    atomic_store(&pool.waits, true);
    while (!parallel_none_busy(0))
        pthread_cond_wait(&pool.done, &pool.lock);
    atomic_store(&pool.waits, false);
    pthread_mutex_unlock(&pool.lock);
}

static void parallel_share(struct parallel_loop *loop, size_t blocks, int threads)
{
    parallel_staff(threads - 1);
    atomic_store(&pool.helpers, threads - 1);
    atomic_store(&pool.loop, loop);
    atomic_fetch_add(&pool.generation, 1);
    parallel_wake(blocks);
    parallel_run_blocks(loop, 0);
    atomic_store(&pool.loop, NULL); /* no thread joins from here on */
    parallel_wait();
    atomic_store(&pool.in_use, false);
}

void odb_parallel_for(size_t n, size_t grain, void (*body)(void *arg, size_t begin, size_t end),
                      void *arg)
{
    grain = grain ? grain : 1;
    if (n <= grain) { /* most loops, of those inside another: not even an atomic counter */
        if (n)
            body(arg, 0, n);
        return;
    }
    int threads = odb_parallel_threads();
    bool shared = threads > 1 && !atomic_exchange(&pool.in_use, true);
    size_t blocks = n / grain + (n % grain != 0);
    struct parallel_loop loop = {.n = n, .grain = grain, .body = body, .arg = arg};
    loop.parts = shared ? ODB_MIN((size_t)threads, (size_t)PARALLEL_PARTS) : 1;
    for (size_t i = 0; i < loop.parts; i++) {
        loop.part[i].next = blocks * i / loop.parts;
        loop.part[i].end = blocks * (i + 1) / loop.parts;
    }
    if (shared)
        parallel_share(&loop, blocks, threads);
    else
        parallel_run_blocks(&loop, 0);
}
