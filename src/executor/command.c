/* SPDX-License-Identifier: MIT
 *
 * command:PROGRAM runs any program as an executor. Each load makes a directory with model.onnx;
 * each run adds the inputs and io.json, starts PROGRAM with the directory as its last argument and
 * as its working directory, and reads the outputs that io.json named.
 *
 * PROGRAM is not a shell line: it is split at spaces, with a backslash before those that belong to
 * a word. Words that name files where onnxdbg was started are made absolute, because the program
 * runs elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "executor/scratch.h"
#include "model/model.h"
#include "tensor/npy.h"

#define COMMAND_WORDS 600 /* bytes of the program's output in a message */

struct command_output {
    char *name; /* owned */
    bool known; /* the two below */
    enum odb_kind kind;
    enum odb_dtype dtype;
};

struct command {
    ODB_VEC(char *) words;          /* owned strings; room for the directory and a NULL is made */
    char *dir;                      /* owned: of the model loaded; NULL: none */
    struct command_output *outputs; /* owned: of the model loaded */
    size_t n_outputs;
};

/* --- the program ----------------------------------------------------------------------------- */

/* The file as seen from where we are now, if it is one; else the word itself. */
static char *command_word(const char *word)
{
    struct stat st;
    char *path = NULL;
    if (stat(word, &st) == 0 && S_ISREG(st.st_mode))
        path = realpath(word, NULL);
    return path ? path : odb_xstrdup(word);
}

static void command_split(struct command *command, const char *text)
{
    struct odb_buf word = ODB_BUF_INIT;
    bool open = false;
    for (const char *p = text;; p++) {
        if (*p == '\0' || *p == ' ') {
            if (open)
                odb_push(&command->words, command_word(odb_buf_text(&word)));
            odb_buf_clear(&word);
            open = false;
            if (*p == '\0')
                break;
            continue;
        }
        if (*p == '\\' && p[1] == ' ')
            p++;
        odb_buf_putc(&word, *p);
        open = true;
    }
    odb_buf_dispose(&word);
}

static void command_unload(struct command *command)
{
    if (command->dir)
        odb_scratch_remove(command->dir);
    free(command->dir);
    command->dir = NULL;
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
    for (size_t i = 0; i < command->words.n; i++)
        free(command->words.items[i]);
    free(command->words.items);
    free(command);
}

static const struct odb_executor_option command_options[] = {
    {":", "PROGRAM", NULL, "what to start, split at blanks, with further arguments", true},
    {NULL, NULL, NULL, NULL, false},
};

static enum odb_status command_init(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    ODB_TRY(odb_spec_check(spec, command_options, err));
    struct command *command = odb_new(struct command);
    command_split(command, spec->arg ? spec->arg : "");
    if (command->words.n == 0) {
        command_release(command);
        odb_fail(err, ODB_E_USAGE, "no program is named");
        odb_error_remedy(err, "write command:PROGRAM");
        return odb_error_at(err, "%s", spec->text);
    }
    *self = command;
    return ODB_OK;
}

static void command_describe(void *self, char *text, size_t size)
{
    const struct command *command = self;
    snprintf(text, size, "program %s", command->words.items[0]);
}

/* --- weights beside the model ---------------------------------------------------------------- */

static enum odb_status command_io(struct odb_error *err, const char *path)
{
    odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    return odb_error_at(err, "%s", path);
}

static enum odb_status command_write(const char *path, const void *data, size_t size,
                                     struct odb_error *err)
{
    FILE *f = fopen(path, "wbe");
    if (!f)
        return command_io(err, path);
    bool ok = size == 0 || fwrite(data, 1, size, f) == size;
    ok = fclose(f) == 0 && ok;
    return ok ? ODB_OK : command_io(err, path);
}

/* Shared blocks where the file system can, else a copy. */
static bool command_copy(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = in >= 0 && out >= 0;
    if (ok && ioctl(out, FICLONE, in) < 0) {
        unlink(to);
        if (link(from, to) < 0) {
            ssize_t n = 1;
            close(out);
            out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
            while (out >= 0 && n > 0)
                n = copy_file_range(in, NULL, out, NULL, (size_t)1 << 30, 0);
            ok = out >= 0 && n == 0;
        }
    }
    int why = errno;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    errno = why;
    return ok;
}

/* A location that has a place of its own in our directory. */
static bool command_can_place(const char *location)
{
    return location[0] != '/' && !strstr(location, "..") && strcmp(location, "model.onnx") != 0 &&
           strcmp(location, "io.json") != 0 && strncmp(location, "in_", 3) != 0 &&
           strncmp(location, "out_", 4) != 0;
}

static enum odb_status command_place(const struct command *command, const char *dir,
                                     const char *location, struct odb_error *err)
{
    char *from = odb_xasprintf("%s/%s", dir[0] ? dir : ".", location);
    char *to = odb_xasprintf("%s/%s", command->dir, location);
    for (char *p = strchr(to + strlen(command->dir) + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        mkdir(to, 0700);
        *p = '/';
    }
    enum odb_status status = command_copy(from, to) ? ODB_OK : command_io(err, to);
    free(from);
    free(to);
    return status;
}

/* The same model with its weights in one new file, where their own names would clash with ours. */
static enum odb_status command_rewrite(const struct command *command, const struct odb_model *model,
                                       const char *path, struct odb_error *err)
{
    const struct odb_graph *graph = model->graph;
    struct odb_buf bytes = ODB_BUF_INIT, weights = ODB_BUF_INIT;
    struct odb_port *ports = odb_new_n(struct odb_port, graph->n_inputs + graph->n_outputs + 1);
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    bool *nodes = odb_new_n(bool, graph->n_nodes + 1);
    char *beside = odb_xasprintf("%s/weights.bin", command->dir);
    size_t n_in = odb_graph_feeds(graph, feeds);
    for (size_t i = 0; i < n_in; i++)
        ports[i].value = feeds[i];
    for (size_t i = 0; i < graph->n_outputs; i++)
        ports[n_in + i].value = graph->outputs[i];
    memset(nodes, 1, graph->n_nodes);
    struct odb_extract what = {.nodes = nodes,
                               .inputs = ports,
                               .n_inputs = n_in,
                               .outputs = ports + n_in,
                               .n_outputs = graph->n_outputs,
                               .weights = ODB_WEIGHTS_BESIDE,
                               .weights_file = "weights.bin",
                               .weights_out = &weights};
    enum odb_status status = odb_model_extract(model, &what, &bytes, err);
    if (status == ODB_OK)
        status = command_write(path, bytes.data, bytes.len, err);
    if (status == ODB_OK)
        status = command_write(beside, weights.data, weights.len, err);
    odb_buf_dispose(&bytes);
    odb_buf_dispose(&weights);
    free(ports);
    free(feeds);
    free(nodes);
    free(beside);
    return status;
}

static enum odb_status command_write_model(const struct command *command,
                                           const struct odb_model *model,
                                           const struct odb_load *load, struct odb_error *err)
{
    size_t n;
    const char **files = odb_model_external_files(model, &n);
    char *path = odb_xasprintf("%s/model.onnx", command->dir);
    bool place = true;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n; i++)
        place = place && command_can_place(files[i]);
    if (!place) {
        status = command_rewrite(command, model, path, err);
    } else {
        status = command_write(path, load->bytes, load->size, err);
        for (size_t i = 0; i < n && status == ODB_OK; i++)
            status = command_place(command, load->dir, files[i], err);
    }
    free(files);
    free(path);
    return status;
}

static enum odb_status command_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    struct command *command = self;
    struct odb_model *model;
    command_unload(command);
    ODB_TRY(odb_model_open_bytes(&model, load->bytes, load->size, NULL, load->dir, "model", err));
    enum odb_status status = odb_scratch_new(&command->dir, err);
    if (status == ODB_OK)
        status = command_write_model(command, model, load, err);
    command->n_outputs = model->graph->n_outputs;
    command->outputs = odb_new_n(struct command_output, command->n_outputs + 1);
    for (size_t i = 0; i < command->n_outputs; i++) {
        const struct odb_value *v = &model->graph->values[model->graph->outputs[i]];
        command->outputs[i] = (struct command_output){odb_xstrdup(v->name), v->type.known,
                                                      v->type.kind, v->type.dtype};
    }
    odb_model_free(model);
    if (status != ODB_OK)
        command_unload(command);
    return status;
}

/* --- files ----------------------------------------------------------------------------------- */

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
    char *path = odb_xasprintf("%s/in_%zu.%s", command->dir, i, npy ? "npy" : "pb");
    enum odb_status status =
        npy ? odb_npy_write(t, path, err) : odb_pb_write(t, input->name, path, err);
    json_t *shape = t->kind == ODB_TENSOR ? json_array() : json_null();
    for (int d = 0; t->kind == ODB_TENSOR && d < t->rank; d++)
        json_array_append_new(shape, json_integer(t->dims[d]));
    json_array_append_new(list, json_pack("{s:s,s:s,s:o,s:o}", "name", input->name, "file",
                                          strrchr(path, '/') + 1, "dtype",
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
    return odb_xasprintf("%s/out_%zu.%s", command->dir, i, npy ? "npy" : "pb");
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
            json_pack("{s:s,s:s,s:o}", "name", names[i], "file", strrchr(path, '/') + 1, "dtype",
                      output->known ? command_dtype(output->kind, output->dtype) : json_null()));
        free(path);
    }
    json_t *io = json_pack("{s:i,s:s,s:o,s:o}", "schema", 1, "model", "model.onnx", "inputs", in,
                           "outputs", out);
    char *path = odb_xasprintf("%s/io.json", command->dir);
    if (status == ODB_OK && (!io || json_dump_file(io, path, JSON_INDENT(1)) < 0))
        status = odb_fail(err, ODB_E_IO, "io.json cannot be written (names must be UTF-8)");
    json_decref(io);
    free(path);
    return status;
}

static enum odb_status command_read_output(const struct command *command, const char *name,
                                           size_t i, struct odb_tensor **out, struct odb_error *err)
{
    const struct command_output *output = command_find_output(command, name);
    char *path = command_output_path(command, output, i);
    char *dot = strrchr(path, '.');
    enum odb_status status;
    if (access(path, F_OK) < 0 && !output->known) {
        memcpy(dot, ".pb", sizeof ".pb"); /* where the type was not known: as the program saw fit */
        if (access(path, F_OK) < 0)
            memcpy(dot, ".npy", sizeof ".npy");
    }
    if (access(path, F_OK) < 0)
        status = odb_fail(err, ODB_E_EXECUTOR, "the program wrote no %s for the output '%s'",
                          strrchr(path, '/') + 1, name);
    else if (!strcmp(dot, ".npy"))
        status = odb_npy_read(out, path, err);
    else
        status = odb_pb_read(out, output->known ? output->kind : ODB_TENSOR, path, err);
    free(path);
    return status;
}

/* Inputs and outputs of a run, so that none is taken for one of the next. */
static void command_clear(const struct command *command, size_t n_inputs, size_t n_outputs)
{
    static const char *const kinds[] = {"npy", "pb"};
    for (size_t k = 0; k < ODB_COUNT(kinds); k++)
        for (size_t i = 0; i < n_inputs + n_outputs; i++) {
            char *path = i < n_inputs
                             ? odb_xasprintf("%s/in_%zu.%s", command->dir, i, kinds[k])
                             : odb_xasprintf("%s/out_%zu.%s", command->dir, i - n_inputs, kinds[k]);
            unlink(path);
            free(path);
        }
}

/* --- running --------------------------------------------------------------------------------- */

/* Passes what the program prints on to our standard error, keeps the end of it in words, and waits
 * for the program; one that it leaves behind with the pipe open is not waited for. */
static int command_wait(pid_t pid, int from, struct odb_buf *words)
{
    int how = 0;
    bool ended = false;
    for (;;) {
        struct pollfd fd = {.fd = from, .events = POLLIN};
        int ready = poll(&fd, 1, ended ? 0 : 20);
        if (ready > 0) {
            char piece[4096];
            ssize_t n = read(from, piece, sizeof piece);
            if (n <= 0) {
                if (!ended)
                    waitpid(pid, &how, 0);
                return how;
            }
            if (write(STDERR_FILENO, piece, (size_t)n) < 0)
                break;
            odb_buf_add(words, piece, (size_t)n);
            if (words->len > 4 * COMMAND_WORDS) {
                memmove(words->data, words->data + words->len - COMMAND_WORDS, COMMAND_WORDS + 1);
                words->len = COMMAND_WORDS;
            }
        } else if (ended) {
            return how;
        } else {
            ended = waitpid(pid, &how, WNOHANG) == pid;
        }
    }
    waitpid(pid, &how, 0);
    return how;
}

static enum odb_status command_spawn(const struct command *command, pid_t *pid, int *from,
                                     struct odb_error *err)
{
    extern char **environ;
    int to[2];
    if (pipe2(to, O_CLOEXEC) < 0)
        return odb_fail(err, ODB_E_IO, "pipe: %s", strerror(errno));
    char **argv = odb_new_n(char *, command->words.n + 2);
    memcpy(argv, command->words.items, command->words.n * sizeof *argv);
    argv[command->words.n] = command->dir;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, to[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, to[1], STDERR_FILENO);
    posix_spawn_file_actions_addchdir_np(&files, command->dir);
    int error = posix_spawnp(pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    free(argv);
    close(to[1]);
    *from = to[0];
    if (!error)
        return ODB_OK;
    close(to[0]);
    odb_fail(err, ODB_E_EXECUTOR, "'%s' cannot be started: %s", command->words.items[0],
             strerror(error));
    return odb_error_remedy(err, "name an executable file, or one that is in PATH");
}

static enum odb_status command_run(const struct command *command, struct odb_error *err)
{
    struct odb_buf words = ODB_BUF_INIT, shown = ODB_BUF_INIT;
    pid_t pid = 0;
    int from = -1;
    ODB_TRY(command_spawn(command, &pid, &from, err));
    int how = command_wait(pid, from, &words);
    close(from);
    while (words.len > 0 && strchr(" \r\n", words.data[words.len - 1]))
        words.data[--words.len] = '\0';
    for (size_t i = 0; i < words.len; i++)
        if (words.data[i] == '\n' || words.data[i] == '\0')
            words.data[i] = ' ';
    const char *tail = odb_buf_text(&words);
    odb_buf_put_shown(&shown, tail + (words.len > COMMAND_WORDS ? words.len - COMMAND_WORDS : 0));
    const char *before = shown.len ? "; its last words: " : "";
    enum odb_status status = ODB_OK;
    if (WIFSIGNALED(how))
        status = odb_fail(err, ODB_E_CRASH, "%s was killed by SIG%s%s%s", command->words.items[0],
                          sigabbrev_np(WTERMSIG(how)), before, odb_buf_text(&shown));
    else if (WEXITSTATUS(how) != 0)
        status = odb_fail(err, ODB_E_EXECUTOR, "%s exited with status %d%s%s",
                          command->words.items[0], WEXITSTATUS(how), before, odb_buf_text(&shown));
    odb_buf_dispose(&words);
    odb_buf_dispose(&shown);
    return status;
}

static enum odb_status command_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                       const char *const *names, size_t n_outputs,
                                       struct odb_tensor **outputs, struct odb_error *err)
{
    struct command *command = self;
    if (!command->dir)
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    enum odb_status status = command_write_io(command, inputs, n_inputs, names, n_outputs, err);
    if (status == ODB_OK)
        status = command_run(command, err);
    for (size_t i = 0; i < n_outputs && status == ODB_OK; i++)
        status = command_read_output(command, names[i], i, &outputs[i], err);
    command_clear(command, n_inputs, n_outputs);
    return status;
}

const struct odb_executor_ops odb_executor_command = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof(struct odb_executor_ops),
    .kind = "command",
    .options = command_options,
    .help = "a program of your own that reads and writes .npy files",
    .init = command_init,
    .load_model = command_load,
    .execute = command_execute,
    .release = command_release,
    .describe = command_describe,
};
