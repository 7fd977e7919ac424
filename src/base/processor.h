/* SPDX-License-Identifier: MIT
 *
 * What the processor has beside the sets of instructions that __builtin_cpu_supports() knows in
 * every compiler. It is asked once: under a virtual machine the question takes tens of
 * microseconds. False on processors that are of another kind.
 */
#ifndef ODB_BASE_PROCESSOR_H
#define ODB_BASE_PROCESSOR_H

#include <stdbool.h>

/* Conversion between float16 and float (F16C, with AVX). */
bool odb_processor_has_f16c(void);
/* SHA-256 (SHA extensions, with SSE4.1). */
bool odb_processor_has_sha(void);
/* Fused multiply-add of ARM with 32 bits. */
bool odb_processor_has_vfpv4(void);

#endif
