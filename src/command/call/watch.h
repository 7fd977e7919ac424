/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Looking on while a command works: the session hears every event, one line on a terminal shows
 * how far it is, and it can be stopped, by Ctrl-C or through the console.
 */
#ifndef ODB_COMMAND_CALL_WATCH_H
#define ODB_COMMAND_CALL_WATCH_H

#include <pthread.h>

#include "base/progress.h"
#include "run/hooks.h"

struct odb_command_call;

struct odb_watch {
    struct odb_command_call *call; /* borrowed */
    pthread_t thread;              /* that began it, and writes to the terminal */
    char phase[160];
    char probe[41];                  /* begun last in this phase */
    size_t done, total;              /* of the phase; total 0: unknown */
    double start, phase_start, last; /* of the clock */
    double expected;                 /* seconds of a search in all; 0: unknown */
    double said;                     /* seconds that the user was told of before; 0: none */
    size_t loads, expected_loads;    /* of the target; the latter in all, 0: unknown */
    size_t left;                     /* suspects; 0: unknown */
    int first_left, last_left;
    bool aside; /* the session's log has nothing to do with it */
    bool cuts;  /* the budget's end ends a question that is under way too */
    bool shown; /* a line stands on the terminal */
};

/* Whether it was the budget that ended what was watched: as Ctrl-C does, so that all that is known
 * is kept. */
bool odb_watch_spent(const struct odb_watch *watch);
/* Ctrl-C is caught from here to the end; a second one kills. The command's budget runs from the
 * first time on. */
struct odb_search_hooks odb_watch_begin(struct odb_watch *watch, struct odb_command_call *call);
/* A line of results while the command works: the line that shows how far it is makes room. */
void odb_watch_print(struct odb_watch *watch, FILE *to, const char *line);
void odb_watch_end(struct odb_watch *watch);

/* The same for what looks at all of a tensor, or writes it. */
struct odb_watch_progress {
    struct odb_watch watch;
    struct odb_search_hooks hooks;
    const char *phase; /* borrowed: "writing" */
    struct odb_progress progress;
};
/* Stays where it is until odb_watch_end(&progress->watch). Returns its progress. */
const struct odb_progress *odb_watch_progress(struct odb_watch_progress *progress,
                                              struct odb_command_call *call, const char *phase);

#endif
