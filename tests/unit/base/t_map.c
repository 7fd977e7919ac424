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

#define FLOOD 30000 /* names */

struct flood_name {
    char text[13];
};

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

/* --- names that are one to uthash's own hash -------------------------------------------------- */

/* What Bob Jenkins' hash does last, undone: any state can be had that way. */
static void flood_unmix(uint32_t *a, uint32_t *b, uint32_t *c)
{
    static const int by[3][3] = {{15, 10, 3}, {5, 16, 12}, {13, 8, 13}};
    for (int i = 0; i < 3; i++) {
        *c = (*c ^ *b >> by[i][0]) + *b + *a;
        *b = (*b ^ *a << by[i][1]) + *a + *c;
        *a = (*a ^ *c >> by[i][2]) + *c + *b;
    }
}

/* Twelve bytes, none of them zero, that hash as all the others do. */
static void flood_make(char name[13], uint64_t *state)
{
    uint32_t words[3];
    do {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        words[0] = (uint32_t)(*state >> 32);
        words[1] = (uint32_t)*state;
        words[2] = 12345;
        flood_unmix(&words[0], &words[1], &words[2]);
        words[2] -= 12;
        flood_unmix(&words[0], &words[1], &words[2]);
        words[0] -= 0x9e3779b9u;
        words[1] -= 0x9e3779b9u;
        words[2] -= 0xfeedbeefu;
        memcpy(name, words, 12);
    } while (memchr(name, 0, 12));
    name[12] = '\0';
}

/* How many names the fullest bucket has. */
static unsigned flood_fullest(const struct flood_name *names)
{
    struct odb_map *map = odb_map_new();
    for (size_t i = 0; i < FLOOD; i++)
        odb_map_set(map, names[i].text, i);
    const UT_hash_table *table = map->head->hh.tbl;
    unsigned fullest = 0;
    for (unsigned i = 0; i < table->num_buckets; i++)
        fullest = ODB_MAX(fullest, table->buckets[i].count);
    odb_map_free(map);
    return fullest;
}

/* uthash wants ten names in a bucket; forty more than that do not happen by chance. */
static void test_map__names_cannot_be_made_to_share_a_bucket(void **state)
{
    struct flood_name *names = odb_new_n(struct flood_name, FLOOD);
    unsigned hash, first = 0;
    uint64_t seed = 1;
    for (size_t i = 0; i < FLOOD; i++) {
        flood_make(names[i].text, &seed);
        HASH_JEN(names[i].text, 12, hash);
        if (!i)
            first = hash;
        assert_int_equal(hash, first);
    }
    assert_in_range(flood_fullest(names), 1, 50);
    free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map__holds_what_was_put),
        cmocka_unit_test(test_map__tells_every_byte),
        cmocka_unit_test(test_map__names_cannot_be_made_to_share_a_bucket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
