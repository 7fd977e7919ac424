/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The two parts that make one value of a pair out of other pairs.
 */
#include "twomodels/against_int.h"

#include <stdlib.h>

#include "base/mem.h"

void against_region_init(const struct against *x, struct against_region *r, int u)
{
    *r = (struct against_region){.here = odb_new_n(bool, x->a->n_nodes + 1),
                                 .there = odb_new_n(bool, x->b->n_nodes + 1),
                                 .in_here = odb_new_n(int, x->a->n_values + 1),
                                 .in_there = odb_new_n(int, x->b->n_values + 1),
                                 .value = x->alignment.other[u],
                                 .words = ODB_BUF_INIT};
    r->n_in_here = odb_region(x->a, u, x->stop_a, r->here, r->in_here);
    if (r->value >= 0)
        r->n_in_there = odb_region(x->b, r->value, x->stop_b, r->there, r->in_there);
}

void against_region_dispose(struct against_region *r)
{
    free(r->here);
    free(r->there);
    free(r->in_here);
    free(r->in_there);
    odb_buf_dispose(&r->words);
}
