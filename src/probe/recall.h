/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a recording says beside the values of nodes: whether it was made with the model's weights,
 * which of its names are unknown, and in which layout it holds them.
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

/* Recorded values that are held in another layout become the model's: in what the target's spec
 * says (layouts=), else in one that most of them say by their shapes. outputs is [n], NULL where a
 * value was not recorded. The line to tell, the caller's; NULL: there is nothing to tell. */
char *odb_recall_layout(const struct odb_prober *prober, const int *values,
                        struct odb_tensor **outputs, size_t n);

#endif
