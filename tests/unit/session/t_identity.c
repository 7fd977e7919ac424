/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which files a target is made of, and whether they are the same as before.
 */
#include "session/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "executor/executor.h"
#include "session/store.h"
#include "tests/help/models.h"

static char *identity_file(const char *folder, const char *name, const char *text)
{
    char *path = odb_xasprintf("%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

/* The folder with the one file in it. */
static void identity_remove(char *folder, char *path)
{
    unlink(path);
    rmdir(folder);
    free(path);
    free(folder);
}

static char *identity_of(const char *fmt, const char *path)
{
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_buf spec = ODB_BUF_INIT;
    for (; *fmt; fmt++)
        if (*fmt == '$')
            odb_buf_puts(&spec, path);
        else
            odb_buf_putc(&spec, *fmt);
    odb_identity_put_spec(odb_buf_text(&spec), &out);
    odb_buf_dispose(&spec);
    return out.len ? odb_buf_take(&out) : odb_xstrdup("");
}

/* Wherever a spec names it, and however deep. */
static void test_identity__files_of_a_spec(void **state)
{
    static const char *const specs[] = {"plugin:$",
                                        "plugin:$,threads=2",
                                        "python:$:Class",
                                        "ort,custom=$",
                                        "fault:scale,node=n@plugin:$",
                                        "fault:scale,node=n@fault:nan,node=m@python:$:Class,a=b",
                                        "command:/nowhere/sh $ x"};
    char *folder = models_folder(), *path = identity_file(folder, "a.so", "one");
    for (size_t i = 0; i < ODB_COUNT(specs); i++) {
        char *before = identity_of(specs[i], path);
        assert_non_null(strstr(before, path));
        free(identity_file(folder, "a.so", "two"));
        char *after = identity_of(specs[i], path), *differ = odb_settings_differ(before, after);
        assert_non_null(differ);
        assert_non_null(strstr(differ, "a.so (has changed)"));
        free(identity_file(folder, "a.so", "one"));
        char *again = identity_of(specs[i], path);
        assert_string_equal(again, before); /* as it was, though written anew */
        free(again);
        free(differ);
        free(after);
        free(before);
    }
    identity_remove(folder, path);
    (void)state;
}

/* What a file loads stands beside it, and its name in it; what it only writes is no part of it. */
static void test_identity__what_a_file_loads(void **state)
{
    static const char *const files[][2] = {{"net.py", "import helper\nlog = 'net.log'\n"},
                                           {"helper.py", "import ctypes\n'libdeep.so.2', 'net'\n"},
                                           {"libdeep.so.2", "one"},
                                           {"other.py", "pass"},
                                           {"net.log", "one"}};
    char *folder = models_folder(), *paths[ODB_COUNT(files)];
    for (size_t i = 0; i < ODB_COUNT(files); i++)
        paths[i] = identity_file(folder, files[i][0], files[i][1]);
    char *before = identity_of("python:$:Net", paths[0]);
    for (size_t i = 0; i < ODB_COUNT(files); i++) {
        free(identity_file(folder, files[i][0], "two"));
        char *after = identity_of("python:$:Net", paths[0]);
        char *differ = odb_settings_differ(before, after);
        assert_int_equal(differ != NULL, i < 3);
        assert_true(!differ || strstr(differ, files[i][0]));
        free(differ);
        free(after);
        free(identity_file(folder, files[i][0], files[i][1]));
    }
    for (size_t i = 0; i < ODB_COUNT(files); i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
    rmdir(folder);
    free(before);
    free(folder);
    (void)state;
}

#define IDENTITY_ROW 60

/* However many name one another in a row: they are not open all at once. */
static void test_identity__a_long_row_of_files(void **state)
{
    char *folder = models_folder(), *paths[IDENTITY_ROW], name[16], text[32];
    struct rlimit before, few;
    for (int i = 0; i < IDENTITY_ROW; i++) {
        snprintf(name, sizeof name, "m%d.py", 10 + i);
        snprintf(text, sizeof text, "import m%d\n", 11 + i);
        paths[i] = identity_file(folder, name, text);
    }
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = IDENTITY_ROW / 2;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    char *seen = identity_of("python:$:Net", paths[0]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_non_null(strstr(seen, paths[IDENTITY_ROW - 1]));
    free(seen);
    for (int i = 0; i < IDENTITY_ROW; i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
    rmdir(folder);
    free(folder);
    (void)state;
}

static void test_identity__programs_and_modules(void **state)
{
    char *folder = models_folder(), *path = identity_file(folder, "my_net.py", "x = 1\n");
    char old[4096];
    assert_non_null(getcwd(old, sizeof old));
    char *shell = identity_of("command:sh -c true", "");
    assert_non_null(strstr(shell, "/sh "));
    assert_int_equal(chdir(folder), 0);
    char *module = identity_of("python:my_net:Net", "");
    assert_int_equal(chdir(old), 0);
    assert_non_null(strstr(module, "file:my_net.py "));
    char *none = identity_of("cpu:f16", "");
    assert_string_equal(none, "");
    free(none);
    free(module);
    free(shell);
    identity_remove(folder, path);
    (void)state;
}

/* A large one by its size and time; one with a blank in its name has one word all the same. */
static void test_identity__large_files_and_odd_names(void **state)
{
    char *folder = models_folder(), *path = identity_file(folder, "my net.so", "one");
    assert_int_equal(truncate(path, 2 << 20), 0);
    char *before = identity_of("plugin:$", path);
    assert_non_null(strstr(before, "my%20net.so 2097152 bytes, "));
    assert_int_equal(truncate(path, (2 << 20) + 1), 0);
    char *after = identity_of("plugin:$", path), *differ = odb_settings_differ(before, after);
    assert_non_null(differ);
    char *gone = odb_settings_differ(before, "target cpu\n");
    assert_non_null(strstr(gone, "my%20net.so (is gone)"));
    assert_null(odb_settings_differ(before, before));
    free(gone);
    free(differ);
    free(after);
    free(before);
    identity_remove(folder, path);
    (void)state;
}

/* The library that a spec names by its folder is a file of it, and no other is. */
static void test_identity__the_library_of_a_runtime(void **state)
{
    char *folder = models_folder(), *path = identity_file(folder, "libonnxruntime.so", "one");
    char *before = identity_of("fault:scale,node=n@ort,runtime=$", folder);
    assert_non_null(strstr(before, "libonnxruntime.so"));
    free(identity_file(folder, "libonnxruntime.so", "two"));
    char *after = identity_of("fault:scale,node=n@ort,runtime=$", folder);
    char *differ = odb_settings_differ(before, after);
    assert_non_null(strstr(differ, "libonnxruntime.so (has changed)"));
    free(differ);
    free(after);
    free(before);
    identity_remove(folder, path);
    (void)state;
}

/* What a stranger's session may start: never a library or a program that it names. */
static void test_identity__a_runtime_is_not_trusted(void **state)
{
    size_t n, with = 0;
    const struct odb_executor_ops *const *rows = odb_executor_list(&n);
    (void)state;
    for (size_t i = 0; i < n; i++) {
        const char *spelled[] = {"runtime", rows[i]->renamed};
        for (size_t k = 0; k < ODB_COUNT(spelled) && rows[i]->env && spelled[k]; k++) {
            char *spec = odb_xasprintf("%s,%s=x.so", rows[i]->kind, spelled[k]);
            char *wrapped = odb_xasprintf("fault:scale,node=n@%s", spec);
            assert_non_null(odb_spec_row(rows[i]->options, spelled[k]));
            assert_false(odb_executor_trusted(spec));
            assert_false(odb_executor_trusted(wrapped));
            free(wrapped);
            free(spec);
            with++;
        }
    }
    assert_true(with >= 7);
    assert_true(odb_executor_trusted("fault:scale,node=n@ort,opt=basic"));
    assert_true(odb_executor_trusted("stale:h,carry=hn@ort,opt=basic"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity__files_of_a_spec),
        cmocka_unit_test(test_identity__what_a_file_loads),
        cmocka_unit_test(test_identity__a_long_row_of_files),
        cmocka_unit_test(test_identity__programs_and_modules),
        cmocka_unit_test(test_identity__large_files_and_odd_names),
        cmocka_unit_test(test_identity__the_library_of_a_runtime),
        cmocka_unit_test(test_identity__a_runtime_is_not_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
