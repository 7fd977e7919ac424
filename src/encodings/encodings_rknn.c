/* SPDX-License-Identifier: MIT
 *
 * The quantisation config that RKNN-Toolkit2 writes for hybrid quantisation: YAML, of which it
 * takes keys, numbers and lists. A number is (code - zero_point) * scale. What
 * custom_quantize_layers names is of the type that stands there.
 *
 *     custom_quantize_layers:
 *       NAME: float16
 *     quantize_parameters:
 *       NAME:
 *         qtype: asymmetric_quantized
 *         qmethod: layer
 *         dtype: int8
 *         scale: [0.0078]        or a number a line, behind dashes
 *         zero_point: [0]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/encodings_int.h"

enum rknn_section { RKNN_OTHER, RKNN_CUSTOM, RKNN_PARAMETERS };

struct rknn {
    struct odb_encodings *out;
    enum rknn_section section;
    size_t line;
    size_t name_indent; /* of names in the section; 0: none was met */
    char *name;         /* owned: of the value that is read; NULL: none is */
    struct encodings_said said;
    bool typed;                     /* its dtype was met */
    bool skip;                      /* of a type that is none of steps, or named before */
    struct encodings_numbers *list; /* that lines with dashes add to; NULL: to nothing */
};

/* A line without what stands around its text. */
struct rknn_line {
    char *text; /* of the buffer, which is written to */
    size_t indent;
    char *value; /* behind "KEY:"; NULL: it has no key; "": nothing stands there */
};

static char *rknn_strip(char *text)
{
    size_t n;
    text += strspn(text, " \t");
    n = strlen(text);
    while (n && strchr(" \t\r", text[n - 1]))
        text[--n] = '\0';
    if (n >= 2 && (text[0] == '\'' || text[0] == '"') && text[n - 1] == text[0]) {
        text[n - 1] = '\0';
        text++;
    }
    return text;
}

/* The key ends at a colon with a space or nothing behind it: names have colons, too. */
static void rknn_split(struct rknn_line *out, char *line)
{
    size_t n;
    out->indent = strspn(line, " ");
    out->value = NULL;
    out->text = line + out->indent;
    n = strlen(out->text);
    while (n && strchr(" \t\r", out->text[n - 1]))
        out->text[--n] = '\0';
    if (out->text[0] == '-' || out->text[0] == '#')
        return;
    char *colon = n && out->text[n - 1] == ':' ? out->text + n - 1 : strstr(out->text, ": ");
    if (!colon)
        return;
    *colon = '\0';
    out->value = rknn_strip(colon + (colon[1] ? 1 : 0));
    if (colon == out->text + n - 1)
        out->value = colon; /* "" */
    out->text = rknn_strip(out->text);
}

static void rknn_push(struct encodings_numbers *to, double v)
{
    to->items = odb_xrealloc(to->items, to->n + 1, sizeof *to->items);
    to->items[to->n++] = v;
}

/* "[0.1, 0.2]", "0.1". */
static enum odb_status rknn_numbers(struct encodings_numbers *to, char *text, struct odb_error *err)
{
    for (char *at = text + strspn(text, "[ "); *at && *at != ']';) {
        char *end;
        double v = strtod(at, &end);
        if (end == at)
            return odb_fail(err, ODB_E_FORMAT, "'%.40s' is no number", at);
        rknn_push(to, v);
        at = end + strspn(end, ", ");
    }
    return ODB_OK;
}

static enum odb_status rknn_type(struct encodings_said *said, bool *skip, const char *type,
                                 struct odb_error *err)
{
    static const struct {
        const char *name;
        int bits;
        bool is_signed;
        enum odb_dtype type;
    } types[] = {{"int4", 4, true, ODB_UNDEFINED},   {"int8", 8, true, ODB_UNDEFINED},
                 {"int16", 16, true, ODB_UNDEFINED}, {"int32", 32, true, ODB_UNDEFINED},
                 {"uint8", 8, false, ODB_UNDEFINED}, {"uint16", 16, false, ODB_UNDEFINED},
                 {"float16", 16, true, ODB_F16},     {"bfloat16", 16, true, ODB_BF16},
                 {"float32", 32, true, ODB_F32},     {"float", 32, true, ODB_F32}};
    for (size_t i = 0; i < ODB_COUNT(types); i++) {
        if (strcmp(types[i].name, type) != 0)
            continue;
        said->bits = types[i].bits;
        said->is_signed = types[i].is_signed;
        said->type = types[i].type;
        *skip = *skip || said->type == ODB_F32;
        return ODB_OK;
    }
    return odb_fail(err, ODB_E_FORMAT, "dtype %.40s is not supported", type);
}

/* The value that was read is complete. */
static enum odb_status rknn_end(struct rknn *r, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    r->said.axis = r->said.scale.n > 1 ? ODB_ENCODING_BY_READER : ODB_ENCODING_NO_AXIS;
    if (r->name && !r->skip && !r->typed) {
        odb_fail(err, ODB_E_FORMAT, "it has no dtype");
        status = odb_error_at(err, "value %.200s", r->name);
    } else if (r->name && !r->skip) {
        status = encodings_say(r->out, &r->said, err);
    }
    encodings_said_dispose(&r->said);
    free(r->name);
    r->name = NULL;
    r->list = NULL;
    return status;
}

static enum odb_status rknn_field(struct rknn *r, struct rknn_line *line, struct odb_error *err)
{
    r->list = NULL;
    if (!strcmp(line->text, "qtype")) {
        if (strstr(line->value, "dynamic_fixed_point"))
            return odb_fail(err, ODB_E_FORMAT, "qtype %.40s is not supported", line->value);
        r->said.symmetric = !strncmp(line->value, "symmetric", 9);
    } else if (!strcmp(line->text, "dtype")) {
        r->typed = true;
        return rknn_type(&r->said, &r->skip, line->value, err);
    } else if (!strcmp(line->text, "scale")) {
        r->list = &r->said.scale;
    } else if (!strcmp(line->text, "zero_point")) {
        r->list = &r->said.zero;
    }
    return r->list ? rknn_numbers(r->list, line->value, err) : ODB_OK;
}

static enum odb_status rknn_named(struct rknn *r, struct rknn_line *line, struct odb_error *err)
{
    const struct encodings_said fresh = ENCODINGS_SAID(NULL);
    ODB_TRY(rknn_end(r, err));
    r->name = odb_xstrdup(line->text);
    r->said = fresh;
    r->said.name = r->name;
    r->skip = odb_encodings_find(r->out, r->name) != NULL; /* a custom layer */
    r->typed = r->section == RKNN_CUSTOM;
    if (r->typed)
        return rknn_type(&r->said, &r->skip, line->value, err);
    return ODB_OK;
}

static enum odb_status rknn_line(struct rknn *r, struct rknn_line *line, struct odb_error *err)
{
    if (!line->text[0] || line->text[0] == '#' || line->text[0] == '{' || line->text[0] == '}')
        return ODB_OK;
    if (line->text[0] == '-')
        return r->list ? rknn_numbers(r->list, line->text + 1, err) : ODB_OK;
    if (!line->value)
        return odb_fail(err, ODB_E_FORMAT, "'%.60s' is neither a key nor a number of a list",
                        line->text);
    if (!line->indent) {
        ODB_TRY(rknn_end(r, err));
        r->name_indent = 0;
        r->section = !strcmp(line->text, "custom_quantize_layers") ? RKNN_CUSTOM
                     : !strcmp(line->text, "quantize_parameters")  ? RKNN_PARAMETERS
                                                                   : RKNN_OTHER;
        return ODB_OK;
    }
    if (r->section == RKNN_OTHER)
        return ODB_OK;
    if (!r->name_indent)
        r->name_indent = line->indent;
    return line->indent <= r->name_indent ? rknn_named(r, line, err) : rknn_field(r, line, err);
}

enum odb_status encodings_read_rknn(struct odb_encodings *out, const char *text,
                                    struct odb_error *err)
{
    struct rknn r = {.out = out};
    char *copy = odb_xstrdup(text), *rest = copy, *at;
    enum odb_status status = ODB_OK;
    out->format = odb_xstrdup("RKNN");
    while (status == ODB_OK && (at = strsep(&rest, "\n"))) {
        struct rknn_line line;
        r.line++;
        rknn_split(&line, at);
        status = rknn_line(&r, &line, err);
        if (status != ODB_OK)
            odb_error_at(err, "line %zu", r.line);
    }
    if (status == ODB_OK)
        status = rknn_end(&r, err);
    encodings_said_dispose(&r.said);
    free(r.name);
    free(copy);
    return status;
}
