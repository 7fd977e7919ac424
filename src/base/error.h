/* SPDX-License-Identifier: MIT
 *
 * How failure travels. Every fallible function returns enum odb_status and takes a
 * struct odb_error * last. The origin fills it once, callers on the way up may prefix where;
 * on success it is untouched. No function below command/ prints.
 *
 * Zero is success, negative is an error, positive is an outcome that is neither: the caller asked
 * for something that was cancelled, skipped or cannot be had.
 */
#ifndef ODB_BASE_ERROR_H
#define ODB_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#define ODB_STATUS_LIST(X)                                                                         \
    X(OK, 0, "ok")                                                                                 \
    X(E_NOMEM, -1, "out of memory")                                                                \
    X(E_IO, -2, "input/output error")                                                              \
    X(E_FORMAT, -3, "malformed data")                                                              \
    X(E_MODEL, -4, "invalid model")                                                                \
    X(E_USAGE, -5, "usage")                                                                        \
    X(E_INPUT, -6, "invalid input")                                                                \
    X(E_OPERATOR, -7, "operator failed")                                                           \
    X(E_EXECUTOR, -8, "executor failed")                                                           \
    X(E_CRASH, -9, "executor crashed")                                                             \
    X(E_TIMEOUT, -10, "executor timed out")                                                        \
    X(E_INTERNAL, -11, "internal error")                                                           \
    X(CANCELLED, 1, "cancelled")                                                                   \
    X(SKIPPED, 2, "skipped")                                                                       \
    X(UNSUPPORTED, 3, "unsupported")

enum odb_status {
#define ODB_STATUS_ENUM(name, value, text) ODB_##name = (value),
    ODB_STATUS_LIST(ODB_STATUS_ENUM)
#undef ODB_STATUS_ENUM
};

/* One message, in the form "WHERE: WHAT; REMEDY". where and remedy may be empty. */
struct odb_error {
    enum odb_status code;
    char where[256];  /* file, node, attribute, byte: outermost first */
    char what[1024];  /* what and why, one line */
    char remedy[512]; /* the way out */
};

#define ODB_ERROR_INIT                                                                             \
    {                                                                                              \
        .code = ODB_OK                                                                             \
    }
#define ODB_MUST_USE __attribute__((warn_unused_result))
#define ODB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Fills err (may be NULL) and returns code, so that `return odb_fail(err, …)` is the idiom. */
enum odb_status odb_fail(struct odb_error *err, enum odb_status code, const char *fmt, ...)
    ODB_PRINTF(3, 4);

/* Prefixes "PLACE: " to where. Returns err->code. */
enum odb_status odb_error_at(struct odb_error *err, const char *fmt, ...) ODB_PRINTF(2, 3);

/* Sets the way out. Returns err->code. */
enum odb_status odb_error_remedy(struct odb_error *err, const char *fmt, ...) ODB_PRINTF(2, 3);

/* Writes "where: what; remedy" on one line, always terminated. Returns buf. */
const char *odb_error_text(const struct odb_error *err, char *buf, size_t size);

/* "E_MODEL" -> its default sentence; for logs and JSON. Never NULL. */
const char *odb_status_text(enum odb_status code);

/* Leaves the function when call is not ODB_OK (outcomes included). */
#define ODB_TRY(call)                                                                              \
    do {                                                                                           \
        enum odb_status odb_try_status = (call);                                                   \
        if (odb_try_status != ODB_OK)                                                              \
            return odb_try_status;                                                                 \
    } while (0)

/* The same for functions that own things: jumps to out: with `status` set. */
#define ODB_TRY_OUT(call)                                                                          \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != ODB_OK)                                                                      \
            goto out;                                                                              \
    } while (0)

/* Our own bugs only; anything that depends on a file or a target is an odb_error. */
#define ODB_ASSERT(cond) ((cond) ? (void)0 : odb_assert_failed(__FILE__, __LINE__, #cond))
_Noreturn void odb_assert_failed(const char *file, int line, const char *cond);

#endif
