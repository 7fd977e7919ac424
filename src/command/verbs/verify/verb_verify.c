/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What onnx-mlir's debug.py does: every value that a node makes is read from the target and from
 * the reference, each from one run, and compared to five decimals, in the order of the nodes. All
 * that differ are reported, where the script stops at the first.
 *
 * A side that refuses the model is asked for the first values alone, as many as it gives: the node
 * that makes the next is what it refuses, and is left out with all that depends on it, until the
 * rest is given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bisect/refusal/breaks.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/verbs/verify/verb_compare.h"
#include "compare/exact.h"
#include "executor/executor.h"
#include "interpret/cpu.h"
#include "judge/half_step.h"
#include "judge/made_up.h"
#include "probe/run_values.h"

#define VERIFY_TOLERANCE "decimal:5"

struct verify {
    struct odb_command_call *call;
    struct odb_comparison found;
    int *values; /* owned */
    size_t n;
    struct odb_tensor **target, **reference; /* owned arrays of refs; NULL: cannot be read there */
    char **why;     /* owned, [n_nodes]: why the node is left out; NULL: it is not */
    char **lacking; /* owned, [n]: the same of values */
    size_t n_lacking;
    const struct odb_node *refused; /* borrowed: the last one; NULL: none */
    const char *remedy;             /* for what is left out; NULL: nothing is */
    char *plain;                    /* owned: the spec that runs what the target refuses; NULL */
    char words[600];                /* how it does */
    struct odb_error doubt;         /* why what agrees says nothing; ODB_OK: it does */
    char about[2][300];
};

/* The side that is asked, and what for. */
struct verify_side {
    const char *spec, *whose;
    const struct odb_feeds *feeds;
    struct odb_tensor **had; /* a field of verify */
    char *about;
};

/* Outputs of nodes, each once; those without a name are not made. */
static void verify_choose(struct verify *v)
{
    const struct odb_graph *graph = v->call->model->graph;
    bool *met = odb_new_n(bool, graph->n_values + 1);
    v->values = odb_new_n(int, graph->n_values + 1);
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (int k = 0; k < graph->nodes[i].n_out; k++) {
            int value = graph->nodes[i].out[k];
            if (value < 0 || met[value] || !*graph->values[value].name)
                continue;
            met[value] = true;
            v->values[v->n++] = value;
        }
    free(met);
    v->target = odb_new_n(struct odb_tensor *, v->n + 1);
    v->reference = odb_new_n(struct odb_tensor *, v->n + 1);
    v->why = odb_new_n(char *, graph->n_nodes + 1);
    v->lacking = odb_new_n(char *, v->n + 1);
}

/* What depends on a node that is left out is left out as well, for the same reason. */
static void verify_spread(struct verify *v)
{
    const struct odb_graph *graph = v->call->model->graph;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        for (size_t k = 0; k < odb_node_n_reads(node) && !v->why[i]; k++) {
            int value = odb_node_reads(node, k);
            int from = value == ODB_NO_VALUE ? ODB_NO_NODE : graph->values[value].producer;
            if (from != ODB_NO_NODE && v->why[from])
                v->why[i] = odb_xstrdup(v->why[from]);
        }
    }
    for (size_t i = 0; i < v->n; i++) {
        const char *because = v->why[graph->values[v->values[i]].producer];
        if (!because || v->lacking[i])
            continue;
        v->lacking[i] = odb_xstrdup(because);
        v->n_lacking++;
    }
}

/* What depends on a node that the reference has no kernel for is not asked of either side; the rest
 * is verified. Other references than ours are asked. */
static enum odb_status verify_leave_out(struct verify *v, const char *reference,
                                        struct odb_error *err)
{
    const struct odb_graph *graph = v->call->model->graph;
    struct odb_cpu *cpu;
    if (!odb_executor_is_reference(reference))
        return ODB_OK;
    ODB_TRY(odb_cpu_new(&cpu, v->call->model, err));
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const char *own = odb_cpu_unsupported(cpu, (int)i);
        if (*own)
            v->why[i] = odb_xstrdup(own);
    }
    odb_cpu_free(cpu);
    verify_spread(v);
    if (v->n_lacking)
        v->remedy = "give one with --kernels, or another --reference";
    return v->n_lacking < v->n || !v->n ? ODB_OK
                                        : odb_fail(err, ODB_UNSUPPORTED, "%s", v->lacking[0]);
}

/* Runs the model for the values before number end, if any of them is asked for. keep: they go to
 * side->had. */
static enum odb_status verify_run(struct verify *v, const struct verify_side *side, size_t end,
                                  bool keep, struct odb_error *err)
{
    struct odb_watch watch;
    struct odb_search_hooks hooks = odb_watch_begin(&watch, v->call);
    int *values = odb_new_n(int, v->n + 1);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, v->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < end; i++)
        if (!v->lacking[i])
            values[n++] = v->values[i];
    enum odb_status status = ODB_OK;
    if (n || keep)
        status = odb_run_readable(v->call->model, side->feeds, side->spec, values, n, had,
                                  side->about, sizeof v->about[0], &hooks, err);
    for (size_t i = 0, k = 0; keep && i < v->n && status == ODB_OK; i++)
        side->had[i] = v->lacking[i] ? NULL : had[k++];
    for (size_t k = 0; !keep && k < n; k++)
        odb_tensor_unref(had[k]);
    odb_watch_end(&watch);
    free(had);
    free(values);
    return status;
}

static bool verify_is_refusal(enum odb_status status)
{
    return status == ODB_E_EXECUTOR || status == ODB_UNSUPPORTED;
}

/* Of the values before number to, which are refused, those before from are given. */
struct verify_range {
    size_t from, to;
    struct odb_error why; /* the refusal of what ends with to, unless that is all of it */
};

/* Asks for the values before number end, which is inside, and narrows the range to one side. */
static enum odb_status verify_halve(struct verify *v, const struct verify_side *side, size_t end,
                                    struct verify_range *range, struct odb_error *err)
{
    struct odb_error refusal = ODB_ERROR_INIT;
    enum odb_status status = verify_run(v, side, end, false, &refusal);
    if (status == ODB_OK) {
        range->from = end;
    } else if (verify_is_refusal(status)) {
        range->to = end;
        range->why = refusal;
    } else {
        *err = refusal;
        return status;
    }
    return ODB_OK;
}

/* The first value in the range that is asked for and made by the operator that was refused last;
 * else its end. */
static size_t verify_alike(const struct verify *v, const struct verify_range *range)
{
    const struct odb_graph *graph = v->call->model->graph;
    size_t i = range->from;
    for (; i < range->to; i++) {
        const struct odb_node *node = &graph->nodes[graph->values[v->values[i]].producer];
        if (v->refused && !v->lacking[i] && !strcmp(node->op_type, v->refused->op_type) &&
            !strcmp(node->domain, v->refused->domain))
            break;
    }
    return i;
}

/* Narrows down to one value. A side that refuses an operator mostly refuses all of its nodes: that
 * takes two questions, where halves take as many as there are bits in the number of values. */
static enum odb_status verify_narrow(struct verify *v, const struct verify_side *side,
                                     struct verify_range *range, struct odb_error *err)
{
    size_t alike = verify_alike(v, range);
    if (alike > range->from && alike < range->to)
        ODB_TRY(verify_halve(v, side, alike, range, err));
    if (alike == range->from && alike + 1 < range->to)
        ODB_TRY(verify_halve(v, side, alike + 1, range, err));
    while (range->to - range->from > 1)
        ODB_TRY(verify_halve(v, side, range->from + (range->to - range->from) / 2, range, err));
    return ODB_OK;
}

/* Leaves out the node that makes value number at. */
static void verify_refused(struct verify *v, const struct verify_side *side, size_t at,
                           const struct odb_error *why)
{
    const struct odb_graph *graph = v->call->model->graph;
    int node = graph->values[v->values[at]].producer;
    char text[2048];
    struct odb_buf out = ODB_BUF_INIT;
    odb_buf_printf(&out, "the %s refuses ", side->whose);
    odb_node_put(graph, node, &out);
    odb_buf_printf(&out, ": %s", odb_error_text(why, text, sizeof text));
    v->why[node] = odb_buf_take(&out);
    v->refused = &graph->nodes[node];
    verify_spread(v);
    if (!v->remedy)
        v->remedy = "give another --target or --reference";
}

/* The model as it is may be refused where it is not with every value read, which keeps a target
 * from joining nodes. Whether it is, and that is the target's own fault. */
static enum odb_status verify_whole(struct verify *v, const struct verify_side *side,
                                    struct odb_error *err)
{
    const struct odb_graph *graph = v->call->model->graph;
    char *plain = odb_executor_plain(side->spec); /* else nothing would be known by it */
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_watch watch;
    if (!plain)
        return ODB_OK;
    free(plain);
    struct odb_search_hooks hooks = odb_watch_begin(&watch, v->call);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, graph->n_outputs + 1);
    enum odb_status status =
        odb_run_readable(v->call->model, side->feeds, side->spec, graph->outputs, graph->n_outputs,
                         had, NULL, 0, &hooks, &why);
    for (size_t o = 0; o < graph->n_outputs; o++)
        odb_tensor_unref(had[o]);
    free(had);
    if (status != ODB_OK && status != ODB_CANCELLED) {
        snprintf(v->words, sizeof v->words, "%.599s", why.what);
        status = odb_refusal_breaks_run(&v->plain, v->call->model, side->feeds, side->spec,
                                        graph->outputs, graph->n_outputs, &why, &hooks, err);
    } else if (status != ODB_OK) {
        *err = why;
    }
    odb_watch_end(&watch);
    return status;
}

/* All values that are had. A side that refuses two operators in the same words before it gave
 * anything refuses whatever it is asked: that is the error. */
static enum odb_status verify_ask(struct verify *v, const struct verify_side *side,
                                  struct odb_error *err)
{
    const struct odb_graph *graph = v->call->model->graph;
    const char *first = NULL; /* operator that was refused before anything was given */
    char words[sizeof err->what] = "";
    for (size_t from = 0;;) {
        struct verify_range range = {from, v->n, ODB_ERROR_INIT};
        struct odb_error whole;
        enum odb_status status = verify_run(v, side, v->n, true, &range.why);
        whole = range.why;
        if (verify_is_refusal(status))
            ODB_TRY(verify_narrow(v, side, &range, err));
        from = range.from;
        if (!verify_is_refusal(status) || v->lacking[from]) { /* such is not asked: they flip */
            if (status != ODB_OK)
                *err = whole;
            return status;
        }
        const char *op = graph->nodes[graph->values[v->values[from]].producer].op_type;
        bool nothing = first && strcmp(op, first) && !strcmp(range.why.what, words);
        size_t given = 0;
        for (size_t i = 0; i < from; i++)
            given += !v->lacking[i];
        if (!given && !nothing) {
            first = op;
            snprintf(words, sizeof words, "%s", range.why.what);
        }
        verify_refused(v, side, from, &range.why);
        if ((!given && nothing) || v->n_lacking == v->n) {
            *err = whole;
            return status;
        }
    }
}

/* The script casts all of its one stream to float32, and knows no rule for anything else. */
static void verify_say_inputs(const struct verify *v, const struct odb_feeds *feeds,
                              struct odb_buf *out)
{
    for (size_t i = 0; i < feeds->n; i++) {
        const struct odb_feed *feed = &feeds->items[i];
        if (strncmp(feed->source, "generated", strlen("generated")) != 0 ||
            feed->tensor->dtype == ODB_F32)
            continue;
        odb_buf_puts(out, "input ");
        odb_buf_put_shown(out, v->call->model->graph->values[feed->value].name);
        odb_buf_printf(out, " is %s, for which debug.py has no rule: %s\n",
                       odb_dtype_info(feed->tensor->dtype)->name, feed->source);
    }
}

static void verify_say_bad(const struct odb_compared *row, struct odb_buf *out)
{
    const struct odb_metrics *m = &row->m.m;
    odb_buf_printf(out, "  %s: ", odb_verdict_name(row->verdict));
    odb_buf_put_shown(out, row->reason);
    if (*row->worst && odb_measure_comparable(&row->m)) {
        struct odb_exact_texts texts = odb_exact_texts(m->worst_e, m->worst_b);
        odb_buf_printf(out, "; at %s %s, the reference has %s", row->worst, texts.x, texts.y);
    }
    odb_buf_putc(out, '\n');
}

static void verify_compare(struct verify *v)
{
    for (size_t i = 0; i < v->n; i++) {
        const char *name = v->call->model->graph->values[v->values[i]].name;
        if (v->lacking[i])
            odb_comparison_add_alone(&v->found, name, v->lacking[i]);
        else if (v->target[i] && v->reference[i])
            odb_comparison_add(&v->found, name, v->target[i], v->reference[i], NULL);
        else
            odb_comparison_add_alone(&v->found, name,
                                     v->reference[i] ? "it cannot be read from the target"
                                                     : "it cannot be read from the reference");
    }
}

/* A recording that does not fit inputs which it lacks, and which were generated here, says nothing
 * of what is made of them. Two recordings are compared with one another alone. */
static void verify_doubt(struct verify *v, const char *reference, const struct odb_feeds *feeds)
{
    const struct odb_graph *graph = v->call->model->graph;
    const char *target = odb_call__target(v->call);
    bool recorded = odb_executor_recorded(target), doubted = false;
    struct odb_tensor *const *had = recorded ? v->target : v->reference;
    struct odb_made_up made_up;
    if (recorded == odb_executor_recorded(reference))
        return;
    struct odb_tensor **given = odb_new_n(struct odb_tensor *, graph->n_values); /* borrowed */
    for (size_t i = 0; i < v->n; i++)
        given[v->values[i]] = had[i];
    odb_made_up_init(&made_up, graph, feeds, given);
    for (size_t i = 0; i < v->n; i++)
        doubted |= made_up.direct[v->values[i]] != ODB_NO_VALUE &&
                   odb_verdict_is_bad(v->found.rows.items[i].verdict);
    for (size_t i = 0; i < v->n && doubted; i++) {
        struct odb_value_report report = {.verdict = v->found.rows.items[i].verdict};
        if (odb_made_up_doubt(&made_up, v->values[i], &report))
            odb_comparison_withdraw(&v->found, i, report.reason);
    }
    if (doubted)
        (void)odb_made_up_fail(&made_up, recorded ? target : reference, &v->doubt);
    odb_made_up_dispose(&made_up);
    free(given);
}

/* The same of a target that stores all outputs in steps of more than twice their numbers. */
static void verify_hidden(struct verify *v)
{
    const struct odb_graph *graph = v->call->model->graph;
    size_t outputs = 0, hidden = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (!graph->values[v->values[i]].is_output || !v->target[i] || !v->reference[i])
            continue;
        outputs++;
        hidden += odb_half_step_hides(v->target[i], v->reference[i]);
    }
    if (!hidden || hidden < outputs || v->doubt.code != ODB_OK)
        return;
    odb_fail(&v->doubt, ODB_UNSUPPORTED,
             "nothing can be said of the outputs: half a step of the integers that the target "
             "stores them as is more than their largest number, and even zeros would pass");
    (void)odb_error_remedy(&v->doubt, "give them a finer scale, or inputs that make them larger");
}

static void verify_say_values(const struct verify *v, struct odb_buf *out)
{
    for (size_t i = 0; i < v->n; i++) {
        const struct odb_compared *row = &v->found.rows.items[i];
        odb_buf_puts(out, "Verifying value of ");
        odb_buf_put_shown(out, row->name);
        odb_buf_putc(out, '\n');
        if (row->verdict != ODB_VERDICT_PASS)
            verify_say_bad(row, out);
    }
}

/* "2 of 6 values WHAT: b y" of those that were compared, or were not; nothing of none. */
static void verify_say_some(const struct verify *v, bool compared, const char *what,
                            struct odb_buf *out)
{
    struct odb_buf names = ODB_BUF_INIT;
    size_t n = 0;
    for (size_t i = 0; i < v->found.rows.n; i++) {
        const struct odb_compared *row = &v->found.rows.items[i];
        if (row->verdict == ODB_VERDICT_PASS ||
            (row->verdict != ODB_VERDICT_UNTESTABLE) != compared)
            continue;
        odb_buf_putc(&names, ' ');
        odb_buf_put_shown(&names, row->name);
        n++;
    }
    if (n)
        odb_buf_printf(out, "%zu of %zu values %s:%s\n", n, v->n, what, odb_buf_text(&names));
    odb_buf_dispose(&names);
}

static void verify_say_end(const struct verify *v, struct odb_buf *out)
{
    const struct odb_comparison *found = &v->found;
    if (v->plain) {
        odb_buf_puts(out, "the target refuses the model as it is: ");
        odb_buf_put_shown(out, v->words);
        odb_buf_puts(out, "\n");
        odb_buf_put_shown(out, v->plain);
        odb_buf_puts(out, " runs it, and the reference does: `onnxdbg bisect` finds the nodes\n");
    }
    verify_say_some(v, true, "differ", out);
    verify_say_some(v, false, "were not compared", out);
    if (found->failed + found->alone == v->n_lacking && v->doubt.code == ODB_OK)
        odb_buf_printf(out,
                       v->n_lacking ? "the other %zu values agree\n" : "all %zu values agree\n",
                       v->n - v->n_lacking);
    odb_buf_printf(out, "under %s; ", found->under);
    odb_buf_put_shown(out, v->about[0]);
    odb_buf_puts(out, " against ");
    odb_buf_put_shown(out, v->about[1]);
    odb_buf_putc(out, '\n');
}

static bool verify_found(const struct verify *v)
{
    bool doubted = v->doubt.code != ODB_OK;
    return v->plain || v->found.failed || (!doubted && v->found.alone > v->n_lacking);
}

/* Nothing differs, and yet that is no clean bill. */
static enum odb_status verify_incomplete(const struct verify *v, struct odb_error *err)
{
    size_t i = 0;
    if (v->doubt.code != ODB_OK) {
        *err = v->doubt;
        return err->code;
    }
    if (!v->n_lacking)
        return ODB_OK;
    while (!v->lacking[i])
        i++;
    odb_fail(err, ODB_E_EXECUTOR, "%zu of %zu values were not compared: %s", v->n_lacking, v->n,
             v->lacking[i]);
    return odb_error_remedy(err, "%s", v->remedy);
}

enum odb_status odb_command__verify(struct odb_command_call *call, struct odb_error *err)
{
    const char *reference = odb_call_option(call, ODB_OPTION_REFERENCE);
    const struct odb_feeds *feeds = NULL;
    struct odb_buf out = ODB_BUF_INIT;
    struct verify v = {.call = call, .doubt = ODB_ERROR_INIT};
    reference = reference ? reference : "cpu";
    enum odb_status status = odb_comparison_begin(&v.found, call, false, VERIFY_TOLERANCE, err);
    if (odb_call_has(call, ODB_OPTION_VERBOSE))
        setenv("VERBOSE", "1", 1);
    if (status == ODB_OK)
        status = odb_call__feeds(call, &feeds, err);
    if (status == ODB_OK) {
        verify_choose(&v);
        status = verify_leave_out(&v, reference, err);
    }
    for (int k = 0; k < 2 && status == ODB_OK; k++) {
        const struct verify_side side = {.spec = k ? reference : odb_call__target(call),
                                         .whose = k ? "reference" : "target",
                                         .feeds = feeds,
                                         .had = k ? v.reference : v.target,
                                         .about = v.about[k]};
        status = verify_ask(&v, &side, err);
        if (status == ODB_OK && !k)
            status = verify_whole(&v, &side, err);
    }
    if (status == ODB_OK) {
        verify_say_inputs(&v, feeds, &out);
        verify_compare(&v);
        verify_doubt(&v, reference, feeds);
        verify_hidden(&v);
        verify_say_values(&v, &out);
        verify_say_end(&v, &out);
        if (v.found.json || v.found.tsv) {
            odb_buf_clear(&out);
            odb_comparison_put(&v.found, &out);
        }
        call->found = verify_found(&v);
        odb_comparison_warn(&v.found, call);
        odb_call__print(call, &out);
        if (!call->found)
            status = verify_incomplete(&v, err);
    }
    for (size_t i = 0; i < v.n; i++) {
        odb_tensor_unref(v.target[i]);
        odb_tensor_unref(v.reference[i]);
        free(v.lacking ? v.lacking[i] : NULL);
    }
    for (size_t i = 0; v.why && i < call->model->graph->n_nodes; i++)
        free(v.why[i]);
    free(v.why);
    free(v.plain);
    free(v.lacking);
    free(v.target);
    free(v.reference);
    free(v.values);
    odb_comparison_dispose(&v.found);
    odb_buf_dispose(&out);
    return status;
}
