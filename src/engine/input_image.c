/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A picture as a model wants it: decoded, resized, cut, turned round, and then (v / scale - mean) /
 * std, each step in float32, which is what torchvision's ToTensor and Normalize compute.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "engine/input_int.h"
#include "model/files.h"
#include "tensor/image.h"

enum { IMAGE_LARGEST = 1 << 16 }; /* of a side that is asked for */

enum image_layout { IMAGE_UNKNOWN, IMAGE_CHW, IMAGE_HWC, IMAGE_HW };

struct image_job {
    const struct odb_input_form *form;
    enum image_layout layout;
    size_t channels;
    int64_t declared[2]; /* height and width; -1: not said */
    bool bgr;
    bool resize, shorter, keep; /* to resize_to; to a shorter side of it; not at all */
    bool crop;
    int64_t resize_to[2], crop_to[2];
    enum odb_image_filter filter;
    double scale;
    float mean[3], std[3];
};

/* --- options ---------------------------------------------------------------------------------- */

/* "224" or "224x320"; *square: one number. */
static bool image_size(const char *text, int64_t *to, bool *square)
{
    int64_t dims[ODB_MAX_RANK];
    int rank = odb_input__shape(text, dims);
    if (rank < 1 || rank > 2)
        return false;
    *square = rank == 1;
    to[0] = dims[0];
    to[1] = dims[rank - 1];
    return to[0] > 0 && to[0] <= IMAGE_LARGEST && to[1] > 0 && to[1] <= IMAGE_LARGEST;
}

static bool image_resize(struct image_job *job, const char *value)
{
    job->keep = strcmp(value, "none") == 0;
    job->resize = !job->keep;
    return job->keep || image_size(value, job->resize_to, &job->shorter);
}

static bool image_crop(struct image_job *job, const char *value)
{
    bool square;
    job->crop = true;
    return image_size(value, job->crop_to, &square);
}

/* The place of a word in a list that NULL ends, -1: none. */
static int image_choice(const char *value, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(value, names[i]))
            return i;
    return -1;
}

static bool image_filter(struct image_job *job, const char *value)
{
    static const char *const names[] = {[ODB_IMAGE_BILINEAR] = "bilinear",
                                        [ODB_IMAGE_BICUBIC] = "bicubic",
                                        [ODB_IMAGE_NEAREST] = "nearest",
                                        NULL};
    int i = image_choice(value, names);
    job->filter = (enum odb_image_filter)ODB_MAX(i, 0);
    return i >= 0;
}

static bool image_order(struct image_job *job, const char *value)
{
    int i = image_choice(value, (const char *const[]){"rgb", "bgr", NULL});
    job->bgr = i == 1;
    return i >= 0;
}

static bool image_layout(struct image_job *job, const char *value)
{
    int i = image_choice(value, (const char *const[]){"nchw", "nhwc", NULL});
    job->layout = i ? IMAGE_HWC : IMAGE_CHW;
    return i >= 0;
}

static bool image_scale(struct image_job *job, const char *value)
{
    char *end;
    job->scale = strtod(value, &end);
    return end > value && !*end && isfinite(job->scale) && job->scale != 0;
}

/* One number for all channels, or one for each. */
static bool image_numbers(float *out, const char *value)
{
    int n = 0;
    for (const char *p = value;; p++) {
        char *end;
        out[n++] = strtof(p, &end);
        if (end == p || (*end && *end != ':') || !isfinite(out[n - 1]) || (*end && n == 3))
            return false;
        p = end;
        if (!*end)
            break;
    }
    if (n == 1)
        out[1] = out[2] = out[0];
    return n == 1 || n == 3;
}

static bool image_mean(struct image_job *job, const char *value)
{
    return image_numbers(job->mean, value);
}

static bool image_std(struct image_job *job, const char *value)
{
    return image_numbers(job->std, value) && job->std[0] != 0 && job->std[1] != 0 &&
           job->std[2] != 0;
}

static const struct image_option {
    const char *name, *form;
    bool (*take)(struct image_job *job, const char *value);
} image_options[] = {{"resize", "N, HxW or none", image_resize},
                     {"crop", "N or HxW", image_crop},
                     {"filter", "bilinear, bicubic or nearest", image_filter},
                     {"order", "rgb or bgr", image_order},
                     {"layout", "nchw or nhwc", image_layout},
                     {"scale", "a number that is not 0", image_scale},
                     {"mean", "one number or three, as 0.5:0.4:0.4", image_mean},
                     {"std", "one number or three, as 0.5:0.4:0.4, none of them 0", image_std}};

static enum odb_status image_take(struct image_job *job, const char *word, struct odb_error *err)
{
    for (size_t i = 0; i < ODB_COUNT(image_options); i++) {
        const struct image_option *option = &image_options[i];
        size_t n = strlen(option->name);
        if (strncmp(word, option->name, n) != 0 || word[n] != '=')
            continue;
        if (option->take(job, word + n + 1))
            return ODB_OK;
        return odb_fail(err, ODB_E_USAGE, "%s is %s, not '%.60s'", option->name, option->form,
                        word + n + 1);
    }
    odb_fail(err, ODB_E_USAGE, "'%.60s' is no option of an image", word);
    return odb_error_remedy(err, "there are resize, crop, filter, order, layout, scale, mean and "
                                 "std, each with = and a value");
}

/* --- what the model wants --------------------------------------------------------------------- */

static bool image_is_channels(int64_t dim)
{
    return dim == 1 || dim == 3;
}

/* [N,C,H,W], [N,H,W,C], [C,H,W], [H,W,C] or [H,W], by where 1 or 3 stands. */
static enum odb_status image_begin(struct image_job *job, struct odb_error *err)
{
    const struct odb_input_form *form = job->form;
    int rank = form->rank, from = rank == 4;
    if (rank < 0)
        return odb_fail(err, ODB_E_USAGE, "the model does not say how many dimensions it takes");
    if (rank < 2 || rank > 4)
        return odb_fail(err, ODB_E_USAGE,
                        "an image goes into inputs of two to four dimensions, not %d", rank);
    if (rank == 4 && form->dims[0] > 1)
        return odb_fail(err, ODB_E_USAGE, "the batch is %lld, and an image is one",
                        (long long)form->dims[0]);
    if (rank == 2)
        job->layout = IMAGE_HW;
    else if (!job->layout)
        job->layout = image_is_channels(form->dims[from])       ? IMAGE_CHW
                      : image_is_channels(form->dims[rank - 1]) ? IMAGE_HWC
                                                                : IMAGE_UNKNOWN;
    if (!job->layout) {
        odb_fail(err, ODB_E_USAGE, "the shape does not say where the channels are");
        return odb_error_remedy(err, "add layout=nchw or layout=nhwc");
    }
    int64_t channels = job->layout == IMAGE_HW    ? 1
                       : job->layout == IMAGE_CHW ? form->dims[from]
                                                  : form->dims[rank - 1];
    if (channels >= 0 && !image_is_channels(channels))
        return odb_fail(err, ODB_E_USAGE, "images have 1 channel or 3, the input has %lld",
                        (long long)channels);
    job->channels = channels == 1 ? 1 : 3;
    int height = job->layout == IMAGE_CHW ? from + 1 : from;
    job->declared[0] = form->dims[height];
    job->declared[1] = form->dims[height + 1];
    return ODB_OK;
}

/* The shape of the tensor; returns its rank. */
static int image_dims(const struct image_job *job, const struct odb_tensor *image, int64_t *dims)
{
    int n = 0;
    if (job->form->rank == 4)
        dims[n++] = 1;
    if (job->layout == IMAGE_CHW)
        dims[n++] = (int64_t)job->channels;
    dims[n++] = image->dims[0];
    dims[n++] = image->dims[1];
    if (job->layout == IMAGE_HWC)
        dims[n++] = (int64_t)job->channels;
    return n;
}

/* --- steps ------------------------------------------------------------------------------------ */

static enum odb_status image_decode(struct odb_tensor **out, const struct image_job *job,
                                    const char *path, struct odb_error *err)
{
    struct model_bytes bytes;
    ODB_TRY(odb_model__map_file(&bytes, path, err));
    enum odb_pixels pixels = job->channels == 1 ? ODB_PIXELS_GRAY
                             : job->bgr         ? ODB_PIXELS_BGR
                                                : ODB_PIXELS_RGB;
    enum odb_status status = odb_image_decode(out, bytes.data, bytes.size, pixels, err);
    if (status == ODB_OK && !*out)
        status = odb_fail(err, ODB_E_FORMAT, "this is no image that can be decoded");
    odb_storage_unref(bytes.storage);
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "%s", path);
}

/* To what resize= says, else to what the model declares, where nothing is cut. */
static enum odb_status image_to_size(struct odb_tensor **image, const struct image_job *job,
                                     struct odb_error *err)
{
    int64_t h = (*image)->dims[0], w = (*image)->dims[1], to[2] = {h, w};
    struct odb_tensor *resized;
    if (job->resize && !job->shorter)
        memcpy(to, job->resize_to, sizeof to);
    for (int k = 0; k < 2 && !job->resize && !job->keep && !job->crop; k++)
        to[k] = job->declared[k] > 0 ? job->declared[k] : to[k];
    if (job->resize && job->shorter) { /* the longer side rounded down */
        to[h <= w ? 0 : 1] = job->resize_to[0];
        to[h <= w ? 1 : 0] = job->resize_to[0] * ODB_MAX(h, w) / ODB_MIN(h, w);
    }
    if (to[0] > IMAGE_LARGEST || to[1] > IMAGE_LARGEST)
        return odb_fail(err, ODB_E_INPUT, "the image would be %lld x %lld", (long long)to[1],
                        (long long)to[0]);
    ODB_TRY(odb_image_resize(&resized, *image, (size_t)to[0], (size_t)to[1], job->filter, err));
    odb_tensor_unref(*image);
    *image = resized;
    return ODB_OK;
}

/* Half of an odd rest goes to the even side, as Python rounds it. */
static int64_t image_margin(int64_t rest)
{
    return rest / 2 + (rest % 4 == 3);
}

static enum odb_status image_cut(struct odb_tensor **image, const struct image_job *job,
                                 struct odb_error *err)
{
    const struct odb_tensor *from = *image;
    int64_t h = job->crop_to[0], w = job->crop_to[1], c = from->dims[2];
    struct odb_tensor *cut;
    if (!job->crop)
        return ODB_OK;
    if (from->dims[0] < h || from->dims[1] < w) {
        odb_fail(err, ODB_E_INPUT, "the image is %lld x %lld, smaller than the crop",
                 (long long)from->dims[1], (long long)from->dims[0]);
        return odb_error_remedy(err, "add resize=");
    }
    int64_t top = image_margin(from->dims[0] - h), left = image_margin(from->dims[1] - w);
    ODB_TRY(odb_tensor_new_raw(&cut, ODB_U8, 3, (int64_t[]){h, w, c}, err));
    for (int64_t y = 0; y < h; y++)
        memcpy((char *)cut->data + y * w * c,
               (const char *)from->data + ((top + y) * from->dims[1] + left) * c, (size_t)(w * c));
    odb_tensor_unref(*image);
    *image = cut;
    return ODB_OK;
}

static void image_fill(struct odb_tensor *t, const struct odb_tensor *image,
                       const struct image_job *job)
{
    const odb_u8 *pixels = image->data;
    size_t c = job->channels, n = image->count / c;
    float scale = (float)job->scale;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < c; k++) {
            float v = (float)pixels[i * c + k] / scale;
            v = (v - job->mean[k]) / job->std[k];
            odb_store_f64(t->dtype, t->data, job->layout == IMAGE_CHW ? k * n + i : i * c + k,
                          (double)v);
        }
}

enum odb_status odb_input__image(struct odb_tensor **out, char *source, size_t size,
                                 const struct odb_input_form *form, char *const *words,
                                 struct odb_error *err)
{
    enum odb_dtype dtype = form->type->dtype;
    struct image_job job = {.form = form, .std = {1, 1, 1}};
    struct odb_tensor *image = NULL;
    int64_t dims[4];
    enum odb_status status;
    if (form->type->kind != ODB_TENSOR ||
        !(odb_dtype_is_float(dtype) || odb_dtype_is_integer(dtype)))
        return odb_fail(err, ODB_E_USAGE, "an image goes into tensors of numbers alone");
    job.scale = odb_dtype_is_float(dtype) ? 255 : 1;
    for (size_t i = 1; words[i]; i++)
        ODB_TRY(image_take(&job, words[i], err));
    ODB_TRY(image_begin(&job, err));
    ODB_TRY_OUT(image_decode(&image, &job, words[0], err));
    size_t n = (size_t)snprintf(source, size, "image %.120s, %lld x %lld", words[0],
                                (long long)image->dims[1], (long long)image->dims[0]);
    ODB_TRY_OUT(image_to_size(&image, &job, err));
    ODB_TRY_OUT(image_cut(&image, &job, err));
    snprintf(source + n, size - n, ", as %s %lld x %lld",
             job.channels == 1 ? "grey"
             : job.bgr         ? "BGR"
                               : "RGB",
             (long long)image->dims[1], (long long)image->dims[0]);
    int rank = image_dims(&job, image, dims);
    ODB_TRY_OUT(odb_tensor_new(out, dtype, rank, dims, err));
    image_fill(*out, image, &job);
out:
    odb_tensor_unref(image);
    return status;
}
