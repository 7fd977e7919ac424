/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The target's plain run gets the user's own file, byte for byte. Where it cannot, this is why.
 */
#ifndef ODB_RUN_INSTEAD_H
#define ODB_RUN_INSTEAD_H

#include "base/buf.h"
#include "model/model.h"

#define ODB_INSTEAD_LIST(X)                                                                        \
    X(NO_FILE, "no-file")         /* it was cut out of another model */                            \
    X(LINKS, "links")             /* its weights are found through links alone */                  \
    X(CHECKPOINTS, "checkpoints") /* Debug nodes, which no other tool knows */                     \
    X(DRAWN, "drawn")             /* draws are fed, so that both sides have the same */            \
    X(PINNED, "pinned")           /* the user has replaced values */                               \
    X(BEGUN, "begun")             /* what it has a value for is fed */                             \
    X(STATIC, "static")           /* the target is for fixed dimensions */                         \
    X(PIECES, "pieces")           /* it is more than the target may hold at once */                \
    X(PART, "part")               /* something of it is not computed */

enum odb_instead_why {
#define ODB_INSTEAD_ENUM(name, word) ODB_INSTEAD_##name,
    ODB_INSTEAD_LIST(ODB_INSTEAD_ENUM)
#undef ODB_INSTEAD_ENUM
        ODB_INSTEAD_COUNT
};
const char *odb_instead_word(enum odb_instead_why why);

struct odb_instead {
    bool why[ODB_INSTEAD_COUNT]; /* none: it is the file */
    int drawn;                   /* the first node whose draw is fed; meaningful where DRAWN */
    size_t n_drawn;              /* values */
    size_t pieces;
};

bool odb_instead_any(const struct odb_instead *instead);
/* What the target got and why, without a full stop; nothing where it got the file. */
void odb_instead_put(const struct odb_instead *instead, const struct odb_graph *graph,
                     struct odb_buf *out);

#endif
