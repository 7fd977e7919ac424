/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Everything that explains: written once in the table, laid out here.
 */
#include <string.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command_find.h"
#include "command/table/help.h"
#include "command/table/table.h"
#include "command/table/topics.h"
#include "command/table/verbs.h"
#include "compare/criterion.h"
#include "report/json.h"

static void help_tolerance(struct odb_buf *out)
{
    const char *help;
    odb_buf_puts(out, "tolerances, for --tol:\n");
    for (size_t i = 0; odb_criterion_usage(i, &help); i++)
        odb_help_row(out, odb_criterion_usage(i, &help), 30, help);
}

static json_t *help_command_json(const struct odb_command *command)
{
    json_t *options = json_array();
    for (int id = 0; id < ODB_OPTION_COUNT; id++) {
        const struct odb_option *row = odb_option_row((enum odb_option_id)id);
        if (odb_command_takes(command, (enum odb_option_id)id))
            json_array_append_new(options, json_pack("{s:s,s:o,s:o,s:s}", "name", row->name,
                                                     "value", odb_json_text(row->arg), "default",
                                                     odb_json_text(row->def), "help", row->help));
    }
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o}", "name", command->name, "group", command->group,
                     "help", command->help, "text", command->text, "example", command->example,
                     "options", options);
}

/* What can be given at the prompt, or to the shell, or one of these. */
static json_t *help_json(bool prompt, const struct odb_command *only)
{
    size_t n;
    const struct odb_command *table = odb_command_table(&n);
    json_t *list = json_array();
    unsigned where = prompt ? ODB_COMMAND_PROMPT : ODB_COMMAND_SHELL;
    for (size_t i = 0; i < n; i++)
        if (only ? &table[i] == only : (table[i].flags & where) != 0)
            json_array_append_new(list, help_command_json(&table[i]));
    return json_pack("{s:o}", "commands", list);
}

static json_t *help_tolerance_json(void)
{
    const char *help;
    json_t *list = json_array();
    for (size_t i = 0; odb_criterion_usage(i, &help); i++)
        json_array_append_new(
            list, json_pack("{s:s,s:s}", "spec", odb_criterion_usage(i, &help), "help", help));
    return json_pack("{s:o}", "tolerances", list);
}

/* A page of the manual, which the program does not hold. */
static enum odb_status help_topic(struct odb_command_call *call, const char *topic,
                                  struct odb_error *err)
{
    const char *about = odb_topic_find(topic);
    struct odb_buf out = ODB_BUF_INIT;
    odb_buf_printf(&out,
                   "onnxdbg-%s(7): %s\n`man onnxdbg-%s` shows it; in the sources, `man -l "
                   "man/onnxdbg-%s.7`\n",
                   topic, about, topic, topic);
    return odb_call__give(call, json_pack("{s:s,s:s}", "page", topic, "about", about), &out, err);
}

enum odb_status odb_command__help(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    const struct odb_command *command = NULL;
    const char *topic = odb_call_arg(call, 0);
    bool prompt = call->console != NULL, tolerance = topic && !strcmp(topic, "tolerance");
    if (topic && !strcmp(topic, "screen")) {
        prompt = true;
        topic = NULL;
    }
    if (topic && !prompt && odb_topic_find(topic) &&
        odb_command_find(&command, topic, false, NULL) != ODB_OK)
        return help_topic(call, topic, err);
    if (topic && !tolerance && odb_command_find(&command, topic, !prompt, NULL) != ODB_OK)
        ODB_TRY(odb_command_find(&command, topic, prompt, err));
    if (tolerance)
        help_tolerance(&out);
    else if (command)
        odb_help_command(command, &out);
    else
        odb_help_overview(prompt, &out);
    return odb_call__give(call, tolerance ? help_tolerance_json() : help_json(prompt, command),
                          &out, err);
}
