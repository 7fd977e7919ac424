/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model of which one thing is changed at a time: an input gets each other element type, an
 * attribute each other type, and another name, so that it is missing and another is too many. What
 * kernels are given then is what the model says, and not what its operators' schemas do.
 *
 * Replayed, a seed stands for all its mutants; a fuzzer gets some of them for each of its own.
 */
#include "fuzz.h"

#include "model/model.h"
#include "model/read/load.h"
#include "onnx.pb-c.h"

enum {
    MUTANTS_TYPES = 27,      /* of elements, and one that is none */
    MUTANTS_ATTR_TYPES = 15, /* likewise */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    MUTANTS_MOST = 16
#else
    MUTANTS_MOST = 100
#endif
};

/* Which of the mutants are run: from the first on, every step-th. */
struct mutants {
    Onnx__ModelProto *proto;
    size_t first, step, at;
};

static void mutants_run(struct mutants *m)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model;
    if (m->at++ % m->step != m->first)
        return;
    size_t size = onnx__model_proto__get_packed_size(m->proto);
    uint8_t *bytes = malloc(size + 1);
    onnx__model_proto__pack(m->proto, bytes);
    if (odb_model_open_bytes(&model, bytes, size, NULL, "/nowhere", "mutant", &err) == ODB_OK) {
        fuzz_run_model(model);
        odb_model_free(model);
    }
    free(bytes);
}

static void mutants_inputs(struct mutants *m, Onnx__GraphProto *graph)
{
    for (size_t i = 0; i < graph->n_input; i++) {
        Onnx__TypeProto *type = graph->input[i]->type;
        if (!type || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
            continue;
        int32_t own = type->tensor_type->elem_type;
        for (int32_t other = 1; other <= MUTANTS_TYPES; other++) {
            type->tensor_type->elem_type = other;
            type->tensor_type->has_elem_type = true;
            mutants_run(m);
        }
        type->tensor_type->elem_type = own;
    }
}

static void mutants_attribute(struct mutants *m, Onnx__AttributeProto *attr)
{
    static char stranger[] = "stranger";
    const Onnx__AttributeProto own = *attr;
    for (int type = 0; type < MUTANTS_ATTR_TYPES; type++) {
        attr->type = (Onnx__AttributeProto__AttributeType)type;
        attr->has_type = true;
        mutants_run(m);
    }
    *attr = own;
    attr->name = stranger;
    mutants_run(m);
    *attr = own;
}

static void mutants_of(struct mutants *m)
{
    Onnx__GraphProto *graph = m->proto->graph;
    m->at = 0;
    mutants_inputs(m, graph);
    for (size_t n = 0; n < graph->n_node; n++)
        for (size_t a = 0; a < graph->node[n]->n_attribute; a++)
            mutants_attribute(m, graph->node[n]->attribute[a]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mutants m = {.first = 1, .step = 1};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model; /* which must be sound so far: readers have their own harness */
    if (odb_model_open_bytes(&model, data, size, NULL, "/nowhere", "model", &err) != ODB_OK)
        return 0;
    odb_model_free(model);
    m.proto = onnx__model_proto__unpack(NULL, size, data);
    if (m.proto && m.proto->graph) {
        mutants_of(&m); /* counts: the first of one is none */
        size_t n = m.at;
        m.step = (n + MUTANTS_MOST - 1) / MUTANTS_MOST;
        m.step = m.step ? m.step : 1;
        m.first = (size_t)(data[size / 2] + 256u * data[size - 1]) % m.step;
        mutants_of(&m);
    }
    if (m.proto)
        onnx__model_proto__free_unpacked(m.proto, NULL);
    return 0;
}
