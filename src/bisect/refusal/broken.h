/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A valid model that the target refuses with its options, and runs at its plainest.
 */
#ifndef ODB_BISECT_REFUSAL_BROKEN_H
#define ODB_BISECT_REFUSAL_BROKEN_H

#include "bisect/findings.h"

/* The model was refused, why saying how: asks the target for it at its plainest. What it runs so is
 * the failure that is sought from then on. */
enum odb_status broken_look(const struct search_case *c, struct findings *f,
                            const struct odb_error *why, struct odb_error *err) ODB_MUST_USE;
/* The rest of the model was refused as well: that is sought, if what is refused is known to be a
 * failure. */
void broken_sign(struct findings *f, const struct odb_error *why);
/* The prefix that ends in this node is refused (kept->refusal). is: at its plainest the target runs
 * it, and the node is kept with the fewest nodes before it that are refused together with it. */
enum odb_status broken_take(const struct search_case *c, struct findings *f, int node, bool *is,
                            struct odb_error *err) ODB_MUST_USE;
/* The same of a node that looks like the one that was taken last, with nodes that stand to it
 * alike. What the target refuses of those at its plainest as well is not kept. */
enum odb_status broken_take_alike(const struct search_case *c, struct findings *f, int node,
                                  bool *is, struct odb_error *err) ODB_MUST_USE;
/* Whether the target has no plainer options, so that nothing can be known. */
bool broken_is_open(const struct findings *f);
/* Of such a target: notes the fewest nodes that are refused together with this one, which ends the
 * prefix that was refused (kept->refusal) and runs alone. */
enum odb_status broken_tell_together(const struct search_case *c, struct findings *f, int node,
                                     struct odb_error *err) ODB_MUST_USE;
/* Accuses what was taken, before all others but what is wrong by itself and lies within; or says
 * that only the model as a whole is refused. False: nothing is known to be broken. */
bool broken_accuse(const struct search_case *c, struct findings *f);
void broken_put(const struct search_case *c, const struct findings *f,
                const struct odb_culprit *who, struct odb_buf *out);
void broken_dispose(struct findings *f);

#endif
