/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A terminal for tests: the two ends of a pseudo terminal, one of them as standard input and
 * output.
 */
#ifndef ODB_TESTS_TERMINAL_HELP_H
#define ODB_TESTS_TERMINAL_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <curses.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "system/file.h"
#include "base/mem.h"
#include "ui/terminal/terminal.h"
#include "base/utf8.h"

struct pty {
    int master, in, out;          /* in, out: standard input and output as they were */
    struct ui_terminal *terminal; /* owned */
    char sent[1 << 16];           /* by the last pty_read() */
    size_t n_sent;
};

static inline void pty_resize(struct pty *pty, int rows, int cols)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    assert_int_equal(ioctl(pty->master, TIOCSWINSZ, &size), 0);
}

/* What the program has sent until it is quiet. */
static inline size_t pty_read(struct pty *pty)
{
    struct pollfd ready = {.fd = pty->master, .events = POLLIN};
    pty->n_sent = 0;
    while (poll(&ready, 1, 20) > 0 && pty->n_sent < sizeof pty->sent - 1) {
        ssize_t n = read(pty->master, pty->sent + pty->n_sent, sizeof pty->sent - 1 - pty->n_sent);
        if (n <= 0)
            break;
        pty->n_sent += (size_t)n;
    }
    pty->sent[pty->n_sent] = 0;
    return pty->n_sent;
}

static inline void pty_type(struct pty *pty, const char *bytes)
{
    assert_int_equal(write(pty->master, bytes, strlen(bytes)), strlen(bytes));
}

static inline void pty_begin(struct pty *pty, const char *term, int rows, int cols)
{
    int slave;
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    *pty = (struct pty){0};
    odb_file_fill_standard();
    assert_int_equal(openpty(&pty->master, &slave, NULL, NULL, &size), 0);
    setenv("TERM", term, 1);
    unsetenv("LINES");
    unsetenv("COLUMNS");
    fflush(stdout);
    pty->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
    pty->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    dup2(slave, STDIN_FILENO);
    dup2(slave, STDOUT_FILENO);
    close(slave);
}

static inline void pty_open(struct pty *pty, const char *term, int rows, int cols,
                            const struct ui_terminal_options *options)
{
    struct odb_error err = ODB_ERROR_INIT;
    pty_begin(pty, term, rows, cols);
    assert_int_equal(ui_terminal_open(&pty->terminal, options, &err), ODB_OK);
    pty_read(pty);
}

/* Also where a test has failed half way. */
static inline void pty_close(struct pty *pty)
{
    ui_terminal_close(pty->terminal);
    pty_read(pty);
    fflush(stdout);
    dup2(pty->in, STDIN_FILENO);
    dup2(pty->out, STDOUT_FILENO);
    close(pty->in);
    close(pty->out);
    close(pty->master);
}

/* What curses has in a row of the screen, as UTF-8, without the blanks at its end; until the next
 * call. */
static inline const char *pty_row(int row)
{
    static char text[300 * 24];
    cchar_t cells[300 + 1];
    size_t n = 0;
    int cols = ODB_MIN(getmaxx(stdscr), 300);
    memset(cells, 0, sizeof cells);
    assert_int_equal(mvin_wchnstr(row, 0, cells, cols), OK);
    /* One for a wide character, so they end early. */
    for (int col = 0; col < cols && cells[col].chars[0]; col++) {
        wchar_t chars[CCHARW_MAX + 1] = {0};
        attr_t attributes;
        short pair;
        if (getcchar(&cells[col], chars, &attributes, &pair, NULL) != OK)
            break;
        for (size_t i = 0; chars[i]; i++)
            n += odb_utf8_put(text + n, (uint32_t)chars[i]);
    }
    while (n && text[n - 1] == ' ')
        n--;
    text[n] = 0;
    return text;
}

#endif
