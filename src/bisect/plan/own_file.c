/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether it is the user's own file that the target runs. One that wants fixed dimensions by its
 * option alone may run the file as well: where the two come out differently, what is judged from
 * then on is the file.
 */
#include "bisect/plan/own_file.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bisect/findings.h"
#include "bisect/reading.h"
#include "report/report.h"
#include "run/value_report.h"

enum odb_status own_file_instead(const struct search_case *c, struct findings *f,
                                 const struct odb_probe *probe, struct odb_error *err)
{
    struct odb_instead instead;
    if (f->report->plain_given ||
        c->prober->recorded) /* around refused nodes: that was its first */
        return ODB_OK;
    ODB_TRY(odb_probe_instead(c->prober, probe, &instead, err));
    findings_instead(f, &instead);
    return ODB_OK;
}

/* One of the two models, unobserved. had: how that ended; cancelled it is the error. */
static enum odb_status own_run(const struct search_case *c, struct findings *f, bool open,
                               struct odb_tensor **outputs, struct odb_error *why,
                               enum odb_status *had, struct odb_error *err)
{
    struct odb_probe probe = reading_plain(
        c, f, open ? "the model's own file" : "the model with fixed dimensions", outputs);
    probe.judged = false;
    c->prober->open = open;
    *had = odb_probe_run(c->prober, &probe, why);
    c->prober->open = false;
    if (*had == ODB_CANCELLED)
        *err = *why;
    return *had == ODB_CANCELLED ? ODB_CANCELLED : ODB_OK;
}

static enum odb_status own_verdict(const struct search_case *c, int value,
                                   const struct odb_tensor *t, enum odb_verdict *out,
                                   struct odb_error *err)
{
    struct odb_value_report report = {0};
    ODB_TRY(odb_judge_value(&c->judge, value, t, &report, err));
    *out = report.verdict;
    return ODB_OK;
}

/* Tells of the output that shows most, if any has other bits: then the file is judged. */
static enum odb_status own_compare(const struct search_case *c, struct findings *f,
                                   struct odb_tensor *const *fixed, struct odb_tensor *const *own,
                                   struct odb_error *err)
{
    enum odb_verdict verdicts[2] = {ODB_VERDICT_UNTESTED, ODB_VERDICT_UNTESTED};
    int shows = ODB_NO_VALUE;
    for (size_t o = 0; o < c->n_outputs && verdicts[0] == verdicts[1]; o++) {
        if (!fixed[o] || !own[o] || odb_tensor_identical(fixed[o], own[o]))
            continue;
        shows = c->outputs[o];
        ODB_TRY(own_verdict(c, shows, fixed[o], &verdicts[0], err));
        ODB_TRY(own_verdict(c, shows, own[o], &verdicts[1], err));
    }
    c->prober->open = shows != ODB_NO_VALUE;
    if (!c->prober->open)
        findings_own_file(f, "the file itself gives the same, bit for bit");
    else if (verdicts[0] == verdicts[1])
        findings_note(f,
                      "with fixed dimensions the target gives other bits for %s, with the same "
                      "verdict (%s); what is judged is the file itself",
                      c->graph->values[shows].name, odb_verdict_name(verdicts[0]));
    else
        findings_warn(f,
                      "with fixed dimensions the target gives something else for %s (%s) than "
                      "from the file itself (%s); what is judged is the file",
                      c->graph->values[shows].name, odb_verdict_name(verdicts[0]),
                      odb_verdict_name(verdicts[1]));
    return ODB_OK;
}

static void own_drop(struct odb_tensor **outputs, size_t n)
{
    for (size_t o = 0; o < n; o++)
        odb_tensor_unref(outputs[o]);
    free(outputs);
}

enum odb_status own_file_look(const struct search_case *c, struct findings *f,
                              struct odb_error *err)
{
    const char *spec = c->options->target;
    struct odb_tensor **fixed, **own;
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_instead instead;
    enum odb_status status, had;
    struct odb_probe probe = reading_plain(c, f, "the whole model", f->plain);
    if (!odb_executor_fixed(spec) || odb_executor_needs_fixed(spec))
        return ODB_OK;
    c->prober->open = true;
    status = odb_probe_instead(c->prober, &probe, &instead, err);
    c->prober->open = false;
    if (status != ODB_OK || odb_instead_any(&instead)) /* it would not be the file either */
        return status;
    fixed = odb_new_n(struct odb_tensor *, c->n_outputs);
    own = odb_new_n(struct odb_tensor *, c->n_outputs);
    findings_step_begin(f, "the model's own file");
    ODB_TRY_OUT(own_run(c, f, false, fixed, &why, &had, err));
    if (had != ODB_OK) /* the plain run will say so */
        goto out;
    ODB_TRY_OUT(own_run(c, f, true, own, &why, &had, err));
    if (had == ODB_OK)
        status = own_compare(c, f, fixed, own, err);
    else
        findings_own_file(f, "the file itself it does not run: %.200s", why.what);
out:
    findings_step_end(f, "plain", "with fixed dimensions, and the file itself: are they one?");
    own_drop(fixed, c->n_outputs);
    own_drop(own, c->n_outputs);
    return status;
}
