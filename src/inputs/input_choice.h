/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a call leaves open is chosen, so that the first command on a model needs no option: the
 * inputs of a test_data_set_0 beside the model, else sizes of dimensions by name and by trial on
 * the reference, and whole numbers that index as far as the table reaches. All of it are options
 * that the user could have given.
 */
#ifndef ODB_INPUTS_INPUT_CHOICE_H
#define ODB_INPUTS_INPUT_CHOICE_H

#include "base/mem.h"
#include "inputs/inputs.h"

struct odb_input_words {
    char **items; /* owned, each */
    size_t n, cap;
};

struct odb_input_choice {
    char *from;                    /* owned: for --inputs-from; NULL: none */
    struct odb_input_words dims;   /* for --dim */
    struct odb_input_words inputs; /* for --input */
    char *text; /* owned: what was chosen, in a line: "batch=1 sequence=8"; "" where nothing was */
};

/* beside: a test_data_set_0 that fits may be taken, where the options give no input. Takes a few
 * seconds at most, and longer only where one node of the model does. ODB_E_USAGE where nothing that
 * was tried runs on the reference, with the option to add; what the options say wrong is an error
 * as of odb_feeds_make(). out is the caller's to dispose of, on failure too. */
enum odb_status odb_inputs_choose(struct odb_input_choice *out, const struct odb_model *model,
                                  const struct odb_input_options *options, bool beside,
                                  struct odb_error *err) ODB_MUST_USE;
void odb_input_choice_dispose(struct odb_input_choice *choice);

#endif
