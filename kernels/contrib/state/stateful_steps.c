/* SPDX-License-Identifier: MIT
 *
 * Steps of operators that carry a state: pieces of sequences, and states in slots.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/contrib/state/stateful_steps.h"

/* --- steps ------------------------------------------------------------------------------------ */

const struct odb_tensor *odb_stateful_slice(struct odb_chain *c, const struct odb_tensor *t,
                                            int axis, int64_t from, int64_t to)
{
    if (!t || !odb_chain_ok(c))
        return NULL;
    return ODB_STEP(c, "Slice", 13,
                    (t, odb_chain_list(c, &from, 1), odb_chain_list(c, &to, 1),
                     odb_chain_list(c, (int64_t[]){axis}, 1)));
}

const struct odb_tensor *odb_stateful_concat(struct odb_chain *c,
                                             const struct odb_tensor *const *parts, int n, int axis)
{
    struct odb_step s = {.op = "Concat", .opset = 13, .attrs = ODB_ATTRS(ODB_ATTR_I("axis", axis))};
    memcpy(s.in, parts, (size_t)n * sizeof *parts);
    return n == 1 ? parts[0] : odb_chain_step(c, &s);
}

struct odb_tensor *odb_stateful_zeros(struct odb_chain *c, enum odb_dtype dtype, int rank,
                                      const int64_t *dims)
{
    struct odb_tensor *t = odb_chain_new(c, dtype, rank, dims);
    if (t && !c->infer && t->bytes)
        memset(t->data, 0, t->bytes);
    return t;
}

void odb_stateful_check(struct odb_chain *c, const struct odb_tensor *t, const char *what, int rank,
                        const int64_t *dims)
{
    struct odb_tensor want = {.rank = rank};
    char a[200], b[200];
    memcpy(want.dims, dims, (size_t)rank * sizeof *dims);
    if (odb_chain_ok(c) && t && !odb_tensor_same_shape(t, &want))
        ODB_CHAIN_FAIL(c, "%s has the shape %s, not %s", what, odb_shape_text(t, a, sizeof a),
                       odb_shape_text(&want, b, sizeof b));
}

int64_t odb_stateful_slots(struct odb_chain *c)
{
    int64_t slots = odb_kern_int(c->k, "state_window", 0);
    if (slots < 0 || slots > ODB_STATEFUL_MOST_SLOTS)
        ODB_CHAIN_FAIL(c, "state_window %lld is not between 0 and %d", (long long)slots,
                       ODB_STATEFUL_MOST_SLOTS);
    return slots;
}

const struct odb_tensor *odb_stateful_past(struct odb_chain *c, const struct odb_tensor *past,
                                           int64_t slots, int rank, const int64_t *dims)
{
    int64_t all[ODB_MAX_RANK] = {slots};
    memcpy(all + 1, dims, (size_t)rank * sizeof *dims);
    if (!past)
        return NULL;
    odb_stateful_check(c, past, "past_state", slots ? rank + 1 : rank, slots ? all : dims);
    if (!slots || !odb_chain_ok(c))
        return past;
    past = odb_stateful_slice(c, past, 0, slots - 1, slots);
    return odb_chain_ok(c) ? odb_chain_reshape(c, past, rank, dims) : NULL;
}

const struct odb_tensor *odb_stateful_window(struct odb_chain *c,
                                             const struct odb_tensor *const *states, int n,
                                             int64_t slots, enum odb_dtype dtype, int rank,
                                             const int64_t *dims)
{
    const struct odb_tensor *parts[ODB_STATEFUL_MOST_SLOTS + 1];
    int64_t one[ODB_MAX_RANK] = {slots - n};
    int count = 0;
    memcpy(one + 1, dims, (size_t)rank * sizeof *dims);
    if (n < slots)
        parts[count++] = odb_stateful_zeros(c, dtype, rank + 1, one);
    one[0] = 1;
    for (int i = 0; i < n && odb_chain_ok(c); i++)
        parts[count++] = odb_chain_reshape(c, states[i], rank + 1, one);
    return odb_chain_ok(c) ? odb_stateful_concat(c, parts, count, 0) : NULL;
}

const struct odb_tensor *odb_stateful_spread(struct odb_chain *c, const struct odb_tensor *t,
                                             int64_t heads, int64_t times)
{
    if (times == 1 || !odb_chain_ok(c))
        return t;
    int64_t size = t->dims[2] / heads, columns;
    if (__builtin_mul_overflow(heads * times, size, &columns)) {
        ODB_CHAIN_FAIL(c, "%lld heads of %lld are too many", (long long)(heads * times),
                       (long long)size);
        return NULL;
    }
    int64_t wide[] = {t->dims[0], t->dims[1], heads, times, size};
    t = odb_chain_reshape(c, t, 5, (int64_t[]){wide[0], wide[1], heads, 1, size});
    t = ODB_STEP(c, "Expand", 13, (t, odb_chain_list(c, wide, 5)));
    if (!odb_chain_ok(c))
        return NULL;
    return odb_chain_reshape(c, t, 3, (int64_t[]){wide[0], wide[1], columns});
}

/* --- sequences of any length in one tensor ---------------------------------------------------- */

void odb_stateful_put(struct odb_chain *c, int i, size_t at, const struct odb_tensor *t)
{
    struct odb_tensor *out = i < c->k->n_out ? c->k->out[i] : NULL;
    if (!out || !odb_chain_ok(c) || !out->dims[0] || !t->bytes)
        return;
    size_t row = out->bytes / (size_t)out->dims[0];
    memcpy((char *)out->data + at * row, t->data, t->bytes);
}
