/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet/fleet_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/marked_up.h"

#define WORDS_MODELS 8 /* of a cause that are named */

void odb_fleet_put_line(const struct odb_fleet_told *told, struct odb_buf *out)
{
    size_t begin = out->len;
    for (int v = ODB_FLEET_COUNT; v-- > 0;) {
        size_t n = odb_fleet_count(told->fleet, (enum odb_fleet_verdict)v);
        if (n)
            odb_buf_printf(out, "%s%zu %s", out->len > begin ? ", " : "", n,
                           odb_fleet_word((enum odb_fleet_verdict)v));
    }
    for (int k = 0; told->since && k < ODB_SINCE_COUNT; k++) {
        size_t n = odb_since_count(told->since, (enum odb_since_kind)k);
        if (n)
            odb_buf_printf(out, ", %zu %s", n, odb_since_word((enum odb_since_kind)k));
    }
}

static void words_put_models(const struct odb_fleet_told *told, const struct odb_cause *cause,
                             struct odb_buf *out)
{
    size_t shown = 0;
    for (size_t i = 0; i < cause->members.n; i++) {
        size_t model = cause->members.items[i].model;
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again |= cause->members.items[k].model == model;
        if (again)
            continue;
        if (shown++ >= WORDS_MODELS)
            continue;
        odb_buf_puts(out, shown > 1 ? ", " : "");
        odb_buf_put_shown(out, odb_fleet_brief(told->fleet, told->fleet->models.items[model].name));
    }
    if (shown > WORDS_MODELS)
        odb_buf_printf(out, ", and %zu more", shown - WORDS_MODELS);
}

static void words_put_list(char *const *list, size_t n, struct odb_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        odb_buf_puts(out, i ? ", " : "");
        odb_buf_put_shown(out, list[i]);
    }
}

static void words_put_cause(const struct odb_fleet_told *told, size_t i, struct odb_buf *out)
{
    const struct odb_cause *cause = &told->causes->list.items[i];
    const struct odb_fleet_repro *repro = odb_cause_repro(told->fleet, cause);
    odb_buf_printf(out, "\n%zu  ", i + 1);
    odb_buf_put_shown(out, cause->title);
    odb_buf_printf(out, "\n   %s: %zu model%s, %zu of them by this alone",
                   odb_fleet_word(cause->verdict), cause->models, odb_plural(cause->models),
                   cause->unblocks);
    if (cause->confirmed)
        odb_buf_printf(out, ", %zu confirmed by what others showed", cause->confirmed);
    odb_buf_puts(out, ": ");
    words_put_models(told, cause, out);
    if (cause->common.n) {
        odb_buf_puts(out, "\n   in common: ");
        words_put_list(cause->common.items, cause->common.n, out);
    }
    if (repro && repro->folder) {
        odb_buf_puts(out, "\n   repro: ");
        odb_buf_put_shown(out, repro->folder);
    } else if (repro) {
        odb_buf_puts(out, "\n   no repro: ");
        odb_buf_put_shown(out, repro->said ? repro->said : "it does not fail again");
    }
    odb_buf_putc(out, '\n');
}

static void words_put_since(const struct odb_fleet_told *told, struct odb_buf *out)
{
    for (size_t i = 0; told->since && i < told->since->changes.n; i++) {
        const struct odb_since_change *change = &told->since->changes.items[i];
        odb_buf_printf(out, "%s%-8s ", i ? "" : "\n", odb_since_word(change->kind));
        odb_buf_put_shown(out, odb_fleet_brief(told->fleet, change->name));
        odb_buf_printf(out, ": %s, was %s", odb_fleet_word(change->is),
                       odb_fleet_word(change->was));
        if (change->cause) {
            odb_buf_puts(out, ": ");
            odb_buf_put_shown(out, change->cause);
        }
        odb_buf_putc(out, '\n');
    }
}

void odb_fleet_put_text(const struct odb_fleet_told *told, struct odb_buf *out)
{
    odb_buf_put_shown(out, told->fleet->target);
    odb_buf_printf(out, ", %zu model%s", told->fleet->models.n, odb_plural(told->fleet->models.n));
    if (told->fleet->common) {
        char *folder = odb_xstrndup(told->fleet->models.items[0].name, told->fleet->common);
        odb_buf_puts(out, " below ");
        odb_buf_put_shown(out, folder);
        free(folder);
    }
    odb_buf_puts(out, ": ");
    odb_fleet_put_line(told, out);
    odb_buf_putc(out, '\n');
    words_put_since(told, out);
    for (size_t i = 0; i < told->causes->list.n; i++)
        words_put_cause(told, i, out);
}

/* --- Markdown --------------------------------------------------------------------------------- */

void odb_fleet_put_markdown(const struct odb_fleet_told *told, struct odb_buf *out)
{
    odb_buf_puts(out, "### ");
    odb_put_markdown(out, told->fleet->target);
    odb_buf_printf(out, ": %zu model%s\n\n", told->fleet->models.n,
                   odb_plural(told->fleet->models.n));
    odb_fleet_put_line(told, out);
    odb_buf_puts(out, "\n");
    if (told->causes->list.n)
        odb_buf_puts(out,
                     "\n| | cause | models | alone | which | in common | repro |\n| --- | --- | "
                     "--- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < told->causes->list.n; i++) {
        const struct odb_cause *cause = &told->causes->list.items[i];
        const struct odb_fleet_repro *repro = odb_cause_repro(told->fleet, cause);
        struct odb_buf cell = ODB_BUF_INIT;
        odb_buf_printf(out, "| %zu | ", i + 1);
        odb_put_markdown(out, cause->title);
        odb_buf_printf(out, " | %zu | %zu | ", cause->models, cause->unblocks);
        words_put_models(told, cause, &cell);
        odb_put_markdown(out, odb_buf_text(&cell));
        odb_buf_puts(out, " | ");
        odb_buf_clear(&cell);
        words_put_list(cause->common.items, cause->common.n, &cell);
        odb_put_markdown(out, odb_buf_text(&cell));
        odb_buf_puts(out, " | ");
        odb_put_markdown(out, repro && repro->folder ? repro->folder : "");
        odb_buf_puts(out, " |\n");
        odb_buf_dispose(&cell);
    }
    if (told->since && told->since->changes.n)
        odb_buf_puts(out, "\n| | model | is | was | cause |\n| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; told->since && i < told->since->changes.n; i++) {
        const struct odb_since_change *change = &told->since->changes.items[i];
        odb_buf_printf(out, "| %s | ", odb_since_word(change->kind));
        odb_put_markdown(out, odb_fleet_brief(told->fleet, change->name));
        odb_buf_printf(out, " | %s | %s | ", odb_fleet_word(change->is),
                       odb_fleet_word(change->was));
        odb_put_markdown(out, change->cause ? change->cause : "");
        odb_buf_puts(out, " |\n");
    }
}
