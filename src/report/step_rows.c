/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/step_rows.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/mem.h"

/* Infinities are words in JSON, and NaN is; null is what is not known. */
static struct odb_number steps_number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    if (json_is_number(v))
        return ODB_NUMBER(json_number_value(v));
    return json_is_string(v) ? ODB_NUMBER(strtod(json_string_value(v), NULL))
                             : (struct odb_number){0};
}

static char *steps_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? odb_xstrdup(text) : NULL;
}

static enum odb_verdict steps_verdict(const json_t *object, const char *key)
{
    enum odb_verdict verdict;
    const char *name = json_string_value(json_object_get(object, key));
    return name && odb_verdict_parse(&verdict, name) ? verdict : ODB_VERDICT_UNTESTED;
}

static void steps_token(struct odb_step_row *row, const json_t *token)
{
    row->chooses = json_is_object(token);
    row->reference = json_integer_value(json_object_get(token, "reference"));
    row->target = json_integer_value(json_object_get(token, "target"));
    struct odb_number margin = steps_number(token, "margin"), noise = steps_number(token, "noise");
    row->tie = margin.known && noise.known && margin.v <= 2 * noise.v;
}

static bool steps_above(struct odb_number a, struct odb_number b)
{
    return a.known && (!b.known || a.v > b.v);
}

/* Bad before good, then the largest error. */
static bool steps_worse(const struct odb_value_report *a, const struct odb_value_report *b)
{
    bool bad = odb_verdict_is_bad(a->verdict), other = odb_verdict_is_bad(b->verdict);
    return bad != other ? bad : steps_above(a->error, b->error);
}

static void steps_outputs(struct odb_step_rows *steps, struct odb_step_row *row, const json_t *list)
{
    const json_t *item;
    size_t o;
    row->verdicts = odb_new_n(enum odb_verdict, steps->n_outputs + steps->n_nodes + 1);
    for (o = 0; o < steps->n_outputs + steps->n_nodes; o++)
        row->verdicts[o] = ODB_VERDICT_UNTESTED;
    json_array_foreach(list, o, item) {
        const struct odb_value_report output = {.verdict = steps_verdict(item, "verdict"),
                                                .error = steps_number(item, "error"),
                                                .noise = steps_number(item, "noise")};
        struct odb_number own = steps_number(item, "free");
        if (o >= steps->n_outputs)
            break;
        row->verdicts[o] = output.verdict;
        row->free = steps_above(own, row->free) ? own : row->free;
        if (row->worst >= 0 && !steps_worse(&output, &row->forced))
            continue;
        row->worst = (int)o;
        row->forced = output;
        free(row->place);
        row->place = steps_text(item, "place");
    }
}

static void steps_row(struct odb_step_rows *steps, struct odb_step_row *row, const json_t *step)
{
    *row = (struct odb_step_row){.forced.verdict = ODB_VERDICT_UNTESTED, .worst = -1};
    row->past = (size_t)json_integer_value(json_object_get(step, "past"));
    row->pieces = (size_t)json_integer_value(json_object_get(step, "new"));
    row->why = steps_text(step, "failure");
    row->envelope = steps_number(step, "envelope");
    steps_token(row, json_object_get(step, "token"));
    steps_outputs(steps, row, json_object_get(step, "outputs"));
    row->forced.verdict = steps_verdict(step, "forced");
    for (size_t o = 0; o < steps->n_outputs && row->why; o++) /* none was given */
        row->verdicts[o] = row->forced.verdict;
}

/* Node number i of those that were tried alone, a letter for each step. */
static void steps_node(struct odb_step_rows *steps, size_t i, const json_t *node)
{
    const char *name = json_string_value(json_object_get(node, "name"));
    const char *marks = json_string_value(json_object_get(node, "steps"));
    steps->names[steps->n_outputs + i] =
        odb_xasprintf("#%lld %s", (long long)json_integer_value(json_object_get(node, "index")),
                      name ? name : "");
    for (size_t k = 0; marks && marks[k] && k < steps->n; k++)
        steps->rows[k].verdicts[steps->n_outputs + i] = marks[k] == 'x'   ? ODB_VERDICT_FAIL
                                                        : marks[k] == '.' ? ODB_VERDICT_PASS
                                                                          : ODB_VERDICT_UNTESTED;
}

struct odb_step_rows *odb_step_rows_read(const struct odb_report *report)
{
    const json_t *sequence =
        json_object_get(report->more ? report->more : report->written, "sequence");
    const json_t *list = json_object_get(sequence, "steps"), *item;
    const json_t *first = json_object_get(json_array_get(list, 0), "outputs");
    const json_t *onset = json_object_get(sequence, "onset");
    const json_t *nodes = json_object_get(sequence, "nodes");
    size_t i;
    if (!json_is_array(list))
        return NULL;
    struct odb_step_rows *steps = odb_new(struct odb_step_rows);
    *steps = (struct odb_step_rows){
        .target = odb_xstrdup(report->target ? report->target : ""),
        .text = steps_text(sequence, "text"),
        .n_outputs = json_array_size(first),
        .n_nodes = json_array_size(nodes),
        .n = json_array_size(list),
        .onset = json_is_integer(onset) ? json_integer_value(onset) : -1,
        .node = report->culprits.n ? report->culprits.items[0].node : ODB_NO_NODE};
    steps->names = odb_new_n(char *, steps->n_outputs + steps->n_nodes + 1);
    steps->rows = odb_new_n(struct odb_step_row, steps->n + 1);
    json_array_foreach(first, i, item)
        steps->names[i] = steps_text(item, "name");
    json_array_foreach(list, i, item)
        steps_row(steps, &steps->rows[i], item);
    json_array_foreach(nodes, i, item)
        steps_node(steps, i, item);
    return steps;
}

void odb_step_rows_free(struct odb_step_rows *steps)
{
    if (!steps)
        return;
    for (size_t i = 0; i < steps->n_outputs + steps->n_nodes; i++)
        free(steps->names[i]);
    for (size_t i = 0; i < steps->n; i++) {
        free(steps->rows[i].verdicts);
        free(steps->rows[i].place);
        free(steps->rows[i].why);
    }
    free(steps->names);
    free(steps->rows);
    free(steps->target);
    free(steps->text);
    free(steps);
}
