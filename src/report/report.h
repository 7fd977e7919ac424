/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a search found: the object behind the text, the JSON, the session and the screen.
 */
#ifndef ODB_REPORT_REPORT_H
#define ODB_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/mem.h"
#include "compare/inspect/inspect.h"
#include "compare/specials.h"
#include "compare/verdict.h"
#include "run/instead.h"
#include "report/firsts.h"
#include "run/feeds.h"
#include "report/outcome.h"
#include "run/value_report.h"
#include "executor/executor.h"
#include "explain/explanations.h"
#include "model/write/body_model.h"

/* A row: id, name, which paragraph of words.c tells it, whether the node itself is said to make
 * wrong values, and what follows the node in the first line of a report, with the target for %s;
 * NULL: that it diverges there. */
#define ODB_DIAGNOSIS_LIST(X)                                                                      \
    X(INTRODUCED, "introduced", wrong, true, NULL)                                                 \
    X(AMPLIFIED, "amplified", spread, false,                                                       \
      "is where small errors of %s grow, and no node is to blame")                                 \
    X(ACCUMULATED, "accumulated", spread, false,                                                   \
      "is where small errors of %s add up, and no node is to blame")                               \
    X(FUSION, "fusion", read, false, NULL)                                                         \
    X(PROBE_EFFECT, "probe-effect", read, false, NULL)                                             \
    X(NONDETERMINISTIC, "nondeterministic", races, false,                                          \
      "is where equal runs of %s begin to differ")                                                 \
    X(NAN, "nan", wrong, true, NULL)                                                               \
    X(INF, "inf", wrong, true, NULL)                                                               \
    X(CRASH, "crash", dead, false, "is where %s crashes")                                          \
    X(HANG, "hang", dead, false, "is where %s hangs")                                              \
    X(REFUSED, "refused", refused, false, "is refused by %s, which runs it with other options")    \
    X(OVERFLOW, "overflow", overflow, false,                                                       \
      "is where %s leaves the range of the type that is expected")                                 \
    X(WHOLE, "whole", whole, false, "is where %s goes wrong in the whole model, and not alone")    \
    X(EXCHANGED, "exchanged", exchanged, false,                                                    \
      "makes an output where %s has the values of another output")                                 \
    X(OVERWRITTEN, "overwritten", overwritten, false,                                              \
      "is where %s holds the values of another node")

enum odb_diagnosis {
#define ODB_DIAGNOSIS_ENUM(id, name, words, accuses, verb) ODB_KIND_##id,
    ODB_DIAGNOSIS_LIST(ODB_DIAGNOSIS_ENUM)
#undef ODB_DIAGNOSIS_ENUM
        ODB_KIND_COUNT
};
const char *odb_diagnosis_name(enum odb_diagnosis kind);
bool odb_diagnosis_parse(enum odb_diagnosis *out, const char *name);
/* The node itself is said to make wrong values, which running it alone shows. */
bool odb_diagnosis_accuses(enum odb_diagnosis kind);

enum odb_opinion {
    ODB_OPINION_NONE,
    ODB_OPINION_TARGET,
    ODB_OPINION_REFERENCE,
    ODB_OPINION_NEITHER
};
const char *odb_opinion_name(enum odb_opinion opinion); /* NULL: none */

/* The node inside the culprit's bodies that is to blame. */
struct odb_culprit_inside {
    int index;                     /* in its own graph */
    char *name, *op_type, *domain; /* owned */
    char *value;                   /* owned: that shows it; NULL: none does */
    enum odb_diagnosis kind;
    bool verified;
    struct odb_value_report numbers; /* of value */
};

/* Questions besides the one that found a culprit. */
#define ODB_CHECK_LIST(X)                                                                          \
    X(ALONE, "alone", "it fails alone")                                                            \
    X(REGION, "region", "the region fails as a whole, fed with the reference's values")            \
    X(PREFIX, "prefix", "the model up to it fails, and up to whatever is before it does not")      \
    X(NEIGHBOUR, "neighbour", "it fails together with a neighbour")                                \
    X(PINNED, "pinned",                                                                            \
      "with the reference's value in its place the outputs pass; of several, "                     \
      "they do not without")                                                                       \
    X(REFERENCE, "sensitivity", "the same perturbation through the reference grows alike")

enum odb_check {
#define ODB_CHECK_ENUM(name, text, help) ODB_CHECK_##name,
    ODB_CHECK_LIST(ODB_CHECK_ENUM)
#undef ODB_CHECK_ENUM
        ODB_CHECK_COUNT
};
const char *odb_check_name(enum odb_check check);

enum odb_checked { ODB_NOT_ASKED, ODB_CONFIRMS, ODB_CONTRADICTS, ODB_NOT_TESTABLE };

enum odb_confidence {
    ODB_CONFIDENCE_UNKNOWN,
    ODB_CONFIDENCE_LOW,
    ODB_CONFIDENCE_MEDIUM,
    ODB_CONFIDENCE_HIGH
};
const char *odb_confidence_name(enum odb_confidence confidence); /* NULL: unknown */

/* What a node makes of an error in its inputs. Growth is error out over error in. */
struct odb_sensitivity {
    struct odb_number input_error;      /* the target's, of its worst input */
    struct odb_number growth;           /* of that very error through the reference, in float64 */
    struct odb_number growth_of_random; /* of a random one of its size, the largest of some */
    struct odb_number growth_in_type;   /* the same in the reference's own precision */
    struct odb_number explained;        /* the part of the output's error that it explains, 0 to 1;
                                           the rest is the node's own */
};

/* How the numbers of a value lie: finite ones of both sides over their common range, and
 * log10|target - reference| where that is finite and not 0. See compare/inspect/inspect.h. */
struct odb_histograms {
    double lo, hi, error_lo, error_hi;
    size_t reference[ODB_INSPECT_BINS], target[ODB_INSPECT_BINS], errors[ODB_INSPECT_BINS];
    size_t equal;
};

/* Whose numbers a value holds. */
struct odb_held {
    bool known;
    int of;                  /* the other value */
    size_t first, n, of_all; /* elements that are the other's, and how many there are */
};

/* Nodes first to last, run together, and how many; n 0: none were. */
struct odb_stretch {
    int first, last;
    size_t n;
};

struct odb_kernel;

/* Nodes of the main graph, ascending; odb_push() adds one. */
struct odb_node_list {
    int *items; /* owned */
    size_t n, cap;
};

struct odb_culprit {
    int node;  /* index in the main graph */
    int value; /* the output that shows it; ODB_NO_VALUE for crash, hang */
    enum odb_diagnosis kind;
    bool flips_and; /* kind is nondeterministic; in the run that was judged it was wrong as well: */
    enum odb_diagnosis also;
    struct odb_value_report numbers; /* of value */
    bool reaches_output, verified;
    double
        unlike; /* wrong in place and alone, of the same inputs, and this far apart (over rms): it
                   does not repeat when it is loaded anew; 0: alike, or not known. In no file */
    bool known; /* a variant that is known explains it: it was asked about no further */
    bool narrower;     /* off by no more than computing in the report's narrower type must lose */
    bool of_reference; /* the reference is off from the operator there, and the target is not */
    bool of_recording; /* likewise, and it is a recording: believed, so that the model differs */
    char *recorded_weight; /* owned: its name; the model has another one than was recorded, which
                              recorded_off says: "channel 3, 1.2 times"; NULL: none is known */
    char recorded_off[100];
    bool weight_explains;       /* with the recorded weights the operators make what was recorded */
    int segment[2];             /* first and last node of the smallest region that fails */
    struct odb_node_list group; /* that are wrong together: node is the one of them that computes,
                                   and the segment has what must be there for them to be made one
                                   kernel. Empty: they are not known */
    struct odb_node_list cut;   /* that were run together when the group, or the region, was wrong,
                                   weights included; empty: not known. In no file */
    int pin;                   /* of a group: the value that is made the reference's in its place */
    struct odb_held held;      /* kinds exchanged and overwritten: whose values these are */
    struct odb_stretch passes; /* kind whole: the largest part that was asked and is right */
    enum odb_opinion third_opinion; /* of other code than target and reference */
    char *third_by;                 /* owned: whose it is; NULL: there is none */
    enum odb_opinion own_opinion;   /* of the target's own library without optimisations */
    char *own_by;                   /* owned: which that is; NULL: it was not asked */
    const char *own_without;        /* static: what it was left without, in words */
    char *text;                     /* owned: one paragraph in plain words */
    char *path; /* owned: into its bodies, "Loop_4[3]/Conv_1"; NULL: it was not entered */
    struct odb_culprit_inside *inside; /* owned; NULL: no node there could be named */
    char *within;                      /* owned: what the search in its bodies came to; or NULL */
    struct odb_kernel *kernel; /* owned: of the target, that the node, or all of the region, is in;
                                  NULL: none is known */
    char *read_as;             /* owned: how the target held the value, where that was undone; NULL:
                                  as it is */
    struct odb_histograms *histograms; /* owned; NULL: the values are not at hand */
    struct odb_explanations explained; /* owned: what the node computed instead */
    enum odb_checked checks[ODB_CHECK_COUNT];
    enum odb_checked spoils; /* of several: with the others pinned and it not, what follows it fails
                                again */
    struct odb_node_list
        together;    /* kind refused: the nodes that are, ascending; the last is node */
    char *runs_with; /* owned: kind refused: the spec that runs them; NULL: another kind */
    int neighbour;   /* that it was run together with; meaningful where that was asked */
    struct odb_sensitivity sensitivity;
    struct odb_specials specials; /* of value */
    enum odb_confidence confidence;
    char confidence_reason[160]; /* the rule that decided, in words */
};

/* An output whose bits differ between equal runs. */
struct odb_repeated {
    int value;
    double spread;                   /* largest distance between two runs, relative to rms */
    size_t votes[ODB_VERDICT_COUNT]; /* runs with this verdict */
};

/* Two or more equal runs of the model as it is. */
struct odb_repeats {
    size_t runs;
    bool differ;    /* some output's bits did */
    int first_node; /* of which equal inputs gave other bits, with every value read; ODB_NO_NODE */
    bool later_alike;      /* the first run differs, and all later ones are alike: state is kept */
    bool begins_anew;      /* and loaded once more, the first run is as the first was */
    enum odb_verdict died; /* CRASH or TIMEOUT: of a run after others that came to their end */
    ODB_VEC(struct odb_repeated) outputs; /* those whose bits differ */
};

/* How much of an output's error one node brings. */
struct odb_contribution {
    int node;
    double share; /* of the error, as it arrives at the output: all shares add up to about 1 */
};

struct odb_search_step {
    const char *step; /* "reference", "plain", "probed", "prefix", "isolated", "third" …; static, or
                         of the report's written */
    char *why;        /* owned */
    size_t loads, runs;
    double seconds;
};

/* What one kind of work took, in this process and in the target. All phases of a report are apart
 * from one another, so that they add up. */
struct odb_phase {
    const char *name;       /* of a step, or "golden", "noise", "replay", "other"; static, or of the
                               report's written */
    struct odb_spent spent; /* the wait for the target included; the processors' of this process */
    double target_seconds;  /* of loads and runs; more than the first where they were ahead */
};

/* What reading values does to the target: the model's outputs then, against those of the plain
 * run. */
struct odb_observer {
    bool looked;  /* it was compared */
    bool moved;   /* some output has other bits */
    bool decides; /* another verdict, or a fault of another size: what was read is no evidence */
    double by;    /* the most that any element moved, over rms of the plain output */
    int output;   /* the value where that is */
};

/* What the search was expected to cost in all, when it was last thought about. */
struct odb_forecast {
    const char *strategy; /* static, or of the report's written; NULL: there is no forecast */
    size_t loads;
    double seconds;
};

/* The suspects of a search that did not end. */
struct odb_left {
    size_t n; /* 0: not known, or it ended */
    int first, last;
};

enum odb_refusal {
    ODB_REFUSED_ALONE,
    ODB_REFUSED_ALIKE,   /* it was not asked for: it looks like some that are refused alone */
    ODB_REFUSED_TOGETHER /* with what stands before it; it runs alone, and is judged by that */
};

struct odb_refused {
    int node;
    enum odb_refusal how;
    bool runs; /* with the target's plainest options: it is a culprit, or looks like one */
};

/* The target refuses nodes: it was asked for the others, with the reference's values in the place
 * of what those make. Nodes, counted. */
struct odb_pieces {
    ODB_VEC(struct odb_refused) refused; /* none: it took the model whole */
    size_t judged;
    size_t fed;  /* refused and not judged */
    size_t left; /* not judged for another reason */
};

/* The model as it is, with one setting of the target that the spec does not have. */
struct odb_setting_tried {
    char *option; /* owned: "arena=off" */
    char *help;   /* owned: what it does, in words */
    enum odb_verdict verdict;
    struct odb_number error; /* the largest of the outputs */
};

/* Every cut before the culprits, where that was asked for. */
struct odb_proof {
    bool tried;
    size_t cuts, good, untestable;
    int counterexample; /* the first node whose cut is bad; or ODB_NO_NODE */
};

/* Why there may be no verdict. */
struct odb_undecided_reason {
    enum odb_undecided why;
    struct odb_error because;
    bool told; /* as a warning */
};

/* What a headline says of such a pass. */
#define ODB_REPORT_LITTLE "on outputs that are constant or empty and show little"

struct odb_report {
    const struct odb_model *model; /* borrowed */
    char sha256[65];
    char *reference, *target, *golden, *tolerance; /* owned specs */
    const char *expect;                            /* static: "f16" …; NULL */
    char *narrower; /* owned: the type, as --expect takes it, that most culprits are computed in, by
                       what they are off; NULL: none is known */
    const struct odb_feeds *feeds; /* borrowed */
    bool complete;                 /* the search came to its end */
    char *failure;                 /* owned: why it did not; NULL: it did */
    bool spent;                    /* the budget ended it: what it found by then counts */
    bool elsewhere; /* another sample of inputs diverges, or the target with other options */
    ODB_VEC(struct odb_undecided_reason) undecided;
    bool told;               /* it was read from where it was stored, and came to this there: */
    enum odb_outcome stored; /* else meaningless; odb_report_outcome() is the verdict */
    bool outputs_diverge;
    bool unsought;     /* only its outputs were to be judged: no node is looked for */
    bool little_shown; /* all outputs of the reference are empty or constant */
    bool only_outputs; /* the target gives nothing else, takes no part of the model, and runs what
                          is loaded on other inputs; not stored */
    char *signature;   /* owned: of the plain run's failure, by odb_signature_text(); NULL: none */
    ODB_VEC(char *) warnings; /* owned lines */
    ODB_VEC(char *) notes;    /* owned lines: what is good to know and no reason to doubt */
    bool dead;                /* the target does not run at all here, whatever it is asked */
    const char *only_whole;   /* static: "crashes", "hangs", "refuses": the model as a whole, and no
                                 part of it that was asked; NULL: a part, or it does not */
    struct odb_repeats repeats;
    int contributions_to;                           /* the output that they are about */
    ODB_VEC(struct odb_contribution) contributions; /* the largest first; none: not worked out */
    ODB_VEC(int) pinned;          /* nodes whose values were the reference's in the last run */
    enum odb_checked pinned_pass; /* in that run all outputs passed */
    ODB_VEC(struct odb_search_step) steps;
    ODB_VEC(struct odb_phase) phases;           /* in the order in which they came up */
    ODB_VEC(struct odb_setting_tried) settings; /* those that could be tried */
    ODB_VEC(struct odb_culprit) culprits;
    struct odb_value_report *values; /* owned; [n_values] */
    struct odb_tensor **given;       /* owned refs; [n_values] what the target made, that values[]
                                        judges; NULL: not had */
    size_t n_values;                 /* of the main graph */
    struct odb_firsts reference_firsts, target_firsts;
    size_t n_unsupported; /* nodes without a reference kernel */
    size_t values_unread; /* that nodes make and others read, and the target never gave */
    size_t max_outputs;   /* of one model, that the target was found to give; 0: it was not asked
                             for more than it gives, or says itself what that is */
    char *cut_found;      /* owned; parts of the model that it was found to take: "prefix", "no";
                             NULL: any, or it says so itself */
    size_t target_models; /* distinct ones among the loads: what a compiler has to compile */
    size_t target_loads, target_runs;
    struct odb_pieces pieces;
    bool plain_given;           /* the target was given the model for a plain run; instead is set */
    struct odb_instead instead; /* meaningless where it was read from where it was stored */
    char own_file[300]; /* what the file did, where fixed dimensions were asked for; "": nothing */
    char *instead_text; /* owned: what was given in the place of the model's own file, and why;
                           NULL: that file */
    struct odb_observer observer;
    struct odb_forecast forecast;
    struct odb_left left;
    struct odb_proof proof;
    double seconds, reference_seconds, target_seconds; /* the first: the others included */
    double golden_seconds, noise_seconds;              /* of the reference's: runs in float64, and
                                                          noisy ones */
    double target_load_seconds;                        /* of the target's: loads */
    double processor_seconds;                          /* of this process, all threads */
    char *target_description;                          /* owned */
    char *host;             /* owned: the machine that searched; NULL: no longer known */
    char *target_words;     /* owned: the end of what it printed before it died; NULL: it lives */
    char *summary;          /* owned: lines that its text has behind the headline; NULL: none */
    char *sequence;         /* owned: what the steps of a sequence came to, in a sentence, where one
                               of them was searched; NULL: there is no sequence */
    char *ranking;          /* owned: lines that its text ends with: suspects; NULL: none */
    struct json_t *more;    /* owned: an object whose members the JSON has as well; NULL: none */
    struct json_t *written; /* owned: the JSON that it was read from; NULL: it was not */
    struct odb_account account; /* what the target said of the model; empty: it was not asked */
};

struct odb_report *odb_report_new(const struct odb_model *model);
void odb_report_free(struct odb_report *report);
/* What it owns; for a caller that takes one out of a report. */
void odb_culprit_dispose(struct odb_culprit *culprit);
/* Appends the target's last words, safely shown and each line behind indent; nothing where there
 * are none, or no more than a culprit's text says already. */
void odb_report_put_words(const struct odb_report *report, const char *indent, struct odb_buf *out);
/* Adds to the phase of that name (static), which is made where there is none. */
void odb_report_spent(struct odb_report *report, const char *name, struct odb_spent spent,
                      double target_seconds);
void odb_report_warn(struct odb_report *report, const char *fmt, ...) ODB_PRINTF(2, 3);
void odb_report_note(struct odb_report *report, const char *fmt, ...) ODB_PRINTF(2, 3);

/* The numbers of a value in the order in which they are printed. */
#define ODB_REPORT_NUMBERS 7
struct odb_named_number {
    const char *name;
    struct odb_number number;
};
void odb_report_numbers(const struct odb_value_report *report,
                        struct odb_named_number out[ODB_REPORT_NUMBERS]);
/* The word of what was found in a sequence of runs, borrowed, and in which step; NULL: nothing was,
 * or it was one run. */
const char *odb_report_steps(const struct odb_report *report, size_t *step);
/* The result in one sentence, without a full stop. */
void odb_report_headline(const struct odb_report *report, struct odb_buf *out);
/* "first NaN: reference none, target #12 Conv conv1", a line for each kind that there is. */
void odb_report_firsts(const struct odb_report *report, struct odb_buf *out);
/* "12 suspects are left, #3 Conv conv1 to #40 Relu relu9"; nothing where the search ended. */
void odb_report_put_left(const struct odb_report *report, struct odb_buf *out);
/* "proved: 12 earlier cuts good", a line; nothing where no proof was tried. */
void odb_report_proof(const struct odb_report *report, struct odb_buf *out);
/* "100 of 123 nodes are judged, in pieces: …", without a full stop; nothing where the target took
 * the model whole. */
void odb_report_put_pieces(const struct odb_report *report, struct odb_buf *out);
/* The same counts and nodes; null then. */
struct json_t *odb_report_pieces_json(const struct odb_report *report);
/* "0.0123 where rounding explains 1.2e-06", of what is off; or that no number is, but NaN and
 * infinities stand elsewhere, which errors do not count. */
void odb_put_off(struct odb_number error, struct odb_number noise, struct odb_buf *out);
/* "verified alone; reaches an output", and the region where it is not one node. */
void odb_culprit_facts(const struct odb_culprit *culprit, struct odb_buf *out);
/* Names what is accused: a node, the one that computes of a group and how many there are with it,
 * or the ends of a region. from: before those, "the region from ". */
void odb_culprit_put_place(const struct odb_culprit *culprit, const struct odb_graph *graph,
                           const char *from, struct odb_buf *out);
/* Its segment is what is accused; else a node is, and the segment is what it takes for it to be
 * wrong. */
bool odb_culprit_is_region(const struct odb_culprit *culprit);
/* The body, in a graph's nodes, that a search ended in, where it named a node there: its index is
 * inside->index. False: it did not. */
bool odb_culprit_body(const struct odb_culprit *culprit, const struct odb_graph *graph,
                      struct odb_body_step *body);
/* Whether there are culprits, and all are known. */
bool odb_report_known(const struct odb_report *report);
/* "in the target's kernel conv_1: #3 Conv, #5 Relu", and how the value was read, a line each behind
 * indent; nothing where nothing is known. A kernel of the node alone is none to speak of. */
void odb_culprit_put_kernel(const struct odb_culprit *culprit, const struct odb_graph *graph,
                            const char *indent, struct odb_buf *out);
/* What sets several culprits of one operator apart from all other nodes of it that the model has:
 * "all 3 culprits are Conv with dilations other than [1, 1]"; nothing where nothing does. */
void odb_report_put_alike(const struct odb_report *report, struct odb_buf *out);
/* "It goes away with arena=off: the CPU keeps no freed memory."; nothing where it does with none.
 */
void odb_report_put_settings(const struct odb_report *report, struct odb_buf *out);
/* What to try next, in words, lines; nothing where there is nothing in particular. */
void odb_report_put_hint(const struct odb_report *report, struct odb_buf *out);

/* The JSON of interfaces.md. */
void odb_report_json(const struct odb_report *report, struct odb_buf *out);
/* What values are called in it: a new reference, null for ODB_NO_VALUE. */
/* One of its culprits, and what is known of one value, as they stand in there. New references. */
struct json_t *odb_report_culprit_json(const struct odb_report *report,
                                       const struct odb_culprit *culprit);
struct json_t *odb_report_value_json(const struct odb_graph *graph, int value,
                                     const struct odb_value_report *numbers);
struct json_t *odb_report_value_key(const struct odb_report *report, int value);
/* Completes a report that has its specs, its culprits' nodes and kinds and its values from where it
 * was stored, by the JSON that was written of it. What text lacks, or is none, stays as it is. */
void odb_report_read(struct odb_report *report, const char *text);

#endif
