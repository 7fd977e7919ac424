/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands: one row of a table is all there is to know about one. The shell command line, usage
 * texts and help are readers of the table; whatever else wants to offer commands reads it too.
 */
#ifndef ODB_COMMAND_TABLE_COMMAND_H
#define ODB_COMMAND_TABLE_COMMAND_H

#include <stdbool.h>

#include "base/error.h"

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
#define ODB_COMMAND_PLAIN 2048u  /* inputs are chosen only where plain ones cannot be made */
#define ODB_COMMAND_BEGINS 1024u /* begins a console, which says itself what is not followed */

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
    X(STEPS, steps)                                                                                \
    X(VARIANTS, variants)                                                                          \
    X(OUTPUT, output)                                                                              \
    X(BREAKS, breaks)                                                                              \
    X(INPUTS, inputs)                                                                              \
    X(EXECUTORS, executors)                                                                        \
    X(SESSIONS, sessions)                                                                          \
    X(FLEET, fleet)                                                                                \
    X(HELP, help)                                                                                  \
    X(CHOOSE, choose)
#define ODB_VIEW_CHOICE(id, name) "|" #name
#define ODB_VIEW_WORD(id, name) #name ", "
#define ODB_VIEWS (ODB_VIEW_LIST(ODB_VIEW_CHOICE) + 1)
#define ODB_SORTS                                                                                  \
    "index|operator|name|output|type|kernel|error|local|noise|gain|seconds|target-seconds|verdict"
#define ODB_COLUMNS                                                                                \
    "operator|name|output|type|kernel|bar|error|local|noise|gain|seconds|target-seconds"
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

/* --- console ---------------------------------------------------------------------------------- */

#endif
