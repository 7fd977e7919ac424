/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "score/labels.h"
#include "system/file.h"
#include "tensor/format/npy.h"

struct labels_picked {
    const struct odb_labels *labels;
    const size_t *picked;
    const char *const *sources;
    size_t n;
};

static enum odb_status labels_put(const char *dir, const char *name, const char *data, size_t size,
                                  struct odb_error *err)
{
    char *path = odb_xasprintf("%s/%s", dir, name);
    enum odb_status status =
        odb_file_write_unsynced(path, &(struct iovec){(char *)data, size}, 1, err);
    free(path);
    return status;
}

/* Each line has a name, so that nothing of a label is taken for one. */
static enum odb_status labels_write_text(const struct labels_picked *p, const char *dir,
                                         const char *name, struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < p->n && status == ODB_OK; i++) {
        const char *line;
        status = odb_labels_line(p->labels, p->picked[i], p->sources[i], &line, err);
        if (status == ODB_OK)
            odb_buf_printf(&text, "test_data_set_%zu\t%s\n", i, line);
    }
    if (status == ODB_OK)
        status = labels_put(dir, name, text.data, text.len, err);
    odb_buf_dispose(&text);
    return status;
}

/* In a folder of their own: an .npy beside the sets would be taken for an input. */
static enum odb_status labels_write_rows(const struct labels_picked *p, const char *dir,
                                         const char *name, struct odb_error *err)
{
    const struct odb_tensor *rows = p->labels->rows;
    char *folder = odb_xasprintf("%s/labels", dir);
    int64_t dims[ODB_MAX_RANK];
    struct odb_tensor *some;
    memcpy(dims, rows->dims, (size_t)rows->rank * sizeof *dims);
    size_t bytes = rows->bytes / (size_t)rows->dims[0];
    char *data = odb_new_n(char, p->n *bytes + 1), *path = odb_xasprintf("%s/%s", dir, name);
    for (size_t i = 0; i < p->n; i++)
        memcpy(data + i * bytes, (const char *)rows->data + p->picked[i] * bytes, bytes);
    dims[0] = (int64_t)p->n;
    enum odb_status status = odb_file_mkdir(folder, err);
    if (status == ODB_OK)
        status = odb_tensor_copy_of(&some, rows->dtype, rows->rank, dims, data, err);
    if (status == ODB_OK) {
        status = odb_npy_write(some, path, err);
        odb_tensor_unref(some);
    }
    free(folder);
    free(path);
    free(data);
    return status;
}

/* Images in the order of the samples, without names, which would go before that. */
static enum odb_status labels_write_coco(const struct labels_picked *p, const char *dir,
                                         const char *name, struct odb_error *err)
{
    const json_t *all = json_object_get(p->labels->coco, "annotations");
    json_t *images = json_array(), *annotations = json_array(),
           *root = json_pack("{s:o,s:o}", "images", images, "annotations", annotations);
    json_t *categories = json_object_get(p->labels->coco, "categories");
    if (categories)
        json_object_set(root, "categories", categories);
    for (size_t i = 0; i < p->n; i++) {
        const json_t *from = odb_labels_picture(p->labels, p->picked[i], p->sources[i]);
        json_t *image = json_copy((json_t *)from);
        json_object_del(image, "file_name");
        json_array_append_new(images, image);
        for (size_t k = 0; k < json_array_size(all); k++) {
            json_t *one = json_array_get(all, k);
            if (json_equal(json_object_get(one, "image_id"), json_object_get(image, "id")))
                json_array_append(annotations, one);
        }
    }
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS);
    enum odb_status status = labels_put(dir, name, text, strlen(text), err);
    free(text);
    json_decref(root);
    return status;
}

enum odb_status odb_labels_write(const struct odb_labels *labels, const size_t *picked,
                                 const char *const *sources, size_t n, const char *dir,
                                 const char **file, struct odb_error *err)
{
    const struct labels_picked p = {labels, picked, sources, n};
    if (labels->coco)
        return labels_write_coco(&p, dir, *file = "labels.json", err);
    if (labels->rows)
        return labels_write_rows(&p, dir, *file = "labels/rows.npy", err);
    return labels_write_text(&p, dir, *file = "labels.txt", err);
}
