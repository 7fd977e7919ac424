/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/outcome.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/json.h"
#include "report/report.h"

static const char *const outcome_words[] = {
#define OUTCOME_WORD(name, word, help) [ODB_OUTCOME_##name] = word,
    ODB_OUTCOME_LIST(OUTCOME_WORD)
#undef OUTCOME_WORD
};

static const bool outcome_beats[] = {
#define OUTCOME_UNDECIDED(name, beats) [ODB_UNDECIDED_##name] = beats,
    ODB_UNDECIDED_LIST(OUTCOME_UNDECIDED)
#undef OUTCOME_UNDECIDED
};

const char *odb_outcome_name(enum odb_outcome outcome)
{
    return (size_t)outcome < ODB_COUNT(outcome_words) ? outcome_words[outcome] : "?";
}

/* The reason that holds before all others; NULL: there is none. */
static const struct odb_undecided_reason *outcome_reason(const struct odb_report *report)
{
    const struct odb_undecided_reason *first = NULL;
    for (size_t i = 0; i < report->undecided.n; i++) {
        const struct odb_undecided_reason *reason = &report->undecided.items[i];
        if (!first || (outcome_beats[reason->why] && !outcome_beats[first->why]))
            first = reason;
    }
    return first;
}

enum odb_outcome odb_report_outcome(const struct odb_report *report)
{
    const struct odb_undecided_reason *reason = outcome_reason(report);
    bool found = report->outputs_diverge || report->culprits.n || report->elsewhere ||
                 odb_verdict_is_bad(report->repeats.died);
    if (report->told)
        return report->stored;
    if (report->dead || (reason && outcome_beats[reason->why]))
        return ODB_OUTCOME_NONE;
    if (!report->complete && !report->spent)
        return ODB_OUTCOME_NONE;
    if (found)
        return ODB_OUTCOME_DIVERGES;
    return report->complete && !reason ? ODB_OUTCOME_PASS : ODB_OUTCOME_NONE;
}

enum odb_outcome odb_outcome_told(const char *word, bool complete, bool found)
{
    for (size_t i = 0; word && i < ODB_COUNT(outcome_words); i++)
        if (!strcmp(outcome_words[i], word))
            return (enum odb_outcome)i;
    return found ? ODB_OUTCOME_DIVERGES : complete ? ODB_OUTCOME_PASS : ODB_OUTCOME_NONE;
}

enum odb_outcome odb_outcome_of_json(const struct json_t *report)
{
    bool found = json_array_size(json_object_get(report, "culprits")) ||
                 json_is_true(json_object_get(report, "outputs_diverge"));
    return odb_outcome_told(json_string_value(json_object_get(report, "verdict")),
                            json_is_true(json_object_get(report, "complete")), found);
}

void odb_report_undecide(struct odb_report *report, enum odb_undecided why,
                         const struct odb_error *because)
{
    odb_push(&report->undecided, (struct odb_undecided_reason){why, *because, false});
}

bool odb_report_undecided(const struct odb_report *report, enum odb_undecided why)
{
    bool has = false;
    for (size_t i = 0; i < report->undecided.n; i++)
        has |= report->undecided.items[i].why == why;
    return has;
}

/* Where there is a verdict all the same, a reason is reported once. */
static void outcome_warn(struct odb_report *report)
{
    char text[900];
    for (size_t i = 0; i < report->undecided.n; i++) {
        struct odb_undecided_reason *reason = &report->undecided.items[i];
        if (!reason->told)
            odb_report_warn(report, "%s", odb_error_text(&reason->because, text, sizeof text));
        reason->told = true;
    }
}

enum odb_status odb_report_end(struct odb_report *report, enum odb_status status,
                               struct odb_error *err)
{
    const struct odb_undecided_reason *reason = outcome_reason(report);
    struct odb_error because = ODB_ERROR_INIT;
    char text[1500];
    report->complete = status == ODB_OK;
    if (status != ODB_CANCELLED && !report->spent) /* it ended for another reason than time */
        report->left = (struct odb_left){0};
    if (status != ODB_OK && err) {
        because = *err;
    } else if (status != ODB_OK) {
        odb_fail(&because, status, "%s", odb_status_text(status));
    } else if (odb_report_outcome(report) == ODB_OUTCOME_NONE) {
        because = reason->because;
        report->complete = false;
        if (err)
            *err = because;
    } else {
        outcome_warn(report);
    }
    free(report->failure);
    report->failure =
        because.code == ODB_OK ? NULL : odb_xstrdup(odb_error_text(&because, text, sizeof text));
    return because.code;
}
