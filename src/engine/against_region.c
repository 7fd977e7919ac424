/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The two parts that make one value of a pair out of other pairs, and the other model's part run on
 * the original's values.
 */
#include "engine/against_int.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/blame.h"
#include "engine/blocked.h"
#include "engine/probe.h"

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

/* What the other's part is fed: the original's values, in the types that it had itself. */
static enum odb_status against_region_feed(const struct against *x, const struct against_region *r,
                                           struct odb_tensor **given, struct odb_error *err)
{
    for (size_t i = 0; i < r->n_in_there; i++) {
        int w = r->in_there[i], u = x->alignment.original[w];
        const struct odb_tensor *own = x->had[w];
        const struct odb_tensor *right = odb_trace_value(x->trace, u);
        if (!own || !right || own->kind != ODB_TENSOR || right->kind != ODB_TENSOR ||
            (own->dtype != right->dtype &&
             odb_dtype_is_float(own->dtype) != odb_dtype_is_float(right->dtype)))
            return odb_fail(err, ODB_UNSUPPORTED, "no value to feed");
        if (x->blocked[w])
            ODB_TRY(odb_blocked_make(&given[w], right, x->block, err));
        else
            ODB_TRY(odb_tensor_cast(&given[w], right, own->dtype, err));
    }
    return ODB_OK;
}

/* --- the other's part alone ----------------------------------------------------------------- */

/* Holds what the other's part made of the original's values against the original's. */
static enum odb_status against_judge(const struct against *x, struct against_region *r, int u,
                                     const struct odb_tensor *out, struct odb_error *err)
{
    struct odb_tensor *plain = NULL, *cast = NULL;
    struct odb_judge judge = {x->trace, &x->options->tolerance};
    enum odb_status status = against_plain_of(x, r->value, out, &plain, err);
    if (status == ODB_OK)
        status = against_cast(x, u, plain, &cast, err);
    if (status == ODB_OK)
        status = odb_judge_value(&judge, u, cast, &r->numbers, err);
    if (status == ODB_OK)
        r->alone =
            odb_verdict_is_bad(r->numbers.verdict) ? AGAINST_ALONE_WRONG : AGAINST_ALONE_RIGHT;
    odb_tensor_unref(plain);
    odb_tensor_unref(cast);
    return status;
}

static enum odb_status against_ask(struct against *x, struct against_region *r, int u,
                                   struct odb_pool *pool, struct odb_tensor *const *given,
                                   struct odb_error *err)
{
    struct odb_prober prober;
    struct odb_tensor *out = NULL;
    struct odb_probe probe = {.what = "the other model's part alone",
                              .node = ODB_NO_NODE,
                              .nodes = r->there,
                              .given = given,
                              .values = &r->value,
                              .n_values = 1,
                              .outputs = &out};
    odb_prober_init(&prober, x->how->other, &x->there, NULL, pool, x->options->hooks);
    enum odb_status status = odb_probe_run(&prober, &probe, err);
    x->loads++;
    x->runs++;
    if (status == ODB_OK && out)
        status = against_judge(x, r, u, out, err);
    odb_probe_drop(&prober, &probe);
    odb_prober_dispose(&prober);
    return status;
}

enum odb_status against_alone(struct against *x, struct against_region *r, int u,
                              struct odb_error *err)
{
    struct odb_tensor **given = odb_new_n(struct odb_tensor *, x->b->n_values + 1);
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_pool *pool = NULL;
    enum odb_status status = against_region_feed(x, r, given, &why);
    if (status == ODB_OK)
        status = odb_pool_open(&pool, x->how->spec, &why);
    if (status == ODB_OK)
        status = against_ask(x, r, u, pool, given, &why);
    odb_pool_close(pool);
    for (size_t w = 0; w < x->b->n_values; w++)
        odb_tensor_unref(given[w]);
    free(given);
    if (status == ODB_CANCELLED)
        *err = why;
    return status == ODB_CANCELLED ? status : ODB_OK;
}
