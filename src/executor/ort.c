/* SPDX-License-Identifier: MIT
 *
 * ONNX Runtime, found when it is asked for and never linked. Inputs are handed over where they
 * lie, outputs stay in the memory that ONNX Runtime allocated, owned by a storage, until they are
 * sent.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "executor/ort_api.h"

#define ORT_REMEDY                                                                                 \
    "install it (npm install --ignore-scripts onnxruntime-node) or name libonnxruntime.so in "     \
    "ONNXDBG_ORT"

struct ort_choice {
    const char *name;
    int value;
};

struct ort_port {
    char *name; /* owned */
    int kind;   /* enum ort_kind */
};

struct ort {
    struct ort_api api;
    char version[32];
    const struct ort_choice *opt, *mode; /* rows of tables below */
    int threads;
    char *provider, *library; /* owned; NULL: CPU, none */
    struct ort_env *env;
    struct ort_memory_info *memory;
    struct ort_allocator *allocator;   /* borrowed: the library */
    struct ort_session *session;       /* NULL: none loaded */
    struct ort_port *inputs, *outputs; /* owned; of the session */
    size_t n_inputs, n_outputs;
};

static const struct ort_choice ort_opts[] = {
    {"all", 99}, {"extended", 2}, {"basic", 1}, {"disabled", 0}, {NULL, 0}};
static const struct ort_choice ort_modes[] = {{"sequential", 0}, {"parallel", 1}, {NULL, 0}};

/* Known refusals and the way out of them. */
static const struct {
    const char *text, *remedy;
    enum odb_status code;
} ort_remedies[] = {
    {"max supported IR version",
     "write the model with a lower ir_version, or use a newer ONNX "
     "Runtime (ONNXDBG_ORT)",
     ODB_E_EXECUTOR},
    {"is till opset",
     "convert the model to an older opset, or use a newer ONNX Runtime "
     "(ONNXDBG_ORT)",
     ODB_E_EXECUTOR},
    {"Could not find an implementation",
     "this build of ONNX Runtime has no kernel for the "
     "operator with these types",
     ODB_UNSUPPORTED},
    {"is not a registered function/op",
     "name the library of the custom operator: "
     "ort,library=FILE",
     ODB_UNSUPPORTED},
    {"No Op registered for", "this operator is in no opset that ONNX Runtime knows",
     ODB_UNSUPPORTED},
};

/* --- its errors ------------------------------------------------------------------------------ */

/* Takes "/path/file.cc:12 type Class::function(arguments) " out of a message: it begins with a
 * slash, has a line number, and ends with a parenthesis (or "<lambda()>") and a space. */
static void ort_strip_source(char *text)
{
    for (char *p = strchr(text, '/'); p; p = strchr(p + 1, '/')) {
        size_t word = strcspn(p, " \n");
        char *colon = memchr(p, ':', word), *end = strchr(p + word, ')');
        while (end && strncmp(end, ") ", 2) != 0 && strncmp(end, ")> ", 3) != 0)
            end = strchr(end + 1, ')');
        if ((p > text && p[-1] != ' ') || !colon || !isdigit((unsigned char)colon[1]) || !end)
            continue;
        end = strchr(end, ' ') + 1;
        if (!strncmp(end, "const ", 6))
            end += 6;
        memmove(p, end, strlen(end) + 1);
        return;
    }
}

static enum odb_status ort_check(const struct ort *ort, struct ort_status *said,
                                 struct odb_error *err)
{
    if (!said)
        return ODB_OK;
    char *text = odb_xstrdup(ort->api.get_error_message(said));
    int number = ort->api.get_error_code(said);
    enum odb_status code = number == ORT_NOT_IMPLEMENTED ? ODB_UNSUPPORTED : ODB_E_EXECUTOR;
    const char *remedy = NULL;
    ort->api.release_status(said);
    ort_strip_source(text);
    for (size_t i = 0; i < ODB_COUNT(ort_remedies) && !remedy; i++)
        if (strstr(text, ort_remedies[i].text)) {
            remedy = ort_remedies[i].remedy;
            code = ort_remedies[i].code;
        }
    odb_fail(err, code, "%s (code %d)", text, number);
    if (remedy)
        odb_error_remedy(err, "%s", remedy);
    free(text);
    return code;
}

#define ORT_TRY(call) ODB_TRY(ort_check(ort, ort->api.call, err))
#define ORT_TRY_OUT(call) ODB_TRY_OUT(ort_check(ort, ort->api.call, err))

/* What it logs goes to standard error, where the debugger keeps the end of it. */
static void ort_log(void *param, int severity, const char *category, const char *logid,
                    const char *location, const char *message)
{
    if (severity >= ORT_LOG_ERROR)
        fprintf(stderr, "onnxruntime: %s\n", message);
}

/* --- finding it ------------------------------------------------------------------------------ */

#define ORT_NPM "vendor/node_modules/onnxruntime-node/bin/napi-v*/linux/x64/libonnxruntime.so.1"
#define ORT_PIP "python3*/*-packages/onnxruntime/capi/libonnxruntime.so*"

/* Where to look besides the loader's own path. %s: the directory of this program. Never below the
 * working directory: nobody should run code because it lies beside a model. */
static const char *const ort_places[] = {
    "%s/" ORT_NPM,
    "%s/../" ORT_NPM, /* from a build folder */
    "%s/../lib/onnxdbg/libonnxruntime.so.1",
    "/usr/lib/" ORT_PIP,
    "/usr/local/lib/" ORT_PIP,
};

static char *ort_first_match(const char *pattern)
{
    glob_t found;
    char *path = NULL;
    if (glob(pattern, 0, NULL, &found) == 0) {
        path = odb_xstrdup(found.gl_pathv[0]);
        globfree(&found);
    }
    return path;
}

/* A file that should be the library; NULL when none is found. */
static char *ort_find(void)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    char *path = NULL;
    for (size_t i = 0; i < ODB_COUNT(ort_places) && !path; i++) {
        const char *place = ort_places[i];
        char *pattern =
            !strncmp(place, "%s", 2) ? odb_xasprintf("%s%s", self, place + 2) : odb_xstrdup(place);
        path = ort_first_match(pattern);
        free(pattern);
    }
    const char *venv = getenv("VIRTUAL_ENV");
    if (!path && venv) {
        char *pattern = odb_xasprintf("%s/lib/" ORT_PIP, venv);
        path = ort_first_match(pattern);
        free(pattern);
    }
    return path;
}

/* Never closed again: its threads may outlive the last session. */
static void *ort_dlopen(struct odb_error *err)
{
    const char *env = getenv("ONNXDBG_ORT");
    void *lib = NULL;
    if (env && env[0]) {
        lib = dlopen(env, RTLD_NOW | RTLD_LOCAL);
        if (!lib) {
            odb_fail(err, ODB_E_EXECUTOR, "%s", dlerror());
            odb_error_remedy(err, "correct ONNXDBG_ORT, or unset it");
        }
        return lib;
    }
    lib = dlopen("libonnxruntime.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        lib = dlopen("libonnxruntime.so", RTLD_NOW | RTLD_LOCAL);
    if (lib)
        return lib;
    char *path = ort_find();
    if (path)
        lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        odb_fail(err, ODB_E_EXECUTOR, "ONNX Runtime %s%s",
                 path ? "cannot be loaded: " : "is not installed here", path ? dlerror() : "");
        odb_error_remedy(err, ORT_REMEDY);
    }
    free(path);
    return lib;
}

/* Files are believed without loading them, because that costs a tenth of a second. */
static void ort_available(char *why, size_t size)
{
    const char *env = getenv("ONNXDBG_ORT");
    why[0] = '\0';
    if (env && env[0]) {
        if (access(env, R_OK) < 0)
            snprintf(why, size, "ONNXDBG_ORT names no readable file: %s", env);
        return;
    }
    char *path = ort_find();
    struct odb_error err = ODB_ERROR_INIT;
    if (!path && !ort_dlopen(&err))
        odb_error_text(&err, why, size);
    free(path);
}

/* The base table of the library, once its version is known to be one of ours. */
static enum odb_status ort_bind(struct ort *ort, void *lib, struct odb_error *err)
{
    const struct ort_base *(*get_base)(void);
    void *symbol = dlsym(lib, "OrtGetApiBase");
    memcpy(&get_base, &symbol, sizeof get_base);
    const struct ort_base *base = symbol ? get_base() : NULL;
    if (!base)
        return odb_fail(err, ODB_E_EXECUTOR, "the library is no ONNX Runtime");
    snprintf(ort->version, sizeof ort->version, "%s", base->get_version_string());
    int major = 0, minor = 0;
    if (sscanf(ort->version, "%d.%d", &major, &minor) != 2 || major != 1 ||
        minor < ORT_API_NEEDED) {
        odb_fail(err, ODB_E_EXECUTOR, "ONNX Runtime %s is not one that onnxdbg knows",
                 ort->version);
        return odb_error_remedy(err, "use 1.%d or later", ORT_API_NEEDED);
    }
    int version = ODB_MIN(minor, ORT_API_WANTED);
    const void *const *table = base->get_api((uint32_t)version);
    if (!table)
        return odb_fail(err, ODB_E_EXECUTOR, "ONNX Runtime %s has no interface %d", ort->version,
                        version);
#define ORT_FILL(slot, since, result, name, args)                                                  \
    if ((since) <= version)                                                                        \
        memcpy(&ort->api.name, &table[slot], sizeof(void *));
    ORT_FUNCTIONS(ORT_FILL)
#undef ORT_FILL
    return ODB_OK;
}

/* --- options --------------------------------------------------------------------------------- */

/* The choice of a spec that was checked, or the first. */
static const struct ort_choice *ort_choose(const struct ort_choice *table,
                                           const struct odb_spec *spec, const char *key)
{
    const char *text = odb_spec_option(spec, key);
    const struct ort_choice *choice = table;
    while (text && strcmp(choice->name, text) != 0)
        choice++;
    return choice;
}

static const struct odb_executor_option ort_rows[] = {
    {"opt", "all|extended|basic|disabled", "all", "how far the graph is optimised", false},
    {"threads", "N", "1", "within an operator; 0: one per core", false},
    {"mode", "sequential|parallel", "sequential", "one operator at a time, or several", false},
    {"provider", "NAME", "CPU", "the execution provider that comes before the CPU's", false},
    {"library", "FILE", NULL, "of custom operators", false},
    {NULL, NULL, NULL, NULL, false},
};

static enum odb_status ort_options(struct ort *ort, const struct odb_spec *spec,
                                   struct odb_error *err)
{
    double threads = 1;
    ODB_TRY(odb_spec_check(spec, ort_rows, err));
    ort->opt = ort_choose(ort_opts, spec, "opt");
    ort->mode = ort_choose(ort_modes, spec, "mode");
    ODB_TRY(odb_spec_whole(spec, "threads", 0, 4096, &threads, err));
    ort->threads = (int)threads;
    const char *provider = odb_spec_option(spec, "provider");
    const char *library = odb_spec_option(spec, "library");
    if (provider && strcmp(provider, "CPU") != 0)
        ort->provider = odb_xstrdup(provider);
    if (library) {
        ort->library = realpath(library, NULL); /* models live in other directories */
        if (!ort->library) {
            odb_fail(err, ODB_E_USAGE, "there is no file '%s'", library);
            return odb_error_at(err, "%s", spec->text);
        }
    }
    return ODB_OK;
}

/* Where external data of a model that comes as bytes is; optimisers want a path as well. Versions
 * that do not know the key ignore it and use the working directory. */
#define ORT_KEY_FOLDER "session.model_external_initializers_file_folder_path"

static enum odb_status ort_session_options(struct ort *ort, struct ort_session_options **out,
                                           struct odb_error *err)
{
    ORT_TRY(create_options(out));
    ORT_TRY(set_config(*out, ORT_KEY_FOLDER, "."));
    ORT_TRY(set_optimization(*out, ort->opt->value));
    ORT_TRY(set_execution_mode(*out, ort->mode->value));
    ORT_TRY(set_intra_threads(*out, ort->threads));
    if (ort->mode->value == 0)
        ORT_TRY(set_inter_threads(*out, 1));
    if ((ort->provider && !ort->api.append_provider) || (ort->library && !ort->api.custom_ops))
        return odb_fail(err, ODB_E_EXECUTOR, "ONNX Runtime %s is too old for this option",
                        ort->version);
    if (ort->provider)
        ORT_TRY(append_provider(*out, ort->provider, NULL, NULL, 0));
    if (ort->library)
        ORT_TRY(custom_ops(*out, ort->library));
    return ODB_OK;
}

/* --- life ------------------------------------------------------------------------------------ */

static void ort_free_ports(struct ort_port *ports, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(ports[i].name);
    free(ports);
}

static void ort_unload(struct ort *ort)
{
    if (ort->session)
        ort->api.release_session(ort->session);
    ort->session = NULL;
    ort_free_ports(ort->inputs, ort->n_inputs);
    ort_free_ports(ort->outputs, ort->n_outputs);
    ort->inputs = ort->outputs = NULL;
    ort->n_inputs = ort->n_outputs = 0;
}

static void ort_release(void *self)
{
    struct ort *ort = self;
    ort_unload(ort);
    if (ort->memory)
        ort->api.release_memory(ort->memory);
    if (ort->env)
        ort->api.release_env(ort->env);
    free(ort->provider);
    free(ort->library);
    free(ort);
}

static enum odb_status ort_start(struct ort *ort, struct odb_error *err)
{
    void *lib = ort_dlopen(err);
    if (!lib)
        return ODB_E_EXECUTOR;
    ODB_TRY(ort_bind(ort, lib, err));
    ORT_TRY(create_env(ort_log, NULL, ORT_LOG_ERROR, "onnxdbg", &ort->env));
    ORT_TRY(disable_telemetry(ort->env));
    ORT_TRY(cpu_memory(1, 0, &ort->memory)); /* arena allocator, default memory */
    ORT_TRY(default_allocator(&ort->allocator));
    /* Providers and libraries are refused here and not at the first model. */
    struct ort_session_options *options = NULL;
    enum odb_status status = ort_session_options(ort, &options, err);
    if (options)
        ort->api.release_options(options);
    return status;
}

static enum odb_status ort_init(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    struct ort *ort = odb_new(struct ort);
    enum odb_status status = ort_options(ort, spec, err);
    if (status == ODB_OK)
        status = ort_start(ort, err);
    if (status != ODB_OK) {
        ort_release(ort);
        return status;
    }
    *self = ort;
    return ODB_OK;
}

static void ort_describe(void *self, char *text, size_t size)
{
    const struct ort *ort = self;
    snprintf(text, size, "ONNX Runtime %s, %s, opt=%s, %d thread%s", ort->version,
             ort->provider ? ort->provider : "CPU", ort->opt->name, ort->threads,
             ort->threads == 1 ? "" : "s");
}

/* --- loading --------------------------------------------------------------------------------- */

static enum odb_status ort_read_port(struct ort *ort, bool input, size_t i, struct ort_port *port,
                                     struct odb_error *err)
{
    struct ort_type_info *type = NULL;
    char *name = NULL;
    if (input) {
        ORT_TRY(input_name(ort->session, i, ort->allocator, &name));
    } else {
        ORT_TRY(output_name(ort->session, i, ort->allocator, &name));
    }
    port->name = odb_xstrdup(name);
    ORT_TRY(allocator_free(ort->allocator, name));
    if (input) {
        ORT_TRY(input_type(ort->session, i, &type));
    } else {
        ORT_TRY(output_type(ort->session, i, &type));
    }
    enum odb_status status = ort_check(ort, ort->api.type_kind(type, &port->kind), err);
    ort->api.release_type(type);
    return status;
}

static enum odb_status ort_read_ports(struct ort *ort, struct odb_error *err)
{
    size_t n_in, n_out;
    ORT_TRY(input_count(ort->session, &n_in));
    ORT_TRY(output_count(ort->session, &n_out));
    ort->inputs = odb_new_n(struct ort_port, n_in + 1);
    ort->outputs = odb_new_n(struct ort_port, n_out + 1);
    for (; ort->n_inputs < n_in; ort->n_inputs++)
        ODB_TRY(ort_read_port(ort, true, ort->n_inputs, &ort->inputs[ort->n_inputs], err));
    for (; ort->n_outputs < n_out; ort->n_outputs++)
        ODB_TRY(ort_read_port(ort, false, ort->n_outputs, &ort->outputs[ort->n_outputs], err));
    return ODB_OK;
}

static enum odb_status ort_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    struct ort *ort = self;
    struct ort_session_options *options = NULL;
    ort_unload(ort);
    enum odb_status status = ort_session_options(ort, &options, err);
    if (status == ODB_OK)
        status = ort_check(
            ort, ort->api.create_session(ort->env, load->bytes, load->size, options, &ort->session),
            err);
    if (options)
        ort->api.release_options(options);
    if (status == ODB_OK)
        status = ort_read_ports(ort, err);
    if (status != ODB_OK)
        ort_unload(ort);
    return status;
}

/* --- values in ------------------------------------------------------------------------------- */

static int ort_dtype(enum odb_dtype dtype)
{
    switch (dtype) {
    case ODB_F8E8M0:
        return ORT_F8E8M0;
    case ODB_U2:
        return ORT_U2;
    case ODB_I2:
        return ORT_I2;
    default:
        return (int)dtype;
    }
}

static enum odb_dtype ort_dtype_back(int dtype)
{
    for (int d = ODB_F8E8M0; d <= ODB_I2; d++)
        if (ort_dtype((enum odb_dtype)d) == dtype)
            return (enum odb_dtype)d;
    return (enum odb_dtype)dtype;
}

static enum odb_status ort_strings_in(struct ort *ort, const struct odb_tensor *t,
                                      struct ort_value **out, struct odb_error *err)
{
    const struct odb_str *s = t->data;
    char **texts = odb_new_n(char *, t->count + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < t->count && status == ODB_OK; i++) {
        if (memchr(s[i].data ? s[i].data : "", '\0', s[i].len))
            status = odb_fail(err, ODB_E_INPUT,
                              "string %zu holds a zero byte, which ONNX "
                              "Runtime's C interface cannot take",
                              i);
        texts[i] = odb_xstrndup(s[i].data ? s[i].data : "", s[i].len);
    }
    if (status == ODB_OK)
        status = ort_check(
            ort, ort->api.create_tensor(ort->allocator, t->dims, (size_t)t->rank, ODB_STRING, out),
            err);
    if (status == ODB_OK)
        status =
            ort_check(ort, ort->api.fill_strings(*out, (const char *const *)texts, t->count), err);
    for (size_t i = 0; i < t->count; i++)
        free(texts[i]);
    free(texts);
    return status;
}

static enum odb_status ort_value_in(struct ort *ort, const struct odb_tensor *t,
                                    struct ort_value **out, struct odb_error *err);

static enum odb_status ort_container_in(struct ort *ort, const struct odb_tensor *t,
                                        struct ort_value **out, struct odb_error *err)
{
    if (t->n_items == 0) /* its API says no, with less to read */
        return odb_fail(err, ODB_UNSUPPORTED, "ONNX Runtime cannot be given an empty sequence");
    struct ort_value **parts = odb_new_n(struct ort_value *, t->n_items + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < t->n_items && status == ODB_OK; i++)
        status = ort_value_in(ort, t->items[i], &parts[i], err);
    if (status == ODB_OK)
        status =
            ort_check(ort,
                      ort->api.create_container((const struct ort_value *const *)parts, t->n_items,
                                                t->kind == ODB_MAP ? ORT_MAP : ORT_SEQUENCE, out),
                      err);
    for (size_t i = 0; i < t->n_items; i++)
        if (parts[i])
            ort->api.release_value(parts[i]);
    free(parts);
    return status;
}

/* *out stays NULL for an optional that holds nothing. On failure *out may be set, too. */
static enum odb_status ort_value_in(struct ort *ort, const struct odb_tensor *t,
                                    struct ort_value **out, struct odb_error *err)
{
    if (t->kind == ODB_OPTIONAL)
        return t->n_items ? ort_value_in(ort, t->items[0], out, err) : ODB_OK;
    if (t->kind == ODB_SEQUENCE || t->kind == ODB_MAP)
        return ort_container_in(ort, t, out, err);
    if (t->kind != ODB_TENSOR)
        return odb_fail(err, ODB_UNSUPPORTED, "sparse tensors are not passed to ONNX Runtime");
    if (t->dtype == ODB_STRING)
        return ort_strings_in(ort, t, out, err);
    ORT_TRY(create_tensor_with_data(ort->memory, t->data, t->bytes, t->dims, (size_t)t->rank,
                                    ort_dtype(t->dtype), out));
    return ODB_OK;
}

/* --- values out ------------------------------------------------------------------------------ */

struct ort_storage {
    struct odb_storage base;
    struct ort_value *value; /* owned */
    void (*release_value)(struct ort_value *value);
};

static void ort_storage_release(struct odb_storage *storage)
{
    struct ort_storage *s = (struct ort_storage *)storage;
    s->release_value(s->value);
    free(s);
}

static enum odb_status ort_shape(struct ort *ort, const struct ort_value *value, int *dtype,
                                 int *rank, int64_t *dims, struct odb_error *err)
{
    struct ort_shape_info *info = NULL;
    size_t n = 0;
    enum odb_status status;
    ORT_TRY_OUT(tensor_shape(value, &info));
    ORT_TRY_OUT(shape_dtype(info, dtype));
    ORT_TRY_OUT(shape_rank(info, &n));
    if (n > ODB_MAX_RANK)
        status = odb_fail(err, ODB_UNSUPPORTED, "a tensor of rank %zu is over the limit of %d", n,
                          ODB_MAX_RANK);
    else
        status = ort_check(ort, ort->api.shape_dims(info, dims, n), err);
    *rank = (int)n;
out:
    if (info)
        ort->api.release_shape(info);
    return status;
}

static enum odb_status ort_strings_out(struct ort *ort, const struct ort_value *value,
                                       struct odb_tensor *t, struct odb_error *err)
{
    size_t size;
    ORT_TRY(strings_size(value, &size));
    char *text = odb_xcalloc(1, size + 1);
    size_t *offsets = odb_new_n(size_t, t->count + 1);
    enum odb_status status =
        t->count == 0 ? ODB_OK
                      : ort_check(ort, ort->api.strings(value, text, size, offsets, t->count), err);
    offsets[t->count] = size;
    for (size_t i = 0; i < t->count && status == ODB_OK; i++)
        status = odb_tensor_set_string(t, i, text + offsets[i], offsets[i + 1] - offsets[i], err);
    free(text);
    free(offsets);
    return status;
}

/* Takes value over, on failure too. */
static enum odb_status ort_dense_out(struct ort *ort, struct ort_value *value_take,
                                     struct odb_tensor **out, struct odb_error *err)
{
    int64_t dims[ODB_MAX_RANK];
    int number = 0, rank = 0;
    void *data = NULL;
    struct odb_tensor *t = NULL;
    struct odb_storage *storage = NULL;
    enum odb_status status;
    ODB_TRY_OUT(ort_shape(ort, value_take, &number, &rank, dims, err));
    enum odb_dtype dtype = ort_dtype_back(number);
    if (dtype == ODB_STRING) {
        ODB_TRY_OUT(odb_tensor_new(&t, dtype, rank, dims, err));
        status = ort_strings_out(ort, value_take, t, err);
        goto out;
    }
    ODB_TRY_OUT(odb_tensor_new_shape(&t, dtype, rank, dims, err));
    size_t bytes;
    if (!odb_dtype_bytes(dtype, t->count, &bytes)) {
        status = odb_fail(err, ODB_E_EXECUTOR, "a tensor of unknown type %d", number);
        goto out;
    }
    odb_tensor_unref(t);
    t = NULL;
    ORT_TRY_OUT(tensor_data(value_take, &data));
    struct ort_storage *s = odb_new(struct ort_storage);
    s->base.refs = 1;
    s->base.release = ort_storage_release;
    s->value = value_take;
    s->release_value = ort->api.release_value;
    value_take = NULL;
    storage = &s->base;
    status = odb_tensor_view(&t, dtype, rank, dims, bytes ? data : "", bytes, storage, err);
out:
    odb_storage_unref(storage);
    if (value_take)
        ort->api.release_value(value_take);
    if (status == ODB_OK)
        *out = t;
    else
        odb_tensor_unref(t);
    return status;
}

static enum odb_status ort_value_out(struct ort *ort, struct ort_value *value_take,
                                     struct odb_tensor **out, struct odb_error *err);

static enum odb_status ort_container_out(struct ort *ort, const struct ort_value *value,
                                         enum odb_kind kind, struct odb_tensor **out,
                                         struct odb_error *err)
{
    size_t n = 0;
    ORT_TRY(part_count(value, &n));
    struct odb_tensor **parts = odb_new_n(struct odb_tensor *, n + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n; i++) {
        struct ort_value *part = NULL;
        ORT_TRY_OUT(part(value, (int)i, ort->allocator, &part));
        ODB_TRY_OUT(ort_value_out(ort, part, &parts[i], err));
    }
    status = odb_tensor_new_container(out, kind, parts, n, err);
out:
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(parts[i]);
    free(parts);
    return status;
}

/* Takes value over, on failure too. */
static enum odb_status ort_value_out(struct ort *ort, struct ort_value *value_take,
                                     struct odb_tensor **out, struct odb_error *err)
{
    int kind = 0, has = 1;
    enum odb_status status;
    ORT_TRY_OUT(has_value(value_take, &has));
    if (!has) {
        status = odb_tensor_new_container(out, ODB_OPTIONAL, NULL, 0, err);
        goto out;
    }
    ORT_TRY_OUT(value_kind(value_take, &kind));
    if (kind == ORT_TENSOR)
        return ort_dense_out(ort, value_take, out, err);
    if (kind == ORT_SEQUENCE || kind == ORT_MAP)
        status =
            ort_container_out(ort, value_take, kind == ORT_MAP ? ODB_MAP : ODB_SEQUENCE, out, err);
    else
        status = odb_fail(err, ODB_UNSUPPORTED, "ONNX Runtime returned a value of kind %d", kind);
out:
    ort->api.release_value(value_take);
    return status;
}

/* An output that is declared optional comes bare when it has a value. */
static enum odb_status ort_wrap_optional(const struct ort *ort, const char *name,
                                         struct odb_tensor **t, struct odb_error *err)
{
    for (size_t i = 0; i < ort->n_outputs; i++) {
        if (ort->outputs[i].kind != ORT_OPTIONAL || strcmp(ort->outputs[i].name, name) != 0 ||
            (*t)->kind == ODB_OPTIONAL)
            continue;
        struct odb_tensor *bare = *t;
        enum odb_status status = odb_tensor_new_container(t, ODB_OPTIONAL, &bare, 1, err);
        if (status == ODB_OK)
            odb_tensor_unref(bare);
        return status;
    }
    return ODB_OK;
}

/* --- running --------------------------------------------------------------------------------- */

/* It would say so itself, but only when some kernel misses the value, and with an odd code. */
static enum odb_status ort_check_inputs(const struct ort *ort, const struct odb_named *inputs,
                                        size_t n, struct odb_error *err)
{
    for (size_t i = 0; i < ort->n_inputs; i++) {
        bool there = ort->inputs[i].kind == ORT_OPTIONAL;
        for (size_t k = 0; k < n && !there; k++)
            there = !strcmp(inputs[k].name, ort->inputs[i].name);
        if (!there)
            return odb_fail(err, ODB_E_INPUT, "there is no value for the input '%s'",
                            ort->inputs[i].name);
    }
    return ODB_OK;
}

static enum odb_status ort_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                   const char *const *names, size_t n_outputs,
                                   struct odb_tensor **outputs, struct odb_error *err)
{
    struct ort *ort = self;
    if (!ort->session)
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    ODB_TRY(ort_check_inputs(ort, inputs, n_inputs, err));
    const char **in_names = odb_new_n(const char *, n_inputs + 1);
    struct ort_value **in = odb_new_n(struct ort_value *, n_inputs + 1);
    struct ort_value **out = odb_new_n(struct ort_value *, n_outputs + 1);
    enum odb_status status = ODB_OK;
    size_t fed = 0;
    for (size_t i = 0; i < n_inputs; i++) {
        status = ort_value_in(ort, inputs[i].tensor, &in[fed], err);
        if (status != ODB_OK)
            odb_error_at(err, "%s", inputs[i].name);
        in_names[fed] = inputs[i].name;
        fed += in[fed] != NULL;
        if (status != ODB_OK)
            goto out;
    }
    ORT_TRY_OUT(run(ort->session, NULL, in_names, (const struct ort_value *const *)in, fed, names,
                    n_outputs, out));
    for (size_t i = 0; i < n_outputs; i++) {
        struct ort_value *value = out[i];
        out[i] = NULL;
        if (!value)
            continue;
        status = ort_value_out(ort, value, &outputs[i], err);
        if (status == ODB_OK)
            status = ort_wrap_optional(ort, names[i], &outputs[i], err);
        if (status != ODB_OK) {
            odb_error_at(err, "%s", names[i]);
            goto out;
        }
    }
out:
    for (size_t i = 0; i < fed; i++)
        ort->api.release_value(in[i]);
    for (size_t i = 0; i < n_outputs; i++)
        if (out[i])
            ort->api.release_value(out[i]);
    free(in_names);
    free(in);
    free(out);
    return status;
}

const struct odb_executor_ops odb_executor_ort = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof(struct odb_executor_ops),
    .kind = "ort",
    .options = ort_rows,
    .help = "ONNX Runtime on the CPU, or with another of its execution providers",
    .available = ort_available,
    .init = ort_init,
    .load_model = ort_load,
    .execute = ort_execute,
    .release = ort_release,
    .describe = ort_describe,
};
