/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * drive: runs a full-screen program as a person would, from a script. It knows nothing about any
 * program: it sends keys, looks at the screen and measures.
 *
 *   drive [-s COLSxROWS] [-T TERM] [-e NAME=VALUE]... [-l LOG] SCRIPT|- -- PROGRAM ARGS...
 *
 * The table COMMANDS at the end of this file says what a script may say. A line is a command and
 * its arguments; a text may stand in "" where it begins or ends with a blank, or ends with a number
 * that is none of the command's. Rows and columns count from 0; row -1 is the last. Keys are
 * characters, and names in <>: <Enter> <Esc> <Tab> <BackTab> <Up> <Down> <Left> <Right> <PgUp>
 * <PgDn> <Home> <End> <Ins> <Del> <Backspace> <F1> to <F12> <Space> <lt>, with C-, M- or S- before
 * a name or letter for Ctrl, Alt and Shift. The program starts with the first line that needs it.
 * A line that fails is named, the screen is shown, and the exit status is 1.
 */
#include "drive.h"
#include "show.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DRIVE_DEPTH = 8, /* of scripts that read scripts */
};

/* A lone Esc is distinguished from the start of a sequence by the silence after it: which must last
 * until the program, however slow, has seen it, and has waited for more in vain. */
static const double ESC_PAUSE = 0.06;

struct command {
    const char *name;
    bool (*run)(struct drive *d, char *arg);
    bool needs_program;
    const char *usage;
};

static bool drive_script(struct drive *d, const char *path, int depth);

bool drive_fail(struct drive *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(d->why, sizeof d->why, format, args);
    va_end(args);
    return false;
}

/* --- arguments -------------------------------------------------------------------------------- */

char *drive_word(char **rest)
{
    char *at = *rest + strspn(*rest, " \t");
    if (*at == '\0')
        return NULL;
    char *end = NULL;
    if (*at == '"')
        end = strchr(at + 1, '"');
    if (end)
        at++;
    else
        end = at + strcspn(at, " \t");
    *rest = end + (*end != '\0');
    *end = '\0';
    return at;
}

/* The whole argument as a text. */
static char *drive_text(char *arg)
{
    size_t n = strlen(arg);
    if (n >= 2 && arg[0] == '"' && arg[n - 1] == '"') {
        arg[n - 1] = '\0';
        return arg + 1;
    }
    return arg;
}

static bool drive_number(const char *word, double *out)
{
    char *end;
    if (!word || *word == '\0' || word[strspn(word, "-.0123456789")] != '\0')
        return false;
    double value = strtod(word, &end);
    if (*end != '\0')
        return false;
    *out = value;
    return true;
}

/* A text, and a number after it if there is one: the seconds that it may take. */
static char *drive_text_and_limit(struct drive *d, char *arg, double *seconds)
{
    *seconds = d->limit;
    char *quote = *arg == '"' ? strrchr(arg + 1, '"') : NULL;
    if (quote) {
        *quote = '\0';
        drive_number(quote + 1 + strspn(quote + 1, " "), seconds);
        return arg + 1;
    }
    char *blank = strrchr(arg, ' ');
    if (blank && drive_number(blank + 1, seconds))
        while (blank > arg && *blank == ' ')
            *blank-- = '\0';
    return arg;
}

static bool drive_size(const char *text, int *cols, int *rows)
{
    char rest;
    return text && sscanf(text, "%dx%d%c", cols, rows, &rest) == 2 && *cols >= 2 && *rows >= 1 &&
           *cols <= TERM_MOST && *rows <= TERM_MOST;
}

static bool drive_signal(const char *name, int *out)
{
    static const struct {
        const char *name;
        int number;
    } SIGNALS[] = {{"TSTP", SIGTSTP}, {"CONT", SIGCONT}, {"INT", SIGINT},   {"TERM", SIGTERM},
                   {"HUP", SIGHUP},   {"SEGV", SIGSEGV}, {"ABRT", SIGABRT}, {"WINCH", SIGWINCH},
                   {"KILL", SIGKILL}, {"QUIT", SIGQUIT}, {"STOP", SIGSTOP}, {"PIPE", SIGPIPE},
                   {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"BUS", SIGBUS},   {"FPE", SIGFPE},
                   {"ALRM", SIGALRM}, {"ILL", SIGILL}};
    if (!name)
        return false;
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++) {
        if (strcmp(name, SIGNALS[i].name) == 0) {
            *out = SIGNALS[i].number;
            return true;
        }
    }
    return false;
}

/* --- waiting ---------------------------------------------------------------------------------- */

const char *drive_fate(const struct drive *d)
{
    static char text[64];
    int status = d->term.status;
    if (!d->term.ended && !d->term.stopped)
        return "runs";
    if (!d->term.ended)
        snprintf(text, sizeof text, "stopped by SIG%s", sigabbrev_np(WSTOPSIG(status)));
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "was ended by SIG%s", sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(text, sizeof text, "ended with status %d", WEXITSTATUS(status));
    return text;
}

bool drive_flush(struct drive *d)
{
    if (term_flush(&d->term, term_now() + d->limit))
        return true;
    return drive_fail(d, "the program does not read what is typed");
}

/* A row that is named from the top, or with a negative number from the bottom. */
static bool drive_row(struct drive *d, const char *word, int *out)
{
    double row;
    if (!drive_number(word, &row) || row >= d->term.rows || row < -d->term.rows)
        return false;
    *out = (int)row + (row < 0 ? d->term.rows : 0);
    return true;
}

/* In this row; in any where `any`. */
static bool drive_shows(struct drive *d, const char *text, int row, bool any)
{
    if (!any)
        return strstr(term_row(&d->term, row), text);
    for (row = 0; row < d->term.rows; row++)
        if (strstr(term_row(&d->term, row), text))
            return true;
    return false;
}

/* Waits until the text is there, or gone. */
static bool drive_await(struct drive *d, const char *text, int row, bool any, bool gone,
                        double seconds)
{
    struct term *t = &d->term;
    const char *what = gone ? "still shows" : "does not show";
    double until = term_now() + seconds;
    if (!*text)
        return drive_fail(d, "which text?");
    while (drive_shows(d, text, row, any) == gone) {
        if (t->closed && (t->ended || term_now() > t->heard + 1)) /* the news may come later */
            return drive_fail(d, "the program %s, and its screen %s \"%s\"", drive_fate(d), what,
                              text);
        if (term_now() >= until)
            return drive_fail(d, "after %g s the %s %s \"%s\"%s%s", seconds, any ? "screen" : "row",
                              what, text, t->stopped || t->ended ? "; the program " : "",
                              t->stopped || t->ended ? drive_fate(d) : "");
        term_pump(t, t->closed ? term_now() + 0.01 : until);
    }
    return true;
}

static bool drive_wait(struct drive *d, char *arg)
{
    double seconds;
    const char *text = drive_text_and_limit(d, arg, &seconds);
    return drive_await(d, text, 0, true, false, seconds);
}

static bool drive_wait_gone(struct drive *d, char *arg)
{
    double seconds;
    const char *text = drive_text_and_limit(d, arg, &seconds);
    return drive_await(d, text, 0, true, true, seconds);
}

static bool drive_wait_row(struct drive *d, char *arg)
{
    double seconds;
    int row;
    if (!drive_row(d, drive_word(&arg), &row))
        return drive_fail(d, "which row?");
    const char *text = drive_text_and_limit(d, arg + strspn(arg, " \t"), &seconds);
    return drive_await(d, text, row, false, false, seconds);
}

static bool drive_settle(struct drive *d, char *arg)
{
    double ms = 60;
    if (*arg && !drive_number(arg, &ms))
        return drive_fail(d, "how many milliseconds?");
    if (term_rest(&d->term, ms * 1e-3, term_now() + d->limit))
        return true;
    return drive_fail(d, "the program was never idle for %g ms in %g s", ms, d->limit);
}

static bool drive_sleep(struct drive *d, char *arg)
{
    double ms;
    if (!drive_number(arg, &ms))
        return drive_fail(d, "how many milliseconds?");
    for (double until = term_now() + ms * 1e-3; term_now() < until;)
        term_pump(&d->term, until);
    return true;
}

static bool drive_start_time(struct drive *d, char *arg)
{
    double seconds;
    const char *text = drive_text_and_limit(d, arg, &seconds);
    if (d->running)
        return drive_fail(d, "the program runs already: this must be the first line");
    if (!term_start(&d->term, d->argv, d->env, d->env_n))
        return drive_fail(d, "%s", strerror(errno));
    d->running = true;
    if (!drive_await(d, text, 0, true, false, seconds))
        return false;
    printf("start: %.1f ms\n", (term_now() - d->term.started) * 1e3);
    return true;
}

static bool drive_answer(struct drive *d, char *arg)
{
    double seconds;
    const char *key = drive_word(&arg), *text = drive_text_and_limit(d, arg, &seconds);
    if (!key || term_key_length(key) == 0 || !*text)
        return drive_fail(d, "KEY TEXT [SECONDS]?");
    double from = term_now();
    term_key(&d->term, &key);
    if (!drive_flush(d) || !drive_await(d, text, 0, true, false, seconds))
        return false;
    printf("answer: %.0f ms\n", (term_now() - from) * 1e3);
    return true;
}

/* Until all is heard that the program said before it ended. */
static void drive_drain(struct drive *d)
{
    term_settle(&d->term, 0.05, term_now() + 1);
}

/* Whether the program ended with one of these statuses and signals, which commas part. */
static bool drive_ended_with(struct drive *d, char *ends, bool *as_said)
{
    char *rest = NULL;
    int status = d->term.status;
    for (char *end = strtok_r(ends, ",", &rest); end; end = strtok_r(NULL, ",", &rest)) {
        double number = 0;
        int sig = 0;
        if (!drive_number(end, &number) && !drive_signal(end, &sig))
            return drive_fail(d, "neither a status nor a signal: %s", end);
        *as_said |= sig ? WIFSIGNALED(status) && WTERMSIG(status) == sig
                        : WIFEXITED(status) && WEXITSTATUS(status) == (int)number;
    }
    return true;
}

static bool drive_expect_exit(struct drive *d, char *arg)
{
    struct term *t = &d->term;
    double seconds = d->limit;
    bool as_said = false;
    char none[] = "0", *word = drive_word(&arg);
    drive_number(drive_word(&arg), &seconds);
    double until = term_now() + seconds;
    while (!t->ended && term_now() < until)
        term_pump(t, until);
    if (!t->ended)
        return drive_fail(d, "after %g s the program still %s", seconds, drive_fate(d));
    drive_drain(d);
    return drive_ended_with(d, word ? word : none, &as_said) &&
           (as_said || drive_fail(d, "the program %s", drive_fate(d)));
}

static bool drive_expect_stop(struct drive *d, char *arg)
{
    struct term *t = &d->term;
    double until = term_now() + d->limit;
    while (!t->stopped && !t->ended && term_now() < until)
        term_pump(t, until);
    if (!t->stopped)
        return drive_fail(d, "the program %s", drive_fate(d));
    drive_drain(d);
    return true;
}

static bool drive_restored(struct drive *d, char *arg)
{
    if (!d->term.ended && !d->term.stopped)
        return drive_fail(d, "the program still runs: first expect-exit or expect-stop");
    const char *left = term_left(&d->term);
    return !left || drive_fail(d, "%s", left);
}

/* --- input ------------------------------------------------------------------------------------ */

static bool drive_keys(struct drive *d, char *arg)
{
    const char *keys = drive_text(arg);
    for (const char *at = keys; *at;) {
        size_t n = term_key_length(at);
        if (n == 0)
            return drive_fail(d, "no such key: %s", at);
        at += n;
    }
    while (*keys) {
        bool esc = strncasecmp(keys, "<Esc>", 5) == 0;
        unsigned long turns = term_reader_turns(&d->term);
        term_key(&d->term, &keys);
        if (esc) {
            if (!drive_flush(d))
                return false;
            if (!term_reader_rests(&d->term, turns, ESC_PAUSE, term_now() + d->limit))
                return drive_fail(d, "the program was never idle to see Esc alone");
        }
    }
    return drive_flush(d);
}

static bool drive_type(struct drive *d, char *arg)
{
    const char *text = drive_text(arg);
    term_send(&d->term, text, strlen(text));
    return drive_flush(d);
}

static bool drive_paste(struct drive *d, char *arg)
{
    const char *text = drive_text(arg);
    vterm_keyboard_start_paste(d->term.vt);
    term_send(&d->term, text, strlen(text));
    vterm_keyboard_end_paste(d->term.vt);
    return drive_flush(d);
}

static bool drive_mouse(struct drive *d, char *arg)
{
    static const char *const BUTTONS[] = {"", "left", "middle", "right", "wheel-up", "wheel-down"};
    const char *name = drive_word(&arg);
    double col;
    int row, button = 5;
    while (button > 0 && name && strcmp(name, BUTTONS[button]) != 0)
        button--;
    if (!name || !button)
        return drive_fail(d, "left, middle, right, wheel-up or wheel-down?");
    if (!drive_number(drive_word(&arg), &col) || !drive_row(d, drive_word(&arg), &row) || col < 0 ||
        col >= d->term.cols)
        return drive_fail(d, "at which column and row?");
    const char *how = drive_word(&arg);
    if (!how || button > 3)
        how = "click";
    if (strcmp(how, "click") != 0 && strcmp(how, "press") != 0 && strcmp(how, "release") != 0)
        return drive_fail(d, "press, release or click?");
    if (*how != 'r')
        term_mouse(&d->term, button, true, (int)col, row);
    if (*how != 'p' && button < 4)
        term_mouse(&d->term, button, false, (int)col, row);
    return drive_flush(d);
}

static bool drive_resize(struct drive *d, char *arg)
{
    int cols, rows;
    if (!drive_size(arg, &cols, &rows))
        return drive_fail(d, "COLSxROWS, from 2x1 to %dx%d", TERM_MOST, TERM_MOST);
    term_resize(&d->term, cols, rows);
    return true;
}

static bool drive_kill(struct drive *d, char *arg)
{
    int sig;
    if (!drive_signal(arg, &sig))
        return drive_fail(d, "no such signal: %s", arg);
    if (d->term.ended)
        return drive_fail(d, "the program %s", drive_fate(d));
    if (kill(d->term.program, sig) < 0)
        return drive_fail(d, "%s", strerror(errno));
    return true;
}

/* --- output ----------------------------------------------------------------------------------- */

static bool drive_show(struct drive *d, const char *path, void (*show)(struct term *t, FILE *to))
{
    FILE *to = *path ? fopen(path, "w") : stdout;
    if (!to)
        return drive_fail(d, "%s: %s", path, strerror(errno));
    show(&d->term, to);
    if ((to == stdout ? fflush(to) : fclose(to)) != 0)
        return drive_fail(d, "%s: %s", path, strerror(errno));
    return true;
}

static bool drive_dump(struct drive *d, char *arg)
{
    return drive_show(d, arg, show_text);
}

static bool drive_rows(struct drive *d, char *arg)
{
    int row, last;
    if (!drive_row(d, drive_word(&arg), &row) || !drive_row(d, drive_word(&arg), &last))
        return drive_fail(d, "from which row to which?");
    for (; row <= last; row++)
        puts(term_row(&d->term, row));
    return true;
}

static bool drive_dump_attrs(struct drive *d, char *arg)
{
    return drive_show(d, arg, show_attrs);
}

static bool drive_svg(struct drive *d, char *arg)
{
    return drive_show(d, arg, show_svg);
}

/* --- a film ----------------------------------------------------------------------------------- */

static bool drive_caption(struct drive *d, char *arg)
{
    snprintf(d->film.caption, sizeof d->film.caption, "%s", drive_text(arg));
    return true;
}

static bool drive_hold(struct drive *d, char *arg)
{
    double ms;
    if (!drive_number(arg, &ms) || ms <= 0)
        return drive_fail(d, "for how many milliseconds?");
    return film_take(&d->film, &d->term, ms / 1000) || drive_fail(d, "the screen has another size");
}

/* A picture as often as that, as long as the screen changes. */
static bool drive_film(struct drive *d, char *arg)
{
    double ms, count;
    const char *first = drive_word(&arg);
    if (!first || !drive_number(first, &count) || !drive_number(arg, &ms) || ms <= 0)
        return drive_fail(d, "how many pictures, and how many milliseconds apart?");
    for (int i = 0; i < (int)count; i++) {
        double until = term_now() + ms / 1000;
        while (term_now() < until)
            term_pump(&d->term, until);
        if (!film_take(&d->film, &d->term, ms / 1000))
            return drive_fail(d, "the screen has another size");
    }
    return true;
}

static bool drive_film_to(struct drive *d, char *arg)
{
    FILE *to = d->film.n_rows ? fopen(arg, "w") : NULL;
    if (!to)
        return drive_fail(d, "%s: %s", arg, d->film.n_rows ? strerror(errno) : "nothing is taken");
    film_write(&d->film, to);
    return fclose(to) == 0 || drive_fail(d, "%s: %s", arg, strerror(errno));
}

static bool drive_cursor(struct drive *d, char *arg)
{
    printf("cursor %d %d %s\n", d->term.cursor.col, d->term.cursor.row,
           d->term.cursor_shown ? "visible" : "hidden");
    return true;
}

static bool drive_bytes(struct drive *d, char *arg)
{
    printf("bytes: %llu\n", (unsigned long long)d->term.bytes);
    return true;
}

static bool drive_echo(struct drive *d, char *arg)
{
    puts(drive_text(arg));
    return true;
}

/* --- settings --------------------------------------------------------------------------------- */

static void drive_set(struct drive *d, const char *setting)
{
    d->env = realloc(d->env, (d->env_n + 1) * sizeof *d->env);
    if (!d->env)
        abort();
    d->env[d->env_n++] = strdup(setting);
}

static bool drive_env(struct drive *d, char *arg)
{
    if (!strchr(arg, '=') || *arg == '=')
        return drive_fail(d, "NAME=VALUE?");
    if (d->running)
        return drive_fail(d, "the program runs already");
    drive_set(d, arg);
    return true;
}

static bool drive_limit(struct drive *d, char *arg)
{
    return (drive_number(arg, &d->limit) && d->limit > 0) || drive_fail(d, "how many seconds?");
}

/* --- scripts ---------------------------------------------------------------------------------- */

static const struct command COMMANDS[] = {
    {"keys", drive_keys, true, "KEYS"},
    {"type", drive_type, true, "TEXT"},
    {"paste", drive_paste, true, "TEXT"},
    {"mouse", drive_mouse, true, "BUTTON COL ROW [press|release|click]"},
    {"resize", drive_resize, true, "COLSxROWS"},
    {"signal", drive_kill, true, "NAME"},
    {"wait", drive_wait, true, "TEXT [SECONDS]: until the screen shows it"},
    {"wait-gone", drive_wait_gone, true, "TEXT [SECONDS]"},
    {"wait-row", drive_wait_row, true, "ROW TEXT [SECONDS]"},
    {"settle", drive_settle, true, "[MS]: until it neither writes nor works for that long"},
    {"sleep", drive_sleep, true, "MS"},
    {"dump", drive_dump, true, "[FILE]: the screen as text"},
    {"rows", drive_rows, true, "FIRST LAST: these rows as text"},
    {"dump-attrs", drive_dump_attrs, true, "[FILE]: the screen, its attributes and colours"},
    {"svg", drive_svg, true, "FILE: a picture of the screen"},
    {"caption", drive_caption, true, "TEXT: below what is filmed from now on"},
    {"film", drive_film, true, "COUNT MS: adds pictures so far apart to a film"},
    {"hold", drive_hold, true, "MS: adds the screen for so long"},
    {"film-to", drive_film_to, true, "FILE: writes the film"},
    {"cursor", drive_cursor, true, ": where it is"},
    {"bytes", drive_bytes, true, ": how many the program wrote so far"},
    {"expect-exit", drive_expect_exit, true, "[STATUS|SIGNAL[,…] [SECONDS]]: one of these, or 0"},
    {"expect-stop", drive_expect_stop, true, ": waits until the program is stopped"},
    {"terminal-restored", drive_restored, true, ": is it as before the start?"},
    {"storm", drive_storm, true, "COUNT SEED [KEYS]: random keys, clicks and sizes"},
    {"storm-avoid", drive_storm_avoid, false, "KEYS: that storms leave out"},
    {"measure", drive_measure, true, "COUNT KEY[/KEY] ROW|*: from a key until the row is another"},
    {"answer", drive_answer, true, "KEY TEXT [SECONDS]: from a key until the screen shows it"},
    {"start-time", drive_start_time, false, "TEXT: from the start until the screen shows it"},
    {"env", drive_env, false, "NAME=VALUE: for the program that is to start"},
    {"limit", drive_limit, false, "SECONDS: that a wait may take from now on"},
    {"echo", drive_echo, false, "TEXT"},
};

static bool drive_line(struct drive *d, char *line, int depth)
{
    line[strcspn(line, "\r\n")] = '\0';
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'); n--)
        line[n - 1] = '\0';
    if (*line == '\0' || *line == '#')
        return true;
    char *arg = line;
    const char *name = drive_word(&arg);
    arg += strspn(arg, " \t");
    if (strcmp(name, "source") == 0)
        return drive_script(d, arg, depth + 1);
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        if (strcmp(name, COMMANDS[i].name) != 0)
            continue;
        if (COMMANDS[i].needs_program && !d->running) {
            if (!term_start(&d->term, d->argv, d->env, d->env_n))
                return drive_fail(d, "%s: %s", d->argv[0], strerror(errno));
            d->running = true;
        }
        return COMMANDS[i].run(d, arg);
    }
    return drive_fail(d, "no such command: %s", name);
}

/* Runs a script; says where it failed, once. */
static bool drive_script(struct drive *d, const char *path, int depth)
{
    FILE *from = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!from || depth > DRIVE_DEPTH)
        return drive_fail(d, "%s: %s", path, from ? "scripts read each other" : strerror(errno));
    char *line = NULL, *said = NULL;
    size_t room = 0;
    bool good = true;
    for (int n = 1; good && getline(&line, &room, from) >= 0; n++) {
        said = strdup(line);
        good = drive_line(d, line, depth);
        fflush(stdout);
        if (!good && *d->why) {
            said[strcspn(said, "\r\n")] = '\0';
            fprintf(stderr, "drive: %s:%d: %.200s: %s\n", path, n, said, d->why);
            d->why[0] = '\0';
            for (int row = 0; d->running && row < d->term.rows; row++)
                fprintf(stderr, "%3d|%s\n", row, term_row(&d->term, row));
        }
        free(said);
    }
    free(line);
    if (from != stdin)
        fclose(from);
    return good;
}

static int drive_usage(void)
{
    fputs("usage: drive [-s COLSxROWS] [-T TERM] [-e NAME=VALUE]... [-l LOG] SCRIPT|- -- PROGRAM"
          " ARGS...\nA script's commands:\n",
          stderr);
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++)
        fprintf(stderr, "  %s%s%s\n", COMMANDS[i].name, *COMMANDS[i].usage == ':' ? "" : " ",
                COMMANDS[i].usage);
    fputs("  source FILE\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static const char *const PLAIN[] = {"TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8"};
    struct drive d = {.limit = 20};
    int cols = 80, rows = 24, option;
    FILE *log = NULL;
    char setting[256];
    unsetenv("LINES");
    unsetenv("COLUMNS");
    unsetenv("COLORTERM");
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++)
        drive_set(&d, PLAIN[i]);
    while ((option = getopt(argc, argv, "+s:T:e:l:")) != -1) {
        snprintf(setting, sizeof setting, "TERM=%s", optarg ? optarg : "");
        if (option == 's' && !drive_size(optarg, &cols, &rows))
            return drive_usage();
        if (option == 'T' || (option == 'e' && strchr(optarg, '=')))
            drive_set(&d, option == 'T' ? setting : optarg);
        else if (option == 'l' && !(log = fopen(optarg, "wbe")))
            return perror(optarg), 2;
        else if (option == '?' || option == 'e')
            return drive_usage();
    }
    if (optind + 1 >= argc || (strcmp(argv[optind + 1], "--") == 0 && optind + 2 >= argc))
        return drive_usage();
    d.argv = argv + optind + 1;
    if (strcmp(d.argv[0], "--") == 0)
        d.argv++;
    term_init(&d.term, cols, rows);
    d.term.log = log;
    bool good = drive_script(&d, argv[optind], 0);
    if (*d.why)
        fprintf(stderr, "drive: %s\n", d.why); /* the script itself */
    term_end(&d.term);
    for (size_t i = 0; i < d.env_n; i++)
        free(d.env[i]);
    free(d.env);
    free(d.avoid);
    if (log)
        fclose(log);
    return good ? 0 : 1;
}
