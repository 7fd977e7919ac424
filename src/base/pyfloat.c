/* SPDX-License-Identifier: MIT */
#include "base/pyfloat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PYFLOAT_DIGITS = 17,
    PYFLOAT_SMALLEST = -4, /* exponents from here to below the next are written without one */
    PYFLOAT_LARGEST = 16
};

const char *odb_pyfloat(double v, char *buf, size_t size)
{
    char shortest[48];
    if (isnan(v) || isinf(v)) {
        snprintf(buf, size, "%s", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
        return buf;
    }
    for (int digits = 0; digits < PYFLOAT_DIGITS; digits++) {
        snprintf(shortest, sizeof shortest, "%.*e", digits, v);
        if (strtod(shortest, NULL) == v)
            break;
    }
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
