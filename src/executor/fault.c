/* SPDX-License-Identifier: MIT
 *
 * fault:KIND,node=…@SPEC is a target with a known bug: it runs models on SPEC and spoils one value
 * on the way. Adding an operator to the model would not do, because the inner executor would fuse
 * or fold it; so the model is cut behind the node. Upstream is what the node needs, downstream is
 * the rest; both run on SPEC, and between them the value is changed.
 *
 * Some faults act only sometimes, as real ones do: `hidden` vanishes when the value is
 * looked at, `fused=K` when the nodes that follow are not all there, `whole` when any node is not;
 * `every=N`, `after=N`, `until=N` and `rate=P` act in some runs of what is loaded and not in
 * others. When a fault does not act, the model goes to SPEC as it is.
 *
 * A node inside a body has no border that a model could be cut at. There the fault is planted while
 * the CPU reference runs, which lets itself be watched; so SPEC must be that.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "executor/cpu_executor.h"
#include "model/write/body_model.h"
#include "tensor/random.h"
#include "model/read/load.h"
#include "model/write/write.h"

/* The value being spoiled, as doubles. */
struct fault_work {
    double *x; /* borrowed */
    size_t n;
    const struct odb_tensor *shape; /* borrowed */
    double amount;
    size_t count; /* 0: not given */
    uint64_t seed;
    double rms, max; /* over the finite elements */
};

struct fault_kind {
    const char *name;
    double amount;                          /* default */
    bool neutral;                           /* amount=0 changes nothing, and may be asked for */
    void (*spoil)(struct fault_work *work); /* NULL: act() ends it all before anything runs */
    void (*act)(void);
    void (*steer)(int64_t *v, double amount); /* what an If or a Loop goes by; else NULL */
    bool takes;                               /* the numbers of from= stand in its place */
    bool exchanges;                           /* two outputs change places */
    bool whole_numbers;                       /* it spoils integers, and floats not */
    bool refuses;                             /* no model with the node is loaded */
    bool crowded;                             /* none with the node and more others than count= */
};

/* How large a dimension of the spoiled value has to be. */
struct fault_size {
    bool given;
    long axis; /* negative ones count from the end */
    long lo, hi;
};

struct fault {
    const struct fault_kind *kind;
    char *node; /* owned: NAME or #INDEX */
    double amount;
    size_t count, fused;
    size_t every;        /* acts in every so manieth run of what is loaded */
    size_t after, until; /* and behind, and not behind, so many; until 0: ever after */
    double rate;         /* and in so many of those, at random */
    size_t runs;         /* of what is loaded */
    uint64_t all_runs;   /* of whatever was loaded */
    char *from;          /* owned: the value whose numbers it takes; NULL: none */
    uint64_t seed;
    bool hidden, seen, whole;
    int64_t turn;                   /* iteration=, or ODB_ANY_TURN */
    struct fault_size sizes[2];     /* dim=, and= */
    double row;                     /* row=; -1: all */
    char *inner;                    /* owned: spec */
    bool fixed;                     /* the target is for models with fixed dimensions */
    struct odb_executor *up, *down; /* owned; down is NULL where nothing is spoiled */
    struct fault_cut *cut;          /* owned; NULL: up runs the whole model */
    bool acts;
    bool inside; /* acts by watching the CPU; this and what follows: */
    struct odb_cpu_watch watch;
    struct odb_body_path path;    /* to the graph that the node is in */
    int inside_node, inside_slot; /* slot: which output, -1: the first that can hold the fault */
    bool body;                    /* the loaded model is a body of the debugged one */
};

/* A loaded model in two pieces. */
struct fault_cut {
    struct odb_model *model; /* owned */
    char *dir;               /* owned; this and the next two: for loading downstream */
    int *original;           /* owned; [n_nodes] index in the debugged model, by node */
    char **original_outputs; /* owned, with the strings */
    size_t n_original_outputs;
    bool account;                /* as the load said */
    int node;                    /* in the loaded model */
    const char *text;            /* borrowed: that names it there; NULL: it is elsewhere */
    int value;                   /* named in the spec, else ODB_NO_VALUE */
    int from;                    /* whose numbers are taken; or ODB_NO_VALUE */
    bool fixed;                  /* pieces have fixed dimensions */
    bool *upstream, *downstream; /* owned; [n_nodes] */
    int *between;                /* owned: values that upstream has to give */
    size_t n_between;
    int *up_in, *down_in; /* owned: values that the pieces read */
    size_t n_up_in, n_down_in;
    struct odb_tensor **down_types; /* owned: what downstream was loaded for; NULL: not yet */
};

/* --- kinds ----------------------------------------------------------------------------------- */

static void fault_scale(struct fault_work *w)
{
    for (size_t i = 0; i < w->n; i++)
        w->x[i] *= 1 + w->amount;
}

static void fault_offset(struct fault_work *w)
{
    for (size_t i = 0; i < w->n; i++)
        w->x[i] += w->amount * w->rms;
}

/* Uniform in (0, 1), a function of the seed and i. */
static double fault_random(const struct fault_work *w, uint64_t i)
{
    return ((double)(odb_mix64(odb_mix64(w->seed) + i) >> 11) + 0.5) * 0x1p-53;
}

static void fault_noise(struct fault_work *w)
{
    for (size_t i = 0; i < w->n; i++) {
        double radius = sqrt(-2 * log(fault_random(w, 2 * i)));
        w->x[i] += w->amount * w->rms * radius * cos(2 * M_PI * fault_random(w, 2 * i + 1));
    }
}

/* The k-th of count elements spread evenly over the tensor. */
static size_t fault_place(const struct fault_work *w, size_t k, size_t count)
{
    return (size_t)(((double)k + 0.5) * (double)w->n / (double)count);
}

static void fault_exchange(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

/* The halves of every row, or, with count, that many elements in pairs. */
static void fault_swap(struct fault_work *w)
{
    if (w->count) {
        for (size_t k = 0; k + 1 < w->count; k += 2)
            fault_exchange(&w->x[fault_place(w, k, w->count)],
                           &w->x[fault_place(w, k + 1, w->count)]);
        return;
    }
    size_t row = w->shape->rank ? (size_t)w->shape->dims[w->shape->rank - 1] : 1;
    for (size_t at = 0; at + row <= w->n; at += row)
        for (size_t i = 0; i < row / 2; i++)
            fault_exchange(&w->x[at + i], &w->x[at + (row + 1) / 2 + i]);
}

static void fault_put(struct fault_work *w, double v)
{
    size_t count = w->count ? w->count : 1;
    for (size_t k = 0; k < count; k++)
        w->x[fault_place(w, k, count)] = v;
}

static void fault_nan(struct fault_work *w)
{
    fault_put(w, NAN);
}

static void fault_inf(struct fault_work *w)
{
    fault_put(w, INFINITY);
}

/* Of integers. */
static void fault_step(struct fault_work *w)
{
    size_t count = w->count ? w->count : 1;
    for (size_t k = 0; k < count; k++)
        w->x[fault_place(w, k, count)] += w->amount;
}

static void fault_saturate(struct fault_work *w)
{
    double limit = w->amount * w->max;
    for (size_t i = 0; i < w->n; i++)
        w->x[i] = w->x[i] > limit ? limit : w->x[i] < -limit ? -limit : w->x[i];
}

/* Channel 0 of axis 1, of the last axis where there is no axis 1. */
static void fault_zero_channel(struct fault_work *w)
{
    int axis = w->shape->rank > 1 ? 1 : w->shape->rank - 1;
    size_t inner = 1, channels = axis >= 0 ? (size_t)w->shape->dims[axis] : 1;
    for (int i = axis + 1; i < w->shape->rank; i++)
        inner *= (size_t)w->shape->dims[i];
    for (size_t i = 0; i < w->n; i++)
        if (i / inner % channels == 0)
            w->x[i] = 0;
}

static void fault_round_bf16(struct fault_work *w)
{
    odb_round_f64(ODB_BF16, w->x, w->n);
}

/* As the signal itself would end it, whatever handlers there are. */
static void fault_crash(void)
{
    fputs("fault: crashing on purpose\n", stderr);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void fault_hang(void)
{
    fputs("fault: hanging on purpose\n", stderr);
    for (;;)
        pause();
}

static void fault_other_branch(int64_t *v, double amount)
{
    (void)amount;
    *v = !*v;
}

static void fault_other_trips(int64_t *v, double amount)
{
    *v += (int64_t)amount;
}

/* Name, amount without amount=, and what else is not as in struct fault_kind's zero. */
#define FAULT_KINDS(X)                                                                             \
    X("scale", 1e-2, .neutral = true, .spoil = fault_scale)                                        \
    X("offset", 1e-2, .neutral = true, .spoil = fault_offset)                                      \
    X("noise", 1e-2, .neutral = true, .spoil = fault_noise)                                        \
    X("swap", 0, .spoil = fault_swap)                                                              \
    X("nan", 0, .spoil = fault_nan)                                                                \
    X("inf", 0, .spoil = fault_inf)                                                                \
    X("step", 1, .neutral = true, .spoil = fault_step, .whole_numbers = true)                      \
    X("saturate", 0.5, .spoil = fault_saturate)                                                    \
    X("zero-channel", 0, .spoil = fault_zero_channel)                                              \
    X("round-bf16", 0, .spoil = fault_round_bf16)                                                  \
    X("crash", 0, .act = fault_crash)                                                              \
    X("hang", 0, .act = fault_hang)                                                                \
    X("refuse", 0, .refuses = true)                                                                \
    X("memory", 0, .crowded = true)                                                                \
    X("branch", 0, .steer = fault_other_branch)                                                    \
    X("trips", -1, .steer = fault_other_trips)                                                     \
    X("overwrite", 0, .takes = true)                                                               \
    X("exchange", 0, .exchanges = true)

static const struct fault_kind fault_kinds[] = {
#define FAULT_KIND(word, preset, ...) {.name = word, .amount = preset, __VA_ARGS__},
    FAULT_KINDS(FAULT_KIND)
#undef FAULT_KIND
};

/* --- options --------------------------------------------------------------------------------- */

static const struct odb_executor_option fault_rows[] = {
#define FAULT_CHOICE(name, ...) "|" name
    {":", FAULT_KINDS(FAULT_CHOICE) + 1, NULL, "what goes wrong", true},
#undef FAULT_CHOICE
    {"node", "NAME|#INDEX|PATH", NULL, "where the fault is", true},
    {"iteration", "K", NULL, "only in that turn of the innermost loop around the node", false},
    {"amount", "X", NULL,
     "how much; 0.01 for scale, offset and noise, 1 for step, 0.5 for saturate, -1 for trips",
     false},
    {"count", "N", NULL,
     "how many elements are spoiled; all, or one for nan, inf and step. refuse: only models of "
     "more outputs; memory: only models of more nodes",
     false},
    {"hidden", NULL, NULL, "only as long as no values in between are read", false},
    {"seen", NULL, NULL, "only when values in between are read", false},
    {"fused", "K", NULL, "only where the K nodes that follow are loaded with it", false},
    {"whole", NULL, NULL, "only where the whole model is loaded", false},
    {"dim", "AXIS:N|AXIS:LO-HI", NULL,
     "only where a dimension of the spoiled value is so large; -1 is the last", false},
    {"and", "AXIS:N|AXIS:LO-HI", NULL, "and where another one is so as well", false},
    {"row", "R", NULL, "only that place of the spoiled value's first dimension", false},
    {"from", "NAME", NULL,
     "overwrite: the value whose numbers stand there instead; exchange: the output that changes "
     "places with it",
     false},
    {"every", "N", "1", "only in every Nth run of what is loaded", false},
    {"after", "N", "0", "not in the first N runs of what is loaded", false},
    {"until", "N", NULL, "only in the first N runs of what is loaded", false},
    {"rate", "P", "1", "only in that part of the runs, at random by the seed", false},
    {"seed", "N", "42", "which elements, and which noise", false},
    {"@", "SPEC", NULL, "what runs the model", true},
    {NULL, NULL, NULL, NULL, false},
};

/* The model runs in two pieces, and a value changes between them. */
static bool fault_cuts(const struct fault *fault)
{
    return fault->kind->spoil || fault->kind->takes;
}

/* AXIS:N or AXIS:LO-HI. */
static enum odb_status fault_size(const struct odb_spec *spec, const char *option,
                                  struct fault_size *size, struct odb_error *err)
{
    const char *text = odb_spec_option(spec, option);
    int one = 0, two = 0;
    if (!text)
        return ODB_OK;
    size->given = true;
    int n = sscanf(text, "%ld:%ld%n-%ld%n", &size->axis, &size->lo, &one, &size->hi, &two);
    if (n == 2)
        size->hi = size->lo;
    if (n >= 2 && !text[n == 2 ? one : two] && size->lo >= 0 && size->lo <= size->hi)
        return ODB_OK;
    return odb_fail(err, ODB_E_USAGE, "%s=%s is neither AXIS:N nor AXIS:LO-HI", option, text);
}

static enum odb_status fault_options(struct fault *fault, const struct odb_spec *spec,
                                     struct odb_error *err)
{
    double count = 0, fused = 0, every = 1, after = 0, until = 0, seed = 42;
    double turn = (double)ODB_ANY_TURN;
    const char *from = odb_spec_option(spec, "from");
    ODB_TRY(odb_spec_check(spec, fault_rows, err));
    for (size_t i = 0; i < ODB_COUNT(fault_kinds); i++)
        if (!strcmp(fault_kinds[i].name, spec->arg))
            fault->kind = &fault_kinds[i];
    const char *node = odb_spec_option(spec, "node");
    if (!node[0])
        return odb_fail(err, ODB_E_USAGE, "node= names no node");
    fault->amount = fault->kind->amount;
    fault->rate = 1;
    ODB_TRY(odb_spec_number(spec, "amount", &fault->amount, err));
    ODB_TRY(odb_spec_whole(spec, "count", 1, 0x1p53, &count, err));
    ODB_TRY(odb_spec_whole(spec, "fused", 1, 0x1p53, &fused, err));
    ODB_TRY(odb_spec_whole(spec, "every", 1, 0x1p53, &every, err));
    ODB_TRY(odb_spec_whole(spec, "after", 0, 0x1p53, &after, err));
    ODB_TRY(odb_spec_whole(spec, "until", 1, 0x1p53, &until, err));
    ODB_TRY(odb_spec_number(spec, "rate", &fault->rate, err));
    bool takes = fault->kind->takes || fault->kind->exchanges;
    if (takes != (from && from[0]))
        return odb_fail(err, ODB_E_USAGE, "%s",
                        takes ? "from= names no value"
                              : "from= goes with overwrite and exchange alone");
    ODB_TRY(odb_spec_whole(spec, "seed", 0, 0x1p53, &seed, err));
    ODB_TRY(odb_spec_whole(spec, "iteration", 0, 0x1p53, &turn, err));
    fault->row = -1;
    ODB_TRY(odb_spec_whole(spec, "row", 0, 0x1p53, &fault->row, err));
    ODB_TRY(fault_size(spec, "dim", &fault->sizes[0], err));
    ODB_TRY(fault_size(spec, "and", &fault->sizes[1], err));
    if (!fault->kind->spoil && (fault->sizes[0].given || fault->sizes[1].given || fault->row >= 0))
        return odb_fail(err, ODB_E_USAGE, "dim=, and= and row= go with kinds that spoil numbers");
    fault->turn = (int64_t)turn;
    fault->node = odb_xstrdup(node);
    fault->inner = odb_xstrdup(spec->inner);
    fault->count = (size_t)count;
    fault->fused = (size_t)fused;
    fault->every = (size_t)every;
    fault->after = (size_t)after;
    fault->until = (size_t)until;
    fault->from = from ? odb_xstrdup(from) : NULL;
    fault->whole = odb_spec_option(spec, "whole") != NULL;
    fault->seed = (uint64_t)seed;
    fault->hidden = odb_spec_option(spec, "hidden") != NULL;
    fault->seen = odb_spec_option(spec, "seen") != NULL;
    return ODB_OK;
}

/* --- life ------------------------------------------------------------------------------------ */

static void fault_forget_types(struct fault_cut *cut)
{
    for (size_t i = 0; cut->down_types && i < cut->n_down_in; i++)
        odb_tensor_unref(cut->down_types[i]);
    free(cut->down_types);
    cut->down_types = NULL;
}

static void fault_cut_free(struct fault_cut *cut)
{
    if (!cut)
        return;
    fault_forget_types(cut);
    for (size_t i = 0; i < cut->n_original_outputs; i++)
        free(cut->original_outputs[i]);
    free(cut->original_outputs);
    free(cut->original);
    free(cut->dir);
    free(cut->upstream);
    free(cut->downstream);
    free(cut->between);
    free(cut->up_in);
    free(cut->down_in);
    odb_model_free(cut->model);
    free(cut);
}

static void fault_release(void *self)
{
    struct fault *fault = self;
    fault_cut_free(fault->cut);
    odb_executor_close(fault->up);
    odb_executor_close(fault->down);
    free(fault->node);
    free(fault->from);
    free(fault->inner);
    free(fault);
}

/* What the spec says. The caller's, whatever the status. */
static enum odb_status fault_read(struct fault **out, const struct odb_spec *spec,
                                  struct odb_error *err)
{
    struct fault *fault = *out = odb_new(struct fault);
    enum odb_status status = fault_options(fault, spec, err);
    if (status != ODB_OK && err && !err->where[0])
        odb_error_at(err, "%s", spec->text);
    return status;
}

static enum odb_status fault_look(const struct odb_spec *spec, struct odb_error *err)
{
    struct fault *fault;
    enum odb_status status = fault_read(&fault, spec, err);
    fault_release(fault);
    return status;
}

static enum odb_status fault_init(void **self, const struct odb_spec *spec, struct odb_error *err)
{
    struct fault *fault;
    enum odb_status status = fault_read(&fault, spec, err);
    fault->fixed = odb_executor_fixed(spec->text);
    if (status == ODB_OK)
        status = odb_executor_open(&fault->up, fault->inner, err);
    if (status == ODB_OK && fault->up->ops->recorded) {
        odb_fail(err, ODB_E_USAGE, "a recording runs nothing, so no fault can be planted in it");
        status = odb_error_at(err, "%s", spec->text);
    }
    if (status == ODB_OK && fault_cuts(fault)) /* now, because later we are in another directory */
        status = odb_executor_open(&fault->down, fault->inner, err);
    if (status != ODB_OK) {
        fault_release(fault);
        return status;
    }
    *self = fault;
    return ODB_OK;
}

static void fault_capabilities(void *self, struct odb_buf *options)
{
    const struct fault *fault = self;
    if (fault->up)
        odb_executor_capabilities(fault->up, options);
}

static void fault_describe(void *self, char *text, size_t size)
{
    const struct fault *fault = self;
    int n = snprintf(text, size, "planted fault '%s' at %s in ", fault->kind->name, fault->node);
    if (n > 0 && (size_t)n < size)
        odb_executor_describe(fault->up, text + n, size - (size_t)n);
}

/* --- finding the node ------------------------------------------------------------------------ */

static int fault_original(const struct odb_load *load, const struct odb_node *node)
{
    size_t at = (size_t)node->file_index;
    return load->node_index && at < load->n_nodes ? load->node_index[at] : node->file_index;
}

/* The debugged model itself, as far as its parts can tell: a node that is not here is nowhere. */
static bool fault_is_whole(const struct fault_cut *cut, const struct odb_load *load)
{
    const struct odb_graph *graph = cut->model->graph;
    for (size_t i = 0; i < load->n_original_outputs; i++) {
        const struct odb_value *v = odb_graph_value(graph, load->original_outputs[i]);
        if (!v || !v->is_output)
            return false;
    }
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (cut->original[i] >= (int)graph->n_nodes)
            return false;
    return load->n_original_outputs > 0;
}

static enum odb_status fault_find_name(struct fault_cut *cut, struct odb_error *err)
{
    const struct odb_graph *graph = cut->model->graph;
    struct odb_buf others = ODB_BUF_INIT;
    size_t found = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (!strcmp(graph->nodes[i].name, cut->text)) {
            odb_buf_printf(&others, "%s#%d", found++ ? ", " : "", cut->original[i]);
            cut->node = (int)i;
        }
    if (found > 1) {
        odb_fail(err, ODB_E_USAGE, "%zu nodes have the name '%s'", found, cut->text);
        odb_error_remedy(err, "choose one of %s", odb_buf_text(&others));
    }
    odb_buf_dispose(&others);
    if (found > 0)
        return found > 1 ? ODB_E_USAGE : ODB_OK;
    const struct odb_value *value = odb_graph_value(graph, cut->text);
    if (value && value->producer >= 0) {
        cut->node = value->producer;
        cut->value = value->index;
    }
    return ODB_OK;
}

/* Where the fault is in a model that is a body: what follows that body's path. */
static void fault_find_body(struct fault *fault, struct fault_cut *cut)
{
    const struct odb_graph *graph = cut->model->graph;
    const char *way = odb_model_body_way(cut->model);
    struct odb_body_path inner;
    int64_t turn;
    bool same;
    cut->text = fault->node;
    fault->body = way != NULL;
    if (!way)
        return;
    cut->text = odb_body_path_below(fault->node, way, &turn, &same);
    bool parsed = cut->text && odb_body_path_parse(graph, cut->original, cut->text, &inner);
    for (size_t i = 0; parsed && i < inner.n; i++) /* iteration= is about a loop further in */
        if (inner.steps[i].body.attr && !strcmp(inner.steps[i].body.attr, "body"))
            turn = ODB_ANY_TURN;
    if (turn != ODB_ANY_TURN && fault->turn != ODB_ANY_TURN && turn != fault->turn)
        same = false;
    if (!same)
        cut->text = NULL;
}

/* Where the text leads into bodies of nodes that are here. */
static enum odb_status fault_find_inside(struct fault *fault, struct fault_cut *cut,
                                         struct odb_error *err)
{
    struct odb_body_path *path = &fault->path;
    int64_t *innermost = NULL;
    if (!odb_body_path_parse(cut->model->graph, cut->original, cut->text, path) || !path->n)
        return ODB_OK;
    const struct odb_graph *graph = path->steps[path->n - 1].body.graph;
    ODB_TRY(odb_graph_find_node(graph, path->last, &fault->inside_node, err));
    const struct odb_value *value = odb_graph_value(graph, path->last);
    bool by_value = value && value->producer == fault->inside_node &&
                    strcmp(graph->nodes[fault->inside_node].name, path->last) != 0;
    fault->inside_slot = by_value ? value->slot : -1;
    for (size_t i = 0; i < path->n; i++)
        if (path->steps[i].body.attr && !strcmp(path->steps[i].body.attr, "body"))
            innermost = &path->steps[i].turn;
    if (innermost && *innermost == ODB_ANY_TURN)
        *innermost = fault->turn;
    fault->inside = true;
    return ODB_OK;
}

/* Sets cut->node, ODB_NO_NODE when it is not in this model's main graph. */
static enum odb_status fault_find(struct fault *fault, struct fault_cut *cut,
                                  const struct odb_load *load, struct odb_error *err)
{
    const struct odb_graph *graph = cut->model->graph;
    char *end;
    cut->node = ODB_NO_NODE;
    cut->value = ODB_NO_VALUE;
    fault_find_body(fault, cut);
    if (!cut->text)
        return ODB_OK;
    long index = cut->text[0] == '#' ? strtol(cut->text + 1, &end, 10) : -1;
    bool by_index = cut->text[0] == '#' && end != cut->text + 1 && !*end;
    for (size_t i = 0; by_index && i < graph->n_nodes; i++)
        if (cut->original[i] == index)
            cut->node = (int)i;
    if (!by_index)
        ODB_TRY(fault_find_name(cut, err));
    if (cut->node == ODB_NO_NODE)
        ODB_TRY(fault_find_inside(fault, cut, err));
    if (cut->node == ODB_NO_NODE && !fault->inside && !fault->body && fault_is_whole(cut, load)) {
        odb_fail(err, ODB_E_USAGE, "the model has no node '%s' to plant a fault in", fault->node);
        return odb_error_remedy(err, "list them with: onnxdbg nodes MODEL");
    }
    return ODB_OK;
}

/* --- whether it acts ------------------------------------------------------------------------- */

static bool fault_is_original_output(const struct odb_load *load, const struct odb_value *value)
{
    for (size_t i = 0; i < load->n_original_outputs; i++)
        if (!strcmp(load->original_outputs[i], value->name))
            return true;
    return false;
}

static bool fault_is_used(const struct odb_value *value)
{
    return value->is_output || value->n_consumers > 0;
}

/* The value that will be spoiled, as well as the declared types tell. */
static const struct odb_value *fault_likely_value(const struct fault_cut *cut)
{
    const struct odb_graph *graph = cut->model->graph;
    const struct odb_node *node = &graph->nodes[cut->node];
    const struct odb_value *first = NULL;
    if (cut->value != ODB_NO_VALUE)
        return &graph->values[cut->value];
    for (int i = 0; i < node->n_out; i++) {
        const struct odb_value *v = node->out[i] >= 0 ? &graph->values[node->out[i]] : NULL;
        if (!v || !fault_is_used(v))
            continue;
        if (!v->type.known || odb_dtype_is_float(v->type.dtype))
            return v;
        first = first ? first : v;
    }
    return first;
}

/* All of the K nodes after this one are here, and one of them reads the value. */
static bool fault_has_fused(const struct fault *fault, const struct fault_cut *cut,
                            const struct odb_value *value)
{
    const struct odb_graph *graph = cut->model->graph;
    long first = cut->original[cut->node];
    size_t here = 0;
    bool read = false;
    for (size_t i = 0; i < graph->n_nodes; i++)
        here += cut->original[i] > first && cut->original[i] - first <= (long)fault->fused;
    for (size_t i = 0; i < value->n_consumers; i++) {
        long at = cut->original[value->consumers[i]];
        read |= at > first && at - first <= (long)fault->fused;
    }
    return here == fault->fused && read;
}

/* Whose numbers it takes is here as well, and made here, as memory that is used again is. */
static bool fault_finds_from(const struct fault *fault, struct fault_cut *cut)
{
    const struct odb_value *from =
        fault->from ? odb_graph_value(cut->model->graph, fault->from) : NULL;
    cut->from = from && from->producer >= 0 ? from->index : ODB_NO_VALUE;
    return !fault->from || cut->from != ODB_NO_VALUE;
}

static enum odb_status fault_decide(struct fault *fault, struct fault_cut *cut,
                                    const struct odb_load *load, struct odb_error *err)
{
    fault->acts = cut->node != ODB_NO_NODE && (!fault->whole || fault_is_whole(cut, load)) &&
                  fault_finds_from(fault, cut);
    if (!fault->acts || (!fault->hidden && !fault->seen && !fault->fused))
        return ODB_OK;
    const struct odb_value *value = fault_likely_value(cut);
    if (!value) {
        fault->acts = false; /* nothing reads what the node makes */
        return ODB_OK;
    }
    bool original = fault_is_original_output(load, value);
    if (fault->hidden && original) {
        odb_fail(err, ODB_E_USAGE, "'%s' is an output of the model: no fault can hide there",
                 value->name);
        return odb_error_remedy(err, "choose an inner node, or leave out 'hidden'");
    }
    if (fault->seen)
        fault->acts = value->is_output && !original;
    else if (value->is_output && !original)
        fault->acts = false;
    else if (fault->fused)
        fault->acts = fault_has_fused(fault, cut, value);
    return ODB_OK;
}

/* --- cutting --------------------------------------------------------------------------------- */

static enum odb_status fault_cut_new(struct fault_cut **out, const struct odb_load *load,
                                     struct odb_error *err)
{
    struct odb_model *model;
    ODB_TRY(odb_model_open_bytes(&model, load->bytes, load->size, NULL, load->dir, "model", err));
    struct fault_cut *cut = odb_new(struct fault_cut);
    const struct odb_graph *graph = model->graph;
    cut->model = model;
    cut->dir = odb_xstrdup(load->dir);
    cut->original = odb_new_n(int, graph->n_nodes + 1);
    for (size_t i = 0; i < graph->n_nodes; i++)
        cut->original[i] = fault_original(load, &graph->nodes[i]);
    cut->n_original_outputs = load->n_original_outputs;
    cut->account = load->account;
    cut->original_outputs = odb_new_n(char *, load->n_original_outputs + 1);
    for (size_t i = 0; i < load->n_original_outputs; i++)
        cut->original_outputs[i] = odb_xstrdup(load->original_outputs[i]);
    *out = cut;
    return ODB_OK;
}

/* Whether upstream has to give a value of its own: something else reads it, it is an output, or it
 * is to be spoiled. */
static bool fault_is_between(const struct fault_cut *cut, const struct odb_value *value)
{
    if (value->producer < 0 || !cut->upstream[value->producer] || !value->name[0])
        return false;
    if (value->is_output || value->index == cut->value || value->index == cut->from)
        return true;
    for (size_t i = 0; i < value->n_consumers; i++)
        if (cut->downstream[value->consumers[i]])
            return true;
    return false;
}

static void fault_divide(struct fault_cut *cut)
{
    const struct odb_graph *graph = cut->model->graph;
    const struct odb_node *node = &graph->nodes[cut->node];
    int *outs = odb_new_n(int, (size_t)node->n_out + 2);
    size_t n = 0;
    if (cut->from != ODB_NO_VALUE)
        outs[n++] = cut->from;
    for (int i = 0; i < node->n_out; i++)
        if (node->out[i] >= 0)
            outs[n++] = node->out[i];
    cut->upstream = odb_new_n(bool, graph->n_nodes + 1);
    cut->downstream = odb_new_n(bool, graph->n_nodes + 1);
    odb_graph_ancestors(graph, outs, n, NULL, cut->upstream);
    for (size_t i = 0; i < graph->n_nodes; i++)
        cut->downstream[i] = !cut->upstream[i];
    cut->between = odb_new_n(int, graph->n_values + 1);
    for (size_t i = 0; i < graph->n_values; i++)
        if (fault_is_between(cut, &graph->values[i]))
            cut->between[cut->n_between++] = (int)i;
    cut->up_in = odb_new_n(int, graph->n_values + 1);
    cut->down_in = odb_new_n(int, graph->n_values + 1);
    cut->n_up_in = odb_graph_segment_inputs(graph, cut->upstream, cut->up_in);
    cut->n_down_in = odb_graph_segment_inputs(graph, cut->downstream, cut->down_in);
    free(outs);
}

/* Loads one piece. types: of the inputs, NULL where the model declares them. */
static enum odb_status fault_load_piece(const struct fault_cut *cut, struct odb_executor *inner,
                                        const bool *nodes, const int *in, size_t n_in,
                                        struct odb_tensor *const *types, const int *out,
                                        size_t n_out, struct odb_error *err)
{
    const struct odb_graph *graph = cut->model->graph;
    struct odb_port *ports = odb_new_n(struct odb_port, n_in + n_out + 1);
    int *index = odb_new_n(int, graph->n_nodes + 1);
    struct odb_buf bytes = ODB_BUF_INIT;
    size_t n_nodes = 0;
    for (size_t i = 0; i < n_in; i++)
        ports[i] = (struct odb_port){.value = in[i], .like = types ? types[i] : NULL};
    for (size_t i = 0; i < n_out; i++)
        ports[n_in + i] = (struct odb_port){.value = out[i]};
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (nodes[i])
            index[n_nodes++] = cut->original[i];
    struct odb_extract what = {.nodes = nodes,
                               .inputs = ports,
                               .n_inputs = n_in,
                               .outputs = ports + n_in,
                               .n_outputs = n_out,
                               .declared = !cut->fixed,
                               .weights = ODB_WEIGHTS_REFERENCE};
    enum odb_status status = odb_model_extract(cut->model, &what, &bytes, err);
    struct odb_load load = {.bytes = bytes.data,
                            .size = bytes.len,
                            .dir = cut->dir,
                            .node_index = index,
                            .n_nodes = n_nodes,
                            .original_outputs = (const char *const *)cut->original_outputs,
                            .n_original_outputs = cut->n_original_outputs,
                            .account = cut->account};
    if (status == ODB_OK)
        status = odb_executor_load(inner, &load, err);
    odb_buf_dispose(&bytes);
    free(ports);
    free(index);
    return status;
}

/* --- spoiling -------------------------------------------------------------------------------- */

static enum odb_status fault_refuse(const struct fault *fault, const char *value, const char *why,
                                    struct odb_error *err)
{
    odb_fail(err, ODB_E_INPUT, "no fault '%s' can be planted in '%s': %s", fault->kind->name, value,
             why);
    return odb_error_remedy(err, "name another node or value");
}

static bool fault_measure(struct fault_work *w)
{
    double sum = 0;
    size_t finite = 0;
    bool zero = true;
    for (size_t i = 0; i < w->n; i++) {
        zero = zero && w->x[i] == 0;
        if (!isfinite(w->x[i]))
            continue;
        w->max = fmax(w->max, fabs(w->x[i]));
        finite++;
    }
    for (size_t i = 0; i < w->n && w->max > 0; i++) /* scaled: squares of large doubles overflow */
        if (isfinite(w->x[i]))
            sum += (w->x[i] / w->max) * (w->x[i] / w->max);
    w->rms = finite ? w->max * sqrt(sum / (double)finite) : 0;
    return !zero;
}

static bool fault_is_whole_numbers(const struct fault *fault)
{
    return fault->kind->whole_numbers;
}

/* Acts in this run. */
static bool fault_turn(const struct fault *fault)
{
    double dice = (double)(odb_mix64(odb_mix64(fault->seed) + fault->all_runs) >> 11) * 0x1p-53;
    return fault->runs % fault->every == 0 && fault->runs > fault->after &&
           (!fault->until || fault->runs <= fault->until) && dice < fault->rate;
}

/* Can hold the fault: a float tensor with elements, one of integers for a step; or a container of
 * one. */
static bool fault_fits(const struct fault *fault, const struct odb_tensor *t)
{
    bool type = fault_is_whole_numbers(fault) ? odb_dtype_is_integer(t->dtype)
                                              : odb_dtype_is_float(t->dtype);
    bool fits = t->kind == ODB_TENSOR && (type || fault->kind->takes) && t->count > 0;
    for (size_t i = 0; i < t->n_items && t->kind != ODB_SPARSE; i++)
        fits = fits || fault_fits(fault, t->items[i]);
    return fits;
}

/* Its dimensions are as large as the spec says. */
static bool fault_sized(const struct fault *fault, const struct odb_tensor *t)
{
    for (size_t i = 0; i < ODB_COUNT(fault->sizes); i++) {
        const struct fault_size *size = &fault->sizes[i];
        long axis = size->axis < 0 ? size->axis + t->rank : size->axis;
        if (size->given &&
            (axis < 0 || axis >= t->rank || t->dims[axis] < size->lo || t->dims[axis] > size->hi))
            return false;
    }
    return fault->row < 0 || (t->rank && fault->row < (double)t->dims[0]);
}

/* Replaces *t, a tensor, by a copy that is spoiled, or of which one row is; elements that the fault
 * leaves alone keep their bits. */
static enum odb_status fault_spoil_tensor(const struct fault *fault, const char *name,
                                          struct odb_tensor **t, struct odb_error *err)
{
    const struct odb_tensor *was = *t;
    struct odb_tensor *now = NULL;
    struct odb_tensor *wide;
    size_t n = fault->row < 0 ? was->count : was->count / (size_t)was->dims[0];
    size_t first = fault->row < 0 ? 0 : n * (size_t)fault->row;
    int64_t count = (int64_t)n;
    ODB_TRY(odb_tensor_new_raw(&wide, ODB_F64, 1, &count, err));
    struct fault_work work = {.x = wide->data,
                              .n = n,
                              .shape = was,
                              .amount = fault->amount,
                              .count = ODB_MIN(fault->count, n),
                              .seed = fault->seed};
    enum odb_status status = ODB_OK;
    bool nothing = fault->kind->neutral && fault->amount == 0, changed = false;
    for (size_t i = 0; i < n; i++)
        work.x[i] = odb_load_f64(was->dtype, was->data, first + i);
    if (!fault_measure(&work) && !fault_is_whole_numbers(fault)) {
        status = fault_refuse(fault, name, "it is all zero", err);
        goto out;
    }
    if (nothing)
        goto out;
    fault->kind->spoil(&work);
    ODB_TRY_OUT(odb_tensor_clone(&now, was, err));
    for (size_t i = 0; i < n; i++) {
        double v = odb_load_f64(was->dtype, was->data, first + i);
        if (memcmp(&v, &work.x[i], sizeof v) != 0)
            odb_store_f64(now->dtype, now->data, first + i, work.x[i]);
    }
    changed = memcmp(now->data, was->data, was->bytes) != 0;
    if (!changed)
        status = fault_refuse(fault, name, "it would change nothing", err);
out:
    odb_tensor_unref(wide);
    if (status == ODB_OK && now) {
        odb_tensor_unref(*t);
        *t = now;
    } else {
        odb_tensor_unref(now);
    }
    return status;
}

/* Replaces *t by a spoiled copy: of a container, the first item that can hold the fault. */
static enum odb_status fault_spoil(const struct fault *fault, const char *name,
                                   struct odb_tensor **t, struct odb_error *err)
{
    const struct odb_tensor *was = *t;
    bool bare = was->kind == ODB_TENSOR, empty = bare ? was->count == 0 : was->n_items == 0;
    size_t at = 0;
    if (!fault_fits(fault, was))
        return fault_refuse(fault, name,
                            empty  ? "it is empty"
                            : bare ? fault_is_whole_numbers(fault) ? "it holds no integers"
                                                                   : "it is not float"
                                   : "it holds no such tensor with elements",
                            err);
    if (bare)
        return fault_sized(fault, was) ? fault_spoil_tensor(fault, name, t, err) : ODB_OK;
    while (!fault_fits(fault, was->items[at]))
        at++;
    struct odb_tensor **items = odb_new_n(struct odb_tensor *, was->n_items), *now = NULL;
    memcpy(items, was->items, was->n_items * sizeof *items);
    odb_tensor_ref(items[at]);
    enum odb_status status = fault_spoil(fault, name, &items[at], err);
    if (status == ODB_OK)
        status = odb_tensor_new_container(&now, was->kind, items, was->n_items, err);
    if (status == ODB_OK) {
        now->dtype = was->dtype;
        odb_tensor_unref(*t);
        *t = now;
    }
    odb_tensor_unref(items[at]);
    free(items);
    return status;
}

/* The numbers of another value lie where *t should be, as far as both reach, and as count says. */
static enum odb_status fault_take(const struct fault *fault, const char *name,
                                  struct odb_tensor **t, const struct odb_tensor *from,
                                  struct odb_error *err)
{
    const struct odb_tensor *was = *t;
    struct odb_tensor *now;
    if (was->kind != ODB_TENSOR || from->kind != ODB_TENSOR || was->dtype != from->dtype ||
        odb_dtype_info(was->dtype)->bits % 8 || !odb_dtype_info(was->dtype)->bits)
        return fault_refuse(fault, name, "the types are not the same", err);
    size_t bytes = ODB_MIN(was->bytes, from->bytes);
    if (fault->count)
        bytes = ODB_MIN(bytes, fault->count * (odb_dtype_info(was->dtype)->bits / 8));
    ODB_TRY(odb_tensor_clone(&now, was, err));
    memcpy(now->data, from->data, bytes);
    odb_tensor_unref(*t);
    *t = now;
    return ODB_OK;
}

/* --- inside a body --------------------------------------------------------------------------- */

/* The way from the main graph to here is the one that leads to the fault. */
static bool fault_is_there(const struct fault *fault, const struct odb_cpu_place *place, int node)
{
    if (node != fault->inside_node)
        return false;
    for (size_t i = fault->path.n; i > 0; i--) {
        const struct odb_body_step *step = &fault->path.steps[i - 1];
        if (!place || place->node != step->node || !place->attr != !step->body.attr ||
            (place->attr && strcmp(place->attr, step->body.attr) != 0) ||
            (step->turn != ODB_ANY_TURN && step->turn != (int64_t)place->turn))
            return false;
        place = place->around;
    }
    return !place;
}

/* In a turn in which the value cannot hold the fault there is none. */
static enum odb_status fault_made(void *payload, const struct odb_cpu_place *place,
                                  const struct odb_node *node, struct odb_tensor **out,
                                  struct odb_error *err)
{
    const struct fault *fault = payload;
    struct odb_error why = ODB_ERROR_INIT;
    if (fault->kind->steer || !fault_turn(fault) || !fault_is_there(fault, place, node->index))
        return ODB_OK;
    if (fault->kind->act)
        fault->kind->act();
    for (int o = 0; o < node->n_out; o++) {
        bool named = fault->inside_slot < 0 || fault->inside_slot == o;
        if (!out[o] || !named || !fault_fits(fault, out[o]))
            continue;
        enum odb_status status = fault_spoil(fault, node->name, &out[o], &why);
        if (status != ODB_OK && status != ODB_E_INPUT) {
            *err = why;
            return status;
        }
        break;
    }
    return ODB_OK;
}

static void fault_steer(void *payload, const struct odb_cpu_place *place, int node, int64_t *v)
{
    const struct fault *fault = payload;
    if (fault->kind->steer && fault_turn(fault) && fault_is_there(fault, place, node))
        fault->kind->steer(v, fault->amount);
}

/* --- loading --------------------------------------------------------------------------------- */

/* Watches the CPU where the fault is inside a body, or steers. */
static enum odb_status fault_watch(struct fault *fault, struct odb_error *err)
{
    if (fault->inside && (fault->hidden || fault->fused))
        return odb_fail(err, ODB_E_USAGE, "a fault inside a body is neither hidden nor fused");
    fault->watch =
        (struct odb_cpu_watch){.payload = fault, .made = fault_made, .steer = fault_steer};
    if (odb_cpu_executor_watch(fault->up, fault->inside ? &fault->watch : NULL) || !fault->inside)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "%s can be planted in the executor cpu alone, not in %s",
             fault->kind->steer ? "another way through If and Loop" : "a fault inside a body",
             fault->inner);
    return odb_error_at(err, "%s", fault->node);
}

static enum odb_status fault_lacks(const struct fault *fault, const struct fault_cut *cut,
                                   struct odb_error *err)
{
    const struct odb_node *node = &cut->model->graph->nodes[cut->node];
    if (fault->kind->crowded)
        return cut->model->graph->n_nodes <= fault->count
                   ? ODB_OK
                   : odb_fail(err, ODB_E_NOMEM, "fault: no memory for more than %zu nodes",
                              fault->count);
    if (fault->count && cut->model->graph->n_outputs <= fault->count)
        return ODB_OK;
    return fault->count
               ? odb_fail(err, ODB_E_EXECUTOR, "fault: more than %zu outputs", fault->count)
               : odb_fail(err, ODB_E_EXECUTOR, "fault: no kernel for %s", node->op_type);
}

static enum odb_status fault_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    struct fault *fault = self;
    struct fault_cut *cut;
    fault_cut_free(fault->cut);
    fault->cut = NULL;
    fault->acts = fault->inside = false;
    fault->runs = 0;
    ODB_TRY(fault_cut_new(&cut, load, err));
    cut->fixed = fault->fixed;
    enum odb_status status = fault_find(fault, cut, load, err);
    if (status == ODB_OK)
        status = fault_decide(fault, cut, load, err);
    if (status == ODB_OK && fault->acts && (fault->kind->refuses || fault->kind->crowded))
        status = fault_lacks(fault, cut, err);
    if (status == ODB_OK && fault->acts && fault->kind->steer) {
        fault->path = (struct odb_body_path){.n = 0};
        fault->inside_node = cut->node;
        fault->inside = true;
    }
    if (status == ODB_OK)
        status = fault_watch(fault, err);
    if (status != ODB_OK || !fault->acts || !fault_cuts(fault)) {
        fault_cut_free(cut);
        return status == ODB_OK ? odb_executor_load(fault->up, load, err) : status;
    }
    fault_divide(cut);
    if (cut->n_between == 0) { /* nothing reads what the node makes */
        fault_cut_free(cut);
        return odb_executor_load(fault->up, load, err);
    }
    fault->cut = cut;
    status = fault_load_piece(cut, fault->up, cut->upstream, cut->up_in, cut->n_up_in, NULL,
                              cut->between, cut->n_between, err);
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "upstream of the planted fault");
}

/* --- running --------------------------------------------------------------------------------- */

/* One run of a cut model. */
struct fault_run {
    const struct fault *fault;
    const struct fault_cut *cut;
    const struct odb_named *inputs; /* borrowed */
    size_t n_inputs;
    struct odb_tensor **values; /* owned refs; [n_values]: inputs and what upstream gave */
};

static enum odb_status fault_take_inputs(struct fault_run *run, struct odb_error *err)
{
    const struct odb_graph *graph = run->cut->model->graph;
    for (size_t i = 0; i < run->n_inputs; i++) {
        const struct odb_value *v = odb_graph_value(graph, run->inputs[i].name);
        if (!v || v->producer >= 0)
            return odb_fail(err, ODB_E_INPUT, "the model has no input '%s'", run->inputs[i].name);
        if (v->init)
            return odb_fail(err, ODB_UNSUPPORTED,
                            "a planted fault cannot be combined with a "
                            "value for the weight '%s'",
                            v->name);
        odb_tensor_unref(run->values[v->index]);
        run->values[v->index] = odb_tensor_ref(run->inputs[i].tensor);
    }
    return ODB_OK;
}

/* Runs a piece on the values it reads, and puts what it gives in results[i] for value want[i]. */
static enum odb_status fault_run_piece(const struct fault_run *run, struct odb_executor *inner,
                                       const int *in, size_t n_in, const int *want, size_t n_want,
                                       struct odb_tensor **results, struct odb_error *err)
{
    const struct odb_value *values = run->cut->model->graph->values;
    struct odb_named *named = odb_new_n(struct odb_named, n_in + 1);
    const char **names = odb_new_n(const char *, n_want + 1);
    size_t fed = 0;
    for (size_t i = 0; i < n_in; i++)
        if (run->values[in[i]]) /* else the inner executor says what it misses */
            named[fed++] = (struct odb_named){values[in[i]].name, run->values[in[i]]};
    for (size_t i = 0; i < n_want; i++)
        names[i] = values[want[i]].name;
    enum odb_status status = odb_executor_run(inner, named, fed, names, n_want, results, err);
    free(named);
    free(names);
    return status;
}

/* The named value, else the node's first float output that is read. */
static int fault_choose(const struct fault_run *run)
{
    const struct odb_node *node = &run->cut->model->graph->nodes[run->cut->node];
    int first = ODB_NO_VALUE;
    if (run->cut->value != ODB_NO_VALUE)
        return run->cut->value;
    for (int i = 0; i < node->n_out; i++) {
        const struct odb_tensor *t = node->out[i] >= 0 ? run->values[node->out[i]] : NULL;
        if (!t)
            continue;
        if (fault_fits(run->fault, t))
            return node->out[i];
        first = first == ODB_NO_VALUE ? node->out[i] : first;
    }
    return first;
}

static enum odb_status fault_run_upstream(struct fault_run *run, struct odb_error *err)
{
    const struct fault_cut *cut = run->cut;
    const struct fault *fault = run->fault;
    struct odb_tensor **results = odb_new_n(struct odb_tensor *, cut->n_between + 1);
    enum odb_status status = fault_run_piece(run, fault->up, cut->up_in, cut->n_up_in, cut->between,
                                             cut->n_between, results, err);
    for (size_t i = 0; i < cut->n_between && status == ODB_OK; i++)
        run->values[cut->between[i]] = results[i];
    free(results);
    if (status != ODB_OK)
        return status;
    int value = fault_turn(fault) ? fault_choose(run) : ODB_NO_VALUE;
    if (value == ODB_NO_VALUE) /* not now; or only the nodes above it are read */
        return ODB_OK;
    if (fault->kind->takes)
        return fault_take(fault, cut->model->graph->values[value].name, &run->values[value],
                          run->values[cut->from], err);
    status = fault_spoil(fault, cut->model->graph->values[value].name, &run->values[value], err);
    return fault->body && status == ODB_E_INPUT ? ODB_OK : status; /* as in fault_made() */
}

static bool fault_same_type(const struct odb_tensor *a, const struct odb_tensor *b)
{
    return a == b || (a && b && a->kind == b->kind && a->dtype == b->dtype &&
                      (a->kind != ODB_TENSOR || odb_tensor_same_shape(a, b)));
}

/* A tensor's type without its values, which need not be kept. */
static enum odb_status fault_type_of(struct odb_tensor **out, const struct odb_tensor *t,
                                     struct odb_error *err)
{
    if (t->kind == ODB_TENSOR)
        return odb_tensor_new_shape(out, t->dtype, t->rank, t->dims, err);
    *out = odb_tensor_ref(t);
    return ODB_OK;
}

/* Downstream can be built only when the types of what it reads are known, and is built again when
 * they change. Types of the model's own inputs stay as declared. */
static enum odb_status fault_load_downstream(struct fault *fault, const struct fault_run *run,
                                             struct odb_error *err)
{
    struct fault_cut *cut = fault->cut;
    const struct odb_graph *graph = cut->model->graph;
    bool same = cut->down_types != NULL;
    for (size_t i = 0; i < cut->n_down_in && same; i++)
        if (graph->values[cut->down_in[i]].producer >= 0)
            same = fault_same_type(cut->down_types[i], run->values[cut->down_in[i]]);
    if (same)
        return ODB_OK;
    fault_forget_types(cut);
    cut->down_types = odb_new_n(struct odb_tensor *, cut->n_down_in + 1);
    int *outs = odb_new_n(int, graph->n_outputs + 1);
    size_t n_outs = 0;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < cut->n_down_in && status == ODB_OK; i++)
        if (graph->values[cut->down_in[i]].producer >= 0)
            status = fault_type_of(&cut->down_types[i], run->values[cut->down_in[i]], err);
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct odb_value *v = &graph->values[graph->outputs[i]];
        if (v->producer >= 0 && cut->downstream[v->producer])
            outs[n_outs++] = v->index;
    }
    if (status == ODB_OK)
        status = fault_load_piece(cut, fault->down, cut->downstream, cut->down_in, cut->n_down_in,
                                  cut->down_types, outs, n_outs, err);
    free(outs);
    if (status == ODB_OK)
        return ODB_OK;
    fault_forget_types(cut);
    return odb_error_at(err, "downstream of the planted fault");
}

/* The outputs that lie downstream; upstream's are in run->values already. */
static enum odb_status fault_run_downstream(struct fault *fault, const struct fault_run *run,
                                            const int *wanted, size_t n, struct odb_tensor **out,
                                            struct odb_error *err)
{
    const struct odb_graph *graph = run->cut->model->graph;
    int *down = odb_new_n(int, n + 1);
    size_t n_down = 0;
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *v = &graph->values[wanted[i]];
        if (v->producer >= 0 && run->cut->downstream[v->producer])
            down[n_down++] = wanted[i];
    }
    struct odb_tensor **results = odb_new_n(struct odb_tensor *, n_down + 1);
    enum odb_status status = ODB_OK;
    if (n_down > 0)
        status = fault_load_downstream(fault, run, err);
    if (status == ODB_OK && n_down > 0)
        status = fault_run_piece(run, fault->down, run->cut->down_in, run->cut->n_down_in, down,
                                 n_down, results, err);
    for (size_t i = 0, k = 0; i < n && status == ODB_OK; i++)
        if (k < n_down && wanted[i] == down[k])
            out[i] = results[k++];
    free(results);
    free(down);
    return status;
}

static enum odb_status fault_run_cut(struct fault *fault, struct fault_run *run,
                                     const char *const *names, size_t n_outputs,
                                     struct odb_tensor **outputs, struct odb_error *err)
{
    const struct odb_graph *graph = run->cut->model->graph;
    int *wanted = odb_new_n(int, n_outputs + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n_outputs; i++) {
        const struct odb_value *v = odb_graph_value(graph, names[i]);
        if (!v || !v->is_output) {
            status = odb_fail(err, ODB_E_INPUT, "the model has no output '%s'", names[i]);
            goto out;
        }
        wanted[i] = v->index;
    }
    ODB_TRY_OUT(fault_take_inputs(run, err));
    ODB_TRY_OUT(fault_run_upstream(run, err));
    ODB_TRY_OUT(fault_run_downstream(fault, run, wanted, n_outputs, outputs, err));
    for (size_t i = 0; i < n_outputs; i++) {
        const struct odb_value *v = &graph->values[wanted[i]];
        if (!outputs[i]) /* made upstream, an input, or a weight */
            outputs[i] = odb_tensor_ref(run->values[wanted[i]] ? run->values[wanted[i]] : v->init);
    }
out:
    free(wanted);
    return status;
}

/* The outputs that node= and from= name. */
static void fault_change_places(const struct fault *fault, const char *const *names, size_t n,
                                struct odb_tensor **outputs)
{
    struct odb_tensor **one = NULL, **other = NULL;
    for (size_t i = 0; i < n; i++) {
        one = strcmp(names[i], fault->node) ? one : &outputs[i];
        other = strcmp(names[i], fault->from) ? other : &outputs[i];
    }
    if (!one || !other)
        return;
    struct odb_tensor *t = *one;
    *one = *other;
    *other = t;
}

static enum odb_status fault_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                     const char *const *names, size_t n_outputs,
                                     struct odb_tensor **outputs, struct odb_error *err)
{
    struct fault *fault = self;
    fault->runs++;
    fault->all_runs++;
    if (fault->acts && fault->kind->act && fault_turn(fault))
        fault->kind->act();
    if (!fault->cut)
        ODB_TRY(odb_executor_run(fault->up, inputs, n_inputs, names, n_outputs, outputs, err));
    if (fault->acts && fault->kind->exchanges && fault_turn(fault))
        fault_change_places(fault, names, n_outputs, outputs);
    if (!fault->cut)
        return ODB_OK;
    size_t n_values = fault->cut->model->graph->n_values;
    struct fault_run run = {.fault = fault,
                            .cut = fault->cut,
                            .inputs = inputs,
                            .n_inputs = n_inputs,
                            .values = odb_new_n(struct odb_tensor *, n_values + 1)};
    enum odb_status status = fault_run_cut(fault, &run, names, n_outputs, outputs, err);
    for (size_t i = 0; i < n_values; i++)
        odb_tensor_unref(run.values[i]);
    free(run.values);
    return status;
}

/* Of both pieces, where the model is cut. */
static enum odb_status fault_account(void *self, struct odb_account *account, struct odb_error *err)
{
    struct fault *fault = self;
    ODB_TRY(odb_executor_account(fault->up, account, err));
    if (!fault->cut || !fault->cut->down_types)
        return ODB_OK;
    return odb_executor_account(fault->down, account, err);
}

static void fault_times(void *self, struct odb_times *times)
{
    struct fault *fault = self;
    odb_executor_times(fault->up, times);
    if (fault->cut && fault->cut->down_types)
        odb_executor_times(fault->down, times);
}

/* Whichever piece is running. */
static bool fault_cancel(void *self)
{
    struct fault *fault = self;
    bool up = odb_executor_cancel(fault->up);
    return (!fault->down || odb_executor_cancel(fault->down)) && up;
}

/* Chance goes on over all that is loaded, which two of them would not know of each other. */
static bool fault_beside(void *self)
{
    const struct fault *fault = self;
    return !(fault->rate < 1) && odb_executor_beside(fault->up);
}

const struct odb_executor_ops odb_executor_fault = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof(struct odb_executor_ops),
    .kind = "fault",
    .options = fault_rows,
    .help = "another executor with a fault planted in one value: for trials and tests",
    .page = "onnxdbg-fault(7)",
    .trusted = "*", /* what it wraps is looked at on its own */
    .look = fault_look,
    .init = fault_init,
    .load_model = fault_load,
    .execute = fault_execute,
    .release = fault_release,
    .describe = fault_describe,
    .capabilities = fault_capabilities,
    .account = fault_account,
    .times = fault_times,
    .cancel = fault_cancel,
    .beside = fault_beside,
};
