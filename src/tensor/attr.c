/* SPDX-License-Identifier: MIT */
#include "tensor/attr.h"

#include <string.h>

const struct odb_attr *odb_attrs_find(const struct odb_attrs *attrs, const char *name)
{
    for (size_t i = 0; i < attrs->n; i++)
        if (!strcmp(attrs->items[i].name, name))
            return &attrs->items[i];
    return NULL;
}
