/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static int utf8_length(unsigned lead)
{
    return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
}

bool odb_utf8_next(const unsigned char **p, const unsigned char *end, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned lead = *(*p)++;
    int n = utf8_length(lead);
    if (lead > 0xf4 || (lead & 0xc0) == 0x80 || end - *p < n - 1)
        return false;
    *c = n == 1 ? lead : lead & (0x7fu >> n);
    for (int i = 1; i < n; i++, (*p)++) {
        if ((**p & 0xc0) != 0x80)
            return false;
        *c = *c << 6 | (**p & 0x3f);
    }
    return n == 1 || (*c >= least[n] && *c <= 0x10ffff && !(*c >= 0xd800 && *c < 0xe000));
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
    size_t n = wanted > 0 ? ODB_MIN((size_t)wanted, size - 1) : 0;
    size_t back = 1; /* to where the last character begins */
    while (back < n && back < ODB_UTF8_MAX && (buf[n - back] & 0xc0) == 0x80)
        back++;
    if (n < (size_t)wanted && back <= n && (size_t)utf8_length((unsigned char)buf[n - back]) > back)
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
