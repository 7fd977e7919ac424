/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What `info TOPIC` tells, beside what `info` tells of the model.
 */
#ifndef ODB_COMMAND_VERBS_LOOK_INFO_TOPICS_H
#define ODB_COMMAND_VERBS_LOOK_INFO_TOPICS_H

#include "base/error.h"

struct odb_command_call;

/* topic: one of ODB_INFO_TOPICS, or the beginning of one alone. */
enum odb_status odb_info_topic(struct odb_command_call *call, const char *topic,
                               struct odb_error *err) ODB_MUST_USE;

#endif
