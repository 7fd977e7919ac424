/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The page: share/report.html with the report's JSON in it, which its script draws, and with a list
 * of nodes for a browser that runs no scripts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/verbs/file/publish.h"
#include "report/json.h"
#include "report/marked_up.h"
#include "report_page.h"

static void html_text(const json_t *object, const char *key, struct odb_buf *out)
{
    const char *text = json_string_value(json_object_get(object, key));
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, text ? text : "");
    odb_put_xml(out, odb_buf_text(&shown));
    odb_buf_dispose(&shown);
}

/* Which of n nodes are culprits: [n], owned by the caller. */
static bool *html_accused(const json_t *report, size_t n)
{
    bool *accused = odb_new_n(bool, n + 1);
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(report, "culprits"), i, item) {
        json_int_t at = json_integer_value(json_object_get(item, "index"));
        if (at >= 0 && at < (json_int_t)n)
            accused[at] = true;
    }
    return accused;
}

/* "#7 conv (Conv): culprit, introduced"; node NULL: the model is not at hand. accused: whether it
 * may be a culprit. */
static void html_item(const json_t *report, json_int_t index, const json_t *node, bool accused,
                      struct odb_buf *out)
{
    size_t i;
    const json_t *item;
    odb_buf_printf(out, "<li id=\"node-%lld\">#%lld ", (long long)index, (long long)index);
    html_text(node, "name", out);
    if (node) {
        odb_buf_puts(out, " (");
        html_text(node, "op_type", out);
        odb_buf_putc(out, ')');
    }
    if (!accused)
        return;
    json_array_foreach(json_object_get(report, "culprits"), i, item) {
        const json_t *at = json_object_get(item, "index");
        if (!json_is_integer(at) || json_integer_value(at) != index)
            continue;
        odb_buf_puts(out, ": culprit, ");
        html_text(item, "kind", out);
    }
}

/* A node with the verdicts of what it makes, in the order of the values, which is that of nodes. */
static void html_list(const json_t *report, struct odb_buf *out)
{
    const json_t *nodes = json_object_get(report, "nodes"), *value;
    json_int_t last = -1;
    size_t i, n = json_array_size(nodes);
    bool *accused = html_accused(report, n);
    odb_buf_puts(out, "<ul>\n");
    json_array_foreach(json_object_get(report, "values"), i, value) {
        const json_t *at = json_object_get(value, "node"), *error = json_object_get(value, "error");
        if (!json_is_integer(at))
            continue;
        json_int_t index = json_integer_value(at);
        if (index != last)
            html_item(report, index, json_array_get(nodes, (size_t)index),
                      index < 0 || index >= (json_int_t)n || accused[index], out);
        last = index;
        odb_buf_puts(out, "; ");
        html_text(value, "name", out);
        odb_buf_puts(out, ": ");
        html_text(value, "verdict", out);
        if (json_is_number(error))
            odb_buf_printf(out, ", error %.3g", json_number_value(error));
        odb_buf_putc(out, '\n');
    }
    odb_buf_puts(out, "</ul>\n");
    free(accused);
}

static void html_json(const json_t *report, struct odb_buf *out)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_json_put_dumped(report, JSON_COMPACT | JSON_ENCODE_ANY, &text);
    for (const char *p = odb_buf_text(&text); *p; p++) /* nothing in it can end the element */
        odb_buf_puts(out, *p == '<' ? "\\u003c" : (char[]){*p, 0});
    odb_buf_dispose(&text);
}

void odb_publish_html(const json_t *report, struct odb_buf *out)
{
    static const struct {
        const char *mark;
        void (*put)(const json_t *report, struct odb_buf *out);
    } parts[] = {{"@LIST@", html_list}, {"@REPORT@", html_json}}; /* as they stand in the page */
    const char *from = publish_page;
    for (size_t i = 0; i < ODB_COUNT(parts); i++) {
        const char *at = strstr(from, parts[i].mark);
        odb_buf_add(out, from, (size_t)(at - from));
        parts[i].put(report, out);
        from = at + strlen(parts[i].mark);
    }
    odb_buf_puts(out, from);
}
