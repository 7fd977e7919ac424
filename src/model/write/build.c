/* SPDX-License-Identifier: MIT
 *
 * The builder keeps one ModelProto in an arena and appends to its lists; a name list such as
 * "x w" is split where it is given, so that the generators read like the graphs they make.
 */
#include "model/write/build.h"

#include <stdlib.h>
#include <string.h>

#include "system/file.h"
#include "base/mem.h"
#include "model/write/pack.h"

enum { BUILD_IR_VERSION = 8 };

struct odb_builder {
    struct model_arena *arena; /* owned */
    Onnx__ModelProto model;
    Onnx__GraphProto graph;
    Onnx__NodeProto *node;              /* added last; in the arena */
    ODB_VEC(struct odb_tensor *) kept;  /* refs: weights whose bytes the messages borrow */
    ODB_VEC(struct odb_builder *) subs; /* owned: bodies */
};

/* Appends to a list of pointers in the arena, whose room is the next power of two: what is
 * outgrown stays in the arena, less than twice the final size in all. */
static void build_append(struct odb_builder *b, void *list, size_t *n, void *item)
{
    void **items;
    memcpy(&items, list, sizeof items); /* whatever its items are declared to be */
    if ((*n & (*n - 1)) == 0) {
        void **grown = arena_new_n(b->arena, void *, *n ? *n * 2 : 1);
        if (*n)
            memcpy(grown, items, *n * sizeof *grown);
        items = grown;
        memcpy(list, &items, sizeof items);
    }
    memcpy(&items[(*n)++], &item, sizeof item);
}

static char *build_dup(struct odb_builder *b, const char *s, size_t n)
{
    char *copy = odb_model__arena_alloc(b->arena, n + 1, 1);
    memcpy(copy, s, n);
    return copy;
}

static char *build_str(struct odb_builder *b, const char *s)
{
    return build_dup(b, s, strlen(s));
}

struct odb_builder *odb_build_new(const char *graph_name, int64_t opset)
{
    struct odb_builder *b = odb_new(struct odb_builder);
    b->arena = odb_model__arena_new();
    onnx__model_proto__init(&b->model);
    onnx__graph_proto__init(&b->graph);
    b->graph.name = build_str(b, graph_name);
    b->model.graph = &b->graph;
    b->model.producer_name = build_str(b, "onnxdbg");
    b->model.producer_version = build_str(b, ODB_VERSION);
    odb_build_ir_version(b, BUILD_IR_VERSION);
    if (opset)
        odb_build_opset(b, "", opset);
    return b;
}

void odb_build_free(struct odb_builder *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->kept.n; i++)
        odb_tensor_unref(b->kept.items[i]);
    for (size_t i = 0; i < b->subs.n; i++)
        odb_build_free(b->subs.items[i]);
    free(b->kept.items);
    free(b->subs.items);
    odb_model__arena_free(b->arena);
    free(b);
}

void odb_build_ir_version(struct odb_builder *b, int64_t version)
{
    b->model.has_ir_version = true;
    b->model.ir_version = version;
}

static Onnx__OperatorSetIdProto *build_opset(struct odb_builder *b, const char *domain,
                                             int64_t version)
{
    Onnx__OperatorSetIdProto *opset = arena_new(b->arena, Onnx__OperatorSetIdProto);
    onnx__operator_set_id_proto__init(opset);
    opset->domain = build_str(b, domain);
    opset->has_version = true;
    opset->version = version;
    return opset;
}

void odb_build_opset(struct odb_builder *b, const char *domain, int64_t version)
{
    build_append(b, &b->model.opset_import, &b->model.n_opset_import,
                 build_opset(b, domain, version));
}

static Onnx__StringStringEntryProto *build_entry(struct odb_builder *b, const char *key,
                                                 const char *value)
{
    Onnx__StringStringEntryProto *entry = arena_new(b->arena, Onnx__StringStringEntryProto);
    onnx__string_string_entry_proto__init(entry);
    entry->key = build_str(b, key);
    entry->value = build_str(b, value);
    return entry;
}

void odb_build_metadata(struct odb_builder *b, const char *key, const char *value)
{
    build_append(b, &b->model.metadata_props, &b->model.n_metadata_props,
                 build_entry(b, key, value));
}

/* --- values ----------------------------------------------------------------------------------- */

static Onnx__ValueInfoProto *build_info(struct odb_builder *b, const char *name,
                                        enum odb_dtype dtype, int rank, const int64_t *dims)
{
    Onnx__ValueInfoProto *info = arena_new(b->arena, Onnx__ValueInfoProto);
    onnx__value_info_proto__init(info);
    info->name = build_str(b, name);
    if (dtype == ODB_UNDEFINED)
        return info;
    static const int64_t none[1];
    info->type = odb_model__tensor_type(dtype, rank, rank ? dims : none, name, b->arena);
    const Onnx__TensorShapeProto *shape = info->type->tensor_type->shape;
    for (int i = 0; i < rank; i++) /* symbols that values share, unlike those at a cut */
        if (dims[i] < 0)
            shape->dim[i]->dim_param = odb_model__arena_printf(b->arena, "N%d", i);
    return info;
}

void odb_build_input(struct odb_builder *b, const char *name, enum odb_dtype dtype, int rank,
                     const int64_t *dims)
{
    build_append(b, &b->graph.input, &b->graph.n_input, build_info(b, name, dtype, rank, dims));
}

void odb_build_output(struct odb_builder *b, const char *name)
{
    odb_build_output_typed(b, name, ODB_UNDEFINED, 0, NULL);
}

void odb_build_output_typed(struct odb_builder *b, const char *name, enum odb_dtype dtype, int rank,
                            const int64_t *dims)
{
    build_append(b, &b->graph.output, &b->graph.n_output, build_info(b, name, dtype, rank, dims));
}

void odb_build_value_info(struct odb_builder *b, const char *name, enum odb_dtype dtype, int rank,
                          const int64_t *dims)
{
    build_append(b, &b->graph.value_info, &b->graph.n_value_info,
                 build_info(b, name, dtype, rank, dims));
}

/* The type around one. */
static Onnx__TypeProto *build_wrapped(struct odb_builder *b, Onnx__TypeProto *inner,
                                      enum odb_kind kind)
{
    Onnx__TypeProto *type = arena_new(b->arena, Onnx__TypeProto);
    onnx__type_proto__init(type);
    if (kind == ODB_SPARSE) {
        type->value_case = ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE;
        type->sparse_tensor_type = arena_new(b->arena, Onnx__TypeProto__SparseTensor);
        onnx__type_proto__sparse_tensor__init(type->sparse_tensor_type);
        type->sparse_tensor_type->has_elem_type = true;
        type->sparse_tensor_type->elem_type = inner->tensor_type->elem_type;
        type->sparse_tensor_type->shape = inner->tensor_type->shape;
    } else if (kind == ODB_SEQUENCE) {
        type->value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
        type->sequence_type = arena_new(b->arena, Onnx__TypeProto__Sequence);
        onnx__type_proto__sequence__init(type->sequence_type);
        type->sequence_type->elem_type = inner;
    } else {
        type->value_case = ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
        type->optional_type = arena_new(b->arena, Onnx__TypeProto__Optional);
        onnx__type_proto__optional__init(type->optional_type);
        type->optional_type->elem_type = inner;
    }
    return type;
}

void odb_build_wrap(struct odb_builder *b, const char *name, enum odb_kind kind)
{
    for (size_t i = 0; i < b->graph.n_input + b->graph.n_output; i++) {
        Onnx__ValueInfoProto *info =
            i < b->graph.n_input ? b->graph.input[i] : b->graph.output[i - b->graph.n_input];
        if (strcmp(info->name, name) == 0)
            info->type = build_wrapped(b, info->type, kind);
    }
}

static Onnx__TensorProto *build_tensor(struct odb_builder *b, const char *name,
                                       const struct odb_tensor *t)
{
    odb_push(&b->kept, odb_tensor_ref(t));
    return odb_model__tensor_message(t, build_str(b, name), b->arena);
}

void odb_build_weight(struct odb_builder *b, const char *name, const struct odb_tensor *t)
{
    build_append(b, &b->graph.initializer, &b->graph.n_initializer, build_tensor(b, name, t));
}

void odb_build_weight_beside(struct odb_builder *b, const char *name, const struct odb_tensor *t,
                             const char *file, size_t offset)
{
    size_t size = t->count * odb_dtype_info(t->dtype)->bits / 8;
    Onnx__TensorProto *weight = odb_model__with_reference(
        build_tensor(b, name, t), build_str(b, file), offset, size, b->arena);
    build_append(b, &b->graph.initializer, &b->graph.n_initializer, weight);
}

void odb_build_sparse_weight(struct odb_builder *b, const char *name, const struct odb_tensor *t)
{
    Onnx__SparseTensorProto *sparse = arena_new(b->arena, Onnx__SparseTensorProto);
    onnx__sparse_tensor_proto__init(sparse);
    sparse->values = build_tensor(b, name, t->items[0]);
    sparse->indices = build_tensor(b, "", t->items[1]);
    sparse->n_dims = (size_t)t->rank;
    sparse->dims = odb_model__arena_dup(b->arena, t->dims, sparse->n_dims, sizeof *t->dims);
    build_append(b, &b->graph.sparse_initializer, &b->graph.n_sparse_initializer, sparse);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void build_names(struct odb_builder *b, const char *names, char ***list, size_t *n)
{
    for (const char *at = names + strspn(names, " "); *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        bool omitted = len == 1 && *at == '-';
        build_append(b, list, n, build_dup(b, at, omitted ? 0 : len));
        at += len;
    }
}

void odb_build_node(struct odb_builder *b, const char *op, const char *name, const char *inputs,
                    const char *outputs)
{
    const char *colons = strstr(op, "::");
    Onnx__NodeProto *node = b->node = arena_new(b->arena, Onnx__NodeProto);
    onnx__node_proto__init(node);
    node->op_type = build_str(b, colons ? colons + 2 : op);
    if (colons)
        node->domain = build_dup(b, op, (size_t)(colons - op));
    if (name[0])
        node->name = build_str(b, name);
    build_names(b, inputs, &node->input, &node->n_input);
    build_names(b, outputs, &node->output, &node->n_output);
    build_append(b, &b->graph.node, &b->graph.n_node, node);
}

void odb_build_node_metadata(struct odb_builder *b, const char *key, const char *value)
{
    ODB_ASSERT(b->node);
    build_append(b, &b->node->metadata_props, &b->node->n_metadata_props,
                 build_entry(b, key, value));
}

static Onnx__AttributeProto *build_attr(struct odb_builder *b, const char *name,
                                        Onnx__AttributeProto__AttributeType type)
{
    ODB_ASSERT(b->node);
    Onnx__AttributeProto *attr = arena_new(b->arena, Onnx__AttributeProto);
    onnx__attribute_proto__init(attr);
    attr->name = build_str(b, name);
    attr->has_type = true;
    attr->type = type;
    build_append(b, &b->node->attribute, &b->node->n_attribute, attr);
    return attr;
}

void odb_build_attr_int(struct odb_builder *b, const char *name, int64_t v)
{
    Onnx__AttributeProto *attr = build_attr(b, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    attr->has_i = true;
    attr->i = v;
}

void odb_build_attr_ints(struct odb_builder *b, const char *name, size_t n, const int64_t *v)
{
    Onnx__AttributeProto *attr = build_attr(b, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    attr->n_ints = n;
    attr->ints = odb_model__arena_dup(b->arena, v, n, sizeof *v);
}

void odb_build_attr_float(struct odb_builder *b, const char *name, float v)
{
    Onnx__AttributeProto *attr = build_attr(b, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    attr->has_f = true;
    attr->f = v;
}

void odb_build_attr_floats(struct odb_builder *b, const char *name, size_t n, const float *v)
{
    Onnx__AttributeProto *attr = build_attr(b, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
    attr->n_floats = n;
    attr->floats = odb_model__arena_dup(b->arena, v, n, sizeof *v);
}

void odb_build_attr_string(struct odb_builder *b, const char *name, const char *v)
{
    Onnx__AttributeProto *attr = build_attr(b, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    attr->has_s = true;
    attr->s.data = (uint8_t *)build_str(b, v);
    attr->s.len = strlen(v);
}

void odb_build_attr_strings(struct odb_builder *b, const char *name, const char *words)
{
    Onnx__AttributeProto *attr =
        build_attr(b, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
    char **list = NULL;
    build_names(b, words, &list, &attr->n_strings);
    attr->strings = arena_new_n(b->arena, ProtobufCBinaryData, attr->n_strings);
    for (size_t i = 0; i < attr->n_strings; i++)
        attr->strings[i] = (ProtobufCBinaryData){strlen(list[i]), (uint8_t *)list[i]};
}

void odb_build_attr_type(struct odb_builder *b, const char *name, enum odb_dtype dtype,
                         bool sequence)
{
    Onnx__AttributeProto *attr =
        build_attr(b, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO);
    attr->tp = build_info(b, "", dtype, 0, NULL)->type;
    attr->tp->tensor_type->shape = NULL;
    if (sequence)
        attr->tp = build_wrapped(b, attr->tp, ODB_SEQUENCE);
}

void odb_build_overload(struct odb_builder *b, const char *overload)
{
    b->node->overload = build_str(b, overload);
}

void odb_build_function_overload(struct odb_builder *b, const char *overload)
{
    b->model.functions[b->model.n_functions - 1]->overload = build_str(b, overload);
}

void odb_build_attr_tensor(struct odb_builder *b, const char *name, const struct odb_tensor *t)
{
    Onnx__AttributeProto *attr = build_attr(b, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);
    attr->t = build_tensor(b, "", t);
}

void odb_build_attr_graph(struct odb_builder *b, const char *name, struct odb_builder *sub)
{
    Onnx__AttributeProto *attr = build_attr(b, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH);
    attr->g = &sub->graph;
    odb_push(&b->subs, sub);
}

void odb_build_attr_ref(struct odb_builder *b, const char *name, enum odb_attr_type type,
                        const char *ref)
{
    Onnx__AttributeProto *attr = build_attr(b, name, (Onnx__AttributeProto__AttributeType)type);
    attr->ref_attr_name = build_str(b, ref);
}

void odb_build_function(struct odb_builder *b, const char *domain, const char *name,
                        const char *inputs, const char *outputs, const char *attrs,
                        struct odb_builder *body)
{
    Onnx__FunctionProto *f = arena_new(b->arena, Onnx__FunctionProto);
    onnx__function_proto__init(f);
    f->domain = build_str(b, domain);
    f->name = build_str(b, name);
    build_names(b, inputs, &f->input, &f->n_input);
    build_names(b, outputs, &f->output, &f->n_output);
    build_names(b, attrs, &f->attribute, &f->n_attribute);
    f->n_node = body->graph.n_node;
    f->node = body->graph.node;
    f->n_opset_import = body->model.n_opset_import;
    f->opset_import = body->model.opset_import;
    build_append(b, &b->model.functions, &b->model.n_functions, f);
    odb_push(&b->subs, body);
}

/* --- files ------------------------------------------------------------------------------------ */

void odb_build_bytes(const struct odb_builder *b, struct odb_buf *out)
{
    size_t size = protobuf_c_message_get_packed_size(&b->model.base);
    char *to = odb_buf_reserve(out, size);
    if (!to)
        return;
    out->len += protobuf_c_message_pack(&b->model.base, (uint8_t *)to);
    out->data[out->len] = '\0';
}

/* The model with its large weights behind one another in weights. */
static enum odb_status build_split(const struct odb_builder *b, const char *external,
                                   struct odb_buf *bytes, struct odb_file_parts *weights,
                                   struct odb_error *err)
{
    struct model_arena *arena = odb_model__arena_new();
    Onnx__ModelProto model = b->model;
    Onnx__GraphProto graph = b->graph;
    model.graph = &graph;
    graph.initializer = arena_new_n(arena, Onnx__TensorProto *, graph.n_initializer);
    for (size_t i = 0; i < graph.n_initializer; i++) {
        Onnx__TensorProto *weight = b->graph.initializer[i];
        size_t size = weight->raw_data.len;
        if (weight->has_raw_data && size > MODEL_LARGE) {
            size_t at = odb_file_parts_add(weights, MODEL_ALIGN, weight->raw_data.data, size);
            weight = odb_model__with_reference(weight, external, at, size, arena);
        }
        graph.initializer[i] = weight;
    }
    enum odb_status status = odb_model__pack(&model.base, bytes, err);
    odb_model__arena_free(arena);
    return status;
}

enum odb_status odb_build_write(const struct odb_builder *b, const char *path, const char *external,
                                struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_file_parts weights = {0};
    const char *slash = strrchr(path, '/');
    char *beside = odb_xasprintf("%.*s%s", slash ? (int)(slash - path) + 1 : 0, path,
                                 external ? external : "");
    if (external) {
        ODB_TRY_OUT(build_split(b, external, &bytes, &weights, err));
        ODB_TRY_OUT(odb_file_write_unsynced(beside, weights.pieces.items, weights.pieces.n, err));
    } else {
        ODB_TRY_OUT(odb_model__pack(&b->model.base, &bytes, err));
    }
    status = odb_file_write_unsynced(path, &(struct iovec){bytes.data, bytes.len}, 1, err);
out:
    odb_buf_dispose(&bytes);
    odb_file_parts_dispose(&weights);
    free(beside);
    return status;
}
