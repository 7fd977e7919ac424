/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One pass over both sides. Its sums stand in vectors of four: of four channels where these lie
 * side by side, else of every fourth element of one channel, which are brought together at its end.
 * A chunk in which anything is NaN or infinite is taken one element at a time, into the same sums.
 */
#include "compare/inspect/channels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "compare/inspect/pairs.h"
#include "compare/lanes.h"

enum {
    CHANNELS_SHARES = 8,
    CHANNELS_FEW = 4096, /* channels of which every share has sums */
    CHANNELS_VEC = 4,
    CHANNELS_TILE = 64 /* channels side by side that are summed over several rows */
};

#define CHANNELS_BLOCK (128 * ODB_PASS_CHUNK)

/* As far above all others is another kind of error. */
#define CHANNELS_APART 10

/* Anywhere in memory. */
typedef double channels_vec __attribute__((vector_size(32), aligned(8)));

#define CHANNELS_AT(array) (*(const channels_vec *)(array))

/* Of four channels; all are doubles, which count up to 2^53. */
struct channels_four {
    struct channels_sums { /* of pairs that are finite on both sides */
        channels_vec sum[2], min[2], max[2], square[2], dot, abs, error2, most, differing;
        channels_vec worst; /* the first with the distance most; SIZE_MAX: all are 0 */
    } s;
    struct channels_rest { /* of the others */
        channels_vec nan[2], infinite[2], unpaired;
        channels_vec odd, first_odd; /* NaN or Inf does not match, strings differ */
    } rest;
};

struct channels_job {
    struct odb_pairs pairs;
    size_t n, inner; /* channels; elements that lie together */
};

#define CHANNELS_ALL(x)                                                                            \
    {                                                                                              \
        x, x, x, x                                                                                 \
    }
static const struct channels_four channels_none = {
    .s = {.min = {CHANNELS_ALL(INFINITY), CHANNELS_ALL(INFINITY)},
          .max = {CHANNELS_ALL(-INFINITY), CHANNELS_ALL(-INFINITY)},
          .worst = CHANNELS_ALL((double)SIZE_MAX)},
    .rest = {.first_odd = CHANNELS_ALL((double)SIZE_MAX)}};

/* --- sums ------------------------------------------------------------------------------------- */

/* Elements of one chunk: error is NULL where there are no pairs, a side where it has no numbers. */
struct channels_run {
    const double *side[2], *error;
    size_t first; /* place of the first in the tensor */
};

static struct channels_run channels_from(const struct channels_run *run, size_t i)
{
    return (struct channels_run){
        {run->side[0] ? run->side[0] + i : NULL, run->side[1] ? run->side[1] + i : NULL},
        run->error ? run->error + i : NULL,
        run->first + i};
}

static void channels_add_pair(struct channels_four *s, size_t lane, const struct channels_run *run,
                              size_t i)
{
    double error = run->error[i], at = (double)(run->first + i);
    double a = run->side[0] ? run->side[0][i] : NAN, b = run->side[1] ? run->side[1][i] : NAN;
    bool finite = isfinite(a) && isfinite(b);
    s->s.differing[lane] += error > 0;
    s->rest.unpaired[lane] += !finite;
    if (!finite && isinf(error)) {
        s->rest.odd[lane]++;
        s->rest.first_odd[lane] = ODB_MIN(s->rest.first_odd[lane], at);
    }
    if (!finite)
        return;
    s->s.dot[lane] += a * b;
    s->s.square[0][lane] += a * a;
    s->s.square[1][lane] += b * b;
    s->s.abs[lane] += error;
    s->s.error2[lane] += error * error;
    if (error > s->s.most[lane]) {
        s->s.most[lane] = error;
        s->s.worst[lane] = at;
    }
}

/* One element of any kind. */
static void channels_add(struct channels_four *s, size_t lane, const struct channels_run *run,
                         size_t i)
{
    for (int side = 0; side < 2; side++) {
        if (!run->side[side])
            continue;
        double v = run->side[side][i];
        s->rest.nan[side][lane] += v != v;
        s->rest.infinite[side][lane] += isinf(v) != 0;
        if (!isfinite(v))
            continue;
        s->s.sum[side][lane] += v;
        s->s.min[side][lane] = ODB_MIN(s->s.min[side][lane], v);
        s->s.max[side][lane] = ODB_MAX(s->s.max[side][lane], v);
    }
    if (run->error)
        channels_add_pair(s, lane, run, i);
}

/* Elements that are finite, as are their distances: rows of four, stride elements apart, and apart
 * elements in the tensor. */
static inline __attribute__((always_inline)) void channels_rows_body(struct channels_sums *to,
                                                                     const struct channels_run *run,
                                                                     size_t rows, size_t stride,
                                                                     size_t apart)
{
    struct channels_sums s = *to;
    channels_vec at = (channels_vec){0, 1, 2, 3} + (double)run->first;
    for (size_t i = 0; rows--; i += stride, at += (double)apart) {
        channels_vec v[2] = {CHANNELS_AT(run->side[0] + i), CHANNELS_AT(run->side[1] + i)};
        channels_vec error = CHANNELS_AT(run->error + i);
        for (int side = 0; side < 2; side++) {
            s.sum[side] += v[side];
            s.min[side] = VEC_MIN(v[side], s.min[side]);
            s.max[side] = VEC_MAX(v[side], s.max[side]);
            s.square[side] += v[side] * v[side];
        }
        s.dot += v[0] * v[1];
        s.abs += error;
        s.error2 += error * error;
        s.differing += VEC_AND((channels_vec)CHANNELS_ALL(1.0), error > 0);
        s.worst = VEC_PICK(error > s.most, at, s.worst);
        s.most = VEC_MAX(error, s.most);
    }
    *to = s;
}

/* Once more for machines with wider registers: same lanes, same results. */
static void channels_rows_any(struct channels_sums *to, const struct channels_run *run, size_t rows,
                              size_t stride, size_t apart)
{
    channels_rows_body(to, run, rows, stride, apart);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) static void channels_rows_avx2(struct channels_sums *to,
                                                               const struct channels_run *run,
                                                               size_t rows, size_t stride,
                                                               size_t apart)
{
    channels_rows_body(to, run, rows, stride, apart);
}
#define CHANNELS_ROWS(...)                                                                         \
    (__builtin_cpu_supports("avx2") ? channels_rows_avx2(__VA_ARGS__)                              \
                                    : channels_rows_any(__VA_ARGS__))
#else
#define CHANNELS_ROWS channels_rows_any
#endif

/* What a lane has is added to another. */
static void channels_join_lane(struct channels_four *to, size_t lane, const struct channels_four *s,
                               size_t from)
{
    for (int side = 0; side < 2; side++) {
        to->s.sum[side][lane] += s->s.sum[side][from];
        to->s.min[side][lane] = ODB_MIN(to->s.min[side][lane], s->s.min[side][from]);
        to->s.max[side][lane] = ODB_MAX(to->s.max[side][lane], s->s.max[side][from]);
        to->s.square[side][lane] += s->s.square[side][from];
        to->rest.nan[side][lane] += s->rest.nan[side][from];
        to->rest.infinite[side][lane] += s->rest.infinite[side][from];
    }
    to->s.dot[lane] += s->s.dot[from];
    to->s.abs[lane] += s->s.abs[from];
    to->s.error2[lane] += s->s.error2[from];
    to->s.differing[lane] += s->s.differing[from];
    to->rest.unpaired[lane] += s->rest.unpaired[from];
    to->rest.odd[lane] += s->rest.odd[from];
    to->rest.first_odd[lane] = ODB_MIN(to->rest.first_odd[lane], s->rest.first_odd[from]);
    if (s->s.most[from] > to->s.most[lane])
        to->s.worst[lane] = s->s.worst[from];
    else if (s->s.most[from] == to->s.most[lane])
        to->s.worst[lane] = ODB_MIN(to->s.worst[lane], s->s.worst[from]);
    to->s.most[lane] = ODB_MAX(to->s.most[lane], s->s.most[from]);
}

static void channels_merge(void *total, const void *share)
{
    for (size_t lane = 0; lane < CHANNELS_VEC; lane++)
        channels_join_lane(total, lane, share, lane);
}

/* --- chunks ----------------------------------------------------------------------------------- */

/* n elements of one channel. */
static void channels_add_run(struct channels_four *all, size_t channel,
                             const struct channels_run *run, size_t n, bool plain)
{
    struct channels_four *s = &all[channel / CHANNELS_VEC], part = channels_none;
    size_t lane = channel % CHANNELS_VEC, rows = plain ? n / CHANNELS_VEC : 0;
    if (rows) {
        CHANNELS_ROWS(&part.s, run, rows, CHANNELS_VEC, CHANNELS_VEC);
        for (size_t from = 0; from < CHANNELS_VEC; from++)
            channels_join_lane(s, lane, &part, from);
    }
    for (size_t i = rows * CHANNELS_VEC; i < n; i++)
        channels_add(s, lane, run, i);
}

static bool channels_are_plain(const struct channels_run *run, size_t n)
{
    return run->side[0] && run->side[1] && run->error && odb_all_finite(run->side[0], n) &&
           odb_all_finite(run->side[1], n) && odb_all_finite(run->error, n);
}

/* Elements, from a place of the arrays on. */
struct channels_data {
    double v[2][ODB_PASS_CHUNK], error[ODB_PASS_CHUNK];
};

static struct channels_run channels_load(const struct channels_job *job, struct channels_data *data,
                                         size_t at, size_t first, size_t n)
{
    double *const v[2] = {data->v[0] + at, data->v[1] + at}, *error = data->error + at;
    struct channels_run run = {.error = job->pairs.both ? error : NULL, .first = first};
    odb_pairs_load(&job->pairs, first, n, v, error);
    for (int side = 0; side < 2; side++)
        if (job->pairs.t[side] && job->pairs.t[side]->dtype != ODB_STRING)
            run.side[side] = v[side];
    return run;
}

/* Elements of which many lie together in a channel. */
static void channels_add_together(const struct channels_job *job, struct channels_four *all,
                                  size_t begin, size_t end)
{
    struct channels_data data;
    for (size_t n; begin < end; begin += n) {
        n = ODB_MIN(end - begin, ODB_PASS_CHUNK);
        struct channels_run chunk = channels_load(job, &data, 0, begin, n);
        bool plain = channels_are_plain(&chunk, n);
        for (size_t i = 0, step; i < n; i += step) {
            struct channels_run run = channels_from(&chunk, i);
            step = ODB_MIN(job->inner - run.first % job->inner, n - i);
            channels_add_run(all, run.first / job->inner % job->n, &run, step, plain);
        }
    }
}

/* Elements each of which is in the next channel: of rows one under the other the same channels, so
 * that their sums are taken up once. */
static void channels_add_tile(const struct channels_job *job, struct channels_four *all,
                              size_t first, size_t rows, size_t cols)
{
    struct channels_data data;
    struct channels_run tile = channels_load(job, &data, 0, first, cols);
    size_t channel = first % job->n, i = 0;
    for (size_t row = 1; row < rows; row++)
        (void)channels_load(job, &data, row * cols, first + row * job->n, cols);
    bool plain = channel % CHANNELS_VEC == 0 && channels_are_plain(&tile, rows * cols);
    for (; plain && i + CHANNELS_VEC <= cols; i += CHANNELS_VEC) {
        struct channels_run four = channels_from(&tile, i);
        CHANNELS_ROWS(&all[(channel + i) / CHANNELS_VEC].s, &four, rows, cols, job->n);
    }
    for (; i < cols; i++)
        for (size_t row = 0; row < rows; row++) {
            struct channels_run run = channels_from(&tile, row * cols);
            run.first = first + row * job->n;
            channels_add(&all[(channel + i) / CHANNELS_VEC], (channel + i) % CHANNELS_VEC, &run, i);
        }
}

static void channels_block(const void *arg, void *share, size_t begin, size_t end)
{
    const struct channels_job *job = arg;
    if (job->inner > 1)
        channels_add_together(job, share, begin, end);
    while (job->inner == 1 && begin < end) {
        size_t channel = begin % job->n, odd = channel % CHANNELS_VEC;
        size_t rows = (end - begin) / job->n, left = ODB_MIN(job->n - channel, end - begin);
        size_t cols = ODB_MIN(odd ? CHANNELS_VEC - odd : CHANNELS_TILE, left);
        if (channel || !rows) { /* a part of a row */
            channels_add_tile(job, share, begin, 1, cols);
            begin += cols;
            continue;
        }
        rows = ODB_MIN(rows, ODB_PASS_CHUNK / cols);
        for (size_t at = 0; at < job->n; at += cols)
            channels_add_tile(job, share, begin + at, rows, ODB_MIN(job->n - at, cols));
        begin += rows * job->n;
    }
}

static struct odb_channel channels_finish(const struct channels_job *job,
                                          const struct channels_four *all, size_t channel)
{
    const struct channels_four *s = &all[channel / CHANNELS_VEC];
    size_t lane = channel % CHANNELS_VEC, count = job->pairs.count / job->n;
    double norm = sqrt(s->s.square[0][lane] * s->s.square[1][lane]);
    struct odb_channel c = {.count = count,
                            .pairs = job->pairs.both ? count - (size_t)s->rest.unpaired[lane] : 0,
                            .differing = (size_t)s->s.differing[lane],
                            .odd = (size_t)s->rest.odd[lane],
                            .max_abs = s->s.most[lane],
                            .cosine = norm > 0 ? s->s.dot[lane] / norm
                                               : s->s.square[0][lane] == s->s.square[1][lane]};
    double pairs = (double)ODB_MAX(c.pairs, (size_t)1);
    double worst = c.odd && isfinite(c.max_abs)
                       ? s->rest.first_odd[lane]
                       : ODB_MIN(s->s.worst[lane], s->rest.first_odd[lane]);
    c.mean_abs = s->s.abs[lane] / pairs;
    c.rms = sqrt(s->s.error2[lane] / pairs);
    c.worst = worst < (double)SIZE_MAX ? (size_t)worst : channel * job->inner;
    for (int side = 0; side < 2; side++) {
        bool has = job->pairs.t[side] && job->pairs.t[side]->dtype != ODB_STRING;
        double finite = (double)count - s->rest.nan[side][lane] - s->rest.infinite[side][lane];
        c.nan[side] = (size_t)s->rest.nan[side][lane];
        if (!has || finite == 0)
            continue;
        c.min[side] = s->s.min[side][lane];
        c.max[side] = s->s.max[side][lane];
        c.mean[side] = s->s.sum[side][lane] / finite;
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
    size_t fours = job.n / CHANNELS_VEC + 1;
    struct channels_four *sums = odb_new_n(struct channels_four, fours);
    struct odb_pass pass = {.end = job.pairs.count,
                            .block = CHANNELS_BLOCK,
                            .shares = job.n <= CHANNELS_FEW ? CHANNELS_SHARES : 1,
                            .item = sizeof *sums,
                            .items = fours,
                            .none = &channels_none,
                            .job = &job,
                            .whole = channels_block,
                            .join = channels_merge,
                            .progress = progress};
    for (size_t i = 0; i < fours; i++)
        sums[i] = channels_none;
    enum odb_status status = odb_pass_run(&pass, sums, err);
    if (status == ODB_OK) {
        struct odb_channels *channels = odb_new(struct odb_channels);
        *channels = (struct odb_channels){.axis = axis, .both = job.pairs.both, .n = job.n};
        channels->channel = odb_new_n(struct odb_channel, job.n + 1);
        for (size_t i = 0; i < job.n; i++)
            channels->channel[i] = channels_finish(&job, sums, i);
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
