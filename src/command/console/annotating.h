/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What commands that put things down about a model (breakpoints, displays, pins, marks, notes) have
 * in common: saying what there is, and finding it by its number.
 */
#ifndef ODB_COMMAND_CONSOLE_ANNOTATING_H
#define ODB_COMMAND_CONSOLE_ANNOTATING_H

#include "session/annotations.h"

struct odb_command_call;
struct odb_session;

/* A copy of the session's list; the caller's to dispose of. */
void odb_annotating_copy(const struct odb_session *session, struct odb_annotation_list *out);

/* Appends what it is about: "behind Conv, 5 nodes", "#3 /conv (Conv)", "Loop_4[3]/x (Add)". */
void odb_annotating_put_where(const struct odb_graph *graph,
                              const struct odb_annotation *annotation, struct odb_buf *out);
/* Appends a line: "2    breakpoint  behind Conv, 5 nodes  if error > 1e-3  disabled  hit 3 times".
 */
void odb_annotating_put(const struct odb_graph *graph, const struct odb_annotation *annotation,
                        struct odb_buf *out);
/* Appends the lines of all of some kinds (bits 1 << kind); returns how many there are. */
size_t odb_annotating_put_list(const struct odb_session *session, unsigned kinds,
                               struct odb_buf *out);

/* Does something to each that the words name by number ("3", "2-5", "$" for the one put down last),
 * or to all of the kinds where there are no words, and says how many there were. remove: it goes,
 * else change is called. ODB_E_USAGE: there is none of that number. */
struct odb_annotating_change {
    unsigned kinds;   /* bits 1 << kind */
    const char *said; /* "deleted" */
    bool remove;
    void (*change)(struct odb_annotation *annotation, int64_t value);
    int64_t value;
};
enum odb_status odb_annotating_change(struct odb_command_call *call, const char *const *words,
                                      size_t n_words, const struct odb_annotating_change *how,
                                      struct odb_error *err) ODB_MUST_USE;
/* The letter of a bookmark; ODB_E_USAGE: the word is none. */
enum odb_status odb_annotating_letter(const char *word, char *letter,
                                      struct odb_error *err) ODB_MUST_USE;
/* Takes away those that the call's arguments name, or all of the kind. */
enum odb_status odb_annotating_remove(struct odb_command_call *call, enum odb_annotation_kind kind,
                                      struct odb_error *err) ODB_MUST_USE;

#endif
