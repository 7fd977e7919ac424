/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Linked into every unit test: where ONNXDBG_CASE is set, only the cases of that name run. It may
 * hold * and ?.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void filter_cases(void)
{
    const char *name = getenv("ONNXDBG_CASE");
    if (name)
        cmocka_set_test_filter(name);
}
