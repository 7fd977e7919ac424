/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The inputs of the model, made as the options of a call say.
 */
#include "command/value/call_feeds.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>

#include "base/error.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/input_settings.h"
#include "command/table/command.h"
#include "command/value/call_sequence.h"
#include "executor/executor.h"
#include "inputs/input_choice.h"
#include "inputs/inputs.h"
#include "run/feeds.h"
#include "session/session_state.h"

/* Which inputs were taken from a recording that is target, reference or golden. */
static void call_say_recorded(struct odb_command_call *call, const struct odb_feeds *feeds)
{
    struct odb_buf names = ODB_BUF_INIT;
    const char *source = NULL;
    for (size_t i = 0; i < feeds->n; i++) {
        const struct odb_feed *feed = &feeds->items[i];
        if (strncmp(feed->source, "recorded, ", 10) != 0)
            continue;
        source = feed->source + 10;
        odb_buf_puts(&names, names.len ? ", " : "");
        odb_buf_put_shown(&names, call->model->graph->values[feed->value].name);
    }
    if (source) {
        fprintf(call->log, "onnxdbg: inputs as recorded, from %s: %s\n", source,
                odb_buf_text(&names));
    }
    odb_buf_dispose(&names);
}

/* An input that is generated here need not be the one that a recording was made with. */
static void call_warn_unrecorded(struct odb_command_call *call, const struct odb_feeds *feeds)
{
    const char *specs[ODB_CALL_RECORDINGS];
    struct odb_buf names = ODB_BUF_INIT;
    size_t n = odb_call__recordings(call, specs);
    bool recorded = false;
    for (size_t i = 0; i < n; i++)
        recorded = recorded || odb_executor_recorded(specs[i]);
    for (size_t i = 0; i < feeds->n && recorded; i++) {
        if (!feeds->items[i].generated)
            continue;
        odb_buf_puts(&names, names.len ? ", " : "");
        odb_buf_puts(&names, call->model->graph->values[feeds->items[i].value].name);
    }
    if (names.len) {
        char *line = odb_xasprintf("not recorded, and generated here: %s; where the recording was "
                                   "made with other inputs, give them by --input",
                                   odb_buf_text(&names));
        odb_call__warn(call, line);
        free(line);
    }
    odb_buf_dispose(&names);
}

static void call_warn_lines(struct odb_command_call *call, const char *lines)
{
    while (*lines) {
        size_t n = strcspn(lines, "\n");
        char *line = odb_xstrndup(lines, n);
        odb_call__warn(call, line);
        free(line);
        lines += n + (lines[n] == '\n');
    }
}

/* At a console there is no command line to add an option to, but one to type. */
static enum odb_status call_feeds_remedy(const struct odb_command_call *call, struct odb_error *err)
{
    struct odb_error first = *err;
    if (call->console && !strncmp(first.remedy, "add --", 6))
        return odb_error_remedy(err, "type `:bisect %.400s`", first.remedy + 4);
    return err->code;
}

/* Once for a call: what its options leave open becomes options. */
static enum odb_status call_choose(struct odb_command_call *call,
                                   const struct odb_input_options *options, struct odb_error *err)
{
    struct odb_input_choice choice;
    bool beside = !odb_call_has(call, ODB_OPTION_SEED) && !odb_call_has(call, ODB_OPTION_SAMPLES);
    if (beside && !options->n_inputs && !options->n_dims && !options->inputs_from)
        ODB_TRY(odb_call__input_settings_chosen(call, err));
    if (call->chosen)
        return ODB_OK;
    enum odb_status status = odb_inputs_choose(&choice, call->model, options, beside, err);
    if (status == ODB_OK) {
        if (choice.from)
            odb_call__take_option(call, ODB_OPTION_INPUTS_FROM, choice.from);
        for (size_t i = 0; i < choice.dims.n; i++)
            odb_call__take_option(call, ODB_OPTION_DIM, choice.dims.items[i]);
        for (size_t i = 0; i < choice.inputs.n; i++)
            odb_call__take_option(call, ODB_OPTION_INPUT, choice.inputs.items[i]);
        call->chosen = choice.text;
        choice.text = NULL;
    }
    odb_input_choice_dispose(&choice);
    return status;
}

/* Whether something may be chosen for this call, and is not yet. */
static bool call_may_choose(const struct odb_command_call *call)
{
    const char *how = odb_call_option(call, ODB_OPTION_INPUTS);
    return !call->chosen && !(how && !strcmp(how, "plain"));
}

/* Whether the user has said with this call what an input is: what a session or a choice says has
 * its text in the call. */
static bool call_says_inputs(const struct odb_command_call *call)
{
    bool says = false;
    for (size_t i = 0; i < call->options.n && !says; i++)
        says = call->options.items[i].id == ODB_OPTION_INPUT &&
               !odb_call__took(call, &call->options.items[i]);
    return says;
}

static enum odb_status call_feeds_make(struct odb_command_call *call, const char *from,
                                       uint32_t shift, bool choose, struct odb_feeds **out,
                                       struct odb_error *err)
{
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    const char *recordings[ODB_CALL_RECORDINGS];
    options.inputs = odb_call_list(call, ODB_OPTION_INPUT, &options.n_inputs);
    options.dims = odb_call_list(call, ODB_OPTION_DIM, &options.n_dims);
    options.inputs_from = from;
    options.ranges_chosen = !call_says_inputs(call);
    options.seed = (uint32_t)odb_call_int(call, ODB_OPTION_SEED, options.seed) + shift;
    options.recordings = recordings;
    options.n_recordings = odb_call__recordings(call, recordings);
    enum odb_status status =
        choose ? call_choose(call, &options, err) : odb_feeds_make(out, call->model, &options, err);
    free((void *)options.inputs);
    free((void *)options.dims);
    return status;
}

enum odb_status odb_call__make_feeds(struct odb_command_call *call, const char *from,
                                     uint32_t shift, struct odb_feeds **out, struct odb_error *err)
{
    bool plain = call->command->flags & ODB_COMMAND_PLAIN, may = call_may_choose(call);
    enum odb_status status = ODB_E_USAGE;
    if (plain || !may)
        status = call_feeds_make(call, from, shift, false, out, err);
    if (status == ODB_E_USAGE && may) {
        status = call_feeds_make(call, from, shift, true, NULL, err);
        const char *set = odb_call_option(call, ODB_OPTION_INPUTS_FROM);
        if (status == ODB_OK)
            status = call_feeds_make(call, from ? from : set, shift, false, out, err);
    }
    if (status != ODB_OK)
        return call_feeds_remedy(call, err);
    (*out)->chosen = odb_xstrdup(call->chosen ? call->chosen : "");
    return ODB_OK;
}

/* Whether what was chosen is a set of inputs, by its words. */
static bool call_is_set(const char *chosen)
{
    return !strncmp(chosen, "inputs of ", 10);
}

/* What stands in for options that were not given. */
static void call_say_chosen(struct odb_command_call *call, const char *chosen)
{
    static const char *const changes[][2] = {
        {"--inputs plain generates others", "`set inputs plain` generates others"},
        {"--dim and --input change them", "`set dim` and `set input` change them"},
        {"--dim changes them", "`set dim` changes them"}};
    int what = call_is_set(chosen) ? 0 : strstr(chosen, "=range(") ? 1 : 2;
    if (*chosen)
        fprintf(call->log, "onnxdbg: %s chosen; %s\n", chosen,
                changes[what][call->console != NULL]);
}

void odb_call__feed_tell(struct odb_command_call *call, const struct odb_feeds *feeds)
{
    call_say_recorded(call, feeds);
    call_warn_unrecorded(call, feeds);
    call_say_chosen(call, feeds->chosen ? feeds->chosen : "");
    call_warn_lines(call, feeds->warnings);
}

const char *odb_call__chosen(const struct odb_command_call *call)
{
    const struct odb_feeds *feeds = call->session->feeds;
    const char *chosen = feeds ? feeds->chosen : call->chosen;
    return chosen ? chosen : "";
}

bool odb_call__set_is_chosen(const struct odb_command_call *call)
{
    return call_is_set(odb_call__chosen(call));
}

void odb_call__chosen_tell(struct odb_command_call *call)
{
    call_say_chosen(call, odb_call__chosen(call));
}

void odb_call__feed_take(struct odb_command_call *call, struct odb_feeds *feeds)
{
    odb_call__feed_tell(call, feeds);
    odb_session_feed_take(call->session, feeds);
}

enum odb_status odb_call__feeds(struct odb_command_call *call, const struct odb_feeds **out,
                                struct odb_error *err)
{
    struct odb_feeds *feeds;
    *out = call->session->feeds;
    if (*out)
        return ODB_OK;
    if (odb_call__plan_given(call) || odb_call__step_given(call))
        ODB_TRY(odb_call__step_feeds(call, &feeds, err));
    else
        ODB_TRY(odb_call__make_feeds(call, odb_call_option(call, ODB_OPTION_INPUTS_FROM), 0, &feeds,
                                     err));
    odb_call__feed_take(call, feeds);
    *out = feeds;
    return odb_call__input_settings_keep(call, false, err);
}
