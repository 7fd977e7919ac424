/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The build takes names and lines from the pages themselves.
 */
#include "command/table/topics.h"

#include <string.h>

#include "base/mem.h"

static const struct {
    const char *name, *about;
} topics[] = {
#include "topic_rows.h"
};

const char *odb_topic(size_t i, const char **about)
{
    *about = i < ODB_COUNT(topics) ? topics[i].about : NULL;
    return i < ODB_COUNT(topics) ? topics[i].name : NULL;
}

const char *odb_topic_find(const char *name)
{
    for (size_t i = 0; i < ODB_COUNT(topics); i++)
        if (!strcmp(topics[i].name, name))
            return topics[i].about;
    return NULL;
}
