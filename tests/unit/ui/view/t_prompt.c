/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The whole way of a key: typed into a pseudo terminal, read by terminal.c, edited by readline.
 */
#include "tests/help/terminal_help.h"

#include <locale.h>

#include <readline/readline.h>

#include "command/call/console.h"
#include "model/read/load.h"
#include "session/session_state.h"
#include "tests/help/models.h"
#include "ui/terminal/draw.h"
#include "ui/view/prompt.h"

enum { PROMPT_ROWS = 12, PROMPT_COLS = 40, PROMPT_ALT = 033 };

struct prompt_at {
    struct pty pty;
    struct odb_session session;
    struct odb_console console;
    struct ui_prompt *prompt;
    enum ui_prompt_answer answer;
    char *folder;
};

static struct odb_model *prompt_model(void)
{
    struct odb_builder *b = odb_build_new("tiny", 17);
    char name[40], from[40] = "x", to[40];
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){3});
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "/enc/layer.%d/attn", i);
        snprintf(to, sizeof to, "out%d", i);
        odb_build_node(b, "Relu", name, from, to);
        memcpy(from, to, sizeof to);
    }
    odb_build_node(b, "Relu", "with blank", from, "y");
    odb_build_output(b, "y");
    return models_take(b);
}

/* With mistakes in it, which must not be told on the screen; readline reads it once. */
static void prompt_write_inputrc(struct prompt_at *at)
{
    char *path = odb_xasprintf("%s/inputrc", at->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("$nonsense\nset no-such-variable on\n\"\\C-t: x\nset bell-style audible\n"
          "set blink-matching-paren on\n\"\\e[24~\": kill-whole-line\n"
          "$if onnxdbg\n\"\\C-t\": \"bisect \"\n$endif\n$endif\nset editing-mode vi\n",
          file);
    fclose(file);
    setenv("INPUTRC", path, 1);
    free(path);
}

static int prompt_setup(void **state)
{
    struct prompt_at *at = odb_new(struct prompt_at);
    at->folder = models_folder();
    at->session.model = prompt_model();
    at->console.session = &at->session;
    setenv("XDG_STATE_HOME", at->folder, 1);
    prompt_write_inputrc(at);
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    pty_open(&at->pty, "xterm-256color", PROMPT_ROWS, PROMPT_COLS,
             &(struct ui_terminal_options){0});
    int errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    ui_prompt_open(&at->prompt, at->pty.terminal, &at->console);
    dup2(errors, STDERR_FILENO);
    close(errors);
    assert_int_equal(pty_read(&at->pty), 0);
    *state = at;
    return 0;
}

static int prompt_teardown(void **state)
{
    struct prompt_at *at = *state;
    ui_prompt_close(at->prompt);
    pty_close(&at->pty);
    odb_model_free((struct odb_model *)at->session.model);
    models_remove(at->folder);
    free(at);
    return 0;
}

static void prompt_begin(struct prompt_at *at, const char *text)
{
    ui_prompt_begin(at->prompt, UI_PROMPT_COMMAND, ":", text);
    assert_true(ui_prompt_active(at->prompt));
    at->answer = UI_PROMPT_MORE;
}

/* Types and waits until all of it has come through. Bytes behind the end of the line are left. */
static void prompt_type(struct prompt_at *at, const char *bytes)
{
    struct ui_event event;
    int fds[2];
    pty_type(&at->pty, bytes);
    ui_terminal_fds(at->pty.terminal, fds);
    struct pollfd ready = {.fd = fds[0], .events = POLLIN};
    for (size_t seen = 0; seen < strlen(bytes) && at->answer == UI_PROMPT_MORE;) {
        if (!ui_terminal_read(at->pty.terminal, &event)) {
            if (poll(&ready, 1, 300) == 0 && !ui_terminal_read(at->pty.terminal, &event))
                return; /* marks of a paste are no bytes */
            continue;
        }
        if (event.what == UI_EVENT_BYTE) {
            at->answer = ui_prompt_byte(at->prompt, event.key);
            seen++;
        }
    }
}

static void prompt_is(struct prompt_at *at, const char *text)
{
    assert_string_equal(ui_prompt_text(at->prompt), text);
}

/* Keys into a fresh line, and what stands there afterwards. */
static void prompt_edits(struct prompt_at *at, const char *keys, const char *text)
{
    prompt_begin(at, "");
    prompt_type(at, keys);
    assert_int_equal(at->answer, UI_PROMPT_MORE);
    prompt_is(at, text);
    prompt_type(at, "\x03");
    assert_int_equal(at->answer, UI_PROMPT_CANCELLED);
    assert_false(ui_prompt_active(at->prompt));
    prompt_is(at, "");
}

/* A line that is given. */
static void prompt_gives(struct prompt_at *at, const char *keys, const char *text)
{
    prompt_begin(at, "");
    prompt_type(at, keys);
    assert_int_equal(at->answer, UI_PROMPT_DONE);
    assert_false(ui_prompt_active(at->prompt));
    prompt_is(at, text);
}

/* Draws the line into the last row: what it shows, and where the cursor is. */
static void prompt_shows(struct prompt_at *at, const char *text, int cursor)
{
    struct ui_area all = ui_area_all(at->pty.terminal);
    struct ui_area area = ui_area_part(&all, PROMPT_ROWS - 1, 0, 1, PROMPT_COLS);
    int col = ui_prompt_draw(at->prompt, &area);
    assert_string_equal(pty_row(PROMPT_ROWS - 1), text);
    assert_int_equal(col, cursor);
}

static void test_prompt__lines(void **state)
{
    struct prompt_at *at = *state;
    prompt_gives(at, "bisect --tol ulp:2\r", "bisect --tol ulp:2");
    prompt_gives(at, "\r", "");
    prompt_gives(at, "a\n", "a");
    prompt_gives(at,
                 "a\033"
                 "4\r",
                 "a"); /* behind a numeric argument */
    prompt_begin(at, "export ");
    prompt_is(at, "export ");
    prompt_type(at, "conv1\r");
    prompt_is(at, "export conv1");
    ui_prompt_begin(at->prompt, UI_PROMPT_SEARCH, "/", "x");
    ui_prompt_begin(at->prompt, UI_PROMPT_COMMAND, ":", "y"); /* instead */
    at->answer = UI_PROMPT_MORE;
    prompt_is(at, "y");
}

static void test_prompt__editing(void **state)
{
    struct prompt_at *at = *state;
    prompt_edits(at,
                 "ac\x02"
                 "b",
                 "abc"); /* C-b */
    prompt_edits(at,
                 "bc\x01"
                 "a\x05"
                 "d",
                 "abcd"); /* C-a C-e */
    prompt_edits(at,
                 "abx\x7f"
                 "c",
                 "abc");
    prompt_edits(at, "one two\x17", "one ");       /* C-w */
    prompt_edits(at, "one two\x15", "");           /* C-u */
    prompt_edits(at, "one\x15\x19\x19", "oneone"); /* C-y */
    prompt_edits(at, "ac\033[Db\033[Cd", "abcd");
    prompt_edits(at, "bcd\033[Ha\033[Fe", "abcde");
    prompt_edits(at, "bcd\033OHa\033OFe", "abcde");
    prompt_edits(at, "xabc\033[1~\033[3~\033[4~d", "abcd");
    prompt_edits(at, "one two\033[1;5D\033[1;5Dx", "xone two");
    prompt_edits(at, "one two\033bx", "one xtwo"); /* Alt-b */
}

static void test_prompt__unknown_sequences(void **state)
{
    struct prompt_at *at = *state;
    prompt_edits(at, "a\033[1;9Zb", "ab");
    prompt_edits(at, "a\033[99~b\033[[Ac\033OPd", "abcd");
    prompt_edits(at, "a\033[<0;1;1Mb", "ab");
    prompt_edits(at, "a\033[200~b\rc\td\033[201~e", "ab c de"); /* a paste */
}

static void test_prompt__characters(void **state)
{
    struct prompt_at *at = *state;
    prompt_edits(at, "n\xc3\xa4m\xe2\x82\xac\xf0\x9f\x98\x80",
                 "n\xc3\xa4m\xe2\x82\xac\xf0\x9f\x98\x80");
    prompt_edits(at,
                 "\xc3\xa4\xe2\x82\xac\x7f"
                 "b",
                 "\xc3\xa4"
                 "b");
    prompt_edits(at, "\xc3\xa4\xe2\x82\xac\x02\x02x", "x\xc3\xa4\xe2\x82\xac");
    prompt_edits(at, "e\xcc\x81\x02x", "xe\xcc\x81"); /* a combining one goes with its letter */
    prompt_edits(at,
                 "\xe4"
                 "bc",
                 "\xe4"
                 "bc"); /* not UTF-8 */
}

static void test_prompt__cancel(void **state)
{
    struct prompt_at *at = *state;
    static const char *const keys[] = {"abc\033",   "abc\x03", "abc\x07", "\033",     "\x03",
                                       "a\x7f\x7f", "\x08",    "\x04",    "a\x18\033"};
    for (size_t i = 0; i < ODB_COUNT(keys); i++) {
        prompt_begin(at, "");
        prompt_type(at, keys[i]);
        assert_int_equal(at->answer, UI_PROMPT_CANCELLED);
        assert_false(ui_prompt_active(at->prompt));
    }
    prompt_gives(at, "still well\r", "still well");
    assert_int_equal(ui_prompt_byte(at->prompt, 'x'), UI_PROMPT_CANCELLED);
}

static void test_prompt__history(void **state)
{
    struct prompt_at *at = *state;
    prompt_gives(at, "export one\r", "export one");
    prompt_gives(at, "node two\r", "node two");
    prompt_gives(at, "export three\r", "export three");
    prompt_gives(at, "\033[A\033[A\r", "node two");
    prompt_edits(at, "\033[A\033[A\033[A\033[B", "export three");
    prompt_edits(at, "ex\033[A\033[A", "export one"); /* only what begins so */
    prompt_edits(at, "no\033[A\033[A\033[A", "node two");
    prompt_edits(at, "zzz\033[A", "zzz");
    prompt_edits(at, "mine\x10\x0e", "mine"); /* C-p C-n: back to what was typed */
    prompt_edits(at, "\x10", "node two");     /* what was changed and not given is as it was */
}

static void test_prompt__histories_are_apart(void **state)
{
    struct prompt_at *at = *state;
    prompt_gives(at, "a command\r", "a command");
    ui_prompt_begin(at->prompt, UI_PROMPT_SEARCH, "/", "");
    at->answer = UI_PROMPT_MORE;
    prompt_type(at, "\033[A");
    prompt_is(at, "");
    prompt_type(at, "sought\t\r");
    prompt_is(at, "sought");
    prompt_edits(at, "\033[A", "a command");
    ui_prompt_close(at->prompt);
    ui_prompt_open(&at->prompt, at->pty.terminal, &at->console);
    prompt_edits(at, "\033[A", "a command");
    ui_prompt_begin(at->prompt, UI_PROMPT_SEARCH, "/", "");
    at->answer = UI_PROMPT_MORE;
    prompt_type(at, "\033[A");
    prompt_is(at, "sought");
}

static void test_prompt__search_backwards(void **state)
{
    struct prompt_at *at = *state;
    prompt_gives(at, "export one\r", "export one");
    prompt_gives(at, "node two\r", "node two");
    prompt_begin(at, "");
    prompt_type(at, "abc\x12por");
    prompt_shows(at, "(reverse-i-search)`por':export one", 26);
    prompt_type(at, "\033"); /* out of the search only */
    assert_int_equal(at->answer, UI_PROMPT_MORE);
    prompt_is(at, "abc");
    prompt_shows(at, ":abc", 4);
    prompt_type(at, "\x12tw\r");
    assert_int_equal(at->answer, UI_PROMPT_DONE);
    prompt_is(at, "node two");
    prompt_edits(at, "\x12one\033[D\033[Dx", "exporxt one");
    prompt_begin(at, "");
    prompt_type(at, "\x12one\x03"); /* out of everything */
    assert_int_equal(at->answer, UI_PROMPT_CANCELLED);
    prompt_gives(at, "well\r", "well");
}

static void test_prompt__completion(void **state)
{
    struct prompt_at *at = *state;
    prompt_edits(at, "bise\t", "bisect ");
    prompt_edits(at, "bise\t--targ\tcpu:nois\t", "bisect --target cpu:noisy ");
    prompt_edits(at, "goto with\t", "goto 'with blank' ");
    prompt_edits(at, "goto 'with\t", "goto 'with blank' ");
    prompt_edits(at, "goto layer.11\t", "goto /enc/layer.11/attn ");
    prompt_edits(at, "goto /en\t", "goto /enc/layer.");
    prompt_edits(at, "goto ATTN\t", "goto ATTN"); /* several, and none begins so */
    prompt_edits(at, "zzz\t", "zzz");
    prompt_edits(at, "\t", "");
    prompt_edits(at, "goto out0\x01\x06\x06\x06\x06\x06\t", "goto out0");
    prompt_edits(at, "bis x\x02\x02\t", "bisect x"); /* the blank is there already */
}

static void test_prompt__popup(void **state)
{
    struct prompt_at *at = *state;
    struct ui_area all = ui_area_all(at->pty.terminal);
    prompt_begin(at, "");
    assert_int_equal(ui_prompt_popup_rows(at->prompt), 0);
    prompt_type(at, "goto /enc\t");
    prompt_is(at, "goto /enc/layer.");
    assert_int_equal(ui_prompt_popup_rows(at->prompt), 5);
    struct ui_area area = ui_area_part(&all, 0, 0, 5, PROMPT_COLS);
    ui_prompt_draw_popup(at->prompt, &area);
    assert_string_equal(pty_row(0), "layer.0/attn   layer.4/attn");
    assert_string_equal(pty_row(3), "layer.3/attn   layer.7/attn");
    assert_string_equal(pty_row(4), "1-8 of 12; Tab shows more");
    prompt_type(at, "\t");
    ui_prompt_draw_popup(at->prompt, &area);
    assert_string_equal(pty_row(0), "layer.8/attn");
    assert_string_equal(pty_row(4), "9-12 of 12; Tab shows more");
    prompt_type(at, "\t");
    ui_prompt_draw_popup(at->prompt, &area);
    assert_string_equal(pty_row(0), "layer.0/attn   layer.4/attn");
    prompt_type(at, "3");
    assert_int_equal(ui_prompt_popup_rows(at->prompt), 0);
    prompt_type(at, "\t");
    prompt_is(at, "goto /enc/layer.3/attn ");
    assert_int_equal(ui_prompt_popup_rows(at->prompt), 0);
    prompt_type(at, "\x15view \t");
    assert_true(ui_prompt_popup_rows(at->prompt) > 0);
    prompt_type(at, "\033");
    assert_int_equal(at->answer, UI_PROMPT_CANCELLED);
    assert_int_equal(ui_prompt_popup_rows(at->prompt), 0);
}

static void test_prompt__drawing(void **state)
{
    struct prompt_at *at = *state;
    prompt_begin(at, "");
    prompt_shows(at, ":", 1);
    prompt_type(at, "n\xc3\xa4me \xe6\xbc\xa2\xe5\xad\x97 e\xcc\x81");
    prompt_shows(at, ":n\xc3\xa4me \xe6\xbc\xa2\xe5\xad\x97 e\xcc\x81", 12);
    prompt_type(at, "\x02\x02\x02");
    prompt_shows(at, ":n\xc3\xa4me \xe6\xbc\xa2\xe5\xad\x97 e\xcc\x81", 8);
    prompt_type(at, "\x01");
    prompt_shows(at, ":n\xc3\xa4me \xe6\xbc\xa2\xe5\xad\x97 e\xcc\x81", 1);
    prompt_type(at, "\x15\x0b\xe4"
                    "b");
    prompt_shows(at, ":\\xe4b", 6);
}

static void test_prompt__scrolling(void **state)
{
    struct prompt_at *at = *state;
    prompt_begin(at, "");
    prompt_type(at, "012345678901234567890123456789012345678");
    prompt_shows(at,
                 ":\xe2\x80\xa6"
                 "0123456789012345678",
                 21);
    prompt_type(at, "abc");
    prompt_shows(at,
                 ":\xe2\x80\xa6"
                 "0123456789012345678abc",
                 24);
    prompt_type(at, "\x01");
    prompt_shows(at, ":01234567890123456789012345678901234567\xe2\x80\xa6", 1);
    prompt_type(at, "\x05\x7f\x7f\x7f\x7f");
    prompt_shows(at, ":01234567890123456789012345678901234567", 39);
}

/* The inputrc counts, but it cannot make readline write or wait. */
static void test_prompt__inputrc(void **state)
{
    struct prompt_at *at = *state;
    prompt_edits(at, "\x14x", "bisect x");
    prompt_edits(at, "abc\033[24~d", "d");
    prompt_begin(at, "");
    assert_string_equal(rl_variable_value("bell-style"), "none");
    prompt_type(at, "(a)\033[1;2C\x07");
    assert_int_equal(at->answer, UI_PROMPT_CANCELLED);
    assert_int_equal(pty_read(&at->pty), 0); /* not a byte, but for what terminal.c sends */
}

/* With vi's keys Esc would not cancel. */
static void test_prompt__no_vi(void **state)
{
    struct prompt_at *at = *state;
    rl_variable_bind("editing-mode", "vi");
    prompt_edits(at, "abc\x01x", "xabc");
    prompt_edits(at, "abc\033\x0a\x01x", "xabc"); /* M-C-j */
    rl_variable_bind("editing-mode", "vi");
    prompt_begin(at, "");
    prompt_type(at, "abc\033");
    assert_int_equal(at->answer, UI_PROMPT_CANCELLED);
}

static void test_prompt__undo(void **state)
{
    struct prompt_at *at = *state;
    prompt_edits(at, "abc\x1f", "");
    prompt_edits(at, "abc\x1f\x1f", "");
    prompt_edits(at, "one two\x17\x1f", "one two");
    prompt_edits(at, "one two\x17three\x1f", "one ");
    prompt_edits(at, "one two\x17three\x18\x15\x18\x15", "one two"); /* C-x C-u */
    prompt_edits(at, "one two\x17three\033r", "");                   /* Alt-r */
    prompt_gives(at, "a line\r", "a line");
    prompt_edits(at, "x\x10\x1f", "x");
    prompt_edits(at, "bise\t\x1f", "bise");
}

/* A byte, or Alt with it: the rest of what is typed waits in the terminal, so Esc is not alone. */
static void prompt_noise(struct prompt_at *at)
{
    static const char *const likely[] = {"a",
                                         "bise\t",
                                         "\t",
                                         "\x12",
                                         "\x13",
                                         "\x10",
                                         "\x0e",
                                         "\x15",
                                         "\x19",
                                         "\x18",
                                         "\x16",
                                         "\x1d",
                                         "\xc3",
                                         "'",
                                         "\x18(",
                                         "\x18)",
                                         "\x18"
                                         "e",
                                         "\r",
                                         "\033[A",
                                         "\033[B",
                                         "\033[D",
                                         "\0334",
                                         "\033-",
                                         "\033\x1d",
                                         "\033p",
                                         "\033n",
                                         "\033y",
                                         "\033u",
                                         "\033[9~",
                                         "\033~",
                                         "\xf0\x9f\x98\x80"};
    char any[3] = "\033";
    const char *keys = any + (random() % 4 != 0);
    if (random() % 3)
        keys = likely[(size_t)random() % ODB_COUNT(likely)];
    else
        any[1] = (char)(1 + random() % 255);
    if (keys[0] != PROMPT_ALT || keys[1]) {
        for (; *keys && ui_prompt_active(at->prompt); keys++) {
            if (keys[0] == PROMPT_ALT) /* so that it is not alone */
                pty_type(&at->pty, ".");
            ui_prompt_byte(at->prompt, (unsigned char)*keys);
        }
    }
}

/* Any keys at all: nothing hangs or crashes, whatever state they find. */
static void test_prompt__noise(void **state)
{
    struct prompt_at *at = *state;
    struct ui_event event;
    srandom(7);
    for (int round = 0; round < 600; round++) {
        ui_prompt_begin(at->prompt, round % 2, ":", "");
        for (int i = 0; i < 60 && ui_prompt_active(at->prompt); i++)
            prompt_noise(at);
        while (ui_terminal_read(at->pty.terminal, &event))
            continue;
        struct ui_area all = ui_area_all(at->pty.terminal);
        if (ui_prompt_active(at->prompt))
            ui_prompt_draw(at->prompt, &all);
        ui_prompt_draw_popup(at->prompt, &all);
    }
    prompt_gives(at, "still well\r", "still well");
}

/* readline loses some bytes of its own when it is left in the midst of a command. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libreadline";
}

#define PROMPT_TEST(name) cmocka_unit_test_setup_teardown(name, prompt_setup, prompt_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROMPT_TEST(test_prompt__lines),
        PROMPT_TEST(test_prompt__editing),
        PROMPT_TEST(test_prompt__unknown_sequences),
        PROMPT_TEST(test_prompt__characters),
        PROMPT_TEST(test_prompt__cancel),
        PROMPT_TEST(test_prompt__history),
        PROMPT_TEST(test_prompt__histories_are_apart),
        PROMPT_TEST(test_prompt__search_backwards),
        PROMPT_TEST(test_prompt__completion),
        PROMPT_TEST(test_prompt__popup),
        PROMPT_TEST(test_prompt__drawing),
        PROMPT_TEST(test_prompt__scrolling),
        PROMPT_TEST(test_prompt__inputrc),
        PROMPT_TEST(test_prompt__no_vi),
        PROMPT_TEST(test_prompt__undo),
        PROMPT_TEST(test_prompt__noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
