/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Most cases run a child on a terminal of its own, as its session's leader, and play the terminal.
 */
#include "tests/help/terminal_help.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <utmp.h>

#include "base/mem.h"
#include "ui/terminal/draw.h"

static const struct ui_terminal_options terminal_options = {.mouse = true};

/* --- in this process ------------------------------------------------------------------------ */

static void test_terminal__needs_a_terminal(void **state)
{
    struct ui_terminal *terminal;
    struct odb_error err = ODB_ERROR_INIT;
    int null = open("/dev/null", O_RDWR), in = dup(STDIN_FILENO);
    dup2(null, STDIN_FILENO);
    enum odb_status status = ui_terminal_open(&terminal, &terminal_options, &err);
    dup2(in, STDIN_FILENO);
    close(in);
    close(null);
    assert_int_equal(status, ODB_E_USAGE);
    assert_non_null(strstr(err.what, "needs a terminal"));
    assert_true(err.remedy[0]);
}

static void terminal_expect_refused(const char *term, const char *what)
{
    struct pty pty;
    struct odb_error err = ODB_ERROR_INIT;
    pty_begin(&pty, term, 24, 80);
    enum odb_status status = ui_terminal_open(&pty.terminal, &terminal_options, &err);
    pty_close(&pty);
    assert_int_equal(status, ODB_E_USAGE);
    assert_non_null(strstr(err.what, what));
    assert_true(err.remedy[0]);
    assert_int_equal(pty.n_sent, 0);
}

static void test_terminal__needs_a_type(void **state)
{
    terminal_expect_refused("no-such-terminal", "unknown");
    terminal_expect_refused("", "unknown");
    terminal_expect_refused("dumb", "cannot move the cursor");
}

static void terminal_expect_copied(const char *term, const char *text, const char *sent)
{
    struct pty pty;
    pty_open(&pty, term, 24, 80, &terminal_options);
    bool copied = ui_terminal_copy(pty.terminal, text);
    pty_read(&pty);
    char *got = odb_xstrdup(pty.sent);
    pty_close(&pty);
    assert_int_equal(copied, sent != NULL);
    assert_string_equal(got, sent ? sent : "");
    free(got);
}

static void test_terminal__clipboard(void **state)
{
    unsetenv("TMUX");
    unsetenv("STY");
    terminal_expect_copied("xterm-256color", "a", "\033]52;c;YQ==\a");
    terminal_expect_copied("xterm-256color", "ab", "\033]52;c;YWI=\a");
    terminal_expect_copied("xterm-256color", "abc", "\033]52;c;YWJj\a");
    terminal_expect_copied("xterm-256color", "\xc3\xa4\xff", "\033]52;c;w6T/\a");
    setenv("TMUX", "x", 1);
    terminal_expect_copied("xterm-256color", "a",
                           "\033]52;c;YQ==\a\033Ptmux;\033\033]52;c;YQ==\a\033\\");
    unsetenv("TMUX");
    setenv("STY", "x", 1);
    terminal_expect_copied("xterm-256color", "a", "\033]52;c;YQ==\a\033P\033]52;c;YQ==\a\033\\");
    unsetenv("STY");
    terminal_expect_copied("vt100", "a", NULL);
    char *much = odb_xcalloc(100001, 1);
    memset(much, 'x', 100000);
    terminal_expect_copied("xterm-256color", much, NULL);
    free(much);
}

static void test_terminal__links(void **state)
{
    struct pty pty;
    setenv("VTE_VERSION", "6000", 1);
    pty_open(&pty, "xterm-256color", 24, 80, &terminal_options);
    ui_terminal_link(pty.terminal, 22, 4, "r p", "/a/r p\033");
    pty_read(&pty);
    char *got = odb_xstrdup(pty.sent);
    unsetenv("VTE_VERSION");
    ui_terminal_link(pty.terminal, 22, 4, "r p", "/a/r p");
    size_t quiet = pty_read(&pty);
    pty_close(&pty);
    assert_non_null(strstr(got, "\033[23;5H"));
    assert_non_null(strstr(got, "/a/r%20p%1B\033\\r p\033]8;;\033\\"));
    assert_int_equal(quiet, 0);
    free(got);
}

static void test_terminal__sizes(void **state)
{
    static const struct {
        int rows, cols, now_rows, now_cols;
    } sizes[] = {{1, 1, 1, 1},     {3, 2, 3, 2},     {0, 0, 3, 2},    {500, 400, 500, 400},
                 {2, 300, 2, 300}, {300, 2, 300, 2}, {24, 80, 24, 80}};
    struct pty pty;
    struct ui_event event;
    pty_open(&pty, "xterm-256color", 24, 80, &terminal_options);
    for (size_t i = 0; i < ODB_COUNT(sizes); i++) {
        pty_resize(&pty, sizes[i].rows, sizes[i].cols);
        raise(SIGWINCH);
        while (ui_terminal_read(pty.terminal, &event))
            assert_int_equal(event.what, UI_EVENT_RESIZE);
        assert_int_equal(pty.terminal->rows, sizes[i].now_rows);
        assert_int_equal(pty.terminal->cols, sizes[i].now_cols);
        struct ui_area area = ui_area_all(pty.terminal);
        ui_terminal_clear(pty.terminal);
        ui_draw_fill(&area, UI_STYLE_TITLE);
        ui_draw_text(&area, area.rows - 1, 0, UI_STYLE_NAME, "\xe4\xb8\xad\xe4\xb8\xad long text");
        ui_draw_bar(&area, 0, -1, 5, 0.5, UI_STYLE_NOISE);
        ui_terminal_flush(pty.terminal, area.rows - 1, area.cols);
        pty_read(&pty);
    }
    pty_close(&pty);
}

static void test_terminal__sizes_at_open(void **state)
{
    static const int sizes[] = {1, 2, 5};
    for (size_t i = 0; i < ODB_COUNT(sizes); i++) {
        struct pty pty;
        pty_open(&pty, "xterm-256color", sizes[i], sizes[i], &terminal_options);
        assert_int_equal(pty.terminal->rows, sizes[i]);
        assert_int_equal(pty.terminal->cols, sizes[i]);
        struct ui_area area = ui_area_all(pty.terminal);
        ui_draw_fill(&area, UI_STYLE_TITLE);
        ui_terminal_flush(pty.terminal, 0, 0);
        pty_read(&pty);
        pty_close(&pty);
    }
}

static void test_terminal__colours(void **state)
{
    static const struct {
        const char *term, *no_color;
        int colors;
    } cases[] = {{"xterm-256color", "", 256},
                 {"xterm", "", 8},
                 {"vt100", "", 0},
                 {"xterm-256color", "1", 0}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct pty pty;
        setenv("NO_COLOR", cases[i].no_color, 1);
        pty_open(&pty, cases[i].term, 24, 80, &terminal_options);
        int colors = pty.terminal->colors;
        struct ui_area area = ui_area_all(pty.terminal);
        ui_draw_text(&area, 0, 0, UI_STYLE_CULPRIT, "x");
        ui_terminal_flush(pty.terminal, -1, -1);
        pty_close(&pty);
        assert_int_equal(colors, cases[i].colors);
    }
    unsetenv("NO_COLOR");
}

static void terminal_expect_key(struct pty *pty, int what, int key)
{
    struct ui_event event;
    assert_true(ui_terminal_read(pty->terminal, &event));
    assert_int_equal(event.what, what);
    assert_int_equal(event.key, key);
}

static void test_terminal__input(void **state)
{
    struct pty pty;
    struct ui_event event;
    pty_open(&pty, "xterm-256color", 24, 80, &terminal_options);
    assert_false(ui_terminal_read(pty.terminal, &event));
    pty_type(&pty, "j\033OA\r");
    terminal_expect_key(&pty, UI_EVENT_KEY, 'j');
    terminal_expect_key(&pty, UI_EVENT_KEY, UI_KEY_UP);
    /* What has been read already is not lost. */
    ui_terminal_raw(pty.terminal, true);
    assert_true(ui_terminal_more(pty.terminal));
    terminal_expect_key(&pty, UI_EVENT_BYTE, '\r');
    assert_false(ui_terminal_more(pty.terminal));
    pty_type(&pty, "\033[A");
    terminal_expect_key(&pty, UI_EVENT_BYTE, 27);
    assert_true(ui_terminal_more(pty.terminal));
    terminal_expect_key(&pty, UI_EVENT_BYTE, '[');
    ui_terminal_raw(pty.terminal, false);
    terminal_expect_key(&pty, UI_EVENT_KEY, 'A');
    pty_type(&pty, "\033");
    terminal_expect_key(&pty, UI_EVENT_KEY, UI_KEY_ESC);
    /* A signal arrives in order before the keys behind it. */
    pty_type(&pty, "x\033[<0;3;2M");
    raise(SIGTERM);
    terminal_expect_key(&pty, UI_EVENT_QUIT, 0);
    terminal_expect_key(&pty, UI_EVENT_KEY, 'x');
    assert_true(ui_terminal_read(pty.terminal, &event));
    assert_true(event.what == UI_EVENT_CLICK && event.row == 1 && event.col == 2);
    pty_close(&pty);
}

static void test_terminal__gone(void **state)
{
    struct pty pty;
    struct ui_event event;
    pty_open(&pty, "xterm-256color", 24, 80, &terminal_options);
    int slave = dup(pty.master);
    close(pty.master);
    close(slave);
    assert_true(ui_terminal_read(pty.terminal, &event));
    assert_int_equal(event.what, UI_EVENT_QUIT);
    assert_false(ui_terminal_read(pty.terminal, &event));
    ui_terminal_flush(pty.terminal, 0, 0);
    pty.master = open("/dev/null", O_RDONLY);
    pty_close(&pty);
}

/* --- a child on a terminal of its own ------------------------------------------------------- */

static void terminal_child_show(struct ui_terminal *terminal, const char *text)
{
    struct ui_area area = ui_area_all(terminal);
    ui_terminal_clear(terminal);
    ui_draw_text(&area, 1, 0, UI_STYLE_NAME, text);
    ui_terminal_flush(terminal, -1, -1);
}

/* A copy of this process, which has its handlers, takes the terminal over as well, and is sent a
 * signal: how does it end? */
static void terminal_child_copy(struct ui_terminal *terminal)
{
    struct ui_terminal *again;
    int status;
    pid_t copy = fork();
    if (copy == 0) {
        alarm(5); /* for one that does not come to an end */
        if (ui_terminal_open(&again, &terminal_options, NULL) == ODB_OK)
            raise(SIGUSR1);
        _exit(0);
    }
    bool died = waitpid(copy, &status, 0) == copy && WIFSIGNALED(status);
    terminal_child_show(terminal, died && WTERMSIG(status) == SIGUSR1 ? "<died>" : "<spun>");
}

/* Tells every event, and does what the keys say. */
static int terminal_child(void)
{
    static const char *const names[] = {"none",   "key",     "byte",    "click", "wheel",
                                        "resize", "suspend", "resumed", "quit"};
    struct ui_terminal *terminal;
    struct ui_event event;
    int fds[2];
    signal(SIGPIPE, SIG_IGN);
    if (ui_terminal_open(&terminal, &terminal_options, NULL) != ODB_OK)
        return 100;
    terminal_child_show(terminal, "<ready>");
    ui_terminal_fds(terminal, fds);
    for (;;) {
        struct pollfd ready[2] = {{.fd = fds[0], .events = POLLIN},
                                  {.fd = fds[1], .events = POLLIN}};
        poll(ready, 2, -1);
        while (ui_terminal_read(terminal, &event)) {
            char text[32];
            int key = event.what == UI_EVENT_KEY ? event.key : 0;
            snprintf(text, sizeof text, "<%s>", names[event.what]);
            terminal_child_show(terminal, text);
            if (event.what == UI_EVENT_QUIT || key == 'q') {
                ui_terminal_close(terminal);
                printf("goodbye\n");
                fflush(stdout);
                return 7;
            }
            if (event.what == UI_EVENT_SUSPEND || key == 26)
                ui_terminal_suspend(terminal);
            if (key == 'e')
                fprintf(stderr, "words of a library\n");
            if (key == 'c')
                terminal_child_copy(terminal);
            if (key == 'x')
                exit(9);
            if (key == 'a')
                ODB_ASSERT(key == 'b');
            if (key == 's')
                raise(SIGSEGV);
            if (key == 'n')
                *(volatile int *)(uintptr_t)(key - 'n') = 1;
            if (key == 'm')
                odb_xcalloc(SIZE_MAX / 2, 2);
        }
    }
}

struct terminal_run {
    struct pty pty;
    pid_t child;
    struct termios modes;
};

/* Waits for a text; what was sent before it is forgotten. */
static void terminal_wait(struct terminal_run *run, const char *text)
{
    struct pty *pty = &run->pty;
    pty->n_sent = 0;
    struct pollfd ready = {.fd = pty->master, .events = POLLIN};
    do {
        if (poll(&ready, 1, 10000) <= 0)
            fail_msg("no %s in: %s", text, pty->sent);
        ssize_t n = read(pty->master, pty->sent + pty->n_sent, sizeof pty->sent - 1 - pty->n_sent);
        if (n <= 0)
            fail_msg("the end before %s, in: %s", text, pty->sent);
        pty->n_sent += (size_t)n;
        pty->sent[pty->n_sent] = 0;
    } while (!strstr(pty->sent, text));
}

static void terminal_run(struct terminal_run *run, const char *term)
{
    /* The harness catches these. */
    static const int faults[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS};
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    *run = (struct terminal_run){0};
    fflush(NULL);
    int slave;
    odb_file_fill_standard();
    assert_int_equal(openpty(&run->pty.master, &slave, NULL, NULL, &size), 0);
    assert_int_equal(tcgetattr(slave, &run->modes), 0);
    run->child = fork();
    if (run->child == 0) {
        close(run->pty.master);
        login_tty(slave);
        for (size_t i = 0; i < ODB_COUNT(faults); i++)
            signal(faults[i], SIG_DFL);
        setenv("TERM", term, 1);
        _exit(terminal_child());
    }
    /* Kept open, so that the modes can be asked for afterwards. */
    run->pty.in = slave;
    terminal_wait(run, "<ready>");
}

/* The child has ended so, its last words are these, and the terminal is as it was. */
static void terminal_expect_end(struct terminal_run *run, int signal, int code, const char *words)
{
    int status;
    struct termios modes;
    struct pty *pty = &run->pty;
    assert_int_equal(waitpid(run->child, &status, 0), run->child);
    pty_read(pty);
    assert_int_equal(tcgetattr(pty->in, &modes), 0);
    if (signal) {
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signal);
    } else {
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), code);
    }
    assert_int_equal(modes.c_lflag, run->modes.c_lflag);
    assert_int_equal(modes.c_iflag, run->modes.c_iflag);
    assert_int_equal(modes.c_oflag, run->modes.c_oflag);
    const char *end = strstr(pty->sent, "\033[?1049l");
    assert_non_null(end);
    assert_non_null(strstr(pty->sent, "\033[?2004l"));
    assert_non_null(strstr(pty->sent, "\033[?1002l"));
    assert_non_null(strstr(pty->sent, "\033[?25h"));
    assert_non_null(strstr(pty->sent, "\033[?1l"));
    if (!strstr(end, words))
        fail_msg("no \"%s\" in: %s", words, end);
    assert_null(strstr(end, "\033[?1049h"));
    close(pty->in);
    close(pty->master);
}

static void terminal_expect_ending(const char *keys, int signal, int code, const char *words)
{
    struct terminal_run run;
    terminal_run(&run, "xterm-256color");
    pty_type(&run.pty, keys);
    terminal_expect_end(&run, signal, code, words);
}

static void test_terminal__ways_out(void **state)
{
    terminal_expect_ending("q", 0, 7, "goodbye");
    terminal_expect_ending("eq", 0, 7, "words of a library\r\ngoodbye");
    terminal_expect_ending("x", 0, 9, "");
    terminal_expect_ending("ea", SIGABRT, 0, "words of a library\r\nonnxdbg: bug: ");
}

#ifndef __SANITIZE_ADDRESS__ /* which has ends of its own for these */
static void test_terminal__no_memory(void **state)
{
    terminal_expect_ending("m", 0, 4, ": out of memory");
}

static void test_terminal__faults(void **state)
{
    terminal_expect_ending("s", SIGSEGV, 0, "");
    terminal_expect_ending("en", SIGSEGV, 0, "words of a library");
}
#endif

static void test_terminal__deadly_signals(void **state)
{
    static const int signals[] = {SIGQUIT, SIGTRAP, SIGXCPU, SIGSYS, SIGALRM, SIGUSR1};
    for (size_t i = 0; i < ODB_COUNT(signals); i++) {
        struct terminal_run run;
        terminal_run(&run, "xterm-256color");
        kill(run.child, signals[i]);
        terminal_expect_end(&run, signals[i], 0, "");
    }
}

static void test_terminal__a_handler_does_not_put_itself_back(void **state)
{
    struct terminal_run run;
    terminal_run(&run, "xterm-256color");
    pty_type(&run.pty, "c");
    terminal_wait(&run, "<died>");
    pty_type(&run.pty, "q");
    terminal_expect_end(&run, 0, 7, "goodbye");
}

static void test_terminal__signals_to_quit(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < ODB_COUNT(signals); i++) {
        struct terminal_run run;
        terminal_run(&run, "xterm-256color");
        kill(run.child, signals[i]);
        terminal_expect_end(&run, 0, 7, "goodbye");
    }
}

/* A session's leader may be stopped only by a signal that it cannot catch. */
static void test_terminal__stopped_and_continued(void **state)
{
    struct terminal_run run;
    int status;
    terminal_run(&run, "xterm-256color");
    struct termios ours;
    assert_int_equal(tcgetattr(run.pty.in, &ours), 0);
    kill(run.child, SIGSTOP);
    assert_int_equal(waitpid(run.child, &status, WUNTRACED), run.child);
    assert_true(WIFSTOPPED(status));
    tcsetattr(run.pty.in, TCSANOW, &run.modes); /* as a shell does */
    kill(run.child, SIGCONT);
    terminal_wait(&run, "<resumed>");
    assert_non_null(strstr(run.pty.sent, "\033[?1049h"));
    assert_non_null(strstr(run.pty.sent, "\033[?1006h"));
    struct termios again;
    assert_int_equal(tcgetattr(run.pty.in, &again), 0);
    assert_int_equal(again.c_lflag, ours.c_lflag);
    pty_type(&run.pty, "j");
    terminal_wait(&run, "<key>");
    pty_type(&run.pty, "q");
    terminal_expect_end(&run, 0, 7, "goodbye");
}

/* There is no shell, so the system does not stop a job for SIGTSTP: the way through is the same. */
static void test_terminal__suspended(void **state)
{
    struct terminal_run run;
    terminal_run(&run, "xterm-256color");
    pty_type(&run.pty, "e\x1a");
    terminal_wait(&run, "<resumed>");
    const char *left = strstr(run.pty.sent, "\033[?1049l");
    assert_non_null(left);
    assert_non_null(strstr(left, "words of a library"));
    assert_non_null(strstr(left, "\033[?1049h"));
    kill(run.child, SIGTSTP);
    terminal_wait(&run, "<resumed>");
    pty_type(&run.pty, "q");
    terminal_expect_end(&run, 0, 7, "goodbye");
}

static void test_terminal__resized(void **state)
{
    struct terminal_run run;
    terminal_run(&run, "xterm-256color");
    pty_resize(&run.pty, 2, 40);
    terminal_wait(&run, "<resize>");
    pty_resize(&run.pty, 1, 1);
    terminal_wait(&run, "\033[");
    pty_type(&run.pty, "q");
    terminal_expect_end(&run, 0, 7, "goodbye");
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terminal__needs_a_terminal),
        cmocka_unit_test(test_terminal__needs_a_type),
        cmocka_unit_test(test_terminal__clipboard),
        cmocka_unit_test(test_terminal__links),
        cmocka_unit_test(test_terminal__sizes),
        cmocka_unit_test(test_terminal__sizes_at_open),
        cmocka_unit_test(test_terminal__colours),
        cmocka_unit_test(test_terminal__input),
        cmocka_unit_test(test_terminal__gone),
        cmocka_unit_test(test_terminal__ways_out),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(test_terminal__no_memory),
        cmocka_unit_test(test_terminal__faults),
#endif
        cmocka_unit_test(test_terminal__deadly_signals),
        cmocka_unit_test(test_terminal__a_handler_does_not_put_itself_back),
        cmocka_unit_test(test_terminal__signals_to_quit),
        cmocka_unit_test(test_terminal__stopped_and_continued),
        cmocka_unit_test(test_terminal__suspended),
        cmocka_unit_test(test_terminal__resized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
