/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "suspects/suspects.h"

#define WORDS_SHOWN 10 /* suspects in the table */

/* The deviation; the words have a %g where there is an amount. */
static void words_deviation(const struct odb_suspect *one, struct odb_buf *out)
{
    const char *words = one->words;
    double amount = one->amount + (words[0] == 't' ? 1 : 0); /* "times" 1 + amount */
    for (; *words; words++)
        if (*words == '%')
            words += words[1] == '+' ? 2 : 1, odb_buf_printf(out, "%.4g", amount);
        else
            odb_buf_putc(out, *words);
}

static void words_row(const struct odb_suspects *r, const struct odb_suspect *one,
                      struct odb_buf *out)
{
    odb_buf_printf(out, "  %c %8.4f %%  ", one->likely ? '*' : ' ', 100 * fmax(one->explained, 0));
    odb_node_put(r->model->graph, one->node, out);
    odb_buf_puts(out, ": ");
    words_deviation(one, out);
    odb_buf_putc(out, '\n');
}

static void words_table(const struct odb_suspects *r, struct odb_buf *out)
{
    size_t shown = 0;
    odb_buf_printf(out, "\nWhat the error of one node would explain of %s, over %zu sample%s:\n",
                   r->pattern ? "where NaN and Inf stand" : "the outputs' differences", r->n_used,
                   odb_plural(r->n_used));
    for (; shown < r->list.n && shown < WORDS_SHOWN; shown++)
        words_row(r, &r->list.items[shown], out);
    if (shown < r->list.n)
        odb_buf_printf(out, "    and %zu more, which --json holds\n", r->list.n - shown);
}

static void words_likely(const struct odb_suspects *r, struct odb_buf *out)
{
    const struct odb_graph *graph = r->model->graph;
    if (!r->explains) {
        odb_buf_puts(out, "no single node explains the differences");
    } else if (r->n_likely == 1) {
        odb_node_put(graph, r->list.items[0].node, out);
        odb_buf_puts(out, r->single ? " explains all, and no other node does" : " explains most");
    } else {
        odb_buf_printf(out, "%zu nodes explain equally well", r->n_likely);
    }
    if (r->explains && !isnan(r->probability))
        odb_buf_printf(out, "; probability %.2f that %s", r->probability,
                       r->n_likely == 1 ? "it is the node at fault" : "one of them is at fault");
    odb_buf_putc(out, '\n');
}

/* "stopped after 7 of 50 inputs": what is told is of those. */
static void words_unfinished(const struct odb_suspects *r, struct odb_buf *out)
{
    odb_buf_puts(out, r->stopped ? "stopped" : "the time was up");
    if (r->n_run < r->n_samples)
        odb_buf_printf(out, " after %zu of %zu inputs", r->n_run, r->n_samples);
    else
        odb_buf_puts(out, " while nodes were tried");
    if (r->list.n && r->n_used < r->n_run - r->n_unknown)
        odb_buf_printf(out, "; the nodes were held against %zu of these", r->n_used);
    if (r->n_left)
        odb_buf_printf(out, "; %zu node%s not reached", r->n_left,
                       r->n_left == 1 ? " was" : "s were");
    if (r->list.n && isnan(r->probability) && !r->pattern)
        odb_buf_puts(out, "; so no probability is given");
    odb_buf_puts(out, "\n");
}

void odb_suspects_put(const struct odb_suspects *r, struct odb_buf *out)
{
    if (!r->complete)
        words_unfinished(r, out);
    if (!r->n_differ) {
        odb_buf_printf(out,
                       "the outputs agree on all samples that could be judged; values that were "
                       "not read were not judged\n");
    } else if (!r->list.n && !r->complete) {
        odb_buf_puts(out, "no node was tried by then\n");
    } else if (!r->list.n) {
        odb_buf_puts(
            out, "there are no outputs to explain: the target failed, or gave none of floats\n");
    } else {
        words_table(r, out);
        odb_buf_putc(out, '\n');
        words_likely(r, out);
        odb_buf_puts(out, "nothing but outputs was read: this is a ranking, and no verdict on a "
                          "node\n");
    }
    if (r->n_differ && r->n_untried)
        odb_buf_printf(out, "%zu node%s could not be tried: no floats, or nothing replays them\n",
                       r->n_untried, odb_plural(r->n_untried));
    odb_buf_printf(out, "%zu load%s, %zu runs, %zu replays, %.1f s\n", r->loads,
                   odb_plural(r->loads), r->runs, r->n_replays, r->seconds);
}
