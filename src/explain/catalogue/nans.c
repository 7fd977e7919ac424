/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The elements that are compared with each other are a run: of a reduction what goes into one
 * result, in the order of memory; of Max and Min the operands, in theirs. In a run some elements
 * are made the number that every other one beats, and the operator does the rest.
 */
#include "explain/catalogue/nans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum nans_kind { NANS_PASSED, NANS_RESTART, NANS_FIRST, NANS_KINDS };
static const struct nans_word {
    const char *name, *text;
} nans_words[] = {
    [NANS_PASSED] = {"passed over", "as if NaN were passed over"},
    [NANS_RESTART] = {"begins again", "as if it began again behind a NaN"},
    [NANS_FIRST] = {"first alone", "as if NaN counted only where it comes first"},
};

/* The runs of a call. Its elements are counted through all operands, which have one shape. */
struct nans {
    size_t operands, count; /* count: elements of each */
    size_t *run;            /* owned; [count] that an element is in, the same for all operands */
    size_t n_runs;
};

static void nans_dispose(struct nans *n)
{
    free(n->run);
}

/* Marks the axes that a reduction goes over. False: they are not known. */
static bool nans_axes(const struct accused *s, int rank, bool *reduced)
{
    const struct odb_attr *attr = accused_attr(s, "axes");
    const struct odb_tensor *given = accused_in(s, 1);
    bool arg = variant_is_for("ArgMax|ArgMin", s->node->op_type);
    bool global = variant_is_for("GlobalMaxPool", s->node->op_type);
    size_t n = arg ? 1 : attr ? attr->n : given ? given->count : 0;
    for (int k = 0; k < rank; k++)
        reduced[k] = global ? k > 1 : !n;
    if (!n && !global && accused_int(s, "noop_with_empty_axes", 0))
        return false;
    for (size_t i = 0; i < n && !global; i++) {
        int64_t axis = arg    ? accused_int(s, "axis", 0)
                       : attr ? attr->ints[i]
                              : (int64_t)odb_tensor_f64(given, i);
        axis += axis < 0 ? rank : 0;
        if (axis < 0 || axis >= rank)
            return false;
        reduced[axis] = true;
    }
    return true;
}

/* The run that element i of a reduction goes into. */
static size_t nans_run(const struct odb_tensor *t, const bool *reduced, size_t i)
{
    size_t run = 0, step = 1;
    for (int k = t->rank; k-- > 0;) {
        size_t n = (size_t)t->dims[k];
        run += reduced[k] ? 0 : i % n * step;
        step *= reduced[k] ? 1 : n;
        i /= n;
    }
    return run;
}

/* False: this call has no runs of that kind. For nans_dispose() where true. */
static bool nans_find(const struct accused *s, struct nans *n)
{
    const struct odb_tensor *first = accused_in(s, 0);
    bool several = variant_is_for("Max|Min", s->node->op_type), reduced[ODB_MAX_RANK] = {false};
    bool pool = variant_is_for("MaxPool", s->node->op_type);
    if (!first || !first->count || !odb_dtype_is_float(first->dtype) || pool)
        return false;
    for (int i = 1; several && i < s->node->n_in; i++)
        if (!accused_in(s, i) || !odb_tensor_same_shape(accused_in(s, i), first))
            return false;
    if (!several && !nans_axes(s, first->rank, reduced))
        return false;
    *n = (struct nans){.operands = several ? (size_t)s->node->n_in : 1, .count = first->count};
    n->run = odb_new_n(size_t, n->count);
    for (size_t i = 0; i < n->count; i++) {
        n->run[i] = nans_run(first, reduced, i);
        n->n_runs = ODB_MAX(n->n_runs, n->run[i] + 1);
    }
    return true;
}

static bool nans_are_in(const struct odb_tensor *t)
{
    bool any = false;
    for (size_t i = 0; t && odb_dtype_is_float(t->dtype) && i < t->count && !any; i++)
        any = isnan(odb_tensor_f64(t, i));
    return any;
}

enum choice nans_choose(const struct accused *s, size_t k, struct variant *v)
{
    struct nans n;
    bool any = false;
    for (int i = 0; i < s->node->n_in && !any; i++)
        any = nans_are_in(accused_in(s, i));
    if (k >= NANS_KINDS || !any)
        return CHOICE_END;
    if (k != NANS_PASSED) {
        if (!nans_find(s, &n))
            return CHOICE_END;
        nans_dispose(&n);
    }
    return variant_made(v, k, nans_words[k].name, nans_words[k].text);
}

struct nans_mark {
    double beaten;     /* by every other number */
    const bool *marks; /* borrowed: the elements that become that */
};

static double nans_mark(const void *payload, size_t i, double x)
{
    const struct nans_mark *m = payload;
    return m->marks[i] ? m->beaten : x;
}

/* Marks [operands * count] what does not count in its run. */
static void nans_mark_runs(const struct accused *s, const struct nans *n, enum nans_kind kind,
                           bool *marks)
{
    size_t total = n->operands * n->count;
    size_t *edge = odb_new_n(size_t, n->n_runs), *nan = odb_new_n(size_t, n->n_runs);
    for (size_t r = 0; r < n->n_runs; r++)
        edge[r] = nan[r] = total;
    for (size_t e = 0; e < total; e++) {
        size_t run = n->run[e % n->count];
        bool is = isnan(odb_tensor_f64(s->in[e / n->count], e % n->count));
        if (kind == NANS_RESTART || edge[run] == total)
            edge[run] = e; /* the last, or the first: it stays what it is */
        if (is)
            nan[run] = e;
    }
    for (size_t e = 0; e < total; e++) {
        size_t run = n->run[e % n->count];
        bool is = isnan(odb_tensor_f64(s->in[e / n->count], e % n->count));
        if (kind == NANS_RESTART)
            marks[e] = nan[run] < total && e <= nan[run] && e != edge[run];
        else
            marks[e] = is && e != edge[run];
    }
    free(edge);
    free(nan);
}

enum odb_status nans_change(const struct variant *v, const struct accused *s, struct change *c,
                            struct odb_error *err)
{
    struct nans n = {0};
    enum odb_status status = ODB_OK;
    bool largest = variant_is_for(NANS_LARGEST, s->node->op_type), *marks = NULL;
    struct nans_mark mark = {.beaten = largest ? -INFINITY : INFINITY};
    if (v->at != NANS_PASSED && !nans_find(s, &n))
        return ODB_SKIPPED;
    if (v->at != NANS_PASSED) {
        marks = odb_new_n(bool, n.operands *n.count);
        nans_mark_runs(s, &n, (enum nans_kind)v->at, marks);
    }
    for (int i = 0; i < c->call->n_in && status == ODB_OK; i++) {
        const struct odb_tensor *t = accused_in(s, i);
        bool *own = marks ? &marks[(size_t)i * n.count] : NULL;
        struct odb_tensor *changed = NULL;
        if (!t || !odb_dtype_is_float(t->dtype) || (marks && (size_t)i >= n.operands))
            continue;
        if (!own) {
            own = odb_new_n(bool, t->count + 1);
            for (size_t e = 0; e < t->count; e++)
                own[e] = isnan(odb_tensor_f64(t, e));
        }
        mark.marks = own;
        status = tensor_map(&changed, c->in[i], nans_mark, &mark, err);
        if (status == ODB_OK)
            change_input(c, i, changed);
        if (!marks)
            free(own);
    }
    free(marks);
    nans_dispose(&n);
    return status;
}

/* --- Clip ------------------------------------------------------------------------------------- */

static const struct nans_word nans_bounds[] = {
    {"lower bound", "as if NaN became the lower bound"},
    {"upper bound", "as if NaN became the upper bound"},
};

/* The bound of Clip: an attribute before opset 11. False: there is none. */
static bool nans_bound(const struct accused *s, int at, double *bound)
{
    const struct odb_tensor *t = s->node->n_in > 1 + at ? accused_in(s, 1 + at) : NULL;
    const struct odb_attr *attr = accused_attr(s, at ? "max" : "min");
    if (!t && !attr)
        return false;
    *bound = t ? odb_tensor_f64(t, 0) : (double)attr->f;
    return !t || t->count == 1;
}

enum choice nans_choose_bound(const struct accused *s, size_t k, struct variant *v)
{
    double bound;
    if (k >= ODB_COUNT(nans_bounds) || !nans_are_in(accused_in(s, 0)))
        return CHOICE_END;
    if (!nans_bound(s, (int)k, &bound))
        return CHOICE_SKIP;
    return variant_made(v, k, nans_bounds[k].name, nans_bounds[k].text);
}

static double nans_to_bound(const void *payload, size_t i, double x)
{
    (void)i;
    return isnan(x) ? *(const double *)payload : x;
}

enum odb_status nans_result_bound(const struct variant *v, const struct accused *s,
                                  struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    double bound;
    if (!out[0] || !nans_bound(s, v->at, &bound))
        return ODB_SKIPPED;
    ODB_TRY(tensor_map(&t, out[0], nans_to_bound, &bound, err));
    tensor_replace(&out[0], t);
    return ODB_OK;
}
