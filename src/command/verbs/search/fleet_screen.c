/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/search/fleet_screen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/table/command.h"
#include "command/table/table.h"
#include "fleet/fleet_file.h"
#include "fleet/fleet_run.h"
#include "model/read/load.h"
#include "session/session.h"
#include "system/ending.h"
#include "system/file.h"
#include "system/lock.h"
#include "system/scratch.h"

#define SCREEN_WAIT 0.5      /* seconds until a run that goes on has begun */
#define SCREEN_POLL 20000000 /* nanoseconds */

/* The run's own words; what is told of it is told behind the screen. */
static void screen_words(const struct odb_command_call *call, const char *path,
                         struct odb_argv *argv)
{
    static const enum odb_option_id ours[] = {ODB_OPTION_SCREEN,      ODB_OPTION_FLEET,
                                              ODB_OPTION_REPORT_FILE, ODB_OPTION_JSON_FILE,
                                              ODB_OPTION_SINCE,       ODB_OPTION_GATE};
    char *self = odb_file_self(), *fleet = odb_xasprintf("--fleet=%s", path);
    odb_argv_add(argv, self);
    odb_argv_add(argv, "fleet");
    odb_argv_add(argv, odb_call_arg(call, 0));
    odb_argv_add(argv, fleet);
    for (size_t i = 0; i < call->options.n; i++) {
        const struct odb_call_option *option = &call->options.items[i];
        const struct odb_option *row = odb_option_row(option->id);
        bool passed = true;
        for (size_t k = 0; k < ODB_COUNT(ours); k++)
            passed &= ours[k] != option->id;
        char *word = row->type == ODB_ARG_FLAG ? odb_xasprintf("--%s", row->name)
                                               : odb_xasprintf("--%s=%s", row->name, option->value);
        if (passed)
            odb_argv_add(argv, word);
        free(word);
    }
    free(fleet);
    free(self);
}

static enum odb_status screen_start(const struct odb_command_call *call,
                                    struct odb_fleet_shown *shown, struct odb_error *err)
{
    struct odb_argv argv = {0};
    struct odb_program program = {.argv = &argv, .quiet = true};
    pid_t pid = 0;
    screen_words(call, shown->path, &argv);
    odb_ending_pass_on();
    int said = open(shown->said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    enum odb_status status = said < 0 || none < 0
                                 ? odb_fail(err, ODB_E_IO, "%s: %s", shown->said, strerror(errno))
                                 : odb_program_spawn(&program, (int[]){-1, none, said}, &pid, err);
    if (said >= 0)
        close(said);
    if (none >= 0)
        close(none);
    shown->run = pid;
    odb_argv_dispose(&argv);
    return status;
}

/* Until there is something to be shown, or the run has ended without. */
static enum odb_status screen_await(struct odb_fleet_shown *shown, struct odb_error *err)
{
    char *folder = odb_fleet_folder(shown->path);
    double began = odb_clock();
    int how = 0;
    bool there = false;
    while (!there && shown->run) {
        if (waitpid(shown->run, &how, WNOHANG) == shown->run)
            shown->run = 0;
        bool begun = odb_lock_holder(folder) || odb_clock() > began + SCREEN_WAIT;
        there = begun && odb_fleet_file_is(shown->path);
        if (!there)
            nanosleep(&(struct timespec){.tv_nsec = SCREEN_POLL}, NULL);
    }
    free(folder);
    bool fails = !shown->run && (!WIFEXITED(how) || WEXITSTATUS(how) == 2 || WEXITSTATUS(how) == 3);
    if (!fails)
        return ODB_OK;
    char *said = odb_fleet_last_line(shown->said);
    odb_fail(err, WIFEXITED(how) && WEXITSTATUS(how) == 2 ? ODB_E_USAGE : ODB_E_IO, "%s",
             said ? said : "the run ended, and said nothing");
    free(said);
    return err->code;
}

static void screen_end(struct odb_fleet_shown *shown)
{
    if (!shown->run)
        return;
    kill(shown->run, SIGTERM);
    while (waitpid(shown->run, NULL, 0) < 0 && errno == EINTR)
        ;
    shown->run = 0;
}

/* The screen is about a session; this one has an empty model. */
static enum odb_status screen_open(struct odb_command_call *call, struct odb_fleet_shown *shown,
                                   struct odb_error *err)
{
    static const unsigned char empty[] = {0x08, 8,             /* ir_version */
                                          0x42, 2,   0x10, 17, /* opset_import: version */
                                          0x3a, 7,   0x12, 5,  'f',
                                          'l',  'e', 'e',  't'}; /* graph: name */
    struct odb_model *model;
    struct odb_session *session;
    struct odb_console console;
    ODB_TRY(odb_model_open_bytes(&model, empty, sizeof empty, NULL, ".", shown->path, err));
    ODB_TRY(odb_session_open_take(&session, model, NULL, err));
    odb_console_init(&console, session);
    console.fleet = shown;
    enum odb_status status = call->open_screen(&console, err);
    odb_console_dispose(&console);
    return status;
}

enum odb_status odb_fleet_screen(struct odb_command_call *call, const char *path, bool runs,
                                 struct odb_error *err)
{
    struct odb_fleet_shown shown = {.path = path, .given = runs};
    char *folder = NULL, *said = NULL;
    enum odb_status status = ODB_OK;
    if (!call->open_screen || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        odb_fail(err, ODB_E_USAGE, "a screen needs a terminal");
        return odb_error_remedy(err, "`onnxdbg fleet` without --screen prints the fleet");
    }
    if (runs)
        ODB_TRY(odb_scratch_new(&folder, err));
    if (runs) {
        shown.said = said = odb_xasprintf("%s/said", folder);
        status = screen_start(call, &shown, err);
    }
    if (runs && status == ODB_OK)
        status = screen_await(&shown, err);
    if (status == ODB_OK)
        status = screen_open(call, &shown, err);
    screen_end(&shown);
    if (folder)
        odb_scratch_remove(folder);
    free(folder);
    free(said);
    return status;
}
