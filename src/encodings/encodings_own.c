/* SPDX-License-Identifier: MIT
 *
 * The plain JSON of our own, which onnxdbg-encodings(7) describes.
 */
#include <math.h>
#include <string.h>

#include "encodings/encodings_int.h"

#define OWN_VERSION 1

static enum odb_status own_codes(struct encodings_said *said, const json_t *codes,
                                 struct odb_error *err)
{
    if (!codes)
        return ODB_OK;
    if (json_array_size(codes) != 2 || !json_is_integer(json_array_get(codes, 0)) ||
        !json_is_integer(json_array_get(codes, 1)))
        return odb_fail(err, ODB_E_FORMAT, "its codes are not two whole numbers");
    said->bounded = true;
    said->least = json_number_value(json_array_get(codes, 0));
    said->most = json_number_value(json_array_get(codes, 1));
    return ODB_OK;
}

static enum odb_status own_type(struct encodings_said *said, const json_t *type,
                                struct odb_error *err)
{
    const char *text = json_string_value(type);
    if (!type)
        return ODB_OK;
    said->type = text ? odb_dtype_parse(text) : ODB_UNDEFINED;
    if (said->type == ODB_F16 || said->type == ODB_BF16)
        return ODB_OK;
    return odb_fail(err, ODB_E_FORMAT, "its type is neither float16 nor bfloat16");
}

/* A member that this version does not know would be passed over in silence. */
static enum odb_status own_known(const json_t *about, struct odb_error *err)
{
    static const char *const known[] = {"bits", "signed", "symmetric",  "scale", "zero_point",
                                        "axis", "codes",  "block_axis", "block", "type"};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)about, key, value) {
        bool found = false;
        for (size_t i = 0; i < ODB_COUNT(known); i++)
            found = found || !strcmp(key, known[i]);
        if (!found)
            return odb_fail(err, ODB_E_FORMAT, "'%.80s' is not known", key);
    }
    return ODB_OK;
}

static enum odb_status own_flag(bool *out, const json_t *about, const char *key,
                                struct odb_error *err)
{
    const json_t *v = json_object_get(about, key);
    if (v && !json_is_boolean(v))
        return odb_fail(err, ODB_E_FORMAT, "its %s is neither true nor false", key);
    *out = json_is_true(v);
    return ODB_OK;
}

/* Bits, signs and axes: what is left out keeps what it has. */
static enum odb_status own_layout(struct encodings_said *said, const json_t *about,
                                  struct odb_error *err)
{
    int block = 0;
    ODB_TRY(encodings_whole(&said->bits, json_object_get(about, "bits"), "bits", err));
    ODB_TRY(encodings_whole(&said->axis, json_object_get(about, "axis"), "axis", err));
    ODB_TRY(encodings_whole(&said->block_axis, json_object_get(about, "block_axis"), "block_axis",
                            err));
    ODB_TRY(encodings_whole(&block, json_object_get(about, "block"), "block", err));
    said->block = block;
    ODB_TRY(own_flag(&said->is_signed, about, "signed", err));
    return own_flag(&said->symmetric, about, "symmetric", err);
}

static enum odb_status own_said(struct encodings_said *said, const json_t *about,
                                struct odb_error *err)
{
    if (!json_is_object(about))
        return odb_fail(err, ODB_E_FORMAT, "it is no object");
    ODB_TRY(own_known(about, err));
    ODB_TRY(own_type(said, json_object_get(about, "type"), err));
    if (said->type != ODB_UNDEFINED)
        return ODB_OK;
    ODB_TRY(own_layout(said, about, err));
    ODB_TRY(own_codes(said, json_object_get(about, "codes"), err));
    ODB_TRY(encodings_numbers(&said->scale, json_object_get(about, "scale"), err));
    if (said->block > 0 && said->block_axis == ODB_ENCODING_NO_AXIS)
        said->block_axis = ODB_ENCODING_BY_READER;
    if (said->scale.n > 1 && said->axis == ODB_ENCODING_NO_AXIS && said->block_axis < 0)
        said->axis = ODB_ENCODING_BY_READER;
    return encodings_numbers(&said->zero, json_object_get(about, "zero_point"), err);
}

enum odb_status encodings_read_own(struct odb_encodings *out, const json_t *root,
                                   struct odb_error *err)
{
    json_t *values = json_object_get(root, "values"), *about;
    json_t *version = json_object_get(root, "version");
    const char *name;
    if (!json_is_object(values))
        return odb_fail(err, ODB_E_FORMAT, "values is no object");
    if (version && json_integer_value(version) != OWN_VERSION)
        return odb_fail(err, ODB_E_FORMAT, "its version is not %d", OWN_VERSION);
    out->format = odb_xstrdup("onnxdbg");
    json_object_foreach(values, name, about) {
        struct encodings_said said = ENCODINGS_SAID(name);
        ODB_TRY(encodings_take(out, &said, own_said(&said, about, err), err));
    }
    return ODB_OK;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Nine digits give a float again. */
static void own_put_scales(const struct odb_encoding *e, struct odb_buf *out)
{
    odb_buf_puts(out, e->n > 1 ? "[" : "");
    for (size_t i = 0; i < e->n; i++)
        odb_buf_printf(out, "%s%.9g", i ? ", " : "", (double)e->scale[i]);
    odb_buf_puts(out, e->n > 1 ? "]" : "");
}

static void own_put_zeros(const struct odb_encoding *e, double least, struct odb_buf *out)
{
    odb_buf_puts(out, e->n > 1 ? "[" : "");
    for (size_t i = 0; i < e->n; i++)
        odb_buf_printf(out, "%s%.0f", i ? ", " : "", least - e->lo[i]);
    odb_buf_puts(out, e->n > 1 ? "]" : "");
}

static void own_put_steps(const struct odb_encoding *e, struct odb_buf *out)
{
    double codes = ldexp(1, e->bits), least = e->symmetric ? -codes / 2 : 0;
    double width = e->hi[0] - e->lo[0];
    bool narrow = width < codes - 1; /* -127 to 127 */
    least += narrow ? codes - 1 - width : 0;
    odb_buf_printf(out, "\"bits\": %d, \"signed\": %s, \"symmetric\": %s, \"scale\": ", e->bits,
                   e->symmetric ? "true" : "false", e->symmetric ? "true" : "false");
    own_put_scales(e, out);
    odb_buf_puts(out, ", \"zero_point\": ");
    own_put_zeros(e, least, out);
    if (narrow)
        odb_buf_printf(out, ", \"codes\": [%.0f, %.0f]", least, least + width);
    if (e->axis >= 0)
        odb_buf_printf(out, ", \"axis\": %d", e->axis);
    if (e->block_axis >= 0)
        odb_buf_printf(out, ", \"block_axis\": %d", e->block_axis);
    if (e->block_axis != ODB_ENCODING_NO_AXIS)
        odb_buf_printf(out, ", \"block\": %lld", (long long)e->block);
}

void odb_encodings_put(const struct odb_encodings *encodings, const char *method,
                       struct odb_buf *out)
{
    json_t *text = json_string(method ? method : "unknown");
    char *quoted = json_dumps(text, JSON_ENCODE_ANY);
    odb_buf_printf(out,
                   "{\n  \"format\": \"onnxdbg encodings\",\n  \"version\": %d,\n"
                   "  \"method\": %s,\n  \"values\": {",
                   OWN_VERSION, quoted);
    free(quoted);
    json_decref(text);
    for (size_t i = 0; i < encodings->list.n; i++) {
        const struct odb_encoding *e = &encodings->list.items[i];
        json_t *name = json_stringn_nocheck(e->name, strlen(e->name));
        quoted = json_dumps(name, JSON_ENCODE_ANY);
        odb_buf_printf(out, "%s\n    %s: {", i ? "," : "", quoted ? quoted : "\"\"");
        if (e->type != ODB_UNDEFINED)
            odb_buf_printf(out, "\"type\": \"%s\"", odb_dtype_info(e->type)->name);
        else
            own_put_steps(e, out);
        odb_buf_putc(out, '}');
        free(quoted);
        json_decref(name);
    }
    odb_buf_puts(out, "\n  }\n}\n");
}
