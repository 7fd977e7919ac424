/* SPDX-License-Identifier: MIT
 *
 * A model that onnx-mlir has compiled is a shared library with one C function per entry point: a
 * list of tensors in, a list of tensors out. Tensors and lists are opaque; the library brings the
 * functions that make, read and destroy them, and JSON texts that tell its inputs and outputs.
 *
 * What differs between versions since 2020:
 * - the entry point was _dyn_entry_point_main_graph until April 2021, then run_main_graph; with a
 *   model tag there is run_main_graph_TAG as well, and other names where there are several;
 * - signatures came in April 2021, for the only entry point at first: an argument that such a
 *   function does not take does no harm;
 * - the array given to omTensorListCreate() was borrowed by the list until March 2023 and is copied
 *   since: so it stays ours, and outlives the list;
 * - ranks and list sizes were int before they were int64_t;
 * - element types have the numbers of ONNX's TensorProto up to 19; from 20 on they have not.
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/onnx_mlir/onnx_mlir_int.h"

#define MLIR_ALIGN 64 /* of data handed in: what vectors could want */

/* What a library exports. Tensors and lists are void * here. */
struct mlir_api {
    void *(*tensor_create)(void *data, const int64_t *shape, int64_t rank, int type);
    void (*tensor_destroy)(void *tensor);
    void *(*tensor_data)(const void *tensor);
    const int64_t *(*tensor_shape)(const void *tensor);
    const int64_t *(*tensor_strides)(const void *tensor);
    int64_t (*tensor_rank)(const void *tensor);
    int (*tensor_type)(const void *tensor);
    void *(*list_create)(void **tensors, int64_t n);
    void (*list_destroy)(void *list);
    int64_t (*list_size)(const void *list);
    void *(*list_at)(const void *list, int64_t index);
    void *(*run)(void *list); /* the entry point */
};

static const struct mlir_symbol {
    const char *name, *before; /* before: its name in 2020, or NULL */
    size_t offset;
} mlir_symbols[] = {
    {"omTensorCreate", NULL, offsetof(struct mlir_api, tensor_create)},
    {"omTensorDestroy", NULL, offsetof(struct mlir_api, tensor_destroy)},
    {"omTensorGetDataPtr", NULL, offsetof(struct mlir_api, tensor_data)},
    {"omTensorGetShape", "omTensorGetDataShape", offsetof(struct mlir_api, tensor_shape)},
    {"omTensorGetStrides", NULL, offsetof(struct mlir_api, tensor_strides)},
    {"omTensorGetRank", NULL, offsetof(struct mlir_api, tensor_rank)},
    {"omTensorGetDataType", NULL, offsetof(struct mlir_api, tensor_type)},
    {"omTensorListCreate", NULL, offsetof(struct mlir_api, list_create)},
    {"omTensorListDestroy", NULL, offsetof(struct mlir_api, list_destroy)},
    {"omTensorListGetSize", NULL, offsetof(struct mlir_api, list_size)},
    {"omTensorListGetOmtByIndex", NULL, offsetof(struct mlir_api, list_at)},
};

struct odb_mlir_library {
    void *handle;
    struct mlir_api api;
    char *entry; /* owned */
    struct mlir_ports inputs, outputs;
    bool by_name; /* as the signatures name them; else in the model's order */
};

/* --- symbols --------------------------------------------------------------------------------- */

static void *mlir_find(const struct odb_mlir_library *library, const char *name)
{
    return dlsym(library->handle, name);
}

static enum odb_status mlir_bind(struct odb_mlir_library *library, struct odb_error *err)
{
    for (size_t i = 0; i < ODB_COUNT(mlir_symbols); i++) {
        const struct mlir_symbol *symbol = &mlir_symbols[i];
        void *address = mlir_find(library, symbol->name);
        if (!address && symbol->before)
            address = mlir_find(library, symbol->before);
        if (!address)
            return odb_fail(err, ODB_E_EXECUTOR, "the compiled model exports no %s()",
                            symbol->name);
        memcpy((char *)&library->api + symbol->offset, &address, sizeof address);
    }
    return ODB_OK;
}

/* Names of the library's entry points, ended by NULL; NULL: it does not tell. */
static const char *const *mlir_entries(const struct odb_mlir_library *library)
{
    const char *const *(*query)(int64_t *);
    int64_t n = 0;
    void *address = mlir_find(library, "omQueryEntryPoints");
    memcpy(&query, &address, sizeof query);
    return address ? query(&n) : NULL;
}

static enum odb_status mlir_no_entry(const struct odb_mlir_library *library, const char *asked,
                                     struct odb_error *err)
{
    const char *const *names = mlir_entries(library);
    struct odb_buf list = ODB_BUF_INIT;
    for (size_t i = 0; names && names[i]; i++) {
        odb_buf_puts(&list, i ? ", " : "");
        odb_buf_put_shown(&list, names[i]);
    }
    if (asked)
        odb_fail(err, ODB_E_USAGE, "the compiled model has no entry point '%s'", asked);
    else
        odb_fail(err, ODB_E_EXECUTOR, "the compiled model has no entry point run_main_graph");
    if (list.len)
        odb_error_remedy(err, "name one with entry=NAME: it has %s", odb_buf_text(&list));
    odb_buf_dispose(&list);
    return err->code;
}

static enum odb_status mlir_choose(struct odb_mlir_library *library, const char *asked,
                                   struct odb_error *err)
{
    const char *usual[] = {"run_main_graph", "_dyn_entry_point_main_graph", NULL};
    const char *const *told = asked ? NULL : mlir_entries(library);
    const char *name = asked;
    if (told && told[0] && !told[1]) /* the only one, whatever it is called */
        usual[2] = told[0];
    for (size_t i = 0; i < ODB_COUNT(usual) && !name; i++)
        if (usual[i] && mlir_find(library, usual[i]))
            name = usual[i];
    void *address = name ? mlir_find(library, name) : NULL;
    if (!address)
        return mlir_no_entry(library, asked, err);
    memcpy(&library->api.run, &address, sizeof address);
    library->entry = odb_xstrdup(name);
    return ODB_OK;
}

/* --- signatures ------------------------------------------------------------------------------ */

static enum odb_dtype mlir_dtype(const char *name)
{
    static const struct {
        const char *name;
        enum odb_dtype dtype;
    } types[] = {
        {"i1", ODB_BOOL},   {"i8", ODB_I8},   {"i16", ODB_I16},  {"i32", ODB_I32},
        {"i64", ODB_I64},   {"ui8", ODB_U8},  {"ui16", ODB_U16}, {"ui32", ODB_U32},
        {"ui64", ODB_U64},  {"f16", ODB_F16}, {"f32", ODB_F32},  {"f64", ODB_F64},
        {"bf16", ODB_BF16},
    };
    for (size_t i = 0; name && i < ODB_COUNT(types); i++)
        if (!strcmp(types[i].name, name))
            return types[i].dtype;
    return ODB_UNDEFINED;
}

/* The signature that a function of the library gives for the entry point; NULL: there is none. */
static const char *mlir_signature(const struct odb_mlir_library *library, const char *function)
{
    const char *(*signature)(const char *entry);
    void *address = mlir_find(library, function);
    memcpy(&signature, &address, sizeof signature);
    return address ? signature(library->entry) : NULL;
}

/* NULL where it is no JSON, as when a name in it holds a quote, or for some types. */
static json_t *mlir_signature_list(const char *text)
{
    json_t *list = text ? json_loads(text, 0, NULL) : NULL;
    if (json_is_array(list))
        return list;
    json_decref(list);
    return NULL;
}

/* Type and shape of a port, as the signature tells them. No dimensions: a scalar, or no rank. */
static void mlir_read_port(struct mlir_port *port, const json_t *told)
{
    const json_t *dims = json_object_get(told, "dims");
    size_t rank = json_array_size(dims);
    port->dtype = mlir_dtype(json_string_value(json_object_get(told, "type")));
    if (rank == 0 || rank > ODB_MAX_RANK)
        return;
    port->rank = (int)rank;
    for (size_t d = 0; d < rank; d++)
        port->dims[d] = json_integer_value(json_array_get(dims, d));
}

/* Where each name stands in the signature; false when it does not name each once. */
static bool mlir_places(const json_t *list, const char *const *names, size_t n, size_t *place)
{
    for (size_t i = 0; i < n; i++) {
        size_t found = 0;
        for (size_t k = 0; k < n; k++) {
            const char *told = json_string_value(json_object_get(json_array_get(list, k), "name"));
            if (told && !strcmp(told, names[i])) {
                place[i] = k;
                found++;
            }
        }
        if (found != 1)
            return false;
    }
    return true;
}

enum odb_status mlir_ports_read(struct mlir_ports *ports, bool *by_name, const char *text,
                                const char *what, const char *const *names, size_t n,
                                struct odb_error *err)
{
    json_t *list = mlir_signature_list(text);
    if (list && json_array_size(list) != n) {
        odb_fail(err, ODB_E_EXECUTOR, "the compiled model has %zu %s, and the model %zu",
                 json_array_size(list), what, n);
        json_decref(list);
        return ODB_E_EXECUTOR;
    }
    size_t *place = odb_new_n(size_t, n + 1);
    if (!list || !mlir_places(list, names, n, place)) {
        *by_name = false;
        for (size_t i = 0; i < n; i++)
            place[i] = i;
    }
    ports->items = odb_new_n(struct mlir_port, n + 1);
    ports->n = n;
    for (size_t i = 0; i < n; i++) {
        struct mlir_port *port = &ports->items[place[i]];
        port->name = odb_xstrdup(names[i]);
        port->rank = -1;
        mlir_read_port(port, json_array_get(list, place[i]));
    }
    free(place);
    json_decref(list);
    return ODB_OK;
}

static enum odb_status mlir_map_all(struct odb_mlir_library *library, const struct odb_graph *graph,
                                    struct odb_error *err)
{
    const char **in = odb_new_n(const char *, graph->n_inputs + 1);
    const char **out = odb_new_n(const char *, graph->n_outputs + 1);
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    size_t n_in = odb_graph_feeds(graph, feeds);
    enum odb_status status;
    for (size_t i = 0; i < n_in; i++)
        in[i] = graph->values[feeds[i]].name;
    for (size_t i = 0; i < graph->n_outputs; i++)
        out[i] = graph->values[graph->outputs[i]].name;
    library->by_name = true;
    ODB_TRY_OUT(mlir_ports_read(&library->inputs, &library->by_name,
                                mlir_signature(library, "omInputSignature"), "inputs", in, n_in,
                                err));
    ODB_TRY_OUT(mlir_ports_read(&library->outputs, &library->by_name,
                                mlir_signature(library, "omOutputSignature"), "outputs", out,
                                graph->n_outputs, err));
out:
    free(in);
    free(out);
    free(feeds);
    return status;
}

/* --- opening --------------------------------------------------------------------------------- */

enum odb_status odb_mlir_library_open(struct odb_mlir_library **out, const char *dir,
                                      const char *entry, const struct odb_graph *graph,
                                      struct odb_error *err)
{
    struct odb_mlir_library *library = odb_new(struct odb_mlir_library);
    char *path = odb_xasprintf("%s/" ODB_MLIR_LIBRARY, dir);
    enum odb_status status;
    setenv("OM_CONSTANT_PATH", dir, 1); /* read when it is loaded, or when it first runs */
    library->handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    free(path);
    if (!library->handle) {
        status = odb_fail(err, ODB_E_IO, "the compiled model cannot be loaded: %s", dlerror());
        goto out;
    }
    ODB_TRY_OUT(mlir_bind(library, err));
    ODB_TRY_OUT(mlir_choose(library, entry, err));
    ODB_TRY_OUT(mlir_map_all(library, graph, err));
    *out = library;
    return ODB_OK;
out:
    odb_mlir_library_close(library);
    return status;
}

void mlir_ports_dispose(struct mlir_ports *ports)
{
    for (size_t i = 0; i < ports->n; i++)
        free(ports->items[i].name);
    free(ports->items);
}

void odb_mlir_library_close(struct odb_mlir_library *library)
{
    if (!library)
        return;
    mlir_ports_dispose(&library->inputs);
    mlir_ports_dispose(&library->outputs);
    if (library->handle)
        dlclose(library->handle);
    free(library->entry);
    free(library);
}

const char *odb_mlir_library_text(const struct odb_mlir_library *library, char *buf, size_t size)
{
    snprintf(buf, size, "%s, inputs and outputs %s", library->entry,
             library->by_name ? "by name" : "in the model's order");
    return buf;
}

/* --- running --------------------------------------------------------------------------------- */

static const struct mlir_port *mlir_port(const struct mlir_ports *ports, const char *name)
{
    for (size_t i = 0; i < ports->n; i++)
        if (!strcmp(ports->items[i].name, name))
            return &ports->items[i];
    return NULL;
}

/* Whether tensors of that type can go through the interface. */
static bool mlir_can_pass(int type)
{
    return type > ODB_UNDEFINED && type <= ODB_F8E5M2 && type != ODB_STRING;
}

/* Compiled code trusts the shapes it was compiled for, and most versions do not check. */
static enum odb_status mlir_check_input(const struct mlir_port *port, const struct odb_tensor *t,
                                        struct odb_error *err)
{
    char text[256];
    if (t->kind != ODB_TENSOR || !mlir_can_pass(t->dtype))
        return odb_fail(err, ODB_UNSUPPORTED, "onnx-mlir takes no %s: input '%s'",
                        t->kind == ODB_TENSOR ? odb_dtype_info(t->dtype)->name : "such value",
                        port->name);
    bool same = port->rank < 0 || port->rank == t->rank;
    for (int d = 0; d < port->rank && same; d++)
        same = port->dims[d] < 0 || port->dims[d] == t->dims[d];
    if (!same)
        return odb_fail(err, ODB_E_INPUT, "the model was not compiled for the shape %s of '%s'",
                        odb_shape_text(t, text, sizeof text), port->name);
    if (port->dtype != ODB_UNDEFINED && port->dtype != t->dtype)
        return odb_fail(err, ODB_E_INPUT, "the model was compiled for %s in '%s', not %s",
                        odb_dtype_info(port->dtype)->name, port->name,
                        odb_dtype_info(t->dtype)->name);
    return ODB_OK;
}

/* A copy of the data where it is not aligned, else NULL. */
static enum odb_status mlir_align(const struct odb_tensor *t, void **copy, struct odb_error *err)
{
    *copy = NULL;
    if (t->bytes == 0 || (uintptr_t)t->data % MLIR_ALIGN == 0)
        return ODB_OK;
    if (posix_memalign(copy, MLIR_ALIGN, t->bytes) != 0)
        return odb_fail(err, ODB_E_NOMEM, "no memory for an input of %zu bytes", t->bytes);
    memcpy(*copy, t->data, t->bytes);
    return ODB_OK;
}

/* The library's list of inputs: tensors that view ours. */
struct mlir_call {
    void **tensors; /* owned array; its elements belong to list once there is one */
    void **copies;  /* owned */
    size_t n;
    void *list;
};

static void mlir_call_dispose(const struct mlir_api *api, struct mlir_call *call)
{
    if (call->list)
        api->list_destroy(call->list);
    for (size_t i = 0; i < call->n; i++) {
        if (!call->list && call->tensors[i])
            api->tensor_destroy(call->tensors[i]);
        free(call->copies[i]);
    }
    free(call->tensors);
    free(call->copies);
}

static enum odb_status mlir_call_make(const struct odb_mlir_library *library,
                                      const struct odb_named *inputs, size_t n_inputs,
                                      struct mlir_call *call, struct odb_error *err)
{
    const struct mlir_api *api = &library->api;
    const struct mlir_ports *ports = &library->inputs;
    call->n = ports->n;
    call->tensors = odb_new_n(void *, ports->n + 1);
    call->copies = odb_new_n(void *, ports->n + 1);
    for (size_t i = 0; i < n_inputs; i++) {
        const struct odb_tensor *t = inputs[i].tensor;
        const struct mlir_port *port = mlir_port(ports, inputs[i].name);
        if (!port)
            return odb_fail(err, ODB_E_INPUT, "the model has no input '%s'", inputs[i].name);
        size_t at = (size_t)(port - ports->items);
        if (call->tensors[at])
            return odb_fail(err, ODB_E_INPUT, "the input '%s' is given twice", inputs[i].name);
        ODB_TRY(mlir_check_input(port, t, err));
        ODB_TRY(mlir_align(t, &call->copies[at], err));
        void *data = call->copies[at] ? call->copies[at] : t->data;
        call->tensors[at] = api->tensor_create(data, t->dims, t->rank, t->dtype);
        if (!call->tensors[at])
            return odb_fail(err, ODB_E_NOMEM, "omTensorCreate() made no tensor for '%s'",
                            inputs[i].name);
    }
    for (size_t i = 0; i < ports->n; i++)
        if (!call->tensors[i])
            return odb_fail(err, ODB_E_INPUT, "there is no value for the input '%s'",
                            ports->items[i].name);
    call->list = api->list_create(call->tensors, (int64_t)ports->n);
    return call->list ? ODB_OK : odb_fail(err, ODB_E_NOMEM, "omTensorListCreate() made no list");
}

/* Copies elements that may lie apart: strides count elements. */
static void mlir_gather(struct odb_tensor *t, const char *data, const int64_t *strides)
{
    size_t item = odb_dtype_info(t->dtype)->bits / 8;
    int64_t dense = 1, index[ODB_MAX_RANK] = {0}, at = 0;
    bool together = true;
    for (int d = t->rank - 1; d >= 0; d--) {
        together = together && (t->dims[d] == 1 || strides[d] == dense);
        dense *= t->dims[d];
    }
    if (together) {
        memcpy(t->data, data, t->bytes);
        return;
    }
    for (size_t i = 0; i < t->count; i++) {
        memcpy((char *)t->data + i * item, data + at * (int64_t)item, item);
        for (int d = t->rank - 1; d >= 0; d--) {
            at += strides[d];
            if (++index[d] < t->dims[d])
                break;
            at -= strides[d] * t->dims[d];
            index[d] = 0;
        }
    }
}

static enum odb_status mlir_take_output(const struct mlir_api *api, const void *tensor,
                                        struct odb_tensor **out, struct odb_error *err)
{
    int type = tensor ? api->tensor_type(tensor) : 0;
    int rank = tensor ? (int32_t)api->tensor_rank(tensor) : 0;
    if (!tensor)
        return odb_fail(err, ODB_E_EXECUTOR, "the compiled model gave none");
    if (!mlir_can_pass(type))
        return odb_fail(err, ODB_UNSUPPORTED, "onnx-mlir's element type %d is not read", type);
    if (rank < 0 || rank > ODB_MAX_RANK)
        return odb_fail(err, ODB_E_EXECUTOR, "the compiled model says it has rank %d", rank);
    const void *data = api->tensor_data(tensor);
    ODB_TRY(odb_tensor_new(out, (enum odb_dtype)type, rank, api->tensor_shape(tensor), err));
    struct odb_tensor *t = *out;
    if (t->count > 0 && !data) {
        odb_tensor_unref(t);
        *out = NULL;
        return odb_fail(err, ODB_E_EXECUTOR, "the compiled model gave no data");
    }
    if (t->count > 0)
        mlir_gather(t, data, api->tensor_strides(tensor));
    for (size_t i = 0; type == ODB_BOOL && i < t->count; i++)
        ((uint8_t *)t->data)[i] = ((uint8_t *)t->data)[i] != 0;
    return ODB_OK;
}

static enum odb_status mlir_take_outputs(const struct odb_mlir_library *library, const void *list,
                                         const char *const *names, size_t n,
                                         struct odb_tensor **outputs, struct odb_error *err)
{
    const struct mlir_api *api = &library->api;
    int size = (int32_t)api->list_size(list);
    if (size != (int)library->outputs.n)
        return odb_fail(err, ODB_E_EXECUTOR, "%s() gave %d outputs, and the model has %zu",
                        library->entry, size, library->outputs.n);
    for (size_t i = 0; i < n; i++) {
        const struct mlir_port *port = mlir_port(&library->outputs, names[i]);
        const void *tensor = api->list_at(list, port - library->outputs.items);
        if (mlir_take_output(api, tensor, &outputs[i], err) != ODB_OK)
            return odb_error_at(err, "output '%s'", names[i]);
    }
    return ODB_OK;
}

enum odb_status odb_mlir_library_run(const struct odb_mlir_library *library,
                                     const struct odb_named *inputs, size_t n_inputs,
                                     const char *const *names, size_t n_outputs,
                                     struct odb_tensor **outputs, struct odb_error *err)
{
    struct mlir_call call = {0};
    void *list = NULL;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n_outputs; i++)
        if (!mlir_port(&library->outputs, names[i]))
            return odb_fail(err, ODB_E_INPUT, "the model has no output '%s'", names[i]);
    ODB_TRY_OUT(mlir_call_make(library, inputs, n_inputs, &call, err));
    errno = 0;
    list = library->api.run(call.list);
    if (!list) {
        int why = errno;
        status = odb_fail(err, ODB_E_EXECUTOR, "%s() failed: %s (errno %d)", library->entry,
                          why ? strerror(why) : "it gave no reason", why);
        goto out;
    }
    ODB_TRY_OUT(mlir_take_outputs(library, list, names, n_outputs, outputs, err));
out: /* outputs may view inputs, which therefore go last */
    if (list)
        library->api.list_destroy(list);
    mlir_call_dispose(&library->api, &call);
    return status;
}
