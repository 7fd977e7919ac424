/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Making a trace, as trace.c (the CPU by itself) and reference_from.c (values of an executor)
 * share it.
 */
#ifndef ODB_REFERENCE_TRACE_INT_H
#define ODB_REFERENCE_TRACE_INT_H

#include "run/feeds.h"
#include "run/hooks.h"
#include "reference/trace.h"

/* A run over the whole model. */
struct trace_run {
    struct odb_trace *trace;
    struct odb_tensor **values;
    const struct odb_search_hooks *hooks;
    const char *phase;
    struct odb_tensor *const
        *stand_in;                    /* [n_values] for nodes that the CPU cannot run; NULL: none */
    const struct odb_trace_pin *pins; /* that the reference takes in place of its own; NULL: none */
    size_t n_pins;
    const struct odb_trace_options *options; /* borrowed: with what is called; NULL: no more */
    double *took; /* [n_nodes] as in struct odb_cpu_run; NULL: it is not timed */
};

struct odb_trace *odb_trace__new(const struct odb_model *model, const struct odb_feeds *feeds,
                                 const struct odb_trace_options *options);
enum odb_status
odb_trace__walk(struct trace_run *run, enum odb_precision precision, uint64_t seed, bool free_dead,
                enum odb_status (*after)(void *, int, enum odb_status, struct odb_error *),
                struct odb_error *err) ODB_MUST_USE;
/* Values of a node that are no floats, or are missing, become the reference's. */
void odb_trace__pin(const struct trace_run *run, int node, bool mark);

/* A Cast to a type that does not hold what it is given: the model itself asks for that rounding. */
bool odb_trace__rounds(const struct odb_trace *trace, const struct odb_node *node);

/* stand_in may be NULL. */
enum odb_status odb_trace__make_own(struct odb_trace **out, const struct odb_model *model,
                                    const struct odb_feeds *feeds,
                                    const struct odb_trace_options *options,
                                    struct odb_tensor *const *stand_in,
                                    struct odb_error *err) ODB_MUST_USE;

#endif
