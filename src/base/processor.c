/* SPDX-License-Identifier: MIT */
#include "base/processor.h"

#include <stdatomic.h>

enum { PROCESSOR_ASKED = 1, PROCESSOR_F16C = 2, PROCESSOR_SHA = 4, PROCESSOR_VFPV4 = 8 };

#if defined(__x86_64__)
#include <cpuid.h>

static int processor_ask(void)
{
    unsigned a, b = 0, c = 0, d;
    int has = PROCESSOR_ASKED;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) && __builtin_cpu_supports("avx"))
        has |= PROCESSOR_F16C;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) &&
        __builtin_cpu_supports("sse4.1"))
        has |= PROCESSOR_SHA;
    return has;
}
#elif defined(__arm__)
#include <asm/hwcap.h>
#include <sys/auxv.h>

static int processor_ask(void)
{
    return PROCESSOR_ASKED | (getauxval(AT_HWCAP) & HWCAP_VFPv4 ? PROCESSOR_VFPV4 : 0);
}
#else
static int processor_ask(void)
{
    return PROCESSOR_ASKED;
}
#endif

/* Threads that ask at once get the same answer. */
static bool processor_has(int what)
{
    static atomic_int known;
    int has = atomic_load_explicit(&known, memory_order_relaxed);
    if (!has) {
        has = processor_ask();
        atomic_store_explicit(&known, has, memory_order_relaxed);
    }
    return has & what;
}

bool odb_processor_has_f16c(void)
{
    return processor_has(PROCESSOR_F16C);
}

bool odb_processor_has_sha(void)
{
    return processor_has(PROCESSOR_SHA);
}

bool odb_processor_has_vfpv4(void)
{
    return processor_has(PROCESSOR_VFPV4);
}
