/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files that choose inputs share.
 */
#ifndef ODB_INPUTS_CHOICE_INT_H
#define ODB_INPUTS_CHOICE_INT_H

#include "base/mem.h"
#include "inputs/input_choice.h"
#include "inputs/inputs.h"

/* What a dimension is, as far as its name or its place says. */
enum choice_kind {
    CHOICE_BATCH,
    CHOICE_PAST,
    CHOICE_CHANNELS,
    CHOICE_EXTENT, /* height, width */
    CHOICE_LENGTH,
    CHOICE_SAMPLES, /* of sound */
    CHOICE_FEATURES,
    CHOICE_NUMBER, /* no dimension, but the one number that a small input is filled with */
    CHOICE_UNKNOWN,
    CHOICE_KINDS
};

/* Something to be chosen: a dimension, or all that bear one name. */
struct choice_open {
    const char *param; /* borrowed: model; NULL: it has no name, or none that tells anything */
    int input, axis;   /* where it stands first: of struct odb_input_known */
    enum choice_kind kind;
    bool sum; /* its name is a sum of others, which it follows */
};

#define CHOICE_PLAIN (-1) /* of a number: as generated */
#define CHOICE_TRIPS 3    /* with 0 a Loop would leave its body out */
#define CHOICE_MOST 100000

struct choice_list {
    int64_t items[160];
    size_t n;
};

/* Puts n in where it is new, in range and there is room. */
void choice_list_add(struct choice_list *list, int64_t n);

/* --- choice_size.c: by name and place --------------------------------------------------------- */

enum choice_kind choice_size_kind(const struct odb_input_known *input, int axis, const char *param);
/* What it may be, the likeliest first. */
void choice_size_list(struct choice_list *out, enum choice_kind kind);
/* Whether param is a sum or product of numbers and of other names among open; with sizes, *n. */
bool choice_size_sum(const char *param, const struct choice_open *open, size_t n_open,
                     const int64_t *sizes, int64_t *n);

/* --- choice_range.c: by who reads it ---------------------------------------------------------- */

/* The numbers that an input takes, both ends included: of those that index a table, all entries of
 * the smallest. False: no reader proves anything. */
bool choice_range_of(const struct odb_model *model, int value, int64_t *lo, int64_t *hi);

/* Whether a Loop takes it for how often it turns. */
bool choice_is_trips(const struct odb_model *model, int value);

/* --- choice_trial.c: by trial ----------------------------------------------------------------- */

struct choice {
    const struct odb_model *model;
    const struct odb_input_options *options; /* as given, with the ranges that are proved */
    const struct odb_input_known *known;     /* borrowed; [n_known] */
    size_t n_known;
    ODB_VEC(struct choice_open) open;
    int64_t *sizes; /* owned; [open.n] */
};

/* Appends what the sizes say as options for --dim and --input. */
void choice_put(const struct choice *choice, const int64_t *sizes, struct odb_input_words *dims,
                struct odb_input_words *inputs);
void choice_words_dispose(struct odb_input_words *words);
/* Changes sizes until the reference runs, as far as it has kernels; lenient: and as far as these
 * support what they are asked. ODB_OK, or what the node's status was that refused the best, of
 * which why says more, or that none was found with the work that is allowed. */
enum odb_status choice_try(struct choice *choice, bool lenient, char *why,
                           size_t size) ODB_MUST_USE;

#endif
