/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/plainest.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "probe/refusal.h"

void odb_plainest_dispose(struct odb_plainest *plainest)
{
    odb_pool_close(plainest->pool);
    free(plainest->spec);
    *plainest = (struct odb_plainest){0};
}

/* False: it has none, or cannot be started with it. */
static bool plainest_open(struct odb_plainest *plainest, const struct odb_prober *prober)
{
    if (!plainest->known)
        plainest->spec = odb_executor_plain(odb_pool_spec(prober->pool));
    plainest->known = true;
    if (!plainest->spec)
        odb_fail(&plainest->why, ODB_SKIPPED, "the target has no plainer options");
    return plainest->spec &&
           (plainest->pool || odb_probe_pool(&plainest->pool, plainest->spec, &prober->hooks,
                                             &plainest->why) == ODB_OK);
}

/* Nothing is judged. */
static enum odb_status plainest_ignore(void *payload, const struct odb_probe *probe,
                                       enum odb_verdict *shown, struct odb_error *err)
{
    return ODB_OK;
}

static enum odb_status plainest_run(struct odb_plainest *plainest, struct odb_prober *prober,
                                    const struct odb_probe *refused, const struct odb_judge *judge,
                                    enum odb_status *had, struct odb_error *err)
{
    char what[300];
    struct odb_probed probed;
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_PLAINEST,
                              .what = what,
                              .node = refused->node,
                              .nodes = refused->nodes,
                              .given = refused->given,
                              .values = refused->values,
                              .n_values = refused->n_values,
                              .outputs = odb_new_n(struct odb_tensor *, refused->n_values + 1),
                              .judged = true};
    odb_text_fit(what, sizeof what, "on %.80s: %s", plainest->spec, refused->what);
    enum odb_status status = odb_probe_ask(
        prober, &probe, judge ? odb_probe_judge : plainest_ignore, (void *)judge, &probed, err);
    plainest->verdict = judge ? probed.verdict : ODB_VERDICT_UNTESTABLE;
    plainest->why = probed.why;
    *had = probed.had;
    odb_probe_drop(prober, &probe);
    free(probe.outputs);
    return status;
}

enum odb_status odb_plainest_ask(struct odb_plainest *plainest, const struct odb_prober *prober,
                                 const struct odb_probe *refused, const struct odb_error *why,
                                 const struct odb_judge *judge, enum odb_refusal_means *out,
                                 struct odb_error *err)
{
    struct odb_prober own;
    enum odb_status had;
    *out = ODB_REFUSAL_UNKNOWN;
    plainest->verdict = ODB_VERDICT_UNTESTABLE;
    plainest->why = *why;
    if (!odb_refusal_may_be_fault(why->code, why) || !plainest_open(plainest, prober))
        return odb_hooks_cancelled(&prober->hooks, err);
    odb_prober_init(&own, prober->model, prober->feeds, prober->trace, plainest->pool,
                    prober->hooks);
    own.answers = prober->answers;
    own.scope = prober->scope;
    own.pinned = prober->pinned;
    enum odb_status status = plainest_run(plainest, &own, refused, judge, &had, err);
    if (status == ODB_OK && had == ODB_OK)
        *out = ODB_REFUSAL_BREAKS;
    else if (status == ODB_OK && odb_probe_refused(had))
        *out = ODB_REFUSAL_LACKS;
    odb_prober_dispose(&own);
    return status;
}
