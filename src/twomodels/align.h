/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which value of one model is which of another, where the other was made of the first: optimised,
 * quantised, converted, renamed. Graph against graph: nothing is read, run or printed here.
 *
 * A value has a partner by a map, by its place among inputs and outputs, by its name, by what both
 * models make of the same inputs, or by structure: the same operator on partners, or before them.
 * Where two could be meant, none is taken: a missing pair makes the region between two others
 * larger, a wrong one accuses the innocent.
 */
#ifndef ODB_TWOMODELS_ALIGN_H
#define ODB_TWOMODELS_ALIGN_H

#include "model/model.h"

#define ODB_PAIRED_LIST(X)                                                                         \
    X(NOT, "none")                                                                                 \
    X(MAP, "map")                                                                                  \
    X(PLACE, "place") /* among the inputs or outputs */                                            \
    X(NAME, "name")                                                                                \
    X(VALUE, "by value")                                                                           \
    X(STRUCTURE, "structure")                                                                      \
    X(FUSED, "fused")

enum odb_paired {
#define ODB_PAIRED_ENUM(name, text) ODB_PAIRED_##name,
    ODB_PAIRED_LIST(ODB_PAIRED_ENUM)
#undef ODB_PAIRED_ENUM
};
const char *odb_paired_name(enum odb_paired how);

/* What is given to odb_align(). Functions may be NULL. */
struct odb_align_sides {
    const struct odb_graph *original, *other;
    /* What the map calls a value of the original in the other; owned by the caller; NULL: nothing
     */
    char *(*mapped)(void *payload, const char *name);
    /* How far apart the two models' values are, over the original's rms; INFINITY: no two tensors
     * of one shape; NAN: one is not known. */
    double (*gap)(void *payload, int original, int other);
    /* Whether the original's value can be distinguished from others: not constant, not but a few
     * elements. */
    bool (*tells)(void *payload, int original);
    double near; /* gaps up to this are no difference */
    /* Whether gap() has what is kept in blocks (blocked.h) in the usual order; without, such values
     * get no partners. */
    bool unblocked;
    /* [values of other] Constants that are stored in blocks, in the usual order; NULL: the others,
     * or all. */
    struct odb_tensor *const *constants;
    void *payload;
};

struct odb_alignment {
    int *other;           /* owned; [values of original] partner, or ODB_NO_VALUE */
    int *original;        /* owned; [values of other] the same the other way */
    enum odb_paired *how; /* owned; [values of original] */
    double *confidence;   /* owned; [values of original] 0 … 1 */
    int *node;            /* owned; [nodes of other] the node of the original that does the same, or
                             ODB_NO_NODE */
    size_t n_values, n_others, n_nodes;  /* lengths */
    struct odb_tensor *const *constants; /* borrowed: sides */
    const char *unknown; /* borrowed: the first value that the map gives such a name */
    size_t n_unknown;    /* names in the map that the other model lacks */
};

void odb_align(struct odb_alignment *out, const struct odb_align_sides *sides);
void odb_alignment_dispose(struct odb_alignment *a);

/* The scale and the zero point (ODB_NO_VALUE: 0) that a quantised value was made with: values of
 * its graph. False: the value is not quantised. */
bool odb_quantised_by(const struct odb_graph *graph, int value, int *scale, int *zero);
/* The constant behind a value, through Identity, Cast and DequantizeLinear; NULL: none. Borrowed.
 */
const struct odb_value *odb_constant_behind(const struct odb_graph *graph, int value);
/* What such a value holds: a weight, or what a Constant says. Borrowed, never NULL. */
const struct odb_tensor *odb_constant_tensor(const struct odb_graph *graph,
                                             const struct odb_value *behind);
/* The nodes that make a value of those in stop ([n_values] marks) and of inputs and constants, into
 * marks ([n_nodes]); at its border the values in stop, into border (room for n_values). Returns how
 * many these are. */
size_t odb_region(const struct odb_graph *graph, int value, const bool *stop, bool *marks,
                  int *border);

#endif
