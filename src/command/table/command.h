/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands: one row of a table is all there is to know about one. The shell command line, usage
 * texts and help are readers of the table; whatever else wants to offer commands reads it too.
 */
#ifndef ODB_COMMAND_TABLE_COMMAND_H
#define ODB_COMMAND_TABLE_COMMAND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "session/session.h"

/* What a word on the command line is: what the parser checks, and what completion offers. */
enum odb_arg_type {
    ODB_ARG_FLAG,      /* an option without a value */
    ODB_ARG_MODEL,     /* an .onnx file, opened before the command runs */
    ODB_ARG_SOURCE,    /* an .onnx file or a tensor file; opened by the command */
    ODB_ARG_NODE,      /* name, #INDEX, or the name of a value it makes */
    ODB_ARG_NODES,     /* NODE, or NODE:NODE */
    ODB_ARG_VALUE,     /* name or #INDEX:SLOT */
    ODB_ARG_OUTPUT,    /* a value that a node makes, by its name */
    ODB_ARG_SLICE,     /* a value, and which part of it: x[0,:,2] */
    ODB_ARG_PATH,      /* file or folder */
    ODB_ARG_SPEC,      /* executor */
    ODB_ARG_TOLERANCE, /* criterion */
    ODB_ARG_INT,       /* range in the row */
    ODB_ARG_SIZE,      /* bytes, as 512M */
    ODB_ARG_ENUM,      /* choices in the row */
    ODB_ARG_COMMAND,
    ODB_ARG_OPTION,    /* the name of an option that a console keeps */
    ODB_ARG_SETTING,   /* a value for the option named before */
    ODB_ARG_CHOICE,    /* choices in the row are offered, and checked by the command */
    ODB_ARG_STOP,      /* the number of a breakpoint, a watchpoint or a display */
    ODB_ARG_PINNED,    /* a value that is pinned */
    ODB_ARG_MARKED,    /* a node that is marked */
    ODB_ARG_LETTER,    /* of a bookmark */
    ODB_ARG_CONDITION, /* words of a condition: judge/condition.h */
    ODB_ARG_TEXT
};

struct odb_arg {
    const char *name; /* "MODEL"; NULL ends the list */
    enum odb_arg_type type;
    bool optional, repeated; /* only the last may be repeated */
    bool bodies;             /* a path into bodies will do: Loop_4[3]/x */
    const char *range;       /* INT: "1..64"; ENUM: "a|b"; else NULL */
};

enum odb_option_id {
#define ODB_OPTION(id, name, letter, type, arg, range, def, help) ODB_OPTION_##id,
#include "command/table/options.def"
#undef ODB_OPTION
    ODB_OPTION_COUNT
};

/* Whether a console keeps an option, and what it forgets when that is given anew. */
enum odb_setting_kind {
    ODB_SETTING_NONE,     /* it holds for one command */
    ODB_SETTING_PLAIN,    /* it is kept, and nothing that is known depends on it */
    ODB_SETTING_VERDICTS, /* verdicts do */
    ODB_SETTING_FEEDS     /* what the model is fed with does, and so does all that was computed */
};

struct odb_option {
    const char *name; /* without dashes */
    char letter;      /* 0: none */
    enum odb_arg_type type;
    const char *arg;   /* placeholder; NULL: a flag */
    const char *range; /* INT: "1..64"; ENUM: "a|b"; else NULL */
    const char *def;   /* for help; NULL: none */
    const char *help;
    enum odb_setting_kind setting;
};

struct odb_command_call;
struct odb_console;
typedef enum odb_status (*odb_command_fn)(struct odb_command_call *call, struct odb_error *err);
/* Opens the screen for a console, gives the lines that wait there, and returns when the user
 * leaves. */
typedef enum odb_status (*odb_screen_fn)(struct odb_console *console, struct odb_error *err);

#define ODB_COMMAND_LONG 1u      /* may take long: shows progress, can be cancelled */
#define ODB_COMMAND_WRITES 2u    /* makes files */
#define ODB_COMMAND_SHELL 4u     /* on the shell's command line */
#define ODB_COMMAND_PROMPT 8u    /* at the prompt of the screen, where MODEL is left out */
#define ODB_COMMAND_ANYTIME 16u  /* also while another command works */
#define ODB_COMMAND_RAW 64u      /* what follows the name is one argument, as it was typed */
#define ODB_COMMAND_REPEATS 128u /* an empty line gives it again */
#define ODB_COMMAND_RECORDS 32u  /* --session may name a file that is not there yet */
#define ODB_COMMAND_RESUMES 256u /* stopped and given again, it goes on from where it was */
#define ODB_COMMAND_ASIDE 512u   /* options given to it are its own: a console's stay as they are */

/* What `view`, `sort`, `mode`, `measure`, `part` and `order` choose from. */
#define ODB_VIEW_LIST(X)                                                                           \
    X(NODES, nodes)                                                                                \
    X(NODE, node)                                                                                  \
    X(TENSOR, tensor)                                                                              \
    X(GRAPH, graph)                                                                                \
    X(OPERATORS, operators)                                                                        \
    X(LOG, log)                                                                                    \
    X(PROBE, probe)                                                                                \
    X(REPORT, report)                                                                              \
    X(OUTPUT, output)                                                                              \
    X(BREAKS, breaks)                                                                              \
    X(INPUTS, inputs)                                                                              \
    X(EXECUTORS, executors)                                                                        \
    X(SESSIONS, sessions)                                                                          \
    X(HELP, help)                                                                                  \
    X(CHOOSE, choose)
#define ODB_VIEW_CHOICE(id, name) "|" #name
#define ODB_VIEW_WORD(id, name) #name ", "
#define ODB_VIEWS (ODB_VIEW_LIST(ODB_VIEW_CHOICE) + 1)
#define ODB_SORTS "index|operator|name|output|type|error|local|noise|gain|verdict"
#define ODB_COLUMNS "operator|name|output|type|bar|error|local|noise"
#define ODB_INFO_TOPICS                                                                            \
    "breakpoints|watchpoints|displays|pins|marks|notes|culprits|frame|settings|nodes|inputs|"      \
    "target|session"
#define ODB_TENSOR_MODES "reference|target|difference|all"
#define ODB_TENSOR_MEASURES "difference|relative|ulp"
#define ODB_TENSOR_PARTS "all|numbers|channels|heat"
#define ODB_CHANNEL_ORDERS "channel|max|mean|rms|cosine|differ|least|most|nan"

/* What only a screen can do. */
enum odb_screen_id {
    ODB_SCREEN_NONE,
#define ODB_SCREEN(id, ...) ODB_SCREEN_##id,
#include "command/table/screen.def"
#undef ODB_SCREEN
    ODB_SCREEN_COUNT
};

struct odb_command {
    const char *name, *alias; /* alias NULL: none */
    const char *group;        /* heading in help */
    const struct odb_arg *args;
    const enum odb_option_id *options; /* ends with ODB_OPTION_COUNT; NULL: none. --help is always
                                          there, and stands in no list */
    const char *help;                  /* one line */
    const char *text;                  /* a paragraph */
    const char *example;
    unsigned flags;
    odb_command_fn exec;
    enum odb_screen_id screen; /* NONE: exec does it without one */
};

/* Rows in the order of help; *n may be NULL. */
const struct odb_command *odb_command_table(size_t *n);
/* By name, alias, or unique prefix, among the commands of the shell or those of the prompt.
 * ODB_E_USAGE with the nearest names. */
enum odb_status odb_command_find(const struct odb_command **out, const char *name, bool prompt,
                                 struct odb_error *err) ODB_MUST_USE;
const struct odb_option *odb_option_row(enum odb_option_id id);
/* Choice i of an option and what it means, from 0 on; NULL behind the last, and for options whose
 * choices need no word. Static. */
const char *odb_option_choice(enum odb_option_id id, size_t i, const char **help);
/* Whether the command's row lists the option. */
bool odb_command_takes(const struct odb_command *command, enum odb_option_id id);
/* What stands behind one dash for an option of the command: "t", "cd", or "". Returns buf, which
 * has ODB_OPTION_SHORT bytes. */
#define ODB_OPTION_SHORT 4
const char *odb_option_short(const struct odb_command *command, enum odb_option_id id, char *buf);
/* The option of the command that a word of len bytes behind two dashes means, -1: none. */
int odb_option_long(const struct odb_command *command, const char *word, size_t len);
/* Likewise behind one dash, where a value may follow *len bytes of it. */
int odb_option_letters(const struct odb_command *command, const char *word, size_t *len);

/* How settings, breakpoints, pins and the like were. */
struct odb_before {
    char *settings; /* owned: lines "ID VALUE"; NULL: nobody looked */
    struct odb_annotation_list annotations;
    unsigned long when; /* struct odb_console's changes then */
};

/* What a command changed is taken back in one order of time, whoever keeps how it was: the console
 * its settings and what was put down, the screen its list. */
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
    const char *target; /* where none is set: looked for once */
    bool linear;        /* plain lines are wanted, and no screen */
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
    struct odb_session *session;   /* borrowed from the console, else owned; where the first
                                      argument is a model */
    const struct odb_model *model; /* borrowed: session */
    FILE *out, *log;               /* borrowed: results; progress and warnings */
    int width;                     /* of the terminal that out is; 0: no terminal */
    int write_error;               /* errno of the first write to out that failed; 0: none */
    bool progress;                 /* log is a terminal */
    struct odb_budget budget;      /* for all that the command searches, from the first on */
    bool found;                /* set by the command: a divergence, a failed check: exit status 1 */
    odb_screen_fn open_screen; /* for `debug`; NULL: none */
};

/* Words behind the program's and the command's name. ODB_E_USAGE where they do not fit the row.
 * Models are opened here; with a console (may be NULL) they are its own, and left out of argv.
 * *out is to be disposed of also after failure. */
enum odb_status odb_call_parse(struct odb_command_call *out, const struct odb_command *command,
                               struct odb_console *console, int argc, char *const *argv,
                               struct odb_error *err) ODB_MUST_USE;
/* Does what was parsed. */
enum odb_status odb_call_run(struct odb_command_call *call, struct odb_error *err) ODB_MUST_USE;
void odb_call_dispose(struct odb_command_call *call);
bool odb_call_has(const struct odb_command_call *call, enum odb_option_id id);
/* Opens a model that the user has named, with the links that --follow-links allows, and at a
 * console those that its own model was opened with. */
enum odb_status odb_call_read_model(struct odb_model **out, const struct odb_command_call *call,
                                    const char *path, struct odb_error *err) ODB_MUST_USE;
/* The value given last, else the console's setting, NULL when there is none. */
const char *odb_call_option(const struct odb_command_call *call, enum odb_option_id id);
/* All values of an option that may be repeated, the console's first, but for those that are given
 * anew; owned array of borrowed strings, *n of them. */
const char **odb_call_list(const struct odb_command_call *call, enum odb_option_id id, size_t *n);
/* The number given last, else the fallback; its range was checked by the parser. */
/* Bytes; 0: the option was not given. */
uint64_t odb_call_size(const struct odb_command_call *call, enum odb_option_id id);
int64_t odb_call_int(const struct odb_command_call *call, enum odb_option_id id, int64_t fallback);
/* Argument i, NULL when left out. */
const char *odb_call_arg(const struct odb_command_call *call, size_t i);

/* Text for people, derived from the table. */
void odb_help_usage(const struct odb_command *command, struct odb_buf *out);
void odb_help_command(const struct odb_command *command, struct odb_buf *out);
/* "-o, --output=PATH" and what it is for, with choices and default; appended. */
void odb_help_option(const struct odb_command *command, enum odb_option_id id, struct odb_buf *head,
                     struct odb_buf *text);
/* Exit status i and what it means, from 0 on; NULL after the last. Static. */
const char *odb_help_exit(size_t i, const char **help);
/* Commands of the shell, or of the prompt. */
void odb_help_overview(bool prompt, struct odb_buf *out);

/* What the process returns: interfaces.md. found counts only on success. */
int odb_exit_status(enum odb_status status, bool found);

/* --- console ---------------------------------------------------------------------------------- */

/* A line into words: blanks separate, '…' and "…" and \ keep them. argv is one block, NULL at its
 * end, to be freed with free(). ODB_E_USAGE where a quote is not closed. */
enum odb_status odb_words_split(char ***argv, int *argc, const char *line,
                                struct odb_error *err) ODB_MUST_USE;
/* Appends a word so that odb_words_split() gives it back. */
void odb_words_quote(struct odb_buf *out, const char *word);

/* What one key at the prompt could become. */
struct odb_completion {
    size_t from;           /* byte of the line where the word begins that is completed */
    ODB_VEC(char *) words; /* owned, quoted as needed; sorted as they should be shown */
    char *common;          /* owned: what the word becomes without a choice, quoted so that it can
                              go on; NULL: it stays as it is */
    bool partial;          /* a word is not whole when it is taken: a folder, "key=" */
};
/* Candidates for the word at byte `at` of a line, by the types of the row's arguments: commands,
 * options, nodes, values, executors, files, choices. */
void odb_complete(struct odb_completion *out, const struct odb_console *console, const char *line,
                  size_t at);
void odb_completion_dispose(struct odb_completion *completion);

/* Takes the session over. */
void odb_console_init(struct odb_console *console, struct odb_session *session);
void odb_console_dispose(struct odb_console *console);
/* What was set last, NULL: nothing. Borrowed until the next change. */
const char *odb_console_get(const struct odb_console *console, enum odb_option_id id);
/* value NULL takes the setting back. What was found with another value is forgotten, but for the
 * tolerance. Inputs and dimensions are kept by name, so that several can be set. */
void odb_console_set(struct odb_console *console, enum odb_option_id id, const char *value);
/* Whether a value of the option takes the place of another: of inputs and dimensions, only of that
 * for the same name. */
bool odb_console_replaces(enum odb_option_id id, const char *now, const char *value);
/* Sets what the options of the call say, and an argument that is a tolerance. Settings change while
 * a command is parsed, or by one that is not ODB_COMMAND_LONG: the screen reads them meanwhile. */
void odb_console_adopt(struct odb_console *console, const struct odb_command_call *call);
/* The spec that a word stands for which is none itself: an alias of the console (may be NULL) or of
 * the user's onnxdbgrc. The caller's; NULL: it stands for none. */
char *odb_executor_named(const struct odb_console *console, const char *word);
/* The specs and the tolerance that a search would use now; whichever is not set is the default.
 * Borrowed until the next change. */
const char *odb_console_reference(const struct odb_console *console);
const char *odb_console_target(const struct odb_console *console);
const char *odb_console_tolerance(const struct odb_console *console);

/* Takes a line apart for a console: an empty one is the last stepping command again, and an alias
 * is what it stands for. The words live as long as *argv (see odb_words_split()), which is the
 * caller's; *out as in odb_call_parse(). busy: another command works, so that only some can be
 * given. */
enum odb_status odb_console_parse(struct odb_console *console, const char *line, char ***argv,
                                  struct odb_command_call *out, bool busy,
                                  struct odb_error *err) ODB_MUST_USE;
/* Has a line given after those that are to be given already. */
void odb_console_push(struct odb_console *console, const char *line);
/* The next line to be given, NULL: none; the caller's. from is where it stands, the caller's too,
 * or NULL. */
char *odb_console_next(struct odb_console *console, char **from);
/* The screen's list is about to change: what was undone before cannot be redone. Returns when that
 * is, for list_undo. */
unsigned long odb_console_changed(struct odb_console *console);
/* A line of a file has failed: the rest of the file is not given. */
void odb_console_stop(struct odb_console *console);
/* A value by name, "#INDEX:SLOT" or "#INDEX" (the node's first output). ODB_E_USAGE with the
 * nearest name. */
enum odb_status odb_call__find_value(const struct odb_graph *graph, const char *text, int *index,
                                     struct odb_error *err) ODB_MUST_USE;
/* As above; where no value is called so, the first output of the node that is. */
enum odb_status odb_call__find_output(const struct odb_graph *graph, const char *text, int *index,
                                      struct odb_error *err) ODB_MUST_USE;

/* The name in names[] closest to text, NULL when none is close. */
const char *odb_nearest(const char *text, const char *const *names, size_t n);

/* The whole command line. Returns the exit status; messages go to log. screen: what `onnxdbg MODEL`
 * opens; NULL: nothing does. */
int odb_command_main(int argc, char *const *argv, FILE *out, FILE *log, odb_screen_fn screen);

#endif
