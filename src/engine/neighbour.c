/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A second, different cut. The accused was found in one (every value read) and confirmed in another
 * (alone); in both, its inputs were fed or read. Here it runs together with a node before it, whose
 * result nobody sees, or, where nothing stands before it, with one behind it. What the two make is
 * judged as a whole, by the reference on the same inputs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/evidence.h"
#include "engine/segment.h"

static bool neighbour_fed(const struct bisection *b, const struct odb_node *node)
{
    for (int i = 0; i < node->n_in + (int)node->n_captured; i++) {
        int v = i < node->n_in ? node->in[i] : node->captured[i - node->n_in];
        if (v >= 0 && !b->given[v] && b->graph->values[v].producer != ODB_NO_NODE)
            return false;
    }
    return node->n_in > 0;
}

/* One that is accused itself would say nothing of another. */
static bool neighbour_accused(const struct bisection *b, int node)
{
    for (size_t c = 0; c < b->report->culprits.n; c++)
        if (b->report->culprits.items[c].node == node)
            return true;
    return false;
}

static bool neighbour_usable(const struct bisection *b, int node)
{
    return node != ODB_NO_NODE && !odb_cpu_unsupported(b->trace->cpu, node)[0] &&
           !odb_cpu_random(b->trace->cpu, node) && neighbour_fed(b, &b->graph->nodes[node]);
}

/* A node that makes an input of this one from known values. */
static int neighbour_before(const struct bisection *b, int index)
{
    const struct odb_node *node = &b->graph->nodes[index];
    for (int i = 0; i < node->n_in; i++) {
        int producer = node->in[i] < 0 ? ODB_NO_NODE : b->graph->values[node->in[i]].producer;
        if (neighbour_usable(b, producer) && !neighbour_accused(b, producer))
            return producer;
    }
    return ODB_NO_NODE;
}

/* A node that reads the value, and whose output the reference has. */
static int neighbour_behind(const struct bisection *b, int value)
{
    const struct odb_value *v = &b->graph->values[value];
    for (size_t c = 0; c < v->n_consumers; c++) {
        int node = v->consumers[c], out = bisection_output_of(b, node);
        if (neighbour_usable(b, node) && !neighbour_accused(b, node) && out >= 0 &&
            b->trace->ref[out] && odb_probe_reads(b->graph, b->trace, out))
            return node;
    }
    return ODB_NO_NODE;
}

/* Judges what first and last made of the inputs of both, with nothing in between known. Where the
 * reference cannot make the same of those, there is no answer. */
static enum odb_status neighbour_judge(struct bisection *b, int first, int last, int value,
                                       struct odb_tensor *had, enum odb_checked *answer,
                                       struct odb_error *err)
{
    size_t n = b->graph->n_values;
    struct odb_tensor **given = odb_xmemdup(b->given, n * sizeof *given); /* borrowed */
    struct odb_value_report *reports = odb_xmemdup(b->report->values, n * sizeof *reports);
    const struct odb_node *before = &b->graph->nodes[first], *node = &b->graph->nodes[last];
    for (int o = 0; o < before->n_out; o++)
        if (before->out[o] >= 0)
            given[before->out[o]] = NULL;
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0)
            given[node->out[o]] = NULL;
    given[value] = had;
    reports[value] = (struct odb_value_report){0};
    enum odb_status status = odb_judge_segments(&b->judge, last, given, reports, err);
    bool replayed = reports[value].local_error.known || reports[value].local_noise.known;
    *answer = reports[value].culprit ? ODB_CONFIRMS : replayed ? ODB_CONTRADICTS : ODB_NOT_TESTABLE;
    free(reports);
    free(given);
    return status;
}

/* Runs the two and judges the value at their end. */
static enum odb_status neighbour_run(struct bisection *b, int first, int last, int value,
                                     enum odb_checked *answer, struct odb_error *err)
{
    char what[240];
    struct odb_tensor *output = NULL;
    struct odb_error why = ODB_ERROR_INIT;
    bool *nodes = odb_new_n(bool, b->graph->n_nodes);
    struct odb_probe probe = {
        .what = odb_probe_title(b->graph, "second cut:", first, last, what, sizeof what),
        .node = last,
        .nodes = nodes,
        .given = b->given,
        .values = &value,
        .n_values = 1,
        .outputs = &output,
        .judged = true};
    enum odb_status status = ODB_OK;
    nodes[first] = nodes[last] = true;
    *answer = ODB_NOT_TESTABLE;
    enum odb_status had = odb_probe_run(&b->prober, &probe, &why);
    if (had == ODB_CANCELLED) {
        *err = why;
        status = had;
    } else if (had == ODB_OK && output) {
        status = neighbour_judge(b, first, last, value, output, answer, err);
    }
    enum odb_verdict shown = *answer == ODB_CONFIRMS ? ODB_VERDICT_FAIL
                             : had == ODB_OK && *answer == ODB_NOT_TESTABLE
                                 ? ODB_VERDICT_UNTESTABLE
                                 : odb_probe_verdict(had);
    odb_probe_tell(&b->prober, &probe, shown, 0);
    odb_tensor_unref(output);
    free(nodes);
    return status;
}

enum odb_status bisection_ask_neighbour(struct bisection *b, struct odb_culprit *culprit,
                                        struct odb_error *err)
{
    int before = neighbour_before(b, culprit->node), value = culprit->value;
    int behind = before == ODB_NO_NODE ? neighbour_behind(b, value) : ODB_NO_NODE;
    enum odb_checked answer;
    if ((before == ODB_NO_NODE && behind == ODB_NO_NODE) || !neighbour_usable(b, culprit->node))
        return ODB_OK;
    culprit->neighbour = before == ODB_NO_NODE ? behind : before;
    if (before == ODB_NO_NODE)
        value = bisection_output_of(b, behind);
    ODB_TRY(neighbour_run(b, before == ODB_NO_NODE ? culprit->node : before,
                          before == ODB_NO_NODE ? behind : culprit->node, value, &answer, err));
    bool hides = before == ODB_NO_NODE && !odb_verdict_is_bad(b->report->values[value].verdict);
    culprit->checks[ODB_CHECK_NEIGHBOUR] =
        answer == ODB_CONTRADICTS && hides ? ODB_NOT_TESTABLE : answer;
    return ODB_OK;
}
