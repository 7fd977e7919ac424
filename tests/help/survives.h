/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whatever a search found, a session file that is opened again says the same.
 */
#ifndef TESTS_SURVIVES_H
#define TESTS_SURVIVES_H

#include <jansson.h>

#include "report/report.h"
#include "session/store.h"
#include "tests/help/models.h"

static inline void survives_put(const struct odb_report *report, struct odb_buf *out)
{
    odb_report_headline(report, out);
    for (size_t c = 0; c < report->culprits.n; c++) {
        odb_buf_printf(out, "\n%s, ", report->culprits.items[c].text);
        odb_culprit_facts(&report->culprits.items[c], out);
    }
    odb_report_firsts(report, out);
    odb_report_proof(report, out);
    odb_report_put_pieces(report, out);
}

/* Two that say the same, in JSON member by member and in words. */
static inline void survives_same(const struct odb_report *one, const struct odb_report *other)
{
    struct odb_buf text[4] = {ODB_BUF_INIT, ODB_BUF_INIT, ODB_BUF_INIT, ODB_BUF_INIT};
    const char *key;
    json_t *value;
    odb_report_json(one, &text[0]);
    odb_report_json(other, &text[1]);
    json_t *a = json_loads(text[0].data, 0, NULL), *b = json_loads(text[1].data, 0, NULL);
    json_object_foreach(a, key, value) {
        json_t *again = json_object_get(b, key);
        if (!json_equal(value, again))
            fail_msg("%s is %s, and was %s", key, json_dumps(again, JSON_ENCODE_ANY),
                     json_dumps(value, JSON_ENCODE_ANY));
    }
    assert_int_equal(json_object_size(a), json_object_size(b));
    survives_put(one, &text[2]);
    survives_put(other, &text[3]);
    assert_string_equal(odb_buf_text(&text[2]), odb_buf_text(&text[3]));
    json_decref(a);
    json_decref(b);
    for (size_t i = 0; i < ODB_COUNT(text); i++)
        odb_buf_dispose(&text[i]);
}

/* No culprit is listed twice, by node or by value. */
static inline void survives_once(const struct odb_report *report)
{
    for (size_t c = 0; c < report->culprits.n; c++)
        for (size_t o = 0; o < c; o++) {
            const struct odb_culprit *one = &report->culprits.items[o];
            const struct odb_culprit *other = &report->culprits.items[c];
            if (one->node == other->node || (one->value >= 0 && one->value == other->value))
                fail_msg("#%d is listed as %s and #%d as %s, value %d and %d: %s\n%s", one->node,
                         odb_diagnosis_name(one->kind), other->node,
                         odb_diagnosis_name(other->kind), one->value, other->value, one->text,
                         other->text);
        }
}

/* report: NULL: nothing was found. */
static inline void survives(const struct odb_report *report)
{
    if (!report)
        return;
    survives_once(report);
    char *folder = models_folder(), *path = odb_xasprintf("%s/s.odb", folder);
    struct odb_store *store = NULL;
    struct odb_report *again = NULL;
    struct odb_bisect_options options = {
        .reference = report->reference, .target = report->target, .expect = report->expect};
    MODELS_OK(odb_criterion_parse(&options.tolerance, report->tolerance, &why));
    MODELS_OK(odb_store_open(&store, path, report->model, &why));
    MODELS_OK(odb_store_begin(store, "bisect", &options, &why));
    MODELS_OK(odb_store_put(store, report, &why));
    MODELS_OK(odb_store_finish(store, &why));
    MODELS_OK(odb_store_read(store, 0, &again, &why));
    survives_same(report, again);
    odb_report_free(again);
    odb_store_close(store);
    free(path);
    models_remove(folder);
}

#endif
