/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Linked into both programs by `make coverage`: who leaves with _exit() tells what was run first.
 */
void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

_Noreturn void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
