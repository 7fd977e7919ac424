/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/tensor_print.h"

/* One entry between commas. */
struct slice_entry {
    enum { SLICE_INDEX, SLICE_RANGE, SLICE_REST } kind;
    bool has[3];
    int64_t v[3]; /* start, stop, step; an index is v[0] */
    size_t at;    /* in the text */
};

struct slice_parser {
    const char *text;
    size_t pos;
    struct odb_error *err;
};

/* What is taken of one dimension. */
struct slice_dim {
    int64_t start, step, n;
    bool dropped; /* by an index */
};

static enum odb_status slice_fail(struct slice_parser *p, size_t at, const char *what)
{
    odb_fail(p->err, ODB_E_USAGE, "slice '%s': %s at character %zu", p->text, what, at + 1);
    return odb_error_remedy(p->err, "write something like [0, :, 2:4, ::-1, ..., -1]");
}

static char slice_peek(struct slice_parser *p)
{
    while (p->text[p->pos] == ' ' || p->text[p->pos] == '\t')
        p->pos++;
    return p->text[p->pos];
}

/* An integer where one stands. */
static enum odb_status slice_integer(struct slice_parser *p, bool *has, int64_t *out)
{
    char c = slice_peek(p);
    *has = c == '-' || c == '+' || (c >= '0' && c <= '9');
    if (!*has)
        return ODB_OK;
    char *end;
    errno = 0;
    long long v = strtoll(p->text + p->pos, &end, 10);
    if (end == p->text + p->pos || errno)
        return slice_fail(p, p->pos, "not a number that fits");
    *out = v;
    p->pos = (size_t)(end - p->text);
    return ODB_OK;
}

static enum odb_status slice_entry(struct slice_parser *p, struct slice_entry *e)
{
    *e = (struct slice_entry){.kind = SLICE_INDEX};
    slice_peek(p);
    e->at = p->pos;
    if (!strncmp(p->text + p->pos, "...", 3)) {
        e->kind = SLICE_REST;
        p->pos += 3;
        return ODB_OK;
    }
    for (int i = 0; i < 3; i++) {
        ODB_TRY(slice_integer(p, &e->has[i], &e->v[i]));
        if (slice_peek(p) != ':' || i == 2)
            break;
        e->kind = SLICE_RANGE;
        p->pos++;
    }
    if (e->kind == SLICE_INDEX && !e->has[0])
        return slice_fail(p, p->pos, "an index, a range or ... expected");
    if (e->has[2] && e->v[2] == 0)
        return slice_fail(p, e->at, "a step of 0");
    return ODB_OK;
}

/* The entries of the text; at most one more than there can be dimensions. */
static enum odb_status slice_parse(struct slice_parser *p, struct slice_entry *entries, int *n)
{
    bool bracket = slice_peek(p) == '[', rest = false;
    p->pos += bracket;
    *n = 0;
    while (slice_peek(p) && slice_peek(p) != ']') {
        if (*n == ODB_MAX_RANK + 1)
            return slice_fail(p, p->pos, "too many indices");
        struct slice_entry *e = &entries[(*n)++];
        ODB_TRY(slice_entry(p, e));
        if (e->kind == SLICE_REST && rest)
            return slice_fail(p, e->at, "a second ...");
        rest |= e->kind == SLICE_REST;
        if (slice_peek(p) != ',')
            break;
        p->pos++;
    }
    if (bracket && slice_peek(p) != ']')
        return slice_fail(p, p->pos, "',' or ']' expected");
    p->pos += bracket;
    return slice_peek(p) ? slice_fail(p, p->pos, "unexpected text") : ODB_OK;
}

static int64_t slice_clip(int64_t v, int64_t size, int64_t lo, int64_t hi)
{
    if (v < 0)
        v += size; /* cannot overflow: size is positive */
    return v < lo ? lo : v > hi ? hi : v;
}

static enum odb_status slice_resolve(struct slice_parser *p, const struct slice_entry *e,
                                     int64_t size, struct slice_dim *out)
{
    *out = (struct slice_dim){.step = 1, .n = 1, .dropped = e->kind == SLICE_INDEX};
    if (e->kind == SLICE_INDEX) {
        out->start = e->v[0] < 0 ? e->v[0] + size : e->v[0];
        if (out->start >= 0 && out->start < size)
            return ODB_OK;
        odb_fail(p->err, ODB_E_USAGE,
                 "slice '%s': index %lld at character %zu is outside a dimension of size %lld",
                 p->text, (long long)e->v[0], e->at + 1, (long long)size);
        return ODB_E_USAGE;
    }
    int64_t step = e->has[2] ? e->v[2] : 1;
    /* A longer step than the dimension never takes a second element. */
    step = step > size + 1 ? size + 1 : step < -size - 1 ? -size - 1 : step;
    int64_t lo = step > 0 ? 0 : -1, hi = step > 0 ? size : size - 1;
    int64_t start = e->has[0] ? slice_clip(e->v[0], size, lo, hi) : step > 0 ? lo : hi;
    int64_t stop = e->has[1] ? slice_clip(e->v[1], size, lo, hi) : step > 0 ? hi : lo;
    out->start = start;
    out->step = step;
    out->n = step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step;
    out->n = ODB_MAX(out->n, 0);
    return ODB_OK;
}

/* One slice per dimension of t. */
static enum odb_status slice_dims(struct slice_parser *p, const struct slice_entry *entries, int n,
                                  const struct odb_tensor *t, struct slice_dim *dims)
{
    const struct slice_entry all = {.kind = SLICE_RANGE};
    int given = 0, d = 0;
    for (int i = 0; i < n; i++)
        given += entries[i].kind != SLICE_REST;
    if (given > t->rank)
        return slice_fail(p, entries[n - 1].at, "more indices than dimensions");
    for (int i = 0; i < n; i++) {
        int repeat = entries[i].kind == SLICE_REST ? t->rank - given : 1;
        for (; repeat > 0; repeat--, d++)
            ODB_TRY(slice_resolve(p, entries[i].kind == SLICE_REST ? &all : &entries[i], t->dims[d],
                                  &dims[d]));
    }
    for (; d < t->rank; d++)
        ODB_TRY(slice_resolve(p, &all, t->dims[d], &dims[d]));
    return ODB_OK;
}

static enum odb_status slice_copy_element(struct odb_tensor *to, size_t i,
                                          const struct odb_tensor *from, size_t j,
                                          struct odb_error *err)
{
    unsigned bits = odb_dtype_info(from->dtype)->bits;
    if (from->dtype == ODB_STRING) {
        const struct odb_str *s = (const struct odb_str *)from->data + j;
        return odb_tensor_set_string(to, i, s->data, s->len, err);
    }
    if (bits < 8) { /* whatever the type, its code */
        enum odb_dtype code = bits == 4 ? ODB_U4 : ODB_U2;
        odb_store_i64(code, to->data, i, odb_load_i64(code, from->data, j));
    } else {
        memcpy((char *)to->data + i * (bits / 8), (const char *)from->data + j * (bits / 8),
               bits / 8);
    }
    return ODB_OK;
}

/* Fills out in its order, walking t by the slices. */
static enum odb_status slice_fill(struct odb_tensor *out, const struct odb_tensor *t,
                                  const struct slice_dim *dims, struct odb_error *err)
{
    int64_t index[ODB_MAX_RANK] = {0}, strides[ODB_MAX_RANK], at = 0, stride = 1;
    if (out->count == 0)
        return ODB_OK; /* and t's own dimensions may multiply to anything */
    for (int d = t->rank - 1; d >= 0; d--) {
        strides[d] = stride;
        at += dims[d].start * stride;
        stride *= t->dims[d];
    }
    for (size_t i = 0; i < out->count; i++) {
        ODB_TRY(slice_copy_element(out, i, t, (size_t)at, err));
        for (int d = t->rank - 1; d >= 0; d--) {
            at += dims[d].step * strides[d];
            if (++index[d] < dims[d].n)
                break;
            at -= dims[d].step * strides[d] * dims[d].n;
            index[d] = 0;
        }
    }
    return ODB_OK;
}

enum odb_status odb_slice(struct odb_tensor **out, const struct odb_tensor *t, const char *text,
                          struct odb_error *err)
{
    struct slice_parser p = {.text = text, .err = err};
    struct slice_entry entries[ODB_MAX_RANK + 1];
    struct slice_dim dims[ODB_MAX_RANK];
    int64_t shape[ODB_MAX_RANK];
    int n, rank = 0;
    if (t->kind != ODB_TENSOR || !t->data)
        return odb_fail(err, ODB_E_INPUT, "only a tensor with values can be sliced");
    ODB_TRY(slice_parse(&p, entries, &n));
    ODB_TRY(slice_dims(&p, entries, n, t, dims));
    bool all = true;
    for (int d = 0; d < t->rank; d++) {
        all = all && !dims[d].dropped && dims[d].step == 1 && dims[d].n == t->dims[d];
        if (!dims[d].dropped)
            shape[rank++] = dims[d].n;
    }
    if (all) {
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    struct odb_tensor *slice = NULL;
    ODB_TRY(odb_tensor_new(&slice, t->dtype, rank, shape, err));
    enum odb_status status = slice_fill(slice, t, dims, err);
    if (status)
        odb_tensor_unref(slice);
    else
        *out = slice;
    return status;
}
