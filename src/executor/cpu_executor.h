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

#endif
