/* SPDX-License-Identifier: MIT
 *
 * Pooling over regions of interest: MaxRoiPool (Girshick, Fast R-CNN, 2015) takes the maximum over
 * whole cells, RoiAlign (He et al., Mask R-CNN, 2017) samples between them. Coordinates and sums
 * are doubles. How many samples an adaptive bin has, and which cells a rounded region covers, can
 * hang on the last bit of a coordinate: both are boundary operators.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/kern.h"
#include "kernels/core/row.h"

#define ROI_GRAIN 8            /* regions times channels per block */
#define ROI_MAX_SAMPLES 100000 /* per bin and axis: more is a region gone wild */

struct roi {
    const struct odb_tensor *x, *rois, *batch; /* batch: NULL: column 0 of rois */
    struct odb_tensor *y;
    int64_t channels, height, width, out_height, out_width;
    double scale, shift;     /* RoiAlign: added to every coordinate */
    int64_t sampling;        /* 0: adaptive */
    bool align, least, mean; /* least: regions are at least one cell large */
    bool narrow;             /* noisy mode: sums in float */
};

static enum odb_status roi_read(struct odb_kern *k, struct roi *r)
{
    const struct odb_tensor *x = k->in[0], *rois = k->in[1], *batch = odb_kern_in(k, 2);
    int columns = r->align ? 4 : 5;
    char shape[200];
    if (x->rank != 4)
        return ODB_KERN_FAIL(k, "the input must have 4 dimensions, not %d", x->rank);
    if (rois->rank != 2 || rois->dims[1] != columns)
        return ODB_KERN_FAIL(k, "rois of shape %s; %d columns are needed",
                             odb_shape_text(rois, shape, sizeof shape), columns);
    if (r->align && (batch->rank != 1 || batch->dims[0] != rois->dims[0]))
        return ODB_KERN_FAIL(k, "batch_indices of shape %s for %lld regions",
                             odb_shape_text(batch, shape, sizeof shape), (long long)rois->dims[0]);
    r->x = x;
    r->rois = rois;
    r->batch = batch;
    r->channels = x->dims[1];
    r->height = x->dims[2];
    r->width = x->dims[3];
    r->scale = odb_kern_float(k, "spatial_scale", 1);
    r->narrow = k->sequential && x->dtype == ODB_F32;
    if (r->out_height < 1 || r->out_width < 1 || r->out_height > INT32_MAX ||
        r->out_width > INT32_MAX)
        return ODB_KERN_FAIL(k, "an output of %lld by %lld", (long long)r->out_height,
                             (long long)r->out_width);
    return ODB_OK;
}

static enum odb_status roi_outline(struct odb_kern *k, const struct roi *r)
{
    int64_t dims[] = {r->rois->dims[0], r->channels, r->out_height, r->out_width};
    return odb_kern_outline(k, 0, r->x->dtype, 4, dims);
}

/* Which image region n is of; checked before anything runs in parallel. */
static int64_t roi_image(const struct roi *r, int64_t n)
{
    return r->batch ? odb_tensor_i64(r->batch, (size_t)n) : odb_tensor_i64(r->rois, (size_t)n * 5);
}

static double roi_coordinate(const struct roi *r, int64_t n, int i)
{
    int64_t columns = r->rois->dims[1], first = columns - 4;
    return odb_tensor_f64(r->rois, (size_t)(n * columns + first + i)) * r->scale + r->shift;
}

static enum odb_status roi_check(struct odb_kern *k, const struct roi *r)
{
    for (int64_t n = 0; n < r->rois->dims[0]; n++) {
        int64_t image = roi_image(r, n);
        if (image < 0 || image >= r->x->dims[0])
            return ODB_KERN_FAIL(k, "region %lld is of image %lld, and there are %lld",
                                 (long long)n, (long long)image, (long long)r->x->dims[0]);
        double height = roi_coordinate(r, n, 3) - roi_coordinate(r, n, 1);
        double width = roi_coordinate(r, n, 2) - roi_coordinate(r, n, 0);
        double most =
            fmax(fabs(height) / (double)r->out_height, fabs(width) / (double)r->out_width);
        for (int i = 0; i < 4; i++)
            if (!(fabs(roi_coordinate(r, n, i)) < 1e9))
                return ODB_KERN_FAIL(k, "region %lld has a coordinate %g", (long long)n,
                                     roi_coordinate(r, n, i));
        if (r->align && r->sampling == 0 && most > ROI_MAX_SAMPLES)
            return ODB_KERN_UNSUPPORTED(k, "region %lld has bins of %g samples along an axis",
                                        (long long)n, most);
    }
    return ODB_OK;
}

/* --- RoiAlign --------------------------------------------------------------------------------- */

static double roi_pixel(const struct roi *r, size_t plane, int64_t y, int64_t x)
{
    return odb_load_f64(r->x->dtype, r->x->data, plane + (size_t)(y * r->width + x));
}

/* The plane between its pixels: the weighted sum of four, or the largest of the weighted four. */
static double roi_sample(const struct roi *r, size_t plane, double y, double x)
{
    if (!(y >= -1 && y <= (double)r->height && x >= -1 && x <= (double)r->width))
        return 0;
    y = fmin(fmax(y, 0), (double)(r->height - 1));
    x = fmin(fmax(x, 0), (double)(r->width - 1));
    int64_t top = (int64_t)y, left = (int64_t)x;
    int64_t bottom = ODB_MIN(top + 1, r->height - 1), right = ODB_MIN(left + 1, r->width - 1);
    double down = y - (double)top, across = x - (double)left;
    double a = (1 - down) * (1 - across) * roi_pixel(r, plane, top, left);
    double b = (1 - down) * across * roi_pixel(r, plane, top, right);
    double c = down * (1 - across) * roi_pixel(r, plane, bottom, left);
    double d = down * across * roi_pixel(r, plane, bottom, right);
    return r->mean ? a + b + c + d : fmax(fmax(a, b), fmax(c, d));
}

/* One bin, whose corner is (y, x), sampled in its middle or on a grid. */
static double roi_bin(const struct roi *r, size_t plane, double y, double x, double height,
                      double width)
{
    int64_t rows = r->sampling ? r->sampling : (int64_t)ceil(height);
    int64_t columns = r->sampling ? r->sampling : (int64_t)ceil(width);
    double sum = 0, top = 0;
    bool any = false;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double v = roi_sample(r, plane, y + ((double)i + 0.5) * height / (double)rows,
                                  x + ((double)j + 0.5) * width / (double)columns);
            sum = r->narrow ? (float)(sum + v) : sum + v;
            top = any ? fmax(top, v) : v;
            any = true;
        }
    return r->mean ? sum / (double)ODB_MAX(rows * columns, 1) : top;
}

static void roi_align_body(void *arg, size_t begin, size_t end)
{
    const struct roi *r = arg;
    for (size_t i = begin; i < end; i++) {
        int64_t n = (int64_t)i / r->channels, c = (int64_t)i % r->channels;
        double x = roi_coordinate(r, n, 0), y = roi_coordinate(r, n, 1);
        double width = roi_coordinate(r, n, 2) - x, height = roi_coordinate(r, n, 3) - y;
        if (r->least) {
            width = fmax(width, 1);
            height = fmax(height, 1);
        }
        width /= (double)r->out_width;
        height /= (double)r->out_height;
        size_t plane = (size_t)((roi_image(r, n) * r->channels + c) * r->height * r->width);
        size_t out = i * (size_t)(r->out_height * r->out_width);
        for (int64_t h = 0; h < r->out_height; h++)
            for (int64_t w = 0; w < r->out_width; w++)
                odb_store_f64(r->y->dtype, r->y->data, out++,
                              roi_bin(r, plane, y + (double)h * height, x + (double)w * width,
                                      height, width));
    }
}

static enum odb_status roi_align_read(struct odb_kern *k, struct roi *r)
{
    const char *mode = odb_kern_string(k, "mode", "avg");
    const char *from = odb_kern_string(k, "coordinate_transformation_mode", "output_half_pixel");
    bool half = strcmp(from, "half_pixel") == 0;
    *r = (struct roi){.align = true,
                      .out_height = odb_kern_int(k, "output_height", 1),
                      .out_width = odb_kern_int(k, "output_width", 1),
                      .sampling = odb_kern_int(k, "sampling_ratio", 0),
                      .shift = half ? -0.5 : 0,
                      .least = !half,
                      .mean = strcmp(mode, "avg") == 0};
    if (!r->mean && strcmp(mode, "max") != 0)
        return ODB_KERN_FAIL(k, "unknown mode \"%s\"", mode);
    if (!half && strcmp(from, "output_half_pixel") != 0)
        return ODB_KERN_FAIL(k, "unknown coordinate_transformation_mode \"%s\"", from);
    if (r->sampling < 0 || r->sampling > ROI_MAX_SAMPLES)
        return ODB_KERN_FAIL(k, "sampling_ratio is %lld", (long long)r->sampling);
    return roi_read(k, r);
}

static enum odb_status roi_align_infer(struct odb_kern *k)
{
    struct roi r;
    ODB_TRY(roi_align_read(k, &r));
    return roi_outline(k, &r);
}

static enum odb_status roi_align_run(struct odb_kern *k)
{
    struct roi r;
    ODB_TRY(roi_align_read(k, &r));
    ODB_TRY(roi_check(k, &r));
    r.y = k->out[0];
    if (r.height < 1 || r.width < 1)
        return r.y->count ? ODB_KERN_FAIL(k, "there is nothing to pool") : ODB_OK;
    odb_parallel_for((size_t)(r.rois->dims[0] * r.channels), ROI_GRAIN, roi_align_body, &r);
    return ODB_OK;
}

/* --- MaxRoiPool ------------------------------------------------------------------------------- */

/* Cells [*from, *to) of bin i, of a region that begins at start and is `size` cells long. */
static void roi_span(double start, double size, int64_t i, int64_t bins, int64_t limit,
                     int64_t *from, int64_t *to)
{
    double first = start + floor((double)i * size / (double)bins);
    double last = start + ceil((double)(i + 1) * size / (double)bins);
    *from = (int64_t)fmin(fmax(first, 0), (double)limit);
    *to = (int64_t)fmin(fmax(last, 0), (double)limit);
}

static void roi_pool_body(void *arg, size_t begin, size_t end)
{
    const struct roi *r = arg;
    for (size_t i = begin; i < end; i++) {
        int64_t n = (int64_t)i / r->channels, c = (int64_t)i % r->channels;
        double x = round(roi_coordinate(r, n, 0)), y = round(roi_coordinate(r, n, 1));
        double width = fmax(round(roi_coordinate(r, n, 2)) - x + 1, 1);
        double height = fmax(round(roi_coordinate(r, n, 3)) - y + 1, 1);
        size_t plane = (size_t)((roi_image(r, n) * r->channels + c) * r->height * r->width);
        size_t out = i * (size_t)(r->out_height * r->out_width);
        for (int64_t h = 0; h < r->out_height; h++)
            for (int64_t w = 0; w < r->out_width; w++) {
                int64_t top, bottom, left, right;
                roi_span(y, height, h, r->out_height, r->height, &top, &bottom);
                roi_span(x, width, w, r->out_width, r->width, &left, &right);
                double most = bottom > top && right > left ? -INFINITY : 0;
                for (int64_t py = top; py < bottom; py++)
                    for (int64_t px = left; px < right; px++) {
                        double v = roi_pixel(r, plane, py, px);
                        most = v > most || isnan(v) ? v : most;
                    }
                odb_store_f64(r->y->dtype, r->y->data, out++, most);
            }
    }
}

static enum odb_status roi_pool_read(struct odb_kern *k, struct roi *r)
{
    size_t n;
    const int64_t *shape = odb_kern_ints(k, "pooled_shape", &n);
    if (n != 2)
        return ODB_KERN_FAIL(k, "pooled_shape has %zu numbers; 2 are needed", n);
    *r = (struct roi){.out_height = shape[0], .out_width = shape[1]};
    return roi_read(k, r);
}

static enum odb_status roi_pool_infer(struct odb_kern *k)
{
    struct roi r;
    ODB_TRY(roi_pool_read(k, &r));
    return roi_outline(k, &r);
}

static enum odb_status roi_pool_run(struct odb_kern *k)
{
    struct roi r;
    ODB_TRY(roi_pool_read(k, &r));
    ODB_TRY(roi_check(k, &r));
    r.y = k->out[0];
    odb_parallel_for((size_t)(r.rois->dims[0] * r.channels), ROI_GRAIN, roi_pool_body, &r);
    return ODB_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

#define ROI_ATTR(name_, type_, def_)                                                               \
    {                                                                                              \
        .name = (name_), .type = ODB_ATTR_##type_, .def = (def_)                                   \
    }
#define ROI_ALIGN_ATTRS                                                                            \
    ROI_ATTR("mode", STRING, "avg"), ROI_ATTR("output_height", INT, "1"),                          \
        ROI_ATTR("output_width", INT, "1"), ROI_ATTR("sampling_ratio", INT, "0"),                  \
        ROI_ATTR("spatial_scale", FLOAT, "1")
static const struct odb_attr_spec roi_align_10[] = {ROI_ALIGN_ATTRS, {NULL}};
static const struct odb_attr_spec roi_align_16[] = {
    ROI_ATTR("coordinate_transformation_mode", STRING, "half_pixel"), ROI_ALIGN_ATTRS, {NULL}};
static const struct odb_attr_spec roi_pool_1[] = {
    {.name = "pooled_shape", .type = ODB_ATTR_INTS, .required = true},
    ROI_ATTR("spatial_scale", FLOAT, "1"),
    {NULL}};

#define ROI_FLAGS (ODB_OP_REAL | ODB_OP_BOUNDARY)

const struct odb_op odb_ops_roi[] = {
    ODB_ONNX("MaxRoiPool", 1, ODB_ARITY(2, 2), ODB_ARITY(1, 1), ROI_FLAGS, roi_pool_1,
             roi_pool_infer, roi_pool_run, ODB_T_FLOAT, ODB_NAMES("X,rois", "Y"),
             ODB_HALVES(1, 22)),
    ODB_ONNX("RoiAlign", 10, ODB_ARITY(3, 3), ODB_ARITY(1, 1), ROI_FLAGS, roi_align_10,
             roi_align_infer, roi_align_run, ODB_T_FLOAT, ODB_AS(0), ODB_BIT(ODB_I64),
             ODB_NAMES("X,rois,batch_indices", "Y"), ODB_HALVES(10, 22)),
    ODB_ONNX("RoiAlign", 16, ODB_ARITY(3, 3), ODB_ARITY(1, 1), ROI_FLAGS, roi_align_16,
             roi_align_infer, roi_align_run, ODB_T_FLOAT, ODB_AS(0), ODB_BIT(ODB_I64)),
    {.name = NULL},
};
