/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The mirror of report_json.c: what was written of a search is what is known of it when its file is
 * opened again. The file may come from any source, so no number in it is an index before it was
 * looked at.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "executor/groups.h"
#include "report/explained.h"
#include "report/json.h"
#include "report/report.h"
#include "run/value_report.h"

struct reading {
    struct odb_report *report; /* borrowed */
    struct odb_map *values;    /* owned: indices by what JSON calls them */
};

/* --- members by key --------------------------------------------------------------------------- */

typedef void read_one(const json_t *json, void *out);

/* A member of a struct; what is missing, or of another type, stays as it is. */
struct read_row {
    const char *key;
    size_t offset;
    read_one *read;
};

static void read_rows(const json_t *object, const struct read_row *rows, size_t n, void *out)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *json = json_object_get(object, rows[i].key);
        if (json)
            rows[i].read(json, (char *)out + rows[i].offset);
    }
}
#define READ_ROWS(object, rows, out) read_rows(object, rows, ODB_COUNT(rows), out)

static void read_number(const json_t *json, void *out)
{
    static const char *const names[] = {"nan", "inf", "-inf"};
    static const double values[] = {NAN, INFINITY, -INFINITY};
    const char *text = json_string_value(json);
    struct odb_number *number = out;
    if (json_is_null(json))
        number->known = false;
    if (json_is_number(json))
        *number = ODB_NUMBER(json_number_value(json));
    for (size_t i = 0; text && i < ODB_COUNT(names); i++)
        if (!strcmp(text, names[i]))
            *number = ODB_NUMBER(values[i]);
}

static void read_real(const json_t *json, void *out)
{
    struct odb_number number = {0};
    read_number(json, &number);
    if (number.known)
        *(double *)out = number.v;
}

static void read_size(const json_t *json, void *out)
{
    if (json_is_integer(json) && json_integer_value(json) >= 0)
        *(size_t *)out = (size_t)json_integer_value(json);
}

static void read_bool(const json_t *json, void *out)
{
    if (json_is_boolean(json))
        *(bool *)out = json_is_true(json);
}

static void read_text(const json_t *json, void *out)
{
    char **text = out;
    if (!json_is_string(json))
        return;
    free(*text);
    *text = odb_xstrdup(json_string_value(json));
}

/* true: it confirms; false: it contradicts. */
static void read_checked(const json_t *json, void *out)
{
    if (json_is_boolean(json))
        *(enum odb_checked *)out = json_is_true(json) ? ODB_CONFIRMS : ODB_CONTRADICTS;
}

static void read_opinion(const json_t *json, void *out)
{
    for (int o = ODB_OPINION_NONE + 1; json_is_string(json) && o <= ODB_OPINION_NEITHER; o++)
        if (!strcmp(odb_opinion_name((enum odb_opinion)o), json_string_value(json)))
            *(enum odb_opinion *)out = (enum odb_opinion)o;
}

static void read_confidence(const json_t *json, void *out)
{
    for (int c = ODB_CONFIDENCE_LOW; json_is_string(json) && c <= ODB_CONFIDENCE_HIGH; c++)
        if (!strcmp(odb_confidence_name((enum odb_confidence)c), json_string_value(json)))
            *(enum odb_confidence *)out = (enum odb_confidence)c;
}

static bool read_node(const struct reading *r, const json_t *json, int *out)
{
    json_int_t node = json_integer_value(json);
    if (!json_is_integer(json) || node < 0 || (size_t)node >= r->report->model->graph->n_nodes)
        return false;
    *out = (int)node;
    return true;
}

static bool read_value(const struct reading *r, const json_t *json, int *out)
{
    size_t value;
    if (!json_is_string(json) || !odb_map_get(r->values, json_string_value(json), &value))
        return false;
    *out = (int)value;
    return true;
}

static void read_chars(const json_t *json, char *out, size_t size)
{
    if (json_is_string(json))
        snprintf(out, size, "%s", json_string_value(json));
}

/* --- values and culprits ---------------------------------------------------------------------- */

#define READ_NUMBER(member, key)                                                                   \
    {                                                                                              \
        key, offsetof(struct odb_value_report, member), read_number                                \
    }
static const struct read_row read_value_rows[] = {
    READ_NUMBER(error, "error"),
    READ_NUMBER(error_mean, "error_mean"),
    READ_NUMBER(local_error, "local_error"),
    READ_NUMBER(inherited_error, "inherited_error"),
    READ_NUMBER(gain, "gain"),
    READ_NUMBER(noise, "noise"),
    READ_NUMBER(local_noise, "local_noise"),
};

/* Tables hold what has a verdict; of others something may be known as well. */
static void read_values(const struct reading *r, const json_t *list)
{
    static const struct read_row rows[] = {
        {"boundary", offsetof(struct odb_value_report, boundary), read_bool},
        {"culprit", offsetof(struct odb_value_report, culprit), read_bool},
    };
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *json = json_array_get(list, i);
        int value;
        if (!read_value(r, json_object_get(json, "name"), &value))
            continue;
        struct odb_value_report *report = &r->report->values[value];
        if (report->verdict != ODB_VERDICT_UNTESTED)
            continue;
        READ_ROWS(json, read_value_rows, report);
        READ_ROWS(json, rows, report);
        read_chars(json_object_get(json, "reason"), report->reason, sizeof report->reason);
    }
}

static void read_inside(const json_t *json, struct odb_culprit *culprit)
{
    static const struct read_row rows[] = {
        {"name", offsetof(struct odb_culprit_inside, name), read_text},
        {"op_type", offsetof(struct odb_culprit_inside, op_type), read_text},
        {"domain", offsetof(struct odb_culprit_inside, domain), read_text},
        {"value", offsetof(struct odb_culprit_inside, value), read_text},
        {"verified", offsetof(struct odb_culprit_inside, verified), read_bool},
    };
    const char *kind = json_string_value(json_object_get(json, "kind"));
    const char *verdict = json_string_value(json_object_get(json, "verdict"));
    struct odb_culprit_inside inside = {.index = ODB_NO_NODE};
    if (!json_is_object(json) || !kind || !odb_diagnosis_parse(&inside.kind, kind))
        return;
    if (!verdict || !odb_verdict_parse(&inside.numbers.verdict, verdict)) /* older ones lack it */
        inside.numbers.verdict = ODB_VERDICT_UNTESTED;
    inside.index = (int)json_integer_value(json_object_get(json, "index"));
    READ_ROWS(json, rows, &inside);
    READ_ROWS(json, read_value_rows, &inside.numbers);
    char **const texts[] = {&inside.name, &inside.op_type, &inside.domain};
    for (size_t i = 0; i < ODB_COUNT(texts); i++)
        *texts[i] = *texts[i] ? *texts[i] : odb_xstrdup("");
    culprit->inside = odb_xmemdup(&inside, sizeof inside);
}

static void read_checks(const json_t *list, enum odb_checked answer, struct odb_culprit *culprit)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        for (int c = 0; name && c < ODB_CHECK_COUNT; c++)
            if (!strcmp(odb_check_name((enum odb_check)c), name))
                culprit->checks[c] = answer;
    }
}

static void read_bins(const json_t *list, size_t bins[ODB_INSPECT_BINS])
{
    for (size_t i = 0; i < ODB_INSPECT_BINS; i++)
        read_size(json_array_get(list, i), &bins[i]);
}

static struct odb_histograms *read_histograms(const json_t *json)
{
    static const struct read_row rows[] = {
        {"lo", offsetof(struct odb_histograms, lo), read_real},
        {"hi", offsetof(struct odb_histograms, hi), read_real},
        {"error_lo", offsetof(struct odb_histograms, error_lo), read_real},
        {"error_hi", offsetof(struct odb_histograms, error_hi), read_real},
        {"equal", offsetof(struct odb_histograms, equal), read_size},
    };
    struct odb_histograms *h = odb_new(struct odb_histograms);
    READ_ROWS(json, rows, h);
    read_bins(json_object_get(json, "reference"), h->reference);
    read_bins(json_object_get(json, "target"), h->target);
    read_bins(json_object_get(json, "errors"), h->errors);
    return h;
}

static void read_sensitivity(const json_t *json, struct odb_sensitivity *out)
{
    static const struct read_row rows[] = {
        {"input_error", offsetof(struct odb_sensitivity, input_error), read_number},
        {"growth", offsetof(struct odb_sensitivity, growth), read_number},
        {"growth_of_random", offsetof(struct odb_sensitivity, growth_of_random), read_number},
        {"growth_in_type", offsetof(struct odb_sensitivity, growth_in_type), read_number},
        {"explained", offsetof(struct odb_sensitivity, explained), read_number},
    };
    READ_ROWS(json, rows, out);
}

static void read_specials(const json_t *json, struct odb_specials *out)
{
    static const struct read_row rows[] = {
#define READ_SPECIAL(name, text, differs) {#name, offsetof(struct odb_specials, name), read_size},
        ODB_SPECIALS_LIST(READ_SPECIAL)
#undef READ_SPECIAL
    };
    READ_ROWS(json, rows, out);
}

static void read_evidence(const json_t *json, struct odb_culprit *culprit)
{
    const char *also = json_string_value(json_object_get(json, "also"));
    const json_t *histograms = json_object_get(json, "histograms");
    culprit->flips_and = also && odb_diagnosis_parse(&culprit->also, also);
    read_checks(json_object_get(json, "confirmed_by"), ODB_CONFIRMS, culprit);
    read_checks(json_object_get(json, "contradicted_by"), ODB_CONTRADICTS, culprit);
    read_checks(json_object_get(json, "untestable"), ODB_NOT_TESTABLE, culprit);
    read_sensitivity(json_object_get(json, "sensitivity"), &culprit->sensitivity);
    read_specials(json_object_get(json, "specials"), &culprit->specials);
    if (json_is_object(histograms))
        culprit->histograms = read_histograms(histograms);
    read_chars(json_object_get(json, "confidence_reason"), culprit->confidence_reason,
               sizeof culprit->confidence_reason);
}

static void read_held(const struct reading *r, const json_t *json, struct odb_held *out)
{
    static const struct read_row rows[] = {
        {"first", offsetof(struct odb_held, first), read_size},
        {"elements", offsetof(struct odb_held, n), read_size},
        {"of", offsetof(struct odb_held, of_all), read_size},
    };
    out->known = read_value(r, json_object_get(json, "value"), &out->of);
    READ_ROWS(json, rows, out);
}

static void read_passes(const struct reading *r, const json_t *json, struct odb_stretch *out)
{
    struct odb_stretch part = {0};
    read_size(json_object_get(json, "nodes"), &part.n);
    if (read_node(r, json_object_get(json, "first"), &part.first) &&
        read_node(r, json_object_get(json, "last"), &part.last))
        *out = part;
}

/* A kernel of nodes that the model has. */
static struct odb_kernel *read_kernel(const struct reading *r, const json_t *json)
{
    const json_t *nodes = json_object_get(json, "nodes"), *node;
    size_t i;
    struct odb_kernel kernel = {.name = NULL};
    read_text(json_object_get(json, "name"), &kernel.name);
    if (!kernel.name)
        return NULL;
    read_text(json_object_get(json, "pass"), &kernel.made_by);
    kernel.nodes = odb_new_n(int, json_array_size(nodes) + 1);
    json_array_foreach((json_t *)nodes, i, node)
        kernel.n += read_node(r, node, &kernel.nodes[kernel.n]);
    return odb_xmemdup(&kernel, sizeof kernel);
}

/* Nodes that the model has. */
static void read_nodes(const struct reading *r, const json_t *list, struct odb_node_list *out)
{
    int node;
    out->n = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (read_node(r, json_array_get(list, i), &node))
            odb_push(out, node);
}

static void read_culprit(const struct reading *r, const json_t *json, struct odb_culprit *culprit)
{
    static const struct read_row rows[] = {
        {"known", offsetof(struct odb_culprit, known), read_bool},
        {"narrower", offsetof(struct odb_culprit, narrower), read_bool},
        {"of_reference", offsetof(struct odb_culprit, of_reference), read_bool},
        {"of_recording", offsetof(struct odb_culprit, of_recording), read_bool},
        {"recorded_weight", offsetof(struct odb_culprit, recorded_weight), read_text},
        {"third_opinion", offsetof(struct odb_culprit, third_opinion), read_opinion},
        {"third_opinion_by", offsetof(struct odb_culprit, third_by), read_text},
        {"own_library_opinion", offsetof(struct odb_culprit, own_opinion), read_opinion},
        {"own_library", offsetof(struct odb_culprit, own_by), read_text},
        {"read_as", offsetof(struct odb_culprit, read_as), read_text},
        {"runs_with", offsetof(struct odb_culprit, runs_with), read_text},
        {"spoils_by_itself", offsetof(struct odb_culprit, spoils), read_checked},
        {"confidence", offsetof(struct odb_culprit, confidence), read_confidence},
    };
    READ_ROWS(json, rows, culprit);
    READ_ROWS(json, read_value_rows, &culprit->numbers);
    if (!culprit->kernel)
        culprit->kernel = read_kernel(r, json_object_get(json, "kernel"));
    read_nodes(r, json_object_get(json, "group"), &culprit->group);
    read_held(r, json_object_get(json, "holds"), &culprit->held);
    read_passes(r, json_object_get(json, "passes"), &culprit->passes);
    read_nodes(r, json_object_get(json, "together"), &culprit->together);
    read_chars(json_object_get(json, "recorded_weight_off"), culprit->recorded_off,
               sizeof culprit->recorded_off);
    read_inside(json_object_get(json, "inside"), culprit);
    if (!culprit->explained.items.n)
        odb_explained_read(&culprit->explained, json);
    read_evidence(json, culprit);
}

/* Those that the report has are in the same order. */
static void read_culprits(const struct reading *r, const json_t *list)
{
    for (size_t i = 0; i < r->report->culprits.n; i++) {
        struct odb_culprit *culprit = &r->report->culprits.items[i];
        const json_t *json = json_array_get(list, i);
        const char *kind = json_string_value(json_object_get(json, "kind"));
        int node;
        if (kind && !strcmp(kind, odb_diagnosis_name(culprit->kind)) &&
            read_node(r, json_object_get(json, "index"), &node) && node == culprit->node)
            read_culprit(r, json, culprit);
    }
}

/* --- the search ------------------------------------------------------------------------------- */

static void read_repeated(const struct reading *r, const json_t *json)
{
    struct odb_repeated output = {0};
    const json_t *votes = json_object_get(json, "votes");
    if (!read_value(r, json_object_get(json, "name"), &output.value))
        return;
    read_real(json_object_get(json, "spread"), &output.spread);
    for (int v = 0; v < ODB_VERDICT_COUNT; v++)
        read_size(json_object_get(votes, odb_verdict_name((enum odb_verdict)v)), &output.votes[v]);
    odb_push(&r->report->repeats.outputs, output);
}

static void read_repeats(const struct reading *r, const json_t *json)
{
    static const struct read_row rows[] = {
        {"runs", offsetof(struct odb_repeats, runs), read_size},
        {"differ", offsetof(struct odb_repeats, differ), read_bool},
    };
    struct odb_repeats *repeats = &r->report->repeats;
    const char *died = json_string_value(json_object_get(json, "died"));
    const json_t *outputs = json_object_get(json, "outputs");
    READ_ROWS(json, rows, repeats);
    repeats->later_alike = json_is_string(json_object_get(json, "pattern"));
    if (died && !odb_verdict_parse(&repeats->died, died))
        repeats->died = ODB_VERDICT_UNTESTED;
    read_node(r, json_object_get(json, "first_node"), &repeats->first_node);
    for (size_t i = 0; i < json_array_size(outputs); i++)
        read_repeated(r, json_array_get(outputs, i));
}

static void read_pinned(const struct reading *r, const json_t *json)
{
    const json_t *nodes = json_object_get(json, "nodes");
    int node;
    if (!json_is_object(json))
        return;
    r->report->pinned_pass = ODB_NOT_TESTABLE;
    read_checked(json_object_get(json, "outputs_pass"), &r->report->pinned_pass);
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (read_node(r, json_array_get(nodes, i), &node))
            odb_push(&r->report->pinned, node);
}

static void read_contributions(const struct reading *r, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *json = json_array_get(list, i);
        struct odb_contribution c = {0};
        read_real(json_object_get(json, "share"), &c.share);
        if (read_node(r, json_object_get(json, "index"), &c.node))
            odb_push(&r->report->contributions, c);
    }
}

static void read_steps(const struct reading *r, const json_t *list)
{
    static const struct read_row rows[] = {
        {"why", offsetof(struct odb_search_step, why), read_text},
        {"loads", offsetof(struct odb_search_step, loads), read_size},
        {"runs", offsetof(struct odb_search_step, runs), read_size},
        {"seconds", offsetof(struct odb_search_step, seconds), read_real},
    };
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *json = json_array_get(list, i);
        struct odb_search_step step = {.step = json_string_value(json_object_get(json, "step"))};
        if (!step.step)
            continue;
        READ_ROWS(json, rows, &step);
        odb_push(&r->report->steps, step);
    }
}

static void read_phases(const struct reading *r, const json_t *list)
{
    static const struct read_row rows[] = {
        {"seconds", offsetof(struct odb_phase, spent.seconds), read_real},
        {"processor_seconds", offsetof(struct odb_phase, spent.processor), read_real},
        {"target_seconds", offsetof(struct odb_phase, target_seconds), read_real},
    };
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *json = json_array_get(list, i);
        struct odb_phase phase = {.name = json_string_value(json_object_get(json, "phase"))};
        if (!phase.name)
            continue;
        READ_ROWS(json, rows, &phase);
        odb_push(&r->report->phases, phase);
    }
}

/* Of nodes that look alike the first were asked for. */
static void read_refused(const struct reading *r, const json_t *json)
{
    const json_t *nodes = json_object_get(json, "nodes");
    bool together = json_is_false(json_object_get(json, "alone"));
    size_t asked = 0;
    read_size(json_object_get(json, "asked"), &asked);
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        struct odb_refused refused = {.how = together    ? ODB_REFUSED_TOGETHER
                                             : i < asked ? ODB_REFUSED_ALONE
                                                         : ODB_REFUSED_ALIKE};
        if (read_node(r, json_array_get(nodes, i), &refused.node))
            odb_push(&r->report->pieces.refused, refused);
    }
}

static void read_pieces(const struct reading *r, const json_t *json)
{
    static const struct read_row rows[] = {
        {"judged", offsetof(struct odb_pieces, judged), read_size},
        {"fed", offsetof(struct odb_pieces, fed), read_size},
        {"not_judged", offsetof(struct odb_pieces, left), read_size},
    };
    const json_t *operators = json_object_get(json, "refused");
    READ_ROWS(json, rows, &r->report->pieces);
    for (size_t i = 0; i < json_array_size(operators); i++)
        read_refused(r, json_array_get(operators, i));
}

static void read_plain_model(const struct reading *r, const json_t *json)
{
    const json_t *why = json_object_get(json, "why");
    r->report->plain_given = json_is_object(json);
    read_text(json_object_get(json, "text"), &r->report->instead_text);
    for (size_t i = 0; i < json_array_size(why); i++) {
        const char *word = json_string_value(json_array_get(why, i));
        for (int w = 0; w < ODB_INSTEAD_COUNT; w++)
            if (word && !strcmp(word, odb_instead_word((enum odb_instead_why)w)))
                r->report->instead.why[w] = true;
    }
}

static void read_proof(const struct reading *r, const json_t *json)
{
    static const struct read_row rows[] = {
        {"cuts", offsetof(struct odb_proof, cuts), read_size},
        {"good", offsetof(struct odb_proof, good), read_size},
        {"untestable", offsetof(struct odb_proof, untestable), read_size},
    };
    struct odb_proof *proof = &r->report->proof;
    proof->tried = json_is_object(json);
    proof->counterexample = ODB_NO_NODE;
    READ_ROWS(json, rows, proof);
    read_node(r, json_object_get(json, "counterexample"), &proof->counterexample);
}

static void read_observer(const struct reading *r, const json_t *json)
{
    struct odb_observer *seen = &r->report->observer;
    seen->looked = json_is_object(json);
    read_real(json_object_get(json, "by"), &seen->by);
    read_bool(json_object_get(json, "decides"), &seen->decides);
    seen->moved = json_is_true(json_object_get(json, "moved")) &&
                  read_value(r, json_object_get(json, "output"), &seen->output);
}

static void read_forecast(const struct reading *r, const json_t *json)
{
    static const struct read_row rows[] = {
        {"loads", offsetof(struct odb_forecast, loads), read_size},
        {"seconds", offsetof(struct odb_forecast, seconds), read_real},
    };
    r->report->forecast.strategy = json_string_value(json_object_get(json, "strategy"));
    READ_ROWS(json, rows, &r->report->forecast);
}

static void read_firsts(const struct reading *r, const json_t *json, struct odb_firsts *out)
{
    read_value(r, json_object_get(json, "nan"), &out->nan);
    read_value(r, json_object_get(json, "inf"), &out->inf);
    read_value(r, json_object_get(json, "beyond_f16"), &out->beyond_f16);
}

static void read_settings(const struct reading *r, const json_t *list)
{
    static const struct read_row rows[] = {
        {"setting", offsetof(struct odb_setting_tried, option), read_text},
        {"text", offsetof(struct odb_setting_tried, help), read_text},
        {"error", offsetof(struct odb_setting_tried, error), read_number},
    };
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct odb_setting_tried tried = {.verdict = ODB_VERDICT_UNTESTED};
        const json_t *json = json_array_get(list, i);
        const char *verdict = json_string_value(json_object_get(json, "verdict"));
        READ_ROWS(json, rows, &tried);
        if (tried.option && tried.help && verdict && odb_verdict_parse(&tried.verdict, verdict)) {
            odb_push(&r->report->settings, tried);
            continue;
        }
        free(tried.option);
        free(tried.help);
    }
}

static void read_search(const struct reading *r, const json_t *json)
{
    const json_t *first = json_object_get(json, "first");
    read_plain_model(r, json_object_get(json, "plain_model"));
    read_pieces(r, json_object_get(json, "pieces"));
    read_repeats(r, json_object_get(json, "repeat"));
    read_pinned(r, json_object_get(json, "pinned"));
    read_value(r, json_object_get(json, "contributions_to"), &r->report->contributions_to);
    read_contributions(r, json_object_get(json, "contributions"));
    read_settings(r, json_object_get(json, "settings"));
    read_steps(r, json_object_get(json, "strategy"));
    read_phases(r, json_object_get(json, "phases"));
    read_forecast(r, json_object_get(json, "forecast"));
    read_proof(r, json_object_get(json, "proof"));
    read_observer(r, json_object_get(json, "observer"));
    read_firsts(r, json_object_get(first, "reference"), &r->report->reference_firsts);
    read_firsts(r, json_object_get(first, "target"), &r->report->target_firsts);
}

/* --- the report ------------------------------------------------------------------------------- */

static void read_head(struct odb_report *report, const json_t *json)
{
    static const struct read_row rows[] = {
        {"target_description", offsetof(struct odb_report, target_description), read_text},
        {"host", offsetof(struct odb_report, host), read_text},
        {"target_words", offsetof(struct odb_report, target_words), read_text},
        {"failure", offsetof(struct odb_report, failure), read_text},
        {"outputs_diverge", offsetof(struct odb_report, outputs_diverge), read_bool},
        {"unsought", offsetof(struct odb_report, unsought), read_bool},
        {"little_shown", offsetof(struct odb_report, little_shown), read_bool},
        {"narrower", offsetof(struct odb_report, narrower), read_text},
        {"signature", offsetof(struct odb_report, signature), read_text},
        {"target_models", offsetof(struct odb_report, target_models), read_size},
        {"target_loads", offsetof(struct odb_report, target_loads), read_size},
        {"target_runs", offsetof(struct odb_report, target_runs), read_size},
        {"seconds", offsetof(struct odb_report, seconds), read_real},
        {"reference_seconds", offsetof(struct odb_report, reference_seconds), read_real},
        {"golden_seconds", offsetof(struct odb_report, golden_seconds), read_real},
        {"noise_seconds", offsetof(struct odb_report, noise_seconds), read_real},
        {"processor_seconds", offsetof(struct odb_report, processor_seconds), read_real},
        {"target_seconds", offsetof(struct odb_report, target_seconds), read_real},
        {"target_load_seconds", offsetof(struct odb_report, target_load_seconds), read_real},
        {"max_outputs_found", offsetof(struct odb_report, max_outputs), read_size},
        {"cut_found", offsetof(struct odb_report, cut_found), read_text},
        {"values_unread", offsetof(struct odb_report, values_unread), read_size},
        {"unsupported_nodes", offsetof(struct odb_report, n_unsupported), read_size},
    };
    const json_t *warnings = json_object_get(json, "warnings");
    const json_t *notes = json_object_get(json, "notes");
    READ_ROWS(json, rows, report);
    read_chars(json_object_get(json_object_get(json, "model"), "sha256"), report->sha256,
               sizeof report->sha256);
    report->dead = json_is_false(json_object_get(json, "target_runs_at_all"));
    if (json_is_true(json_object_get(json, "only_whole")))
        report->only_whole = !report->signature                          ? "crashes"
                             : !strncmp(report->signature, "timeout", 7) ? "hangs"
                             : !strncmp(report->signature, "refused", 7) ? "refuses"
                                                                         : "crashes";
    for (size_t i = 0; i < json_array_size(warnings); i++)
        if (json_is_string(json_array_get(warnings, i)))
            odb_report_warn(report, "%s", json_string_value(json_array_get(warnings, i)));
    for (size_t i = 0; i < json_array_size(notes); i++)
        if (json_is_string(json_array_get(notes, i)))
            odb_report_note(report, "%s", json_string_value(json_array_get(notes, i)));
}

/* What JSON alone has: of inputs and placements, which are not here any more, and of what was
 * searched beside. */
static void read_more(struct odb_report *report, const json_t *json)
{
    struct odb_buf own = ODB_BUF_INIT;
    odb_report_json(report, &own);
    json_t *made = json_loadb(own.data, own.len, 0, NULL), *value;
    const char *key;
    report->more = json_object();
    json_object_foreach((json_t *)json, key, value)
        if (!json_object_get(made, key) || !strcmp(key, "inputs") || !strcmp(key, "placements"))
            json_object_set(report->more, key, value);
    json_decref(made);
    odb_buf_dispose(&own);
}

void odb_report_read(struct odb_report *report, const char *text)
{
    const struct odb_graph *graph = report->model->graph;
    struct reading r = {.report = report, .values = odb_map_new()};
    json_t *json = json_loads(text, 0, NULL);
    for (size_t v = 0; v < graph->n_values; v++) {
        json_t *key = odb_report_value_key(report, (int)v);
        if (json_is_string(key))
            odb_map_add(r.values, json_string_value(key), v);
        json_decref(key);
    }
    if (json_is_object(json)) {
        read_head(report, json);
        read_search(&r, json);
        read_values(&r, json_object_get(json, "values"));
        read_culprits(&r, json_object_get(json, "culprits"));
        read_more(report, json);
        const json_t *sequence = json_object_get(json, "sequence");
        const char *told = json_string_value(json_object_get(sequence, "text"));
        report->sequence = told ? odb_xstrdup(told) : NULL;
    }
    odb_map_free(r.values);
    report->written = json;
}
