/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The manual as man reads it: a page of the program, one of each command, one of the screen. Made
 * from the rows that the command line itself is read with, so none of it can be out of date.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/command_find.h"
#include "command/table/help.h"
#include "command/table/table.h"
#include "command/table/verbs.h"
#include "executor/executor.h"
#include "onnxdbgrc.h"
#include "system/file.h"

#define MANUAL_SCREEN "screen" /* the page with what only the prompt knows */

static const struct {
    const char *name, *help;
} manual_environment[] = {
    {"COLORFGBG", "light or dark, as some terminals tell it; `theme` overrules it."},
    {"COLORTERM", "truecolor where the terminal has all colours; doctor tells."},
    {"NO_COLOR", "no colours, if it is set and not empty."},
    {"ONNXDBG_ASCII", "draw with ASCII alone, also where the locale says UTF-8."},
    {"ONNXDBG_AUTOSAVE", "on or off: whether sessions save themselves, where --autosave and "
                         "`set autosave` do not say."},
    {"ONNXDBG_CACHE", "the folder of files that other machines sent, with compiled models below "
                      "it; empty for files and compiled in ~/.cache/onnxdbg."},
    {"ONNXDBG_CACHE_SIZE", "how large each of the two may grow, as 10G."},
    {"ONNXDBG_FROZEN_CLOCK",
     "every clock on the screen shows 0; explanations and rankings take the "
     "time that they need, for tests."},
    {"ONNXDBG_KERNELS", "libraries of kernels, parted by colons, as --kernels."},
    {"ONNXDBG_MODEL_TYPE", "the type that compilers are to make of the model; see "
                           "onnxdbg-dump-tools(7)."},
    {"ONNXDBG_NODE_MODULES", "where the packages of web and onnxjs are; see onnxdbg-server(7)."},
    {"ONNXDBG_ORT", "the library of ONNX Runtime; see onnxdbg-ort(7)."},
    {"ONNXDBG_PASSED_PATH", "configuration of their passes, likewise."},
    {"ONNXDBG_PYTHON", "the Python that runs python:, numpy, opencv and torch targets; see "
                       "onnxdbg-python(7)."},
    {"ONNXDBG_REMOTE_SERVE", "onnxdbg-serve on the other machine; see onnxdbg-ssh(7)."},
    {"ONNXDBG_BEAT", "Seconds between a link's signs of life; see onnxdbg-via(7)."},
    {"ONNXDBG_SERVE", "the child program that targets run in; else the one beside onnxdbg."},
    {"ONNXDBG_SHARE", "where the Python and JavaScript files of onnxdbg lie."},
    {"ONNXDBG_SSH", "the program in place of ssh."},
    {"ONNX_MLIR_FLAGS", "more options for the compiler; see onnxdbg-onnx-mlir(7)."},
    {"ONNX_MLIR_HOME", "the parent of bin and lib of onnx-mlir."},
    {"OPENBLAS_CORETYPE", "which processor's loops OpenBLAS takes, and so NumPy; doctor tells."},
    {"PAGER", "what shows a view in full; else less."},
    {"TMPDIR", "where temporary files go; else /tmp."},
    {"VERBOSE", "print the command lines of programs that run, and what they print."},
    {"VISUAL, EDITOR", "what edits a line or a file."},
};

static const struct {
    const char *name, *help;
} manual_files[] = {
    {"~/.config/onnxdbg/onnxdbgrc", "keys and settings of the screen; onnxdbg-screen(7) lists "
                                    "those that are built in. $XDG_CONFIG_HOME moves it."},
    {"~/.local/state/onnxdbg/", "what was typed at the prompt, and hashes of the targets and files "
                                "that sessions of one's own name. $XDG_STATE_HOME moves it."},
    {"~/.local/state/onnxdbg/sessions/",
     "sessions that saved themselves: what a screen without --session found, with marks, notes and "
     "breakpoints; `sessions` and `view sessions` list them. The 50 newest are kept, and no more "
     "than 512 MiB. May be deleted."},
    {"~/.cache/onnxdbg/", "compiled models and files that were sent. May be deleted. "
                          "$XDG_CACHE_HOME moves it."},
};

/* --- text ------------------------------------------------------------------------------------- */

/* Text as lines of roff: a sentence each, what stands between ` in bold. */
static void manual_text(struct odb_buf *out, const char *text)
{
    bool bold = false, start = true;
    for (const char *p = text; *p; p++) {
        if (start && (*p == '.' || *p == '\''))
            odb_buf_puts(out, "\\&");
        start = false;
        if (*p == '\\')
            odb_buf_puts(out, "\\e");
        else if (*p == '-')
            odb_buf_puts(out, "\\-");
        else if (*p == '`')
            odb_buf_puts(out, (bold = !bold) ? "\\fB" : "\\fP");
        else if (*p == '\n' || (*p == ' ' && p > text && p[-1] == '.' && isupper((uint8_t)p[1])))
            odb_buf_putc(out, '\n'), start = true;
        else
            odb_buf_putc(out, *p);
    }
    odb_buf_putc(out, '\n');
}

/* A word as the argument of a macro. */
static void manual_word(struct odb_buf *out, const char *word)
{
    odb_buf_putc(out, '"');
    for (; *word; word++)
        odb_buf_puts(out, *word == '"'    ? "\\(dq"
                          : *word == '\\' ? "\\e"
                          : *word == '-'  ? "\\-"
                                          : (char[]){*word, 0});
    odb_buf_putc(out, '"');
}

static void manual_item(struct odb_buf *out, const char *head, const char *text)
{
    odb_buf_puts(out, ".It ");
    manual_word(out, head);
    odb_buf_putc(out, '\n');
    manual_text(out, text);
}

static void manual_head(struct odb_buf *out, const char *name, int section, const char *help)
{
    char *title = odb_xstrdup(name);
    for (char *p = title; *p; p++)
        *p = (char)toupper((uint8_t)*p);
    odb_buf_printf(out,
                   ".\\\" made by: onnxdbg manual\n.Dd %s\n.Dt %s %d\n.Os onnxdbg\n"
                   ".Sh NAME\n.Nm %s\n.Nd ",
                   ODB_DATE, title, section, name);
    manual_text(out, help);
    free(title);
}

/* Lines as they are typed. */
static void manual_literal(struct odb_buf *out, const char *text)
{
    odb_buf_puts(out, ".Bd -literal -offset indent\n");
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        char *copy = odb_xstrndup(line, len);
        if (*copy == '.' || *copy == '\'')
            odb_buf_puts(out, "\\&");
        for (const char *p = copy; *p; p++)
            odb_buf_puts(out, *p == '\\' ? "\\e" : *p == '-' ? "\\-" : (char[]){*p, 0});
        odb_buf_putc(out, '\n');
        free(copy);
        line += len + (line[len] == '\n');
    }
    odb_buf_puts(out, ".Ed\n");
}

/* --- pages ------------------------------------------------------------------------------------ */

/* What a page points to: "1 onnxdbg-bisect", the section first, which is how they are sorted. */
struct manual_pages {
    ODB_VEC(char *) rows; /* owned */
};

static void manual_add(struct manual_pages *pages, const char *name, size_t len, char section)
{
    char *row = odb_xasprintf("%c %.*s", section, (int)len, name);
    for (size_t i = 0; i < pages->rows.n; i++)
        if (!strcmp(pages->rows.items[i], row)) {
            free(row);
            return;
        }
    odb_push(&pages->rows, row);
}

/* The pages that a text speaks of, as onnxdbg-ort(7), but for the page itself. */
static void manual_collect(struct manual_pages *pages, const char *own, const char *text)
{
    for (const char *p = text; (p = strstr(p, "onnxdbg-")); p++) {
        size_t len = strspn(p, "abcdefghijklmnopqrstuvwxyz-");
        if (p[len] == '(' && isdigit((uint8_t)p[len + 1]) && (strncmp(own, p, len) || own[len]))
            manual_add(pages, p, len, p[len + 1]);
    }
}

static int manual_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Empties the list. */
static void manual_see_also(struct odb_buf *out, struct manual_pages *pages)
{
    if (pages->rows.n)
        qsort(pages->rows.items, pages->rows.n, sizeof *pages->rows.items, manual_compare);
    odb_buf_puts(out, ".Sh SEE ALSO\n");
    for (size_t i = 0; i < pages->rows.n; i++) {
        const char *row = pages->rows.items[i];
        odb_buf_printf(out, ".Xr %s %c%s\n", row + 2, *row, i + 1 < pages->rows.n ? " ," : "");
        free(pages->rows.items[i]);
    }
    free(pages->rows.items);
}

static void manual_exit_status(struct odb_buf *out)
{
    const char *status, *help;
    odb_buf_puts(out, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n");
    for (size_t i = 0; (status = odb_help_exit(i, &help)); i++)
        manual_item(out, status, help);
    odb_buf_puts(out, ".El\n");
}

/* What an option's choices mean, where they need a word. */
static void manual_choices(struct odb_buf *out, enum odb_option_id id)
{
    const char *name, *help;
    for (size_t i = 0; (name = odb_option_choice(id, i, &help)); i++) {
        odb_buf_puts(out, i ? "" : ".Bl -tag -width Ds\n");
        manual_item(out, name, help);
    }
    if (odb_option_choice(id, 0, &help))
        odb_buf_puts(out, ".El\n");
}

static void manual_options(struct odb_buf *out, const struct odb_command *command,
                           struct manual_pages *pages, const char *own)
{
    odb_buf_puts(out, ".Sh OPTIONS\n.Bl -tag -width Ds\n");
    for (int id = 0; id < ODB_OPTION_COUNT; id++) {
        struct odb_buf head = ODB_BUF_INIT, text = ODB_BUF_INIT;
        if (!odb_command_takes(command, id))
            continue;
        odb_help_option(command, (enum odb_option_id)id, &head, &text);
        manual_item(out, odb_buf_text(&head), odb_buf_text(&text));
        manual_collect(pages, own, odb_buf_text(&text));
        manual_choices(out, (enum odb_option_id)id);
        odb_buf_dispose(&head);
        odb_buf_dispose(&text);
    }
    odb_buf_puts(out, ".El\n");
}

static void manual_command(struct odb_buf *out, const struct odb_command *command)
{
    char *name = odb_xasprintf("onnxdbg-%s", command->name);
    struct odb_buf usage = ODB_BUF_INIT;
    struct manual_pages pages = {0};
    odb_help_usage(command, &usage);
    manual_add(&pages, "onnxdbg", strlen("onnxdbg"), '1');
    manual_head(out, name, 1, command->help);
    odb_buf_puts(out, ".Sh SYNOPSIS\n");
    manual_text(out, odb_buf_text(&usage));
    odb_buf_puts(out, ".Sh DESCRIPTION\n");
    manual_text(out, command->text);
    manual_collect(&pages, name, command->text);
    if (command->options)
        manual_options(out, command, &pages, name);
    manual_exit_status(out);
    odb_buf_puts(out, ".Sh EXAMPLES\n");
    manual_literal(out, command->example);
    manual_see_also(out, &pages);
    odb_buf_dispose(&usage);
    free(name);
}

/* Every command with one of the flags and none of the others, by group. */
static void manual_commands(struct odb_buf *out, unsigned flag, unsigned without, bool whole)
{
    size_t n;
    const struct odb_command *rows = odb_command_table(&n);
    const char *group = "";
    for (size_t i = 0; i < n; i++) {
        if (!(rows[i].flags & flag) || rows[i].flags & without)
            continue;
        if (strcmp(group, rows[i].group)) {
            odb_buf_printf(out, "%s.Ss %c%s\n.Bl -tag -width Ds\n", *group ? ".El\n" : "",
                           toupper((uint8_t)*rows[i].group), rows[i].group + 1);
            group = rows[i].group;
        }
        struct odb_buf usage = ODB_BUF_INIT;
        odb_help_usage(&rows[i], &usage);
        if (rows[i].alias)
            odb_buf_printf(&usage, " (%s)", rows[i].alias);
        manual_item(out, whole ? odb_buf_text(&usage) : rows[i].name,
                    whole ? rows[i].text : rows[i].help);
        odb_buf_dispose(&usage);
    }
    odb_buf_puts(out, ".El\n");
}

static void manual_overview(struct odb_buf *out)
{
    size_t n;
    struct manual_pages pages = {0};
    manual_head(out, "onnxdbg", 1, "debugger for ONNX models");
    odb_buf_puts(out, ".Sh SYNOPSIS\n.Nm\n.Ar MODEL\n.Op Ar options\n.Nm\n.Ar COMMAND\n"
                      ".Op Ar arguments\n.Op Ar options\n.Sh DESCRIPTION\n");
    manual_text(out, "Runs a model on a reference and on a target, finds the node where they "
                     "diverge, and shows, explains and exports it. A MODEL alone is opened on a "
                     "screen. Each command has a page of its own, as onnxdbg-bisect(1); "
                     "onnxdbg-tutorial(7) goes through a whole hunt, onnxdbg-guide(7) explains "
                     "what commands share.");
    manual_commands(out, ODB_COMMAND_SHELL, 0, false);
    odb_buf_puts(out, ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < ODB_COUNT(manual_environment); i++)
        manual_item(out, manual_environment[i].name, manual_environment[i].help);
    odb_buf_puts(out, ".El\n.Sh FILES\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < ODB_COUNT(manual_files); i++)
        manual_item(out, manual_files[i].name, manual_files[i].help);
    odb_buf_puts(out, ".El\n");
    manual_exit_status(out);
    manual_collect(&pages, "onnxdbg",
                   "onnxdbg-against(7) onnxdbg-guide(7) onnxdbg-kernel(7) onnxdbg-reference(7) "
                   "onnxdbg-report(7) onnxdbg-screen(7) onnxdbg-targets(7) onnxdbg-tutorial(7) "
                   "onnxdbg-tutorial-backend(7) onnxdbg-tutorial-ci(7) "
                   "onnxdbg-tutorial-deployment(7) onnxdbg-tutorial-recordings(7)");
    const struct odb_executor_ops *const *executors = odb_executor_list(&n);
    for (size_t i = 0; i < n; i++)
        manual_collect(&pages, "onnxdbg", executors[i]->page);
    manual_see_also(out, &pages);
}

static void manual_screen(struct odb_buf *out)
{
    struct manual_pages pages = {0};
    manual_head(out, "onnxdbg-" MANUAL_SCREEN, 7, "commands and keys of onnxdbg's screen");
    odb_buf_puts(out, ".Sh DESCRIPTION\n");
    manual_text(out, "The commands here are for the prompt, which the key : opens, for keys, for "
                     "the lines of ~/.config/onnxdbg/onnxdbgrc, and for the scripts of `onnxdbg "
                     "debug --batch -x` and of `source`. Those of onnxdbg(1) that work on a model "
                     "are understood there as well, without the MODEL. A name may be shortened "
                     "as long as it is unique.");
    manual_commands(out, ODB_COMMAND_PROMPT, ODB_COMMAND_SHELL, true);
    odb_buf_puts(out, ".Sh KEYS\n");
    manual_text(out, "What is built in, in the form of the file:");
    manual_literal(out, keymap_builtin);
    manual_add(&pages, "onnxdbg", strlen("onnxdbg"), '1');
    manual_collect(&pages, "onnxdbg",
                   "onnxdbg-debug(1) onnxdbg-tour(1) onnxdbg-guide(7) onnxdbg-tutorial(7)");
    manual_see_also(out, &pages);
}

/* --- the command ------------------------------------------------------------------------------ */

/* The folder holds whole pages only: each is written beside, then renamed. */
static enum odb_status manual_write(const char *dir, int section, const char *name,
                                    struct odb_buf *page, struct odb_error *err)
{
    char *folder = odb_xasprintf("%s/man%d", dir, section);
    char *path = odb_xasprintf("%s/%s.%d", folder, name, section);
    enum odb_status status = odb_file_mkdir(folder, err);
    if (status == ODB_OK)
        status = odb_file_write(path, odb_buf_text(page), page->len, err);
    odb_buf_dispose(page);
    free(folder);
    free(path);
    return status;
}

static enum odb_status manual_write_all(const char *dir, struct odb_error *err)
{
    size_t n;
    struct odb_buf page = ODB_BUF_INIT;
    const struct odb_command *rows = odb_command_table(&n);
    ODB_TRY(odb_file_mkdir(dir, err));
    manual_overview(&page);
    ODB_TRY(manual_write(dir, 1, "onnxdbg", &page, err));
    manual_screen(&page);
    ODB_TRY(manual_write(dir, 7, "onnxdbg-" MANUAL_SCREEN, &page, err));
    for (size_t i = 0; i < n; i++) {
        if (!(rows[i].flags & ODB_COMMAND_SHELL))
            continue;
        char *name = odb_xasprintf("onnxdbg-%s", rows[i].name);
        manual_command(&page, &rows[i]);
        enum odb_status status = manual_write(dir, 1, name, &page, err);
        free(name);
        ODB_TRY(status);
    }
    return ODB_OK;
}

enum odb_status odb_command__manual(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_buf page = ODB_BUF_INIT;
    const struct odb_command *command;
    const char *name = odb_call_arg(call, 0), *dir = odb_call_option(call, ODB_OPTION_MANUAL_DIR);
    if (dir)
        return manual_write_all(dir, err);
    if (!name)
        manual_overview(&page);
    else if (!strcmp(name, MANUAL_SCREEN))
        manual_screen(&page);
    else {
        ODB_TRY(odb_command_find(&command, name, false, err));
        manual_command(&page, command);
    }
    odb_call__print(call, &page);
    return ODB_OK;
}
