/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/help/models.h"

#include "model/write/pack.h"
#include "tools/gen.c"
#include "tools/gen_decoder.c"
#include "model/read/load.h"
#include "model/text/model_text.h"

static struct odb_model *text_generated(const char *kind)
{
    return models_take(gen_model(kind, &(struct gen_options){.seed = 42}, NULL));
}

static void text_check_node(const struct odb_model *model, size_t node, const char *expected)
{
    struct odb_buf out = ODB_BUF_INIT;
    odb_node_text(model->graph, &model->graph->nodes[node], &out);
    assert_string_equal(odb_buf_text(&out), expected);
    odb_buf_dispose(&out);
}

static const char text_odd[] =
    "<\n"
    "    ir_version: 8,\n"
    "    opset_import: [\"\" : 17, \"local\" : 1],\n"
    "    producer_name: \"onnxdbg\",\n"
    "    producer_version: \"" ODB_VERSION "\",\n"
    "    metadata_props: [\"purpose\": \"legal, but unusual\"]\n"
    ">\n"
    "\"odd graph\" (float[2, 6] x, bool flag, int64[2] which) => (float[2, 2] y, int64[2] "
    "counts, bool[2, 2] mask, float[2, 2] chosen)\n"
    "<\n"
    "    int64[2] ones = {1, 1},\n"
    "    int64[3] parts = {2, 2, 2},\n"
    "    float ceiling = {0.75},\n"
    "    float16 half = {1.5}\n"
    ">\n"
    "{\n"
    "    [cut] left, middle, \"right/odd:0\" = Split <axis: int = 1> (x, parts)\n"
    "    [\"same name\"] clipped = Clip (\"right/odd:0\", \"\", ceiling)\n"
    "    left16 = Cast <to: int = 10> (left)\n"
    "    big16 = Mul (left16, half)\n"
    "    big = Cast <to: int = 1> (big16)\n"
    "    [compare] mask = Greater (big, middle)\n"
    "    rest = Not (mask)\n"
    "    chosen = Where (rest, big, middle)\n"
    "    shape = Shape (x)\n"
    "    [pick] sizes = Gather (shape, which)\n"
    "    counts = Add (sizes, ones)\n"
    "    counts32 = Cast <to: int = 1> (counts)\n"
    "    [branch] branched = If (flag) <then_branch: graph = then () => (float[2, 2] then)\n"
    "    <\n"
    "        float amount = {2}\n"
    "    >\n"
    "    {\n"
    "        [\"same name\"] then = Add (clipped, amount)\n"
    "    }, else_branch: graph = else () => (float[2, 2] else)\n"
    "    <\n"
    "        float amount = {-1.5}\n"
    "    >\n"
    "    {\n"
    "        [\"same name\"] else = Mul (clipped, amount)\n"
    "    }>\n"
    "    [call] scaled = local.Scaled <alpha: float = 0.5> (branched)\n"
    "    y = Sum (scaled, chosen, counts32)\n"
    "}\n"
    "<\n"
    "    domain: \"local\",\n"
    "    opset_import: [\"\" : 17]\n"
    ">\n"
    "Scaled <alpha> (X) => (Y)\n"
    "{\n"
    "    alpha = Constant <value_float: float = @alpha> ()\n"
    "    [scale] scaled = Mul (X, alpha)\n"
    "    Y = Add (scaled, X)\n"
    "}\n";

static void test_text__whole_model(void **state)
{
    struct odb_model *model = text_generated("odd");
    struct odb_buf out = ODB_BUF_INIT;
    odb_model_text(model, &out);
    assert_string_equal(odb_buf_text(&out), text_odd);
    odb_buf_dispose(&out);
    odb_model_free(model);
}

static void test_text__nodes(void **state)
{
    struct odb_model *model = text_generated("demo");
    text_check_node(model, 0,
                    "[\"/stem/conv/Conv\"] \"/stem/conv/Conv_output_0\" = Conv <dilations: ints = "
                    "[1, 1], group: int = 1, kernel_shape: ints = [3, 3], pads: ints = [1, 1, 1, "
                    "1], strides: ints = [1, 1]> (image, \"stem.conv.weight\")\n");
    text_check_node(model, 1,
                    "[\"/stem/bn/BatchNormalization\"] \"/stem/bn/BatchNormalization_output_0\" = "
                    "BatchNormalization <epsilon: float = 1e-05, momentum: float = 0.9> "
                    "(\"/stem/conv/Conv_output_0\", \"stem.bn.weight\", \"stem.bn.bias\", "
                    "\"stem.bn.running_mean\", \"stem.bn.running_var\")\n");
    odb_model_free(model);
}

static void text_check_attr(struct odb_attr attr, const char *expected)
{
    struct odb_buf out = ODB_BUF_INIT;
    odb_attr_text(&attr, &out);
    assert_string_equal(odb_buf_text(&out), expected);
    odb_buf_dispose(&out);
}

static struct odb_attr text_string(const char *data, size_t len)
{
    return (struct odb_attr){.type = ODB_ATTR_STRING, .s = {data, len}};
}

static void test_text__attribute_values(void **state)
{
    const int64_t ints[20] = {1, 1, -3, 4, 5, 6, 7, 8, 9};
    const odb_f32 floats[] = {0.1f, 1, -2.5f, 16777216.0f, INFINITY, NAN};
    const struct odb_str strings[] = {{"a", 1}, {"b\"\\", 3}};
    text_check_attr((struct odb_attr){.type = ODB_ATTR_INT, .i = INT64_MIN},
                    "-9223372036854775808");
    text_check_attr((struct odb_attr){.type = ODB_ATTR_FLOAT, .f = 1e-5f}, "1e-05");
    text_check_attr((struct odb_attr){.type = ODB_ATTR_FLOAT, .f = 1.0f / 3}, "0.33333334");
    text_check_attr((struct odb_attr){.type = ODB_ATTR_FLOAT, .f = -INFINITY}, "-inf");
    text_check_attr((struct odb_attr){.type = ODB_ATTR_INTS, .ints = ints, .n = 2}, "[1, 1]");
    text_check_attr((struct odb_attr){.type = ODB_ATTR_INTS}, "[]");
    text_check_attr((struct odb_attr){.type = ODB_ATTR_INTS, .ints = ints, .n = 20},
                    "[1, 1, -3, 4, 5, 6, 7, 8, ... 20 in all]");
    text_check_attr((struct odb_attr){.type = ODB_ATTR_FLOATS, .floats = floats, .n = 6},
                    "[0.1, 1, -2.5, 16777216, inf, nan]");
    text_check_attr((struct odb_attr){.type = ODB_ATTR_STRINGS, .strings = strings, .n = 2},
                    "[\"a\", \"b\\\"\\\\\"]");
    text_check_attr((struct odb_attr){.type = ODB_ATTR_TYPE_PROTO, .text = "float[1]"}, "float[1]");
    text_check_attr((struct odb_attr){.type = ODB_ATTR_INT, .ref_name = "outer"}, "@outer");
    text_check_attr((struct odb_attr){.type = (enum odb_attr_type)99}, "");
}

/* Strings come from files: nothing in them may reach a terminal as a command. */
static void test_text__strings_are_safe(void **state)
{
    char longer[600];
    memset(longer, 'x', sizeof longer);
    text_check_attr(text_string("SAME_UPPER", 10), "\"SAME_UPPER\"");
    text_check_attr(text_string(NULL, 0), "\"\"");
    text_check_attr(text_string("a\0b", 3), "\"a\\x00b\"");
    text_check_attr(text_string("\x1b[2J\n", 5), "\"\\x1b[2J\\x0a\"");
    text_check_attr(text_string("\xc3\xa4\xff", 3), "\"\xc3\xa4\\xff\"");
    struct odb_attr attr = text_string(longer, sizeof longer);
    struct odb_buf out = ODB_BUF_INIT;
    odb_attr_text(&attr, &out);
    assert_int_equal(out.len, 2 + 256 + strlen("... 600 bytes in all"));
    assert_string_equal(out.data + out.len - 20, "... 600 bytes in all");
    odb_buf_dispose(&out);
}

static void test_text__tensors(void **state)
{
    struct odb_tensor *small = models_f32(2, (int64_t[]){2, 2}, (float[]){1, 2, 3, 4});
    struct odb_tensor *large = NULL, *words = NULL, *shape = NULL;
    MODELS_OK(odb_tensor_new(&large, ODB_U64, 1, (int64_t[]){9}, &why));
    memset(large->data, 0xff, 8);
    MODELS_OK(odb_tensor_copy_of(&words, ODB_STRING, 1, (int64_t[]){1}, &(struct odb_str){"hi", 2},
                                 &why));
    MODELS_OK(odb_tensor_new_shape(&shape, ODB_F16, 2, (int64_t[]){3, 4}, &why));
    struct {
        struct odb_tensor *t;
        const char *expected;
    } rows[] = {
        {small, "float[2, 2] {1, 2, 3, 4}"},
        {large, "uint64[9] {18446744073709551615, 0, 0, 0, ... 9 in all}"},
        {words, "string[1] {\"hi\"}"},
        {shape, "float16[3, 4] {... 12 in all}"},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        text_check_attr((struct odb_attr){.type = ODB_ATTR_TENSOR, .tensors = &rows[i].t, .n = 1},
                        rows[i].expected);
        odb_tensor_unref(rows[i].t);
    }
}

static void text_check_type(const Onnx__TypeProto *type, const char *expected)
{
    struct odb_buf out = ODB_BUF_INIT;
    odb_model__type_text(type, false, &out);
    assert_string_equal(odb_buf_text(&out), expected);
    odb_buf_dispose(&out);
}

static void test_text__types(void **state)
{
    struct model_arena *arena = odb_model__arena_new();
    Onnx__TypeProto *plain = odb_model__tensor_type(ODB_I64, 2, (int64_t[]){1, -1}, "a b", arena);
    text_check_type(plain, "int64[1, \"a b_dim1\"]");
    text_check_type(odb_model__tensor_type(ODB_F32, 0, (int64_t[]){0}, "", arena), "float");
    text_check_type(odb_model__tensor_type(ODB_BOOL, 0, NULL, "", arena), "bool[]");
    text_check_type(odb_model__tensor_type((enum odb_dtype)77, 0, NULL, "", arena), "undefined[]");
    Onnx__TypeProto__Sequence sequence = ONNX__TYPE_PROTO__SEQUENCE__INIT;
    Onnx__TypeProto__Optional optional = ONNX__TYPE_PROTO__OPTIONAL__INIT;
    Onnx__TypeProto__Map map = ONNX__TYPE_PROTO__MAP__INIT;
    Onnx__TypeProto a = ONNX__TYPE_PROTO__INIT, b = ONNX__TYPE_PROTO__INIT;
    Onnx__TypeProto c = ONNX__TYPE_PROTO__INIT;
    text_check_type(&a, "");
    a.value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
    a.sequence_type = &sequence;
    sequence.elem_type = plain;
    b.value_case = ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
    b.optional_type = &optional;
    optional.elem_type = &a;
    text_check_type(&b, "optional(seq(int64[1, \"a b_dim1\"]))");
    c.value_case = ONNX__TYPE_PROTO__VALUE_MAP_TYPE;
    c.map_type = &map;
    map.key_type = ODB_STRING;
    map.value_type = &a;
    text_check_type(&c, "map(string, seq(int64[1, \"a b_dim1\"]))");
    sequence.elem_type = &a; /* its own element: text ends all the same */
    struct odb_buf out = ODB_BUF_INIT;
    odb_model__type_text(&a, false, &out);
    assert_true(out.len < 1000);
    odb_buf_dispose(&out);
    odb_model__arena_free(arena);
}

static void test_text__inputs_with_values(void **state)
{
    struct odb_builder *b = odb_build_new("g", 13);
    struct odb_tensor *w = models_f32(1, (int64_t[]){1}, (float[]){2});
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){-1});
    odb_build_input(b, "w", ODB_F32, 1, (int64_t[]){1});
    odb_build_weight(b, "w", w);
    odb_build_value_info(b, "h", ODB_F32, 1, (int64_t[]){-1});
    odb_build_node(b, "Mul", "", "x w", "h");
    odb_build_node(b, "Abs", "", "h", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){-1});
    odb_tensor_unref(w);
    struct odb_model *model = models_take(b);
    struct odb_buf out = ODB_BUF_INIT;
    odb_model_text(model, &out);
    const char *graph = strstr(odb_buf_text(&out), "g (");
    assert_non_null(graph);
    assert_string_equal(graph, "g (float[N0] x, float[1] w = {2}) => (float[N0] y)\n"
                               "<\n"
                               "    float[N0] h\n"
                               ">\n"
                               "{\n"
                               "    h = Mul (x, w)\n"
                               "    y = Abs (h)\n"
                               "}\n");
    odb_buf_dispose(&out);
    odb_model_free(model);
}

/* Text between two others of it, which must be there. */
static char *text_between(const char *text, const char *from, const char *to)
{
    const char *begin = strstr(text, from), *end = begin ? strstr(begin, to) : NULL;
    assert_non_null(begin);
    assert_non_null(end);
    return odb_xstrndup(begin, (size_t)(end - begin));
}

static void test_text__exact_is_for_the_parser(void **state)
{
    char *expected = odb_xstrdup(text_odd), *half = strstr(expected, "{1.5}");
    char *whole = odb_xasprintf("%.*s{15872}%s", (int)(half - expected), expected, half + 5);
    struct odb_model *model = text_generated("odd");
    struct odb_buf out = ODB_BUF_INIT;
    MODELS_OK(odb_model_text_exact(model, NULL, 16, NULL, &out, &why));
    assert_string_equal(odb_buf_text(&out), whole);
    odb_buf_dispose(&out);
    odb_model_free(model);
    free(whole);
    free(expected);
}

/* Floats that no integer can be taken for, whole strings with the bytes that they have, and names
 * only where the syntax has them quoted. */
static void test_text__exact_attributes(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17), *body = odb_build_new("a body-1", 17);
    struct odb_tensor *w = models_f32(1, (int64_t[]){2}, (float[]){1, -0.0f});
    char longer[400];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    odb_build_input(b, "float", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, "Odd", "", "float", "a");
    odb_build_attr_floats(b, "fs", 6, (float[]){1, -2, 1e-5f, INFINITY, -NAN, 16777216});
    odb_build_attr_float(b, "f", 3);
    odb_build_attr_string(b, "s", "\x1b[2J\"\\\n");
    odb_build_attr_string(b, "long", longer);
    odb_build_attr_tensor(b, "t", w);
    odb_build_output_typed(body, "y", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(body, "Neg", "", "a", "y");
    odb_build_node(b, "my-domain::Odd op", "", "a", "z");
    odb_build_attr_graph(b, "body", body);
    odb_build_output(b, "z");
    odb_tensor_unref(w);
    struct odb_model *model = models_take(b);
    struct odb_buf out = ODB_BUF_INIT;
    MODELS_OK(odb_model_text_exact(model, NULL, 16, NULL, &out, &why));
    const char *text = odb_buf_text(&out);
    char *part = text_between(text, "#", "<\n");
    assert_string_equal(part,
                        "# names that are no identifiers where ONNX's parser takes no other: 2\n"
                        "# bodies with another name, since theirs cannot be read back: 1\n"
                        "# texts with control characters or broken UTF-8, which are escapes here: "
                        "1\n");
    free(part);
    part = text_between(text, "g (", ", long");
    assert_string_equal(part,
                        "g (float[2] \"float\") => (z)\n{\n    a = Odd <fs: floats = [1.0, -2.0, "
                        "1e-05, inf, -nan, 16777216.0], f: float = 3.0, s: string = "
                        "\"\\\\x1b[2J\\\"\\\\\n\"");
    free(part);
    part = text_between(text, "xxx\",", " (\"float\")");
    assert_string_equal(part, "xxx\", t: tensor = float[2] {1, -0}>");
    free(part);
    assert_non_null(strstr(text, longer));
    assert_non_null(strstr(text, "body: graph = a_body_1 () => (float[2] y)"));
    odb_buf_dispose(&out);
    odb_model_free(model);
}

/* What is too long is named by its place, which holds those very bytes. */
static void test_text__exact_places(void **state)
{
    char *dir = models_folder(), path[300], external[300];
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *w = NULL, *v = NULL;
    snprintf(path, sizeof path, "%s/m.onnx", dir);
    snprintf(external, sizeof external, "%s/w.bin", dir);
    MODELS_OK(odb_tensor_new(&w, ODB_F32, 1, (int64_t[]){400}, &why));
    MODELS_OK(odb_tensor_new(&v, ODB_F32, 1, (int64_t[]){20}, &why));
    memset(w->data, 0x11, w->bytes);
    memset(v->data, 0x22, v->bytes);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){400});
    odb_build_weight(b, "w", w);
    odb_build_weight(b, "v", v);
    odb_build_node(b, "Odd", "", "x w v", "y");
    odb_build_output(b, "y");
    MODELS_OK(odb_build_write(b, path, "w.bin", &why));
    odb_build_free(b);
    struct odb_model *model;
    struct odb_buf out = ODB_BUF_INIT;
    size_t offset = 0, length = 0;
    MODELS_OK(odb_model_open(&model, path, &why));
    MODELS_OK(odb_model_text_exact(model, NULL, 16, NULL, &out, &why));
    assert_non_null(strstr(odb_buf_text(&out),
                           "float[400] w = [\"location\": \"w.bin\", \"offset\": "
                           "\"0\", \"length\": \"1600\"]"));
    const char *v_text = strstr(odb_buf_text(&out), "float[20] v = [\"location\": \"m.onnx\"");
    assert_non_null(v_text);
    assert_int_equal(sscanf(v_text,
                            "float[20] v = [\"location\": \"m.onnx\", \"offset\": \"%zu\", "
                            "\"length\": \"%zu\"]",
                            &offset, &length),
                     2);
    assert_int_equal(length, 80);
    FILE *file = fopen(path, "rb");
    unsigned char there[80] = {0};
    assert_int_equal(fseek(file, (long)offset, SEEK_SET), 0);
    assert_int_equal(fread(there, 1, 80, file), 80);
    fclose(file);
    assert_memory_equal(there, v->data, 80);
    odb_buf_clear(&out);
    MODELS_OK(odb_model_text_exact(model, NULL, SIZE_MAX, NULL, &out, &why));
    assert_null(strstr(odb_buf_text(&out), "location"));
    odb_buf_dispose(&out);
    odb_model_free(model);
    odb_tensor_unref(w);
    odb_tensor_unref(v);
    models_remove(dir);
}

/* Nodes as a graph of their own: what they read and do not make goes in, what others read comes
 * out, and of functions and weights there is what they use. */
static void test_text__exact_part(void **state)
{
    struct odb_model *model = text_generated("odd");
    bool *nodes = odb_new_n(bool, model->graph->n_nodes);
    struct odb_buf out = ODB_BUF_INIT;
    nodes[9] = nodes[10] = true;
    MODELS_OK(odb_model_text_exact(model, nodes, 16, NULL, &out, &why));
    char *part = text_between(odb_buf_text(&out), "\"odd graph\"", "\n}\n");
    assert_string_equal(part, "\"odd graph\" (int64[2] which, shape) => (int64[2] counts)\n"
                              "<\n"
                              "    int64[2] ones = {1, 1}\n"
                              ">\n"
                              "{\n"
                              "    [pick] sizes = Gather (shape, which)\n"
                              "    counts = Add (sizes, ones)");
    free(part);
    assert_null(strstr(odb_buf_text(&out), "Scaled"));
    odb_buf_clear(&out);
    memset(nodes, 0, model->graph->n_nodes);
    nodes[13] = true;
    MODELS_OK(odb_model_text_exact(model, nodes, 16, NULL, &out, &why));
    assert_non_null(strstr(odb_buf_text(&out), "Scaled <alpha> (X) => (Y)"));
    odb_buf_dispose(&out);
    free(nodes);
    odb_model_free(model);
}

static bool scan_stops(void *payload, size_t done, size_t total)
{
    size_t *looks = payload;
    assert_in_range(done, 1, total);
    return --*looks == 0;
}

/* Whoever stops it gets nothing, and nothing more is asked. */
static void test_text__all_weights_can_be_stopped(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *w = NULL;
    size_t looks = 2;
    const struct odb_progress progress = {scan_stops, &looks};
    struct odb_buf out = ODB_BUF_INIT;
    MODELS_OK(odb_tensor_new(&w, ODB_F32, 1, (int64_t[]){100000}, &why));
    odb_build_weight(b, "w", w);
    odb_build_node(b, "Neg", "", "w", "v");
    odb_build_output(b, "v");
    struct odb_model *model = models_take(b);
    assert_int_equal(odb_model_text_exact(model, NULL, SIZE_MAX, &progress, &out, &err),
                     ODB_CANCELLED);
    assert_int_equal(looks, 0);
    assert_int_equal(out.len, 0);
    looks = 100; /* more than it takes */
    MODELS_OK(odb_model_text_exact(model, NULL, SIZE_MAX, &progress, &out, &why));
    assert_in_range(looks, 1, 98);
    assert_true(out.len > 100000);
    odb_buf_dispose(&out);
    odb_model_free(model);
    odb_tensor_unref(w);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__whole_model),
        cmocka_unit_test(test_text__nodes),
        cmocka_unit_test(test_text__attribute_values),
        cmocka_unit_test(test_text__strings_are_safe),
        cmocka_unit_test(test_text__tensors),
        cmocka_unit_test(test_text__types),
        cmocka_unit_test(test_text__inputs_with_values),
        cmocka_unit_test(test_text__exact_is_for_the_parser),
        cmocka_unit_test(test_text__exact_attributes),
        cmocka_unit_test(test_text__exact_places),
        cmocka_unit_test(test_text__exact_part),
        cmocka_unit_test(test_text__all_weights_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
