/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The plan: take the signature; shrink (shrink.c); make what is left simple (simplify.c); write it
 * as a repro (repro.c), which runs it once more from a copy of its files. Ctrl-C or a budget that
 * ends it leaves the smallest that was found until then; the user gets it at once, as it was last
 * tried, and nothing is run for it.
 */
#include "shrink/minimise.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "bisect/bisect_options.h"
#include "bisect/refusal/breaks.h"
#include "run/budget.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "report/json.h"
#include "shrink/minimise_int.h"
#include "probe/run_values.h"
#include "probe/reference_from.h"
#include "reference/trace.h"
#include "run/value_report.h"
#include "model/read/load.h"

#define MINIMISE_SIMPLER                                                                           \
    10 /* questions on whether what is left may be simpler, as most models take */

/* --- accounting ------------------------------------------------------------------------------- */

enum odb_status minimise_spend(struct minimisation *m, struct odb_error *err)
{
    const struct odb_search_hooks *hooks = &m->options->search.hooks;
    ODB_TRY(odb_hooks_cancelled(hooks, err));
    m->over = m->over || odb_budget_spent(hooks->budget);
    if (m->over && !hooks->budget->lifted)
        return odb_fail(err, ODB_CANCELLED, "the budget is used up");
    m->out->probes++;
    return ODB_OK;
}

void minimise_step_begin(struct minimisation *m, const char *name)
{
    m->step_start = odb_clock();
    m->step_probes = m->out->probes;
    odb_hooks_phase(&m->options->search.hooks, name, 0);
}

/* Weights that the nodes of the best cut use, and what it is fed. */
static size_t minimise_cut_bytes(const struct minimisation *m)
{
    const struct odb_graph *graph = m->graph;
    int *list = odb_new_n(int, graph->n_values + 1);
    size_t bytes = 0, n = odb_graph_segment_inputs(graph, m->best.nodes, list);
    for (size_t i = 0; i < n; i++) {
        const struct odb_tensor *t = odb_trace_value(m->trace, list[i]);
        bytes += t ? t->bytes : 0;
    }
    for (size_t v = 0; v < graph->n_values; v++) {
        bool used = false;
        for (size_t c = 0; graph->values[v].init && c < graph->values[v].n_consumers; c++)
            used |= m->best.nodes[graph->values[v].consumers[c]];
        bytes += used ? graph->values[v].init->bytes : 0;
    }
    free(list);
    return bytes;
}

void minimise_step_end(struct minimisation *m, const char *name, const char *fmt, ...)
{
    bool cut = m->left.model == NULL;
    struct odb_minimise_step step = {.name = name,
                                     .nodes = cut ? m->best.n_nodes : m->left.model->graph->n_nodes,
                                     .bytes = cut ? minimise_cut_bytes(m) : subject_bytes(&m->left),
                                     .probes = m->out->probes - m->step_probes,
                                     .seconds = odb_clock() - m->step_start};
    va_list args;
    va_start(args, fmt);
    odb_text_vfit(step.text, sizeof step.text, fmt, args);
    va_end(args);
    odb_push(&m->out->steps, step);
}

void minimise_note(struct minimisation *m, const char *fmt, ...)
{
    char line[600];
    va_list args;
    va_start(args, fmt);
    odb_text_vfit(line, sizeof line, fmt, args);
    va_end(args);
    odb_push(&m->out->notes, odb_xstrdup(line));
}

enum odb_status minimise_shown(const struct odb_judge *judge, int value, const struct odb_tensor *t,
                               struct odb_signature *out, struct odb_error *err)
{
    struct odb_value_report report = {0};
    ODB_TRY(odb_judge_value(judge, value, t, &report, err));
    odb_signature_value(out, judge->trace->model->graph->values[value].name, &report, t,
                        judge->trace->ref[value]);
    return ODB_OK;
}

enum odb_status minimise_ended(struct minimisation *m, const struct odb_prober *prober,
                               const struct odb_probe *probe, enum odb_status had,
                               const struct odb_error *why, bool begin, struct odb_signature *out,
                               struct odb_error *err)
{
    struct odb_signature refused;
    bool breaks;
    odb_signature_status(out, had, why);
    if (!odb_probe_refused(had))
        return ODB_OK;
    odb_signature_refusal(&refused, why);
    if (!begin && odb_signature_match(&m->sought, &refused) != ODB_ANSWER_BAD)
        return ODB_OK;
    ODB_TRY(odb_refusal_breaks(&breaks, &m->plainest, prober, probe, why, err));
    if (breaks)
        *out = refused;
    return ODB_OK;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* For the page that goes with the model: nothing of a private model in it. */
static char *minimise_story(const struct minimisation *m)
{
    struct odb_buf text = ODB_BUF_INIT;
    struct odb_minimised shown = *m->out;
    char sha[65];
    if (m->options->scramble)
        shown.signature.output[0] = '\0';
    odb_buf_printf(&text, "What `onnxdbg minimise` left of a model with %zu nodes",
                   m->whole->graph->n_nodes);
    if (!m->options->scramble && odb_model_sha256(m->whole, sha, NULL) == ODB_OK)
        odb_buf_printf(&text, " (SHA-256 %s)", sha);
    odb_buf_printf(&text, ", fed with inputs of seed %llu.%s The failure at the start: ",
                   (unsigned long long)m->options->search.seed,
                   m->out->stopped ? " It was stopped before the end." : "");
    odb_signature_put(&shown.signature, &text);
    odb_buf_puts(&text, ".\n\n| step | nodes | bytes of weights and inputs | probes | seconds | |\n"
                        "| --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < shown.steps.n; i++) {
        const struct odb_minimise_step *s = &shown.steps.items[i];
        bool names = !strcmp(s->name, "outputs back"); /* of a value */
        odb_buf_printf(&text, "| %s | %zu | %zu | %zu | %.2f | ", s->name, s->nodes, s->bytes,
                       s->probes, s->seconds);
        odb_buf_put_shown(&text, names && m->options->scramble ? "" : s->text);
        odb_buf_puts(&text, " |\n");
    }
    for (size_t i = 0; i < shown.notes.n; i++) {
        odb_buf_puts(&text, "\n- ");
        odb_buf_put_shown(&text, shown.notes.items[i]);
    }
    odb_buf_puts(&text, shown.notes.n ? "\n\n" : "\n");
    return odb_buf_take(&text);
}

/* known: the user has stopped it and waits, so that nothing is run for it. */
static enum odb_status minimise_write(struct minimisation *m, bool known, struct odb_error *err)
{
    const struct odb_minimise_options *o = m->options;
    struct subject good = {0};
    struct odb_repro_options repro = {.last = -1,
                                      .whole = true,
                                      .known = known,
                                      .sought = &m->sought,
                                      .with_target = o->with_target,
                                      .dir = o->dir,
                                      .reference = o->search.reference,
                                      .golden = o->search.golden,
                                      .target = o->search.target,
                                      .seed = o->search.seed,
                                      .tolerance = o->search.tolerance,
                                      .expect = o->search.expect,
                                      .encodings = o->search.encodings,
                                      .ir_version = o->ir_version,
                                      .hooks = o->search.hooks};
    odb_hooks_phase(&o->search.hooks, known ? "writing" : "writing and running again", 0);
    if (!m->left.model)
        ODB_TRY(minimise_subject(m, &m->best, &m->left, err));
    m->out->good_nodes = 0;
    if (m->good.nodes && !o->scramble && !known) {
        ODB_TRY(minimise_subject(m, &m->good, &good, err));
        repro.good = good.model;
        repro.good_feeds = good.feeds;
        m->out->good_nodes = m->good.n_nodes;
    }
    char *story = minimise_story(m);
    repro.story = story;
    enum odb_status status =
        odb_repro_write(&m->out->repro, m->left.model, m->left.feeds, &repro, err);
    m->out->written = status == ODB_OK;
    free(story);
    subject_dispose(&good);
    return status;
}

/* --- the plan --------------------------------------------------------------------------------- */

static enum odb_status minimise_open(struct minimisation *m, struct odb_error *err)
{
    const struct odb_bisect_options *search = &m->options->search;
    struct odb_trace_options how;
    ODB_TRY(odb_model_require_data(m->model, err));
    ODB_TRY(odb_bisect_trace_options(search, &how, err));
    m->trace = search->trace;
    if (!m->trace)
        ODB_TRY(odb_reference_make(&m->trace, m->model, m->feeds, &how, err));
    m->trace->hooks = search->hooks;
    m->judge = (struct odb_judge){m->trace, &search->tolerance};
    ODB_TRY(odb_probe_pool(&m->pool, search->target, &search->hooks, err));
    odb_prober_init(&m->prober, m->model, m->feeds, m->trace, m->pool, search->hooks);
    if (!m->prober.recorded)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "a recording runs nothing, so nothing can be minimised with it");
    return odb_error_remedy(err, "name the executor that was recorded with --target");
}

/* What it will cost: cuts halve the model from both ends. */
static void minimise_foretell(struct minimisation *m)
{
    size_t halvings = 0;
    double load, run;
    for (size_t n = m->best.n_nodes; n > 1; n = (n + 1) / 2)
        halvings++;
    odb_pool_price(m->pool, &load, &run);
    m->out->expected = m->out->probes + 2 * halvings + MINIMISE_SIMPLER;
    odb_hooks_tell(&m->options->search.hooks,
                   (struct odb_search_event){.what = ODB_EVENT_FORECAST,
                                             .text = "minimise",
                                             .node = ODB_NO_NODE,
                                             .loads = m->out->expected,
                                             .seconds = (load + run) * (double)m->out->expected});
}

static enum odb_status minimise_run(struct minimisation *m, struct odb_error *err)
{
    ODB_TRY(minimise_begin(m, err));
    if (!m->out->failed)
        return ODB_OK;
    minimise_foretell(m);
    ODB_TRY(minimise_shrink(m, err));
    ODB_TRY(minimise_simplify(m, err));
    return m->options->scramble ? minimise_scramble(m, err) : ODB_OK;
}

/* Whatever the budget: what was asked for is a file without the original's numbers. */
static enum odb_status minimise_scramble_late(struct minimisation *m, struct odb_error *err)
{
    if (!m->left.model)
        ODB_TRY(minimise_subject(m, &m->best, &m->left, err));
    return minimise_scramble(m, err);
}

static void minimise_dispose(struct minimisation *m)
{
    odb_prober_dispose(&m->prober);
    odb_plainest_dispose(&m->plainest);
    odb_pool_close(m->pool);
    if (m->trace != m->options->search.trace)
        odb_trace_free(m->trace);
    else if (m->trace) /* which outlives the owner of the hooks */
        m->trace->hooks = (struct odb_search_hooks){0};
    minimise_cut_dispose(&m->best);
    minimise_cut_dispose(&m->good);
    subject_dispose(&m->left);
    subject_dispose(&m->proven);
}

/* Ends it: with what is left, if there is something that may be written. */
static enum odb_status minimise_finish(struct minimisation *m, enum odb_status status,
                                       struct odb_error *err)
{
    struct odb_minimised *out = m->out;
    struct odb_budget *budget = m->options->search.hooks.budget;
    struct odb_error late = ODB_ERROR_INIT;
    bool undone;
    out->stopped = status == ODB_CANCELLED;
    m->over = m->over || (out->stopped && odb_budget_spent(budget));
    if (!out->failed || (status != ODB_OK && !out->stopped))
        return status;
    if (out->stopped)
        minimise_step_end(m, "stopped", "%s", m->over ? "the budget is used up" : "cancelled");
    if (m->over) /* which is no failure */
        status = ODB_OK;
    if (budget) /* what is left to do proves what was done */
        budget->lifted = true;
    if (m->over && m->left.model && status == ODB_OK)
        status = minimise_prove(m, &undone, err);
    if (m->over && m->options->scramble && status == ODB_OK)
        status = minimise_scramble_late(m, err);
    if (m->options->scramble && status != ODB_OK) {
        odb_error_remedy(err, "nothing is written, because it would not be scrambled");
        return status;
    }
    if (out->own_values)
        minimise_note(m, "it is fed with what the target itself fed it in the whole model: with "
                         "the reference's values it does not fail");
    enum odb_status written = minimise_write(m, status == ODB_CANCELLED, &late);
    if (written == ODB_CANCELLED && status == ODB_OK) { /* while it was run again */
        out->stopped = true;
        *err = late;
        late = (struct odb_error)ODB_ERROR_INIT;
        status = ODB_CANCELLED;
        minimise_step_end(m, "stopped", "cancelled");
        written = minimise_write(m, true, &late);
    }
    if (status == ODB_OK && written != ODB_OK) {
        *err = late;
        status = written;
    }
    return status;
}

/* whole: the model that model is a part of, with what is constant in it; or itself, and NULL. */
static enum odb_status minimise_model(struct odb_minimised *out, const struct odb_model *whole,
                                      const bool *constant, const struct odb_model *model,
                                      const struct odb_feeds *feeds,
                                      const struct odb_minimise_options *options,
                                      struct odb_error *err)
{
    struct minimisation m = {.whole = whole,
                             .model = model,
                             .graph = model->graph,
                             .feeds = feeds,
                             .options = options,
                             .out = out,
                             .value = ODB_NO_VALUE,
                             .start = odb_clock()};
    bool *own = NULL;
    enum odb_status status = minimise_open(&m, err);
    if (status == ODB_OK) {
        own = constant ? NULL : odb_trace_constant(m.trace);
        m.constant = constant ? constant : own;
        status = minimise_run(&m, err);
    }
    status = minimise_finish(&m, status, err);
    out->seconds = odb_clock() - m.start;
    minimise_dispose(&m);
    free(own);
    return status;
}

/* Whether a value of the target's may stand in the reference's place, and is another one. */
static bool minimise_differs(const struct odb_tensor *t, const struct odb_tensor *ref)
{
    return t && ref && t->kind == ODB_TENSOR && ref->kind == ODB_TENSOR && t->dtype == ref->dtype &&
           odb_tensor_same_shape(t, ref) && !odb_tensor_identical(t, ref);
}

/* What the target itself feeds the best cut. False in *differs: it cannot be had, or is what the
 * reference has. */
static enum odb_status minimise_own(struct minimisation *m, bool *differs, struct odb_error *err)
{
    const struct odb_bisect_options *search = &m->options->search;
    int *list = odb_new_n(int, m->graph->n_values + 1);
    size_t n = 0, all = odb_graph_segment_inputs(m->graph, m->best.nodes, list);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, all + 1);
    struct odb_error why = ODB_ERROR_INIT;
    char text[400];
    for (size_t i = 0; i < all; i++)
        if (odb_probe_reads(m->graph, m->trace, list[i]))
            list[n++] = list[i];
    enum odb_status status = n ? odb_run_values(m->model, m->feeds, search->target, list, n, had,
                                                text, sizeof text, &search->hooks, &why)
                               : ODB_OK;
    m->own = odb_new_n(struct odb_tensor *, m->graph->n_values + 1);
    *differs = false;
    for (size_t i = 0; i < n; i++) {
        if (minimise_differs(had[i], m->trace->ref[list[i]])) {
            m->own[list[i]] = odb_tensor_ref(had[i]);
            *differs = true;
        }
        odb_tensor_unref(had[i]);
    }
    free(had);
    free(list);
    if (status == ODB_CANCELLED)
        *err = why;
    return status == ODB_CANCELLED ? status : ODB_OK;
}

/* The segment as a model of its own, so that it is judged by its own noise. own: fed with what the
 * target itself feeds it; out->model is NULL where that is nothing else. */
static enum odb_status minimise_segment(struct subject *out, bool **constant, bool own_values,
                                        const struct odb_model *model,
                                        const struct odb_feeds *feeds,
                                        const struct odb_minimise_options *options,
                                        struct odb_error *err)
{
    bool differs = true;
    *out = (struct subject){0};
    *constant = NULL;
    struct minimisation m = {
        .model = model, .graph = model->graph, .feeds = feeds, .options = options};
    struct odb_trace_options how;
    struct odb_trace *own = NULL;
    enum odb_status status;
    ODB_TRY(odb_bisect_trace_options(&options->search, &how, err));
    if (!options->search.trace)
        ODB_TRY(odb_reference_make(&own, model, feeds, &how, err));
    m.trace = own ? own : options->search.trace;
    ODB_TRY_OUT(minimise_first_cut(&m, options->first, options->last, err));
    if (own_values)
        ODB_TRY_OUT(minimise_own(&m, &differs, err));
    if (differs)
        ODB_TRY_OUT(minimise_subject(&m, &m.best, out, err));
    *constant = odb_trace_constant(m.trace);
out:
    for (size_t v = 0; m.own && v < m.graph->n_values; v++)
        odb_tensor_unref(m.own[v]);
    free(m.own);
    minimise_cut_dispose(&m.best);
    odb_trace_free(own);
    return status;
}

/* The segment, with the reference's values, or the target's where these are others. */
static enum odb_status minimise_part(struct odb_minimised *out, bool own_values,
                                     const struct odb_model *model, const struct odb_feeds *feeds,
                                     const struct odb_minimise_options *options,
                                     struct odb_error *err)
{
    struct odb_minimise_options inner = *options;
    struct subject segment;
    bool *constant;
    size_t before = out->probes;
    enum odb_status status =
        minimise_segment(&segment, &constant, own_values, model, feeds, options, err);
    if (status == ODB_OK && segment.model) {
        odb_minimised_dispose(out);
        out->probes = before + own_values;
        out->own_values = own_values;
        inner.search.trace = NULL;
        inner.search.part = true;
        status = minimise_model(out, model, constant, segment.model, segment.feeds, &inner, err);
    }
    subject_dispose(&segment);
    free(constant);
    return status;
}

enum odb_status odb_minimise(struct odb_minimised *out, const struct odb_model *model,
                             const struct odb_feeds *feeds,
                             const struct odb_minimise_options *options, struct odb_error *err)
{
    *out = (struct odb_minimised){0};
    ODB_TRY(odb_repro_ready(options->dir, err));
    if (options->first == ODB_NO_NODE)
        return minimise_model(out, model, NULL, model, feeds, options, err);
    ODB_TRY(minimise_part(out, false, model, feeds, options, err));
    return out->failed ? ODB_OK : minimise_part(out, true, model, feeds, options, err);
}

void odb_minimised_dispose(struct odb_minimised *out)
{
    for (size_t i = 0; i < out->notes.n; i++)
        free(out->notes.items[i]);
    free(out->notes.items);
    free(out->steps.items);
    *out = (struct odb_minimised){0};
}

/* --- text ------------------------------------------------------------------------------------- */

static void minimise_put_bytes(size_t bytes, struct odb_buf *out)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_put_bytes(&text, bytes);
    odb_buf_printf(out, "%12s", odb_buf_text(&text));
    odb_buf_dispose(&text);
}

void odb_minimised_put(const struct odb_minimised *minimised, struct odb_buf *out)
{
    odb_buf_puts(out, "the failure: ");
    odb_signature_put(&minimised->signature, out);
    odb_buf_printf(out, "\n\n%-15s %7s %12s %7s %8s\n", "step", "nodes", "bytes", "probes",
                   "seconds");
    for (size_t i = 0; i < minimised->steps.n; i++) {
        const struct odb_minimise_step *s = &minimised->steps.items[i];
        odb_buf_printf(out, "%-15s %7zu ", s->name, s->nodes);
        minimise_put_bytes(s->bytes, out);
        odb_buf_printf(out, " %7zu %8.1f%s", s->probes, s->seconds, s->text[0] ? "  " : "");
        odb_buf_put_shown(out, s->text);
        odb_buf_putc(out, '\n');
    }
    odb_buf_printf(out, "%zu probe%s of about %zu expected, %.1f s\n", minimised->probes,
                   odb_plural(minimised->probes), minimised->expected, minimised->seconds);
    for (size_t i = 0; i < minimised->notes.n; i++) {
        odb_buf_puts(out, "note: ");
        odb_buf_put_shown(out, minimised->notes.items[i]);
        odb_buf_putc(out, '\n');
    }
}

static json_t *minimise_json_signature(const struct odb_signature *s)
{
    json_t *json = json_object();
    json_object_set_new(json, "verdict", json_string(odb_verdict_name(s->verdict)));
    json_object_set_new(json, "output", s->output[0] ? odb_json_text(s->output) : json_null());
    json_object_set_new(json, "error",
                        s->verdict == ODB_VERDICT_FAIL ? odb_json_real(s->error) : json_null());
    json_object_set_new(json, "factor", json_real(ODB_SIGNATURE_FACTOR));
    json_object_set_new(json, "fate", s->fate[0] ? odb_json_text(s->fate) : json_null());
    struct odb_buf text = ODB_BUF_INIT;
    odb_signature_text(s, &text);
    json_object_set_new(json, "text", odb_json_text(odb_buf_text(&text)));
    odb_buf_dispose(&text);
    return json;
}

void odb_minimised_json(const struct odb_minimised *minimised, const char *chosen,
                        struct odb_buf *out)
{
    json_t *json = json_object(), *steps = json_array();
    for (size_t i = 0; i < minimised->steps.n; i++) {
        const struct odb_minimise_step *s = &minimised->steps.items[i];
        json_t *step =
            json_pack("{s:s,s:I,s:I,s:I}", "step", s->name, "nodes", (json_int_t)s->nodes, "bytes",
                      (json_int_t)s->bytes, "probes", (json_int_t)s->probes);
        json_object_set_new(step, "seconds", odb_json_real(s->seconds));
        json_object_set_new(step, "text", odb_json_text(s->text));
        json_array_append_new(steps, step);
    }
    json_object_set_new(json, "chosen", odb_json_text(chosen));
    json_object_set_new(json, "fails", json_boolean(minimised->failed));
    json_object_set_new(json, "signature",
                        minimised->failed ? minimise_json_signature(&minimised->signature)
                                          : json_null());
    json_object_set_new(json, "steps", steps);
    json_object_set_new(json, "notes", odb_json_texts(minimised->notes.items, minimised->notes.n));
    json_object_set_new(json, "stopped", json_boolean(minimised->stopped));
    json_object_set_new(json, "probes", json_integer((json_int_t)minimised->probes));
    json_object_set_new(json, "probes_expected", json_integer((json_int_t)minimised->expected));
    json_object_set_new(json, "seconds", odb_json_real(minimised->seconds));
    json_object_set_new(json, "good_nodes", json_integer((json_int_t)minimised->good_nodes));
    json_object_set_new(json, "written", json_boolean(minimised->written));
    json_object_set_new(json, "known", json_boolean(minimised->repro.known));
    json_object_set_new(json, "reproduces",
                        minimised->repro.known
                            ? json_null()
                            : json_boolean(minimised->written && minimised->repro.reproduces));
    odb_json_put(json, out);
}
