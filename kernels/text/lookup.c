/* SPDX-License-Identifier: MIT */
#include "kernels/text/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int odb_str_order(struct odb_str a, struct odb_str b)
{
    size_t shared = ODB_MIN(a.len, b.len);
    int order = shared ? memcmp(a.data, b.data, shared) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int lookup_order(const void *a, const void *b, void *arg)
{
    const struct odb_lookup *l = arg;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int order = l->ints ? (l->ints[i] > l->ints[j]) - (l->ints[i] < l->ints[j])
                        : odb_str_order(l->strings[i], l->strings[j]);
    return order ? order : (i > j) - (i < j);
}

void odb_lookup_init(struct odb_lookup *l, const int64_t *ints, const struct odb_str *strings,
                     size_t n)
{
    *l = (struct odb_lookup){odb_new_n(size_t, n + 1), n, ints, strings};
    for (size_t i = 0; i < n; i++)
        l->order[i] = i;
    qsort_r(l->order, n, sizeof *l->order, lookup_order, l);
}

void odb_lookup_dispose(struct odb_lookup *l)
{
    free(l->order);
    l->order = NULL;
}

/* Of the keys that are not greater, the last; it is the one asked for or none is. */
#define LOOKUP_FIND(l, is_greater, is_equal)                                                       \
    size_t low = 0, high = (l)->n, at;                                                             \
    while (low < high) {                                                                           \
        size_t middle = low + (high - low) / 2;                                                    \
        at = (l)->order[middle];                                                                   \
        if (is_greater)                                                                            \
            high = middle;                                                                         \
        else                                                                                       \
            low = middle + 1;                                                                      \
    }                                                                                              \
    if (low == 0)                                                                                  \
        return ODB_LOOKUP_NONE;                                                                    \
    at = (l)->order[low - 1];                                                                      \
    return (is_equal) ? at : ODB_LOOKUP_NONE

size_t odb_lookup_int(const struct odb_lookup *l, int64_t key)
{
    LOOKUP_FIND(l, l->ints[at] > key, l->ints[at] == key);
}

size_t odb_lookup_string(const struct odb_lookup *l, struct odb_str key)
{
    LOOKUP_FIND(l, odb_str_order(l->strings[at], key) > 0, odb_str_order(l->strings[at], key) == 0);
}
