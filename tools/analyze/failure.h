/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stands before every file that `make analyze` looks at. Analyzers see one file at a time, so this
 * one says what error.c promises: a function that fails does not return ODB_OK.
 */
#ifndef ANALYZE_FAILURE_H
#define ANALYZE_FAILURE_H

#include "base/error.h"

#define ANALYZE_FAILURE(call)                                                                      \
    __extension__({                                                                                \
        enum odb_status analyze_status = (call);                                                   \
        if (analyze_status == ODB_OK)                                                              \
            __builtin_unreachable();                                                               \
        analyze_status;                                                                            \
    })

#define odb_fail(...) ANALYZE_FAILURE(odb_fail(__VA_ARGS__))
#define odb_error_at(...) ANALYZE_FAILURE(odb_error_at(__VA_ARGS__))
#define odb_error_remedy(...) ANALYZE_FAILURE(odb_error_remedy(__VA_ARGS__))

#endif
