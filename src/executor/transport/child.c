/* SPDX-License-Identifier: MIT
 *
 * What must hold whatever the child does: its output never fills a pipe that a process waits for,
 * its group is gone before its number can be another's (the zombie holds it), and nothing that it
 * left in its scratch directory stays. A process that leaves the group by itself, as daemons do, is
 * left alone: it may be one that others share.
 */
#include "executor/transport/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "system/newer.h"
#include "system/scratch.h"
#include "executor/transport/program.h"

#define CHILD_PIPE ((size_t)64 << 10) /* read at once: what a pipe holds */
#define CHILD_TICK_MS 5
#define CHILD_TERM_GRACE 0.3 /* seconds between SIGTERM and SIGKILL */
#define CHILD_KILL_GRACE                                                                           \
    10.0                  /* a driver may hold a killed process; the wait for it has an end        \
                           */
#define CHILD_RANG_MAX 16 /* pieces heard after its end: more than the pipe held */

static void child_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* --- words ----------------------------------------------------------------------------------- */

void odb_child_say(struct odb_child *child, const void *words, size_t n)
{
    size_t skip = n > ODB_CHILD_WORDS ? n - ODB_CHILD_WORDS : 0;
    child->n_words += skip;
    for (size_t i = skip; i < n; i++)
        child->words[child->n_words++ % ODB_CHILD_WORDS] = ((const char *)words)[i];
}

void odb_child_listen(struct odb_child *child)
{
    char piece[CHILD_PIPE];
    if (child->words_fd < 0)
        return;
    ssize_t n = read(child->words_fd, piece, sizeof piece);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        child_close(&child->words_fd);
    size_t got = n > 0 ? (size_t)n : 0;
    if (child->aloud)
        odb_program_say(piece, got);
    odb_child_say(child, piece, got);
}

void odb_child_hush(struct odb_child *child)
{
    odb_child_listen(child);
    child->n_words = 0;
}

void odb_child_words(const struct odb_child *child, struct odb_buf *out)
{
    size_t n = ODB_MIN(child->n_words, ODB_CHILD_WORDS);
    for (size_t i = child->n_words - n; i < child->n_words; i++)
        odb_buf_putc(out, child->words[i % ODB_CHILD_WORDS]);
}

void odb_child_last_line(const struct odb_child *child, size_t limit, struct odb_buf *out)
{
    struct odb_buf raw = ODB_BUF_INIT;
    odb_child_words(child, &raw);
    size_t begin = 0, end = raw.len;
    while (end > 0 && strchr(" \r\n\t", raw.data[end - 1]))
        end--;
    begin = end > limit ? end - limit : 0;
    while (begin < end && strchr(" \r\n\t", raw.data[begin]))
        begin++;
    for (size_t i = begin; i < end; i++)
        if (strchr("\r\n\t", raw.data[i])) /* zeros, too */
            raw.data[i] = ' ';
    if (raw.len)
        raw.data[end] = '\0';
    odb_buf_put_shown(out, odb_buf_text(&raw) + begin);
    odb_buf_dispose(&raw);
}

const char *odb_signal_name(int number, char *buf, size_t size)
{
    const char *name = sigabbrev_np(number);
    if (name)
        snprintf(buf, size, "SIG%s", name);
    else
        snprintf(buf, size, "signal %d", number);
    return buf;
}

/* --- the end --------------------------------------------------------------------------------- */

bool odb_child_ended(const struct odb_child *child, int *how)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        info.si_code = errno == ECHILD ? CLD_EXITED : 0; /* other code has reaped it */
    else if (info.si_pid != child->pid)
        return false;
    *how = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
    return info.si_code != 0;
}

bool odb_child_wait(struct odb_child *child, double seconds, int *how)
{
    for (double end = odb_clock() + seconds; !odb_child_ended(child, how);) {
        struct pollfd words = {.fd = child->words_fd, .events = POLLIN};
        if (odb_clock() >= end)
            return false;
        if (poll(&words, 1, CHILD_TICK_MS) > 0)
            odb_child_listen(child);
        else if (words.fd < 0)
            poll(NULL, 0, CHILD_TICK_MS);
    }
    return true;
}

int odb_child_stopped(const struct odb_child *child)
{
    siginfo_t info = {0};
    bool stopped = waitid(P_PID, (id_t)child->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
                   info.si_pid == child->pid;
    return stopped ? info.si_status : 0;
}

static void child_remove_scratch(struct odb_child *child)
{
    if (child->scratch)
        odb_scratch_remove(child->scratch);
    free(child->scratch);
    child->scratch = NULL;
}

void odb_child_bury(struct odb_child *child)
{
    int how;
    if (!child->pid)
        return;
    if (!odb_child_ended(child, &how)) {
        kill(-child->pid, SIGTERM);
        odb_child_wait(child, CHILD_TERM_GRACE, &how);
    }
    kill(-child->pid, SIGKILL);
    if (odb_child_wait(child, CHILD_KILL_GRACE, &how))
        waitpid(child->pid, &how, 0);
    for (int i = 0; i < CHILD_RANG_MAX && child->words_fd >= 0; i++)
        odb_child_listen(child);
    child->pid = 0;
    child_close(&child->sock);
    child_close(&child->words_fd);
    child_remove_scratch(child);
}

/* --- the beginning --------------------------------------------------------------------------- */

/* A copy of fd out of the way of the numbers that the child's descriptors get. */
static int child_move_up(int fd)
{
    int up = fcntl(fd, F_DUPFD_CLOEXEC, 16);
    close(fd);
    return up;
}

static int child_exec(struct odb_child *child, char *const *argv, bool stdio, int sock, int words)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t all, stops;
    sigfillset(&all);
    /* A job that is stopped while the child is in its group is let go on when it has left. */
    sigemptyset(&stops);
    sigaddset(&stops, SIGTSTP);
    sigaddset(&stops, SIGTTIN);
    sigaddset(&stops, SIGTTOU);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setsigmask(&attr, &stops);
    posix_spawn_file_actions_init(&files);
    if (stdio)
        posix_spawn_file_actions_adddup2(&files, sock, 0);
    else
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, stdio ? sock : words, 1);
    posix_spawn_file_actions_adddup2(&files, words, 2);
    if (!stdio)
        posix_spawn_file_actions_adddup2(&files, sock, ODB_CHILD_FD);
    posix_spawn_file_actions_addclosefrom_np(&files, stdio ? ODB_CHILD_FD : ODB_CHILD_FD + 1);
    int error = posix_spawnp(&child->pid, argv[0], &files, &attr, argv, environ);
    if (error)
        child->pid = 0;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return error;
}

enum odb_status odb_child_start(struct odb_child *child, char *const *argv, bool stdio,
                                struct odb_error *err)
{
    int socks[2] = {-1, -1}, words[2] = {-1, -1}, error = 0;
    enum odb_status status = ODB_OK;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0 ||
        pipe2(words, O_CLOEXEC) < 0)
        status = odb_fail(err, ODB_E_IO, "no connection to a child: %s", strerror(errno));
    if (status == ODB_OK) {
        fcntl(socks[0], F_SETFL, O_NONBLOCK);
        fcntl(words[0], F_SETFL, O_NONBLOCK);
        socks[1] = child_move_up(socks[1]);
        words[1] = child_move_up(words[1]);
        error = child_exec(child, argv, stdio, socks[1], words[1]);
        if (error)
            status =
                odb_fail(err, ODB_E_EXECUTOR, "%s cannot be started: %s", argv[0], strerror(error));
    }
    child_close(&socks[1]);
    child_close(&words[1]);
    child->sock = socks[0];
    child->words_fd = words[0];
    child->n_words = 0;
    child->aloud = odb_program_verbose();
    if (status != ODB_OK) {
        child_close(&child->sock);
        child_close(&child->words_fd);
        child_remove_scratch(child);
    }
    return status;
}
