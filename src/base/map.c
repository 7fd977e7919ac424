/* SPDX-License-Identifier: MIT
 *
 * Most keys are names in untrusted files, where they could be chosen so that all fall into one
 * bucket of any hash that is known beforehand. So it is SipHash-1-3 with a key of this process's
 * own; nothing depends on the order that gives.
 *
 * Entries stand one behind the other in the order of adding, and so do their keys: a graph of
 * 50,000 nodes has two maps, and pieces of memory of their own would cost more than what is in
 * them. A table of places leads to them, at most half full; what is taken in it goes into the next
 * that is free.
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

static uint64_t map_hash(const char *key, size_t len)
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
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

enum { MAP_LEAST = 8 }; /* entries that there is room for; a power of two */

struct map_entry {
    uint64_t hash;
    size_t key; /* where it begins */
    size_t value;
};

struct odb_map {
    struct map_entry *entries; /* owned */
    size_t n, room;            /* room: a power of two, or 0 */
    uint32_t *places;          /* owned; [2 * room] 1 + an entry's index; 0: free */
    char *keys;                /* owned; each ends in a zero */
    size_t keys_len, keys_room;
};

/* room: a power of two, more than there is. */
static void map_grow(struct odb_map *map, size_t room)
{
    ODB_ASSERT(room < UINT32_MAX);
    map->room = room;
    map->entries = odb_xrealloc(map->entries, map->room, sizeof *map->entries);
    free(map->places);
    map->places = odb_new_n(uint32_t, 2 * map->room);
    size_t mask = 2 * map->room - 1;
    for (size_t n = 0; n < map->n; n++) {
        size_t i = map->entries[n].hash & mask;
        while (map->places[i])
            i = (i + 1) & mask;
        map->places[i] = (uint32_t)n + 1;
    }
}

struct odb_map *odb_map_new(void)
{
    return odb_new(struct odb_map);
}

struct odb_map *odb_map_new_for(size_t n)
{
    struct odb_map *map = odb_map_new();
    size_t room = MAP_LEAST;
    while (room < n)
        room *= 2;
    map_grow(map, room);
    return map;
}

void odb_map_free(struct odb_map *map)
{
    if (!map)
        return;
    free(map->entries);
    free(map->places);
    free(map->keys);
    free(map);
}

/* Where the entry of the key is, or would be put: of a map with room. */
static uint32_t *map_place(const struct odb_map *map, const char *key, uint64_t hash)
{
    size_t mask = 2 * map->room - 1;
    size_t i = hash & mask;
    for (; map->places[i]; i = (i + 1) & mask) {
        const struct map_entry *entry = &map->entries[map->places[i] - 1];
        if (entry->hash == hash && !strcmp(map->keys + entry->key, key))
            break;
    }
    return &map->places[i];
}

static struct map_entry *map_find(const struct odb_map *map, const char *key)
{
    size_t at = map && map->n ? *map_place(map, key, map_hash(key, strlen(key))) : 0;
    return at ? &map->entries[at - 1] : NULL;
}

/* size: with the zero. */
static size_t map_keep_key(struct odb_map *map, const char *key, size_t size)
{
    size_t at = map->keys_len;
    if (size > map->keys_room - at) {
        map->keys_room = 2 * map->keys_room + size;
        map->keys = odb_xrealloc(map->keys, map->keys_room, 1);
    }
    memcpy(map->keys + at, key, size);
    map->keys_len += size;
    return at;
}

/* The entry of the key, which is made with this value where there is none. */
static struct map_entry *map_entry(struct odb_map *map, const char *key, size_t value, bool *added)
{
    size_t len = strlen(key);
    uint64_t hash = map_hash(key, len);
    if (map->n == map->room)
        map_grow(map, ODB_MAX(2 * map->room, (size_t)MAP_LEAST));
    uint32_t *place = map_place(map, key, hash);
    *added = !*place;
    if (*added) {
        map->entries[map->n] = (struct map_entry){hash, map_keep_key(map, key, len + 1), value};
        *place = (uint32_t)++map->n;
    }
    return &map->entries[*place - 1];
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
