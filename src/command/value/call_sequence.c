/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/value/call_sequence.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/value/call_feeds.h"
#include "compare/metrics.h"
#include "inputs/inputs.h"
#include "probe/run_values.h"
#include "system/file.h"

static const enum odb_option_id sequence_ids[] = {
    ODB_OPTION_STEPS,    ODB_OPTION_PREFILL, ODB_OPTION_CHUNKS, ODB_OPTION_CARRY,
    ODB_OPTION_START,    ODB_OPTION_HOLD,    ODB_OPTION_FEED,   ODB_OPTION_NEXT,
    ODB_OPTION_SEQUENCE, ODB_OPTION_STOP,    ODB_OPTION_FREE};

bool odb_call__plan_given(const struct odb_command_call *call)
{
    for (size_t i = 0; i < ODB_COUNT(sequence_ids); i++)
        if (odb_call_has(call, sequence_ids[i]))
            return true;
    return false;
}

bool odb_call__plan_said(const struct odb_command_call *call)
{
    bool said = false;
    for (size_t i = 0; i < call->options.n; i++)
        for (size_t k = 0; k < ODB_COUNT(sequence_ids); k++)
            said |= call->options.items[i].id == sequence_ids[k] &&
                    !odb_call__took(call, &call->options.items[i]);
    return said;
}

bool odb_call__step_given(const struct odb_command_call *call)
{
    bool given = false;
    for (size_t i = 0; i < call->options.n; i++)
        given |= call->options.items[i].id == ODB_OPTION_AT_STEP &&
                 !odb_call__took(call, &call->options.items[i]);
    return given;
}

static void step_sets_free(char **sets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(sets[i]);
    free(sets);
}

/* The folders of --inputs-from with a set of inputs each, by number; *n is 0 where there is one or
 * none. The caller's. */
static char **step_sets(const struct odb_command_call *call, size_t *n)
{
    const char *from = odb_call_option(call, ODB_OPTION_INPUTS_FROM);
    *n = 0;
    char **sets = from ? odb_input_sets(from, n) : NULL;
    if (*n > 1)
        return sets;
    step_sets_free(sets, *n);
    *n = 0;
    return NULL;
}

/* The plan as the options say; steps: where --steps says nothing, 0: as usual. */
static enum odb_status step_plan(const struct odb_command_call *call, size_t steps,
                                 struct odb_plan **out, struct odb_error *err)
{
    struct odb_plan_options how = {.steps =
                                       (size_t)odb_call_int(call, ODB_OPTION_STEPS, (int64_t)steps),
                                   .prefill = (size_t)odb_call_int(call, ODB_OPTION_PREFILL, 0),
                                   .chunks = odb_call_option(call, ODB_OPTION_CHUNKS),
                                   .stop = odb_call_option(call, ODB_OPTION_STOP),
                                   .free = odb_call_option(call, ODB_OPTION_FREE),
                                   .file = odb_call_option(call, ODB_OPTION_SEQUENCE)};
    how.carries = odb_call_list(call, ODB_OPTION_CARRY, &how.n_carries);
    how.starts = odb_call_list(call, ODB_OPTION_START, &how.n_starts);
    how.holds = odb_call_list(call, ODB_OPTION_HOLD, &how.n_holds);
    how.feeds = odb_call_list(call, ODB_OPTION_FEED, &how.n_feeds);
    how.nexts = odb_call_list(call, ODB_OPTION_NEXT, &how.n_nexts);
    enum odb_status status = odb_plan_make(out, call->model, &how, err);
    free((void *)how.carries);
    free((void *)how.starts);
    free((void *)how.holds);
    free((void *)how.feeds);
    free((void *)how.nexts);
    return status;
}

/* Where the inputs of steps come from. */
struct step_source {
    struct odb_command_call *call;
    const struct odb_plan *plan;
    const struct odb_recorded_steps *recorded; /* NULL: none are */
    char **sets;                               /* owned; [n] NULL: there is one */
    size_t n;
};

/* Whether an input of the model is given by --input. */
static bool step_input_given(struct odb_command_call *call, const char *name)
{
    size_t n, len = strlen(name);
    const char *const *list = odb_call_list(call, ODB_OPTION_INPUT, &n);
    bool given = false;
    for (size_t i = 0; i < n; i++)
        given |= !strncmp(list[i], name, len) && list[i][len] == '=';
    free((void *)list);
    return given;
}

/* Those of a step that come from outside; all others follow. */
static enum odb_status step_recall(const struct step_source *from, size_t step,
                                   struct odb_feeds **out, struct odb_error *err)
{
    const struct odb_plan *plan = from->plan;
    int *values = odb_new_n(int, plan->inputs.n + 1);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, plan->inputs.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < plan->inputs.n; i++)
        if (plan->inputs.items[i].move == ODB_MOVE_FEED ||
            plan->inputs.items[i].move == ODB_MOVE_HOLD)
            values[n++] = plan->inputs.items[i].value;
    enum odb_status status =
        odb_recall(plan->model, from->recorded->specs[step], values, n, had, err);
    *out = odb_feeds_new(plan->model);
    for (size_t i = 0; i < n; i++) {
        if (had[i] && status == ODB_OK)
            odb_feeds_add(*out, values[i], had[i], "recorded");
        odb_tensor_unref(had[i]);
    }
    free(values);
    free(had);
    if (status != ODB_OK)
        odb_feeds_free(*out);
    return status;
}

/* Nothing is made up for what a host fed and did not record. */
static enum odb_status step_first(const struct step_source *from, struct odb_feeds **out,
                                  struct odb_error *err)
{
    struct odb_feeds *recorded;
    const struct odb_plan *plan = from->plan;
    ODB_TRY(step_recall(from, 0, &recorded, err));
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < plan->inputs.n && status == ODB_OK; i++) {
        const struct odb_plan_input *input = &plan->inputs.items[i];
        const struct odb_value *value = &plan->model->graph->values[input->value];
        bool outside = (input->move == ODB_MOVE_FEED || input->move == ODB_MOVE_HOLD) &&
                       !strcmp(input->start, "made") && !value->init;
        bool known = false;
        for (size_t f = 0; f < recorded->n; f++)
            known |= recorded->items[f].value == input->value;
        if (outside && !known && !step_input_given(from->call, value->name))
            status = odb_streams_untold(value->name, 0, err);
    }
    odb_feeds_free(recorded);
    return status == ODB_OK
               ? odb_call__make_feeds(
                     from->call, odb_call_option(from->call, ODB_OPTION_INPUTS_FROM), 0, out, err)
               : status;
}

static enum odb_status step_make(void *payload, uint32_t shift, struct odb_feeds **out,
                                 struct odb_error *err)
{
    const struct step_source *from = payload;
    const char *folder = odb_call_option(from->call, ODB_OPTION_INPUTS_FROM);
    if (from->recorded)
        return shift ? step_recall(from, shift, out, err) : step_first(from, out, err);
    if (!from->sets)
        return odb_call__make_feeds(from->call, folder, shift, out, err);
    if (shift < from->n)
        return odb_call__make_feeds(from->call, from->sets[shift], 0, out, err);
    odb_fail(err, ODB_E_USAGE, "step %u has no inputs: there are %zu sets of them", shift, from->n);
    odb_error_at(err, "--inputs-from %s", folder);
    return odb_error_remedy(err, "take fewer --steps");
}

static void step_source_begin(struct step_source *from, struct odb_command_call *call,
                              const struct odb_plan *plan,
                              const struct odb_recorded_steps *recorded)
{
    *from = (struct step_source){.call = call, .plan = plan, .recorded = recorded};
    if (recorded)
        odb_call__take_option(call, ODB_OPTION_TARGET, recorded->specs[0]);
    else
        from->sets = step_sets(call, &from->n);
}

/* As many pieces as each step has: where that is recorded, or in sets and not said otherwise. */
static enum odb_status step_chunks(struct odb_command_call *call, struct odb_plan *plan,
                                   const struct odb_recorded_steps *recorded, struct odb_error *err)
{
    struct step_source from;
    struct odb_stream_source source = {step_make, &from};
    enum odb_status status = ODB_OK;
    step_source_begin(&from, call, plan, recorded);
    if (recorded || (from.sets && !plan->chunks_said))
        status = odb_streams_chunks(plan, &source, err);
    step_sets_free(from.sets, from.n);
    return status;
}

/* What an input is fed in step 0, where that was recorded, or given; the caller's, else NULL. */
static enum odb_status step_given(struct odb_command_call *call, const struct step_source *from,
                                  int i, struct odb_tensor **out, struct odb_error *err)
{
    struct odb_feeds *feeds = NULL;
    *out = NULL;
    if (i < 0)
        return ODB_OK;
    int value = from->plan->inputs.items[i].value;
    if (from->recorded)
        return odb_recall(from->plan->model, from->recorded->specs[0], &value, 1, out, err);
    ODB_TRY(odb_call__make_feeds(
        call, from->sets ? from->sets[0] : odb_call_option(call, ODB_OPTION_INPUTS_FROM), 0, &feeds,
        err));
    for (size_t f = 0; f < feeds->n; f++)
        if (feeds->items[f].value == value && !feeds->items[f].generated)
            *out = odb_tensor_ref(feeds->items[f].tensor);
    odb_feeds_free(feeds);
    return ODB_OK;
}

/* Prompts of other lengths: the mask that fills them up comes with them, as tokens do. */
static enum odb_status step_pad(struct odb_command_call *call, struct odb_plan *plan,
                                const struct odb_recorded_steps *recorded, struct odb_error *err)
{
    struct step_source from;
    struct odb_tensor *mask = NULL, *positions = NULL;
    if (odb_plan_mask(plan) < 0)
        return ODB_OK;
    step_source_begin(&from, call, plan, recorded);
    enum odb_status status = step_given(call, &from, odb_plan_mask(plan), &mask, err);
    if (status == ODB_OK && mask)
        status = step_given(call, &from, odb_plan_positions(plan), &positions, err);
    if (status == ODB_OK)
        odb_plan_pad(plan, mask, positions);
    odb_tensor_unref(mask);
    odb_tensor_unref(positions);
    step_sets_free(from.sets, from.n);
    return status;
}

enum odb_status odb_call__plan(struct odb_command_call *call,
                               const struct odb_recorded_steps *recorded, struct odb_plan **out,
                               struct odb_error *err)
{
    struct odb_plan *plan;
    size_t n;
    char **sets = step_sets(call, &n);
    step_sets_free(sets, n);
    ODB_TRY(step_plan(call, recorded ? recorded->n : n, &plan, err));
    enum odb_status status = ODB_OK;
    if (recorded && plan->steps > recorded->n) {
        odb_fail(err, ODB_E_USAGE, "%zu steps were recorded, and the plan has %zu", recorded->n,
                 plan->steps);
        status = odb_error_remedy(err, "leave out --steps, or take fewer");
    } else if (!plan->asks.n) {
        status = step_chunks(call, plan, recorded, err);
        if (status == ODB_OK)
            status = step_pad(call, plan, recorded, err);
    }
    if (status != ODB_OK) {
        odb_plan_free(plan);
        return status;
    }
    *out = plan;
    return ODB_OK;
}

enum odb_status odb_call__plan_write(const struct odb_plan *plan, const char *folder,
                                     struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    char *path = odb_xasprintf("%s/plan.seq", folder);
    odb_plan_put(plan, &text);
    enum odb_status status = odb_file_write(path, text.data, text.len, err);
    odb_buf_dispose(&text);
    free(path);
    return status;
}

/* What is given for step 0 and made otherwise there would be forgotten without a word. Sets of
 * inputs have more than a sequence takes of them. */
static enum odb_status step_heeds(struct odb_command_call *call, const struct step_source *from,
                                  const struct odb_streams *streams, struct odb_error *err)
{
    const struct odb_plan *plan = from->plan;
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, plan->inputs.n + 1);
    struct odb_error ignored = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK;
    bool made =
        odb_step_feed(in, plan, streams, 0, 0, odb_plan_pieces(plan, 0), NULL, &ignored) == ODB_OK;
    for (size_t i = 0; i < plan->inputs.n && made && status == ODB_OK; i++) {
        const struct odb_plan_input *input = &plan->inputs.items[i];
        const char *name = plan->model->graph->values[input->value].name;
        bool asked = step_input_given(call, name), rule = input->move == ODB_MOVE_RULE;
        bool set = rule && !from->sets && !odb_call__set_is_chosen(call) &&
                   odb_call_option(call, ODB_OPTION_INPUTS_FROM);
        struct odb_tensor *given = NULL;
        if (!(asked && (rule || input->move == ODB_MOVE_CARRY)) && !set)
            continue;
        status = step_given(call, from, (int)i, &given, err);
        bool other = status == ODB_OK && given && in[i] && !odb_equal_exact(given, in[i]);
        if (other && !asked) {
            char text[300];
            odb_text_fit(
                text, sizeof text,
                "input '%.100s' of the set is not used: in step 0 of a sequence it is what "
                "its rule makes",
                name);
            odb_call__warn(call, text);
        } else if (other) {
            status = odb_fail(err, ODB_E_USAGE,
                              "input '%s' is given, and in step 0 of a sequence it is %s", name,
                              rule ? "what its rule makes" : "what the state begins with");
            odb_error_remedy(err, "say --start, --next or --feed in place of --input");
        }
        odb_tensor_unref(given);
    }
    for (size_t i = 0; i < plan->inputs.n; i++)
        odb_tensor_unref(in[i]);
    free(in);
    return status;
}

enum odb_status odb_call__streams(struct odb_command_call *call, const struct odb_plan *plan,
                                  const struct odb_recorded_steps *recorded,
                                  struct odb_streams **out, struct odb_error *err)
{
    struct step_source from;
    struct odb_stream_source source = {step_make, &from};
    step_source_begin(&from, call, plan, recorded);
    enum odb_status status = odb_streams_make(out, plan, &source, err);
    if (status == ODB_OK && !recorded && plan->steps > 1 &&
        (status = step_heeds(call, &from, *out, err)) != ODB_OK) {
        odb_streams_free(*out);
        *out = NULL;
    }
    step_sets_free(from.sets, from.n);
    return status;
}

static enum odb_status step_number(struct odb_command_call *call, const struct odb_plan *plan,
                                   size_t *step, struct odb_error *err)
{
    long last = (long)plan->steps - 1;
    long wanted = odb_call_int(call, ODB_OPTION_AT_STEP, last);
    *step = (size_t)wanted;
    if (wanted <= last)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "there is no step %ld: steps are numbered from 0 to %ld", wanted,
             last);
    return odb_error_remedy(err, "take more with --steps");
}

enum odb_status odb_call__steps(struct odb_command_call *call, bool all, struct odb_call_steps *out,
                                size_t *step, struct odb_error *err)
{
    struct odb_watch watch;
    ODB_TRY(odb_call__plan(call, NULL, &out->plan, err));
    ODB_TRY(odb_plan_whole(out->plan, err));
    ODB_TRY(step_number(call, out->plan, step, err));
    if (!all)
        out->plan->steps = *step + 1; /* those behind it are not needed */
    ODB_TRY(odb_call__streams(call, out->plan, NULL, &out->streams, err));
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    enum odb_status status =
        odb_rollout_make(&out->rollout, out->plan, out->streams, NULL, 0, NULL, NULL, &hooks, err);
    odb_watch_end(&watch);
    ODB_TRY(status);
    if (*step < out->rollout->steps.n)
        return ODB_OK;
    *step = out->rollout->steps.n - 1;
    return odb_call__step_given(call)
               ? odb_fail(err, ODB_E_USAGE, "the sequence ends with step %zu, as --stop says",
                          *step)
               : ODB_OK;
}

void odb_call__steps_dispose(struct odb_call_steps *steps)
{
    odb_rollout_free(steps->rollout);
    odb_streams_free(steps->streams);
    odb_plan_free(steps->plan);
}

enum odb_status odb_call__step_feeds(struct odb_command_call *call, struct odb_feeds **out,
                                     struct odb_error *err)
{
    struct odb_call_steps steps = {0};
    size_t step = 0;
    enum odb_status status = odb_call__steps(call, false, &steps, &step, err);
    if (status == ODB_OK)
        status = odb_rollout_feeds(out, steps.rollout, step, err);
    odb_call__steps_dispose(&steps);
    return status;
}
