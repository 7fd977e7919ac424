/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All that is known about one model while a program works on it: what it is fed, what the
 * reference computes, what the target gave, the verdicts, the log of the search, breakpoints, and
 * how far the target has been walked. Every front end reads this; commands alone change it.
 *
 * A screen reads while a command works in another thread, so there is one lock. A thread that
 * changes what is marked [lock] holds it for that moment; a reader in another thread holds it while
 * it reads. No thread computes under it. What is not marked belongs to the command that runs.
 */
#ifndef ODB_SESSION_SESSION_H
#define ODB_SESSION_SESSION_H

#include <pthread.h>

#include "bisect/plan/bisect.h"
#include "executor/groups.h"
#include "walk/inside.h"
#include "reference/trace.h"
#include "walk/walk.h"
#include "session/annotations.h"
#include "session/memory.h"
#include "session/probe_log.h"
#include "session/store.h"

/* For messages, with missing_kernels: no library is loaded because a file names it. */
#define ODB_SESSION_KERNELS                                                                        \
    "the session was made with kernels that are not loaded now; start with %s"

/* What a node bears, besides breakpoints. */
#define ODB_TAG_MARK 1u
#define ODB_TAG_NOTE 2u
#define ODB_TAG_PIN 4u

/* A node that has a letter. */
struct odb_bookmark {
    char letter;
    int node;
};

struct odb_search_progress {
    char phase[160]; /* what runs now, in words; "" not known */
    size_t done, total;
    double began, phase_began; /* of odb_clock() */
    double expected;           /* seconds that the search is thought to take; 0: not known */
    size_t loaded, loads;      /* by the target, so far and as it is thought in all */
    size_t left;               /* suspects; 0: not known */
    int first_left, last_left; /* the first of them and the last */
};

struct odb_encodings;
struct odb_own_rows;
struct odb_step_rows;
struct odb_session; /* session_state.h has its members, for files that work on it */

/* What the screen and others that only look may see. The model and which of its nodes the reference
 * can run never change: any thread may ask at any time. All else belongs to the thread that holds
 * the lock, and so does what a pointer leads to, until the lock is given back; the thread that
 * makes it (the engine's, for bookmarks the screen's) may read it without. */
const struct odb_model *odb_session_model(const struct odb_session *session);
const struct odb_cpu *odb_session_cpu(const struct odb_session *session);
const struct odb_feeds *odb_session_feeds(const struct odb_session *session); /* NULL: none yet */
const struct odb_trace *
odb_session_held_trace(const struct odb_session *session);                      /* NULL: none yet */
const struct odb_report *odb_session_report(const struct odb_session *session); /* NULL: none yet */
/* Of the newest search of a sequence, whatever was searched since; NULL: there was none. */
const struct odb_step_rows *odb_session_steps(const struct odb_session *session);
const struct odb_value_report *
odb_session_values(const struct odb_session *session); /* [n_values] */
const struct odb_account *odb_session_account(const struct odb_session *session);
const struct odb_search_progress *odb_session_progress(const struct odb_session *session);
const struct odb_annotation_list *odb_session_annotations(const struct odb_session *session);
const bool *odb_session_breaks(const struct odb_session *session);        /* [n_nodes] */
const unsigned char *odb_session_tags(const struct odb_session *session); /* [n_nodes] */
/* How many questions the search or walk begun last has put, and the i-th of them. */
size_t odb_session_n_log(const struct odb_session *session);
const struct odb_probe_log *odb_session_log(const struct odb_session *session, size_t i);
/* Seconds since the target was asked what it has not answered yet; 0: it was asked nothing. */
double odb_session_waits(const struct odb_session *session);
size_t odb_session_n_bookmarks(const struct odb_session *session);
const struct odb_bookmark *odb_session_bookmark_at(const struct odb_session *session, size_t i);
/* Nodes before it have run; ODB_NO_NODE: there is no walk. */
int odb_session_at(const struct odb_session *session);
/* The innermost body that the walk is in, NULL: none. Caller holds the lock, and no command works.
 */
const struct odb_inside *odb_session_inside(const struct odb_session *session);
/* Why the session could not save itself, in a line: once, and owned by the caller; NULL: it could,
 * or that was told. Takes the lock itself. */
char *odb_session_take_unsaved(const struct odb_session *session);
/* The session's file; NULL: it has none. Borrowed. */
const char *odb_session_path(const struct odb_session *session);
/* Grows with every change of values or report. */
unsigned long odb_session_generation(const struct odb_session *session);
/* wake is called after a change, without the lock, from any thread; NULL: nothing is. */
void odb_session_set_wake(struct odb_session *session, void (*wake)(void *payload), void *payload);

/* pins.c. Appends what is pinned to what, in words; nothing where nothing is. Caller holds the
 * lock; the next two take it themselves. */
void odb_session_put_pins(const struct odb_session *session, struct odb_buf *out);
/* A line for each file that something is pinned to, which is another where the file has changed. */
void odb_session__identify_pins(const struct odb_session *session, struct odb_buf *out);
struct odb_session_pins {
    ODB_VEC(struct odb_trace_pin) list; /* tensors are refs of its own */
};
/* What is pinned, for a trace; out is the caller's to dispose of, on failure too. */
enum odb_status odb_session__pins(const struct odb_session *session, const char *reference,
                                  struct odb_session_pins *out, struct odb_error *err) ODB_MUST_USE;
void odb_session__pins_dispose(struct odb_session_pins *pins);
/* The first node of those whose outputs are pinned otherwise in two lists; ODB_NO_NODE: none is. */
int odb_session__pins_differ(const struct odb_session *session, const struct odb_annotation_list *a,
                             const struct odb_annotation_list *b);
/* What was found from this node on is forgotten, and the walk goes on from there. */
void odb_session__repin(struct odb_session *session, int node);

/* Takes the model over, also on failure. path: the session file, NULL: none; values and culprits
 * of the newest search in it are read. */
enum odb_status odb_session_open_take(struct odb_session **out, struct odb_model *model,
                                      const char *path, struct odb_error *err) ODB_MUST_USE;
void odb_session_close(struct odb_session *session); /* NULL is fine */

void odb_session_lock(const struct odb_session *session);
void odb_session_unlock(const struct odb_session *session);
/* Tells the front end that something has changed. */
void odb_session_wake(struct odb_session *session);

/* A command begins to work: its clock runs, and what it does is not known yet. */
void odb_session_start(struct odb_session *session);
/* Sink of a search's or walk's events: keeps log, progress and live verdicts, writes the journal,
 * wakes the front end. */
void odb_session_event(struct odb_session *session, const struct odb_search_event *event);

/* Puts something down: odb_annotation_add(). Takes the lock itself, as the next two do; of
 * these three each puts all of it down and into the file, or nothing. */
enum odb_status odb_session_annotate(struct odb_session *session, const struct odb_annotation *what,
                                     int *number, struct odb_error *err) ODB_MUST_USE;
/* Puts a mark or a note down in place of that which its node has; remove: takes that away alone.
 * *had (may be NULL): whether it had any. Takes the lock itself. */
enum odb_status odb_session_annotate_at(struct odb_session *session,
                                        const struct odb_annotation *what, bool remove, bool *had,
                                        struct odb_error *err) ODB_MUST_USE;
/* Puts down this list instead of the one that there is, with what was counted since; *list is empty
 * then. */
enum odb_status odb_session_annotations_take(struct odb_session *session,
                                             struct odb_annotation_list *list,
                                             struct odb_error *err) ODB_MUST_USE;
/* A caller that changes session->kept itself does it between these two, with the lock held. At the
 * end nodes are tagged anew, and the list goes into the file; status is what came of the change:
 * where that is not ODB_OK, or the file cannot be written, the list is what it was before. */
struct odb_annotation_change {
    struct odb_annotation_list before; /* owned */
    struct sqlite3_mutex *held;        /* borrowed: the store's; NULL: there is none */
};
void odb_session_annotate_begin(struct odb_session *session, struct odb_annotation_change *change);
enum odb_status odb_session_annotate_end(struct odb_session *session,
                                         struct odb_annotation_change *change,
                                         enum odb_status status,
                                         struct odb_error *err) ODB_MUST_USE;
/* Reads it from there; for odb_session_open_take(). */
enum odb_status odb_session_annotations_restore(struct odb_session *session,
                                                struct odb_error *err) ODB_MUST_USE;

/* What was found, of all targets, is of no use any more. */
void odb_session_forget(struct odb_session *session);

/* shelf.c: another target, reference, tolerance or expected type. What was found is put aside, and
 * what an earlier search found of these is shown again, if there was one; a walk ends. feeds: the
 * inputs are made anew as well, which a recording brings. to: its first four members. Errors: the
 * session's file cannot be read. */
enum odb_status odb_session_turn(struct odb_session *session, const struct odb_store_search *to,
                                 bool feeds, struct odb_error *err) ODB_MUST_USE;
/* What is known: of what is shown (i 0, where there is a report), then of what was put aside, the
 * newest first. Caller holds the lock. Borrowed. */
size_t odb_session_n_known(const struct odb_session *session);
const struct odb_store_search *odb_session_known(const struct odb_session *session, size_t i);
/* Shows the i-th again. Takes the lock itself. */
enum odb_status odb_session_show_known(struct odb_session *session, size_t i,
                                       struct odb_error *err) ODB_MUST_USE;
/* The target that verdicts and report are of, as the report says it: with --against that is the
 * other model. NULL: nothing was asked yet. Caller holds the lock. Borrowed. */
const char *odb_session_of(const struct odb_session *session);

/* Other inputs (NULL: to be made when needed): whatever was computed from the old ones goes as
 * well. */
void odb_session_feed_take(struct odb_session *session, struct odb_feeds *feeds);
/* The encodings in a file, kept as long as the session is. Borrowed. */
enum odb_status odb_session_encodings(struct odb_session *session, const char *path,
                                      const struct odb_encodings **out,
                                      struct odb_error *err) ODB_MUST_USE;
/* Rows of variants in a file, kept as long. Borrowed. */
enum odb_status odb_session_own_rows(struct odb_session *session, const char *path,
                                     const struct odb_own_rows **out,
                                     struct odb_error *err) ODB_MUST_USE;
/* The reference's values for these options, kept for the next time. Borrowed. Needs feeds. */
enum odb_status odb_session_trace(struct odb_session *session, struct odb_trace **out,
                                  const struct odb_bisect_options *options,
                                  struct odb_error *err) ODB_MUST_USE;

/* A search begins: the old verdicts and the old log go, the store gets a row, or goes on with the
 * one of an equal search that did not end: session->resumed says so. options->answers is what the
 * target answered then. retry: what was running when the program ended is asked again. inputs: what
 * tells all that is going to be fed from all else, where that is more than the session's feeds;
 * NULL: it is these. */
enum odb_status odb_session_begin(struct odb_session *session, const char *command,
                                  struct odb_bisect_options *options, const char *inputs,
                                  bool retry, struct odb_error *err) ODB_MUST_USE;
/* Other inputs of the search that has begun, which keeps what the target answered. */
void odb_session_refeed_take(struct odb_session *session, struct odb_feeds *feeds);
/* It has ended: its report, verdicts and values are kept, on disk as well. stopped: it was
 * cancelled, and an equal search may go on where it was. */
enum odb_status odb_session_end_take(struct odb_session *session, struct odb_report *report,
                                     bool stopped, struct odb_error *err) ODB_MUST_USE;

/* The walk for these options at its beginning, or where it stands. Borrowed. Needs feeds. */
enum odb_status odb_session_walk(struct odb_session *session, struct odb_walk **out,
                                 const struct odb_bisect_options *options, bool restart,
                                 struct odb_error *err) ODB_MUST_USE;
/* Out of all bodies that the walk is in; the walk stands before the node that they belong to. */
void odb_session_leave(struct odb_session *session);
/* Shows where the walk stands now and what it has seen. */
void odb_session_walked(struct odb_session *session);

/* Another tolerance for what is known of the target, which is not run. */
enum odb_status odb_session_rejudge(struct odb_session *session,
                                    const struct odb_criterion *tolerance,
                                    const struct odb_search_hooks *hooks,
                                    struct odb_error *err) ODB_MUST_USE;

/* Gives a node a letter, and takes it from the node that had it; node ODB_NO_NODE: from that alone.
 * Kept on disk where the session is. */
enum odb_status odb_session_bookmark(struct odb_session *session, char letter, int node,
                                     struct odb_error *err) ODB_MUST_USE;
/* ODB_NO_NODE: no node has the letter. */
int odb_session_bookmarked(const struct odb_session *session, char letter);

/* Keeps what the target says of the model, which is taken. */
void odb_session_account_take(struct odb_session *session, struct odb_account *account);

/* Appends "float[1,64,56,56]" of a value: as it is where it was computed, else as declared; nothing
 * where that is not known. Caller holds the lock. */
void odb_session_put_type(const struct odb_session *session, int value, struct odb_buf *out);
/* The error as bars and filters take it: infinite where NaN, a shape or a crash is what is wrong.
 */
double odb_report_error(const struct odb_value_report *report);
/* Where the target runs a node; NULL: it says nothing of one of this name. Caller holds the lock.
 * Borrowed. */
const char *odb_session_place(const struct odb_session *session, int node);
/* Seconds that a node took; 0: not known. On the reference it is the run that gave its values; on
 * the target the shortest of the runs since this session began to look at it: few targets tell.
 * Caller holds the lock. */
double odb_session_reference_took(const struct odb_session *session, int node);
double odb_session_target_took(const struct odb_session *session, int node);
/* The target's kernel that a node is in; NULL: none is known. Caller holds the lock. Borrowed. */
const struct odb_kernel *odb_session_kernel(const struct odb_session *session, int node);
/* How many values that nodes make have a verdict. Caller holds the lock. */
size_t odb_session_judged(const struct odb_session *session);
/* The verdict that stands for a node: that of its worst output. Caller holds the lock. Borrowed,
 * never NULL; value (may be NULL) gets the output's index or ODB_NO_VALUE. */
const struct odb_value_report *odb_session_node(const struct odb_session *session, int node,
                                                int *value);
/* The culprit that a node is, NULL when it is none. Caller holds the lock. */
const struct odb_culprit *odb_session_culprit(const struct odb_session *session, int node);
/* What the reference, or the target, has for a value: a new reference, NULL when not known. Takes
 * the lock itself. */
struct odb_tensor *odb_session_reference(const struct odb_session *session, int value);
struct odb_tensor *odb_session_target(const struct odb_session *session, int value);
/* Whether the target has given any value since the session was opened: its file keeps none. Caller
 * holds the lock. */
bool odb_session_gave(const struct odb_session *session);

/* Those that the session's file has. */
enum odb_status odb_session__read_bookmarks(struct odb_session *session,
                                            struct odb_error *err) ODB_MUST_USE;

#endif
