/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What terminals do and the emulator does not, mended before it sees it. It has no dim text but
 * ten fonts, which no program uses: what passes here asks for the last font where the program asked
 * for dim text, and for the first where it ends that. Of several private modes in one sequence,
 * which is how the curses library turns the mouse on, it sets but the first: here each gets a
 * sequence of its own. Restoring a saved cursor restores its place and colours only, not whether
 * it is shown, so that is taken from the sequences and not from the emulator. After a character
 * was repeated up to the last column but one, the line is full for it: here it gets the characters
 * themselves. And it writes beyond its memory when more lines are scrolled than there are, as they
 * are while the screen shrinks: here it scrolls them one by one.
 */
#include "term.h"
#include <stdlib.h>
#include <string.h>

/* A number and what stands behind it; returns their length. */
static size_t mend_put(char *to, const char *number, size_t n, char end)
{
    memcpy(to, number, n);
    to[n] = end;
    return n + 1;
}

/* ESC [ … m. The numbers of a colour, after 38 or 48, are no modes. */
static void mend_style(struct term *t)
{
    const char *from = t->held + 2;
    char out[sizeof t->held * 4] = "\033[";
    size_t n = strlen(out), len;
    int skip = 0;
    bool colour = false; /* the number before was 38 or 48 */
    for (;; from += len + 1) {
        len = strcspn(from, ";");
        int value = len && !memchr(from, ':', len) ? atoi(from) : -1;
        bool mode = !colour && skip == 0;
        const char *put = mode && value == 2 ? "19" : mode && value == 22 ? "22;10" : NULL;
        n += mend_put(out + n, put ? put : from, put ? strlen(put) : len, from[len] ? ';' : 'm');
        skip = skip > 0 ? skip - 1 : !colour ? 0 : value == 5 ? 1 : value == 2 ? 3 : 0;
        colour = mode && (value == 38 || value == 48);
        if (!from[len])
            break;
    }
    vterm_input_write(t->vt, out, n);
}

/* ESC [ ? … h or l */
static void mend_modes(struct term *t, char end)
{
    const char *from = t->held + 3;
    for (size_t len;; from += len + 1) {
        char out[sizeof t->held + 8];
        len = strcspn(from, ";");
        memcpy(out, t->held, 3);
        vterm_input_write(t->vt, out, 3 + mend_put(out + 3, from, len, end));
        if (len == 2 && !strncmp(from, "25", 2))
            t->cursor_shown = end == 'h';
        if (!from[len])
            return;
    }
}

/* ESC [ n b: the last character n times more. */
static void mend_repeat(struct term *t)
{
    for (int n = atoi(t->held + 2); n > 0 && n <= TERM_MOST; n--)
        vterm_input_write(t->vt, &t->last, 1);
}

/* ESC [ n L, M, S or T: n lines, one after the other. */
static void mend_lines(struct term *t, char end)
{
    char one[] = {'\033', '[', end};
    for (int n = t->held_n > 2 ? atoi(t->held + 2) : 1; n > 0 && n <= TERM_MOST; n--)
        vterm_input_write(t->vt, one, sizeof one);
}

/* The sequence that is held ends here: its end belongs to it, if it is one that is mended. */
static bool mend_end(struct term *t, char end)
{
    bool private = t->held_n > 2 && t->held[2] == '?';
    bool style = t->held_n > 1 && !private && end == 'm';
    bool modes = private && (end == 'h' || end == 'l');
    bool repeat = t->held_n > 2 && !private && end == 'b' && t->last >= ' ' && t->last < '\177';
    bool lines = t->held_n > 1 && !private && end && strchr("LMST", end);
    if (lines)
        mend_lines(t, end);
    else if (repeat)
        mend_repeat(t);
    else if (style)
        mend_style(t);
    else if (modes)
        mend_modes(t, end);
    else
        vterm_input_write(t->vt, t->held, t->held_n);
    t->held_n = 0;
    return lines || repeat || style || modes;
}

static void mend_write(struct term *t, const char *bytes, size_t n)
{
    if (n)
        t->last = bytes[n - 1];
    vterm_input_write(t->vt, bytes, n);
}

void term_show(struct term *t, const char *bytes, size_t n)
{
    size_t from = 0; /* what lies before is shown, or held */
    for (size_t i = 0; i < n; i++) {
        char c = bytes[i];
        bool more = t->held_n == 1 ? c == '['
                                   : t->held_n > 1 && ((c == '?' && t->held_n == 2) ||
                                                       (c && strchr("0123456789;:", c)));
        if (c == '\033') {
            mend_end(t, '\0');
            mend_write(t, bytes + from, i - from);
            more = true;
        }
        if (more && t->held_n + 1 < sizeof t->held) {
            t->held[t->held_n++] = c;
            t->held[t->held_n] = '\0';
            from = i + 1;
        } else if (t->held_n) {
            from = mend_end(t, c) ? i + 1 : i;
        }
    }
    mend_write(t, bytes + from, n - from);
}
