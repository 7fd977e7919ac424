/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A full-screen program on a terminal of its own: a pty, the emulator that draws what the program
 * writes, and waiting that always reads, so that neither side ever blocks the other for good.
 */
#ifndef TESTS_SCREEN_TERM_H
#define TESTS_SCREEN_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <termios.h>
#include <vterm.h>

enum {
    TERM_MOST = 500,                /* rows or columns at most */
    TERM_LINE = TERM_MOST * 24 + 1, /* bytes of a row's text at most */
};

struct term {
    int rows, cols;
    VTerm *vt;           /* owned */
    VTermScreen *screen; /* borrowed: vt */
    VTermState *state;   /* borrowed: vt */
    VTermPos cursor;
    bool cursor_shown, alternate;
    int mouse; /* what the program asked for, VTERM_PROP_MOUSE_… */

    int master; /* owned; the terminal's end of the pty, -1 without a program */
    int news;   /* owned; where the keeper tells what became of the program */
    pid_t keeper, program;
    bool stopped, ended, closed; /* closed: no more output can come */
    int status;                  /* as waitpid gives it, of the last stop or of the end */
    struct termios before;       /* of the pty, before the program ran */

    char *out; /* owned; what is still to be written to the program */
    size_t out_n, out_room;
    char held[64]; /* the beginning of an escape sequence whose end is to come */
    size_t held_n;
    char last;      /* byte before that sequence */
    char probe[32]; /* where the emulator's answer goes while `probing` */
    size_t probe_n;
    bool probing;
    FILE *log;                /* borrowed; every byte that came, or NULL */
    uint64_t bytes;           /* how many came */
    double started;           /* seconds, as term_now() tells them */
    double heard;             /* when the last bytes came */
    double sent;              /* when the last keys were put out */
    unsigned long turns_sent; /* of the reader by then; 0: not known */
    char text[TERM_LINE];
};

double term_now(void);

/* An emulator without a program. */
void term_init(struct term *t, int cols, int rows);

/* Starts argv[0] as a shell would, with the NAME=VALUE of env on top of the environment. False
 * with errno where the machine refuses; a program that cannot be run says so on its terminal and
 * ends with status 127. */
bool term_start(struct term *t, char **argv, char **env, size_t env_n);

/* Waits until something happens or until the time is there; reads and writes what can be. True if
 * the screen may have changed. */
bool term_pump(struct term *t, double until);

/* Pumps until no output came for `silence` seconds; false if there is none before `until`. */
bool term_settle(struct term *t, double silence, double until);
/* The same, and meanwhile nothing of the program and of its children ran or wanted to. */
bool term_rest(struct term *t, double silence, double until);
/* How often the thread that reads keys, which is the main one, has had its turn; 0: not known. */
unsigned long term_reader_turns(const struct term *t);
/* Pumps until that thread has had another turn than those, and then neither ran nor wanted to for
 * `silence` seconds, whatever others do; false as above. What is typed wakes it late on a busy
 * machine: the kernel hands it on when it comes to that. */
bool term_reader_rests(struct term *t, unsigned long turns, double silence, double until);

/* Pumps until all that was sent is written; false if the program does not take it in time. */
bool term_flush(struct term *t, double until);

/* Queue bytes, and what the emulator would send for a key, at `*key` in the syntax of `drive`: one
 * character, or a name in <>. term_key moves on, and is false where it finds no key. */
void term_send(struct term *t, const char *bytes, size_t n);
bool term_key(struct term *t, const char **key);

/* The first key at `key`: its length, or 0 if it is none. */
size_t term_key_length(const char *key);

/* button 1 left, 2 middle, 3 right, 4 and 5 the wheel, which has no release. Nothing is sent where
 * the program did not ask for the mouse. */
void term_mouse(struct term *t, int button, bool pressed, int col, int row);
void term_resize(struct term *t, int cols, int rows);

/* Sends the end to what still runs, and gives everything back. */
void term_end(struct term *t);

/* Gives the emulator what the program wrote. */
void term_show(struct term *t, const char *bytes, size_t n);

/* Dim text is this font to the emulator. */
enum { TERM_DIM = 9 };

/* One cell. The right half of a wide character has its left half's style and one special code. */
#define TERM_RIGHT_HALF ((uint32_t)-1)
bool term_cell(const struct term *t, int row, int col, VTermScreenCell *cell);

/* A character as UTF-8: up to 4 bytes. */
size_t term_utf8(uint32_t c, char *to);

/* A row as UTF-8 without trailing blanks; holds until the next call. */
const char *term_row(struct term *t, int row);

/* A number that changes when anything in the row does; row -1: in any row. */
uint64_t term_hash(const struct term *t, int row);

/* What the program that ended or stopped left behind in its terminal: the first thing that is not
 * as it was before, or NULL. */
const char *term_left(struct term *t);

#endif
