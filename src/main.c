/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>

#include "command/command.h"
#include "ui/ui.h"

int main(int argc, char **argv)
{
    /* Characters as the user's terminal has them, numbers always with a point. */
    setlocale(LC_CTYPE, "");
    /* A pipe closed early is an error of write(2), not the end of us. */
    signal(SIGPIPE, SIG_IGN);
    /* Fresh pages cost more than most kernels: keep what was touched once. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    return odb_command_main(argc, argv, stdout, stderr, ui_main);
}
