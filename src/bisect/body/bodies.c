/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search goes on inside a node with bodies that is to blame. Targets do not show what goes on
 * there, so a body is cut out, and the reference, which runs through the node, says what it is fed
 * in turn k:
 *
 *   1. the node alone once more: what it gives tells which branch was taken, how many turns, and in
 *      stacked outputs the first turn that is off;
 *   2. a Loop that has to stop after k turns gives the state after them, a Scan as well that is
 *      given k slices: a prefix that nothing observes, so bisection finds the first bad turn;
 *   3. the body of that turn runs alone on the reference's state. If it is right, the others are
 *      tried in order. If all are, it is the node itself that counts or hands on wrongly;
 *   4. the body that is wrong is searched as any model is, bodies in it included.
 */
#include "bisect/body/bodies.h"

#include "bisect/body/bodies_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/bisect_options.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "report/report.h"
#include "reference/trace.h"
#include "executor/cpu_executor.h"
#include "model/read/load.h"

#define BODIES_MOST 4 /* culprits that are entered */

/* --- inside ----------------------------------------------------------------------------------- */

/* Which of the culprits in a body is to blame for what the node shows: the first that fails in the
 * node's way and reaches what the body gives. */
static const struct odb_culprit *bodies_choose(const struct bodies *s,
                                               const struct odb_report *report)
{
    const struct odb_culprit *best = NULL;
    int most = 0;
    for (size_t i = 0; i < report->culprits.n; i++) {
        const struct odb_culprit *c = &report->culprits.items[i];
        int fits = c->kind == ODB_KIND_NONDETERMINISTIC
                       ? 0
                       : 1 + c->reaches_output + 2 * (c->kind == s->culprit->kind);
        if (fits <= most)
            continue;
        most = fits;
        best = c;
    }
    return best;
}

/* The outer culprit gets what the search inside a body found. */
static void bodies_adopt(struct bodies *s, const char *step, const struct odb_report *report)
{
    const struct odb_graph *graph = report->model->graph;
    const struct odb_culprit *first = bodies_choose(s, report);
    char label[200];
    if (!first && !report->outputs_diverge && !s->body.attr) {
        odb_buf_puts(&s->words, "Nothing in it is wrong, so it is the call: how inputs and "
                                "attributes come in and outputs go out, or how the target treats "
                                "the function as one. ");
        return;
    }
    if (!first) {
        s->culprit->path = odb_xstrdup(step);
        odb_buf_puts(&s->words, "No single node of that body could be named. ");
        return;
    }
    const struct odb_node *node = &graph->nodes[first->node];
    odb_node_label(node, label, sizeof label);
    s->culprit->path = odb_xasprintf("%s/%s", step, first->path ? first->path : label);
    struct odb_culprit_inside *inside = s->culprit->inside = odb_new(struct odb_culprit_inside);
    if (first->inside) {
        *inside = *first->inside;
        inside->name = odb_xstrdup(first->inside->name);
        inside->op_type = odb_xstrdup(first->inside->op_type);
        inside->domain = odb_xstrdup(first->inside->domain);
        inside->value = first->inside->value ? odb_xstrdup(first->inside->value) : NULL;
    } else {
        *inside = (struct odb_culprit_inside){
            .index = first->node,
            .name = odb_xstrdup(node->name),
            .op_type = odb_xstrdup(node->op_type),
            .domain = odb_xstrdup(node->domain),
            .value = first->value < 0 ? NULL : odb_xstrdup(graph->values[first->value].name),
            .kind = first->kind,
            .verified = first->verified,
            .numbers = first->numbers};
    }
    odb_buf_puts(&s->words, "There it is ");
    odb_buf_put_shown(&s->words, first->within ? label : s->culprit->path);
    if (report->culprits.n > 1)
        odb_buf_printf(&s->words, ", one of %zu", report->culprits.n);
    odb_buf_puts(&s->words, ": ");
    odb_buf_puts(&s->words, first->within ? first->within : first->text ? first->text : "");
    if (!first->within)
        odb_buf_putc(&s->words, ' ');
}

/* Searches the body. */
static enum odb_status bodies_dive(struct bodies *s, const struct odb_body_case *bc, int64_t turn,
                                   struct odb_error *err)
{
    const struct search_case *c = s->c;
    struct findings *f = s->f;
    struct odb_bisect_options inner = *c->options;
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_report *report = NULL;
    enum odb_precision precision;
    char *step = bodies_step(s->node, &s->body, turn);
    if (odb_precision_parse(&precision, inner.reference, NULL) != ODB_OK)
        inner.reference = "cpu";
    if (inner.golden && odb_precision_parse(&precision, inner.golden, NULL) != ODB_OK)
        inner.golden = NULL;
    if (inner.encodings) /* which are of the main graph's values */
        inner.expect = NULL;
    inner.encodings = NULL;
    inner.strategy = ODB_STRATEGY_AUTO;
    inner.prove = false;
    inner.trace = NULL;
    char *scope = odb_xasprintf("%s%s/", inner.scope ? inner.scope : "", step);
    inner.scope = scope;
    inner.hooks = s->hooks;
    enum odb_status status = s->search(&report, bc->model, bc->feeds, &inner, &why);
    if (report) {
        findings_spent_inside(f, report);
        if (report->culprits.n || status == ODB_OK)
            bodies_adopt(s, step, report);
    }
    if (status == ODB_CANCELLED)
        *err = why;
    else if (status != ODB_OK)
        findings_warn(f, "the search inside %s did not end: %.300s", step, why.what);
    odb_report_free(report);
    free(scope);
    free(step);
    s->done = true;
    return status == ODB_CANCELLED ? status : ODB_OK;
}

/* A warning, unless it was cancelled. */
static enum odb_status bodies_give_up(struct bodies *s, enum odb_status status,
                                      const struct odb_error *why, struct odb_error *err)
{
    if (status == ODB_CANCELLED) {
        *err = *why;
        return status;
    }
    findings_warn(s->f, "%s cannot be run by itself: %.300s", s->where, why->what);
    return ODB_OK;
}

enum odb_status bodies_try(struct bodies *s, int64_t turn, const char *say, struct odb_error *err)
{
    struct odb_body_case bc;
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_verdict verdict = ODB_VERDICT_UNTESTABLE;
    if (s->done || turn < 0 || (size_t)turn >= s->turns || s->tried[turn])
        return ODB_OK;
    s->tried[turn] = true;
    s->n_tried++;
    enum odb_status status =
        odb_body_case_open(&bc, s->c->trace, s->given, s->node->index, &s->body, turn, &why);
    if (status != ODB_OK) {
        odb_body_case_dispose(&bc);
        return bodies_give_up(s, status, &why, err);
    }
    free(s->where);
    s->where = bodies_step(s->node, &s->body, turn);
    int *values = odb_new_n(int, bc.model->graph->n_outputs + 1);
    size_t n = bodies_made(bc.model->graph, values);
    if (n)
        status =
            bodies_ask(s, bc.model, bc.feeds, values, n, "the body alone", NULL, &verdict, err);
    else
        verdict = ODB_VERDICT_PASS; /* it hands on what it is given */
    free(values);
    s->right[turn] = status == ODB_OK && verdict == ODB_VERDICT_PASS;
    s->n_right += s->right[turn];
    if (status == ODB_OK && bodies_bad(s, verdict)) {
        odb_buf_puts(&s->words, say);
        status = bodies_dive(s, &bc, turn, err);
    }
    odb_body_case_dispose(&bc);
    return status;
}

/* --- from a culprit inwards ------------------------------------------------------------------- */

static enum odb_status bodies_function(struct bodies *s, struct odb_error *err)
{
    struct odb_body_case bc;
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = odb_body_case_open(&bc, s->c->trace, s->given, s->node->index,
                                                &s->body, ODB_ANY_TURN, &why);
    if (status != ODB_OK) {
        odb_body_case_dispose(&bc);
        return bodies_give_up(s, status, &why, err);
    }
    odb_buf_puts(&s->words, "It calls a function of the model, whose body was searched. ");
    status = bodies_dive(s, &bc, ODB_ANY_TURN, err);
    odb_body_case_dispose(&bc);
    return status;
}

static enum odb_status bodies_control(struct bodies *s, struct odb_error *err)
{
    struct bodies_record r = {.wanted = ODB_ANY_TURN, .hooks = &s->hooks};
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_verdict verdict;
    enum odb_status status =
        bodies_run(s->c->trace, s->given, s->node->index, NULL, &r, s->ref, &why);
    if (status == ODB_CANCELLED)
        return bodies_give_up(s, status, &why, err);
    if (status != ODB_OK || !r.turns || !odb_body_find(s->node, r.attr, &s->body))
        return ODB_OK; /* the reference runs no body here */
    s->turns = r.turns;
    s->tried = odb_new_n(bool, s->turns);
    s->right = odb_new_n(bool, s->turns);
    status = bodies_owner(s, &why);
    if (status != ODB_OK)
        return bodies_give_up(s, status, &why, err);
    ODB_TRY(bodies_alone(s, &verdict, err));
    if (!bodies_bad(s, verdict))
        return ODB_OK; /* wrong only where it stands */
    return bodies_is(s, "If") ? bodies_branch(s, err) : bodies_turns(s, err);
}

static size_t bodies_states(const struct odb_node *node)
{
    const struct odb_attr *scanned = odb_attrs_find(&node->attrs, "num_scan_inputs");
    int64_t n = !strcmp(node->op_type, "Loop") ? node->n_in - 2
                : !strcmp(node->op_type, "Scan") && scanned
                    ? node->n_in - (node->opset < 9) - scanned->i
                    : 0;
    return (size_t)ODB_MAX(ODB_MIN(n, node->n_out), 0);
}

static enum odb_status bodies_enter(const struct search_case *c, struct findings *f,
                                    bodies_search_fn *search, struct odb_culprit *culprit,
                                    struct odb_error *err)
{
    const struct odb_node *node = &c->graph->nodes[culprit->node];
    struct bodies s = {.c = c,
                       .f = f,
                       .search = search,
                       .culprit = culprit,
                       .node = node,
                       .given = f->given,
                       .words = ODB_BUF_INIT};
    char label[200];
    s.hooks = odb_hooks_within(&c->options->hooks, bodies_event, bodies_cancelled, &s);
    s.where = odb_xstrdup(odb_node_label(node, label, sizeof label));
    s.n_out = (size_t)node->n_out;
    s.n_state = bodies_states(node);
    s.noise = culprit->numbers.local_noise.known ? culprit->numbers.local_noise.v : 0;
    s.ref = odb_new_n(struct odb_tensor *, s.n_out + 1);
    s.had = odb_new_n(struct odb_tensor *, s.n_out + 1);
    enum odb_status status =
        odb_body_find(node, NULL, &s.body) ? bodies_function(&s, err) : bodies_control(&s, err);
    if (s.words.len)
        culprit->within = odb_buf_take(&s.words);
    odb_buf_dispose(&s.words);
    bodies_drop(s.ref, s.n_out);
    bodies_drop(s.had, s.n_out);
    odb_feeds_free(s.feeds);
    odb_model_free(s.owner);
    free(s.tried);
    free(s.right);
    free(s.where);
    odb_pool_set_cancel(c->pool, c->options->hooks.cancelled, c->options->hooks.payload);
    return status;
}

/* --- all culprits ----------------------------------------------------------------------------- */

enum odb_status bodies_enter_all(const struct search_case *c, struct findings *f,
                                 bodies_search_fn *search, struct odb_error *err)
{
    size_t entered = 0;
    enum odb_status status = ODB_OK;
    if (c->options->no_enter || c->options->recorded || c->prober->recorded || !c->pool)
        return ODB_OK;
    for (size_t i = 0; i < f->report->culprits.n && entered < BODIES_MOST; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        bool death = culprit->kind == ODB_KIND_CRASH || culprit->kind == ODB_KIND_HANG;
        if (!culprit->verified || culprit->of_reference ||
            culprit->segment[0] != culprit->segment[1] ||
            !(death || odb_diagnosis_accuses(culprit->kind)) ||
            !odb_node_has_body(&c->graph->nodes[culprit->node]))
            continue;
        entered++;
        findings_step_begin(f, "inside");
        status = bodies_enter(c, f, search, culprit, err);
        findings_step_end(f, "inside", "the bodies of node %d", culprit->node);
        if (status != ODB_OK)
            break;
    }
    return status;
}
