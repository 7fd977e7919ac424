/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/terminal/utf8.h"

/* Lead byte, the bits of it that count, and the least code point worth so many bytes. */
static const struct {
    unsigned char lead, mask;
    uint32_t least;
} utf8_forms[] = {
    {0x00, 0x7f, 0x0}, {0xc0, 0x1f, 0x80}, {0xe0, 0x0f, 0x800}, {0xf0, 0x07, 0x10000}};

#define UTF8_FORMS (sizeof utf8_forms / sizeof utf8_forms[0])

static int utf8_is_point(uint32_t point)
{
    return point < 0x110000 && !(point >= 0xd800 && point < 0xe000);
}

size_t ui_utf8_decode(const char *text, size_t n, uint32_t *point)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t form = 0; form < UTF8_FORMS && n > form; form++) {
        unsigned char mask = utf8_forms[form].mask;
        if ((bytes[0] & (unsigned char)~mask) != utf8_forms[form].lead)
            continue;
        uint32_t value = bytes[0] & mask;
        for (size_t i = 1; i <= form; i++) {
            if ((bytes[i] & 0xc0) != 0x80)
                return 0;
            value = value << 6 | (bytes[i] & 0x3f);
        }
        if (value < utf8_forms[form].least || !utf8_is_point(value))
            return 0;
        *point = value;
        return form + 1;
    }
    return 0;
}

size_t ui_utf8_encode(uint32_t point, char out[4])
{
    if (!utf8_is_point(point))
        return 0;
    size_t form = UTF8_FORMS - 1;
    while (point < utf8_forms[form].least)
        form--;
    for (size_t i = form; i > 0; i--, point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)(utf8_forms[form].lead | point);
    return form + 1;
}
