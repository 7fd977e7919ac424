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
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "executor/executor.h"
#include "executor/place.h"
#include "executor/transport/program.h"
#include "model/model.h"
#include "model/read/load.h"
#include "model/read/pb.h"
#include "model/write/pb_write.h"
#include "tensor/format/npy.h"

#define COMMAND_WORDS 600 /* bytes of the program's output in a message */

struct command_output {
    char *name; /* owned */
    bool known; /* the two below */
    enum odb_kind kind;
    enum odb_dtype dtype;
};

struct command {
    struct odb_argv words;          /* the program and its arguments */
    struct odb_place *place;        /* owned: of the model loaded */
    bool keep;                      /* its files stay */
    struct command_output *outputs; /* owned: of the model loaded */
    size_t n_outputs;
};

/* --- the program ----------------------------------------------------------------------------- */

static void command_unload(struct command *command)
{
    for (size_t i = 0; i < command->n_outputs; i++)
        free(command->outputs[i].name);
    free(command->outputs);
    command->outputs = NULL;
    command->n_outputs = 0;
}

static void command_release(void *self)
{
    struct command *command = self;
    command_unload(command);
    odb_place_free(command->place);
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
    command->place = odb_place_new(keep);
    command->keep = keep != NULL;
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
    struct odb_model *model;
    command_unload(command);
    ODB_TRY(odb_model_open_bytes(&model, load->bytes, load->size, NULL, load->dir, "model", err));
    enum odb_status status = odb_place_put(command->place, load, model, err);
    command->n_outputs = model->graph->n_outputs;
    command->outputs = odb_new_n(struct command_output, command->n_outputs + 1);
    for (size_t i = 0; i < command->n_outputs; i++) {
        const struct odb_value *v = &model->graph->values[model->graph->outputs[i]];
        command->outputs[i] = (struct command_output){odb_xstrdup(v->name), v->type.known,
                                                      v->type.kind, v->type.dtype};
    }
    odb_model_free(model);
    return status;
}

/* --- files ----------------------------------------------------------------------------------- */

/* Where the file of that number is; the caller frees it. */
static char *command_path(const struct command *command, const char *what, size_t i,
                          const char *kind)
{
    return odb_xasprintf("%s/%s_%zu.%s", odb_place_dir(command->place), what, i, kind);
}

/* A name as JSON can hold it: bytes that are no UTF-8 as \xNN. */
static json_t *command_name(const char *name)
{
    struct odb_buf shown = ODB_BUF_INIT;
    json_t *text = json_string(name);
    if (!text) {
        odb_buf_put_shown(&shown, name);
        text = json_string(odb_buf_text(&shown));
        odb_buf_dispose(&shown);
    }
    return text;
}

/* ONNX's spelling of a type, "float", "seq(tensor(float))". */
static json_t *command_dtype(enum odb_kind kind, enum odb_dtype dtype)
{
    static const char *const outer[] = {[ODB_SEQUENCE] = "seq",
                                        [ODB_OPTIONAL] = "optional",
                                        [ODB_SPARSE] = "sparse_tensor",
                                        [ODB_MAP] = "map"};
    const char *name = odb_dtype_info(dtype)->name;
    if (kind == ODB_TENSOR)
        return json_string(name);
    if (kind == ODB_SPARSE)
        return json_sprintf("%s(%s)", outer[kind], name);
    return json_sprintf("%s(tensor(%s))", outer[kind], name);
}

static bool command_is_npy(enum odb_kind kind, enum odb_dtype dtype)
{
    return kind == ODB_TENSOR && (odb_dtype_info(dtype)->descr || dtype == ODB_STRING);
}

static enum odb_status command_write_input(const struct command *command,
                                           const struct odb_named *input, size_t i, json_t *list,
                                           struct odb_error *err)
{
    const struct odb_tensor *t = input->tensor;
    bool npy = command_is_npy(t->kind, t->dtype);
    char *path = command_path(command, "in", i, npy ? "npy" : "pb");
    enum odb_status status =
        npy ? odb_npy_write(t, path, err) : odb_pb_write(t, input->name, path, err);
    json_t *shape = t->kind == ODB_TENSOR ? json_array() : json_null();
    for (int d = 0; t->kind == ODB_TENSOR && d < t->rank; d++)
        json_array_append_new(shape, json_integer(t->dims[d]));
    json_array_append_new(list, json_pack("{s:o,s:s,s:o,s:o}", "name", command_name(input->name),
                                          "file", strrchr(path, '/') + 1, "dtype",
                                          command_dtype(t->kind, t->dtype), "shape", shape));
    free(path);
    return status;
}

static const struct command_output *command_find_output(const struct command *command,
                                                        const char *name)
{
    for (size_t i = 0; i < command->n_outputs; i++)
        if (!strcmp(command->outputs[i].name, name))
            return &command->outputs[i];
    return NULL;
}

/* out_N.pb for types that .npy cannot hold, else out_N.npy; the caller frees it. */
static char *command_output_path(const struct command *command, const struct command_output *output,
                                 size_t i)
{
    bool npy = !output->known || command_is_npy(output->kind, output->dtype);
    return command_path(command, "out", i, npy ? "npy" : "pb");
}

static enum odb_status command_write_io(const struct command *command,
                                        const struct odb_named *inputs, size_t n_inputs,
                                        const char *const *names, size_t n_outputs,
                                        struct odb_error *err)
{
    json_t *in = json_array(), *out = json_array();
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n_inputs && status == ODB_OK; i++)
        status = command_write_input(command, &inputs[i], i, in, err);
    for (size_t i = 0; i < n_outputs && status == ODB_OK; i++) {
        const struct command_output *output = command_find_output(command, names[i]);
        if (!output) {
            status = odb_fail(err, ODB_E_INPUT, "the model has no output '%s'", names[i]);
            break;
        }
        char *path = command_output_path(command, output, i);
        json_array_append_new(
            out,
            json_pack("{s:o,s:s,s:o}", "name", command_name(names[i]), "file",
                      strrchr(path, '/') + 1, "dtype",
                      output->known ? command_dtype(output->kind, output->dtype) : json_null()));
        free(path);
    }
    json_t *io = json_pack("{s:i,s:s,s:o,s:o}", "schema", 1, "model", "model.onnx", "inputs", in,
                           "outputs", out);
    char *path = odb_xasprintf("%s/io.json", odb_place_dir(command->place));
    if (status == ODB_OK && json_dump_file(io, path, JSON_INDENT(1)) < 0) {
        status = odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        odb_error_at(err, "%s", path);
    }
    json_decref(io);
    free(path);
    return status;
}

/* What the program is to have written: .npy or, where the type was not known, .pb if it saw fit. */
static enum odb_status command_check_file(char *path, bool known, const char *name,
                                          struct odb_error *err)
{
    struct stat st;
    char *dot = strrchr(path, '.');
    int found = stat(path, &st);
    if (found < 0 && !known) {
        memcpy(dot, ".pb", sizeof ".pb");
        found = stat(path, &st);
        if (found < 0)
            memcpy(dot, ".npy", sizeof ".npy");
    }
    if (found < 0) {
        odb_fail(err, ODB_E_EXECUTOR, "the program wrote no %s for the output '%s'",
                 strrchr(path, '/') + 1, name);
        return odb_error_remedy(err, "io.json names the file of each output");
    }
    if (!S_ISREG(st.st_mode))
        return odb_fail(err, ODB_E_EXECUTOR, "%s, for the output '%s', is no regular file",
                        strrchr(path, '/') + 1, name);
    return ODB_OK;
}

static enum odb_status command_read_output(const struct command *command, const char *name,
                                           size_t i, struct odb_tensor **out, struct odb_error *err)
{
    const struct command_output *output = command_find_output(command, name);
    char *path = command_output_path(command, output, i);
    enum odb_status status = command_check_file(path, output->known, name, err);
    if (status == ODB_OK)
        status = !strcmp(strrchr(path, '.'), ".npy")
                     ? odb_npy_read(out, path, err)
                     : odb_pb_read(out, output->known ? output->kind : ODB_TENSOR, path, err);
    free(path);
    return status;
}

/* Inputs and outputs of a run, so that none is taken for one of the next. */
static void command_clear(const struct command *command, const char *what, size_t n)
{
    static const char *const kinds[] = {"npy", "pb"};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < ODB_COUNT(kinds); k++) {
            char *path = command_path(command, what, i, kinds[k]);
            unlink(path);
            free(path);
        }
}

/* --- running --------------------------------------------------------------------------------- */

static enum odb_status command_run(const struct command *command, struct odb_error *err)
{
    struct odb_argv words = {0};
    struct odb_buf says = ODB_BUF_INIT;
    for (size_t i = 0; i < command->words.list.n; i++)
        odb_argv_add(&words, command->words.list.items[i]);
    odb_argv_add(&words, odb_place_dir(command->place));
    struct odb_program program = {.argv = &words, .dir = odb_place_dir(command->place)};
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
    struct command *command = self;
    if (!odb_place_dir(command->place))
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    command_clear(command, "out", n_outputs);
    enum odb_status status = command_write_io(command, inputs, n_inputs, names, n_outputs, err);
    if (status == ODB_OK)
        status = command_run(command, err);
    for (size_t i = 0; i < n_outputs && status == ODB_OK; i++)
        status = command_read_output(command, names[i], i, &outputs[i], err);
    if (!command->keep) {
        command_clear(command, "in", n_inputs);
        command_clear(command, "out", n_outputs);
    }
    return status;
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
};
