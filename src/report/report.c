/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/groups.h"
#include "base/utf8.h"
#include "report/json.h"
#include "run/value_report.h"
#include "executor/executor.h"

static const struct report_diagnosis {
    const char *name, *verb;
    bool accuses;
} report_diagnoses[ODB_KIND_COUNT] = {
#define REPORT_DIAGNOSIS(id, name, words, accuses, verb) [ODB_KIND_##id] = {name, verb, accuses},
    ODB_DIAGNOSIS_LIST(REPORT_DIAGNOSIS)
#undef REPORT_DIAGNOSIS
};

const char *odb_diagnosis_name(enum odb_diagnosis kind)
{
    return (size_t)kind < ODB_KIND_COUNT ? report_diagnoses[kind].name : "?";
}

bool odb_diagnosis_parse(enum odb_diagnosis *out, const char *name)
{
    for (int k = 0; k < ODB_KIND_COUNT; k++)
        if (!strcmp(report_diagnoses[k].name, name)) {
            *out = (enum odb_diagnosis)k;
            return true;
        }
    return false;
}

const char *odb_opinion_name(enum odb_opinion opinion)
{
    static const char *const names[] = {[ODB_OPINION_TARGET] = "target",
                                        [ODB_OPINION_REFERENCE] = "reference",
                                        [ODB_OPINION_NEITHER] = "neither"};
    return (size_t)opinion < ODB_COUNT(names) ? names[opinion] : NULL;
}

bool odb_diagnosis_accuses(enum odb_diagnosis kind)
{
    return (size_t)kind < ODB_KIND_COUNT && report_diagnoses[kind].accuses;
}

bool odb_culprit_body(const struct odb_culprit *culprit, const struct odb_graph *graph,
                      struct odb_body_step *body)
{
    struct odb_body_path path;
    if (!culprit->inside || !culprit->path ||
        !odb_body_path_parse(graph, NULL, culprit->path, &path) || !path.n)
        return false;
    *body = path.steps[path.n - 1];
    return culprit->inside->index >= 0 &&
           (size_t)culprit->inside->index < body->body.graph->n_nodes;
}

bool odb_report_known(const struct odb_report *report)
{
    bool known = report->culprits.n > 0;
    for (size_t i = 0; i < report->culprits.n; i++)
        known = known && report->culprits.items[i].known;
    return known;
}

bool odb_culprit_is_region(const struct odb_culprit *culprit)
{
    return culprit->segment[0] != culprit->segment[1] && culprit->kind != ODB_KIND_WHOLE &&
           culprit->kind != ODB_KIND_OVERWRITTEN;
}

const char *odb_check_name(enum odb_check check)
{
    static const char *const names[] = {
#define REPORT_CHECK(name, text, help) [ODB_CHECK_##name] = text,
        ODB_CHECK_LIST(REPORT_CHECK)
#undef REPORT_CHECK
    };
    return (size_t)check < ODB_COUNT(names) ? names[check] : "?";
}

const char *odb_confidence_name(enum odb_confidence confidence)
{
    static const char *const names[] = {[ODB_CONFIDENCE_LOW] = "low",
                                        [ODB_CONFIDENCE_MEDIUM] = "medium",
                                        [ODB_CONFIDENCE_HIGH] = "high"};
    return (size_t)confidence < ODB_COUNT(names) ? names[confidence] : NULL;
}

void odb_report_numbers(const struct odb_value_report *report,
                        struct odb_named_number out[ODB_REPORT_NUMBERS])
{
    const struct odb_named_number numbers[ODB_REPORT_NUMBERS] = {
        {"error", report->error},
        {"mean", report->error_mean},
        {"noise", report->noise},
        {"local error", report->local_error},
        {"local noise", report->local_noise},
        {"inherited", report->inherited_error},
        {"gain", report->gain}};
    memcpy(out, numbers, sizeof numbers);
}

/* What errors are measured from: golden, where it is no precision of the reference. */
static const char *report_base(const struct odb_report *report)
{
    bool cpu = !report->golden || odb_executor_is_reference(report->golden);
    return cpu ? report->reference : report->golden;
}

/* Its row's verb says where equal runs begin to differ: that may not be known, or be elsewhere. */
static const char *report_verb(const struct odb_report *report, const struct odb_culprit *culprit)
{
    if (culprit->kind != ODB_KIND_NONDETERMINISTIC || report->repeats.first_node == culprit->node)
        return culprit->kind < ODB_KIND_COUNT ? report_diagnoses[culprit->kind].verb : NULL;
    return report->repeats.first_node == ODB_NO_NODE
               ? "makes an output that differs between equal runs of %s"
               : "was wrong in a run of %s that does not repeat";
}

/* What the first culprit says of the target, in the middle of the sentence that begins with it. */
static void report_put_verdict(const struct odb_report *report, const struct odb_culprit *culprit,
                               struct odb_buf *out)
{
    const char *verb = report_verb(report, culprit);
    const char *subject = report->target, *at = verb ? strstr(verb, "%s") : NULL;
    if (culprit->recorded_weight) {
        odb_buf_printf(out, "; its weight %s is not the recorded one (%s)",
                       culprit->recorded_weight, culprit->recorded_off);
    } else if (culprit->of_recording) {
        return;
    } else if (culprit->of_reference) {
        odb_buf_printf(out, " is where %s is off, not %s", report_base(report), subject);
    } else if (at) {
        odb_buf_printf(out, " %.*s%s%s", (int)(at - verb), verb, subject, at + 2);
    } else {
        odb_buf_printf(out, " is where %s diverges from %s", subject, report_base(report));
    }
}

void odb_culprit_put_place(const struct odb_culprit *culprit, const struct odb_graph *graph,
                           const char *from, struct odb_buf *out)
{
    bool region = odb_culprit_is_region(culprit);
    if (culprit->group.n) {
        odb_node_put(graph, culprit->node, out);
        odb_buf_printf(out, ", fused with %zu other%s from #%d to #%d", culprit->group.n - 1,
                       culprit->group.n == 2 ? "" : "s", culprit->segment[0], culprit->segment[1]);
        return;
    }
    odb_buf_puts(out, region ? from : "");
    odb_node_put(graph, region ? culprit->segment[0] : culprit->node, out);
    if (region) {
        odb_buf_puts(out, " to ");
        odb_node_put(graph, culprit->segment[1], out);
    }
}

void odb_report_headline(const struct odb_report *report, struct odb_buf *out)
{
    bool none = report->dead || odb_report_outcome(report) == ODB_OUTCOME_NONE;
    if (report->sequence && !none) {
        odb_buf_printf(out, "%s: %s", report->target, report->sequence);
        if (!report->culprits.n)
            return;
        odb_buf_puts(out, ": ");
    }
    if (report->dead) {
        odb_buf_printf(out, "no verdict: %s does not run at all here", report->target);
    } else if (odb_report_outcome(report) == ODB_OUTCOME_NONE) {
        odb_buf_printf(out, "no verdict: %s",
                       report->failure ? report->failure : "the search did not end");
    } else if (report->culprits.n) {
        const struct odb_culprit *c = report->culprits.items;
        if (c->of_recording)
            odb_buf_printf(out, "the exported model differs from the recording %s ",
                           c->segment[0] == c->segment[1] ? "at" : "in");
        odb_culprit_put_place(report->culprits.items, report->model->graph, "the region from ",
                              out);
        odb_buf_puts(out, c->group.n ? "," : "");
        if (report->culprits.items[0].path) {
            odb_buf_puts(out, ", within it ");
            odb_buf_put_shown(out, report->culprits.items[0].path);
            odb_buf_putc(out, ',');
        }
        report_put_verdict(report, report->culprits.items, out);
        if (report->culprits.n > 1)
            odb_buf_printf(out, ", the first of %zu culprits", report->culprits.n);
    } else if (report->only_whole) {
        const char *on = strcmp(report->only_whole, "refuses") ? "on " : "";
        odb_buf_printf(out, "%s %s %sthe model as a whole, and %sno part of it that was asked",
                       report->target, report->only_whole, on, on);
    } else if (report->outputs_diverge) {
        odb_buf_printf(out, "%s diverges from %s, and no node %s", report->target,
                       report_base(report), report->unsought ? "was looked for" : "could be named");
    } else if (odb_verdict_is_bad(report->repeats.died)) {
        odb_buf_printf(out, "%s %s in some runs of the model and not in others", report->target,
                       report->repeats.died == ODB_VERDICT_CRASH ? "crashes" : "hangs");
    } else if (odb_report_outcome(report) == ODB_OUTCOME_DIVERGES) {
        odb_buf_printf(out, "%s diverges from %s elsewhere, and not in what was searched",
                       report->target, report_base(report));
    } else {
        odb_buf_printf(out, "no divergence: %s agrees with %s under %s", report->target,
                       report_base(report), report->tolerance);
        if (report->little_shown)
            odb_buf_puts(out, ", " ODB_REPORT_LITTLE);
    }
}

static const struct report_first {
    const char *title;
    size_t offset; /* of an int in struct odb_firsts */
} report_first_rows[] = {
    {"NaN", offsetof(struct odb_firsts, nan)},
    {"Inf", offsetof(struct odb_firsts, inf)},
    {"value beyond float16", offsetof(struct odb_firsts, beyond_f16)},
};

static int report_first(const struct odb_firsts *firsts, const struct report_first *row)
{
    int value;
    memcpy(&value, (const char *)firsts + row->offset, sizeof value);
    return value;
}

static void report_put_first(const struct odb_report *report, int value, struct odb_buf *out)
{
    const struct odb_graph *graph = report->model->graph;
    if (value == ODB_NO_VALUE) {
        odb_buf_puts(out, "none");
    } else if (graph->values[value].producer != ODB_NO_NODE) {
        odb_node_put(graph, graph->values[value].producer, out);
    } else {
        odb_buf_puts(out, "the input ");
        odb_buf_put_shown(out, graph->values[value].name);
    }
}

void odb_report_firsts(const struct odb_report *report, struct odb_buf *out)
{
    for (size_t i = 0; i < ODB_COUNT(report_first_rows); i++) {
        const struct report_first *row = &report_first_rows[i];
        int reference = report_first(&report->reference_firsts, row);
        int target = report_first(&report->target_firsts, row);
        if (reference == ODB_NO_VALUE && target == ODB_NO_VALUE)
            continue;
        odb_buf_printf(out, "first %s: reference ", row->title);
        report_put_first(report, reference, out);
        odb_buf_puts(out, ", target ");
        report_put_first(report, target, out);
        odb_buf_putc(out, '\n');
    }
}

void odb_report_put_left(const struct odb_report *report, struct odb_buf *out)
{
    const struct odb_graph *graph = report->model->graph;
    if (report->complete || !report->left.n)
        return;
    odb_buf_printf(out, "%zu suspect%s left, ", report->left.n,
                   report->left.n == 1 ? " is" : "s are");
    odb_node_put(graph, report->left.first, out);
    if (report->left.n == 1)
        return;
    odb_buf_puts(out, " to ");
    odb_node_put(graph, report->left.last, out);
}

void odb_report_proof(const struct odb_report *report, struct odb_buf *out)
{
    const struct odb_proof *proof = &report->proof;
    if (!proof->tried)
        return;
    if (proof->counterexample != ODB_NO_NODE) {
        odb_buf_puts(out, "not proved: the cut behind ");
        odb_node_put(report->model->graph, proof->counterexample, out);
        odb_buf_puts(out, " is bad as well");
    } else if (!proof->cuts) {
        odb_buf_puts(out, "proved: nothing stands before it");
    } else {
        odb_buf_printf(out, "%s: %zu earlier cut%s good",
                       proof->untestable ? "not proved" : "proved", proof->good,
                       proof->good == 1 ? "" : "s");
    }
    if (proof->untestable)
        odb_buf_printf(out, ", %zu cannot be tested", proof->untestable);
    odb_buf_putc(out, '\n');
}

void odb_put_off(struct odb_number error, struct odb_number noise, struct odb_buf *out)
{
    if (error.v == 0) {
        odb_buf_puts(out, "no finite number, but NaN or infinities stand elsewhere");
        return;
    }
    odb_buf_printf(out, "%.3g", error.v);
    if (noise.known)
        odb_buf_printf(out, " where rounding explains %.3g", noise.v);
}

void odb_culprit_put_kernel(const struct odb_culprit *culprit, const struct odb_graph *graph,
                            const char *indent, struct odb_buf *out)
{
    const struct odb_kernel *kernel = culprit->kernel;
    if (kernel && (kernel->n > 1 || kernel->made_by)) {
        odb_buf_printf(out, "%sin the target's kernel ", indent);
        odb_kernel_put(kernel, graph, out);
        odb_buf_puts(out, kernel->made_by ? ", made by its pass " : "");
        odb_buf_put_shown(out, kernel->made_by ? kernel->made_by : "");
        odb_buf_putc(out, '\n');
    }
    if (culprit->read_as) {
        odb_buf_printf(out, "%sthe target holds the value as ", indent);
        odb_buf_put_shown(out, culprit->read_as);
        odb_buf_putc(out, '\n');
    }
}

void odb_culprit_facts(const struct odb_culprit *culprit, struct odb_buf *out)
{
    bool region = culprit->segment[0] != culprit->segment[1];
    bool alone_right = culprit->checks[ODB_CHECK_ALONE] == ODB_CONTRADICTS;
    if (region)
        odb_buf_printf(out, "%s: #%d to #%d; ",
                       culprit->of_reference ? "region" : "the smallest region that fails",
                       culprit->segment[0], culprit->segment[1]);
    if (culprit->of_reference)
        odb_buf_puts(out, "not the target's; ");
    else if (culprit->kind == ODB_KIND_EXCHANGED)
        odb_buf_puts(out, alone_right ? "right alone; " : "");
    else
        odb_buf_printf(out, "%sverified %s; ", culprit->verified ? "" : "not ",
                       culprit->kind == ODB_KIND_OVERFLOW ? "in the reference's run"
                       : region                           ? "as a whole"
                                                          : "alone");
    odb_buf_printf(out, "%s", culprit->reaches_output ? "reaches an output" : "no output shows it");
    if (odb_confidence_name(culprit->confidence))
        odb_buf_printf(out, "; confidence: %s", odb_confidence_name(culprit->confidence));
}

/* Types alone: a program in Python has double where it took no care. */
static void report_put_types(const struct odb_report *report, struct odb_buf *out)
{
    size_t n = 0;
    const struct odb_culprit *first = NULL;
    for (size_t i = 0; i < report->culprits.n; i++) {
        const struct odb_culprit *culprit = &report->culprits.items[i];
        if (culprit->numbers.verdict != ODB_VERDICT_DTYPE)
            continue;
        first = n++ ? first : culprit;
    }
    if (!n)
        return;
    odb_buf_printf(out, "%zu of %zu culprits give another element type, the first ", n,
                   report->culprits.n);
    odb_buf_put_shown(out, first->numbers.reason);
    odb_buf_puts(out, ";\n--types value compares the numbers all the same");
}

void odb_report_put_hint(const struct odb_report *report, struct odb_buf *out)
{
    size_t n = report->culprits.n, lost = 0;
    const struct odb_culprit *other = NULL;
    if (!report->narrower) {
        report_put_types(report, out);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct odb_culprit *culprit = &report->culprits.items[i];
        lost += culprit->narrower;
        other = !other && !culprit->narrower ? culprit : other;
    }
    odb_buf_printf(out, "%zu of %zu culprits are off by no more than computing in %s must lose",
                   lost, n, report->narrower);
    if (other) {
        odb_buf_puts(out, ";\n");
        odb_node_put(report->model->graph, other->node, out);
        odb_buf_puts(out, " is not");
    }
    odb_buf_printf(out, ";\nif the target is meant to compute in it, judge it with --expect %s",
                   report->narrower);
}

void odb_report_put_settings(const struct odb_report *report, struct odb_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < report->settings.n; i++) {
        const struct odb_setting_tried *tried = &report->settings.items[i];
        if (tried->verdict != ODB_VERDICT_PASS)
            continue;
        odb_buf_puts(out, n++ ? ", and with " : "It goes away with ");
        odb_buf_put_shown(out, tried->option);
        odb_buf_puts(out, " (");
        odb_buf_put_shown(out, tried->help);
        odb_buf_putc(out, ')');
    }
    odb_buf_puts(out, n ? ". " : "");
}

struct odb_report *odb_report_new(const struct odb_model *model)
{
    struct odb_report *report = odb_new(struct odb_report);
    report->account = (struct odb_account)ODB_ACCOUNT_INIT;
    report->model = model;
    report->n_values = model->graph->n_values;
    report->values = odb_room_n(struct odb_value_report, report->n_values + 1);
    report->given = odb_new_n(struct odb_tensor *, report->n_values);
    report->repeats.first_node = ODB_NO_NODE;
    report->contributions_to = ODB_NO_VALUE;
    report->reference_firsts = report->target_firsts = (struct odb_firsts)ODB_FIRSTS_NONE;
    return report;
}

void odb_culprit_dispose(struct odb_culprit *culprit)
{
    struct odb_culprit_inside *inside = culprit->inside;
    if (inside) {
        free(inside->name);
        free(inside->op_type);
        free(inside->domain);
        free(inside->value);
    }
    free(inside);
    odb_kernel_free(culprit->kernel);
    free(culprit->group.items);
    free(culprit->cut.items);
    free(culprit->read_as);
    free(culprit->histograms);
    free(culprit->together.items);
    free(culprit->runs_with);
    odb_explanations_dispose(&culprit->explained);
    free(culprit->third_by);
    free(culprit->own_by);
    free(culprit->within);
    free(culprit->recorded_weight);
    free(culprit->path);
    free(culprit->text);
}

void odb_report_free(struct odb_report *report)
{
    if (!report)
        return;
    for (size_t i = 0; i < report->warnings.n; i++)
        free(report->warnings.items[i]);
    for (size_t i = 0; i < report->steps.n; i++)
        free(report->steps.items[i].why);
    for (size_t i = 0; i < report->settings.n; i++) {
        free(report->settings.items[i].option);
        free(report->settings.items[i].help);
    }
    for (size_t i = 0; i < report->culprits.n; i++)
        odb_culprit_dispose(&report->culprits.items[i]);
    for (size_t v = 0; v < report->n_values; v++)
        odb_tensor_unref(report->given[v]);
    for (size_t i = 0; i < report->notes.n; i++)
        free(report->notes.items[i]);
    free(report->undecided.items);
    free(report->settings.items);
    free(report->notes.items);
    free(report->repeats.outputs.items);
    free(report->contributions.items);
    free(report->pinned.items);
    free(report->warnings.items);
    free(report->steps.items);
    free(report->phases.items);
    free(report->culprits.items);
    free(report->reference);
    free(report->target);
    free(report->golden);
    free(report->narrower);
    free(report->tolerance);
    odb_room_free(report->values);
    free(report->given);
    free(report->failure);
    free(report->signature);
    free(report->pieces.refused.items);
    free(report->target_description);
    free(report->host);
    free(report->target_words);
    free(report->cut_found);
    free(report->instead_text);
    odb_account_dispose(&report->account);
    json_decref(report->more);
    json_decref(report->written);
    free(report->summary);
    free(report->sequence);
    free(report->ranking);
    free(report);
}

const char *odb_report_steps(const struct odb_report *report, size_t *step)
{
    const json_t *sequence =
        json_object_get(report->more ? report->more : report->written, "sequence");
    const json_t *onset = json_object_get(sequence, "onset");
    *step = (size_t)json_integer_value(onset);
    return onset && !json_is_null(onset) ? json_string_value(json_object_get(sequence, "verdict"))
                                         : NULL;
}

void odb_report_put_words(const struct odb_report *report, const char *indent, struct odb_buf *out)
{
    char *words = odb_xstrdup(report->target_words ? report->target_words : "");
    char *rest = NULL, *line = strtok_r(words, "\r\n", &rest);
    bool several = rest && *rest;
    for (; several && line; line = strtok_r(NULL, "\r\n", &rest)) {
        odb_buf_puts(out, indent);
        odb_buf_put_shown(out, line);
        odb_buf_putc(out, '\n');
    }
    free(words);
}

void odb_report_spent(struct odb_report *report, const char *name, struct odb_spent spent,
                      double target_seconds)
{
    struct odb_phase *phase = NULL;
    for (size_t i = 0; i < report->phases.n && !phase; i++)
        if (!strcmp(report->phases.items[i].name, name))
            phase = &report->phases.items[i];
    if (!phase) {
        odb_push(&report->phases, (struct odb_phase){.name = name});
        phase = &report->phases.items[report->phases.n - 1];
    }
    phase->spent.seconds += spent.seconds;
    phase->spent.processor += spent.processor;
    phase->target_seconds += target_seconds;
}

void odb_report_warn(struct odb_report *report, const char *fmt, ...)
{
    va_list args;
    char line[1024];
    va_start(args, fmt);
    odb_text_vfit(line, sizeof line, fmt, args);
    va_end(args);
    odb_push(&report->warnings, odb_xstrdup(line));
}

void odb_report_note(struct odb_report *report, const char *fmt, ...)
{
    va_list args;
    char line[1024];
    va_start(args, fmt);
    odb_text_vfit(line, sizeof line, fmt, args);
    va_end(args);
    for (size_t i = 0; i < report->notes.n; i++)
        if (!strcmp(report->notes.items[i], line))
            return;
    odb_push(&report->notes, odb_xstrdup(line));
}
