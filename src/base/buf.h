/* SPDX-License-Identifier: MIT
 *
 * A growing byte buffer, used for text (always NUL-terminated) and for messages. It has a cap
 * from birth: going over it is an error kept in the buffer until the caller asks for it, so that a
 * chain of appends needs one check.
 */
#ifndef ODB_BASE_BUF_H
#define ODB_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/mem.h"

struct odb_buf {
    char *data; /* owned; NUL behind data[len] once anything was appended */
    size_t len, cap, max;
    bool overflowed;
};

#define ODB_BUF_INIT                                                                               \
    {                                                                                              \
        .max = ODB_SIZE_LIMIT(1ull << 40)                                                          \
    }
#define ODB_BUF_INIT_MAX(limit)                                                                    \
    {                                                                                              \
        .max = (limit)                                                                             \
    }

void odb_buf_dispose(struct odb_buf *buf);
void odb_buf_clear(struct odb_buf *buf);
/* Makes room for extra bytes behind len and returns where they start, or NULL over the cap. */
char *odb_buf_reserve(struct odb_buf *buf, size_t extra);
void odb_buf_add(struct odb_buf *buf, const void *data, size_t len);
void odb_buf_puts(struct odb_buf *buf, const char *s);
void odb_buf_putc(struct odb_buf *buf, char c);
void odb_buf_printf(struct odb_buf *buf, const char *fmt, ...) ODB_PRINTF(2, 3);
/* Appends s so that a terminal survives it: invalid UTF-8, and characters that act on what they are
 * shown on (odb_utf8_acts()), as \xNN for each byte. */
void odb_buf_put_shown(struct odb_buf *buf, const char *s);
/* The same in a field of so many characters: cut at its end, or filled up with blanks. */
void odb_buf_put_field(struct odb_buf *buf, const char *s, size_t characters);
/* The same for text of several lines, each of which is ended. */
void odb_buf_put_shown_lines(struct odb_buf *buf, const char *s);
/* What makes "node" a word for n of them: "" or "s". */
static inline const char *odb_plural(size_t n)
{
    return n == 1 ? "" : "s";
}
/* A size: "812 B", "97.4 MiB". */
void odb_buf_put_bytes(struct odb_buf *buf, size_t bytes);
/* "50 s", "12 min", "1 h 50". */
void odb_buf_put_duration(struct odb_buf *buf, double seconds);
/* Two digits for each of n bytes, and a zero. */
void odb_hex(const unsigned char *bytes, size_t n, char *text);
/* Text so far, "" when nothing was appended. Borrowed. */
const char *odb_buf_text(const struct odb_buf *buf);
/* The caller owns the bytes from now on; the buffer is empty again. */
char *odb_buf_take(struct odb_buf *buf);

#endif
