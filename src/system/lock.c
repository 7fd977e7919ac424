/* SPDX-License-Identifier: MIT
 *
 * The folder itself is locked, so there is no file that could be left behind, or be removed while
 * it is in use. Which process holds it is in the kernel's list of locks.
 */
#include "system/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* 0: none that can be seen from here. A line is "1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF",
 * the device in hexadecimal. */
static int lock_holder(int fd)
{
    struct stat info;
    char line[256];
    int found = 0;
    FILE *list = fstat(fd, &info) == 0 ? fopen("/proc/locks", "re") : NULL;
    while (list && !found && fgets(line, sizeof line, list)) {
        int pid;
        unsigned major, minor;
        unsigned long inode;
        if (sscanf(line, "%*s FLOCK %*s %*s %d %x:%x:%lu", &pid, &major, &minor, &inode) == 4 &&
            inode == info.st_ino && major == major(info.st_dev) && minor == minor(info.st_dev))
            found = pid;
    }
    if (list)
        fclose(list);
    return found > 0 ? found : 0;
}

enum odb_status odb_lock_folder(int *lock, const char *folder, struct odb_error *err)
{
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        return odb_error_at(err, "%s", folder);
    }
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0)
        return ODB_OK;
    bool taken = errno == EWOULDBLOCK;
    int holder = taken ? lock_holder(*lock) : 0;
    close(*lock);
    *lock = -1;
    if (!taken)
        return ODB_OK;
    if (holder)
        odb_fail(err, ODB_E_IO, "process %d is writing into this folder", holder);
    else
        odb_fail(err, ODB_E_IO, "another process is writing into this folder");
    return odb_error_at(err, "%s", folder);
}

int odb_lock_holder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int holder = fd < 0 ? 0 : lock_holder(fd);
    if (fd >= 0)
        close(fd);
    return holder;
}
