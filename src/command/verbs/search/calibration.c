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
        odb_report_warn(report, "%zu of %zu names in %s %s none of the model's values: %s",
                        loss->unknown.n, loss->encodings->list.n, loss->encodings->path,
                        loss->unknown.n == 1 ? "is" : "are", odb_buf_text(&names));
    odb_buf_dispose(&names);
}

static void calibration_report(struct odb_report *report, const struct odb_loss *loss)
{
    struct odb_buf text = ODB_BUF_INIT;
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
                                      enum odb_status status, struct odb_error *err)
{
    struct odb_loss loss;
    struct odb_error why = ODB_ERROR_INIT;
    bool ended = status == ODB_OK || report->undecided.n;
    if (!options->encodings || !options->trace || !ended)
        return status;
    enum odb_status measured =
        odb_loss_measure(&loss, options->trace, report->given, &options->hooks, &why);
    if (measured != ODB_OK) {
        if (status == ODB_OK)
            *err = why;
        return status == ODB_OK ? measured : status;
    }
    loss.unquantised = odb_report_undecided(report, ODB_UNDECIDED_FLOAT);
    calibration_report(report, &loss);
    odb_loss_dispose(&loss);
    return status;
}
