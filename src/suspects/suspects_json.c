/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "model/read/load.h"
#include "report/json.h"
#include "report/outcome.h"
#include "report/report.h"
#include "run/value_report.h"
#include "suspects/suspects.h"

static json_t *suspects_number(double v)
{
    return isnan(v) ? json_null() : odb_json_real(v);
}

static json_t *suspects_one_json(const struct odb_suspects *r, const struct odb_suspect *one)
{
    const struct odb_node *node = &r->model->graph->nodes[one->node];
    json_t *json = odb_json_node(one->node, node->name, node->op_type, node->domain);
    json_object_set_new(json, "value", odb_json_values(r->model->graph, &one->value, 1));
    json_object_set_new(json, "likely", json_boolean(one->likely));
    json_object_set_new(json, "deviation", odb_json_text(one->family));
    json_object_set_new(json, "amount", suspects_number(one->amount));
    json_object_set_new(json, "explained", odb_json_real(one->explained));
    json_object_set_new(json, "explained_least", odb_json_real(one->least));
    return json;
}

static json_t *suspects_samples_json(const struct odb_samples *samples)
{
    json_t *list = json_array();
    for (size_t i = 0; i < samples->items.n; i++) {
        const struct odb_sample *one = &samples->items.items[i];
        json_array_append_new(
            list, json_pack("{so,so,so,so}", "source", odb_json_text(one->source), "verdict",
                            odb_json_text(odb_verdict_name(one->verdict)), "error",
                            suspects_number(one->error), "failure", odb_json_text(one->why)));
    }
    return list;
}

/* A search that was stopped has no verdict. */
static const char *suspects_verdict(const struct odb_suspects *r)
{
    return odb_outcome_name(r->stopped                                ? ODB_OUTCOME_NONE
                            : r->n_differ                             ? ODB_OUTCOME_DIVERGES
                            : r->n_unknown || r->n_run < r->n_samples ? ODB_OUTCOME_NONE
                                                                      : ODB_OUTCOME_PASS);
}

static json_t *suspects_json(const struct odb_suspects *r, const struct odb_samples *samples)
{
    struct odb_error err = ODB_ERROR_INIT;
    char sha256[65];
    bool hashed = odb_model_sha256(r->model, sha256, &err) == ODB_OK;
    json_t *list = json_array();
    for (size_t i = 0; i < r->list.n; i++)
        json_array_append_new(list, suspects_one_json(r, &r->list.items[i]));
    json_t *model = json_pack("{s:o,s:o,s:I}", "path", odb_json_text(r->model->path), "sha256",
                              hashed ? json_string(sha256) : json_null(), "nodes",
                              (json_int_t)r->model->graph->n_nodes);
    json_t *json =
        json_pack("{s:o,s:o,s:s,s:b,s:o,s:o}", "model", model, "target", odb_json_text(r->target),
                  "verdict", suspects_verdict(r), "outputs_diverge", r->n_differ > 0, "samples",
                  suspects_samples_json(samples), "suspects", list);
    json_object_set_new(json, "likely", json_integer((json_int_t)r->n_likely));
    json_object_set_new(json, "explains", json_boolean(r->explains));
    json_object_set_new(json, "single", json_boolean(r->single));
    json_object_set_new(json, "probability", suspects_number(r->probability));
    json_object_set_new(json, "explained_next", odb_json_real(r->next));
    json_object_set_new(json, "rounding", odb_json_real(r->rounding));
    json_object_set_new(json, "pattern", json_boolean(r->pattern));
    json_object_set_new(json, "stopped", json_boolean(r->stopped));
    json_object_set_new(json, "complete", json_boolean(r->complete));
    json_object_set_new(json, "samples_run", json_integer((json_int_t)r->n_run));
    json_object_set_new(json, "samples_explained", json_integer((json_int_t)r->n_used));
    json_object_set_new(json, "nodes_tried", json_integer((json_int_t)r->n_tried));
    json_object_set_new(json, "nodes_untried", json_integer((json_int_t)r->n_untried));
    json_object_set_new(json, "nodes_left", json_integer((json_int_t)r->n_left));
    json_object_set_new(json, "replays", json_integer((json_int_t)r->n_replays));
    json_object_set_new(json, "target_loads", json_integer((json_int_t)r->loads));
    json_object_set_new(json, "target_runs", json_integer((json_int_t)r->runs));
    json_object_set_new(json, "seconds", json_real(r->seconds));
    return json;
}

void odb_suspects_json(const struct odb_suspects *r, const struct odb_samples *samples,
                       const char *chosen, struct odb_buf *out)
{
    json_t *json = suspects_json(r, samples);
    json_object_set_new(json, "chosen", odb_json_text(chosen));
    odb_json_put(json, out);
}

void odb_suspects_report(const struct odb_suspects *r, const struct odb_samples *samples,
                         struct odb_report *report)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_suspects_put(r, &text);
    free(report->ranking);
    report->ranking = odb_buf_take(&text);
    if (!report->more)
        report->more = json_object();
    json_object_set_new(report->more, "suspects", suspects_json(r, samples));
}
