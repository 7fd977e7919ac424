/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What dump_tools' comparison found, as a workbook: a sheet with every row, and one for each list
 * of those that are off.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xlsxwriter.h>

#include "system/file.h"
#include "base/mem.h"
#include "base/pyfloat.h"
#include "system/scratch.h"
#include "compare/oldstyle.h"

struct workbook {
    const struct odb_oldstyle *what;
    lxw_workbook *book;
    lxw_format *bold;
    lxw_error error; /* of the first that failed */
};

static void workbook_note(struct workbook *w, lxw_error error)
{
    if (!w->error)
        w->error = error;
}

static void workbook_text(struct workbook *w, lxw_worksheet *sheet, lxw_row_t row, lxw_col_t column,
                          const char *text)
{
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, text);
    workbook_note(
        w, worksheet_write_string(sheet, row, column, odb_buf_text(&shown), row ? NULL : w->bold));
    odb_buf_dispose(&shown);
}

/* A cell holds no NaN and no Inf: they are words. */
static void workbook_number(struct workbook *w, lxw_worksheet *sheet, lxw_row_t row,
                            lxw_col_t column, double v)
{
    char text[ODB_PYFLOAT_TEXT];
    if (isfinite(v))
        workbook_note(w, worksheet_write_number(sheet, row, column, v, NULL));
    else
        workbook_text(w, sheet, row, column, odb_pyfloat(v, text, sizeof text));
}

static void workbook_row(struct workbook *w, lxw_worksheet *sheet, lxw_row_t at, size_t index)
{
    const struct odb_oldstyle_row *row = &w->what->rows.items[index];
    double tag = w->what->options.tag;
    workbook_number(w, sheet, at, 0, (double)index);
    workbook_text(w, sheet, at, 1, row->name);
    if (row->trouble) {
        workbook_text(w, sheet, at, 2, row->trouble);
        return;
    }
    workbook_text(w, sheet, at, 2, row->nan_inf ? "True" : "False");
    workbook_number(w, sheet, at, 3, row->diff2);
    if (!w->what->golden) {
        workbook_text(w, sheet, at, 4, row->all_close ? "True" : "False");
        workbook_number(w, sheet, at, 5, w->what->options.th1);
        return;
    }
    const double numbers[] = {row->max_target, row->max_compare * tag, row->mean_target,
                              row->mean_compare * tag};
    workbook_text(w, sheet, at, 4, row->max_pass ? "pass" : "fail");
    workbook_text(w, sheet, at, 5, row->mean_pass ? "pass" : "fail");
    for (size_t i = 0; i < ODB_COUNT(numbers); i++)
        workbook_number(w, sheet, at, (lxw_col_t)(6 + i), numbers[i]);
}

/* kind ODB_OLDSTYLE_KINDS: every row. */
static void workbook_sheet(struct workbook *w, const char *name, enum odb_oldstyle_kind kind)
{
    static const char *const close[] = {"index", "name", "nan_inf", "diff2", "all_close", "th"};
    static const char *const three[] = {
        "index",      "name",         "nan_inf",     "diff2",         "diff3_max",
        "diff3_mean", "diff3_max_sw", "diff3_max_g", "diff3_mean_sw", "diff3_mean_g"};
    const char *const *titles = w->what->golden ? three : close;
    size_t n = w->what->golden ? ODB_COUNT(three) : ODB_COUNT(close);
    lxw_worksheet *sheet = workbook_add_worksheet(w->book, name);
    lxw_row_t at = 0;
    if (!sheet) {
        workbook_note(w, LXW_ERROR_MEMORY_MALLOC_FAILED);
        return;
    }
    for (size_t i = 0; i < n; i++)
        workbook_text(w, sheet, 0, (lxw_col_t)i, titles[i]);
    worksheet_set_column(sheet, 1, 1, 48, NULL);
    worksheet_freeze_panes(sheet, 1, 0);
    for (size_t i = 0; i < w->what->rows.n; i++)
        if (kind == ODB_OLDSTYLE_KINDS || odb_oldstyle_is(w->what, &w->what->rows.items[i], kind))
            workbook_row(w, sheet, ++at, i);
}

/* The library prints what it cannot open; so that is found out before. */
static enum odb_status workbook_open(struct workbook *w, char *folder, const char *path,
                                     struct odb_error *err)
{
    lxw_workbook_options options = {.tmpdir = folder};
    FILE *file = fopen(path, "wx");
    if (!file)
        return odb_fail(err, ODB_E_IO, "cannot be written: %s", strerror(errno));
    fclose(file);
    w->book = workbook_new_opt(path, &options);
    return w->book ? ODB_OK : odb_fail(err, ODB_E_NOMEM, "no memory for a workbook");
}

static void workbook_fill(struct workbook *w)
{
    w->bold = workbook_add_format(w->book);
    format_set_bold(w->bold);
    workbook_sheet(w, "Sheet", ODB_OLDSTYLE_KINDS);
    workbook_sheet(w, "nan_inf", ODB_OLDSTYLE_NAN_INF);
    workbook_sheet(w, "diff2_val", ODB_OLDSTYLE_DIFF2);
    workbook_sheet(w, w->what->golden ? "diff3_val" : "all_close", ODB_OLDSTYLE_OTHER);
    workbook_note(w, workbook_close(w->book));
}

enum odb_status odb_oldstyle_workbook(const struct odb_oldstyle *what, const char *path,
                                      struct odb_error *err)
{
    struct workbook w = {.what = what};
    char *folder;
    ODB_TRY(odb_scratch_for_file(&folder, path, err));
    char *beside = odb_xasprintf("%s/xlsx", folder);
    enum odb_status status = workbook_open(&w, folder, beside, err);
    if (status == ODB_OK) {
        errno = 0;
        workbook_fill(&w);
        int why = errno; /* the library's word for it is only that there was one */
        if (w.error)
            status = odb_fail(err, ODB_E_IO, "cannot be written: %s",
                              why ? strerror(why) : lxw_strerror(w.error));
    }
    if (status == ODB_OK)
        status = odb_file_install(beside, path, err);
    else
        odb_error_at(err, "%s", path);
    odb_scratch_remove(folder);
    free(beside);
    free(folder);
    return status;
}
