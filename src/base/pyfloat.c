/* SPDX-License-Identifier: MIT */
#include "base/pyfloat.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PYFLOAT_DIGITS = 17,
    PYFLOAT_SMALLEST = -4, /* exponents from here to below the next are written without one */
    PYFLOAT_LARGEST = 16
};

/* "1.25e-08": one more in the last digit; false where that takes another digit. */
static bool pyfloat_above(char *text)
{
    char *last = strchr(text, 'e') - 1;
    if (*last < '0' || *last >= '9')
        return false;
    ++*last;
    return true;
}

/* The fewest digits, with an exponent. Below a power of two numbers lie closer together than above
 * it, so what gives it back may be the next one above what rounding gives. */
static void pyfloat_shortest(double v, char *text, size_t size)
{
    for (int digits = 0; digits < PYFLOAT_DIGITS; digits++) {
        snprintf(text, size, "%.*e", digits, v);
        if (strtod(text, NULL) == v || (pyfloat_above(text) && strtod(text, NULL) == v))
            return;
    }
    snprintf(text, size, "%.*e", PYFLOAT_DIGITS - 1, v);
}

const char *odb_pyfloat(double v, char *buf, size_t size)
{
    char shortest[48];
    if (isnan(v) || isinf(v)) {
        snprintf(buf, size, "%s", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
        return buf;
    }
    pyfloat_shortest(v, shortest, sizeof shortest);
    char *e = strchr(shortest, 'e');
    int exponent = (int)strtol(e + 1, NULL, 10),
        digits = (int)(e - shortest) - (shortest[0] == '-');
    int behind = digits > 1 ? digits - 2 : 0; /* the point */
    if (exponent < PYFLOAT_SMALLEST || exponent >= PYFLOAT_LARGEST)
        snprintf(buf, size, "%s", shortest);
    else
        snprintf(buf, size, "%.*f", behind - exponent > 1 ? behind - exponent : 1, v);
    return buf;
}
