/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/specials.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "tensor/pass.h"

/* The least number of the type that is not denormal; 0 for types that are not looked at. */
static double specials_least(enum odb_dtype dtype)
{
    return dtype == ODB_F64                        ? DBL_MIN
           : dtype == ODB_F32 || dtype == ODB_BF16 ? FLT_MIN
           : dtype == ODB_F16                      ? 0x1p-14
                                                   : 0;
}

static bool specials_denormal(double v, double least)
{
    return v != 0 && fabs(v) < least; /* NaN is not */
}

static void specials_pair(struct odb_specials *s, double t, double r)
{
    bool t_inf = isinf(t), r_inf = isinf(r);
    s->nan_both += isnan(t) && isnan(r);
    s->nan_target += isnan(t) && !isnan(r);
    s->nan_reference += !isnan(t) && isnan(r);
    s->inf_both += t_inf && r_inf && t == r;
    s->inf_sign += t_inf && r_inf && t != r;
    s->inf_target += t_inf && !r_inf;
    s->inf_reference += !t_inf && r_inf;
    s->zero_sign += t == 0 && r == 0 && signbit(t) != signbit(r);
}

struct specials_job {
    struct odb_numbers target, reference;
    double target_least, reference_least;
};

static void specials_chunk(const void *arg, void *share, struct odb_chunk *c)
{
    const struct specials_job *job = arg;
    struct odb_specials *s = share;
    for (size_t i = 0; i < c->n; i++) {
        double t = c->v[0][i], r = c->v[1][i];
        specials_pair(s, t, r);
        s->denormal_target += specials_denormal(t, job->target_least);
        s->denormal_reference += specials_denormal(r, job->reference_least);
    }
}

static void specials_join(void *total, const void *share)
{
    struct odb_specials *to = total;
    const struct odb_specials *from = share;
#define SPECIALS_JOIN(name, text, differs) to->name += from->name;
    ODB_SPECIALS_LIST(SPECIALS_JOIN)
#undef SPECIALS_JOIN
}

bool odb_specials_count(struct odb_specials *out, const struct odb_tensor *target,
                        const struct odb_tensor *reference)
{
    *out = (struct odb_specials){0};
    if (!target || !reference || target->kind != ODB_TENSOR || reference->kind != ODB_TENSOR ||
        !odb_dtype_is_float(target->dtype) || !odb_dtype_is_float(reference->dtype) ||
        !odb_tensor_same_shape(target, reference))
        return false;
    const struct specials_job job = {odb_numbers_of(target), odb_numbers_of(reference),
                                     specials_least(target->dtype),
                                     specials_least(reference->dtype)};
    if (job.target.n != job.reference.n) /* one of them has no values */
        return false;
    struct odb_pass pass = {.end = job.target.n,
                            .block = 64 * ODB_PASS_CHUNK,
                            .item = sizeof *out,
                            .job = &job,
                            .sides = {&job.target, &job.reference},
                            .chunk = specials_chunk,
                            .join = specials_join};
    odb_pass_all(&pass, out);
    return true;
}

void odb_specials_put(const struct odb_specials *s, bool all, struct odb_buf *out)
{
    const struct {
        const char *text;
        size_t n;
        bool differs;
    } rows[] = {
#define SPECIALS_ROW(name, text, differs) {text, s->name, differs},
        ODB_SPECIALS_LIST(SPECIALS_ROW)
#undef SPECIALS_ROW
    };
    const char *before = "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].n || !(all || rows[i].differs))
            continue;
        odb_buf_printf(out, "%s%zu %s", before, rows[i].n, rows[i].text);
        before = ", ";
    }
}
