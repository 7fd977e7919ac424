/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of a plan share.
 */
#ifndef ODB_SEQUENCE_PLAN_PLAN_INT_H
#define ODB_SEQUENCE_PLAN_PLAN_INT_H

#include "base/mem.h"
#include "sequence/plan/sequence_plan.h"

/* Whether an input can be an output of the step before: one type, one rank, equal numbers where
 * both have numbers, and other names along one axis at most. *axis: the one along which it grows,
 * -1 where none is told. What an output's type leaves open fits anything, and so does a name that
 * data have as well, as of a batch. */
bool plan_fits(const struct odb_plan *plan, const struct odb_value *input,
               const struct odb_value *output, int *axis);
/* Makes it a carry; takes why over. */
void plan_carry(struct odb_plan *plan, size_t i, int output, enum odb_known_by by, int axis,
                char *why);
/* The input of the plan by the name of its value; -1: none is called so. */
int plan_find_input(const struct odb_plan *plan, const char *name);
/* The value of an output by name; ODB_NO_VALUE. */
int plan_find_output(const struct odb_plan *plan, const char *name);
bool plan_is_carried(const struct odb_plan *plan, int output);
/* Whether the model has a value for an input, so that it needs none: a weight, or what a state
 * begins with. */
bool plan_weight(const struct odb_plan *plan, size_t i);
/* What was there is freed; NULL: nothing comes in its place. */
void plan_text(char **to, const char *text);

/* carry_slots.c: states that pass through an operator which says so. */
void plan_find_slots(struct odb_plan *plan);
/* carry_config.c: what a genai_config.json beside the model says, of pairs and of other inputs.
 * ODB_E_IO, ODB_E_FORMAT: there is one, and it cannot be read. */
enum odb_status plan_find_config(struct odb_plan *plan, struct odb_error *err) ODB_MUST_USE;
/* carry_names.c: inputs and outputs of one stem; and what only looks like a pair is asked for. */
void plan_find_names(struct odb_plan *plan);
/* Whether a name alone says that it is of a state. */
bool plan_names_state(const char *name);
void plan_ask_pairs(struct odb_plan *plan);
/* moves.c: what the inputs are that no carry makes. */
void plan_find_moves(struct odb_plan *plan);

/* plan_words.c: the options, and the file, one word after the other. */
struct plan_word {
    char *key, *value; /* owned: "carry", "present.*=past.*" */
    char *where;       /* owned: "--carry", "plan.seq:3" */
};
struct plan_words {
    ODB_VEC(struct plan_word) items;
};
enum odb_status plan_words_read(struct plan_words *words, const struct odb_plan_options *options,
                                struct odb_error *err) ODB_MUST_USE;
/* Carries; then all else, which depends on them. */
enum odb_status plan_words_carry(struct odb_plan *plan, const struct plan_words *words,
                                 struct odb_error *err) ODB_MUST_USE;
enum odb_status plan_words_take(struct odb_plan *plan, const struct plan_words *words,
                                struct odb_error *err) ODB_MUST_USE;
void plan_words_dispose(struct plan_words *words);

#endif
