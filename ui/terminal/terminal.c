/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Three things have to hold whatever happens: the terminal is given back, no signal is lost, and
 * no byte of another writer gets between the cells.
 *
 * Given back: when the terminal is taken over, the bytes that undo it are written down, with the
 * modes that it had. Every way out that is not ui_terminal_close() (a deadly signal in any thread,
 * exit() somewhere, no memory) only has to write these bytes and set these modes, which a signal
 * handler may do.
 *
 * Other writers: what a library prints to standard error would scroll the screen, and what abort()
 * has to say would be wiped with it. So while the screen is up, standard error is a file in memory,
 * which is copied to the terminal after that has been given back.
 *
 * curses draws; keys are read here and decoded in decode.c.
 */
#include "ui/terminal/terminal.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <term.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "system/ending.h"
#include "system/newer.h"
#include "ui/terminal/decode.h"

enum {
    TERMINAL_ESC_MS = 25,      /* a sequence's bytes arrive closer together than this */
    TERMINAL_STACK = 1 << 16,  /* for a handler whose thread has none left */
    TERMINAL_WORDS = 64 << 10, /* of standard error, the last so many bytes */
    TERMINAL_COLORS_RGB = 1 << 24
};

struct terminal_int {
    SCREEN *screen; /* owned */
    struct ui_decoder decoder;
    bool extras;   /* the terminal has the private modes of xterm, or ignores them */
    bool mouse;    /* it has a mouse, and that is wanted */
    bool left;     /* given back for a suspension */
    bool resumed;  /* UI_EVENT_RESUMED is due */
    bool gone;     /* the end of the input was read */
    bool told;     /* and reported */
    FILE *nowhere; /* owned; what curses writes to while blind */
    bool blind;    /* there is none: views are drawn on paper only */
};

/* --- what signal handlers reach ------------------------------------------------------------- */

enum { TERMINAL_THEIRS = 0, TERMINAL_OURS = -1 };

/* There is one terminal in a process, and a handler is given nothing but a number: so this is the
 * one place with state of the file. */
static struct {
    _Atomic pid_t holder;  /* of the terminal: TERMINAL_…, or the thread that gives it back */
    _Atomic pid_t painter; /* the thread that sends a frame now; 0: none */
    atomic_int borrower;   /* pidfd of the process that the terminal is lent to, or -1 */
    atomic_bool told;      /* that it is to end */
    atomic_bool quit;      /* a signal to quit waits in the pipe */
    pid_t owner;           /* not a child between fork and exec */
    int pipe[2];           /* signal numbers, one byte each */
    struct termios modes;  /* as they were */
    char bytes[512];       /* that undo what curses and we have sent */
    size_t n_bytes;
    int err, err_file; /* standard error as it was, and the file in its place; or -1 */
    off_t err_shown;
    stack_t stack;
    bool at_exit;
} terminal_state = {.borrower = -1, .pipe = {-1, -1}, .err = -1, .err_file = -1};

static bool terminal_is_ours(void)
{
    return atomic_load(&terminal_state.holder) == TERMINAL_OURS;
}

static void terminal_write(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return;
        bytes += done;
        n -= (size_t)done;
    }
}

/* Called by signal handlers. */
static void terminal_err_release(void)
{
    if (terminal_state.err < 0)
        return;
    dup2(terminal_state.err, STDERR_FILENO);
    off_t end = lseek(terminal_state.err_file, 0, SEEK_END);
    if (end - terminal_state.err_shown > TERMINAL_WORDS)
        terminal_state.err_shown = end - TERMINAL_WORDS;
    char words[512];
    ssize_t n;
    do {
        n = pread(terminal_state.err_file, words, sizeof words, terminal_state.err_shown);
        if (n > 0)
            terminal_write(STDERR_FILENO, words, (size_t)n);
        terminal_state.err_shown += n > 0 ? n : 0;
    } while (n > 0);
}

static void terminal_err_hold(void)
{
    if (terminal_state.err >= 0)
        dup2(terminal_state.err_file, STDERR_FILENO);
}

/* In the background the terminal is another's. */
static bool terminal_foreground(void)
{
    pid_t group = tcgetpgrp(STDIN_FILENO);
    return group < 0 || group == getpgrp();
}

/* Until it is no other thread, for a second at most. */
static void terminal_await(const _Atomic pid_t *thread)
{
    const struct timespec turn = {.tv_nsec = 1000000};
    for (int i = 0; i < 1000; i++) {
        pid_t now = atomic_load(thread);
        if (now <= 0 || now == gettid())
            break;
        nanosleep(&turn, NULL);
    }
}

/* Undoes everything; called by signal handlers, at exit, and without memory. */
static void terminal_restore(void)
{
    pid_t ours = TERMINAL_OURS;
    if (getpid() != terminal_state.owner)
        return;
    /* Two threads may fault at once: what the second says as it dies would go with the screen, and
     * the first would not come to an end. */
    if (!atomic_compare_exchange_strong(&terminal_state.holder, &ours, gettid())) {
        terminal_await(&terminal_state.holder);
        return;
    }
    terminal_await(&terminal_state.painter); /* the rest of its frame would follow the last line */
    if (terminal_foreground()) {
        terminal_write(STDOUT_FILENO, terminal_state.bytes, terminal_state.n_bytes);
        tcsetattr(STDIN_FILENO, TCSANOW, &terminal_state.modes);
    }
    terminal_err_release();
    atomic_store(&terminal_state.holder, TERMINAL_THEIRS);
}

/* To the program that has the terminal, and to what that has started, as far as it can be
 * distinguished from others: a job of the shell has a group of its own. That signal comes back
 * here, to no effect. */
static void terminal_tell_borrower(int signal)
{
    int borrower = atomic_load(&terminal_state.borrower);
    if (borrower < 0 || atomic_exchange(&terminal_state.told, true))
        return;
    if (getpgrp() == terminal_state.owner)
        kill(0, signal);
    else
        pidfd_send_signal(borrower, signal, NULL, 0);
}

static void terminal_note(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
        atomic_store(&terminal_state.quit, true);
    if (signal == SIGTERM || signal == SIGHUP) {
        odb_ending_begin(signal);
        terminal_tell_borrower(signal);
    }
    char byte = (char)signal;
    /* A full pipe has told it already. */
    if (write(terminal_state.pipe[1], &byte, 1) < 0)
        errno = saved;
    errno = saved;
}

static void terminal_die(int signal, siginfo_t *info, void *context);

static const struct {
    int signal;
    void (*handler)(int signal, siginfo_t *info, void *context);
} terminal_signals[] = {
    {SIGWINCH, terminal_note}, {SIGTSTP, terminal_note}, {SIGCONT, terminal_note},
    {SIGINT, terminal_note},   {SIGTERM, terminal_note}, {SIGHUP, terminal_note},
    {SIGQUIT, terminal_die},   {SIGILL, terminal_die},   {SIGTRAP, terminal_die},
    {SIGABRT, terminal_die},   {SIGBUS, terminal_die},   {SIGFPE, terminal_die},
    {SIGSEGV, terminal_die},   {SIGXCPU, terminal_die},  {SIGSYS, terminal_die},
    {SIGALRM, terminal_die},   {SIGUSR1, terminal_die},  {SIGUSR2, terminal_die},
};

static struct sigaction terminal_actions[ODB_COUNT(terminal_signals)]; /* as they were */

static struct sigaction *terminal_action(int signal)
{
    size_t i = 0;
    while (terminal_signals[i].signal != signal)
        i++;
    return &terminal_actions[i];
}

/* A fault happens again when its instruction does: with the action that it had before, a core and
 * an earlier handler see the fault itself. Whatever was sent has to be sent again. */
static void terminal_die(int signal, siginfo_t *info, void *context)
{
    terminal_restore();
    sigaction(signal, terminal_action(signal), NULL);
    bool fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
    if (!fault || info->si_code <= 0)
        raise(signal);
}

static void terminal_catch(void)
{
    for (size_t i = 0; i < ODB_COUNT(terminal_signals); i++) {
        struct sigaction action = {.sa_sigaction = terminal_signals[i].handler,
                                   .sa_flags = SA_SIGINFO | SA_RESTART};
        sigfillset(&action.sa_mask);
        if (terminal_signals[i].handler == terminal_die)
            action.sa_flags |= SA_ONSTACK | SA_NODEFER;
        struct sigaction before;
        sigaction(terminal_signals[i].signal, &action, &before);
        /* Where this process, or the one that it is a copy of, has caught it already: what was
         * before that counts. A handler that puts itself back would be called for ever. */
        if (before.sa_sigaction != terminal_signals[i].handler)
            terminal_actions[i] = before;
        /* nohup and shells without job control ask for some to be ignored. */
        if (terminal_actions[i].sa_handler == SIG_IGN)
            sigaction(terminal_signals[i].signal, &terminal_actions[i], NULL);
    }
}

static void terminal_uncatch(void)
{
    for (size_t i = 0; i < ODB_COUNT(terminal_signals); i++)
        sigaction(terminal_signals[i].signal, &terminal_actions[i], NULL);
}

/* --- taking over and giving back ------------------------------------------------------------ */

/* Appends a string of terminfo (or another) without the pauses that it asks for. */
static void terminal_undo(const char *text)
{
    if (!text || text == (const char *)-1)
        return;
    while (*text && terminal_state.n_bytes < sizeof terminal_state.bytes) {
        const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;
        if (end)
            text = end + 1;
        else
            terminal_state.bytes[terminal_state.n_bytes++] = *text++;
    }
}

static void terminal_modes_send(const struct terminal_int *priv, bool on)
{
    if (priv->extras)
        terminal_write(STDOUT_FILENO, on ? "\033[?2004h" : "\033[?2004l", 8);
    if (priv->mouse && on && !priv->decoder.raw)
        terminal_write(STDOUT_FILENO, "\033[?1002h\033[?1006h", 16);
    else if (priv->mouse)
        terminal_write(STDOUT_FILENO, "\033[?1006l\033[?1002l", 16);
}

/* Of the terminal type that is set up now. */
static void terminal_prepare(void)
{
    terminal_state.n_bytes = 0;
    if (key_mouse) /* which may be asked for later */
        terminal_undo("\033[?1006l\033[?1002l\033[?2026l\033[?2004l");
    terminal_undo(exit_attribute_mode);
    terminal_undo(orig_pair);
    terminal_undo(cursor_normal);
    terminal_undo(keypad_local);
    /* Without a second screen the shell goes on below this one. */
    if (enter_ca_mode && exit_ca_mode)
        terminal_undo(exit_ca_mode);
    else
        terminal_undo(tparm(cursor_address, 998, 0));
    terminal_undo("\r");
    terminal_undo(clr_eol);
}

/* The size that the terminal has now. False: it is the same as before. */
static bool terminal_measure(struct ui_terminal *terminal)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col &&
        (size.ws_row != LINES || size.ws_col != COLS))
        resizeterm(size.ws_row, size.ws_col);
    bool changed = terminal->rows != LINES || terminal->cols != COLS;
    terminal->rows = LINES;
    terminal->cols = COLS;
    terminal->priv->decoder.rows = LINES;
    terminal->priv->decoder.cols = COLS;
    return changed;
}

/* Gives the terminal back, for good or for a while. */
static void terminal_leave(struct terminal_int *priv)
{
    if (!terminal_is_ours())
        return;
    if (terminal_foreground()) {
        terminal_modes_send(priv, false);
        endwin();
        if (!(enter_ca_mode && exit_ca_mode) && clr_eol) { /* the shell goes on in the last row */
            terminal_write(STDOUT_FILENO, "\r", 1);
            putp(clr_eol);
            fflush(stdout);
        }
    }
    atomic_store(&terminal_state.holder, TERMINAL_THEIRS);
    terminal_err_release();
}

/* Takes it again: curses sends what it needs with the next flush. */
static void terminal_return(struct ui_terminal *terminal)
{
    struct terminal_int *priv = terminal->priv;
    terminal_err_hold();
    atomic_store(&terminal_state.holder, TERMINAL_OURS);
    if (!isendwin())
        endwin();
    reset_prog_mode();
    terminal_measure(terminal);
    terminal_modes_send(priv, true);
    clearok(curscr, TRUE);
    priv->left = false;
    priv->resumed = true;
}

/* --- opening -------------------------------------------------------------------------------- */

static enum odb_status terminal_check(struct odb_error *err)
{
    static const char way_out[] = "--linear needs no screen";
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        odb_fail(err, ODB_E_USAGE, "the screen needs a terminal as standard input and output");
        return odb_error_remedy(err, "%s", way_out);
    }
    const char *name = getenv("TERM");
    int found = 0;
    if (!name || !*name || setupterm(name, STDOUT_FILENO, &found) == ERR) {
        odb_fail(err, ODB_E_USAGE, "the terminal type '%s' is unknown here", name ? name : "");
        return odb_error_remedy(err, "set TERM to one that is installed, as TERM=xterm; or: %s",
                                way_out);
    }
    bool able = cursor_address && clear_screen && !hard_copy;
    terminal_prepare();
    del_curterm(cur_term);
    if (!able) {
        odb_fail(err, ODB_E_USAGE, "the terminal type '%s' cannot move the cursor", name);
        return odb_error_remedy(err, "set TERM to what the terminal is; or: %s", way_out);
    }
    return ODB_OK;
}

static enum odb_status terminal_state_open(struct odb_error *err)
{
    if (pipe2(terminal_state.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return odb_fail(err, ODB_E_IO, "no pipe for signals: %s", strerror(errno));
    terminal_state.owner = getpid();
    atomic_store(&terminal_state.quit, false);
    tcgetattr(STDIN_FILENO, &terminal_state.modes);
    if (isatty(STDERR_FILENO)) {
        terminal_state.err_shown = 0;
        terminal_state.err_file = memfd_create("stderr", MFD_CLOEXEC);
        terminal_state.err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        if (terminal_state.err_file >= 0)
            fcntl(terminal_state.err_file, F_SETFL, O_APPEND);
        else
            terminal_state.err = -1;
    }
    /* A sanitizer may have its own stack for handlers. */
    stack_t stack;
    if (sigaltstack(NULL, &stack) == 0 && stack.ss_flags & SS_DISABLE) {
        terminal_state.stack =
            (stack_t){.ss_sp = odb_xcalloc(TERMINAL_STACK, 1), .ss_size = TERMINAL_STACK};
        sigaltstack(&terminal_state.stack, NULL);
    }
    if (!terminal_state.at_exit)
        terminal_state.at_exit = atexit(terminal_restore) == 0;
    odb_oom_hook = terminal_restore;
    return ODB_OK;
}

static void terminal_state_close(void)
{
    odb_oom_hook = NULL;
    if (terminal_state.stack.ss_sp) {
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
        free(terminal_state.stack.ss_sp);
        terminal_state.stack.ss_sp = NULL;
    }
    int *fds[] = {&terminal_state.pipe[0], &terminal_state.pipe[1], &terminal_state.err,
                  &terminal_state.err_file};
    for (size_t i = 0; i < ODB_COUNT(fds); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

static int terminal_colors_start(void)
{
    const char *none = getenv("NO_COLOR");
    if ((none && *none) || !has_colors() || start_color() == ERR || COLORS < 8)
        return 0;
    use_default_colors();
    return COLORS >= TERMINAL_COLORS_RGB ? TERMINAL_COLORS_RGB
           : COLORS >= 256               ? 256
           : COLORS >= 16                ? 16
                                         : 8;
}

static void terminal_keys_learn(struct ui_decoder *decoder)
{
    static const struct {
        const char *name;
        int key;
    } keys[] = {
#define UI_KEY(id, name, cap) {cap, UI_KEY_##id},
#include "ui/terminal/key.def"
#undef UI_KEY
        {"kent", UI_KEY_ENTER}};
    for (size_t i = 0; i < ODB_COUNT(keys); i++) {
        const char *text = tigetstr(keys[i].name);
        ui_decoder_learn(decoder, text == (const char *)-1 ? NULL : text, keys[i].key);
    }
    decoder->backspace = key_backspace && strcmp(key_backspace, "\b") == 0 &&
                         terminal_state.modes.c_cc[VERASE] != 0x7f;
}

static void terminal_curses_start(struct ui_terminal *terminal,
                                  const struct ui_terminal_options *options)
{
    struct terminal_int *priv = terminal->priv;
    raw();
    noecho();
    nonl();
    intrflush(stdscr, FALSE);
    keypad(stdscr, TRUE);
    typeahead(-1); /* a frame is sent whole, whatever is typed meanwhile */
    terminal->colors = terminal->depth = terminal_colors_start();
    /* The Linux console has few characters, and none of the signs. */
    terminal->unicode = !options->ascii && strcmp(nl_langinfo(CODESET), "UTF-8") == 0 &&
                        strcmp(getenv("TERM"), "linux") != 0;
    /* Whatever has a mouse is of the family. */
    priv->extras = key_mouse != NULL;
    priv->mouse = priv->extras && options->mouse;
    priv->decoder.mouse = priv->mouse;
    terminal_keys_learn(&priv->decoder);
}

enum odb_status ui_terminal_open(struct ui_terminal **out,
                                 const struct ui_terminal_options *options, struct odb_error *err)
{
    ODB_TRY(terminal_check(err));
    ODB_TRY(terminal_state_open(err));
    /* curses catches only the signals that have no handler, and sends something at once. */
    terminal_catch();
    terminal_err_hold();
    atomic_store(&terminal_state.holder, TERMINAL_OURS);
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (!screen) {
        atomic_store(&terminal_state.holder, TERMINAL_THEIRS);
        terminal_err_release();
        terminal_uncatch();
        terminal_state_close();
        return odb_fail(err, ODB_E_USAGE, "the terminal cannot be opened");
    }
    struct ui_terminal *terminal = odb_new(struct ui_terminal);
    terminal->priv = odb_new(struct terminal_int);
    terminal->priv->screen = screen;
    terminal_curses_start(terminal, options);
    terminal_measure(terminal);
    def_prog_mode();
    terminal_modes_send(terminal->priv, true);
    *out = terminal;
    return ODB_OK;
}

enum odb_status ui_terminal_open_blind(struct ui_terminal **out, int rows, int cols,
                                       struct odb_error *err)
{
    static const char *const names[] = {"dumb", "vt100", "ansi", "xterm"};
    struct sigaction before[ODB_COUNT(terminal_signals)];
    FILE *nowhere = fopen("/dev/null", "r+e");
    SCREEN *screen = NULL;
    for (size_t i = 0; i < ODB_COUNT(before); i++)
        sigaction(terminal_signals[i].signal, NULL, &before[i]);
    for (size_t i = 0; i < ODB_COUNT(names) && nowhere && !screen; i++)
        screen = newterm(names[i], nowhere, nowhere);
    for (size_t i = 0; i < ODB_COUNT(before); i++) /* curses catches what has no handler */
        sigaction(terminal_signals[i].signal, &before[i], NULL);
    if (!screen) {
        if (nowhere)
            fclose(nowhere);
        return odb_fail(err, ODB_E_USAGE, "no terminal type is installed here, not even 'dumb'");
    }
    struct ui_terminal *terminal = odb_new(struct ui_terminal);
    *terminal = (struct ui_terminal){.rows = rows, .cols = cols};
    terminal->unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 && !getenv("ONNXDBG_ASCII");
    terminal->priv = odb_new(struct terminal_int);
    *terminal->priv = (struct terminal_int){.screen = screen, .blind = true, .nowhere = nowhere};
    *out = terminal;
    return ODB_OK;
}

static void terminal_close_blind(struct ui_terminal *terminal)
{
    delscreen(terminal->priv->screen);
    fclose(terminal->priv->nowhere);
    free(terminal->priv);
    free(terminal);
}

void ui_terminal_close(struct ui_terminal *terminal)
{
    if (!terminal)
        return;
    if (terminal->priv->blind) {
        terminal_close_blind(terminal);
        return;
    }
    terminal_leave(terminal->priv);
    delscreen(terminal->priv->screen);
    terminal_uncatch();
    terminal_state_close();
    ui_decoder_dispose(&terminal->priv->decoder);
    free(terminal->priv);
    free(terminal);
}

/* --- reading -------------------------------------------------------------------------------- */

static int64_t terminal_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads what is there, or arrives within this time. False: nothing. */
static bool terminal_fill(struct terminal_int *priv, int wait_ms)
{
    struct ui_decoder *decoder = &priv->decoder;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    size_t room = sizeof decoder->bytes - decoder->n;
    if (priv->gone || !room || poll(&input, 1, wait_ms) <= 0)
        return false;
    ssize_t n = read(STDIN_FILENO, decoder->bytes + decoder->n, room);
    if (n > 0)
        decoder->n += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        priv->gone = true;
    return n > 0;
}

static bool terminal_event(struct ui_event *event, int what)
{
    *event = (struct ui_event){0};
    event->what = what;
    return true;
}

static bool terminal_read_signal(struct ui_terminal *terminal, struct ui_event *event)
{
    char signal;
    while (read(terminal_state.pipe[0], &signal, 1) == 1) {
        switch (signal) {
        case SIGWINCH:
            if (terminal_measure(terminal))
                return terminal_event(event, UI_EVENT_RESIZE);
            break;
        case SIGTSTP:
            return terminal_event(event, UI_EVENT_SUSPEND);
        case SIGCONT:
            /* After a suspension this is known; after SIGSTOP the shell has set its own modes. */
            if (terminal_is_ours() && !terminal->priv->resumed &&
                !atomic_load(&terminal_state.quit))
                terminal_return(terminal);
            break;
        default:
            return terminal_event(event, UI_EVENT_QUIT);
        }
    }
    return false;
}

bool ui_terminal_read(struct ui_terminal *terminal, struct ui_event *event)
{
    struct terminal_int *priv = terminal->priv;
    if (terminal_read_signal(terminal, event))
        return true;
    if (priv->resumed) {
        priv->resumed = false;
        return terminal_event(event, UI_EVENT_RESUMED);
    }
    bool complete = false;
    for (;;) {
        switch (ui_decoder_next(&priv->decoder, complete, terminal_now_ms(), event)) {
        case UI_DECODED_EVENT:
            return true;
        case UI_DECODED_PARTIAL:
            complete = !terminal_fill(priv, TERMINAL_ESC_MS);
            break;
        case UI_DECODED_NOTHING:
            if (terminal_fill(priv, 0)) {
                complete = false;
                break;
            }
            if (!priv->gone || priv->told)
                return false;
            priv->told = true;
            return terminal_event(event, UI_EVENT_QUIT);
        }
    }
}

void ui_terminal_fds(const struct ui_terminal *terminal, int fds[2])
{
    fds[0] = STDIN_FILENO;
    fds[1] = terminal_state.pipe[0];
}

void ui_terminal_raw(struct ui_terminal *terminal, bool on)
{
    struct terminal_int *priv = terminal->priv;
    if (priv->decoder.raw == on)
        return;
    priv->decoder.raw = on;
    if (priv->mouse)
        terminal_write(STDOUT_FILENO, on ? "\033[?1006l\033[?1002l" : "\033[?1002h\033[?1006h", 16);
}

bool ui_terminal_more(struct ui_terminal *terminal)
{
    const struct ui_decoder *decoder = &terminal->priv->decoder;
    return (decoder->n || terminal_fill(terminal->priv, TERMINAL_ESC_MS)) &&
           decoder->bytes[0] != '\033';
}

bool ui_terminal_escaped(struct ui_terminal *terminal)
{
    struct ui_decoder *decoder = &terminal->priv->decoder;
    terminal_fill(terminal->priv, 0);
    for (size_t i = 0; i < decoder->n; i++) {
        unsigned char *at = decoder->bytes + i;
        if (*at == '\033' && i + 1 == decoder->n)
            terminal_fill(terminal->priv, TERMINAL_ESC_MS);
        if (*at != '\033' || (i + 1 < decoder->n && at[1] != '\033'))
            continue; /* a key, or what begins a sequence */
        decoder->n--;
        memmove(at, at + 1, decoder->n - i);
        return true;
    }
    return terminal->priv->gone || atomic_load(&terminal_state.quit);
}

/* --- suspension ----------------------------------------------------------------------------- */

void ui_terminal_suspend(struct ui_terminal *terminal)
{
    struct sigaction stop = {.sa_handler = SIG_DFL}, ignore = {.sa_handler = SIG_IGN}, ours;
    if (terminal->priv->blind) {
        kill(0, SIGTSTP);
        return;
    }
    if (terminal_action(SIGTSTP)->sa_handler == SIG_IGN)
        return;
    terminal_leave(terminal->priv);
    /* The others of the job first, as the key would; then the process, by a signal to this very
     * thread, so that it has happened when raise() returns. */
    sigaction(SIGTSTP, &ignore, &ours);
    kill(0, SIGTSTP);
    sigaction(SIGTSTP, &stop, NULL);
    raise(SIGTSTP);
    sigaction(SIGTSTP, &ours, NULL);
    /* A shell that ends a stopped job lets it go on in the background: no terminal for that. */
    if (atomic_load(&terminal_state.quit) && !terminal_foreground())
        return;
    terminal_return(terminal);
}

/* --- other programs ------------------------------------------------------------------------- */

/* Keys that end a program or stop it are for the other one; if it stops, so do we. */
static void terminal_signals_lend(bool lent)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTSTP};
    for (size_t i = 0; i < ODB_COUNT(signals); i++) {
        struct sigaction action = {.sa_handler = signals[i] == SIGTSTP ? SIG_DFL : SIG_IGN};
        if (!lent) {
            size_t row = 0;
            while (terminal_signals[row].signal != signals[i])
                row++;
            action = (struct sigaction){.sa_sigaction = terminal_signals[row].handler,
                                        .sa_flags = SA_SIGINFO | SA_RESTART};
            sigfillset(&action.sa_mask);
        }
        if (terminal_action(signals[i])->sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void ui_terminal_lend(struct ui_terminal *terminal)
{
    if (terminal->priv->blind)
        return;
    terminal_leave(terminal->priv);
    terminal_signals_lend(true);
}

void ui_terminal_lend_to(struct ui_terminal *terminal, pid_t pid)
{
    if (terminal->priv->blind)
        return;
    atomic_store(&terminal_state.told, false);
    atomic_store(&terminal_state.borrower, pidfd_open(pid, 0));
    if (atomic_load(&terminal_state.quit)) /* it came before there was a borrower */
        terminal_tell_borrower(SIGTERM);
}

void ui_terminal_take(struct ui_terminal *terminal)
{
    if (terminal->priv->blind)
        return;
    int borrower = atomic_exchange(&terminal_state.borrower, -1);
    if (borrower >= 0)
        close(borrower);
    terminal_signals_lend(false);
    terminal_return(terminal);
}

void ui_terminal_mouse(struct ui_terminal *terminal, bool on)
{
    struct terminal_int *priv = terminal->priv;
    if (!priv->extras || priv->mouse == on)
        return;
    priv->mouse = true;
    if (!priv->decoder.raw)
        terminal_write(STDOUT_FILENO, on ? "\033[?1002h\033[?1006h" : "\033[?1006l\033[?1002l", 16);
    priv->mouse = priv->decoder.mouse = on;
}

void ui_terminal_expect_background(struct ui_terminal *terminal)
{
    terminal->priv->decoder.asked = true;
}

bool ui_terminal_send(struct ui_terminal *terminal, const char *bytes, size_t n)
{
    if (!terminal->priv->extras || !terminal_is_ours())
        return false;
    terminal_write(STDOUT_FILENO, bytes, n);
    return true;
}

/* --- showing -------------------------------------------------------------------------------- */

void ui_terminal_redraw(struct ui_terminal *terminal)
{
    clearok(curscr, TRUE);
}

void ui_terminal_clear(struct ui_terminal *terminal)
{
    werase(stdscr);
}

static void terminal_paint(struct ui_terminal *terminal, int row, int col)
{
    bool shown = row >= 0 && row < terminal->rows && col >= 0 && col < terminal->cols;
    leaveok(stdscr, !shown);
    if (shown)
        move(row, col);
    curs_set(shown);
    wnoutrefresh(stdscr);
    /* curses sends a frame in many pieces: the terminal is asked to show it at once. */
    bool frame = terminal->priv->extras && (is_wintouched(newscr) || is_cleared(curscr));
    if (frame)
        terminal_write(STDOUT_FILENO, "\033[?2026h", 8);
    doupdate();
    if (frame)
        terminal_write(STDOUT_FILENO, "\033[?2026l", 8);
}

void ui_terminal_flush(struct ui_terminal *terminal, int row, int col)
{
    atomic_store(&terminal_state.painter, gettid()); /* first, then it is asked whose it is */
    if (terminal_is_ours())
        terminal_paint(terminal, row, col);
    atomic_store(&terminal_state.painter, 0);
}
