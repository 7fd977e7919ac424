/* SPDX-License-Identifier: MIT */
#include "tensor/attr.h"

#include <string.h>

const struct odb_attr *odb_attrs_find(const struct odb_attrs *attrs, const char *name)
{
    for (size_t i = 0; i < attrs->n; i++) {
        const char *other = attrs->items[i].name;
        if (*other == *name && !strcmp(other, name)) /* nearly all differ in the first letter */
            return &attrs->items[i];
    }
    return NULL;
}
