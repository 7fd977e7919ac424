/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Real models: what the plain run of `ort` gives is bit for bit what ONNX Runtime gives when it
 * opens the file itself, and what it refuses it refuses itself.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "probe/run_values.h"
#include "inputs/inputs.h"
#include "bisect/plan/bisect.h"
#include "executor/ort/ort_int.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "model/read/load.h"

#define OWN_BYTES ((off_t)1 << 20) /* larger models take too long for a unit test */
#define OWN_LEAST 12               /* models that are compared, or the test says nothing */
#define OWN_OPEN 7                 /* CreateSession's place in ONNX Runtime's table */

struct own {
    struct odb_model *model; /* owned */
    struct odb_feeds *feeds; /* owned */
    int *values;             /* owned: outputs that a node makes, each once */
    size_t n;
};

static bool own_open(struct own *own, const char *folder)
{
    struct odb_input_options inputs = ODB_INPUT_OPTIONS_INIT;
    char *path = odb_xasprintf("%s/model.onnx", folder);
    char *set = odb_xasprintf("%s/test_data_set_0", folder);
    struct stat st;
    *own = (struct own){0};
    inputs.inputs_from = set;
    bool open = stat(path, &st) == 0 && st.st_size < OWN_BYTES &&
                odb_model_open(&own->model, path, NULL) == ODB_OK &&
                odb_model_require_data(own->model, NULL) == ODB_OK &&
                odb_feeds_make(&own->feeds, own->model, &inputs, NULL) == ODB_OK;
    const struct odb_graph *graph = own->model ? own->model->graph : NULL;
    own->values = odb_new_n(int, open ? graph->n_outputs + 1 : 1);
    for (size_t o = 0; open && o < graph->n_outputs; o++) {
        bool seen = graph->values[graph->outputs[o]].producer == ODB_NO_NODE;
        for (size_t i = 0; i < own->n; i++)
            seen |= own->values[i] == graph->outputs[o];
        if (!seen)
            own->values[own->n++] = graph->outputs[o];
    }
    free(path);
    free(set);
    return open && own->n;
}

static void own_close(struct own *own)
{
    odb_feeds_free(own->feeds);
    odb_model_free(own->model);
    free(own->values);
}

static void own_drop(struct odb_tensor **outputs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(outputs[i]);
    free(outputs);
}

/* ONNX Runtime opens the path; the executor's own part begins with the tensors. */
static enum odb_status own_direct(const struct own *own, struct odb_tensor **outputs,
                                  struct odb_error *err)
{
    typedef struct ort_status *open_fn(const struct ort_env *, const char *,
                                       const struct ort_session_options *, struct ort_session **);
    struct odb_executor *executor = NULL;
    struct ort_session_options *options = NULL;
    const struct odb_graph *graph = own->model->graph;
    struct odb_named *in = odb_new_n(struct odb_named, own->feeds->n + 1);
    const char **names = odb_new_n(const char *, own->n + 1);
    open_fn *open;
    MODELS_OK(odb_executor_open(&executor, "ort", &why));
    struct ort *ort = executor->self;
    memcpy(&open, &ort->table[OWN_OPEN], sizeof open);
    MODELS_OK(ort_session_options(ort, &options, &why));
    enum odb_status status =
        ort_check(ort, open(ort->env, own->model->path, options, &ort->session), err);
    ort->api.release_options(options);
    for (size_t i = 0; i < own->feeds->n; i++)
        in[i] = (struct odb_named){graph->values[own->feeds->items[i].value].name,
                                   own->feeds->items[i].tensor};
    for (size_t i = 0; i < own->n; i++)
        names[i] = graph->values[own->values[i]].name;
    if (status == ODB_OK)
        status = executor->ops->execute(ort, in, own->feeds->n, names, own->n, outputs, err);
    odb_executor_close(executor);
    free(names);
    free(in);
    return status;
}

static bool own_same(struct odb_tensor *const *a, struct odb_tensor *const *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!a[i] != !b[i] || (a[i] && !odb_tensor_identical(a[i], b[i])))
            return false;
    return true;
}

static enum odb_status own_plain(const struct own *own, struct odb_tensor **outputs,
                                 struct odb_error *err)
{
    return odb_run_values(own->model, own->feeds, "ort", own->values, own->n, outputs, NULL, 0,
                          NULL, err);
}

/* What it gives behind the end of a sequence is memory that ONNX Runtime never set. */
static bool own_unset(const char *name)
{
    return !strcmp(name, "ort-tiny-gpt2-greedy-initdec");
}

/* Counts one where the two were compared. */
static void own_compare(const struct own *own, const char *name, size_t *compared)
{
    struct odb_tensor **direct = odb_new_n(struct odb_tensor *, own->n);
    struct odb_tensor **plain = odb_new_n(struct odb_tensor *, own->n);
    struct odb_error itself = ODB_ERROR_INIT, plainly = ODB_ERROR_INIT;
    enum odb_status first = own_direct(own, direct, &itself);
    enum odb_status second = own_plain(own, plain, &plainly);
    if (first != ODB_OK)
        print_message("ONNX Runtime itself refuses %s: %.160s\n", name, itself.what);
    if (strstr(itself.what, "Load model from") && !strstr(plainly.what, "Load model from"))
        fail_msg("%s: as a plain run not by its path: %s", name, plainly.what);
    if ((first == ODB_OK) != (second == ODB_OK))
        fail_msg("%s: by itself: %s; as a plain run: %s", name,
                 first == ODB_OK ? "runs" : itself.what, second == ODB_OK ? "runs" : plainly.what);
    if (first == ODB_OK && !own_same(direct, plain, own->n))
        fail_msg("%s: the plain run gives other bits", name);
    *compared += first == ODB_OK;
    own_drop(direct, own->n);
    own_drop(plain, own->n);
}

static void test_own_file__real_models_bit_for_bit(void **state)
{
    const char *shared = getenv("ONNXDBG_SHARED");
    char *models = odb_xasprintf("%s/data/models", shared ? shared : "../shared");
    DIR *dir = opendir(models);
    size_t compared = 0;
    if (!dir || !help_has_ort()) {
        print_message("there are no shared models, or there is no ONNX Runtime\n");
        free(models);
        if (dir)
            closedir(dir);
        skip();
    }
    help_find_serve();
    for (struct dirent *entry; (entry = readdir(dir));) {
        char *folder = odb_xasprintf("%s/%s", models, entry->d_name);
        struct own own;
        if (entry->d_name[0] != '.' && own_open(&own, folder) && !own_unset(entry->d_name))
            own_compare(&own, entry->d_name, &compared);
        if (entry->d_name[0] != '.')
            own_close(&own);
        free(folder);
    }
    closedir(dir);
    free(models);
    print_message("%zu models are bit for bit what ONNX Runtime gives\n", compared);
    assert_true(compared >= OWN_LEAST);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_file__real_models_bit_for_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
