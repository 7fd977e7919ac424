/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What would a narrower type cost, before any target is asked? Each node that computes in floats is
 * computed in the type alone, its inputs and weights rounded and its result rounded; then what
 * follows from it is run again by the reference, in the model's own types. How far the model's
 * outputs come out is the node's contribution.
 *
 * Errors are those of precision.h: sqrt(sum (e-b)^2 / sum b^2), b the reference's; infinite where
 * NaN or Inf stand at other places (overflow), an integer, a bool or a shape is another (a choice),
 * or b is all zero. Of several outputs the largest counts.
 */
#ifndef ODB_SENSITIVITY_SENSITIVITY_H
#define ODB_SENSITIVITY_SENSITIVITY_H

#include "base/buf.h"
#include "reference/trace.h"
#include "run/feeds.h"
#include "run/hooks.h"

struct json_t;

/* Contributions below are of the size of what the reference itself rounds when it runs again. */
#define ODB_SENSITIVITY_ROUNDING 1e-6

enum odb_sensitivity_known {
    ODB_SENSITIVITY_NOTHING, /* the type changes nothing in it: no floats, a Constant, a draw, what
                                only steers shapes; int8: no product */
    ODB_SENSITIVITY_UNRUN,   /* the reference cannot run it in the type, or what follows from it */
    ODB_SENSITIVITY_LEFT,    /* not measured: the time was up, or the user stopped it */
    ODB_SENSITIVITY_ESTIMATED,
    ODB_SENSITIVITY_MEASURED
};

enum odb_sensitivity_how {
    ODB_SENSITIVITY_FINITE,
    ODB_SENSITIVITY_OVERFLOW, /* NaN or Inf at other places */
    ODB_SENSITIVITY_CHOICE,   /* another integer, bool, string or shape */
    ODB_SENSITIVITY_ZEROS     /* the reference has nothing but zeros there */
};

/* An error. */
struct odb_sensitivity_error {
    double error; /* Inf unless how is FINITE; NaN: not known */
    enum odb_sensitivity_how how;
    double finite; /* the largest among outputs whose error is finite; 0: there is none */
    int value;     /* that has it; ODB_NO_VALUE: no value is off */
};

struct odb_sensitive {
    enum odb_sensitivity_known known;
    struct odb_sensitivity_error local;        /* of what the node itself makes */
    struct odb_sensitivity_error contribution; /* at the model's outputs; error NaN unless it is
                                                  measured or estimated */
    double estimate; /* made before it was measured, or in place of that; NaN: none */
    size_t reruns;   /* nodes that ran again for it */
    /* Where a target was asked; NaN: not known. */
    double expected; /* local error by the type where the inputs have the type already: what a
                        target that computes all in the type has here */
    double foretold; /* contribution * expected / local: of such a target, at the outputs */
    double shown;    /* local error of the target, on its own inputs */
    double carried;  /* what that comes to at the outputs, as the contribution */
    bool stands_out; /* far worse than the type explains */
};

/* How well one number of all nodes tells another: over those that have both. */
struct odb_sensitivity_match {
    size_t n;
    double rank;         /* Spearman's correlation of ranks, equal ones sharing theirs; NaN: fewer
                            than three nodes, or all are equal */
    size_t worst, found; /* how many of the worst were looked at (ten at most), and how many of
                            them are among as many that were foretold */
};

struct odb_sensitivity_options {
    enum odb_dtype to;  /* ODB_F16, ODB_BF16, ODB_I8 */
    const char *target; /* spec; NULL: none is asked */
    double seconds;     /* for all of it; 0: as long as it takes */
    struct odb_search_hooks hooks;
};

struct odb_sensitivity_result {
    const struct odb_model *model; /* borrowed */
    enum odb_dtype to;
    struct odb_sensitive *nodes; /* owned; [n_nodes] of the model */
    int *order;                  /* owned; [n_ranked] nodes, the largest contribution first */
    size_t n_ranked;             /* measured or estimated */
    size_t n_computes, n_measured, n_estimated, n_left, n_unrun;
    size_t n_exact;    /* measured, and every output stays the same bit for bit */
    size_t n_harmless; /* of the ranked, that together bring less than a hundredth of the squares */
    size_t n_harmless_estimated; /* those of them that were not measured */
    size_t n_without;            /* outputs of the model that the reference does not compute */
    double squares;              /* sum of the squares of all finite contributions */
    struct odb_sensitivity_error whole; /* all nodes in the type; error NaN: it could not be run */
    char *whole_why;                    /* owned: why not; NULL: it could */
    size_t n_checked;                   /* measured after they were estimated, and above ROUNDING */
    double off_half, off_most; /* by which factor half of those estimates were off at most, and nine
                                  of ten; NaN: none was checked */
    /* The target. */
    char *target, *description; /* owned; NULL: none was asked, or it does not say */
    char *target_why;           /* owned: why nothing can be said of it; NULL: something can */
    struct odb_sensitivity_error target_error; /* at its outputs; error NaN: not known */
    struct odb_sensitivity_match local;        /* expected and shown */
    struct odb_sensitivity_match outputs;      /* foretold and carried */
    size_t n_stand_out;
    bool target_late;   /* the time was up before all nodes were looked at there */
    bool stopped, late; /* by the user; the time was up before all was measured */
    size_t n_reruns;    /* of nodes, in all */
    double seconds;
};

/* trace: of these feeds; with own where an executor is the reference, whose place the CPU takes.
 * ODB_UNSUPPORTED: the reference computes no output, or the model's opset has no such type. Where
 * it is stopped it is no failure: what was measured by then is there. *out is NULL on failure. */
enum odb_status odb_sensitivity(struct odb_sensitivity_result **out, const struct odb_model *model,
                                const struct odb_feeds *feeds, const struct odb_trace *trace,
                                const struct odb_sensitivity_options *options,
                                struct odb_error *err) ODB_MUST_USE;
void odb_sensitivity_result_free(struct odb_sensitivity_result *sensitivity); /* NULL is fine */

/* What the model's outputs ([n_outputs], borrowed; NULL: the reference lacks one) are with the
 * which-th node in the type, or, which being their number, with all of them; outputs NULL: that
 * cannot be run. */
typedef enum odb_status odb_sensitivity_made_fn(void *payload, size_t which,
                                                struct odb_tensor *const *outputs,
                                                struct odb_error *err);
/* Tells of each of these nodes, and of all, on one set of feeds, whose trace this is (golden and
 * noise are not needed). options: the type and hooks. Steps of int8 are those of the trace. */
enum odb_status odb_sensitivity_outputs(const struct odb_model *model,
                                        const struct odb_feeds *feeds,
                                        const struct odb_trace *trace,
                                        const struct odb_sensitivity_options *options,
                                        const int *nodes, size_t n, odb_sensitivity_made_fn *made,
                                        void *payload, struct odb_error *err) ODB_MUST_USE;

/* "not measured" … : static. */
const char *odb_sensitivity_known_word(enum odb_sensitivity_known known);
const char *odb_sensitivity_how_word(enum odb_sensitivity_how how);
/* task: what the type costs a task (type_cost.h), which is taken; NULL: it was not asked. */
void odb_sensitivity_json(const struct odb_sensitivity_result *sensitivity, const char *chosen,
                          struct json_t *task, struct odb_buf *out);
/* width: columns of the strip. */
void odb_sensitivity_put(const struct odb_sensitivity_result *sensitivity, int width,
                         struct odb_buf *out);

#endif
