/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sequence in words: the sentence, the matrix of outputs by steps, and what it rests on.
 */
#ifndef ODB_SEQUENCE_SEQUENCE_WORDS_H
#define ODB_SEQUENCE_SEQUENCE_WORDS_H

#include "sequence/sequence_found.h"

#define ODB_SEQUENCE_LARGE ((size_t)64 << 20) /* bytes of weights whose reading is told */

/* A sentence, without a full stop: which step, and what that means. */
void odb_sequence_headline(const struct odb_sequence *sequence, struct odb_buf *out);
/* Outputs by steps, the evidence, the tokens. columns: of the terminal. */
void odb_sequence_put(const struct odb_sequence *sequence, size_t columns, struct odb_buf *out);
/* What the searched step accuses, by steps, where it was tried in others; else nothing. */
void odb_sequence_put_nodes(const struct odb_sequence *sequence, size_t columns,
                            struct odb_buf *out);
/* Whether the model agrees with itself, a line. */
void odb_sequence_put_itself(const struct odb_sequence *sequence, struct odb_buf *out);

#endif
