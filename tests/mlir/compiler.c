/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stands in for onnx-mlir's compiler where that cannot be had: the model goes beside the library
 * that it makes, and the CPU reference runs it. What this tests is our side: command lines, files,
 * the C interface, errors. It is strict where the real one is, and misbehaves when told to:
 *
 *     --stand-in=2020|2021          which year's interface
 *     --stand-in=null|crash|spread|type|fewer   how the library behaves when it runs
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"
#include "base/mem.h"
#include "interpret/cpu.h"
#include "executor/executor.h"
#include "executor/place.h"
#include "model/model.h"
#include "model/read/load.h"
#include "model/text/model_text.h"
#include "model/write/external.h"
#include "model/write/write.h"
#include "stand_in.h"

struct compiler {
    char self[4096]; /* path */
    const char *model, *year, *habit;
    bool ir;
};

static _Noreturn void compiler_die(const struct odb_error *err)
{
    char text[2048];
    fprintf(stderr, "error: %s\n", odb_error_text(err, text, sizeof text));
    exit(1);
}

/* --- compiling ------------------------------------------------------------------------------- */

static const char *const compiler_types[ODB_DTYPE_COUNT] = {
    [ODB_BOOL] = "\"i1\"",  [ODB_I8] = "\"i8\"",   [ODB_I16] = "\"i16\"",  [ODB_I32] = "\"i32\"",
    [ODB_I64] = "\"i64\"",  [ODB_U8] = "\"ui8\"",  [ODB_U16] = "\"ui16\"", [ODB_U32] = "\"ui32\"",
    [ODB_U64] = "\"ui64\"", [ODB_F16] = "\"f16\"", [ODB_F32] = "\"f32\"",  [ODB_F64] = "\"f64\"",
    [ODB_BF16] = "bf16", /* as the real one: no JSON then */
};

/* Names stand in it as they are, quotes and all, as the real ones do. */
static void compiler_sign(const struct odb_graph *graph, const int *values, size_t n, bool names,
                          struct odb_buf *out)
{
    odb_buf_puts(out, "[ ");
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *v = &graph->values[values[i]];
        const char *type = v->type.known ? compiler_types[v->type.dtype] : NULL;
        odb_buf_printf(out, "%s { \"type\" : %s , \"dims\" : [", i ? " ," : "",
                       type ? type : "\"other\"");
        for (int d = 0; d < v->type.rank; d++)
            odb_buf_printf(out, "%s%lld", d ? " , " : "", (long long)v->type.dims[d].value);
        odb_buf_puts(out, "] ");
        if (names)
            odb_buf_printf(out, ", \"name\" : \"%s\" ", v->name);
        odb_buf_puts(out, "}");
    }
    odb_buf_puts(out, " ]\n");
}

/* The real one refuses models and weights with a second name. */
static void compiler_refuse_links(const char *path)
{
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1)
        return;
    fprintf(stderr, "Input file \"%s\" is a hardlink, which is not allowed.\n", path);
    exit(1);
}

static void compiler_check(const struct compiler *compiler, const struct odb_model *model)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_cpu *cpu;
    size_t n;
    const char **files = odb_model_external_files(model, &n);
    compiler_refuse_links(compiler->model);
    for (size_t i = 0; i < n; i++) {
        char *path = odb_xasprintf("%s%s", model->dir, files[i]);
        if (access(path, F_OK) < 0) {
            free(path);
            path = odb_xasprintf("%s/%s", model->dir, files[i]);
        }
        compiler_refuse_links(path);
        free(path);
    }
    free(files);
    if (odb_cpu_new(&cpu, model, &err) != ODB_OK)
        compiler_die(&err);
    for (size_t i = 0; i < model->graph->n_nodes; i++)
        if (odb_cpu_unsupported(cpu, (int)i)[0]) {
            printf("compiling\nloc(\"%s\"): error: failed to legalize operation 'onnx.%s'\n",
                   model->graph->nodes[i].name, model->graph->nodes[i].op_type);
            exit(4);
        }
    odb_cpu_free(cpu);
}

/* The whole model, weights in it. */
static void compiler_pack(const struct odb_model *model, struct odb_buf *out)
{
    const struct odb_graph *graph = model->graph;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_port *ports = odb_new_n(struct odb_port, graph->n_inputs + graph->n_outputs + 1);
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    bool *nodes = odb_new_n(bool, graph->n_nodes + 1);
    size_t n = odb_graph_feeds(graph, feeds);
    for (size_t i = 0; i < n; i++)
        ports[i].value = feeds[i];
    for (size_t i = 0; i < graph->n_outputs; i++)
        ports[n + i].value = graph->outputs[i];
    memset(nodes, 1, graph->n_nodes);
    struct odb_extract what = {.nodes = nodes,
                               .inputs = ports,
                               .n_inputs = n,
                               .outputs = ports + n,
                               .n_outputs = graph->n_outputs,
                               .weights = ODB_WEIGHTS_INLINE};
    if (odb_model_extract(model, &what, out, &err) != ODB_OK)
        compiler_die(&err);
    free(ports);
    free(feeds);
    free(nodes);
}

static void compiler_write(const struct compiler *compiler, const char *extension,
                           const struct odb_buf *bytes)
{
    struct odb_error err = ODB_ERROR_INIT;
    int n = (int)(strlen(compiler->model) - strlen(".onnx"));
    char *path = odb_xasprintf("%.*s%s", n, compiler->model, extension);
    if (odb_file_write(path, bytes->data, bytes->len, &err) != ODB_OK)
        compiler_die(&err);
    free(path);
}

static void compiler_compile(const struct compiler *compiler)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_model *model;
    bool names = strcmp(compiler->year, "2021") != 0;
    if (odb_model_open(&model, compiler->model, &err) != ODB_OK)
        compiler_die(&err);
    compiler_check(compiler, model);
    if (compiler->ir) {
        odb_model_text(model, &out);
        compiler_write(compiler, ".onnx.mlir", &out);
        compiler_write(compiler, ".tmp", &out);
    } else {
        const struct odb_graph *graph = model->graph;
        int *feeds = odb_new_n(int, graph->n_inputs + 1);
        size_t n = odb_graph_feeds(graph, feeds);
        odb_buf_printf(&out, "%s\n", compiler->self);
        compiler_sign(graph, feeds, n, names, &out);
        compiler_sign(graph, graph->outputs, graph->n_outputs, names, &out);
        odb_buf_printf(&out, "%s\n", compiler->habit);
        compiler_pack(model, &out);
        compiler_write(compiler, ".constants.bin", &out);
        free(feeds);
        int home = (int)(strlen(compiler->self) - strlen("/bin/onnx-mlir"));
        char *from = odb_xasprintf("%.*s/lib/stand-in-%s.so", home, compiler->self, compiler->year);
        char *to = odb_xasprintf("%.*s.so", (int)strlen(compiler->model) - 5, compiler->model);
        unlink(to);
        if (odb_place_copy(from, to, &err) != ODB_OK)
            compiler_die(&err);
        free(from);
        free(to);
    }
    odb_buf_dispose(&out);
    odb_model_free(model);
}

/* --- running --------------------------------------------------------------------------------- */

static void compiler_fail(const struct odb_error *err)
{
    char text[2048];
    int64_t why = -EINVAL;
    fprintf(stderr, "%s\n", odb_error_text(err, text, sizeof text));
    fwrite(&why, sizeof why, 1, stdout);
    exit(0);
}

static struct odb_tensor *compiler_receive(void)
{
    struct stand_in_head head;
    struct odb_error err = ODB_ERROR_INIT;
    int64_t shape[ODB_MAX_RANK];
    struct odb_tensor *t;
    if (fread(&head, sizeof head, 1, stdin) != 1 ||
        fread(shape, sizeof(int64_t), (size_t)head.rank, stdin) != (size_t)head.rank)
        exit(2);
    if (odb_tensor_new(&t, (enum odb_dtype)head.type, (int)head.rank, shape, &err) != ODB_OK)
        compiler_fail(&err);
    if (fread(t->data, 1, t->bytes, stdin) != t->bytes)
        exit(2);
    return t;
}

static void compiler_send(const struct odb_tensor *t)
{
    struct stand_in_head head = {t->dtype, t->rank, (int64_t)t->bytes};
    fwrite(&head, sizeof head, 1, stdout);
    fwrite(t->dims, sizeof(int64_t), (size_t)t->rank, stdout);
    fwrite(t->data, 1, t->bytes, stdout);
}

static void compiler_read(const char *path, struct odb_buf *bytes)
{
    char piece[65536];
    FILE *f = fopen(path, "re");
    if (!f)
        exit(2);
    for (int c, lines = 0; lines < STAND_IN_LINES && (c = getc(f)) != EOF;)
        lines += c == '\n';
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        odb_buf_add(bytes, piece, n);
    fclose(f);
}

static void compiler_run(const char *path)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *model;
    struct odb_executor *cpu;
    compiler_read(path, &bytes);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
    if (odb_model_open_bytes(&model, bytes.data, bytes.len, NULL, ".", "model", &err) != ODB_OK ||
        odb_executor_open(&cpu, "cpu,threads=1", &err) != ODB_OK ||
        odb_executor_load(cpu, &load, &err) != ODB_OK)
        compiler_fail(&err);
    const struct odb_graph *graph = model->graph;
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    int64_t n_in = 0, n_out = (int64_t)graph->n_outputs;
    if (fread(&n_in, sizeof n_in, 1, stdin) != 1 || odb_graph_feeds(graph, feeds) != (size_t)n_in)
        exit(2);
    struct odb_named *inputs = odb_new_n(struct odb_named, (size_t)n_in + 1);
    const char **names = odb_new_n(const char *, graph->n_outputs + 1);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, graph->n_outputs + 1);
    for (int64_t i = 0; i < n_in; i++)
        inputs[i] = (struct odb_named){graph->values[feeds[i]].name, compiler_receive()};
    for (int64_t i = 0; i < n_out; i++)
        names[i] = graph->values[graph->outputs[i]].name;
    if (odb_executor_run(cpu, inputs, (size_t)n_in, names, (size_t)n_out, outputs, &err) != ODB_OK)
        compiler_fail(&err);
    fwrite(&n_out, sizeof n_out, 1, stdout);
    for (int64_t i = 0; i < n_out; i++)
        compiler_send(outputs[i]);
    fflush(stdout);
    _exit(0); /* a process for one run: what it holds goes with it */
}

int main(int argc, char **argv)
{
    struct compiler compiler = {.year = "2026", .habit = ""};
    if (readlink("/proc/self/exe", compiler.self, sizeof compiler.self - 1) < 0)
        return 2;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--version")) {
            puts("onnx-mlir version 0.0 (stand-in), onnx version 1.17.0\nLLVM version 0.0");
            return 0;
        } else if (!strcmp(argv[i], "--run") && i + 1 < argc) {
            compiler_run(argv[++i]);
        } else if (!strncmp(argv[i], "--stand-in=20", 13)) {
            compiler.year = argv[i] + 11;
        } else if (!strncmp(argv[i], "--stand-in=", 11)) {
            compiler.habit = argv[i] + 11;
        } else if (!strcmp(argv[i], "--EmitONNXIR") || !strcmp(argv[i], "--EmitMLIR")) {
            compiler.ir = true;
        } else if (argv[i][0] == '-' && strcmp(argv[i], "-O3") != 0) {
            fprintf(stderr, "onnx-mlir: Unknown command line argument '%s'.\n", argv[i]);
            return 1;
        } else if (argv[i][0] != '-') {
            compiler.model = argv[i];
        }
    }
    if (!compiler.model || !strstr(compiler.model, ".onnx")) {
        fputs("Invalid input file\n", stderr);
        return 1;
    }
    compiler_compile(&compiler);
    return 0;
}
