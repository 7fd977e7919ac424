/* SPDX-License-Identifier: MIT
 *
 * ssh:HOST[:PORT],SPEC: how the child is reached on another machine, and what it means when that
 * fails. Used by target.c, which does the rest.
 */
#ifndef ODB_EXECUTOR_TRANSPORT_SSH_H
#define ODB_EXECUTOR_TRANSPORT_SSH_H

#include <stdbool.h>

#include "executor/transport/program.h"
#include "executor/spec.h"

struct odb_ssh {
    char *host; /* owned: as ssh takes it, "user@host"; no brackets */
    char *port; /* owned; NULL: ssh's own idea */
};

/* From a spec of the kind ssh; ODB_E_USAGE with the way to write it. */
enum odb_status odb_ssh_parse(struct odb_ssh *out, const struct odb_spec *spec,
                              struct odb_error *err) ODB_MUST_USE;
void odb_ssh_dispose(struct odb_ssh *ssh);
/* The command line. */
void odb_ssh_argv(const struct odb_ssh *ssh, struct odb_argv *argv);
/* Fills err with what it means that ssh has ended with this status (as of waitpid(); -1: it has
 * not, but closed the connection), having said words. doing: "running"; before the other end has
 * answered it is NULL. True: the link was lost, and another try may help. */
bool odb_ssh_explain(const struct odb_ssh *ssh, int how, const char *words, const char *doing,
                     struct odb_error *err);

#endif
