/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names of nodes where there is no room for them. They are paths: what nearly all of a model have
 * in front is left out, and of the rest whole parts, those first that a reader needs least.
 */
#ifndef ODB_UI_LIST_SHORT_NAME_H
#define ODB_UI_LIST_SHORT_NAME_H

#include <stddef.h>

struct odb_buf;
struct odb_graph;
struct ui_terminal;

/* What a model's names are like. */
struct ui_names {
    char *prefix; /* owned: whole parts that nearly all names begin with, a separator last; or "" */
    char separator;
    int width; /* columns in which nearly all names have room, behind the prefix */
    int whole; /* the same with a last part that is the operator's name */
    int op;    /* columns of the widest operator, its domain included */
};

void ui_names_make(struct ui_names *names, const struct odb_graph *graph, char separator,
                   const struct ui_terminal *terminal);
void ui_names_dispose(struct ui_names *names);
/* Scopes that the prefix consists of. */
int ui_names_depth(const struct ui_names *names);
/* The name behind the prefix; the whole name where it has another beginning. Borrowed. */
const char *ui_names_rest(const struct ui_names *names, const char *name);

/* A name among those beside it, all of them as ui_names_rest() has them. */
struct ui_short_name {
    const char *name;          /* borrowed */
    const char *op;            /* borrowed: tells a last part that says no more than this */
    const char *above;         /* borrowed: of the row above; NULL: there is none */
    const char *const *beside; /* borrowed: names to be told apart from, the nearest first */
    size_t n;
};

/* Appends the name in at most cols columns, with dots for parts that are left out; more columns
 * only where its last part alone takes them. Returns the bytes appended that repeat what the row
 * above begins with. */
size_t ui_short_name_put(const struct ui_short_name *what, char separator,
                         const struct ui_terminal *terminal, int cols, struct odb_buf *out);
/* The same with as many of the last parts as fit, in one piece. */
void ui_short_name_end(const char *name, char separator, const struct ui_terminal *terminal,
                       int cols, struct odb_buf *out);
/* The same in at most cols columns, at least 1: of a last part that takes more, its end. */
void ui_short_name_fit(const char *name, char separator, const struct ui_terminal *terminal,
                       int cols, struct odb_buf *out);
/* Columns of its last part alone. */
int ui_short_name_least(const char *name, char separator, const struct ui_terminal *terminal);

#endif
