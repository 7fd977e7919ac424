/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/own/own_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/catalogue/number.h"
#include "explain/variant.h"
#include "kernels/core/facts.h"
#include "model/formal.h"
#include "system/file.h"

/* A line while it is read: words are taken off its front. */
struct own_line {
    char *at; /* borrowed: the line, cut into words */
};

/* The next word, cut off; NULL: there is none. One that begins with a quote goes to the next one,
 * and keeps the first. */
static char *own_word(struct own_line *line)
{
    char *word = line->at + strspn(line->at, " \t\r");
    size_t len = strcspn(word, " \t\r");
    if (!*word)
        return NULL;
    if (*word == '"') {
        len = 1 + strcspn(word + 1, "\"");
        line->at = word + len + (word[len] == '"');
    } else {
        line->at = word + len + (word[len] != '\0');
    }
    word[len] = '\0';
    return word;
}

static char *own_needed(struct own_line *line, const struct own_kind *kind, struct odb_error *err)
{
    char *word = own_word(line);
    if (word && *word != '"' && strcmp(word, "+") != 0)
        return word;
    odb_fail(err, ODB_E_USAGE, "a word is missing");
    odb_error_remedy(err, "write %s", kind->usage);
    return NULL;
}

/* --- what the reference knows ----------------------------------------------------------------- */

/* The first row of the operator table, or of those that were added, behind number *at, whose
 * operator is one of ops; NULL: there are no more. */
static const struct odb_op *own_next_op(const char *ops, size_t *at)
{
    size_t n;
    const struct odb_op *const *table = odb_op_table(&n);
    for (;; ++*at) {
        const struct odb_op *op = *at < n ? table[*at] : odb_op_added(*at - n);
        if (!op || variant_is_for(ops, op->name)) {
            ++*at;
            return op;
        }
    }
}

static enum odb_status own_check_ops(const char *ops, struct odb_error *err)
{
    for (const char *at = ops; *at; at += strcspn(at, "|"), at += *at == '|') {
        size_t from = 0;
        char *one = odb_xstrndup(at, strcspn(at, "|"));
        bool known = one[0] && own_next_op(one, &from);
        if (!known)
            odb_fail(err, ODB_E_USAGE, "the reference has no operator '%.60s'", one);
        free(one);
        if (!known)
            return ODB_E_USAGE;
    }
    return ODB_OK;
}

/* What the operators know of an attribute; NULL: none has it. */
static const struct odb_attr_spec *own_attr_spec(const char *ops, const char *name)
{
    const struct odb_attr_spec *spec = NULL;
    size_t at = 0;
    for (const struct odb_op *op; !spec && (op = own_next_op(ops, &at)) != NULL;)
        spec = odb_op_attr(op, name);
    return spec;
}

static enum odb_status own_check_input(const char *ops, const char *name, struct odb_error *err)
{
    bool known = name[strspn(name, "0123456789")] == '\0' && strlen(name) < 4;
    size_t at = 0;
    for (const struct odb_op *op; !known && (op = own_next_op(ops, &at)) != NULL;) {
        const struct odb_node node = {
            .domain = op->domain, .op_type = op->name, .opset = op->since};
        char formal[ODB_FORMAL_NAME];
        for (int i = 0; !known && i < ODB_MIN(op->max_in, 32); i++)
            known = !strcmp(odb_formal_name(&node, true, i, formal), name);
    }
    if (known)
        return ODB_OK;
    return odb_fail(err, ODB_E_USAGE, "%.60s has no input '%.60s'", ops[0] ? ops : "no operator",
                    name);
}

/* --- changes ---------------------------------------------------------------------------------- */

/* "NAME=VALUE", "NAME+=N", "NAME-=N", or "NAME dropped". */
static enum odb_status own_read_attribute(struct own_change *own, const char *ops, char *word,
                                          struct own_line *line, struct odb_error *err)
{
    char *equals = strchr(word, '='), sign = '\0';
    const char *how = equals ? "" : own_word(line);
    if (equals && equals > word && strchr("+-", equals[-1]))
        sign = equals[-1];
    own->name =
        odb_xstrndup(word, equals ? (size_t)(equals - word) - (sign != '\0') : strlen(word));
    const struct odb_attr_spec *spec = own_attr_spec(ops, own->name);
    if (!equals && (!how || strcmp(how, "dropped") != 0))
        return odb_fail(err, ODB_E_USAGE, "'%.60s' is not followed by = or dropped", word);
    if (!spec)
        return odb_fail(err, ODB_E_USAGE, "%.60s has no attribute '%.60s'",
                        ops[0] ? ops : "no operator", own->name);
    if (sign && spec->type != ODB_ATTR_INT && spec->type != ODB_ATTR_FLOAT)
        return odb_fail(err, ODB_E_USAGE, "%.60s is no single number: nothing is added to it",
                        own->name);
    own->numbers[0] = sign == '+' ? 1 : sign == '-' ? -1 : 0;
    return equals ? odb_attr_value_read(&own->value, own->name, spec->type, equals + 1, err)
                  : ODB_OK;
}

static bool own_read_perm(struct own_change *own, const char *word)
{
    unsigned seen = 0;
    for (char *end = NULL; *word && own->n_perm < OWN_AXES; word = end + (*end == ',')) {
        long axis = strtol(word, &end, 10);
        if (end == word || (*end && *end != ',') || axis < 0 || axis >= OWN_AXES)
            return false;
        own->perm[own->n_perm++] = (int)axis;
        seen |= 1u << axis;
    }
    return !*word && own->n_perm > 1 && seen == (1u << own->n_perm) - 1;
}

/* A word as the kind takes it; n: numbers that were read before. */
static enum odb_status own_read_word(struct own_change *own, const char *ops, char takes,
                                     char *word, int *n, struct odb_error *err)
{
    char *end = NULL;
    bool good = true;
    if (takes == 'n' || takes == 'w') {
        double v = own->numbers[(*n)++] = strtod(word, &end);
        good = end != word && !*end && (takes == 'n' || (v == trunc(v) && fabs(v) < 1e6));
    } else if (takes == 'p') {
        good = own_read_perm(own, word);
    } else if (takes == 't') {
        good = (own->type = number_type_named(word)) != NULL;
    } else {
        own->other = odb_xstrdup(word);
        return own_check_input(ops, word, err);
    }
    if (good)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "'%.60s' is no %s", word,
             takes == 'n'   ? "number"
             : takes == 'w' ? "whole number"
             : takes == 'p' ? "order of axes, as 0,2,1"
                            : "type of numbers, as bf16, f16, tf32, f8e4m3 or int8");
    return odb_error_remedy(err, "write %s", own->kind->usage);
}

static enum odb_status own_no_kind(const char *on, const char *how, struct odb_error *err)
{
    struct odb_buf usages = ODB_BUF_INIT;
    for (const struct own_kind *kind = own_kinds; kind->on; kind++)
        if (!strcmp(kind->on, on))
            odb_buf_printf(&usages, "%s%s", usages.len ? ", or " : "", kind->usage);
    if (usages.len) {
        odb_fail(err, ODB_E_USAGE, "no change of this kind is '%.60s'", how);
        odb_error_remedy(err, "write %s", odb_buf_text(&usages));
    } else {
        odb_fail(err, ODB_E_USAGE, "'%.60s' begins no change", on);
        odb_error_remedy(err, "write attribute, input, operands, results or output");
    }
    odb_buf_dispose(&usages);
    return ODB_E_USAGE;
}

/* One change, whose first word is on. */
static enum odb_status own_read_change(struct own_change *own, const char *ops, const char *on,
                                       struct own_line *line, struct odb_error *err)
{
    const struct own_kind *kind = own_kinds;
    char *word = NULL;
    int n = 0;
    while (kind->on && strcmp(kind->on, on) != 0)
        kind++;
    if (!kind->on)
        return own_no_kind(on, "", err);
    own->kind = kind;
    bool named = !strcmp(on, "attribute") || !strcmp(on, "input");
    if (named && !(word = own_needed(line, kind, err)))
        return ODB_E_USAGE;
    if (!strcmp(on, "attribute"))
        return own_read_attribute(own, ops, word, line, err);
    if (named) {
        own->name = odb_xstrdup(word);
        ODB_TRY(own_check_input(ops, word, err));
    }
    if (kind->how[0]) {
        if (!(word = own_needed(line, kind, err)))
            return ODB_E_USAGE;
        while (kind->on && (strcmp(kind->on, on) != 0 || strcmp(kind->how, word) != 0))
            kind++;
        if (!kind->on)
            return own_no_kind(on, word, err);
        own->kind = kind;
    }
    for (const char *takes = kind->takes; *takes; takes++) {
        if (!(word = own_needed(line, kind, err)))
            return ODB_E_USAGE;
        ODB_TRY(own_read_word(own, ops, *takes, word, &n, err));
    }
    return ODB_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void own_row_dispose(struct own_row *row)
{
    for (size_t i = 0; i < row->changes.n; i++) {
        free(row->changes.items[i].name);
        free(row->changes.items[i].other);
        odb_attr_value_dispose(&row->changes.items[i].value);
    }
    free(row->changes.items);
    free(row->name);
    free(row->ops);
    free(row->text);
}

/* The changes, up to the sentence or the end of the line. */
static enum odb_status own_read_changes(struct own_row *row, struct own_line *line,
                                        struct odb_error *err)
{
    for (char *word = own_word(line); word; word = own_word(line)) {
        bool more = row->changes.n && !strcmp(word, "+");
        if (*word == '"') {
            free(row->text);
            row->text = odb_xstrdup(word + 1);
            word = own_word(line);
            return word ? odb_fail(err, ODB_E_USAGE, "'%.60s' stands behind the sentence", word)
                        : ODB_OK;
        }
        if (row->changes.n && !more)
            return odb_fail(err, ODB_E_USAGE,
                            "'%.60s' is not expected here; + begins another "
                            "change",
                            word);
        if (more && !(word = own_word(line)))
            return odb_fail(err, ODB_E_USAGE, "no change stands behind the +");
        odb_push(&row->changes, (struct own_change){0});
        ODB_TRY(own_read_change(&row->changes.items[row->changes.n - 1], row->ops, word ? word : "",
                                line, err));
    }
    return ODB_OK;
}

static bool own_is_taken(const struct odb_own_rows *rows, const char *name)
{
    for (size_t i = 0; i + 1 < rows->items.n; i++)
        if (!strcmp(rows->items.items[i].name, name))
            return true;
    return false;
}

/* The changes as they were written, without what stands behind them. The caller's. */
static char *own_words(const char *rest)
{
    size_t n = strcspn(rest, "\"\r");
    while (n && strchr(" \t", rest[n - 1]))
        n--;
    return odb_xstrndup(rest, n);
}

static enum odb_status own_read_row(struct odb_own_rows *rows, char *text, struct odb_error *err)
{
    struct own_line line = {text};
    char *name = own_word(&line), *ops = own_word(&line);
    odb_push(&rows->items, (struct own_row){0});
    struct own_row *row = &rows->items.items[rows->items.n - 1];
    row->name = odb_xstrdup(name);
    row->ops = odb_xstrdup(!ops || !strcmp(ops, "*") ? "" : ops);
    const char *rest = line.at + strspn(line.at, " \t\r");
    row->text = own_words(rest);
    if (name[strspn(name, "-_.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")])
        return odb_fail(err, ODB_E_USAGE, "'%.60s' is no name: letters, digits and -_. make one",
                        name);
    if (own_is_taken(rows, name))
        return odb_fail(err, ODB_E_USAGE, "another row is called '%.60s'", name);
    ODB_TRY(own_check_ops(row->ops, err));
    ODB_TRY(own_read_changes(row, &line, err));
    if (row->changes.n)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "the row changes nothing");
    return odb_error_remedy(err, "write NAME OPERATORS CHANGE; onnxdbg-explain(7) lists changes");
}

enum odb_status odb_own_rows_read(struct odb_own_rows **out, const char *path,
                                  struct odb_error *err)
{
    struct odb_own_rows *rows = odb_new(struct odb_own_rows);
    FILE *file = NULL;
    char *text = NULL;
    size_t room = 0;
    ssize_t n;
    enum odb_status status = odb_file_open(&file, path, err);
    if (status != ODB_OK)
        odb_error_at(err, "%s", path);
    for (int line = 1; status == ODB_OK && (n = getline(&text, &room, file)) >= 0; line++) {
        if (n && text[n - 1] == '\n')
            text[n - 1] = '\0';
        const char first = text[strspn(text, " \t\r")];
        if (first && first != '#')
            status = own_read_row(rows, text, err);
        if (status != ODB_OK)
            odb_error_at(err, "%s:%d", path, line);
    }
    free(text);
    if (file)
        fclose(file);
    if (status == ODB_OK)
        *out = rows;
    else
        odb_own_rows_free(rows);
    return status;
}

void odb_own_rows_free(struct odb_own_rows *rows)
{
    for (size_t i = 0; rows && i < rows->items.n; i++)
        own_row_dispose(&rows->items.items[i]);
    if (rows)
        free(rows->items.items);
    free(rows);
}
