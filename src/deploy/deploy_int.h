/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of this room share.
 */
#ifndef ODB_DEPLOY_DEPLOY_INT_H
#define ODB_DEPLOY_DEPLOY_INT_H

#include "deploy/deploy.h"

#define DEPLOY_SECONDS 120.0 /* for a script: a batch system may let it wait */

/* What a script finds as $p, $size and $sum. */
struct odb_deploy_vars {
    const char *path;
    size_t size;
    const char *sum; /* NULL: "" */
};

/* Has sh at the other end run a script, which ends with `say end yes`; its facts are added to out.
 */
enum odb_status odb_deploy__shell(struct odb_deploy_facts *out, const struct odb_link *link,
                                  const struct odb_deploy_vars *vars, const char *script,
                                  struct odb_error *err) ODB_MUST_USE;
/* Fills err with how a program of the link ended: what, unless the link itself failed; and its last
 * words. */
enum odb_status odb_deploy__fail(const struct odb_link *link, const struct odb_program *program,
                                 const char *what, struct odb_error *err);

#endif
