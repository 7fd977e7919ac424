/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/inspect/heat.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "compare/inspect/pairs.h"

enum { HEAT_STEP = 1 << 22 }; /* elements between two questions whether to go on */

struct heat_job {
    struct odb_pairs pairs;
    struct odb_heat *heat;
    size_t first;
    size_t *counts; /* owned: finite elements per cell and side */
};

/* Elements of a row of the plane, from column `from` on, into cells of row i. */
static void heat_chunk(const struct heat_job *job, size_t i, size_t at, size_t from, size_t n)
{
    double ref[ODB_PASS_CHUNK], target[ODB_PASS_CHUNK], error[ODB_PASS_CHUNK];
    double *v[2] = {ref, target};
    const struct odb_heat *heat = job->heat;
    odb_pairs_load(&job->pairs, at, n, v, error);
    /* The first cell whose end is behind the column. */
    size_t j = from * heat->w / heat->cols;
    while ((j + 1) * heat->cols / heat->w <= from)
        j++;
    for (size_t k = 0; k < n; j++) {
        size_t end = (j + 1) * heat->cols / heat->w, stop = ODB_MIN(end - from, n);
        struct odb_heat_cell *cell = &heat->cells[i * heat->w + j];
        size_t *counts = &job->counts[2 * (i * heat->w + j)];
        for (; k < stop; k++) {
            for (int side = 0; side < 2; side++)
                if (job->pairs.t[side] && isfinite(v[side][k])) {
                    cell->mean[side] += v[side][k];
                    counts[side]++;
                }
            if (job->pairs.both && error[k] > cell->error) {
                cell->error = error[k];
                cell->worst = at + k;
            }
        }
    }
}

static void heat_rows(const void *arg, void *share, size_t begin, size_t end)
{
    const struct heat_job *job = arg;
    const struct odb_heat *heat = job->heat;
    for (size_t i = begin; i < end; i++) {
        size_t row = i * heat->rows / heat->h, last = (i + 1) * heat->rows / heat->h;
        for (size_t j = 0; j < heat->w; j++)
            heat->cells[i * heat->w + j].worst =
                job->first + row * heat->cols + j * heat->cols / heat->w;
        for (; row < last; row++)
            for (size_t col = 0; col < heat->cols; col += ODB_PASS_CHUNK)
                heat_chunk(job, i, job->first + row * heat->cols + col, col,
                           ODB_MIN(heat->cols - col, ODB_PASS_CHUNK));
    }
}

static void heat_finish(struct heat_job *job)
{
    struct odb_heat *heat = job->heat;
    heat->lo = INFINITY;
    heat->hi = -INFINITY;
    for (size_t i = 0; i < heat->h * heat->w; i++) {
        struct odb_heat_cell *cell = &heat->cells[i];
        for (int side = 0; side < 2; side++) {
            size_t n = job->counts[2 * i + (size_t)side];
            cell->mean[side] = n ? cell->mean[side] / (double)n : NAN;
            if (!n)
                continue;
            heat->lo = ODB_MIN(heat->lo, cell->mean[side]);
            heat->hi = ODB_MAX(heat->hi, cell->mean[side]);
        }
        if (isfinite(cell->error) && cell->error > 0) {
            heat->most = ODB_MAX(heat->most, cell->error);
            heat->least = heat->least > 0 ? ODB_MIN(heat->least, cell->error) : cell->error;
        }
    }
}

enum odb_status odb_heat_make(struct odb_heat **out, const struct odb_tensor *ref,
                              const struct odb_tensor *target, size_t first, size_t rows,
                              size_t cols, size_t h, size_t w, const struct odb_progress *progress,
                              struct odb_error *err)
{
    struct heat_job job = {.first = first};
    enum odb_status status = ODB_OK;
    odb_pairs_init(&job.pairs, ref, target);
    h = ODB_MIN(h, rows);
    w = ODB_MIN(w, cols);
    if (!h || !w || first + rows * cols > job.pairs.count)
        return odb_fail(err, ODB_E_USAGE, "there is no plane to look at");
    job.heat = odb_new(struct odb_heat);
    *job.heat = (struct odb_heat){rows, cols, h, w, .both = job.pairs.both};
    job.heat->cells = odb_new_n(struct odb_heat_cell, h * w);
    job.counts = odb_new_n(size_t, 2 * h * w);
    struct odb_pass pass = {.end = h,
                            .block = 1,
                            .at_once = ODB_MAX(HEAT_STEP / (rows / h * cols + 1), (size_t)1),
                            .job = &job,
                            .whole = heat_rows,
                            .progress = progress};
    ODB_TRY_OUT(odb_pass_run(&pass, NULL, err));
    heat_finish(&job);
    *out = job.heat;
    job.heat = NULL;
out:
    free(job.counts);
    odb_heat_free(job.heat);
    return status;
}

void odb_heat_free(struct odb_heat *heat)
{
    if (heat)
        free(heat->cells);
    free(heat);
}
