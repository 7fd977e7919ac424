/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "model/model_int.h"
#include "model/read/load.h"
#include "tests/help/onnx_make.h"

enum { F_FLOAT, F_DOUBLE, F_INT32, F_INT64, F_UINT64 };

/* --- helpers ---------------------------------------------------------------------------------- */

static char load_dir[64]; /* of this run */

static int load_setup(void **state)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(load_dir, sizeof load_dir, "%.40s/t_load.XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(load_dir) ? 0 : -1;
}

static int load_teardown(void **state)
{
    DIR *dir = opendir(load_dir);
    char path[400];
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", load_dir, e->d_name);
        if (e->d_name[0] != '.')
            remove(path);
    }
    closedir(dir);
    return rmdir(load_dir);
}

static const char *load_write(const char *name, const void *data, size_t size)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", load_dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    return path;
}

static const char *load_write_model(struct make *m, const char *name)
{
    size_t size;
    unsigned char *bytes = make_bytes(m, &size);
    return load_write(name, bytes, size);
}

static void load_says(const struct odb_error *err, const char *what)
{
    char text[2048];
    odb_error_text(err, text, sizeof text);
    if (!strstr(text, what))
        fail_msg("\"%s\" does not say \"%s\"", text, what);
    assert_null(strpbrk(text, "\n\r\033"));
}

static void load_refuses_file(const char *path, const char *what)
{
    struct odb_model *model = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_true(odb_model_open(&model, path, &err) < 0);
    assert_null(model);
    load_says(&err, what);
}

/* A tensor message on its own. */
static enum odb_status load_tensor(struct odb_tensor **out, const Onnx__TensorProto *p,
                                   const char *dir, struct odb_error *err)
{
    static struct odb_storage nothing = {.refs = 1};
    return odb_model__tensor(out, p, &nothing, dir, err);
}

static void load_refuses_tensor(const Onnx__TensorProto *p, const char *what)
{
    struct odb_tensor *t = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(load_tensor(&t, p, load_dir, &err), ODB_E_MODEL);
    load_says(&err, what);
    load_says(&err, "tensor 'w'");
}

static const char *load_shared(const char *sub, char *buf, size_t size)
{
    const char *shared = getenv("ONNXDBG_SHARED");
    snprintf(buf, size, "%s/data/%s", shared ? shared : "../shared", sub);
    if (access(buf, R_OK)) {
        print_message("no shared test data at %s: skipped\n", buf);
        skip();
    }
    return buf;
}

/* --- tensors ---------------------------------------------------------------------------------- */

/* Four elements of each type, as raw bytes and as the typed field that serves it. */
static const struct {
    enum odb_dtype dtype;
    int field;
    double typed[8]; /* numbers in the field */
    size_t n_typed;
    const char *raw;
    size_t n_raw;
} load_types[] = {
    {ODB_F32, F_FLOAT, {1, -2, 0.5, 0}, 4, "\0\0\x80\x3f\0\0\0\xc0\0\0\0\x3f\0\0\0\0", 16},
    {ODB_F64,
     F_DOUBLE,
     {1, -2, 0, 0},
     4,
     "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
     32},
    {ODB_U8, F_INT32, {1, 255, 0, 7}, 4, "\1\xff\0\7", 4},
    {ODB_I8, F_INT32, {1, -1, -128, 127}, 4, "\1\xff\x80\x7f", 4},
    {ODB_U16, F_INT32, {1, 65535, 0, 258}, 4, "\1\0\xff\xff\0\0\2\1", 8},
    {ODB_I16, F_INT32, {1, -1, 0, 258}, 4, "\1\0\xff\xff\0\0\2\1", 8},
    {ODB_I32, F_INT32, {1, -1, 0, 258}, 4, "\1\0\0\0\xff\xff\xff\xff\0\0\0\0\2\1\0\0", 16},
    {ODB_I64,
     F_INT64,
     {1, -1, 0, 258},
     4,
     "\1\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\0\2\1\0\0\0\0\0\0",
     32},
    {ODB_BOOL, F_INT32, {1, 0, 0, 5}, 4, "\1\0\0\1", 4},
    {ODB_F16, F_INT32, {0x3c00, 0xc000, 0, 0x7c00}, 4, "\0\x3c\0\xc0\0\0\0\x7c", 8},
    {ODB_U32, F_UINT64, {1, 4294967295, 0, 258}, 4, "\1\0\0\0\xff\xff\xff\xff\0\0\0\0\2\1\0\0", 16},
    {ODB_U64,
     F_UINT64,
     {1, 4294967295, 0, 258},
     4,
     "\1\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0\0\0\0\0\2\1\0\0\0\0\0\0",
     32},
    {ODB_C64,
     F_FLOAT,
     {1, -2, 0, 0, 0, 0, 0, 1},
     8,
     "\0\0\x80\x3f\0\0\0\xc0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x3f",
     32},
    {ODB_BF16, F_INT32, {0x3f80, 0xc000, 0, 0x7f80}, 4, "\x80\x3f\0\xc0\0\0\x80\x7f", 8},
    {ODB_F8E4M3FN, F_INT32, {0x38, 0xb8, 0, 0x7f}, 4, "\x38\xb8\0\x7f", 4},
    {ODB_F8E4M3FNUZ, F_INT32, {0x38, 0xb8, 0, 0x7f}, 4, "\x38\xb8\0\x7f", 4},
    {ODB_F8E5M2, F_INT32, {0x3c, 0xbc, 0, 0x7c}, 4, "\x3c\xbc\0\x7c", 4},
    {ODB_F8E5M2FNUZ, F_INT32, {0x3c, 0xbc, 0, 0x7c}, 4, "\x3c\xbc\0\x7c", 4},
    {ODB_U4, F_INT32, {0x21, 0xf3}, 2, "\x21\xf3", 2},
    {ODB_I4, F_INT32, {0x21, 0xf3}, 2, "\x21\xf3", 2},
    {ODB_F4E2M1, F_INT32, {0x21, 0xf3}, 2, "\x21\xf3", 2},
    {ODB_F8E8M0, F_INT32, {0x7f, 0x80, 0, 0xff}, 4, "\x7f\x80\0\xff", 4},
    {ODB_U2, F_INT32, {0xe4}, 1, "\xe4", 1},
    {ODB_I2, F_INT32, {0xe4}, 1, "\xe4", 1},
};

/* Appends the numbers to the field. */
static void load_fill(struct make *m, Onnx__TensorProto *p, int field, const double *v, size_t n)
{
#define LOAD_FILL(type, name)                                                                      \
    p->n_##name = n;                                                                               \
    p->name = arena_new_n(m->arena, type, n);                                                      \
    for (size_t i = 0; i < n; i++)                                                                 \
        p->name[i] = (type)v[i];                                                                   \
    break;
    switch (field) {
    case F_FLOAT:
        LOAD_FILL(float, float_data)
    case F_DOUBLE:
        LOAD_FILL(double, double_data)
    case F_INT32:
        LOAD_FILL(int32_t, int32_data)
    case F_INT64:
        LOAD_FILL(int64_t, int64_data)
    case F_UINT64:
        LOAD_FILL(uint64_t, uint64_data)
    }
#undef LOAD_FILL
}

static void test_load__tensors_of_every_type(void **state)
{
    for (size_t i = 0; i < ODB_COUNT(load_types); i++) {
        struct make m = make_new();
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_tensor *raw, *typed;
        Onnx__TensorProto *p = make_tensor(&m, "w", load_types[i].dtype, 2, (int64_t[]){2, 2});
        make_raw(&m, p, load_types[i].raw, load_types[i].n_raw);
        assert_int_equal(load_tensor(&raw, p, "", &err), ODB_OK);
        assert_ptr_equal(raw->data, p->raw_data.data);
        p = make_tensor(&m, "w", load_types[i].dtype, 2, (int64_t[]){2, 2});
        load_fill(&m, p, load_types[i].field, load_types[i].typed, load_types[i].n_typed);
        assert_int_equal(load_tensor(&typed, p, "", &err), ODB_OK);
        assert_int_equal(typed->bytes, load_types[i].n_raw);
        assert_memory_equal(typed->data, load_types[i].raw, load_types[i].n_raw);
        assert_true(odb_tensor_identical(raw, typed));
        odb_tensor_unref(raw);
        odb_tensor_unref(typed);
        /* one number more or less is an error */
        load_fill(&m, p, load_types[i].field, load_types[i].typed, load_types[i].n_typed - 1);
        load_refuses_tensor(p, "numbers in");
        p = make_tensor(&m, "w", load_types[i].dtype, 1, (int64_t[]){9});
        make_raw(&m, p, load_types[i].raw, load_types[i].n_raw);
        load_refuses_tensor(p, "bytes of data, and its 9 elements of");
        make_free(&m);
    }
}

static void test_load__tensors_of_strings(void **state)
{
    struct make m = make_new();
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t;
    Onnx__TensorProto *p = make_tensor(&m, "w", ODB_STRING, 1, (int64_t[]){3});
    ProtobufCBinaryData strings[] = {{1, (uint8_t *)"a"}, {0, NULL}, {3, (uint8_t *)"b\0c"}};
    p->n_string_data = 3;
    p->string_data = strings;
    assert_int_equal(load_tensor(&t, p, "", &err), ODB_OK);
    const struct odb_str *s = t->data;
    assert_int_equal(s[0].len, 1);
    assert_int_equal(s[1].len, 0);
    assert_int_equal(s[2].len, 3);
    assert_memory_equal(s[2].data, "b\0c", 3);
    odb_tensor_unref(t);
    p->n_string_data = 2;
    load_refuses_tensor(p, "has 2 strings, and its shape needs 3");
    make_raw(&m, p, "abc", 3);
    load_refuses_tensor(p, "strings cannot stand in raw");
    make_free(&m);
}

static void test_load__tensors_of_odd_shapes(void **state)
{
    struct make m = make_new();
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t;
    Onnx__TensorProto *p = make_tensor(&m, "w", ODB_F32, 0, NULL);
    make_raw(&m, p, "\0\0\x80\x3f", 4);
    assert_int_equal(load_tensor(&t, p, "", &err), ODB_OK);
    assert_int_equal(t->count, 1);
    odb_tensor_unref(t);
    p = make_tensor(&m, "w", ODB_F32, 3, (int64_t[]){1 << 20, 0, 1 << 20});
    assert_int_equal(load_tensor(&t, p, "", &err), ODB_OK);
    assert_int_equal(t->count, 0);
    odb_tensor_unref(t);
    p = make_tensor(&m, "w", ODB_F32, 3, (int64_t[]){INT64_MAX, 0, INT64_MAX});
    assert_int_equal(load_tensor(&t, p, "", &err), ODB_E_NOMEM); /* as NumPy has it */
    load_refuses_tensor(make_tensor(&m, "w", ODB_F32, 2, (int64_t[]){INT64_MAX, 4}),
                        "more elements than any memory");
    load_refuses_tensor(make_tensor(&m, "w", ODB_F32, 2, (int64_t[]){4, -1}), "negative");
    load_refuses_tensor(make_tensor(&m, "w", ODB_F32, 17, (int64_t[17]){0}), "17 dimensions");
    load_refuses_tensor(make_tensor(&m, "w", ODB_F32, 1, (int64_t[]){(int64_t)1 << 60}),
                        "has 0 numbers in float_data");
    load_refuses_tensor(make_tensor(&m, "w", 27, 0, NULL), "element type 27 is unknown");
    load_refuses_tensor(make_tensor(&m, "w", -100, 0, NULL), "element type -100 is unknown");
    load_refuses_tensor(make_tensor(&m, "w", 0, 0, NULL), "element type 0 is unknown");
    p = make_tensor(&m, "w", ODB_F32, 0, NULL);
    p->segment = MAKE(&m, Onnx__TensorProto__Segment, onnx__tensor_proto__segment__init);
    load_refuses_tensor(p, "segments");
    make_free(&m);
}

static void test_load__sparse_tensors(void **state)
{
    struct make m = make_new();
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_storage nothing = {.refs = 1};
    struct odb_tensor *t;
    Onnx__SparseTensorProto *p = MAKE(&m, Onnx__SparseTensorProto, onnx__sparse_tensor_proto__init);
    p->values = make_weight(&m, "s", 2);
    p->indices = make_tensor(&m, "", ODB_I64, 2, (int64_t[]){2, 2});
    load_fill(&m, p->indices, F_INT64, (double[]){0, 1, 2, 3}, 4);
    p->n_dims = 2;
    p->dims = (int64_t[]){3, 4};
    assert_int_equal(odb_model__sparse(&t, p, &nothing, "", &err), ODB_OK);
    assert_int_equal(t->kind, ODB_SPARSE);
    assert_int_equal(t->dtype, ODB_F32);
    assert_int_equal(t->rank, 2);
    assert_int_equal(t->count, 12);
    odb_tensor_unref(t);
    p->dims = (int64_t[]){2, 4}; /* index 2 is outside now */
    assert_int_equal(odb_model__sparse(&t, p, &nothing, "", &err), ODB_E_MODEL);
    load_says(&err, "sparse tensor 's': index 2 lies outside");
    p->indices = make_tensor(&m, "", ODB_I64, 1, (int64_t[]){2});
    load_fill(&m, p->indices, F_INT64, (double[]){0, 7}, 2);
    assert_int_equal(odb_model__sparse(&t, p, &nothing, "", &err), ODB_OK);
    odb_tensor_unref(t);
    load_fill(&m, p->indices, F_INT64, (double[]){0, -1}, 2);
    assert_int_equal(odb_model__sparse(&t, p, &nothing, "", &err), ODB_E_MODEL);
    p->dims = (int64_t[]){INT64_MAX, INT64_MAX};
    assert_int_equal(odb_model__sparse(&t, p, &nothing, "", &err), ODB_E_MODEL);
    p->dims = (int64_t[]){3, 4};
    p->indices = make_tensor(&m, "", ODB_I64, 2, (int64_t[]){2, 1}); /* a coordinate too few */
    load_fill(&m, p->indices, F_INT64, (double[]){0, 1}, 2);
    assert_int_equal(odb_model__sparse(&t, p, &nothing, "", &err), ODB_E_MODEL);
    load_says(&err, "indices int64[n] or [n, rank]");
    p->n_dims = ODB_MAX_RANK + 1;
    assert_int_equal(odb_model__sparse(&t, p, &nothing, "", &err), ODB_E_MODEL);
    load_says(&err, "dimensions, and at most");
    p->indices = NULL;
    assert_int_equal(odb_model__sparse(&t, p, &nothing, "", &err), ODB_E_MODEL);
    load_says(&err, "no values or no indices");
    make_free(&m);
}

/* --- external data ---------------------------------------------------------------------------- */

static Onnx__TensorProto *load_external(struct make *m, const char *location, const char *offset,
                                        const char *length)
{
    Onnx__TensorProto *p = make_tensor(m, "w", ODB_F32, 1, (int64_t[]){2});
    p->has_data_location = true;
    p->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    if (location)
        make_entry(m, &p->n_external_data, &p->external_data, "location", location);
    if (offset)
        make_entry(m, &p->n_external_data, &p->external_data, "offset", offset);
    if (length)
        make_entry(m, &p->n_external_data, &p->external_data, "length", length);
    make_entry(m, &p->n_external_data, &p->external_data, "checksum", "whatever");
    return p;
}

static void test_load__external_data_is_viewed(void **state)
{
    struct make m = make_new();
    load_write("w.bin", "\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40", 16);
    make_init(&m, m.graph, load_external(&m, "w.bin", "4", "8"));
    make_init(&m, m.graph, load_external(&m, "./w.bin", "8", NULL));
    m.graph->initializer[1]->name = (char *)"v";
    make_init(&m, m.graph, load_external(&m, "w.bin", NULL, NULL));
    m.graph->initializer[2]->name = (char *)"u";
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model;
    assert_int_equal(odb_model_open(&model, load_write_model(&m, "m.onnx"), &err), ODB_OK);
    const struct odb_tensor *w = odb_graph_value(model->graph, "w")->init;
    const struct odb_tensor *v = odb_graph_value(model->graph, "v")->init;
    const struct odb_tensor *u = odb_graph_value(model->graph, "u")->init;
    assert_float_equal(odb_tensor_f64(w, 0), 1, 0);
    assert_float_equal(odb_tensor_f64(v, 1), 3, 0);
    assert_ptr_equal((char *)w->data - 4, u->data); /* one map */
    assert_int_equal(odb_model_require_data(model, &err), ODB_OK);
    struct odb_tensor *kept = odb_tensor_ref(w);
    odb_model_free(model);
    assert_float_equal(odb_tensor_f64(kept, 1), 2, 0);
    odb_tensor_unref(kept);
    make_free(&m);
}

static void test_load__external_data_stays_below_the_model(void **state)
{
    struct make m = make_new();
    char link[128], absolute[160];
    load_write("secret", "12345678", 8);
    load_refuses_tensor(load_external(&m, "/etc/passwd", NULL, NULL), "not below the model's");
    load_refuses_tensor(load_external(&m, "../secret", NULL, NULL), "not below the model's");
    load_refuses_tensor(load_external(&m, "a/../../secret", NULL, NULL), "not below the model's");
    load_refuses_tensor(load_external(&m, "..", NULL, NULL), "not below the model's");
    load_refuses_tensor(load_external(&m, "", NULL, NULL), "not below the model's");
    snprintf(link, sizeof link, "%s/leak", load_dir);
    assert_int_equal(symlink("/etc/passwd", link), 0);
    load_refuses_tensor(load_external(&m, "leak", NULL, NULL), "a link leads out");
    snprintf(absolute, sizeof absolute, "%s/inside", load_dir);
    assert_int_equal(symlink("secret", absolute), 0);
    struct odb_tensor *t;
    assert_int_equal(load_tensor(&t, load_external(&m, "inside", NULL, NULL), load_dir, NULL),
                     ODB_OK);
    odb_tensor_unref(t);
    make_free(&m);
}

static void test_load__external_data_out_of_range(void **state)
{
    struct make m = make_new();
    load_write("w.bin", "0123456789abcdef", 16);
    load_refuses_tensor(load_external(&m, "w.bin", "9", NULL), "8 bytes at offset 9 run past");
    load_refuses_tensor(load_external(&m, "w.bin", "17", "0"), "run past");
    load_refuses_tensor(load_external(&m, "w.bin", "18446744073709551615", "8"), "run past");
    load_refuses_tensor(load_external(&m, "w.bin", "0", "12"), "has 12 bytes of data");
    load_refuses_tensor(load_external(&m, "w.bin", "-1", NULL), "must be a number");
    load_refuses_tensor(load_external(&m, "w.bin", "1x", NULL), "must be a number");
    load_refuses_tensor(load_external(&m, "w.bin", "99999999999999999999", NULL), "must be a num");
    load_refuses_tensor(load_external(&m, NULL, "0", NULL), "no location");
    load_refuses_tensor(load_external(&m, "nowhere.bin", NULL, NULL), "No such file");
    load_refuses_tensor(load_external(&m, ".", NULL, NULL), "external");
    make_free(&m);
}

/* A model without its weights can be looked at. */
static void test_load__external_data_missing(void **state)
{
    struct make m = make_new();
    make_init(&m, m.graph, load_external(&m, "gone.bin", NULL, NULL));
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model;
    assert_int_equal(odb_model_open(&model, load_write_model(&m, "m.onnx"), &err), ODB_OK);
    const struct odb_tensor *w = odb_graph_value(model->graph, "w")->init;
    assert_null(w->data);
    assert_int_equal(w->dims[0], 2);
    assert_int_equal(odb_model_require_data(model, &err), ODB_E_MODEL);
    load_says(&err, "external data in \"gone.bin\": No such file");
    load_says(&err, "beside the model");
    odb_model_free(model);
    size_t size;
    unsigned char *bytes = make_bytes(&m, &size);
    assert_int_equal(odb_model_open_bytes(&model, bytes, size, NULL, load_dir, "m", &err),
                     ODB_E_MODEL);
    load_says(&err, "m: tensor 'w': external data in \"gone.bin\": No such file");
    /* in an attribute, where kernels read it: never */
    m.graph->n_initializer = 0;
    Onnx__NodeProto *node = make_node(&m, m.graph, "Constant", "c", "", "y");
    make_attr(&m, node, "value", 4)->t = load_external(&m, "gone.bin", NULL, NULL);
    load_refuses_file(load_write_model(&m, "m.onnx"), "node c (Constant)");
    make_free(&m);
}

/* --- files ------------------------------------------------------------------------------------ */

static void test_load__files_that_are_no_models(void **state)
{
    char path[128];
    load_refuses_file(load_write("a", "", 0), "the file is empty");
    load_refuses_file(load_write("a", "version https://git-lfs.github.com/spec/v1\noid x\n", 50),
                      "git lfs pull");
    load_refuses_file(load_write("a", "<html>not found</html>\n", 23), "the file holds text");
    load_refuses_file(load_write("a", "PK\3\4aaaaaaaa", 12), "zip archive");
    load_refuses_file(load_write("a", "\x1f\x8b\x08\0", 4), "gzip");
    load_refuses_file(load_write("a", "\x08\x03", 2), "no graph");
    load_refuses_file(load_write("a", "\x08\x03\x3a\x7f\x0a", 5), "byte 2: field 7 (graph)");
    load_refuses_file(load_dir, "is a directory");
    snprintf(path, sizeof path, "%s/nowhere", load_dir);
    load_refuses_file(path, "No such file");
    load_refuses_file("/dev/null", "not a regular file");
    snprintf(path, sizeof path, "%s/fifo", load_dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    load_refuses_file(path, "not a regular file");
}

static void test_load__header_and_hash(void **state)
{
    struct make m = make_new();
    m.model->producer_name = (char *)"me";
    make_append(&m, &m.model->n_opset_import, &m.model->opset_import,
                make_opset(&m, "ai.onnx.ml", 3));
    make_append(&m, &m.model->n_opset_import, &m.model->opset_import,
                make_opset(&m, "ai.onnx", 18));
    make_entry(&m, &m.model->n_metadata_props, &m.model->metadata_props, "k", "v");
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model;
    make_entry(&m, &m.graph->n_metadata_props, &m.graph->metadata_props, "of", "graph");
    m.graph->doc_string = (char *)"what for";
    make_node(&m, m.graph, "Constant", "c", "", "one");
    make_entry(&m, &m.graph->node[0]->n_metadata_props, &m.graph->node[0]->metadata_props, "of",
               "node");
    const char *path = load_write_model(&m, "m.onnx");
    assert_int_equal(odb_model_open(&model, path, &err), ODB_OK);
    assert_string_equal(model->path, path);
    assert_string_equal(model->graph->doc, "what for");
    assert_string_equal(model->graph->metadata.items[0][1], "graph");
    assert_int_equal(model->graph->nodes[0].metadata.n, 1);
    assert_string_equal(model->graph->nodes[0].metadata.items[0][0], "of");
    assert_string_equal(model->graph->nodes[0].metadata.items[0][1], "node");
    assert_string_equal(model->dir, load_dir);
    assert_string_equal(model->producer_name, "me");
    assert_string_equal(model->doc, "");
    assert_int_equal(model->ir_version, 8);
    assert_int_equal(odb_model_opset(model, ""), 18);
    assert_int_equal(odb_model_opset(model, "ai.onnx"), 18);
    assert_int_equal(odb_model_opset(model, "ai.onnx.ml"), 3);
    assert_int_equal(odb_model_opset(model, "com.microsoft"), 0);
    assert_int_equal(model->metadata.n, 1);
    assert_string_equal(model->metadata.items[0][0], "k");
    assert_string_equal(model->metadata.items[0][1], "v");
    odb_model_free(model);
    static const unsigned char bytes[] = {0x08, 0x03, 0x3a, 0x00};
    assert_int_equal(odb_model_open_bytes(&model, bytes, 4, NULL, "", "b", &err), ODB_OK);
    char hex[65];
    assert_int_equal(odb_model_sha256(model, hex, &err), ODB_OK);
    assert_string_equal(hex, "cfe44cfed2a631acb87bcc7c1019c199a91215a9b96bad80c802c6ecc4365a72");
    assert_int_equal(odb_model_opset(model, ""), 0); /* IR 3 imports, and this one does not */
    odb_model_free(model);
    assert_int_equal(odb_model_open_bytes(&model, "\x08\1\x3a\0", 4, NULL, "", "b", &err), ODB_OK);
    assert_int_equal(odb_model_opset(model, ""), 1); /* IR 1 could not */
    odb_model_free(model);
    make_free(&m);
}

struct load_counted {
    struct odb_storage storage;
    int released;
};

static void load_count_release(struct odb_storage *storage)
{
    ((struct load_counted *)storage)->released++;
}

static void test_load__bytes_kept_or_copied(void **state)
{
    struct make m = make_new();
    make_init(&m, m.graph, make_weight(&m, "w", 64));
    size_t size;
    unsigned char *bytes = make_bytes(&m, &size);
    struct load_counted keep = {.storage = {.refs = 1, .release = load_count_release}};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model;
    assert_int_equal(odb_model_open_bytes(&model, bytes, size, &keep.storage, "", "b", &err),
                     ODB_OK);
    struct odb_tensor *w = odb_tensor_ref(odb_graph_value(model->graph, "w")->init);
    assert_true((unsigned char *)w->data > bytes && (unsigned char *)w->data < bytes + size);
    odb_storage_unref(&keep.storage);
    odb_model_free(model);
    assert_int_equal(keep.released, 0);
    odb_tensor_unref(w);
    assert_int_equal(keep.released, 1);
    assert_int_equal(odb_model_open_bytes(&model, bytes, size, NULL, "", "b", &err), ODB_OK);
    w = odb_tensor_ref(odb_graph_value(model->graph, "w")->init);
    memset(bytes, 0, size);
    odb_model_free(model);
    assert_float_equal(odb_tensor_f64(w, 63), 63, 0);
    odb_tensor_unref(w);
    make_free(&m);
}

/* 5 GiB of weights in a file with a hole: nothing of them is read. */
static void test_load__a_model_larger_than_memory(void **state)
{
    struct make m = make_new();
    int64_t n = (int64_t)5 << 30;
    struct odb_buf head = ODB_BUF_INIT;
    /* initializer { dims n  data_type UINT8  name "w"  raw_data n bytes } in a graph of its own */
    const unsigned char inner[] = {0x08, 0x80, 0x80, 0x80, 0x80, 0x14, 0x10, 2,   0x42,
                                   1,    'w',  0x4a, 0x80, 0x80, 0x80, 0x80, 0x14};
    int64_t tensor = n + (int64_t)sizeof inner, graph = tensor + 1 + 5;
    for (int level = 0; level < 2; level++) {
        int64_t length = level ? tensor : graph;
        odb_buf_putc(&head, level ? 0x2a : 0x3a);
        for (int i = 0; i < 5; i++, length >>= 7)
            odb_buf_putc(&head, (char)((length & 0x7f) | (i < 4 ? 0x80 : 0)));
    }
    odb_buf_add(&head, inner, sizeof inner);
    const char *path = load_write("big.onnx", head.data, head.len);
    if (truncate(path, n + (int64_t)head.len))
        skip(); /* this file system has no files of that size */
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model;
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    enum odb_status status = odb_model_open(&model, path, &err);
    if (status != ODB_OK)
        fail_msg("%s: %s", err.where, err.what);
    const struct odb_tensor *w = odb_graph_value(model->graph, "w")->init;
    assert_true(w->bytes == (size_t)n);
    assert_int_equal(((const unsigned char *)w->data)[n - 1], 0);
    odb_model_free(model);
    assert_int_equal(truncate(path, n), 0);
    load_refuses_file(path, "byte 0: field 7 (graph) of ModelProto needs 5368709");
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 65536); /* KiB */
    odb_buf_dispose(&head);
    make_free(&m);
}

/* --- shared data ------------------------------------------------------------------------------ */

/* Opens every model below dir; counts those that open. */
static size_t load_all_below(const char *dir, size_t *n_models)
{
    size_t opened = 0;
    struct dirent **names;
    int n = scandir(dir, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s/model.onnx", dir, names[i]->d_name);
        free(names[i]);
        if (access(path, R_OK))
            continue;
        struct odb_model *model = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        (*n_models)++;
        if (odb_model_open(&model, path, &err) == ODB_OK)
            opened++;
        else
            load_says(&err, path);
        odb_model_free(model);
    }
    free(names);
    return opened;
}

static void test_load__every_shared_model(void **state)
{
    char dir[512];
    size_t n = 0, opened = load_all_below(load_shared("models", dir, sizeof dir), &n);
    assert_int_equal(opened, n);
    assert_true(n > 100);
}

static void test_load__every_onnx_case(void **state)
{
    char dir[512];
    size_t n = 0, opened = load_all_below(load_shared("onnx-cases/node", dir, sizeof dir), &n);
    assert_int_equal(opened, n);
    assert_true(n > 1000);
}

/* Two of ONNX Runtime's are no models: one has a bad field, one reads a file it must not. */
static void test_load__every_runtime_case(void **state)
{
    char dir[512];
    size_t n = 0, opened = load_all_below(load_shared("ort-cases", dir, sizeof dir), &n);
    assert_int_equal(opened, n - 2);
}

static void test_load__every_negative_file(void **state)
{
    static const struct {
        const char *name, *says;
    } files[] = {
        {"corrupt-model.onnx", "not an ONNX model: the file holds text"},
        {"empty.onnx", "the file is empty"},
        {"lfs-pointer.onnx", "git lfs pull"},
        {"not-a-model.onnx", "not an ONNX model: the file holds text"},
    };
    char dir[512], path[1024];
    load_shared("negative", dir, sizeof dir);
    for (size_t i = 0; i < ODB_COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i].name);
        load_refuses_file(path, files[i].says);
    }
    struct odb_model *model;
    struct odb_error err = ODB_ERROR_INIT;
    snprintf(path, sizeof path, "%s/gpttt-missing-data.onnx", dir);
    assert_int_equal(odb_model_open(&model, path, &err), ODB_OK);
    assert_int_equal(odb_model_require_data(model, &err), ODB_E_MODEL);
    load_says(&err, "external data in \"model.onnx.data\": No such file");
    odb_model_free(model);
}

/* --- mutations -------------------------------------------------------------------------------- */

static uint64_t load_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* A copy with a few bytes changed, cut or repeated, in memory of exactly its size. */
static unsigned char *load_mutate(const unsigned char *bytes, size_t *size, uint64_t *seed)
{
    unsigned char *copy = odb_xmemdup(bytes, *size);
    for (uint64_t k = load_random(seed) % 4 + 1; k--;) {
        size_t at = load_random(seed) % *size, run = load_random(seed) % 32;
        switch (load_random(seed) % 5) {
        case 0:
            copy[at] ^= (unsigned char)(1u << load_random(seed) % 8);
            break;
        case 1:
            copy[at] = (unsigned char)load_random(seed);
            break;
        case 2:
            copy[at] += (unsigned char)(load_random(seed) % 7 - 3);
            break;
        case 3:
            memmove(copy + at, copy + load_random(seed) % (at + 1), ODB_MIN(*size - at, run));
            break;
        default:
            if (load_random(seed) % 4 == 0)
                *size = ODB_MAX(at, 1);
        }
    }
    unsigned char *exact = odb_xmemdup(copy, *size);
    free(copy);
    return exact;
}

/* Reads what a reader of a model would, for the sanitizers to watch. */
static double load_walk(const struct odb_graph *graph)
{
    double sum = 0;
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        if (value->init && value->init->kind == ODB_TENSOR && value->init->data &&
            value->init->count)
            sum += odb_tensor_f64(value->init, value->init->count - 1);
        sum += (double)(strlen(value->name) + (value->type.text ? strlen(value->type.text) : 0));
        for (size_t i = 0; i < value->n_consumers; i++)
            sum += graph->nodes[value->consumers[i]].index;
    }
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (size_t a = 0; a < graph->nodes[n].attrs.n; a++) {
            const struct odb_attr *attr = &graph->nodes[n].attrs.items[a];
            for (size_t g = 0; attr->graphs && g < attr->n; g++)
                sum += load_walk(attr->graphs[g]);
            for (size_t i = 0; attr->ints && i < attr->n; i++)
                sum += (double)attr->ints[i];
        }
    return sum;
}

static void load_make_all(struct make *m)
{
    make_input(m, m->graph, "x");
    make_init(m, m->graph, make_weight(m, "w", 6));
    Onnx__NodeProto *node = make_node(m, m->graph, "If", "n", "x w", "y");
    Onnx__GraphProto *body = make_graph(m, "body");
    make_node(m, body, "Add", "", "x w", "z");
    make_output(m, body, "z");
    make_attr_graph(m, node, "then_branch", body);
    make_attr(m, node, "t", 4)->t = make_weight(m, "t", 3);
    Onnx__AttributeProto *ints = make_attr(m, node, "pads", 7);
    ints->n_ints = 3;
    ints->ints = odb_model__arena_dup(m->arena, (int64_t[]){1, 2, 300}, 3, 8);
    make_node(m, m->graph, "Twice", "t", "y", "q");
    Onnx__FunctionProto *f = MAKE(m, Onnx__FunctionProto, onnx__function_proto__init);
    f->name = (char *)"Twice";
    make_words(m, &f->n_input, &f->input, "a");
    make_words(m, &f->n_output, &f->output, "b");
    make_append(m, &f->n_node, &f->node, make_node(m, NULL, "Add", "", "a a", "b"));
    make_append(m, &m->model->n_functions, &m->model->functions, f);
    make_output(m, m->graph, "q");
}

/* Opens mutations of the bytes until the time is over. */
static void load_fuzz(const unsigned char *bytes, size_t size, uint64_t seed, double seconds,
                      size_t *opened, size_t *refused)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < 2000; i++) {
        size_t n = size;
        unsigned char *mutant = load_mutate(bytes, &n, &seed);
        struct odb_model *model = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        enum odb_status status =
            odb_model_open_bytes(&model, mutant, n, NULL, "/nonexistent", "f", &err);
        if (status == ODB_OK) {
            load_walk(model->graph);
            (*opened)++;
        } else {
            assert_true(status < 0);
            load_says(&err, "f: ");
            (*refused)++;
        }
        odb_model_free(model);
        free(mutant);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 >
            seconds)
            break;
    }
}

static void test_load__survives_mutations(void **state)
{
    struct make m = make_new();
    size_t size, opened = 0, refused = 0;
    load_make_all(&m);
    unsigned char *bytes = make_bytes(&m, &size);
    load_fuzz(bytes, size, 20240613, 1.0, &opened, &refused);
    assert_true(opened > 10 && refused > 10);
    make_free(&m);
}

static void test_load__survives_mutations_of_shared_models(void **state)
{
    static const char *const names[] = {
        "onnx-cases/node/test_if_seq",
        "onnx-cases/node/test_loop11",
        "onnx-cases/node/test_scan9_sum",
        "onnx-cases/node/test_sequence_map_add_2_sequences",
        "onnx-cases/node/test_optional_get_element_sequence",
        "onnx-cases/node/test_ai_onnx_ml_tree_ensemble_single_tree",
    };
    char root[512], path[1024];
    size_t opened = 0, refused = 0;
    load_shared("onnx-cases/node", root, sizeof root);
    for (size_t i = 0; i < ODB_COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/../../%s/model.onnx", root, names[i]);
        FILE *f = fopen(path, "r");
        if (!f)
            continue;
        static unsigned char bytes[1 << 16];
        size_t size = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        load_fuzz(bytes, size, 7 + i, 0.2, &opened, &refused);
    }
    assert_true(opened > 10 && refused > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load__tensors_of_every_type),
        cmocka_unit_test(test_load__tensors_of_strings),
        cmocka_unit_test(test_load__tensors_of_odd_shapes),
        cmocka_unit_test(test_load__sparse_tensors),
        cmocka_unit_test(test_load__external_data_is_viewed),
        cmocka_unit_test(test_load__external_data_stays_below_the_model),
        cmocka_unit_test(test_load__external_data_out_of_range),
        cmocka_unit_test(test_load__external_data_missing),
        cmocka_unit_test(test_load__files_that_are_no_models),
        cmocka_unit_test(test_load__header_and_hash),
        cmocka_unit_test(test_load__bytes_kept_or_copied),
        cmocka_unit_test(test_load__a_model_larger_than_memory),
        cmocka_unit_test(test_load__every_shared_model),
        cmocka_unit_test(test_load__every_onnx_case),
        cmocka_unit_test(test_load__every_runtime_case),
        cmocka_unit_test(test_load__every_negative_file),
        cmocka_unit_test(test_load__survives_mutations),
        cmocka_unit_test(test_load__survives_mutations_of_shared_models),
    };
    return cmocka_run_group_tests(tests, load_setup, load_teardown);
}
