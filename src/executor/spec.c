/* SPDX-License-Identifier: MIT */
#include "executor/likely.h"
#include "executor/spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executor/executor.h"

#define SPEC_SYNTAX "write KIND[:ARG][,key=value...][@SPEC]; a backslash escapes , = @ and itself"

#define SPEC_MARKS ",=@\\" /* what a backslash escapes */

void odb_spec_put_word(struct odb_buf *out, const char *word)
{
    for (; *word; word++)
        odb_buf_printf(out, "%s%c", strchr(SPEC_MARKS, *word) ? "\\" : "", *word);
}

/* Appends the text up to the first unescaped character of stop, without the backslashes before
 * , = @ and \ (others stay: the command line of `command` gives them a meaning). Returns where it
 * stopped. */
static const char *spec_word(const char *p, const char *stop, struct odb_buf *out)
{
    for (; *p && !strchr(stop, *p); p++) {
        if (*p == '\\' && p[1] && strchr(SPEC_MARKS, p[1]))
            p++;
        odb_buf_putc(out, *p);
    }
    return p;
}

static char *spec_take(struct odb_buf *buf)
{
    return buf->data ? odb_buf_take(buf) : odb_xstrdup("");
}

static enum odb_status spec_options(struct odb_spec *spec, const char **text, struct odb_error *err)
{
    const char *p = *text;
    while (*p == ',') {
        struct odb_buf key = ODB_BUF_INIT, value = ODB_BUF_INIT;
        p = spec_word(p + 1, "=,@", &key);
        if (*p == '=')
            p = spec_word(p + 1, ",@", &value);
        struct odb_spec_option option = {spec_take(&key), spec_take(&value)};
        bool again = odb_spec_option(spec, option.key) != NULL;
        spec->options = odb_xrealloc(spec->options, spec->n_options + 1, sizeof option);
        spec->options[spec->n_options++] = option;
        if (!option.key[0] || again) {
            if (again)
                odb_fail(err, ODB_E_USAGE, "option '%s' is given twice", option.key);
            else
                odb_fail(err, ODB_E_USAGE, "an option has no name");
            odb_error_remedy(err, SPEC_SYNTAX);
            return ODB_E_USAGE;
        }
    }
    *text = p;
    return ODB_OK;
}

enum odb_status odb_spec_parse(struct odb_spec **out, const char *text, struct odb_error *err)
{
    struct odb_spec *spec = odb_new(struct odb_spec);
    struct odb_buf word = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    spec->text = odb_xstrdup(text);
    const char *p = spec_word(text, ":,@", &word);
    spec->kind = spec_take(&word);
    spec->row = odb_executor_find(spec->kind);
    bool transport = spec->row && spec->row->transport;
    if (*p == ':') {
        p = spec_word(p + 1, transport ? "," : ",@", &word);
        spec->arg = spec_take(&word);
        if (!strcmp(spec->kind, "cpu")) { /* `fp16` is `f16` */
            char *own = odb_xstrdup(odb_precision_word(spec->arg));
            free(spec->arg);
            spec->arg = own;
        }
    }
    if (!transport)
        ODB_TRY_OUT(spec_options(spec, &p, err));
    if (*p)
        spec->inner = odb_xstrdup(p + 1);
    if (!spec->kind[0] || (spec->inner && !spec->inner[0])) {
        if (!spec->kind[0])
            status = odb_fail(err, ODB_E_USAGE, "no executor is named");
        else if (transport)
            status = odb_fail(err, ODB_E_USAGE, "nothing stands behind '%s'", text);
        else
            status = odb_fail(err, ODB_E_USAGE, "nothing stands behind '@'");
        odb_error_remedy(err, SPEC_SYNTAX);
    }
out:
    odb_buf_dispose(&word);
    if (status != ODB_OK) {
        odb_error_at(err, "%s", text);
        odb_spec_free(spec);
        return status;
    }
    *out = spec;
    return ODB_OK;
}

void odb_spec_free(struct odb_spec *spec)
{
    if (!spec)
        return;
    for (size_t i = 0; i < spec->n_options; i++) {
        free(spec->options[i].key);
        free(spec->options[i].value);
    }
    free(spec->options);
    free(spec->text);
    free(spec->kind);
    free(spec->arg);
    free(spec->inner);
    free(spec);
}

enum odb_status odb_spec_walk(const char *text,
                              bool (*visit)(const struct odb_spec *spec, void *payload),
                              void *payload, struct odb_error *err)
{
    char *at = odb_xstrdup(text);
    enum odb_status status = ODB_OK;
    while (at && status == ODB_OK) {
        struct odb_spec *spec;
        status = odb_spec_parse(&spec, at, err);
        free(at);
        at = NULL;
        if (status != ODB_OK)
            break;
        if (visit(spec, payload) && spec->inner)
            at = odb_xstrdup(spec->inner);
        odb_spec_free(spec);
    }
    return status;
}

const char *odb_spec_option(const struct odb_spec *spec, const char *key)
{
    for (size_t i = 0; i < spec->n_options; i++)
        if (!strcmp(spec->options[i].key, key))
            return spec->options[i].value;
    return NULL;
}

/* Where the options begin, or what stands behind them does. */
static const char *spec_options_at(const struct odb_spec *spec)
{
    struct odb_buf ignored = ODB_BUF_INIT;
    const char *p = spec_word(spec->text, ":,@", &ignored);
    if (*p == ':')
        p = spec_word(p + 1, spec->row && spec->row->transport ? "," : ",@", &ignored);
    odb_buf_dispose(&ignored);
    return p;
}

char *odb_spec_with(const struct odb_spec *spec, const char *key, const char *value)
{
    struct odb_buf out = ODB_BUF_INIT, word = ODB_BUF_INIT;
    const char *p = spec_options_at(spec);
    odb_buf_add(&out, spec->text, (size_t)(p - spec->text));
    while (*p == ',') {
        const char *option = p;
        odb_buf_clear(&word);
        p = spec_word(p + 1, "=,@", &word);
        bool same = !strcmp(odb_buf_text(&word), key);
        if (*p == '=')
            p = spec_word(p + 1, ",@", &word);
        if (!same)
            odb_buf_add(&out, option, (size_t)(p - option));
    }
    odb_buf_printf(&out, ",%s%s%s%s", key, value[0] ? "=" : "", value, p);
    odb_buf_dispose(&word);
    return odb_buf_take(&out);
}

enum odb_status odb_spec_number(const struct odb_spec *spec, const char *key, double *out,
                                struct odb_error *err)
{
    const char *text = odb_spec_option(spec, key);
    if (!text)
        return ODB_OK;
    char *end;
    double v = strtod(text, &end);
    if (!text[0] || *end || !isfinite(v)) {
        odb_fail(err, ODB_E_USAGE, "%s=%s is no number", key, text);
        return odb_error_at(err, "%s", spec->text);
    }
    *out = v;
    return ODB_OK;
}

enum odb_status odb_spec_whole(const struct odb_spec *spec, const char *key, double low,
                               double high, double *out, struct odb_error *err)
{
    ODB_TRY(odb_spec_number(spec, key, out, err));
    if (!odb_spec_option(spec, key) || (*out >= low && *out <= high && *out == floor(*out)))
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "%s=%s is no whole number from %.0f to %.0f", key,
             odb_spec_option(spec, key), low, high);
    return odb_error_at(err, "%s", spec->text);
}

bool odb_spec_read_size(const char *text, size_t *out)
{
    static const char units[] = "KMGT";
    char *end;
    double v = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        v *= (double)(1ull << 10 * (unit - units + 1));
        end++;
    }
    if (text == end || *end || !(v >= 1) || v > 0x1p60)
        return false;
    *out = v < (double)SIZE_MAX ? (size_t)v : SIZE_MAX;
    return true;
}

enum odb_status odb_spec_size(const struct odb_spec *spec, const char *key, size_t *out,
                              struct odb_error *err)
{
    const char *text = odb_spec_option(spec, key);
    if (!text || odb_spec_read_size(text, out))
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "%s=%s is no size", key, text);
    odb_error_remedy(err, "write %s=4G; K, M, G and T are binary multiples", key);
    return odb_error_at(err, "%s", spec->text);
}

/* --- tables of options ------------------------------------------------------------------------ */

static bool spec_key_is(const struct odb_executor_option *row, const char *key)
{
    size_t n = strlen(row->key);
    return row->key[n - 1] == '*' ? !strncmp(row->key, key, n - 1) : !strcmp(row->key, key);
}

const struct odb_executor_option *odb_spec_part(const struct odb_executor_option *options,
                                                const char *key)
{
    for (; options && options->key; options++)
        if (!strcmp(options->key, key))
            return options;
    return NULL;
}

static bool spec_is_part(const struct odb_executor_option *row)
{
    return !strcmp(row->key, ":") || !strcmp(row->key, "@");
}

const struct odb_executor_option *odb_spec_row(const struct odb_executor_option *options,
                                               const char *key)
{
    for (const struct odb_executor_option *row = odb_spec_common; row->key; row++)
        if (spec_key_is(row, key))
            return row;
    for (const struct odb_executor_option *row = options; row && row->key; row++)
        if (!spec_is_part(row) && spec_key_is(row, key))
            return row;
    return NULL;
}

bool odb_spec_chooses(const struct odb_executor_option *row)
{
    const char *p = row->values;
    while (p && *p && !(*p >= 'A' && *p <= 'Z'))
        p++;
    return p && !*p;
}

void odb_spec_put_row(const char *kind, const struct odb_executor_option *row, struct odb_buf *out)
{
    size_t n = strlen(row->key);
    if (row->key[0] == ':')
        odb_buf_printf(out, "%s:", kind);
    else if (row->key[n - 1] == '*')
        odb_buf_printf(out, "%.*sKEY=", (int)n - 1, row->key);
    else
        odb_buf_printf(out, "%s%s", row->key, row->values && !spec_is_part(row) ? "=" : "");
    odb_buf_puts(out, row->values ? row->values : "");
}

void odb_spec_put_syntax(const char *kind, const struct odb_executor_option *options,
                         struct odb_buf *out)
{
    const struct odb_executor_option *arg = odb_spec_part(options, ":"),
                                     *wrapped = odb_spec_part(options, "@");
    odb_buf_printf(out, "%s%s%s%s%s", kind, arg && !arg->needed ? "[" : "", arg ? ":" : "",
                   arg ? arg->values : "", arg && !arg->needed ? "]" : "");
    for (const struct odb_executor_option *row = options; row && row->key; row++) {
        if (spec_is_part(row))
            continue;
        odb_buf_puts(out, row->needed ? "," : "[,");
        odb_spec_put_row(kind, row, out);
        odb_buf_puts(out, row->needed ? "" : "]");
    }
    if (wrapped)
        odb_buf_printf(out, "@%s", wrapped->values);
}

/* "opt, threads, timeout" for messages. */
static void spec_put_keys(const struct odb_executor_option *options, struct odb_buf *out)
{
    for (; options && options->key; options++)
        if (!spec_is_part(options))
            odb_buf_printf(out, "%s%s", out->len ? ", " : "", options->key);
}

static enum odb_status spec_unknown(const struct odb_spec *spec, const char *key,
                                    const struct odb_executor_option *options,
                                    struct odb_error *err)
{
    struct odb_buf list = ODB_BUF_INIT;
    spec_put_keys(options, &list);
    spec_put_keys(odb_spec_common, &list);
    odb_fail(err, ODB_E_USAGE, "'%s' has no option '%s'", spec->kind, key);
    odb_error_remedy(err, "it has %s", odb_buf_text(&list));
    odb_buf_dispose(&list);
    return ODB_E_USAGE;
}

/* The spec that plain=SPEC names is one. */
static enum odb_status spec_check_plain(const struct odb_spec *spec, struct odb_error *err)
{
    const char *text = odb_spec_option(spec, ODB_SPEC_PLAIN);
    struct odb_spec *plain;
    if (!text)
        return ODB_OK;
    ODB_TRY(odb_spec_parse(&plain, text, err));
    bool known = plain->row != NULL;
    odb_spec_free(plain);
    if (known)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, ODB_SPEC_PLAIN "=%s names no executor", text);
    return odb_error_remedy(err, "`onnxdbg executors` lists them");
}

/* Whether a value, "" for none, is one of the row's choices, where it has some. */
static enum odb_status spec_choose(const struct odb_spec *spec,
                                   const struct odb_executor_option *row, const char *value,
                                   struct odb_error *err)
{
    struct odb_buf list = ODB_BUF_INIT;
    bool found = !odb_spec_chooses(row);
    for (const char *p = row->values; !found && *p; p += *p == '|') {
        size_t n = strcspn(p, "|");
        found = n == strlen(value) && !strncmp(p, value, n);
        odb_buf_printf(&list, "%s%.*s", list.len ? ", " : "", (int)n, p);
        p += n;
    }
    if (!found) {
        bool arg = row->key[0] == ':';
        odb_fail(err, ODB_E_USAGE, "%s%s%s is no choice", arg ? spec->kind : row->key,
                 arg ? ":" : "=", value);
        odb_error_remedy(err, "choose one of %s", odb_buf_text(&list));
    }
    odb_buf_dispose(&list);
    return found ? ODB_OK : ODB_E_USAGE;
}

static enum odb_status spec_needs(const struct odb_spec *spec,
                                  const struct odb_executor_option *options, struct odb_error *err)
{
    for (const struct odb_executor_option *row = options; row && row->key; row++) {
        bool there = row->key[0] == ':'   ? spec->arg && spec->arg[0]
                     : row->key[0] == '@' ? spec->inner != NULL
                                          : odb_spec_option(spec, row->key) != NULL;
        if (there || !row->needed)
            continue;
        struct odb_buf text = ODB_BUF_INIT;
        odb_spec_put_row(spec->kind, row, &text);
        odb_fail(err, ODB_E_USAGE, "'%s' needs %s: %s", spec->kind, odb_buf_text(&text), row->help);
        odb_buf_clear(&text);
        odb_spec_put_syntax(spec->kind, options, &text);
        odb_error_remedy(err, "write %s", odb_buf_text(&text));
        odb_buf_dispose(&text);
        return ODB_E_USAGE;
    }
    return ODB_OK;
}

static enum odb_status spec_check(const struct odb_spec *spec,
                                  const struct odb_executor_option *options, struct odb_error *err)
{
    const struct odb_executor_option *arg = odb_spec_part(options, ":");
    if (spec->inner && !odb_spec_part(options, "@")) {
        odb_fail(err, ODB_E_USAGE, "'%s' wraps no other executor", spec->kind);
        odb_error_remedy(err, "write \\@ for an @ that belongs to an argument");
        return ODB_E_USAGE;
    }
    if (spec->arg && spec->arg[0] && !arg) {
        odb_fail(err, ODB_E_USAGE, "'%s' takes no argument", spec->kind);
        return odb_error_remedy(err, "an option stands behind a comma: %s,%.200s", spec->kind,
                                strchr(spec->arg, '=') ? spec->arg : "KEY=VALUE");
    }
    if (spec->arg && spec->arg[0])
        ODB_TRY(spec_choose(spec, arg, spec->arg, err));
    for (size_t i = 0; i < spec->n_options; i++) {
        const struct odb_spec_option *option = &spec->options[i];
        const struct odb_executor_option *row = odb_spec_row(options, option->key);
        if (!row)
            return spec_unknown(spec, option->key, options, err);
        ODB_TRY(spec_choose(spec, row, option->value, err));
    }
    ODB_TRY(spec_check_plain(spec, err));
    return spec_needs(spec, options, err);
}

enum odb_status odb_spec_check(const struct odb_spec *spec,
                               const struct odb_executor_option *options, struct odb_error *err)
{
    return spec_check(spec, options, err) == ODB_OK ? ODB_OK : odb_error_at(err, "%s", spec->text);
}

const struct odb_executor_option odb_spec_common[] = {
    {"timeout", "SECONDS", "600", "how long one load or run may take", false},
    {"mem", "SIZE", NULL, "how much memory the child may have: 512M, 4G", false},
    {"static", NULL, NULL, "its models have fixed dimensions, those of this run", false},
    {"workers", "N", "1", "children at work side by side, where questions are independent", false},
    {"compile-timeout", "SECONDS", NULL, "how long one load may take; default: timeout", false},
    {"start", "SECONDS", "60", "how long the start of ssh: or via: may be silent", false},
    {"max_outputs", "N", NULL, "outputs that one model may have, its own included", false},
    {"taps", "any|final|LIST", "any", "values that can be read; LIST: names, ; between them",
     false},
    {"cut", "any|prefix|no", "any", "parts of the model that it takes", false},
    {"compile", "SECONDS", NULL, "how long a load takes: forecasts go by it", false},
    {"run", "SECONDS", NULL, "how long a run takes: forecasts go by it", false},
    {ODB_SPEC_PLAIN, "SPEC", NULL,
     "the target at its plainest, which is asked for what this one refuses", false},
    {"types", "exact|value", NULL, "whether an int64 may be an int32, a double a float", false},
    {"layouts", "LIST", NULL, "how values in the middle are held: NHWC, NCHW16c, ; between them",
     false},
    {"refeed", "yes|no", "yes", "whether a loaded model runs on other inputs", false},
    {NULL, NULL, NULL, NULL, false},
};
