/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Does the target repeat itself?
 */
#ifndef ODB_BISECT_REPEAT_H
#define ODB_BISECT_REPEAT_H

#include "bisect/findings.h"

/* More runs of what is loaded, the model as it is: counts verdicts, measures how far runs are
 * apart, and, where they are, looks for the first node that differs. Accuses it where verdicts
 * flip. */
enum odb_status repeat_runs(const struct search_case *c, struct findings *f,
                            struct odb_error *err) ODB_MUST_USE;
/* The same where they waited until every value was read; nothing where they did not, or have been
 * made. */
enum odb_status repeat_late(const struct search_case *c, struct findings *f,
                            struct odb_error *err) ODB_MUST_USE;
/* Once in a search, before it says what rests on one run being unlike another: the same again. Sets
 * f->unsteady where it does not repeat itself. */
enum odb_status repeat_doubt(const struct search_case *c, struct findings *f,
                             struct odb_error *err) ODB_MUST_USE;
/* Whether an output depends on the node that is not the same in equal runs. */
bool repeat_flips_behind(const struct search_case *c, const struct findings *f, int node);
/* Whether the node, or one that it depends on, is known not to repeat itself. */
bool repeat_races_before(const struct search_case *c, const struct findings *f, int node);
/* Whether a node that was wrong, and is right alone, may have been so by chance: it does not repeat
 * itself, or one that it depends on; or a search had two answers to one question, and runs with
 * every value read, which are made for that once, do not show of whom that comes. Accuses whom they
 * show. */
enum odb_status repeat_by_chance(const struct search_case *c, struct findings *f, int node,
                                 bool *chance, struct odb_error *err) ODB_MUST_USE;

/* Whether of two equal runs one was wrong, and the other was not. */
bool repeat_unsteady(const struct findings *f);
/* A search had two answers to one question. */
void repeat_was_unsteady(struct findings *f);
void repeat_dispose(struct findings *f);

#endif
