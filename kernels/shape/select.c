/* SPDX-License-Identifier: MIT
 *
 * Operators that choose elements by looking at values: OneHot, NonZero, Compress, Trilu, TopK,
 * Unique. Those that order elements do so by one 64-bit key per element, made so that unsigned
 * comparison of keys is comparison of values, whatever the type: NaN counts as greater than
 * everything and equal to itself (NumPy's order), -0 equals +0.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/core/cells.h"
#include "kernels/core/row.h"
#include "kernels/core/stride.h"

/* --- OneHot ----------------------------------------------------------------------------------- */

static enum odb_status select_infer_onehot(struct odb_kern *k)
{
    const struct odb_tensor *indices = k->in[0], *values = k->in[2];
    int64_t dims[ODB_MAX_RANK + 1], depth;
    int axis, n = 0;
    size_t count;

    ODB_TRY(odb_kern_values(k, 1, &depth, 1, &count));
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", -1), indices->rank + 1, false, &axis));
    if (count != 1 || depth < 1)
        return ODB_KERN_FAIL(k, "depth must be one positive number");
    if (values->rank != 1 || values->dims[0] != 2)
        return ODB_KERN_FAIL(k, "values must be [off, on], not %zu elements", values->count);
    for (int i = 0; i <= indices->rank; i++)
        dims[i] = i == axis ? depth : indices->dims[n++];
    return odb_kern_outline(k, 0, values->dtype, indices->rank + 1, dims);
}

static enum odb_status select_onehot_cells(struct odb_kern *k, void *arg, size_t size,
                                           unsigned char *dst, const unsigned char *values)
{
    const struct odb_tensor *indices = k->in[0], *y = k->out[0];
    int axis = *(const int *)arg;
    struct odb_stride fill = {.rank = 1, .dims = {(int64_t)y->count}, .dst = {1}};
    int64_t depth = y->dims[axis];
    size_t inner = odb_dims_product(y->dims, axis + 1, y->rank);

    odb_stride_copy(&fill, size, dst, values);
    for (size_t i = 0; i < indices->count; i++) {
        int64_t at = odb_tensor_i64(indices, i);
        at += at < 0 && k->op->since >= 11 ? depth : 0;
        if (at < 0 || at >= depth)
            continue;
        size_t cell = (i / inner * (size_t)depth + (size_t)at) * inner + i % inner;
        odb_cell_copy(dst + cell * size, values + size, size);
    }
    return ODB_OK;
}

static enum odb_status select_run_onehot(struct odb_kern *k)
{
    int axis;

    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", -1), k->out[0]->rank, false, &axis));
    return odb_cells_move(k, 0, 2, select_onehot_cells, &axis);
}

/* --- NonZero ---------------------------------------------------------------------------------- */

static bool select_is_set(const struct odb_tensor *t, size_t i)
{
    switch (odb_dtype_info(t->dtype)->class_) {
    case ODB_CLASS_STRING:
        return ((const struct odb_str *)t->data)[i].len != 0;
    case ODB_CLASS_COMPLEX: {
        enum odb_dtype half = odb_dtype_part(t->dtype);
        return odb_load_f64(half, t->data, 2 * i) != 0 ||
               odb_load_f64(half, t->data, 2 * i + 1) != 0;
    }
    case ODB_CLASS_FLOAT:
        return odb_tensor_f64(t, i) != 0;
    default:
        return odb_tensor_i64(t, i) != 0;
    }
}

/* One column of coordinates per element; a scalar has no coordinates: shape [0, n]. */
static enum odb_status select_run_nonzero(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    size_t n = 0, column = 0;

    for (size_t i = 0; i < x->count; i++)
        n += select_is_set(x, i);
    ODB_TRY(odb_kern_output(k, 0, ODB_I64, 2, (int64_t[]){x->rank, (int64_t)n}));
    odb_i64 *out = k->out[0]->data;
    for (size_t i = 0; i < x->count && x->rank > 0; i++) {
        if (!select_is_set(x, i))
            continue;
        size_t rest = i;
        for (int d = x->rank - 1; d >= 0; d--) {
            out[(size_t)d * n + column] = (int64_t)(rest % (size_t)x->dims[d]);
            rest /= (size_t)x->dims[d];
        }
        column++;
    }
    return ODB_OK;
}

/* --- Compress --------------------------------------------------------------------------------- */

static enum odb_status select_compress_cells(struct odb_kern *k, void *arg, size_t size,
                                             unsigned char *dst, const unsigned char *src)
{
    const int64_t *view = arg; /* outer, axis, inner */
    const struct odb_tensor *keep = k->in[1];
    size_t run = (size_t)view[2] * size;

    for (int64_t o = 0; o < view[0] && run > 0; o++, src += (size_t)view[1] * run) {
        for (size_t i = 0; i < keep->count; i++) {
            if (odb_tensor_i64(keep, i) == 0)
                continue;
            memcpy(dst, src + i * run, run);
            dst += run;
        }
    }
    return ODB_OK;
}

static enum odb_status select_run_compress(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *keep = k->in[1];
    int64_t view[3] = {1, (int64_t)x->count, 1}, dims[ODB_MAX_RANK], n = 0;
    int axis = 0, rank = 1;

    if (odb_kern_has(k, "axis")) {
        ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 0), x->rank, false, &axis));
        view[0] = (int64_t)odb_dims_product(x->dims, 0, axis);
        view[1] = x->dims[axis];
        view[2] = (int64_t)odb_dims_product(x->dims, axis + 1, x->rank);
        rank = x->rank;
        memcpy(dims, x->dims, sizeof dims);
    }
    for (size_t i = 0; i < keep->count; i++) {
        bool kept = odb_tensor_i64(keep, i) != 0;
        if (kept && (int64_t)i >= view[1])
            return ODB_KERN_FAIL(k, "condition keeps element %zu of %lld", i, (long long)view[1]);
        n += kept;
    }
    dims[axis] = n;
    ODB_TRY(odb_kern_output(k, 0, x->dtype, rank, dims));
    if (!k->out[0] || k->out[0]->count == 0)
        return ODB_OK;
    return odb_cells_move(k, 0, 0, select_compress_cells, view);
}

/* --- Trilu ------------------------------------------------------------------------------------ */

static enum odb_status select_infer_trilu(struct odb_kern *k)
{
    if (k->in[0]->rank < 2)
        return ODB_KERN_FAIL(k, "the input has rank %d; matrices are needed", k->in[0]->rank);
    return odb_infer_same(k);
}

static enum odb_status select_trilu_cells(struct odb_kern *k, void *arg, size_t size,
                                          unsigned char *dst, const unsigned char *src)
{
    const struct odb_tensor *x = k->in[0];
    int64_t rows = x->dims[x->rank - 2], cols = x->dims[x->rank - 1];
    int64_t diagonal = *(const int64_t *)arg;
    bool upper = odb_kern_int(k, "upper", 1) != 0;
    size_t n = cols > 0 ? x->count / (size_t)cols : 0, line = (size_t)cols * size;

    for (size_t i = 0; i < n; i++, dst += line, src += line) {
        /* kept: columns from the diagonal on, or up to it and with it */
        int64_t split = (int64_t)i % rows + diagonal + !upper;
        size_t at = (size_t)ODB_MIN(ODB_MAX(split, 0), cols) * size;
        size_t from = upper ? at : 0, to = upper ? line : at;
        memset(dst, 0, line);
        memcpy(dst + from, src + from, to - from);
    }
    return ODB_OK;
}

static enum odb_status select_run_trilu(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int64_t diagonal = 0, reach;
    size_t n;

    ODB_TRY(odb_kern_values(k, 1, &diagonal, 1, &n));
    reach = x->dims[x->rank - 2] + x->dims[x->rank - 1] + 1;
    diagonal = ODB_MIN(ODB_MAX(diagonal, -reach), reach);
    return odb_cells_move(k, 0, 0, select_trilu_cells, &diagonal);
}

/* --- keys ------------------------------------------------------------------------------------- */

#define SELECT_TOP ((uint64_t)1 << 63)

static uint64_t select_float_key(double v)
{
    uint64_t bits;

    if (v != v)
        return UINT64_MAX;
    v += 0.0; /* -0 becomes +0 */
    memcpy(&bits, &v, sizeof bits);
    return bits & SELECT_TOP ? ~bits : bits | SELECT_TOP;
}

static uint64_t select_key(const struct odb_tensor *t, size_t i)
{
    enum odb_dtype_class class_ = odb_dtype_info(t->dtype)->class_;

    if (class_ == ODB_CLASS_FLOAT)
        return select_float_key(odb_tensor_f64(t, i));
    uint64_t v = (uint64_t)odb_tensor_i64(t, i);
    return class_ == ODB_CLASS_INT ? v ^ SELECT_TOP : v;
}

/* --- TopK ------------------------------------------------------------------------------------- */

struct select_item {
    uint64_t key;
    int64_t index;
};

/* Whether a comes after b in the output. */
static bool select_after(const struct select_item *a, const struct select_item *b)
{
    return a->key != b->key ? a->key > b->key : a->index > b->index;
}

/* Restores the heap (last in order on top) below i. */
static void select_sift(struct select_item *heap, size_t n, size_t i)
{
    struct select_item item = heap[i];

    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && select_after(&heap[child + 1], &heap[child]))
            child++;
        if (!select_after(&heap[child], &item))
            break;
        heap[i] = heap[child];
    }
    heap[i] = item;
}

/* The first want of n elements of a line, in order, in heap[0, want). */
static void select_line(const struct odb_tensor *x, size_t start, size_t step, size_t n,
                        bool largest, struct select_item *heap, size_t want)
{
    size_t have = 0;

    for (size_t i = 0; i < n && want > 0; i++) {
        uint64_t key = select_key(x, start + i * step);
        struct select_item item = {largest ? ~key : key, (int64_t)i};
        if (have < want) {
            heap[have++] = item;
            for (size_t j = have / 2; have == want && j-- > 0;)
                select_sift(heap, have, j);
        } else if (select_after(&heap[0], &item)) {
            heap[0] = item;
            select_sift(heap, want, 0);
        }
    }
    for (size_t m = want; m-- > 1;) {
        struct select_item last = heap[0];
        heap[0] = heap[m];
        heap[m] = last;
        select_sift(heap, m, 0);
    }
}

static enum odb_status select_topk_read(struct odb_kern *k, int *axis, int64_t *want)
{
    const struct odb_tensor *x = k->in[0];
    size_t n = 1;

    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", -1), x->rank, false, axis));
    if (k->op->since >= 10)
        ODB_TRY(odb_kern_values(k, 1, want, 1, &n));
    else
        *want = odb_kern_int(k, "k", -1);
    if (n != 1 || *want < 0 || *want > x->dims[*axis])
        return ODB_KERN_FAIL(k, "k is %lld, but axis %d has %lld elements",
                             n == 1 ? (long long)*want : 0, *axis, (long long)x->dims[*axis]);
    return ODB_OK;
}

static enum odb_status select_infer_topk(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int64_t dims[ODB_MAX_RANK], want;
    int axis;

    ODB_TRY(select_topk_read(k, &axis, &want));
    memcpy(dims, x->dims, sizeof dims);
    dims[axis] = want;
    ODB_TRY(odb_kern_outline(k, 0, x->dtype, x->rank, dims));
    return odb_kern_outline(k, 1, ODB_I64, x->rank, dims);
}

static enum odb_status select_topk_lines(struct odb_kern *k, int axis, size_t want,
                                         struct select_item *heap)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *values = k->out[0], *indices = k->n_out > 1 ? k->out[1] : NULL;
    size_t n = (size_t)x->dims[axis], inner = odb_dims_product(x->dims, axis + 1, x->rank);
    size_t outer = odb_dims_product(x->dims, 0, axis), size = odb_dtype_info(x->dtype)->bits / 8;
    bool largest = odb_kern_int(k, "largest", 1) != 0;

    for (size_t l = 0; want && l < outer * inner; l++) {
        size_t from = l / inner * n * inner + l % inner;
        size_t to = l / inner * want * inner + l % inner;
        select_line(x, from, inner, n, largest, heap, want);
        for (size_t i = 0; i < want; i++, to += inner) {
            size_t cell = from + (size_t)heap[i].index * inner;
            if (values != NULL)
                odb_cell_copy((unsigned char *)values->data + to * size,
                              (const unsigned char *)x->data + cell * size, size);
            if (indices != NULL)
                ((odb_i64 *)indices->data)[to] = heap[i].index;
        }
    }
    return ODB_OK;
}

static enum odb_status select_run_topk(struct odb_kern *k)
{
    int64_t want;
    int axis;

    ODB_TRY(select_topk_read(k, &axis, &want));
    struct select_item *heap = malloc(((size_t)want + 1) * sizeof *heap);
    if (heap == NULL)
        return odb_fail(k->err, ODB_E_NOMEM, "no memory for %lld elements", (long long)want);
    enum odb_status status = select_topk_lines(k, axis, (size_t)want, heap);
    free(heap);
    return status;
}

/* --- Unique ----------------------------------------------------------------------------------- */

/* n items of len elements each: item i's element e is element i * step + e / inner * outer_step +
 * e % inner of x. keys (or, for strings, the elements) make items comparable; complex elements have
 * two, the real part's first. */
struct select_items {
    const struct odb_tensor *x;
    size_t n, len;
    size_t step, inner, outer_step;
    size_t per;     /* keys per element */
    uint64_t *keys; /* owned; NULL for strings */
};

static size_t select_at(const struct select_items *s, size_t item, size_t e)
{
    return item * s->step + e / s->inner * s->outer_step + e % s->inner;
}

static int select_compare_strings(const struct odb_str *a, const struct odb_str *b)
{
    size_t n = ODB_MIN(a->len, b->len);
    int order = n > 0 ? memcmp(a->data, b->data, n) : 0;

    return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

static int select_compare(const struct select_items *s, size_t a, size_t b)
{
    for (size_t e = 0; e < s->len; e++) {
        size_t i = select_at(s, a, e), j = select_at(s, b, e);
        const struct odb_str *text = s->x->data;
        int order = s->keys == NULL ? select_compare_strings(text + i, text + j) : 0;
        for (size_t p = 0; s->keys != NULL && p < s->per && order == 0; p++) {
            uint64_t x = s->keys[i * s->per + p], y = s->keys[j * s->per + p];
            order = (x > y) - (x < y);
        }
        if (order != 0)
            return order;
    }
    return 0;
}

/* For qsort_r: by value, then by place, so that the first of equals comes first. */
static int select_order(const void *a, const void *b, void *arg)
{
    int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    int order = select_compare(arg, (size_t)i, (size_t)j);

    return order != 0 ? order : (i > j) - (i < j);
}

static int select_ascending(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (x[0] > y[0]) - (x[0] < y[0]);
}

static enum odb_status select_items_init(struct odb_kern *k, struct select_items *s, int *axis)
{
    const struct odb_tensor *x = k->in[0];

    s->x = x;
    if (odb_kern_has(k, "axis")) {
        ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 0), x->rank, false, axis));
        s->n = (size_t)x->dims[*axis];
        s->inner = odb_dims_product(x->dims, *axis + 1, x->rank);
        s->len = odb_dims_product(x->dims, 0, *axis) * s->inner;
        s->step = s->inner;
        s->outer_step = s->n * s->inner;
    } else {
        *axis = -1;
        s->n = x->count;
        s->len = s->step = s->inner = s->outer_step = 1;
    }
    if (x->dtype == ODB_STRING)
        return ODB_OK;
    bool complex_ = (ODB_BIT(x->dtype) & ODB_T_COMPLEX) != 0;
    enum odb_dtype half = odb_dtype_part(x->dtype);
    s->per = complex_ ? 2 : 1;
    s->keys = malloc((s->per * x->count + 1) * sizeof *s->keys);
    if (s->keys == NULL)
        return odb_fail(k->err, ODB_E_NOMEM, "no memory for %zu elements", x->count);
    for (size_t i = 0; i < s->per * x->count; i++)
        s->keys[i] = complex_ ? select_float_key(odb_load_f64(half, x->data, i)) : select_key(x, i);
    return ODB_OK;
}

/* Distinct items, as the outputs want them. */
struct select_groups {
    size_t n;
    int64_t (*first)[2]; /* owned: [n] first item, and the group's place in value order */
    int64_t *counts;     /* owned: [n] in value order */
    int64_t *inverse;    /* owned: [items] each item's group in value order */
};

static enum odb_status select_group(struct odb_kern *k, struct select_items *s,
                                    struct select_groups *g)
{
    int64_t *order = malloc((s->n + 1) * sizeof *order);

    g->first = malloc((s->n + 1) * sizeof *g->first);
    g->counts = malloc((s->n + 1) * sizeof *g->counts);
    g->inverse = malloc((s->n + 1) * sizeof *g->inverse);
    if (order == NULL || g->first == NULL || g->counts == NULL || g->inverse == NULL) {
        free(order);
        return odb_fail(k->err, ODB_E_NOMEM, "no memory for %zu elements", s->n);
    }
    for (size_t i = 0; i < s->n; i++)
        order[i] = (int64_t)i;
    qsort_r(order, s->n, sizeof *order, select_order, s);
    for (size_t i = 0; i < s->n; i++) {
        if (i == 0 || select_compare(s, (size_t)order[i - 1], (size_t)order[i]) != 0) {
            g->first[g->n][0] = order[i];
            g->first[g->n][1] = (int64_t)g->n;
            g->counts[g->n++] = 0;
        }
        g->counts[g->n - 1]++;
        g->inverse[order[i]] = (int64_t)g->n - 1;
    }
    free(order);
    return ODB_OK;
}

static enum odb_status select_unique_cells(struct odb_kern *k, void *arg, size_t size,
                                           unsigned char *dst, const unsigned char *src)
{
    void *const *both = arg;
    const struct select_items *s = both[0];
    const struct select_groups *g = both[1];

    for (size_t i = 0; i < g->n; i++)
        for (size_t e = 0; e < s->len; e++) {
            size_t to = (e / s->inner * g->n + i) * s->inner + e % s->inner;
            odb_cell_copy(dst + to * size, src + select_at(s, (size_t)g->first[i][0], e) * size,
                          size);
        }
    return ODB_OK;
}

/* Groups stand in the order of the output; rank[] leads from value order to it. */
static void select_unique_lists(struct odb_kern *k, const struct select_items *s,
                                const struct select_groups *g, int64_t *rank)
{
    for (size_t i = 0; i < g->n; i++)
        rank[g->first[i][1]] = (int64_t)i;
    for (int o = 1; o < k->n_out; o++) {
        if (k->out[o] == NULL)
            continue;
        odb_i64 *out = k->out[o]->data;
        for (size_t i = 0; i < (o == 2 ? s->n : g->n); i++)
            out[i] = o == 1   ? g->first[i][0]
                     : o == 2 ? rank[g->inverse[i]]
                              : g->counts[g->first[i][1]];
    }
}

static enum odb_status select_unique_outputs(struct odb_kern *k, struct select_items *s,
                                             struct select_groups *g, int axis)
{
    const struct odb_tensor *x = k->in[0];
    int64_t dims[ODB_MAX_RANK], n = (int64_t)g->n, items = (int64_t)s->n;

    memcpy(dims, x->dims, sizeof dims);
    dims[ODB_MAX(axis, 0)] = n;
    ODB_TRY(odb_kern_output(k, 0, x->dtype, axis < 0 ? 1 : x->rank, dims));
    for (int o = 1; o < k->n_out; o++)
        ODB_TRY(odb_kern_output(k, o, ODB_I64, 1, o == 2 ? &items : &n));
    int64_t *rank = malloc((g->n + 1) * sizeof *rank);
    if (rank == NULL)
        return odb_fail(k->err, ODB_E_NOMEM, "no memory for %zu elements", g->n);
    select_unique_lists(k, s, g, rank);
    free(rank);
    if (k->out[0] == NULL)
        return ODB_OK;
    return odb_cells_move(k, 0, 0, select_unique_cells, (void *[]){s, g});
}

static enum odb_status select_run_unique(struct odb_kern *k)
{
    struct select_items s = {.n = 0};
    struct select_groups g = {.n = 0};
    enum odb_status status;
    int axis;

    ODB_TRY_OUT(select_items_init(k, &s, &axis));
    ODB_TRY_OUT(select_group(k, &s, &g));
    if (odb_kern_int(k, "sorted", 1) == 0)
        qsort(g.first, g.n, sizeof *g.first, select_ascending);
    status = select_unique_outputs(k, &s, &g, axis);
out:
    free(s.keys);
    free(g.first);
    free(g.counts);
    free(g.inverse);
    return status;
}

/* --- rows ------------------------------------------------------------------------------------- */

#define SELECT_ATTRS(...) ((const struct odb_attr_spec[]){__VA_ARGS__, {.name = NULL}})
#define SELECT_INT(name_, default_) ODB_OPTIONAL_ATTR(name_, INT, default_)
#define SELECT_ROW(name_, since_, min_in_, max_in_, max_out_, flags_, infer_, run_)                \
    .domain = "", .name = (name_), .since = (since_), .min_in = (min_in_), .max_in = (max_in_),    \
    .min_out = 1, .max_out = (max_out_), .flags = (flags_), .infer = (infer_), .run = (run_)

/* Order and selection are exact once the values are; those that look at floats are boundaries. */
#define SELECT_BOUNDARY (ODB_OP_EXACT | ODB_OP_BOUNDARY)

const struct odb_op odb_ops_select[] = {
    {SELECT_ROW("OneHot", 9, 3, 3, 1, ODB_OP_EXACT, select_infer_onehot, select_run_onehot),
     .types = {ODB_T_NUMBER, ODB_T_NUMBER, ODB_T_ANY},
     .attrs = SELECT_ATTRS(SELECT_INT("axis", "-1")), ODB_NAMES("indices,depth,values", "output"),
     ODB_HALVES(9, 0)},
    {SELECT_ROW("OneHot", 11, 3, 3, 1, ODB_OP_EXACT, select_infer_onehot, select_run_onehot),
     .types = {ODB_T_NUMBER, ODB_T_NUMBER, ODB_T_ANY},
     .attrs = SELECT_ATTRS(SELECT_INT("axis", "-1"))},
    {SELECT_ROW("NonZero", 9, 1, 1, 1, SELECT_BOUNDARY, NULL, select_run_nonzero),
     .types = {ODB_T_ANY}, ODB_NAMES("X", "Y"), ODB_HALVES(9, 13),
     ODB_TRAITS(ODB_IS_SIZED_BY_DATA)},
    {SELECT_ROW("Compress", 9, 2, 2, 1, ODB_OP_EXACT, NULL, select_run_compress),
     .types = {ODB_T_ANY, ODB_T_BOOL}, .attrs = SELECT_ATTRS(SELECT_INT("axis", NULL)),
     ODB_NAMES("input,condition", "output"), ODB_HALVES(9, 0), ODB_TRAITS(ODB_IS_SIZED_BY_DATA)},
    {SELECT_ROW("Trilu", 14, 1, 2, 1, ODB_OP_EXACT, select_infer_trilu, select_run_trilu),
     .types = {ODB_T_ANY, ODB_BIT(ODB_I64)}, .attrs = SELECT_ATTRS(SELECT_INT("upper", "1")),
     ODB_NAMES("input,k", "output"), ODB_HALVES(14, 14)},
    {SELECT_ROW("TopK", 1, 1, 1, 2, SELECT_BOUNDARY, select_infer_topk, select_run_topk),
     .types = {ODB_T_NUMBER},
     .attrs = SELECT_ATTRS(SELECT_INT("axis", "-1"),
                           {.name = "k", .type = ODB_ATTR_INT, .required = true}),
     ODB_NAMES("X", "Values,Indices"), ODB_HALVES(1, 24)},
    {SELECT_ROW("TopK", 10, 2, 2, 2, SELECT_BOUNDARY, select_infer_topk, select_run_topk),
     .types = {ODB_T_NUMBER, ODB_BIT(ODB_I64)}, .attrs = SELECT_ATTRS(SELECT_INT("axis", "-1")),
     ODB_NAMES("X,K", "Values,Indices")},
    {SELECT_ROW("TopK", 11, 2, 2, 2, SELECT_BOUNDARY, select_infer_topk, select_run_topk),
     .types = {ODB_T_NUMBER, ODB_BIT(ODB_I64)},
     .attrs = SELECT_ATTRS(SELECT_INT("axis", "-1"), SELECT_INT("largest", "1"),
                           SELECT_INT("sorted", "1"))},
    {SELECT_ROW("Unique", 11, 1, 1, 4, SELECT_BOUNDARY, NULL, select_run_unique),
     .types = {ODB_T_NUMBER | ODB_T_BOOL | ODB_T_STRING | ODB_T_COMPLEX},
     .attrs = SELECT_ATTRS(SELECT_INT("axis", NULL), SELECT_INT("sorted", "1")),
     ODB_NAMES("X", "Y,indices,inverse_indices,counts"), ODB_HALVES(11, 0),
     ODB_TRAITS(ODB_IS_SIZED_BY_DATA)},
    {.name = NULL},
};
