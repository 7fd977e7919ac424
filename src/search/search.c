/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bisection of a partial order, by cuts that cut.c chooses.
 *
 * A bad answer is believed: S, the suspects, become the ancestors of a node that is bad. A good one
 * clears its ancestors as long as nothing speaks against it: an error may be masked and come back.
 * So a suspect that is left alone must have parents that are good themselves, and is asked to be
 * wrong by itself. Where that fails, the questions that left it are put again, because the target
 * may just be moody; a parent that is bad is believed, and the good answers that had cleared it
 * clear no node any more.
 *
 * Where answers change, each question is put until one answer leads by so much that the flips seen
 * by then explain it once in a thousand times.
 */
#include "search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/cut.h"

#define SEARCH_AHEAD 128  /* questions that are thought of at once: more than there are workers */
#define SEARCH_SLACK 1    /* loads beyond log2 that cheaper cuts may cost */
#define SEARCH_BADS 64    /* bad nodes of one cut, of which the one with fewest suspects is taken */
#define SEARCH_BESIDE 32  /* questions beside the suspects, once none among them tells more */
#define SEARCH_VOTES 25   /* times that a question is put at most */
#define SEARCH_AGAIN 1    /* more, where answers contradict each other */
#define SEARCH_ODDS 1000. /* against flips, when an answer counts */

struct search {
    const struct odb_dag *dag;                /* borrowed */
    const struct odb_oracle *oracle;          /* borrowed */
    const struct odb_search_options *options; /* borrowed */
    struct odb_search_result *result;         /* the caller's */
    bool *suspects;                           /* the caller's */
    struct cut_plan plan;
    bool *all;               /* owned: suspects on entry */
    unsigned char *marks;    /* owned: enum cut_mark */
    bool *masking;           /* owned: good after something bad, so that they clear no node */
    struct odb_known *known; /* the options', or owned */
    bool flaky;
    bool together;         /* joint: some cut of several was bad, and which of them is unknown */
    size_t promised, used; /* loads */
};

struct odb_dag odb_dag_reverse(const struct odb_dag *dag)
{
    size_t *start = odb_new_n(size_t, dag->n + 1), *at = odb_new_n(size_t, dag->n + 1);
    int *parents = odb_new_n(int, dag->start[dag->n] + 1), last = (int)dag->n - 1;
    for (size_t e = 0; e < dag->start[dag->n]; e++)
        start[last - dag->parents[e] + 1]++;
    for (size_t i = 0; i < dag->n; i++)
        at[i + 1] = start[i + 1] += start[i];
    for (size_t i = 0; i < dag->n; i++)
        for (size_t e = dag->start[i]; e < dag->start[i + 1]; e++)
            parents[at[last - dag->parents[e]]++] = last - (int)i;
    free(at);
    return (struct odb_dag){dag->n, start, parents};
}

void odb_dag_dispose(struct odb_dag *dag)
{
    free((void *)dag->start);
    free((void *)dag->parents);
    *dag = (struct odb_dag){0};
}

void odb_dag_close(const struct odb_dag *dag, bool *marks)
{
    for (size_t i = dag->n; i-- > 0;) /* parents stand before their children */
        for (size_t p = dag->start[i]; marks[i] && p < dag->start[i + 1]; p++)
            marks[dag->parents[p]] = true;
}

size_t odb_search_loads(size_t n)
{
    size_t loads = 0;
    for (size_t reach = 1; reach < n; reach *= 2)
        loads++;
    return loads;
}

/* --- what follows from an answer -------------------------------------------------------------- */

/* Leaves those suspects that are marked, or those that are not; none: leaves all, and is false. */
static bool search_keep(const struct odb_dag *dag, bool *suspects, const bool *marks, bool marked)
{
    size_t left = 0;
    for (size_t i = 0; i < dag->n; i++)
        left += suspects[i] && marks[i] == marked;
    for (size_t i = 0; i < dag->n && left; i++)
        suspects[i] = suspects[i] && marks[i] == marked;
    return left > 0;
}

/* Marks a node and its ancestors, and no other node. */
static void search_before(const struct odb_dag *dag, int node, bool *marks)
{
    memset(marks, 0, dag->n * sizeof *marks);
    marks[node] = true;
    odb_dag_close(dag, marks);
}

/* Of the bad nodes among the suspects, the ancestors of the one that leaves fewest. Where several
 * are bad there may be several culprits, so what they have in common says nothing. */
static void search_keep_bad(const struct odb_dag *dag, bool *suspects, const int *bad, size_t n)
{
    bool *marks = odb_new_n(bool, dag->n + 1);
    size_t best = SIZE_MAX, which = 0;
    for (size_t b = 0; b < ODB_MIN(n, (size_t)SEARCH_BADS); b++) {
        size_t left = 0;
        search_before(dag, bad[b], marks);
        for (size_t i = 0; i < dag->n; i++)
            left += suspects[i] && marks[i];
        if (left < best) {
            best = left;
            which = b;
        }
    }
    if (n) {
        search_before(dag, bad[which], marks);
        search_keep(dag, suspects, marks, true);
    }
    free(marks);
}

size_t odb_search_narrow(const struct odb_dag *dag, const bool *suspects, const struct odb_cut *cut,
                         const struct odb_evidence *evidence, bool joint, bool *left)
{
    bool *marks = odb_new_n(bool, dag->n + 1);
    bool *rest = odb_xmemdup(suspects, dag->n * sizeof *suspects);
    int *bad = odb_new_n(int, cut->n);
    size_t n_bad = 0;
    for (size_t i = 0; i < cut->n; i++) {
        if (joint || evidence[i].answer == ODB_ANSWER_GOOD)
            marks[cut->nodes[i]] = true;
        else if (evidence[i].answer == ODB_ANSWER_BAD && suspects[cut->nodes[i]])
            bad[n_bad++] = cut->nodes[i];
    }
    odb_dag_close(dag, marks);
    if (!joint || evidence[0].answer == ODB_ANSWER_GOOD)
        search_keep(dag, rest, marks, false);
    else if (evidence[0].answer == ODB_ANSWER_BAD)
        search_keep(dag, rest, marks, true);
    search_keep_bad(dag, rest, bad, n_bad);
    size_t count = odb_count_marks(rest, dag->n);
    if (left)
        memcpy(left, rest, dag->n * sizeof *rest);
    free(bad);
    free(rest);
    free(marks);
    return count;
}

/* --- asking ----------------------------------------------------------------------------------- */

static enum odb_answer search_majority(const struct odb_known *k)
{
    return k->bad > k->good   ? ODB_ANSWER_BAD
           : k->good > k->bad ? ODB_ANSWER_GOOD
                              : ODB_ANSWER_UNTESTABLE;
}

static bool search_was_asked(const struct odb_known *k)
{
    return k->good || k->bad || k->mute;
}

static bool search_is(const struct search *s, int node, enum odb_answer answer)
{
    return search_was_asked(&s->known[node]) && search_majority(&s->known[node]) == answer;
}

/* How often an answer is a flip, as seen by now; some at first. */
static double search_flips(const struct search *s)
{
    double flips = 2, votes = 10;
    for (size_t i = 0; i < s->dag->n; i++) {
        flips += ODB_MIN(s->known[i].good, s->known[i].bad);
        votes += s->known[i].good + s->known[i].bad;
    }
    return ODB_MIN(flips / votes, 0.4);
}

/* The odds that the answer with more votes is right. */
static double search_odds(const struct odb_known *k, double flips)
{
    double lead = k->good > k->bad ? k->good - k->bad : k->bad - k->good;
    return pow((1 - flips) / flips, lead);
}

/* Whether all votes are clear. */
static bool search_settled(const struct search *s, const struct odb_known *votes, size_t n)
{
    double flips = search_flips(s);
    for (size_t i = 0; i < n; i++)
        if (!votes[i].mute && search_odds(&votes[i], flips) < SEARCH_ODDS)
            return false;
    return true;
}

/* One load, whose answers are added to the votes. */
static enum odb_status search_load(struct search *s, const struct odb_cut *cut,
                                   struct odb_known *votes, struct odb_error *err)
{
    struct odb_evidence *evidence = odb_new_n(struct odb_evidence, cut->n);
    for (size_t i = 0; i < cut->n; i++)
        evidence[i] = (struct odb_evidence){ODB_ANSWER_UNTESTABLE, NAN};
    enum odb_status status = s->oracle->ask(s->oracle->payload, cut, evidence, err);
    if (status == ODB_OK) {
        s->result->loads++;
        s->result->repeats += search_was_asked(&votes[0]);
    }
    for (size_t i = 0; i < cut->n && status == ODB_OK; i++) {
        enum odb_answer answer = evidence[s->options->joint ? 0 : i].answer;
        votes[i].good += answer == ODB_ANSWER_GOOD;
        votes[i].bad += answer == ODB_ANSWER_BAD;
        votes[i].mute += answer == ODB_ANSWER_UNTESTABLE;
        votes[i].error = evidence[s->options->joint ? 0 : i].error;
    }
    free(evidence);
    return status;
}

/* What a cut came to: a node is not asked for again that was asked alone, or in a cut that told
 * something. A node that was not alone and could not be tested may be asked alone. */
static void search_close(struct search *s, const struct odb_cut *cut,
                         const struct odb_evidence *evidence)
{
    bool mute = cut->n > 1;
    s->together = s->together || (cut->n > 1 && evidence[0].answer == ODB_ANSWER_BAD);
    for (size_t i = 0; i < cut->n; i++)
        mute = mute && evidence[i].answer == ODB_ANSWER_UNTESTABLE;
    for (size_t i = 0; i < cut->n; i++)
        s->marks[cut->nodes[i]] |= mute                              ? CUT_APART
                                   : s->options->joint && cut->n > 1 ? 0
                                                                     : CUT_CLOSED;
}

/* Asks, as often as it takes: once, unless answers change. */
static enum odb_status search_ask(struct search *s, const struct odb_cut *cut,
                                  struct odb_evidence *evidence, struct odb_error *err)
{
    struct odb_known *votes = odb_new_n(struct odb_known, cut->n);
    bool keep = !s->options->joint || cut->n == 1;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < cut->n && keep; i++)
        votes[i] = s->known[cut->nodes[i]];
    for (int times = 0; times < SEARCH_VOTES && status == ODB_OK; times++) {
        if (s->flaky ? times && search_settled(s, votes, cut->n) : times)
            break;
        if (s->oracle->ahead && !s->oracle->at_hand(s->oracle->payload, cut))
            s->oracle->ahead(s->oracle->payload, cut);
        status = search_load(s, cut, votes, err);
    }
    for (size_t i = 0; i < cut->n && status == ODB_OK; i++) {
        evidence[i] = (struct odb_evidence){search_majority(&votes[i]), votes[i].error};
        if (keep)
            s->known[cut->nodes[i]] = votes[i];
    }
    if (status == ODB_OK)
        search_close(s, cut, evidence);
    free(votes);
    return status;
}

/* --- working ahead ---------------------------------------------------------------------------- */

/* What is known at some point of a search. */
struct search_state {
    bool *suspects;       /* owned */
    unsigned char *marks; /* owned */
    size_t used;
    int *nodes; /* owned: asked next */
    size_t n;   /* 0: none */
};

static void search_state_dispose(struct search_state *state)
{
    free(state->suspects);
    free(state->marks);
    free(state->nodes);
}

/* Loads that there may be, from one on. */
static size_t search_loads_left(const struct search *s, size_t used)
{
    return s->promised > used ? s->promised - used : 1;
}

static void search_state_choose(const struct search *s, struct search_state *state)
{
    state->n = cut_choose(&s->plan, state->suspects, state->marks,
                          search_loads_left(s, state->used), &state->nodes);
}

/* Where the search will stand once all of the cut, or only one node of it, has this answer and the
 * rest the other. */
static struct search_state search_after(const struct search *s, const struct search_state *state,
                                        enum odb_answer answer, size_t only)
{
    const struct odb_cut cut = {state->nodes, state->n};
    struct odb_evidence *evidence = odb_new_n(struct odb_evidence, cut.n);
    struct search_state next = {odb_new_n(bool, s->dag->n + 1),
                                odb_xmemdup(state->marks, s->dag->n * sizeof *state->marks),
                                state->used + 1, NULL, 0};
    for (size_t i = 0; i < cut.n; i++) {
        bool this = only == SIZE_MAX || i == only;
        evidence[i].answer = (answer == ODB_ANSWER_BAD) == this ? ODB_ANSWER_BAD : ODB_ANSWER_GOOD;
        next.marks[cut.nodes[i]] |= s->options->joint && cut.n > 1 ? 0 : CUT_CLOSED;
    }
    odb_search_narrow(s->dag, state->suspects, &cut, evidence, s->options->joint, next.suspects);
    free(evidence);
    search_state_choose(s, &next);
    return next;
}

/* Tells the oracle of the cut asked next, then of those asked after either answer, and so on: the
 * tree of what may come, level by level, as far as the oracle goes along. */
static void search_ahead(const struct search *s, const struct odb_cut *cut)
{
    const struct odb_oracle *oracle = s->oracle;
    struct search_state tree[SEARCH_AHEAD];
    size_t n = 1;
    if (!oracle->ahead || oracle->at_hand(oracle->payload, cut) ||
        !oracle->ahead(oracle->payload, cut))
        return;
    tree[0] = (struct search_state){odb_xmemdup(s->suspects, s->dag->n * sizeof *s->suspects),
                                    odb_xmemdup(s->marks, s->dag->n * sizeof *s->marks), s->used,
                                    odb_xmemdup(cut->nodes, cut->n * sizeof *cut->nodes), cut->n};
    bool more = true;
    for (size_t at = 0; at < n && more; at++) {
        size_t ways =
            tree[at].n == 0 ? 0 : 2 + (s->options->joint || tree[at].n == 1 ? 0 : tree[at].n);
        for (size_t way = 0; way < ways && n < SEARCH_AHEAD && more; way++) {
            tree[n] = search_after(s, &tree[at], way ? ODB_ANSWER_BAD : ODB_ANSWER_GOOD,
                                   way < 2 ? SIZE_MAX : way - 2);
            struct odb_cut next = {tree[n].nodes, tree[n].n};
            more = next.n == 0 || oracle->ahead(oracle->payload, &next);
            n++;
        }
    }
    while (n > 0)
        search_state_dispose(&tree[--n]);
}

/* --- bisection -------------------------------------------------------------------------------- */

/* Once no cut among the suspects tells more: nodes beside them that come after some of them. Good
 * ones clear those. */
static enum odb_status search_beside(struct search *s, struct odb_error *err)
{
    for (int times = 0; times < SEARCH_BESIDE && odb_count_marks(s->suspects, s->dag->n) > 1;
         times++) {
        int node = cut_choose_beside(&s->plan, s->suspects, s->marks);
        struct odb_cut cut = {&node, 1};
        struct odb_evidence evidence;
        if (node < 0 || s->options->joint)
            break;
        ODB_TRY(search_ask(s, &cut, &evidence, err));
        odb_search_narrow(s->dag, s->suspects, &cut, &evidence, false, s->suspects);
    }
    return ODB_OK;
}

/* Until one suspect is left, or no cut tells more. */
static enum odb_status search_bisect(struct search *s, struct odb_error *err)
{
    struct search_state next = {s->suspects, s->marks, s->used, NULL, 0};
    enum odb_status status = ODB_OK;
    while (status == ODB_OK) {
        search_state_choose(s, &next);
        if (next.n == 0)
            break;
        struct odb_cut cut = {next.nodes, next.n};
        struct odb_evidence *evidence = odb_new_n(struct odb_evidence, next.n);
        bool told = false;
        search_ahead(s, &cut);
        status = search_ask(s, &cut, evidence, err);
        for (size_t i = 0; i < next.n && status == ODB_OK; i++)
            told = told || evidence[i].answer != ODB_ANSWER_UNTESTABLE;
        next.used = s->used += told;
        if (status == ODB_OK)
            odb_search_narrow(s->dag, s->suspects, &cut, evidence, s->options->joint, s->suspects);
        free(evidence);
        free(next.nodes);
        next.nodes = NULL;
    }
    return status == ODB_OK ? search_beside(s, err) : status;
}

/* --- where evidence contradicts itself -------------------------------------------------------- */

/* All suspects again, but for what is known. */
static void search_rebuild(struct search *s)
{
    const struct odb_dag *dag = s->dag;
    bool *cleared = odb_new_n(bool, dag->n + 1), *marks = odb_new_n(bool, dag->n + 1);
    int *bad = odb_new_n(int, dag->n + 1);
    size_t n_bad = 0;
    for (size_t i = 0; i < dag->n; i++) { /* from the first on: what is bad before a good one */
        if (!search_is(s, (int)i, ODB_ANSWER_GOOD))
            continue;
        search_before(dag, (int)i, marks);
        bool masking = false;
        for (size_t j = 0; j < i; j++)
            masking = masking || (marks[j] && search_is(s, (int)j, ODB_ANSWER_BAD));
        s->masking[i] = s->masking[i] || masking;
        s->result->dips = s->result->dips || masking;
        for (size_t j = 0; j <= i; j++)
            cleared[j] = cleared[j] || (marks[j] && !s->masking[i]) || j == i;
    }
    for (size_t i = 0; i < dag->n; i++) {
        s->suspects[i] = s->all[i] && !cleared[i];
        if (s->suspects[i] && search_is(s, (int)i, ODB_ANSWER_BAD))
            bad[n_bad++] = (int)i;
    }
    search_keep_bad(dag, s->suspects, bad, n_bad);
    if (odb_count_marks(s->suspects, dag->n) == 0) /* what is known clears everybody */
        memcpy(s->suspects, s->all, dag->n * sizeof *s->suspects);
    free(bad);
    free(marks);
    free(cleared);
}

/* Everything from the start, with votes. */
static void search_restart(struct search *s)
{
    s->flaky = s->result->flaky = true;
    for (size_t i = 0; i < s->dag->n; i++) {
        s->masking[i] = false;
        s->suspects[i] = s->all[i];
        if (!search_is(s, (int)i, ODB_ANSWER_UNTESTABLE))
            s->marks[i] &= (unsigned char)~CUT_CLOSED;
    }
    s->result->dips = false;
}

/* Puts a question again that was answered once; flipped: the answer is another. */
static enum odb_status search_again(struct search *s, int node, bool *flipped,
                                    struct odb_error *err)
{
    const struct odb_known *k = &s->known[node];
    struct odb_evidence evidence;
    if (s->flaky || k->good + k->bad != 1)
        return ODB_OK;
    for (int times = 0; times < SEARCH_AGAIN && !*flipped; times++) {
        ODB_TRY(search_ask(s, &(struct odb_cut){&node, 1}, &evidence, err));
        *flipped = k->good && k->bad;
    }
    return ODB_OK;
}

/* A node is bad and was cleared: does the target only answer as it likes? Else those that were good
 * after it clear no node any more. */
static enum odb_status search_contradicted(struct search *s, int node, struct odb_error *err)
{
    bool flipped = false, *marks = odb_new_n(bool, s->dag->n + 1);
    enum odb_status status = search_again(s, node, &flipped, err);
    for (size_t i = (size_t)node + 1; i < s->dag->n && status == ODB_OK && !flipped; i++) {
        if (!search_is(s, (int)i, ODB_ANSWER_GOOD) || s->masking[i])
            continue;
        search_before(s->dag, (int)i, marks);
        if (marks[node])
            status = search_again(s, (int)i, &flipped, err);
    }
    if (flipped)
        search_restart(s);
    else
        search_rebuild(s);
    free(marks);
    return status;
}

/* Asks several nodes, which may stand before each other; bad: the first that is, -1: none. */
static enum odb_status search_ask_row(struct search *s, const int *nodes, size_t n, int *bad,
                                      struct odb_error *err)
{
    struct odb_evidence *evidence = odb_new_n(struct odb_evidence, n);
    enum odb_status status = search_ask(s, &(struct odb_cut){nodes, n}, evidence, err);
    bool mute = n > 1;
    *bad = -1;
    for (size_t i = 0; i < n && status == ODB_OK; i++)
        mute = mute && evidence[i].answer == ODB_ANSWER_UNTESTABLE;
    for (size_t i = 0; i < n && mute && status == ODB_OK; i++)
        status = search_ask(s, &(struct odb_cut){&nodes[i], 1}, &evidence[i], err);
    for (size_t i = n; i-- > 0 && status == ODB_OK;)
        *bad = evidence[i].answer == ODB_ANSWER_BAD ? nodes[i] : *bad;
    free(evidence);
    return status;
}

static int search_compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Asks the parents of the one suspect left that were not asked themselves. moved: one is bad, so
 * that there are other suspects now. */
static enum odb_status search_neighbours(struct search *s, int node, bool *moved,
                                         struct odb_error *err)
{
    size_t from = s->dag->start[node], end = s->dag->start[node + 1], n = 0;
    int *list = odb_new_n(int, end - from + 1), bad = -1;
    enum odb_status status = ODB_OK;
    for (size_t p = from; p < end; p++) {
        int parent = s->dag->parents[p];
        bool known = search_is(s, parent, ODB_ANSWER_GOOD) || search_is(s, parent, ODB_ANSWER_BAD);
        bool listed = false;
        for (size_t i = 0; i < n; i++)
            listed = listed || list[i] == parent;
        if (!known && !listed && !(s->marks[parent] & CUT_CLOSED))
            list[n++] = parent;
    }
    qsort(list, n, sizeof *list, search_compare);
    if (n)
        status = search_ask_row(s, list, n, &bad, err);
    if (status == ODB_OK && bad >= 0) {
        *moved = true;
        status = search_contradicted(s, bad, err);
    }
    free(list);
    return status;
}

/* --- the suspects that are left --------------------------------------------------------------- */

/* The one suspect, or -1. */
static int search_only(const struct search *s)
{
    int only = -1;
    for (size_t i = 0; i < s->dag->n; i++) {
        if (s->suspects[i] && only >= 0)
            return -1;
        only = s->suspects[i] ? (int)i : only;
    }
    return only;
}

/* It is left, but is what begins with it bad? */
static enum odb_status search_ask_last(struct search *s, int node, struct odb_error *err)
{
    if (!search_was_asked(&s->known[node])) {
        struct odb_evidence evidence;
        ODB_TRY(search_ask(s, &(struct odb_cut){&node, 1}, &evidence, err));
        s->result->acquitted = evidence.answer == ODB_ANSWER_GOOD;
    }
    s->result->confirmed = search_is(s, node, ODB_ANSWER_BAD);
    return ODB_OK;
}

/* The one suspect is right by itself: puts the questions again that left it alone. moved: all are
 * suspects again. */
static enum odb_status search_acquit(struct search *s, int node, bool *moved, struct odb_error *err)
{
    bool flipped = false;
    ODB_TRY(search_again(s, node, &flipped, err));
    for (size_t p = s->dag->start[node]; p < s->dag->start[node + 1] && !flipped; p++)
        ODB_TRY(search_again(s, s->dag->parents[p], &flipped, err));
    if (flipped)
        search_restart(s);
    *moved = flipped;
    s->result->acquitted = !flipped;
    return ODB_OK;
}

/* moved: there are other suspects now. */
static enum odb_status search_doubt(struct search *s, bool *moved, struct odb_error *err)
{
    enum odb_answer answer = ODB_ANSWER_UNTESTABLE;
    int node = search_only(s);
    if (node < 0)
        return ODB_OK;
    if (s->options->joint)
        return search_ask_last(s, node, err);
    ODB_TRY(search_neighbours(s, node, moved, err));
    if (*moved || !s->oracle->confirm)
        return ODB_OK;
    ODB_TRY(s->oracle->confirm(s->oracle->payload, node, &answer, err));
    s->result->confirmed = answer == ODB_ANSWER_BAD;
    return answer == ODB_ANSWER_GOOD ? search_acquit(s, node, moved, err) : ODB_OK;
}

/* That no answer is wrong that was counted on. */
static double search_confidence(const struct search *s)
{
    double all = 1, flips = search_flips(s);
    for (size_t i = 0; i < s->dag->n && s->flaky; i++)
        if (s->known[i].good || s->known[i].bad)
            all *= 1 - 1 / (1 + search_odds(&s->known[i], flips));
    return all;
}

enum odb_status odb_search(const struct odb_dag *dag, bool *suspects,
                           const struct odb_oracle *oracle,
                           const struct odb_search_options *options,
                           struct odb_search_result *result, struct odb_error *err)
{
    static const struct odb_search_options plain;
    struct search s = {.dag = dag,
                       .oracle = oracle,
                       .options = options ? options : &plain,
                       .result = result,
                       .suspects = suspects,
                       .all = odb_xmemdup(suspects, dag->n * sizeof *suspects),
                       .marks = odb_new_n(unsigned char, dag->n + 1),
                       .masking = odb_new_n(bool, dag->n + 1)};
    struct odb_known *own = odb_new_n(struct odb_known, dag->n + 1);
    bool moved = true;
    enum odb_status status = ODB_OK;
    *result = (struct odb_search_result){.confidence = 1};
    s.known = s.options->known ? s.options->known : own;
    memset(s.known, 0, dag->n * sizeof *s.known);
    s.flaky = s.options->flaky;
    cut_plan_init(&s.plan, dag, s.options);
    s.promised =
        odb_search_loads(odb_count_marks(suspects, dag->n)) + SEARCH_SLACK + s.options->spare;
    while (moved && status == ODB_OK) {
        moved = false;
        status = search_bisect(&s, err);
        if (status == ODB_OK)
            status = search_doubt(&s, &moved, err);
    }
    result->confidence = search_confidence(&s);
    cut_plan_dispose(&s.plan);
    free(own);
    free(s.masking);
    free(s.marks);
    free(s.all);
    return status;
}
