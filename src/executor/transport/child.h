/* SPDX-License-Identifier: MIT
 *
 * A child process with all that goes with it: a process group of its own, a scratch directory, the
 * connection, and a pipe for what it prints, of which the last 4 KiB are kept. Used by target.c.
 */
#ifndef ODB_EXECUTOR_TRANSPORT_CHILD_H
#define ODB_EXECUTOR_TRANSPORT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

#define ODB_CHILD_WORDS 4096
#define ODB_CHILD_FD 3 /* the child's end of the connection, unless that is its stdio */

struct odb_child {
    pid_t pid;     /* 0: none; a child that has ended stays a zombie until it is buried */
    int sock;      /* our end of the connection, does not block; -1: closed */
    int words_fd;  /* -1: closed */
    bool aloud;    /* VERBOSE is set: what it prints is passed on */
    char *scratch; /* owned: removed when the child is buried; NULL: none */
    char words[ODB_CHILD_WORDS];
    size_t n_words; /* printed since odb_child_hush(); the ring holds the last of them */
};

#define ODB_CHILD_INIT                                                                             \
    {                                                                                              \
        .sock = -1, .words_fd = -1                                                                 \
    }

/* Starts argv[0], which PATH is searched for: default signals, nothing open but the connection, as
 * descriptor 3 or as standard input and output. child->scratch is taken away on failure, too. */
enum odb_status odb_child_start(struct odb_child *child, char *const *argv, bool stdio,
                                struct odb_error *err) ODB_MUST_USE;
/* Ends the whole process group, whatever it does, and takes everything of the child's away but its
 * words. */
void odb_child_bury(struct odb_child *child);

/* Whether it has ended; *how is as from waitpid(). */
bool odb_child_ended(const struct odb_child *child, int *how);
/* The same, waiting so many seconds for it and listening. */
bool odb_child_wait(struct odb_child *child, double seconds, int *how);
/* The signal that has stopped it, 0 where it runs. */
int odb_child_stopped(const struct odb_child *child);

/* Takes what there is to hear, at most a pipe's worth, so that a flood cannot hold us. */
void odb_child_listen(struct odb_child *child);
/* The same of words that came another way. */
void odb_child_say(struct odb_child *child, const void *words, size_t n);
/* What it has printed so far is of no more interest. */
void odb_child_hush(struct odb_child *child);
/* Appends the end of what it printed, bytes as they came. */
void odb_child_words(const struct odb_child *child, struct odb_buf *out);
/* The same as one line for people, at most limit bytes of it; "" when it printed nothing. */
void odb_child_last_line(const struct odb_child *child, size_t limit, struct odb_buf *out);

/* "SIGSEGV", "signal 40"; into buf; returns buf. */
const char *odb_signal_name(int number, char *buf, size_t size);

#endif
