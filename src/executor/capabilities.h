/* SPDX-License-Identifier: MIT
 *
 * What a target can do, so that nothing is asked of it that it must refuse, and what a question
 * costs there: options of its spec, or what its program says of itself in the same words.
 */
#ifndef ODB_EXECUTOR_CAPABILITIES_H
#define ODB_EXECUTOR_CAPABILITIES_H

#include "base/buf.h"
#include "executor/spec.h"

enum odb_cuts { ODB_CUTS_ANY, ODB_CUTS_PREFIX, ODB_CUTS_NONE };

/* Texts as in a spec, owned; NULL: not said. Zero is a target of which nothing was said. */
struct odb_capabilities {
    char *max_outputs; /* of one model, its own included: "16" */
    char *taps;    /* values that may become outputs: "any", "final", or names with ';' between */
    char *cut;     /* parts of the model that it takes: "any", "prefix", "no" */
    char *compile; /* seconds that a load takes: "600", "600s" */
    char *run;     /* seconds that a run takes */
    char *types;   /* how element types that are not the model's are taken: "exact", "value" */
    char *layouts; /* how values in the middle of a model are held: "NHWC", "NCHW;NCHW16c" */
    char *refeed;  /* whether what is loaded runs on other inputs: "yes", "no" */
};

void odb_capabilities_dispose(struct odb_capabilities *said);
/* Takes from the spec what was not said yet, and none of what it wraps. ODB_E_USAGE. */
enum odb_status odb_capabilities_add(struct odb_capabilities *said, const struct odb_spec *spec,
                                     struct odb_error *err) ODB_MUST_USE;
/* The same from a program's words: options with ',' between, "max_outputs=16,cut=no". */
enum odb_status odb_capabilities_read(struct odb_capabilities *said, const char *options,
                                      struct odb_error *err) ODB_MUST_USE;
/* Appends them as options, without a ',' at either end. */
void odb_capabilities_put(const struct odb_capabilities *said, struct odb_buf *out);

/* SIZE_MAX: any number. */
size_t odb_capabilities_max_outputs(const struct odb_capabilities *said);
/* Whether a value of this name may be read though the model has it in its middle. */
bool odb_capabilities_tap(const struct odb_capabilities *said, const char *name);
enum odb_cuts odb_capabilities_cuts(const struct odb_capabilities *said);
/* As in cut=: "any", "prefix", "no". */
const char *odb_cuts_word(enum odb_cuts cuts);
/* Whether a loaded model runs on other inputs of the same shapes; true where that is not said. */
bool odb_capabilities_refeed(const struct odb_capabilities *said);
/* Seconds; -1: not said. */
double odb_capabilities_compile(const struct odb_capabilities *said);
double odb_capabilities_run(const struct odb_capabilities *said);
/* It has not all of ONNX's element types: its values are compared by value. */
bool odb_capabilities_by_value(const struct odb_capabilities *said);

#endif
