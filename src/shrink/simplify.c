/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is left of the model is a model of its own now, small enough to be written, read and run by
 * the reference anew for each thing that is tried. Everything tried is a choice of things that
 * change while the rest stays, so delta debugging finds which of them must stay.
 */
#include "shrink/minimise_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bisect/bisect_options.h"
#include "search/ddmin.h"
#include "bisect/plan/fails.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "search/search.h"
#include "probe/explain_node.h"
#include "probe/reference_from.h"
#include "reference/trace.h"
#include "model/write/edit.h"
#include "model/read/load.h"

#define SIMPLIFY_FACTOR 10 /* times the noise is agreement, as where a node is explained */
#define SIMPLIFY_SECONDS 2 /* of one explanation */

void subject_dispose(struct subject *subject)
{
    odb_feeds_free(subject->feeds);
    odb_model_free(subject->model);
    *subject = (struct subject){0};
}

size_t subject_bytes(const struct subject *subject)
{
    const struct odb_graph *graph = subject->model->graph;
    size_t bytes = 0;
    for (size_t v = 0; v < graph->n_values; v++)
        if (graph->values[v].init && graph->values[v].n_consumers)
            bytes += graph->values[v].init->bytes;
    for (size_t f = 0; f < subject->feeds->n; f++)
        bytes += odb_tensor_size(subject->feeds->items[f].tensor);
    return bytes;
}

/* --- changing --------------------------------------------------------------------------------- */

/* What is to be different; arrays are owned, and NULL where nothing of the sort is. */
struct change {
    struct odb_tensor **values; /* refs; [n_values]: other contents of weights, of inputs, and of
                                   what dropped nodes make */
    bool *fixed;                /* [n_values] inputs that become weights */
    bool *drop;                 /* [n_nodes] */
    bool *attributes;           /* which stay; see edit.h */
    bool reshaped, neutral;
};

static struct change change_new(const struct subject *of)
{
    const struct odb_graph *graph = of->model->graph;
    return (struct change){.values = odb_new_n(struct odb_tensor *, graph->n_values + 1),
                           .fixed = odb_new_n(bool, graph->n_values + 1)};
}

static void change_dispose(struct change *change, const struct subject *of)
{
    for (size_t v = 0; v < of->model->graph->n_values; v++)
        odb_tensor_unref(change->values[v]);
    free(change->values);
    free(change->fixed);
    free(change->drop);
    free(change->attributes);
}

static const struct odb_tensor *change_feed(const struct change *change,
                                            const struct odb_feed *feed)
{
    return change->values[feed->value] ? change->values[feed->value] : feed->tensor;
}

static enum odb_status change_model(const struct subject *from, const struct change *change,
                                    struct odb_model **out, struct odb_error *err)
{
    size_t n = from->model->graph->n_values;
    struct odb_tensor **weights = odb_new_n(struct odb_tensor *, n + 1);
    struct odb_tensor **inputs = odb_new_n(struct odb_tensor *, n + 1);
    struct odb_buf bytes = ODB_BUF_INIT;
    memcpy(weights, change->values, n * sizeof *weights);
    for (size_t f = 0; f < from->feeds->n; f++) {
        const struct odb_feed *feed = &from->feeds->items[f];
        inputs[feed->value] = (struct odb_tensor *)change_feed(change, feed);
        weights[feed->value] = change->fixed[feed->value] ? inputs[feed->value] : NULL;
    }
    struct odb_edit edit = {.weights = weights,
                            .inputs = change->reshaped ? inputs : NULL,
                            .drop = change->drop,
                            .attributes = change->attributes,
                            .neutral = change->neutral};
    enum odb_status status = odb_model_edit(from->model, &edit, &bytes, err);
    if (status == ODB_OK)
        status = odb_model_open_bytes(out, bytes.data, bytes.len, NULL, "", "", err);
    odb_buf_dispose(&bytes);
    free(weights);
    free(inputs);
    return status;
}

static enum odb_status change_make(const struct subject *from, const struct change *change,
                                   struct subject *out, struct odb_error *err)
{
    *out = (struct subject){.at = from->at};
    ODB_TRY(change_model(from, change, &out->model, err));
    out->feeds = odb_feeds_new(out->model);
    for (size_t f = 0; f < from->feeds->n; f++) {
        const struct odb_feed *feed = &from->feeds->items[f];
        if (change->fixed[feed->value] || out->feeds->n == out->model->graph->n_inputs)
            continue;
        odb_feeds_add(out->feeds, out->model->graph->inputs[out->feeds->n],
                      change_feed(change, feed),
                      change->values[feed->value] ? "made by minimising" : feed->source);
    }
    return ODB_OK;
}

/* --- asking ----------------------------------------------------------------------------------- */

struct simplify_run {
    struct minimisation *m;      /* borrowed */
    size_t at;                   /* which output is value */
    struct odb_signature *shown; /* the caller's */
    struct odb_trace *trace;     /* owned */
    struct odb_prober prober;
    struct odb_judge judge;
    int value;
    struct odb_tensor **outputs; /* owned */
};

/* How many variants give what the target gave of the one node, on these inputs alone: the class of
 * the best explanation, its first included. 0: none is known. */
static size_t simplify_fits(struct simplify_run *run, const struct odb_probe *probe)
{
    const struct odb_graph *graph = run->prober.model->graph;
    const struct odb_feeds *feeds = run->prober.feeds;
    struct odb_tensor **given = odb_new_n(struct odb_tensor *, graph->n_values + 1);
    struct odb_explain_asking asking = {.prober = &run->prober,
                                        .cpu = run->trace->cpu,
                                        .given = given,
                                        .once = true,
                                        .factor = SIMPLIFY_FACTOR,
                                        .seconds = SIMPLIFY_SECONDS};
    struct odb_explanations found;
    for (size_t f = 0; f < feeds->n; f++)
        given[feeds->items[f].value] = feeds->items[f].tensor;
    for (size_t i = 0; i < probe->n_values; i++)
        given[probe->values[i]] = probe->outputs[i];
    enum odb_status status = odb_explain_node(&found, &asking, NULL);
    const struct odb_explanation *best = found.items.n ? &found.items.items[0] : NULL;
    size_t n = status == ODB_OK && !found.unfinished && best && best->fit >= ODB_FIT_CLASS
                   ? 1 + best->members.n
                   : 0;
    odb_explanations_dispose(&found);
    free(given);
    return n;
}

static enum odb_status simplify_judge(void *payload, const struct odb_probe *probe,
                                      enum odb_verdict *shown, struct odb_error *err)
{
    struct simplify_run *run = payload;
    if (run->m->value != ODB_NO_VALUE)
        ODB_TRY(minimise_shown(&run->judge, run->value, probe->outputs[run->at], run->shown, err));
    run->shown->output[0] = '\0'; /* names may change, and there is only one that counts */
    enum odb_answer answer = odb_signature_match(&run->m->sought, run->shown);
    bool says = answer != ODB_ANSWER_UNTESTABLE;
    if (run->m->explains && odb_verdict_is_bad(run->shown->verdict))
        run->m->fits = simplify_fits(run, probe);
    *shown = says ? run->shown->verdict : ODB_VERDICT_UNTESTABLE;
    return ODB_OK;
}

static enum odb_status simplify_probe(struct simplify_run *run, const struct odb_graph *graph,
                                      const char *what, struct odb_error *err)
{
    struct odb_probed probed;
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_SMALLER,
                              .what = what,
                              .node = ODB_NO_NODE,
                              .values = graph->outputs,
                              .n_values = graph->n_outputs,
                              .outputs = run->outputs,
                              .judged = true};
    odb_signature_status(run->shown, ODB_OK, NULL);
    enum odb_status status = odb_probe_ask(&run->prober, &probe, simplify_judge, run, &probed, err);
    if (probed.had != ODB_OK && status == ODB_OK)
        status = minimise_ended(run->m, &run->prober, &probe, probed.had, &probed.why, false,
                                run->shown, err);
    odb_probe_drop(&run->prober, &probe);
    return status;
}

/* The reference's run of it. *trace NULL: the reference cannot run it, or does not come to the
 * value that shows the failure. */
static enum odb_status simplify_trace(const struct minimisation *m, const struct subject *s,
                                      struct odb_trace **trace, struct odb_error *err)
{
    struct odb_trace_options how;
    struct odb_bisect_options search = m->options->search;
    struct odb_error why = ODB_ERROR_INIT;
    search.hooks.event = NULL; /* one probe among many */
    *trace = NULL;
    ODB_TRY(odb_bisect_trace_options(&search, &how, err));
    enum odb_status status = odb_reference_make(trace, s->model, s->feeds, &how, &why);
    if (status == ODB_OK && !(*trace)->ref[s->model->graph->outputs[s->at]]) {
        odb_trace_free(*trace);
        *trace = NULL;
    } else if (status == ODB_CANCELLED) {
        *err = why;
    }
    return status == ODB_CANCELLED ? status : ODB_OK;
}

/* The reference runs it as well: what that cannot run is no failure. shown: what it shows,
 * untestable where nothing was run. */
static enum odb_status simplify_ask(struct minimisation *m, const struct subject *s,
                                    const char *what, struct odb_signature *shown,
                                    struct odb_error *err)
{
    const struct odb_graph *graph = s->model->graph;
    struct simplify_run run = {.m = m, .at = s->at, .shown = shown, .value = graph->outputs[s->at]};
    *shown = (struct odb_signature){.verdict = ODB_VERDICT_UNTESTABLE};
    m->fits = 0;
    ODB_TRY(minimise_spend(m, err));
    ODB_TRY(simplify_trace(m, s, &run.trace, err));
    if (!run.trace)
        return ODB_OK;
    run.judge = (struct odb_judge){run.trace, &m->options->search.tolerance};
    run.outputs = odb_new_n(struct odb_tensor *, graph->n_outputs + 1);
    odb_prober_init(&run.prober, s->model, s->feeds, run.trace, m->pool, m->options->search.hooks);
    enum odb_status status = simplify_probe(&run, graph, what, err);
    odb_prober_dispose(&run.prober);
    odb_trace_free(run.trace);
    free(run.outputs);
    return status;
}

enum odb_status subject_fails(bool *fails, const struct minimisation *m, const struct subject *s,
                              struct odb_error *err)
{
    struct odb_bisect_options search = m->options->search;
    struct odb_trace *trace;
    *fails = true;
    ODB_TRY(simplify_trace(m, s, &trace, err));
    if (!trace)
        return ODB_OK;
    search.part = true;
    enum odb_status status =
        odb_fails(fails, s->model, s->feeds, trace, &search, m->sought.verdict, err);
    odb_trace_free(trace);
    if (status == ODB_OK) /* a search that has its verdict may end well all the same */
        status = odb_hooks_cancelled(&m->options->search.hooks, err);
    return status;
}

/* What is left now is what a later step goes back to. */
static enum odb_status simplify_keep(struct minimisation *m, struct odb_error *err)
{
    struct change nothing = change_new(&m->left);
    subject_dispose(&m->proven);
    enum odb_status status = change_make(&m->left, &nothing, &m->proven, err);
    change_dispose(&nothing, &m->left);
    if (status != ODB_OK)
        subject_dispose(&m->proven);
    m->unproven = false;
    return status;
}

enum odb_status minimise_prove(struct minimisation *m, bool *undone, struct odb_error *err)
{
    bool fails;
    *undone = false;
    if (!m->unproven)
        return ODB_OK;
    ODB_TRY(subject_fails(&fails, m, &m->left, err));
    *undone = !fails;
    if (*undone) {
        subject_dispose(&m->left);
        m->left = m->proven;
        m->proven = (struct subject){0};
    }
    return simplify_keep(m, err);
}

/* Tries a change of what was left when a step began; what fails is what is left from now on. */
static enum odb_status simplify_try(struct minimisation *m, const struct subject *from,
                                    const struct change *change, const char *what,
                                    enum odb_answer *answer, struct odb_error *err)
{
    struct subject candidate;
    struct odb_error why = ODB_ERROR_INIT;
    *answer = ODB_ANSWER_UNTESTABLE;
    if (change_make(from, change, &candidate, &why) != ODB_OK) {
        subject_dispose(&candidate);
        return ODB_OK;
    }
    struct odb_signature shown;
    enum odb_status status = simplify_ask(m, &candidate, what, &shown, err);
    *answer = odb_signature_match(&m->sought, &shown);
    if (*answer == ODB_ANSWER_BAD && m->explains && (!m->fits || m->fits > m->variants))
        *answer = ODB_ANSWER_UNTESTABLE;
    if (status != ODB_OK || *answer != ODB_ANSWER_BAD) {
        subject_dispose(&candidate);
        return status;
    }
    if (m->left.model != from->model)
        subject_dispose(&m->left);
    m->left = candidate;
    m->unproven = true;
    m->variants = m->fits;
    return ODB_OK;
}

/* --- choices ---------------------------------------------------------------------------------- */

/* A step: things of the subject at its beginning, each of which stays or changes. */
struct choice {
    struct minimisation *m;
    struct subject from; /* m->left as it was; owned once m->left is another */
    const char *what;
    size_t n;
    int *item;                /* owned: which value, node or attribute */
    struct odb_tensor **into; /* owned refs; [n]: what it becomes; NULL: nothing to become */
    void (*apply)(const struct choice *choice, size_t item, struct change *change);
    bool neutral;
};

static void choice_begin(struct choice *choice, struct minimisation *m, const char *what,
                         void (*apply)(const struct choice *, size_t, struct change *))
{
    const struct odb_graph *graph = m->left.model->graph;
    size_t most = graph->n_values + graph->n_nodes + odb_model_attributes(m->left.model) + 1;
    *choice = (struct choice){.m = m, .from = m->left, .what = what, .apply = apply};
    choice->item = odb_new_n(int, most);
    choice->into = odb_new_n(struct odb_tensor *, most);
}

static void choice_end(struct choice *choice)
{
    if (choice->m->left.model != choice->from.model)
        subject_dispose(&choice->from);
    for (size_t i = 0; i < choice->n; i++)
        odb_tensor_unref(choice->into[i]);
    free(choice->into);
    free(choice->item);
}

static void choice_add(struct choice *choice, int item, struct odb_tensor *into)
{
    choice->item[choice->n] = item;
    choice->into[choice->n++] = into;
}

static enum odb_status choice_ask(void *payload, bool *keep, enum odb_answer *answer,
                                  struct odb_error *err)
{
    struct choice *choice = payload;
    struct change change = change_new(&choice->from);
    for (size_t i = 0; i < choice->n; i++)
        if (!keep[i])
            choice->apply(choice, i, &change);
    enum odb_status status =
        simplify_try(choice->m, &choice->from, &change, choice->what, answer, err);
    change_dispose(&change, &choice->from);
    return status;
}

/* Changes as many as can be; *changed of them. Ends the choice. */
static enum odb_status choice_make(struct choice *choice, size_t *changed, struct odb_error *err)
{
    struct odb_ddmin question = {choice_ask, choice};
    bool *keep = odb_new_n(bool, choice->n + 1);
    memset(keep, true, choice->n * sizeof *keep);
    enum odb_status status = odb_ddmin(keep, choice->n, &question, err);
    *changed = 0;
    for (size_t i = 0; i < choice->n; i++)
        *changed += !keep[i];
    free(keep);
    choice_end(choice);
    return status;
}

static void apply_value(const struct choice *choice, size_t item, struct change *change)
{
    change->values[choice->item[item]] = odb_tensor_ref(choice->into[item]);
}

static void apply_fixed(const struct choice *choice, size_t item, struct change *change)
{
    change->fixed[choice->item[item]] = true;
}

static void apply_attribute(const struct choice *choice, size_t item, struct change *change)
{
    size_t n = odb_model_attributes(choice->from.model);
    if (!change->attributes) {
        change->attributes = odb_new_n(bool, n + 1);
        memset(change->attributes, true, n * sizeof *change->attributes);
    }
    change->attributes[choice->item[item]] = false;
}

/* The node goes, and what it made becomes a weight. */
static void apply_folded(const struct choice *choice, size_t item, struct change *change)
{
    const struct odb_graph *graph = choice->from.model->graph;
    const struct odb_node *node = &graph->nodes[choice->item[item]];
    if (!change->drop)
        change->drop = odb_new_n(bool, graph->n_nodes + 1);
    change->drop[node->index] = true;
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0)
            change->values[node->out[o]] = odb_tensor_ref(choice->into[item]->items[o]);
}

/* --- constants -------------------------------------------------------------------------------- */

static enum odb_status simplify_fix(struct minimisation *m, size_t *fixed, struct odb_error *err)
{
    const struct odb_graph *graph = m->left.model->graph;
    struct choice choice;
    choice_begin(&choice, m, "minimise: inputs that never change are weights", apply_fixed);
    for (size_t f = 0; f < m->left.feeds->n; f++) {
        const struct odb_feed *feed = &m->left.feeds->items[f];
        const struct odb_value *was =
            odb_graph_value(m->whole->graph, graph->values[feed->value].name);
        if (was && m->constant[was->index] && feed->tensor->kind == ODB_TENSOR)
            choice_add(&choice, feed->value, NULL);
    }
    return choice_make(&choice, fixed, err);
}

/* What a node makes, as a container; NULL: not all of it can be a weight. */
static struct odb_tensor *simplify_made(const struct odb_trace *trace, const struct odb_node *node)
{
    struct odb_tensor **items = odb_new_n(struct odb_tensor *, node->n_out + 1), *made = NULL;
    bool all = true;
    for (int o = 0; o < node->n_out; o++) {
        items[o] = node->out[o] >= 0 ? trace->ref[node->out[o]] : trace->ref[node->out[0]];
        all = all && items[o] && items[o]->kind == ODB_TENSOR;
    }
    if (!all ||
        odb_tensor_new_container(&made, ODB_SEQUENCE, items, (size_t)node->n_out, NULL) != ODB_OK)
        made = NULL;
    free(items);
    return made;
}

/* Nodes that hang on weights alone. */
static enum odb_status simplify_fold(struct minimisation *m, size_t *folded, struct odb_error *err)
{
    const struct odb_graph *graph = m->left.model->graph;
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    struct odb_trace *trace;
    struct choice choice;
    *folded = 0;
    how.hooks.cancelled = m->options->search.hooks.cancelled;
    how.hooks.payload = m->options->search.hooks.payload;
    ODB_TRY(odb_reference_make(&trace, m->left.model, m->left.feeds, &how, err));
    bool *constant = odb_new_n(bool, graph->n_values + 1);
    choice_begin(&choice, m, "minimise: constants folded", apply_folded);
    for (size_t v = 0; v < graph->n_values; v++)
        constant[v] = graph->values[v].init;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        bool all = node->n_out > 0 && node->out[0] >= 0 && !odb_cpu_random(trace->cpu, (int)n);
        for (size_t i = 0; i < odb_node_n_reads(node); i++)
            all = all && (odb_node_reads(node, i) < 0 || constant[odb_node_reads(node, i)]);
        for (int o = 0; o < node->n_out; o++)
            all = all && (node->out[o] < 0 || !graph->values[node->out[o]].is_output);
        struct odb_tensor *made = all ? simplify_made(trace, node) : NULL;
        if (!made)
            continue;
        choice_add(&choice, (int)n, made);
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                constant[node->out[o]] = true;
    }
    free(constant);
    odb_trace_free(trace);
    return choice_make(&choice, folded, err);
}

static enum odb_status simplify_constants(struct minimisation *m, char *text, size_t size,
                                          struct odb_error *err)
{
    size_t fixed, folded;
    ODB_TRY(simplify_fix(m, &fixed, err));
    ODB_TRY(simplify_fold(m, &folded, err));
    snprintf(text, size, "%zu input%s became %s, %zu node%s folded", fixed, odb_plural(fixed),
             fixed == 1 ? "a weight" : "weights", folded, odb_plural(folded));
    return ODB_OK;
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* Crops all inputs of this size along this axis (along any where it is negative). */
static enum odb_status simplify_crop(struct minimisation *m, int axis, int64_t size, int64_t to,
                                     enum odb_answer *answer, struct odb_error *err)
{
    struct subject from = m->left;
    struct change change = change_new(&from);
    bool any = false, can = true;
    change.reshaped = true;
    for (size_t f = 0; f < from.feeds->n; f++) {
        const struct odb_feed *feed = &from.feeds->items[f];
        struct odb_tensor *t = odb_tensor_ref(feed->tensor);
        for (int a = 0; a < t->rank && can; a++) {
            struct odb_tensor *crop;
            if ((axis >= 0 && a != axis) || t->dims[a] != size || t->kind != ODB_TENSOR)
                continue;
            can = simple_crop(&crop, t, a, to, NULL) == ODB_OK;
            if (can) {
                odb_tensor_unref(t);
                t = crop;
                any = true;
            }
        }
        if (t != feed->tensor)
            change.values[feed->value] = t;
        else
            odb_tensor_unref(t);
    }
    enum odb_status status = ODB_OK;
    *answer = ODB_ANSWER_UNTESTABLE;
    if (any && can)
        status = simplify_try(m, &from, &change, "minimise: smaller inputs", answer, err);
    change_dispose(&change, &from);
    if (status == ODB_OK && *answer == ODB_ANSWER_BAD)
        subject_dispose(&from);
    return status;
}

/* To one, else by halves as far as that goes. */
static enum odb_status simplify_extent(struct minimisation *m, int axis, int64_t size,
                                       struct odb_error *err)
{
    enum odb_answer answer;
    ODB_TRY(simplify_crop(m, axis, size, 1, &answer, err));
    while (answer != ODB_ANSWER_BAD && size > 2) {
        int64_t half = (size + 1) / 2;
        ODB_TRY(simplify_crop(m, axis, size, half, &answer, err));
        if (answer != ODB_ANSWER_BAD)
            return ODB_OK;
        size = half;
        answer = ODB_ANSWER_GOOD;
    }
    return ODB_OK;
}

static bool simplify_has(const struct subject *s, int axis, int64_t size)
{
    for (size_t f = 0; f < s->feeds->n; f++) {
        const struct odb_tensor *t = s->feeds->items[f].tensor;
        if (t->kind == ODB_TENSOR && axis < t->rank && t->dims[axis] == size)
            return true;
    }
    return false;
}

/* The sizes that the inputs have along an axis now, each once. */
static size_t simplify_sizes(const struct subject *s, int axis, int64_t *sizes, size_t most)
{
    size_t n = 0;
    for (size_t f = 0; f < s->feeds->n; f++) {
        const struct odb_tensor *t = s->feeds->items[f].tensor;
        bool known = t->kind != ODB_TENSOR || axis >= t->rank || t->dims[axis] < 2;
        for (size_t i = 0; i < n && !known; i++)
            known = sizes[i] == t->dims[axis];
        if (!known && n < most)
            sizes[n++] = t->dims[axis];
    }
    return n;
}

/* Batch, then the other axes; first along one axis, then wherever that size stands: what belongs
 * together has one size. */
static enum odb_status simplify_shapes(struct minimisation *m, char *text, size_t size,
                                       struct odb_error *err)
{
    size_t before = subject_bytes(&m->left);
    for (int any = 0; any < 2; any++)
        for (int axis = 0; axis < ODB_MAX_RANK; axis++) {
            int64_t sizes[16];
            size_t n = simplify_sizes(&m->left, axis, sizes, ODB_COUNT(sizes));
            for (size_t i = 0; i < n; i++)
                if (simplify_has(&m->left, axis, sizes[i]))
                    ODB_TRY(simplify_extent(m, any ? -1 : axis, sizes[i], err));
        }
    struct odb_buf shapes = ODB_BUF_INIT;
    for (size_t f = 0; f < m->left.feeds->n && f < 4; f++) {
        char shape[200];
        odb_buf_printf(&shapes, "%s%s", f ? ", " : "",
                       odb_shape_text(m->left.feeds->items[f].tensor, shape, sizeof shape));
    }
    snprintf(text, size, "%s: %.150s%s",
             subject_bytes(&m->left) < before ? "smaller inputs" : "inputs as they were",
             odb_buf_text(&shapes), m->left.feeds->n > 4 ? ", …" : "");
    odb_buf_dispose(&shapes);
    return ODB_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

/* Wide integers among weights are shapes, axes and indices, and stay. */
static bool simplify_is_weight(const struct odb_value *value)
{
    const struct odb_tensor *t = value->init;
    return t && !value->is_input && !value->init_is_sparse && t->kind == ODB_TENSOR && t->data &&
           (value->n_consumers || value->is_output) &&
           (odb_dtype_is_float(t->dtype) ||
            (odb_dtype_is_integer(t->dtype) && odb_dtype_info(t->dtype)->bits <= 8));
}

/* Adds what a tensor would become, if anything. */
static enum odb_status simplify_add(struct choice *choice, int value, const struct odb_tensor *t,
                                    enum simple kind, struct odb_error *err)
{
    struct odb_tensor *into;
    ODB_TRY(simple_tensor(&into, t, kind, err));
    if (into)
        choice_add(choice, value, into);
    return ODB_OK;
}

static enum odb_status simplify_values(struct minimisation *m, bool weights, char *text,
                                       size_t size, struct odb_error *err)
{
    size_t used = 0;
    text[0] = '\0';
    for (enum simple kind = 0; kind < SIMPLE_COUNT; kind++) {
        const struct odb_graph *graph = m->left.model->graph;
        struct choice choice;
        size_t changed;
        enum odb_status status = ODB_OK;
        choice_begin(&choice, m, weights ? "minimise: simple weights" : "minimise: simple inputs",
                     apply_value);
        for (size_t v = 0; weights && v < graph->n_values && status == ODB_OK; v++)
            if (simplify_is_weight(&graph->values[v]))
                status = simplify_add(&choice, (int)v, graph->values[v].init, kind, err);
        for (size_t f = 0; !weights && f < m->left.feeds->n && status == ODB_OK; f++)
            status = simplify_add(&choice, m->left.feeds->items[f].value,
                                  m->left.feeds->items[f].tensor, kind, err);
        size_t n = choice.n;
        if (status != ODB_OK)
            choice_end(&choice);
        ODB_TRY(status);
        ODB_TRY(choice_make(&choice, &changed, err));
        if (n && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%zu of %zu to %s",
                                     used ? ", " : "", changed, n, simple_name(kind));
    }
    return ODB_OK;
}

static enum odb_status simplify_inputs(struct minimisation *m, char *text, size_t size,
                                       struct odb_error *err)
{
    return simplify_values(m, false, text, size, err);
}

static enum odb_status simplify_weights(struct minimisation *m, char *text, size_t size,
                                        struct odb_error *err)
{
    return simplify_values(m, true, text, size, err);
}

static enum odb_status simplify_attributes(struct minimisation *m, char *text, size_t size,
                                           struct odb_error *err)
{
    struct choice choice;
    size_t n = odb_model_attributes(m->left.model), changed;
    choice_begin(&choice, m, "minimise: attributes left out", apply_attribute);
    for (size_t i = 0; i < n; i++)
        choice_add(&choice, (int)i, NULL);
    ODB_TRY(choice_make(&choice, &changed, err));
    snprintf(text, size, "%zu of %zu left out", changed, n);
    return ODB_OK;
}

/* --- the steps -------------------------------------------------------------------------------- */

static const struct simplify_step {
    const char *name, *doing;
    enum odb_status (*run)(struct minimisation *m, char *text, size_t size, struct odb_error *err);
} simplify_steps[] = {
    {"constants", "folding constants", simplify_constants},
    {"shapes", "making inputs smaller", simplify_shapes},
    {"inputs", "making inputs simple", simplify_inputs},
    {"weights", "making weights simple", simplify_weights},
    {"attributes", "leaving attributes out", simplify_attributes},
};

/* As a model of its own, judged by its own noise. Where another value shows the failure than at the
 * start, the signature is what that shows from now on. *same: it fails in the same way. */
static enum odb_status simplify_begin(struct minimisation *m, bool *same, struct odb_error *err)
{
    struct odb_signature shown;
    bool moved = m->value != m->best.shows;
    minimise_step_begin(m, "cutting it out");
    if (!m->left.model)
        ODB_TRY(minimise_subject(m, &m->best, &m->left, err));
    m->explains = m->left.model->graph->n_nodes == 1;
    ODB_TRY(simplify_ask(m, &m->left, "minimise: what is left, by itself", &shown, err));
    m->variants = m->fits;
    m->explains = m->variants > 0;
    *same = moved ? shown.verdict == m->best.shown.verdict
                  : odb_signature_match(&m->sought, &shown) == ODB_ANSWER_BAD;
    if (*same && moved)
        m->sought = shown;
    m->alone = *same;
    if (m->sought.verdict == ODB_VERDICT_FAIL && *same)
        minimise_step_end(m, "by itself", "fails in the same way, relative error %.3g",
                          m->sought.error);
    else
        minimise_step_end(m, "by itself", "%s in the same way", *same ? "fails" : "does not fail");
    return ODB_OK;
}

enum odb_status minimise_simplify(struct minimisation *m, struct odb_error *err)
{
    char text[200];
    bool same, undone;
    ODB_TRY(simplify_begin(m, &same, err));
    if (!same && m->value == ODB_NO_VALUE && !m->trace->ref[m->best.values[0]]) {
        minimise_note(m, "the reference cannot run what is left, so it is made no simpler");
        return ODB_OK;
    }
    if (!same) {
        minimise_note(m, "cut out as a model of its own it does not fail in the same way any more; "
                         "so it is left as it is");
        return ODB_OK;
    }
    ODB_TRY(simplify_keep(m, err));
    for (size_t i = 0; i < ODB_COUNT(simplify_steps); i++) {
        minimise_step_begin(m, simplify_steps[i].doing);
        ODB_TRY(simplify_steps[i].run(m, text, sizeof text, err));
        ODB_TRY(minimise_prove(m, &undone, err));
        minimise_step_end(m, simplify_steps[i].name, "%s",
                          undone ? "put back: a search lets off what it came to" : text);
    }
    return ODB_OK;
}

/* --- scrambling ------------------------------------------------------------------------------- */

static enum odb_status scramble_add(struct choice *choice, int value, const struct odb_tensor *t,
                                    struct odb_buf *stay, struct odb_error *err)
{
    uint64_t seed = choice->m->options->search.seed + (uint64_t)value * 0x10001;
    struct odb_tensor *into;
    ODB_TRY(simple_scramble(&into, t, seed, err));
    if (into)
        choice_add(choice, value, into);
    else if (!simple_is(t))
        odb_buf_printf(stay, "%s%s", stay->len ? ", " : "",
                       choice->from.model->graph->values[value].name);
    return ODB_OK;
}

/* Names of those that the failure would not let go. */
static void scramble_tell(struct minimisation *m, const struct choice *choice, const bool *keep)
{
    for (size_t i = 0; i < choice->n; i++)
        if (keep[i])
            minimise_note(m,
                          "NOT SCRAMBLED: %s holds its original numbers, because without them "
                          "the failure goes",
                          choice->from.model->graph->values[choice->item[i]].name);
}

static enum odb_status scramble_values(struct minimisation *m, size_t *changed, size_t *n,
                                       struct odb_error *err)
{
    const struct odb_graph *graph = m->left.model->graph;
    struct odb_buf stay = ODB_BUF_INIT;
    struct choice choice;
    enum odb_status status = ODB_OK;
    choice_begin(&choice, m, "minimise: random weights", apply_value);
    for (size_t v = 0; v < graph->n_values && status == ODB_OK; v++)
        if (graph->values[v].init && !graph->values[v].is_input && graph->values[v].n_consumers)
            status = scramble_add(&choice, (int)v, graph->values[v].init, &stay, err);
    for (size_t f = 0; f < m->left.feeds->n && status == ODB_OK; f++)
        status = scramble_add(&choice, m->left.feeds->items[f].value,
                              m->left.feeds->items[f].tensor, &stay, err);
    *n = choice.n;
    bool *keep = odb_new_n(bool, choice.n + 1);
    memset(keep, true, choice.n * sizeof *keep);
    struct odb_ddmin question = {choice_ask, &choice};
    if (status == ODB_OK)
        status = odb_ddmin(keep, choice.n, &question, err);
    *changed = 0;
    for (size_t i = 0; i < choice.n; i++)
        *changed += !keep[i];
    scramble_tell(m, &choice, keep);
    if (stay.len)
        minimise_note(m,
                      "not scrambled, because each has one value only, or is of a type that "
                      "holds shapes, indices or text: %.300s",
                      odb_buf_text(&stay));
    free(keep);
    choice_end(&choice);
    odb_buf_dispose(&stay);
    return status;
}

static enum odb_status scramble_names(struct minimisation *m, struct odb_error *err)
{
    struct subject from = m->left;
    struct change change = change_new(&from);
    enum odb_answer answer;
    change.neutral = true;
    enum odb_status status =
        simplify_try(m, &from, &change, "minimise: names without meaning", &answer, err);
    change_dispose(&change, &from);
    ODB_TRY(status);
    if (answer == ODB_ANSWER_BAD)
        subject_dispose(&from);
    else
        minimise_note(m, "NOT SCRAMBLED: names, documentation and metadata are the original ones, "
                         "because without them the failure goes");
    return ODB_OK;
}

/* What a reader can still learn from the file. */
static void scramble_rest(struct minimisation *m)
{
    const struct odb_graph *graph = m->left.model->graph;
    size_t texts = 0, tensors = 0;
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (size_t a = 0; a < graph->nodes[n].attrs.n; a++) {
            const struct odb_attr *attr = &graph->nodes[n].attrs.items[a];
            texts += attr->type == ODB_ATTR_STRING || attr->type == ODB_ATTR_STRINGS;
            tensors += attr->tensors || attr->graphs;
        }
    if (tensors)
        minimise_note(m, "NOT SCRAMBLED: %zu attributes that hold tensors or bodies", tensors);
    minimise_note(m,
                  "of the original there are still: operators, attributes (%zu of them text), "
                  "types and shapes, numbers of nodes in the whole model, and of each scrambled "
                  "tensor its mean, standard deviation, share of zeros and signs%s",
                  texts, m->left.model->n_functions ? "; and names of functions" : "");
}

enum odb_status minimise_scramble(struct minimisation *m, struct odb_error *err)
{
    size_t changed = 0, n = 0;
    bool same = m->alone;
    if (!same)
        ODB_TRY(simplify_begin(m, &same, err));
    if (!same)
        return odb_fail(err, ODB_E_EXECUTOR,
                        "what is left does not fail by itself in the same way, so whether it does "
                        "with other numbers cannot be decided");
    m->explains = false; /* what must not be told counts for more */
    minimise_step_begin(m, "scrambling");
    enum odb_status status = scramble_names(m, err); /* first: notes name weights */
    if (status == ODB_OK)
        status = scramble_values(m, &changed, &n, err);
    for (size_t f = 0; f < m->left.feeds->n; f++) /* not from which file it came */
        snprintf(m->left.feeds->items[f].source, sizeof m->left.feeds->items[f].source,
                 "made by minimising");
    ODB_TRY(status);
    scramble_rest(m);
    minimise_step_end(m, "scramble", "%zu of %zu weights and inputs are random", changed, n);
    return ODB_OK;
}
