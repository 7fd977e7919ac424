/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A command by its name, its alias, or a unique beginning of its name.
 */
#include "command/table/command_find.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "command/table/command.h"
#include "command/table/nearest.h"
#include "command/table/table.h"
#include "command/table/topics.h"

static bool find_offered(const struct odb_command *row, bool prompt)
{
    return row->flags & (prompt ? ODB_COMMAND_PROMPT : ODB_COMMAND_SHELL);
}

static enum odb_status find_nothing(const char *name, bool prompt, struct odb_error *err)
{
    size_t n, n_names = 0;
    const struct odb_command *rows = odb_command_table(&n);
    const char **names = odb_new_n(const char *, n);
    struct odb_buf shown = ODB_BUF_INIT;
    for (size_t i = 0; i < n; i++)
        if (find_offered(&rows[i], prompt))
            names[n_names++] = rows[i].name;
    const char *near = odb_nearest(name, names, n_names);
    odb_buf_put_shown(&shown, name);
    odb_fail(err, ODB_E_USAGE, "there is no command '%s'", odb_buf_text(&shown));
    if (odb_topic_find(name))
        odb_error_remedy(err, "`man onnxdbg-%s` is a page of that name", name);
    else if (near)
        odb_error_remedy(err, "did you mean `%s%s`?", prompt ? "" : "onnxdbg ", near);
    else
        odb_error_remedy(err, "`%shelp` lists the commands", prompt ? "" : "onnxdbg ");
    odb_buf_dispose(&shown);
    free(names);
    return ODB_E_USAGE;
}

enum odb_status odb_command_find(const struct odb_command **out, const char *name, bool prompt,
                                 struct odb_error *err)
{
    size_t n, matches = 0;
    const struct odb_command *rows = odb_command_table(&n);
    struct odb_buf names = ODB_BUF_INIT, shown = ODB_BUF_INIT;
    bool exact = false;
    for (size_t i = 0; i < n && !exact; i++) {
        if (!find_offered(&rows[i], prompt))
            continue;
        exact = !strcmp(rows[i].name, name) || (rows[i].alias && !strcmp(rows[i].alias, name));
        if (exact || (*name && !strncmp(rows[i].name, name, strlen(name)))) {
            odb_buf_printf(&names, "%s%s", matches++ ? ", " : "", rows[i].name);
            *out = &rows[i];
        }
    }
    enum odb_status status = ODB_OK;
    if (!matches) {
        status = find_nothing(name, prompt, err);
    } else if (matches > 1 && !exact) {
        odb_buf_put_shown(&shown, name);
        status = odb_fail(err, ODB_E_USAGE, "'%s' may be %s", odb_buf_text(&shown),
                          odb_buf_text(&names));
        odb_error_remedy(err, "write one of them");
    }
    odb_buf_dispose(&shown);
    odb_buf_dispose(&names);
    return status;
}
