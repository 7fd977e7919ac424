/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two nights side by side: what came, what went, and what is another failure than it was. Models
 * are the same by name, causes by key.
 */
#ifndef ODB_FLEET_SINCE_H
#define ODB_FLEET_SINCE_H

#include "fleet/causes.h"

/* name, word, whether --gate fails on it */
#define ODB_SINCE_LIST(X)                                                                          \
    X(NEW, "new", true)         /* it fails, and passed or was not there */                        \
    X(CHANGED, "changed", true) /* it fails by another cause */                                    \
    X(LOST, "lost", true)       /* it has no verdict, or was not run, and had one */               \
    X(MENDED, "mended", false)  /* it passes, and failed */                                        \
    X(GONE, "gone", false)      /* it is not there any more */

enum odb_since_kind {
#define ODB_SINCE_ENUM(name, ...) ODB_SINCE_##name,
    ODB_SINCE_LIST(ODB_SINCE_ENUM)
#undef ODB_SINCE_ENUM
        ODB_SINCE_COUNT
};
const char *odb_since_word(enum odb_since_kind kind);
bool odb_since_gates(enum odb_since_kind kind);

struct odb_since_change {
    enum odb_since_kind kind;
    char *name;                     /* owned */
    enum odb_fleet_verdict was, is; /* QUEUED: it was, or is, not there */
    char *cause;                    /* owned: the title of one that came; NULL */
};

struct odb_since {
    ODB_VEC(struct odb_since_change) changes;
};

void odb_since_find(struct odb_since *out, const struct odb_fleet *was, const struct odb_fleet *is,
                    const struct odb_causes *causes);
void odb_since_dispose(struct odb_since *since);
size_t odb_since_count(const struct odb_since *since, enum odb_since_kind kind);

#endif
