/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keys by name. The emulator turns named keys into bytes, since the modes that the program asked
 * for decide on them. Letters with Ctrl or Alt are done here, the way that every terminal does
 * them: the emulator has newer sequences for some, which the curses library does not know.
 */
#include "term.h"
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    int key; /* of the emulator, or 0: the text */
    const char *text;
    VTermModifier mod;
} KEYS[] = {
    {"Enter", VTERM_KEY_ENTER, NULL, 0},
    {"Esc", VTERM_KEY_ESCAPE, NULL, 0},
    {"Tab", VTERM_KEY_TAB, NULL, 0},
    {"BackTab", VTERM_KEY_TAB, NULL, VTERM_MOD_SHIFT},
    {"Up", VTERM_KEY_UP, NULL, 0},
    {"Down", VTERM_KEY_DOWN, NULL, 0},
    {"Left", VTERM_KEY_LEFT, NULL, 0},
    {"Right", VTERM_KEY_RIGHT, NULL, 0},
    {"PgUp", VTERM_KEY_PAGEUP, NULL, 0},
    {"PgDn", VTERM_KEY_PAGEDOWN, NULL, 0},
    {"Home", VTERM_KEY_HOME, NULL, 0},
    {"End", VTERM_KEY_END, NULL, 0},
    {"Ins", VTERM_KEY_INS, NULL, 0},
    {"Del", VTERM_KEY_DEL, NULL, 0},
    {"Backspace", VTERM_KEY_BACKSPACE, NULL, 0},
    {"F1", VTERM_KEY_FUNCTION(1), NULL, 0},
    {"F2", VTERM_KEY_FUNCTION(2), NULL, 0},
    {"F3", VTERM_KEY_FUNCTION(3), NULL, 0},
    {"F4", VTERM_KEY_FUNCTION(4), NULL, 0},
    {"F5", VTERM_KEY_FUNCTION(5), NULL, 0},
    {"F6", VTERM_KEY_FUNCTION(6), NULL, 0},
    {"F7", VTERM_KEY_FUNCTION(7), NULL, 0},
    {"F8", VTERM_KEY_FUNCTION(8), NULL, 0},
    {"F9", VTERM_KEY_FUNCTION(9), NULL, 0},
    {"F10", VTERM_KEY_FUNCTION(10), NULL, 0},
    {"F11", VTERM_KEY_FUNCTION(11), NULL, 0},
    {"F12", VTERM_KEY_FUNCTION(12), NULL, 0},
    {"Space", 0, " ", 0},
    {"lt", 0, "<", 0},
    {"gt", 0, ">", 0},
};

/* The bytes of the character at `at`, as UTF-8 would have it. */
static size_t key_char(const char *at)
{
    unsigned char c = (unsigned char)*at;
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    return strnlen(at, n);
}

static VTermModifier key_modifier(const char *at)
{
    if (at[0] == '\0' || at[1] != '-' || at[2] == '\0' || at[2] == '>')
        return VTERM_MOD_NONE;
    return at[0] == 'C'   ? VTERM_MOD_CTRL
           : at[0] == 'M' ? VTERM_MOD_ALT
           : at[0] == 'S' ? VTERM_MOD_SHIFT
                          : VTERM_MOD_NONE;
}

/* Text with the modifiers; false where no terminal has such a key. */
static bool key_text(struct term *t, const char *text, size_t n, VTermModifier mod)
{
    char c = text[0];
    if (mod & VTERM_MOD_CTRL) {
        if (n != 1 || !(c == ' ' || c == '?' || (c >= '@' && c <= '~')))
            return false;
        c = c == '?' ? 0x7f : c & 0x1f;
        text = &c;
    }
    if (mod & VTERM_MOD_SHIFT)
        return false;
    if (t && mod & VTERM_MOD_ALT)
        term_send(t, "\033", 1);
    if (t)
        term_send(t, text, n);
    return true;
}

/* The key named between < and >; without a terminal it is only looked up. */
static bool key_named(struct term *t, const char *name, size_t n)
{
    VTermModifier mod = VTERM_MOD_NONE;
    for (VTermModifier one; (one = key_modifier(name)); name += 2, n -= 2)
        mod |= one;
    if (n == 0)
        return false;
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        if (strlen(KEYS[i].name) != n || strncasecmp(KEYS[i].name, name, n) != 0)
            continue;
        if (KEYS[i].text)
            return key_text(t, KEYS[i].text, 1, mod);
        if (t)
            vterm_keyboard_key(t->vt, (VTermKey)KEYS[i].key, mod | KEYS[i].mod);
        return true;
    }
    return mod && n == key_char(name) && key_text(t, name, n, mod);
}

/* One key at `key`: how many bytes it takes there, 0 if it is none. */
static size_t key_at(struct term *t, const char *key)
{
    if (*key == '\0')
        return 0;
    if (*key != '<') {
        size_t n = key_char(key);
        key_text(t, key, n, VTERM_MOD_NONE);
        return n;
    }
    size_t n = strcspn(key + 1, ">");
    if (strncmp(key + n, "->>", 3) == 0) /* <C->> */
        n++;
    return key[n + 1] && key_named(t, key + 1, n) ? n + 2 : 0;
}

bool term_key(struct term *t, const char **key)
{
    size_t n = key_at(t, *key);
    *key += n;
    return n > 0;
}

size_t term_key_length(const char *key)
{
    return key_at(NULL, key);
}
