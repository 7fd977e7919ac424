/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/beside.h"

#include <math.h>
#include <stdlib.h>

#include "explain/accused_group.h"
#include "explain/variant.h"

static enum odb_status beside_run(struct odb_beside *out, const struct accused *s,
                                  const struct variant *v, struct odb_error *err)
{
    struct odb_tensor **made = accused_outputs(s);
    int o = s->shown;
    enum odb_status status = variant_run(v, s, ODB_PREC_F64, 0, made, err);
    if (status == ODB_OK && (!made[o] || !odb_tensor_same_shape(made[o], s->y[o])))
        status = odb_fail(err, ODB_UNSUPPORTED, "the variant gives another shape");
    else if (status == ODB_SKIPPED)
        status = odb_fail(err, ODB_UNSUPPORTED, "the variant says nothing of these inputs");
    if (status == ODB_OK) {
        out->output = o;
        out->target = odb_tensor_ref(s->y[o]);
        out->reference = odb_tensor_ref(s->r[o]);
        out->variant = odb_tensor_ref(made[o]);
        out->floor = s->q->factor * s->floor * s->target.rms[o];
        out->text = variant_text(v, s->graph);
    }
    accused_drop(s, made);
    free(made);
    return status;
}

enum odb_status odb_explain_beside(struct odb_beside *out, const struct odb_explain_question *q,
                                   const char *variant, struct odb_error *err)
{
    struct accused s;
    struct variant *v = NULL;
    *out = (struct odb_beside){0};
    enum odb_status status = accused_of(&s, q, q->in, q->out, err);
    if (status == ODB_OK && s.shown < 0)
        status = odb_fail(err, ODB_UNSUPPORTED, "no output is off that is a tensor of numbers");
    if (status == ODB_OK)
        v = variant_find(&s, variant);
    if (v) {
        status = beside_run(out, &s, v, err);
    } else if (status == ODB_OK) {
        odb_fail(err, ODB_E_USAGE, "no variant is called '%.120s'", variant);
        status = odb_error_remedy(err, "--all lists them");
    }
    variant_free(v);
    group_dispose(&s);
    return status;
}

void odb_beside_dispose(struct odb_beside *beside)
{
    odb_tensor_unref(beside->target);
    odb_tensor_unref(beside->reference);
    odb_tensor_unref(beside->variant);
    free(beside->text);
    *beside = (struct odb_beside){0};
}

static bool beside_apart(double a, double b, double floor)
{
    return isnan(a) != isnan(b) || (a != b && !(fabs(a - b) <= floor) && !(isnan(a) && isnan(b)));
}

bool odb_beside_shows(const struct odb_beside *beside, size_t i)
{
    double y = odb_tensor_f64(beside->target, i);
    return beside_apart(y, odb_tensor_f64(beside->reference, i), beside->floor) ||
           beside_apart(y, odb_tensor_f64(beside->variant, i), beside->floor);
}
