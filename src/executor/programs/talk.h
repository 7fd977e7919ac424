/* SPDX-License-Identifier: MIT
 *
 * A program that stays and is spoken to in lines: a JSON object on its standard input, a JSON
 * object with a truth value "ok" on its standard output. Libraries print, so any other line there
 * is no answer: it goes to standard error, and the answer is waited for.
 */
#ifndef ODB_EXECUTOR_PROGRAMS_TALK_H
#define ODB_EXECUTOR_PROGRAMS_TALK_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "executor/transport/program.h"

#define ODB_TALK_MOST ((size_t)16 << 20) /* bytes of a line */

struct odb_talk {
    struct odb_program program;
    int to, from, words;  /* its standard input, output and error; -1: closed */
    struct odb_buf heard; /* of its standard output: what is no whole line yet */
    char *noise; /* owned: tells of the first line that was no answer; NULL: there was none */
    pthread_mutex_t lock; /* of the two below, which odb_talk_cancel() looks at */
    pid_t pid;            /* 0: none is running */
    bool cancelled;
};

/* Starts nothing. argv and dir, where the program runs, stay the caller's. */
void odb_talk_init(struct odb_talk *talk, const struct odb_argv *argv, const char *dir);
/* Asks the program to end with a last line, then sees to it. */
void odb_talk_dispose(struct odb_talk *talk, const char *last);

/* Whether it is running; one that has ended is buried. */
bool odb_talk_running(struct odb_talk *talk);
enum odb_status odb_talk_start(struct odb_talk *talk, struct odb_error *err) ODB_MUST_USE;
/* Puts a question, JSON without a line's end, and waits for its answer, which is the caller's to
 * json_decref(). doing: "it ran the model", for messages. ODB_E_CRASH: the program has ended, which
 * may have been before; ODB_E_EXECUTOR: what it says has no end; ODB_CANCELLED. After any of them
 * it is not running. */
enum odb_status odb_talk_ask(struct odb_talk *talk, const char *question, const char *doing,
                             json_t **answer, struct odb_error *err) ODB_MUST_USE;
/* From another thread: ends the program, and with it a question; there will be no other. */
void odb_talk_cancel(struct odb_talk *talk);

#endif
