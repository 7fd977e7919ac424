/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "score/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "executor/spec.h"
#include "executor/transport/target.h"
#include "score/boxes.h"

const struct odb_metric_kind *const odb_metric_kinds[] = {&odb_metric_top,
                                                          &odb_metric_wer,
                                                          &odb_metric_perplexity,
                                                          &odb_metric_snr,
                                                          &odb_metric_map,
                                                          &odb_metric_python,
                                                          &(const struct odb_metric_kind){0}};

void odb_share_dispose(struct odb_share *share)
{
    odb_boxes_free(share->boxes);
    *share = (struct odb_share){0};
}

bool odb_share_same(const struct odb_share *a, const struct odb_share *b)
{
    if (a->boxes && b->boxes)
        return odb_boxes_same(a->boxes, b->boxes);
    return (a->sum == b->sum || (isnan(a->sum) && isnan(b->sum))) && a->of == b->of;
}

static enum odb_status metric_unknown(const char *text, struct odb_error *err)
{
    struct odb_buf known = ODB_BUF_INIT;
    for (size_t i = 0; odb_metric_kinds[i]->name; i++)
        odb_buf_printf(&known, "%s%s", i ? ", " : "",
                       odb_metric_kinds[i] == &odb_metric_top ? "top1, top5"
                                                              : odb_metric_kinds[i]->name);
    odb_fail(err, ODB_E_USAGE, "there is no metric '%s'", text);
    odb_error_remedy(err, "name one of %s", odb_buf_text(&known));
    odb_buf_dispose(&known);
    return ODB_E_USAGE;
}

/* top5 is top with a number behind it. */
static bool metric_is(struct odb_metric *m, const struct odb_metric_kind *kind)
{
    const char *word = m->spec->kind;
    char *end;
    if (kind != &odb_metric_top)
        return !strcmp(word, kind->name);
    if (strncmp(word, kind->name, strlen(kind->name)) != 0)
        return false;
    m->k = strtol(word + strlen(kind->name), &end, 10);
    return !*end && m->k >= 1 && m->k <= 1000000;
}

/* The one that is named, else the first of floats, else the first. */
static enum odb_status metric_find_output(struct odb_metric *m, struct odb_error *err)
{
    const struct odb_graph *graph = m->graph;
    const char *name = m->spec->arg;
    for (size_t o = graph->n_outputs; o-- > 0;) {
        const struct odb_value *value = &graph->values[graph->outputs[o]];
        const struct odb_type *type = &value->type;
        bool floats = type->known && type->kind == ODB_TENSOR && odb_dtype_is_float(type->dtype);
        if (name ? !strcmp(value->name, name) : floats) {
            m->output = o;
            name = name ? "" : name;
        }
    }
    if (!name || !name[0])
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "the model has no output '%s'", name);
    return odb_error_remedy(err, "`onnxdbg info MODEL` lists them");
}

static enum odb_status metric_begin(struct odb_metric *m, const char *labels, struct odb_error *err)
{
    ODB_TRY(odb_spec_parse(&m->spec, m->text, err));
    for (size_t i = 0; odb_metric_kinds[i]->name && !m->kind; i++)
        if (metric_is(m, odb_metric_kinds[i]))
            m->kind = odb_metric_kinds[i];
    if (!m->kind)
        return metric_unknown(m->text, err);
    ODB_TRY(odb_spec_check(m->spec, m->kind->options, err));
    if (m->kind != &odb_metric_python)
        ODB_TRY(metric_find_output(m, err));
    if (labels) {
        m->labels = odb_new(struct odb_labels);
        ODB_TRY(odb_labels_read(m->labels, labels, m->kind->text, err));
    }
    bool boxes = m->kind == &odb_metric_map;
    if (m->labels && !m->labels->coco == boxes && m->kind != &odb_metric_python) {
        odb_fail(err, ODB_E_USAGE, "%s takes %s as labels", m->spec->kind,
                 boxes ? "a .json file as COCO writes it" : "a text or an .npy file");
        return odb_error_at(err, "%s", labels);
    }
    return m->kind->open ? m->kind->open(m, err) : ODB_OK;
}

enum odb_status odb_metric_open(struct odb_metric **out, const char *text, const char *labels,
                                const struct odb_graph *graph, const struct odb_search_hooks *hooks,
                                struct odb_error *err)
{
    struct odb_metric *m = odb_new(struct odb_metric);
    *m = (struct odb_metric){
        .text = odb_xstrdup(text), .graph = graph, .hooks = *hooks, .ends = {-1, -1, -1}};
    enum odb_status status = metric_begin(m, labels, err);
    *out = status == ODB_OK ? m : NULL;
    if (status != ODB_OK)
        odb_metric_close(m);
    return status;
}

void odb_metric_close(struct odb_metric *m)
{
    if (!m)
        return;
    odb_target_close(m->own);
    if (m->labels)
        odb_labels_dispose(m->labels);
    odb_lines_dispose(&m->words);
    free(m->labels);
    odb_spec_free(m->spec);
    free(m->text);
    free(m);
}

enum odb_status odb_metric_take(struct odb_metric *metric, const struct odb_metric_sample *sample,
                                struct odb_share *out, struct odb_error *err)
{
    *out = (struct odb_share){0};
    return metric->kind->take(metric, sample, out, err);
}

enum odb_status odb_metric_score(struct odb_metric *metric, const struct odb_share *shares,
                                 const size_t *picked, size_t n, double *out, struct odb_error *err)
{
    return metric->kind->score(metric, shares, picked, n, out, err);
}

bool odb_metric_reads(const struct odb_metric *metric, size_t output)
{
    bool end = false;
    for (size_t i = 0; i < ODB_COUNT(metric->ends); i++)
        end = end || metric->ends[i] == (int)output;
    if (metric->kind == &odb_metric_map)
        return end;
    return !metric->kind->one || output == metric->output;
}

bool odb_metric_lower(const struct odb_metric *metric)
{
    return metric->kind == &odb_metric_python ? metric->k != 0 : metric->kind->lower;
}

double odb_metric_better(const struct odb_metric *metric, double a, double b)
{
    double sign = odb_metric_lower(metric) ? -1 : 1;
    return a == b ? 0 : sign * metric->kind->factor * (b - a);
}

enum odb_status odb_metric_label(const struct odb_metric *metric,
                                 const struct odb_metric_sample *sample, bool whole,
                                 struct odb_tensor **out, struct odb_error *err)
{
    *out = NULL;
    if (!metric->labels)
        return ODB_OK;
    ODB_TRY(odb_labels_numbers(metric->labels, sample->index, sample->source, out, err));
    for (size_t i = 0; i < (*out)->count && whole; i++) {
        double v = odb_tensor_f64(*out, i);
        if (v == rint(v) && isfinite(v))
            continue;
        odb_fail(err, ODB_E_INPUT, "the label of sample %zu, %s, is %g, and no whole number",
                 sample->index + 1, sample->source, v);
        odb_tensor_unref(*out);
        *out = NULL;
        return odb_error_at(err, "%s", metric->labels->path);
    }
    return ODB_OK;
}
