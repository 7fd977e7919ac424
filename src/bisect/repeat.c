/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Does the target repeat itself? The model runs as often as a tenth of the search's time allows:
 * what goes wrong once in three runs is missed by two. A node that races is asked more often, so
 * that there are votes; and two runs with every value read, compared bit by bit, show the first
 * node that made other bits of the same ones. A first run that differs from all later ones, which
 * are alike, is no race: something is kept between runs.
 *
 * Before anything is said that rests on one run being unlike another (what only the whole model
 * does, what reading changes), the model runs once more as often (repeat_doubt()).
 */
#include "bisect/repeat.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bisect/reading.h"
#include "probe/ahead.h"
#include "report/report.h"
#include "bisect/search_case.h"
#include "reference/trace.h"
#include "run/value_report.h"

#define REPEAT_RUNS 2
#define REPEAT_RUNS_OF_RACERS 5
#define REPEAT_CHEAP 0.1 /* seconds of a run */
#define REPEAT_LOOKS 12  /* of those that have other bits: runs with every value read */

/* What is remembered of the runs. */
struct repeat_state {
    struct odb_tensor **second; /* owned refs; [n_second] by output: the first repetition */
    size_t n_second;
    double seconds; /* spent on repetitions */
    double run;     /* what the last of them took */
    bool late;      /* repeat_late(): other models were loaded since the first run */
    bool doubted;   /* repeat_doubt() has run */
    bool looked;    /* repeat_by_chance() has made its runs */
    bool unsteady;  /* of two equal runs one was wrong, and the other was not */
};

static struct repeat_state *repeat_state(struct findings *f)
{
    if (!f->kept->repeats)
        f->kept->repeats = odb_new(struct repeat_state);
    return f->kept->repeats;
}

static void repeat_drop_second(struct repeat_state *state)
{
    for (size_t o = 0; o < state->n_second; o++)
        odb_tensor_unref(state->second[o]);
    free(state->second);
}

void repeat_dispose(struct findings *f)
{
    if (f->kept->repeats)
        repeat_drop_second(f->kept->repeats);
    free(f->kept->repeats);
    f->kept->repeats = NULL;
}

bool repeat_unsteady(const struct findings *f)
{
    return f->kept->repeats && f->kept->repeats->unsteady;
}

void repeat_was_unsteady(struct findings *f)
{
    repeat_state(f)->unsteady = true;
}

static struct odb_repeated *repeat_of(const struct search_case *c, struct findings *f,
                                      size_t output)
{
    struct odb_repeats *repeats = findings_repeats(f);
    for (size_t i = 0; i < repeats->outputs.n; i++)
        if (repeats->outputs.items[i].value == c->outputs[output])
            return &repeats->outputs.items[i];
    return NULL;
}

/* Counts the verdict of one more run; an output has an entry from the first difference on. */
static enum odb_status repeat_count(const struct search_case *c, struct findings *f,
                                    struct odb_tensor *const *again, enum odb_verdict *shown,
                                    struct odb_error *err)
{
    for (size_t o = 0; o < c->n_outputs; o++) {
        struct odb_value_report report = f->verdicts[o];
        struct odb_repeated *entry = repeat_of(c, f, o);
        bool differs = again[o] && f->plain[o] && !odb_tensor_identical(again[o], f->plain[o]);
        if (differs && !entry) {
            struct odb_repeated fresh = {.value = c->outputs[o]};
            fresh.votes[f->verdicts[o].verdict] = f->report->repeats.runs;
            odb_push(&findings_repeats(f)->outputs, fresh);
            entry = repeat_of(c, f, o);
        }
        if (differs) {
            struct odb_gap gap;
            report = (struct odb_value_report){0};
            ODB_TRY(odb_judge_value(&c->judge, c->outputs[o], again[o], &report, err));
            odb_gap_measure(&gap, again[o], f->plain[o]);
            entry->spread = fmax(entry->spread, gap.comparable ? gap.error : INFINITY);
        }
        if (entry)
            entry->votes[report.verdict]++;
        odb_probe_shows(shown, report.verdict);
    }
    struct odb_repeats *repeats = findings_repeats(f);
    repeats->runs++;
    repeats->differ = repeats->outputs.n > 0;
    return ODB_OK;
}

static bool repeat_same(const struct search_case *c, struct odb_tensor *const *one,
                        struct odb_tensor *const *other)
{
    for (size_t o = 0; o < c->n_outputs; o++)
        if (!one[o] != !other[o] || (one[o] && !odb_tensor_identical(one[o], other[o])))
            return false;
    return true;
}

/* The second run is kept, and later ones are held against it as against the first. */
static void repeat_follow(const struct search_case *c, struct findings *f,
                          struct odb_tensor *const *again)
{
    struct odb_repeats *repeats = findings_repeats(f);
    struct repeat_state *state = repeat_state(f);
    if (state->n_second < c->n_outputs) {
        repeat_drop_second(state);
        state->second = odb_new_n(struct odb_tensor *, c->n_outputs);
        state->n_second = c->n_outputs;
    }
    if (repeats->runs == 2)
        for (size_t o = 0; o < c->n_outputs; o++) {
            odb_tensor_unref(state->second[o]);
            state->second[o] = odb_tensor_ref(again[o]);
        }
    repeats->later_alike = repeats->runs == 2
                               ? !repeat_same(c, f->plain, again)
                               : repeats->later_alike && repeat_same(c, state->second, again);
}

/* A run that failed, of a model that has run: a target that dies of it is no honest one, and where
 * a run is refused, what it would have shown is unknown. */
static void repeat_failed(struct findings *f, enum odb_verdict shown, struct odb_error *why)
{
    struct odb_repeats *repeats = findings_repeats(f);
    if (odb_verdict_is_bad(repeats->died))
        return; /* it is known */
    findings_warn(f, "the target ran the model %zu time%s and failed the next time: %.300s",
                  repeats->runs, repeats->runs == 1 ? "" : "s", why->what);
    if (odb_verdict_is_bad(shown)) {
        repeats->died = shown;
        return;
    }
    if (odb_probe_refused(why->code)) /* which is no property of a model that has run */
        why->code = ODB_E_EXECUTOR;
    findings_undecide(f, ODB_UNDECIDED_REPEAT, why);
}

/* One more run of what is loaded, or of the model loaded once more; *ran: it came to its end. */
static enum odb_status repeat_once(const struct search_case *c, struct findings *f, bool anew,
                                   bool *ran, struct odb_error *err)
{
    struct odb_tensor **again = odb_new_n(struct odb_tensor *, c->n_outputs);
    struct odb_probe probe = reading_plain(c, f, "the whole model again", again);
    struct odb_error why = ODB_ERROR_INIT;
    struct findings_mark start = findings_mark(f);
    probe.aside = f->report->repeats.runs > 1 && !c->options->repeat;
    probe.beside = !anew && repeat_state(f)->late;
    enum odb_status status =
        anew ? odb_probe_run(c->prober, &probe, &why) : odb_probe_again(c->prober, &probe, &why);
    enum odb_verdict shown = odb_probe_verdict(status);
    *ran = status == ODB_OK;
    if (status == ODB_CANCELLED) {
        *err = why;
    } else if (status != ODB_OK) {
        repeat_failed(f, shown, &why);
        status = ODB_OK;
    } else {
        status = repeat_count(c, f, again, &shown, err);
        if (anew)
            findings_repeats(f)->begins_anew |= repeat_same(c, f->plain, again);
        else if (status == ODB_OK)
            repeat_follow(c, f, again);
    }
    struct repeat_state *state = repeat_state(f);
    double took = fmax(odb_clock() - start.at.seconds, probe.seconds); /* or it was asked ahead */
    state->run = anew ? state->run : took;
    state->seconds += took;
    findings_spent_apart(f, "repeat", start);
    odb_probe_tell(c->prober, &probe, shown, 0);
    odb_probe_drop(c->prober, &probe);
    free(again);
    return status;
}

/* --- which node began it ---------------------------------------------------------------------- */

/* The first node that made other bits of equal ones. */
static int repeat_first(const struct search_case *c, const int *list, size_t n,
                        struct odb_tensor *const *one, struct odb_tensor *const *two)
{
    bool *differs = odb_new_n(bool, c->graph->n_values);
    int first = ODB_NO_NODE;
    for (size_t i = 0; i < n; i++)
        differs[list[i]] = one[i] && two[i] && !odb_tensor_identical(one[i], two[i]);
    for (size_t i = 0; i < c->graph->n_nodes && first == ODB_NO_NODE; i++) {
        const struct odb_node *node = &c->graph->nodes[i];
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

/* What the outputs of a run with every value read show. */
static enum odb_status repeat_shown(const struct search_case *c, const int *list, size_t n,
                                    struct odb_tensor *const *outputs, enum odb_verdict *shown,
                                    struct odb_error *err)
{
    struct odb_judge judge = {c->trace, &c->options->tolerance, NULL};
    *shown = ODB_VERDICT_PASS;
    for (size_t i = 0; i < n; i++) {
        struct odb_value_report report = {0};
        if (!c->graph->values[list[i]].is_output || !outputs[i])
            continue;
        ODB_TRY(odb_judge_value(&judge, list[i], outputs[i], &report, err));
        odb_probe_shows(shown, report.verdict);
    }
    return ODB_OK;
}

static int repeat_looks(const struct repeat_state *state)
{
    return state->run <= REPEAT_CHEAP ? REPEAT_LOOKS : REPEAT_RUNS_OF_RACERS;
}

/* Two runs with every value read, or some more. What they cannot tell stays unknown. *flips: one
 * was wrong, and another was not. */
static enum odb_status repeat_look(const struct search_case *c, struct findings *f, bool *flips,
                                   struct odb_error *err)
{
    enum odb_verdict first, later;
    int *list = odb_new_n(int, c->graph->n_values);
    size_t n = reading_list(c, list);
    struct odb_tensor **one = odb_new_n(struct odb_tensor *, n);
    struct odb_tensor **two = odb_new_n(struct odb_tensor *, n);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_TWICE,
                              .what = "all values probed, twice",
                              .node = ODB_NO_NODE,
                              .values = list,
                              .n_values = n,
                              .outputs = one};
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = odb_probe_run(c->prober, &probe, &why);
    *flips = false;
    if (status == ODB_OK)
        status = repeat_shown(c, list, n, one, &first, &why);
    for (int run = 1; run < repeat_looks(repeat_state(f)) && status == ODB_OK; run++) {
        probe.outputs = two;
        status = odb_probe_again(c->prober, &probe, &why);
        if (status == ODB_OK) {
            findings_repeats(f)->first_node = repeat_first(c, list, n, one, two);
            status = repeat_shown(c, list, n, two, &later, &why);
            *flips |= later != first;
        }
        odb_probe_drop(c->prober, &probe);
        if (f->report->repeats.first_node != ODB_NO_NODE)
            break;
    }
    probe.outputs = one;
    odb_probe_drop(c->prober, &probe);
    free(one);
    free(two);
    free(list);
    if (status == ODB_CANCELLED && err)
        *err = why;
    return status == ODB_CANCELLED ? status : ODB_OK;
}

static bool repeat_is_racer(const struct findings *f, int node, int value)
{
    for (size_t i = 0; i < f->report->culprits.n; i++) {
        const struct odb_culprit *culprit = &f->report->culprits.items[i];
        if (culprit->kind == ODB_KIND_NONDETERMINISTIC &&
            (culprit->node == node || culprit->value == value))
            return true;
    }
    return false;
}

static bool repeat_flips(const struct odb_repeated *output)
{
    size_t kinds = 0;
    for (int v = 0; v < ODB_VERDICT_COUNT; v++)
        kinds += output->votes[v] > 0;
    return kinds > 1;
}

/* What flips need not have been wrong in the run that was judged. */
static bool repeat_reaches(const struct search_case *c, int node, int output)
{
    bool *up = odb_new_n(bool, c->graph->n_nodes);
    odb_graph_ancestors(c->graph, &output, 1, NULL, up);
    bool reaches = up[node];
    free(up);
    return reaches;
}

bool repeat_flips_behind(const struct search_case *c, const struct findings *f, int node)
{
    const struct odb_repeats *repeats = &f->report->repeats;
    for (size_t i = 0; i < repeats->outputs.n; i++)
        if (repeat_reaches(c, node, repeats->outputs.items[i].value))
            return true;
    return false;
}

bool repeat_races_before(const struct search_case *c, const struct findings *f, int node)
{
    int value = case_output_of(c, node);
    bool *up = odb_new_n(bool, c->graph->n_nodes), races = false;
    if (value >= 0)
        odb_graph_ancestors(c->graph, &value, 1, NULL, up);
    up[node] = true;
    for (size_t i = 0; i < f->report->culprits.n; i++)
        races |= f->report->culprits.items[i].kind == ODB_KIND_NONDETERMINISTIC &&
                 up[f->report->culprits.items[i].node];
    free(up);
    return races;
}

/* Warns of outputs that differ; accuses the node that began where a verdict flips. */
static void repeat_conclude(const struct search_case *c, struct findings *f)
{
    const struct odb_repeats *repeats = &f->report->repeats;
    int first = repeats->first_node;
    for (size_t i = 0; i < repeats->outputs.n; i++) {
        const struct odb_repeated *output = &repeats->outputs.items[i];
        findings_warn(f,
                      "equal runs differ at output %s, by %.3g: less than that means "
                      "nothing there",
                      c->graph->values[output->value].name, output->spread);
        if (repeat_flips(output))
            repeat_was_unsteady(f);
        int node = first == ODB_NO_NODE ? c->graph->values[output->value].producer : first;
        int value = first == ODB_NO_NODE ? output->value : case_output_of(c, first);
        if (!repeat_flips(output) || repeat_is_racer(f, node, value))
            continue;
        findings_accuse(f, node, value, ODB_KIND_NONDETERMINISTIC)->reaches_output =
            repeat_reaches(c, node, output->value);
    }
}

/* Runs were found to differ: where does it begin, and what is kept? */
static enum odb_status repeat_explain(const struct search_case *c, struct findings *f,
                                      struct odb_error *err)
{
    struct odb_repeats *repeats = findings_repeats(f);
    bool ran, flips;
    repeats->later_alike = repeats->later_alike && repeats->runs > 2;
    if (repeats->later_alike)
        ODB_TRY(repeat_once(c, f, true, &ran, err));
    ODB_TRY(repeat_look(c, f, &flips, err));
    repeat_conclude(c, f);
    return ODB_OK;
}

enum odb_status repeat_runs(const struct search_case *c, struct findings *f, struct odb_error *err)
{
    struct odb_repeats *repeats = findings_repeats(f);
    size_t want = c->options->repeat ? (size_t)c->options->repeat : REPEAT_RUNS;
    bool ran = true;
    repeats->runs = 1;
    findings_phase(f, "plain run 2", 0);
    while (ran && repeats->runs < want) {
        ODB_TRY(repeat_once(c, f, false, &ran, err));
        if (repeats->runs == 2 && !c->options->repeat) {
            size_t known = odb_probe_known_again(c->prober);
            double so_far = odb_clock() - c->start.seconds + c->trace->made.seconds;
            size_t ahead = odb_ahead_again(c->prober->ahead);
            want = known               ? known + 1
                   : ahead != SIZE_MAX ? repeats->runs + ahead
                                       : odb_ahead_fits(repeat_state(f)->run, so_far);
        }
        if (repeats->differ && !c->options->repeat)
            want = ODB_MAX(want, (size_t)REPEAT_RUNS_OF_RACERS);
    }
    return repeats->differ ? repeat_explain(c, f, err) : ODB_OK;
}

enum odb_status repeat_late(const struct search_case *c, struct findings *f, struct odb_error *err)
{
    struct repeat_state *state = repeat_state(f);
    if (!f->kept->repeats_wait)
        return ODB_OK;
    f->kept->repeats_wait = false;
    findings_step_begin(f, "plain run 2");
    state->late = true;
    enum odb_status status = repeat_runs(c, f, err);
    state->late = false;
    findings_step_end(f, "repeat", "the model as it is, %zu time%s: does it repeat?",
                      f->report->repeats.runs, odb_plural(f->report->repeats.runs));
    return status;
}

static bool repeat_knows_racer(const struct findings *f)
{
    for (size_t i = 0; i < f->report->culprits.n; i++)
        if (f->report->culprits.items[i].kind == ODB_KIND_NONDETERMINISTIC)
            return true;
    return false;
}

/* Looks once which node makes other bits of equal ones, where one run can read every value. */
static enum odb_status repeat_look_once(const struct search_case *c, struct findings *f,
                                        struct odb_error *err)
{
    struct odb_repeats *repeats = findings_repeats(f);
    size_t bytes;
    bool flips;
    struct repeat_state *state = repeat_state(f);
    if (state->looked || reading_batches(c, f, &bytes) != 1)
        return ODB_OK;
    state->looked = true;
    struct findings_pause outer = findings_step_pause(f);
    findings_step_begin(f, "who differs");
    const struct search_case *as_it_is = c->unpinned ? c->unpinned : c;
    enum odb_status status = repeat_look(as_it_is, f, &flips, err);
    if (repeats->first_node != ODB_NO_NODE) {
        repeats->differ = true;
        findings_accuse(f, repeats->first_node, case_output_of(c, repeats->first_node),
                        ODB_KIND_NONDETERMINISTIC);
    }
    findings_step_end(f, "differs",
                      "a question had two answers: who makes other bits of the "
                      "same ones?");
    findings_step_resume(f, outer);
    return status;
}

enum odb_status repeat_by_chance(const struct search_case *c, struct findings *f, int node,
                                 bool *chance, struct odb_error *err)
{
    *chance = repeat_races_before(c, f, node);
    if (*chance || !repeat_unsteady(f) || repeat_knows_racer(f))
        return ODB_OK;
    ODB_TRY(repeat_look_once(c, f, err));
    *chance = repeat_races_before(c, f, node) || !repeat_knows_racer(f);
    return ODB_OK;
}

enum odb_status repeat_doubt(const struct search_case *c, struct findings *f, struct odb_error *err)
{
    struct odb_repeats *repeats = findings_repeats(f);
    bool ran = true, flips = false;
    struct repeat_state *state = repeat_state(f);
    ODB_TRY(repeat_late(c, f, err));
    if (state->doubted || state->unsteady || c->options->repeat || c->pinned)
        return ODB_OK;
    state->doubted = true;
    struct findings_pause outer = findings_step_pause(f);
    findings_step_begin(f, "plain runs again");
    double spent = state->seconds;
    size_t before = repeats->runs;
    bool differed = repeats->differ;
    size_t want = before + odb_ahead_fits(state->run,
                                          odb_clock() - c->start.seconds - spent / ODB_AHEAD_SHARE);
    ODB_TRY(repeat_once(c, f, true, &ran, err));
    while (ran && repeats->runs < want && !(repeats->differ && !differed))
        ODB_TRY(repeat_once(c, f, false, &ran, err));
    bool found = repeats->differ && !differed;
    if (found)
        ODB_TRY(repeat_explain(c, f, err));
    else if (f->hidden && repeats->first_node == ODB_NO_NODE)
        ODB_TRY(repeat_look(c, f, &flips, err));
    if (flips && repeats->first_node != ODB_NO_NODE) {
        repeats->differ = state->unsteady = true;
        findings_accuse(f, repeats->first_node, case_output_of(c, repeats->first_node),
                        ODB_KIND_NONDETERMINISTIC)
            ->reaches_output = true;
    }
    findings_step_end(f, "doubt", "the model as it is, %zu time%s more: does it repeat?",
                      repeats->runs - before, odb_plural(repeats->runs - before));
    findings_step_resume(f, outer);
    return ODB_OK;
}
