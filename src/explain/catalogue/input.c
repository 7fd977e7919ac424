/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The family input: an operand is missing, another one, or read in another way.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explain/variant.h"
#include "model/formal.h"

/* Sets name and text to "NAME" and "as if input NAME (value) WHAT". */
static void input_say(const struct accused *s, int i, const char *how, const char *what,
                      struct variant *v)
{
    char formal[ODB_FORMAL_NAME];
    odb_formal_name(s->node, true, i, formal);
    v->at = i;
    if (formal[0])
        odb_buf_printf(&v->name, "%s%s%s", formal, how[0] ? "=" : "", how);
    else
        odb_buf_printf(&v->name, "%d%s%s", i, how[0] ? "=" : "", how);
    odb_buf_puts(&v->text, "as if ");
    accused_put_input(s, i, &v->text);
    odb_buf_printf(&v->text, " %s", what);
}

/* Whether input i is data of the node and no shape, axes or such. */
static bool input_is_data(const struct accused *s, int i)
{
    const struct odb_tensor *t = accused_in(s, i);
    uint32_t steering = odb_facts_of(s->node->domain, s->node->op_type)->steering;
    return t && t->count > 0 && t->dtype != ODB_STRING && (i >= 32 || !(steering >> i & 1));
}

/* --- missing, zero, doubled ------------------------------------------------------------------- */

static enum choice input_choose_missing(const struct accused *s, size_t k, struct variant *v)
{
    int i = s->op->min_in + (int)k;
    if (i >= s->node->n_in)
        return CHOICE_END;
    if (!s->in[i] || s->op->max_in == ODB_MANY)
        return CHOICE_SKIP;
    input_say(s, i, "missing", "were missing", v);
    return CHOICE_MADE;
}

static enum odb_status input_change_missing(const struct variant *v, const struct accused *s,
                                            struct change *c, struct odb_error *err)
{
    (void)s;
    (void)err;
    change_input(c, v->at, NULL);
    return ODB_OK;
}

/* What becomes of every element. */
static const struct input_map {
    const char *name, *text;
    double times, plus;
    bool integers; /* for those as well */
} input_maps[] =
    {
        {"0", "were 0", 0, 0, true},         {"1", "were 1", 0, 1},
        {"doubled", "counted twice", 2, 0},  {"negated", "were negated", -1, 0},
        {"+1", "were one more", 1, 1, true}, {"-1", "were one less", 1, -1, true},
},
  input_truths[] = {
      {"false", "were false everywhere", 0, 0},
      {"true", "were true everywhere", 0, 1},
};

static enum choice input_choose_map(const struct accused *s, size_t k, struct variant *v)
{
    size_t n = ODB_COUNT(input_maps);
    int i = (int)(k / n);
    const struct input_map *map = &input_maps[k % n];
    if (i >= s->node->n_in)
        return CHOICE_END;
    const struct odb_tensor *t = accused_in(s, i);
    bool whole = i == 0 && s->node->n_in == 1; /* 0, 1 or twice X alone says nothing */
    bool truth = t && t->dtype == ODB_BOOL;
    if (truth)
        map = k % n < ODB_COUNT(input_truths) ? &input_truths[k % n] : NULL;
    if (!input_is_data(s, i) || whole || !map ||
        (!odb_dtype_is_float(t->dtype) && !truth && !map->integers))
        return CHOICE_SKIP;
    input_say(s, i, map->name, map->text, v);
    v->a = map->times;
    v->b = map->plus;
    return CHOICE_MADE;
}

static double input_map(const void *payload, size_t i, double x)
{
    const struct variant *v = payload;
    (void)i;
    return (v->a != 0 ? v->a * x : 0) + v->b;
}

static enum odb_status input_change_map(const struct variant *v, const struct accused *s,
                                        struct change *c, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    (void)s;
    ODB_TRY(tensor_map(&t, c->in[v->at], input_map, v, err));
    change_input(c, v->at, t);
    return ODB_OK;
}

/* The exponent of the pattern that a fusion looks for. */
static enum choice input_choose_exponent(const struct accused *s, size_t k, struct variant *v)
{
    static const double exponents[] = {2, 0.5, 3};
    const struct odb_tensor *t = accused_in(s, 1);
    char name[24], text[32];
    if (k >= ODB_COUNT(exponents) || !t || t->count != 1)
        return CHOICE_END;
    if (odb_tensor_f64(t, 0) == exponents[k])
        return CHOICE_SKIP;
    snprintf(name, sizeof name, "%g", exponents[k]);
    snprintf(text, sizeof text, "were %g", exponents[k]);
    input_say(s, 1, name, text, v);
    v->a = 0;
    v->b = exponents[k];
    return CHOICE_MADE;
}

/* --- one for all ------------------------------------------------------------------------------ */

/* Elements along the longest axis: all of them, where there is but one that is longer than 1. */
static size_t input_longest(const struct odb_tensor *t)
{
    int64_t longest = 0;
    for (int k = 0; k < t->rank; k++)
        longest = ODB_MAX(longest, t->dims[k]);
    return (size_t)longest;
}

static enum choice input_choose_first(const struct accused *s, size_t k, struct variant *v)
{
    int i = (int)k;
    if (i >= s->node->n_in)
        return CHOICE_END;
    const struct odb_tensor *t = accused_in(s, i);
    if (!input_is_data(s, i) || i == 0 || t->count < 2 || input_longest(t) != t->count)
        return CHOICE_SKIP;
    input_say(s, i, "first for all", "had its first element everywhere", v);
    return CHOICE_MADE;
}

static int64_t input_at_first(const void *payload, size_t i)
{
    (void)payload;
    (void)i;
    return 0;
}

static enum odb_status input_change_first(const struct variant *v, const struct accused *s,
                                          struct change *c, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    (void)s;
    ODB_TRY(tensor_gather(&t, c->in[v->at], input_at_first, NULL, err));
    change_input(c, v->at, t);
    return ODB_OK;
}

/* --- broadcast otherwise ---------------------------------------------------------------------- */

/* A vector, which is broadcast along the axis that it stands on, lies along another one. Choice k:
 * input k / ODB_MAX_RANK, axis k % ODB_MAX_RANK of the output. */
static enum choice input_choose_broadcast(const struct accused *s, size_t k, struct variant *v)
{
    int i = (int)(k / ODB_MAX_RANK), axis = (int)(k % ODB_MAX_RANK);
    const struct odb_tensor *y = s->y[0];
    if (i >= ODB_MIN(s->node->n_in, 2) || !y)
        return CHOICE_END;
    const struct odb_tensor *t = accused_in(s, i);
    if (!input_is_data(s, i) || axis >= y->rank || t->rank > y->rank || t->count < 2 ||
        input_longest(t) != t->count || y->dims[axis] != (int64_t)t->count)
        return CHOICE_SKIP;
    int own = axis - (y->rank - t->rank);
    if (own >= 0 && t->dims[own] == (int64_t)t->count)
        return CHOICE_SKIP;
    v->other = axis;
    v->n = (size_t)y->rank;
    input_say(s, i, "along axis", "lay along axis", v);
    odb_buf_printf(&v->name, " %d", axis);
    odb_buf_printf(&v->text, " %d", axis);
    return CHOICE_MADE;
}

static enum odb_status input_change_broadcast(const struct variant *v, const struct accused *s,
                                              struct change *c, struct odb_error *err)
{
    const struct odb_tensor *t = c->in[v->at];
    int64_t dims[ODB_MAX_RANK];
    struct odb_tensor *shaped = NULL;
    (void)s;
    for (size_t k = 0; k < v->n; k++)
        dims[k] = (int)k == v->other ? (int64_t)t->count : 1;
    ODB_TRY(odb_tensor_reshape(&shaped, t, (int)v->n, dims, err));
    change_input(c, v->at, shaped);
    return ODB_OK;
}

/* Matrices of all batches are those of the first. */
static enum choice input_choose_batch(const struct accused *s, size_t k, struct variant *v)
{
    if (k >= (size_t)ODB_MIN(s->node->n_in, 2))
        return CHOICE_END;
    const struct odb_tensor *t = accused_in(s, (int)k);
    if (!input_is_data(s, (int)k) || t->rank < 3 ||
        t->dims[t->rank - 1] * t->dims[t->rank - 2] < 1 ||
        t->count == (size_t)(t->dims[t->rank - 1] * t->dims[t->rank - 2]))
        return CHOICE_SKIP;
    input_say(s, (int)k, "first of batch", "had its first matrix in all of the batch", v);
    return CHOICE_MADE;
}

static int64_t input_of_first_matrix(const void *payload, size_t i)
{
    const struct odb_tensor *t = payload;
    return (int64_t)(i % (size_t)(t->dims[t->rank - 1] * t->dims[t->rank - 2]));
}

static enum odb_status input_change_batch(const struct variant *v, const struct accused *s,
                                          struct change *c, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    (void)s;
    ODB_TRY(tensor_gather(&t, c->in[v->at], input_of_first_matrix, c->in[v->at], err));
    change_input(c, v->at, t);
    return ODB_OK;
}

/* --- exchanged -------------------------------------------------------------------------------- */

static enum choice input_choose_exchanged(const struct accused *s, size_t k, struct variant *v)
{
    int n = ODB_MIN(s->node->n_in, 8), i = (int)(k / 8), j = (int)(k % 8);
    if (i >= n)
        return CHOICE_END;
    const struct odb_tensor *a = j > i && j < n ? accused_in(s, i) : NULL;
    const struct odb_tensor *b = a ? accused_in(s, j) : NULL;
    if (!b || a->dtype != b->dtype || odb_tensor_identical(a, b) ||
        (a->count != b->count && s->op->max_in != 2))
        return CHOICE_SKIP;
    char formal[ODB_FORMAL_NAME];
    v->at = i;
    v->other = j;
    odb_buf_printf(&v->name, "exchanged=%s", odb_formal_name(s->node, true, i, formal));
    odb_buf_printf(&v->name, ",%s", odb_formal_name(s->node, true, j, formal));
    odb_buf_puts(&v->text, "as if ");
    accused_put_input(s, i, &v->text);
    odb_buf_puts(&v->text, " and ");
    accused_put_input(s, j, &v->text);
    odb_buf_puts(&v->text, " were exchanged");
    return CHOICE_MADE;
}

static enum odb_status input_change_exchanged(const struct variant *v, const struct accused *s,
                                              struct change *c, struct odb_error *err)
{
    const struct odb_tensor *a = c->in[v->at];
    (void)s;
    (void)err;
    c->in[v->at] = c->in[v->other];
    c->in[v->other] = a;
    return ODB_OK;
}

/* --- read in another order -------------------------------------------------------------------- */

/* Orders of axes in memory that a tensor of this rank may be taken for. */
static const struct input_order {
    int rank;
    int perm[4];
    const char *name;
} input_orders[] = {
    {2, {1, 0}, "column-major"},      {3, {0, 2, 1}, "NWC"},
    {4, {0, 2, 3, 1}, "NHWC"},        {4, {2, 3, 1, 0}, "HWIO"},
    {4, {1, 0, 2, 3}, "IOHW"},        {4, {0, 1, 3, 2}, "last axes column-major"},
    {3, {1, 0, 2}, "time and batch"},
};

static enum choice input_choose_order(const struct accused *s, size_t k, struct variant *v)
{
    size_t n = ODB_COUNT(input_orders);
    int i = (int)(k / n);
    const struct input_order *order = &input_orders[k % n];
    if (i >= s->node->n_in)
        return CHOICE_END;
    const struct odb_tensor *t = accused_in(s, i);
    if (!input_is_data(s, i) || t->rank != order->rank || t->count < 2)
        return CHOICE_SKIP;
    input_say(s, i, order->name, "were read as ", v);
    odb_buf_puts(&v->text, order->name);
    v->other = (int)(k % n);
    return CHOICE_MADE;
}

static enum odb_status input_change_order(const struct variant *v, const struct accused *s,
                                          struct change *c, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    (void)s;
    ODB_TRY(tensor_misread(&t, c->in[v->at], input_orders[v->other].perm, err));
    change_input(c, v->at, t);
    return ODB_OK;
}

/* Transposed where both axes are as long, which keeps the shape. */
static enum choice input_choose_transposed(const struct accused *s, size_t k, struct variant *v)
{
    int i = (int)(k / 2), first = k % 2;
    if (i >= s->node->n_in)
        return CHOICE_END;
    const struct odb_tensor *t = accused_in(s, i);
    if (!input_is_data(s, i) || t->rank < 2 || (first && t->rank == 2))
        return CHOICE_SKIP;
    v->other = first ? 0 : t->rank - 2;
    if (t->dims[v->other] != t->dims[v->other + 1] || t->dims[v->other] < 2)
        return CHOICE_SKIP;
    input_say(s, i, first ? "first axes exchanged" : "transposed",
              first ? "had its first two axes exchanged" : "had its last two axes exchanged", v);
    return CHOICE_MADE;
}

static enum odb_status input_change_transposed(const struct variant *v, const struct accused *s,
                                               struct change *c, struct odb_error *err)
{
    int perm[ODB_MAX_RANK];
    struct odb_tensor *t = NULL;
    (void)s;
    for (int k = 0; k < c->in[v->at]->rank; k++)
        perm[k] = k;
    perm[v->other] = v->other + 1;
    perm[v->other + 1] = v->other;
    ODB_TRY(tensor_transpose(&t, c->in[v->at], perm, err));
    change_input(c, v->at, t);
    return ODB_OK;
}

/* --- moved along an axis ---------------------------------------------------------------------- */

/* Where an element comes from when an axis is read in another order. */
struct input_along {
    size_t n, inner;
    const struct variant *v;
};

enum { ALONG_ROLLED, ALONG_ROLLED_BACK, ALONG_REVERSED };
static const char *const input_along_names[] = {"rolled by 1", "rolled by -1", "reversed"};

static int64_t input_from_along(const void *payload, size_t i)
{
    const struct input_along *a = payload;
    size_t at = i / a->inner % a->n, base = i - at * a->inner, from = at;
    if (a->v->other == ALONG_ROLLED)
        from = (at + a->n - 1) % a->n;
    else if (a->v->other == ALONG_ROLLED_BACK)
        from = (at + 1) % a->n;
    else
        from = a->n - 1 - at;
    return (int64_t)(base + from * a->inner);
}

static enum choice input_choose_along(const struct accused *s, size_t k, struct variant *v)
{
    int axes = 4, how = (int)(k % 3), axis = (int)(k / 3) % axes, i = (int)(k / 3) / axes;
    if (i >= ODB_MIN(s->node->n_in, 6))
        return CHOICE_END;
    const struct odb_tensor *t = accused_in(s, i);
    if (!input_is_data(s, i) || axis >= t->rank || t->dims[axis] < 2 ||
        (how == ALONG_ROLLED_BACK && t->dims[axis] == 2))
        return CHOICE_SKIP;
    input_say(s, i, input_along_names[how], "were ", v);
    odb_buf_printf(&v->name, ",axis=%d", axis);
    odb_buf_printf(&v->text, "%s along axis %d", input_along_names[how], axis);
    v->other = how;
    v->a = axis;
    return CHOICE_MADE;
}

static enum odb_status input_change_along(const struct variant *v, const struct accused *s,
                                          struct change *c, struct odb_error *err)
{
    struct input_along a = {.v = v};
    struct odb_tensor *t = NULL;
    size_t outer;
    (void)s;
    if (c->in[v->at]->rank <= (int)v->a)
        return ODB_SKIPPED;
    tensor_around(c->in[v->at], (int)v->a, &outer, &a.n, &a.inner);
    ODB_TRY(tensor_gather(&t, c->in[v->at], input_from_along, &a, err));
    change_input(c, v->at, t);
    return ODB_OK;
}

/* Taps of a kernel are turned round. */
static int64_t input_from_flipped(const void *payload, size_t i)
{
    const size_t *window = payload;
    return (int64_t)(i - i % *window + *window - 1 - i % *window);
}

static enum choice input_choose_flipped(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *t = accused_in(s, 1);
    if (k || !t || t->rank < 3 || t->count == (size_t)(t->dims[0] * t->dims[1]))
        return CHOICE_END;
    input_say(s, 1, "flipped", "had its kernel turned round", v);
    return CHOICE_MADE;
}

static enum odb_status input_change_flipped(const struct variant *v, const struct accused *s,
                                            struct change *c, struct odb_error *err)
{
    const struct odb_tensor *w = c->in[v->at];
    size_t window = w->count / (size_t)(w->dims[0] * w->dims[1]);
    struct odb_tensor *t = NULL;
    (void)s;
    ODB_TRY(tensor_gather(&t, w, input_from_flipped, &window, err));
    change_input(c, v->at, t);
    return ODB_OK;
}

/* --- gates ------------------------------------------------------------------------------------ */

#define GATES_MOST 4

/* Permutation k of n things, in the order of the alphabet, from 0 (none moves); false: no more. */
static bool input_permutation(size_t k, size_t n, int64_t *out)
{
    size_t all = 1;
    bool used[GATES_MOST] = {false};
    for (size_t i = 2; i <= n; i++)
        all *= i;
    if (k >= all)
        return false;
    for (size_t i = 0; i < n; i++) {
        all /= n - i;
        size_t nth = k / all, g = 0;
        k %= all;
        for (; used[g] || nth; g++)
            nth -= !used[g];
        used[g] = true;
        out[i] = (int64_t)g;
    }
    return true;
}

static enum choice input_choose_gates(const struct accused *s, size_t k, struct variant *v)
{
    bool lstm = !strcmp(s->node->op_type, "LSTM");
    v->n = lstm ? 4 : 3;
    if (!input_permutation(k + 1, v->n, v->ints))
        return CHOICE_END;
    odb_buf_puts(&v->text, "as if the gates were in the order ");
    for (size_t g = 0; g < v->n; g++) {
        odb_buf_putc(&v->name, (lstm ? "iofc" : "zrh")[v->ints[g]]);
        odb_buf_putc(&v->text, (lstm ? "iofc" : "zrh")[v->ints[g]]);
    }
    return CHOICE_MADE;
}

struct input_gates {
    const struct variant *v;
    size_t gate, all; /* elements of a gate, and of what holds all gates */
};

static int64_t input_from_gates(const void *payload, size_t i)
{
    const struct input_gates *g = payload;
    size_t in = i % g->all;
    return (int64_t)(i - in + (size_t)g->v->ints[in / g->gate] * g->gate + in % g->gate);
}

static enum odb_status input_change_gates(const struct variant *v, const struct accused *s,
                                          struct change *c, struct odb_error *err)
{
    (void)s;
    for (int i = 1; i < 4 && i < c->call->n_in; i++) {
        const struct odb_tensor *w = c->in[i];
        struct odb_tensor *t = NULL;
        if (!w)
            continue;
        struct input_gates g = {.v = v};
        size_t rest = i < 3 ? (size_t)w->dims[2] : 1;
        size_t rows = (size_t)w->dims[1] / (i == 3 ? 2 : 1); /* B has those of W, then of R */
        g.gate = rows / v->n * rest;
        g.all = rows * rest;
        ODB_TRY(tensor_gather(&t, w, input_from_gates, &g, err));
        change_input(c, i, t);
    }
    return ODB_OK;
}

/* --- states and biases of cells --------------------------------------------------------------- */

static const struct input_cell {
    const char *ops, *name, *text;
    int input;        /* whose half is 0 */
    int from, to, of; /* this part of its rows */
} input_cells[] = {
    {"RNN|GRU|LSTM", "B=without Rb", "as if the second half of input B, which goes with R, were 0",
     3, 1, 2, 2},
    {"RNN|GRU|LSTM", "B=without Wb", "as if the first half of input B, which goes with W, were 0",
     3, 0, 1, 2},
};

static enum choice input_choose_cell(const struct accused *s, size_t k, struct variant *v)
{
    if (k >= ODB_COUNT(input_cells))
        return CHOICE_END;
    const struct input_cell *cell = &input_cells[k];
    if (!variant_is_for(cell->ops, s->node->op_type) || !accused_in(s, cell->input))
        return CHOICE_SKIP;
    return variant_made(v, k, cell->name, cell->text);
}

/* Inputs that hold one state: either both are there or none is. */
static const struct input_state {
    const char *first, *second, *name, *text;
} input_states[] = {
    {"initial_h", "initial_c", "states=0", "as if initial_h and initial_c were both missing"},
    {"past_key", "past_value", "past=missing", "as if past_key and past_value were both missing"},
};

/* The input of this formal name, where the node has it; -1: it has not. */
static int input_named(const struct accused *s, const char *name)
{
    char formal[ODB_FORMAL_NAME];
    for (int i = 0; i < s->node->n_in; i++) {
        odb_formal_name(s->node, true, i, formal);
        if (strcmp(formal, name) == 0 && accused_in(s, i))
            return i;
    }
    return -1;
}

static enum choice input_choose_state(const struct accused *s, size_t k, struct variant *v)
{
    if (k >= ODB_COUNT(input_states))
        return CHOICE_END;
    const struct input_state *state = &input_states[k];
    if (input_named(s, state->first) < 0 || input_named(s, state->second) < 0)
        return CHOICE_SKIP;
    return variant_made(v, k, state->name, state->text);
}

static enum odb_status input_change_state(const struct variant *v, const struct accused *s,
                                          struct change *c, struct odb_error *err)
{
    const struct input_state *state = &input_states[v->at];
    (void)err;
    change_input(c, input_named(s, state->second), NULL);
    change_input(c, input_named(s, state->first), NULL);
    return ODB_OK;
}

struct input_part {
    size_t row, from, to; /* elements of a direction, and those of it that are 0 */
};

static double input_without_part(const void *payload, size_t i, double x)
{
    const struct input_part *p = payload;
    size_t at = i % p->row;
    return at >= p->from && at < p->to ? 0 : x;
}

static enum odb_status input_change_cell(const struct variant *v, const struct accused *s,
                                         struct change *c, struct odb_error *err)
{
    const struct input_cell *cell = &input_cells[v->at];
    struct odb_tensor *t = NULL;
    (void)s;
    size_t row = (size_t)c->in[cell->input]->dims[1], part = row / (size_t)cell->of;
    struct input_part p = {row, part * (size_t)cell->from, part * (size_t)cell->to};
    ODB_TRY(tensor_map(&t, c->in[cell->input], input_without_part, &p, err));
    change_input(c, cell->input, t);
    return ODB_OK;
}

/* --- statistics ------------------------------------------------------------------------------- */

enum { INPUT_MEAN = 3, INPUT_VARIANCE = 4 };

static enum choice input_choose_statistics(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *x = accused_in(s, 0), *mean = accused_in(s, INPUT_MEAN);
    if (k || !x || x->rank < 2 || !mean || !accused_in(s, INPUT_VARIANCE) ||
        mean->count != (size_t)x->dims[1] || x->count <= mean->count)
        return CHOICE_END;
    odb_buf_puts(&v->name, "of the batch");
    odb_buf_puts(&v->text, "as if mean and variance were those of input X, as in training");
    return CHOICE_MADE;
}

/* Sums over all of a channel but itself: of x, or of the squares of x less its mean. */
static void input_channel_sums(const struct odb_tensor *x, const double *mean, double *out)
{
    size_t outer, n, inner;
    tensor_around(x, 1, &outer, &n, &inner);
    for (size_t i = 0; i < x->count; i++) {
        size_t c = i / inner % n;
        double d = odb_tensor_f64(x, i) - (mean ? mean[c] : 0);
        out[c] += (mean ? d * d : d) / (double)(outer * inner);
    }
}

static enum odb_status input_change_statistics(const struct variant *v, const struct accused *s,
                                               struct change *c, struct odb_error *err)
{
    const struct odb_tensor *x = c->in[0];
    size_t n = (size_t)x->dims[1];
    double *sums[2] = {odb_new_n(double, n), odb_new_n(double, n)};
    enum odb_status status = ODB_OK;
    (void)v;
    (void)s;
    input_channel_sums(x, NULL, sums[0]);
    input_channel_sums(x, sums[0], sums[1]);
    for (int k = 0; k < 2 && status == ODB_OK; k++) {
        struct odb_tensor *t = NULL;
        status = odb_tensor_clone(&t, c->in[INPUT_MEAN + k], err);
        for (size_t i = 0; i < n && status == ODB_OK; i++)
            odb_store_f64(t->dtype, t->data, i, sums[k][i]);
        if (status == ODB_OK)
            change_input(c, INPUT_MEAN + k, t);
    }
    free(sums[0]);
    free(sums[1]);
    return status;
}

/* --- indices ---------------------------------------------------------------------------------- */

static enum choice input_choose_indices(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *t = accused_in(s, 1);
    if (k || !t || !odb_dtype_is_integer(t->dtype))
        return CHOICE_END;
    input_say(s, 1, "negative as 0", "had 0 for its negative elements", v);
    return CHOICE_MADE;
}

static double input_not_negative(const void *payload, size_t i, double x)
{
    (void)payload;
    (void)i;
    return x < 0 ? 0 : x;
}

static enum odb_status input_change_indices(const struct variant *v, const struct accused *s,
                                            struct change *c, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    (void)s;
    ODB_TRY(tensor_map(&t, c->in[v->at], input_not_negative, NULL, err));
    change_input(c, v->at, t);
    return ODB_OK;
}

/* Indices, or both ends of a slice, are one off. */
static const struct input_off {
    const char *ops, *name, *text;
    int from, to; /* inputs */
    double by;
    bool around; /* the end of the axis */
} input_offs[] = {
    {"Gather", "indices=+1 around", "as if all indices were one more, round the end", 1, 2, 1,
     true},
    {"Gather", "indices=-1 around", "as if all indices were one less, round the end", 1, 2, -1,
     true},
    {"Slice", "starts, ends=+1", "as if it began and ended one further", 1, 3, 1},
    {"Slice", "starts, ends=-1", "as if it began and ended one earlier", 1, 3, -1, false},
};

static enum choice input_choose_off(const struct accused *s, size_t k, struct variant *v)
{
    if (k >= ODB_COUNT(input_offs))
        return CHOICE_END;
    const struct input_off *off = &input_offs[k];
    if (!variant_is_for(off->ops, s->node->op_type))
        return CHOICE_SKIP;
    for (int i = off->from; i < off->to; i++)
        if (!accused_in(s, i) || !odb_dtype_is_integer(accused_in(s, i)->dtype))
            return CHOICE_SKIP;
    return variant_made(v, k, off->name, off->text);
}

struct input_around {
    double by, n; /* n: length of the axis; 0: nothing goes round its end */
};

static double input_off(const void *payload, size_t i, double x)
{
    const struct input_around *a = payload;
    (void)i;
    if (a->n > 0)
        return fmod((x < 0 ? x + a->n : x) + a->by + a->n, a->n);
    return fabs(x) > 1 << 30 ? x : x + a->by; /* as far as there is */
}

static enum odb_status input_change_off(const struct variant *v, const struct accused *s,
                                        struct change *c, struct odb_error *err)
{
    const struct input_off *off = &input_offs[v->at];
    const struct odb_tensor *x = c->in[0];
    int64_t axis = accused_int(s, "axis", 0);
    axis += axis < 0 ? x->rank : 0;
    if (axis < 0 || axis >= x->rank)
        return ODB_SKIPPED;
    struct input_around around = {off->by, off->around ? (double)x->dims[axis] : 0};
    for (int i = off->from; i < off->to; i++) {
        struct odb_tensor *t = NULL;
        ODB_TRY(tensor_map(&t, c->in[i], input_off, &around, err));
        change_input(c, i, t);
    }
    return ODB_OK;
}

/* --- channels past a tile --------------------------------------------------------------------- */

static const size_t input_tiles[] = {4, 8, 16, 32};

static enum choice input_choose_tail(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *x = accused_in(s, 0);
    if (k >= ODB_COUNT(input_tiles) || !x || x->rank < 3)
        return CHOICE_END;
    size_t n = (size_t)x->dims[1], tail = n % input_tiles[k];
    for (size_t j = 0; j < k; j++)
        if (n % input_tiles[j] == tail) /* a smaller tile says the same */
            return CHOICE_SKIP;
    if (!tail || n == tail)
        return CHOICE_SKIP;
    v->n = n - tail;
    odb_buf_printf(&v->name, "%zu", input_tiles[k]);
    odb_buf_printf(&v->text,
                   "as if the last %zu of %zu channels of X, past a multiple of %zu, were 0", tail,
                   n, input_tiles[k]);
    return CHOICE_MADE;
}

static int64_t input_before_tail(const void *payload, size_t i)
{
    const struct input_along *a = payload;
    return i / a->inner % a->n < a->v->n ? (int64_t)i : -1;
}

static enum odb_status input_change_tail(const struct variant *v, const struct accused *s,
                                         struct change *c, struct odb_error *err)
{
    struct input_along a = {.v = v};
    struct odb_tensor *t = NULL;
    size_t outer;
    (void)s;
    tensor_around(c->in[0], 1, &outer, &a.n, &a.inner);
    ODB_TRY(tensor_gather(&t, c->in[0], input_before_tail, &a, err));
    change_input(c, 0, t);
    return ODB_OK;
}

/* --- signs of eight bits ---------------------------------------------------------------------- */

/* The inputs that hold the zero points of others. */
static const struct input_zero_point {
    const char *ops;
    int of, at;
} input_zero_points[] = {
    {"DequantizeLinear|MatMulInteger|ConvInteger|QLinearConv|QLinearMatMul", 0, 2},
    {"MatMulInteger|ConvInteger", 1, 3},
    {"QLinearConv|QLinearMatMul", 3, 5},
};

/* The zero point of input i; NULL: it has none here. */
static const struct odb_tensor *input_zero_of(const struct accused *s, int i, int *at)
{
    for (size_t k = 0; k < ODB_COUNT(input_zero_points); k++)
        if (input_zero_points[k].of == i &&
            variant_is_for(input_zero_points[k].ops, s->node->op_type)) {
            *at = input_zero_points[k].at;
            return accused_in(s, *at);
        }
    return NULL;
}

/* Choice 2 i is input i alone, 2 i + 1 with its zero point. */
static enum choice input_choose_signs(const struct accused *s, size_t k, struct variant *v)
{
    int i = (int)(k / 2);
    if (i >= s->node->n_in)
        return CHOICE_END;
    const struct odb_tensor *t = accused_in(s, i), *zero = input_zero_of(s, i, &v->other);
    bool both = k % 2;
    if (!t || (t->dtype != ODB_U8 && t->dtype != ODB_I8) || (both && !zero))
        return CHOICE_SKIP;
    v->dtype = t->dtype == ODB_U8 ? ODB_I8 : ODB_U8;
    v->n = both ? 2 : 1;
    input_say(s, i, odb_dtype_info(v->dtype)->name, "", v);
    odb_buf_printf(&v->name, "%s", both ? ", zero point too" : "");
    odb_buf_printf(&v->text, "%swere read as %s", both ? "and its zero point " : "",
                   odb_dtype_info(v->dtype)->name);
    return CHOICE_MADE;
}

static enum odb_status input_change_signs(const struct variant *v, const struct accused *s,
                                          struct change *c, struct odb_error *err)
{
    (void)s;
    for (size_t k = 0; k < v->n; k++) {
        int i = k ? v->other : v->at;
        const struct odb_tensor *t = c->in[i];
        struct odb_tensor *other = NULL;
        ODB_TRY(odb_tensor_copy_of(&other, v->dtype, t->rank, t->dims, t->data, err));
        change_input(c, i, other);
    }
    return ODB_OK;
}

/* --- halves of bytes -------------------------------------------------------------------------- */

static double input_exchange_nibbles(const void *payload, size_t i, double x)
{
    unsigned byte = (unsigned)x;
    (void)payload;
    (void)i;
    return (byte << 4 | byte >> 4) & 0xff;
}

static double input_sign_nibbles(const void *payload, size_t i, double x)
{
    (void)payload;
    (void)i;
    return (unsigned)x ^ 0x88u;
}

static const struct input_nibbles {
    const char *name, *text;
    double (*fn)(const void *payload, size_t i, double x);
} input_nibbles[] = {
    {"nibbles exchanged", "had the two halves of each byte exchanged", input_exchange_nibbles},
    {"nibbles signed", "had halves of bytes in two's complement", input_sign_nibbles},
};

/* Where matrices of a few bits lie, and the scales and zero points of each; the last row is empty.
 * A target reads all of an operator's in one way. */
static const struct input_packed {
    const char *op, *bits;
    int weights[4], scales[4], zeros[4], n;
} input_packed[] = {
    {"MatMulNBits", "bits", {1}, {2}, {3}, 1},
    {"QMoE", "expert_weight_bits", {2, 5, 8}, {3, 6, 9}, {11, 12, 13}, 3},
    {"MatMulNBitsMlp", "bits", {3, 6}, {4, 7}, {-1, -1}, 2},
    {"MatMulNBitsQkv", "bits", {3, 6, 9}, {4, 7, 10}, {-1, -1, -1}, 3},
    {NULL, NULL, {0}, {0}, {0}, 0},
};

static const struct input_packed *input_packed_of(const struct accused *s)
{
    const struct input_packed *p = input_packed;
    while (p->op && strcmp(p->op, s->node->op_type) != 0)
        p++;
    return p;
}

static enum choice input_choose_nibbles(const struct accused *s, size_t k, struct variant *v)
{
    const struct input_packed *p = input_packed_of(s);
    const struct odb_tensor *t = p->op ? accused_in(s, p->weights[0]) : NULL;
    if (k >= ODB_COUNT(input_nibbles) || !t || t->dtype != ODB_U8 ||
        accused_int(s, p->bits, 4) != 4)
        return CHOICE_END;
    if (p->n == 1) {
        input_say(s, p->weights[0], input_nibbles[k].name, input_nibbles[k].text, v);
    } else {
        odb_buf_printf(&v->name, "weights=%s", input_nibbles[k].name);
        odb_buf_printf(&v->text, "as if the matrices %s", input_nibbles[k].text);
    }
    v->at = (int)k;
    return CHOICE_MADE;
}

static enum odb_status input_change_nibbles(const struct variant *v, const struct accused *s,
                                            struct change *c, struct odb_error *err)
{
    const struct input_packed *p = input_packed_of(s);
    for (int i = 0; i < p->n; i++) {
        struct odb_tensor *t = NULL;
        if (!accused_in(s, p->weights[i]))
            continue;
        ODB_TRY(tensor_map(&t, c->in[p->weights[i]], input_nibbles[v->at].fn, NULL, err));
        change_input(c, p->weights[i], t);
    }
    return ODB_OK;
}

/* Zero points that are left out count as 0, and not as the middle of the codes. */
static enum choice input_choose_zeros(const struct accused *s, size_t k, struct variant *v)
{
    const struct input_packed *p = input_packed_of(s);
    if (k || !p->op || p->zeros[0] < 0 || accused_in(s, p->zeros[0]) ||
        !accused_in(s, p->scales[0]))
        return CHOICE_END;
    odb_buf_puts(&v->name, "zero points=0");
    odb_buf_puts(&v->text, "as if zero points that are left out were 0");
    return CHOICE_MADE;
}

/* Zero points lie as scales do, in the bits of the codes; of one scale a row, along the rows. */
static enum odb_status input_change_zeros(const struct variant *v, const struct accused *s,
                                          struct change *c, struct odb_error *err)
{
    const struct input_packed *p = input_packed_of(s);
    int64_t each = 8 / accused_int(s, p->bits, 4), block = accused_int(s, "block_size", 0);
    (void)v;
    for (int i = 0; i < p->n && each > 0; i++) {
        const struct odb_tensor *scales = accused_in(s, p->scales[i]);
        const struct odb_tensor *weights = accused_in(s, p->weights[i]);
        struct odb_tensor *t = NULL;
        if (!scales || !weights || !block != (scales->rank == 2 && weights->rank == 3 && p->n > 1))
            continue;
        int64_t dims[ODB_MAX_RANK];
        int rank = scales->rank;
        odb_tensor_copy_dims(dims, scales);
        if (p->n == 1) { /* [rows, blocks], whether scales say so or not */
            rank = 1;
            dims[0] = weights->dims[0] * ((weights->dims[1] + each - 1) / each);
        } else {
            dims[rank - 1] = (dims[rank - 1] + each - 1) / each;
        }
        ODB_TRY(odb_tensor_new(&t, ODB_U8, rank, dims, err));
        change_input(c, p->zeros[i], t);
    }
    return ODB_OK;
}

/* --- a gate ----------------------------------------------------------------------------------- */

/* Models differ in whether the gate scales what is normalised or what comes of it. */
static enum choice input_choose_gate(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *x = accused_in(s, 0), *gate = accused_in(s, 2);
    if (k || !x || !gate || !odb_tensor_same_shape(x, gate))
        return CHOICE_END;
    odb_buf_puts(&v->name, "gate=before the norm");
    odb_buf_puts(&v->text, "as if the gate scaled X, before it is normalised");
    return CHOICE_MADE;
}

static double input_gated(const void *payload, size_t i, double x)
{
    double gate = odb_tensor_f64(payload, i);
    return x * gate / (1 + exp(-gate));
}

#define INPUT_OPEN 1.2784645427610738 /* whose SiLU is 1 */

static double input_open(const void *payload, size_t i, double x)
{
    (void)payload, (void)i, (void)x;
    return INPUT_OPEN;
}

static enum odb_status input_change_gate(const struct variant *v, const struct accused *s,
                                         struct change *c, struct odb_error *err)
{
    struct odb_tensor *x = NULL, *gate = NULL;
    (void)v, (void)s;
    ODB_TRY(tensor_map(&x, c->in[0], input_gated, c->in[2], err));
    ODB_TRY(tensor_map(&gate, c->in[2], input_open, NULL, err));
    change_input(c, 0, x);
    change_input(c, 2, gate);
    return ODB_OK;
}

/* --- another weight --------------------------------------------------------------------------- */

/* Value number k, counted over the weights of the model that look like one of the node's. */
static enum choice input_choose_weight(const struct accused *s, size_t k, struct variant *v)
{
    for (int i = 0; i < s->node->n_in; i++) {
        int own = s->node->in[i];
        const struct odb_tensor *t = own < 0 ? NULL : s->graph->values[own].init;
        for (size_t w = 0; t && t->count > 1 && w < s->graph->n_values; w++) {
            const struct odb_value *value = &s->graph->values[w];
            if (!value->init || (int)w == own || value->init->dtype != t->dtype ||
                !odb_tensor_same_shape(value->init, t) || k--)
                continue;
            char key[512];
            input_say(s, i, "", "were the weight ", v);
            odb_value_key(s->graph, value, key, sizeof key);
            odb_buf_printf(&v->name, "=weight:%s", key);
            odb_buf_put_shown(&v->text, key);
            v->other = (int)w;
            return CHOICE_MADE;
        }
    }
    return CHOICE_END;
}

static enum odb_status input_change_weight(const struct variant *v, const struct accused *s,
                                           struct change *c, struct odb_error *err)
{
    (void)err;
    change_input(c, v->at, odb_tensor_ref(s->graph->values[v->other].init));
    return ODB_OK;
}

#define BROADCASTS                                                                                 \
    "Add|Sub|Mul|Div|Pow|Mod|PRelu|Max|Min|Less|Greater|LessOrEqual|GreaterOrEqual|Equal|And|Or|"  \
    "Xor"
#define ARITHMETIC                                                                                 \
    "Sub|Div|Mod|Pow|MatMul|Gemm|BatchNormalization|Where|Less|Greater|BitShift|"                  \
    "LessOrEqual|GreaterOrEqual|Attention|MultiHeadAttention|GridSample|PRelu|"                    \
    "GroupQueryAttention|FusedMatMul|LSTM|InstanceNormalization|LayerNormalization|Concat"

#define INPUT_PACKED "MatMulNBits|QMoE|MatMulNBitsMlp|MatMulNBitsQkv"

const struct variant_row variants_input[] = {
    {"", "input/", input_choose_missing, input_change_missing, NULL, false, 0},
    {"LSTM|GRU", "input/gates=", input_choose_gates, input_change_gates, NULL, false, 0},
    {"RNN|LSTM|GRU", "input/", input_choose_cell, input_change_cell, NULL, false, 0},
    {"Pow", "input/", input_choose_exponent, input_change_map, NULL, false, 0},
    {"", "input/", input_choose_state, input_change_state, NULL, false, 0},
    {"BatchNormalization", "input/statistics=", input_choose_statistics, input_change_statistics,
     NULL, false, 0},
    {"", "input/", input_choose_first, input_change_first, NULL, false, 0},
    {BROADCASTS, "input/", input_choose_broadcast, input_change_broadcast, NULL, false, 0},
    {"MatMul|FusedMatMul|MatMulInteger|QLinearMatMul", "input/", input_choose_batch,
     input_change_batch, NULL, false, 0},
    {ARITHMETIC, "input/", input_choose_exchanged, input_change_exchanged, NULL, false, 0},
    {"Gather|GatherElements|GatherND|ScatterElements|ScatterND|OneHot", "input/",
     input_choose_indices, input_change_indices, NULL, false, 0},
    {"Gather|Slice", "input/", input_choose_off, input_change_off, NULL, false, 0},
    {"Conv|ConvTranspose", "input/X=tail of ", input_choose_tail, input_change_tail, NULL, false,
     0},
    {"", "input/", input_choose_signs, input_change_signs, NULL, false, 0},
    {INPUT_PACKED, "input/", input_choose_nibbles, input_change_nibbles, NULL, false, 0},
    {INPUT_PACKED, "input/", input_choose_zeros, input_change_zeros, NULL, false, 0},
    {"GatedRMSNorm", "input/", input_choose_gate, input_change_gate, NULL, false, 0},
    {"Conv|ConvTranspose", "input/", input_choose_flipped, input_change_flipped, NULL, false, 0},
    {.ops = "",
     .name = "input/",
     .choose = input_choose_transposed,
     .change = input_change_transposed,
     .order = true},
    {.ops = "",
     .name = "input/",
     .choose = input_choose_order,
     .change = input_change_order,
     .order = true},
    {"", "input/", input_choose_map, input_change_map, NULL, false, 0},
    {.ops = "",
     .name = "input/",
     .choose = input_choose_along,
     .change = input_change_along,
     .order = true},
    {.ops = "",
     .name = "input/",
     .choose = input_choose_weight,
     .change = input_change_weight,
     .order = true},
    {NULL, NULL, NULL, NULL, NULL, false, 0},
};
