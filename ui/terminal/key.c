/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/terminal/key.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"

/* Characters that have a name, then the keys that are none. */
static const struct key_name {
    int key;
    const char *name;
} key_names[] = {
    {UI_KEY_ENTER, "Enter"},
    {UI_KEY_TAB, "Tab"},
    {UI_KEY_ESC, "Esc"},
    {' ', "Space"},
#define UI_KEY(id, name, cap) {UI_KEY_##id, name},
#include "ui/terminal/key.def"
#undef UI_KEY
    /* Second names; the first of a key is the one that is written. */
    {UI_KEY_ENTER, "Return"},
    {UI_KEY_ESC, "Escape"},
    {UI_KEY_PGUP, "PageUp"},
    {UI_KEY_PGDN, "PageDown"},
    {UI_KEY_DELETE, "Del"},
    {UI_KEY_INSERT, "Ins"},
};

/* C-a … C-z and the five behind them, as the control key makes them of @A-Z[\]^_. */
static int key_control(const char *name)
{
    char c = name[0];
    if (!c || name[1])
        return UI_KEY_NONE;
    if (c >= 'a' && c <= 'z')
        c -= 'a' - 'A';
    if (c == '?')
        return UI_KEY_BACKSPACE;
    if (c == 'J') /* a line feed is Enter */
        return UI_KEY_ENTER;
    return c > '@' && c <= '_' ? c - '@' : UI_KEY_NONE;
}

int ui_key_pair(int first, int key)
{
    bool begins = first > 0 && first < 0x7f && first != ' ' && first != UI_KEY_TAB &&
                  first != UI_KEY_ENTER && first != UI_KEY_ESC;
    return begins && key > 0 && !ui_key_first(key) ? first << 24 | key : UI_KEY_NONE;
}

int ui_key_first(int key)
{
    return key >> 24;
}

int ui_key_parse(const char *name)
{
    uint32_t point;
    size_t length = strlen(name);
    if (length && odb_utf8_read(name, length, &point) == length)
        return point > ' ' && point != 0x7f ? (int)point : UI_KEY_NONE;
    if (strncasecmp(name, "M-", 2) == 0) {
        int key = ui_key_parse(name + 2);
        return key == UI_KEY_NONE || key & UI_KEY_ALT ? UI_KEY_NONE : key | UI_KEY_ALT;
    }
    if (strncasecmp(name, "C-", 2) == 0) {
        char control[2] = {name[2], '\0'};
        return length == 4 ? ui_key_pair(key_control(control), name[3]) : key_control(name + 2);
    }
    for (size_t i = 0; i < ODB_COUNT(key_names); i++)
        if (strcasecmp(key_names[i].name, name) == 0)
            return key_names[i].key;
    if (length > 1 && (unsigned char)name[0] < 0x7f) { /* characters, or one and a key's name */
        uint32_t second;
        bool one = odb_utf8_read(name + 1, length - 1, &second) == length - 1;
        return one && second > ' ' ? ui_key_pair(name[0], (int)second) : UI_KEY_NONE;
    }
    return UI_KEY_NONE;
}

const char *ui_key_name(int key, char *buf, size_t size)
{
    if (ui_key_first(key)) {
        char first[8], second[16];
        ui_key_name(ui_key_first(key), first, sizeof first);
        ui_key_name(key & 0xffffff, second, sizeof second);
        snprintf(buf, size, "%s%s", first, second);
        return buf;
    }
    const char *alt = key & UI_KEY_ALT ? "M-" : "";
    key &= ~UI_KEY_ALT;
    for (size_t i = 0; i < ODB_COUNT(key_names); i++) {
        if (key_names[i].key == key) {
            snprintf(buf, size, "%s%s", alt, key_names[i].name);
            return buf;
        }
    }
    char text[5] = "";
    if (key > 0 && key < ' ')
        snprintf(buf, size, "%sC-%c", alt, key <= 26 ? key + 'a' - 1 : key + '@');
    else if (key > ' ' && odb_utf8_is((uint32_t)key) && odb_utf8_put(text, (uint32_t)key))
        snprintf(buf, size, "%s%s", alt, text);
    else
        snprintf(buf, size, "?");
    return buf;
}
