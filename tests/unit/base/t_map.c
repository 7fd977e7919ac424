/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names to numbers, also where the names were made to hurt.
 */
#include "base/map.c" /* to see into its buckets */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants those first. */
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

enum { FLOOD = 30000, FLOOD_NAME = 32 }; /* names; bytes of one */

static void test_map__holds_what_was_put(void **state)
{
    struct odb_map *map = odb_map_new();
    size_t value = 7;
    assert_false(odb_map_has(NULL, "a"));
    assert_false(odb_map_get(map, "a", &value));
    assert_int_equal(value, 7);
    assert_true(odb_map_add(map, "a", 1));
    assert_false(odb_map_add(map, "a", 2));
    assert_true(odb_map_get(map, "a", &value));
    assert_int_equal(value, 1);
    odb_map_set(map, "a", 3);
    odb_map_set(map, "", 4);
    assert_true(odb_map_get(map, "a", &value));
    assert_int_equal(value, 3);
    assert_true(odb_map_get(map, "", &value));
    assert_int_equal(value, 4);
    odb_map_free(map);
    odb_map_free(NULL);
}

enum { MAP_LONGEST = 40 };

/* So many 'a's, of which one is a 'b'. Returns key. */
static const char *map_key(char key[MAP_LONGEST], size_t len, size_t at)
{
    memset(key, 'a', len);
    key[len] = '\0';
    if (len)
        key[at] = 'b';
    return key;
}

/* Keys of every length around the words that are hashed at once, equal but for one byte. */
static void test_map__tells_every_byte(void **state)
{
    struct odb_map *map = odb_map_new();
    char key[MAP_LONGEST];
    size_t n = 0, value;
    for (size_t len = 0; len < MAP_LONGEST; len++)
        for (size_t at = 0; at < ODB_MAX(len, 1); at++)
            assert_true(odb_map_add(map, map_key(key, len, at), n++));
    n = 0;
    for (size_t len = 0; len < MAP_LONGEST; len++)
        for (size_t at = 0; at < ODB_MAX(len, 1); at++) {
            assert_true(odb_map_get(map, map_key(key, len, at), &value));
            assert_int_equal(value, n++);
        }
    odb_map_free(map);
}

static void flood_put(char name[FLOOD_NAME], size_t i)
{
    snprintf(name, FLOOD_NAME, "/block.%06zu/out", i);
}

/* How far the entry that was put off most stands from where its hash would have it. */
static size_t flood_farthest(const struct odb_map *map)
{
    size_t mask = 2 * map->room - 1, farthest = 0;
    for (size_t i = 0; i <= mask; i++) {
        size_t own = map->places[i] ? map->entries[map->places[i] - 1].hash & mask : i;
        farthest = ODB_MAX(farthest, (i - own) & mask);
    }
    return farthest;
}

/* A few dozen places are what chance gives, for names that differ little as for others. Held
 * with room made beforehand, and without. */
static void test_map__many_names_stand_near_their_places(void **state)
{
    for (int with = 0; with < 2; with++) {
        struct odb_map *map = with ? odb_map_new_for(FLOOD) : odb_map_new();
        size_t room = map->room, value;
        char name[FLOOD_NAME];
        for (size_t i = 0; i < FLOOD; i++) {
            flood_put(name, i);
            assert_true(odb_map_add(map, name, i));
        }
        assert_true(with == (room == map->room));
        assert_in_range(flood_farthest(map), 1, 200);
        for (size_t i = 0; i < FLOOD; i++) {
            flood_put(name, i);
            assert_true(odb_map_get(map, name, &value));
            assert_int_equal(value, i);
        }
        assert_false(odb_map_has(map, "/block.0/out"));
        odb_map_free(map);
    }
}

/* Who makes a file does not know where its names are going to stand. */
static void test_map__another_process_hashes_otherwise(void **state)
{
    uint64_t here = map_hash("name", 4);
    assert_true(here == map_hash("name", 4));
    assert_true(map_seed[0] || map_seed[1]);
    for (int word = 0; word < 2; word++) {
        map_seed[word] ^= 1;
        assert_true(here != map_hash("name", 4));
        map_seed[word] ^= 1;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map__holds_what_was_put),
        cmocka_unit_test(test_map__tells_every_byte),
        cmocka_unit_test(test_map__many_names_stand_near_their_places),
        cmocka_unit_test(test_map__another_process_hashes_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
