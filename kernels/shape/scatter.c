/* SPDX-License-Identifier: MIT
 *
 * Writing at computed places: Scatter, ScatterElements, ScatterND, TensorScatter. The output
 * starts as a copy of the data; updates are applied one after the other in the order of the
 * indices, so repeated indices and sums come out the same every time.
 *
 * Reductions compute each step in double (integers: in 64 bits) and store it at once, which for
 * float sums and products rounds exactly as float arithmetic would. Complex numbers have sums and
 * products but no order; strings have none of them.
 */
#include <math.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/core/cells.h"
#include "kernels/shape/indices.h"
#include "kernels/core/row.h"

enum scatter_reduction { SCATTER_NONE, SCATTER_ADD, SCATTER_MUL, SCATTER_MAX, SCATTER_MIN };

static const char *const scatter_names[] = {"none", "add", "mul", "max", "min"};

static double scatter_f64(enum scatter_reduction how, double a, double b)
{
    switch (how) {
    case SCATTER_ADD:
        return a + b;
    case SCATTER_MUL:
        return a * b;
    case SCATTER_MAX:
        return isnan(a) || a > b ? a : b;
    default:
        return isnan(a) || a < b ? a : b;
    }
}

/* Two's complement makes sums and products of both signs one; order does not. */
static int64_t scatter_i64(enum scatter_reduction how, bool sign, int64_t a, int64_t b)
{
    bool less = sign ? a < b : (uint64_t)a < (uint64_t)b;

    switch (how) {
    case SCATTER_ADD:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case SCATTER_MUL:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case SCATTER_MAX:
        return less ? b : a;
    default:
        return less ? a : b;
    }
}

/* The same for complex numbers, whose halves lie side by side. */
static void scatter_complex(enum scatter_reduction how, struct odb_tensor *y, size_t at,
                            const struct odb_tensor *updates, size_t from)
{
    enum odb_dtype half = odb_dtype_part(y->dtype);
    double a = odb_load_f64(half, y->data, 2 * at), b = odb_load_f64(half, y->data, 2 * at + 1);
    double c = odb_load_f64(half, updates->data, 2 * from);
    double d = odb_load_f64(half, updates->data, 2 * from + 1);
    bool add = how == SCATTER_ADD;

    odb_store_f64(half, y->data, 2 * at, add ? a + c : a * c - b * d);
    odb_store_f64(half, y->data, 2 * at + 1, add ? b + d : a * d + b * c);
}

/* Element `at` of y becomes its reduction with element `from` of the updates. */
static void scatter_reduce(enum scatter_reduction how, struct odb_tensor *y, size_t at,
                           const struct odb_tensor *updates, size_t from)
{
    enum odb_dtype type = y->dtype;

    if (ODB_BIT(type) & ODB_T_COMPLEX) {
        scatter_complex(how, y, at, updates, from);
        return;
    }
    if (odb_dtype_is_float(type)) {
        odb_store_f64(type, y->data, at,
                      scatter_f64(how, odb_tensor_f64(y, at), odb_tensor_f64(updates, from)));
        return;
    }
    bool sign = odb_dtype_info(type)->class_ == ODB_CLASS_INT;
    int64_t v = scatter_i64(how, sign, odb_tensor_i64(y, at), odb_tensor_i64(updates, from));
    odb_store_i64(type, y->data, at, type == ODB_BOOL ? v != 0 : v);
}

static enum odb_status scatter_how(struct odb_kern *k, enum scatter_reduction *how)
{
    const char *name = odb_kern_string(k, "reduction", "none");
    enum odb_dtype_class class_ = odb_dtype_info(k->in[0]->dtype)->class_;
    int limit = k->op->since >= 18 ? SCATTER_MIN : k->op->since >= 16 ? SCATTER_MUL : SCATTER_NONE;

    for (int i = 0; i <= limit; i++) {
        if (strcmp(name, scatter_names[i]) != 0)
            continue;
        *how = (enum scatter_reduction)i;
        if ((i != SCATTER_NONE && class_ == ODB_CLASS_STRING) ||
            (i >= SCATTER_MAX && class_ == ODB_CLASS_COMPLEX))
            return ODB_KERN_FAIL(k, "there is no reduction \"%s\" of %s", name,
                                 odb_dtype_info(k->in[0]->dtype)->name);
        return ODB_OK;
    }
    return ODB_KERN_FAIL(k, "unknown reduction \"%s\"", name);
}

static enum odb_status scatter_check_updates(struct odb_kern *k, const struct odb_tensor *want)
{
    const struct odb_tensor *updates = k->in[2];
    char a[200], b[200];

    if (updates->dtype != k->in[0]->dtype)
        return ODB_KERN_FAIL(k, "updates are %s, data is %s", odb_dtype_info(updates->dtype)->name,
                             odb_dtype_info(k->in[0]->dtype)->name);
    if (!odb_tensor_same_shape(updates, want))
        return ODB_KERN_FAIL(k, "updates have shape %s, not %s",
                             odb_shape_text(updates, a, sizeof a),
                             odb_shape_text(want, b, sizeof b));
    return ODB_OK;
}

/* What both families share: where update i goes. */
struct scatter_job {
    enum scatter_reduction how;
    bool elements;
    struct odb_rows rows;
    struct odb_tuples tuples;
    int64_t *indices; /* owned */
};

/* Applies all updates cell by cell; y already holds the data. */
static void scatter_reduce_all(struct odb_kern *k, const struct scatter_job *j)
{
    size_t n = j->elements ? j->rows.n : j->tuples.n;
    size_t len = j->elements ? j->rows.len : (size_t)j->tuples.run;

    for (size_t i = 0; i < n; i++) {
        int64_t base =
            j->elements ? odb_rows_base(&j->rows, i) : odb_tuples_base(&j->tuples, j->indices, i);
        for (size_t c = 0; c < len; c++) {
            int64_t at = base + (int64_t)c;
            if (j->elements)
                at = base + (int64_t)c * j->rows.step + j->indices[i * len + c] * j->rows.axis_step;
            scatter_reduce(j->how, k->out[0], (size_t)at, k->in[2], i * len + c);
        }
    }
}

static void scatter_move_all(const struct scatter_job *j, size_t size, unsigned char *dst,
                             const unsigned char *updates)
{
    const struct odb_rows *r = &j->rows;
    size_t run = (size_t)j->tuples.run * size;

    for (size_t i = 0; !j->elements && i < j->tuples.n; i++)
        memcpy(dst + odb_tuples_base(&j->tuples, j->indices, i) * (int64_t)size, updates + i * run,
               run);
    for (size_t i = 0; j->elements && i < r->n; i++) {
        int64_t base = odb_rows_base(r, i);
        for (size_t c = 0; c < r->len; c++, updates += size, base += r->step)
            odb_cell_copy(dst + (base + j->indices[i * r->len + c] * r->axis_step) * (int64_t)size,
                          updates, size);
    }
}

/* out[0] = data, then the updates. */
static enum odb_status scatter_apply(struct odb_kern *k, struct scatter_job *j)
{
    struct odb_cells dst = ODB_CELLS_INIT, src = ODB_CELLS_INIT, updates = ODB_CELLS_INIT;
    enum odb_status status;

    ODB_TRY_OUT(odb_cells_read(&src, k->in[0], k->err));
    ODB_TRY_OUT(odb_cells_write(&dst, k->out[0], k->err));
    ODB_TRY_OUT(odb_cells_read(&updates, k->in[2], k->err));
    if (k->in[0]->count > 0)
        memcpy(dst.data, src.data, k->in[0]->count * dst.size);
    if (j->how == SCATTER_NONE && k->in[2]->count > 0)
        scatter_move_all(j, dst.size, dst.data, updates.data);
    ODB_TRY_OUT(odb_cells_commit(&dst, k->out[0], k->err));
    if (j->how != SCATTER_NONE)
        scatter_reduce_all(k, j);
out:
    odb_cells_dispose(&updates);
    odb_cells_dispose(&dst);
    odb_cells_dispose(&src);
    odb_work_give(j->indices);
    return status;
}

static enum odb_status scatter_infer_elements(struct odb_kern *k)
{
    enum scatter_reduction how;
    struct odb_rows rows;

    ODB_TRY(scatter_how(k, &how));
    ODB_TRY(odb_rows_init(k, &rows));
    ODB_TRY(scatter_check_updates(k, k->in[1]));
    return odb_infer_same(k);
}

static enum odb_status scatter_run_elements(struct odb_kern *k)
{
    struct scatter_job job = {.elements = true};

    ODB_TRY(scatter_how(k, &job.how));
    ODB_TRY(odb_rows_init(k, &job.rows));
    ODB_TRY(odb_indices_read(k, 1, &k->in[0]->dims[job.rows.axis], 1, &job.indices));
    return scatter_apply(k, &job);
}

static enum odb_status scatter_infer_nd(struct odb_kern *k)
{
    const struct odb_tensor *data = k->in[0], *indices = k->in[1];
    struct odb_tensor want = {.rank = 0};
    enum scatter_reduction how;
    struct odb_tuples t;

    ODB_TRY(scatter_how(k, &how));
    ODB_TRY(odb_tuples_init(k, 0, &t));
    int rank = indices->rank - 1 + data->rank - t.depth;
    if (rank > ODB_MAX_RANK)
        return ODB_KERN_FAIL(k, "updates would need %d dimensions; at most %d are supported", rank,
                             ODB_MAX_RANK);
    for (int i = 0; i < indices->rank - 1; i++)
        want.dims[want.rank++] = indices->dims[i];
    for (int i = t.depth; i < data->rank; i++)
        want.dims[want.rank++] = data->dims[i];
    ODB_TRY(scatter_check_updates(k, &want));
    return odb_infer_same(k);
}

static enum odb_status scatter_run_nd(struct odb_kern *k)
{
    struct scatter_job job = {.elements = false};

    ODB_TRY(scatter_how(k, &job.how));
    ODB_TRY(odb_tuples_init(k, 0, &job.tuples));
    ODB_TRY(
        odb_indices_read(k, 1, k->in[0]->dims, (size_t)ODB_MAX(job.tuples.depth, 1), &job.indices));
    return scatter_apply(k, &job);
}

/* --- TensorScatter ---------------------------------------------------------------------------- */

static enum odb_status scatter_infer_cache(struct odb_kern *k)
{
    const struct odb_tensor *past = k->in[0], *update = k->in[1], *at = odb_kern_in(k, 2);
    const char *mode = odb_kern_string(k, "mode", "linear");
    char a[200], b[200];
    int axis;

    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", -2), past->rank, false, &axis));
    bool fits = axis > 0 && update->rank == past->rank && update->dtype == past->dtype;
    for (int i = 0; fits && i < past->rank; i++)
        fits = i == axis ? update->dims[i] <= past->dims[i] : update->dims[i] == past->dims[i];
    if (!fits || (at != NULL && at->count != (size_t)past->dims[0]))
        return ODB_KERN_FAIL(k, "an update of shape %s does not fit a cache of shape %s on axis %d",
                             odb_shape_text(update, a, sizeof a), odb_shape_text(past, b, sizeof b),
                             axis);
    if (strcmp(mode, "linear") != 0 && strcmp(mode, "circular") != 0)
        return ODB_KERN_FAIL(k, "unknown mode \"%s\"", mode);
    return odb_infer_same(k);
}

/* Checks where batch entry b is written; *at is the first step, wrapped where that is allowed. */
static enum odb_status scatter_cache_place(struct odb_kern *k, size_t b, int64_t steps,
                                           int64_t room, int64_t *at)
{
    const struct odb_tensor *places = odb_kern_in(k, 2);

    *at = places != NULL ? odb_tensor_i64(places, b) : 0;
    if (strcmp(odb_kern_string(k, "mode", "linear"), "circular") == 0 && room > 0)
        *at = (*at % room + room) % room;
    else if (*at < 0 || *at > room - steps)
        return ODB_KERN_FAIL(k, "%lld steps written at %lld do not fit a cache of %lld",
                             (long long)steps, (long long)*at, (long long)room);
    return ODB_OK;
}

static enum odb_status scatter_cache_cells(struct odb_kern *k, void *arg, size_t size,
                                           unsigned char *dst, const unsigned char *updates)
{
    const struct odb_tensor *past = k->in[0], *update = k->in[1];
    int axis = *(const int *)arg;
    size_t run = odb_dims_product(past->dims, axis + 1, past->rank) * size;
    size_t per = odb_dims_product(past->dims, 1, axis);
    int64_t steps = update->dims[axis], room = past->dims[axis], at;

    for (size_t i = 0; i < (size_t)past->dims[0] * per; i++) {
        ODB_TRY(scatter_cache_place(k, i / per, steps, room, &at));
        for (int64_t s = 0; s < steps; s++, updates += run)
            memcpy(dst + ((int64_t)i * room + (at + s) % room) * (int64_t)run, updates, run);
    }
    return ODB_OK;
}

static enum odb_status scatter_run_cache(struct odb_kern *k)
{
    struct odb_cells dst = ODB_CELLS_INIT, src = ODB_CELLS_INIT, updates = ODB_CELLS_INIT;
    enum odb_status status;
    int axis;

    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", -2), k->in[0]->rank, false, &axis));
    ODB_TRY_OUT(odb_cells_read(&src, k->in[0], k->err));
    ODB_TRY_OUT(odb_cells_write(&dst, k->out[0], k->err));
    ODB_TRY_OUT(odb_cells_read(&updates, k->in[1], k->err));
    if (k->in[0]->count > 0)
        memcpy(dst.data, src.data, k->in[0]->count * dst.size);
    if (k->in[1]->count > 0)
        ODB_TRY_OUT(scatter_cache_cells(k, &axis, dst.size, dst.data, updates.data));
    status = odb_cells_commit(&dst, k->out[0], k->err);
out:
    odb_cells_dispose(&updates);
    odb_cells_dispose(&dst);
    odb_cells_dispose(&src);
    return status;
}

/* --- rows ------------------------------------------------------------------------------------- */

static const struct odb_attr_spec scatter_axis[] = {
    {.name = "axis", .type = ODB_ATTR_INT, .def = "0"}, {.name = NULL}};
static const struct odb_attr_spec scatter_axis_reduction[] = {
    {.name = "axis", .type = ODB_ATTR_INT, .def = "0"},
    {.name = "reduction", .type = ODB_ATTR_STRING, .def = "none"},
    {.name = NULL}};
static const struct odb_attr_spec scatter_cache[] = {
    {.name = "axis", .type = ODB_ATTR_INT, .def = "-2"},
    {.name = "mode", .type = ODB_ATTR_STRING, .def = "linear"},
    {.name = NULL}};

/* Before reductions came, scatters only moved. */
#define SCATTER_ROW(name_, since_, flags_, kernel, index)                                          \
    .domain = "", .name = (name_), .since = (since_), .min_in = 3, .max_in = 3, .min_out = 1,      \
    .max_out = 1, .flags = (flags_), .types = {ODB_T_ANY, index, ODB_AS(0)},                       \
    .infer = scatter_infer_##kernel, .run = scatter_run_##kernel

const struct odb_op odb_ops_scatter[] = {
    {SCATTER_ROW("Scatter", 9, ODB_OP_EXACT, elements, ODB_T_INDEX), .attrs = scatter_axis,
     ODB_NAMES("data,indices,updates", "output")},
    {.domain = "",
     .name = "Scatter",
     .since = 11,
     ODB_INSTEAD("use ScatterElements")}, /* became ScatterElements */
    {SCATTER_ROW("ScatterElements", 11, ODB_OP_EXACT, elements, ODB_T_INDEX), .attrs = scatter_axis,
     ODB_NAMES("data,indices,updates", "output"), ODB_HALVES(11, 13)},
    {SCATTER_ROW("ScatterElements", 16, ODB_OP_REAL, elements, ODB_T_INDEX),
     .attrs = scatter_axis_reduction},
    {SCATTER_ROW("ScatterND", 11, ODB_OP_EXACT, nd, ODB_BIT(ODB_I64)),
     ODB_NAMES("data,indices,updates", "output"), ODB_HALVES(11, 13)},
    {SCATTER_ROW("ScatterND", 16, ODB_OP_REAL, nd, ODB_BIT(ODB_I64)),
     .attrs = scatter_axis_reduction + 1},
    {SCATTER_ROW("ScatterND", 18, ODB_OP_REAL, nd, ODB_BIT(ODB_I64)),
     .attrs = scatter_axis_reduction + 1},
    {SCATTER_ROW("ScatterElements", 18, ODB_OP_REAL, elements, ODB_T_INDEX),
     .attrs = scatter_axis_reduction},
    ODB_ONNX("TensorScatter", 24, ODB_ARITY(2, 3), ODB_ARITY(1, 1), ODB_OP_EXACT, scatter_cache,
             scatter_infer_cache, scatter_run_cache, ODB_T_ANY, ODB_AS(0), ODB_BIT(ODB_I64),
             ODB_NAMES("past_cache,update,write_indices", "present_cache"), ODB_HALVES(24, 24)),
    {.name = NULL},
};
