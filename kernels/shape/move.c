/* SPDX-License-Identifier: MIT
 *
 * Operators that put elements elsewhere by a rule known from shapes and attributes alone. Each
 * describes its output as strides over its input (kernels/core/stride.h), so there is no loop here
 * and no element type.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/core/cells.h"
#include "kernels/core/row.h"
#include "kernels/core/stride.h"

/* One strided copy from an input to an output, offsets in cells. */
struct move_job {
    struct odb_stride s;
    int64_t dst, src;
};

static enum odb_status move_copy(struct odb_kern *k, void *arg, size_t size, unsigned char *dst,
                                 const unsigned char *src)
{
    const struct move_job *job = arg;

    odb_stride_copy(&job->s, size, dst + job->dst * (int64_t)size, src + job->src * (int64_t)size);
    return ODB_OK;
}

/* job's dimensions are those of output 0, its destination strides those of a dense tensor. */
static enum odb_status move_run(struct odb_kern *k, struct move_job *job)
{
    odb_stride_dense(job->s.rank, job->s.dims, job->s.dst);
    return odb_cells_move(k, 0, 0, move_copy, job);
}

/* Appends a dimension. */
static void move_add(struct odb_stride *s, int64_t dim, int64_t src)
{
    s->dims[s->rank] = dim;
    s->src[s->rank] = src;
    s->rank++;
}

/* --- Transpose -------------------------------------------------------------------------------- */

static enum odb_status move_perm(struct odb_kern *k, int *perm)
{
    int rank = k->in[0]->rank;
    bool seen[ODB_MAX_RANK] = {false};
    size_t n;
    const int64_t *ints = odb_kern_ints(k, "perm", &n);

    if (ints != NULL && n != (size_t)rank)
        return ODB_KERN_FAIL(k, "perm has %zu entries for a tensor of rank %d", n, rank);
    for (int i = 0; i < rank; i++) {
        int64_t from = ints != NULL ? ints[i] : rank - 1 - i;
        if (from < 0 || from >= rank || seen[from])
            return ODB_KERN_FAIL(k, "perm is no permutation: perm[%d] = %lld, rank %d", i,
                                 (long long)from, rank);
        seen[from] = true;
        perm[i] = (int)from;
    }
    return ODB_OK;
}

static enum odb_status move_infer_transpose(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int perm[ODB_MAX_RANK];
    int64_t dims[ODB_MAX_RANK];

    ODB_TRY(move_perm(k, perm));
    for (int i = 0; i < x->rank; i++)
        dims[i] = x->dims[perm[i]];
    return odb_kern_outline(k, 0, x->dtype, x->rank, dims);
}

static enum odb_status move_run_transpose(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct move_job job = {.s.rank = 0};
    int perm[ODB_MAX_RANK];
    int64_t dense[ODB_MAX_RANK];

    ODB_TRY(move_perm(k, perm));
    odb_stride_dense(x->rank, x->dims, dense);
    for (int i = 0; i < x->rank; i++)
        move_add(&job.s, x->dims[perm[i]], dense[perm[i]]);
    return move_run(k, &job);
}

/* --- Concat, Split: parts of one tensor along an axis ----------------------------------------- */

/* Copies len steps of the axis, from where a tensor with dst_dims holds them to where one with
 * src_dims does. */
static void move_part(const struct odb_tensor *like, int axis, int64_t len, size_t size,
                      unsigned char *dst, int64_t dst_len, int64_t dst_at, const unsigned char *src,
                      int64_t src_len, int64_t src_at)
{
    int64_t outer = (int64_t)odb_dims_product(like->dims, 0, axis);
    int64_t inner = (int64_t)odb_dims_product(like->dims, axis + 1, like->rank);
    struct odb_stride s = {.rank = 2,
                           .dims = {outer, len * inner},
                           .dst = {dst_len * inner, 1},
                           .src = {src_len * inner, 1}};

    odb_stride_copy(&s, size, dst + dst_at * inner * (int64_t)size,
                    src + src_at * inner * (int64_t)size);
}

static enum odb_status move_infer_concat(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int64_t dims[ODB_MAX_RANK];
    int axis;

    if (x == NULL)
        return ODB_KERN_FAIL(k, "input 0 is missing");
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 1), x->rank, false, &axis));
    memcpy(dims, x->dims, sizeof dims);
    for (int i = 1; i < k->n_in; i++) {
        const struct odb_tensor *y = k->in[i];
        char a[200], b[200];
        bool fits = y != NULL && y->rank == x->rank && y->dtype == x->dtype;
        for (int d = 0; fits && d < x->rank; d++)
            fits = d == axis || y->dims[d] == x->dims[d];
        if (y == NULL)
            return ODB_KERN_FAIL(k, "input %d is missing", i);
        if (!fits)
            return ODB_KERN_FAIL(k, "input %d, %s %s, does not fit input 0, %s %s, on axis %d", i,
                                 odb_dtype_info(y->dtype)->name, odb_shape_text(y, b, sizeof b),
                                 odb_dtype_info(x->dtype)->name, odb_shape_text(x, a, sizeof a),
                                 axis);
        if (__builtin_add_overflow(dims[axis], y->dims[axis], &dims[axis]))
            return ODB_KERN_FAIL(k, "the sum of dimensions %d is too large", axis);
    }
    return odb_kern_outline(k, 0, x->dtype, x->rank, dims);
}

static enum odb_status move_run_concat(struct odb_kern *k)
{
    struct odb_tensor *y = k->out[0];
    struct odb_cells dst = ODB_CELLS_INIT;
    enum odb_status status = ODB_OK;
    int64_t at = 0;
    int axis;

    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 1), y->rank, false, &axis));
    ODB_TRY(odb_cells_write(&dst, y, k->err));
    for (int i = 0; i < k->n_in; i++) {
        struct odb_cells src = ODB_CELLS_INIT;
        int64_t len = k->in[i]->dims[axis];
        ODB_TRY_OUT(odb_cells_read(&src, k->in[i], k->err));
        move_part(y, axis, len, dst.size, dst.data, y->dims[axis], at, src.data, len, 0);
        odb_cells_dispose(&src);
        at += len;
    }
    status = odb_cells_commit(&dst, y, k->err);
out:
    odb_cells_dispose(&dst);
    return status;
}

#define MOVE_MAX_PARTS 4096

/* Lengths as the model gives them: an attribute from opset 2 to 11, else an input; *n = 0: none. */
static enum odb_status move_given_parts(struct odb_kern *k, int64_t *parts, size_t *n)
{
    const int64_t *ints = odb_kern_ints(k, "split", n);

    if (ints == NULL)
        return odb_kern_values(k, 1, parts, MOVE_MAX_PARTS, n);
    if (*n > MOVE_MAX_PARTS)
        return ODB_KERN_FAIL(k, "split has %zu entries; at most %d are supported", *n,
                             MOVE_MAX_PARTS);
    memcpy(parts, ints, *n * sizeof *parts);
    return ODB_OK;
}

/* Equal parts; from opset 18 the last may be smaller. */
static enum odb_status move_equal_parts(struct odb_kern *k, int64_t dim, int64_t *parts, size_t *n)
{
    int64_t num = odb_kern_int(k, "num_outputs", k->n_out);

    if (num < 1 || num > MOVE_MAX_PARTS)
        return ODB_KERN_FAIL(k, "cannot split into %lld parts", (long long)num);
    int64_t chunk = (dim + num - 1) / num, last = dim - chunk * (num - 1);
    if (last < 0 || (last != chunk && k->op->since < 18))
        return ODB_KERN_FAIL(k, "a dimension of %lld cannot be split into %lld parts",
                             (long long)dim, (long long)num);
    for (int64_t i = 0; i < num; i++)
        parts[i] = i + 1 < num ? chunk : last;
    *n = (size_t)num;
    return ODB_OK;
}

static enum odb_status move_parts(struct odb_kern *k, int axis, int64_t *parts)
{
    int64_t dim = k->in[0]->dims[axis], sum = 0;
    size_t n;

    ODB_TRY(move_given_parts(k, parts, &n));
    if (n == 0)
        ODB_TRY(move_equal_parts(k, dim, parts, &n));
    if (n < (size_t)k->n_out)
        return ODB_KERN_FAIL(k, "split has %zu entries for %d outputs", n, k->n_out);
    for (size_t i = 0; i < n; i++)
        if (parts[i] < 0 || __builtin_add_overflow(sum, parts[i], &sum))
            return ODB_KERN_FAIL(k, "split[%zu] is %lld", i, (long long)parts[i]);
    if (sum != dim)
        return ODB_KERN_FAIL(k, "split adds up to %lld, but axis %d has %lld elements",
                             (long long)sum, axis, (long long)dim);
    return ODB_OK;
}

static enum odb_status move_infer_split(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int64_t parts[MOVE_MAX_PARTS], dims[ODB_MAX_RANK];
    int axis;

    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 0), x->rank, false, &axis));
    ODB_TRY(move_parts(k, axis, parts));
    memcpy(dims, x->dims, sizeof dims);
    for (int i = 0; i < k->n_out; i++) {
        dims[axis] = parts[i];
        ODB_TRY(odb_kern_outline(k, i, x->dtype, x->rank, dims));
    }
    return ODB_OK;
}

static enum odb_status move_run_split(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_cells src = ODB_CELLS_INIT, dst = ODB_CELLS_INIT;
    enum odb_status status;
    int64_t parts[MOVE_MAX_PARTS], at = 0;
    int axis;

    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 0), x->rank, false, &axis));
    ODB_TRY(move_parts(k, axis, parts));
    ODB_TRY_OUT(odb_cells_read(&src, x, k->err));
    for (int i = 0; i < k->n_out; at += parts[i++]) {
        if (k->out[i] == NULL)
            continue;
        ODB_TRY_OUT(odb_cells_write(&dst, k->out[i], k->err));
        move_part(x, axis, parts[i], src.size, dst.data, parts[i], 0, src.data, x->dims[axis], at);
        ODB_TRY_OUT(odb_cells_commit(&dst, k->out[i], k->err));
    }
out:
    odb_cells_dispose(&dst);
    odb_cells_dispose(&src);
    return status;
}

/* --- Slice ------------------------------------------------------------------------------------ */

/* Starts, ends, axes and steps, whichever way this opset gives them. */
struct move_slice {
    int64_t starts[ODB_MAX_RANK], ends[ODB_MAX_RANK], axes[ODB_MAX_RANK], steps[ODB_MAX_RANK];
    size_t n;
};

/* One list of a slice: attribute before opset 10, input i from there. Absent: *n = 0. */
static enum odb_status move_slice_list(struct odb_kern *k, const char *attr, int i, int64_t *values,
                                       size_t *n)
{
    if (k->op->since >= 10)
        return odb_kern_values(k, i, values, ODB_MAX_RANK, n);
    const int64_t *ints = odb_kern_ints(k, attr, n);
    if (*n > ODB_MAX_RANK)
        return ODB_KERN_FAIL(k, "%s has %zu entries", attr, *n);
    for (size_t j = 0; j < *n; j++)
        values[j] = ints[j];
    return ODB_OK;
}

static enum odb_status move_slice_read(struct odb_kern *k, struct move_slice *sl)
{
    size_t ends, axes, steps;

    ODB_TRY(move_slice_list(k, "starts", 1, sl->starts, &sl->n));
    ODB_TRY(move_slice_list(k, "ends", 2, sl->ends, &ends));
    ODB_TRY(move_slice_list(k, "axes", 3, sl->axes, &axes));
    ODB_TRY(move_slice_list(k, "steps", 4, sl->steps, &steps));
    if (ends != sl->n || (axes != 0 && axes != sl->n) || (steps != 0 && steps != sl->n))
        return ODB_KERN_FAIL(k, "%zu starts, %zu ends, %zu axes, %zu steps do not go together",
                             sl->n, ends, axes, steps);
    for (size_t i = 0; i < sl->n; i++) {
        sl->axes[i] = axes != 0 ? sl->axes[i] : (int64_t)i;
        sl->steps[i] = steps != 0 ? sl->steps[i] : 1;
    }
    return ODB_OK;
}

/* Clamps a slice of dim elements as NumPy does: *from is the first index taken, the result how
 * many are. Ends such as INT64_MAX mean "all of it". */
static int64_t move_clamp(int64_t dim, int64_t start, int64_t end, int64_t step, int64_t *from)
{
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;

    start += start < 0 ? dim : 0;
    end += end < 0 ? dim : 0;
    start = ODB_MIN(ODB_MAX(start, step > 0 ? low : 0), high);
    end = ODB_MIN(ODB_MAX(end, low), high);
    *from = start;
    if (step > 0)
        return end > start ? (end - start - 1) / step + 1 : 0;
    return start > end ? (start - end - 1) / -ODB_MAX(step, -INT64_MAX) + 1 : 0;
}

static enum odb_status move_slice_job(struct odb_kern *k, struct move_job *job)
{
    const struct odb_tensor *x = k->in[0];
    bool seen[ODB_MAX_RANK] = {false};
    struct move_slice sl;

    ODB_TRY(move_slice_read(k, &sl));
    job->s.rank = x->rank;
    memcpy(job->s.dims, x->dims, sizeof x->dims);
    odb_stride_dense(x->rank, x->dims, job->s.src);
    for (size_t i = 0; i < sl.n; i++) {
        int64_t from, step = sl.steps[i];
        int axis;
        ODB_TRY(odb_kern_axis(k, sl.axes[i], x->rank, false, &axis));
        if (seen[axis])
            return ODB_KERN_FAIL(k, "axis %d is sliced twice", axis);
        if (step == 0)
            return ODB_KERN_FAIL(k, "the step of axis %d is 0", axis);
        seen[axis] = true;
        int64_t n = move_clamp(x->dims[axis], sl.starts[i], sl.ends[i], step, &from);
        job->s.dims[axis] = n;
        job->src += n > 0 ? from * job->s.src[axis] : 0;
        if (n > 1) /* else the step may be too large to multiply with */
            job->s.src[axis] *= step;
    }
    return ODB_OK;
}

static enum odb_status move_infer_slice(struct odb_kern *k)
{
    struct move_job job = {.src = 0};

    ODB_TRY(move_slice_job(k, &job));
    return odb_kern_outline(k, 0, k->in[0]->dtype, job.s.rank, job.s.dims);
}

static enum odb_status move_run_slice(struct odb_kern *k)
{
    struct move_job job = {.src = 0};

    ODB_TRY(move_slice_job(k, &job));
    return move_run(k, &job);
}

/* --- Expand, Tile ----------------------------------------------------------------------------- */

static enum odb_status move_infer_expand(struct odb_kern *k)
{
    struct odb_tensor shape = {.dtype = ODB_I64};
    int64_t dims[ODB_MAX_RANK];
    size_t n;
    int rank;

    ODB_TRY(odb_kern_values(k, 1, shape.dims, ODB_MAX_RANK, &n));
    shape.rank = (int)n;
    ODB_TRY(odb_kern_broadcast(k, k->in[0], &shape, &rank, dims));
    return odb_kern_outline(k, 0, k->in[0]->dtype, rank, dims);
}

static enum odb_status move_run_expand(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *y = k->out[0];
    struct move_job job = {.s.rank = 0};
    int64_t dense[ODB_MAX_RANK];

    odb_stride_dense(x->rank, x->dims, dense);
    for (int i = 0; i < y->rank; i++) {
        int from = i - (y->rank - x->rank);
        move_add(&job.s, y->dims[i], from < 0 || x->dims[from] == 1 ? 0 : dense[from]);
    }
    return move_run(k, &job);
}

/* Repeats per axis. Opset 1 repeats one axis: inputs tiles and axis. */
static enum odb_status move_repeats(struct odb_kern *k, int64_t *repeats)
{
    int rank = k->in[0]->rank, axis;
    int64_t tiles, at;
    size_t n;

    if (k->op->since >= 6) {
        ODB_TRY(odb_kern_values(k, 1, repeats, ODB_MAX_RANK, &n));
        if (n != (size_t)rank)
            return ODB_KERN_FAIL(k, "%zu repeats for a tensor of rank %d", n, rank);
        return ODB_OK;
    }
    ODB_TRY(odb_kern_values(k, 1, &tiles, 1, &n));
    ODB_TRY(odb_kern_values(k, 2, &at, 1, &n));
    if (n != 1 || k->in[1]->count != 1)
        return ODB_KERN_FAIL(k, "tiles and axis must be one number each");
    ODB_TRY(odb_kern_axis(k, at, rank, false, &axis));
    for (int i = 0; i < rank; i++)
        repeats[i] = i == axis ? tiles : 1;
    return ODB_OK;
}

static enum odb_status move_infer_tile(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int64_t repeats[ODB_MAX_RANK], dims[ODB_MAX_RANK];

    ODB_TRY(move_repeats(k, repeats));
    for (int i = 0; i < x->rank; i++)
        if (repeats[i] < 0 || __builtin_mul_overflow(x->dims[i], repeats[i], &dims[i]))
            return ODB_KERN_FAIL(k, "dimension %d of %lld cannot be repeated %lld times", i,
                                 (long long)x->dims[i], (long long)repeats[i]);
    return odb_kern_outline(k, 0, x->dtype, x->rank, dims);
}

static enum odb_status move_run_tile(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct move_job job = {.s.rank = 0};
    int64_t repeats[ODB_MAX_RANK], dense[ODB_MAX_RANK];

    ODB_TRY(move_repeats(k, repeats));
    odb_stride_dense(x->rank, x->dims, dense);
    for (int i = 0; i < x->rank; i++) {
        move_add(&job.s, repeats[i], 0);
        move_add(&job.s, x->dims[i], dense[i]);
    }
    return move_run(k, &job);
}

/* --- Pad, CenterCropPad ----------------------------------------------------------------------- */

/* Elements to add (or, negative, take away) on either side of each axis. */
struct move_pads {
    int64_t begin[ODB_MAX_RANK], end[ODB_MAX_RANK];
};

/* Fills index at of axis (and everything there is along the axes behind it) in the output of a
 * padding whose inner part lies at [lead, lead + dims) of the axes before it. */
static void move_pad_plane(const struct odb_stride *inner, const int64_t *lead,
                           const struct odb_tensor *y, const int64_t *dense, int axis,
                           struct odb_stride *s, int64_t *offset)
{
    *offset = 0;
    s->rank = 0;
    for (int i = 0; i < y->rank; i++) {
        if (i < axis)
            *offset += lead[i] * dense[i];
        if (i == axis)
            continue;
        s->dst[s->rank] = dense[i];
        move_add(s, i < axis ? inner->dims[i] : y->dims[i], dense[i]);
    }
}

/* Where index i of an axis takes its value from, when the inner part has n > 0 elements. */
static int64_t move_reflected(const char *mode, int64_t i, int64_t n)
{
    if (mode[0] == 'e')
        return ODB_MIN(ODB_MAX(i, 0), n - 1);
    int64_t period = mode[0] == 'w' ? n : n > 1 ? 2 * (n - 1) : 1;
    int64_t at = (i % period + period) % period;
    return at < n ? at : period - at;
}

/* Pads after the inner part has been put in place: axis by axis from the last, so that every plane
 * copied is complete along the axes behind. value NULL: planes of the output itself are copied. */
static void move_pad_fill(const struct odb_stride *inner, const int64_t *lead,
                          const struct odb_tensor *y, const char *mode, size_t size,
                          unsigned char *data, const unsigned char *value)
{
    int64_t dense[ODB_MAX_RANK];
    struct odb_stride s;

    odb_stride_dense(y->rank, y->dims, dense);
    for (int axis = y->rank - 1; axis >= 0; axis--) {
        int64_t n = inner->dims[axis], offset, step = dense[axis] * (int64_t)size;
        move_pad_plane(inner, lead, y, dense, axis, &s, &offset);
        unsigned char *base = data + offset * (int64_t)size;
        if (value != NULL) { /* both margins at once would need two calls as well */
            memset(s.src, 0, sizeof s.src);
            s.dst[s.rank] = dense[axis];
            move_add(&s, lead[axis], 0);
            odb_stride_copy(&s, size, base, value);
            s.dims[s.rank - 1] = y->dims[axis] - lead[axis] - n;
            odb_stride_copy(&s, size, base + (lead[axis] + n) * step, value);
            continue;
        }
        for (int64_t i = 0; i < y->dims[axis]; i++)
            if (i < lead[axis] || i >= lead[axis] + n)
                odb_stride_copy(&s, size, base + i * step,
                                base +
                                    (lead[axis] + move_reflected(mode, i - lead[axis], n)) * step);
    }
}

static enum odb_status move_infer_padded(struct odb_kern *k, const struct move_pads *pads)
{
    const struct odb_tensor *x = k->in[0];
    int64_t dims[ODB_MAX_RANK];

    for (int i = 0; i < x->rank; i++)
        if (pads->begin[i] < -x->dims[i] || pads->end[i] < -x->dims[i] ||
            __builtin_add_overflow(x->dims[i], pads->begin[i], &dims[i]) ||
            __builtin_add_overflow(dims[i], pads->end[i], &dims[i]) || dims[i] < 0)
            return ODB_KERN_FAIL(k, "pads %lld and %lld do not fit dimension %d of %lld",
                                 (long long)pads->begin[i], (long long)pads->end[i], i,
                                 (long long)x->dims[i]);
    return odb_kern_outline(k, 0, x->dtype, x->rank, dims);
}

/* What is being padded, for odb_cells_move. */
struct move_padding {
    struct move_job job; /* the part of the input that stays */
    int64_t lead[ODB_MAX_RANK];
    const char *mode;
    const unsigned char *value;
};

static enum odb_status move_pad_cells(struct odb_kern *k, void *arg, size_t size,
                                      unsigned char *dst, const unsigned char *src)
{
    struct move_padding *p = arg;

    ODB_TRY(move_copy(k, &p->job, size, dst, src));
    move_pad_fill(&p->job.s, p->lead, k->out[0], p->mode, size, dst, p->value);
    return ODB_OK;
}

static enum odb_status move_run_padded(struct odb_kern *k, const struct move_pads *pads,
                                       const char *mode, const unsigned char *value)
{
    const struct odb_tensor *x = k->in[0], *y = k->out[0];
    struct move_padding p = {.mode = mode, .value = mode[0] == 'c' ? value : NULL};
    int64_t from[ODB_MAX_RANK], to[ODB_MAX_RANK];

    odb_stride_dense(x->rank, x->dims, from);
    odb_stride_dense(y->rank, y->dims, to);
    for (int i = 0; i < x->rank; i++) {
        int64_t cut = ODB_MIN(ODB_MAX(-pads->begin[i], 0), x->dims[i]);
        int64_t n = x->dims[i] - cut - ODB_MAX(-pads->end[i], 0);
        p.lead[i] = ODB_MIN(ODB_MAX(pads->begin[i], 0), y->dims[i]);
        n = ODB_MIN(ODB_MAX(n, 0), y->dims[i] - p.lead[i]);
        if (n == 0 && y->dims[i] > 0 && p.value == NULL)
            return ODB_KERN_FAIL(k, "mode %s has nothing to pad axis %d with", mode, i);
        p.job.s.dst[i] = to[i];
        move_add(&p.job.s, n, from[i]);
        p.job.dst += p.lead[i] * to[i];
        p.job.src += cut * from[i];
    }
    return odb_cells_move(k, 0, 0, move_pad_cells, &p);
}

/* Pads from attributes (opset 1, 2) or inputs 1 and, from 18, 3. */
static enum odb_status move_pads_read(struct odb_kern *k, struct move_pads *pads)
{
    int rank = k->in[0]->rank;
    int64_t list[2 * ODB_MAX_RANK], axes[ODB_MAX_RANK];
    const int64_t *values = list;
    size_t n, n_axes;

    memset(pads, 0, sizeof *pads);
    if (k->op->since >= 11)
        ODB_TRY(odb_kern_values(k, 1, list, ODB_COUNT(list), &n));
    else
        values = odb_kern_ints(k, k->op->since == 1 ? "paddings" : "pads", &n);
    ODB_TRY(odb_kern_values(k, 3, axes, ODB_MAX_RANK, &n_axes));
    bool all = odb_kern_in(k, 3) == NULL;
    if (all)
        n_axes = (size_t)rank;
    if (n != 2 * n_axes)
        return ODB_KERN_FAIL(k, "%zu pads for %zu axes", n, n_axes);
    for (size_t i = 0; i < n_axes; i++) {
        int axis = (int)i;
        if (!all)
            ODB_TRY(odb_kern_axis(k, axes[i], rank, false, &axis));
        pads->begin[axis] = values[i];
        pads->end[axis] = values[n_axes + i];
    }
    return ODB_OK;
}

static enum odb_status move_infer_pad(struct odb_kern *k)
{
    const char *mode = odb_kern_string(k, "mode", "constant");
    const struct odb_tensor *value = odb_kern_in(k, 2);
    struct move_pads pads;

    if (strcmp(mode, "constant") != 0 && strcmp(mode, "reflect") != 0 &&
        strcmp(mode, "edge") != 0 && strcmp(mode, "wrap") != 0)
        return ODB_KERN_FAIL(k, "unknown mode \"%s\"", mode);
    if (value != NULL && (value->count != 1 || value->dtype != k->in[0]->dtype))
        return ODB_KERN_FAIL(k, "constant_value must be one %s",
                             odb_dtype_info(k->in[0]->dtype)->name);
    ODB_TRY(move_pads_read(k, &pads));
    return move_infer_padded(k, &pads);
}

static enum odb_status move_run_pad(struct odb_kern *k)
{
    const struct odb_tensor *value = odb_kern_in(k, 2);
    struct odb_cells cell = ODB_CELLS_INIT;
    unsigned char zero[16] = {0};
    struct move_pads pads;

    ODB_TRY(move_pads_read(k, &pads));
    if (value != NULL)
        ODB_TRY(odb_cells_read(&cell, value, k->err));
    else if (k->op->since < 11)
        odb_store_f64(k->in[0]->dtype, zero, 0, odb_kern_float(k, "value", 0));
    enum odb_status status = move_run_padded(k, &pads, odb_kern_string(k, "mode", "constant"),
                                             value != NULL ? cell.data : zero);
    odb_cells_dispose(&cell);
    return status;
}

/* CenterCropPad is a Pad whose pads follow from the sizes wanted; the odd element goes behind. */
static enum odb_status move_center_pads(struct odb_kern *k, struct move_pads *pads)
{
    const struct odb_tensor *x = k->in[0];
    int64_t want[ODB_MAX_RANK];
    size_t n, n_axes;
    const int64_t *axes = odb_kern_ints(k, "axes", &n_axes);

    memset(pads, 0, sizeof *pads);
    ODB_TRY(odb_kern_values(k, 1, want, ODB_MAX_RANK, &n));
    if (!odb_kern_has(k, "axes")) /* an empty list is one, too */
        n_axes = (size_t)x->rank;
    if (n != n_axes)
        return ODB_KERN_FAIL(k, "shape has %zu entries for %zu axes", n, n_axes);
    for (size_t i = 0; i < n; i++) {
        int axis;
        ODB_TRY(odb_kern_axis(k, axes != NULL ? axes[i] : (int64_t)i, x->rank, false, &axis));
        if (want[i] < 0)
            return ODB_KERN_FAIL(k, "shape[%zu] is %lld", i, (long long)want[i]);
        int64_t more = want[i] - x->dims[axis];
        pads->begin[axis] = more / 2;
        pads->end[axis] = more - more / 2;
    }
    return ODB_OK;
}

static enum odb_status move_infer_center(struct odb_kern *k)
{
    struct move_pads pads;

    ODB_TRY(move_center_pads(k, &pads));
    return move_infer_padded(k, &pads);
}

static enum odb_status move_run_center(struct odb_kern *k)
{
    const unsigned char zero[16] = {0};
    struct move_pads pads;

    ODB_TRY(move_center_pads(k, &pads));
    return move_run_padded(k, &pads, "constant", zero);
}

/* --- SpaceToDepth, DepthToSpace --------------------------------------------------------------- */

static enum odb_status move_block(struct odb_kern *k, int64_t *block)
{
    *block = odb_kern_int(k, "blocksize", 0);
    if (k->in[0]->rank != 4)
        return ODB_KERN_FAIL(k, "the input has rank %d, not 4", k->in[0]->rank);
    if (*block < 1 || *block > 1 << 20)
        return ODB_KERN_FAIL(k, "blocksize is %lld", (long long)*block);
    return ODB_OK;
}

static enum odb_status move_infer_to_depth(struct odb_kern *k)
{
    const int64_t *d = k->in[0]->dims;
    int64_t b;

    ODB_TRY(move_block(k, &b));
    if (d[2] % b != 0 || d[3] % b != 0)
        return ODB_KERN_FAIL(k, "%lld x %lld is no multiple of blocksize %lld", (long long)d[2],
                             (long long)d[3], (long long)b);
    int64_t dims[4] = {d[0], d[1] * b * b, d[2] / b, d[3] / b};
    return odb_kern_outline(k, 0, k->in[0]->dtype, 4, dims);
}

/* Output (n, by, bx, c, h, w) is input (n, c, h, by, w, bx). */
static enum odb_status move_run_to_depth(struct odb_kern *k)
{
    const int64_t *d = k->in[0]->dims;
    struct move_job job = {.s.rank = 0};
    int64_t b;

    ODB_TRY(move_block(k, &b));
    move_add(&job.s, d[0], d[1] * d[2] * d[3]);
    move_add(&job.s, b, d[3]);
    move_add(&job.s, b, 1);
    move_add(&job.s, d[1], d[2] * d[3]);
    move_add(&job.s, d[2] / b, b * d[3]);
    move_add(&job.s, d[3] / b, b);
    return move_run(k, &job);
}

static enum odb_status move_infer_to_space(struct odb_kern *k)
{
    const int64_t *d = k->in[0]->dims;
    const char *mode = odb_kern_string(k, "mode", "DCR");
    int64_t b;

    ODB_TRY(move_block(k, &b));
    if (strcmp(mode, "DCR") != 0 && strcmp(mode, "CRD") != 0)
        return ODB_KERN_FAIL(k, "unknown mode \"%s\"", mode);
    if (d[1] % (b * b) != 0)
        return ODB_KERN_FAIL(k, "%lld channels are no multiple of blocksize %lld squared",
                             (long long)d[1], (long long)b);
    int64_t dims[4] = {d[0], d[1] / (b * b), d[2] * b, d[3] * b};
    return odb_kern_outline(k, 0, k->in[0]->dtype, 4, dims);
}

/* Output (n, c, h, by, w, bx) is input (n, by, bx, c, h, w), or in CRD (n, c, by, bx, h, w). */
static enum odb_status move_run_to_space(struct odb_kern *k)
{
    const int64_t *d = k->in[0]->dims;
    bool crd = odb_kern_string(k, "mode", "DCR")[0] == 'C';
    struct move_job job = {.s.rank = 0};
    int64_t b;

    ODB_TRY(move_block(k, &b));
    int64_t depth = d[1] / (b * b), plane = d[2] * d[3], bx = crd ? plane : depth * plane;
    move_add(&job.s, d[0], d[1] * plane);
    move_add(&job.s, depth, crd ? b * b * plane : plane);
    move_add(&job.s, d[2], d[3]);
    move_add(&job.s, b, b * bx);
    move_add(&job.s, d[3], 1);
    move_add(&job.s, b, bx);
    return move_run(k, &job);
}

/* --- ReverseSequence -------------------------------------------------------------------------- */

struct move_reverse {
    int batch, time;
};

static enum odb_status move_reverse_read(struct odb_kern *k, struct move_reverse *r)
{
    const struct odb_tensor *x = k->in[0], *lens = k->in[1];

    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "batch_axis", 1), x->rank, false, &r->batch));
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "time_axis", 0), x->rank, false, &r->time));
    if (r->batch == r->time)
        return ODB_KERN_FAIL(k, "batch_axis and time_axis are both %d", r->batch);
    if (lens->rank != 1 || lens->dims[0] != x->dims[r->batch])
        return ODB_KERN_FAIL(k, "%zu sequence_lens for a batch of %lld", lens->count,
                             (long long)x->dims[r->batch]);
    return ODB_OK;
}

static enum odb_status move_infer_reverse(struct odb_kern *k)
{
    struct move_reverse r;

    ODB_TRY(move_reverse_read(k, &r));
    return odb_infer_same(k);
}

/* Per batch entry: the first len steps backwards, the rest as they are. */
static enum odb_status move_reverse_cells(struct odb_kern *k, void *arg, size_t size,
                                          unsigned char *dst, const unsigned char *src)
{
    const struct odb_tensor *x = k->in[0], *lens = k->in[1];
    const struct move_reverse *r = arg;
    struct odb_stride s = {.rank = x->rank};
    int64_t dense[ODB_MAX_RANK], steps = x->dims[r->time];

    memcpy(s.dims, x->dims, sizeof x->dims);
    odb_stride_dense(x->rank, x->dims, dense);
    memcpy(s.dst, dense, sizeof dense);
    s.dims[r->batch] = 1;
    for (int64_t i = 0; i < x->dims[r->batch]; i++) {
        int64_t len = odb_tensor_i64(lens, (size_t)i), step = dense[r->time] * (int64_t)size;
        int64_t base = i * dense[r->batch] * (int64_t)size;
        if (len < 0 || len > steps)
            return ODB_KERN_FAIL(k, "sequence_lens[%lld] is %lld, but there are %lld steps",
                                 (long long)i, (long long)len, (long long)steps);
        memcpy(s.src, dense, sizeof dense);
        s.dims[r->time] = steps - len;
        odb_stride_copy(&s, size, dst + base + len * step, src + base + len * step);
        s.dims[r->time] = len;
        s.src[r->time] = -dense[r->time];
        if (len > 0)
            odb_stride_copy(&s, size, dst + base, src + base + (len - 1) * step);
    }
    return ODB_OK;
}

static enum odb_status move_run_reverse(struct odb_kern *k)
{
    struct move_reverse r;

    ODB_TRY(move_reverse_read(k, &r));
    return odb_cells_move(k, 0, 0, move_reverse_cells, &r);
}

/* --- rows ------------------------------------------------------------------------------------- */

#define MOVE_ATTRS(...) ((const struct odb_attr_spec[]){__VA_ARGS__, {.name = NULL}})
#define MOVE_INT(name_, default_) ODB_OPTIONAL_ATTR(name_, INT, default_)
#define MOVE_INTS(name_) ODB_OPTIONAL_ATTR(name_, INTS, NULL)
#define MOVE_NEEDED(name_, type_) ODB_REQUIRED_ATTR(name_, type_)
#define MOVE_TEXT(name_, default_) ODB_OPTIONAL_ATTR(name_, STRING, default_)
#define MOVE_VALUE ODB_OPTIONAL_ATTR("value", FLOAT, "0")
#define MOVE_ROW(name_, since_, min_in_, max_in_, max_out_, kernel)                                \
    .domain = "", .name = (name_), .since = (since_), .min_in = (min_in_), .max_in = (max_in_),    \
    .min_out = 1, .max_out = (max_out_), .flags = ODB_OP_EXACT, .infer = move_infer_##kernel,      \
    .run = move_run_##kernel
/* What is moved, and integers that say how. */
#define MOVE_BY .types = {ODB_T_ANY, ODB_BIT(ODB_I64)}
#define MOVE_BY_INDEX .types = {ODB_T_ANY, ODB_T_INDEX}
#define MOVE_PAD .types = {ODB_T_ANY, ODB_BIT(ODB_I64), ODB_AS(0), ODB_T_INDEX}

const struct odb_op odb_ops_move[] = {
    {MOVE_ROW("Transpose", 1, 1, 1, 1, transpose), .types = {ODB_T_ANY},
     .attrs = MOVE_ATTRS(MOVE_INTS("perm")), ODB_NAMES("data", "transposed"), ODB_HALVES(1, 13),
     ODB_TRAITS(ODB_IS_MOVE)},
    {MOVE_ROW("Concat", 1, 1, ODB_MANY, 1, concat), .types = {ODB_T_ANY},
     .attrs = MOVE_ATTRS(MOVE_INT("axis", NULL)), ODB_NAMES("inputs...", "concat_result"),
     ODB_HALVES(1, 13)}, /* 1 where it is not given */
    {MOVE_ROW("Concat", 4, 1, ODB_MANY, 1, concat), .types = {ODB_T_ANY},
     .attrs = MOVE_ATTRS(MOVE_NEEDED("axis", INT))},
    {MOVE_ROW("Split", 1, 1, 2, ODB_MANY, split), .types = {ODB_T_NUMBER},
     .attrs = MOVE_ATTRS(MOVE_INT("axis", NULL), MOVE_INTS("split")),
     ODB_NAMES("input,split", "outputs..."), ODB_HALVES(2, 13)}, /* 0 where not given */
    {MOVE_ROW("Split", 2, 1, 1, ODB_MANY, split), .types = {ODB_T_ANY},
     .attrs = MOVE_ATTRS(MOVE_INT("axis", "0"), MOVE_INTS("split")),
     ODB_NAMES("input", "outputs...")},
    {MOVE_ROW("Split", 13, 1, 2, ODB_MANY, split), MOVE_BY,
     .attrs = MOVE_ATTRS(MOVE_INT("axis", "0")), ODB_NAMES("input,split", "outputs...")},
    {MOVE_ROW("Split", 18, 1, 2, ODB_MANY, split), MOVE_BY,
     .attrs = MOVE_ATTRS(MOVE_INT("axis", "0"), MOVE_INT("num_outputs", NULL))},
    {MOVE_ROW("Slice", 1, 1, 1, 1, slice), .types = {ODB_T_ANY},
     .attrs = MOVE_ATTRS(MOVE_NEEDED("starts", INTS), MOVE_NEEDED("ends", INTS), MOVE_INTS("axes")),
     ODB_NAMES("data", "output"), ODB_HALVES(1, 13), ODB_TRAITS(ODB_IS_MOVE)},
    {MOVE_ROW("Slice", 10, 3, 5, 1, slice), MOVE_BY_INDEX,
     ODB_NAMES("data,starts,ends,axes,steps", "output")},
    {MOVE_ROW("Expand", 8, 2, 2, 1, expand), MOVE_BY, ODB_NAMES("input,shape", "output"),
     ODB_HALVES(8, 13)},
    {MOVE_ROW("Tile", 1, 3, 3, 1, tile), .types = {ODB_T_NUMBER},
     ODB_NAMES("input,tiles,axis", "output"), ODB_HALVES(6, 13)},
    {MOVE_ROW("Tile", 6, 2, 2, 1, tile), MOVE_BY, ODB_NAMES("input,repeats", "output")},
    {MOVE_ROW("Pad", 1, 1, 1, 1, pad), .types = {ODB_T_ANY},
     .attrs = MOVE_ATTRS(MOVE_TEXT("mode", "constant"), MOVE_NEEDED("paddings", INTS), MOVE_VALUE),
     ODB_NAMES("data", "output"), ODB_HALVES(1, 13)},
    {MOVE_ROW("Pad", 2, 1, 1, 1, pad), .types = {ODB_T_ANY},
     .attrs = MOVE_ATTRS(MOVE_TEXT("mode", "constant"), MOVE_NEEDED("pads", INTS), MOVE_VALUE)},
    {MOVE_ROW("Pad", 11, 2, 3, 1, pad), MOVE_PAD,
     .attrs = MOVE_ATTRS(MOVE_TEXT("mode", "constant")),
     ODB_NAMES("data,pads,constant_value", "output")},
    {MOVE_ROW("Pad", 18, 2, 4, 1, pad), MOVE_PAD,
     .attrs = MOVE_ATTRS(MOVE_TEXT("mode", "constant")),
     ODB_NAMES("data,pads,constant_value,axes", "output")},
    {MOVE_ROW("CenterCropPad", 18, 2, 2, 1, center), MOVE_BY_INDEX,
     .attrs = MOVE_ATTRS(MOVE_INTS("axes")), ODB_NAMES("input_data,shape", "output_data"),
     ODB_HALVES(18, 18)},
    {MOVE_ROW("SpaceToDepth", 1, 1, 1, 1, to_depth), .types = {ODB_T_ANY},
     .attrs = MOVE_ATTRS(MOVE_NEEDED("blocksize", INT)), ODB_NAMES("input", "output"),
     ODB_HALVES(1, 13)},
    {MOVE_ROW("DepthToSpace", 1, 1, 1, 1, to_space), .types = {ODB_T_ANY},
     .attrs = MOVE_ATTRS(MOVE_NEEDED("blocksize", INT)), ODB_NAMES("input", "output"),
     ODB_HALVES(1, 13)},
    {MOVE_ROW("DepthToSpace", 11, 1, 1, 1, to_space), .types = {ODB_T_ANY},
     .attrs = MOVE_ATTRS(MOVE_NEEDED("blocksize", INT), MOVE_TEXT("mode", "DCR"))},
    {MOVE_ROW("ReverseSequence", 10, 2, 2, 1, reverse), MOVE_BY,
     .attrs = MOVE_ATTRS(MOVE_INT("batch_axis", "1"), MOVE_INT("time_axis", "0")),
     ODB_NAMES("input,sequence_lens", "Y"), ODB_HALVES(10, 0)},
    {.name = NULL},
};
