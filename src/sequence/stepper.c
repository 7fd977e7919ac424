/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/stepper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/probe.h"
#include "probe/reference_from.h"

struct odb_stepper {
    const struct odb_model *model;
    const struct odb_bisect_options *options;
    struct odb_pool *pool; /* owned */
    struct odb_prober prober;
    struct odb_trace *trace;        /* owned: of the run before; the prober looks at it still */
    const char *pass;               /* borrowed */
    const struct odb_answers *kept; /* borrowed: those of the options; NULL: none are kept */
    struct odb_answers answers;     /* the same as this pass has them */
    size_t walks;                   /* of the reference over the model */
    bool had;                       /* an earlier search has all of the pass */
    bool lacks;                     /* something of this one was too large to be kept */
};

/* --- what an earlier search had ----------------------------------------------------------------
 */

static void stepper_mark(const struct odb_stepper *stepper, char key[ODB_ANSWERS_KEY])
{
    snprintf(key, ODB_ANSWERS_KEY, ODB_ANSWERS_RETRIED "%s", stepper->pass);
}

/* Of a pass that did not come to its end, only what took the machine down is an answer. */
static bool stepper_find(void *payload, const char *key, struct odb_answered *out)
{
    const struct odb_stepper *stepper = payload;
    if (!stepper->kept->find(stepper->kept->payload, key, out))
        return false;
    if (stepper->had || (out->status == ODB_E_CRASH && strstr(out->err.what, ODB_ANSWERS_MACHINE)))
        return true;
    odb_answered_dispose(out);
    *out = (struct odb_answered){0};
    return false;
}

static void stepper_begin(void *payload, const char *key, const char *what, int node)
{
    const struct odb_stepper *stepper = payload;
    stepper->kept->begin(stepper->kept->payload, key, what, node);
}

static bool stepper_keep(void *payload, const char *key, const struct odb_answered *known)
{
    struct odb_stepper *stepper = payload;
    bool kept = stepper->kept->keep(stepper->kept->payload, key, known);
    stepper->lacks |= !kept;
    return kept;
}

static void stepper_forget(void *payload, const char *key)
{
    const struct odb_stepper *stepper = payload;
    stepper->kept->forget(stepper->kept->payload, key);
}

static void stepper_recall(struct odb_stepper *stepper)
{
    struct odb_answered mark = {0};
    char key[ODB_ANSWERS_KEY];
    stepper->kept = stepper->options->answers;
    if (!stepper->kept)
        return;
    stepper->answers = (struct odb_answers){stepper_find,   stepper_begin, stepper_keep,
                                            stepper_forget, stepper,       stepper->kept->n};
    stepper_mark(stepper, key);
    stepper->had = stepper->kept->find(stepper->kept->payload, key, &mark);
    odb_answered_dispose(&mark);
}

/* The mark is an answer that says no more than that all others of the pass are there. */
static void stepper_remember(const struct odb_stepper *stepper)
{
    struct odb_answered mark = {.status = ODB_SKIPPED, .err = ODB_ERROR_INIT};
    char key[ODB_ANSWERS_KEY];
    if (!stepper->kept || stepper->had || stepper->lacks)
        return;
    stepper_mark(stepper, key);
    stepper->kept->begin(stepper->kept->payload, key, stepper->pass, ODB_NO_NODE);
    stepper->kept->keep(stepper->kept->payload, key, &mark);
}

/* --- running -----------------------------------------------------------------------------------
 */

enum odb_status odb_stepper_open(struct odb_stepper **out, const struct odb_model *model,
                                 const struct odb_bisect_options *options, const char *pass,
                                 struct odb_error *err)
{
    struct odb_stepper *stepper = odb_new(struct odb_stepper);
    stepper->pass = pass;
    stepper->model = model;
    stepper->options = options;
    enum odb_status status = odb_probe_pool(&stepper->pool, options->target, &options->hooks, err);
    if (status != ODB_OK) {
        free(stepper);
        return status;
    }
    stepper_recall(stepper);
    *out = stepper;
    return ODB_OK;
}

void odb_stepper_close(struct odb_stepper *stepper, bool ended, struct odb_samples_cost *spent)
{
    if (!stepper)
        return;
    if (ended)
        stepper_remember(stepper);
    if (stepper->prober.pool)
        odb_prober_dispose(&stepper->prober);
    odb_pool_stop(stepper->pool);
    struct odb_target_stats stats = odb_pool_stats(stepper->pool);
    odb_target_stats_add(&spent->target, &stats);
    spent->reference += stepper->walks;
    odb_pool_close(stepper->pool);
    odb_trace_free(stepper->trace);
    free(stepper);
}

/* The shapes of all values, as the target is asked for them, come from a run of the reference. */
static enum odb_status stepper_feed(struct odb_stepper *stepper, const struct odb_feeds *feeds,
                                    struct odb_error *err)
{
    struct odb_trace_options how;
    struct odb_trace *trace;
    ODB_TRY(odb_bisect_trace_options(stepper->options, &how, err));
    how.no_golden = true;
    how.reference_from = how.golden_from = NULL;
    ODB_TRY(odb_trace_make(&trace, stepper->model, feeds, &how, err));
    stepper->walks += odb_trace_walks(trace);
    if (stepper->prober.pool)
        odb_prober_feed(&stepper->prober, feeds, trace);
    else
        odb_prober_init(&stepper->prober, stepper->model, feeds, trace, stepper->pool,
                        stepper->options->hooks);
    stepper->prober.reshapes = stepper->prober.retries = true;
    stepper->prober.answers = stepper->kept ? &stepper->answers : NULL;
    stepper->prober.scope = stepper->pass;
    odb_trace_free(stepper->trace);
    stepper->trace = trace;
    return ODB_OK;
}

enum odb_status odb_stepper_run(struct odb_stepper *stepper, const struct odb_feeds *feeds,
                                const char *what, struct odb_tensor **outputs,
                                struct odb_error *err)
{
    const struct odb_graph *graph = stepper->model->graph;
    int *values = odb_new_n(int, graph->n_outputs + 1);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, graph->n_outputs + 1);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_SAMPLE,
                              .what = what,
                              .node = ODB_NO_NODE,
                              .values = values,
                              .outputs = had};
    memset(outputs, 0, graph->n_outputs * sizeof *outputs);
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (graph->values[graph->outputs[o]].producer != ODB_NO_NODE)
            values[probe.n_values++] = graph->outputs[o];
    enum odb_status status = stepper_feed(stepper, feeds, err);
    if (status == ODB_OK)
        status = odb_probe_run(&stepper->prober, &probe, err);
    for (size_t o = 0, at = 0; o < graph->n_outputs && status == ODB_OK; o++)
        if (at < probe.n_values && values[at] == graph->outputs[o])
            outputs[o] = odb_tensor_ref(had[at++]);
    odb_probe_drop(&stepper->prober, &probe);
    free(had);
    free(values);
    return status;
}
