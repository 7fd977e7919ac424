/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A second, different cut. The accused was found in one (every value read) and confirmed in another
 * (alone); in both, its inputs were fed or read. Here it runs together with a node before it, whose
 * result is not read, or, where nothing stands before it, with one behind it. What the two make is
 * judged as a whole, by the reference on the same inputs.
 */
#include "bisect/evidence/neighbour.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"
#include "bisect/search_case.h"
#include "judge/segment.h"
#include "run/value_report.h"

static bool neighbour_fed(const struct search_case *c, const struct findings *f,
                          const struct odb_node *node)
{
    for (size_t i = 0; i < odb_node_n_reads(node); i++) {
        int v = odb_node_reads(node, i);
        if (v >= 0 && !f->given[v] && c->graph->values[v].producer != ODB_NO_NODE)
            return false;
    }
    return node->n_in > 0;
}

/* One that is accused itself would say nothing of another. */
static bool neighbour_accused(const struct findings *f, int node)
{
    for (size_t i = 0; i < f->report->culprits.n; i++)
        if (f->report->culprits.items[i].node == node)
            return true;
    return false;
}

static bool neighbour_usable(const struct search_case *c, const struct findings *f, int node)
{
    return node != ODB_NO_NODE && !odb_cpu_unsupported(c->trace->cpu, node)[0] &&
           !odb_cpu_random(c->trace->cpu, node) && neighbour_fed(c, f, &c->graph->nodes[node]);
}

/* A node that makes an input of this one from known values. */
static int neighbour_before(const struct search_case *c, const struct findings *f, int index)
{
    const struct odb_node *node = &c->graph->nodes[index];
    for (int i = 0; i < node->n_in; i++) {
        int producer = node->in[i] < 0 ? ODB_NO_NODE : c->graph->values[node->in[i]].producer;
        if (neighbour_usable(c, f, producer) && !neighbour_accused(f, producer))
            return producer;
    }
    return ODB_NO_NODE;
}

/* A node that reads the value, and whose output the reference has. */
static int neighbour_behind(const struct search_case *c, const struct findings *f, int value)
{
    const struct odb_value *v = &c->graph->values[value];
    for (size_t i = 0; i < v->n_consumers; i++) {
        int node = v->consumers[i], out = case_output_of(c, node);
        if (neighbour_usable(c, f, node) && !neighbour_accused(f, node) && out >= 0 &&
            c->trace->ref[out] && odb_probe_reads(c->graph, c->trace, out))
            return node;
    }
    return ODB_NO_NODE;
}

/* Two nodes that run together, and the value at their end. */
struct neighbours {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    int first, last, value;
    enum odb_checked answer;
};

static void neighbour_forget(const struct odb_node *node, struct odb_tensor **given)
{
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0)
            given[node->out[o]] = NULL;
}

/* Judges what the two made of the inputs of both, with nothing in between known. Where the
 * reference cannot make the same of those, there is no answer. */
static enum odb_status neighbour_judge(void *payload, const struct odb_probe *probe,
                                       enum odb_verdict *shown, struct odb_error *err)
{
    struct neighbours *pair = payload;
    const struct search_case *c = pair->c;
    struct findings *f = pair->f;
    size_t n = c->graph->n_values;
    if (!probe->outputs[0])
        return ODB_OK;
    struct odb_tensor **given = odb_xmemdup(f->given, n * sizeof *given); /* borrowed */
    struct odb_value_report *reports = odb_xmemdup(f->values, n * sizeof *reports);
    struct odb_value_report *end = &reports[pair->value];
    neighbour_forget(&c->graph->nodes[pair->first], given);
    neighbour_forget(&c->graph->nodes[pair->last], given);
    given[pair->value] = probe->outputs[0];
    *end = (struct odb_value_report){0};
    enum odb_status status = odb_judge_segments(&c->judge, pair->last, given, reports, err);
    bool replayed = end->local_error.known || end->local_noise.known;
    if (c->trace->stepped && c->trace->stepped[pair->value])
        replayed = false; /* between two nodes that round to steps, many steps are noise */
    if (end->culprit || replayed)
        pair->answer = end->culprit ? ODB_CONFIRMS : ODB_CONTRADICTS;
    *shown = end->culprit ? ODB_VERDICT_FAIL : replayed ? ODB_VERDICT_PASS : ODB_VERDICT_UNTESTABLE;
    free(reports);
    free(given);
    return status;
}

/* Runs the two and judges the value at their end. */
static enum odb_status neighbour_run(struct neighbours *pair, struct odb_error *err)
{
    const struct search_case *c = pair->c;
    struct findings *f = pair->f;
    char what[240];
    struct odb_tensor *output = NULL;
    struct odb_probed probed;
    bool *nodes = odb_new_n(bool, c->graph->n_nodes);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_SECOND,
                              .what = odb_probe_title(c->graph, "second cut:", pair->first,
                                                      pair->last, what, sizeof what),
                              .node = pair->last,
                              .nodes = nodes,
                              .given = f->given,
                              .values = &pair->value,
                              .n_values = 1,
                              .outputs = &output,
                              .judged = true};
    nodes[pair->first] = nodes[pair->last] = true;
    enum odb_status status = odb_probe_ask(c->prober, &probe, neighbour_judge, pair, &probed, err);
    odb_probe_drop(c->prober, &probe);
    free(nodes);
    return status;
}

enum odb_status neighbour_ask(const struct search_case *c, struct findings *f,
                              struct odb_culprit *culprit, struct odb_error *err)
{
    int before = neighbour_before(c, f, culprit->node);
    int behind = before == ODB_NO_NODE ? neighbour_behind(c, f, culprit->value) : ODB_NO_NODE;
    bool first = before == ODB_NO_NODE; /* nothing stands before it */
    if ((first && behind == ODB_NO_NODE) || !neighbour_usable(c, f, culprit->node))
        return ODB_OK;
    struct neighbours pair = {.c = c,
                              .f = f,
                              .first = first ? culprit->node : before,
                              .last = first ? behind : culprit->node,
                              .value = first ? case_output_of(c, behind) : culprit->value,
                              .answer = ODB_NOT_TESTABLE};
    culprit->neighbour = first ? behind : before;
    ODB_TRY(neighbour_run(&pair, err));
    bool hides = first && !odb_verdict_is_bad(f->values[pair.value].verdict);
    culprit->checks[ODB_CHECK_NEIGHBOUR] =
        pair.answer == ODB_CONTRADICTS && hides ? ODB_NOT_TESTABLE : pair.answer;
    return ODB_OK;
}
