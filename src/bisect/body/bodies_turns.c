/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which turn of a Loop or Scan it is whose body is wrong, or which branch of an If; or that it is
 * none, and so the node itself.
 */
#include "bisect/body/bodies_int.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "run/feeds.h"

#define BODIES_LINEAR 64 /* turns that are tried one by one */
#define BODIES_FEW 4     /* turns that are tried one by one at once */

/* --- which turn ------------------------------------------------------------------------------- */

/* The state after k turns on the target. False: it cannot be had. */
static enum odb_status bodies_prefix(struct bodies *s, int64_t k, enum odb_verdict *verdict,
                                     struct odb_error *err)
{
    const struct odb_graph *graph = s->owner->graph;
    int *values = odb_new_n(int, s->n_state + 1);
    size_t n = 0;
    char what[64];
    struct odb_feeds *feeds;
    for (size_t o = 0; o < graph->n_outputs; o++)
        if ((size_t)graph->values[graph->outputs[o]].slot < s->n_state)
            values[n++] = graph->outputs[o];
    snprintf(what, sizeof what, "%lld turns of %zu", (long long)k, s->turns);
    *verdict = ODB_VERDICT_UNTESTABLE;
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = bodies_owner_feeds(s, k, &feeds, &why);
    if (status == ODB_OK && n)
        status = bodies_ask(s, s->owner, feeds, values, n, what, NULL, verdict, err);
    else
        status = ODB_OK;
    odb_feeds_free(feeds);
    free(values);
    return status;
}

/* Bisects over the number of turns for the first that spoils the state, which shows after so many
 * at most; *turn is left alone where the state does not tell. */
static enum odb_status bodies_bisect(struct bodies *s, int64_t most, int64_t *turn,
                                     struct odb_error *err)
{
    int64_t good = 0, bad = most;
    enum odb_verdict verdict;
    bool loop = bodies_is(s, "Loop"), scan = bodies_is(s, "Scan") && s->node->opset >= 9;
    bool apart = loop || scan;
    for (int i = 0; i < s->node->n_in && apart; i++)
        if (loop ? i == 0 && s->node->in[0] >= 0 : (size_t)i >= s->n_state)
            apart = bodies_reads_once(s, i);
    if (!apart || !s->n_state)
        return ODB_OK;
    ODB_TRY(bodies_prefix(s, bad, &verdict, err));
    if (!bodies_bad(s, verdict))
        return ODB_OK;
    while (bad - good > 1) {
        int64_t k = good + (bad - good) / 2;
        ODB_TRY(bodies_prefix(s, k, &verdict, err));
        if (bodies_bad(s, verdict))
            bad = k;
        else if (verdict == ODB_VERDICT_PASS)
            good = k;
        else
            return ODB_OK;
    }
    *turn = good;
    return ODB_OK;
}

/* One of several tensors that are stacked in an output; NULL: it cannot be had. Owned. */
static struct odb_tensor *bodies_layer(const struct bodies *s, size_t output,
                                       const struct odb_tensor *t, size_t turn)
{
    struct odb_tensor *layer = NULL;
    struct odb_error ignored = ODB_ERROR_INIT;
    if (!t || t->kind == ODB_SEQUENCE)
        return t && turn < t->n_items ? odb_tensor_ref(t->items[turn]) : NULL;
    const struct odb_attr *axes = odb_attrs_find(&s->node->attrs, "scan_output_axes");
    const struct odb_attr *backs = odb_attrs_find(&s->node->attrs, "scan_output_directions");
    size_t k = output - s->n_state;
    int64_t axis = axes && k < axes->n ? axes->ints[k] : 0;
    axis += axis < 0 ? t->rank : 0;
    if (t->kind != ODB_TENSOR || axis < 0 || axis >= t->rank || (size_t)t->dims[axis] <= turn)
        return NULL;
    if (backs && k < backs->n && backs->ints[k])
        turn = (size_t)t->dims[axis] - 1 - turn;
    if (bodies_take(&layer, t, axis, (int64_t)turn, 0, &ignored) != ODB_OK)
        return NULL;
    return layer;
}

/* How many turns' values are stacked in an output. */
static size_t bodies_layers(const struct bodies *s, size_t output, const struct odb_tensor *t)
{
    size_t n = 0;
    const struct odb_attr *axes = odb_attrs_find(&s->node->attrs, "scan_output_axes");
    if (!t || t->kind == ODB_SEQUENCE)
        return t ? t->n_items : 0;
    size_t k = output - s->n_state;
    int64_t axis = axes && k < axes->n ? axes->ints[k] : 0;
    axis += axis < 0 ? t->rank : 0;
    if (t->kind == ODB_TENSOR && axis >= 0 && axis < t->rank)
        n = (size_t)t->dims[axis];
    return n;
}

/* The first turn whose stacked values are off by more than rounding in the reference's own. */
static int64_t bodies_first_layer(const struct bodies *s)
{
    bool batch = bodies_is(s, "Scan") && s->node->opset < 9; /* stacks of another form */
    for (size_t turn = 0; turn < s->turns && !batch; turn++)
        for (size_t o = s->n_state; o < s->n_out; o++) {
            if (!s->had[o] || !s->ref[o])
                continue;
            struct odb_tensor *had = bodies_layer(s, o, s->had[o], turn);
            struct odb_tensor *ref = bodies_layer(s, o, s->ref[o], turn);
            bool alike = bodies_alike(had, ref, s->noise);
            odb_tensor_unref(had);
            odb_tensor_unref(ref);
            if (!alike)
                return (int64_t)turn;
        }
    return ODB_ANY_TURN;
}

/* How many turns the target took, as far as what it gave tells. */
static enum odb_status bodies_trips(struct bodies *s, size_t *trips, struct odb_error *err)
{
    struct odb_tensor *more;
    struct odb_tensor **outs = odb_new_n(struct odb_tensor *, s->n_out + 1);
    struct bodies_record r = {.wanted = ODB_ANY_TURN,
                              .states = s->had,
                              .n_states = s->n_state,
                              .skip = 1,
                              .noise = s->noise};
    struct odb_error ignored = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK;
    *trips = s->turns;
    for (size_t o = s->n_state; o < s->n_out; o++)
        if (s->had[o] && s->ref[o]) {
            *trips = bodies_layers(s, o, s->had[o]);
            goto out;
        }
    for (size_t o = 0; o < s->n_state; o++)
        if (!s->had[o])
            goto out;
    /* Nothing is stacked: whose state is it? One turn more than there should be is looked at too.
     */
    const struct odb_tensor *m =
        s->node->in[0] < 0 ? NULL : bodies_value(s->c->trace, s->given, s->node->in[0]);
    ODB_TRY_OUT(odb_tensor_new(&more, ODB_I64, m ? m->rank : 0, (const int64_t[]){1}, err));
    odb_store_i64(ODB_I64, more->data, 0, (int64_t)s->turns + 1);
    if (bodies_run(s->c->trace, s->given, s->node->index, more, &r, outs, &ignored) == ODB_OK &&
        r.n_like == 1)
        *trips = r.like;
    odb_tensor_unref(more);
out:
    bodies_drop(outs, s->n_out);
    return status;
}

/* --- bodies, one after the other -------------------------------------------------------------- */

/* No body is wrong: that it is the node itself is said where enough of them are known to be right.
 * parted: the target took another number of turns, the last of both being part. */
static void bodies_acquit(struct bodies *s, size_t trips, int64_t part, int64_t by_state)
{
    const bool parted = trips != s->turns;
    const int64_t turn = parted ? part : by_state;
    const bool all = turn >= 0 ? s->right[turn] : parted || s->n_right == s->turns;
    if (parted)
        odb_buf_printf(&s->words, "The target takes %zu turn%s where the reference takes %zu; ",
                       trips, odb_plural(trips), s->turns);
    if (parted && turn >= 0 && all)
        odb_buf_printf(&s->words,
                       "the body of turn %lld, where they part, is right alone on the reference's "
                       "state, its condition included, so ",
                       (long long)turn);
    else if (parted && turn >= 0)
        odb_buf_printf(&s->words,
                       "whether the body of turn %lld, where they part, is right alone is not "
                       "known. ",
                       (long long)turn);
    else if (turn >= 0)
        odb_buf_printf(&s->words,
                       "The state that it carries is wrong after turn %lld for the first time, and "
                       "%s",
                       (long long)turn,
                       all ? "the body of that turn is right alone on the reference's state, so "
                           : "whether the body of that turn is right alone is not known. ");
    else if (!parted && all && s->turns == 1)
        odb_buf_puts(&s->words,
                     "The body of its one turn is right alone on the reference's state, so ");
    else if (!parted && all)
        odb_buf_printf(&s->words,
                       "All of its %zu turns' bodies are right alone on the reference's state, so ",
                       s->turns);
    else if (!parted)
        odb_buf_printf(&s->words,
                       "Of its %zu turns' bodies %zu were run alone on the reference's state and "
                       "are right; of the others nothing is known. ",
                       s->turns, s->n_right);
    if (parted && all)
        odb_buf_printf(&s->words, "it is how the %s counts or stops. ", s->node->op_type);
    else if (all)
        odb_buf_printf(&s->words,
                       "it is %s itself: how it counts, stops, hands on its state, puts together "
                       "what its turns give, or how the target treats a body that stands in it. ",
                       s->node->op_type);
}

enum odb_status bodies_turns(struct bodies *s, struct odb_error *err)
{
    char say[200];
    size_t trips = s->turns;
    int64_t by_state = ODB_ANY_TURN, by_layer = bodies_first_layer(s);
    if (bodies_is(s, "Loop"))
        ODB_TRY(bodies_trips(s, &trips, err));
    const bool parted = trips != s->turns, few = s->turns < BODIES_FEW;
    const int64_t common = (int64_t)ODB_MIN(trips, s->turns), part = common - 1;
    if (parted && (by_layer < 0 || by_layer > part))
        by_layer = part; /* the turn that ended otherwise */
    if (few)
        by_layer = ODB_ANY_TURN;
    else
        ODB_TRY(bodies_bisect(s, by_layer >= 0 ? by_layer + 1 : (int64_t)s->turns, &by_state, err));
    const int64_t order[] = {by_state, by_layer};
    for (size_t i = 0; i < ODB_COUNT(order); i++) {
        snprintf(say, sizeof say,
                 "Turn %lld of %zu is the first that goes wrong, and its body alone, on the "
                 "reference's state, does as well. ",
                 (long long)order[i], s->turns);
        ODB_TRY(bodies_try(s, order[i], say, err));
    }
    const bool known = by_state >= 0 || (parted && !few); /* which turn it is */
    const size_t last = parted ? (size_t)common : s->turns;
    for (size_t k = 0; k < last && s->n_tried < BODIES_LINEAR && !s->done && !known; k++) {
        snprintf(say, sizeof say,
                 "Turn %zu of %zu is the first whose body alone, on the reference's state, goes "
                 "wrong. ",
                 k, s->turns);
        ODB_TRY(bodies_try(s, (int64_t)k, say, err));
    }
    if (!s->done)
        bodies_acquit(s, trips, part, by_state);
    return ODB_OK;
}

enum odb_status bodies_branch(struct bodies *s, struct odb_error *err)
{
    const struct odb_tensor *cond = bodies_value(s->c->trace, s->given, s->node->in[0]);
    struct odb_tensor **outs = odb_new_n(struct odb_tensor *, s->n_out + 1), *other = NULL;
    struct bodies_record r = {.wanted = ODB_ANY_TURN};
    struct odb_error ignored = ODB_ERROR_INIT;
    bool truth = cond && odb_tensor_i64(cond, 0), same = false, differs = false;
    if (cond && odb_tensor_clone(&other, cond, &ignored) == ODB_OK) {
        odb_store_i64(ODB_BOOL, other->data, 0, !truth);
        same =
            bodies_run(s->c->trace, s->given, s->node->index, other, &r, outs, &ignored) == ODB_OK;
    }
    for (size_t o = 0; o < s->n_out && same; o++) {
        same = s->node->out[o] < 0 || bodies_alike(s->had[o], outs[o], s->noise);
        differs = differs || (s->node->out[o] >= 0 && !bodies_alike(s->ref[o], outs[o], s->noise));
    }
    bodies_drop(outs, s->n_out);
    odb_tensor_unref(other);
    if (same && differs) {
        odb_buf_printf(&s->words, "The target takes the other branch: the condition, ");
        odb_buf_put_shown(&s->words, s->c->graph->values[s->node->in[0]].name);
        odb_buf_printf(&s->words,
                       ", is %s in both, and what the target gives is what the %s branch gives. ",
                       truth ? "true" : "false", truth ? "else" : "then");
        return ODB_OK;
    }
    ODB_TRY(bodies_try(s, 0, "The branch that is taken is wrong by itself. ", err));
    if (!s->done)
        odb_buf_puts(&s->words, s->right[0] ? "The branch that is taken is right by itself, so it "
                                              "is the If: how it chooses, or hands on what the "
                                              "branch gives. "
                                            : "Whether the branch that is taken is right by itself "
                                              "is not known. ");
    return ODB_OK;
}
