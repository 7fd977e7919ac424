/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

size_t odb_utf8_length(unsigned char lead)
{
    return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
}

bool odb_utf8_inside(char byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t odb_utf8_back(const char *text, size_t n)
{
    while (n > 0 && odb_utf8_inside(text[n]))
        n--;
    return n;
}

bool odb_utf8_is(uint32_t c)
{
    return c <= 0x10ffff && !(c >= 0xd800 && c < 0xe000);
}

bool odb_utf8_next(const unsigned char **p, const unsigned char *end, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned lead = *(*p)++;
    int n = (int)odb_utf8_length((unsigned char)lead);
    if (lead > 0xf4 || odb_utf8_inside((char)lead) || end - *p < n - 1)
        return false;
    *c = n == 1 ? lead : lead & (0x7fu >> n);
    for (int i = 1; i < n; i++, (*p)++) {
        if (!odb_utf8_inside((char)**p))
            return false;
        *c = *c << 6 | (**p & 0x3f);
    }
    return n == 1 || (*c >= least[n] && odb_utf8_is(*c));
}

size_t odb_utf8_read(const char *text, size_t n, uint32_t *c)
{
    const unsigned char *p = (const unsigned char *)text;
    uint32_t read;
    if (!n || !odb_utf8_next(&p, p + n, &read))
        return 0;
    *c = read;
    return (size_t)((const char *)p - text);
}

bool odb_utf8_acts(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

size_t odb_utf8_put(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(0xf00 >> n | c);
    return n;
}

size_t odb_text_vfit(char *buf, size_t size, const char *fmt, va_list args)
{
    int wanted = vsnprintf(buf, size, fmt, args);
    size_t n = wanted <= 0 ? 0 : (size_t)wanted < size ? (size_t)wanted : size - 1;
    size_t back = 1; /* to where the last character begins */
    while (back < n && back < ODB_UTF8_MAX && odb_utf8_inside(buf[n - back]))
        back++;
    if (n < (size_t)wanted && back <= n && odb_utf8_length((unsigned char)buf[n - back]) > back)
        n -= back;
    buf[n] = '\0';
    return n;
}

size_t odb_text_fit(char *buf, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    size_t n = odb_text_vfit(buf, size, fmt, args);
    va_end(args);
    return n;
}

bool odb_text_matches(const char *text, const char *needle)
{
    for (const char *p = needle; *p; p++)
        if (isupper((unsigned char)*p))
            return strstr(text, needle) != NULL;
    return strcasestr(text, needle) != NULL;
}
