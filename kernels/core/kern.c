/* SPDX-License-Identifier: MIT
 *
 * What every kernel leans on: its attributes and small inputs, the description of its outputs,
 * and the table of all operators.
 */
#include "kernels/core/kern.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* --- inputs and attributes ------------------------------------------------------------------ */

const struct odb_tensor *odb_kern_in(const struct odb_kern *k, int i)
{
    return i < k->n_in ? k->in[i] : NULL;
}

enum odb_status odb_kern_expect(struct odb_kern *k, int i, int rank, const int64_t *dims)
{
    const struct odb_tensor *t = odb_kern_in(k, i);
    struct odb_tensor want = {.rank = rank};
    char a[200], b[200];
    memcpy(want.dims, dims, (size_t)rank * sizeof *dims);
    if (!t || odb_tensor_same_shape(t, &want))
        return ODB_OK;
    return ODB_KERN_FAIL(k, "input %d has shape %s, not %s", i, odb_shape_text(t, a, sizeof a),
                         odb_shape_text(&want, b, sizeof b));
}

bool odb_kern_has(const struct odb_kern *k, const char *name)
{
    return odb_attrs_find(&k->attrs, name) != NULL;
}

/* Text of the schema's default, NULL when the row gives none. */
static const char *kern_default(const struct odb_kern *k, const char *name)
{
    const struct odb_attr_spec *spec = odb_op_attr(k->op, name);
    return spec ? spec->def : NULL;
}

int64_t odb_kern_int(const struct odb_kern *k, const char *name, int64_t fallback)
{
    const struct odb_attr *attr = odb_attrs_find(&k->attrs, name);
    if (attr && attr->type == ODB_ATTR_INT)
        return attr->i;
    const char *text = kern_default(k, name);
    return text ? strtoll(text, NULL, 10) : fallback;
}

double odb_kern_float(const struct odb_kern *k, const char *name, double fallback)
{
    const struct odb_attr *attr = odb_attrs_find(&k->attrs, name);
    if (attr && attr->type == ODB_ATTR_FLOAT)
        return attr->f;
    const char *text = kern_default(k, name);
    return text ? strtof(text, NULL) : fallback; /* attributes are float32 in the file */
}

const char *odb_kern_string(const struct odb_kern *k, const char *name, const char *fallback)
{
    const struct odb_attr *attr = odb_attrs_find(&k->attrs, name);
    if (attr && attr->type == ODB_ATTR_STRING)
        return attr->s.data;
    const char *text = kern_default(k, name);
    return text ? text : fallback;
}

const int64_t *odb_kern_ints(const struct odb_kern *k, const char *name, size_t *n)
{
    const struct odb_attr *attr = odb_attrs_find(&k->attrs, name);
    bool there = attr && attr->type == ODB_ATTR_INTS;
    *n = there ? attr->n : 0;
    return there ? attr->ints : NULL;
}

const odb_f32 *odb_kern_floats(const struct odb_kern *k, const char *name, size_t *n)
{
    const struct odb_attr *attr = odb_attrs_find(&k->attrs, name);
    bool there = attr && attr->type == ODB_ATTR_FLOATS;
    *n = there ? attr->n : 0;
    return there ? attr->floats : NULL;
}

const struct odb_str *odb_kern_strings(const struct odb_kern *k, const char *name, size_t *n)
{
    const struct odb_attr *attr = odb_attrs_find(&k->attrs, name);
    bool there = attr && attr->type == ODB_ATTR_STRINGS;
    *n = there ? attr->n : 0;
    return there ? attr->strings : NULL;
}

const struct odb_tensor *odb_kern_tensor(const struct odb_kern *k, const char *name)
{
    const struct odb_attr *attr = odb_attrs_find(&k->attrs, name);
    return attr && attr->type == ODB_ATTR_TENSOR && attr->n ? attr->tensors[0] : NULL;
}

enum odb_status odb_kern_values(struct odb_kern *k, int i, int64_t *values, size_t max, size_t *n)
{
    const struct odb_tensor *t = odb_kern_in(k, i);
    *n = 0;
    if (!t)
        return ODB_OK;
    if (t->count > max)
        return ODB_KERN_FAIL(k, "input %d has %zu elements; at most %zu make sense here", i,
                             t->count, max);
    if (!t->data)
        return t->count ? ODB_SKIPPED : ODB_OK;
    for (size_t e = 0; e < t->count; e++)
        values[e] = odb_tensor_i64(t, e);
    *n = t->count;
    return ODB_OK;
}

/* --- outputs -------------------------------------------------------------------------------- */

enum odb_status odb_kern_outline(struct odb_kern *k, int i, enum odb_dtype dtype, int rank,
                                 const int64_t *dims)
{
    if (i >= k->n_out)
        return ODB_OK; /* an optional output that the node leaves out */
    if (rank < 0 || rank > ODB_MAX_RANK)
        return ODB_KERN_FAIL(k, "output %d would have %d dimensions; at most %d are supported", i,
                             rank, ODB_MAX_RANK);
    struct odb_outline *line = &k->outline[i];
    line->dtype = dtype;
    line->rank = rank;
    line->alias = 0;
    line->set = true;
    for (int d = 0; d < rank; d++) {
        if (dims[d] < 0)
            return ODB_KERN_FAIL(k, "output %d would have dimension %d = %lld", i, d,
                                 (long long)dims[d]);
        line->dims[d] = dims[d];
    }
    return ODB_OK;
}

enum odb_status odb_kern_outline_like(struct odb_kern *k, int i, int j)
{
    const struct odb_tensor *t = odb_kern_in(k, j);
    if (!t)
        return ODB_KERN_FAIL(k, "input %d is missing", j);
    return odb_kern_outline(k, i, t->dtype, t->rank, t->dims);
}

enum odb_status odb_infer_same(struct odb_kern *k)
{
    return odb_kern_outline_like(k, 0, 0);
}

enum odb_status odb_kern_no_memory(const struct odb_kern *k)
{
    return odb_fail(k->err, ODB_E_NOMEM, "no memory to compute %s in", k->op->name);
}

enum odb_status odb_kern_output(struct odb_kern *k, int i, enum odb_dtype dtype, int rank,
                                const int64_t *dims)
{
    ODB_TRY(odb_kern_outline(k, i, dtype, rank, dims));
    if (i >= k->n_out || !k->wanted[i])
        return ODB_OK;
    odb_tensor_unref(k->out[i]);
    k->out[i] = NULL;
    return odb_tensor_new_raw(&k->out[i], dtype, rank, dims, k->err);
}

/* --- axes and shapes -------------------------------------------------------------------------- */

size_t odb_dims_product(const int64_t *dims, int from, int to)
{
    size_t product = 1;
    for (int d = from; d < to; d++)
        product *= (size_t)dims[d];
    return product;
}

enum odb_status odb_kern_axis(struct odb_kern *k, int64_t axis, int rank, bool allow_end, int *out)
{
    int64_t limit = allow_end ? rank : rank - 1;
    int64_t at = axis < 0 ? axis + rank + (allow_end && axis < -rank ? 1 : 0) : axis;
    if (at < 0 || at > limit)
        return ODB_KERN_FAIL(k, "axis %lld does not fit a tensor of rank %d", (long long)axis,
                             rank);
    *out = (int)at;
    return ODB_OK;
}

enum odb_status odb_kern_axes(struct odb_kern *k, int input, const char *attr, int rank, int *axes,
                              int *n)
{
    int64_t raw[ODB_MAX_RANK];
    size_t count = 0;
    bool seen[ODB_MAX_RANK] = {false};
    *n = 0;
    if (input >= 0 && odb_kern_in(k, input)) {
        ODB_TRY(odb_kern_values(k, input, raw, ODB_MAX_RANK, &count));
    } else if (attr) {
        const int64_t *ints = odb_kern_ints(k, attr, &count);
        if (count > ODB_MAX_RANK)
            return ODB_KERN_FAIL(k, "%zu axes for a tensor of rank %d", count, rank);
        if (count)
            memcpy(raw, ints, count * sizeof *raw);
    }
    for (size_t i = 0; i < count; i++) {
        int axis = 0;
        ODB_TRY(odb_kern_axis(k, raw[i], rank, false, &axis));
        seen[axis] = true;
    }
    for (int d = 0; d < rank; d++)
        if (seen[d])
            axes[(*n)++] = d;
    return ODB_OK;
}

enum odb_status odb_kern_broadcast(struct odb_kern *k, const struct odb_tensor *a,
                                   const struct odb_tensor *b, int *rank, int64_t *dims)
{
    char text_a[200], text_b[200];
    *rank = ODB_MAX(a->rank, b->rank);
    for (int d = 0; d < *rank; d++) {
        int in_a = d - (*rank - a->rank), in_b = d - (*rank - b->rank);
        int64_t da = in_a < 0 ? 1 : a->dims[in_a], db = in_b < 0 ? 1 : b->dims[in_b];
        if (da != db && da != 1 && db != 1)
            return ODB_KERN_FAIL(k, "shapes %s and %s do not broadcast",
                                 odb_shape_text(a, text_a, sizeof text_a),
                                 odb_shape_text(b, text_b, sizeof text_b));
        dims[d] = da == 1 ? db : da;
    }
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

#define ODB_FAMILY(name) extern const struct odb_op odb_ops_##name[];
#include "kernels/core/families.def"
#undef ODB_FAMILY

static const struct odb_op *const kern_families[] = {
#define ODB_FAMILY(name) odb_ops_##name,
#include "kernels/core/families.def"
#undef ODB_FAMILY
};

#define KERN_HASHED 32  /* bytes of a name */
#define KERN_SLOTS 4096 /* a power of two, several times as many as there are operators */

/* The rows of one operator. */
struct kern_slot {
    const struct odb_op *const *rows; /* NULL: the slot is free */
    size_t n;
};

/* All rows, sorted by domain, name, since, and an index by hash: built once, on first use. */
static const struct odb_op **kern_rows;
static size_t kern_n_rows;
static struct kern_slot kern_slots[KERN_SLOTS];

static int kern_name_order(const char *domain, const char *name, const struct odb_op *op)
{
    int order = strcmp(domain, op->domain);
    return order ? order : strcmp(name, op->name);
}

static int kern_row_order(const void *a, const void *b)
{
    const struct odb_op *x = *(const struct odb_op *const *)a;
    const struct odb_op *y = *(const struct odb_op *const *)b;
    int order = kern_name_order(x->domain, x->name, y);
    return order ? order : x->since - y->since;
}

/* FNV-1a. It may be known beforehand, for the names in the slots are ours; of a stranger's long
 * name the beginning is enough. */
static uint32_t kern_hash(uint32_t hash, const char *text)
{
    for (size_t i = 0; i < KERN_HASHED && text[i]; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

/* The slot of an operator, or the free one where it would be. */
static struct kern_slot *kern_slot(const char *domain, const char *name)
{
    uint32_t hash = kern_hash(kern_hash(2166136261u, domain), name);
    for (size_t i = hash ^ hash >> 16;; i++) {
        struct kern_slot *slot = &kern_slots[i % KERN_SLOTS];
        if (!slot->rows || kern_name_order(domain, name, slot->rows[0]) == 0)
            return slot;
    }
}

static void kern_build_rows(void)
{
    ODB_VEC(const struct odb_op *) rows = {0};
    for (size_t f = 0; f < ODB_COUNT(kern_families); f++)
        for (const struct odb_op *op = kern_families[f]; op->name; op++)
            odb_push(&rows, op);
    if (rows.n)
        qsort(rows.items, rows.n, sizeof *rows.items, kern_row_order);
    kern_rows = rows.items;
    kern_n_rows = rows.n;
    for (size_t i = 0; i < rows.n; i++) {
        struct kern_slot *slot = kern_slot(rows.items[i]->domain, rows.items[i]->name);
        slot->rows = slot->rows ? slot->rows : &kern_rows[i];
        slot->n++;
    }
}

const struct odb_op *const *odb_op_table(size_t *n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, kern_build_rows);
    *n = kern_n_rows;
    return kern_rows;
}

const struct odb_op *const *odb_op_rows(const char *domain, const char *name, size_t *n)
{
    (void)odb_op_table(n);
    const struct kern_slot *slot = kern_slot(domain, name);
    *n = slot->n;
    return slot->rows;
}

/* Rows that were added, the newest first. A list that only grows needs no lock to be read. */
struct kern_added {
    const struct odb_op *op;
    const struct kern_added *next;
};
static _Atomic(const struct kern_added *) kern_added;

void odb_op_add(const struct odb_op *op)
{
    struct kern_added *added = odb_new(struct kern_added);
    added->op = op;
    added->next = atomic_load(&kern_added);
    while (!atomic_compare_exchange_weak(&kern_added, &added->next, added))
        ;
}

const struct odb_op *odb_op_added(size_t i)
{
    const struct kern_added *a = atomic_load(&kern_added);
    while (a && i--)
        a = a->next;
    return a ? a->op : NULL;
}

static const struct odb_op *kern_find_added(const char *domain, const char *name, int opset)
{
    const struct odb_op *found = NULL;
    for (const struct kern_added *a = atomic_load(&kern_added); a; a = a->next)
        if (kern_name_order(domain, name, a->op) == 0 && a->op->since <= opset &&
            (!found || a->op->since > found->since))
            found = a->op;
    return found;
}

const struct odb_op *odb_op_find(const char *domain, const char *name, int opset)
{
    size_t n;
    if (opset < 1) /* the model imports no version of the domain: the newest, as elsewhere */
        opset = INT_MAX;
    const struct odb_op *found = kern_find_added(domain, name, opset);
    if (found)
        return found;
    const struct odb_op *const *rows = odb_op_rows(domain, name, &n);
    for (size_t i = 0; i < n; i++)
        if (rows[i]->since <= opset)
            found = rows[i];
    return found && found->run ? found : NULL;
}
