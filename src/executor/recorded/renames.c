/* SPDX-License-Identifier: MIT */
#include "executor/recorded/renames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "system/file.h"
#include "base/mem.h"

struct renames_rule {
    char *value, *name; /* owned */
    int line;
};

struct odb_renames {
    ODB_VEC(struct renames_rule) rules;
};

static char *renames_trimmed(const char *text, size_t n)
{
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\r'))
        n--;
    while (n && (*text == ' ' || *text == '\t')) {
        text++;
        n--;
    }
    return odb_xstrndup(text, n);
}

static size_t renames_stars(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '*';
    return n;
}

/* " = " parts the two names; a lone = does where there is no other. */
static enum odb_status renames_line(struct odb_renames *renames, const char *text, int line,
                                    struct odb_error *err)
{
    const char *at = strstr(text, " = ");
    const char *equals = at ? at + 1 : strchr(text, '=');
    if (!equals || (!at && strchr(equals + 1, '='))) {
        odb_fail(err, ODB_E_USAGE, equals ? "this line has more than one =" : "this line has no =");
        return odb_error_remedy(err, "write VALUE = NAME, with spaces around the =");
    }
    struct renames_rule rule = {renames_trimmed(text, (size_t)(equals - text)),
                                renames_trimmed(equals + 1, strlen(equals + 1)), line};
    odb_push(&renames->rules, rule);
    if (!rule.value[0] || !rule.name[0])
        return odb_fail(err, ODB_E_USAGE, "a name is missing");
    if (renames_stars(rule.name) > renames_stars(rule.value))
        return odb_fail(err, ODB_E_USAGE, "'%s' has more * than '%s'", rule.name, rule.value);
    return ODB_OK;
}

static enum odb_status renames_read(struct odb_renames *renames, const char *path,
                                    struct odb_error *err)
{
    FILE *file;
    char *text = NULL;
    size_t room = 0;
    ssize_t n;
    enum odb_status status = odb_file_open(&file, path, err);
    if (status != ODB_OK)
        return odb_error_at(err, "map %s", path);
    for (int line = 1; status == ODB_OK && (n = getline(&text, &room, file)) >= 0; line++) {
        if (n && text[n - 1] == '\n')
            text[n - 1] = '\0';
        const char *first = text + strspn(text, " \t\r");
        if (!*first || *first == '#')
            continue;
        status = renames_line(renames, first, line, err);
        if (status != ODB_OK)
            odb_error_at(err, "map %s, line %d", path, line);
    }
    free(text);
    fclose(file);
    return status;
}

enum odb_status odb_renames_read(struct odb_renames **out, const char *path, struct odb_error *err)
{
    struct odb_renames *renames = odb_new(struct odb_renames);
    enum odb_status status = renames_read(renames, path, err);
    if (status == ODB_OK)
        *out = renames;
    else
        odb_renames_free(renames);
    return status;
}

void odb_renames_free(struct odb_renames *renames)
{
    for (size_t r = 0; renames && r < renames->rules.n; r++) {
        free(renames->rules.items[r].value);
        free(renames->rules.items[r].name);
    }
    if (renames)
        free(renames->rules.items);
    free(renames);
}

/* Whether name is the pattern, and what each * stands for: at[i], n[i]. The first * takes as little
 * as it can, as in a shell's ${x#*}. What stands between two * is taken where it comes first, so
 * only the * met last may have to take more: nothing is tried twice. */
static bool renames_glob(const char *pattern, const char *name, const char **at, size_t *n)
{
    const char *behind = NULL; /* the * met last */
    size_t stars = 0;
    while (*name) {
        if (*pattern == '*') {
            at[stars] = name;
            n[stars++] = 0;
            behind = ++pattern;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (behind) {
            name = at[stars - 1] + ++n[stars - 1];
            pattern = behind;
        } else {
            return false;
        }
    }
    for (; *pattern == '*'; pattern++) {
        at[stars] = name;
        n[stars++] = 0;
    }
    return !*pattern;
}

char *odb_renames_apply(const struct odb_renames *renames, const char *name, int *line)
{
    for (size_t r = 0; renames && r < renames->rules.n; r++) {
        const struct renames_rule *rule = &renames->rules.items[r];
        size_t stars = renames_stars(rule->value), star = 0;
        const char **at = odb_new_n(const char *, stars + 1);
        size_t *n = odb_new_n(size_t, stars + 1);
        struct odb_buf out = ODB_BUF_INIT;
        bool is = renames_glob(rule->value, name, at, n);
        for (const char *p = rule->name; is && *p; p++) {
            if (*p == '*') {
                odb_buf_add(&out, at[star], n[star]);
                star++;
            } else {
                odb_buf_putc(&out, *p);
            }
        }
        free(at);
        free(n);
        if (is && line)
            *line = stars ? 0 : rule->line;
        if (is)
            return odb_buf_take(&out);
    }
    return NULL;
}
