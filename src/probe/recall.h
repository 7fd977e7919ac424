/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a recording says beside the values of nodes: whether it was made with the model's weights,
 * and which of its names are unknown.
 */
#ifndef ODB_PROBE_RECALL_H
#define ODB_PROBE_RECALL_H

#include "probe/probe.h"
#include "reference/trace.h"

/* After a first run of the prober's target: tells line by line; and hands each weight that differs,
 * as far as not too many do, to take (NULL: not wanted), which owns its tensor then. */
enum odb_status odb_recall_notes(struct odb_prober *prober,
                                 void (*tell)(void *payload, const char *line),
                                 void (*take)(void *payload, const struct odb_recalled *weight),
                                 void *payload, struct odb_error *err) ODB_MUST_USE;

#endif
