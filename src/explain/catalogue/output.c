/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The family output: what the reference made, scaled, moved, cut off or in another order. These
 * need no knowledge of the operator. Numbers and permutations are fitted to the target's output
 * here, and kept for the trial on other inputs.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explain/catalogue/nans.h"
#include "explain/variant.h"

/* The output that rows of this family change: that which shows the error most. */
static bool output_pair(const struct accused *s, int *o, const odb_f64 **y,
                        const struct odb_tensor **r)
{
    *o = s->shown;
    if (*o < 0 || !s->r[*o] || !odb_tensor_same_shape(s->y[*o], s->r[*o]) || s->y[*o]->count < 2)
        return false;
    *y = s->target.wide[*o]->data;
    *r = s->r[*o];
    return true;
}

/* That output as the call has made it; NULL: it has not. */
static struct odb_tensor *output_made(const struct accused *s, struct odb_tensor *const *out)
{
    return s->shown < 0 ? NULL : out[s->shown];
}

static enum odb_status output_map(const struct accused *s, struct odb_tensor **out,
                                  double (*fn)(const void *, size_t, double), const void *payload,
                                  struct odb_error *err)
{
    struct odb_tensor *made = output_made(s, out), *t = NULL;
    if (!made)
        return ODB_SKIPPED;
    ODB_TRY(tensor_map(&t, made, fn, payload, err));
    tensor_replace(&out[s->shown], t);
    return ODB_OK;
}

static enum odb_status output_gather(const struct accused *s, struct odb_tensor **out,
                                     int64_t (*from)(const void *, size_t), const void *payload,
                                     struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    ODB_TRY(tensor_gather(&t, output_made(s, out), from, payload, err));
    tensor_replace(&out[s->shown], t);
    return ODB_OK;
}

/* --- in another shape ------------------------------------------------------------------------- */

/* The numbers are right. */
static enum choice output_choose_shape(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *y = s->shown < 0 ? NULL : s->y[s->shown];
    const struct odb_tensor *r = y ? s->r[s->shown] : NULL;
    char shapes[2][200];
    if (k || !r || y->count != r->count || y->dtype != r->dtype || odb_tensor_same_shape(y, r))
        return CHOICE_END;
    odb_buf_printf(&v->text, "as if its shape were %s and not %s",
                   odb_shape_text(y, shapes[0], sizeof shapes[0]),
                   odb_shape_text(r, shapes[1], sizeof shapes[1]));
    return CHOICE_MADE;
}

static enum odb_status output_result_shape(const struct variant *v, const struct accused *s,
                                           struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *y = s->y[s->shown];
    struct odb_tensor *made = output_made(s, out), *t = NULL;
    (void)v;
    if (!made || made->count != y->count)
        return ODB_SKIPPED;
    ODB_TRY(odb_tensor_reshape(&t, made, y->rank, y->dims, err));
    tensor_replace(&out[s->shown], t);
    return ODB_OK;
}

/* --- scaled and moved ------------------------------------------------------------------------- */

/* Sums for a least-squares line through (r, y). */
struct output_sums {
    double n, r, y, rr, ry;
};

static void output_add(struct output_sums *sums, double r, double y)
{
    if (!isfinite(r) || !isfinite(y))
        return;
    sums->n += 1;
    sums->r += r;
    sums->y += y;
    sums->rr += r * r;
    sums->ry += r * y;
}

enum output_line { LINE_SCALE, LINE_OFFSET, LINE_BOTH };

/* y = a r + b. */
static void output_fit(const struct output_sums *sums, enum output_line line, double *a, double *b)
{
    double det = sums->n * sums->rr - sums->r * sums->r;
    *a = 1;
    *b = 0;
    if (line == LINE_SCALE && sums->rr > 0)
        *a = sums->ry / sums->rr;
    if (line == LINE_OFFSET && sums->n > 0)
        *b = (sums->y - sums->r) / sums->n;
    if (line == LINE_BOTH && det > 0) {
        *a = (sums->n * sums->ry - sums->r * sums->y) / det;
        *b = (sums->y - *a * sums->r) / sums->n;
    }
}

static enum choice output_choose_line(const struct accused *s, size_t k, struct variant *v)
{
    const odb_f64 *y;
    const struct odb_tensor *r;
    struct output_sums sums = {0};
    int o;
    if (k > LINE_BOTH || !output_pair(s, &o, &y, &r) || !odb_dtype_is_float(r->dtype))
        return CHOICE_END;
    for (size_t i = 0; i < r->count; i++)
        output_add(&sums, odb_tensor_f64(r, i), y[i]);
    output_fit(&sums, (enum output_line)k, &v->a, &v->b);
    v->fitted = k == LINE_BOTH ? 2 : 1;
    if (sums.n < 4 || (v->a == 1 && v->b == 0))
        return CHOICE_SKIP;
    if (k == LINE_SCALE)
        odb_buf_printf(&v->text, "%.6g times the reference", v->a);
    else if (k == LINE_OFFSET)
        odb_buf_printf(&v->text, "the reference %s %.6g", v->b < 0 ? "less" : "plus", fabs(v->b));
    else
        odb_buf_printf(&v->text, "%.6g times the reference %s %.6g", v->a,
                       v->b < 0 ? "less" : "plus", fabs(v->b));
    odb_buf_puts(&v->name, k == LINE_SCALE ? "scale" : k == LINE_OFFSET ? "offset" : "affine");
    return CHOICE_MADE;
}

static double output_line(const void *payload, size_t i, double x)
{
    const struct variant *v = payload;
    (void)i;
    return v->a * x + v->b;
}

static enum odb_status output_result_line(const struct variant *v, const struct accused *s,
                                          struct odb_tensor **out, struct odb_error *err)
{
    return output_map(s, out, output_line, v, err);
}

/* --- by channel ------------------------------------------------------------------------------- */

#define OUTPUT_CHANNELS 65536

static const struct output_by_channel {
    const char *name, *one, *many;
    size_t least; /* elements of a channel that two, or one, fitted numbers are worth */
} output_by_channels[] = {
    [LINE_SCALE] = {"scale", "the reference times", "a factor", 4},
    [LINE_OFFSET] = {"offset", "the reference plus", "an offset", 4},
    [LINE_BOTH] = {"affine", "the reference times", "a factor and an offset", 8},
};

/* "the last 5 of 37 places of axis 3"; false: all places of the axis are marked. */
static bool output_put_places(const double *marks, size_t n, int axis, bool first_axis,
                              struct odb_buf *out)
{
    size_t wrong = 0, first = 0, last = 0;
    for (size_t c = 0; c < n; c++)
        if (marks[c] != 0) {
            first = wrong++ ? first : c;
            last = c;
        }
    if (wrong == n)
        return false;
    odb_buf_puts(out, first_axis ? "" : ", ");
    if (wrong == 1)
        odb_buf_printf(out, "place %zu", first);
    else if (last == n - 1 && wrong == n - first)
        odb_buf_printf(out, "the last %zu of %zu places", wrong, n);
    else if (wrong == last - first + 1)
        odb_buf_printf(out, "places %zu to %zu", first, last);
    else
        odb_buf_printf(out, "%zu of %zu places", wrong, n);
    odb_buf_printf(out, " of axis %d", axis);
    return true;
}

/* Fits one channel; false: it is as it ought to be. */
static bool output_fit_channel(const struct accused *s, int o, const struct output_sums *sums,
                               enum output_line line, double *a, double *b)
{
    output_fit(sums, line, a, b);
    return fabs(*a - 1) > 1e-4 || fabs(*b) > s->target.rms[o] * 1e-4;
}

/* Factors, or offsets, that are fitted for each place on an axis: all factors, then all offsets. */
static enum choice output_choose_channels(const struct accused *s, size_t k, struct variant *v)
{
    const odb_f64 *y;
    const struct odb_tensor *r;
    int o, axis = (int)(k / 3);
    size_t outer, n, inner, off = 0;
    enum output_line line = (enum output_line)(k % 3);
    const struct output_by_channel *by = &output_by_channels[line];
    if (!output_pair(s, &o, &y, &r) || !odb_dtype_is_float(r->dtype) || axis >= r->rank)
        return CHOICE_END;
    tensor_around(r, axis, &outer, &n, &inner);
    if (n < 2 || n > OUTPUT_CHANNELS || outer * inner < by->least)
        return CHOICE_SKIP;
    struct output_sums *sums = odb_new_n(struct output_sums, n);
    double *marks = odb_new_n(double, n);
    for (size_t i = 0; i < r->count; i++)
        output_add(&sums[i / inner % n], odb_tensor_f64(r, i), y[i]);
    v->list = odb_new_n(double, 2 * n);
    v->n_list = n;
    for (size_t c = 0; c < n; c++)
        if (output_fit_channel(s, o, &sums[c], line, &v->list[c], &v->list[n + c])) {
            off++;
            v->n = c;
            marks[c] = 1;
        }
    free(sums);
    v->at = axis;
    v->fitted += line == LINE_BOTH;
    odb_buf_printf(&v->name, "%s,axis=%d", by->name, axis);
    if (off == 1)
        odb_buf_printf(&v->text, "at place %zu of axis %d, %s %.6g", v->n, axis, by->one,
                       v->list[line == LINE_OFFSET ? n + v->n : v->n]);
    else
        odb_buf_printf(&v->text, "the reference with %s of its own at ", by->many);
    if (off != 1 && !output_put_places(marks, n, axis, true, &v->text))
        odb_buf_printf(&v->text, "%zu of %zu places of axis %d", off, n, axis);
    free(marks);
    if (off == 1 && line == LINE_BOTH)
        odb_buf_printf(&v->text, " plus %.6g", v->list[n + v->n]);
    return off ? CHOICE_MADE : CHOICE_SKIP;
}

struct output_places {
    const struct variant *v;
    size_t n, inner;
};

static double output_channel(const void *payload, size_t i, double x)
{
    const struct output_places *p = payload;
    size_t c = i / p->inner % p->n;
    return p->v->list[c] * x + p->v->list[p->n + c];
}

/* ODB_SKIPPED: these outputs have other places on the axis than the list. */
static enum odb_status output_places(const struct variant *v, const struct odb_tensor *t,
                                     size_t n_list, struct output_places *out)
{
    size_t outer;
    out->v = v;
    if (!t || t->kind != ODB_TENSOR || v->at >= t->rank)
        return ODB_SKIPPED;
    tensor_around(t, v->at, &outer, &out->n, &out->inner);
    return n_list && out->n != n_list ? ODB_SKIPPED : ODB_OK;
}

static enum odb_status output_result_channels(const struct variant *v, const struct accused *s,
                                              struct odb_tensor **out, struct odb_error *err)
{
    struct output_places places;
    ODB_TRY(output_places(v, output_made(s, out), v->n_list, &places));
    return output_map(s, out, output_channel, &places, err);
}

/* --- places that hold a constant -------------------------------------------------------------- */

/* Whether element i stands at a marked place of every axis; list: the places of all axes in turn.
 */
static bool output_at(const struct odb_tensor *t, const double *list, size_t i)
{
    size_t before = 0;
    for (int k = 0; k < t->rank; k++)
        before += (size_t)t->dims[k];
    for (int k = t->rank; k-- > 0;) {
        before -= (size_t)t->dims[k];
        if (list[before + i % (size_t)t->dims[k]] == 0)
            return false;
        i /= (size_t)t->dims[k];
    }
    return true;
}

static void output_mark(const struct odb_tensor *t, double *list, size_t i)
{
    size_t before = 0;
    for (int k = 0; k < t->rank; k++)
        before += (size_t)t->dims[k];
    for (int k = t->rank; k-- > 0;) {
        before -= (size_t)t->dims[k];
        list[before + i % (size_t)t->dims[k]] = 1;
        i /= (size_t)t->dims[k];
    }
}

/* What is wrong stands at some places of some axes, and is one and the same number. */
static enum choice output_choose_constant(const struct accused *s, size_t k, struct variant *v)
{
    const odb_f64 *y;
    const struct odb_tensor *r;
    size_t places = 0, at = 0;
    int o;
    bool constant = true, any = false, named = false;
    if (k || !output_pair(s, &o, &y, &r))
        return CHOICE_END;
    for (int axis = 0; axis < r->rank; axis++)
        places += (size_t)r->dims[axis];
    v->list = odb_new_n(double, places + 1);
    v->n_list = places;
    for (size_t i = 0; i < r->count; i++)
        if (accused_wrong(s, o, y[i], odb_tensor_f64(r, i)))
            output_mark(r, v->list, i);
    for (size_t i = 0; i < r->count && constant; i++) {
        if (!output_at(r, v->list, i))
            continue;
        v->a = any ? v->a : y[i];
        constant = y[i] == v->a || (isnan(y[i]) && isnan(v->a));
        any = true;
    }
    if (!constant || !any)
        return CHOICE_SKIP;
    odb_buf_puts(&v->text, "right but for ");
    for (int axis = 0; axis < r->rank; axis++) {
        named |= output_put_places(v->list + at, (size_t)r->dims[axis], axis, !named, &v->text);
        at += (size_t)r->dims[axis];
    }
    odb_buf_printf(&v->name, "%g", v->a == 0 ? 0.0 : v->a);
    odb_buf_printf(&v->text, ", where it holds %g", v->a == 0 ? 0.0 : v->a);
    return named ? CHOICE_MADE : CHOICE_SKIP;
}

struct output_constant {
    const struct variant *v;
    const struct odb_tensor *t;
};

static double output_constant(const void *payload, size_t i, double x)
{
    const struct output_constant *c = payload;
    return output_at(c->t, c->v->list, i) ? c->v->a : x;
}

static enum odb_status output_result_constant(const struct variant *v, const struct accused *s,
                                              struct odb_tensor **out, struct odb_error *err)
{
    struct output_constant c = {v, output_made(s, out)};
    size_t places = 0;
    for (int axis = 0; c.t && axis < c.t->rank; axis++)
        places += (size_t)c.t->dims[axis];
    if (!c.t || places != v->n_list)
        return ODB_SKIPPED;
    return output_map(s, out, output_constant, &c, err);
}

/* --- lanes and borders ------------------------------------------------------------------------ */

static const size_t output_lanes[] = {2, 4, 8, 16, 32};

/* Which elements are marked: lanes, where v->n is not 0, else those no deeper than v->at. */
static bool output_marked(const struct variant *v, const struct odb_tensor *t, size_t i)
{
    if (v->n)
        return v->list[i % v->n] != 0;
    for (int k = t->rank; k-- > 2;) {
        size_t n = (size_t)t->dims[k], at = i % n;
        if (ODB_MIN(at, n - 1 - at) < (size_t)v->at)
            return true;
        i /= n;
    }
    return false;
}

/* Whether what is marked has one number, v->a, and nothing else is wrong. */
static bool output_is_constant(const struct accused *s, int o, struct variant *v)
{
    const odb_f64 *y = s->target.wide[o]->data;
    const struct odb_tensor *r = s->r[o];
    size_t marked = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (output_marked(v, r, i)) {
            v->a = marked++ ? v->a : y[i];
            if (!(y[i] == v->a || (isnan(y[i]) && isnan(v->a))))
                return false;
        } else if (accused_wrong(s, o, y[i], odb_tensor_f64(r, i))) {
            return false;
        }
    }
    return marked && marked < r->count;
}

/* Every k-th element in memory holds a constant: lanes of a vector that are lost. */
static enum choice output_choose_lanes(const struct accused *s, size_t k, struct variant *v)
{
    const odb_f64 *y;
    const struct odb_tensor *r;
    size_t lost = 0;
    int o;
    if (k >= ODB_COUNT(output_lanes) || !output_pair(s, &o, &y, &r))
        return CHOICE_END;
    v->n = output_lanes[k];
    v->list = odb_new_n(double, v->n);
    for (size_t i = 0; i < r->count; i++)
        if (accused_wrong(s, o, y[i], odb_tensor_f64(r, i)))
            v->list[i % v->n] = 1;
    bool halves = k > 0; /* the same lanes of half as many say it in less */
    for (size_t i = 0; i < v->n; i++) {
        lost += v->list[i] != 0;
        halves &= v->list[i] == v->list[i % (v->n / 2)];
    }
    if (halves || r->count < 4 * v->n || !output_is_constant(s, o, v))
        return CHOICE_SKIP;
    odb_buf_printf(&v->name, "%zu", v->n);
    odb_buf_printf(&v->text, "right but for %zu of every %zu elements in memory, which hold %g",
                   lost, v->n, v->a);
    return CHOICE_MADE;
}

/* The outermost places of spatial axes hold a constant. */
static enum choice output_choose_border(const struct accused *s, size_t k, struct variant *v)
{
    const odb_f64 *y;
    const struct odb_tensor *r;
    int o;
    if (k > 3 || !output_pair(s, &o, &y, &r) || r->rank < 3)
        return CHOICE_END;
    v->at = (int)k + 1;
    if (!output_is_constant(s, o, v))
        return CHOICE_SKIP;
    odb_buf_printf(&v->name, "%d", v->at);
    odb_buf_printf(&v->text, "right but for the border, %d element%s deep, which holds %g", v->at,
                   v->at == 1 ? "" : "s", v->a);
    return CHOICE_MADE;
}

static double output_mark_constant(const void *payload, size_t i, double x)
{
    const struct output_constant *c = payload;
    return output_marked(c->v, c->t, i) ? c->v->a : x;
}

static enum odb_status output_result_marked(const struct variant *v, const struct accused *s,
                                            struct odb_tensor **out, struct odb_error *err)
{
    struct output_constant c = {v, output_made(s, out)};
    return c.t ? output_map(s, out, output_mark_constant, &c, err) : ODB_SKIPPED;
}

/* --- moved along an axis ---------------------------------------------------------------------- */

enum output_move { MOVE_ZEROS, MOVE_EDGE, MOVE_ROLLED, MOVE_REVERSED, MOVE_FIRST, MOVE_KINDS };
static const char *const output_move_names[] = {"shifted", "shifted, edge repeated", "rolled",
                                                "reversed", "the first place everywhere"};
static const int output_shifts[] = {1, -1, 2, -2, 3, -3};

static enum choice output_choose_move(const struct accused *s, size_t k, struct variant *v)
{
    size_t shifts = ODB_COUNT(output_shifts), each = 3 * shifts + 2;
    int o, axis = (int)(k / each);
    const odb_f64 *y;
    const struct odb_tensor *r;
    size_t nth = k % each;
    if (!output_pair(s, &o, &y, &r) || axis >= r->rank)
        return CHOICE_END;
    v->other = nth < 3 * shifts ? (int)(nth / shifts) : MOVE_REVERSED + (int)(nth - 3 * shifts);
    v->ints[0] = v->other < MOVE_REVERSED ? output_shifts[nth % shifts] : 0;
    if (r->dims[axis] < 2 || llabs(v->ints[0]) >= r->dims[axis])
        return CHOICE_SKIP;
    v->at = axis;
    odb_buf_printf(&v->name, "%s", output_move_names[v->other]);
    odb_buf_printf(&v->text, "as if it were %s", output_move_names[v->other]);
    if (v->ints[0]) {
        odb_buf_printf(&v->name, " by %lld", (long long)v->ints[0]);
        odb_buf_printf(&v->text, " by %lld", (long long)v->ints[0]);
    }
    odb_buf_printf(&v->name, ",axis=%d", axis);
    odb_buf_printf(&v->text, " along axis %d", axis);
    return CHOICE_MADE;
}

static int64_t output_moved(const void *payload, size_t i)
{
    const struct output_places *p = payload;
    int64_t n = (int64_t)p->n, at = (int64_t)(i / p->inner % p->n), from = at - p->v->ints[0];
    if (p->v->other == MOVE_ROLLED)
        from = (from + n) % n;
    else if (p->v->other == MOVE_REVERSED)
        from = n - 1 - at;
    else if (p->v->other == MOVE_FIRST)
        from = 0;
    else if (p->v->other == MOVE_EDGE)
        from = from < 0 ? 0 : from >= n ? n - 1 : from;
    return from < 0 || from >= n ? -1 : (int64_t)i + (from - at) * (int64_t)p->inner;
}

static enum odb_status output_gather_places(const struct variant *v, const struct accused *s,
                                            int64_t (*from)(const void *, size_t), size_t n_list,
                                            struct odb_tensor **out, struct odb_error *err)
{
    struct output_places places;
    ODB_TRY(output_places(v, output_made(s, out), n_list, &places));
    return output_gather(s, out, from, &places, err);
}

static enum odb_status output_result_move(const struct variant *v, const struct accused *s,
                                          struct odb_tensor **out, struct odb_error *err)
{
    return output_gather_places(v, s, output_moved, 0, out, err);
}

/* --- moved in memory -------------------------------------------------------------------------- */

static enum choice output_choose_flat(const struct accused *s, size_t k, struct variant *v)
{
    const odb_f64 *y;
    const struct odb_tensor *r;
    int o;
    if (k > 3 || !output_pair(s, &o, &y, &r) || r->count < 5)
        return CHOICE_END;
    v->ints[0] = output_shifts[k];
    odb_buf_printf(&v->name, "%lld", (long long)v->ints[0]);
    odb_buf_printf(&v->text, "as if all elements stood %d further %s in memory, round its end",
                   abs((int)v->ints[0]), v->ints[0] > 0 ? "on" : "back");
    return CHOICE_MADE;
}

struct output_flat {
    int64_t n, by;
};

static int64_t output_from_flat(const void *payload, size_t i)
{
    const struct output_flat *f = payload;
    return ((int64_t)i - f->by + f->n) % f->n;
}

static enum odb_status output_result_flat(const struct variant *v, const struct accused *s,
                                          struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *made = output_made(s, out);
    if (!made || made->count < 5)
        return ODB_SKIPPED;
    struct output_flat f = {(int64_t)made->count, v->ints[0]};
    return output_gather(s, out, output_from_flat, &f, err);
}

/* --- permuted --------------------------------------------------------------------------------- */

#define OUTPUT_WORK ((size_t)50000000) /* comparisons that a permutation is worth */

/* Whether slice i of y is slice j of r. */
static bool output_same_slice(const struct accused *s, int o, const odb_f64 *y,
                              const struct odb_tensor *r, int axis, size_t i, size_t j)
{
    size_t outer, n, inner;
    tensor_around(r, axis, &outer, &n, &inner);
    for (size_t a = 0; a < outer; a++)
        for (size_t b = 0; b < inner; b++)
            if (accused_wrong(s, o, y[(a * n + i) * inner + b],
                              odb_tensor_f64(r, (a * n + j) * inner + b)))
                return false;
    return true;
}

/* Places of an axis that hold what belongs to other places. */
static enum choice output_choose_permuted(const struct accused *s, size_t k, struct variant *v)
{
    const odb_f64 *y;
    const struct odb_tensor *r;
    size_t outer, n, inner, moved = 0, first = 0, second = 0;
    int o, axis = (int)k;
    if (!output_pair(s, &o, &y, &r) || axis >= r->rank)
        return CHOICE_END;
    tensor_around(r, axis, &outer, &n, &inner);
    if (n < 2 || n > OUTPUT_CHANNELS || outer * inner < 2 || n * r->count > OUTPUT_WORK)
        return CHOICE_SKIP;
    v->list = odb_new_n(double, n);
    v->n_list = n;
    for (size_t i = 0; i < n; i++) {
        size_t j = i;
        bool found = output_same_slice(s, o, y, r, axis, i, i);
        for (j = found ? i : 0; j < n && !found; j += !found)
            found = output_same_slice(s, o, y, r, axis, i, j);
        if (!found)
            return CHOICE_SKIP;
        v->list[i] = (double)j;
        first = !moved && j != i ? i : first;
        second = j != i ? i : second;
        moved += j != i;
    }
    if (!moved)
        return CHOICE_SKIP;
    v->at = axis;
    odb_buf_printf(&v->name, "axis=%d", axis);
    if (moved == 2 && v->list[first] == (double)second)
        odb_buf_printf(&v->text, "as if places %zu and %zu of axis %d were exchanged", first,
                       second, axis);
    else if (moved == 1)
        odb_buf_printf(&v->text, "as if place %zu of axis %d were place %.0f", first, axis,
                       v->list[first]);
    else
        odb_buf_printf(&v->text, "as if %zu of %zu places of axis %d were in another order", moved,
                       n, axis);
    return CHOICE_MADE;
}

static int64_t output_permuted(const void *payload, size_t i)
{
    const struct output_places *p = payload;
    int64_t at = (int64_t)(i / p->inner % p->n), from = (int64_t)p->v->list[at];
    return (int64_t)i + (from - at) * (int64_t)p->inner;
}

static enum odb_status output_result_permuted(const struct variant *v, const struct accused *s,
                                              struct odb_tensor **out, struct odb_error *err)
{
    return output_gather_places(v, s, output_permuted, v->n_list, out, err);
}

/* --- layouts ---------------------------------------------------------------------------------- */

static const struct output_layout {
    int rank;
    int perm[4];
    const char *name;
} output_layouts[] = {
    {2, {1, 0}, "column-major"}, {3, {0, 2, 1}, "NWC"},     {4, {0, 2, 3, 1}, "NHWC"},
    {4, {0, 3, 1, 2}, "NWCH"},   {4, {0, 1, 3, 2}, "NCWH"},
};
static const int64_t output_blocks[] = {4, 8, 16, 32};

static enum choice output_choose_layout(const struct accused *s, size_t k, struct variant *v)
{
    const odb_f64 *y;
    const struct odb_tensor *r;
    int o;
    size_t layouts = ODB_COUNT(output_layouts);
    if (!output_pair(s, &o, &y, &r) || k >= layouts + ODB_COUNT(output_blocks))
        return CHOICE_END;
    v->at = (int)k;
    if (k < layouts) {
        if (r->rank != output_layouts[k].rank)
            return CHOICE_SKIP;
        odb_buf_puts(&v->name, output_layouts[k].name);
        odb_buf_printf(&v->text, "as if its bytes, which are %s, were read as they are declared",
                       output_layouts[k].name);
        return CHOICE_MADE;
    }
    v->ints[0] = output_blocks[k - layouts];
    if (r->rank < 3 || r->dims[1] % v->ints[0] || r->dims[1] == v->ints[0])
        return CHOICE_SKIP;
    odb_buf_printf(&v->name, "nChw%lldc", (long long)v->ints[0]);
    odb_buf_printf(&v->text,
                   "as if its bytes, in blocks of %lld channels, were read as they are "
                   "declared",
                   (long long)v->ints[0]);
    return CHOICE_MADE;
}

/* Element i of (N, C / b, HW, b) comes from (N, C, HW). */
struct output_blocks {
    size_t block, area, channels;
};

static int64_t output_blocked(const void *payload, size_t i)
{
    const struct output_blocks *b = payload;
    size_t c = i % b->block, at = i / b->block % b->area, rest = i / b->block / b->area;
    size_t group = rest % (b->channels / b->block), image = rest / (b->channels / b->block);
    return (int64_t)((image * b->channels + group * b->block + c) * b->area + at);
}

static enum odb_status output_result_layout(const struct variant *v, const struct accused *s,
                                            struct odb_tensor **out, struct odb_error *err)
{
    size_t layouts = ODB_COUNT(output_layouts);
    struct odb_tensor *t = NULL, *shaped = NULL;
    const struct odb_tensor *r = output_made(s, out);
    if (!r || r->rank < 2 || ((size_t)v->at < layouts && r->rank != output_layouts[v->at].rank))
        return ODB_SKIPPED;
    if ((size_t)v->at < layouts) {
        ODB_TRY(tensor_transpose(&t, r, output_layouts[v->at].perm, err));
    } else {
        struct output_blocks b = {(size_t)v->ints[0], 1, (size_t)r->dims[1]};
        for (int k = 2; k < r->rank; k++)
            b.area *= (size_t)r->dims[k];
        if (b.channels % b.block)
            return ODB_SKIPPED;
        ODB_TRY(tensor_gather(&t, r, output_blocked, &b, err));
    }
    enum odb_status status = odb_tensor_reshape(&shaped, t, r->rank, r->dims, err);
    odb_tensor_unref(t);
    if (status == ODB_OK)
        tensor_replace(&out[s->shown], shaped);
    return status;
}

/* Its bytes are taken for those of another layout: the other direction. */
static enum choice output_choose_misread(const struct accused *s, size_t k, struct variant *v)
{
    const odb_f64 *y;
    const struct odb_tensor *r;
    int o;
    if (k >= ODB_COUNT(output_layouts) || !output_pair(s, &o, &y, &r))
        return CHOICE_END;
    bool alike = output_layouts[k].perm[r->rank - 1] == r->rank - 2 && /* both ways are one */
                 r->dims[r->rank - 1] == r->dims[r->rank - 2];
    if (r->rank != output_layouts[k].rank || alike)
        return CHOICE_SKIP;
    v->at = (int)k;
    odb_buf_puts(&v->name, output_layouts[k].name);
    odb_buf_printf(&v->text, "as if its bytes were taken for %s", output_layouts[k].name);
    return CHOICE_MADE;
}

static enum odb_status output_result_misread(const struct variant *v, const struct accused *s,
                                             struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *made = output_made(s, out), *t = NULL;
    if (!made || made->rank != output_layouts[v->at].rank)
        return ODB_SKIPPED;
    ODB_TRY(tensor_misread(&t, made, output_layouts[v->at].perm, err));
    tensor_replace(&out[s->shown], t);
    return ODB_OK;
}

/* --- cut off ---------------------------------------------------------------------------------- */

static enum choice output_choose_clamp(const struct accused *s, size_t k, struct variant *v)
{
    const odb_f64 *y;
    const struct odb_tensor *r;
    size_t low = 0, high = 0;
    int o;
    if (k || !output_pair(s, &o, &y, &r))
        return CHOICE_END;
    v->a = INFINITY;
    v->b = -INFINITY;
    for (size_t i = 0; i < r->count; i++)
        if (!isnan(y[i])) {
            v->a = fmin(v->a, y[i]);
            v->b = fmax(v->b, y[i]);
        }
    for (size_t i = 0; i < r->count; i++) {
        double x = odb_tensor_f64(r, i);
        low += x < v->a && y[i] == v->a;
        high += x > v->b && y[i] == v->b;
    }
    if (!low && !high)
        return CHOICE_SKIP;
    v->a = low ? v->a : -INFINITY;
    v->b = high ? v->b : INFINITY;
    odb_buf_puts(&v->text, "the reference cut off ");
    if (low)
        odb_buf_printf(&v->text, "below %.6g%s", v->a, high ? " and " : "");
    if (high)
        odb_buf_printf(&v->text, "above %.6g", v->b);
    return CHOICE_MADE;
}

static double output_clamp(const void *payload, size_t i, double x)
{
    const struct variant *v = payload;
    (void)i;
    return isnan(x) ? x : fmin(fmax(x, v->a), v->b);
}

static enum odb_status output_result_clamp(const struct variant *v, const struct accused *s,
                                           struct odb_tensor **out, struct odb_error *err)
{
    return output_map(s, out, output_clamp, v, err);
}

/* --- rounded to steps --------------------------------------------------------------------------
 */

#define OUTPUT_STEPS 65536 /* that a number is at most, of a type of 16 bits */

/* The greatest common divisor of two numbers (Euclid), of which less than least is nothing. */
static double output_divisor(double a, double b, double least)
{
    while (b > least) {
        double rest = fmod(a, b);
        a = b;
        b = rest > b - least ? 0 : rest;
    }
    return a;
}

/* The size of steps that all numbers are multiples of; 0: there is none, or they say nothing. */
static double output_step(const odb_f64 *y, size_t n)
{
    double step = 0, most = 0, products = 0, squares = 0;
    size_t some = 0; /* that are not 0 */
    for (size_t i = 0; i < n; i++)
        most = fmax(most, isfinite(y[i]) ? fabs(y[i]) : INFINITY);
    if (!(most > 0) || isinf(most))
        return 0;
    for (size_t i = 0; i < n && (step == 0 || most / step < OUTPUT_STEPS); i++)
        step = output_divisor(fabs(y[i]), step, most / (4 * OUTPUT_STEPS));
    if (step == 0 || most / step > OUTPUT_STEPS)
        return 0;
    for (size_t i = 0; i < n; i++) {
        double k = nearbyint(y[i] / step);
        products += y[i] * k;
        squares += k * k;
        some += k != 0;
    }
    step = products / squares;
    for (size_t i = 0; i < n; i++)
        if (fabs(y[i] / step - nearbyint(y[i] / step)) > 0.01)
            return 0;
    return some > 2 ? step : 0;
}

/* As what is stored in few bits, with one scale for all. */
static enum choice output_choose_steps(const struct accused *s, size_t k, struct variant *v)
{
    const odb_f64 *y;
    const struct odb_tensor *r;
    int o;
    if (k || !output_pair(s, &o, &y, &r) || !odb_dtype_is_float(r->dtype))
        return CHOICE_END;
    v->a = output_step(y, r->count);
    if (v->a == 0)
        return CHOICE_SKIP;
    odb_buf_printf(&v->text, "the reference rounded to multiples of %.6g", v->a);
    return CHOICE_MADE;
}

static double output_to_step(const void *payload, size_t i, double x)
{
    const struct variant *v = payload;
    (void)i;
    return v->a * nearbyint(x / v->a);
}

static enum odb_status output_result_steps(const struct variant *v, const struct accused *s,
                                           struct odb_tensor **out, struct odb_error *err)
{
    return output_map(s, out, output_to_step, v, err);
}

/* --- NaN -------------------------------------------------------------------------------------- */

static enum choice output_choose_nan(const struct accused *s, size_t k, struct variant *v)
{
    (void)s;
    if (k > 1)
        return CHOICE_END;
    v->at = (int)k;
    odb_buf_puts(&v->name, k ? "infinities cut" : "0");
    odb_buf_puts(&v->text, k ? "as if infinities became the largest number of the type"
                             : "as if NaN became 0");
    return CHOICE_MADE;
}

static double output_nan(const void *payload, size_t i, double x)
{
    const struct odb_tensor *y = payload;
    (void)i;
    return isinf(x) ? copysign(odb_dtype_info(y->dtype)->max, x) : x;
}

static double output_nan_zero(const void *payload, size_t i, double x)
{
    (void)payload;
    (void)i;
    return isnan(x) ? 0 : x;
}

static enum odb_status output_result_nan(const struct variant *v, const struct accused *s,
                                         struct odb_tensor **out, struct odb_error *err)
{
    int o = s->shown;
    if (o < 0 || !odb_dtype_is_float(s->y[o]->dtype))
        return ODB_SKIPPED;
    return output_map(s, out, v->at ? output_nan : output_nan_zero, s->y[o], err);
}

const struct variant_row variants_output[] = {
    {"", "output/shape", output_choose_shape, NULL, output_result_shape, false, 0},
    {"", "output/nan=", output_choose_nan, NULL, output_result_nan, false, 0},
    {"Clip", "output/nan=", nans_choose_bound, NULL, nans_result_bound, false, 0},
    {"", "output/", output_choose_move, NULL, output_result_move, false, 0},
    {"", "output/rolled in memory by ", output_choose_flat, NULL, output_result_flat, false, 0},
    {.ops = "",
     .name = "output/layout=",
     .choose = output_choose_layout,
     .result = output_result_layout,
     .order = true},
    {.ops = "",
     .name = "output/taken for ",
     .choose = output_choose_misread,
     .result = output_result_misread,
     .order = true},
    {"", "output/constant=", output_choose_constant, NULL, output_result_constant, false, 1},
    {"", "output/lanes=", output_choose_lanes, NULL, output_result_marked, false, 1},
    {"", "output/border=", output_choose_border, NULL, output_result_marked, false, 1},
    {"", "output/permuted,", output_choose_permuted, NULL, output_result_permuted, false, 1},
    {"", "output/", output_choose_line, NULL, output_result_line, false, 2},
    {"", "output/clamped", output_choose_clamp, NULL, output_result_clamp, false, 1},
    {"", "output/steps", output_choose_steps, NULL, output_result_steps, false, 1},
    {"", "output/channels=", output_choose_channels, NULL, output_result_channels, false, 3},
    {NULL, NULL, NULL, NULL, NULL, false, 0},
};
