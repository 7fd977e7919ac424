/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * onnxdbg-serve for another machine: what it is, which build runs there, and bringing that over. At
 * the other end of the link there need be no more than sh, cat and the commands that make, move and
 * remove files.
 */
#ifndef ODB_DEPLOY_DEPLOY_H
#define ODB_DEPLOY_DEPLOY_H

#include "base/mem.h"
#include "executor/transport/link.h"

/* What the other end says of itself. */
struct odb_deploy_fact {
    char *key, *value; /* owned */
};
struct odb_deploy_facts {
    ODB_VEC(struct odb_deploy_fact) list;
};

/* "" where nothing was said. Keys: system, machine, libc, loader, page (bytes), path (where the
 * child is to be), folder (that is there, above it), free (KiB), writable, there (something is at
 * path), version and sum (of that), found (the child in PATH); of what was brought: failed, status,
 * said, executors. Borrowed: facts. */
const char *odb_deploy_fact(const struct odb_deploy_facts *facts, const char *key);
/* The last version of glibc 2 in a text: 31 of "ldd (Debian GLIBC 2.31-13) 2.31"; 0: there is none.
 */
int odb_deploy_libc(const char *text);
void odb_deploy_facts_dispose(struct odb_deploy_facts *facts); /* idempotent */

/* Asks it. path: from its root, or from its user's home. ODB_E_USAGE: path has signs that a shell
 * or a spec could take for their own; ODB_E_EXECUTOR: no shell answers there. */
enum odb_status odb_deploy_ask(struct odb_deploy_facts *out, const struct odb_link *link,
                               const char *path, struct odb_error *err) ODB_MUST_USE;

/* A build of the child. */
struct odb_deploy_build {
    char *path; /* owned */
    void *data; /* owned: all of the file */
    size_t size;
    int libc;            /* it needs glibc 2.N; 0: any */
    const char *triplet; /* of its processor, as compilers are named; static */
    char sum[65];
};

/* The build on this machine that runs there: one that needs the C library alone, beside this
 * program or where `make serve CROSS=` puts it, else this machine's own. ODB_E_EXECUTOR: none does,
 * with the way to one. */
enum odb_status odb_deploy_find(struct odb_deploy_build *out, const struct odb_link *link,
                                const struct odb_deploy_facts *facts,
                                struct odb_error *err) ODB_MUST_USE;
void odb_deploy_build_dispose(struct odb_deploy_build *build); /* idempotent */

/* Refuses, as ODB_E_IO, a place that is taken, has no room or cannot be written to. *same: it has
 * this very build. */
enum odb_status odb_deploy_check(const struct odb_link *link, const struct odb_deploy_facts *facts,
                                 const struct odb_deploy_build *build, bool *same,
                                 struct odb_error *err) ODB_MUST_USE;
/* Writes it there beside its path, starts it once, and renames it; where it cannot be started
 * nothing stays. out: what it says of itself. */
enum odb_status odb_deploy_put(struct odb_deploy_facts *out, const struct odb_link *link,
                               const struct odb_deploy_facts *facts,
                               const struct odb_deploy_build *build,
                               struct odb_error *err) ODB_MUST_USE;

#endif
