/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Does the target repeat itself? Whoever races is asked more often, so that there are votes; and
 * two runs with every value read, compared bit by bit, show the first node that made other bits of
 * the same ones.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "engine/evidence.h"

#define REPEAT_RUNS 2
#define REPEAT_RUNS_OF_RACERS 5

static struct odb_repeated *repeat_of(struct bisection *b, size_t output)
{
    struct odb_repeats *repeats = &b->report->repeats;
    for (size_t i = 0; i < repeats->outputs.n; i++)
        if (repeats->outputs.items[i].value == b->outputs[output])
            return &repeats->outputs.items[i];
    return NULL;
}

/* Counts the verdict of one more run; an output has an entry from the first difference on. */
static enum odb_status repeat_count(struct bisection *b, struct odb_tensor *const *again,
                                    enum odb_verdict *shown, struct odb_error *err)
{
    for (size_t o = 0; o < b->n_outputs; o++) {
        struct odb_value_report report = b->verdicts[o];
        struct odb_repeated *entry = repeat_of(b, o);
        bool differs = again[o] && b->plain[o] && !odb_tensor_identical(again[o], b->plain[o]);
        if (differs && !entry) {
            struct odb_repeated fresh = {.value = b->outputs[o]};
            fresh.votes[b->verdicts[o].verdict] = b->report->repeats.runs;
            odb_push(&b->report->repeats.outputs, fresh);
            entry = repeat_of(b, o);
        }
        if (differs) {
            struct odb_gap gap;
            report = (struct odb_value_report){0};
            ODB_TRY(odb_judge_value(&b->judge, b->outputs[o], again[o], &report, err));
            odb_gap_measure(&gap, again[o], b->plain[o]);
            entry->spread = fmax(entry->spread, gap.comparable ? gap.error : INFINITY);
        }
        if (entry)
            entry->votes[report.verdict]++;
        odb_probe_shows(shown, report.verdict);
    }
    b->report->repeats.runs++;
    b->report->repeats.differ = b->report->repeats.outputs.n > 0;
    return ODB_OK;
}

/* One more run of what is loaded; *ran: it came to its end. */
static enum odb_status repeat_once(struct bisection *b, bool *ran, struct odb_error *err)
{
    struct odb_tensor **again = odb_new_n(struct odb_tensor *, b->n_outputs);
    struct odb_probe probe = bisection_plain_probe(b, "the whole model again", again);
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = odb_probe_again(&b->prober, &probe, &why);
    enum odb_verdict shown = odb_probe_verdict(status);
    *ran = status == ODB_OK;
    if (status == ODB_CANCELLED) {
        *err = why;
    } else if (status != ODB_OK) {
        odb_report_warn(b->report, "the target ran %s and failed the next time: %.300s",
                        b->report->repeats.runs == 1 ? "once" : "some times", why.what);
        status = ODB_OK;
    } else {
        status = repeat_count(b, again, &shown, err);
    }
    odb_probe_tell(&b->prober, &probe, shown, 0);
    odb_probe_drop(&b->prober, &probe);
    free(again);
    return status;
}

/* --- who began it ----------------------------------------------------------------------------- */

/* The first node that made other bits of equal ones. */
static int repeat_first(const struct bisection *b, const int *list, size_t n,
                        struct odb_tensor *const *one, struct odb_tensor *const *two)
{
    bool *differs = odb_new_n(bool, b->graph->n_values);
    int first = ODB_NO_NODE;
    for (size_t i = 0; i < n; i++)
        differs[list[i]] = one[i] && two[i] && !odb_tensor_identical(one[i], two[i]);
    for (size_t i = 0; i < b->graph->n_nodes && first == ODB_NO_NODE; i++) {
        const struct odb_node *node = &b->graph->nodes[i];
        bool inherits = false, gives = false;
        for (int k = 0; k < node->n_in; k++)
            inherits |= node->in[k] >= 0 && differs[node->in[k]];
        for (int o = 0; o < node->n_out; o++)
            gives |= node->out[o] >= 0 && differs[node->out[o]];
        if (gives && !inherits)
            first = (int)i;
    }
    free(differs);
    return first;
}

size_t bisection_probed_list(const struct bisection *b, int *list)
{
    size_t n = 0;
    for (size_t v = 0; v < b->graph->n_values; v++)
        if (odb_probe_wants(b->graph, b->trace, (int)v) &&
            (b->trace->ref[v] || b->graph->values[v].is_output))
            list[n++] = (int)v;
    return n;
}

/* Two runs with every value read. What they cannot tell stays unknown. */
static enum odb_status repeat_look(struct bisection *b, struct odb_error *err)
{
    int *list = odb_new_n(int, b->graph->n_values);
    size_t n = bisection_probed_list(b, list);
    struct odb_tensor **one = odb_new_n(struct odb_tensor *, n);
    struct odb_tensor **two = odb_new_n(struct odb_tensor *, n);
    struct odb_probe probe = {.asked = ODB_ASKED_TWICE,
                              .what = "all values probed, twice",
                              .node = ODB_NO_NODE,
                              .values = list,
                              .n_values = n,
                              .outputs = one};
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = odb_probe_run(&b->prober, &probe, &why);
    for (int run = 1; run < REPEAT_RUNS_OF_RACERS && status == ODB_OK; run++) {
        probe.outputs = two;
        status = odb_probe_again(&b->prober, &probe, &why);
        if (status == ODB_OK)
            b->report->repeats.first_node = repeat_first(b, list, n, one, two);
        odb_probe_drop(&b->prober, &probe);
        if (b->report->repeats.first_node != ODB_NO_NODE)
            break;
    }
    probe.outputs = one;
    odb_probe_drop(&b->prober, &probe);
    free(one);
    free(two);
    free(list);
    if (status == ODB_CANCELLED && err)
        *err = why;
    return status == ODB_CANCELLED ? status : ODB_OK;
}

static bool repeat_flips(const struct odb_repeated *output)
{
    size_t kinds = 0;
    for (int v = 0; v < ODB_VERDICT_COUNT; v++)
        kinds += output->votes[v] > 0;
    return kinds > 1;
}

/* What flips need not have been wrong in the run that was judged. */
static bool repeat_reaches(const struct bisection *b, int node, int output)
{
    bool *up = odb_new_n(bool, b->graph->n_nodes);
    odb_graph_ancestors(b->graph, &output, 1, NULL, up);
    bool reaches = up[node];
    free(up);
    return reaches;
}

/* Warns of outputs that differ; accuses whoever began where a verdict flips. */
static void repeat_conclude(struct bisection *b)
{
    const struct odb_repeats *repeats = &b->report->repeats;
    int first = repeats->first_node;
    for (size_t i = 0; i < repeats->outputs.n; i++) {
        const struct odb_repeated *output = &repeats->outputs.items[i];
        odb_report_warn(b->report,
                        "equal runs differ at output %s, by %.3g: less than that means "
                        "nothing there",
                        b->graph->values[output->value].name, output->spread);
        b->unsteady = b->unsteady || repeat_flips(output);
        if (!repeat_flips(output) || bisection_explains(b, output->value))
            continue;
        int node = first == ODB_NO_NODE ? b->graph->values[output->value].producer : first;
        int value = first == ODB_NO_NODE ? output->value : bisection_output_of(b, first);
        bisection_accuse(b, node, value, ODB_KIND_NONDETERMINISTIC)->reaches_output =
            repeat_reaches(b, node, output->value);
    }
}

enum odb_status bisection_repeat(struct bisection *b, struct odb_error *err)
{
    size_t want = b->options->repeat ? (size_t)b->options->repeat : REPEAT_RUNS;
    bool ran = true;
    b->report->repeats.runs = 1;
    bisection_phase(b, "plain run 2", 0);
    while (ran && b->report->repeats.runs < want) {
        ODB_TRY(repeat_once(b, &ran, err));
        if (b->report->repeats.differ && !b->options->repeat)
            want = REPEAT_RUNS_OF_RACERS;
    }
    if (!b->report->repeats.differ)
        return ODB_OK;
    ODB_TRY(repeat_look(b, err));
    repeat_conclude(b);
    return ODB_OK;
}
