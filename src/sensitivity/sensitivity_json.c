/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "model/read/load.h"
#include "report/json.h"
#include "sensitivity/sensitivity.h"

static json_t *sensitivity_number(double v)
{
    return isnan(v) ? json_null() : odb_json_real(v);
}

static void sensitivity_set(json_t *json, const char *key, double v)
{
    json_object_set_new(json, key, sensitivity_number(v));
}

/* {"error", "how", "value"}; null where it is not known. */
static json_t *sensitivity_error_json(const struct odb_sensitivity_result *r,
                                      struct odb_sensitivity_error e)
{
    if (isnan(e.error))
        return json_null();
    const char *name = e.value == ODB_NO_VALUE ? NULL : r->model->graph->values[e.value].name;
    return json_pack("{s:o,s:s,s:o,s:o}", "error", odb_json_real(e.error), "how",
                     odb_sensitivity_how_word(e.how), "finite", odb_json_real(e.finite), "value",
                     odb_json_text(name));
}

static json_t *sensitivity_node_json(const struct odb_sensitivity_result *r, int index)
{
    const struct odb_node *node = &r->model->graph->nodes[index];
    const struct odb_sensitive *about = &r->nodes[index];
    const struct odb_sensitivity_error *e = &about->contribution;
    bool shares = e->how == ODB_SENSITIVITY_FINITE && isfinite(e->error) && r->squares > 0;
    json_t *json = odb_json_node(index, node->name, node->op_type, node->domain);
    json_object_set_new(json, "known", json_string(odb_sensitivity_known_word(about->known)));
    json_object_set_new(json, "local", sensitivity_error_json(r, about->local));
    json_object_set_new(json, "contribution", sensitivity_error_json(r, *e));
    sensitivity_set(json, "share", shares ? e->error * e->error / r->squares : NAN);
    sensitivity_set(json, "estimate", about->estimate);
    json_object_set_new(json, "reruns", json_integer((json_int_t)about->reruns));
    if (!r->target)
        return json;
    sensitivity_set(json, "expected", about->expected);
    sensitivity_set(json, "foretold", about->foretold);
    sensitivity_set(json, "shown", about->shown);
    sensitivity_set(json, "carried", about->carried);
    json_object_set_new(json, "stands_out", json_boolean(about->stands_out));
    return json;
}

/* Ranked ones in their order, then the others. */
static json_t *sensitivity_nodes_json(const struct odb_sensitivity_result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_ranked; i++)
        json_array_append_new(list, sensitivity_node_json(r, r->order[i]));
    for (size_t n = 0; n < r->model->graph->n_nodes; n++)
        if (r->nodes[n].known == ODB_SENSITIVITY_LEFT || r->nodes[n].known == ODB_SENSITIVITY_UNRUN)
            json_array_append_new(list, sensitivity_node_json(r, (int)n));
    return list;
}

static json_t *sensitivity_match_json(const struct odb_sensitivity_match *m)
{
    return json_pack("{s:I,s:o,s:I,s:I}", "nodes", (json_int_t)m->n, "rank_correlation",
                     sensitivity_number(m->rank), "worst", (json_int_t)m->worst, "foretold",
                     (json_int_t)m->found);
}

static json_t *sensitivity_target_json(const struct odb_sensitivity_result *r)
{
    if (!r->target)
        return json_null();
    json_t *json = json_pack("{s:o,s:o,s:o,s:o}", "spec", odb_json_text(r->target), "description",
                             odb_json_text(r->description), "failure", odb_json_text(r->target_why),
                             "outputs", sensitivity_error_json(r, r->target_error));
    json_object_set_new(json, "local_match", sensitivity_match_json(&r->local));
    json_object_set_new(json, "output_match", sensitivity_match_json(&r->outputs));
    json_object_set_new(json, "complete", json_boolean(!r->target_late && !r->stopped));
    json_object_set_new(json, "stand_out", json_integer((json_int_t)r->n_stand_out));
    return json;
}

void odb_sensitivity_json(const struct odb_sensitivity_result *r, const char *chosen, json_t *task,
                          struct odb_buf *out)
{
    struct odb_error err = ODB_ERROR_INIT;
    char sha256[65];
    bool hashed = odb_model_sha256(r->model, sha256, &err) == ODB_OK;
    json_t *model = json_pack("{s:o,s:o,s:I}", "path", odb_json_text(r->model->path), "sha256",
                              hashed ? json_string(sha256) : json_null(), "nodes",
                              (json_int_t)r->model->graph->n_nodes);
    json_t *json = json_pack("{s:o,s:s,s:o,s:o}", "model", model, "to", odb_dtype_info(r->to)->name,
                             "all_nodes", sensitivity_error_json(r, r->whole), "all_nodes_failure",
                             odb_json_text(r->whole_why));
    sensitivity_set(json, "together", r->n_ranked ? sqrt(r->squares) : NAN);
    json_object_set_new(json, "computes", json_integer((json_int_t)r->n_computes));
    json_object_set_new(json, "measured", json_integer((json_int_t)r->n_measured));
    json_object_set_new(json, "estimated", json_integer((json_int_t)r->n_estimated));
    json_object_set_new(json, "not_measured", json_integer((json_int_t)r->n_left));
    json_object_set_new(json, "cannot_run", json_integer((json_int_t)r->n_unrun));
    json_object_set_new(json, "without_effect", json_integer((json_int_t)r->n_exact));
    json_object_set_new(json, "harmless", json_integer((json_int_t)r->n_harmless));
    json_object_set_new(json, "harmless_estimated",
                        json_integer((json_int_t)r->n_harmless_estimated));
    json_object_set_new(json, "outputs_not_judged", json_integer((json_int_t)r->n_without));
    json_object_set_new(json, "nodes", sensitivity_nodes_json(r));
    json_object_set_new(json, "estimates_checked", json_integer((json_int_t)r->n_checked));
    sensitivity_set(json, "estimates_half_within", r->off_half);
    sensitivity_set(json, "estimates_most_within", r->off_most);
    json_object_set_new(json, "target", sensitivity_target_json(r));
    json_object_set_new(json, "task", task ? task : json_null());
    json_object_set_new(json, "stopped", json_boolean(r->stopped));
    json_object_set_new(json, "complete", json_boolean(!r->stopped && !r->late));
    json_object_set_new(json, "reruns", json_integer((json_int_t)r->n_reruns));
    json_object_set_new(json, "seconds", json_real(r->seconds));
    json_object_set_new(json, "chosen", odb_json_text(chosen));
    odb_json_put(json, out);
}
