/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/plan/plain.h"

#include <stdlib.h>

#include "base/mem.h"
#include "executor/groups.h"
#include "bisect/alone/held.h"
#include "bisect/plan/own_file.h"
#include "bisect/reading.h"
#include "bisect/repeat.h"

static enum odb_status plain_judge(const struct search_case *c, struct findings *f,
                                   enum odb_verdict *shown, struct odb_error *err)
{
    for (size_t o = 0; o < c->n_outputs; o++) {
        int v = c->outputs[o];
        ODB_TRY(odb_judge_value(&c->judge, v, f->plain[o], &f->verdicts[o], err));
        findings_keep(f, v, f->plain[o]);
        findings_value(f, v, &f->verdicts[o]);
        odb_probe_shows(shown, f->verdicts[o].verdict);
    }
    findings_diverge(f, odb_verdict_is_bad(*shown));
    return ODB_OK;
}

/* The failure that the search is about, by which it knows it again: that of the worst output, or
 * how the target ended. */
static void plain_sign(const struct search_case *c, struct findings *f, enum odb_status status,
                       const struct odb_error *err)
{
    struct odb_signature sought;
    int worst = -1;
    odb_signature_status(&sought, status, err);
    for (size_t o = 0; o < c->n_outputs && status == ODB_OK; o++) {
        const struct odb_value_report *verdict = &f->verdicts[o];
        if (odb_verdict_is_bad(verdict->verdict) &&
            (worst < 0 || verdict->error.v > f->verdicts[worst].error.v))
            worst = (int)o;
    }
    if (worst >= 0)
        odb_signature_value(&sought, c->graph->values[c->outputs[worst]].name, &f->verdicts[worst],
                            f->plain[worst], c->trace->golden[c->outputs[worst]]);
    findings_sign(f, &sought);
}

enum odb_status plain_run(const struct search_case *c, struct findings *f, struct odb_error *err)
{
    struct odb_probe probe = reading_plain(c, f, "the whole model", f->plain);
    ODB_TRY(own_file_instead(c, f, &probe, err));
    findings_step_begin(f, "plain run 1");
    enum odb_status status = odb_probe_run(c->prober, &probe, err);
    enum odb_verdict shown = odb_probe_verdict(status);
    if (status == ODB_OK)
        status = plain_judge(c, f, &shown, err);
    else
        findings_step_end(f, "plain", "the model as it is: %s", odb_status_text(status));
    plain_sign(c, f, status, err);
    odb_probe_tell(c->prober, &probe, shown, 0);
    ODB_TRY(status);
    bool late = f->kept->repeats_wait;
    findings_repeats(f)->runs = 1;
    if (!late)
        ODB_TRY(repeat_runs(c, f, err));
    odb_pool_price(c->pool, &f->kept->load, &f->kept->run);
    if (late)
        findings_step_end(f, "plain", "the model as it is: is it wrong?");
    else
        findings_step_end(f, "plain",
                          "the model as it is, %zu time%s: is it wrong, does it repeat?",
                          f->report->repeats.runs, odb_plural(f->report->repeats.runs));
    return held_exchanged(c, f, err);
}

/* What it says of kernels must be said of this model. */
static void plain_groups(const struct search_case *c, struct findings *f, struct odb_buf *out)
{
    struct odb_groups groups;
    struct odb_error why = ODB_ERROR_INIT;
    char text[600];
    const char *said = odb_buf_text(&findings_account(f)->groups);
    if (odb_groups_read(&groups, said, c->graph, &why) != ODB_OK)
        findings_warn(f, "the target's account of its kernels cannot be read: %s",
                      odb_error_text(&why, text, sizeof text));
    for (size_t i = 0; i < groups.warnings.n; i++)
        findings_warn(f, "%s", groups.warnings.items[i]);
    if (groups.kernels.n)
        odb_buf_printf(out, "%s%zu kernel%s", out->len ? ", in " : "", groups.kernels.n,
                       groups.kernels.n == 1 ? "" : "s");
    odb_groups_dispose(&groups);
}

enum odb_status plain_account(const struct search_case *c, struct findings *f,
                              struct odb_error *err)
{
    struct odb_account *account = findings_account(f);
    struct odb_error why = ODB_ERROR_INIT;
    if (c->prober->now->pieces > 1 || !odb_pool_accounts(c->pool))
        return ODB_OK;
    if (!f->diverge && odb_probe_account_is_dear(c->options->target, f->kept->load)) {
        findings_note(f,
                      "the target was not asked what it made of the model: a load takes %.0f s, "
                      "and its outputs agree; `groups` asks",
                      f->kept->load);
        return ODB_OK;
    }
    findings_step_begin(f, "account");
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, c->n_outputs);
    struct odb_probe again = reading_plain(c, f, "the whole model", outputs);
    enum odb_status status = odb_probe_account(c->prober, &again, account, &why);
    free(outputs);
    if (status == ODB_CANCELLED) {
        *err = why;
        return status;
    }
    if (status != ODB_OK)
        findings_warn(f, "the target cannot say what became of the model: %.300s", why.what);
    for (size_t i = 0; i < account->notes.n; i++)
        findings_note(f, "target: %s", account->notes.items[i]);
    struct odb_buf places = ODB_BUF_INIT;
    odb_account_put_places(account, &places);
    plain_groups(c, f, &places);
    findings_step_end(f, "account", "what the target made of the model%s%.300s",
                      places.len ? ": " : "", odb_buf_text(&places));
    odb_buf_dispose(&places);
    return ODB_OK;
}
