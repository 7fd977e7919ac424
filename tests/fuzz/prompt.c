/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines of the prompt: taken apart as those of a file that `source` names, and completed. Nothing
 * is run but `source` and `alias`, which are about lines themselves.
 */
#include "fuzz.h"

#include <unistd.h>

#include "command/call/call.h"
#include "command/call/console.h"
#include "command/call/parse.h"
#include "command/value/call_run.h"
#include "command/console/complete.h"
#include "command/console/console_line.h"
#include "command/console/script.h"
#include "session/session.h"

static void prompt_give(struct odb_console *console, const char *line, bool source)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_command_call call;
    char **argv = NULL;
    enum odb_status status = odb_console_parse(console, line, &argv, &call, false, &err);
    const char *name = status == ODB_OK ? call.command->name : "";
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    call.out = call.log = nowhere;
    if (!strcmp(name, "alias") || (source && !strcmp(name, "source")))
        (void)!odb_call_run(&call, &err);
    odb_call_dispose(&call);
    free(argv);
}

static void prompt_complete(const struct odb_console *console, const char *line)
{
    struct odb_completion completion;
    size_t n = strlen(line);
    if (n > 200 || strchr(line, '/') || strchr(line, '~')) /* folders are not input */
        return;
    odb_complete(&completion, console, line, n);
    odb_completion_dispose(&completion);
    odb_complete(&completion, console, line, n / 2);
    odb_completion_dispose(&completion);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_console console;
    struct odb_session *session;
    char path[FUZZ_PATH], *line, *from;
    setenv("ONNXDBG_ORT", "/dev/null", 1);
    if (odb_session_open_take(&session, fuzz_model(), NULL, &err) != ODB_OK)
        abort();
    int fd = fuzz_file(data, size, path);
    odb_console_init(&console, session);
    char *source = odb_xasprintf("source %s", path);
    prompt_give(&console, source, true);
    for (size_t i = 0; i < 100 && (line = odb_console_next(&console, &from)); i++) {
        prompt_give(&console, line, false);
        prompt_complete(&console, line);
        free(line);
        free(from);
    }
    free(source);
    odb_console_dispose(&console);
    close(fd);
    return 0;
}
