/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One row per kind: name, its arguments with defaults and ranges, and the question it asks. The
 * questions that come before every criterion (same shape, same class of type, NaN and Inf where the
 * reference has them) are asked once, in criterion_precheck().
 */
#include "compare/criterion.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/numpy.h"

struct criterion_pair {
    const struct odb_tensor *e, *b;
    const struct odb_metrics *m;
};

struct criterion_arg {
    double def; /* NAN: must be given */
    double min, max;
    bool whole;
};

struct criterion_row {
    const char *name, *usage, *help;
    struct criterion_arg args[3];
    int n_args;
    bool numbers; /* integers are compared as numbers, else they must be equal */
    bool (*passes)(const struct odb_criterion *c, const struct criterion_pair *p, char *reason,
                   size_t size);
};

static const struct criterion_row criterion_table[ODB_CRITERION_COUNT];

/* --- text ------------------------------------------------------------------------------------- */

static enum odb_status criterion_bad_argument(struct odb_error *err,
                                              const struct criterion_row *row, const char *text,
                                              int at)
{
    odb_fail(err, ODB_E_USAGE, "tolerance '%s': argument %d is missing or out of range", text,
             at + 1);
    return odb_error_remedy(err, "write %s", row->usage);
}

/* The arguments from at on, in text; NULL: there are none. */
static enum odb_status criterion_parse_args(struct odb_criterion *out,
                                            const struct criterion_row *row, const char *text,
                                            const char *at, struct odb_error *err)
{
    for (int i = 0; i < row->n_args; i++) {
        const struct criterion_arg *arg = &row->args[i];
        out->v[i] = arg->def;
        if (at) {
            char *end;
            out->v[i] = strtod(at, &end);
            if (end == at || isspace((unsigned char)*at) || (*end && *end != ','))
                return criterion_bad_argument(err, row, text, i);
            at = *end ? end + 1 : NULL;
            if (!(out->v[i] >= arg->min && out->v[i] <= arg->max) ||
                (arg->whole && out->v[i] != floor(out->v[i])))
                return criterion_bad_argument(err, row, text, i);
        } else if (isnan(arg->def)) {
            return criterion_bad_argument(err, row, text, i);
        }
    }
    if (!at)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "tolerance '%s' has too many arguments", text);
    return odb_error_remedy(err, "write %s", row->usage);
}

enum odb_status odb_criterion_parse(struct odb_criterion *out, const char *text,
                                    struct odb_error *err)
{
    if (!text || !*text) {
        *out = ODB_CRITERION_DEFAULT;
        return ODB_OK;
    }
    const char *colon = strchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : strlen(text);
    if (*text == '.' || (*text >= '0' && *text <= '9')) { /* a number alone */
        struct odb_criterion c = {.kind = ODB_CRITERION_CLOSE};
        ODB_TRY(criterion_parse_args(&c, &criterion_table[c.kind], text, text, err));
        *out = c;
        return ODB_OK;
    }
    for (unsigned i = 0; i < ODB_CRITERION_COUNT; i++) {
        const struct criterion_row *row = &criterion_table[i];
        if (strlen(row->name) == len && !strncmp(row->name, text, len)) {
            struct odb_criterion c = {.kind = (enum odb_criterion_kind)i};
            ODB_TRY(criterion_parse_args(&c, row, text, colon ? colon + 1 : NULL, err));
            *out = c;
            return ODB_OK;
        }
    }
    odb_fail(err, ODB_E_USAGE, "no tolerance is called '%.*s'", (int)ODB_MIN(len, (size_t)64),
             text);
    return odb_error_remedy(
        err,
        "write a number, or choose noise, allclose, close, decimal, diff2, diff3, ulp or cosine");
}

/* The shortest text that reads as v. */
static void criterion_number(char *buf, size_t size, double v)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, size, "%.*g", digits, v);
        if (strtod(buf, NULL) == v)
            return;
    }
}

const char *odb_criterion_text(const struct odb_criterion *c, char *buf, size_t size)
{
    const struct criterion_row *row = &criterion_table[c->kind];
    int n = row->n_args;
    while (n > 0 && c->v[n - 1] == row->args[n - 1].def)
        n--;
    size_t len = (size_t)snprintf(buf, size, "%s", row->name);
    for (int i = 0; i < n && len < size; i++) {
        char number[32];
        criterion_number(number, sizeof number, c->v[i]);
        len += (size_t)snprintf(buf + len, size - len, "%c%s", i ? ',' : ':', number);
    }
    return buf;
}

const char *odb_criterion_usage(size_t i, const char **help)
{
    if (i >= ODB_CRITERION_COUNT)
        return NULL;
    if (help)
        *help = criterion_table[i].help;
    return criterion_table[i].usage;
}

/* --- judging ---------------------------------------------------------------------------------- */

static void criterion_say(char *reason, size_t size, const char *fmt, ...) ODB_PRINTF(3, 4);

static void criterion_say(char *reason, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (reason && size)
        vsnprintf(reason, size, fmt, ap);
    va_end(ap);
}

/* What is wrong before any number is looked at, or PASS. */
static enum odb_verdict criterion_precheck(const struct odb_metrics *m, bool nan_fails,
                                           char *reason, size_t size)
{
    size_t nan = m->nan_target_only + m->nan_ref_only + (nan_fails ? m->nan_both : 0);
    if (m->missing) {
        criterion_say(reason, size, "a value is missing");
        return ODB_VERDICT_UNTESTABLE;
    }
    if (m->dtype_mismatch) {
        criterion_say(reason, size, "the element types differ");
        return ODB_VERDICT_DTYPE;
    }
    if (m->shape_mismatch) {
        criterion_say(reason, size, "the shapes differ");
        return ODB_VERDICT_SHAPE;
    }
    if (nan || m->inf_mismatch) {
        criterion_say(reason, size, "NaN or Inf does not match in %zu of %zu elements",
                      nan + m->inf_mismatch, m->count);
        return ODB_VERDICT_NAN;
    }
    return ODB_VERDICT_PASS;
}

enum odb_verdict odb_verdict_pattern(const struct odb_metrics *m, char *reason, size_t size)
{
    return criterion_precheck(m, false, reason, size);
}

double odb_criterion_th(const struct odb_criterion *c)
{
    return c->kind == ODB_CRITERION_DIFF3 ? c->v[2] : -1;
}

enum odb_verdict odb_criterion_judge(const struct odb_criterion *c,
                                     const struct odb_tensor *evaluated,
                                     const struct odb_tensor *base, const struct odb_metrics *m,
                                     char *reason, size_t size)
{
    const struct criterion_row *row = &criterion_table[c->kind];
    ODB_ASSERT(row->passes);
    enum odb_verdict verdict =
        criterion_precheck(m, c->kind == ODB_CRITERION_ALLCLOSE, reason, size);
    if (verdict != ODB_VERDICT_PASS)
        return verdict;
    bool numeric = row->numbers && base->kind == ODB_TENSOR && base->dtype != ODB_STRING;
    if (m->exact_differing && !numeric) {
        criterion_say(reason, size, "%zu of %zu exact elements differ", m->exact_differing,
                      m->count);
        return ODB_VERDICT_FAIL;
    }
    struct criterion_pair pair = {evaluated, base, m};
    return row->passes(c, &pair, reason, size) ? ODB_VERDICT_PASS : ODB_VERDICT_FAIL;
}

enum odb_verdict odb_criterion_apply(const struct odb_criterion *c,
                                     const struct odb_tensor *evaluated,
                                     const struct odb_tensor *base, char *reason, size_t size)
{
    struct odb_metrics m;
    odb_compare(&m, evaluated, base, odb_criterion_th(c));
    return odb_criterion_judge(c, evaluated, base, &m, reason, size);
}

enum odb_verdict odb_verdict_noise(const struct odb_metrics *m, double noise, double factor)
{
    enum odb_verdict verdict = criterion_precheck(m, false, NULL, 0);
    if (verdict != ODB_VERDICT_PASS)
        return verdict;
    return m->exact_differing || !(m->error <= factor * noise) ? ODB_VERDICT_FAIL
                                                               : ODB_VERDICT_PASS;
}

enum odb_verdict odb_verdict_distance(const struct odb_distance *d, double noise, double factor)
{
    if (d->mismatched)
        return ODB_VERDICT_NAN;
    bool fails = d->exact ? d->differing != 0 : !(d->error <= factor * noise);
    return fails ? ODB_VERDICT_FAIL : ODB_VERDICT_PASS;
}

const char *odb_noise_reason(const struct odb_metrics *m, double noise, double factor, char *buf,
                             size_t size)
{
    if (criterion_precheck(m, false, buf, size) != ODB_VERDICT_PASS)
        return buf;
    if (m->exact_differing)
        snprintf(buf, size, "%zu of %zu exact elements differ", m->exact_differing, m->count);
    else
        snprintf(buf, size, "error %.3g, %s %g * noise %.3g", m->error,
                 m->error <= factor * noise ? "within" : "over", factor, noise);
    return buf;
}

/* --- the fixed ones --------------------------------------------------------------------------- */

/* Containers go item by item; indices of sparse tensors and keys of maps must be equal. */
static size_t criterion_count_bad(const struct odb_criterion *c, const struct odb_tensor *e,
                                  const struct odb_tensor *b, double rms)
{
    size_t bad = 0;
    for (size_t i = 0; i < b->n_items; i++)
        bad += criterion_count_bad(c, e->items[i], b->items[i], rms);
    if (b->kind != ODB_TENSOR || b->count == 0)
        return bad;
    if (b->dtype == ODB_STRING)
        return !odb_equal_exact(e, b);
    if (c->kind == ODB_CRITERION_ALLCLOSE)
        odb_all_close(e, b, c->v[0], c->v[1], false, &bad);
    else if (c->kind == ODB_CRITERION_CLOSE)
        odb_all_close(e, b, c->v[0], isnan(rms) ? 0 : c->v[0] * rms, true, &bad);
    else
        odb_almost_equal(e, b, (int)c->v[0], &bad);
    return bad;
}

static bool criterion_elements(const struct odb_criterion *c, const struct criterion_pair *p,
                               char *reason, size_t size)
{
    size_t bad = criterion_count_bad(c, p->e, p->b, p->m->rms);
    criterion_say(reason, size, "%zu of %zu elements are too far, largest distance %.6g", bad,
                  p->m->count, p->m->max_abs);
    return bad == 0;
}

static bool criterion_diff2(const struct odb_criterion *c, const struct criterion_pair *p,
                            char *reason, size_t size)
{
    double v = p->m->finite_diff2;
    criterion_say(reason, size, "diff2 %.6g, at most %g", v, c->v[0]);
    return v <= c->v[0];
}

static bool criterion_diff3(const struct odb_criterion *c, const struct criterion_pair *p,
                            char *reason, size_t size)
{
    double max = p->m->finite_diff3_max, mean = p->m->finite_diff3_mean;
    criterion_say(reason, size, "diff3_max %.6g, at most %g; diff3_mean %.6g, at most %g", max,
                  c->v[0], mean, c->v[1]);
    return max <= c->v[0] && mean <= c->v[1];
}

static bool criterion_ulp(const struct odb_criterion *c, const struct criterion_pair *p,
                          char *reason, size_t size)
{
    criterion_say(reason, size, "%.0f ulp, at most %g", p->m->ulp_max, c->v[0]);
    return p->m->ulp_max <= c->v[0];
}

static bool criterion_cosine(const struct odb_criterion *c, const struct criterion_pair *p,
                             char *reason, size_t size)
{
    criterion_say(reason, size, "cosine %.9g, at least %g", p->m->cosine, c->v[0]);
    return p->m->cosine >= c->v[0];
}

#define REQUIRED NAN

static const struct criterion_row criterion_table[ODB_CRITERION_COUNT] = {
    [ODB_CRITERION_NOISE] = {"noise",
                             "noise[:FACTOR]",
                             "error of at most FACTOR (10) times what rounding alone does",
                             {{10, 0, INFINITY, false}},
                             1,
                             false,
                             NULL},
    [ODB_CRITERION_ALLCLOSE] = {"allclose",
                                "allclose[:RTOL[,ATOL]]",
                                "|e-b| <= ATOL + RTOL*|b| everywhere, no NaN (1e-5, 1e-8)",
                                {{1e-5, 0, INFINITY, false}, {1e-8, 0, INFINITY, false}},
                                2,
                                true,
                                criterion_elements},
    [ODB_CRITERION_CLOSE] = {"close",
                             "close:X",
                             "|e-b| <= X * (|b| + rms of b); a number alone is this: 1e-3",
                             {{REQUIRED, 0, INFINITY, false}},
                             1,
                             false,
                             criterion_elements},
    [ODB_CRITERION_DECIMAL] = {"decimal",
                               "decimal:N",
                               "equal to N decimals: |e-b| < 1.5 * 10^-N",
                               {{REQUIRED, -300, 300, true}},
                               1,
                               true,
                               criterion_elements},
    [ODB_CRITERION_DIFF2] = {"diff2",
                             "diff2:X",
                             "sqrt(sum (e-b)^2 / sum b^2) of at most X",
                             {{REQUIRED, 0, INFINITY, false}},
                             1,
                             false,
                             criterion_diff2},
    [ODB_CRITERION_DIFF3] = {"diff3",
                             "diff3:MAX[,MEAN[,TH]]",
                             "relative (where |b| > TH) or absolute difference, its largest and "
                             "its mean",
                             {{REQUIRED, 0, INFINITY, false},
                              {INFINITY, 0, INFINITY, false},
                              {-1, 0, INFINITY, false}},
                             3,
                             false,
                             criterion_diff3},
    [ODB_CRITERION_ULP] = {"ulp",
                           "ulp:N",
                           "at most N representable numbers apart",
                           {{REQUIRED, 0, INFINITY, false}},
                           1,
                           false,
                           criterion_ulp},
    [ODB_CRITERION_COSINE] = {"cosine",
                              "cosine:MIN",
                              "cosine of the two values of at least MIN",
                              {{REQUIRED, -1, 1, false}},
                              1,
                              false,
                              criterion_cosine},
};
