/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What probe.c, which asks, shares: with pieces.c a probe that is more than the target may hold at
 * once, with ahead.c what is asked before the search does.
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

/* The question of a plain run: the model's own file, and all outputs that nodes make. NULL: other
 * bytes would have to be loaded. load: false: what is loaded is run again; true: what the target
 * makes of it is asked next. beside: as of a probe. */
struct odb_probe_cut *odb_probe__whole(const struct odb_prober *prober, bool load, bool beside);
/* The question with every value read that a node makes and the trace has. NULL: the target does not
 * give all of them at once, they are more than so many bytes, or it cannot be put. */
struct odb_probe_cut *odb_probe__all(const struct odb_prober *prober, uint64_t most, bool beside);
/* Puts it, and keeps the answer in it. */
enum odb_status odb_probe__ask(struct odb_probe_cut *cut, struct odb_target *target);
/* Its answer; borrowed, *n of them; NULL: there is none. */
struct odb_tensor *const *odb_probe__answer(const struct odb_probe_cut *cut, size_t *n);
/* That it took. */
double odb_probe__seconds(const struct odb_probe_cut *cut);
/* Whether both are the same nodes of the same model, with the same inputs and outputs. */
bool odb_probe__same(const struct odb_probe_cut *a, const struct odb_probe_cut *b);
void odb_probe__cut_free(struct odb_probe_cut *cut);

#endif
