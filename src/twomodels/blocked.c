/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "twomodels/blocked.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "probe/run_values.h"
#include "model/write/build.h"
#include "model/read/load.h"

#define BLOCKED_LEAST 2
#define BLOCKED_MOST 64 /* channels: the model that asks has as many */

bool odb_blocked_node(const struct odb_node *node)
{
    return !strcmp(node->domain, ODB_BLOCKED_DOMAIN);
}

/* What is computed of blocks by other operators (Add, Relu, Concat) is in blocks as well. */
size_t odb_blocked_mark(const struct odb_graph *graph, bool *blocked)
{
    size_t n = 0;
    memset(blocked, 0, graph->n_values * sizeof *blocked);
    for (size_t m = 0; m < graph->n_nodes; m++) {
        const struct odb_node *node = &graph->nodes[m];
        bool here = odb_blocked_node(node);
        for (int i = 0; i < node->n_in; i++)
            here |= node->in[i] >= 0 && blocked[node->in[i]];
        here &= strcmp(node->op_type, "ReorderOutput") != 0;
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0) {
                blocked[node->out[o]] = here;
                n += here;
            }
    }
    return n;
}

/* --- the size of a block ---------------------------------------------------------------------- */

static enum odb_status blocked_question(struct odb_model **model, struct odb_feed *feed,
                                        struct odb_error *err)
{
    const int64_t dims[] = {1, BLOCKED_MOST, 2, 1};
    struct odb_builder *b = odb_build_new("blocks", 12);
    struct odb_buf bytes = ODB_BUF_INIT;
    odb_build_opset(b, ODB_BLOCKED_DOMAIN, 1);
    odb_build_input(b, "x", ODB_F32, 4, dims);
    odb_build_node(b, ODB_BLOCKED_DOMAIN "::ReorderInput", "reorder", "x", "y");
    odb_build_output_typed(b, "y", ODB_F32, 4, dims);
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    enum odb_status status =
        odb_model_open_bytes(model, bytes.data, bytes.len, NULL, "", "blocks", err);
    odb_buf_dispose(&bytes);
    ODB_TRY(status);
    feed->value = (*model)->graph->inputs[0];
    ODB_TRY(odb_tensor_new_raw(&feed->tensor, ODB_F32, 4, dims, err));
    for (size_t i = 0; i < feed->tensor->count; i++)
        odb_store_f64(ODB_F32, feed->tensor->data, i, (double)i);
    return ODB_OK;
}

static int64_t blocked_size(const struct odb_tensor *asked, const struct odb_tensor *given)
{
    for (int64_t block = BLOCKED_LEAST; block <= BLOCKED_MOST; block *= 2) {
        struct odb_tensor *expected = NULL;
        bool same = odb_blocked_make(&expected, asked, block, NULL) == ODB_OK &&
                    odb_tensor_identical(expected, given);
        odb_tensor_unref(expected);
        if (same)
            return block;
    }
    return 0;
}

static enum odb_status blocked_ask(int64_t *block, const char *spec,
                                   const struct odb_search_hooks *hooks, struct odb_error *err)
{
    struct odb_model *model = NULL;
    struct odb_feed feed = {.source = "made"};
    const struct odb_feeds feeds = {&feed, 1, NULL};
    struct odb_tensor *given = NULL;
    struct odb_error why = ODB_ERROR_INIT;
    char text[400];
    *block = 0;
    enum odb_status status = blocked_question(&model, &feed, &why);
    if (status == ODB_OK)
        status = odb_run_values(model, &feeds, spec, model->graph->outputs, 1, &given, text,
                                sizeof text, hooks, &why);
    if (status == ODB_OK)
        *block = blocked_size(feed.tensor, given);
    odb_tensor_unref(given);
    odb_tensor_unref(feed.tensor);
    odb_model_free(model);
    if (status == ODB_CANCELLED)
        *err = why;
    return status == ODB_CANCELLED ? status : ODB_OK;
}

/* A target within another ("fault:…@ort") has its kernels' blocks, and need not have its ways with
 * a model that it does not know. */
enum odb_status odb_blocked_ask(int64_t *block, const char *spec,
                                const struct odb_search_hooks *hooks, struct odb_error *err)
{
    const char *inner = strrchr(spec, '@');
    ODB_TRY(blocked_ask(block, spec, hooks, err));
    return *block || !inner ? ODB_OK : blocked_ask(block, inner + 1, hooks, err);
}

/* --- the order of elements -------------------------------------------------------------------- */

static bool blocked_can(const struct odb_tensor *t)
{
    return t->kind == ODB_TENSOR && t->rank == 4 && t->data && odb_dtype_is_float(t->dtype);
}

enum odb_status odb_blocked_undo(struct odb_tensor **out, const struct odb_tensor *t, int64_t block,
                                 struct odb_error *err)
{
    *out = NULL;
    if (!blocked_can(t) || t->dims[1] % block)
        return ODB_OK;
    size_t c = (size_t)t->dims[1], plane = (size_t)t->dims[2] * (size_t)t->dims[3];
    size_t b = (size_t)block, width = odb_dtype_info(t->dtype)->bits / 8;
    const char *from = t->data;
    ODB_TRY(odb_tensor_new_raw(out, t->dtype, t->rank, t->dims, err));
    char *to = (*out)->data;
    for (size_t i = 0; i < t->count; i++) { /* i: n, channel, place */
        size_t place = i % plane, channel = i / plane % c, n = i / plane / c;
        size_t at = ((n * (c / b) + channel / b) * plane + place) * b + channel % b;
        memcpy(to + i * width, from + at * width, width);
    }
    return ODB_OK;
}

enum odb_status odb_blocked_make(struct odb_tensor **out, const struct odb_tensor *t, int64_t block,
                                 struct odb_error *err)
{
    if (!blocked_can(t))
        return odb_fail(err, ODB_UNSUPPORTED, "only pictures of floats are kept in blocks");
    int64_t dims[] = {t->dims[0], (t->dims[1] + block - 1) / block * block, t->dims[2], t->dims[3]};
    size_t c = (size_t)dims[1], had = (size_t)t->dims[1], b = (size_t)block;
    size_t plane = (size_t)dims[2] * (size_t)dims[3], width = odb_dtype_info(t->dtype)->bits / 8;
    const char *from = t->data;
    ODB_TRY(odb_tensor_new(out, t->dtype, 4, dims, err));
    char *to = (*out)->data;
    for (size_t i = 0; i < t->count; i++) {
        size_t place = i % plane, channel = i / plane % had, n = i / plane / had;
        size_t at = ((n * (c / b) + channel / b) * plane + place) * b + channel % b;
        memcpy(to + at * width, from + i * width, width);
    }
    return ODB_OK;
}

enum odb_status odb_blocked_crop(struct odb_tensor **out, const struct odb_tensor *t,
                                 int64_t channels, struct odb_error *err)
{
    *out = NULL;
    if (t->rank < 2 || t->dims[1] <= channels || !t->dims[1]) {
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    int64_t dims[ODB_MAX_RANK];
    memcpy(dims, t->dims, sizeof dims);
    dims[1] = channels;
    size_t outer = (size_t)t->dims[0], from = outer ? t->bytes / outer : 0;
    size_t to = from / (size_t)t->dims[1] * (size_t)channels;
    ODB_TRY(odb_tensor_new_raw(out, t->dtype, t->rank, dims, err));
    for (size_t n = 0; n < outer; n++)
        memcpy((char *)(*out)->data + n * to, (const char *)t->data + n * from, to);
    return ODB_OK;
}

/* --- filters ---------------------------------------------------------------------------------- */

/* A filter's element in the usual order: where it stands. Of as many channels as a block or more,
 * these are in blocks as well as the filters. */
static size_t blocked_filter_at(const size_t dims[4], size_t block, size_t i)
{
    size_t plane = dims[2] * dims[3], place = i % plane, channel = i / plane % dims[1];
    size_t filter = i / plane / dims[1], inner = dims[1] < block ? 1 : block;
    size_t at = (filter / block * (dims[1] / inner) + channel / inner) * plane + place;
    return (at * inner + channel % inner) * block + filter % block;
}

static bool blocked_zeros(const struct odb_tensor *t, size_t filter, size_t channel)
{
    size_t plane = (size_t)t->dims[2] * (size_t)t->dims[3];
    size_t first = (filter * (size_t)t->dims[1] + channel) * plane;
    for (size_t i = 0; i < plane; i++)
        if (odb_tensor_f64(t, first + i) != 0)
            return false;
    return true;
}

/* How many filters, or channels, there are up to the last that is not all zeros; none go where none
 * of them is anything else. */
static int64_t blocked_used(const struct odb_tensor *t, bool channels)
{
    int64_t n = t->dims[channels ? 1 : 0], others = t->dims[channels ? 0 : 1];
    for (int64_t used = n; used > 0; used--)
        for (int64_t k = 0; k < others; k++)
            if (!blocked_zeros(t, (size_t)(channels ? k : used - 1),
                               (size_t)(channels ? used - 1 : k)))
                return used;
    return n;
}

enum odb_status odb_blocked_filter(struct odb_tensor **out, const struct odb_tensor *t,
                                   int64_t block, struct odb_error *err)
{
    struct odb_tensor *whole = NULL, *fewer = NULL;
    *out = NULL;
    if (!blocked_can(t) || t->dims[0] % block || (t->dims[1] >= block && t->dims[1] % block))
        return ODB_OK;
    const size_t dims[] = {(size_t)t->dims[0], (size_t)t->dims[1], (size_t)t->dims[2],
                           (size_t)t->dims[3]};
    size_t width = odb_dtype_info(t->dtype)->bits / 8;
    enum odb_status status = odb_tensor_new_raw(&whole, t->dtype, 4, t->dims, err);
    ODB_TRY(status);
    for (size_t i = 0; i < t->count; i++)
        memcpy((char *)whole->data + i * width,
               (const char *)t->data + blocked_filter_at(dims, (size_t)block, i) * width, width);
    whole->dims[0] = blocked_used(whole, false);
    whole->count = whole->count / dims[0] * (size_t)whole->dims[0];
    whole->bytes = whole->count * width;
    status = odb_blocked_crop(&fewer, whole, blocked_used(whole, true), err);
    odb_tensor_unref(whole);
    *out = fewer;
    return status;
}
