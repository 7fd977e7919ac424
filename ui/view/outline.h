/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which rows the list of nodes has, and in what order: those that a filter lets through, sorted by
 * a column, with scopes folded into one row each. A scope is what nodes' names begin with:
 * /encoder and /encoder/layer.3 of /encoder/layer.3/MatMul; where names have no / in them, the
 * parts between dots. A node without a name has that of the value that it makes. In the model's
 * order constant parts (constants.h) stand before the node that reads them, in one row unless they
 * are unfolded.
 *
 * In its plain state, all nodes by index, an outline keeps nothing per node.
 */
#ifndef ODB_UI_VIEW_OUTLINE_H
#define ODB_UI_VIEW_OUTLINE_H

#include <limits.h>

#include "base/mem.h"

struct odb_graph;
struct odb_session;
struct ui_constants;

/* What `sort` chooses from, in the order of the names. */
#define UI_SORT_LIST(X)                                                                            \
    X(INDEX, "index")                                                                              \
    X(OP, "operator")                                                                              \
    X(NAME, "name")                                                                                \
    X(OUTPUT, "output")                                                                            \
    X(TYPE, "type")                                                                                \
    X(KERNEL, "kernel")                                                                            \
    X(ERROR, "error")                                                                              \
    X(LOCAL, "local")                                                                              \
    X(NOISE, "noise")                                                                              \
    X(GAIN, "gain")                                                                                \
    X(SECONDS, "seconds")                                                                          \
    X(TARGET_SECONDS, "target-seconds")                                                            \
    X(VERDICT, "verdict")

enum ui_sort {
#define UI_SORT_ENUM(id, name) UI_SORT_##id,
    UI_SORT_LIST(UI_SORT_ENUM)
#undef UI_SORT_ENUM
        UI_SORT_COUNT
};

const char *ui_sort_name(enum ui_sort sort);

/* Columns of the list of nodes, in the order of the names that `columns` takes (ODB_COLUMNS). */
enum ui_column {
    UI_COLUMN_OP,
    UI_COLUMN_NAME,
    UI_COLUMN_OUT,
    UI_COLUMN_TYPE,
    UI_COLUMN_KERNEL,
    UI_COLUMN_BAR,
    UI_COLUMN_ERROR,
    UI_COLUMN_LOCAL,
    UI_COLUMN_NOISE,
    UI_COLUMN_GAIN,
    UI_COLUMN_SECONDS,
    UI_COLUMN_TARGET_SECONDS,
    UI_COLUMN_COUNT
};
struct ui_columns {
    enum ui_column list[UI_COLUMN_COUNT]; /* each once, from left to right */
    int n;                                /* 0: what fits */
};

#define UI_DEPTH_ALL INT_MAX

/* What is shown, and how: all that undoing brings back. */
struct ui_arrangement {
    char *filter; /* owned; NULL: none */
    enum ui_sort sort;
    bool descending;
    unsigned long when; /* it was changed, or that undone, of those kept for that */
    struct ui_columns columns;
    int depth;      /* scopes deeper than this are folded, UI_DEPTH_ALL: none */
    bool constants; /* constant parts are not folded */
    ODB_VEC(struct ui_fold {
        char *scope; /* owned; NULL: the constant parts that reader reads */
        int reader;
        bool folded;
    })
    folds; /* other than depth and constants say */
};

void ui_arrangement_copy(struct ui_arrangement *out, const struct ui_arrangement *from);
void ui_arrangement_dispose(struct ui_arrangement *how);

struct ui_row {
    int node;     /* the first, of those that are folded */
    int n;        /* nodes that it stands for; 1: itself */
    int scope;    /* bytes of the first node's name that the folded scope has; 0: none is */
    int worst;    /* node with the largest error, or the worst verdict */
    int culprits; /* among its nodes; of one: 0 */
    double adds;  /* of its nodes' own errors together; of one: 0 */
};

struct ui_outline {
    struct ui_arrangement how;
    const struct ui_constants *constants; /* borrowed; NULL: not looked for */
    struct odb_filter *parsed;            /* owned: of how.filter */
    bool plain;                           /* none of the following is there */
    struct ui_row *rows;                  /* owned */
    size_t n;
    int *row_of;       /* owned: of every node; -1: not listed */
    int *next;         /* owned: the next node in the same row; ODB_NO_NODE: none */
    double adds;       /* all nodes' own errors together; 0: none is known */
    char separator;    /* of scopes; 0: not looked for yet */
    int deepest;       /* scopes inside one another */
    const char *trunk; /* borrowed: the name of the scopes that nearly all nodes are in, one in the
                          other, a separator last; "": there is none */
    int trunk_depth;   /* how many */
};

void ui_outline_init(struct ui_outline *outline, const struct ui_constants *constants);
void ui_outline_dispose(struct ui_outline *outline);
/* Another filter, NULL or "": none. On an error it stays as it was; *at is as in
 * odb_filter_parse(). */
enum odb_status ui_outline_filter(struct ui_outline *outline, const char *text, size_t *at,
                                  struct odb_error *err) ODB_MUST_USE;
/* Makes the rows anew. Caller holds the session's lock. */
void ui_outline_make(struct ui_outline *outline, const struct odb_session *session);
/* Whether rows depend on what a search finds out. */
bool ui_outline_follows(const struct ui_outline *outline);

size_t ui_outline_rows(const struct ui_outline *outline, const struct odb_graph *graph);
/* node is ODB_NO_NODE behind the last row. */
struct ui_row ui_outline_row(const struct ui_outline *outline, const struct odb_graph *graph,
                             size_t row);
/* The row that a node is in; where it is not listed, that of the next one if rows are sorted by
 * index, else the first. */
size_t ui_outline_find(const struct ui_outline *outline, int node);

/* The name that a node's scopes are taken from. Borrowed. */
const char *ui_outline_label(const struct odb_graph *graph, int node);
/* Bytes of the label that the scope has which `fold all` folds its node into; 0: it is in none. */
int ui_outline_branch(const struct ui_outline *outline, const char *label);
/* How names part scopes, and how deep they go; done once. */
void ui_outline_look(struct ui_outline *outline, const struct odb_graph *graph);
/* Folds or unfolds the innermost scope of the row, or of a folded one (fold) the scope around it.
 * False: there is none. The rows are to be made anew. */
bool ui_outline_fold(struct ui_outline *outline, const struct odb_graph *graph, size_t row,
                     bool fold);
/* Unfolds whatever a node is in. False: nothing was folded. */
bool ui_outline_reveal(struct ui_outline *outline, const struct odb_graph *graph, int node);
/* All scopes down to this depth stay open, all others are folded; constants: constant parts stay
 * open. */
void ui_outline_depth(struct ui_outline *outline, int depth, bool constants);

#endif
