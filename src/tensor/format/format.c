/* SPDX-License-Identifier: MIT */
#include "tensor/format/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tensor/tensor_print.h"

#define FORMAT_SHORT 5    /* digits */
#define FORMAT_COLUMNS 11 /* of -1.2346e-05 */

/* Name, the letter of C's notation, and digits where none are said. */
static const struct format_row {
    const char *name;
    char letter;
    int digits;
} format_rows[ODB_FORMATS] = {
    [ODB_FORMAT_SHORT] = {"short", 0, 0},       [ODB_FORMAT_EXACT] = {"exact", 0, 0},
    [ODB_FORMAT_GENERAL] = {"general", 'g', 9}, [ODB_FORMAT_SCIENTIFIC] = {"scientific", 'e', 6},
    [ODB_FORMAT_FIXED] = {"fixed", 'f', 6},     [ODB_FORMAT_HEX] = {"hex", 'a', 0},
    [ODB_FORMAT_BITS] = {"bits", 0, 0},         [ODB_FORMAT_INTEGER] = {"integer", 0, 0},
};

/* --- names ------------------------------------------------------------------------------------ */

/* "%.6g": false where the text is nothing of the kind. */
static bool format_parse_percent(struct odb_format *out, const char *text)
{
    size_t at = 1;
    int digits = -1;
    if (text[0] != '%')
        return false;
    if (text[at] == '.') {
        for (digits = 0, at++; text[at] >= '0' && text[at] <= '9' && digits < 100; at++)
            digits = 10 * digits + text[at] - '0';
    }
    for (int kind = 0; kind < ODB_FORMATS; kind++)
        if (format_rows[kind].letter && text[at] == format_rows[kind].letter && !text[at + 1]) {
            out->kind = (enum odb_format_kind)kind;
            out->digits = digits < 0 ? ODB_MIN(format_rows[kind].digits, 6) : digits;
            return digits <= ODB_FORMAT_DIGITS && (digits < 0 || kind != ODB_FORMAT_HEX);
        }
    return false;
}

enum odb_status odb_format_parse(struct odb_format *out, const char *text, struct odb_error *err)
{
    struct odb_format found = {ODB_FORMATS, 0};
    for (int kind = 0; kind < ODB_FORMATS; kind++)
        if (!strcmp(text, format_rows[kind].name))
            found = (struct odb_format){(enum odb_format_kind)kind, format_rows[kind].digits};
    if (found.kind == ODB_FORMATS && !format_parse_percent(&found, text)) {
        odb_fail(err, ODB_E_USAGE, "no number format is called '%s'", text);
        return odb_error_remedy(err, "take one of short, exact, general, scientific, fixed, hex, "
                                     "bits, integer, or C's %%.6g, %%.3e, %%.4f, %%a");
    }
    *out = found;
    return ODB_OK;
}

const char *odb_format_kind_name(enum odb_format_kind kind)
{
    return format_rows[kind].name;
}

const char *odb_format_name(const struct odb_format *format, char *buf, size_t size)
{
    const struct format_row *row = &format_rows[format->kind];
    if (row->letter && format->digits != row->digits)
        snprintf(buf, size, "%%.%d%c", format->digits, row->letter);
    else
        snprintf(buf, size, "%s", row->name);
    return buf;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static const char *format_short(double v, char *buf, size_t size)
{
    snprintf(buf, size, "%.*g", FORMAT_SHORT, v);
    return buf;
}

const char *odb_format_real(const struct odb_format *format, double v, char *buf, size_t size)
{
    if (!isfinite(v)) {
        snprintf(buf, size, "%s", v != v ? "nan" : v < 0 ? "-inf" : "inf");
        return buf;
    }
    switch (format->kind) {
    case ODB_FORMAT_EXACT:
        snprintf(buf, size, "%.9g", v);
        return buf;
    case ODB_FORMAT_GENERAL:
        snprintf(buf, size, "%.*g", format->digits, v);
        return buf;
    case ODB_FORMAT_SCIENTIFIC:
        snprintf(buf, size, "%.*e", format->digits, v);
        return buf;
    case ODB_FORMAT_FIXED:
        snprintf(buf, size, "%.*f", format->digits, v);
        return buf;
    case ODB_FORMAT_HEX:
        snprintf(buf, size, "%a", v);
        return buf;
    default:
        return format_short(v, buf, size);
    }
}

/* Types of few digits: those that tell the number from its neighbours, where they fit. */
static void format_narrow(enum odb_dtype dtype, double v, char *buf, size_t size)
{
    struct odb_buf text = ODB_BUF_INIT_MAX(FORMAT_COLUMNS + 3);
    odb_print_number(&text, dtype, v);
    if (text.len > 2 && !strcmp(text.data + text.len - 2, ".0"))
        text.data[text.len -= 2] = '\0';
    if (text.overflowed || text.len > FORMAT_COLUMNS)
        odb_format_real(&(struct odb_format){ODB_FORMAT_SHORT, 0}, v, buf, size);
    else
        snprintf(buf, size, "%s", text.data);
    odb_buf_dispose(&text);
}

/* --- bits ------------------------------------------------------------------------------------- */

/* Of one part of an element: at most 64. */
static uint64_t format_bits(const struct odb_tensor *t, size_t part, unsigned bits)
{
    static const enum odb_dtype codes[] = {ODB_U2, ODB_U4, ODB_U8, ODB_U16, ODB_U32, ODB_U64};
    int code = 0;
    while (odb_dtype_info(codes[code])->bits < bits)
        code++;
    return (uint64_t)odb_load_i64(codes[code], t->data, part);
}

static int64_t format_signed(uint64_t code, unsigned bits)
{
    unsigned unused = 64 - bits;
    return (int64_t)(code << unused) >> unused;
}

static void format_code(const struct odb_format *format, const struct odb_tensor *t, size_t part,
                        unsigned bits, char *buf, size_t size)
{
    uint64_t code = format_bits(t, part, bits);
    if (format->kind == ODB_FORMAT_INTEGER)
        snprintf(buf, size, "%" PRId64, format_signed(code, bits));
    else
        snprintf(buf, size, "0x%0*" PRIx64, (int)((bits + 3) / 4), code);
}

/* --- elements --------------------------------------------------------------------------------- */

static bool format_is_bits(const struct odb_format *format, enum odb_dtype_class class_)
{
    bool real = class_ == ODB_CLASS_FLOAT || class_ == ODB_CLASS_COMPLEX;
    return format->kind == ODB_FORMAT_BITS || (format->kind == ODB_FORMAT_HEX && !real) ||
           (format->kind == ODB_FORMAT_INTEGER && (real || class_ == ODB_CLASS_BOOL));
}

/* Part i of a float or complex tensor. */
static void format_float(const struct odb_format *format, const struct odb_tensor *t,
                         enum odb_dtype dtype, size_t i, char *buf, size_t size)
{
    double v = odb_load_f64(dtype, t->data, i);
    unsigned bits = odb_dtype_info(dtype)->bits;
    struct odb_buf text = ODB_BUF_INIT_MAX(size);
    if (format_is_bits(format, ODB_CLASS_FLOAT)) {
        format_code(format, t, i, bits, buf, size);
    } else if (format->kind == ODB_FORMAT_EXACT) {
        odb_print_number(&text, dtype, v);
        snprintf(buf, size, "%s", odb_buf_text(&text));
    } else if (format->kind == ODB_FORMAT_SHORT && bits == 16) { /* a byte's: 448 would be 450 */
        format_narrow(dtype, v, buf, size);
    } else {
        odb_format_real(format, v, buf, size);
    }
    odb_buf_dispose(&text);
}

static void format_complex(const struct odb_format *format, const struct odb_tensor *t, size_t i,
                           char *buf, size_t size)
{
    enum odb_dtype part = odb_dtype_part(t->dtype);
    char text[2][ODB_FORMAT_TEXT];
    for (size_t k = 0; k < 2; k++)
        format_float(format, t, part, 2 * i + k, text[k], sizeof text[k]);
    snprintf(buf, size, "%s%s%sj", text[0], text[1][0] == '-' ? "" : "+", text[1]);
}

const char *odb_format_element(const struct odb_format *format, const struct odb_tensor *t,
                               size_t i, char *buf, size_t size)
{
    const struct odb_dtype_info *info = odb_dtype_info(t->dtype);
    if (info->class_ == ODB_CLASS_FLOAT) {
        format_float(format, t, t->dtype, i, buf, size);
    } else if (info->class_ == ODB_CLASS_COMPLEX) {
        format_complex(format, t, i, buf, size);
    } else if (t->dtype != ODB_STRING && format_is_bits(format, info->class_)) {
        format_code(format, t, i, info->bits, buf, size);
    } else {
        struct odb_buf text = ODB_BUF_INIT_MAX(size);
        odb_print_element(&text, t, i);
        snprintf(buf, size, "%s", odb_buf_text(&text));
        odb_buf_dispose(&text);
    }
    return buf;
}

/* --- columns ---------------------------------------------------------------------------------- */

static int format_digits_of(unsigned bits, bool sign)
{
    return (int)(bits * 0.30103) + 1 + sign;
}

static int format_float_width(const struct odb_format *format, const struct odb_dtype_info *info)
{
    switch (format->kind) {
    case ODB_FORMAT_SHORT:
        return FORMAT_COLUMNS;
    case ODB_FORMAT_EXACT: /* odb_print_number() is positional up to 1e16 */
        return info->bits == 64 ? 24 : 20;
    case ODB_FORMAT_GENERAL:
    case ODB_FORMAT_SCIENTIFIC: /* sign, point, e-308 */
        return format->digits + (format->kind == ODB_FORMAT_SCIENTIFIC) +
               (info->bits == 64 ? 7 : 6);
    case ODB_FORMAT_HEX:
        return info->bits == 64 ? 24 : info->bits == 32 ? 16 : 13;
    default:
        return 0;
    }
}

int odb_format_width(const struct odb_format *format, enum odb_dtype dtype)
{
    const struct odb_dtype_info *info = odb_dtype_info(dtype);
    bool complex = info->class_ == ODB_CLASS_COMPLEX;
    if (complex) {
        int part = odb_format_width(format, odb_dtype_part(dtype));
        return part ? 2 * part + 2 : 0;
    }
    if (dtype == ODB_STRING)
        return 0;
    if (format_is_bits(format, info->class_))
        return format->kind == ODB_FORMAT_INTEGER ? format_digits_of(info->bits, true)
                                                  : 2 + (int)(info->bits + 3) / 4;
    if (dtype == ODB_BOOL)
        return (int)strlen("False");
    if (info->class_ != ODB_CLASS_FLOAT)
        return format_digits_of(info->bits, info->class_ == ODB_CLASS_INT);
    return format_float_width(format, info);
}
