/* SPDX-License-Identifier: MIT
 *
 * Which recorded names are the model's, where another tool has made others of them: characters
 * replaced, something before or behind all of them, an index in front, numbers alone.
 */
#ifndef ODB_EXECUTOR_RECORDED_MANGLED_H
#define ODB_EXECUTOR_RECORDED_MANGLED_H

#include "base/buf.h"
#include "executor/recorded/recording.h"
#include "model/model.h"

struct odb_mangled;

/* What is open. */
struct odb_mangled_open {
    const struct odb_graph *graph;   /* borrowed for the call */
    struct odb_recording *recording; /* borrowed for the call */
    const size_t *found;             /* [n_values] what names have found; ODB_RECORDING_NONE */
    const bool *values;              /* [n_values] neither names nor a map say what it is */
    const bool *items;               /* [odb_recording_count()] nor which value it is */
    bool counts;                     /* names that are a number count something */
    /* The reference's values, from inputs that were all recorded: [n_inputs] of the graph. out is
     * [n_values], NULL where a value is not known; false: it cannot tell. */
    bool (*witness)(void *payload, struct odb_tensor *const *inputs, struct odb_tensor **out);
    void *payload;
};

struct odb_mangled *odb_mangled_new(const struct odb_mangled_open *open);
void odb_mangled_free(struct odb_mangled *mangled); /* NULL is fine */

/* Whether half of the names that are a number were found to count something. NULL is fine. */
bool odb_mangled_counts(const struct odb_mangled *mangled);
/* What was recorded of a value; ODB_RECORDING_NONE: it is not known. NULL is fine. */
size_t odb_mangled_find(const struct odb_mangled *mangled, int value);
/* What is known of a recorded one by its name. */
enum odb_mangled_fate {
    ODB_MANGLED_OTHER,   /* found, or no value's name */
    ODB_MANGLED_SEVERAL, /* it could be several values, or it and another one value */
    ODB_MANGLED_MISFIT   /* the value of its name has another shape, or another file */
};
enum odb_mangled_fate odb_mangled_fate(const struct odb_mangled *mangled, size_t item);
/* Whether its elements alone say which value it is, which is not believed. NULL is fine. */
bool odb_mangled_likely(const struct odb_mangled *mangled, size_t item);
/* How many were matched, and by which rule, in a line; false: none. NULL is fine. */
bool odb_mangled_tell(const struct odb_mangled *mangled, struct odb_buf *out);
/* Appends the lines of a map: what was matched, and with choices what elements alone say, and what
 * there is to choose, as remarks. */
void odb_mangled_map(const struct odb_mangled *mangled, bool choices, struct odb_buf *out);

#endif
