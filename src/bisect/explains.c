/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/explains.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bisect/reading.h"
#include "probe/explain_group.h"
#include "probe/explain_node.h"

#define EXPLAINS_MOST 4    /* culprits that are explained */
#define EXPLAINS_SECONDS 2 /* at least, for all of them, unless the user says */
#define EXPLAINS_LEAST 0.1 /* that the last of them have */
#define EXPLAINS_SHARE 0.2 /* of the search so far */
#define EXPLAINS_DEAR 2.0  /* seconds of a load and a run from which nothing is asked again */
#define EXPLAINS_FACTOR 10 /* times the noise is agreement, where the tolerance is another kind */

static bool explains_wants(const struct search_case *c, const struct odb_culprit *culprit)
{
    bool single = culprit->cut.n
                      ? !c->prober->recorded
                      : odb_diagnosis_accuses(culprit->kind) && !odb_culprit_is_region(culprit);
    bool typed = culprit->numbers.verdict == ODB_VERDICT_DTYPE; /* that is what is wrong with it */
    return single && !typed && !culprit->known && !culprit->of_reference &&
           !odb_probe_in_pieces(c->prober) && culprit->value != ODB_NO_VALUE &&
           !c->trace->why[culprit->node];
}

static bool explains_once(const struct search_case *c, const struct findings *f)
{
    return c->prober->recorded || f->kept->load + f->kept->run > EXPLAINS_DEAR ||
           c->options->no_checks || !odb_probe_refeeds(c->prober);
}

static double explains_factor(const struct search_case *c)
{
    bool noise = c->options->tolerance.kind == ODB_CRITERION_NOISE;
    return noise ? c->options->tolerance.v[0] : EXPLAINS_FACTOR;
}

/* Nodes that are wrong together, run apart as they were. */
static enum odb_status explains_group(const struct search_case *c, struct findings *f,
                                      struct odb_culprit *culprit, double seconds,
                                      struct odb_error *err)
{
    bool *nodes = odb_new_n(bool, c->graph->n_nodes + 1);
    for (size_t i = 0; i < culprit->cut.n; i++)
        nodes[culprit->cut.items[i]] = true;
    const struct odb_explain_group asking = {
        .prober = c->prober,
        .cpu = c->trace->cpu,
        .node = culprit->node,
        .value = culprit->group.n ? culprit->value : case_output_of(c, culprit->segment[1]),
        .nodes = nodes,
        .once = explains_once(c, f),
        .factor = explains_factor(c),
        .seconds = seconds};
    enum odb_status status = odb_explain_group(&culprit->explained, &asking, err);
    free(nodes);
    return status;
}

/* Whether what the target fed the node and made of it was had in one run. */
static bool explains_knows(const struct search_case *c, const struct findings *f)
{
    return f->probed || c->prober->recorded;
}

static enum odb_status explains_node(const struct search_case *c, struct findings *f,
                                     struct odb_culprit *culprit, const char *known, double seconds,
                                     struct odb_error *err)
{
    struct odb_explain_asking asking = {.prober = c->prober,
                                        .cpu = c->trace->cpu,
                                        .node = culprit->node,
                                        .given = known || explains_knows(c, f) ? f->given : NULL,
                                        .once = known || explains_once(c, f),
                                        .own = c->options->own_rows,
                                        .known = known,
                                        .factor = explains_factor(c),
                                        .seconds = seconds};
    int *list = odb_new_n(int, c->graph->n_values);
    asking.read = list;
    asking.n_read = f->probed ? reading_list(c, list) : 0;
    enum odb_status status = odb_explain_node(&culprit->explained, &asking, err);
    free(list);
    return status;
}

static enum odb_status explains_one(const struct search_case *c, struct findings *f,
                                    struct odb_culprit *culprit, double seconds,
                                    struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = culprit->cut.n ? explains_group(c, f, culprit, seconds, &why)
                                            : explains_node(c, f, culprit, NULL, seconds, &why);
    if (status != ODB_OK && !culprit->explained.why_not)
        culprit->explained.why_not = odb_xstrdup(why.what);
    if (status == ODB_CANCELLED)
        *err = why;
    return status == ODB_CANCELLED ? status : ODB_OK;
}

/* Whether what is known explains it within noise. */
static bool explains_fits(const struct search_case *c, struct findings *f,
                          struct odb_culprit *culprit, double seconds, struct odb_error *err)
{
    const struct odb_explanations *explained = &culprit->explained;
    return explains_wants(c, culprit) && !culprit->cut.n &&
           explains_node(c, f, culprit, c->options->known, seconds, err) == ODB_OK &&
           explained->items.n && explained->items.items[0].fit >= ODB_FIT_CLASS;
}

enum odb_status explains_known(const struct search_case *c, struct findings *f, size_t first,
                               struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    size_t n = f->report->culprits.n;
    double now = odb_clock(), end = now + fmax(now - c->start.seconds, EXPLAINS_SECONDS);
    if (!c->options->known || first == n)
        return ODB_OK;
    struct findings_mark began = findings_mark(f);
    for (size_t i = first; i < n && why.code != ODB_CANCELLED; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        culprit->known =
            explains_fits(c, f, culprit, fmax(end - odb_clock(), EXPLAINS_LEAST), &why);
        if (!culprit->known)
            odb_explanations_dispose(&culprit->explained);
    }
    findings_spent_apart(f, "explain", began);
    if (why.code == ODB_CANCELLED)
        *err = why;
    return why.code == ODB_CANCELLED ? ODB_CANCELLED : ODB_OK;
}

bool explains_all(const struct search_case *c, const struct findings *f)
{
    bool all = f->probed && odb_report_known(f->report);
    for (size_t v = 0; v < c->graph->n_values && all; v++)
        all = !odb_verdict_is_bad(f->values[v].verdict) || f->values[v].verdict == ODB_VERDICT_FAIL;
    return all;
}

enum odb_status explains_culprits(const struct search_case *c, struct findings *f,
                                  struct odb_error *err)
{
    double so_far = odb_clock() - c->start.seconds, budget = c->options->explain_seconds;
    size_t wanted = 0, n = f->report->culprits.n;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n && wanted < EXPLAINS_MOST; i++)
        wanted += explains_wants(c, &f->report->culprits.items[i]);
    if (!wanted || c->options->no_explain)
        return ODB_OK;
    budget = budget > 0 ? budget : fmax(EXPLAINS_SECONDS, EXPLAINS_SHARE * so_far);
    double end = odb_clock() + budget; /* what one leaves is the others' */
    findings_step_begin(f, "explain");
    for (size_t i = 0; i < n && wanted && status == ODB_OK; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        if (explains_wants(c, culprit))
            status = explains_one(c, f, culprit,
                                  fmax(end - odb_clock(), EXPLAINS_LEAST) / (double)wanted--, err);
    }
    findings_step_end(f, "explain", "what the accused computed instead of their operators");
    return status;
}
