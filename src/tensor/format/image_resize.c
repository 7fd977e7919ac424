/* SPDX-License-Identifier: MIT
 *
 * Models are trained on pictures that Pillow made smaller, so these are its numbers: weights in
 * double, normalised, then in fixed point of 22 bits; rows first, rounded to 8 bits, then columns.
 * Of 16 bits the same in double, which is what Pillow does with integers of 32.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/format/image.h"

#define RESIZE_BITS 22

struct resize_filter {
    double support;
    double (*at)(double x);
};

static double resize_triangle(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

/* Keys' cubic with a = -1/2. */
static double resize_cubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    return x < 1   ? ((a + 2) * x - (a + 3)) * x * x + 1
           : x < 2 ? (((x - 5) * x + 8) * x - 4) * a
                   : 0;
}

static const struct resize_filter resize_filters[] = {
    [ODB_IMAGE_BILINEAR] = {1, resize_triangle}, [ODB_IMAGE_BICUBIC] = {2, resize_cubic}};

/* For each output, which inputs it is made of. */
struct resize_weights {
    size_t most;       /* weights per output */
    size_t *first, *n; /* owned */
    int *weight;       /* owned; most per output; of 8 bits */
    double *real;      /* owned; the same before they were made integers */
};

static void resize_weights_of(struct resize_weights *w, const struct resize_filter *filter,
                              size_t in, size_t out)
{
    double scale = (double)in / (double)out, wider = fmax(scale, 1);
    double support = filter->support * wider;
    w->most = (size_t)ceil(support) * 2 + 1;
    w->first = odb_new_n(size_t, out);
    w->n = odb_new_n(size_t, out);
    w->weight = odb_new_n(int, out * w->most);
    w->real = odb_new_n(double, out * w->most);
    for (size_t i = 0; i < out; i++) {
        double *real = w->real + i * w->most;
        double center = ((double)i + 0.5) * scale, sum = 0;
        double from = center - support + 0.5, to = center + support + 0.5;
        w->first[i] = from < 0 ? 0 : (size_t)from;
        w->n[i] = (to > (double)in ? in : (size_t)to) - w->first[i];
        for (size_t k = 0; k < w->n[i]; k++) {
            real[k] = filter->at(((double)(k + w->first[i]) - center + 0.5) * (1 / wider));
            sum += real[k];
        }
        for (size_t k = 0; k < w->n[i]; k++) {
            double v = real[k] = sum != 0 ? real[k] / sum : real[k];
            w->weight[i * w->most + k] = (int)(v * (1 << RESIZE_BITS) + (v < 0 ? -0.5 : 0.5));
        }
    }
}

static void resize_weights_dispose(struct resize_weights *w)
{
    free(w->first);
    free(w->n);
    free(w->weight);
    free(w->real);
}

static odb_u8 resize_sum_8(const odb_u8 *p, size_t step, const struct resize_weights *w, size_t i)
{
    int sum = 1 << (RESIZE_BITS - 1);
    for (size_t j = 0; j < w->n[i]; j++)
        sum += p[j * step] * w->weight[i * w->most + j];
    sum >>= RESIZE_BITS;
    return (odb_u8)ODB_MIN(ODB_MAX(sum, 0), UINT8_MAX);
}

static odb_u16 resize_sum_16(const odb_u16 *p, size_t step, const struct resize_weights *w,
                             size_t i)
{
    double sum = 0;
    for (size_t j = 0; j < w->n[i]; j++)
        sum += p[j * step] * w->real[i * w->most + j];
    return (odb_u16)ODB_MIN(ODB_MAX(sum + 0.5, 0), UINT16_MAX);
}

/* One direction: out[outer][size][inner] from in[outer][from][inner], of 8 or 16 bits. */
static void resize_pass(void *out, const void *in, enum odb_dtype dtype, size_t outer, size_t from,
                        size_t size, size_t inner, const struct resize_filter *filter)
{
    struct resize_weights w;
    resize_weights_of(&w, filter, from, size);
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < size; i++)
            for (size_t k = 0; k < inner; k++) {
                size_t at = (o * from + w.first[i]) * inner + k, to = (o * size + i) * inner + k;
                if (dtype == ODB_U8)
                    ((odb_u8 *)out)[to] = resize_sum_8((const odb_u8 *)in + at, inner, &w, i);
                else
                    ((odb_u16 *)out)[to] = resize_sum_16((const odb_u16 *)in + at, inner, &w, i);
            }
    resize_weights_dispose(&w);
}

/* channels: bytes of a pixel. */
static void resize_nearest(odb_u8 *out, const odb_u8 *in, const size_t from[2], const size_t to[2],
                           size_t channels)
{
    for (size_t y = 0; y < to[0]; y++) {
        size_t v = (size_t)(((double)y + 0.5) * ((double)from[0] / (double)to[0]));
        for (size_t x = 0; x < to[1]; x++) {
            size_t u = (size_t)(((double)x + 0.5) * ((double)from[1] / (double)to[1]));
            memcpy(out + (y * to[1] + x) * channels, in + (v * from[1] + u) * channels, channels);
        }
    }
}

enum odb_status odb_image_resize(struct odb_tensor **out, const struct odb_tensor *image,
                                 size_t height, size_t width, enum odb_image_filter filter,
                                 struct odb_error *err)
{
    const size_t from[2] = {(size_t)image->dims[0], (size_t)image->dims[1]};
    const size_t to[2] = {height, width}, channels = (size_t)image->dims[2];
    const struct resize_filter *row = &resize_filters[filter];
    struct odb_tensor *wide = NULL;
    if (from[0] == height && from[1] == width) {
        *out = odb_tensor_ref(image);
        return ODB_OK;
    }
    enum odb_dtype dtype = image->dtype;
    ODB_TRY(odb_tensor_new_raw(out, dtype, 3,
                               (int64_t[]){(int64_t)height, (int64_t)width, image->dims[2]}, err));
    if (filter == ODB_IMAGE_NEAREST) {
        resize_nearest((*out)->data, image->data, from, to, channels * (dtype == ODB_U8 ? 1 : 2));
        return ODB_OK;
    }
    enum odb_status status = odb_tensor_new_raw(
        &wide, dtype, 3, (int64_t[]){image->dims[0], (int64_t)width, image->dims[2]}, err);
    if (status != ODB_OK) {
        odb_tensor_unref(*out);
        return status;
    }
    if (width == from[1])
        memcpy(wide->data, image->data, wide->bytes);
    else
        resize_pass(wide->data, image->data, dtype, from[0], from[1], width, channels, row);
    if (height == from[0])
        memcpy((*out)->data, wide->data, wide->bytes);
    else
        resize_pass((*out)->data, wide->data, dtype, 1, from[0], height, width * channels, row);
    odb_tensor_unref(wide);
    return ODB_OK;
}
