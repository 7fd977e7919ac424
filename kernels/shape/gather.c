/* SPDX-License-Identifier: MIT
 *
 * Reading at computed places: Gather, GatherElements, GatherND. Output cells are independent of
 * each other, so all three are one parallel loop over runs or rows.
 */
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/cells.h"
#include "kernels/shape/indices.h"

#define GATHER_BLOCK ((size_t)64 * 1024) /* bytes worth a thread */

struct gather_job {
    int64_t *indices; /* owned */
    unsigned char *dst;
    const unsigned char *src;
    size_t size;              /* bytes per cell */
    size_t run;               /* bytes per run */
    size_t n, len;            /* Gather: indices; elements of the axis */
    struct odb_rows rows;     /* GatherElements */
    struct odb_tuples tuples; /* GatherND */
};

typedef void (*gather_body)(void *arg, size_t begin, size_t end);

static void gather_run(unsigned char *dst, const unsigned char *src, size_t run)
{
    if (run <= 16 && (run & (run - 1)) == 0)
        odb_cell_copy(dst, src, run);
    else
        memcpy(dst, src, run);
}

/* Moves n units of `unit` bytes each, whatever the body makes of a unit. */
static enum odb_status gather_move(struct odb_kern *k, struct gather_job *job, size_t n,
                                   size_t unit, gather_body body)
{
    struct odb_cells dst = ODB_CELLS_INIT, src = ODB_CELLS_INIT;
    enum odb_status status;

    ODB_TRY_OUT(odb_cells_read(&src, k->in[0], k->err));
    ODB_TRY_OUT(odb_cells_write(&dst, k->out[0], k->err));
    job->dst = dst.data;
    job->src = src.data;
    job->size = src.size;
    job->run *= src.size;
    unit *= src.size;
    if (unit > 0)
        odb_parallel_for(n, ODB_MAX(GATHER_BLOCK / unit, (size_t)1), body, job);
    status = odb_cells_commit(&dst, k->out[0], k->err);
out:
    odb_cells_dispose(&dst);
    odb_cells_dispose(&src);
    odb_work_give(job->indices);
    return status;
}

/* --- Gather ----------------------------------------------------------------------------------- */

static enum odb_status gather_infer(struct odb_kern *k)
{
    const struct odb_tensor *data = k->in[0], *indices = k->in[1];
    int64_t dims[2 * ODB_MAX_RANK];
    int axis, n = 0;

    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 0), data->rank, false, &axis));
    for (int i = 0; i < axis; i++)
        dims[n++] = data->dims[i];
    for (int i = 0; i < indices->rank; i++)
        dims[n++] = indices->dims[i];
    for (int i = axis + 1; i < data->rank; i++)
        dims[n++] = data->dims[i];
    return odb_kern_outline(k, 0, data->dtype, n, dims);
}

static void gather_rows(void *arg, size_t begin, size_t end)
{
    const struct gather_job *j = arg;
    size_t outer = begin / j->n, at = begin % j->n;

    for (size_t i = begin; i < end; i++) {
        gather_run(j->dst + i * j->run, j->src + (outer * j->len + (size_t)j->indices[at]) * j->run,
                   j->run);
        if (++at == j->n) {
            at = 0;
            outer++;
        }
    }
}

static enum odb_status gather_run_gather(struct odb_kern *k)
{
    const struct odb_tensor *data = k->in[0];
    struct gather_job job = {.n = k->in[1]->count};
    int axis;

    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 0), data->rank, false, &axis));
    ODB_TRY(odb_indices_read(k, 1, &data->dims[axis], 1, &job.indices));
    job.len = (size_t)data->dims[axis];
    job.run = odb_dims_product(data->dims, axis + 1, data->rank);
    size_t outer = odb_dims_product(data->dims, 0, axis);
    return gather_move(k, &job, outer * job.n, job.run, gather_rows);
}

/* --- GatherElements --------------------------------------------------------------------------- */

static enum odb_status gather_infer_elements(struct odb_kern *k)
{
    struct odb_rows rows;

    ODB_TRY(odb_rows_init(k, &rows));
    return odb_kern_outline(k, 0, k->in[0]->dtype, k->in[1]->rank, k->in[1]->dims);
}

static void gather_elements(void *arg, size_t begin, size_t end)
{
    const struct gather_job *j = arg;
    const struct odb_rows *r = &j->rows;

    for (size_t i = begin; i < end; i++) {
        const int64_t *index = j->indices + i * r->len;
        unsigned char *dst = j->dst + i * r->len * j->size;
        int64_t base = odb_rows_base(r, i);
        for (size_t c = 0; c < r->len; c++, base += r->step)
            odb_cell_copy(dst + c * j->size,
                          j->src + (base + index[c] * r->axis_step) * (int64_t)j->size, j->size);
    }
}

static enum odb_status gather_run_elements(struct odb_kern *k)
{
    struct gather_job job = {.run = 1};

    ODB_TRY(odb_rows_init(k, &job.rows));
    ODB_TRY(odb_indices_read(k, 1, &k->in[0]->dims[job.rows.axis], 1, &job.indices));
    return gather_move(k, &job, job.rows.n, job.rows.len, gather_elements);
}

/* --- GatherND --------------------------------------------------------------------------------- */

static enum odb_status gather_tuples(struct odb_kern *k, struct odb_tuples *t)
{
    int64_t batch = odb_kern_int(k, "batch_dims", 0);

    if (batch < 0 || batch > ODB_MAX_RANK)
        return ODB_KERN_FAIL(k, "batch_dims is %lld", (long long)batch);
    return odb_tuples_init(k, (int)batch, t);
}

static enum odb_status gather_infer_nd(struct odb_kern *k)
{
    const struct odb_tensor *data = k->in[0], *indices = k->in[1];
    int64_t dims[2 * ODB_MAX_RANK];
    struct odb_tuples t;
    int n = 0;

    ODB_TRY(gather_tuples(k, &t));
    for (int i = 0; i < indices->rank - 1; i++)
        dims[n++] = indices->dims[i];
    for (int i = t.batch + t.depth; i < data->rank; i++)
        dims[n++] = data->dims[i];
    return odb_kern_outline(k, 0, data->dtype, n, dims);
}

static void gather_nd(void *arg, size_t begin, size_t end)
{
    const struct gather_job *j = arg;

    for (size_t i = begin; i < end; i++)
        gather_run(j->dst + i * j->run,
                   j->src + odb_tuples_base(&j->tuples, j->indices, i) * (int64_t)j->size, j->run);
}

static enum odb_status gather_run_nd(struct odb_kern *k)
{
    struct gather_job job = {.n = 0};
    struct odb_tuples *t = &job.tuples;

    ODB_TRY(gather_tuples(k, t));
    ODB_TRY(odb_indices_read(k, 1, k->in[0]->dims + t->batch, (size_t)ODB_MAX(t->depth, 1),
                             &job.indices));
    job.run = (size_t)t->run;
    return gather_move(k, &job, t->n, job.run, gather_nd);
}

/* --- rows ------------------------------------------------------------------------------------- */

static const struct odb_attr_spec gather_axis[] = {
    {.name = "axis", .type = ODB_ATTR_INT, .def = "0"}, {.name = NULL}};
static const struct odb_attr_spec gather_batch[] = {
    {.name = "batch_dims", .type = ODB_ATTR_INT, .def = "0"}, {.name = NULL}};

#define GATHER_ROW(name_, since_, infer_, run_)                                                    \
    .domain = "", .name = (name_), .since = (since_), .min_in = 2, .max_in = 2, .min_out = 1,      \
    .max_out = 1, .flags = ODB_OP_EXACT, .types = {ODB_T_ANY, ODB_T_INDEX}, .infer = (infer_),     \
    .run = (run_)

const struct odb_op odb_ops_gather[] = {
    {GATHER_ROW("Gather", 1, gather_infer, gather_run_gather), .attrs = gather_axis,
     ODB_NAMES("data,indices", "output"), ODB_HALVES(1, 13)},
    {GATHER_ROW("GatherElements", 11, gather_infer_elements, gather_run_elements),
     .attrs = gather_axis, ODB_NAMES("data,indices", "output"), ODB_HALVES(11, 13)},
    {GATHER_ROW("GatherND", 11, gather_infer_nd, gather_run_nd),
     ODB_NAMES("data,indices", "output"), ODB_HALVES(11, 13)},
    {GATHER_ROW("GatherND", 12, gather_infer_nd, gather_run_nd), .attrs = gather_batch},
    {.name = NULL},
};
