/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One search, as bisect.c (the plan), hunt.c (prefixes), alone.c (single nodes and segments) and
 * words.c (the diagnosis in words) share it.
 */
#ifndef ODB_ENGINE_BISECT_INT_H
#define ODB_ENGINE_BISECT_INT_H

#include "engine/bisect_options.h"
#include "engine/blame.h"
#include "engine/feeds.h"
#include "engine/probe.h"
#include "engine/report.h"
#include "engine/search.h"
#include "engine/signature.h"
#include "engine/trace.h"
#include "engine/value_report.h"

/* How far runs come out from golden. */
struct odb_spread {
    double error, mean;
};

struct bisection {
    const struct odb_model *model;            /* borrowed */
    const struct odb_graph *graph;            /* borrowed: model */
    const struct odb_feeds *feeds;            /* borrowed */
    const struct odb_bisect_options *options; /* borrowed */
    struct odb_report *report;                /* the caller's */
    struct odb_trace *trace;                  /* owned, unless the options brought it */
    struct odb_pool *pool;                    /* owned: the target's */
    struct odb_prober prober;
    struct odb_judge judge;
    int *outputs; /* owned: graph outputs that a node computes */
    size_t n_outputs;
    struct odb_spread *decided; /* owned; [n_values] of runs that decide for themselves; NULL: not
                                   made yet */
    struct odb_tensor **plain;  /* owned refs; [n_outputs] */
    struct odb_value_report *verdicts; /* owned; [n_outputs] of the plain run */
    struct odb_signature sought;       /* how the plain run fails; pass: it does not */
    struct odb_tensor **given;         /* owned refs; [n_values] the target's values as known: feeds
                                          and draws from the start, all after a probed run */
    bool *drawn;                       /* owned; [n_values] random draws: fed, never judged */
    bool *reaching;                    /* owned; [n_nodes] before outputs that are off; NULL: not
                                          worked out yet */
    bool probed;     /* every value was read, in runs that reproduce the plain one */
    bool hidden;     /* a run with values read was made and did not reproduce it */
    bool judged;     /* some values were read in a run that is evidence, and nodes judged by them */
    uint64_t memory; /* bytes that values read in one run may take */
    struct probed_ask *probed_ahead; /* owned: the run with every value read, which another worker
                                        is at; NULL: none is */
    ODB_VEC(int) others; /* values that are wrong in another way than the failure that was sought */
    bool *beyond; /* owned; [n_nodes] that the target refuses, and behind them what the reference
                     cannot make up for; NULL: none */
    bool *fed;    /* owned; [n_values] what those make, which is fed: drawn, as well; NULL: none */
    struct odb_error refusal;       /* of the prefix that was refused last; no code: none was */
    struct odb_error refused_why;   /* of the one that ends in the first of these nodes */
    double start;                   /* of the search, the reference included */
    double load, run;               /* seconds of the plain run */
    struct odb_value_report *told;  /* owned; [n_values] local errors of what an executor gave as
                                       the reference; NULL: none did, or nobody has looked yet */
    struct odb_tensor **told_given; /* owned refs; [n_values] what it had */
    struct odb_target_stats inside; /* loads and runs of searches in bodies, and their seconds */
    double inside_seconds;
    int *exchanged; /* owned; [n_values] outputs: which output's values they hold, else
                       ODB_NO_VALUE */
    struct odb_tensor **second; /* owned refs; [n_values], by output: the first repetition */
    double repeat_seconds;      /* spent on repetitions */
    double repeat_run;          /* what the last of them took */
    bool doubted;               /* bisection_doubt() has run */
    bool looked;                /* bisection_by_chance() has made its runs */
    bool unsteady; /* of two equal runs one was wrong, and the other was not */
    double step_start;
    struct odb_target_stats step_stats;
};

/* --- bisect.c: accounting --------------------------------------------------------------------- */

/* Every use of the target or the reference happens within a step of the report. */
void bisection_step_begin(struct bisection *b, const char *phase);
void bisection_step_end(struct bisection *b, const char *step, const char *why, ...)
    ODB_PRINTF(3, 4);
/* A step within another one: what the outer one has spent until then, and goes on from. */
struct bisection_pause {
    size_t loads, runs;
    double seconds;
};
struct bisection_pause bisection_step_pause(const struct bisection *b);
void bisection_step_resume(struct bisection *b, struct bisection_pause spent);
/* Announces what goes on within a step. */
void bisection_phase(struct bisection *b, const char *phase, size_t total);
/* Tells whoever looks on what the report says of a value. */
void bisection_value(struct bisection *b, int value);
/* Into the report: what the target made of a value that is judged. */
void bisection_keep(struct bisection *b, int value, struct odb_tensor *t);
/* A fresh culprit in the report; value may be ODB_NO_VALUE. Borrowed until the next is added. */
struct odb_culprit *bisection_accuse(struct bisection *b, int node, int value,
                                     enum odb_diagnosis kind);
/* What a node is accused of that makes this value, by its verdict and by what it holds. */
enum odb_diagnosis bisection_kind(const struct bisection *b, int value);
enum odb_diagnosis bisection_kind_of(enum odb_verdict verdict, const struct odb_tensor *given,
                                     const struct odb_tensor *reference);
/* The node's first named output, ODB_NO_VALUE when it has none. */
int bisection_output_of(const struct bisection *b, int node);

/* The whole model, unobserved; outputs has room for the report's n_outputs. */
struct odb_probe bisection_plain_probe(struct bisection *b, const char *what,
                                       struct odb_tensor **outputs);
/* Values to read in one run: those that can be compared, and every output; list has room for
 * n_values. */
size_t bisection_probed_list(const struct bisection *b, int *list);
/* odb_probe_ask() of a part of the model, whose values are judged as the report's are, and dropped.
 * verdict: as there. */
enum odb_status bisection_ask(struct bisection *b, struct odb_probe *probe,
                              enum odb_verdict *verdict, struct odb_error *err) ODB_MUST_USE;
/* Whether a node that is accused already stands before the value. */
bool bisection_explains(const struct bisection *b, int value);

/* The model as it is, some times. After bisection_around() has put others there, the outputs are
 * those. */
enum odb_status bisection_plain(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

/* --- own_file.c ------------------------------------------------------------------------------- */

/* Says in the report whether it is the user's own file that the target is given for this probe of
 * the whole model, the first time. */
enum odb_status bisection_instead(struct bisection *b, const struct odb_probe *probe,
                                  struct odb_error *err) ODB_MUST_USE;
/* Before the plain run of a target that has fixed dimensions by its option: runs the file as well,
 * and has that judged from here on where it comes out differently. What fails is told. */
enum odb_status bisection_own_file(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

/* --- refused.c -------------------------------------------------------------------------------- */

/* The plain run was refused: finds the nodes that are, and makes it without them, what they make
 * being the reference's. Its status; ODB_OK without outputs: every node was asked alone. */
enum odb_status bisection_around(struct bisection *b, enum odb_status refusal,
                                 struct odb_error *err) ODB_MUST_USE;
/* The target says no: to this model, and to whoever asks again. */
bool bisection_is_refusal(enum odb_status status);
/* Marks what could not be tested for it, and counts what was. */
void bisection_mark_refused(struct bisection *b);

/* --- only_observed.c -------------------------------------------------------------------------- */

/* Whether a node that is wrong where its output is read is right where it is not. */
enum odb_status bisection_only_observed(struct bisection *b, int node, bool *only,
                                        struct odb_error *err) ODB_MUST_USE;

/* --- unseen.c --------------------------------------------------------------------------------- */

/* Makes notes of the culprits that no output shows and that were not verified, unless the options
 * are strict. */
void bisection_set_aside(struct bisection *b);

/* --- prove.c ---------------------------------------------------------------------------------- */

/* Tests every cut before the culprits, if there are any. signature: as in
 * bisection_ask_prefixes(). */
enum odb_status bisection_prove(struct bisection *b, enum odb_status signature,
                                struct odb_error *err) ODB_MUST_USE;

/* --- plan.c ----------------------------------------------------------------------------------- */

/* Searches as the options say, or as evidence advises, after a plain run that succeeded. */
enum odb_status bisection_plan(struct bisection *b, struct odb_error *err) ODB_MUST_USE;
/* Before the plain run: begins what will be asked in any case, where there are workers for it. */
void bisection_plan_ahead(struct bisection *b);
/* So many loads and seconds more are to come, for this; in the report and told. */
void bisection_expect(struct bisection *b, const char *what, size_t loads, double seconds);
/* What is done about culprits, whoever found them. */
enum odb_status bisection_confirm(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

/* --- probed.c --------------------------------------------------------------------------------- */

/* How many runs reading all values would take under b->memory, and their bytes. */
size_t bisection_batches(struct bisection *b, size_t *bytes);
/* Makes them, and judges every node that they are evidence for. */
enum odb_status bisection_probed(struct bisection *b, struct odb_error *err) ODB_MUST_USE;
/* Has another worker read every value in one run, which bisection_probed() waits for; or nobody
 * will. */
void bisection_probed_begin(struct bisection *b);
void bisection_probed_forget(struct bisection *b); /* where none was begun: nothing */

/* --- reference_off.c -------------------------------------------------------------------------- */

/* Replays the operators on the inputs of the executor that gave the reference, if one did and it
 * was not done before. */
enum odb_status bisection_hear(struct bisection *b, struct odb_error *err) ODB_MUST_USE;
void bisection_hear_dispose(struct bisection *b);
/* Acquits the target where the reference is off from the CPU's operator as well, and agrees. */
enum odb_status bisection_weigh(struct bisection *b, struct odb_error *err) ODB_MUST_USE;
/* Whether a value is wrong because the reference is off there, and the target is not. Known after
 * bisection_hear(). */
bool bisection_reference_off(const struct bisection *b, int value);
/* Makes the reference of the culprit whom it accuses. */
void bisection_blame_reference(struct bisection *b, struct odb_culprit *culprit);

/* --- recorded.c ------------------------------------------------------------------------------- */

/* The search where the target is a recording: what was recorded is judged, and nothing is run. */
enum odb_status bisection_recorded(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

struct alone;

/* --- hunt.c ----------------------------------------------------------------------------------- */

/* Bisects over prefixes for what made this output wrong (b->verdicts says how), names the node or
 * the smallest segment, and verifies it. */
enum odb_status bisection_hunt_value(struct bisection *b, int value,
                                     struct odb_error *err) ODB_MUST_USE;
/* Accuses the last of the suspects that a search left ([n_nodes]), and believes it as
 * alone_believe() does, or tells what region they are. */
enum odb_status bisection_accuse_left(struct bisection *b, int value, const bool *left,
                                      const struct alone *known, bool widen,
                                      struct odb_error *err) ODB_MUST_USE;
/* Asks for the prefixes that end in these nodes, in order; answers[n], untestable where the list
 * was left before. signature: the end that is bad; ODB_OK: wrong values are, as far as they are the
 * failure of this output, or any if it is ODB_NO_VALUE. until_bad: the first bad one ends it.
 * asked: how many were. */
enum odb_status bisection_ask_prefixes(struct bisection *b, enum odb_status signature, int output,
                                       const char *phase, const int *nodes, size_t n,
                                       bool until_bad, enum odb_answer *answers, size_t *asked,
                                       struct odb_error *err) ODB_MUST_USE;
/* The same where the plain run failed with this status: crash or hang. */
enum odb_status bisection_hunt_crash(struct bisection *b, enum odb_status signature,
                                     struct odb_error *err) ODB_MUST_USE;
/* The outputs were refused: the node that ends the smallest prefix refused as well. */
enum odb_status bisection_hunt_refusal(struct bisection *b, enum odb_status refusal, int *node,
                                       struct odb_error *err) ODB_MUST_USE;
/* The first node of all is accused: does the target fail so on nodes of other operators as well,
 * each alone? If on all that are asked, it does not run and no node is to blame: the report is
 * dead then. */
bool bisection_runs_at_all(struct bisection *b, int accused, enum odb_status signature);
/* --strategy each. */
enum odb_status bisection_each(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

/* --- linear.c --------------------------------------------------------------------------------- */

/* Prefixes in order, a step apart, then every node within the step where they become bad. */
enum odb_status bisection_hunt_linear(struct bisection *b, int value,
                                      struct odb_error *err) ODB_MUST_USE;
/* Nodes from cut to cut where n are suspects. */
size_t bisection_step_length(const struct bisection *b, size_t n);

/* --- suffix.c --------------------------------------------------------------------------------- */

/* The mirror of bisection_hunt_value(): what follows a cut runs on the target, fed with the
 * reference's values there, and the output that is wrong is read. */
enum odb_status bisection_hunt_suffix(struct bisection *b, int value,
                                      struct odb_error *err) ODB_MUST_USE;
/* Whether the value is wrong in the same way where no node runs that is known not to repeat itself,
 * nor what stands before it. */
enum odb_status bisection_fails_apart(struct bisection *b, int value, bool *fails,
                                      struct odb_error *err) ODB_MUST_USE;
/* The node that makes a wrong value is right alone: the first before it that must run together with
 * all that leads from there for the value to be wrong in the same way. ODB_NO_NODE: none does, fed
 * with the reference's values and unobserved. */
enum odb_status bisection_lead(struct bisection *b, int value, int *node,
                               struct odb_error *err) ODB_MUST_USE;

/* --- alone.c ---------------------------------------------------------------------------------- */

/* --strategy isolated. */
enum odb_status bisection_isolated(struct bisection *b, struct odb_error *err) ODB_MUST_USE;
/* Runs the culprit alone on the target, on the target's own inputs where they are known; sets
 * verified, or finds the smallest segment that fails. */
enum odb_status bisection_verify(struct bisection *b, struct odb_culprit *culprit,
                                 struct odb_error *err) ODB_MUST_USE;
/* The same for the first culprits that accuse a node. */
enum odb_status bisection_verify_all(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

/* --- third.c ---------------------------------------------------------------------------------- */

/* A node alone on another executor, fed with what the target fed its own: whom the value it gives
 * supports. by: its name and version, the caller's; NULL: nobody asks for that. */
enum odb_opinion bisection_opinion(struct bisection *b, int node, int value, const char *spec,
                                   char **by);
/* Runs the culprit alone on a third executor of other code, where one is there that covers it, and
 * on the target's own library without optimisations, and notes whom they support. */
void bisection_third_opinion(struct bisection *b, struct odb_culprit *culprit);
/* What they say: sentences, each with a space behind it. */
void bisection_put_third(const struct odb_culprit *culprit, struct odb_buf *out);

/* --- overflow.c ------------------------------------------------------------------------------- */

/* Outputs that are NaN or infinite where the reference is finite, as they are where everything is
 * computed in the type that is expected: accuses the values that leave its range, of which that
 * comes. Outputs that nothing on the way explains so are left as they are. */
enum odb_status bisection_overflow(struct bisection *b, struct odb_error *err) ODB_MUST_USE;
/* Words on such a culprit. */
void bisection_put_overflow(const struct bisection *b, const struct odb_culprit *culprit,
                            struct odb_buf *out);

/* --- blunt.c ---------------------------------------------------------------------------------- */

/* Where outputs cannot fail, because computing in the expected type loses as much as they are
 * large: that nothing can be told, if none can fail; else a warning. */
void bisection_check_blunt(struct bisection *b);

/* --- bodies.c --------------------------------------------------------------------------------- */

/* Goes on inside culprits that have bodies. */
enum odb_status bisection_enter(struct bisection *b, struct odb_error *err) ODB_MUST_USE;

/* --- steered.c -------------------------------------------------------------------------------- */

/* Which If and Loop behind a culprit go by other values on the target than on the reference. */
void bisection_put_steered(const struct bisection *b, const struct odb_culprit *culprit,
                           struct odb_buf *out);

/* --- words.c ---------------------------------------------------------------------------------- */

/* Whose values one holds, and in which elements. */
void bisection_put_held(const struct bisection *b, const struct odb_held *held,
                        struct odb_buf *out);
/* The paragraph of a culprit. Owned by the caller. */
char *bisection_words(const struct bisection *b, const struct odb_culprit *culprit);

#endif
