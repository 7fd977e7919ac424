/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the failures of a fleet have in common: nodes of one operator that compute the same other
 * thing, operators that the target refuses, and what it says where no node is known. Causes are
 * made of the reports each time anew: nothing of them is stored.
 */
#ifndef ODB_FLEET_CAUSES_H
#define ODB_FLEET_CAUSES_H

#include "base/buf.h"
#include "fleet/fleet.h"

/* A node of a model, or, where there is none, the model. */
struct odb_cause_member {
    size_t model;          /* of the fleet */
    const json_t *culprit; /* borrowed: fleet; NULL: none */
    bool alone;            /* nothing else keeps the model from passing, as far as is known */
};

#define ODB_CAUSE_OPEN "not searched yet" /* the title of what is no cause: models that fail */

struct odb_cause {
    char *base;  /* owned: operator and kind, or what is said */
    char *key;   /* owned: the same in any run, so that two fleets can be compared */
    char *title; /* owned: "Resize: computed with half_pixel", "refuses Softmax: no kernel" */
    enum odb_fleet_verdict verdict; /* of its members: the worst */
    ODB_VEC(struct odb_cause_member) members;
    /* The first explains most members; others explain those that do not show all of it. */
    ODB_VEC(char *) variants; /* owned; none: nothing explains them */
    ODB_VEC(char *) common;   /* owned: "mode = \"nearest\"", "float16": what all nodes have */
    size_t models;            /* how many it is in */
    size_t confirmed;         /* how many of them were not searched to the end, as what was known of
                                 others explains all that is wrong there */
    size_t unblocks;          /* how many of them have no other cause */
    size_t smallest;          /* the member whose model is the smallest, of those with a node */
};

struct odb_causes {
    ODB_VEC(struct odb_cause) list; /* those that unblock most first, then those of most models */
};

/* The fleet must outlive them. */
void odb_causes_find(struct odb_causes *out, const struct odb_fleet *fleet);
void odb_causes_dispose(struct odb_causes *causes);
/* What nodes of such operators compute instead, as `bisect --known` takes it. Appends. */
void odb_causes_put_known(const struct odb_causes *causes, struct odb_buf *out);
/* Whether both are one cause, in the same fleet or in two: some variant explains all members. */
bool odb_cause_same(const struct odb_cause *a, const struct odb_cause *b);
/* Whether the cause is in a model. */
bool odb_cause_is_in(const struct odb_cause *cause, size_t model);
const struct odb_fleet_repro *odb_cause_repro(const struct odb_fleet *fleet,
                                              const struct odb_cause *cause);

#endif
