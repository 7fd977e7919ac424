/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ai.onnx.ml without its trees (t_trees.c): scaling, encoding, maps, linear models, support
 * vectors.
 */
#include "tests/help/op_case.h"

#define ML(name) "ai.onnx.ml::" name
#define ML_OK(call) assert_int_equal(call, ODB_OK)

#define ML_FAILS(why, ...) OP_REFUSES(why, OP(__VA_ARGS__))
#define ML_FAILS_2(why, ...)                                                                       \
    op_expect_failure(&(const struct op_call)OP(__VA_ARGS__), 2, ODB_E_OPERATOR, why)
#define ML_LACKS_2(why, ...)                                                                       \
    op_expect_failure(&(const struct op_call)OP(__VA_ARGS__), 2, ODB_UNSUPPORTED, why)

/* --- scaling ---------------------------------------------------------------------------------- */

static void test_ml__binarizer(void **state)
{
    OP_EXPECT(0, OP(ML("Binarizer"), 1, "threshold=1f", {"float[5] 0.5 1 1.5 nan inf"}),
              "float[5] 0 0 1 0 1");
    OP_EXPECT(0, OP(ML("Binarizer"), 1, NULL, {"double[2,1] -0 1e-300"}), "double[2,1] 0 1");
    OP_EXPECT(0, OP(ML("Binarizer"), 1, "threshold=-1.5f", {"int32[3] -2 -1 0"}), "int32[3] 0 1 1");
    OP_EXPECT(0,
              OP(ML("Binarizer"), 1, "threshold=9007199254740992f",
                 {"int64[2] 9007199254740992 9007199254740993"}),
              "int64[2] 0 1");
    OP_EXPECT(0, OP(ML("Binarizer"), 1, "threshold=-1e30f", {"int64[1] -9223372036854775808"}),
              "int64[1] 1");
    OP_EXPECT(0, OP(ML("Binarizer"), 1, NULL, {"float[0,3]"}), "float[0,3]");
}

static void test_ml__imputer(void **state)
{
    OP_EXPECT(0,
              OP(ML("Imputer"), 1, "imputed_value_floats=7f,8f, replaced_value_float=nanf",
                 {"float[2,2] nan 1 2 nan"}),
              "float[2,2] 7 1 2 8");
    OP_EXPECT(0, OP(ML("Imputer"), 1, "imputed_value_floats=7f,", {"double[3] 0 -0 1"}),
              "double[3] 7 7 1");
    OP_EXPECT(0,
              OP(ML("Imputer"), 1, "imputed_value_int64s=-1,-2, replaced_value_int64=5",
                 {"int64[3,2] 5 5 1 5 5 1"}),
              "int64[3,2] -1 -2 1 -2 -1 1");
    OP_EXPECT(0, OP(ML("Imputer"), 1, "imputed_value_int64s=9,", {"int32[2] 0 3"}), "int32[2] 9 3");
    ML_FAILS("for 3 features", ML("Imputer"), 1, "imputed_value_floats=1f,2f,",
             {"float[1,3] 0 0 0"});
    ML_FAILS("for input of type int64", ML("Imputer"), 1, "imputed_value_floats=1f,",
             {"int64[1] 0"});
    ML_FAILS("0 imputed floats", ML("Imputer"), 1, NULL, {"float[1] 0"});
    ML_FAILS("too large for int32", ML("Imputer"), 1, "imputed_value_int64s=3000000000,",
             {"int32[1] 0"});
}

static void test_ml__scaler(void **state)
{
    OP_EXPECT(0, OP(ML("Scaler"), 1, "offset=1f,2f, scale=2f,0.5f,", {"float[2,2] 1 2 3 4"}),
              "float[2,2] 0 0 4 1");
    OP_EXPECT(0, OP(ML("Scaler"), 1, "offset=1f, scale=2f,", {"int64[3] 1 2 3"}), "float[3] 0 2 4");
    OP_EXPECT(0, OP(ML("Scaler"), 1, "offset=1f, scale=2f,", {"int32[0,3]"}), "float[0,3]");
    /* 16777217 is no float: it counts before it is rounded */
    OP_EXPECT(0, OP(ML("Scaler"), 1, "offset=16777216f, scale=1f,", {"double[1] 16777217"}),
              "float[1] 1");
    ML_FAILS("offset has 0", ML("Scaler"), 1, "scale=1f,", {"float[1] 0"});
    ML_FAILS("for 3 features", ML("Scaler"), 1, "offset=1f,2f, scale=1f,2f,", {"float[1,3] 0 0 0"});
    op_expect_modes(
        &(struct op_call)OP(ML("Scaler"), 1, "offset=0.1f, scale=0.7f,", {"float[8,3] random 3"}),
        1e-6);
}

static void test_ml__normalizer(void **state)
{
    OP_EXPECT(1e-7, OP(ML("Normalizer"), 1, NULL, {"float[2,2] 1 2 -4 -8"}),
              "float[2,2] 0.5 1 1 2");
    OP_EXPECT(1e-7, OP(ML("Normalizer"), 1, "norm=L1", {"float[2,2] 1 -3 0 0"}),
              "float[2,2] 0.25 -0.75 0 0");
    OP_EXPECT(1e-7, OP(ML("Normalizer"), 1, "norm=L2", {"int64[2] 3 -4"}), "float[2] 0.6 -0.8");
    OP_EXPECT(1e-7, OP(ML("Normalizer"), 1, "norm=L2", {"double[1,2] 3e200 4e100"}),
              "float[1,2] 0 0");
    OP_EXPECT(0, OP(ML("Normalizer"), 1, "norm=L2", {"float[3,0]"}), "float[3,0]");
    ML_FAILS("there is no norm 'L3'", ML("Normalizer"), 1, "norm=L3", {"float[1] 1"});
    ML_FAILS("must be [N, C] or [C]", ML("Normalizer"), 1, NULL, {"float[1,1,1] 1"});
    op_expect_modes(&(struct op_call)OP(ML("Normalizer"), 1, "norm=L1", {"float[5,40] random 3"}),
                    1e-6);
    op_expect_any_threads(
        &(struct op_call)OP(ML("Normalizer"), 1, "norm=L2", {"float[900,40] random 3"}));
}

static void test_ml__feature_vectorizer(void **state)
{
    OP_EXPECT(0,
              OP(ML("FeatureVectorizer"), 1, "inputdimensions=1,3,",
                 {"float[2,2] 1 2 3 4", "float[2,2] 5 6 7 8"}),
              "float[2,4] 1 5 6 0 3 7 8 0");
    OP_EXPECT(0, OP(ML("FeatureVectorizer"), 1, NULL, {"int64[2] 1 2", "int64[1,1] 3"}),
              "float[1,3] 1 2 3");
    OP_EXPECT(0, OP(ML("FeatureVectorizer"), 1, "inputdimensions=0,", {"int32[2,2] 1 2 3 4"}),
              "float[2,0]");
    ML_FAILS("has 1 rows", ML("FeatureVectorizer"), 1, NULL, {"float[2,1] 1 2", "float[1] 3"});
    ML_FAILS("1 elements for 2 inputs", ML("FeatureVectorizer"), 1, "inputdimensions=1,",
             {"float[1] 1", "float[1] 3"});
    ML_FAILS("inputdimensions[0] is -1", ML("FeatureVectorizer"), 1, "inputdimensions=-1,",
             {"float[1] 1"});
    struct odb_tensor *y = op_in_double(
        &(struct op_call)OP(ML("FeatureVectorizer"), 1, NULL, {"float[1] 0.1", "float[1] 2"}));
    assert_int_equal(y->dtype, ODB_F64);
    odb_tensor_unref(y);
}

/* --- encoding --------------------------------------------------------------------------------- */

static void test_ml__label_encoder_1(void **state)
{
    OP_EXPECT(0, OP(ML("LabelEncoder"), 1, "classes_strings=a;b;", {"string[1,3] b x a"}),
              "int64[1,3] 1 -1 0");
    OP_EXPECT(0,
              OP(ML("LabelEncoder"), 1, "classes_strings=a;b; default_string=none",
                 {"int64[4] 0 1 2 -1"}),
              "string[4] a b none none");
    ML_FAILS("classes_strings is missing", ML("LabelEncoder"), 1, NULL, {"int64[1] 0"});
}

static void test_ml__label_encoder_2(void **state)
{
    OP_EXPECT(
        0,
        OP(ML("LabelEncoder"), 2, "keys_strings=a;b;a; values_int64s=5,6,7,", {"string[3] a b c"}),
        "int64[3] 7 6 -1");
    OP_EXPECT(0,
              OP(ML("LabelEncoder"), 2,
                 "keys_int64s=1,-2, values_floats=0.5f,nanf, default_float=9f",
                 {"int64[3] -2 1 0"}),
              "float[3] nan 0.5 9");
    OP_EXPECT(
        0, OP(ML("LabelEncoder"), 2, "keys_floats=0f,1f, values_strings=zero;one;", {"float[] 1"}),
        "string[] one");
    /* bit by bit: -0 is not 0 */
    OP_EXPECT(0,
              OP(ML("LabelEncoder"), 2, "keys_floats=0f,nanf, values_int64s=1,2,",
                 {"float[4] 0 -0 nan 1"}),
              "int64[4] 1 -1 2 -1");
    OP_EXPECT(0, OP(ML("LabelEncoder"), 2, "keys_int64s=1, values_strings=a;", {"int64[0,2]"}),
              "string[0,2]");
    ML_FAILS("1 keys and 2 values", ML("LabelEncoder"), 2, "keys_int64s=1, values_int64s=1,2,",
             {"int64[1] 0"});
    ML_FAILS("only one of", ML("LabelEncoder"), 2,
             "keys_int64s=1, keys_strings=a; values_int64s=1,", {"int64[1] 0"});
    ML_FAILS("no list of values", ML("LabelEncoder"), 2, "keys_int64s=1,", {"int64[1] 0"});
    ML_FAILS("keys of type int64", ML("LabelEncoder"), 2, "keys_int64s=1, values_int64s=1,",
             {"float[1] 0"});
    struct odb_tensor *y = op_in_double(&(struct op_call)OP(
        ML("LabelEncoder"), 2, "keys_floats=0.1f, values_floats=0.2f,", {"float[1] 0.1"}));
    assert_int_equal(y->dtype, ODB_F64);
    assert_float_equal(odb_tensor_f64(y, 0), 0.2f, 0);
    odb_tensor_unref(y);
}

static void test_ml__label_encoder_4(void **state)
{
    OP_EXPECT(0,
              OP(ML("LabelEncoder"), 4,
                 "keys_tensor=@int16[2]:3:4 values_tensor=@double[2]:0.1:0.2 "
                 "default_tensor=@double[1]:-5",
                 {"int16[3] 4 3 9"}),
              "double[3] 0.2 0.1 -5");
    OP_EXPECT(0,
              OP(ML("LabelEncoder"), 4, "keys_floats=0f,nanf, values_int64s=1,2,",
                 {"float[4] 0 -0 nan 1"}),
              "int64[4] 1 1 2 -1");
    OP_EXPECT(0,
              OP(ML("LabelEncoder"), 4, "keys_tensor=@double[1]:0.1 values_tensor=@string[1]:x",
                 {"double[2] 0.1 0.2"}),
              "string[2] x _Unused");
    OP_EXPECT(
        0,
        OP(ML("LabelEncoder"), 4, "keys_strings=a; values_tensor=@int32[1]:7", {"string[2] a b"}),
        "int32[2] 7 -1");
    ML_FAILS("default_tensor must be one int64", ML("LabelEncoder"), 4,
             "keys_int64s=1, values_int64s=1, default_tensor=@float[1]:1", {"int64[1] 0"});
    ML_FAILS("keys of type double", ML("LabelEncoder"), 4,
             "keys_tensor=@double[1]:0.1 values_int64s=1,", {"float[1] 0.1"});
}

static void test_ml__category_mapper(void **state)
{
    static const char *const attrs = "cats_int64s=10,20, cats_strings=x;y;";
    OP_EXPECT(0, OP(ML("CategoryMapper"), 1, attrs, {"string[3] y z x"}), "int64[3] 20 -1 10");
    OP_EXPECT(0, OP(ML("CategoryMapper"), 1, attrs, {"int64[2,1] 20 21"}), "string[2,1] y _Unused");
    ML_FAILS("1 cats_int64s and 2", ML("CategoryMapper"), 1, "cats_int64s=1, cats_strings=x;y;",
             {"int64[1] 1"});
}

static void test_ml__one_hot_encoder(void **state)
{
    OP_EXPECT(0, OP(ML("OneHotEncoder"), 1, "cats_int64s=3,1,", {"int64[3] 1 3 2"}),
              "float[3,2] 0 1 1 0 0 0");
    OP_EXPECT(0, OP(ML("OneHotEncoder"), 1, "cats_int64s=0,1,", {"float[4] 1.9 -0.5 nan 1e30"}),
              "float[4,2] 0 1 1 0 0 0 0 0");
    OP_EXPECT(0, OP(ML("OneHotEncoder"), 1, "cats_strings=a;b;c;", {"string[1,2] c a"}),
              "float[1,2,3] 0 0 1 1 0 0");
    OP_EXPECT(0, OP(ML("OneHotEncoder"), 1, "cats_int64s=1,", {"int32[] 1"}), "float[1] 1");
    ML_FAILS("is in no category", ML("OneHotEncoder"), 1, "cats_int64s=1, zeros=0", {"int64[1] 2"});
    ML_FAILS("cats_strings for input of type int64", ML("OneHotEncoder"), 1, "cats_strings=a;",
             {"int64[1] 2"});
    ML_FAILS("must be given", ML("OneHotEncoder"), 1, NULL, {"int64[1] 2"});
}

static void test_ml__array_feature_extractor(void **state)
{
    OP_EXPECT(
        0, OP(ML("ArrayFeatureExtractor"), 1, NULL, {"float[2,3] 0 1 2 3 4 5", "int64[1,2] 2 0"}),
        "float[2,2] 2 0 5 3");
    OP_EXPECT(0, OP(ML("ArrayFeatureExtractor"), 1, NULL, {"string[2] a b", "int64[] 1"}),
              "string[1,1] b");
    OP_EXPECT(0, OP(ML("ArrayFeatureExtractor"), 1, NULL, {"int32[1,2] 1 2", "int64[0]"}),
              "int32[1,0]");
    ML_FAILS("index 3 is outside", ML("ArrayFeatureExtractor"), 1, NULL,
             {"float[3] 0 1 2", "int64[1] 3"});
    ML_FAILS("index -1 is outside", ML("ArrayFeatureExtractor"), 1, NULL,
             {"float[3] 0 1 2", "int64[1] -1"});
    ML_FAILS("is a scalar", ML("ArrayFeatureExtractor"), 1, NULL, {"float[] 0", "int64[1] 0"});
}

/* --- maps ------------------------------------------------------------------------------------- */

static struct odb_tensor *ml_map(const char *keys, const char *values)
{
    struct odb_tensor *parts[2] = {op_tensor(keys), op_tensor(values)}, *map;
    ML_OK(odb_tensor_new_container(&map, ODB_MAP, parts, 2, NULL));
    odb_tensor_unref(parts[0]);
    odb_tensor_unref(parts[1]);
    return map;
}

static void ml_expect_map(const char *op, const char *attrs, const char *keys, const char *values,
                          const char *want)
{
    struct op_call c = {.op = op, .opset = 1, .attrs = attrs};
    struct odb_tensor *map = ml_map(keys, values), *out = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    enum odb_status status = op_run(&c, 1, &map, 1, &out, &err);
    if (!want) {
        assert_int_equal(status, ODB_E_OPERATOR);
        assert_string_not_equal(err.what, "");
    } else {
        struct odb_tensor *expected = op_tensor(want);
        ML_OK(status);
        op_assert_close(out, expected, 0, attrs);
        odb_tensor_unref(expected);
    }
    odb_tensor_unref(out);
    odb_tensor_unref(map);
}

static void test_ml__dict_vectorizer(void **state)
{
    static const char *const op = ML("DictVectorizer");
    ml_expect_map(op, "string_vocabulary=a;c;b;z;", "string[2] a c", "int64[2] 4 8",
                  "int64[1,4] 4 8 0 0");
    ml_expect_map(op, "int64_vocabulary=5,1,", "int64[3] 1 9 5", "double[3] 0.1 0.2 0.3",
                  "double[1,2] 0.3 0.1");
    ml_expect_map(op, "int64_vocabulary=5,1,", "int64[1] 1", "string[1] x", "string[1,2] '' x");
    ml_expect_map(op, "int64_vocabulary=5,1,", "string[1] a", "float[1] 1", NULL);
    ml_expect_map(op, NULL, "int64[1] 1", "float[1] 1", NULL);
    op_expect_error(&(struct op_call)OP(op, 1, "int64_vocabulary=1,", {"float[1] 0"}),
                    ODB_E_OPERATOR);
}

static void test_ml__cast_map(void **state)
{
    static const char *const op = ML("CastMap");
    ml_expect_map(op, NULL, "int64[3] 7 -1 3", "float[3] 0.7 0.1 0.3", "float[3] 0.1 0.3 0.7");
    ml_expect_map(op, "cast_to=TO_INT64", "int64[2] 0 1", "float[2] 1.9 -1.9", "int64[2] 1 -1");
    ml_expect_map(op, "cast_to=TO_INT64", "int64[2] 0 1", "string[2] 12 -3", "int64[2] 12 -3");
    ml_expect_map(op, "cast_to=TO_STRING", "int64[1] 0", "float[1] 0.5", "string[1] 0.500000");
    ml_expect_map(op, "map_form=SPARSE max_map=4", "int64[2] 3 1", "string[2] 1.5 1e3",
                  "float[4] 0 1000 0 1.5");
    ml_expect_map(op, "map_form=SPARSE max_map=2", "int64[1] 2", "float[1] 1", NULL);
    ml_expect_map(op, "map_form=SPARSE max_map=2", "int64[1] -1", "float[1] 1", NULL);
    ml_expect_map(op, "cast_to=TO_INT64", "int64[1] 0", "float[1] 1e30", NULL);
    ml_expect_map(op, "cast_to=TO_INT64", "int64[1] 0", "string[1] 1x", NULL);
    ml_expect_map(op, "cast_to=TO_BED", "int64[1] 0", "float[1] 1", NULL);
    ml_expect_map(op, "map_form=LUMPY", "int64[1] 0", "float[1] 1", NULL);
}

/* Rows become maps in the order of their keys. */
static void test_ml__zip_map(void **state)
{
    static const char *const op = ML("ZipMap");
    struct op_call c = OP(op, 1, "classlabels_int64s=5,-1,", {"float[2,2] 0.1 0.9 0.2 0.8"});
    struct odb_tensor *out = NULL, *keys = op_tensor("int64[2] -1 5");
    struct odb_tensor *values = op_tensor("float[2] 0.8 0.2");
    ML_OK(op_run_text(&c, 1, &out, NULL));
    assert_int_equal(out->kind, ODB_SEQUENCE);
    assert_int_equal(out->n_items, 2);
    assert_int_equal(out->items[1]->kind, ODB_MAP);
    assert_true(odb_tensor_identical(out->items[1]->items[0], keys));
    assert_true(odb_tensor_identical(out->items[1]->items[1], values));
    odb_tensor_unref(keys);
    odb_tensor_unref(values);
    odb_tensor_unref(out);
    c.precision = ODB_PREC_F64;
    c.attrs = "classlabels_strings=b;a;";
    ML_OK(op_run_text(&c, 1, &out, NULL));
    assert_int_equal(out->items[0]->items[1]->dtype, ODB_F64);
    odb_tensor_unref(out);
    c.in[0] = "float[0,2]";
    ML_OK(op_run_text(&c, 1, &out, NULL));
    assert_int_equal(out->n_items, 0);
    odb_tensor_unref(out);
    ML_FAILS("2 columns for 3", op, 1, "classlabels_int64s=1,2,3,", {"float[1,2] 0 1"});
    ML_FAILS("are the same", op, 1, "classlabels_int64s=1,1,", {"float[1,2] 0 1"});
    ML_FAILS("only one of", op, 1, "classlabels_int64s=1, classlabels_strings=a;",
             {"float[1,1] 0"});
}

/* --- linear models ---------------------------------------------------------------------------- */

static void test_ml__linear_regressor(void **state)
{
    static const char *const op = ML("LinearRegressor");
    OP_EXPECT(1e-6, OP(op, 1, "coefficients=0.5f,2f, intercepts=1f,", {"float[2,2] 1 2 3 4"}),
              "float[2,1] 5.5 10.5");
    OP_EXPECT(1e-6, OP(op, 1, "coefficients=1f,0f,0f,1f, targets=2", {"int64[2] 3 4"}),
              "float[1,2] 3 4");
    OP_EXPECT(1e-6, OP(op, 1, "coefficients=1f, post_transform=LOGISTIC", {"double[2,1] 0 2"}),
              "float[2,1] 0.5 0.8807971");
    OP_EXPECT(0, OP(op, 1, "coefficients=1f,1f,", {"float[0,2]"}), "float[0,1]");
    ML_FAILS("3 coefficients", op, 1, "coefficients=1f,2f,3f,", {"float[1,2] 0 0"});
    ML_FAILS("2 intercepts", op, 1, "coefficients=1f, intercepts=1f,2f,", {"float[1,1] 0"});
    ML_FAILS("targets is 0", op, 1, "coefficients=1f, targets=0", {"float[1,1] 0"});
    op_expect_modes(&(struct op_call)OP(op, 1, "coefficients=0.1f,0.2f,0.3f, intercepts=1f,",
                                        {"float[9,3] random 3"}),
                    1e-6);
}

static void test_ml__linear_classifier(void **state)
{
    static const char *const op = ML("LinearClassifier");
    OP_EXPECT(1e-6,
              OP(op, 1, "coefficients=1f,2f,3f, intercepts=0f,0f,-9f, classlabels_ints=7,8,9,",
                 {"float[2,1] 1 20"}),
              "int64[2] 8 9", "float[2,3] 1 2 -6 20 40 51");
    OP_EXPECT(1e-6,
              OP(op, 1, "coefficients=1f, classlabels_strings=no;yes; post_transform=LOGISTIC",
                 {"float[2,1] -2 2"}),
              "string[2] no yes", "float[2,2] 0.8807971 0.1192029 0.1192029 0.8807971");
    OP_EXPECT(1e-6, OP(op, 1, "coefficients=1f, classlabels_ints=3,4,", {"int32[2,1] -2 2"}),
              "int64[2] 3 4", "float[2,2] 2 -2 -2 2");
    OP_EXPECT(1e-6,
              OP(op, 1, "coefficients=1f,1f, classlabels_ints=3,4, post_transform=SOFTMAX",
                 {"double[1,1] 5"}),
              "int64[1] 3", "float[1,2] 0.5 0.5");
    OP_EXPECT(1e-6,
              OP(op, 1, "coefficients=0f,-1f, classlabels_ints=3,4, post_transform=SOFTMAX_ZERO",
                 {"float[1,1] 1"}),
              "int64[1] 3", "float[1,2] 0 1");
    ML_FAILS_2("for 2 class labels", op, 1, "coefficients=1f,2f,3f, classlabels_ints=1,2,",
               {"float[1,1] 0"});
    ML_FAILS_2("must be given", op, 1, "coefficients=1f,2f,", {"float[1,1] 0"});
    ML_FAILS_2("only one of", op, 1, "coefficients=1f, classlabels_ints=1, classlabels_strings=a;",
               {"float[1,1] 0"});
    ML_LACKS_2("one class", op, 1, "coefficients=1f, classlabels_ints=1,", {"float[1,1] 0"});
}

/* --- support vectors -------------------------------------------------------------------------- */

/* sum of coefficient * kernel over two support vectors (1, 0) and (0, 2), plus rho 0.5 */
static void test_ml__svm_regressor(void **state)
{
    static const char *const op = ML("SVMRegressor");
#define ML_SVM(kernel, params)                                                                     \
    "support_vectors=1f,0f,0f,2f, coefficients=2f,-1f, rho=0.5f, n_supports=2 kernel_type=" kernel \
    " kernel_params=" params
    static const char *const x = "float[1,2] 3 1";
    OP_EXPECT(1e-6, OP(op, 1, ML_SVM("LINEAR", "0f,0f,0f,"), {x}), "float[1,1] 4.5");
    OP_EXPECT(1e-6, OP(op, 1, ML_SVM("POLY", "1f,1f,2f,"), {x}), "float[1,1] 23.5");
    OP_EXPECT(1e-6, OP(op, 1, ML_SVM("RBF", "0.1f,0f,0f,"), {x}), "float[1,1] 1.3451820");
    OP_EXPECT(1e-6, OP(op, 1, ML_SVM("SIGMOID", "0.1f,0.2f,0f,"), {x}), "float[1,1] 1.0442853");
    OP_EXPECT(1e-6, OP(op, 1, "coefficients=2f,-1f, rho=0.5f,", {"int64[2,2] 3 1 0 0"}),
              "float[2,1] 5.5 0.5");
    OP_EXPECT(0, OP(op, 1, "coefficients=1f, rho=0f, one_class=1", {"float[3,1] -2 0 2"}),
              "float[3,1] -1 -1 1");
    OP_EXPECT(1e-6, OP(op, 1, "coefficients=1f, rho=0f, post_transform=LOGISTIC", {"float[1] 2"}),
              "float[1,1] 0.8807971");
    ML_FAILS("rho is missing", op, 1, "coefficients=1f,", {"float[1] 2"});
    ML_FAILS("1 coefficients, not 2", op, 1, "coefficients=1f, rho=0f,", {"float[2] 2 2"});
    ML_FAILS("support_vectors has 4", op, 1, ML_SVM("LINEAR", "0f,0f,0f,"), {"float[3] 1 2 3"});
    ML_FAILS("kernel_type 'X'", op, 1, ML_SVM("X", "0f,0f,0f,"), {x});
    ML_FAILS("kernel_params has 2", op, 1, ML_SVM("RBF", "0f,0f,"), {x});
    op_expect_modes(
        &(struct op_call)OP(op, 1, ML_SVM("RBF", "0.5f,0f,0f,"), {"float[30,2] random 4"}), 2e-6);
    op_expect_any_threads(
        &(struct op_call)OP(op, 1, ML_SVM("RBF", "0.5f,0f,0f,"), {"float[9000,2] random 4"}));
}

/* Three classes with a support vector each at -1, 0 and 1 of one feature, LINEAR: coefficients
 * [2][3], decisions 01, 02, 12. */
#define ML_SVC                                                                                     \
    "support_vectors=-1f,0f,1f, vectors_per_class=1,1,1, coefficients=1f,-1f,-1f,1f,0.5f,-2f, "    \
    "rho=0.1f,-0.2f,0.3f, "

static void test_ml__svm_classifier_pairs(void **state)
{
    static const char *const op = ML("SVMClassifier");
    /* kernels at x: -x, 0, x; 01: c[0][0] k0 + c[0][1] k1 + rho0 = -x + 0.1;
     * 02: c[1][0] k0 + c[0][2] k2 + rho1 = -2 x - 0.2; 12: c[1][1] k1 + c[1][2] k2 + rho2 */
    OP_EXPECT(1e-6, OP(op, 1, ML_SVC "classlabels_ints=4,5,6,", {"float[2,1] 1 -1"}),
              "int64[2] 6 4", "float[2,3] -0.9 -2.2 -1.7 1.1 1.8 2.3");
    OP_EXPECT(
        1e-6,
        OP(op, 1, ML_SVC "classlabels_strings=a;b;c; post_transform=LOGISTIC", {"double[1] 0"}),
        "string[1] a", "float[1,3] 0.5249792 0.450166 0.5744425");
    ML_FAILS_2("6 coefficients; 3 classes and 4", op, 1,
               "support_vectors=-1f,0f,1f,2f, vectors_per_class=2,1,1, coefficients=1f,-1f,-1f,1f,"
               "0.5f,-2f, rho=0.1f,-0.2f,0.3f, classlabels_ints=4,5,6,",
               {"float[1,1] 1"});
    ML_FAILS_2("vectors_per_class has 3 elements for 2", op, 1, ML_SVC "classlabels_ints=4,5,",
               {"float[1,1] 1"});
    ML_FAILS_2("prob_a has 1", op, 1, ML_SVC "classlabels_ints=4,5,6, prob_a=1f,",
               {"float[1,1] 1"});
    ML_FAILS_2("need 3 elements", op, 1, ML_SVC "classlabels_ints=4,5,6, prob_a=1f, prob_b=1f,",
               {"float[1,1] 1"});
    ML_LACKS_2("of 1 classes", op, 1, ML_SVC "classlabels_ints=4,", {"float[1,1] 1"});
}

static void test_ml__svm_classifier_two(void **state)
{
    static const char *const op = ML("SVMClassifier");
#define ML_SVC_2                                                                                   \
    "support_vectors=-1f,1f, vectors_per_class=1,1, coefficients=-1f,1f, rho=0f, "                 \
    "classlabels_ints=4,5, "
    OP_EXPECT(1e-6, OP(op, 1, ML_SVC_2, {"float[2,1] 1 -1"}), "int64[2] 4 5",
              "float[2,2] -2 2 2 -2");
    OP_EXPECT(1e-6, OP(op, 1, ML_SVC_2 "post_transform=LOGISTIC", {"float[1,1] 1"}), "int64[1] 4",
              "float[1,2] 0.1192029 0.8807971");
    ML_LACKS_2("PROBIT", op, 1, ML_SVC_2 "post_transform=PROBIT", {"float[1,1] 1"});
    /* linear: a function per class, one rho for all */
    OP_EXPECT(
        1e-6,
        OP(op, 1, "coefficients=1f,-1f, rho=0.5f, classlabels_strings=p;q;", {"float[2,1] 1 -1"}),
        "string[2] p q", "float[2,2] 1.5 -0.5 -0.5 1.5");
}

/* Coupling: probabilities of three classes sum to 1 and, where pairs agree on them, are those. */
static void test_ml__svm_classifier_probabilities(void **state)
{
    struct op_call c = OP(ML("SVMClassifier"), 1,
                          ML_SVC "classlabels_ints=4,5,6, prob_a=-1f,-1f,-1f, prob_b=0f,0f,0f,",
                          {"float[40,1] random 5"});
    struct odb_tensor *out[2];
    ML_OK(op_run_text(&c, 2, out, NULL));
    for (size_t r = 0; r < 40; r++) {
        double sum = 0;
        for (size_t i = 0; i < 3; i++)
            sum += odb_tensor_f64(out[1], 3 * r + i);
        assert_float_equal(sum, 1, 1e-6);
    }
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
    /* of two classes the pair's own probability: 1 / (1 + e^-2) */
    OP_EXPECT(1e-3, OP(ML("SVMClassifier"), 1, ML_SVC_2 "prob_a=-1f, prob_b=0f,", {"float[1,1] 1"}),
              "int64[1] 4", "float[1,2] 0.8807971 0.1192029");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ml__binarizer),
        cmocka_unit_test(test_ml__imputer),
        cmocka_unit_test(test_ml__scaler),
        cmocka_unit_test(test_ml__normalizer),
        cmocka_unit_test(test_ml__feature_vectorizer),
        cmocka_unit_test(test_ml__label_encoder_1),
        cmocka_unit_test(test_ml__label_encoder_2),
        cmocka_unit_test(test_ml__label_encoder_4),
        cmocka_unit_test(test_ml__category_mapper),
        cmocka_unit_test(test_ml__one_hot_encoder),
        cmocka_unit_test(test_ml__array_feature_extractor),
        cmocka_unit_test(test_ml__dict_vectorizer),
        cmocka_unit_test(test_ml__cast_map),
        cmocka_unit_test(test_ml__zip_map),
        cmocka_unit_test(test_ml__linear_regressor),
        cmocka_unit_test(test_ml__linear_classifier),
        cmocka_unit_test(test_ml__svm_regressor),
        cmocka_unit_test(test_ml__svm_classifier_pairs),
        cmocka_unit_test(test_ml__svm_classifier_two),
        cmocka_unit_test(test_ml__svm_classifier_probabilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
