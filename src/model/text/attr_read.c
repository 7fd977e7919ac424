/* SPDX-License-Identifier: MIT */
#include "model/text/attr_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/core/kern.h"

/* --- words ------------------------------------------------------------------------------------ */

/* Takes blanks, and the quotes around what is left, off both ends of a text. */
static char *attr_strip(char *text)
{
    text += strspn(text, " \t");
    size_t len = strlen(text);
    while (len && strchr(" \t", text[len - 1]))
        text[--len] = '\0';
    if (len >= 2 && text[0] == '"' && text[len - 1] == '"') {
        text[len - 1] = '\0';
        text++;
    }
    return text;
}

/* Takes the brackets off a list. */
static char *attr_unwrap(char *text)
{
    size_t len;
    text += strspn(text, " \t");
    len = strlen(text);
    if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
        text[len - 1] = '\0';
        text++;
    }
    return text;
}

/* Items between commas; "" has none. */
static size_t attr_count(const char *text)
{
    size_t n = text[strspn(text, " \t")] != '\0';
    for (; *text; text++)
        n += *text == ',';
    return n;
}

/* --- values ----------------------------------------------------------------------------------- */

static bool attr_int(const char *word, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(word, &end, 10);
    return *word && !*end && !errno;
}

static bool attr_float(const char *word, float *out)
{
    char *end;
    *out = strtof(word, &end);
    return *word && !*end;
}

static bool attr_item(struct odb_attr_value *v, size_t i, char *word)
{
    switch (v->attr.type) {
    case ODB_ATTR_INTS:
        return attr_int(word, &v->ints[i]);
    case ODB_ATTR_FLOATS:
        return attr_float(word, &v->floats[i]);
    default:
        v->strings[i] = (struct odb_str){word, strlen(word)};
        return true;
    }
}

static bool attr_list(struct odb_attr_value *v)
{
    char *text = attr_unwrap(v->text);
    size_t n = attr_count(text);
    bool good = true;
    v->ints = odb_new_n(int64_t, n + 1);
    v->floats = odb_new_n(odb_f32, n + 1);
    v->strings = odb_new_n(struct odb_str, n + 1);
    for (size_t i = 0; i < n && good; i++) {
        char *next = strchr(text, ',');
        if (next)
            *next++ = '\0';
        good = attr_item(v, i, attr_strip(text));
        text = next;
    }
    v->attr.n = n;
    v->attr.ints = v->ints;
    v->attr.floats = v->floats;
    v->attr.strings = v->strings;
    return good;
}

static bool attr_scalar(struct odb_attr_value *v)
{
    char *word = attr_strip(v->text);
    if (v->attr.type == ODB_ATTR_INT)
        return attr_int(word, &v->attr.i);
    if (v->attr.type == ODB_ATTR_FLOAT)
        return attr_float(word, &v->attr.f);
    v->attr.s = (struct odb_str){word, strlen(word)};
    return true;
}

enum odb_status odb_attr_value_read(struct odb_attr_value *out, const char *name,
                                    enum odb_attr_type type, const char *text,
                                    struct odb_error *err)
{
    bool scalar = type == ODB_ATTR_INT || type == ODB_ATTR_FLOAT || type == ODB_ATTR_STRING;
    bool list = type == ODB_ATTR_INTS || type == ODB_ATTR_FLOATS || type == ODB_ATTR_STRINGS;
    *out = (struct odb_attr_value){.name = odb_xstrdup(name), .text = odb_xstrdup(text)};
    out->attr.name = out->name;
    out->attr.type = type;
    if (!scalar && !list)
        return odb_fail(err, ODB_E_USAGE, "%.60s is of type %s, which no text stands for", name,
                        odb_attr_type_name(type));
    if (scalar ? attr_scalar(out) : attr_list(out))
        return ODB_OK;
    return odb_fail(err, ODB_E_USAGE, "%.60s is of type %s, and '%.60s' is no such value", name,
                    odb_attr_type_name(type), text);
}

void odb_attr_value_dispose(struct odb_attr_value *value)
{
    free(value->name);
    free(value->text);
    free(value->ints);
    free(value->floats);
    free(value->strings);
    *value = (struct odb_attr_value){0};
}
