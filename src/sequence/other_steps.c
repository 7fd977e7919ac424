/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/other_steps.h"

#include <stdlib.h>

#include "base/mem.h"
#include "report/report.h"
#include "sequence/forced.h"

#define OTHER_STEPS 6    /* that are tried */
#define OTHER_CULPRITS 3 /* of the searched step */

/* --- which ------------------------------------------------------------------------------------ */

static bool other_is_wrong(const struct odb_sequence *s, size_t k)
{
    return k != s->step && odb_forced_is_bad(s, k) && s->forced.items.items[k].failed == ODB_OK;
}

/* Whether the step has other wrong outputs than the one that was searched. */
static bool other_differs(const struct odb_sequence *s, size_t k)
{
    for (size_t o = 0; o < s->plan->model->graph->n_outputs; o++)
        if (odb_verdict_is_bad(s->seen[k].outputs[o].verdict) !=
            odb_verdict_is_bad(s->seen[s->step].outputs[o].verdict))
            return true;
    return false;
}

static void other_mark(struct odb_sequence *s, size_t k, size_t *n)
{
    if (k >= s->plan->steps || s->seen[k].tried || *n == OTHER_STEPS)
        return;
    s->seen[k].tried = true;
    ++*n;
}

static size_t other_choose(struct odb_sequence *s)
{
    size_t steps = s->plan->steps, n = 0, wrong = 0, first = steps, worst = steps, last = steps;
    for (size_t k = 0; k < steps; k++) {
        if (!other_is_wrong(s, k))
            continue;
        wrong++;
        last = k;
        first = first == steps && other_differs(s, k) ? k : first;
        if (worst == steps ||
            odb_sample_worse(&s->forced.items.items[k], &s->forced.items.items[worst]))
            worst = k;
    }
    other_mark(s, first, &n);
    other_mark(s, worst, &n);
    other_mark(s, last, &n);
    size_t seen = 0, every = ODB_MAX(wrong / OTHER_STEPS, (size_t)1);
    for (size_t k = 0; k < steps; k++)
        if (other_is_wrong(s, k) && seen++ % every == 0)
            other_mark(s, k, &n);
    return n;
}

/* --- trying ----------------------------------------------------------------------------------- */

struct other_subset {
    const struct odb_sequence *s;
    size_t steps[OTHER_STEPS];
};

static enum odb_status other_feeds(void *payload, size_t at, struct odb_feeds **out,
                                   struct odb_error *err)
{
    const struct other_subset *subset = payload;
    return odb_rollout_feeds(out, subset->s->rollout, subset->steps[at], err);
}

/* Of any other, as what overflows, or is wrong in company only, it says nothing to be right alone.
 */
static bool other_is_wrong_alone(const struct odb_culprit *culprit)
{
    return odb_samples_tries(culprit) && culprit->verified &&
           culprit->checks[ODB_CHECK_ALONE] == ODB_CONFIRMS;
}

enum odb_status odb_other_steps_try(struct odb_sequence *s, const struct odb_report *report,
                                    const struct odb_bisect_options *options, struct odb_error *err)
{
    struct other_subset subset = {.s = s};
    struct odb_samples samples = {.feeds = other_feeds, .payload = &subset, .reshapes = true};
    struct odb_culprit tried[OTHER_CULPRITS]; /* borrowed whole, as the report's */
    for (size_t i = 0; i < report->culprits.n && s->blamed.n < OTHER_CULPRITS; i++)
        if (other_is_wrong_alone(&report->culprits.items[i])) {
            tried[s->blamed.n] = report->culprits.items[i];
            odb_push(&s->blamed, report->culprits.items[i].node);
        }
    if (s->recorded || !report->complete || !s->blamed.n || !other_choose(s)) {
        s->blamed.n = 0;
        return ODB_OK;
    }
    for (size_t k = 0; k < s->plan->steps; k++)
        if (s->seen[k].tried) {
            subset.steps[samples.items.n] = k;
            odb_push(&samples.items, (struct odb_sample){0});
        }
    struct odb_report few = *report;
    few.culprits.items = tried;
    few.culprits.n = s->blamed.n;
    struct odb_bisect_options how = *options;
    how.pass = "other steps ";
    enum odb_status status = odb_samples_try(&samples, &few, &how, err);
    for (size_t i = 0; i < samples.items.n; i++) {
        struct odb_sample *to = &s->forced.items.items[subset.steps[i]];
        struct odb_sample *from = &samples.items.items[i];
        free(to->confirms.items);
        free(to->untestable.items);
        to->confirms = from->confirms;
        to->untestable = from->untestable;
        *from = (struct odb_sample){0};
    }
    s->spent.models = ODB_MAX(s->spent.models, samples.spent.models);
    s->spent.reference += samples.spent.reference;
    odb_target_stats_add(&s->spent.target, &samples.spent.target);
    s->spent.seconds += samples.spent.seconds;
    s->spent.processor_seconds += samples.spent.processor_seconds;
    odb_samples_dispose(&samples);
    return status;
}

/* --- what it says ----------------------------------------------------------------------------- */

/* Whether the search of another step accuses a node that was tried. */
static bool other_is_same(const struct odb_sequence *s)
{
    for (size_t i = 0; i < s->blamed.n; i++)
        if (s->blamed.items[i] == s->other_node)
            return true;
    return false;
}

size_t odb_other_steps_nodes(const struct odb_sequence *s)
{
    return s->blamed.n + (s->other_searched && s->other_node != ODB_NO_NODE && !other_is_same(s));
}

int odb_other_steps_node(const struct odb_sequence *s, size_t i)
{
    return i < s->blamed.n ? s->blamed.items[i] : s->other_node;
}

char odb_other_steps_mark(const struct odb_sequence *s, size_t i, size_t k)
{
    const struct odb_sample *sample = &s->forced.items.items[k];
    int node = odb_other_steps_node(s, i);
    if (s->other_searched && node == s->other_node && k == s->other_step)
        return 'x';
    if (i >= s->blamed.n)
        return '-';
    if (k == s->step)
        return 'x';
    if (!s->seen[k].tried || odb_sample_leaves_open(sample, node))
        return '-';
    return odb_sample_confirms(sample, node) ? 'x' : '.';
}

size_t odb_other_steps_unexplained(const struct odb_sequence *s)
{
    for (size_t k = 0; k < s->plan->steps; k++) {
        bool right = s->seen[k].tried && s->blamed.n;
        for (size_t i = 0; i < s->blamed.n && right; i++)
            right = odb_other_steps_mark(s, i, k) == '.';
        if (right)
            return k;
    }
    return s->plan->steps;
}

void odb_other_steps_found(struct odb_sequence *s, size_t step, int node)
{
    s->other_searched = true;
    s->other_step = step;
    s->other_node = node;
}

static void other_put_node(const struct odb_sequence *s, size_t i, struct odb_buf *out)
{
    const struct odb_graph *graph = s->plan->model->graph;
    size_t wrong = 0, right = 0, tried = 0;
    for (size_t k = 0; k < s->plan->steps; k++) {
        if (!s->seen[k].tried)
            continue;
        char mark = odb_other_steps_mark(s, i, k);
        tried++;
        wrong += mark == 'x';
        right += mark == '.';
    }
    odb_node_put(graph, s->blamed.items[i], out);
    odb_buf_printf(out, ": alone it is wrong in %zu of %zu other wrong step%s that %s tried", wrong,
                   tried, tried == 1 ? "" : "s", tried == 1 ? "was" : "were");
    if (tried > wrong + right)
        odb_buf_printf(out, ", and unknown in %zu", tried - wrong - right);
    odb_buf_putc(out, '\n');
}

void odb_other_steps_put(const struct odb_sequence *s, struct odb_buf *out)
{
    for (size_t i = 0; i < s->blamed.n; i++)
        other_put_node(s, i, out);
    if (!s->other_searched)
        return;
    odb_buf_printf(out, "a search of step %zu accuses ", s->other_step);
    if (s->other_node == ODB_NO_NODE)
        odb_buf_puts(out, "no node");
    else
        odb_node_put(s->plan->model->graph, s->other_node, out);
    odb_buf_puts(out,
                 other_is_same(s) ? " as well\n" : ": that step is wrong for another reason\n");
}
