/* SPDX-License-Identifier: MIT
 *
 * Names as other tools may have left them: words of letters and digits with '_' between.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "executor/recorded/mangled_int.h"

#define LOOSE_INDEX_WORDS 5 /* among which an index is looked for */
#define LOOSE_DIGITS 9      /* of a number */

char *mangled__loose(const char *name)
{
    struct odb_buf out = ODB_BUF_INIT;
    for (const char *p = name; *p; p++) {
        bool keeps = isalnum((unsigned char)*p) && (unsigned char)*p < 128;
        if (keeps)
            odb_buf_putc(&out, *p);
        else if (out.len && out.data[out.len - 1] != '_')
            odb_buf_putc(&out, '_');
    }
    while (out.len && out.data[out.len - 1] == '_')
        out.data[--out.len] = '\0';
    return out.data ? odb_buf_take(&out) : odb_xstrdup("");
}

void mangled__fold(char *loose)
{
    for (; *loose; loose++)
        if (*loose >= 'A' && *loose <= 'Z')
            *loose = (char)(*loose - 'A' + 'a');
}

size_t mangled__indices(const char *loose, struct mangled_index out[MANGLED_INDICES])
{
    const char *p = loose;
    size_t n = 0;
    for (int word = 0; word < LOOSE_INDEX_WORDS && n < MANGLED_INDICES && *p; word++) {
        size_t len = strcspn(p, "_"), digits = strspn(p, "0123456789");
        if (digits == len && len <= LOOSE_DIGITS)
            out[n++] = (struct mangled_index){strtoul(p, NULL, 10), p + len + (p[len] == '_')};
        p += len + (p[len] == '_');
    }
    return n;
}

bool mangled__is_number(const char *loose)
{
    return !loose[strspn(loose, "0123456789")];
}

bool mangled__number(const char *loose, bool last, unsigned long *out)
{
    bool found = false;
    for (const char *p = loose; *p && (last || !found);) {
        size_t digits = strspn(p, "0123456789");
        if (digits && digits <= LOOSE_DIGITS) {
            *out = strtoul(p, NULL, 10);
            found = true;
        }
        p += digits + (digits == 0);
    }
    return found;
}

char *mangled__strip(const char *text, const char *lead, const char *tail)
{
    size_t n = strlen(text), a = strlen(lead), b = strlen(tail);
    if (a && (n <= a || strncmp(text, lead, a) != 0 || text[a] != '_'))
        return NULL;
    a += a > 0;
    if (b && (n <= a + b || strcmp(text + n - b, tail) != 0 || text[n - b - 1] != '_'))
        return NULL;
    b += b > 0;
    return n > a + b ? odb_xstrndup(text + a, n - a - b) : NULL;
}

size_t mangled__begins(const char *text, size_t most, size_t *at)
{
    size_t n = 0;
    at[n++] = 0;
    for (const char *p = text; n <= most && (p = strchr(p, '_')) && p[1]; p++)
        at[n++] = (size_t)(p - text) + 1;
    return n;
}

size_t mangled__ends(const char *text, size_t most, size_t *at)
{
    size_t n = 0, len = strlen(text);
    at[n++] = len;
    for (size_t i = len; n <= most && i-- > 1;)
        if (text[i] == '_')
            at[n++] = i;
    return n;
}
