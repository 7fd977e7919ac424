/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the terminal sends, as keys and clicks. Bytes go in, events come out; nothing here knows a
 * terminal, so that every sequence can be tested.
 *
 * curses has a reader of its own, but it hands out the pieces of a sequence that it does not know
 * as keys: Ctrl-Right would run five commands. Here a sequence is read by its grammar, and what
 * has no meaning is dropped whole. Pasted text is dropped likewise: it would run as commands.
 */
#ifndef ODB_UI_TERMINAL_DECODE_H
#define ODB_UI_TERMINAL_DECODE_H

#include <stdint.h>

#include "ui/terminal/terminal.h"

/* A sequence that terminfo knows. */
struct ui_decoder_key {
    char *text; /* owned */
    int key;
};

struct ui_decoder {
    unsigned char bytes[1024];
    size_t n;       /* bytes that wait */
    bool raw;       /* bytes come out as they are, but for the marks around pasted text */
    bool mouse;     /* clicks are wanted */
    bool backspace; /* ^H is what the Backspace key sends */
    /* rows and columns that there are: a click elsewhere is none */
    int rows, cols;
    struct ui_decoder_key *keys; /* owned */
    size_t n_keys;
    bool pasting;
    bool asked;               /* the terminal was asked for its background, and may answer */
    size_t held;              /* bytes that wait for the rest of an answer, */
    int64_t held_ms;          /* since then */
    int64_t read_ms;          /* when the last byte was taken */
    int64_t click_ms;         /* when, */
    int click_row, click_col; /* and where the last click was */
};

enum ui_decoded {
    UI_DECODED_NOTHING, /* no bytes are left, or the beginning of an answer of the terminal's */
    UI_DECODED_EVENT,
    UI_DECODED_PARTIAL /* a sequence has begun, or it was the key Esc */
};

/* Adds a sequence; single bytes and NULL are left out. */
void ui_decoder_learn(struct ui_decoder *decoder, const char *text, int key);
void ui_decoder_dispose(struct ui_decoder *decoder);

/* Takes one event from the bytes. complete: no more bytes are on their way, so a sequence that has
 * only begun is taken as the keys it is made of. */
enum ui_decoded ui_decoder_next(struct ui_decoder *decoder, bool complete, int64_t now_ms,
                                struct ui_event *event);

#endif
