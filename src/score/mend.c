/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/metrics.h"
#include "probe/reference_from.h"
#include "score/score_int.h"

bool score_fatal(enum odb_status status)
{
    return status != ODB_OK && status != ODB_E_EXECUTOR && status != ODB_UNSUPPORTED &&
           status != ODB_E_CRASH && status != ODB_E_TIMEOUT && status != ODB_SKIPPED;
}

enum odb_status score_enter(struct scorer *s, const char *phase, size_t i, struct odb_feeds **feeds,
                            struct odb_error *err)
{
    const struct odb_search_hooks *hooks = &s->search->hooks;
    odb_hooks_progress(hooks, phase, ODB_NO_NODE, i, s->options->n);
    ODB_TRY(odb_hooks_cancelled(hooks, err));
    return s->options->feeds(s->options->payload, i, feeds, err);
}

enum odb_status score_reference(struct odb_trace **out, const struct odb_model *model,
                                const struct odb_bisect_options *search,
                                const struct odb_feeds *feeds, const int *values, size_t n,
                                struct odb_error *err)
{
    struct odb_trace_options how;
    ODB_TRY(odb_bisect_trace_options(search, &how, err));
    how.no_golden = true;
    return odb_reference_up_to(out, model, feeds, values, n, &how, err);
}

/* --- one run of the target -------------------------------------------------------------------- */

/* The values of a sample that are not the target's own. */
struct mended {
    bool *pinned;             /* owned; [n_values] */
    struct odb_tensor **made; /* owned refs; [n_values] what stands there; NULL elsewhere */
};

static struct mended mended_new(const struct scorer *s)
{
    size_t n = s->model->graph->n_values;
    return (struct mended){odb_new_n(bool, n + 1), odb_new_n(struct odb_tensor *, n + 1)};
}

static void mended_free(const struct scorer *s, struct mended *m)
{
    for (size_t v = 0; m->made && v < s->model->graph->n_values; v++)
        odb_tensor_unref(m->made[v]);
    free(m->made);
    free(m->pinned);
    *m = (struct mended){0};
}

/* What the target does not make of it: mended, fed, or a weight. Borrowed; NULL: it makes it. */
static struct odb_tensor *mend_given(const struct scorer *s, const struct odb_feeds *feeds,
                                     const struct mended *m, int value)
{
    if (m && m->made[value])
        return m->made[value];
    for (size_t f = 0; f < feeds->n; f++)
        if (feeds->items[f].value == value)
            return feeds->items[f].tensor;
    return (struct odb_tensor *)s->model->graph->values[value].init;
}

/* Values of the target, those that are mended as they are. out: [n], the caller's refs. */
static enum odb_status mend_ask(struct scorer *s, size_t sample, const struct odb_feeds *feeds,
                                const struct mended *m, const int *list, size_t n,
                                struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_graph *graph = s->model->graph;
    struct odb_prober prober = odb_prober_refed(&s->prober, feeds);
    int *asked = odb_new_n(int, n + 1);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, n + 1);
    char what[64];
    snprintf(what, sizeof what, "sample %zu of %zu", sample + 1, s->options->n);
    struct odb_probe probe = {.asked = m ? ODB_PROBE_KIND_PINNED : ODB_PROBE_KIND_SAMPLE,
                              .what = what,
                              .node = ODB_NO_NODE,
                              .values = asked,
                              .outputs = had,
                              .given = m ? m->made : NULL};
    prober.pinned = m ? m->pinned : NULL;
    for (size_t i = 0; i < n; i++)
        if (!mend_given(s, feeds, m, list[i]))
            asked[probe.n_values++] = list[i];
    enum odb_status status = probe.n_values ? odb_probe_run(&prober, &probe, err) : ODB_OK;
    for (size_t i = 0, k = 0; i < n && status == ODB_OK; i++) {
        struct odb_tensor *given = mend_given(s, feeds, m, list[i]);
        out[i] = odb_tensor_ref(given ? given : had[k++]);
        if (!out[i])
            status = odb_fail(err, ODB_UNSUPPORTED, "%s cannot be read there",
                              graph->values[list[i]].name);
    }
    odb_probe_drop(&prober, &probe);
    free(had);
    free(asked);
    return status;
}

/* --- reference and target --------------------------------------------------------------------- */

/* Of the worst output, as far as the reference has it. */
static double mend_error(const struct scorer *s, struct odb_tensor *const *is,
                         struct odb_tensor *const *should)
{
    double worst = 0;
    for (size_t o = 0; o < s->n_outputs; o++)
        if (is[o] && should[o])
            worst = fmax(worst, odb_relative_distance(is[o], should[o]));
    return worst;
}

static struct odb_metric_sample mend_sample(const struct scorer *s, size_t i,
                                            const struct odb_feeds *feeds,
                                            struct odb_tensor *const *outputs)
{
    return (struct odb_metric_sample){.index = i,
                                      .source = s->out->samples.items[i].source,
                                      .feeds = feeds,
                                      .outputs = outputs,
                                      .reference = s->samples[i].right};
}

static enum odb_status mend_reference(struct scorer *s, size_t i, const struct odb_feeds *feeds,
                                      struct odb_error *err)
{
    struct odb_trace *trace;
    ODB_TRY(score_reference(&trace, s->model, s->search, feeds, s->outputs, s->n_outputs, err));
    enum odb_status status = ODB_OK;
    s->samples[i].right = odb_new_n(struct odb_tensor *, s->n_outputs + 1);
    for (size_t o = 0; o < s->n_outputs && status == ODB_OK; o++) {
        const struct odb_tensor *t = odb_trace_value(trace, s->outputs[o]);
        s->samples[i].right[o] = t ? odb_tensor_ref(t) : NULL;
        int maker = s->model->graph->values[s->outputs[o]].producer;
        if (!t && !(s->options->metric->kind->one && o != s->options->metric->output))
            status = odb_fail(err, ODB_UNSUPPORTED, "the reference has no output %s: %s",
                              s->model->graph->values[s->outputs[o]].name,
                              maker >= 0 && trace->why[maker] ? trace->why[maker] : "no value");
    }
    bool first = status == ODB_OK && !s->like;
    if (first)
        s->like = trace;
    else
        odb_trace_free(trace);
    for (size_t o = 0; o < s->n_outputs && status == ODB_OK && !first; o++)
        status = odb_spill_take(s->spill, s->samples[i].right[o], err);
    return status;
}

static enum odb_status mend_one(struct scorer *s, size_t i, const struct odb_feeds *feeds,
                                struct odb_error *err)
{
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, s->n_outputs + 1);
    struct odb_score_sample *sample = &s->out->samples.items[i];
    enum odb_status status = mend_reference(s, i, feeds, err);
    if (status == ODB_OK && !s->prober.pool)
        odb_prober_init(&s->prober, s->model, feeds, s->like, s->pool, s->search->hooks);
    if (status == ODB_OK)
        status = mend_ask(s, i, feeds, NULL, s->outputs, s->n_outputs, had, err);
    struct odb_metric_sample right = mend_sample(s, i, feeds, s->samples[i].right),
                             run = mend_sample(s, i, feeds, had);
    if (status == ODB_OK)
        status = odb_metric_take(s->options->metric, &right, &s->right[i], err);
    if (status == ODB_OK)
        status = odb_metric_take(s->options->metric, &run, &s->run[i], err);
    if (status == ODB_OK) {
        s->samples[i].has = true;
        sample->error = mend_error(s, had, s->samples[i].right);
        sample->changed = !odb_share_same(&s->right[i], &s->run[i]);
    }
    for (size_t o = 0; o < s->n_outputs; o++)
        odb_tensor_unref(had[o]);
    free(had);
    return status;
}

enum odb_status score_run(struct scorer *s, struct odb_error *err)
{
    struct odb_feeds *feeds;
    ODB_TRY(odb_probe_pool(&s->pool, s->search->target, &s->search->hooks, err));
    odb_hooks_phase(&s->search->hooks, "reference and target", s->options->n);
    for (size_t i = 0; i < s->options->n; i++) {
        struct odb_score_sample *sample = &s->out->samples.items[i];
        struct odb_error why = ODB_ERROR_INIT;
        ODB_TRY(score_enter(s, "reference and target", i, &feeds, err));
        enum odb_status status = mend_one(s, i, feeds, &why);
        if (s->like && s->like->feeds == feeds)
            s->fed = feeds;
        else
            odb_feeds_free(feeds);
        if (score_fatal(status)) {
            *err = why;
            return status;
        }
        if (status != ODB_OK) {
            char text[1000];
            sample->failed = status;
            sample->why = odb_xstrdup(odb_error_text(&why, text, sizeof text));
        }
    }
    return ODB_OK;
}

/* --- mending ---------------------------------------------------------------------------------- */

/* Whether the target's own is read for it: it hangs on what is fed. */
static bool mend_reads(const struct scorer *s, int value)
{
    return value >= 0 && s->model->graph->values[value].producer != ODB_NO_NODE &&
           !s->prober.constant[value];
}

static size_t mend_list(const struct scorer *s, int node, int *list, size_t n)
{
    const struct odb_node *of = &s->model->graph->nodes[node];
    for (size_t i = 0; i < odb_node_n_reads(of); i++) {
        int v = odb_node_reads(of, i);
        bool there = false;
        for (size_t k = 0; k < n; k++)
            there = there || list[k] == v;
        if (mend_reads(s, v) && !there)
            list[n++] = v;
    }
    return n;
}

enum odb_status score_read(struct scorer *s, const struct score_set *set, struct odb_error *err)
{
    struct odb_feeds *feeds;
    enum odb_status status = ODB_OK;
    free(s->list);
    s->list = odb_new_n(int, s->model->graph->n_values + 1);
    s->n_list = 0;
    for (size_t i = 0; i < set->n; i++)
        s->n_list = mend_list(s, set->nodes[i], s->list, s->n_list);
    odb_hooks_phase(&s->search->hooks, "what nodes are fed", s->options->n);
    for (size_t i = 0; i < s->options->n && status == ODB_OK; i++) {
        struct score_kept *kept = &s->samples[i];
        if (!kept->has)
            continue;
        ODB_TRY(score_enter(s, "what nodes are fed", i, &feeds, err));
        struct mended none = mended_new(s);
        kept->fed = odb_new_n(struct odb_tensor *, s->n_list + 1);
        status = mend_ask(s, i, feeds, &none, s->list, s->n_list, kept->fed, err);
        for (size_t k = 0; k < s->n_list && status == ODB_OK; k++)
            status = odb_spill_take(s->spill, kept->fed[k], err);
        mended_free(s, &none);
        odb_feeds_free(feeds);
    }
    return status;
}

/* What the node is fed: mended, read of the target as it is or as it is mended, or the same on
 * both. Borrowed; NULL: there is none. */
static struct odb_tensor *mend_fed(const struct scorer *s, const struct score_kept *kept,
                                   const struct odb_feeds *feeds, const struct mended *m, int value,
                                   struct odb_tensor *const *now, const int *list, size_t n)
{
    if (value < 0 || mend_given(s, feeds, m, value))
        return value < 0 ? NULL : mend_given(s, feeds, m, value);
    for (size_t i = 0; i < n; i++)
        if (list[i] == value && now[i])
            return now[i];
    for (size_t k = 0; k < s->n_list; k++)
        if (s->list[k] == value)
            return kept->fed[k];
    return (struct odb_tensor *)odb_trace_value(s->like, value);
}

/* The reference operator on those stands in for the node from now on. */
static enum odb_status mend_replay(struct scorer *s, const struct score_kept *kept,
                                   const struct odb_feeds *feeds, int node, struct mended *m,
                                   struct odb_tensor *const *now, const int *list, size_t n,
                                   struct odb_error *err)
{
    const struct odb_graph *graph = s->model->graph;
    const struct odb_node *of = &graph->nodes[node];
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, (size_t)of->n_in + 1),
                      **captured = odb_new_n(struct odb_tensor *, graph->n_values + 1),
                      **out = odb_new_n(struct odb_tensor *, (size_t)of->n_out + 1);
    for (int i = 0; i < of->n_in; i++)
        in[i] = mend_fed(s, kept, feeds, m, of->in[i], now, list, n);
    for (size_t i = 0; i < of->n_captured; i++)
        captured[of->captured[i]] = mend_fed(s, kept, feeds, m, of->captured[i], now, list, n);
    enum odb_status status = odb_trace_replay(s->like, node, ODB_PREC_NATIVE, s->search->seed, in,
                                              captured, ODB_SIMULATE_ALL, out, err);
    for (int o = 0; o < of->n_out; o++) {
        if (status == ODB_OK && of->out[o] >= 0 && out[o]) {
            m->made[of->out[o]] = out[o];
            m->pinned[of->out[o]] = true;
        } else {
            odb_tensor_unref(out[o]);
        }
    }
    free(out);
    free(captured);
    free(in);
    return status;
}

/* Whether what the node is fed hangs on what is mended. */
static bool mend_follows(const struct scorer *s, int node, const struct mended *m)
{
    const struct odb_graph *graph = s->model->graph;
    bool *up = odb_new_n(bool, graph->n_nodes + 1), follows = false;
    int *list = odb_new_n(int, graph->n_values + 1);
    size_t n = mend_list(s, node, list, 0);
    odb_graph_ancestors(graph, list, n, NULL, up);
    for (size_t v = 0; v < graph->n_values; v++)
        follows = follows || (m->pinned[v] && up[graph->values[v].producer]);
    free(list);
    free(up);
    return follows;
}

/* One node more, on a sample. */
static enum odb_status mend_node(struct scorer *s, size_t i, const struct odb_feeds *feeds,
                                 int node, struct mended *m, struct odb_error *err)
{
    int *list = odb_new_n(int, s->model->graph->n_values + 1);
    size_t n = mend_follows(s, node, m) ? mend_list(s, node, list, 0) : 0;
    struct odb_tensor **now = odb_new_n(struct odb_tensor *, n + 1);
    enum odb_status status = n ? mend_ask(s, i, feeds, m, list, n, now, err) : ODB_OK;
    if (status == ODB_OK)
        status = mend_replay(s, &s->samples[i], feeds, node, m, now, list, n, err);
    for (size_t k = 0; k < n; k++)
        odb_tensor_unref(now[k]);
    free(now);
    free(list);
    return status;
}

static enum odb_status mend_share(struct scorer *s, size_t i, const struct odb_feeds *feeds,
                                  const struct mended *m, struct odb_share *share,
                                  struct odb_error *err)
{
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, s->n_outputs + 1);
    enum odb_status status = mend_ask(s, i, feeds, m, s->outputs, s->n_outputs, had, err);
    struct odb_metric_sample run = mend_sample(s, i, feeds, had);
    if (status == ODB_OK)
        status = odb_metric_take(s->options->metric, &run, share, err);
    for (size_t o = 0; o < s->n_outputs; o++)
        odb_tensor_unref(had[o]);
    free(had);
    return status;
}

/* Each step of all samples before the next, so that a step is one model that is loaded once. */
enum odb_status score_mend(struct scorer *s, const struct score_set *set, struct odb_share *shares,
                           struct odb_error *err)
{
    struct mended *all = odb_new_n(struct mended, s->options->n + 1);
    enum odb_status status = ODB_OK;
    char phase[64];
    snprintf(phase, sizeof phase, "%zu node%s mended, of #%d on", set->n, odb_plural(set->n),
             set->nodes[0]);
    odb_hooks_phase(&s->search->hooks, phase, s->options->n);
    for (size_t step = 0; step <= set->n && status == ODB_OK; step++)
        for (size_t i = 0; i < s->options->n && status == ODB_OK; i++) {
            struct odb_feeds *feeds;
            if (!s->samples[i].has)
                continue;
            if (!step)
                all[i] = mended_new(s);
            status = score_enter(s, phase, i, &feeds, err);
            if (status != ODB_OK)
                break;
            status = step < set->n ? mend_node(s, i, feeds, set->nodes[step], &all[i], err)
                                   : mend_share(s, i, feeds, &all[i], &shares[i], err);
            odb_feeds_free(feeds);
        }
    for (size_t i = 0; i < s->options->n; i++)
        mended_free(s, &all[i]);
    free(all);
    return status;
}
