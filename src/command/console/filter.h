/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which nodes are listed, in a line:
 *
 *   op:Conv err>1e-3 !pass          all of them      | name~attn     or this
 *
 * A word alone is looked for in names, operators and values, but for those that say how a node is
 * marked: pass, fail, …, off, culprit, break. FIELD:TEXT wants all of the field to be TEXT, in
 * which * and ? stand for others; FIELD~EXPRESSION is a regular expression for a part of it;
 * numbers are compared with < <= > >= =. ! in front turns a word round; quotes take one as it is.
 * Capital letters count only where there are any.
 */
#ifndef ODB_COMMAND_CONSOLE_FILTER_H
#define ODB_COMMAND_CONSOLE_FILTER_H

#include <stdbool.h>

#include "base/error.h"

struct odb_buf;
struct odb_completion;
struct odb_filter;
struct odb_graph;
struct odb_session;

/* ODB_E_USAGE, with the byte of the text in *at where it stops making sense. */
enum odb_status odb_filter_parse(struct odb_filter **out, const char *text, size_t *at,
                                 struct odb_error *err) ODB_MUST_USE;
void odb_filter_free(struct odb_filter *filter); /* NULL is fine */

/* Caller holds the session's lock. */
bool odb_filter_matches(const struct odb_filter *filter, const struct odb_session *session,
                        int node);
/* Whether a word alone finds the node; readers: also by what it reads. Caller holds the lock. */
bool odb_filter_word(const struct odb_session *session, int node, const char *word, bool readers);
/* Whether its answers change with the search, with breakpoints or bookmarks. */
bool odb_filter_follows(const struct odb_filter *filter);

/* Whether it asks for what a search, or a walk, finds. */
bool odb_filter_asks_search(const struct odb_filter *filter);

/* What the word at byte `at` could become: fields, marks, and what the graph has of the field. */
void odb_filter_complete(struct odb_completion *out, const struct odb_graph *graph,
                         const char *text, size_t at);
/* One line for each thing that it understands, for the help. */
void odb_filter_help(struct odb_buf *out);

#endif
