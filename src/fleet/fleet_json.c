/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "fleet/fleet_words.h"
#include "report/json.h"
#include "report/marked_up.h"

static json_t *fleet_model_json(const struct odb_fleet_told *told, size_t at)
{
    const struct odb_fleet_model *model = &told->fleet->models.items[at];
    json_t *causes = json_array();
    for (size_t i = 0; i < told->causes->list.n; i++)
        if (odb_cause_is_in(&told->causes->list.items[i], at))
            json_array_append_new(causes, json_integer((json_int_t)i));
    return json_pack(
        "{s:o,s:o,s:o,s:b,s:b,s:o,s:o,s:I,s:o}", "name", odb_json_text(model->name), "path",
        odb_json_text(model->path), "verdict", odb_json_text(odb_fleet_word(model->verdict)),
        "searched", model->stage == ODB_FLEET_SEARCHED, "confirmed", odb_fleet_confirmed(model),
        "failure", odb_json_text(model->said), "seconds", odb_json_real(model->seconds), "compiles",
        (json_int_t)model->compiles, "causes", causes);
}

static json_t *fleet_cause_json(const struct odb_fleet_told *told, const struct odb_cause *cause)
{
    const struct odb_fleet_repro *repro = odb_cause_repro(told->fleet, cause);
    json_t *members = json_array();
    for (size_t i = 0; i < cause->members.n; i++) {
        const struct odb_cause_member *member = &cause->members.items[i];
        json_t *node = json_object_get(member->culprit, "index");
        json_array_append_new(
            members, json_pack("{s:o,s:o,s:b}", "model",
                               odb_json_text(told->fleet->models.items[member->model].name), "node",
                               node ? json_incref(node) : json_null(), "alone", member->alone));
    }
    return json_pack("{s:o,s:o,s:o,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o}", "key",
                     odb_json_text(cause->key), "title", odb_json_text(cause->title), "verdict",
                     odb_json_text(odb_fleet_word(cause->verdict)), "models",
                     (json_int_t)cause->models, "unblocks", (json_int_t)cause->unblocks,
                     "confirmed", (json_int_t)cause->confirmed, "variants",
                     odb_json_texts(cause->variants.items, cause->variants.n), "common",
                     odb_json_texts(cause->common.items, cause->common.n), "members", members,
                     "repro", odb_json_text(repro ? repro->folder : NULL), "no_repro",
                     odb_json_text(repro && !repro->folder ? repro->said : NULL));
}

static json_t *fleet_since_json(const struct odb_since *since)
{
    json_t *list = json_array();
    for (size_t i = 0; since && i < since->changes.n; i++) {
        const struct odb_since_change *change = &since->changes.items[i];
        json_array_append_new(list, json_pack("{s:o,s:o,s:o,s:o,s:o}", "change",
                                              odb_json_text(odb_since_word(change->kind)), "model",
                                              odb_json_text(change->name), "is",
                                              odb_json_text(odb_fleet_word(change->is)), "was",
                                              odb_json_text(odb_fleet_word(change->was)), "cause",
                                              odb_json_text(change->cause)));
    }
    return since ? list : (json_decref(list), json_null());
}

void odb_fleet_put_json(const struct odb_fleet_told *told, struct odb_buf *out)
{
    json_t *models = json_array(), *causes = json_array(), *counts = json_object();
    for (int v = 0; v < ODB_FLEET_COUNT; v++) {
        char *key = odb_xstrdup(odb_fleet_word((enum odb_fleet_verdict)v));
        for (char *p = key; (p = strchr(p, ' '));)
            *p = '_';
        json_object_set_new(
            counts, key,
            json_integer((json_int_t)odb_fleet_count(told->fleet, (enum odb_fleet_verdict)v)));
        free(key);
    }
    for (size_t i = 0; i < told->fleet->models.n; i++)
        json_array_append_new(models, fleet_model_json(told, i));
    for (size_t i = 0; i < told->causes->list.n; i++)
        json_array_append_new(causes, fleet_cause_json(told, &told->causes->list.items[i]));
    odb_json_put(json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "target",
                           odb_json_text(told->fleet->target), "options",
                           odb_json_text(told->fleet->options), "counts", counts, "causes", causes,
                           "since", fleet_since_json(told->since), "models", models),
                 out);
}

/* --- JUnit ------------------------------------------------------------------------------------ */

/* A case is a model; what it belongs to is its first cause, so that a server shows them together.
 */
static void junit_put_model(const struct odb_fleet_told *told, size_t at, struct odb_buf *out)
{
    const struct odb_fleet_model *model = &told->fleet->models.items[at];
    const struct odb_cause *cause = NULL;
    for (size_t i = 0; i < told->causes->list.n && !cause; i++)
        if (odb_cause_is_in(&told->causes->list.items[i], at))
            cause = &told->causes->list.items[i];
    odb_buf_puts(out, "  <testcase classname=\"");
    odb_put_xml(out, cause ? cause->title : odb_fleet_word(model->verdict));
    odb_buf_puts(out, "\" name=\"");
    odb_put_xml(out, model->name);
    odb_buf_printf(out, "\" time=\"%.3f\"", model->seconds);
    if (model->verdict == ODB_FLEET_PASS) {
        odb_buf_puts(out, "/>\n");
        return;
    }
    bool fails = odb_fleet_fails(model->verdict), queued = model->verdict == ODB_FLEET_QUEUED;
    odb_buf_printf(out, ">\n    <%s message=\"", fails ? "failure" : queued ? "skipped" : "error");
    odb_put_xml(out, odb_fleet_word(model->verdict));
    if (cause || model->said) {
        odb_buf_puts(out, ": ");
        odb_put_xml(out, cause ? cause->title : model->said);
    }
    odb_buf_puts(out, "\"/>\n  </testcase>\n");
}

void odb_fleet_put_junit(const struct odb_fleet_told *told, struct odb_buf *out)
{
    size_t failures = 0;
    for (int v = 0; v < ODB_FLEET_COUNT; v++)
        if (odb_fleet_fails((enum odb_fleet_verdict)v))
            failures += odb_fleet_count(told->fleet, (enum odb_fleet_verdict)v);
    odb_buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
    odb_put_xml(out, told->fleet->target);
    odb_buf_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
                   told->fleet->models.n, failures, odb_fleet_count(told->fleet, ODB_FLEET_NONE),
                   odb_fleet_count(told->fleet, ODB_FLEET_QUEUED));
    for (size_t i = 0; i < told->fleet->models.n; i++)
        junit_put_model(told, i, out);
    odb_buf_puts(out, "</testsuite>\n");
}
