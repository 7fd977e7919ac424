/* SPDX-License-Identifier: MIT
 *
 * onnx-mlir[:FLAGS] compiles each model with $ONNX_MLIR_HOME/bin/onnx-mlir and runs the shared
 * library that comes of it. Compiling takes long, and a search asks for the same models again and
 * again: libraries are kept, under a hash of everything that they depend on.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "system/file.h"
#include "base/mem.h"
#include "executor/kept/compiled.h"
#include "executor/kept/compiled_key.h"
#include "executor/executor.h"
#include "executor/onnx_mlir/onnx_mlir_int.h"
#include "executor/place.h"
#include "executor/transport/program.h"
#include "model/read/load.h"

#define MLIR_TEXT_MAX ((size_t)8 << 20) /* bytes of the compiler's IR that are shown */

struct mlir {
    char *compiler; /* owned: path */
    char *version;  /* owned: its own line */
    struct odb_argv flags;
    char *entry;    /* owned; NULL: the usual one */
    const char *ir; /* the flag that makes the compiler write its IR; NULL: not wanted */
    struct odb_compiled *compiled;  /* owned; NULL: nothing is kept */
    struct odb_compiled_keys *keys; /* owned */
    struct odb_place *place;        /* owned */
    /* of the model loaded */
    struct odb_load load; /* bytes and dir, owned: for the IR, should it be asked for */
    bool placed;          /* it is in the place */
    struct odb_mlir_library *library;
    struct odb_compiled_use use; /* what is kept of it, as long as the library is open */
    char *made;                  /* owned: a line that says how its library came to be */
    char *problem;               /* owned: why it could not be kept; NULL: it was */
};

/* --- the compiler ---------------------------------------------------------------------------- */

#define MLIR_ENV "ONNX_MLIR_HOME"

/* Path of the compiler that was named, itself or by its home, or why there is none. */
static enum odb_status mlir_find_compiler(const struct odb_runtime *runtime, char **path,
                                          struct odb_error *err)
{
    if (!runtime->path) {
        odb_fail(err, ODB_E_EXECUTOR, MLIR_ENV " is not set");
        return odb_error_remedy(err, "set it to the parent of onnx-mlir's bin/ and lib/, or write "
                                     "runtime=DIR");
    }
    char *there = odb_file_absolute(runtime->path); /* models are loaded from other directories */
    *path =
        odb_file_is_regular(there) ? odb_xstrdup(there) : odb_xasprintf("%s/bin/onnx-mlir", there);
    free(there);
    if (access(*path, X_OK) == 0)
        return ODB_OK;
    odb_fail(err, ODB_E_EXECUTOR, "there is no compiler: %s", strerror(errno));
    odb_error_at(err, "%s", *path);
    odb_error_remedy(err, "%s is the parent of onnx-mlir's bin/ and lib/", runtime->by);
    free(*path);
    *path = NULL;
    return ODB_E_EXECUTOR;
}

static char *mlir_file(const struct odb_runtime *runtime)
{
    char *path = NULL;
    return mlir_find_compiler(runtime, &path, NULL) == ODB_OK ? path : NULL;
}

static void mlir_available(const struct odb_runtime *runtime, char *why, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    char *path = NULL;
    why[0] = '\0';
    if (mlir_find_compiler(runtime, &path, &err) != ODB_OK)
        odb_error_text(&err, why, size);
    free(path);
}

/* What the compiler printed that matters, as ": LINE". */
static enum odb_status mlir_check(const struct odb_program *program, struct odb_error *err)
{
    struct odb_buf line = ODB_BUF_INIT;
    odb_program_telling_line(program, &line);
    char *says = line.len ? odb_xasprintf(": %s", line.data) : odb_xstrdup("");
    enum odb_status status = odb_program_check(program, says, err);
    odb_buf_dispose(&line);
    free(says);
    return status;
}

/* Asks for the version: the line that speaks of one, or the first. */
static enum odb_status mlir_ask_version(struct mlir *mlir, struct odb_error *err)
{
    struct odb_argv argv = {0};
    odb_argv_add(&argv, mlir->compiler);
    odb_argv_add(&argv, "--version");
    struct odb_program program = {.argv = &argv, .quiet = true};
    enum odb_status status = odb_program_run(&program, err);
    if (status == ODB_OK)
        status = mlir_check(&program, err);
    if (status == ODB_OK) {
        char *text = odb_xstrdup(odb_buf_text(&program.said)), *rest = text, *best = NULL;
        for (char *line; (line = strsep(&rest, "\r\n"));)
            if (line[0] && (!best || (!strstr(best, "version") && strstr(line, "version"))))
                best = line;
        mlir->version = odb_xstrdup(best ? best + strspn(best, " \t") : "onnx-mlir");
        free(text);
    }
    odb_program_dispose(&program);
    odb_argv_dispose(&argv);
    return status;
}

/* Runs it on the model in the place, with one more flag unless that is NULL. */
static enum odb_status mlir_run_compiler(const struct mlir *mlir, const char *flag,
                                         struct odb_error *err)
{
    struct odb_argv argv = {0};
    char *model = odb_xasprintf("%s/model.onnx", odb_place_dir(mlir->place));
    odb_argv_add(&argv, mlir->compiler);
    for (size_t i = 0; i < mlir->flags.list.n; i++)
        odb_argv_add(&argv, mlir->flags.list.items[i]);
    if (flag)
        odb_argv_add(&argv, flag);
    odb_argv_add(&argv, model);
    struct odb_program program = {.argv = &argv, .dir = odb_place_dir(mlir->place)};
    enum odb_status status = odb_program_run(&program, err);
    if (status == ODB_OK)
        status = mlir_check(&program, err);
    odb_program_dispose(&program);
    odb_argv_dispose(&argv);
    free(model);
    return status;
}

/* --- options --------------------------------------------------------------------------------- */

static void mlir_unload(struct mlir *mlir)
{
    odb_mlir_library_close(mlir->library);
    mlir->library = NULL;
    odb_compiled_leave(&mlir->use);
    free((void *)mlir->load.bytes);
    free((char *)mlir->load.dir);
    mlir->load = (struct odb_load){0};
    mlir->placed = false;
    free(mlir->made);
    mlir->made = NULL;
    free(mlir->problem);
    mlir->problem = NULL;
}

static void mlir_release(void *self)
{
    struct mlir *mlir = self;
    mlir_unload(mlir);
    odb_place_free(mlir->place);
    odb_compiled_close(mlir->compiled);
    odb_compiled_keys_free(mlir->keys);
    odb_argv_dispose(&mlir->flags);
    free(mlir->entry);
    free(mlir->version);
    free(mlir->compiler);
    free(mlir);
}

static const struct odb_executor_option mlir_options[] = {
    {":", "FLAGS", NULL, "for the compiler, split at blanks: -O3 --march=native", false},
    {"entry", "NAME", "run_main_graph", "the entry point of the library", false},
    ODB_RUNTIME_OPTION("the compiler, or the parent of its bin/ and lib/; else ONNX_MLIR_HOME"),
    {"home", "DIR", NULL, "the same as runtime", false},
    {"cache", "DIR|off", "~/.cache/onnxdbg/compiled", "where libraries are kept", false},
    {"cache-size", "SIZE", "20G", "how much is kept there; what was not used for longest goes",
     false},
    {"ir", "onnx|mlir|off", "onnx", "which IR is shown when it is asked for", false},
    {NULL, NULL, NULL, NULL, false},
};

static const char *mlir_ir_flag(const char *ir)
{
    if (ir && !strcmp(ir, "off"))
        return NULL;
    return ir && !strcmp(ir, "mlir") ? "--EmitMLIR" : "--EmitONNXIR";
}

static enum odb_status mlir_open_compiled(struct mlir *mlir, const struct odb_spec *spec,
                                          struct odb_error *err)
{
    const char *cache = odb_spec_option(spec, "cache");
    size_t limit = 0;
    ODB_TRY(odb_spec_size(spec, "cache-size", &limit, err));
    mlir->keys = odb_compiled_keys_new();
    if (cache && !strcmp(cache, "off"))
        return ODB_OK;
    return odb_compiled_open(&mlir->compiled, cache, limit, err);
}

static enum odb_status mlir_init(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    struct mlir *mlir = odb_new(struct mlir);
    const char *entry = odb_spec_option(spec, "entry");
    enum odb_status status;
    mlir->place = odb_place_new(NULL);
    ODB_TRY_OUT(odb_spec_check(spec, mlir_options, err));
    mlir->ir = mlir_ir_flag(odb_spec_option(spec, "ir"));
    odb_argv_split(&mlir->flags, spec->arg ? spec->arg : "");
    odb_argv_find_files(&mlir->flags);
    mlir->entry = entry ? odb_xstrdup(entry) : NULL;
    ODB_TRY_OUT(mlir_open_compiled(mlir, spec, err));
    struct odb_runtime runtime = odb_executor_runtime(spec->row, spec);
    ODB_TRY_OUT(mlir_find_compiler(&runtime, &mlir->compiler, err));
    ODB_TRY_OUT(mlir_ask_version(mlir, err));
    *self = mlir;
    return ODB_OK;
out:
    mlir_release(mlir);
    return status;
}

static void mlir_describe(void *self, char *text, size_t size)
{
    const struct mlir *mlir = self;
    struct odb_buf line = ODB_BUF_INIT;
    odb_buf_put_shown(&line, mlir->version);
    odb_buf_puts(&line, mlir->flags.list.n ? ", with " : "");
    odb_argv_show(&mlir->flags, &line);
    snprintf(text, size, "%s", odb_buf_text(&line));
    odb_buf_dispose(&line);
}

/* --- the key --------------------------------------------------------------------------------- */

/* Compiler, flags, files named in them, the model, and its weights. */
static enum odb_status mlir_key(struct mlir *mlir, const struct odb_load *load,
                                char key[ODB_CACHE_KEY + 1], struct odb_error *err)
{
    odb_compiled_key_begin(mlir->keys);
    odb_compiled_key_text(mlir->keys, "onnx-mlir");
    odb_compiled_key_text(mlir->keys, mlir->version);
    odb_compiled_key_word(mlir->keys, mlir->compiler, false);
    odb_compiled_key_text(mlir->keys, getenv("ONNX_MLIR_FLAGS"));
    for (size_t i = 0; i < mlir->flags.list.n; i++)
        odb_compiled_key_word(mlir->keys, mlir->flags.list.items[i], false);
    ODB_TRY(odb_compiled_key_model(mlir->keys, load, err));
    odb_compiled_key_end(mlir->keys, key);
    return ODB_OK;
}

/* --- loading --------------------------------------------------------------------------------- */

/* Tensors of types that the library's interface has; what is not declared shows when it runs. */
static enum odb_status mlir_check_values(const struct odb_graph *graph, const int *values, size_t n,
                                         struct odb_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *v = &graph->values[values[i]];
        if (!v->type.known || (v->type.kind == ODB_TENSOR && v->type.dtype != ODB_STRING))
            continue;
        odb_fail(err, ODB_UNSUPPORTED, "onnx-mlir passes tensors of numbers, and '%s' is %s",
                 v->name, v->type.shown);
        return odb_error_remedy(err, "cut the model where the values are tensors (extract)");
    }
    return ODB_OK;
}

static enum odb_status mlir_remember(struct mlir *mlir, const struct odb_load *load,
                                     struct odb_error *err)
{
    void *bytes = malloc(load->size + 1);
    if (!bytes)
        return odb_fail(err, ODB_E_NOMEM, "no memory for a model of %zu bytes", load->size);
    memcpy(bytes, load->bytes, load->size);
    mlir->load.bytes = bytes;
    mlir->load.size = load->size;
    mlir->load.n_nodes = load->n_nodes;
    mlir->load.dir = odb_xstrdup(load->dir);
    return ODB_OK;
}

/* Puts the model into the place, unless it is there. */
static enum odb_status mlir_place(struct mlir *mlir, struct odb_model *model, struct odb_error *err)
{
    if (!mlir->placed)
        ODB_TRY(odb_place_put(mlir->place, &mlir->load, model, err));
    mlir->placed = true;
    return ODB_OK;
}

/* The library, and its constants if it has them. */
static enum odb_status mlir_fill(void *from, const char *to, struct odb_error *err)
{
    static const char *const files[] = {ODB_MLIR_LIBRARY, ODB_MLIR_CONSTANTS};
    const struct mlir *mlir = from;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < ODB_COUNT(files) && status == ODB_OK; i++) {
        char *source = odb_xasprintf("%s/%s", odb_place_dir(mlir->place), files[i]);
        char *copy = odb_xasprintf("%s/%s", to, files[i]);
        if (i == 0 || access(source, F_OK) == 0)
            status = odb_place_copy(source, copy, err);
        free(source);
        free(copy);
    }
    return status;
}

/* Keeps what was compiled in so many seconds; mlir->use has it then, unless it could not be kept.
 */
static void mlir_keep(struct mlir *mlir, const char *key, double seconds)
{
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_buf by = ODB_BUF_INIT;
    char text[2048];
    if (!mlir->compiled)
        return;
    odb_buf_puts(&by, "onnx-mlir");
    odb_buf_puts(&by, mlir->flags.list.n ? " " : "");
    odb_argv_show(&mlir->flags, &by);
    json_t *about = odb_compiled_key_about(mlir->keys, &mlir->load, odb_buf_text(&by));
    json_object_set_new(about, "seconds", json_real(seconds));
    odb_buf_dispose(&by);
    if (odb_compiled_keep_take(mlir->compiled, key, mlir_fill, mlir, about, &why) == ODB_OK)
        odb_compiled_find(mlir->compiled, key, &mlir->use);
    else
        mlir->problem = odb_xstrdup(odb_error_text(&why, text, sizeof text));
}

/* Compiles what is in the place, and keeps it. */
static enum odb_status mlir_compile(struct mlir *mlir, const char *key, struct odb_error *err)
{
    double begin = odb_clock();
    ODB_TRY(mlir_run_compiler(mlir, NULL, err));
    double seconds = odb_clock() - begin;
    mlir->made = odb_xasprintf("compiled in %.1f s", seconds);
    char *library = odb_xasprintf("%s/" ODB_MLIR_LIBRARY, odb_place_dir(mlir->place));
    bool there = odb_file_is_regular(library);
    free(library);
    if (!there) {
        odb_fail(err, ODB_E_EXECUTOR, "the compiler ended well and made no " ODB_MLIR_LIBRARY);
        return odb_error_remedy(err, "give it no flags that end it sooner, such as --EmitONNXIR, "
                                     "or that name another output");
    }
    mlir_keep(mlir, key, seconds);
    return ODB_OK;
}

/* From what is kept if it is there and can be loaded. ODB_E_IO: it is not. */
static enum odb_status mlir_take_kept(struct mlir *mlir, const char *key,
                                      const struct odb_model *model, struct odb_error *err)
{
    if (!mlir->compiled || !odb_compiled_find(mlir->compiled, key, &mlir->use))
        return ODB_E_IO;
    enum odb_status status =
        odb_mlir_library_open(&mlir->library, mlir->use.files, mlir->entry, model->graph, err);
    if (status == ODB_E_IO) {
        odb_compiled_leave(&mlir->use);
        odb_compiled_drop(mlir->compiled, key);
    } else {
        mlir->made = odb_xasprintf("compiled before, and taken from %s", mlir->use.files);
    }
    return status;
}

/* From what is kept, else by the compiler. */
static enum odb_status mlir_make(struct mlir *mlir, struct odb_model *model, struct odb_error *err)
{
    char key[ODB_CACHE_KEY + 1];
    struct odb_error ignored = ODB_ERROR_INIT;
    ODB_TRY(mlir_key(mlir, &mlir->load, key, err));
    enum odb_status status = mlir_take_kept(mlir, key, model, &ignored);
    if (status != ODB_E_IO) {
        if (status != ODB_OK)
            *err = ignored;
        return status;
    }
    ODB_TRY(mlir_place(mlir, model, err));
    ODB_TRY(mlir_compile(mlir, key, err));
    return odb_mlir_library_open(&mlir->library,
                                 mlir->use.files ? mlir->use.files : odb_place_dir(mlir->place),
                                 mlir->entry, model->graph, err);
}

static enum odb_status mlir_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    struct mlir *mlir = self;
    struct odb_model *model;
    mlir_unload(mlir);
    ODB_TRY(odb_model_open_bytes(&model, load->bytes, load->size, NULL, load->dir, "model", err));
    const struct odb_graph *graph = model->graph;
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    size_t n = odb_graph_feeds(graph, feeds);
    enum odb_status status;
    ODB_TRY_OUT(mlir_check_values(graph, feeds, n, err));
    ODB_TRY_OUT(mlir_check_values(graph, graph->outputs, graph->n_outputs, err));
    ODB_TRY_OUT(mlir_remember(mlir, load, err));
    ODB_TRY_OUT(mlir_make(mlir, model, err));
out:
    free(feeds);
    odb_model_free(model);
    if (status != ODB_OK)
        mlir_unload(mlir);
    return status;
}

static enum odb_status mlir_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                    const char *const *names, size_t n_outputs,
                                    struct odb_tensor **outputs, struct odb_error *err)
{
    const struct mlir *mlir = self;
    if (!mlir->library)
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    return odb_mlir_library_run(mlir->library, inputs, n_inputs, names, n_outputs, outputs, err);
}

/* --- the account ----------------------------------------------------------------------------- */

static bool mlir_read_text(const char *dir, const char *name, struct odb_buf *out)
{
    char *path = odb_xasprintf("%s/%s", dir, name), piece[65536];
    FILE *f = fopen(path, "re");
    size_t begin = out->len;
    free(path);
    if (!f)
        return false;
    for (size_t n; out->len - begin < MLIR_TEXT_MAX && (n = fread(piece, 1, sizeof piece, f)) > 0;)
        odb_buf_add(out, piece, n);
    fclose(f);
    return out->len > begin;
}

/* The compiler's own text of the model: without large constants if it wrote one, else with. */
static enum odb_status mlir_write_ir(struct mlir *mlir, struct odb_buf *text, struct odb_error *err)
{
    struct odb_model *model;
    const struct odb_load *load = &mlir->load;
    ODB_TRY(odb_model_open_bytes(&model, load->bytes, load->size, NULL, load->dir, "model", err));
    enum odb_status status = mlir_place(mlir, model, err);
    odb_model_free(model);
    ODB_TRY(status);
    ODB_TRY(mlir_run_compiler(mlir, mlir->ir, err));
    if (!mlir_read_text(odb_place_dir(mlir->place), "model.tmp", text) &&
        !mlir_read_text(odb_place_dir(mlir->place), "model.onnx.mlir", text))
        return odb_fail(err, ODB_E_EXECUTOR, "the compiler wrote no file with it");
    return ODB_OK;
}

static enum odb_status mlir_account(void *self, struct odb_account *account, struct odb_error *err)
{
    struct mlir *mlir = self;
    struct odb_error why = ODB_ERROR_INIT;
    char text[2048];
    if (!mlir->library)
        return ODB_OK;
    odb_account_note(account, "%s", mlir->made);
    odb_account_note(account, "run through %s",
                     odb_mlir_library_text(mlir->library, text, sizeof text));
    if (mlir->problem)
        odb_account_note(account, "not kept for the next time: %s", mlir->problem);
    if (mlir->ir && mlir_write_ir(mlir, &account->text, &why) != ODB_OK)
        odb_account_note(account, "no IR: %s", odb_error_text(&why, text, sizeof text));
    return ODB_OK;
}

const struct odb_executor_ops odb_executor_onnx_mlir = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof(struct odb_executor_ops),
    .kind = "onnx-mlir",
    .options = mlir_options,
    .fixed = true,
    .help = "models compiled to shared libraries by onnx-mlir",
    .page = "onnxdbg-onnx-mlir(7)",
    .get = "build https://github.com/onnx/onnx-mlir, then export ONNX_MLIR_HOME=DIR",
    .env = MLIR_ENV,
    .renamed = "home",
    .file = mlir_file,
    .available = mlir_available,
    .init = mlir_init,
    .load_model = mlir_load,
    .execute = mlir_execute,
    .release = mlir_release,
    .describe = mlir_describe,
    .account = mlir_account,
};
