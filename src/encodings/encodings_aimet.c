/* SPDX-License-Identifier: MIT
 *
 * The JSON of AIMET, which QNN's converter reads as quantization overrides: versions up to 0.6.1
 * with an object by name, 1.0.0 with a list, 2.0.0 and later with what ONNX's QuantizeLinear takes.
 *
 * Up to 1.0.0 a number is (code + offset) * scale with codes from 0 on, so that offsets are zero or
 * less: the opposite of a zero point. Where the least and the greatest number stand beside it, they
 * must be those; a file that has zero points there is told.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "encodings/encodings_int.h"

#define AIMET_NEAR 1.001 /* steps between what a file says and what follows from its scale */

/* "True", true. */
static bool aimet_true(const json_t *v)
{
    const char *text = json_string_value(v);
    return json_is_true(v) || (text && !strcasecmp(text, "true"));
}

static const json_t *aimet_either(const json_t *about, const char *a, const char *b)
{
    const json_t *v = json_object_get(about, a);
    return v ? v : json_object_get(about, b);
}

/* "int", "INT", "float": true for the last, whose type is then known. */
static enum odb_status aimet_type(struct encodings_said *said, const json_t *about,
                                  struct odb_error *err)
{
    const char *dtype = json_string_value(json_object_get(about, "dtype"));
    ODB_TRY(encodings_whole(&said->bits, aimet_either(about, "bitwidth", "bw"), "bitwidth", err));
    if (!dtype || !strcasecmp(dtype, "int"))
        return ODB_OK;
    if (strcasecmp(dtype, "float") != 0)
        return odb_fail(err, ODB_E_FORMAT, "its dtype is neither int nor float");
    if (said->bits != 16 && said->bits != 32)
        return odb_fail(err, ODB_E_FORMAT, "floats of %d bits are not supported", said->bits);
    said->type = said->bits == 16 ? ODB_F16 : ODB_F32;
    return ODB_OK;
}

/* Which codes make these the least and the greatest number. */
static enum odb_status aimet_bounds(struct encodings_said *said, double scale, double offset,
                                    double min, double max, struct odb_error *err)
{
    double codes = ldexp(1, said->bits), lo = min / scale, hi = max / scale;
    if (said->is_signed && lo > -codes / 4)
        said->is_signed = false; /* symmetric, and nothing is below zero */
    if (fabs(lo - (said->is_signed ? -codes / 2 : offset)) > AIMET_NEAR) {
        if (offset <= 0 || fabs(lo + offset) > AIMET_NEAR)
            return odb_fail(err, ODB_E_FORMAT,
                            "its offset %g and scale %g make %g the least number, and not its min "
                            "%g",
                            offset, scale, offset * scale, min);
        odb_fail(err, ODB_E_FORMAT,
                 "its offset %g has the sign of a zero point: its least number is %g", offset, min);
        return odb_error_remedy(err,
                                "offsets are zero or less, number = (code + offset) * "
                                "scale: write %g",
                                -offset);
    }
    if (fabs(hi - lo - (codes - 1)) > 1.5)
        return odb_fail(err, ODB_E_FORMAT,
                        "its min and max are %g steps of its scale apart, and %d bits have %g",
                        hi - lo, said->bits, codes - 1);
    said->bounded = hi - lo < codes - 1.5; /* one code is left out: -127 to 127 */
    if (!said->bounded)
        return ODB_OK;
    said->least = said->is_signed ? nearbyint(lo) : 0;
    said->most = said->least + nearbyint(hi - lo);
    return ODB_OK;
}

/* What offset, least and greatest number of one scale come to. */
static enum odb_status aimet_codes(struct encodings_said *said, double scale, double offset,
                                   const json_t *min, const json_t *max, struct odb_error *err)
{
    said->is_signed = said->symmetric && offset == 0;
    if (scale > 0 && json_is_number(min) && json_is_number(max))
        return aimet_bounds(said, scale, offset, json_number_value(min), json_number_value(max),
                            err);
    if (offset <= 0)
        return ODB_OK;
    odb_fail(err, ODB_E_FORMAT, "its offset %g is positive", offset);
    return odb_error_remedy(err, "offsets are zero or less, number = (code + offset) * scale; "
                                 "a zero point is what y_zero_point holds");
}

/* Scale and offset where only the range stands there, as QNN's overrides may have it. */
static enum odb_status aimet_from_range(struct encodings_said *said, const json_t *about,
                                        double *scale, double *offset, struct odb_error *err)
{
    const json_t *min = json_object_get(about, "min"), *max = json_object_get(about, "max");
    if (!json_is_number(min) || !json_is_number(max))
        return odb_fail(err, ODB_E_FORMAT, "it has neither a scale nor min and max");
    if (json_number_value(min) > json_number_value(max))
        return odb_fail(err, ODB_E_FORMAT, "its min %g is above its max %g", json_number_value(min),
                        json_number_value(max));
    double lo = fmin(json_number_value(min), 0), hi = fmax(json_number_value(max), 0);
    *scale = (hi - lo) / (ldexp(1, said->bits) - 1);
    *offset = *scale > 0 ? nearbyint(lo / *scale) : 0;
    return ODB_OK;
}

static void aimet_push(struct encodings_numbers *to, size_t room, double v)
{
    if (!to->items)
        to->items = odb_new_n(double, room);
    to->items[to->n++] = v;
}

static bool aimet_same_codes(const struct encodings_said *a, const struct encodings_said *b)
{
    return a->bits == b->bits && a->is_signed == b->is_signed && a->type == b->type &&
           a->bounded == b->bounded && a->least == b->least && a->most == b->most;
}

/* Version 0.6.1: a list of encodings, one per channel. kinds: of the channels before, which say
 * something of the codes. */
static enum odb_status aimet_channel(struct encodings_said *said, const json_t *about, size_t n,
                                     size_t *kinds, struct odb_error *err)
{
    const json_t *s = json_object_get(about, "scale"), *o = json_object_get(about, "offset");
    struct encodings_said one = ENCODINGS_SAID(said->name);
    double scale = json_number_value(s), offset = json_number_value(o);
    if (!json_is_object(about))
        return odb_fail(err, ODB_E_FORMAT, "its list does not hold objects");
    ODB_TRY(aimet_type(&one, about, err));
    one.symmetric = aimet_true(json_object_get(about, "is_symmetric"));
    if (one.type == ODB_UNDEFINED && !json_is_number(s))
        ODB_TRY(aimet_from_range(&one, about, &scale, &offset, err));
    else if (one.type == ODB_UNDEFINED)
        ODB_TRY(aimet_codes(&one, scale, offset, json_object_get(about, "min"),
                            json_object_get(about, "max"), err));
    bool zeros = one.type == ODB_UNDEFINED && scale == 0; /* whatever the codes are */
    if (!zeros && *kinds && !aimet_same_codes(&one, said))
        return odb_fail(err, ODB_E_FORMAT, "its channels are of different kinds");
    if (!zeros && !(*kinds)++) {
        one.scale = said->scale;
        one.zero = said->zero;
        *said = one;
    }
    aimet_push(&said->scale, n, scale);
    aimet_push(&said->zero, n, zeros ? 0 : -offset);
    return ODB_OK;
}

static enum odb_status aimet_by_name(struct odb_encodings *out, const json_t *object,
                                     struct odb_error *err)
{
    const char *name;
    json_t *list;
    json_object_foreach((json_t *)(uintptr_t)object, name, list) {
        struct encodings_said said = ENCODINGS_SAID(name);
        enum odb_status status = ODB_OK;
        size_t n = json_array_size(list), kinds = 0;
        if (!n)
            status = odb_fail(err, ODB_E_FORMAT, "it has no list of encodings");
        for (size_t i = 0; i < n && status == ODB_OK; i++)
            status = aimet_channel(&said, json_array_get(list, i), n, &kinds, err);
        said.axis = n > 1 ? ODB_ENCODING_BY_READER : ODB_ENCODING_NO_AXIS;
        ODB_TRY(encodings_take(out, &said, status, err));
    }
    return ODB_OK;
}

/* Its scales and what moves their codes, by the names that a version has for them. */
static enum odb_status aimet_scales(struct encodings_said *said, const json_t *about,
                                    const char *scale, const char *zero, struct odb_error *err)
{
    ODB_TRY(encodings_numbers(&said->scale, json_object_get(about, scale), err));
    return encodings_numbers(&said->zero, json_object_get(about, zero), err);
}

/* Elements in a block; *has is false where there are no blocks. */
static enum odb_status aimet_block(struct encodings_said *said, const json_t *about, bool *has,
                                   struct odb_error *err)
{
    const json_t *size = json_object_get(about, "block_size");
    int block = 0;
    *has = size && !json_is_null(size);
    if (*has)
        ODB_TRY(encodings_whole(&block, size, "block_size", err));
    said->block = block;
    return ODB_OK;
}

/* --- 1.0.0 ------------------------------------------------------------------------------------ */

/* Low-power blocks: a block's scale is a small whole number times its channel's. */
static enum odb_status aimet_blocks(struct encodings_said *said, const json_t *about,
                                    struct odb_error *err)
{
    struct encodings_numbers factors;
    enum odb_status status =
        encodings_numbers(&factors, json_object_get(about, "per_block_int_scale"), err);
    size_t channels = said->scale.n;
    if (status == ODB_OK && (!factors.n || !channels || factors.n % channels))
        status = odb_fail(err, ODB_E_FORMAT, "it has %zu per_block_int_scale for %zu scales",
                          factors.n, channels);
    for (size_t i = 0; i < factors.n && status == ODB_OK; i++)
        factors.items[i] *= said->scale.items[i / (factors.n / channels)];
    for (size_t i = 1; i < said->zero.n && status == ODB_OK; i++)
        if (said->zero.items[i] != said->zero.items[0])
            status = odb_fail(err, ODB_E_FORMAT, "its channels have different offsets");
    if (status != ODB_OK) {
        free(factors.items);
        return status;
    }
    free(said->scale.items);
    said->scale = factors;
    const json_t *bits = json_object_get(about, "compressed_bw");
    if (!bits)
        return odb_fail(err, ODB_E_FORMAT, "it has no compressed_bw");
    /* The offset is that of the wide codes; those of the narrow ones are symmetric likewise. */
    ODB_TRY(encodings_whole(&said->bits, bits, "compressed_bw", err));
    said->is_signed = true;
    said->zero.n = 0;
    return ODB_OK;
}

static enum odb_status aimet_layout(struct encodings_said *said, const json_t *about,
                                    struct odb_error *err)
{
    const char *kind = json_string_value(json_object_get(about, "enc_type"));
    bool channels = kind && !strcmp(kind, "PER_CHANNEL");
    bool blocks = kind && (!strcmp(kind, "PER_BLOCK") || !strcmp(kind, "LPBQ")), has;
    if (kind && !channels && !blocks && strcmp(kind, "PER_TENSOR") != 0)
        return odb_fail(err, ODB_E_FORMAT, "enc_type %.40s is not known", kind);
    if (channels || blocks)
        said->axis = ODB_ENCODING_BY_READER;
    if (blocks) {
        said->block_axis = ODB_ENCODING_BY_READER;
        ODB_TRY(aimet_block(said, about, &has, err));
    }
    return kind && !strcmp(kind, "LPBQ") ? aimet_blocks(said, about, err) : ODB_OK;
}

static enum odb_status aimet_listed(struct encodings_said *said, const json_t *about,
                                    struct odb_error *err)
{
    ODB_TRY(aimet_type(said, about, err));
    if (said->type != ODB_UNDEFINED)
        return ODB_OK;
    if (json_object_get(about, "zero_point_shift"))
        return odb_fail(err, ODB_E_FORMAT, "zero_point_shift is not supported");
    said->symmetric = aimet_true(aimet_either(about, "is_sym", "is_symmetric"));
    ODB_TRY(aimet_scales(said, about, "scale", "offset", err));
    said->is_signed = said->symmetric;
    for (size_t i = 0; i < said->zero.n; i++) {
        bool before = said->is_signed;
        ODB_TRY(aimet_codes(said, 0, said->zero.items[i], NULL, NULL, err));
        if (i && said->is_signed != before)
            return odb_fail(err, ODB_E_FORMAT, "its channels are of different kinds");
        said->zero.items[i] = 0 - said->zero.items[i];
    }
    return aimet_layout(said, about, err);
}

/* --- 2.0.0 ------------------------------------------------------------------------------------ */

/* "uint8", "int4". */
static enum odb_status aimet_output_type(struct encodings_said *said, const json_t *about,
                                         struct odb_error *err)
{
    const char *type = json_string_value(json_object_get(about, "output_dtype"));
    int bits = 0, end = 0;
    if (type && sscanf(type, "uint%2d%n", &bits, &end) == 1 && !type[end])
        said->is_signed = false;
    else if (type && sscanf(type, "int%2d%n", &bits, &end) == 1 && !type[end])
        said->is_signed = true;
    else
        return odb_fail(err, ODB_E_FORMAT, "output_dtype %.40s is not supported",
                        type ? type : "(none)");
    said->bits = bits;
    return ODB_OK;
}

/* Scales of a nested list stand as the tensor's axes do: those longer than 1 are channels, and one
 * is cut into blocks. */
static enum odb_status aimet_nested(struct encodings_said *said, struct odb_error *err)
{
    const struct encodings_numbers *s = &said->scale;
    for (int d = 0; s->rank > 1 && d < s->rank; d++) {
        if (d == said->block_axis || s->dims[d] == 1)
            continue;
        if (said->axis != ODB_ENCODING_NO_AXIS)
            return odb_fail(err, ODB_E_FORMAT, "scales along more than two axes are not supported");
        said->axis = d;
    }
    return ODB_OK;
}

static enum odb_status aimet_onnx_like(struct encodings_said *said, const json_t *about,
                                       struct odb_error *err)
{
    const json_t *scale = json_object_get(about, "y_scale");
    int axis = ODB_ENCODING_BY_READER;
    bool blocks;
    ODB_TRY(encodings_whole(&axis, json_object_get(about, "axis"), "axis", err));
    ODB_TRY(aimet_output_type(said, about, err));
    if (json_object_get(about, "per_block_int_scale") || json_is_object(scale))
        return odb_fail(err, ODB_E_FORMAT,
                        "scales that are quantised themselves are read from version 1.0.0 (LPBQ)");
    ODB_TRY(aimet_scales(said, about, "y_scale", "y_zero_point", err));
    ODB_TRY(aimet_block(said, about, &blocks, err));
    if (blocks) {
        said->block_axis = axis;
        return aimet_nested(said, err);
    }
    if (said->scale.n > 1)
        said->axis = axis;
    return ODB_OK;
}

/* --- the file --------------------------------------------------------------------------------- */

typedef enum odb_status (*aimet_fn)(struct encodings_said *said, const json_t *about,
                                    struct odb_error *err);

static enum odb_status aimet_list(struct odb_encodings *out, const json_t *list, aimet_fn read,
                                  struct odb_error *err)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *about = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(about, "name"));
        if (!name)
            return odb_fail(err, ODB_E_FORMAT, "encoding %zu of a list has no name", i);
        struct encodings_said said = ENCODINGS_SAID(name);
        ODB_TRY(encodings_take(out, &said, read(&said, about, err), err));
    }
    return ODB_OK;
}

enum odb_status encodings_read_aimet(struct odb_encodings *out, const json_t *root,
                                     struct odb_error *err)
{
    static const char *const parts[] = {"activation_encodings", "param_encodings"};
    const char *version = json_string_value(json_object_get(root, "version"));
    out->format = odb_xasprintf("AIMET or QNN%s%.20s", version ? " " : "", version ? version : "");
    if (json_object_get(root, "encodings"))
        return aimet_list(out, json_object_get(root, "encodings"), aimet_onnx_like, err);
    for (size_t i = 0; i < ODB_COUNT(parts); i++) {
        const json_t *part = json_object_get(root, parts[i]);
        if (part && !json_is_array(part) && !json_is_object(part))
            return odb_fail(err, ODB_E_FORMAT, "%s is neither a list nor an object", parts[i]);
        if (json_is_array(part))
            ODB_TRY(aimet_list(out, part, aimet_listed, err));
        else if (part)
            ODB_TRY(aimet_by_name(out, part, err));
    }
    return ODB_OK;
}
