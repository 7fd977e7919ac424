/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dump_info.json: what a dump was made of and what is in it, as dump_tools writes it.
 */
#ifndef ODB_DUMP_DUMP_INFO_H
#define ODB_DUMP_DUMP_INFO_H

#include <jansson.h>

#include "base/buf.h"
#include "tensor/tensor.h"

#define ODB_DUMP_INFO "dump_info.json"

/* The ends of what dump_tools generates. */
#define ODB_DUMPED_FLOAT_MIN 0.0
#define ODB_DUMPED_FLOAT_MAX 1.0
#define ODB_DUMPED_INT_MIN 0
#define ODB_DUMPED_INT_MAX 100

struct odb_dump;

/* What the manifest says of a tensor. */
struct odb_tensor_info {
    char dtype[32]; /* "float16", "object" for strings, "sequence", "optional", "map" */
    char shape[ODB_MAX_RANK * 21 + 8]; /* as Python prints it: "(1, 8)", "()"; containers: "(2,)" */
    int rank;
    int64_t dims[ODB_MAX_RANK];
    bool has_nan, has_inf;
    bool numbers;                  /* the rest is known: real elements, and at least one */
    double mean, median, min, max; /* as NumPy of them in float64, NaN where one is NaN */
};

/* ODB_E_NOMEM. */
enum odb_status odb_tensor_info(struct odb_tensor_info *out, const struct odb_tensor *t,
                                struct odb_error *err) ODB_MUST_USE;

/* The whole file. */
void odb_dump_info_put(const struct odb_dump *dump, struct odb_buf *out);

/* How an input of an earlier dump was generated. */
struct odb_dump_input {
    bool ranged; /* as the next three say; else as that type is generated anyway */
    double lo, hi;
    uint64_t seed;
    int rank;
    int64_t dims[ODB_MAX_RANK];
};
/* From input_info of the manifest. ODB_E_INPUT: it is not there, or came from a file. */
enum odb_status odb_dump_info_input(struct odb_dump_input *out, const json_t *list,
                                    const char *name, struct odb_error *err) ODB_MUST_USE;

#endif
