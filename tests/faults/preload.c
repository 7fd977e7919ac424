/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loaded before libc, it makes calls fail. What fails, and when, stands in the environment:
 *
 *   FAULT_CALL   malloc, write, read, open, rename, …: the families below
 *   FAULT_FROM   the first call that fails, counted from 1; 0: none, they are only counted
 *   FAULT_ON     set: all from there on; else that one
 *   FAULT_ERROR  errno; "short": half of it is done; "jump": a clock that is set
 *   FAULT_UNDER  only files whose path begins so, and where it is "pipe:" or "socket:", those
 *   FAULT_IN     only in the program of this name
 *   FAULT_OWN    set: only what the program itself asks for, not its libraries
 *   FAULT_COUNT  a file of two numbers, shared by all processes: how many there were, how many hit
 *
 * glibc's streams write without a call that can be replaced, so a file that is opened with fopen()
 * to be written gets a stream that makes one. Standard output has none: /dev/full and closed pipes
 * are for that.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))fault_real(#name))

static struct {
    const char *call, *under; /* borrowed: the environment's. call is NULL: nothing fails */
    uint64_t from;
    bool on, own, cut, jump;
    int error;
    _Atomic uint64_t *count; /* of calls, of hits */
    uintptr_t begin, end;    /* the program's own code */
} fault;

static void *fault_real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static int fault_number(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } numbers[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EINTR", EINTR}, {"EMFILE", EMFILE},
                   {"EACCES", EACCES}, {"ENOMEM", ENOMEM}, {"EPIPE", EPIPE}, {"EAGAIN", EAGAIN}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(numbers[i].name, name))
            return numbers[i].number;
    return 0;
}

static int fault_find_code(struct dl_phdr_info *info, size_t size, void *payload)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            fault.begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            fault.end = fault.begin + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the first is the program */
}

__attribute__((constructor)) static void fault_read(void)
{
    const char *call = getenv("FAULT_CALL"), *in = getenv("FAULT_IN"), *path, *error;
    if (!call || (in && *in && strcmp(in, program_invocation_short_name) != 0))
        return;
    fault.under = getenv("FAULT_UNDER");
    fault.from = strtoull(getenv("FAULT_FROM") ? getenv("FAULT_FROM") : "0", NULL, 10);
    fault.on = getenv("FAULT_ON") && *getenv("FAULT_ON");
    fault.own = getenv("FAULT_OWN") && *getenv("FAULT_OWN");
    error = getenv("FAULT_ERROR") ? getenv("FAULT_ERROR") : "EIO";
    fault.cut = !strcmp(error, "short");
    fault.jump = !strcmp(error, "jump");
    fault.error = fault_number(error);
    dl_iterate_phdr(fault_find_code, NULL);
    path = getenv("FAULT_COUNT");
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    void *shared = fd >= 0 ? (void *)syscall(SYS_mmap, NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED,
                                             fd, (off_t)0)
                           : MAP_FAILED;
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (shared == MAP_FAILED)
        return;
    fault.count = shared;
    fault.call = call;
}

/* Whether this call, of the family, is to fail. */
static bool fault_hit(const char *family, const void *caller)
{
    if (!fault.call || strcmp(fault.call, family) != 0)
        return false;
    if (fault.own && ((uintptr_t)caller < fault.begin || (uintptr_t)caller >= fault.end))
        return false;
    uint64_t n = atomic_fetch_add(&fault.count[0], 1) + 1;
    if (!fault.from || n < fault.from || (n > fault.from && !fault.on))
        return false;
    atomic_fetch_add(&fault.count[1], 1);
    errno = fault.error;
    return true;
}

static bool fault_hit_path(const char *family, const char *path, const void *caller)
{
    char whole[4096] = "";
    if (!fault.call || strcmp(fault.call, family) != 0)
        return false;
    if (fault.under && path[0] != '/' && syscall(SYS_getcwd, whole, sizeof whole) > 0)
        strncat(whole, "/", sizeof whole - strlen(whole) - 1);
    strncat(whole, path, sizeof whole - strlen(whole) - 1);
    if (fault.under && strncmp(whole, fault.under, strlen(fault.under)) != 0)
        return false;
    return fault_hit(family, caller);
}

static bool fault_hit_fd(const char *family, int fd, const void *caller)
{
    char link[64], path[4096] = "";
    if (!fault.call || strcmp(fault.call, family) != 0)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int saved = errno;
    long n = syscall(SYS_readlink, link, path, sizeof path - 1);
    errno = saved;
    if (n < 0 || (fault.under && strncmp(path, fault.under, strlen(fault.under)) != 0))
        return false;
    return fault_hit(family, caller);
}

#define CALLER __builtin_return_address(0)

/* --- memory ----------------------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

SHOWN void *malloc(size_t size)
{
    return fault_hit("malloc", CALLER) ? NULL : __libc_malloc(size);
}

SHOWN void *calloc(size_t n, size_t size)
{
    return fault_hit("malloc", CALLER) ? NULL : __libc_calloc(n, size);
}

SHOWN void *realloc(void *p, size_t size)
{
    return fault_hit("malloc", CALLER) ? NULL : __libc_realloc(p, size);
}

SHOWN void *aligned_alloc(size_t align, size_t size)
{
    return fault_hit("malloc", CALLER) ? NULL : __libc_memalign(align, size);
}

SHOWN int posix_memalign(void **out, size_t align, size_t size)
{
    void *p = fault_hit("malloc", CALLER) ? NULL : __libc_memalign(align, size);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

SHOWN void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    bool hit =
        fd < 0 ? !fault.under && fault_hit("mmap", CALLER) : fault_hit_fd("mmap", fd, CALLER);
    return hit ? MAP_FAILED : (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

SHOWN void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    bool hit =
        fd < 0 ? !fault.under && fault_hit("mmap", CALLER) : fault_hit_fd("mmap", fd, CALLER);
    return hit ? MAP_FAILED : (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

/* --- what is read and written ----------------------------------------------------------------- */

/* Half of what was asked for, and something: nothing would be the end. */
static size_t fault_half(size_t size)
{
    return size > 1 ? size / 2 : size;
}

#define TRANSFER(family, name, type, data, size, fd, params, args)                                 \
    SHOWN ssize_t name params                                                                      \
    {                                                                                              \
        if (fault_hit_fd(family, fd, CALLER)) {                                                    \
            if (!fault.cut)                                                                        \
                return -1;                                                                         \
            size = fault_half(size);                                                               \
        }                                                                                          \
        return REAL(name) args;                                                                    \
    }

TRANSFER("write", write, const void *, data, size, fd, (int fd, const void *data, size_t size),
         (fd, data, size))
TRANSFER("write", pwrite, const void *, data, size, fd,
         (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
TRANSFER("write", pwrite64, const void *, data, size, fd,
         (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
TRANSFER("write", send, const void *, data, size, fd,
         (int fd, const void *data, size_t size, int flags), (fd, data, size, flags))
TRANSFER("write", sendfile, size_t, at, size, fd, (int fd, int from, off_t *at, size_t size),
         (fd, from, at, size))
TRANSFER("write", splice, size_t, at, size, fd,
         (int from, off64_t *from_at, int fd, off64_t *at, size_t size, unsigned flags),
         (from, from_at, fd, at, size, flags))
TRANSFER("read", read, void *, data, size, fd, (int fd, void *data, size_t size), (fd, data, size))
TRANSFER("read", pread, void *, data, size, fd, (int fd, void *data, size_t size, off_t at),
         (fd, data, size, at))
TRANSFER("read", pread64, void *, data, size, fd, (int fd, void *data, size_t size, off64_t at),
         (fd, data, size, at))
TRANSFER("read", recv, void *, data, size, fd, (int fd, void *data, size_t size, int flags),
         (fd, data, size, flags))

/* A message is sent and received as a whole, or cut where the first piece is. */
#define MESSAGE(family, name, qualifier)                                                           \
    SHOWN ssize_t name(int fd, qualifier struct msghdr *message, int flags)                        \
    {                                                                                              \
        struct iovec half;                                                                         \
        struct msghdr less = *message;                                                             \
        if (!fault_hit_fd(family, fd, CALLER))                                                     \
            return REAL(name)(fd, message, flags);                                                 \
        if (!fault.cut || !message->msg_iovlen)                                                    \
            return -1;                                                                             \
        half = message->msg_iov[0];                                                                \
        half.iov_len = fault_half(half.iov_len);                                                   \
        less.msg_iov = &half;                                                                      \
        less.msg_iovlen = 1;                                                                       \
        ssize_t n = REAL(name)(fd, &less, flags);                                                  \
        fault_result(message, &less);                                                              \
        return n;                                                                                  \
    }

static void fault_result(const struct msghdr *message, const struct msghdr *less)
{
    struct msghdr *out = (struct msghdr *)(uintptr_t)message;
    out->msg_controllen = less->msg_controllen;
    out->msg_flags = less->msg_flags;
}

MESSAGE("write", sendmsg, const)
MESSAGE("read", recvmsg, )

#define VECTOR(family, name, params, args)                                                         \
    SHOWN ssize_t name params                                                                      \
    {                                                                                              \
        struct iovec half;                                                                         \
        if (fault_hit_fd(family, fd, CALLER)) {                                                    \
            if (!fault.cut || n < 1)                                                               \
                return -1;                                                                         \
            half = pieces[0];                                                                      \
            half.iov_len = fault_half(half.iov_len);                                               \
            pieces = &half;                                                                        \
            n = 1;                                                                                 \
        }                                                                                          \
        return REAL(name) args;                                                                    \
    }

VECTOR("write", writev, (int fd, const struct iovec *pieces, int n), (fd, pieces, n))
VECTOR("read", readv, (int fd, const struct iovec *pieces, int n), (fd, pieces, n))
VECTOR("write", vmsplice, (int fd, const struct iovec *pieces, size_t n, unsigned flags),
       (fd, pieces, n, flags))

/* --- files ------------------------------------------------------------------------------------ */

static ssize_t fault_cookie_write(void *cookie, const char *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write((int)(intptr_t)cookie, data + done, size - done);
        if (n <= 0)
            return 0; /* which is a stream's failure */
        done += (size_t)n;
    }
    return (ssize_t)size;
}

static int fault_cookie_close(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

static FILE *fault_stream(const char *path, const char *mode)
{
    int flags = mode[0] == 'a' ? O_APPEND : O_TRUNC;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
    cookie_io_functions_t calls = {.write = fault_cookie_write, .close = fault_cookie_close};
    return fd < 0 ? NULL : fopencookie((void *)(intptr_t)fd, mode[0] == 'a' ? "a" : "w", calls);
}

#define FOPEN(name)                                                                                \
    SHOWN FILE *name(const char *path, const char *mode)                                           \
    {                                                                                              \
        if (fault_hit_path("open", path, CALLER))                                                  \
            return NULL;                                                                           \
        bool ours = fault.call && fault.under && !strncmp(path, fault.under, strlen(fault.under)); \
        if (ours && !strchr(mode, '+') && (mode[0] == 'w' || mode[0] == 'a'))                      \
            return fault_stream(path, mode);                                                       \
        return REAL(name)(path, mode);                                                             \
    }
FOPEN(fopen)
FOPEN(fopen64)

#define OPEN(name)                                                                                 \
    SHOWN int name(const char *path, int flags, ...)                                               \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;                    \
        va_end(args);                                                                              \
        return fault_hit_path("open", path, CALLER)                                                \
                   ? -1                                                                            \
                   : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);                        \
    }
OPEN(open)
OPEN(open64)

SHOWN int __open64_2(const char *path, int flags)
{
    return fault_hit_path("open", path, CALLER) ? -1
                                                : (int)syscall(SYS_openat, AT_FDCWD, path, flags);
}

#define PATH_CALL(family, type, failed, name, params, args)                                        \
    SHOWN type name params                                                                         \
    {                                                                                              \
        return fault_hit_path(family, path, CALLER) ? failed : REAL(name) args;                    \
    }
PATH_CALL("open", int, -1, mkostemp, (char *path, int flags), (path, flags))
PATH_CALL("open", int, -1, mkostemp64, (char *path, int flags), (path, flags))
PATH_CALL("open", char *, NULL, mkdtemp, (char *path), (path))
PATH_CALL("mkdir", int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
PATH_CALL("rename", int, -1, rename, (const char *from, const char *path), (from, path))
PATH_CALL("rename", int, -1, link, (const char *from, const char *path), (from, path))
PATH_CALL("rename", int, -1, linkat,
          (int at, const char *from, int to, const char *path, int flags),
          (at, from, to, path, flags))
PATH_CALL("unlink", int, -1, unlink, (const char *path), (path))
PATH_CALL("unlink", int, -1, rmdir, (const char *path), (path))

/* The descriptor is gone all the same, as Linux has it. */
SHOWN int close(int fd)
{
    bool hit = fault_hit_fd("close", fd, CALLER);
    long result = syscall(SYS_close, fd);
    if (hit)
        errno = fault.error;
    return hit ? -1 : (int)result;
}

#define FD_CALL(family, name, params, args)                                                        \
    SHOWN int name params                                                                          \
    {                                                                                              \
        return fault_hit_fd(family, fd, CALLER) ? -1 : REAL(name) args;                            \
    }
FD_CALL("fsync", fsync, (int fd), (fd))
FD_CALL("fsync", fdatasync, (int fd), (fd))
FD_CALL("fsync", syncfs, (int fd), (fd))
FD_CALL("truncate", ftruncate, (int fd, off_t size), (fd, size))
FD_CALL("truncate", ftruncate64, (int fd, off64_t size), (fd, size))

/* --- waiting, and processes ------------------------------------------------------------------- */

#define CALL(family, type, failed, name, params, args)                                             \
    SHOWN type name params                                                                         \
    {                                                                                              \
        return fault_hit(family, CALLER) ? failed : REAL(name) args;                               \
    }
CALL("poll", int, -1, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms))
CALL("wait", pid_t, -1, waitpid, (pid_t pid, int *how, int flags), (pid, how, flags))
CALL("wait", int, -1, waitid, (idtype_t type, id_t id, siginfo_t *info, int flags),
     (type, id, info, flags))
CALL("descriptor", int, -1, pipe2, (int fds[2], int flags), (fds, flags))
CALL("descriptor", int, -1, pipe, (int fds[2]), (fds))
CALL("descriptor", int, -1, socketpair, (int domain, int type, int protocol, int fds[2]),
     (domain, type, protocol, fds))
CALL("descriptor", int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))
CALL("process", pid_t, -1, fork, (void), ())
CALL("process", int, fault.error, posix_spawnp,
     (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attr, char *const argv[], char *const envp[]),
     (pid, file, actions, attr, argv, envp))
CALL("thread", int, fault.error, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attr, void *(*begin)(void *), void *arg),
     (thread, attr, begin, arg))

/* --- clocks ----------------------------------------------------------------------------------- */

/* The day is set: from there on back by a year and forth by one, in turns. */
static time_t fault_jumped(const void *caller)
{
    if (!fault_hit("clock", caller))
        return 0;
    return (time_t)(atomic_load(&fault.count[0]) % 2 ? 365 : -365) * 86400;
}

SHOWN int clock_gettime(clockid_t clock, struct timespec *out)
{
    int result = REAL(clock_gettime)(clock, out);
    if (fault.jump && clock == CLOCK_REALTIME)
        out->tv_sec += fault_jumped(CALLER);
    return result;
}

SHOWN time_t time(time_t *out)
{
    struct timespec now;
    REAL(clock_gettime)(CLOCK_REALTIME, &now);
    time_t jumped = now.tv_sec + (fault.jump ? fault_jumped(CALLER) : 0);
    if (out)
        *out = jumped;
    return jumped;
}

SHOWN int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    REAL(clock_gettime)(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec + (fault.jump ? fault_jumped(CALLER) : 0);
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}
