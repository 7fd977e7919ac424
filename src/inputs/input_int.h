/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the readers of inputs share.
 */
#ifndef ODB_INPUTS_INPUT_INT_H
#define ODB_INPUTS_INPUT_INT_H

#include "inputs/input_file.h"

/* Takes the word up to the next comma, which is the caller's; NULL: there is none. */
char *odb_input__word(const char **at);
/* "1x3x224" into dims; returns the rank, -1 where it is no shape. */
int odb_input__shape(const char *text, int64_t *dims);
/* Whether a file's name ends as that of a picture. */
bool odb_input__is_image(const char *name);
/* Length of the "image(" that a text begins with; 0: it does not. */
size_t odb_input__pictures(const char *text);
/* words: the file, or several that become a batch, then "key=value"s, then NULL. */
enum odb_status odb_input__image(struct odb_tensor **out, char *source, size_t size,
                                 const struct odb_input_form *form, char *const *words,
                                 struct odb_error *err) ODB_MUST_USE;

#endif
