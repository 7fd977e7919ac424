/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The main job: who made the target diverge from the reference? bisect.c chooses among the
 * strategies; blame.c, search.c and probe.c are its hands; trace.c is what it believes.
 */
#ifndef ODB_ENGINE_BISECT_H
#define ODB_ENGINE_BISECT_H

#include "compare/criterion.h"
#include "engine/asked.h"
#include "engine/inputs.h"
#include "engine/report.h"
#include "engine/search.h"
#include "model/model.h"

#define ODB_STRATEGY_LIST(X)                                                                       \
    X(AUTO, "auto",                                                                                \
      "blame first; suffixes where probing changes the answer, prefixes where it "                 \
      "cannot be had")                                                                             \
    X(BLAME, "blame", "one run with every value probed, each operator replayed on its inputs")     \
    X(PROBED, "probed", "the same in batches of values that fit into memory")                      \
    X(PREFIX, "prefix", "bisect over prefixes that have only the cut as outputs")                  \
    X(SUFFIX, "suffix", "bisect over what follows a cut, fed with the reference's values there")   \
    X(LINEAR, "linear", "prefixes in order, every STEP nodes, then each node in between")          \
    X(ISOLATED, "isolated", "every node alone on the target, fed with the reference's values")     \
    X(EACH, "each", "one submodel per node, in order: what scripts do")

enum odb_strategy {
#define ODB_STRATEGY_ENUM(name, text, help) ODB_STRATEGY_##name,
    ODB_STRATEGY_LIST(ODB_STRATEGY_ENUM)
#undef ODB_STRATEGY_ENUM
};

/* What happens while a search runs, for progress, for the journal and for a screen. Every probe is
 * announced before it is tried and reported after, with what it showed: pass, how the first wrong
 * value is wrong, how the target failed, or untested when it was cancelled. A phase may be
 * announced again, when another one was in its middle. A value may be told of more than once, with
 * more numbers or on better evidence. All pointers are borrowed for the call. */
struct odb_search_event {
    enum odb_event_kind {
        ODB_EVENT_PHASE,
        ODB_EVENT_PROBE_BEGIN,
        ODB_EVENT_PROBE_END,
        ODB_EVENT_PROGRESS,
        ODB_EVENT_VALUE,
        ODB_EVENT_FORECAST
    } what;
    const char *text; /* PHASE, PROGRESS: "golden"; PROBE: "prefix up to #12 Conv conv1"; VALUE: its
                         name; FORECAST: the strategy; never NULL */
    int node;         /* PROBE: the cut's; PROGRESS: done last; VALUE: that makes it; or
                         ODB_NO_NODE */
    enum odb_verdict verdict; /* PROBE_END, VALUE */
    size_t done, total;       /* PROGRESS, PHASE: of this phase; total 0: unknown */
    size_t remaining;         /* PROBE: suspects that are left; 0: this is no search among them */
    size_t loads, runs;       /* PROBE_END: of the target, for this probe; FORECAST: in all */
    const struct odb_asked_facts *asked;    /* PROBE_BEGIN; NULL: not told */
    const struct odb_all_seen *compared; /* PROBE_END; NULL: not told */
    const char *failure; /* PROBE_END: why there is no answer; NULL: there is one */
    double seconds;      /* PROBE_END; FORECAST: of the whole search */
    int value;           /* VALUE: index in the main graph */
    const struct odb_value_report *report; /* VALUE: all that is known of it by now */
};

/* What a command may take, for all the searches that it makes together. Between questions to the
 * target, in the thread that asks them. */
struct odb_budget {
    double deadline; /* of odb_clock(); 0: none */
    size_t probes;   /* questions at most; 0: any number */
    size_t asked;    /* so far */
    bool lifted;     /* it is spent, and what is left to do is to be done all the same */
    uint64_t memory; /* bytes that the debugger and its target may hold together; 0: what the
                        machine has free. Never spent: room.h shares it out */
};
/* NULL: there is none. */
bool odb_budget_spent(const struct odb_budget *budget);

struct odb_search_hooks {
    void (*event)(void *payload, const struct odb_search_event *event); /* may be NULL */
    bool (*cancelled)(void *payload); /* may be NULL; asked by several threads at once */
    void *payload;
    struct odb_budget *budget; /* borrowed; NULL: as much as it takes */
};

struct odb_answers;
struct odb_trace;
struct odb_trace_options;

struct odb_bisect_options {
    const char *reference; /* spec: cpu in one of its precisions, or an executor that is asked */
    const char *golden;    /* likewise; NULL: cpu:f64, or the reference itself if it is asked */
    const char *target;    /* spec; required */
    struct odb_criterion tolerance;
    const char *expect; /* "f16", "bf16", "tf32", or NULL */
    int repeat;         /* runs of the model as it is; 0: as many as fit, see repeat.c */
    enum odb_strategy strategy;
    bool prove;      /* test every cut before the culprits */
    bool strict;      /* what no output shows and nothing verified is a culprit, and no note */
    bool no_enter;   /* nodes with bodies are taken as one */
    bool no_opinion; /* no third executor is asked about the first culprit */
    size_t step;     /* LINEAR: nodes from cut to cut; 0: as many as make the fewest cuts */
    uint64_t seed;   /* of noisy runs and jitter */
    struct odb_trace *trace; /* borrowed: the reference's values, made before for the same model,
                                feeds, reference and expect; NULL: made here, once per search */
    const struct odb_answers
        *answers;      /* borrowed: what the target answered to the same search,
                          stopped before its end, and will; NULL: nobody remembers */
    const char *scope; /* borrowed: where the model stands in the one that the answers are of:
                          "Loop_4[3]/"; NULL: it is that one */
    struct odb_tensor *const *recorded; /* borrowed; [n_values] what the target made is had already,
                                           and it is not opened: target is but what it is called;
                                           NULL: it is asked */
    struct odb_tensor *const *unobserved; /* borrowed; [n_values] beside recorded: outputs as they
                                             are where nothing else is read, NULL: as recorded */
    struct odb_search_hooks hooks;
};

/* How a search makes its trace. */
enum odb_status odb_bisect_trace_options(const struct odb_bisect_options *options,
                                         struct odb_trace_options *out,
                                         struct odb_error *err) ODB_MUST_USE;

/* A report of a search with these options that has not begun; the caller's. */
struct odb_report *odb_bisect_report(const struct odb_model *model, const struct odb_feeds *feeds,
                                     const struct odb_bisect_options *options);

/* Runs the search. The report is complete on ODB_OK; on ODB_CANCELLED and on executor failures it
 * holds what was known by then (and is still the caller's to free). *out is never NULL unless
 * memory or usage failed. ODB_UNSUPPORTED: no output can be reached by the reference. */
enum odb_status odb_bisect(struct odb_report **out, const struct odb_model *model,
                           const struct odb_feeds *feeds, const struct odb_bisect_options *options,
                           struct odb_error *err) ODB_MUST_USE;

/* Runs the whole model, or the prefix that computes the given values, once on an executor (an
 * in-process `cpu` spec included, through the same child). names[] are value names; outputs are
 * owned by the caller. hooks may be NULL. For `run`, `print`, `compare`, `export`. */
enum odb_status odb_run_values(const struct odb_model *model, const struct odb_feeds *feeds,
                               const char *spec, const int *values, size_t n_values,
                               struct odb_tensor **outputs, char *description, size_t size,
                               const struct odb_search_hooks *hooks,
                               struct odb_error *err) ODB_MUST_USE;

/* The same, but a value that the executor cannot give there is NULL. */
enum odb_status odb_run_readable(const struct odb_model *model, const struct odb_feeds *feeds,
                                 const char *spec, const int *values, size_t n_values,
                                 struct odb_tensor **outputs, char *description, size_t size,
                                 const struct odb_search_hooks *hooks,
                                 struct odb_error *err) ODB_MUST_USE;

/* Runs the whole model once on an executor and asks what became of it; account is the caller's to
 * dispose of, on failure too. For `target`. */
enum odb_status odb_run_account(const struct odb_model *model, const struct odb_feeds *feeds,
                                const char *spec, struct odb_account *account, char *description,
                                size_t size, const struct odb_search_hooks *hooks,
                                struct odb_error *err) ODB_MUST_USE;

#endif
