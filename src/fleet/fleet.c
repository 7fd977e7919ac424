/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet/fleet.h"

#include <fts.h>
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
    free(fleet->root);
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

/* A model as it lies there. What is known of it is taken over, unless the file has changed. */
static void fleet_put(struct odb_fleet *fleet, const struct odb_fleet *known, char *name,
                      const char *path)
{
    struct stat st = {0};
    bool there = stat(path, &st) == 0;
    if (odb_fleet_find(fleet, name)) { /* a/net.onnx and a/net/model.onnx */
        free(name);
        name = odb_xstrdup(path);
    }
    struct odb_fleet_model model = {.name = name,
                                    .path = odb_xstrdup(path),
                                    .bytes = there ? (int64_t)st.st_size : 0,
                                    .changed = (int64_t)st.st_mtim.tv_sec * 1000000000 +
                                               st.st_mtim.tv_nsec,
                                    .verdict = ODB_FLEET_QUEUED};
    const struct odb_fleet_model *had = odb_fleet_find(known, name);
    if (had && had->bytes == model.bytes && had->changed == model.changed) {
        model.stage = had->stage;
        model.verdict = had->verdict;
        model.seconds = had->seconds;
        model.compiles = had->compiles;
        model.said = had->said ? odb_xstrdup(had->said) : NULL;
        model.report = json_incref(had->report);
    }
    odb_push(&fleet->models, model);
}

static int fleet_order(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Links are followed, but not into the folder that they stand in. A folder below the first that
 * cannot be read is as if it were not there. */
static enum odb_status fleet_walk(struct odb_fleet *fleet, const struct odb_fleet *known,
                                  const char *root, struct odb_error *err)
{
    size_t n = strlen(root), below = n + (root[n - 1] != '/');
    char *roots[] = {(char *)(uintptr_t)root, NULL};
    FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, fleet_order);
    enum odb_status status = tree ? ODB_OK : odb_fail(err, ODB_E_IO, "%s: %m", root);
    for (FTSENT *e; status == ODB_OK && (e = fts_read(tree));) {
        if (e->fts_level > FTS_ROOTLEVEL && e->fts_name[0] == '.')
            fts_set(tree, e, FTS_SKIP);
        else if (e->fts_info == FTS_D && e->fts_level > FLEET_DEPTH)
            fts_set(tree, e, FTS_SKIP);
        else if (e->fts_info == FTS_DNR && e->fts_level == FTS_ROOTLEVEL)
            status = odb_fail(err, ODB_E_IO, "%s: %s", root, strerror(e->fts_errno));
        else if (e->fts_info == FTS_F && fleet_ends_in(e->fts_name, ".onnx"))
            fleet_put(fleet, known, fleet_name(e->fts_path + below), e->fts_path);
    }
    if (tree)
        fts_close(tree);
    return status;
}

static enum odb_status fleet_no_list(const char *path, struct odb_error *err)
{
    odb_fail(err, ODB_E_FORMAT, "it is neither a folder nor a list of models");
    odb_error_at(err, "%s", path);
    return odb_error_remedy(err, "one model is searched by `bisect`");
}

static enum odb_status fleet_read(struct odb_fleet *fleet, const struct odb_fleet *known,
                                  const char *path, struct odb_error *err)
{
    FILE *file;
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    const char *slash = strrchr(path, '/');
    char *dir = slash ? odb_xstrndup(path, (size_t)(slash - path) + 1) : odb_xstrdup("./");
    enum odb_status status =
        fleet_ends_in(path, ".onnx") ? fleet_no_list(path, err) : odb_file_open(&file, path, err);
    bool open = status == ODB_OK;
    while (status == ODB_OK && (n = getline(&line, &size, file)) > 0) {
        if (strlen(line) < (size_t)n)
            status = fleet_no_list(path, err);
        line[strcspn(line, "#\r\n")] = '\0';
        char *at = line + strspn(line, " \t"), *end = at + strlen(at);
        while (end > at && strchr(" \t", end[-1]))
            *--end = '\0';
        if (!*at || status != ODB_OK)
            continue;
        char *whole = *at == '/' ? odb_xstrdup(at) : odb_xasprintf("%s%s", dir, at);
        fleet_put(fleet, known, fleet_name(at), whole);
        free(whole);
    }
    free(line);
    free(dir);
    if (open)
        fclose(file);
    return status;
}

/* Names are in order: what the first and the last have in common, all have. */
void odb_fleet_see(struct odb_fleet *fleet)
{
    size_t n = fleet->models.n;
    fleet->common = 0;
    if (n < 2 || fleet->models.items[0].name[0] != '/')
        return;
    const char *first = fleet->models.items[0].name, *last = fleet->models.items[n - 1].name;
    for (size_t i = 0; first[i] && first[i] == last[i]; i++)
        if (first[i] == '/')
            fleet->common = i + 1;
}

const char *odb_fleet_brief(const struct odb_fleet *fleet, const char *name)
{
    bool below = fleet->common && !strncmp(name, fleet->models.items[0].name, fleet->common);
    return below && name[fleet->common] ? name + fleet->common : name;
}

static int fleet_by_name(const void *a, const void *b)
{
    const struct odb_fleet_model *x = a, *y = b;
    return strcmp(x->name, y->name);
}

enum odb_status odb_fleet_add(struct odb_fleet *fleet, const char *path, struct odb_error *err)
{
    struct stat st;
    struct odb_fleet now = {0}, had;
    enum odb_status status = stat(path, &st) < 0   ? odb_fail(err, ODB_E_IO, "%s: %m", path)
                             : S_ISDIR(st.st_mode) ? fleet_walk(&now, fleet, path, err)
                                                   : fleet_read(&now, fleet, path, err);
    if (status == ODB_OK && !now.models.n) {
        status = odb_fail(err, ODB_E_USAGE, "%s holds no model", path);
        odb_error_remedy(err, "name a folder with files that end in .onnx, or a file that "
                              "lists them");
    }
    if (status != ODB_OK) {
        odb_fleet_dispose(&now);
        return status;
    }
    qsort(now.models.items, now.models.n, sizeof *now.models.items, fleet_by_name);
    had = (struct odb_fleet){.models = fleet->models};
    fleet->models = now.models;
    odb_fleet_see(fleet);
    odb_fleet_dispose(&had);
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
    if (json_array_size(refused) || (signature && !strncmp(signature, "refused", 7)) ||
        (report && status == 4 && !ran))
        return ODB_FLEET_REFUSED;
    return ODB_FLEET_NONE;
}

bool odb_fleet_confirmed(const struct odb_fleet_model *model)
{
    return json_is_true(json_object_get(model->report, "known"));
}

void odb_fleet_trim(json_t *report)
{
    json_t *culprit;
    size_t i;
    json_object_del(report, "values");
    json_array_foreach(json_object_get(report, "culprits"), i, culprit)
        json_object_del(culprit, "histograms");
}

char *odb_fleet_folder(const char *path)
{
    size_t n = strlen(path), ending = strlen(ODB_FLEET_ENDING);
    bool ends = n > ending && !strcmp(path + n - ending, ODB_FLEET_ENDING);
    return odb_xasprintf("%.*s.d", (int)(ends ? n - ending : n), path);
}
