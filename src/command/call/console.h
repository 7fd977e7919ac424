/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A console: its model, its settings, and the lines that wait to be given.
 */
#ifndef ODB_COMMAND_CALL_CONSOLE_H
#define ODB_COMMAND_CALL_CONSOLE_H

#include "base/mem.h"
#include "command/table/command.h"
#include "session/annotations.h"

struct odb_command_call;
struct odb_fleet_shown;
struct odb_session;

/* How settings, breakpoints, pins and the like were. */
struct odb_before {
    char *settings; /* owned: lines "ID VALUE"; NULL: not recorded */
    struct odb_annotation_list annotations;
    unsigned long when; /* struct odb_console's changes then */
};

/* What a command changed is taken back in one order of time, whichever owner keeps the earlier
 * state: the console its settings and what was put down, the screen its list. */
struct odb_undo {
    ODB_VEC(struct odb_before) before;  /* owned: what `undo` goes back to, newest last */
    ODB_VEC(struct odb_before) after;   /* owned: what `redo` goes to */
    struct odb_before last;             /* owned: after the last undo or redo */
    unsigned long changes;              /* counts them, and what is undone, from 1 on */
    unsigned long spent;                /* what was undone by then cannot be redone */
    unsigned long list_undo, list_redo; /* when the screen's list was changed, or that undone, last;
                                           0: not; the screen says so */
};

/* Where commands are given one after the other about one model: the prompt, keys, a script. */
struct odb_console {
    struct odb_session *session; /* owned */
    struct odb_session *next;    /* owned: that the screen is to begin anew with; NULL: none */
    /* What options are where a command does not say: `set` changes them. */
    ODB_VEC(struct odb_setting {
        enum odb_option_id id;
        char *value; /* owned */
    })
    settings;
    const char *target;            /* where none is set: looked for once */
    struct odb_fleet_shown *fleet; /* borrowed: shown in place of a model, which is empty then;
                                      NULL: none */
    bool linear;                   /* plain lines are wanted, and no screen */
    bool unended;       /* the session's file has a search that did not end, and no other */
    bool saves;         /* a session without a file saves itself, unless it is said otherwise */
    bool busy;          /* the line given last was given while another command worked */
    atomic_bool cancel; /* asks the command that runs to stop */
    /* Lines that are to be given next, in this order. */
    ODB_VEC(struct odb_pending {
        char *line; /* owned */
        char *from; /* owned: "FILE:12"; NULL: of the command line, or of a command */
        int depth;  /* of files that name files */
    })
    pending;
    int depth;               /* of the line that runs now */
    char *again;             /* owned: what an empty line gives once more; NULL: nothing */
    ODB_VEC(char *) history; /* owned: lines that were given */
    ODB_VEC(struct odb_alias {
        char *name; /* owned */
        char *line; /* owned: what it stands for */
    })
    aliases;
    struct odb_undo undo;
    /* Does what only a screen can do; NULL: there is none. */
    enum odb_status (*screen)(void *payload, struct odb_command_call *call, struct odb_error *err);
    void *payload;
};

/* Takes the session over. */
void odb_console_init(struct odb_console *console, struct odb_session *session);
void odb_console_dispose(struct odb_console *console);
/* For a caller that takes a line out of pending, or a state out of undo. */
void odb_pending_dispose(struct odb_pending *pending);
void odb_before_dispose(struct odb_before *before);
/* What was set last, NULL: nothing. Borrowed until the next change. */
const char *odb_console_get(const struct odb_console *console, enum odb_option_id id);
/* value NULL takes the setting back. What was found with another target, reference or expected type
 * is put aside (odb_session_turn()); with another value of what else verdicts depend on it is
 * forgotten. Inputs and dimensions are kept by name, so that several can be set. */
void odb_console_set(struct odb_console *console, enum odb_option_id id, const char *value);
/* Whether a value of the option takes the place of another: of inputs and dimensions, only of that
 * for the same name. */
bool odb_console_replaces(enum odb_option_id id, const char *now, const char *value);
/* The same where what is shown is of that value already: nothing is put aside or forgotten. */
void odb_console__put(struct odb_console *console, enum odb_option_id id, const char *value);
/* Sets what the options of the call say, and an argument that is a tolerance. Settings change while
 * a command is parsed, or by one that is not ODB_COMMAND_LONG: the screen reads them meanwhile. */
void odb_console_adopt(struct odb_console *console, const struct odb_command_call *call);
/* The specs and the tolerance that a search would use now; whichever is not set is the default.
 * Borrowed until the next change. */
const char *odb_console_reference(const struct odb_console *console);
const char *odb_console_target(const struct odb_console *console);
const char *odb_console_tolerance(const struct odb_console *console);
/* The spec that a word stands for which is none itself: an alias of the console (may be NULL) or of
 * the user's onnxdbgrc. The caller's; NULL: it stands for none. */
char *odb_executor_named(const struct odb_console *console, const char *word);
/* The target as a report of a search says it: what an alias stands for. Owned by the caller. */
char *odb_console_target_spec(const struct odb_console *console);
/* The tolerance as a report says it. Returns buf, or what is set. */
const char *odb_console__tolerance_text(const struct odb_console *console, char *buf, size_t size);

#endif
