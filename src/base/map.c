/* SPDX-License-Identifier: MIT
 *
 * Most keys are names in untrusted files, where they could be chosen so that all fall into one
 * bucket of any hash that is known beforehand. So it is SipHash-1-3 with a key of this process's
 * own; nothing depends on the order that gives, for uthash keeps the order of adding.
 */
#include "base/map.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/mem.h"

static uint64_t map_seed[2];

static void map_make_seed(void)
{
    if (getrandom(map_seed, sizeof map_seed, GRND_NONBLOCK) == sizeof map_seed)
        return;
    double now = odb_clock(); /* early at boot there is nothing better */
    memcpy(map_seed, &now, sizeof now);
    map_seed[1] = (uint64_t)(uintptr_t)&now;
}

static uint64_t map_rotate(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static void map_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = map_rotate(v[1], 13) ^ v[0];
    v[3] = map_rotate(v[3], 16) ^ v[2];
    v[0] = map_rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = map_rotate(v[1], 17) ^ v[2];
    v[3] = map_rotate(v[3], 21) ^ v[0];
    v[2] = map_rotate(v[2], 32);
}

static void map_mix(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    map_round(v);
    v[0] ^= word;
}

static unsigned map_hash(const char *key, size_t len)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, map_make_seed);
    uint64_t v[4] = {map_seed[0] ^ 0x736f6d6570736575, map_seed[1] ^ 0x646f72616e646f6d,
                     map_seed[0] ^ 0x6c7967656e657261, map_seed[1] ^ 0x7465646279746573};
    uint64_t word, last = (uint64_t)len << 56;
    size_t at = 0;
    for (; at + sizeof word <= len; at += sizeof word) {
        memcpy(&word, key + at, sizeof word);
        map_mix(v, word);
    }
    memcpy(&word, memcpy((char[8]){0}, key + at, len - at), sizeof word);
    map_mix(v, last | word);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        map_round(v);
    return (unsigned)(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

#define HASH_FUNCTION(key, len, hash) ((hash) = map_hash(key, len))
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
    entry = map->head;
    HASH_CLEAR(hh, map->head); /* the table; the list of entries stays */
    for (; entry; entry = next) {
        next = entry->hh.next;
        free(entry);
    }
    free(map);
}

/* hash: of the key, which is of so many bytes. */
static struct map_entry *map_find_hashed(const struct odb_map *map, const char *key, size_t len,
                                         unsigned hash)
{
    struct map_entry *entry = NULL;
    HASH_FIND_BYHASHVALUE(hh, map->head, key, (unsigned)len, hash, entry);
    return entry;
}

static struct map_entry *map_find(const struct odb_map *map, const char *key)
{
    size_t len = strlen(key);
    return map && map->head ? map_find_hashed(map, key, len, map_hash(key, len)) : NULL;
}

/* The entry of the key, which is made with this value where there is none. */
static struct map_entry *map_entry(struct odb_map *map, const char *key, size_t value, bool *added)
{
    size_t len = strlen(key);
    unsigned hash = map_hash(key, len);
    struct map_entry *entry = map_find_hashed(map, key, len, hash);
    *added = !entry;
    if (entry)
        return entry;
    entry = odb_xcalloc(1, sizeof *entry + len + 1);
    memcpy(entry->key, key, len + 1);
    entry->value = value;
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, map->head, entry->key, (unsigned)len, hash, entry);
    return entry;
}

size_t odb_map_enter(struct odb_map *map, const char *key, size_t value, bool *added)
{
    return map_entry(map, key, value, added)->value;
}

bool odb_map_add(struct odb_map *map, const char *key, size_t value)
{
    bool added;
    map_entry(map, key, value, &added);
    return added;
}

void odb_map_set(struct odb_map *map, const char *key, size_t value)
{
    bool added;
    map_entry(map, key, value, &added)->value = value;
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
