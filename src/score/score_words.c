/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "score/score.h"

static void words_score(const struct odb_score *r, double score, struct odb_buf *out)
{
    if (isnan(score))
        odb_buf_puts(out, "not defined");
    else
        odb_buf_printf(out, "%.4g%s", r->factor * score, r->unit);
}

/* "3.5 points worse (95 %: 1 to 6)" */
static void words_range(const struct odb_score_gain *gain, struct odb_buf *out)
{
    if (!isnan(gain->low))
        odb_buf_printf(out, " (95 %%: %.3g to %.3g)", gain->low + 0.0, gain->high + 0.0);
}

static void words_amount(const struct odb_score *r, double amount, struct odb_buf *out)
{
    if (isnan(amount))
        odb_buf_puts(out, "not defined");
    else
        odb_buf_printf(out, "%.3g%s%s", amount, r->diff[0] ? " " : "", r->diff);
}

/* Whether chance alone may have made the difference. */
static bool words_chance(const struct odb_score_gain *gain)
{
    return isnan(gain->is) || (gain->low <= 0 && gain->high >= 0);
}

static void words_loss(const struct odb_score *r, struct odb_buf *out)
{
    if (isnan(r->loss.is)) {
        odb_buf_puts(out, "no difference is defined");
        return;
    }
    words_amount(r, fabs(r->loss.is), out);
    odb_buf_puts(out, r->loss.is > 0 ? " worse" : r->loss.is < 0 ? " better" : ", the same");
    if (r->loss.is != 0) {
        struct odb_score_gain loss = r->loss;
        if (loss.is < 0)
            loss = (struct odb_score_gain){-loss.is, -loss.high, -loss.low};
        words_range(&loss, out);
        if (r->loss.is > 0 && !odb_score_loses(r, 0))
            odb_buf_puts(out, ", which is rounding");
        else if (words_chance(&r->loss))
            odb_buf_puts(out, ", which so few samples do not tell from none");
    }
}

static void words_head(const struct odb_score *r, struct odb_buf *out)
{
    odb_buf_put_shown(out, r->metric);
    odb_buf_printf(out, " over %zu sample%s, ", r->used, odb_plural(r->used));
    odb_buf_puts(out, "against ");
    odb_buf_put_shown(out, r->labels  ? r->labels
                           : r->right ? r->right
                                      : "the reference's own outputs");
    odb_buf_puts(out, r->lower ? " (less is better)\n" : "\n");
    odb_buf_puts(out, "  reference  ");
    words_score(r, r->reference, out);
    odb_buf_puts(out, "\n  target     ");
    words_score(r, r->run, out);
    odb_buf_puts(out, "  ");
    words_loss(r, out);
    odb_buf_puts(out, "\n             ");
    odb_buf_put_shown(out, r->target);
    odb_buf_puts(out, " (");
    odb_buf_put_shown(out, r->description);
    odb_buf_puts(out, ")\n");
}

static void words_samples(const struct odb_score *r, struct odb_buf *out)
{
    const struct odb_score_sample *first = NULL;
    for (size_t i = 0; i < r->samples.n && !first; i++)
        if (r->samples.items[i].why)
            first = &r->samples.items[i];
    if (r->differ)
        odb_buf_printf(out, "%zu of %zu samples score otherwise on the target\n", r->differ,
                       r->used);
    if (!first)
        return;
    odb_buf_printf(out, "%zu of %zu samples are not in the scores: ", r->samples.n - r->used,
                   r->samples.n);
    odb_buf_put_shown(out, first->source);
    odb_buf_puts(out, ": ");
    odb_buf_put_shown(out, first->why);
    odb_buf_putc(out, '\n');
}

/* Alone, and no more where others are mended too. */
static bool words_harmless(const struct odb_score *r, size_t at)
{
    const struct odb_score_node *node = &r->nodes.items[at];
    double before = at ? r->nodes.items[at - 1].with.is : 0;
    return node->with.is == before && node->error > 0;
}

/* "#212: 3.1 of the 3.4 points", or that it costs nothing. */
static void words_node(const struct odb_score *r, size_t at, struct odb_buf *out)
{
    const struct odb_score_node *node = &r->nodes.items[at];
    odb_buf_puts(out, "  ");
    odb_node_put(r->model->graph, node->node, out);
    odb_buf_puts(out, ": ");
    if (node->why) {
        odb_buf_puts(out, "not mended: ");
        odb_buf_put_shown(out, node->why);
    } else if (!node->changed || (node->alone.is == 0 && node->changed == SIZE_MAX)) {
        odb_buf_puts(out, r->tells ? "nothing: mended alone, no sample scores otherwise"
                                   : "nothing: mended alone, the score is the same");
        if (words_harmless(r, at))
            odb_buf_printf(out, "; harmless here, though its output is off by %.3g", node->error);
    } else {
        words_amount(r, node->alone.is, out);
        if (r->loss.is > 0)
            odb_buf_printf(out, " of %.3g", r->loss.is);
        words_range(&node->alone, out);
        if (words_chance(&node->alone))
            odb_buf_puts(out, ", not told from none");
        if (node->changed != SIZE_MAX)
            odb_buf_printf(out, "; %zu sample%s score%s otherwise", node->changed,
                           odb_plural(node->changed), node->changed == 1 ? "s" : "");
    }
    odb_buf_putc(out, '\n');
}

static void words_nodes(const struct odb_score *r, struct odb_buf *out)
{
    const struct odb_score_node *last = NULL;
    odb_buf_puts(out, "\nWhat a node costs: what is given back when it alone computes as the "
                      "reference does.\n");
    for (size_t i = 0; i < r->nodes.n; i++) {
        const struct odb_score_node *node = &r->nodes.items[i];
        words_node(r, i, out);
        last = node->why ? last : node;
        if (!i || node->why)
            continue;
        odb_buf_puts(out, "      with those above: ");
        words_amount(r, node->with.is, out);
        words_range(&node->with, out);
        odb_buf_puts(out, "; the score is ");
        words_score(r, node->score, out);
        odb_buf_putc(out, '\n');
    }
    double left = last ? r->loss.is - last->with.is : NAN;
    if (left > 1e-9 * fabs(r->loss.is) && r->loss.is > 0) {
        odb_buf_puts(out, "  left over: ");
        words_amount(r, left, out);
        odb_buf_puts(out, ", which is none of theirs alone\n");
    }
}

void odb_score_put_scores(const struct odb_score *r, struct odb_buf *out)
{
    words_head(r, out);
    words_samples(r, out);
}

void odb_score_put(const struct odb_score *r, struct odb_buf *out)
{
    odb_score_put_scores(r, out);
    if (r->nodes.n)
        words_nodes(r, out);
    else if (r->accused && r->searches)
        odb_buf_puts(out, "no node is accused, so that nothing was mended\n");
    else if (r->accused)
        odb_buf_puts(out, "the outputs of all samples are the reference's: nothing was searched\n");
    if (r->stopped)
        odb_buf_puts(out, "stopped: more nodes may cost something\n");
    for (size_t i = 0; i < r->notes.n; i++)
        odb_buf_printf(out, "note: %s\n", r->notes.items[i]);
    odb_buf_printf(out, "\n%zu load%s and %zu run%s of the target, %.1f s\n", r->cost.loads,
                   odb_plural(r->cost.loads), r->cost.runs, odb_plural(r->cost.runs), r->seconds);
}
