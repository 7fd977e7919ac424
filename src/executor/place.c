/* SPDX-License-Identifier: MIT
 *
 * Weights are neither linked nor symlinked into a directory: a program that writes into its files
 * would write into the user's, and the newer ONNX libraries refuse external data that has a second
 * name. So there is one copy, which shares its blocks with the original where the file system can
 * do that, and moves along from one model's directory to the next.
 */
#include "executor/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "system/file.h"
#include "base/mem.h"
#include "system/scratch.h"
#include "model/write/external.h"
#include "model/write/write.h"

/* A file of external data that has been copied, as it was and as the copy was then. */
struct place_weights {
    char *name; /* owned: below the directory */
    char *from; /* owned */
    struct stat original, copy;
};

struct odb_place {
    char *keep; /* owned; NULL: nothing is kept */
    char *dir;  /* owned; NULL: there is no model */
    ODB_VEC(struct place_weights) weights;
};

static enum odb_status place_io(struct odb_error *err, const char *path)
{
    odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    return odb_error_at(err, "%s", path);
}

struct odb_place *odb_place_new(const char *keep)
{
    struct odb_place *place = odb_new(struct odb_place);
    if (keep) /* models are loaded from other directories */
        place->keep = odb_file_absolute(keep);
    return place;
}

const char *odb_place_dir(const struct odb_place *place)
{
    return place->dir;
}

static void place_forget(struct odb_place *place)
{
    for (size_t i = 0; i < place->weights.n; i++) {
        free(place->weights.items[i].name);
        free(place->weights.items[i].from);
    }
    place->weights.n = 0;
}

void odb_place_clear(struct odb_place *place)
{
    if (place->dir && !place->keep)
        odb_scratch_remove(place->dir);
    free(place->dir);
    place->dir = NULL;
    place_forget(place);
}

void odb_place_free(struct odb_place *place)
{
    if (!place)
        return;
    odb_place_clear(place);
    free(place->weights.items);
    free(place->keep);
    free(place);
}

/* --- directories ----------------------------------------------------------------------------- */

/* The next number that is free, in a directory that several processes may use. */
static enum odb_status place_new_kept(const char *keep, char **dir, struct odb_error *err)
{
    ODB_TRY(odb_file_mkdir(keep, err));
    char *base = realpath(keep, NULL);
    if (!base)
        return place_io(err, keep);
    enum odb_status status = ODB_OK;
    for (unsigned i = 1;; i++) {
        *dir = odb_xasprintf("%s/%04u", base, i);
        if (mkdir(*dir, 0777) == 0)
            break;
        if (errno != EEXIST) {
            status = place_io(err, *dir);
            free(*dir);
            *dir = NULL;
            break;
        }
        free(*dir);
    }
    free(base);
    return status;
}

/* --- copies ---------------------------------------------------------------------------------- */

static bool place_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The directories on the way to a file below dir. */
static void place_make_parents(char *path, size_t below)
{
    for (char *p = strchr(path + below, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
}

static enum odb_status place_room(int out, off_t size, struct odb_error *err)
{
    struct statvfs fs;
    if (fstatvfs(out, &fs) < 0 || (uint64_t)fs.f_bavail * fs.f_frsize >= (uint64_t)size)
        return ODB_OK;
    odb_fail(err, ODB_E_IO, "there is room for %.0f MB and it takes %.0f MB",
             (double)fs.f_bavail * (double)fs.f_frsize / 1e6, (double)size / 1e6);
    return odb_error_remedy(err, "name a directory with more room in TMPDIR");
}

static enum odb_status place_copy_bytes(int in, int out, struct odb_error *err)
{
    struct stat st;
    if (fstat(in, &st) < 0)
        return odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    if (ioctl(out, FICLONE, in) == 0)
        return ODB_OK;
    ODB_TRY(place_room(out, st.st_size, err));
    ssize_t n = 1;
    for (off_t left = st.st_size; left > 0 && n > 0; left -= n)
        n = sendfile(out, in, NULL, (size_t)ODB_MIN(left, (off_t)1 << 30));
    if (n > 0)
        return ODB_OK;
    return odb_fail(err, ODB_E_IO, "%s", n < 0 ? strerror(errno) : "it becomes shorter");
}

enum odb_status odb_place_copy(const char *from, const char *to, struct odb_error *err)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return place_io(err, from);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum odb_status status =
        out < 0 ? odb_fail(err, ODB_E_IO, "%s", strerror(errno)) : place_copy_bytes(in, out, err);
    if (status != ODB_OK)
        odb_error_at(err, "%s", to);
    if (status != ODB_OK && out >= 0)
        unlink(to);
    if (out >= 0)
        close(out);
    close(in);
    return status;
}

/* Weights as they were copied for the model before, if neither they nor the copy have changed. */
static bool place_reuse(const struct odb_place *before, const struct place_weights *wanted,
                        const char *to)
{
    struct stat copy;
    for (size_t i = 0; !before->keep && i < before->weights.n; i++) {
        const struct place_weights *had = &before->weights.items[i];
        if (strcmp(had->name, wanted->name) != 0 || strcmp(had->from, wanted->from) != 0 ||
            !place_same(&had->original, &wanted->original))
            continue;
        char *path = odb_xasprintf("%s/%s", before->dir, had->name);
        bool moved =
            lstat(path, &copy) == 0 && place_same(&copy, &had->copy) && rename(path, to) == 0;
        free(path);
        return moved;
    }
    return false;
}

static enum odb_status place_weights(struct odb_place *place, const struct odb_place *before,
                                     const char *dir, const char *location, const char *name,
                                     struct odb_error *err)
{
    struct place_weights weights = {
        .name = odb_xstrdup(name),
        .from = odb_xasprintf("%s/%s", dir[0] ? dir : ".", location),
    };
    char *to = odb_xasprintf("%s/%s", place->dir, name);
    enum odb_status status = ODB_OK;
    place_make_parents(to, strlen(place->dir) + 1);
    if (stat(weights.from, &weights.original) < 0)
        status = place_io(err, weights.from);
    else if (!place_reuse(before, &weights, to))
        status = odb_place_copy(weights.from, to, err);
    if (status == ODB_OK && lstat(to, &weights.copy) < 0)
        status = place_io(err, to);
    odb_push(&place->weights, weights);
    free(to);
    return status;
}

/* --- the model ------------------------------------------------------------------------------- */

/* A location that has a place of its own in our directory, beside the files that executors and
 * their programs make there. */
static bool place_can_hold(const char *location)
{
    static const char *const ours[] = {"/", "model.", "io.json", "in_", "out_", "onnxdbg-"};
    if (strstr(location, "..") || strstr(location, "./") || strstr(location, "//"))
        return false; /* a file may have several such names */
    for (size_t i = 0; i < ODB_COUNT(ours); i++)
        if (!strncmp(location, ours[i], strlen(ours[i])))
            return false;
    return true;
}

/* The model as it is now: whole. */
static enum odb_status place_pack(const struct odb_model *model, struct odb_buf *bytes,
                                  struct odb_error *err)
{
    const struct odb_graph *graph = model->graph;
    struct odb_port *ports = odb_new_n(struct odb_port, graph->n_inputs + graph->n_outputs + 1);
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    bool *nodes = odb_new_n(bool, graph->n_nodes + 1);
    size_t n_in = odb_graph_feeds(graph, feeds);
    for (size_t i = 0; i < n_in; i++)
        ports[i].value = feeds[i];
    for (size_t i = 0; i < graph->n_outputs; i++)
        ports[n_in + i].value = graph->outputs[i];
    memset(nodes, 1, graph->n_nodes);
    struct odb_extract what = {.nodes = nodes,
                               .inputs = ports,
                               .n_inputs = n_in,
                               .outputs = ports + n_in,
                               .n_outputs = graph->n_outputs,
                               .weights = ODB_WEIGHTS_REFERENCE};
    enum odb_status status = odb_model_extract(model, &what, bytes, err);
    free(ports);
    free(feeds);
    free(nodes);
    return status;
}

static enum odb_status place_model(struct odb_place *place, const struct odb_place *before,
                                   const struct odb_load *load, struct odb_model *model,
                                   struct odb_error *err)
{
    size_t n;
    const char **files = odb_model_external_files(model, &n);
    char *path = odb_xasprintf("%s/model.onnx", place->dir);
    struct odb_buf bytes = ODB_BUF_INIT;
    bool renamed = false;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        bool hold = place_can_hold(files[i]);
        char *name = hold ? odb_xstrdup(files[i]) : odb_xasprintf("onnxdbg-weights-%zu.bin", i);
        if (!hold)
            odb_model_rename_external(model, files[i], name);
        renamed = renamed || !hold;
        status = place_weights(place, before, load->dir, files[i], name, err);
        free(name);
    }
    if (status == ODB_OK && renamed)
        status = place_pack(model, &bytes, err);
    if (status == ODB_OK)
        status = odb_file_write_unsynced(
            path,
            &(struct iovec){renamed ? bytes.data : (char *)(uintptr_t)load->bytes,
                            renamed ? bytes.len : load->size},
            1, err);
    odb_buf_dispose(&bytes);
    free(files);
    free(path);
    return status;
}

enum odb_status odb_place_put(struct odb_place *place, const struct odb_load *load,
                              struct odb_model *model, struct odb_error *err)
{
    struct odb_place before = *place;
    *place = (struct odb_place){.keep = before.keep};
    enum odb_status status = place->keep ? place_new_kept(place->keep, &place->dir, err)
                                         : odb_scratch_new(&place->dir, err);
    if (status == ODB_OK)
        status = place_model(place, &before, load, model, err);
    odb_place_clear(&before);
    free(before.weights.items);
    if (status != ODB_OK)
        odb_place_clear(place);
    return status;
}
