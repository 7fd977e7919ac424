/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which sizes a model runs with: the reference is run until a node refuses its operands. What
 * stands there (sizes of weights, and how far from them an operand is) says what to try next; of
 * several sizes that one is kept with which the run gets furthest.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inputs/choice_int.h"
#include "interpret/cpu.h"
#include "kernels/core/facts.h"
#include "model/read/load.h"

/* Work is counted, and not time: what is chosen must not depend on how busy the machine is. A unit
 * is what a kernel does with one element, about a nanosecond. */
#define TRIAL_WORK 2e9
#define TRIAL_WORK_RUN 2e5
#define TRIAL_WORK_NODE 5e3
#define TRIAL_WORK_FED 20 /* an element that is generated */
#define TRIAL_WORK_PRODUCT 0.25
#define TRIAL_ELEMENTS (1 << 22) /* of all inputs together */
#define TRIAL_SWEEP 1024
#define TRIAL_DIMS 24
#define TRIAL_FIT 16              /* more than fit */
#define TRIAL_INSIDE (1ull << 24) /* more than all nodes of the bodies of one node */
#define TRIAL_NEAR 24             /* how far a size that is reckoned may be off: a few strides */

/* Where a run ended. */
struct trial_end {
    int node;                 /* that refused; ODB_NO_NODE: none */
    enum odb_status status;   /* of it */
    int64_t dims[TRIAL_DIMS]; /* of its operands, in order */
    size_t n_dims;
    size_t fit;  /* sizes that two of its operands have in common, from the last on */
    bool unseen; /* a node of its bodies may be what refused, whose operands are not seen */
    struct choice_list seen; /* each of dims once, but for 1 */
};

struct trial {
    struct choice *choice;
    struct odb_cpu *cpu;        /* owned */
    struct odb_tensor **values; /* owned; [n_values]; of the run that goes on */
    double work;                /* of all runs so far */
    bool lenient;  /* what a kernel does not support is passed over, as is a node without one */
    size_t ran;    /* nodes, in this run */
    size_t inside; /* nodes of the bodies of the node that runs, in their first turn */
    struct trial_end end, best_end;
    uint64_t best; /* what the best run came to: nodes, those in bodies of the one where it ended,
                      and sizes that fit there */
    bool *matters; /* owned; [open.n] whether the node that refused depends on it */
    bool done;     /* all has run, and there is a result */
    char *why;     /* borrowed: what the reference said of the best */
    size_t why_size;
};

static bool trial_spent(const struct trial *t)
{
    return t->work > TRIAL_WORK;
}

/* Asked before each node, of a body as well. */
static bool trial_cancelled(void *payload)
{
    struct trial *t = payload;
    t->work += TRIAL_WORK_NODE;
    return trial_spent(t);
}

/* --- one run ---------------------------------------------------------------------------------- */

static const struct odb_tensor *trial_operand(const struct trial *t, const struct odb_node *node,
                                              int i)
{
    int value = i < node->n_in ? node->in[i] : ODB_NO_VALUE;
    const struct odb_tensor *v = value < 0          ? NULL
                                 : t->values[value] ? t->values[value]
                                                    : t->choice->model->graph->values[value].init;
    return v && v->kind == ODB_TENSOR ? v : NULL;
}

/* Whether the sizes of the node's operands are to be equal, axis by axis. */
static bool trial_aligns(const struct odb_node *node)
{
    static const char *const ops[] = {"Add",  "Sub",     "Mul",   "Div", "Pow", "Concat", "Equal",
                                      "Less", "Greater", "Where", "Min", "Max", "And",    "Or"};
    for (size_t i = 0; i < ODB_COUNT(ops); i++)
        if (!node->domain[0] && !strcmp(node->op_type, ops[i]))
            return true;
    return false;
}

/* Whether many operands have sizes in common, wherever they stand in each. */
static bool trial_shares(const struct odb_node *node)
{
    static const char *const ops[] = {"LSTM",
                                      "GRU",
                                      "RNN",
                                      "BatchNormalization",
                                      "Attention",
                                      "MultiHeadAttention",
                                      "GroupQueryAttention"};
    for (size_t i = 0; i < ODB_COUNT(ops); i++)
        if (!strcmp(node->op_type, ops[i]))
            return true;
    return false;
}

/* How many sizes have another that is equal. */
static size_t trial_shared(const struct trial_end *end)
{
    size_t shared = 0;
    for (size_t i = 0; i < end->n_dims; i++) {
        size_t equal = 0;
        for (size_t k = 0; k < end->n_dims; k++)
            equal += end->dims[k] == end->dims[i];
        shared += equal > 1 && end->dims[i] > 1;
    }
    return shared;
}

static void trial_see(struct trial *t, int index, enum odb_status status)
{
    const struct odb_node *node = &t->choice->model->graph->nodes[index];
    const struct odb_tensor *a = trial_operand(t, node, 0), *b = trial_operand(t, node, 1);
    t->end = (struct trial_end){.node = index, .status = status};
    t->end.unseen = status != ODB_UNSUPPORTED && !odb_cpu_op(t->cpu, index);
    for (int i = 0; i < node->n_in; i++) {
        const struct odb_tensor *v = trial_operand(t, node, i);
        for (int k = 0; v && k < v->rank; k++) {
            if (v->dims[k] > 1)
                choice_list_add(&t->end.seen, v->dims[k]);
            if (t->end.n_dims < TRIAL_DIMS)
                t->end.dims[t->end.n_dims++] = v->dims[k];
        }
    }
    for (int k = 1; trial_aligns(node) && a && b && k <= a->rank && k <= b->rank; k++)
        t->end.fit += a->dims[a->rank - k] == b->dims[b->rank - k];
    if (trial_shares(node))
        t->end.fit = trial_shared(&t->end);
}

static double trial_elements(const struct odb_tensor *v)
{
    return v && v->kind == ODB_TENSOR ? (double)v->count : 0;
}

/* Products that are summed. Of matrices of M x K and K x N, the root of the product of all three
 * sizes is M x K x N; for a Conv it is near enough. In attention each row meets all others. */
static double trial_products(const struct trial *t, const struct odb_node *node, double made)
{
    enum odb_work_kind kind = odb_facts_of(node->domain, node->op_type)->work.kind;
    const struct odb_tensor *a = trial_operand(t, node, 0), *b = trial_operand(t, node, 1);
    if (kind >= ODB_WORK_conv && kind <= ODB_WORK_einsum)
        return sqrt(trial_elements(a) * trial_elements(b) * made);
    if (kind >= ODB_WORK_attention && kind <= ODB_WORK_attention_grouped && a && a->rank > 1)
        return made * (double)a->dims[a->rank - 2];
    return 0;
}

static void trial_count(struct trial *t, const struct odb_node *node)
{
    double made = 0, read = 0;
    for (int i = 0; i < node->n_in; i++)
        read += trial_elements(trial_operand(t, node, i));
    for (int o = 0; o < node->n_out; o++)
        made += node->out[o] >= 0 ? trial_elements(t->values[node->out[o]]) : 0;
    t->work += read + made + TRIAL_WORK_PRODUCT * trial_products(t, node, made);
}

/* What a node in a body has made. More turns are no further than one. */
static enum odb_status trial_made(void *payload, const struct odb_cpu_place *place,
                                  const struct odb_node *node, struct odb_tensor **out,
                                  struct odb_error *err)
{
    struct trial *t = payload;
    bool first = true;
    (void)err;
    for (const struct odb_cpu_place *p = place; p; p = p->around)
        first = first && !p->turn;
    t->inside += first;
    for (int o = 0; o < node->n_out; o++)
        t->work += trial_elements(out[o]);
    return ODB_OK;
}

/* What the reference has no kernel for says nothing of sizes. */
static enum odb_status trial_after(void *payload, int node, enum odb_status status,
                                   struct odb_error *err)
{
    struct trial *t = payload;
    (void)err;
    trial_count(t, &t->choice->model->graph->nodes[node]);
    t->ran += status == ODB_OK;
    bool passes = status == ODB_OK || status == ODB_SKIPPED;
    if (passes ||
        (status == ODB_UNSUPPORTED && (t->lenient || *odb_cpu_unsupported(t->cpu, node)))) {
        t->inside = 0;
        return ODB_OK;
    }
    trial_see(t, node, status);
    return status;
}

static bool trial_has_result(const struct trial *t)
{
    const struct odb_graph *graph = t->choice->model->graph;
    bool empty = false;
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct odb_tensor *out = t->values[graph->outputs[i]];
        if (!out || out->kind != ODB_TENSOR || out->count)
            return true;
        empty = true;
    }
    return !empty;
}

static bool trial_small(const struct choice *choice, const int64_t *sizes)
{
    double all = 0;
    for (size_t i = 0; i < choice->n_known; i++) {
        const struct odb_input_known *input = &choice->known[i];
        double n = 1;
        for (int k = 0; k < input->rank; k++)
            n *= input->dims[k] < 0 ? 1 : (double)input->dims[k];
        for (size_t v = 0; v < choice->open.n; v++) {
            const struct choice_open *open = &choice->open.items[v];
            for (int k = 0; k < input->rank && open->kind != CHOICE_NUMBER; k++) {
                const char *param =
                    k < input->value->type.rank ? input->value->type.dims[k].param : NULL;
                bool own = open->param ? param && !strcmp(param, open->param)
                                       : open->input == (int)i && open->axis == k;
                n *= own && input->dims[k] < 0 ? (double)sizes[v] : 1;
            }
        }
        all += n;
    }
    return all <= TRIAL_ELEMENTS;
}

static enum odb_status trial_feed(struct trial *t, const int64_t *sizes, struct odb_error *err)
{
    const struct odb_input_options *given = t->choice->options;
    struct odb_input_options options = *given;
    struct odb_feeds *feeds;
    struct odb_input_words dims = {0}, inputs = {0};
    for (size_t i = 0; i < given->n_dims; i++)
        odb_push(&dims, odb_xstrdup(given->dims[i]));
    for (size_t i = 0; i < given->n_inputs; i++)
        odb_push(&inputs, odb_xstrdup(given->inputs[i]));
    choice_put(t->choice, sizes, &dims, &inputs);
    options.dims = (const char *const *)dims.items;
    options.n_dims = dims.n;
    options.inputs = (const char *const *)inputs.items;
    options.n_inputs = inputs.n;
    enum odb_status status = odb_feeds_make(&feeds, t->choice->model, &options, err);
    for (size_t i = 0; status == ODB_OK && i < feeds->n; i++) {
        t->values[feeds->items[i].value] = odb_tensor_ref(feeds->items[i].tensor);
        t->work += TRIAL_WORK_FED * trial_elements(feeds->items[i].tensor);
    }
    if (status == ODB_OK)
        odb_feeds_free(feeds);
    choice_words_dispose(&dims);
    choice_words_dispose(&inputs);
    return status;
}

static void trial_clear(struct trial *t)
{
    for (size_t v = 0; v < t->choice->model->graph->n_values; v++) {
        odb_tensor_unref(t->values[v]);
        t->values[v] = NULL;
    }
}

/* Marks what the node that refused depends on. */
static void trial_mark(struct trial *t)
{
    const struct odb_graph *graph = t->choice->model->graph;
    bool *reached = odb_new_n(bool, graph->n_values + 1);
    for (int n = t->best_end.node; n >= 0; n--) {
        const struct odb_node *node = &graph->nodes[n];
        bool counts = n == t->best_end.node;
        for (int o = 0; o < node->n_out; o++)
            counts |= node->out[o] >= 0 && reached[node->out[o]];
        for (int i = 0; counts && i < node->n_in; i++)
            if (node->in[i] >= 0)
                reached[node->in[i]] = true;
        for (size_t i = 0; counts && i < node->n_captured; i++)
            reached[node->captured[i]] = true;
    }
    for (size_t v = 0; v < t->choice->open.n; v++) {
        const struct choice_open *open = &t->choice->open.items[v];
        bool all = t->best_end.node < 0 || open->param;
        t->matters[v] = !open->sum && (all || reached[t->choice->known[open->input].value->index]);
    }
    free(reached);
}

/* Runs with these sizes, and takes them where that got further than ever. Whether it did. */
static bool trial_run(struct trial *t, int64_t *sizes)
{
    struct choice *c = t->choice;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_cpu_watch watch = {.payload = t, .made = trial_made};
    struct odb_cpu_run run = {.values = t->values,
                              .free_dead = true,
                              .after = trial_after,
                              .payload = t,
                              .cancelled = trial_cancelled,
                              .watch = &watch};
    for (size_t v = 0; v < c->open.n; v++)
        if (c->open.items[v].sum)
            choice_size_sum(c->open.items[v].param, c->open.items, c->open.n, sizes, &sizes[v]);
    if (!trial_small(c, sizes))
        return false;
    t->ran = t->inside = 0;
    t->work += TRIAL_WORK_RUN;
    t->end = (struct trial_end){.node = ODB_NO_NODE};
    enum odb_status status = trial_feed(t, sizes, &err);
    if (status == ODB_OK)
        status = odb_cpu_execute(t->cpu, &run, &err);
    bool through = status == ODB_OK;
    bool result = through && trial_has_result(t);
    uint64_t nodes = (t->ran + through) * TRIAL_INSIDE + ODB_MIN(t->inside, TRIAL_INSIDE - 1);
    uint64_t reached =
        1 + nodes * TRIAL_FIT + (through ? result : ODB_MIN(t->end.fit, TRIAL_FIT - 2u));
    trial_clear(t);
    if (reached <= t->best)
        return false;
    t->done = result || status == ODB_CANCELLED; /* nothing speaks against it */
    t->best = reached;
    t->best_end = t->end;
    memcpy(c->sizes, sizes, c->open.n * sizeof *sizes);
    if (through || status == ODB_CANCELLED)
        *t->why = '\0';
    else
        odb_error_text(&err, t->why, t->why_size);
    trial_mark(t);
    return true;
}

/* --- what to try next ------------------------------------------------------------------------- */

/* What grows with a square is not tried as large as what does not. */
static int64_t trial_most(enum choice_kind kind)
{
    return kind == CHOICE_EXTENT ? TRIAL_SWEEP : CHOICE_MOST;
}

/* What would turn one size of an operand of the node that refused into another, and those sizes. */
static void trial_learn(const struct trial *t, int64_t now, int64_t most, struct choice_list *out)
{
    const struct choice_list *seen = &t->best_end.seen;
    for (size_t i = 0; i < seen->n && i < 8; i++)
        for (size_t k = 0; k < seen->n && k < 8; k++) {
            double ratio = (double)seen->items[i] / (double)seen->items[k];
            double grown[] = {(double)now * ratio, (double)now * sqrt(ratio)};
            for (size_t g = 0; g < ODB_COUNT(grown) && i != k; g++)
                if (grown[g] >= 2 && grown[g] == floor(grown[g]) && grown[g] <= (double)most)
                    choice_list_add(out, (int64_t)grown[g]);
        }
    for (size_t i = 0; i < seen->n; i++)
        if (seen->items[i] <= most)
            choice_list_add(out, seen->items[i]);
}

static void trial_of_others(const struct choice *c, size_t v, struct choice_list *out)
{
    for (size_t i = 0; i < c->open.n; i++) {
        const struct choice_open *open = &c->open.items[i];
        if (i == v || open->kind == CHOICE_NUMBER || open->kind == CHOICE_BATCH)
            continue;
        if (open->kind != CHOICE_PAST && c->sizes[i] > 1)
            choice_list_add(out, c->sizes[i]);
        for (size_t k = 0; k < i; k++)
            if (k != v && (open->kind == CHOICE_PAST) != (c->open.items[k].kind == CHOICE_PAST) &&
                c->open.items[k].kind != CHOICE_NUMBER)
                choice_list_add(out, c->sizes[i] + c->sizes[k]);
    }
}

/* All of one kind get one size, or, with only, one of them does. Whether that got further. */
static bool trial_set(struct trial *t, enum choice_kind kind, size_t only, int64_t n)
{
    struct choice *c = t->choice;
    int64_t *sizes = odb_xmemdup(c->sizes, c->open.n * sizeof *c->sizes);
    bool changes = false;
    for (size_t v = 0; v < c->open.n; v++)
        if (only < c->open.n ? v == only : t->matters[v] && c->open.items[v].kind == kind) {
            changes |= sizes[v] != n;
            sizes[v] = n;
        }
    bool better = changes && trial_run(t, sizes);
    free(sizes);
    return better;
}

#define TRIAL_NUMBERS (1u << CHOICE_NUMBER)
#define TRIAL_BATCHES (1u << CHOICE_BATCH)

/* Those of some kinds, one after the other. */
static bool trial_each(struct trial *t, unsigned kinds)
{
    struct choice *c = t->choice;
    for (size_t v = 0; v < c->open.n; v++) {
        struct choice_list list = {.n = 0};
        enum choice_kind kind = c->open.items[v].kind;
        if (!t->matters[v] || !(kinds >> kind & 1))
            continue;
        if (kind != CHOICE_NUMBER) {
            trial_of_others(c, v, &list);
            trial_learn(t, c->sizes[v], trial_most(kind), &list);
        }
        choice_size_list(&list, kind);
        if (kind == CHOICE_NUMBER) {
            trial_of_others(c, v, &list);
            trial_learn(t, 1, CHOICE_MOST, &list);
        }
        for (size_t i = 0; i < list.n && !trial_spent(t); i++)
            if (trial_set(t, kind, v, list.items[i]))
                return true;
    }
    return false;
}

static bool trial_together(struct trial *t)
{
    struct choice *c = t->choice;
    for (int kind = CHOICE_BATCH + 1; kind < CHOICE_KINDS; kind++) {
        struct choice_list list = {.n = 0};
        size_t count = 0;
        for (size_t v = 0; v < c->open.n; v++)
            if (t->matters[v] && c->open.items[v].kind == (enum choice_kind)kind) {
                if (!count++)
                    trial_learn(t, c->sizes[v], trial_most(kind), &list);
            }
        choice_size_list(&list, kind);
        for (size_t i = 0; count > 1 && i < list.n && !trial_spent(t); i++)
            if (list.items[i] != 1 && trial_set(t, kind, c->open.n, list.items[i]))
                return true;
    }
    return false;
}

/* Sizes near one that is reckoned, the nearest first. */
static bool trial_near(struct trial *t, enum choice_kind kind, size_t only, double about)
{
    int64_t at = about >= 1 && about <= (double)trial_most(kind) ? (int64_t)(about + 0.5) : 0;
    for (int64_t d = 0; at && d <= TRIAL_NEAR && !trial_spent(t); d++)
        if (trial_set(t, kind, only, at + d) ||
            (d && at - d > 0 && trial_set(t, kind, only, at - d)))
            return true;
    return false;
}

/* Doubles a size: how the operands grow with it says where one becomes as large as another. */
static bool trial_reckon(struct trial *t, enum choice_kind kind, size_t only, int64_t now)
{
    if (trial_set(t, kind, only, 2 * now))
        return true;
    const struct trial_end was = t->best_end, grown = t->end;
    if (grown.node != was.node || grown.n_dims != was.n_dims)
        return false;
    for (size_t i = 0; i < was.n_dims; i++)
        for (size_t k = 0; k < was.n_dims; k++) {
            double a = (double)was.dims[i], b = (double)grown.dims[i], to = (double)was.dims[k];
            if (a == b || was.dims[k] != grown.dims[k] || to == 1)
                continue;
            double straight = (to - a) / (b - a),
                   square = (sqrt(to) - sqrt(a)) / (sqrt(b) - sqrt(a));
            if (trial_near(t, kind, only, (double)now * (1 + straight)) ||
                trial_near(t, kind, only, (double)now * (1 + square)))
                return true;
        }
    return false;
}

static bool trial_reckon_all(struct trial *t)
{
    struct choice *c = t->choice;
    for (size_t v = 0; v < c->open.n && !trial_spent(t); v++) {
        enum choice_kind kind = c->open.items[v].kind;
        if (!t->matters[v] || kind == CHOICE_NUMBER || kind == CHOICE_BATCH)
            continue;
        if (trial_reckon(t, kind, c->open.n, c->sizes[v]) || trial_reckon(t, kind, v, c->sizes[v]))
            return true;
    }
    return false;
}

/* Where the operands of what refused are not seen, two sizes at once, for half of the work that is
 * left. */
static bool trial_pairs(struct trial *t)
{
    struct choice *c = t->choice;
    bool better = false;
    double most = t->work + (TRIAL_WORK - t->work) / 2;
    if (!t->best_end.unseen)
        return false;
    int64_t *sizes = odb_xmemdup(c->sizes, c->open.n * sizeof *c->sizes);
    for (size_t v = 0; v < c->open.n; v++)
        for (size_t w = 0; w < v; w++) {
            struct choice_list one = {.n = 0}, other = {.n = 0};
            if (!t->matters[v] || !t->matters[w] || c->open.items[v].kind == CHOICE_NUMBER ||
                c->open.items[w].kind == CHOICE_NUMBER)
                continue;
            choice_size_list(&one, c->open.items[v].kind);
            choice_size_list(&other, c->open.items[w].kind);
            for (size_t i = 0; i < one.n * other.n && !better && t->work < most; i++) {
                sizes[v] = one.items[i / other.n];
                sizes[w] = other.items[i % other.n];
                better = sizes[v] != c->sizes[v] && sizes[w] != c->sizes[w] && trial_run(t, sizes);
            }
            memcpy(sizes, c->sizes, c->open.n * sizeof *sizes);
        }
    free(sizes);
    return better;
}

/* Every size, as long as work is left. */
static bool trial_sweep(struct trial *t)
{
    for (int64_t n = 2; n <= TRIAL_SWEEP + 1 && !trial_spent(t); n++)
        for (int kind = CHOICE_CHANNELS; kind < CHOICE_KINDS; kind++)
            if (trial_set(t, kind, t->choice->open.n, n > TRIAL_SWEEP ? 1 : n))
                return true;
    return false;
}

static void trial_search(struct trial *t)
{
    int64_t *first = odb_xmemdup(t->choice->sizes, t->choice->open.n * sizeof *first);
    trial_run(t, first);
    free(first);
    while (!t->done && !trial_spent(t)) {
        bool through = !*t->why && t->best; /* all that is wrong is that nothing comes out */
        if (!trial_each(t, TRIAL_NUMBERS) && !trial_together(t) &&
            !trial_each(t, ~(TRIAL_NUMBERS | TRIAL_BATCHES)) && /* most models take any batch */
            !trial_reckon_all(t) && !trial_each(t, TRIAL_BATCHES) && !trial_pairs(t) &&
            (through || !trial_sweep(t)))
            return;
    }
}

enum odb_status choice_try(struct choice *choice, bool lenient, char *why, size_t size)
{
    struct trial t = {.choice = choice,
                      .lenient = lenient,
                      .best_end = {.node = ODB_NO_NODE},
                      .why = why,
                      .why_size = size};
    struct odb_error err = ODB_ERROR_INIT;
    *why = '\0';
    if (odb_model_require_data(choice->model, &err) != ODB_OK ||
        odb_cpu_new(&t.cpu, choice->model, &err) != ODB_OK)
        return ODB_OK; /* the run itself says so */
    t.values = odb_new_n(struct odb_tensor *, choice->model->graph->n_values + 1);
    t.matters = odb_new_n(bool, choice->open.n + 1);
    for (size_t v = 0; v < choice->open.n; v++)
        t.matters[v] = !choice->open.items[v].sum;
    trial_search(&t);
    free(t.values);
    free(t.matters);
    odb_cpu_free(t.cpu);
    return *why ? t.best_end.status : ODB_OK;
}
