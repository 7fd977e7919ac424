/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is said of a value after looking at it.
 */
#ifndef ODB_COMPARE_VERDICT_H
#define ODB_COMPARE_VERDICT_H

#include <stdbool.h>

#define ODB_VERDICT_LIST(X)                                                                        \
    X(UNTESTED, "untested", "it has not been judged yet")                                          \
    X(PASS, "pass", "agrees with the reference within its tolerance")                              \
    X(FAIL, "fail", "differs from the reference by more than its tolerance")                       \
    X(NAN, "nan", "NaN or Inf where the reference has none, or the other way round")               \
    X(SHAPE, "shape", "has another shape than the reference")                                      \
    X(DTYPE, "dtype", "has another element type than the reference")                               \
    X(CRASH, "crash", "the target died on the way to it")                                          \
    X(TIMEOUT, "timeout", "the target did not finish in its time")                                 \
    X(REFUSED, "refused", "the target refuses what it runs with other options")                    \
    X(UNTESTABLE, "untestable", "the cut could not be built or run: no evidence either way")       \
    X(UNSUPPORTED, "unsupported", "there is no reference kernel for it")

enum odb_verdict {
#define ODB_VERDICT_ENUM(name, text, help) ODB_VERDICT_##name,
    ODB_VERDICT_LIST(ODB_VERDICT_ENUM)
#undef ODB_VERDICT_ENUM
        ODB_VERDICT_COUNT
};

/* "pass", …; "?" for a number that is no verdict. */
const char *odb_verdict_name(enum odb_verdict verdict);
const char *odb_verdict_help(enum odb_verdict verdict);
/* False when name is none. */
bool odb_verdict_parse(enum odb_verdict *out, const char *name);
/* The target is wrong there: fail, nan, shape, dtype, crash, timeout, refused. */
bool odb_verdict_is_bad(enum odb_verdict verdict);
/* Another shape or type: there are no numbers to compare. */
bool odb_verdict_misfits(enum odb_verdict verdict);

#endif
