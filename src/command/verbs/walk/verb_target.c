/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/help.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "probe/run_values.h"
#include "report/json.h"
#include "session/session.h"

static bool target_wants(const struct odb_placement *place, const char *text)
{
    return strcasestr(place->node, text) || strcasestr(place->op_type, text) ||
           strcasestr(place->where, text);
}

/* "13 Conv, 8 Relu" of the nodes that run at a place. */
static void target_put_operators(const struct odb_account *account, const char *where,
                                 struct odb_buf *out)
{
    struct odb_account ops = ODB_ACCOUNT_INIT;
    struct odb_place_count *counts;
    struct odb_buf line = ODB_BUF_INIT;
    for (size_t i = 0; i < account->places.n; i++)
        if (!strcmp(account->places.items[i].where, where)) /* counted by operator instead */
            odb_account_place(&ops, "", "", account->places.items[i].op_type);
    size_t n = odb_account_count(&ops, &counts);
    for (size_t i = 0; i < n; i++)
        odb_buf_printf(&line, "%s%zu %s", i ? ", " : "", counts[i].n, counts[i].where);
    odb_buf_puts(out, "    ");
    odb_help_wrap(out, odb_buf_text(&line), 4, 4);
    free(counts);
    odb_buf_dispose(&line);
    odb_account_dispose(&ops);
}

static void target_put_nodes(const struct odb_account *account, const char *text,
                             struct odb_buf *out)
{
    odb_buf_putc(out, '\n');
    for (size_t i = 0; i < account->places.n; i++) {
        const struct odb_placement *place = &account->places.items[i];
        if (!target_wants(place, text))
            continue;
        odb_buf_puts(out, "    ");
        odb_buf_put_shown(out, place->where);
        odb_buf_puts(out, "  ");
        odb_buf_put_shown(out, place->op_type);
        odb_buf_puts(out, "  ");
        odb_buf_put_shown(out, place->node);
        odb_buf_putc(out, '\n');
    }
}

static void target_text(const struct odb_account *account, const char *about, const char *text,
                        struct odb_buf *out)
{
    struct odb_place_count *counts;
    size_t n = odb_account_count(account, &counts), lines = 0;
    odb_buf_put_shown(out, about);
    odb_buf_putc(out, '\n');
    for (size_t i = 0; i < n; i++) {
        odb_buf_printf(out, "  %zu node%s on ", counts[i].n, counts[i].n == 1 ? "" : "s");
        odb_buf_put_shown(out, counts[i].where);
        odb_buf_putc(out, '\n');
        target_put_operators(account, counts[i].where, out);
    }
    if (!n)
        odb_buf_puts(out, "  it does not say where nodes run\n");
    for (size_t i = 0; i < account->notes.n; i++) {
        odb_buf_puts(out, "  note: ");
        odb_help_wrap(out, account->notes.items[i], 8, 8);
    }
    for (size_t i = 0; i < account->text.len; i++)
        lines += account->text.data[i] == '\n';
    if (lines)
        odb_buf_printf(out, "  --text shows the model in its own words: %zu lines\n", lines);
    if (text)
        target_put_nodes(account, text, out);
    free(counts);
}

static void target_json(const struct odb_account *account, const char *about, const char *spec,
                        const char *chosen, struct odb_buf *out)
{
    json_t *nodes = json_array(), *notes = odb_json_texts(account->notes.items, account->notes.n);
    for (size_t i = 0; i < account->places.n; i++) {
        const struct odb_placement *place = &account->places.items[i];
        json_array_append_new(nodes, json_pack("{s:o,s:o,s:o}", "name", odb_json_text(place->node),
                                               "op_type", odb_json_text(place->op_type), "where",
                                               odb_json_text(place->where)));
    }
    odb_json_put(json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "target", odb_json_text(spec), "chosen",
                           odb_json_text(chosen), "description", odb_json_text(about), "placements",
                           odb_json_places(account), "nodes", nodes, "notes", notes, "text",
                           odb_json_text(account->text.len ? odb_buf_text(&account->text) : NULL)),
                 out);
}

enum odb_status odb_command__target(struct odb_command_call *call, struct odb_error *err)
{
    const char *spec = odb_call__target(call);
    const struct odb_feeds *feeds;
    struct odb_account account = ODB_ACCOUNT_INIT;
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_watch watch;
    char about[300] = "";
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    enum odb_status status =
        odb_run_account(call->model, feeds, spec, &account, about, sizeof about, &hooks, err);
    odb_watch_end(&watch);
    if (status == ODB_OK && odb_call_has(call, ODB_OPTION_JSON))
        target_json(&account, about, spec, odb_call__chosen(call), &out);
    else if (status == ODB_OK && odb_call_has(call, ODB_OPTION_OWN_TEXT) && account.text.len)
        odb_buf_put_shown_lines(&out, odb_buf_text(&account.text));
    else if (status == ODB_OK && odb_call_has(call, ODB_OPTION_OWN_TEXT))
        status = odb_fail(err, ODB_UNSUPPORTED, "'%s' has no words of its own for a model", spec);
    else if (status == ODB_OK)
        target_text(&account, about, odb_call_arg(call, 1), &out);
    odb_call__print(call, &out);
    if (status == ODB_OK)
        odb_session_account_take(call->session, &account);
    odb_account_dispose(&account);
    return status;
}
