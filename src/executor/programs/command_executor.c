/* SPDX-License-Identifier: MIT
 *
 * command:PROGRAM runs any program as an executor. Each load makes a directory with model.onnx;
 * each run adds the inputs and io.json, starts PROGRAM with the directory as its last argument and
 * as its working directory, and reads the outputs that io.json named.
 *
 * PROGRAM is not a shell line: program.h says how it is split. Words that name files where onnxdbg
 * was started are made absolute, because the program runs elsewhere.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/executor.h"
#include "executor/place.h"
#include "executor/programs/exchange.h"
#include "executor/transport/program.h"

#define COMMAND_WORDS 600 /* bytes of the program's output in a message */

struct command {
    struct odb_argv words; /* the program and its arguments */
    struct odb_exchange files;
};

static void command_release(void *self)
{
    struct command *command = self;
    odb_exchange_dispose(&command->files);
    odb_argv_dispose(&command->words);
    free(command);
}

static const struct odb_executor_option command_options[] = {
    {":", "PROGRAM", NULL, "what to start, split at blanks, with further arguments", true},
    {"keep", "DIR", NULL, "leave the files of every model and of its last run there", false},
    {NULL, NULL, NULL, NULL, false},
};

static enum odb_status command_init(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    ODB_TRY(odb_spec_check(spec, command_options, err));
    struct command *command = odb_new(struct command);
    const char *keep = odb_spec_option(spec, "keep");
    odb_argv_split(&command->words, spec->arg ? spec->arg : "");
    odb_argv_find_files(&command->words);
    odb_exchange_init(&command->files, keep, "io.json");
    if (command->words.list.n == 0 || (keep && !keep[0])) {
        odb_fail(err, ODB_E_USAGE, "no %s is named", keep && !keep[0] ? "directory" : "program");
        odb_error_remedy(err, "write command:PROGRAM[,keep=DIR]");
        command_release(command);
        return odb_error_at(err, "%s", spec->text);
    }
    *self = command;
    return ODB_OK;
}

/* The program; its arguments may be anything. */
static enum odb_status command_look(const struct odb_spec *spec, struct odb_error *err)
{
    struct odb_argv words = {0};
    odb_argv_split(&words, spec->arg ? spec->arg : "");
    odb_argv_find_files(&words);
    enum odb_status status = words.list.n ? odb_argv_check(&words, err) : ODB_OK;
    odb_argv_dispose(&words);
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "%s", spec->text);
}

static void command_describe(void *self, char *text, size_t size)
{
    const struct command *command = self;
    snprintf(text, size, "program %s", command->words.list.items[0]);
}

static enum odb_status command_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    struct command *command = self;
    return odb_exchange_load(&command->files, load, err);
}

/* The list of a run's files, io.json. */
static enum odb_status command_write_io(const struct command *command, json_t *in, json_t *out,
                                        struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    json_t *io = json_pack("{s:i,s:s,s:O,s:O}", "schema", 1, "model", "model.onnx", "inputs", in,
                           "outputs", out);
    char *path = odb_xasprintf("%s/io.json", odb_place_dir(command->files.place));
    if (json_dump_file(io, path, JSON_INDENT(1)) < 0) {
        status = odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        odb_error_at(err, "%s", path);
    }
    json_decref(io);
    free(path);
    return status;
}

static enum odb_status command_run(const struct command *command, struct odb_error *err)
{
    struct odb_argv words = {0};
    struct odb_buf says = ODB_BUF_INIT;
    for (size_t i = 0; i < command->words.list.n; i++)
        odb_argv_add(&words, command->words.list.items[i]);
    odb_argv_add(&words, odb_place_dir(command->files.place));
    struct odb_program program = {.argv = &words, .dir = odb_place_dir(command->files.place)};
    enum odb_status status = odb_program_run(&program, err);
    if (status == ODB_OK) {
        odb_program_last_words(&program, COMMAND_WORDS, &says);
        char *text = says.len ? odb_xasprintf("; its last words: %s", says.data) : odb_xstrdup("");
        status = odb_program_check(&program, text, err);
        free(text);
    }
    odb_buf_dispose(&says);
    odb_program_dispose(&program);
    odb_argv_dispose(&words);
    return status;
}

static enum odb_status command_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                       const char *const *names, size_t n_outputs,
                                       struct odb_tensor **outputs, struct odb_error *err)
{
    const struct command *command = self;
    json_t *in, *out;
    ODB_TRY(
        odb_exchange_write(&command->files, inputs, n_inputs, names, n_outputs, &in, &out, err));
    enum odb_status status = command_write_io(command, in, out, err);
    json_decref(in);
    json_decref(out);
    if (status == ODB_OK)
        status = command_run(command, err);
    for (size_t i = 0; i < n_outputs && status == ODB_OK; i++)
        status = odb_exchange_read(&command->files, names[i], i, &outputs[i], err);
    odb_exchange_clear(&command->files, n_inputs, n_outputs);
    return status;
}

static enum odb_status command_account(void *self, struct odb_account *account,
                                       struct odb_error *err)
{
    const struct command *command = self;
    return odb_exchange_account(&command->files, account, err);
}

const struct odb_executor_ops odb_executor_command = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof(struct odb_executor_ops),
    .kind = "command",
    .options = command_options,
    .help = "a program of your own that reads and writes .npy files",
    .page = "onnxdbg-command(7)",
    .argument = ODB_ARGUMENT_COMMAND,
    .look = command_look,
    .init = command_init,
    .load_model = command_load,
    .execute = command_execute,
    .release = command_release,
    .describe = command_describe,
    .account = command_account,
};
