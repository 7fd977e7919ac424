/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One pass over both sides, each share of which has sums for every channel: so of many channels
 * there is one share.
 */
#include "compare/inspect/channels.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "compare/inspect/pairs.h"

enum {
    CHANNELS_SHARES = 8,
    CHANNELS_FEW = 4096, /* channels of which every share has sums */
};

#define CHANNELS_BLOCK (128 * ODB_PASS_CHUNK)

/* As far above all others is another kind of error. */
#define CHANNELS_APART 10

struct channels_sum {
    size_t finite[2], first, worst;
    double error; /* of the worst */
    double sum[2], square[2], dot, abs, error2;
    struct odb_channel c;
};

struct channels_job {
    struct odb_pairs pairs;
    size_t n, inner; /* channels; elements that lie together */
};

/* --- sums ------------------------------------------------------------------------------------- */

static void channels_add_side(struct channels_sum *s, int side, const double *v, size_t n)
{
    double sum = 0, min = s->c.min[side], max = s->c.max[side];
    size_t finite = 0, nan = 0;
    for (size_t i = 0; i < n; i++) {
        bool is = fabs(v[i]) <= __DBL_MAX__;
        finite += is;
        nan += v[i] != v[i];
        sum += is ? v[i] : 0;
        min = is && v[i] < min ? v[i] : min;
        max = is && v[i] > max ? v[i] : max;
    }
    s->finite[side] += finite;
    s->c.nan[side] += nan;
    s->sum[side] += sum;
    s->c.min[side] = min;
    s->c.max[side] = max;
}

static void channels_add_pairs(struct channels_sum *s, const double *a, const double *b,
                               const double *error, size_t n, size_t first)
{
    double dot = 0, aa = 0, bb = 0, abs = 0, error2 = 0, max = s->error;
    size_t pairs = 0, differing = 0, odd = 0, worst = s->worst;
    for (size_t i = 0; i < n; i++) {
        bool finite = fabs(a[i]) <= __DBL_MAX__ && fabs(b[i]) <= __DBL_MAX__;
        odd += isinf(error[i]) && !finite;
        differing += error[i] > 0;
        pairs += finite;
        dot += finite ? a[i] * b[i] : 0;
        aa += finite ? a[i] * a[i] : 0;
        bb += finite ? b[i] * b[i] : 0;
        abs += finite ? error[i] : 0;
        error2 += finite ? error[i] * error[i] : 0;
        worst = error[i] > max ? first + i : worst;
        max = error[i] > max ? error[i] : max;
        if (finite && error[i] > s->c.max_abs)
            s->c.max_abs = error[i];
    }
    s->dot += dot;
    s->square[0] += aa;
    s->square[1] += bb;
    s->abs += abs;
    s->error2 += error2;
    s->error = max;
    s->worst = worst;
    s->c.pairs += pairs;
    s->c.differing += differing;
    s->c.odd += odd;
}

/* The elements of a chunk, channel by channel. */
static void channels_chunk(const void *arg, void *share, struct odb_chunk *c)
{
    const struct channels_job *job = arg;
    double error[ODB_PASS_CHUNK];
    size_t channel = c->first / job->inner % job->n, left = job->inner - c->first % job->inner;
    if (job->pairs.both)
        odb_pairs_apart(&job->pairs, c->first, c->n, c->v[0], c->v[1], error);
    for (size_t i = 0, run; i < c->n; i += run) {
        struct channels_sum *s = (struct channels_sum *)share + channel;
        run = ODB_MIN(left, c->n - i);
        s->c.count += run;
        s->first = ODB_MIN(s->first, c->first + i);
        for (int side = 0; side < 2; side++)
            if (job->pairs.t[side] && job->pairs.t[side]->dtype != ODB_STRING)
                channels_add_side(s, side, c->v[side] + i, run);
        if (job->pairs.both)
            channels_add_pairs(s, c->v[0] + i, c->v[1] + i, error + i, run, c->first + i);
        left -= run;
        if (!left) {
            left = job->inner;
            channel = channel + 1 < job->n ? channel + 1 : 0;
        }
    }
}

static void channels_merge(void *total, const void *share)
{
    struct channels_sum *to = total;
    const struct channels_sum *s = share;
    to->c.count += s->c.count;
    to->c.pairs += s->c.pairs;
    to->c.differing += s->c.differing;
    to->c.odd += s->c.odd;
    to->c.max_abs = ODB_MAX(to->c.max_abs, s->c.max_abs);
    to->first = ODB_MIN(to->first, s->first);
    for (int side = 0; side < 2; side++) {
        to->finite[side] += s->finite[side];
        to->c.nan[side] += s->c.nan[side];
        to->sum[side] += s->sum[side];
        to->square[side] += s->square[side];
        to->c.min[side] = ODB_MIN(to->c.min[side], s->c.min[side]);
        to->c.max[side] = ODB_MAX(to->c.max[side], s->c.max[side]);
    }
    to->dot += s->dot;
    to->abs += s->abs;
    to->error2 += s->error2;
    bool worse = s->error > to->error || (s->error == to->error && s->worst < to->worst);
    to->worst = worse ? s->worst : to->worst;
    to->error = ODB_MAX(to->error, s->error);
}

static struct odb_channel channels_finish(const struct channels_sum *s)
{
    struct odb_channel c = s->c;
    double pairs = (double)ODB_MAX(c.pairs, (size_t)1), norm = sqrt(s->square[0] * s->square[1]);
    c.mean_abs = s->abs / pairs;
    c.rms = sqrt(s->error2 / pairs);
    c.cosine = norm > 0 ? s->dot / norm : s->square[0] == s->square[1];
    c.worst = s->worst == SIZE_MAX ? s->first : s->worst;
    for (int side = 0; side < 2; side++) {
        if (!s->finite[side])
            c.min[side] = c.max[side] = 0;
        c.mean[side] = s->sum[side] / (double)ODB_MAX(s->finite[side], (size_t)1);
    }
    return c;
}

/* --- making ----------------------------------------------------------------------------------- */

int odb_channels_axis(const struct odb_tensor *t)
{
    if (!t || t->kind != ODB_TENSOR || !t->rank)
        return -1;
    int likely = t->rank > 3 ? 1 : t->rank - 1;
    for (int i = 0; i < t->rank; i++) {
        int axis = (likely + i) % t->rank;
        if (t->dims[axis] > 1 && (size_t)t->dims[axis] <= ODB_CHANNELS_MAX)
            return axis;
    }
    return -1;
}

static enum odb_status channels_begin(struct channels_job *job, const struct odb_tensor *ref,
                                      const struct odb_tensor *target, int axis,
                                      struct odb_error *err)
{
    odb_pairs_init(&job->pairs, ref, target);
    const struct odb_tensor *t = job->pairs.t[0] ? job->pairs.t[0] : job->pairs.t[1];
    if (!t || axis < 0 || axis >= t->rank)
        return odb_fail(err, ODB_E_USAGE, "there is no axis %d", axis);
    if ((size_t)t->dims[axis] > ODB_CHANNELS_MAX)
        return odb_fail(err, ODB_E_USAGE, "axis %d is too long: %lld, and %zu is the most", axis,
                        (long long)t->dims[axis], ODB_CHANNELS_MAX);
    if (!job->pairs.both && job->pairs.t[0] && job->pairs.t[1])
        /* The two have nothing in common: the reference alone. */
        odb_pairs_init(&job->pairs, job->pairs.t[0], NULL);
    job->pairs.count = t->count;
    job->n = (size_t)t->dims[axis];
    job->inner = 1;
    for (int d = axis + 1; d < t->rank && t->count; d++)
        job->inner *= (size_t)t->dims[d];
    return ODB_OK;
}

enum odb_status odb_channels_make(struct odb_channels **out, const struct odb_tensor *ref,
                                  const struct odb_tensor *target, int axis,
                                  const struct odb_progress *progress, struct odb_error *err)
{
    struct channels_job job;
    ODB_TRY(channels_begin(&job, ref, target, axis, err));
    struct channels_sum *sums = odb_new_n(struct channels_sum, job.n + 1);
    const struct channels_sum none = {
        .first = SIZE_MAX,
        .worst = SIZE_MAX,
        .c = {.min = {INFINITY, INFINITY}, .max = {-INFINITY, -INFINITY}}};
    struct odb_pass pass = {.end = job.pairs.count,
                            .block = CHANNELS_BLOCK,
                            .shares = job.n <= CHANNELS_FEW ? CHANNELS_SHARES : 1,
                            .item = sizeof *sums,
                            .items = job.n,
                            .none = &none,
                            .job = &job,
                            .sides = {&job.pairs.side[0], &job.pairs.side[1]},
                            .chunk = channels_chunk,
                            .join = channels_merge,
                            .progress = progress};
    for (size_t i = 0; i < job.n; i++)
        sums[i] = none;
    enum odb_status status = odb_pass_run(&pass, sums, err);
    if (status == ODB_OK) {
        struct odb_channels *channels = odb_new(struct odb_channels);
        *channels = (struct odb_channels){.axis = axis, .both = job.pairs.both, .n = job.n};
        channels->channel = odb_new_n(struct odb_channel, job.n + 1);
        for (size_t i = 0; i < job.n; i++)
            channels->channel[i] = channels_finish(&sums[i]);
        *out = channels;
    }
    free(sums);
    return status;
}

void odb_channels_free(struct odb_channels *channels)
{
    if (channels)
        free(channels->channel);
    free(channels);
}

/* --- what it tells ---------------------------------------------------------------------------- */

double odb_channel_error(const struct odb_channel *c)
{
    return c->odd ? INFINITY : c->max_abs;
}

static int channels_downwards(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The least error of those that stand apart from the others, of which *rest is the largest; 0:
 * there are none, or they are more than the half. */
static double channels_border(const struct odb_channels *channels, double *rest)
{
    double *sorted = odb_new_n(double, channels->n), border = 0;
    for (size_t i = 0; i < channels->n; i++)
        sorted[i] = odb_channel_error(&channels->channel[i]);
    qsort(sorted, channels->n, sizeof *sorted, channels_downwards);
    for (size_t i = 0; i < channels->n / 2 && !border; i++)
        if (sorted[i] > 0 && sorted[i] / sorted[i + 1] >= CHANNELS_APART) {
            border = sorted[i];
            *rest = sorted[i + 1];
        }
    free(sorted);
    return border;
}

/* Channels at or above the border: the first and last of them, how many, and their distance if that
 * is always the same. */
struct channels_bad {
    size_t first, last, n, stride;
};

static struct channels_bad channels_bad(const struct odb_channels *channels, double border)
{
    struct channels_bad bad = {.n = 0};
    for (size_t i = 0; i < channels->n; i++) {
        if (odb_channel_error(&channels->channel[i]) < border)
            continue;
        size_t stride = i - bad.last;
        bad.first = bad.n ? bad.first : i;
        bad.stride = bad.n == 1 || (bad.n > 1 && stride == bad.stride) ? stride : 0;
        if (bad.n > 1 && !bad.stride)
            bad.stride = SIZE_MAX; /* never the same again */
        bad.last = i;
        bad.n++;
    }
    return bad;
}

static const char *channels_ending(size_t n)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    return n % 100 / 10 == 1 || n % 10 > 3 ? "th" : endings[n % 10];
}

bool odb_channels_told(const struct odb_channels *channels, struct odb_buf *out)
{
    double rest = 0, border = channels->both ? channels_border(channels, &rest) : 0;
    if (!border)
        return false;
    struct channels_bad bad = channels_bad(channels, border);
    odb_buf_puts(out, "the error is in ");
    if (bad.n == 1)
        odb_buf_printf(out, "channel %zu alone", bad.first);
    else if (bad.stride == 1)
        odb_buf_printf(out, "channels %zu to %zu alone", bad.first, bad.last);
    else if (bad.stride != SIZE_MAX && bad.n > 2)
        odb_buf_printf(out, "every %zu%s channel from %zu to %zu", bad.stride,
                       channels_ending(bad.stride), bad.first, bad.last);
    else
        odb_buf_printf(out, "%zu of %zu channels, from %zu to %zu", bad.n, channels->n, bad.first,
                       bad.last);
    if (rest == 0)
        odb_buf_puts(out, ": all others are equal");
    else if (isfinite(border))
        odb_buf_printf(out, ": %.3g there and more, %.3g at most elsewhere", border, rest);
    else
        odb_buf_printf(out, ": NaN or Inf there, %.3g at most elsewhere", rest);
    return true;
}
