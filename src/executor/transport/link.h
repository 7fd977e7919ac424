/* SPDX-License-Identifier: MIT
 *
 * KIND:WHERE,SPEC: a child that is reached through another program, which passes standard input and
 * output on, and what it means when that program ends. A row of struct odb_transport says what is
 * ssh's or via's own. Used by target.c, which does the rest.
 */
#ifndef ODB_EXECUTOR_TRANSPORT_LINK_H
#define ODB_EXECUTOR_TRANSPORT_LINK_H

#include <stdbool.h>

#include "executor/transport/program.h"
#include "executor/spec.h"

struct odb_link {
    const struct odb_transport *transport; /* NULL: the child is on this machine */
    char *where; /* owned: a host as ssh takes it, no brackets; the command of via */
    char *port;  /* owned: of ssh; NULL: ssh's own idea */
};

struct odb_transport {
    const char *syntax;  /* the way to write it */
    const char *what;    /* stands behind ':': "host" */
    const char *place;   /* the same in the syntax: "HOST" */
    const char *between; /* what parts several of them: "+" */
    const char *also;    /* one of several that begins so is a spec's own beginning; NULL: none */
    const char *by;      /* what leads there: "on" a host, "via" a command */
    const char *lost;    /* "the link to" */
    const char *missing; /* what helps where the program cannot be started */
    /* Fills where and port from the text behind ':', which is not empty. */
    enum odb_status (*parse)(struct odb_link *out, const struct odb_spec *spec,
                             struct odb_error *err);
    /* The command line, for this start. */
    void (*argv)(const struct odb_link *link, struct odb_argv *argv);
    /* The same for sh at the other end, which reads line; NULL: its standard input. */
    void (*shell)(const struct odb_link *link, const char *line, struct odb_argv *argv);
    /* Fills err: the program has ended before the other end has answered. status: its own, or -1:
     * it has not, or by the signal; words: what it said. */
    void (*no_answer)(const struct odb_link *link, int status, int signal, const char *words,
                      struct odb_error *err);
    /* The way out where the program prints something of its own. */
    void (*noisy)(const struct odb_link *link, struct odb_error *err);
};

/* From a spec whose row has a transport; ODB_E_USAGE with the way to write it. */
enum odb_status odb_link_parse(struct odb_link *out, const struct odb_spec *spec,
                               struct odb_error *err) ODB_MUST_USE;
void odb_link_dispose(struct odb_link *link); /* idempotent */
/* ODB_E_USAGE at the spec, with the way to write it. */
enum odb_status odb_link_wrong(const struct odb_spec *spec, const char *what,
                               struct odb_error *err);
/* Fills err with what it means that the program has ended with this status (as of waitpid(); -1: it
 * has not, but closed the connection), having said words. doing: "running"; before the other end
 * has answered it is NULL. True: the link was lost, and another try may help. */
bool odb_link_explain(const struct odb_link *link, int how, const char *words, const char *doing,
                      struct odb_error *err);

/* How many places a spec names: "ssh:alpha+beta:22,ort" two, one without a transport one. */
size_t odb_link_count(const struct odb_spec *spec);
/* The spec of the i-th of them, "ssh:beta:22,ort"; the spec itself without a transport. Owned by
 * the caller. */
char *odb_link_spec(const struct odb_spec *spec, size_t i);

/* The init of both rows: a transport in the middle of a spec is refused. */
enum odb_status odb_link_not_here(void **self, const struct odb_spec *spec, struct odb_error *err);

#endif
