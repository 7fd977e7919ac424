/* SPDX-License-Identifier: MIT
 *
 * What is on the disk for a while only: should the program be ended before it has put that away,
 * by a signal or for want of memory, it goes with it. A program that is killed takes nothing along:
 * that is known by its name and by a lock that no process has any more, and the next process sweeps
 * it.
 */
#ifndef ODB_SYSTEM_TEMPORARY_H
#define ODB_SYSTEM_TEMPORARY_H

#include <sys/types.h>

enum { ODB_TEMPORARY_MOST = 256 };

/* A file or a folder that is going to be removed, or renamed, by the process that made it, or makes
 * it now. What is there is locked until then. Needs no memory for an absolute path. More than MOST
 * at once, or longer names than the system has, are not remembered. */
void odb_temporary_add(const char *path);
/* What is remembered is there now. */
void odb_temporary_lock(const char *path);
/* Its maker has done so. */
void odb_temporary_drop(const char *path);

/* A process group, not yet waited for, that is to be killed as well; 0: none. One at a time. */
void odb_temporary_group(pid_t group);

/* Removes what is there of them, with all that is in it. Needs no memory, and may be called by
 * signal handlers. In a process that was forked since there are none. */
void odb_temporary_remove(void);

/* Removes from a folder the files and folders called BEGINNING, letters or digits, END that belong
 * to this user, that no process has locked, and that are older than a minute: so long may it take
 * from mkdir() to the lock. */
void odb_temporary_sweep(const char *folder, const char *beginning, const char *end);

/* A name that no other file has, beside path, for what is going to have that name: the caller's. */
char *odb_temporary_name(const char *path);
/* Sweeps all that have such names in the folder of path; a folder once in the life of a process, so
 * that a process that writes many files into it does not read it as often. */
void odb_temporary_sweep_beside(const char *path);

#endif
