/* SPDX-License-Identifier: MIT
 *
 * What is meant by a word that is no spec: a file's path, or a name that others have for it.
 */
#ifndef ODB_EXECUTOR_LIKELY_H
#define ODB_EXECUTOR_LIKELY_H

#include "base/error.h"

/* The way out of "there is no executor": the spec that the text would be, where that is known, else
 * fallback. Looks whether text names a file. Returns ODB_E_USAGE. */
enum odb_status odb_executor_likely(struct odb_error *err, const char *text, const char *fallback);
/* The name that a precision has in specs: "f16" of "fp16", "float16" or "half"; word itself where
 * it has no other. Borrowed. */
const char *odb_precision_word(const char *word);

#endif
