/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The screen as a whole: which views there are and where they stand, the line of messages, the
 * prompt, and the one command that works in the background. What a key or a typed line does is
 * always a command of the table.
 */
#ifndef ODB_UI_VIEW_APP_H
#define ODB_UI_VIEW_APP_H

#include <stdatomic.h>

#include "command/call/call.h"
#include "command/table/command.h"
#include "ui/view/constants.h"
#include "ui/view/outline.h"
#include "ui/view/prompt.h"
#include "ui/view/strip.h"
#include "ui/view/view.h"

struct odb_buf;
struct odb_console;
struct odb_session;
struct ui_keymap;
struct ui_offer;
struct ui_start;
struct ui_terminal;

enum ui_view_id {
#define UI_VIEW_ID(id, name) UI_VIEW_##id,
    ODB_VIEW_LIST(UI_VIEW_ID)
#undef UI_VIEW_ID
        UI_VIEW_COUNT
};

/* A command on its way. */
struct ui_running {
    struct odb_command_call call;
    char **argv;     /* owned */
    char *line;      /* owned: as given */
    char *from;      /* owned: the line of the file that it is from; NULL: of none */
    char *file_name; /* owned: what it prints goes there; NULL: onto the screen */
    bool over;       /* also where there is such a file */
    char *out;       /* owned: what it printed, warnings among it */
    size_t out_size;
    FILE *file;
    enum odb_status status;
    struct odb_error err;
    unsigned long generation; /* of the session before it */
    double began;             /* on odb_clock() */
    int at;
};

struct ui_arrangements {
    struct ui_arrangement *items; /* owned */
    size_t n, cap;
};

struct ui_app {
    struct odb_console *console;                        /* borrowed */
    const struct odb_session *session;                  /* borrowed: console */
    struct ui_terminal *terminal;                       /* owned */
    struct ui_prompt *prompt;                           /* owned */
    struct ui_keymap *keymap;                           /* owned */
    void (*give)(struct ui_app *app, const char *line); /* a command line: ui_app_command() */
    struct odb_job *job;                                /* owned */
    struct ui_running running;                          /* what the job does */
    struct ui_saving *saving;      /* owned: numbers that are written meanwhile */
    struct ui_offer *offer;        /* owned: a session of this model, or NULL */
    int wake[2];                   /* pipe: other threads write, the loop reads */
    atomic_bool woken;             /* a byte is in the pipe */
    struct ui_constants constants; /* of the model */
    struct ui_strip strip;

    struct ui_view *views[UI_VIEW_COUNT]; /* owned */
    enum ui_view_id stack[UI_VIEW_COUNT]; /* what lies over what; [0] is root */
    int depth;
    enum ui_view_id root;                             /* lies lowest: the nodes, or a fleet */
    enum ui_view_id focus;                            /* has the keys */
    bool (*takes)(const struct odb_command *command); /* those that are of use; NULL: all */

    ODB_VEC(int) trail;                /* nodes that were left by a jump */
    ODB_VEC(int) ahead;                /* and those that `back` left */
    struct ui_arrangements undo, redo; /* of the list of nodes; newest last */
    char *search;                      /* owned: text of the last search; NULL: none */
    size_t search_origin;              /* row where the search that is being typed began */
    enum { UI_ASK_COMMAND, UI_ASK_SEARCH, UI_ASK_FILTER, UI_ASK_NARROW } asking;
    struct ui_view *narrowed;     /* borrowed: whose own filter is being typed */
    char *narrowed_before;        /* owned: what it was */
    struct ui_arrangement before; /* the filter that is being typed */
    int filter_origin;            /* node that was selected then */
    char *message;                /* owned: the line above the hints */
    enum ui_style message_style;
    char *displays;      /* owned: what is displayed at the stop of the walk; NULL: nothing */
    bool linked;         /* a file in the message has been made a link, if there is one */
    double last_frame;   /* of odb_clock() */
    struct ui_turn turn; /* of what is made anew while a search goes on */
    struct {             /* nodes by verdict */
        struct ui_upkeep upkeep;
        size_t off, pass, culprits;
    } counts;
    int prefix;     /* first key of two; 0: none */
    int count;      /* that was typed before a key; 0: none */
    char *wanting;  /* owned: a command with {key} in it that the next key is for */
    int divide;     /* columns of the list beside another view; 0: as it comes */
    int strip_rows; /* 0: as it comes */
    bool zoomed;    /* the view with the keys has the whole screen */
    enum { UI_DRAG_NOTHING, UI_DRAG_DIVIDER, UI_DRAG_STRIP, UI_DRAG_ALONG } dragging;
    bool mouse_off;
    bool theme_is_set; /* the background's answer is not wanted any more */
    const char *place; /* borrowed: of the line in a file that is done now; NULL: none */
    int tour;          /* step, from 1; 0: none */
    FILE *linear;      /* borrowed: lines go there instead of a screen; NULL: there is one */
    int interrupt;     /* then a signalfd of Ctrl-C, which is blocked; -1: none */
    bool failed;       /* the last command did */
    bool dirty, quit, interrupted /* quit by a signal */, frozen /* clock: tests compare screens */;
};

/* Gives a command line; {node} and {value} in it are what is under the cursor, {node} the one that
 * is selected in the list where that is no node. */
void ui_app_command(struct ui_app *app, const char *line);
void ui_app_say(struct ui_app *app, enum ui_style style, const char *fmt, ...) ODB_PRINTF(3, 4);
/* A text that was written for a command line, for who has a prompt: what an option says of those
 * that the prompt keeps, `set` says. In one line. Owned by the caller. */
char *ui_app_words(const char *text);
void ui_app_say_error(struct ui_app *app, const struct odb_error *err);
/* Brings a view to the top and gives it the keys. */
void ui_app_open(struct ui_app *app, enum ui_view_id id);
/* Whether there is such a view here: most are about a model, one about a fleet. */
bool ui_app_has(const struct ui_app *app, enum ui_view_id id);
/* Closes the view on top; false when only the nodes are left. */
bool ui_app_back(struct ui_app *app);
/* The view that has the keys. */
struct ui_view *ui_app_view(const struct ui_app *app);
/* What is under the cursor of the view with the keys. Takes the session's lock. */
struct ui_subject ui_app_subject(const struct ui_app *app);
/* Asks for a line at the bottom. ODB_E_USAGE where there is no screen. */
enum odb_status ui_app_ask(struct ui_app *app, enum ui_prompt_kind kind, const char *label,
                           const char *text, struct odb_error *err) ODB_MUST_USE;
bool ui_app_busy(const struct ui_app *app);
/* The turn that what is to be made anew waits for: NULL while no command works. */
const struct ui_turn *ui_app_turn(const struct ui_app *app);
/* Seconds that a clock shows; 0 where tests want the same screen every time. */
double ui_app_seconds(const struct ui_app *app, double seconds);

/* Asks for a new frame, from any thread. */
void ui_app_wake(struct ui_app *app);
/* Whether Ctrl-C was pressed since the last time, where there is no screen. */
bool ui_app_interrupted(const struct ui_app *app);

#endif
