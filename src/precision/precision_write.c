/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "precision/precision_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "system/file.h"
#include "system/scratch.h"
#include "run/hooks.h"
#include "model/read/load.h"
#include "model/write/write.h"

/* A model file holds less than 2 GiB; some readers give up before. */
#define PRECISION_INLINE ((size_t)1500 << 20)

static enum odb_status precision_read(const char *path, struct odb_buf *out, struct odb_error *err)
{
    struct stat st = {.st_size = 0};
    errno = 0;
    FILE *f = fopen(path, "rb");
    size_t size = f && fstat(fileno(f), &st) == 0 ? (size_t)st.st_size : 0;
    char *to = odb_buf_reserve(out, size + 1);
    size_t got = f && to ? fread(to, 1, size, f) : 0;
    if (f)
        fclose(f);
    if (!f || got != size || !size)
        return odb_fail(err, ODB_E_IO, "%s cannot be read again: %s", path,
                        errno ? strerror(errno) : "it is not all there");
    out->len += size;
    return ODB_OK;
}

size_t precision_weights(const struct odb_model *model, bool external)
{
    size_t bytes = 0;
    for (size_t v = 0; v < model->graph->n_values; v++)
        if (model->graph->values[v].init && (!external || model->graph->values[v].init_is_external))
            bytes += model->graph->values[v].init->bytes;
    return bytes;
}

/* Where it is until it is proved, under the name it will have. Owned by the caller. */
static char *precision_place(const struct precision *p, const char *suffix)
{
    const char *slash = strrchr(p->result->path, '/');
    return odb_xasprintf("%s/%s%s", p->place, slash ? slash + 1 : p->result->path, suffix);
}

/* What was proved goes where it was asked for, the weights first. */
static enum odb_status precision_install(const struct precision *p, struct odb_error *err)
{
    char *path = precision_place(p, ""), *beside = precision_place(p, ".data");
    char *data = odb_xasprintf("%s.data", p->result->path);
    enum odb_status status = ODB_OK;
    if (access(beside, F_OK) == 0)
        status = odb_file_install(beside, data, err);
    if (status == ODB_OK)
        status = odb_file_install(path, p->result->path, err);
    free(path);
    free(beside);
    free(data);
    return status;
}

enum odb_status precision_write(struct precision *p, struct odb_error *err)
{
    struct odb_precision_result *r = p->result;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_file_parts weights = {0};
    ODB_TRY(odb_scratch_beside(&p->place, r->path, err));
    char *path = precision_place(p, ""), *beside = precision_place(p, ".data");
    bool large = precision_weights(p->model, false) > PRECISION_INLINE;
    int *origin = NULL;
    size_t n = 0;
    const struct odb_convert_form form = {
        .keep = p->keep,
        .weights = large ? ODB_WEIGHTS_BESIDE : ODB_WEIGHTS_INLINE,
        .weights_file = strrchr(beside, '/') ? strrchr(beside, '/') + 1 : beside,
        .weights_out = &weights,
        .origin = &origin,
        .n_nodes = &n};
    enum odb_status status = odb_convert_write(p->convert, &form, &bytes, err);
    if (status == ODB_OK && large)
        status = odb_file_write_parts(beside, weights.pieces.items, weights.pieces.n, err);
    if (status == ODB_OK)
        status = odb_file_write(path, bytes.data, bytes.len, err);
    for (size_t i = 0; i < n; i++)
        r->casts += origin[i] == ODB_NO_NODE;
    r->bytes_after = bytes.len + weights.size;
    odb_buf_dispose(&bytes);
    odb_file_parts_dispose(&weights);
    free(origin);
    free(beside);
    free(path);
    return status;
}

/* Every output of what was written is declared as the model declares it. */
static enum odb_status precision_same_border(const struct precision *p,
                                             const struct odb_model *written, struct odb_error *err)
{
    const struct odb_graph *a = p->graph, *b = written->graph;
    bool same =
        a->n_outputs == b->n_outputs && odb_graph_feeds(a, NULL) == odb_graph_feeds(b, NULL);
    for (size_t o = 0; same && o < a->n_outputs; o++)
        same = !strcmp(a->values[a->outputs[o]].name, b->values[b->outputs[o]].name) &&
               a->values[a->outputs[o]].type.dtype == b->values[b->outputs[o]].type.dtype;
    return same ? ODB_OK
                : odb_fail(err, ODB_E_INTERNAL, "what was written has other inputs or outputs");
}

/* What stands in the file, read again, on a fresh child. */
enum odb_status precision_prove(struct precision *p, struct odb_error *err)
{
    struct odb_precision_result *r = p->result;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *written = NULL;
    struct odb_target **targets = NULL;
    char *path = precision_place(p, "");
    enum odb_status status;
    double start = odb_clock();
    odb_hooks_phase(&p->options->hooks, "proof", 0);
    ODB_TRY_OUT(odb_hooks_cancelled(&p->options->hooks, err));
    precision_tell(p, "the file as it was written", NULL);
    ODB_TRY_OUT(odb_model_open(&written, path, err));
    ODB_TRY_OUT(precision_same_border(p, written, err));
    ODB_TRY_OUT(precision_read(path, &bytes, err));
    ODB_TRY_OUT(precision_open(p, &targets, err));
    const struct odb_load load = precision_load(p, &bytes, written->dir);
    ODB_TRY_OUT(precision_try(p, targets, &load, &r->proof, err));
    r->proof.kept = r->n_kept;
    r->proof.seconds = odb_clock() - start;
    if (r->proof.passes)
        ODB_TRY_OUT(precision_install(p, err));
    r->written = r->proof.passes;
    precision_tell(p, "the file as it was written", &r->proof);
out:
    precision_close(p, targets);
    odb_model_free(written);
    odb_buf_dispose(&bytes);
    free(path);
    return status;
}
