/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One inference per executor, side by side, in one run: medians in milliseconds and ratios to the
 * first spec. All of them run in the same kind of child process, and take turns.
 *
 *   speed [--runs N] SPEC… -- MODEL…
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "engine/clock.h"
#include "engine/probe.h"

struct lane {
    struct odb_target *target;
    struct odb_prober prober;
    double *ms; /* [runs] */
    double load_ms;
    bool failed;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void lane_run(struct lane *lane, struct odb_probe *probe, size_t at, bool first)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_target_stats before = odb_target_stats(lane->target);
    enum odb_status status = first ? odb_probe_run(&lane->prober, probe, &err)
                                   : odb_probe_again(&lane->prober, probe, &err);
    struct odb_target_stats after = odb_target_stats(lane->target);
    if (status != ODB_OK && !lane->failed)
        fprintf(stderr, "speed: %s: %s\n", odb_target_spec(lane->target), err.what);
    lane->failed = lane->failed || status != ODB_OK;
    lane->ms[at] = 1e3 * (after.run_seconds - before.run_seconds);
    if (first)
        lane->load_ms = 1e3 * (after.load_seconds - before.load_seconds);
    odb_probe_drop(probe);
}

static int measure(const char *path, char **specs, size_t n, size_t runs)
{
    struct stat st;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_input_options inputs = ODB_INPUT_OPTIONS_INIT;
    struct odb_search_hooks quiet = {0};
    struct odb_model *model = NULL;
    struct odb_feeds *feeds = NULL;
    char text[1500];
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    char *file = folder ? odb_xasprintf("%s/model.onnx", path) : odb_xstrdup(path);
    char *data = odb_xasprintf("%s/test_data_set_0", path);
    inputs.inputs_from = folder ? data : NULL;
    if (odb_model_open(&model, file, &err) != ODB_OK ||
        odb_feeds_make(&feeds, model, &inputs, &err) != ODB_OK) {
        fprintf(stderr, "speed: %s\n", odb_error_text(&err, text, sizeof text));
        return 1;
    }
    const char *slash = strrchr(path, '/');
    struct lane *lanes = odb_new_n(struct lane, n);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, model->graph->n_outputs);
    struct odb_probe probe = {.what = "run",
                              .node = ODB_NO_NODE,
                              .values = model->graph->outputs,
                              .n_values = model->graph->n_outputs,
                              .outputs = outputs};
    for (size_t s = 0; s < n; s++) {
        lanes[s].ms = odb_new_n(double, runs + 1);
        if (odb_target_open(&lanes[s].target, specs[s], &err) != ODB_OK) {
            fprintf(stderr, "speed: %s\n", odb_error_text(&err, text, sizeof text));
            return 1;
        }
        odb_prober_init(&lanes[s].prober, model, feeds, NULL, lanes[s].target, quiet);
        lane_run(&lanes[s], &probe, runs, true); /* warms up; not counted */
    }
    for (size_t r = 0; r < runs; r++)
        for (size_t s = 0; s < n; s++)
            if (!lanes[s].failed)
                lane_run(&lanes[s], &probe, r, false);
    printf("%-28s", slash ? slash + 1 : path);
    for (size_t s = 0; s < n; s++)
        qsort(lanes[s].ms, runs, sizeof *lanes[s].ms, by_value);
    for (size_t s = 0; s < n; s++) {
        if (lanes[s].failed)
            printf(" %16s", "-");
        else
            printf(" %8.2f (%4.2fx)", lanes[s].ms[runs / 2],
                   lanes[s].ms[runs / 2] / lanes[0].ms[runs / 2]);
    }
    for (size_t s = 0; s < n; s++) {
        odb_prober_dispose(&lanes[s].prober);
        odb_target_close(lanes[s].target);
        free(lanes[s].ms);
    }
    printf("\n");
    fflush(stdout);
    free(lanes);
    free(outputs);
    odb_feeds_free(feeds);
    odb_model_free(model);
    free(file);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    size_t runs = 5, n = 0;
    int a = 1, failed = 0;
    if (a + 1 < argc && strcmp(argv[a], "--runs") == 0) {
        runs = ODB_MAX(strtoul(argv[a + 1], NULL, 10), (size_t)1);
        a += 2;
    }
    char **specs = argv + a;
    while (a < argc && strcmp(argv[a], "--") != 0)
        a++, n++;
    if (n == 0 || a + 1 >= argc) {
        fprintf(stderr, "usage: speed [--runs N] SPEC... -- MODEL...\n");
        return 2;
    }
    printf("%-28s", "median ms of one inference");
    for (size_t s = 0; s < n; s++)
        printf(" %16.16s", specs[s]);
    printf("\n");
    for (a++; a < argc; a++)
        failed |= measure(argv[a], specs, n, runs);
    return failed;
}
