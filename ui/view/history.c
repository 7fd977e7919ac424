/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "system/file.h"

/* Adds a line behind the others, of which the oldest may have to go. */
static void history_push(struct ui_history *history, const char *line)
{
    if (!line[strspn(line, " \t")])
        return;
    if (history->lines.n && !strcmp(history->lines.items[history->lines.n - 1], line))
        return;
    if (history->lines.n == UI_HISTORY_MOST) {
        free(history->lines.items[0]);
        memmove(history->lines.items, history->lines.items + 1,
                --history->lines.n * sizeof *history->lines.items);
    }
    odb_push(&history->lines, odb_xstrdup(line));
}

/* False: there is more of it than can be read. */
static bool history_read(struct ui_history *history)
{
    FILE *file = history->path ? fopen(history->path, "re") : NULL;
    char *line = NULL;
    size_t cap = 0;
    if (!file)
        return !history->path || errno == ENOENT;
    while (getline(&line, &cap, file) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        history_push(history, line);
    }
    bool whole = !ferror(file);
    free(line);
    fclose(file);
    return whole;
}

static void history_drop(struct ui_history *history)
{
    for (size_t i = 0; i < history->lines.n; i++)
        free(history->lines.items[i]);
    history->lines.n = 0;
}

static void history_write(struct ui_history *history)
{
    if (!history->fresh.n || !history->path || !odb_file_make_home(history->path))
        return;
    struct odb_buf text = ODB_BUF_INIT;
    history_drop(history);
    if (!history_read(history))
        return; /* what cannot be read is not written anew */
    for (size_t i = 0; i < history->fresh.n; i++)
        history_push(history, history->fresh.items[i]);
    for (size_t i = 0; i < history->lines.n; i++) {
        odb_buf_puts(&text, history->lines.items[i]);
        odb_buf_putc(&text, '\n');
    }
    (void)!odb_file_write(history->path, text.data, text.len, NULL);
    odb_buf_dispose(&text);
}

void ui_history_open(struct ui_history *history, const char *name)
{
    *history = (struct ui_history){.path = odb_file_home("XDG_STATE_HOME", ".local/state", name)};
    history_read(history);
}

void ui_history_add(struct ui_history *history, const char *line)
{
    size_t n = history->lines.n;
    const char *last = n ? history->lines.items[n - 1] : NULL;
    if (strchr(line, '\n') || (last && !strcmp(last, line)) || !line[strspn(line, " \t")])
        return; /* the file has one line for each */
    history_push(history, line);
    odb_push(&history->fresh, odb_xstrdup(line));
}

void ui_history_close(struct ui_history *history)
{
    history_write(history);
    history_drop(history);
    for (size_t i = 0; i < history->fresh.n; i++)
        free(history->fresh.items[i]);
    free(history->lines.items);
    free(history->fresh.items);
    free(history->path);
    *history = (struct ui_history){0};
}
