/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "command/call.h"
#include "command/compare.h"
#include "compare/numpy.h"
#include "engine/rules.h"
#include "executor/recording.h"

enum { COMPARE_TAG = 10 }; /* how many times farther from golden than the base */

struct compare {
    struct odb_command_call *call;
    struct odb_rules rules;
    struct odb_measure_options options;
    unsigned need;
    struct odb_comparison found;
};

/* --- one pair --------------------------------------------------------------------------------- */

/* "[0,3]"; of the items of a container, "2[0,3]". */
static char *compare_place(const struct odb_metrics *m, const struct odb_tensor *base)
{
    struct odb_buf out = ODB_BUF_INIT;
    const struct odb_tensor *t = base;
    size_t at = m->worst;
    if (at == ODB_NOWHERE || !t)
        return odb_xstrdup("");
    if (t->kind != ODB_TENSOR) {
        odb_buf_printf(&out, "%zu", m->item);
        t = m->item < t->n_items ? t->items[m->item] : NULL;
    }
    if (t && odb_dtype_info(t->dtype)->class_ == ODB_CLASS_COMPLEX)
        at /= 2;
    odb_buf_putc(&out, '[');
    size_t stride = t ? t->count : 0;
    for (int k = 0; t && k < t->rank; k++) {
        stride /= (size_t)t->dims[k];
        odb_buf_printf(&out, "%s%zu", k ? "," : "", at / stride);
        at %= stride;
    }
    odb_buf_putc(&out, ']');
    return odb_buf_take(&out);
}

static char *compare_type(const struct odb_tensor *t)
{
    char text[320];
    return t ? odb_xstrdup(odb_call__type_text(t, text, sizeof text)) : NULL;
}

/* dump_tools' question: is the evaluated value so many times farther from golden than the base. */
static void compare_three_way(struct odb_compared *row, const struct odb_tensor *golden,
                              struct odb_buf *reason)
{
    const struct odb_tensor *sides[2] = {row->m.evaluated, row->m.base};
    row->golden = true;
    for (int side = 0; side < 2; side++) {
        struct odb_metrics m;
        odb_compare(&m, sides[side], golden, row->m.options.th);
        row->golden &= !m.missing && !m.shape_mismatch && !m.dtype_mismatch;
        row->max[side] = m.diff3_max;
        row->mean[side] = m.diff3_mean;
    }
    bool close = row->golden && odb_three_way(row->max[0], row->max[1], COMPARE_TAG) &&
                 odb_three_way(row->mean[0], row->mean[1], COMPARE_TAG);
    if (close || row->verdict != ODB_VERDICT_PASS)
        return;
    row->verdict = row->golden ? ODB_VERDICT_FAIL : ODB_VERDICT_UNTESTABLE;
    odb_buf_clear(reason);
    if (row->golden)
        odb_buf_printf(reason,
                       "diff3 from golden: max %.6g, of the base %.6g; mean %.6g, of the base "
                       "%.6g; at most %d times as much is wanted",
                       row->max[0], row->max[1], row->mean[0], row->mean[1], COMPARE_TAG);
    else
        odb_buf_puts(reason, golden ? "golden has another shape or type" : "golden lacks it");
}

static void compare_mismatch(const struct odb_compared *row, struct odb_buf *reason)
{
    if ((row->m.m.shape_mismatch || row->m.m.dtype_mismatch) && row->type[0] && row->type[1])
        odb_buf_printf(reason, ": %s, the base has %s", row->type[0], row->type[1]);
}

static void compare_add(struct compare *compare, struct odb_compared row, struct odb_buf *reason)
{
    bool pass = row.verdict == ODB_VERDICT_PASS;
    *(pass ? &compare->found.passed : &compare->found.failed) += 1;
    row.reason = odb_buf_take(reason);
    if (!row.reason)
        row.reason = odb_xstrdup("");
    row.m.evaluated = row.m.base = NULL;
    odb_push(&compare->found.rows, row);
}

/* golden: NULL unless there are three sides; then it may be NULL for what the third lacks. */
static void compare_pair(struct compare *compare, const char *name, const struct odb_tensor *e,
                         const struct odb_tensor *b, const struct odb_tensor *golden)
{
    struct odb_buf reason = ODB_BUF_INIT;
    struct odb_compared row = {.name = odb_xstrdup(name),
                               .type = {compare_type(e), compare_type(b)},
                               .m = {.evaluated = e, .base = b, .options = compare->options}};
    row.m.options.th = odb_rules_th(&compare->rules, name, b);
    odb_measure(&row.m, compare->need);
    row.verdict = odb_rules_judge(&compare->rules, name, &row.m, &reason);
    if (compare->found.golden)
        compare_three_way(&row, golden, &reason);
    compare_mismatch(&row, &reason);
    row.worst = compare_place(&row.m.m, b);
    compare_add(compare, row, &reason);
}

/* golden NULL: there is no third side. A file that golden lacks is told of in the pair. */
static enum odb_status compare_files(struct compare *compare, const char *name, const char *a,
                                     const char *b, const char *golden, struct odb_error *err)
{
    struct odb_tensor *e = NULL, *base = NULL, *third = NULL;
    enum odb_status status = odb_call__read_tensor(&e, a, err);
    if (status == ODB_OK)
        status = odb_call__read_tensor(&base, b, err);
    if (status == ODB_OK && golden && access(golden, F_OK) == 0)
        status = odb_call__read_tensor(&third, golden, err);
    if (status == ODB_OK)
        compare_pair(compare, name, e, base, third);
    odb_tensor_unref(third);
    odb_tensor_unref(base);
    odb_tensor_unref(e);
    return status;
}

static void compare_alone(struct compare *compare, const char *name, const char *where)
{
    struct odb_buf reason = ODB_BUF_INIT;
    odb_buf_printf(&reason, "only in %s", where);
    compare_add(compare,
                (struct odb_compared){.name = odb_xstrdup(name),
                                      .verdict = ODB_VERDICT_UNTESTABLE,
                                      .m = {.m = {.missing = true}},
                                      .worst = odb_xstrdup("")},
                &reason);
}

/* --- sides ------------------------------------------------------------------------------------ */

static int compare_is_tensor(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return (n > 4 && !strcmp(entry->d_name + n - 4, ".npy")) ||
           (n > 3 && !strcmp(entry->d_name + n - 3, ".pb"));
}

static int compare_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum odb_status compare_list(struct dirent ***list, int *n, const char *dir,
                                    struct odb_error *err)
{
    *n = scandir(dir, list, compare_is_tensor, compare_by_name);
    if (*n >= 0)
        return ODB_OK;
    odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    return odb_error_at(err, "%s", dir);
}

static void compare_free(struct dirent **list, int n)
{
    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

/* Both lists are sorted: one walk over the two. */
static enum odb_status compare_walk(struct compare *compare, const char *const dirs[3],
                                    struct dirent **const lists[2], const int n[2],
                                    struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    for (int i = 0, k = 0; (i < n[0] || k < n[1]) && status == ODB_OK;) {
        int order = i == n[0]   ? 1
                    : k == n[1] ? -1
                                : strcmp(lists[0][i]->d_name, lists[1][k]->d_name);
        const char *name = order <= 0 ? lists[0][i]->d_name : lists[1][k]->d_name;
        if (order == 0) {
            char *a = odb_xasprintf("%s/%s", dirs[0], name);
            char *b = odb_xasprintf("%s/%s", dirs[1], name);
            char *golden = dirs[2] ? odb_xasprintf("%s/%s", dirs[2], name) : NULL;
            status = compare_files(compare, name, a, b, golden, err);
            free(golden);
            free(a);
            free(b);
        } else {
            compare_alone(compare, name, dirs[order > 0]);
        }
        i += order <= 0;
        k += order >= 0;
    }
    return status;
}

static enum odb_status compare_folders(struct compare *compare, const char *const dirs[3],
                                       struct odb_error *err)
{
    struct dirent **lists[2];
    int n[2];
    ODB_TRY(compare_list(&lists[0], &n[0], dirs[0], err));
    enum odb_status status = compare_list(&lists[1], &n[1], dirs[1], err);
    if (status == ODB_OK && n[0] + n[1] == 0) {
        status = odb_fail(err, ODB_E_INPUT, "neither folder holds a .npy or .pb file");
        odb_error_at(err, "%s, %s", dirs[0], dirs[1]);
    }
    if (status == ODB_OK)
        status = compare_walk(compare, dirs, lists, n, err);
    if (n[1] >= 0)
        compare_free(lists[1], n[1]);
    compare_free(lists[0], n[0]);
    return status;
}

static bool compare_is_archive(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".npz") == 0;
}

static size_t compare_find(const struct odb_recording *r, const char *name)
{
    size_t i = odb_recording_find(r, name);
    return i == ODB_RECORDING_NONE ? odb_recording_find_file(r, name) : i;
}

/* A probe's archive holds them, and what is held against it need not. */
static bool compare_is_parameter(const char *name)
{
    return strncmp(name, ODB_RECORDING_PARAMETERS, strlen(ODB_RECORDING_PARAMETERS)) == 0;
}

/* Archives, and folders held against one: by the names of what was recorded, in the order of the
 * second, and then what the first alone has. sides[2] NULL: there is no golden. */
static enum odb_status compare_recorded(struct compare *compare, const char *const paths[3],
                                        struct odb_recording *const sides[3], struct odb_error *err)
{
    bool *met = odb_new_n(bool, odb_recording_count(sides[0]) + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < odb_recording_count(sides[1]) && status == ODB_OK; i++) {
        const char *name = odb_recording_name(sides[1], i);
        struct odb_tensor *t[3] = {NULL};
        size_t at[3] = {compare_find(sides[0], name), i,
                        sides[2] ? compare_find(sides[2], name) : ODB_RECORDING_NONE};
        if (at[0] == ODB_RECORDING_NONE) {
            if (!compare_is_parameter(name))
                compare_alone(compare, name, paths[1]);
            continue;
        }
        met[at[0]] = true;
        for (int side = 0; side < 3 && status == ODB_OK; side++)
            if (at[side] != ODB_RECORDING_NONE)
                status = odb_recording_read(&t[side], sides[side], at[side], NULL, err);
        if (status == ODB_OK)
            compare_pair(compare, name, t[0], t[1], t[2]);
        for (int side = 0; side < 3; side++)
            odb_tensor_unref(t[side]);
    }
    for (size_t k = 0; k < odb_recording_count(sides[0]) && status == ODB_OK; k++)
        if (!met[k] && !compare_is_parameter(odb_recording_name(sides[0], k)))
            compare_alone(compare, odb_recording_name(sides[0], k), paths[0]);
    free(met);
    return status;
}

static enum odb_status compare_archives(struct compare *compare, const char *const paths[3],
                                        struct odb_error *err)
{
    struct odb_recording *sides[3] = {NULL};
    enum odb_status status = ODB_OK;
    for (int i = 0; i < 3 && paths[i] && status == ODB_OK; i++)
        status = odb_recording_open(&sides[i], paths[i], false, err);
    if (status == ODB_OK)
        status = compare_recorded(compare, paths, sides, err);
    for (int i = 0; i < 3; i++)
        odb_recording_close(sides[i]);
    return status;
}

/* Which of the ways it is, by what there is at the paths. */
static enum odb_status compare_sides(struct compare *compare, const char *const paths[3],
                                     struct odb_error *err)
{
    size_t folders = 0, archives = 0, n = paths[2] ? 3 : 2;
    for (size_t i = 0; i < n; i++) {
        struct stat info;
        if (stat(paths[i], &info) != 0) {
            odb_fail(err, ODB_E_IO, "%s", strerror(errno));
            return odb_error_at(err, "%s", paths[i]);
        }
        folders += S_ISDIR(info.st_mode) != 0;
        archives += compare_is_archive(paths[i]);
    }
    if (archives)
        return compare_archives(compare, paths, err);
    if (folders == n)
        return compare_folders(compare, paths, err);
    if (folders)
        return odb_fail(err, ODB_E_USAGE, "a folder and a file cannot be compared");
    return compare_files(compare, paths[0], paths[0], paths[1], paths[2], err);
}

/* --- options ---------------------------------------------------------------------------------- */

/* --tol and --check hold together; where neither is given, and no golden, NumPy's allclose. */
static enum odb_status compare_rules(struct compare *compare, struct odb_error *err)
{
    const struct odb_command_call *call = compare->call;
    const enum odb_option_id options[] = {ODB_OPTION_TOL, ODB_OPTION_CHECK};
    struct odb_buf text = ODB_BUF_INIT;
    for (size_t i = 0; i < ODB_COUNT(options); i++) {
        const char *given = odb_call_option(call, options[i]);
        if (given && odb_rules_add(&compare->rules, given, err) != ODB_OK)
            return odb_error_at(err, "--%s", odb_option_row(options[i])->name);
    }
    const char *path = odb_call_option(call, ODB_OPTION_TOLERANCES);
    if (path)
        ODB_TRY(odb_rules_read(&compare->rules, path, err));
    if (!compare->rules.all.n && !compare->found.golden)
        ODB_TRY(odb_rules_add(&compare->rules, "allclose", err));
    odb_rules_put(&compare->rules, &text);
    if (compare->found.golden)
        odb_buf_printf(&text, "%sdiff3 from golden at most %d times the base's",
                       text.len ? " and " : "", COMPARE_TAG);
    compare->found.rules = odb_buf_take(&text);
    return ODB_OK;
}

static enum odb_status compare_unknown(const char *word, size_t n, struct odb_error *err)
{
    struct odb_buf names = ODB_BUF_INIT;
    for (size_t i = 0; odb_measure_name(i, NULL); i++)
        odb_buf_printf(&names, "%s%s", i ? ", " : "", odb_measure_name(i, NULL));
    odb_fail(err, ODB_E_USAGE, "no column is called '%.*s'", (int)ODB_MIN(n, (size_t)40), word);
    odb_error_remedy(err, "there are all, %s", odb_buf_text(&names));
    odb_buf_dispose(&names);
    return odb_error_at(err, "--columns");
}

/* Names between commas, or "all". */
static enum odb_status compare_columns(struct compare *compare, const char *names,
                                       struct odb_error *err)
{
    struct odb_comparison *found = &compare->found;
    size_t total = 0;
    bool all = strcmp(names, "all") == 0;
    while (odb_measure_name(total, NULL))
        total++;
    found->column = odb_new_n(size_t, total + strlen(names) + 1);
    for (size_t i = 0; i < total && all; i++)
        found->column[found->n_columns++] = i;
    for (const char *p = names; *p && !all; p += *p == ',') {
        size_t n = strcspn(p, ",");
        int i = odb_measure_find(p, n);
        if (i < 0)
            return compare_unknown(p, n, err);
        found->column[found->n_columns++] = (size_t)i;
        p += n;
    }
    for (size_t k = 0; k < found->n_columns; k++)
        compare->need |= odb_measure_needs(found->column[k]);
    return ODB_OK;
}

static const char *compare_format(const struct odb_command_call *call)
{
    const char *format = odb_call_option(call, ODB_OPTION_FORMAT);
    return format ? format : odb_call_has(call, ODB_OPTION_JSON) ? "json" : "table";
}

static void compare_print(struct compare *compare)
{
    const char *format = compare_format(compare->call);
    struct odb_buf out = ODB_BUF_INIT;
    compare->call->found = compare->found.failed > 0;
    if (!strcmp(format, "json"))
        odb_comparison_put_json(&compare->found, &out);
    else if (!strcmp(format, "tsv"))
        odb_comparison_put_tsv(&compare->found, &out);
    else
        odb_comparison_put_table(&compare->found, &out);
    odb_call__print(compare->call, &out);
    odb_buf_dispose(&out);
}

enum odb_status odb_command__compare(struct odb_command_call *call, struct odb_error *err)
{
    const char *columns = odb_call_option(call, ODB_OPTION_COLUMNS);
    const char *const paths[3] = {call->args[0], call->args[1],
                                  odb_call_option(call, ODB_OPTION_GOLDEN_DIR)};
    struct compare compare = {.call = call, .found = {.golden = paths[2] != NULL}};
    enum odb_status status;
    if (!columns)
        columns = strcmp(compare_format(call), "table") ? "all" : ODB_COMPARISON_COLUMNS;
    compare.options.top_k = (size_t)odb_call_int(call, ODB_OPTION_TOP_K, 5);
    compare.options.axis_given = odb_call_has(call, ODB_OPTION_AXIS);
    compare.options.axis = (int)odb_call_int(call, ODB_OPTION_AXIS, 0);
    ODB_TRY_OUT(compare_columns(&compare, columns, err));
    ODB_TRY_OUT(compare_rules(&compare, err));
    ODB_TRY_OUT(compare_sides(&compare, paths, err));
    compare_print(&compare);
out:
    odb_rules_dispose(&compare.rules);
    odb_comparison_dispose(&compare.found);
    return status;
}
