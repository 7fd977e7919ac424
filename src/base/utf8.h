/* SPDX-License-Identifier: MIT
 *
 * Characters as bytes and back (RFC 3629).
 */
#ifndef ODB_BASE_UTF8_H
#define ODB_BASE_UTF8_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ODB_UTF8_MAX 4 /* bytes of a character */

/* The next character of a text that ends at end; *p moves behind it. False where there is none:
 * overlong forms, halves of pairs and what is beyond U+10FFFF included. *p < end. */
bool odb_utf8_next(const unsigned char **p, const unsigned char *end, uint32_t *c);
/* The character at the beginning of n bytes, and how many of them it takes; 0: they begin none, or
 * a part of one, and *c is as it was. */
size_t odb_utf8_read(const char *text, size_t n, uint32_t *c);
/* How many bytes the character takes that such a byte begins. */
size_t odb_utf8_length(unsigned char lead);
/* Whether a byte is inside a character, and not at its beginning. */
bool odb_utf8_inside(char byte);
/* n, or less by what of the last character stands before it: text may be cut there. n is at most
 * the length of the text, whose end is a place to cut. */
size_t odb_utf8_back(const char *text, size_t n);
/* Whether there is such a character: none is half of a pair, or beyond U+10FFFF. */
bool odb_utf8_is(uint32_t c);
/* Whether a character of a stranger's text does something to what it is shown on, or to the order
 * of what stands around it: controls, ends of lines, marks and embeddings of direction. */
bool odb_utf8_acts(uint32_t c);
/* Writes c, at most U+10FFFF, and returns how many bytes it took. */
size_t odb_utf8_put(char *out, uint32_t c);
/* As snprintf() and vsnprintf(), with no part of a character where the room ends. Returns the
 * length of what is there, which is less than size. */
size_t odb_text_fit(char *buf, size_t size, const char *fmt, ...) ODB_PRINTF(3, 4);
size_t odb_text_vfit(char *buf, size_t size, const char *fmt, va_list args) ODB_PRINTF(3, 0);
/* Whether a text contains another: capitals count only if the needle has any. */
bool odb_text_matches(const char *text, const char *needle);

#endif
