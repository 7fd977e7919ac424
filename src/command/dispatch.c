/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The shell command line: from argv to a row of the table, and from a status to what the process
 * returns.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command/call.h"

int odb_exit_status(enum odb_status status, bool found)
{
    switch (status) {
    case ODB_OK:
        return found ? 1 : 0;
    case ODB_CANCELLED:
        return 130;
    case ODB_E_USAGE:
        return 2;
    case ODB_E_IO:
    case ODB_E_FORMAT:
    case ODB_E_MODEL:
    case ODB_E_INPUT:
    case ODB_E_OPERATOR:
    case ODB_UNSUPPORTED:
        return 3;
    case ODB_E_NOMEM:
    case ODB_E_EXECUTOR:
    case ODB_E_CRASH:
    case ODB_E_TIMEOUT:
    case ODB_E_INTERNAL:
    case ODB_SKIPPED:
        return 4;
    }
    return 4;
}

static void main_message(FILE *log, const struct odb_error *err)
{
    char line[2048];
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, odb_error_text(err, line, sizeof line));
    fprintf(log, "onnxdbg: %s\n", odb_buf_text(&shown));
    odb_buf_dispose(&shown);
}

/* Columns of the terminal that a stream is, 0 where it is none. */
static int main_width(FILE *out)
{
    struct winsize size = {0};
    int fd = fileno(out);
    if (fd < 0 || !isatty(fd))
        return 0;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static enum odb_status main_call(const struct odb_command *command, int argc, char *const *argv,
                                 FILE *out, FILE *log, odb_screen_fn screen, bool *found,
                                 struct odb_error *err)
{
    struct odb_command_call call;
    enum odb_status status = odb_call_parse(&call, command, NULL, argc, argv, err);
    call.open_screen = screen;
    call.out = out;
    call.log = log;
    call.width = main_width(out);
    call.progress = main_width(log) > 0;
    if (status == ODB_OK && odb_call_has(&call, ODB_OPTION_HELP)) {
        struct odb_buf text = ODB_BUF_INIT;
        odb_help_command(command, &text);
        odb_call__print(&call, &text);
    } else if (status == ODB_OK) {
        status = odb_call_run(&call, err);
    }
    if (status == ODB_OK && call.write_error && call.write_error != EPIPE)
        status = odb_fail(err, ODB_E_IO, "cannot write the output: %s", strerror(call.write_error));
    *found = call.found;
    odb_call_dispose(&call);
    return status;
}

/* `onnxdbg MODEL` and `onnxdbg --target ort MODEL`: a word that is no command is a model where
 * there is such a file, or where it looks like one. */
static bool main_is_model(const char *word)
{
    size_t len = strlen(word);
    return word[0] == '-' || access(word, F_OK) == 0 ||
           (len > 5 && !strcmp(word + len - 5, ".onnx"));
}

static enum odb_status main_overview(FILE *out)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_help_overview(false, &text);
    fputs(odb_buf_text(&text), out);
    odb_buf_dispose(&text);
    return ODB_OK;
}

static enum odb_status main_dispatch(int argc, char *const *argv, FILE *out, FILE *log,
                                     odb_screen_fn screen, bool *found, struct odb_error *err)
{
    const struct odb_command *command;
    if (argc < 2) {
        odb_fail(err, ODB_E_USAGE, "no command given");
        return odb_error_remedy(err, "`onnxdbg help` lists the commands");
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return main_overview(out);
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        return fprintf(out, "onnxdbg %s\n", ODB_VERSION) < 0 ? ODB_E_IO : ODB_OK;
    int words = 1; /* in front of what the command gets */
    enum odb_status status = odb_command_find(&command, argv[1], false, err);
    if (status == ODB_OK)
        words = 2;
    else if (main_is_model(argv[1]))
        status = odb_command_find(&command, "debug", false, err);
    if (status != ODB_OK)
        return status;
    return main_call(command, argc - words, argv + words, out, log, screen, found, err);
}

int odb_command_main(int argc, char *const *argv, FILE *out, FILE *log, odb_screen_fn screen)
{
    struct odb_error err = ODB_ERROR_INIT;
    bool found = false;
    enum odb_status status = main_dispatch(argc, argv, out, log, screen, &found, &err);
    /* A reader that has had enough (a pager, head) is no error; a full disk is. */
    errno = 0;
    if ((fflush(out) || ferror(out)) && errno && errno != EPIPE && status == ODB_OK)
        status = odb_fail(&err, ODB_E_IO, "cannot write the output: %s", strerror(errno));
    if (status != ODB_OK)
        main_message(log, &err);
    return odb_exit_status(status, found);
}
