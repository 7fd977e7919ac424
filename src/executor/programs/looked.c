/* SPDX-License-Identifier: MIT */
#include "executor/programs/looked.h"

#include <stdalign.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

int odb_looked_begin(const char *dir)
{
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd >= 0 && inotify_add_watch(fd, dir, IN_OPEN) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* What the kernel could not list may be anything. */
static bool looked_at(const struct inotify_event *event, const char *const *names)
{
    bool found = event->mask & IN_Q_OVERFLOW;
    for (; *names && event->len && !found; names++)
        found = !strncmp(event->name, *names, strlen(*names));
    return found;
}

bool odb_looked(int fd, const char *const *names)
{
    alignas(struct inotify_event) char events[4096];
    bool found = fd < 0;
    for (ssize_t n; !found && (n = read(fd, events, sizeof events)) > 0;)
        for (ssize_t at = 0; at < n && !found;) {
            const struct inotify_event *event = (const struct inotify_event *)(events + at);
            found = looked_at(event, names);
            at += (ssize_t)(sizeof *event + event->len);
        }
    if (fd >= 0)
        close(fd);
    return found;
}
