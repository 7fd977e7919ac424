/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* One line, and nothing that a terminal obeys, whatever names of a model or words of a target are
 * quoted. */
static void error_flatten(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = ' ';
}

enum odb_status odb_fail(struct odb_error *err, enum odb_status code, const char *fmt, ...)
{
    if (!err)
        return code;
    va_list args;
    va_start(args, fmt);
    err->code = code;
    err->where[0] = '\0';
    err->remedy[0] = '\0';
    odb_text_vfit(err->what, sizeof err->what, fmt, args);
    va_end(args);
    error_flatten(err->what);
    return code;
}

enum odb_status odb_error_at(struct odb_error *err, const char *fmt, ...)
{
    if (!err)
        return ODB_E_INTERNAL;
    char place[sizeof err->where];
    va_list args;
    va_start(args, fmt);
    size_t used = odb_text_vfit(place, sizeof place, fmt, args);
    va_end(args);
    if (err->where[0] && used + 2 < sizeof place)
        odb_text_fit(place + used, sizeof place - used, ": %s", err->where);
    error_flatten(place);
    memcpy(err->where, place, sizeof place);
    return err->code;
}

enum odb_status odb_error_remedy(struct odb_error *err, const char *fmt, ...)
{
    if (!err)
        return ODB_E_INTERNAL;
    va_list args;
    va_start(args, fmt);
    odb_text_vfit(err->remedy, sizeof err->remedy, fmt, args);
    va_end(args);
    error_flatten(err->remedy);
    return err->code;
}

const char *odb_error_text(const struct odb_error *err, char *buf, size_t size)
{
    odb_text_fit(buf, size, "%s%s%s%s%s", err->where, err->where[0] ? ": " : "", err->what,
                 err->remedy[0] ? "; " : "", err->remedy);
    return buf;
}

const char *odb_status_text(enum odb_status code)
{
    switch (code) {
#define ODB_STATUS_CASE(name, value, text)                                                         \
    case ODB_##name:                                                                               \
        return text;
        ODB_STATUS_LIST(ODB_STATUS_CASE)
#undef ODB_STATUS_CASE
    }
    return "unknown status";
}

_Noreturn void odb_assert_failed(const char *file, int line, const char *cond)
{
    fprintf(stderr, "onnxdbg: bug: %s:%d: %s\n", file, line, cond);
    abort();
}
