/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers of a model that lie near a length from which on a target is wrong: the rows of a table of
 * positions, a window, a capacity.
 */
#ifndef ODB_SEQUENCE_CONSTANTS_NEAR_H
#define ODB_SEQUENCE_CONSTANTS_NEAR_H

#include "model/model.h"

/* Appends a line with what is length - 1, length or length + 1: dimensions of weights, attributes
 * and weights of one integer; nothing where there are none, or length is below 8. */
void odb_constants_near(const struct odb_model *model, int64_t length, struct odb_buf *out);

#endif
