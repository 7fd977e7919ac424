/* SPDX-License-Identifier: MIT
 *
 * What is on the disk for a while only: should the program be ended before it has put that away,
 * by a signal or for want of memory, it goes with it.
 */
#ifndef ODB_BASE_LEAVINGS_H
#define ODB_BASE_LEAVINGS_H

/* A file or a folder that is going to be removed, or renamed, by who made it. So many at once, with
 * names so long, that it is no matter which one is not remembered. */
void odb_leavings_add(const char *path);
/* Its maker has done so. */
void odb_leavings_drop(const char *path);

/* Removes what is there of them, with all that is in it. Needs no memory, and may be called by
 * signal handlers. In a process that was forked since there are none. */
void odb_leavings_remove(void);

#endif
