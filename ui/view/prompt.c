/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * readline behind glass: it gets its bytes from ui_prompt_byte(), draws nothing, touches neither
 * the terminal nor signals, and what it knows (line, cursor, prompt of a search) is drawn from its
 * variables. The user's inputrc counts, under the name "onnxdbg", as far as it does not make
 * readline write or wait.
 *
 * readline must never wait for a byte, so it gets keys whole: escape sequences and characters of
 * several bytes are gathered here first. A sequence that is bound to nothing goes no further;
 * readline would insert its tail.
 *
 * Esc goes one step back: out of a search through the history, else out of the line. It can be so
 * with the keys of Emacs only, so there are no others: with vi's, Esc would be a key like any.
 */
#include "ui/view/prompt.h"

#include <fcntl.h>
#include <limits.h>
#include <readline/history.h>
#include <readline/readline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "command/call/console.h"
#include "command/console/complete.h"
#include "command/console/filter.h"
#include "session/session.h"
#include "ui/terminal/draw.h"
#include "ui/terminal/terminal.h"
#include "ui/view/history.h"

#define CTRL_KEY(c) ((c)&0x1f)
#define PROMPT_ESC 033

struct ui_prompt {
    struct ui_terminal *terminal;      /* borrowed */
    const struct odb_console *console; /* borrowed */
    struct ui_history histories[UI_PROMPT_KIND_COUNT];
    FILE *nowhere; /* owned: what readline reads and writes */

    bool active;
    enum ui_prompt_kind kind;
    enum ui_prompt_answer answer;
    char *label, *text; /* owned; text: the line that is done */

    unsigned char key[16]; /* the one being gathered */
    size_t n_key;
    ODB_VEC(char *) undo;       /* owned: the line as it was, newest last */
    bool typed;                 /* the newest is there because of a character that was typed */
    const unsigned char *bytes; /* borrowed: what readline has not taken yet */
    size_t n_bytes;

    struct odb_completion found; /* what the last Tab found */
    bool popup;                  /* it is shown */
    int page;                    /* which part of it */
};

/* readline's callbacks are given nothing that could lead to the prompt they are for. */
static struct ui_prompt *prompt_current;

/* --- what readline calls ---------------------------------------------------------------------- */

static int prompt_getc(FILE *file)
{
    struct ui_prompt *prompt = prompt_current;
    if (!prompt->n_bytes)
        return EOF;
    prompt->n_bytes--;
    return *prompt->bytes++;
}

static int prompt_input_available(void)
{
    return prompt_current->n_bytes > 0;
}

/* The caller that gives bytes draws afterwards anyway. */
static void prompt_redisplay(void)
{
}

static void prompt_prepare_terminal(int meta)
{
}

static void prompt_restore_terminal(void)
{
}

static void prompt_line(char *line)
{
    struct ui_prompt *prompt = prompt_current;
    prompt->answer = line ? UI_PROMPT_DONE : UI_PROMPT_CANCELLED;
    free(prompt->text);
    prompt->text = odb_xstrdup(line ? line : "");
    free(line); /* readline's malloc is everybody's */
    rl_callback_handler_remove();
}

static char *prompt_match(const char *line, size_t from, const char *word)
{
    return odb_xasprintf("%.*s%s", (int)from, line, word);
}

/* To readline the whole line up to the cursor is one word: where words begin, and how they are
 * quoted, is known to odb_complete() alone. */
static char **prompt_complete(const char *text, int start, int end)
{
    struct ui_prompt *prompt = prompt_current;
    struct odb_completion *found = &prompt->found;
    rl_attempted_completion_over = 1;
    rl_sort_completion_matches = rl_ignore_completion_duplicates = 0;
    rl_filename_completion_desired = 0;
    rl_completion_suppress_quote = 1;
    odb_completion_dispose(found);
    if (prompt->kind == UI_PROMPT_SEARCH || start != 0)
        return NULL;
    if (prompt->kind == UI_PROMPT_FILTER)
        odb_filter_complete(found, odb_session_model(prompt->console->session)->graph, text,
                            strlen(text));
    else
        odb_complete(found, prompt->console, text, strlen(text));
    if (!found->words.n)
        return NULL;
    rl_completion_append_character = found->partial ? '\0' : ' ';
    size_t n = found->words.n > 1 ? found->words.n + 1 : 1;
    char **matches = odb_new_n(char *, n + 1);
    matches[0] = found->common ? prompt_match(text, found->from, found->common) : odb_xstrdup(text);
    for (size_t i = 1; i < n; i++)
        matches[i] = prompt_match(text, found->from, found->words.items[i - 1]);
    return matches;
}

static void prompt_show_matches(char **matches, int n, int longest)
{
    prompt_current->popup = true;
    prompt_current->page = 0;
}

/* --- undoing ---------------------------------------------------------------------------------- */

/* readline 8.2 hangs its lists of what can be undone on the line and on lines of the history, the
 * same list on several of them, and frees it with each. So it gets no chance to have such a list
 * longer than a key, and what can be undone is kept here. */

static void prompt_forget_undo(struct ui_prompt *prompt)
{
    for (size_t i = 0; i < prompt->undo.n; i++)
        free(prompt->undo.items[i]);
    prompt->undo.n = 0;
    prompt->typed = false;
}

/* A key has made this line another one. Characters in a row are undone together. */
static void prompt_note_undo_take(struct ui_prompt *prompt, char *before, bool typed)
{
    if (!strcmp(before, rl_line_buffer) || (typed && prompt->typed)) {
        free(before);
    } else {
        odb_push(&prompt->undo, before);
        prompt->typed = typed;
    }
}

static int prompt_undo(int count, int key)
{
    struct ui_prompt *prompt = prompt_current;
    for (; count > 0 && prompt->undo.n; count--) {
        char *line = prompt->undo.items[--prompt->undo.n];
        rl_replace_line(line, 1);
        rl_point = rl_end;
        free(line);
    }
    return 0;
}

static int prompt_undo_all(int count, int key)
{
    return prompt_undo(INT_MAX, key);
}

/* --- set up ----------------------------------------------------------------------------------- */

/* Keys of every terminal, unless the inputrc says otherwise. */
static const struct prompt_key {
    const char *sequence;
    rl_command_func_t *function;
} prompt_keys[] = {
    {"\033[A", rl_history_search_backward},
    {"\033OA", rl_history_search_backward},
    {"\033[B", rl_history_search_forward},
    {"\033OB", rl_history_search_forward},
    {"\033[C", rl_forward_char},
    {"\033OC", rl_forward_char},
    {"\033[D", rl_backward_char},
    {"\033OD", rl_backward_char},
    {"\033[H", rl_beg_of_line},
    {"\033OH", rl_beg_of_line},
    {"\033[F", rl_end_of_line},
    {"\033OF", rl_end_of_line},
    {"\033[1~", rl_beg_of_line},
    {"\033[7~", rl_beg_of_line},
    {"\033[4~", rl_end_of_line},
    {"\033[8~", rl_end_of_line},
    {"\033[3~", rl_delete},
    {"\033[1;5C", rl_forward_word},
    {"\033[1;5D", rl_backward_word},
    {"\033[1;3C", rl_forward_word},
    {"\033[1;3D", rl_backward_word},
};

/* What an inputrc must not change. readline would wait for the blink of a parenthesis, and ring the
 * bell on standard error. */
static void prompt_insist(void)
{
    rl_variable_bind("editing-mode", "emacs");
    rl_variable_bind("bell-style", "none");
    rl_variable_bind("blink-matching-paren", "off");
    rl_variable_bind("enable-bracketed-paste", "off");
}

static int prompt_nothing(int count, int key)
{
    return 0;
}

/* One function instead of another, for keys and for the names that an inputrc uses. */
static void prompt_replace(rl_command_func_t *old, rl_command_func_t *new)
{
    rl_initialize_funmap();
    for (size_t i = 0; funmap[i]; i++)
        if (funmap[i]->function == old)
            funmap[i]->function = new;
    char **keys = rl_invoking_keyseqs_in_map(old, emacs_standard_keymap);
    for (size_t i = 0; keys && keys[i]; i++) {
        rl_bind_keyseq_in_map(keys[i], new, emacs_standard_keymap);
        free(keys[i]);
    }
    free(keys);
}

/* What is wrong in an inputrc goes to standard error, which may be the screen. */
static void prompt_initialize(struct ui_prompt *prompt)
{
    int errors = prompt->nowhere ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0) : -1;
    if (errors >= 0)
        dup2(fileno(prompt->nowhere), STDERR_FILENO);
    rl_initialize();
    if (errors >= 0) {
        dup2(errors, STDERR_FILENO);
        close(errors);
    }
}

static void prompt_setup(struct ui_prompt *prompt)
{
    rl_readline_name = "onnxdbg";
    rl_instream = rl_outstream = prompt->nowhere;
    rl_catch_signals = rl_catch_sigwinch = rl_change_environment = 0;
    rl_prep_term_function = prompt_prepare_terminal;
    rl_deprep_term_function = prompt_restore_terminal;
    rl_getc_function = prompt_getc;
    rl_input_available_hook = prompt_input_available;
    rl_redisplay_function = prompt_redisplay;
    rl_attempted_completion_function = prompt_complete;
    rl_completion_display_matches_hook = prompt_show_matches;
    rl_basic_word_break_characters = rl_completer_word_break_characters = "";
    rl_basic_quote_characters = rl_completer_quote_characters = "";
    rl_variable_bind("show-all-if-ambiguous", "on");
    for (size_t i = 0; i < ODB_COUNT(prompt_keys); i++) {
        const struct prompt_key *key = &prompt_keys[i];
        rl_bind_keyseq_in_map(key->sequence, key->function, emacs_standard_keymap);
    }
    prompt_replace(rl_undo_command, prompt_undo);
    prompt_replace(rl_revert_line, prompt_undo_all);
    prompt_replace(rl_vi_editing_mode, prompt_nothing);
    prompt_replace(rl_start_kbd_macro, prompt_nothing); /* 8.2 crashes when one is played back */
    prompt_replace(rl_end_kbd_macro, prompt_nothing);
    prompt_replace(rl_call_last_kbd_macro, prompt_nothing);
    prompt_replace(rl_re_read_init_file, prompt_nothing); /* it tells its errors */
    prompt_initialize(prompt);
}

void ui_prompt_open(struct ui_prompt **out, struct ui_terminal *terminal,
                    const struct odb_console *console)
{
    static const char *const names[] = {
        [UI_PROMPT_COMMAND] = "history",
        [UI_PROMPT_SEARCH] = "searches",
        [UI_PROMPT_FILTER] = "filters",
    };
    struct ui_prompt *prompt = odb_new(struct ui_prompt);
    prompt->terminal = terminal;
    prompt->console = console;
    prompt->text = odb_xstrdup("");
    prompt->nowhere = fopen("/dev/null", "r+e");
    for (int kind = 0; kind < UI_PROMPT_KIND_COUNT; kind++)
        ui_history_open(&prompt->histories[kind], names[kind]);
    prompt_current = prompt;
    prompt_setup(prompt);
    *out = prompt;
}

/* readline 8.2 leaves freed lines in its list, which a search would read. */
static void prompt_forget_lines(void)
{
    rl_clear_history();
    HIST_ENTRY **list = history_list();
    if (list)
        list[0] = NULL;
}

static bool prompt_is_searching(void)
{
    return RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH);
}

static void prompt_leave_search(struct ui_prompt *prompt)
{
    static const unsigned char abort_key = CTRL_KEY('G');
    prompt->bytes = &abort_key;
    prompt->n_bytes = 1;
    rl_callback_read_char();
}

/* Leaves a line that was not given, from wherever readline stands in it. */
static void prompt_abandon(struct ui_prompt *prompt)
{
    if (prompt_is_searching())
        prompt_leave_search(prompt);
    rl_callback_sigcleanup();
    rl_free_line_state();
    rl_callback_handler_remove();
}

static void prompt_end(struct ui_prompt *prompt)
{
    if (prompt->answer != UI_PROMPT_DONE)
        prompt_abandon(prompt);
    rl_free_undo_list();
    prompt_forget_lines();
    prompt_forget_undo(prompt);
    odb_completion_dispose(&prompt->found);
    prompt->n_bytes = prompt->n_key = 0;
    prompt->popup = prompt->active = false;
    ui_terminal_raw(prompt->terminal, false);
}

void ui_prompt_close(struct ui_prompt *prompt)
{
    if (!prompt)
        return;
    if (prompt->active)
        prompt_end(prompt);
    for (int kind = 0; kind < UI_PROMPT_KIND_COUNT; kind++)
        ui_history_close(&prompt->histories[kind]);
    rl_instream = rl_outstream = NULL;
    prompt_current = NULL;
    if (prompt->nowhere)
        fclose(prompt->nowhere);
    free(prompt->undo.items);
    free(prompt->label);
    free(prompt->text);
    free(prompt);
}

/* --- candidates ------------------------------------------------------------------------------- */

/* Rows, columns and their width that the candidates take; pages when they do not fit. */
struct prompt_grid {
    int rows, cols, width, pages;
    size_t skip; /* bytes of every word that need not be shown */
};

/* Bytes that all words begin with, up to the last separator: a list of paths shows their ends. */
static size_t prompt_skip(const struct odb_completion *found)
{
    const char *first = found->words.items[0];
    size_t same = strlen(first), skip = 0;
    for (size_t i = 1; i < found->words.n; i++) {
        size_t n = 0;
        while (n < same && found->words.items[i][n] == first[n])
            n++;
        same = n;
    }
    for (size_t i = 0; i + 1 < same; i++)
        if (strchr("/,=@", first[i]))
            skip = i + 1;
    return skip;
}

static struct prompt_grid prompt_grid(const struct ui_prompt *prompt, int cols)
{
    const struct odb_completion *found = &prompt->found;
    struct prompt_grid grid = {.skip = prompt_skip(found), .width = 1};
    for (size_t i = 0; i < found->words.n; i++)
        grid.width =
            ODB_MAX(grid.width, ui_text_width(prompt->terminal, found->words.items[i] + grid.skip));
    int most = ODB_MAX(prompt->terminal->rows / 3, 1), n = (int)found->words.n;
    grid.width = ODB_MIN(grid.width + 2, ODB_MAX(cols, 1));
    grid.cols = ODB_MAX(cols / grid.width, 1);
    grid.rows = ODB_MIN((n + grid.cols - 1) / grid.cols, most);
    grid.pages = (n + grid.rows * grid.cols - 1) / (grid.rows * grid.cols);
    return grid;
}

/* --- editing ---------------------------------------------------------------------------------- */

void ui_prompt_begin(struct ui_prompt *prompt, enum ui_prompt_kind kind, const char *label,
                     const char *text)
{
    if (prompt->active)
        prompt_end(prompt);
    const struct ui_history *history = &prompt->histories[kind];
    free(prompt->label);
    prompt->label = odb_xstrdup(label);
    prompt->kind = kind;
    prompt->answer = UI_PROMPT_MORE;
    prompt->active = true;
    prompt_insist();
    /* readline edits what it has, so it gets the lines anew every time. */
    stifle_history(UI_HISTORY_MOST);
    for (size_t i = 0; i < history->lines.n; i++)
        add_history(history->lines.items[i]);
    rl_callback_handler_install(prompt->label, prompt_line);
    rl_replace_line(text, 1);
    rl_point = rl_end;
    ui_terminal_raw(prompt->terminal, true);
}

bool ui_prompt_active(const struct ui_prompt *prompt)
{
    return prompt->active;
}

const char *ui_prompt_text(const struct ui_prompt *prompt)
{
    return prompt->active ? rl_line_buffer : prompt->text;
}

static void prompt_feed(struct ui_prompt *prompt, const void *bytes, size_t n)
{
    int first = *(const unsigned char *)bytes;
    bool typed = first >= ' ' && first != 0x7f, searching = prompt_is_searching();
    char *before = odb_xstrdup(rl_line_buffer);
    size_t n_undo = prompt->undo.n;
    prompt->bytes = bytes;
    prompt->n_bytes = n;
    while (prompt->n_bytes && prompt->answer == UI_PROMPT_MORE)
        rl_callback_read_char();
    prompt->n_bytes = 0;
    rl_free_undo_list();
    if (prompt->answer == UI_PROMPT_MORE && rl_done) /* Enter behind a numeric argument */
        prompt_line(odb_xstrdup(rl_line_buffer));
    if (prompt->answer != UI_PROMPT_MORE || prompt->undo.n < n_undo || searching)
        free(before);
    else
        prompt_note_undo_take(prompt, before, typed);
}

static void prompt_cancel(struct ui_prompt *prompt)
{
    free(prompt->text);
    prompt->text = odb_xstrdup("");
    prompt->answer = UI_PROMPT_CANCELLED;
}

/* Esc, alone. */
static void prompt_step_back(struct ui_prompt *prompt)
{
    if (prompt_is_searching())
        prompt_leave_search(prompt);
    else
        prompt_cancel(prompt);
}

/* Bytes of the key that begins so, as far as is known; more than n: not all of them are there.
 */
static size_t prompt_key_length(const unsigned char *key, size_t n)
{
    size_t at = key[0] == PROMPT_ESC; /* Alt with a character */
    if (n <= at)
        return n + 1;
    unsigned char c = key[at], last = key[n - 1];
    if (at && c == '[' && n > 2 && key[2] == '[') /* F1 of the console */
        return 4;
    if (at && c == '[')
        return n > 2 && last >= '@' && last <= '~' ? n : n + 1;
    if (at && c == 'O')
        return 3;
    return at + (c < 0xc2 || c > 0xf4 ? 1 : odb_utf8_length(c));
}

/* readline 8.2 does not survive a key without a meaning that ends a search or a numeric argument:
 * it is read by a call within the call that has to be left. */
static bool prompt_is_deadly(const unsigned char *key, size_t n)
{
    int type = ISFUNC, c = key[0];
    bool searching = RL_ISSTATE(RL_STATE_ISEARCH);
    if (!searching && !RL_ISSTATE(RL_STATE_NUMERICARG))
        return false;
    if (searching && (c == CTRL_KEY('G') || (c >= ' ' && c != 0x7f)))
        return false; /* they do not end it so */
    rl_command_func_t *does =
        rl_function_of_keyseq_len((const char *)key, c < 0x80 ? n : 1, NULL, &type);
    return !does || type != ISFUNC || does == rl_abort;
}

static void prompt_sequence(struct ui_prompt *prompt, const unsigned char *key, size_t n)
{
    int type;
    if (rl_function_of_keyseq_len((const char *)key, n, NULL, &type))
        prompt_feed(prompt, key, n);
}

static void prompt_key(struct ui_prompt *prompt, const unsigned char *key, size_t n)
{
    int c = key[0];
    bool searching = prompt_is_searching(), empty = rl_end == 0 && !searching;
    prompt->popup = false;
    if (c == CTRL_KEY('C') || (c == CTRL_KEY('G') && !searching) ||
        (empty && (c == 0x7f || c == CTRL_KEY('H') || c == CTRL_KEY('D'))))
        prompt_cancel(prompt);
    else if (prompt_is_deadly(key, n))
        return;
    else if (c == PROMPT_ESC)
        prompt_sequence(prompt, key, n);
    else
        prompt_feed(prompt, key, n);
}

/* Bytes that are no characters; readline would wait for the rest of them. */
static void prompt_broken(struct ui_prompt *prompt, const unsigned char *bytes, size_t n)
{
    char *text = odb_xstrndup((const char *)bytes, n), *before = odb_xstrdup(rl_line_buffer);
    if (bytes[0] != PROMPT_ESC && !prompt_is_searching())
        rl_insert_text(text);
    rl_free_undo_list();
    prompt_note_undo_take(prompt, before, true);
    free(text);
}

static bool prompt_is_broken(const unsigned char *key, size_t n)
{
    uint32_t point;
    return key[0] != PROMPT_ESC && odb_utf8_read((const char *)key, n, &point) != n;
}

static void prompt_gather(struct ui_prompt *prompt, unsigned char byte)
{
    if (prompt->n_key && prompt->key[0] >= 0x80 && !odb_utf8_inside((char)byte)) {
        prompt_broken(prompt, prompt->key, prompt->n_key);
        prompt->n_key = 0;
    }
    prompt->key[prompt->n_key++] = byte;
    size_t n = prompt->n_key;
    if (prompt_key_length(prompt->key, n) > n && n < sizeof prompt->key)
        return;
    prompt->n_key = 0;
    if (prompt_is_broken(prompt->key, n))
        prompt_broken(prompt, prompt->key, n);
    else if (n < sizeof prompt->key) /* no key is as long as that */
        prompt_key(prompt, prompt->key, n);
}

enum ui_prompt_answer ui_prompt_byte(struct ui_prompt *prompt, int byte)
{
    if (!prompt->active)
        return UI_PROMPT_CANCELLED;
    int pages = prompt->popup && byte == '\t' && !prompt->n_key
                    ? prompt_grid(prompt, prompt->terminal->cols).pages
                    : 1;
    if (pages > 1) {
        prompt->page = (prompt->page + 1) % pages;
    } else if (byte == PROMPT_ESC && ((prompt->n_key && prompt->key[0] == PROMPT_ESC) ||
                                      !ui_terminal_more(prompt->terminal))) {
        prompt->n_key = 0;
        prompt->popup = false;
        prompt_step_back(prompt);
    } else {
        prompt_gather(prompt, (unsigned char)byte);
    }
    if (prompt->answer == UI_PROMPT_MORE)
        return UI_PROMPT_MORE;
    if (prompt->answer == UI_PROMPT_DONE)
        ui_history_add(&prompt->histories[prompt->kind], prompt->text);
    prompt_end(prompt);
    return prompt->answer;
}

/* --- drawing ---------------------------------------------------------------------------------- */

int ui_prompt_draw(const struct ui_prompt *prompt, const struct ui_area *area)
{
    const char *label = rl_display_prompt ? rl_display_prompt : prompt->label;
    char *before = odb_xstrndup(rl_line_buffer, (size_t)rl_point);
    int cursor = ui_text_width(prompt->terminal, before);
    int all = ui_text_width(prompt->terminal, rl_line_buffer), from = 0;
    free(before);
    ui_draw_fill(area, UI_STYLE_NORMAL);
    struct ui_area left = ui_area_part(area, 0, 0, 1, ODB_MAX(area->cols / 2, area->cols - 16));
    int col = ui_draw_text(&left, 0, 0, UI_STYLE_LABEL, label);
    struct ui_area line = ui_area_part(area, 0, col, 1, area->cols - col);
    if (all >= line.cols && cursor >= line.cols - 1) {
        /* By halves of what can be seen, so that the line stands still while one types. */
        int step = ODB_MAX(line.cols / 2, 1);
        from = ((cursor - line.cols + 1) / step + 1) * step;
    }
    ui_draw_text(&line, 0, -from, UI_STYLE_NORMAL, rl_line_buffer);
    if (from > 0)
        ui_draw_glyph(&line, 0, 0, UI_STYLE_DIM, UI_GLYPH_ELLIPSIS);
    if (all - from > line.cols)
        ui_draw_glyph(&line, 0, line.cols - 1, UI_STYLE_DIM, UI_GLYPH_ELLIPSIS);
    return ODB_MAX(ODB_MIN(col + cursor - from, area->cols - 1), 0);
}

int ui_prompt_popup_rows(const struct ui_prompt *prompt)
{
    if (!prompt->active || !prompt->popup || !prompt->found.words.n)
        return 0;
    struct prompt_grid grid = prompt_grid(prompt, prompt->terminal->cols);
    return grid.rows + (grid.pages > 1);
}

void ui_prompt_draw_popup(const struct ui_prompt *prompt, const struct ui_area *area)
{
    if (!ui_prompt_popup_rows(prompt))
        return;
    struct prompt_grid grid = prompt_grid(prompt, prompt->terminal->cols);
    int n = (int)prompt->found.words.n, page = ODB_MIN(prompt->page, grid.pages - 1);
    int first = page * grid.rows * grid.cols, end = ODB_MIN(n, first + grid.rows * grid.cols);
    ui_draw_fill(area, UI_STYLE_NORMAL);
    for (int i = first; i < end; i++) {
        int row = (i - first) % grid.rows, col = (i - first) / grid.rows;
        ui_draw_field(area, row, col * grid.width, grid.width - 2, UI_CUT_MIDDLE, UI_STYLE_NAME,
                      prompt->found.words.items[i] + grid.skip);
    }
    if (grid.pages > 1)
        ui_draw_printf(area, grid.rows, 0, UI_STYLE_DIM, "%d-%d of %d; Tab shows more", first + 1,
                       end, n);
}
