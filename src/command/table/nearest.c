/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which name the user may have meant: distances between words.
 */
#include "command/table/nearest.h"

#include <string.h>

#include "base/mem.h"

/* Damerau-Levenshtein (adjacent swaps count one), on two rows and one before. A name longer
 * than this is not taken for a typing error. */
#define NEAREST_LONGEST 63

static size_t nearest_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    size_t rows[3][NEAREST_LONGEST + 1];
    if (n > NEAREST_LONGEST || m > NEAREST_LONGEST)
        return (size_t)-1;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
            best = ODB_MIN(best, ODB_MIN(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = ODB_MIN(best, older[j - 2] + 1);
            now[j] = best;
        }
    }
    return rows[n % 3][m];
}

const char *odb_nearest(const char *text, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t least = strlen(text) / 3 + 2; /* farther than this is another word */
    for (size_t i = 0; i < n; i++) {
        size_t d = nearest_distance(text, names[i]);
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}
