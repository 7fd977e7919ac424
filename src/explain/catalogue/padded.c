/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/catalogue/padded.h"

#include <string.h>

#include "explain/catalogue/attribute.h"

/* Where an element of the padding comes from: i is an index of the input's axis, below 0 or at
 * least n; -1: it is zero. */
typedef int64_t padded_fn(int64_t i, int64_t n);

static int64_t padded_zero(int64_t i, int64_t n)
{
    (void)i, (void)n;
    return -1;
}
static int64_t padded_edge(int64_t i, int64_t n)
{
    return i < 0 ? 0 : n - 1;
}
static int64_t padded_wrap(int64_t i, int64_t n)
{
    return (i % n + n) % n;
}
static int64_t padded_reflect(int64_t i, int64_t n)
{
    int64_t at = n > 1 ? padded_wrap(i, 2 * (n - 1)) : 0;
    return at < n ? at : 2 * (n - 1) - at;
}

/* A pool counts all of these, as it then has no padding of its own. */
static const struct padded_mode {
    const char *ops, *name, *text;
    padded_fn *from;
} padded_modes[] = {
    {"MaxPool|QLinearConv|ConvInteger", "zeros", "as if padding counted as zeros", padded_zero},
    {"", "edge", "as if padding repeated the elements at the edge", padded_edge},
    {"", "reflect", "as if padding mirrored the elements inside the edge", padded_reflect},
    {"", "wrap", "as if padding went round to the other end", padded_wrap},
};

/* False: there is nothing that is padded. */
static bool padded_find(const struct accused *s, int64_t *pads, size_t *n)
{
    const struct odb_tensor *x = accused_in(s, 0);
    bool any = false;
    if (!x || !x->count || !attribute_pads(s, pads, n))
        return false;
    for (size_t i = 0; i < *n; i++) {
        if (pads[i] < 0)
            return false;
        any |= pads[i] > 0;
    }
    return any;
}

enum choice padded_choose(const struct accused *s, size_t k, struct variant *v)
{
    int64_t pads[2 * VARIANT_LIST];
    size_t n;
    if (k >= ODB_COUNT(padded_modes) || !padded_find(s, pads, &n))
        return CHOICE_END;
    if (!variant_is_for(padded_modes[k].ops, s->node->op_type))
        return CHOICE_SKIP;
    return variant_made(v, k, padded_modes[k].name, padded_modes[k].text);
}

/* Element i of a tensor with padding around its spatial axes; -1: it is zero. */
struct padded {
    const struct odb_tensor *of;
    const int64_t *dims, *pads;
    padded_fn *from;
};

static int64_t padded_at(const void *payload, size_t i)
{
    const struct padded *p = payload;
    int64_t at = 0, step = 1;
    for (int k = p->of->rank; k-- > 0;) {
        int64_t n = p->of->dims[k], here = (int64_t)(i % (size_t)p->dims[k]);
        i /= (size_t)p->dims[k];
        here -= k < 2 ? 0 : p->pads[k - 2];
        if (here < 0 || here >= n)
            here = p->from(here, n);
        if (here < 0)
            return -1;
        at += here * step;
        step *= n;
    }
    return at;
}

enum odb_status padded_change(const struct variant *v, const struct accused *s, struct change *c,
                              struct odb_error *err)
{
    const struct odb_tensor *x = c->in[0];
    int64_t dims[ODB_MAX_RANK], pads[2 * VARIANT_LIST];
    struct odb_tensor *t = NULL;
    size_t n;
    if (!padded_find(s, pads, &n) || x->rank != (int)n / 2 + 2)
        return ODB_SKIPPED;
    for (int k = 0; k < x->rank; k++)
        dims[k] = x->dims[k] + (k < 2 ? 0 : pads[k - 2] + pads[(size_t)k - 2 + n / 2]);
    const struct padded padded = {x, dims, pads, padded_modes[v->at].from};
    ODB_TRY(tensor_gather_into(&t, x, x->rank, dims, padded_at, &padded, err));
    change_input(c, 0, t);
    change_drop_attr(c, "auto_pad");
    change_drop_attr(c, "pads");
    return ODB_OK;
}
