/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sequence/error_place.h"
#include "tensor/tensor_print.h"

struct schedule_look {
    struct odb_schedule *schedule;
    const struct odb_plan *plan;
    struct odb_streams *streams;
    struct odb_recorded_steps *recorded;
    bool *wrong; /* owned; [plan->inputs.n] somewhere */
    size_t last; /* step in which the first one was wrong last */
};

/* --- whether two are one ---------------------------------------------------------------------- */

/* Of two types: the larger distance from one number to the next. */
static double schedule_eps(const struct odb_tensor *a, const struct odb_tensor *b)
{
    return fmax(odb_dtype_info(a->dtype)->eps, odb_dtype_info(b->dtype)->eps);
}

/* Of one type: equal, as 0 and -0 are, and as NaN and NaN. */
static bool schedule_near(const struct odb_tensor *a, const struct odb_tensor *b, size_t i)
{
    bool one_type = a->dtype == b->dtype;
    if (one_type && odb_dtype_is_integer(a->dtype))
        return odb_tensor_i64(a, i) == odb_tensor_i64(b, i);
    double x = odb_tensor_f64(a, i), y = odb_tensor_f64(b, i);
    double tiny = fmax(odb_dtype_info(a->dtype)->tiny, odb_dtype_info(b->dtype)->tiny);
    if (x == y || (isnan(x) && isnan(y)))
        return true;
    return !one_type && isfinite(x) && isfinite(y) &&
           fabs(x - y) <= schedule_eps(a, b) * fmax(fabs(x), fabs(y)) + tiny;
}

/* The first element that differs; t->count: none does. */
static size_t schedule_first(const struct odb_tensor *t, const struct odb_tensor *due)
{
    size_t i = 0;
    while (i < t->count && schedule_near(t, due, i))
        i++;
    return i;
}

static bool schedule_numbers(const struct odb_tensor *t)
{
    return t->kind == ODB_TENSOR &&
           (odb_dtype_is_float(t->dtype) || odb_dtype_is_integer(t->dtype));
}

static bool schedule_alike(const struct odb_tensor *t, const struct odb_tensor *due)
{
    if (t->kind != due->kind || !odb_tensor_same_shape(t, due))
        return false;
    if (odb_tensor_identical(t, due))
        return true;
    return schedule_numbers(t) && schedule_numbers(due) && schedule_first(t, due) == t->count;
}

/* --- what it is instead ----------------------------------------------------------------------- */

static bool schedule_is_zeros(const struct odb_tensor *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (odb_tensor_f64(t, i) != 0)
            return false;
    return t->count > 0;
}

static size_t schedule_output(const struct odb_plan *plan, int value)
{
    for (size_t o = 0; o < plan->model->graph->n_outputs; o++)
        if (plan->model->graph->outputs[o] == value)
            return o;
    return plan->model->graph->n_outputs;
}

/* A state of an earlier step, or another one, in the place of what the step before gave. */
static char *schedule_state(const struct schedule_look *look, size_t k, size_t i,
                            const struct odb_tensor *t)
{
    const struct odb_graph *graph = look->plan->model->graph;
    const struct odb_recorded_step *items = look->recorded->items;
    const struct odb_plan_input *input = &look->plan->inputs.items[i];
    size_t own = schedule_output(look->plan, input->output);
    for (size_t from = k - 1; from-- > 0;)
        if (items[from].out[own] && schedule_alike(t, items[from].out[own]))
            return odb_xasprintf("what step %zu gave where what step %zu gave is due (stale)", from,
                                 k - 1);
    if (items[k - 1].in[i] && schedule_alike(t, items[k - 1].in[i]))
        return odb_xasprintf("what it fed in step %zu where what that step gave is due (kept)",
                             k - 1);
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (o != own && items[k - 1].out[o] && schedule_alike(t, items[k - 1].out[o])) {
            struct odb_buf out = ODB_BUF_INIT;
            odb_buf_printf(&out, "what step %zu gave as ", k - 1);
            odb_buf_put_shown(&out, graph->values[graph->outputs[o]].name);
            odb_buf_puts(&out, " (swapped)");
            return odb_buf_take(&out);
        }
    return NULL;
}

/* The first element that differs: "7 where 6 is due". */
static char *schedule_element(const struct odb_tensor *t, const struct odb_tensor *due)
{
    struct odb_buf out = ODB_BUF_INIT;
    size_t i = schedule_first(t, due);
    odb_print_element(&out, t, i);
    odb_buf_puts(&out, " where ");
    odb_print_element(&out, due, i);
    odb_buf_puts(&out, " is due");
    if (t->count > 1)
        odb_buf_printf(&out, " (element %zu of %zu)", i, t->count);
    return odb_buf_take(&out);
}

/* Where in it, and what stands there; or another shape. */
static char *schedule_difference(const struct odb_plan_input *input, const struct odb_tensor *t,
                                 const struct odb_tensor *due)
{
    char had[96], wanted[96];
    if (!odb_tensor_same_shape(t, due))
        return odb_xasprintf("shape %s where %s is due", odb_shape_text(t, had, sizeof had),
                             odb_shape_text(due, wanted, sizeof wanted));
    bool carried = input->move == ODB_MOVE_CARRY;
    char *place = carried || due->rank > 1
                      ? odb_error_place(t, due, schedule_eps(t, due), carried ? input : NULL, NULL)
                      : NULL;
    char *element = schedule_element(t, due);
    char *text = odb_xasprintf("%s%s%s", place ? place : "", place ? ": " : "", element);
    free(element);
    free(place);
    return text;
}

static char *schedule_how(const struct schedule_look *look, size_t k, size_t i,
                          const struct odb_tensor *t, const struct odb_tensor *due)
{
    const struct odb_plan_input *input = &look->plan->inputs.items[i];
    bool carried = input->move == ODB_MOVE_CARRY, given = carried && k && !input->next;
    char *text = given ? schedule_state(look, k, i, t) : NULL;
    if (text)
        return text;
    if (odb_tensor_same_shape(t, due) && (!schedule_numbers(t) || !schedule_numbers(due)))
        return odb_xstrdup("other values than are due");
    if (odb_tensor_same_shape(t, due) && carried && schedule_is_zeros(t))
        return odb_xstrdup("zeros");
    char *difference = schedule_difference(input, t, due);
    if (!given)
        return difference;
    /* Where that cannot be due (a NaN, a shape that the model does not make), the target may have
     * given it, or the recording be wrong. */
    text = odb_xasprintf("%s; due is what step %zu gave as %s", difference, k - 1,
                         look->plan->model->graph->values[input->output].name);
    free(difference);
    return text;
}

/* --- step by step ----------------------------------------------------------------------------- */

static void schedule_note(struct schedule_look *look, size_t k, size_t i,
                          const struct odb_tensor *t, const struct odb_tensor *due)
{
    struct odb_schedule *s = look->schedule;
    const struct odb_plan_input *input = &look->plan->inputs.items[i];
    /* What comes from outside is due as it was recorded. */
    s->checked += input->move != ODB_MOVE_FEED || strcmp(input->start, "made") != 0;
    if (schedule_alike(t, due))
        return;
    look->wrong[i] = true;
    if (s->input < 0) {
        s->input = (int)i;
        s->step = k;
        s->how = schedule_how(look, k, i, t, due);
    }
    if (s->input == (int)i) {
        s->wrong++;
        look->last = k;
    }
}

/* What was fed, where nothing that was recorded says what was due. */
static void schedule_untold(struct schedule_look *look, size_t k, size_t i)
{
    struct odb_schedule *s = look->schedule;
    const char *name = look->plan->model->graph->values[look->plan->inputs.items[i].value].name;
    if (!s->unknown)
        s->unknown = odb_xasprintf("what step %zu is fed as %s cannot be held against the plan: "
                                   "what step %zu gave for it was not recorded",
                                   k, name, k - 1);
    s->untold++;
}

/* In the type of the model. */
static enum odb_status schedule_cast(const struct schedule_look *look, size_t k, size_t i,
                                     struct odb_error *err)
{
    const struct odb_value *value =
        &look->plan->model->graph->values[look->plan->inputs.items[i].value];
    struct odb_tensor **t = &look->recorded->items[k].in[i], *had = *t;
    if (!had || !value->type.known || had->kind != ODB_TENSOR || had->dtype == value->type.dtype)
        return ODB_OK;
    if (odb_tensor_cast(t, had, value->type.dtype, err) != ODB_OK) {
        *t = had;
        return odb_error_at(err, "input '%s' of %s", value->name, look->recorded->specs[k]);
    }
    odb_tensor_unref(had);
    return ODB_OK;
}

static enum odb_status schedule_step(struct schedule_look *look, size_t k, struct odb_error *err)
{
    const struct odb_plan *plan = look->plan;
    struct odb_recorded_step *items = look->recorded->items;
    struct odb_sequence_step before = {0};
    struct odb_tensor **due = odb_new_n(struct odb_tensor *, plan->inputs.n + 1);
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK;
    if (k)
        before = (struct odb_sequence_step){.in = items[k - 1].in, .out = items[k - 1].out};
    bool knows = odb_step_feed(due, plan, look->streams, k, odb_plan_past(plan, k),
                               odb_plan_pieces(plan, k), k ? &before : NULL, &why) == ODB_OK;
    if (!knows && !look->schedule->unknown)
        look->schedule->unknown =
            odb_xasprintf("the plan cannot be followed in step %zu: %s", k, why.what);
    for (size_t i = 0; i < plan->inputs.n && status == ODB_OK; i++) {
        if (items[k].in[i] && due[i])
            schedule_note(look, k, i, items[k].in[i], due[i]);
        else if (items[k].in[i])
            schedule_untold(look, k, i);
        else if (due[i])
            items[k].in[i] = odb_tensor_ref(due[i]);
        look->schedule->assumed += !items[k].given[i];
        status = schedule_cast(look, k, i, err);
    }
    for (size_t i = 0; i < plan->inputs.n; i++)
        odb_tensor_unref(due[i]);
    free(due);
    int logits = odb_plan_logits(plan);
    if (status == ODB_OK && k + 1 < plan->steps && logits >= 0 && items[k].out[logits])
        status = odb_streams_follow(look->streams, odb_plan_past(plan, k + 1), items[k].out[logits],
                                    err);
    return status;
}

enum odb_status odb_schedule_check(struct odb_schedule *out, const struct odb_plan *plan,
                                   struct odb_streams *streams, struct odb_recorded_steps *recorded,
                                   struct odb_error *err)
{
    struct schedule_look look = {out, plan, streams, recorded, NULL, 0};
    enum odb_status status = ODB_OK;
    *out = (struct odb_schedule){.input = -1};
    look.wrong = odb_new_n(bool, plan->inputs.n + 1);
    for (size_t k = 0; k < plan->steps && status == ODB_OK; k++)
        status = schedule_step(&look, k, err);
    for (size_t i = 0; i < plan->inputs.n; i++)
        out->others += look.wrong[i] && (int)i != out->input;
    out->on =
        out->wrong > 1 && look.last + 1 == plan->steps && out->wrong == plan->steps - out->step;
    free(look.wrong);
    return status;
}

void odb_schedule_dispose(struct odb_schedule *s)
{
    free(s->how);
    free(s->unknown);
    *s = (struct odb_schedule){.input = -1};
}

/* --- what was fed ----------------------------------------------------------------------------- */

enum odb_status odb_schedule_fed(void *payload, size_t step, size_t input, struct odb_tensor **fed,
                                 struct odb_error *err)
{
    const struct odb_recorded_steps *recorded = payload;
    const struct odb_tensor *had = recorded->items[step].in[input];
    (void)err;
    if (!had)
        return ODB_OK;
    odb_tensor_unref(*fed);
    *fed = odb_tensor_ref(had);
    return ODB_OK;
}

struct odb_feeds *odb_schedule_feeds(const struct odb_plan *plan,
                                     const struct odb_recorded_steps *recorded, size_t step)
{
    struct odb_feeds *feeds = odb_feeds_new(plan->model);
    const struct odb_recorded_step *of = &recorded->items[step];
    bool whole = true;
    feeds->step = (long)step;
    for (size_t i = 0; i < plan->inputs.n && whole; i++) {
        char source[sizeof feeds->items->source];
        whole = of->in[i] != NULL;
        snprintf(source, sizeof source, "step %zu: %s", step,
                 of->given[i] ? "as recorded" : "not recorded, as the plan says");
        if (whole)
            odb_feeds_add(feeds, plan->inputs.items[i].value, of->in[i], source);
    }
    if (whole)
        return feeds;
    odb_feeds_free(feeds);
    return NULL;
}

void odb_schedule_put(const struct odb_schedule *s, const struct odb_plan *plan,
                      struct odb_buf *out)
{
    const struct odb_plan_input *input = &plan->inputs.items[s->input];
    odb_buf_puts(out, "the host feeds ");
    odb_buf_put_shown(out, plan->model->graph->values[input->value].name);
    odb_buf_puts(out, " otherwise than the plan says, ");
    if (s->on)
        odb_buf_printf(out, "from step %zu on", s->step);
    else if (s->wrong == 1)
        odb_buf_printf(out, "in step %zu", s->step);
    else
        odb_buf_printf(out, "in %zu steps, first in step %zu", s->wrong, s->step);
    odb_buf_puts(out, ": ");
    odb_buf_puts(out, s->how);
}
