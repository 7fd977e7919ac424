/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <locale.h>
#include <signal.h>
#include <stdio.h>

#include "base/mem.h"
#include "command/command.h"
#include "ui/ui.h"

int main(int argc, char **argv)
{
    /* Characters as the user's terminal has them, numbers always with a point. */
    setlocale(LC_CTYPE, "");
    /* A pipe closed early is an error of write(2), not the end of us. */
    signal(SIGPIPE, SIG_IGN);
    odb_mem_keep_pages();
    return odb_command_main(argc, argv, stdout, stderr, ui_main);
}
