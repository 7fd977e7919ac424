/* SPDX-License-Identifier: MIT
 *
 * The small things of ONNX text: names, strings, numbers, tensors, types.
 *
 * Two readers want different things. People want a line that fits, and a terminal wants no control
 * characters: lists and strings are shortened, half floats are numbers. ONNX's parser takes no
 * ellipsis and knows no \x, and it wants the bits of half floats as integers; what is too long to
 * be read is then named by its place in the model's file, which the parser takes as external data.
 */
#include "model/text/text_int.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "model/files.h"

/* Lists longer than SHOWN show their first HEAD items. */
enum { TEXT_DATA_SHOWN = 8, TEXT_DATA_HEAD = 4, TEXT_STRING_SHOWN = 256, TEXT_DEPTH = 64 };
/* Elements that are written between two looks at whether to go on. */
enum { TEXT_PROGRESS = 1 << 14 };

/* --- names and strings ------------------------------------------------------------------------ */

static bool text_is_identifier(const char *s)
{
    if (*s == '\0' || (*s >= '0' && *s <= '9'))
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
              *s == '_'))
            return false;
    return true;
}

/* The parser would take it for a type. */
static bool text_is_type(const char *s)
{
    static const char *const words[] = {"seq", "map", "optional", "sparse_tensor", "opaque"};
    for (size_t i = 0; i < ODB_COUNT(words); i++)
        if (!strcmp(s, words[i]))
            return true;
    for (int dtype = 1; dtype < ODB_DTYPE_COUNT; dtype++)
        if (odb_dtype_info((enum odb_dtype)dtype)->name &&
            !strcmp(s, odb_dtype_info((enum odb_dtype)dtype)->name))
            return true;
    return false;
}

/* Control characters as escapes, NUL among them, but for ends of lines where they are kept. */
static void text_put_shown(const char *data, size_t len, bool lines, struct odb_buf *out)
{
    const char *const apart = lines ? "\n" : "";
    for (size_t at = 0; at < len;) {
        char *part = odb_xstrndup(data + at, len - at);
        part[strcspn(part, apart)] = '\0';
        odb_buf_put_shown(out, part);
        at += strlen(part);
        if (at < len)
            odb_buf_puts(out, data[at] ? apart : "\\x00");
        at++;
        free(part);
    }
}

/* For people: control characters shown. A long one is cut, and says so. */
static void text_shown(const char *data, size_t len, struct text *to)
{
    size_t shown = len > TEXT_STRING_SHOWN ? TEXT_STRING_SHOWN : len;
    if (shown < len)
        shown = odb_utf8_back(data, shown);
    struct odb_buf part = ODB_BUF_INIT;
    for (size_t i = 0; i < shown; i++) {
        if (data[i] == '"' || data[i] == '\\')
            odb_buf_putc(&part, '\\');
        odb_buf_putc(&part, data[i]);
    }
    odb_buf_putc(to->out, '"');
    text_put_shown(odb_buf_text(&part), part.len, false, to->out);
    odb_buf_putc(to->out, '"');
    if (shown < len)
        odb_buf_printf(to->out, "... %zu bytes in all", len);
    odb_buf_dispose(&part);
}

void odb_model__text_quoted(const char *data, size_t len, struct text *to)
{
    if (!to->exact) {
        text_shown(data, len, to);
        return;
    }
    /* ONNX's parser knows no escapes but of quotes: so what acts on a terminal is read back as the
     * escape that is shown. */
    struct odb_buf shown = ODB_BUF_INIT;
    text_put_shown(data, len, true, &shown);
    to->lost[TEXT_LOST_ACTS] += shown.len != len;
    odb_buf_putc(to->out, '"');
    for (const char *p = odb_buf_text(&shown); *p; p++) {
        if (*p == '"' || *p == '\\')
            odb_buf_putc(to->out, '\\');
        odb_buf_putc(to->out, *p);
    }
    odb_buf_putc(to->out, '"');
    odb_buf_dispose(&shown);
}

void odb_model__text_id(const char *name, struct text *to)
{
    if (text_is_identifier(name) && !text_is_type(name))
        odb_buf_puts(to->out, name);
    else
        odb_model__text_quoted(name, strlen(name), to);
}

void odb_model__text_bare(const char *name, struct text *to)
{
    to->lost[TEXT_LOST_NAME] += !text_is_identifier(name);
    odb_buf_put_shown(to->out, name);
}

void odb_model__text_body_id(const char *name, struct text *to)
{
    static const char *const numbers[] = {"inf", "infinity", "nan"};
    bool taken = text_is_type(name);
    for (size_t i = 0; i < ODB_COUNT(numbers); i++)
        taken = taken || !strcasecmp(name, numbers[i]);
    if (!to->exact || (text_is_identifier(name) && !taken)) {
        odb_model__text_id(name, to);
        return;
    }
    to->lost[TEXT_LOST_GRAPH_NAME]++;
    odb_buf_puts(to->out, isalpha((unsigned char)*name) ? "" : "_");
    for (const char *p = name; *p; p++)
        odb_buf_putc(to->out, isalnum((unsigned char)*p) ? *p : '_');
    odb_buf_puts(to->out, taken ? "_" : "");
}

/* --- numbers ---------------------------------------------------------------------------------- */

void odb_model__text_float(double v, bool is_double, struct text *to)
{
    char buf[40];
    if (isnan(v)) {
        odb_buf_puts(to->out, to->exact && signbit(v) ? "-nan" : "nan");
        return;
    }
    for (int digits = is_double ? 15 : 6; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, v);
        if (is_double ? strtod(buf, NULL) == v : strtof(buf, NULL) == (float)v)
            break;
    }
    odb_buf_puts(to->out, buf);
}

void odb_model__text_real(float v, struct text *to)
{
    size_t from = to->out->len;
    odb_model__text_float(v, false, to);
    if (to->exact && !strpbrk(to->out->data + from, ".en"))
        odb_buf_puts(to->out, ".0");
}

bool odb_model__text_item(size_t i, size_t n, size_t shown, size_t head, struct text *to)
{
    if (!to->exact && n > shown && i >= head) {
        if (i == head)
            odb_buf_printf(to->out, ", ... %zu in all", n);
        return false;
    }
    if (i)
        odb_buf_puts(to->out, ", ");
    return true;
}

/* --- tensors ---------------------------------------------------------------------------------- */

static void text_complex(const struct odb_tensor *t, size_t i, struct text *to)
{
    const odb_f64 *pairs = t->data;
    const odb_f32 *small = t->data;
    bool is_double = odb_dtype_info(t->dtype)->bits > 64;
    odb_model__text_float(is_double ? pairs[2 * i] : small[2 * i], is_double, to);
    odb_buf_puts(to->out, to->exact ? ", " : " ");
    odb_model__text_float(is_double ? pairs[2 * i + 1] : small[2 * i + 1], is_double, to);
    odb_buf_puts(to->out, to->exact ? "" : "i");
}

static void text_element(const struct odb_tensor *t, size_t i, struct text *to)
{
    const struct odb_dtype_info *info = odb_dtype_info(t->dtype);
    const struct odb_str *strings = t->data;
    switch (info->class_) {
    case ODB_CLASS_STRING:
        odb_model__text_quoted(strings[i].data ? strings[i].data : "", strings[i].len, to);
        break;
    case ODB_CLASS_FLOAT:
        odb_model__text_float(odb_tensor_f64(t, i), t->dtype == ODB_F64, to);
        break;
    case ODB_CLASS_COMPLEX:
        text_complex(t, i, to);
        break;
    case ODB_CLASS_UINT:
        odb_buf_printf(to->out, "%llu", (unsigned long long)odb_tensor_i64(t, i));
        break;
    default:
        odb_buf_printf(to->out, "%lld", (long long)odb_tensor_i64(t, i));
        break;
    }
}

/* Types that have no field of their own in a tensor: their bits stand in int32_data, those of less
 * than a byte several in one. */
static bool text_is_bits(const struct odb_tensor *t)
{
    const struct odb_dtype_info *info = odb_dtype_info(t->dtype);
    return info->bits && (info->bits < 8 || (info->class_ == ODB_CLASS_FLOAT && info->bits <= 16));
}

/* Before each element; asks whether to go on every TEXT_PROGRESS of them. */
static bool text_goes_on(struct text *to)
{
    if (to->progress && to->done++ % TEXT_PROGRESS == 0)
        to->stopped =
            to->stopped || odb_progress_step(to->progress, to->done, to->total, NULL) != ODB_OK;
    return !to->stopped;
}

static void text_bits(const struct odb_tensor *t, struct text *to)
{
    const unsigned char *bytes = t->data;
    size_t step = odb_dtype_info(t->dtype)->bits == 16 ? 2 : 1;
    for (size_t i = 0; i + step <= t->bytes && text_goes_on(to); i += step)
        odb_buf_printf(to->out, "%s%u", i ? ", " : "",
                       step == 2 ? bytes[i] | (unsigned)bytes[i + 1] << 8 : bytes[i]);
}

/* Where the bytes are, in the model's own file or in one beside it; false: in none. */
static bool text_find(const struct odb_tensor *t, const struct text *to, const char **location,
                      size_t *offset)
{
    const struct odb_model *model = to->model;
    if (!model || !t->bytes || t->dtype == ODB_STRING)
        return false;
    const unsigned char *file = model->priv->file_data, *at = t->data;
    if ((uintptr_t)at >= (uintptr_t)file &&
        (uintptr_t)at + t->bytes <= (uintptr_t)file + model->priv->file_size) {
        const char *slash = strrchr(model->path, '/');
        *location = slash ? slash + 1 : model->path;
        *offset = (size_t)(at - file);
        return **location != '\0';
    }
    return odb_model__files_find(model->priv->files, at, t->bytes, location, offset);
}

static void text_pair(const char *before, const char *key, const char *value, struct text *to)
{
    odb_buf_printf(to->out, "%s\"%s\": ", before, key);
    odb_model__text_quoted(value, strlen(value), to);
}

/* Names the place of a tensor that is too large, or not there. */
static bool text_place(const struct odb_tensor *t, const Onnx__TensorProto *proto, struct text *to)
{
    const char *location;
    size_t offset, n = proto ? proto->n_external_data : 0;
    bool found = t->data && t->count > to->elements && text_find(t, to, &location, &offset);
    if (found) {
        text_pair("[", "location", location, to);
        odb_buf_printf(to->out, ", \"offset\": \"%zu\", \"length\": \"%zu\"]", offset, t->bytes);
    }
    if (found || t->data || !n)
        return found;
    for (size_t i = 0; i < n; i++) {
        const Onnx__StringStringEntryProto *entry = proto->external_data[i];
        text_pair(i ? ", " : "[", entry->key ? entry->key : "", entry->value ? entry->value : "",
                  to);
    }
    odb_buf_putc(to->out, ']');
    return true;
}

void odb_model__text_data(const struct odb_tensor *t, const Onnx__TensorProto *proto,
                          struct text *to)
{
    if (to->exact && t->kind == ODB_TENSOR && text_place(t, proto, to))
        return;
    odb_buf_putc(to->out, '{');
    if (to->exact && (t->kind != ODB_TENSOR || (!t->data && t->count))) {
        to->lost[t->kind == ODB_SPARSE ? TEXT_LOST_SPARSE : TEXT_LOST_DATA]++;
    } else if (t->kind == ODB_SPARSE && t->n_items > 0) {
        odb_buf_printf(to->out, "... %zu of %zu set", t->items[0]->count, t->count);
    } else if (t->kind != ODB_TENSOR || !t->data) {
        if (t->count)
            odb_buf_printf(to->out, "... %zu in all", t->count);
    } else if (to->exact && text_is_bits(t)) {
        text_bits(t, to);
    } else {
        for (size_t i = 0; i < t->count && text_goes_on(to); i++) {
            if (!odb_model__text_item(i, t->count, TEXT_DATA_SHOWN, TEXT_DATA_HEAD, to))
                break;
            text_element(t, i, to);
        }
    }
    odb_buf_putc(to->out, '}');
}

/* "float[3, 4]", "sparse_tensor(float[3, 4])". */
void odb_model__text_tensor_type(const struct odb_tensor *t, struct text *to)
{
    bool sparse = t->kind == ODB_SPARSE;
    enum odb_dtype dtype = sparse && t->n_items > 0 ? t->items[0]->dtype : t->dtype;
    odb_buf_printf(to->out, "%s%s", sparse ? "sparse_tensor(" : "", odb_dtype_info(dtype)->name);
    for (int i = 0; i < t->rank; i++)
        odb_buf_printf(to->out, "%s%lld", i ? ", " : "[", (long long)t->dims[i]);
    odb_buf_printf(to->out, "%s%s", t->rank ? "]" : "", sparse ? ")" : "");
}

void odb_model__text_tensor(const struct odb_tensor *t, struct text *to)
{
    odb_model__text_tensor_type(t, to);
    /* without it the parser takes a place for something else */
    bool placed = to->exact && t->data && t->count > to->elements;
    odb_buf_puts(to->out, placed ? " = " : " ");
    odb_model__text_data(t, NULL, to);
}

/* --- types ------------------------------------------------------------------------------------ */

static void text_shape(const Onnx__TensorShapeProto *shape, struct text *to)
{
    if (!shape) {
        odb_buf_puts(to->out, to->ranks ? "[...]" : "[]");
        return;
    }
    if (!shape->n_dim)
        odb_buf_puts(to->out, to->ranks ? "[]" : "");
    for (size_t i = 0; i < shape->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
        odb_buf_puts(to->out, i ? ", " : "[");
        if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
            odb_buf_printf(to->out, "%lld", (long long)dim->dim_value);
        else if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                 dim->dim_param[0])
            odb_model__text_id(dim->dim_param, to);
        else
            odb_buf_putc(to->out, '?');
    }
    if (shape->n_dim)
        odb_buf_putc(to->out, ']');
}

static const char *text_dtype(int32_t elem_type)
{
    const char *name = odb_dtype_info((enum odb_dtype)elem_type)->name;
    return name ? name : "undefined";
}

static void text_opaque(const Onnx__TypeProto__Opaque *opaque, struct text *to)
{
    const char *domain = opaque->domain ? opaque->domain : "";
    odb_buf_puts(to->out, "opaque(");
    odb_buf_put_shown(to->out, domain);
    odb_buf_puts(to->out, domain[0] ? ", " : "");
    odb_buf_put_shown(to->out, opaque->name ? opaque->name : "");
    odb_buf_putc(to->out, ')');
}

/* depth: a hostile file may nest types without end. */
static void text_type(const Onnx__TypeProto *type, int depth, struct text *to)
{
    if (!type || depth > TEXT_DEPTH) {
        odb_buf_puts(to->out, type ? "..." : "");
        return;
    }
    switch (type->value_case) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
        odb_buf_puts(to->out, text_dtype(type->tensor_type->elem_type));
        text_shape(type->tensor_type->shape, to);
        break;
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
        odb_buf_printf(to->out, "sparse_tensor(%s",
                       text_dtype(type->sparse_tensor_type->elem_type));
        text_shape(type->sparse_tensor_type->shape, to);
        odb_buf_putc(to->out, ')');
        break;
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        odb_buf_puts(to->out, "seq(");
        text_type(type->sequence_type->elem_type, depth + 1, to);
        odb_buf_putc(to->out, ')');
        break;
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        odb_buf_puts(to->out, "optional(");
        text_type(type->optional_type->elem_type, depth + 1, to);
        odb_buf_putc(to->out, ')');
        break;
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
        odb_buf_printf(to->out, "map(%s, ", text_dtype(type->map_type->key_type));
        text_type(type->map_type->value_type, depth + 1, to);
        odb_buf_putc(to->out, ')');
        break;
    case ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE:
        text_opaque(type->opaque_type, to);
        break;
    default:
        break;
    }
}

void odb_model__type_text(const Onnx__TypeProto *type, bool ranks, struct odb_buf *out)
{
    text_type(type, 0, &(struct text){.out = out, .ranks = ranks});
}
