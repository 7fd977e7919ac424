/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session on disk (SQLite): the model's hash, the searches, the verdict of every value, the
 * culprits, and a journal in which every probe stands before it is tried. Reopened on the same
 * model it shows what was found; on a changed model it says so.
 */
#ifndef ODB_SESSION_STORE_H
#define ODB_SESSION_STORE_H

#include "probe/answers.h"
#include "bisect/plan/bisect.h"
#include "session/annotations.h"

struct odb_store;

#define ODB_STORE_SCHEMA 2 /* of the files that are written */

enum odb_status odb_store_open(struct odb_store **out, const char *path,
                               const struct odb_model *model, struct odb_error *err) ODB_MUST_USE;
void odb_store_close(struct odb_store *store);
const char *odb_store_path(const struct odb_store *store); /* borrowed */
/* The file was not asked for: it stays small, and the disk is not waited for after each probe, so
 * that what a machine that goes down loses is the last of them. A program that is killed loses
 * nothing. */
enum odb_status odb_store_bound(struct odb_store *store, struct odb_error *err) ODB_MUST_USE;

/* Begins a search: the row that its journal and its report hang on. */
enum odb_status odb_store_begin(struct odb_store *store, const char *command,
                                const struct odb_bisect_options *options,
                                struct odb_error *err) ODB_MUST_USE;
/* Event sink for odb_search_hooks: writes the journal. After a failure nothing more of this search
 * is written until odb_store_put(), which tries again: a disk that was full may have room. */
void odb_store_event(struct odb_store *store, const struct odb_search_event *event);
/* Stores the report under the search begun last. */
enum odb_status odb_store_put(struct odb_store *store, const struct odb_report *report,
                              struct odb_error *err) ODB_MUST_USE;

/* The newest stored report as the JSON of interfaces.md; *out is NULL when there is none, else the
 * caller's. */
enum odb_status odb_store_last_report(struct odb_store *store, char **out,
                                      struct odb_error *err) ODB_MUST_USE;
/* A search that has a report, as it was reported then, by its row (0: the newest); *out is NULL
 * when there is none, else the caller's. */
enum odb_status odb_store_read(struct odb_store *store, int64_t search, struct odb_report **out,
                               struct odb_error *err) ODB_MUST_USE;
/* A search that has a report, as a list tells it. */
struct odb_store_search {
    int64_t search;                                /* its row */
    char *target, *reference, *tolerance, *expect; /* owned; NULL: not known, expect: none */
    char *others; /* owned: what else it depended on, inputs among it; "": not known */
    enum odb_outcome outcome;
    bool ended;
    int64_t when; /* it ended, or began: seconds since 1970 */
    size_t culprits;
    int first;        /* node of the first culprit; ODB_NO_NODE: none */
    const char *kind; /* static: its diagnosis; NULL: none */
};
struct odb_store_searches {
    ODB_VEC(struct odb_store_search) list;
};
/* The newest searches, newest first; out is the caller's to dispose of, on failure too. */
enum odb_status odb_store_searches(struct odb_store *store, struct odb_store_searches *out,
                                   struct odb_error *err) ODB_MUST_USE;
void odb_store_searches_dispose(struct odb_store_searches *searches); /* idempotent */
/* The options that load the kernels which the newest search was made with and which are not loaded
 * now: "--kernels /a.so --kernels /b.so"; NULL: none. *out is the caller's. */
enum odb_status odb_store_kernels(struct odb_store *store, char **out,
                                  struct odb_error *err) ODB_MUST_USE;

/* --- store_settings.c: what models are fed with ---------------------------------------------- */

/* Options by name, each with a value, in order. */
struct odb_store_settings {
    ODB_VEC(struct odb_store_setting {
        char *name;  /* owned */
        char *value; /* owned */
    })
    list;
};
/* Replaces what there is: of the search begun last, or of what is done without one. */
enum odb_status odb_store_put_settings(struct odb_store *store, bool search,
                                       const struct odb_store_settings *settings,
                                       struct odb_error *err) ODB_MUST_USE;
/* Those of the search that the file shows, else those without one. *out is the caller's to dispose
 * of; empty where the file has none. */
enum odb_status odb_store_read_settings(struct odb_store *store, struct odb_store_settings *out,
                                        struct odb_error *err) ODB_MUST_USE;
void odb_store_settings_dispose(struct odb_store_settings *settings);

/* --- store_annotations.c: what the user has put down
 * ------------------------------------------------ */

enum odb_status odb_store_put_annotations(struct odb_store *store,
                                          const struct odb_annotation_list *list,
                                          struct odb_error *err) ODB_MUST_USE;
/* *out is the caller's to dispose of; empty where the file has none. */
enum odb_status odb_store_read_annotations(struct odb_store *store, struct odb_annotation_list *out,
                                           struct odb_error *err) ODB_MUST_USE;

/* --- store_answers.c: a search that did not end ------------------------------------------------
 */

#define ODB_RESUMED_RUNNING "was running when the last run ended"

/* How much of an earlier search this one has. */
struct odb_resumed {
    bool resumed; /* it goes on with it */
    size_t n;     /* answers that it has from there */
    ODB_VEC(char *)
    running;     /* owned: probes that had no answer when that ended, and are not tried
                    again */
    char *other; /* owned: what is different now, so that nothing of it is of use; NULL: nothing */
};
void odb_resumed_dispose(struct odb_resumed *resumed);

/* What is different in two lists of settings, in words: "target (cpu:f16, now ort), inputs"; NULL:
 * nothing. Owned by the caller. */
char *odb_settings_differ(const char *then, const char *now);

/* Takes the newest search up again, in place of odb_store_begin(), if it did not end and these are
 * its settings: lines "name value". retry: what was running then is asked again. out is the
 * caller's to dispose of. ODB_E_INPUT: another process is at it. */
enum odb_status odb_store_resume(struct odb_store *store, const char *settings, bool retry,
                                 struct odb_resumed *out, struct odb_error *err) ODB_MUST_USE;
/* After odb_store_begin(): what a later search must have in common with this one to go on with it.
 */
enum odb_status odb_store_settle(struct odb_store *store, const char *settings,
                                 struct odb_error *err) ODB_MUST_USE;
/* The one, or the other: begins a search, or goes on with the newest. Of two programs that do so
 * at once one gets ODB_E_INPUT. Waits up to 2 s for one that was killed to be gone. */
enum odb_status odb_store_start(struct odb_store *store, const char *command,
                                const struct odb_bisect_options *options, const char *settings,
                                bool retry, struct odb_resumed *out,
                                struct odb_error *err) ODB_MUST_USE;
/* After odb_store_put(): the search has not ended, or it has, and its answers can go. */
enum odb_status odb_store_pause(struct odb_store *store, struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_store_finish(struct odb_store *store, struct odb_error *err) ODB_MUST_USE;
/* The answers of the search begun last, of which n were there. Borrows store. Failures are as
 * those of odb_store_event(). */
void odb_store_answers(struct odb_store *store, struct odb_answers *out, size_t n);

#endif
