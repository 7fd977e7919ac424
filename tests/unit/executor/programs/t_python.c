/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a spec becomes on Python's command line. What Python makes of it is tests/check-python's.
 */
#include "executor/programs/python.h"

#include "tests/help/executor_help.h"

/* The words from "--file=" on as one line; "" and err where there are none. */
static void args_of(const char *spec, char *text, size_t size, struct odb_error *err)
{
    struct odb_argv argv = {0};
    size_t n = 0;
    bool on = false;
    text[0] = '\0';
    if (odb_python_args(&argv, spec, 3, "/scratch", err) != ODB_OK)
        argv.list.n = 0;
    for (size_t i = 0; i < argv.list.n; i++) {
        on |= !strncmp(argv.list.items[i], "--file=", 7);
        if (on && n < size)
            n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "", argv.list.items[i]);
    }
    odb_argv_dispose(&argv);
}

static void becomes(const char *spec, const char *want)
{
    char text[1024];
    struct odb_error err = ODB_ERROR_INIT;
    args_of(spec, text, sizeof text, &err);
    help_ok(err.code, &err);
    assert_string_equal(text, want);
}

static void test_python__specs(void **state)
{
#define REST " --version=" ODB_VERSION " --"
    becomes("python:a.py", "--file=a.py --class=" REST);
    becomes("python:a.py:B", "--file=a.py --class=B" REST);
    becomes("python:/x:y/a.py:B_2", "--file=/x:y/a.py --class=B_2" REST);
    becomes("python:/x:y/a.py", "--file=/x:y/a.py --class=" REST);
    becomes("python:a\\,b.py:C,k=v\\,w,flag,k\\=2=x=y",
            "--file=a,b.py --class=C" REST " k=v,w flag k=2=x=y");
    becomes("python:a.py,timeout=3,workers=2,k=1", "--file=a.py --class=" REST " k=1");
#undef REST
}

static void test_python__kinds(void **state)
{
    char text[1024];
    struct odb_error err = ODB_ERROR_INIT;
    args_of("opencv,fusion=off", text, sizeof text, &err);
    help_ok(err.code, &err);
    assert_non_null(strstr(text, "/onnxdbg_opencv.py --class=OpenCV"));
    assert_non_null(strstr(text, " -- fusion=off"));
    assert_true(odb_python_hosts("torch"));
    assert_true(odb_python_hosts("python:a.py@cpu"));
    assert_false(odb_python_hosts("cpu"));
    assert_false(odb_python_hosts("fault:scale,node=x@python:a.py"));
    assert_false(odb_python_hosts(",,"));
}

static void test_python__refuses(void **state)
{
    static const char *const specs[] = {"python", "python:a.py@cpu", "opencv:x", "opencv,nosuch=1",
                                        "torch,precision=f8"};
    for (size_t i = 0; i < ODB_COUNT(specs); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        char text[1024];
        args_of(specs[i], text, sizeof text, &err);
        assert_int_equal(err.code, ODB_E_USAGE);
    }
}

static void test_python__share(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    char text[1024], why[512];
    assert_int_equal(setenv("ONNXDBG_SHARE", "/nowhere", 1), 0);
    args_of("python:a.py", text, sizeof text, &err);
    assert_int_equal(err.code, ODB_E_EXECUTOR);
    help_has_text(&err, "ONNXDBG_SHARE");
    odb_executor_available(odb_executor_find("python"), NULL, why, sizeof why);
    assert_non_null(strstr(why, "ONNXDBG_SHARE"));
    unsetenv("ONNXDBG_SHARE");
    assert_int_equal(setenv("ONNXDBG_PYTHON", "/nowhere/python3", 1), 0);
    odb_executor_available(odb_executor_find("torch"), NULL, why, sizeof why);
    assert_non_null(strstr(why, "cannot be started"));
    unsetenv("ONNXDBG_PYTHON");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_python__specs),
        cmocka_unit_test(test_python__kinds),
        cmocka_unit_test(test_python__refuses),
        cmocka_unit_test(test_python__share),
    };
    help_find_serve();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
