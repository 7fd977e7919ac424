/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet/fleet.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "system/file.h"

#define FLEET_DEPTH 32 /* of folders */

static const struct {
    const char *word;
    bool fails;
} fleet_rows[] = {
#define FLEET_ROW(name, word, fails, help) [ODB_FLEET_##name] = {word, fails},
    ODB_FLEET_LIST(FLEET_ROW)
#undef FLEET_ROW
};

const char *odb_fleet_word(enum odb_fleet_verdict verdict)
{
    return fleet_rows[verdict].word;
}

bool odb_fleet_fails(enum odb_fleet_verdict verdict)
{
    return fleet_rows[verdict].fails;
}

void odb_fleet_dispose(struct odb_fleet *fleet)
{
    for (size_t i = 0; i < fleet->models.n; i++) {
        struct odb_fleet_model *model = &fleet->models.items[i];
        free(model->name);
        free(model->path);
        free(model->said);
        json_decref(model->report);
    }
    for (size_t i = 0; i < fleet->repros.n; i++) {
        free(fleet->repros.items[i].cause);
        free(fleet->repros.items[i].folder);
        free(fleet->repros.items[i].said);
    }
    free(fleet->models.items);
    free(fleet->repros.items);
    free(fleet->target);
    free(fleet->options);
    *fleet = (struct odb_fleet){0};
}

struct odb_fleet_model *odb_fleet_find(const struct odb_fleet *fleet, const char *name)
{
    for (size_t i = 0; i < fleet->models.n; i++)
        if (!strcmp(fleet->models.items[i].name, name))
            return &fleet->models.items[i];
    return NULL;
}

size_t odb_fleet_count(const struct odb_fleet *fleet, enum odb_fleet_verdict verdict)
{
    size_t n = 0;
    for (size_t i = 0; i < fleet->models.n; i++)
        n += fleet->models.items[i].verdict == verdict;
    return n;
}

/* --- which models ----------------------------------------------------------------------------- */

static bool fleet_ends_in(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n > m && !strcmp(text + n - m, ending);
}

/* "a/b/model.onnx" is a/b, "a/net.onnx" is a/net. The caller's. */
static char *fleet_name(const char *path)
{
    size_t n = strlen(path);
    const char *ending = fleet_ends_in(path, "/model.onnx") ? "/model.onnx" : ".onnx";
    return odb_xstrndup(path, fleet_ends_in(path, ending) ? n - strlen(ending) : n);
}

static void fleet_put(struct odb_fleet *fleet, char *name, const char *path)
{
    struct stat st;
    if (odb_fleet_find(fleet, name)) {
        free(name);
        return;
    }
    struct odb_fleet_model model = {.name = name,
                                    .path = odb_xstrdup(path),
                                    .bytes = stat(path, &st) == 0 ? (int64_t)st.st_size : 0,
                                    .verdict = ODB_FLEET_QUEUED};
    odb_push(&fleet->models, model);
}

static enum odb_status fleet_walk(struct odb_fleet *fleet, const char *root, const char *below,
                                  int depth, struct odb_error *err)
{
    char *dir = *below ? odb_xasprintf("%s/%s", root, below) : odb_xstrdup(root);
    struct dirent **list;
    int n = scandir(dir, &list, NULL, alphasort);
    enum odb_status status = n < 0 ? odb_fail(err, ODB_E_IO, "%s: %m", dir) : ODB_OK;
    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;
        char *path = odb_xasprintf("%s/%s", dir, name);
        char *inner = *below ? odb_xasprintf("%s/%s", below, name) : odb_xstrdup(name);
        struct stat st;
        bool seen = name[0] != '.' && stat(path, &st) == 0 && status == ODB_OK;
        if (seen && S_ISDIR(st.st_mode) && depth < FLEET_DEPTH)
            status = fleet_walk(fleet, root, inner, depth + 1, err);
        else if (seen && S_ISREG(st.st_mode) && fleet_ends_in(name, ".onnx"))
            fleet_put(fleet, fleet_name(inner), path);
        free(inner);
        free(path);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    free(dir);
    return status;
}

static enum odb_status fleet_read(struct odb_fleet *fleet, const char *path, struct odb_error *err)
{
    FILE *file;
    char *line = NULL;
    size_t size = 0;
    const char *slash = strrchr(path, '/');
    int dir = slash ? (int)(slash - path) + 1 : 0;
    ODB_TRY(odb_file_open(&file, path, err));
    while (getline(&line, &size, file) > 0) {
        line[strcspn(line, "#\r\n")] = '\0';
        char *at = line + strspn(line, " \t"), *end = at + strlen(at);
        while (end > at && strchr(" \t", end[-1]))
            *--end = '\0';
        if (!*at)
            continue;
        char *whole = *at == '/' ? odb_xstrdup(at) : odb_xasprintf("%.*s%s", dir, path, at);
        fleet_put(fleet, fleet_name(at), whole);
        free(whole);
    }
    free(line);
    fclose(file);
    return ODB_OK;
}

static int fleet_by_name(const void *a, const void *b)
{
    const struct odb_fleet_model *x = a, *y = b;
    return strcmp(x->name, y->name);
}

enum odb_status odb_fleet_add(struct odb_fleet *fleet, const char *path, struct odb_error *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return odb_fail(err, ODB_E_IO, "%s: %m", path);
    if (S_ISDIR(st.st_mode))
        ODB_TRY(fleet_walk(fleet, path, "", 0, err));
    else
        ODB_TRY(fleet_read(fleet, path, err));
    if (!fleet->models.n) {
        odb_fail(err, ODB_E_USAGE, "%s holds no model", path);
        return odb_error_remedy(err, "name a folder with files that end in .onnx, or a file that "
                                     "lists them");
    }
    qsort(fleet->models.items, fleet->models.n, sizeof *fleet->models.items, fleet_by_name);
    return ODB_OK;
}

/* --- the verdict ------------------------------------------------------------------------------ */

static bool fleet_is(const json_t *object, const char *key, const char *word)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text && !strcmp(text, word);
}

enum odb_fleet_verdict odb_fleet_judge(const json_t *report, int status)
{
    const json_t *culprits = json_object_get(report, "culprits");
    const json_t *refused = json_object_get(json_object_get(report, "pieces"), "refused");
    const char *signature = json_string_value(json_object_get(report, "signature"));
    bool ran = json_is_true(json_object_get(report, "target_runs_at_all"));
    if (fleet_is(report, "verdict", "pass"))
        return ODB_FLEET_PASS;
    if (fleet_is(report, "verdict", "diverges")) {
        const json_t *first = json_array_get(culprits, 0);
        if (fleet_is(first, "kind", "crash") || (signature && !strncmp(signature, "crash", 5)))
            return ODB_FLEET_CRASH;
        if (fleet_is(first, "kind", "hang") || (signature && !strncmp(signature, "timeout", 7)))
            return ODB_FLEET_HANG;
        return fleet_is(first, "kind", "refused") ? ODB_FLEET_REFUSED : ODB_FLEET_DIVERGES;
    }
    if (json_array_size(refused) || (report && status == 4 && !ran))
        return ODB_FLEET_REFUSED;
    return ODB_FLEET_NONE;
}
