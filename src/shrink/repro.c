/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The directory is made under another name, opened again as a stranger would open it, run on
 * reference and target from its own files, and renamed into place last. What is claimed is what
 * that second run showed. The repro of a search that was stopped makes no such run, and says so.
 */
#include "shrink/repro.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"
#include "base/host.h"
#include "system/temporary.h"
#include "encodings/encodings.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "system/scratch.h"
#include "bisect/plan/bisect.h"
#include "bisect/bisect_options.h"
#include "bisect/refusal/breaks.h"
#include "judge/blame.h"
#include "run/feeds.h"
#include "inputs/inputs.h"
#include "report/json.h"
#include "probe/probe.h"
#include "report/report.h"
#include "shrink/repro_as_if.h"
#include "shrink/repro_spec.h"
#include "probe/run_values.h"
#include "probe/reference_from.h"
#include "reference/trace.h"
#include "run/value_report.h"
#include "executor/place.h"
#include "model/write/body_model.h"
#include "model/read/load.h"
#include "model/text/model_text.h"
#include "model/write/pb_write.h"
#include "model/write/write.h"

#define REPRO_ENCODINGS "encodings.json"
#define REPRO_INLINE_MOST ((size_t)1 << 30) /* weights beyond this go into a file of their own */

struct repro {
    const struct odb_model *model;
    const struct odb_graph *graph;
    const struct odb_repro_options *options;
    char *dir;    /* owned: where it is being made */
    char *clean;  /* owned: a copy of what the second run needs, elsewhere; NULL: none */
    bool *nodes;  /* owned; [n_nodes] of the segment */
    int *outputs; /* owned; values */
    size_t n_outputs;
    struct odb_repro_spec target, reference; /* of the second run */
    const struct odb_feeds *fed;             /* borrowed: what the model is fed */
    struct odb_trace *trace; /* owned: of what leads to the outputs, for what the segment is fed;
                                NULL: that is what the model is fed, and types are those it
                                declares */
    /* The second run: the model as it was written, and what it showed. */
    struct odb_model *small;     /* owned */
    struct odb_feeds *feeds;     /* owned */
    struct odb_report *report;   /* owned */
    char description[200];       /* of the target */
    struct odb_signature end;    /* how its run ended */
    char words[600];             /* how it was refused, where that is the failure: */
    char *runs_with;             /* owned: the spec that runs it; NULL: it is not */
    struct odb_tensor **made[2]; /* owned refs; [n_outputs of small] by reference and target */
    bool as_if;                  /* a model that computes what the target did is there */
    bool unreferenced;           /* the reference cannot run it: a crash is one all the same */
    bool own; /* the segment is fed with what the target itself makes, and not the reference */
};

static enum odb_status repro_file(const struct repro *r, const char *name,
                                  const struct odb_buf *text, struct odb_error *err)
{
    char *path = odb_xasprintf("%s/%s", r->dir, name);
    enum odb_status status =
        odb_file_write_unsynced(path, &(struct iovec){text->data, text->len}, 1, err);
    free(path);
    return status;
}

static enum odb_status repro_tensor(const struct repro *r, const char *folder, const char *what,
                                    size_t index, const struct odb_tensor *t, const char *name,
                                    struct odb_error *err)
{
    char *path = odb_xasprintf("%s/%s/%s_%zu.pb", r->dir, folder, what, index);
    enum odb_status status = odb_pb_write(t, name, path, err);
    free(path);
    return status;
}

/* --- choosing --------------------------------------------------------------------------------- */

/* All of it. */
static void repro_choose_whole(struct repro *r)
{
    r->nodes = odb_new_n(bool, r->graph->n_nodes + 1);
    memset(r->nodes, true, r->graph->n_nodes * sizeof *r->nodes);
    r->outputs = odb_xmemdup(r->graph->outputs, (r->graph->n_outputs + 1) * sizeof *r->outputs);
    r->n_outputs = r->graph->n_outputs;
}

/* The nodes from first on that last needs, and last's named outputs. */
static enum odb_status repro_choose(struct repro *r, struct odb_error *err)
{
    if (r->options->whole) {
        repro_choose_whole(r);
        return ODB_OK;
    }
    const struct odb_node *last = &r->graph->nodes[r->options->last];
    r->nodes = odb_new_n(bool, r->graph->n_nodes);
    r->outputs = odb_new_n(int, last->n_out);
    for (int o = 0; o < last->n_out; o++)
        if (last->out[o] >= 0 && r->graph->values[last->out[o]].name[0])
            r->outputs[r->n_outputs++] = last->out[o];
    if (r->n_outputs == 0)
        return odb_fail(err, ODB_E_USAGE, "node %d has no named output to export",
                        r->options->last);
    odb_graph_ancestors(r->graph, r->outputs, r->n_outputs, NULL, r->nodes);
    for (int n = 0; n < r->options->first; n++)
        r->nodes[n] = false;
    return ODB_OK;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Value as the reference has it; may be NULL. */
static const struct odb_tensor *repro_value(const struct repro *r, int value)
{
    if (r->trace)
        return odb_trace_value(r->trace, value);
    for (size_t f = 0; f < r->fed->n; f++)
        if (r->fed->items[f].value == value)
            return r->fed->items[f].tensor;
    return NULL;
}

static struct odb_port repro_port(const struct repro *r, int value)
{
    return (struct odb_port){.value = value,
                             .like = r->trace ? odb_trace_value(r->trace, value) : NULL,
                             .symbolic = r->trace && r->trace->dynamic[value]};
}

/* What the segment is fed: the reference's values; of a target that is a recording, what it had. */
static enum odb_status repro_input(const struct repro *r, int value, struct odb_tensor **out,
                                   struct odb_error *err)
{
    const struct odb_tensor *t = repro_value(r, value);
    const char *name = r->graph->values[value].name;
    *out = NULL;
    ODB_TRY(odb_recall(r->model, r->options->target, &value, 1, out, err));
    if (*out)
        return ODB_OK;
    if (r->graph->values[value].producer != ODB_NO_NODE &&
        odb_executor_recorded(r->options->target)) {
        odb_fail(err, ODB_E_INPUT, "%s was not recorded, which the segment is fed", name);
        return odb_error_remedy(err, "begin the segment at a recorded value");
    }
    if (!t)
        return odb_fail(err, ODB_UNSUPPORTED,
                        "the reference cannot compute %s, which the segment is fed", name);
    *out = odb_tensor_ref(t);
    return ODB_OK;
}

static enum odb_status repro_write_inputs(const struct repro *r, const int *inputs, size_t n,
                                          struct odb_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct odb_tensor *t;
        ODB_TRY(repro_input(r, inputs[i], &t, err));
        enum odb_status status = repro_tensor(r, "test_data_set_0", "input", i, t,
                                              r->graph->values[inputs[i]].name, err);
        odb_tensor_unref(t);
        ODB_TRY(status);
    }
    return ODB_OK;
}

enum odb_status odb_repro_put_model(const char *dir, const struct odb_model *model,
                                    struct odb_extract what, struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_file_parts weights = {0};
    bool beside = model->file_bytes > REPRO_INLINE_MOST;
    char *file = odb_xasprintf("%s/model.onnx", dir),
         *data = odb_xasprintf("%s/model.weights", dir);
    what.weights = beside ? ODB_WEIGHTS_BESIDE : ODB_WEIGHTS_INLINE;
    what.weights_file = "model.weights";
    what.weights_out = &weights;
    what.plain_debug = what.record_nodes = true;
    enum odb_status status = odb_model_extract(model, &what, &bytes, err);
    if (status == ODB_OK)
        status = odb_file_write_unsynced(file, &(struct iovec){bytes.data, bytes.len}, 1, err);
    if (status == ODB_OK && weights.size)
        status = odb_file_write_unsynced(data, weights.pieces.items, weights.pieces.n, err);
    odb_buf_dispose(&bytes);
    odb_file_parts_dispose(&weights);
    free(data);
    free(file);
    return status;
}

static enum odb_status repro_write_model(const struct repro *r, const int *inputs, size_t n,
                                         struct odb_error *err)
{
    struct odb_port *in = odb_new_n(struct odb_port, n);
    struct odb_port *out = odb_new_n(struct odb_port, r->n_outputs);
    for (size_t i = 0; i < n; i++)
        in[i] = repro_port(r, inputs[i]);
    for (size_t o = 0; o < r->n_outputs; o++)
        out[o] = repro_port(r, r->outputs[o]);
    struct odb_extract what = {.nodes = r->nodes,
                               .inputs = in,
                               .n_inputs = n,
                               .outputs = out,
                               .n_outputs = r->n_outputs,
                               .ir_version = r->options->ir_version,
                               .declared =
                                   r->options->target && !odb_executor_fixed(r->options->target)};
    enum odb_status status = odb_repro_put_model(r->dir, r->model, what, err);
    free(in);
    free(out);
    return status;
}

static enum odb_status repro_write_text(const struct repro *r, struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    for (size_t n = 0; n < r->graph->n_nodes; n++) {
        if (!r->nodes[n])
            continue;
        odb_node_text(r->graph, &r->graph->nodes[n], &text);
        odb_buf_putc(&text, '\n');
    }
    enum odb_status status = repro_file(r, "node.txt", &text, err);
    odb_buf_dispose(&text);
    return status;
}

static enum odb_status repro_write_cut(struct repro *r, struct odb_error *err)
{
    char *path = odb_xasprintf("%s/test_data_set_0", r->dir);
    int *inputs = odb_new_n(int, r->graph->n_values);
    size_t n = odb_feeds_border(r->fed, r->graph, r->nodes, inputs);
    enum odb_status status = odb_file_mkdir(path, err);
    if (status == ODB_OK)
        status = repro_write_inputs(r, inputs, n, err);
    if (status == ODB_OK)
        status = repro_write_model(r, inputs, n, err);
    if (status == ODB_OK)
        status = repro_write_text(r, err);
    free(path);
    free(inputs);
    return status;
}

/* A recording of other inputs is no reference for the segment. */
static const char *repro_reference(const struct repro *r)
{
    return odb_executor_recorded(r->options->reference) ? "cpu" : r->options->reference;
}

static const char *repro_golden(const struct repro *r)
{
    const char *golden = r->options->golden;
    return golden && !odb_executor_recorded(golden) ? golden : NULL;
}

/* Puts what the target itself makes in the place of what the segment is fed. ODB_SKIPPED: that is
 * nothing else, or cannot be had. */
static enum odb_status repro_own(struct repro *r, struct odb_error *err)
{
    const struct odb_graph *graph = r->graph;
    int *list = odb_new_n(int, graph->n_values + 1);
    size_t n = 0, all = odb_graph_segment_inputs(graph, r->nodes, list);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, all + 1);
    struct odb_error why = ODB_ERROR_INIT;
    bool differs = false;
    for (size_t i = 0; i < all; i++)
        if (graph->values[list[i]].producer != ODB_NO_NODE && r->trace->ref[list[i]])
            list[n++] = list[i];
    enum odb_status status =
        n ? odb_run_values(r->model, r->fed, r->options->target, list, n, had, r->description,
                           sizeof r->description, &r->options->hooks, &why)
          : ODB_OK;
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        struct odb_tensor **ref = &r->trace->ref[list[i]];
        if (!had[i] || had[i]->kind != ODB_TENSOR || (*ref)->kind != ODB_TENSOR ||
            had[i]->dtype != (*ref)->dtype || !odb_tensor_same_shape(had[i], *ref))
            continue;
        differs |= !odb_tensor_identical(had[i], *ref);
        odb_tensor_unref(*ref);
        *ref = odb_tensor_ref(had[i]);
    }
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(had[i]);
    free(had);
    free(list);
    if (status == ODB_CANCELLED && err)
        *err = why;
    return status == ODB_CANCELLED ? status : differs ? ODB_OK : ODB_SKIPPED;
}

/* What goes in, and what the outputs look like. */
static enum odb_status repro_trace(struct repro *r, struct odb_error *err)
{
    const struct odb_repro_options *o = r->options;
    struct odb_bisect_options search = {.reference = o->reference,
                                        .expect = o->expect,
                                        .encodings = o->encodings,
                                        .hooks = o->hooks};
    struct odb_trace_options how;
    ODB_TRY(odb_bisect_trace_options(&search, &how, err));
    ODB_TRY(odb_reference_up_to(&r->trace, r->model, r->fed, r->outputs, r->n_outputs, &how, err));
    if (!o->whole && o->first < o->last) { /* as a search asks for it */
        bool *constant = odb_trace_constant(r->trace);
        odb_trace_add_weights(r->trace, constant, r->nodes);
        free(constant);
    }
    return ODB_OK;
}

/* The model that passes, with what goes in and should come out, in a folder of its own. */
static enum odb_status repro_write_good(const struct repro *r, struct odb_error *err)
{
    struct odb_repro_options options = *r->options;
    struct repro good = {.model = options.good,
                         .graph = options.good->graph,
                         .fed = options.good_feeds,
                         .options = &options};
    enum odb_status status = ODB_OK;
    options.whole = true;
    good.dir = odb_xasprintf("%s/good", r->dir);
    repro_choose_whole(&good);
    ODB_TRY_OUT(repro_trace(&good, err));
    ODB_TRY_OUT(odb_file_mkdir(good.dir, err));
    ODB_TRY_OUT(repro_write_cut(&good, err));
    for (size_t o = 0; o < good.n_outputs && status == ODB_OK; o++)
        if (good.trace->ref[good.outputs[o]])
            status = repro_tensor(&good, "test_data_set_0", "output", o,
                                  good.trace->ref[good.outputs[o]],
                                  good.graph->values[good.outputs[o]].name, err);
out:
    odb_trace_free(good.trace);
    free(good.nodes);
    free(good.outputs);
    free(good.dir);
    return status;
}

/* --- the second run --------------------------------------------------------------------------- */

/* What a stranger would be sent, in a place where nothing else is. */
static enum odb_status repro_copy(struct repro *r, struct odb_error *err)
{
    ODB_TRY(odb_scratch_new(&r->clean, err));
    for (int folder = 0; folder < 2; folder++) {
        const char *below = folder ? "/test_data_set_0" : "";
        char *from = odb_xasprintf("%s%s", r->dir, below);
        char *to = odb_xasprintf("%s%s", r->clean, below);
        enum odb_status status = odb_file_mkdir(to, err);
        DIR *dir = opendir(from);
        struct dirent *entry;
        if (!dir && status == ODB_OK) {
            odb_fail(err, ODB_E_IO, "cannot be listed: %s", strerror(errno));
            status = odb_error_at(err, "%s", from);
        }
        while (status == ODB_OK && dir && (entry = readdir(dir))) {
            if (!folder && strncmp(entry->d_name, "model.", 6) != 0)
                continue;
            char *a = odb_xasprintf("%s/%s", from, entry->d_name);
            char *b = odb_xasprintf("%s/%s", to, entry->d_name);
            if (odb_file_is_regular(a)) /* d_type is not always known */
                status = odb_place_copy(a, b, err);
            free(a);
            free(b);
        }
        if (dir)
            closedir(dir);
        free(from);
        free(to);
        ODB_TRY(status);
    }
    return ODB_OK;
}

/* Files by the names that they have in the folder, wherever they were read from. */
static void repro_sources(const struct repro *r)
{
    for (size_t f = 0; f < r->feeds->n; f++)
        snprintf(r->feeds->items[f].source, sizeof r->feeds->items[f].source,
                 "file test_data_set_0/input_%zu.pb", f);
}

/* A copy is known by its place in the folder. */
static void repro_report_target(const struct repro *r, json_t *report)
{
    if (!r->target.copied)
        return;
    json_object_set_new(report, "target", odb_json_text(r->target.shown));
    json_object_set_new(report, "target_description", odb_json_text(r->target.shown));
}

static enum odb_status repro_report(const struct repro *r, const struct odb_report *report,
                                    struct odb_error *err)
{
    struct odb_buf json = ODB_BUF_INIT;
    odb_report_json(report, &json);
    json_t *object = report == r->report ? json_loadb(json.data, json.len, 0, NULL) : NULL;
    if (object) {
        json_object_set_new(json_object_get(object, "model"), "path", json_string("model.onnx"));
        odb_buf_clear(&json);
        repro_report_target(r, object);
        odb_json_put(object, &json);
    }
    enum odb_status status = repro_file(r, "report.json", &json, err);
    odb_buf_dispose(&json);
    return status;
}

/* Whether it is sought that the target ends, which needs no reference. */
static bool repro_of_end(const struct repro *r)
{
    const struct odb_signature *sought = r->options->sought;
    return sought &&
           (sought->verdict == ODB_VERDICT_CRASH || sought->verdict == ODB_VERDICT_TIMEOUT ||
            sought->verdict == ODB_VERDICT_REFUSED);
}

/* How the target's run has ended: what it refuses may be a failure. */
static enum odb_status repro_end(struct repro *r, enum odb_status had, const struct odb_error *why,
                                 struct odb_error *err)
{
    const struct odb_graph *graph = r->small->graph;
    odb_signature_status(&r->end, had, why);
    if (had == ODB_OK)
        return ODB_OK;
    ODB_TRY(odb_refusal_breaks_run(&r->runs_with, r->small, r->feeds, r->target.used,
                                   graph->outputs, graph->n_outputs, why, &r->options->hooks, err));
    if (r->runs_with)
        odb_signature_refusal(&r->end, why);
    if (r->runs_with)
        odb_text_fit(r->words, sizeof r->words, "%s", why->what);
    return ODB_OK;
}

/* The encodings that the reference keeps to, which its outputs need as well. */
static enum odb_status repro_write_encodings(struct repro *r, struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    if (!r->options->encodings)
        return ODB_OK;
    odb_encodings_put(r->options->encodings, NULL, &text);
    enum odb_status status = repro_file(r, REPRO_ENCODINGS, &text, err);
    odb_buf_dispose(&text);
    return status;
}

/* The spec that gives the expected outputs. Owned by the caller. */
static char *repro_simulating(const struct repro *r)
{
    struct odb_buf spec = ODB_BUF_INIT;
    odb_buf_puts(&spec, r->reference.used);
    if (r->options->encodings) {
        odb_buf_puts(&spec, ",encodings=");
        odb_spec_put_word(&spec, r->dir);
        odb_buf_puts(&spec, "/" REPRO_ENCODINGS);
    }
    return odb_buf_take(&spec);
}

/* Expected outputs (reference) and actual ones (target), from the model as it was written. */
static enum odb_status repro_write_outputs(struct repro *r, struct odb_error *err)
{
    static const char *const folders[] = {"test_data_set_0", "actual"};
    const struct odb_graph *graph = r->small->graph;
    for (int side = 0; side < 2; side++) {
        char *spec = side == 0 ? repro_simulating(r) : odb_xstrdup(r->target.used);
        char *folder = odb_xasprintf("%s/%s", r->dir, folders[side]);
        enum odb_status made = odb_file_mkdir(folder, err);
        free(folder);
        if (made != ODB_OK) {
            free(spec);
            return made;
        }
        struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, graph->n_outputs);
        struct odb_error run_err = ODB_ERROR_INIT;
        enum odb_status status =
            odb_run_values(r->small, r->feeds, spec, graph->outputs, graph->n_outputs, outputs,
                           r->description, sizeof r->description, &r->options->hooks, &run_err);
        free(spec);
        for (size_t o = 0; o < graph->n_outputs && status == ODB_OK; o++)
            status = repro_tensor(r, folders[side], "output", o, outputs[o],
                                  graph->values[graph->outputs[o]].name, &run_err);
        r->made[side] = outputs;
        if (side == 1)
            ODB_TRY(repro_end(r, status, &run_err, err));
        bool died = side == 1 && odb_verdict_is_bad(r->end.verdict); /* then it has no outputs */
        r->unreferenced |= side == 0 && status != ODB_OK && repro_of_end(r);
        if (status != ODB_OK && !died && !(side == 0 && r->unreferenced)) {
            *err = run_err;
            return status;
        }
    }
    return ODB_OK;
}

/* Where the reference cannot run it, all there is to say is how the target ended. */
static enum odb_status repro_judge(struct repro *r, const struct odb_bisect_options *options,
                                   struct odb_error *err)
{
    if (!r->unreferenced)
        return odb_bisect(&r->report, r->small, r->feeds, options, err);
    r->report = odb_report_new(r->small);
    r->report->feeds = r->feeds;
    r->report->reference = odb_xstrdup(options->reference);
    r->report->target = odb_xstrdup(options->target);
    r->report->outputs_diverge = odb_verdict_is_bad(r->end.verdict);
    odb_report_warn(r->report, "the reference cannot run it, so no output is judged");
    return ODB_OK;
}

/* What was asked of what the target computed instead; NULL: nothing. */
static const struct odb_explanations *repro_explained(const struct repro *r)
{
    return r->report && r->report->culprits.n ? &r->report->culprits.items[0].explained : NULL;
}

/* The model that computes what the target did, where there is one. */
static enum odb_status repro_write_as_if(struct repro *r, struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_error why = ODB_ERROR_INIT;
    if (!repro_explained(r))
        return ODB_OK;
    r->as_if =
        odb_repro_as_if(r->small, r->feeds, r->made[1], repro_explained(r), &bytes, &why) == ODB_OK;
    enum odb_status status = r->as_if ? repro_file(r, ODB_REPRO_AS_IF, &bytes, err) : ODB_OK;
    odb_buf_dispose(&bytes);
    return status;
}

static enum odb_status repro_rerun(struct repro *r, struct odb_error *err)
{
    if (r->options->whole)
        ODB_TRY(repro_copy(r, err));
    const char *from = r->clean ? r->clean : r->dir;
    char *path = odb_xasprintf("%s/model.onnx", from);
    char *data = odb_xasprintf("%s/test_data_set_0", from);
    struct odb_input_options inputs = ODB_INPUT_OPTIONS_INIT;
    struct odb_bisect_options options = {.reference = r->reference.used,
                                         .golden = repro_golden(r),
                                         .target = r->target.used,
                                         .seed = r->options->seed,
                                         .tolerance = r->options->tolerance,
                                         .expect = r->options->expect,
                                         .encodings = r->options->encodings,
                                         .no_opinion = r->options->encodings != NULL,
                                         .part = true,
                                         .hooks = r->options->hooks};
    enum odb_status status = ODB_OK;
    inputs.inputs_from = data;
    ODB_TRY_OUT(odb_model_open(&r->small, path, err));
    ODB_TRY_OUT(odb_feeds_make(&r->feeds, r->small, &inputs, err));
    repro_sources(r);
    ODB_TRY_OUT(repro_write_encodings(r, err));
    ODB_TRY_OUT(repro_write_outputs(r, err));
    ODB_TRY_OUT(repro_judge(r, &options, err));
    ODB_TRY_OUT(repro_write_as_if(r, err));
    status = repro_report(r, r->options->report ? r->options->report : r->report, err);
out:
    free(path);
    free(data);
    return status;
}

/* Whether the second run shows what was sought: at the output of that name, or, where names have
 * been changed, at any. */
static bool repro_is_sought(const struct repro *r, const struct odb_repro_result *out)
{
    if (!r->options->sought)
        return true;
    const struct odb_signature *sought = r->options->sought;
    const struct odb_graph *graph = r->small->graph;
    struct odb_signature shown = r->end;
    bool found = false, named = false;
    if (repro_of_end(r)) {
        shown.verdict = out->verdict;
        return odb_signature_match(sought, &shown) == ODB_ANSWER_BAD;
    }
    for (size_t o = 0; o < graph->n_outputs; o++)
        named |= !strcmp(graph->values[graph->outputs[o]].name, sought->output);
    for (size_t o = 0; o < graph->n_outputs; o++) {
        const struct odb_value *value = &graph->values[graph->outputs[o]];
        if (named && strcmp(value->name, sought->output) != 0)
            continue;
        odb_signature_value(&shown, NULL, &r->report->values[value->index],
                            r->made[1] ? r->made[1][o] : NULL, r->made[0] ? r->made[0][o] : NULL);
        found |= odb_signature_match(sought, &shown) == ODB_ANSWER_BAD;
    }
    return found;
}

/* As `bisect` says of the model that was written: a node that is off by itself need not be so by
 * more than its output may be off, where what it is fed is rounded as well. */
static bool repro_fails(const struct repro *r)
{
    return r->unreferenced ? r->report->outputs_diverge
                           : odb_report_outcome(r->report) == ODB_OUTCOME_DIVERGES;
}

/* How far off it is: by numbers, where there are any to compare. */
static void repro_put_off(const struct odb_repro_result *result, struct odb_buf *out)
{
    if (result->misfit[0])
        odb_buf_puts(out, result->misfit);
    else
        odb_buf_printf(out, "error %.3g, noise %.3g", result->error, result->noise);
}

/* The worst output of the second run. */
static void repro_result(const struct repro *r, struct odb_repro_result *out)
{
    if (r->options->known) {
        *out = (struct odb_repro_result){.known = true, .verdict = ODB_VERDICT_UNTESTED};
        snprintf(out->summary, sizeof out->summary,
                 "%zu node%s; stopped: known to fail, as it was tried last, and not searched again",
                 r->graph->n_nodes, r->graph->n_nodes == 1 ? "" : "s");
        return;
    }
    const struct odb_graph *graph = r->small->graph;
    *out = (struct odb_repro_result){.reproduces = repro_fails(r), .verdict = ODB_VERDICT_PASS};
    for (size_t o = 0; o < graph->n_outputs; o++) {
        const struct odb_value_report *v = &r->report->values[graph->outputs[o]];
        double error = v->error.known ? v->error.v : 0;
        if (odb_verdict_is_bad(v->verdict) && !odb_verdict_is_bad(out->verdict))
            out->verdict = v->verdict;
        if (odb_verdict_misfits(v->verdict) && !out->misfit[0])
            snprintf(out->misfit, sizeof out->misfit, "%s", v->reason);
        if (error < out->error)
            continue;
        out->error = error;
        out->noise = v->noise.known ? v->noise.v : 0;
    }
    if (odb_verdict_is_bad(r->end.verdict)) /* a crash, a hang, a refusal stand at no output */
        out->verdict = r->end.verdict;
    const struct odb_culprit *first = r->report->culprits.n ? r->report->culprits.items : NULL;
    if (out->reproduces && !r->report->outputs_diverge && first) {
        out->verdict = ODB_VERDICT_FAIL; /* by what it makes of its own inputs */
        out->error = first->numbers.local_error.known ? first->numbers.local_error.v : 0;
        out->noise = first->numbers.local_noise.known ? first->numbers.local_noise.v : 0;
    }
    bool sought = repro_is_sought(r, out), fails = out->reproduces;
    struct odb_buf off = ODB_BUF_INIT;
    repro_put_off(out, &off);
    out->reproduces = fails && sought;
    snprintf(out->summary, sizeof out->summary, "%zu node%s%s; re-run from its own files: %s, %s",
             graph->n_nodes, graph->n_nodes == 1 ? "" : "s",
             r->own ? ", fed with what the target itself makes before it" : "",
             out->verdict == ODB_VERDICT_CRASH     ? "the target crashes"
             : out->verdict == ODB_VERDICT_TIMEOUT ? "the target hangs"
             : out->verdict == ODB_VERDICT_REFUSED
                 ? "the target refuses it, and runs it with other "
                   "options"
             : fails && !sought ? "the target fails in ANOTHER way"
             : fails            ? "the target diverges"
                                : "the target does NOT diverge",
             odb_buf_text(&off));
    odb_buf_dispose(&off);
}

/* --- the page that goes with it --------------------------------------------------------------- */

static void repro_put_origin(const struct repro *r, struct odb_buf *text)
{
    const struct odb_repro_options *o = r->options;
    char label[200], sha[65] = "unknown";
    struct odb_error ignored = ODB_ERROR_INIT;
    odb_buf_puts(text, "# Repro:");
    for (size_t n = 0; o->whole && n < r->graph->n_nodes && n < 6; n++) {
        odb_buf_putc(text, ' ');
        odb_buf_put_shown(text, r->graph->nodes[n].op_type);
    }
    if (o->whole) {
        odb_buf_printf(text, "%s\n\n%s", r->graph->n_nodes > 6 ? " …" : "",
                       o->story ? o->story : "");
        return;
    }
    odb_buf_putc(text, ' ');
    odb_buf_put_shown(text, r->graph->nodes[o->last].op_type);
    odb_buf_putc(text, ' ');
    odb_buf_put_shown(text, odb_node_label(&r->graph->nodes[o->last], label, sizeof label));
    if (o->first == o->last)
        odb_buf_printf(text, "\n\nNode %d", o->last);
    else
        odb_buf_printf(text, "\n\nNodes %d to %d", o->first, o->last);
    if (odb_model_body_way(r->model)) {
        odb_buf_puts(text, " of the body ");
        odb_body_put_way(odb_model_body_way(r->model), text);
        odb_buf_puts(text, ", cut out as a model of its own: one");
    } else {
        odb_buf_puts(text, " of a model");
    }
    odb_buf_printf(text, " with %zu nodes", r->graph->n_nodes);
    if (odb_model_sha256(r->model, sha, &ignored) == ODB_OK)
        odb_buf_printf(text, " (SHA-256 %s)", sha);
    odb_buf_printf(text, ", cut out by onnxdbg %s.\n\n", ODB_VERSION);
}

static void repro_put_files(const struct repro *r, struct odb_buf *text)
{
    const struct odb_repro_options *o = r->options;
    odb_buf_puts(text, "| file | what |\n| --- | --- |\n"
                       "| model.onnx | the nodes, with their weights |\n"
                       "| test_data_set_0/input_N.pb | what they are fed, in the order of the "
                       "model's inputs |\n");
    if (!o->known)
        odb_buf_printf(text,
                       "| test_data_set_0/output_N.pb | what the reference gives |\n"
                       "| actual/output_N.pb | what the target gave; absent where it gave none |\n"
                       "| report.json | the diagnosis%s |\n",
                       o->report ? ", as the search of the whole model made it" : "");
    odb_buf_puts(text, "| node.txt | the nodes as ONNX text |\n");
    if (r->as_if)
        odb_buf_puts(text, "| " ODB_REPRO_AS_IF " | a model that computes what the target did: the "
                           "reference gives what actual/ holds, within noise |\n");
    if (o->encodings)
        odb_buf_puts(text, "| " REPRO_ENCODINGS " | how the target quantises each value |\n");
    if (r->target.copied)
        odb_buf_puts(text, "| " ODB_REPRO_TARGET "/ | the files that the target is made of |\n");
    if (o->good && !o->known)
        odb_buf_printf(text,
                       "| good/ | the largest model met on the way that passes, %zu nodes, with "
                       "its inputs and outputs |\n",
                       o->good->graph->n_nodes);
}

static void repro_put_explained(const struct repro *r, struct odb_buf *text)
{
    struct odb_buf said = ODB_BUF_INIT;
    if (repro_explained(r))
        odb_explanations_put(repro_explained(r), &said);
    if (said.len) /* without the blank at its end */
        odb_buf_printf(text, "%.*s\n\n", (int)said.len - 1, odb_buf_text(&said));
    odb_buf_dispose(&said);
}

/* How it was refused, and what shows that it need not be. */
static enum odb_status repro_put_refusal(const struct repro *r, struct odb_buf *text,
                                         struct odb_error *err)
{
    struct odb_repro_spec plain;
    char *spec = r->runs_with ? odb_executor_plain(r->options->target) : NULL;
    if (!spec)
        return ODB_OK;
    enum odb_status status = odb_repro_spec_make(&plain, spec, NULL, err);
    free(spec);
    ODB_TRY(status);
    odb_buf_puts(text, "The target refuses this model, which is valid: the reference runs it. It "
                       "says:\n\n    ");
    odb_buf_put_shown(text, r->words);
    odb_buf_puts(text, "\n\nWith other options it runs: ");
    odb_repro_spec_put(&plain, "PLAIN", text);
    odb_buf_puts(text, " in the place of the target.\n\n");
    odb_repro_spec_explain(&plain, "PLAIN", "the target with those options", text);
    odb_repro_spec_dispose(&plain);
    return ODB_OK;
}

/* To be given in the repro's own folder. */
static void repro_put_command(const struct repro *r, struct odb_buf *text)
{
    const struct odb_repro_options *o = r->options;
    char tolerance[160];
    odb_buf_puts(text, "\n## Run it\n\nIn this folder:\n\n    onnxdbg bisect model.onnx "
                       "--inputs-from test_data_set_0 --reference ");
    odb_repro_spec_put(&r->reference, "REFERENCE", text);
    odb_buf_puts(text, " --target ");
    odb_repro_spec_put(&r->target, "TARGET", text);
    odb_buf_printf(text, " --tol %s%s%s%s\n\n",
                   odb_criterion_text(&o->tolerance, tolerance, sizeof tolerance),
                   o->expect ? " --expect " : "", o->expect ? o->expect : "",
                   o->encodings ? " --encodings " REPRO_ENCODINGS : "");
    odb_repro_spec_explain(&r->target, "TARGET", "the target that fails", text);
    odb_repro_spec_explain(&r->reference, "REFERENCE", "the reference", text);
    if (odb_cpu_kernels())
        odb_buf_printf(text,
                       "`ONNXDBG_KERNELS=%s` in the environment names libraries of kernels for the "
                       "reference.\n\n",
                       odb_cpu_kernels());
    if (!o->known)
        odb_buf_puts(text, "Its layout is that of ONNX's backend tests.\n\n");
}

/* The executors that run it, and what the target is made of, if that goes along. */
static enum odb_status repro_specs(struct repro *r, struct odb_error *err)
{
    const struct odb_repro_options *o = r->options;
    ODB_TRY(odb_repro_spec_make(&r->reference, repro_reference(r), NULL, err));
    return odb_repro_spec_make(&r->target, o->target, o->with_target ? r->dir : NULL, err);
}

static enum odb_status repro_write_page(const struct repro *r,
                                        const struct odb_repro_result *result,
                                        struct odb_error *err)
{
    const struct odb_repro_options *o = r->options;
    struct odb_buf text = ODB_BUF_INIT;
    char tolerance[160];
    repro_put_origin(r, &text);
    odb_buf_printf(&text, "%s: %s.\n\n",
                   result->known        ? "It failed when it was tried"
                   : result->reproduces ? "It reproduces"
                                        : "It does NOT reproduce",
                   result->summary);
    repro_put_explained(r, &text);
    enum odb_status status = repro_put_refusal(r, &text, err);
    repro_put_files(r, &text);
    repro_put_command(r, &text);
    odb_buf_puts(&text, "## Made with\n\n");
    odb_buf_printf(&text, "- onnxdbg %s\n- reference: ", ODB_VERSION);
    odb_buf_put_shown(&text, r->reference.given);
    odb_buf_puts(&text, "\n- target: ");
    odb_buf_put_shown(&text, r->target.given);
    if (r->description[0] && !r->target.copied) /* that names where the copy was made */
        odb_buf_printf(&text, " (%s)", r->description);
    odb_buf_puts(&text,
                 "\n- metric: largest |target - golden| over the root mean square of golden");
    if (o->known || result->misfit[0])
        odb_buf_printf(&text, "; tolerance %s\n- machine: ", tolerance);
    else
        odb_buf_printf(&text, ": %.6g; tolerance %s, noise %.3g\n- machine: ", result->error,
                       tolerance, result->noise);
    odb_host_put(&text);
    odb_buf_puts(&text, "\n- inputs: the reference's values at the cut");
    for (size_t f = 0; f < r->fed->n; f++) {
        const struct odb_feed *feed = &r->fed->items[f];
        odb_buf_puts(&text, f ? ", " : "; the whole model was fed ");
        odb_buf_put_shown(&text, r->graph->values[feed->value].name);
        odb_buf_puts(&text, ": ");
        odb_buf_put_shown(&text, feed->source);
    }
    if (r->fed->chosen && *r->fed->chosen) {
        odb_buf_puts(&text, "; chosen for it: ");
        odb_buf_put_shown(&text, r->fed->chosen);
    }
    odb_buf_putc(&text, '\n');
    if (status == ODB_OK)
        status = repro_file(r, "README.md", &text, err);
    odb_buf_dispose(&text);
    return status;
}

/* --- in place --------------------------------------------------------------------------------- */

enum odb_status odb_repro_ready(const char *path, struct odb_error *err)
{
    DIR *dir = opendir(path);
    if (!dir) {
        struct stat st;
        if (stat(path, &st) != 0)
            return ODB_OK;
        odb_fail(err, ODB_E_USAGE, "%s exists and is no directory", path);
        return odb_error_remedy(err, "name another with -o");
    }
    size_t entries = 0;
    while (readdir(dir))
        entries++;
    closedir(dir);
    if (entries <= 2)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "%s is not empty", path);
    return odb_error_remedy(err, "name another with -o; nothing was changed");
}

static enum odb_status repro_install(const struct repro *r, struct odb_error *err)
{
    ODB_TRY(odb_file_sync(r->dir, err)); /* else half of it may be there when all seems to be */
    if (rename(r->dir, r->options->dir) == 0) { /* also onto an empty directory */
        odb_file_settle(r->options->dir);
        return ODB_OK;
    }
    odb_fail(err, ODB_E_IO, "cannot be renamed to %s: %s", r->options->dir, strerror(errno));
    return odb_error_at(err, "%s", r->dir);
}

/* own: fed with what the target makes; where that is nothing else, ODB_SKIPPED. sure: written only
 * if it reproduces, else likewise. */
static enum odb_status repro_make(struct odb_repro_result *out, const struct odb_model *model,
                                  const struct odb_feeds *feeds,
                                  const struct odb_repro_options *options, bool own, bool sure,
                                  struct odb_error *err)
{
    struct repro r = {
        .model = model, .graph = model->graph, .fed = feeds, .options = options, .own = own};
    enum odb_status status = ODB_OK;
    ODB_TRY(odb_repro_ready(options->dir, err));
    ODB_TRY_OUT(repro_choose(&r, err));
    if (!options->known)
        ODB_TRY_OUT(repro_trace(&r, err));
    if (own)
        ODB_TRY_OUT(repro_own(&r, err));
    ODB_TRY_OUT(odb_scratch_beside(&r.dir, options->dir, err));
    ODB_TRY_OUT(repro_specs(&r, err));
    ODB_TRY_OUT(repro_write_cut(&r, err));
    if (options->good && !options->known)
        ODB_TRY_OUT(repro_write_good(&r, err));
    if (!options->known)
        ODB_TRY_OUT(repro_rerun(&r, err));
    repro_result(&r, out);
    if (sure && !out->reproduces) {
        status = ODB_SKIPPED;
        goto out;
    }
    ODB_TRY_OUT(repro_write_page(&r, out, err));
    status = repro_install(&r, err);
out:
    if (r.dir && status != ODB_OK)
        odb_scratch_remove(r.dir);
    else if (r.dir)
        odb_temporary_drop(r.dir);
    if (r.clean)
        odb_scratch_remove(r.clean);
    free(r.clean);
    free(r.runs_with);
    odb_repro_spec_dispose(&r.target);
    odb_repro_spec_dispose(&r.reference);
    odb_report_free(r.report);
    for (size_t i = 0; i < 2 * (r.small ? r.small->graph->n_outputs : 0); i++)
        if (r.made[i % 2])
            odb_tensor_unref(r.made[i % 2][i / 2]);
    free(r.made[0]);
    free(r.made[1]);
    odb_feeds_free(r.feeds);
    odb_model_free(r.small);
    odb_trace_free(r.trace);
    free(r.dir);
    free(r.nodes);
    free(r.outputs);
    return status;
}

/* A segment that a search has accused need not fail with the reference's values: rounding them may
 * be a part of what is allowed there, and the target's own are rounded already. */
enum odb_status odb_repro_write(struct odb_repro_result *out, const struct odb_model *model,
                                const struct odb_feeds *feeds,
                                const struct odb_repro_options *options, struct odb_error *err)
{
    if (options->whole || options->known)
        return repro_make(out, model, feeds, options, false, false, err);
    enum odb_status status = repro_make(out, model, feeds, options, false, true, err);
    if (status == ODB_SKIPPED)
        status = repro_make(out, model, feeds, options, true, true, err);
    if (status == ODB_SKIPPED) /* neither does: what it shows is reported */
        status = repro_make(out, model, feeds, options, false, false, err);
    return status;
}
