/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/terminal/lent.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

void ui_lent_quote(struct odb_buf *out, const char *word)
{
    if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "_-+=./:,@%")]) {
        odb_buf_puts(out, word);
        return;
    }
    odb_buf_putc(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            odb_buf_puts(out, "'\\''");
        else
            odb_buf_putc(out, *word);
    odb_buf_putc(out, '\'');
}

/* Starts a line of the shell, with the keys' signals as the shell expects them; returns errno. */
static int lent_start(pid_t *pid, const char *line, int input)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTSTP, SIGPIPE, SIGXFSZ};
    char *const argv[] = {"sh", "-c", (char *)line, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t usual;
    sigemptyset(&usual);
    for (size_t i = 0; i < ODB_COUNT(signals); i++)
        sigaddset(&usual, signals[i]);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigdefault(&attr, &usual);
    posix_spawn_file_actions_init(&files);
    if (input >= 0)
        posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    int failed = posix_spawn(pid, "/bin/sh", &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return failed;
}

enum odb_status ui_lent_run(struct ui_terminal *terminal, const char *line, int input, int *ended,
                            struct odb_error *err)
{
    int status = 0;
    pid_t pid;
    ui_terminal_lend(terminal);
    int failed = lent_start(&pid, line, input);
    if (!failed) {
        ui_terminal_lend_to(terminal, pid);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    ui_terminal_take(terminal);
    if (failed)
        return odb_fail(err, ODB_E_IO, "'%.80s' cannot be started: %s", line, strerror(failed));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return odb_fail(err, ODB_E_IO, "the shell has no program for '%.80s'", line);
    if (ended)
        *ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ODB_OK;
}
