/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sequence in words: the sentence, the matrix of outputs by steps, and what it rests on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/probe.h"
#include "sequence/constants_near.h"
#include "sequence/forced.h"
#include "sequence/free_run.h"
#include "sequence/other_steps.h"
#include "sequence/sequence_run.h"
#include "sequence/sequence_words.h"

#define WORDS_ROWS 12    /* of the matrix */
#define WORDS_NAME 24    /* columns of a name there */
#define WORDS_COLUMNS 64 /* steps in a row of marks */
#define WORDS_FLIPS 8    /* tokens told one by one */

static const char *words_step(const struct odb_sequence *s, char *buf, size_t size)
{
    return odb_plan_step_text(s->plan, s->step, buf, size);
}

static void words_output(const struct odb_sequence *s, struct odb_buf *out)
{
    const struct odb_graph *graph = s->plan->model->graph;
    if (s->output < 0)
        return;
    odb_buf_puts(out, ", at output ");
    odb_buf_put_shown(out, graph->values[graph->outputs[s->output]].name);
    if (s->seen[s->step].outputs[s->output].place)
        odb_buf_printf(out, " (%s)", s->seen[s->step].outputs[s->output].place);
}

/* "the carry from hn to h is". */
static void words_carry(const struct odb_sequence *s, struct odb_buf *out)
{
    const struct odb_graph *graph = s->plan->model->graph;
    odb_buf_puts(out, "the carry ");
    if (s->carry >= 0) {
        const struct odb_plan_input *input = &s->plan->inputs.items[s->carry];
        odb_buf_puts(out, input->output == ODB_NO_VALUE ? "to " : "from ");
        if (input->output != ODB_NO_VALUE) {
            odb_buf_put_shown(out, graph->values[input->output].name);
            odb_buf_puts(out, " to ");
        }
        odb_buf_put_shown(out, graph->values[input->value].name);
        odb_buf_putc(out, ' ');
    }
    odb_buf_puts(out, "is");
}

static void words_model(const struct odb_sequence *s, struct odb_buf *out)
{
    char step[64];
    words_step(s, step, sizeof step);
    if (s->rollout->broken_input >= 0)
        odb_buf_printf(out,
                       "the model, or the plan, is wrong, and not the target: in %s a state that "
                       "grows changes what it held",
                       step);
    else
        odb_buf_printf(out,
                       "the model, or the plan, is wrong, and not the target: on the reference "
                       "itself %s gives other values than all pieces in one step",
                       step);
    words_output(s, out);
    if (s->consistency.broken && s->consistency.node != ODB_NO_NODE) {
        odb_buf_puts(out, ", first at ");
        odb_node_put(s->plan->model->graph, s->consistency.node, out);
    }
}

/* Step 0 has nothing before it; where it is wrong, it must be of those that are. */
static bool words_pieces_tell(const struct odb_sequence *s)
{
    size_t first = odb_plan_pieces(s->plan, 0);
    if (!s->at_least && !s->at_most)
        return false;
    return s->step || (s->at_least ? first >= s->at_least : first <= s->at_most);
}

/* "of the steps behind others those that take 2 pieces or more are wrong". */
static void words_pieces(const struct odb_sequence *s, struct odb_buf *out)
{
    size_t n = s->at_least ? s->at_least : s->at_most;
    odb_buf_puts(out, s->step ? "of the steps behind others those" : "the steps");
    odb_buf_printf(out, " that take %zu piece%s", n, n == 1 ? "" : "s");
    odb_buf_puts(out, s->at_least ? " or more are wrong"
                      : n > 1     ? " or fewer are wrong"
                                  : " are wrong");
}

/* "wrong from step 6 (5 past + 1 new) on", and what that means. */
static void words_forced(const struct odb_sequence *s, struct odb_buf *out)
{
    char step[64];
    words_step(s, step, sizeof step);
    switch (s->verdict) {
    case ODB_SEQUENCE_ALL:
        odb_buf_printf(out, "every step is wrong, from %s on", step);
        break;
    case ODB_SEQUENCE_STEP:
        odb_buf_printf(out, "%s alone is wrong", step);
        if (s->at_least && s->step)
            odb_buf_printf(out, ", the only one behind others that takes %zu pieces or more",
                           s->at_least);
        break;
    case ODB_SEQUENCE_PREFILL:
        odb_buf_printf(out, "only %s is wrong, where %zu pieces come at once: the prefill path",
                       step, odb_plan_pieces(s->plan, s->step));
        break;
    case ODB_SEQUENCE_DECODE:
        odb_buf_printf(out,
                       "wrong from %s on, and right where the same pieces come in one step: the "
                       "decode path",
                       step);
        break;
    case ODB_SEQUENCE_LENGTH:
        odb_buf_printf(out,
                       "wrong from %s on, and wrong where the same pieces come in one step: it is "
                       "the length",
                       step);
        break;
    case ODB_SEQUENCE_ONSET:
        odb_buf_printf(out, "wrong from %s on", step);
        break;
    default:
        if (words_pieces_tell(s))
            words_pieces(s, out);
        else
            odb_buf_puts(out,
                         s->alternates ? "every second step is wrong" : "some steps are wrong");
        odb_buf_printf(out, ", first %s", step);
        break;
    }
    words_output(s, out);
    if (s->forced.items.items[s->step].why)
        odb_buf_printf(out, ": %s", s->forced.items.items[s->step].why);
    if (odb_other_steps_nodes(s) > s->blamed.n) {
        odb_buf_printf(out, "; step %zu is wrong for another reason, ", s->other_step);
        odb_node_put(s->plan->model->graph, s->other_node, out);
    }
}

/* Of a target that is made anew for each length, some steps are judged. */
static void words_pass(const struct odb_sequence *s, struct odb_buf *out)
{
    size_t judged = odb_forced_judged(s);
    if (judged == s->plan->steps)
        odb_buf_printf(out, "all %zu steps agree", judged);
    else
        odb_buf_printf(out, "%zu of %zu steps were judged, and agree", judged, s->plan->steps);
}

void odb_sequence_headline(const struct odb_sequence *s, struct odb_buf *out)
{
    char step[64];
    if (s->verdict == ODB_SEQUENCE_SCHEDULE) {
        odb_schedule_put(&s->schedule, s->plan, out);
    } else if (s->verdict == ODB_SEQUENCE_MODEL) {
        words_model(s, out);
    } else if (odb_sequence_searches(s->verdict)) {
        words_forced(s, out);
    } else if (s->verdict == ODB_SEQUENCE_MEMORY) {
        odb_buf_printf(out,
                       "the target keeps something from one run to the next: %s gives other values "
                       "when the steps are run in another order; no node is to blame",
                       words_step(s, step, sizeof step));
    } else if (s->verdict == ODB_SEQUENCE_CARRY) {
        words_carry(s, out);
        odb_buf_printf(out,
                       " at fault, and no node: each step is right with the "
                       "reference's state, and with its own state the target is off from %s on by "
                       "more than rounding makes",
                       words_step(s, step, sizeof step));
    } else if (s->verdict == ODB_SEQUENCE_DRIFT) {
        odb_buf_printf(out,
                       "no fault: with its own state the target drifts from %s on as far as "
                       "rounding alone would take it",
                       words_step(s, step, sizeof step));
    } else if (s->verdict == ODB_SEQUENCE_PASS) {
        words_pass(s, out);
    } else {
        odb_buf_puts(out, "not all steps were judged");
    }
}

/* --- the matrix ------------------------------------------------------------------------------- */

static char words_forced_mark(const struct odb_sequence *s, size_t k, size_t o)
{
    enum odb_verdict verdict = s->seen[k].outputs[o].verdict;
    if (s->seen[k].judged && s->forced.items.items[k].failed != ODB_OK)
        return '!';
    if (!s->seen[k].judged || verdict == ODB_VERDICT_UNTESTED || verdict == ODB_VERDICT_UNTESTABLE)
        return '-';
    if (s->seen[k].moved)
        return 'o';
    /* A search of the step may have let the output off. */
    return odb_verdict_is_bad(verdict) && odb_forced_is_bad(s, k) ? 'x' : '.';
}

static char words_free_mark(const struct odb_sequence *s, size_t k)
{
    if (k >= s->ran_free)
        return '-';
    /* A step that is wrong by itself is wrong with its own state as well. */
    bool bad = odb_forced_is_bad(s, k) && odb_free_error(s, k) > 0;
    return bad || odb_free_astray(s, k) ? 'x' : odb_free_drifts(s, k) ? '~' : '.';
}

static void words_name(const char *name, struct odb_buf *out)
{
    odb_buf_puts(out, "    ");
    odb_buf_put_field(out, name, WORDS_NAME);
    odb_buf_putc(out, ' ');
}

static bool words_row_is_bad(const struct odb_sequence *s, size_t o)
{
    bool bad = false;
    for (size_t k = 0; k < s->plan->steps; k++)
        bad |= words_forced_mark(s, k, o) == 'x';
    return bad;
}

static void words_numbers(size_t first, size_t n, struct odb_buf *out)
{
    odb_buf_printf(out, "    %-*s ", WORDS_NAME, "step");
    for (size_t k = first; k < first + n; k++)
        odb_buf_printf(out, "%c", k % 10 ? (char)('0' + k % 10) : k % 100 ? '|' : '0');
    odb_buf_putc(out, '\n');
}

/* How many steps a row of the matrix has. */
static size_t words_wide(size_t columns)
{
    return columns > WORDS_NAME + 8 ? ODB_MIN(columns - WORDS_NAME - 6, (size_t)WORDS_COLUMNS)
                                    : WORDS_COLUMNS;
}

/* Steps [first, first + n). */
static void words_matrix(const struct odb_sequence *s, size_t first, size_t n, struct odb_buf *out)
{
    const struct odb_graph *graph = s->plan->model->graph;
    size_t shown = 0, left = 0;
    words_numbers(first, n, out);
    for (size_t o = 0; o < graph->n_outputs; o++) {
        if (shown >= WORDS_ROWS ||
            (graph->n_outputs > WORDS_ROWS && !words_row_is_bad(s, o) && (int)o != s->logits)) {
            left++;
            continue;
        }
        shown++;
        words_name(graph->values[graph->outputs[o]].name, out);
        for (size_t k = first; k < first + n; k++)
            odb_buf_putc(out, words_forced_mark(s, k, o));
        odb_buf_putc(out, '\n');
    }
    if (s->ran_free) {
        words_name("with its own state", out);
        for (size_t k = first; k < first + n; k++)
            odb_buf_putc(out, words_free_mark(s, k));
        odb_buf_putc(out, '\n');
    }
    if (left)
        odb_buf_printf(out, "    and %zu more outputs\n", left);
}

/* --- what it rests on ------------------------------------------------------------------------- */

/* What is fed step by step, and is the same in each. */
static void words_same(const struct odb_sequence *s, struct odb_buf *out)
{
    for (size_t i = 0; i < s->plan->inputs.n && s->rollout; i++) {
        const struct odb_plan_input *input = &s->plan->inputs.items[i];
        if (input->move != ODB_MOVE_FEED || input->axis >= 0 || !odb_rollout_same(s->rollout, i))
            continue;
        odb_buf_put_shown(out, s->plan->model->graph->values[input->value].name);
        odb_buf_printf(out,
                       " is the same in all steps (%s); --feed or --inputs plain gives others\n",
                       odb_streams_source(s->streams, i));
    }
    if (s->rollout && odb_rollout_repeats(s->rollout))
        odb_buf_puts(out, "all steps are fed the same, so their order says nothing\n");
}

void odb_sequence_put_itself(const struct odb_sequence *s, struct odb_buf *out)
{
    const struct odb_consistency *c = &s->consistency;
    const char *aside = c->padded ? "; what fills up shorter rows of the batch aside" : "";
    words_same(s, out);
    if (s->stopped)
        odb_buf_printf(out, "the sequence ends with step %zu, after which %s\n", s->plan->steps - 1,
                       s->plan->stop);
    if (!c->asked)
        odb_buf_printf(out, "the model was not held against itself: %s\n",
                       c->why ? c->why : "it was not asked");
    else if (c->exact)
        odb_buf_printf(out,
                       "on the CPU all pieces in one step give what they give step by step, bit "
                       "for bit%s\n",
                       aside);
    else if (!c->broken)
        odb_buf_printf(out,
                       "on the CPU all pieces in one step give what they give step by step, "
                       "but for rounding (%.2g)%s\n",
                       c->error, aside);
    else
        odb_buf_printf(out,
                       "on the CPU all pieces in one step give other values than step by "
                       "step: off by %.3g%s\n",
                       c->error, aside);
}

/* What was held against the plan, and what to say where the plan is not what the host does. */
static void words_schedule(const struct odb_sequence *s, struct odb_buf *out)
{
    const struct odb_schedule *schedule = &s->schedule;
    if (schedule->input < 0) {
        odb_buf_printf(out,
                       "%zu recorded inputs of steps that a rule or a step before makes are as "
                       "the plan says\n",
                       schedule->checked);
        if (schedule->assumed)
            odb_buf_printf(out,
                           "%zu input%s of steps %s not recorded, and taken as the plan has "
                           "them: what the host fed there is not known\n",
                           schedule->assumed, odb_plural(schedule->assumed),
                           schedule->assumed == 1 ? "was" : "were");
    } else {
        const struct odb_plan_input *input = &s->plan->inputs.items[schedule->input];
        const char *name = s->plan->model->graph->values[input->value].name;
        bool fed = input->move == ODB_MOVE_FEED;
        const char *option = fed                             ? "--feed "
                             : !s->step                      ? "--start "
                             : input->move == ODB_MOVE_CARRY ? "--carry OUTPUT="
                                                             : "--next ";
        if (schedule->others)
            odb_buf_printf(out, "%zu other input%s fed otherwise as well\n", schedule->others,
                           schedule->others == 1 ? " is" : "s are");
        odb_buf_puts(out, "nothing was run; where the host is right and the plan is not, say so: ");
        odb_buf_puts(out, option);
        odb_buf_put_shown(out, name);
        odb_buf_puts(out, fed || !s->step                 ? "=WHAT\n"
                          : input->move == ODB_MOVE_CARRY ? "\n"
                                                          : "=FORMULA\n");
    }
    if (schedule->unknown && schedule->input >= 0) /* else it is among the evidence */
        odb_buf_printf(out, "%s\n", schedule->unknown);
}

/* The worst of a step's outputs when forced, from the reference's; NAN: it was not judged. */
static double words_apart(const struct odb_sequence *s, size_t step)
{
    double worst = NAN;
    for (size_t o = 0; o < s->plan->model->graph->n_outputs; o++)
        worst = fmax(worst, s->seen[step].outputs[o].apart);
    return worst;
}

static void words_free(const struct odb_sequence *s, struct odb_buf *out)
{
    size_t worst = 0;
    if (s->reordered && s->verdict != ODB_SEQUENCE_MEMORY)
        odb_buf_puts(out, "the order of the steps makes no difference\n");
    if (!s->ran_free)
        return;
    for (size_t k = 1; k < s->plan->steps; k++)
        worst = odb_free_error(s, k) > odb_free_error(s, worst) ? k : worst;
    odb_buf_printf(out,
                   "with its own state the target is off from the reference by at most %.3g, in "
                   "step %zu",
                   odb_free_error(s, worst), worst);
    if (!isnan(words_apart(s, worst)))
        odb_buf_printf(out, "; with the reference's by %.3g there", words_apart(s, worst));
    if (!isnan(s->seen[worst].envelope))
        odb_buf_printf(out, "; rounding carried on makes %.3g", s->seen[worst].envelope);
    if (s->ran_free < s->plan->steps)
        odb_buf_printf(out, "; the first %zu steps ran so, for each length is compiled",
                       s->ran_free);
    odb_buf_putc(out, '\n');
}

/* "52.3 dB": of all steps that were judged, or ran free, one behind the other; without those that
 * have NaN or Inf. */
static void words_decibels(const struct odb_sequence *s, size_t o, bool free_run,
                           struct odb_buf *out)
{
    double signal = 0, noise = 0;
    size_t steps = 0, odd = 0;
    for (size_t k = 0; k < (free_run ? s->ran_free : s->plan->steps); k++) {
        const struct odb_step_output *step = &s->seen[k].outputs[o];
        double off = free_run ? step->free_power : step->noise_power;
        bool known = isfinite(step->power) && isfinite(off);
        odd += !known && (free_run || s->seen[k].judged);
        if (!known)
            continue;
        steps++;
        signal += step->power;
        noise += off;
    }
    if (!steps)
        odb_buf_puts(out, "not known");
    else if (noise > 0)
        odb_buf_printf(out, "%.1f dB", 10 * log10(signal / noise));
    else
        odb_buf_puts(out, "infinite");
    if (odd)
        odb_buf_printf(out, " without %zu step%s of which it is not known", odd,
                       odd == 1 ? "" : "s");
}

/* Sound, and whatever is float and neither a state nor logits, as the signal that steps put
 * together. */
static void words_signals(const struct odb_sequence *s, struct odb_buf *out)
{
    const struct odb_graph *graph = s->plan->model->graph;
    for (size_t o = 0; o < graph->n_outputs; o++) {
        bool known = false;
        for (size_t k = 0; k < s->plan->steps && !known; k++)
            known = s->seen[k].outputs[o].power > 0;
        if (!known)
            continue;
        odb_buf_puts(out, "signal to noise of ");
        odb_buf_put_shown(out, graph->values[graph->outputs[o]].name);
        odb_buf_puts(out, ": ");
        words_decibels(s, o, false, out);
        if (s->ran_free) {
            odb_buf_puts(out, ", with its own state ");
            words_decibels(s, o, true, out);
        }
        odb_buf_putc(out, '\n');
    }
}

static void words_own(const struct odb_sequence *s, struct odb_buf *out)
{
    if (s->ran_free && s->own)
        odb_buf_printf(out,
                       "with its own tokens the target goes another way: step %zu takes %lld where "
                       "the reference's takes %lld, and is given that\n",
                       s->own, (long long)s->own_token, (long long)s->reference_token);
    else if (s->ran_free && s->plan->own_tokens)
        odb_buf_printf(out,
                       "with its own tokens the target goes the reference's way in %zu steps\n",
                       s->ran_free);
}

/* The tokens of all steps in a line: how far the target's probabilities are off, and what they
 * make of the text. Steps in which a side has no such numbers are counted as well. */
static void words_text(const struct odb_sequence *s, struct odb_buf *out)
{
    size_t known = 0, same = 0, off = 0, fed = 0, silent = 0;
    const struct odb_step_token *worst = NULL;
    double nll = 0, reference_nll = 0;
    for (size_t k = 0; k < s->plan->steps && s->logits >= 0; k++) {
        const struct odb_step_token *t = &s->seen[k].token;
        known += t->known;
        bool gave = s->seen[k].judged && !odb_sample_unknown(&s->forced.items.items[k]);
        silent += gave && (!t->known || isnan(t->kl));
        same += t->known && t->reference == t->target;
        if (!t->known || isnan(t->kl))
            continue;
        if (!worst || t->kl > worst->kl) {
            worst = t;
            off = k;
        }
        if (isnan(t->nll))
            continue;
        fed++;
        nll += t->nll;
        reference_nll += t->reference_nll;
    }
    if (known)
        odb_buf_printf(out, "tokens: the same choice in %zu of %zu step%s", same, known,
                       odb_plural(known));
    if (worst)
        odb_buf_printf(out,
                       "; KL divergence at most %.3g nats (step %zu, %d of the five best shared)",
                       fmax(worst->kl, 0), off, worst->shared);
    if (fed)
        odb_buf_printf(out, "; perplexity of what is fed %.4g, reference %.4g",
                       exp(nll / (double)fed), exp(reference_nll / (double)fed));
    if (silent)
        odb_buf_printf(out, "%sno token follows from logits that are NaN or Inf, in %zu step%s",
                       known ? "; " : "tokens: ", silent, odb_plural(silent));
    if (known || silent)
        odb_buf_putc(out, '\n');
}

/* Tokens that differ, and whether rounding decides them. */
static void words_tokens(const struct odb_sequence *s, struct odb_buf *out)
{
    size_t told = 0, flips = 0;
    for (size_t k = 0; k < s->plan->steps; k++) {
        const struct odb_step_token *t = &s->seen[k].token;
        if (!t->known || t->reference == t->target)
            continue;
        flips++;
        if (told++ >= WORDS_FLIPS)
            continue;
        double ratio = t->noise > 0 ? t->margin / t->noise : INFINITY;
        odb_buf_printf(out, "step %zu chooses %lld where the reference chooses %lld: ", k,
                       (long long)t->target, (long long)t->reference);
        if (ratio <= 2)
            odb_buf_puts(out, "a tie, its margin is within rounding\n");
        else
            odb_buf_printf(out, "its margin is %.3g\n", t->margin);
    }
    if (flips > WORDS_FLIPS)
        odb_buf_printf(out, "and %zu more steps choose otherwise\n", flips - WORDS_FLIPS);
}

static void words_old(const struct odb_sequence *s, struct odb_buf *out)
{
    for (size_t k = 0; k < s->plan->steps; k++)
        if (s->seen[k].old_changed) {
            odb_buf_printf(out, "in step %zu the target changes what a state held before\n", k);
            return;
        }
}

static void words_near(const struct odb_sequence *s, struct odb_buf *out)
{
    bool onset = s->verdict == ODB_SEQUENCE_DECODE || s->verdict == ODB_SEQUENCE_LENGTH ||
                 s->verdict == ODB_SEQUENCE_ONSET;
    if (onset)
        odb_constants_near(s->plan->model, (int64_t)odb_plan_past(s->plan, s->step + 1), out);
}

/* Of a large model, reading the weights is what a run takes. */
static void words_passes(const struct odb_sequence *s, struct odb_buf *out)
{
    size_t weights = odb_probe_weights(s->plan->model->graph);
    if (weights < ODB_SEQUENCE_LARGE || s->recorded)
        return;
    odb_buf_puts(out, "weights of ");
    odb_buf_put_bytes(out, weights);
    odb_buf_printf(out, " were read %zu times by the reference, %zu by the target\n",
                   s->spent.reference, s->spent.target.runs);
}

void odb_sequence_put(const struct odb_sequence *s, size_t columns, struct odb_buf *out)
{
    size_t wide = words_wide(columns);
    bool judged = false;
    odb_sequence_headline(s, out);
    odb_buf_putc(out, '\n');
    for (size_t k = 0; k < s->plan->steps; k++)
        judged |= s->seen[k].judged;
    for (size_t k = 0; k < s->plan->steps && judged; k += wide)
        words_matrix(s, k, ODB_MIN(wide, s->plan->steps - k), out);
    if (judged)
        odb_buf_puts(out, "    . agrees   x diverges   ~ drifts   o hangs on the order   - not "
                          "judged   ! gave nothing\n");
    if (s->recorded)
        words_schedule(s, out);
    else
        odb_sequence_put_itself(s, out);
    words_free(s, out);
    words_signals(s, out);
    words_own(s, out);
    words_old(s, out);
    words_text(s, out);
    words_tokens(s, out);
    words_near(s, out);
    words_passes(s, out);
    odb_buf_puts(out, odb_buf_text(&s->evidence));
}

void odb_sequence_put_nodes(const struct odb_sequence *s, size_t columns, struct odb_buf *out)
{
    size_t wide = words_wide(columns), n;
    for (size_t first = 0; first < s->plan->steps && s->blamed.n; first += wide) {
        n = ODB_MIN(wide, s->plan->steps - first);
        words_numbers(first, n, out);
        for (size_t i = 0; i < odb_other_steps_nodes(s); i++) {
            struct odb_buf name = ODB_BUF_INIT;
            int node = odb_other_steps_node(s, i);
            odb_buf_printf(&name, "#%d %s", node, s->plan->model->graph->nodes[node].name);
            words_name(odb_buf_text(&name), out);
            odb_buf_dispose(&name);
            for (size_t k = first; k < first + n; k++)
                odb_buf_putc(out, odb_other_steps_mark(s, i, k));
            odb_buf_putc(out, '\n');
        }
    }
    odb_other_steps_put(s, out);
}
