/* SPDX-License-Identifier: MIT
 *
 * plugin:LIB.so runs models on an executor from a shared library (onnxdbg/executor.h). Nothing of
 * the house's structs is seen on the other side, so they may change; and nothing that comes from
 * there is believed: types, shapes and sizes are checked before they become tensors.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/file.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "executor/plugin/plugin_view.h"
#include "model/read/load.h"

#ifndef EM_LOONGARCH /* before glibc 2.35 */
#define EM_LOONGARCH 258
#endif

enum plugin_call { PLUGIN_IDLE, PLUGIN_INIT, PLUGIN_LOAD, PLUGIN_EXECUTE, PLUGIN_ACCOUNT };

struct plugin {
    struct onnxdbg_host host;           /* first: what the library is given leads back here */
    char *path;                         /* owned: of the library, absolute */
    const struct onnxdbg_executor *ops; /* borrowed: the library */
    void *self;                         /* the library's */
    pthread_mutex_t lock;               /* between call and cancel */
    atomic_bool asks;                   /* it has called cancelled() */
    atomic_bool cancelled;

    struct odb_model *model;           /* owned; NULL: none loaded */
    struct plugin_view view;           /* of the model */
    const struct onnxdbg_graph *graph; /* in view; NULL: not asked for */
    int *feeds;                        /* owned: values that are fed */
    size_t n_feeds;
    int *input_of, *output_of; /* owned: [n_values] which input, output each value is; -1: none */

    /* the call under way */
    enum plugin_call call;
    enum odb_status status; /* what was reported */
    struct odb_error *err;
    struct odb_tensor **outputs; /* [of the model]; NULL: not given yet */
    const unsigned char *wanted; /* likewise */
    struct odb_account *account;
};

/* Bytes that the library lends. */
struct plugin_loan {
    struct odb_storage base;
    void (*done)(void *payload);
    void *payload;
};

static struct plugin *plugin_of(const struct onnxdbg_host *host)
{
    return (struct plugin *)host;
}

/* --- calls ------------------------------------------------------------------------------------ */

static void plugin_begin(struct plugin *plugin, enum plugin_call call, struct odb_error *err)
{
    plugin->status = ODB_OK;
    plugin->err = err;
    pthread_mutex_lock(&plugin->lock);
    plugin->call = call;
    pthread_mutex_unlock(&plugin->lock);
}

/* What the call comes to; function and result as the library has it. */
static enum odb_status plugin_finish(struct plugin *plugin, const char *function, int result)
{
    pthread_mutex_lock(&plugin->lock); /* not while it is being cancelled */
    plugin->call = PLUGIN_IDLE;
    pthread_mutex_unlock(&plugin->lock);
    if (result && plugin->status == ODB_OK)
        plugin->status = odb_fail(plugin->err, ODB_E_EXECUTOR, "%s() returned %d without a reason",
                                  function, result);
    if (plugin->status != ODB_OK)
        odb_error_at(plugin->err, "%s", plugin->ops->name);
    return plugin->status;
}

static bool plugin_cancel(void *self)
{
    struct plugin *plugin = self;
    pthread_mutex_lock(&plugin->lock);
    plugin->cancelled = true;
    bool listens = plugin->call != PLUGIN_IDLE && (plugin->ops->cancel || plugin->asks);
    if (listens && plugin->ops->cancel)
        plugin->ops->cancel(plugin->self);
    pthread_mutex_unlock(&plugin->lock);
    return listens;
}

/* --- what a library may call ------------------------------------------------------------------ */

/* One line for whatever is printed. */
static void plugin_line(char *text, size_t size, const char *format, va_list args)
{
    if (vsnprintf(text, size, format, args) < 0)
        text[0] = '\0';
    for (char *p = text; *p; p++)
        if (iscntrl((unsigned char)*p))
            *p = ' ';
}

static int plugin_fail(const struct onnxdbg_host *host, int code, const char *format, ...)
{
    static const enum odb_status codes[] = {[ONNXDBG_USAGE] = ODB_E_USAGE,
                                            [ONNXDBG_UNSUPPORTED] = ODB_UNSUPPORTED,
                                            [ONNXDBG_INPUT] = ODB_E_INPUT,
                                            [ONNXDBG_NO_MEMORY] = ODB_E_NOMEM};
    struct plugin *plugin = plugin_of(host);
    char text[sizeof plugin->err->what];
    va_list args;
    if (plugin->call == PLUGIN_IDLE || plugin->status != ODB_OK)
        return ONNXDBG_FAILED;
    va_start(args, format);
    plugin_line(text, sizeof text, format, args);
    va_end(args);
    bool known = code > ONNXDBG_FAILED && code < (int)ODB_COUNT(codes);
    plugin->status = odb_fail(plugin->err, known ? codes[code] : ODB_E_EXECUTOR, "%s", text);
    return ONNXDBG_FAILED;
}

static int plugin_remedy(const struct onnxdbg_host *host, const char *format, ...)
{
    struct plugin *plugin = plugin_of(host);
    char text[sizeof plugin->err->remedy];
    va_list args;
    if (plugin->call == PLUGIN_IDLE || plugin->status == ODB_OK)
        return ONNXDBG_FAILED;
    va_start(args, format);
    plugin_line(text, sizeof text, format, args);
    va_end(args);
    odb_error_remedy(plugin->err, "%s", text);
    return ONNXDBG_FAILED;
}

static int plugin_cancelled(const struct onnxdbg_host *host)
{
    struct plugin *plugin = plugin_of(host);
    plugin->asks = true;
    return plugin->cancelled;
}

/* Whether a function may be called now; that it was called at all is reported. */
static bool plugin_may(struct plugin *plugin, enum plugin_call call, const char *function,
                       const char *where)
{
    if (plugin->call == call && plugin->status == ODB_OK)
        return true;
    if (plugin->call != PLUGIN_IDLE && plugin->status == ODB_OK)
        plugin->status =
            odb_fail(plugin->err, ODB_E_EXECUTOR, "it calls %s() outside of %s()", function, where);
    return false;
}

static const struct onnxdbg_graph *plugin_graph(const struct onnxdbg_host *host)
{
    struct plugin *plugin = plugin_of(host);
    if (!plugin_may(plugin, PLUGIN_LOAD, "graph", "load_model"))
        return NULL;
    if (!plugin->graph)
        plugin->status =
            odb_plugin_view_graph(&plugin->view, plugin->model->graph, &plugin->graph, plugin->err);
    return plugin->status == ODB_OK ? plugin->graph : NULL;
}

static const struct odb_value *plugin_output_value(const struct plugin *plugin, size_t i)
{
    const struct odb_graph *graph = plugin->model->graph;
    return &graph->values[graph->outputs[i]];
}

static const char *plugin_type_text(char *text, size_t size, enum odb_kind kind,
                                    enum odb_dtype dtype)
{
    static const char *const kinds[] = {[ODB_TENSOR] = "%s",
                                        [ODB_SEQUENCE] = "a sequence of %s",
                                        [ODB_OPTIONAL] = "an optional %s",
                                        [ODB_SPARSE] = "a sparse %s",
                                        [ODB_MAP] = "a map of %s"};
    const char *name = dtype ? odb_dtype_info(dtype)->name : "anything";
    const char *gap = strchr(kinds[kind], '%');
    snprintf(text, size, "%.*s%s", (int)(gap - kinds[kind]), kinds[kind], name);
    return text;
}

/* That output i may be given, as that. */
static bool plugin_may_give(struct plugin *plugin, const char *function, size_t i, int kind,
                            int dtype)
{
    if (!plugin_may(plugin, PLUGIN_EXECUTE, function, "execute"))
        return false;
    if (i >= plugin->model->graph->n_outputs) {
        plugin->status =
            odb_fail(plugin->err, ODB_E_EXECUTOR, "it gives output %zu, and the model has %zu", i,
                     plugin->model->graph->n_outputs);
        return false;
    }
    const struct odb_value *value = plugin_output_value(plugin, i);
    bool known = kind >= ODB_TENSOR && kind <= ODB_MAP && dtype >= (kind == ODB_TENSOR) &&
                 dtype < ODB_DTYPE_COUNT;
    char is[64], should[64];
    if (!known)
        plugin->status = odb_fail(plugin->err, ODB_E_EXECUTOR,
                                  "it gives output '%s' a type %d of kind %d that is none",
                                  value->name, dtype, kind);
    else if (plugin->outputs[i])
        plugin->status =
            odb_fail(plugin->err, ODB_E_EXECUTOR, "it gives output '%s' twice", value->name);
    else if (value->type.known &&
             (value->type.kind != (enum odb_kind)kind ||
              (dtype && value->type.dtype && value->type.dtype != (enum odb_dtype)dtype)))
        plugin->status =
            odb_fail(plugin->err, ODB_E_EXECUTOR,
                     "it gives output '%s' as %s, and the model says %s", value->name,
                     plugin_type_text(is, sizeof is, (enum odb_kind)kind, (enum odb_dtype)dtype),
                     plugin_type_text(should, sizeof should, value->type.kind, value->type.dtype));
    return plugin->status == ODB_OK;
}

static void *plugin_output(const struct onnxdbg_host *host, size_t i, int dtype, int rank,
                           const int64_t *dims)
{
    struct plugin *plugin = plugin_of(host);
    if (!plugin_may_give(plugin, "output", i, ODB_TENSOR, dtype))
        return NULL;
    if (rank > 0 && !dims)
        plugin->status = odb_fail(plugin->err, ODB_E_EXECUTOR, "a rank without dims");
    else
        plugin->status =
            odb_tensor_new(&plugin->outputs[i], (enum odb_dtype)dtype, rank, dims, plugin->err);
    if (plugin->status == ODB_OK)
        return plugin->outputs[i]->data;
    odb_error_at(plugin->err, "output '%s'", plugin_output_value(plugin, i)->name);
    return NULL;
}

static int plugin_output_string(const struct onnxdbg_host *host, size_t i, size_t e,
                                const char *text, size_t size)
{
    struct plugin *plugin = plugin_of(host);
    if (!plugin_may(plugin, PLUGIN_EXECUTE, "output_string", "execute"))
        return ONNXDBG_FAILED;
    struct odb_tensor *t = i < plugin->model->graph->n_outputs ? plugin->outputs[i] : NULL;
    if (t && t->kind == ODB_TENSOR && t->dtype == ODB_STRING && e < t->count)
        plugin->status = odb_tensor_set_string(t, e, text, size, plugin->err);
    else
        plugin->status = odb_fail(plugin->err, ODB_E_EXECUTOR,
                                  "it writes string %zu of output %zu, which is not there", e, i);
    return plugin->status == ODB_OK ? 0 : ONNXDBG_FAILED;
}

static void plugin_loan_release(struct odb_storage *storage)
{
    struct plugin_loan *loan = (struct plugin_loan *)storage;
    loan->done(loan->payload);
    free(loan);
}

static int plugin_give(const struct onnxdbg_host *host, size_t i, const struct onnxdbg_data *data,
                       void (*done)(void *payload), void *payload)
{
    struct plugin *plugin = plugin_of(host);
    struct plugin_loan *loan = done ? odb_new(struct plugin_loan) : NULL;
    if (loan) {
        *loan = (struct plugin_loan){
            .base.release = plugin_loan_release, .done = done, .payload = payload};
        atomic_init(&loan->base.refs, 1);
    }
    int kind = data ? data->kind : -1, dtype = data ? data->dtype : -1;
    if (plugin_may_give(plugin, "give", i, kind, dtype) && plugin->wanted[i]) {
        plugin->status =
            odb_plugin_take(&plugin->outputs[i], data, loan ? &loan->base : NULL, plugin->err);
        if (plugin->status != ODB_OK)
            odb_error_at(plugin->err, "output '%s'", plugin_output_value(plugin, i)->name);
    }
    odb_storage_unref(loan ? &loan->base : NULL);
    return plugin->status == ODB_OK ? 0 : ONNXDBG_FAILED;
}

static void plugin_text(const struct onnxdbg_host *host, const char *text, size_t size)
{
    struct plugin *plugin = plugin_of(host);
    if (plugin_may(plugin, PLUGIN_ACCOUNT, "text", "account"))
        odb_buf_add(&plugin->account->text, text, size);
}

static void plugin_place(const struct onnxdbg_host *host, const char *node, const char *op_type,
                         const char *where)
{
    struct plugin *plugin = plugin_of(host);
    if (plugin_may(plugin, PLUGIN_ACCOUNT, "place", "account"))
        odb_account_place(plugin->account, node ? node : "", op_type ? op_type : "",
                          where ? where : "");
}

static void plugin_note(const struct onnxdbg_host *host, const char *format, ...)
{
    struct plugin *plugin = plugin_of(host);
    char text[1024];
    va_list args;
    if (!plugin_may(plugin, PLUGIN_ACCOUNT, "note", "account"))
        return;
    va_start(args, format);
    plugin_line(text, sizeof text, format, args);
    va_end(args);
    odb_account_note(plugin->account, "%s", text);
}

static const struct onnxdbg_host plugin_host = {
    .revision = ONNXDBG_EXECUTOR_REVISION,
    .version = ODB_VERSION,
    .fail = plugin_fail,
    .remedy = plugin_remedy,
    .cancelled = plugin_cancelled,
    .graph = plugin_graph,
    .output = plugin_output,
    .output_string = plugin_output_string,
    .give = plugin_give,
    .text = plugin_text,
    .place = plugin_place,
    .note = plugin_note,
};

/* --- the library ------------------------------------------------------------------------------ */

/* The beginning of an ELF file, as far as machines differ; false: it is none. */
static bool plugin_read_elf(const char *path, Elf64_Ehdr *head)
{
    int fd = odb_file_is_regular(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    size_t need = offsetof(Elf64_Ehdr, e_version);
    bool ok =
        fd >= 0 && read(fd, head, need) == (ssize_t)need && !memcmp(head->e_ident, ELFMAG, SELFMAG);
    if (fd >= 0)
        close(fd);
    return ok;
}

static void plugin_put_machine(const Elf64_Ehdr *head, char *text, size_t size)
{
    static const struct {
        int machine;
        const char *name;
    } machines[] = {{EM_X86_64, "x86-64"},   {EM_386, "x86"},
                    {EM_AARCH64, "AArch64"}, {EM_ARM, "ARM"},
                    {EM_RISCV, "RISC-V"},    {EM_PPC64, "PowerPC"},
                    {EM_S390, "S/390"},      {EM_LOONGARCH, "LoongArch"}};
    snprintf(text, size, "processor %d", head->e_machine);
    for (size_t i = 0; i < ODB_COUNT(machines); i++)
        if (machines[i].machine == head->e_machine)
            snprintf(text, size, "%s", machines[i].name);
    size_t n = strlen(text);
    snprintf(text + n, size - n, ", %s bits", head->e_ident[EI_CLASS] == ELFCLASS64 ? "64" : "32");
}

/* The loader's own words for a library of another machine are that there is no such file. */
static enum odb_status plugin_check_machine(const char *path, struct odb_error *err)
{
    Elf64_Ehdr its = {0}, ours = {0};
    char a[64], b[64];
    if (!plugin_read_elf(path, &its))
        return odb_fail(err, ODB_E_EXECUTOR, "it is no shared library");
    if (!plugin_read_elf("/proc/self/exe", &ours) ||
        (its.e_machine == ours.e_machine && its.e_ident[EI_CLASS] == ours.e_ident[EI_CLASS] &&
         its.e_ident[EI_DATA] == ours.e_ident[EI_DATA]))
        return ODB_OK;
    plugin_put_machine(&its, a, sizeof a);
    plugin_put_machine(&ours, b, sizeof b);
    odb_fail(err, ODB_E_EXECUTOR, "it is for another machine (%s) than this program (%s)", a, b);
    return odb_error_remedy(err, "build it for this machine");
}

static enum odb_status plugin_check(const struct onnxdbg_executor *ops, struct odb_error *err)
{
    if (!ops)
        return odb_fail(err, ODB_E_EXECUTOR, "onnxdbg_executor() returned NULL");
    if (ops->abi != ONNXDBG_EXECUTOR_ABI) {
        odb_fail(err, ODB_E_EXECUTOR,
                 "it speaks version %u of the executor ABI, and onnxdbg %s version %d", ops->abi,
                 ODB_VERSION, ONNXDBG_EXECUTOR_ABI);
        return odb_error_remedy(err, "build it against this onnxdbg's onnxdbg/executor.h");
    }
    if (ops->size < sizeof(struct onnxdbg_executor) || ops->size > 65536) {
        odb_fail(err, ODB_E_EXECUTOR, "its table has %u bytes, and should have %zu", ops->size,
                 sizeof(struct onnxdbg_executor));
        return odb_error_remedy(err, "set .size = sizeof(struct onnxdbg_executor)");
    }
    const char *lacks = !ops->name         ? "name"
                        : !ops->init       ? "init()"
                        : !ops->load_model ? "load_model()"
                        : !ops->execute    ? "execute()"
                        : !ops->release    ? "release()"
                                           : NULL;
    return lacks ? odb_fail(err, ODB_E_EXECUTOR, "its table has no %s", lacks) : ODB_OK;
}

/* Loads the library, for good: unloading is what libraries of drivers are tested for least. */
static enum odb_status plugin_open(struct plugin *plugin, struct odb_error *err)
{
    ODB_TRY(plugin_check_machine(plugin->path, err));
    void *library = dlopen(plugin->path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        size_t n = strlen(plugin->path);
        if (!strncmp(why, plugin->path, n) && !strncmp(why + n, ": ", 2))
            why += n + 2;
        odb_fail(err, ODB_E_EXECUTOR, "it cannot be loaded: %s", why);
        return odb_error_remedy(err, "`ldd %s` lists what it needs", plugin->path);
    }
    const struct onnxdbg_executor *(*entry)(void);
    *(void **)&entry = dlsym(library, "onnxdbg_executor");
    if (!entry) {
        odb_fail(err, ODB_E_EXECUTOR, "it exports no onnxdbg_executor()");
        return odb_error_remedy(err, "onnxdbg-executor(7) says what a library of an executor is");
    }
    plugin->ops = entry();
    return plugin_check(plugin->ops, err);
}

/* --- init, load, execute, release ------------------------------------------------------------- */

static void plugin_unload(struct plugin *plugin)
{
    odb_plugin_view_dispose(&plugin->view);
    odb_model_free(plugin->model);
    free(plugin->feeds);
    free(plugin->input_of);
    free(plugin->output_of);
    plugin->model = NULL;
    plugin->graph = NULL;
    plugin->feeds = plugin->input_of = plugin->output_of = NULL;
}

static void plugin_free(struct plugin *plugin)
{
    plugin_unload(plugin);
    pthread_mutex_destroy(&plugin->lock);
    free(plugin->path);
    free(plugin);
}

static enum odb_status plugin_set_up(struct plugin *plugin, const struct odb_spec *spec,
                                     struct odb_error *err)
{
    const char **keys = odb_new_n(const char *, spec->n_options + 1);
    const char **values = odb_new_n(const char *, spec->n_options + 1);
    char *directory = getcwd(NULL, 0);
    struct onnxdbg_setup setup = {.library = plugin->path,
                                  .directory = directory ? directory : "/",
                                  .keys = keys,
                                  .values = values};
    for (size_t i = 0; i < spec->n_options; i++)
        if (!odb_spec_row(NULL, spec->options[i].key)) { /* the rest is the debugger's own */
            keys[setup.n_options] = spec->options[i].key;
            values[setup.n_options++] = spec->options[i].value;
        }
    plugin_begin(plugin, PLUGIN_INIT, err);
    int result = plugin->ops->init(&plugin->host, &setup, &plugin->self);
    free(keys);
    free(values);
    free(directory);
    return plugin_finish(plugin, "init", result);
}

static const struct odb_executor_option plugin_options[] = {
    {":", "LIB.so", NULL, "the library", true},
    {"*", "VALUE", NULL, "whatever the library takes", false},
    {NULL, NULL, NULL, NULL, false},
};

static enum odb_status plugin_look(const struct odb_spec *spec, struct odb_error *err)
{
    if (!spec->arg || access(spec->arg, R_OK) == 0)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "it cannot be opened: %s", strerror(errno));
    return odb_error_at(err, "%s", spec->arg);
}

static enum odb_status plugin_init(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    struct odb_error unasked;
    err = err ? err : &unasked;
    ODB_TRY(odb_spec_check(spec, plugin_options, err));
    struct plugin *plugin = odb_new(struct plugin);
    plugin->host = plugin_host;
    pthread_mutex_init(&plugin->lock, NULL);
    plugin->path = realpath(spec->arg, NULL); /* now: later we are in another directory */
    enum odb_status status;
    if (plugin->path)
        status = plugin_open(plugin, err);
    else
        status = odb_fail(err, ODB_E_USAGE, "it cannot be opened: %s", strerror(errno));
    if (status != ODB_OK)
        odb_error_at(err, "%s", spec->arg);
    if (status == ODB_OK)
        status = plugin_set_up(plugin, spec, err);
    if (status == ODB_OK)
        *self = plugin;
    else
        plugin_free(plugin);
    return status;
}

static void plugin_release(void *self)
{
    struct plugin *plugin = self;
    plugin->ops->release(plugin->self);
    plugin_free(plugin);
}

static const struct onnxdbg_value *const *plugin_ports(struct plugin *plugin, const int *list,
                                                       size_t n)
{
    const struct onnxdbg_value **ports = odb_new_n(const struct onnxdbg_value *, n + 1);
    for (size_t i = 0; i < n; i++)
        ports[i] = odb_plugin_view_value(&plugin->view, &plugin->model->graph->values[list[i]]);
    odb_push(&plugin->view.blocks, (void *)ports);
    return ports;
}

/* Where in the list each value of the graph stands; the caller frees it. */
static int *plugin_places(const struct odb_graph *graph, const int *list, size_t n)
{
    int *places = odb_new_n(int, graph->n_values + 1);
    for (size_t i = 0; i < graph->n_values; i++)
        places[i] = -1;
    for (size_t i = 0; i < n; i++)
        places[list[i]] = (int)i;
    return places;
}

static enum odb_status plugin_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    struct plugin *plugin = self;
    struct odb_error unasked;
    err = err ? err : &unasked;
    plugin_unload(plugin);
    ODB_TRY(odb_model_open_bytes(&plugin->model, load->bytes, load->size, load->keep, load->dir,
                                 "model", err));
    const struct odb_graph *graph = plugin->model->graph;
    plugin->feeds = odb_new_n(int, graph->n_inputs + 1);
    plugin->n_feeds = odb_graph_feeds(graph, plugin->feeds);
    plugin->input_of = plugin_places(graph, plugin->feeds, plugin->n_feeds);
    plugin->output_of = plugin_places(graph, graph->outputs, graph->n_outputs);
    struct onnxdbg_model model = {
        .bytes = load->bytes,
        .size = load->size,
        .directory = load->dir,
        .n_inputs = plugin->n_feeds,
        .n_outputs = graph->n_outputs,
        .inputs = plugin_ports(plugin, plugin->feeds, plugin->n_feeds),
        .outputs = plugin_ports(plugin, graph->outputs, graph->n_outputs),
    };
    plugin_begin(plugin, PLUGIN_LOAD, err);
    enum odb_status status =
        plugin_finish(plugin, "load_model", plugin->ops->load_model(plugin->self, &model));
    if (status != ODB_OK)
        plugin_unload(plugin);
    return status;
}

/* That t fits what the model says of the value. */
static enum odb_status plugin_check_input(const struct odb_value *value, const struct odb_tensor *t,
                                          struct odb_error *err)
{
    const struct odb_type *type = &value->type;
    char is[64], should[64], shape[128];
    if (!type->known)
        return ODB_OK;
    if (t->kind != type->kind || (t->dtype && type->dtype && t->dtype != type->dtype))
        return odb_fail(err, ODB_E_INPUT, "input '%s' is %s, and the model takes %s", value->name,
                        plugin_type_text(is, sizeof is, t->kind, t->dtype),
                        plugin_type_text(should, sizeof should, type->kind, type->dtype));
    bool fits = t->kind != ODB_TENSOR || type->rank < 0 || t->rank == type->rank;
    for (int d = 0; fits && t->kind == ODB_TENSOR && d < type->rank; d++)
        fits = type->dims[d].value < 0 || type->dims[d].value == t->dims[d];
    return fits ? ODB_OK
                : odb_fail(err, ODB_E_INPUT, "input '%s' has the shape %s, and the model takes %s",
                           value->name, odb_shape_text(t, shape, sizeof shape), type->shown);
}

static enum odb_status plugin_inputs(const struct plugin *plugin, const struct odb_named *inputs,
                                     size_t n, struct plugin_view *view,
                                     const struct onnxdbg_data **list, struct odb_error *err)
{
    const struct odb_graph *graph = plugin->model->graph;
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *value = odb_graph_value(graph, inputs[i].name);
        int at = value ? plugin->input_of[value->index] : -1;
        if (at < 0)
            return odb_fail(err, ODB_E_INPUT, "the model has no input '%s'", inputs[i].name);
        ODB_TRY(plugin_check_input(value, inputs[i].tensor, err));
        ODB_TRY(odb_plugin_view_data(view, inputs[i].tensor, &list[at], err));
    }
    for (size_t i = 0; i < plugin->n_feeds; i++) {
        const struct odb_value *value = &graph->values[plugin->feeds[i]];
        if (!list[i] && value->type.kind != ODB_OPTIONAL)
            return odb_fail(err, ODB_E_INPUT, "there is no value for the input '%s'", value->name);
    }
    return ODB_OK;
}

/* Which output of the model each name is. */
static enum odb_status plugin_wanted(const struct plugin *plugin, const char *const *names,
                                     size_t n, int *which, unsigned char *wanted,
                                     struct odb_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *value = odb_graph_value(plugin->model->graph, names[i]);
        which[i] = value ? plugin->output_of[value->index] : -1;
        if (which[i] < 0)
            return odb_fail(err, ODB_E_INPUT, "the model has no output '%s'", names[i]);
        wanted[which[i]] = 1;
    }
    return ODB_OK;
}

static enum odb_status plugin_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                      const char *const *names, size_t n_outputs,
                                      struct odb_tensor **outputs, struct odb_error *err)
{
    struct plugin *plugin = self;
    struct odb_error unasked;
    err = err ? err : &unasked;
    if (!plugin->model)
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    size_t has = plugin->model->graph->n_outputs;
    struct plugin_view view = {0};
    const struct onnxdbg_data **list = odb_new_n(const struct onnxdbg_data *, plugin->n_feeds + 1);
    unsigned char *wanted = odb_new_n(unsigned char, has + 1);
    int *which = odb_new_n(int, n_outputs + 1);
    struct onnxdbg_run run = {.inputs = list, .wanted = wanted};
    enum odb_status status;
    plugin->outputs = odb_new_n(struct odb_tensor *, has + 1);
    plugin->wanted = wanted;
    ODB_TRY_OUT(plugin_inputs(plugin, inputs, n_inputs, &view, list, err));
    ODB_TRY_OUT(plugin_wanted(plugin, names, n_outputs, which, wanted, err));
    plugin_begin(plugin, PLUGIN_EXECUTE, err);
    ODB_TRY_OUT(plugin_finish(plugin, "execute", plugin->ops->execute(plugin->self, &run)));
    for (size_t i = 0; i < n_outputs; i++) {
        outputs[i] = odb_tensor_ref(plugin->outputs[which[i]]);
        if (!outputs[i]) {
            status = odb_fail(err, ODB_E_EXECUTOR, "it gives no output '%s'", names[i]);
            odb_error_at(err, "%s", plugin->ops->name);
            goto out;
        }
    }
out:
    for (size_t i = 0; i < has; i++)
        odb_tensor_unref(plugin->outputs[i]);
    free(plugin->outputs);
    plugin->outputs = NULL;
    odb_plugin_view_dispose(&view);
    free(list);
    free(wanted);
    free(which);
    return status;
}

static void plugin_describe(void *self, char *text, size_t size)
{
    struct plugin *plugin = self;
    const char *said = plugin->ops->describe ? plugin->ops->describe(plugin->self) : NULL;
    snprintf(text, size, "%s", said && said[0] ? said : plugin->ops->name);
    for (char *p = text; *p; p++)
        if (iscntrl((unsigned char)*p))
            *p = ' ';
}

static enum odb_status plugin_account(void *self, struct odb_account *account,
                                      struct odb_error *err)
{
    struct plugin *plugin = self;
    if (!plugin->ops->account)
        return ODB_OK;
    struct odb_error unasked;
    plugin->account = account;
    plugin_begin(plugin, PLUGIN_ACCOUNT, err ? err : &unasked);
    return plugin_finish(plugin, "account", plugin->ops->account(plugin->self));
}

const struct odb_executor_ops odb_executor_plugin = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof(struct odb_executor_ops),
    .kind = "plugin",
    .options = plugin_options,
    .help = "an executor of your own from a shared library",
    .page = "onnxdbg-executor(7)",
    .look = plugin_look,
    .init = plugin_init,
    .load_model = plugin_load,
    .execute = plugin_execute,
    .release = plugin_release,
    .cancel = plugin_cancel,
    .describe = plugin_describe,
    .account = plugin_account,
};
