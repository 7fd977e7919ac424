/* SPDX-License-Identifier: MIT
 *
 * What target.c and remote.c share.
 */
#ifndef ODB_EXECUTOR_TRANSPORT_TARGET_INT_H
#define ODB_EXECUTOR_TRANSPORT_TARGET_INT_H

#include "executor/capabilities.h"
#include "executor/transport/child.h"
#include "executor/transport/protocol.h"
#include "executor/transport/link.h"
#include "executor/transport/target.h"

struct odb_remote;

struct odb_target {
    struct odb_spec *spec; /* owned */
    double timeout;
    size_t mem;             /* bytes that the child may have; 0: as it likes */
    char mem_text[32];      /* the same as the spec says it */
    double compile_timeout; /* of a load */
    bool loading;           /* it is at one */
    bool dismissed;         /* odb_target_dismiss() */
    double start;           /* that a link may be silent before its first word; 0: unsaid */
    struct odb_capabilities can;
    bool (*cancelled)(void *payload);
    void *payload;     /* borrowed: for cancelled */
    char *description; /* owned */
    struct odb_target_stats stats;

    struct odb_child child;
    bool loaded;
    bool beside;              /* the child can hold two models */
    char *path;               /* owned: of what is loaded, the user's file; NULL: it is none */
    char *held;               /* owned: of the file that it was loaded beside; NULL: none */
    bool first;               /* runs are of that */
    bool killed;              /* the last child, from outside */
    double limit;             /* seconds for what it is at */
    double deadline, tick;    /* by odb_clock() */
    const char *doing;        /* for messages */
    uint64_t asked;           /* requests so far: the number of the last */
    struct target_sent *sent; /* owned: inputs that the child still has */
    size_t n_sent;
    struct odb_times times;  /* owned: of the last run */
    struct odb_spill *aside; /* borrowed: odb_target_set_aside() */

    /* behind a transport, where child is ssh itself, or the command of via: */
    struct odb_link link;      /* owned; transport NULL: the child is on this machine */
    struct odb_remote *remote; /* owned */
    bool answered;             /* the other end has spoken */
    bool lost;                 /* the link is, by no fault of the executor's */
    double beat;               /* seconds between signs of life; 0: none are wanted */
    bool beats;                /* the other end gives them */
    bool moves;                /* bytes of what is under way have come or gone */
    double heard;              /* when anything last came or went, by odb_clock() */
    bool silent;               /* the link before ended because nothing did */
    char away[600];            /* why the last call could not make it again; "": it could */
};

/* One exchange. On success reply is the caller's to free, and frame to dispose of. */
enum odb_status odb_target__ask(struct odb_target *target, Odb__Wire__Request *request,
                                const struct odb_parcel *parcel, const char *doing,
                                Odb__Wire__Reply__SayCase want, Odb__Wire__Reply **reply,
                                struct odb_frame *frame, struct odb_error *err) ODB_MUST_USE;

/* --- remote.c: files for a child that cannot read ours -----------------------------------------
 */

struct odb_remote *odb_remote_new(void);
void odb_remote_free(struct odb_remote *remote); /* NULL is fine */
/* Behind a new link nothing is known to be there. */
void odb_remote_forget(struct odb_remote *remote);
/* Sends what is not there yet of the files that the model's weights are in, and lists them in
 * message, until odb_remote_unlist(). */
enum odb_status odb_remote_send(struct odb_target *target, const struct odb_load *load,
                                Odb__Wire__Load *message, struct odb_error *err) ODB_MUST_USE;
void odb_remote_unlist(Odb__Wire__Load *message);
/* Keeps a copy of what was loaded, for odb_remote_last(). */
void odb_remote_keep(struct odb_remote *remote, const struct odb_load *load);
const struct odb_load *odb_remote_last(const struct odb_remote *remote);

#endif
