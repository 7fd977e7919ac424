/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dump/dump_info.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensor/format/pyjson.h"
#include "compare/numpy.h"
#include "dump/dump.h"
#include "run/feeds.h"
#include "tensor/pass.h"
#include "tensor/stats.h"

/* --- tensors ---------------------------------------------------------------------------------- */

/* np.median(): NaN is the caller's to look for. */
static double info_median(double *v, size_t n)
{
    double upper = odb_stats_select(v, n, n / 2), lower = v[0];
    if (n % 2)
        return upper;
    for (size_t i = 1; i < n / 2; i++)
        lower = ODB_MAX(lower, v[i]);
    return (lower + upper) / 2;
}

static enum odb_status info_numbers(struct odb_tensor_info *info, const struct odb_tensor *t,
                                    struct odb_error *err)
{
    bool complex_ = odb_dtype_info(t->dtype)->class_ == ODB_CLASS_COMPLEX;
    const struct odb_numbers numbers = odb_numbers_of(t);
    size_t n = numbers.n, bytes;
    double *v = odb_size_mul(n + 1, sizeof *v, &bytes) ? malloc(bytes) : NULL;
    if (!v)
        return odb_fail(err, ODB_E_NOMEM, "no memory for the statistics of %zu elements", n);
    odb_numbers_load(&numbers, 0, n, v);
    info->min = INFINITY;
    info->max = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        info->has_nan |= v[i] != v[i];
        info->has_inf |= isinf(v[i]) != 0;
        info->min = ODB_MIN(info->min, v[i]);
        info->max = ODB_MAX(info->max, v[i]);
    }
    info->numbers = n > 0 && !complex_;
    if (info->numbers) {
        info->mean = odb_numpy_mean(v, n);
        info->median = info->has_nan ? NAN : info_median(v, n);
        info->min = info->has_nan ? NAN : info->min;
        info->max = info->has_nan ? NAN : info->max;
    }
    free(v);
    return ODB_OK;
}

static enum odb_status info_container(struct odb_tensor_info *info, const struct odb_tensor *t,
                                      struct odb_error *err)
{
    static const char *const kinds[] = {"tensor", "sequence", "optional", "sparse", "map"};
    snprintf(info->dtype, sizeof info->dtype, "%s", kinds[t->kind]);
    snprintf(info->shape, sizeof info->shape, "(%zu,)", t->n_items);
    info->rank = 1;
    info->dims[0] = (int64_t)t->n_items;
    for (size_t i = 0; i < t->n_items; i++) {
        struct odb_tensor_info one;
        ODB_TRY(odb_tensor_info(&one, t->items[i], err));
        info->has_nan |= one.has_nan;
        info->has_inf |= one.has_inf;
    }
    return ODB_OK;
}

enum odb_status odb_tensor_info(struct odb_tensor_info *out, const struct odb_tensor *t,
                                struct odb_error *err)
{
    *out = (struct odb_tensor_info){0};
    if (!t || t->kind != ODB_TENSOR)
        return t ? info_container(out, t, err) : ODB_OK;
    const struct odb_dtype_info *type = odb_dtype_info(t->dtype);
    const char *name = t->dtype == ODB_STRING ? "object" : type->numpy ? type->numpy : type->name;
    snprintf(out->dtype, sizeof out->dtype, "%s", name);
    odb_shape_text(t, out->shape, sizeof out->shape);
    out->rank = t->rank;
    memcpy(out->dims, t->dims, sizeof out->dims);
    return t->dtype == ODB_STRING || !t->data ? ODB_OK : info_numbers(out, t, err);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void info_key_text(struct odb_pyjson *json, const char *key, const char *text)
{
    odb_pyjson_key(json, key);
    odb_pyjson_text(json, text);
}

static void info_put_tensor(struct odb_pyjson *json, const struct odb_tensor_info *info)
{
    const struct {
        const char *key;
        double v;
    } numbers[] = {
        {"mean", info->mean}, {"median", info->median}, {"min", info->min}, {"max", info->max}};
    odb_pyjson_key(json, "tensor_info");
    odb_pyjson_open(json, '{');
    info_key_text(json, "dtype", info->dtype);
    odb_pyjson_key(json, "shape");
    odb_pyjson_open(json, '[');
    for (int k = 0; k < info->rank; k++)
        odb_pyjson_int(json, info->dims[k]);
    odb_pyjson_close(json, ']');
    odb_pyjson_key(json, "has_nan");
    odb_pyjson_bool(json, info->has_nan);
    odb_pyjson_key(json, "has_inf");
    odb_pyjson_bool(json, info->has_inf);
    for (size_t i = 0; i < ODB_COUNT(numbers); i++) {
        odb_pyjson_key(json, numbers[i].key);
        if (info->numbers)
            odb_pyjson_real(json, numbers[i].v);
        else
            odb_pyjson_null(json);
    }
    odb_pyjson_close(json, '}');
}

static void info_put_names(struct odb_pyjson *json, const char *key, const struct odb_graph *graph,
                           const int *values, size_t n)
{
    odb_pyjson_key(json, key);
    odb_pyjson_open(json, '[');
    for (size_t i = 0; i < n; i++)
        odb_pyjson_text(json, values[i] < 0 ? "" : graph->values[values[i]].name);
    odb_pyjson_close(json, ']');
}

/* "/a/b/net.onnx": "net" */
static char *info_model_name(const struct odb_dump *dump)
{
    const char *path = dump->options.cut_from ? dump->options.cut_from : dump->model->path;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return odb_xstrndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static void info_put_defaults(struct odb_pyjson *json, const struct odb_dump *dump)
{
    odb_pyjson_key(json, "default_seed");
    odb_pyjson_int(json, (int64_t)dump->options.seed);
    odb_pyjson_key(json, "default_float_min");
    odb_pyjson_real(json, ODB_DUMPED_FLOAT_MIN);
    odb_pyjson_key(json, "default_float_max");
    odb_pyjson_real(json, ODB_DUMPED_FLOAT_MAX);
    odb_pyjson_key(json, "default_int_min");
    odb_pyjson_int(json, ODB_DUMPED_INT_MIN);
    odb_pyjson_key(json, "default_int_max");
    odb_pyjson_int(json, ODB_DUMPED_INT_MAX);
}

static void info_put_meta(struct odb_pyjson *json, const struct odb_dump *dump)
{
    const struct odb_graph *graph = dump->model->graph;
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    size_t n_feeds = odb_graph_feeds(graph, feeds), n;
    int *outputs = odb_dump_outputs(graph, &n);
    char date[32], *name = info_model_name(dump);
    time_t now = time(NULL);
    struct tm local;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &local));
    odb_pyjson_key(json, "meta_info");
    odb_pyjson_open(json, '{');
    info_key_text(json, "date_time", date);
    info_key_text(json, "model_name", name);
    info_key_text(json, "model_dtype", dump->options.model_dtype);
    info_put_defaults(json, dump);
    info_key_text(json, "executor", dump->options.executor);
    odb_pyjson_key(json, "extract_subgraph");
    odb_pyjson_bool(json, dump->options.cut_from != NULL);
    info_put_names(json, "input_names", graph, feeds, n_feeds);
    info_put_names(json, "output_names", graph, graph->outputs, graph->n_outputs);
    info_put_names(json, "node_output_names", graph, outputs, n);
    odb_pyjson_close(json, '}');
    free(name);
    free(outputs);
    free(feeds);
}

/* An end of the range, as its type is written. */
static void info_put_end(struct odb_pyjson *json, const char *key, const struct odb_feed *feed,
                         double v)
{
    odb_pyjson_key(json, key);
    if (!feed->ranged)
        odb_pyjson_null(json);
    else if (odb_dtype_is_integer(feed->tensor->dtype))
        odb_pyjson_int(json, (int64_t)v);
    else
        odb_pyjson_real(json, v);
}

/* Whether what the manifest says makes it again: a range with its own seed, or nothing to draw. */
static bool info_makes_again(const struct odb_feed *feed)
{
    const struct odb_tensor *t = feed->tensor;
    return feed->generated && (feed->ranged || t->kind != ODB_TENSOR || t->dtype == ODB_STRING);
}

static void info_put_input(struct odb_pyjson *json, const struct odb_dump *dump, size_t i)
{
    const struct odb_feed *feed = &dump->feeds->items[i];
    odb_pyjson_open(json, '{');
    info_key_text(json, "input_name", dump->model->graph->values[feed->value].name);
    odb_pyjson_key(json, "seed");
    if (feed->ranged)
        odb_pyjson_int(json, (int64_t)feed->seed);
    else
        odb_pyjson_null(json);
    info_put_end(json, "low", feed, feed->lo);
    info_put_end(json, "high", feed, feed->hi);
    odb_pyjson_key(json, "use_external");
    odb_pyjson_bool(json, !info_makes_again(feed));
    info_put_tensor(json, &dump->fed[i]);
    odb_pyjson_close(json, '}');
}

/* Of a value that the executor stores as integers: what one of them is worth. */
static void info_put_steps(struct odb_pyjson *json, const struct odb_dump_row *row)
{
    if (!row->n_steps)
        return;
    odb_pyjson_key(json, "stored");
    odb_pyjson_open(json, '{');
    odb_pyjson_key(json, "axis");
    odb_pyjson_int(json, row->steps_axis);
    odb_pyjson_key(json, "steps");
    odb_pyjson_open(json, '[');
    for (size_t i = 0; i < row->n_steps; i++)
        odb_pyjson_real(json, row->steps[i]);
    odb_pyjson_close(json, ']');
    odb_pyjson_close(json, '}');
}

static void info_put_row(struct odb_pyjson *json, const struct odb_dump *dump,
                         const struct odb_dump_row *row)
{
    const struct odb_graph *graph = dump->model->graph;
    const struct odb_node *node = &graph->nodes[graph->values[row->value].producer];
    odb_pyjson_open(json, '{');
    info_key_text(json, "node_output_name", graph->values[row->value].name);
    if (row->error) {
        info_key_text(json, "error", row->error);
    } else {
        info_key_text(json, "node_name", node->name);
        info_key_text(json, "node_type", node->op_type);
        info_put_names(json, "node_input_name", graph, node->in, (size_t)node->n_in);
        info_put_tensor(json, &row->info);
        info_put_steps(json, row);
    }
    odb_pyjson_close(json, '}');
}

void odb_dump_info_put(const struct odb_dump *dump, struct odb_buf *out)
{
    struct odb_pyjson json = {.out = out};
    odb_pyjson_open(&json, '{');
    info_put_meta(&json, dump);
    odb_pyjson_key(&json, "input_info");
    odb_pyjson_open(&json, '[');
    for (size_t i = 0; i < dump->feeds->n; i++)
        info_put_input(&json, dump, i);
    odb_pyjson_close(&json, ']');
    odb_pyjson_key(&json, "node_output_info");
    odb_pyjson_open(&json, '[');
    for (size_t i = 0; i < dump->n; i++)
        info_put_row(&json, dump, &dump->rows[i]);
    odb_pyjson_close(&json, ']');
    odb_pyjson_close(&json, '}');
}

/* --- reading ---------------------------------------------------------------------------------- */

static enum odb_status info_shape(struct odb_dump_input *out, const json_t *entry,
                                  struct odb_error *err)
{
    const json_t *shape = json_object_get(json_object_get(entry, "tensor_info"), "shape");
    size_t k;
    json_t *dim;
    if (!json_is_array(shape) || json_array_size(shape) > ODB_MAX_RANK)
        return odb_fail(err, ODB_E_INPUT, "the dump does not say which shape it had");
    json_array_foreach((json_t *)shape, k, dim) {
        out->dims[out->rank++] = json_integer_value(dim);
        if (!json_is_integer(dim) || json_integer_value(dim) < 0)
            return odb_fail(err, ODB_E_INPUT, "dimension %zu of its shape is no size", k);
    }
    return ODB_OK;
}

static enum odb_status info_input(struct odb_dump_input *out, const json_t *list, const char *name,
                                  struct odb_error *err)
{
    size_t i;
    json_t *entry;
    json_array_foreach((json_t *)list, i, entry) {
        const char *text = json_string_value(json_object_get(entry, "input_name"));
        if (!text || strcmp(text, name))
            continue;
        const json_t *lo = json_object_get(entry, "low"), *hi = json_object_get(entry, "high");
        const json_t *seed = json_object_get(entry, "seed");
        if (json_is_true(json_object_get(entry, "use_external"))) {
            odb_fail(err, ODB_E_INPUT, "it came from elsewhere, and the manifest does not hold it");
            return odb_error_remedy(err, "give the dump's folder `inputs` instead");
        }
        out->ranged = json_is_number(lo) && json_is_number(hi) && json_is_integer(seed);
        if (!out->ranged && !json_is_null(lo))
            return odb_fail(err, ODB_E_INPUT, "the dump does not say how it was generated");
        out->lo = json_number_value(lo);
        out->hi = json_number_value(hi);
        out->seed = (uint64_t)json_integer_value(seed);
        return info_shape(out, entry, err);
    }
    return odb_fail(err, ODB_E_INPUT, "the dump has no input of this name");
}

enum odb_status odb_dump_info_input(struct odb_dump_input *out, const json_t *list,
                                    const char *name, struct odb_error *err)
{
    *out = (struct odb_dump_input){0};
    if (info_input(out, list, name, err) == ODB_OK)
        return ODB_OK;
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, name);
    enum odb_status status = odb_error_at(err, "input '%s'", odb_buf_text(&shown));
    odb_buf_dispose(&shown);
    return status;
}
