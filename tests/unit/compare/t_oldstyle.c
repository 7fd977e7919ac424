/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines and numbers of dump_tools' comparison. diff2 is what NumPy 1.24.2 gives in float32.
 */
#include "compare/oldstyle.h"

#include <glob.h>
#include <math.h>
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

#include "system/file.h"
#include "base/pyfloat.h"
#include "tensor/format/npy.h"

static struct odb_error err;

static void test_oldstyle__floats_as_python_prints_them(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {{0, "0.0"},
                 {-0.0, "-0.0"},
                 {1, "1.0"},
                 {10, "10.0"},
                 {0.1, "0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {-123.456, "-123.456"},
                 {1e-4, "0.0001"},
                 {1e-5, "1e-05"},
                 {1.5e-5, "1.5e-05"},
                 {1e-6, "1e-06"},
                 {1e15, "1000000000000000.0"},
                 {1e16, "1e+16"},
                 {9007199254740993.0, "9007199254740992.0"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {5e-324, "5e-324"},
                 {0x1p-24, "5.960464477539063e-08"},
                 {0x1p-44, "5.684341886080802e-14"},
                 {-0x1p-1022, "-2.2250738585072014e-308"},
                 {0x1p70, "1.1805916207174113e+21"},
                 {0.1f, "0.10000000149011612"},
                 {123456789012345680.0, "1.2345678901234568e+17"},
                 {NAN, "nan"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"}};
    char text[ODB_PYFLOAT_TEXT];
    for (size_t i = 0; i < ODB_COUNT(cases); i++)
        assert_string_equal(odb_pyfloat(cases[i].v, text, sizeof text), cases[i].text);
}

static char *dir(void **state, const char *name)
{
    char *path = odb_xasprintf("%s/%s", (char *)*state, name);
    mkdir(path, 0777);
    return path;
}

static void put(const char *folder, const char *name, size_t n, const double *v)
{
    struct odb_tensor *t;
    char *path = odb_xasprintf("%s/%s", folder, name);
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 1, (int64_t[]){(int64_t)n}, &err), ODB_OK);
    for (size_t i = 0; i < n; i++)
        odb_store_f64(ODB_F32, t->data, i, v[i]);
    assert_int_equal(odb_npy_write(t, path, &err), ODB_OK);
    odb_tensor_unref(t);
    free(path);
}

#define PUT(folder, name, ...)                                                                     \
    put(folder, name, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static struct odb_oldstyle compared(char *target, char *compare, char *golden)
{
    struct odb_oldstyle what;
    const char *const dirs[] = {target, compare, golden};
    const struct odb_oldstyle_options options = ODB_OLDSTYLE_INIT;
    const struct odb_oldstyle_reader reader = {.read = odb_npy_read};
    assert_int_equal(odb_oldstyle_folders(&what, dirs, &options, &reader, &err), ODB_OK);
    free(target);
    free(compare);
    free(golden);
    return what;
}

static void expect_line(const struct odb_oldstyle *what, size_t index, const char *text)
{
    struct odb_buf out = ODB_BUF_INIT;
    odb_oldstyle_line(what, index, &out);
    assert_string_equal(odb_buf_text(&out), text);
    odb_buf_dispose(&out);
}

static void test_oldstyle__two_folders(void **state)
{
    char *e = dir(state, "e"), *b = dir(state, "b");
    PUT(e, "relu_3.tmp_0.npy", 1, 2, 3);
    PUT(b, "relu_3.tmp_0.npy", 1, 2, 3);
    PUT(e, "near.npy", 1, 2, 3.01);
    PUT(b, "near.npy", 1, 2, 3);
    PUT(e, "odd.npy", 1, NAN, INFINITY);
    PUT(b, "odd.npy", 1, NAN, INFINITY);
    PUT(e, "shape.npy", 1, 2);
    PUT(b, "shape.npy", 1, 2, 3);
    PUT(e, "zero.npy", 0, 0);
    PUT(b, "zero.npy", 0, 0);
    PUT(e, "one.npy", 1, 0);
    PUT(b, "one.npy", 0, 0);
    PUT(e, "mine.npy", 1);
    PUT(b, "yours.npy", 1);
    struct odb_oldstyle what = compared(e, b, NULL);
    assert_int_equal(what.rows.n, 6);
    expect_line(&what, 0,
                "index: 0 | near.npy | nan_inf: False | diff2: 0.002672609869562819 | "
                "all_close: False | th: 1e-06\n");
    expect_line(&what, 1,
                "index: 1 | odd.npy | nan_inf: True | diff2: nan | all_close: True | "
                "th: 1e-06\n");
    expect_line(&what, 2,
                "index: 2 | one.npy | nan_inf: False | diff2: inf | all_close: False | "
                "th: 1e-06\n");
    expect_line(&what, 3,
                "index: 3 | relu_3.tmp_0.npy | nan_inf: False | diff2: 0.0 | "
                "all_close: True | th: 1e-06\n");
    expect_line(&what, 4, "index: 4 | shape.npy | error: shape (2,), compare has (3,)\n");
    expect_line(&what, 5,
                "index: 5 | zero.npy | nan_inf: False | diff2: nan | all_close: True | "
                "th: 1e-06\n");
    static const bool fails[] = {true, false, true, false, true, false};
    for (size_t i = 0; i < what.rows.n; i++)
        assert_int_equal(odb_oldstyle_fails(&what, &what.rows.items[i]), fails[i]);
    struct odb_buf out = ODB_BUF_INIT, want = ODB_BUF_INIT;
    odb_oldstyle_summary(&what, &out);
    odb_buf_printf(&want,
                   "not in every folder, but in target (%s/e): mine.npy\n"
                   "not in every folder, but in compare (%s/b): yours.npy\n"
                   "not comparable (1): shape.npy\n"
                   "nan or inf (1): odd.npy\n"
                   "diff2 > 0.001 (2): near.npy, one.npy\n"
                   "all_close fails (2): near.npy, one.npy\n",
                   (char *)*state, (char *)*state);
    assert_string_equal(odb_buf_text(&out), odb_buf_text(&want));
    odb_buf_dispose(&out);
    odb_buf_dispose(&want);
    odb_oldstyle_dispose(&what);
}

static void test_oldstyle__three_folders(void **state)
{
    char *e = dir(state, "target"), *b = dir(state, "compare"), *g = dir(state, "golden");
    PUT(e, "relu_3.tmp_0.npy", 1, 2);
    PUT(b, "relu_3.tmp_0.npy", 1, 2);
    PUT(g, "relu_3.tmp_0.npy", 1, 2);
    PUT(e, "within.npy", 4.5, 8);
    PUT(b, "within.npy", 4.0625, 8);
    PUT(g, "within.npy", 4, 8);
    PUT(e, "worse.npy", 5, 8);
    PUT(b, "worse.npy", 4.0625, 8);
    PUT(g, "worse.npy", 4, 8);
    PUT(g, "alone.npy", 1);
    put(e, "empty.npy", 0, NULL);
    put(b, "empty.npy", 0, NULL);
    put(g, "empty.npy", 0, NULL);
    struct odb_oldstyle what = compared(e, b, g);
    expect_line(&what, 0,
                "index: 0 | empty.npy | nan_inf: False | diff2: nan | "
                "diff3_max=pass | diff3_mean=pass | diff3_max_sw: 0.0 | diff3_max_g: "
                "0.0*10.0=0.0 | diff3_mean_sw: 0.0 | diff3_mean_g: 0.0*10.0=0.0\n");
    assert_false(odb_oldstyle_fails(&what, &what.rows.items[0]));
    expect_line(&what, 1,
                "index: 1 | relu_3.tmp_0.npy | nan_inf: False | diff2: 0.0 | "
                "diff3_max=pass | diff3_mean=pass | diff3_max_sw: 0.0 | diff3_max_g: "
                "0.0*10.0=0.0 | diff3_mean_sw: 0.0 | diff3_mean_g: 0.0*10.0=0.0\n");
    assert_true(what.rows.items[2].max_pass && what.rows.items[2].mean_pass);
    assert_false(what.rows.items[3].max_pass || what.rows.items[3].mean_pass);
    assert_true(fabs(what.rows.items[3].max_target - 1 / (4 + 1e-9)) < 1e-15);
    assert_true(fabs(what.rows.items[3].mean_compare - 0.0625 / (4 + 1e-9) / 2) < 1e-15);
    assert_int_equal(what.alone.n, 1);
    odb_oldstyle_dispose(&what);
}

static void test_oldstyle__outputs_of_a_dump(void **state)
{
    char *root = dir(state, "ort_dump"), *b = dir(state, "plain");
    char *e = dir(state, "ort_dump/outputs");
    PUT(e, "topoidx_00000__x.npy", 1);
    PUT(b, "topoidx_00000__x.npy", 1);
    free(e);
    struct odb_oldstyle what = compared(root, b, NULL);
    assert_int_equal(what.rows.n, 1);
    char *path = odb_xasprintf("%s/compare_results.xlsx", (char *)*state);
    char *own = odb_xasprintf("%s.part", path), *all = odb_xasprintf("%s*", path);
    glob_t found;
    assert_int_equal(symlink(*state, own), 0); /* somebody's, which may lead anywhere */
    assert_int_equal(odb_oldstyle_workbook(&what, path, &err), ODB_OK);
    assert_int_equal(access(path, R_OK), 0);
    assert_int_equal(glob(all, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 2);
    globfree(&found);
    free(own);
    free(all);
    assert_int_equal(odb_oldstyle_workbook(&what, "/nowhere/x.xlsx", &err), ODB_E_IO);
    free(path);
    odb_oldstyle_dispose(&what);
}

static void test_oldstyle__nothing_in_common(void **state)
{
    struct odb_oldstyle what;
    char *e = dir(state, "e"), *b = dir(state, "b");
    const char *const dirs[] = {e, b, NULL}, *const lost[] = {e, "/nowhere", NULL};
    const struct odb_oldstyle_options options = ODB_OLDSTYLE_INIT;
    const struct odb_oldstyle_reader reader = {.read = odb_npy_read};
    PUT(e, "mine.npy", 1);
    PUT(b, "yours.npy", 1);
    assert_int_equal(odb_oldstyle_folders(&what, dirs, &options, &reader, &err), ODB_E_INPUT);
    odb_oldstyle_dispose(&what);
    assert_int_equal(odb_oldstyle_folders(&what, lost, &options, &reader, &err), ODB_E_IO);
    odb_oldstyle_dispose(&what);
    free(e);
    free(b);
}

static int setup(void **state)
{
    char *path = odb_file_temporary("oldstyle");
    *state = mkdtemp(path);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    char *command = odb_xasprintf("rm -rf '%s'", (char *)*state);
    int failed = system(command);
    free(command);
    free(*state);
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oldstyle__floats_as_python_prints_them),
        cmocka_unit_test_setup_teardown(test_oldstyle__two_folders, setup, teardown),
        cmocka_unit_test_setup_teardown(test_oldstyle__three_folders, setup, teardown),
        cmocka_unit_test_setup_teardown(test_oldstyle__outputs_of_a_dump, setup, teardown),
        cmocka_unit_test_setup_teardown(test_oldstyle__nothing_in_common, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
