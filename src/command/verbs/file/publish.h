/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A report in the forms that others read. All of them are made from its JSON (onnxdbg-report(7)),
 * and from the list of nodes where the model is at hand: "nodes" beside the report's own keys, each
 * with index, name, op_type, domain, inputs, outputs, attributes, formal_inputs and formal_outputs
 * as `node -j` has them; null where it is not. "words" has what these names mean, by operator. What
 * a report lacks is left out, for it may be of another version.
 */
#ifndef ODB_COMMAND_VERBS_FILE_PUBLISH_H
#define ODB_COMMAND_VERBS_FILE_PUBLISH_H

#include <jansson.h>

struct odb_buf;

/* One page with all that it needs in it: no network, no other files. */
void odb_publish_html(const json_t *report, struct odb_buf *out);
/* RFC 4180: a line for each value, the names of the columns first. */
void odb_publish_csv(const json_t *report, struct odb_buf *out);
/* What servers of continuous integration read: a test for the outputs, and one for each value. */
void odb_publish_junit(const json_t *report, struct odb_buf *out);
/* For an issue: the diagnosis, and the nodes around it. */
void odb_publish_markdown(const json_t *report, struct odb_buf *out);

#endif
