/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How a sequence of runs goes on: what each input of a step is made of. A sequence is N steps of
 * one model, numbered from 0; a carry takes an output of one step to an input of the next; a feed
 * comes from outside, a piece for each step; every other input follows a rule.
 */
#ifndef ODB_SEQUENCE_PLAN_SEQUENCE_PLAN_H
#define ODB_SEQUENCE_PLAN_SEQUENCE_PLAN_H

#include "model/model.h"

/* What an input is made of. */
enum odb_move {
    ODB_MOVE_HOLD,  /* the same in all steps */
    ODB_MOVE_CARRY, /* an output of the step before */
    ODB_MOVE_FEED,  /* a piece of what comes from outside */
    ODB_MOVE_RULE   /* an expression (formula.h) */
};

/* How a carry, or the way of another input, is known: the strongest first. */
enum odb_known_by {
    ODB_BY_OPTION, /* the user says it */
    ODB_BY_SLOT,   /* the operator that the state passes through has it so */
    ODB_BY_CONFIG, /* a genai_config.json beside the model has it so */
    ODB_BY_NAME,   /* one stem, and shapes that fit */
    ODB_BY_KIND    /* of another input: its name and type mean that in decoders */
};

/* What becomes of a state in a step. */
enum odb_carry_kind {
    ODB_CARRY_UNKNOWN,
    ODB_CARRY_APPEND,  /* it grows along an axis, and what was there stays */
    ODB_CARRY_PUT,     /* its shape stays, and what is new goes to its place */
    ODB_CARRY_REPLACE, /* all of it is new */
};

struct odb_plan_input {
    int value; /* of the main graph */
    enum odb_move move;
    enum odb_known_by by;
    int output;               /* CARRY: value index; else ODB_NO_VALUE */
    enum odb_carry_kind kind; /* CARRY, as far as shapes and operators tell */
    int axis;    /* CARRY, APPEND: that grows; FEED: along which pieces are cut, -1: each piece is a
                    whole input; else -1 */
    char *start; /* owned; CARRY: what step 0 takes: "empty" (nothing along axis), "zeros",
                    "default" (its initializer), "made" (as the input settings make it), a number,
                    or a file; FEED: "made", "greedy" (step 0
                    made, then what the reference's logits choose), a list of numbers, or a file;
                    RULE: a formula for step 0, NULL: next serves; HOLD: "made" or a number */
    char *next;  /* owned; RULE: the formula; CARRY: NULL, or a formula in the place of the output
                    alone; else NULL */
    char *role;  /* owned: what a genai_config.json calls it; NULL: its own name says what it is */
    char *why;   /* owned: the rule in a few words: "LSTM #4 has it as initial_h" */
};

/* A file, or numbers, that formulas read whole by a name which no input has. */
struct odb_plan_outside {
    char *name, *what; /* owned */
};

struct odb_plan {
    const struct odb_model *model; /* borrowed */
    size_t steps;                  /* at least 1 */
    ODB_VEC(size_t)
    chunks;           /* how many pieces of the feeds step 0, 1, … takes; the
                         last is for all that follow */
    bool chunks_said; /* by the user */
    ODB_VEC(struct odb_plan_input)
    inputs; /* each of odb_graph_feeds(), then carries whose inputs
               have initializers */
    ODB_VEC(struct odb_plan_outside) outside;
    ODB_VEC(char *)
    asks;            /* owned: options to add, each with its reason after
                        " # ", where something cannot be found out */
    char *stop;      /* owned: a formula that ends the sequence; NULL: none */
    bool own_tokens; /* a target that runs free chooses its tokens as well */
};

/* As the options say, borrowed strings; the lists are those of the command line, in order. */
struct odb_plan_options {
    size_t steps;       /* 0: not said */
    size_t prefill;     /* 0: not said */
    const char *chunks; /* "4,4,1"; NULL */
    const char *const *carries;
    size_t n_carries;
    const char *const *starts;
    size_t n_starts;
    const char *const *holds;
    size_t n_holds;
    const char *const *feeds;
    size_t n_feeds;
    const char *const *nexts;
    size_t n_nexts;
    const char *stop;
    const char *free; /* "states", "all"; NULL: not said */
    const char *file; /* of a plan, whose words come before those above; NULL */
};

/* The plan, with what it lacks in asks: that is no error. ODB_E_USAGE: an option or the plan's file
 * names what is not there, or is no such thing. ODB_E_IO, ODB_E_FORMAT: a genai_config.json beside
 * the model cannot be read. */
enum odb_status odb_plan_make(struct odb_plan **out, const struct odb_model *model,
                              const struct odb_plan_options *options,
                              struct odb_error *err) ODB_MUST_USE;
void odb_plan_free(struct odb_plan *plan); /* NULL is fine */
/* What is asked for, as ODB_E_USAGE with the options to add; ODB_OK: the plan is whole. */
enum odb_status odb_plan_whole(const struct odb_plan *plan, struct odb_error *err) ODB_MUST_USE;
/* How many pieces of the feeds a step takes, and how many the steps before it took. */
size_t odb_plan_pieces(const struct odb_plan *plan, size_t step);
size_t odb_plan_past(const struct odb_plan *plan, size_t step);
bool odb_plan_has_carries(const struct odb_plan *plan);
/* The number of the input that tokens are fed by, in pieces; -1: there is none. */
int odb_plan_tokens(const struct odb_plan *plan);
/* The number of the output that chooses tokens: named so, or the first of floats that is no state
 * where tokens are fed; -1: there is none. */
int odb_plan_logits(const struct odb_plan *plan);
/* The input that is a mask of all that came, and that of positions, as was found out; -1: none. */
int odb_plan_mask(const struct odb_plan *plan);
int odb_plan_positions(const struct odb_plan *plan);
/* Whether an input may be a mask: it is called so, and neither fed in pieces nor carried. */
bool odb_plan_may_mask(const struct odb_plan *plan, size_t i);
/* What these are fed in step 0, NULL: not known. A mask of 0 and 1 that fills up rows of a batch is
 * that of the prompt from then on, and positions do not count what it masks. */
void odb_plan_pad(struct odb_plan *plan, const struct odb_tensor *mask,
                  const struct odb_tensor *positions);
/* In the words of a plan's file, which gives the same plan again. */
void odb_plan_put(const struct odb_plan *plan, struct odb_buf *out);

#endif
