/* SPDX-License-Identifier: MIT
 *
 * What must hold whatever the program does: no pipe of it is left full while we wait for another,
 * nothing that it says takes more memory than a line may, and it is known to have ended although a
 * process that it left behind holds its pipes.
 */
#include "executor/programs/talk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "executor/transport/child.h"

#define TALK_TICK_MS 20
#define TALK_GRACE 1.0                /* seconds to end by itself; the debugger gives us two */
#define TALK_PIECE ((size_t)64 << 10) /* read at once: what a pipe holds */
#define TALK_DRAIN 64                 /* pieces read after its end, which may go on for ever */
#define TALK_SHOWN 200                /* bytes of a line that is no answer, in a message */
#define TALK_WORDS 600                /* of its last words, in a message */
#define TALK_BEGINNINGS 16            /* places in a line at which an answer is looked for */

void odb_talk_init(struct odb_talk *talk, const struct odb_argv *argv, const char *dir)
{
    *talk = (struct odb_talk){.program = {.argv = argv, .dir = dir, .said = ODB_BUF_INIT},
                              .to = -1,
                              .from = -1,
                              .words = -1,
                              .heard = ODB_BUF_INIT_MAX(ODB_TALK_MOST + 2 * TALK_PIECE),
                              .lock = PTHREAD_MUTEX_INITIALIZER};
}

static void talk_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* --- life and death -------------------------------------------------------------------------- */

/* Its number is given back only where no other thread can be about to use it. */
static bool talk_ended(struct odb_talk *talk)
{
    pthread_mutex_lock(&talk->lock);
    if (talk->pid) {
        pid_t done = waitpid(talk->pid, &talk->program.how, WNOHANG);
        if (done > 0 || (done < 0 && errno != EINTR))
            talk->pid = 0;
    }
    bool ended = talk->pid == 0;
    pthread_mutex_unlock(&talk->lock);
    return ended;
}

static void talk_kill(struct odb_talk *talk, bool cancelled)
{
    pthread_mutex_lock(&talk->lock);
    talk->cancelled |= cancelled;
    if (talk->pid)
        kill(talk->pid, SIGKILL);
    pthread_mutex_unlock(&talk->lock);
}

void odb_talk_cancel(struct odb_talk *talk)
{
    talk_kill(talk, true);
}

static bool talk_cancelled(struct odb_talk *talk)
{
    pthread_mutex_lock(&talk->lock);
    bool cancelled = talk->cancelled;
    pthread_mutex_unlock(&talk->lock);
    return cancelled;
}

static void talk_hang_up(struct odb_talk *talk)
{
    talk_close(&talk->to);
    talk_close(&talk->from);
    talk_close(&talk->words);
    odb_buf_clear(&talk->heard);
}

/* pipes: of its standard input, output and error. */
static enum odb_status talk_spawn(struct odb_talk *talk, int pipes[3][2], struct odb_error *err)
{
    pid_t pid = 0;
    for (int i = 0; i < 3; i++)
        if (pipe2(pipes[i], O_CLOEXEC) < 0)
            return odb_fail(err, ODB_E_IO, "pipe: %s", strerror(errno));
    ODB_TRY(odb_program_spawn(&talk->program, (const int[]){pipes[0][0], pipes[1][1], pipes[2][1]},
                              &pid, err));
    pthread_mutex_lock(&talk->lock);
    talk->pid = pid;
    if (talk->cancelled)
        kill(pid, SIGKILL);
    pthread_mutex_unlock(&talk->lock);
    return ODB_OK;
}

enum odb_status odb_talk_start(struct odb_talk *talk, struct odb_error *err)
{
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    talk_hang_up(talk);
    enum odb_status status = talk_spawn(talk, pipes, err);
    talk_close(&pipes[0][0]);
    talk_close(&pipes[1][1]);
    talk_close(&pipes[2][1]);
    talk->to = pipes[0][1];
    talk->from = pipes[1][0];
    talk->words = pipes[2][0];
    for (int i = 0; i < 3; i++)
        fcntl((const int[]){talk->to, talk->from, talk->words}[i], F_SETFL, O_NONBLOCK);
    if (status != ODB_OK)
        talk_hang_up(talk);
    return status;
}

/* --- what it says ---------------------------------------------------------------------------- */

static json_t *talk_parse(const char *text, size_t n)
{
    json_t *value = json_loadb(text, n, 0, NULL);
    if (value && json_is_boolean(json_object_get(value, "ok")))
        return value;
    json_decref(value);
    return NULL;
}

/* The first is told of, in words that odb_talk keeps. */
static void talk_tell(struct odb_talk *talk, const char *text, size_t n)
{
    struct odb_buf shown = ODB_BUF_INIT;
    char *cut = odb_xstrndup(text, ODB_MIN(n, (size_t)TALK_SHOWN));
    odb_buf_put_shown(&shown, cut);
    talk->noise = odb_xasprintf("%s printed on standard output what is no answer: %s%s",
                                talk->program.argv->list.items[0], odb_buf_text(&shown),
                                n > TALK_SHOWN ? "..." : "");
    free(cut);
    odb_buf_dispose(&shown);
    odb_program_heard(&talk->program, talk->noise, strlen(talk->noise));
    odb_program_heard(&talk->program, "\n", 1);
}

static void talk_noise(struct odb_talk *talk, const char *text, size_t n)
{
    n -= n && text[n - 1] == '\n';
    n -= n && text[n - 1] == '\r';
    if (!n)
        return;
    if (!talk->noise) {
        talk_tell(talk, text, n);
        return;
    }
    odb_program_heard(&talk->program, text, n);
    odb_program_heard(&talk->program, "\n", 1);
}

/* The answer in a line, which may stand behind what a library has printed without a line's end.
 * NULL: there is none. */
static json_t *talk_answer(struct odb_talk *talk, const char *text, size_t n)
{
    const char *at = text;
    json_t *answer = NULL;
    for (int i = 0; i < TALK_BEGINNINGS && !answer && at; i++) {
        at = memchr(at, '{', n - (size_t)(at - text));
        answer = at ? talk_parse(at, n - (size_t)(at - text)) : NULL;
        at = at && !answer ? at + 1 : at;
    }
    talk_noise(talk, text, answer ? (size_t)(at - text) : n);
    return answer;
}

/* The first answer among the whole lines that were heard, which go. NULL: there is none. */
static json_t *talk_take(struct odb_talk *talk)
{
    struct odb_buf *heard = &talk->heard;
    json_t *answer = NULL;
    size_t at = 0;
    for (const char *end; !answer && at < heard->len; at = (size_t)(end + 1 - heard->data)) {
        end = memchr(heard->data + at, '\n', heard->len - at);
        if (!end)
            break;
        answer = talk_answer(talk, heard->data + at, (size_t)(end + 1 - heard->data) - at);
    }
    if (at) {
        memmove(heard->data, heard->data + at, heard->len - at);
        heard->len -= at;
        heard->data[heard->len] = '\0';
    }
    return answer;
}

/* One piece of its standard output; false: there is none now, or a line is too long already. */
static bool talk_hear(struct odb_talk *talk)
{
    if (talk->from < 0 || talk->heard.len > ODB_TALK_MOST)
        return false;
    char *room = odb_buf_reserve(&talk->heard, TALK_PIECE);
    ssize_t n = room ? read(talk->from, room, TALK_PIECE) : 0;
    if (n == 0)
        talk_close(&talk->from);
    if (n <= 0)
        return false;
    talk->heard.len += (size_t)n;
    talk->heard.data[talk->heard.len] = '\0';
    return true;
}

/* What is there without waiting for more; false: nothing is. */
static bool talk_listen(struct odb_talk *talk)
{
    if (talk->words >= 0)
        odb_program_listen(&talk->program, talk->words);
    return talk_hear(talk);
}

/* What was said while nothing was asked answers nothing. */
static void talk_settle(struct odb_talk *talk)
{
    for (int i = 0; i < TALK_DRAIN && talk_listen(talk); i++)
        for (json_t *late; (late = talk_take(talk)); json_decref(late)) {
            static const char text[] = "an answer to no question was passed over\n";
            odb_program_heard(&talk->program, text, sizeof text - 1);
        }
}

/* --- a question ------------------------------------------------------------------------------ */

/* A program that has closed its input must not end us by SIGPIPE. Returns what write() does. */
static ssize_t talk_write(int fd, const char *text, size_t n)
{
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    ssize_t put = write(fd, text, n);
    int error = errno;
    if (put < 0 && error == EPIPE)
        sigtimedwait(&pipe, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return put;
}

static void talk_put(struct odb_talk *talk, const char **text, size_t *left)
{
    ssize_t put = talk_write(talk->to, *text, *left);
    if (put < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (put < 0) {
        talk_close(&talk->to); /* it will not hear the rest: its answer or its end comes */
        *left = 0;
        return;
    }
    *text += put;
    *left -= (size_t)put;
}

/* Writes what is left and reads what is there. False: it has ended, or closed its output. */
static bool talk_exchange(struct odb_talk *talk, const char **text, size_t *left)
{
    struct pollfd fds[] = {{.fd = talk->from, .events = POLLIN},
                           {.fd = talk->words, .events = POLLIN},
                           {.fd = *left ? talk->to : -1, .events = POLLOUT}};
    bool some = poll(fds, 3, TALK_TICK_MS) > 0;
    if (some && fds[2].revents)
        talk_put(talk, text, left);
    if (some && fds[1].revents && !odb_program_listen(&talk->program, talk->words) &&
        (fds[1].revents & POLLHUP))
        talk_close(&talk->words);
    if (some && fds[0].revents)
        talk_hear(talk);
    return talk->from >= 0 && !talk_ended(talk);
}

/* Waits so many seconds for its end; then makes it one. Whether it ended by itself. */
static bool talk_bury(struct odb_talk *talk, double seconds)
{
    bool itself = true;
    for (double end = odb_clock() + seconds; !talk_ended(talk);) {
        for (int i = 0; i < TALK_DRAIN && talk_listen(talk); i++)
            odb_buf_clear(&talk->heard);
        itself = itself && odb_clock() < end;
        if (!itself)
            talk_kill(talk, false);
        poll(NULL, 0, TALK_TICK_MS / 4);
    }
    for (int i = 0; i < TALK_DRAIN && talk_listen(talk); i++)
        odb_buf_clear(&talk->heard);
    talk_hang_up(talk);
    return itself;
}

static enum odb_status talk_endless(struct odb_talk *talk, struct odb_error *err)
{
    talk_bury(talk, 0);
    return odb_fail(err, ODB_E_EXECUTOR, "%s printed a line of more than %zu MiB",
                    talk->program.argv->list.items[0], ODB_TALK_MOST >> 20);
}

/* How it ended, with its last words. */
static enum odb_status talk_died(struct odb_talk *talk, const char *doing, struct odb_error *err)
{
    struct odb_buf says = ODB_BUF_INIT;
    char name[32], fate[64] = "closed its standard output";
    odb_program_heard(&talk->program, odb_buf_text(&talk->heard),
                      talk->heard.len); /* half a line */
    bool itself = talk_bury(talk, TALK_GRACE);
    int how = talk->program.how;
    if (talk_cancelled(talk))
        return odb_fail(err, ODB_CANCELLED, "cancelled while %s", doing);
    if (itself && WIFSIGNALED(how))
        snprintf(fate, sizeof fate, "was killed by %s",
                 odb_signal_name(WTERMSIG(how), name, sizeof name));
    else if (itself)
        snprintf(fate, sizeof fate, "exited with status %d", WEXITSTATUS(how));
    odb_program_last_words(&talk->program, TALK_WORDS, &says);
    odb_fail(err, ODB_E_CRASH, "%s %s while %s%s%s", talk->program.argv->list.items[0], fate, doing,
             says.len ? "; stderr: " : "", odb_buf_text(&says));
    odb_buf_dispose(&says);
    return ODB_E_CRASH;
}

/* The answer of one that has ended since it gave it. */
static json_t *talk_last(struct odb_talk *talk)
{
    json_t *answer = NULL;
    for (int i = 0; i < TALK_DRAIN && !answer && talk_listen(talk); i++)
        answer = talk_take(talk);
    return answer;
}

enum odb_status odb_talk_ask(struct odb_talk *talk, const char *question, const char *doing,
                             json_t **answer, struct odb_error *err)
{
    char *text = odb_xasprintf("%s\n", question);
    const char *rest = text;
    size_t left = strlen(text);
    bool alive = true;
    odb_buf_clear(&talk->program.said);
    talk_settle(talk);
    *answer = NULL;
    while (alive && talk->heard.len <= ODB_TALK_MOST && (left || !*answer)) {
        alive = talk_exchange(talk, &rest, &left);
        if (!*answer)
            *answer = talk_take(talk);
    }
    free(text);
    if (!*answer && alive)
        return talk_endless(talk, err);
    if (!*answer)
        *answer = talk_last(talk);
    return *answer ? ODB_OK : talk_died(talk, doing, err);
}

bool odb_talk_running(struct odb_talk *talk)
{
    return !talk_ended(talk);
}

void odb_talk_dispose(struct odb_talk *talk, const char *last)
{
    if (talk->to >= 0) {
        char *text = odb_xasprintf("%s\n", last);
        talk_write(talk->to, text, strlen(text)); /* or not: the end of its input says the same */
        free(text);
    }
    talk_close(&talk->to);
    talk_bury(talk, TALK_GRACE);
    odb_buf_dispose(&talk->heard);
    odb_program_dispose(&talk->program);
    free(talk->noise);
    pthread_mutex_destroy(&talk->lock);
}
