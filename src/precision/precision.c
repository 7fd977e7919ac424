/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The plan:
 *
 * 1. The model as it is, all nodes kept, must pass on the target; with none kept it may.
 * 2. Every node is replayed by the reference on the reference's own values, once, in the type: that
 *    ranks them. A rank is no verdict: it says in which order to try.
 * 3. The fewest of the worst that must be kept are searched, in growing steps, then by halves. The
 *    target answers each time for the whole model, so nothing is assumed of how errors add up.
 *    Where many are kept, other orders are tried: from either end of the model, and by what
 *    stretches of it cost the outputs.
 * 4. The kept are dropped again (ddmin.h), in groups and then one by one, as long as the model
 *    passes without them: the rank may have put an innocent before a guilty node. When every one
 *    was tried, none can be dropped alone; that other nodes, and fewer, would do is not ruled out.
 * 5. The file is written, read again, and judged on a fresh child of the target.
 */
#include "precision/precision.h"

#include "precision/precision_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "system/scratch.h"
#include "compare/criterion.h"
#include "search/ddmin.h"
#include "probe/refusal.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "search/search.h"
#include "reference/trace.h"

/* --- types and tolerances --------------------------------------------------------------------- */

enum odb_dtype odb_precision_type(const char *name)
{
    static const struct {
        const char *name;
        enum odb_dtype dtype;
    } table[] = {{"f16", ODB_F16}, {"bf16", ODB_BF16}, {"int8", ODB_I8}};
    for (size_t i = 0; i < ODB_COUNT(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].dtype;
    enum odb_dtype dtype = odb_dtype_parse(name);
    return dtype == ODB_F16 || dtype == ODB_BF16 || dtype == ODB_I8 ? dtype : ODB_UNDEFINED;
}

struct odb_criterion odb_precision_tolerance(enum odb_dtype to)
{
    return (struct odb_criterion){ODB_CRITERION_DIFF2, {to == ODB_F16 ? 0.01 : 0.05, 0, 0}};
}

void precision_note(struct precision *p, char *text)
{
    odb_push(&p->result->notes, text);
}

/* --- the search ------------------------------------------------------------------------------- */

static bool precision_spent(const struct precision *p)
{
    return p->result->probes.n >= p->options->probes ||
           (p->options->seconds && odb_clock() - p->start > p->options->seconds);
}

/* Whether the model passes with these nodes kept; no set is tried twice. */
static enum odb_status precision_ask(struct precision *p, const bool *keep, bool *passes,
                                     struct odb_error *err)
{
    struct odb_precision_probe probe;
    size_t size = p->graph->n_nodes * sizeof *keep;
    for (size_t i = 0; i < p->asked.n; i++)
        if (!memcmp(p->asked.items[i].keep, keep, size)) {
            *passes = p->asked.items[i].passes;
            return ODB_OK;
        }
    ODB_TRY(precision_probe(p, keep, &probe, err));
    *passes = probe.passes;
    odb_push(&p->asked, (struct asked){odb_xmemdup(keep, size), probe.passes});
    return ODB_OK;
}

static void precision_first(const struct precision *p, const int *order, size_t k, bool *keep)
{
    memset(keep, 0, p->graph->n_nodes * sizeof *keep);
    for (size_t i = 0; i < k; i++)
        keep[order[i]] = true;
}

/* The fewest nodes from the beginning of an order that make the model pass when they are kept:
 * fewer than *good, more than bad; then they are p->keep. Steps grow from the bad end at first, as
 * few is what is hoped for. */
static enum odb_status precision_fewest(struct precision *p, const int *order, size_t bad,
                                        size_t *good, struct odb_error *err)
{
    bool *keep = odb_new_n(bool, p->graph->n_nodes + 1), passes;
    size_t step = 1;
    enum odb_status status = ODB_OK;
    while (*good - bad > 1 && !precision_spent(p)) {
        size_t k = bad + ODB_MIN(step, (*good - bad) / 2);
        precision_first(p, order, k, keep);
        ODB_TRY_OUT(precision_ask(p, keep, &passes, err));
        if (passes) {
            memcpy(p->keep, keep, p->graph->n_nodes * sizeof *keep);
            *good = k;
            step = p->n_free; /* from here on halves */
        } else {
            bad = k;
            step *= 2;
        }
    }
out:
    free(keep);
    return status;
}

/* Nodes that cannot do without, as far as the rank tells: they overflow. */
static size_t precision_hopeless(const struct precision *p)
{
    size_t n = 0;
    while (n < p->n_free && !(p->result->nodes[p->order[n]].measured &&
                              isfinite(p->result->nodes[p->order[n]].error)))
        n++;
    return n;
}

/* Those that overflow, and then the others from the beginning of the model, or from its end. */
static void precision_other(const struct precision *p, bool end, size_t hopeless, int *order)
{
    bool *first = odb_new_n(bool, p->graph->n_nodes + 1);
    size_t at = hopeless, n = p->graph->n_nodes;
    precision_first(p, p->order, hopeless, first);
    memcpy(order, p->order, hopeless * sizeof *order);
    for (size_t i = 0; i < n; i++) {
        size_t node = end ? n - 1 - i : i;
        if (!first[node] && odb_convert_class(p->convert, (int)node) == ODB_CONVERT_FREE)
            order[at++] = (int)node;
    }
    free(first);
}

struct stretch {
    size_t first, n;
    double error;
};

static int precision_dearer(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    return x->error > y->error   ? -1
           : x->error < y->error ? 1
                                 : (x->first > y->first) - (x->first < y->first);
}

/* Sorts nodes, which come as they stand in the model, by what a stretch of them alone costs the
 * outputs when nothing else is converted. */
static enum odb_status precision_by_stretch(struct precision *p, int *nodes, size_t n,
                                            struct odb_error *err)
{
    struct stretch stretches[PRECISION_STRETCHES];
    size_t parts = ODB_MIN(n, PRECISION_STRETCHES), at = 0;
    bool *keep = odb_new_n(bool, p->graph->n_nodes + 1);
    int *old = odb_xmemdup(nodes, n * sizeof *nodes);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < parts && !precision_spent(p); i++) {
        struct odb_precision_probe probe;
        struct stretch *s = &stretches[i];
        *s = (struct stretch){.first = i * n / parts, .n = (i + 1) * n / parts - i * n / parts};
        memset(keep, true, p->graph->n_nodes * sizeof *keep);
        for (size_t k = 0; k < s->n; k++)
            keep[old[s->first + k]] = false;
        ODB_TRY_OUT(precision_probe(p, keep, &probe, err));
        s->error = probe.error;
        at = i + 1;
    }
    if (at < parts) /* out of probes: the order stays */
        goto out;
    qsort(stretches, parts, sizeof *stretches, precision_dearer);
    for (size_t i = at = 0; i < parts; i++)
        for (size_t k = 0; k < stretches[i].n; k++)
            nodes[at++] = old[stretches[i].first + k];
out:
    free(keep);
    free(old);
    return status;
}

/* By rank first. Where that keeps many, no node stands out and errors add up: what is lost early is
 * carried through the model, what is lost late goes straight to an output, so keeping one end of
 * the model may do with fewer. */
static enum odb_status precision_narrow(struct precision *p, struct odb_error *err)
{
    size_t n = p->n_free, hopeless = precision_hopeless(p), good = n;
    int *order = odb_new_n(int, n + 1);
    bool passes;
    enum odb_status status = ODB_OK;
    odb_hooks_phase(&p->options->hooks, "how many must stay", 0);
    precision_first(p, p->order, n, p->keep);
    if (hopeless && hopeless < n && !precision_spent(p)) {
        bool *keep = odb_new_n(bool, p->graph->n_nodes + 1);
        precision_first(p, p->order, hopeless, keep);
        status = precision_ask(p, keep, &passes, err);
        if (status == ODB_OK && passes) {
            memcpy(p->keep, keep, p->graph->n_nodes * sizeof *keep);
            good = hopeless;
        }
        free(keep);
        ODB_TRY_OUT(status);
    }
    ODB_TRY_OUT(precision_fewest(p, p->order, good == hopeless ? 0 : hopeless, &good, err));
    for (int other = 0; other < 3 && good > hopeless + PRECISION_FEW; other++) {
        precision_other(p, other == 1, hopeless, order);
        if (other == 2)
            ODB_TRY_OUT(precision_by_stretch(p, order + hopeless, n - hopeless, err));
        ODB_TRY_OUT(precision_fewest(p, order, hopeless, &good, err));
    }
out:
    free(order);
    return status;
}

/* Kept nodes, which delta debugging drops as far as the model passes without them. */
struct kept {
    struct precision *p;
    int *list; /* owned; [n] the worst first, so that the likeliest to go stand at the end */
    size_t n;
};

/* Those that overflow could only go if none of them mattered, so they are not tried in groups. */
static void precision_kept(struct kept *kept, bool hopeless)
{
    const struct precision *p = kept->p;
    kept->n = 0;
    for (size_t i = hopeless ? 0 : precision_hopeless(p); i < p->n_free; i++)
        if (p->keep[p->order[i]])
            kept->list[kept->n++] = p->order[i];
}

static enum odb_status precision_without(void *payload, bool *keep, enum odb_answer *answer,
                                         struct odb_error *err)
{
    const struct kept *kept = payload;
    struct precision *p = kept->p;
    size_t size = p->graph->n_nodes * sizeof *keep;
    bool passes;
    if (precision_spent(p))
        return odb_fail(err, ODB_SKIPPED, "the budget is used up");
    bool *trial = odb_xmemdup(p->keep, size + 1);
    for (size_t i = 0; i < kept->n; i++)
        trial[kept->list[i]] = keep[i];
    enum odb_status status = precision_ask(p, trial, &passes, err);
    if (status == ODB_OK && passes)
        memcpy(p->keep, trial, size);
    *answer = passes ? ODB_ANSWER_BAD : ODB_ANSWER_GOOD; /* bad: as it is looked for */
    free(trial);
    return status;
}

static enum odb_status precision_drop(struct kept *kept, size_t largest, struct odb_error *err)
{
    const struct odb_ddmin question = {precision_without, kept, largest};
    bool *keep = odb_new_n(bool, kept->n + 1);
    memset(keep, true, kept->n * sizeof *keep);
    enum odb_status status = odb_ddmin(keep, kept->n, &question, err);
    free(keep);
    return status;
}

static enum odb_status precision_trim(struct precision *p, struct odb_error *err)
{
    struct kept kept = {.p = p, .list = odb_new_n(int, p->n_free + 1)};
    struct odb_error spent = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK;
    odb_hooks_phase(&p->options->hooks, "which of them", 0);
    precision_kept(&kept, false);
    status = precision_drop(&kept, 0, &spent);
    if (status == ODB_OK) {
        precision_kept(&kept, true);
        status = precision_drop(&kept, 1, &spent);
    }
    p->result->minimal = status == ODB_OK;
    if (status == ODB_SKIPPED)
        status = ODB_OK;
    else if (status != ODB_OK)
        *err = spent;
    free(kept.list);
    return status;
}

/* A target may refuse an operator in the type, whatever its numbers are: each kind is tried alone,
 * and stays where it is refused. */
static enum odb_status precision_refused(struct precision *p, struct odb_error *err)
{
    bool *keep = odb_new_n(bool, p->graph->n_nodes + 1), *done = odb_new_n(bool, p->n_free + 1);
    struct odb_precision_probe probe;
    enum odb_status status = ODB_OK;
    odb_hooks_phase(&p->options->hooks, "what the target refuses", 0);
    for (size_t i = 0; i < p->n_free; i++) {
        const struct odb_node *one = &p->graph->nodes[p->order[i]];
        if (done[i])
            continue;
        memset(keep, true, p->graph->n_nodes * sizeof *keep);
        for (size_t k = i; k < p->n_free; k++) {
            const struct odb_node *other = &p->graph->nodes[p->order[k]];
            if (strcmp(one->op_type, other->op_type) || strcmp(one->domain, other->domain))
                continue;
            keep[p->order[k]] = false;
            done[k] = true;
        }
        ODB_TRY_OUT(precision_probe(p, keep, &probe, err));
        for (size_t k = i; k < p->n_free && precision_is_refusal(probe.status); k++)
            if (!keep[p->order[k]]) {
                char *why = odb_xasprintf("the target refuses %s in %s: %.200s", one->op_type,
                                          odb_dtype_info(p->options->to)->name, probe.reason);
                odb_convert_pin(p->convert, p->order[k], why);
                free(why);
            }
    }
out:
    free(keep);
    free(done);
    return status;
}

/* --- what can be converted -------------------------------------------------------------------- */

/* Values that only steer shapes and indices would move them by a whole step. */
static bool precision_steers(const struct precision *p, int index)
{
    const struct odb_node *node = &p->graph->nodes[index];
    const struct odb_trace *trace = p->cases[0].trace;
    bool makes = false, steers = false;
    for (int o = 0; o < node->n_out; o++) {
        const struct odb_tensor *t = node->out[o] < 0 ? NULL : odb_trace_value(trace, node->out[o]);
        if (!t || t->dtype != ODB_F32)
            continue;
        makes = true;
        steers = steers || odb_cpu_kept(trace->cpu, node->out[o]);
    }
    for (int i = 0; !makes && i < node->n_in; i++)
        steers = steers || (node->in[i] >= 0 && odb_cpu_kept(trace->cpu, node->in[i]));
    return steers;
}

static void precision_pin(struct precision *p)
{
    for (size_t n = 0; n < p->graph->n_nodes; n++) {
        if (odb_convert_class(p->convert, (int)n) != ODB_CONVERT_FREE)
            continue;
        if (odb_cpu_op(p->cases[0].trace->cpu, (int)n) &&
            odb_cpu_random(p->cases[0].trace->cpu, (int)n))
            odb_convert_pin(p->convert, (int)n, "it draws at random");
        else if (p->options->to != ODB_I8 && precision_steers(p, (int)n))
            odb_convert_pin(p->convert, (int)n, "what it computes only steers shapes or indices");
    }
}

static void precision_widen(double range[2], const struct odb_tensor *t)
{
    const odb_f32 *x = t->data;
    for (size_t i = 0; i < t->count; i++) {
        if (isnan(x[i])) {
            range[1] = INFINITY;
            return;
        }
        range[0] = fmin(range[0], x[i]);
        range[1] = fmax(range[1], x[i]);
    }
}

/* Least and greatest of every float value over all cases; 0 is always between. */
static double (*precision_ranges(const struct precision *p))[2]
{
    double(*range)[2] = odb_xcalloc(p->graph->n_values + 1, sizeof *range);
    for (size_t v = 0; v < p->graph->n_values; v++)
        for (size_t c = 0; c < p->n_cases; c++) {
            const struct odb_tensor *t = p->cases[c].trace->ref[v];
            if (t && t->kind == ODB_TENSOR && t->dtype == ODB_F32)
                precision_widen(range[v], t);
        }
    return range;
}

static void precision_free_nodes(struct precision *p)
{
    p->n_free = 0;
    for (size_t n = 0; n < p->graph->n_nodes; n++)
        if (odb_convert_class(p->convert, (int)n) == ODB_CONVERT_FREE)
            p->order[p->n_free++] = (int)n;
}

static enum odb_status precision_prepare(struct precision *p, struct odb_error *err)
{
    const struct odb_tensor **like = odb_new_n(const struct odb_tensor *, p->graph->n_values + 1);
    double(*range)[2] = p->options->to == ODB_I8 ? precision_ranges(p) : NULL;
    for (size_t v = 0; v < p->graph->n_values; v++)
        like[v] = odb_trace_value(p->cases[0].trace, (int)v);
    const struct odb_convert_options options = {
        .to = p->options->to, .like = like, .range = (const double(*)[2])range};
    enum odb_status status = odb_convert_new(&p->convert, p->model, &options, err);
    free(like);
    free(range);
    if (status != ODB_OK)
        return status;
    precision_pin(p);
    precision_free_nodes(p);
    return ODB_OK;
}

/* A float output that has one value throughout shows little of what is before it. */
static bool precision_is_flat(const struct odb_tensor *t)
{
    if (t->kind != ODB_TENSOR || !odb_dtype_is_float(t->dtype) || t->count < 2)
        return false;
    for (size_t i = 1; i < t->count; i++)
        if (odb_tensor_f64(t, i) != odb_tensor_f64(t, 0))
            return false;
    return true;
}

/* What is made up shows neither what overflows in earnest nor which range int8 has to cover. */
static void precision_check_feeds(struct precision *p)
{
    for (size_t c = 0; c < p->n_cases; c++)
        for (size_t f = 0; f < p->cases[c].feeds->n; f++) {
            const struct odb_feed *feed = &p->cases[c].feeds->items[f];
            if (strncmp(feed->source, "generated", 9) != 0)
                continue;
            precision_note(p, odb_xasprintf("input %s was %s; what overflows and how far values "
                                            "reach depends on it: --input and --inputs-from give "
                                            "real ones",
                                            p->graph->values[feed->value].name, feed->source));
            return;
        }
}

/* What is not measured from golden. */
static void precision_check_golden(struct precision *p)
{
    const struct odb_trace *worst = p->cases[0].trace;
    for (size_t c = 1; c < p->n_cases; c++)
        if (p->cases[c].trace->n_no_golden > worst->n_no_golden)
            worst = p->cases[c].trace;
    p->result->n_no_golden = worst->n_no_golden;
    char *note = odb_trace_no_golden(worst);
    if (note)
        precision_note(p, note);
}

/* Outputs that the reference cannot compute are not judged. */
static enum odb_status precision_check(struct precision *p, struct odb_error *err)
{
    size_t judged = 0;
    for (size_t o = 0; o < p->graph->n_outputs; o++) {
        int v = p->graph->outputs[o];
        const struct odb_tensor *t = odb_trace_value(p->cases[0].trace, v);
        const char *name = p->graph->values[v].name;
        judged += t != NULL;
        if (!t)
            precision_note(p, odb_xasprintf("output %s has no reference and is not judged", name));
        else if (precision_is_flat(t))
            precision_note(p, odb_xasprintf("output %s is %g throughout: it shows little", name,
                                            odb_tensor_f64(t, 0)));
    }
    precision_check_golden(p);
    precision_check_feeds(p);
    if (judged)
        return ODB_OK;
    odb_fail(err, ODB_UNSUPPORTED, "the reference computes none of the outputs");
    return odb_error_remedy(err, "`onnxdbg info` says which operators it lacks");
}

/* --- the whole -------------------------------------------------------------------------------- */

static void precision_dispose(struct precision *p)
{
    for (size_t i = 0; i < p->asked.n; i++)
        free(p->asked.items[i].keep);
    free(p->asked.items);
    precision_close(p, p->targets);
    odb_convert_free(p->convert);
    free(p->outputs);
    free(p->feeds);
    free(p->order);
    free(p->keep);
}

static void precision_init(struct precision *p)
{
    size_t feeds = 0;
    for (size_t c = 0; c < p->n_cases; c++)
        feeds = ODB_MAX(feeds, p->cases[c].feeds->n);
    feeds = ODB_MAX(feeds, p->graph->n_inputs);
    p->outputs = odb_new_n(const char *, p->graph->n_outputs + 1);
    p->feeds = odb_new_n(struct odb_named, feeds + 1);
    p->order = odb_new_n(int, p->graph->n_nodes + 1);
    p->keep = odb_new_n(bool, p->graph->n_nodes + 1);
    for (size_t o = 0; o < p->graph->n_outputs; o++)
        p->outputs[o] = p->graph->values[p->graph->outputs[o]].name;
}

/* With everything kept. A spare target that refuses the model as it is, is asked no more. */
static enum odb_status precision_all(struct precision *p, struct odb_error *err)
{
    struct odb_precision_result *r = p->result;
    bool *all = odb_new_n(bool, p->graph->n_nodes + 1);
    memset(all, true, p->graph->n_nodes * sizeof *all);
    enum odb_status status = precision_probe(p, all, &r->all, err);
    size_t last = r->n_targets - 1;
    if (status == ODB_OK && p->options->spare && last && r->all.target == last &&
        precision_is_refusal(r->all.status)) {
        precision_note(p, odb_xasprintf("%s refuses the model as it is, and was not asked: %s",
                                        r->targets[last], r->all.reason));
        r->n_targets = last;
        status = precision_probe(p, all, &r->all, err);
    }
    free(all);
    if (status == ODB_OK && !r->all.ran) /* err is the target's */
        return odb_refusal_remedy(
            odb_error_at(err, "the model in float32 on %s", r->targets[r->all.target]), err);
    return status;
}

/* With everything kept, and with nothing. */
static enum odb_status precision_ends(struct precision *p, struct odb_error *err)
{
    struct odb_precision_result *r = p->result;
    odb_hooks_phase(&p->options->hooks, "all nodes kept, none kept", 0);
    ODB_TRY(precision_all(p, err));
    if (!r->all.passes || !p->n_free)
        return ODB_OK;
    ODB_TRY(precision_probe(p, p->keep, &r->none, err));
    if (!precision_is_refusal(r->none.status))
        return ODB_OK;
    ODB_TRY(precision_refused(p, err));
    precision_free_nodes(p);
    return p->n_free ? precision_probe(p, p->keep, &r->none, err) : ODB_OK;
}

static enum odb_status precision_do(struct precision *p, struct odb_error *err)
{
    struct odb_precision_result *r = p->result;
    ODB_TRY(precision_check(p, err));
    ODB_TRY(precision_prepare(p, err));
    ODB_TRY(precision_open(p, &p->targets, err));
    ODB_TRY(precision_ends(p, err));
    for (size_t t = 0; t < r->n_targets; t++)
        r->descriptions[t] = odb_xstrdup(odb_target_description(p->targets[t]));
    r->minimal = r->none.passes || !p->n_free;
    if (r->all.passes && p->n_free && !r->none.passes) {
        ODB_TRY(precision_rank(p, err));
        ODB_TRY(precision_narrow(p, err));
        ODB_TRY(precision_trim(p, err));
    }
    precision_conclude(p);
    if (!r->all.passes)
        return ODB_OK;
    enum odb_status status = precision_write(p, err);
    if (status == ODB_OK)
        status = precision_prove(p, err);
    if (p->place)
        odb_scratch_remove(p->place);
    free(p->place);
    p->place = NULL;
    ODB_TRY(status);
    precision_remark(p);
    return ODB_OK;
}

enum odb_status odb_precision_search(struct odb_precision_result **out,
                                     const struct odb_model *model,
                                     const struct odb_precision_case *cases, size_t n_cases,
                                     const struct odb_precision_options *options,
                                     struct odb_error *err)
{
    char text[160];
    double start = odb_clock();
    struct odb_precision_result *r = odb_new(struct odb_precision_result);
    struct precision p = {.model = model,
                          .graph = model->graph,
                          .cases = cases,
                          .n_cases = n_cases,
                          .options = options,
                          .result = r,
                          .start = start};
    *r = (struct odb_precision_result){
        .model = model,
        .to = options->to,
        .targets = odb_new_n(char *, options->n_targets + 1),
        .descriptions = odb_new_n(char *, options->n_targets + 1),
        .n_targets = options->n_targets,
        .path = odb_xstrdup(options->path),
        .tolerance =
            odb_xstrdup(options->set ? options->set->text
                                     : odb_criterion_text(&options->tolerance, text, sizeof text)),
        .nodes = odb_new_n(struct odb_precision_node, model->graph->n_nodes + 1)};
    for (size_t t = 0; t < options->n_targets; t++)
        r->targets[t] = odb_xstrdup(options->targets[t]);
    r->bytes_before = model->file_bytes + precision_weights(model, true);
    r->all.value = r->none.value = r->proof.value = ODB_NO_VALUE;
    precision_init(&p);
    enum odb_status status = precision_do(&p, err);
    precision_dispose(&p);
    r->seconds = odb_clock() - start;
    *out = r;
    if (status != ODB_OK) {
        odb_precision_result_free(r);
        *out = NULL;
    }
    return status;
}

void odb_precision_result_free(struct odb_precision_result *r)
{
    if (!r)
        return;
    for (size_t n = 0; n < r->model->graph->n_nodes; n++)
        free(r->nodes[n].why);
    for (size_t i = 0; i < r->notes.n; i++)
        free(r->notes.items[i]);
    free(r->notes.items);
    free(r->probes.items);
    free(r->nodes);
    for (size_t t = 0; r->targets[t]; t++) {
        free(r->targets[t]);
        free(r->descriptions[t]);
    }
    free(r->targets);
    free(r->descriptions);
    free(r->tolerance);
    free(r->path);
    free(r);
}
