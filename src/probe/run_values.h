/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One run on an executor of its own, for values and nothing else.
 */
#ifndef ODB_PROBE_RUN_VALUES_H
#define ODB_PROBE_RUN_VALUES_H

#include "run/feeds.h"
#include "run/hooks.h"
#include "executor/executor.h"

/* Runs the whole model, or the prefix that computes the given values, once on an executor (an
 * in-process `cpu` spec included, through the same child). names[] are value names; outputs are
 * owned by the caller. hooks may be NULL. For `run`, `print`, `compare`, `export`. */
enum odb_status odb_run_values(const struct odb_model *model, const struct odb_feeds *feeds,
                               const char *spec, const int *values, size_t n_values,
                               struct odb_tensor **outputs, char *description, size_t size,
                               const struct odb_search_hooks *hooks,
                               struct odb_error *err) ODB_MUST_USE;

/* The same, but a value that the executor cannot give there is NULL. */
enum odb_status odb_run_readable(const struct odb_model *model, const struct odb_feeds *feeds,
                                 const char *spec, const int *values, size_t n_values,
                                 struct odb_tensor **outputs, char *description, size_t size,
                                 const struct odb_search_hooks *hooks,
                                 struct odb_error *err) ODB_MUST_USE;

/* Runs the whole model once on an executor and asks what became of it; account is the caller's to
 * dispose of, on failure too. For `target`. */
enum odb_status odb_run_account(const struct odb_model *model, const struct odb_feeds *feeds,
                                const char *spec, struct odb_account *account, char *description,
                                size_t size, const struct odb_search_hooks *hooks,
                                struct odb_error *err) ODB_MUST_USE;

/* What a recording holds of some values: refs owned by the caller, NULL where it lacks one, and all
 * NULL where the spec is of no recording. */
enum odb_status odb_recall(const struct odb_model *model, const char *spec, const int *values,
                           size_t n_values, struct odb_tensor **outputs,
                           struct odb_error *err) ODB_MUST_USE;

#endif
