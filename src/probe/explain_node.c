/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/explain_node.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "explain/measure/other_order.h"
#include "model/formal.h"
#include "run/memory_budget.h"

struct explaining {
    const struct odb_explain_asking *a;
    const struct odb_graph *graph;
    const struct odb_node *node;
    int *read; /* owned; [n_read] */
    size_t n_read;
};

/* --- what is read ----------------------------------------------------------------------------- */

static void explaining_read(struct explaining *e, bool *marks, int value)
{
    const struct odb_value *v = value < 0 ? NULL : &e->graph->values[value];
    if (!v || marks[value] || v->producer == ODB_NO_NODE || !v->name[0])
        return;
    marks[value] = true;
    e->read[e->n_read++] = value;
}

/* What was read when it failed, the node's own values, and every output: so the model is whole. */
static void explaining_list(struct explaining *e)
{
    bool *marks = odb_new_n(bool, e->graph->n_values);
    e->read = odb_new_n(int, e->graph->n_values);
    for (size_t i = 0; i < e->a->n_read; i++)
        explaining_read(e, marks, e->a->read[i]);
    for (int i = 0; i < e->node->n_in; i++)
        explaining_read(e, marks, e->node->in[i]);
    for (int o = 0; o < e->node->n_out; o++)
        explaining_read(e, marks, e->node->out[o]);
    for (size_t o = 0; o < e->graph->n_outputs; o++)
        explaining_read(e, marks, e->graph->outputs[o]);
    free(marks);
}

/* Whether the target gives all that is read, in one model; else nothing is asked. */
static bool explaining_may(const struct explaining *e)
{
    bool may = e->n_read <= odb_probe_max_outputs(e->a->prober);
    for (size_t i = 0; i < e->n_read; i++)
        may = may && odb_probe_taps(e->a->prober, e->read[i]);
    return may;
}

/* Bytes of what a node reads and makes, as the reference has it. */
static uint64_t explaining_bytes(const struct odb_prober *prober, int node)
{
    const struct odb_node *n = &prober->model->graph->nodes[node];
    uint64_t bytes = 0;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0)
            bytes += odb_tensor_size(odb_trace_value(prober->trace, n->in[i]));
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0)
            bytes += odb_tensor_size(odb_trace_value(prober->trace, n->out[o]));
    return bytes;
}

bool odb_explain_fits(const struct odb_prober *prober, uint64_t bytes, char **why_not)
{
    const struct odb_memory_budget memory = odb_memory_budget(prober->hooks.budget);
    struct odb_buf text = ODB_BUF_INIT;
    if (bytes < memory.replayed)
        return true;
    odb_buf_puts(&text, "its operands and results take ");
    odb_buf_put_bytes(&text, bytes);
    odb_buf_puts(&text, ", and ");
    odb_buf_put_bytes(&text, memory.replayed);
    odb_buf_puts(&text, memory.capped ? " is the most by --mem" : " is the most by free memory");
    *why_not = odb_buf_take(&text);
    return false;
}

/* --- other inputs ----------------------------------------------------------------------------- */

/* NULL: all inputs would stay as they are. */
static struct odb_feeds *explaining_feeds(const struct odb_prober *prober, size_t k)
{
    struct odb_feeds *feeds = odb_feeds_new(prober->model);
    bool other = false;
    for (size_t f = 0; f < prober->feeds->n; f++) {
        const struct odb_feed *feed = &prober->feeds->items[f];
        struct odb_tensor *t = odb_explain_other_order(feed->tensor, 1000 * k + f + 1);
        other |= t != feed->tensor;
        odb_feeds_add(feeds, feed->value, t, "the same numbers in another order");
        odb_tensor_unref(t);
    }
    if (other)
        return feeds;
    odb_feeds_free(feeds);
    return NULL;
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Runs the model on feeds, the k-th others, or its own (0); values: [n_values], owned refs of what
 * was read and of the feeds. */
static enum odb_status explaining_run(struct explaining *e, const struct odb_feeds *feeds, size_t k,
                                      struct odb_tensor **values, struct odb_error *err)
{
    char what[80];
    odb_text_fit(what, sizeof what, "the explained node in place");
    if (k)
        odb_text_fit(what, sizeof what, "the explained node in place, other inputs %zu", k);
    struct odb_prober prober = odb_prober_refed(e->a->prober, feeds);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, e->n_read);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_EXPLAIN,
                              .what = what,
                              .node = e->a->node,
                              .values = e->read,
                              .n_values = e->n_read,
                              .outputs = outputs};
    enum odb_status status = odb_probe_run(&prober, &probe, err);
    for (size_t i = 0; i < e->n_read && status == ODB_OK; i++)
        values[e->read[i]] = odb_tensor_ref(outputs[i]);
    for (size_t f = 0; f < feeds->n && status == ODB_OK; f++)
        values[feeds->items[f].value] = odb_tensor_ref(feeds->items[f].tensor);
    odb_probe_drop(&prober, &probe);
    free(outputs);
    return status;
}

/* Whether a value is an input of the model that was made here, and that a recording is not of. */
static bool explaining_made_up(const struct explaining *e, int v)
{
    const struct odb_feeds *feeds = e->a->prober->feeds;
    bool made_up = false;
    for (size_t f = 0; f < feeds->n && e->a->prober->recorded; f++)
        made_up = made_up || (feeds->items[f].value == v && feeds->items[f].generated);
    return made_up;
}

/* Value v of the node in values, or its weight; NULL: it is not there. */
static const struct odb_tensor *explaining_value(const struct explaining *e,
                                                 struct odb_tensor *const *values, int v)
{
    if (v < 0 || explaining_made_up(e, v))
        return NULL;
    return values[v] ? values[v] : e->graph->values[v].init;
}

/* The node's operands and results among values; false: one of them is not there. */
static bool explaining_pair(const struct explaining *e, struct odb_tensor *const *values,
                            struct odb_explain_pair *out)
{
    bool all = true, any = false;
    out->in = odb_new_n(struct odb_tensor *, e->node->n_in);
    out->out = odb_new_n(struct odb_tensor *, e->node->n_out);
    for (int i = 0; i < e->node->n_in; i++) {
        out->in[i] = odb_tensor_ref(explaining_value(e, values, e->node->in[i]));
        all = all && (e->node->in[i] < 0 || out->in[i]);
    }
    for (int o = 0; o < e->node->n_out; o++) {
        out->out[o] = e->node->out[o] < 0 ? NULL : odb_tensor_ref(values[e->node->out[o]]);
        any = any || out->out[o];
    }
    return all && any;
}

/* "X (input X)": a value that is wanted. */
static void explaining_put(const struct explaining *e, int value, bool input, int slot,
                           struct odb_buf *out)
{
    char formal[ODB_FORMAL_NAME], key[512];
    odb_formal_name(e->node, input, slot, formal);
    odb_buf_puts(out, out->len ? ", " : "");
    odb_buf_puts(out, odb_value_key(e->graph, &e->graph->values[value], key, sizeof key));
    if (formal[0])
        odb_buf_printf(out, " (%s %s)", input ? "input" : "output", formal);
}

/* Why there is no pair, with what is missing, and of a recording the way out. */
static char *explaining_lacks(const struct explaining *e, const struct odb_explain_pair *pair)
{
    struct odb_buf list = ODB_BUF_INIT;
    bool any = false;
    for (int i = 0; i < e->node->n_in; i++)
        if (e->node->in[i] >= 0 && !pair->in[i])
            explaining_put(e, e->node->in[i], true, i, &list);
    for (int o = 0; o < e->node->n_out; o++)
        any = any || pair->out[o];
    for (int o = 0; o < e->node->n_out && !any; o++)
        if (e->node->out[o] >= 0)
            explaining_put(e, e->node->out[o], false, o, &list);
    char *why = odb_xasprintf(e->a->prober->recorded
                                  ? "the recording lacks %s: record that too"
                                  : "what the target fed it, or made of it, cannot be read: %s",
                              odb_buf_text(&list));
    odb_buf_dispose(&list);
    return why;
}

static void explaining_drop(const struct explaining *e, struct odb_tensor **values)
{
    for (size_t v = 0; v < e->graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
}

static bool explaining_again(void *payload, size_t k, struct odb_explain_pair *out)
{
    struct explaining *e = payload;
    struct odb_feeds *feeds = explaining_feeds(e->a->prober, k + 1);
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, e->graph->n_values);
    bool had = feeds && explaining_run(e, feeds, k + 1, values, NULL) == ODB_OK &&
               explaining_pair(e, values, out);
    out->given = values;
    out->n_given = e->graph->n_values;
    if (!had)
        odb_explain_pair_dispose(out, e->node);
    odb_feeds_free(feeds);
    return had;
}

static bool explaining_alone(void *payload, struct odb_tensor *const *in,
                             struct odb_explain_pair *out)
{
    struct explaining *e = payload;
    size_t n = 0, n_values = e->graph->n_values;
    int *list = odb_new_n(int, e->node->n_out);
    bool *nodes = odb_new_n(bool, e->graph->n_nodes + 1);
    struct odb_tensor **given = odb_new_n(struct odb_tensor *, n_values); /* borrowed */
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, e->node->n_out);
    nodes[e->a->node] = true;
    for (int i = 0; i < e->node->n_in; i++)
        if (e->node->in[i] >= 0)
            given[e->node->in[i]] = in[i];
    for (int o = 0; o < e->node->n_out; o++)
        if (e->node->out[o] >= 0)
            list[n++] = e->node->out[o];
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_EXPLAIN,
                              .what =
                                  "the explained node alone, on inputs that tell variants apart",
                              .node = e->a->node,
                              .nodes = nodes,
                              .given = given,
                              .values = list,
                              .n_values = n,
                              .outputs = outputs};
    bool had = odb_probe_run(e->a->prober, &probe, NULL) == ODB_OK;
    out->in = odb_new_n(struct odb_tensor *, e->node->n_in);
    out->out = odb_new_n(struct odb_tensor *, e->node->n_out);
    for (int i = 0; i < e->node->n_in; i++)
        out->in[i] = in[i] ? odb_tensor_ref(in[i]) : NULL;
    for (int o = 0, k = 0; o < e->node->n_out && had; o++)
        if (e->node->out[o] >= 0)
            out->out[o] = outputs[k] ? odb_tensor_ref(outputs[k]) : NULL, k++;
    odb_probe_drop(e->a->prober, &probe);
    if (!had)
        odb_explain_pair_dispose(out, e->node);
    free(outputs);
    free(given);
    free(nodes);
    free(list);
    return had;
}

enum odb_status odb_explain_node(struct odb_explanations *out, const struct odb_explain_asking *a,
                                 struct odb_error *err)
{
    struct explaining e = {a, a->prober->model->graph, &a->prober->model->graph->nodes[a->node],
                           NULL, 0};
    struct odb_tensor **asked = a->given ? NULL : odb_new_n(struct odb_tensor *, e.graph->n_values);
    struct odb_tensor *const *values = a->given ? a->given : asked;
    struct odb_explain_pair pair = {0};
    enum odb_status status = ODB_OK;
    *out = (struct odb_explanations){0};
    if (!odb_explain_fits(a->prober, explaining_bytes(a->prober, a->node), &out->why_not)) {
        free(asked);
        return ODB_OK;
    }
    explaining_list(&e);
    bool may = explaining_may(&e);
    if (asked && may)
        status = explaining_run(&e, a->prober->feeds, 0, asked, err);
    if (status == ODB_OK && !explaining_pair(&e, values, &pair)) {
        out->why_not = explaining_lacks(&e, &pair);
    } else if (status == ODB_OK) {
        struct odb_explain_question q = {.model = a->prober->model,
                                         .cpu = a->cpu,
                                         .node = a->node,
                                         .in = pair.in,
                                         .out = pair.out,
                                         .given = values,
                                         .own = a->own,
                                         .known = a->known,
                                         .trials = a->trials,
                                         .factor = a->factor,
                                         .seconds = a->seconds,
                                         .hooks = &a->prober->hooks,
                                         .again = a->once || !may ? NULL : explaining_again,
                                         .alone = a->alone && !a->once ? explaining_alone : NULL,
                                         .payload = &e};
        status = odb_explain(out, &q, err);
        if (status == ODB_OK && a->variant)
            status = odb_explain_beside(a->beside, &q, a->variant, err);
    }
    out->recorded = a->prober->recorded;
    odb_explain_pair_dispose(&pair, e.node);
    if (asked)
        explaining_drop(&e, asked);
    free(e.read);
    return status;
}
