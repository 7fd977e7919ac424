/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the tests of model/ share: models from a builder, and the shared test data where it is.
 */
#ifndef TESTS_MODELS_H
#define TESTS_MODELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "system/file.h"
#include "base/mem.h"
#include "model/write/build.h"
#include "model/model.h"
#include "model/read/load.h"

/* Fails the test with the error's text. */
static inline void models_ok(enum odb_status status, const struct odb_error *err)
{
    char text[2048];
    if (status != ODB_OK)
        fail_msg("%s", odb_error_text(err, text, sizeof text));
}

#define MODELS_OK(call)                                                                            \
    do {                                                                                           \
        struct odb_error why = ODB_ERROR_INIT;                                                     \
        models_ok((call), &why);                                                                   \
    } while (0)

/* The model that the builder holds, which is freed. */
static inline struct odb_model *models_take(struct odb_builder *b)
{
    struct odb_model *model = NULL;
    struct odb_buf bytes = ODB_BUF_INIT;
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    MODELS_OK(odb_model_open_bytes(&model, bytes.data, bytes.len, NULL, "", "built", &why));
    odb_buf_dispose(&bytes);
    return model;
}

static inline struct odb_tensor *models_f32(int rank, const int64_t *dims, const float *values)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_copy_of(&t, ODB_F32, rank, dims, values, &why));
    return t;
}

static inline int models_value(const struct odb_model *model, const char *name)
{
    const struct odb_value *value = odb_graph_value(model->graph, name);
    if (!value)
        fail_msg("no value '%s'", name);
    return value->index;
}

/* A fresh folder; removed with what is in it by models_remove. */
static inline char *models_folder(void)
{
    char *path = odb_file_temporary("test-");
    assert_non_null(mkdtemp(path));
    return path;
}

static inline void models_remove(char *folder)
{
    char *command = odb_xasprintf("rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    free(command);
    free(folder);
}

/* "SHARED/data/…", or NULL where the shared data is absent. The caller frees it. */
static inline char *models_shared(const char *name)
{
    const char *shared = getenv("ONNXDBG_SHARED");
    char *path = odb_xasprintf("%s/data/%s", shared && *shared ? shared : "../shared", name);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

#define MODELS_SKIP()                                                                              \
    do {                                                                                           \
        print_message("skipped: no shared test data (set ONNXDBG_SHARED)\n");                      \
        skip();                                                                                    \
    } while (0)

/* x -> n0 -> … -> y: Tanh, Neg, Exp over and over, and every sixth adds what was five before.
 * x is 8 floats, and y is no output yet. */
static inline struct odb_builder *models_chain(int n)
{
    static const char *const ops[] = {"Tanh", "Neg", "Exp", "Sin", "Neg", "Add"};
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    for (int i = 0; i < n; i++) {
        char name[16], in[32], out[16];
        snprintf(name, sizeof name, "n%d", i);
        snprintf(out, sizeof out, i == n - 1 ? "y" : "v%d", i);
        if (i == 0)
            snprintf(in, sizeof in, "x");
        else if (i % 6 == 5)
            snprintf(in, sizeof in, "v%d v%d", i - 1, i - 5);
        else
            snprintf(in, sizeof in, "v%d", i - 1);
        odb_build_node(b, ops[i % 6], name, in, out);
    }
    return b;
}

/* If, of a condition that holds: both branches read g, 8 floats of the graph around them, and it is
 * Exp that runs. */
static inline void models_add_if(struct odb_builder *b, const char *name, const char *output)
{
    struct odb_builder *body = odb_build_new("then", 17), *other = odb_build_new("else", 17);
    const bool yes = true;
    struct odb_tensor *cond = NULL;
    MODELS_OK(odb_tensor_copy_of(&cond, ODB_BOOL, 0, NULL, &yes, &why));
    odb_build_node(body, "Exp", "e", "g", "t");
    odb_build_output_typed(body, "t", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(other, "Neg", "e", "g", "f");
    odb_build_output_typed(other, "f", ODB_F32, 1, (int64_t[]){8});
    odb_build_weight(b, "c", cond);
    odb_build_node(b, "If", name, "c", output);
    odb_build_attr_graph(b, "then_branch", body);
    odb_build_attr_graph(b, "else_branch", other);
    odb_tensor_unref(cond);
}

#endif
