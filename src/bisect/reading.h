/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What one run reads: the outputs and nothing else, or every value that is wanted.
 */
#ifndef ODB_BISECT_READING_H
#define ODB_BISECT_READING_H

#include "bisect/findings.h"

/* Outputs of one model that are tried where the target refuses all values at once, and where it
 * refuses so many. */
#define READING_FEW 16
#define READING_FEWEST 4

/* The whole model, unobserved; outputs has room for the report's n_outputs. */
struct odb_probe reading_plain(const struct search_case *c, struct findings *f, const char *what,
                               struct odb_tensor **outputs);
/* Whether a value is worth reading. */
bool reading_counts(const struct search_case *c, int value);
/* Whether it is, and the target can be asked for it. */
bool reading_wants(const struct search_case *c, int value);
/* Values to read in one run: those that can be compared, and every output; list has room for
 * n_values. */
size_t reading_list(const struct search_case *c, int *list);
/* Marks what judging a node needs; returns the bytes of what is new, and adds to count how much
 * that is. */
size_t reading_mark(const struct search_case *c, int node, bool *marks, size_t *count);
/* Whether the target says of some value worth reading that it does not give it. */
bool reading_is_limited(const struct search_case *c);
/* How many values one run may read beside the outputs, as far as the target gives them. */
size_t reading_taps(const struct search_case *c);
/* How many runs with so many values tell all nodes apart: ceil(log nodes to the base of taps + 1);
 * 0: none can. */
size_t reading_runs(const struct search_case *c);
/* Whether the target gives fewer values at once than there are, and memory has room for all: then
 * each is read once, and what was read in several runs is judged together. */
bool reading_packs(const struct search_case *c, const struct findings *f);
/* Where the run that begins with the node first ends, of so many nodes at most: the target holds
 * what is read, and so do we. marks [n_values]: what it reads. */
int reading_stop(const struct search_case *c, const struct findings *f, int first, size_t most,
                 bool *marks);
/* Whether a run reads more than the outputs. */
bool reading_some(const struct search_case *c, const bool *marks);
/* How many runs reading all values would take under f->memory and of what the target gives, and
 * their bytes; 0: it gives none but the outputs. */
size_t reading_batches(const struct search_case *c, const struct findings *f, size_t *bytes);

#endif
