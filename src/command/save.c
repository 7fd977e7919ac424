/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tensors into files, whose form the ending of the name says.
 */
#include <string.h>

#include "base/file.h"
#include "command/call.h"
#include "tensor/npy.h"
#include "tensor/npz.h"
#include "tensor/print.h"

#define SAVE_TEXT ((size_t)1 << 26) /* elements that a .csv may have */

static enum odb_status save_npy(const struct odb_tensor *t, const char *name, const char *path,
                                struct odb_error *err)
{
    return odb_npy_write(t, path, err);
}

static enum odb_status save_npz(const struct odb_tensor *t, const char *name, const char *path,
                                struct odb_error *err)
{
    return odb_npz_write(path, &name, &t, 1, false, err);
}

static enum odb_status save_pb(const struct odb_tensor *t, const char *name, const char *path,
                               struct odb_error *err)
{
    return odb_pb_write(t, name, path, err);
}

/* The elements as they lie in memory, packed types as ONNX packs them. */
static enum odb_status save_bin(const struct odb_tensor *t, const char *name, const char *path,
                                struct odb_error *err)
{
    if (t->kind != ODB_TENSOR || t->dtype == ODB_STRING)
        return odb_fail(err, ODB_UNSUPPORTED, "a .bin holds tensors of numbers alone");
    return odb_file_write(path, t->data ? t->data : "", t->bytes, err);
}

static void save_field(struct odb_buf *out, const struct odb_tensor *t, size_t i)
{
    if (t->dtype != ODB_STRING) {
        odb_print_element(out, t, i);
        return;
    }
    const struct odb_str *s = (const struct odb_str *)t->data + i;
    odb_buf_putc(out, '"');
    for (size_t k = 0; k < s->len; k++)
        odb_buf_printf(out, s->data[k] == '"' ? "\"%c" : "%c", s->data[k]);
    odb_buf_putc(out, '"');
}

/* A line for each run along the last axis, in digits that give the same numbers again. */
static enum odb_status save_csv(const struct odb_tensor *t, const char *name, const char *path,
                                struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    if (t->kind != ODB_TENSOR)
        return odb_fail(err, ODB_UNSUPPORTED, "a .csv holds tensors alone");
    if (t->count > SAVE_TEXT) {
        odb_fail(err, ODB_UNSUPPORTED, "%zu elements are too many for a .csv", t->count);
        return odb_error_remedy(err, "write a .npy, or a slice");
    }
    size_t cols = t->rank && t->count ? (size_t)t->dims[t->rank - 1] : 1;
    for (size_t i = 0; i < t->count; i++) {
        save_field(&out, t, i);
        odb_buf_putc(&out, (i + 1) % cols ? ',' : '\n');
    }
    enum odb_status status = odb_file_write(path, odb_buf_text(&out), out.len, err);
    odb_buf_dispose(&out);
    return status;
}

static const struct save_form {
    const char *ending;
    enum odb_status (*write)(const struct odb_tensor *t, const char *name, const char *path,
                             struct odb_error *err);
} save_forms[] = {
    {".npy", save_npy}, {".npz", save_npz}, {".pb", save_pb},
    {".bin", save_bin}, {".csv", save_csv},
};

static const struct save_form *save_form(const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; i < ODB_COUNT(save_forms); i++) {
        size_t m = strlen(save_forms[i].ending);
        if (n > m && !strcmp(path + n - m, save_forms[i].ending))
            return &save_forms[i];
    }
    return NULL;
}

bool odb_call__is_tensor_file(const char *path)
{
    return save_form(path) != NULL;
}

enum odb_status odb_call__write_tensor(const struct odb_tensor *t, const char *name,
                                       const char *path, struct odb_error *err)
{
    const struct save_form *form = save_form(path);
    if (!form)
        odb_fail(err, ODB_E_USAGE,
                 "the name of the file ends in none of .npy, .npz, .pb, .bin and .csv");
    else if (form->write(t, *name ? name : "value", path, err) == ODB_OK)
        return ODB_OK;
    return odb_error_at(err, "%s", path);
}
