/* SPDX-License-Identifier: MIT
 *
 * What the CPU reference can do as an executor beyond what all executors can.
 */
#ifndef ODB_EXECUTOR_CPU_EXECUTOR_H
#define ODB_EXECUTOR_CPU_EXECUTOR_H

#include "executor/executor.h"
#include "interpret/cpu.h"

/* All runs of an executor `cpu` in this process are watched from now on; watch is borrowed until
 * it is closed. False: the executor is another. */
bool odb_cpu_executor_watch(struct odb_executor *executor, const struct odb_cpu_watch *watch);

/* How the reference computes, from a spec such as "cpu:f16", without options. ODB_E_USAGE: it is
 * none of the CPU's precisions. */
enum odb_status odb_precision_parse(enum odb_precision *out, const char *spec,
                                    struct odb_error *err) ODB_MUST_USE;
/* The static name of a precision that a target may be expected to be as coarse as; NULL: none of
 * those is called so. */
const char *odb_precision_expected(const char *name);

#endif
