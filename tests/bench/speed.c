/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One inference per executor, side by side, in one run: each spec has a process of its own, and
 * they take turns. Per spec: the median in milliseconds, its ratio to the first spec with as many
 * threads, and the most memory that the process ever had, in MB.
 *
 *   speed [--runs N] [--cpu] [--best] SPEC… -- MODEL…
 *
 * --cpu counts the time that the process was on a processor instead of the time that passed: what
 * else the machine does counts for less, but work and waiting of other threads are added up. --best
 * takes the least time instead of the median: of many runs some meet a machine at rest.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/clock.h"
#include "inputs/inputs.h"
#include "probe/probe.h"
#include "model/read/load.h"

struct lane {
    struct odb_pool *pool;
    struct odb_prober prober;
    double *ms; /* [runs] */
    int threads;
    bool failed;
};

#define SPEED_PAUSE_NS 20000000

struct options {
    size_t runs;
    bool cpu, best;
    char **specs;
    size_t n;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds that a process and its threads were running. */
static double process_seconds(int pid)
{
    char path[300];
    double sum = 0, ns;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", pid, entry->d_name);
        FILE *f = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (f && fscanf(f, "%lf", &ns) == 1)
            sum += ns / 1e9;
        if (f)
            fclose(f);
    }
    if (dir)
        closedir(dir);
    return sum;
}

/* The most memory that a process ever had, in MB. */
static double process_peak(int pid)
{
    char path[64], line[200];
    double kb = 0;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lf", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb / 1024;
}

static int lane_pid(const struct lane *lane)
{
    return (int)odb_target_pid(odb_pool_target(lane->pool));
}

static double lane_clock(const struct lane *lane, const struct options *o)
{
    return o->cpu ? process_seconds(lane_pid(lane)) : odb_pool_stats(lane->pool).run_seconds;
}

static void lane_run(struct lane *lane, const struct options *o, struct odb_probe *probe,
                     size_t run)
{
    struct odb_error err = ODB_ERROR_INIT;
    bool first = run == o->runs;
    double before = lane_clock(lane, o);
    enum odb_status status = first ? odb_probe_run(&lane->prober, probe, &err)
                                   : odb_probe_again(&lane->prober, probe, &err);
    lane->ms[run] = 1e3 * (lane_clock(lane, o) - before);
    if (status != ODB_OK && !lane->failed)
        fprintf(stderr, "speed: %s: %s\n", odb_target_spec(odb_pool_target(lane->pool)), err.what);
    lane->failed = lane->failed || status != ODB_OK;
    odb_probe_drop(&lane->prober, probe);
}

static int lane_threads(const char *spec)
{
    const char *threads = strstr(spec, "threads=");
    return threads ? atoi(threads + strlen("threads=")) : 0;
}

/* Of sorted times, the one that counts. */
static double lane_ms(const struct lane *lane, const struct options *o)
{
    return lane->ms[o->best ? 0 : o->runs / 2];
}

static void print_lane(const struct lane *lanes, size_t at, const struct options *o)
{
    const struct lane *lane = &lanes[at], *base = lanes;
    while (base->threads != lane->threads)
        base++;
    double ms = lane_ms(lane, o);
    if (lane->failed)
        printf(" %23s", "-");
    else if (base->failed)
        printf(" %9.3f       %6.0fM", ms, process_peak(lane_pid(lane)));
    else
        printf(" %9.3f %5.2fx %6.0fM", ms, ms / lane_ms(base, o), process_peak(lane_pid(lane)));
}

/* All specs on one model that is open. */
static int measure_model(const struct odb_model *model, struct odb_feeds *feeds, const char *name,
                         const struct options *o, struct odb_error *err)
{
    struct lane *lanes = odb_new_n(struct lane, o->n);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, model->graph->n_outputs);
    struct odb_probe probe = {.what = "run",
                              .node = ODB_NO_NODE,
                              .values = model->graph->outputs,
                              .n_values = model->graph->n_outputs,
                              .outputs = outputs};
    enum odb_status status = ODB_OK;
    for (size_t s = 0; s < o->n && status == ODB_OK; s++) {
        lanes[s].ms = odb_new_n(double, o->runs + 1);
        lanes[s].threads = lane_threads(o->specs[s]);
        status = odb_pool_open(&lanes[s].pool, o->specs[s], NULL, NULL, err);
        if (status != ODB_OK)
            break;
        odb_prober_init(&lanes[s].prober, model, feeds, NULL, lanes[s].pool,
                        (struct odb_search_hooks){0});
        lane_run(&lanes[s], o, &probe, o->runs); /* warms up; not counted */
    }
    for (size_t r = 0; r < o->runs && status == ODB_OK; r++)
        for (size_t s = 0; s < o->n; s++) {
            if (lanes[s].failed)
                continue;
            /* Threads of the run before may still spin, and take a processor from this one; then
             * all is cold, so one run is not counted. */
            nanosleep(&(struct timespec){.tv_nsec = SPEED_PAUSE_NS}, NULL);
            lane_run(&lanes[s], o, &probe, o->runs);
            lane_run(&lanes[s], o, &probe, r);
        }
    printf("%-28s", name);
    for (size_t s = 0; s < o->n && status == ODB_OK; s++)
        qsort(lanes[s].ms, o->runs, sizeof *lanes[s].ms, by_value);
    for (size_t s = 0; s < o->n && status == ODB_OK; s++)
        print_lane(lanes, s, o);
    printf("\n");
    fflush(stdout);
    for (size_t s = 0; s < o->n; s++) {
        if (lanes[s].pool)
            odb_prober_dispose(&lanes[s].prober);
        odb_pool_close(lanes[s].pool);
        free(lanes[s].ms);
    }
    free(lanes);
    free(outputs);
    return status;
}

/* A file, or a folder as ONNX's tests have them. */
static int measure(const char *path, const struct options *o)
{
    struct stat st;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_input_options inputs = ODB_INPUT_OPTIONS_INIT;
    struct odb_model *model = NULL;
    struct odb_feeds *feeds = NULL;
    char text[1500];
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    char *file = folder ? odb_xasprintf("%s/model.onnx", path) : odb_xstrdup(path);
    char *data = odb_xasprintf("%s/test_data_set_0", path);
    const char *slash = strrchr(path, '/');
    inputs.inputs_from = folder ? data : NULL;
    enum odb_status status = odb_model_open(&model, file, &err);
    if (status == ODB_OK)
        status = odb_feeds_make(&feeds, model, &inputs, &err);
    if (status == ODB_OK)
        status = measure_model(model, feeds, slash ? slash + 1 : path, o, &err);
    if (status != ODB_OK)
        fprintf(stderr, "speed: %s\n", odb_error_text(&err, text, sizeof text));
    odb_feeds_free(feeds);
    odb_model_free(model);
    free(file);
    free(data);
    return status != ODB_OK;
}

int main(int argc, char **argv)
{
    struct options o = {.runs = 5};
    int a = 1, failed = 0;
    for (; a < argc && strncmp(argv[a], "--", 2) == 0 && argv[a][2]; a++) {
        if (strcmp(argv[a], "--cpu") == 0)
            o.cpu = true;
        else if (strcmp(argv[a], "--best") == 0)
            o.best = true;
        else if (strcmp(argv[a], "--runs") == 0 && a + 1 < argc)
            o.runs = strtoul(argv[++a], NULL, 10);
    }
    for (o.specs = argv + a; a < argc && strcmp(argv[a], "--") != 0; a++)
        o.n++;
    if (o.n == 0 || o.runs == 0 || a + 1 >= argc) {
        fprintf(stderr, "usage: speed [--runs N] [--cpu] [--best] SPEC... -- MODEL...\n");
        return 2;
    }
    printf("%s, %s ms   ", o.cpu ? "processor time" : "one inference ",
           o.best ? "least " : "median");
    for (size_t s = 0; s < o.n; s++)
        printf(" %23.23s", o.specs[s]);
    printf("\n");
    for (a++; a < argc; a++)
        failed |= measure(argv[a], &o);
    return failed;
}
