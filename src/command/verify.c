/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What onnx-mlir's debug.py does: every value that a node makes is read from the target and from
 * the reference, each from one run, and compared to five decimals, in the order of the nodes. All
 * that differ are told, where the script stops at the first.
 */
#include <stdlib.h>
#include <string.h>

#include "command/compare.h"
#include "command/watch.h"
#include "compare/exact.h"
#include "executor/cpu.h"

#define VERIFY_TOLERANCE "decimal:5"

struct verify {
    struct odb_command_call *call;
    struct odb_comparison found;
    int *values; /* owned */
    size_t n;
    struct odb_tensor **target, **reference; /* owned arrays of refs; NULL: cannot be read there */
    char **lacking; /* owned: why the reference cannot compute it; NULL: nothing says so */
    size_t n_lacking;
    char about[2][300];
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
}

/* What depends on a node that the reference has no kernel for is not asked of anybody; the rest is
 * verified. Other references than ours say themselves what they refuse. */
static enum odb_status verify_leave_out(struct verify *v, const char *reference,
                                        struct odb_error *err)
{
    const struct odb_graph *graph = v->call->model->graph;
    struct odb_cpu *cpu;
    v->lacking = odb_new_n(char *, v->n + 1);
    if (strncmp(reference, "cpu", 3) != 0 || (reference[3] && !strchr(":,", reference[3])))
        return ODB_OK;
    ODB_TRY(odb_cpu_new(&cpu, v->call->model, err));
    const char **why = odb_new_n(const char *, graph->n_nodes + 1);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        const char *own = odb_cpu_unsupported(cpu, (int)i);
        why[i] = *own ? own : NULL;
        for (size_t k = 0; k < odb_node_n_reads(node) && !why[i]; k++) {
            int value = odb_node_reads(node, k);
            int from = value == ODB_NO_VALUE ? ODB_NO_NODE : graph->values[value].producer;
            why[i] = from == ODB_NO_NODE ? NULL : why[from];
        }
    }
    for (size_t i = 0; i < v->n; i++) {
        const char *because = why[graph->values[v->values[i]].producer];
        v->lacking[i] = because ? odb_xstrdup(because) : NULL;
        v->n_lacking += because != NULL;
    }
    enum odb_status status =
        v->n_lacking < v->n || !v->n ? ODB_OK : odb_fail(err, ODB_UNSUPPORTED, "%s", v->lacking[0]);
    free(why);
    odb_cpu_free(cpu);
    return status;
}

static enum odb_status verify_run(struct verify *v, const struct odb_feeds *feeds, const char *spec,
                                  struct odb_tensor **outputs, char *about, struct odb_error *err)
{
    struct odb_watch watch;
    struct odb_search_hooks hooks = odb_watch_begin(&watch, v->call);
    int *values = odb_new_n(int, v->n + 1);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, v->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < v->n; i++)
        if (!v->lacking[i])
            values[n++] = v->values[i];
    enum odb_status status = odb_run_readable(v->call->model, feeds, spec, values, n, had, about,
                                              sizeof v->about[0], &hooks, err);
    for (size_t i = 0, k = 0; i < v->n && status == ODB_OK; i++)
        outputs[i] = v->lacking[i] ? NULL : had[k++];
    odb_watch_end(&watch);
    free(had);
    free(values);
    return status;
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

static void verify_values(struct verify *v, struct odb_buf *out)
{
    for (size_t i = 0; i < v->n; i++) {
        const char *name = v->call->model->graph->values[v->values[i]].name;
        odb_buf_puts(out, "Verifying value of ");
        odb_buf_put_shown(out, name);
        odb_buf_putc(out, '\n');
        if (v->lacking[i])
            odb_comparison_add_alone(&v->found, name, v->lacking[i]);
        else if (v->target[i] && v->reference[i])
            odb_comparison_add(&v->found, name, v->target[i], v->reference[i], NULL);
        else
            odb_comparison_add_alone(&v->found, name,
                                     v->reference[i] ? "it cannot be read from the target"
                                                     : "it cannot be read from the reference");
        const struct odb_compared *row = &v->found.rows.items[i];
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
    verify_say_some(v, true, "differ", out);
    verify_say_some(v, false, "were not compared", out);
    if (found->failed == v->n_lacking)
        odb_buf_printf(out,
                       v->n_lacking ? "the other %zu values agree\n" : "all %zu values agree\n",
                       v->n - v->n_lacking);
    odb_buf_printf(out, "under %s; ", found->under);
    odb_buf_put_shown(out, v->about[0]);
    odb_buf_puts(out, " against ");
    odb_buf_put_shown(out, v->about[1]);
    odb_buf_putc(out, '\n');
}

/* Nothing differs, and yet that is no clean bill. */
static enum odb_status verify_incomplete(const struct verify *v, struct odb_error *err)
{
    size_t i = 0;
    while (!v->lacking[i])
        i++;
    odb_fail(err, ODB_E_EXECUTOR, "%zu of %zu values were not compared: %s", v->n_lacking, v->n,
             v->lacking[i]);
    return odb_error_remedy(err, "give one with --kernels, or another --reference");
}

enum odb_status odb_command__verify(struct odb_command_call *call, struct odb_error *err)
{
    const char *reference = odb_call_option(call, ODB_OPTION_REFERENCE);
    const struct odb_feeds *feeds;
    struct odb_buf out = ODB_BUF_INIT;
    struct verify v = {.call = call};
    enum odb_status status = odb_comparison_begin(&v.found, call, false, VERIFY_TOLERANCE, err);
    if (odb_call_has(call, ODB_OPTION_VERBOSE))
        setenv("VERBOSE", "1", 1);
    if (status == ODB_OK)
        status = odb_call__feeds(call, &feeds, err);
    if (status == ODB_OK) {
        verify_choose(&v);
        status = verify_leave_out(&v, reference ? reference : "cpu", err);
    }
    if (status == ODB_OK)
        status = verify_run(&v, feeds, odb_call__target(call), v.target, v.about[0], err);
    if (status == ODB_OK)
        status = verify_run(&v, feeds, reference ? reference : "cpu", v.reference, v.about[1], err);
    if (status == ODB_OK) {
        verify_say_inputs(&v, feeds, &out);
        verify_values(&v, &out);
        verify_say_end(&v, &out);
        if (v.found.json || v.found.tsv) {
            odb_buf_clear(&out);
            odb_comparison_put(&v.found, &out);
        }
        call->found = v.found.failed > v.n_lacking;
        odb_comparison_warn(&v.found, call);
        odb_call__print(call, &out);
        if (!call->found && v.n_lacking)
            status = verify_incomplete(&v, err);
    }
    for (size_t i = 0; i < v.n; i++) {
        odb_tensor_unref(v.target[i]);
        odb_tensor_unref(v.reference[i]);
        free(v.lacking ? v.lacking[i] : NULL);
    }
    free(v.lacking);
    free(v.target);
    free(v.reference);
    free(v.values);
    odb_comparison_dispose(&v.found);
    odb_buf_dispose(&out);
    return status;
}
