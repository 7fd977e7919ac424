/* SPDX-License-Identifier: MIT
 *
 * DeformConv: results [begin, end), numbered over batch and place; see deform.c.
 */

/* The channel's image x between its pixels, linearly; outside is zero. at[] holds a coordinate per
 * spatial dimension. */
static ACC FN(deform_sample)(const struct odb_window *w, const T *x, const double *at)
{
    ACC sum = 0;
    for (int d = 0; d < w->rank; d++)
        if (!(at[d] > -1 && at[d] < (double)w->in[d]))
            return 0;
    for (int corner = 0; corner < 1 << w->rank; corner++) {
        double weight = 1;
        int64_t index = 0;
        bool inside = true;
        for (int d = 0; d < w->rank; d++) {
            double low = floor(at[d]), rest = at[d] - low;
            int64_t i = (int64_t)low + (corner >> d & 1);
            weight *= corner >> d & 1 ? rest : 1 - rest;
            inside = inside && i >= 0 && i < w->in[d];
            index = index * w->in[d] + i;
        }
        if (inside && weight != 0)
            sum += (ACC)weight * (ACC)x[index];
    }
    return sum;
}

/* What every tap of every channel reads for one result: [channels * taps]. */
static void FN(deform_columns)(const struct deform *s, size_t n, size_t place, ACC *columns)
{
    const struct odb_window *w = &s->window;
    const T *x = s->x, *offset = s->offset, *mask = s->mask;
    int64_t out[ODB_MAX_RANK], tap_at[ODB_MAX_RANK];
    odb_stride_coordinates(w->rank, w->out, place, out);
    for (size_t g = 0; g < s->offset_groups; g++) {
        size_t channels = s->channels / s->offset_groups, first = g * channels;
        for (size_t tap = 0; tap < w->taps; tap++) {
            size_t moved = (n * s->offset_groups + g) * w->taps + tap;
            double at[ODB_MAX_RANK];
            odb_stride_coordinates(w->rank, w->kernel, tap, tap_at);
            for (int d = 0; d < w->rank; d++)
                at[d] =
                    (double)(out[d] * w->stride[d] - w->before[d] + tap_at[d] * w->dilation[d]) +
                    (double)offset[(moved * (size_t)w->rank + (size_t)d) * w->out_size + place];
            ACC factor = mask ? (ACC)mask[moved * w->out_size + place] : 1;
            for (size_t c = first; c < first + channels; c++)
                columns[c * w->taps + tap] =
                    factor * FN(deform_sample)(w, x + (n * s->channels + c) * w->in_size, at);
        }
    }
}

static void FN(deform_places)(void *arg, size_t begin, size_t end)
{
    struct deform *s = arg;
    const T *weight = s->weight, *bias = s->bias;
    T *y = s->y;
    size_t taps = s->window.taps, size = s->window.out_size;
    size_t in_group = s->channels / s->groups, out_group = s->filters / s->groups;
    ACC *columns = odb_workspace(ODB_WORKSPACE_COLUMNS, s->channels * taps * sizeof *columns + 1);
    if (!columns) {
        atomic_store(&s->failed, true);
        return;
    }
    for (size_t i = begin; i < end; i++) {
        size_t n = i / size, place = i % size;
        FN(deform_columns)(s, n, place, columns);
        for (size_t m = 0; m < s->filters; m++) {
            const T *row = weight + m * in_group * taps;
            const ACC *column = columns + m / out_group * in_group * taps;
            ACC sum = 0;
            for (size_t j = 0; j < in_group * taps; j++)
                sum += (ACC)row[j] * column[j];
            y[(n * s->filters + m) * size + place] = (T)(bias ? sum + (ACC)bias[m] : sum);
        }
    }
}
