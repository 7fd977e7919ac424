/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/plan/plain.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bisect/alone/held.h"
#include "bisect/plan/own_file.h"
#include "bisect/reading.h"
#include "bisect/repeat.h"

static enum odb_status plain_judge(struct bisection *b, enum odb_verdict *shown,
                                   struct odb_error *err)
{
    for (size_t o = 0; o < b->n_outputs; o++) {
        int v = b->outputs[o];
        ODB_TRY(odb_judge_value(&b->judge, v, b->plain[o], &b->verdicts[o], err));
        b->report->values[v] = b->verdicts[o];
        findings_keep(b, v, b->plain[o]);
        findings_tell(b, v);
        odb_probe_shows(shown, b->verdicts[o].verdict);
    }
    b->report->outputs_diverge = odb_verdict_is_bad(*shown);
    return ODB_OK;
}

/* The failure that the search is about, by which it knows it again: that of the worst output, or
 * how the target ended. */
static void plain_sign(struct bisection *b, enum odb_status status, const struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    int worst = -1;
    odb_signature_status(&b->sought, status, err);
    for (size_t o = 0; o < b->n_outputs && status == ODB_OK; o++) {
        const struct odb_value_report *verdict = &b->verdicts[o];
        if (odb_verdict_is_bad(verdict->verdict) &&
            (worst < 0 || verdict->error.v > b->verdicts[worst].error.v))
            worst = (int)o;
    }
    if (worst >= 0)
        odb_signature_value(&b->sought, b->graph->values[b->outputs[worst]].name,
                            &b->verdicts[worst], b->plain[worst],
                            b->trace->golden[b->outputs[worst]]);
    if (odb_verdict_is_bad(b->sought.verdict)) {
        odb_signature_text(&b->sought, &text);
        free(b->report->signature);
        b->report->signature = odb_buf_take(&text);
    }
    odb_buf_dispose(&text);
}

enum odb_status plain_run(struct bisection *b, struct odb_error *err)
{
    struct odb_probe probe = reading_plain(b, "the whole model", b->plain);
    ODB_TRY(own_file_instead(b, &probe, err));
    findings_step_begin(b, "plain run 1");
    enum odb_status status = odb_probe_run(&b->prober, &probe, err);
    enum odb_verdict shown = odb_probe_verdict(status);
    if (status == ODB_OK)
        status = plain_judge(b, &shown, err);
    else
        findings_step_end(b, "plain", "the model as it is: %s", odb_status_text(status));
    plain_sign(b, status, err);
    odb_probe_tell(&b->prober, &probe, shown, 0);
    ODB_TRY(status);
    ODB_TRY(repeat_runs(b, err));
    struct odb_target_stats stats = odb_pool_stats(b->pool);
    b->load = stats.load_seconds / (double)ODB_MAX(stats.loads, (size_t)1);
    b->run = stats.run_seconds / (double)ODB_MAX(stats.runs, (size_t)1);
    findings_step_end(b, "plain", "the model as it is, %zu times: is it wrong, does it repeat?",
                      b->report->repeats.runs);
    return held_exchanged(b, err);
}

enum odb_status plain_account(struct bisection *b, struct odb_error *err)
{
    struct odb_target *target = odb_pool_target(b->pool);
    struct odb_account *account = &b->report->account;
    struct odb_error why = ODB_ERROR_INIT;
    if (b->prober.pieces > 1 || !odb_target_accounts(target))
        return ODB_OK;
    findings_step_begin(b, "account");
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, b->n_outputs);
    struct odb_probe again = reading_plain(b, "the whole model", outputs);
    enum odb_status status = odb_probe_account(&b->prober, &again, account, &why);
    free(outputs);
    if (status == ODB_CANCELLED) {
        *err = why;
        return status;
    }
    if (status != ODB_OK)
        odb_report_warn(b->report, "the target cannot say what became of the model: %.300s",
                        why.what);
    for (size_t i = 0; i < account->notes.n; i++)
        odb_report_note(b->report, "target: %s", account->notes.items[i]);
    struct odb_buf places = ODB_BUF_INIT;
    odb_account_put_places(account, &places);
    findings_step_end(b, "account", "what the target made of the model%s%.300s",
                      places.len ? ": " : "", odb_buf_text(&places));
    odb_buf_dispose(&places);
    return ODB_OK;
}
