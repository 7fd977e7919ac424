/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All that a search makes: the target's values, the judge's word on them, culprits, and the report
 * that tells of it. The report is read by all and written through the functions below, which stand
 * for its parts; nothing else writes it.
 *
 * A search with pins is a search of another model, and has findings of its own: its values are kept
 * apart from the report's, and culprits, notes, warnings and steps go to the same report.
 */
#ifndef ODB_BISECT_FINDINGS_H
#define ODB_BISECT_FINDINGS_H

#include "report/report.h"
#include "bisect/search_case.h"
#include "judge/signature.h"

/* What single files of the search remember from one call to the next, opaque to all others; of a
 * search and of those with pins within it. */
struct findings_kept {
    struct repeat_state *repeats;    /* repeat.c, freed by repeat_dispose() */
    struct decided_state *decided;   /* decided.c, freed by decided_dispose() */
    struct reference_told *told;     /* reference_off.c, freed by reference_dispose() */
    struct probed_ask *probed_ahead; /* probed.c, freed by probed_forget() */
    struct odb_error unread;         /* probed.c: why values could not be read */
    struct odb_error refusal;        /* hunt.c: of the prefix that was refused last, as sought */
    struct odb_error refused_why;    /* refused.c: of the one that ends in the first node lacked */
    struct broken_state *broken;     /* broken.c, freed by broken_dispose() */
    struct third_state *third;       /* third.c, freed by third_forget() */
    double load, run;                /* plain.c: seconds of the plain run */
    bool repeats_wait;               /* repeat.c: until every value was read */
    bool wrong_apart;                /* apart.c: a kernel is, accused or not */
};

struct findings {
    const struct odb_report *report; /* the caller's */
    const struct odb_value_report
        *values;                     /* [n_values] the judge's word on each: findings_value() */
    struct odb_tensor *const *shown; /* [n_values] what values judge, NULL: not had:
                                        findings_keep() */
    struct findings_book *book;      /* findings.c */
    struct findings_kept *kept;
    /* Written by the steps that ask the target, and by those that take over what it gave. */
    struct odb_tensor **plain;         /* owned refs; [n_outputs] of the plain run */
    struct odb_value_report *verdicts; /* owned; [n_outputs] of the plain run */
    struct odb_tensor **given;         /* owned refs; [n_values] the target's values as known: feeds
                                          and draws from the start, all after a probed run */
    bool *whole; /* probed.c; owned; [n_values] given by a run of the whole model which shows what
                    the plain run shows */
    struct odb_signature sought; /* findings_sign(): how the plain run fails; pass: it does not */
    bool diverge;                /* findings_diverge(): some output is wrong */
    int *exchanged; /* held.c; owned; [n_values] outputs: which output's values they hold, else
                       ODB_NO_VALUE */
    bool probed;    /* probed.c: every value was read, in runs that reproduce the plain one */
    bool hidden;    /* probed.c: a run with values read was made and did not reproduce it */
    bool judged; /* probed.c: some values were read in a run that is evidence, and nodes judged by
                    them */
    uint64_t memory; /* plan.c: bytes that values read in one run may take */
    ODB_VEC(int)
    others; /* failure.c, suffix_hunt.c: values that are wrong in another way than the
               failure that was sought */
};

/* Of a case that has its trace, or of one that has none yet: then findings_know() is to follow. */
void findings_begin(struct findings *f, const struct search_case *c, struct odb_report *report);
/* The case has its trace: what is known before the target is asked. */
void findings_know(struct findings *f);
/* The case is another one from now on, with other outputs: nothing is known of them. */
void findings_turn_to(struct findings *f, const struct search_case *c);
/* Of a case with pins: the same report, and values of their own. */
void findings_pinned(struct findings *f, const struct search_case *c, const struct findings *of);
void findings_dispose(struct findings *f);

/* --- steps: every use of the target or the reference happens within one ------------------------
 */

void findings_step_begin(struct findings *f, const char *phase);
void findings_step_end(struct findings *f, const char *step, const char *why, ...) ODB_PRINTF(3, 4);
/* A step that costs nothing. */
void findings_step_turn(struct findings *f, const char *step, const char *why, ...)
    ODB_PRINTF(3, 4);
/* A step within another one: what the outer one has spent until then, and goes on from. */
struct findings_pause {
    struct odb_target_stats stats;
    struct odb_spent spent, within;
};
struct findings_pause findings_step_pause(const struct findings *f);
void findings_step_resume(struct findings *f, struct findings_pause spent);
/* Where the costs stand. */
struct findings_mark {
    struct odb_spent at, within;
    double target;
};
struct findings_mark findings_mark(const struct findings *f);
/* What a step did since then is a part (static) of its own among the costs. */
void findings_spent_apart(struct findings *f, const char *part, struct findings_mark since);
/* Announces what goes on within a step. */
void findings_phase(const struct findings *f, const char *phase, size_t total);
/* So many loads and seconds more are to come, for this; in the report and told. */
void findings_expect(struct findings *f, const char *what, size_t loads, double seconds);
/* These are left of a search's suspects ([n_nodes] marks): all that is known if it ends now. */
void findings_left(struct findings *f, const bool *suspects);
/* Searches in bodies have cost so much. */
void findings_spent_inside(struct findings *f, const struct odb_report *inside);

/* --- values ------------------------------------------------------------------------------------
 */

/* Takes the judge's word on a value, and reports it to the hooks. */
void findings_value(struct findings *f, int value, const struct odb_value_report *report);
/* Reports to the hooks what is said of a value. */
void findings_tell(const struct findings *f, int value);
/* All words of the judge, for a caller that judges many at once; [n_values]. */
struct odb_value_report *findings_judge(struct findings *f);
/* What the target made of a value that is judged; NULL: it is not had. */
void findings_keep(struct findings *f, int value, const struct odb_tensor *t);
/* The target's value, as far as it is known; NULL: it is not. */
void findings_give(struct findings *f, int value, const struct odb_tensor *t);
/* Whether some output is wrong. */
void findings_diverge(struct findings *f, bool diverge);
/* Sets the failure that the search is about. */
void findings_sign(struct findings *f, const struct odb_signature *sought);

/* --- culprits ----------------------------------------------------------------------------------
 */

/* A fresh culprit in the report; value may be ODB_NO_VALUE. Borrowed until the next is added. */
struct odb_culprit *findings_accuse(struct findings *f, int node, int value,
                                    enum odb_diagnosis kind);
/* One of the report's; borrowed, likewise. */
struct odb_culprit *findings_culprit(struct findings *f, size_t index);
/* An output is off after all: who is accused before it reaches an output. */
void findings_reach(struct findings *f);
/* Takes it out of the report: what it owns is the caller's. */
struct odb_culprit findings_take(struct findings *f, size_t index);
/* Takes it out, and what it owns goes. */
void findings_drop(struct findings *f, size_t index);
/* What a node is accused of that makes this value, by its verdict and by what it holds. */
enum odb_diagnosis findings_kind(const struct findings *f, int value);
enum odb_diagnosis findings_kind_of(enum odb_verdict verdict, const struct odb_tensor *given,
                                    const struct odb_tensor *reference);
/* Whether a node that is accused already stands before the value. */
bool findings_explain(const struct findings *f, int value);

/* --- words -------------------------------------------------------------------------------------
 */

void findings_warn(struct findings *f, const char *fmt, ...) ODB_PRINTF(2, 3);
void findings_note(struct findings *f, const char *fmt, ...) ODB_PRINTF(2, 3);
void findings_undecide(struct findings *f, enum odb_undecided why, const struct odb_error *because);

/* --- parts of the report that one file writes ---------------------------------------------------
 */

struct odb_repeats *findings_repeats(struct findings *f);   /* repeat.c */
struct odb_pieces *findings_pieces(struct findings *f);     /* refused.c */
struct odb_observer *findings_observer(struct findings *f); /* probed.c */
struct odb_proof *findings_proof(struct findings *f);       /* prove.c */
struct odb_account *findings_account(struct findings *f);   /* plain.c */
/* hunt.c: the target does not run at all here, or does; hunt.c, broken.c: it dies of the model as a
 * whole and of no part ("crashes", "hangs"; static), or refuses it ("refuses"). */
void findings_dead(struct findings *f, bool dead);
void findings_only_whole(struct findings *f, const char *how);
/* narrower.c: the type that culprits are computed in. */
void findings_narrower(struct findings *f, const char *type);
/* Whether all outputs of the reference are empty or constant. */
void findings_little_shown(struct findings *f, bool all);
/* settings.c: the model as it is with one of the target's settings; owned by the report then. */
void findings_setting_take(struct findings *f, struct odb_setting_tried tried);
/* shares.c: what a node brings to the output's error. */
void findings_contributions_to(struct findings *f, int output);
void findings_contribute(struct findings *f, struct odb_contribution part);
/* pinned.c: a node whose values are pinned; what that came to. */
void findings_pin_node(struct findings *f, int node);
void findings_pinned_pass(struct findings *f, enum odb_checked pass);
/* own_file.c: what the target was given for the plain run; what the user's own file did. */
void findings_instead(struct findings *f, const struct odb_instead *instead);
void findings_own_file(struct findings *f, const char *fmt, ...) ODB_PRINTF(2, 3);
/* bisect.c: what the target printed before it died. */
void findings_last_words(struct findings *f, const char *words);
/* bisect.c: how many values that could be compared the target never gave. */
void findings_unread(struct findings *f, size_t n);
/* bisect.c: whether it gives nothing but outputs, and takes no part of the model. */
void findings_only_outputs(struct findings *f, bool only);
/* bisect.c: what is reported at the end, of the trace and of the target; culprits have their
 * words. */
void findings_conclude(struct findings *f);

#endif
