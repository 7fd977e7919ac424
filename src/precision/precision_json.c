/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "report/json.h"
#include "precision/precision.h"
#include "model/read/load.h"

static json_t *precision_node_json(const struct odb_precision_result *r, int index)
{
    const struct odb_node *node = &r->model->graph->nodes[index];
    const struct odb_precision_node *about = &r->nodes[index];
    json_t *json = odb_json_node(index, node->name, node->op_type, node->domain);
    json_object_set_new(json, "local_error",
                        about->measured ? odb_json_real(about->error) : json_null());
    json_object_set_new(json, "why", odb_json_text(about->why));
    return json;
}

static json_t *precision_nodes_json(const struct odb_precision_result *r,
                                    enum odb_precision_fate fate)
{
    json_t *list = json_array();
    for (size_t n = 0; n < r->model->graph->n_nodes; n++)
        if (r->nodes[n].fate == fate)
            json_array_append_new(list, precision_node_json(r, (int)n));
    return list;
}

/* null for a model that was not tried. */
static json_t *precision_probe_json(const struct odb_precision_result *r,
                                    const struct odb_precision_probe *probe)
{
    if (!probe->seconds)
        return json_null();
    const char *name =
        probe->value == ODB_NO_VALUE ? NULL : r->model->graph->values[probe->value].name;
    return json_pack("{s:I,s:b,s:o,s:o,s:o,s:o,s:f}", "kept", (json_int_t)probe->kept, "passes",
                     probe->passes, "error",
                     probe->ran && name ? odb_json_real(probe->error) : json_null(), "output",
                     probe->ran ? odb_json_text(name) : json_null(), "target",
                     odb_json_text(r->targets[probe->target]), "reason",
                     odb_json_text(probe->reason), "seconds", probe->seconds);
}

void odb_precision_json(const struct odb_precision_result *r, struct odb_buf *out)
{
    struct odb_error err = ODB_ERROR_INIT;
    char sha256[65];
    bool hashed = odb_model_sha256(r->model, sha256, &err) == ODB_OK;
    json_t *probes = json_array(), *notes = odb_json_texts(r->notes.items, r->notes.n);
    json_t *targets = odb_json_texts(r->targets, r->n_targets);
    for (size_t i = 0; i < r->probes.n; i++)
        json_array_append_new(probes, precision_probe_json(r, &r->probes.items[i]));
    json_t *model =
        json_pack("{s:o,s:o,s:I,s:I}", "path", odb_json_text(r->model->path), "sha256",
                  hashed ? json_string(sha256) : json_null(), "nodes",
                  (json_int_t)r->model->graph->n_nodes, "bytes", (json_int_t)r->bytes_before);
    json_t *mixed =
        json_pack("{s:o,s:I,s:I}", "path", odb_json_text(r->written ? r->path : NULL), "bytes",
                  (json_int_t)r->bytes_after, "added_nodes", (json_int_t)r->casts);
    json_t *json =
        json_pack("{s:o,s:s,s:o,s:o,s:o}", "model", model, "to", odb_dtype_info(r->to)->name,
                  "targets", targets, "tolerance", odb_json_text(r->tolerance), "mixed", mixed);
    json_object_set_new(json, "nodes", json_integer((json_int_t)r->n_nodes));
    json_object_set_new(json, "must_stay", json_integer((json_int_t)(r->n_kept + r->n_beyond)));
    json_object_set_new(json, "kept", precision_nodes_json(r, ODB_FATE_KEPT));
    json_object_set_new(json, "beyond", precision_nodes_json(r, ODB_FATE_BEYOND));
    json_object_set_new(json, "cannot", precision_nodes_json(r, ODB_FATE_FIXED));
    json_object_set_new(json, "without_golden", json_integer((json_int_t)r->n_no_golden));
    json_object_set_new(json, "minimal", json_boolean(r->minimal));
    json_object_set_new(json, "proved", json_boolean(r->written));
    json_object_set_new(json, "all_kept", precision_probe_json(r, &r->all));
    json_object_set_new(json, "none_kept", precision_probe_json(r, &r->none));
    json_object_set_new(json, "proof", precision_probe_json(r, &r->proof));
    json_object_set_new(json, "probes", probes);
    json_object_set_new(json, "notes", notes);
    json_object_set_new(json, "seconds", json_real(r->seconds));
    odb_json_put(json, out);
}
