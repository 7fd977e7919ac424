/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judge/rules.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "system/file.h"
#include "run/value_report.h"

#define RULES_TYPE "type:"
#define RULES_DUMPED "topoidx_"
#define RULES_MARK "\xef\xbb\xbf" /* Windows' editors begin UTF-8 with it */

/* --- reading ---------------------------------------------------------------------------------- */

static void rules_free(struct odb_rule *rule)
{
    free(rule->pattern);
    free(rule->text);
    odb_condition_free(rule->condition);
}

void odb_rules_dispose(struct odb_rules *rules)
{
    for (size_t i = 0; i < rules->all.n; i++)
        rules_free(&rules->all.items[i]);
    for (size_t i = 0; i < rules->some.n; i++)
        rules_free(&rules->some.items[i]);
    free(rules->all.items);
    free(rules->some.items);
    *rules = (struct odb_rules){0};
}

/* A tolerance is a kind, alone or before a colon, of which no condition has one. */
static bool rules_is_tolerance(const char *text)
{
    const char *usage;
    bool kind = strchr(text, ':') != NULL;
    for (size_t i = 0; (usage = odb_criterion_usage(i, NULL)) && !kind; i++) {
        size_t n = strcspn(usage, ":[");
        kind = strlen(text) == n && !memcmp(text, usage, n);
    }
    return kind;
}

static enum odb_status rules_parse(struct odb_rule *rule, const char *text, struct odb_error *err)
{
    *rule = (struct odb_rule){0};
    if (!rules_is_tolerance(text))
        ODB_TRY(odb_condition_parse(&rule->condition, text, err));
    else
        ODB_TRY(odb_criterion_parse(&rule->criterion, text, err));
    const char *searched = rule->condition ? odb_condition_searched(rule->condition) : NULL;
    if (searched) {
        odb_condition_free(rule->condition);
        odb_fail(err, ODB_E_USAGE, "'%s' is what a search finds, and two tensors do not tell it",
                 searched);
        return odb_error_remedy(err, "ask for measures, such as error, diff2 or cosine");
    }
    if (!rule->condition && rule->criterion.kind == ODB_CRITERION_NOISE) {
        odb_fail(err, ODB_E_USAGE, "files say nothing of noise");
        return odb_error_remedy(err, "give a fixed tolerance, such as allclose:1e-3,1e-7");
    }
    rule->text = odb_xstrdup(text);
    return ODB_OK;
}

enum odb_status odb_rules_add(struct odb_rules *rules, const char *text, struct odb_error *err)
{
    struct odb_rule rule;
    ODB_TRY(rules_parse(&rule, text, err));
    odb_push(&rules->all, rule);
    return ODB_OK;
}

/* The pattern at the beginning of a line, in quotes if it holds blanks; the caller's. NULL: the
 * quote is not closed. *rest: what follows, without blanks. */
static char *rules_pattern(const char *line, const char **rest)
{
    bool quoted = *line == '"';
    const char *begin = line + quoted;
    const char *end = quoted ? strchr(begin, '"') : begin + strcspn(begin, " \t");
    if (!end)
        return NULL;
    *rest = end + quoted;
    *rest += strspn(*rest, " \t");
    return odb_xstrndup(begin, (size_t)(end - begin));
}

static enum odb_status rules_line(struct odb_rules *rules, char *line, struct odb_error *err)
{
    const char *rest;
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n && strchr(" \t\r\n", line[n - 1]);)
        line[--n] = '\0';
    if (!*line || *line == '#')
        return ODB_OK;
    char *pattern = rules_pattern(line, &rest);
    struct odb_rule rule = {0};
    enum odb_status status = ODB_OK;
    if (!pattern)
        status = odb_fail(err, ODB_E_USAGE, "the quote is not closed");
    else if (!*rest)
        status = odb_fail(err, ODB_E_USAGE, "nothing is said of '%.100s'", pattern);
    else if (!strncmp(pattern, RULES_TYPE, strlen(RULES_TYPE)) &&
             odb_dtype_parse(pattern + strlen(RULES_TYPE)) == ODB_UNDEFINED)
        status =
            odb_fail(err, ODB_E_USAGE, "'%.40s' is no element type", pattern + strlen(RULES_TYPE));
    else
        status = rules_parse(&rule, rest, err);
    if (status != ODB_OK) {
        free(pattern);
        return status;
    }
    rule.pattern = pattern;
    odb_push(&rules->some, rule);
    return ODB_OK;
}

enum odb_status odb_rules_read(struct odb_rules *rules, const char *path, struct odb_error *err)
{
    FILE *file;
    char *line = NULL;
    size_t size = 0, number = 0;
    enum odb_status status = odb_file_open(&file, path, err);
    if (status != ODB_OK)
        return odb_error_at(err, "%s", path);
    while (status == ODB_OK && getline(&line, &size, file) >= 0) {
        bool marked = ++number == 1 && !strncmp(line, RULES_MARK, strlen(RULES_MARK));
        status = rules_line(rules, line + (marked ? strlen(RULES_MARK) : 0), err);
    }
    if (status != ODB_OK) {
        odb_error_at(err, "%s:%zu", path, number);
    } else if (ferror(file)) {
        status = odb_fail(err, ODB_E_IO, "it cannot be read");
        odb_error_at(err, "%s", path);
    }
    free(line);
    fclose(file);
    return status;
}

/* --- judging ---------------------------------------------------------------------------------- */

static bool rules_name_fits(const char *pattern, const char *name)
{
    return !strcmp(pattern, name) || fnmatch(pattern, name, 0) == 0;
}

static bool rules_fits(const char *pattern, const char *name, const struct odb_tensor *base)
{
    if (!strncmp(pattern, RULES_TYPE, strlen(RULES_TYPE)))
        return base && base->dtype == odb_dtype_parse(pattern + strlen(RULES_TYPE));
    const char *dot = strrchr(name, '.');
    size_t n =
        dot && (!strcmp(dot, ".npy") || !strcmp(dot, ".pb")) ? (size_t)(dot - name) : strlen(name);
    char *bare = odb_xstrndup(name, n);
    const char *short_ = bare;
    if (!strncmp(bare, RULES_DUMPED, strlen(RULES_DUMPED))) {
        const char *p = bare + strlen(RULES_DUMPED);
        p += strspn(p, "0123456789");
        short_ = strncmp(p, "__", 2) ? bare : p + 2;
    }
    bool fits = rules_name_fits(pattern, name) || rules_name_fits(pattern, bare) ||
                rules_name_fits(pattern, short_);
    free(bare);
    return fits;
}

/* The rule of the file that counts for a pair, NULL: none fits. */
static const struct odb_rule *rules_find(const struct odb_rules *rules, const char *name,
                                         const struct odb_tensor *base)
{
    for (size_t i = rules->some.n; i-- > 0;)
        if (rules_fits(rules->some.items[i].pattern, name, base))
            return &rules->some.items[i];
    return NULL;
}

/* What is wrong before any rule is asked. */
static enum odb_verdict rules_pattern_verdict(struct odb_measured *m, struct odb_buf *reason)
{
    char why[160] = "";
    odb_measure(m, ODB_MEASURE_METRICS);
    enum odb_verdict verdict = odb_verdict_pattern(&m->m, why, sizeof why);
    odb_buf_puts(reason, why);
    return verdict;
}

static enum odb_verdict rules_condition(const struct odb_rule *rule, struct odb_measured *m,
                                        struct odb_buf *reason)
{
    struct odb_value_report report = {.verdict = ODB_VERDICT_UNTESTED,
                                      .error = {m->numbers, m->m.error},
                                      .error_mean = {m->numbers, m->m.error_mean}};
    struct odb_condition_facts facts = {&report, m->evaluated, m->base, m};
    enum odb_truth truth = odb_condition_ask(rule->condition, &facts);
    bool holds = truth == ODB_TRUE || (truth == ODB_UNKNOWN && !m->m.differing);
    size_t begin = reason->len;
    odb_condition_put_measures(rule->condition, m, reason);
    if (!holds && reason->len == begin)
        odb_buf_printf(reason, "%zu of %zu elements differ", m->m.differing, m->m.count);
    if (!holds) {
        odb_buf_puts(reason, "; not ");
        odb_buf_put_shown(reason, rule->text);
    }
    return holds ? ODB_VERDICT_PASS : ODB_VERDICT_FAIL;
}

static enum odb_verdict rules_one(const struct odb_rule *rule, struct odb_measured *m,
                                  struct odb_buf *reason)
{
    char why[300] = "";
    if (rule->condition)
        return rules_condition(rule, m, reason);
    double th = odb_criterion_th(&rule->criterion);
    enum odb_verdict verdict =
        th < 0 || th == m->m.th
            ? odb_criterion_judge(&rule->criterion, m->evaluated, m->base, &m->m, why, sizeof why)
            : odb_criterion_apply(&rule->criterion, m->evaluated, m->base, why, sizeof why);
    odb_buf_puts(reason, why);
    return verdict;
}

enum odb_verdict odb_rules_judge(struct odb_rules *rules, const char *name, struct odb_measured *m,
                                 struct odb_buf *reason)
{
    for (size_t i = 0; i < rules->some.n; i++)
        rules->some.items[i].met |= rules_fits(rules->some.items[i].pattern, name, m->base);
    const struct odb_rule *own = rules_find(rules, name, m->base);
    const struct odb_rule *list = own ? own : rules->all.items;
    size_t n = own ? 1 : rules->all.n;
    enum odb_verdict verdict = rules_pattern_verdict(m, reason);
    for (size_t i = 0; i < n && verdict == ODB_VERDICT_PASS; i++) {
        odb_buf_clear(reason);
        verdict = rules_one(&list[i], m, reason);
    }
    return verdict;
}

double odb_rules_th(const struct odb_rules *rules, const char *name, const struct odb_tensor *base)
{
    const struct odb_rule *own = rules_find(rules, name, base);
    const struct odb_rule *list = own ? own : rules->all.items;
    for (size_t i = 0; i < (own ? 1 : rules->all.n); i++)
        if (!list[i].condition && odb_criterion_th(&list[i].criterion) >= 0)
            return odb_criterion_th(&list[i].criterion);
    return -1;
}

void odb_rules_put_unmet(const struct odb_rules *rules, struct odb_buf *out)
{
    size_t begin = out->len;
    for (size_t i = 0; i < rules->some.n; i++)
        if (!rules->some.items[i].met)
            odb_buf_printf(out, "%s'%s'", out->len > begin ? ", " : "",
                           rules->some.items[i].pattern);
}

void odb_rules_put(const struct odb_rules *rules, struct odb_buf *out)
{
    for (size_t i = 0; i < rules->all.n; i++) {
        const struct odb_rule *rule = &rules->all.items[i];
        char text[128];
        odb_buf_puts(out, i ? " and " : "");
        odb_buf_put_shown(out, rule->condition
                                   ? rule->text
                                   : odb_criterion_text(&rule->criterion, text, sizeof text));
    }
    if (rules->some.n)
        odb_buf_printf(out, "%sone of %zu rules by name and type", rules->all.n ? ", or " : "",
                       rules->some.n);
}
