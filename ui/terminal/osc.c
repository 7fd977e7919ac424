/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What terminals can do that curses knows nothing of: operating system commands, as xterm calls
 * them. Terminals drop those that they do not know.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "ui/terminal/terminal.h"

enum { OSC_CLIPBOARD = 74994 }; /* bytes that xterm's sequence may have */

/* A sequence, also wrapped as tmux and screen want what is not for them. */
static void osc_send_through(struct ui_terminal *terminal, const char *sequence)
{
    bool tmux = getenv("TMUX") != NULL;
    struct odb_buf out = ODB_BUF_INIT;
    odb_buf_puts(&out, sequence);
    if (tmux || getenv("STY")) {
        odb_buf_puts(&out, tmux ? "\033Ptmux;" : "\033P");
        for (const char *p = sequence; *p; p++)
            odb_buf_printf(&out, tmux && *p == '\033' ? "\033%c" : "%c", *p);
        odb_buf_puts(&out, "\033\\");
    }
    ui_terminal_send(terminal, odb_buf_text(&out), out.len);
    odb_buf_dispose(&out);
}

bool ui_terminal_copy(struct ui_terminal *terminal, const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = strlen(text);
    if (n > OSC_CLIPBOARD / 4 * 3 || !ui_terminal_send(terminal, "", 0))
        return false;
    struct odb_buf out = ODB_BUF_INIT;
    odb_buf_puts(&out, "\033]52;c;");
    for (size_t i = 0; i < n; i += 3) {
        unsigned bits = (unsigned)(unsigned char)text[i] << 16;
        bits |= i + 1 < n ? (unsigned)(unsigned char)text[i + 1] << 8 : 0;
        bits |= i + 2 < n ? (unsigned)(unsigned char)text[i + 2] : 0;
        for (size_t k = 0; k < 4; k++)
            odb_buf_putc(&out, i + k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=');
    }
    odb_buf_putc(&out, '\a');
    osc_send_through(terminal, odb_buf_text(&out));
    odb_buf_dispose(&out);
    return true;
}

/* Terminals do not say whether they have links. Those with links that set a variable of their own:
 */
static bool osc_has_links(void)
{
    static const char *const variables[] = {"VTE_VERSION",  "KITTY_WINDOW_ID",
                                            "WT_SESSION",   "KONSOLE_VERSION",
                                            "WEZTERM_PANE", "ITERM_SESSION_ID"};
    static const char *const terms[] = {"foot",          "xterm-kitty", "alacritty",
                                        "xterm-ghostty", "wezterm",     "contour"};
    const char *term = getenv("TERM");
    for (size_t i = 0; i < ODB_COUNT(variables); i++)
        if (getenv(variables[i]) && !getenv("STY"))
            return true;
    for (size_t i = 0; term && i < ODB_COUNT(terms); i++)
        if (!strncmp(term, terms[i], strlen(terms[i])))
            return true;
    return false;
}

void ui_terminal_link(struct ui_terminal *terminal, int row, int col, const char *text,
                      const char *path)
{
    if (!osc_has_links())
        return;
    struct odb_buf out = ODB_BUF_INIT;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    odb_buf_printf(&out, "\0337\033[%d;%dH\033[0m\033]8;;file://%s", row + 1, col + 1, host);
    for (const char *p = path; *p; p++)
        odb_buf_printf(&out, strchr("/-_.~", *p) || isalnum((unsigned char)*p) ? "%c" : "%%%02X",
                       (unsigned char)*p);
    odb_buf_printf(&out, "\033\\%s\033]8;;\033\\\0338", text);
    ui_terminal_send(terminal, odb_buf_text(&out), out.len);
    odb_buf_dispose(&out);
}

void ui_terminal_ask_background(struct ui_terminal *terminal)
{
    static const char question[] = "\033]11;?\033\\";
    const char *colors = getenv("COLORFGBG"), *last = colors ? strrchr(colors, ';') : NULL;
    if (last) { /* the number of a colour: 7 and those from 9 on are light */
        long number = strtol(last + 1, NULL, 10);
        terminal->background = number == 7 || number > 8 ? UI_BACKGROUND_LIGHT : UI_BACKGROUND_DARK;
        return;
    }
    if (!strcmp(getenv("TERM"), "linux")) { /* a console's colours are those of a VGA card */
        terminal->background = UI_BACKGROUND_DARK;
        return;
    }
    if (getenv("STY") || !ui_terminal_send(terminal, question, sizeof question - 1))
        return; /* screen would show it */
    ui_terminal_expect_background(terminal);
}
