/* SPDX-License-Identifier: MIT
 *
 * Heap tensors are one block of the pool: the storage's header, then the elements on a cache line
 * of their own. Fresh zeroed memory comes from calloc(), so that a huge output costs pages only
 * where a kernel writes.
 */
#include "tensor/tensor.h"

#include <math.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "system/blocks.h"

enum {
    TENSOR_ALIGN = 64,
    TENSOR_LARGE = 16 << 20 /* elements, whose type is changed in place */
};

/* More than any machine that this runs on holds: a shape beyond it is refused before the
 * allocator, which may promise what it does not have. */
#define TENSOR_MAX_BYTES ODB_SIZE_LIMIT(1ull << 40)
#define TENSOR_MAX_COUNT ODB_SIZE_LIMIT(1ull << 40) /* of elements, were no dimension 0 */

struct tensor_heap {
    struct odb_storage base;
    size_t size;             /* of the block */
    struct odb_str *strings; /* owned items; NULL unless the elements are strings */
    size_t n_strings;
};

static const char tensor_nothing[1] = "";

/* --- storage ---------------------------------------------------------------------------------- */

struct odb_storage *odb_storage_ref(struct odb_storage *storage)
{
    if (storage)
        atomic_fetch_add_explicit(&storage->refs, 1, memory_order_relaxed);
    return storage;
}

void odb_storage_unref(struct odb_storage *storage)
{
    if (storage && atomic_fetch_sub_explicit(&storage->refs, 1, memory_order_acq_rel) == 1)
        storage->release(storage);
}

static void tensor_heap_release(struct odb_storage *storage)
{
    struct tensor_heap *heap = (struct tensor_heap *)storage;
    for (size_t i = 0; i < heap->n_strings; i++)
        if (heap->strings[i].data != tensor_nothing)
            free((char *)heap->strings[i].data);
    odb_blocks_give(heap, heap->size);
}

/* NULL when there is no memory. *data is aligned to a cache line. */
static struct odb_storage *tensor_heap_new(size_t bytes, bool zero, void **data)
{
    size_t size =
        bytes + sizeof(struct tensor_heap) + TENSOR_ALIGN - alignof(max_align_t); /* a block's */
    struct tensor_heap *heap = zero ? odb_blocks_take_zeroed(size) : odb_blocks_take(size);
    if (!heap)
        return NULL;
    *heap = (struct tensor_heap){.size = size};
    heap->base.release = tensor_heap_release;
    atomic_init(&heap->base.refs, 1);
    uintptr_t start = (uintptr_t)(heap + 1);
    *data = (void *)((start + TENSOR_ALIGN - 1) & ~(uintptr_t)(TENSOR_ALIGN - 1));
    return &heap->base;
}

/* --- making tensors --------------------------------------------------------------------------- */

static void tensor_shape_print(char *buf, size_t size, int rank, const int64_t *dims)
{
    size_t len = 0;
    for (int i = 0; i < rank && len < size; i++)
        len +=
            (size_t)snprintf(buf + len, size - len, "%s%lld", i ? ", " : "(", (long long)dims[i]);
    if (len < size)
        snprintf(buf + len, size - len, rank == 0 ? "()" : rank == 1 ? ",)" : ")");
}

/* No bookkeeping: a sequence has as many as a model says. NULL: out of memory. */
static struct odb_tensor *tensor_header(enum odb_kind kind)
{
    struct odb_tensor *t = odb_blocks_take(sizeof *t);
    if (!t)
        return NULL;
    *t = (struct odb_tensor){.kind = kind};
    atomic_init(&t->refs, 1);
    return t;
}

/* A tensor without storage, its shape checked and its sizes computed. */
static enum odb_status tensor_begin(struct odb_tensor **out, enum odb_dtype dtype, int rank,
                                    const int64_t *dims, struct odb_error *err)
{
    size_t count = 1, bytes = 0;
    bool fits = true, empty = false;
    if (rank < 0 || rank > ODB_MAX_RANK)
        return odb_fail(err, ODB_E_INPUT, "a tensor of rank %d; at most %d are supported", rank,
                        ODB_MAX_RANK);
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return odb_fail(err, ODB_E_INPUT, "dimension %d is negative: %lld", i,
                            (long long)dims[i]);
        if (dims[i] == 0)
            empty = true;
        else
            fits = fits && odb_size_mul(count, (uint64_t)dims[i], &count);
    }
    fits = fits && count <= TENSOR_MAX_COUNT;
    if (empty) /* code that works on it multiplies its other dimensions, too */
        count = 0;
    if (!fits || (count && !odb_dtype_bytes(dtype, count, &bytes)) || bytes > TENSOR_MAX_BYTES) {
        char shape[256];
        tensor_shape_print(shape, sizeof shape, rank, dims);
        if (odb_dtype_info(dtype)->class_ == ODB_CLASS_NONE)
            return odb_fail(err, ODB_E_INPUT, "no element type has the number %d", (int)dtype);
        return odb_fail(err, ODB_E_NOMEM, "a tensor of shape %s, %s, is too large for memory",
                        shape, odb_dtype_info(dtype)->name);
    }
    struct odb_tensor *t = tensor_header(ODB_TENSOR);
    if (!t)
        return odb_fail(err, ODB_E_NOMEM, "no memory for one more tensor");
    t->dtype = dtype;
    t->rank = rank;
    if (rank)
        memcpy(t->dims, dims, (size_t)rank * sizeof *dims);
    t->count = count;
    t->bytes = bytes;
    *out = t;
    return ODB_OK;
}

static enum odb_status tensor_allocate(struct odb_tensor **out, enum odb_dtype dtype, int rank,
                                       const int64_t *dims, bool zero, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    ODB_TRY(tensor_begin(&t, dtype, rank, dims, err));
    t->storage = tensor_heap_new(t->bytes, zero, &t->data);
    if (!t->storage) {
        size_t bytes = t->bytes;
        odb_tensor_unref(t);
        return odb_fail(err, ODB_E_NOMEM, "no memory for a tensor of %zu bytes", bytes);
    }
    if (dtype == ODB_STRING) {
        struct tensor_heap *heap = (struct tensor_heap *)t->storage;
        heap->strings = t->data;
        heap->n_strings = t->count;
        for (size_t i = 0; i < t->count; i++)
            heap->strings[i] = (struct odb_str){tensor_nothing, 0};
    }
    *out = t;
    return ODB_OK;
}

enum odb_status odb_tensor_new(struct odb_tensor **out, enum odb_dtype dtype, int rank,
                               const int64_t *dims, struct odb_error *err)
{
    return tensor_allocate(out, dtype, rank, dims, true, err);
}

enum odb_status odb_tensor_new_raw(struct odb_tensor **out, enum odb_dtype dtype, int rank,
                                   const int64_t *dims, struct odb_error *err)
{
    return tensor_allocate(out, dtype, rank, dims, false, err);
}

enum odb_status odb_tensor_new_shape(struct odb_tensor **out, enum odb_dtype dtype, int rank,
                                     const int64_t *dims, struct odb_error *err)
{
    return tensor_begin(out, dtype, rank, dims, err);
}

enum odb_status odb_tensor_view(struct odb_tensor **out, enum odb_dtype dtype, int rank,
                                const int64_t *dims, const void *data, size_t size,
                                struct odb_storage *storage, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    ODB_TRY(tensor_begin(&t, dtype, rank, dims, err));
    if (t->bytes != size) {
        size_t bytes = t->bytes;
        char shape[256];
        odb_shape_text(t, shape, sizeof shape);
        odb_tensor_unref(t);
        return odb_fail(err, ODB_E_INPUT, "%zu bytes where shape %s, %s, needs %zu", size, shape,
                        odb_dtype_info(dtype)->name, bytes);
    }
    t->data = data ? (void *)data : (void *)tensor_nothing;
    t->storage = odb_storage_ref(storage);
    *out = t;
    return ODB_OK;
}

enum odb_status odb_tensor_copy_of(struct odb_tensor **out, enum odb_dtype dtype, int rank,
                                   const int64_t *dims, const void *data, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    ODB_TRY(odb_tensor_new_raw(&t, dtype, rank, dims, err));
    if (dtype != ODB_STRING) {
        if (t->bytes)
            memcpy(t->data, data, t->bytes);
        *out = t;
        return ODB_OK;
    }
    const struct odb_str *strings = data;
    for (size_t i = 0; i < t->count; i++) {
        enum odb_status status = odb_tensor_set_string(t, i, strings[i].data, strings[i].len, err);
        if (status) {
            odb_tensor_unref(t);
            return status;
        }
    }
    *out = t;
    return ODB_OK;
}

enum odb_status odb_tensor_set_string(struct odb_tensor *t, size_t i, const char *data, size_t len,
                                      struct odb_error *err)
{
    ODB_ASSERT(t->dtype == ODB_STRING && t->storage && t->storage->release == tensor_heap_release &&
               i < t->count);
    char *copy = len < TENSOR_MAX_BYTES ? malloc(len + 1) : NULL;
    if (!copy)
        return odb_fail(err, ODB_E_NOMEM, "no memory for a string of %zu bytes", len);
    if (len)
        memcpy(copy, data, len);
    copy[len] = 0; /* for printing */
    struct odb_str *item = (struct odb_str *)t->data + i;
    if (item->data != tensor_nothing)
        free((char *)item->data);
    *item = (struct odb_str){copy, len};
    return ODB_OK;
}

enum odb_status odb_tensor_reshape(struct odb_tensor **out, const struct odb_tensor *t, int rank,
                                   const int64_t *dims, struct odb_error *err)
{
    struct odb_tensor *r = NULL;
    if (t->kind != ODB_TENSOR)
        return odb_fail(err, ODB_E_INPUT, "only a tensor can be reshaped");
    ODB_TRY(tensor_begin(&r, t->dtype, rank, dims, err));
    if (r->count != t->count) {
        char from[256], to[256];
        odb_shape_text(t, from, sizeof from);
        odb_shape_text(r, to, sizeof to);
        odb_tensor_unref(r);
        return odb_fail(err, ODB_E_INPUT, "shape %s cannot be seen as %s", from, to);
    }
    r->data = t->data;
    r->storage = odb_storage_ref(t->storage);
    *out = r;
    return ODB_OK;
}

enum odb_status odb_tensor_cast(struct odb_tensor **out, const struct odb_tensor *t,
                                enum odb_dtype dtype, struct odb_error *err)
{
    if (t->dtype == dtype && t->kind == ODB_TENSOR) {
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    if (t->kind != ODB_TENSOR || t->dtype == ODB_STRING || dtype == ODB_STRING)
        return odb_fail(err, ODB_E_INPUT, "%s values cannot become %s",
                        t->kind == ODB_TENSOR ? odb_dtype_info(t->dtype)->name : "container",
                        odb_dtype_info(dtype)->name);
    if (!t->data)
        return odb_tensor_new_shape(out, dtype, t->rank, t->dims, err);
    /* Packed elements are stored by rewriting bytes, whose spare bits must be defined. */
    ODB_TRY(tensor_allocate(out, dtype, t->rank, t->dims, odb_dtype_info(dtype)->bits < 8, err));
    odb_convert(dtype, (*out)->data, t->dtype, t->data, t->count);
    return ODB_OK;
}

static void tensor_free_items(struct odb_tensor **items, size_t n);

/* What a container has beside its items. */
static void tensor_describe_like(struct odb_tensor *t, const struct odb_tensor *like)
{
    t->dtype = like->dtype;
    t->rank = like->rank;
    t->count = like->count;
    memcpy(t->dims, like->dims, sizeof like->dims);
}

/* For float8e5m2, of which odb_convert() makes the largest number. */
static void tensor_keep_infinities(struct odb_tensor *out, const struct odb_tensor *from)
{
    for (size_t i = 0; out->data && i < out->count; i++) {
        double v = odb_tensor_f64(from, i);
        if (isinf(v))
            ((uint8_t *)out->data)[i] = odb_f64_to_f8(out->dtype, v, false, ODB_E8M0_NEAREST);
    }
}

enum odb_status odb_tensor_cast_floats(struct odb_tensor **out, const struct odb_tensor *t,
                                       enum odb_dtype dtype, struct odb_error *err)
{
    *out = NULL;
    if (t->kind == ODB_TENSOR && odb_dtype_is_float(t->dtype)) {
        ODB_TRY(odb_tensor_cast(out, t, dtype, err));
        if (dtype == ODB_F8E5M2 && t->dtype != dtype)
            tensor_keep_infinities(*out, t);
        return ODB_OK;
    }
    if (t->kind == ODB_TENSOR) {
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    enum odb_status status = ODB_OK;
    struct odb_tensor **items = odb_new_n(struct odb_tensor *, t->n_items + 1);
    for (size_t i = 0; i < t->n_items; i++)
        ODB_TRY_OUT(odb_tensor_cast_floats(&items[i], t->items[i], dtype, err));
    ODB_TRY_OUT(odb_tensor_new_container(out, t->kind, items, t->n_items, err));
    tensor_describe_like(*out, t);
    if (odb_dtype_is_float(t->dtype))
        (*out)->dtype = dtype;
out:
    tensor_free_items(items, t->n_items);
    return status;
}

/* Whether large elements can be written over one by one: then half the memory is not needed. */
static bool tensor_narrows(const struct odb_tensor *t, enum odb_dtype dtype)
{
    bool floats = odb_dtype_is_float(t->dtype) && odb_dtype_is_float(dtype);
    unsigned from = odb_dtype_info(t->dtype)->bits, to = odb_dtype_info(dtype)->bits;
    bool own = atomic_load(&t->refs) == 1 && t->storage && atomic_load(&t->storage->refs) == 1 &&
               t->storage->release == tensor_heap_release;
    return floats && to >= 16 && from >= 2 * to && t->kind == ODB_TENSOR && own &&
           t->count >= TENSOR_LARGE && !t->read_as && !t->n_steps;
}

/* As many again as are done already: those do not reach into the elements that are read. */
static void tensor_narrow_in_place(struct odb_tensor *t, enum odb_dtype dtype)
{
    enum { FIRST = 1024 };
    size_t from = odb_dtype_info(t->dtype)->bits / 8, to = odb_dtype_info(dtype)->bits / 8;
    struct tensor_heap *heap = (struct tensor_heap *)t->storage;
    char first[FIRST * sizeof(double)], *data = t->data;
    odb_convert(dtype, first, t->dtype, data, FIRST);
    memcpy(data, first, FIRST * to);
    for (size_t done = FIRST, n; done < t->count; done += n) {
        n = ODB_MIN(done, t->count - done);
        odb_convert(dtype, data + done * to, t->dtype, data + done * from, n);
    }
    size_t before = (size_t)(data - (char *)heap), size = before + t->count * to;
    heap = odb_blocks_shrink(heap, heap->size, size);
    heap->size = size;
    t->storage = &heap->base;
    t->data = (char *)heap + before;
    t->bytes = t->count * to;
    t->dtype = dtype;
    t->declared = t->held = ODB_UNDEFINED;
}

enum odb_status odb_tensor_narrow(struct odb_tensor **t, enum odb_dtype dtype,
                                  struct odb_error *err)
{
    struct odb_tensor *narrow;
    if (tensor_narrows(*t, dtype)) {
        tensor_narrow_in_place(*t, dtype);
        return ODB_OK;
    }
    ODB_TRY(odb_tensor_cast_floats(&narrow, *t, dtype, err));
    odb_tensor_unref(*t);
    *t = narrow;
    return ODB_OK;
}

static void tensor_free_items(struct odb_tensor **items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(items[i]);
    free(items);
}

static enum odb_status tensor_clone_container(struct odb_tensor **out, const struct odb_tensor *t,
                                              struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    struct odb_tensor **items = odb_new_n(struct odb_tensor *, t->n_items + 1);
    for (size_t i = 0; i < t->n_items; i++)
        ODB_TRY_OUT(odb_tensor_clone(&items[i], t->items[i], err));
    ODB_TRY_OUT(odb_tensor_new_container(out, t->kind, items, t->n_items, err));
    tensor_describe_like(*out, t);
out:
    tensor_free_items(items, t->n_items);
    return status;
}

enum odb_status odb_tensor_clone(struct odb_tensor **out, const struct odb_tensor *t,
                                 struct odb_error *err)
{
    if (t->kind != ODB_TENSOR)
        return tensor_clone_container(out, t, err);
    if (!t->data)
        return odb_tensor_new_shape(out, t->dtype, t->rank, t->dims, err);
    return odb_tensor_copy_of(out, t->dtype, t->rank, t->dims, t->data, err);
}

enum odb_status odb_tensor_new_container(struct odb_tensor **out, enum odb_kind kind,
                                         struct odb_tensor *const *items, size_t n,
                                         struct odb_error *err)
{
    if (kind == ODB_OPTIONAL && n > 1)
        return odb_fail(err, ODB_E_INPUT, "an optional holds one item at most, not %zu", n);
    if ((kind == ODB_SPARSE || kind == ODB_MAP) && n != 2)
        return odb_fail(err, ODB_E_INPUT, "a %s has two parts, not %zu",
                        kind == ODB_MAP ? "map" : "sparse tensor", n);
    struct odb_tensor *t = tensor_header(kind);
    if (t)
        t->items = calloc(n + 1, sizeof(struct odb_tensor *));
    if (!t || !t->items) {
        odb_tensor_unref(t);
        return odb_fail(err, ODB_E_NOMEM, "no memory for a list of %zu tensors", n);
    }
    t->n_items = n;
    for (size_t i = 0; i < n; i++)
        t->items[i] = odb_tensor_ref(items[i]);
    if (n && items[0])
        t->dtype = items[0]->dtype;
    *out = t;
    return ODB_OK;
}

struct odb_tensor *odb_tensor_ref(const struct odb_tensor *t)
{
    struct odb_tensor *shared = (struct odb_tensor *)t;
    if (shared)
        atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
    return shared;
}

void odb_tensor_unref(struct odb_tensor *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1)
        return;
    odb_storage_unref(t->storage);
    tensor_free_items(t->items, t->n_items);
    free(t->read_as);
    free(t->steps);
    odb_blocks_give(t, sizeof *t);
}

void odb_tensor_set_read_as(struct odb_tensor *t, const char *text)
{
    free(t->read_as);
    t->read_as = text && *text ? odb_xstrdup(text) : NULL;
}

void odb_tensor_set_steps(struct odb_tensor *t, int axis, const double *steps, size_t n)
{
    free(t->steps);
    t->steps = n ? odb_xmemdup(steps, n * sizeof *steps) : NULL;
    t->n_steps = n;
    t->steps_axis = axis;
}

bool odb_tensor_take_steps(struct odb_tensor *t, int64_t axis, const double *steps, size_t n)
{
    bool fit = n < 2 ||
               (t->kind == ODB_TENSOR && axis >= 0 && axis < t->rank && (size_t)t->dims[axis] == n);
    for (size_t i = 0; fit && i < n; i++)
        fit = steps[i] > 0 && isfinite(steps[i]);
    if (fit)
        odb_tensor_set_steps(t, n < 2 ? 0 : (int)axis, steps, n);
    return fit;
}

double odb_tensor_step(const struct odb_tensor *t, size_t i)
{
    size_t each = 1;
    if (t->n_steps < 2)
        return t->n_steps ? t->steps[0] : 0;
    for (int k = t->steps_axis + 1; k < t->rank; k++)
        each *= (size_t)t->dims[k];
    return t->steps[i / each % t->n_steps];
}

/* --- looking at tensors ----------------------------------------------------------------------- */

size_t odb_tensor_size(const struct odb_tensor *t)
{
    size_t size = t ? t->bytes : 0;
    for (size_t i = 0; t && i < t->n_items; i++)
        size += odb_tensor_size(t->items[i]);
    return size;
}

bool odb_tensor_same_shape(const struct odb_tensor *a, const struct odb_tensor *b)
{
    return a->rank == b->rank &&
           (a->rank == 0 || !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims));
}

static bool tensor_same_strings(const struct odb_tensor *a, const struct odb_tensor *b)
{
    const struct odb_str *x = a->data, *y = b->data;
    for (size_t i = 0; i < a->count; i++)
        if (x[i].len != y[i].len || (x[i].len && memcmp(x[i].data, y[i].data, x[i].len)))
            return false;
    return true;
}

bool odb_tensor_identical(const struct odb_tensor *a, const struct odb_tensor *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->dtype != b->dtype || !odb_tensor_same_shape(a, b) ||
        a->n_items != b->n_items || !a->data != !b->data)
        return false;
    for (size_t i = 0; i < a->n_items; i++)
        if (!odb_tensor_identical(a->items[i], b->items[i]))
            return false;
    if (!a->data || a->count == 0)
        return true;
    if (a->dtype == ODB_STRING)
        return tensor_same_strings(a, b);
    /* The spare bits behind the last packed element mean nothing. */
    unsigned bits = odb_dtype_info(a->dtype)->bits, spare = 0;
    if (bits < 8)
        spare = (unsigned)((8 - a->count % (8 / bits) * bits) % 8);
    size_t whole = a->bytes - (spare != 0);
    const uint8_t *x = a->data, *y = b->data;
    if (memcmp(x, y, whole))
        return false;
    return !spare || !((x[whole] ^ y[whole]) & (0xff >> spare));
}

enum odb_dtype odb_tensor_real(const struct odb_tensor *t)
{
    enum odb_dtype dtype = ODB_UNDEFINED;
    if (t->kind == ODB_TENSOR)
        return odb_dtype_is_float(t->dtype) ? t->dtype : ODB_UNDEFINED;
    size_t first = t->kind == ODB_MAP, end = t->kind == ODB_SPARSE ? 1 : t->n_items;
    for (size_t i = first; i < end; i++) {
        enum odb_dtype item = t->items[i] ? odb_tensor_real(t->items[i]) : ODB_UNDEFINED;
        if (item == ODB_UNDEFINED || (i > first && item != dtype))
            return ODB_UNDEFINED;
        dtype = item;
    }
    return dtype;
}

double odb_tensor_f64(const struct odb_tensor *t, size_t i)
{
    return odb_load_f64(t->dtype, t->data, i);
}

int64_t odb_tensor_i64(const struct odb_tensor *t, size_t i)
{
    return odb_load_i64(t->dtype, t->data, i);
}

const char *odb_shape_text(const struct odb_tensor *t, char *buf, size_t size)
{
    switch (t->kind) {
    case ODB_SEQUENCE:
        snprintf(buf, size, "sequence of %zu", t->n_items);
        break;
    case ODB_OPTIONAL:
        snprintf(buf, size, t->n_items ? "optional" : "empty optional");
        break;
    case ODB_MAP:
        snprintf(buf, size, "map");
        break;
    default:
        tensor_shape_print(buf, size, t->rank, t->dims);
    }
    return buf;
}
