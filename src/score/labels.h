/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is right for each sample, from a file: a text with a line for each sample, an array, or
 * boxes as COCO writes them.
 */
#ifndef ODB_SCORE_LABELS_H
#define ODB_SCORE_LABELS_H

#include <jansson.h>

#include "base/map.h"
#include "base/mem.h"
#include "tensor/tensor.h"

/* Lines of a text. */
struct odb_lines {
    char **items; /* owned, and each of them */
    size_t n, cap;
};
/* Without their ends; empty ones at the end of the file are none. *out is to be disposed of. */
enum odb_status odb_labels_lines(const char *path, struct odb_lines *out,
                                 struct odb_error *err) ODB_MUST_USE;
void odb_lines_dispose(struct odb_lines *lines);

struct odb_labels {
    char *path;            /* owned */
    struct odb_lines text; /* owned: in the order of the samples, or of names */
    struct odb_map *name;  /* owned: of lines that begin with a sample's name, the line; NULL: they
                              are in the order of the samples */
    struct odb_tensor *rows; /* owned: .npy, the first axis is that of the samples; NULL: a text */
    json_t *coco;            /* owned; NULL: no such file */
};

/* A text: "LABEL", or the sample's name before it, with a tab between, or, before a single number,
 * a comma or a blank: "cat.jpg 281". text: labels are texts, so that only a tab parts a name from
 * one. ODB_E_INPUT for a file that is none of the three. */
enum odb_status odb_labels_read(struct odb_labels *out, const char *path, bool text,
                                struct odb_error *err) ODB_MUST_USE;
void odb_labels_dispose(struct odb_labels *labels);
/* The line of a sample: source is where its inputs are from, a folder or a file, and is looked for
 * by its last part where lines have names. ODB_E_INPUT: there is none. Borrowed: labels. */
enum odb_status odb_labels_line(const struct odb_labels *labels, size_t sample, const char *source,
                                const char **out, struct odb_error *err) ODB_MUST_USE;
/* Its row, or the numbers of its line, as float64 or int64 of any shape; the caller's. ODB_E_INPUT
 * also where they are no real numbers. */
enum odb_status odb_labels_numbers(const struct odb_labels *labels, size_t sample,
                                   const char *source, struct odb_tensor **out,
                                   struct odb_error *err) ODB_MUST_USE;
/* Writes those of the picked samples into a folder, for a data set of test_data_set_0, 1 … in that
 * order. *file: its name there, static. sources: of the picked. */
enum odb_status odb_labels_write(const struct odb_labels *labels, const size_t *picked,
                                 const char *const *sources, size_t n, const char *dir,
                                 const char **file, struct odb_error *err) ODB_MUST_USE;
/* COCO's picture of a sample: by name where it is from a picture, else by place. NULL: there is
 * none. Borrowed: labels. */
const json_t *odb_labels_picture(const struct odb_labels *labels, size_t sample,
                                 const char *source);
/* The last part of where a sample is from, without what stands around it: "cat.jpg" of
 * "image(photos/cat.jpg,mean=0.5)". The caller's. */
char *odb_labels_name(const char *source);

#endif
