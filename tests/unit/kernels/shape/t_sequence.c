/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sequences and optionals of every element type, from empty ones to positions that are not there.
 */
#include "tests/help/op_case.h"

/* A container of tensors as they are written, up to NULL. */
static struct odb_tensor *sequence_of(enum odb_kind kind, enum odb_dtype dtype,
                                      const char *const *texts)
{
    struct odb_tensor *items[8] = {NULL}, *out = NULL;
    size_t n = 0;
    for (; texts && texts[n]; n++)
        items[n] = op_tensor(texts[n]);
    assert_int_equal(odb_tensor_new_container(&out, kind, items, n, NULL), ODB_OK);
    out->dtype = dtype;
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(items[i]);
    return out;
}
#define SEQ(dtype, ...) sequence_of(ODB_SEQUENCE, dtype, (const char *const[]){__VA_ARGS__, NULL})
#define NO_SEQ(dtype) sequence_of(ODB_SEQUENCE, dtype, NULL)

/* Runs on inputs, which are freed; the output, or NULL with the status in *status. */
static struct odb_tensor *sequence_run_in(enum odb_precision precision, const char *op, int opset,
                                          const char *attrs, int n, struct odb_tensor *const *in,
                                          enum odb_status *status, struct odb_error *err)
{
    struct odb_tensor *out = NULL;
    const struct op_call call = {.op = op, .opset = opset, .attrs = attrs, .precision = precision};
    *status = op_run(&call, n, in, 1, &out, err);
    for (int i = 0; i < n; i++)
        odb_tensor_unref(in[i]);
    return out;
}

static struct odb_tensor *sequence_run(const char *op, int opset, const char *attrs, int n,
                                       struct odb_tensor *const *in)
{
    enum odb_status status;
    struct odb_error err = ODB_ERROR_INIT;
    char text[1000];
    struct odb_tensor *out =
        sequence_run_in(ODB_PREC_NATIVE, op, opset, attrs, n, in, &status, &err);
    if (status != ODB_OK)
        fail_msg("%s: %s", op, odb_error_text(&err, text, sizeof text));
    return out;
}
#define IN(...)                                                                                    \
    (int)ODB_COUNT(((struct odb_tensor *[]){__VA_ARGS__})), (struct odb_tensor *[])                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void sequence_refuses(const char *op, const char *attrs, int n, struct odb_tensor *const *in,
                             const char *says)
{
    enum odb_status status;
    struct odb_error err = ODB_ERROR_INIT;
    char text[1000];
    assert_null(sequence_run_in(ODB_PREC_NATIVE, op, 24, attrs, n, in, &status, &err));
    assert_int_equal(status, ODB_E_OPERATOR);
    if (!strstr(odb_error_text(&err, text, sizeof text), says))
        fail_msg("%s: '%s' does not say '%s'", op, text, says);
}

/* Takes got over. */
static void sequence_is(struct odb_tensor *got, struct odb_tensor *want)
{
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(got->dtype, want->dtype);
    assert_true(odb_tensor_identical(got, want));
    odb_tensor_unref(got);
    odb_tensor_unref(want);
}

static void test_sequence__makes(void **state)
{
    sequence_is(sequence_run("SequenceConstruct", 11, NULL,
                             IN(op_tensor("float[2] 1 2"), op_tensor("float[] 3"))),
                SEQ(ODB_F32, "float[2] 1 2", "float[] 3"));
    sequence_is(sequence_run("SequenceEmpty", 11, NULL, 0, NULL), NO_SEQ(ODB_F32));
    sequence_is(sequence_run("SequenceEmpty", 11, "dtype=8", 0, NULL), NO_SEQ(ODB_STRING));
    sequence_refuses("SequenceEmpty", "dtype=99", 0, NULL, "no element type");
    sequence_refuses("SequenceConstruct", NULL, IN(op_tensor("float[] 1"), op_tensor("int64[] 1")),
                     "must be of one type, and are float and int64");
}

static void test_sequence__inserts_and_erases(void **state)
{
    static const struct {
        const char *at;
        const char *want[4];
    } cases[] = {{NULL, {"int8[] 1", "int8[] 2", "int8[] 9"}},
                 {"int64[] 2", {"int8[] 1", "int8[] 2", "int8[] 9"}},
                 {"int32[] 0", {"int8[] 9", "int8[] 1", "int8[] 2"}},
                 {"int64[1] -1", {"int8[] 1", "int8[] 9", "int8[] 2"}},
                 {"int64[] -2", {"int8[] 9", "int8[] 1", "int8[] 2"}}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_tensor *in[3] = {SEQ(ODB_I8, "int8[] 1", "int8[] 2"), op_tensor("int8[] 9"),
                                    cases[i].at ? op_tensor(cases[i].at) : NULL};
        sequence_is(sequence_run("SequenceInsert", 11, NULL, cases[i].at ? 3 : 2, in),
                    sequence_of(ODB_SEQUENCE, ODB_I8, cases[i].want));
    }
    sequence_is(sequence_run("SequenceInsert", 11, NULL,
                             IN(NO_SEQ(ODB_UNDEFINED), op_tensor("string[2] a ''"))),
                SEQ(ODB_STRING, "string[2] a ''"));
    sequence_is(sequence_run("SequenceErase", 11, NULL, IN(SEQ(ODB_I4, "int4[3] 1 2 3"))),
                NO_SEQ(ODB_I4)); /* the type outlives the elements */
    sequence_is(sequence_run("SequenceErase", 11, NULL,
                             IN(SEQ(ODB_U8, "uint8[] 1", "uint8[] 2"), op_tensor("int64[] -2"))),
                SEQ(ODB_U8, "uint8[] 2"));
    sequence_refuses("SequenceInsert", NULL,
                     IN(SEQ(ODB_I8, "int8[] 1"), op_tensor("int8[] 9"), op_tensor("int64[] 2")),
                     "position 2 is outside of a sequence of 1");
    sequence_refuses("SequenceInsert", NULL, IN(NO_SEQ(ODB_F32), op_tensor("int8[] 9")),
                     "a tensor of int8 cannot go into a sequence of float");
    sequence_refuses("SequenceErase", NULL, IN(NO_SEQ(ODB_F32)), "empty");
    sequence_refuses("SequenceErase", NULL, IN(SEQ(ODB_I8, "int8[] 1"), op_tensor("int64[] -2")),
                     "outside");
    sequence_refuses("SequenceInsert", NULL, IN(op_tensor("int8[] 9"), op_tensor("int8[] 9")),
                     "must not be a tensor");
}

static void test_sequence__answers(void **state)
{
    sequence_is(sequence_run("SequenceAt", 11, NULL,
                             IN(SEQ(ODB_I4, "int4[3] 1 2 3", "int4[0]"), op_tensor("int64[] -2"))),
                op_tensor("int4[3] 1 2 3"));
    sequence_is(sequence_run("SequenceLength", 11, NULL, IN(NO_SEQ(ODB_UNDEFINED))),
                op_tensor("int64[] 0"));
    sequence_is(sequence_run("SequenceLength", 11, NULL, IN(SEQ(ODB_F32, "float[] 1"))),
                op_tensor("int64[] 1"));
    sequence_refuses("SequenceAt", NULL, IN(NO_SEQ(ODB_F32), op_tensor("int64[] 0")),
                     "position 0 is outside of a sequence of 0");
    sequence_refuses("SequenceAt", NULL, IN(SEQ(ODB_F32, "float[] 1"), op_tensor("int64[0]")),
                     "one number");
}

static void test_sequence__splits(void **state)
{
    sequence_is(sequence_run("SplitToSequence", 11, NULL, IN(op_tensor("float[2,2] 1 2 3 4"))),
                SEQ(ODB_F32, "float[1,2] 1 2", "float[1,2] 3 4"));
    sequence_is(sequence_run("SplitToSequence", 24, "axis=-1 keepdims=0",
                             IN(op_tensor("string[2,2] a b c d"))),
                SEQ(ODB_STRING, "string[2] a c", "string[2] b d"));
    sequence_is(sequence_run("SplitToSequence", 11, "axis=1 keepdims=0",
                             IN(op_tensor("int4[2,3] 1 2 3 4 5 6"), op_tensor("int64[] 2"))),
                SEQ(ODB_I4, "int4[2,2] 1 2 4 5", "int4[2,1] 3 6"));
    sequence_is(sequence_run("SplitToSequence", 24, NULL,
                             IN(op_tensor("uint2[5] 1 2 3 0 1"), op_tensor("int32[3] 1 4 0"))),
                SEQ(ODB_U2, "uint2[1] 1", "uint2[4] 2 3 0 1", "uint2[0]"));
    sequence_is(sequence_run("SplitToSequence", 24, NULL,
                             IN(op_tensor("bool[2] 1 0"), op_tensor("int64[] 7"))),
                SEQ(ODB_BOOL, "bool[2] 1 0"));
    sequence_is(sequence_run("SplitToSequence", 24, NULL, IN(op_tensor("double[0,2]"))),
                NO_SEQ(ODB_F64));
    sequence_refuses("SplitToSequence", NULL, IN(op_tensor("float[] 1")), "axis 0");
    sequence_refuses("SplitToSequence", NULL, IN(op_tensor("float[2] 1 2"), op_tensor("int64[] 0")),
                     "must be positive");
    sequence_refuses("SplitToSequence", NULL,
                     IN(op_tensor("float[2] 1 2"), op_tensor("int64[2] 1 2")), "adds up to 3");
    sequence_refuses("SplitToSequence", NULL,
                     IN(op_tensor("float[2] 1 2"), op_tensor("int64[2] -1 3")), "split[0] is -1");
    sequence_refuses("SplitToSequence", NULL,
                     IN(op_tensor("float[2] 1 2"), op_tensor("int64[1,1] 1")), "2 dimensions");
}

static void test_sequence__joins(void **state)
{
    sequence_is(sequence_run("ConcatFromSequence", 11, "axis=-1",
                             IN(SEQ(ODB_I4, "int4[2,1] 1 2", "int4[2,2] 3 4 5 6"))),
                op_tensor("int4[2,3] 1 3 4 2 5 6"));
    sequence_is(sequence_run("ConcatFromSequence", 11, "axis=-1 new_axis=1",
                             IN(SEQ(ODB_STRING, "string[2] a b", "string[2] c ''"))),
                op_tensor("string[2,2] a c b ''"));
    sequence_is(sequence_run("ConcatFromSequence", 11, "axis=0 new_axis=1",
                             IN(SEQ(ODB_BOOL, "bool[] 1", "bool[] 0"))),
                op_tensor("bool[2] 1 0"));
    sequence_refuses("ConcatFromSequence", "axis=0", IN(NO_SEQ(ODB_F32)), "empty sequence");
    sequence_refuses("ConcatFromSequence", NULL, IN(SEQ(ODB_F32, "float[1] 1")),
                     "attribute axis of ConcatFromSequence is missing");
    sequence_refuses("ConcatFromSequence", "axis=1", IN(SEQ(ODB_F32, "float[1] 1")), "axis 1");
    sequence_refuses("ConcatFromSequence", "axis=0",
                     IN(SEQ(ODB_F32, "float[1,1] 1", "float[1,2] 1 2")), "element 1, float (1, 2)");
    sequence_refuses("ConcatFromSequence", "axis=0 new_axis=1",
                     IN(SEQ(ODB_F32, "float[1] 1", "float[2] 1 2")), "element 1");
}

static struct odb_tensor *sequence_optional(struct odb_tensor *item, enum odb_dtype dtype)
{
    struct odb_tensor *out = NULL;
    assert_int_equal(odb_tensor_new_container(&out, ODB_OPTIONAL, &item, item != NULL, NULL),
                     ODB_OK);
    out->dtype = dtype;
    odb_tensor_unref(item);
    return out;
}

static void test_sequence__optionals(void **state)
{
    struct odb_attr type = {.name = "type", .type = ODB_ATTR_TYPE_PROTO, .n = 1, .dtype = ODB_I16};
    struct odb_tensor *out = NULL;
    const struct odb_call call = {.op = odb_op_find("", "Optional", 15),
                                  .opset = 15,
                                  .attrs = {&type, 1},
                                  .n_out = 1,
                                  .wanted = &(bool){true}};
    assert_int_equal(odb_op_run(&call, &out, NULL), ODB_OK);
    sequence_is(out, sequence_optional(NULL, ODB_I16));
    sequence_is(sequence_run("Optional", 15, NULL, IN(SEQ(ODB_F32, "float[] 1"))),
                sequence_optional(SEQ(ODB_F32, "float[] 1"), ODB_F32));
    sequence_is(sequence_run("OptionalGetElement", 15, NULL,
                             IN(sequence_optional(op_tensor("int8[2] 1 2"), ODB_I8))),
                op_tensor("int8[2] 1 2"));
    sequence_is(sequence_run("OptionalGetElement", 18, NULL, IN(op_tensor("float16[2] 1 2"))),
                op_tensor("float16[2] 1 2"));
    sequence_is(sequence_run("OptionalHasElement", 15, NULL,
                             IN(sequence_optional(NO_SEQ(ODB_F32), ODB_F32))),
                op_tensor("bool[] 1")); /* an empty sequence is something */
    sequence_is(sequence_run("OptionalHasElement", 18, NULL, IN(sequence_optional(NULL, ODB_F32))),
                op_tensor("bool[] 0"));
    sequence_is(sequence_run("OptionalHasElement", 18, NULL, 0, NULL), op_tensor("bool[] 0"));
    sequence_is(sequence_run("OptionalHasElement", 18, NULL, IN(op_tensor("float[0]"))),
                op_tensor("bool[] 1"));
    sequence_refuses("OptionalGetElement", NULL, IN(sequence_optional(NULL, ODB_F32)), "empty");
    sequence_refuses("Optional", NULL, 0, NULL, "neither a value nor the attribute type");
    sequence_refuses("Optional", NULL, IN(sequence_optional(NULL, ODB_F32)), "is an optional");
}

/* What double mode hands over is double throughout, and stays it. */
static void test_sequence__in_double(void **state)
{
    enum odb_status status;
    struct odb_tensor *out =
        sequence_run_in(ODB_PREC_F64, "SequenceInsert", 11, NULL,
                        IN(SEQ(ODB_F16, "float16[] 1"), op_tensor("double[] 0.1")), &status, NULL);
    assert_int_equal(status, ODB_OK);
    sequence_is(out, SEQ(ODB_F64, "double[] 1", "double[] 0.1"));
    out = sequence_run_in(ODB_PREC_F64, "SequenceInsert", 11, NULL,
                          IN(NO_SEQ(ODB_F32), op_tensor("float[] 3")), &status, NULL);
    assert_int_equal(status, ODB_OK);
    sequence_is(out, SEQ(ODB_F64, "double[] 3"));
    out = sequence_run_in(ODB_PREC_F64, "SequenceConstruct", 11, NULL,
                          IN(op_tensor("float[] 1"), op_tensor("double[] 2")), &status, NULL);
    assert_int_equal(status, ODB_OK);
    sequence_is(out, SEQ(ODB_F64, "double[] 1", "double[] 2"));
    out = sequence_run_in(ODB_PREC_F64, "SequenceEmpty", 11, "dtype=10", 0, NULL, &status, NULL);
    sequence_is(out, NO_SEQ(ODB_F64));
    out = sequence_run_in(ODB_PREC_F64, "SequenceAt", 11, NULL,
                          IN(SEQ(ODB_F32, "float[2] 1 2"), op_tensor("int64[] 0")), &status, NULL);
    sequence_is(out, op_tensor("double[2] 1 2"));
    out = sequence_run_in(ODB_PREC_F64, "SplitToSequence", 11, NULL, IN(op_tensor("float[1] 2")),
                          &status, NULL);
    assert_int_equal(status, ODB_OK);
    sequence_is(out, SEQ(ODB_F64, "double[1] 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequence__makes),
        cmocka_unit_test(test_sequence__inserts_and_erases),
        cmocka_unit_test(test_sequence__answers),
        cmocka_unit_test(test_sequence__splits),
        cmocka_unit_test(test_sequence__joins),
        cmocka_unit_test(test_sequence__optionals),
        cmocka_unit_test(test_sequence__in_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
