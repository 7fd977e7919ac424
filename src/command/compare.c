/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "command/call.h"
#include "compare/metrics.h"
#include "engine/json.h"
#include "executor/recording.h"

struct compare {
    struct odb_command_call *call;
    struct odb_criterion tolerance;
    struct odb_buf text;
    json_t *pairs;
    size_t passed, failed;
};

static json_t *compare_json(const char *name, enum odb_verdict verdict, const char *reason,
                            const struct odb_metrics *m)
{
    json_t *object = json_object();
    const struct {
        const char *name;
        double v;
    } reals[] = {{"max_abs", m->max_abs},
                 {"max_rel", m->max_rel},
                 {"error", m->error},
                 {"error_mean", m->error_mean},
                 {"rms", m->rms},
                 {"cosine", m->cosine},
                 {"ulp_max", m->ulp_max},
                 {"diff1", m->diff1},
                 {"diff2", m->diff2},
                 {"diff3_max", m->diff3_max},
                 {"diff3_mean", m->diff3_mean},
                 {"mae", m->mae},
                 {"mape", m->mape},
                 {"mse", m->mse},
                 {"diff_acc", m->diff_acc}};
    const struct {
        const char *name;
        size_t v;
    } counts[] = {{"count", m->count},
                  {"differing", m->differing},
                  {"nan_both", m->nan_both},
                  {"nan_base_only", m->nan_ref_only},
                  {"nan_evaluated_only", m->nan_target_only},
                  {"inf_mismatch", m->inf_mismatch}};
    json_object_set_new(object, "name", odb_json_text(name));
    json_object_set_new(object, "verdict", odb_json_text(odb_verdict_name(verdict)));
    json_object_set_new(object, "reason", odb_json_text(reason));
    if (m->missing || m->shape_mismatch || m->dtype_mismatch)
        return object;
    for (size_t i = 0; i < ODB_COUNT(counts); i++)
        json_object_set_new(object, counts[i].name, json_integer((json_int_t)counts[i].v));
    for (size_t i = 0; i < ODB_COUNT(reals); i++)
        json_object_set_new(object, reals[i].name, odb_json_real(reals[i].v));
    return object;
}

static void compare_text(struct compare *compare, const char *name, enum odb_verdict verdict,
                         const char *reason, const struct odb_metrics *m)
{
    struct odb_buf *out = &compare->text;
    odb_buf_printf(out, "%-6s  ", odb_verdict_name(verdict));
    odb_buf_put_shown(out, name);
    if (!m->missing && !m->shape_mismatch && !m->dtype_mismatch)
        odb_buf_printf(out,
                       "  max_abs %.3g  max_rel %.3g  mse %.3g  diff2 %.3g  cosine %.9g  "
                       "differing %zu/%zu",
                       m->max_abs, m->max_rel, m->mse, m->diff2, m->cosine, m->differing, m->count);
    if (m->nan_both + m->nan_ref_only + m->nan_target_only)
        odb_buf_printf(out, "  nan %zu", m->nan_both + m->nan_ref_only + m->nan_target_only);
    if (verdict != ODB_VERDICT_PASS && *reason) {
        odb_buf_puts(out, "\n        ");
        odb_buf_put_shown(out, reason);
    }
    odb_buf_putc(out, '\n');
}

static void compare_pair(struct compare *compare, const char *name, const struct odb_tensor *e,
                         const struct odb_tensor *b)
{
    char reason[300] = "";
    struct odb_metrics m;
    odb_compare(&m, e, b, -1);
    enum odb_verdict verdict =
        odb_criterion_apply(&compare->tolerance, e, b, reason, sizeof reason);
    bool pass = verdict == ODB_VERDICT_PASS;
    *(pass ? &compare->passed : &compare->failed) += 1;
    compare_text(compare, name, verdict, reason, &m);
    json_array_append_new(compare->pairs, compare_json(name, verdict, reason, &m));
}

static enum odb_status compare_files(struct compare *compare, const char *name, const char *a,
                                     const char *b, struct odb_error *err)
{
    struct odb_tensor *e, *base;
    ODB_TRY(odb_call__read_tensor(&e, a, err));
    enum odb_status status = odb_call__read_tensor(&base, b, err);
    if (status == ODB_OK) {
        compare_pair(compare, name, e, base);
        odb_tensor_unref(base);
    }
    odb_tensor_unref(e);
    return status;
}

static void compare_alone(struct compare *compare, const char *name, const char *where)
{
    struct odb_metrics m = {.missing = true};
    char reason[300];
    snprintf(reason, sizeof reason, "only in %.250s", where);
    compare->failed++;
    compare_text(compare, name, ODB_VERDICT_UNTESTABLE, reason, &m);
    json_array_append_new(compare->pairs, compare_json(name, ODB_VERDICT_UNTESTABLE, reason, &m));
}

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
static enum odb_status compare_walk(struct compare *compare, const char *const dirs[2],
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
            status = compare_files(compare, name, a, b, err);
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

static enum odb_status compare_folders(struct compare *compare, const char *const dirs[2],
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
 * second, and then what the first alone has. */
static enum odb_status compare_recorded(struct compare *compare, const char *const paths[2],
                                        struct odb_recording *const sides[2], struct odb_error *err)
{
    bool *met = odb_new_n(bool, odb_recording_count(sides[0]) + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < odb_recording_count(sides[1]) && status == ODB_OK; i++) {
        const char *name = odb_recording_name(sides[1], i);
        struct odb_tensor *e = NULL, *base = NULL;
        size_t k = compare_find(sides[0], name);
        if (k == ODB_RECORDING_NONE) {
            if (!compare_is_parameter(name))
                compare_alone(compare, name, paths[1]);
            continue;
        }
        met[k] = true;
        status = odb_recording_read(&e, sides[0], k, NULL, err);
        if (status == ODB_OK)
            status = odb_recording_read(&base, sides[1], i, NULL, err);
        if (status == ODB_OK)
            compare_pair(compare, name, e, base);
        odb_tensor_unref(base);
        odb_tensor_unref(e);
    }
    for (size_t k = 0; k < odb_recording_count(sides[0]) && status == ODB_OK; k++)
        if (!met[k] && !compare_is_parameter(odb_recording_name(sides[0], k)))
            compare_alone(compare, odb_recording_name(sides[0], k), paths[0]);
    free(met);
    return status;
}

static enum odb_status compare_archives(struct compare *compare, const char *const paths[2],
                                        struct odb_error *err)
{
    struct odb_recording *sides[2] = {NULL, NULL};
    enum odb_status status = odb_recording_open(&sides[0], paths[0], false, err);
    if (status == ODB_OK)
        status = odb_recording_open(&sides[1], paths[1], false, err);
    if (status == ODB_OK)
        status = compare_recorded(compare, paths, sides, err);
    odb_recording_close(sides[0]);
    odb_recording_close(sides[1]);
    return status;
}

static enum odb_status compare_tolerance(struct compare *compare, struct odb_error *err)
{
    compare->tolerance = (struct odb_criterion){ODB_CRITERION_ALLCLOSE, {1e-5, 1e-8}};
    if (odb_call_has(compare->call, ODB_OPTION_TOL))
        ODB_TRY(odb_call__tolerance(compare->call, &compare->tolerance, err));
    if (compare->tolerance.kind != ODB_CRITERION_NOISE)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "files say nothing of noise");
    odb_error_remedy(err, "give a fixed tolerance, such as allclose:1e-3,1e-7");
    return odb_error_at(err, "--tol");
}

static void compare_finish(struct compare *compare)
{
    char tolerance[128];
    odb_criterion_text(&compare->tolerance, tolerance, sizeof tolerance);
    compare->call->found = compare->failed > 0;
    if (odb_call_has(compare->call, ODB_OPTION_JSON)) {
        odb_buf_clear(&compare->text);
        odb_json_put(json_pack("{si,ss,ss,si,si,sO}", "schema", 1, "onnxdbg", ODB_VERSION,
                               "tolerance", tolerance, "passed", (int)compare->passed, "failed",
                               (int)compare->failed, "pairs", compare->pairs),
                     &compare->text);
    } else {
        odb_buf_printf(&compare->text, "%zu passed, %zu failed under %s\n", compare->passed,
                       compare->failed, tolerance);
    }
    odb_call__print(compare->call, &compare->text);
}

enum odb_status odb_command__compare(struct odb_command_call *call, struct odb_error *err)
{
    struct compare compare = {.call = call, .text = ODB_BUF_INIT, .pairs = json_array()};
    const char *const paths[2] = {call->args[0], call->args[1]};
    struct stat info[2];
    enum odb_status status;
    ODB_TRY_OUT(compare_tolerance(&compare, err));
    for (int i = 0; i < 2; i++)
        if (stat(paths[i], &info[i]) != 0) {
            status = odb_fail(err, ODB_E_IO, "%s", strerror(errno));
            odb_error_at(err, "%s", paths[i]);
            goto out;
        }
    bool folders = S_ISDIR(info[0].st_mode) && S_ISDIR(info[1].st_mode);
    if (!folders && (compare_is_archive(paths[0]) || compare_is_archive(paths[1])))
        status = compare_archives(&compare, paths, err);
    else if (S_ISDIR(info[0].st_mode) != S_ISDIR(info[1].st_mode))
        status = odb_fail(err, ODB_E_USAGE, "a folder and a file cannot be compared");
    else if (folders)
        status = compare_folders(&compare, paths, err);
    else
        status = compare_files(&compare, paths[0], paths[0], paths[1], err);
    if (status == ODB_OK)
        compare_finish(&compare);
out:
    json_decref(compare.pairs);
    odb_buf_dispose(&compare.text);
    return status;
}
