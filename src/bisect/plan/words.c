/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The diagnosis in plain words: what, why this node, what was ruled out, what would settle the
 * rest.
 */
#include "bisect/plan/words.h"
#include "bisect/refusal/broken.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/evidence/overflow.h"
#include "bisect/evidence/reference_off.h"
#include "report/integers.h"
#include "report/report.h"
#include "bisect/branch_divergence.h"
#include "bisect/alone/third.h"
#include "executor/executor.h"
#include "executor/groups.h"
#include "run/value_report.h"
#include "bisect/evidence/words_evidence.h"

static void words_node(const struct search_case *c, int node, struct odb_buf *out)
{
    const struct odb_node *n = &c->graph->nodes[node];
    char label[200];
    odb_buf_printf(out, "node %d, %s%s%s ", node, n->domain, n->domain[0] ? "::" : "", n->op_type);
    odb_buf_put_shown(out, odb_node_label(n, label, sizeof label));
}

/* The value's name, and which checkpoint it is. */
static void words_value(const struct search_case *c, int value, struct odb_buf *out)
{
    int producer = c->graph->values[value].producer;
    char *checkpoint =
        producer == ODB_NO_NODE ? NULL : odb_node_checkpoint(&c->graph->nodes[producer]);
    odb_buf_put_shown(out, c->graph->values[value].name);
    if (checkpoint) {
        odb_buf_puts(out, " (checkpoint ");
        odb_buf_put_shown(out, checkpoint);
        odb_buf_putc(out, ')');
    }
    free(checkpoint);
}

/* "0.0123 where rounding explains 1.2e-06 (10000 times as much)". */
static void words_against(struct odb_number error, struct odb_number noise, struct odb_buf *out)
{
    odb_put_off(error, noise, out);
    if (noise.known && noise.v > 0 && error.v > 0 && isfinite(error.v))
        odb_buf_printf(out, " (%.3g times as much)", error.v / noise.v);
}

/* By how much; where no number says it, why. */
static void words_how(const struct odb_value_report *v, struct odb_number error,
                      struct odb_number noise, struct odb_buf *out)
{
    if (error.known) {
        odb_buf_puts(out, ", by ");
        words_against(error, noise, out);
    } else if (v->reason[0]) {
        odb_buf_puts(out, ": ");
        odb_buf_put_shown(out, v->reason);
    }
}

/* Infinitely far off are strings, and numbers where there should be nothing but zeros. */
static void words_off(const struct odb_value_report *v, struct odb_buf *out)
{
    odb_buf_printf(out, " is %s what the reference operator makes of the very same inputs",
                   isinf(v->local_error.v) ? "not" : "off from");
    if (isinf(v->local_error.v))
        return;
    odb_buf_puts(out, " by ");
    words_against(v->local_error, v->local_noise, out);
}

static bool words_recorded(const struct search_case *c)
{
    return c->prober->recorded;
}

static const char *words_makes(const struct odb_culprit *c)
{
    return c->kind == ODB_KIND_NAN   ? "makes NaN"
           : c->kind == ODB_KIND_INF ? "makes infinities"
                                     : "introduces the error";
}

static void words_specials(const struct odb_culprit *c, struct odb_buf *out)
{
    struct odb_buf counts = ODB_BUF_INIT;
    odb_specials_put(&c->specials, false, &counts);
    if (counts.len)
        odb_buf_printf(out, " (%s)", counts.data);
    odb_buf_dispose(&counts);
}

/* Its output has another shape, and the reference operator makes the same of the target's own
 * inputs: that comes of them. Numbers of another type can be compared, which says nothing of it. */
static bool words_misfit_is_inherited(const struct odb_value_report *v)
{
    return v->verdict == ODB_VERDICT_SHAPE && v->local_error.known && isfinite(v->local_error.v);
}

/* "shape (2, 3) where the reference has (2, 4)". */
static void words_misfit(const struct odb_value_report *v, struct odb_buf *out)
{
    odb_buf_puts(out, v->verdict == ODB_VERDICT_DTYPE ? "type " : "");
    odb_buf_put_shown(out, v->reason);
}

static void words_introduced(const struct search_case *c, const struct odb_culprit *who,
                             struct odb_buf *out)
{
    const struct odb_value_report *v = &who->numbers;
    words_node(c, who->node, out);
    odb_buf_printf(out, " %s: its output ", words_makes(who));
    words_value(c, who->value, out);
    bool inherited = words_misfit_is_inherited(v);
    if (odb_verdict_misfits(v->verdict) && !inherited) {
        odb_buf_puts(out, " has ");
        words_misfit(v, out);
    } else if (who->kind != ODB_KIND_INTRODUCED && v->local_error.known) {
        odb_buf_puts(out, " has them where the reference operator has none for the very same "
                          "inputs, or none where that has them");
        words_specials(who, out);
    } else if (v->local_error.known) {
        words_off(v, out);
    } else {
        odb_buf_puts(out, " is the first that is wrong");
        words_how(v, v->error, v->noise, out);
    }
    if (inherited) {
        odb_buf_puts(out, "; that it has ");
        words_misfit(v, out);
        odb_buf_puts(out, " comes of its inputs");
    }
    odb_buf_puts(out, ". ");
    if (who->verified && who->unlike > 0)
        odb_buf_printf(
            out,
            "Run alone on the target with those inputs it is wrong as well, but with other "
            "numbers, %.3g away: it does not repeat when it is loaded anew, as what reads "
            "memory that is not set, or no longer its own. ",
            who->unlike);
    else if (who->verified)
        odb_buf_printf(out,
                       "Run alone on the target %s, so neither its neighbours nor the cut are to "
                       "blame. ",
                       inherited ? "it is wrong too" : "with those inputs it fails the same way");
    else if (words_recorded(c))
        odb_buf_puts(out, "The target is a recording, which cannot be asked to run it alone. ");
    else if (who->checks[ODB_CHECK_ALONE] == ODB_NOT_TESTABLE)
        odb_buf_puts(out, "The target refuses to run it alone, which says nothing either way. ");
    else if (c->options->no_checks || who->known)
        odb_buf_puts(out, "It was not run alone on the target. ");
    else
        odb_buf_puts(out, "It could not be confirmed alone on the target. ");
}

static void words_from_to(const struct search_case *c, const struct odb_culprit *who,
                          struct odb_buf *out)
{
    odb_buf_puts(out, "the region from ");
    words_node(c, who->segment[0], out);
    odb_buf_puts(out, " to ");
    words_node(c, who->segment[1], out);
}

/* A region between recorded values. */
static void words_stretch(const struct search_case *c, const struct odb_culprit *who,
                          struct odb_buf *out)
{
    const struct odb_value_report *v = &who->numbers;
    words_from_to(c, who, out);
    odb_buf_puts(out, ", within which nothing was recorded, ");
    odb_buf_puts(out, words_makes(who));
    odb_buf_puts(out, ": its end ");
    words_value(c, who->value, out);
    if (v->local_error.known) {
        odb_buf_puts(out, " is off from what the reference makes of the values recorded before "
                          "it by ");
        words_against(v->local_error, v->local_noise, out);
    } else {
        odb_buf_puts(out, " is the first recorded value that is wrong, and the reference cannot "
                          "run the region on the values recorded before it");
        if (v->reason[0]) {
            odb_buf_puts(out, ": ");
            odb_buf_put_shown(out, v->reason);
        }
    }
    odb_buf_puts(out, ". Which of its nodes it is, values recorded in between would tell. ");
}

/* A recording is believed, and the model's operators make something else of what was recorded. */
static void words_not_recorded(const struct search_case *c, const struct findings *f,
                               const struct odb_culprit *who, struct odb_buf *out)
{
    const struct odb_value_report *told = reference_told(f, who->value);
    odb_buf_puts(out, "The exported model differs from the recording (");
    odb_buf_put_shown(out, c->trace->reference_spec);
    odb_buf_puts(out, "): at its ");
    words_value(c, who->value, out);
    odb_buf_puts(out, " its operators make something else of what was recorded before than was "
                      "recorded there");
    words_how(told, told->local_error, told->local_noise, out);
    odb_buf_puts(out, ". ");
    if (who->recorded_weight) {
        words_node(c, who->node, out);
        odb_buf_printf(out, " has a weight, %s, that is not the recorded one (%s). ",
                       who->recorded_weight, who->recorded_off);
        odb_buf_puts(out, who->weight_explains
                              ? "With the recorded weight they make what was "
                                "recorded: the weight is all. "
                              : "With the recorded weight they do not make what was "
                                "recorded either, so there is more to it. ");
    } else {
        odb_buf_puts(out, "Model and framework mean different things there, or the recording is "
                          "spoilt. ");
    }
    if (who->third_opinion == ODB_OPINION_TARGET)
        odb_buf_puts(out, "The target computes what the model says. ");
}

/* Target and reference part, and it is the reference that is off from the CPU's operator. */
static void words_parted(const struct search_case *c, const struct findings *f,
                         const struct odb_culprit *who, struct odb_buf *out)
{
    const struct odb_value_report *told = reference_told(f, who->value);
    bool region = who->segment[0] != who->segment[1];
    if (region)
        words_from_to(c, who, out);
    else
        words_node(c, who->node, out);
    odb_buf_printf(out, " is where target and %s part, and it is %s%s (", c->trace->teller,
                   strcmp(c->trace->teller, "golden") ? "the " : "", c->trace->teller);
    odb_buf_put_shown(out, c->trace->reference_spec);
    odb_buf_puts(out, ") that is off: its ");
    words_value(c, who->value, out);
    odb_buf_puts(out, region ? " is not what the CPU makes of its values before the region"
                             : " is not what the CPU's operator makes of its own inputs");
    words_how(told, told->local_error, told->local_noise, out);
    if (who->third_opinion == ODB_OPINION_NEITHER) {
        odb_buf_puts(out, "; but ");
        odb_buf_put_shown(out, who->third_by);
        odb_buf_puts(out, " agrees with neither. ");
    } else {
        odb_buf_puts(out, who->third_opinion == ODB_OPINION_TARGET
                              ? "; the target's, on the target's inputs, is. "
                              : "; of the target's this is not known. ");
    }
    if (odb_executor_recorded(c->trace->reference_spec))
        odb_buf_puts(out, "Model and recording mean different things here, or the recording is "
                          "spoilt. ");
}

/* By how much, where that is known: of the node's own, or else of its value. */
static void words_by(const struct odb_culprit *c, struct odb_buf *out)
{
    const struct odb_value_report *v = &c->numbers;
    bool own = v->local_error.known && v->local_error.v > 0;
    if (!own && !(v->error.known && v->error.v > 0))
        return;
    odb_buf_puts(out, ", by ");
    if (own)
        words_against(v->local_error, v->local_noise, out);
    else
        words_against(v->error, v->noise, out);
}

/* Looking decides: the plain run and the one that reads values have different verdicts. */
static void words_observed(const struct search_case *c, const struct findings *f,
                           const struct odb_culprit *who, struct odb_buf *out)
{
    words_node(c, who->node, out);
    if (f->diverge && who->reaches_output) {
        odb_buf_puts(out, " is where it shows");
        words_by(who, out);
        odb_buf_puts(out, ". The model as it is is wrong, and not with its values read: reading "
                          "changes how the target computes, and no part that was run without "
                          "reading inside it is wrong. ");
        return;
    }
    odb_buf_puts(out, " is wrong only while its output is read");
    words_by(who, out);
    odb_buf_puts(out, ". Unobserved, it is not: reading values changes how the target computes "
                      "here. ");
}

/* What is known of parts of the model: which fail, and which do not. */
static void words_parts(const struct search_case *c, const struct odb_culprit *who,
                        struct odb_buf *out)
{
    bool all = who->segment[0] == 0 && who->segment[1] == (int)c->graph->n_nodes - 1;
    if (all) {
        odb_buf_puts(out, "No part of the model that was asked is wrong, fed with the reference's "
                          "values: it takes all of it. ");
    } else {
        odb_buf_puts(out, "The smallest part known to fail is from ");
        words_node(c, who->segment[0], out);
        odb_buf_puts(out, " to ");
        words_node(c, who->segment[1], out);
        odb_buf_puts(out, ", with all outputs that it makes kept. ");
    }
    if (!who->passes.n)
        return;
    odb_buf_puts(out, "The largest known to pass is from ");
    words_node(c, who->passes.first, out);
    odb_buf_puts(out, " to ");
    words_node(c, who->passes.last, out);
    odb_buf_printf(out, " (%zu of %zu nodes). ", who->passes.n, c->graph->n_nodes);
}

static void words_whole(const struct search_case *c, const struct findings *f,
                        const struct odb_culprit *who, struct odb_buf *out)
{
    words_node(c, who->node, out);
    odb_buf_puts(out, " is wrong in the whole model and right alone: there its ");
    words_value(c, who->value, out);
    odb_buf_puts(out, " is off");
    words_by(who, out);
    odb_buf_puts(out, ". ");
    if (f->report->repeats.runs > 1)
        odb_buf_printf(out,
                       "%zu equal runs give the same, so it is no matter of chance, nor of "
                       "reading. ",
                       f->report->repeats.runs);
    words_parts(c, who, out);
}

/* "output a holds the values of b, b those of a" */
static void words_exchanged(const struct search_case *c, const struct findings *f,
                            const struct odb_culprit *who, struct odb_buf *out)
{
    int at = who->value;
    odb_buf_puts(out, "output ");
    for (size_t steps = 0; steps <= c->n_outputs; steps++) {
        int of = f->exchanged[at];
        words_value(c, at, out);
        odb_buf_puts(out, steps ? " those of " : " holds the values of output ");
        words_value(c, of, out);
        at = of;
        if (at == who->value || at < 0 || f->exchanged[at] == ODB_NO_VALUE)
            break;
        odb_buf_puts(out, ", and ");
    }
    odb_buf_puts(out,
                 at == who->value ? ": the target has exchanged them. " : ", which is right. ");
    if (c->prober->recorded) {
        odb_buf_puts(out, "Look at how outputs were bound to their names, or ordered. ");
        return;
    }
    odb_node_put(c->graph, who->node, out);
    odb_buf_puts(out, ", which makes it, is right alone: look at how outputs are bound to their "
                      "names, or ordered. ");
}

/* "#12 conv (Conv)'s output v12 in elements 0 to 63 of 128" */
void words_put_held(const struct search_case *c, const struct odb_held *held, struct odb_buf *out)
{
    if (c->graph->values[held->of].producer == ODB_NO_NODE) {
        odb_buf_puts(out, "the input ");
        words_value(c, held->of, out);
    } else {
        odb_node_put(c->graph, c->graph->values[held->of].producer, out);
        odb_buf_puts(out, "'s output ");
        words_value(c, held->of, out);
    }
    if (held->n < held->of_all)
        odb_buf_printf(out, " in elements %zu to %zu of %zu", held->first,
                       held->first + held->n - 1, held->of_all);
}

/* Whether it holds all that a node of the same operator makes of the same operands. */
static bool words_taken_for(const struct search_case *c, const struct odb_culprit *who)
{
    int maker = c->graph->values[who->held.of].producer;
    const struct odb_node *own = &c->graph->nodes[who->node];
    const struct odb_node *other = maker == ODB_NO_NODE ? NULL : &c->graph->nodes[maker];
    bool same = other && other != own && !strcmp(other->op_type, own->op_type) &&
                !strcmp(other->domain, own->domain) && other->n_in == own->n_in &&
                who->held.n == who->held.of_all;
    for (int i = 0; same && i < own->n_in; i++)
        same = other->in[i] == own->in[i];
    return same;
}

static void words_overwritten(const struct search_case *c, const struct findings *f,
                              const struct odb_culprit *who, struct odb_buf *out)
{
    const struct odb_held *held = &who->held;
    words_node(c, who->node, out);
    odb_buf_puts(out, ": its output ");
    words_value(c, who->value, out);
    odb_buf_puts(out, " holds the values of ");
    words_put_held(c, held, out);
    if (words_taken_for(c, who))
        odb_buf_puts(out,
                     ". Both read the same and differ in attributes alone: it may be taken for "
                     "that one, as nodes are that are equal. ");
    else
        odb_buf_puts(out, who->checks[ODB_CHECK_ALONE] == ODB_CONTRADICTS
                              ? ". Alone it is right: its memory is used again too early, or was. "
                              : ". Its memory is used again too early, or was. ");
    words_parts(c, who, out);
}

/* Nodes that are right one by one, and wrong as the target takes them together. */
static void words_group(const struct search_case *c, const struct odb_culprit *who,
                        struct odb_buf *out)
{
    const struct odb_value_report *v = &who->numbers;
    words_node(c, who->node, out);
    odb_buf_puts(out, " is wrong together with ");
    for (size_t i = 0, n = 0; i < who->group.n; i++)
        if (who->group.items[i] != who->node)
            odb_buf_printf(out, "%s#%d",
                           !n++                   ? ""
                           : n + 1 < who->group.n ? ", "
                                                  : " and ",
                           who->group.items[i]);
    odb_buf_printf(out,
                   ": run apart from the rest (#%d to #%d), fed with the reference's values and "
                   "with nothing inside read, they make ",
                   who->segment[0], who->segment[1]);
    words_value(c, who->value, out);
    odb_buf_puts(out, " wrong");
    if (!v->boundary) /* else a step is all or nothing, and how many are off is told */
        words_by(who, out);
    if (v->boundary && v->reason[0]) {
        odb_buf_puts(out, " (");
        odb_buf_put_shown(out, v->reason);
        odb_buf_puts(out, ")");
    }
    odb_buf_puts(out, ". Where a value inside is read they are right: it is the kernel that the "
                      "target makes of them");
    if (who->kernel) {
        odb_buf_puts(out, ", ");
        odb_buf_put_shown(out, who->kernel->name);
    }
    odb_buf_puts(out, ". ");
}

/* The first weight that both read; ODB_NO_VALUE: there is none. */
static int words_shared_weight(const struct odb_graph *graph, int one, int other)
{
    const struct odb_node *a = &graph->nodes[one], *b = &graph->nodes[other];
    for (int i = 0; i < a->n_in; i++)
        for (int k = 0; k < b->n_in; k++) {
            const struct odb_tensor *t = a->in[i] < 0 ? NULL : graph->values[a->in[i]].init;
            if (a->in[i] == b->in[k] && t && t->count > 1)
                return a->in[i];
        }
    return ODB_NO_VALUE;
}

/* What is done to a weight for the kernel of one node may be seen by another. */
static void words_shared(const struct search_case *c, const struct odb_culprit *who,
                         struct odb_buf *out)
{
    int first = who->segment[0], last = who->segment[1];
    int weight = first < last ? words_shared_weight(c->graph, first, last) : ODB_NO_VALUE;
    if (weight == ODB_NO_VALUE)
        return;
    odb_buf_printf(out, "#%d and #%d read one weight, ", first, last);
    words_value(c, weight, out);
    odb_buf_puts(out, ": what is made of it for one may be what the other reads. ");
}

static void words_region(const struct search_case *c, const struct odb_culprit *who,
                         struct odb_buf *out)
{
    if (who->group.n) {
        words_group(c, who, out);
        return;
    }
    words_from_to(c, who, out);
    odb_buf_puts(out, who->verified ? " fails as a whole, fed with the reference's values and with "
                                      "nothing inside it observed; "
                                    : " is as far as the search could narrow it; ");
    if (who->kind == ODB_KIND_INTRODUCED || who->kind == ODB_KIND_NAN) {
        odb_buf_puts(out, "its first node cannot be run alone, so it may be that one or all of "
                          "them together. ");
        return;
    }
    odb_buf_puts(out, "the node that it was narrowed to passes alone. ");
    odb_buf_puts(out, who->kind == ODB_KIND_PROBE_EFFECT
                          ? "Reading a value inside hides the fault: the target treats the region "
                            "differently when it is observed, as with a fusion or another layout. "
                          : "The nodes are fine one by one and wrong together, as with a fusion. ");
    words_shared(c, who, out);
}

static void words_spread(const struct search_case *c, const struct findings *f,
                         const struct odb_culprit *who, struct odb_buf *out)
{
    const struct odb_value_report *v = &who->numbers;
    bool region = who->segment[0] != who->segment[1];
    if (region)
        words_from_to(c, who, out);
    else
        words_node(c, who->node, out);
    odb_buf_puts(out, " is the first whose output is over tolerance, by ");
    words_against(v->error, v->noise, out);
    odb_buf_puts(out, region ? ", and what was recorded before it is not; but the reference makes "
                               "the same of that. "
                             : ", and its inputs are not; but the reference operator on the "
                               "target's own inputs gives the same, so the operator itself is "
                               "right. ");
    if (who->kind == ODB_KIND_ACCUMULATED)
        odb_buf_puts(out,
                     "No single node is to blame: small errors of the nodes before it add up. ");
    else if (v->boundary)
        odb_buf_puts(out, "A decision upstream (rounding, comparing, choosing the largest) stands "
                          "so near its border that rounding alone tips it. ");
    else
        odb_buf_puts(out, "It is ill-conditioned here: it enlarges small errors in its inputs. ");
}

static bool words_has_ancestors(const struct search_case *c, int index)
{
    const struct odb_node *node = &c->graph->nodes[index];
    bool any = false;
    for (int i = 0; i < node->n_in; i++)
        any |= node->in[i] >= 0 && c->graph->values[node->in[i]].producer != ODB_NO_NODE;
    return any;
}

static void words_dead(const struct search_case *c, const struct findings *f,
                       const struct odb_culprit *who, struct odb_buf *out)
{
    words_node(c, who->node, out);
    odb_buf_printf(out, " makes the target %s", who->kind == ODB_KIND_CRASH ? "crash" : "hang");
    if (who->numbers.reason[0]) {
        odb_buf_puts(out, " (");
        odb_buf_put_shown(out, who->numbers.reason);
        odb_buf_puts(out, ")");
    }
    if (who->segment[0] != who->segment[1]) {
        odb_buf_puts(out, ", or one of those before it back to ");
        words_node(c, who->segment[0], out);
        odb_buf_puts(out, ", which no prefix that runs tells apart. ");
    } else {
        odb_buf_puts(out, !words_has_ancestors(c, who->node) ? ", and nothing stands before it. "
                          : who->checks[ODB_CHECK_PREFIX] == ODB_CONFIRMS
                              ? ": every prefix without it runs. "
                              : "; whether what stands before it runs is not known. ");
    }
    odb_buf_puts(out, who->verified ? "Alone, fed with the reference's values, it does the same. "
                      : who->checks[ODB_CHECK_ALONE] == ODB_NOT_TESTABLE
                          ? "Alone the target refuses it, so whether something before it is needed "
                            "as well is not known. "
                          : "Alone it does not: something before it is needed as well. ");
}

static void words_refused(const struct search_case *c, const struct findings *f,
                          const struct odb_culprit *who, struct odb_buf *out)
{
    broken_put(c, f, who, out);
}

static void words_votes(const struct odb_repeated *output, size_t runs, struct odb_buf *out)
{
    const char *before = "";
    odb_buf_printf(out, "of %zu equal runs ", runs);
    for (int v = 0; v < ODB_VERDICT_COUNT; v++) {
        if (!output->votes[v])
            continue;
        odb_buf_printf(out, "%s%zu show %s", before, output->votes[v],
                       odb_verdict_name((enum odb_verdict)v));
        before = " and ";
    }
}

/* What was found of it as of any other node, in the run that was judged. */
static void words_wrong_too(const struct search_case *c, const struct odb_culprit *who,
                            struct odb_buf *out)
{
    const struct odb_value_report *v = &who->numbers;
    odb_buf_puts(out, "It is not only another result each time, but a wrong one: ");
    words_value(c, who->value, out);
    if (who->also != ODB_KIND_INTRODUCED) {
        odb_buf_printf(out,
                       " holds %s that the reference operator does not make of the same "
                       "inputs, or lacks some that it does",
                       who->also == ODB_KIND_NAN ? "NaN" : "infinities");
        words_specials(who, out);
    } else if (v->local_error.known) {
        words_off(v, out);
    } else {
        odb_buf_puts(out, " is the first that is wrong");
    }
    odb_buf_puts(out, who->verified ? " in the run that was judged, and alone as well. "
                                    : " in the run that was judged. ");
}

/* The first run differs and all later ones are alike: that is no race. */
static void words_state(const struct search_case *c, const struct findings *f, struct odb_buf *out)
{
    const struct odb_repeats *repeats = &f->report->repeats;
    if (!repeats->later_alike)
        return;
    bool right = true;
    for (size_t o = 0; o < c->n_outputs; o++)
        right = right && !odb_verdict_is_bad(f->verdicts[o].verdict);
    odb_buf_printf(out,
                   "The first run of the model is %s and all later ones are %s, bit for bit "
                   "alike",
                   right ? "right" : "wrong", right ? "wrong" : "right");
    odb_buf_puts(out, repeats->begins_anew
                          ? ", and so again once it is loaded anew: state is kept between runs. "
                          : ", even once it is loaded anew: state is kept between runs, and beyond "
                            "the model. ");
}

static void words_races(const struct search_case *c, const struct findings *f,
                        const struct odb_culprit *who, struct odb_buf *out)
{
    const struct odb_repeats *repeats = &f->report->repeats;
    bool found = repeats->first_node == who->node;
    words_node(c, who->node, out);
    odb_buf_puts(out, found
                          ? " is the first that makes other bits of equal inputs in equal runs of "
                            "the target, every value read. "
                      : repeats->first_node == ODB_NO_NODE
                          ? " makes an output that differs between equal runs of the target; with "
                            "every value read they agree, so where it begins is not known. "
                          : " was wrong in a run that does not repeat. ");
    words_state(c, f, out);
    for (size_t i = 0; i < repeats->outputs.n && i < 3; i++) {
        const struct odb_repeated *output = &repeats->outputs.items[i];
        odb_buf_puts(out, "At output ");
        words_value(c, output->value, out);
        odb_buf_puts(out, ", ");
        words_votes(output, repeats->runs, out);
        odb_buf_printf(out, ", up to %.3g apart. ", output->spread);
    }
    if (who->flips_and)
        words_wrong_too(c, who, out);
    odb_buf_puts(out, "Whatever else is found here may not repeat; --repeat runs it more often. ");
}

static void words_end(const struct search_case *c, const struct findings *f,
                      const struct odb_culprit *who, struct odb_buf *out)
{
    bool known = !odb_report_undecided(f->report, ODB_UNDECIDED_INPUTS);
    if (who->value >= 0 && known && !who->reaches_output && who->kind != ODB_KIND_NONDETERMINISTIC)
        odb_buf_puts(out, "No output of the model shows it with these inputs. ");
    third_put(who, out);
    const struct odb_executor_ops *target = odb_executor_row(c->options->target);
    if (target && target->float16 && who->value >= 0) {
        const struct odb_tensor *t = c->trace->ref[who->value];
        if (t && t->dtype == ODB_F16)
            odb_buf_puts(out, target->float16);
    }
    branch_divergence_put_all(c, f, who, out);
    if (who->within) /* after all that is of the node as one */
        odb_buf_puts(out, who->within);
}

/* Of what was found in a body, the node around it says that, at the end. */
static void words_confidence(const struct search_case *c, const struct odb_culprit *who,
                             struct odb_buf *out)
{
    if (!c->options->scope && odb_confidence_name(who->confidence))
        odb_buf_printf(out, "Confidence: %s (%s). ", odb_confidence_name(who->confidence),
                       who->confidence_reason);
}

/* A value that is off, or a stretch where it becomes so. */
static void words_wrong(const struct search_case *c, const struct findings *f,
                        const struct odb_culprit *who, struct odb_buf *out)
{
    if (who->of_recording)
        words_not_recorded(c, f, who, out);
    else if (who->of_reference)
        words_parted(c, f, who, out);
    else if (who->segment[0] == who->segment[1])
        words_introduced(c, who, out);
    else if (words_recorded(c))
        words_stretch(c, who, out);
    else
        words_region(c, who, out);
}

/* What reading decides. */
static void words_read(const struct search_case *c, const struct findings *f,
                       const struct odb_culprit *who, struct odb_buf *out)
{
    if (who->segment[0] != who->segment[1])
        words_region(c, who, out);
    else
        words_observed(c, f, who, out);
}

/* Whose values stand where the wrong ones are, which an accused node need not know of. */
static void words_held(const struct search_case *c, const struct odb_culprit *who,
                       struct odb_buf *out)
{
    if (!who->held.known || !odb_diagnosis_accuses(who->kind))
        return;
    odb_buf_puts(out, "It holds the values of ");
    words_put_held(c, &who->held, out);
    odb_buf_puts(out, ". ");
}

static void words_overflow(const struct search_case *c, const struct findings *f,
                           const struct odb_culprit *who, struct odb_buf *out)
{
    overflow_put(c, f, who, out);
}

typedef void words_fn(const struct search_case *c, const struct findings *f,
                      const struct odb_culprit *who, struct odb_buf *out);
static words_fn *const words_of_kind[ODB_KIND_COUNT] = {
#define WORDS_KIND(id, name, words, accuses, verb) [ODB_KIND_##id] = words_##words,
    ODB_DIAGNOSIS_LIST(WORDS_KIND)
#undef WORDS_KIND
};

/* The paragraph, behind what the node computed instead where that is known. The caller's. */
static char *words_explained(const struct odb_culprit *who, struct odb_buf *paragraph)
{
    struct odb_buf all = ODB_BUF_INIT;
    odb_explanations_put(&who->explained, &all);
    odb_buf_puts(&all, odb_buf_text(paragraph));
    odb_buf_dispose(paragraph);
    return odb_buf_take(&all);
}

char *words_culprit(const struct search_case *c, const struct findings *f,
                    const struct odb_culprit *who)
{
    struct odb_buf out = ODB_BUF_INIT;
    words_of_kind[who->kind](c, f, who, &out);
    overflow_put_reference(c, who, &out);
    if (who->value >= 0 && who->kind != ODB_KIND_REFUSED)
        odb_report_put_integers(f->given[who->value], c->trace->ref[who->value], "the reference",
                                &out);
    if (who->narrower)
        odb_buf_printf(&out, "That is no more than computing it in %s must lose. ",
                       f->report->narrower);
    words_held(c, who, &out);
    words_evidence(c, f, who, &out);
    if (who == f->report->culprits.items)
        odb_report_put_settings(f->report, &out);
    words_end(c, f, who, &out);
    words_confidence(c, who, &out);
    while (out.len && out.data[out.len - 1] == ' ')
        out.data[--out.len] = '\0';
    if (out.len && out.data[0] >= 'a' && out.data[0] <= 'z')
        out.data[0] = (char)(out.data[0] - 'a' + 'A');
    return words_explained(who, &out);
}
