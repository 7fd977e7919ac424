/* SPDX-License-Identifier: MIT
 *
 * Executor specs: KIND[:ARG][,key=value…][@SPEC]. A backslash escapes , = @ and itself; the first
 * unescaped @ begins the spec that a wrapper wraps.
 *
 * A transport is read in its own way, as ssh:HOST[:PORT],SPEC and via:COMMAND,SPEC: an @ before the
 * first comma is that of ssh or of the command, and behind it comes a spec with its own commas,
 * which is the wrapped one.
 */
#ifndef ODB_EXECUTOR_SPEC_H
#define ODB_EXECUTOR_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

struct odb_executor_ops;

struct odb_spec_option {
    char *key;   /* owned */
    char *value; /* owned; "" for a bare flag */
};

struct odb_spec {
    char *text;                         /* owned: as given */
    char *kind;                         /* owned */
    const struct odb_executor_ops *row; /* of the kind; NULL: there is no such executor */
    char *arg; /* owned: between ':' and the first ',', unescaped; NULL: none */
    struct odb_spec_option *options; /* owned */
    size_t n_options;
    char *inner; /* owned: the spec that is wrapped, still escaped; NULL: none */
};

/* What a kind's specs may hold: a row per option, ":" for the argument, "@" for the spec that it
 * wraps. A row without a key ends the table. Messages, syntax, help and completion come from it. */
struct odb_executor_option {
    const char *key;    /* "threads"; with * at its end any key that begins so: "config.*", "*" */
    const char *values; /* "all|basic|disabled": these alone, as long as nothing is in capitals;
                           "N", "FILE|none": the executor checks; NULL: a flag */
    const char *preset; /* what holds without it: "1"; NULL: nothing does */
    const char *help;   /* one line */
    bool needed;
};

/* timeout, workers: what every spec may hold, wherever in it, and the debugger itself sees to. */
#define ODB_SPEC_PLAIN "plain" /* of them: a spec, see odb_executor_plain() */
extern const struct odb_executor_option odb_spec_common[];

/* ODB_E_USAGE with the syntax where the text is malformed. An unknown kind is no error, and has no
 * row. */
enum odb_status odb_spec_parse(struct odb_spec **out, const char *text,
                               struct odb_error *err) ODB_MUST_USE;
void odb_spec_free(struct odb_spec *spec);
/* Shows a spec, and then each that it wraps, from outside to inside, until visit is false. An error
 * where one of those on the way is malformed. */
enum odb_status odb_spec_walk(const char *text,
                              bool (*visit)(const struct odb_spec *spec, void *payload),
                              void *payload, struct odb_error *err) ODB_MUST_USE;
/* Adds a word as a spec has it: with a backslash before , = @ and itself. */
void odb_spec_put_word(struct odb_buf *out, const char *word);
/* Value of an option, NULL when absent. */
const char *odb_spec_option(const struct odb_spec *spec, const char *key);
/* The spec's text with an option set so ("" for a bare flag), whether it was there or not, and all
 * else as it was. value is escaped by the caller. Owned by the caller. */
char *odb_spec_with(const struct odb_spec *spec, const char *key, const char *value);
/* A number, or ODB_E_USAGE; *out keeps its value when the option is absent. */
enum odb_status odb_spec_number(const struct odb_spec *spec, const char *key, double *out,
                                struct odb_error *err) ODB_MUST_USE;
/* The same for a whole number from low to high, 2^53 at most. */
enum odb_status odb_spec_whole(const struct odb_spec *spec, const char *key, double low,
                               double high, double *out, struct odb_error *err) ODB_MUST_USE;
/* A number of bytes: 4096, 512K, 1.5G (binary multiples K, M, G, T). */
bool odb_spec_read_size(const char *text, size_t *out);
/* The same of an option; as above. */
enum odb_status odb_spec_size(const struct odb_spec *spec, const char *key, size_t *out,
                              struct odb_error *err) ODB_MUST_USE;
/* Refuses options, an argument and a wrapped spec that are not in the table, values that are none
 * of the choices, and the lack of what is needed. */
enum odb_status odb_spec_check(const struct odb_spec *spec,
                               const struct odb_executor_option *options,
                               struct odb_error *err) ODB_MUST_USE;
/* The row of a table, or of those in common, that an option's key belongs to; NULL: none. */
const struct odb_executor_option *odb_spec_row(const struct odb_executor_option *options,
                                               const char *key);
/* The row for ":" or "@"; NULL: the kind has no such thing. */
const struct odb_executor_option *odb_spec_part(const struct odb_executor_option *options,
                                                const char *key);
/* Whether a row's values are choices, and there are no others. */
bool odb_spec_chooses(const struct odb_executor_option *row);
/* "node=NAME|#INDEX", "hidden", "fault:scale|swap", "@SPEC" */
void odb_spec_put_row(const char *kind, const struct odb_executor_option *row, struct odb_buf *out);
/* "fault:scale|swap,node=NAME[,seed=N]@SPEC" */
void odb_spec_put_syntax(const char *kind, const struct odb_executor_option *options,
                         struct odb_buf *out);

#endif
