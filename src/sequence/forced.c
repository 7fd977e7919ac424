/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/forced.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "executor/executor.h"
#include "probe/probe.h"
#include "sequence/error_place.h"
#include "sequence/plan/padding.h"
#include "sequence/plan/axis.h"
#include "sequence/stepper.h"

#define FORCED_BEST 5 /* tokens that are compared as a set */

void odb_forced_bits(const struct odb_tensor *t, unsigned char bits[32])
{
    SHA256_CTX sha;
    memset(bits, 0, 32);
    if (!t || t->kind != ODB_TENSOR || t->dtype == ODB_STRING || !t->data)
        return;
    SHA256_Init(&sha);
    odb_sha256_update(&sha, &t->dtype, sizeof t->dtype);
    odb_sha256_update(&sha, t->dims, (size_t)t->rank * sizeof *t->dims);
    odb_sha256_update(&sha, t->data, t->bytes);
    SHA256_Final(bits, &sha);
}

bool odb_forced_is_bad(const struct odb_sequence *sequence, size_t step)
{
    return sequence->seen[step].judged &&
           odb_verdict_is_bad(sequence->forced.items.items[step].verdict);
}

size_t odb_forced_judged(const struct odb_sequence *sequence)
{
    size_t judged = 0;
    for (size_t k = 0; k < sequence->plan->steps; k++)
        judged += sequence->seen[k].judged;
    return judged;
}

/* --- what a step shows ------------------------------------------------------------------------ */

/* Mean of target less reference, over the rms of the reference; NAN: they are not comparable. */
static double forced_mean(const struct odb_tensor *target, const struct odb_tensor *reference)
{
    double sum = 0, squares = 0;
    if (!odb_tensor_same_shape(target, reference) || !odb_dtype_is_float(reference->dtype) ||
        !target->data || !target->count)
        return NAN;
    for (size_t i = 0; i < target->count; i++) {
        double b = odb_tensor_f64(reference, i);
        sum += odb_tensor_f64(target, i) - b;
        squares += b * b;
    }
    double rms = sqrt(squares / (double)target->count);
    return rms > 0 ? sum / (double)target->count / rms : NAN;
}

double odb_forced_power(const struct odb_sequence *s, size_t o, const struct odb_tensor *t,
                        const struct odb_tensor *minus)
{
    double sum = 0;
    if ((int)o == s->logits || odb_plan_carrier(s->plan, o) >= 0 || !t || !t->data ||
        !odb_dtype_is_float(t->dtype) || (minus && !odb_tensor_same_shape(t, minus)))
        return NAN;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i) - (minus ? odb_tensor_f64(minus, i) : 0);
        sum += v * v;
    }
    return sum;
}

/* The numbers of the largest logits of a row, the largest first; none where one is NaN. */
struct forced_top {
    size_t n, items[FORCED_BEST];
};

static struct forced_top forced_find_top(const struct odb_tensor *t, size_t first, size_t n)
{
    struct forced_top top = {0};
    for (size_t i = 0; i < n; i++) {
        double v = odb_tensor_f64(t, first + i);
        size_t at = top.n;
        if (isnan(v))
            return (struct forced_top){0};
        while (at > 0 && v > odb_tensor_f64(t, first + top.items[at - 1]))
            at--;
        if (at == FORCED_BEST)
            continue;
        top.n += top.n < FORCED_BEST;
        memmove(&top.items[at + 1], &top.items[at], (top.n - at - 1) * sizeof top.items[0]);
        top.items[at] = i;
    }
    return top;
}

static int forced_shared(const struct forced_top *a, const struct forced_top *b)
{
    int shared = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            shared += a->items[i] == b->items[k];
    return shared;
}

/* log(sum(exp(x))) of a row of logits, of which most is the largest. */
static double forced_log_sum(const struct odb_tensor *t, size_t first, size_t n, double most)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += exp(odb_tensor_f64(t, first + i) - most);
    return most + log(sum);
}

/* The two rows as probabilities. next: the token that came next; -1: none did. */
static void forced_distance(struct odb_step_token *token, const struct odb_tensor *target,
                            const struct odb_tensor *reference, size_t first, size_t n,
                            int64_t next)
{
    double theirs =
        forced_log_sum(target, first, n, odb_tensor_f64(target, first + (size_t)token->target));
    double ours = forced_log_sum(reference, first, n,
                                 odb_tensor_f64(reference, first + (size_t)token->reference));
    for (size_t i = 0; i < n; i++) {
        double p = odb_tensor_f64(reference, first + i) - ours;
        double q = odb_tensor_f64(target, first + i) - theirs;
        token->kl += exp(p) == 0 ? 0 : exp(p) * (p - q);
    }
    token->nll = token->reference_nll = NAN;
    if (next >= 0 && (uint64_t)next < n) {
        token->nll = theirs - odb_tensor_f64(target, first + (size_t)next);
        token->reference_nll = ours - odb_tensor_f64(reference, first + (size_t)next);
    }
}

/* What the step behind it is fed first, by the input of tokens; -1: there is none. */
static int64_t forced_next(const struct odb_sequence *s, size_t step)
{
    int i = odb_plan_tokens(s->plan);
    if (i < 0 || step + 1 >= s->rollout->steps.n)
        return -1;
    const struct odb_tensor *fed = s->rollout->steps.items[step + 1].in[i];
    int axis = s->plan->inputs.items[i].axis;
    bool row = fed && fed->data && axis == fed->rank - 1 && fed->count;
    return row ? odb_tensor_i64(fed, fed->count - (size_t)fed->dims[axis]) : -1;
}

/* Which token each side chooses by the last row of its logits. next: as above. */
static void forced_token(struct odb_step_token *token, const struct odb_tensor *target,
                         const struct odb_tensor *reference, double noise, int64_t next)
{
    if (!odb_tensor_same_shape(target, reference) || !reference->rank || !target->data)
        return;
    size_t n = (size_t)reference->dims[reference->rank - 1], squares_of = reference->count;
    if (n < 2 || reference->count < n)
        return;
    size_t first = reference->count - n;
    struct forced_top ours = forced_find_top(reference, first, n);
    struct forced_top theirs = forced_find_top(target, first, n);
    if (ours.n < 2 || !theirs.n)
        return;
    double squares = 0;
    for (size_t i = 0; i < squares_of; i++)
        squares += pow(odb_tensor_f64(reference, i), 2);
    *token = (struct odb_step_token){
        .known = true,
        .reference = (int64_t)ours.items[0],
        .target = (int64_t)theirs.items[0],
        .shared = forced_shared(&ours, &theirs),
        .margin = odb_tensor_f64(reference, first + ours.items[0]) -
                  odb_tensor_f64(reference, first + ours.items[1]),
        .noise = isnan(noise) ? NAN : noise * sqrt(squares / (double)squares_of)};
    forced_distance(token, target, reference, first, n, next);
}

static size_t forced_output(const struct odb_graph *graph, int value)
{
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (graph->outputs[o] == value)
            return o;
    return 0;
}

/* Whether what was there of a state that grows is there still, on the target. */
static bool forced_keeps(const struct odb_sequence *s, size_t step, size_t o,
                         const struct odb_tensor *had)
{
    int i = odb_plan_carrier(s->plan, o);
    const struct odb_plan_input *input = i < 0 ? NULL : &s->plan->inputs.items[i];
    struct odb_error ignored = ODB_ERROR_INIT;
    struct odb_feeds *feeds;
    if (!input || input->kind != ODB_CARRY_APPEND || input->next || input->axis < 0 || !had ||
        s->rollout->slides[i] || odb_rollout_feeds(&feeds, s->rollout, step, &ignored) != ODB_OK)
        return true;
    const struct odb_tensor *was = feeds->items[i].tensor;
    bool fits = had->rank == was->rank && had->dtype == was->dtype &&
                had->dims[input->axis] >= was->dims[input->axis];
    bool keeps = !fits || odb_axis_same(had, 0, was, was->dims[input->axis], input->axis);
    odb_feeds_free(feeds);
    return keeps;
}

static void forced_place(const struct odb_sequence *s, size_t at, size_t o,
                         const struct odb_tensor *had, const struct odb_tensor *reference)
{
    struct odb_step_output *out = &s->seen[at].outputs[o];
    const struct odb_sequence_step *step = &s->rollout->steps.items[at];
    int carry = odb_plan_carrier(s->plan, o);
    double noise = isnan(out->noise) ? 0 : out->noise;
    free(out->place);
    out->place = odb_error_place(had, reference, fmax(10 * noise, 1e-2 * out->error),
                                 carry < 0 ? NULL : &s->plan->inputs.items[carry],
                                 odb_padding_find(s->plan, step->in, step->past + step->pieces));
}

static void forced_gave(void *payload, size_t step, const struct odb_value_report *reports,
                        const int *outputs, struct odb_tensor *const *had, size_t n)
{
    struct odb_sequence *s = payload;
    struct odb_sequence_seen *seen = &s->seen[step];
    for (size_t i = 0; i < n; i++) {
        size_t o = forced_output(s->plan->model->graph, outputs[i]);
        struct odb_step_output *out = &seen->outputs[o];
        struct odb_tensor *reference = NULL;
        struct odb_error ignored = ODB_ERROR_INIT;
        out->verdict = reports[i].verdict;
        out->error = reports[i].error.known ? reports[i].error.v : NAN;
        out->noise = reports[i].noise.known ? reports[i].noise.v : NAN;
        odb_forced_bits(had[i], out->bits);
        seen->old_changed |= !forced_keeps(s, step, o, had[i]);
        if (!had[i] || odb_rollout_output(&reference, s->rollout, step, o, &ignored) != ODB_OK)
            continue;
        out->mean = forced_mean(had[i], reference);
        out->power = odb_forced_power(s, o, reference, NULL);
        out->noise_power = odb_forced_power(s, o, had[i], reference);
        out->apart = odb_error_gap(had[i], reference, odb_plan_carrier(s->plan, o) >= 0);
        if (odb_verdict_is_bad(out->verdict))
            forced_place(s, step, o, had[i], reference);
        if ((int)o == s->logits)
            forced_token(&seen->token, had[i], reference, out->noise, forced_next(s, step));
        odb_tensor_unref(reference);
    }
}

static enum odb_status forced_feeds(void *payload, size_t step, struct odb_feeds **out,
                                    struct odb_error *err)
{
    const struct odb_sequence *s = payload;
    return odb_rollout_feeds(out, s->rollout, step, err);
}

/* --- which steps ------------------------------------------------------------------------------ */

/* One call of the judge takes the steps that are marked and not judged. */
struct forced_subset {
    struct odb_sequence *sequence;
    size_t *steps; /* owned */
    size_t n;
};

static enum odb_status forced_subset_feeds(void *payload, size_t at, struct odb_feeds **out,
                                           struct odb_error *err)
{
    const struct forced_subset *subset = payload;
    return forced_feeds(subset->sequence, subset->steps[at], out, err);
}

static void forced_subset_gave(void *payload, size_t at, const struct odb_value_report *reports,
                               const int *outputs, struct odb_tensor *const *had, size_t n)
{
    const struct forced_subset *subset = payload;
    forced_gave(subset->sequence, subset->steps[at], reports, outputs, had, n);
}

static void forced_spend(struct odb_sequence *s, const struct odb_samples_cost *spent)
{
    s->spent.models = ODB_MAX(s->spent.models, spent->models);
    s->spent.reference += spent->reference;
    odb_target_stats_add(&s->spent.target, &spent->target);
}

static enum odb_status forced_some(struct odb_sequence *s, struct forced_subset *subset,
                                   const struct odb_bisect_options *options, struct odb_error *err)
{
    struct odb_bisect_options how = *options;
    struct odb_samples samples = {.feeds = forced_subset_feeds,
                                  .payload = subset,
                                  .reshapes = true,
                                  .gave = forced_subset_gave};
    for (size_t i = 0; i < subset->n; i++)
        odb_push(&samples.items, (struct odb_sample){0});
    how.pass = "forced ";
    enum odb_status status = odb_samples_judge(&samples, s->plan->model, &how, err);
    for (size_t i = 0; i < subset->n; i++) {
        struct odb_sample *to = &s->forced.items.items[subset->steps[i]];
        struct odb_sample *from = &samples.items.items[i];
        char *source = to->source;
        s->seen[subset->steps[i]].judged = from->verdict != ODB_VERDICT_UNTESTED;
        *to = *from;
        to->source = source;
        *from = (struct odb_sample){0};
    }
    forced_spend(s, &samples.spent);
    odb_samples_dispose(&samples);
    return status;
}

/* A recording has each step in a folder of its own, which is a target of its own. */
static enum odb_status forced_recorded(struct odb_sequence *s, const struct forced_subset *all,
                                       const struct odb_bisect_options *options,
                                       struct odb_error *err)
{
    for (size_t i = 0; i < all->n; i++) {
        struct forced_subset one = {.sequence = s, .steps = &all->steps[i], .n = 1};
        struct odb_bisect_options how = *options;
        how.target = s->recorded->specs[all->steps[i]];
        ODB_TRY(forced_some(s, &one, &how, err));
        odb_hooks_progress(&options->hooks, "recorded steps", ODB_NO_NODE, i + 1, all->n);
    }
    return ODB_OK;
}

static enum odb_status forced_take(struct odb_sequence *s, const bool *wanted,
                                   const struct odb_bisect_options *options, struct odb_error *err)
{
    struct forced_subset subset = {.sequence = s};
    subset.steps = odb_new_n(size_t, s->plan->steps + 1);
    for (size_t k = 0; k < s->plan->steps; k++)
        if (wanted[k] && !s->seen[k].judged)
            subset.steps[subset.n++] = k;
    enum odb_status status = !subset.n     ? ODB_OK
                             : s->recorded ? forced_recorded(s, &subset, options, err)
                                           : forced_some(s, &subset, options, err);
    free(subset.steps);
    return status;
}

/* Of targets that are made anew for each step: where lengths usually matter. */
static void forced_sample(const struct odb_sequence *s, bool *wanted)
{
    size_t n = s->plan->steps;
    for (size_t k = 0; k < n; k++) {
        size_t total = s->rollout->steps.items[k].past + s->rollout->steps.items[k].pieces;
        bool power = (total & (total - 1)) == 0 || ((total - 1) & (total - 2)) == 0;
        wanted[k] = k < 4 || k + 1 == n || power;
    }
}

/* Halves the gap before the first wrong step, until it follows a right one. */
static enum odb_status forced_onset(struct odb_sequence *s, bool *wanted,
                                    const struct odb_bisect_options *options, struct odb_error *err)
{
    for (;;) {
        size_t bad = 0, good = SIZE_MAX;
        while (bad < s->plan->steps && !odb_forced_is_bad(s, bad))
            bad++;
        for (size_t k = 0; k < bad && bad < s->plan->steps; k++)
            if (s->seen[k].judged)
                good = k;
        if (bad >= s->plan->steps || good == SIZE_MAX || good + 1 >= bad)
            return ODB_OK;
        memset(wanted, 0, s->plan->steps * sizeof *wanted);
        wanted[good + (bad - good) / 2] = true;
        ODB_TRY(forced_take(s, wanted, options, err));
        if (!s->seen[good + (bad - good) / 2].judged)
            return ODB_OK;
    }
}

enum odb_status odb_forced_judge(struct odb_sequence *s, const struct odb_bisect_options *options,
                                 struct odb_error *err)
{
    bool *wanted = odb_new_n(bool, s->plan->steps + 1);
    bool few = odb_executor_fixed(options->target) && s->plan->steps > 8;
    for (size_t k = 0; k < s->plan->steps; k++)
        wanted[k] = true;
    if (few)
        forced_sample(s, wanted);
    enum odb_status status = forced_take(s, wanted, options, err);
    if (status == ODB_OK && few)
        status = forced_onset(s, wanted, options, err);
    free(wanted);
    return status;
}

/* --- as many pieces at once ------------------------------------------------------------------- */

static enum odb_status forced_whole_feeds(void *payload, size_t at, struct odb_feeds **out,
                                          struct odb_error *err)
{
    return odb_rollout_feeds(out, payload, at, err);
}

enum odb_status odb_forced_whole(struct odb_sequence *s, size_t step,
                                 const struct odb_bisect_options *options,
                                 enum odb_verdict *verdict, struct odb_error *err)
{
    const struct odb_sequence_step *last = &s->rollout->steps.items[step];
    size_t total = last->past + last->pieces;
    struct odb_rollout *whole;
    struct odb_error why = ODB_ERROR_INIT;
    *verdict = ODB_VERDICT_UNTESTED;
    if (!s->consistency.asked)
        return ODB_OK;
    enum odb_status status =
        odb_rollout_make(&whole, s->plan, s->streams, &total, 1, NULL, NULL, &options->hooks, &why);
    if (status != ODB_OK) {
        if (status == ODB_CANCELLED)
            *err = why;
        return status == ODB_CANCELLED ? status : ODB_OK;
    }
    struct odb_samples one = {.feeds = forced_whole_feeds, .payload = whole};
    struct odb_bisect_options how = *options;
    how.pass = "whole ";
    odb_push(&one.items, (struct odb_sample){0});
    status = odb_samples_judge(&one, s->plan->model, &how, err);
    *verdict = one.items.items[0].verdict;
    forced_spend(s, &one.spent);
    s->spent.reference++;
    odb_samples_dispose(&one);
    odb_rollout_free(whole);
    return status;
}

/* --- in another order ------------------------------------------------------------------------- */

static const char *const forced_passes[] = {"backwards ", "forwards ", "forwards again "};

/* The bits of all outputs of one step. */
static enum odb_status forced_again(struct odb_stepper *stepper, const struct odb_sequence *s,
                                    size_t step, unsigned char (*bits)[32], double *error,
                                    struct odb_error *err)
{
    const struct odb_graph *graph = s->plan->model->graph;
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, graph->n_outputs + 1);
    struct odb_feeds *feeds = NULL;
    char what[64], text[48];
    snprintf(what, sizeof what, "again, in another order: %s",
             odb_plan_step_text(s->plan, step, text, sizeof text));
    enum odb_status status = odb_rollout_feeds(&feeds, s->rollout, step, err);
    if (status == ODB_OK)
        status = odb_stepper_run(stepper, feeds, what, had, err);
    for (size_t o = 0; o < graph->n_outputs && status == ODB_OK; o++) {
        struct odb_tensor *reference = NULL;
        struct odb_gap gap;
        odb_forced_bits(had[o], bits[o]);
        status = odb_rollout_output(&reference, s->rollout, step, o, err);
        if (had[o] && reference) {
            odb_gap_measure(&gap, had[o], reference);
            *error = fmax(*error, gap.comparable && gap.pattern ? gap.error : INFINITY);
        }
        odb_tensor_unref(reference);
    }
    for (size_t o = 0; o < graph->n_outputs; o++)
        odb_tensor_unref(had[o]);
    odb_feeds_free(feeds);
    free(had);
    return status;
}

/* Runs the judged steps on a target loaded anew, in pass number p of forced_passes, of which the
 * first goes backwards; bits: [steps][n_outputs]. */
static enum odb_status forced_pass(struct odb_sequence *s, const struct odb_bisect_options *options,
                                   size_t p, unsigned char (*bits)[32], double *errors,
                                   struct odb_error *err)
{
    struct odb_stepper *stepper = NULL;
    size_t n = s->plan->steps, outputs = s->plan->model->graph->n_outputs;
    size_t first = n > ODB_FORCED_REORDERED ? n - ODB_FORCED_REORDERED : 0;
    ODB_TRY(odb_stepper_open(&stepper, s->plan->model, options, forced_passes[p], err));
    enum odb_status status = ODB_OK;
    for (size_t i = first; i < n && status == ODB_OK; i++) {
        size_t k = p == 0 ? n - 1 - (i - first) : i;
        if (!s->seen[k].judged)
            continue;
        status = forced_again(stepper, s, k, bits + k * outputs, &errors[k], err);
    }
    odb_stepper_close(stepper, status == ODB_OK, &s->spent);
    return status;
}

static bool forced_differs(const struct odb_sequence *s, size_t k, unsigned char (*a)[32],
                           unsigned char (*b)[32])
{
    size_t outputs = s->plan->model->graph->n_outputs;
    size_t n = s->plan->steps, first = n > ODB_FORCED_REORDERED ? n - ODB_FORCED_REORDERED : 0;
    return k >= first && s->seen[k].judged &&
           memcmp(a + k * outputs, b + k * outputs, outputs * sizeof *a) != 0;
}

enum odb_status odb_forced_reorder(struct odb_sequence *s, const struct odb_bisect_options *options,
                                   bool *moved, bool *unsteady, struct odb_error *err)
{
    size_t outputs = s->plan->model->graph->n_outputs, n = s->plan->steps, all = n * outputs + 1;
    unsigned char(*bits[3])[32]; /* backwards, forwards, forwards again */
    double *errors[3];
    bool differ = false;
    enum odb_status status = ODB_OK;
    *moved = *unsteady = false;
    for (size_t p = 0; p < 3; p++) {
        bits[p] = odb_xcalloc(all, sizeof *bits[p]);
        errors[p] = odb_new_n(double, n + 1);
    }
    odb_hooks_phase(&options->hooks, "steps in another order", n);
    status = forced_pass(s, options, 0, bits[0], errors[0], err);
    /* What was judged ran between searches, where it was off: alike without them is enough. */
    for (size_t k = 0; k < n && status == ODB_OK; k++)
        for (size_t o = 0; o < outputs && s->seen[k].judged; o++)
            memcpy(bits[1][k * outputs + o], s->seen[k].outputs[o].bits, sizeof **bits);
    for (size_t k = 0; k < n && status == ODB_OK; k++)
        differ |= forced_differs(s, k, bits[0], bits[1]);
    for (size_t p = 1; p < 3 && differ && status == ODB_OK; p++)
        status = forced_pass(s, options, p, bits[p], errors[p], err);
    for (size_t k = 0; k < n && differ && status == ODB_OK; k++) {
        *unsteady |= forced_differs(s, k, bits[1], bits[2]);
        s->seen[k].moved = forced_differs(s, k, bits[0], bits[1]);
        s->seen[k].moved_error = fmax(errors[0][k], errors[1][k]);
        *moved |= s->seen[k].moved;
    }
    *moved = *moved && !*unsteady;
    for (size_t p = 0; p < 3; p++) {
        free(bits[p]);
        free(errors[p]);
    }
    return status;
}
