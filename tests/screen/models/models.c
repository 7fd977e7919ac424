/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Models that are hard on a screen: screen-models FOLDER writes one file for each kind below.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/write/build.h"

struct kind {
    const char *name;
    void (*make)(struct odb_builder *b);
};

/* A weight of `n` by `n` numbers that are all different. */
static void models_weight(struct odb_builder *b, const char *name, int64_t n)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t;
    if (odb_tensor_new(&t, ODB_F32, 2, (int64_t[]){n, n}, &err) != ODB_OK)
        abort();
    for (size_t i = 0; i < (size_t)(n * n); i++)
        odb_store_f64(ODB_F32, t->data, i, ((double)(i * 7 % 13) - 6) / 8);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* What a terminal would act on, or draw wider, narrower or the other way round. */
static void models_names(struct odb_builder *b)
{
    static const char *const names[] = {
        "esc \033[31mred\033[2J",
        "bell\a backspace\b",
        "two\nlines\tand a tab",
        "delete\177 c1\xc2\x9b",
        "漢字カナ 한국어",
        "e\xcc\x81 combining a\xcc\x8a\xcc\x8a\xcc\x8a",
        "right\xe2\x80\xae to left",
        "zero\xe2\x80\x8bwidth",
        "emoji 👩‍💻 🏳️‍🌈",
        "not \xff\xfe utf-8",
        "quote ' \" \\ $(ls) `ls` {node}",
        "a name that is so long that no screen has room for all of it, because whoever exported "
        "the "
        "model put the path of every module and every call into it /encoder/layers.0/attention/self"
        "/query/"
        "MatMul_1_quant_dequant_fused_with_bias_and_scale_and_then_some_more_of_the_same_kind",
    };
    char input[32] = "x", output[32];
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){4, 4});
    models_weight(b, "重み", 4);
    for (size_t i = 0; i < ODB_COUNT(names); i++) {
        snprintf(output, sizeof output, i == 4 ? "値%zu" : i == 0 ? "v\033%zu" : "v%zu", i);
        char *inputs = odb_xasprintf("%s 重み", input);
        odb_build_node(b, i % 2 ? "Add" : "MatMul", names[i], inputs, output);
        free(inputs);
        snprintf(input, sizeof input, "%s", output);
    }
    odb_build_output_typed(b, output, ODB_F32, 2, (int64_t[]){4, 4});
}

/* Unknown operators, in the middle and at the end. */
static void models_custom(struct odb_builder *b)
{
    odb_build_opset(b, "com.example", 1);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){4, 4});
    models_weight(b, "w", 4);
    odb_build_node(b, "MatMul", "first", "x w", "a");
    odb_build_node(b, "com.example::Secret", "middle", "a", "s");
    odb_build_node(b, "Relu", "behind", "s", "r");
    odb_build_node(b, "Sigmoid", "beside", "a", "g");
    odb_build_node(b, "Softmax", "last", "g", "y");
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){4, 4});
    odb_build_output_typed(b, "r", ODB_F32, 2, (int64_t[]){4, 4});
}

static void models_unnamed(struct odb_builder *b)
{
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){4, 4});
    models_weight(b, "w", 4);
    odb_build_node(b, "MatMul", "", "x w", "1");
    odb_build_node(b, "Relu", "", "1", "2");
    odb_build_node(b, "MatMul", "", "2 w", "3");
    odb_build_node(b, "Add", "", "1 3", "4");
    odb_build_node(b, "Tanh", "", "4", "y");
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){4, 4});
}

/* Sizes that cannot be guessed: N1 must be 4. */
static void models_sized(struct odb_builder *b)
{
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){-1, -1});
    models_weight(b, "w", 4);
    odb_build_node(b, "MatMul", "product", "x w", "a");
    odb_build_node(b, "Relu", "rectified", "a", "y");
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){-1, 4});
}

/* A cache that grows and a state that is replaced. */
static void models_stateful(struct odb_builder *b)
{
    const int64_t axes[] = {0, 2, 1};
    odb_build_input(b, "x", ODB_F32, 3, (int64_t[]){1, 1, 4});
    odb_build_input(b, "past_key", ODB_F32, 3, (int64_t[]){1, -1, 4});
    odb_build_input(b, "state_in", ODB_F32, 3, (int64_t[]){1, 1, 4});
    models_weight(b, "w", 4);
    odb_build_node(b, "MatMul", "key", "x w", "k");
    odb_build_node(b, "Concat", "append", "past_key k", "present_key");
    odb_build_attr_int(b, "axis", 1);
    odb_build_node(b, "Transpose", "turn", "present_key", "kt");
    odb_build_attr_ints(b, "perm", ODB_COUNT(axes), axes);
    odb_build_node(b, "MatMul", "scores", "x kt", "s");
    odb_build_node(b, "Softmax", "shares", "s", "p");
    odb_build_node(b, "MatMul", "mix", "p present_key", "m");
    odb_build_node(b, "Add", "join", "m state_in", "j");
    odb_build_node(b, "Tanh", "bend", "j", "state_out");
    odb_build_node(b, "MatMul", "head", "state_out w", "y");
    odb_build_output_typed(b, "y", ODB_F32, 3, (int64_t[]){1, 1, 4});
    odb_build_output_typed(b, "present_key", ODB_F32, 3, (int64_t[]){1, -1, 4});
    odb_build_output_typed(b, "state_out", ODB_F32, 3, (int64_t[]){1, 1, 4});
}

/* What goes in comes out. */
static void models_empty(struct odb_builder *b)
{
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){3});
    odb_build_output_typed(b, "x", ODB_F32, 1, (int64_t[]){3});
}

/* A value of every kind there is, off by whatever the first node is off by. */
static void models_kinds(struct odb_builder *b)
{
    static const struct {
        const char *name;
        enum odb_dtype dtype;
    } casts[] = {{"f16", ODB_F16},    {"bf16", ODB_BF16},   {"f64", ODB_F64}, {"f8", ODB_F8E4M3FN},
                 {"i8", ODB_I8},      {"i64", ODB_I64},     {"i4", ODB_I4},   {"u8", ODB_U8},
                 {"flags", ODB_BOOL}, {"words", ODB_STRING}};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t;
    odb_build_opset(b, "", 21);
    odb_build_ir_version(b, 10);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){3, 3});
    models_weight(b, "w", 3);
    if (odb_tensor_copy_of(&t, ODB_F32, 0, NULL, (float[]){40}, &err))
        abort();
    odb_build_weight(b, "forty", t);
    odb_tensor_unref(t);
    odb_build_node(b, "Mul", "first", "x w", "product");
    odb_build_node(b, "Mul", "large", "product forty", "scaled");
    for (size_t i = 0; i < ODB_COUNT(casts); i++) {
        odb_build_node(b, "Cast", casts[i].name, "scaled", casts[i].name);
        odb_build_attr_int(b, "to", casts[i].dtype);
        odb_build_output_typed(b, casts[i].name, casts[i].dtype, 2, (int64_t[]){3, 3});
    }
    if (odb_tensor_copy_of(&t, ODB_I64, 1, (int64_t[]){6}, (int64_t[]){1, 3, 1, 1, 3, 1}, &err))
        abort();
    odb_build_weight(b, "six", t);
    odb_tensor_unref(t);
    odb_build_node(b, "Reshape", "deep", "scaled six", "deep");
    odb_build_node(b, "ReduceSum", "scalar", "scaled", "scalar");
    odb_build_attr_int(b, "keepdims", 0);
    odb_build_node(b, "SplitToSequence", "list", "scaled", "list");
    odb_build_node(b, "Optional", "maybe", "scaled", "maybe");
    if (odb_tensor_new(&t, ODB_F32, 2, (int64_t[]){0, 3}, &err))
        abort();
    odb_build_weight(b, "nothing", t);
    odb_tensor_unref(t);
    if (odb_tensor_copy_of(&t, ODB_C64, 1, (int64_t[]){2}, (float[]){1, -2, 0, 0.5f}, &err))
        abort();
    odb_build_weight(b, "complex", t);
    odb_tensor_unref(t);
    odb_build_output(b, "deep");
    odb_build_output(b, "scalar");
    odb_build_output_typed(b, "scaled", ODB_F32, 2, (int64_t[]){3, 3});
}

/* What one node makes is read by forty, and what these make by one. */
static void models_fan(struct odb_builder *b)
{
    struct odb_buf readers = ODB_BUF_INIT;
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){4, 4});
    odb_build_node(b, "Relu", "hub", "x", "spread");
    for (int i = 0; i < 40; i++) {
        char name[16], output[16];
        snprintf(name, sizeof name, "blade%02d", i);
        snprintf(output, sizeof output, "b%02d", i);
        odb_build_node(b, "Sigmoid", name, "spread", output);
        odb_buf_printf(&readers, "%s%s", i ? " " : "", output);
    }
    odb_build_node(b, "Sum", "together", odb_buf_text(&readers), "sum");
    odb_build_node(b, "Tanh", "last", "sum", "y");
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){4, 4});
    odb_buf_dispose(&readers);
}

/* Layers whose names are long paths, all but a few of which begin alike. */
static void models_paths(struct odb_builder *b)
{
    static const char *const parts[][2] = {
        {"MatMul", "attention/self/query/Tensordot/MatMul"},
        {"Add", "attention/self/query/BiasAdd"},
        {"MatMul", "attention/self/key/Tensordot/MatMul"},
        {"Add", "attention/self/key/BiasAdd"},
        {"MatMul", "attention/self/value/Tensordot/MatMul"},
        {"Add", "attention/self/value/BiasAdd"},
        {"MatMul", "intermediate/dense/Tensordot/MatMul"},
        {"Tanh", "intermediate/activation/Tanh"},
        {"MatMul", "output/dense/MatMul"},
        {"Add", "output/dense/BiasAdd"},
    };
    char input[64] = "x", output[64];
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){4, 4});
    models_weight(b, "w", 4);
    for (size_t i = 0; i < 6 * ODB_COUNT(parts); i++) {
        const char *const *part = parts[i % ODB_COUNT(parts)];
        char *name =
            odb_xasprintf("transformer/bert/encoder/layer_%zu/%s", i / ODB_COUNT(parts), part[1]);
        char *inputs = odb_xasprintf(strcmp(part[0], "Tanh") ? "%s w" : "%s", input);
        snprintf(output, sizeof output, "v%zu", i);
        odb_build_node(b, part[0], name, inputs, output);
        snprintf(input, sizeof input, "%s", output);
        free(name);
        free(inputs);
    }
    odb_build_node(b, "Softmax", "transformer/logits", input, "y");
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){4, 4});
}

/* Weights that nodes make, all of them in front; one reader has several, one a single one. */
static void models_constants(struct odb_builder *b)
{
    static const char *const makes[] = {"first/w", "second/w", "second/scale", "second/bias"};
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){4, 4});
    models_weight(b, "seed", 4);
    for (size_t i = 0; i < ODB_COUNT(makes); i++)
        odb_build_node(b, i % 2 ? "Tanh" : "Sigmoid", makes[i], "seed", makes[i]);
    odb_build_node(b, "Mul", "second/scaled", "second/w second/scale", "second/scaled");
    odb_build_node(b, "MatMul", "net/first/MatMul", "x first/w", "a");
    odb_build_node(b, "Relu", "net/first/Relu", "a", "r");
    odb_build_node(b, "Gemm", "net/second/Gemm", "r second/scaled second/bias", "g");
    odb_build_node(b, "Softmax", "net/second/Softmax", "g", "y");
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){4, 4});
}

/* So many nodes that writing them down takes a while. */
static void models_long(struct odb_builder *b)
{
    char input[16] = "x", output[16];
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    for (int i = 0; i < 50000; i++) {
        snprintf(output, sizeof output, "v%d", i);
        odb_build_node(b, i % 2 ? "Neg" : "Relu", "", input, output);
        memcpy(input, output, sizeof input);
    }
    odb_build_output_typed(b, output, ODB_F32, 1, (int64_t[]){2});
}

/* What every text of the next model holds. tests/screen/raw looks for 7777 behind what acts. */
#define HOSTILE                                                                                    \
    "\033]52;c;7777\a\033[7777J\033[;7777H\033P7777\033\\\x9b"                                     \
    "7777m\xc2\x9b"                                                                                \
    "7777m\0337777\b7777"                                                                          \
    "\r7777\n7777\v7777\t\177\0167777\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xe2\x80\xa8\xff\xed\xa0" \
    "\x80"                                                                                         \
    "漢e\xcc\x81\xcc\x81\xcc\x81👩‍💻"

/* A chain that runs, and beside it operators of an unknown domain. Nothing in it is called
 * by a name that is meant well: none is empty in place of one, two are equal, one has 10,000 bytes.
 */
static void models_hostile(struct odb_builder *b)
{
    char *longest = odb_xcalloc(10001, 1), input[512] = "x" HOSTILE, output[512];
    memset(longest, 'W', 10000);
    const char *const names[] = {"first" HOSTILE, "", "twice" HOSTILE, "twice" HOSTILE, longest};
    odb_build_opset(b, "domain" HOSTILE, 1);
    odb_build_metadata(b, "key" HOSTILE, "value" HOSTILE);
    odb_build_input(b, input, ODB_F32, 2, (int64_t[]){4, 4});
    models_weight(b, "w" HOSTILE, 4);
    for (size_t i = 0; i < 2 * ODB_COUNT(names); i++) {
        char *inputs = odb_xasprintf("%s w" HOSTILE, input);
        char *known = odb_xasprintf("__%zu" HOSTILE, i); /* without __ Add would have to know it */
        bool runs = i < ODB_COUNT(names);
        snprintf(output, sizeof output, "v%zu" HOSTILE, i);
        odb_build_node(b, runs ? "Add" : "domain" HOSTILE "::Op" HOSTILE,
                       names[i % ODB_COUNT(names)], inputs, output);
        odb_build_node_metadata(b, "key" HOSTILE, "value" HOSTILE);
        odb_build_attr_string(b, known, "attribute" HOSTILE);
        if (i == ODB_COUNT(names) - 1)
            odb_build_output_typed(b, output, ODB_F32, 2, (int64_t[]){4, 4});
        snprintf(input, sizeof input, "%s", output);
        free(inputs);
        free(known);
    }
    odb_build_output_typed(b, output, ODB_F32, 2, (int64_t[]){4, 4});
    free(longest);
}

static const struct kind KINDS[] = {
    {"names", models_names}, {"custom", models_custom},       {"unnamed", models_unnamed},
    {"sized", models_sized}, {"empty", models_empty},         {"kinds", models_kinds},
    {"fan", models_fan},     {"long", models_long},           {"hostile", models_hostile},
    {"paths", models_paths}, {"constants", models_constants}, {"stateful", models_stateful},
};

int main(int argc, char **argv)
{
    struct odb_error err = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK;
    if (argc != 2)
        return 2;
    for (size_t i = 0; i < ODB_COUNT(KINDS) && status == ODB_OK; i++) {
        char *path = odb_xasprintf("%s/%s.onnx", argv[1], KINDS[i].name);
        struct odb_builder *b =
            odb_build_new(KINDS[i].make == models_hostile ? "graph" HOSTILE : KINDS[i].name, 17);
        KINDS[i].make(b);
        status = odb_build_write(b, path, NULL, &err);
        odb_build_free(b);
        free(path);
    }
    if (status != ODB_OK)
        fprintf(stderr, "screen-models: %s\n", err.what);
    return status != ODB_OK;
}
