/* SPDX-License-Identifier: MIT
 *
 * AffineGrid makes grids, GridSample samples along them: every output location reads the input
 * around a point that the grid names. The point gives, per spatial dimension, up to four indices
 * with weights; their products over the dimensions are the taps of the location, the same for all
 * channels.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/cells.h"
#include "kernels/core/row.h"

#define GRID_DIMS 4          /* spatial dimensions at most */
#define GRID_TAPS 256        /* 4 to the power of that */
#define GRID_CUBIC_A (-0.75) /* Keys 1981, as PyTorch chose it */

enum grid_mode { GRID_LINEAR, GRID_NEAREST, GRID_CUBIC };
enum grid_padding { GRID_ZEROS, GRID_BORDER, GRID_REFLECTION };

struct grid_job {
    enum grid_mode mode;
    enum grid_padding padding;
    bool align;
    bool narrow;                       /* noisy mode: sums in float */
    int dims;                          /* spatial dimensions */
    int64_t in[GRID_DIMS];             /* of the input */
    size_t channels, plane, locations; /* input cells and output cells per channel */
    const struct odb_tensor *grid;
    struct odb_tensor *y;
    unsigned char *dst;
    const unsigned char *src;
    size_t size; /* bytes per cell */
};

struct grid_taps {
    size_t n;
    int64_t at[GRID_TAPS]; /* cell of the plane, -1: zero */
    double weight[GRID_TAPS];
};

/* --- coordinates ------------------------------------------------------------------------------ */

/* From [-1, 1] to cells, in the grid's own precision. */
static double grid_denormalise(const struct grid_job *j, double v, int64_t n)
{
    if (j->grid->dtype == ODB_F64)
        return j->align ? (v + 1) / 2 * (double)(n - 1) : ((v + 1) * (double)n - 1) / 2;
    float x = (float)v + 1, len = (float)n;
    return (double)(j->align ? x / 2 * (len - 1) : (x * len - 1) / 2);
}

/* Mirrors at the borders until inside. */
static double grid_reflect(double x, double low, double high)
{
    double range = high - low, beyond = x < low ? low - x : x - high;

    if (x >= low && x <= high)
        return x;
    if (!(range > 0) || !isfinite(beyond))
        return low;
    double turns = floor(beyond / range), rest = beyond - turns * range;
    bool even = fmod(turns, 2) == 0;
    return (x < low) == even ? low + rest : high - rest;
}

/* How far outside a place counts where border cells go on for ever. A cubic place outside still has
 * the last cells inside among its taps, so that it is each tap which ends at the border, as PyTorch
 * does and ONNX Runtime since 1.17; ONNX's reference evaluator moves the place. */
static double grid_border(const struct grid_job *j, double x, int64_t n)
{
    double beyond = j->mode == GRID_CUBIC ? 3 : 0; /* no tap is inside from there on */
    return fmin(fmax(x, -beyond), (double)(n - 1) + beyond);
}

/* The cell that index i of a dimension of n reads; -1: outside, zero. */
static int64_t grid_cell(const struct grid_job *j, double i, int64_t n)
{
    if (i >= 0 && i <= (double)(n - 1))
        return (int64_t)i;
    if (j->padding == GRID_ZEROS)
        return -1;
    if (j->padding == GRID_REFLECTION)
        i = j->align ? grid_reflect(i, 0, (double)(n - 1)) : grid_reflect(i, -0.5, (double)n - 0.5);
    return i > 0 ? (int64_t)fmin(i, (double)(n - 1)) : 0;
}

/* Indices and weights along one dimension; returns how many. */
static size_t grid_axis(const struct grid_job *j, double v, int64_t n, int64_t *at, double *weight)
{
    double low = j->align ? 0 : -0.5, high = j->align ? (double)(n - 1) : (double)n - 0.5;
    double x = grid_denormalise(j, v, n);

    x = j->mode == GRID_NEAREST ? nearbyint(x) : x;
    if (j->padding == GRID_BORDER)
        x = grid_border(j, x, n);
    else if (j->padding == GRID_REFLECTION)
        x = grid_reflect(x, low, high);
    weight[0] = 1;
    if (j->mode == GRID_NEAREST) {
        at[0] = grid_cell(j, x, n);
        return 1;
    }
    double base = floor(x), r = x - base, a = GRID_CUBIC_A;
    size_t taps = j->mode == GRID_LINEAR ? 2 : 4;
    for (size_t t = 0; t < taps; t++)
        at[t] = grid_cell(j, base + (double)t - (taps == 4), n);
    if (taps == 2) {
        weight[0] = 1 - r;
        weight[1] = r;
        return 2;
    }
    for (int t = 0; t < 4; t++) {
        double d = fabs(r + 1 - t);
        weight[t] =
            d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((d - 5) * d + 8) * d * a - 4 * a;
    }
    return 4;
}

/* The taps of output location l of batch entry b. The grid lists the innermost dimension first. */
static void grid_taps(const struct grid_job *j, size_t b, size_t l, struct grid_taps *taps)
{
    size_t first = (b * j->locations + l) * (size_t)j->dims;

    taps->n = 1;
    taps->at[0] = 0;
    taps->weight[0] = 1;
    for (int d = 0; d < j->dims; d++) {
        double v = odb_tensor_f64(j->grid, first + (size_t)(j->dims - 1 - d)), weight[4];
        int64_t at[4];
        size_t n = grid_axis(j, v, j->in[d], at, weight);
        for (size_t old = taps->n; old-- > 0;) /* from the back: each tap becomes n of them */
            for (size_t t = n; t-- > 0;) {
                int64_t base = taps->at[old];
                taps->at[old * n + t] = base < 0 || at[t] < 0 ? -1 : base * j->in[d] + at[t];
                taps->weight[old * n + t] = taps->weight[old] * weight[t];
            }
        taps->n *= n;
    }
}

/* --- sampling --------------------------------------------------------------------------------- */

static void grid_sample(const struct grid_job *j, const struct grid_taps *taps, size_t from,
                        size_t to)
{
    double sum = 0;

    for (size_t t = 0; t < taps->n; t++) {
        if (taps->at[t] < 0)
            continue;
        sum += taps->weight[t] * odb_load_f64(j->y->dtype, j->src, from + (size_t)taps->at[t]);
        sum = j->narrow ? (float)sum : sum;
    }
    odb_store_f64(j->y->dtype, j->dst, to, sum);
}

static void grid_body(void *arg, size_t begin, size_t end)
{
    const struct grid_job *j = arg;
    struct grid_taps taps;

    for (size_t i = begin; i < end; i++) {
        size_t b = i / j->locations, l = i % j->locations;
        grid_taps(j, b, l, &taps);
        for (size_t c = b * j->channels; c < (b + 1) * j->channels; c++) {
            size_t to = c * j->locations + l;
            if (j->mode != GRID_NEAREST)
                grid_sample(j, &taps, c * j->plane, to);
            else if (taps.at[0] >= 0)
                odb_cell_copy(j->dst + to * j->size,
                              j->src + (c * j->plane + (size_t)taps.at[0]) * j->size, j->size);
            else
                memset(j->dst + to * j->size, 0, j->size);
        }
    }
}

static enum odb_status grid_cells(struct odb_kern *k, void *arg, size_t size, unsigned char *dst,
                                  const unsigned char *src)
{
    struct grid_job *j = arg;

    j->dst = dst;
    j->src = src;
    j->size = size;
    odb_parallel_for((size_t)j->y->dims[0] * j->locations, 1024, grid_body, j);
    return ODB_OK;
}

/* --- the operator ----------------------------------------------------------------------------- */

static enum odb_status grid_choice(struct odb_kern *k, const char *attr, const char *const *names,
                                   int n, int *out)
{
    const char *text = odb_kern_string(k, attr, names[0]);

    for (*out = 0; *out < n; ++*out)
        if (strcmp(text, names[*out]) == 0)
            return ODB_OK;
    return ODB_KERN_FAIL(k, "unknown %s \"%s\"", attr, text);
}

static enum odb_status grid_read(struct odb_kern *k, struct grid_job *j)
{
    static const char *const modes_16[] = {"bilinear", "nearest", "bicubic"};
    static const char *const modes_20[] = {"linear", "nearest", "cubic"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    int mode, padding;

    ODB_TRY(grid_choice(k, "mode", k->op->since >= 20 ? modes_20 : modes_16, 3, &mode));
    ODB_TRY(grid_choice(k, "padding_mode", paddings, 3, &padding));
    j->mode = (enum grid_mode)mode;
    j->padding = (enum grid_padding)padding;
    j->align = odb_kern_int(k, "align_corners", 0) != 0;
    return ODB_OK;
}

static enum odb_status grid_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *grid = k->in[1];
    int64_t dims[ODB_MAX_RANK];
    char a[200], b[200];
    struct grid_job j;

    ODB_TRY(grid_read(k, &j));
    if (x->rank < 3 || grid->rank != x->rank || grid->dims[0] != x->dims[0] ||
        grid->dims[grid->rank - 1] != x->rank - 2)
        return ODB_KERN_FAIL(k, "a grid of shape %s does not fit an input of shape %s",
                             odb_shape_text(grid, a, sizeof a), odb_shape_text(x, b, sizeof b));
    if (x->rank - 2 > GRID_DIMS)
        return ODB_KERN_UNSUPPORTED(k, "%d spatial dimensions", x->rank - 2);
    enum odb_dtype_class class_ = odb_dtype_info(x->dtype)->class_;
    if (j.mode != GRID_NEAREST && class_ != ODB_CLASS_FLOAT)
        return ODB_KERN_UNSUPPORTED(k, "interpolation of %s", odb_dtype_info(x->dtype)->name);
    dims[0] = x->dims[0];
    dims[1] = x->dims[1];
    for (int i = 2; i < x->rank; i++)
        dims[i] = grid->dims[i - 1];
    return odb_kern_outline(k, 0, x->dtype, x->rank, dims);
}

static enum odb_status grid_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct grid_job j = {.narrow = k->sequential && x->dtype == ODB_F32,
                         .dims = x->rank - 2,
                         .grid = k->in[1],
                         .y = k->out[0]};

    ODB_TRY(grid_read(k, &j));
    for (int d = 0; d < j.dims; d++)
        j.in[d] = x->dims[d + 2];
    j.channels = (size_t)x->dims[1];
    j.plane = odb_dims_product(x->dims, 2, x->rank);
    j.locations = odb_dims_product(k->out[0]->dims, 2, x->rank);
    if (k->out[0]->count == 0)
        return ODB_OK;
    if (j.plane == 0)
        return ODB_KERN_FAIL(k, "there is nothing to sample");
    return odb_cells_move(k, 0, 0, grid_cells, &j);
}

/* --- AffineGrid ------------------------------------------------------------------------------- */

static enum odb_status grid_infer_affine(struct odb_kern *k)
{
    const struct odb_tensor *theta = k->in[0];
    int64_t size[5], dims[5];
    size_t n;

    ODB_TRY(odb_kern_values(k, 1, size, 5, &n));
    if (n < 4 || theta->rank != 3 || theta->dims[0] != size[0] ||
        theta->dims[1] != (int64_t)n - 2 || theta->dims[2] != (int64_t)n - 1)
        return ODB_KERN_FAIL(k, "theta does not fit a size of %zu dimensions", n);
    dims[0] = size[0];
    for (size_t i = 2; i < n; i++)
        dims[i - 1] = size[i];
    dims[n - 1] = (int64_t)n - 2;
    return odb_kern_outline(k, 0, theta->dtype, (int)n, dims);
}

/* Position i of n in [-1, 1]. */
static double grid_position(bool align, int64_t i, int64_t n)
{
    if (align)
        return n > 1 ? 2 * (double)i / (double)(n - 1) - 1 : 0;
    return (2 * (double)i + 1) / (double)n - 1;
}

/* Each location times the batch entry's matrix; x, the innermost dimension, comes first. */
static enum odb_status grid_run_affine(struct odb_kern *k)
{
    const struct odb_tensor *theta = k->in[0];
    struct odb_tensor *y = k->out[0];
    size_t dims = (size_t)y->rank - 2, locations = odb_dims_product(y->dims, 1, y->rank - 1);
    bool align = odb_kern_int(k, "align_corners", 0) != 0;

    for (size_t l = 0; l < y->count / dims; l++) {
        size_t matrix = l / locations * dims * (dims + 1), rest = l % locations;
        double at[3];
        for (size_t d = 0; d < dims; d++) {
            int64_t n = y->dims[dims - d];
            at[d] = grid_position(align, (int64_t)(rest % (size_t)n), n);
            rest /= (size_t)n;
        }
        for (size_t r = 0; r < dims; r++) {
            const size_t row = matrix + r * (dims + 1);
            double sum = odb_tensor_f64(theta, row + dims);
            for (size_t d = 0; d < dims; d++)
                sum += at[d] * odb_tensor_f64(theta, row + d);
            odb_store_f64(y->dtype, y->data, l * dims + r, sum);
        }
    }
    return ODB_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

#define GRID_ALIGN ODB_OPTIONAL_ATTR("align_corners", INT, "0")
#define GRID_ATTRS(mode)                                                                           \
    ODB_OPTIONAL_ATTR("mode", STRING, mode), ODB_OPTIONAL_ATTR("padding_mode", STRING, "zeros"),   \
        GRID_ALIGN,                                                                                \
    {                                                                                              \
        NULL                                                                                       \
    }
static const struct odb_attr_spec grid_attrs_16[] = {GRID_ATTRS("bilinear")};
static const struct odb_attr_spec grid_attrs_20[] = {GRID_ATTRS("linear")};
static const struct odb_attr_spec grid_affine_attrs[] = {GRID_ALIGN, {NULL}};

const struct odb_op odb_ops_gridsample[] = {
    ODB_ONNX("GridSample", 16, ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_REAL, grid_attrs_16,
             grid_infer, grid_run, ODB_T_ANY, ODB_T_FLOAT, ODB_NAMES("X,grid", "Y"),
             ODB_HALVES(16, 22)),
    ODB_ONNX("GridSample", 20, ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_REAL, grid_attrs_20,
             grid_infer, grid_run, ODB_T_ANY, ODB_T_FLOAT),
    ODB_ONNX("AffineGrid", 20, ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_REAL, grid_affine_attrs,
             grid_infer_affine, grid_run_affine, ODB_T_FLOAT, ODB_BIT(ODB_I64),
             ODB_NAMES("theta,size", "grid"), ODB_HALVES(20, 20)),
    {.name = NULL},
};
