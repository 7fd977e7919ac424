/* SPDX-License-Identifier: MIT */
#include "tensor/format/pyjson.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "system/file.h"
#include "base/mem.h"
#include "base/pyfloat.h"
#include "base/utf8.h"

#define PYJSON_INDENT 4

/* --- writing ---------------------------------------------------------------------------------- */

static void pyjson_line(struct odb_pyjson *json)
{
    odb_buf_printf(json->out, "\n%*s", json->depth * PYJSON_INDENT, "");
}

/* What stands before a value or a key. */
static void pyjson_next(struct odb_pyjson *json)
{
    if (json->depth && !json->named) {
        odb_buf_puts(json->out, json->inside ? "," : "");
        pyjson_line(json);
    }
    json->named = false;
    json->inside = true;
}

void odb_pyjson_open(struct odb_pyjson *json, char bracket)
{
    pyjson_next(json);
    odb_buf_putc(json->out, bracket);
    json->depth++;
    json->inside = false;
}

void odb_pyjson_close(struct odb_pyjson *json, char bracket)
{
    json->depth--;
    if (json->inside)
        pyjson_line(json);
    odb_buf_putc(json->out, bracket);
    json->inside = true;
}

static void pyjson_char(struct odb_buf *out, uint32_t c)
{
    static const char named[] = "\"\\\n\r\t\f\b", letters[] = "\"\\nrtfb";
    const char *at = c < 0x80 && c ? strchr(named, (int)c) : NULL;
    if (at)
        odb_buf_printf(out, "\\%c", letters[at - named]);
    else if (c >= ' ' && c <= '~')
        odb_buf_putc(out, (char)c);
    else if (c < 0x10000)
        odb_buf_printf(out, "\\u%04x", c);
    else
        odb_buf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                       0xdc00 + ((c - 0x10000) & 0x3ff));
}

static void pyjson_quote(struct odb_buf *out, const char *text)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + strlen(text);
    odb_buf_putc(out, '"');
    while (p < end) {
        const unsigned char *from = p;
        uint32_t c;
        if (!odb_utf8_next(&p, end, &c)) {
            c = 0xfffd;
            p = from + 1;
        }
        pyjson_char(out, c);
    }
    odb_buf_putc(out, '"');
}

void odb_pyjson_key(struct odb_pyjson *json, const char *key)
{
    pyjson_next(json);
    pyjson_quote(json->out, key);
    odb_buf_puts(json->out, ": ");
    json->named = true;
}

void odb_pyjson_text(struct odb_pyjson *json, const char *text)
{
    pyjson_next(json);
    pyjson_quote(json->out, text);
}

void odb_pyjson_int(struct odb_pyjson *json, int64_t v)
{
    pyjson_next(json);
    odb_buf_printf(json->out, "%lld", (long long)v);
}

void odb_pyjson_real(struct odb_pyjson *json, double v)
{
    char text[ODB_PYFLOAT_TEXT];
    pyjson_next(json);
    if (isnan(v))
        odb_buf_puts(json->out, "NaN");
    else if (isinf(v))
        odb_buf_puts(json->out, v > 0 ? "Infinity" : "-Infinity");
    else
        odb_buf_puts(json->out, odb_pyfloat(v, text, sizeof text));
}

void odb_pyjson_bool(struct odb_pyjson *json, bool v)
{
    pyjson_next(json);
    odb_buf_puts(json->out, v ? "true" : "false");
}

void odb_pyjson_null(struct odb_pyjson *json)
{
    pyjson_next(json);
    odb_buf_puts(json->out, "null");
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Appends the text, with null for the words that are no JSON. */
static void pyjson_clean(const char *text, struct odb_buf *out)
{
    static const char *const words[] = {"-Infinity", "Infinity", "NaN"};
    bool quoted = false;
    for (const char *p = text; *p; p++) {
        size_t n = 0;
        for (size_t w = 0; !quoted && !n && w < ODB_COUNT(words); w++)
            n = strncmp(p, words[w], strlen(words[w])) == 0 ? strlen(words[w]) : 0;
        if (n) {
            odb_buf_puts(out, "null");
            p += n - 1;
            continue;
        }
        quoted ^= *p == '"';
        odb_buf_putc(out, *p);
        if (*p == '\\' && quoted && p[1])
            odb_buf_putc(out, *++p);
    }
}

static enum odb_status pyjson_read(struct odb_buf *text, const char *path, struct odb_error *err)
{
    FILE *file;
    char bytes[65536];
    size_t n;
    enum odb_status status = odb_file_open(&file, path, err);
    if (status != ODB_OK)
        return odb_error_at(err, "%s", path);
    while ((n = fread(bytes, 1, sizeof bytes, file)) > 0)
        odb_buf_add(text, bytes, n);
    bool failed = ferror(file);
    int why = errno;
    fclose(file);
    if (!failed)
        return ODB_OK;
    odb_fail(err, ODB_E_IO, "%s", strerror(why));
    return odb_error_at(err, "%s", path);
}

enum odb_status odb_pyjson_load(json_t **out, const char *path, struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT, clean = ODB_BUF_INIT;
    json_error_t where;
    enum odb_status status = pyjson_read(&text, path, err);
    if (status == ODB_OK) {
        pyjson_clean(odb_buf_text(&text), &clean);
        *out = json_loads(odb_buf_text(&clean), 0, &where);
        if (!*out) {
            status = odb_fail(err, ODB_E_FORMAT, "line %d: %s", where.line, where.text);
            odb_error_at(err, "%s", path);
        }
    }
    odb_buf_dispose(&clean);
    odb_buf_dispose(&text);
    return status;
}
