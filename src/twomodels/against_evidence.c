/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the other model is asked once more about a culprit, and how sure that makes it. The
 * recording that found it held the original's part against it; now the other's part runs alone on
 * the original's values, and then all of the other model with the original's value in that one's
 * place.
 *
 * High: both speak against it. Medium: one does and the other cannot be had; or neither can, and it
 * was the original's part that did. Low: one of them says otherwise, or a name is all that makes
 * the two values a pair.
 */
#include "twomodels/against_int.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "judge/blame.h"
#include "twomodels/blocked.h"
#include "probe/probe.h"
#include "report/report.h"
#include "reference/trace.h"
#include "run/value_report.h"

/* The original's value for w, as the other model has it. ODB_UNSUPPORTED: there is none. */
static enum odb_status against_right(const struct against *x, int w, struct odb_tensor **out,
                                     struct odb_error *err)
{
    int u = x->alignment.original[w];
    const struct odb_tensor *own = x->had[w];
    const struct odb_tensor *right = u < 0 ? NULL : odb_trace_value(x->trace, u);
    if (!own || !right || own->kind != ODB_TENSOR || right->kind != ODB_TENSOR ||
        (own->dtype != right->dtype &&
         odb_dtype_is_float(own->dtype) != odb_dtype_is_float(right->dtype)))
        return odb_fail(err, ODB_UNSUPPORTED, "no value to feed");
    if (x->blocked[w])
        return odb_blocked_make(out, right, x->block, err);
    return odb_tensor_cast(out, right, own->dtype, err);
}

/* --- asking ----------------------------------------------------------------------------------- */

struct against_asked {
    struct against *x;
    const struct against_region *alone; /* what is asked is its end; NULL: the outputs */
    struct odb_value_report *numbers;   /* of the last value */
};

/* Of a quantised model its steps say more than a tolerance. */
static enum odb_status against_judge_value(const struct against_asked *asked, int u,
                                           const struct odb_tensor *t, enum odb_verdict *shown,
                                           struct odb_error *err)
{
    struct against *x = asked->x;
    const struct odb_judge judge = {x->trace, &x->options->tolerance};
    bool known = false, misfits = false;
    ODB_TRY(odb_judge_value(&judge, u, t, asked->numbers, err));
    if (asked->alone && x->quantised)
        ODB_TRY(against_steps_of(x, asked->alone, u, t, &known, &misfits, err));
    odb_probe_shows(shown, !known    ? asked->numbers->verdict
                           : misfits ? ODB_VERDICT_FAIL
                                     : ODB_VERDICT_PASS);
    return ODB_OK;
}

static enum odb_status against_judge(void *payload, const struct odb_probe *probe,
                                     enum odb_verdict *shown, struct odb_error *err)
{
    const struct against_asked *asked = payload;
    struct against *x = asked->x;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < probe->n_values && status == ODB_OK; i++) {
        struct odb_tensor *plain = NULL, *cast = NULL;
        int w = probe->values[i], u = x->alignment.original[w];
        if (!probe->outputs[i])
            continue;
        status = against_plain_of(x, w, probe->outputs[i], &plain, err);
        if (status == ODB_OK && plain)
            status = against_cast(x, u, plain, &cast, err);
        if (status == ODB_OK && cast)
            status = against_judge_value(asked, u, cast, shown, err);
        odb_tensor_unref(plain);
        odb_tensor_unref(cast);
    }
    return status;
}

/* Whatever goes wrong is no evidence; that it was cancelled is the one failure. */
static enum odb_status against_ask(struct against_asked *asked, struct odb_probe *probe,
                                   enum odb_verdict *shown, struct odb_error *err)
{
    struct against *x = asked->x;
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_pool *pool = NULL;
    struct odb_prober prober;
    struct odb_probed probed;
    *shown = ODB_VERDICT_UNTESTABLE;
    if (odb_probe_pool(&pool, x->how->spec, &x->options->hooks, &why) != ODB_OK)
        return ODB_OK;
    probe->outputs = odb_new_n(struct odb_tensor *, probe->n_values + 1);
    odb_prober_init(&prober, x->how->other, &x->there, NULL, pool, x->options->hooks);
    enum odb_status status = odb_probe_ask(&prober, probe, against_judge, asked, &probed, &why);
    x->loads++;
    x->runs++;
    if (status == ODB_OK && probed.had == ODB_OK)
        *shown = probed.verdict;
    if (status == ODB_CANCELLED)
        *err = why;
    odb_probe_drop(&prober, probe);
    odb_prober_dispose(&prober);
    odb_pool_close(pool);
    free(probe->outputs);
    return status == ODB_CANCELLED ? status : ODB_OK;
}

static void against_unfeed(const struct against *x, struct odb_tensor **given)
{
    for (size_t w = 0; w < x->b->n_values; w++)
        odb_tensor_unref(given[w]);
    free(given);
}

/* --- the other's part alone ------------------------------------------------------------------- */

enum odb_status against_alone(struct against *x, struct against_region *r, struct odb_error *err)
{
    struct odb_tensor **given = odb_new_n(struct odb_tensor *, x->b->n_values + 1);
    struct odb_error why = ODB_ERROR_INIT;
    struct against_asked asked = {x, r, &r->numbers};
    enum odb_verdict shown = ODB_VERDICT_UNTESTABLE;
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_OTHER_MODEL,
                              .what = "the other model's part alone",
                              .judged = true,
                              .node = ODB_NO_NODE,
                              .nodes = r->there,
                              .given = given,
                              .values = &r->value,
                              .n_values = 1};
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < r->n_in_there && status == ODB_OK; i++)
        status = against_right(x, r->in_there[i], &given[r->in_there[i]], &why);
    if (status == ODB_OK)
        status = against_ask(&asked, &probe, &shown, err);
    else
        status = ODB_OK;
    r->alone = odb_verdict_is_bad(shown)   ? ODB_CONFIRMS
               : shown == ODB_VERDICT_PASS ? ODB_CONTRADICTS
                                           : ODB_NOT_TESTABLE;
    against_unfeed(x, given);
    return status;
}

/* --- the rest without its error --------------------------------------------------------------- */

/* Outputs of the other model that are wrong, and made of other values than w alone; n of them. */
static int *against_wrong_outputs(const struct against *x, const struct odb_report *report, int w,
                                  size_t *n)
{
    int *list = odb_new_n(int, x->a->n_outputs + 1);
    *n = 0;
    for (size_t o = 0; o < x->a->n_outputs; o++) {
        int u = x->a->outputs[o], there = x->alignment.other[u];
        if (there >= 0 && there != w && x->b->values[there].producer != ODB_NO_NODE &&
            odb_verdict_is_bad(report->values[u].verdict))
            list[(*n)++] = there;
    }
    return list;
}

enum odb_status against_pinned(struct against *x, struct against_region *r,
                               const struct odb_report *report, struct odb_error *err)
{
    const struct odb_node *maker = &x->b->nodes[x->b->values[r->value].producer];
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_value_report ignored;
    struct against_asked asked = {x, NULL, &ignored};
    enum odb_verdict shown = ODB_VERDICT_UNTESTABLE;
    size_t n;
    int *outputs = against_wrong_outputs(x, report, r->value, &n);
    bool *nodes = odb_new_n(bool, x->b->n_nodes + 1);
    struct odb_tensor **given = odb_new_n(struct odb_tensor *, x->b->n_values + 1);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_PINNED,
                              .what = "the other model without its error",
                              .judged = true,
                              .node = ODB_NO_NODE,
                              .nodes = nodes,
                              .given = given,
                              .values = outputs,
                              .n_values = n};
    bool can =
        n && maker->n_out == 1 && against_right(x, r->value, &given[r->value], &why) == ODB_OK;
    enum odb_status status = ODB_OK;
    if (can) {
        odb_graph_ancestors(x->b, outputs, n, NULL, nodes);
        nodes[maker->index] = false;
        for (size_t f = 0; f < x->there.n; f++)
            given[x->there.items[f].value] = odb_tensor_ref(x->there.items[f].tensor);
        status = against_ask(&asked, &probe, &shown, err);
    }
    r->pinned = odb_verdict_is_bad(shown)   ? ODB_CONTRADICTS
                : shown == ODB_VERDICT_PASS ? ODB_CONFIRMS
                                            : ODB_NOT_TESTABLE;
    free(outputs);
    free(nodes);
    against_unfeed(x, given);
    return status;
}

/* --- how sure --------------------------------------------------------------------------------- */

static enum odb_confidence against_sure(const struct against *x, const struct odb_culprit *c,
                                        const struct against_region *r, const char **why)
{
    if (x->alignment.confidence[c->value] < AGAINST_NAMED) {
        *why = "a name is all that makes the two values one";
        return ODB_CONFIDENCE_LOW;
    }
    if (!odb_diagnosis_accuses(c->kind)) {
        bool wrong = r->alone == ODB_CONFIRMS;
        *why = wrong ? "on the original's values its part is off"
                     : "on the same values both models compute the same there";
        return wrong ? ODB_CONFIDENCE_LOW : ODB_CONFIDENCE_MEDIUM;
    }
    if (r->pinned == ODB_CONTRADICTS || r->alone == ODB_CONTRADICTS) {
        *why = r->alone == ODB_CONTRADICTS
                   ? "on the original's values it is right"
                   : "with the original's value in its place outputs are wrong still";
        return ODB_CONFIDENCE_LOW;
    }
    if (r->alone == ODB_CONFIRMS && r->pinned == ODB_CONFIRMS) {
        *why = "its part is wrong on the original's values, and without its error the outputs pass";
        return ODB_CONFIDENCE_HIGH;
    }
    *why = r->alone == ODB_CONFIRMS ? "its part is wrong on the original's values as well"
           : r->pinned == ODB_CONFIRMS
               ? "without its error the outputs pass; alone it could not be "
                 "run"
               : "the original's part gives other numbers for the same "
                 "values; the other's could not be run again";
    return ODB_CONFIDENCE_MEDIUM;
}

void against_trust(const struct against *x, struct odb_culprit *c, const struct against_region *r)
{
    bool region = c->segment[0] != c->segment[1];
    const char *why;
    c->checks[region ? ODB_CHECK_REGION : ODB_CHECK_ALONE] = r->alone;
    c->checks[ODB_CHECK_PINNED] = r->pinned;
    c->verified = r->alone == ODB_CONFIRMS;
    c->confidence = against_sure(x, c, r, &why);
    snprintf(c->confidence_reason, sizeof c->confidence_reason, "%s", why);
}
