/* SPDX-License-Identifier: MIT */
#include "executor/spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define SPEC_SYNTAX "write KIND[:ARG][,key=value...][@SPEC]; a backslash escapes , = @ and itself"

/* Appends the text up to the first unescaped character of stop, without the backslashes before
 * , = @ and \ (others stay: the command line of `command` gives them a meaning). Returns where it
 * stopped. */
static const char *spec_word(const char *p, const char *stop, struct odb_buf *out)
{
    for (; *p && !strchr(stop, *p); p++) {
        if (*p == '\\' && p[1] && strchr(",=@\\", p[1]))
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
    if (*p == ':') {
        p = spec_word(p + 1, ",@", &word);
        spec->arg = spec_take(&word);
    }
    ODB_TRY_OUT(spec_options(spec, &p, err));
    if (*p == '@')
        spec->inner = odb_xstrdup(p + 1);
    if (!spec->kind[0] || (spec->inner && !spec->inner[0])) {
        status = odb_fail(err, ODB_E_USAGE, "%s",
                          spec->kind[0] ? "nothing stands behind '@'" : "no executor is named");
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

const char *odb_spec_option(const struct odb_spec *spec, const char *key)
{
    for (size_t i = 0; i < spec->n_options; i++)
        if (!strcmp(spec->options[i].key, key))
            return spec->options[i].value;
    return NULL;
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

/* "opt, threads, timeout" for messages. */
static void spec_known_keys(const char *const *keys, struct odb_buf *out)
{
    for (; *keys; keys++)
        if (strcmp(*keys, "@") != 0)
            odb_buf_printf(out, "%s, ", *keys);
    odb_buf_puts(out, "timeout");
}

enum odb_status odb_spec_check(const struct odb_spec *spec, const char *const *keys,
                               struct odb_error *err)
{
    bool wraps = false;
    for (const char *const *k = keys; *k; k++)
        wraps |= !strcmp(*k, "@");
    if (spec->inner && !wraps) {
        odb_fail(err, ODB_E_USAGE, "'%s' wraps no other executor", spec->kind);
        odb_error_remedy(err, "write \\@ for an @ that belongs to an argument");
        return odb_error_at(err, "%s", spec->text);
    }
    for (size_t i = 0; i < spec->n_options; i++) {
        const char *key = spec->options[i].key;
        bool known = !strcmp(key, "timeout");
        for (const char *const *k = keys; *k && !known; k++)
            known = !strcmp(*k, key);
        if (known)
            continue;
        struct odb_buf list = ODB_BUF_INIT;
        spec_known_keys(keys, &list);
        odb_fail(err, ODB_E_USAGE, "'%s' has no option '%s'", spec->kind, key);
        odb_error_remedy(err, "it has %s", odb_buf_text(&list));
        odb_buf_dispose(&list);
        return odb_error_at(err, "%s", spec->text);
    }
    return ODB_OK;
}
