/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "tensor/stats.h"

#define JSON_SCHEMA 1

json_t *odb_json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *json = json_string(text);
    if (json)
        return json;
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, text);
    json = json_string(odb_buf_text(&shown));
    odb_buf_dispose(&shown);
    return json ? json : json_null();
}

json_t *odb_json_real(double v)
{
    if (isnan(v))
        return json_string("nan");
    if (isinf(v))
        return json_string(v > 0 ? "inf" : "-inf");
    return json_real(v);
}

json_t *odb_json_texts(char *const *texts, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, odb_json_text(texts[i]));
    return array;
}

json_t *odb_json_node(int index, const char *name, const char *op_type, const char *domain)
{
    return json_pack("{s:i,s:o,s:o,s:o}", "index", index, "name", odb_json_text(name), "op_type",
                     odb_json_text(op_type), "domain", odb_json_text(domain));
}

json_t *odb_json_values(const struct odb_graph *graph, const int *list, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            array, odb_json_text(list[i] == ODB_NO_VALUE ? NULL : graph->values[list[i]].name));
    return array;
}

json_t *odb_json_type_shape(const struct odb_type *type)
{
    if (!type->known || type->kind != ODB_TENSOR || type->rank < 0)
        return json_null();
    json_t *shape = json_array();
    for (int i = 0; i < type->rank; i++)
        json_array_append_new(shape, type->dims[i].value >= 0 ? json_integer(type->dims[i].value)
                                                              : odb_json_text(type->dims[i].param));
    return shape;
}

json_t *odb_json_metadata(const struct odb_metadata *metadata)
{
    json_t *object = json_object();
    struct odb_buf key = ODB_BUF_INIT;
    for (size_t i = 0; i < metadata->n; i++) {
        odb_buf_clear(&key);
        odb_buf_put_shown(&key, metadata->items[i][0]);
        json_object_set_new(object, odb_buf_text(&key), odb_json_text(metadata->items[i][1]));
    }
    odb_buf_dispose(&key);
    return object;
}

json_t *odb_json_shape(const struct odb_tensor *t)
{
    if (t->kind != ODB_TENSOR)
        return json_null();
    json_t *shape = json_array();
    for (int i = 0; i < t->rank; i++)
        json_array_append_new(shape, json_integer(t->dims[i]));
    return shape;
}

json_t *odb_json_places(const struct odb_account *account)
{
    struct odb_place_count *counts;
    json_t *list = json_array();
    size_t n = odb_account_count(account, &counts);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:o,s:I}", "where", odb_json_text(counts[i].where),
                                              "nodes", (json_int_t)counts[i].n));
    free(counts);
    return list;
}

static int json_put_piece(const char *piece, size_t size, void *out)
{
    const unsigned char *p = (const unsigned char *)piece, *end = p + size;
    while (p < end) {
        const unsigned char *begin = p;
        uint32_t c = 0;
        while (p < end && *p < 0x7f)
            p++;
        odb_buf_add(out, begin, (size_t)(p - begin));
        begin = p;
        if (p < end && odb_utf8_next(&p, end, &c) && odb_utf8_acts(c))
            odb_buf_printf(out, "\\u%04x", c);
        else
            odb_buf_add(out, begin, (size_t)(p - begin));
    }
    return 0;
}

/* Piece by piece: a report may have a hundred megabytes, which would else be there twice. Jansson
 * parts its pieces between characters. */
void odb_json_put_dumped(const json_t *json, size_t flags, struct odb_buf *out)
{
    size_t before = out->len;
    if (json_dump_callback(json, json_put_piece, out, flags)) { /* no half of a document */
        out->len = before;
        if (out->data)
            out->data[before] = '\0';
    }
}

static void json_put(json_t *json, size_t precision, struct odb_buf *out)
{
    json_t *whole = json_pack("{s:i,s:s}", "schema", JSON_SCHEMA, "onnxdbg", ODB_VERSION);
    json_object_update(whole, json);
    odb_json_put_dumped(whole, JSON_INDENT(1) | precision, out);
    odb_buf_putc(out, '\n');
    json_decref(whole);
    json_decref(json);
}

void odb_json_set_stats(json_t *object, const struct odb_stats *s)
{
    const struct {
        const char *name;
        double v;
    } reals[] = {{"min", s->min},       {"max", s->max}, {"mean", s->mean},
                 {"median", s->median}, {"std", s->std}, {"rms", s->rms}};
    const struct {
        const char *name;
        size_t v;
    } counts[] = {{"count", s->count},
                  {"zeros", s->zeros},
                  {"nan", s->nan},
                  {"pos_inf", s->pos_inf},
                  {"neg_inf", s->neg_inf}};
    for (size_t i = 0; i < ODB_COUNT(reals); i++)
        json_object_set_new(object, reals[i].name, odb_json_real(reals[i].v));
    for (size_t i = 0; i < ODB_COUNT(counts); i++)
        json_object_set_new(object, counts[i].name, json_integer((json_int_t)counts[i].v));
}

json_t *odb_json_tensor(const char *name, const struct odb_tensor *t,
                        const struct odb_progress *progress)
{
    static const char *const kinds[] = {"tensor", "sequence", "optional", "sparse", "map"};
    json_t *object = json_object();
    struct odb_stats s;
    if (name)
        json_object_set_new(object, "name", odb_json_text(name));
    json_object_set_new(object, "kind", json_string(kinds[t->kind]));
    json_object_set_new(object, "dtype", odb_json_text(odb_dtype_info(t->dtype)->name));
    json_object_set_new(object, "shape", odb_json_shape(t));
    if (t->n_items) {
        json_t *items = json_array();
        for (size_t i = 0; i < t->n_items; i++)
            json_array_append_new(items, odb_json_tensor(NULL, t->items[i], progress));
        json_object_set_new(object, "items", items);
    }
    if (t->kind == ODB_TENSOR && odb_stats(&s, t, progress, NULL) == ODB_OK)
        odb_json_set_stats(object, &s);
    return object;
}

static json_t *json_element(const struct odb_tensor *t, size_t i)
{
    enum odb_dtype part = odb_dtype_part(t->dtype);
    if (t->dtype == ODB_STRING) {
        const struct odb_str *text = (const struct odb_str *)t->data + i;
        char *copy = odb_xstrndup(text->len ? text->data : "", text->len);
        json_t *json = odb_json_text(copy);
        free(copy);
        return json;
    }
    if (part != t->dtype)
        return json_pack("[o,o]", odb_json_real(odb_load_f64(part, t->data, 2 * i)),
                         odb_json_real(odb_load_f64(part, t->data, 2 * i + 1)));
    if (odb_dtype_is_float(t->dtype))
        return odb_json_real(odb_tensor_f64(t, i));
    int64_t v = odb_tensor_i64(t, i);
    if (t->dtype == ODB_U64 && v < 0) /* more than JSON's reader holds as an integer */
        return odb_json_real((double)(uint64_t)v);
    return t->dtype == ODB_BOOL ? json_boolean(v) : json_integer((json_int_t)v);
}

json_t *odb_json_elements(const struct odb_tensor *t)
{
    if (t->kind == ODB_TENSOR && !t->data && t->count)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < t->n_items; i++)
        json_array_append_new(list, odb_json_elements(t->items[i]));
    for (size_t i = 0; t->kind == ODB_TENSOR && i < t->count; i++)
        json_array_append_new(list, json_element(t, i));
    return list;
}

void odb_json_put(json_t *json, struct odb_buf *out)
{
    json_put(json, JSON_REAL_PRECISION(9), out);
}

/* As if it stood in a list of an object: each line but the first is two blanks further in. No line
 * ends within a text. */
static void json_put_member(const json_t *member, size_t flags, struct odb_buf *text,
                            struct odb_buf *out)
{
    text->len = 0;
    odb_json_put_dumped(member, flags, text);
    for (const char *at = odb_buf_text(text), *end; *at; at = end) {
        end = at + strcspn(at, "\n");
        end += *end == '\n';
        odb_buf_add(out, at, (size_t)(end - at));
        if (*end)
            odb_buf_puts(out, "  ");
    }
}

static void json_put_list(const struct odb_json_list *list, size_t flags, struct odb_buf *out)
{
    struct odb_buf text = ODB_BUF_INIT;
    size_t n = 0;
    for (json_t *member; (member = list->next(list->payload)); n++) {
        odb_buf_puts(out, n ? ",\n  " : "[\n  ");
        json_put_member(member, flags, &text, out);
        json_decref(member);
    }
    odb_buf_puts(out, n ? "\n ]" : "[]");
    odb_buf_dispose(&text);
}

void odb_json_put_lists(json_t *json, const struct odb_json_list *lists, size_t n,
                        struct odb_buf *out)
{
    const size_t precision = JSON_REAL_PRECISION(9);
    struct odb_buf object = ODB_BUF_INIT;
    json_put(json, precision, &object);
    const char *at = odb_buf_text(&object);
    for (size_t i = 0; i < n; i++) {
        char *place =
            odb_xasprintf("\n \"%s\": ", lists[i].name); /* one blank in: the object's own */
        const char *null = strstr(at, place) + strlen(place);
        odb_buf_add(out, at, (size_t)(null - at));
        json_put_list(&lists[i], JSON_INDENT(1) | precision, out);
        at = null + strlen("null");
        free(place);
    }
    odb_buf_puts(out, at);
    odb_buf_dispose(&object);
}

void odb_json_put_exact(json_t *json, struct odb_buf *out)
{
    json_put(json, JSON_REAL_PRECISION(17), out);
}
