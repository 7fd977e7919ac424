/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What no output shows and nothing verified is a note. The outputs are what a model is for: where
 * all of them agree, a node is accused on evidence of its own, that it fails alone or in a region.
 * A value that was off while it was read, and that the same node alone does not repeat, is worth
 * knowing and no reason to fail. Where an output could not be judged nobody knows what it would
 * have shown, and a recording can be asked nothing more, so what accuses there stays.
 */
#include "bisect/plan/unseen.h"

#include "base/mem.h"
#include "report/report.h"

static bool unseen_outputs_pass(const struct bisection *b)
{
    for (size_t o = 0; o < b->n_outputs; o++)
        if (b->report->values[b->outputs[o]].verdict != ODB_VERDICT_PASS)
            return false;
    return b->n_outputs > 0 && !b->report->outputs_diverge;
}

static void unseen_note(const struct bisection *b, const struct odb_culprit *culprit)
{
    struct odb_buf line = ODB_BUF_INIT;
    odb_node_put(b->graph, culprit->node, &line);
    odb_buf_printf(&line, ": %s, not verified", odb_diagnosis_name(culprit->kind));
    if (culprit->value != ODB_NO_VALUE) {
        odb_buf_puts(&line, ": its output ");
        odb_buf_put_shown(&line, b->graph->values[culprit->value].name);
        odb_buf_puts(&line, " is off");
        if (culprit->numbers.error.known) {
            odb_buf_puts(&line, " by ");
            odb_put_off(culprit->numbers.error, culprit->numbers.noise, &line);
        }
    }
    odb_report_note(b->report, "%s, and no output of the model shows it; --strict counts it",
                    odb_buf_text(&line));
    odb_buf_dispose(&line);
}

void unseen_set_aside(struct bisection *b)
{
    struct odb_report *report = b->report;
    size_t kept = 0;
    if (b->options->strict || b->options->scope || b->prober.recorded || !unseen_outputs_pass(b))
        return;
    for (size_t c = 0; c < report->culprits.n; c++) {
        struct odb_culprit *culprit = &report->culprits.items[c];
        if (culprit->verified || culprit->reaches_output || culprit->of_reference) {
            report->culprits.items[kept++] = *culprit;
            continue;
        }
        unseen_note(b, culprit);
        if (culprit->value != ODB_NO_VALUE)
            report->values[culprit->value].culprit = false;
        odb_culprit_dispose(culprit);
    }
    report->culprits.n = kept;
}
