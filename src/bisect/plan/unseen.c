/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What no output shows and nothing verified is a note. The outputs are what a model is for: where
 * all of them agree, a node is accused on evidence of its own, that it fails alone or in a region.
 * A value that was off while it was read, and that the same node alone does not repeat, is worth
 * knowing and no reason to fail. Where an output could not be judged, what it would have shown is
 * unknown, and a recording can be asked nothing more, so what accuses there stays.
 */
#include "bisect/plan/unseen.h"

#include "base/mem.h"
#include "report/report.h"

static bool unseen_outputs_pass(const struct search_case *c, const struct findings *f)
{
    for (size_t o = 0; o < c->n_outputs; o++)
        if (f->values[c->outputs[o]].verdict != ODB_VERDICT_PASS)
            return false;
    return c->n_outputs > 0 && !f->diverge;
}

static void unseen_note(const struct search_case *c, struct findings *f,
                        const struct odb_culprit *culprit)
{
    struct odb_buf line = ODB_BUF_INIT;
    odb_node_put(c->graph, culprit->node, &line);
    odb_buf_printf(&line, ": %s, not verified", odb_diagnosis_name(culprit->kind));
    if (culprit->value != ODB_NO_VALUE) {
        odb_buf_puts(&line, ": its output ");
        odb_buf_put_shown(&line, c->graph->values[culprit->value].name);
        odb_buf_puts(&line, " is off");
        if (culprit->numbers.error.known) {
            odb_buf_puts(&line, " by ");
            odb_put_off(culprit->numbers.error, culprit->numbers.noise, &line);
        }
    }
    findings_note(f, "%s, and no output of the model shows it; --strict counts it",
                  odb_buf_text(&line));
    odb_buf_dispose(&line);
}

void unseen_set_aside(const struct search_case *c, struct findings *f)
{
    if (c->options->strict || c->options->scope || c->prober->recorded ||
        !unseen_outputs_pass(c, f))
        return;
    for (size_t i = 0; i < f->report->culprits.n;) {
        const struct odb_culprit *culprit = &f->report->culprits.items[i];
        if (culprit->verified || culprit->reaches_output || culprit->of_reference) {
            i++;
            continue;
        }
        unseen_note(c, f, culprit);
        if (culprit->value != ODB_NO_VALUE)
            findings_judge(f)[culprit->value].culprit = false;
        findings_drop(f, i);
    }
}
