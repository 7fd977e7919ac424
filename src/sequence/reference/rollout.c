/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/reference/rollout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "interpret/cpu.h"
#include "run/memory_budget.h"
#include "sequence/plan/axis.h"
#include "sequence/plan/formula.h"
#include "tensor/spill.h"

int odb_plan_carrier(const struct odb_plan *plan, size_t o)
{
    for (size_t i = 0; i < plan->inputs.n; i++)
        if (plan->inputs.items[i].move == ODB_MOVE_CARRY &&
            plan->inputs.items[i].output == plan->model->graph->outputs[o])
            return (int)i;
    return -1;
}

void odb_step_dispose(struct odb_sequence_step *step, size_t n_in, size_t n_out)
{
    for (size_t i = 0; step->in && i < n_in; i++)
        odb_tensor_unref(step->in[i]);
    for (size_t o = 0; step->out && o < n_out; o++)
        odb_tensor_unref(step->out[o]);
    free(step->in);
    free(step->out);
    *step = (struct odb_sequence_step){0};
}

/* --- what a step is fed ----------------------------------------------------------------------- */

/* What names stand for in the formulas of a step: the pieces and the held inputs of this one; all
 * else of the step before. */
struct step_names {
    const struct odb_plan *plan;
    const struct odb_streams *streams;
    struct odb_tensor *const *in;
    const struct odb_sequence_step *before; /* NULL: there is none */
};

static const struct odb_tensor *step_find(void *payload, const char *name)
{
    const struct step_names *names = payload;
    const struct odb_graph *graph = names->plan->model->graph;
    for (size_t i = 0; i < names->plan->inputs.n; i++) {
        const struct odb_plan_input *input = &names->plan->inputs.items[i];
        bool old = names->before && (input->move == ODB_MOVE_CARRY || input->move == ODB_MOVE_RULE);
        if (!strcmp(graph->values[input->value].name, name))
            return old ? names->before->in[i] : names->in[i];
    }
    for (size_t o = 0; o < graph->n_outputs && names->before; o++)
        if (!strcmp(graph->values[graph->outputs[o]].name, name))
            return names->before->out[o];
    return odb_streams_outside(names->streams, name);
}

/* What a formula gave, in the type of the input and with as many axes. */
static enum odb_status step_fit(struct odb_tensor **t, const struct odb_value *value,
                                struct odb_error *err)
{
    struct odb_tensor *had = *t, *cast = NULL;
    int64_t dims[ODB_MAX_RANK] = {0};
    int rank = value->type.rank;
    char shape[96];
    *t = NULL;
    enum odb_status status =
        value->type.known ? odb_tensor_cast(&cast, had, value->type.dtype, err) : ODB_OK;
    if (status == ODB_OK && value->type.known && rank >= 0 && cast->rank < rank) {
        for (int i = 0; i < rank; i++)
            dims[i] = i < rank - cast->rank ? 1 : cast->dims[i - (rank - cast->rank)];
        status = odb_tensor_reshape(t, cast, rank, dims, err);
    } else if (status == ODB_OK) {
        *t = odb_tensor_ref(cast ? cast : had);
    }
    for (int i = 0; status == ODB_OK && value->type.known && i < rank; i++)
        if ((*t)->rank != rank ||
            (value->type.dims[i].value >= 0 && value->type.dims[i].value != (*t)->dims[i]))
            status = odb_fail(err, ODB_E_INPUT, "it gives shape %s, and the input is %s",
                              odb_shape_text(*t, shape, sizeof shape), value->type.shown);
    if (status != ODB_OK) {
        odb_tensor_unref(*t);
        *t = NULL;
    }
    odb_tensor_unref(cast);
    odb_tensor_unref(had);
    return status;
}

static enum odb_status step_formula(struct odb_tensor **out, const struct step_names *names,
                                    size_t i, const char *text,
                                    const struct odb_formula_scope *scope, struct odb_error *err)
{
    const struct odb_value *value =
        &names->plan->model->graph->values[names->plan->inputs.items[i].value];
    struct odb_formula *formula = NULL;
    enum odb_status status = odb_formula_parse(&formula, text, err);
    if (status == ODB_OK)
        status = odb_formula_value(out, formula, scope, err);
    if (status == ODB_OK)
        status = step_fit(out, value, err);
    odb_formula_free(formula);
    if (status != ODB_OK && err && !err->where[0])
        odb_error_at(err, "step %lld, input %s", (long long)scope->t, value->name);
    return status;
}

/* A state as the step before gave it, or a formula of it. */
static enum odb_status step_carry(struct odb_tensor **out, const struct step_names *names, size_t i,
                                  const struct odb_formula_scope *scope, struct odb_error *err)
{
    const struct odb_plan_input *input = &names->plan->inputs.items[i];
    const struct odb_graph *graph = names->plan->model->graph;
    if (input->next)
        return step_formula(out, names, i, input->next, scope, err);
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (graph->outputs[o] == input->output) {
            *out = odb_tensor_ref(names->before->out[o]);
            return ODB_OK;
        }
    return odb_fail(err, ODB_E_INTERNAL, "a carry has no output");
}

enum odb_status odb_step_feed(struct odb_tensor **in, const struct odb_plan *plan,
                              const struct odb_streams *streams, size_t step, size_t past, size_t n,
                              const struct odb_sequence_step *before, struct odb_error *err)
{
    struct step_names names = {plan, streams, in, before};
    struct odb_formula_scope scope = {.find = step_find,
                                      .payload = &names,
                                      .t = (int64_t)step,
                                      .n = (int64_t)n,
                                      .past = (int64_t)past,
                                      .total = (int64_t)(past + n)};
    enum odb_status status = ODB_OK;
    memset(in, 0, plan->inputs.n * sizeof *in);
    for (int rules = 0; rules < 2; rules++) /* which read the others */
        for (size_t i = 0; i < plan->inputs.n; i++) {
            struct odb_error why = ODB_ERROR_INIT;
            enum odb_move move = plan->inputs.items[i].move;
            const char *text = plan->inputs.items[i].next;
            if (!before && plan->inputs.items[i].start)
                text = plan->inputs.items[i].start;
            if ((move == ODB_MOVE_RULE) != rules)
                continue;
            enum odb_status one = rules ? step_formula(&in[i], &names, i, text, &scope, &why)
                                  : move == ODB_MOVE_CARRY && before
                                      ? step_carry(&in[i], &names, i, &scope, &why)
                                      : odb_streams_take(&in[i], streams, i, past, n, &why);
            if (one != ODB_OK && status == ODB_OK) {
                status = one;
                *err = why;
            }
        }
    return status;
}

/* Whether the plan's formula holds, of what the step was fed and gave. */
static enum odb_status step_stops(const struct step_names *names, size_t at, bool *stops,
                                  struct odb_error *err)
{
    const struct odb_sequence_step *step = names->before;
    struct odb_formula_scope scope = {.find = step_find,
                                      .payload = (void *)names,
                                      .t = (int64_t)at,
                                      .n = (int64_t)step->pieces,
                                      .past = (int64_t)step->past,
                                      .total = (int64_t)(step->past + step->pieces)};
    struct odb_formula *formula = NULL;
    struct odb_tensor *holds = NULL;
    enum odb_status status = odb_formula_parse(&formula, names->plan->stop, err);
    if (status == ODB_OK)
        status = odb_formula_value(&holds, formula, &scope, err);
    if (status == ODB_OK && holds->count != 1)
        status = odb_fail(err, ODB_E_INPUT, "it gives %zu elements, and one says whether it holds",
                          holds->count);
    if (status == ODB_OK && isnan(odb_tensor_f64(holds, 0)))
        status = odb_fail(err, ODB_E_INPUT, "it gives NaN, which says nothing");
    if (status == ODB_OK)
        *stops = odb_tensor_f64(holds, 0) != 0;
    else
        odb_error_at(err, "step %lld, --stop %s", (long long)scope.t, names->plan->stop);
    odb_tensor_unref(holds);
    odb_formula_free(formula);
    return status;
}

enum odb_status odb_step_follow(const struct odb_plan *plan, struct odb_streams *streams, size_t at,
                                const struct odb_sequence_step *step, bool *stops,
                                struct odb_error *err)
{
    const struct step_names names = {plan, streams, step->in, step};
    int logits = odb_plan_logits(plan);
    *stops = false;
    if (plan->stop)
        ODB_TRY(step_stops(&names, at, stops, err));
    if (logits < 0 || !step->out[logits] || at + 1 == plan->steps)
        return ODB_OK;
    return odb_streams_follow(streams, step->past + step->pieces, step->out[logits], err);
}

/* --- the reference ---------------------------------------------------------------------------- */

struct rollout_run {
    struct odb_rollout *rollout;
    struct odb_cpu *cpu; /* owned */
    size_t step;
};

static enum odb_status rollout_after(void *payload, int node, enum odb_status status,
                                     struct odb_error *err)
{
    const struct rollout_run *run = payload;
    struct odb_buf where = ODB_BUF_INIT;
    if (status == ODB_OK)
        return ODB_OK;
    odb_node_put(run->rollout->plan->model->graph, node, &where);
    odb_error_at(err, "the reference, step %zu, node %s", run->step, odb_buf_text(&where));
    odb_buf_dispose(&where);
    return status;
}

static enum odb_status rollout_execute(struct rollout_run *run, struct odb_sequence_step *step,
                                       const struct odb_search_hooks *hooks, struct odb_error *err)
{
    const struct odb_plan *plan = run->rollout->plan;
    const struct odb_graph *graph = plan->model->graph;
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, graph->n_values + 1);
    struct odb_cpu_run how = {.precision = ODB_PREC_NATIVE,
                              .values = values,
                              .free_dead = true,
                              .after = rollout_after,
                              .payload = run,
                              .cancelled = NULL};
    for (size_t i = 0; i < plan->inputs.n; i++)
        values[plan->inputs.items[i].value] = odb_tensor_ref(step->in[i]);
    ODB_TRY(odb_hooks_cancelled(hooks, err));
    enum odb_status status = odb_cpu_execute(run->cpu, &how, err);
    for (size_t o = 0; o < graph->n_outputs && status == ODB_OK; o++) {
        const struct odb_value *value = &graph->values[graph->outputs[o]];
        const struct odb_tensor *t = values[value->index] ? values[value->index] : value->init;
        step->out[o] = odb_tensor_ref(t);
        if (!t)
            status =
                odb_fail(err, ODB_UNSUPPORTED, "the reference makes no output '%s'", value->name);
    }
    for (size_t v = 0; v < graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
    return status;
}

/* Whether a carry should only grow, as far as is known. */
static bool rollout_appends(const struct odb_rollout *r, int i)
{
    const struct odb_plan_input *input = i < 0 ? NULL : &r->plan->inputs.items[i];
    return input && input->kind == ODB_CARRY_APPEND && !input->next && input->axis >= 0 &&
           !r->slides[i];
}

/* Of a tensor that is a part of what a state has grown to, the shape is enough. */
static void rollout_shrink(struct odb_tensor **t)
{
    struct odb_tensor *shape;
    struct odb_error ignored = ODB_ERROR_INIT;
    if (odb_tensor_new_shape(&shape, (*t)->dtype, (*t)->rank, (*t)->dims, &ignored) != ODB_OK)
        return;
    odb_tensor_unref(*t);
    *t = shape;
}

/* The state has grown in this step, so that the steps before need nothing of their own. */
static void rollout_grow(struct odb_rollout *r, size_t at, int i, size_t o)
{
    odb_tensor_unref(r->grown[i]);
    r->grown[i] = odb_tensor_ref(r->steps.items[at].out[o]);
    if (!at)
        return;
    rollout_shrink(&r->steps.items[at - 1].in[i]);
    rollout_shrink(&r->steps.items[at - 1].out[o]);
}

/* Whether a state that should only grow is, in this step, what it was with more behind it. One that
 * has lost some of its length slides: it is a window over what came. keep: its steps are kept whole
 * in any case. */
static void rollout_watch(struct odb_rollout *r, size_t at, bool keep)
{
    const struct odb_plan *plan = r->plan;
    struct odb_sequence_step *step = &r->steps.items[at];
    for (size_t o = 0; o < plan->model->graph->n_outputs; o++) {
        int i = odb_plan_carrier(plan, o);
        if (!rollout_appends(r, i) || r->broken[i])
            continue;
        const struct odb_tensor *was = step->in[i], *is = step->out[o];
        int axis = plan->inputs.items[i].axis;
        bool fits = is->rank > axis && was->rank > axis;
        int64_t had = fits ? was->dims[axis] : 0, has = fits ? is->dims[axis] : 0;
        if (fits && has >= had && odb_axis_same(is, 0, was, had, axis)) {
            if (!keep)
                rollout_grow(r, at, i, o);
            continue;
        }
        r->slides[i] = fits && has < had + (int64_t)step->pieces;
        r->broken[i] = !r->slides[i];
        if (r->broken[i] && r->broken_input < 0) {
            r->broken_input = i;
            r->broken_step = at;
        }
    }
}

/* What a step has alone may go to disk. A state that grows stays where the next step takes its
 * place; keep: none does. */
static enum odb_status rollout_spill(const struct odb_rollout *r, struct odb_sequence_step *step,
                                     bool keep, struct odb_error *err)
{
    const struct odb_graph *graph = r->plan->model->graph;
    for (size_t i = 0; i < r->plan->inputs.n; i++)
        if (r->plan->inputs.items[i].move != ODB_MOVE_CARRY)
            ODB_TRY(odb_spill_take(r->spill, step->in[i], err));
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (keep || !rollout_appends(r, odb_plan_carrier(r->plan, o)))
            ODB_TRY(odb_spill_take(r->spill, step->out[o], err));
    odb_spill_drop(r->spill);
    return ODB_OK;
}

static enum odb_status rollout_step(struct rollout_run *run, size_t at, size_t past, size_t n,
                                    odb_rollout_change_fn *change, void *payload,
                                    const struct odb_search_hooks *hooks, struct odb_error *err)
{
    struct odb_rollout *r = run->rollout;
    const struct odb_plan *plan = r->plan;
    const struct odb_sequence_step *before = at ? &r->steps.items[at - 1] : NULL;
    struct odb_sequence_step step = {.past = past, .pieces = n};
    step.in = odb_new_n(struct odb_tensor *, plan->inputs.n + 1);
    step.out = odb_new_n(struct odb_tensor *, plan->model->graph->n_outputs + 1);
    run->step = at;
    enum odb_status status = odb_step_feed(step.in, plan, r->streams, at, past, n, before, err);
    for (size_t i = 0; i < plan->inputs.n && status == ODB_OK && change; i++)
        status = change(payload, at, i, &step.in[i], err);
    if (status == ODB_OK)
        status = rollout_execute(run, &step, hooks, err);
    if (status == ODB_OK)
        status = rollout_spill(r, &step, change != NULL, err);
    if (status != ODB_OK) {
        odb_step_dispose(&step, plan->inputs.n, plan->model->graph->n_outputs);
        return status;
    }
    odb_push(&r->steps, step);
    rollout_watch(r, at, change != NULL); /* which may feed anything in the place of a state */
    return ODB_OK;
}

enum odb_status odb_rollout_make(struct odb_rollout **out, const struct odb_plan *plan,
                                 struct odb_streams *streams, const size_t *chunks, size_t n,
                                 odb_rollout_change_fn *change, void *payload,
                                 const struct odb_search_hooks *hooks, struct odb_error *err)
{
    struct odb_rollout *r = odb_new(struct odb_rollout);
    struct rollout_run run = {.rollout = r};
    size_t steps = chunks ? n : plan->steps, past = 0;
    *r = (struct odb_rollout){.plan = plan, .streams = streams, .broken_input = -1};
    r->grown = odb_new_n(struct odb_tensor *, plan->inputs.n + 1);
    r->slides = odb_new_n(bool, plan->inputs.n + 1);
    r->broken = odb_new_n(bool, plan->inputs.n + 1);
    r->spill = odb_spill_new(odb_memory_budget(hooks->budget).steps);
    enum odb_status status = odb_cpu_new(&run.cpu, plan->model, err);
    odb_hooks_phase(hooks, "steps on the reference", steps);
    for (size_t at = 0; at < steps && status == ODB_OK && !r->stopped; at++) {
        size_t pieces = chunks ? chunks[at] : odb_plan_pieces(plan, at);
        status = rollout_step(&run, at, past, pieces, change, payload, hooks, err);
        odb_hooks_progress(hooks, "steps on the reference", ODB_NO_NODE, at + 1, steps);
        past += pieces;
        if (status == ODB_OK && !chunks && !change)
            status = odb_step_follow(plan, streams, at, &r->steps.items[at], &r->stopped, err);
    }
    odb_cpu_free(run.cpu);
    if (status != ODB_OK) {
        odb_rollout_free(r);
        return status;
    }
    *out = r;
    return ODB_OK;
}

void odb_rollout_free(struct odb_rollout *r)
{
    if (!r)
        return;
    for (size_t s = 0; s < r->steps.n; s++)
        odb_step_dispose(&r->steps.items[s], r->plan->inputs.n, r->plan->model->graph->n_outputs);
    for (size_t i = 0; i < r->plan->inputs.n; i++)
        odb_tensor_unref(r->grown[i]);
    odb_spill_unref(r->spill);
    free(r->grown);
    free(r->slides);
    free(r->broken);
    free(r->steps.items);
    free(r);
}

/* --- looking at it ---------------------------------------------------------------------------- */

/* What is kept, or as long a part of what it grew to. */
static enum odb_status rollout_had(struct odb_tensor **out, const struct odb_rollout *r, int carry,
                                   const struct odb_tensor *kept, struct odb_error *err)
{
    const struct odb_tensor *grown = carry < 0 ? NULL : r->grown[carry];
    int axis = carry < 0 ? -1 : r->plan->inputs.items[carry].axis;
    if (grown && !kept->data)
        return odb_axis_part(out, grown, axis, 0, kept->dims[axis], err);
    *out = odb_tensor_ref(kept);
    return ODB_OK;
}

enum odb_status odb_rollout_output(struct odb_tensor **out, const struct odb_rollout *r,
                                   size_t step, size_t o, struct odb_error *err)
{
    return rollout_had(out, r, odb_plan_carrier(r->plan, o), r->steps.items[step].out[o], err);
}

enum odb_status odb_rollout_feeds(struct odb_feeds **out, const struct odb_rollout *r, size_t step,
                                  struct odb_error *err)
{
    static const char *const how[] = {[ODB_MOVE_HOLD] = "held, ",
                                      [ODB_MOVE_CARRY] = "carried, ",
                                      [ODB_MOVE_FEED] = "",
                                      [ODB_MOVE_RULE] = "by rule, "};
    struct odb_feeds *feeds = odb_feeds_new(r->plan->model);
    feeds->step = (long)step;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < r->plan->inputs.n && status == ODB_OK; i++) {
        const struct odb_plan_input *input = &r->plan->inputs.items[i];
        struct odb_tensor *t = NULL;
        char source[sizeof feeds->items->source];
        status = rollout_had(&t, r, (int)i, r->steps.items[step].in[i], err);
        if (status != ODB_OK)
            break;
        const char *from = input->move == ODB_MOVE_RULE ? input->next
                           : input->move == ODB_MOVE_CARRY
                               ? step ? "of the step before" : odb_streams_source(r->streams, i)
                               : odb_streams_source(r->streams, i);
        snprintf(source, sizeof source, "step %zu: %s%.200s", step, how[input->move], from);
        odb_feeds_add(feeds, input->value, t, source);
        odb_tensor_unref(t);
    }
    if (status != ODB_OK) {
        odb_feeds_free(feeds);
        return status;
    }
    *out = feeds;
    return ODB_OK;
}

const char *odb_plan_step_text(const struct odb_plan *plan, size_t step, char *buf, size_t size)
{
    bool counted = false;
    for (size_t i = 0; i < plan->inputs.n; i++)
        counted |= plan->inputs.items[i].move == ODB_MOVE_FEED && plan->inputs.items[i].axis >= 0;
    if (counted)
        snprintf(buf, size, "step %zu (%zu past + %zu new)", step, odb_plan_past(plan, step),
                 odb_plan_pieces(plan, step));
    else
        snprintf(buf, size, "step %zu", step);
    return buf;
}

bool odb_rollout_same(const struct odb_rollout *r, size_t i)
{
    bool same = r->steps.n > 1;
    for (size_t k = 1; k < r->steps.n && same; k++) {
        const struct odb_tensor *a = r->steps.items[0].in[i], *b = r->steps.items[k].in[i];
        same = a == b || odb_tensor_identical(a, b);
    }
    return same;
}

bool odb_rollout_repeats(const struct odb_rollout *r)
{
    bool same = true;
    for (size_t i = 0; i < r->plan->inputs.n && same; i++)
        same = odb_rollout_same(r, i);
    return same;
}
