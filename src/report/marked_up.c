/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/marked_up.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"

void odb_put_xml(struct odb_buf *out, const char *text)
{
    struct odb_buf shown = ODB_BUF_INIT;
    for (const char *end; *text; text = *end ? end + 1 : end) { /* lines stay lines */
        end = text + strcspn(text, "\n");
        char *line = odb_xstrndup(text, (size_t)(end - text));
        odb_buf_put_shown(&shown, line);
        odb_buf_puts(&shown, *end ? "\n" : "");
        free(line);
    }
    for (const char *p = odb_buf_text(&shown); *p; p++)
        switch (*p) {
        case '&':
            odb_buf_puts(out, "&amp;");
            break;
        case '<':
            odb_buf_puts(out, "&lt;");
            break;
        case '>':
            odb_buf_puts(out, "&gt;");
            break;
        case '"':
            odb_buf_puts(out, "&quot;");
            break;
        default:
            odb_buf_putc(out, *p);
        }
    odb_buf_dispose(&shown);
}

void odb_put_markdown(struct odb_buf *out, const char *text)
{
    struct odb_buf shown = ODB_BUF_INIT;
    char *line = odb_xstrdup(text ? text : "");
    for (char *p = line; (p = strchr(p, '\n'));)
        *p = ' ';
    odb_buf_put_shown(&shown, line);
    for (const char *p = odb_buf_text(&shown); *p; p++) {
        bool link = !strncmp(p, "://", 3) ||
                    (*p == '.' && p - odb_buf_text(&shown) >= 3 && !strncasecmp(p - 3, "www", 3));
        if (link || strchr("\\`*_{}[]<>#|&~$", *p))
            odb_buf_putc(out, '\\');
        odb_buf_putc(out, *p);
    }
    odb_buf_dispose(&shown);
    free(line);
}
