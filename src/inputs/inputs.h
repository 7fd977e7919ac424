/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a model is fed: from files, from ranges, or generated, always the same for the same seed.
 */
#ifndef ODB_INPUTS_INPUTS_H
#define ODB_INPUTS_INPUTS_H

#include "run/feeds.h"
#include "model/model.h"

/* As the options say; borrowed strings. */
struct odb_input_options {
    const char *const *inputs; /* --input NAME=FILE or NAME=range(lo,hi[,seed]) */
    size_t n_inputs;
    const char *inputs_from;       /* --inputs-from DIR|FILE; NULL: none */
    const char *const *recordings; /* specs of executors: those that recorded the inputs give them,
                                      where nothing above does */
    size_t n_recordings;
    const char *const *dims; /* --dim NAME=N, --dim INPUT[AXIS]=N */
    size_t n_dims;
    bool ranges_chosen; /* the ranges among inputs are no user's, so that nothing is amiss where
                           another input has none */
    uint32_t seed;      /* 42 */
    bool dumped;        /* what is not given is generated as dump_tools does: a fresh PCG64 for each
                           input, floats uniform in [0, 1), integers 0 to 100 */
};

#define ODB_INPUT_OPTIONS_INIT                                                                     \
    {                                                                                              \
        .seed = 42                                                                                 \
    }

/* A dimension left unbound is ODB_E_USAGE with the very option to add. The stream of random numbers
 * runs over all inputs in order (MT19937), so giving one input a file does not change the
 * numbers of the others. */
enum odb_status odb_feeds_make(struct odb_feeds **out, const struct odb_model *model,
                               const struct odb_input_options *options,
                               struct odb_error *err) ODB_MUST_USE;
/* Whether inputs, inputs_from and dims fit the model: names, files (which are read), ranges, types
 * and shapes. What is lacking still is no error. */
enum odb_status odb_feeds_check(const struct odb_model *model,
                                const struct odb_input_options *options,
                                struct odb_error *err) ODB_MUST_USE;
/* The name of a dimension, borrowed; NULL: it has none, or a word such as "?" that exporters write
 * for any that they do not know, so that two of them need not be equal. */
const char *odb_input_dim_name(const struct odb_dim *dim);
/* An input, as far as the options say. */
struct odb_input_known {
    const struct odb_value *value; /* borrowed: model */
    bool given;                    /* its value is */
    bool ranged;                   /* the range of its numbers is */
    int rank;                      /* -1: not known */
    int64_t dims[ODB_MAX_RANK];    /* -1: not known */
};
/* In the order of odb_graph_feeds(), an array of n, owned by the caller; errors are those of
 * odb_feeds_make(), but that something is lacking is none. */
enum odb_status odb_inputs_known(struct odb_input_known **out, size_t *n,
                                 const struct odb_model *model,
                                 const struct odb_input_options *options,
                                 struct odb_error *err) ODB_MUST_USE;
/* The folders test_data_set_N, or step_N, in dir by number, else its pictures by name, an array of
 * n, owned by the caller; none where dir is no folder or holds inputs itself. Of image(DIR,...)
 * each is image(PICTURE,...). */
char **odb_input_sets(const char *dir, size_t *n);

#endif
