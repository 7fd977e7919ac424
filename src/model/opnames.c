/* SPDX-License-Identifier: MIT */
#include "model/opnames.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

size_t odb_opnames_number(struct odb_opnames *names, const struct odb_node *node)
{
    struct odb_buf key = ODB_BUF_INIT;
    size_t number = names->items.n;
    odb_buf_printf(&key, "%zu:%s%s", strlen(node->domain), node->domain, node->op_type);
    if (!names->numbers)
        names->numbers = odb_map_new();
    if (odb_map_add(names->numbers, odb_buf_text(&key), number))
        odb_push(&names->items, (struct odb_opname){node->domain, node->op_type});
    else
        odb_map_get(names->numbers, odb_buf_text(&key), &number);
    odb_buf_dispose(&key);
    return number;
}

void odb_opnames_dispose(struct odb_opnames *names)
{
    free(names->items.items);
    odb_map_free(names->numbers);
    *names = (struct odb_opnames){.numbers = NULL};
}

void odb_opname_put(const struct odb_opname *name, struct odb_buf *out)
{
    if (*name->domain)
        odb_buf_printf(out, "%s::", name->domain);
    odb_buf_puts(out, name->op_type);
}
