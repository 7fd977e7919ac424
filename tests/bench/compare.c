/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     bench-compare [ELEMENTS]
 *
 * How fast two tensors in memory are compared, in GB of both per second; reading them and adding
 * their bits up, on all processors, is what memory allows. And the processors' time that a pair
 * takes, which others on the machine do not change as much.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "system/parallel.h"
#include "compare/criterion.h"
#include "compare/inspect/measure.h"
#include "tensor/random.h"

enum { BLOCK = 1 << 16, REPEATS = 3 };

static struct odb_tensor *make(enum odb_dtype dtype, size_t n, double apart)
{
    struct odb_tensor *t;
    struct odb_error err;
    if (odb_tensor_new_raw(&t, dtype, 2, (int64_t[]){(int64_t)(n / 1024), 1024}, &err) != ODB_OK) {
        fprintf(stderr, "bench-compare: %s\n", err.what);
        exit(1);
    }
    for (size_t i = 0; i < t->count; i++) {
        double v = (double)(odb_mix64(i) >> 11) * 0x1p-52 - 1;
        odb_store_f64(dtype, t->data, i, v * (1 + apart * (double)(i % 7)));
    }
    return t;
}

/* Seconds of all processors, of this process. */
static double busy(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct pair {
    const struct odb_tensor *e, *b;
    uint64_t sum[1 << 16];
};

static void add_up(void *arg, size_t begin, size_t end)
{
    struct pair *p = arg;
    const odb_u64 *x = p->e->data, *y = p->b->data;
    uint64_t sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += x[i] ^ y[i];
    p->sum[begin / BLOCK % ODB_COUNT(p->sum)] += sum;
}

static void run_memory(struct pair *p)
{
    odb_parallel_for(p->e->bytes / 8, BLOCK, add_up, p);
}

static void run_measures(struct pair *p, unsigned need)
{
    struct odb_measured m = {.evaluated = p->e, .base = p->b, .options = {.th = -1}};
    odb_measure(&m, need);
}

static void run_metrics(struct pair *p)
{
    run_measures(p, ODB_MEASURE_METRICS);
}

static void run_all(struct pair *p)
{
    run_measures(p, ODB_MEASURE_EVERYTHING);
}

static void run_equal(struct pair *p)
{
    const struct odb_tensor *e = p->e;
    p->e = p->b;
    run_metrics(p);
    p->e = e;
}

static void run_distance(struct pair *p)
{
    struct odb_distance d;
    odb_distance(&d, p->e, p->b);
}

static void run_judged(struct pair *p)
{
    struct odb_criterion allclose = {ODB_CRITERION_ALLCLOSE, {1e-5, 1e-8}};
    odb_criterion_apply(&allclose, p->e, p->b, NULL, 0);
}

static void run_ulps(struct pair *p)
{
    struct odb_ulp_spread s;
    odb_ulp_spread(&s, p->e, p->b);
}

static void run_ranks(struct pair *p)
{
    struct odb_ranks r;
    odb_ranks(&r, p->e, p->b, 5);
}

static const struct {
    const char *what;
    void (*run)(struct pair *p);
} cases[] = {{"memory, read once", run_memory},
             {"distance, what a search asks", run_distance},
             {"metrics, 30 measures in one pass", run_metrics},
             {"the same, of two that are equal", run_equal},
             {"metrics and allclose", run_judged},
             {"units in the last place", run_ulps},
             {"argmax and top 5 of rows", run_ranks},
             {"all measures, four passes", run_all}};

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : (size_t)1 << 25;
    static const enum odb_dtype types[] = {ODB_F32, ODB_F16, ODB_BF16, ODB_F64};
    for (size_t k = 0; k < ODB_COUNT(types); k++) {
        double apart = fmax(1e-6, odb_dtype_info(types[k])->eps);
        struct odb_tensor *b = make(types[k], n, 0), *e = make(types[k], n, apart);
        struct pair *p = odb_new(struct pair);
        p->e = e;
        p->b = b;
        for (size_t i = 0; i < ODB_COUNT(cases); i++) {
            double best = INFINITY, least = INFINITY;
            for (int r = 0; r < REPEATS; r++) {
                double begin = odb_clock(), before = busy();
                cases[i].run(p);
                best = fmin(best, odb_clock() - begin);
                least = fmin(least, busy() - before);
            }
            printf("%-8s %-34s %8.2f GB/s %8.2f ns a pair\n", odb_dtype_info(types[k])->name,
                   cases[i].what, (double)(e->bytes + b->bytes) / best / 1e9,
                   least / (double)e->count * 1e9);
        }
        free(p);
        odb_tensor_unref(e);
        odb_tensor_unref(b);
    }
    return 0;
}
