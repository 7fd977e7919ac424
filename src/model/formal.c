/* SPDX-License-Identifier: MIT */
#include "model/formal.h"

#include <stdio.h>
#include <string.h>

#include "kernels/core/facts.h"

/* Name number slot of a list; the last of it goes on for ever where it ends in "...". A name that
 * begins to count itself, as data_0, goes on counting; those of keys stay as they are. */
static void formal_pick(const char *list, int slot, bool key, char buf[ODB_FORMAL_NAME])
{
    for (int i = 0; *list && i <= slot; i++) {
        int n = (int)strcspn(list, ","), many = n > 3 && !strncmp(list + n - 3, "...", 3) ? 3 : 0;
        if (i < slot && !many) {
            list += n + (list[n] == ',');
            continue;
        }
        if (!many || key)
            snprintf(buf, ODB_FORMAL_NAME, "%.*s", n - many, list);
        else if (n > 5 && !strncmp(list + n - 5, "_0", 2))
            snprintf(buf, ODB_FORMAL_NAME, "%.*s_%d", n - 5, list, slot - i);
        else
            snprintf(buf, ODB_FORMAL_NAME, "%.*s[%d]", n - 3, list, slot - i);
        return;
    }
}

static const char *formal_name(const struct odb_node *node, bool input, int slot, bool key,
                               char buf[ODB_FORMAL_NAME])
{
    const struct odb_function *function = node->function;
    const char *names =
        function ? NULL : odb_facts_names(node->domain, node->op_type, node->opset, input);
    *buf = '\0';
    if (function && (size_t)slot < (input ? function->n_inputs : function->n_outputs))
        snprintf(buf, ODB_FORMAL_NAME, "%s",
                 input ? function->inputs[slot] : function->outputs[slot]);
    else if (names)
        formal_pick(names, slot, key, buf);
    return buf;
}

const char *odb_formal_name(const struct odb_node *node, bool input, int slot,
                            char buf[ODB_FORMAL_NAME])
{
    return formal_name(node, input, slot, false, buf);
}

const char *odb_formal_key(const struct odb_node *node, bool input, int slot,
                           char buf[ODB_FORMAL_NAME])
{
    return formal_name(node, input, slot, true, buf);
}

int odb_formal_width(const struct odb_node *node)
{
    char name[ODB_FORMAL_NAME];
    size_t width = 0;
    for (int i = 0; i < node->n_in; i++)
        width = ODB_MAX(width, strlen(odb_formal_name(node, true, i, name)));
    for (int i = 0; i < node->n_out; i++)
        width = ODB_MAX(width, strlen(odb_formal_name(node, false, i, name)));
    return (int)width;
}
