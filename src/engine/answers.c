/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What was asked before, by a search that was stopped.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "engine/question.h"

struct odb_prefix_memo *odb_prefix_memo_new(const struct odb_model *model)
{
    struct odb_prefix_memo *memo = odb_new(struct odb_prefix_memo);
    memo->answers = odb_new_n(struct odb_prefix_answer, model->graph->n_nodes + 1);
    memo->values = odb_new_n(struct odb_value_report, model->graph->n_values + 1);
    return memo;
}

void odb_prefix_memo_free(struct odb_prefix_memo *memo)
{
    if (!memo)
        return;
    free(memo->answers);
    free(memo->values);
    free(memo);
}

bool answers_know(const struct bisection *b, enum odb_status signature, int node)
{
    const struct odb_prefix_memo *memo = b->options->memo;
    return memo && memo->answers[node].asked && memo->answers[node].signature == signature;
}

bool answers_recall(struct bisection *b, enum odb_status signature, int node,
                    enum odb_answer *answer)
{
    const struct odb_prefix_memo *memo = b->options->memo;
    const struct odb_node *n = &b->graph->nodes[node];
    if (!answers_know(b, signature, node))
        return false;
    for (int o = 0; o < n->n_out; o++) {
        if (n->out[o] < 0 || memo->values[n->out[o]].verdict == ODB_VERDICT_UNTESTED)
            continue;
        b->report->values[n->out[o]] = memo->values[n->out[o]];
        bisection_value(b, n->out[o]);
    }
    *answer = memo->answers[node].answer;
    return true;
}

void answers_remember(struct bisection *b, enum odb_status signature, int node,
                      enum odb_answer answer)
{
    struct odb_prefix_memo *memo = b->options->memo;
    const struct odb_node *n = &b->graph->nodes[node];
    if (!memo)
        return;
    memo->n += !memo->answers[node].asked;
    memo->answers[node] = (struct odb_prefix_answer){true, answer, signature};
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0)
            memo->values[n->out[o]] = b->report->values[n->out[o]];
}
