/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sequence is one of
 *     a key that terminfo describes           the longest that fits
 *     ESC [ parameters intermediates final    "CSI": keys, the mouse, the marks of pasted text
 *     ESC O final                             "SS3": keys of the application mode
 *     ESC character                           with Alt
 * Terminals differ from their terminfo, so the common CSI and SS3 keys are known here as well.
 */
#include "ui/terminal/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

enum {
    DECODE_DOUBLE_MS = 400, /* between the clicks of a double click */
    DECODE_ANSWER = 64,     /* bytes of an answer behind its head, at most */
    DECODE_HELD_MS = 1000,  /* an answer that pauses so long has lost its end */
    DECODE_PASTE_MS = 1000, /* pasted text that pauses so long has lost its end */
    DECODE_ALT = 2,         /* a bit of a modifier parameter, less one */
    DECODE_PARAMS = 4
};

/* A CSI or SS3 sequence in its parts. */
struct decode_csi {
    unsigned char mark; /* '<', '=', '>' or '?' before the parameters, or 0 */
    unsigned char final;
    int param[DECODE_PARAMS]; /* 0: not given */
    size_t length;            /* bytes of the whole */
};

struct decode_row {
    int code, key;
};

/* ESC [ N ~ */
static const struct decode_row decode_tilde[] = {
    {1, UI_KEY_HOME}, {2, UI_KEY_INSERT}, {3, UI_KEY_DELETE}, {4, UI_KEY_END},  {5, UI_KEY_PGUP},
    {6, UI_KEY_PGDN}, {7, UI_KEY_HOME},   {8, UI_KEY_END},    {11, UI_KEY_F1},  {12, UI_KEY_F2},
    {13, UI_KEY_F3},  {14, UI_KEY_F4},    {15, UI_KEY_F5},    {17, UI_KEY_F6},  {18, UI_KEY_F7},
    {19, UI_KEY_F8},  {20, UI_KEY_F9},    {21, UI_KEY_F10},   {23, UI_KEY_F11}, {24, UI_KEY_F12},
};

/* ESC [ X, ESC [ 1 ; N X and ESC O X */
static const struct decode_row decode_letters[] = {
    {'A', UI_KEY_UP},   {'B', UI_KEY_DOWN}, {'C', UI_KEY_RIGHT}, {'D', UI_KEY_LEFT},
    {'H', UI_KEY_HOME}, {'F', UI_KEY_END},  {'P', UI_KEY_F1},    {'Q', UI_KEY_F2},
    {'R', UI_KEY_F3},   {'S', UI_KEY_F4},   {'M', UI_KEY_ENTER}, {'Z', UI_KEY_BACKTAB},
};

#define DECODE_FIND(rows, code) decode_find(rows, ODB_COUNT(rows), code)

static int decode_find(const struct decode_row *rows, size_t n, int code)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].code == code)
            return rows[i].key;
    return UI_KEY_NONE;
}

static void decode_drop(struct ui_decoder *decoder, size_t n)
{
    decoder->n -= n;
    memmove(decoder->bytes, decoder->bytes + n, decoder->n);
}

/* --- sequences ------------------------------------------------------------------------------ */

/* Splits the sequence at the beginning of bytes. False: its end is missing. */
static bool decode_split(const unsigned char *bytes, size_t n, struct decode_csi *csi)
{
    *csi = (struct decode_csi){0};
    size_t at = 2, param = 0;
    if (bytes[1] == 'O') {
        csi->final = at < n ? bytes[at] : 0;
        csi->length = at + 1;
        return at < n;
    }
    if (at < n && bytes[at] >= '<' && bytes[at] <= '?')
        csi->mark = bytes[at++];
    for (; at < n && bytes[at] >= ' ' && bytes[at] < '@'; at++) {
        if (bytes[at] == ';')
            param++;
        else if (bytes[at] >= '0' && bytes[at] <= '9' && param < DECODE_PARAMS &&
                 csi->param[param] < 100000)
            csi->param[param] = csi->param[param] * 10 + bytes[at] - '0';
    }
    if (at == n)
        return false;
    csi->final = bytes[at];
    csi->length = at + 1;
    /* Two forms go on behind what looks like their end. */
    if (csi->final == 'M' && !csi->mark && at == 2) /* the old mouse: three bytes */
        csi->length += 3;
    else if (csi->final == '[' && at == 2) /* F1 … F5 of the Linux console */
        csi->length += 1;
    return csi->length <= n;
}

static bool decode_click(struct ui_decoder *decoder, int row, int col, int64_t now_ms,
                         struct ui_event *event)
{
    bool twice = row == decoder->click_row && col == decoder->click_col && decoder->click_ms &&
                 now_ms - decoder->click_ms <= DECODE_DOUBLE_MS;
    decoder->click_ms = twice ? 0 : now_ms; /* the third of three begins anew */
    decoder->click_row = row;
    decoder->click_col = col;
    *event = (struct ui_event){.what = UI_EVENT_CLICK, .row = row, .col = col, .twice = twice};
    return true;
}

/* button: as in both protocols, with the bits of Shift, Alt, Ctrl and motion. */
static bool decode_mouse(struct ui_decoder *decoder, int button, int row, int col, int64_t now_ms,
                         struct ui_event *event)
{
    enum { MODIFIERS = 4 | 8 | 16, MOTION = 32, WHEEL = 64 };
    if (!decoder->mouse || row < 0 || col < 0 || row >= decoder->rows || col >= decoder->cols ||
        (button & MOTION && (button & ~(MOTION | MODIFIERS))))
        return false;
    button &= ~MODIFIERS;
    if (button == MOTION) {
        *event = (struct ui_event){.what = UI_EVENT_DRAG, .row = row, .col = col};
        return true;
    }
    if (button == 0)
        return decode_click(decoder, row, col, now_ms, event);
    if (button != WHEEL && button != WHEEL + 1)
        return false;
    *event = (struct ui_event){
        .what = UI_EVENT_WHEEL, .row = row, .col = col, .delta = button == WHEEL ? -1 : 1};
    return true;
}

static int decode_csi_key(const struct decode_csi *csi)
{
    int key = csi->final == '~' ? DECODE_FIND(decode_tilde, csi->param[0])
                                : DECODE_FIND(decode_letters, csi->final);
    int modifier = csi->param[1] ? csi->param[1] - 1 : 0;
    if (csi->mark || key == UI_KEY_NONE || modifier & ~DECODE_ALT)
        return UI_KEY_NONE;
    return modifier ? key | UI_KEY_ALT : key;
}

/* Whether the sequence means something. */
static bool decode_csi(struct ui_decoder *decoder, const struct decode_csi *csi, int64_t now_ms,
                       struct ui_event *event)
{
    const unsigned char *bytes = decoder->bytes;
    size_t last = csi->length - 1;
    if (csi->mark == '<' && csi->final == 'M')
        return decode_mouse(decoder, csi->param[0], csi->param[2] - 1, csi->param[1] - 1, now_ms,
                            event);
    if (csi->mark == '<' && csi->final == 'm') {
        *event = (struct ui_event){.what = UI_EVENT_RELEASE};
        return decoder->mouse;
    }
    if (csi->final == 'M' && csi->length == 6)
        return decode_mouse(decoder, bytes[3] - 32, bytes[5] - 33, bytes[4] - 33, now_ms, event);
    if (csi->final == '~' && (csi->param[0] == 200 || csi->param[0] == 201)) {
        decoder->pasting = csi->param[0] == 200;
        return false;
    }
    int key = csi->final == '[' && bytes[last] >= 'A' && bytes[last] <= 'E'
                  ? UI_KEY_F1 + bytes[last] - 'A'
                  : decode_csi_key(csi);
    *event = (struct ui_event){.what = UI_EVENT_KEY, .key = key};
    return key != UI_KEY_NONE;
}

/* --- characters ----------------------------------------------------------------------------- */

static int decode_byte_key(const struct ui_decoder *decoder, unsigned char byte)
{
    switch (byte) {
    case '\n':
        return UI_KEY_ENTER;
    case '\b':
        return decoder->backspace ? UI_KEY_BACKSPACE : byte;
    case 0x7f:
        return UI_KEY_BACKSPACE;
    default:
        return byte;
    }
}

/* The character at bytes[at]; length 0: the rest of it is missing. UI_KEY_NONE: it is none. */
static int decode_character(const struct ui_decoder *decoder, size_t at, size_t *length)
{
    const unsigned char *bytes = decoder->bytes + at;
    size_t n = decoder->n - at;
    uint32_t point;
    *length = 1;
    if (bytes[0] < 0x80)
        return decode_byte_key(decoder, bytes[0]);
    size_t used = odb_utf8_read((const char *)bytes, n, &point);
    if (used) {
        *length = used;
        return point < 0xa0 ? UI_KEY_NONE : (int)point;
    }
    if (n < odb_utf8_length(bytes[0]))
        *length = 0;
    return UI_KEY_NONE;
}

/* The longest key of terminfo that the bytes begin with; 0: none. */
static size_t decode_known(const struct ui_decoder *decoder, int *key)
{
    size_t longest = 0;
    for (size_t i = 0; i < decoder->n_keys; i++) {
        size_t n = strlen(decoder->keys[i].text);
        if (n > longest && n <= decoder->n &&
            memcmp(decoder->keys[i].text, decoder->bytes, n) == 0) {
            longest = n;
            *key = decoder->keys[i].key;
        }
    }
    return longest;
}

/* --- answers -------------------------------------------------------------------------------- */

/* Two or four digits of a colour, as a share of 255. */
static int decode_shade(const char *text)
{
    char digits[3] = {text[0], text[0] ? text[1] : 0, 0};
    return (int)strtol(digits, NULL, 16);
}

/* Where the answer in the bytes ends that begins at from; 0: it goes on. */
static size_t decode_answer_end(const struct ui_decoder *decoder, size_t from)
{
    const unsigned char *bytes = decoder->bytes;
    size_t n = decoder->n, end = from;
    while (end < n && end < from + DECODE_ANSWER && bytes[end] != '\a' && bytes[end] != '\033')
        end++;
    if (end == n || (bytes[end] == '\033' && end + 1 == n))
        return 0;
    if (bytes[end] == '\a')
        return end + 1;
    return bytes[end] == '\033' && bytes[end + 1] == '\\' ? end + 2 : end;
}

/* What the terminal says of its background: ESC ] 11 ; rgb:RRRR/GGGG/BBBB (or rgba:, with a fourth
 * number) and BEL or ESC \. The answer's length; 0: it is not all there, or is none (*none). */
static size_t decode_answer(struct ui_decoder *decoder, struct ui_event *event, bool *found,
                            bool *none)
{
    static const char head[] = "\033]11;rgb";
    size_t same = 0, length = sizeof head - 1;
    while (same < length && same < decoder->n && decoder->bytes[same] == (unsigned char)head[same])
        same++;
    *none = same < length && same < decoder->n;
    size_t whole = same < length ? 0 : decode_answer_end(decoder, length);
    if (!whole)
        return 0;
    char text[DECODE_ANSWER + 1];
    snprintf(text, sizeof text, "%.*s", (int)(whole - length),
             (const char *)decoder->bytes + length);
    const char *red = strchr(text, ':'), *green = red ? strchr(red, '/') : NULL;
    const char *blue = green ? strchr(green + 1, '/') : NULL;
    *found = blue != NULL;
    decoder->asked = false;
    if (!*found)
        return whole;
    int light = 30 * decode_shade(red + 1) + 59 * decode_shade(green + 1) + /* most is green */
                11 * decode_shade(blue + 1);
    *event = (struct ui_event){.what = UI_EVENT_BACKGROUND, .delta = light / 100};
    return whole;
}

/* --- one step ------------------------------------------------------------------------------- */

/* What the bytes begin with: how many they are, and whether they make an event. 0: not known
 * yet. */
static size_t decode_step(struct ui_decoder *decoder, bool complete, int64_t now_ms,
                          struct ui_event *event, bool *found)
{
    const unsigned char *bytes = decoder->bytes;
    size_t n = decoder->n, at = 0, length;
    int key;
    *found = true;
    length = decode_known(decoder, &key);
    if (!length && bytes[0] == '\033' && n == 1 && !complete)
        return 0;
    if (!length && n > 1 && bytes[0] == '\033' && (bytes[1] == '[' || bytes[1] == 'O')) {
        struct decode_csi csi;
        if (decode_split(bytes, n, &csi)) {
            *found = decode_csi(decoder, &csi, now_ms, event);
            return csi.length;
        }
        if (!complete && n < sizeof decoder->bytes)
            return 0;
        if (n > 2) { /* a sequence that never ends is dropped */
            *found = false;
            return n;
        }
    }
    if (!length) {
        at = bytes[0] == '\033' && n > 1 && bytes[1] != '\033';
        key = decode_character(decoder, at, &length);
        if (!length && !complete)
            return 0;
        length = at + (length ? length : 1);
        if (at && key != UI_KEY_NONE)
            key |= UI_KEY_ALT;
    }
    *event = (struct ui_event){.what = UI_EVENT_KEY, .key = key};
    *found = key != UI_KEY_NONE;
    return length;
}

/* The marks of pasted text are taken out, and its line ends do not run a command. */
static size_t decode_raw_step(struct ui_decoder *decoder, bool complete, struct ui_event *event,
                              bool *found)
{
    static const char mark[] = "\033[200~";
    size_t length = sizeof mark - 1, same = 0;
    while (same < length && same < decoder->n &&
           (decoder->bytes[same] == (unsigned char)mark[same] ||
            (same == 4 && decoder->bytes[same] == '1')))
        same++;
    *found = false;
    if (same == length) {
        decoder->pasting = decoder->bytes[4] == '0';
        return length;
    }
    if (same == decoder->n && !complete)
        return 0;
    int byte = decoder->bytes[0];
    if (decoder->pasting && (byte == '\r' || byte == '\n' || byte == '\t'))
        byte = ' ';
    *found = !decoder->pasting || (byte >= ' ' && byte != 0x7f);
    *event = (struct ui_event){.what = UI_EVENT_BYTE, .key = byte};
    return 1;
}

/* --- public --------------------------------------------------------------------------------- */

void ui_decoder_learn(struct ui_decoder *decoder, const char *text, int key)
{
    if (!text || strlen(text) < 2)
        return;
    decoder->keys = odb_xrealloc(decoder->keys, decoder->n_keys + 1, sizeof *decoder->keys);
    decoder->keys[decoder->n_keys++] = (struct ui_decoder_key){odb_xstrdup(text), key};
}

void ui_decoder_dispose(struct ui_decoder *decoder)
{
    for (size_t i = 0; i < decoder->n_keys; i++)
        free(decoder->keys[i].text);
    free(decoder->keys);
    *decoder = (struct ui_decoder){0};
}

enum ui_decoded ui_decoder_next(struct ui_decoder *decoder, bool complete, int64_t now_ms,
                                struct ui_event *event)
{
    if (now_ms - decoder->read_ms > DECODE_PASTE_MS)
        decoder->pasting = false;
    if (decoder->held && now_ms - decoder->held_ms > DECODE_HELD_MS) {
        decode_drop(decoder, decoder->held);
        decoder->held = 0;
    }
    while (decoder->n) {
        bool found, none = true;
        size_t length = decoder->asked ? decode_answer(decoder, event, &found, &none) : 0;
        if (!length && !none && !complete)
            return UI_DECODED_PARTIAL;
        /* On a slow line the rest of an answer comes later: no user types its beginning. */
        if (!length && !none && decoder->n > 2) {
            decoder->held_ms = decoder->held ? decoder->held_ms : now_ms;
            decoder->held = decoder->n;
            return UI_DECODED_NOTHING;
        }
        if (!length)
            length = decoder->raw ? decode_raw_step(decoder, complete, event, &found)
                                  : decode_step(decoder, complete, now_ms, event, &found);
        if (!length)
            return UI_DECODED_PARTIAL;
        bool pasted = decoder->pasting && !decoder->raw;
        decode_drop(decoder, length);
        decoder->held = 0;
        decoder->read_ms = now_ms;
        if (found && !pasted)
            return UI_DECODED_EVENT;
    }
    return UI_DECODED_NOTHING;
}
