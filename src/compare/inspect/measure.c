/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/inspect/measure.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "compare/inspect/channels.h"

#define MEASURE_TOP_K 5

static const struct measure_row {
    const char *name, *help;
    enum odb_measure_type type;
    unsigned need;
    bool exact;            /* known of strings too */
    size_t offset, judged; /* of the number in struct odb_measured; judged 0: the same */
} measure_rows[];

/* --- making ----------------------------------------------------------------------------------- */

static bool measure_has_numbers(const struct odb_tensor *t)
{
    if (t->kind == ODB_TENSOR)
        return t->dtype != ODB_STRING;
    for (size_t i = 0; i < t->n_items; i++)
        if (measure_has_numbers(t->items[i]))
            return true;
    return false;
}

static void measure_metrics(struct odb_measured *m)
{
    odb_compare(&m->m, m->evaluated, m->base, m->options.th);
    m->numbers = odb_measure_comparable(m) && measure_has_numbers(m->base);
}

static void measure_channels(struct odb_measured *m)
{
    int axis = m->options.axis_given ? m->options.axis : odb_channels_axis(m->base);
    if (axis < 0 && m->options.axis_given && m->base->kind == ODB_TENSOR)
        axis += m->base->rank;
    m->channel_axis = axis;
    m->has_channels = odb_farthest_channel(&m->channel, m->base, m->evaluated, axis);
}

bool odb_measure_comparable(const struct odb_measured *m)
{
    return !m->m.missing && !m->m.shape_mismatch && !m->m.dtype_mismatch;
}

void odb_measure(struct odb_measured *m, unsigned need)
{
    unsigned now = (need | ODB_MEASURE_METRICS) & ~m->had;
    m->had |= now;
    if (now & ODB_MEASURE_METRICS)
        measure_metrics(m);
    if (!odb_measure_comparable(m))
        return;
    if (now & ODB_MEASURE_ULPS)
        m->has_ulps = odb_ulp_spread(&m->ulps, m->evaluated, m->base);
    if (now & ODB_MEASURE_RANKS)
        m->has_ranks = odb_ranks(&m->ranks, m->evaluated, m->base,
                                 m->options.top_k ? m->options.top_k : MEASURE_TOP_K);
    if (now & ODB_MEASURE_CHANNELS)
        measure_channels(m);
}

/* --- asking ----------------------------------------------------------------------------------- */

int odb_measure_find(const char *name, size_t n)
{
    for (size_t i = 0; measure_rows[i].name; i++)
        if (strlen(measure_rows[i].name) == n && !memcmp(measure_rows[i].name, name, n))
            return (int)i;
    return -1;
}

const char *odb_measure_name(size_t i, const char **help)
{
    if (help)
        *help = measure_rows[i].help;
    return measure_rows[i].name;
}

enum odb_measure_type odb_measure_type(size_t i)
{
    return measure_rows[i].type;
}

unsigned odb_measure_needs(size_t i)
{
    return measure_rows[i].need;
}

bool odb_measure_value(const struct odb_measured *m, size_t i, bool judged, double *out)
{
    const struct measure_row *row = &measure_rows[i];
    bool had = row->need & m->had && odb_measure_comparable(m) &&
               (row->need & ODB_MEASURE_ULPS       ? m->has_ulps
                : row->need & ODB_MEASURE_RANKS    ? m->has_ranks
                : row->need & ODB_MEASURE_CHANNELS ? m->has_channels
                                                   : row->exact || m->numbers);
    const char *at = (const char *)m + (judged && row->judged ? row->judged : row->offset);
    if (!had)
        return false;
    if (row->type == ODB_MEASURE_REAL)
        memcpy(out, at, sizeof *out);
    else
        *out = row->type == ODB_MEASURE_COUNT ? (double)*(const size_t *)(const void *)at
                                              : (double)*(const bool *)at;
    return true;
}

#define AT(member) offsetof(struct odb_measured, member)
#define REAL(name, member, judged, help)                                                           \
    {                                                                                              \
        name, help, ODB_MEASURE_REAL, ODB_MEASURE_METRICS, false, AT(member), judged               \
    }
#define COUNT(name, member, help)                                                                  \
    {                                                                                              \
        name, help, ODB_MEASURE_COUNT, ODB_MEASURE_METRICS, true, AT(member), 0                    \
    }
#define MORE(name, type, need, member, help)                                                       \
    {                                                                                              \
        name, help, ODB_MEASURE_##type, ODB_MEASURE_##need, false, AT(member), 0                   \
    }

static const struct measure_row measure_rows[] = {
    COUNT("count", m.count, "elements; a complex one counts twice"),
    COUNT("differing", m.differing, "elements that are not equal; -0 equals +0, NaN equals NaN"),
    COUNT("nan_both", m.nan_both, "NaN on both sides"),
    COUNT("nan_base_only", m.nan_ref_only, "NaN in the base alone"),
    COUNT("nan_evaluated_only", m.nan_target_only, "NaN in the evaluated value alone"),
    COUNT("inf_both", m.inf_both, "the same infinity on both sides"),
    COUNT("inf_base_only", m.inf_ref_only, "infinite in the base alone"),
    COUNT("inf_evaluated_only", m.inf_target_only, "infinite in the evaluated value alone"),
    COUNT("inf_sign", m.inf_sign, "infinite on both sides with opposite signs"),
    COUNT("inf_mismatch", m.inf_mismatch, "infinite on one side, another number on the other"),
#define PLAIN(member, help) REAL(#member, m.member, 0, help),
#define TWIN(member, help) REAL(#member, m.member, AT(m.finite_##member), help),
    ODB_METRIC_LIST(PLAIN, TWIN){"all_close",
                                 "|e-b| <= th + th*|b| with the threshold of diff3, NaN equals NaN",
                                 ODB_MEASURE_TRUTH, ODB_MEASURE_METRICS, true, AT(m.all_close), 0},
    MORE("ulp_max", REAL, ULPS, ulps.max, "most numbers of the narrower float type from e to b"),
    MORE("ulp_mean", REAL, ULPS, ulps.mean, "the mean of these numbers"),
    MORE("ulp_p99", REAL, ULPS, ulps.p99, "the number that 99 % of them do not exceed"),
    MORE("rows", COUNT, RANKS, ranks.rows, "rows along the last axis"),
    MORE("argmax", REAL, RANKS, ranks.argmax, "share of rows whose largest are at one place"),
    MORE("top_k", REAL, RANKS, ranks.top,
         "share of a row's largest elements (--top-k) that are among those of the other"),
    MORE("channels", COUNT, CHANNELS, channel.channels, "indices along the axis of channels"),
    MORE("channel_worst", COUNT, CHANNELS, channel.worst, "that with the largest distance"),
    MORE("channel_error", REAL, CHANNELS, channel.error,
         "the largest distance there; infinite: NaN or Inf does not match"),
    {0}};
