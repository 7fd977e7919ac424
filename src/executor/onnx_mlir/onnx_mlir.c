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
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "system/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "executor/cache.h"
#include "executor/executor.h"
#include "executor/onnx_mlir/onnx_mlir_int.h"
#include "executor/place.h"
#include "executor/transport/program.h"
#include "model/read/load.h"
#include "model/write/external.h"

#define MLIR_TEXT_MAX ((size_t)8 << 20) /* bytes of the compiler's IR that are shown */

struct mlir {
    char *compiler; /* owned: path */
    char *version;  /* owned: its own line */
    struct stat compiler_stat;
    struct odb_argv flags;
    char *entry;    /* owned; NULL: the usual one */
    const char *ir; /* the flag that makes the compiler write its IR; NULL: not wanted */
    struct odb_mlir_cache cache;
    struct odb_place *place; /* owned */
    /* of the model loaded */
    struct odb_load load; /* bytes and dir, owned: for the IR, should it be asked for */
    bool placed;          /* it is in the place */
    struct odb_mlir_library *library;
    char *made;    /* owned: a line that says how its library came to be */
    char *problem; /* owned: why it could not be kept; NULL: it was */
};

/* --- the compiler ---------------------------------------------------------------------------- */

static const char mlir_home_remedy[] =
    "set it to the parent of onnx-mlir's bin/ and lib/, or write home=DIR";

/* Path of the compiler below home, or why there is none. */
static enum odb_status mlir_find_compiler(const char *home, char **path, struct odb_error *err)
{
    if (!home)
        home = getenv("ONNX_MLIR_HOME");
    if (!home || !home[0]) {
        odb_fail(err, ODB_E_EXECUTOR, "ONNX_MLIR_HOME is not set");
        return odb_error_remedy(err, "%s", mlir_home_remedy);
    }
    char *there = realpath(home, NULL); /* models are loaded from other directories */
    *path = odb_xasprintf("%s/bin/onnx-mlir", there ? there : home);
    free(there);
    if (access(*path, X_OK) == 0)
        return ODB_OK;
    odb_fail(err, ODB_E_EXECUTOR, "there is no compiler: %s", strerror(errno));
    odb_error_at(err, "%s", *path);
    odb_error_remedy(err, "ONNX_MLIR_HOME is the parent of onnx-mlir's bin/ and lib/");
    free(*path);
    *path = NULL;
    return ODB_E_EXECUTOR;
}

static void mlir_available(char *why, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    char *path = NULL;
    why[0] = '\0';
    if (mlir_find_compiler(NULL, &path, &err) != ODB_OK)
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
    if (status == ODB_OK && stat(mlir->compiler, &mlir->compiler_stat) < 0)
        status = odb_fail(err, ODB_E_IO, "%s: %s", mlir->compiler, strerror(errno));
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
    odb_mlir_cache_dispose(&mlir->cache);
    odb_argv_dispose(&mlir->flags);
    free(mlir->entry);
    free(mlir->version);
    free(mlir->compiler);
    free(mlir);
}

static const struct odb_executor_option mlir_options[] = {
    {":", "FLAGS", NULL, "for the compiler, split at blanks: -O3 --march=native", false},
    {"entry", "NAME", "run_main_graph", "the entry point of the library", false},
    {"home", "DIR", "$ONNX_MLIR_HOME", "the parent of the compiler's bin/ and lib/", false},
    {"cache", "DIR|off", "~/.cache/onnxdbg/onnx-mlir", "where libraries are kept", false},
    {"cache-size", "SIZE", "4G", "how much is kept; what was not used for longest goes", false},
    {"ir", "onnx|mlir|off", "onnx", "which IR is shown when it is asked for", false},
    {NULL, NULL, NULL, NULL, false},
};

static const char *mlir_ir_flag(const char *ir)
{
    if (ir && !strcmp(ir, "off"))
        return NULL;
    return ir && !strcmp(ir, "mlir") ? "--EmitMLIR" : "--EmitONNXIR";
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
    odb_mlir_cache_init(&mlir->cache, odb_spec_option(spec, "cache"));
    ODB_TRY_OUT(odb_spec_size(spec, "cache-size", &mlir->cache.limit, err));
    ODB_TRY_OUT(mlir_find_compiler(odb_spec_option(spec, "home"), &mlir->compiler, err));
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

static void mlir_hash(SHA2_CTX *sha, const void *data, size_t size)
{
    uint64_t n = size; /* so that no two lists of pieces read the same */
    odb_sha256_update(sha, (const uint8_t *)&n, sizeof n);
    odb_sha256_update(sha, data, size);
}

static void mlir_hash_text(SHA2_CTX *sha, const char *text)
{
    mlir_hash(sha, text ? text : "", text ? strlen(text) : 0);
}

/* A file by what changes with its content. */
static void mlir_hash_stat(SHA2_CTX *sha, const struct stat *st)
{
    int64_t what[] = {(int64_t)st->st_ino, (int64_t)st->st_size, (int64_t)st->st_mtim.tv_sec,
                      (int64_t)st->st_mtim.tv_nsec};
    mlir_hash(sha, what, sizeof what);
}

static void mlir_hash_file(SHA2_CTX *sha, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        mlir_hash_stat(sha, &st);
}

/* Compiler, flags, files named in them, the model, and its weights. */
static void mlir_key(const struct mlir *mlir, const struct odb_load *load,
                     const struct odb_model *model, char key[ODB_CACHE_KEY + 1])
{
    SHA2_CTX sha;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    size_t n;
    const char **files = odb_model_external_files(model, &n);
    SHA256Init(&sha);
    mlir_hash_text(&sha, mlir->compiler);
    mlir_hash_text(&sha, mlir->version);
    mlir_hash_stat(&sha, &mlir->compiler_stat);
    mlir_hash_text(&sha, getenv("ONNX_MLIR_FLAGS"));
    for (size_t i = 0; i < mlir->flags.list.n; i++) {
        const char *flag = mlir->flags.list.items[i], *equals = strchr(flag, '=');
        mlir_hash_text(&sha, flag);
        mlir_hash_file(&sha, flag);
        if (equals)
            mlir_hash_file(&sha, equals + 1);
    }
    mlir_hash(&sha, load->bytes, load->size);
    for (size_t i = 0; i < n; i++) {
        char *path = odb_xasprintf("%s/%s", load->dir[0] ? load->dir : ".", files[i]);
        mlir_hash_text(&sha, path);
        mlir_hash_file(&sha, path);
        free(path);
    }
    free(files);
    SHA256Final(digest, &sha);
    odb_hex(digest, sizeof digest, key);
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

/* Compiles what is in the place, and keeps it; *dir is where the library is then. */
static enum odb_status mlir_compile(struct mlir *mlir, const char *key, char **dir,
                                    struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    char text[2048];
    double begin = odb_clock();
    ODB_TRY(mlir_run_compiler(mlir, NULL, err));
    mlir->made = odb_xasprintf("compiled in %.1f s", odb_clock() - begin);
    char *library = odb_xasprintf("%s/" ODB_MLIR_LIBRARY, odb_place_dir(mlir->place));
    bool there = odb_file_is_regular(library);
    free(library);
    if (!there) {
        odb_fail(err, ODB_E_EXECUTOR, "the compiler ended well and made no " ODB_MLIR_LIBRARY);
        return odb_error_remedy(err, "give it no flags that end it sooner, such as --EmitONNXIR, "
                                     "or that name another output");
    }
    *dir = odb_mlir_cache_keep(&mlir->cache, key, odb_place_dir(mlir->place), &why);
    if (!*dir && mlir->cache.dir)
        mlir->problem = odb_xstrdup(odb_error_text(&why, text, sizeof text));
    if (!*dir)
        *dir = odb_xstrdup(odb_place_dir(mlir->place));
    return ODB_OK;
}

/* From what is kept if it is there and can be loaded, else by the compiler. */
static enum odb_status mlir_make(struct mlir *mlir, struct odb_model *model, struct odb_error *err)
{
    char key[ODB_CACHE_KEY + 1];
    mlir_key(mlir, &mlir->load, model, key);
    char *dir = odb_mlir_cache_find(&mlir->cache, key);
    enum odb_status status = ODB_E_IO;
    if (dir) {
        status = odb_mlir_library_open(&mlir->library, dir, mlir->entry, model->graph, err);
        mlir->made = odb_xasprintf("compiled before, and taken from %s", dir);
        free(dir);
        if (status != ODB_E_IO)
            return status;
        odb_mlir_cache_drop(&mlir->cache, key);
        free(mlir->made);
        mlir->made = NULL;
    }
    ODB_TRY(mlir_place(mlir, model, err));
    ODB_TRY(mlir_compile(mlir, key, &dir, err));
    status = odb_mlir_library_open(&mlir->library, dir, mlir->entry, model->graph, err);
    free(dir);
    return status;
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
    .available = mlir_available,
    .init = mlir_init,
    .load_model = mlir_load,
    .execute = mlir_execute,
    .release = mlir_release,
    .describe = mlir_describe,
    .account = mlir_account,
};
