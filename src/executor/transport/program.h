/* SPDX-License-Identifier: MIT
 *
 * Programs that executors start: what they print is passed on to standard error, and its end kept.
 * With VERBOSE in the environment their command lines are printed too.
 */
#ifndef ODB_EXECUTOR_TRANSPORT_PROGRAM_H
#define ODB_EXECUTOR_TRANSPORT_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/mem.h"

#define ODB_PROGRAM_WORDS ((size_t)64 << 10) /* bytes of what it printed that are kept */

/* A command line: words, each owned. */
struct odb_argv {
    ODB_VEC(char *) list;
};

/* Splits text at spaces; a backslash before a space or a backslash makes it belong to a word. */
void odb_argv_split(struct odb_argv *argv, const char *text);
void odb_argv_add(struct odb_argv *argv, const char *word);
/* Words that name regular files as seen from where we are now, whole or behind a '=', become paths
 * from anywhere. */
void odb_argv_find_files(struct odb_argv *argv);
/* Whether the first word can be started, as far as its file tells: ODB_E_USAGE if not. */
enum odb_status odb_argv_check(const struct odb_argv *argv, struct odb_error *err) ODB_MUST_USE;
void odb_argv_dispose(struct odb_argv *argv);
/* The command line as a person would type it, shown safely. */
void odb_argv_show(const struct odb_argv *argv, struct odb_buf *out);

struct odb_program {
    const struct odb_argv *argv; /* borrowed; the first is looked for in PATH */
    const char *dir;             /* it runs there; NULL: where we are */
    bool quiet;                  /* what it prints is kept, and not passed on */
    bool apart;                  /* only standard output is heard; standard error goes nowhere */
    const int *input;            /* what it reads, borrowed; NULL: nothing */
    double limit;                /* seconds, after which it is killed; 0: as long as it takes */
    /* out */
    struct odb_buf said; /* owned: the last ODB_PROGRAM_WORDS bytes of what it printed */
    int how;             /* as waitpid() says */
};

/* Whether VERBOSE is set. */
bool odb_program_verbose(void);
/* Writes to standard error, which may be closed. */
void odb_program_say(const char *text, size_t n);

/* Starts it in our process group, with default signals; fds are its standard input (-1: it has
 * none), output and error, and all that it has open. *pid is the caller's to wait for. */
enum odb_status odb_program_spawn(const struct odb_program *program, const int fds[3], pid_t *pid,
                                  struct odb_error *err) ODB_MUST_USE;
/* Reads a piece of what it prints from a pipe; false when there will be no more, or, of one that
 * does not block, when there is none yet. */
bool odb_program_listen(struct odb_program *program, int from);
/* Keeps the end of what it has printed, zeros as blanks, and passes it on unless it is quiet. */
void odb_program_heard(struct odb_program *program, const char *text, size_t n);

/* Runs it to its end, in our process group; processes that it leaves behind are not waited for. An
 * error means that it could not be started. */
enum odb_status odb_program_run(struct odb_program *program, struct odb_error *err) ODB_MUST_USE;
void odb_program_dispose(struct odb_program *program);
/* Whether it ended with status 0. If not, err says how it ended (ODB_E_CRASH for a signal), with
 * says behind that. */
enum odb_status odb_program_check(const struct odb_program *program, const char *says,
                                  struct odb_error *err) ODB_MUST_USE;
/* The end of what it printed, at most max bytes, as one line shown safely. */
void odb_program_last_words(const struct odb_program *program, size_t max, struct odb_buf *out);
/* The line of it that says what went wrong: the first that speaks of an error, else the last. */
void odb_program_telling_line(const struct odb_program *program, struct odb_buf *out);

#endif
