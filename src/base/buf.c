/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

void odb_buf_dispose(struct odb_buf *buf)
{
    free(buf->data);
    buf->data = NULL;
    buf->len = buf->cap = 0;
    buf->overflowed = false;
}

void odb_buf_clear(struct odb_buf *buf)
{
    buf->len = 0;
    buf->overflowed = false;
    if (buf->data)
        buf->data[0] = '\0';
}

char *odb_buf_reserve(struct odb_buf *buf, size_t extra)
{
    size_t need;
    if (!odb_size_add(buf->len, extra, &need) || need >= buf->max) {
        buf->overflowed = true;
        return NULL;
    }
    if (need + 1 > buf->cap) {
        size_t cap = ODB_MAX(need + 1, buf->cap * 2);
        buf->data = odb_xrealloc(buf->data, ODB_MAX(cap, (size_t)64), 1);
        buf->cap = ODB_MAX(cap, (size_t)64);
    }
    return buf->data + buf->len;
}

void odb_buf_add(struct odb_buf *buf, const void *data, size_t len)
{
    char *to = odb_buf_reserve(buf, len);
    if (!to)
        return;
    if (len)
        memcpy(to, data, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void odb_buf_puts(struct odb_buf *buf, const char *s)
{
    odb_buf_add(buf, s, strlen(s));
}

void odb_buf_putc(struct odb_buf *buf, char c)
{
    odb_buf_add(buf, &c, 1);
}

void odb_buf_printf(struct odb_buf *buf, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *to = n < 0 ? NULL : odb_buf_reserve(buf, (size_t)n);
    if (to) {
        vsnprintf(to, (size_t)n + 1, fmt, again);
        buf->len += (size_t)n;
    }
    va_end(again);
}

void odb_buf_put_shown(struct odb_buf *buf, const char *text)
{
    const unsigned char *s = (const unsigned char *)text, *end = s + strlen(text);
    while (s < end) {
        const unsigned char *begin = s;
        uint32_t c;
        bool valid = odb_utf8_next(&s, end, &c);
        if (valid && !odb_utf8_acts(c)) {
            odb_buf_add(buf, begin, (size_t)(s - begin));
            continue;
        }
        s = valid ? s : begin + 1;
        for (; begin < s; begin++)
            odb_buf_printf(buf, "\\x%02x", *begin);
    }
}

void odb_buf_put_field(struct odb_buf *buf, const char *text, size_t characters)
{
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, text);
    const unsigned char *s = (const unsigned char *)odb_buf_text(&shown), *end = s + shown.len;
    for (uint32_t c; s < end && characters && odb_utf8_next(&s, end, &c); characters--)
        ;
    odb_buf_add(buf, odb_buf_text(&shown), (size_t)((const char *)s - odb_buf_text(&shown)));
    odb_buf_dispose(&shown);
    odb_buf_printf(buf, "%*s", (int)characters, "");
}

const char *odb_buf_text(const struct odb_buf *buf)
{
    return buf->data ? buf->data : "";
}

char *odb_buf_take(struct odb_buf *buf)
{
    char *data = buf->data ? buf->data : odb_xstrdup("");
    buf->data = NULL;
    buf->len = buf->cap = 0;
    return data;
}

void odb_hex(const unsigned char *bytes, size_t n, char *text)
{
    for (size_t i = 0; i < n; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

void odb_buf_put_shown_lines(struct odb_buf *buf, const char *s)
{
    for (const char *end; *s; s = *end ? end + 1 : end) {
        end = s + strcspn(s, "\n");
        char *line = odb_xstrndup(s, (size_t)(end - s));
        odb_buf_put_shown(buf, line);
        odb_buf_putc(buf, '\n');
        free(line);
    }
}

void odb_buf_put_bytes(struct odb_buf *buf, size_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    size_t unit = 0;
    for (; v >= 1024 && unit + 1 < ODB_COUNT(units); unit++)
        v /= 1024;
    odb_buf_printf(buf, unit ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

void odb_buf_put_duration(struct odb_buf *buf, double seconds)
{
    double minutes = seconds / 60;
    if (seconds < 99.5)
        odb_buf_printf(buf, "%.0f s", seconds);
    else if (minutes < 99.5)
        odb_buf_printf(buf, "%.0f min", minutes);
    else
        odb_buf_printf(buf, "%d h %02d", (int)(minutes / 60), (int)minutes % 60);
}
