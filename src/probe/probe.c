/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/probe.h"

#include "probe/probe_int.h"
#include "probe/ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "compare/by_value.h"
#include "executor/value_layout.h"
#include "judge/blame.h"
#include "kernels/core/facts.h"
#include "run/budget.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "reference/trace.h"
#include "run/value_report.h"
#include "model/read/load.h"
#include "model/write/external.h"
#include "model/write/write.h"

#define PROBE_DEAR 10                         /* seconds of a load */
#define PROBE_FEW_WEIGHTS ((size_t)128 << 20) /* bytes, of which a target may hold two copies */

enum odb_status odb_probe_pool(struct odb_pool **out, const char *spec,
                               const struct odb_search_hooks *hooks, struct odb_error *err)
{
    if (hooks)
        odb_hooks_phase(hooks, "start of the target", 0);
    return odb_pool_open(out, spec, hooks ? hooks->cancelled : NULL, hooks ? hooks->payload : NULL,
                         err);
}

void odb_prober_init(struct odb_prober *prober, const struct odb_model *model,
                     const struct odb_feeds *feeds, const struct odb_trace *trace,
                     struct odb_pool *pool, struct odb_search_hooks hooks)
{
    const struct odb_graph *graph = model->graph;
    *prober = (struct odb_prober){.model = model,
                                  .trace = trace,
                                  .feeds = feeds,
                                  .pool = pool,
                                  .hooks = hooks,
                                  .original_outputs = odb_new_n(const char *, graph->n_outputs),
                                  .can = odb_pool_capabilities(pool),
                                  .recorded = odb_pool_recorded(pool),
                                  .now = odb_new(struct odb_probing)};
    prober->now->max_outputs = SIZE_MAX;
    for (size_t o = 0; o < graph->n_outputs; o++)
        prober->original_outputs[o] = graph->values[graph->outputs[o]].name;
    prober->constant = trace ? odb_trace_constant(trace) : NULL;
    odb_pool_set_cancel(pool, hooks.cancelled, hooks.payload);
}

struct odb_prober odb_prober_pinned(const struct odb_prober *of, const bool *pinned)
{
    struct odb_prober prober = *of;
    prober.pinned = pinned;
    return prober;
}

struct odb_prober odb_prober_refed(const struct odb_prober *of, const struct odb_feeds *feeds)
{
    struct odb_prober prober = *of;
    prober.feeds = feeds;
    prober.refeed = odb_probe_refeeds(of);
    return prober;
}

static const struct odb_capabilities *probe_can(const struct odb_prober *prober)
{
    return prober->can;
}

void odb_prober_feed(struct odb_prober *prober, const struct odb_feeds *feeds,
                     const struct odb_trace *trace)
{
    prober->feeds = feeds;
    prober->trace = trace;
    free(prober->constant);
    prober->constant = trace ? odb_trace_constant(trace) : NULL;
    prober->refeed = odb_probe_refeeds(prober);
}

bool odb_probe_refeeds(const struct odb_prober *prober)
{
    return odb_capabilities_refeed(probe_can(prober));
}

bool odb_probe_taps(const struct odb_prober *prober, int value)
{
    const struct odb_value *v = &prober->model->graph->values[value];
    return prober->recorded || v->is_output || odb_capabilities_tap(probe_can(prober), v->name);
}

enum odb_cuts odb_probe_cuts_found(const struct odb_prober *prober)
{
    return prober->recorded || probe_can(prober)->cut ? ODB_CUTS_ANY : prober->now->parts.found;
}

void odb_probe_set_cuts_found(struct odb_prober *prober, enum odb_cuts found)
{
    prober->now->parts.found = found;
}

enum odb_cuts odb_probe_cuts(const struct odb_prober *prober)
{
    return prober->recorded
               ? ODB_CUTS_ANY
               : ODB_MAX(odb_probe_cuts_found(prober), odb_capabilities_cuts(probe_can(prober)));
}

size_t odb_probe_max_outputs(const struct odb_prober *prober)
{
    return prober->recorded
               ? SIZE_MAX
               : ODB_MIN(prober->now->max_outputs, odb_capabilities_max_outputs(probe_can(prober)));
}

void odb_probe_set_max_outputs(struct odb_prober *prober, size_t most)
{
    prober->now->max_outputs = most;
}

void odb_prober_dispose(struct odb_prober *prober)
{
    free(prober->original_outputs);
    free(prober->constant);
    if (prober->now) {
        odb_map_free(prober->now->asked);
        odb_map_free(prober->now->models);
        odb_parts_dispose(&prober->now->parts);
        free(prober->now->words);
        free(prober->now->times.list.items);
    }
    free(prober->now);
    prober->original_outputs = NULL;
    prober->constant = NULL;
    prober->now = NULL;
}

enum odb_verdict odb_probe_verdict(enum odb_status status)
{
    return status == ODB_OK          ? ODB_VERDICT_PASS
           : status == ODB_E_CRASH   ? ODB_VERDICT_CRASH
           : status == ODB_E_TIMEOUT ? ODB_VERDICT_TIMEOUT
           : status == ODB_CANCELLED ? ODB_VERDICT_UNTESTED
                                     : ODB_VERDICT_UNTESTABLE;
}

static size_t probe_put_node(const struct odb_graph *graph, int node, char *buf, size_t size)
{
    const struct odb_node *n = &graph->nodes[node];
    return odb_text_fit(buf, size, "#%d %s%s%s", node, n->op_type, n->name[0] ? " " : "", n->name);
}

const char *odb_probe_title(const struct odb_graph *graph, const char *what, int first, int last,
                            char *buf, size_t size)
{
    size_t n = odb_text_fit(buf, size, "%s ", what);
    n += probe_put_node(graph, first, buf + n, size - n);
    if (last != first) {
        n += odb_text_fit(buf + n, size - n, " to ");
        probe_put_node(graph, last, buf + n, size - n);
    }
    return buf;
}

bool odb_probe_reads(const struct odb_graph *graph, const struct odb_trace *trace, int value)
{
    const struct odb_value *v = &graph->values[value];
    return v->producer != ODB_NO_NODE && v->name[0] && !odb_trace_drawn(trace, value);
}

bool odb_probe_wants(const struct odb_graph *graph, const struct odb_trace *trace, int value)
{
    const struct odb_value *v = &graph->values[value];
    return odb_probe_reads(graph, trace, value) && (v->is_output || v->n_consumers > 0);
}

/* Whether it gives all that the reference has. */
static bool probe_taps_all(const struct odb_prober *prober)
{
    const struct odb_graph *graph = prober->model->graph;
    for (size_t v = 0; v < graph->n_values; v++)
        if (prober->trace->ref[v] && odb_probe_wants(graph, prober->trace, (int)v) &&
            !odb_probe_taps(prober, (int)v))
            return false;
    return true;
}

size_t odb_probe_list(const struct odb_prober *prober, int *list)
{
    const struct odb_graph *graph = prober->model->graph;
    size_t n = 0;
    for (size_t v = 0; v < graph->n_values; v++)
        if (odb_probe_wants(graph, prober->trace, (int)v) &&
            (prober->trace->ref[v] || graph->values[v].is_output) && odb_probe_taps(prober, (int)v))
            list[n++] = (int)v;
    return n;
}

bool odb_probe_account_is_dear(const char *spec, double load)
{
    return load >= PROBE_DEAR && odb_executor_account_loads(spec);
}

void odb_probe_shows(enum odb_verdict *shown, enum odb_verdict verdict)
{
    if (!odb_verdict_is_bad(*shown) && odb_verdict_is_bad(verdict))
        *shown = verdict;
}

/* --- building the cut ------------------------------------------------------------------------- */

/* A probe under way: what extraction, load and run have in common. A thread of the pool may have it
 * to itself while others go on. */
struct odb_probe_cut {
    struct odb_prober prober;  /* a copy: one with pins may be gone before the answer is there */
    bool *nodes;               /* owned; [n_nodes] */
    struct odb_port *in, *out; /* owned; likewise like of each */
    size_t n_in, n_out;
    struct odb_named *feeds; /* owned; [n_feeds]: n_in but weights; a recording is fed nothing; of
                                the whole model all that it takes */
    struct odb_instead instead; /* why it is not the user's model as it is */
    bool whole;                 /* it is, so that its own bytes are loaded */
    bool fixed;                 /* the target takes fixed dimensions */
    const char **names;         /* owned; [n_names]: n_out, a recording is asked for anything */
    size_t n_feeds, n_names;
    size_t *which; /* owned; [n_values of the probe] output + 1; 0: a feed */

    char what[65];               /* tells this cut, with what it is fed, from all others */
    char key[ODB_ANSWERS_KEY];   /* of the question; "": answers are not kept */
    bool known;                  /* it was answered before */
    struct odb_pool_task *task;  /* NULL: not asked ahead */
    bool load;                   /* false: what is loaded is run again */
    bool beside;                 /* as the probe's */
    bool account;                /* what the target makes of the model is asked next */
    struct odb_tensor **outputs; /* owned refs; [n_names] */
    enum odb_status status;
    struct odb_error err;
    size_t loads, runs;
    double seconds;
    struct odb_times times;  /* owned: of the run */
    char *words;             /* owned: the last of a child that died of it; NULL */
    struct odb_spill *aside; /* ref: takes what comes; NULL: it stays in memory */
};

static void probe_cut_dispose(struct odb_probe_cut *cut)
{
    for (size_t i = 0; i < cut->n_in; i++)
        odb_tensor_unref((struct odb_tensor *)cut->in[i].like);
    for (size_t o = 0; o < cut->n_out; o++)
        odb_tensor_unref((struct odb_tensor *)cut->out[o].like);
    for (size_t o = 0; cut->outputs && o < cut->n_names; o++)
        odb_tensor_unref(cut->outputs[o]);
    free(cut->nodes);
    free(cut->in);
    free(cut->out);
    free(cut->feeds);
    free(cut->names);
    free(cut->which);
    free(cut->outputs);
    free(cut->words);
    free(cut->times.list.items);
    odb_spill_unref(cut->aside);
}

static const struct odb_tensor *probe_fed(const struct odb_feeds *feeds, int value)
{
    for (size_t f = 0; f < feeds->n; f++)
        if (feeds->items[f].value == value)
            return feeds->items[f].tensor;
    return NULL;
}

static const struct odb_tensor *probe_known(const struct odb_prober *prober,
                                            const struct odb_probe *probe, int value)
{
    if (probe->given && probe->given[value])
        return probe->given[value];
    const struct odb_tensor *fed = probe_fed(prober->feeds, value);
    if (fed)
        return fed;
    return prober->trace ? odb_trace_value(prober->trace, value)
                         : prober->model->graph->values[value].init;
}

/* Marks the values of the cut whose shape depends on data, [n_values], the caller's. Where
 * dimensions are fixed, what the cut is fed has those of this run, and only what its own nodes size
 * by data is open. */
static bool *probe_cut_open(const struct odb_prober *prober, const struct odb_probe_cut *cut)
{
    const struct odb_graph *graph = prober->model->graph;
    bool *open = odb_new_n(bool, graph->n_values);
    for (size_t n = 0; n < graph->n_nodes && prober->trace; n++) {
        const struct odb_node *node = &graph->nodes[n];
        if (!cut->nodes[n])
            continue;
        bool sized = cut->fixed && odb_facts_of(NULL, node->op_type)->traits & ODB_IS_SIZED_BY_DATA;
        for (size_t i = 0; i < odb_node_n_reads(node) && cut->fixed; i++)
            sized = sized || (odb_node_reads(node, i) >= 0 && open[odb_node_reads(node, i)]);
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                open[node->out[o]] = cut->fixed ? sized : prober->trace->dynamic[node->out[o]];
    }
    return open;
}

static enum odb_status probe_cut_inputs(const struct odb_prober *prober,
                                        const struct odb_probe *probe, struct odb_probe_cut *cut,
                                        struct odb_error *err)
{
    const struct odb_graph *graph = prober->model->graph;
    int *list = odb_new_n(int, graph->n_values);
    cut->n_in = odb_feeds_border(prober->feeds, graph, cut->nodes, list);
    cut->in = odb_new_n(struct odb_port, cut->n_in);
    cut->feeds = odb_new_n(struct odb_named, cut->n_in);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < cut->n_in && status == ODB_OK; i++) {
        const struct odb_value *value = &graph->values[list[i]];
        const struct odb_tensor *t = probe_known(prober, probe, list[i]);
        if (!t)
            status =
                odb_fail(err, ODB_SKIPPED, "the cut needs %s, which was not computed", value->name);
        bool symbolic = !cut->fixed && prober->trace && prober->trace->dynamic[list[i]];
        bool constant = prober->constant && prober->constant[list[i]] && t && t->kind == ODB_TENSOR;
        cut->in[i] = (struct odb_port){.value = list[i],
                                       .like = t ? odb_tensor_ref(t) : NULL,
                                       .symbolic = symbolic,
                                       .constant = constant};
        if (!constant)
            cut->feeds[cut->n_feeds++] = (struct odb_named){value->name, t};
    }
    for (size_t i = 0; i < cut->n_in && !cut->n_feeds; i++) { /* else nothing would be computed */
        cut->in[i].constant = false;
        cut->feeds[i] = (struct odb_named){graph->values[list[i]].name, cut->in[i].like};
    }
    cut->n_feeds = cut->n_feeds ? cut->n_feeds : cut->n_in;
    free(list);
    return status;
}

/* The nodes of the cut. Those that draw at random are never among them: what the reference drew is
 * fed to every probe. */
static void probe_cut_nodes(const struct odb_prober *prober, const struct odb_probe *probe,
                            struct odb_probe_cut *cut)
{
    const struct odb_graph *graph = prober->model->graph;
    bool *drawn = odb_new_n(bool, graph->n_values);
    for (size_t v = 0; prober->trace && v < graph->n_values; v++)
        drawn[v] = odb_trace_drawn(prober->trace, (int)v) || (prober->pinned && prober->pinned[v]);
    cut->nodes = odb_new_n(bool, graph->n_nodes);
    if (probe->nodes)
        memcpy(cut->nodes, probe->nodes, graph->n_nodes * sizeof *cut->nodes);
    else
        odb_graph_ancestors(graph, probe->values, probe->n_values, drawn, cut->nodes);
    for (size_t v = 0; v < graph->n_values; v++)
        if (drawn[v])
            cut->nodes[graph->values[v].producer] = false;
    free(drawn);
}

/* A value that the model makes is fed, or an output is not computed: why. */
static void probe_explain(const struct odb_prober *prober, struct odb_instead *instead, int value)
{
    const bool *pins = prober->trace ? prober->trace->pinned : NULL;
    if ((prober->pinned && prober->pinned[value]) || (pins && pins[value])) {
        instead->why[ODB_INSTEAD_PINNED] = true;
    } else if (prober->trace && odb_trace_drawn(prober->trace, value)) {
        instead->why[ODB_INSTEAD_DRAWN] = true;
        if (!instead->n_drawn++)
            instead->drawn = prober->model->graph->values[value].producer;
    } else {
        instead->why[ODB_INSTEAD_PART] = true;
    }
}

/* Whether the cut begins with the model's inputs, and ends with its outputs, in their order. */
static void probe_look_at_border(const struct odb_prober *prober, struct odb_probe_cut *cut)
{
    const struct odb_graph *graph = prober->model->graph;
    bool *seen = odb_new_n(bool, graph->n_values);
    size_t n = 0;
    for (size_t i = 0; i < cut->n_in; i++)
        if (!graph->values[cut->in[i].value].is_input || cut->in[i].constant)
            probe_explain(prober, &cut->instead, cut->in[i].value);
    for (size_t o = 0; o < graph->n_outputs; o++) {
        int v = graph->outputs[o];
        if (graph->values[v].producer == ODB_NO_NODE || seen[v])
            continue;
        seen[v] = true;
        if (n < cut->n_out && cut->out[n].value == v)
            n++;
        else
            probe_explain(prober, &cut->instead, v);
    }
    cut->instead.why[ODB_INSTEAD_PART] |= n == 0 || n < cut->n_out;
    free(seen);
}

/* What no node reads, and the whole model takes all the same. False: one of them is not had. */
static bool probe_feed_unread(const struct odb_prober *prober, struct odb_probe_cut *cut)
{
    const struct odb_graph *graph = prober->model->graph;
    bool *had = odb_new_n(bool, graph->n_values), all = true;
    int *list = odb_new_n(int, graph->n_inputs);
    size_t n = odb_graph_feeds(graph, list), fed = cut->n_feeds;
    for (size_t i = 0; i < cut->n_in; i++)
        had[cut->in[i].value] = true;
    cut->feeds = odb_xrealloc(cut->feeds, cut->n_feeds + n + 1, sizeof *cut->feeds);
    for (size_t i = 0; i < n && all; i++) {
        if (had[list[i]])
            continue;
        const struct odb_tensor *t = probe_fed(prober->feeds, list[i]);
        all = t != NULL;
        cut->feeds[fed++] = (struct odb_named){graph->values[list[i]].name, t};
    }
    cut->n_feeds = all ? fed : cut->n_feeds;
    free(list);
    free(had);
    return all;
}

/* Whether the file's own names of external data lead to it from where the child is: behind a link
 * to the model they need not. */
static bool probe_finds_data(const struct odb_model *model)
{
    size_t n = 0;
    if (strcmp(model->base, model->dir) != 0)
        free(odb_model_external_files(model, &n));
    return n == 0;
}

/* The target gets the user's own file where the cut is all of it, and nothing has to be changed. */
static void probe_cut_whole(const struct odb_prober *prober, struct odb_probe_cut *cut)
{
    bool *why = cut->instead.why;
    why[ODB_INSTEAD_NO_FILE] = !prober->model->path[0];
    why[ODB_INSTEAD_LINKS] = !probe_finds_data(prober->model);
    why[ODB_INSTEAD_STATIC] = cut->fixed;
    for (size_t i = 0; i < cut->n_in; i++)
        why[ODB_INSTEAD_BEGUN] |= prober->model->graph->values[cut->in[i].value].init != NULL;
    probe_look_at_border(prober, cut);
    why[ODB_INSTEAD_CHECKPOINTS] = odb_model_has_debug(prober->model);
    if (!odb_instead_any(&cut->instead))
        why[ODB_INSTEAD_PART] = !probe_feed_unread(prober, cut);
    cut->whole = !odb_instead_any(&cut->instead);
}

/* Whether something in the cut reads the value, so that it is no end of it. */
static bool probe_is_inside(const struct odb_prober *prober, const struct odb_probe_cut *cut,
                            int value)
{
    const struct odb_graph *graph = prober->model->graph;
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (size_t i = 0; cut->nodes[n] && i < odb_node_n_reads(&graph->nodes[n]); i++)
            if (odb_node_reads(&graph->nodes[n], i) == value)
                return true;
    return false;
}

/* What has to be fed though a node of the model makes it; ODB_NO_VALUE: nothing. */
static int probe_fed_within(const struct odb_prober *prober, const struct odb_probe_cut *cut)
{
    for (size_t i = 0; i < cut->n_in; i++) {
        int value = cut->in[i].value;
        bool drawn = prober->trace && odb_trace_drawn(prober->trace, value);
        if (prober->model->graph->values[value].producer != ODB_NO_NODE && !drawn &&
            !cut->in[i].constant)
            return value;
    }
    return ODB_NO_VALUE;
}

/* Which targets take the cut: those that take any part, prefixes, or the whole model alone. */
static enum odb_cuts probe_takes(const struct odb_prober *prober, const struct odb_probe_cut *cut)
{
    const struct odb_graph *graph = prober->model->graph;
    if (probe_fed_within(prober, cut) != ODB_NO_VALUE)
        return ODB_CUTS_ANY;
    for (size_t o = 0; o < graph->n_outputs; o++) {
        int maker = graph->values[graph->outputs[o]].producer;
        if (maker != ODB_NO_NODE && !cut->nodes[maker])
            return ODB_CUTS_PREFIX;
    }
    return ODB_CUTS_NONE;
}

/* Whether the cut is one that the target takes. */
static enum odb_status probe_check_border(const struct odb_prober *prober,
                                          const struct odb_probe_cut *cut, struct odb_error *err)
{
    enum odb_cuts cuts = odb_probe_cuts(prober), takes = probe_takes(prober, cut);
    if (takes >= cuts)
        return ODB_OK;
    if (takes == ODB_CUTS_ANY)
        return odb_fail(err, ODB_UNSUPPORTED,
                        "%.100s would be fed, and the target takes no part of a model that begins "
                        "within it (cut=%s)",
                        prober->model->graph->values[probe_fed_within(prober, cut)].name,
                        odb_cuts_word(cuts));
    return odb_fail(err, ODB_UNSUPPORTED, "the target takes no part of a model (cut=no)");
}

/* What the target says that it cannot do is not asked. */
static enum odb_status probe_check_cut(const struct odb_prober *prober,
                                       const struct odb_probe_cut *cut, struct odb_error *err)
{
    size_t most = odb_capabilities_max_outputs(probe_can(prober));
    if (cut->n_out > most)
        return odb_fail(err, ODB_UNSUPPORTED,
                        "%zu values were to be read of one model, and the target gives %zu at most",
                        cut->n_out, most);
    for (size_t o = 0; o < cut->n_out; o++)
        if (!odb_probe_taps(prober, cut->out[o].value) &&
            probe_is_inside(prober, cut, cut->out[o].value))
            return odb_fail(err, ODB_UNSUPPORTED,
                            "%.100s was to be read, and is none of what the target gives (taps=%s)",
                            prober->model->graph->values[cut->out[o].value].name,
                            probe_can(prober)->taps);
    return probe_check_border(prober, cut, err);
}

static enum odb_status probe_cut_make(const struct odb_prober *prober,
                                      const struct odb_probe *probe, struct odb_probe_cut *cut,
                                      struct odb_error *err)
{
    const struct odb_graph *graph = prober->model->graph;
    cut->fixed = !prober->open && odb_executor_fixed(odb_pool_spec(prober->pool));
    probe_cut_nodes(prober, probe, cut);
    ODB_TRY(probe_cut_inputs(prober, probe, cut, err));
    cut->out = odb_new_n(struct odb_port, probe->n_values);
    cut->names = odb_new_n(const char *, probe->n_values);
    cut->which = odb_new_n(size_t, probe->n_values);
    size_t *at = odb_new_n(size_t, graph->n_values);
    bool *open = probe_cut_open(prober, cut);
    for (size_t i = 0; i < probe->n_values; i++) {
        int v = probe->values[i];
        const struct odb_value *value = &graph->values[v];
        if (value->producer == ODB_NO_NODE || !cut->nodes[value->producer])
            continue;
        cut->which[i] = at[v] = at[v] ? at[v] : cut->n_out + 1;
        if (at[v] <= cut->n_out) /* it is read twice */
            continue;
        const struct odb_tensor *like = prober->trace ? odb_trace_like(prober->trace, v) : NULL;
        cut->names[cut->n_out] = value->name;
        cut->out[cut->n_out++] = (struct odb_port){
            .value = v, .like = like ? odb_tensor_ref(like) : NULL, .symbolic = open[v]};
    }
    cut->n_names = cut->n_out;
    free(open);
    free(at);
    probe_cut_whole(prober, cut);
    return probe_check_cut(prober, cut, err);
}

/* A recording answers by name, whatever is cut out: feeds and initializers too. It is shown the
 * whole model, which tells it what names mean. */
static enum odb_status probe_cut_recall(const struct odb_prober *prober,
                                        const struct odb_probe *probe, struct odb_probe_cut *cut)
{
    const struct odb_graph *graph = prober->model->graph;
    const struct odb_probe nothing = {0};
    int *feeds = odb_new_n(int, graph->n_inputs);
    bool *seen = odb_new_n(bool, graph->n_values);
    cut->nodes = odb_new_n(bool, graph->n_nodes);
    cut->in = odb_new_n(struct odb_port, graph->n_inputs);
    cut->out = odb_new_n(struct odb_port, graph->n_outputs);
    cut->names = odb_new_n(const char *, probe->n_values);
    cut->which = odb_new_n(size_t, probe->n_values);
    memset(cut->nodes, true, graph->n_nodes * sizeof *cut->nodes);
    cut->n_in = odb_graph_feeds(graph, feeds);
    for (size_t i = 0; i < cut->n_in; i++) {
        const struct odb_tensor *t = probe_known(prober, &nothing, feeds[i]);
        cut->in[i] = (struct odb_port){.value = feeds[i], .like = t ? odb_tensor_ref(t) : NULL};
    }
    for (size_t o = 0; o < graph->n_outputs; o++) {
        int v = graph->outputs[o];
        if (graph->values[v].producer != ODB_NO_NODE && !seen[v])
            cut->out[cut->n_out++] = (struct odb_port){.value = v};
        seen[v] = true;
    }
    for (size_t i = 0; i < probe->n_values; i++) {
        const char *name = graph->values[probe->values[i]].name;
        if (!name[0])
            continue;
        cut->names[cut->n_names++] = name;
        cut->which[i] = cut->n_names;
    }
    free(seen);
    free(feeds);
    return ODB_OK;
}

/* --- answers that are known ------------------------------------------------------------------- */

/* The target, the nodes, what is read, and what goes in: the same question in any other run of the
 * program. */
static void probe_identify(struct odb_probe_cut *cut)
{
    const struct odb_prober *prober = &cut->prober;
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_printf(&text, "%s%s\nnodes", prober->scope ? prober->scope : "",
                   odb_pool_spec(prober->pool));
    for (size_t n = 0; n < prober->model->graph->n_nodes; n++)
        if (cut->nodes[n])
            odb_buf_printf(&text, " %zu", n);
    odb_buf_puts(&text, cut->whole ? "\nthe file, read" : cut->fixed ? "\nread" : "\nopen, read");
    for (size_t o = 0; o < cut->n_out; o++)
        odb_buf_printf(&text, " %d", cut->out[o].value);
    for (size_t i = 0; i < cut->n_in; i++) {
        odb_buf_printf(&text, "\n%s %d ", cut->in[i].constant ? "weight" : "fed", cut->in[i].value);
        odb_answers_put_tensor(&text, cut->in[i].like);
    }
    odb_answers_digest(&text, cut->what);
    odb_buf_dispose(&text);
}

/* What a compiler would be given: the same for any inputs of the same types and shapes, unless the
 * target compiles them in. shapes: those of all inputs count, though the model leaves them open. */
static void probe_name_model(const struct odb_probe_cut *cut, bool shapes, char name[65])
{
    struct odb_buf text = ODB_BUF_INIT;
    bool values = !odb_capabilities_refeed(probe_can(&cut->prober));
    for (size_t n = 0; n < cut->prober.model->graph->n_nodes; n++)
        odb_buf_putc(&text, cut->nodes[n] ? '1' : '0');
    odb_buf_puts(&text, cut->whole ? " file" : cut->fixed ? " fixed" : " open");
    for (size_t o = 0; o < cut->n_out; o++)
        odb_buf_printf(&text, " %d", cut->out[o].value);
    for (size_t i = 0; i < cut->n_in; i++) {
        const struct odb_tensor *like = cut->in[i].like;
        odb_buf_printf(&text, "; %d", cut->in[i].value);
        if (like && (cut->in[i].constant || values))
            odb_answers_put_tensor(&text, like);
        for (int d = 0; like && (cut->fixed || shapes) && d < like->rank; d++)
            odb_buf_printf(&text, " %lld", (long long)like->dims[d]);
    }
    odb_answers_digest(&text, name);
    odb_buf_dispose(&text);
}

size_t odb_probe_models(const struct odb_prober *prober)
{
    return prober->now->n_models;
}

/* Whether the cut is a model that the target was not given before. */
static bool probe_is_new(const struct odb_prober *prober, const struct odb_probe_cut *cut)
{
    char name[65];
    probe_name_model(cut, false, name);
    return !odb_map_has(prober->now->models, name);
}

static void probe_count_model(struct odb_prober *prober, const struct odb_probe_cut *cut)
{
    char name[65];
    if (!cut->loads)
        return;
    probe_name_model(cut, false, name);
    if (!prober->now->models)
        prober->now->models = odb_map_new();
    bool added = odb_map_add(prober->now->models, name, 1);
    prober->now->n_models += added;
    if (added && prober->hooks.budget)
        prober->hooks.budget->compiled++;
}

/* How often the question was put in this search, with by added; 0: once at least. */
static size_t probe_count(struct odb_prober *prober, const char *key, int by)
{
    size_t times = 0;
    if (!prober->now->asked)
        prober->now->asked = odb_map_new();
    odb_map_get(prober->now->asked, key, &times);
    times = by < 0 ? times - 1 : by ? times + 1 : ODB_MAX(times, (size_t)1);
    odb_map_set(prober->now->asked, key, times);
    return times;
}

/* Looks for the answer, and else makes it known that the question is going to be asked. */
static void probe_consult(struct odb_prober *prober, struct odb_probe *probe,
                          struct odb_probe_cut *cut)
{
    const struct odb_answers *answers = prober->answers;
    struct odb_answered known = {0};
    char question[72];
    if (!answers || prober->recorded || cut->status != ODB_OK || !cut->n_names)
        return;
    probe_identify(cut);
    memcpy(prober->now->asked_last, cut->what, sizeof prober->now->asked_last);
    snprintf(question, sizeof question, "%s%s", cut->what, cut->load ? "" : "~");
    size_t times = probe_count(prober, question, !probe->any);
    times = probe->any ? 1 : times;
    snprintf(cut->key, sizeof cut->key, "%s%s.%zu", prober->retries ? ODB_ANSWERS_RETRIED : "",
             question, times);
    cut->known = answers->find(answers->payload, cut->key, &known);
    if (cut->known && known.status == ODB_OK && known.n != cut->n_names)
        cut->known = false;
    if (!cut->known) {
        answers->begin(answers->payload, cut->key, probe->what, probe->node);
        cut->load |= !cut->beside && strcmp(prober->now->loaded, cut->what) != 0;
    } else if (known.status == ODB_OK) {
        cut->outputs = known.outputs;
        known.outputs = NULL;
    } else {
        cut->status = known.status;
        cut->err = known.err;
        cut->words = known.words;
        known.words = NULL;
    }
    odb_answered_dispose(&known);
}

/* The target has answered, or was kept from it. */
static void probe_remember(const struct odb_prober *prober, struct odb_probe_cut *cut)
{
    const struct odb_answers *answers = prober->answers;
    struct odb_answered known = {cut->status, cut->err, NULL, cut->n_names, cut->words};
    if (!cut->key[0] || cut->known)
        return;
    if (cut->status == ODB_OK)
        known.outputs = cut->outputs;
    if (odb_answers_count(cut->status))
        answers->keep(answers->payload, cut->key, &known);
    else
        answers->forget(answers->payload, cut->key);
}

/* It was begun, and its answer is not wanted any more. */
static void probe_unask(struct odb_prober *prober, const struct odb_probe *probe,
                        const struct odb_probe_cut *cut)
{
    char question[72];
    if (!cut->key[0])
        return;
    const char *key = cut->key + (prober->retries ? strlen(ODB_ANSWERS_RETRIED) : 0);
    snprintf(question, sizeof question, "%.*s", (int)strcspn(key, "."), key);
    if (!probe->any)
        probe_count(prober, question, -1);
    if (!cut->known)
        prober->answers->forget(prober->answers->payload, cut->key);
}

/* --- asking ----------------------------------------------------------------------------------- */

void odb_probe_tell(const struct odb_prober *prober, const struct odb_probe *probe,
                    enum odb_verdict verdict, size_t remaining)
{
    if (probe->silent || probe->aside)
        return;
    odb_hooks_tell(
        &prober->hooks,
        (struct odb_search_event){.what = ODB_EVENT_PROBE_END,
                                  .text = probe->what,
                                  .node = probe->node,
                                  .verdict = verdict,
                                  .remaining = remaining,
                                  .compared = &prober->now->compared,
                                  .times = &prober->now->times,
                                  .failure = prober->now->failure[0] ? prober->now->failure : NULL,
                                  .loads = probe->loads,
                                  .runs = probe->runs,
                                  .seconds = probe->seconds});
}

/* Where the nodes of what is loaded stand in the debugged model, in the order of its file. Returns
 * how many there are. */
static size_t probe_origins(const struct odb_probe_cut *cut, int *index)
{
    const struct odb_graph *graph = cut->prober.model->graph;
    int *origin = odb_new_n(int, graph->n_nodes);
    size_t n = 0;
    odb_model_origin(cut->prober.model, origin);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        if (cut->whole)
            index[graph->nodes[i].file_index] = origin[i];
        else if (cut->nodes[i])
            index[n++] = origin[i];
    }
    free(origin);
    return cut->whole ? graph->n_nodes : n;
}

static enum odb_status probe_extract(const struct odb_probe_cut *cut, struct odb_buf *bytes,
                                     struct odb_error *err)
{
    struct odb_extract what = {.nodes = cut->nodes,
                               .inputs = cut->in,
                               .n_inputs = cut->n_in,
                               .outputs = cut->out,
                               .n_outputs = cut->n_out,
                               .weights = ODB_WEIGHTS_REFERENCE,
                               .declared = !cut->fixed,
                               .plain_debug = !cut->prober.recorded};
    return odb_model_extract(cut->prober.model, &what, bytes, err);
}

static enum odb_status probe_load(const struct odb_probe_cut *cut, struct odb_target *target,
                                  struct odb_error *err)
{
    const struct odb_prober *prober = &cut->prober;
    const struct odb_model *model = prober->model;
    struct odb_buf bytes = ODB_BUF_INIT;
    char *path = cut->whole ? realpath(model->path, NULL) : NULL;
    enum odb_status status = cut->whole ? ODB_OK : probe_extract(cut, &bytes, err);
    if (status == ODB_OK) {
        int *index = odb_new_n(int, model->graph->n_nodes);
        struct odb_load load = {.bytes = bytes.data,
                                .size = bytes.len,
                                .dir = model->base,
                                .path = path,
                                .node_index = index,
                                .n_nodes = probe_origins(cut, index),
                                .original_outputs = prober->original_outputs,
                                .n_original_outputs = model->graph->n_outputs,
                                .account = cut->account,
                                .beside = cut->beside};
        if (cut->whole)
            load.bytes = odb_model_bytes(model, &load.size);
        status = odb_target_load(target, &load, err);
        free(index);
    }
    odb_buf_dispose(&bytes);
    free(path);
    return status;
}

/* How many processes the kernel has killed for want of memory since it started; -1: unknown. */
static long probe_oom_kills(void)
{
    FILE *f = fopen("/proc/vmstat", "r");
    char line[128];
    long n = -1;
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "oom_kill ", 9))
            n = strtol(line + 9, NULL, 10);
    if (f)
        fclose(f);
    return n;
}

/* Whether what is to be run again is loaded. */
static bool probe_turn(const struct odb_probe_cut *cut, struct odb_target *target)
{
    if (!cut->beside)
        return true;
    char *path = cut->whole ? realpath(cut->prober.model->path, NULL) : NULL;
    bool loaded = path && odb_target_turn_to(target, path);
    free(path);
    return loaded;
}

static enum odb_status probe_ask_once(struct odb_probe_cut *cut, struct odb_target *target)
{
    if (cut->load || !probe_turn(cut, target))
        ODB_TRY(probe_load(cut, target, &cut->err));
    odb_target_set_aside(target, cut->aside);
    enum odb_status status = odb_target_run(target, cut->feeds, cut->n_feeds, cut->names,
                                            cut->n_names, cut->outputs, &cut->err);
    odb_target_set_aside(target, NULL);
    (void)odb_target_turn_to(target, NULL);
    return status;
}

/* Loads and runs the cut, in whatever thread. A child that was killed from outside is no evidence
 * of anything: it is asked once more, unless the kernel did it for want of memory, and would
 * again. */
static void probe_ask(void *arg, struct odb_target *target)
{
    struct odb_probe_cut *cut = arg;
    double start = odb_clock();
    struct odb_target_stats before = odb_target_stats(target);
    long kills = probe_oom_kills();
    free(cut->outputs); /* of a worker that lost its link: it gave nothing */
    cut->outputs = odb_new_n(struct odb_tensor *, cut->n_names);
    cut->status = probe_ask_once(cut, target);
    if (cut->status == ODB_E_NOMEM && odb_target_killed(target) && probe_oom_kills() == kills) {
        cut->load = true;
        cut->status = probe_ask_once(cut, target);
    }
    for (size_t i = 0; i < odb_target_times(target)->list.n && cut->status == ODB_OK; i++)
        odb_push(&cut->times.list, odb_target_times(target)->list.items[i]);
    struct odb_target_stats after = odb_target_stats(target);
    cut->loads = after.loads - before.loads;
    cut->runs = after.runs - before.runs;
    cut->seconds = odb_clock() - start;
}

/* The same of the caller's own target: of another where the link to that is lost. */
static void probe_ask_here(struct odb_prober *prober, struct odb_probe_cut *cut)
{
    if (prober->trace) /* before more comes */
        odb_spill_drop(prober->trace->aside);
    probe_ask(cut, odb_pool_target(prober->pool));
    while (odb_pool_elsewhere(prober->pool)) {
        cut->load = true;
        probe_ask(cut, odb_pool_target(prober->pool));
    }
}

/* What the target holds otherwise than the model means becomes that, but for the model's outputs.
 * What cannot be told apart is as if it could not be read. */
static void probe_undo_layouts(const struct odb_prober *prober, struct odb_probe_cut *cut)
{
    const char *layouts = probe_can(prober)->layouts;
    for (size_t o = 0; o < cut->n_out && layouts && cut->status == ODB_OK && !cut->known; o++) {
        const struct odb_tensor *like = cut->out[o].like;
        struct odb_tensor *t = cut->outputs[o], *plain = NULL;
        if (!t || !like || t->read_as || t->kind != ODB_TENSOR ||
            prober->model->graph->values[cut->out[o].value].is_output)
            continue;
        const struct odb_layout_want want = {like->dtype, like->rank, like->dims};
        cut->outputs[o] = odb_layout_plain_of(&plain, layouts, t, &want) ? plain : NULL;
        odb_tensor_unref(t);
    }
}

/* What the target gave goes aside; where that cannot be, it stays in memory, for the target has
 * answered. */
static void probe_spill(const struct odb_prober *prober, struct odb_tensor *const *t, size_t n)
{
    for (size_t i = 0; i < n && prober->trace; i++)
        if (odb_spill_take(prober->trace->aside, t[i], NULL) != ODB_OK)
            break;
}

static void probe_spill_cut(const struct odb_prober *prober, const struct odb_probe_cut *cut)
{
    if (!cut->known && cut->status == ODB_OK)
        probe_spill(prober, cut->outputs, cut->n_names);
}

/* What the target gave for a value, in the type that the model gives it where the target is one
 * whose values are taken so; where there is no memory for that, as it is. Owned by the caller. */
static struct odb_tensor *probe_by_value(const struct odb_prober *prober, int value,
                                         const struct odb_tensor *t)
{
    const struct odb_tensor *like = prober->trace ? odb_trace_like(prober->trace, value) : NULL;
    enum odb_dtype dtype = like ? like->dtype : prober->model->graph->values[value].type.dtype;
    struct odb_tensor *out;
    if (!odb_capabilities_by_value(probe_can(prober)) || dtype == ODB_UNDEFINED ||
        odb_by_value(&out, t, dtype, NULL) != ODB_OK)
        return odb_tensor_ref(t);
    probe_spill(prober, &out, 1);
    return out;
}

/* Gives the probe what its cut came to: outputs, NULL where a recording lacks them, and feeds. */
static void probe_collect(const struct odb_prober *prober, struct odb_probe *probe,
                          const struct odb_probe_cut *cut)
{
    probe->loads = cut->loads;
    probe->runs = cut->runs;
    probe->seconds = cut->seconds;
    for (size_t i = 0; i < probe->n_values && cut->status == ODB_OK; i++) {
        const struct odb_tensor *t = cut->which[i] ? cut->outputs[cut->which[i] - 1]
                                     : prober->recorded
                                         ? NULL
                                         : probe_known(prober, probe, probe->values[i]);
        probe->outputs[i] = t ? probe_by_value(prober, probe->values[i], t) : NULL;
    }
}

/* False: there is no budget left for it. What an earlier search has the answer to costs nothing. */
static bool probe_charge(const struct odb_prober *prober, const struct odb_probe *probe,
                         const struct odb_probe_cut *cut)
{
    struct odb_budget *budget = prober->hooks.budget;
    if (!budget || cut->known || (!cut->task && cut->status != ODB_OK) || !cut->n_names)
        return true;
    if (odb_budget_spent(budget) && !budget->lifted)
        return false;
    if (budget->compiles && budget->compiled >= budget->compiles && !budget->lifted &&
        probe_is_new(prober, cut)) {
        budget->refused = true;
        return false;
    }
    budget->asked += !probe->aside;
    return true;
}

static struct odb_probe_cut *probe_cut_new(const struct odb_prober *prober,
                                           const struct odb_probe *probe, bool load)
{
    struct odb_probe_cut *cut = odb_new(struct odb_probe_cut);
    cut->prober = *prober;
    cut->aside = prober->trace ? odb_spill_ref(prober->trace->aside) : NULL;
    cut->load = load;
    cut->beside = probe->beside;
    cut->status = odb_hooks_cancelled(&prober->hooks, &cut->err);
    if (cut->status == ODB_OK)
        cut->status = prober->recorded ? probe_cut_recall(prober, probe, cut)
                                       : probe_cut_make(prober, probe, cut, &cut->err);
    return cut;
}

enum odb_status odb_probe_instead(const struct odb_prober *prober, const struct odb_probe *probe,
                                  struct odb_instead *out, struct odb_error *err)
{
    struct odb_probe_cut *cut = odb_new(struct odb_probe_cut);
    enum odb_status status = probe_cut_make(prober, probe, cut, err);
    *out = cut->instead;
    out->pieces = odb_probe_pieces(prober, probe->values, probe->n_values);
    out->why[ODB_INSTEAD_PIECES] = out->pieces > 1;
    probe_cut_dispose(cut);
    free(cut);
    return status;
}

static void probe_cut_free(void *arg)
{
    struct odb_probe_cut *cut = arg;
    probe_cut_dispose(cut);
    free(cut);
}

/* --- before the search ------------------------------------------------------------------------ */

bool odb_probe_keeps_file(const struct odb_prober *prober)
{
    const struct odb_budget *budget = prober->hooks.budget;
    return odb_pool_beside(prober->pool) && !(budget && budget->memory) && !prober->recorded &&
           odb_probe_max_outputs(prober) == SIZE_MAX && !probe_can(prober)->taps &&
           odb_probe_weights(prober->model->graph) <= PROBE_FEW_WEIGHTS;
}

struct odb_probe_cut *odb_probe__whole(const struct odb_prober *prober, bool load, bool beside)
{
    const struct odb_graph *graph = prober->model->graph;
    int *values = odb_new_n(int, graph->n_outputs + 1);
    struct odb_probe probe = {.what = "", .values = values, .beside = beside};
    struct odb_probe_cut *cut = NULL;
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (graph->values[graph->outputs[o]].producer != ODB_NO_NODE)
            values[probe.n_values++] = graph->outputs[o];
    if (!prober->recorded && !odb_probe_in_pieces(prober))
        cut = probe_cut_new(prober, &probe, load);
    if (cut && (cut->status != ODB_OK || !cut->whole || !cut->n_names)) {
        probe_cut_free(cut);
        cut = NULL;
    }
    if (cut)
        cut->account = load && odb_probe_weights(graph) <= PROBE_FEW_WEIGHTS;
    free(values);
    return cut;
}

enum odb_status odb_probe__ask(struct odb_probe_cut *cut, struct odb_target *target)
{
    probe_ask(cut, target);
    return cut->status;
}

struct odb_probe_cut *odb_probe__all(const struct odb_prober *prober, uint64_t most, bool beside)
{
    int *list = odb_new_n(int, prober->model->graph->n_values);
    struct odb_probe probe = {
        .what = "", .values = list, .n_values = odb_probe_list(prober, list), .beside = beside};
    struct odb_probe_cut *cut = NULL;
    uint64_t bytes = 0;
    for (size_t i = 0; i < probe.n_values; i++)
        bytes += odb_tensor_size(prober->trace->ref[list[i]]);
    if (bytes <= most && odb_probe_max_outputs(prober) == SIZE_MAX && probe_taps_all(prober))
        cut = probe_cut_new(prober, &probe, true);
    if (cut && cut->status != ODB_OK) {
        probe_cut_free(cut);
        cut = NULL;
    }
    free(list);
    return cut;
}

struct odb_tensor *const *odb_probe__answer(const struct odb_probe_cut *cut, size_t *n)
{
    *n = cut->status == ODB_OK ? cut->n_names : 0;
    return *n ? cut->outputs : NULL;
}

double odb_probe__seconds(const struct odb_probe_cut *cut)
{
    return cut->seconds;
}

/* The same numbers: views of one tensor are. */
static bool probe_numbers_same(const struct odb_tensor *x, const struct odb_tensor *y)
{
    return x && y && x->kind == y->kind && x->dtype == y->dtype && x->data == y->data && x->data &&
           odb_tensor_same_shape(x, y);
}

bool odb_probe__same(const struct odb_probe_cut *a, const struct odb_probe_cut *b)
{
    const size_t nodes = a->prober.model->graph->n_nodes * sizeof *a->nodes;
    bool same = a->whole == b->whole && a->fixed == b->fixed && a->load == b->load &&
                a->n_in == b->n_in && a->n_out == b->n_out && a->n_feeds == b->n_feeds &&
                a->prober.model == b->prober.model && !memcmp(a->nodes, b->nodes, nodes);
    for (size_t i = 0; same && i < a->n_feeds; i++)
        same = !strcmp(a->feeds[i].name, b->feeds[i].name) &&
               probe_numbers_same(a->feeds[i].tensor, b->feeds[i].tensor);
    for (size_t i = 0; same && i < a->n_in; i++)
        same = a->in[i].value == b->in[i].value && a->in[i].symbolic == b->in[i].symbolic &&
               a->in[i].constant == b->in[i].constant;
    for (size_t o = 0; same && o < a->n_out; o++)
        same = a->out[o].value == b->out[o].value &&
               (a->whole || a->out[o].symbolic == b->out[o].symbolic);
    return same;
}

void odb_probe__cut_free(struct odb_probe_cut *cut)
{
    probe_cut_free(cut);
}

/* Takes the answer that is there already. */
static bool probe_claim(const struct odb_prober *prober, struct odb_probe_cut *cut)
{
    struct odb_probe_cut *had = prober->ahead ? odb_ahead_claim(prober->ahead, cut) : NULL;
    if (!had || had->status == ODB_CANCELLED)
        return false;
    cut->outputs = had->outputs;
    had->outputs = NULL;
    cut->times = had->times;
    had->times.list = (typeof(had->times.list)){0};
    cut->status = had->status;
    cut->err = had->err;
    cut->loads = had->loads;
    cut->runs = had->runs;
    cut->seconds = had->seconds;
    return true;
}

/* --- begun and run ---------------------------------------------------------------------------- */

static void probe_begin(struct odb_prober *prober, struct odb_probe *probe, bool beside)
{
    struct odb_probe_cut *cut = probe_cut_new(prober, probe, true);
    probe_consult(prober, probe, cut);
    if (cut->status == ODB_OK && cut->n_names && !cut->known)
        cut->task = beside ? odb_pool_begin_beside(prober->pool, probe_ask, cut)
                           : odb_pool_begin(prober->pool, probe_ask, cut);
    probe->begun = cut;
}

/* Whether there is a worker for what is not yet wanted. */
static bool probe_has_others(const struct odb_prober *prober)
{
    return odb_pool_workers(prober->pool) > 1 && !odb_probe_in_pieces(prober);
}

void odb_probe_begin(struct odb_prober *prober, struct odb_probe *probe)
{
    if (probe_has_others(prober))
        probe_begin(prober, probe, false);
}

void odb_probe_begin_beside(struct odb_prober *prober, struct odb_probe *probe)
{
    if (probe_has_others(prober))
        probe_begin(prober, probe, true);
}

void odb_probe_begin_lone(struct odb_prober *prober, struct odb_probe *probe)
{
    if (!odb_probe_in_pieces(prober))
        probe_begin(prober, probe, false);
}

bool odb_probe_at_hand(const struct odb_prober *prober, const struct odb_probe *probe)
{
    return probe->begun && (!probe->begun->task || odb_pool_done(prober->pool, probe->begun->task));
}

void odb_probe_drop(struct odb_prober *prober, struct odb_probe *probe)
{
    for (size_t i = 0; i < probe->n_values; i++) {
        odb_tensor_unref(probe->outputs[i]);
        probe->outputs[i] = NULL;
    }
    if (probe->begun)
        probe_unask(prober, probe, probe->begun);
    if (probe->begun && probe->begun->task)
        odb_pool_forget(prober->pool, probe->begun->task, probe_cut_free);
    else if (probe->begun)
        probe_cut_free(probe->begun);
    probe->begun = NULL;
}

/* What was noted of the one before goes. */
static void probe_announce(struct odb_prober *prober, const struct odb_probe *probe,
                           const struct odb_probe_cut *cut)
{
    int *in = odb_new_n(int, cut->n_in);
    for (size_t i = 0; i < cut->n_in; i++)
        in[i] = cut->in[i].value;
    const struct odb_probe_kind_facts facts = {.graph = prober->model->graph,
                                               .asked = probe->asked,
                                               .nodes = cut->nodes,
                                               .in = in,
                                               .n_in = cut->n_in,
                                               .out = probe->values,
                                               .n_out = probe->n_values};
    prober->now->compared = (struct odb_all_seen){0};
    prober->now->times.list.n = 0;
    prober->now->failure[0] = '\0';
    odb_hooks_tell(&prober->hooks, (struct odb_search_event){.what = ODB_EVENT_PROBE_BEGIN,
                                                             .text = probe->what,
                                                             .node = probe->node,
                                                             .asked = &facts,
                                                             .remaining = probe->remaining});
    free(in);
}

/* A cut that the target may not hold at once. */
static void probe_ask_by_pieces(struct odb_prober *prober, struct odb_probe *probe,
                                struct odb_probe_cut *cut, const int *stops)
{
    struct odb_tensor **made = odb_new_n(struct odb_tensor *, prober->model->graph->n_values);
    double start = odb_clock();
    probe->loads = probe->runs = 0;
    cut->outputs = odb_new_n(struct odb_tensor *, cut->n_names);
    cut->status = odb_probe__by_pieces(prober, probe, cut->nodes, stops, prober->now->pieces, made,
                                       &cut->err);
    for (size_t o = 0; o < cut->n_out; o++)
        cut->outputs[o] = odb_tensor_ref(made[cut->out[o].value]);
    for (size_t v = 0; v < prober->model->graph->n_values; v++)
        odb_tensor_unref(made[v]);
    free(made);
    cut->loads = probe->loads;
    cut->runs = probe->runs;
    cut->seconds = odb_clock() - start;
    prober->now->loaded[0] = prober->now->model[0] = '\0';
}

/* Of a child that is dead; zeros among them are no end. */
static char *probe_words(const struct odb_target *target, enum odb_status status)
{
    struct odb_buf words = ODB_BUF_INIT;
    if (status >= 0 || (status != ODB_E_CRASH && status != ODB_E_TIMEOUT && odb_target_pid(target)))
        return NULL;
    odb_target_words(target, &words);
    for (size_t i = 0; i < words.len; i++)
        if (!words.data[i])
            words.data[i] = ' ';
    return words.len ? odb_buf_take(&words) : NULL;
}

/* Asks the caller's own target. */
static void probe_ask_own(struct odb_prober *prober, struct odb_probe *probe,
                          struct odb_probe_cut *cut)
{
    int *stops = NULL;
    prober->now->pieces =
        odb_probe_in_pieces(prober) ? odb_probe__pieces(prober, probe, cut->nodes, &stops) : 1;
    if (prober->now->pieces > 1) {
        probe_ask_by_pieces(prober, probe, cut, stops);
    } else {
        char name[65] = "";
        if (prober->refeed)
            probe_name_model(cut, !prober->reshapes, name);
        cut->load = cut->load && (!name[0] || strcmp(name, prober->now->model) != 0);
        if (!probe_claim(prober, cut)) {
            (void)odb_pool_target(prober->pool); /* which is at no question from here on */
            cut->load |= odb_ahead_moved(prober->ahead);
            probe_ask_here(prober, cut);
        }
        bool last = cut->load || !cut->beside; /* it is what was loaded last */
        snprintf(prober->now->loaded, sizeof prober->now->loaded, "%s", last ? cut->what : "");
        snprintf(prober->now->model, sizeof prober->now->model, "%s",
                 last && cut->status == ODB_OK ? name : "");
        probe_undo_layouts(prober, cut);
        probe_spill_cut(prober, cut);
    }
    if (cut->status < 0) /* else the target may be at the next question */
        cut->words = probe_words(odb_pool_target(prober->pool), cut->status);
    free(stops);
}

enum odb_status odb_probe__part(struct odb_prober *prober, struct odb_probe *part,
                                struct odb_error *err)
{
    struct odb_probe_cut *cut = probe_cut_new(prober, part, true);
    probe_consult(prober, part, cut);
    if (cut->status == ODB_OK && !cut->known) {
        probe_ask_here(prober, cut);
        probe_undo_layouts(prober, cut);
        probe_spill_cut(prober, cut);
    }
    probe_count_model(prober, cut);
    probe_remember(prober, cut);
    probe_collect(prober, part, cut);
    enum odb_status status = cut->status;
    if (status != ODB_OK)
        *err = cut->err;
    probe_cut_free(cut);
    return status;
}

/* Whether what is read of a cut is of types that the model's outputs have. */
static bool probe_has_types(const struct odb_prober *prober, const struct odb_probe_cut *cut)
{
    const struct odb_graph *graph = prober->model->graph;
    for (size_t o = 0; o < cut->n_out; o++) {
        bool found = false;
        for (size_t i = 0; i < graph->n_outputs && !found && cut->out[o].like; i++)
            found = graph->values[graph->outputs[i]].type.dtype == cut->out[o].like->dtype;
        if (!found)
            return false;
    }
    return cut->n_out > 0;
}

/* What a target does not say of parts is seen from what it takes and refuses. */
static void probe_learn(struct odb_prober *prober, const struct odb_probe_cut *cut)
{
    struct odb_probe_part part = {.graph = prober->model->graph,
                                  .nodes = cut->nodes,
                                  .plain = probe_has_types(prober, cut),
                                  .takes = probe_takes(prober, cut)};
    if (prober->now->pieces > 1 || probe_can(prober)->cut || !cut->n_out)
        return;
    part.end = part.graph->values[cut->out[0].value].producer;
    if (cut->status == ODB_OK)
        odb_parts_taken(&prober->now->parts, &part);
    else if (odb_refusal_may_be_fault(cut->status, &cut->err))
        odb_parts_refused(&prober->now->parts, &part, &cut->err);
}

static enum odb_status probe_do(struct odb_prober *prober, struct odb_probe *probe, bool load,
                                struct odb_error *err)
{
    struct odb_probe_cut *cut = probe->begun ? probe->begun : probe_cut_new(prober, probe, load);
    if (!probe->begun)
        probe_consult(prober, probe, cut);
    probe->begun = NULL;
    /* While there is a task, the status is the worker's. */
    probe->silent = cut->known || (!cut->task && cut->status == ODB_CANCELLED);
    bool allowed = probe_charge(prober, probe, cut),
         asked = cut->known || cut->task || cut->status == ODB_OK;
    if (!probe->silent && !probe->aside)
        probe_announce(prober, probe, cut);
    if (cut->task) {
        odb_pool_wait(prober->pool, cut->task);
        prober->now->loaded[0] = prober->now->model[0] = '\0'; /* whichever worker took it */
        probe_undo_layouts(prober, cut);
        probe_spill_cut(prober, cut);
    } else if (cut->status == ODB_OK && cut->n_names && !cut->known && allowed) {
        probe_ask_own(prober, probe, cut);
    }
    if (cut->status == ODB_E_IO && prober->search && odb_pool_gone(prober->pool))
        cut->status = cut->err.code = ODB_CANCELLED;
    if (!allowed) /* whatever a worker has made of it by now */
        cut->status = odb_fail(&cut->err, ODB_CANCELLED, "the budget is used up");
    prober->now->loads += cut->loads;
    probe_count_model(prober, cut);
    probe_remember(prober, cut);
    if (asked && !prober->recorded)
        probe_learn(prober, cut);
    for (size_t i = 0; i < cut->times.list.n && !probe->silent && !probe->aside; i++)
        odb_push(&prober->now->times.list, cut->times.list.items[i]);
    probe_collect(prober, probe, cut);
    enum odb_status status = cut->status;
    if (status != ODB_OK && err)
        *err = cut->err;
    if (status != ODB_OK)
        odb_error_text(&cut->err, prober->now->failure, sizeof prober->now->failure);
    if (!probe->judged)
        odb_probe_tell(prober, probe, odb_probe_verdict(status), probe->remaining);
    free(prober->now->words);
    prober->now->words = cut->words;
    cut->words = NULL;
    probe_cut_free(cut);
    return status;
}

enum odb_status odb_probe_run(struct odb_prober *prober, struct odb_probe *probe,
                              struct odb_error *err)
{
    return probe_do(prober, probe, true, err);
}

size_t odb_probe_known_again(const struct odb_prober *prober)
{
    const struct odb_answers *answers = prober->answers;
    size_t times = 0;
    bool known = answers && answers->n && prober->now->asked_last[0];
    while (known) {
        struct odb_answered answer = {0};
        char key[ODB_ANSWERS_KEY];
        snprintf(key, sizeof key, "%s%s~.%zu", prober->retries ? ODB_ANSWERS_RETRIED : "",
                 prober->now->asked_last, times + 1);
        known = answers->find(answers->payload, key, &answer);
        odb_answered_dispose(&answer);
        times += known;
    }
    return times;
}

enum odb_status odb_probe_again(struct odb_prober *prober, struct odb_probe *probe,
                                struct odb_error *err)
{
    return probe_do(prober, probe, false, err);
}

enum odb_status odb_probe_judge(void *payload, const struct odb_probe *probe,
                                enum odb_verdict *shown, struct odb_error *err)
{
    const struct odb_judge *judge = payload;
    for (size_t i = 0; i < probe->n_values; i++) {
        struct odb_value_report report = {0};
        ODB_TRY(odb_judge_value(judge, probe->values[i], probe->outputs[i], &report, err));
        odb_probe_shows(shown, report.verdict);
    }
    return ODB_OK;
}

static enum odb_status probe_judged(struct odb_prober *prober, struct odb_probe *probe, bool again,
                                    odb_probe_judge_fn *judge, void *payload,
                                    struct odb_probed *out, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    *out = (struct odb_probed){.why = ODB_ERROR_INIT};
    out->had =
        again ? odb_probe_again(prober, probe, &out->why) : odb_probe_run(prober, probe, &out->why);
    out->verdict = odb_probe_verdict(out->had);
    if (out->had == ODB_OK) {
        status = judge(payload, probe, &out->verdict, err);
        for (size_t i = 0; i < probe->n_values && out->verdict == ODB_VERDICT_PASS; i++)
            if (!probe->outputs[i])
                out->verdict = ODB_VERDICT_UNTESTABLE;
    } else if (out->had == ODB_CANCELLED) {
        *err = out->why;
        status = ODB_CANCELLED;
    }
    odb_probe_tell(prober, probe, status == ODB_OK ? out->verdict : ODB_VERDICT_UNTESTED, 0);
    return status;
}

enum odb_status odb_probe_ask(struct odb_prober *prober, struct odb_probe *probe,
                              odb_probe_judge_fn *judge, void *payload, struct odb_probed *out,
                              struct odb_error *err)
{
    return probe_judged(prober, probe, false, judge, payload, out, err);
}

enum odb_status odb_probe_ask_again(struct odb_prober *prober, struct odb_probe *probe,
                                    odb_probe_judge_fn *judge, void *payload,
                                    struct odb_probed *out, struct odb_error *err)
{
    return probe_judged(prober, probe, true, judge, payload, out, err);
}

/* The run is for the account alone: it is not reported, and its answers are known. */
static enum odb_status probe_load_again(struct odb_prober *prober, struct odb_probe *run,
                                        struct odb_error *err)
{
    const struct odb_answers *answers = prober->answers;
    run->aside = true;
    prober->answers = NULL;
    enum odb_status status = odb_probe_run(prober, run, err);
    prober->answers = answers;
    odb_probe_drop(prober, run);
    return status;
}

static enum odb_status probe_ask_account(struct odb_prober *prober, struct odb_probe *run,
                                         const char *key, struct odb_account *account,
                                         struct odb_error *err)
{
    const struct odb_answers *answers = prober->answers;
    struct odb_tensor *said = NULL;
    enum odb_status status = ODB_OK;
    if (odb_ahead_account(prober->ahead, account, &status, err))
        return status;
    struct odb_target *target = odb_pool_target(prober->pool);
    if (!key[0] && odb_ahead_moved(prober->ahead))
        ODB_TRY(probe_load_again(prober, run, err));
    if (!key[0])
        return odb_target_account(target, account, err);
    answers->begin(answers->payload, key, "what became of the model", ODB_NO_NODE);
    if (strcmp(prober->now->loaded, prober->now->asked_last))
        status = probe_load_again(prober, run, err);
    if (status == ODB_OK)
        status = odb_target_account(target, account, err);
    if (status == ODB_OK && odb_answers_from_account(&said, account, NULL) == ODB_OK)
        answers->keep(answers->payload, key,
                      &(struct odb_answered){ODB_OK, ODB_ERROR_INIT, &said, 1});
    else
        answers->forget(answers->payload, key);
    odb_tensor_unref(said);
    return status;
}

enum odb_status odb_probe_account(struct odb_prober *prober, struct odb_probe *run,
                                  struct odb_account *account, struct odb_error *err)
{
    struct odb_answered known = {0};
    char key[ODB_ANSWERS_KEY] = "";
    enum odb_status status = ODB_OK;
    bool said = false;
    if (prober->now->pieces > 1)
        return odb_fail(err, ODB_SKIPPED, "it ran in %zu pieces", prober->now->pieces);
    if (prober->answers && prober->now->asked_last[0]) {
        snprintf(key, sizeof key, "%s!", prober->now->asked_last);
        said = prober->answers->find(prober->answers->payload, key, &known);
    }
    if (said && known.status != ODB_OK) {
        status = known.status;
        *err = known.err;
    } else if (!said || known.n != 1 || !odb_answers_to_account(known.outputs[0], account)) {
        status = probe_ask_account(prober, run, key, account, err);
    }
    odb_answered_dispose(&known);
    return status;
}
