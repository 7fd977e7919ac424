/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Memory as everywhere else: it does not run out before the program ends. */
#define uthash_malloc(size) odb_xcalloc(1, size)
#define uthash_fatal(msg) ODB_ASSERT(!msg)
#include <uthash.h>

struct map_entry {
    size_t value;
    UT_hash_handle hh;
    char key[];
};

struct odb_map {
    struct map_entry *head; /* owned */
};

struct odb_map *odb_map_new(void)
{
    return odb_new(struct odb_map);
}

void odb_map_free(struct odb_map *map)
{
    struct map_entry *entry, *next;
    if (!map)
        return;
    HASH_ITER(hh, map->head, entry, next)
    {
        HASH_DEL(map->head, entry);
        free(entry);
    }
    free(map);
}

static struct map_entry *map_find(const struct odb_map *map, const char *key)
{
    struct map_entry *entry = NULL;
    if (map)
        HASH_FIND_STR(map->head, key, entry);
    return entry;
}

bool odb_map_add(struct odb_map *map, const char *key, size_t value)
{
    if (map_find(map, key))
        return false;
    size_t len = strlen(key);
    struct map_entry *entry = odb_xcalloc(1, sizeof *entry + len + 1);
    memcpy(entry->key, key, len + 1);
    entry->value = value;
    HASH_ADD_KEYPTR(hh, map->head, entry->key, (unsigned)len, entry);
    return true;
}

void odb_map_set(struct odb_map *map, const char *key, size_t value)
{
    struct map_entry *entry = map_find(map, key);
    if (entry)
        entry->value = value;
    else
        odb_map_add(map, key, value);
}

bool odb_map_get(const struct odb_map *map, const char *key, size_t *value)
{
    struct map_entry *entry = map_find(map, key);
    if (entry && value)
        *value = entry->value;
    return entry != NULL;
}

bool odb_map_has(const struct odb_map *map, const char *key)
{
    return map_find(map, key) != NULL;
}
