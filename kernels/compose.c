/* SPDX-License-Identifier: MIT */
#include "kernels/compose.h"

#include <string.h>

#include "base/mem.h"

enum { COMPOSE_MAX_OUT = 4 };

static enum odb_status compose_allocate(struct odb_kern *k, const struct odb_outline *line,
                                        struct odb_tensor **out)
{
    if (!*out)
        return odb_tensor_new_raw(out, line->dtype, line->rank, line->dims, k->err);
    bool fits = (*out)->dtype == line->dtype && (*out)->rank == line->rank &&
                memcmp((*out)->dims, line->dims, (size_t)line->rank * sizeof *line->dims) == 0;
    if (!fits)
        return ODB_KERN_FAIL(k, "%s inside gives another shape or type", k->op->name);
    return ODB_OK;
}

enum odb_status odb_part_run(struct odb_kern *k, const struct odb_part *part,
                             struct odb_tensor **out)
{
    static const bool wanted[COMPOSE_MAX_OUT] = {true, true, true, true};
    struct odb_outline lines[COMPOSE_MAX_OUT] = {0};
    struct odb_tensor *made[COMPOSE_MAX_OUT] = {NULL};
    enum odb_status status = ODB_OK;
    struct odb_kern inner = *k;
    inner.op = odb_op_find("", part->op, part->opset);
    ODB_ASSERT(inner.op && inner.op->infer && part->n_out <= COMPOSE_MAX_OUT);
    inner.opset = part->opset;
    inner.attrs = part->attrs;
    inner.n_in = part->n_in;
    inner.in = (const struct odb_tensor **)part->in;
    inner.n_out = part->n_out;
    inner.out = made;
    inner.outline = lines;
    inner.wanted = wanted;
    memcpy(made, out, (size_t)part->n_out * sizeof *made);
    ODB_TRY_OUT(inner.op->infer(&inner));
    for (int i = 0; i < part->n_out; i++)
        ODB_TRY_OUT(compose_allocate(k, &lines[i], &made[i]));
    ODB_TRY_OUT(inner.op->run(&inner));
    memcpy(out, made, (size_t)part->n_out * sizeof *made);
    return ODB_OK;
out:
    for (int i = 0; i < part->n_out; i++)
        if (made[i] != out[i])
            odb_tensor_unref(made[i]);
    odb_error_at(k->err, "%s", part->op);
    return status;
}
