/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether the accused fails alone, and if it does not, what does.
 */
#ifndef ODB_BISECT_EVIDENCE_VERIFY_H
#define ODB_BISECT_EVIDENCE_VERIFY_H

#include "bisect/alone/alone.h"
#include "bisect/findings.h"

/* Runs the culprit alone on the target, on the target's own inputs where they are known; sets
 * verified, or finds the smallest segment that fails. */
enum odb_status verify_culprit(const struct search_case *c, struct findings *f,
                               struct odb_culprit *culprit, struct odb_error *err) ODB_MUST_USE;
/* The same for the first culprits that accuse a node. */
enum odb_status verify_all(const struct search_case *c, struct findings *f,
                           struct odb_error *err) ODB_MUST_USE;
/* A node alone on the target's own inputs, which are asked for where they are not known; q: the
 * question, if it was begun; taken. Only that it was cancelled is an error, and what judging fails
 * with. */
enum odb_status verify_try(const struct search_case *c, struct findings *f, int node,
                           struct question *q, struct alone *out,
                           struct odb_error *err) ODB_MUST_USE;
/* Holds a culprit against what it does alone: sets verified, or, where it passes and widen says so,
 * finds the smallest segment that fails. known: what it did, if that was tried; else it is now. */
enum odb_status verify_believe(const struct search_case *c, struct findings *f,
                               struct odb_culprit *culprit, const struct alone *known, bool widen,
                               struct odb_error *err) ODB_MUST_USE;
/* Runs node alone on the reference's values; *found: it fails, and the culprit is that node now, by
 * itself. One that cannot be run is not found. */
enum odb_status verify_is_it(const struct search_case *c, struct findings *f,
                             struct odb_culprit *culprit, int node, bool *found,
                             struct odb_error *err) ODB_MUST_USE;
/* The node passes alone, fed with its weights, and fails together with the nodes that make them:
 * one of these is to blame by itself, or else the region begins with the first of them. */
enum odb_status verify_weights(const struct search_case *c, struct findings *f,
                               struct odb_culprit *culprit, int node,
                               struct odb_error *err) ODB_MUST_USE;

#endif
