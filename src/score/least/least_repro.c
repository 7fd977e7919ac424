/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A folder that shows the loss: made under another name, scored again from its own files, renamed
 * into place last.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/place.h"
#include "executor/spec.h"
#include "inputs/inputs.h"
#include "model/read/load.h"
#include "model/write/pb_write.h"
#include "probe/reference_from.h"
#include "score/least/least_int.h"
#include "score/least/least_page.h"
#include "system/file.h"
#include "system/scratch.h"
#include "system/temporary.h"

/* --- what is written -------------------------------------------------------------------------- */

/* The set, and what follows from it. */
static bool *repro_from(const struct leasting *l)
{
    const struct odb_graph *graph = l->scorer.model->graph;
    bool *part = odb_new_n(bool, graph->n_nodes + 1);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        part[n] = l->set[n];
        for (size_t i = 0; i < odb_node_n_reads(node); i++) {
            int v = odb_node_reads(node, i),
                maker = v < 0 ? ODB_NO_NODE : graph->values[v].producer;
            part[n] = part[n] || (maker != ODB_NO_NODE && part[maker]);
        }
        part[n] = part[n] && l->needed[n];
    }
    return part;
}

static void repro_whole(struct leasting *l, const char *why)
{
    l->out->whole_why = odb_xstrdup(why);
    memcpy(l->part, l->needed, l->scorer.model->graph->n_nodes * sizeof *l->part);
}

enum odb_status least_part(struct leasting *l, struct odb_error *err)
{
    const struct odb_metric *metric = l->scorer.options->metric;
    size_t n = l->scorer.model->graph->n_nodes;
    const char *why = "it all follows from the set";
    double loss;
    l->part = repro_from(l);
    if (metric->kind->right && !metric->labels) {
        why = "the metric looks at its inputs";
    } else if (memcmp(l->part, l->needed, n * sizeof *l->part) != 0) {
        ODB_TRY(least_try(l, l->part, &loss, &l->parts, NULL, err));
        l->out->part = least_fails(l, loss);
        why = "from the set on, fed with the reference's values, it does not cost that";
    }
    if (l->out->part)
        return ODB_OK;
    score_drop(&l->scorer, l->parts);
    l->parts = NULL;
    repro_whole(l, why);
    return ODB_OK;
}

/* --- its files -------------------------------------------------------------------------------- */

static size_t repro_outputs(const struct leasting *l, int *outputs)
{
    const struct scorer *s = &l->scorer;
    size_t n = 0;
    for (size_t o = 0; o < s->n_outputs; o++)
        if (odb_metric_reads(s->options->metric, o))
            outputs[n++] = s->outputs[o];
    return n;
}

/* What the part is fed, outputs that it does not make among them. */
static size_t repro_inputs(const struct leasting *l, const struct odb_feeds *feeds,
                           const int *outputs, size_t n_outputs, int *inputs)
{
    const struct odb_graph *graph = l->scorer.model->graph;
    size_t all = odb_feeds_border(feeds, graph, l->part, inputs), n = 0;
    for (size_t i = 0; i < all; i++)
        if (!l->scorer.prober.constant[inputs[i]])
            inputs[n++] = inputs[i];
    for (size_t o = 0; o < n_outputs; o++) {
        int maker = graph->values[outputs[o]].producer;
        if (maker != ODB_NO_NODE && !l->part[maker])
            inputs[n++] = outputs[o];
    }
    return n;
}

static const struct odb_tensor *repro_value(const struct odb_trace *trace,
                                            const struct odb_feeds *feeds, int value)
{
    for (size_t f = 0; f < feeds->n; f++)
        if (feeds->items[f].value == value)
            return feeds->items[f].tensor;
    return odb_trace_value(trace, value);
}

static enum odb_status repro_tensors(struct least_repro *r, size_t sample, const char *word,
                                     struct odb_port *ports, size_t n,
                                     const struct odb_trace *trace, const struct odb_feeds *feeds,
                                     struct odb_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct odb_tensor *t = repro_value(trace, feeds, ports[i].value);
        const char *name = r->l->scorer.model->graph->values[ports[i].value].name;
        if (!t)
            return odb_fail(err, ODB_UNSUPPORTED, "the reference cannot compute %s", name);
        if (ports[i].like)
            ports[i].symbolic |=
                t->kind != ports[i].like->kind || !odb_tensor_same_shape(t, ports[i].like);
        else
            ports[i] = (struct odb_port){ports[i].value, odb_tensor_ref(t),
                                         trace->dynamic[ports[i].value], false};
        char *path = odb_xasprintf("%s/test_data_set_%zu/%s_%zu.pb", r->dir, sample, word, i);
        enum odb_status status = odb_pb_write(t, name, path, err);
        free(path);
        ODB_TRY(status);
    }
    return ODB_OK;
}

/* One sample: what goes in, and what the reference makes of it. */
static enum odb_status repro_sample(struct least_repro *r, size_t k, struct odb_feeds **feeds,
                                    struct odb_error *err)
{
    const struct leasting *l = r->l;
    const struct odb_score_options *options = l->scorer.options;
    struct odb_trace *trace = NULL;
    char *folder = odb_xasprintf("%s/test_data_set_%zu", r->dir, k);
    enum odb_status status = odb_file_mkdir(folder, err);
    free(folder);
    ODB_TRY(status);
    ODB_TRY(options->feeds(options->payload, l->out->samples.items[k], feeds, err));
    if (!k) {
        int *list = odb_new_n(int, l->scorer.model->graph->n_values + 1);
        r->n_outputs = repro_outputs(l, list);
        for (size_t o = 0; o < r->n_outputs; o++)
            r->outputs[o].value = list[o];
        int *inputs = list + r->n_outputs;
        r->n_inputs = repro_inputs(l, *feeds, list, r->n_outputs, inputs);
        for (size_t i = 0; i < r->n_inputs; i++)
            r->inputs[i].value = inputs[i];
        free(list);
    }
    int *values = odb_new_n(int, r->n_inputs + r->n_outputs + 1);
    for (size_t i = 0; i < r->n_inputs + r->n_outputs; i++)
        values[i] = i < r->n_inputs ? r->inputs[i].value : r->outputs[i - r->n_inputs].value;
    status = score_reference(&trace, l->scorer.model, &r->search, *feeds, values,
                             r->n_inputs + r->n_outputs, err);
    if (status == ODB_OK)
        status = repro_tensors(r, k, "input", r->inputs, r->n_inputs, trace, *feeds, err);
    if (status == ODB_OK)
        status = repro_tensors(r, k, "output", r->outputs, r->n_outputs, trace, *feeds, err);
    odb_trace_free(trace);
    free(values);
    return status;
}

/* Inputs, and weights that the model computes from weights. */
static enum odb_status repro_model(struct least_repro *r, const struct odb_feeds *feeds,
                                   struct odb_error *err)
{
    const struct leasting *l = r->l;
    const struct odb_graph *graph = l->scorer.model->graph;
    int *list = odb_new_n(int, graph->n_values + 1);
    size_t all = odb_feeds_border(feeds, graph, l->part, list), n = r->n_inputs;
    struct odb_port *inputs = odb_new_n(struct odb_port, n + all + 1);
    memcpy(inputs, r->inputs, n * sizeof *inputs);
    for (size_t i = 0; i < all; i++)
        if (l->scorer.prober.constant[list[i]])
            inputs[n++] =
                (struct odb_port){list[i], odb_trace_value(l->scorer.like, list[i]), false, true};
    const struct odb_extract what = {.nodes = l->part,
                                     .inputs = inputs,
                                     .n_inputs = n,
                                     .outputs = r->outputs,
                                     .n_outputs = r->n_outputs,
                                     .ir_version = l->options->ir_version,
                                     .declared = !odb_executor_fixed(l->scorer.search->target)};
    enum odb_status status = odb_repro_put_model(r->dir, l->scorer.model, what, err);
    free(inputs);
    free(list);
    return status;
}

static enum odb_status repro_samples(struct least_repro *r, struct odb_error *err)
{
    struct odb_feeds *first = NULL;
    enum odb_status status = ODB_OK;
    for (size_t k = 0; k < r->l->out->samples.n && status == ODB_OK; k++) {
        struct odb_feeds *feeds = NULL;
        status = repro_sample(r, k, &feeds, err);
        if (k)
            odb_feeds_free(feeds);
        else
            first = feeds;
    }
    if (status == ODB_OK)
        status = repro_model(r, first, err);
    odb_feeds_free(first);
    return status;
}

static enum odb_status repro_labels(struct least_repro *r, struct odb_error *err)
{
    const struct leasting *l = r->l;
    const struct odb_labels *labels = l->scorer.options->metric->labels;
    size_t n = l->out->samples.n;
    const char **sources = odb_new_n(const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        sources[i] = l->out->score->samples.items[l->out->samples.items[i]].source;
    enum odb_status status = labels ? odb_labels_write(labels, l->out->samples.items, sources, n,
                                                       r->dir, &r->labels, err)
                                    : ODB_OK;
    free(sources);
    return status;
}

/* A file that the metric's text names is copied, and named by where it is then. */
static enum odb_status repro_metric_word(struct least_repro *r, const char *word,
                                         struct odb_buf *text, struct odb_buf *used,
                                         struct odb_error *err)
{
    char *path = odb_xstrdup(word), *colon = strrchr(path, ':');
    if (!odb_file_is_regular(path) && colon)
        *colon = '\0';
    if (!odb_file_is_regular(path)) {
        odb_spec_put_word(text, word);
        odb_spec_put_word(used, word);
        free(path);
        return ODB_OK;
    }
    const char *slash = strrchr(path, '/'), *rest = word + strlen(path);
    char *name = odb_file_name(slash ? slash + 1 : path),
         *to = odb_xasprintf("%s/%s", r->dir, name);
    odb_spec_put_word(text, name);
    odb_spec_put_word(text, rest);
    odb_spec_put_word(used, to);
    odb_spec_put_word(used, rest);
    enum odb_status status = odb_place_copy(path, to, err);
    free(to);
    free(name);
    free(path);
    return status;
}

static enum odb_status repro_metric(struct least_repro *r, struct odb_error *err)
{
    const struct odb_spec *spec = r->l->scorer.options->metric->spec;
    struct odb_buf text = ODB_BUF_INIT, used = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    odb_buf_puts(&text, spec->kind);
    odb_buf_puts(&used, spec->kind);
    for (size_t i = 0; i <= spec->n_options && status == ODB_OK; i++) {
        const struct odb_spec_option *option = i ? &spec->options[i - 1] : NULL;
        const char *word = option ? option->value : spec->arg;
        for (int k = 0; k < 2; k++) {
            struct odb_buf *out = k ? &used : &text;
            if (option)
                odb_buf_printf(out, ",%s%s", option->key, option->value[0] ? "=" : "");
            else if (word)
                odb_buf_putc(out, ':');
        }
        if (word && *word)
            status = repro_metric_word(r, word, &text, &used, err);
    }
    r->metric = odb_buf_take(&text);
    r->metric_used = odb_buf_take(&used);
    return status;
}

/* --- scored again ----------------------------------------------------------------------------- */

static char *repro_source(void *payload, size_t sample)
{
    const struct least_repro *r = payload;
    return odb_xasprintf("%s/test_data_set_%zu", r->dir, sample);
}

static enum odb_status repro_feeds(void *payload, size_t sample, struct odb_feeds **out,
                                   struct odb_error *err)
{
    const struct least_repro *r = payload;
    struct odb_input_options inputs = ODB_INPUT_OPTIONS_INIT;
    char *from = repro_source(payload, sample);
    inputs.inputs_from = from;
    enum odb_status status = odb_feeds_make(out, r->small, &inputs, err);
    free(from);
    return status;
}

static enum odb_status repro_again(struct least_repro *r, struct odb_error *err)
{
    struct odb_least *out = r->l->out;
    struct odb_score_options options = {.n = out->samples.n,
                                        .source = repro_source,
                                        .feeds = repro_feeds,
                                        .payload = r,
                                        .bare = true};
    struct odb_bisect_options search = r->search;
    char *path = odb_xasprintf("%s/model.onnx", r->dir),
         *labels = r->labels ? odb_xasprintf("%s/%s", r->dir, r->labels) : NULL;
    enum odb_status status = ODB_OK;
    search.target = r->target.used;
    search.reference = r->reference.used;
    ODB_TRY_OUT(odb_model_open(&r->small, path, err));
    out->repro_nodes = r->small->graph->n_nodes;
    if (out->stopped)
        goto out;
    ODB_TRY_OUT(odb_metric_open(&options.metric, r->metric_used, labels, r->small->graph,
                                &search.hooks, err));
    status = odb_score_make(&out->again, r->small, &search, &options, err);
    out->reproduces = status == ODB_OK && odb_score_loses(out->again, out->drop);
    if (out->again)
        odb_target_stats_add(&out->cost, &out->again->cost);
out:
    odb_metric_close(options.metric);
    free(labels);
    free(path);
    return status;
}

/* --- cuts ------------------------------------------------------------------------------------- */

static enum odb_status repro_cut(struct least_repro *r, int node, const struct odb_feeds *feeds,
                                 struct odb_error *err)
{
    const struct odb_bisect_options *search = &r->search;
    struct odb_least_cut cut = {.node = node, .dir = odb_xasprintf("node-%d", node)};
    char *dir = odb_xasprintf("%s/%s", r->dir, cut.dir), text[600];
    const struct odb_repro_options options = {.first = node,
                                              .last = node,
                                              .dir = dir,
                                              .reference = search->reference,
                                              .golden = search->golden,
                                              .target = search->target,
                                              .with_target = r->l->options->with_target,
                                              .seed = search->seed,
                                              .tolerance = search->tolerance,
                                              .expect = search->expect,
                                              .encodings = search->encodings,
                                              .ir_version = r->l->options->ir_version,
                                              .hooks = search->hooks};
    struct odb_repro_result had = {0};
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = odb_repro_write(&had, r->l->scorer.model, feeds, &options, &why);
    if (status == ODB_OK)
        cut.summary = odb_xstrdup(had.summary);
    else
        cut.summary = odb_xasprintf("not written: %s", odb_error_text(&why, text, sizeof text));
    cut.reproduces = status == ODB_OK && had.reproduces;
    odb_push(&r->l->out->cuts, cut);
    free(dir);
    if (status == ODB_CANCELLED)
        *err = why;
    return status == ODB_CANCELLED ? status : ODB_OK;
}

/* Each node of a small set alone, on the first of the samples. */
static enum odb_status repro_cuts(struct least_repro *r, struct odb_error *err)
{
    struct leasting *l = r->l;
    const struct odb_score_options *options = l->scorer.options;
    struct odb_feeds *feeds;
    enum odb_status status = ODB_OK;
    if (l->out->stopped || l->out->n_set > ODB_LEAST_CUTS) {
        least_note(l, odb_xasprintf("no node of the set is written as a model of its own: %s",
                                    l->out->stopped ? "it was stopped" : "there are too many"));
        return ODB_OK;
    }
    ODB_TRY(options->feeds(options->payload, l->out->samples.items[0], &feeds, err));
    for (size_t n = 0; n < l->scorer.model->graph->n_nodes && status == ODB_OK; n++)
        if (l->set[n])
            status = repro_cut(r, (int)n, feeds, err);
    odb_feeds_free(feeds);
    return status;
}

/* --- in place --------------------------------------------------------------------------------- */

static enum odb_status repro_install(struct least_repro *r, struct odb_error *err)
{
    const char *dir = r->l->options->dir;
    ODB_TRY(odb_file_sync(r->dir, err));
    if (rename(r->dir, dir) != 0) {
        odb_fail(err, ODB_E_IO, "cannot be renamed to %s: %s", dir, strerror(errno));
        return odb_error_at(err, "%s", r->dir);
    }
    odb_file_settle(dir);
    r->l->out->written = true;
    return ODB_OK;
}

static enum odb_status repro_make(struct least_repro *r, struct odb_error *err)
{
    const struct leasting *l = r->l;
    ODB_TRY(odb_repro_spec_make(&r->reference, l->scorer.search->reference, NULL, err));
    ODB_TRY(odb_repro_spec_make(&r->target, l->scorer.search->target,
                                l->options->with_target ? r->dir : NULL, err));
    ODB_TRY(repro_samples(r, err));
    ODB_TRY(repro_labels(r, err));
    ODB_TRY(repro_metric(r, err));
    ODB_TRY(repro_again(r, err));
    ODB_TRY(repro_cuts(r, err));
    ODB_TRY(least_page(r, err));
    return repro_install(r, err);
}

static void repro_drop(struct odb_port *ports, size_t n)
{
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref((struct odb_tensor *)ports[i].like);
    free(ports);
}

enum odb_status least_write(struct leasting *l, struct odb_error *err)
{
    const struct odb_graph *graph = l->scorer.model->graph;
    size_t n = graph->n_values + graph->n_nodes + 1;
    struct least_repro r = {.l = l,
                            .search = *l->scorer.search,
                            .inputs = odb_new_n(struct odb_port, n),
                            .outputs = odb_new_n(struct odb_port, n)};
    if (l->out->stopped) {
        r.search.hooks = (struct odb_search_hooks){0};
        least_note(l,
                   odb_xstrdup("stopped: fewer nodes and samples may do, and what is written was "
                               "not scored again"));
    }
    if (!l->part)
        l->part = odb_new_n(bool, n);
    if (!l->out->part && !l->out->whole_why)
        repro_whole(l, "it was stopped before a part was tried");
    enum odb_status status = odb_scratch_beside(&r.dir, l->options->dir, err);
    if (status == ODB_OK)
        status = repro_make(&r, err);
    if (r.dir && status != ODB_OK)
        odb_scratch_remove(r.dir);
    else if (r.dir)
        odb_temporary_drop(r.dir);
    repro_drop(r.inputs, r.n_inputs);
    repro_drop(r.outputs, r.n_outputs);
    odb_repro_spec_dispose(&r.target);
    odb_repro_spec_dispose(&r.reference);
    odb_model_free(r.small);
    free(r.metric);
    free(r.metric_used);
    free(r.dir);
    return status;
}
