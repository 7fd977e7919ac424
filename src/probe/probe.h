/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Asking the target. Plain runs, probed runs, prefixes, segments and single nodes are all one
 * thing: a set of nodes cut out of the model, what it is fed, and which values are read.
 */
#ifndef ODB_PROBE_PROBE_H
#define ODB_PROBE_PROBE_H

#include "base/map.h"
#include "probe/answers.h"
#include "judge/parts_taken.h"
#include "probe/refusal.h"
#include "run/probe_kind.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "run/instead.h"
#include "reference/trace.h"
#include "executor/transport/target_pool.h"

/* What a prober remembers of what was asked. */
struct odb_probing {
    struct odb_map *asked;        /* owned: how often each question was put; NULL: none was */
    char asked_last[65];          /* the cut that was asked for last; "": not kept */
    struct odb_all_seen compared; /* since the probe that was begun last */
    struct odb_times times;       /* owned: of nodes, in what was asked last; empty: not told */
    char *words; /* owned: the last of the child that died of what was asked last; NULL: it lives */
    char failure[400];      /* why that has no answer; "": it has one */
    char loaded[65];        /* the cut that the target has loaded; "": not known */
    char model[65];         /* the same without what it is fed; "": not known */
    size_t pieces;          /* that the cut which was asked for last ran in */
    size_t loads;           /* of what was run; those of what was begun come with its run */
    size_t max_outputs;     /* odb_probe_set_max_outputs() */
    struct odb_parts parts; /* odb_probe_cuts() */
    struct odb_map *models; /* owned: those that were loaded; NULL: none was */
    size_t n_models;        /* odb_probe_models() */
};

struct odb_ahead;

struct odb_prober {
    const struct odb_model *model;      /* borrowed */
    const struct odb_trace *trace;      /* borrowed; NULL: no reference (shapes are as declared) */
    const struct odb_feeds *feeds;      /* borrowed */
    struct odb_pool *pool;              /* borrowed */
    const struct odb_capabilities *can; /* borrowed: of the pool's first target, so that no question
                                           waits for one that is free */
    struct odb_search_hooks hooks;
    const char **original_outputs; /* owned array */
    bool recorded;                 /* the target runs nothing */
    bool refeed;                   /* odb_prober_feed(), and the target allows it */
    bool search;                   /* where no target is left to ask, questions are cancelled */
    bool reshapes; /* the caller's: then also for other dimensions, where the model leaves them open
                    */
    bool open;     /* no fixed dimensions, though the target asks for them: the file is judged */
    const struct odb_answers *answers; /* borrowed; NULL: answers are not kept */
    const char *scope;                 /* borrowed: that of odb_bisect_options, else its pass */
    bool retries;                      /* what was running when the program ended is asked again */
    bool *constant;     /* owned; [n_values] odb_trace_constant(), or NULL: a cut has these as
                           weights, for there are targets that take nothing else there */
    const bool *pinned; /* borrowed; [n_values] fed with the trace's values, whatever makes them;
                           NULL: none */
    struct odb_ahead *ahead; /* borrowed: answers that the target gave before the search began;
                                NULL: none */
    struct odb_probing *now; /* owned; of one with pins, that one's of which it was made */
};

struct odb_probe {
    const char *what;          /* for the journal: "prefix up to #12 conv1" */
    enum odb_probe_kind asked; /* why it is put */
    int node;                  /* that it is about, or ODB_NO_NODE */
    const bool *nodes;         /* [n_nodes] marks; NULL: the values' ancestors, fed by feeds */
    struct odb_tensor *const *given; /* [n_values] what the cut is fed; NULL entries and NULL:
                                        the trace's values */
    const int *values;               /* to read */
    size_t n_values;
    struct odb_tensor **outputs; /* [n_values]: refs owned by the caller, NULL where not had */
    bool judged;                 /* the caller judges what is had, or what failing means, and then
                                    says so with odb_probe_tell(), once after each run */
    bool any;                    /* what the same question was answered before in this search will
                                    do; else a caller that asks twice gets two answers */
    bool aside;                  /* one of many that say the same, as many as time allows: it is not
                                    reported, and no budget of questions is charged */
    bool silent;                 /* out: nothing was asked, for an earlier search was answered the
                                    same, or it was cancelled; it is not reported */
    bool beside;                 /* what is loaded for it may stand beside the user's file; run
                                    again, that file is meant, which is loaded if it is not there */
    size_t remaining;            /* suspects that it is to divide; 0: none */
    size_t loads, runs;          /* out: what it cost */
    double seconds;              /* out: load and run */
    struct odb_probe_cut *begun; /* owned: by odb_probe_begin(); NULL: not yet asked */
};

/* Children for a spec; the command whose hooks these are (NULL: none) can be cancelled while they
 * start, and is told that it is at the start of the target. */
enum odb_status odb_probe_pool(struct odb_pool **out, const char *spec,
                               const struct odb_search_hooks *hooks,
                               struct odb_error *err) ODB_MUST_USE;
void odb_prober_init(struct odb_prober *prober, const struct odb_model *model,
                     const struct odb_feeds *feeds, const struct odb_trace *trace,
                     struct odb_pool *pool, struct odb_search_hooks hooks);
/* The same prober for a model whose values ([n_values], borrowed) are pinned: to the target they
 * are one, and it remembers with the other. Nothing of it is to be disposed of. */
struct odb_prober odb_prober_pinned(const struct odb_prober *of, const bool *pinned);
/* The same prober for other inputs of the model, which are borrowed. The reference, which is that
 * of the first, says what values look like. Nothing of it is to be disposed of. */
struct odb_prober odb_prober_refed(const struct odb_prober *of, const struct odb_feeds *feeds);
/* The same prober for other inputs: what is loaded is not loaded again for them, unless the target
 * says that it must be (refeed=no). */
void odb_prober_feed(struct odb_prober *prober, const struct odb_feeds *feeds,
                     const struct odb_trace *trace);
void odb_prober_dispose(struct odb_prober *prober);

/* How many outputs a model for the target may have, the model's own included: what its spec says,
 * or what it was found to take since. SIZE_MAX: any number. A probe of more than the spec says is
 * unsupported, without a question to the target; what was found is for the plan alone, as the
 * target may have refused for another reason. */
size_t odb_probe_max_outputs(const struct odb_prober *prober);
/* Whether a value in the middle of a model may be read, as the target says (taps=). */
bool odb_probe_taps(const struct odb_prober *prober, int value);
/* Which parts of the model it takes, as it says (cut=), or was found to take where it does not say.
 * What neither this nor taps= allows is unsupported, without a question. */
enum odb_cuts odb_probe_cuts(const struct odb_prober *prober);
/* The same of what was found alone; ANY: nothing was. */
enum odb_cuts odb_probe_cuts_found(const struct odb_prober *prober);
/* It was found to take no more than this in an earlier search. */
void odb_probe_set_cuts_found(struct odb_prober *prober, enum odb_cuts found);
/* Whether what is loaded runs on other inputs, as it says (refeed=). */
bool odb_probe_refeeds(const struct odb_prober *prober);
/* It was found to take no more than this. */
void odb_probe_set_max_outputs(struct odb_prober *prober, size_t most);

/* How many distinct models the target was given: the same nodes with the same inputs and outputs
 * are one, however often they were loaded and whatever they were fed. */
size_t odb_probe_models(const struct odb_prober *prober);

/* Whether the model is more than the target may hold at once: then what is too large of it runs in
 * pieces, one after the other, each fed with what the target made before. */
bool odb_probe_in_pieces(const struct odb_prober *prober);
/* How many pieces a run that reads these values has; 1: it is no run in pieces. */
size_t odb_probe_pieces(const struct odb_prober *prober, const int *values, size_t n);
/* The bytes of all weights. */
size_t odb_probe_weights(const struct odb_graph *graph);
/* The bytes of weights of the node that has most, which cannot be cut. 0: no node has any, and
 * *node stays. */
size_t odb_probe_heaviest(const struct odb_graph *graph, int *node);

/* What a target that runs what it is given gets for a probe of the whole model. */
enum odb_status odb_probe_instead(const struct odb_prober *prober, const struct odb_probe *probe,
                                  struct odb_instead *out, struct odb_error *err) ODB_MUST_USE;

/* Whether the target can keep the user's file loaded beside another model, and there is memory for
 * its weights twice: then its repetitions may come when every value was read, in one run. */
bool odb_probe_keeps_file(const struct odb_prober *prober);

/* Has a probe that is going to be run asked for already, where there are workers for that. It is
 * announced and tells as if it began when it is run. What it is fed is taken now. */
void odb_probe_begin(struct odb_prober *prober, struct odb_probe *probe);
/* The same by another worker than the one that runs what is not begun, which stays free. */
void odb_probe_begin_beside(struct odb_prober *prober, struct odb_probe *probe);
/* odb_probe_begin() where one worker is enough: it answers nothing else until this is run or
 * dropped. */
void odb_probe_begin_lone(struct odb_prober *prober, struct odb_probe *probe);
/* Whether odb_probe_run() has nothing to wait for any more. */
bool odb_probe_at_hand(const struct odb_prober *prober, const struct odb_probe *probe);
/* Loads and runs, or waits for what was begun. Any status of odb_target_load() and
 * odb_target_run(); the outputs are then NULL. Values that no node makes are answered from feeds
 * and initializers, unless the target is a recording: that is asked for them too, whatever nodes
 * and given say, and gives NULL for what it lacks. */
enum odb_status odb_probe_run(struct odb_prober *prober, struct odb_probe *probe,
                              struct odb_error *err) ODB_MUST_USE;
/* Posts the end of a judged probe: what it showed, and how many suspects that leaves. */
void odb_probe_tell(const struct odb_prober *prober, const struct odb_probe *probe,
                    enum odb_verdict verdict, size_t remaining);
/* Judges what a probe gave. shown: pass on entry, and what is wrong on return, if anything is. */
typedef enum odb_status odb_probe_judge_fn(void *payload, const struct odb_probe *probe,
                                           enum odb_verdict *shown, struct odb_error *err);
/* Whether asking what the target made of a model that took so many seconds to load is worth it only
 * where the model is wrong: that loads the model once more. */
bool odb_probe_account_is_dear(const char *spec, double load);
/* The values that a run with every value read gives: [n_values], the caller's. Returns how many. */
size_t odb_probe_list(const struct odb_prober *prober, int *list);
/* The plain one: every value against the reference; payload: a struct odb_judge. */
odb_probe_judge_fn odb_probe_judge;
/* What a probe came to. */
struct odb_probed {
    enum odb_status had;      /* of odb_probe_run() */
    struct odb_error why;     /* where that is not ODB_OK */
    enum odb_verdict verdict; /* pass; what is wrong; crash, timeout; untestable: it cannot be run,
                                 or what it gave passes and some value is lacking */
};
/* Runs a probe, has it judged, and tells; its outputs are the caller's still, to be dropped. That
 * it was cancelled, and that the judge fails, are the only errors. */
enum odb_status odb_probe_ask(struct odb_prober *prober, struct odb_probe *probe,
                              odb_probe_judge_fn *judge, void *payload, struct odb_probed *out,
                              struct odb_error *err) ODB_MUST_USE;
/* The same of one more run of what is loaded. */
enum odb_status odb_probe_ask_again(struct odb_prober *prober, struct odb_probe *probe,
                                    odb_probe_judge_fn *judge, void *payload,
                                    struct odb_probed *out, struct odb_error *err) ODB_MUST_USE;
/* Runs what is loaded once more, with the same feeds, into probe->outputs. */
enum odb_status odb_probe_again(struct odb_prober *prober, struct odb_probe *probe,
                                struct odb_error *err) ODB_MUST_USE;

/* How often what was run last was run once more in a search that is gone on with; 0: not known. */
size_t odb_probe_known_again(const struct odb_prober *prober);

/* What the target says of the model that it ran last; account is the caller's to dispose of.
 * Statuses as in odb_target_account(), and of odb_probe_run(): where an earlier search had that
 * model's answers and not this one, run, which is that question, is put once more. NULL: answers
 * are not kept. */
enum odb_status odb_probe_account(struct odb_prober *prober, struct odb_probe *run,
                                  struct odb_account *account, struct odb_error *err) ODB_MUST_USE;

/* Whether a target can be asked for a value: named, made by a node, and no random draw. */
bool odb_probe_reads(const struct odb_graph *graph, const struct odb_trace *trace, int value);
/* Whether it is worth asking for: some node reads it, or it is an output. */
bool odb_probe_wants(const struct odb_graph *graph, const struct odb_trace *trace, int value);

/* What a probe of several values shows: shown becomes the first verdict that is bad. */
void odb_probe_shows(enum odb_verdict *shown, enum odb_verdict verdict);
/* pass, crash, timeout, untested (cancelled), untestable: what the status of a probe means. */
enum odb_verdict odb_probe_verdict(enum odb_status status);

/* "what #12 Conv conv1", or "what #12 Conv conv1 to #14 Relu relu1". Returns buf. */
const char *odb_probe_title(const struct odb_graph *graph, const char *what, int first, int last,
                            char *buf, size_t size);

/* Unrefs the outputs; what was begun and never run is forgotten. */
void odb_probe_drop(struct odb_prober *prober, struct odb_probe *probe);

#endif
