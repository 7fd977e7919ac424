/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/verify/verb_compare.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/tensor_file.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/search_options.h"
#include "compare/oldstyle.h"
#include "executor/recorded/recording.h"

/* golden NULL: there is no third side. A file that golden lacks is reported in the pair. */
static enum odb_status compare_files(struct odb_comparison *comparison, const char *name,
                                     const char *a, const char *b, const char *golden,
                                     struct odb_error *err)
{
    struct odb_tensor *e = NULL, *base = NULL, *third = NULL;
    enum odb_status status = odb_call__read_tensor(&e, a, err);
    if (status == ODB_OK)
        status = odb_call__read_tensor(&base, b, err);
    if (status == ODB_OK && golden && access(golden, F_OK) == 0)
        status = odb_call__read_tensor(&third, golden, err);
    if (status == ODB_OK)
        odb_comparison_add(comparison, name, e, base, third);
    odb_tensor_unref(third);
    odb_tensor_unref(base);
    odb_tensor_unref(e);
    return status;
}

static void compare_alone(struct odb_comparison *comparison, const char *name, const char *where)
{
    char *why = odb_xasprintf("only in %s", where);
    odb_comparison_add_alone(comparison, name, why);
    free(why);
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
static enum odb_status compare_walk(struct odb_comparison *comparison, const char *const dirs[3],
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
            struct odb_error why = ODB_ERROR_INIT;
            status = compare_files(comparison, name, a, b, golden, &why);
            if (status != ODB_OK)
                status = odb_comparison_add_broken(comparison, name, status, &why, err);
            free(golden);
            free(a);
            free(b);
        } else {
            compare_alone(comparison, name, dirs[order > 0]);
        }
        i += order <= 0;
        k += order >= 0;
    }
    return status;
}

static enum odb_status compare_folders(struct odb_comparison *comparison, const char *const dirs[3],
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
        status = compare_walk(comparison, dirs, lists, n, err);
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

static bool compare_is_parameter(const char *name)
{
    return strncmp(name, ODB_RECORDING_PARAMETERS, strlen(ODB_RECORDING_PARAMETERS)) == 0;
}

static bool compare_has_parameters(const struct odb_recording *side)
{
    bool has = false;
    for (size_t i = 0; i < odb_recording_count(side) && !has; i++)
        has = compare_is_parameter(odb_recording_name(side, i));
    return has;
}

/* Of what the side alone has. A probe's archive holds parameters, and what is held against it need
 * not hold any. */
static void compare_tell_alone(struct odb_comparison *comparison, const char *name,
                               const char *path, const struct odb_recording *other)
{
    if (!compare_is_parameter(name) || compare_has_parameters(other))
        compare_alone(comparison, name, path);
}

/* Archives, and folders held against one: by the names of what was recorded, in the order of the
 * second, and then what the first alone has. sides[2] NULL: there is no golden. */
static enum odb_status compare_recorded(struct odb_comparison *comparison,
                                        const char *const paths[3],
                                        struct odb_recording *const sides[3], struct odb_error *err)
{
    bool *met = odb_new_n(bool, odb_recording_count(sides[0]) + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < odb_recording_count(sides[1]) && status == ODB_OK; i++) {
        const char *name = odb_recording_name(sides[1], i);
        struct odb_tensor *t[3] = {NULL};
        struct odb_error why = ODB_ERROR_INIT;
        size_t at[3] = {compare_find(sides[0], name), i,
                        sides[2] ? compare_find(sides[2], name) : ODB_RECORDING_NONE};
        if (at[0] == ODB_RECORDING_NONE) {
            compare_tell_alone(comparison, name, paths[1], sides[0]);
            continue;
        }
        met[at[0]] = true;
        for (int side = 0; side < 3 && status == ODB_OK; side++)
            if (at[side] != ODB_RECORDING_NONE)
                status = odb_recording_read(&t[side], sides[side], at[side], NULL, &why);
        if (status == ODB_OK)
            odb_comparison_add(comparison, name, t[0], t[1], t[2]);
        else
            status = odb_comparison_add_broken(comparison, name, status, &why, err);
        for (int side = 0; side < 3; side++)
            odb_tensor_unref(t[side]);
    }
    for (size_t k = 0; k < odb_recording_count(sides[0]) && status == ODB_OK; k++)
        if (!met[k])
            compare_tell_alone(comparison, odb_recording_name(sides[0], k), paths[0], sides[1]);
    free(met);
    return status;
}

static enum odb_status compare_archives(struct odb_comparison *comparison,
                                        const char *const paths[3], struct odb_error *err)
{
    struct odb_recording *sides[3] = {NULL};
    enum odb_status status = ODB_OK;
    for (int i = 0; i < 3 && paths[i] && status == ODB_OK; i++)
        status = odb_recording_open(&sides[i], paths[i], false, err);
    if (status == ODB_OK)
        status = compare_recorded(comparison, paths, sides, err);
    for (int i = 0; i < 3; i++)
        odb_recording_close(sides[i]);
    return status;
}

/* Which of the ways it is, by what there is at the paths. */
static enum odb_status compare_sides(struct odb_comparison *comparison, const char *const paths[3],
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
        return compare_archives(comparison, paths, err);
    if (folders == n)
        return compare_folders(comparison, paths, err);
    if (folders)
        return odb_fail(err, ODB_E_USAGE, "a folder and a file cannot be compared");
    return compare_files(comparison, paths[0], paths[0], paths[1], paths[2], err);
}

/* dump_tools' own lines, of folders. */
static enum odb_status compare_as_dumps(struct odb_command_call *call, const char *const paths[3],
                                        struct odb_error *err)
{
    const struct odb_oldstyle_reader reader = {.read = odb_call__read_tensor};
    struct odb_oldstyle_options limits = ODB_OLDSTYLE_INIT;
    struct odb_oldstyle what;
    struct odb_buf out = ODB_BUF_INIT;
    ODB_TRY(odb_call__real(call, ODB_OPTION_INPUT_TAG, &limits.tag, err));
    ODB_TRY(odb_call__real(call, ODB_OPTION_TH1, &limits.th1, err));
    ODB_TRY(odb_call__real(call, ODB_OPTION_TH2, &limits.th2, err));
    enum odb_status status = odb_oldstyle_folders(&what, paths, &limits, &reader, err);
    if (status == ODB_OK) {
        call->found = odb_oldstyle_put(&what, &out) > 0 || what.alone.n > 0;
        odb_call__print(call, &out);
        status = odb_oldstyle_readable(&what, err);
    }
    odb_oldstyle_dispose(&what);
    odb_buf_dispose(&out);
    return status;
}

enum odb_status odb_command__compare(struct odb_command_call *call, struct odb_error *err)
{
    const char *const paths[3] = {call->args[0], call->args[1],
                                  odb_call_option(call, ODB_OPTION_GOLDEN_DIR)};
    const char *format = odb_call_option(call, ODB_OPTION_COMPARE_FORMAT);
    struct odb_comparison comparison;
    struct odb_buf out = ODB_BUF_INIT;
    if (format && !strcmp(format, "dump"))
        return compare_as_dumps(call, paths, err);
    enum odb_status status =
        odb_comparison_begin(&comparison, call, paths[2] != NULL, "allclose", err);
    if (status == ODB_OK)
        status = compare_sides(&comparison, paths, err);
    if (status == ODB_OK) {
        call->found = comparison.failed + comparison.alone > 0;
        odb_comparison_warn(&comparison, call);
        odb_comparison_put(&comparison, &out);
        odb_call__print(call, &out);
        if (comparison.broken)
            status = odb_fail(err, ODB_E_INPUT, "%zu of %zu could not be read", comparison.broken,
                              comparison.passed + comparison.failed + comparison.alone);
    }
    odb_buf_dispose(&out);
    odb_comparison_dispose(&comparison);
    return status;
}
