/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that fuses nodes leaves that when a value in between is read, and what was wrong in the
 * fused kernel is right then. But what lies between two kernels exists in any case, and can be read
 * without harm. Of a quantised model these are the integers: one kernel reads integers, computes and
 * makes integers, whatever operators say so in the model (DequantizeLinear, Conv, Relu,
 * QuantizeLinear). Of any model they are what the target says that its kernels make.
 *
 * So such values are read, and the outputs must be what they are unobserved, bit for bit. Where they
 * are not, halves of the values are tried, to the largest set that is found to leave them alone.
 * What lies between two values of that set is one group, and each group is judged as a segment of a
 * recording is: the reference on the values before it, as the target made them.
 */
#include "bisect/strategy/quiet.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/evidence/group.h"
#include "bisect/evidence/reference_off.h"
#include "bisect/evidence/tolerated.h"
#include "bisect/reading.h"
#include "bisect/strategy/forecast.h"
#include "bisect/strategy/hunt_outputs.h"
#include "bisect/strategy/probed.h"
#include "executor/groups.h"
#include "judge/segment.h"
#include "search/search.h"

#define QUIET_SPARE 4 /* runs besides those that halving takes for two values that disturb */

struct quiet {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    int *list;                   /* owned: values that may be read, in the order of the graph */
    size_t n;
    bool *marks;                /* owned; [n_values] those found to disturb nothing, and outputs */
    struct odb_tensor **values; /* owned refs; [n_values] as read with these; NULL: none are */
    size_t n_quiet, runs, most; /* runs: that were made, and that may be */
    struct odb_error why;       /* of the last that was refused */
};

/* --- which values ----------------------------------------------------------------------------- */

/* A value that is held as integers of a quantiser: a number for each step of a grid. */
static bool quiet_is_integer(const struct search_case *c, int value)
{
    const struct odb_tensor *t = c->trace->ref[value];
    const struct odb_node *node = &c->graph->nodes[c->graph->values[value].producer];
    bool quantises = !strcmp(node->op_type, "DequantizeLinear");
    if (getenv("QDQ")) return t && quantises;
    return t && t->kind == ODB_TENSOR &&
           (quantises || (odb_dtype_info(t->dtype)->bits <= 8 && t->dtype != ODB_BOOL));
}

static void quiet_integers(const struct search_case *c, bool *marks)
{
    for (size_t v = 0; v < c->graph->n_values; v++)
        marks[v] = reading_wants(c, (int)v) && quiet_is_integer(c, (int)v);
}

/* What the last node of each kernel makes, as the target told. */
static void quiet_kernels_make(const struct search_case *c, const struct findings *f, bool *marks)
{
    struct odb_groups groups;
    const char *told = odb_buf_text(&f->report->account.groups);
    enum odb_status status = odb_groups_read(&groups, told, c->model->graph, NULL);
    for (size_t k = 0; k < groups.kernels.n && status == ODB_OK; k++) {
        const struct odb_kernel *kernel = &groups.kernels.items[k];
        const struct odb_node *last = &c->graph->nodes[kernel->nodes[kernel->n - 1]];
        for (int o = 0; o < last->n_out; o++)
            if (last->out[o] >= 0 && reading_wants(c, last->out[o]))
                marks[last->out[o]] = true;
    }
    odb_groups_dispose(&groups);
}

/* Weights are no border: every kernel has its own. */
static void quiet_collect(struct quiet *q)
{
    const struct search_case *c = q->c;
    const bool *constant = c->prober->constant;
    bool *marks = odb_new_n(bool, c->graph->n_values);
    quiet_integers(c, marks);
    if (!odb_count_marks(marks, c->graph->n_values))
        quiet_kernels_make(c, q->f, marks);
    q->list = odb_new_n(int, c->graph->n_values + 1);
    for (size_t v = 0; v < c->graph->n_values; v++)
        if (marks[v] && !c->graph->values[v].is_output && !(constant && constant[v]))
            q->list[q->n++] = (int)v;
    free(marks);
}

/* --- which of them disturb nothing ------------------------------------------------------------- */

static void quiet_forget(const struct quiet *q, struct odb_tensor **values)
{
    for (size_t v = 0; values && v < q->c->graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
}

/* Reads the values of list from first up to stop (not with it) besides those that are known to
 * disturb nothing. *quiet: the outputs are what they are unobserved, and these are known as well. */
static enum odb_status quiet_try(struct quiet *q, size_t first, size_t stop, bool *quiet,
                                 struct odb_error *err)
{
    const struct search_case *c = q->c;
    bool *marks = odb_xmemdup(q->marks, c->graph->n_values * sizeof *marks);
    struct probed_try had;
    for (size_t i = first; i < stop; i++)
        marks[q->list[i]] = true;
    enum odb_status status = probed_try(c, q->f, ODB_PROBE_KIND_QUIET, marks, &had, err);
    q->runs++;
    if (getenv("QDBG")) { fprintf(stderr, "quiet %zu..%zu had %d repro %d same %d: %s\n", first, stop, had.had, had.reproduces, had.same, c->graph->values[q->list[first]].name); }
    if (had.had != ODB_OK)
        q->why = had.why;
    *quiet = status == ODB_OK && had.had == ODB_OK && had.reproduces &&
             (had.same || q->f->report->repeats.differ);
    if (*quiet) {
        quiet_forget(q, q->values);
        q->values = had.values;
        memcpy(q->marks, marks, c->graph->n_values * sizeof *marks);
        q->n_quiet += stop - first;
    } else {
        quiet_forget(q, had.values);
    }
    free(marks);
    return status;
}

static enum odb_status quiet_search(struct quiet *q, size_t first, size_t stop,
                                    struct odb_error *err)
{
    bool quiet;
    if (first == stop || q->runs >= q->most)
        return ODB_OK;
    ODB_TRY(quiet_try(q, first, stop, &quiet, err));
    if (quiet || stop - first == 1)
        return ODB_OK;
    size_t middle = first + (stop - first) / 2;
    ODB_TRY(quiet_search(q, first, middle, err));
    return quiet_search(q, middle, stop, err);
}

static enum odb_status quiet_find(struct quiet *q, struct odb_error *err)
{
    const struct search_case *c = q->c;
    q->marks = odb_new_n(bool, c->graph->n_values + 1);
    for (size_t o = 0; o < c->n_outputs; o++)
        q->marks[c->outputs[o]] = true;
    q->most = 4 * odb_search_loads(q->n) + QUIET_SPARE;
    findings_step_begin(q->f, "values between kernels");
    enum odb_status status = quiet_search(q, 0, q->n, err);
    if (q->n_quiet)
        findings_step_end(q->f, "quiet",
                          "%zu of %zu values between kernels, which leave the outputs as they are",
                          q->n_quiet, q->n);
    else
        findings_step_end(q->f, "quiet",
                          "each of %zu values between kernels that was read changes the outputs%s"
                          "%.200s",
                          q->n, q->why.what[0] ? ": " : "", q->why.what);
    return status;
}

/* --- judging, accusing ------------------------------------------------------------------------- */

/* What was read is the target's from now on, and judged. */
static enum odb_status quiet_judge(struct quiet *q, struct odb_error *err)
{
    const struct search_case *c = q->c;
    struct findings *f = q->f;
    for (size_t v = 0; v < c->graph->n_values; v++) {
        struct odb_value_report report = {0};
        if (!q->values[v] || c->graph->values[v].producer == ODB_NO_NODE)
            continue;
        findings_give(f, (int)v, q->values[v]);
        if (c->graph->values[v].is_output)
            continue; /* what the model as it is gives counts */
        findings_keep(f, (int)v, q->values[v]);
        ODB_TRY(odb_judge_value(&c->judge, (int)v, q->values[v], &report, err));
        findings_value(f, (int)v, &report);
    }
    f->judged = true;
    for (int n = 0; n < (int)c->graph->n_nodes; n++) {
        ODB_TRY(odb_hooks_cancelled(&c->options->hooks, err));
        ODB_TRY(odb_judge_segments(&c->judge, n, f->given, findings_judge(f), err));
        for (int o = 0; o < c->graph->nodes[n].n_out; o++)
            if (c->graph->nodes[n].out[o] >= 0 && q->values[c->graph->nodes[n].out[o]])
                findings_tell(f, c->graph->nodes[n].out[o]);
    }
    ODB_TRY(reference_weigh(c, f, err));
    return tolerated_values(c, f, err);
}

static enum odb_status quiet_accuse(struct quiet *q, struct odb_error *err)
{
    const struct search_case *c = q->c;
    struct findings *f = q->f;
    for (int v = 0; v < (int)c->graph->n_values; v++) {
        bool off = q->values[v] && reference_off(f, v);
        if (!q->values[v] || !(f->values[v].culprit || off) || f->exchanged[v] != ODB_NO_VALUE)
            continue;
        struct odb_culprit *culprit = group_accuse(c, f, v, v, f->given);
        if (off)
            reference_blame(c, f, culprit);
        else if (!c->options->no_checks)
            ODB_TRY(group_verify(c, f, f->report->culprits.n - 1, err));
    }
    return ODB_OK;
}

enum odb_status quiet_look(const struct search_case *c, struct findings *f, struct odb_error *err)
{
    struct quiet q = {.c = c, .f = f, .why = ODB_ERROR_INIT};
    quiet_collect(&q);
    enum odb_status status = ODB_OK;
    if (q.n) {
        forecast_turn(f, "quiet", forecast_reads(c, f, 1),
                      "reading all values changes the answer, so those between kernels are read");
        status = quiet_find(&q, err);
    }
    if (status == ODB_OK && q.n_quiet) {
        findings_step_begin(f, "replay");
        status = quiet_judge(&q, err);
        findings_step_end(f, "blame", "the reference replayed between the values that were read");
    }
    if (status == ODB_OK && q.n_quiet)
        status = quiet_accuse(&q, err);
    quiet_forget(&q, q.values);
    free(q.marks);
    free(q.list);
    return status;
}
