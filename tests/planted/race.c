/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Several ways to search for the same planted faults, on the same target, one after the other:
 * which of them find the culprit, in how many loads, in how many seconds. Two ways are those of
 * others, written here with the same probes: `each`, one submodel per node, as scripts do; `index`,
 * bisection by index over outputs and then over inputs, as Polygraphy's debug reduce does it.
 *
 * A row per model, kind of fault and way: how many were planted, and how many more would have been
 * had there been time; named right, in a region (of so many nodes), named wrong, and not found,
 * though outputs are wrong, or while none of them shows the fault ("unseen"), or because the target
 * does not run the model or the fault cannot be there ("refused"); loads, how many
 * searches needed at most ceil(log2 N) + 3, seconds without what the reference took, which all
 * share. Medians. Lines that begin with '#' say of each search that named no node or another one
 * how to make it again.
 *
 *   race [--target SPEC] [--kinds LIST] [--ways LIST] [--sample N] [--each N] [--most N]
 *        [--seconds S] [--seed S] MODEL…
 *
 * --each N: one submodel per node for so many faults per model and kind only, which takes long;
 * --most N: and not at all in models of more nodes; --seconds S: in one way no further fault of a
 * kind is searched for once so many are spent on a model.
 */
#include "tests/planted/subject.h"

#include <math.h>

struct options {
    const char *target, *kinds, *ways;
    size_t sample, each, most;
    double seconds; /* 0: as many as it takes */
    uint64_t seed;
};

enum race_answer {
    RUN_NOBODY,  /* is named, though outputs are wrong */
    RUN_UNSEEN,  /* no node, and no output shows the fault */
    RUN_REFUSED, /* there is no search: the target lacks something, or the fault cannot be there */
    RUN_WRONG,
    RUN_REGION,
    RUN_RIGHT,
    RUN_ANSWERS
};

/* What one search came to. */
struct run {
    enum race_answer answer;
    int first, last; /* nodes that are named */
    size_t loads;
    double size; /* nodes of a region, from its first to its last */
    double seconds;
};

/* --- by index, on both ends ------------------------------------------------------------------- */

struct ends {
    const struct subject *s;
    struct odb_prober prober;
    struct odb_judge judge;
    size_t loads;
    bool failed; /* any of them */
};

/* Whether the nodes from first to last that last needs fail, fed with the reference's values where
 * they begin; what the whole model does is not asked. A probe that cannot be had passes. */
static bool ends_fails(struct ends *e, int first, int last)
{
    const struct odb_graph *graph = e->s->model->graph;
    const struct odb_node *node = &graph->nodes[last];
    bool *nodes = odb_new_n(bool, graph->n_nodes), fails = false;
    int *values = odb_new_n(int, node->n_out + 1);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, node->n_out + 1);
    struct odb_probe probe = {
        .what = "index", .node = last, .judged = true, .values = values, .outputs = outputs};
    struct odb_error err = ODB_ERROR_INIT;
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0 && odb_probe_wants(graph, e->s->trace, node->out[o]) &&
            e->s->trace->ref[node->out[o]])
            values[probe.n_values++] = node->out[o];
    odb_graph_ancestors(graph, values, probe.n_values, NULL, nodes);
    for (int i = 0; i < first; i++)
        nodes[i] = false;
    probe.nodes = nodes;
    enum odb_status status = ODB_SKIPPED;
    if (probe.n_values) {
        status = odb_probe_run(&e->prober, &probe, &err);
        e->loads++;
    }
    fails = status == ODB_E_CRASH || status == ODB_E_TIMEOUT;
    for (size_t i = 0; i < probe.n_values && status == ODB_OK; i++) {
        struct odb_value_report report = {0};
        if (odb_judge_value(&e->judge, values[i], outputs[i], &report, &err) == ODB_OK)
            fails = fails || odb_verdict_is_bad(report.verdict);
    }
    e->failed = e->failed || fails;
    odb_probe_drop(&e->prober, &probe);
    free(outputs);
    free(values);
    free(nodes);
    return fails;
}

/* The earliest failing end, then the latest failing beginning; -1 where nothing ever fails. */
static enum odb_status ends_search(const struct subject *s, const char *spec, int *first, int *last,
                                   size_t *loads, struct odb_error *err)
{
    static const struct odb_criterion tolerance = ODB_CRITERION_DEFAULT;
    struct ends e = {.s = s, .judge = {s->trace, &tolerance}};
    struct odb_pool *pool;
    int good = -1, bad = (int)s->model->graph->n_nodes - 1;
    ODB_TRY(odb_pool_open(&pool, spec, NULL, NULL, err));
    odb_prober_init(&e.prober, s->model, s->feeds, s->trace, pool, (struct odb_search_hooks){0});
    while (bad - good > 1) {
        int middle = (good + bad) / 2;
        *(ends_fails(&e, 0, middle) ? &bad : &good) = middle;
    }
    *last = bad;
    *first = 0;
    for (int beyond = bad + 1; beyond - *first > 1;) {
        int middle = (*first + beyond) / 2;
        *(ends_fails(&e, middle, bad) ? first : &beyond) = middle;
    }
    if (!e.failed)
        *first = *last = -1;
    *loads = e.loads;
    odb_prober_dispose(&e.prober);
    odb_pool_close(pool);
    return ODB_OK;
}

/* --- the race --------------------------------------------------------------------------------- */

static enum race_answer race_answer(int first, int last, int node)
{
    return first == last && last == node                   ? RUN_RIGHT
           : first <= node && node <= last && first < last ? RUN_REGION
                                                           : RUN_WRONG;
}

static struct run race_run(const struct subject *s, const char *way, const char *spec, int node)
{
    struct run run = {0};
    struct odb_error err = ODB_ERROR_INIT;
    double start = odb_clock();
    if (strcmp(way, "index") == 0) {
        if (ends_search(s, spec, &run.first, &run.last, &run.loads, &err) == ODB_OK)
            run.answer = run.last < 0 ? RUN_UNSEEN : race_answer(run.first, run.last, node);
        run.size = run.last - run.first + 1;
        run.seconds = odb_clock() - start;
        return run;
    }
    struct odb_report *report = NULL;
    struct odb_bisect_options search = {
        .reference = "cpu", .target = spec, .tolerance = ODB_CRITERION_DEFAULT, .trace = s->trace};
    odb_strategy_parse(&search.strategy, way);
    enum odb_status status = odb_bisect(&report, s->model, s->feeds, &search, &err);
    run.seconds = odb_clock() - start;
    run.loads = report ? report->target_loads : 0;
    if (status == ODB_OK && report->culprits.n) {
        const struct odb_culprit *first = &report->culprits.items[0];
        run.first = first->segment[0];
        run.last = first->segment[1];
        run.size = run.last - run.first + 1;
        run.answer = race_answer(run.first, run.last, node);
    }
    if (status != ODB_OK)
        run.answer = RUN_REFUSED;
    else if (!report->culprits.n && !report->outputs_diverge)
        run.answer = RUN_UNSEEN;
    odb_report_free(report);
    return run;
}

static int race_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double race_median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, race_compare);
    return n ? v[n / 2] : 0;
}

struct lane {
    size_t n, left, answers[RUN_ANSWERS], within;
    double *loads, *sizes, *seconds; /* owned */
    size_t n_sizes;
};

/* How to see for oneself. */
static void race_tell(const struct subject *s, const char *way, const char *spec,
                      const struct run *run)
{
    struct stat st;
    const char *path = s->path;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    if (run->answer == RUN_NOBODY)
        printf("# nobody: ");
    else
        printf("# #%d to #%d: ", run->first, run->last);
    printf("bisect %s%s", path, folder ? "/model.onnx" : "");
    if (folder)
        printf(" --inputs-from %s/test_data_set_0", path);
    printf(" --strategy %s --target %s\n", way, spec);
}

static void race_lane(const struct subject *s, const struct options *options, const char *kind,
                      const char *way, struct lane *lane)
{
    size_t most = strcmp(way, "each") == 0 && options->each ? options->each : SIZE_MAX;
    size_t n = options->sample ? ODB_MIN(options->sample, s->n_eligible) : s->n_eligible;
    bool all = n == s->n_eligible;
    size_t promised = (size_t)ceil(log2((double)ODB_MAX(s->model->graph->n_nodes, (size_t)2))) + 3;
    *lane = (struct lane){.loads = odb_new_n(double, n + 1),
                          .sizes = odb_new_n(double, n + 1),
                          .seconds = odb_new_n(double, n + 1)};
    double start = odb_clock();
    n = ODB_MIN(n, most);
    for (size_t i = 0; i < n; i++) {
        if (lane->n && options->seconds > 0 && odb_clock() - start > options->seconds) {
            lane->left = n - i;
            break;
        }
        size_t at = all ? i : odb_mix64(options->seed + i) % s->n_eligible;
        char *spec = fault_spec(kind, s->eligible[at], options->target);
        struct run run = race_run(s, way, spec, s->eligible[at]);
        lane->answers[run.answer]++;
        if (run.answer == RUN_NOBODY || run.answer == RUN_WRONG)
            race_tell(s, way, spec, &run);
        lane->within += run.loads <= promised;
        if (run.answer == RUN_REGION)
            lane->sizes[lane->n_sizes++] = run.size;
        lane->loads[lane->n] = (double)run.loads;
        lane->seconds[lane->n++] = run.seconds;
        free(spec);
    }
}

static void race_model(const char *path, const struct options *options)
{
    struct subject s;
    struct odb_error err = ODB_ERROR_INIT;
    char text[1200];
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (subject_open(&s, path, "cpu", NULL, &err) != ODB_OK || s.n_eligible == 0) {
        printf("%-28.28s skipped: %.150s\n", name,
               err.code ? odb_error_text(&err, text, sizeof text) : "no node can hold a fault");
        subject_close(&s);
        return;
    }
    char *kinds = odb_xstrdup(options->kinds), *kind_rest = kinds, *kind;
    while ((kind = strsep(&kind_rest, ","))) {
        char *ways = odb_xstrdup(options->ways), *rest = ways, *way;
        while ((way = strsep(&rest, ","))) {
            struct lane lane;
            if (strcmp(way, "each") == 0 && s.model->graph->n_nodes > options->most) {
                printf("%-28.28s %6zu %-7s %-8s skipped: it would take long\n", name,
                       s.model->graph->n_nodes, kind, way);
                continue;
            }
            race_lane(&s, options, kind, way, &lane);
            printf(
                "%-28.28s %6zu %-7s %-8s %6zu %6zu %6zu %6zu %6.0f %6zu %6zu %6zu %7zu %7.0f %6zu "
                "%9.3f\n",
                name, s.model->graph->n_nodes, kind, way, lane.n, lane.left,
                lane.answers[RUN_RIGHT], lane.answers[RUN_REGION],
                race_median(lane.sizes, lane.n_sizes), lane.answers[RUN_WRONG],
                lane.answers[RUN_NOBODY], lane.answers[RUN_UNSEEN], lane.answers[RUN_REFUSED],
                race_median(lane.loads, lane.n), lane.within, race_median(lane.seconds, lane.n));
            fflush(stdout);
            free(lane.loads);
            free(lane.sizes);
            free(lane.seconds);
        }
        free(ways);
    }
    free(kinds);
    subject_close(&s);
}

int main(int argc, char **argv)
{
    struct options options = {.target = "ort",
                              .kinds = "scale",
                              .ways = "auto,prefix,index,each",
                              .sample = 3,
                              .each = 1,
                              .most = 2000,
                              .seed = 1};
    int a = 1;
    for (; a + 1 < argc && strncmp(argv[a], "--", 2) == 0; a += 2) {
        const char **text = strcmp(argv[a], "--target") == 0  ? &options.target
                            : strcmp(argv[a], "--kinds") == 0 ? &options.kinds
                            : strcmp(argv[a], "--ways") == 0  ? &options.ways
                                                              : NULL;
        if (text)
            *text = argv[a + 1];
        else if (strcmp(argv[a], "--sample") == 0)
            options.sample = strtoul(argv[a + 1], NULL, 10);
        else if (strcmp(argv[a], "--each") == 0)
            options.each = strtoul(argv[a + 1], NULL, 10);
        else if (strcmp(argv[a], "--most") == 0)
            options.most = strtoul(argv[a + 1], NULL, 10);
        else if (strcmp(argv[a], "--seconds") == 0)
            options.seconds = strtod(argv[a + 1], NULL);
        else if (strcmp(argv[a], "--seed") == 0)
            options.seed = strtoull(argv[a + 1], NULL, 10);
        else
            break;
    }
    if (a >= argc || argv[a][0] == '-') {
        fprintf(stderr, "usage: race [--target SPEC] [--kinds LIST] [--ways LIST] [--sample N] "
                        "[--each N] [--most N] [--seconds S] [--seed S] MODEL…\n");
        return 2;
    }
    printf("%-28s %6s %-7s %-8s %6s %6s %6s %6s %6s %6s %6s %6s %7s %7s %6s %9s\n", "model",
           "nodes", "fault", "way", "faults", "left", "right", "region", "size", "wrong", "nobody",
           "unseen", "refused", "loads", "within", "seconds");
    for (; a < argc; a++)
        race_model(argv[a], &options);
    return 0;
}
