/* SPDX-License-Identifier: MIT
 *
 * command:PROGRAM runs any program as an executor. Each load makes a directory with model.onnx;
 * each run adds the inputs and io.json, starts PROGRAM with the directory as its last argument and
 * as its working directory, and reads the outputs that io.json named.
 *
 * PROGRAM is not a shell line: program.h says how it is split. Words that name files where onnxdbg
 * was started are made absolute, because the program runs elsewhere; options arg.KEY follow them.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "executor/executor.h"
#include "executor/place.h"
#include "executor/programs/can.h"
#include "executor/programs/made.h"
#include "executor/programs/exchange.h"
#include "executor/programs/looked.h"
#include "executor/programs/program_words.h"
#include "executor/transport/program.h"
#include "system/scratch.h"

#define COMMAND_WORDS 600 /* bytes of the program's output in a message */
#define COMMAND_BLIND ", and had looked at no file of the run"
#define COMMAND_ASKING 10 /* seconds that it may take to say what it can do */
#define COMMAND_SCHEMA 1  /* of what it says */

struct command {
    struct odb_argv words; /* the program and its arguments */
    struct odb_exchange files;
    struct odb_made made;
    json_t *can;   /* owned: what it says that it can do; NULL: nothing */
    char *says;    /* owned: the same as text; "" */
    bool compiles; /* it is called with the verb */
    bool runs;     /* the same */
    bool loaded;
    bool knows; /* what a run asks of it, as far as is seen: it has looked at a file of one */
};

static void command_release(void *self)
{
    struct command *command = self;
    odb_exchange_dispose(&command->files);
    odb_made_dispose(&command->made);
    odb_argv_dispose(&command->words);
    json_decref(command->can);
    free(command->says);
    free(command);
}

static const struct odb_executor_option command_options[] = {
    {":", "PROGRAM", NULL, "what to start, split at blanks, with further arguments", true},
    {"keep", "DIR", NULL, "leave the files of every model and of its last run there", false},
    ODB_MADE_OPTION,
    ODB_PROGRAM_WORDS_OPTION,
    {"ask", "yes|no", "yes", "whether the program is asked what it can do", false},
    {NULL, NULL, NULL, NULL, false},
};

/* --- starting it ----------------------------------------------------------------------------- */

/* PROGRAM ARG... and up to two words more, which may be NULL. The caller disposes of it. */
static struct odb_argv command_line(const struct command *command, const char *verb,
                                    const char *dir)
{
    struct odb_argv words = {0};
    for (size_t i = 0; i < command->words.list.n; i++)
        odb_argv_add(&words, command->words.list.items[i]);
    if (verb)
        odb_argv_add(&words, verb);
    if (dir)
        odb_argv_add(&words, dir);
    return words;
}

/* Whether it has looked at what the directory holds. Other machines do that unseen. */
static const char *const command_files[] = {"io.json", "model.", "in_", NULL};

/* Starts it for the loaded model, in its directory. doing: "" or " while it ..." */
static enum odb_status command_start(struct command *command, const char *verb, const char *doing,
                                     struct odb_error *err)
{
    const char *dir = odb_place_dir(command->files.place);
    struct odb_argv words = command_line(command, verb, dir);
    struct odb_buf says = ODB_BUF_INIT;
    struct odb_program program = {.argv = &words, .dir = dir};
    int watch = command->knows ? -1 : odb_looked_begin(dir);
    enum odb_status status = odb_program_run(&program, err);
    command->knows = odb_looked(watch, command_files);
    if (status == ODB_OK) {
        bool blind = !command->knows && WIFEXITED(program.how);
        if (blind)
            odb_program_telling_line(&program, &says);
        else
            odb_program_last_words(&program, COMMAND_WORDS, &says);
        char *text = odb_xasprintf("%s%s%s%s", doing, blind ? COMMAND_BLIND : "",
                                   says.len ? "; output: " : "", odb_buf_text(&says));
        status = odb_program_check(&program, text, err);
        free(text);
    }
    odb_buf_dispose(&says);
    odb_program_dispose(&program);
    odb_argv_dispose(&words);
    return status;
}

/* --- what it can do -------------------------------------------------------------------------- */

/* The object that it printed: all of it, or the last line that begins one, for libraries print as
 * they are loaded. The caller's to json_decref(); NULL: there is none. */
static json_t *command_answer(const char *said)
{
    json_t *can = json_loads(said, 0, NULL);
    char *text = odb_xstrdup(said), *rest = text, *last = NULL;
    for (char *line; (line = strsep(&rest, "\r\n"));)
        if (line[0] == '{')
            last = line;
    if (!can && last)
        can = json_loads(last, 0, NULL);
    free(text);
    return can;
}

/* Takes the answer, if it is one: an older program may print anything. */
static void command_take_answer(struct command *command, json_t *can)
{
    if (!json_is_array(json_object_get(can, "verbs")) ||
        json_integer_value(json_object_get(can, "schema")) != COMMAND_SCHEMA) {
        json_decref(can);
        return;
    }
    command->can = can;
    command->compiles = odb_can_verb(can, "compile");
    command->runs = odb_can_verb(can, "run");
    command->knows = true;
    free(command->says);
    command->says = odb_can_text(can);
}

/* Asks it, in an empty directory that goes: one that knows no such question takes the word for the
 * name of a directory. Whatever goes wrong is no answer. limit: seconds */
static void command_ask(struct command *command, double limit)
{
    struct odb_error ignored = ODB_ERROR_INIT;
    struct odb_argv words = command_line(command, "capabilities", NULL);
    struct odb_program program = {.argv = &words, .quiet = true, .apart = true, .limit = limit};
    char *dir;
    if (odb_scratch_new(&dir, &ignored) == ODB_OK) {
        program.dir = dir;
        if (odb_program_run(&program, &ignored) == ODB_OK && program.how == 0)
            command_take_answer(command, command_answer(odb_buf_text(&program.said)));
        odb_program_dispose(&program);
        odb_scratch_remove(dir);
        free(dir);
    }
    odb_argv_dispose(&words);
}

static void command_capabilities(void *self, struct odb_buf *options)
{
    const struct command *command = self;
    odb_can_put(command->can, options);
}

/* --- its life -------------------------------------------------------------------------------- */

static enum odb_status command_check(const struct command *command, const struct odb_spec *spec,
                                     struct odb_error *err)
{
    static const char *const folders[] = {"keep", "cache"};
    bool named = true;
    for (size_t i = 0; i < ODB_COUNT(folders); i++) {
        const char *folder = odb_spec_option(spec, folders[i]);
        named = named && (!folder || folder[0]);
    }
    if (command->words.list.n > 0 && named)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "no %s is named", named ? "program" : "directory");
    odb_error_remedy(err, "write command:PROGRAM[,keep=DIR][,cache=DIR]");
    return odb_error_at(err, "%s", spec->text);
}

/* The question must not take longer than the debugger waits. */
static enum odb_status command_ask_first(struct command *command, const struct odb_spec *spec,
                                         struct odb_error *err)
{
    const char *ask = odb_spec_option(spec, "ask");
    double timeout = 2 * COMMAND_ASKING;
    ODB_TRY(odb_spec_number(spec, "timeout", &timeout, err));
    if (!ask || strcmp(ask, "no") != 0)
        command_ask(command, timeout > 0 ? ODB_MIN(timeout / 2, COMMAND_ASKING) : COMMAND_ASKING);
    return ODB_OK;
}

static enum odb_status command_init(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    ODB_TRY(odb_spec_check(spec, command_options, err));
    struct command *command = odb_new(struct command);
    command->says = odb_xstrdup("");
    odb_program_words(&command->words, spec);
    odb_exchange_init(&command->files, odb_spec_option(spec, "keep"), "io.json");
    command->knows = command->files.keep; /* such a folder may be of several machines */
    enum odb_status status = command_check(command, spec, err);
    if (status == ODB_OK)
        status = command_ask_first(command, spec, err);
    if (status == ODB_OK && command->compiles)
        status = odb_made_init(&command->made, odb_spec_option(spec, "cache"), err);
    if (status == ODB_OK)
        *self = command;
    else
        command_release(command);
    return status;
}

/* The program; its arguments may be anything. */
static enum odb_status command_look(const struct odb_spec *spec, struct odb_error *err)
{
    struct odb_argv words = {0};
    odb_program_words(&words, spec);
    enum odb_status status = words.list.n ? odb_argv_check(&words, err) : ODB_OK;
    odb_argv_dispose(&words);
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "%s", spec->text);
}

static void command_describe(void *self, char *text, size_t size)
{
    const struct command *command = self;
    snprintf(text, size, "program %s", command->words.list.items[0]);
}

/* --- models ---------------------------------------------------------------------------------- */

/* Its directory, compiled: by the program, or as it is kept. */
static enum odb_status command_compile(struct command *command, const struct odb_load *load,
                                       struct odb_error *err)
{
    bool found;
    ODB_TRY(odb_made_place(&command->made, &command->files, load, &command->words, command->says,
                           &found, err));
    if (found)
        return ODB_OK;
    ODB_TRY(command_start(command, "compile", " while it compiled the model", err));
    odb_made_keep(&command->made, &command->files);
    return ODB_OK;
}

static enum odb_status command_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    struct command *command = self;
    command->loaded = false;
    if (command->compiles)
        ODB_TRY(command_compile(command, load, err));
    else
        ODB_TRY(odb_exchange_load(&command->files, load, err));
    command->loaded = true;
    return ODB_OK;
}

/* It fails whatever the model is. */
static enum odb_status command_knows_nothing(struct odb_error *err)
{
    if (!err)
        return ODB_E_EXECUTOR;
    size_t n = strlen(err->what);
    if (!strstr(err->what, COMMAND_BLIND))
        odb_text_fit(err->what + n, sizeof err->what - n, "%s", COMMAND_BLIND);
    return odb_error_remedy(err, "it has to read io.json in the directory that is its argument: "
                                 "onnxdbg-command(7)");
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

static enum odb_status command_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                       const char *const *names, size_t n_outputs,
                                       struct odb_tensor **outputs, struct odb_error *err)
{
    struct command *command = self;
    json_t *in, *out;
    if (!command->loaded)
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    ODB_TRY(
        odb_exchange_write(&command->files, inputs, n_inputs, names, n_outputs, &in, &out, err));
    enum odb_status status = command_write_io(command, in, out, err);
    json_decref(in);
    json_decref(out);
    if (status == ODB_OK)
        status = command_start(command, command->runs ? "run" : NULL, "", err);
    bool unstarted = status != ODB_OK && err && err->remedy[0]; /* which says all there is to say */
    for (size_t i = 0; i < n_outputs && status == ODB_OK; i++)
        status = odb_exchange_read(&command->files, names[i], i, &outputs[i], err);
    odb_exchange_clear(&command->files, n_inputs, n_outputs);
    command->knows |= status == ODB_OK;
    return status == ODB_E_EXECUTOR && !command->knows && !unstarted ? command_knows_nothing(err)
                                                                     : status;
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
    .capabilities = command_capabilities,
    .account = command_account,
};
