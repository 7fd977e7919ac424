/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the user has put down about a model: breakpoints, watchpoints, what is displayed at every
 * stop, values that are pinned, marks and notes. One list of one kind of thing, so that numbering,
 * listing, undoing and keeping them on disk is done once for all.
 */
#ifndef ODB_SESSION_ANNOTATIONS_H
#define ODB_SESSION_ANNOTATIONS_H

#include "judge/condition.h"
#include "walk/inside.h"
#include "model/model.h"

#define ODB_ANNOTATION_LIST(X)                                                                     \
    X(BREAK, "breakpoint")                                                                         \
    X(WATCH, "watchpoint")                                                                         \
    X(DISPLAY, "display")                                                                          \
    X(PIN, "pin")                                                                                  \
    X(MARK, "mark")                                                                                \
    X(NOTE, "note")

enum odb_annotation_kind {
#define ODB_ANNOTATION_ENUM(name, text) ODB_ANNOTATION_##name,
    ODB_ANNOTATION_LIST(ODB_ANNOTATION_ENUM)
#undef ODB_ANNOTATION_ENUM
        ODB_ANNOTATION_COUNT
};
const char *odb_annotation_name(enum odb_annotation_kind kind);

struct odb_annotation {
    enum odb_annotation_kind kind;
    int number;  /* breakpoints and watchpoints are counted together */
    char *place; /* owned: as given: a node, an operator, a value, or a path to one of these in a
                    body; "": none is needed */
    char *text;  /* owned: condition, expression, where a pin's value is from, note; "": none */
    bool disabled, once;
    int64_t ignore, hits;
    /* What place and text mean; made from them. */
    struct odb_body_step *way; /* owned; [n_way] into the body that place is in, whose bodies
                                  are the model's; NULL: the main graph */
    size_t n_way;
    const char *last;                /* borrowed: what place names there */
    int node;                        /* ODB_NO_NODE: all of an operator, or none is needed */
    int value;                       /* that place names; ODB_NO_VALUE: it names none */
    struct odb_condition *condition; /* owned; NULL: none */
};

/* A list of them, in the order in which they were put down. */
struct odb_annotation_list {
    ODB_VEC(struct odb_annotation) items;
    int last[ODB_ANNOTATION_COUNT]; /* number given last */
};
void odb_annotation_list_dispose(struct odb_annotation_list *list);
/* A copy of the whole. */
void odb_annotation_list_copy(struct odb_annotation_list *out,
                              const struct odb_annotation_list *list,
                              const struct odb_graph *graph);
bool odb_annotation_list_same(const struct odb_annotation_list *a,
                              const struct odb_annotation_list *b);
/* NULL when there is none of that kind and number. Borrowed until the next change. */
struct odb_annotation *odb_annotation_find(const struct odb_annotation_list *list,
                                           enum odb_annotation_kind kind, int number);

/* Appends one, with the next number where what->number is 0; kind, place, text, once and the counts
 * are taken from what, texts are copied (NULL: ""). Errors: place names nothing, or text is no
 * condition where one is needed. */
enum odb_status odb_annotation_add(struct odb_annotation_list *list,
                                   const struct odb_annotation *what, const struct odb_graph *graph,
                                   int *number, struct odb_error *err) ODB_MUST_USE;
void odb_annotation_remove(struct odb_annotation_list *list, size_t index);
/* Whether two are of one kind and about one node, in the same body and turn. */
bool odb_annotation_same_place(const struct odb_annotation *a, const struct odb_annotation *b);
/* What was met is counted on, where a list has what another one has. */
void odb_annotation_list_count_on(struct odb_annotation_list *list,
                                  const struct odb_annotation_list *counted);
/* Gives it another text. As odb_annotation_add(). */
enum odb_status odb_annotation_set_text(struct odb_annotation *annotation, const char *text,
                                        struct odb_error *err) ODB_MUST_USE;

/* Whether it is about a node of this graph: of the body that inside is, NULL for the main graph. */
bool odb_annotation_is_at(const struct odb_annotation *annotation, const struct odb_graph *graph,
                          int node, const struct odb_inside *inside);
/* The same for a node's output: all of them, unless place is a value. */
bool odb_annotation_is_of(const struct odb_annotation *annotation, const struct odb_node *node,
                          int slot);
/* Whether a breakpoint is about a node in the bodies of this one, at any depth, and in turn `turn`
 * or a later one, which the first is then in *turn. */
bool odb_annotation_is_below(const struct odb_annotation *annotation, const struct odb_graph *graph,
                             int node, const struct odb_inside *inside, int64_t *turn);
/* Nodes of an operator in the bodies of a graph's nodes, at any depth; each body counts as often as
 * it is called. most: no more are counted. */
size_t odb_annotation_count_below(const struct odb_graph *graph, const char *op_type, size_t most);

#endif
