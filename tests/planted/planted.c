/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plants faults in real models and asks the search for the culprit. One TAP line per model and
 * kind.
 *
 *   planted [--target SPEC] [--reference SPEC] [--expect TYPE] [--kinds LIST] [--sample N]
 *           [--seed S] MODEL…
 *
 * MODEL is an .onnx file or a folder with model.onnx and test_data_set_0. Kinds: scale, nan,
 * crash, hang, hidden (scale, only while it is not observed), none; reference (scale, planted in
 * the reference: it is to be found the odd one out); recorded (scale, and what the target gave is
 * recorded and then all there is), sparse (the same of every third node), spoilt (one recorded
 * value is off, and nothing that was made of it), honest (every third node, and no fault). --sample
 * 0 takes every eligible node. An answer is right when the planted node comes first, with the
 * diagnosis that the kind deserves; nodes accused besides it are counted, because no other node has
 * a fault. Where nothing is planted no node is to be accused, but one that leaves the range of
 * float16 where that is expected; and that nothing can be said of such a model is right.
 */
#include "probe/run_values.h"
#include "tests/planted/subject.h"

#include <math.h>

#include "tensor/format/npz.h"

struct options {
    const char *target, *reference, *expect;
    char *kinds;
    size_t sample;
    uint64_t seed;
};

/* What became of the faults of one kind in one model, or in all. */
struct score {
    size_t planted, named, region, masked, refused, innocent;
    size_t loads, runs;
    double seconds;
};

static size_t tap_number;
static bool tap_failed;

static void tap(bool good, const char *text)
{
    printf("%sok %zu - %s\n", good ? "" : "not ", ++tap_number, text);
    fflush(stdout);
    tap_failed = tap_failed || !good;
}

/* --- recordings ------------------------------------------------------------------------------- */

/* One output of the node, a little larger. */
static enum odb_status spoil(const struct subject *s, int node, const int *values, size_t n,
                             struct odb_tensor **outputs, struct odb_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct odb_tensor *t = outputs[i], *own;
        if (s->model->graph->values[values[i]].producer != node || t->kind != ODB_TENSOR ||
            !odb_dtype_is_float(t->dtype))
            continue;
        ODB_TRY(odb_tensor_copy_of(&own, t->dtype, t->rank, t->dims, t->data, err));
        for (size_t k = 0; k < own->count; k++)
            odb_store_f64(own->dtype, own->data, k, odb_tensor_f64(own, k) * (1 + PLANTED_AMOUNT));
        odb_tensor_unref(t);
        outputs[i] = own;
        return ODB_OK;
    }
    return ODB_OK;
}

/* What spec gives, in an archive. */
static enum odb_status record(const struct subject *s, const char *kind, int node, const char *spec,
                              const char *path, struct odb_error *err)
{
    const struct odb_graph *graph = s->model->graph;
    int *values = odb_new_n(int, graph->n_values);
    const char **names = odb_new_n(const char *, graph->n_values);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, graph->n_values);
    size_t n = 0;
    for (size_t v = 0; v < graph->n_values; v++) {
        int producer = graph->values[v].producer;
        bool all = strcmp(kind, "sparse") != 0 && strcmp(kind, "honest") != 0;
        bool takes = all || producer % 3 == 2 || graph->values[v].is_output;
        if (takes && odb_probe_wants(graph, s->trace, (int)v) && s->trace->ref[v] &&
            s->trace->ref[v]->kind == ODB_TENSOR) {
            names[n] = graph->values[v].name;
            values[n++] = (int)v;
        }
    }
    enum odb_status status =
        odb_run_values(s->model, s->feeds, spec, values, n, outputs, NULL, 0, NULL, err);
    for (size_t i = 0; i < s->feeds->n && status == ODB_OK; i++) { /* else it may be of others */
        values[n] = s->feeds->items[i].value;
        names[n] = graph->values[values[n]].name;
        outputs[n++] = odb_tensor_ref(s->feeds->items[i].tensor);
    }
    if (status == ODB_OK && strcmp(kind, "spoilt") == 0)
        status = spoil(s, node, values, n, outputs, err);
    if (status == ODB_OK)
        status =
            odb_npz_write(path, names, (const struct odb_tensor *const *)outputs, n, false, err);
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(outputs[i]);
    free(outputs);
    free(names);
    free(values);
    return status;
}

/* Nothing that is fed goes into the node: where it was not recorded, it is taken to be right. */
static bool weights_only(const struct subject *s, int node)
{
    const struct odb_graph *graph = s->model->graph;
    bool *up = odb_new_n(bool, graph->n_nodes);
    int *list = odb_new_n(int, graph->n_values);
    odb_graph_ancestors(graph, graph->nodes[node].out, (size_t)graph->nodes[node].n_out, NULL, up);
    bool only = odb_graph_segment_inputs(graph, up, list) == 0;
    free(list);
    free(up);
    return only;
}

/* --- planting --------------------------------------------------------------------------------- */

static bool deserved(const char *kind, enum odb_diagnosis diagnosis)
{
    static const struct {
        const char *kind;
        enum odb_diagnosis diagnosis;
    } rows[] = {{"scale", ODB_KIND_INTRODUCED},    {"reference", ODB_KIND_INTRODUCED},
                {"recorded", ODB_KIND_INTRODUCED}, {"sparse", ODB_KIND_INTRODUCED},
                {"spoilt", ODB_KIND_INTRODUCED},   {"nan", ODB_KIND_NAN},
                {"crash", ODB_KIND_CRASH},         {"hang", ODB_KIND_HANG},
                {"hidden", ODB_KIND_PROBE_EFFECT}};
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        if (strcmp(kind, rows[i].kind) == 0)
            return diagnosis == rows[i].diagnosis;
    return false;
}

/* No fault of any node: the model itself leaves the range of the type that is expected there. */
static bool leaves_range(const struct subject *s, const struct options *options,
                         const struct odb_culprit *culprit)
{
    const struct odb_tensor *ref = culprit->value < 0 ? NULL : s->trace->ref[culprit->value];
    bool beyond = false;
    for (size_t i = 0; ref && ref->kind == ODB_TENSOR && i < ref->count; i++)
        beyond |= fabs(odb_tensor_f64(ref, i)) > 65504; /* the largest float16 */
    return beyond && culprit->kind == ODB_KIND_OVERFLOW && options->expect &&
           strcmp(options->expect, "f16") == 0;
}

/* Plants one fault; true when the answer is right. what gets a word on a wrong one. */
static bool plant(const struct subject *s, const struct options *options, const char *kind,
                  int node, struct score *score, char *what, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_report *report = NULL;
    bool hidden = strcmp(kind, "hidden") == 0, none = faultless(kind);
    bool wrong = strcmp(kind, "reference") == 0, sparse = strcmp(kind, "sparse") == 0;
    char *spec = fault_spec(kind, node, wrong ? options->reference : options->target);
    char *path = odb_xasprintf("%s/planted-%d.npz", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
                               (int)getpid());
    char *dump = odb_xasprintf("dump:%s", path);
    struct odb_bisect_options search = {.reference = wrong ? spec : options->reference,
                                        .target = wrong           ? options->target
                                                  : records(kind) ? dump
                                                                  : spec,
                                        .tolerance = ODB_CRITERION_DEFAULT,
                                        .expect = options->expect,
                                        .trace = wrong ? NULL : s->trace};
    enum odb_status status = ODB_OK;
    if (records(kind))
        status = record(s, kind, node, spec, path, &err);
    if (status == ODB_OK)
        status = odb_bisect(&report, s->model, s->feeds, &search, &err);
    const struct odb_culprit *first =
        report && report->culprits.n ? &report->culprits.items[0] : NULL;
    bool right = false;
    score->planted++;
    snprintf(what, size, "nobody");
    if (status != ODB_OK) {
        odb_error_text(&err, what, size);
        right = (hidden && strstr(what, "no fault can hide")) || strstr(what, "change nothing") ||
                (none && options->expect && strstr(what, "this model does not survive"));
        score->refused += right;
    } else if (none) {
        right = first ? leaves_range(s, options, first) : !report->outputs_diverge;
    } else if (first && first->node == node && first->segment[0] == first->segment[1]) {
        right = deserved(kind, first->kind) && first->of_reference == wrong;
        score->named += right;
    } else if (sparse && weights_only(s, node)) {
        right = true;
        score->refused++;
    } else if (sparse && first && first->segment[0] <= node && node <= first->segment[1]) {
        right = deserved(kind, first->kind);
        score->region += right;
    } else if (sparse && !first && !report->outputs_diverge) {
        right = true; /* it does not come through to what was recorded */
    } else if (hidden && first && first->segment[0] <= node && node <= first->segment[1]) {
        right = first->kind == ODB_KIND_PROBE_EFFECT || first->kind == ODB_KIND_FUSION;
        score->region += right;
    } else if (hidden && !first && !report->outputs_diverge) {
        right = true; /* nothing to see from outside: no output shows it */
    }
    if (report) {
        score->masked += !report->outputs_diverge && !none;
        score->loads += report->target_loads;
        score->runs += report->target_runs;
        score->seconds += report->seconds;
        for (size_t i = 0; i < report->culprits.n; i++)
            score->innocent += report->culprits.items[i].node != node &&
                               !leaves_range(s, options, &report->culprits.items[i]) &&
                               !(sparse && report->culprits.items[i].segment[0] <= node &&
                                 node <= report->culprits.items[i].segment[1]);
    }
    if (first && !right) {
        const struct odb_node *n = &s->model->graph->nodes[first->node];
        snprintf(what, size, "#%d %s (%s, local %.3g, noise %.3g)", first->node, n->op_type,
                 odb_diagnosis_name(first->kind), first->numbers.local_error.v,
                 first->numbers.local_noise.v);
    } else if (!right && status == ODB_OK && report->outputs_diverge) {
        snprintf(what, size, "nobody, though the outputs diverge");
    }
    odb_report_free(report);
    unlink(path);
    free(dump);
    free(path);
    free(spec);
    return right;
}

static void run_kind(const struct subject *s, const struct options *options, const char *kind,
                     struct score *total)
{
    struct score score = {0};
    bool none = faultless(kind);
    size_t n = none ? 1 : s->n_eligible, wrong = 0;
    size_t wanted = options->sample && !none ? ODB_MIN(options->sample, n) : n;
    double start = odb_clock();
    for (size_t i = 0; i < wanted; i++) {
        char what[400];
        size_t at = wanted == n ? i : odb_mix64(options->seed + i) % n;
        int node = none ? -1 : s->eligible[at];
        if (plant(s, options, kind, node, &score, what, sizeof what))
            continue;
        wrong++;
        printf("# %s %s node %d %s: answered %s\n", s->path, kind, node,
               node < 0 ? "" : s->model->graph->nodes[node].op_type, what);
    }
    char line[600];
    snprintf(line, sizeof line,
             "%s %s@%s: planted %zu of %zu eligible, named first %zu, region %zu, masked %zu, "
             "refused %zu, innocents accused %zu, wrong %zu; %.1f loads %.1f runs per search; "
             "%.1f s",
             s->path, kind, options->target, score.planted, s->n_eligible, score.named,
             score.region, score.masked, score.refused, score.innocent, wrong,
             (double)score.loads / (double)ODB_MAX(score.planted, (size_t)1),
             (double)score.runs / (double)ODB_MAX(score.planted, (size_t)1), odb_clock() - start);
    tap(wrong == 0 && score.planted > 0, line);
    total->planted += score.planted;
    total->named += score.named;
    total->region += score.region;
    total->masked += score.masked;
    total->refused += score.refused;
    total->innocent += score.innocent;
    total->loads += score.loads;
    total->runs += score.runs;
    total->seconds += score.seconds;
}

static void run_model(const char *path, const struct options *options, struct score *totals)
{
    struct subject s;
    struct odb_error err = ODB_ERROR_INIT;
    char text[1200], *kinds = odb_xstrdup(options->kinds), *rest = kinds, *kind;
    if (subject_open(&s, path, options->reference, options->expect, &err) != ODB_OK) {
        tap(false, odb_error_text(&err, text, sizeof text));
    } else {
        for (size_t k = 0; (kind = strsep(&rest, ",")); k++)
            run_kind(&s, options, kind, &totals[k]);
    }
    subject_close(&s);
    free(kinds);
}

int main(int argc, char **argv)
{
    struct options options = {
        .target = "ort", .reference = "cpu", .kinds = "scale", .sample = 3, .seed = 1};
    struct score totals[16] = {{0}};
    int a = 1;
    for (; a + 1 < argc && strncmp(argv[a], "--", 2) == 0; a += 2) {
        if (strcmp(argv[a], "--target") == 0)
            options.target = argv[a + 1];
        else if (strcmp(argv[a], "--reference") == 0)
            options.reference = argv[a + 1];
        else if (strcmp(argv[a], "--expect") == 0)
            options.expect = argv[a + 1];
        else if (strcmp(argv[a], "--kinds") == 0)
            options.kinds = argv[a + 1];
        else if (strcmp(argv[a], "--sample") == 0)
            options.sample = strtoul(argv[a + 1], NULL, 10);
        else if (strcmp(argv[a], "--seed") == 0)
            options.seed = strtoull(argv[a + 1], NULL, 10);
        else
            break;
    }
    if (a >= argc) {
        fprintf(stderr, "usage: planted [--target SPEC] [--reference SPEC] [--expect TYPE] "
                        "[--kinds LIST] [--sample N] [--seed S] MODEL…\n");
        return 2;
    }
    for (; a < argc; a++)
        run_model(argv[a], &options, totals);
    char *rest = options.kinds = odb_xstrdup(options.kinds), *kind;
    for (size_t k = 0; (kind = strsep(&rest, ",")) && k < ODB_COUNT(totals); k++)
        printf("# total %s@%s: planted %zu, named first %zu, region %zu, masked %zu, refused %zu, "
               "innocents accused %zu; %.1f loads, %.1f runs, %.2f s per search\n",
               kind, options.target, totals[k].planted, totals[k].named, totals[k].region,
               totals[k].masked, totals[k].refused, totals[k].innocent,
               (double)totals[k].loads / (double)ODB_MAX(totals[k].planted, (size_t)1),
               (double)totals[k].runs / (double)ODB_MAX(totals[k].planted, (size_t)1),
               totals[k].seconds / (double)ODB_MAX(totals[k].planted, (size_t)1));
    printf("1..%zu\n", tap_number);
    free(options.kinds);
    return tap_failed;
}
