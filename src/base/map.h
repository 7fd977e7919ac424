/* SPDX-License-Identifier: MIT
 *
 * String to size_t: names to indices. Keys are copied.
 */
#ifndef ODB_BASE_MAP_H
#define ODB_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

struct odb_map; /* opaque; NULL is the empty map to every reader */

struct odb_map *odb_map_new(void);
/* With room for n keys, which are added without making it longer. */
struct odb_map *odb_map_new_for(size_t n);
void odb_map_free(struct odb_map *map);
/* Adds key, or changes nothing and returns false where it stands already. */
bool odb_map_add(struct odb_map *map, const char *key, size_t value);
/* The value of key, which is added with this one where there is none. */
size_t odb_map_enter(struct odb_map *map, const char *key, size_t value, bool *added);
/* Adds or replaces. */
void odb_map_set(struct odb_map *map, const char *key, size_t value);
bool odb_map_get(const struct odb_map *map, const char *key, size_t *value);
bool odb_map_has(const struct odb_map *map, const char *key);

#endif
