/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The shell command line: from argv to a row of the table, and from a status to what the process
 * returns.
 */
#include "command/shell/dispatch.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/parse.h"
#include "command/value/call_run.h"
#include "command/call/trust_store.h"
#include "command/table/command.h"
#include "command/table/command_find.h"
#include "command/table/help.h"
#include "fleet/fleet_file.h"
#include "session/files/stored.h"

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
        if (call.session)
            odb_trust_drop_pins(&call, call.session);
        odb_mem_keep_pages(); /* not before: a session is mostly room that is not touched yet */
        status = odb_call_run(&call, err);
    }
    if (status == ODB_OK && call.write_error && call.write_error != EPIPE)
        status = odb_fail(err, ODB_E_IO, "cannot write the output: %s", strerror(call.write_error));
    *found = call.found;
    odb_call_dispose(&call);
    return status;
}

/* --- the first word --------------------------------------------------------------------------- */

/* Names of models in a folder, "a.onnx, b.onnx and 3 more"; n of them. One alone is in *only. */
static size_t main_models(const char *folder, struct odb_buf *out, char **only)
{
    enum { SHOWN = 4 };
    struct dirent **entries = NULL;
    int all = scandir(folder, &entries, NULL, alphasort);
    size_t n = 0;
    *only = NULL;
    for (int i = 0; i < all; i++) {
        const char *name = entries[i]->d_name;
        size_t len = strlen(name);
        if (len > 5 && !strcmp(name + len - 5, ".onnx")) {
            if (n < SHOWN) {
                odb_buf_puts(out, n ? ", " : "");
                odb_buf_put_shown(out, name);
            }
            free(*only);
            *only = n++ ? NULL : odb_xasprintf("%s/%s", folder, name);
        }
        free(entries[i]);
    }
    free(entries);
    if (n > SHOWN)
        odb_buf_printf(out, " and %zu more", n - SHOWN);
    return n;
}

/* For a user that has never seen this program. */
static void main_welcome(FILE *log)
{
    struct odb_buf out = ODB_BUF_INIT, here = ODB_BUF_INIT;
    char *only;
    odb_buf_puts(&out, "onnxdbg finds the node where an ONNX model goes wrong.\n\n");
    odb_help_row(&out, "onnxdbg MODEL", 38, "opens it on a screen; F searches there");
    odb_help_row(&out, "onnxdbg bisect MODEL --target ort", 38,
                 "searches, and prints what is found");
    odb_help_row(&out, "onnxdbg tour", 38, "five steps on a small model with a fault");
    odb_help_row(&out, "onnxdbg help", 38, "lists all commands");
    if (main_models(".", &here, &only))
        odb_buf_printf(&out, "\nmodels here: %s\n", odb_buf_text(&here));
    fprintf(log, "%s\n", odb_buf_text(&out));
    free(only);
    odb_buf_dispose(&here);
    odb_buf_dispose(&out);
}

/* What a file that is no model by its name is for; NULL: it may be one. */
static const char *main_other_kind(const char *path)
{
    static const struct {
        const char *end, *remedy;
    } kinds[] = {
        {".npy", "`onnxdbg tensor FILE` shows it"},
        {".npz", "`onnxdbg compare` and --inputs-from take it"},
        {".pt", "onnxdbg-pytorch(7) tells how a module becomes an ONNX model"},
        {".pth", "onnxdbg-pytorch(7) tells how a module becomes an ONNX model"},
        {".safetensors", "these are weights without a graph; export the model to ONNX"},
        {".tflite", "convert it to ONNX, for instance by tf2onnx"},
        {".db", "it is no session of onnxdbg, either"},
        {".fleet", "it is no file of a fleet, either"},
    };
    size_t len = strlen(path);
    if (odb_stored_is(path)) /* which brings its model */
        return NULL;
    for (size_t i = 0; i < ODB_COUNT(kinds); i++)
        if (len > strlen(kinds[i].end) && !strcmp(path + len - strlen(kinds[i].end), kinds[i].end))
            return kinds[i].remedy;
    return NULL;
}

/* A folder stands for the one model in it. *path: the caller's, or NULL where word is the file. */
static enum odb_status main_model_path(const char *word, char **path, struct odb_error *err)
{
    struct stat info;
    struct odb_buf names = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    *path = NULL;
    if (word[0] == '-' || stat(word, &info) != 0)
        return ODB_OK;
    if (!S_ISDIR(info.st_mode)) {
        const char *remedy = main_other_kind(word);
        if (!remedy)
            return ODB_OK;
        odb_fail(err, ODB_E_USAGE, "%s is no ONNX model", word);
        return odb_error_remedy(err, "%s", remedy);
    }
    size_t n = main_models(word, &names, path);
    if (n != 1) {
        status = odb_fail(err, ODB_E_USAGE, n ? "%s is a folder" : "%s is a folder without a model",
                          word);
        odb_error_remedy(err, n ? "name a model in it: %s" : "name an .onnx file",
                         odb_buf_text(&names));
    }
    odb_buf_dispose(&names);
    return status;
}

/* `onnxdbg MODEL` and `onnxdbg --target ort MODEL`: a word that is no command is a model where
 * there is such a file, or where it looks like the name of one. */
static bool main_is_model(const char *word)
{
    return word[0] == '-' || access(word, F_OK) == 0 || strpbrk(word, "./");
}

static enum odb_status main_overview(FILE *out)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_help_overview(false, &text);
    fputs(odb_buf_text(&text), out);
    odb_buf_dispose(&text);
    return ODB_OK;
}

/* fleet --screen, with the file that argv[1] says. */
static enum odb_status main_fleet(int argc, char *const *argv, FILE *out, FILE *log,
                                  odb_screen_fn screen, bool *found, struct odb_error *err)
{
    const struct odb_command *command;
    ODB_TRY(odb_command_find(&command, "fleet", false, err));
    char **words = odb_new_n(char *, (size_t)argc + 1);
    memcpy(words, argv + 1, (size_t)argc * sizeof *argv);
    words[argc - 1] = (char *)"--screen";
    words[argc] = NULL;
    enum odb_status status = main_call(command, argc, words, out, log, screen, found, err);
    free(words);
    return status;
}

/* debug, with the model that argv[1] says. */
static enum odb_status main_debug(int argc, char *const *argv, FILE *out, FILE *log,
                                  odb_screen_fn screen, bool *found, struct odb_error *err)
{
    const struct odb_command *command;
    char *path;
    if (argv[1][0] != '-' && odb_fleet_file_is(argv[1]))
        return main_fleet(argc, argv, out, log, screen, found, err);
    ODB_TRY(odb_command_find(&command, "debug", false, err));
    ODB_TRY(main_model_path(argv[1], &path, err));
    char **words = odb_xmemdup(argv, ((size_t)argc + 1) * sizeof *argv);
    if (path)
        words[1] = path;
    enum odb_status status = main_call(command, argc - 1, words + 1, out, log, screen, found, err);
    free(words);
    free(path);
    return status;
}

static bool main_is_exact(const struct odb_command *command, const char *word)
{
    return !strcmp(command->name, word) || (command->alias && !strcmp(command->alias, word));
}

/* "dump_full": "full"; NULL: no old name. */
static const char *main_old_name(const char *word)
{
    static const char *const kinds[] = {"full", "once", "range", "list"};
    for (size_t i = 0; i < ODB_COUNT(kinds); i++)
        if (!strncmp(word, "dump_", 5) && !strcmp(word + 5, kinds[i]))
            return kinds[i];
    return NULL;
}

/* The command line as it would be without old names, for the program or its first word. NULL: it is
 * that already; else the caller's to free. */
static char **main_renamed(int *argc, char *const *argv)
{
    const char *slash = *argc ? strrchr(argv[0], '/') : NULL;
    const char *program = *argc ? main_old_name(slash ? slash + 1 : argv[0]) : NULL;
    const char *word = *argc > 1 ? main_old_name(argv[1]) : NULL;
    int from = program ? 1 : 2;
    if (!program && !word)
        return NULL;
    char **words = odb_new_n(char *, (size_t)*argc + 3);
    words[0] = argv[0];
    words[1] = (char *)"dump";
    words[2] = (char *)(program ? program : word);
    for (int i = from; i <= *argc; i++)
        words[i - from + 3] = argv[i];
    *argc += 3 - from;
    return words;
}

static enum odb_status main_dispatch(int argc, char *const *argv, FILE *out, FILE *log,
                                     odb_screen_fn screen, bool *found, struct odb_error *err)
{
    const struct odb_command *command;
    if (argc < 2) {
        main_welcome(log);
        odb_fail(err, ODB_E_USAGE, "no command given");
        return odb_error_remedy(err, "`onnxdbg help` lists the commands");
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return main_overview(out);
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        return fprintf(out, "onnxdbg %s\n", ODB_VERSION) < 0 ? ODB_E_IO : ODB_OK;
    enum odb_status status = odb_command_find(&command, argv[1], false, err);
    bool exact = status == ODB_OK && main_is_exact(command, argv[1]);
    if (!exact && main_is_model(argv[1]))
        return main_debug(argc, argv, out, log, screen, found, err);
    if (status != ODB_OK)
        return status;
    return main_call(command, argc - 2, argv + 2, out, log, screen, found, err);
}

int odb_command_main(int argc, char *const *argv, FILE *out, FILE *log, odb_screen_fn screen)
{
    struct odb_error err = ODB_ERROR_INIT;
    bool found = false;
    char **words = main_renamed(&argc, argv);
    enum odb_status status =
        main_dispatch(argc, words ? words : argv, out, log, screen, &found, &err);
    free(words);
    /* A reader that has had enough (a pager, head) is no error; a full disk is. */
    errno = 0;
    if ((fflush(out) || ferror(out)) && errno && errno != EPIPE && status == ODB_OK)
        status = odb_fail(&err, ODB_E_IO, "cannot write the output: %s", strerror(errno));
    if (status != ODB_OK)
        main_message(log, &err);
    return odb_exit_status(status, found);
}
