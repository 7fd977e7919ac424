/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "score/labels.h"

#include <stdlib.h>
#include <string.h>

#include "system/file.h"
#include "tensor/format/npy.h"

static bool labels_is_number(const char *word)
{
    char *end;
    strtod(word, &end);
    return end != word && !*end;
}

/* Where a label begins in its line, whose name is cut off there; NULL: it has no name. What stands
 * before a tab is one; before a comma or a blank only where a single number follows, and no number
 * stands there. */
static char *labels_behind_name(char *line, bool text)
{
    char *at = strchr(line, '\t');
    for (const char *between = ", "; !at && !text && *between; between++) {
        char *end = strrchr(line, *between);
        if (!end || !labels_is_number(end + 1))
            continue;
        *end = '\0';
        at = labels_is_number(line) || strchr(line, *between) ? NULL : end;
        *end = *between;
    }
    if (!at)
        return NULL;
    *at = '\0';
    return at + 1 + strspn(at + 1, " ");
}

static enum odb_status labels_add(struct odb_labels *out, char *line, bool text,
                                  struct odb_error *err)
{
    char *label = labels_behind_name(line, text);
    if (out->text.n && !label != !out->name) {
        odb_fail(err, ODB_E_INPUT, "line %zu has %s name, and others have %s", out->text.n + 1,
                 label ? "a" : "no", label ? "none" : "one");
        return odb_error_at(err, "%s", out->path);
    }
    if (label && !out->name)
        out->name = odb_map_new();
    if (label && !odb_map_add(out->name, line, out->text.n)) {
        odb_fail(err, ODB_E_INPUT, "%s has two labels", line);
        return odb_error_at(err, "%s", out->path);
    }
    odb_push(&out->text, odb_xstrdup(label ? label : line));
    return ODB_OK;
}

/* All lines, without their ends; empty ones at the end of the file are none. */
enum odb_status odb_labels_lines(const char *path, struct odb_lines *out, struct odb_error *err)
{
    FILE *f;
    char *line = NULL;
    size_t size = 0;
    *out = (struct odb_lines){0};
    ODB_TRY(odb_file_open(&f, path, err));
    while (getline(&line, &size, f) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        odb_push(out, odb_xstrdup(line));
    }
    while (out->n && !out->items[out->n - 1][0])
        free(out->items[--out->n]);
    free(line);
    fclose(f);
    return ODB_OK;
}

void odb_lines_dispose(struct odb_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        free(lines->items[i]);
    free(lines->items);
    *lines = (struct odb_lines){0};
}

static enum odb_status labels_text(struct odb_labels *out, bool text, struct odb_error *err)
{
    struct odb_lines lines;
    enum odb_status status = odb_labels_lines(out->path, &lines, err);
    for (size_t i = 0; i < lines.n && status == ODB_OK; i++)
        status = labels_add(out, lines.items[i], text, err);
    odb_lines_dispose(&lines);
    return status;
}

static enum odb_status labels_coco(struct odb_labels *out, struct odb_error *err)
{
    json_error_t why;
    FILE *f;
    ODB_TRY(odb_file_open(&f, out->path, err));
    out->coco = json_loadf(f, 0, &why);
    fclose(f);
    if (out->coco && json_is_array(json_object_get(out->coco, "images")) &&
        json_is_array(json_object_get(out->coco, "annotations")))
        return ODB_OK;
    odb_fail(err, ODB_E_INPUT, "it has no lists \"images\" and \"annotations\" as COCO has: %s",
             out->coco ? "they are not there" : why.text);
    return odb_error_at(err, "%s", out->path);
}

static bool labels_ends(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n >= m && !strcmp(path + n - m, ending);
}

enum odb_status odb_labels_read(struct odb_labels *out, const char *path, bool text,
                                struct odb_error *err)
{
    *out = (struct odb_labels){.path = odb_xstrdup(path)};
    if (labels_ends(path, ".json"))
        return labels_coco(out, err);
    if (labels_ends(path, ".npy"))
        return odb_npy_read(&out->rows, path, err);
    return labels_text(out, text, err);
}

void odb_labels_dispose(struct odb_labels *labels)
{
    odb_lines_dispose(&labels->text);
    odb_map_free(labels->name);
    odb_tensor_unref(labels->rows);
    json_decref(labels->coco);
    free(labels->path);
}

char *odb_labels_name(const char *source)
{
    const char *open = strchr(source, '(');
    size_t n = open ? strcspn(open + 1, ",)") : strlen(source);
    char *path = odb_xstrndup(open ? open + 1 : source, n);
    while (n > 1 && path[n - 1] == '/')
        path[--n] = '\0';
    const char *slash = strrchr(path, '/');
    char *name = odb_xstrdup(slash && slash[1] ? slash + 1 : path);
    free(path);
    return name;
}

static const char *labels_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const json_t *odb_labels_picture(const struct odb_labels *labels, size_t sample, const char *source)
{
    const json_t *images = json_object_get(labels->coco, "images"), *found = NULL;
    char *name = odb_labels_name(source);
    for (size_t i = 0; i < json_array_size(images) && !found; i++) {
        const json_t *file = json_object_get(json_array_get(images, i), "file_name");
        if (file && json_is_string(file) &&
            !strcmp(labels_last_part(json_string_value(file)), name))
            found = json_array_get(images, i);
    }
    bool picture = strchr(name, '.') != NULL;
    free(name);
    return found || picture ? found : json_array_get(images, sample);
}

static enum odb_status labels_lack(const struct odb_labels *labels, size_t sample,
                                   const char *source, struct odb_error *err)
{
    size_t n = labels->rows && labels->rows->rank ? (size_t)labels->rows->dims[0] : labels->text.n;
    odb_fail(err, ODB_E_INPUT, "there is no label for sample %zu, %s, among %zu", sample + 1,
             source, n);
    return odb_error_at(err, "%s", labels->path);
}

enum odb_status odb_labels_line(const struct odb_labels *labels, size_t sample, const char *source,
                                const char **out, struct odb_error *err)
{
    size_t line = sample;
    if (labels->name) {
        char *name = odb_labels_name(source);
        bool found = odb_map_get(labels->name, name, &line);
        free(name);
        if (!found)
            return labels_lack(labels, sample, source, err);
    }
    if (line >= labels->text.n)
        return labels_lack(labels, sample, source, err);
    *out = labels->text.items[line];
    return ODB_OK;
}

/* Numbers between blanks and commas. */
static enum odb_status labels_parse(const struct odb_labels *labels, const char *line,
                                    struct odb_tensor **out, struct odb_error *err)
{
    ODB_VEC(double) numbers = {0};
    bool whole = true;
    for (const char *at = line + strspn(line, " ,"); *at; at += strspn(at, " ,")) {
        size_t n = strcspn(at, " ,");
        char *word = odb_xstrndup(at, n);
        bool is = labels_is_number(word);
        whole = whole && !strpbrk(word, ".eEnN");
        odb_push(&numbers, strtod(word, NULL));
        if (!is)
            odb_fail(err, ODB_E_INPUT, "'%s' of the label '%s' is no number", word, line);
        free(word);
        if (!is) {
            free(numbers.items);
            return odb_error_at(err, "%s", labels->path);
        }
        at += n;
    }
    const int64_t dims[] = {(int64_t)numbers.n};
    enum odb_status status = odb_tensor_copy_of(out, ODB_F64, 1, dims, numbers.items, err);
    if (status == ODB_OK && whole) {
        struct odb_tensor *reals = *out;
        status = odb_tensor_cast(out, reals, ODB_I64, err);
        odb_tensor_unref(reals);
    }
    free(numbers.items);
    return status;
}

enum odb_status odb_labels_numbers(const struct odb_labels *labels, size_t sample,
                                   const char *source, struct odb_tensor **out,
                                   struct odb_error *err)
{
    const char *line;
    if (!labels->rows) {
        ODB_TRY(odb_labels_line(labels, sample, source, &line, err));
        return labels_parse(labels, line, out, err);
    }
    const struct odb_tensor *rows = labels->rows;
    if (!rows->rank || sample >= (size_t)rows->dims[0] || rows->kind != ODB_TENSOR)
        return labels_lack(labels, sample, source, err);
    if (rows->dtype == ODB_STRING || rows->dtype == ODB_C64 || rows->dtype == ODB_C128) {
        odb_fail(err, ODB_E_INPUT, "labels are numbers, and these are %s",
                 odb_dtype_info(rows->dtype)->name);
        return odb_error_at(err, "%s", labels->path);
    }
    size_t bytes = rows->bytes / (size_t)rows->dims[0];
    return odb_tensor_view(out, rows->dtype, rows->rank - 1, rows->dims + 1,
                           (const char *)rows->data + sample * bytes, bytes, rows->storage, err);
}
