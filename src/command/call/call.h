/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A call: a command, the words that were given with it, and where it prints.
 */
#ifndef ODB_COMMAND_CALL_CALL_H
#define ODB_COMMAND_CALL_CALL_H

#include <stdio.h>

#include "base/mem.h"
#include "command/table/command.h"
#include "run/budget.h"

struct odb_console;
struct odb_model;
struct odb_session;
struct odb_setting;

/* A command line taken apart, and where the command prints. */
struct odb_command_call {
    const struct odb_command *command;
    struct odb_console *console; /* borrowed; NULL: a command of the shell */
    const char **args;           /* owned array, borrowed words; as many as the row allows */
    size_t n_args;
    ODB_VEC(struct odb_call_option {
        enum odb_option_id id;
        const char *value; /* borrowed; "" for a flag */
    })
    options;
    ODB_VEC(char *) texts;         /* owned: values that are no words of the command line */
    char *chosen;                  /* owned: what was chosen for the inputs, and is among options;
                                      "": nothing; NULL: that was not asked yet */
    struct odb_session *session;   /* borrowed from the console, else owned; where the first
                                      argument is a model */
    const struct odb_model *model; /* borrowed: session */
    FILE *out, *log;               /* borrowed: results; progress and warnings */
    int width;                     /* of the terminal that out is; 0: no terminal */
    int write_error;               /* errno of the first write to out that failed; 0: none */
    bool progress;                 /* log is a terminal */
    struct odb_budget budget;      /* for all that the command searches, from the first on */
    char *displays;                /* owned: what is displayed at the stop of a walk, for a screen,
                                      which has rows of its own for it; NULL: it was not asked */
    bool found;                /* set by the command: a divergence, a failed check: exit status 1 */
    odb_screen_fn open_screen; /* for `debug`; NULL: none */
};

void odb_call_dispose(struct odb_command_call *call);
bool odb_call_has(const struct odb_command_call *call, enum odb_option_id id);
/* The value given last, else the console's setting, NULL when there is none. */
const char *odb_call_option(const struct odb_command_call *call, enum odb_option_id id);
/* Whether an option that is given says otherwise than a setting. */
bool odb_call__replaces(const struct odb_command_call *call, const struct odb_setting *setting);
/* All values of an option that may be repeated, the console's first, but for those that are given
 * anew; owned array of borrowed strings, *n of them. */
const char **odb_call_list(const struct odb_command_call *call, enum odb_option_id id, size_t *n);
/* Bytes; 0: the option was not given. */
uint64_t odb_call_size(const struct odb_command_call *call, enum odb_option_id id);
/* Becomes an option of the call, as if the user had given it; the text is copied. */
void odb_call__take_option(struct odb_command_call *call, enum odb_option_id id, const char *text);
/* Whether it became one so, and the user did not give it. */
bool odb_call__took(const struct odb_command_call *call, const struct odb_call_option *option);
/* The number given last, else the fallback; its range was checked by the parser. */
int64_t odb_call_int(const struct odb_command_call *call, enum odb_option_id id, int64_t fallback);
/* Argument i, NULL when left out. */
const char *odb_call_arg(const struct odb_command_call *call, size_t i);

#endif
