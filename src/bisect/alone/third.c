/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The third opinion: reference and target part at a node, and another executor runs it on what the
 * target was fed. It counts only if it is other code than both: operators of NumPy as in a textbook
 * first, then another runtime. What the target's own library does with other options is asked as
 * well. It says whether the options matter, and nothing against the reference: a wrong kernel is
 * wrong whatever is optimised around it.
 */
#include "bisect/alone/third.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "probe/ahead.h"
#include "base/mem.h"
#include "system/thread.h"
#include "bisect/alone/alone.h"
#include "report/report.h"
#include "reference/trace.h"
#include "run/value_report.h"
#include "executor/executor.h"
#include "model/write/body_model.h"

/* --- processes ------------------------------------------------------------------------------- */

#define THIRD_MOST 2 /* another library, and the target's own with other options */

/* A node alone, put to an executor. */
struct third_question {
    const struct search_case *c; /* borrowed */
    struct odb_pool *pool;       /* owned */
    struct odb_prober prober;
    struct question *q; /* owned; NULL: it was answered */
    int value;          /* of the node, that is judged */
};

/* Some take long to start, to answer and to end: the search goes on meanwhile. */
struct third_state {
    struct odb_ahead *begun[THIRD_MOST]; /* owned; opened before they are asked */
    struct third_question *ahead;        /* owned: put before its answer is wanted; NULL: none is */
    pthread_t closing;                   /* of the one asked last */
    bool closes;
    struct odb_error why; /* of the question put last; that one was ended stays */
};

static struct third_state *third_state(struct findings *f)
{
    if (!f->kept->third)
        f->kept->third = odb_new(struct third_state);
    return f->kept->third;
}

static struct odb_ahead *third_begun(const struct findings *f, const char *spec)
{
    for (size_t i = 0; f->kept->third && i < THIRD_MOST; i++)
        if (odb_ahead_is(f->kept->third->begun[i], spec))
            return f->kept->third->begun[i];
    return NULL;
}

static enum odb_status third_open(const struct search_case *c, const struct findings *f,
                                  const char *spec, struct odb_pool **out, struct odb_error *err)
{
    struct odb_search_hooks quiet = odb_hooks_quiet(&c->options->hooks);
    struct odb_ahead *begun = third_begun(f, spec);
    return begun ? odb_ahead_pool(begun, out, err) : odb_probe_pool(out, spec, &quiet, err);
}

static void *third_close(void *pool)
{
    odb_pool_close(pool);
    return NULL;
}

static void third_closed(struct third_state *state)
{
    if (state->closes)
        pthread_join(state->closing, NULL);
    state->closes = false;
}

static void third_begin_close(struct findings *f, struct odb_pool *pool)
{
    struct third_state *state = third_state(f);
    third_closed(state);
    state->closes = odb_thread_start(&state->closing, third_close, pool);
    if (!state->closes)
        odb_pool_close(pool);
}

/* --- asking ----------------------------------------------------------------------------------- */

/* The question of a node; takes the pool over. */
static struct third_question *third_question_new(const struct search_case *c,
                                                 const struct findings *f, int index, int value,
                                                 struct odb_pool *pool)
{
    struct third_question *put = odb_new(struct third_question);
    put->c = c;
    put->pool = pool;
    put->value = value;
    odb_prober_init(&put->prober, c->model, c->feeds, c->trace, pool, c->options->hooks);
    put->prober.answers = c->prober->answers;
    put->prober.scope = c->prober->scope;
    put->q = question_alone(c, &put->prober, index, f->given);
    return put;
}

static void third_question_free(struct findings *f, struct third_question *put)
{
    if (!put)
        return;
    odb_pool_stop(put->pool); /* which may be at the question still */
    question_free(put->q);
    odb_prober_dispose(&put->prober);
    third_begin_close(f, put->pool);
    free(put);
}

void third_forget(struct findings *f)
{
    struct third_state *state = f->kept->third;
    if (!state)
        return;
    third_question_free(f, state->ahead);
    third_closed(state);
    for (size_t i = 0; i < THIRD_MOST; i++)
        odb_ahead_free(state->begun[i]);
    free(state);
    f->kept->third = NULL;
}

void third_look_ahead(const struct search_case *c, struct findings *f,
                      const struct odb_culprit *culprit)
{
    struct third_state *state = third_state(f);
    struct odb_ahead *begun = state->begun[0];
    struct odb_pool *pool;
    if (state->ahead || culprit->segment[0] != culprit->segment[1] || !f->given[culprit->value] ||
        odb_node_has_body(&c->graph->nodes[culprit->node]) || !odb_ahead_opened(begun) ||
        odb_ahead_pool(begun, &pool, NULL) != ODB_OK)
        return;
    const bool *fed = c->trace->fed;
    c->trace->fed = NULL;
    state->ahead = third_question_new(c, f, culprit->node, culprit->value, pool);
    odb_probe_begin_lone(&state->ahead->prober, &state->ahead->q->probe);
    c->trace->fed = fed;
}

/* What was put ahead, where it is this; NULL: it has to be put. */
static struct third_question *third_take(const struct search_case *c, struct findings *f, int value,
                                         const char *spec)
{
    struct third_state *state = third_state(f);
    struct third_question *put = state->ahead;
    if (!put || put->c != c || put->value != value || strcmp(odb_pool_spec(put->pool), spec) != 0)
        return NULL;
    state->ahead = NULL;
    return put;
}

enum odb_opinion third_opinion_of(const struct search_case *c, struct findings *f, int index,
                                  int value, const char *spec, char **by)
{
    struct odb_pool *pool = NULL;
    struct odb_error *why = &third_state(f)->why;
    struct alone alone = {0};
    enum odb_opinion opinion = ODB_OPINION_NONE;
    const struct odb_node *node = &c->graph->nodes[index];
    const struct odb_tensor *told = f->given[value];
    int slot = c->graph->values[value].slot;
    if (why->code == ODB_CANCELLED)
        return ODB_OPINION_NONE;
    *why = (struct odb_error)ODB_ERROR_INIT;
    struct third_question *put = told ? third_take(c, f, value, spec) : NULL;
    if (!told || (!put && third_open(c, f, spec, &pool, why) != ODB_OK))
        return ODB_OPINION_NONE;
    const bool *fed = c->trace->fed; /* what the target takes alone, and not in the model */
    c->trace->fed = NULL;
    put = put ? put : third_question_new(c, f, index, value, pool);
    struct question *q = put->q;
    put->q = NULL;
    if (alone_run(c, f, q, &alone, why) == ODB_OK && alone.out[slot] && alone.judged) {
        const struct odb_value_report *report = &alone.reports[value];
        struct odb_gap gap;
        double noise = report->local_noise.known ? report->local_noise.v : 0;
        double factor = c->options->tolerance.v[0];
        odb_gap_measure(&gap, alone.out[slot], told);
        bool with_target =
            gap.same || (gap.comparable && gap.pattern && noise > 0 && gap.error <= factor * noise);
        opinion = !report->culprit ? ODB_OPINION_REFERENCE
                  : with_target    ? ODB_OPINION_TARGET
                                   : ODB_OPINION_NEITHER;
        if (by) { /* "NumPy 1.24.2, operators as in a textbook" */
            const char *text = odb_target_description(odb_pool_target(put->pool));
            *by = odb_xstrndup(text, strcspn(text, ","));
        }
    }
    c->trace->fed = fed;
    alone_dispose(&alone, node->n_out);
    third_question_free(f, put);
    return opinion;
}

/* --- which library is which ------------------------------------------------------------------- */

struct third_runs {
    const struct odb_executor_ops *row;
    bool runs;
};

static bool third_runs_visit(const struct odb_spec *spec, void *payload)
{
    struct third_runs *third = payload;
    third->runs = third->runs || spec->row == third->row || odb_spec_option(spec, third->row->kind);
    return !third->runs;
}

/* Whether a spec runs this library: itself, behind wrappers, or on another machine. */
static bool third_runs(const char *text, const struct odb_executor_ops *row)
{
    struct third_runs third = {.row = row};
    enum odb_status ignored =
        text ? odb_spec_walk(text, third_runs_visit, &third, NULL) : ODB_E_USAGE;
    (void)ignored; /* of what is malformed, the part before it counts */
    return third.runs;
}

/* The library that the target is, whatever it is called here; NULL: none of those that can be
 * asked. */
static const struct odb_executor_ops *third_of_target(const struct search_case *c)
{
    const char *described = c->pool ? odb_pool_description(c->pool) : "";
    const struct odb_executor_ops *row;
    for (int rank = 1; (row = odb_executor_independent(rank)); rank++)
        if (third_runs(c->options->target, row) || strstr(described, row->library))
            return row;
    return NULL;
}

/* Whether it is other code than the target and the reference. */
static bool third_is_other(const struct search_case *c, const struct odb_executor_ops *row)
{
    return row != third_of_target(c) && !third_runs(c->trace->reference_spec, row);
}

static bool third_available(const struct findings *f, const struct odb_executor_ops *row)
{
    char why[400];
    const struct third_question *ahead = f->kept->third ? f->kept->third->ahead : NULL;
    if (ahead && !strcmp(odb_pool_spec(ahead->pool), row->opinion))
        return true;
    return third_begun(f, row->opinion) || odb_executor_available(row, NULL, why, sizeof why);
}

/* The target's library without what it optimises, of the same file, as a spec; NULL: the target is
 * no library that can, or is that already. without: what it is without. Owned by the caller. */
static char *third_own(const struct search_case *c, const char **without)
{
    const struct odb_executor_ops *row = third_of_target(c);
    struct odb_spec *spec;
    char *own = NULL;
    if (!row || !row->plain || strstr(c->options->target, row->plain) ||
        odb_spec_parse(&spec, c->options->target, NULL) != ODB_OK)
        return NULL;
    const char *runtime = odb_spec_option(spec, "runtime");
    if (spec->row == row) /* a wrapper may be there for what it changes */
        own = runtime ? odb_xasprintf("%s,%s,runtime=%s", row->kind, row->plain, runtime)
                      : odb_xasprintf("%s,%s", row->kind, row->plain);
    *without = row->plain_words;
    odb_spec_free(spec);
    return own;
}

void third_begin(const struct search_case *c, struct findings *f)
{
    struct third_state *state = third_state(f);
    const struct odb_executor_ops *row;
    const char *without;
    char *own = third_own(c, &without);
    for (int rank = 1; !state->begun[0] && (row = odb_executor_independent(rank)); rank++)
        if (third_is_other(c, row))
            state->begun[0] = odb_ahead_begin(row->opinion, NULL, &c->options->hooks);
    if (own && !state->begun[1])
        state->begun[1] = odb_ahead_begin(own, NULL, &c->options->hooks);
    free(own);
}

/* Asks the libraries that are neither the target's nor the reference's, and cover the node: the
 * most independent first. */
static enum odb_opinion third_ask(const struct search_case *c, struct findings *f,
                                  const struct odb_culprit *culprit, char **by)
{
    const struct odb_executor_ops *row;
    enum odb_opinion opinion = ODB_OPINION_NONE;
    bool body = odb_node_has_body(&c->graph->nodes[culprit->node]);
    for (int rank = 1; opinion == ODB_OPINION_NONE && (row = odb_executor_independent(rank));
         rank++)
        if (third_is_other(c, row) && (row->bodies || !body) && third_available(f, row))
            opinion = third_opinion_of(c, f, culprit->node, culprit->value, row->opinion, by);
    return opinion;
}

/* Where the reference is an executor, the CPU's operator is one more. */
enum odb_status third_opinion(const struct search_case *c, struct findings *f,
                              struct odb_culprit *culprit, const struct odb_value_report *told,
                              struct odb_error *err)
{
    char *by = NULL;
    if (culprit->segment[0] != culprit->segment[1])
        return ODB_OK;
    enum odb_opinion opinion = third_ask(c, f, culprit, &by);
    if (culprit->of_reference) { /* the CPU's operator is with the target; is the third? */
        if (opinion == ODB_OPINION_NEITHER || opinion == ODB_OPINION_TARGET)
            culprit->third_opinion = ODB_OPINION_NEITHER;
    } else if (opinion == ODB_OPINION_NONE && told && !told->culprit) {
        culprit->third_opinion = ODB_OPINION_REFERENCE;
        by = odb_xstrdup("the CPU's operator");
    } else {
        culprit->third_opinion = opinion;
    }
    culprit->third_by = by;
    char *own = culprit->of_reference ? NULL : third_own(c, &culprit->own_without);
    if (own)
        culprit->own_opinion =
            third_opinion_of(c, f, culprit->node, culprit->value, own, &culprit->own_by);
    free(own);
    bool ended = third_state(f)->why.code == ODB_CANCELLED;
    if (ended)
        *err = third_state(f)->why;
    return ended ? ODB_CANCELLED : ODB_OK;
}

/* --- in words --------------------------------------------------------------------------------- */

void third_put(const struct odb_culprit *c, struct odb_buf *out)
{
    static const char *const opinions[] = {
        [ODB_OPINION_TARGET] = "sides with the target: the reference, or what the specification "
                               "leaves open, deserves a look. ",
        [ODB_OPINION_REFERENCE] = "sides with the reference. ",
        [ODB_OPINION_NEITHER] = "agrees with neither. ",
    };
    static const char *const own[] = {
        [ODB_OPINION_TARGET] = "gives the same: that is the target's own library, and says "
                               "nothing against the reference. ",
        [ODB_OPINION_REFERENCE] = "gives what the reference gives: it is the target's own library, "
                                  "so what it optimises makes the difference. ",
        [ODB_OPINION_NEITHER] = "gives something else again. ",
    };
    if (c->third_opinion != ODB_OPINION_NONE && c->third_by && !c->of_reference) {
        odb_buf_put_shown(out, c->third_by);
        odb_buf_printf(out, " %s", opinions[c->third_opinion]);
    }
    if (c->own_opinion != ODB_OPINION_NONE) {
        odb_buf_printf(out, "Without %s ", c->own_without);
        odb_buf_put_shown(out, c->own_by);
        odb_buf_printf(out, " %s", own[c->own_opinion]);
    }
}
