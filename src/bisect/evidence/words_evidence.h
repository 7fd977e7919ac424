/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the evidence came to, in words.
 */
#ifndef ODB_BISECT_EVIDENCE_WORDS_EVIDENCE_H
#define ODB_BISECT_EVIDENCE_WORDS_EVIDENCE_H

#include "bisect/findings.h"

/* What they came to, in words: sentences, each with a space behind it. */
void words_evidence(const struct search_case *c, const struct findings *f,
                    const struct odb_culprit *culprit, struct odb_buf *out);

#endif
