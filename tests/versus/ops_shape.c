/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Moving, choosing and making elements: how their calls are drawn.
 */
#include <string.h>

#include "versus.h"

/* Adds 1-D integers as the next input from that version on, as an attribute before. */
static void draw_ints(struct draw *d, int since, const char *name, size_t n, const int64_t *v)
{
    if (d->opset >= since)
        vs_in_ints(d, ODB_I64, n, v);
    else
        vs_attr_ints(d, name, n, v);
}

static void draw_reshape(struct draw *d)
{
    struct dims dims = vs_dims(d, 0, 4, 4), to = {0};
    vs_in(d, dims);
    for (int i = 0; i < dims.rank; i++) /* joins some neighbours, adds ones */
        if (to.rank && vs_chance(d, 30))
            to.d[to.rank - 1] *= dims.d[i];
        else
            to.d[to.rank++] = dims.d[i];
    if (vs_chance(d, 30))
        to.d[to.rank++] = 1;
    for (int i = 0; i < to.rank; i++)
        if (i < dims.rank && to.d[i] == dims.d[i] && to.d[i] && vs_chance(d, 20))
            to.d[i] = 0;
    if (to.rank && vs_chance(d, 40))
        to.d[vs_int(d, 0, to.rank - 1)] = -1;
    draw_ints(d, 5, "shape", (size_t)to.rank, to.d);
    if (d->opset >= 14)
        vs_attrs(d, "allowzero=-|-|0|1");
}

static void draw_perm(struct draw *d)
{
    struct dims dims = vs_dims(d, 0, 5, 4);
    int64_t perm[VS_RANK];
    vs_in(d, dims);
    for (int i = 0; i < dims.rank; i++) {
        int64_t j = vs_int(d, 0, i);
        perm[i] = perm[j];
        perm[j] = i;
    }
    if (vs_chance(d, 80))
        vs_attr_ints(d, "perm", (size_t)dims.rank, perm);
}

static void draw_squeeze(struct draw *d)
{
    struct dims dims = vs_dims(d, 0, 4, 3);
    int64_t axes[VS_RANK];
    size_t n = 0;
    for (int i = 0; i < dims.rank; i++)
        if (vs_chance(d, 40)) {
            dims.d[i] = 1;
            if (vs_chance(d, 70))
                axes[n++] = d->opset >= 11 && vs_chance(d, 40) ? i - dims.rank : i;
        }
    vs_in(d, dims);
    if (n)
        draw_ints(d, 13, "axes", n, axes);
}

static void draw_unsqueeze(struct draw *d)
{
    struct dims dims = vs_dims(d, 0, 3, 3);
    int64_t axes[VS_RANK];
    int n = (int)vs_int(d, 1, 2), rank = dims.rank + n;
    vs_in(d, dims);
    axes[0] = vs_int(d, 0, rank - 1);
    axes[1] = (axes[0] + vs_int(d, 1, ODB_MAX(rank - 1, 1))) % rank;
    for (int i = 0; i < n && d->opset >= 11; i++)
        axes[i] -= vs_chance(d, 40) ? rank : 0;
    draw_ints(d, 13, "axes", (size_t)n, axes);
}

static void draw_expand(struct draw *d)
{
    struct dims full = vs_dims(d, 0, 4, 4), ask = full;
    vs_in(d, vs_part(d, full));
    for (int i = 0; i < ask.rank; i++)
        if (vs_chance(d, 20))
            ask.d[i] = 1;
    vs_in_ints(d, ODB_I64, (size_t)ask.rank, ask.d);
}

static void draw_tile(struct draw *d)
{
    struct dims dims = vs_dims(d, 0, 4, 3);
    int64_t repeats[VS_RANK];
    if (d->opset < 6)
        d->opset = d->version = 6;
    vs_in(d, dims);
    for (int i = 0; i < dims.rank; i++)
        repeats[i] = vs_int(d, vs_chance(d, 10) ? 0 : 1, 3);
    vs_in_ints(d, ODB_I64, (size_t)dims.rank, repeats);
}

static void draw_concat(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 4, 3);
    int axis = (int)vs_int(d, 0, dims.rank - 1), n = (int)vs_int(d, 1, 4);
    for (int i = 0; i < n; i++) {
        dims.d[axis] = vs_int(d, d->empty ? 0 : 1, 4);
        vs_in(d, dims);
    }
    if (d->opset >= 4 || axis != 1)
        vs_attr_int(d, "axis", d->opset >= 11 && vs_chance(d, 40) ? axis - dims.rank : axis);
}

static void draw_split(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 4, 3);
    int axis = (int)vs_int(d, 0, dims.rank - 1), n = (int)vs_int(d, 1, 4);
    int64_t parts[4], sum = 0;
    bool uneven = vs_chance(d, 50), count = d->opset >= 18 && !uneven;
    int64_t each = vs_int(d, 1, 3);
    for (int i = 0; i < n; i++) {
        parts[i] = uneven ? vs_int(d, d->empty ? 0 : 1, 3) : each;
        sum += parts[i];
    }
    dims.d[axis] = count && vs_chance(d, 50) ? ODB_MAX(sum - vs_int(d, 0, each - 1), n) : sum;
    vs_in(d, dims);
    if (uneven)
        draw_ints(d, 13, "split", (size_t)n, parts);
    if (count)
        vs_attr_int(d, "num_outputs", n);
    if (axis || vs_chance(d, 50))
        vs_attr_int(d, "axis", d->opset >= 11 && vs_chance(d, 40) ? axis - dims.rank : axis);
    d->n_out = n;
}

static void draw_slice(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 4, 6);
    int64_t start[VS_RANK], end[VS_RANK], axes[VS_RANK], step[VS_RANK];
    size_t n = 0;
    bool all = vs_chance(d, 25);
    enum odb_dtype type = vs_chance(d, 70) ? ODB_I64 : ODB_I32;
    static const int64_t far[] = {INT32_MAX, INT32_MIN, 100, -100};
    vs_in(d, dims);
    for (int i = 0; i < dims.rank; i++) {
        if (!all && vs_chance(d, 40))
            continue;
        int64_t dim = dims.d[i];
        axes[n] = d->opset >= 10 && vs_chance(d, 40) ? i - dims.rank : i;
        start[n] = vs_chance(d, 15) ? far[vs_int(d, 0, 3)] : vs_int(d, -dim - 1, dim + 1);
        step[n] = vs_chance(d, 50) ? 1 : vs_chance(d, 60) ? -vs_int(d, 1, 3) : vs_int(d, 1, 3);
        end[n] = vs_chance(d, 25) ? far[vs_int(d, step[n] < 0, 3)] : vs_int(d, -dim - 1, dim + 1);
        n++;
    }
    if (d->opset < 10) {
        vs_attr_ints(d, "starts", n, start);
        vs_attr_ints(d, "ends", n, end);
        if (!all || vs_chance(d, 50))
            vs_attr_ints(d, "axes", n, axes);
        return;
    }
    vs_in_ints(d, type, n, start);
    vs_in_ints(d, type, n, end);
    bool steps = vs_chance(d, 70);
    if (!all || vs_chance(d, 50))
        vs_in_ints(d, type, n, axes);
    else if (steps)
        vs_in_none(d);
    if (steps)
        vs_in_ints(d, type, n, step);
}

static void draw_pad(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 4, 5);
    const char *mode =
        vs_word(d, d->opset >= 19 ? "constant|reflect|edge|wrap" : "constant|reflect|edge");
    bool constant = mode[0] == 'c', some = d->opset >= 18 && vs_chance(d, 40);
    int64_t pads[2 * VS_RANK], axes[VS_RANK];
    int n = 0;
    vs_attr_string(d, "mode", mode);
    vs_in(d, dims);
    for (int i = 0; i < dims.rank; i++)
        if (!some || vs_chance(d, 60))
            axes[n++] = i;
    for (int i = 0; i < 2 * n; i++) { /* what is reflected must be there after cropping */
        int64_t dim = dims.d[axes[i % n]], half = ODB_MAX(dim / 2 - 1, 0);
        pads[i] = vs_chance(d, 20) ? -vs_int(d, 0, half)
                                   : vs_int(d, 0, constant ? 3 : ODB_MAX(dim - 1 - half, 0));
    }
    draw_ints(d, 11, d->opset < 2 ? "paddings" : "pads", (size_t)(2 * n), pads);
    bool value = vs_chance(d, 50);
    if (d->opset < 11) {
        vs_attrs(d, "value=-|1.5f");
        return;
    }
    if (value)
        vs_in(d, vs_chance(d, 80) ? VS_SCALAR : VS_DIMS(1));
    else if (some)
        vs_in_none(d);
    if (some) {
        for (int i = 0; i < n; i++)
            axes[i] -= vs_chance(d, 40) ? dims.rank : 0;
        vs_in_ints(d, vs_chance(d, 60) ? ODB_I64 : ODB_I32, (size_t)n, axes);
    }
}

/* Indices into a dimension; negative ones from version 11 on. Never outside. */
static struct odb_tensor *draw_indices(struct draw *d, struct dims dims, int64_t dim)
{
    bool extreme = d->extreme;
    d->extreme = false;
    struct odb_tensor *t = vs_in_range(d, vs_chance(d, 60) ? ODB_I64 : ODB_I32, dims,
                                       d->opset >= 11 ? (double)-dim : 0, (double)dim - 1);
    d->extreme = extreme;
    return t;
}

static void draw_gather(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 4, 5);
    int axis = (int)vs_int(d, 0, dims.rank - 1);
    dims.d[axis] = ODB_MAX(dims.d[axis], 1);
    vs_in(d, dims);
    draw_indices(d, vs_dims(d, 0, 3, 4), dims.d[axis]);
    if (axis || vs_chance(d, 50))
        vs_attr_int(d, "axis", d->opset >= 11 && vs_chance(d, 40) ? axis - dims.rank : axis);
}

static void draw_gather_elements(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 4, 5), at = dims;
    int axis = (int)vs_int(d, 0, dims.rank - 1);
    dims.d[axis] = ODB_MAX(dims.d[axis], 1);
    for (int i = 0; i < at.rank; i++)
        at.d[i] = i == axis                         ? vs_int(d, 1, 6)
                  : vs_chance(d, 30) && at.d[i] > 1 ? at.d[i] - 1
                                                    : at.d[i];
    vs_in(d, dims);
    draw_indices(d, at, dims.d[axis]);
    if (axis || vs_chance(d, 50))
        vs_attr_int(d, "axis", vs_chance(d, 40) ? axis - dims.rank : axis);
}

/* Rows of coordinates into dims[from, from + n), in a tensor of that shape; all different where
 * asked for. */
static struct odb_tensor *draw_rows(struct draw *d, struct dims dims, int from, int n,
                                    struct dims shape)
{
    struct odb_tensor *t = NULL;
    shape.d[shape.rank++] = n;
    if (odb_tensor_new(&t, ODB_I64, shape.rank, shape.d, NULL) != ODB_OK)
        return NULL;
    for (size_t i = 0; i < t->count; i++) {
        int64_t dim = dims.d[from + (int)(i % (size_t)n)];
        ((int64_t *)t->data)[i] = vs_int(d, d->opset >= 11 ? -dim : 0, dim - 1);
    }
    vs_take(d, t);
    return t;
}

static void draw_gather_nd(struct draw *d)
{
    d->empty = false;
    struct dims dims = vs_dims(d, 1, 4, 4), at;
    int batch =
        d->opset >= 12 && dims.rank > 1 && vs_chance(d, 40) ? (int)vs_int(d, 0, dims.rank - 1) : 0;
    at = vs_shape(batch, dims.d);
    int64_t extra = vs_int(d, 0, 2);
    for (int i = 0; i < extra; i++)
        at.d[at.rank++] = vs_int(d, 1, 3);
    vs_in(d, dims);
    draw_rows(d, dims, batch, (int)vs_int(d, 1, dims.rank - batch), at);
    if (batch || (d->opset >= 12 && vs_chance(d, 30)))
        vs_attr_int(d, "batch_dims", batch);
}

static const char *draw_reduction(struct draw *d)
{
    return d->opset >= 18   ? "reduction=-|none|add|mul|min|max"
           : d->opset >= 16 ? "reduction=-|none|add|mul"
                            : "";
}

/* Without a reduction no index may come twice. */
static void draw_scatter_elements(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 3, 4), at = dims;
    int axis = (int)vs_int(d, 0, dims.rank - 1);
    dims.d[axis] = ODB_MAX(dims.d[axis], 1);
    at.d[axis] = dims.d[axis];
    if (strcmp(d->row->op, "Scatter") != 0)
        vs_attrs(d, draw_reduction(d));
    bool reduces = strcmp(vs_drawn_text(d, "reduction", "none"), "none") != 0;
    for (int i = 0; i < at.rank; i++)
        if (i != axis && at.d[i] > 1 && vs_chance(d, 30))
            at.d[i]--;
    at.d[axis] = vs_int(d, 1, reduces ? 6 : dims.d[axis]);
    vs_in(d, dims);
    struct odb_tensor *t = draw_indices(d, at, dims.d[axis]);
    int64_t inner = 1, turn = vs_int(d, 0, 9);
    for (int i = axis + 1; i < at.rank; i++)
        inner *= at.d[i];
    for (size_t i = 0; i < t->count && !reduces; i++) {
        int64_t at_axis = (int64_t)i / inner % at.d[axis];
        int64_t v = (at_axis + turn) % dims.d[axis];
        odb_store_i64(t->dtype, t->data, i,
                      d->opset >= 11 && vs_chance(d, 30) ? v - dims.d[axis] : v);
    }
    vs_in(d, at);
    if (axis || vs_chance(d, 50))
        vs_attr_int(d, "axis", d->opset >= 11 && vs_chance(d, 40) ? axis - dims.rank : axis);
}

static void draw_scatter_nd(struct draw *d)
{
    d->empty = false;
    struct dims dims = vs_dims(d, 1, 4, 4);
    int n = (int)vs_int(d, 1, dims.rank);
    vs_attrs(d, draw_reduction(d));
    bool reduces = strcmp(vs_drawn_text(d, "reduction", "none"), "none") != 0;
    struct dims at = reduces ? vs_dims(d, 0, 2, 3) : VS_DIMS(vs_int(d, 1, dims.d[0]));
    struct dims updates = at;
    vs_in(d, dims);
    struct odb_tensor *t = draw_rows(d, dims, 0, n, at);
    for (int64_t i = 0; i < (reduces ? 0 : at.d[0]); i++)
        ((int64_t *)t->data)[i * n] = i;
    for (int i = n; i < dims.rank; i++)
        updates.d[updates.rank++] = dims.d[i];
    vs_in(d, updates);
}

static void draw_topk(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 4, 6);
    int axis = (int)vs_int(d, 0, dims.rank - 1);
    int64_t k = vs_int(d, d->opset < 10, dims.d[axis]);
    vs_in(d, dims);
    if (d->opset < 10)
        vs_attr_int(d, "k", k);
    else
        vs_in_ints(d, ODB_I64, 1, &k);
    if (axis != dims.rank - 1 || vs_chance(d, 50))
        vs_attr_int(d, "axis", d->opset >= 11 && vs_chance(d, 40) ? axis - dims.rank : axis);
    if (d->opset >= 11)
        vs_attrs(d, "largest=-|0|1 sorted=-|1");
    d->n_out = 2;
}

static void draw_onehot(struct draw *d)
{
    static const enum odb_dtype types[] = {ODB_F32, ODB_I64,    ODB_I32, ODB_U8,
                                           ODB_F64, ODB_STRING, ODB_BOOL};
    int64_t depth = vs_int(d, 1, 5);
    if (d->dtype != ODB_F32 && d->dtype != ODB_I32 && d->dtype != ODB_I64 && vs_chance(d, 70))
        d->dtype = ODB_I64;
    d->extreme = false;
    vs_in_range(d, d->dtype, vs_dims(d, 1, 3, 4), (double)-depth - 1, (double)depth);
    struct odb_tensor *t = d->in[0];
    for (size_t i = 0; i < t->count && odb_dtype_is_float(t->dtype); i++)
        odb_store_f64(t->dtype, t->data, i, (double)(int64_t)odb_tensor_f64(t, i));
    enum odb_dtype type = vs_chance(d, 70) ? ODB_I64 : ODB_F32;
    if (vs_chance(d, 50))
        vs_in_scalar(d, type, (double)depth);
    else
        vs_in_range(d, type, VS_DIMS(1), (double)depth, (double)depth);
    vs_in_range(d, types[vs_int(d, 0, ODB_COUNT(types) - 1)], VS_DIMS(2), -3, 3);
    if (vs_chance(d, 60))
        vs_attr_int(d, "axis", vs_int(d, -t->rank - 1, t->rank));
}

static void draw_unique(struct draw *d)
{
    vs_in(d, vs_dims(d, 0, 3, 4));
    vs_attrs(d, d->in[0]->rank ? "axis=-|@|@ sorted=-|0|1" : "sorted=-|0|1");
    d->n_out = (int)vs_int(d, 1, 4);
}

static void draw_compress(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 3, 5);
    int axis = (int)vs_int(d, 0, dims.rank - 1);
    bool flat = vs_chance(d, 40);
    int64_t n = flat ? vs_count(&dims) : dims.d[axis];
    vs_in(d, dims);
    vs_in_range(d, ODB_BOOL, VS_DIMS(vs_int(d, 0, n)), 0, 1);
    if (!flat)
        vs_attr_int(d, "axis", d->opset >= 11 && vs_chance(d, 40) ? axis - dims.rank : axis);
}

static void draw_trilu(struct draw *d)
{
    vs_in(d, vs_dims(d, 2, 4, 5));
    if (vs_chance(d, 60))
        vs_in_scalar(d, ODB_I64, (double)vs_int(d, -6, 6));
}

static void draw_reverse(struct draw *d)
{
    struct dims dims = vs_dims(d, 2, 4, 5);
    bool batch_first = vs_chance(d, 50);
    int64_t batch = dims.d[batch_first ? 0 : 1], time = dims.d[batch_first ? 1 : 0];
    vs_in(d, dims);
    d->extreme = false;
    vs_in_range(d, ODB_I64, VS_DIMS(batch), time ? 1 : 0, (double)time);
    if (batch_first || vs_chance(d, 30)) {
        vs_attr_int(d, "batch_axis", !batch_first);
        vs_attr_int(d, "time_axis", batch_first);
    }
}

static void draw_blocks(struct draw *d)
{
    int64_t block = vs_int(d, 1, 3), c = vs_int(d, 1, 3);
    bool to_depth = strcmp(d->row->op, "SpaceToDepth") == 0;
    struct dims dims = vs_dims(d, 4, 4, 3);
    if (to_depth) {
        dims.d[2] *= block;
        dims.d[3] *= block;
    } else {
        dims.d[1] = c * block * block;
    }
    vs_in(d, dims);
    vs_attr_int(d, "blocksize", block);
    if (!to_depth && d->opset >= 11)
        vs_attrs(d, "mode=-|DCR|CRD");
}

static void draw_crop_pad(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 4, 6);
    int64_t ask[VS_RANK], axes[VS_RANK];
    size_t n = 0;
    bool some = vs_chance(d, 50);
    vs_in(d, dims);
    for (int i = 0; i < dims.rank; i++)
        if (!some || vs_chance(d, 50)) {
            axes[n] = vs_chance(d, 40) ? i - dims.rank : i;
            ask[n++] = vs_int(d, 1, 7);
        }
    vs_in_ints(d, vs_chance(d, 60) ? ODB_I64 : ODB_I32, n, ask);
    if (some)
        vs_attr_ints(d, "axes", n, axes);
}

static void draw_constant_of_shape(struct draw *d)
{
    static const enum odb_dtype types[] = {ODB_F32, ODB_I64,  ODB_I32, ODB_U8, ODB_F64,
                                           ODB_F16, ODB_BOOL, ODB_I8,  ODB_U64};
    struct dims dims = vs_dims(d, 0, 4, 4);
    vs_in_ints(d, ODB_I64, (size_t)dims.rank, dims.d);
    if (vs_chance(d, 70))
        vs_attr_tensor(d, "value", vs_tensor(d, types[vs_int(d, 0, 8)], VS_DIMS(1), -3, 3));
}

static void draw_shape(struct draw *d)
{
    vs_in(d, vs_dims(d, 0, 5, 4));
    if (d->opset >= 15)
        vs_attrs(d, "start=-|0|1|-1|-7|9 end=-|0|2|-1|-9|9");
}

static void draw_eye(struct draw *d)
{
    vs_in(d, vs_dims(d, 2, 2, 5));
    vs_attrs(d, "k=-|0|1|-2|7|-7 dtype=-|1|7|11|6|9|10|2");
}

static void draw_flatten(struct draw *d)
{
    struct dims dims = vs_dims(d, d->opset < 9 ? 1 : 0, 4, 4);
    vs_in(d, dims);
    if (dims.rank == 0 || vs_chance(d, 70))
        vs_attr_int(d, "axis",
                    d->opset >= 11 ? vs_int(d, -dims.rank, dims.rank) : vs_int(d, 0, dims.rank));
}

static void draw_string_concat(struct draw *d)
{
    struct dims full = vs_dims(d, 0, 3, 3);
    vs_in(d, vs_part(d, full));
    vs_in(d, vs_part(d, full));
}

static void draw_string_normalizer(struct draw *d)
{
    vs_in(d, vs_chance(d, 50) ? vs_dims(d, 1, 1, 5) : VS_DIMS(1, vs_int(d, 1, 5)));
    vs_attrs(d, "case_change_action=-|NONE|LOWER|UPPER is_case_sensitive=-|0|1 "
                "stopwords=-|a;the;|The; locale=C.UTF-8");
}

static void draw_string_split(struct draw *d)
{
    vs_in(d, vs_dims(d, 0, 2, 4));
    vs_attrs(d, "delimiter=-|a|b|. maxsplit=-|0|1|2");
    d->n_out = 2;
}

static void draw_tfidf(struct draw *d)
{
    int64_t pool[12], min = vs_int(d, 1, 2), max = vs_int(d, min, 3), index[12];
    int64_t counts[3] = {0}, n = 0, grams = 0;
    d->dtype = vs_chance(d, 50) ? ODB_I64 : ODB_I32;
    d->extreme = false;
    vs_in_range(d, d->dtype,
                vs_chance(d, 60) ? VS_DIMS(vs_int(d, 1, 12))
                                 : VS_DIMS(vs_int(d, 1, 3), vs_int(d, 1, 8)),
                0, 3);
    for (int64_t len = 1; len <= max; len++) {
        counts[len - 1] = n;
        for (int64_t g = 0; g < (len == 1 ? 2 : 1); g++) {
            for (int64_t i = 0; i < len; i++)
                pool[n++] = len == 1 ? g : vs_int(d, 0, 3);
            index[grams] = grams;
            grams++;
        }
    }
    vs_attr_ints(d, "pool_int64s", (size_t)n, pool);
    vs_attr_ints(d, "ngram_counts", (size_t)max, counts);
    vs_attr_ints(d, "ngram_indexes", (size_t)grams, index);
    vs_attr_int(d, "min_gram_length", min);
    vs_attr_int(d, "max_gram_length", max);
    vs_attrs(d, "max_skip_count=0|1|2|5 mode=TF|IDF|TFIDF");
    float weights[12];
    for (int64_t i = 0; i < grams; i++)
        weights[i] = (float)vs_real(d, 0, 3);
    if (vs_chance(d, 60))
        vs_attr_floats(d, "weights", (size_t)grams, weights);
}

const struct row vs_shape_rows[] = {
    {.op = "Reshape", .draw = draw_reshape},
    {.op = "Transpose", .draw = draw_perm},
    {.op = "Squeeze", .draw = draw_squeeze},
    {.op = "Unsqueeze", .draw = draw_unsqueeze},
    {.op = "Flatten", .draw = draw_flatten},
    {.op = "Shape", .draw = draw_shape},
    {.op = "Size"},
    {.op = "Expand", .draw = draw_expand},
    {.op = "Tile", .draw = draw_tile},
    {.op = "Concat", .draw = draw_concat},
    {.op = "Split", .draw = draw_split},
    {.op = "Slice", .draw = draw_slice},
    {.op = "Pad", .draw = draw_pad},
    {.op = "Gather", .draw = draw_gather},
    {.op = "GatherElements", .draw = draw_gather_elements},
    {.op = "GatherND", .draw = draw_gather_nd},
    {.op = "Scatter", .draw = draw_scatter_elements, .from = 9, .to = 10},
    {.op = "ScatterElements", .draw = draw_scatter_elements},
    {.op = "ScatterND", .draw = draw_scatter_nd},
    {.op = "TopK", .draw = draw_topk},
    {.op = "OneHot", .draw = draw_onehot},
    {.op = "Unique", .draw = draw_unique},
    {.op = "Compress", .draw = draw_compress},
    {.op = "NonZero"},
    {.op = "Trilu", .draw = draw_trilu, .attrs = "upper=-|0|1"},
    {.op = "ReverseSequence", .draw = draw_reverse},
    {.op = "DepthToSpace", .draw = draw_blocks},
    {.op = "SpaceToDepth", .draw = draw_blocks},
    {.op = "CenterCropPad", .draw = draw_crop_pad},
    {.op = "ConstantOfShape", .draw = draw_constant_of_shape},
    {.op = "EyeLike", .draw = draw_eye},
    {.op = "StringConcat", .draw = draw_string_concat, .types = ODB_T_STRING},
    {.op = "StringNormalizer", .draw = draw_string_normalizer, .types = ODB_T_STRING},
    {.op = "StringSplit", .draw = draw_string_split, .types = ODB_T_STRING},
    {.op = "RegexFullMatch", .types = ODB_T_STRING, .attrs = "pattern=a|a+b?|[a-c]+|.*|^The$|\\w+"},
    {.op = "TfIdfVectorizer", .draw = draw_tfidf},
    {NULL},
};
