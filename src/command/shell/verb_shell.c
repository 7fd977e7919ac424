/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A command line of the shell: it reads nothing, what it prints goes where commands print, and Esc
 * ends it with all that it started.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/verbs.h"
#include "system/temporary.h"

#define SHELL_LOOK 100    /* milliseconds between looks for a cancellation */
#define SHELL_LOOK_SOON 5 /* when it has nothing more to print */

static void shell_child(const char *line, int out)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* of the thread that waits for it */
    if (!freopen("/dev/null", "r", stdin) || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(127);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

static bool shell_is_over(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == pid;
}

/* What it prints, until it has ended or is cancelled: then it is killed. */
static bool shell_read(int fd, pid_t pid, const struct odb_search_hooks *hooks, struct odb_buf *out)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    char bytes[4096];
    for (;;) {
        int ready = poll(&polled, 1, polled.fd < 0 ? SHELL_LOOK_SOON : SHELL_LOOK);
        if (hooks->cancelled(hooks->payload)) {
            kill(-pid, SIGKILL);
            return false;
        }
        ssize_t n = ready > 0 ? read(fd, bytes, sizeof bytes) : -1;
        if (n > 0)
            odb_buf_add(out, bytes, (size_t)n);
        else if (ready > 0)
            polled.fd = -1; /* it has closed its end, and may go on */
        if (polled.fd < 0 && shell_is_over(pid))
            return true;
    }
}

static enum odb_status shell_ended(int status, struct odb_error *err)
{
    if (WIFEXITED(status) && WEXITSTATUS(status))
        return odb_fail(err, ODB_E_IO, "the command ended with status %d", WEXITSTATUS(status));
    if (WIFSIGNALED(status))
        return odb_fail(err, ODB_E_IO, "the command was ended by signal %d", WTERMSIG(status));
    return ODB_OK;
}

enum odb_status odb_command__shell(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_watch watch;
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return odb_fail(err, ODB_E_IO, "no pipe can be made: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0)
        shell_child(call->args[0], ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return odb_fail(err, ODB_E_IO, "the shell cannot be started: %s", strerror(errno));
    }
    setpgid(pid, pid); /* the child does so too: either may be first */
    odb_temporary_group(pid);
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    bool whole = shell_read(ends[0], pid, &hooks, &out);
    odb_watch_end(&watch);
    close(ends[0]);
    odb_temporary_group(0);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    odb_call__print(call, &out);
    return whole ? shell_ended(status, err) : odb_fail(err, ODB_CANCELLED, "cancelled");
}
