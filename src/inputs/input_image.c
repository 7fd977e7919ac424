/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A picture as a model wants it, or several as a batch: decoded, resized, cut, turned round, and
 * then (v / scale - mean) / std, each step in float32, which is what torchvision's ToTensor and
 * Normalize compute.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "inputs/input_int.h"
#include "model/files.h"
#include "tensor/format/image.h"

enum { IMAGE_LARGEST = 1 << 16 }; /* of a side that is asked for */

enum image_layout { IMAGE_UNKNOWN, IMAGE_CHW, IMAGE_HWC, IMAGE_HW };

struct image_job {
    const struct odb_input_form *form;
    char *const *files; /* borrowed */
    size_t n_files;
    enum image_layout layout;
    size_t channels;
    int64_t declared[2]; /* height and width; -1: not said */
    bool bgr;
    bool resize, shorter, keep; /* to resize_to; to a shorter side of it; not at all */
    bool crop;
    int64_t resize_to[2], crop_to[2];
    enum odb_image_filter filter;
    double scale; /* 0: not given */
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
    if (job->n_files > 1 && rank < 4)
        return odb_fail(err, ODB_E_USAGE, "an input of %d dimensions takes one image, not %zu",
                        rank, job->n_files);
    if (rank == 4 && form->dims[0] >= 0 && form->dims[0] != (int64_t)job->n_files) {
        odb_fail(err, ODB_E_USAGE, "the batch is %lld, and %zu image%s given",
                 (long long)form->dims[0], job->n_files, job->n_files == 1 ? " is" : "s are");
        return odb_error_remedy(err, "name as many, with commas between them");
    }
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
        dims[n++] = (int64_t)job->n_files;
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
    enum odb_status status = odb_image_decode(out, bytes.data, bytes.size, pixels, true, err);
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
    int64_t h = job->crop_to[0], w = job->crop_to[1];
    int64_t pixel = from->dims[2] * (from->dtype == ODB_U8 ? 1 : 2);
    struct odb_tensor *cut;
    if (!job->crop)
        return ODB_OK;
    if (from->dims[0] < h || from->dims[1] < w) {
        odb_fail(err, ODB_E_INPUT, "the image is %lld x %lld, smaller than the crop",
                 (long long)from->dims[1], (long long)from->dims[0]);
        return odb_error_remedy(err, "add resize=");
    }
    int64_t top = image_margin(from->dims[0] - h), left = image_margin(from->dims[1] - w);
    ODB_TRY(odb_tensor_new_raw(&cut, from->dtype, 3, (int64_t[]){h, w, from->dims[2]}, err));
    for (int64_t y = 0; y < h; y++)
        memcpy((char *)cut->data + y * w * pixel,
               (const char *)from->data + ((top + y) * from->dims[1] + left) * pixel,
               (size_t)(w * pixel));
    odb_tensor_unref(*image);
    *image = cut;
    return ODB_OK;
}

/* What a pixel is divided by: what is largest, for floats. Nothing is cut off in silence. */
static enum odb_status image_divisor(const struct image_job *job, const struct odb_tensor *image,
                                     float *scale, struct odb_error *err)
{
    const struct odb_dtype_info *info = odb_dtype_info(job->form->type->dtype);
    bool deep = image->dtype == ODB_U16, real = odb_dtype_is_float(job->form->type->dtype);
    *scale = job->scale != 0 ? (float)job->scale : !real ? 1 : deep ? UINT16_MAX : UINT8_MAX;
    if (!deep || real || job->scale != 0 || info->bits > 16 || job->form->type->dtype == ODB_U16)
        return ODB_OK;
    odb_fail(err, ODB_E_INPUT, "an image of 16 bits per channel does not fit into %s", info->name);
    return odb_error_remedy(err, "scale=257 makes 8 bits of 16");
}

/* Number at of the batch. */
static void image_fill(struct odb_tensor *t, size_t at, const struct odb_tensor *image, float scale,
                       const struct image_job *job)
{
    size_t c = job->channels, n = image->count / c, from = at * image->count;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < c; k++) {
            float v = (float)odb_tensor_f64(image, i * c + k) / scale;
            v = (v - job->mean[k]) / job->std[k];
            odb_store_f64(t->dtype, t->data,
                          from + (job->layout == IMAGE_CHW ? k * n + i : i * c + k), (double)v);
        }
}

/* Number at of the batch, from its file; the first makes the tensor. note: what was done. */
static enum odb_status image_add(struct odb_tensor **out, const struct image_job *job, size_t at,
                                 char *note, size_t size, struct odb_error *err)
{
    struct odb_tensor *image = NULL;
    int64_t dims[4], read[2];
    float scale;
    enum odb_status status;
    ODB_TRY(image_decode(&image, job, job->files[at], err));
    memcpy(read, image->dims, sizeof read);
    ODB_TRY_OUT(image_to_size(&image, job, err));
    ODB_TRY_OUT(image_cut(&image, job, err));
    ODB_TRY_OUT(image_divisor(job, image, &scale, err));
    int rank = image_dims(job, image, dims);
    if (!at) {
        ODB_TRY_OUT(odb_tensor_new(out, job->form->type->dtype, rank, dims, err));
        snprintf(note, size, "%s %.120s, %lld x %lld, as %s %lld x %lld",
                 job->n_files > 1 ? "images, the first" : "image", job->files[0],
                 (long long)read[1], (long long)read[0],
                 job->channels == 1 ? "grey"
                 : job->bgr         ? "BGR"
                                    : "RGB",
                 (long long)image->dims[1], (long long)image->dims[0]);
    }
    if (memcmp((*out)->dims, dims, (size_t)rank * sizeof *dims) != 0) {
        int height = job->layout == IMAGE_CHW ? 2 : 1;
        odb_fail(err, ODB_E_INPUT,
                 "the image is %lld x %lld, and the first of the batch %lld x %lld",
                 (long long)image->dims[1], (long long)image->dims[0],
                 (long long)(*out)->dims[height + 1], (long long)(*out)->dims[height]);
        status =
            odb_error_remedy(err, "make them of one size: image(%s,...,resize=HxW)", job->files[0]);
        goto out;
    }
    image_fill(*out, at, image, scale, job);
out:
    odb_tensor_unref(image);
    if (status != ODB_OK && job->n_files > 1)
        odb_error_at(err, "%s", job->files[at]);
    return status;
}

enum odb_status odb_input__image(struct odb_tensor **out, char *source, size_t size,
                                 const struct odb_input_form *form, char *const *words,
                                 struct odb_error *err)
{
    enum odb_dtype dtype = form->type->dtype;
    struct image_job job = {.form = form, .files = words, .n_files = 1, .std = {1, 1, 1}};
    enum odb_status status = ODB_OK;
    if (form->type->kind != ODB_TENSOR ||
        !(odb_dtype_is_float(dtype) || odb_dtype_is_integer(dtype)))
        return odb_fail(err, ODB_E_USAGE, "an image goes into tensors of numbers alone");
    while (words[job.n_files] && odb_input__is_image(words[job.n_files]))
        job.n_files++;
    for (size_t i = job.n_files; words[i]; i++)
        ODB_TRY(image_take(&job, words[i], err));
    ODB_TRY(image_begin(&job, err));
    *out = NULL;
    for (size_t i = 0; i < job.n_files && status == ODB_OK; i++)
        status = image_add(out, &job, i, source, size, err);
    if (status != ODB_OK) {
        odb_tensor_unref(*out);
        *out = NULL;
    }
    return status;
}
