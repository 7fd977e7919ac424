/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The page is whole without scripts: causes fold by themselves. What the script adds (a filter, and
 * titles that sort) it makes itself, so nothing that does nothing is shown where scripts are off.
 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_run.h"
#include "fleet/fleet_words.h"
#include "fleet_page.h"
#include "report/marked_up.h"

static const char *html_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* In an element, between its tags, or nothing where there is no text. */
static void html_put(const char *tag, const char *attributes, const char *text, struct odb_buf *out)
{
    odb_buf_printf(out, "<%s%s>", tag, attributes);
    odb_put_xml(out, text ? text : "");
    odb_buf_printf(out, "</%s>", tag);
}

/* The word of a class: "no-verdict". */
static void html_put_class(enum odb_fleet_verdict verdict, struct odb_buf *out)
{
    for (const char *p = odb_fleet_word(verdict); *p; p++)
        odb_buf_putc(out, *p == ' ' ? '-' : *p);
}

/* --- links ------------------------------------------------------------------------------------ */

/* From the page to a file, with what has a meaning in an address as %XX. False, and nothing, where
 * there is no such file. */
static bool html_put_way(const struct odb_fleet_told *told, const char *path, struct odb_buf *out)
{
    char *page = odb_xstrdup(told->page ? told->page : "");
    char *from = realpath(dirname(page), NULL), *to = realpath(path, NULL);
    size_t same = 0;
    for (size_t i = 0; from && to && from[i] && from[i] == to[i]; i++)
        if (to[i] == '/' ||
            ((to[i + 1] == '/' || !to[i + 1]) && (from[i + 1] == '/' || !from[i + 1])))
            same = i + 1;
    bool there = told->page && from && to;
    const char *up = there ? from + same : "", *down = there ? to + same : "";
    for (up += *up == '/'; there && *up; up += *up == '/') {
        odb_buf_puts(out, "../");
        up += strcspn(up, "/");
    }
    for (down += *down == '/'; *down; down++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/", *down))
            odb_buf_putc(out, *down);
        else
            odb_buf_printf(out, "%%%02X", (unsigned char)*down);
    free(page);
    free(from);
    free(to);
    return there;
}

/* A link, or the text alone. */
static void html_put_link(const struct odb_fleet_told *told, const char *path, const char *text,
                          struct odb_buf *out)
{
    struct odb_buf way = ODB_BUF_INIT;
    if (html_put_way(told, path, &way))
        odb_buf_printf(out, "<a href=\"%s\">", odb_buf_text(&way));
    odb_put_xml(out, text);
    odb_buf_puts(out, way.len ? "</a>" : "");
    odb_buf_dispose(&way);
}

/* The page of a model's search, where there is one. */
static void html_put_report(const struct odb_fleet_told *told, const struct odb_fleet_model *model,
                            struct odb_buf *out)
{
    char *session = told->folder ? odb_fleet_session(told->folder, told->fleet, model) : NULL;
    struct odb_buf way = ODB_BUF_INIT;
    if (session) {
        memcpy(strrchr(session, '.'), "", 1);
        char *page = odb_xasprintf("%s.html", session);
        if (html_put_way(told, page, &way))
            odb_buf_printf(out, "<a href=\"%s\">report</a>", odb_buf_text(&way));
        free(page);
    }
    odb_buf_dispose(&way);
    free(session);
}

/* --- causes ----------------------------------------------------------------------------------- */

static void html_put_node(const json_t *culprit, struct odb_buf *out)
{
    struct odb_buf text = ODB_BUF_INIT;
    if (culprit)
        odb_buf_printf(&text, "#%lld %s %s",
                       (long long)json_integer_value(json_object_get(culprit, "index")),
                       html_text(culprit, "op_type"), html_text(culprit, "name"));
    odb_put_xml(out, odb_buf_text(&text));
    odb_buf_dispose(&text);
}

/* A cell of a number, which is sorted by its value. */
static void html_put_error(const json_t *culprit, struct odb_buf *out)
{
    const json_t *error = json_object_get(culprit, "error");
    if (json_is_number(error))
        odb_buf_printf(out, "<td class=\"number\" data-by=\"%.9g\">%.2g</td>",
                       json_number_value(error), json_number_value(error));
    else
        html_put("td", " class=\"number\"", json_string_value(error), out);
}

static void html_put_member(const struct odb_fleet_told *told,
                            const struct odb_cause_member *member, struct odb_buf *out)
{
    const struct odb_fleet_model *model = &told->fleet->models.items[member->model];
    odb_buf_printf(out, "<tr><td><a href=\"#m%zu\">", member->model + 1);
    odb_put_xml(out, odb_fleet_brief(told->fleet, model->name));
    odb_buf_puts(out, "</a></td><td>");
    html_put_node(member->culprit, out);
    odb_buf_puts(out, "</td>");
    html_put_error(member->culprit, out);
    odb_buf_printf(out, "<td>%s</td></tr>\n", member->alone ? "yes" : "");
}

static void html_put_cause(const struct odb_fleet_told *told, size_t at, struct odb_buf *out)
{
    const struct odb_cause *cause = &told->causes->list.items[at];
    const struct odb_fleet_repro *repro = odb_cause_repro(told->fleet, cause);
    odb_buf_puts(out, "<details class=\"cause ");
    html_put_class(cause->verdict, out);
    odb_buf_printf(out, "\" id=\"c%zu\"><summary><b>%zu</b> ", at + 1, at + 1);
    odb_put_xml(out, cause->title);
    odb_buf_printf(
        out, " <span class=\"dim\">%s: %zu model%s, %zu by this alone</span></summary>\n",
        odb_fleet_word(cause->verdict), cause->models, odb_plural(cause->models), cause->unblocks);
    for (size_t i = 0; i < cause->common.n; i++) {
        odb_buf_puts(out, i ? ", <code>" : "<p>In common: <code>");
        odb_put_xml(out, cause->common.items[i]);
        odb_buf_puts(out, i + 1 < cause->common.n ? "</code>" : "</code></p>\n");
    }
    if (repro && repro->folder) {
        odb_buf_puts(out, "<p>A small model that shows it: ");
        html_put_link(told, repro->folder, repro->folder, out);
        odb_buf_puts(out, "</p>\n");
    } else if (repro) {
        odb_buf_puts(out, "<p>No small model shows it: ");
        odb_put_xml(out, repro->said ? repro->said : "it does not fail again");
        odb_buf_puts(out, "</p>\n");
    }
    odb_buf_puts(
        out,
        "<div class=\"scroll\"><table class=\"list\"><thead><tr><th>model</th>"
        "<th>node</th><th class=\"number\">error</th><th>by this alone</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < cause->members.n; i++)
        html_put_member(told, &cause->members.items[i], out);
    odb_buf_puts(out, "</tbody></table></div></details>\n");
}

/* --- models ----------------------------------------------------------------------------------- */

/* The causes that each model is in, as links; owned, each and all. */
static struct odb_buf *html_causes(const struct odb_fleet_told *told)
{
    struct odb_buf *of = odb_new_n(struct odb_buf, told->fleet->models.n + 1);
    size_t *last = odb_new_n(size_t, told->fleet->models.n + 1);
    for (size_t i = 0; i < told->fleet->models.n; i++)
        of[i] = (struct odb_buf)ODB_BUF_INIT;
    for (size_t c = 1; c <= told->causes->list.n; c++) {
        const struct odb_cause *cause = &told->causes->list.items[c - 1];
        for (size_t i = 0; i < cause->members.n; i++) {
            size_t model = cause->members.items[i].model;
            if (last[model] != c)
                odb_buf_printf(&of[model], "%s<a href=\"#c%zu\">%zu</a>", last[model] ? ", " : "",
                               c, c);
            last[model] = c;
        }
    }
    free(last);
    return of;
}

static void html_put_model(const struct odb_fleet_told *told, size_t at, const char *causes,
                           struct odb_buf *out)
{
    const struct odb_fleet_model *model = &told->fleet->models.items[at];
    const json_t *culprits = json_object_get(model->report, "culprits");
    const json_t *first = json_array_get(culprits, 0);
    const char *variant =
        html_text(json_array_get(json_object_get(first, "explanations"), 0), "text");
    odb_buf_printf(out, "<tr id=\"m%zu\">", at + 1);
    html_put("td", "", odb_fleet_brief(told->fleet, model->name), out);
    odb_buf_puts(out, "<td class=\"");
    html_put_class(model->verdict, out);
    odb_buf_printf(out, "\">%s</td><td class=\"what\">", odb_fleet_word(model->verdict));
    html_put_node(first, out);
    if (json_array_size(culprits) > 1)
        odb_buf_printf(out, " and %zu more", json_array_size(culprits) - 1);
    odb_buf_puts(out, *variant ? ": " : "");
    odb_put_xml(out, first ? variant : model->said ? model->said : "");
    odb_buf_puts(out, "</td>");
    html_put_error(first, out);
    odb_buf_printf(out, "<td class=\"number\" data-by=\"%.3f\">%.1f</td><td>%s</td><td>",
                   model->seconds, model->seconds, causes);
    html_put_report(told, model, out);
    odb_buf_puts(out, "</td></tr>\n");
}

static void html_put_since(const struct odb_fleet_told *told, struct odb_buf *out)
{
    const struct odb_since *since = told->since;
    if (!since)
        return;
    odb_buf_puts(out, "<h2>Since the run before</h2>\n");
    if (!since->changes.n) {
        odb_buf_puts(out, "<p>Nothing has changed.</p>\n");
        return;
    }
    odb_buf_puts(out, "<div class=\"scroll\"><table class=\"list\"><thead><tr><th>change</th>"
                      "<th>model</th><th>is</th><th>was</th><th>cause</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < since->changes.n; i++) {
        const struct odb_since_change *change = &since->changes.items[i];
        odb_buf_puts(out, "<tr>");
        html_put("td", "", odb_since_word(change->kind), out);
        html_put("td", "", odb_fleet_brief(told->fleet, change->name), out);
        html_put("td", "", odb_fleet_word(change->is), out);
        html_put("td", "", odb_fleet_word(change->was), out);
        html_put("td", "", change->cause, out);
        odb_buf_puts(out, "</tr>\n");
    }
    odb_buf_puts(out, "</tbody></table></div>\n");
}

/* --- the page --------------------------------------------------------------------------------- */

static void html_put_head(const struct odb_fleet_told *told, struct odb_buf *out)
{
    const struct odb_fleet *fleet = told->fleet;
    odb_buf_puts(out, "<h1>");
    odb_put_xml(out, fleet->target);
    odb_buf_printf(out, ": %zu model%s</h1>\n<ul class=\"counts\">\n", fleet->models.n,
                   odb_plural(fleet->models.n));
    for (int v = 0; v < ODB_FLEET_COUNT; v++) {
        enum odb_fleet_verdict verdict = (enum odb_fleet_verdict)v;
        size_t n = odb_fleet_count(fleet, verdict);
        if (!n)
            continue;
        odb_buf_puts(out, "<li class=\"");
        html_put_class(verdict, out);
        odb_buf_printf(out, "\"><b>%zu</b> %s</li>\n", n, odb_fleet_word(verdict));
    }
    odb_buf_puts(out, "</ul>\n<dl><dt>models</dt>");
    html_put("dd", "", fleet->root, out);
    odb_buf_puts(out, "<dt>options</dt>");
    html_put("dd", "", fleet->options, out);
    odb_buf_puts(out, "</dl>\n");
}

static void html_put_body(const struct odb_fleet_told *told, struct odb_buf *out)
{
    struct odb_buf *causes = html_causes(told);
    html_put_head(told, out);
    html_put_since(told, out);
    odb_buf_puts(out, "<h2>Causes</h2>\n");
    if (!told->causes->list.n)
        odb_buf_puts(out, "<p>Nothing fails.</p>\n");
    for (size_t i = 0; i < told->causes->list.n; i++)
        html_put_cause(told, i, out);
    odb_buf_puts(out, "<h2 id=\"models\">Models</h2>\n<div class=\"scroll\"><table class=\"list\" "
                      "data-filter=\"models\"><thead><tr><th>model</th><th>verdict</th>"
                      "<th>what</th><th class=\"number\">error</th><th "
                      "class=\"number\">seconds</th><th>causes</th><th></th></tr>"
                      "</thead><tbody>\n");
    for (size_t i = 0; i < told->fleet->models.n; i++) {
        html_put_model(told, i, odb_buf_text(&causes[i]), out);
        odb_buf_dispose(&causes[i]);
    }
    odb_buf_puts(out, "</tbody></table></div>\n");
    free(causes);
}

void odb_fleet_put_html(const struct odb_fleet_told *told, struct odb_buf *out)
{
    static const char title[] = "@TITLE@", body[] = "@BODY@";
    const char *head = strstr(html_page, title), *at = strstr(html_page, body);
    odb_buf_add(out, html_page, (size_t)(head - html_page));
    odb_put_xml(out, told->fleet->target);
    head += strlen(title);
    odb_buf_add(out, head, (size_t)(at - head));
    html_put_body(told, out);
    odb_buf_puts(out, at + strlen(body));
}
