/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines and words. The rules are the shell's as far as they matter for names: what a model calls
 * its nodes and values may hold anything but a NUL.
 */
#include "command/table/quoting.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

static bool words_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool odb_words__next(const char **at, struct odb_buf *word, char *quote)
{
    const char *p = *at;
    *quote = 0;
    while (words_blank(*p))
        p++;
    bool any = *p;
    for (; *p && (*quote || !words_blank(*p)); p++) {
        if (*quote == *p)
            *quote = 0;
        else if (!*quote && (*p == '\'' || *p == '"'))
            *quote = *p;
        else if (*p == '\\' && p[1] && (*quote ? *quote == '"' && strchr("\"\\", p[1]) : true))
            odb_buf_putc(word, *++p);
        else
            odb_buf_putc(word, *p);
    }
    *at = p;
    return any;
}

enum odb_status odb_words_split(char ***argv, int *argc, const char *line, struct odb_error *err)
{
    /* A word takes a byte and a blank at least; without their quotes words are no longer. */
    size_t most = strlen(line) / 2 + 2;
    char **words = odb_xcalloc(1, most * sizeof *words + strlen(line) + most);
    char *text = (char *)(words + most), quote;
    struct odb_buf word = ODB_BUF_INIT;
    for (*argc = 0; odb_words__next(&line, &word, &quote) && !quote; ++*argc) {
        words[*argc] = text;
        memcpy(text, odb_buf_text(&word), word.len + 1);
        text += word.len + 1;
        odb_buf_clear(&word);
    }
    odb_buf_dispose(&word);
    if (quote) {
        free(words);
        odb_fail(err, ODB_E_USAGE, "a %c is not closed", quote);
        return odb_error_remedy(err, "close it, or write \\%c where a name holds one", quote);
    }
    *argv = words;
    return ODB_OK;
}

char odb_words__style(const char *word)
{
    char style = *word ? 0 : '\'';
    for (; *word; word++) {
        if (*word == '\'')
            return '"';
        if (words_blank(*word) || *word == '"' || *word == '\\')
            style = '\'';
    }
    return style;
}

void odb_words__put(struct odb_buf *out, const char *word, char style, bool open)
{
    if (style)
        odb_buf_putc(out, style);
    for (; *word; word++) {
        if (style == '"' && (*word == '"' || *word == '\\'))
            odb_buf_putc(out, '\\');
        odb_buf_putc(out, *word);
    }
    if (style && !open)
        odb_buf_putc(out, style);
}

void odb_words_quote(struct odb_buf *out, const char *word)
{
    odb_words__put(out, word, odb_words__style(word), false);
}
