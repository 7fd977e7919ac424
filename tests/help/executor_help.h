/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the tests of executors share: where the child program is, small models, small tensors.
 */
#ifndef ODB_TESTS_EXECUTOR_HELP_H
#define ODB_TESTS_EXECUTOR_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "executor/transport/target.h"
#include "model/write/build.h"

/* The build folder, of build/tests/unit/t_x. Returns path. */
static inline char *help_build_folder(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    path[n > 0 ? n : 0] = '\0';
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    }
    return path;
}

#ifdef __has_feature
#define HELP_HAS_FEATURE(x) __has_feature(x)
#else
#define HELP_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    HELP_HAS_FEATURE(address_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* ONNXDBG_SERVE for target.c: as set already, else the one of this build. */
static inline void help_find_serve(void)
{
    char build[4096], path[4200];
    snprintf(path, sizeof path, "%s/onnxdbg-serve", help_build_folder(build, sizeof build));
    if (access(path, X_OK) < 0)
        snprintf(path, sizeof path, "%s/onnxdbg-serve", getcwd(build, sizeof build));
    setenv("ONNXDBG_SERVE", path, 0);
}

static inline bool help_has_ort(void)
{
    char why[512] = "";
    odb_executor_available(odb_executor_find("ort"), NULL, why, sizeof why);
    if (why[0])
        print_message("skipped: %s\n", why);
    return !why[0];
}

/* Fails the test with the error's text. */
static inline void help_ok(enum odb_status status, const struct odb_error *err)
{
    char text[2048];
    if (status != ODB_OK)
        fail_msg("status %d: %s", status, odb_error_text(err, text, sizeof text));
}

static inline void help_has_text(const struct odb_error *err, const char *part)
{
    char text[2048];
    odb_error_text(err, text, sizeof text);
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text);
}

/* A float tensor of one row: (1, n) or, with n given as rows * cols, (rows, cols). */
static inline struct odb_tensor *help_floats(int64_t rows, int64_t cols, const float *v)
{
    struct odb_tensor *t;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_tensor_copy_of(&t, ODB_F32, 2, (int64_t[]){rows, cols}, v, &err), &err);
    return t;
}

/* x (2, 4) -> Neg "first" -> a -> Abs "second" -> b -> Sqrt "third" -> y; and side = a + b by "Add
 * "side" when wanted. probe: name of an extra output, or NULL. */
static inline void help_chain(struct odb_buf *bytes, const char *probe)
{
    struct odb_builder *b = odb_build_new("chain", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_node(b, "Neg", "first", "x", "a");
    odb_build_node(b, "Abs", "second", "a", "b");
    odb_build_node(b, "Sqrt", "third", "b", "y");
    odb_build_node(b, "Add", "fourth", "a b", "side");
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_output_typed(b, "side", ODB_F32, 2, (int64_t[]){2, 4});
    if (probe)
        odb_build_output_typed(b, probe, ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_bytes(b, bytes);
    odb_build_free(b);
}

static const char *const help_chain_outputs[] = {"y", "side"};

static const int help_identity[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const float help_x[] = {1, -4, 9, -16, 25, -36, 49, -64};

static inline struct odb_load help_load(const struct odb_buf *bytes, size_t n_nodes)
{
    return (struct odb_load){.bytes = bytes->data,
                             .size = bytes->len,
                             .dir = ".",
                             .node_index = help_identity,
                             .n_nodes = n_nodes,
                             .original_outputs = help_chain_outputs,
                             .n_original_outputs = 2};
}

static inline struct odb_target *help_open_target(const char *spec)
{
    struct odb_target *target = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_target_open(&target, spec, &err), &err);
    return target;
}

static inline void help_load_chain(struct odb_target *target)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_error err = ODB_ERROR_INIT;
    help_chain(&bytes, NULL);
    struct odb_load load = help_load(&bytes, 4);
    help_ok(odb_target_load(target, &load, &err), &err);
    memset(bytes.data, 0, bytes.len); /* the target may not need it any more */
    odb_buf_dispose(&bytes);
}

static inline void help_floats_equal(const struct odb_tensor *t, const float *want, size_t n)
{
    assert_non_null(t);
    assert_int_equal(t->dtype, ODB_F32);
    assert_int_equal(t->count, n);
    for (size_t i = 0; i < n; i++)
        if (odb_tensor_f64(t, i) != (double)want[i])
            fail_msg("element %zu is %g, not %g", i, odb_tensor_f64(t, i), (double)want[i]);
}

/* Runs the chain that is loaded; what it gives must be right. */
static inline enum odb_status help_run_chain(struct odb_target *target, struct odb_error *err)
{
    static const float y[] = {1, 2, 3, 4, 5, 6, 7, 8}, side[] = {0, 8, 0, 32, 0, 72, 0, 128};
    struct odb_tensor *x = help_floats(2, 4, help_x), *out[2];
    struct odb_named in = {"x", x};
    enum odb_status status = odb_target_run(target, &in, 1, help_chain_outputs, 2, out, err);
    if (status == ODB_OK) {
        help_floats_equal(out[0], y, 8);
        help_floats_equal(out[1], side, 8);
    }
    odb_tensor_unref(x);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
    return status;
}

/* Waits until a process has ended; it may stay a zombie, where no process collects
 * orphans. */
static inline void help_gone(int pid)
{
    char path[40], state = 'R';
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    for (int i = 0; i < 40 && !strchr("ZX", state); i++) {
        FILE *f = fopen(path, "r");
        if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
            state = 'X';
        if (f)
            fclose(f);
        if (!strchr("ZX", state))
            usleep(50 * 1000);
    }
    assert_non_null(strchr("ZX", state));
}

#endif
