/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Explanations as members of JSON, written and read.
 */
#ifndef ODB_REPORT_EXPLAINED_H
#define ODB_REPORT_EXPLAINED_H

#include <jansson.h>

#include "explain/explanations.h"

/* Adds "explanations" (null: not tried), "wrong_where" and "recording" to an object;
 * onnxdbg-report(7). */
void odb_explained_json(const struct odb_explanations *all, json_t *object);
/* Reads them from one; what is missing, or of another type, is not known. */
void odb_explained_read(struct odb_explanations *out, const json_t *object);

#endif
