/* SPDX-License-Identifier: MIT
 *
 * Calls that the C library has since Debian 12, for programs that have to run on Debian 11: under
 * their own names, as far as they are used here.
 */
#ifndef ODB_SYSTEM_NEWER_H
#define ODB_SYSTEM_NEWER_H

#include <features.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <unistd.h>

#if __GLIBC_PREREQ(2, 36)
#include <sys/pidfd.h>
#else
#include <sys/syscall.h>

static inline int pidfd_open(pid_t pid, unsigned flags)
{
    return (int)syscall(SYS_pidfd_open, pid, flags);
}

static inline int pidfd_send_signal(int pidfd, int sig, siginfo_t *info, unsigned flags)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, info, flags);
}
#endif

#if !__GLIBC_PREREQ(2, 34)
#include <dirent.h>
#include <stdlib.h>

/* A kernel before 5.9 has no such call, and closes nothing. */
static inline int close_range(unsigned first, unsigned last, int flags)
{
    return (int)syscall(__NR_close_range, first, last, flags);
}

/* Those that are open now: others that come meanwhile are closed by exec, as ours all are. */
static inline int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *files,
                                                           int first)
{
    DIR *dir = opendir("/proc/self/fd");
    int error = 0;
    for (const struct dirent *e; dir && !error && (e = readdir(dir));) {
        int fd = (int)strtol(e->d_name, NULL, 10);
        if (fd >= first && fd != dirfd(dir))
            error = posix_spawn_file_actions_addclose(files, fd);
    }
    if (dir)
        closedir(dir);
    return error;
}
#endif

#if !__GLIBC_PREREQ(2, 32)
static inline const char *sigabbrev_np(int number)
{
    static const char *const names[] = {
        [SIGHUP] = "HUP",   [SIGINT] = "INT",   [SIGQUIT] = "QUIT", [SIGILL] = "ILL",
        [SIGTRAP] = "TRAP", [SIGABRT] = "ABRT", [SIGBUS] = "BUS",   [SIGFPE] = "FPE",
        [SIGKILL] = "KILL", [SIGUSR1] = "USR1", [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
        [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM", [SIGCHLD] = "CHLD",
        [SIGCONT] = "CONT", [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP", [SIGTTIN] = "TTIN",
        [SIGTTOU] = "TTOU", [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ", [SIGSYS] = "SYS",
    };
    return number > 0 && number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}
#endif

#endif
