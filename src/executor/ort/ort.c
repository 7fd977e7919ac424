/* SPDX-License-Identifier: MIT
 *
 * ONNX Runtime, found when it is asked for and never linked: its life, and that of a model in it.
 */
#include "system/scratch.h"
#include "executor/ort/ort_int.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"
#include "model/files.h"
#include "model/model.h"
#include "model/read/load.h"

/* Versions before this one optimise no model that comes as bytes with external data. */
#define ORT_MINOR_FOLDER 21

/* --- life ------------------------------------------------------------------------------------ */

/* ONNX Runtime has one log per process, whichever executor opens it first. */
static struct {
    pthread_mutex_t lock;
    struct odb_buf *heard; /* borrowed: where lines on placement go; NULL: nowhere */
    char last[512];        /* error that was logged last */
} ort_ear = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What it logs goes to standard error, where the debugger keeps the end of it. */
static void ort_log(void *param, int severity, const char *category, const char *logid,
                    const char *location, const char *message)
{
    pthread_mutex_lock(&ort_ear.lock);
    if (severity >= ORT_LOG_ERROR) {
        if (!ort_ear.heard)
            fprintf(stderr, "onnxruntime: %s\n", message);
        snprintf(ort_ear.last, sizeof ort_ear.last, "%s", message);
    }
    if (ort_ear.heard && ort_log_places(location))
        odb_buf_add(ort_ear.heard, message, strlen(message) + 1);
    pthread_mutex_unlock(&ort_ear.lock);
}

void ort_listen(struct odb_buf *heard)
{
    pthread_mutex_lock(&ort_ear.lock);
    ort_ear.heard = heard;
    pthread_mutex_unlock(&ort_ear.lock);
}

void ort_last_logged(char *text, size_t size)
{
    pthread_mutex_lock(&ort_ear.lock);
    snprintf(text, size, "%s", ort_ear.last);
    pthread_mutex_unlock(&ort_ear.lock);
}

static void ort_drop_profile(struct ort *ort)
{
    if (ort->profile_dir)
        odb_scratch_remove(ort->profile_dir);
    free(ort->profile_dir);
    ort->profile_dir = NULL;
}

/* ONNX Runtime chooses the profile's name, so that it is made elsewhere and copied. */
static void ort_end_profile(struct ort *ort)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct stat st = {0};
    char text[2048], *name = NULL;
    enum odb_status status =
        ort_check(ort, ort->api.end_profiling(ort->session, ort->allocator, &name), &err);
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    size_t size = fd >= 0 && fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (status == ODB_OK && bytes == MAP_FAILED)
        status = odb_fail(&err, ODB_E_IO, "ONNX Runtime left no profile");
    if (status == ODB_OK)
        status = odb_file_write(ort->options.profile, bytes, size, &err);
    if (status != ODB_OK)
        fprintf(stderr, "onnxdbg-serve: %s\n", odb_error_text(&err, text, sizeof text));
    if (bytes != MAP_FAILED)
        munmap(bytes, size);
    if (fd >= 0)
        close(fd);
    if (name)
        status = ort_check(ort, ort->api.allocator_free(ort->allocator, name), &err);
    ort_drop_profile(ort);
}

static void ort_free_ports(struct ort_port *ports, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(ports[i].name);
    free(ports);
}

static void ort_unload(struct ort *ort)
{
    if (ort->session && ort->profile_dir)
        ort_end_profile(ort);
    if (ort->session)
        ort->api.release_session(ort->session);
    ort->session = NULL;
    ort_free_ports(ort->inputs, ort->n_inputs);
    ort_free_ports(ort->outputs, ort->n_outputs);
    ort->inputs = ort->outputs = NULL;
    ort->n_inputs = ort->n_outputs = 0;
    free(ort->file);
    ort->file = NULL;
    if (ort->keep)
        odb_storage_unref(ort->keep);
    else
        free((void *)(uintptr_t)ort->bytes);
    ort->keep = NULL;
    ort->bytes = NULL;
    ort_telling_dispose(&ort->told);
}

static void ort_release(void *self)
{
    struct ort *ort = self;
    ort_unload(ort);
    if (ort->run_options)
        ort->api.release_run_options(ort->run_options);
    if (ort->memory)
        ort->api.release_memory(ort->memory);
    if (ort->env)
        ort->api.release_env(ort->env);
    ort_options_dispose(&ort->options);
    pthread_mutex_destroy(&ort->lock);
    free(ort->path);
    free(ort);
}

static enum odb_status ort_start(struct ort *ort, const struct odb_runtime *runtime,
                                 struct odb_error *err)
{
    ODB_TRY(ort_open_library(ort, runtime, err));
    ORT_TRY(create_env(ort_log, NULL, ORT_LOG_ERROR, "onnxdbg", &ort->env));
    ORT_TRY(disable_telemetry(ort->env));
    ORT_TRY(cpu_memory(1, 0, &ort->memory)); /* arena allocator, default memory */
    ORT_TRY(default_allocator(&ort->allocator));
    ORT_TRY(create_run_options(&ort->run_options));
    ORT_TRY(set_run_log_level(ort->run_options, ORT_LOG_ERROR)); /* whatever the session's is */
    /* Providers and libraries are refused here and not at the first model. */
    struct ort_session_options *options = NULL;
    enum odb_status status = ort_session_options(ort, &options, err);
    if (options)
        ort->api.release_options(options);
    return status;
}

/* Its row, for what names its library. */
extern const struct odb_executor_ops odb_executor_ort;

static enum odb_status ort_init(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    struct ort *ort = odb_new(struct ort);
    ort->told = (struct ort_telling)ORT_TELLING_INIT;
    pthread_mutex_init(&ort->lock, NULL);
    enum odb_status status = ort_read_options(&ort->options, spec, err);
    struct odb_runtime runtime = odb_executor_runtime(&odb_executor_ort, spec);
    if (status == ODB_OK)
        status = ort_start(ort, &runtime, err);
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
    const struct ort_options *options = &ort->options;
    struct odb_buf out = ODB_BUF_INIT;
    odb_buf_printf(&out, "ONNX Runtime %s, ", ort->version);
    for (size_t i = 0; i < options->providers.n; i++)
        odb_buf_printf(&out, "%s then ", options->providers.items[i].name);
    odb_buf_printf(&out, "CPU, opt=%s, %d thread%s, interface %d of %s", options->opt->name,
                   options->threads, options->threads == 1 ? "" : "s", ort->interface, ort->path);
    snprintf(text, size, "%s", odb_buf_text(&out));
    odb_buf_dispose(&out);
}

/* True: what it is at will soon end. */
static bool ort_cancel(void *self)
{
    struct ort *ort = self;
    struct odb_error err;
    pthread_mutex_lock(&ort->lock);
    ort->cancelled = true;
    bool ends = !ort->loading || ort->api.cancel_load;
    enum odb_status status = ort_check(ort, ort->api.terminate(ort->run_options), &err);
    if (ort->loading && ends)
        status = ort_check(ort, ort->api.cancel_load(ort->loading, true), &err);
    pthread_mutex_unlock(&ort->lock);
    return ends && status == ODB_OK;
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

/* Weights with their names, until the session is made. */
struct ort_weights {
    struct odb_model *model; /* owned */
    const char **names;      /* owned, the names borrowed from the model */
    struct ort_value **values;
    size_t n;
};

/* Hands weights over one by one where the model's external data cannot be found otherwise. ONNX
 * Runtime copies them. */
static enum odb_status ort_add_weights(struct ort *ort, struct ort_session_options *options,
                                       struct ort_weights *weights, struct odb_error *err)
{
    ODB_TRY(odb_model_open_bytes(&weights->model, ort->bytes, ort->size, ort->keep, ".",
                                 "the model", err));
    const struct odb_graph *graph = weights->model->graph;
    weights->names = odb_new_n(const char *, graph->n_values);
    weights->values = odb_new_n(struct ort_value *, graph->n_values);
    for (size_t i = 0; i < graph->n_values; i++) {
        const struct odb_value *value = &graph->values[i];
        if (!value->init || !value->init_is_external)
            continue;
        ODB_TRY(ort_value_in(ort, value->init, &weights->values[weights->n], err));
        weights->names[weights->n++] = value->name;
    }
    if (weights->n == 0)
        return ODB_OK;
    ORT_TRY(add_weights(options, weights->names, (const struct ort_value *const *)weights->values,
                        weights->n));
    return ODB_OK;
}

static void ort_weights_dispose(struct ort *ort, struct ort_weights *weights)
{
    for (size_t i = 0; i < weights->n; i++)
        ort->api.release_value(weights->values[i]);
    free(weights->values);
    free(weights->names);
    odb_model_free(weights->model);
}

/* False: it is cancelled. */
static bool ort_set_loading(struct ort *ort, struct ort_session_options *options)
{
    pthread_mutex_lock(&ort->lock);
    bool goes_on = !ort->cancelled;
    ort->loading = goes_on ? options : NULL;
    pthread_mutex_unlock(&ort->lock);
    return goes_on;
}

enum odb_status ort_create(struct ort *ort, struct ort_session_options *options,
                           struct ort_session **out, struct odb_error *err)
{
    struct ort_weights weights = {0};
    enum odb_status status = ODB_OK;
    if (!ort->file && ort->minor < ORT_MINOR_FOLDER && ort->options.opt->value != ORT_OPT_DISABLED)
        status = ort_add_weights(ort, options, &weights, err);
    if (status == ODB_OK && !ort_set_loading(ort, options))
        status = odb_fail(err, ODB_CANCELLED, "cancelled");
    if (status == ODB_OK) {
        status = ort_check(
            ort,
            ort->file ? ort->api.open_session(ort->env, ort->file, options, out)
                      : ort->api.create_session(ort->env, ort->bytes, ort->size, options, out),
            err);
        (void)ort_set_loading(ort, NULL);
    }
    ort_weights_dispose(ort, &weights);
    return status;
}

/* A session whose profile and optimised model the user wants, as far as not done: those of the
 * first model, which is the whole one. */
static enum odb_status ort_create_reported(struct ort *ort, struct ort_session_options *options,
                                           struct odb_error *err)
{
    const char *file = ort->options.optimized;
    char *folder = NULL, *beside = NULL;
    enum odb_status status = file ? odb_scratch_for_file(&folder, file, err) : ODB_OK;
    if (folder) {
        beside = odb_xasprintf("%s/model.onnx", folder);
        status = ort_check(ort, ort->api.write_optimized(options, beside), err);
    }
    if (status == ODB_OK && ort->options.profile)
        status = odb_scratch_new(&ort->profile_dir, err);
    if (status == ODB_OK && ort->options.profile) {
        char *prefix = odb_xasprintf("%s/profile", ort->profile_dir);
        status = ort_check(ort, ort->api.enable_profiling(options, prefix), err);
        free(prefix);
    }
    if (status == ODB_OK)
        status = ort_create(ort, options, &ort->session, err);
    if (status == ODB_OK && file)
        status = odb_file_install(beside, file, err);
    if (folder)
        odb_scratch_remove(folder);
    if (status != ODB_OK)
        ort_drop_profile(ort);
    ort->reported = status == ODB_OK;
    free(beside);
    free(folder);
    return status;
}

/* The user's file is opened by its path, as the user does, as long as it holds what was read of it;
 * else the bytes. */
static void ort_take(struct ort *ort, const struct odb_load *load)
{
    struct model_bytes file;
    ort->size = load->size;
    if (load->path && odb_model__map_file(&file, load->path, NULL) == ODB_OK) {
        if (file.size == load->size && !memcmp(file.data, load->bytes, file.size)) {
            ort->file = odb_xstrdup(load->path);
            ort->keep = file.storage;
            ort->bytes = file.data;
            return;
        }
        odb_storage_unref(file.storage);
    }
    ort->keep = load->keep ? odb_storage_ref(load->keep) : NULL;
    ort->bytes = load->keep ? load->bytes : odb_xmemdup(load->bytes, load->size);
}

static enum odb_status ort_create_untold(struct ort *ort, struct odb_error *err)
{
    struct ort_session_options *options = NULL;
    enum odb_status status = ort_session_options(ort, &options, err);
    if (status == ODB_OK)
        status = ort->reported ? ort_create(ort, options, &ort->session, err)
                               : ort_create_reported(ort, options, err);
    if (options)
        ort->api.release_options(options);
    return status;
}

static enum odb_status ort_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    struct ort *ort = self;
    enum odb_status status = ODB_OK;
    ort_unload(ort);
    ort_take(ort, load);
    if (!load->account || !ort_create_told(ort))
        status = ort_create_untold(ort, err);
    if (status == ODB_OK)
        status = ort_read_ports(ort, err);
    if (status != ODB_OK)
        ort_unload(ort);
    return status;
}

/* --- running --------------------------------------------------------------------------------- */

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

/* Values of one run, by place. */
struct ort_run {
    const char **names;            /* of what is fed */
    const struct odb_tensor **fed; /* borrowed */
    struct ort_value **in, **out;  /* owned; an output that is there before the run: it shares */
    bool *lent;                    /* [n_in] an output has this input's value */
    size_t n_in, n_out;
};

static void ort_run_dispose(const struct ort *ort, struct ort_run *r)
{
    for (size_t i = 0; i < r->n_in; i++)
        if (!r->lent[i])
            ort->api.release_value(r->in[i]);
    for (size_t i = 0; i < r->n_out; i++)
        if (r->out[i])
            ort->api.release_value(r->out[i]);
    free(r->names);
    free(r->fed);
    free(r->in);
    free(r->out);
    free(r->lent);
}

static enum odb_status ort_feed(struct ort *ort, struct ort_run *r, const struct odb_named *inputs,
                                size_t n, struct odb_error *err)
{
    for (size_t i = 0; i < n; i++) {
        enum odb_status status = ort_value_in(ort, inputs[i].tensor, &r->in[r->n_in], err);
        r->names[r->n_in] = inputs[i].name;
        r->fed[r->n_in] = inputs[i].tensor;
        r->n_in += r->in[r->n_in] != NULL;
        if (status != ODB_OK)
            return odb_error_at(err, "%s", inputs[i].name);
    }
    return ODB_OK;
}

/* An output gets the value of the input that it is to be written over, with a copy of what that is
 * fed, which others read as well. */
static enum odb_status ort_share(struct ort *ort, struct ort_run *r, size_t o, const char *output,
                                 struct odb_error *err)
{
    for (size_t i = 0; i < r->n_in; i++) {
        bool dense = r->fed[i]->kind == ODB_TENSOR && r->fed[i]->dtype != ODB_STRING;
        if (r->lent[i] || !dense || !ort_shared(&ort->options, output, r->names[i]))
            continue;
        ort->api.release_value(r->in[i]);
        r->in[i] = NULL;
        enum odb_status status = ort_value_copy(ort, r->fed[i], &r->in[i], err);
        r->out[o] = r->in[i];
        r->lent[i] = true;
        return status;
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
    struct ort_run r = {.names = odb_new_n(const char *, n_inputs + 1),
                        .fed = odb_new_n(const struct odb_tensor *, n_inputs + 1),
                        .in = odb_new_n(struct ort_value *, n_inputs + 1),
                        .out = odb_new_n(struct ort_value *, n_outputs + 1),
                        .lent = odb_new_n(bool, n_inputs + 1),
                        .n_out = n_outputs};
    enum odb_status status = ort_feed(ort, &r, inputs, n_inputs, err);
    for (size_t i = 0; i < n_outputs && status == ODB_OK; i++)
        status = ort_share(ort, &r, i, names[i], err);
    if (status == ODB_OK)
        status = ort_check(ort,
                           ort->api.run(ort->session, ort->run_options, r.names,
                                        (const struct ort_value *const *)r.in, r.n_in, names,
                                        n_outputs, r.out),
                           err);
    for (size_t i = 0; i < n_outputs && status == ODB_OK; i++) {
        struct ort_value *value = r.out[i];
        r.out[i] = NULL;
        if (!value)
            continue;
        status = ort_value_out(ort, value, &outputs[i], err);
        if (status == ODB_OK)
            status = ort_wrap_optional(ort, names[i], &outputs[i], err);
        if (status != ODB_OK)
            odb_error_at(err, "%s", names[i]);
    }
    ort_run_dispose(ort, &r);
    return status;
}

/* Graph transformers and rewrite rules of a session, by the names that they have there. */
static const char *const ort_optimizer_names[] = {
#define OPTIMIZER(name) #name,
#include "executor/ort/optimizers.def"
#undef OPTIMIZER
    NULL,
};

static const struct odb_executor_optimizers ort_optimizers = {
    .option = "config.optimization.disable_specified_optimizers",
    .names = ort_optimizer_names,
};

/* The profile and the optimised model are those of the first model, which another would write as
 * well; and a provider's memory is not ours to take twice. */
static bool ort_beside(void *self)
{
    const struct ort_options *options = &((struct ort *)self)->options;
    return !options->profile && !options->optimized && !options->providers.n;
}

const struct odb_executor_ops odb_executor_ort = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof(struct odb_executor_ops),
    .kind = "ort",
    .options = ort_rows,
    .help = "ONNX Runtime on the CPU, or with another of its execution providers",
    .page = "onnxdbg-ort(7)",
    .get = ORT_GET,
    .usual = true,
    .trusted = "opt threads inter_threads mode ep provider arena mem_pattern deterministic",
    .library = "ONNX Runtime",
    .independence = 3,
    .bodies = true,
    .opinion = "ort,opt=disabled",
    .plain = "opt=disabled",
    .plain_words = "optimisations",
    .settings = ort_settings,
    .lacks = UINT32_C(1) << ODB_BF16,
    .float16 = "ONNX Runtime's CPU provider computes float16 nodes without a float16 kernel in "
               "float32 between Casts. ",
    .optimizers = &ort_optimizers,
    .env = ORT_ENV,
    .file = ort_library_file,
    .libraries = ort_libraries,
    .available = ort_available,
    .found = ort_found,
    .init = ort_init,
    .load_model = ort_load,
    .beside = ort_beside,
    .execute = ort_execute,
    .cancel = ort_cancel,
    .account = ort_account,
    .account_loads = true,
    .release = ort_release,
    .describe = ort_describe,
};
