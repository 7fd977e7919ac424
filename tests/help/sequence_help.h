/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Small models with a state, their plans and what comes from outside.
 */
#ifndef TESTS_SEQUENCE_HELP_H
#define TESTS_SEQUENCE_HELP_H

#include "inputs/inputs.h"
#include "sequence/plan/plan_int.h"
#include "sequence/reference/rollout.h"
#include "tests/help/models.h"

struct sequence_case {
    struct odb_model *model;     /* owned */
    struct odb_plan *plan;       /* owned */
    struct odb_streams *streams; /* owned */
};

static inline enum odb_status sequence_make(void *payload, uint32_t shift, struct odb_feeds **out,
                                            struct odb_error *err)
{
    const struct sequence_case *c = payload;
    const char *dims[] = {"ids[1]=4", "past[1]=4"};
    struct odb_input_options how = ODB_INPUT_OPTIONS_INIT;
    how.seed += shift;
    how.dims = dims;
    how.n_dims = odb_graph_value(c->model->graph, "past") ? 2 : 0;
    return odb_feeds_make(out, c->model, &how, err);
}

static inline void sequence_begin(struct sequence_case *c, struct odb_model *model,
                                  const struct odb_plan_options *options)
{
    struct odb_stream_source source = {sequence_make, c};
    *c = (struct sequence_case){.model = model};
    MODELS_OK(odb_plan_make(&c->plan, model, options, &why));
    MODELS_OK(odb_plan_whole(c->plan, &why));
    int past = plan_find_input(c->plan, "past");
    if (past >= 0) { /* as where the output's length has another name */
        c->plan->inputs.items[past].kind = ODB_CARRY_APPEND;
        c->plan->inputs.items[past].axis = 1;
        plan_text(&c->plan->inputs.items[past].start, "empty");
    }
    MODELS_OK(odb_streams_make(&c->streams, c->plan, &source, &why));
}

static inline struct odb_rollout *sequence_roll(const struct sequence_case *c)
{
    struct odb_rollout *r = NULL;
    const struct odb_search_hooks hooks = {0};
    MODELS_OK(odb_rollout_make(&r, c->plan, c->streams, NULL, 0, NULL, NULL, &hooks, &why));
    return r;
}

static inline void sequence_end(struct sequence_case *c)
{
    odb_streams_free(c->streams);
    odb_plan_free(c->plan);
    odb_model_free(c->model);
}

/* y = x + h, hn = y: a sum of all that came. begins: h is 7 where it is not fed. */
static inline struct odb_model *sequence_sum(bool begins)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){1});
    odb_build_input(b, "h", ODB_F32, 1, (int64_t[]){1});
    if (begins) {
        struct odb_tensor *seven = models_f32(1, (int64_t[]){1}, (float[]){7});
        odb_build_weight(b, "h", seven);
        odb_tensor_unref(seven);
    }
    odb_build_node(b, "Add", "add", "x h", "y");
    odb_build_node(b, "Identity", "same", "y", "hn");
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){1});
    odb_build_output_typed(b, "hn", ODB_F32, 1, (int64_t[]){1});
    return models_take(b);
}

enum sequence_fault {
    SEQUENCE_SOUND,
    SEQUENCE_SLIDES,  /* no more than three are kept */
    SEQUENCE_CHANGES, /* what was kept is doubled */
    SEQUENCE_LEAKS    /* a piece sees those that come with it, behind it */
};

static inline void sequence_weights(struct odb_builder *b)
{
    const struct {
        const char *name;
        int64_t v;
    } rows[] = {{"from", -3}, {"to", INT32_MAX}, {"axis", 1}};
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct odb_tensor *t = NULL;
        MODELS_OK(odb_tensor_copy_of(&t, ODB_I64, 1, (int64_t[]){1}, &rows[i].v, &why));
        odb_build_weight(b, rows[i].name, t);
        odb_tensor_unref(t);
    }
}

/* Keeps the tokens [1,past] that came, and gives twice each that comes. */
static inline struct odb_model *sequence_cache(enum sequence_fault fault)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "ids", ODB_I64, 2, (int64_t[]){1, -1});
    odb_build_input(b, "past", ODB_F32, 2, (int64_t[]){1, -1});
    sequence_weights(b);
    odb_build_node(b, "Cast", "cast", "ids", "x");
    odb_build_attr_int(b, "to", ODB_F32);
    const char *kept = "past", *present = "all";
    if (fault == SEQUENCE_CHANGES) {
        odb_build_node(b, "Add", "twice", "past past", "doubled");
        kept = "doubled";
    }
    char *both = odb_xasprintf("%s x", kept);
    odb_build_node(b, "Concat", "join", both, "all");
    odb_build_attr_int(b, "axis", 1);
    if (fault == SEQUENCE_SLIDES) {
        odb_build_node(b, "Slice", "cut", "all from to axis", "last");
        present = "last";
    }
    odb_build_node(b, "Identity", "keep", present, "present");
    if (fault == SEQUENCE_LEAKS)
        odb_build_node(b, "ReduceSum", "sees", "x axis", "seen");
    odb_build_node(b, "Add", "sum", fault == SEQUENCE_LEAKS ? "x seen" : "x x", "logits");
    odb_build_output(b, "present");
    odb_build_output_typed(b, "logits", ODB_F32, 2, (int64_t[]){1, -1});
    free(both);
    return models_take(b);
}

/* Tokens as above; logits [1,n,3] of which the largest goes round with each token and its place. */
static inline struct odb_model *sequence_words(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *table =
        models_f32(2, (int64_t[]){3, 3}, (float[]){1, 5, 2, 1, 2, 6, 7, 1, 2});
    odb_build_input(b, "ids", ODB_I64, 2, (int64_t[]){1, -1});
    odb_build_input(b, "past", ODB_F32, 2, (int64_t[]){1, -1});
    odb_build_weight(b, "table", table);
    odb_build_node(b, "Cast", "cast", "ids", "x");
    odb_build_attr_int(b, "to", ODB_F32);
    odb_build_node(b, "Concat", "join", "past x", "present");
    odb_build_attr_int(b, "axis", 1);
    odb_build_node(b, "Gather", "look", "table ids", "rows");
    odb_build_node(b, "Add", "sum", "rows rows", "logits");
    odb_build_output(b, "present");
    odb_build_output_typed(b, "logits", ODB_F32, 3, (int64_t[]){1, -1, 3});
    odb_tensor_unref(table);
    return models_take(b);
}

#endif
