/* SPDX-License-Identifier: MIT
 *
 * From a file to a model:
 *
 *     map the file -> messages (wire.c) -> values and nodes (values.c, attrs.c)
 *                                                     -> topological order (order.c)
 *
 * Everything but tensors lives in one arena and dies with the model. Tensors view the map, which
 * they hold by reference, so a tensor may outlive the model.
 */
#include "model/read/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/sha256.h"
#include "model/files.h"
#include "model/limits.h"
#include "model/read/load_int.h"
#include "model/read/wire.h"
#include "model/read/pb.h"

#define LOAD_EXPLAINED ((size_t)64 << 20) /* bytes of a file that may be something else */

/* Files that people open instead of the model, known by their first bytes. */
static const struct {
    const char *magic;
    size_t offset;
    const char *what, *remedy;
} other_files[] = {
    {"version https://git-lfs", 0, "a Git LFS pointer, not the file itself",
     "fetch it with `git lfs pull`"},
    {"ORTM", 4, "a model in ONNX Runtime's own format (.ort)", "use the .onnx it was made from"},
    {"TFL3", 4, "a TensorFlow Lite model", "convert it with tf2onnx"},
    {"PK\x03\x04", 0, "a zip archive: perhaps a PyTorch checkpoint, or a zipped model",
     "unzip it, or export it to ONNX"},
    {"\x1f\x8b", 0, "compressed with gzip", "unpack it first"},
    {"\x28\xb5\x2f\xfd", 0, "compressed with zstd", "unpack it first"},
    {"\x89HDF\r\n", 0, "an HDF5 file: perhaps a Keras model", "export it to ONNX"},
    {"\x93NUMPY", 0, "a NumPy array, not a model", ""},
    {"GGUF", 0, "a GGUF file, not an ONNX model", ""},
    {"\177ELF", 0, "a program or a shared library, not a model", ""},
};

/* Long enough to tell text from a damaged model. */
static bool load_looks_like_text(const unsigned char *data, size_t size)
{
    size_t n = ODB_MIN(size, (size_t)512);
    for (size_t i = 0; i < n; i++)
        if ((data[i] < ' ' && !strchr("\t\n\r\f", data[i])) || data[i] == 0x7f || !data[i])
            return false;
    return n > 0;
}

/* As the inputs and outputs of test data are. A damaged model of gigabytes is not copied for it. */
static bool load_is_tensor(const struct model_bytes *bytes)
{
    struct odb_tensor *tensor;
    if (bytes->size > LOAD_EXPLAINED ||
        odb_pb_decode(&tensor, ODB_TENSOR, bytes->data, bytes->size, NULL) != ODB_OK)
        return false;
    odb_tensor_unref(tensor);
    return true;
}

/* No model could be read: says what the file seems to be, where that is better than what err says
 * already. */
static enum odb_status load_explain(const struct model_bytes *bytes, struct odb_error *err)
{
    if (!bytes->size) {
        odb_fail(err, ODB_E_MODEL, "the file is empty");
        return ODB_E_MODEL;
    }
    for (size_t i = 0; i < ODB_COUNT(other_files); i++) {
        size_t n = strlen(other_files[i].magic), at = other_files[i].offset;
        if (bytes->size >= at + n && !memcmp(bytes->data + at, other_files[i].magic, n)) {
            odb_fail(err, ODB_E_MODEL, "not an ONNX model: %s", other_files[i].what);
            odb_error_remedy(err, "%s", other_files[i].remedy);
            return ODB_E_MODEL;
        }
    }
    if (load_looks_like_text(bytes->data, bytes->size))
        return odb_fail(err, ODB_E_MODEL, "not an ONNX model: the file holds text");
    if (load_is_tensor(bytes)) {
        odb_fail(err, ODB_E_MODEL, "not an ONNX model: a single tensor");
        odb_error_remedy(err, "`onnxdbg tensor FILE` shows it");
        return ODB_E_MODEL;
    }
    return err ? err->code : ODB_E_MODEL;
}

/* --- parts of a model ------------------------------------------------------------------------- */

const char *odb_model__domain(const char *domain)
{
    return strcmp(domain, "ai.onnx") ? domain : "";
}

int odb_model__opset_of(const struct opset_scope *opsets, const char *domain)
{
    int64_t version = 0; /* of several imports of a domain the highest counts */
    for (size_t i = 0; i < opsets->n; i++)
        if (!strcmp(opsets->items[i].domain, domain))
            version = ODB_MAX(version, opsets->items[i].version);
    return (int)ODB_MIN(version, INT32_MAX);
}

const char *odb_model__node_place(const Onnx__NodeProto *node, size_t index, char *buf, size_t size)
{
    if (node->name && *node->name)
        snprintf(buf, size, "node %.100s (%.40s)", node->name, text_of(node->op_type));
    else
        snprintf(buf, size, "node #%zu (%.40s)", index, text_of(node->op_type));
    return buf;
}

enum odb_status odb_model__keep_tensor(struct odb_tensor **out, struct odb_model *model,
                                       const Onnx__TensorProto *dense,
                                       const Onnx__SparseTensorProto *sparse, struct odb_error *err)
{
    struct model_int *priv = model->priv;
    *out = NULL;
    if (dense)
        ODB_TRY(odb_model__tensor_of(out, dense, priv->file, priv->files, err));
    else
        ODB_TRY(odb_model__sparse_of(out, sparse, priv->file, priv->files, err));
    odb_push(&priv->tensors, *out);
    return ODB_OK;
}

/* Every node looks its own up among all of them. */
static enum odb_status load_opsets(struct opset_scope *out, struct model_arena *arena,
                                   Onnx__OperatorSetIdProto *const *protos, size_t n,
                                   struct odb_error *err)
{
    if (n > ODB_LIMIT_OPSETS)
        return odb_fail(err, ODB_E_MODEL, "imports %zu opsets, and %d are allowed", n,
                        ODB_LIMIT_OPSETS);
    struct odb_opset *items = arena_new_n(arena, struct odb_opset, n);
    for (size_t i = 0; i < n; i++)
        items[i] =
            (struct odb_opset){odb_model__domain(text_of(protos[i]->domain)), protos[i]->version};
    *out = (struct opset_scope){items, n};
    return ODB_OK;
}

struct odb_metadata odb_model__metadata(struct model_arena *arena,
                                        Onnx__StringStringEntryProto *const *entries, size_t n)
{
    struct odb_metadata metadata = {.n = n};
    if (n)
        metadata.items = odb_model__arena_alloc(arena, n, sizeof *metadata.items);
    for (size_t i = 0; i < n; i++) {
        metadata.items[i][0] = text_of(entries[i]->key);
        metadata.items[i][1] = text_of(entries[i]->value);
    }
    return metadata;
}

static enum odb_status load_header(struct odb_model *model, struct odb_error *err)
{
    const Onnx__ModelProto *proto = model->priv->proto;
    struct model_arena *arena = model->priv->arena;
    model->ir_version = proto->ir_version;
    model->producer_name = text_of(proto->producer_name);
    model->producer_version = text_of(proto->producer_version);
    model->domain = text_of(proto->domain);
    model->doc = text_of(proto->doc_string);
    model->model_version = proto->model_version;
    struct opset_scope opsets;
    ODB_TRY(load_opsets(&opsets, arena, proto->opset_import, proto->n_opset_import, err));
    if (!opsets.n && model->ir_version < 3) { /* before imports there was one opset */
        struct odb_opset *first = arena_new(arena, struct odb_opset);
        *first = (struct odb_opset){"", 1};
        opsets = (struct opset_scope){first, 1};
    }
    model->opsets = (struct odb_opset *)opsets.items;
    model->n_opsets = opsets.n;
    model->metadata = odb_model__metadata(arena, proto->metadata_props, proto->n_metadata_props);
    return ODB_OK;
}

/* --- functions -------------------------------------------------------------------------------- */

/* Names first: functions call each other in any order. */
static enum odb_status load_function_names(struct odb_model *model, struct odb_error *err)
{
    const Onnx__ModelProto *proto = model->priv->proto;
    model->n_functions = proto->n_functions;
    model->functions = arena_new_n(model->priv->arena, struct odb_function, proto->n_functions);
    model->priv->functions = odb_map_new();
    for (size_t i = 0; i < proto->n_functions; i++) {
        const Onnx__FunctionProto *p = proto->functions[i];
        struct odb_function *f = &model->functions[i];
        f->domain = odb_model__domain(text_of(p->domain));
        f->name = text_of(p->name);
        f->overload = text_of(p->overload);
        f->inputs = (const char *const *)p->input;
        f->n_inputs = p->n_input;
        f->outputs = (const char *const *)p->output;
        f->n_outputs = p->n_output;
        f->attr_names = (const char *const *)p->attribute;
        f->n_attr_names = p->n_attribute;
        char *key = odb_xasprintf("%s::%s:%s", f->domain, f->name, f->overload);
        bool added = odb_map_add(model->priv->functions, key, i);
        free(key);
        if (!added)
            return odb_fail(err, ODB_E_MODEL, "function %s is defined twice", f->name);
    }
    return ODB_OK;
}

static Onnx__ValueInfoProto **load_formals(struct model_arena *arena, char *const *names, size_t n,
                                           const Onnx__FunctionProto *p)
{
    Onnx__ValueInfoProto **infos = arena_new_n(arena, Onnx__ValueInfoProto *, n);
    struct odb_map *declared = odb_map_new();
    for (size_t k = 0; k < p->n_value_info; k++)
        odb_map_set(declared, text_of(p->value_info[k]->name), k);
    for (size_t i = 0, k; i < n; i++) {
        infos[i] = arena_new(arena, Onnx__ValueInfoProto);
        onnx__value_info_proto__init(infos[i]);
        infos[i]->name = names[i];
        if (odb_map_get(declared, names[i], &k))
            infos[i]->type = p->value_info[k]->type;
    }
    odb_map_free(declared);
    return infos;
}

/* A function's body is read as the graph that it is. */
static enum odb_status load_function(struct odb_model *model, size_t i, struct odb_error *err)
{
    struct model_arena *arena = model->priv->arena;
    const Onnx__FunctionProto *p = model->priv->proto->functions[i];
    struct odb_function *f = &model->functions[i];
    Onnx__GraphProto *body = arena_new(arena, Onnx__GraphProto);
    onnx__graph_proto__init(body);
    body->name = p->name;
    body->n_node = p->n_node;
    body->node = p->node;
    body->n_input = p->n_input;
    body->input = load_formals(arena, p->input, p->n_input, p);
    body->n_output = p->n_output;
    body->output = load_formals(arena, p->output, p->n_output, p);
    body->n_value_info = p->n_value_info;
    body->value_info = p->value_info;
    struct opset_scope opsets;
    if (load_opsets(&opsets, arena, p->opset_import, p->n_opset_import, err) != ODB_OK)
        return odb_error_at(err, "function %s", f->name);
    if (!opsets.n) /* it must import what it uses; some writers leave it to the model */
        opsets = (struct opset_scope){model->opsets, model->n_opsets};
    enum odb_status status = odb_model__graph(&f->graph, model, body, NULL, &opsets, err);
    if (status == ODB_OK)
        status = odb_model__attrs(&f->defaults, model, p->attribute_proto, p->n_attribute_proto,
                                  NULL, &opsets, err);
    if (status != ODB_OK)
        odb_error_at(err, "function %s", f->name);
    return status;
}

struct call_walk {
    const struct odb_model *model;
    unsigned char *state; /* by function: 0 not seen, 1 being walked, 2 done */
    int depth;
};

static enum odb_status load_check_calls(struct call_walk *walk, const struct odb_graph *graph,
                                        struct odb_error *err);

static enum odb_status load_check_call(struct call_walk *walk, const struct odb_function *f,
                                       struct odb_error *err)
{
    unsigned char *state = &walk->state[f - walk->model->functions];
    if (*state == 1)
        return odb_fail(err, ODB_E_MODEL, "function %s calls itself", f->name);
    if (*state == 2)
        return ODB_OK;
    if (walk->depth == ODB_LIMIT_CALLS)
        return odb_fail(err, ODB_E_MODEL, "functions call each other more than %d deep",
                        (int)ODB_LIMIT_CALLS);
    *state = 1;
    walk->depth++;
    ODB_TRY(load_check_calls(walk, f->graph, err));
    walk->depth--;
    *state = 2;
    return ODB_OK;
}

/* A function must not come back to itself: a run of it would never end. */
static enum odb_status load_check_calls(struct call_walk *walk, const struct odb_graph *graph,
                                        struct odb_error *err)
{
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        if (node->function)
            ODB_TRY(load_check_call(walk, node->function, err));
        for (size_t a = 0; a < node->attrs.n; a++)
            if (node->attrs.items[a].graphs)
                for (size_t g = 0; g < node->attrs.items[a].n; g++)
                    ODB_TRY(load_check_calls(walk, node->attrs.items[a].graphs[g], err));
    }
    return ODB_OK;
}

static enum odb_status load_functions(struct odb_model *model, struct odb_error *err)
{
    ODB_TRY(load_function_names(model, err));
    for (size_t i = 0; i < model->n_functions; i++)
        ODB_TRY(load_function(model, i, err));
    struct call_walk walk = {model, odb_new_n(unsigned char, model->n_functions), 0};
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < model->n_functions && status == ODB_OK; i++)
        status = load_check_call(&walk, &model->functions[i], err);
    free(walk.state);
    return status;
}

/* Nodes of a graph, its bodies and what it calls, as a run meets them: functions that call another
 * twice, which does the same, are few in a file and have no end. sizes: by function, 0 not counted
 * yet; none calls itself. */
static size_t load_expanded(const struct odb_model *model, const struct odb_graph *graph,
                            size_t *sizes)
{
    size_t most = model->graph->n_nodes + ODB_LIMIT_EXPANDED, total = graph->n_nodes;
    for (size_t n = 0; n < graph->n_nodes && total <= most; n++) {
        const struct odb_node *node = &graph->nodes[n];
        if (node->function) {
            size_t *size = &sizes[node->function - model->functions];
            if (!*size)
                *size = 1 + load_expanded(model, node->function->graph, sizes);
            total += *size;
        }
        for (size_t a = 0; a < node->attrs.n; a++)
            if (node->attrs.items[a].graphs)
                for (size_t g = 0; g < node->attrs.items[a].n; g++)
                    total += load_expanded(model, node->attrs.items[a].graphs[g], sizes);
    }
    return ODB_MIN(total, most + 1);
}

static enum odb_status load_check_expanded(const struct odb_model *model, struct odb_error *err)
{
    size_t *sizes = odb_new_n(size_t, model->n_functions + 1);
    size_t total = load_expanded(model, model->graph, sizes);
    free(sizes);
    if (total <= model->graph->n_nodes + ODB_LIMIT_EXPANDED)
        return ODB_OK;
    return odb_fail(err, ODB_E_MODEL,
                    "its functions call each other so often that there are more "
                    "than %d nodes to run beside its own",
                    (int)ODB_LIMIT_EXPANDED);
}

/* --- opening ---------------------------------------------------------------------------------- */

static enum odb_status load_model(struct odb_model *model, const struct model_bytes *bytes,
                                  struct odb_error *err)
{
    struct model_int *priv = model->priv;
    ProtobufCMessage *message = NULL;
    enum odb_status status = odb_model__unpack(&message, &onnx__model_proto__descriptor,
                                               bytes->data, bytes->size, priv->arena, err);
    if (status == ODB_E_NOMEM)
        return status;
    if (status != ODB_OK)
        return load_explain(bytes, err);
    priv->proto = (const Onnx__ModelProto *)message;
    if (!priv->proto->graph) {
        odb_fail(err, ODB_E_MODEL, "there is no graph in it");
        return load_explain(bytes, err);
    }
    ODB_TRY(load_header(model, err));
    ODB_TRY(load_functions(model, err));
    struct opset_scope opsets = {model->opsets, model->n_opsets};
    ODB_TRY(odb_model__graph(&model->graph, model, priv->proto->graph, NULL, &opsets, err));
    return load_check_expanded(model, err);
}

/* Takes a ref on bytes->storage. */
static enum odb_status load_open(struct odb_model **out, const struct model_bytes *bytes,
                                 const char *path, const char *dir, const char *name,
                                 enum odb_links links, struct odb_error *err)
{
    struct odb_model *model = odb_new(struct odb_model);
    struct model_int *priv = model->priv = odb_new(struct model_int);
    model->path = odb_xstrdup(path);
    model->dir = odb_xstrdup(dir);
    model->file_bytes = bytes->size;
    priv->file = odb_storage_ref(bytes->storage);
    priv->file_data = bytes->data;
    priv->file_size = bytes->size;
    priv->arena = odb_model__arena_new();
    priv->files = odb_model__files_new(dir, path, links, *path != '\0');
    pthread_mutex_init(&priv->sha256_lock, NULL);
    enum odb_status status = load_model(model, bytes, err);
    model->links = links;
    model->base = odb_model__files_base(priv->files);
    if (status != ODB_OK) {
        odb_error_at(err, "%s", name);
        odb_model_free(model);
        return status;
    }
    *out = model;
    return ODB_OK;
}

enum odb_status odb_model_open(struct odb_model **out, const char *path, struct odb_error *err)
{
    return odb_model_open_linked(out, path, ODB_LINKS_NEAR, err);
}

enum odb_status odb_model_open_linked(struct odb_model **out, const char *path,
                                      enum odb_links links, struct odb_error *err)
{
    struct model_bytes bytes;
    ODB_TRY(odb_model__map_file(&bytes, path, err));
    const char *slash = strrchr(path, '/');
    size_t n = !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
    char *dir = n ? odb_xstrndup(path, n) : odb_xstrdup(".");
    enum odb_status status = load_open(out, &bytes, path, dir, path, links, err);
    free(dir);
    odb_storage_unref(bytes.storage);
    return status;
}

struct copy_storage {
    struct odb_storage storage;
    unsigned char data[];
};

static void load_copy_release(struct odb_storage *storage)
{
    free(storage);
}

enum odb_status odb_model_open_bytes(struct odb_model **out, const void *bytes, size_t size,
                                     struct odb_storage *keep, const char *dir, const char *name,
                                     struct odb_error *err)
{
    if (keep) {
        struct model_bytes kept = {keep, bytes, size};
        return load_open(out, &kept, "", dir, name, ODB_LINKS_NEAR, err);
    }
    struct copy_storage *copy = size < SIZE_MAX / 2 ? malloc(sizeof *copy + size) : NULL;
    if (!copy)
        return odb_fail(err, ODB_E_NOMEM, "%s: no memory for a copy of %zu bytes", name, size);
    atomic_init(&copy->storage.refs, 1);
    copy->storage.release = load_copy_release;
    copy->storage.owner = copy;
    if (size)
        memcpy(copy->data, bytes, size);
    struct model_bytes copied = {&copy->storage, copy->data, size};
    enum odb_status status = load_open(out, &copied, "", dir, name, ODB_LINKS_NEAR, err);
    odb_storage_unref(&copy->storage);
    return status;
}

void odb_model_free(struct odb_model *model)
{
    if (!model)
        return;
    struct model_int *priv = model->priv;
    for (size_t i = 0; i < priv->tensors.n; i++)
        odb_tensor_unref(priv->tensors.items[i]);
    free(priv->tensors.items);
    for (size_t i = 0; i < priv->graphs.n; i++) {
        free(priv->graphs.items[i]->values);
        odb_map_free(priv->graphs.items[i]->by_name);
        odb_map_free(priv->graphs.items[i]->nodes_by_name);
    }
    free(priv->graphs.items);
    odb_map_free(priv->functions);
    odb_model__files_free(priv->files);
    odb_model__arena_free(priv->arena);
    odb_storage_unref(priv->file);
    pthread_mutex_destroy(&priv->sha256_lock);
    free(priv);
    free((char *)model->path);
    free((char *)model->dir);
    free((char *)model->base);
    free(model);
}

/* --- questions -------------------------------------------------------------------------------- */

const void *odb_model_bytes(const struct odb_model *model, size_t *size)
{
    *size = model->priv->file_size;
    return model->priv->file_data;
}

bool odb_model_has_debug(const struct odb_model *model)
{
    for (size_t g = 0; g < model->priv->graphs.n; g++) {
        const struct odb_graph *graph = model->priv->graphs.items[g];
        for (size_t n = 0; n < graph->n_nodes; n++)
            if (odb_node_is_debug(&graph->nodes[n]))
                return true;
    }
    return false;
}

enum odb_status odb_model_require_data(const struct odb_model *model, struct odb_error *err)
{
    const struct odb_error *missing = odb_model__files_missing(model->priv->files);
    if (!missing)
        return ODB_OK;
    if (err) {
        *err = *missing;
        odb_error_at(err, "%s", model->path);
    }
    return missing->code;
}

static void model_digest(const void *data, size_t size, char hex[65])
{
    SHA2_CTX sha;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA256Init(&sha);
    odb_sha256_update(&sha, data, size);
    SHA256Final(digest, &sha);
    odb_hex(digest, sizeof digest, hex);
}

enum odb_status odb_model_sha256(const struct odb_model *model, char hex[65], struct odb_error *err)
{
    struct model_int *priv = model->priv;
    pthread_mutex_lock(&priv->sha256_lock);
    if (!priv->sha256[0])
        model_digest(priv->file_data, priv->file_size, priv->sha256);
    memcpy(hex, priv->sha256, sizeof priv->sha256);
    pthread_mutex_unlock(&priv->sha256_lock);
    return ODB_OK;
}

enum odb_status odb_model_identity(const struct odb_model *model, char hex[65],
                                   struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    ODB_TRY(odb_model_sha256(model, hex, err));
    odb_buf_printf(&text, "%s\n", hex);
    odb_model__files_put_times(model->priv->files, &text);
    model_digest(text.data, text.len, hex);
    odb_buf_dispose(&text);
    return ODB_OK;
}

int odb_model_opset(const struct odb_model *model, const char *domain)
{
    struct opset_scope opsets = {model->opsets, model->n_opsets};
    return odb_model__opset_of(&opsets, odb_model__domain(domain));
}
