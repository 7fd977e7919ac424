/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is in a session, for the commands that work on it. The screen looks at it through the
 * functions of session.h.
 */
#ifndef ODB_SESSION_SESSION_STATE_H
#define ODB_SESSION_SESSION_STATE_H

#include "session/session.h"

/* What a target was found to be able to do, whatever it was fed. One that was built anew is another
 * target. */
struct odb_learnt {
    char *target;       /* owned: a digest of its spec and its files */
    size_t max_outputs; /* of one model; 0: not known */
    enum odb_cuts cuts; /* the parts of the model that it takes; ANY: not known */
};

/* What a search found, put aside. */
struct odb_shelved {
    struct odb_store_search about;   /* owned */
    struct odb_report *report;       /* owned; NULL: the file has it, and the rest is not there */
    bool stored;                     /* this and the rest: as in struct odb_session */
    struct odb_value_report *values; /* owned */
    struct odb_tensor **given;       /* owned refs */
    double *took;                    /* owned; NULL: none is known */
    int *culprits;                   /* owned */
    struct odb_groups groups;
    struct odb_account account;
    ODB_VEC(struct odb_probe_log) log;
};

struct odb_session {
    const struct odb_model *model; /* owned */
    struct odb_cpu *cpu;           /* owned: which nodes the reference can run */
    struct odb_store *store;       /* owned; NULL: nothing is kept on disk */
    int claim;                     /* owned: the lock of the file's folder; -1: none */
    bool by_itself;                /* the file was not asked for: what it does not take is told */
    bool begun;                    /* the search begun last has a row in the file */
    bool told;                     /* [lock] what it did not take was told */
    char *unsaved;                 /* owned [lock]: that, until it is; NULL: nothing */
    char *missing_kernels;         /* owned: the options that would load the kernels which the file
                                      was made with; NULL: they are loaded */

    pthread_mutex_t lock;
    struct odb_feeds *feeds;           /* owned [lock]; NULL: not made yet */
    struct odb_trace *trace;           /* owned [lock]; NULL: the reference has not run */
    char *trace_key;                   /* owned: the options that trace was made with */
    struct odb_value_report *values;   /* owned [lock]; [n_values] */
    struct odb_tensor **given;         /* owned refs [lock]; [n_values]: the target's */
    double *took;                      /* owned [lock]; [n_nodes] seconds that the target took for
                                          each, the least of its runs; 0: it has not told */
    struct odb_report *report;         /* owned [lock]; of the newest search; NULL: none */
    struct odb_step_rows *steps;       /* owned [lock]; of the newest search of a sequence, whatever
                                      was searched since; NULL: none */
    bool stored;                       /* the report is what the file says */
    struct odb_store_search shown;     /* owned [lock]: what the report came to, if there is one */
    char *of;                          /* owned [lock]: the target that all of these are of, as a
                                          report says it; NULL: nothing was asked */
    ODB_VEC(struct odb_shelved) shelf; /* [lock] of other targets, the oldest first */
    struct odb_groups groups;          /* [lock] what it said of its kernels, read */
    struct odb_account account;        /* [lock] what the target said of the model as it loaded it;
                                          empty: nothing */
    int *culprits; /* owned [lock]; [n_nodes] 1 + which culprit of the report a node is; 0: none */
    ODB_VEC(struct odb_probe_log) log;      /* [lock] of the search or walk begun last, in order */
    double log_began;                       /* [lock] when the first command of those in log did */
    struct odb_search_progress progress;    /* [lock] */
    ODB_VEC(struct odb_bookmark) bookmarks; /* [lock]; changed by the screen's thread alone */
    struct odb_annotation_list
        annotations;                   /* [lock] breakpoints, marks, …: what the user put down */
    bool *breaks;                      /* owned [lock]; [n_nodes] breakpoints that are enabled */
    unsigned char *tags;               /* owned [lock]; [n_nodes] ODB_TAG_ bits */
    struct odb_memory *memory;         /* owned: answers to a search that was stopped, where no
                                          file has them; NULL: none */
    char *memory_settings;             /* owned: what they were asked with */
    struct odb_answers answers;        /* of the search begun last; this and the next two are the
                                          engine's thread's alone */
    struct odb_resumed resumed;        /* what it has from an earlier run of the program */
    ODB_VEC(struct odb_learnt) learnt; /* of each target that was searched */
    char learning[65];                 /* which of them that is now; "": none */
    struct odb_walk *walk;             /* owned; NULL: not walking */
    struct odb_inside *inside;         /* owned: the innermost body that the walk is in, or NULL */
    ODB_VEC(struct odb_encodings *)
    encodings;                               /* owned: all that were read; traces need them */
    ODB_VEC(struct odb_own_rows *) own_rows; /* owned: all that were read */
    int resume;               /* [lock] before this node the walk goes on with another
                                 trace, and the one there is has nothing to say of it and
                                 what follows; ODB_NO_NODE: there is no other */
    char *walk_target;        /* owned: the spec that the walk was opened with */
    int at;                   /* [lock] nodes before it have run; ODB_NO_NODE: no walk */
    unsigned long generation; /* [lock] grows with every change of values or report; 1: no value
                                 has a verdict yet */

    void (*wake)(void *payload); /* called after a change, without the lock, from any thread */
    void *wake_payload;
};

/* --- session.c: the caller holds the lock, but to close the walk ------------------------------ */

void odb_session__drop_verdicts(struct odb_session *session);
void odb_session__close_walk(struct odb_session *session);
void odb_session__index_culprits(struct odb_session *session);
/* Inputs, and what was computed from them, are made anew when they are needed. */
void odb_session__unfeed(struct odb_session *session);

/* What came of writing into the file, or reading it; err is not NULL. Where the file was not asked
 * for, a failure is told once, and stops nothing: ODB_OK. */
enum odb_status odb_session__wrote(struct odb_session *session, enum odb_status status,
                                   struct odb_error *err) ODB_MUST_USE;
/* Tells that the session cannot save itself, once. */
void odb_session__tell_unsaved(struct odb_session *session, const struct odb_error *why);
/* Takes what is put down into the file that the session has now. */
enum odb_status odb_session__store_all(struct odb_session *session,
                                       struct odb_error *err) ODB_MUST_USE;

/* --- shelf.c: the caller holds the lock ------------------------------------------------------- */

/* Puts what is shown aside, in the place of an earlier search of the same. The values, verdicts and
 * the log are empty then; what else there is stays. */
void odb_session__shelve(struct odb_session *session);
/* What was put aside of the same is forgotten. NULL: all. */
void odb_session__unshelve(struct odb_session *session, const struct odb_store_search *of);
/* Fills session->shown with what the report says; when: it ended. */
void odb_session__describe(struct odb_session *session, int64_t when);
/* Sets session->of; the text is copied. */
void odb_session__is_of(struct odb_session *session, const char *target);
/* What the session's file knows of other targets, and when what is shown was found. */
enum odb_status odb_session__read_shelf(struct odb_session *session,
                                        struct odb_error *err) ODB_MUST_USE;

/* --- learnt.c --------------------------------------------------------------------------------- */

/* A search begins: what it may take as known is put into its options, unless it is to ask again. */
enum odb_status odb_session__recall_learnt(struct odb_session *session,
                                           struct odb_bisect_options *options, bool again,
                                           struct odb_error *err) ODB_MUST_USE;
/* It has ended, and came to this. */
enum odb_status odb_session__learn(struct odb_session *session, const struct odb_report *report,
                                   struct odb_error *err) ODB_MUST_USE;
void odb_session__forget_learnt(struct odb_session *session);

#endif
