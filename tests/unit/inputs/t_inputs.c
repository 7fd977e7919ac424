/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inputs/inputs.h"

#include <sys/stat.h>

#include "tensor/format/npy.h"
#include "tensor/format/npz.h"
#include "tensor/random.h"
#include "tests/help/models.h"
#include "model/read/load.h"
#include "model/write/pb_write.h"

/* Three inputs: a float of (N0, 3), an int64 of (2,), a float of (N0,); one weight. */
static struct odb_model *inputs_model(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *w = models_f32(1, (int64_t[]){3}, (float[]){1, 2, 3});
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){-1, 3});
    odb_build_input(b, "n", ODB_I64, 1, (int64_t[]){2});
    odb_build_input(b, "z", ODB_F32, 1, (int64_t[]){-1});
    odb_build_weight(b, "w", w);
    odb_build_node(b, "Add", "add", "x w", "y");
    odb_build_output(b, "y");
    odb_tensor_unref(w);
    return models_take(b);
}

static struct odb_feeds *inputs_make(const struct odb_model *model,
                                     const struct odb_input_options *options)
{
    struct odb_feeds *feeds = NULL;
    MODELS_OK(odb_feeds_make(&feeds, model, options, &why));
    return feeds;
}

/* The error's one line; the call must fail with this status. */
static const char *inputs_fail(const struct odb_model *model,
                               const struct odb_input_options *options, enum odb_status status)
{
    static char text[2048];
    struct odb_feeds *feeds = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_feeds_make(&feeds, model, options, &err), status);
    assert_null(feeds);
    return odb_error_text(&err, text, sizeof text);
}

#define INPUTS_HAS(text, part)                                                                     \
    do {                                                                                           \
        if (!strstr((text), (part)))                                                               \
            fail_msg("'%s' is not in '%s'", (part), (text));                                       \
    } while (0)

static void test_inputs__default_stream(void **state)
{
    /* numpy.random.seed(42); numpy.random.uniform(-1, 1, …) */
    static const double first[] = {0.3745401188473625, 0.9507143064099162,  0.7319939418114051,
                                   0.5986584841970366, 0.15601864044243652, 0.15599452033620265};
    struct odb_model *model = inputs_model();
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    struct odb_mt19937 stream;
    options.dims = (const char *const[]){"N0=2"};
    options.n_dims = 1;
    struct odb_feeds *feeds = inputs_make(model, &options);
    assert_int_equal(feeds->n, 3);
    assert_int_equal(feeds->items[0].value, models_value(model, "x"));
    assert_int_equal(feeds->items[0].tensor->dims[0], 2);
    for (size_t i = 0; i < 6; i++)
        assert_true(odb_tensor_f64(feeds->items[0].tensor, i) == (float)(-1 + 2 * first[i]));
    odb_mt19937_seed(&stream, 42);
    for (int i = 0; i < 6; i++)
        odb_mt19937_double(&stream);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(odb_tensor_i64(feeds->items[1].tensor, i),
                         odb_mt19937_randint(&stream, 0, 2));
    for (size_t i = 0; i < 2; i++)
        assert_true(odb_tensor_f64(feeds->items[2].tensor, i) ==
                    (float)odb_mt19937_uniform(&stream, -1, 1));
    assert_string_equal(feeds->items[0].source, "generated uniform [-1, 1) seed 42");
    assert_string_equal(feeds->items[1].source, "generated randint(0, 2) seed 42");
    assert_string_equal(feeds->warnings, "");
    odb_feeds_free(feeds);
    odb_model_free(model);
}

static void test_inputs__a_file_leaves_the_others_alone(void **state)
{
    struct odb_model *model = inputs_model();
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    char *folder = models_folder(), *path = odb_xasprintf("%s/a=b.npy", folder);
    struct odb_tensor *x = models_f32(2, (int64_t[]){2, 3}, (float[]){1, 2, 3, 4, 5, 6});
    MODELS_OK(odb_npy_write(x, path, &why));
    options.dims = (const char *const[]){"N0=2"};
    options.n_dims = 1;
    struct odb_feeds *plain = inputs_make(model, &options);
    char *given = odb_xasprintf("x=%s", path);
    options.inputs = (const char *const[]){given};
    options.n_inputs = 1;
    options.n_dims = 0; /* the file's shape binds N0 */
    struct odb_feeds *feeds = inputs_make(model, &options);
    assert_true(odb_tensor_identical(feeds->items[0].tensor, x));
    assert_true(odb_tensor_identical(feeds->items[1].tensor, plain->items[1].tensor));
    assert_true(odb_tensor_identical(feeds->items[2].tensor, plain->items[2].tensor));
    INPUTS_HAS(feeds->warnings, "'n' was not given");
    INPUTS_HAS(feeds->warnings, "'z' was not given");
    INPUTS_HAS(feeds->items[0].source, "a=b.npy");
    given[1] = ':'; /* NAME:FILE is the same */
    odb_feeds_free(feeds);
    feeds = inputs_make(model, &options);
    assert_true(odb_tensor_identical(feeds->items[0].tensor, x));
    odb_feeds_free(feeds);
    odb_feeds_free(plain);
    odb_tensor_unref(x);
    free(given);
    free(path);
    models_remove(folder);
    odb_model_free(model);
}

static void test_inputs__unbound_names_the_option(void **state)
{
    struct odb_model *model = inputs_model();
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    const char *text = inputs_fail(model, &options, ODB_E_USAGE);
    INPUTS_HAS(text, "the shape of input 'x' is not fixed");
    INPUTS_HAS(text, "add --dim N0=1");
    assert_null(strstr(text, "N0=1 --dim N0")); /* each once */
    odb_model_free(model);
}

static void test_inputs__nameless_dimensions(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    odb_build_input(b, "a[0]", ODB_F32, 2, (int64_t[]){-1, 2});
    odb_build_node(b, "Relu", "r", "a[0]", "y");
    odb_build_output(b, "y");
    struct odb_model *model = models_take(b);
    options.n_dims = 1;
    options.dims = (const char *const[]){"a[0][0]=4"};
    struct odb_feeds *feeds = inputs_make(model, &options);
    assert_int_equal(feeds->items[0].tensor->dims[0], 4);
    odb_feeds_free(feeds);
    options.dims = (const char *const[]){"a[0][1]=3"};
    INPUTS_HAS(inputs_fail(model, &options, ODB_E_USAGE), "is 2 already");
    options.dims = (const char *const[]){"a[0][2]=3"};
    INPUTS_HAS(inputs_fail(model, &options, ODB_E_USAGE), "only 2 dimensions");
    odb_model_free(model);
}

static void test_inputs__wrong_dims(void **state)
{
    static const struct {
        const char *dims[2];
        const char *says;
    } cases[] = {{{"N0"}, "NAME=N"},
                 {{"N0=x"}, "no size"},
                 {{"N0=-1"}, "no size"},
                 {{"N0="}, "no size"},
                 {{"M=1"}, "no input has a dimension 'M'; there are N0"},
                 {{"N0=1", "N0=2"}, "1 by --dim N0=1 and 2 by --dim N0=2"},
                 {{"N0=1", "z[0]=2"}, "1 by --dim N0=1 and 2 by --dim z[0]=2"}};
    struct odb_model *model = inputs_model();
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        options.dims = cases[i].dims;
        options.n_dims = cases[i].dims[1] ? 2 : 1;
        INPUTS_HAS(inputs_fail(model, &options, ODB_E_USAGE), cases[i].says);
    }
    odb_model_free(model);
}

static void test_inputs__wrong_inputs(void **state)
{
    static const struct {
        const char *input;
        const char *says;
        enum odb_status status;
    } cases[] = {{"x", "NAME=FILE", ODB_E_USAGE},
                 {"q=a.npy", "no input 'q'; its inputs are x, n, z", ODB_E_USAGE},
                 {"y=a.npy", "'y' is no input: node #0 computes it", ODB_E_USAGE},
                 {"x=a.txt", "neither a .npy nor a .pb", ODB_E_USAGE},
                 {"x=range(1)", "range(LOW,HIGH)", ODB_E_USAGE},
                 {"x=range(1,0)", "empty", ODB_E_USAGE},
                 {"x=range(0,1,2", "range(LOW,HIGH)", ODB_E_USAGE},
                 {"x=range(0,inf)", "finite", ODB_E_USAGE},
                 {"n=range(0,1e19)", "64 bits", ODB_E_USAGE},
                 {"x=/nowhere/a.npy", "No such file", ODB_E_IO}};
    struct odb_model *model = inputs_model();
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    options.dims = (const char *const[]){"N0=2"};
    options.n_dims = options.n_inputs = 1;
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        options.inputs = &cases[i].input;
        INPUTS_HAS(inputs_fail(model, &options, cases[i].status), cases[i].says);
    }
    options.inputs = (const char *const[]){"x=range(0,1)", "x=range(0,1)"};
    options.n_inputs = 2;
    INPUTS_HAS(inputs_fail(model, &options, ODB_E_USAGE), "given twice");
    odb_model_free(model);
}

/* What is lacking still is no error; what does not fit is, without anything made. */
static void test_inputs__checked_by_themselves(void **state)
{
    struct odb_model *model = inputs_model();
    static const struct {
        const char *input, *dim, *part; /* NULL: it fits */
    } cases[] = {
        {"z=range(0,1)", NULL, NULL},       {NULL, "N0=2", NULL},
        {"x=range(1)", NULL, "a range is"}, {"w=range(0,1)", NULL, "no input"},
        {"q=range(0,1)", NULL, "no input"}, {"x=nosuch.npy", NULL, "nosuch.npy"},
        {NULL, "N9=2", "no input has"},     {NULL, "N0=0x", "no size"},
        {NULL, "n[0]=3", "is 2 already"},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
        struct odb_error err = ODB_ERROR_INIT;
        char text[2048];
        options.inputs = &cases[i].input;
        options.n_inputs = cases[i].input != NULL;
        options.dims = &cases[i].dim;
        options.n_dims = cases[i].dim != NULL;
        enum odb_status status = odb_feeds_check(model, &options, &err);
        if ((status == ODB_OK) != (cases[i].part == NULL))
            fail_msg("case %zu: %s", i, odb_status_text(status));
        if (cases[i].part)
            INPUTS_HAS(odb_error_text(&err, text, sizeof text), cases[i].part);
    }
    odb_model_free(model);
}

static void test_inputs__a_file_must_fit(void **state)
{
    struct odb_model *model = inputs_model();
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    char *folder = models_folder(), *path = odb_xasprintf("%s/a.npy", folder);
    char *given = odb_xasprintf("x=%s", path);
    const struct {
        int rank;
        int64_t dims[2];
        const char *says;
    } cases[] = {{1, {3}, "the shape is (3,), the model declares float[N0, 3]"},
                 {2, {2, 4}, "the shape is (2, 4)"},
                 {2, {5, 3}, "5 by input 'x' of shape (5, 3)"}};
    options.dims = (const char *const[]){"N0=2"};
    options.n_dims = options.n_inputs = 1;
    options.inputs = (const char *const[]){given};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_tensor *t = NULL;
        MODELS_OK(odb_tensor_new(&t, ODB_F32, cases[i].rank, cases[i].dims, &why));
        MODELS_OK(odb_npy_write(t, path, &why));
        INPUTS_HAS(inputs_fail(model, &options, i == 2 ? ODB_E_USAGE : ODB_E_INPUT), cases[i].says);
        odb_tensor_unref(t);
    }
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_new(&t, ODB_F64, 2, (int64_t[]){2, 3}, &why));
    MODELS_OK(odb_npy_write(t, path, &why));
    INPUTS_HAS(inputs_fail(model, &options, ODB_E_INPUT), "the values are double");
    odb_tensor_unref(t);
    free(given);
    free(path);
    models_remove(folder);
    odb_model_free(model);
}

/* Bytes alone, 24 of them: what the shape does not say follows from how many there are. */
static void test_inputs__raw_bytes(void **state)
{
    static const struct {
        const char *words; /* behind the file's name */
        size_t size;
        enum odb_status status;
        const char *says;
    } cases[] = {
        {")", 24, ODB_OK, NULL},
        {",float)", 24, ODB_OK, NULL},
        {",float,2x3)", 24, ODB_OK, NULL},
        {",float,2x3", 24, ODB_E_USAGE, "')' is missing"},
        {",float,2x3,4)", 24, ODB_E_USAGE, "written raw(FILE,TYPE,SHAPE)"},
        {",float,2y3)", 24, ODB_E_USAGE, "written raw(FILE,TYPE,SHAPE)"},
        {",flaot,2x3)", 24, ODB_E_USAGE, "'flaot' is no element type"},
        {",string,2x3)", 24, ODB_E_USAGE, "what the bytes are"},
        {",float,9223372036854775807x9223372036854775807)", 24, ODB_E_INPUT, "too large"},
        {",float,2x3)", 23, ODB_E_INPUT, "23"},
        {",double,2x3)", 48, ODB_E_INPUT, "the values are double"},
        {",bool,2x3)", 6, ODB_E_INPUT, "byte 0 is 2, and bools are 0 or 1"},
    };
    struct odb_model *model = inputs_model();
    char *folder = models_folder(), *path = odb_xasprintf("%s/a.bin", folder), bytes[48];
    memset(bytes, 2, sizeof bytes);
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
        char *given = odb_xasprintf("x=raw(%s%s", path, cases[i].words);
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_feeds *feeds = NULL;
        char text[2048];
        options.n_inputs = 1;
        options.inputs = (const char *const[]){given};
        MODELS_OK(odb_file_write(path, bytes, cases[i].size, &why));
        enum odb_status status = odb_feeds_make(&feeds, model, &options, &err);
        if (status != cases[i].status ||
            (cases[i].says && !strstr(odb_error_text(&err, text, sizeof text), cases[i].says)))
            fail_msg("%s: status %d: %s", given, (int)status,
                     odb_error_text(&err, text, sizeof text));
        if (status == ODB_OK) {
            assert_int_equal(feeds->items[0].tensor->dims[0], 2);
            assert_int_equal(feeds->items[0].tensor->dims[1], 3);
            assert_memory_equal(feeds->items[0].tensor->data, bytes, cases[i].size);
        }
        odb_feeds_free(feeds);
        free(given);
    }
    free(path);
    models_remove(folder);
    odb_model_free(model);
}

static void test_inputs__ranges(void **state)
{
    struct odb_model *model = inputs_model();
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    struct odb_pcg64 stream;
    options.dims = (const char *const[]){"N0=2"};
    options.inputs = (const char *const[]){"x=range(-3,5,7)", "n=range(2,9)"};
    options.n_dims = 1;
    options.n_inputs = 2;
    struct odb_feeds *feeds = inputs_make(model, &options);
    odb_pcg64_seed(&stream, 7);
    for (size_t i = 0; i < 6; i++)
        assert_true(odb_tensor_f64(feeds->items[0].tensor, i) ==
                    (float)odb_pcg64_uniform(&stream, -3, 5));
    odb_pcg64_seed(&stream, 42);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(odb_tensor_i64(feeds->items[1].tensor, i),
                         odb_pcg64_integers(&stream, 2, 9));
    assert_string_equal(feeds->items[0].source, "generated range(-3, 5) seed 7");
    odb_feeds_free(feeds);
    odb_model_free(model);
}

static void test_inputs__folders_and_archives(void **state)
{
    struct odb_model *model = inputs_model();
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    char *folder = models_folder(), *npy = odb_xasprintf("%s/x.npy", folder);
    char *npz = odb_xasprintf("%s/all.npz", folder), *set = odb_xasprintf("%s/set", folder);
    char *pb = odb_xasprintf("%s/input_0.pb", set), *dump = odb_xasprintf("%s/dump", folder);
    char *inner = odb_xasprintf("%s/inputs", dump), *fed = odb_xasprintf("%s/x.npy", inner);
    struct odb_tensor *x = models_f32(2, (int64_t[]){1, 3}, (float[]){7, 8, 9});
    MODELS_OK(odb_npy_write(x, npy, &why));
    MODELS_OK(odb_npz_write(npz, (const char *const[]){"x"}, (const struct odb_tensor *const[]){x},
                            1, false, &why));
    assert_int_equal(mkdir(set, 0777), 0);
    MODELS_OK(odb_pb_write(x, "x", pb, &why));
    assert_int_equal(mkdir(dump, 0777) | mkdir(inner, 0777), 0);
    MODELS_OK(odb_npy_write(x, fed, &why));
    const char *const from[] = {folder, npz, set, dump};
    for (size_t i = 0; i < ODB_COUNT(from); i++) {
        options.inputs_from = from[i];
        struct odb_feeds *feeds = inputs_make(model, &options);
        assert_true(odb_tensor_identical(feeds->items[0].tensor, x));
        INPUTS_HAS(feeds->warnings, "'n' was not given");
        odb_feeds_free(feeds);
    }
    /* --input goes before --inputs-from */
    options.inputs = (const char *const[]){"x=range(0,0)"};
    options.n_inputs = 1;
    options.dims = (const char *const[]){"N0=1"};
    options.n_dims = 1;
    struct odb_feeds *feeds = inputs_make(model, &options);
    assert_true(odb_tensor_f64(feeds->items[0].tensor, 0) == 0);
    odb_feeds_free(feeds);
    options.inputs_from = "/nowhere";
    INPUTS_HAS(inputs_fail(model, &options, ODB_E_IO), "No such file");
    options.inputs_from = npy;
    INPUTS_HAS(inputs_fail(model, &options, ODB_E_USAGE), "test_data_set");
    odb_tensor_unref(x);
    free(fed);
    free(inner);
    free(dump);
    free(pb);
    free(set);
    free(npz);
    free(npy);
    models_remove(folder);
    odb_model_free(model);
}

static void test_inputs__names_of_files(void **state)
{
    char *name = odb_file_name("a/b\\c\n");
    assert_string_equal(name, "a_b_c_x0a");
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs__default_stream),
        cmocka_unit_test(test_inputs__a_file_leaves_the_others_alone),
        cmocka_unit_test(test_inputs__unbound_names_the_option),
        cmocka_unit_test(test_inputs__nameless_dimensions),
        cmocka_unit_test(test_inputs__wrong_dims),
        cmocka_unit_test(test_inputs__wrong_inputs),
        cmocka_unit_test(test_inputs__checked_by_themselves),
        cmocka_unit_test(test_inputs__a_file_must_fit),
        cmocka_unit_test(test_inputs__raw_bytes),
        cmocka_unit_test(test_inputs__ranges),
        cmocka_unit_test(test_inputs__folders_and_archives),
        cmocka_unit_test(test_inputs__names_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
