/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Between this process and the program stands a keeper, which is to the program what the shell is:
 * it leads the session and waits. Without it the program's process group would be an orphan, which
 * the kernel does not stop on Ctrl-Z.
 */
#include "term.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct news {
    pid_t pid;
    int status;
    bool over;
};

double term_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* --- the emulator ----------------------------------------------------------------------------- */

static int term_on_cursor(VTermPos pos, VTermPos old, int visible, void *payload)
{
    struct term *t = payload;
    t->cursor = pos;
    return 1;
}

static int term_on_prop(VTermProp prop, VTermValue *value, void *payload)
{
    struct term *t = payload;
    if (prop == VTERM_PROP_ALTSCREEN)
        t->alternate = value->boolean;
    else if (prop == VTERM_PROP_MOUSE)
        t->mouse = value->number;
    return 1;
}

static void term_on_output(const char *bytes, size_t n, void *payload)
{
    struct term *t = payload;
    if (!t->probing) {
        term_send(t, bytes, n);
        return;
    }
    for (size_t i = 0; i < n && t->probe_n + 1 < sizeof t->probe; i++)
        t->probe[t->probe_n++] = bytes[i];
    t->probe[t->probe_n] = '\0';
}

void term_init(struct term *t, int cols, int rows)
{
    static const VTermScreenCallbacks CALLBACKS = {.movecursor = term_on_cursor,
                                                   .settermprop = term_on_prop};
    *t = (struct term){.rows = rows, .cols = cols, .master = -1, .news = -1};
    t->vt = vterm_new(rows, cols);
    vterm_set_utf8(t->vt, 1);
    vterm_output_set_callback(t->vt, term_on_output, t);
    t->screen = vterm_obtain_screen(t->vt);
    t->state = vterm_obtain_state(t->vt);
    vterm_screen_set_callbacks(t->screen, &CALLBACKS, t);
    vterm_screen_enable_altscreen(t->screen, 1);
    t->cursor_shown = true;
    vterm_screen_reset(t->screen, 1);
}

bool term_cell(const struct term *t, int row, int col, VTermScreenCell *cell)
{
    VTermPos pos = {.row = row, .col = col};
    if (!vterm_screen_get_cell(t->screen, pos, cell))
        return false;
    if (cell->chars[0] != TERM_RIGHT_HALF || col == 0)
        return true;
    pos.col--; /* the emulator gives the right half whatever was there before */
    vterm_screen_get_cell(t->screen, pos, cell);
    cell->chars[0] = TERM_RIGHT_HALF;
    cell->chars[1] = 0;
    cell->width = 1;
    return true;
}

size_t term_utf8(uint32_t c, char *to)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)((0xf00 >> n & 0xff) | c);
    return n;
}

const char *term_row(struct term *t, int row)
{
    size_t n = 0, last = 0;
    VTermScreenCell cell;
    for (int col = 0; col < t->cols && term_cell(t, row, col, &cell); col++) {
        if (cell.chars[0] == TERM_RIGHT_HALF)
            continue;
        if (!cell.chars[0])
            t->text[n++] = ' ';
        for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i]; i++)
            n += term_utf8(cell.chars[i], t->text + n);
        if (cell.chars[0] && cell.chars[0] != ' ')
            last = n;
    }
    t->text[last] = '\0';
    return t->text;
}

static uint64_t term_mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x100000001b3u;
}

uint64_t term_hash(const struct term *t, int row)
{
    uint64_t hash = 0xcbf29ce484222325u;
    VTermScreenCell cell;
    for (int r = row < 0 ? 0 : row; r < (row < 0 ? t->rows : row + 1); r++) {
        for (int col = 0; col < t->cols && term_cell(t, r, col, &cell); col++) {
            hash = term_mix(hash, cell.chars[0] ? cell.chars[0] : ' ');
            for (int i = 1; cell.chars[i - 1] && i < VTERM_MAX_CHARS_PER_CELL; i++)
                hash = term_mix(hash, cell.chars[i]);
            int attrs = cell.attrs.bold | cell.attrs.underline << 1 | cell.attrs.italic << 3 |
                        cell.attrs.reverse << 4 | cell.attrs.strike << 5 | cell.attrs.font << 6;
            hash = term_mix(hash, (uint64_t)attrs);
            for (int i = 0; i < 2; i++) {
                const VTermColor *c = i ? &cell.bg : &cell.fg;
                bool rgb = VTERM_COLOR_IS_RGB(c);
                hash = term_mix(hash, c->type | (uint64_t)c->rgb.red << 8 |
                                          (rgb ? (uint64_t)c->rgb.green << 16 : 0) |
                                          (rgb ? (uint64_t)c->rgb.blue << 24 : 0));
            }
        }
    }
    return hash;
}

/* --- the program ------------------------------------------------------------------------------ */

/* The program's side of a fork. */
static void term_exec(int slave, char **argv, char **env, size_t env_n)
{
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(slave, getpid());
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
    for (int fd = 0; fd < 3; fd++)
        dup2(slave, fd);
    if (slave > 2)
        close(slave);
    for (size_t i = 0; i < env_n; i++)
        putenv(env[i]);
    execvp(argv[0], argv);
    dprintf(2, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* The keeper's life: tells every stop, and the end. When this process is gone the terminal is too:
 * that ends the keeper, and with it, as with a shell, the program. */
static void term_keep(int slave, int news, char **argv, char **env, size_t env_n)
{
    setsid();
    ioctl(slave, TIOCSCTTY, 0);
    static const int DEAF_TO[] = {SIGINT, SIGQUIT, SIGTSTP, SIGPIPE};
    for (size_t i = 0; i < sizeof DEAF_TO / sizeof *DEAF_TO; i++)
        signal(DEAF_TO[i], SIG_IGN);
    signal(SIGHUP, SIG_DFL);
    int begun[2]; /* closes when the program runs, before which no signal may find it */
    if (pipe2(begun, O_CLOEXEC) < 0)
        _exit(1);
    struct news now = {.pid = fork()};
    if (now.pid == 0)
        term_exec(slave, argv, env, env_n);
    close(slave);
    close(begun[1]);
    (void)!read(begun[0], &(char){0}, 1);
    do {
        if (write(news, &now, sizeof now) != sizeof now)
            break; /* no reader is left: that is the end too */
        if (waitpid(now.pid, &now.status, WUNTRACED | WCONTINUED) < 0)
            break;
        now.over = WIFEXITED(now.status) || WIFSIGNALED(now.status);
    } while (!now.over);
    (void)!write(news, &now, sizeof now);
    _exit(0);
}

bool term_start(struct term *t, char **argv, char **env, size_t env_n)
{
    struct winsize size = {.ws_row = (unsigned short)t->rows, .ws_col = (unsigned short)t->cols};
    int slave, pipes[2];
    if (openpty(&t->master, &slave, NULL, NULL, &size) < 0)
        return false;
    if (pipe2(pipes, O_CLOEXEC) < 0)
        return false;
    fcntl(t->master, F_SETFD, FD_CLOEXEC);
    fcntl(t->master, F_SETFL, O_NONBLOCK);
    tcgetattr(t->master, &t->before);
    t->started = t->heard = term_now();
    t->keeper = fork();
    if (t->keeper == 0) {
        close(t->master);
        close(pipes[0]);
        term_keep(slave, pipes[1], argv, env, env_n);
    }
    close(slave);
    close(pipes[1]);
    t->news = pipes[0];
    struct news first;
    if (t->keeper < 0 || read(t->news, &first, sizeof first) != sizeof first)
        return false;
    t->program = first.pid;
    fcntl(t->news, F_SETFL, O_NONBLOCK);
    return true;
}

static void term_hear(struct term *t)
{
    char buf[1 << 16];
    ssize_t n = read(t->master, buf, sizeof buf);
    if (n > 0) {
        term_show(t, buf, (size_t)n);
        if (t->log)
            fwrite(buf, 1, (size_t)n, t->log);
        t->bytes += (uint64_t)n;
        t->heard = term_now();
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        t->closed = true; /* EIO: no process has the other end open */
    }
}

static void term_learn(struct term *t)
{
    struct news news;
    ssize_t n = read(t->news, &news, sizeof news);
    if (n == sizeof news) {
        t->status = news.status;
        t->ended = news.over;
        t->stopped = WIFSTOPPED(news.status);
    } else if (n == 0) {
        t->ended = true;
    }
}

static void term_say(struct term *t)
{
    ssize_t n = write(t->master, t->out, t->out_n);
    if (n > 0) {
        t->out_n -= (size_t)n;
        memmove(t->out, t->out + n, t->out_n);
    }
}

bool term_pump(struct term *t, double until)
{
    double left = until - term_now();
    struct pollfd fds[] = {
        {.fd = t->closed ? -1 : t->master, .events = POLLIN | (t->out_n ? POLLOUT : 0)},
        {.fd = t->ended ? -1 : t->news, .events = POLLIN},
    };
    struct timespec wait = {0};
    if (left > 0) {
        wait.tv_sec = (time_t)left;
        wait.tv_nsec = (long)((left - (double)wait.tv_sec) * 1e9);
    }
    if (ppoll(fds, 2, &wait, NULL) <= 0)
        return false;
    if (fds[1].revents)
        term_learn(t);
    if (fds[0].revents & POLLOUT)
        term_say(t);
    if (!(fds[0].revents & ~POLLOUT))
        return false;
    uint64_t before = t->bytes;
    term_hear(t);
    return t->bytes != before;
}

bool term_settle(struct term *t, double silence, double until)
{
    for (double from = term_now(); !t->closed;) {
        double now = term_now();
        double quiet = (t->heard > from ? t->heard : from) + silence;
        if (now >= quiet)
            return true;
        if (now >= until)
            return false;
        term_pump(t, quiet < until ? quiet : until);
    }
    return true;
}

bool term_flush(struct term *t, double until)
{
    while (t->out_n && !t->closed) {
        if (term_now() >= until)
            return false;
        term_pump(t, until);
    }
    return true;
}

void term_send(struct term *t, const char *bytes, size_t n)
{
    if (t->out_n + n > t->out_room) {
        t->out_room = (t->out_n + n) * 2;
        t->out = realloc(t->out, t->out_room);
        if (!t->out)
            abort();
    }
    memcpy(t->out + t->out_n, bytes, n);
    t->out_n += n;
    t->turns_sent = term_reader_turns(t);
    t->sent = term_now();
}

void term_resize(struct term *t, int cols, int rows)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    t->rows = rows;
    t->cols = cols;
    vterm_set_size(t->vt, rows, cols);
    vterm_screen_flush_damage(t->screen);
    if (t->master >= 0)
        ioctl(t->master, TIOCSWINSZ, &size);
}

void term_mouse(struct term *t, int button, bool pressed, int col, int row)
{
    if (t->mouse == VTERM_PROP_MOUSE_NONE)
        return;
    vterm_mouse_move(t->vt, row, col, VTERM_MOD_NONE);
    vterm_mouse_button(t->vt, button, pressed, VTERM_MOD_NONE);
}

void term_end(struct term *t)
{
    static const int LAST_WORDS[] = {SIGHUP, SIGKILL};
    for (size_t i = 0; i < 2 && t->program > 0 && !t->ended; i++) {
        kill(-t->program, LAST_WORDS[i]);
        kill(-t->program, SIGCONT);
        for (double until = term_now() + 2; !t->ended && term_now() < until;)
            term_pump(t, until);
    }
    if (t->master >= 0)
        close(t->master);
    if (t->news >= 0)
        close(t->news);
    if (t->keeper > 0)
        waitpid(t->keeper, NULL, 0);
    vterm_free(t->vt);
    free(t->out);
    t->out = NULL;
}

/* --- what the program leaves behind ----------------------------------------------------------- */

/* What the emulator would send now, which tells modes that it does not show otherwise. */
static const char *term_probe(struct term *t, void (*ask)(VTerm *vt))
{
    t->probing = true;
    t->probe_n = 0;
    t->probe[0] = '\0';
    ask(t->vt);
    t->probing = false;
    return t->probe;
}

static void term_ask_up(VTerm *vt)
{
    vterm_keyboard_key(vt, VTERM_KEY_UP, VTERM_MOD_NONE);
}

static void term_ask_keypad(VTerm *vt)
{
    vterm_keyboard_key(vt, VTERM_KEY_KP_1, VTERM_MOD_NONE);
}

static void term_ask_focus(VTerm *vt)
{
    vterm_state_focus_in(vterm_obtain_state(vt));
}

static bool term_pen_is_plain(const struct term *t)
{
    static const VTermAttr PLAIN[] = {VTERM_ATTR_BOLD,    VTERM_ATTR_UNDERLINE, VTERM_ATTR_ITALIC,
                                      VTERM_ATTR_REVERSE, VTERM_ATTR_BLINK,     VTERM_ATTR_STRIKE,
                                      VTERM_ATTR_FONT};
    VTermValue value;
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++) {
        value = (VTermValue){0};
        vterm_state_get_penattr(t->state, PLAIN[i], &value);
        if (value.number)
            return false;
    }
    vterm_state_get_penattr(t->state, VTERM_ATTR_FOREGROUND, &value);
    if (!VTERM_COLOR_IS_DEFAULT_FG(&value.color))
        return false;
    vterm_state_get_penattr(t->state, VTERM_ATTR_BACKGROUND, &value);
    return VTERM_COLOR_IS_DEFAULT_BG(&value.color);
}

const char *term_left(struct term *t)
{
    struct termios now;
    if (t->alternate)
        return "the alternate screen is still shown";
    if (!t->cursor_shown)
        return "the cursor is still hidden";
    if (t->mouse != VTERM_PROP_MOUSE_NONE)
        return "mouse events are still reported";
    if (!term_pen_is_plain(t))
        return "colours or attributes are still set";
    if (strcmp(term_probe(t, term_ask_up), "\033[A") != 0)
        return "the cursor keys are still in application mode";
    if (strcmp(term_probe(t, term_ask_keypad), "1") != 0)
        return "the keypad is still in application mode";
    if (*term_probe(t, vterm_keyboard_start_paste))
        return "pasted text is still bracketed";
    if (*term_probe(t, term_ask_focus))
        return "focus events are still reported";
    if (tcgetattr(t->master, &now) < 0)
        return "the terminal's settings cannot be read";
    if (now.c_lflag != t->before.c_lflag)
        return !(now.c_lflag & ECHO)     ? "the terminal's settings: no echo"
               : !(now.c_lflag & ICANON) ? "the terminal's settings: not by lines"
               : !(now.c_lflag & ISIG)   ? "the terminal's settings: no signals from keys"
                                         : "the terminal's settings: other local modes";
    if (now.c_iflag != t->before.c_iflag || now.c_oflag != t->before.c_oflag)
        return "the terminal's settings: other input or output modes";
    if (now.c_cflag != t->before.c_cflag || memcmp(now.c_cc, t->before.c_cc, sizeof now.c_cc) != 0)
        return "the terminal's settings: other characters or speed";
    return NULL;
}
