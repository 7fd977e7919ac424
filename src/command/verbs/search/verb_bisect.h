/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How a search begins, and how a culprit is described.
 */
#ifndef ODB_COMMAND_VERBS_SEARCH_VERB_BISECT_H
#define ODB_COMMAND_VERBS_SEARCH_VERB_BISECT_H

#include "bisect/bisect_options.h"

struct odb_buf;
struct odb_command_call;
struct odb_culprit;
struct odb_graph;

/* The session's search begins, as odb_session_begin() says, and keeps its input settings. What an
 * earlier one has to do with it is said. */
enum odb_status odb_call__bisect_begin(struct odb_command_call *call,
                                       struct odb_bisect_options *options, const char *inputs,
                                       struct odb_error *err) ODB_MUST_USE;
/* Appends a culprit in full, as a search tells it. */
void odb_call__put_culprit(const struct odb_graph *graph, const struct odb_culprit *culprit,
                           struct odb_buf *out);

#endif
