/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The plan: feed the other model, run it, pair its values with the original's, hand them to the
 * search as a recording, and tell of every culprit what differs there in the two models.
 */
#include "twomodels/against.h"

#include "twomodels/against_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/plan/bisect.h"
#include "bisect/bisect_options.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "report/json.h"
#include "probe/probe.h"
#include "report/report.h"
#include "probe/run_values.h"
#include "executor/executor.h"
#include "executor/recorded/renames.h"
#include "kernels/core/facts.h"

/* --- what it was made into -------------------------------------------------------------------- */

/* Elements of float weights, by type. */
static size_t against_weight(const struct odb_graph *g, enum odb_dtype dtype)
{
    size_t n = 0;
    for (size_t v = 0; v < g->n_values; v++)
        if (g->values[v].init && g->values[v].init->dtype == dtype)
            n += g->values[v].init->count;
    return n;
}

static size_t against_quantised(const struct odb_graph *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        n += (odb_facts_of(NULL, g->nodes[i].op_type)->traits & ODB_IS_QUANTISED) != 0;
    return n;
}

struct odb_against_made odb_against_made(const struct odb_graph *original,
                                         const struct odb_graph *other)
{
    struct odb_against_made made = {.quantised =
                                        against_quantised(other) > against_quantised(original)};
    size_t wide = against_weight(other, ODB_F32) + against_weight(other, ODB_F64);
    if (against_weight(other, ODB_F16) > wide &&
        against_weight(original, ODB_F16) < against_weight(original, ODB_F32))
        made.expect = "f16";
    else if (against_weight(other, ODB_BF16) > wide &&
             against_weight(original, ODB_BF16) < against_weight(original, ODB_F32))
        made.expect = "bf16";
    return made;
}

bool odb_against_runs(const struct odb_model *model)
{
    struct odb_cpu *cpu;
    struct odb_error ignored = ODB_ERROR_INIT;
    bool runs = odb_cpu_new(&cpu, model, &ignored) == ODB_OK;
    if (!runs)
        return false;
    for (size_t n = 0; n < model->graph->n_nodes; n++)
        runs = runs && !odb_cpu_unsupported(cpu, (int)n)[0];
    odb_cpu_free(cpu);
    return runs;
}

/* --- running it ------------------------------------------------------------------------------- */

char *against_mapped(void *payload, const char *name)
{
    const struct against *x = payload;
    return odb_renames_apply(x->how->renames, name, NULL);
}

/* What the other model is fed: the original's feeds, in its own types. */
static enum odb_status against_feed(struct against *x, struct odb_error *err)
{
    struct odb_alignment borders;
    struct odb_align_sides sides = {
        .original = x->a, .other = x->b, .mapped = against_mapped, .payload = x};
    int *list = odb_new_n(int, x->b->n_inputs + 1);
    size_t n = odb_graph_feeds(x->b, list);
    enum odb_status status = ODB_OK;
    odb_align(&borders, &sides);
    x->there.items = odb_new_n(struct odb_feed, n + 1);
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        const struct odb_value *to = &x->b->values[list[i]];
        const struct odb_feed *from = NULL;
        for (size_t f = 0; f < x->feeds->n; f++)
            if (x->feeds->items[f].value == borders.original[list[i]])
                from = &x->feeds->items[f];
        struct odb_feed *feed = &x->there.items[x->there.n];
        *feed = (struct odb_feed){.value = list[i], .source = "the original's"};
        if (!from) {
            status = odb_fail(err, ODB_E_USAGE,
                              "input %s has no counterpart among the original's inputs", to->name);
            odb_error_at(err, "%s", x->how->other->path);
            odb_error_remedy(err, "say which it is: --map FILE with a line ORIGINAL = OTHER");
        } else if (to->type.known && to->type.kind == ODB_TENSOR &&
                   from->tensor->kind == ODB_TENSOR && to->type.dtype != from->tensor->dtype) {
            status = odb_tensor_cast(&feed->tensor, from->tensor, to->type.dtype, err);
        } else {
            feed->tensor = odb_tensor_ref(from->tensor);
        }
        x->there.n += status == ODB_OK;
    }
    odb_alignment_dispose(&borders);
    free(list);
    return status;
}

static void against_unref(struct odb_tensor **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(list[i]);
    free(list);
}

/* The status of a run of the other model; where it does not run, what to do. */
static enum odb_status against_ran(const struct against *x, enum odb_status status,
                                   struct odb_error *err)
{
    if (status != ODB_OK && status != ODB_CANCELLED && err && !err->remedy[0])
        odb_error_remedy(err, "it is %s that does not run; bisect it by itself",
                         x->how->other->path);
    return status;
}

static enum odb_status against_run(struct against *x, struct odb_error *err)
{
    int *list = odb_new_n(int, x->b->n_values + 1);
    char text[400] = "";
    size_t n = 0;
    for (size_t w = 0; w < x->b->n_values; w++)
        if (x->b->values[w].producer != ODB_NO_NODE && x->b->values[w].name[0] &&
            !x->b->values[w].init)
            list[n++] = (int)w;
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, n + 1);
    odb_hooks_phase(&x->options->hooks, "the other model", 0);
    enum odb_status status = odb_run_values(x->how->other, &x->there, x->how->spec, list, n,
                                            outputs, text, sizeof text, &x->options->hooks, err);
    x->loads++;
    x->runs++;
    for (size_t i = 0; i < n; i++)
        x->had[list[i]] = outputs[i];
    for (size_t f = 0; f < x->there.n; f++)
        x->had[x->there.items[f].value] = odb_tensor_ref(x->there.items[f].tensor);
    x->description = odb_xstrdup(text);
    free(outputs);
    free(list);
    return against_ran(x, status, err);
}

/* A runtime may compute otherwise while every value is an output, so what its outputs come to is
 * asked of a run that reads nothing else. The reference computes one as the other. */
static enum odb_status against_run_unobserved(struct against *x, struct odb_error *err)
{
    int *list = odb_new_n(int, x->a->n_outputs + 1), *of = odb_new_n(int, x->a->n_outputs + 1);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, x->a->n_outputs + 1);
    enum odb_status status = ODB_OK;
    size_t n = 0;
    for (size_t o = 0; o < x->a->n_outputs; o++) {
        int u = x->a->outputs[o], w = x->alignment.other[u];
        if (w < 0 || !x->given[u] || x->b->values[w].producer == ODB_NO_NODE)
            continue;
        of[n] = u;
        list[n++] = w;
    }
    if (n && !odb_executor_is_reference(x->how->spec)) {
        odb_hooks_phase(&x->options->hooks, "the other model, nothing else read", 0);
        status = against_ran(x,
                             odb_run_values(x->how->other, &x->there, x->how->spec, list, n,
                                            outputs, NULL, 0, &x->options->hooks, err),
                             err);
        x->loads++;
        x->runs++;
    }
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        struct odb_tensor *plain = NULL;
        if (!outputs[i])
            continue;
        status = against_plain_of(x, list[i], outputs[i], &plain, err);
        if (status == ODB_OK && plain)
            status = against_cast(x, of[i], plain, &x->unobserved[of[i]], err);
        odb_tensor_unref(plain);
    }
    against_unref(outputs, n);
    free(list);
    free(of);
    return status;
}

/* --- what came of it -------------------------------------------------------------------------- */

/* Every culprit's region: run alone, and told of in both models' nodes. */
static enum odb_status against_explain(struct against *x, struct odb_report *report,
                                       json_t *regions, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    size_t accused = 0;
    for (size_t c = 0; c < report->culprits.n; c++)
        accused += odb_diagnosis_accuses(report->culprits.items[c].kind);
    for (size_t c = 0; c < report->culprits.n && status == ODB_OK; c++) {
        struct odb_culprit *culprit = &report->culprits.items[c];
        struct odb_buf words = ODB_BUF_INIT;
        struct against_region r;
        if (culprit->value < 0 || x->alignment.other[culprit->value] < 0 ||
            culprit->kind == ODB_KIND_OVERFLOW || /* of the type, and of no node */
            culprit->kind == ODB_KIND_EXCHANGED)
            continue;
        against_region_init(x, &r, culprit->value);
        status = against_alone(x, &r, err);
        if (status == ODB_OK && accused == 1 && odb_diagnosis_accuses(culprit->kind))
            status = against_pinned(x, &r, report, err);
        against_trust(x, culprit, &r);
        against_weights_within(x, &r);
        against_attrs_within(x, &r);
        against_border_within(x, &r);
        against_shape_within(x, &r);
        against_words(x, culprit, &r, &words);
        free(culprit->text);
        culprit->text = odb_buf_take(&words);
        json_array_append_new(regions, against_json_region(x, culprit, &r));
        against_region_dispose(&r);
    }
    return status;
}

static void against_sum(const struct against *x, struct odb_report *report, json_t *regions)
{
    struct odb_buf out = ODB_BUF_INIT;
    size_t by[AGAINST_PAIRED] = {0}, n = against_count(x, by);
    against_sum_pairs(x, &out);
    against_sum_layout(x, &out);
    against_sum_weights(x, &out);
    report->summary = odb_buf_take(&out);
    if (x->alignment.n_unknown)
        odb_report_warn(report,
                        "%zu names of the map, that for %s among them, are none of the other "
                        "model's; `onnxdbg nodes %s` lists what it has",
                        x->alignment.n_unknown, x->alignment.unknown, x->how->other->path);
    json_t *against = json_pack(
        "{so,so,si,si,si,sI,so,so,so}", "model", odb_json_text(x->how->other->path), "target",
        odb_json_text(x->how->spec), "nodes", (int)x->b->n_nodes, "paired",
        (int)(n - by[ODB_PAIRED_NOT]), "of", (int)n, "block", (json_int_t)x->block, "regions",
        json_incref(regions), "weights", against_json_weights(x), "pairs", against_json_pairs(x));
    report->more = json_pack("{so}", "against", against);
}

/* --- all of it -------------------------------------------------------------------------------- */

static enum odb_status against_search(struct against *x, struct odb_report **out,
                                      struct odb_error *err)
{
    struct odb_bisect_options options = *x->options;
    ODB_TRY(against_feed(x, err));
    ODB_TRY(against_run(x, err));
    ODB_TRY(against_align(x, err));
    ODB_TRY(against_run_unobserved(x, err));
    json_t *regions = json_array();
    options.recorded = x->given;
    options.unobserved = x->unobserved;
    enum odb_status status = odb_bisect(out, x->model, x->feeds, &options, err);
    if (status == ODB_OK)
        status = against_steps(x, *out, err);
    if (status == ODB_OK)
        status = against_explain(x, *out, regions, err);
    if (*out) {
        against_sum(x, *out, regions);
        (*out)->target_loads = x->loads;
        (*out)->target_runs = x->runs;
        free((*out)->target_description);
        (*out)->target_description = odb_xstrdup(x->description);
    }
    json_decref(regions);
    return status;
}

enum odb_status odb_against_bisect(struct odb_report **out, const struct odb_against *against,
                                   const struct odb_model *model, const struct odb_feeds *feeds,
                                   const struct odb_bisect_options *options, struct odb_error *err)
{
    const struct odb_graph *a = model->graph, *b = against->other->graph;
    struct against x = {.how = against,
                        .model = model,
                        .feeds = feeds,
                        .options = options,
                        .a = a,
                        .b = b,
                        .quantised = odb_against_made(a, b).quantised,
                        .trace = options->trace,
                        .had = odb_new_n(struct odb_tensor *, b->n_values + 1),
                        .plain = odb_new_n(struct odb_tensor *, b->n_values + 1),
                        .given = odb_new_n(struct odb_tensor *, a->n_values + 1),
                        .unobserved = odb_new_n(struct odb_tensor *, a->n_values + 1),
                        .tells = odb_new_n(signed char, a->n_values + 1),
                        .rms = odb_new_n(double, a->n_values + 1),
                        .blocked = odb_new_n(bool, b->n_values + 1),
                        .constants = odb_new_n(struct odb_tensor *, b->n_values + 1),
                        .stop_a = odb_new_n(bool, a->n_values + 1),
                        .stop_b = odb_new_n(bool, b->n_values + 1)};
    enum odb_status status = against_search(&x, out, err);
    against_unref(x.had, b->n_values);
    against_unref(x.plain, b->n_values);
    against_unref(x.given, a->n_values);
    against_unref(x.unobserved, a->n_values);
    against_unref(x.constants, b->n_values);
    free(x.blocked);
    for (size_t f = 0; f < x.there.n; f++)
        odb_tensor_unref(x.there.items[f].tensor);
    free(x.there.items);
    odb_alignment_dispose(&x.alignment);
    free(x.weights);
    free(x.tells);
    free(x.rms);
    free(x.stop_a);
    free(x.stop_b);
    free(x.description);
    return status;
}
