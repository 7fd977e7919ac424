/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which nodes of the model a command is about.
 */
#ifndef ODB_COMMAND_VALUE_NODE_RANGE_H
#define ODB_COMMAND_VALUE_NODE_RANGE_H

#include <stdbool.h>

#include "base/error.h"

struct odb_bisect_options;
struct odb_body_case;
struct odb_command_call;
struct odb_feeds;
struct odb_graph;
struct odb_report;
struct odb_session;

/* NODE or NODE:NODE. */
enum odb_status odb_call__segment(const struct odb_graph *graph, const char *text, int *first,
                                  int *last, struct odb_error *err) ODB_MUST_USE;
/* A NODE that is a path into a body ("Loop_4[3]/Conv_1"): the turn as a model of its own, with what
 * the reference feeds it there, and the node in it. *inside false: it is none, and *out is nothing.
 */
enum odb_status odb_call__inside(const struct odb_command_call *call, const struct odb_feeds *feeds,
                                 const struct odb_bisect_options *search, struct odb_body_case *out,
                                 int *node, bool *inside, struct odb_error *err) ODB_MUST_USE;
/* What the command line leaves open is as it was in the session's search. ODB_E_USAGE: that is a
 * spec which the user has to give himself. */
enum odb_status odb_call__adopt(const struct odb_command_call *call,
                                struct odb_bisect_options *search,
                                struct odb_error *err) ODB_MUST_USE;
/* The first culprit's segment, of those whom no later tolerance acquitted; false when there is
 * none. */
bool odb_call__suspects(const struct odb_session *session, const struct odb_report *report,
                        int *from, int *to);

#endif
