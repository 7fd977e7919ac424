/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sizes and headers that are expected here were written by NumPy 1.24.2.
 */
#include "tensor/format/npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static struct odb_error err;
static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/odb-npy-XXXXXX", base && strlen(base) < 40 ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    unlink(in_folder("a.npy"));
    unlink(in_folder("big.npy"));
    return rmdir(folder);
}

/* An .npy file of version major with this dictionary and these values; owned. */
static char *npy(int major, const char *dictionary, const void *values, size_t n, size_t *size)
{
    size_t start = major == 1 ? 10 : 12, len = strlen(dictionary);
    char *file = odb_xcalloc(start + len + n, 1);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (char)major;
    for (size_t i = 8; i < start; i++)
        file[i] = (char)(len >> 8 * (i - 8));
    memcpy(file + start, dictionary, len);
    if (n)
        memcpy(file + start + len, values, n);
    *size = start + len + n;
    return file;
}

static enum odb_status parse(struct odb_tensor **out, int major, const char *dictionary,
                             const void *values, size_t n)
{
    size_t size;
    char *file = npy(major, dictionary, values, n, &size);
    err = (struct odb_error)ODB_ERROR_INIT;
    *out = NULL;
    enum odb_status status = odb_npy_parse(out, file, size, NULL, &err);
    free(file);
    return status;
}

#define DICT(descr, order, shape)                                                                  \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"

static void test_npy__every_version(void **state)
{
    const float v[] = {1, 2, 3};
    for (int major = 1; major <= 3; major++) {
        struct odb_tensor *t;
        assert_int_equal(parse(&t, major, DICT("'<f4'", "False", "(3,)"), v, sizeof v), ODB_OK);
        assert_int_equal(t->dtype, ODB_F32);
        assert_int_equal(t->rank, 1);
        assert_memory_equal(t->data, v, sizeof v);
        odb_tensor_unref(t);
    }
    struct odb_tensor *t;
    assert_int_equal(parse(&t, 4, DICT("'<f4'", "False", "(3,)"), v, sizeof v), ODB_E_FORMAT);
}

static void test_npy__every_type(void **state)
{
    static const struct {
        const char *descr;
        enum odb_dtype dtype;
    } cases[] = {
        {"|b1", ODB_BOOL}, {"|i1", ODB_I8},    {"<i2", ODB_I16}, {"<i4", ODB_I32},
        {"<i8", ODB_I64},  {"|u1", ODB_U8},    {"<u2", ODB_U16}, {"<u4", ODB_U32},
        {"<u8", ODB_U64},  {"<f2", ODB_F16},   {"<f4", ODB_F32}, {"<f8", ODB_F64},
        {"<c8", ODB_C64},  {"<c16", ODB_C128}, {"=f4", ODB_F32}, {"f4", ODB_F32},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        char dictionary[128], zeros[32] = {0};
        struct odb_tensor *t;
        snprintf(dictionary, sizeof dictionary, DICT("'%s'", "False", "(2,)"), cases[i].descr);
        assert_int_equal(parse(&t, 1, dictionary, zeros, sizeof zeros), ODB_OK);
        assert_int_equal(t->dtype, cases[i].dtype);
        odb_tensor_unref(t);
    }
}

static void test_npy__orders(void **state)
{
    struct odb_tensor *t;
    /* [[0, 1, 2], [3, 4, 5]] column by column, big endian */
    const uint8_t columns[] = {0, 0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5};
    assert_int_equal(parse(&t, 1, DICT("'>i2'", "True", "(2, 3)"), columns, 12), ODB_OK);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(odb_tensor_i64(t, i), i);
    odb_tensor_unref(t);
    /* The two halves of a complex number are swapped each for itself. */
    const uint8_t c[] = {0x3f, 0x80, 0, 0, 0x40, 0, 0, 0};
    assert_int_equal(parse(&t, 1, DICT("'>c8'", "False", "()"), c, 8), ODB_OK);
    assert_true(((odb_f32 *)t->data)[0] == 1 && ((odb_f32 *)t->data)[1] == 2);
    odb_tensor_unref(t);
    /* A bool is 0 or 1 to everybody else. */
    assert_int_equal(parse(&t, 1, DICT("'|b1'", "False", "(3,)"), "\0\1\7", 3), ODB_OK);
    assert_memory_equal(t->data, "\0\1\1", 3);
    odb_tensor_unref(t);
}

static void check_strings(const char *descr, const void *values, size_t n, const char *a,
                          const char *b)
{
    struct odb_tensor *t;
    char dictionary[128];
    snprintf(dictionary, sizeof dictionary, DICT("'%s'", "False", "(2,)"), descr);
    assert_int_equal(parse(&t, 1, dictionary, values, n), ODB_OK);
    const struct odb_str *s = t->data;
    assert_int_equal(s[0].len, strlen(a));
    assert_memory_equal(s[0].data, a, s[0].len);
    assert_int_equal(s[1].len, strlen(b));
    assert_memory_equal(s[1].data, b, s[1].len);
    odb_tensor_unref(t);
}

static void test_npy__strings(void **state)
{
    check_strings("<U2", "a\0\0\0\xe9\0\0\0\x2d\x4e\0\0\x00\xf6\x01\0", 16, "a\u00e9",
                  "\u4e2d\U0001f600");
    check_strings(">U1", "\0\0\0a\0\0\0\0", 8, "a", "");
    check_strings("|S3", "abc\xff\0\0", 6, "abc", "\xff");
    check_strings("<U0", "", 0, "", "");
    struct odb_tensor *t;
    assert_int_equal(parse(&t, 1, DICT("'<U1'", "False", "(1,)"), "\0\xd8\0\0", 4), ODB_E_FORMAT);
    assert_non_null(strstr(err.what, "element 0"));
    /* Nothing of the file stands behind these. */
    assert_int_equal(parse(&t, 1, DICT("'<U0'", "False", "(1569770931, 32)"), "", 0), ODB_E_FORMAT);
    assert_non_null(strstr(err.what, "of no bytes"));
}

static void test_npy__odd_but_legal_headers(void **state)
{
    static const char *const headers[] = {
        "{\"shape\": (1L, 2), \"descr\": \"<f4\", \"fortran_order\": False}",
        "  {'fortran_order':False,'shape':(1,2,),'descr':'<f4'}   \n",
        "{ 'descr' : '<f4' , 'fortran_order' : True , 'shape' : ( 1 , 2 ) , } ",
    };
    for (size_t i = 0; i < ODB_COUNT(headers); i++) {
        struct odb_tensor *t;
        assert_int_equal(parse(&t, 1, headers[i], "12345678", 8), ODB_OK);
        assert_int_equal(t->rank, 2);
        assert_int_equal(t->dims[1], 2);
        odb_tensor_unref(t);
    }
}

static void test_npy__hostile_headers(void **state)
{
    static const struct {
        const char *dictionary, *says;
        enum odb_status status;
    } cases[] = {
        {"", "'{' expected", ODB_E_FORMAT},
        {"{}", "missing", ODB_E_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False}", "missing", ODB_E_FORMAT},
        {"{'descr': '<f4', 'descr': '<f4'}", "twice", ODB_E_FORMAT},
        {"{'descr': '<f4', 'colour': 1}", "unknown key", ODB_E_FORMAT},
        {"{'descr", "closing quote", ODB_E_FORMAT},
        {"{'descr': '<f4' 'shape': ()}", "'}' expected", ODB_E_FORMAT},
        {DICT("'<f4'", "Maybe", "(1,)"), "True or False", ODB_E_FORMAT},
        {DICT("'<f4'", "False", "(-1,)"), "non-negative", ODB_E_FORMAT},
        {DICT("'<f4'", "False", "(99999999999999999999,)"), "too large", ODB_E_FORMAT},
        {DICT("'<f4'", "False", "3"), "'(' expected", ODB_E_FORMAT},
        {DICT("'<f4'", "False", "(1 2)"), "')' expected", ODB_E_FORMAT},
        {DICT("'<f4'", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), "too many dimensions",
         ODB_E_FORMAT},
        {DICT("'<f4'", "False", "(3,)"), "do not fit", ODB_E_FORMAT},
        {DICT("'<f4'", "False", "(9223372036854775807, 9223372036854775807)"), "too large",
         ODB_E_FORMAT},
        {DICT("'<U1000000000'", "False", "(3,)"), "unknown element type", ODB_E_FORMAT},
        {DICT("'<U100000000'", "False", "(100000000,)"), "do not fit", ODB_E_FORMAT},
        {DICT("'<f'", "False", "(1,)"), "unknown element type", ODB_E_FORMAT},
        {DICT("'<f4x'", "False", "(1,)"), "unknown element type", ODB_E_FORMAT},
        {DICT("''", "False", "(1,)"), "unknown element type", ODB_E_FORMAT},
        {DICT("'<f3'", "False", "(1,)"), "no tensor holds", ODB_UNSUPPORTED},
        {DICT("'<f16'", "False", "(1,)"), "no tensor holds", ODB_UNSUPPORTED},
        {DICT("'<M8[ns]'", "False", "(1,)"), "unknown element type", ODB_E_FORMAT},
        {DICT("'|O'", "False", "(1,)"), "pickled", ODB_UNSUPPORTED},
        {DICT("[('a', '<f4')]", "False", "(1,)"), "structures", ODB_UNSUPPORTED},
        {DICT("'<f4'", "False", "(1,)") "x", "behind the dictionary", ODB_E_FORMAT},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_tensor *t;
        assert_int_equal(parse(&t, 1, cases[i].dictionary, "1234", 4), cases[i].status);
        assert_null(t);
        if (!strstr(err.what, cases[i].says))
            fail_msg("'%s' answered with '%s'", cases[i].dictionary, err.what);
    }
    struct odb_tensor *t;
    assert_int_equal(parse(&t, 1, DICT("'<f4'", "Maybe", "(1,)"), "", 0), ODB_E_FORMAT);
    assert_string_equal(err.where, "byte 44");
}

static void test_npy__cut_anywhere(void **state)
{
    size_t size;
    char *file = npy(1, DICT("'<f4'", "False", "(3,)"), "123456789012", 12, &size);
    for (size_t n = 0; n < size; n++) {
        char *exact = odb_xmemdup(file, n ? n : 1); /* so that a sanitizer sees one byte too many */
        struct odb_tensor *t = NULL;
        assert_int_equal(odb_npy_parse(&t, exact, n, NULL, &err), ODB_E_FORMAT);
        free(exact);
    }
    free(file);
}

static struct odb_tensor *numbers(enum odb_dtype dtype, int rank, const int64_t *dims)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, rank, dims, &err), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_i64(dtype, t->data, i, (int64_t)(i % 100));
    return t;
}

static void test_npy__headers_as_numpy_writes_them(void **state)
{
    static const struct {
        enum odb_dtype dtype;
        int rank;
        int64_t dims[3];
        const char *dictionary;
    } cases[] = {
        {ODB_F32, 2, {3, 4}, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"},
        {ODB_F64, 0, {0}, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }"},
        {ODB_BOOL, 1, {5}, "{'descr': '|b1', 'fortran_order': False, 'shape': (5,), }"},
        {ODB_I8, 3, {2, 0, 3}, "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 0, 3), }"},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_tensor *t = numbers(cases[i].dtype, cases[i].rank, cases[i].dims);
        struct odb_npy_image image;
        char expected[129];
        memset(expected, ' ', sizeof expected);
        memcpy(expected, "\x93NUMPY\1\0v\0", 10);
        memcpy(expected + 10, cases[i].dictionary, strlen(cases[i].dictionary));
        expected[127] = '\n';
        assert_int_equal(odb_npy_image_init(&image, t, &err), ODB_OK);
        assert_int_equal(image.head_size, 128);
        assert_memory_equal(image.head, expected, 128);
        assert_int_equal(image.body_size, t->bytes);
        odb_npy_image_dispose(&image);
        odb_tensor_unref(t);
    }
}

static void test_npy__header_grows_as_numpys(void **state)
{
    static const struct {
        enum odb_dtype dtype;
        int64_t first, last;
        int one_block; /* up to this rank the header takes 128 bytes, then 192 */
    } cases[] = {{ODB_F32, 1, 1, 14}, {ODB_I8, 123456, 1, 14}, {ODB_I8, 1, 12345, 13}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++)
        for (int rank = 2; rank <= ODB_MAX_RANK; rank++) {
            int64_t dims[ODB_MAX_RANK];
            for (int d = 0; d < rank; d++)
                dims[d] = 1;
            dims[0] = cases[i].first;
            if (cases[i].last > 1)
                dims[rank - 1] = cases[i].last;
            struct odb_tensor *t = numbers(cases[i].dtype, rank, dims);
            struct odb_npy_image image;
            assert_int_equal(odb_npy_image_init(&image, t, &err), ODB_OK);
            assert_int_equal(image.head_size, rank <= cases[i].one_block ? 128 : 192);
            odb_npy_image_dispose(&image);
            odb_tensor_unref(t);
        }
}

static void test_npy__files_come_back(void **state)
{
    for (unsigned i = 1; i < ODB_DTYPE_COUNT; i++) {
        enum odb_dtype dtype = (enum odb_dtype)i;
        if (dtype == ODB_STRING)
            continue;
        struct odb_tensor *t = numbers(dtype, 2, (int64_t[]){3, 5}), *u = NULL;
        enum odb_status status = odb_npy_write(t, in_folder("a.npy"), &err);
        if (odb_dtype_info(dtype)->descr) {
            assert_int_equal(status, ODB_OK);
            assert_int_equal(odb_npy_read(&u, in_folder("a.npy"), &err), ODB_OK);
            assert_true(odb_tensor_identical(t, u));
            odb_tensor_unref(u);
        } else {
            assert_int_equal(status, ODB_UNSUPPORTED);
            assert_non_null(strstr(err.remedy, ".pb"));
        }
        odb_tensor_unref(t);
    }
}

static void test_npy__string_files_come_back(void **state)
{
    const struct odb_str plain[] = {{"", 0}, {"\u4e2d\U0001f600x", 8}},
                         raw[] = {{"\xff", 1}, {"ab", 2}},
                         nul[] = {{"a\0", 2}, {"", 0}}, *const cases[] = {plain, raw};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_tensor *t = NULL, *u = NULL;
        assert_int_equal(odb_tensor_copy_of(&t, ODB_STRING, 1, (int64_t[]){2}, cases[i], &err),
                         ODB_OK);
        assert_int_equal(odb_npy_write(t, in_folder("a.npy"), &err), ODB_OK);
        assert_int_equal(odb_npy_read(&u, in_folder("a.npy"), &err), ODB_OK);
        assert_true(odb_tensor_identical(t, u));
        odb_tensor_unref(t);
        odb_tensor_unref(u);
    }
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_copy_of(&t, ODB_STRING, 1, (int64_t[]){2}, nul, &err), ODB_OK);
    assert_int_equal(odb_npy_write(t, in_folder("a.npy"), &err), ODB_UNSUPPORTED);
    odb_tensor_unref(t);
}

static void test_npy__large_files_are_views(void **state)
{
    struct odb_tensor *t = numbers(ODB_F32, 2, (int64_t[]){600, 1000}), *u = NULL;
    assert_int_equal(odb_npy_write(t, in_folder("big.npy"), &err), ODB_OK);
    assert_int_equal(odb_npy_read(&u, in_folder("big.npy"), &err), ODB_OK);
    unlink(in_folder("big.npy"));
    assert_true(odb_tensor_identical(t, u));
    assert_int_equal((uintptr_t)u->data % 4096, 128); /* the page of the file, not a copy */
    odb_tensor_unref(t);
    odb_tensor_unref(u);
}

static void test_npy__files_that_are_none(void **state)
{
    struct odb_tensor *t = NULL;
    err = (struct odb_error)ODB_ERROR_INIT;
    assert_int_equal(odb_npy_read(&t, in_folder("absent.npy"), &err), ODB_E_IO);
    assert_string_equal(err.where, in_folder("absent.npy"));
    assert_int_equal(odb_npy_read(&t, folder, &err), ODB_E_IO);
    FILE *f = fopen(in_folder("a.npy"), "w");
    fputs("PK", f);
    fclose(f);
    err = (struct odb_error)ODB_ERROR_INIT;
    assert_int_equal(odb_npy_read(&t, in_folder("a.npy"), &err), ODB_E_FORMAT);
    assert_string_equal(err.where, in_folder("a.npy"));
    struct odb_tensor *v = numbers(ODB_F32, 1, (int64_t[]){1});
    assert_int_equal(odb_npy_write(v, in_folder("no/such/folder.npy"), &err), ODB_E_IO);
    odb_tensor_unref(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy__every_version),
        cmocka_unit_test(test_npy__every_type),
        cmocka_unit_test(test_npy__orders),
        cmocka_unit_test(test_npy__strings),
        cmocka_unit_test(test_npy__odd_but_legal_headers),
        cmocka_unit_test(test_npy__hostile_headers),
        cmocka_unit_test(test_npy__cut_anywhere),
        cmocka_unit_test(test_npy__headers_as_numpy_writes_them),
        cmocka_unit_test(test_npy__header_grows_as_numpys),
        cmocka_unit_test(test_npy__files_come_back),
        cmocka_unit_test(test_npy__string_files_come_back),
        cmocka_unit_test(test_npy__large_files_are_views),
        cmocka_unit_test(test_npy__files_that_are_none),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
