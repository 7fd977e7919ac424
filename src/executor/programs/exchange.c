/* SPDX-License-Identifier: MIT */
#include "executor/programs/exchange.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "model/model.h"
#include "model/read/load.h"
#include "model/read/pb.h"
#include "model/write/pb_write.h"
#include "tensor/format/npy.h"

void odb_exchange_init(struct odb_exchange *exchange, const char *keep, const char *list)
{
    *exchange =
        (struct odb_exchange){.place = odb_place_new(keep), .keep = keep != NULL, .list = list};
}

static void exchange_unload(struct odb_exchange *exchange)
{
    for (size_t i = 0; i < exchange->n_outputs; i++)
        free(exchange->outputs[i].name);
    free(exchange->outputs);
    exchange->outputs = NULL;
    exchange->n_outputs = 0;
}

void odb_exchange_dispose(struct odb_exchange *exchange)
{
    exchange_unload(exchange);
    odb_place_free(exchange->place);
    exchange->place = NULL;
}

enum odb_status odb_exchange_load(struct odb_exchange *exchange, const struct odb_load *load,
                                  struct odb_error *err)
{
    struct odb_model *model;
    exchange_unload(exchange);
    ODB_TRY(odb_model_open_bytes(&model, load->bytes, load->size, NULL, load->dir, "model", err));
    enum odb_status status = odb_place_put(exchange->place, load, model, err);
    exchange->n_outputs = model->graph->n_outputs;
    exchange->outputs = odb_new_n(struct odb_exchange_output, exchange->n_outputs + 1);
    for (size_t i = 0; i < exchange->n_outputs; i++) {
        const struct odb_value *v = &model->graph->values[model->graph->outputs[i]];
        exchange->outputs[i] = (struct odb_exchange_output){odb_xstrdup(v->name), v->type.known,
                                                            v->type.kind, v->type.dtype};
    }
    odb_model_free(model);
    return status;
}

/* Where the file of that number is; the caller frees it. */
static char *exchange_path(const struct odb_exchange *exchange, const char *what, size_t i,
                           const char *kind)
{
    return odb_xasprintf("%s/%s_%zu.%s", odb_place_dir(exchange->place), what, i, kind);
}

/* A name as JSON can hold it: bytes that are no UTF-8 as \xNN. */
static json_t *exchange_name(const char *name)
{
    struct odb_buf shown = ODB_BUF_INIT;
    json_t *text = json_string(name);
    if (!text) {
        odb_buf_put_shown(&shown, name);
        text = json_string(odb_buf_text(&shown));
        odb_buf_dispose(&shown);
    }
    return text;
}

/* ONNX's spelling of a type, "float", "seq(tensor(float))". */
static json_t *exchange_dtype(enum odb_kind kind, enum odb_dtype dtype)
{
    static const char *const outer[] = {[ODB_SEQUENCE] = "seq",
                                        [ODB_OPTIONAL] = "optional",
                                        [ODB_SPARSE] = "sparse_tensor",
                                        [ODB_MAP] = "map"};
    const char *name = odb_dtype_info(dtype)->name;
    if (kind == ODB_TENSOR)
        return json_string(name);
    if (kind == ODB_SPARSE)
        return json_sprintf("%s(%s)", outer[kind], name);
    return json_sprintf("%s(tensor(%s))", outer[kind], name);
}

static bool exchange_is_npy(enum odb_kind kind, enum odb_dtype dtype)
{
    return kind == ODB_TENSOR && (odb_dtype_info(dtype)->descr || dtype == ODB_STRING);
}

static enum odb_status exchange_write_input(const struct odb_exchange *exchange,
                                            const struct odb_named *input, size_t i, json_t *list,
                                            struct odb_error *err)
{
    const struct odb_tensor *t = input->tensor;
    bool npy = exchange_is_npy(t->kind, t->dtype);
    char *path = exchange_path(exchange, "in", i, npy ? "npy" : "pb");
    enum odb_status status =
        npy ? odb_npy_write(t, path, err) : odb_pb_write(t, input->name, path, err);
    json_t *shape = t->kind == ODB_TENSOR ? json_array() : json_null();
    for (int d = 0; t->kind == ODB_TENSOR && d < t->rank; d++)
        json_array_append_new(shape, json_integer(t->dims[d]));
    json_array_append_new(list, json_pack("{s:o,s:s,s:o,s:o}", "name", exchange_name(input->name),
                                          "file", strrchr(path, '/') + 1, "dtype",
                                          exchange_dtype(t->kind, t->dtype), "shape", shape));
    free(path);
    return status;
}

static const struct odb_exchange_output *exchange_find_output(const struct odb_exchange *exchange,
                                                              const char *name)
{
    for (size_t i = 0; i < exchange->n_outputs; i++)
        if (!strcmp(exchange->outputs[i].name, name))
            return &exchange->outputs[i];
    return NULL;
}

/* out_N.pb for types that .npy cannot hold, else out_N.npy; the caller frees it. */
static char *exchange_output_path(const struct odb_exchange *exchange,
                                  const struct odb_exchange_output *output, size_t i)
{
    bool npy = !output->known || exchange_is_npy(output->kind, output->dtype);
    return exchange_path(exchange, "out", i, npy ? "npy" : "pb");
}

static enum odb_status exchange_list_output(const struct odb_exchange *exchange, const char *name,
                                            size_t i, json_t *list, struct odb_error *err)
{
    const struct odb_exchange_output *output = exchange_find_output(exchange, name);
    if (!output)
        return odb_fail(err, ODB_E_INPUT, "the model has no output '%s'", name);
    char *path = exchange_output_path(exchange, output, i);
    json_array_append_new(
        list, json_pack("{s:o,s:s,s:o}", "name", exchange_name(name), "file",
                        strrchr(path, '/') + 1, "dtype",
                        output->known ? exchange_dtype(output->kind, output->dtype) : json_null()));
    free(path);
    return ODB_OK;
}

/* Inputs and outputs of a run, so that none is taken for one of the next. */
static void exchange_remove(const struct odb_exchange *exchange, const char *what, size_t n)
{
    static const char *const kinds[] = {"npy", "pb"};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < ODB_COUNT(kinds); k++) {
            char *path = exchange_path(exchange, what, i, kinds[k]);
            unlink(path);
            free(path);
        }
}

enum odb_status odb_exchange_write(const struct odb_exchange *exchange,
                                   const struct odb_named *inputs, size_t n_inputs,
                                   const char *const *names, size_t n_outputs, json_t **in,
                                   json_t **out, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    *in = *out = NULL;
    if (!odb_place_dir(exchange->place))
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    exchange_remove(exchange, "out", n_outputs);
    *in = json_array();
    *out = json_array();
    for (size_t i = 0; i < n_inputs && status == ODB_OK; i++)
        status = exchange_write_input(exchange, &inputs[i], i, *in, err);
    for (size_t i = 0; i < n_outputs && status == ODB_OK; i++)
        status = exchange_list_output(exchange, names[i], i, *out, err);
    if (status != ODB_OK) {
        json_decref(*in);
        json_decref(*out);
        *in = *out = NULL;
    }
    return status;
}

/* Where the type was not known, .pb is as good as .npy, if the program saw fit. */
static void exchange_prefer_pb(char *path)
{
    char *dot = strrchr(path, '.');
    if (access(path, F_OK) == 0)
        return;
    memcpy(dot, ".pb", sizeof ".pb");
    if (access(path, F_OK) != 0)
        memcpy(dot, ".npy", sizeof ".npy");
}

static enum odb_status exchange_check_file(const struct odb_exchange *exchange, const char *path,
                                           const char *name, struct odb_error *err)
{
    struct stat st;
    struct odb_buf file = ODB_BUF_INIT;
    bool found = stat(path, &st) == 0, regular = found && S_ISREG(st.st_mode);
    odb_buf_put_shown(&file, strrchr(path, '/') + 1);
    if (!found) {
        odb_fail(err, ODB_E_EXECUTOR, "the program wrote no %s for the output '%s'",
                 odb_buf_text(&file), name);
        odb_error_remedy(err, "%s names the file of each output", exchange->list);
    } else if (!regular) {
        odb_fail(err, ODB_E_EXECUTOR, "%s, for the output '%s', is no regular file",
                 odb_buf_text(&file), name);
    }
    odb_buf_dispose(&file);
    return regular ? ODB_OK : ODB_E_EXECUTOR;
}

static enum odb_status exchange_read_file(const struct odb_exchange *exchange,
                                          const struct odb_exchange_output *output,
                                          const char *path, struct odb_tensor **out,
                                          struct odb_error *err)
{
    const char *dot = strrchr(path, '.');
    ODB_TRY(exchange_check_file(exchange, path, output->name, err));
    if (dot && !strcmp(dot, ".pb"))
        return odb_pb_read(out, output->known ? output->kind : ODB_TENSOR, path, err);
    return odb_npy_read(out, path, err);
}

enum odb_status odb_exchange_read(const struct odb_exchange *exchange, const char *name, size_t i,
                                  struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_exchange_output *output = exchange_find_output(exchange, name);
    char *path = exchange_output_path(exchange, output, i);
    if (!output->known)
        exchange_prefer_pb(path);
    enum odb_status status = exchange_read_file(exchange, output, path, out, err);
    free(path);
    return status;
}

/* The name alone of a file in the model's directory; NULL: it is elsewhere, or no file's. */
static const char *exchange_inside(const struct odb_exchange *exchange, const char *file)
{
    const char *dir = odb_place_dir(exchange->place);
    size_t n = strlen(dir);
    if (!strncmp(file, dir, n) && file[n] == '/')
        file += n + 1;
    return file[0] && !strchr(file, '/') && strcmp(file, ".") != 0 && strcmp(file, "..") != 0
               ? file
               : NULL;
}

enum odb_status odb_exchange_read_named(const struct odb_exchange *exchange, const char *name,
                                        const char *file, struct odb_tensor **out,
                                        struct odb_error *err)
{
    const char *inside = exchange_inside(exchange, file);
    if (!inside) {
        struct odb_buf shown = ODB_BUF_INIT;
        odb_buf_put_shown(&shown, file);
        odb_fail(err, ODB_E_EXECUTOR,
                 "'%.200s', for the output '%s', is no file in the model's "
                 "directory",
                 odb_buf_text(&shown), name);
        odb_buf_dispose(&shown);
        return ODB_E_EXECUTOR;
    }
    char *path = odb_xasprintf("%s/%s", odb_place_dir(exchange->place), inside);
    enum odb_status status =
        exchange_read_file(exchange, exchange_find_output(exchange, name), path, out, err);
    if (!exchange->keep)
        unlink(path);
    free(path);
    return status;
}

void odb_exchange_clear(const struct odb_exchange *exchange, size_t n_inputs, size_t n_outputs)
{
    if (exchange->keep)
        return;
    exchange_remove(exchange, "in", n_inputs);
    exchange_remove(exchange, "out", n_outputs);
}
