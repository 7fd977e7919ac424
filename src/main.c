/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <locale.h>
#include <signal.h>
#include <stdio.h>

#include "base/mem.h"
#include "command/shell/dispatch.h"
#include "command/table/command.h"
#include "system/ending.h"
#include "system/file.h"
#include "system/mapping.h"
#include "system/temporary.h"
#include "ui/app/ui.h"

/* Commands that have something to say of being interrupted catch these themselves. */
static void main_on_signal(int number)
{
    odb_temporary_remove();
    raise(number); /* as it is by default now: SA_RESETHAND */
}

static void main_catch(int number)
{
    struct sigaction action = {.sa_handler = main_on_signal, .sa_flags = (int)SA_RESETHAND}, before;
    sigemptyset(&action.sa_mask);
    sigaction(number, NULL, &before);
    if (before.sa_handler == SIG_DFL) /* nohup asks for some to be ignored */
        sigaction(number, &action, NULL);
}

int main(int argc, char **argv)
{
    odb_file_fill_standard();
    /* Characters as the user's terminal has them, numbers always with a point. */
    setlocale(LC_CTYPE, "");
    /* A pipe closed early is an error of write(2), not the end of us. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* nor is a file that may not grow */
    main_catch(SIGINT);
    main_catch(SIGTERM);
    main_catch(SIGHUP);
    main_catch(SIGQUIT);
    odb_ending_catch();
    odb_ending_with_parent();
    odb_mapping_watch();
    return odb_command_main(argc, argv, stdout, stderr, ui_main);
}
