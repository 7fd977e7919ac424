/* SPDX-License-Identifier: MIT
 *
 * Workers live as long as the process. Between loops they look out for the next one for some tens
 * of microseconds, as it mostly follows at once and waking up takes longer than many loops do; then
 * they sleep. A loop is one struct on the caller's stack; blocks are handed out by an atomic
 * counter. Only one loop runs at a time: a second caller (another thread, or a body that loops
 * itself) does its blocks alone.
 */
#include "system/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/mem.h"

#if defined(__x86_64__)
#define PARALLEL_PAUSE() __builtin_ia32_pause()
#else
#define PARALLEL_PAUSE() atomic_signal_fence(memory_order_seq_cst)
#endif
#define PARALLEL_LOOKS 2000 /* before a thread goes to sleep */

struct parallel_loop {
    size_t n, grain, blocks;
    void (*body)(void *, size_t, size_t);
    void *arg;
    atomic_size_t next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct parallel_loop *loop; /* borrowed: the caller's stack */
    atomic_ulong generation;    /* of loops; changed under the lock */
    atomic_int threads;         /* asked for; 0: not yet known */
    atomic_int busy;            /* workers at this loop; changed under the lock */
    int workers, helpers; /* workers live on: of those there are, helpers may join this loop */
    bool in_use;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static void parallel_run_blocks(struct parallel_loop *loop)
{
    for (;;) {
        size_t block = atomic_fetch_add(&loop->next, 1);
        if (block >= loop->blocks)
            return;
        size_t begin = block * loop->grain;
        size_t end = ODB_MIN(loop->n, begin + loop->grain);
        loop->body(loop->arg, begin, end);
    }
}

static int parallel_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Looks out for a loop after `seen`. Where threads must share processors that gains nothing. */
static void parallel_look(unsigned long seen, int looks)
{
    while (looks-- > 0 && atomic_load(&pool.generation) == seen)
        PARALLEL_PAUSE();
}

static void *parallel_worker(void *unused)
{
    (void)unused;
    unsigned long seen = 0;
    int processors = parallel_processors();
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        bool eager = pool.threads <= processors;
        pthread_mutex_unlock(&pool.lock);
        parallel_look(seen, eager ? PARALLEL_LOOKS : 0);
        pthread_mutex_lock(&pool.lock);
        while (!pool.loop || pool.generation == seen)
            pthread_cond_wait(&pool.work, &pool.lock);
        seen = pool.generation;
        if (pool.busy >= pool.helpers)
            continue;
        struct parallel_loop *loop = pool.loop;
        pool.busy++;
        pthread_mutex_unlock(&pool.lock);
        parallel_run_blocks(loop);
        pthread_mutex_lock(&pool.lock);
        if (--pool.busy == 0)
            pthread_cond_signal(&pool.done);
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

/* True when this caller now owns the pool. Starts missing workers. */
static bool parallel_claim(struct parallel_loop *loop)
{
    int wanted = odb_parallel_threads() - 1;
    pthread_mutex_lock(&pool.lock);
    bool mine = !pool.in_use;
    if (mine) {
        pool.in_use = true;
        while (pool.workers < wanted) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, parallel_worker, NULL) != 0)
                break;
            pthread_detach(thread);
            pool.workers++;
        }
        pool.loop = loop;
        pool.helpers = wanted;
        pool.generation++;
        pthread_cond_broadcast(&pool.work);
    }
    pthread_mutex_unlock(&pool.lock);
    return mine;
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
    struct parallel_loop loop = {
        .n = n, .grain = grain, .blocks = n / grain + (n % grain != 0), .body = body, .arg = arg};
    bool shared = odb_parallel_threads() > 1 && parallel_claim(&loop);
    parallel_run_blocks(&loop);
    if (!shared)
        return;
    pthread_mutex_lock(&pool.lock);
    pool.loop = NULL; /* no thread joins from here on */
    if (pool.busy > 0) {
        pthread_mutex_unlock(&pool.lock);
        for (int looks = PARALLEL_LOOKS; looks > 0 && atomic_load(&pool.busy) > 0; looks--)
            PARALLEL_PAUSE();
        pthread_mutex_lock(&pool.lock);
    }
    while (pool.busy > 0)
        pthread_cond_wait(&pool.done, &pool.lock);
    pool.in_use = false;
    pthread_mutex_unlock(&pool.lock);
}
