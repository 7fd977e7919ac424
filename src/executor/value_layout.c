/* SPDX-License-Identifier: MIT
 *
 * Both orders are one: channels that come last are a single block of all of them. So what is stored
 * is N, B, places, b, where the channel is B * block + b, and the value is N, channel, places.
 */
#include "executor/value_layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LAYOUT_MOST ((json_int_t)1 << 40) /* channels */

/* --- reading ---------------------------------------------------------------------------------- */

static const struct layout_name {
    const char *name; /* as it begins, whatever the spatial dimensions are called */
    enum odb_layout_order order;
} layout_names[] = {
    {"plain", ODB_LAYOUT_PLAIN},   {"NC", ODB_LAYOUT_PLAIN},       {"NCW", ODB_LAYOUT_PLAIN},
    {"NCHW", ODB_LAYOUT_PLAIN},    {"NCDHW", ODB_LAYOUT_PLAIN},    {"NCWc", ODB_LAYOUT_BLOCKED},
    {"NCHWc", ODB_LAYOUT_BLOCKED}, {"NCDHWc", ODB_LAYOUT_BLOCKED}, {"NWC", ODB_LAYOUT_LAST},
    {"NHWC", ODB_LAYOUT_LAST},     {"NDHWC", ODB_LAYOUT_LAST},
};

/* NULL: there is none of this name. */
static const struct layout_name *layout_named(const char *text)
{
    for (size_t i = 0; text && i < ODB_COUNT(layout_names); i++)
        if (!strcmp(text, layout_names[i].name))
            return &layout_names[i];
    return NULL;
}

static enum odb_status layout_order(struct odb_layout *out, const json_t *name,
                                    struct odb_error *err)
{
    const char *text = name ? json_string_value(name) : "plain";
    const struct layout_name *found = layout_named(text);
    out->order = found ? found->order : ODB_LAYOUT_PLAIN;
    if (found)
        return ODB_OK;
    odb_fail(err, ODB_E_FORMAT, "the layout '%.100s' is not known",
             text ? text : "that is no text");
    return odb_error_remedy(err, "layouts are NCHW, NHWC, NCHWc and the like, and plain");
}

/* MNN's NC4HW4, and oneDNN's small letters for what is not in blocks: nChw16c. What such a word
 * stands for; NULL: it is none. */
static const char *layout_other_words(const char *word, size_t n, char *out, size_t size)
{
    int before, behind, end = 0;
    char text[16];
    if (n >= sizeof text)
        return NULL;
    snprintf(text, sizeof text, "%.*s", (int)n, word);
    if (sscanf(text, "NC%4dHW%4d%n", &before, &behind, &end) == 2 && !text[end] && before == behind)
        snprintf(out, size, "NCHW%dc", before);
    else if (sscanf(text, "nChw%4dc%n", &before, &end) == 1 && end && !text[end])
        snprintf(out, size, "NCHW%dc", before);
    else if (!strcmp(text, "nhwc") || !strcmp(text, "nchw"))
        snprintf(out, size, "%s", text[1] == 'h' ? "NHWC" : "NCHW");
    else
        return NULL;
    return out;
}

bool odb_layout_parse(struct odb_layout *out, const char *word, size_t n)
{
    char name[16], other[24];
    size_t to = 0;
    int64_t block = 0;
    if (layout_other_words(word, n, other, sizeof other)) {
        word = other;
        n = strlen(other);
    }
    *out = (struct odb_layout){.padding = -1, .dtype = ODB_UNDEFINED};
    for (size_t i = 0; i < n; i++) {
        bool digit = word[i] >= '0' && word[i] <= '9';
        if (to + 1 == sizeof name || block > LAYOUT_MOST)
            return false;
        if (digit)
            block = 10 * block + (word[i] - '0');
        else
            name[to++] = word[i];
    }
    name[to] = '\0';
    out->block = block;
    const struct layout_name *found = layout_named(name);
    out->order = found ? found->order : ODB_LAYOUT_PLAIN;
    return found && (out->order == ODB_LAYOUT_BLOCKED) == (block > 0);
}

/* A whole number from least on; what is left out stays as it is. */
static enum odb_status layout_whole(int64_t *out, const json_t *json, const char *key,
                                    json_int_t least, struct odb_error *err)
{
    const json_t *value = json_object_get(json, key);
    if (!value || json_is_null(value))
        return ODB_OK;
    if (!json_is_integer(value) || json_integer_value(value) < least ||
        json_integer_value(value) > LAYOUT_MOST)
        return odb_fail(err, ODB_E_FORMAT, "%s is no whole number from %" JSON_INTEGER_FORMAT " on",
                        key, least);
    *out = json_integer_value(value);
    return ODB_OK;
}

/* A number, or a list of them, as [*n]; one is repeated n times where *n is given. */
static enum odb_status layout_numbers(double **out, size_t *n, const json_t *value, const char *key,
                                      struct odb_error *err)
{
    size_t given = json_is_array(value) ? json_array_size(value) : 1;
    if (!given || (*n && given != 1 && given != *n))
        return odb_fail(err, ODB_E_FORMAT, "%zu of %s, and %zu of scale", given, key, *n);
    *n = *n ? *n : given;
    *out = odb_new_n(double, *n);
    for (size_t i = 0; i < *n; i++) {
        const json_t *one =
            json_is_array(value) ? json_array_get(value, given == 1 ? 0 : i) : value;
        (*out)[i] = json_number_value(one);
        if (!json_is_number(one) || !isfinite((*out)[i]))
            return odb_fail(err, ODB_E_FORMAT, "%s is no number", key);
    }
    return ODB_OK;
}

static enum odb_status layout_scale(struct odb_layout *out, const json_t *json,
                                    struct odb_error *err)
{
    const json_t *scale = json_object_get(json, "scale");
    const json_t *zero = json_object_get(json, "zero_point");
    int64_t axis = 1;
    if (!scale || json_is_null(scale))
        return !zero || json_is_null(zero)
                   ? ODB_OK
                   : odb_fail(err, ODB_E_FORMAT, "there is a zero_point and no scale");
    ODB_TRY(layout_numbers(&out->scale, &out->n_scale, scale, "scale", err));
    for (size_t i = 0; i < out->n_scale; i++)
        if (out->scale[i] <= 0)
            return odb_fail(err, ODB_E_FORMAT, "the scale %g is not above 0", out->scale[i]);
    ODB_TRY(layout_whole(&axis, json, "axis", 0, err));
    if (axis >= ODB_MAX_RANK)
        return odb_fail(err, ODB_E_FORMAT, "there is no axis %" PRId64, axis);
    out->axis = (int)axis;
    if (zero && !json_is_null(zero))
        return layout_numbers(&out->zero, &out->n_scale, zero, "zero_point", err);
    out->zero = odb_new_n(double, out->n_scale);
    return ODB_OK;
}

enum odb_status odb_layout_read(struct odb_layout *out, const json_t *json, struct odb_error *err)
{
    const json_t *dtype = json_object_get(json, "dtype");
    *out = (struct odb_layout){.padding = -1, .dtype = ODB_UNDEFINED};
    if (!json_is_object(json))
        return odb_fail(err, ODB_E_FORMAT, "it is no object");
    ODB_TRY(layout_order(out, json_object_get(json, "layout"), err));
    ODB_TRY(layout_whole(&out->block, json, "block", 1, err));
    ODB_TRY(layout_whole(&out->padding, json, "padding", 0, err));
    if ((out->order == ODB_LAYOUT_BLOCKED) != (out->block > 0))
        return odb_fail(err, ODB_E_FORMAT, "%s",
                        out->block ? "there is a block, and the layout has none"
                                   : "the layout has blocks, and there is no block");
    if (dtype && !json_is_null(dtype)) {
        const char *name = json_string_value(dtype);
        out->dtype = name ? odb_dtype_parse(name) : ODB_UNDEFINED;
        if (out->dtype == ODB_UNDEFINED || out->dtype == ODB_STRING)
            return odb_fail(err, ODB_E_FORMAT, "the dtype '%.60s' is not known", name ? name : "");
    }
    return layout_scale(out, json, err);
}

void odb_layout_dispose(struct odb_layout *layout)
{
    free(layout->scale);
    free(layout->zero);
    layout->scale = layout->zero = NULL;
    layout->n_scale = 0;
}

void odb_layout_put(const struct odb_layout *layout, struct odb_buf *out)
{
    size_t before = out->len;
    if (layout->order == ODB_LAYOUT_BLOCKED)
        odb_buf_printf(out, "channels in blocks of %" PRId64, layout->block);
    else if (layout->order == ODB_LAYOUT_LAST)
        odb_buf_puts(out, "channels last");
    if (layout->padding > 0)
        odb_buf_printf(out, "%s%" PRId64 " channels of padding", out->len > before ? ", " : "",
                       layout->padding);
    if (layout->dtype != ODB_UNDEFINED || layout->n_scale)
        odb_buf_printf(out, "%s%s", out->len > before ? "; " : "",
                       layout->dtype == ODB_UNDEFINED ? "integers"
                                                      : odb_dtype_info(layout->dtype)->name);
    if (layout->n_scale == 1)
        odb_buf_printf(out, " with scale %g and zero point %g", layout->scale[0], layout->zero[0]);
    else if (layout->n_scale)
        odb_buf_printf(out, " with %zu scales on axis %d", layout->n_scale, layout->axis);
}

/* --- undoing ---------------------------------------------------------------------------------- */

static enum odb_status layout_misfit(const struct odb_tensor *t, const char *what,
                                     struct odb_error *err)
{
    char shape[200];
    return odb_fail(err, ODB_E_FORMAT, "it is said to be %s, and what was read is %s%s", what,
                    odb_dtype_info(t->dtype)->name, odb_shape_text(t, shape, sizeof shape));
}

/* How many channels the value has, of those that are stored. Padding that the target does not speak
 * of is not taken for channels: the shape would be another one, and a node accused of it. */
static enum odb_status layout_channels(int64_t *out, const struct odb_layout *layout,
                                       int64_t stored, const struct odb_layout_want *want,
                                       struct odb_error *err)
{
    bool blocked = layout->order == ODB_LAYOUT_BLOCKED;
    bool known = want->rank > 1 && want->dims[1] >= 0;
    *out = stored;
    if (layout->padding >= 0)
        *out = stored - layout->padding;
    else if (blocked && !known)
        return odb_fail(err, ODB_E_FORMAT,
                        "the model does not say how many channels there are, and no padding is "
                        "given");
    else if (blocked && want->dims[1] <= stored && stored - want->dims[1] < layout->block)
        *out = want->dims[1];
    if (*out < 0 || (stored && !*out))
        return odb_fail(err, ODB_E_FORMAT,
                        "%" PRId64 " channels of padding, and there are only %" PRId64,
                        layout->padding, stored);
    return ODB_OK;
}

/* Row by row of places: the elements of a channel stand one block apart. */
static void layout_copy(struct odb_tensor *to, const struct odb_tensor *from, size_t block,
                        size_t stored, size_t places)
{
    size_t width = odb_dtype_info(to->dtype)->bits / 8, channels = (size_t)to->dims[1];
    char *put = to->data;
    for (size_t row = 0; row < (size_t)to->dims[0] * channels; row++) {
        size_t n = row / channels, channel = row % channels;
        size_t first = (n * (stored / block) + channel / block) * places * block + channel % block;
        const char *take = (const char *)from->data + first * width;
        for (size_t i = 0; i < places; i++, put += width, take += block * width)
            memcpy(put, take, width);
    }
}

/* The value's order of elements, without padding. */
static enum odb_status layout_reorder(struct odb_tensor **out, const struct odb_layout *layout,
                                      const struct odb_tensor *t,
                                      const struct odb_layout_want *want, struct odb_error *err)
{
    bool blocked = layout->order == ODB_LAYOUT_BLOCKED, plain = layout->order == ODB_LAYOUT_PLAIN;
    int64_t dims[ODB_MAX_RANK], stored;
    int rank = blocked ? t->rank - 1 : t->rank, first = layout->order == ODB_LAYOUT_LAST ? 1 : 2;
    int last = plain ? t->rank : t->rank - 1; /* places are the dimensions from first to here */
    size_t places = 1;
    if (rank < 2 || (blocked && t->dims[last] != layout->block))
        return layout_misfit(t,
                             blocked ? "in blocks, its last dimension the size of a block"
                                     : "of two dimensions or more",
                             err);
    if (odb_dtype_info(t->dtype)->bits % 8)
        return layout_misfit(t, "of whole bytes", err);
    int64_t block = plain ? 1 : t->dims[last];
    if (__builtin_mul_overflow(first == 2 ? t->dims[1] : 1, block, &stored))
        return layout_misfit(t, "of a size that there is", err);
    dims[0] = t->dims[0];
    ODB_TRY(layout_channels(&dims[1], layout, stored, want, err));
    for (int i = first; i < last; i++) {
        dims[2 + i - first] = t->dims[i];
        places *= (size_t)t->dims[i];
    }
    ODB_TRY(odb_tensor_new_raw(out, t->dtype, rank, dims, err));
    if ((*out)->count)
        layout_copy(*out, t, (size_t)block, (size_t)stored, places);
    return ODB_OK;
}

/* Numbers as floats of the model's type. */
static enum odb_status layout_real(struct odb_tensor **out, const struct odb_layout *layout,
                                   const struct odb_tensor *t, enum odb_dtype dtype,
                                   struct odb_error *err)
{
    size_t each = 1;
    bool many = layout->n_scale > 1;
    if (many && (layout->axis >= t->rank || (size_t)t->dims[layout->axis] != layout->n_scale))
        return odb_fail(err, ODB_E_FORMAT, "there are %zu scales for axis %d", layout->n_scale,
                        layout->axis);
    for (int i = layout->axis + 1; many && i < t->rank; i++)
        each *= (size_t)t->dims[i];
    ODB_TRY(odb_tensor_new_raw(out, dtype, t->rank, t->dims, err));
    for (size_t i = 0; i < t->count; i++) {
        size_t k = many ? i / each % layout->n_scale : 0;
        double v = odb_tensor_f64(t, i);
        odb_store_f64(dtype, (*out)->data, i,
                      layout->n_scale ? (v - layout->zero[k]) * layout->scale[k] : v);
    }
    odb_tensor_set_steps(*out, layout->axis, layout->scale, layout->n_scale);
    return ODB_OK;
}

/* What the model says of the shape, where it says it. */
static enum odb_status layout_check(const struct odb_tensor *t, const struct odb_layout_want *want,
                                    struct odb_error *err)
{
    struct odb_buf says = ODB_BUF_INIT;
    char shape[200];
    bool fits = want->rank < 0 || want->rank == t->rank;
    for (int i = 0; i < want->rank; i++) {
        fits = fits && (want->dims[i] < 0 || want->dims[i] == t->dims[i]);
        odb_buf_printf(&says, want->dims[i] < 0 ? "%s?" : "%s%" PRId64, i ? ", " : "",
                       want->dims[i]);
    }
    if (!fits)
        odb_fail(err, ODB_E_FORMAT, "undone, its shape is %s, and the model's is (%s)",
                 odb_shape_text(t, shape, sizeof shape), odb_buf_text(&says));
    odb_buf_dispose(&says);
    return fits ? ODB_OK : ODB_E_FORMAT;
}

static bool layout_is_number(enum odb_dtype dtype)
{
    return odb_dtype_is_float(dtype) || odb_dtype_is_integer(dtype);
}

/* The type that the value is to have; ODB_UNDEFINED: that of t. */
static enum odb_dtype layout_type(const struct odb_layout *layout, const struct odb_tensor *t,
                                  const struct odb_layout_want *want)
{
    if (want->dtype == t->dtype || !layout_is_number(t->dtype))
        return ODB_UNDEFINED;
    if (layout->n_scale && want->dtype == ODB_UNDEFINED)
        return ODB_F32;
    bool carried = layout->n_scale || layout->dtype != ODB_UNDEFINED;
    return carried && odb_dtype_is_float(want->dtype) ? want->dtype : ODB_UNDEFINED;
}

static enum odb_status layout_agrees(const struct odb_layout *layout, const struct odb_tensor *t,
                                     struct odb_error *err)
{
    if (t->kind != ODB_TENSOR || !t->data || t->dtype == ODB_STRING)
        return odb_fail(err, ODB_E_FORMAT, "it has a layout, and is no tensor of numbers");
    if (layout->dtype != ODB_UNDEFINED && layout->dtype != t->dtype)
        return layout_misfit(t, odb_dtype_info(layout->dtype)->name, err);
    if (layout->n_scale && !odb_dtype_is_integer(t->dtype) && layout->dtype == ODB_UNDEFINED)
        return layout_misfit(t, "integers with a scale", err);
    return ODB_OK;
}

enum odb_status odb_layout_plain(struct odb_tensor **out, const struct odb_layout *layout,
                                 const struct odb_tensor *t, const struct odb_layout_want *want,
                                 struct odb_error *err)
{
    struct odb_tensor *value = NULL, *real = NULL;
    enum odb_status status = layout_agrees(layout, t, err);
    ODB_TRY(status);
    bool moved = layout->order != ODB_LAYOUT_PLAIN || layout->padding > 0;
    if (moved)
        ODB_TRY(layout_reorder(&value, layout, t, want, err));
    else
        value = odb_tensor_ref(t);
    enum odb_dtype dtype = layout_type(layout, t, want);
    if (dtype != ODB_UNDEFINED)
        status = layout_real(&real, layout, value, dtype, err);
    else
        real = odb_tensor_ref(value);
    odb_tensor_unref(value);
    if (status == ODB_OK && (moved || dtype != ODB_UNDEFINED)) {
        struct odb_buf says = ODB_BUF_INIT;
        status = moved ? layout_check(real, want, err) : ODB_OK; /* a model may declare another */
        odb_layout_put(layout, &says);
        odb_tensor_set_read_as(real, odb_buf_text(&says));
        odb_buf_dispose(&says);
    }
    if (status != ODB_OK) {
        odb_tensor_unref(real);
        return status;
    }
    *out = real;
    return ODB_OK;
}

/* "NHWC" and "NCHW16c" are of values of four dimensions. */
static int layout_rank(const char *word, size_t n)
{
    int rank = 0;
    char other[24];
    if (layout_other_words(word, n, other, sizeof other)) {
        word = other;
        n = strlen(other);
    }
    for (size_t i = 0; i < n; i++)
        rank += word[i] >= 'A' && word[i] <= 'Z';
    return rank;
}

bool odb_layout_plain_of(struct odb_tensor **out, const char *layouts, const struct odb_tensor *t,
                         const struct odb_layout_want *want)
{
    struct odb_tensor *found = NULL;
    bool one = true, meant = false;
    for (const char *word = layouts; *word; word += strcspn(word, ";"), word += *word == ';') {
        struct odb_error ignored = ODB_ERROR_INIT;
        struct odb_layout layout;
        struct odb_tensor *value = NULL;
        size_t n = strcspn(word, ";");
        if (!odb_layout_parse(&layout, word, n) || layout_rank(word, n) != want->rank)
            continue;
        meant = true;
        if (odb_layout_plain(&value, &layout, t, want, &ignored) != ODB_OK)
            continue;
        if (layout_check(value, want, &ignored) != ODB_OK || found) {
            one = one && (!found || layout_check(value, want, &ignored) != ODB_OK ||
                          odb_tensor_identical(found, value));
            odb_tensor_unref(value);
        } else {
            found = value;
        }
    }
    if (!meant)
        found = odb_tensor_ref(t);
    if (found && one) {
        *out = found;
        return true;
    }
    odb_tensor_unref(found);
    return false;
}
