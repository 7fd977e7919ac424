/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/exact.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/simd.h"

static bool exact_same_string(const struct odb_tensor *a, const struct odb_tensor *b, size_t i)
{
    const struct odb_str *x = (const struct odb_str *)a->data + i;
    const struct odb_str *y = (const struct odb_str *)b->data + i;
    return x->len == y->len && (!x->len || !memcmp(x->data, y->data, x->len));
}

bool odb_exact_same(const struct odb_tensor *a, const struct odb_tensor *b, size_t i)
{
    if (a->dtype == ODB_STRING)
        return exact_same_string(a, b, i);
    int64_t x = odb_tensor_i64(a, i), y = odb_tensor_i64(b, i);
    /* Equal bits of a signed and an unsigned one mean the same number only without the top bit. */
    return x == y && (x >= 0 || (a->dtype == ODB_U64) == (b->dtype == ODB_U64));
}

#define EXACT_DIFFERING(T)                                                                         \
    static ODB_SIMD size_t exact_differing_##T(const odb_##T *a, const odb_##T *b, size_t n)       \
    {                                                                                              \
        size_t differing = 0;                                                                      \
        for (size_t i = 0; i < n; i++)                                                             \
            differing += a[i] != b[i];                                                             \
        return differing;                                                                          \
    }
EXACT_DIFFERING(u8)
EXACT_DIFFERING(u16)
EXACT_DIFFERING(u32)
EXACT_DIFFERING(u64)

/* Elements that differ, of one type of integers that fill their bytes: equal when their bits are.
 */
static size_t exact_differing(const struct odb_tensor *a, const struct odb_tensor *b)
{
    switch (odb_dtype_info(a->dtype)->bits) {
    case 8:
        return exact_differing_u8(a->data, b->data, a->count);
    case 16:
        return exact_differing_u16(a->data, b->data, a->count);
    case 32:
        return exact_differing_u32(a->data, b->data, a->count);
    default:
        return exact_differing_u64(a->data, b->data, a->count);
    }
}

size_t odb_exact_count(const struct odb_tensor *a, const struct odb_tensor *b, size_t *first)
{
    size_t differing = 0;
    *first = SIZE_MAX;
    if (a->dtype != ODB_STRING && a->dtype == b->dtype && !memcmp(a->data, b->data, a->bytes))
        return 0;
    bool bits = a->dtype == b->dtype && odb_dtype_is_integer(a->dtype) &&
                odb_dtype_info(a->dtype)->bits >= 8;
    for (size_t i = 0; i < a->count && !(bits && differing); i++)
        if (!odb_exact_same(a, b, i)) {
            *first = ODB_MIN(*first, i);
            differing++;
        }
    return bits ? exact_differing(a, b) : differing;
}

struct odb_exact_texts odb_exact_texts(long double x, long double y)
{
    static const int digits[] = {9, 17, 20}; /* the last gives all integers of 64 bits */
    struct odb_exact_texts texts;
    for (size_t i = 0; i < ODB_COUNT(digits); i++) {
        snprintf(texts.x, sizeof texts.x, "%.*Lg", digits[i], x);
        snprintf(texts.y, sizeof texts.y, "%.*Lg", digits[i], y);
        if (x == y || strcmp(texts.x, texts.y) != 0)
            break;
    }
    return texts;
}
