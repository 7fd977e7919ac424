/* SPDX-License-Identifier: MIT
 *
 * Names of a kind by one pattern: a * stands for any text, once at most, and names that belong
 * together have the same text there ("present.*", "past_key_values.*").
 */
#ifndef ODB_BASE_STAR_H
#define ODB_BASE_STAR_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a name is of a pattern of len bytes; star and n: the text of its *, n 0 where it has
 * none. Borrowed: name. */
bool odb_star_match(const char *pattern, size_t len, const char *name, const char **star,
                    size_t *n);
/* The pattern with such a text in the place of its *; the caller's. */
char *odb_star_fill(const char *pattern, size_t len, const char *star, size_t n);

#endif
