/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/catalogue/padding.h"

#include <string.h>

#include "explain/catalogue/attribute.h"

/* Where an element of the padding comes from: i is an index of the input's axis, below 0 or at
 * least n; -1: it is zero. */
typedef int64_t padding_fn(int64_t i, int64_t n);

static int64_t padding_zero(int64_t i, int64_t n)
{
    (void)i, (void)n;
    return -1;
}
static int64_t padding_edge(int64_t i, int64_t n)
{
    return i < 0 ? 0 : n - 1;
}
static int64_t padding_wrap(int64_t i, int64_t n)
{
    return (i % n + n) % n;
}
static int64_t padding_reflect(int64_t i, int64_t n)
{
    int64_t at = n > 1 ? padding_wrap(i, 2 * (n - 1)) : 0;
    return at < n ? at : 2 * (n - 1) - at;
}

/* A pool counts all of these, as it then has no padding of its own. */
static const struct padding_mode {
    const char *ops, *name, *text;
    padding_fn *from;
} padding_modes[] = {
    {"MaxPool|QLinearConv|ConvInteger", "zeros", "as if padding counted as zeros", padding_zero},
    {"", "edge", "as if padding repeated the elements at the edge (edge)", padding_edge},
    {"", "reflect", "as if padding mirrored what is inside the edge (reflect)", padding_reflect},
    {"", "wrap", "as if padding were what is at the other end (wrap)", padding_wrap},
};

/* False: there is nothing that is padded. */
static bool padding_find(const struct accused *s, int64_t *pads, size_t *n)
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

enum choice padding_choose(const struct accused *s, size_t k, struct variant *v)
{
    int64_t pads[2 * VARIANT_LIST];
    size_t n;
    if (k >= ODB_COUNT(padding_modes) || !padding_find(s, pads, &n))
        return CHOICE_END;
    if (!variant_is_for(padding_modes[k].ops, s->node->op_type))
        return CHOICE_SKIP;
    return variant_made(v, k, padding_modes[k].name, padding_modes[k].text);
}

/* Element i of a tensor with padding around its spatial axes; -1: it is zero. */
struct padding {
    const struct odb_tensor *of;
    const int64_t *dims, *pads;
    padding_fn *from;
};

static int64_t padding_at(const void *payload, size_t i)
{
    const struct padding *p = payload;
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

enum odb_status padding_change(const struct variant *v, const struct accused *s, struct change *c,
                               struct odb_error *err)
{
    const struct odb_tensor *x = c->in[0];
    int64_t dims[ODB_MAX_RANK], pads[2 * VARIANT_LIST];
    struct odb_tensor *t = NULL;
    size_t n;
    if (!padding_find(s, pads, &n) || x->rank != (int)n / 2 + 2)
        return ODB_SKIPPED;
    for (int k = 0; k < x->rank; k++)
        dims[k] = x->dims[k] + (k < 2 ? 0 : pads[k - 2] + pads[(size_t)k - 2 + n / 2]);
    const struct padding padding = {x, dims, pads, padding_modes[v->at].from};
    ODB_TRY(tensor_gather_into(&t, x, x->rank, dims, padding_at, &padding, err));
    change_input(c, 0, t);
    change_drop_attr(c, "auto_pad");
    change_drop_attr(c, "pads");
    return ODB_OK;
}
