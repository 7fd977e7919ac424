/* SPDX-License-Identifier: MIT */
#include "base/star.h"

#include <string.h>

#include "base/mem.h"

bool odb_star_match(const char *pattern, size_t len, const char *name, const char **star, size_t *n)
{
    const char *at = memchr(pattern, '*', len);
    size_t head = at ? (size_t)(at - pattern) : len, tail = at ? len - head - 1 : 0;
    size_t size = strlen(name);
    *star = name + head;
    *n = at && size >= head + tail ? size - head - tail : 0;
    return size >= head + tail && (at || size == len) && !strncmp(name, pattern, head) &&
           !memcmp(name + size - tail, pattern + len - tail, tail);
}

char *odb_star_fill(const char *pattern, size_t len, const char *star, size_t n)
{
    const char *at = memchr(pattern, '*', len);
    if (!at)
        return odb_xstrndup(pattern, len);
    size_t head = (size_t)(at - pattern);
    return odb_xasprintf("%.*s%.*s%.*s", (int)head, pattern, (int)n, star, (int)(len - head - 1),
                         at + 1);
}
