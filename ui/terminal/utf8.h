/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Code points to and from UTF-8, whatever the locale: names come from models, keys from a file.
 */
#ifndef ODB_UI_TERMINAL_UTF8_H
#define ODB_UI_TERMINAL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The code point at the beginning of n bytes, and how many bytes it has. 0 bytes: they begin no
 * valid sequence (too long, a surrogate, cut off, …). */
size_t ui_utf8_decode(const char *text, size_t n, uint32_t *point);
/* Bytes written, 1 to 4; no terminator. 0 for what is no code point. */
size_t ui_utf8_encode(uint32_t point, char out[4]);

#endif
