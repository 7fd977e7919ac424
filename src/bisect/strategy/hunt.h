/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searching over prefixes.
 */
#ifndef ODB_BISECT_STRATEGY_HUNT_H
#define ODB_BISECT_STRATEGY_HUNT_H

#include "bisect/alone/alone.h"
#include "bisect/findings.h"
#include "search/search.h"

/* What node reads from others is had once as the target makes it, in a prefix of its own. bad
 * [odb_node_n_reads()]: set where it is wrong; a run that cannot be had sets none. */
enum odb_status hunt_before(const struct search_case *c, struct findings *f, int node, bool *bad,
                            struct odb_error *err);
/* Bisects over prefixes for what made this output wrong (f->verdicts says how), names the node or
 * the smallest segment, and verifies it. */
enum odb_status hunt_value(const struct search_case *c, struct findings *f, int value,
                           struct odb_error *err) ODB_MUST_USE;
/* Whether the target stores integers, and the value is off as rounding to them carries values off:
 * how far is not known of what was not read, so cuts alone accuse no node of it. */
bool hunt_rounded(const struct findings *f, int value);
/* Whether the suspects that are left ([n_nodes]) may be accused of such a value: it is one node,
 * and wrong about what it was fed, as that was read. True where the value is not off so. */
bool hunt_proves(const struct search_case *c, const struct findings *f, int value,
                 const bool *left);
/* Accuses the last of the suspects that a search left ([n_nodes]), and believes it as
 * verify_believe() does, or tells what region they are. */
enum odb_status hunt_accuse_left(const struct search_case *c, struct findings *f, int value,
                                 const bool *left, const struct alone *known, bool widen,
                                 struct odb_error *err) ODB_MUST_USE;
/* Asks for the prefixes that end in these nodes, in order; answers[n], untestable where the list
 * was left before. signature: the end that is bad; ODB_OK: wrong values are, as far as they are the
 * failure of this output, or any if it is ODB_NO_VALUE. until_bad: the first bad one ends it.
 * asked: how many were. */
enum odb_status hunt_ask_prefixes(const struct search_case *c, struct findings *f,
                                  enum odb_status signature, int output, const char *phase,
                                  const int *nodes, size_t n, bool until_bad,
                                  enum odb_answer *answers, size_t *asked,
                                  struct odb_error *err) ODB_MUST_USE;
/* The same where the plain run failed with this status: crash or hang. */
enum odb_status hunt_crash(const struct search_case *c, struct findings *f,
                           enum odb_status signature, struct odb_error *err) ODB_MUST_USE;
/* The outputs were refused: the node that ends the smallest prefix refused as well. words: what the
 * target said, which may name it, so that it is asked for early; NULL: not known. */
enum odb_status hunt_refusal(const struct search_case *c, struct findings *f,
                             enum odb_status refusal, const char *words, int *node,
                             struct odb_error *err) ODB_MUST_USE;
/* The first node of all is accused: does the target fail so on nodes of other operators as well,
 * each alone? If on all that are asked, it does not run and no node is to blame: the report is
 * dead then. */
bool hunt_runs_at_all(const struct search_case *c, struct findings *f, int accused,
                      enum odb_status signature);

#endif
