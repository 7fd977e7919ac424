/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files that offer words for completion have in common.
 */
#ifndef ODB_COMMAND_CONSOLE_COMPLETE_INT_H
#define ODB_COMMAND_CONSOLE_COMPLETE_INT_H

#include "base/buf.h"
#include "base/mem.h"
#include "command/table/command.h"

struct odb_console;
struct odb_graph;

#define COMPLETE_MOST 2000 /* more than this are not listed */

struct complete_found {
    const char *text; /* borrowed: the model, the table, or copy */
    char *copy;       /* owned; NULL: none */
    size_t end;       /* byte behind what matched */
    bool partial;
};

struct complete {
    const struct odb_console *console; /* NULL: none */
    const struct odb_graph *graph;     /* NULL: no model */
    const struct odb_command *command; /* NULL: its name is being typed */
    /* What is being completed. */
    const struct odb_arg *arg; /* NULL: an option's value */
    enum odb_arg_type type;
    const char *choices; /* of an ENUM */
    const char *before;  /* the argument before; NULL: none */
    bool is_option;      /* the name of an option, with its dashes */
    char *word;          /* owned: all that was typed of it */
    size_t fixed;        /* bytes of it that are no question: "--tol=" */
    /* One pass. */
    bool inside;         /* text may stand anywhere, in capitals or not */
    bool escaped;        /* names stand in a spec, where , = @ \ have a meaning */
    struct odb_buf head; /* what is settled, in front of text */
    const char *text;    /* in word */
    ODB_VEC(struct complete_found) found;
};

/* A text that outlives the completion. */
void complete_offer(struct complete *c, const char *text, bool partial);
/* The same for one that is given away. */
void complete_offer_take(struct complete *c, char *text, bool partial);
/* So many bytes of text are settled. */
void complete_settle(struct complete *c, size_t n);

/* complete_names.c: what has a name in the model, and what was put down there. */
void complete_node(struct complete *c);
void complete_nodes(struct complete *c);
void complete_place(struct complete *c);
void complete_value(struct complete *c);
void complete_output(struct complete *c);
void complete_slice(struct complete *c);
void complete_condition(struct complete *c);
void complete_stop(struct complete *c);
void complete_pinned(struct complete *c);
void complete_marked(struct complete *c);
void complete_letter(struct complete *c);

#endif
