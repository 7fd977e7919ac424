/* SPDX-License-Identifier: MIT */
#include "kernels/contrib/heads.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/shape/parts.h"

struct odb_heads odb_heads_flat(const struct odb_tensor *t, size_t at, size_t rows, size_t width,
                                size_t size)
{
    const char *data = t->data;
    return (struct odb_heads){data ? data + at * odb_ew_size(t->dtype) : NULL,
                              {.batch = rows * width, .head = size, .row = width}};
}

struct odb_heads odb_heads_split(const void *data, size_t heads, size_t rows, size_t size)
{
    return (struct odb_heads){data,
                              {.batch = heads * rows * size, .head = rows * size, .row = size}};
}

struct heads_fill {
    const struct odb_cache *c;
    char *data;
};

/* Heads [begin, end) of all batch entries. */
static void heads_fill_block(void *arg, size_t begin, size_t end)
{
    const struct heads_fill *f = arg;
    const struct odb_cache *c = f->c;
    size_t row = c->size * odb_ew_size(c->dtype), element = odb_ew_size(c->dtype);
    for (size_t i = begin; i < end; i++) {
        size_t b = i / c->heads, h = i % c->heads;
        char *y = f->data + i * c->rows * row;
        size_t kept = !c->past ? 0 : c->kept ? (size_t)c->kept[b] : c->past_rows;
        size_t at = c->at ? (size_t)c->at[b] : c->past_rows;
        const char *from = (const char *)c->added.data +
                           (b * c->added.steps.batch + h * c->added.steps.head) * element;
        memset(y, 0, c->rows * row);
        if (kept)
            memcpy(y, (const char *)c->past + i * c->past_rows * row, kept * row);
        for (size_t r = 0; r < c->added_rows; r++)
            memcpy(y + (at + r) * row, from + r * c->added.steps.row * element, row);
        if (c->type != ODB_UNDEFINED && c->dtype == ODB_F32)
            odb_round_f32(c->type, (odb_f32 *)(void *)(y + at * row), c->added_rows * c->size);
    }
}

void odb_cache_fill(const struct odb_cache *c, void *data)
{
    struct heads_fill f = {c, data};
    if (c->rows && c->size)
        odb_parallel_for(c->batch * c->heads, (1u << 16) / (c->rows * c->size) + 1,
                         heads_fill_block, &f);
}

enum odb_status odb_heads_bias(struct odb_kern *k, int i, const struct odb_attention *a,
                               size_t keys, struct odb_attention_plane *plane)
{
    const struct odb_tensor *t = odb_kern_in(k, i);
    char text[200];
    if (!t)
        return ODB_OK;
    bool fits = t->rank == 4 && (t->dims[0] == 1 || t->dims[0] == (int64_t)a->batch) &&
                (t->dims[1] == 1 || t->dims[1] == (int64_t)a->heads) &&
                t->dims[2] == (int64_t)a->queries && t->dims[3] == (int64_t)keys;
    if (!fits)
        return ODB_KERN_FAIL(k, "the bias %s does not fit scores [%zu,%zu,%zu,%zu]",
                             odb_shape_text(t, text, sizeof text), a->batch, a->heads, a->queries,
                             keys);
    size_t area = a->queries * keys, heads = (size_t)t->dims[1];
    *plane = (struct odb_attention_plane){.data = t->data,
                                          .batch = t->dims[0] == 1 ? 0 : heads * area,
                                          .head = heads == 1 ? 0 : area,
                                          .row = keys,
                                          .col = 1,
                                          .cols = keys};
    return ODB_OK;
}

const struct odb_tensor *odb_heads_add_vector(struct odb_chain *c, const struct odb_tensor *t,
                                              const struct odb_tensor *vector, size_t at)
{
    struct odb_tensor *part = NULL;
    if (!vector || !odb_chain_ok(c))
        return t;
    c->status =
        odb_parts_take(&part, vector, 0, (int64_t)at, t->dims[t->rank - 1], false, c->k->err);
    odb_chain_take(c, part);
    return ODB_STEP(c, "Add", 14, (t, part));
}

double odb_heads_scale(const struct odb_kern *k, size_t size)
{
    double scale = odb_kern_float(k, "scale", 0);
    return scale == 0 ? 1 / sqrt((double)size) : scale;
}

enum odb_status odb_heads_left(struct odb_kern *k, int64_t *left)
{
    int64_t window = odb_kern_int(k, "local_window_size", -1);
    if (window == 0)
        return ODB_KERN_UNSUPPORTED(k, "%s with a local_window_size of 0, which leaves no token",
                                    k->op->name);
    *left = window > 0 ? window - 1 : -1;
    return ODB_OK;
}

enum odb_status odb_heads_number(struct odb_kern *k, int i, int64_t *v)
{
    size_t n;
    if (!odb_kern_in(k, i))
        return ODB_OK;
    ODB_TRY(odb_kern_values(k, i, v, 1, &n));
    return n == 1 ? ODB_OK : ODB_KERN_FAIL(k, "input %d of %s is empty", i, k->op->name);
}
