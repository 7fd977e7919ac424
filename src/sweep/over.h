/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which option of a target brings the error: the model runs under several specs, and it is these
 * that are searched, not the nodes. Ordered levels are bisected; of a set of options that are on or
 * off each for itself the smallest is found that fails.
 */
#ifndef ODB_SWEEP_OVER_H
#define ODB_SWEEP_OVER_H

#include "bisect/bisect_options.h"
#include "run/feeds.h"
#include "search/search.h"

/* --- the search alone: no models, no targets -------------------------------------------------- */

struct odb_over_level {
    bool asked;
    enum odb_answer answer;
};

struct odb_over_change {
    int good, bad;  /* levels next to each other, but for such as cannot be tested; -1: no change */
    size_t changes; /* from one answer to the other, among what was asked */
};

/* Asks both ends of levels 0 … n-1, and halves what lies between where they differ; where they do
 * not, or all is true, asks everybody. */
enum odb_status
odb_over_levels(struct odb_over_level *levels, size_t n, bool all, struct odb_over_change *change,
                enum odb_status (*ask)(void *payload, size_t level, enum odb_answer *answer,
                                       struct odb_error *err),
                void *payload, struct odb_error *err) ODB_MUST_USE;

enum odb_over_outcome {
    ODB_OVER_NEVER,  /* all of them together pass, and so does each alone where that was asked */
    ODB_OVER_ALWAYS, /* it fails with none of them */
    ODB_OVER_SOME,   /* on[] fails, and passes without any one of it */
    ODB_OVER_UNKNOWN /* what has to be tested for one of these cannot be; on[] may fail */
};

/* Narrows on[] ([n]) to a smallest set that fails, by halves and what is left of halves (ddmin).
 * What cannot be tested counts as no failure. */
enum odb_status odb_over_smallest(bool *on, size_t n, enum odb_over_outcome *outcome,
                                  enum odb_status (*ask)(void *payload, const bool *on,
                                                         enum odb_answer *answer,
                                                         struct odb_error *err),
                                  void *payload, struct odb_error *err) ODB_MUST_USE;

/* --- what is searched ------------------------------------------------------------------------- */

/* "SPEC;SPEC;…", "SPEC,KEY=LOW..HIGH", "SPEC,KEY={A|B|C}", "SPEC,{OPTION|OPTION}" or
 * "ort,{optimizers}"; "KIND:KEY=…" is "KIND,KEY=…". */
struct odb_over {
    enum {
        ODB_OVER_LIST,
        ODB_OVER_LEVELS,
        ODB_OVER_ORDER, /* KEY={A|B|C}: levels by the user's order, versions of a runtime */
        ODB_OVER_SET,
        ODB_OVER_OPTIMIZERS
    } kind;
    char *base;            /* owned: SET, OPTIMIZERS: the spec without any of them */
    ODB_VEC(char *) parts; /* owned: LIST, LEVELS, ORDER: specs; SET: options; OPTIMIZERS: names */
    const char *disable;   /* static: OPTIMIZERS: the option whose value lists those that are off */
};

/* ODB_E_USAGE with the grammar. */
enum odb_status odb_over_parse(struct odb_over *out, const char *text,
                               struct odb_error *err) ODB_MUST_USE;
void odb_over_dispose(struct odb_over *over);
/* The spec with those parts on. Owned by the caller. */
char *odb_over_spec(const struct odb_over *over, const bool *on);

/* --- and found -------------------------------------------------------------------------------- */

struct odb_over_run {
    char *spec;    /* owned */
    char *label;   /* owned: for people, where spec is long: "ort with 3 of 70 optimizers";
                      NULL: spec is what it is called */
    char *version; /* owned: of what ran, "ONNX Runtime 1.22.0"; "": not known */
    enum odb_verdict verdict; /* the worst of its outputs; REFUSED: of a model that the same target
                                 runs with other options; UNTESTABLE: it says nothing */
    double error;             /* the largest of its outputs; NAN: none could be measured */
    bool opened;              /* its target could be started */
    enum odb_status status;   /* of its run; ODB_OK: it came to its end */
    struct odb_error why;     /* where it did not */
};

struct odb_over_found {
    ODB_VEC(struct odb_over_run) runs; /* in the order in which they were asked */
    char *target;     /* owned: the spec that is worth a search: the one that fails, or the last */
    char *text;       /* owned: a sentence */
    char *good, *bad; /* owned: the specs next to each other between which it changes; NULL: none */
    bool fails;
    bool unknown; /* which of them brings it is unknown, as something cannot be tested */
};

/* Plain runs of the model under each spec, judged as a search judges its first one. options->trace
 * must be there. ODB_E_EXECUTOR: no spec could be tested, for all of them refuse the model, or for
 * another reason. *out is to be disposed of always. */
enum odb_status odb_over_search(struct odb_over_found *out, const struct odb_over *over,
                                const struct odb_model *model, const struct odb_feeds *feeds,
                                const struct odb_bisect_options *options,
                                struct odb_error *err) ODB_MUST_USE;
void odb_over_found_dispose(struct odb_over_found *found);
/* {"over": […], "over_found": {…}} */
struct json_t *odb_over_json(const struct odb_over_found *found);

#endif
