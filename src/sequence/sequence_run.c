/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/sequence_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sequence/forced.h"
#include "sequence/free_run.h"

#define SEQUENCE_ANYTHING 1.0 /* noise, relative to rms, beyond which an output is anything */

static const struct {
    const char *word;
    bool diverges, searched;
} sequence_rows[] = {
#define SEQUENCE_ROW(name, word, diverges, searched)                                               \
    [ODB_SEQUENCE_##name] = {word, diverges, searched},
    ODB_SEQUENCE_LIST(SEQUENCE_ROW)
#undef SEQUENCE_ROW
};

const char *odb_sequence_word(enum odb_sequence_verdict verdict)
{
    return sequence_rows[verdict].word;
}

bool odb_sequence_diverges(enum odb_sequence_verdict verdict)
{
    return sequence_rows[verdict].diverges;
}

bool odb_sequence_searches(enum odb_sequence_verdict verdict)
{
    return sequence_rows[verdict].searched;
}

/* --- the model against itself ----------------------------------------------------------------- */

static void sequence_begin(struct odb_sequence *s)
{
    size_t n_out = s->plan->model->graph->n_outputs;
    s->seen = odb_new_n(struct odb_sequence_seen, s->plan->steps + 1);
    for (size_t k = 0; k < s->plan->steps; k++) {
        s->seen[k].envelope = NAN;
        s->seen[k].outputs = odb_new_n(struct odb_step_output, n_out + 1);
        for (size_t o = 0; o < n_out; o++)
            s->seen[k].outputs[o] = (struct odb_step_output){.verdict = ODB_VERDICT_UNTESTED,
                                                             .error = NAN,
                                                             .noise = NAN,
                                                             .apart = NAN,
                                                             .mean = NAN,
                                                             .power = NAN,
                                                             .noise_power = NAN,
                                                             .free_power = NAN,
                                                             .free = NAN};
    }
}

static void sequence_sources(struct odb_sequence *s)
{
    char text[64];
    for (size_t k = 0; k < s->plan->steps; k++)
        odb_push(&s->forced.items, (struct odb_sample){.source = odb_xstrdup(odb_plan_step_text(
                                                           s->plan, k, text, sizeof text)),
                                                       .verdict = ODB_VERDICT_UNTESTED,
                                                       .error = NAN,
                                                       .noise = NAN,
                                                       .value = ODB_NO_VALUE});
}

static void sequence_contradicts(struct odb_sequence *s)
{
    const struct odb_rollout *r = s->rollout;
    if (r->broken_input >= 0) {
        s->verdict = ODB_SEQUENCE_MODEL;
        s->step = r->broken_step;
        for (size_t o = 0; o < s->plan->model->graph->n_outputs; o++)
            if (odb_plan_carrier(s->plan, o) == r->broken_input)
                s->output = (int)o;
    } else if (s->consistency.broken) {
        s->verdict = ODB_SEQUENCE_MODEL;
        s->step = s->consistency.step;
        s->output = s->consistency.output;
    }
}

/* Where the plan's formula ended the sequence, it has no more steps. */
static void sequence_end(struct odb_sequence *s, struct odb_plan *plan, struct odb_streams *streams)
{
    s->stopped = s->rollout->stopped;
    plan->steps = s->rollout->steps.n;
    odb_streams_end(streams);
}

/* What was recorded against the plan; then the reference is fed the same. */
static enum odb_status sequence_recorded(struct odb_sequence *s, struct odb_recorded_steps *steps,
                                         const struct odb_search_hooks *hooks,
                                         struct odb_error *err)
{
    s->recorded = steps;
    s->consistency.why = odb_xstrdup("a recording is judged by what it was fed");
    sequence_begin(s);
    sequence_sources(s);
    ODB_TRY(odb_recorded_steps_read(steps, s->plan, hooks, err));
    ODB_TRY(odb_schedule_check(&s->schedule, s->plan, s->streams, steps, err));
    if (s->schedule.input < 0) {
        ODB_TRY(odb_rollout_make(&s->rollout, s->plan, s->streams, NULL, 0, odb_schedule_fed, steps,
                                 hooks, err));
        s->spent.reference += s->rollout->steps.n;
        return ODB_OK;
    }
    s->verdict = ODB_SEQUENCE_SCHEDULE;
    s->step = s->schedule.step;
    if (s->plan->inputs.items[s->schedule.input].move == ODB_MOVE_CARRY)
        s->carry = s->schedule.input;
    return ODB_OK;
}

enum odb_status odb_sequence_check(struct odb_sequence *s, struct odb_plan *plan,
                                   struct odb_streams *streams, struct odb_recorded_steps *recorded,
                                   const struct odb_search_hooks *hooks, struct odb_error *err)
{
    *s = (struct odb_sequence){.plan = plan,
                               .streams = streams,
                               .logits = odb_plan_logits(plan),
                               .output = -1,
                               .carry = -1,
                               .schedule = {.input = -1},
                               .evidence = ODB_BUF_INIT,
                               .whole = ODB_VERDICT_UNTESTED};
    if (recorded)
        return sequence_recorded(s, recorded, hooks, err);
    ODB_TRY(odb_rollout_make(&s->rollout, plan, streams, NULL, 0, NULL, NULL, hooks, err));
    s->spent.reference += s->rollout->steps.n;
    sequence_end(s, plan, streams);
    sequence_begin(s);
    sequence_sources(s);
    ODB_TRY(odb_consistency_look(&s->consistency, s->rollout, hooks, err));
    s->spent.reference += s->consistency.ran;
    sequence_contradicts(s);
    return ODB_OK;
}

void odb_sequence_expect(const struct odb_plan *plan, size_t *reference, size_t *target)
{
    size_t n = plan->steps, reordered = ODB_MIN(n, (size_t)ODB_FORCED_REORDERED);
    size_t free = odb_plan_has_carries(plan) ? n : 0;
    *target = n + reordered + free;
    *reference = n + 1 + 2 * n + reordered + free; /* forced in float64 as well */
}

void odb_sequence_dispose(struct odb_sequence *s)
{
    for (size_t k = 0; s->seen && k < s->plan->steps; k++) {
        for (size_t o = 0; o < s->plan->model->graph->n_outputs; o++)
            free(s->seen[k].outputs[o].place);
        free(s->seen[k].outputs);
    }
    free(s->seen);
    odb_rollout_free(s->rollout);
    odb_schedule_dispose(&s->schedule);
    odb_consistency_dispose(&s->consistency);
    odb_samples_dispose(&s->forced);
    odb_buf_dispose(&s->evidence);
    free(s->blamed.items);
}

/* --- the verdict ------------------------------------------------------------------------------ */

/* Which judged steps are wrong. */
struct sequence_pattern {
    size_t judged, bad, first; /* counts; the first wrong one */
    bool onset;                /* all behind the first wrong one are */
    bool first_step;           /* step 0 is */
    bool alternates;           /* every second one is */
    size_t at_least, at_most;  /* pieces: of the steps behind others those with so many or more, or
                                  so many or fewer, are; 0: it does not hang on that */
};

/* Wrong steps and right ones behind others, by how many pieces they take. */
static void sequence_pieces(const struct odb_sequence *s, struct sequence_pattern *p)
{
    size_t least[2] = {SIZE_MAX, SIZE_MAX}, most[2] = {0, 0};
    for (size_t k = 1; k < s->plan->steps; k++) {
        size_t pieces = odb_plan_pieces(s->plan, k);
        bool bad = odb_forced_is_bad(s, k);
        if (!s->seen[k].judged)
            continue;
        least[bad] = ODB_MIN(least[bad], pieces);
        most[bad] = ODB_MAX(most[bad], pieces);
    }
    p->at_least = most[false] && most[true] && least[true] > most[false] ? least[true] : 0;
    p->at_most = most[false] && most[true] && most[true] < least[false] ? most[true] : 0;
}

static struct sequence_pattern sequence_pattern(const struct odb_sequence *s)
{
    struct sequence_pattern p = {.first = s->plan->steps, .onset = true};
    bool parity[2] = {false, false}, right[2] = {false, false};
    for (size_t k = 0; k < s->plan->steps; k++) {
        bool bad = odb_forced_is_bad(s, k);
        if (!s->seen[k].judged)
            continue;
        p.judged++;
        p.bad += bad;
        p.first = bad && p.first == s->plan->steps ? k : p.first;
        p.onset &= p.first == s->plan->steps || bad;
        *(bad ? &parity[k % 2] : &right[k % 2]) = true;
    }
    p.first_step = s->seen[0].judged && odb_forced_is_bad(s, 0);
    p.alternates = p.bad > 1 && parity[0] != parity[1] && right[0] != right[1];
    sequence_pieces(s, &p);
    return p;
}

/* The worst output of the first wrong step. */
static void sequence_place(struct odb_sequence *s, size_t step)
{
    const struct odb_graph *graph = s->plan->model->graph;
    s->step = step;
    s->output = -1;
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (graph->outputs[o] == s->forced.items.items[step].value)
            s->output = (int)o;
}

static enum odb_status sequence_forced(struct odb_sequence *s, const struct sequence_pattern *p,
                                       const struct odb_bisect_options *options,
                                       struct odb_error *err)
{
    bool many = s->rollout->steps.items[0].pieces > 1;
    sequence_place(s, p->first);
    if (p->bad == p->judged) {
        s->verdict = ODB_SEQUENCE_ALL;
    } else if (p->bad == 1 && !p->first_step && p->first + 1 < s->plan->steps) {
        s->verdict = ODB_SEQUENCE_STEP;
    } else if (p->bad == 1 && p->first_step) {
        s->verdict = many ? ODB_SEQUENCE_PREFILL : ODB_SEQUENCE_STEP;
    } else if (p->onset) {
        ODB_TRY(odb_forced_whole(s, p->first, options, &s->whole, err));
        s->verdict = s->whole == ODB_VERDICT_PASS   ? ODB_SEQUENCE_DECODE
                     : odb_verdict_is_bad(s->whole) ? ODB_SEQUENCE_LENGTH
                                                    : ODB_SEQUENCE_ONSET;
    } else {
        s->verdict = ODB_SEQUENCE_SOME;
    }
    return ODB_OK;
}

/* Where the target's own state leads it astray first, or as far as it can be excused. */
static void sequence_free(struct odb_sequence *s)
{
    for (size_t k = 0; k < s->plan->steps; k++) {
        if (s->verdict != ODB_SEQUENCE_CARRY && odb_free_astray(s, k)) {
            s->verdict = ODB_SEQUENCE_CARRY;
            s->step = k;
        } else if (s->verdict == ODB_SEQUENCE_PASS && odb_free_drifts(s, k)) {
            s->verdict = ODB_SEQUENCE_DRIFT;
            s->step = k;
        }
    }
}

/* What the target did when it was asked once more, or for its own state, where it failed there:
 * that is no verdict on the steps, and none is given in its place. */
static enum odb_status sequence_excuse(struct odb_sequence *s, const char *what,
                                       enum odb_status status, const struct odb_error *why,
                                       struct odb_error *err)
{
    bool of_target = status == ODB_E_CRASH || status == ODB_E_TIMEOUT || status == ODB_E_EXECUTOR ||
                     status == ODB_UNSUPPORTED || status == ODB_E_INPUT;
    if (status != ODB_OK && !of_target) {
        *err = *why;
        return status;
    }
    if (status != ODB_OK) {
        s->unknown = true;
        odb_buf_printf(&s->evidence, "%s: %s\n", what, why->what);
    }
    return ODB_OK;
}

/* Outputs of judged steps that nothing is known of, as where they were not recorded, and inputs
 * that nothing could be held against: what is right beside them is no verdict on the whole. */
static void sequence_note_gaps(struct odb_sequence *s)
{
    const struct odb_graph *graph = s->plan->model->graph;
    size_t gaps = 0, first = 0, output = 0;
    for (size_t k = 0; k < s->plan->steps; k++)
        for (size_t o = 0; o < graph->n_outputs; o++) {
            bool made = graph->values[graph->outputs[o]].producer != ODB_NO_NODE;
            if (!made || !(s->seen[k].judged || s->recorded) ||
                s->seen[k].outputs[o].verdict != ODB_VERDICT_UNTESTED ||
                s->forced.items.items[k].failed != ODB_OK)
                continue;
            first = gaps ? first : k;
            output = gaps++ ? output : o;
        }
    const char *name = gaps ? graph->values[graph->outputs[output]].name : "";
    if (gaps == 1)
        odb_buf_printf(&s->evidence, "output %s of step %zu was not judged\n", name, first);
    else if (gaps)
        odb_buf_printf(&s->evidence,
                       "%zu outputs of steps were not judged, the first %s of step %zu\n", gaps,
                       name, first);
    s->unknown |= gaps > 0;
    if (s->schedule.unknown) {
        odb_buf_printf(&s->evidence, "%s\n", s->schedule.unknown);
        s->unknown = true;
    }
}

/* In another order, and with the target's own state. *moved: the order matters. */
static enum odb_status sequence_ask_more(struct odb_sequence *s,
                                         const struct odb_bisect_options *options, bool *moved,
                                         struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    bool unsteady = false;
    enum odb_status status = odb_forced_reorder(s, options, moved, &unsteady, &why);
    s->reordered = status == ODB_OK && !odb_rollout_repeats(s->rollout);
    ODB_TRY(sequence_excuse(s, "in another order the target fails", status, &why, err));
    if (unsteady)
        odb_buf_puts(&s->evidence, "equal steps give other bits from run to run\n");
    if (*moved || !odb_plan_has_carries(s->plan))
        return ODB_OK;
    status = odb_free_run(s, options, &why);
    return sequence_excuse(s, "with its own state the target fails", status, &why, err);
}

/* Behind a step at which honest rounding alone makes anything of an output, its NaN and Inf say
 * nothing of the target: a state that grows has left what its type can hold. */
static void sequence_distrust(struct odb_sequence *s, size_t o)
{
    const struct odb_graph *graph = s->plan->model->graph;
    size_t first = 0, last = 0;
    while (first < s->plan->steps && !(s->seen[first].outputs[o].noise >= SEQUENCE_ANYTHING))
        first++;
    for (size_t k = first + 1; k < s->plan->steps; k++) {
        struct odb_step_output *out = &s->seen[k].outputs[o];
        /* What is finite there is anything as well, or was a step before; else rounding does not
         * make it. */
        if (out->verdict == ODB_VERDICT_NAN &&
            (out->error >= SEQUENCE_ANYTHING || (last && last + 1 == k))) {
            out->verdict = ODB_VERDICT_UNTESTABLE;
            last = k;
        }
    }
    if (!last)
        return;
    odb_buf_puts(&s->evidence, "from step ");
    odb_buf_printf(&s->evidence, "%zu on the reference says nothing of ", first);
    odb_buf_put_shown(&s->evidence, graph->values[graph->outputs[o]].name);
    odb_buf_printf(&s->evidence,
                   ": rounding alone is %.3g times its rms there; its NaN and Inf are not judged\n",
                   s->seen[first].outputs[o].noise);
}

/* What is left of a step that was wrong: another output is, or nothing is known. */
static void sequence_trust_step(struct odb_sequence *s, size_t k)
{
    const struct odb_graph *graph = s->plan->model->graph;
    struct odb_sample *sample = &s->forced.items.items[k];
    const struct odb_step_output *outputs = s->seen[k].outputs;
    size_t bad = graph->n_outputs;
    bool told = true; /* the output that the step is told by still counts */
    for (size_t o = graph->n_outputs; o-- > 0;) {
        bad = odb_verdict_is_bad(outputs[o].verdict) ? o : bad;
        told &= graph->outputs[o] != sample->value || outputs[o].verdict != ODB_VERDICT_UNTESTABLE;
    }
    if (told || sample->verdict != ODB_VERDICT_NAN || sample->why)
        return;
    if (bad < graph->n_outputs) {
        sample->verdict = outputs[bad].verdict;
        sample->value = graph->outputs[bad];
        sample->error = outputs[bad].error;
        sample->noise = outputs[bad].noise;
        return;
    }
    sample->verdict = ODB_VERDICT_UNTESTABLE;
    sample->why = odb_xstrdup("rounding alone makes anything of an output from an earlier step on");
}

enum odb_status odb_sequence_judge(struct odb_sequence *s, const struct odb_bisect_options *options,
                                   struct odb_error *err)
{
    bool moved = false;
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = odb_forced_judge(s, options, &why);
    ODB_TRY(sequence_excuse(s, "the steps could not be run", status, &why, err));
    for (size_t o = 0; o < s->plan->model->graph->n_outputs; o++)
        sequence_distrust(s, o);
    for (size_t k = 0; k < s->plan->steps; k++)
        sequence_trust_step(s, k);
    struct sequence_pattern pattern = sequence_pattern(s);
    s->alternates = pattern.alternates;
    s->at_least = pattern.at_least;
    s->at_most = pattern.at_most;
    for (size_t k = 0; k < s->plan->steps; k++)
        s->unknown |= s->seen[k].judged && (s->forced.items.items[k].failed != ODB_OK ||
                                            odb_sample_unknown(&s->forced.items.items[k]));
    enum odb_status more = ODB_OK;
    if (!s->unknown && s->plan->steps > 1 && !s->recorded)
        more = sequence_ask_more(s, options, &moved, err);
    if (more != ODB_OK && pattern.bad) { /* stopped: that some steps are wrong is known */
        s->verdict = pattern.bad == pattern.judged ? ODB_SEQUENCE_ALL : ODB_SEQUENCE_SOME;
        sequence_place(s, pattern.first);
    }
    ODB_TRY(more);
    sequence_note_gaps(s);
    if (moved) {
        s->verdict = ODB_SEQUENCE_MEMORY;
        for (size_t k = s->plan->steps; k-- > 1;) /* step 0 has nothing before it, in order */
            s->step = s->seen[k].moved ? k : s->step;
        return ODB_OK;
    }
    if (pattern.bad)
        return sequence_forced(s, &pattern, options, err);
    bool few = pattern.judged < s->plan->steps && !odb_executor_fixed(options->target);
    s->verdict = s->unknown || few ? ODB_SEQUENCE_NONE : ODB_SEQUENCE_PASS;
    if (s->ran_free)
        sequence_free(s);
    return s->verdict == ODB_SEQUENCE_CARRY ? odb_free_blame(s, options, &s->carry, err) : ODB_OK;
}
