/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How a culprit is described.
 */
#ifndef ODB_COMMAND_VERBS_SEARCH_VERB_BISECT_H
#define ODB_COMMAND_VERBS_SEARCH_VERB_BISECT_H

struct odb_buf;
struct odb_culprit;
struct odb_graph;

/* Appends a culprit in full, as a search tells it. */
void odb_call__put_culprit(const struct odb_graph *graph, const struct odb_culprit *culprit,
                           struct odb_buf *out);

#endif
