/* SPDX-License-Identifier: MIT
 *
 * Einsum: operands are contracted two at a time, from the left. A contraction sorts the labels of
 * its two terms into four groups - in both and needed later (batch), in both and not needed
 * (summed), in one only - packs the terms into matrices in that order, and multiplies. A label that
 * only one term has and that is not needed is summed by contracting with a vector of ones.
 *
 * A term is a pointer and one stride per label, so repeated labels (diagonals) and broadcasting
 * are strides too. Integers are computed in 64 bits, where sums of products wrap as in any
 * narrower type.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/linear/matmul.h"
#include "kernels/core/row.h"
#include "kernels/core/stride.h"

/* Labels by number: A-Z, a-z, then the dimensions of an ellipsis, aligned on the right. */
#define EINSUM_DOTS 52
#define EINSUM_LABELS (EINSUM_DOTS + ODB_MAX_RANK)

struct einsum_term {
    const void *data; /* borrowed: own or a tensor */
    void *own;        /* owned */
    bool has[EINSUM_LABELS];
    int64_t stride[EINSUM_LABELS];
};

struct einsum {
    int64_t size[EINSUM_LABELS];
    int seen[EINSUM_LABELS]; /* times in the inputs */
    int dots;                /* dimensions of the ellipsis */
    int out[EINSUM_LABELS], n_out;
    int labels[ODB_MAX_RANK]; /* of the term being read */
};

/* An ordered choice of labels. */
struct einsum_list {
    int n;
    int label[EINSUM_LABELS];
    size_t count; /* product of their sizes */
};

/* --- the equation ----------------------------------------------------------------------------- */

static int einsum_label(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

/* Reads one term, up to a comma, an arrow or the end, into labels; -1 stands for the ellipsis.
 * Returns what follows, NULL on a bad character. */
static const char *einsum_scan(const char *s, int *labels, int *n, bool *dots)
{
    *n = 0;
    *dots = false;
    for (; *s != '\0' && *s != ',' && strncmp(s, "->", 2) != 0; s++) {
        if (*s == ' ')
            continue;
        if (strncmp(s, "...", 3) == 0 && !*dots) {
            *dots = true;
            s += 2;
            labels[(*n)++] = -1;
        } else if (einsum_label(*s) >= 0 && *n < EINSUM_LABELS - 1) {
            labels[(*n)++] = einsum_label(*s);
        } else {
            return NULL;
        }
    }
    return s;
}

/* Gives dimension d of input i its label, and the label its size. */
static enum odb_status einsum_bind(struct odb_kern *k, struct einsum *e, int i, int d, int label)
{
    int64_t dim = k->in[i]->dims[d], *size = &e->size[label];

    e->seen[label]++;
    e->labels[d] = label;
    if (e->seen[label] == 1 || *size == 1)
        *size = dim;
    else if (dim != *size && dim != 1)
        return ODB_KERN_FAIL(k,
                             "dimension %d of input %d is %lld where another of its label is "
                             "%lld",
                             d, i, (long long)dim, (long long)*size);
    return ODB_OK;
}

/* Labels of input i, one per dimension, into e->labels. */
static enum odb_status einsum_operand(struct odb_kern *k, struct einsum *e, int i,
                                      const int *labels, int n, bool dots)
{
    const struct odb_tensor *x = k->in[i];
    int hidden = x->rank - n + dots, d = 0;

    if (x->dtype != k->in[0]->dtype)
        return ODB_KERN_FAIL(k, "inputs of types %s and %s", odb_dtype_info(k->in[0]->dtype)->name,
                             odb_dtype_info(x->dtype)->name);
    if (hidden < 0 || (!dots && hidden > 0))
        return ODB_KERN_FAIL(k, "term %d does not fit input %d of rank %d", i, i, x->rank);
    e->dots = dots ? ODB_MAX(e->dots, hidden) : e->dots;
    for (int t = 0; t < n; t++) {
        for (int h = 0; labels[t] < 0 && h < hidden; h++)
            ODB_TRY(einsum_bind(k, e, i, d++, EINSUM_LABELS - hidden + h));
        if (labels[t] >= 0)
            ODB_TRY(einsum_bind(k, e, i, d++, labels[t]));
    }
    return ODB_OK;
}

static void einsum_push_dots(struct einsum *e)
{
    for (int h = 0; h < e->dots; h++)
        e->out[e->n_out++] = EINSUM_LABELS - e->dots + h;
}

/* Output labels: as written, or the ellipsis and then labels that occur once, in order. */
static enum odb_status einsum_output(struct odb_kern *k, struct einsum *e, const char *s)
{
    int labels[EINSUM_LABELS], n;
    bool dots, used[EINSUM_LABELS] = {false};

    if (*s == '\0') {
        einsum_push_dots(e);
        for (int l = 0; l < EINSUM_DOTS; l++)
            if (e->seen[l] == 1)
                e->out[e->n_out++] = l;
        return ODB_OK;
    }
    s = einsum_scan(s + 2, labels, &n, &dots);
    if (s == NULL || *s != '\0')
        return ODB_KERN_FAIL(k, "the equation's output term is malformed");
    for (int t = 0; t < n; t++) {
        if (labels[t] < 0) {
            einsum_push_dots(e);
            continue;
        }
        if (e->seen[labels[t]] == 0 || used[labels[t]])
            return ODB_KERN_FAIL(k, "label %d of the output is in no input, or there twice", t);
        used[labels[t]] = true;
        e->out[e->n_out++] = labels[t];
    }
    return ODB_OK;
}

/* Reads the equation; terms (may be NULL) get their labels and strides. */
static enum odb_status einsum_read(struct odb_kern *k, struct einsum *e, struct einsum_term *terms)
{
    const char *equation = odb_kern_string(k, "equation", ""), *s = equation;
    int labels[EINSUM_LABELS], n;
    int64_t dense[ODB_MAX_RANK];
    bool dots;

    for (int i = 0; i < k->n_in; i++) {
        if (k->in[i] == NULL)
            return ODB_KERN_FAIL(k, "input %d is missing", i);
        s = einsum_scan(s, labels, &n, &dots);
        if (s == NULL || (*s == ',') != (i + 1 < k->n_in))
            return ODB_KERN_FAIL(k, "equation \"%s\" does not fit %d inputs", equation, k->n_in);
        s += *s == ',';
        ODB_TRY(einsum_operand(k, e, i, labels, n, dots));
        odb_stride_dense(k->in[i]->rank, k->in[i]->dims, dense);
        for (int d = 0; terms != NULL && d < k->in[i]->rank; d++) {
            terms[i].has[e->labels[d]] = true;
            terms[i].stride[e->labels[d]] += k->in[i]->dims[d] == 1 ? 0 : dense[d];
        }
    }
    return einsum_output(k, e, s);
}

static enum odb_status einsum_infer(struct odb_kern *k)
{
    struct einsum e = {.n_out = 0};
    int64_t dims[EINSUM_LABELS];

    ODB_TRY(einsum_read(k, &e, NULL));
    for (int i = 0; i < e.n_out; i++)
        dims[i] = e.size[e.out[i]];
    return odb_kern_outline(k, 0, k->in[0]->dtype, e.n_out, dims);
}

/* --- contraction ------------------------------------------------------------------------------ */

static enum odb_status einsum_choose(struct odb_kern *k, const struct einsum *e,
                                     struct einsum_list *list, int label)
{
    list->label[list->n++] = label;
    if (!odb_size_mul(list->count, (uint64_t)e->size[label], &list->count))
        return odb_fail(k->err, ODB_E_NOMEM, "a product in between is too large");
    return ODB_OK;
}

/* Larger strides first, so that packing often finds things as they should be. */
static void einsum_sort(struct einsum_list *list, const struct einsum_term *t)
{
    for (int i = 1; i < list->n; i++)
        for (int j = i; j > 0; j--) {
            int *a = &list->label[j - 1], *b = &list->label[j], swap = *a;
            if (t->stride[*a] >= t->stride[*b])
                break;
            *a = *b;
            *b = swap;
        }
}

/* The term's elements as a dense array over three lists of labels: the term's own memory where it
 * is that already, else a copy (*own). */
static enum odb_status einsum_pack(struct odb_kern *k, const struct einsum *e,
                                   const struct einsum_term *t,
                                   const struct einsum_list *const lists[3], size_t size,
                                   const void **out, void **own)
{
    struct odb_stride s = {.rank = 0};
    size_t count = 1;
    bool dense = true;

    for (int g = 0; g < 3; g++)
        for (int i = 0; i < lists[g]->n; i++) {
            int label = lists[g]->label[i];
            if (s.rank == ODB_STRIDE_RANK)
                return ODB_KERN_UNSUPPORTED(k, "more than %d labels at once", ODB_STRIDE_RANK);
            s.dims[s.rank] = e->size[label];
            s.src[s.rank++] = t->stride[label];
        }
    odb_stride_dense(s.rank, s.dims, s.dst);
    for (int i = 0; i < s.rank; i++) {
        dense = dense && (s.dims[i] <= 1 || s.dst[i] == s.src[i]);
        if (!odb_size_mul(count, (uint64_t)s.dims[i], &count) || count > SIZE_MAX / 64)
            return odb_fail(k->err, ODB_E_NOMEM, "a product in between is too large");
    }
    *own = NULL;
    *out = t->data;
    if (dense)
        return ODB_OK;
    *own = malloc(count * size + 1);
    if (*own == NULL)
        return odb_fail(k->err, ODB_E_NOMEM, "no memory for %zu elements in between", count);
    odb_stride_copy(&s, size, *own, t->data);
    *out = *own;
    return ODB_OK;
}

static void einsum_multiply_cells(enum odb_dtype dtype, size_t n, const void *a, const void *b,
                                  void *c)
{
    for (size_t i = 0; i < n; i++) {
        if (dtype == ODB_F32)
            ((odb_f32 *)c)[i] = ((const odb_f32 *)a)[i] * ((const odb_f32 *)b)[i];
        else if (dtype == ODB_F64)
            ((odb_f64 *)c)[i] = ((const odb_f64 *)a)[i] * ((const odb_f64 *)b)[i];
        else
            ((odb_u64 *)c)[i] = ((const odb_u64 *)a)[i] * ((const odb_u64 *)b)[i];
    }
}

/* c[batch, m, n] = a[batch, m, k] * b[batch, k, n]; c is zero on entry. */
static enum odb_status einsum_multiply(struct odb_kern *k, enum odb_dtype dtype, size_t batch,
                                       size_t m, size_t n, size_t inner, const void *a,
                                       const void *b, void *c)
{
    struct odb_gemm g = {.dtype = dtype,
                         .sequential = k->sequential,
                         .m = m,
                         .n = n,
                         .k = inner,
                         .a = a,
                         .b = b,
                         .c = c,
                         .lda = inner,
                         .ldb = n,
                         .ldc = n,
                         .alpha = 1};
    bool ok = true;

    if (batch * m * n == 0 || inner == 0)
        return ODB_OK;
    if (m == 1 && n == 1 && inner == 1) {
        einsum_multiply_cells(dtype, batch, a, b, c);
        return ODB_OK;
    }
    size_t *at = malloc(3 * batch * sizeof *at);
    for (size_t i = 0; at != NULL && i < batch; i++) {
        at[i] = i * m * inner;
        at[batch + i] = i * inner * n;
        at[2 * batch + i] = i * m * n;
    }
    ok = at != NULL && odb_gemm_batch(&g, batch, at, at + batch, at + 2 * batch);
    free(at);
    return ok ? ODB_OK : odb_fail(k->err, ODB_E_NOMEM, "no memory for %zu products", batch);
}

/* The four groups of labels of a contraction. */
struct einsum_groups {
    struct einsum_list batch, left, right, sum;
};

static enum odb_status einsum_sort_labels(struct odb_kern *k, const struct einsum *e,
                                          const struct einsum_term *a, const struct einsum_term *b,
                                          const bool *needed, struct einsum_groups *g)
{
    *g = (struct einsum_groups){{.count = 1}, {.count = 1}, {.count = 1}, {.count = 1}};
    for (int l = 0; l < EINSUM_LABELS; l++) {
        if (!a->has[l] && !b->has[l])
            continue;
        struct einsum_list *to = !b->has[l]   ? &g->left
                                 : !a->has[l] ? &g->right
                                 : needed[l]  ? &g->batch
                                              : &g->sum;
        ODB_TRY(einsum_choose(k, e, to, l));
    }
    einsum_sort(&g->batch, a);
    einsum_sort(&g->left, a);
    einsum_sort(&g->right, b);
    einsum_sort(&g->sum, a);
    return ODB_OK;
}

/* *a becomes the contraction of *a and *b; labels that are not needed later are summed. */
static enum odb_status einsum_contract(struct odb_kern *k, const struct einsum *e,
                                       enum odb_dtype dtype, struct einsum_term *a,
                                       const struct einsum_term *b, const bool *needed)
{
    size_t size = odb_dtype_info(dtype)->bits / 8, count;
    struct einsum_term c = {.own = NULL};
    enum odb_status status;
    void *own_a = NULL, *own_b = NULL;
    const void *pa, *pb;
    struct einsum_groups g;

    ODB_TRY(einsum_sort_labels(k, e, a, b, needed, &g));
    ODB_TRY_OUT(einsum_pack(k, e, a, (const struct einsum_list *[]){&g.batch, &g.left, &g.sum},
                            size, &pa, &own_a));
    ODB_TRY_OUT(einsum_pack(k, e, b, (const struct einsum_list *[]){&g.batch, &g.sum, &g.right},
                            size, &pb, &own_b));
    bool fits = odb_size_mul(g.batch.count, g.left.count, &count) &&
                odb_size_mul(count, g.right.count, &count) && count < SIZE_MAX / 64;
    c.own = fits ? calloc(count + 1, size) : NULL;
    c.data = c.own;
    if (c.own == NULL) {
        status = odb_fail(k->err, ODB_E_NOMEM, "no memory for a product in between");
        goto out;
    }
    ODB_TRY_OUT(einsum_multiply(k, dtype, g.batch.count, g.left.count, g.right.count, g.sum.count,
                                pa, pb, c.own));
    int64_t step = 1;
    const struct einsum_list *order[] = {&g.right, &g.left, &g.batch};
    for (size_t o = 0; o < ODB_COUNT(order); o++)
        for (int i = order[o]->n - 1; i >= 0; i--) {
            int label = order[o]->label[i];
            c.has[label] = true;
            c.stride[label] = step;
            step *= ODB_MAX(e->size[label], 1);
        }
    free(a->own);
    *a = c;
    c.own = NULL;
out:
    free(c.own);
    free(own_a);
    free(own_b);
    return status;
}

/* Sums what only t has and nothing else needs: a contraction with one 1, repeated by strides. */
static enum odb_status einsum_sum(struct odb_kern *k, const struct einsum *e, enum odb_dtype dtype,
                                  struct einsum_term *t, const bool *needed)
{
    unsigned char one[8];
    struct einsum_term ones = {.data = one};
    bool any = false;

    odb_store_i64(dtype, one, 0, 1);
    for (int l = 0; l < EINSUM_LABELS; l++)
        any |= ones.has[l] = t->has[l] && !needed[l];
    return any ? einsum_contract(k, e, dtype, t, &ones, needed) : ODB_OK;
}

/* Which labels the output or any term from `from` on, other than `except`, needs. */
static void einsum_needed(const struct einsum *e, const struct einsum_term *terms, int from, int n,
                          int except, bool *needed)
{
    memset(needed, 0, EINSUM_LABELS * sizeof *needed);
    for (int i = 0; i < e->n_out; i++)
        needed[e->out[i]] = true;
    for (int t = from; t < n; t++)
        for (int l = 0; t != except && l < EINSUM_LABELS; l++)
            needed[l] = needed[l] || terms[t].has[l];
}

static enum odb_status einsum_contract_all(struct odb_kern *k, const struct einsum *e,
                                           enum odb_dtype dtype, struct einsum_term *terms)
{
    bool needed[EINSUM_LABELS];

    for (int t = 0; t < k->n_in; t++) {
        einsum_needed(e, terms, 0, k->n_in, t, needed);
        ODB_TRY(einsum_sum(k, e, dtype, &terms[t], needed));
    }
    for (int t = 1; t < k->n_in; t++) {
        einsum_needed(e, terms, t + 1, k->n_in, -1, needed);
        ODB_TRY(einsum_contract(k, e, dtype, &terms[0], &terms[t], needed));
        ODB_TRY(einsum_sum(k, e, dtype, &terms[0], needed));
    }
    return ODB_OK;
}

/* The last term, in the output's order and type. */
static enum odb_status einsum_finish(struct odb_kern *k, const struct einsum *e,
                                     enum odb_dtype dtype, const struct einsum_term *t)
{
    struct odb_tensor *y = k->out[0], *wide = NULL;
    struct odb_stride s = {.rank = e->n_out};

    for (int i = 0; i < e->n_out; i++) {
        s.dims[i] = e->size[e->out[i]];
        s.src[i] = t->stride[e->out[i]];
    }
    odb_stride_dense(s.rank, s.dims, s.dst);
    if (dtype == y->dtype) {
        odb_stride_copy(&s, odb_dtype_info(dtype)->bits / 8, y->data, t->data);
        return ODB_OK;
    }
    ODB_TRY(odb_tensor_new_raw(&wide, dtype, y->rank, y->dims, k->err));
    odb_stride_copy(&s, odb_dtype_info(dtype)->bits / 8, wide->data, t->data);
    odb_convert(y->dtype, y->data, dtype, wide->data, y->count);
    odb_tensor_unref(wide);
    return ODB_OK;
}

static enum odb_status einsum_run(struct odb_kern *k)
{
    enum odb_dtype dtype = k->in[0]->dtype;
    bool real = dtype == ODB_F32 || dtype == ODB_F64;
    struct einsum_term *terms = odb_new_n(struct einsum_term, k->n_in);
    struct odb_tensor **wide = odb_new_n(struct odb_tensor *, k->n_in);
    struct einsum e = {.n_out = 0};
    enum odb_status status;

    ODB_TRY_OUT(einsum_read(k, &e, terms));
    dtype = real ? dtype : ODB_I64;
    for (int i = 0; i < k->n_in; i++) {
        ODB_TRY_OUT(odb_tensor_cast(&wide[i], k->in[i], dtype, k->err));
        terms[i].data = wide[i]->data;
    }
    if (k->out[0]->count > 0)
        ODB_TRY_OUT(einsum_contract_all(k, &e, dtype, terms));
    if (k->out[0]->count > 0)
        status = einsum_finish(k, &e, dtype, &terms[0]);
out:
    for (int i = 0; i < k->n_in; i++) {
        free(terms[i].own);
        odb_tensor_unref(wide[i]);
    }
    free(terms);
    free(wide);
    return status;
}

static const struct odb_attr_spec einsum_attrs[] = {
    {.name = "equation", .type = ODB_ATTR_STRING, .required = true}, {.name = NULL}};

const struct odb_op odb_ops_einsum[] = {
    ODB_ONNX("Einsum", 12, ODB_ARITY(1, ODB_MANY), ODB_ARITY(1, 1), ODB_OP_REAL | ODB_OP_MATMUL,
             einsum_attrs, einsum_infer, einsum_run, ODB_T_NUMBER, ODB_NAMES("Inputs...", "Output"),
             ODB_HALVES(12, 0), ODB_WORK(einsum)),
    {.name = NULL},
};
