/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An executor by a name of the user's own: an alias that stands for a spec, of the console or of
 * the user's file of settings.
 */
#include "command/call/executor_alias.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/console.h"
#include "command/table/command.h"
#include "command/table/word_check.h"
#include "executor/likely.h"
#include "executor/executor.h"
#include "system/file.h"

/* "alias NAME = SPEC": the spec, where the name is this one. */
static char *named_line(char *line, const char *name)
{
    static const char blanks[] = " \t\n";
    char *rest = NULL, *word = strtok_r(line, blanks, &rest);
    if (!word || strcmp(word, "alias"))
        return NULL;
    word = strtok_r(NULL, blanks, &rest);
    if (!word || strcmp(word, name) || !(word = strtok_r(NULL, blanks, &rest)))
        return NULL;
    if (!strcmp(word, "="))
        word = strtok_r(NULL, blanks, &rest);
    return word ? odb_xstrdup(word) : NULL;
}

static char *named_in_file(const char *name)
{
    char *path = odb_file_home("XDG_CONFIG_HOME", ".config", "onnxdbgrc"), *line = NULL;
    char *found = NULL;
    size_t size = 0;
    FILE *file = NULL;
    struct odb_error ignored = ODB_ERROR_INIT;
    if (path && odb_file_open(&file, path, &ignored) != ODB_OK)
        file = NULL;
    while (file && getline(&line, &size, file) > 0) {
        char *spec = named_line(line, name);
        if (!spec)
            continue;
        free(found); /* the last one counts */
        found = spec;
    }
    if (file)
        fclose(file);
    free(line);
    free(path);
    return found;
}

char *odb_executor_named(const struct odb_console *console, const char *word)
{
    if (strpbrk(word, ":,@") || odb_executor_find(word))
        return NULL;
    for (size_t i = 0; console && i < console->aliases.n; i++)
        if (!strcmp(console->aliases.items[i].name, word))
            return odb_xstrdup(console->aliases.items[i].line);
    return named_in_file(word);
}

enum odb_status odb_call__check_setting(const struct odb_console *console,
                                        const struct odb_option *row, const char *value,
                                        struct odb_error *err)
{
    struct odb_spec *spec;
    if (row->type != ODB_ARG_SPEC)
        return odb_call__check(row, value, err);
    char *named = odb_executor_named(console, value);
    enum odb_status status = odb_spec_parse(&spec, named ? named : value, err);
    free(named);
    if (status != ODB_OK)
        return status;
    if (!odb_executor_find(spec->kind)) {
        status = odb_fail(err, ODB_E_USAGE, "there is no executor '%.40s'", spec->kind);
        status = odb_executor_likely(err, spec->kind, "the command `executors` lists them");
    }
    odb_spec_free(spec);
    return status;
}
