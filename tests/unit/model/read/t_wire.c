/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/limits.h"
#include "model/read/wire.h"
#include "tests/help/onnx_make.h"

static Onnx__ModelProto *wire_open(struct make *m, const unsigned char *data, size_t size)
{
    ProtobufCMessage *message = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    enum odb_status status =
        odb_model__unpack(&message, &onnx__model_proto__descriptor, data, size, m->arena, &err);
    if (status != ODB_OK)
        fail_msg("%s: %s", err.where, err.what);
    return (Onnx__ModelProto *)message;
}

static void wire_refuses(const void *data, size_t size, const char *where, const char *what)
{
    struct model_arena *arena = odb_model__arena_new();
    ProtobufCMessage *message = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(
        odb_model__unpack(&message, &onnx__model_proto__descriptor, data, size, arena, &err),
        ODB_E_MODEL);
    assert_string_equal(err.where, where);
    if (!strstr(err.what, what))
        fail_msg("\"%s\" does not say \"%s\"", err.what, what);
    odb_model__arena_free(arena);
}

static bool wire_inside(const void *p, size_t n, const unsigned char *data, size_t size)
{
    const unsigned char *at = p;
    return at >= data && at + n <= data + size;
}

/* Wherever raw_data stands, it is viewed. */
static void test_wire__views_raw_data_everywhere(void **state)
{
    struct make m = make_new();
    make_init(&m, m.graph, make_weight(&m, "w", 100));
    Onnx__SparseTensorProto *sparse =
        MAKE(&m, Onnx__SparseTensorProto, onnx__sparse_tensor_proto__init);
    sparse->values = make_weight(&m, "s", 3);
    make_append(&m, &m.graph->n_sparse_initializer, &m.graph->sparse_initializer, sparse);
    Onnx__NodeProto *node = make_node(&m, m.graph, "If", "n", "", "y");
    make_attr(&m, node, "t", 4)->t = make_weight(&m, "t", 5);
    Onnx__AttributeProto *tensors = make_attr(&m, node, "ts", 9);
    make_append(&m, &tensors->n_tensors, &tensors->tensors, make_weight(&m, "", 7));
    Onnx__AttributeProto *s = make_attr(&m, node, "s", 3);
    s->has_s = true;
    s->s = (ProtobufCBinaryData){5, (uint8_t *)"hello"};
    Onnx__GraphProto *body = make_graph(&m, "body");
    make_init(&m, body, make_weight(&m, "bw", 9));
    make_attr_graph(&m, node, "then_branch", body);
    size_t size;
    unsigned char *data = make_bytes(&m, &size);
    Onnx__ModelProto *p = wire_open(&m, data, size);

    const Onnx__TensorProto *w = p->graph->initializer[0];
    assert_int_equal(w->raw_data.len, 400);
    assert_true(wire_inside(w->raw_data.data, 400, data, size));
    assert_memory_equal(w->raw_data.data, m.graph->initializer[0]->raw_data.data, 400);
    const Onnx__TensorProto *values = p->graph->sparse_initializer[0]->values;
    assert_true(wire_inside(values->raw_data.data, 12, data, size));
    const Onnx__NodeProto *n = p->graph->node[0];
    assert_true(wire_inside(n->attribute[0]->t->raw_data.data, 20, data, size));
    assert_true(wire_inside(n->attribute[1]->tensors[0]->raw_data.data, 28, data, size));
    assert_true(wire_inside(n->attribute[2]->s.data, 5, data, size));
    assert_memory_equal(n->attribute[2]->s.data, "hello", 5);
    assert_true(wire_inside(n->attribute[3]->g->initializer[0]->raw_data.data, 36, data, size));
    assert_false(wire_inside(w->name, 2, data, size));

    make_free(&m);
}

static void test_wire__packs_back_to_the_same_bytes(void **state)
{
    struct make m = make_new();
    make_init(&m, m.graph, make_weight(&m, "w", 33));
    make_node(&m, m.graph, "Relu", "r", "w", "y");
    make_output(&m, m.graph, "y");
    size_t size, extra;
    unsigned char *known = make_bytes(&m, &size);
    /* field 900, length 3: nobody knows it, and it must not be lost */
    static const unsigned char unknown[] = {0xa2, 0x38, 3, 'a', 'b', 'c'};
    unsigned char *data = arena_new_n(m.arena, unsigned char, size + sizeof unknown);
    memcpy(data, known, size);
    memcpy(data + size, unknown, sizeof unknown);
    size += sizeof unknown;
    m.model = wire_open(&m, data, size);
    unsigned char *again = make_bytes(&m, &extra);
    assert_int_equal(extra, size);
    assert_memory_equal(again, data, size);
    make_free(&m);
}

/* What marks more outputs without rewriting a model: a second graph field, with outputs only. */
static void test_wire__merges_a_repeated_message(void **state)
{
    struct make m = make_new();
    make_init(&m, m.graph, make_weight(&m, "w", 4));
    make_node(&m, m.graph, "Relu", "r", "w", "y");
    make_output(&m, m.graph, "y");
    size_t size, more;
    unsigned char *first = make_bytes(&m, &size);
    struct make tail = make_new();
    tail.model->n_opset_import = 0;
    tail.model->has_ir_version = false;
    tail.graph->name = NULL;
    make_output(&tail, tail.graph, "w");
    unsigned char *second = make_bytes(&tail, &more);
    unsigned char *data = arena_new_n(m.arena, unsigned char, size + more);
    memcpy(data, first, size);
    memcpy(data + size, second, more);
    Onnx__ModelProto *p = wire_open(&m, data, size + more);
    assert_int_equal(p->graph->n_output, 2);
    assert_string_equal(p->graph->output[0]->name, "y");
    assert_string_equal(p->graph->output[1]->name, "w");
    assert_int_equal(p->graph->n_node, 1);
    assert_string_equal(p->graph->name, "g");
    assert_true(wire_inside(p->graph->initializer[0]->raw_data.data, 16, data, size));
    make_free(&tail);
    make_free(&m);
}

static void test_wire__reads_packed_and_unpacked_numbers(void **state)
{
    /* dims 3 and 300 one by one, then again in a run; one float_data outside a run */
    static const unsigned char data[] = {0x3a, 17,                    /* graph */
                                         0x2a, 15,                    /* initializer */
                                         0x08, 3,  0x08, 0xac, 0x02,  /* dims */
                                         0x0a, 3,  3,    0xac, 0x02,  /* dims */
                                         0x25, 0,  0,    0x80, 0x3f}; /* float_data 1.0 */
    struct make m = make_new();
    const Onnx__TensorProto *t = wire_open(&m, data, sizeof data)->graph->initializer[0];
    assert_int_equal(t->n_dims, 4);
    assert_memory_equal(t->dims, ((int64_t[]){3, 300, 3, 300}), 4 * sizeof(int64_t));
    assert_int_equal(t->n_float_data, 1);
    assert_float_equal(t->float_data[0], 1.0f, 0);
    make_free(&m);
}

static void test_wire__refuses_what_is_damaged(void **state)
{
    wire_refuses("\x3a\x05\x12", 3, "byte 0", "field 7 (graph) of ModelProto needs 5 bytes, and 1");
    wire_refuses("\x08\x03\x3a\x02\x12\x07", 6, "byte 4", "field 2 (name) of GraphProto needs 7");
    wire_refuses("\x08", 1, "byte 0", "no valid number");
    wire_refuses("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, "byte 0",
                 "no valid number");
    wire_refuses("\x3a\xff", 2, "byte 0", "no valid length");
    wire_refuses("\x3b\x3c", 2, "byte 0", "group");
    wire_refuses("\x3f", 1, "byte 0", "no such type");
    wire_refuses("\x08\x01\x00", 3, "byte 2", "no field of ModelProto begins here");
    wire_refuses("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, "byte 0", "no field");
    wire_refuses("\x0d\0\0\0\0", 5, "byte 0", "must have 0");
    wire_refuses("\x39\0\0\0\0\0\0\0\0", 9, "byte 0", "must have 2");
    wire_refuses("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "byte 0", "are left");
    wire_refuses("\x3a\x07\x2a\x05\x22\x03"
                 "abc",
                 9, "byte 4", "damaged list of numbers");
    wire_refuses("\x3a\x05\x2a\x03\x3a\x01\xff", 7, "byte 4", "damaged list of numbers");
}

/* One field in a message in a message …, deeper than the limit. */
static void test_wire__refuses_deep_nesting(void **state)
{
    enum { LEVELS = 3000 };
    unsigned char *at = odb_new_n(unsigned char, LEVELS * 8), *end = at + LEVELS * 8, *p = end;
    /* graph 7 { node 1 { attribute 5 { g 6 { node 1 … */
    for (int i = LEVELS; i--;) {
        size_t length = (size_t)(end - p);
        *--p = (unsigned char)(length >> 14);
        *--p = (unsigned char)((length >> 7 & 0x7f) | 0x80);
        *--p = (unsigned char)((length & 0x7f) | 0x80);
        *--p = !i ? 0x3a : (unsigned char[]){0x32, 0x0a, 0x2a}[i % 3];
    }
    struct model_arena *arena = odb_model__arena_new();
    ProtobufCMessage *message = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_model__unpack(&message, &onnx__model_proto__descriptor, p,
                                       (size_t)(end - p), arena, &err),
                     ODB_E_MODEL);
    assert_non_null(strstr(err.what, "nested more than 100 deep"));
    assert_memory_equal(err.where, "byte ", 5);
    odb_model__arena_free(arena);
    free(at);
}

/* Each occurrence is merged into what was there before: a small file must not keep us for hours. */
static void test_wire__refuses_endless_merging(void **state)
{
    enum { N = 2 * ODB_LIMIT_PARTS };
    unsigned char data[N * 4];
    char where[32];
    snprintf(where, sizeof where, "byte %d", 4 * ODB_LIMIT_PARTS);
    for (size_t i = 0; i < N; i++)
        memcpy(data + i * 4, "\x3a\x02\x0a\x00", 4);
    struct make m = make_new();
    assert_int_equal(wire_open(&m, data, sizeof data / 2)->graph->n_node, ODB_LIMIT_PARTS);
    make_free(&m);
    wire_refuses(data, sizeof data, where, "field 7 (graph) of ModelProto comes up again");
}

/* No prefix of a valid file crashes, and all but those that end between fields are refused. */
static void test_wire__survives_every_truncation(void **state)
{
    struct make m = make_new();
    make_init(&m, m.graph, make_weight(&m, "w", 4));
    make_node(&m, m.graph, "Relu", "r", "w", "y");
    make_output(&m, m.graph, "y");
    size_t size, refused = 0;
    unsigned char *data = make_bytes(&m, &size);
    for (size_t n = 0; n < size; n++) {
        unsigned char *cut = n ? odb_xmemdup(data, n) : odb_xcalloc(1, 1);
        struct model_arena *arena = odb_model__arena_new();
        ProtobufCMessage *message = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        enum odb_status status =
            odb_model__unpack(&message, &onnx__model_proto__descriptor, cut, n, arena, &err);
        assert_true(status == ODB_OK || status == ODB_E_MODEL);
        if (status != ODB_OK) {
            assert_memory_equal(err.where, "byte ", 5);
            refused++;
        }
        odb_model__arena_free(arena);
        free(cut);
    }
    assert_in_range(refused, size - 8, size);
    make_free(&m);
}

/* A value of a type has one of its kinds: another takes its place, the same is filled further. */
static void test_wire__has_one_of_several(void **state)
{
    /* value_info's type: a tensor of type 1, then of a shape; in the second model a sequence after
     * the tensor */
    static const unsigned char merged[] = {0x3a, 12,   0x5a, 10,   0x12, 8,    0x0a,
                                           2,    0x08, 1,    0x0a, 2,    0x12, 0};
    static const unsigned char replaced[] = {0x3a, 10, 0x5a, 8, 0x12, 6, 0x0a, 2, 0x08, 1, 0x22, 0};
    struct make m = make_new();
    const Onnx__TypeProto *type = wire_open(&m, merged, sizeof merged)->graph->input[0]->type;
    assert_int_equal(type->value_case, ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE);
    assert_int_equal(type->tensor_type->elem_type, 1);
    assert_non_null(type->tensor_type->shape);
    type = wire_open(&m, replaced, sizeof replaced)->graph->input[0]->type;
    assert_int_equal(type->value_case, ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE);
    assert_null(type->sequence_type->elem_type);
    make_free(&m);
}

static size_t wire_pack(const void *message, unsigned char **bytes)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    *bytes = odb_new_n(unsigned char, size + 1);
    return protobuf_c_message_pack(message, *bytes);
}

/* Whatever byte of a model is changed: what is read here is what protobuf-c reads, which takes all
 * that is taken here. */
static void test_wire__reads_as_protobuf_c_does(void **state)
{
    struct make m = make_new();
    make_init(&m, m.graph, make_weight(&m, "w", 4));
    Onnx__NodeProto *node = make_node(&m, m.graph, "Relu", "r", "w", "y");
    make_attr(&m, node, "i", 2)->i = -3;
    make_attr(&m, node, "t", 4)->t = make_weight(&m, "t", 2);
    make_output(&m, m.graph, "y");
    size_t size, taken = 0;
    unsigned char *data = make_bytes(&m, &size);
    for (size_t at = 0; at < size * 8; at++) {
        struct model_arena *arena = odb_model__arena_new();
        struct odb_error err = ODB_ERROR_INIT;
        ProtobufCMessage *ours = NULL, *theirs;
        data[at / 8] ^= (unsigned char)(1 << at % 8);
        if (odb_model__unpack(&ours, &onnx__model_proto__descriptor, data, size, arena, &err) ==
            ODB_OK) {
            unsigned char *a, *b;
            theirs = protobuf_c_message_unpack(&onnx__model_proto__descriptor, NULL, size, data);
            assert_non_null(theirs);
            size_t n = wire_pack(ours, &a);
            assert_int_equal(wire_pack(theirs, &b), n);
            assert_memory_equal(a, b, n);
            protobuf_c_message_free_unpacked(theirs, NULL);
            free(a);
            free(b);
            taken++;
        }
        data[at / 8] ^= (unsigned char)(1 << at % 8);
        odb_model__arena_free(arena);
    }
    assert_in_range(taken, size, size * 8);
    make_free(&m);
}

/* graph 7 { node 1 {} node 1 {} … }, then a producer_name 2: as many of the one, and as long the
 * other, as may not be. */
static void test_wire__refuses_too_much(void **state)
{
    size_t nodes = 2 * (size_t)ODB_LIMIT_MESSAGES, size = ODB_LIMIT_TEXT + (size_t)6;
    unsigned char *bytes = odb_new_n(unsigned char, ODB_MAX(nodes, size) + 6);
    const size_t lengths[] = {nodes, size - 5};
    const char *const words[] = {"more than 10000000 messages", "at most 67108864 are read"};
    for (int i = 0; i < 2; i++) {
        struct model_arena *arena = odb_model__arena_new();
        struct odb_error err = ODB_ERROR_INIT;
        ProtobufCMessage *message = NULL;
        bytes[0] = i ? 0x12 : 0x3a;
        for (int k = 0; k < 5; k++)
            bytes[1 + k] = (unsigned char)((lengths[i] >> 7 * k & 0x7f) | (k < 4 ? 0x80 : 0));
        for (size_t k = 0; k < lengths[i]; k++)
            bytes[6 + k] = i ? 'a' : k % 2 ? 0 : 0x0a;
        assert_int_equal(odb_model__unpack(&message, &onnx__model_proto__descriptor, bytes,
                                           6 + lengths[i], arena, &err),
                         ODB_E_MODEL);
        assert_non_null(strstr(err.what, words[i]));
        odb_model__arena_free(arena);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wire__views_raw_data_everywhere),
        cmocka_unit_test(test_wire__packs_back_to_the_same_bytes),
        cmocka_unit_test(test_wire__merges_a_repeated_message),
        cmocka_unit_test(test_wire__reads_packed_and_unpacked_numbers),
        cmocka_unit_test(test_wire__refuses_what_is_damaged),
        cmocka_unit_test(test_wire__refuses_deep_nesting),
        cmocka_unit_test(test_wire__refuses_endless_merging),
        cmocka_unit_test(test_wire__has_one_of_several),
        cmocka_unit_test(test_wire__reads_as_protobuf_c_does),
        cmocka_unit_test(test_wire__refuses_too_much),
        cmocka_unit_test(test_wire__survives_every_truncation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
