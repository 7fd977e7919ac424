/* SPDX-License-Identifier: MIT
 *
 * Cast and CastLike. Numbers go through odb_convert() but for the float8 types, which have
 * attributes of their own. Numbers become strings as Python prints them, with as few digits as
 * name the number among those of its type, bools as 1 and 0; strings become numbers as strtod()
 * reads decimal ones, which includes INF and NaN in any case.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/elementwise/elementwise.h"

/* --- types ------------------------------------------------------------------------------------ */

/* Opset 1 names the type ("FLOAT"), later ones number it as TensorProto.DataType does. */
static enum odb_dtype cast_named(const char *name)
{
    char lower[32] = "";
    for (size_t i = 0; name[i] && i + 1 < sizeof lower; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    return odb_dtype_parse(lower);
}

#define CAST_FLOAT8 (ODB_T_FLOAT8 | ODB_BIT(ODB_F8E8M0))

static enum odb_status cast_infer_to(struct odb_kern *k, int64_t to)
{
    const struct odb_tensor *x = k->in[0];
    if (to <= ODB_UNDEFINED || to >= ODB_DTYPE_COUNT)
        return ODB_KERN_FAIL(k, "%lld is no element type that can be cast to", (long long)to);
    enum odb_dtype dtype = (enum odb_dtype)to;
    if (odb_dtype_info(dtype)->class_ == ODB_CLASS_COMPLEX)
        return ODB_KERN_UNSUPPORTED(k, "there is no cast to %s", odb_dtype_info(dtype)->name);
    bool rounds = (ODB_BIT(dtype) & CAST_FLOAT8) != 0;
    if (k->carry_f64 && odb_dtype_is_float(dtype))
        dtype = ODB_F64;
    ODB_TRY(odb_kern_outline(k, 0, dtype, x->rank, x->dims));
    if (dtype == x->dtype && !(rounds && k->carry_f64))
        k->outline[0].alias = 1;
    return ODB_OK;
}

static enum odb_status cast_infer(struct odb_kern *k)
{
    if (k->op->since >= 6)
        return cast_infer_to(k, odb_kern_int(k, "to", ODB_UNDEFINED));
    return cast_infer_to(k, cast_named(odb_kern_string(k, "to", "")));
}

static enum odb_status cast_infer_like(struct odb_kern *k)
{
    return cast_infer_to(k, k->in[1]->dtype);
}

/* --- to strings ------------------------------------------------------------------------------- */

/* The shortest decimal, "d.ddde[+-]dd", that is nearest to no other number of the type. */
static void cast_shortest(const struct odb_tensor *t, size_t i, char *text, size_t size)
{
    double v = odb_tensor_f64(t, i);
    for (int digits = 1; digits <= 17; digits++) {
        double again[1] = {0}; /* room for an element of any float type */
        snprintf(text, size, "%.*e", digits - 1, v);
        odb_store_f64(t->dtype, again, 0, strtod(text, NULL));
        if (odb_load_f64(t->dtype, again, 0) == v)
            return;
    }
}

static void cast_print_float(const struct odb_tensor *t, size_t i, char *text, size_t size)
{
    double v = odb_tensor_f64(t, i);
    if (!isfinite(v)) {
        snprintf(text, size, "%s", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
        return;
    }
    cast_shortest(t, i, text, size);
    char *e = strchr(text, 'e');
    int exponent = (int)strtol(e + 1, NULL, 10), digits = (int)(e - text) - (text[0] == '-');
    int decimals = digits > 1 ? digits - 2 : 0;
    if (exponent < -4 || exponent >= 16)
        return; /* stays scientific */
    snprintf(text, size, "%.*f", ODB_MAX(decimals - exponent, 1), v);
    if (decimals < exponent) { /* digits beyond the shortest are zeros: 123456792.0f is 123456790 */
        char *from = text + (text[0] == '-') + decimals + 1;
        for (; *from && *from != '.'; from++)
            *from = '0';
    }
}

static enum odb_status cast_to_strings(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < x->count && status == ODB_OK; i++) {
        char text[64];
        if (odb_dtype_is_float(x->dtype))
            cast_print_float(x, i, text, sizeof text);
        else if (x->dtype == ODB_U64)
            snprintf(text, sizeof text, "%llu", (unsigned long long)odb_tensor_i64(x, i));
        else
            snprintf(text, sizeof text, "%lld", (long long)odb_tensor_i64(x, i));
        status = odb_tensor_set_string(k->out[0], i, text, strlen(text), k->err);
    }
    return status;
}

/* --- from strings ----------------------------------------------------------------------------- */

/* Integers are read as such as long as they look it, so that none loses digits. */
static bool cast_read(const char *text, enum odb_dtype to, void *data, size_t i)
{
    char *end;
    if (odb_dtype_is_integer(to)) {
        uint64_t u = *text == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
        if (end != text && *end == '\0') {
            odb_store_i64(to, data, i, (int64_t)u);
            return true;
        }
    }
    if (to == ODB_BOOL && (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0)) {
        odb_store_i64(to, data, i, strcasecmp(text, "true") == 0);
        return true;
    }
    if (strpbrk(text, "xX(")) /* only C has hexadecimal numbers and named NaNs */
        return false;
    double v = to == ODB_F32 ? strtof(text, &end) : strtod(text, &end);
    odb_store_f64(to, data, i, v);
    return end != text && *end == '\0';
}

static enum odb_status cast_from_strings(struct odb_kern *k, struct odb_tensor *out)
{
    const struct odb_str *from = k->in[0]->data;
    for (size_t i = 0; i < out->count; i++) {
        char text[128];
        size_t n = ODB_MIN(from[i].len, sizeof text - 1);
        if (n)
            memcpy(text, from[i].data, n);
        text[n] = '\0';
        if (n < from[i].len || strlen(text) < n || !cast_read(text, out->dtype, out->data, i))
            return ODB_KERN_FAIL(k, "element %zu, \"%.40s\", is not a number", i, text);
    }
    return ODB_OK;
}

/* --- to float8 -------------------------------------------------------------------------------- */

struct cast_float8 {
    const struct odb_tensor *x;
    struct odb_tensor *out;
    bool saturate;
    enum odb_e8m0_round round;
};

static void cast_float8_block(void *arg, size_t begin, size_t end)
{
    const struct cast_float8 *c = arg;
    for (size_t i = begin; i < end; i++)
        ((uint8_t *)c->out->data)[i] =
            odb_f64_to_f8(c->out->dtype, odb_tensor_f64(c->x, i), c->saturate, c->round);
}

/* x: the input, or the numbers that its strings hold. */
static enum odb_status cast_to_float8(struct odb_kern *k, const struct odb_tensor *x,
                                      struct odb_tensor *out)
{
    struct cast_float8 c = {x, out, odb_kern_int(k, "saturate", 1) != 0, ODB_E8M0_UP};
    const char *round = odb_kern_string(k, "round_mode", "up");
    if (strcmp(round, "down") == 0)
        c.round = ODB_E8M0_DOWN;
    else if (strcmp(round, "nearest") == 0)
        c.round = ODB_E8M0_NEAREST;
    else if (strcmp(round, "up") != 0)
        return ODB_KERN_FAIL(k, "round_mode must be up, down or nearest, not '%s'", round);
    odb_parallel_for(c.out->count, 1 << 14, cast_float8_block, &c);
    return ODB_OK;
}

static enum odb_status cast_strings_to_float8(struct odb_kern *k, struct odb_tensor *out)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *numbers = NULL;
    ODB_TRY(odb_tensor_new_raw(&numbers, ODB_F64, x->rank, x->dims, k->err));
    enum odb_status status = cast_from_strings(k, numbers);
    if (status == ODB_OK)
        status = cast_to_float8(k, numbers, out);
    odb_tensor_unref(numbers);
    return status;
}

static enum odb_status cast_any_to_float8(struct odb_kern *k, struct odb_tensor *out)
{
    return k->in[0]->dtype == ODB_STRING ? cast_strings_to_float8(k, out)
                                         : cast_to_float8(k, k->in[0], out);
}

/* The type that the model asks for, whatever the output is carried in. */
static enum odb_dtype cast_asked(const struct odb_kern *k)
{
    if (k->n_in > 1)
        return k->in[1]->dtype;
    return k->op->since >= 6 ? (enum odb_dtype)odb_kern_int(k, "to", ODB_UNDEFINED) : ODB_UNDEFINED;
}

/* What is carried in double is rounded all the same: that numbers out of range become NaN, or the
 * largest, is what the model asks for, and no inexactness. */
static enum odb_status cast_carried_float8(struct odb_kern *k)
{
    struct odb_tensor *rounded = NULL, *out = k->out[0];
    ODB_TRY(odb_tensor_new_raw(&rounded, cast_asked(k), out->rank, out->dims, k->err));
    enum odb_status status = cast_any_to_float8(k, rounded);
    if (status == ODB_OK)
        odb_convert(out->dtype, out->data, rounded->dtype, rounded->data, out->count);
    odb_tensor_unref(rounded);
    return status;
}

/* --- float to integer ------------------------------------------------------------------------- */

/* ONNX leaves open what a number out of range, or NaN, becomes. Most implementations do what the
 * conversion instructions of x86 do, in 32 bits where those hold the type and else in 64: the
 * smallest number, cut to the type. To differ from all of them would be of no use. */
ODB_INLINE int32_t cast_i32(double x)
{
    return x > -0x1p31 - 1 && x < 0x1p31 ? (int32_t)x : INT32_MIN;
}

ODB_INLINE int64_t cast_i64(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

ODB_INLINE uint64_t cast_u64(double x)
{
    return x >= 0x1p63 && x < 0x1p64 ? (uint64_t)x : (uint64_t)cast_i64(x);
}

#define CAST_TO_INT(t, T, convert)                                                                 \
    ODB_EW_FLOATS(ODB_EW_LOOP1, to_##T, odb_##t, (odb_##t)convert(a))                              \
    static const odb_ew_loop ew_to_##T[ODB_DTYPE_COUNT] = {ODB_EW_FLOATS(ODB_EW_SLOT, to_##T)};
CAST_TO_INT(i8, I8, cast_i32)
CAST_TO_INT(u8, U8, cast_i32)
CAST_TO_INT(i16, I16, cast_i32)
CAST_TO_INT(u16, U16, cast_i32)
CAST_TO_INT(i32, I32, cast_i32)
CAST_TO_INT(u32, U32, cast_i64)
CAST_TO_INT(i64, I64, cast_i64)
CAST_TO_INT(u64, U64, cast_u64)

#define CAST_SLOT(t, T, ctype, name) [ODB_##T] = ew_##name##_##T,
static const odb_ew_loop *const cast_to_int[ODB_DTYPE_COUNT] = {ODB_EW_INTS(CAST_SLOT, to)};

/* Narrow floats go by way of float, which holds them all. */
static enum odb_status cast_float_to_int(struct odb_kern *k)
{
    struct odb_tensor *x = NULL;
    enum odb_dtype from = k->in[0]->dtype == ODB_F64 ? ODB_F64 : ODB_F32;
    ODB_TRY(odb_tensor_cast(&x, k->in[0], from, k->err));
    odb_ew_apply(cast_to_int[k->out[0]->dtype][from], 1, (const struct odb_tensor *const *)&x,
                 k->out[0], NULL);
    odb_tensor_unref(x);
    return ODB_OK;
}

/* --- run() ------------------------------------------------------------------------------------ */

static enum odb_status cast_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *out = k->out[0];
    if (x->kind != ODB_TENSOR)
        return ODB_KERN_FAIL(k, "only a tensor can be cast");
    if (!out || out->count == 0)
        return ODB_OK;
    if (out->dtype != ODB_STRING) /* what is left over of a packed type's last byte is zero */
        ((char *)out->data)[out->bytes - 1] = 0;
    if (out->dtype == ODB_STRING)
        return cast_to_strings(k);
    if (ODB_BIT(out->dtype) & CAST_FLOAT8)
        return cast_any_to_float8(k, out);
    if (ODB_BIT(cast_asked(k)) & CAST_FLOAT8)
        return cast_carried_float8(k);
    if (x->dtype == ODB_STRING)
        return cast_from_strings(k, out);
    if (odb_dtype_is_float(x->dtype) && cast_to_int[out->dtype])
        return cast_float_to_int(k);
    odb_convert(out->dtype, out->data, x->dtype, x->data, out->count);
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

/* Newest first: each version has the attributes from its own on. */
static const struct odb_attr_spec cast_attrs[] = {
    {"round_mode", ODB_ATTR_STRING, "up", false},
    {"saturate", ODB_ATTR_INT, "1", false},
    {"to", ODB_ATTR_INT, NULL, true},
    {.name = NULL},
};
static const struct odb_attr_spec cast_named_attrs[] = {
    {"to", ODB_ATTR_STRING, NULL, true},
    {.name = NULL},
};
static const struct odb_attr_spec cast_like_attrs[] = {
    {"round_mode", ODB_ATTR_STRING, "up", false},
    {"saturate", ODB_ATTR_INT, "1", false},
    {.name = NULL},
};

#define CAST_TYPES (ODB_T_ANY & ~(ODB_BIT(ODB_C64) | ODB_BIT(ODB_C128)))
#define CAST_ROW(op_name, first, n, attributes, op_infer, ...)                                     \
    {                                                                                              \
        .domain = "", .name = op_name, .since = first, .min_in = n, .max_in = n, .min_out = 1,     \
        .max_out = 1, .flags = ODB_OP_EXACT | ODB_OP_BOUNDARY | (n > 1 ? ODB_OP_LIKE : 0),         \
        .types = {CAST_TYPES, CAST_TYPES}, .attrs = attributes, .infer = op_infer,                 \
        .run = cast_run, __VA_ARGS__                                                               \
    }

const struct odb_op odb_ops_cast[] = {
    CAST_ROW("Cast", 1, 1, cast_named_attrs, cast_infer, ODB_NAMES("input", "output"),
             ODB_HALVES(1, 13, .note = ODB_HALVES_TO)),
    CAST_ROW("Cast", 6, 1, cast_attrs + 2, cast_infer),
    CAST_ROW("Cast", 19, 1, cast_attrs + 1, cast_infer),
    CAST_ROW("Cast", 24, 1, cast_attrs, cast_infer),
    CAST_ROW("CastLike", 15, 2, cast_like_attrs + 2, cast_infer_like,
             ODB_NAMES("input,target_type", "output"), ODB_HALVES(15, 15)),
    CAST_ROW("CastLike", 19, 2, cast_like_attrs + 1, cast_infer_like),
    CAST_ROW("CastLike", 24, 2, cast_like_attrs, cast_infer_like),
    {.name = NULL},
};
