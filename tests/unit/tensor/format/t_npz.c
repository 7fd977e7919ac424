/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/format/npz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/progress.h"
#include "tensor/format/npy.h"

static struct odb_error err;
static char path[80];

static int make_path(void **state)
{
    const char *base = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/odb-npz-XXXXXX", base && strlen(base) < 40 ? base : "/tmp");
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    return unlink(path);
}

static struct odb_tensor *numbers(enum odb_dtype dtype, int64_t n)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, 1, &n, &err), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_i64(dtype, t->data, i, (int64_t)(i % 50));
    return t;
}

static void test_npz__archives_come_back(void **state)
{
    for (int deflate = 0; deflate < 2; deflate++) {
        struct odb_tensor *a = numbers(ODB_F32, 100000), *b = numbers(ODB_I64, 0), *t = NULL;
        const struct odb_tensor *const tensors[] = {a, b};
        const char *const names[] = {"layer/1:0", "\u00e9mpty"};
        struct odb_npz *npz = NULL;
        assert_int_equal(odb_npz_write(path, names, tensors, 2, deflate, &err), ODB_OK);
        assert_int_equal(odb_npz_open(&npz, path, &err), ODB_OK);
        assert_int_equal(odb_npz_count(npz), 2);
        assert_string_equal(odb_npz_name(npz, 0), names[0]);
        assert_string_equal(odb_npz_name(npz, 1), names[1]);
        assert_int_equal(odb_npz_read(&t, npz, names[0], &err), ODB_OK);
        assert_true(odb_tensor_identical(t, a));
        odb_tensor_unref(t);
        assert_int_equal(odb_npz_read(&t, npz, names[1], &err), ODB_OK);
        assert_true(odb_tensor_identical(t, b));
        odb_npz_close(npz);
        odb_tensor_unref(t); /* outlives the archive */
        odb_tensor_unref(a);
        odb_tensor_unref(b);
    }
    odb_npz_close(NULL);
}

static void test_npz__says_what_is_not_there(void **state)
{
    struct odb_tensor *a = numbers(ODB_F32, 1), *t = NULL;
    struct odb_npz *npz = NULL;
    assert_int_equal(odb_npz_write(path, (const char *const[]){"x"},
                                   (const struct odb_tensor *const[]){a}, 1, false, &err),
                     ODB_OK);
    assert_int_equal(odb_npz_open(&npz, path, &err), ODB_OK);
    assert_int_equal(odb_npz_read(&t, npz, "y", &err), ODB_E_INPUT);
    assert_non_null(strstr(err.what, "'y'"));
    odb_npz_close(npz);
    odb_tensor_unref(a);
    assert_int_equal(odb_npz_open(&npz, "no/such/file.npz", &err), ODB_E_IO);
}

static void test_npz__refuses_what_numpy_cannot_hold(void **state)
{
    struct odb_tensor *a = numbers(ODB_F32, 1), *b = numbers(ODB_BF16, 4);
    const struct odb_tensor *const tensors[] = {a, b};
    struct odb_npz *npz = NULL;
    assert_int_equal(odb_npz_write(path, (const char *const[]){"a"}, tensors, 1, false, &err),
                     ODB_OK);
    assert_int_equal(odb_npz_write(path, (const char *const[]){"a", "b"}, tensors, 2, false, &err),
                     ODB_UNSUPPORTED);
    assert_int_equal(odb_npz_open(&npz, path, &err), ODB_OK); /* the old one is still there */
    assert_int_equal(odb_npz_count(npz), 1);
    odb_npz_close(npz);
    odb_tensor_unref(a);
    odb_tensor_unref(b);
}

/* Every byte of an archive spoilt, and every length: an error or the right values, never else. */
static void test_npz__broken_archives(void **state)
{
    struct odb_tensor *a = numbers(ODB_F32, 300), *t;
    const struct odb_tensor *const tensors[] = {a};
    assert_int_equal(odb_npz_write(path, (const char *const[]){"a"}, tensors, 1, true, &err),
                     ODB_OK);
    char bytes[2048];
    FILE *f = fopen(path, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_true(n > 100 && n < sizeof bytes);
    for (size_t i = 0; i < 2 * n; i++) {
        struct odb_npz *npz = NULL;
        f = fopen(path, "wb");
        if (i < n)
            bytes[i] ^= 0x5a;
        fwrite(bytes, 1, i < n ? n : i - n, f);
        fclose(f);
        if (i < n)
            bytes[i] ^= 0x5a;
        if (odb_npz_open(&npz, path, &err) != ODB_OK)
            continue;
        t = NULL;
        if (odb_npz_count(npz) && odb_npz_read(&t, npz, odb_npz_name(npz, 0), &err) == ODB_OK)
            assert_true(odb_tensor_identical(t, a));
        odb_tensor_unref(t);
        odb_npz_close(npz);
    }
    odb_tensor_unref(a);
}

static void fill_numbers(const void *payload, size_t at, void *out, size_t n)
{
    assert_int_equal(at % 64, 0);
    memcpy(out, (const char *)((const struct odb_tensor *)payload)->data + at, n);
}

static bool stop_later(void *payload, size_t done, size_t total)
{
    size_t *calls = payload;
    assert_true(done <= total);
    return ++*calls > 2;
}

/* What is made while it is written is in the file as if it had been there. */
static void test_npz__arrays_are_made_while_they_are_written(void **state)
{
    for (int deflate = 0; deflate < 2; deflate++) {
        struct odb_tensor *a = numbers(ODB_F32, 100003), *t = NULL;
        struct odb_npy_image images[2];
        const char *const names[] = {"stored", "made"};
        struct odb_npz *npz = NULL;
        size_t calls = 0;
        const struct odb_progress progress = {stop_later, &calls};
        assert_int_equal(odb_npy_image_init(&images[0], a, &err), ODB_OK);
        assert_int_equal(
            odb_npy_image_make(&images[1], a->dtype, a->rank, a->dims, fill_numbers, a, &err),
            ODB_OK);
        assert_int_equal(odb_npz_write_images(path, names, images, 2, deflate, NULL, &err), ODB_OK);
        for (int again = 0; again < 2; again++) { /* one that is stopped takes nothing away */
            assert_int_equal(odb_npz_open(&npz, path, &err), ODB_OK);
            assert_int_equal(odb_npz_read(&t, npz, "made", &err), ODB_OK);
            assert_true(odb_tensor_identical(t, a));
            odb_tensor_unref(t);
            odb_npz_close(npz);
            assert_int_equal(odb_npz_write_images(path, names, images, 2, deflate, &progress, &err),
                             ODB_CANCELLED);
        }
        assert_int_equal(odb_npy_image_write(&images[1], path, NULL, &err), ODB_OK);
        assert_int_equal(odb_npy_read(&t, path, &err), ODB_OK);
        assert_true(odb_tensor_identical(t, a));
        odb_tensor_unref(t);
        for (int i = 0; i < 2; i++)
            odb_npy_image_dispose(&images[i]);
        odb_tensor_unref(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npz__arrays_are_made_while_they_are_written),
        cmocka_unit_test(test_npz__archives_come_back),
        cmocka_unit_test(test_npz__says_what_is_not_there),
        cmocka_unit_test(test_npz__refuses_what_numpy_cannot_hold),
        cmocka_unit_test(test_npz__broken_archives),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
