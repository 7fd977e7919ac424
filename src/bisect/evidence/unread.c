/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An unread value is never agreement. Some targets give few values of a model, or none of those
 * that they fused away; all that they gave agrees, and what of the rest? Each of these values is
 * made wrong on the reference, by the least that would be called wrong if it were read, and the
 * nodes behind it run on, up to values that were read. Where one of those is wrong then, a fault
 * would have been seen. Where none is, the value can hide one: there is no verdict.
 */
#include "bisect/evidence/unread.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/decided.h"
#include "bisect/evidence/sensitivity.h"
#include "bisect/reading.h"
#include "report/report.h"

#define UNREAD_LEAST 0x1p-26 /* what a value is moved by first, relative to its rms */
#define UNREAD_MOST 0x1p10   /* and at most: a judge who lets that pass judges nothing */
#define UNREAD_WORK 64       /* runs of a node that are spent on it, times the nodes */

struct unread {
    const struct search_case *c;
    const struct findings *f;
    struct odb_tensor **moved; /* [n_values] owned: what is not as the reference has it */
    size_t work;               /* runs of nodes that are left */
};

static bool unread_is(const struct search_case *c, const struct findings *f, int value)
{
    return c->graph->values[value].producer != ODB_NO_NODE && reading_counts(c, value) &&
           !f->shown[value] && f->values[value].verdict == ODB_VERDICT_UNTESTED;
}

/* A Constant computes nothing that could be wrong. */
static bool unread_given(const struct odb_graph *graph, int value)
{
    return odb_node_is_constant(&graph->nodes[graph->values[value].producer]);
}

size_t unread_count(const struct search_case *c, const struct findings *f)
{
    size_t n = 0;
    for (size_t v = 0; v < c->graph->n_values && c->trace; v++)
        n += unread_is(c, f, (int)v);
    return n;
}

static enum odb_status unread_wrong(const struct unread *u, int value, const struct odb_tensor *t,
                                    bool *wrong, struct odb_error *err)
{
    struct odb_judge judge = {u->c->trace, &u->c->options->tolerance, NULL};
    struct odb_value_report report = {0};
    ODB_TRY(odb_judge_value(&judge, value, t, &report, err));
    *wrong = odb_verdict_is_bad(report.verdict);
    return ODB_OK;
}

/* Integers, all one more, or the other truth. NULL: it is of another kind. Owned by the caller. */
static struct odb_tensor *unread_next(const struct odb_tensor *t)
{
    struct odb_error ignored = ODB_ERROR_INIT;
    struct odb_tensor *wide = NULL, *next = NULL;
    bool truth = t->dtype == ODB_BOOL;
    if (t->kind != ODB_TENSOR || !(truth || odb_dtype_is_integer(t->dtype)) ||
        odb_tensor_new(&wide, ODB_F64, t->rank, t->dims, &ignored) != ODB_OK)
        return NULL;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        ((double *)wide->data)[i] = truth ? 1 - v : v + 1;
    }
    if (odb_tensor_cast(&next, wide, t->dtype, &ignored) != ODB_OK)
        next = NULL;
    odb_tensor_unref(wide);
    return next;
}

/* The value, moved by the least power of four that is called wrong. NULL: none is, or it is of a
 * kind that is not moved. Owned by the caller. */
static enum odb_status unread_spoil(const struct unread *u, int value, struct odb_tensor **out,
                                    struct odb_error *err)
{
    const struct odb_tensor *t = u->c->trace->ref[value];
    *out = unread_next(t);
    for (double size = UNREAD_LEAST; !*out && size <= UNREAD_MOST; size *= 4) {
        bool wrong = false;
        struct odb_tensor *moved = sensitivity_moved(t, size, u->c->trace->seed + (uint64_t)value);
        enum odb_status status = moved ? unread_wrong(u, value, moved, &wrong, err) : ODB_OK;
        if (wrong) {
            *out = moved;
            return ODB_OK;
        }
        odb_tensor_unref(moved);
        if (!moved || status != ODB_OK)
            return status;
    }
    return ODB_OK;
}

/* Runs the node on what was moved; out [n_out] is the caller's. False: it refuses that. */
static bool unread_run(const struct unread *u, const struct odb_node *node, struct odb_tensor **out)
{
    struct odb_error ignored = ODB_ERROR_INIT;
    const struct odb_trace *trace = u->c->trace;
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, node->n_in + 1);
    struct odb_tensor **around = NULL;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] >= 0)
            in[i] = u->moved[node->in[i]]
                        ? u->moved[node->in[i]]
                        : (struct odb_tensor *)odb_trace_value(trace, node->in[i]);
    if (node->n_captured) {
        around = odb_new_n(struct odb_tensor *, u->c->graph->n_values);
        for (size_t v = 0; v < u->c->graph->n_values; v++)
            around[v] = u->moved[v] ? u->moved[v] : trace->ref[v];
    }
    enum odb_status status = odb_cpu_node(trace->cpu, node->index, trace->precision, trace->seed,
                                          in, around, out, &ignored);
    free(around);
    free(in);
    return status == ODB_OK;
}

static bool unread_reaches(const struct unread *u, const struct odb_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] >= 0 && u->moved[node->in[i]])
            return true;
    for (size_t i = 0; i < node->n_captured; i++)
        if (u->moved[node->captured[i]])
            return true;
    return false;
}

/* Takes what the node made: goes on from what was not read, and judges what was. */
static enum odb_status unread_take(struct unread *u, const struct odb_node *node,
                                   struct odb_tensor **made, bool *shows, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    for (int o = 0; o < node->n_out && status == ODB_OK && !*shows; o++) {
        int v = node->out[o];
        if (v < 0 || !made[o] || !u->c->trace->ref[v])
            continue;
        if (unread_is(u->c, u->f, v) || !reading_counts(u->c, v))
            u->moved[v] = odb_tensor_ref(made[o]);
        else
            status = unread_wrong(u, v, made[o], shows, err);
    }
    return status;
}

static enum odb_status unread_step(struct unread *u, const struct odb_node *node, bool *shows,
                                   struct odb_error *err)
{
    struct odb_tensor **made = odb_new_n(struct odb_tensor *, node->n_out + 1);
    enum odb_status status = ODB_OK;
    if (!unread_run(u, node, made))
        *shows = true; /* as the target would have refused, or not have come so far */
    else
        status = unread_take(u, node, made, shows, err);
    for (int o = 0; o < node->n_out; o++)
        odb_tensor_unref(made[o]);
    free(made);
    return status;
}

static void unread_forget(struct unread *u)
{
    for (size_t v = 0; v < u->c->graph->n_values; v++) {
        odb_tensor_unref(u->moved[v]);
        u->moved[v] = NULL;
    }
}

/* Whether some value that was read would be wrong if this one were. */
static enum odb_status unread_shows(struct unread *u, int value, bool *shows, struct odb_error *err)
{
    const struct odb_graph *graph = u->c->graph;
    enum odb_status status = unread_spoil(u, value, &u->moved[value], err);
    *shows = false;
    for (size_t n = (size_t)graph->values[value].producer + 1;
         n < graph->n_nodes && u->moved[value] && u->work && !*shows && status == ODB_OK; n++) {
        if (!unread_reaches(u, &graph->nodes[n]))
            continue;
        u->work--;
        status = odb_hooks_cancelled(&u->c->options->hooks, err);
        if (status == ODB_OK)
            status = unread_step(u, &graph->nodes[n], shows, err);
    }
    unread_forget(u);
    return status;
}

/* A value that can hide a fault; ODB_NO_VALUE: none can. From the end, where a look is short. */
static enum odb_status unread_find(const struct search_case *c, const struct findings *f, int *out,
                                   struct odb_error *err)
{
    struct unread u = {c, f, odb_new_n(struct odb_tensor *, c->graph->n_values),
                       UNREAD_WORK * c->graph->n_nodes};
    enum odb_status status = ODB_OK;
    *out = ODB_NO_VALUE;
    for (size_t v = c->graph->n_values; v-- && *out == ODB_NO_VALUE && status == ODB_OK;) {
        bool shows = true;
        if (unread_is(c, f, (int)v) && !unread_given(c->graph, (int)v))
            status = unread_shows(&u, (int)v, &shows, err);
        if (!shows)
            *out = (int)v;
    }
    free(u.moved);
    return status;
}

/* The same where a search has told of values that they cannot be had. */
static size_t unread_missing(const struct search_case *c, const struct findings *f, bool reads)
{
    size_t n = 0;
    for (size_t v = 0; v < c->graph->n_values && c->trace; v++)
        n += c->graph->values[v].producer != ODB_NO_NODE && reading_counts(c, (int)v) &&
             !(f->shown[v] && (reads || c->graph->values[v].is_output)) &&
             !unread_given(c->graph, (int)v);
    return n;
}

/* The target stores values as integers: what rounding carries to the outputs may be a fault as
 * well, and only what a node reads and makes, both read, tells them apart. */
bool unread_rounded(const struct search_case *c, struct findings *f, bool reads)
{
    struct odb_error why = ODB_ERROR_INIT;
    decided_refresh(c, f);
    size_t n = decided_stores(f) && !c->prober->recorded ? unread_missing(c, f, reads) : 0;
    if (!n || f->report->culprits.n)
        return false;
    odb_fail(&why, ODB_UNSUPPORTED,
             "the target stores values as integers, and rounding to them carries errors on: of %zu "
             "value%s that %s not read it is not known how far, so a fault is not told from it",
             n, n == 1 ? "" : "s", n == 1 ? "was" : "were");
    odb_error_remedy(&why, "let the target give all values, and --strategy auto read them; "
                           "`onnxdbg check` judges the outputs alone");
    findings_undecide(f, ODB_UNDECIDED_ROUNDED, &why);
    return true;
}

enum odb_status unread_check(const struct search_case *c, struct findings *f, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    size_t n = c->trace ? unread_count(c, f) : 0;
    int hides;
    if (!n || f->diverge || f->report->culprits.n || f->report->undecided.n || c->prober->recorded)
        return ODB_OK;
    findings_phase(f, "unread values", 0);
    ODB_TRY(unread_find(c, f, &hides, err));
    if (hides == ODB_NO_VALUE) {
        findings_step_turn(f, "unread",
                           "%zu value%s could not be read; an error in %s would show in those that "
                           "were, as the reference has it",
                           n, n == 1 ? "" : "s", n == 1 ? "it" : "any of them");
        return ODB_OK;
    }
    const char *because = f->kept->unread.what;
    odb_fail(&why, ODB_UNSUPPORTED,
             "all that was read agrees, but %zu value%s could not be read, and an error in %.100s "
             "would not be seen%s%.300s",
             n, n == 1 ? "" : "s", c->graph->values[hides].name, because[0] ? ": " : "", because);
    odb_error_remedy(&why, "`onnxdbg check` judges the outputs alone");
    findings_undecide(f, ODB_UNDECIDED_UNREAD, &why);
    return ODB_OK;
}
