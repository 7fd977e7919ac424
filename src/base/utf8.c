/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <ctype.h>
#include <string.h>

bool odb_utf8_next(const unsigned char **p, const unsigned char *end, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned lead = *(*p)++;
    int n = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
    if (n == 0 || lead > 0xf4 || end - *p < n - 1)
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

bool odb_text_matches(const char *text, const char *needle)
{
    for (const char *p = needle; *p; p++)
        if (isupper((unsigned char)*p))
            return strstr(text, needle) != NULL;
    return strcasestr(text, needle) != NULL;
}
