/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Makes this processor look like an older one to whatever runs under it: libraries choose their
 * kernels by CPUID, and some faults are in those for processors without AVX-512 and VNNI alone.
 *
 *     LD_PRELOAD=build/older-cpu.so ONNXDBG_OLDER_CPU=avx2 onnxdbg-serve …
 *
 * avx2: neither AVX-512 nor VNNI nor AMX. fma: no AVX2 either. sse4: no AVX at all. The processor
 * must be able to trap CPUID (arch_prctl(2), ARCH_SET_CPUID; "cpuid_fault" in /proc/cpuinfo): the
 * trap is a SIGSEGV, which is answered here with what the instruction says, less what is to be
 * hidden. What has chosen already stays chosen: the functions of libc, and those of the program
 * itself that the loader chooses.
 */
#include <asm/prctl.h>
#include <cpuid.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef ARCH_SET_CPUID
#define ARCH_SET_CPUID 0x1012
#endif

typedef int (*sigaction_fn)(int, const struct sigaction *, struct sigaction *);

/* What a name hides besides. */
static const struct older_kind {
    const char *name;
    bool avx2, avx;
} older_kinds[] = {{"avx2", false, false}, {"fma", true, false}, {"sse4", true, true}};

static struct older_kind older_kind;
static struct sigaction older_theirs; /* what the program itself does with a SIGSEGV */

static int older_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    static sigaction_fn real;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "sigaction");
    return real(sig, act, old);
}

/* CPUID traps, or does not, in this thread and those that it starts. */
static bool older_trap(bool on)
{
    return syscall(SYS_arch_prctl, ARCH_SET_CPUID, on ? 0 : 1) == 0;
}

#define BIT(n) (1u << (n))

static void older_hide(uint32_t leaf, uint32_t sub, uint32_t r[4])
{
    if (leaf == 7 && sub == 0) {
        r[1] &= ~(BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31));
        r[2] &= ~(BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14));
        r[3] &= ~(BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25));
    }
    if (leaf == 7 && sub == 0 && older_kind.avx2)
        r[1] &= ~BIT(5);
    if (leaf == 7 && sub == 1)
        r[0] = r[1] = r[2] = r[3] = 0; /* AVX-VNNI and younger */
    if (leaf == 1 && older_kind.avx)
        r[2] &= ~(BIT(12) | BIT(28) | BIT(29));
}

static void older_answer(int sig, siginfo_t *info, void *context)
{
    greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *at = (const uint8_t *)g[REG_RIP];
    uint32_t r[4];
    if (info->si_code == SI_KERNEL && at[0] == 0x0f && at[1] == 0xa2) {
        uint32_t leaf = (uint32_t)g[REG_RAX], sub = (uint32_t)g[REG_RCX];
        older_trap(false);
        __cpuid_count(leaf, sub, r[0], r[1], r[2], r[3]);
        older_trap(true);
        older_hide(leaf, sub, r);
        g[REG_RAX] = r[0], g[REG_RBX] = r[1], g[REG_RCX] = r[2], g[REG_RDX] = r[3];
        g[REG_RIP] += 2;
        return;
    }
    if (older_theirs.sa_flags & SA_SIGINFO && older_theirs.sa_sigaction) {
        older_theirs.sa_sigaction(sig, info, context);
    } else if (older_theirs.sa_handler == SIG_DFL || older_theirs.sa_handler == SIG_IGN) {
        older_sigaction(SIGSEGV, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    } else {
        older_theirs.sa_handler(sig);
    }
}

/* The program's own handler is kept, and called for what is not a trap. */
int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    if (sig != SIGSEGV)
        return older_sigaction(sig, act, old);
    if (old)
        *old = older_theirs;
    if (act)
        older_theirs = *act;
    return 0;
}

__attribute__((constructor)) static void older_begin(void)
{
    struct sigaction ours = {.sa_sigaction = older_answer,
                             .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    const char *which = getenv("ONNXDBG_OLDER_CPU");
    if (!which)
        return;
    for (size_t i = 0; i < sizeof older_kinds / sizeof *older_kinds; i++)
        if (!strcmp(which, older_kinds[i].name))
            older_kind = older_kinds[i];
    if (!older_kind.name) {
        fprintf(stderr, "older-cpu: ONNXDBG_OLDER_CPU=%s: use avx2, fma or sse4\n", which);
        _exit(125);
    }
    older_sigaction(SIGSEGV, &ours, NULL);
    if (!older_trap(true)) {
        fputs("older-cpu: this processor cannot hide what it is\n", stderr);
        _exit(125);
    }
}
