/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a command prints: its text, its JSON, its warnings.
 */
#include "command/call/call_print.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/utf8.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "command/table/table.h"
#include "report/json.h"
#include "run/feeds.h"
#include "session/session_state.h"
#include "system/file.h"

void odb_call__print(struct odb_command_call *call, struct odb_buf *text)
{
    errno = 0;
    if (fwrite(odb_buf_text(text), 1, text->len, call->out) < text->len && !call->write_error)
        call->write_error = errno ? errno : EIO;
    odb_buf_dispose(text);
}

bool odb_call__json(const struct odb_command_call *call, bool *instead)
{
    const char *path = odb_call_option(call, ODB_OPTION_JSON_FILE);
    *instead = path && !strcmp(path, "-");
    return path != NULL;
}

enum odb_status odb_call__publish(struct odb_command_call *call, struct odb_buf *json,
                                  struct odb_error *err)
{
    const char *path = odb_call_option(call, ODB_OPTION_JSON_FILE);
    enum odb_status status = ODB_OK;
    if (strcmp(path, "-"))
        status = odb_file_write(path, json->data, json->len, err);
    else
        odb_call__print(call, json);
    odb_buf_dispose(json);
    return status;
}

void odb_call__json_chosen(const struct odb_command_call *call, json_t *json)
{
    const struct odb_feeds *feeds = call->session ? call->session->feeds : NULL;
    const char *chosen = feeds ? feeds->chosen : call->chosen;
    if (odb_command_takes(call->command, ODB_OPTION_DIM) && !json_object_get(json, "chosen"))
        json_object_set_new(json, "chosen", odb_json_text(chosen ? chosen : ""));
}

enum odb_status odb_call__give(struct odb_command_call *call, json_t *json, struct odb_buf *text,
                               struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    bool instead, report = odb_call__json(call, &instead);
    enum odb_status status = ODB_OK;
    if (json)
        odb_call__json_chosen(call, json);
    if (report || odb_call_has(call, ODB_OPTION_JSON))
        odb_json_put(json_incref(json), &out);
    json_decref(json);
    if (report)
        status = odb_call__publish(call, &out, err);
    else if (out.len)
        odb_call__print(call, &out);
    if (!instead && !odb_call_has(call, ODB_OPTION_JSON))
        odb_call__print(call, text);
    odb_buf_dispose(text);
    return status;
}

void odb_call__put_line(struct odb_buf *out, const char *text, int width)
{
    const char *p = text;
    for (int column = 0; *p;) {
        uint32_t c;
        size_t n = odb_utf8_read(p, strnlen(p, ODB_UTF8_MAX), &c);
        const int columns = n ? wcwidth((wchar_t)c) : 1;
        column += columns >= 0 ? columns : c >= 0xa0; /* a locale that lacks the character */
        if (width > 0 && column > width)
            break;
        p += n ? n : 1;
    }
    odb_buf_add(out, text, (size_t)(p - text));
    odb_buf_putc(out, '\n');
}

void odb_call__warn(struct odb_command_call *call, const char *text)
{
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, text);
    fprintf(call->log, "onnxdbg: warning: %s\n", odb_buf_text(&shown));
    odb_buf_dispose(&shown);
}
