/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tensors from files and into files, whose form the ending of the name says.
 */
#include "command/call/tensor_file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/error.h"
#include "base/mem.h"
#include "command/call/watch.h"
#include "model/read/pb.h"
#include "model/write/pb_write.h"
#include "system/file.h"
#include "tensor/format/npy.h"
#include "tensor/format/npz.h"
#include "tensor/tensor_print.h"

/* The bytes do not say what they are: a sequence or an optional, whose one value looks like a
 * sequence of one, where they are no tensor. */
static enum odb_status tensor_file_read_pb(struct odb_tensor **out, const char *path,
                                           struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = odb_pb_read(out, ODB_TENSOR, path, &why);
    if (status == ODB_E_MODEL && odb_pb_read(out, ODB_SEQUENCE, path, NULL) == ODB_OK)
        return ODB_OK;
    if (status != ODB_OK && err)
        *err = why;
    return status;
}

bool odb_call__reads_tensor(const char *path)
{
    return odb_ends_with(path, ".npy") || odb_ends_with(path, ".pb");
}

enum odb_status odb_call__read_tensor(struct odb_tensor **out, const char *path,
                                      struct odb_error *err)
{
    if (odb_ends_with(path, ".npy"))
        return odb_npy_read(out, path, err);
    if (odb_ends_with(path, ".pb"))
        return tensor_file_read_pb(out, path, err);
    odb_fail(err, ODB_E_USAGE, "neither a .npy nor a .pb file");
    return odb_error_at(err, "%s", path);
}

#define SAVE_TEXT ((size_t)1 << 26) /* elements that a .csv may have */

#define SAVE_STEP ((size_t)1 << 20) /* bytes of text that are made before they are written */

static enum odb_status save_bytes(const char *path, const void *data, size_t size,
                                  const struct odb_progress *progress, struct odb_error *err)
{
    struct odb_file_out *out;
    ODB_TRY(odb_file_begin(&out, path, size, progress, err));
    return odb_file_end_take(out, odb_file_put(out, data, size, err), err);
}

static enum odb_status save_npy(const struct odb_tensor *t, const char *name, const char *path,
                                const struct odb_progress *progress, struct odb_error *err)
{
    struct odb_npy_image image;
    ODB_TRY(odb_npy_image_init(&image, t, err));
    enum odb_status status = odb_npy_image_write(&image, path, progress, err);
    odb_npy_image_dispose(&image);
    return status;
}

static enum odb_status save_npz(const struct odb_tensor *t, const char *name, const char *path,
                                const struct odb_progress *progress, struct odb_error *err)
{
    struct odb_npy_image image;
    ODB_TRY(odb_npy_image_init(&image, t, err));
    enum odb_status status = odb_npz_write_images(path, &name, &image, 1, false, progress, err);
    odb_npy_image_dispose(&image);
    return status;
}

static enum odb_status save_pb(const struct odb_tensor *t, const char *name, const char *path,
                               const struct odb_progress *progress, struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    enum odb_status status = odb_pb_encode(t, name, &bytes, err);
    if (!status)
        status = save_bytes(path, bytes.data ? bytes.data : "", bytes.len, progress, err);
    odb_buf_dispose(&bytes);
    return status;
}

/* The elements as they lie in memory, packed types as ONNX packs them. */
static enum odb_status save_bin(const struct odb_tensor *t, const char *name, const char *path,
                                const struct odb_progress *progress, struct odb_error *err)
{
    if (t->kind != ODB_TENSOR || t->dtype == ODB_STRING)
        return odb_fail(err, ODB_UNSUPPORTED, "a .bin holds tensors of numbers alone");
    return save_bytes(path, t->data ? t->data : "", t->bytes, progress, err);
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

static enum odb_status save_rows(struct odb_file_out *out, const struct odb_tensor *t,
                                 const struct odb_progress *progress, struct odb_error *err)
{
    size_t cols = t->rank && t->count ? (size_t)t->dims[t->rank - 1] : 1;
    struct odb_buf text = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < t->count && !status; i++) {
        save_field(&text, t, i);
        odb_buf_putc(&text, (i + 1) % cols ? ',' : '\n');
        if (text.len < SAVE_STEP && i + 1 < t->count)
            continue;
        status = odb_progress_step(progress, i, t->count, err);
        if (!status)
            status = odb_file_put(out, text.data, text.len, err);
        text.len = 0;
    }
    odb_buf_dispose(&text);
    return status;
}

/* A line for each run along the last axis, in digits that give the same numbers again. */
static enum odb_status save_csv(const struct odb_tensor *t, const char *name, const char *path,
                                const struct odb_progress *progress, struct odb_error *err)
{
    struct odb_file_out *out;
    if (t->kind != ODB_TENSOR)
        return odb_fail(err, ODB_UNSUPPORTED, "a .csv holds tensors alone");
    if (t->count > SAVE_TEXT) {
        odb_fail(err, ODB_UNSUPPORTED, "%zu elements are too many for a .csv", t->count);
        return odb_error_remedy(err, "write a .npy, or a slice");
    }
    ODB_TRY(odb_file_begin(&out, path, 0, NULL, err)); /* progress counts elements */
    return odb_file_end_take(out, save_rows(out, t, progress, err), err);
}

static const struct save_form {
    const char *ending;
    enum odb_status (*write)(const struct odb_tensor *t, const char *name, const char *path,
                             const struct odb_progress *progress, struct odb_error *err);
} save_forms[] = {
    {".npy", save_npy}, {".npz", save_npz}, {".pb", save_pb},
    {".bin", save_bin}, {".csv", save_csv},
};

static const struct save_form *save_form(const char *path)
{
    for (size_t i = 0; i < ODB_COUNT(save_forms); i++)
        if (odb_ends_with(path, save_forms[i].ending))
            return &save_forms[i];
    return NULL;
}

bool odb_call__is_tensor_file(const char *path)
{
    return save_form(path) != NULL;
}

enum odb_status odb_call__write_tensor(const struct odb_tensor *t, const char *name,
                                       const char *path, const struct odb_progress *progress,
                                       struct odb_error *err)
{
    const struct save_form *form = save_form(path);
    if (!form)
        odb_fail(err, ODB_E_USAGE,
                 "the name of the file ends in none of .npy, .npz, .pb, .bin and .csv");
    else if (form->write(t, *name ? name : "value", path, progress, err) == ODB_OK)
        return ODB_OK;
    return odb_error_at(err, "%s", path);
}

enum odb_status odb_call__save(struct odb_command_call *call, const struct odb_tensor *t,
                               const char *name, const char *path, struct odb_error *err)
{
    struct odb_watch_progress progress;
    enum odb_status status =
        odb_call__write_tensor(t, name, path, odb_watch_progress(&progress, call, "writing"), err);
    odb_watch_end(&progress.watch);
    return status;
}
