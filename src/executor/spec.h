/* SPDX-License-Identifier: MIT
 *
 * Executor specs: KIND[:ARG][,key=value…][@SPEC]. A backslash escapes , = @ and itself; the first
 * unescaped @ begins the spec that a wrapper wraps.
 */
#ifndef ODB_EXECUTOR_SPEC_H
#define ODB_EXECUTOR_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct odb_spec_option {
    char *key;   /* owned */
    char *value; /* owned; "" for a bare flag */
};

struct odb_spec {
    char *text;  /* owned: as given */
    char *kind;  /* owned */
    char *arg;   /* owned: between ':' and the first ',', unescaped; NULL: none */
    struct odb_spec_option *options; /* owned */
    size_t n_options;
    char *inner; /* owned: text behind the first unescaped @, still escaped; NULL: none */
};

/* ODB_E_USAGE with the syntax where the text is malformed. Kinds are not looked up. */
enum odb_status odb_spec_parse(struct odb_spec **out, const char *text,
                               struct odb_error *err) ODB_MUST_USE;
void odb_spec_free(struct odb_spec *spec);
/* Value of an option, NULL when absent. */
const char *odb_spec_option(const struct odb_spec *spec, const char *key);
/* A number, or ODB_E_USAGE; *out keeps its value when the option is absent. */
enum odb_status odb_spec_number(const struct odb_spec *spec, const char *key, double *out,
                                struct odb_error *err) ODB_MUST_USE;
/* Refuses options that are not in the NULL-terminated list ("timeout" is always allowed), and a
 * wrapped spec unless the list holds "@". */
enum odb_status odb_spec_check(const struct odb_spec *spec, const char *const *keys,
                               struct odb_error *err) ODB_MUST_USE;

#endif
