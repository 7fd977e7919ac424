/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is wrong with a model, before it is run: what ONNX's checker refuses, and what runtimes
 * stumble over. Nothing is inferred: shapes are held against the declared ones only where a run of
 * the reference has shown them.
 */
#ifndef ODB_ANALYSIS_LINT_H
#define ODB_ANALYSIS_LINT_H

#include "reference/shapes.h"

/* Kinds of findings: id, name, whether it is an error, what to do about it (NULL: it depends). */
#define ODB_LINT_KINDS(X)                                                                          \
    X(UNREADABLE, "unreadable", true, NULL)                                                        \
    X(HEADER, "header", true, "set it when the model is written")                                  \
    X(OPSET_IMPORT, "opset-import", true, "add the domain to opset_import")                        \
    X(OPSET_NEW, "opset-new", false, "a newer onnxdbg may know it")                                \
    X(UNKNOWN_OPERATOR, "unknown-operator", true,                                                  \
      "check the spelling and the domain, or import the opset that has it")                        \
    X(NO_KERNEL, "no-kernel", false, "bring a kernel, see onnxdbg-kernel(7)")                      \
    X(NONSTANDARD, "nonstandard", false, "expect other runtimes to refuse it")                     \
    X(DEPRECATED, "deprecated", true, NULL)                                                        \
    X(ARITY, "arity", true, "compare with the operator's signature in this opset")                 \
    X(ATTRIBUTE, "attribute", true, "compare with the operator's attributes in this opset")        \
    X(INPUT_TYPE, "input-type", true, "insert a Cast, or import an opset that takes the type")     \
    X(UNSORTED, "unsorted", true, "write the nodes in topological order, as extract does")         \
    X(SHADOWED, "shadowed", true, "give it a name of its own")                                     \
    X(MISSING_TYPE, "missing-type", true, "declare element type and rank")                         \
    X(WEIGHT_TYPE, "weight-type", true, "declare what the weight is")                              \
    X(WEIGHT_NO_INPUT, "weight-no-input", true, "write IR version 4 or later")                     \
    X(EXTERNAL_DATA, "external-data", true, NULL)                                                  \
    X(CONTRADICTION, "contradiction", true, "declare what the run shows, or nothing")              \
    X(FAILS, "fails", true, "see whether its inputs are what it was exported for")                 \
    X(FLOAT16_RANGE, "float16-range", false, "keep it in float32: `onnxdbg precision` finds how")  \
    X(NOT_FINITE, "not-finite", false, "look where the first of them comes from")                  \
    X(DUPLICATE_NAME, "duplicate-name", false, "give each node a name of its own")                 \
    X(UNUSED_WEIGHT, "unused-weight", false, "drop it; `onnxdbg extract` does")                    \
    X(UNUSED_NODE, "unused-node", false, "drop it; `onnxdbg extract` does")                        \
    X(UNUSED_FUNCTION, "unused-function", false, "drop it; `onnxdbg extract` does")

enum odb_lint_kind {
#define ODB_LINT_KIND(id, ...) ODB_LINT_##id,
    ODB_LINT_KINDS(ODB_LINT_KIND)
#undef ODB_LINT_KIND
        ODB_LINT_COUNT
};

struct odb_finding {
    enum odb_lint_kind kind;
    int node;    /* of the main graph; ODB_NO_NODE: it is about something else */
    char *place; /* owned: "#3 conv1 (Conv)", "value x"; "" for the model */
    char *what;  /* owned */
};

struct odb_lint {
    ODB_VEC(struct odb_finding) items; /* owned */
    size_t errors, warnings;
};

const char *odb_lint_name(enum odb_lint_kind kind);
bool odb_lint_is_error(enum odb_lint_kind kind);
const char *odb_lint_remedy(enum odb_lint_kind kind); /* NULL: the finding says it */

void odb_lint_add(struct odb_lint *lint, enum odb_lint_kind kind, int node, const char *place,
                  const char *fmt, ...) ODB_PRINTF(5, 6);
/* What the model says about itself; types are checked where they are declared, or measured. */
void odb_lint_model(struct odb_lint *lint, const struct odb_model *model,
                    const struct odb_shapes *shapes);
/* What a run has shown: declarations that it contradicts, nodes that failed. */
void odb_lint_run(struct odb_lint *lint, const struct odb_model *model,
                  const struct odb_shapes *shapes);
/* A value that the run has made, or a weight: its range. */
void odb_lint_value(struct odb_lint *lint, const struct odb_graph *graph, int value,
                    const struct odb_tensor *t);
void odb_lint_dispose(struct odb_lint *lint);
/* The first error of a model, "arity #3 conv (Conv): it needs 2 inputs, and has 1"; with values, as
 * a run has made them ([n_values]; NULL: not known), those too that a run shows. That something is
 * not declared is none here: no runtime refuses a model for that. The caller's to free(); NULL:
 * there is none. */
char *odb_lint_error(const struct odb_model *model, struct odb_tensor *const *values);

/* How many values that nodes make are declared as something else than they are in values
 * ([n_values]; NULL: not known). *first: the first of them, in words, the caller's to free(); NULL:
 * there is none. */
size_t odb_lint_contradictions(const struct odb_graph *graph, struct odb_tensor *const *values,
                               char **first);

#endif
