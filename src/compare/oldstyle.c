/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/oldstyle.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pyfloat.h"
#include "compare/metrics.h"
#include "compare/numpy.h"

static const char *const oldstyle_sides[] = {"target", "compare", "golden"};

/* --- one pair --------------------------------------------------------------------------------- */

/* Why two tensors have no numbers that could be compared; NULL: they have. */
static char *oldstyle_trouble(const struct odb_metrics *m, const struct odb_tensor *e,
                              const struct odb_tensor *b, const char *than)
{
    char one[256], other[256];
    if (m->shape_mismatch && e->kind == ODB_TENSOR && b->kind == ODB_TENSOR)
        return odb_xasprintf("shape %s, %s has %s", odb_shape_text(e, one, sizeof one), than,
                             odb_shape_text(b, other, sizeof other));
    if (m->dtype_mismatch)
        return odb_xasprintf("dtype %s, %s has %s", odb_dtype_info(e->dtype)->name, than,
                             odb_dtype_info(b->dtype)->name);
    if (m->missing || m->shape_mismatch)
        return odb_xasprintf("not comparable with that of %s", than);
    bool numbers = e->kind == ODB_TENSOR && e->dtype != ODB_STRING;
    if (!numbers && m->differing)
        return odb_xasprintf("%zu of %zu elements differ from %s", m->differing, m->count, than);
    return NULL;
}

static bool oldstyle_odd(const struct odb_metrics *m)
{
    return m->nan_both + m->nan_ref_only + m->nan_target_only + m->inf_both + m->inf_mismatch > 0;
}

void odb_oldstyle_judge(struct odb_oldstyle_row *row, const struct odb_oldstyle_options *options,
                        const struct odb_tensor *target, const struct odb_tensor *compare,
                        const struct odb_tensor *golden)
{
    struct odb_metrics m;
    bool numbers = target->kind == ODB_TENSOR && target->dtype != ODB_STRING;
    odb_compare(&m, target, compare, options->th1);
    row->trouble = oldstyle_trouble(&m, target, compare, "compare");
    row->nan_inf = oldstyle_odd(&m);
    row->all_close = m.all_close;
    row->max_pass = row->mean_pass = true;
    row->diff2 = numbers && !row->trouble ? odb_diff2_f32(target, compare) : 0;
    if (!golden || row->trouble)
        return;
    odb_compare(&m, target, golden, options->th1);
    row->trouble = oldstyle_trouble(&m, target, golden, "golden");
    row->nan_inf |= oldstyle_odd(&m);
    if (row->trouble || !numbers)
        return;
    row->max_target = m.diff3_max;
    row->mean_target = odb_diff3_mean(target, golden, options->th1);
    odb_compare(&m, compare, golden, options->th1);
    row->max_compare = m.diff3_max;
    row->mean_compare = odb_diff3_mean(compare, golden, options->th1);
    row->max_pass = odb_three_way(row->max_target, row->max_compare, options->tag);
    row->mean_pass = odb_three_way(row->mean_target, row->mean_compare, options->tag);
}

/* --- folders ---------------------------------------------------------------------------------- */

struct oldstyle_list {
    struct dirent **entries; /* owned */
    int n, at;
};

static int oldstyle_is_tensor(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return entry->d_name[0] != '.' && ((n > 4 && !strcmp(entry->d_name + n - 4, ".npy")) ||
                                       (n > 3 && !strcmp(entry->d_name + n - 3, ".pb")));
}

static int oldstyle_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The folder's files, or those in its folder `outputs`, which *dir is then. */
static enum odb_status oldstyle_list(struct oldstyle_list *list, char **dir, struct odb_error *err)
{
    list->n = scandir(*dir, &list->entries, oldstyle_is_tensor, oldstyle_by_name);
    if (list->n == 0) {
        char *below = odb_xasprintf("%s/outputs", *dir);
        struct dirent **entries;
        int n = scandir(below, &entries, oldstyle_is_tensor, oldstyle_by_name);
        if (n >= 0) {
            free(list->entries);
            free(*dir);
            *list = (struct oldstyle_list){entries, n, 0};
            *dir = below;
            return ODB_OK;
        }
        free(below);
    }
    if (list->n >= 0)
        return ODB_OK;
    odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    return odb_error_at(err, "%s", *dir);
}

/* The next name of all lists, in order, and which lists have it; NULL: no more. */
static const char *oldstyle_next(struct oldstyle_list *lists, bool *has)
{
    const char *least = NULL;
    for (int s = 0; s < ODB_OLDSTYLE_SIDES; s++)
        if (lists[s].at < lists[s].n) {
            const char *name = lists[s].entries[lists[s].at]->d_name;
            least = !least || strcmp(name, least) < 0 ? name : least;
        }
    for (int s = 0; s < ODB_OLDSTYLE_SIDES && least; s++) {
        has[s] = lists[s].at < lists[s].n && !strcmp(lists[s].entries[lists[s].at]->d_name, least);
        lists[s].at += has[s];
    }
    return least;
}

static void oldstyle_pair_up(struct odb_oldstyle *out, struct oldstyle_list *lists)
{
    bool has[ODB_OLDSTYLE_SIDES];
    const char *name;
    while ((name = oldstyle_next(lists, has))) {
        struct odb_oldstyle_alone alone = {.name = odb_xstrdup(name)};
        memcpy(alone.has, has, sizeof has);
        if (has[0] && has[1] && (has[2] || !out->golden))
            odb_push(&out->rows, (struct odb_oldstyle_row){.name = alone.name});
        else
            odb_push(&out->alone, alone);
    }
}

static void oldstyle_row(struct odb_oldstyle *out, struct odb_oldstyle_row *row,
                         const struct odb_oldstyle_reader *reader)
{
    struct odb_tensor *t[ODB_OLDSTYLE_SIDES] = {NULL};
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK;
    char text[1900];
    for (int s = 0; s < ODB_OLDSTYLE_SIDES && out->dirs[s] && status == ODB_OK; s++) {
        char *path = odb_xasprintf("%s/%s", out->dirs[s], row->name);
        status = reader->read(&t[s], path, &why);
        free(path);
    }
    if (status == ODB_OK)
        odb_oldstyle_judge(row, &out->options, t[0], t[1], t[2]);
    else
        row->trouble = odb_xstrdup(odb_error_text(&why, text, sizeof text));
    out->broken += status != ODB_OK;
    for (int s = 0; s < ODB_OLDSTYLE_SIDES; s++)
        odb_tensor_unref(t[s]);
}

enum odb_status odb_oldstyle_folders(struct odb_oldstyle *out,
                                     const char *const dirs[ODB_OLDSTYLE_SIDES],
                                     const struct odb_oldstyle_options *options,
                                     const struct odb_oldstyle_reader *reader,
                                     struct odb_error *err)
{
    struct oldstyle_list lists[ODB_OLDSTYLE_SIDES] = {{0}};
    enum odb_status status = ODB_OK;
    *out = (struct odb_oldstyle){.options = *options, .golden = dirs[ODB_OLDSTYLE_GOLDEN]};
    for (int s = 0; s < ODB_OLDSTYLE_SIDES && dirs[s] && status == ODB_OK; s++) {
        out->dirs[s] = odb_xstrdup(dirs[s]);
        status = oldstyle_list(&lists[s], &out->dirs[s], err);
    }
    if (status == ODB_OK)
        oldstyle_pair_up(out, lists);
    for (int s = 0; s < ODB_OLDSTYLE_SIDES; s++) {
        for (int i = 0; i < lists[s].n; i++)
            free(lists[s].entries[i]);
        free(lists[s].entries);
    }
    if (status == ODB_OK && !out->rows.n) {
        odb_fail(err, ODB_E_INPUT, "the folders have no .npy or .pb file of one name");
        return odb_error_at(err, "%s, %s", dirs[ODB_OLDSTYLE_TARGET], dirs[ODB_OLDSTYLE_COMPARE]);
    }
    for (size_t i = 0; i < out->rows.n && status == ODB_OK; i++) {
        oldstyle_row(out, &out->rows.items[i], reader);
        if (reader->told && reader->told(reader->payload, i + 1, out->rows.n))
            status = odb_fail(err, ODB_CANCELLED, "cancelled");
    }
    return status;
}

enum odb_status odb_oldstyle_readable(const struct odb_oldstyle *what, struct odb_error *err)
{
    return what->broken ? odb_fail(err, ODB_E_INPUT, "%zu of %zu could not be read", what->broken,
                                   what->rows.n)
                        : ODB_OK;
}

void odb_oldstyle_dispose(struct odb_oldstyle *what)
{
    for (size_t i = 0; i < what->rows.n; i++) {
        free(what->rows.items[i].name);
        free(what->rows.items[i].trouble);
    }
    for (size_t i = 0; i < what->alone.n; i++)
        free(what->alone.items[i].name);
    for (int s = 0; s < ODB_OLDSTYLE_SIDES; s++)
        free(what->dirs[s]);
    free(what->rows.items);
    free(what->alone.items);
    *what = (struct odb_oldstyle){0};
}

/* --- text ------------------------------------------------------------------------------------- */

bool odb_oldstyle_is(const struct odb_oldstyle *what, const struct odb_oldstyle_row *row,
                     enum odb_oldstyle_kind kind)
{
    if (row->trouble)
        return kind == ODB_OLDSTYLE_TROUBLE;
    if (kind == ODB_OLDSTYLE_NAN_INF)
        return row->nan_inf;
    if (kind == ODB_OLDSTYLE_DIFF2)
        return row->diff2 > what->options.th2;
    return kind == ODB_OLDSTYLE_OTHER &&
           (what->golden ? !row->max_pass || !row->mean_pass : !row->all_close);
}

bool odb_oldstyle_fails(const struct odb_oldstyle *what, const struct odb_oldstyle_row *row)
{
    return odb_oldstyle_is(what, row, ODB_OLDSTYLE_TROUBLE) ||
           odb_oldstyle_is(what, row, ODB_OLDSTYLE_DIFF2) ||
           odb_oldstyle_is(what, row, ODB_OLDSTYLE_OTHER);
}

static void oldstyle_put(struct odb_buf *out, const char *before, double v)
{
    char text[ODB_PYFLOAT_TEXT];
    odb_buf_printf(out, "%s%s", before, odb_pyfloat(v, text, sizeof text));
}

/* " | diff3_max_sw: 0.0 | diff3_max_g: 0.0*10.0=0.0" */
static void oldstyle_put_pair(struct odb_buf *out, const char *which, double target, double compare,
                              double tag)
{
    odb_buf_printf(out, " | diff3_%s_sw", which);
    oldstyle_put(out, ": ", target);
    odb_buf_printf(out, " | diff3_%s_g", which);
    oldstyle_put(out, ": ", compare);
    oldstyle_put(out, "*", tag);
    oldstyle_put(out, "=", compare * tag);
}

void odb_oldstyle_line(const struct odb_oldstyle *what, size_t index, struct odb_buf *out)
{
    const struct odb_oldstyle_row *row = &what->rows.items[index];
    odb_buf_printf(out, "index: %zu | ", index);
    odb_buf_put_shown(out, row->name);
    if (row->trouble) {
        odb_buf_puts(out, " | error: ");
        odb_buf_put_shown(out, row->trouble);
        odb_buf_putc(out, '\n');
        return;
    }
    odb_buf_printf(out, " | nan_inf: %s", row->nan_inf ? "True" : "False");
    oldstyle_put(out, " | diff2: ", row->diff2);
    if (what->golden) {
        odb_buf_printf(out, " | diff3_max=%s | diff3_mean=%s", row->max_pass ? "pass" : "fail",
                       row->mean_pass ? "pass" : "fail");
        oldstyle_put_pair(out, "max", row->max_target, row->max_compare, what->options.tag);
        oldstyle_put_pair(out, "mean", row->mean_target, row->mean_compare, what->options.tag);
    } else {
        odb_buf_printf(out, " | all_close: %s", row->all_close ? "True" : "False");
        oldstyle_put(out, " | th: ", what->options.th1);
    }
    odb_buf_putc(out, '\n');
}

static void oldstyle_put_alone(const struct odb_oldstyle *what, struct odb_buf *out)
{
    int sides = what->golden ? ODB_OLDSTYLE_SIDES : ODB_OLDSTYLE_GOLDEN;
    for (int s = 0; s < sides; s++) {
        size_t n = 0;
        odb_buf_printf(out, "not in every folder, but in %s (", oldstyle_sides[s]);
        odb_buf_put_shown(out, what->dirs[s]);
        odb_buf_puts(out, "):");
        for (size_t i = 0; i < what->alone.n; i++) {
            if (!what->alone.items[i].has[s])
                continue;
            odb_buf_puts(out, n++ ? ", " : " ");
            odb_buf_put_shown(out, what->alone.items[i].name);
        }
        odb_buf_puts(out, n ? "\n" : " none\n");
    }
}

void odb_oldstyle_summary(const struct odb_oldstyle *what, struct odb_buf *out)
{
    char th2[ODB_PYFLOAT_TEXT], over[ODB_PYFLOAT_TEXT + 16];
    const char *const titles[ODB_OLDSTYLE_KINDS] = {
        "not comparable", "nan or inf", over, what->golden ? "diff3 fails" : "all_close fails"};
    snprintf(over, sizeof over, "diff2 > %s", odb_pyfloat(what->options.th2, th2, sizeof th2));
    oldstyle_put_alone(what, out);
    for (int kind = 0; kind < ODB_OLDSTYLE_KINDS; kind++) {
        struct odb_buf names = ODB_BUF_INIT;
        size_t n = 0;
        for (size_t i = 0; i < what->rows.n; i++) {
            if (!odb_oldstyle_is(what, &what->rows.items[i], (enum odb_oldstyle_kind)kind))
                continue;
            odb_buf_puts(&names, n++ ? ", " : " ");
            odb_buf_put_shown(&names, what->rows.items[i].name);
        }
        if (n || kind != ODB_OLDSTYLE_TROUBLE)
            odb_buf_printf(out, "%s (%zu):%s\n", titles[kind], n, n ? names.data : " none");
        odb_buf_dispose(&names);
    }
}

size_t odb_oldstyle_put(const struct odb_oldstyle *what, struct odb_buf *out)
{
    size_t failed = 0;
    for (size_t i = 0; i < what->rows.n; i++) {
        odb_oldstyle_line(what, i, out);
        failed += odb_oldstyle_fails(what, &what->rows.items[i]);
    }
    odb_oldstyle_summary(what, out);
    return failed;
}
