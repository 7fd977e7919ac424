/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topK, of classifiers and of what classifies every place: the share of places whose label is among
 * the K classes with the highest scores. Equal scores stand in the order of their classes, as
 * numpy.argsort() has them. An output of whole numbers holds classes and no scores.
 */
#include <math.h>
#include <string.h>

#include "executor/spec.h"
#include "score/metric.h"

/* An output as places times classes. */
struct classes {
    const struct odb_tensor *t;
    size_t places, n, stride; /* of one class to the next */
    bool plain;               /* whole numbers: each is a class */
};

static const struct odb_executor_option classes_options[] = {
    {":", "OUTPUT", NULL, "the output; else the first", false},
    {"axis", "N", NULL, "that of the classes; else the last, the second of four", false},
    {NULL, NULL, NULL, NULL, false},
};

static enum odb_status classes_open(struct odb_metric *m, struct odb_error *err)
{
    double axis = INFINITY;
    if (odb_spec_option(m->spec, "axis"))
        ODB_TRY(odb_spec_whole(m->spec, "axis", 0, ODB_MAX_RANK - 1, &axis, err));
    m->axis = isinf(axis) ? -1 : (long)axis;
    return ODB_OK;
}

static enum odb_status classes_of(const struct odb_metric *m, const struct odb_tensor *t,
                                  struct classes *out, struct odb_error *err)
{
    const char *name = m->graph->values[m->graph->outputs[m->output]].name;
    if (!t || t->kind != ODB_TENSOR || t->dtype == ODB_STRING)
        return odb_fail(err, ODB_E_INPUT, "output %s holds no numbers", name);
    *out = (struct classes){.t = t, .places = t->count, .n = 1, .stride = 1};
    out->plain = odb_tensor_real(t) == ODB_UNDEFINED;
    if (out->plain)
        return ODB_OK;
    int axis = m->axis >= 0 ? (int)m->axis : t->rank == 4 ? 1 : t->rank - 1;
    if (t->rank < 1 || axis >= t->rank)
        return odb_fail(err, ODB_E_INPUT, "output %s has no axis %d of classes", name, axis);
    out->n = (size_t)t->dims[axis];
    for (int d = axis + 1; d < t->rank; d++)
        out->stride *= (size_t)t->dims[d];
    out->places = out->n ? t->count / out->n : 0;
    return ODB_OK;
}

static double classes_at(const struct classes *c, size_t place, size_t class)
{
    double v = odb_tensor_f64(c->t, place / c->stride * c->stride * c->n + class * c->stride +
                                        place % c->stride);
    return isnan(v) ? -INFINITY : v;
}

/* How many stand before it. */
static size_t classes_rank(const struct classes *c, size_t place, int64_t label)
{
    size_t before = 0;
    if (c->plain)
        return odb_tensor_i64(c->t, place) == label ? 0 : SIZE_MAX;
    if (label < 0 || (size_t)label >= c->n)
        return SIZE_MAX;
    double score = classes_at(c, place, (size_t)label);
    if (score == -INFINITY)
        return SIZE_MAX;
    for (size_t i = 0; i < c->n; i++) {
        double v = classes_at(c, place, i);
        before += v > score || (v == score && i < (size_t)label);
    }
    return before;
}

static int64_t classes_best(const struct classes *c, size_t place)
{
    size_t best = 0;
    if (c->plain)
        return odb_tensor_i64(c->t, place);
    for (size_t i = 1; i < c->n; i++)
        if (classes_at(c, place, i) > classes_at(c, place, best))
            best = i;
    return (int64_t)best;
}

static enum odb_status classes_take(struct odb_metric *m, const struct odb_metric_sample *sample,
                                    struct odb_share *out, struct odb_error *err)
{
    struct classes is, right;
    struct odb_tensor *label;
    ODB_TRY(classes_of(m, sample->outputs[m->output], &is, err));
    ODB_TRY(classes_of(m, sample->reference[m->output], &right, err));
    ODB_TRY(odb_metric_label(m, sample, true, &label, err));
    if (is.places != right.places || (label && label->count != is.places)) {
        odb_fail(err, ODB_E_INPUT, "%zu labels for %zu places", label ? label->count : right.places,
                 is.places);
        odb_tensor_unref(label);
        return odb_error_at(err, "%s", sample->source);
    }
    for (size_t p = 0; p < is.places; p++) {
        int64_t wanted = label ? odb_tensor_i64(label, p) : classes_best(&right, p);
        out->sum += classes_rank(&is, p, wanted) < (size_t)m->k;
    }
    out->of = (double)is.places;
    odb_tensor_unref(label);
    return ODB_OK;
}

enum odb_status odb_metric__ratio(struct odb_metric *m, const struct odb_share *shares,
                                  const size_t *picked, size_t n, double *out,
                                  struct odb_error *err)
{
    double sum = 0, of = 0;
    (void)m, (void)err;
    for (size_t i = 0; i < n; i++) {
        sum += shares[picked[i]].sum;
        of += shares[picked[i]].of;
    }
    *out = of > 0 ? sum / of : NAN;
    return ODB_OK;
}

const struct odb_metric_kind odb_metric_top = {
    .name = "top",
    .options = classes_options,
    .help = "the label is among the K classes with the highest scores",
    .unit = " %",
    .diff = "points",
    .factor = 100,
    .one = true,
    .open = classes_open,
    .take = classes_take,
    .score = odb_metric__ratio,
};
