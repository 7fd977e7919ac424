/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A compiler makes one kernel of DequantizeLinear, Conv, Relu and QuantizeLinear, and of these
 * alone: a kernel reads integers and makes integers. To be made so, a group must find its
 * quantisers whole on both sides: ONNX Runtime fuses nothing whose integers are read, or fed. So a
 * group is cut out from the float before the QuantizeLinear that it reads up to the float behind
 * the DequantizeLinear that follows it. A cut anywhere else, and a value that is read anywhere
 * else, takes the kernel apart, and what is wrong in it is right then.
 *
 *     x -> Quantize -> Dequantize -> Conv -> Relu -> y -> Quantize -> Dequantize -> read
 *     fed              '---------- the group ------------------'
 *
 * Two groups that follow each other share the pair between them, so every other group goes into one
 * model: some models hold all of them, each group in one, without edges between the groups. What
 * feeds a group stands on its quantiser's grid, so that nothing is decided but at its end.
 */
#include "bisect/apart/apart.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/apart/kernel_group.h"
#include "bisect/reading.h"
#include "executor/groups.h"
#include "judge/segment.h"

#define APART_MODELS 12 /* beyond which searching by cuts is cheaper */
#define APART_ALONE 4   /* groups whose operator is run alone as well */

/* What lies between quantisers. */
struct apart_group {
    int x;       /* what the quantiser at its end reads; else ODB_NO_VALUE */
    int end;     /* the value that is read */
    bool *nodes; /* owned; [n_nodes] weights that they read included */
    size_t model;
    bool guilty;
    struct odb_value_report report; /* of end, where it is */
};

struct apart {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    bool *border;                /* owned; [n_values] floats that a quantiser reads */
    int *behind;                 /* owned; [n_values] of these: the float behind the quantiser */
    ODB_VEC(struct apart_group) groups;
    struct odb_tensor **fed; /* owned refs; [n_values] what stands at borders */
    size_t n_models;
};

/* --- groups ------------------------------------------------------------------------------------
 */

static bool apart_is(const struct odb_node *node, const char *op)
{
    return !strcmp(node->op_type, op);
}

/* The float that comes of an integer: past nodes that only move it. ODB_NO_VALUE: none does. */
static int apart_behind(const struct search_case *c, int value)
{
    const struct odb_value *v = &c->graph->values[value];
    for (size_t i = 0; i < v->n_consumers; i++) {
        const struct odb_node *node = &c->graph->nodes[v->consumers[i]];
        const struct odb_op *op = odb_cpu_op(c->trace->cpu, v->consumers[i]);
        bool ends = apart_is(node, "DequantizeLinear");
        bool moves = op && (op->flags & ODB_OP_EXACT) && node->n_out == 1;
        if (node->in[0] != value || !(ends || moves || apart_is(node, "Cast")))
            continue;
        int found = ends ? node->out[0] : apart_behind(c, node->out[0]);
        if (found >= 0)
            return found;
    }
    return ODB_NO_VALUE;
}

/* Floats that quantisers read, weights aside, and what comes out behind the pair. */
static void apart_borders(struct apart *a)
{
    const struct search_case *c = a->c;
    const bool *constant = c->prober->constant;
    a->border = odb_new_n(bool, c->graph->n_values + 1);
    a->behind = odb_new_n(int, c->graph->n_values + 1);
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        bool dynamic = apart_is(node, "DynamicQuantizeLinear");
        int x = node->n_in ? node->in[0] : ODB_NO_VALUE;
        if (x < 0 || !(dynamic || apart_is(node, "QuantizeLinear")) || (constant && constant[x]) ||
            c->graph->values[x].init)
            continue;
        int behind = dynamic ? x : apart_behind(c, node->out[0]);
        a->border[x] = behind >= 0 && c->trace->ref[behind] && c->trace->ref[x];
        a->behind[x] = behind;
    }
}

/* More than a kernel: a part of the model that is not quantised. */
static bool apart_is_wide(const struct apart *a, const struct apart_group *group)
{
    const struct search_case *c = a->c;
    size_t n = 0;
    for (size_t i = 0; i < c->graph->n_nodes; i++) {
        n += group->nodes[i] && case_output_of(c, (int)i) >= 0 && !case_is_weight(c, (int)i);
    }
    return n > CASE_KERNEL;
}

/* The nodes that make value, from borders on: its own, where it is one, does not count. */
static void apart_makers(struct apart *a, int value, bool *nodes)
{
    bool border = a->border[value];
    a->border[value] = false;
    odb_graph_ancestors(a->c->graph, &value, 1, a->border, nodes);
    a->border[value] = border;
}

static void apart_add(struct apart *a, int x, int end)
{
    const struct search_case *c = a->c;
    struct apart_group group = {x, end, odb_new_n(bool, c->graph->n_nodes + 1), 0};
    bool *own = odb_new_n(bool, c->graph->n_nodes + 1);
    apart_makers(a, end, group.nodes);
    if (x >= 0 && x != end)
        apart_makers(a, x, own);
    for (size_t n = 0; n < c->graph->n_nodes; n++)
        group.nodes[n] |= own[n];
    free(own);
    if (apart_is_wide(a, &group))
        free(group.nodes);
    else
        odb_push(&a->groups, group);
}

/* One for each border that a node makes, in the order of the graph, and what is left of the
 * outputs. */
static void apart_groups(struct apart *a)
{
    const struct search_case *c = a->c;
    bool *done = odb_new_n(bool, c->graph->n_values + 1);
    for (size_t n = 0; n < c->graph->n_nodes; n++)
        for (int o = 0; o < c->graph->nodes[n].n_out; o++) {
            int x = c->graph->nodes[n].out[o];
            if (x < 0 || !a->border[x] || c->drawn[x] || !reading_wants(c, a->behind[x]))
                continue;
            apart_add(a, x, a->behind[x]);
            done[a->behind[x]] = true;
        }
    for (size_t o = 0; o < c->n_outputs && a->groups.n; o++)
        if (!done[c->outputs[o]] && c->trace->ref[c->outputs[o]])
            apart_add(a, ODB_NO_VALUE, c->outputs[o]);
    free(done);
}

/* --- which groups go into one model ------------------------------------------------------------
 */

/* Whether a node of one of them makes what another one is to be fed. */
static bool apart_touch(const struct apart *a, const struct apart_group *one,
                        const struct apart_group *other)
{
    const struct odb_graph *graph = a->c->graph;
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (size_t i = 0; one->nodes[n] && i < odb_node_n_reads(&graph->nodes[n]); i++) {
            int v = odb_node_reads(&graph->nodes[n], i);
            int maker = v < 0 ? ODB_NO_NODE : graph->values[v].producer;
            if (maker != ODB_NO_NODE && a->border[v] && v != one->x && other->nodes[maker])
                return true;
        }
    return false;
}

static void apart_divide(struct apart *a)
{
    for (size_t i = 0; i < a->groups.n; i++) {
        struct apart_group *group = &a->groups.items[i];
        for (size_t k = 0; k < i; k++) {
            const struct apart_group *other = &a->groups.items[k];
            if (other->model != group->model ||
                !(apart_touch(a, group, other) || apart_touch(a, other, group)))
                continue;
            group->model++;
            k = (size_t)-1; /* and from the first once more */
        }
        a->n_models = ODB_MAX(a->n_models, group->model + 1);
    }
}

/* --- running them ------------------------------------------------------------------------------
 */

/* On the grid, where there is one of the same type and shape. */
static void apart_feed(struct apart *a)
{
    const struct search_case *c = a->c;
    a->fed = odb_new_n(struct odb_tensor *, c->graph->n_values);
    for (size_t v = 0; v < c->graph->n_values; v++) {
        if (!a->border[v])
            continue;
        struct odb_tensor *x = c->trace->ref[v], *grid = c->trace->ref[a->behind[v]];
        bool alike = grid->dtype == x->dtype && odb_tensor_same_shape(grid, x);
        a->fed[v] = odb_tensor_ref(alike ? grid : x);
    }
}

struct apart_asked {
    struct apart *a;
    size_t model;
};

/* What the reference has there itself, which was fed its own values. */
static bool apart_agrees(const struct search_case *c, int value, const struct odb_tensor *t)
{
    const struct odb_tensor *ref = c->trace->ref[value], *golden = c->trace->golden[value];
    struct odb_gap gap;
    if (odb_tensor_identical(t, ref))
        return true;
    if (!golden || t->kind != ODB_TENSOR || t->dtype != ref->dtype || !odb_dtype_is_float(t->dtype))
        return false;
    odb_gap_measure(&gap, t, golden);
    return gap.comparable && gap.pattern && gap.error <= odb_noise_floor(gap.rms, t->dtype);
}

/* What is not known of the whole model is told of the group. */
static void apart_keep(struct apart *a, int value, struct odb_tensor *t,
                       struct odb_value_report report)
{
    if (a->f->values[value].verdict != ODB_VERDICT_UNTESTED)
        return;
    report.culprit = false; /* it is the group's fault, not that of the node that makes it */
    findings_keep(a->f, value, t);
    findings_value(a->f, value, &report);
}

/* What a group was fed, and what it gave: given [n_values] has it for the time of this call. */
static enum odb_status apart_judge_group(struct apart *a, struct apart_group *group,
                                         struct odb_tensor *t, struct odb_tensor **given,
                                         struct odb_error *err)
{
    const struct search_case *c = a->c;
    struct odb_tensor *behind = given[group->end], *x = group->x < 0 ? NULL : given[group->x];
    struct odb_value_report *reports = odb_new_n(struct odb_value_report, c->graph->n_values);
    struct odb_value_report *report = &reports[group->end];
    if (group->x >= 0)
        given[group->x] = NULL;
    given[group->end] = t;
    enum odb_status status =
        odb_judge_segments(&c->judge, c->graph->values[group->end].producer, given, reports, err);
    group->guilty = status == ODB_OK && report->culprit;
    if (group->guilty) {
        report->verdict = ODB_VERDICT_FAIL;
        report->error = report->local_error;
        report->noise = report->local_noise;
        group->report = *report;
        apart_keep(a, group->end, t, *report);
    }
    if (group->x >= 0)
        given[group->x] = x;
    given[group->end] = behind;
    free(reports);
    return status;
}

/* Each group by what the reference makes of what it was fed. */
static enum odb_status apart_judge(void *payload, const struct odb_probe *probe,
                                   enum odb_verdict *shown, struct odb_error *err)
{
    const struct apart_asked *asked = payload;
    struct apart *a = asked->a;
    struct odb_tensor **given = odb_xmemdup(a->fed, a->c->graph->n_values * sizeof *given);
    enum odb_status status = ODB_OK;
    for (size_t i = 0, k = 0; i < a->groups.n && status == ODB_OK; i++) {
        struct apart_group *group = &a->groups.items[i];
        if (group->model != asked->model)
            continue;
        struct odb_tensor *t = probe->outputs[k++];
        if (t && !apart_agrees(a->c, group->end, t))
            status = apart_judge_group(a, group, t, given, err);
        if (group->guilty)
            *shown = ODB_VERDICT_FAIL;
    }
    free(given);
    return status;
}

/* Whether the target says that it runs the accused by itself in the model as it is: then it makes
 * another kernel of it apart. */
static bool apart_is_alone(const struct search_case *c, const struct odb_groups *told,
                           const struct odb_culprit *culprit)
{
    const struct odb_kernel *kernel = odb_groups_kernel(told, culprit->node);
    size_t active = 0; /* weights are in no kernel that is told */
    for (size_t i = 0; i < culprit->group.n; i++) {
        int node = culprit->group.items[i];
        active += case_output_of(c, node) >= 0 && !case_is_weight(c, node);
    }
    return active > 1 && kernel && kernel->n == 1;
}

/* Accuses the guilty, in the order of the model. */
static void apart_accuse(struct apart *a)
{
    const struct search_case *c = a->c;
    struct odb_groups told;
    size_t others = 0;
    const char *text = odb_buf_text(&a->f->report->account.groups);
    bool known = odb_groups_read(&told, text, c->model->graph, NULL) == ODB_OK;
    for (size_t i = 0; i < a->groups.n; i++) {
        const struct apart_group *group = &a->groups.items[i];
        if (!group->guilty)
            continue;
        a->f->kept->wrong_apart = true;
        struct odb_culprit *culprit =
            group_accuse(c, a->f, group->nodes, group->end, group->x < 0 ? group->end : group->x);
        culprit->numbers = group->report;
        if (known && apart_is_alone(c, &told, culprit)) {
            findings_drop(a->f, a->f->report->culprits.n - 1);
            others++;
        }
    }
    odb_groups_dispose(&told);
    if (others)
        findings_note(a->f,
                      "%zu more group%s wrong where %s run apart; in the model as it is the target "
                      "makes no such kernel",
                      others, others == 1 ? " is" : "s are", others == 1 ? "it is" : "they are");
}

static enum odb_status apart_run(struct apart *a, size_t model, struct odb_error *err)
{
    const struct search_case *c = a->c;
    bool *nodes = odb_new_n(bool, c->graph->n_nodes);
    int *ends = odb_new_n(int, a->groups.n), first = ODB_NO_NODE, last = ODB_NO_NODE;
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, a->groups.n);
    struct apart_asked asked = {a, model};
    struct odb_probed probed;
    char what[240];
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_APART,
                              .nodes = nodes,
                              .given = a->fed,
                              .values = ends,
                              .outputs = outputs,
                              .judged = true};
    for (size_t i = 0; i < a->groups.n; i++) {
        const struct apart_group *group = &a->groups.items[i];
        if (group->model != model)
            continue;
        ends[probe.n_values++] = group->end;
        for (size_t n = 0; n < c->graph->n_nodes; n++)
            nodes[n] |= group->nodes[n];
    }
    for (int n = 0; n < (int)c->graph->n_nodes; n++)
        if (nodes[n]) {
            first = first < 0 ? n : first;
            last = n;
        }
    if (c->prober->constant)
        odb_trace_add_weights(c->trace, c->prober->constant, nodes);
    probe.node = first;
    probe.what = odb_probe_title(c->graph, "groups apart from", first, last, what, sizeof what);
    enum odb_status status = odb_probe_ask(c->prober, &probe, apart_judge, &asked, &probed, err);
    odb_probe_drop(c->prober, &probe);
    free(outputs);
    free(ends);
    free(nodes);
    return status;
}

/* --- all of it ---------------------------------------------------------------------------------
 */

static void apart_dispose(struct apart *a)
{
    for (size_t v = 0; a->fed && v < a->c->graph->n_values; v++)
        odb_tensor_unref(a->fed[v]);
    for (size_t i = 0; i < a->groups.n; i++)
        free(a->groups.items[i].nodes);
    free(a->groups.items);
    free(a->fed);
    free(a->border);
    free(a->behind);
}

enum odb_status apart_look(const struct search_case *c, struct findings *f, struct odb_error *err)
{
    struct apart a = {.c = c, .f = f};
    enum odb_status status = ODB_OK;
    size_t before = f->report->culprits.n;
    apart_borders(&a);
    apart_groups(&a);
    apart_divide(&a);
    if (a.groups.n && a.n_models <= APART_MODELS && odb_probe_cuts(c->prober) == ODB_CUTS_ANY) {
        findings_step_turn(
            f, "choose",
            "apart: no node that was read is to blame, and the model has quantisers: "
            "%zu group%s between them run by themselves, in %zu model%s",
            a.groups.n, odb_plural(a.groups.n), a.n_models, odb_plural(a.n_models));
        findings_step_begin(f, "groups apart");
        apart_feed(&a);
        for (size_t m = 0; m < a.n_models && status == ODB_OK; m++)
            status = apart_run(&a, m, err);
        apart_accuse(&a);
        findings_step_end(f, "apart", "%zu group%s between quantisers, each by itself; wrong: %zu",
                          a.groups.n, odb_plural(a.groups.n), f->report->culprits.n - before);
        if (!c->options->no_checks)
            for (size_t i = before;
                 i < ODB_MIN(f->report->culprits.n, before + APART_ALONE) && status == ODB_OK; i++)
                status = group_verify(c, f, i, err);
    }
    apart_dispose(&a);
    return status;
}
