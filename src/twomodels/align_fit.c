/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether a node of one model may do the same as one of the other.
 */
#include "twomodels/align_int.h"

#include <string.h>

#include "twomodels/blocked.h"
#include "twomodels/weights.h"
#include "model/text/model_text.h"

/* Whether it may be stored in blocks, filled up. */
static bool align_packed(const struct odb_graph *g, const struct odb_value *constant)
{
    for (size_t c = 0; c < constant->n_consumers; c++)
        if (odb_blocked_node(&g->nodes[constant->consumers[c]]))
            return true;
    return false;
}

enum align_slot align_slot(const struct align *al, int x, int y)
{
    const struct odb_value *cx = x < 0 ? NULL : odb_constant_behind(al->a, x);
    const struct odb_value *cy = y < 0 ? NULL : odb_constant_behind(al->b, y);
    struct odb_constant a, b;
    if (x < 0 && y < 0)
        return ALIGN_ALIKE;
    if (x < 0 || y < 0) /* a bias that was folded in */
        return (x < 0 ? cy : cx) ? ALIGN_CONSTANT : ALIGN_NO;
    if (cx && cy) {
        bool known = odb_constant_of(&a, al->a, x) && odb_constant_of(&b, al->b, y);
        const struct odb_tensor *there = al->s->constants ? al->s->constants[cy->index] : NULL;
        if (there)
            b.t = there;
        else if (odb_constant_tensor(al->a, cx)->count != odb_constant_tensor(al->b, cy)->count)
            return align_packed(al->b, cy) ? ALIGN_CONSTANT : ALIGN_NO;
        return known && odb_constants_alike(&a, &b) ? ALIGN_ALIKE : ALIGN_CONSTANT;
    }
    if (cx || cy) /* folded on one side: what is computed may be this constant */
        return ALIGN_CONSTANT;
    int partner = align_partner(al, y);
    if (partner >= 0)
        return align_root(al->a, partner) == align_root(al->a, x) ? ALIGN_YES : ALIGN_NO;
    for (int v = x;;) { /* x may have another one */
        const struct odb_node *carrier;
        if (al->out->other[v] >= 0)
            return align_root(al->b, al->out->other[v]) == align_root(al->b, y) ? ALIGN_YES
                                                                                : ALIGN_NO;
        if (!(carrier = align_carrier(al->a, v)))
            return ALIGN_UNKNOWN;
        v = carrier->in[0];
    }
}

static struct align_fit align_fit_order(const struct align *al, const struct align_call *n,
                                        const struct align_call *m, bool swapped)
{
    struct align_fit fit = {.possible = true, .swapped = swapped};
    int most = ODB_MAX(n->n_in, m->n_in);
    for (int i = 0; i < most; i++) {
        int k = swapped && i < 2 ? 1 - i : i;
        switch (align_slot(al, i < n->n_in ? n->in[i] : ODB_NO_VALUE,
                           k < m->n_in ? m->in[k] : ODB_NO_VALUE)) {
        case ALIGN_NO:
            fit.possible = false;
            break;
        case ALIGN_UNKNOWN:
            fit.unknown++;
            break;
        case ALIGN_YES:
            fit.yes++;
            break;
        case ALIGN_CONSTANT:
            fit.differ++;
            break;
        case ALIGN_ALIKE:
            fit.alike++;
            break;
        }
    }
    return fit;
}

struct align_fit align_fit(const struct align *al, int n, int m)
{
    const struct odb_node *here = &al->a->nodes[n], *there = &al->b->nodes[m];
    struct align_call x = align_call(here), y = align_call(there);
    struct align_fit none = {.possible = false};
    if (strcmp(x.op, y.op) != 0 || strcmp(x.domain, y.domain) != 0)
        return none;
    struct align_fit fit = align_fit_order(al, &x, &y, false);
    if (align_commutes(x.op) && x.n_in == 2 && y.n_in == 2) {
        struct align_fit other = align_fit_order(al, &x, &y, true);
        if (other.possible && (!fit.possible || other.yes > fit.yes ||
                               (other.yes == fit.yes && other.alike > fit.alike)))
            return other;
    }
    return fit;
}

static bool align_same_attr(const struct odb_attr *x, const struct odb_attr *y)
{
    struct odb_buf a = ODB_BUF_INIT, b = ODB_BUF_INIT;
    odb_attr_text(x, &a);
    odb_attr_text(y, &b);
    bool same = !strcmp(odb_buf_text(&a), odb_buf_text(&b));
    odb_buf_dispose(&a);
    odb_buf_dispose(&b);
    return same;
}

bool align_same_attrs(const struct odb_node *x, const struct odb_node *y)
{
    for (size_t i = 0; i < x->attrs.n; i++) {
        const struct odb_attr *other = odb_attrs_find(&y->attrs, x->attrs.items[i].name);
        if (other && other->type != ODB_ATTR_GRAPH && !align_same_attr(&x->attrs.items[i], other))
            return false;
    }
    return true;
}

int align_score(const struct align *al, const struct align_fit *fit, int n, int m)
{
    const struct odb_node *x = &al->a->nodes[n], *y = &al->b->nodes[m];
    bool named = x->name[0] && !strcmp(x->name, y->name);
    return (fit->differ ? 0 : 4) + (align_same_attrs(x, y) ? 2 : 0) + named;
}
