/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/file/dump_json.h"

#include "compare/oldstyle.h"
#include "dump/dump.h"
#include "report/json.h"

static json_t *dump_row_json(const struct odb_dump *dump, const struct odb_dump_row *row)
{
    const char *name = dump->model->graph->values[row->value].name;
    bool there = !row->error;
    json_t *shape = there ? json_array() : json_null();
    for (int d = 0; there && d < row->info.rank; d++)
        json_array_append_new(shape, json_integer((json_int_t)row->info.dims[d]));
    return json_pack("{s:I,s:o,s:o,s:o,s:o}", "index", (json_int_t)row->index, "name",
                     odb_json_text(name), "dtype", odb_json_text(there ? row->info.dtype : NULL),
                     "shape", shape, "failure", odb_json_text(row->error));
}

json_t *odb_dump_json(const struct odb_dump *dump)
{
    json_t *outputs = json_array();
    for (size_t i = 0; i < dump->n; i++)
        json_array_append_new(outputs, dump_row_json(dump, &dump->rows[i]));
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:n,s:n}", "executor",
                     odb_json_text(dump->options.executor), "folder",
                     odb_json_text(dump->options.root), "inputs_folder",
                     odb_json_text(dump->options.inputs), "outputs_folder",
                     odb_json_text(dump->options.outputs), "outputs", outputs, "failed",
                     (json_int_t)dump->failed, "kept", (json_int_t)dump->kept, "loads",
                     (json_int_t)dump->loads, "text", "comparison");
}

static json_t *oldstyle_row_json(const struct odb_oldstyle *what,
                                 const struct odb_oldstyle_row *row)
{
    json_t *json = json_pack("{s:o,s:b,s:o,s:b}", "name", odb_json_text(row->name), "fails",
                             odb_oldstyle_fails(what, row), "trouble", odb_json_text(row->trouble),
                             "nan_inf", row->nan_inf);
    if (row->trouble)
        return json;
    json_object_set_new(json, "diff2", odb_json_real(row->diff2));
    if (!what->golden) {
        json_object_set_new(json, "all_close", json_boolean(row->all_close));
        return json;
    }
    const struct {
        const char *name;
        double v;
    } reals[] = {{"max_target", row->max_target},
                 {"mean_target", row->mean_target},
                 {"max_compare", row->max_compare},
                 {"mean_compare", row->mean_compare}};
    for (size_t i = 0; i < ODB_COUNT(reals); i++)
        json_object_set_new(json, reals[i].name, odb_json_real(reals[i].v));
    json_object_set_new(json, "max_pass", json_boolean(row->max_pass));
    json_object_set_new(json, "mean_pass", json_boolean(row->mean_pass));
    return json;
}

json_t *odb_oldstyle_json(const struct odb_oldstyle *what)
{
    static const char *const sides[] = {[ODB_OLDSTYLE_TARGET] = "target",
                                        [ODB_OLDSTYLE_COMPARE] = "compare",
                                        [ODB_OLDSTYLE_GOLDEN] = "golden"};
    json_t *rows = json_array(), *alone = json_array();
    for (size_t i = 0; i < what->rows.n; i++)
        json_array_append_new(rows, oldstyle_row_json(what, &what->rows.items[i]));
    for (size_t i = 0; i < what->alone.n; i++) {
        json_t *in = json_array();
        for (size_t side = 0; side < ODB_COUNT(sides); side++)
            if (what->alone.items[i].has[side])
                json_array_append_new(in, json_string(sides[side]));
        json_array_append_new(alone, json_pack("{s:o,s:o}", "name",
                                               odb_json_text(what->alone.items[i].name), "in", in));
    }
    return json_pack("{s:o,s:o}", "rows", rows, "alone", alone);
}
