/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/search/calibration.h"

#include <stdlib.h>

#include "calibration/encoding_loss.h"
#include "report/outcome.h"

#define CALIBRATION_NAMES 5 /* that the model lacks, in a warning */

/* Names of the file that are none of the model's: a compiler may have values of its own. */
static void calibration_unknown(struct odb_report *report, const struct odb_loss *loss)
{
    struct odb_buf names = ODB_BUF_INIT;
    for (size_t i = 0; i < loss->unknown.n && i < CALIBRATION_NAMES; i++)
        odb_buf_printf(&names, "%s%s", i ? ", " : "", loss->unknown.items[i]);
    if (loss->unknown.n > CALIBRATION_NAMES)
        odb_buf_puts(&names, ", …");
    if (loss->unknown.n)
        odb_report_warn(report, "%zu of %zu names in %s are none of the model's values: %s",
                        loss->unknown.n, loss->encodings->list.n, loss->encodings->path,
                        odb_buf_text(&names));
    odb_buf_dispose(&names);
}

/* What a target computes that quantises nothing is no fault of any of its nodes. */
static void calibration_acquit(struct odb_report *report)
{
    struct odb_error why = ODB_ERROR_INIT;
    for (size_t i = 0; i < report->culprits.n; i++)
        odb_culprit_dispose(&report->culprits.items[i]);
    report->culprits.n = 0;
    odb_fail(&why, ODB_E_EXECUTOR,
             "the target computes in float: its outputs are those of the float model, and not what "
             "the encodings make of them");
    odb_error_at(&why, "%s", report->target);
    odb_error_remedy(&why, "judge it without --encodings, or give it the encodings");
    odb_report_undecide(report, ODB_UNDECIDED_FLOAT, &why);
}

static void calibration_report(struct odb_report *report, const struct odb_loss *loss)
{
    struct odb_buf text = ODB_BUF_INIT;
    if (loss->unquantised)
        calibration_acquit(report);
    odb_loss_verdict(loss, report->culprits.n > 0 || report->outputs_diverge, &text);
    if (text.len)
        odb_report_note(report, "%s", odb_buf_text(&text));
    odb_buf_clear(&text);
    if (report->summary)
        odb_buf_puts(&text, report->summary);
    odb_loss_put(loss, &text);
    free(report->summary);
    report->summary = odb_buf_take(&text);
    if (!report->more)
        report->more = json_object();
    json_object_set_new(report->more, "encodings", odb_loss_json(loss));
    calibration_unknown(report, loss);
}

enum odb_status odb_call__calibration(struct odb_report *report,
                                      const struct odb_bisect_options *options,
                                      struct odb_error *err)
{
    struct odb_loss loss;
    if (!options->encodings || !options->trace)
        return ODB_OK;
    ODB_TRY(odb_loss_measure(&loss, options->trace, report->given, &options->hooks, err));
    calibration_report(report, &loss);
    odb_loss_dispose(&loss);
    return ODB_OK;
}
