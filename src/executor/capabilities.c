/* SPDX-License-Identifier: MIT */
#include "executor/capabilities.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/value_layout.h"

/* A number of seconds, "600" or "600s". */
static bool capabilities_seconds(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && (!*end || !strcmp(end, "s")) && *out >= 0 && isfinite(*out);
}

static bool capabilities_is_seconds(const char *text)
{
    double ignored;
    return capabilities_seconds(text, &ignored);
}

static bool capabilities_is_count(const char *text)
{
    char *end;
    double n = strtod(text, &end);
    return end != text && !*end && n >= 1 && n <= INT_MAX && n == floor(n);
}

static bool capabilities_is_list(const char *text)
{
    return text[0] != '\0';
}

static bool capabilities_is_cut(const char *text)
{
    return !strcmp(text, "any") || !strcmp(text, "prefix") || !strcmp(text, "no");
}

static bool capabilities_is_types(const char *text)
{
    return !strcmp(text, "exact") || !strcmp(text, "value");
}

static bool capabilities_is_truth(const char *text)
{
    return !strcmp(text, "yes") || !strcmp(text, "no");
}

static bool capabilities_is_layouts(const char *text)
{
    struct odb_layout ignored;
    for (const char *p = text; *p; p += strcspn(p, ";"), p += *p == ';')
        if (!odb_layout_parse(&ignored, p, strcspn(p, ";")))
            return false;
    return text[0] != '\0';
}

static const struct {
    const char *key;
    size_t at;
    bool (*fits)(const char *text);
    const char *wants;
} capabilities_rows[] = {
    {"max_outputs", offsetof(struct odb_capabilities, max_outputs), capabilities_is_count,
     "a number from 1 on"},
    {"taps", offsetof(struct odb_capabilities, taps), capabilities_is_list,
     "any, final, or names of values with ; between them"},
    {"cut", offsetof(struct odb_capabilities, cut), capabilities_is_cut, "any, prefix or no"},
    {"compile", offsetof(struct odb_capabilities, compile), capabilities_is_seconds,
     "a number of seconds"},
    {"run", offsetof(struct odb_capabilities, run), capabilities_is_seconds, "a number of seconds"},
    {"types", offsetof(struct odb_capabilities, types), capabilities_is_types, "exact or value"},
    {"layouts", offsetof(struct odb_capabilities, layouts), capabilities_is_layouts,
     "NCHW, NHWC, NCHW16c or the like, or some with ; between them"},
    {"refeed", offsetof(struct odb_capabilities, refeed), capabilities_is_truth, "yes or no"},
};

static char **capabilities_slot(const struct odb_capabilities *said, size_t row)
{
    return (char **)((char *)said + capabilities_rows[row].at);
}

void odb_capabilities_dispose(struct odb_capabilities *said)
{
    for (size_t i = 0; i < ODB_COUNT(capabilities_rows); i++)
        free(*capabilities_slot(said, i));
    *said = (struct odb_capabilities){0};
}

enum odb_status odb_capabilities_add(struct odb_capabilities *said, const struct odb_spec *spec,
                                     struct odb_error *err)
{
    for (size_t i = 0; i < ODB_COUNT(capabilities_rows); i++) {
        const char *text = odb_spec_option(spec, capabilities_rows[i].key);
        if (!text)
            continue;
        if (!capabilities_rows[i].fits(text)) {
            odb_fail(err, ODB_E_USAGE, "%s=%.60s is not %s", capabilities_rows[i].key, text,
                     capabilities_rows[i].wants);
            return odb_error_at(err, "%s", spec->text);
        }
        char **slot = capabilities_slot(said, i);
        if (!*slot)
            *slot = odb_xstrdup(text);
    }
    return ODB_OK;
}

enum odb_status odb_capabilities_read(struct odb_capabilities *said, const char *options,
                                      struct odb_error *err)
{
    struct odb_spec *spec;
    char *text = odb_xasprintf("capabilities%s%s", options[0] ? "," : "", options);
    enum odb_status status = odb_spec_parse(&spec, text, err);
    free(text);
    if (status != ODB_OK)
        return status;
    status = odb_capabilities_add(said, spec, err);
    odb_spec_free(spec);
    return status;
}

void odb_capabilities_put(const struct odb_capabilities *said, struct odb_buf *out)
{
    const char *between = "";
    for (size_t i = 0; i < ODB_COUNT(capabilities_rows); i++) {
        const char *text = *capabilities_slot(said, i);
        if (!text)
            continue;
        odb_buf_printf(out, "%s%s=", between, capabilities_rows[i].key);
        odb_spec_put_word(out, text);
        between = ",";
    }
}

size_t odb_capabilities_max_outputs(const struct odb_capabilities *said)
{
    return said->max_outputs ? (size_t)strtod(said->max_outputs, NULL) : SIZE_MAX;
}

bool odb_capabilities_tap(const struct odb_capabilities *said, const char *name)
{
    const char *list = said->taps;
    size_t n = strlen(name);
    if (!list || !strcmp(list, "any"))
        return true;
    if (!strcmp(list, "final"))
        return false;
    for (const char *p = list; *p; p += strcspn(p, ";"), p += *p == ';')
        if (strcspn(p, ";") == n && !strncmp(p, name, n))
            return true;
    return false;
}

static const char *const capabilities_cuts[] = {
    [ODB_CUTS_ANY] = "any", [ODB_CUTS_PREFIX] = "prefix", [ODB_CUTS_NONE] = "no"};

enum odb_cuts odb_capabilities_cuts(const struct odb_capabilities *said)
{
    for (size_t i = 0; said->cut && i < ODB_COUNT(capabilities_cuts); i++)
        if (!strcmp(said->cut, capabilities_cuts[i]))
            return (enum odb_cuts)i;
    return ODB_CUTS_ANY;
}

const char *odb_cuts_word(enum odb_cuts cuts)
{
    return capabilities_cuts[cuts];
}

bool odb_capabilities_refeed(const struct odb_capabilities *said)
{
    return !said->refeed || strcmp(said->refeed, "no") != 0;
}

static double capabilities_time(const char *text)
{
    double seconds = -1;
    return text && capabilities_seconds(text, &seconds) ? seconds : -1;
}

double odb_capabilities_compile(const struct odb_capabilities *said)
{
    return capabilities_time(said->compile);
}

double odb_capabilities_run(const struct odb_capabilities *said)
{
    return capabilities_time(said->run);
}

bool odb_capabilities_by_value(const struct odb_capabilities *said)
{
    return said->types && !strcmp(said->types, "value");
}
