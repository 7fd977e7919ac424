/* SPDX-License-Identifier: MIT */
#include "kernels/core/cells.h"

#include "system/blocks.h"

_Static_assert(sizeof(struct odb_str) == 16 || sizeof(struct odb_str) == 8,
               "strings are cells of 16 bytes, or of 8 where addresses have 32 bits");

static enum odb_status cells_alloc(struct odb_cells *c, const struct odb_tensor *t,
                                   struct odb_error *err)
{
    c->own = odb_work_take(t->count + 1, c->size);
    if (c->own == NULL)
        return odb_fail(err, ODB_E_NOMEM, "no memory for %zu elements", t->count);
    c->data = c->own;
    return ODB_OK;
}

enum odb_status odb_cells_read(struct odb_cells *c, const struct odb_tensor *t,
                               struct odb_error *err)
{
    unsigned bits = odb_dtype_info(t->dtype)->bits;

    c->own = NULL;
    c->data = t->data;
    c->size = t->dtype == ODB_STRING ? sizeof(struct odb_str) : bits / 8;
    if (t->dtype == ODB_STRING || bits >= 8)
        return ODB_OK;
    c->size = 1;
    ODB_TRY(cells_alloc(c, t, err));
    unsigned per = 8 / bits, mask = (1u << bits) - 1;
    const unsigned char *packed = t->data;
    for (size_t i = 0; i < t->count; i++)
        c->data[i] = (unsigned char)((unsigned)packed[i / per] >> (i % per * bits) & mask);
    return ODB_OK;
}

enum odb_status odb_cells_write(struct odb_cells *c, struct odb_tensor *t, struct odb_error *err)
{
    unsigned bits = odb_dtype_info(t->dtype)->bits;

    c->own = NULL;
    c->data = t->data;
    c->size = t->dtype == ODB_STRING ? sizeof(struct odb_str) : bits < 8 ? 1 : bits / 8;
    if (t->dtype == ODB_STRING || bits < 8)
        return cells_alloc(c, t, err);
    return ODB_OK;
}

static enum odb_status cells_set_strings(const struct odb_str *s, struct odb_tensor *t,
                                         struct odb_error *err)
{
    for (size_t i = 0; i < t->count; i++)
        ODB_TRY(odb_tensor_set_string(t, i, s[i].data, s[i].len, err));
    return ODB_OK;
}

enum odb_status odb_cells_commit(struct odb_cells *c, struct odb_tensor *t, struct odb_error *err)
{
    enum odb_status status = ODB_OK;

    if (c->own != NULL && t->dtype == ODB_STRING) {
        status = cells_set_strings(c->own, t, err);
    } else if (c->own != NULL) {
        unsigned bits = odb_dtype_info(t->dtype)->bits, per = 8 / bits;
        unsigned char *packed = t->data;
        for (size_t i = 0; i < t->count; i += per) {
            unsigned byte = 0;
            for (unsigned j = 0; j < per && i + j < t->count; j++)
                byte |= (unsigned)c->data[i + j] << (j * bits);
            packed[i / per] = (unsigned char)byte;
        }
    }
    odb_cells_dispose(c);
    return status;
}

void odb_cells_dispose(struct odb_cells *c)
{
    odb_work_give(c->own);
    c->own = NULL;
    c->data = NULL;
}

enum odb_status odb_cells_move(struct odb_kern *k, int o, int i, odb_cells_fn fn, void *arg)
{
    struct odb_cells dst = ODB_CELLS_INIT, src = ODB_CELLS_INIT;
    enum odb_status status;

    ODB_TRY_OUT(odb_cells_read(&src, k->in[i], k->err));
    ODB_TRY_OUT(odb_cells_write(&dst, k->out[o], k->err));
    ODB_TRY_OUT(fn(k, arg, dst.size, dst.data, src.data));
    status = odb_cells_commit(&dst, k->out[o], k->err);
out:
    odb_cells_dispose(&dst);
    odb_cells_dispose(&src);
    return status;
}
