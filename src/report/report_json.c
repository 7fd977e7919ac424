/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A report as JSON: what onnxdbg-report(7) describes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/groups.h"
#include "model/text/model_text.h"
#include "run/feeds.h"
#include "report/explained.h"
#include "report/json.h"
#include "report/report.h"
#include "run/value_report.h"

/* Bytes, about: a text that grows is held twice on its way. */
#define REPORT_VALUE 384
#define REPORT_CULPRIT 2560

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

json_t *odb_report_value_key(const struct odb_report *report, int value)
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
        report_set(input, "name", odb_report_value_key(report, feed->value));
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

static json_t *report_phases(const struct odb_report *report)
{
    json_t *phases = json_array();
    for (size_t i = 0; i < report->phases.n; i++) {
        const struct odb_phase *phase = &report->phases.items[i];
        json_t *object = json_object();
        report_set(object, "phase", odb_json_text(phase->name));
        report_set(object, "seconds", odb_json_real(phase->spent.seconds));
        report_set(object, "processor_seconds", odb_json_real(phase->spent.processor));
        report_set(object, "target_seconds", odb_json_real(phase->target_seconds));
        json_array_append_new(phases, object);
    }
    return phases;
}

static json_t *report_opinion(enum odb_opinion opinion)
{
    return odb_json_text(odb_opinion_name(opinion));
}

/* The node in a body of the culprit's that is to blame. */
static json_t *report_inside(const struct odb_culprit_inside *inside)
{
    if (!inside)
        return json_null();
    json_t *object = odb_json_node(inside->index, inside->name, inside->op_type, inside->domain);
    report_set(object, "value", odb_json_text(inside->value));
    report_set(object, "kind", odb_json_text(odb_diagnosis_name(inside->kind)));
    report_set(object, "verdict", odb_json_text(odb_verdict_name(inside->numbers.verdict)));
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
    if (!s->input_error.known)
        return json_null();
    json_t *object = json_object();
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
    report_set(object, "also",
               odb_json_text(culprit->flips_and ? odb_diagnosis_name(culprit->also) : NULL));
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

static json_t *report_part(const struct odb_stretch *part)
{
    return part->n ? json_pack("{s:i,s:i,s:I}", "first", part->first, "last", part->last, "nodes",
                               (json_int_t)part->n)
                   : json_null();
}

static json_t *report_held(const struct odb_report *report, const struct odb_held *held)
{
    if (!held->known)
        return json_null();
    int node = report->model->graph->values[held->of].producer;
    json_t *maker = node == ODB_NO_NODE ? json_null() : json_integer(node);
    return json_pack("{s:o,s:o,s:I,s:I,s:I}", "value", odb_report_value_key(report, held->of),
                     "node", maker, "first", (json_int_t)held->first, "elements",
                     (json_int_t)held->n, "of", (json_int_t)held->of_all);
}

static json_t *report_nodes(const int *nodes, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_integer(nodes[i]));
    return array;
}

static json_t *report_kernel(const struct odb_kernel *kernel)
{
    return !kernel ? json_null()
                   : json_pack("{s:o,s:o,s:o}", "name", odb_json_text(kernel->name), "pass",
                               odb_json_text(kernel->made_by), "nodes",
                               report_nodes(kernel->nodes, kernel->n));
}

/* Nodes that are refused together; null of other kinds. */
static json_t *report_together(const struct odb_culprit *culprit)
{
    return culprit->together.n ? report_nodes(culprit->together.items, culprit->together.n)
                               : json_null();
}

/* Those that the model sets, as ONNX's textual syntax has them. */
static json_t *report_attributes(const struct odb_node *node)
{
    json_t *list = json_array();
    for (size_t i = 0; i < node->attrs.n; i++) {
        struct odb_buf text = ODB_BUF_INIT;
        odb_buf_printf(&text, "%s = ", node->attrs.items[i].name);
        odb_attr_text(&node->attrs.items[i], &text);
        json_array_append_new(list, odb_json_text(odb_buf_text(&text)));
        odb_buf_dispose(&text);
    }
    return list;
}

/* Of the inputs, as declared or inferred; null: not known, or left out. */
static json_t *report_types(const struct odb_graph *graph, const struct odb_node *node)
{
    json_t *types = json_array();
    for (int i = 0; i < node->n_in; i++) {
        const struct odb_value *value = node->in[i] < 0 ? NULL : &graph->values[node->in[i]];
        enum odb_dtype dtype = !value              ? ODB_UNDEFINED
                               : value->type.known ? value->type.dtype
                               : value->init       ? value->init->dtype
                                                   : ODB_UNDEFINED;
        json_array_append_new(types, dtype == ODB_UNDEFINED
                                         ? json_null()
                                         : odb_json_text(odb_dtype_info(dtype)->name));
    }
    return types;
}

json_t *odb_report_culprit_json(const struct odb_report *report, const struct odb_culprit *culprit)
{
    const struct odb_node *node = &report->model->graph->nodes[culprit->node];
    json_t *object = odb_json_node(culprit->node, node->name, node->op_type, node->domain);
    report_set(object, "attributes", report_attributes(node));
    report_set(object, "types", report_types(report->model->graph, node));
    report_set(object, "value", odb_report_value_key(report, culprit->value));
    report_set(object, "path", odb_json_text(culprit->path ? culprit->path : ""));
    report_set(object, "inside", report_inside(culprit->inside));
    report_set(object, "kind", odb_json_text(odb_diagnosis_name(culprit->kind)));
    report_numbers(object, &culprit->numbers);
    report_set(object, "reaches_output", json_boolean(culprit->reaches_output));
    report_set(object, "verified", json_boolean(culprit->verified));
    report_set(object, "known", json_boolean(culprit->known));
    report_set(object, "narrower", json_boolean(culprit->narrower));
    report_set(object, "segment", json_pack("[ii]", culprit->segment[0], culprit->segment[1]));
    report_set(object, "group", report_nodes(culprit->group.items, culprit->group.n));
    report_set(object, "together", report_together(culprit));
    report_set(object, "runs_with", odb_json_text(culprit->runs_with));
    report_set(object, "kernel", report_kernel(culprit->kernel));
    report_set(object, "read_as", odb_json_text(culprit->read_as));
    report_set(object, "passes", report_part(&culprit->passes));
    report_set(object, "holds", report_held(report, &culprit->held));
    report_set(object, "of_reference", json_boolean(culprit->of_reference));
    report_set(object, "of_recording", json_boolean(culprit->of_recording));
    report_set(object, "recorded_weight", odb_json_text(culprit->recorded_weight));
    report_set(object, "recorded_weight_off",
               odb_json_text(culprit->recorded_weight ? culprit->recorded_off : NULL));
    report_set(object, "third_opinion", report_opinion(culprit->third_opinion));
    report_set(object, "third_opinion_by", odb_json_text(culprit->third_by));
    report_set(object, "own_library_opinion", report_opinion(culprit->own_opinion));
    report_set(object, "own_library", odb_json_text(culprit->own_by));
    odb_explained_json(&culprit->explained, object);
    report_evidence(object, culprit);
    report_set(object, "text", odb_json_text(culprit->text));
    return object;
}

json_t *odb_report_value_json(const struct odb_graph *graph, int index,
                              const struct odb_value_report *numbers)
{
    const struct odb_value *value = &graph->values[index];
    json_t *object = json_object();
    char key[512];
    report_set(object, "name", odb_json_text(odb_value_key(graph, value, key, sizeof key)));
    report_set(object, "node",
               value->producer == ODB_NO_NODE ? json_null() : json_integer(value->producer));
    report_set(object, "verdict", odb_json_text(odb_verdict_name(numbers->verdict)));
    report_numbers(object, numbers);
    report_set(object, "boundary", json_boolean(numbers->boundary));
    report_set(object, "culprit", json_boolean(numbers->culprit));
    report_set(object, "reason", odb_json_text(numbers->reason));
    return object;
}

struct report_members {
    const struct odb_report *report;
    size_t next;
};

static json_t *report_next_culprit(void *payload)
{
    struct report_members *at = payload;
    const struct odb_report *report = at->report;
    return at->next < report->culprits.n
               ? odb_report_culprit_json(report, &report->culprits.items[at->next++])
               : NULL;
}

/* What can be wrong: what is fed and what nodes make. */
static json_t *report_next_value(void *payload)
{
    struct report_members *at = payload;
    const struct odb_report *report = at->report;
    const struct odb_graph *graph = report->model->graph;
    for (; at->next < graph->n_values; at->next++) {
        const struct odb_value *value = &graph->values[at->next];
        if (value->producer != ODB_NO_NODE || (value->is_input && !value->init))
            break;
    }
    if (at->next == graph->n_values)
        return NULL;
    size_t i = at->next++;
    json_t *object = odb_report_value_json(graph, (int)i, &report->values[i]);
    report_set(object, "read_as",
               odb_json_text(report->given[i] ? report->given[i]->read_as : NULL));
    return object;
}

static json_t *report_firsts(const struct odb_report *report, const struct odb_firsts *firsts)
{
    return json_pack("{s:o,s:o,s:o}", "nan", odb_report_value_key(report, firsts->nan), "inf",
                     odb_report_value_key(report, firsts->inf), "beyond_f16",
                     odb_report_value_key(report, firsts->beyond_f16));
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
    if (!seen->looked)
        return json_null();
    json_t *object = json_object();
    report_set(object, "moved", json_boolean(seen->moved));
    report_set(object, "by", odb_json_real(seen->by));
    report_set(object, "output",
               seen->moved ? odb_report_value_key(report, seen->output) : json_null());
    report_set(object, "decides", json_boolean(seen->decides));
    return object;
}

static json_t *report_forecast(const struct odb_forecast *forecast)
{
    if (!forecast->strategy)
        return json_null();
    json_t *object = json_object();
    report_set(object, "strategy", json_string(forecast->strategy));
    report_set(object, "loads", json_integer((json_int_t)forecast->loads));
    report_set(object, "seconds", odb_json_real(forecast->seconds));
    return object;
}

static json_t *report_left(const struct odb_report *report)
{
    const struct odb_left *left = &report->left;
    if (report->complete || !left->n)
        return json_null();
    return json_pack("{sIsisi}", "nodes", (json_int_t)left->n, "first", left->first, "last",
                     left->last);
}

static json_t *report_proof(const struct odb_proof *proof)
{
    if (!proof->tried)
        return json_null();
    json_t *object = json_object();
    report_set(object, "cuts", json_integer((json_int_t)proof->cuts));
    report_set(object, "good", json_integer((json_int_t)proof->good));
    report_set(object, "untestable", json_integer((json_int_t)proof->untestable));
    report_set(object, "counterexample",
               proof->counterexample == ODB_NO_NODE ? json_null()
                                                    : json_integer(proof->counterexample));
    return object;
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
        report_set(object, "name", odb_report_value_key(report, output->value));
        report_set(object, "spread", odb_json_real(output->spread));
        report_set(object, "votes", votes);
        json_array_append_new(outputs, object);
    }
    return json_pack(
        "{sIsbss?ss?soso}", "runs", (json_int_t)repeats->runs, "differ", repeats->differ, "pattern",
        repeats->later_alike ? "first-differs" : NULL, "died",
        odb_verdict_is_bad(repeats->died) ? odb_verdict_name(repeats->died) : NULL, "first_node",
        repeats->first_node == ODB_NO_NODE ? json_null() : json_integer(repeats->first_node),
        "outputs", outputs);
}

/* What the target's plain run was given: the user's file, or why not that. */
static json_t *report_plain_model(const struct odb_report *report)
{
    json_t *why = json_array();
    if (!report->plain_given) {
        json_decref(why);
        return json_null();
    }
    for (int i = 0; i < ODB_INSTEAD_COUNT; i++)
        if (report->instead.why[i])
            json_array_append_new(why, json_string(odb_instead_word((enum odb_instead_why)i)));
    return json_pack("{sbsoso}", "as_is", !odb_instead_any(&report->instead), "why", why, "text",
                     odb_json_text(report->instead_text));
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

static json_t *report_settings(const struct odb_report *report)
{
    json_t *array = json_array();
    for (size_t i = 0; i < report->settings.n; i++) {
        const struct odb_setting_tried *tried = &report->settings.items[i];
        json_array_append_new(array,
                              json_pack("{so,so,so,so,sb}", "setting", odb_json_text(tried->option),
                                        "text", odb_json_text(tried->help), "verdict",
                                        json_string(odb_verdict_name(tried->verdict)), "error",
                                        report_number(tried->error), "goes_away",
                                        (int)(tried->verdict == ODB_VERDICT_PASS)));
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
    return json_pack("{soso}", "nodes", nodes, "outputs_pass", report_checked(report->pinned_pass));
}

void odb_report_json(const struct odb_report *report, struct odb_buf *out)
{
    struct report_members culprits = {report, 0}, values = {report, 0};
    const struct odb_json_list lists[] = {{"culprits", report_next_culprit, &culprits},
                                          {"values", report_next_value, &values}};
    json_t *root = json_object();
    report_set(root, "model", report_model(report));
    report_set(root, "reference", odb_json_text(report->reference));
    report_set(root, "target", odb_json_text(report->target));
    report_set(root, "target_description", odb_json_text(report->target_description));
    report_set(root, "host", odb_json_text(report->host));
    report_set(root, "target_words", odb_json_text(report->target_words));
    report_set(root, "placements", odb_json_places(&report->account));
    report_set(root, "tolerance", odb_json_text(report->tolerance));
    report_set(root, "expect", odb_json_text(report->expect));
    report_set(root, "narrower", report->narrower ? odb_json_text(report->narrower) : json_null());
    report_set(root, "inputs", report_inputs(report));
    report_set(root, "chosen",
               odb_json_text(report->feeds && report->feeds->chosen ? report->feeds->chosen : ""));
    report_set(root, "verdict", json_string(odb_outcome_name(odb_report_outcome(report))));
    report_set(root, "known", json_boolean(odb_report_known(report)));
    report_set(root, "complete", json_boolean(report->complete));
    report_set(root, "failure", odb_json_text(report->failure));
    report_set(root, "outputs_diverge", json_boolean(report->outputs_diverge));
    report_set(root, "unsought", json_boolean(report->unsought));
    report_set(root, "little_shown", json_boolean(report->little_shown));
    report_set(root, "pieces", odb_report_pieces_json(report));
    report_set(root, "plain_model", report_plain_model(report));
    report_set(root, "signature",
               report->signature ? odb_json_text(report->signature) : json_null());
    report_set(root, "target_runs_at_all", json_boolean(!report->dead));
    report_set(root, "only_whole", json_boolean(report->only_whole != NULL));
    report_set(root, "warnings", odb_json_texts(report->warnings.items, report->warnings.n));
    report_set(root, "notes", odb_json_texts(report->notes.items, report->notes.n));
    report_set(root, "repeat", report_repeats(report));
    report_set(root, "pinned", report_pinned(report));
    report_set(root, "contributions_to", odb_report_value_key(report, report->contributions_to));
    report_set(root, "contributions", report_contributions(report));
    report_set(root, "settings", report_settings(report));
    report_set(root, "strategy", report_steps(report));
    report_set(root, "phases", report_phases(report));
    report_set(root, "forecast", report_forecast(&report->forecast));
    report_set(root, "suspects_left", report_left(report));
    report_set(root, "proof", report_proof(&report->proof));
    report_set(root, "observer", report_observer(report));
    report_set(root, "target_models", json_integer((json_int_t)report->target_models));
    report_set(root, "target_loads", json_integer((json_int_t)report->target_loads));
    report_set(root, "target_runs", json_integer((json_int_t)report->target_runs));
    report_set(root, "seconds", odb_json_real(report->seconds));
    report_set(root, "reference_seconds", odb_json_real(report->reference_seconds));
    report_set(root, "golden_seconds", odb_json_real(report->golden_seconds));
    report_set(root, "noise_seconds", odb_json_real(report->noise_seconds));
    report_set(root, "processor_seconds", odb_json_real(report->processor_seconds));
    report_set(root, "target_seconds", odb_json_real(report->target_seconds));
    report_set(root, "target_load_seconds", odb_json_real(report->target_load_seconds));
    report_set(root, "max_outputs_found", json_integer((json_int_t)report->max_outputs));
    report_set(root, "cut_found", odb_json_text(report->cut_found));
    report_set(root, "values_unread", json_integer((json_int_t)report->values_unread));
    report_set(root, "unsupported_nodes", json_integer((json_int_t)report->n_unsupported));
    report_set(root, "first",
               json_pack("{soso}", "reference", report_firsts(report, &report->reference_firsts),
                         "target", report_firsts(report, &report->target_firsts)));
    report_set(root, "culprits", json_null());
    report_set(root, "values", json_null());
    if (report->more)
        json_object_update(root, report->more);
    odb_buf_reserve(out, report->n_values * REPORT_VALUE + report->culprits.n * REPORT_CULPRIT);
    odb_json_put_lists(root, lists, ODB_COUNT(lists), out);
}
