/* SPDX-License-Identifier: MIT
 *
 * server:PROGRAM: a program of the user's that stays.
 */
#include "base/mem.h"
#include "executor/programs/made.h"
#include "executor/programs/program_words.h"
#include "executor/programs/server.h"

static const struct odb_executor_option server_options[] = {
    {":", "PROGRAM", NULL, "what to start, split at blanks, with further arguments", true},
    {"keep", "DIR", NULL, "leave the files of every model and of its last run there", false},
    ODB_MADE_OPTION,
    ODB_PROGRAM_WORDS_OPTION,
    {NULL, NULL, NULL, NULL, false},
};

static enum odb_status server_init(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    struct odb_argv words = {0};
    const char *keep = odb_spec_option(spec, "keep"), *cache = odb_spec_option(spec, "cache");
    ODB_TRY(odb_spec_check(spec, server_options, err));
    odb_program_words(&words, spec);
    if (words.list.n > 0 && (!keep || keep[0]) && (!cache || cache[0]))
        return odb_server_open_take(self, &words, keep, cache, err);
    odb_fail(err, ODB_E_USAGE, "no %s is named", words.list.n > 0 ? "directory" : "program");
    odb_error_remedy(err, "write server:PROGRAM[,keep=DIR][,cache=DIR]");
    odb_argv_dispose(&words);
    return odb_error_at(err, "%s", spec->text);
}

/* The program; its arguments may be anything. */
static enum odb_status server_look(const struct odb_spec *spec, struct odb_error *err)
{
    struct odb_argv words = {0};
    odb_program_words(&words, spec);
    enum odb_status status = words.list.n ? odb_argv_check(&words, err) : ODB_OK;
    odb_argv_dispose(&words);
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "%s", spec->text);
}

const struct odb_executor_ops odb_executor_server = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof(struct odb_executor_ops),
    .kind = "server",
    .options = server_options,
    .help = "a program of your own that stays, and is asked in lines of JSON",
    .page = "onnxdbg-server(7)",
    .partial = true,
    .argument = ODB_ARGUMENT_COMMAND,
    .look = server_look,
    .init = server_init,
    .load_model = odb_server_load,
    .execute = odb_server_execute,
    .release = odb_server_release,
    .cancel = odb_server_cancel,
    .describe = odb_server_describe,
    .capabilities = odb_server_capabilities,
    .account = odb_server_account,
};
