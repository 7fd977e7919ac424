/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With k values read beside the outputs, one run of the whole model cuts the suspects into k + 1
 * parts: the ancestors of a value that is good are cleared, and of those that are bad the ancestors
 * of the one that leaves fewest stay. So ceil(log n to the base k + 1) models tell n nodes apart,
 * where reading every value takes n / k and halving by prefixes log2 n. What was read in several
 * runs counts together, for each shows what the plain run shows.
 *
 * That a good value clears its ancestors is a guess, which takes few models: an error may go past
 * it, through a skip connection or the other half of the channels. So what is left is settled by
 * what holds: whatever leads to a wrong value by a way on which no value was read that passes is a
 * suspect. What the accused reads is read for that, and where it is wrong the search goes on there.
 *
 * Where the target stores integers, rounding alone puts values off. Those that it explains count
 * as good, which is an estimate; so the accused has to be wrong about what it was fed.
 */
#include "bisect/strategy/taps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/decided.h"
#include "bisect/node_dag.h"
#include "bisect/reading.h"
#include "bisect/repeat.h"
#include "bisect/alone/carried.h"
#include "bisect/strategy/hunt.h"
#include "bisect/strategy/probed.h"

struct taps {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    struct odb_dag dag;          /* owned */
    bool *suspects;              /* owned; [n_nodes] */
    bool *marks;                 /* owned; [n_values] what the next run reads */
    bool *asked;                 /* owned; [n_nodes] whose output was read, or cannot be */
    bool *tried;                 /* owned; [n_values] asked for as what the accused reads */
    bool *honest;                /* owned; [n_values] wrong as what their node was fed makes them */
    bool
        close; /* values within tolerance clear what is before them only where they hold no error */
    bool strict; /* rounding to stored integers excuses no value by an estimate */
    int sought;  /* the wrong output, or what else was met */
    int bad;     /* the wrong value that is settled; ODB_NO_VALUE: suspects are narrowed by guess */
    size_t runs;
    struct odb_error why; /* of a run that was refused */
};

/* What a node makes that can be read; ODB_NO_VALUE: nothing. */
static int taps_value(const struct taps *t, int node)
{
    const struct odb_node *n = &t->c->graph->nodes[node];
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0 && reading_wants(t->c, n->out[o]))
            return n->out[o];
    return ODB_NO_VALUE;
}

/* How many suspects stand before each suspect, itself included: its place among them. */
static size_t *taps_places(const struct taps *t)
{
    size_t n = t->dag.n, *places = odb_new_n(size_t, n + 1);
    bool *before = odb_new_n(bool, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!t->suspects[i])
            continue;
        memset(before, 0, n * sizeof *before);
        before[i] = true;
        odb_dag_close(&t->dag, before);
        for (size_t k = 0; k <= i; k++)
            places[i] += before[k] && t->suspects[k];
    }
    free(before);
    return places;
}

/* The suspect nearest to a place, among those that were not asked; -1: there is none. */
static int taps_nearest(const struct taps *t, const size_t *places, double place)
{
    int best = -1;
    double least = INFINITY;
    for (size_t i = 0; i < t->dag.n; i++) {
        double off = fabs((double)places[i] - place);
        if (!t->suspects[i] || t->asked[i] || off >= least || taps_value(t, (int)i) < 0)
            continue;
        best = (int)i;
        least = off;
    }
    return best;
}

/* What makes the wrong value reads these, and they were not read. */
static size_t taps_mark_inputs(struct taps *t, size_t most)
{
    const struct search_case *c = t->c;
    const struct odb_node *node = &c->graph->nodes[c->graph->values[t->bad].producer];
    size_t n = 0;
    for (size_t i = 0; i < odb_node_n_reads(node) && n < most; i++) {
        int v = odb_node_reads(node, i);
        if (v < 0 || t->tried[v] || t->f->values[v].verdict != ODB_VERDICT_UNTESTED ||
            c->graph->values[v].producer == ODB_NO_NODE || !reading_wants(c, v))
            continue;
        t->marks[v] = t->tried[v] = true;
        if (v == taps_value(t, c->graph->values[v].producer))
            t->asked[c->graph->values[v].producer] = true;
        n++;
    }
    return n;
}

/* Marks what the next run reads; false: no value tells more. */
static bool taps_choose(struct taps *t, size_t taps)
{
    const struct search_case *c = t->c;
    size_t left = odb_count_marks(t->suspects, t->dag.n), *places = taps_places(t);
    bool some = false;
    taps = ODB_MIN(taps, left);
    memset(t->marks, 0, c->graph->n_values * sizeof *t->marks);
    for (size_t o = 0; o < c->n_outputs; o++)
        t->marks[c->outputs[o]] = true;
    if (t->bad != ODB_NO_VALUE && left > 1) {
        size_t inputs = taps_mark_inputs(t, taps);
        some = inputs > 0;
        taps -= inputs;
    }
    for (size_t i = 1; i <= taps && left > 1; i++) {
        int node = taps_nearest(t, places, (double)(i * left) / (double)(taps + 1));
        if (node < 0)
            break;
        t->marks[taps_value(t, node)] = t->asked[node] = some = true;
    }
    free(places);
    return some;
}

/* Whether a value that was read is wrong: by more than what the target stores as integers carries
 * there, unless strictly; the one that is sought, in any case. */
static bool taps_wrong(const struct taps *t, int value)
{
    const struct odb_value_report *report = &t->f->values[value];
    if (!odb_verdict_is_bad(report->verdict) || t->honest[value])
        return false;
    return value == t->sought || t->strict || !decided_stores(t->f) ||
           !decided_allows(t->c, t->f, value, report);
}

/* Whether a value that was read clears what is before it. */
static bool taps_clears(const struct taps *t, int value)
{
    enum odb_verdict verdict = t->f->values[value].verdict;
    bool right =
        verdict == ODB_VERDICT_PASS || (odb_verdict_is_bad(verdict) && !taps_wrong(t, value));
    return right && (!t->close || carried_none(t->c, t->f, value));
}

/* What a node says by its value: an error that is gone after a node that is bad was masked, and
 * clears no node. */
static enum odb_answer taps_answer(const struct taps *t, int node, const bool *bad)
{
    bool *before = odb_new_n(bool, t->dag.n + 1), masks = false;
    if (taps_wrong(t, taps_value(t, node))) {
        free(before);
        return ODB_ANSWER_BAD;
    }
    before[node] = true;
    odb_dag_close(&t->dag, before);
    for (size_t i = 0; i < t->dag.n; i++)
        masks = masks || (before[i] && bad[i]);
    free(before);
    return masks || !taps_clears(t, taps_value(t, node)) ? ODB_ANSWER_UNTESTABLE : ODB_ANSWER_GOOD;
}

/* Suspects are the nodes that lead to the wrong value by a way without a value that passes; where
 * one of them makes a wrong value too, the first of those is the one. */
static void taps_settle(struct taps *t)
{
    const struct odb_graph *graph = t->c->graph;
    for (int next = t->bad; next != ODB_NO_VALUE;) {
        t->close = t->close && next == t->bad;
        t->bad = next;
        next = ODB_NO_VALUE;
        memset(t->suspects, 0, graph->n_nodes * sizeof *t->suspects);
        t->suspects[graph->values[t->bad].producer] = true;
        for (int n = graph->values[t->bad].producer; n >= 0; n--) {
            const struct odb_node *node = &graph->nodes[n];
            for (size_t i = 0; t->suspects[n] && i < odb_node_n_reads(node); i++) {
                int v = odb_node_reads(node, i);
                if (v < 0 || t->c->drawn[v] || graph->values[v].producer == ODB_NO_NODE ||
                    taps_clears(t, v))
                    continue;
                t->suspects[graph->values[v].producer] = true;
                if (taps_wrong(t, v) && (next == ODB_NO_VALUE ||
                                         graph->values[v].producer < graph->values[next].producer))
                    next = v;
            }
        }
    }
}

/* Takes what was read for what it says of the suspects. */
static void taps_narrow(struct taps *t)
{
    if (t->bad != ODB_NO_VALUE) {
        taps_settle(t);
        return;
    }
    size_t n = t->dag.n, count = 0;
    bool *bad = odb_new_n(bool, n + 1);
    int *nodes = odb_new_n(int, n);
    struct odb_evidence *evidence = odb_new_n(struct odb_evidence, n);
    for (size_t i = 0; i < n; i++) {
        int v = t->asked[i] ? taps_value(t, (int)i) : ODB_NO_VALUE;
        bad[i] = v >= 0 && taps_wrong(t, v);
    }
    for (size_t i = 0; i < n; i++) {
        if (!t->suspects[i] || !t->asked[i] || !t->marks[taps_value(t, (int)i)])
            continue;
        evidence[count].answer = taps_answer(t, (int)i, bad);
        nodes[count++] = (int)i;
    }
    odb_search_narrow(&t->dag, t->suspects, &(struct odb_cut){nodes, count}, evidence, false,
                      t->suspects);
    free(bad);
    free(nodes);
    free(evidence);
}

/* Nothing but the outputs was asked for. */
static void taps_asked_outputs(struct taps *t)
{
    for (size_t i = 0; i < t->dag.n; i++) {
        int v = taps_value(t, (int)i);
        t->asked[i] = v >= 0 && t->c->graph->values[v].is_output;
    }
}

/* The first run was refused: asks for fewer values. False: there are no fewer. */
static bool taps_fewer(struct taps *t)
{
    const struct search_case *c = t->c;
    if (t->runs || odb_probe_max_outputs(c->prober) <= READING_FEWEST ||
        READING_FEWEST <= c->n_outputs)
        return false;
    odb_probe_set_max_outputs(c->prober, READING_FEWEST);
    taps_asked_outputs(t);
    return true;
}

/* Runs until one suspect is left, no value tells more, or a run is refused or shows something else.
 * *read: every run could be had. */
static enum odb_status taps_search(struct taps *t, bool *read, struct odb_error *err)
{
    size_t taps;
    *read = true;
    while (*read && !t->f->hidden && (taps = reading_taps(t->c)) && taps_choose(t, taps)) {
        struct probed_read had;
        ODB_TRY(probed_read(t->c, t->f, t->marks, &had, err));
        t->why = had.why;
        if (had.had != ODB_OK && taps_fewer(t))
            continue;
        t->runs++;
        *read = had.had == ODB_OK;
        decided_refresh(t->c, t->f);
        if (had.had == ODB_OK && had.reproduces)
            taps_narrow(t);
        findings_left(t->f, t->suspects);
        if (had.had == ODB_OK && !had.reproduces)
            probed_observed(t->f, false, false);
    }
    return t->f->hidden ? repeat_doubt(t->c, t->f, err) : ODB_OK; /* or is it chance? */
}

/* The node that is left; ODB_NO_NODE: there are several. */
static int taps_left(const struct taps *t)
{
    bool one = odb_count_marks(t->suspects, t->dag.n) == 1;
    return one ? (int)odb_first_mark(t->suspects, t->dag.n) : ODB_NO_NODE;
}

/* Likewise, where it is right about what it was fed; ODB_NO_NODE: it is not. */
static int taps_carrier(const struct taps *t)
{
    int node = taps_left(t);
    return node != ODB_NO_NODE && carried_replay(t->c, t->f, node) == CARRIED_RIGHT ? node
                                                                                    : ODB_NO_NODE;
}

/* The one that is left carries an error that values within tolerance hold: looks among what is
 * before it for a wrong value, by values that hold none, and goes on there as before. */
static enum odb_status taps_look_closer(struct taps *t, bool *read, struct odb_error *err)
{
    for (int carrier = taps_carrier(t); carrier != ODB_NO_NODE && *read;) {
        int bad = t->bad;
        t->close = true;
        taps_settle(t);
        ODB_TRY(taps_search(t, read, err));
        carrier = t->bad == bad ? ODB_NO_NODE : taps_carrier(t);
        if (t->bad == bad)
            carried_from(t->c, t->f, t->c->graph->values[bad].producer, t->suspects);
    }
    return ODB_OK;
}

/* Whether what is left may be accused. Where the target stores integers, how far a value may be off
 * is an estimate, and the node that is left has to be wrong about what it was fed. */
static bool taps_proves(const struct taps *t)
{
    int node = taps_left(t);
    return !decided_stores(t->f) ||
           (node != ODB_NO_NODE && carried_replay(t->c, t->f, node) == CARRIED_WRONG);
}

/* The first wrong value that was read, of those that lead to the one that is sought; that one,
 * where there is none. */
static int taps_first_wrong(const struct taps *t)
{
    const struct odb_graph *graph = t->c->graph;
    bool *up = odb_new_n(bool, graph->n_nodes + 1);
    int first = t->sought;
    odb_graph_ancestors(graph, &t->sought, 1, t->c->drawn, up);
    for (size_t v = 0; v < graph->n_values; v++) {
        int maker = graph->values[v].producer;
        if (maker != ODB_NO_NODE && up[maker] && maker < graph->values[first].producer &&
            taps_wrong(t, (int)v))
            first = (int)v;
    }
    free(up);
    return first;
}

/* The wrong value that was settled proves nothing: it counts as honest from now on. False: it is
 * the one that is sought, and no other is wrong. */
static bool taps_pass_over(struct taps *t)
{
    int node = taps_left(t);
    const struct odb_node *of = node == ODB_NO_NODE ? NULL : &t->c->graph->nodes[node];
    t->honest[t->bad] = t->bad != t->sought;
    for (int o = 0; of && o < of->n_out; o++)
        if (of->out[o] >= 0 && of->out[o] != t->sought)
            t->honest[of->out[o]] = true;
    t->bad = taps_first_wrong(t);
    return t->bad != t->sought;
}

static bool taps_goes_on(const struct taps *t, bool read)
{
    return read && !t->f->hidden && decided_stores(t->f) && !taps_proves(t);
}

/* Settles the value that is sought, and where the target stores integers the other wrong ones after
 * it, from the first on, until a node is wrong about what it was fed. */
static enum odb_status taps_settle_each(struct taps *t, bool *read, struct odb_error *err)
{
    t->bad = t->sought;
    do {
        taps_settle(t);
        ODB_TRY(taps_search(t, read, err));
    } while (taps_goes_on(t, *read) && taps_pass_over(t));
    return ODB_OK;
}

static enum odb_status taps_settle_all(struct taps *t, bool *read, struct odb_error *err)
{
    ODB_TRY(taps_settle_each(t, read, err));
    if (*read && !t->f->hidden && !decided_stores(t->f))
        return taps_look_closer(t, read, err);
    if (!taps_goes_on(t, *read))
        return ODB_OK;
    t->strict = true;
    memset(t->honest, 0, t->c->graph->n_values * sizeof *t->honest);
    return taps_settle_each(t, read, err);
}

/* Takes what the plain run said of the outputs. */
static void taps_take_outputs(struct taps *t)
{
    const struct search_case *c = t->c;
    taps_asked_outputs(t);
    memset(t->marks, 0, c->graph->n_values * sizeof *t->marks);
    for (size_t o = 0; o < c->n_outputs; o++)
        t->marks[c->outputs[o]] = true;
    taps_narrow(t);
}

/* Its models may have outputs, and no values beside them. */
static void taps_give_up(const struct taps *t)
{
    odb_probe_set_max_outputs(t->c->prober, t->c->n_outputs);
    findings_warn(t->f,
                  "the run with all values probed cannot be had, nor with fewer at a time, so "
                  "faults that no output shows are not seen: %.300s",
                  t->why.what);
}

enum odb_status taps_hunt(const struct search_case *c, struct findings *f, int value,
                          struct odb_error *err)
{
    size_t n = c->graph->n_nodes;
    struct taps t = {.c = c,
                     .f = f,
                     .dag = odb_dag_of(c->graph, c->drawn),
                     .suspects = odb_new_n(bool, n + 1),
                     .marks = odb_new_n(bool, c->graph->n_values + 1),
                     .asked = odb_new_n(bool, n + 1),
                     .tried = odb_new_n(bool, c->graph->n_values + 1),
                     .honest = odb_new_n(bool, c->graph->n_values + 1),
                     .sought = value,
                     .bad = ODB_NO_VALUE};
    bool read;
    odb_graph_ancestors(c->graph, &value, 1, c->drawn, t.suspects);
    taps_take_outputs(&t);
    findings_left(f, t.suspects);
    findings_step_begin(f, "values a few at a time");
    enum odb_status status = taps_search(&t, &read, err);
    if (status == ODB_OK && read && !f->hidden)
        status = taps_settle_all(&t, &read, err);
    if (read)
        findings_step_end(f, "taps", "%zu run%s with values read for %.100s%s", t.runs,
                          odb_plural(t.runs), c->graph->values[value].name,
                          f->hidden ? "; the last does not show what the plain run shows" : "");
    else
        findings_step_end(f, "taps", "refused: %.200s", t.why.what);
    if (status == ODB_OK && read && !f->hidden && taps_proves(&t))
        status = hunt_accuse_left(c, f, t.bad, t.suspects, NULL, true, err);
    else if (status == ODB_OK && !read)
        taps_give_up(&t);
    odb_dag_dispose(&t.dag);
    free(t.suspects);
    free(t.marks);
    free(t.asked);
    free(t.tried);
    free(t.honest);
    return status;
}
