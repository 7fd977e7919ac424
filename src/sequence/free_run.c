/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/free_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/executor.h"
#include "reference/trace.h"
#include "sequence/error_place.h"
#include "sequence/forced.h"
#include "sequence/stepper.h"
#include "tensor/random.h"

#define FREE_SEEDS 3    /* of spoilt states */
#define FREE_COMPILED 8 /* sets of shapes, where each is compiled */
#define FREE_FACTOR 3.0 /* of what they make */
#define FREE_LEAST 1e-5 /* relative: what is off by less goes unlooked at */

double odb_free_error(const struct odb_sequence *s, size_t step)
{
    double worst = 0;
    for (size_t o = 0; o < s->plan->model->graph->n_outputs; o++)
        if (!isnan(s->seen[step].outputs[o].free))
            worst = fmax(worst, s->seen[step].outputs[o].free);
    return worst;
}

double odb_free_forced(const struct odb_sequence *s, size_t step)
{
    double worst = 0;
    for (size_t o = 0; o < s->plan->model->graph->n_outputs; o++) {
        const struct odb_step_output *out = &s->seen[step].outputs[o];
        worst = fmax(worst,
                     fmax(isnan(out->error) ? 0 : out->error, isnan(out->noise) ? 0 : out->noise));
    }
    return worst;
}

static bool free_some_right(const struct odb_sequence *s)
{
    for (size_t k = 0; k < s->plan->steps; k++)
        if (s->seen[k].judged && !odb_forced_is_bad(s, k))
            return true;
    return false;
}

/* What a step that is wrong when forced is off by excuses no other, as far as some are right. */
static bool free_counts(const struct odb_sequence *s, bool some_right, size_t step)
{
    return s->seen[step].judged && !(some_right && odb_forced_is_bad(s, step));
}

/* More than a few times what the step, or any that counts, is off by when forced. */
static bool free_leaves(const struct odb_sequence *s, size_t step, double error)
{
    double forced = fmax(FREE_LEAST, s->seen[step].judged ? odb_free_forced(s, step) : 0);
    bool some_right = free_some_right(s);
    for (size_t k = 0; k < s->plan->steps; k++)
        forced = fmax(forced, free_counts(s, some_right, k) ? odb_free_forced(s, k) : 0);
    return error > FREE_FACTOR * forced;
}

static bool free_is_astray(const struct odb_sequence *s, size_t step, double error)
{
    double envelope = s->seen[step].envelope;
    return free_leaves(s, step, error) && !isnan(envelope) && error > FREE_FACTOR * envelope;
}

bool odb_free_astray(const struct odb_sequence *s, size_t step)
{
    return free_is_astray(s, step, odb_free_error(s, step));
}

bool odb_free_drifts(const struct odb_sequence *s, size_t step)
{
    return free_leaves(s, step, odb_free_error(s, step)) && !odb_free_astray(s, step);
}

/* --- the target's own state ------------------------------------------------------------------- */

/* A run of the target from the first step on, with states of its own: of all carries, or of one. */
struct free_pass {
    struct odb_sequence *sequence;
    struct odb_stepper *stepper; /* owned */
    int only;                    /* the input whose state is its own; -1: all are */
    double *worst;               /* [steps] of the outputs; NULL: they go to the sequence */
};

/* What each output is off by. A state that is the reference's in the next step anyway counts not.
 */
static enum odb_status free_compare(const struct free_pass *pass,
                                    const struct odb_sequence_step *step, size_t k,
                                    struct odb_error *err)
{
    struct odb_sequence *s = pass->sequence;
    for (size_t o = 0; o < s->plan->model->graph->n_outputs; o++) {
        struct odb_tensor *reference = NULL;
        ODB_TRY(odb_rollout_output(&reference, s->rollout, k, o, err));
        double gap = odb_error_gap(step->out[o], reference, odb_plan_carrier(s->plan, o) >= 0);
        if (!pass->worst) {
            s->seen[k].outputs[o].free = gap;
            s->seen[k].outputs[o].free_power = odb_forced_power(s, o, step->out[o], reference);
        } else {
            pass->worst[k] = fmax(pass->worst[k], isnan(gap) ? 0 : gap);
        }
        odb_tensor_unref(reference);
    }
    return ODB_OK;
}

static struct odb_feeds *free_feeds(const struct odb_sequence *s,
                                    const struct odb_sequence_step *step)
{
    struct odb_feeds *feeds = odb_feeds_new(s->plan->model);
    for (size_t i = 0; i < s->plan->inputs.n; i++)
        odb_feeds_add(feeds, s->plan->inputs.items[i].value, step->in[i], "free");
    return feeds;
}

/* In the place of the states that are not the target's own: the reference's. */
static enum odb_status free_mix(const struct free_pass *pass, size_t k,
                                struct odb_sequence_step *step, struct odb_error *err)
{
    const struct odb_sequence *s = pass->sequence;
    for (size_t o = 0; o < s->plan->model->graph->n_outputs && pass->only >= 0; o++) {
        struct odb_tensor *reference = NULL;
        if (odb_plan_carrier(s->plan, o) == pass->only)
            continue;
        ODB_TRY(odb_rollout_output(&reference, s->rollout, k, o, err));
        odb_tensor_unref(step->out[o]);
        step->out[o] = reference;
    }
    return ODB_OK;
}

/* Whether the token that the target's own logits choose is the reference's. The first other one is
 * noted, and the reference's goes on in its place, so that what follows can be compared. */
static enum odb_status free_choose(const struct free_pass *pass, size_t k,
                                   const struct odb_sequence_step *before,
                                   const struct odb_sequence_step *step, struct odb_error *err)
{
    struct odb_sequence *s = pass->sequence;
    int i = odb_plan_tokens(s->plan);
    struct odb_tensor *chosen;
    if (!s->plan->own_tokens || s->own || !before || pass->only >= 0 || i < 0 ||
        !before->out[s->logits])
        return ODB_OK;
    ODB_TRY(odb_streams_choose(&chosen, s->streams, (size_t)i, before->out[s->logits], err));
    for (size_t r = 0; r < chosen->count && !s->own; r++) {
        s->own_token = odb_tensor_i64(chosen, r);
        s->reference_token = odb_tensor_i64(step->in[i], r);
        s->own = s->own_token != s->reference_token ? k : 0;
    }
    odb_tensor_unref(chosen);
    return ODB_OK;
}

static enum odb_status free_step(struct free_pass *pass, size_t k,
                                 const struct odb_sequence_step *before,
                                 struct odb_sequence_step *step, struct odb_error *err)
{
    struct odb_sequence *s = pass->sequence;
    const struct odb_sequence_step *as = &s->rollout->steps.items[k];
    char what[48];
    snprintf(what, sizeof what, "with its own state: step %zu", k);
    *step = (struct odb_sequence_step){.past = as->past, .pieces = as->pieces};
    step->in = odb_new_n(struct odb_tensor *, s->plan->inputs.n + 1);
    step->out = odb_new_n(struct odb_tensor *, s->plan->model->graph->n_outputs + 1);
    ODB_TRY(odb_step_feed(step->in, s->plan, s->streams, k, as->past, as->pieces, before, err));
    ODB_TRY(free_choose(pass, k, before, step, err));
    struct odb_feeds *feeds = free_feeds(s, step);
    enum odb_status status = odb_stepper_run(pass->stepper, feeds, what, step->out, err);
    odb_feeds_free(feeds);
    if (status == ODB_OK)
        status = free_compare(pass, step, k, err);
    return status == ODB_OK ? free_mix(pass, k, step, err) : status;
}

/* The first n steps. */
static enum odb_status free_steps(struct free_pass *pass, size_t n,
                                  const struct odb_bisect_options *options, struct odb_error *err)
{
    static const char phase[] = "steps with the target's own state";
    struct odb_sequence *s = pass->sequence;
    struct odb_sequence_step steps[2] = {{0}, {0}};
    size_t n_in = s->plan->inputs.n, n_out = s->plan->model->graph->n_outputs;
    char name[32] = "free ";
    if (pass->only >= 0)
        snprintf(name, sizeof name, "free %d ", pass->only);
    ODB_TRY(odb_stepper_open(&pass->stepper, s->plan->model, options, name, err));
    enum odb_status status = ODB_OK;
    odb_hooks_phase(&options->hooks, phase, n);
    for (size_t k = 0; k < n && status == ODB_OK; k++) {
        struct odb_sequence_step *step = &steps[k % 2], *before = &steps[(k + 1) % 2];
        odb_step_dispose(step, n_in, n_out);
        status = free_step(pass, k, k ? before : NULL, step, err);
        odb_hooks_progress(&options->hooks, phase, ODB_NO_NODE, k + 1, n);
    }
    odb_step_dispose(&steps[0], n_in, n_out);
    odb_step_dispose(&steps[1], n_in, n_out);
    odb_stepper_close(pass->stepper, status == ODB_OK, &s->spent);
    return status;
}

#define FREE_BLAMED 32 /* carries that are tried one by one */

enum odb_status odb_free_blame(struct odb_sequence *s, const struct odb_bisect_options *options,
                               int *carry, struct odb_error *err)
{
    size_t carries = 0, n = s->step + 1;
    double *worst = odb_new_n(double, s->plan->steps);
    enum odb_status status = ODB_OK;
    bool several = false;
    *carry = -1;
    for (size_t i = 0; i < s->plan->inputs.n; i++)
        carries += s->plan->inputs.items[i].move == ODB_MOVE_CARRY;
    for (size_t i = 0; i < s->plan->inputs.n && carries <= FREE_BLAMED && status == ODB_OK; i++) {
        struct free_pass pass = {.sequence = s, .only = (int)i, .worst = worst};
        bool astray = false;
        if (s->plan->inputs.items[i].move != ODB_MOVE_CARRY)
            continue;
        memset(worst, 0, s->plan->steps * sizeof *worst);
        status = free_steps(&pass, n, options, err);
        for (size_t k = 0; k < n && status == ODB_OK; k++)
            astray |= free_is_astray(s, k, worst[k]);
        several |= astray && *carry >= 0;
        *carry = astray && *carry < 0 ? (int)i : *carry;
    }
    free(worst);
    if (several)
        *carry = -1;
    return status;
}

/* --- what rounding, carried on, makes --------------------------------------------------------- */

struct free_spoil {
    const struct odb_sequence *sequence;
    uint64_t seed;
};

/* What a state was off by at most, forced, or may be by rounding. */
static double free_size(const struct odb_sequence *s, size_t i)
{
    double size = 0;
    bool some_right = free_some_right(s);
    for (size_t o = 0; o < s->plan->model->graph->n_outputs; o++)
        for (size_t k = 0; k < s->plan->steps && odb_plan_carrier(s->plan, o) == (int)i; k++) {
            const struct odb_step_output *out = &s->seen[k].outputs[o];
            size = fmax(size, isnan(out->error) || !free_counts(s, some_right, k) ? 0 : out->error);
            size = fmax(size, isnan(out->noise) ? 0 : out->noise);
        }
    return size;
}

/* Every element of a state is moved by up to what the target was off by there, forced. */
static enum odb_status free_spoil(void *payload, size_t step, size_t i, struct odb_tensor **state,
                                  struct odb_error *err)
{
    const struct free_spoil *spoil = payload;
    const struct odb_sequence *s = spoil->sequence;
    struct odb_tensor *own = NULL;
    double squares = 0;
    if (!step || s->plan->inputs.items[i].move != ODB_MOVE_CARRY)
        return ODB_OK;
    if ((*state)->kind != ODB_TENSOR || !odb_dtype_is_float((*state)->dtype) || !(*state)->count)
        return ODB_OK;
    double size = free_size(s, i);
    ODB_TRY(odb_tensor_clone(&own, *state, err));
    for (size_t k = 0; k < own->count; k++)
        squares += pow(odb_tensor_f64(own, k), 2);
    double rms = sqrt(squares / (double)own->count);
    uint64_t seed = odb_mix64(odb_mix64(spoil->seed + step) + i);
    for (size_t k = 0; k < own->count; k++) {
        double at = (double)(odb_mix64(seed + k) >> 11) * 0x1p-53;
        odb_store_f64(own->dtype, own->data, k, odb_tensor_f64(own, k) + size * rms * (2 * at - 1));
    }
    odb_tensor_unref(*state);
    *state = own;
    return ODB_OK;
}

static enum odb_status free_envelope(struct odb_sequence *s,
                                     const struct odb_bisect_options *options,
                                     struct odb_error *err)
{
    size_t n_out = s->plan->model->graph->n_outputs;
    for (size_t k = 0; k < s->plan->steps; k++)
        s->seen[k].envelope = odb_free_forced(s, k);
    for (uint64_t seed = 0; seed < FREE_SEEDS; seed++) {
        struct free_spoil spoil = {s, options->seed + seed};
        struct odb_rollout *spoilt = NULL;
        ODB_TRY(odb_rollout_make(&spoilt, s->plan, s->streams, NULL, 0, free_spoil, &spoil,
                                 &options->hooks, err));
        enum odb_status status = ODB_OK;
        for (size_t k = 0; k < s->plan->steps && status == ODB_OK; k++)
            for (size_t o = 0; o < n_out && status == ODB_OK; o++) {
                struct odb_tensor *a = NULL, *b = NULL;
                status = odb_rollout_output(&a, spoilt, k, o, err);
                if (status == ODB_OK)
                    status = odb_rollout_output(&b, s->rollout, k, o, err);
                double gap = odb_error_gap(a, b, odb_plan_carrier(s->plan, o) >= 0);
                s->seen[k].envelope = fmax(s->seen[k].envelope, isnan(gap) ? 0 : gap);
                odb_tensor_unref(a);
                odb_tensor_unref(b);
            }
        s->spent.reference += spoilt->steps.n;
        odb_rollout_free(spoilt);
        ODB_TRY(status);
    }
    return ODB_OK;
}

static bool free_same_shapes(const struct odb_sequence *s, size_t a, size_t b)
{
    const struct odb_sequence_step *x = &s->rollout->steps.items[a];
    const struct odb_sequence_step *y = &s->rollout->steps.items[b];
    bool same = true;
    for (size_t i = 0; i < s->plan->inputs.n && same; i++)
        same = odb_tensor_same_shape(x->in[i], y->in[i]);
    return same;
}

/* How many of the first steps have no more than so many sets of shapes, each of which is compiled.
 */
static size_t free_reach(const struct odb_sequence *s)
{
    size_t kinds[FREE_COMPILED], n = 0;
    for (size_t k = 0; k < s->plan->steps; k++) {
        size_t i = 0;
        while (i < n && !free_same_shapes(s, kinds[i], k))
            i++;
        if (i == FREE_COMPILED)
            return k;
        if (i == n)
            kinds[n++] = k;
    }
    return s->plan->steps;
}

enum odb_status odb_free_run(struct odb_sequence *s, const struct odb_bisect_options *options,
                             struct odb_error *err)
{
    bool leaves = false, few = odb_executor_fixed(options->target);
    struct free_pass pass = {.sequence = s, .only = -1};
    size_t n = few ? free_reach(s) : s->plan->steps;
    ODB_TRY(free_steps(&pass, n, options, err));
    s->ran_free = n;
    for (size_t k = 0; k < s->plan->steps; k++)
        leaves |= free_leaves(s, k, odb_free_error(s, k));
    return leaves ? free_envelope(s, options, err) : ODB_OK;
}
