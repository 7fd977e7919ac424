/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operators as ONNX's schemas declare them (tests/operators.tsv), and those of com.microsoft as
 * ONNX Runtime documents them (tests/contrib.tsv).
 */
#ifndef ODB_TESTS_SCHEMAS_H
#define ODB_TESTS_SCHEMAS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "interpret/cpu.h"
#include "kernels/core/kern.h"

enum { SCHEMA_COLUMNS = 10, SCHEMA_MAX_IN = 24, SCHEMA_MAX_ATTRS = 32 };

struct schema_attr {
    const char *name, *type, *def; /* def: NULL for none */
    bool required;
};

struct schema {
    char *line; /* owned; everything below points into it */
    const char *domain, *name;
    int since, min_in, max_in, min_out, max_out;
    bool deprecated;
    int n_types, n_attrs;
    uint32_t types[SCHEMA_MAX_IN];   /* the last repeats */
    const char *vars[SCHEMA_MAX_IN]; /* names of their type variables; NULL: a type of its own */
    struct schema_attr attrs[SCHEMA_MAX_ATTRS];
};

struct schemas {
    ODB_VEC(struct schema) all;
    int breaches;
};

/* --- reading -------------------------------------------------------------------------------- */

static inline uint32_t schema_type(const char *text)
{
    static const struct {
        const char *start;
        uint32_t bit;
    } containers[] = {{"seq(", ODB_T_SEQUENCE},
                      {"optional(", ODB_T_OPTIONAL},
                      {"map(", ODB_T_MAP},
                      {"sparse_tensor(", ODB_T_SPARSE}};
    for (size_t i = 0; i < ODB_COUNT(containers); i++)
        if (strncmp(text, containers[i].start, strlen(containers[i].start)) == 0)
            return containers[i].bit;
    enum odb_dtype dtype = odb_dtype_parse(text);
    if (dtype == ODB_UNDEFINED)
        fail_msg("unknown type %s", text);
    return ODB_BIT(dtype);
}

/* "float,int64;map(int64,float)": inputs with their types */
static inline void schema_types(struct schema *s, char *text)
{
    int depth = 0;
    char *start = text;
    if (strcmp(text, "-") == 0)
        return;
    for (char *p = text;; p++) {
        char c = *p;
        depth += (c == '(') - (c == ')');
        if (c && (depth || (c != ',' && c != ';')))
            continue;
        assert_true(s->n_types < SCHEMA_MAX_IN);
        *p = '\0';
        s->types[s->n_types] |= schema_type(start);
        start = p + 1;
        if (c != ',')
            s->n_types++;
        if (!c)
            return;
    }
}

/* "axis:int=0 shape:ints!" */
static inline void schema_attrs(struct schema *s, char *text)
{
    char *save = NULL;
    if (strcmp(text, "-") == 0)
        return;
    for (char *p = strtok_r(text, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
        assert_true(s->n_attrs < SCHEMA_MAX_ATTRS);
        struct schema_attr *a = &s->attrs[s->n_attrs++];
        char *type = strchr(p, ':'), *end;
        assert_non_null(type);
        *type++ = '\0';
        end = type + strcspn(type, "!=");
        a->required = *end == '!';
        a->def = *end == '=' ? end + 1 : NULL;
        *end = '\0';
        a->name = p;
        a->type = type;
    }
}

/* "T;T;.;V*": the variables of the inputs; a dot for one whose type is written out, an asterisk
 * where each input has its own. */
static inline void schema_vars(struct schema *s, char *text)
{
    char *save = NULL;
    int n = 0;
    if (strcmp(text, "-") == 0)
        return;
    for (char *p = strtok_r(text, ";", &save); p; p = strtok_r(NULL, ";", &save)) {
        assert_true(n < SCHEMA_MAX_IN);
        s->vars[n++] = strcmp(p, ".") ? p : NULL;
    }
    assert_int_equal(n, s->n_types);
}

static inline void schema_arity(char *text, int *least, int *most)
{
    *least = (int)strtol(text, &text, 10);
    assert_int_equal(*text, '-');
    *most = text[1] == '*' ? ODB_MANY : atoi(text + 1);
}

static inline void schema_parse(struct schema *s, const char *line)
{
    char *column[SCHEMA_COLUMNS], *save = NULL;
    memset(s, 0, sizeof *s);
    s->line = odb_xstrdup(line);
    s->line[strcspn(s->line, "\n")] = '\0';
    for (int i = 0; i < SCHEMA_COLUMNS; i++) {
        column[i] = strtok_r(i ? NULL : s->line, "\t", &save);
        assert_non_null(column[i]);
    }
    s->domain = strcmp(column[0], "ai.onnx") == 0 ? "" : column[0];
    s->name = column[1];
    s->since = atoi(column[2]);
    s->deprecated = strcmp(column[3], "-") != 0;
    schema_arity(column[4], &s->min_in, &s->max_in);
    schema_arity(column[5], &s->min_out, &s->max_out);
    schema_types(s, column[6]);
    schema_attrs(s, column[8]);
    schema_vars(s, column[9]);
}

/* The row that serves a version; NULL: none does. */
static inline const struct odb_op *schema_row(const struct schema *s)
{
    struct odb_node node = {
        .domain = (char *)s->domain, .op_type = (char *)s->name, .opset = s->since};
    return odb_cpu_row(&node);
}

static inline void schemas_read(struct schemas *schemas, const char *path)
{
    char *line = NULL;
    size_t size = 0;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (getline(&line, &size, f) >= 0) {
        struct schema s;
        if (line[0] == '#')
            continue;
        schema_parse(&s, line);
        odb_push(&schemas->all, s);
    }
    free(line);
    fclose(f);
}

static inline void schemas_free(struct schemas *schemas)
{
    for (size_t i = 0; i < schemas->all.n; i++)
        free(schemas->all.items[i].line);
    free(schemas->all.items);
}

#endif
