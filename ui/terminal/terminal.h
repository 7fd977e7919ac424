/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The terminal: taken over when the screen opens, given back on every way out, crashes and signals
 * included. terminal.c and draw.c alone call curses.
 *
 * What is printed to standard error meanwhile comes out when the terminal has been given back.
 *
 * Signals only write a byte into a pipe; they come out of ui_terminal_read() as events, in order
 * with the keys. The handlers of deadly ones write the bytes that restore the terminal and raise
 * the signal again.
 */
#ifndef ODB_UI_TERMINAL_TERMINAL_H
#define ODB_UI_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "ui/terminal/key.h"
#include "ui/terminal/style.h"

struct ui_terminal {
    int rows, cols;
    int colors; /* 0: none, or NO_COLOR; 8, 16, 256, 1 << 24 */
    int depth;  /* colors as the terminal has them, whatever is wanted */
    enum ui_background background;
    bool unicode;              /* the locale's characters are UTF-8, and ASCII was not asked for */
    void *canvas;              /* curses' window that is drawn into (draw.c); NULL: the screen */
    struct terminal_int *priv; /* owned */
};

struct ui_event {
    enum {
        UI_EVENT_NONE,
        UI_EVENT_KEY,       /* key */
        UI_EVENT_BYTE,      /* key: a byte of input while raw mode is on */
        UI_EVENT_CLICK,     /* row, col; twice: it was a double click */
        UI_EVENT_WHEEL,     /* row, col; delta -1: up, 1: down */
        UI_EVENT_RESIZE,    /* rows and cols of the terminal have changed */
        UI_EVENT_SUSPEND,   /* SIGTSTP came from outside */
        UI_EVENT_RESUMED,   /* back from a suspension: everything has to be drawn anew */
        UI_EVENT_QUIT,      /* SIGINT, SIGTERM, SIGHUP, or the terminal is gone */
        UI_EVENT_DRAG,      /* row, col: the mouse moved with its button down */
        UI_EVENT_RELEASE,   /* the button is up */
        UI_EVENT_BACKGROUND /* delta: how light the background is, 0 to 255 */
    } what;
    int key, row, col, delta;
    bool twice;
};

struct ui_terminal_options {
    bool ascii; /* ASCII only, whatever the locale */
    bool mouse;
};

/* Takes the terminal of stdin and stdout over. ODB_E_USAGE when they are none, or when TERM is
 * unknown or cannot move the cursor ("dumb"): with the way out. One at a time in a process. */
enum odb_status ui_terminal_open(struct ui_terminal **out,
                                 const struct ui_terminal_options *options,
                                 struct odb_error *err) ODB_MUST_USE;
/* No terminal at all, of this size: for views that are drawn on paper (draw.h). */
enum odb_status ui_terminal_open_blind(struct ui_terminal **out, int rows, int cols,
                                       struct odb_error *err) ODB_MUST_USE;
void ui_terminal_close(struct ui_terminal *terminal); /* NULL is fine */

/* File descriptors to poll() for reading: input, and signals. */
void ui_terminal_fds(const struct ui_terminal *terminal, int fds[2]);
/* What has happened, without waiting; false: nothing. A resize has been applied on return. */
bool ui_terminal_read(struct ui_terminal *terminal, struct ui_event *event);
/* While on, input comes as UI_EVENT_BYTE, unparsed, for readline; the mouse is off. Pasted text
 * comes without the marks around it and on one line, so that it runs nothing; while raw mode is
 * off it is dropped. */
void ui_terminal_raw(struct ui_terminal *terminal, bool on);
/* Bytes of input are waiting, or arrive within a few milliseconds, that are not the beginning of a
 * sequence themselves: tells Esc from a sequence. */
bool ui_terminal_more(struct ui_terminal *terminal);
/* Whether Esc is among the keys that wait (it is taken out, the others stay), or a signal asks the
 * program to end. For a caller that keeps the keys waiting. */
bool ui_terminal_escaped(struct ui_terminal *terminal);

/* Gives the terminal back and stops the process, as Ctrl-Z does; returns when it goes on. */
void ui_terminal_suspend(struct ui_terminal *terminal);
/* Gives the terminal to another program, whose keys then go to it alone, and takes it back. Once
 * its process is there, signals that are to end us end it first. */
void ui_terminal_lend(struct ui_terminal *terminal);
void ui_terminal_lend_to(struct ui_terminal *terminal, pid_t pid);
void ui_terminal_take(struct ui_terminal *terminal);
/* Sends bytes past curses; they must leave the cursor where it is. False: this terminal, which is
 * none of xterm's family, does not get them. */
bool ui_terminal_send(struct ui_terminal *terminal, const char *bytes, size_t n);

/* Every cell is sent anew by the next ui_terminal_flush(). */
void ui_terminal_redraw(struct ui_terminal *terminal);
/* An empty screen to draw into. */
void ui_terminal_clear(struct ui_terminal *terminal);
/* Sends what differs from what the terminal shows; the cursor is shown at row, col, or hidden when
 * row < 0. */
void ui_terminal_flush(struct ui_terminal *terminal, int row, int col);

/* An answer to OSC 11 may come. */
void ui_terminal_expect_background(struct ui_terminal *terminal);
/* The mouse is ours from now on, or the terminal's. */
void ui_terminal_mouse(struct ui_terminal *terminal, bool on);

/* --- osc.c ------------------------------------------------------------------------------------ */

/* Asks the terminal to put a text into its clipboard (OSC 52), through tmux and screen where the
 * program runs inside one. There is no answer whether it did. False: this terminal knows nothing of
 * the sort, or the text is too long for it. */
bool ui_terminal_copy(struct ui_terminal *terminal, const char *text);
/* Asks the terminal how light its background is (OSC 11); the answer, if there is one, is a
 * UI_EVENT_BACKGROUND. Where $COLORFGBG says it, the terminal is not asked. */
void ui_terminal_ask_background(struct ui_terminal *terminal);
/* Makes cells that show a text already a link to a file (OSC 8), where terminals have links. */
void ui_terminal_link(struct ui_terminal *terminal, int row, int col, const char *text,
                      const char *path);
#endif
