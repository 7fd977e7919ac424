/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/explains.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bisect/reading.h"
#include "probe/explain_node.h"

#define EXPLAINS_MOST 4    /* culprits that are explained */
#define EXPLAINS_SECONDS 2 /* at least, for all of them, unless the user says */
#define EXPLAINS_SHARE 0.2 /* of the search so far */
#define EXPLAINS_DEAR 2.0  /* seconds of a load and a run from which nothing is asked again */
#define EXPLAINS_FACTOR 10 /* times the noise is agreement, where the tolerance is another kind */

static bool explains_wants(const struct search_case *c, const struct odb_culprit *culprit)
{
    return odb_diagnosis_accuses(culprit->kind) && !odb_culprit_is_region(culprit) &&
           !culprit->of_reference && !odb_probe_in_pieces(c->prober) &&
           culprit->value != ODB_NO_VALUE && !c->trace->why[culprit->node];
}

/* Whether what the target fed the node and made of it was had in one run. */
static bool explains_knows(const struct search_case *c, const struct findings *f)
{
    return f->probed || c->prober->recorded;
}

static enum odb_status explains_one(const struct search_case *c, struct findings *f,
                                    struct odb_culprit *culprit, double seconds,
                                    struct odb_error *err)
{
    bool noise = c->options->tolerance.kind == ODB_CRITERION_NOISE;
    struct odb_explain_asking asking = {
        .prober = c->prober,
        .cpu = c->trace->cpu,
        .node = culprit->node,
        .given = explains_knows(c, f) ? f->given : NULL,
        .once = c->prober->recorded || f->kept->load + f->kept->run > EXPLAINS_DEAR ||
                c->options->no_checks || !odb_probe_refeeds(c->prober),
        .own = c->options->own_rows,
        .factor = noise ? c->options->tolerance.v[0] : EXPLAINS_FACTOR,
        .seconds = seconds};
    struct odb_error why = ODB_ERROR_INIT;
    int *list = odb_new_n(int, c->graph->n_values);
    asking.read = list;
    asking.n_read = f->probed ? reading_list(c, list) : 0;
    enum odb_status status = odb_explain_node(&culprit->explained, &asking, &why);
    free(list);
    if (status != ODB_OK && !culprit->explained.why_not)
        culprit->explained.why_not = odb_xstrdup(why.what);
    if (status == ODB_CANCELLED)
        *err = why;
    return status == ODB_CANCELLED ? status : ODB_OK;
}

enum odb_status explains_culprits(const struct search_case *c, struct findings *f,
                                  struct odb_error *err)
{
    double so_far = odb_clock() - c->start, budget = c->options->explain_seconds;
    size_t wanted = 0, n = ODB_MIN(f->report->culprits.n, (size_t)EXPLAINS_MOST);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n; i++)
        wanted += explains_wants(c, &f->report->culprits.items[i]);
    if (!wanted || c->options->no_explain)
        return ODB_OK;
    budget = budget > 0 ? budget : fmax(EXPLAINS_SECONDS, EXPLAINS_SHARE * so_far);
    findings_step_begin(f, "explain");
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        if (explains_wants(c, culprit))
            status = explains_one(c, f, culprit, budget / (double)wanted, err);
    }
    findings_step_end(f, "explain", "what the accused computed instead of their operators");
    return status;
}
