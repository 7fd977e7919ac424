/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <math.h>

#include "report/json.h"
#include "sequence/forced.h"
#include "sequence/free_run.h"
#include "sequence/other_steps.h"
#include "sequence/sequence_json.h"
#include "sequence/sequence_run.h"
#include "sequence/sequence_words.h"

static json_t *sequence_number(double v)
{
    return isnan(v) ? json_null() : odb_json_real(v);
}

static json_t *sequence_carries(const struct odb_plan *plan)
{
    static const char *const kinds[] = {[ODB_CARRY_UNKNOWN] = "unknown",
                                        [ODB_CARRY_APPEND] = "append",
                                        [ODB_CARRY_PUT] = "put",
                                        [ODB_CARRY_REPLACE] = "replace"};
    const struct odb_graph *graph = plan->model->graph;
    json_t *list = json_array();
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const struct odb_plan_input *input = &plan->inputs.items[i];
        if (input->move != ODB_MOVE_CARRY)
            continue;
        json_array_append_new(list,
                              json_pack("{so,so,ss,so,so}", "input",
                                        odb_json_text(graph->values[input->value].name), "output",
                                        input->output == ODB_NO_VALUE
                                            ? json_null()
                                            : odb_json_text(graph->values[input->output].name),
                                        "kind", kinds[input->kind], "axis",
                                        input->axis < 0 ? json_null() : json_integer(input->axis),
                                        "why", odb_json_text(input->why)));
    }
    return list;
}

static json_t *sequence_outputs(const struct odb_sequence *s, size_t k)
{
    const struct odb_graph *graph = s->plan->model->graph;
    json_t *list = json_array();
    for (size_t o = 0; o < graph->n_outputs; o++) {
        const struct odb_step_output *out = &s->seen[k].outputs[o];
        json_array_append_new(
            list,
            json_pack("{so,so,so,so,so,so,so,so,so,so,so}", "name",
                      odb_json_text(graph->values[graph->outputs[o]].name), "verdict",
                      odb_json_text(odb_verdict_name(out->verdict)), "error",
                      sequence_number(out->error), "apart", sequence_number(out->apart), "noise",
                      sequence_number(out->noise), "mean", sequence_number(out->mean), "free",
                      sequence_number(out->free), "power", sequence_number(out->power),
                      "noise_power", sequence_number(out->noise_power), "free_power",
                      sequence_number(out->free_power), "place", odb_json_text(out->place)));
    }
    return list;
}

static json_t *sequence_token(const struct odb_step_token *token)
{
    if (!token->known)
        return json_null();
    return json_pack("{sI,sI,so,so,so,si,so,so}", "reference", (json_int_t)token->reference,
                     "target", (json_int_t)token->target, "margin", sequence_number(token->margin),
                     "noise", sequence_number(token->noise), "kl", sequence_number(token->kl),
                     "top5", token->shared, "nll", sequence_number(token->nll), "reference_nll",
                     sequence_number(token->reference_nll));
}

/* NULL: the target is no recording. */
static json_t *sequence_schedule(const struct odb_sequence *s)
{
    const struct odb_schedule *schedule = &s->schedule;
    const char *name = NULL;
    if (!s->recorded)
        return json_null();
    if (schedule->input >= 0)
        name = s->plan->model->graph->values[s->plan->inputs.items[schedule->input].value].name;
    return json_pack("{so,so,sI,sI,sI,so,sI,sI}", "input", odb_json_text(name), "how",
                     odb_json_text(schedule->how), "steps", (json_int_t)schedule->wrong, "others",
                     (json_int_t)schedule->others, "checked", (json_int_t)schedule->checked,
                     "unknown", odb_json_text(schedule->unknown), "untold",
                     (json_int_t)schedule->untold, "assumed", (json_int_t)schedule->assumed);
}

static json_t *sequence_steps(const struct odb_sequence *s)
{
    json_t *list = json_array();
    for (size_t k = 0; k < s->plan->steps; k++) {
        const struct odb_sample *forced = &s->forced.items.items[k];
        json_array_append_new(
            list, json_pack("{sI,sI,sI,so,so,so,so,so,sb}", "step", (json_int_t)k, "past",
                            (json_int_t)odb_plan_past(s->plan, k), "new",
                            (json_int_t)odb_plan_pieces(s->plan, k), "forced",
                            odb_json_text(odb_verdict_name(forced->verdict)), "failure",
                            odb_json_text(forced->why), "outputs", sequence_outputs(s, k), "token",
                            sequence_token(&s->seen[k].token), "envelope",
                            sequence_number(s->seen[k].envelope), "moved", (int)s->seen[k].moved));
    }
    return list;
}

/* What the searched step accuses, in the steps in which that was tried. */
static json_t *sequence_nodes(const struct odb_sequence *s)
{
    json_t *list = json_array();
    char *marks = odb_new_n(char, s->plan->steps + 1);
    for (size_t i = 0; i < odb_other_steps_nodes(s); i++) {
        const struct odb_node *node = &s->plan->model->graph->nodes[odb_other_steps_node(s, i)];
        json_t *object = odb_json_node(node->index, node->name, node->op_type, node->domain);
        for (size_t k = 0; k < s->plan->steps; k++)
            marks[k] = odb_other_steps_mark(s, i, k);
        json_object_set_new(object, "steps", json_string(marks));
        json_array_append_new(list, object);
    }
    free(marks);
    return list;
}

/* null: no step was found to be wrong for another reason. */
static json_t *sequence_other(const struct odb_sequence *s)
{
    if (!s->other_searched)
        return json_null();
    return json_pack("{sI,so}", "step", (json_int_t)s->other_step, "node",
                     s->other_node == ODB_NO_NODE ? json_null() : json_integer(s->other_node));
}

static json_t *sequence_itself(const struct odb_consistency *c)
{
    if (!c->asked)
        return json_pack("{sb,so}", "asked", 0, "why", odb_json_text(c->why));
    return json_pack("{sb,sb,sb,sb,so,so}", "asked", 1, "exact", (int)c->exact, "agrees",
                     (int)!c->broken, "padded", (int)c->padded, "error", sequence_number(c->error),
                     "node", c->node == ODB_NO_NODE ? json_null() : json_integer(c->node));
}

json_t *odb_sequence_json(const struct odb_sequence *s)
{
    struct odb_buf text = ODB_BUF_INIT;
    bool placed = odb_sequence_diverges(s->verdict) || s->verdict == ODB_SEQUENCE_DRIFT;
    odb_sequence_headline(s, &text);
    json_t *told = json_pack(
        "{sI,sI,ss,so,so,so,so,so,so,so,so,so,so,sI,sI,sI,sb,so}", "n", (json_int_t)s->plan->steps,
        "judged", (json_int_t)odb_forced_judged(s), "verdict", odb_sequence_word(s->verdict),
        "text", odb_json_text(odb_buf_text(&text)), "onset",
        placed ? json_integer((json_int_t)s->step) : json_null(), "output",
        s->output < 0
            ? json_null()
            : odb_json_text(
                  s->plan->model->graph->values[s->plan->model->graph->outputs[s->output]].name),
        "carry",
        s->carry < 0
            ? json_null()
            : odb_json_text(
                  s->plan->model->graph->values[s->plan->inputs.items[s->carry].value].name),
        "carries", sequence_carries(s->plan), "itself", sequence_itself(&s->consistency),
        "schedule", sequence_schedule(s), "steps", sequence_steps(s), "nodes", sequence_nodes(s),
        "other", sequence_other(s), "reference_runs", (json_int_t)s->spent.reference, "runs",
        (json_int_t)s->spent.target.runs, "loads", (json_int_t)s->spent.target.loads, "stopped",
        (int)s->stopped, "own",
        s->own ? json_pack("{sI,sI,sI}", "step", (json_int_t)s->own, "target",
                           (json_int_t)s->own_token, "reference", (json_int_t)s->reference_token)
               : json_null());
    odb_buf_dispose(&text);
    return told;
}
