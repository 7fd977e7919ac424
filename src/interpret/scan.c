/* SPDX-License-Identifier: MIT
 *
 * Scan and SequenceMap for the CPU reference: a body for every slice of some tensors, or for every
 * element of some sequences. Scan of opset 8 is Scan of today once per entry of a batch.
 */
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "interpret/cpu_int.h"

/* --- Scan ------------------------------------------------------------------------------------- */

struct scan {
    const struct cpu_scope *scope;
    const struct cpu_plan *body;
    int index;
    size_t n_state, n_in, n_stacks;
    const struct odb_tensor *const *in; /* states, then what is scanned */
    int *axes;                          /* owned; [n_in] */
    const int64_t *directions;          /* [n_in]; NULL: all forward */
    struct odb_tensor **feeds;          /* owned; of a turn */
    struct odb_tensor **outs;           /* owned; of a turn */
    struct cpu_stack *stacks;           /* owned; [n_stacks] */
};

/* A list with one entry for each of n things; NULL: not given. */
static enum odb_status scan_list(const struct odb_attrs *attrs, const char *name, size_t n,
                                 const int64_t **list, struct odb_error *err)
{
    const struct odb_attr *attr = odb_attrs_find(attrs, name);
    *list = NULL;
    if (!attr || (attr->type == ODB_ATTR_INTS && !attr->n))
        return ODB_OK;
    if (attr->type != ODB_ATTR_INTS || attr->n != n)
        return odb_fail(err, ODB_E_OPERATOR, "%s has %zu entries, not %zu", name, attr->n, n);
    *list = attr->ints;
    return ODB_OK;
}

static enum odb_status scan_directions(const struct odb_attrs *attrs, const char *name, size_t n,
                                       const int64_t **list, struct odb_error *err)
{
    ODB_TRY(scan_list(attrs, name, n, list, err));
    for (size_t i = 0; *list && i < n; i++)
        if ((*list)[i] != 0 && (*list)[i] != 1)
            return odb_fail(err, ODB_E_OPERATOR, "%s[%zu] is %lld, not 0 or 1", name, i,
                            (long long)(*list)[i]);
    return ODB_OK;
}

/* in: states and scanned inputs, n of them. */
static enum odb_status scan_init(struct scan *s, const struct cpu_scope *scope, int index,
                                 const struct odb_tensor *const *in, int n, struct odb_error *err)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    const struct odb_attr *count =
        odb_attrs_find(&scope->plan->nodes[index].attrs, "num_scan_inputs");
    *s = (struct scan){.scope = scope, .index = index, .in = in};
    s->body = cpu_body_find(scope, index, "body");
    if (!s->body || !count || count->i < 1 || count->i > n)
        return odb_fail(err, ODB_E_OPERATOR,
                        "Scan needs a body and num_scan_inputs of 1 to %d, its inputs", n);
    size_t n_outs = s->body->graph->n_outputs;
    s->n_in = (size_t)count->i;
    s->n_state = (size_t)n - s->n_in;
    if (odb_graph_feeds(s->body->graph, NULL) != (size_t)n || n_outs < s->n_state ||
        (size_t)node->n_out > n_outs)
        return odb_fail(err, ODB_E_OPERATOR,
                        "the Scan's body takes %zu values and gives %zu; the node has %d and %d",
                        odb_graph_feeds(s->body->graph, NULL), n_outs, n, node->n_out);
    for (int i = 0; i < n; i++)
        if (!in[i] || in[i]->kind != ODB_TENSOR || !in[i]->data)
            return odb_fail(err, ODB_E_OPERATOR, "input %d of Scan must be a tensor", i);
    s->n_stacks = n_outs - s->n_state;
    s->axes = odb_new_n(int, s->n_in);
    s->feeds = odb_new_n(struct odb_tensor *, n);
    s->outs = odb_new_n(struct odb_tensor *, n_outs);
    s->stacks = odb_new_n(struct cpu_stack, s->n_stacks);
    return ODB_OK;
}

static void scan_dispose(struct scan *s)
{
    for (size_t f = 0; s->feeds && f < s->n_state + s->n_in; f++)
        odb_tensor_unref(s->feeds[f]);
    for (size_t k = 0; s->stacks && k < s->n_stacks; k++)
        cpu_stack_dispose(&s->stacks[k]);
    free(s->stacks);
    free(s->axes);
    free(s->feeds);
    free(s->outs);
}

/* How long all scanned inputs are on their axes. */
static enum odb_status scan_length(const struct scan *s, int64_t *len, struct odb_error *err)
{
    for (size_t i = 0; i < s->n_in; i++) {
        const struct odb_tensor *t = s->in[s->n_state + i];
        int64_t has = t->dims[s->axes[i]];
        if (i && has != *len)
            return odb_fail(err, ODB_E_OPERATOR,
                            "Scan's inputs 0 and %zu have %lld and %lld elements to scan", i,
                            (long long)*len, (long long)has);
        *len = has;
    }
    return ODB_OK;
}

/* One turn; its states stand in feeds, before and after. at: which element of len; x: what is
 * scanned. */
static enum odb_status scan_turn(struct scan *s, const struct odb_tensor *const *x, int64_t at,
                                 int64_t len, uint64_t turn, struct odb_error *err)
{
    for (size_t i = 0; i < s->n_in; i++) {
        struct odb_tensor **feed = &s->feeds[s->n_state + i];
        bool back = s->directions && s->directions[i];
        odb_tensor_unref(*feed);
        *feed = NULL;
        ODB_TRY(odb_parts_take(feed, x[i], s->axes[i], back ? len - 1 - at : at, 1, true, err));
    }
    ODB_TRY(cpu_body_run(s->scope, s->index, s->body, turn, s->feeds, s->outs, err));
    enum odb_status status = ODB_OK;
    for (size_t o = 0; o < s->n_state + s->n_stacks; o++) {
        struct odb_tensor *t = s->outs[o];
        bool state = o < s->n_state, same = !state || t->kind == ODB_TENSOR;
        same = same && (!state || odb_tensor_same_shape(t, s->feeds[o]));
        same = same &&
               (!state || t->dtype == s->feeds[o]->dtype || s->scope->precision == ODB_PREC_F64);
        if (status == ODB_OK && !same)
            status = odb_fail(err, ODB_E_OPERATOR, "turn %lld changes type or shape of state %zu",
                              (long long)at, o);
        if (status != ODB_OK) {
            odb_tensor_unref(t);
        } else if (state) {
            odb_tensor_unref(s->feeds[o]);
            s->feeds[o] = t;
        } else {
            status = cpu_stack_push(s->scope, &s->stacks[o - s->n_state], t, err);
        }
    }
    return status;
}

/* Since opset 9: any axis of each input and output, no batch. */
static enum odb_status scan_run(struct scan *s, struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_node *node = &s->scope->plan->graph->nodes[s->index];
    const struct odb_attrs *attrs = &s->scope->plan->nodes[s->index].attrs;
    const int64_t *axes, *out_axes, *out_directions;
    int64_t len = 0;
    ODB_TRY(scan_list(attrs, "scan_input_axes", s->n_in, &axes, err));
    ODB_TRY(scan_directions(attrs, "scan_input_directions", s->n_in, &s->directions, err));
    ODB_TRY(scan_list(attrs, "scan_output_axes", s->n_stacks, &out_axes, err));
    ODB_TRY(scan_directions(attrs, "scan_output_directions", s->n_stacks, &out_directions, err));
    for (size_t i = 0; i < s->n_in; i++) {
        int rank = s->in[s->n_state + i]->rank;
        int64_t axis = axes ? axes[i] : 0;
        if (axis < -rank || axis >= rank)
            return odb_fail(err, ODB_E_OPERATOR, "axis %lld does not fit scan input %zu of rank %d",
                            (long long)axis, i, rank);
        s->axes[i] = (int)(axis < 0 ? axis + rank : axis);
    }
    ODB_TRY(scan_length(s, &len, err));
    for (size_t i = 0; i < s->n_state; i++)
        s->feeds[i] = odb_tensor_ref(s->in[i]);
    for (int64_t t = 0; t < len; t++)
        ODB_TRY(scan_turn(s, s->in + s->n_state, t, len, (uint64_t)t, err));
    for (size_t o = 0; o < (size_t)node->n_out; o++) {
        size_t k = o - s->n_state;
        if (node->out[o] < 0)
            continue;
        if (o < s->n_state)
            out[o] = odb_tensor_ref(s->feeds[o]);
        else
            ODB_TRY(cpu_stack_join(s->scope, s->body, o, &s->stacks[k], out_axes ? out_axes[k] : 0,
                                   out_directions && out_directions[k], &out[o], err));
    }
    return ODB_OK;
}

/* --- Scan of opset 8 -------------------------------------------------------------------------- */

/* The batch, and how many elements of each entry are scanned, in work memory that the caller gives
 * back. */
static enum odb_status scan_lengths(const struct scan *s, const struct odb_tensor *lens,
                                    int64_t *batch, int64_t max, int64_t **out,
                                    struct odb_error *err)
{
    *batch = s->in[s->n_state]->dims[0];
    for (size_t i = 0; i < s->n_state + s->n_in; i++)
        if (s->in[i]->rank < 1 || s->in[i]->dims[0] != *batch)
            return odb_fail(err, ODB_E_OPERATOR, "input %zu of Scan has no batch of %lld", i + 1,
                            (long long)*batch);
    if (lens && (lens->kind != ODB_TENSOR || lens->dtype != ODB_I64 || lens->rank != 1 ||
                 lens->dims[0] != *batch))
        return odb_fail(err, ODB_E_OPERATOR, "sequence_lens must be int64 (%lld,)",
                        (long long)*batch);
    *out = odb_work_take((size_t)*batch, sizeof **out);
    if (!*out)
        return odb_fail(err, ODB_E_NOMEM, "no memory for a batch of %lld", (long long)*batch);
    for (int64_t b = 0; b < *batch; b++) {
        (*out)[b] = lens ? odb_tensor_i64(lens, (size_t)b) : max;
        if ((*out)[b] < 0 || (*out)[b] > max)
            return odb_fail(err, ODB_E_OPERATOR, "sequence_lens[%lld] is %lld, of at most %lld",
                            (long long)b, (long long)(*out)[b], (long long)max);
    }
    return ODB_OK;
}

/* Room for max elements of every entry, NULL as yet, at once: there may be no turn that makes any,
 * and more of them than memory. */
static enum odb_status scan_reserve(struct scan *s, int64_t batch, int64_t max,
                                    struct odb_error *err)
{
    size_t n;
    bool fits = odb_size_mul((uint64_t)batch, (uint64_t)max, &n) && n < SIZE_MAX;
    for (size_t k = 0; k < s->n_stacks; k++) {
        s->stacks[k].items = fits ? calloc(n + 1, sizeof(struct odb_tensor *)) : NULL;
        if (!s->stacks[k].items)
            return odb_fail(err, ODB_E_NOMEM, "no memory for a batch of %lld times %lld elements",
                            (long long)batch, (long long)max);
        s->stacks[k].cap = n + 1;
    }
    return ODB_OK;
}

/* One entry of the batch: its final states go to states, and each stack grows by max elements, of
 * which those beyond len are NULL. */
static enum odb_status scan_entry(struct scan *s, int64_t b, int64_t len, int64_t max,
                                  struct cpu_stack *states, struct odb_error *err)
{
    struct odb_tensor **x = odb_new_n(struct odb_tensor *, s->n_in);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < s->n_state + s->n_in; i++) {
        struct odb_tensor **to = i < s->n_state ? &s->feeds[i] : &x[i - s->n_state];
        odb_tensor_unref(*to);
        *to = NULL;
        ODB_TRY_OUT(odb_parts_take(to, s->in[i], 0, b, 1, true, err));
    }
    for (int64_t t = 0; t < len; t++)
        ODB_TRY_OUT(scan_turn(s, (const struct odb_tensor *const *)x, t, len,
                              (uint64_t)(b * max + t), err));
    for (size_t k = 0; k < s->n_stacks; k++)
        s->stacks[k].n += (size_t)(max - len);
    for (size_t i = 0; i < s->n_state; i++)
        ODB_TRY_OUT(cpu_stack_push(s->scope, &states[i], odb_tensor_ref(s->feeds[i]), err));
out:
    for (size_t i = 0; i < s->n_in; i++)
        odb_tensor_unref(x[i]);
    free(x);
    return status;
}

/* Elements that nothing was computed for are zero: the specification leaves them open. */
static enum odb_status scan_batch_join(const struct scan *s, size_t output, struct cpu_stack *stack,
                                       int64_t batch, int64_t max, struct odb_tensor **out,
                                       struct odb_error *err)
{
    struct cpu_stack none = {.n = 0};
    struct odb_tensor *zero = NULL, *flat = NULL;
    const struct odb_tensor *like = NULL;
    enum odb_status status = ODB_OK;
    int64_t dims[ODB_MAX_RANK + 2] = {batch, max};
    for (size_t i = 0; i < stack->n && !like; i++)
        like = stack->items[i];
    if (!like) {
        ODB_TRY_OUT(cpu_stack_join(s->scope, s->body, output, &none, 0, false, &flat, err));
    } else {
        ODB_TRY_OUT(odb_tensor_new(&zero, like->dtype, like->rank, like->dims, err));
        for (size_t i = 0; i < stack->n; i++)
            if (!stack->items[i])
                stack->items[i] = odb_tensor_ref(zero);
        ODB_TRY_OUT(cpu_stack_join(s->scope, s->body, output, stack, 0, false, &flat, err));
    }
    if (flat->rank >= ODB_MAX_RANK) {
        status = odb_fail(err, ODB_E_OPERATOR, "%d dimensions; at most %d are supported",
                          flat->rank + 1, ODB_MAX_RANK);
        goto out;
    }
    memcpy(dims + 2, flat->dims + 1, (size_t)(flat->rank - 1) * sizeof *dims);
    status = like ? odb_tensor_reshape(out, flat, flat->rank + 1, dims, err)
                  : odb_tensor_new(out, flat->dtype, flat->rank + 1, dims, err);
out:
    odb_tensor_unref(flat);
    odb_tensor_unref(zero);
    return status;
}

static enum odb_status scan_run_batch(struct scan *s, const struct odb_tensor *lens,
                                      struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_node *node = &s->scope->plan->graph->nodes[s->index];
    int64_t max = 0, batch = 0, *lengths = NULL;
    struct cpu_stack *states = odb_new_n(struct cpu_stack, s->n_state);
    enum odb_status status = scan_directions(&s->scope->plan->nodes[s->index].attrs, "directions",
                                             s->n_in, &s->directions, err);
    for (size_t i = 0; i < s->n_in && status == ODB_OK; i++) {
        s->axes[i] = 1;
        if (s->in[s->n_state + i]->rank < 2)
            status = odb_fail(err, ODB_E_OPERATOR, "scan input %zu has no batch and sequence", i);
    }
    if (status != ODB_OK)
        goto out;
    ODB_TRY_OUT(scan_length(s, &max, err));
    ODB_TRY_OUT(scan_lengths(s, lens, &batch, max, &lengths, err));
    for (size_t i = 0; i < s->n_in; i++)
        s->axes[i] = 0; /* of an entry */
    ODB_TRY_OUT(scan_reserve(s, batch, max, err));
    for (int64_t b = 0; b < batch; b++)
        ODB_TRY_OUT(scan_entry(s, b, lengths[b], max, states, err));
    for (size_t o = 0; o < (size_t)node->n_out; o++) {
        if (node->out[o] < 0)
            continue;
        if (o < s->n_state && batch == 0)
            out[o] = odb_tensor_ref(s->in[o]);
        else if (o < s->n_state)
            ODB_TRY_OUT(odb_parts_join(&out[o], states[o].items, states[o].n, 0, true, err));
        else
            ODB_TRY_OUT(
                scan_batch_join(s, o, &s->stacks[o - s->n_state], batch, max, &out[o], err));
    }
out:
    for (size_t i = 0; i < s->n_state; i++)
        cpu_stack_dispose(&states[i]);
    free(states);
    odb_work_give(lengths);
    return status;
}

enum odb_status cpu_control_scan(const struct cpu_scope *scope, int index,
                                 const struct odb_tensor *const *in, struct odb_tensor **out,
                                 struct odb_error *err)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    int first = node->opset < 9; /* behind sequence_lens */
    struct scan s = {.scope = scope};
    if (node->n_in <= first)
        return odb_fail(err, ODB_E_OPERATOR, "Scan has nothing to scan");
    enum odb_status status = scan_init(&s, scope, index, in + first, node->n_in - first, err);
    if (status == ODB_OK)
        status = first ? scan_run_batch(&s, in[0], out, err) : scan_run(&s, out, err);
    scan_dispose(&s);
    return status;
}

/* --- SequenceMap ------------------------------------------------------------------------------ */

/* What turn i gets of input t: a tensor whole, of a sequence the element. */
static enum odb_status map_feed(const struct odb_tensor *const *in, int input, size_t turn,
                                struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *t = in[input];
    if (t && t->kind != ODB_TENSOR && t->kind != ODB_SEQUENCE)
        return odb_fail(err, ODB_E_OPERATOR, "input %d of SequenceMap is no tensor and no sequence",
                        input);
    if (t && t->kind == ODB_SEQUENCE && t->n_items != in[0]->n_items)
        return odb_fail(err, ODB_E_OPERATOR, "sequences 0 and %d have %zu and %zu elements", input,
                        in[0]->n_items, t->n_items);
    *out = !t || t->kind == ODB_TENSOR ? (struct odb_tensor *)t : t->items[turn];
    return ODB_OK;
}

enum odb_status cpu_control_map(const struct cpu_scope *scope, int index,
                                const struct odb_tensor *const *in, struct odb_tensor **out,
                                struct odb_error *err)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    const struct cpu_plan *body = cpu_body_find(scope, index, "body");
    size_t n_outs = body ? body->graph->n_outputs : 0;
    if (!body || node->n_in < 1 || !in[0] || in[0]->kind != ODB_SEQUENCE ||
        odb_graph_feeds(body->graph, NULL) != (size_t)node->n_in || n_outs != (size_t)node->n_out)
        return odb_fail(err, ODB_E_OPERATOR,
                        "SequenceMap needs a sequence, and a body with as many inputs and outputs");
    struct cpu_stack *stacks = odb_new_n(struct cpu_stack, n_outs);
    struct odb_tensor **feeds = odb_new_n(struct odb_tensor *, node->n_in);
    struct odb_tensor **outs = odb_new_n(struct odb_tensor *, n_outs);
    enum odb_status status = ODB_OK;
    for (size_t turn = 0; turn < in[0]->n_items; turn++) {
        for (int i = 0; i < node->n_in; i++)
            ODB_TRY_OUT(map_feed(in, i, turn, &feeds[i], err));
        ODB_TRY_OUT(cpu_body_run(scope, index, body, turn, feeds, outs, err));
        for (size_t o = 0; o < n_outs; o++) {
            if (status == ODB_OK)
                status = cpu_stack_push(scope, &stacks[o], outs[o], err);
            else
                odb_tensor_unref(outs[o]);
        }
        if (status != ODB_OK)
            goto out;
    }
    for (size_t o = 0; o < n_outs; o++) {
        if (node->out[o] < 0)
            continue;
        ODB_TRY_OUT(
            odb_tensor_new_container(&out[o], ODB_SEQUENCE, stacks[o].items, stacks[o].n, err));
        if (!stacks[o].n)
            out[o]->dtype = cpu_declared_dtype(scope, body, o);
    }
out:
    for (size_t o = 0; o < n_outs; o++)
        cpu_stack_dispose(&stacks[o]);
    free(stacks);
    free(feeds);
    free(outs);
    return status;
}
