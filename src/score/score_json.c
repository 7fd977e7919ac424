/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <math.h>

#include "model/read/load.h"
#include "report/json.h"
#include "score/score.h"

static json_t *json_gain(const struct odb_score_gain *gain)
{
    return json_pack("{s:o,s:o,s:o}", "is", odb_json_real(gain->is), "low",
                     odb_json_real(gain->low), "high", odb_json_real(gain->high));
}

static json_t *json_node(const struct odb_score *r, const struct odb_score_node *one)
{
    const struct odb_node *node = &r->model->graph->nodes[one->node];
    json_t *json = odb_json_node(one->node, node->name, node->op_type, node->domain);
    bool mended = !one->why;
    json_object_set_new(json, "mended", json_boolean(mended));
    json_object_set_new(json, "failure", odb_json_text(one->why));
    json_object_set_new(json, "error", isnan(one->error) ? json_null() : odb_json_real(one->error));
    json_object_set_new(json, "alone", mended ? json_gain(&one->alone) : json_null());
    json_object_set_new(json, "with_above", mended ? json_gain(&one->with) : json_null());
    json_object_set_new(json, "score",
                        mended ? odb_json_real(r->factor * one->score) : json_null());
    json_object_set_new(json, "samples_changed",
                        mended && one->changed != SIZE_MAX ? json_integer((json_int_t)one->changed)
                                                           : json_null());
    return json;
}

static json_t *json_samples(const struct odb_score *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->samples.n; i++) {
        const struct odb_score_sample *one = &r->samples.items[i];
        json_array_append_new(
            list, json_pack("{s:o,s:o,s:o,s:o,s:b}", "source", odb_json_text(one->source),
                            "failure", odb_json_text(one->why), "error",
                            isnan(one->error) ? json_null() : odb_json_real(one->error),
                            "scores_otherwise", r->tells ? json_boolean(one->changed) : json_null(),
                            "searched", one->searched));
    }
    return list;
}

json_t *odb_score_object(const struct odb_score *r)
{
    struct odb_error err = ODB_ERROR_INIT;
    char sha256[65];
    bool hashed = odb_model_sha256(r->model, sha256, &err) == ODB_OK;
    json_t *nodes = json_array(), *root = json_object();
    for (size_t i = 0; i < r->nodes.n; i++)
        json_array_append_new(nodes, json_node(r, &r->nodes.items[i]));
    json_object_set_new(root, "model",
                        json_pack("{s:o,s:o,s:I}", "path", odb_json_text(r->model->path), "sha256",
                                  odb_json_text(hashed ? sha256 : NULL), "nodes",
                                  (json_int_t)r->model->graph->n_nodes));
    json_object_set_new(root, "complete", json_boolean(!r->stopped && !r->failure));
    json_object_set_new(root, "failure", odb_json_text(r->failure));
    json_object_set_new(root, "metric", odb_json_text(r->metric));
    json_object_set_new(root, "labels", odb_json_text(r->labels));
    json_object_set_new(root, "lower_is_better", json_boolean(r->lower));
    json_object_set_new(root, "target", odb_json_text(r->target));
    json_object_set_new(root, "target_description", odb_json_text(r->description));
    json_object_set_new(root, "reference_score", odb_json_real(r->factor * r->reference));
    json_object_set_new(root, "target_score", odb_json_real(r->factor * r->run));
    json_object_set_new(root, "loss", json_gain(&r->loss));
    json_object_set_new(root, "samples_scored", json_integer((json_int_t)r->used));
    json_object_set_new(root, "samples", json_samples(r));
    json_object_set_new(root, "nodes", nodes);
    json_object_set_new(root, "notes", odb_json_texts(r->notes.items, r->notes.n));
    json_object_set_new(root, "target_loads", json_integer((json_int_t)r->cost.loads));
    json_object_set_new(root, "target_runs", json_integer((json_int_t)r->cost.runs));
    json_object_set_new(root, "seconds", odb_json_real(r->seconds));
    return root;
}

void odb_score_json(const struct odb_score *r, struct odb_buf *out)
{
    odb_json_put(odb_score_object(r), out);
}
