/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The same as JSON.
 */
#include "twomodels/against_int.h"

#include "report/json.h"
#include "report/report.h"

static json_t *against_json_nodes(const struct odb_graph *g, const bool *marks)
{
    json_t *list = json_array();
    for (size_t i = 0; i < g->n_nodes; i++)
        if (marks[i])
            json_array_append_new(list, odb_json_node((int)i, g->nodes[i].name, g->nodes[i].op_type,
                                                      g->nodes[i].domain));
    return list;
}

json_t *against_json_region(const struct against *x, const struct odb_culprit *c,
                            const struct against_region *r)
{
    static const char *const alone[] = {
        [ODB_CONFIRMS] = "wrong", [ODB_CONTRADICTS] = "right", [ODB_NOT_TESTABLE] = NULL};
    static const char *const outputs[] = {
        [ODB_CONFIRMS] = "right", [ODB_CONTRADICTS] = "wrong", [ODB_NOT_TESTABLE] = NULL};
    return json_pack(
        "{so,so,so,so,so,so,so,so,so}", "value", odb_json_text(x->a->values[c->value].name),
        "other_value", odb_json_text(x->b->values[r->value].name), "nodes",
        against_json_nodes(x->a, r->here), "other_nodes", against_json_nodes(x->b, r->there),
        "from", odb_json_values(x->a, r->in_here, r->n_in_here), "other_from",
        odb_json_values(x->b, r->in_there, r->n_in_there), "on_original_values",
        odb_json_text(alone[r->alone]), "outputs_without_it", odb_json_text(outputs[r->pinned]),
        "differs", odb_json_text(odb_buf_text(&r->words)));
}

json_t *against_json_pairs(const struct against *x)
{
    json_t *pairs = json_array();
    for (size_t u = 0; u < x->a->n_values; u++) {
        int w = x->alignment.other[u];
        if (x->a->values[u].producer == ODB_NO_NODE || !x->a->values[u].name[0] ||
            x->a->values[u].init)
            continue;
        json_t *pair = json_pack("{so}", "value", odb_json_text(x->a->values[u].name));
        json_object_set_new(pair, "other",
                            w < 0 ? json_null() : odb_json_text(x->b->values[w].name));
        if (w >= 0) {
            json_object_set_new(pair, "by", odb_json_text(odb_paired_name(x->alignment.how[u])));
            json_object_set_new(pair, "confidence", odb_json_real(x->alignment.confidence[u]));
        }
        json_array_append_new(pairs, pair);
    }
    return pairs;
}

json_t *against_json_weights(const struct against *x)
{
    json_t *weights = json_array();
    for (size_t i = 0; i < x->n_weights; i++) {
        const struct odb_weight_pair *w = &x->weights[i];
        json_array_append_new(
            weights,
            json_pack("{so,so,so,so,so,so,si}", "name",
                      odb_json_text(x->a->values[w->original].name), "other",
                      w->other < 0 ? json_null() : odb_json_text(x->b->values[w->other].name),
                      "fate", odb_json_text(odb_fate_name(w->fate)), "step", odb_json_real(w->step),
                      "error", odb_json_real(w->error), "relative", odb_json_real(w->relative),
                      "unexplained", (int)w->n_off));
    }
    return weights;
}
