/* SPDX-License-Identifier: MIT */
#include "system/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "system/temporary.h"
#include "base/mem.h"

#define MAPPING_SHORTER "the file became shorter while it was read"

/* A signal handler takes this lock, so nothing that may fault is done under it. */
static atomic_flag mapping_lock = ATOMIC_FLAG_INIT;
static struct odb_mapping *mapping_first; /* all that are open */
static struct sigaction mapping_action;   /* of SIGBUS, as it was */

static void mapping_take_lock(void)
{
    while (atomic_flag_test_and_set_explicit(&mapping_lock, memory_order_acquire))
        ;
}

static void mapping_give_lock(void)
{
    atomic_flag_clear_explicit(&mapping_lock, memory_order_release);
}

enum odb_status odb_mapping_open(struct odb_mapping *m, int fd, size_t size, const char *name,
                                 struct odb_error *err)
{
    struct odb_buf shown = ODB_BUF_INIT;
    *m = (struct odb_mapping){0};
    if (!size)
        return ODB_OK;
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return odb_fail(err, ODB_E_IO, "cannot map %zu bytes: %s", size, strerror(errno));
    odb_buf_put_shown(&shown, name);
    m->data = data;
    m->size = size;
    m->name = odb_xstrdup(odb_buf_text(&shown));
    odb_buf_dispose(&shown);
    mapping_take_lock();
    m->next = mapping_first;
    if (m->next)
        m->next->before = m;
    mapping_first = m;
    mapping_give_lock();
    return ODB_OK;
}

void odb_mapping_close(struct odb_mapping *m)
{
    if (!m->data)
        return;
    mapping_take_lock();
    if (m->next)
        m->next->before = m->before;
    *(m->before ? &m->before->next : &mapping_first) = m->next;
    mapping_give_lock();
    munmap(m->data, m->size);
    free(m->name);
    *m = (struct odb_mapping){0};
}

/* The kernel is to read the last byte: it gives EFAULT where we should get a signal. */
static bool mapping_is_short(const struct odb_mapping *m, int pipe)
{
    ssize_t n = write(pipe, (const char *)m->data + m->size - 1, 1);
    return n < 0 && errno == EFAULT;
}

bool odb_mapping_lost(struct odb_error *err)
{
    int ends[2];
    bool lost = false;
    char byte;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return false;
    mapping_take_lock();
    for (const struct odb_mapping *m = mapping_first; m && !lost; m = m->next) {
        lost = mapping_is_short(m, ends[1]);
        if (lost)
            odb_fail(err, ODB_E_IO, "%s: " MAPPING_SHORTER, m->name);
        else if (read(ends[0], &byte, 1) < 0) /* makes room */
            break;
    }
    mapping_give_lock();
    close(ends[0]);
    close(ends[1]);
    return lost;
}

static const struct odb_mapping *mapping_at(uintptr_t at)
{
    const struct odb_mapping *m = mapping_first;
    while (m && (at < (uintptr_t)m->data || at - (uintptr_t)m->data >= m->size))
        m = m->next;
    return m;
}

/* Not for a signal that was sent: it may have come under the lock. */
static void mapping_on_bus(int number, siginfo_t *info, void *context)
{
    bool fault = info->si_code > 0;
    (void)context;
    if (fault) {
        mapping_take_lock();
        const struct odb_mapping *m = mapping_at((uintptr_t)info->si_addr);
        if (m) {
            struct iovec line[] = {{"onnxdbg: ", 9},
                                   {m->name, strlen(m->name)},
                                   {": " MAPPING_SHORTER "\n", sizeof MAPPING_SHORTER + 2}};
            ssize_t written = writev(STDERR_FILENO, line, ODB_COUNT(line));
            (void)written;
            odb_temporary_remove();
            _exit(ODB_MAPPING_STATUS);
        }
        mapping_give_lock();
    }
    sigaction(number, &mapping_action, NULL);
    if (!fault) /* a fault happens again by itself */
        raise(number);
}

void odb_mapping_watch(void)
{
    struct sigaction action = {.sa_sigaction = mapping_on_bus,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    struct sigaction before;
    sigaction(SIGBUS, &action, &before);
    if (before.sa_sigaction != mapping_on_bus) /* which would put itself back for ever */
        mapping_action = before;
}
