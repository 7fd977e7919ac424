/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A probe that is more than the target may hold at once, as probe.c (which asks) and pieces.c (what
 * is asked) share it.
 */
#ifndef ODB_PROBE_PROBE_INT_H
#define ODB_PROBE_PROBE_INT_H

#include "probe/probe.h"

/* odb_probe_run() of a part of a probe: it is not reported, nothing is charged, but it is
 * remembered. loads and runs of the part are set. */
enum odb_status odb_probe__part(struct odb_prober *prober, struct odb_probe *part,
                                struct odb_error *err) ODB_MUST_USE;

/* Where to cut the nodes so that each piece fits: stops[i] is one behind the last node of piece i.
 * Returns how many pieces there are; *stops is the caller's to free. */
size_t odb_probe__pieces(const struct odb_prober *prober, const struct odb_probe *probe,
                         const bool *nodes, int **stops);
/* Runs the nodes piece by piece, each fed with what the target made before. made: [n_values] NULL
 * on entry; on return refs, the caller's, of the values that the probe reads, and others. Counts
 * loads and runs into the probe. */
enum odb_status odb_probe__by_pieces(struct odb_prober *prober, struct odb_probe *probe,
                                     const bool *nodes, const int *stops, size_t n,
                                     struct odb_tensor **made, struct odb_error *err) ODB_MUST_USE;

#endif
