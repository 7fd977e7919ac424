/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Looking for elements by value: a number, a range, NaN, a text.
 */
#ifndef ODB_COMPARE_INSPECT_SEEK_H
#define ODB_COMPARE_INSPECT_SEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "compare/metrics.h"
#include "base/progress.h"

/* Where to look; bits. */
enum odb_seek_where {
    ODB_SEEK_REFERENCE = 1,
    ODB_SEEK_TARGET = 2,
    ODB_SEEK_ERROR = 4, /* |target - reference|, infinite where NaN or Inf does not match */
};

enum odb_seek_kind { ODB_SEEK_RANGE, ODB_SEEK_EQUAL, ODB_SEEK_NAN, ODB_SEEK_TEXT };

struct odb_seek {
    enum odb_seek_kind kind;
    unsigned where;
    bool not ;     /* those that are not */
    double lo, hi; /* RANGE: both belong to it; EQUAL: lo, rounded to the tensor's type */
    bool is_whole; /* EQUAL: and exactly so */
    int64_t whole;
    char text[256]; /* as given, without where; strings hold it */
};

/* "1.5", "~1.5" (what rounds to it), ">1e3", "<=0", "!=0", "0.1..0.2", "nan", "inf", "-inf",
 * "true", any text for strings; and behind it, where: "reference", "target" (or "ref", "tgt"; both
 * where nothing is said) or "difference". ODB_E_USAGE. */
enum odb_status odb_seek_parse(struct odb_seek *out, const char *text,
                               struct odb_error *err) ODB_MUST_USE;

/* The next element that matches behind `from`, or before it (direction -1), going on at the other
 * end; `from` itself comes last, and ODB_NOWHERE means from the first, or last. *at is ODB_NOWHERE
 * where there is none. *where: the first of the places that has it. Sides that have no numbers, or
 * are not there, hold nothing; where the two have other shapes, ODB_SEEK_ERROR is nowhere.
 * ODB_E_USAGE: a text among numbers. ODB_CANCELLED. */
enum odb_status odb_seek_next(size_t *at, unsigned *where, const struct odb_seek *seek,
                              const struct odb_tensor *ref, const struct odb_tensor *target,
                              size_t from, int direction, const struct odb_progress *progress,
                              struct odb_error *err) ODB_MUST_USE;
/* How many elements match, and how many of them stand before `at`. */
enum odb_status odb_seek_count(size_t *total, size_t *before, const struct odb_seek *seek,
                               const struct odb_tensor *ref, const struct odb_tensor *target,
                               size_t at, const struct odb_progress *progress,
                               struct odb_error *err) ODB_MUST_USE;

#endif
