/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/plan/sequence_plan.h"

#include <stdlib.h>
#include <string.h>

#include "sequence/plan/plan_int.h"

#define PLAN_STEPS 8   /* without --steps */
#define PLAN_PREFILL 4 /* pieces of step 0 of a decoder, without --prefill */

/* --- pairs ------------------------------------------------------------------------------------ */

static bool plan_same_dim(const struct odb_dim *a, const struct odb_dim *b)
{
    if (a->value >= 0 || b->value >= 0)
        return a->value == b->value;
    return a->param && b->param && !strcmp(a->param, b->param);
}

/* Whether an input that is no state has a dimension of that name: exporters that make names up for
 * an output's (Slicecache_dim_1) make one up for the batch, too, and that does not grow. */
static bool plan_is_of_data(const struct odb_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->inputs.n && name; i++) {
        const struct odb_value *value = &plan->model->graph->values[plan->inputs.items[i].value];
        if (plan_names_state(value->name) || value->type.kind != ODB_TENSOR)
            continue;
        for (int d = 0; d < value->type.rank; d++)
            if (value->type.dims[d].param && !strcmp(value->type.dims[d].param, name))
                return true;
    }
    return false;
}

bool plan_fits(const struct odb_plan *plan, const struct odb_value *input,
               const struct odb_value *output, int *axis)
{
    const struct odb_type *in = &input->type, *out = &output->type;
    size_t other = 0;
    *axis = -1;
    if (!in->known || in->kind != ODB_TENSOR || in->rank < 0)
        return false;
    if (!out->known)
        return true;
    if (out->kind != ODB_TENSOR || out->dtype != in->dtype)
        return false;
    if (out->rank < 0)
        return true;
    if (out->rank != in->rank)
        return false;
    for (int i = 0; i < in->rank; i++) {
        const struct odb_dim *a = &in->dims[i], *b = &out->dims[i];
        if (a->value >= 0 && b->value >= 0 && a->value != b->value)
            return false;
        bool made_up = plan_is_of_data(plan, a->param) && !plan_is_of_data(plan, b->param);
        if (plan_same_dim(a, b) || a->value >= 0 || made_up)
            continue;
        other++;
        *axis = b->value < 0 ? i : *axis;
    }
    return other <= 1;
}

int plan_find_input(const struct odb_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->inputs.n; i++)
        if (!strcmp(plan->model->graph->values[plan->inputs.items[i].value].name, name))
            return (int)i;
    return -1;
}

int plan_find_output(const struct odb_plan *plan, const char *name)
{
    const struct odb_graph *graph = plan->model->graph;
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (!strcmp(graph->values[graph->outputs[o]].name, name))
            return graph->outputs[o];
    return ODB_NO_VALUE;
}

bool plan_is_carried(const struct odb_plan *plan, int output)
{
    for (size_t i = 0; i < plan->inputs.n; i++)
        if (plan->inputs.items[i].move == ODB_MOVE_CARRY && plan->inputs.items[i].output == output)
            return true;
    return false;
}

bool plan_weight(const struct odb_plan *plan, size_t i)
{
    return plan->model->graph->values[plan->inputs.items[i].value].init != NULL;
}

void plan_text(char **to, const char *text)
{
    char *copy = text ? odb_xstrdup(text) : NULL;
    free(*to);
    *to = copy;
}

void plan_carry(struct odb_plan *plan, size_t i, int output, enum odb_known_by by, int axis,
                char *why)
{
    struct odb_plan_input *input = &plan->inputs.items[i];
    input->move = ODB_MOVE_CARRY;
    input->by = by;
    input->output = output;
    input->axis = axis;
    input->kind = axis >= 0 ? ODB_CARRY_APPEND : ODB_CARRY_REPLACE;
    plan_text(&input->start, plan_weight(plan, i) ? "default" : axis >= 0 ? "empty" : "zeros");
    plan_text(&input->next, NULL);
    free(input->why);
    input->why = why;
}

/* --- steps and chunks ------------------------------------------------------------------------- */

size_t odb_plan_pieces(const struct odb_plan *plan, size_t step)
{
    return plan->chunks.items[ODB_MIN(step, plan->chunks.n - 1)];
}

size_t odb_plan_past(const struct odb_plan *plan, size_t step)
{
    size_t past = 0;
    for (size_t k = 0; k < step; k++)
        past += odb_plan_pieces(plan, k);
    return past;
}

bool odb_plan_has_carries(const struct odb_plan *plan)
{
    for (size_t i = 0; i < plan->inputs.n; i++)
        if (plan->inputs.items[i].move == ODB_MOVE_CARRY)
            return true;
    return false;
}

/* A feed of which each step can take as many pieces as it likes. */
static bool plan_feeds_freely(const struct odb_plan *plan)
{
    bool feeds = false;
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const struct odb_plan_input *input = &plan->inputs.items[i];
        const struct odb_type *type = &plan->model->graph->values[input->value].type;
        if (input->move != ODB_MOVE_FEED)
            continue;
        if (input->axis < 0 || input->axis >= type->rank || type->dims[input->axis].value >= 0)
            return false;
        feeds = true;
    }
    return feeds;
}

static void plan_usual_chunks(struct odb_plan *plan)
{
    bool many = odb_plan_has_carries(plan) && plan_feeds_freely(plan);
    if (plan->chunks.n)
        return;
    odb_push(&plan->chunks, many ? (size_t)PLAN_PREFILL : (size_t)1);
    odb_push(&plan->chunks, (size_t)1);
}

/* --- tokens ----------------------------------------------------------------------------------- */

static const struct odb_value *plan_value(const struct odb_plan *plan, size_t i)
{
    return &plan->model->graph->values[plan->inputs.items[i].value];
}

int odb_plan_tokens(const struct odb_plan *plan)
{
    for (size_t i = 0; i < plan->inputs.n; i++)
        if (plan->inputs.items[i].move == ODB_MOVE_FEED && plan->inputs.items[i].axis >= 0 &&
            odb_dtype_is_integer(plan_value(plan, i)->type.dtype))
            return (int)i;
    return -1;
}

int odb_plan_logits(const struct odb_plan *plan)
{
    const struct odb_graph *graph = plan->model->graph;
    bool tokens = odb_plan_tokens(plan) >= 0;
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (strstr(graph->values[graph->outputs[o]].name, "logits"))
            return (int)o;
    for (size_t o = 0; o < graph->n_outputs && tokens; o++)
        if (!plan_is_carried(plan, graph->outputs[o]) &&
            odb_dtype_is_float(graph->values[graph->outputs[o]].type.dtype))
            return (int)o;
    return -1;
}

static bool plan_is_greedy(const struct odb_plan *plan, size_t i)
{
    const struct odb_plan_input *input = &plan->inputs.items[i];
    return input->move == ODB_MOVE_FEED && !strcmp(input->start, "greedy");
}

/* Tokens that are chosen go in one by one, and some output chooses them. A target that chooses its
 * own is held against a reference that does. */
static enum odb_status plan_greedy(struct odb_plan *plan, struct odb_error *err)
{
    int tokens = odb_plan_tokens(plan);
    bool greedy = plan->own_tokens;
    if (plan->own_tokens && tokens >= 0 && !strcmp(plan->inputs.items[tokens].start, "made"))
        plan_text(&plan->inputs.items[tokens].start, "greedy");
    if (plan->own_tokens && tokens >= 0 && !plan_is_greedy(plan, (size_t)tokens))
        return odb_fail(err, ODB_E_USAGE,
                        "free all: the tokens of input '%s' are given, and none is chosen",
                        plan_value(plan, (size_t)tokens)->name);
    for (size_t i = 0; i < plan->inputs.n; i++) {
        greedy |= plan_is_greedy(plan, i);
        if (plan_is_greedy(plan, i) && (int)i != tokens)
            return odb_fail(err, ODB_E_USAGE, "input '%s' takes no tokens, which could be chosen",
                            plan_value(plan, i)->name);
    }
    if (!greedy)
        return ODB_OK;
    if (tokens < 0 || odb_plan_logits(plan) < 0)
        return odb_fail(err, ODB_E_USAGE, "the model has no %s that tokens could be chosen %s",
                        tokens < 0 ? "input of tokens" : "output of floats",
                        tokens < 0 ? "for" : "by");
    for (size_t k = 1; k < plan->steps; k++)
        if (odb_plan_pieces(plan, k) != 1)
            return odb_fail(err, ODB_E_USAGE,
                            "step %zu takes %zu tokens, and one is chosen at a "
                            "time: --chunks must end in 1",
                            k, odb_plan_pieces(plan, k));
    return ODB_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void plan_begin_input(struct odb_plan *plan, int value)
{
    odb_push(&plan->inputs, (struct odb_plan_input){.value = value,
                                                    .move = ODB_MOVE_HOLD,
                                                    .by = ODB_BY_KIND,
                                                    .output = ODB_NO_VALUE,
                                                    .axis = -1,
                                                    .start = odb_xstrdup("made"),
                                                    .why = odb_xstrdup("")});
}

/* What must be fed, then what has a value in the model and may be fed all the same. */
static void plan_begin(struct odb_plan *plan)
{
    const struct odb_graph *graph = plan->model->graph;
    for (int weights = 0; weights < 2; weights++)
        for (size_t i = 0; i < graph->n_inputs; i++)
            if ((graph->values[graph->inputs[i]].init != NULL) == weights)
                plan_begin_input(plan, graph->inputs[i]);
}

static void plan_input_dispose(struct odb_plan_input *input)
{
    free(input->start);
    free(input->next);
    free(input->role);
    free(input->why);
}

/* Of inputs that have a value in the model, those that are no states stay what they are. */
static void plan_drop_weights(struct odb_plan *plan)
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->inputs.n; i++) {
        if (plan_weight(plan, i) && plan->inputs.items[i].move != ODB_MOVE_CARRY)
            plan_input_dispose(&plan->inputs.items[i]);
        else
            plan->inputs.items[kept++] = plan->inputs.items[i];
    }
    plan->inputs.n = kept;
}

enum odb_status odb_plan_make(struct odb_plan **out, const struct odb_model *model,
                              const struct odb_plan_options *options, struct odb_error *err)
{
    struct odb_plan *plan = odb_new(struct odb_plan);
    struct plan_words words = {{0}};
    plan->model = model;
    plan_begin(plan);
    plan_find_slots(plan);
    enum odb_status status = plan_find_config(plan, err);
    plan_find_names(plan);
    if (status == ODB_OK)
        status = plan_words_read(&words, options, err);
    if (status == ODB_OK)
        status = plan_words_carry(plan, &words, err);
    if (status == ODB_OK) {
        plan_drop_weights(plan);
        plan_find_moves(plan);
        status = plan_words_take(plan, &words, err);
    }
    plan_words_dispose(&words);
    if (status != ODB_OK) {
        odb_plan_free(plan);
        return status;
    }
    plan->steps = plan->steps ? plan->steps : PLAN_STEPS;
    plan_usual_chunks(plan);
    status = plan_greedy(plan, err);
    if (status != ODB_OK) {
        odb_plan_free(plan);
        return status;
    }
    *out = plan;
    return ODB_OK;
}

void odb_plan_free(struct odb_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->inputs.n; i++)
        plan_input_dispose(&plan->inputs.items[i]);
    for (size_t i = 0; i < plan->outside.n; i++) {
        free(plan->outside.items[i].name);
        free(plan->outside.items[i].what);
    }
    free(plan->outside.items);
    for (size_t i = 0; i < plan->asks.n; i++)
        free(plan->asks.items[i]);
    free(plan->inputs.items);
    free(plan->asks.items);
    free(plan->chunks.items);
    free(plan->stop);
    free(plan);
}

enum odb_status odb_plan_whole(const struct odb_plan *plan, struct odb_error *err)
{
    struct odb_buf all = ODB_BUF_INIT;
    if (!plan->asks.n)
        return ODB_OK;
    for (size_t i = 0; i < plan->asks.n; i++) {
        odb_buf_puts(&all, i ? ", or " : "");
        odb_buf_add(&all, plan->asks.items[i], strcspn(plan->asks.items[i], "#"));
    }
    odb_fail(err, ODB_E_USAGE, "it is not known which outputs go to which inputs of the next step");
    odb_error_remedy(err, "add %.300s; --carry none: no state is carried", odb_buf_text(&all));
    odb_buf_dispose(&all);
    return ODB_E_USAGE;
}

/* --- in words --------------------------------------------------------------------------------- */

static void plan_put_input(const struct odb_plan *plan, const struct odb_plan_input *input,
                           struct odb_buf *out)
{
    const char *name = plan->model->graph->values[input->value].name;
    const char *from =
        input->output == ODB_NO_VALUE ? "" : plan->model->graph->values[input->output].name;
    switch (input->move) {
    case ODB_MOVE_CARRY:
        if (input->next)
            odb_buf_printf(out, "next %s=%s\n", name, input->next);
        else
            odb_buf_printf(out, "carry %s=%s\n", from, name);
        odb_buf_printf(out, "start %s=%s\n", name, input->start);
        break;
    case ODB_MOVE_FEED:
        odb_buf_printf(out, "feed %s=%s", name, input->start);
        if (input->axis >= 0)
            odb_buf_printf(out, "/%d", input->axis);
        odb_buf_putc(out, '\n');
        break;
    case ODB_MOVE_RULE:
        odb_buf_printf(out, "next %s=%s\n", name, input->next);
        if (input->start)
            odb_buf_printf(out, "start %s=%s\n", name, input->start);
        break;
    case ODB_MOVE_HOLD:
        odb_buf_printf(out, "hold %s=%s\n", name, input->start);
        break;
    }
}

void odb_plan_put(const struct odb_plan *plan, struct odb_buf *out)
{
    odb_buf_printf(out, "steps %zu\nchunks ", plan->steps);
    for (size_t i = 0; i < plan->chunks.n; i++)
        odb_buf_printf(out, i ? ",%zu" : "%zu", plan->chunks.items[i]);
    odb_buf_puts(out, "\ncarry none\n");
    for (size_t i = 0; i < plan->inputs.n; i++) {
        if (*plan->inputs.items[i].why)
            odb_buf_printf(out, "# %s\n", plan->inputs.items[i].why);
        plan_put_input(plan, &plan->inputs.items[i], out);
    }
    for (size_t i = 0; i < plan->outside.n; i++)
        odb_buf_printf(out, "feed %s=%s\n", plan->outside.items[i].name,
                       plan->outside.items[i].what);
    if (plan->stop)
        odb_buf_printf(out, "stop %s\n", plan->stop);
    if (plan->own_tokens)
        odb_buf_puts(out, "free all\n");
    for (size_t i = 0; i < plan->asks.n; i++)
        odb_buf_printf(out, "# asked for: %s\n", plan->asks.items[i]);
}
