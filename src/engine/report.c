/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/json.h"

const char *odb_diagnosis_name(enum odb_diagnosis kind)
{
    static const char *const names[] = {
#define REPORT_NAME(name, text) [ODB_KIND_##name] = text,
        ODB_DIAGNOSIS_LIST(REPORT_NAME)
#undef REPORT_NAME
    };
    return (size_t)kind < ODB_COUNT(names) ? names[kind] : "?";
}

bool odb_diagnosis_accuses(enum odb_diagnosis kind)
{
    return kind == ODB_KIND_INTRODUCED || kind == ODB_KIND_NAN || kind == ODB_KIND_INF;
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
    bool cpu = !report->golden || strncmp(report->golden, "cpu", 3) == 0;
    return cpu ? report->reference : report->golden;
}

/* What the first culprit says of the target, in the middle of the sentence that begins with it. */
static void report_put_verdict(const struct odb_report *report, const struct odb_culprit *culprit,
                               struct odb_buf *out)
{
    static const char *const verbs[] = {
        [ODB_KIND_CRASH] = " is where %s crashes",
        [ODB_KIND_HANG] = " is where %s hangs",
        [ODB_KIND_NONDETERMINISTIC] = " is where equal runs of %s begin to differ",
        [ODB_KIND_AMPLIFIED] = " is where small errors of %s grow, and no node is to blame",
        [ODB_KIND_ACCUMULATED] = " is where small errors of %s add up, and no node is to blame",
    };
    const char *verb = culprit->kind < ODB_COUNT(verbs) ? verbs[culprit->kind] : NULL;
    const char *subject = report->target, *at = verb ? strstr(verb, "%s") : NULL;
    if (culprit->of_reference) {
        odb_buf_printf(out, " is where %s is off, not %s", report_base(report), subject);
    } else if (at) {
        odb_buf_printf(out, "%.*s%s%s", (int)(at - verb), verb, subject, at + 2);
    } else {
        odb_buf_printf(out, " is where %s diverges from %s", subject, report_base(report));
    }
}

/* A node is named where it is known to be the one. */
static void report_put_place(const struct odb_report *report, const struct odb_culprit *culprit,
                             struct odb_buf *out)
{
    const struct odb_graph *graph = report->model->graph;
    bool region = culprit->segment[0] != culprit->segment[1];
    odb_buf_puts(out, region ? "the region from " : "");
    odb_node_put(graph, region ? culprit->segment[0] : culprit->node, out);
    if (region) {
        odb_buf_puts(out, " to ");
        odb_node_put(graph, culprit->segment[1], out);
    }
}

void odb_report_headline(const struct odb_report *report, struct odb_buf *out)
{
    if (report->dead) {
        odb_buf_printf(out, "%s does not run at all here, so there is no verdict on the model",
                       report->target);
    } else if (report->failure) {
        odb_buf_printf(out, "the search did not end: %s", report->failure);
    } else if (report->culprits.n) {
        report_put_place(report, report->culprits.items, out);
        if (report->culprits.items[0].path) {
            odb_buf_puts(out, ", within it ");
            odb_buf_put_shown(out, report->culprits.items[0].path);
            odb_buf_putc(out, ',');
        }
        report_put_verdict(report, report->culprits.items, out);
        if (report->culprits.n > 1)
            odb_buf_printf(out, ", the first of %zu culprits", report->culprits.n);
    } else if (report->only_whole) {
        odb_buf_printf(out, "%s %s on the model as a whole, and on no part of it that was asked",
                       report->target, report->only_whole);
    } else if (report->outputs_diverge) {
        odb_buf_printf(out, "%s diverges from %s, and no node could be named", report->target,
                       report_base(report));
    } else {
        odb_buf_printf(out, "no divergence: %s agrees with %s under %s", report->target,
                       report_base(report), report->tolerance);
    }
}

/* The three kinds of firsts, for text and JSON. */
static const struct report_first {
    const char *title, *key;
    size_t offset; /* of an int in struct odb_firsts */
} report_first_rows[] = {
    {"NaN", "nan", offsetof(struct odb_firsts, nan)},
    {"Inf", "inf", offsetof(struct odb_firsts, inf)},
    {"value beyond float16", "beyond_f16", offsetof(struct odb_firsts, beyond_f16)},
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

void odb_culprit_facts(const struct odb_culprit *culprit, struct odb_buf *out)
{
    bool region = culprit->segment[0] != culprit->segment[1];
    if (region)
        odb_buf_printf(out, "%s: #%d to #%d; ",
                       culprit->of_reference ? "region" : "the smallest region that fails",
                       culprit->segment[0], culprit->segment[1]);
    if (culprit->of_reference)
        odb_buf_puts(out, "not the target's; ");
    else
        odb_buf_printf(out, "%sverified %s; ", culprit->verified ? "" : "not ",
                       region ? "as a whole" : "alone");
    odb_buf_printf(out, "%s", culprit->reaches_output ? "reaches an output" : "no output shows it");
    if (odb_confidence_name(culprit->confidence))
        odb_buf_printf(out, "; confidence: %s", odb_confidence_name(culprit->confidence));
}

#define REPORT_MANY 20 /* culprits are no single fault any more */

const char *odb_report_hint(const struct odb_report *report)
{
    size_t n = report->culprits.n;
    if (n <= REPORT_MANY || n <= report->model->graph->n_nodes / 3 || report->expect)
        return NULL;
    return "so many nodes are off alike when the target computes in a narrower type;\nif it is "
           "meant "
           "to, judge it with --expect f16, bf16 or tf32";
}

struct odb_report *odb_report_new(const struct odb_model *model)
{
    struct odb_report *report = odb_new(struct odb_report);
    report->account = (struct odb_account)ODB_ACCOUNT_INIT;
    report->model = model;
    report->n_values = model->graph->n_values;
    report->values = odb_new_n(struct odb_value_report, report->n_values + 1);
    report->given = odb_new_n(struct odb_tensor *, report->n_values);
    report->repeats.first_node = ODB_NO_NODE;
    report->contributions_to = ODB_NO_VALUE;
    report->reference_firsts = report->target_firsts = (struct odb_firsts)ODB_FIRSTS_NONE;
    return report;
}

static void report_culprit_dispose(struct odb_culprit *culprit)
{
    struct odb_culprit_inside *inside = culprit->inside;
    if (inside) {
        free(inside->name);
        free(inside->op_type);
        free(inside->domain);
        free(inside->value);
    }
    free(inside);
    free(culprit->histograms);
    free(culprit->within);
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
    for (size_t i = 0; i < report->culprits.n; i++)
        report_culprit_dispose(&report->culprits.items[i]);
    for (size_t v = 0; v < report->n_values; v++)
        odb_tensor_unref(report->given[v]);
    for (size_t i = 0; i < report->notes.n; i++)
        free(report->notes.items[i]);
    free(report->notes.items);
    free(report->repeats.outputs.items);
    free(report->contributions.items);
    free(report->pinned.items);
    free(report->warnings.items);
    free(report->steps.items);
    free(report->culprits.items);
    free(report->reference);
    free(report->target);
    free(report->golden);
    free(report->tolerance);
    free(report->values);
    free(report->given);
    free(report->failure);
    free(report->signature);
    free(report->target_description);
    free(report->host);
    free(report->target_words);
    odb_account_dispose(&report->account);
    json_decref(report->more);
    free(report->summary);
    free(report);
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

void odb_report_warn(struct odb_report *report, const char *fmt, ...)
{
    va_list args;
    char line[1024];
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    odb_push(&report->warnings, odb_xstrdup(line));
}

void odb_report_note(struct odb_report *report, const char *fmt, ...)
{
    va_list args;
    char line[1024];
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    odb_push(&report->notes, odb_xstrdup(line));
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void report_set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *report_number(struct odb_number number)
{
    return number.known ? odb_json_real(number.v) : json_null();
}

static void report_numbers(json_t *object, const struct odb_value_report *numbers)
{
    report_set(object, "error", report_number(numbers->error));
    report_set(object, "error_mean", report_number(numbers->error_mean));
    report_set(object, "local_error", report_number(numbers->local_error));
    report_set(object, "inherited_error", report_number(numbers->inherited_error));
    report_set(object, "gain", report_number(numbers->gain));
    report_set(object, "noise", report_number(numbers->noise));
    report_set(object, "local_noise", report_number(numbers->local_noise));
}

static json_t *report_value_key(const struct odb_report *report, int value)
{
    const struct odb_graph *graph = report->model->graph;
    char key[512];
    if (value == ODB_NO_VALUE)
        return json_null();
    if (*graph->values[value].name)
        return odb_json_text(graph->values[value].name);
    return odb_json_text(odb_value_key(graph, &graph->values[value], key, sizeof key));
}

static json_t *report_inputs(const struct odb_report *report)
{
    json_t *inputs = json_array();
    for (size_t i = 0; report->feeds && i < report->feeds->n; i++) {
        const struct odb_feed *feed = &report->feeds->items[i];
        json_t *input = json_object();
        report_set(input, "name", report_value_key(report, feed->value));
        report_set(input, "dtype", odb_json_text(odb_dtype_info(feed->tensor->dtype)->name));
        report_set(input, "shape", odb_json_shape(feed->tensor));
        report_set(input, "source", odb_json_text(feed->source));
        json_array_append_new(inputs, input);
    }
    return inputs;
}

static json_t *report_steps(const struct odb_report *report)
{
    json_t *steps = json_array();
    for (size_t i = 0; i < report->steps.n; i++) {
        const struct odb_search_step *step = &report->steps.items[i];
        json_t *object = json_object();
        report_set(object, "step", odb_json_text(step->step));
        report_set(object, "why", odb_json_text(step->why));
        report_set(object, "loads", json_integer((json_int_t)step->loads));
        report_set(object, "runs", json_integer((json_int_t)step->runs));
        report_set(object, "seconds", odb_json_real(step->seconds));
        json_array_append_new(steps, object);
    }
    return steps;
}

static json_t *report_opinion(enum odb_opinion opinion)
{
    static const char *const names[] = {[ODB_OPINION_TARGET] = "target",
                                        [ODB_OPINION_REFERENCE] = "reference",
                                        [ODB_OPINION_NEITHER] = "neither"};
    return odb_json_text(opinion < ODB_COUNT(names) ? names[opinion] : NULL);
}

/* The node in a body of the culprit's that is to blame. */
static json_t *report_inside(const struct odb_culprit_inside *inside)
{
    if (!inside)
        return json_null();
    json_t *object = json_object();
    report_set(object, "index", json_integer(inside->index));
    report_set(object, "name", odb_json_text(inside->name));
    report_set(object, "op_type", odb_json_text(inside->op_type));
    report_set(object, "domain", odb_json_text(inside->domain));
    report_set(object, "value", odb_json_text(inside->value));
    report_set(object, "kind", odb_json_text(odb_diagnosis_name(inside->kind)));
    report_numbers(object, &inside->numbers);
    report_set(object, "verified", json_boolean(inside->verified));
    return object;
}

/* Names of the checks with this answer. */
static json_t *report_checks(const struct odb_culprit *culprit, enum odb_checked answer)
{
    json_t *checks = json_array();
    for (int i = 0; i < ODB_CHECK_COUNT; i++)
        if (culprit->checks[i] == answer)
            json_array_append_new(checks, odb_json_text(odb_check_name((enum odb_check)i)));
    return checks;
}

/* True: it confirms; false: it contradicts; null: it does not say. */
static json_t *report_checked(enum odb_checked answer)
{
    return answer == ODB_CONFIRMS      ? json_true()
           : answer == ODB_CONTRADICTS ? json_false()
                                       : json_null();
}

static json_t *report_sensitivity(const struct odb_sensitivity *s)
{
    json_t *object = json_object();
    if (!s->input_error.known) {
        json_decref(object);
        return json_null();
    }
    report_set(object, "input_error", report_number(s->input_error));
    report_set(object, "growth", report_number(s->growth));
    report_set(object, "growth_of_random", report_number(s->growth_of_random));
    report_set(object, "growth_in_type", report_number(s->growth_in_type));
    report_set(object, "explained", report_number(s->explained));
    return object;
}

static json_t *report_specials(const struct odb_specials *specials)
{
    json_t *object = json_object();
#define REPORT_SPECIAL(name, text, differs)                                                        \
    report_set(object, #name, json_integer((json_int_t)specials->name));
    ODB_SPECIALS_LIST(REPORT_SPECIAL)
#undef REPORT_SPECIAL
    return object;
}

static json_t *report_bins(const size_t bins[ODB_INSPECT_BINS])
{
    json_t *array = json_array();
    for (size_t i = 0; i < ODB_INSPECT_BINS; i++)
        json_array_append_new(array, json_integer((json_int_t)bins[i]));
    return array;
}

static json_t *report_histograms(const struct odb_histograms *h)
{
    if (!h)
        return json_null();
    json_t *object = json_object();
    report_set(object, "lo", odb_json_real(h->lo));
    report_set(object, "hi", odb_json_real(h->hi));
    report_set(object, "reference", report_bins(h->reference));
    report_set(object, "target", report_bins(h->target));
    report_set(object, "error_lo", odb_json_real(h->error_lo));
    report_set(object, "error_hi", odb_json_real(h->error_hi));
    report_set(object, "errors", report_bins(h->errors));
    report_set(object, "equal", json_integer((json_int_t)h->equal));
    return object;
}

static void report_evidence(json_t *object, const struct odb_culprit *culprit)
{
    report_set(object, "also", odb_json_text(culprit->flips_and ? odb_diagnosis_name(culprit->also)
                                                                : NULL));
    report_set(object, "spoils_by_itself", report_checked(culprit->spoils));
    report_set(object, "confirmed_by", report_checks(culprit, ODB_CONFIRMS));
    report_set(object, "contradicted_by", report_checks(culprit, ODB_CONTRADICTS));
    report_set(object, "untestable", report_checks(culprit, ODB_NOT_TESTABLE));
    report_set(object, "sensitivity", report_sensitivity(&culprit->sensitivity));
    report_set(object, "specials", report_specials(&culprit->specials));
    report_set(object, "histograms", report_histograms(culprit->histograms));
    report_set(object, "confidence", odb_json_text(odb_confidence_name(culprit->confidence)));
    report_set(object, "confidence_reason", odb_json_text(culprit->confidence_reason));
}

static json_t *report_culprit(const struct odb_report *report, const struct odb_culprit *culprit)
{
    const struct odb_node *node = &report->model->graph->nodes[culprit->node];
    json_t *object = json_object();
    report_set(object, "index", json_integer(culprit->node));
    report_set(object, "name", odb_json_text(node->name));
    report_set(object, "op_type", odb_json_text(node->op_type));
    report_set(object, "domain", odb_json_text(node->domain));
    report_set(object, "value", report_value_key(report, culprit->value));
    report_set(object, "path", odb_json_text(culprit->path ? culprit->path : ""));
    report_set(object, "inside", report_inside(culprit->inside));
    report_set(object, "kind", odb_json_text(odb_diagnosis_name(culprit->kind)));
    report_numbers(object, &culprit->numbers);
    report_set(object, "reaches_output", json_boolean(culprit->reaches_output));
    report_set(object, "verified", json_boolean(culprit->verified));
    report_set(object, "segment", json_pack("[ii]", culprit->segment[0], culprit->segment[1]));
    report_set(object, "of_reference", json_boolean(culprit->of_reference));
    report_set(object, "third_opinion", report_opinion(culprit->third_opinion));
    report_evidence(object, culprit);
    report_set(object, "text", odb_json_text(culprit->text));
    return object;
}

/* What can be wrong: what is fed and what nodes make. */
static json_t *report_values(const struct odb_report *report)
{
    const struct odb_graph *graph = report->model->graph;
    json_t *values = json_array();
    for (size_t i = 0; i < graph->n_values; i++) {
        const struct odb_value *value = &graph->values[i];
        const struct odb_value_report *numbers = &report->values[i];
        json_t *object;
        if (value->producer == ODB_NO_NODE && (!value->is_input || value->init))
            continue;
        object = json_object();
        report_set(object, "name", report_value_key(report, (int)i));
        report_set(object, "node",
                   value->producer == ODB_NO_NODE ? json_null() : json_integer(value->producer));
        report_set(object, "verdict", odb_json_text(odb_verdict_name(numbers->verdict)));
        report_numbers(object, numbers);
        report_set(object, "boundary", json_boolean(numbers->boundary));
        report_set(object, "culprit", json_boolean(numbers->culprit));
        report_set(object, "reason", odb_json_text(numbers->reason));
        json_array_append_new(values, object);
    }
    return values;
}

static json_t *report_json_firsts(const struct odb_report *report, const struct odb_firsts *firsts)
{
    json_t *object = json_object();
    for (size_t i = 0; i < ODB_COUNT(report_first_rows); i++)
        report_set(object, report_first_rows[i].key,
                   report_value_key(report, report_first(firsts, &report_first_rows[i])));
    return object;
}

static json_t *report_model(const struct odb_report *report)
{
    json_t *model = json_object();
    report_set(model, "path", odb_json_text(report->model->path));
    report_set(model, "sha256", odb_json_text(report->sha256));
    report_set(model, "nodes", json_integer((json_int_t)report->model->graph->n_nodes));
    return model;
}

static json_t *report_observer(const struct odb_report *report)
{
    const struct odb_observer *seen = &report->observer;
    json_t *object = json_object();
    if (!seen->looked) {
        json_decref(object);
        return json_null();
    }
    report_set(object, "moved", json_boolean(seen->moved));
    report_set(object, "by", odb_json_real(seen->by));
    report_set(object, "output",
               seen->moved ? report_value_key(report, seen->output) : json_null());
    report_set(object, "decides", json_boolean(seen->decides));
    return object;
}

static json_t *report_forecast(const struct odb_forecast *forecast)
{
    json_t *object = json_object();
    if (!forecast->strategy) {
        json_decref(object);
        return json_null();
    }
    report_set(object, "strategy", json_string(forecast->strategy));
    report_set(object, "loads", json_integer((json_int_t)forecast->loads));
    report_set(object, "seconds", odb_json_real(forecast->seconds));
    return object;
}

static json_t *report_proof(const struct odb_proof *proof)
{
    json_t *object = json_object();
    if (!proof->tried) {
        json_decref(object);
        return json_null();
    }
    report_set(object, "cuts", json_integer((json_int_t)proof->cuts));
    report_set(object, "good", json_integer((json_int_t)proof->good));
    report_set(object, "untestable", json_integer((json_int_t)proof->untestable));
    report_set(object, "counterexample",
               proof->counterexample == ODB_NO_NODE ? json_null()
                                                    : json_integer(proof->counterexample));
    return object;
}

static json_t *report_lines(char *const *lines, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, odb_json_text(lines[i]));
    return array;
}

static json_t *report_repeats(const struct odb_report *report)
{
    const struct odb_repeats *repeats = &report->repeats;
    json_t *outputs = json_array();
    for (size_t i = 0; i < repeats->outputs.n; i++) {
        const struct odb_repeated *output = &repeats->outputs.items[i];
        json_t *object = json_object(), *votes = json_object();
        for (int v = 0; v < ODB_VERDICT_COUNT; v++)
            if (output->votes[v])
                report_set(votes, odb_verdict_name((enum odb_verdict)v),
                           json_integer((json_int_t)output->votes[v]));
        report_set(object, "name", report_value_key(report, output->value));
        report_set(object, "spread", odb_json_real(output->spread));
        report_set(object, "votes", votes);
        json_array_append_new(outputs, object);
    }
    return json_pack(
        "{sIsbsoso}", "runs", (json_int_t)repeats->runs, "differ", repeats->differ, "first_node",
        repeats->first_node == ODB_NO_NODE ? json_null() : json_integer(repeats->first_node),
        "outputs", outputs);
}

static json_t *report_contributions(const struct odb_report *report)
{
    json_t *array = json_array();
    for (size_t i = 0; i < report->contributions.n; i++) {
        const struct odb_contribution *c = &report->contributions.items[i];
        json_t *object = json_object();
        report_set(object, "index", json_integer(c->node));
        report_set(object, "name", odb_json_text(report->model->graph->nodes[c->node].name));
        report_set(object, "share", odb_json_real(c->share));
        json_array_append_new(array, object);
    }
    return array;
}

/* The run in which the culprits had the reference's values. */
static json_t *report_pinned(const struct odb_report *report)
{
    json_t *nodes = json_array();
    if (report->pinned_pass == ODB_NOT_ASKED) {
        json_decref(nodes);
        return json_null();
    }
    for (size_t i = 0; i < report->pinned.n; i++)
        json_array_append_new(nodes, json_integer(report->pinned.items[i]));
    return json_pack("{soso}", "nodes", nodes, "outputs_pass",
                     report_checked(report->pinned_pass));
}

void odb_report_json(const struct odb_report *report, struct odb_buf *out)
{
    json_t *root = json_object(), *culprits = json_array();
    for (size_t i = 0; i < report->culprits.n; i++)
        json_array_append_new(culprits, report_culprit(report, &report->culprits.items[i]));
    report_set(root, "schema", json_integer(1));
    report_set(root, "onnxdbg", json_string(ODB_VERSION));
    report_set(root, "model", report_model(report));
    report_set(root, "reference", odb_json_text(report->reference));
    report_set(root, "target", odb_json_text(report->target));
    report_set(root, "target_description", odb_json_text(report->target_description));
    report_set(root, "host", odb_json_text(report->host));
    report_set(root, "target_words", odb_json_text(report->target_words));
    report_set(root, "placements", odb_json_places(&report->account));
    report_set(root, "tolerance", odb_json_text(report->tolerance));
    report_set(root, "expect", odb_json_text(report->expect));
    report_set(root, "inputs", report_inputs(report));
    report_set(root, "complete", json_boolean(report->complete));
    report_set(root, "failure", odb_json_text(report->failure));
    report_set(root, "outputs_diverge", json_boolean(report->outputs_diverge));
    report_set(root, "signature",
               report->signature ? odb_json_text(report->signature) : json_null());
    report_set(root, "target_runs_at_all", json_boolean(!report->dead));
    report_set(root, "only_whole", json_boolean(report->only_whole != NULL));
    report_set(root, "warnings", report_lines(report->warnings.items, report->warnings.n));
    report_set(root, "notes", report_lines(report->notes.items, report->notes.n));
    report_set(root, "repeat", report_repeats(report));
    report_set(root, "pinned", report_pinned(report));
    report_set(root, "contributions_to", report_value_key(report, report->contributions_to));
    report_set(root, "contributions", report_contributions(report));
    report_set(root, "strategy", report_steps(report));
    report_set(root, "forecast", report_forecast(&report->forecast));
    report_set(root, "proof", report_proof(&report->proof));
    report_set(root, "observer", report_observer(report));
    report_set(root, "target_loads", json_integer((json_int_t)report->target_loads));
    report_set(root, "target_runs", json_integer((json_int_t)report->target_runs));
    report_set(root, "seconds", odb_json_real(report->seconds));
    report_set(root, "reference_seconds", odb_json_real(report->reference_seconds));
    report_set(root, "target_seconds", odb_json_real(report->target_seconds));
    report_set(root, "unsupported_nodes", json_integer((json_int_t)report->n_unsupported));
    report_set(root, "first",
               json_pack("{soso}", "reference",
                         report_json_firsts(report, &report->reference_firsts), "target",
                         report_json_firsts(report, &report->target_firsts)));
    report_set(root, "culprits", culprits);
    report_set(root, "values", report_values(report));
    if (report->more)
        json_object_update(root, report->more);
    odb_json_put(root, out);
}
