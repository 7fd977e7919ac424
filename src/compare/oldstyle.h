/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two or three folders of tensors compared as dump_tools compares them: what a target dumped
 * against what another executor did (compare), and, where there is one, both against golden. Files
 * are paired by name; lines, log and spreadsheet are those that old scripts read.
 */
#ifndef ODB_COMPARE_OLDSTYLE_H
#define ODB_COMPARE_OLDSTYLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tensor/tensor.h"

struct odb_oldstyle_options {
    double tag; /* how many times worse than compare the target may be, against golden */
    double th1; /* up to this size of the base, diff3 is an absolute error; rtol and atol as well */
    double th2; /* limit of diff2 */
};

#define ODB_OLDSTYLE_INIT                                                                          \
    {                                                                                              \
        .tag = 10, .th1 = 1e-6, .th2 = 1e-3                                                        \
    }

/* One name that all folders have. */
struct odb_oldstyle_row {
    char *name;     /* owned: of the file */
    char *trouble;  /* owned: why there are no numbers (shapes differ, strings do); NULL: there are
                     */
    bool nan_inf;   /* one of the tensors holds NaN or Inf */
    double diff2;   /* target against compare, in float32 as NumPy adds */
    bool all_close; /* of the two, within th1; without golden */
    double max_target, mean_target;   /* diff3 of the target against golden; with golden */
    double max_compare, mean_compare; /* of compare against golden */
    bool max_pass, mean_pass;         /* the three-way test */
};

enum odb_oldstyle_side {
    ODB_OLDSTYLE_TARGET,
    ODB_OLDSTYLE_COMPARE,
    ODB_OLDSTYLE_GOLDEN,
    ODB_OLDSTYLE_SIDES
};

struct odb_oldstyle {
    struct odb_oldstyle_options options;
    bool golden;                           /* there is a third side */
    size_t broken;                         /* rows of which a file could not be read */
    ODB_VEC(struct odb_oldstyle_row) rows; /* in the order of names' bytes */
    /* Files that not all sides have, in that order. */
    ODB_VEC(struct odb_oldstyle_alone {
        char *name; /* owned */
        bool has[ODB_OLDSTYLE_SIDES];
    })
    alone;
    char *dirs[ODB_OLDSTYLE_SIDES]; /* owned; NULL: no such side */
};

/* Fills all of row but its name with one pair, or triple (golden NULL: none). */
void odb_oldstyle_judge(struct odb_oldstyle_row *row, const struct odb_oldstyle_options *options,
                        const struct odb_tensor *target, const struct odb_tensor *compare,
                        const struct odb_tensor *golden);

/* Reads the files, and receives the count of rows after each. */
struct odb_oldstyle_reader {
    enum odb_status (*read)(struct odb_tensor **out, const char *path, struct odb_error *err);
    /* After each row; true stops with ODB_CANCELLED. NULL: not wanted. */
    bool (*told)(void *payload, size_t done, size_t total);
    void *payload;
};

/* Folders of .npy and .pb files, or folders that have these in a folder `outputs`. dirs[GOLDEN]
 * NULL: there is none. *out is to be disposed of also after failure. ODB_E_IO; ODB_E_INPUT: they
 * have no name in common. A file that cannot be read is the row's trouble. */
enum odb_status odb_oldstyle_folders(struct odb_oldstyle *out,
                                     const char *const dirs[ODB_OLDSTYLE_SIDES],
                                     const struct odb_oldstyle_options *options,
                                     const struct odb_oldstyle_reader *reader,
                                     struct odb_error *err) ODB_MUST_USE;
void odb_oldstyle_dispose(struct odb_oldstyle *what);
/* ODB_E_INPUT: files could not be read, so that what the rows say is not all there is to say. */
enum odb_status odb_oldstyle_readable(const struct odb_oldstyle *what,
                                      struct odb_error *err) ODB_MUST_USE;

/* What may be wrong with a row. OTHER: diff3 where there is golden, else all_close. */
enum odb_oldstyle_kind {
    ODB_OLDSTYLE_TROUBLE,
    ODB_OLDSTYLE_NAN_INF,
    ODB_OLDSTYLE_DIFF2,
    ODB_OLDSTYLE_OTHER,
    ODB_OLDSTYLE_KINDS
};
bool odb_oldstyle_is(const struct odb_oldstyle *what, const struct odb_oldstyle_row *row,
                     enum odb_oldstyle_kind kind);
/* Whether a row exceeds a limit, or has no numbers. NaN and Inf that all sides have are within the
 * limits of all_close, and not of diff3. */
bool odb_oldstyle_fails(const struct odb_oldstyle *what, const struct odb_oldstyle_row *row);
/* "index: 0 | relu_3.tmp_0.npy | nan_inf: False | diff2: 0.0 | all_close: True | th: 1e-06" and a
 * newline. */
void odb_oldstyle_line(const struct odb_oldstyle *what, size_t index, struct odb_buf *out);
/* What follows the lines: files on one side only, and the names that are NaN or Inf, over th2, and
 * failing the other test. */
void odb_oldstyle_summary(const struct odb_oldstyle *what, struct odb_buf *out);
/* All lines and what follows them; returns how many rows fail. */
size_t odb_oldstyle_put(const struct odb_oldstyle *what, struct odb_buf *out);
/* All of it in a workbook: Sheet, nan_inf, diff2_val, and diff3_val or all_close. */
enum odb_status odb_oldstyle_workbook(const struct odb_oldstyle *what, const char *path,
                                      struct odb_error *err) ODB_MUST_USE;

#endif
